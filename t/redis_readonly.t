#!/usr/bin/perl

# What a Redis refuses that is no primary any more is done by the new one, if
# that is found within the deadline: a name leads to another address, a pipeline
# of hundreds was on its way, workers leave meanwhile. Each is answered once and
# stored once; and tried once more only.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Dns;
use NgxQueues::Metrics;
use NgxQueues::Queue;
use NgxQueues::RedisServer;
use NgxQueues::Server;
use NgxQueues::Traffic;
use NgxQueues::Wait;

my $dns = NgxQueues::Dns->new(localhost => { A => ['127.0.0.1'], ttl => 0 });
my @trust = qw/--protected-mode no/;       # 127.0.0.2 is no loopback to Redis
my $one = NgxQueues::RedisServer->new(port => 1, config => \@trust);
my $other = NgxQueues::RedisServer->new(port => $one->port,
    config => [@trust, qw/--bind 127.0.0.2 --bind-source-addr 127.0.0.2/],
    replica_of => $one);
my %address = ($one => '127.0.0.1', $other => '127.0.0.2');
my @at = ($one, $other);        # the primary, its replica

# a node that knows the name, or what it is told

sub node {
    my ($http, %options) = @_;
    my $s = $options{node_of};

    $http .= ' queues_redis localhost:' . $one->port . '; resolver '
             . $dns->address . ' ipv6=off;' if $http !~ /queues_redis /;

    return NgxQueues::Server->new(redis => $one, queues => 0, %options,
        locations => 'location / { queues_api; } location = /metrics {'
                     . ' queues_metrics; } location = /status { stub_status; }',
        http => 'queues_secret_file ' . ($s ? $s->{secret_file}
                : '%%DIR%%/secret') . '; queues_api_keys '
                . ($s ? $s->{keys_file} : '%%DIR%%/keys') . "; $http");
}

sub rejected {
    my ($redis) = @_;

    my ($n) = $redis->cli(qw/INFO commandstats/)
        =~ /^cmdstat_fcall:.*rejected_calls=(\d+)/m;

    return $n // 0;
}

sub offset {
    my ($redis) = @_;

    return ($redis->cli(qw/INFO replication/)
            =~ /^master_repl_offset:(\d+)/m)[0];
}

# requests that nginx is busy with, but for the one that asks

sub busy {
    my ($s) = @_;

    return $s->client->get('/status', close => 1)->{body} =~ /Writing: (\d+)/
        ? $1 - 1 : 0;
}

sub leads_to { $dns->set(localhost => { A => [$address{$_[0]}], ttl => 0 }) }

# The requests that are started are all on their way when the primary becomes a
# replica, and are refused; the name leads there still, until found() is called

sub refused {
    my ($s, $n, $start) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my ($from, $to) = @at;
    my $admin = $from->client;
    my $rejected = rejected($from);

    $admin->call(qw/CLIENT PAUSE 60000 WRITE/);

    # so much has been written, and comes to the other one

    ok(wait_for { offset($from) == offset($to) }, 'the replica has all');

    my @h = $start->();

    ok(wait_for { busy($s) >= $n }, "$n requests are on their way");
    $to->client->call(qw/REPLICAOF NO ONE/);
    $admin->call('REPLICAOF', $address{$to}, $to->port);
    $admin->call(qw/CLIENT UNPAUSE/);
    ok(wait_for { rejected($from) > $rejected }, 'and are refused');
    is((grep { $_->{done} } @h), 0, 'nobody is told');
    @at = ($to, $from);

    return @h;
}

sub found {
    my ($s) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    leads_to($at[0]);
    $s->{redis} = $at[0];
    $at[1]{replica_of} = $at[0];
    delete $at[0]{replica_of};
    $at[1]->synced;
}

sub send_all {
    my ($q, @bodies) = @_;

    return map { $q->client->start(POST => $q->path('/messages'),
                                   { body => $_ }, fresh => 1, timeout => 20)
    } @bodies;
}

my $s = node('queues_redis_timeout 10s;', workers => 2);
my $c = $s->client;
my $m = NgxQueues::Metrics->new($c);
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 600);
my ($old) = @at;

# hundreds, of both workers

my @bodies = map { "storm $_" } 1 .. 300;
my $rejected = rejected($old);
my @h = refused($s, 300, sub { send_all($q, @bodies) });

ok(wait_for { rejected($old) - $rejected >= 300 }, 'all of them');

# what comes now waits as well

push @h, send_all($q, map { "later $_" } 1 .. 20);
ok(wait_for { busy($s) >= 320 }, 'and later ones');
found($s);

my @r = $c->wait_all(\@h, 20);

is(join(' ', sort grep { $_ != 201 } map { $_->{status} } @r), '',
   'all are stored');
