#!/usr/bin/perl

# Due work: messages go to their dead-letter queue and leave at the end of
# their retention by themselves, also where nobody calls, and whoever of the
# workers and nodes dies. Looked at in Redis: a request would be a call.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw/time sleep/;

use NgxQueues::Redis;
use NgxQueues::Server;
use NgxQueues::Wait;

my $serial = 0;
my $s = NgxQueues::Server->new(redis => { aof => 1 },
                               http => 'queues_redis_timeout 1s;');
my $redis = $s->redis->client;

# a queue, made behind nginx' back; dlq is another one, mrc is 1 then

sub queue {
    my ($project, %o) = @_;

    my $n = ++$serial;
    my %q = (id => sprintf('q%011d', $n), name => "n$n",
             project => $project, root => "ngxq:{o/$project}");
    my $reply = function($q{root}, 'queue_create', $q{id},
        sprintf('01890000-0000-7000-8000-%012d', $n), $q{name}, 'standard', 60,
        0, $o{ret} // 345600, 0, 262144, 0, $o{dlq} ? "q$o{dlq}{id}" : '',
        $o{dlq} ? $o{mrc} // 1 : 0);

    die "queue_create: $reply\n" if ref $reply ne 'ARRAY';

    return \%q;
}

sub function {
    my ($root, $name, @arguments) = @_;

    my ($library) = map { { @$_ }->{library_name} }
        @{ $redis->call(qw/FUNCTION LIST LIBRARYNAME ngxq_*/) };

    return $redis->call('FCALL', "${library}_$name", 1, $root, @arguments);
}

# how many messages are stored in these queues

sub stored {
    my $n = 0;

    $n += $redis->call('XLEN', "$_->{root}:m:$_->{id}:1") for @_;

    return $n;
}

sub path { "/v1/organizations/o/projects/$_[0]{project}/queues/$_[0]{name}" }

sub post {
    my ($c, $q, $rest, $body) = @_;

    my $r = $c->post(path($q) . "/messages$rest", $body, fresh => 1);

    die "$r->{status} $r->{body}\n" if $r->{status} !~ /^20/;

    return $r->{json}{messages};
}

sub put {
    my ($c, $q, @bodies) = @_;

    while (my @ten = splice @bodies, 0, 10) {
        post($c, $q, '', { messages => [map { { body => "$_" } } @ten] });
    }
}

# receives up to ten for so many seconds

sub take {
    my ($c, $q, $seconds) = @_;

    return scalar @{ post($c, $q, '/receive', { maxMessages => 10,
        visibilityTimeoutSeconds => $seconds }) };
}

# when (seconds from $begin) so many messages are in $q; undef: never

sub arrive {
    my ($q, $n, $begin, $seconds) = @_;

    return until_true(sub { stored($q) >= $n }, $begin, $seconds);
}

sub until_true {
    my ($condition, $begin, $seconds) = @_;

    return wait_for(\&$condition, $seconds) ? time - $begin : undef;
}

sub in_time {
    my ($took, $from, $to, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    ok(defined $took && $took >= $from && $took < scaled($to), $name)
        or diag($took // 'never');
}

# calls of functions that this connection has seen, by name and key

my $fcall = qr/\] "FCALL" "ngxq_[0-9a-f]+_(\w+)" "1" "([^"]+)"/;

sub watch {
    my $m = $s->redis->client;

    $m->call('MONITOR');

    return $m;
}

sub seen {
    my ($m) = @_;

    my %n;

    while (my $line = $m->poll(0.1)) {
        $n{$1}{$2}++ if $line =~ $fcall;
    }

    return \%n;
}

sub reconnect { $redis = $s->redis->client }

# one worker, at the moment

my $c = $s->client;
$c->get('/v1/organizations/o/projects/a/queues');       # loads the library
my $dead = queue('a');
my $q = queue('a', dlq => $dead);

put($c, $q, 1 .. 5);

my $begin = time;

is(take($c, $q, 2), 5, 'received, and never acknowledged');
in_time(arrive($dead, 5, $begin, 10), 1.99, 3, 'dead letters, at the moment');
is(stored($q), 0, 'they have left their queue');

# from the second receive on, where it may be received twice

my $twice = queue('a', dlq => $dead, mrc => 2);

put($c, $twice, 'twice');
take($c, $twice, 1);
sleep 1;
ok(wait_for(sub { take($c, $twice, 1) }), 'received again');
in_time(arrive($dead, 6, time, 10), 0.9, 2.5, 'and dead after the second time');

# the end of retention

my $short = queue('b', ret => 3);

$begin = time;
put($c, $short, map { "short $_" } 1 .. 30);
is(take($c, $short, 60), 10, 'some are in flight');
in_time(until_true(sub { !stored($short) }, $begin, 20), 2.99, 8,
        'expired messages leave by themselves');

# nothing is due: nobody calls, but for a look at the registry once in a while