is(join(' ', sort map { $_->{body} } $q->drain),
   join(' ', sort @bodies, map { "later $_" } 1 .. 20), 'once');

# workers have calls of their own, few; those of the metrics are two

cmp_ok(rejected($old) - $rejected, '<', 340, 'refused once each');
cmp_ok($m->value('queues_redis_commands_retried_total'), '>=', 300,
       'and counted');
cmp_ok($m->look('queues_redis_commands_retried_total'), '<', 340,
       'for what it was');
is($m->look('queues_redis_commands_in_flight'), 0, 'none is left behind');
is($m->look('queues_redis_commands_overdue_total'), 0, 'none was late');
unlike($s->error_log, qr/the store is unavailable/, 'no line about a request');

# a receive whose client goes: its message is nobody's

$q->send('given back');
($c->{idle}, my @gone) = ([], refused($s, 1, sub {
    $c->start(POST => $q->path('/messages/receive'), {}, fresh => 1)
}));
$_->close for @gone;
found($s);
is(wait_for { ($q->receive)[0] && 'given back' }, 'given back',
   'its message is the next one\'s');

# the workers leave, and finish first

@h = refused($s, 50, sub { send_all($q, map { "reload $_" } 1 .. 50) });
$s->reload;
is((grep { $_->{done} } @h), 0, 'a reload waits for them');
found($s);
is((grep { $_->{status} == 201 } $c->wait_all(\@h, 20)), 50, 'all are stored');
ok(wait_for { $s->worker_pids(all => 1) == 2 }, 'and the workers have left');
ok($m->is('queues_redis_links{kind="commands"}', 2), 'new ones are there');
is(scalar($q->drain), 50, 'once');

# traffic, there and back

my $busy = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 2);

for my $turn (1, 2) {
    my $t = NgxQueues::Traffic->new($busy);
    my ($from, $to) = @at;
    my $refusals = rejected($from);

    $t->run(0.3);
    is($from->client->call('FAILOVER', 'TO', $address{$to}, $to->port), 'OK',
       "FAILOVER $turn");
    ok($t->run(10, sub {
        $to->cli(qw/INFO replication/) =~ /role:master/
        && $from->cli(qw/INFO replication/) =~ /role:slave/
    }), 'the other one is the primary');
    ok($t->run(5, sub { rejected($from) > $refusals }), 'calls are refused');
    @at = ($to, $from);
    found($s);

    my $stored = $t->stored;

    ok($t->run(10, sub { $t->stored > $stored + 50 }), 'nginx has followed');
    delete $busy->{redis};
    $t->finish(15);
    is($t->problems, '', 'all that was stored has come, once');
    is($t->count(503, 'send') + $t->count(503, 'ack'), 0, 'none fails');
    cmp_ok($t->stored, '>', 50, 'of ' . $t->stored . ' messages');
}

# sends that wait for a replica: the old primary is one of the new one

my $two = node('queues_redis_timeout 10s; queues_redis_replicas 1 5s;',
               node_of => $s);

sub send_two {
    return map { $two->client->start(POST => $q->path('/messages'),
                                     { body => $_ }, fresh => 1, timeout => 20)
    } @_;
}

leads_to($at[0]);
ok(wait_for { $two->client->post($q->path('/messages'),
                                 { body => 'first' })->{status} == 201 },
   'a node with replicas');
$q->drain;
@h = refused($two, 100, sub { send_two(map { "two $_" } 1 .. 100) });
found($s);
is((grep { $_->{status} == 201 } $c->wait_all(\@h, 20)), 100,
   'all are stored, and on the replica');
is(scalar($q->drain), 100, 'once');

# one that waits for the replica is unblocked, and was done; those that wait for
# it are not, and are done by the new primary

my ($primary, $replica) = @at;

$replica->stop;

my @first = send_two('first');

ok(wait_for { $primary->cli(qw/INFO clients/) =~ /blocked_clients:1\r/ },
   'a send waits for the replica');
@h = send_two(map { "next $_" } 1 .. 10);
ok(wait_for { busy($two) >= 11 }, 'and others for their turn');
$primary->client->call('REPLICAOF', $address{$replica}, $replica->port);
$two->client->wait_all(\@first, 5);
is($first[0]->result->{status}, 503, 'the first one is refused');
is((grep { $_->{done} } @h), 0, 'the others are not');
$replica->cont;
$replica->client->call(qw/REPLICAOF NO ONE/);
@at = ($replica, $primary);
found($s);
is((grep { $_->{status} == 201 } $c->wait_all(\@h, 20)), 10,
   'they are stored');
is(join(' ', sort grep { /next/ } map { $_->{body} } $q->drain),
   join(' ', sort map { "next $_" } 1 .. 10), 'once');
unlike($two->error_log, qr/WAIT cannot be used/, 'no word of what came of it');
$two->finish;

is(join("\n", $at[0]->check), '', 'Redis has what it should have');

# nginx ends while calls wait

@h = refused($s, 20, sub { send_all($q, map { "end $_" } 1 .. 20) });

my $begin = time;

ok($s->terminate, 'nginx ends');
cmp_ok(time - $begin, '<', scaled(3), 'at once');
$s->finish;
$_->shutdown for $other, $one;

# no primary within the deadline: 503 then, and at once when it is over

my $redis = NgxQueues::RedisServer->new;
my $short = node("queues_redis_timeout 1s; queues_redis unix:"
                 . $redis->socket . ';', redis => $redis);
my $at = $short->client;
my $sq = NgxQueues::Queue->new($short);
my $admin = $redis->client;

$admin->call(qw/REPLICAOF 127.0.0.1 1/);
$begin = time;

my $r = $sq->post('/messages', { body => 'x' });

is("$r->{status} $r->{json}{error} $r->{headers}{'retry-after'}",
   '503 unavailable 1', 'no primary comes');
cmp_ok(time - $begin, '>', 0.9, 'it was waited for');
cmp_ok(time - $begin, '<', scaled(2), 'no longer than the deadline');
$begin = time;
is((grep { $sq->post('/messages', { body => 'x' })->{status} == 503 } 1 .. 5),
   5, 'and then nobody waits');
cmp_ok(time - $begin, '<', scaled(2.5), 'for the next one');
like($short->error_log, qr/the store is unavailable: no connection to Redis/,
     'the log says so');
$admin->call(qw/REPLICAOF NO ONE/);
ok(wait_for { $sq->post('/messages', { body => 'x' })->{status} == 201 },
   'until there is one');

$short->finish;

# reads that are refused, as the replica has lost its primary

my $never = node('queues_redis_timeout 5s; queues_redis unix:'
                 . $redis->socket . ';', redis => $redis, node_of => $short);

$at = $never->client;
is($at->get($sq->path)->{status}, 200, 'a read');
$admin->call(qw/CONFIG SET replica-serve-stale-data no/);
$rejected = rejected($redis);
$admin->call(qw/REPLICAOF 127.0.0.1 1/);

my $h = $at->start(GET => $sq->path, undef, fresh => 1);

ok(wait_for { busy($never) == 1 && rejected($redis) > $rejected },
   'MASTERDOWN');
$admin->call(qw/REPLICAOF NO ONE/);
$at->wait_all([$h], 5);
is($h->result->{status}, 200, 'a read goes again');

# One that refuses for ever and seems to be a primary, as a function of ours says
# so here: each call is made twice

my ($ours) = grep { $_->{library_name} =~ /^ngxq_/ }
    map { { @$_ } } @{ $admin->call(qw/FUNCTION LIST WITHCODE/) };
my ($library, $code) = @$ours{qw/library_name library_code/};

is($code =~ s/'queue_count'/'queue_count_of_ours'/g, 1, 'a function of ours');
is($admin->call(qw/FUNCTION LOAD REPLACE/, $code
    . "redis.register_function('${library}_queue_count', function()"
    . " redis.call('INCR', 'n') return redis.error_reply('READONLY x') end)"),
   $library, 'is another one now');
is($at->get($sq->path)->{status}, 503, 'it refuses');
is($admin->call(qw/GET n/), 2, 'twice');
is((grep { $_->{status} == 503 } $at->wait_all([map {
    $at->start(GET => $sq->path, undef, fresh => 1)
} 1 .. 200], 20)), 200, 'each of many');
is($admin->call(qw/GET n/), 402, 'twice too');
cmp_ok(scalar(() = $never->error_log =~ /connection for commands lost/g), '<',
       50, 'connections are few');
$never->finish;

# what was sent over a link that is to be made anew is not waited for for ever

my $held = node('queues_redis_timeout 30s; queues_redis_replicas 1 15s;'
                . ' queues_redis unix:' . $redis->socket . ';',
                redis => $redis, node_of => $short);

$at = $held->client;
$h = $at->start(POST => $sq->path('/messages'), { body => 'x' }, fresh => 1);
ok(wait_for { $redis->cli(qw/INFO clients/) =~ /blocked_clients:1\r/ },
   'a send waits for replicas');
is($at->get($sq->path)->{status}, 503, 'there is no primary');
$at->wait_all([$h], 20);
is($h->result->{status}, 503, 'it has no answer');
cmp_ok($h->result->{time}, '<', scaled(5), 'soon');
like($held->error_log, qr/connection for sends lost: Redis is a read-only/,
     'with its link');
$held->finish;
$redis->shutdown;

done_testing;