sleep 2.5;

my $monitor = watch();

sleep 6;

my $n = seen($monitor);

is($n->{maintain}, undef, 'idle: no calls for it');
is($n->{project_note}, undef, 'idle: nothing is noted');
in_time($n->{project_due}{'ngxq:projects'}, 1, 3, 'idle: a look at the registry');

# a busy project: a call in a second

$begin = time;
while (time - $begin < 3) {
    put($c, $q, 'busy');
    sleep 0.02;
}

$n = seen($monitor);
cmp_ok($n->{send}{$q->{root}}, '>', 30, 'busy');
cmp_ok($n->{maintain}{$q->{root}} // 0, '<=', 5,
       'busy: about a call a second');
cmp_ok($n->{maintain}{$q->{root}} // 0, '>=', 2, 'busy: not less');
cmp_ok($n->{project_note}{'ngxq:projects'} // 0, '<=', 8,
       'busy: noted as often');
function($q->{root}, 'queue_purge', "q$q->{id}");
$q = queue('a', dlq => $dead);

# what does not exist makes nothing known, and where nothing is to come, nothing
# is left

sub registry { join ' ', sort @{ $redis->call(qw/ZRANGE ngxq:projects 0 -1/) } }

$c->get("/v1/organizations/o/projects/none$_/queues") for 1 .. 5;
$c->post("/v1/organizations/o/projects/none$_/queues/q/messages",
         { body => 'x' }) for 1 .. 5;
sleep 0.3;
is(registry(), 'ngxq:{o/a}', 'projects where something is to come are in the'
   . ' registry, and no others');

# nginx is down at the moment

put($c, $q, 'down');
take($c, $q, 1);
ok($s->quit, 'nginx ends, with work ahead');
sleep 1.5;

my $before = stored($dead);

$begin = time;
$s->start;
in_time(arrive($dead, $before + 1, $begin, 20), 0, 5,
        'done after the start, without a request');

# Redis is down at the moment

put($c, $q, 'redis');
take($c, $q, 2);
$s->redis->written;
$s->redis->kill;
sleep 2.5;
$s->redis->start;
$begin = time;
reconnect();
in_time(arrive($dead, $before + 2, $begin, 20), 0, 4, 'Redis comes back');

# it does not answer at the moment, and for longer than calls wait

put($c, $q, 'silence');
take($c, $q, 1);
$s->redis->stop;
sleep 2.5;
$s->redis->cont;
in_time(arrive($dead, $before + 3, time, 20), 0, 6, 'Redis was silent');

# done by a call that lay in a connection which was given up meanwhile, perhaps

ok(wait_for(sub { $c->get(path($q))->{status} == 200 }), 'and is back');

# a project that is refused is in nobody's way, and done when that is over

my $broken = queue('broken', dlq => my $grave = queue('broken'));

put($c, $broken, 'broken');
take($c, $broken, 4);
ok(wait_for(sub { $redis->call('EXISTS', "$broken->{root}:a") }), 'a lease');
$redis->call('RENAME', "$broken->{root}:t", 'saved');
$redis->call('SET', "$broken->{root}:t", 'no agenda');
put($c, $q, 'whole');
take($c, $q, 1);
in_time(arrive($dead, $before + 4, time, 20), 0, 4, 'a project is refused');
ok(wait_for(sub {
    $s->error_log =~ /\[error\].*due work of "ngxq:\{o\/broken\}" is not done/
}), 'the log tells');
$redis->call('RENAME', 'saved', "$broken->{root}:t");
in_time(arrive($grave, 1, time, 40), 0, 12, 'no more refused');
$before++;
$before++;

# a reload at the moment

put($c, $q, 'reload');
take($c, $q, 2);
sleep 1.8;
$begin = time;
$s->reload;
in_time(arrive($dead, $before + 3, $begin, 20), 0, 8, 'a reload');

# functions that are gone

put($c, $q, 'flush');
take($c, $q, 1);
$redis->call(qw/FUNCTION FLUSH/);
in_time(arrive($dead, $before + 4, time, 20), 0, 4, 'functions are gone');

# the worker is killed right after the receive

put($c, $q, 'killed');
take($c, $q, 1);
$begin = time;
$s->kill_worker;
in_time(arrive($dead, $before + 5, $begin, 20), 0, 8,
        'the worker dies: its successor does it');

# small queues beside one that has much to do: in the same project, and in
# others, they are not behind it

my $many = 5000;
my $small = 200;
my $big = queue('c', dlq => my $all = queue('c'));
my @same = map { queue('c', dlq => $all) } 1 .. $small;
my @others = map { queue("c$_") } 1 .. 20;
my @other = map { queue($_->{project}, dlq => $_) } @others;

for my $q ($big, @same, @other) {
    my $more = $q == $big ? $many : 1;

    while ($more > 0) {
        my $n = $more < 1000 ? $more : 1000;

        function($q->{root}, 'send', "q$q->{id}", 9, ("\"$q->{id}\"") x $n);
        function($q->{root}, 'receive', "q$q->{id}", $n, 1, '', $more);
        $more -= $n;
    }
}

# when all of it is due, nginx hears of the projects

sleep 1.1;
put($c, $_, 'hear') for $same[0], @other;
$begin = time;
ok(wait_for(sub {
    stored($all) >= $many + $small && stored(@others) == @others
}, 60), 'all are moved');

my ($end) = sort { $b <=> $a } map {
    $redis->call('XREVRANGE', "$_->{root}:m:$_->{id}:1", '+', '-')->[0][0]
        =~ /^(\d+)/
} @others;

in_time($end / 1000 - $begin, -60, 2, 'other projects are not late');

my $i = 0;
my ($last) = map { $_->[0] } grep { $_->[1] ne $big->{id} } reverse
    map { [$i++, $_->[1][1] =~ tr/"//dr] }
    @{ $redis->call('XRANGE', "$all->{root}:m:$all->{id}:1", '-', '+') };

cmp_ok($last, '<', $many * 0.7, 'queues of the same project as well');

# two nodes with two workers each: every message moves once

$s->configure(workers => 2);
$s->reload(drained => 20);

my $node = NgxQueues::Server->new(node_of => $s, workers => 2);
my @clients = ($s->client, $node->client);

# what is used through one node only, which dies

my $third = NgxQueues::Server->new(node_of => $s, workers => 1);
my $lonely = queue('lonely', dlq => my $lost = queue('lonely'));

put($third->client, $lonely, 'lonely');
ok(wait_for(sub { registry() =~ /lonely/ }), 'the other nodes can know of it');
take($third->client, $lonely, 2);
$third->kill;

my $died = time;

$dead = queue('d');
$q = queue('d', dlq => $dead);
$monitor = watch();
put($clients[$_ % 2], $q, $_ * 10 .. $_ * 10 + 9) for 1 .. 10;

my $got = 0;
my $first = time;

$got += take($clients[$_ % 2], $q, 3) for 1 .. 12;
is($got, 100, 'received through both nodes');
in_time(arrive($dead, 100, $first, 20), 2.9, 6, 'dead letters');
sleep 3;
is(stored($dead), 100, 'none of them twice');
is(stored($q), 0, 'none of them left');

my @bodies = map { $_->[1][1] }
    @{ $redis->call('XRANGE', "$dead->{root}:m:$dead->{id}:1", '-', '+') };

is(scalar(keys %{ { map { $_ => 1 } @bodies } }), 100, 'all there were');
$n = seen($monitor);
cmp_ok($n->{maintain}{$q->{root}}, '<', 25, 'by few calls')
    or diag(explain($n->{maintain}));

# two workers die right after the receive, one of whom knew of it

put($clients[0], $q, 'killed');
take($clients[0], $q, 2);
$begin = time;

# the note of it goes out with the answer, not before it

wait_for { ($redis->call('ZSCORE', 'ngxq:projects', $q->{root}) // 'inf') / 1000 < $begin + 60 }
    or die "nobody has noted it\n";
$s->kill_worker($_) for $s->worker_pids;
in_time(arrive($dead, 101, $begin, 20), 1, 9, 'workers die: others do it');

# the node that died

ok(wait_for(sub { stored($lost) >= 1 }), 'a node dies: others do it');
in_time(($redis->call('XREVRANGE', "$lost->{root}:m:$lost->{id}:1", '+', '-')
             ->[0][0] =~ s/-.*//r) / 1000 - $died, 1.9, 10, 'in time');
is(stored($lost), 1, 'once');

$node->finish;

# a registry of some pages, late all of it, and what is no project in it

my @junk = qw/junk ngxq:{} ngxq:projects/;

$redis->call(qw/ZADD ngxq:projects/,
             map { (++$serial % 3, $_) } @junk, map { "ngxq:{many/p$_}" } 1 .. 500);
$monitor = watch();
$s->reload(drained => 20);

my %asked;

ok(wait_for(sub {
    while (my $line = $monitor->poll(0.1)) {
        $asked{$1}{$2}++ if $line =~ $fcall;
    }

    (grep { /many/ } keys %{ $asked{maintain} }) == 500
}, 20), 'all of a large registry are looked after');
is((grep { !/^ngxq:\{\w+\/\w+\}$/ } keys %{ $asked{maintain} }), 0,
   'and nothing else');
cmp_ok($asked{project_due}{'ngxq:projects'}, '>=', 5, 'read in pages');
ok(wait_for(sub { registry() !~ /many/ }), 'and not again');
like(registry(), qr/^junk ngxq:projects .*ngxq:\{\}/, 'what is no project stays');
$redis->call('ZREM', 'ngxq:projects', @junk);

$s->finish(allow => [qr/the function itself failed|WRONGTYPE/]);

done_testing;
