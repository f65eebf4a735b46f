#!/usr/bin/perl

# Another binary takes over (USR2, WINCH, QUIT) in the middle of traffic, on a
# Unix socket; a reload changes the size of the zone; workers are killed. No
# message is lost, and nothing stays behind.

use strict;
use warnings;

use Test::More;

use NgxQueues::Process qw/children reap sanitizer_env slurp spawn spurt/;
use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Traffic;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(workers => 2, http => 'queues_zone queues 2m;',
    server => 'listen unix:%%DIR%%/nginx.sock;');
my $dir = $s->dir;
my $c = $s->client(unix => "$dir/nginx.sock");
my $q = NgxQueues::Queue->new($s, client => $c, visibilityTimeoutSeconds => 2);
my @masters;                            # daemons: nobody's children

END { kill TERM => grep { NgxQueues::Server::alive($_) } @masters }

sub workers {
    my ($master) = @_;

    return grep {
        slurp("/proc/$_/cmdline") =~ /^nginx: worker process/
    } children($master);
}

# connections of the module in Redis: three for each worker that is left

sub links { () = $s->redis->cli(qw/CLIENT LIST/) =~ /name=ngx_queues-/g }

# a zone of another size, and back

my $t = NgxQueues::Traffic->new($q, at => [$c, $s->client]);

for my $size (qw/4m 1m/) {
    my $parked = $q->park(fresh => 1);

    $t->run(0.3);
    $s->configure(http => "queues_zone queues $size;");
    $s->reload;
    ok($t->run(10, sub { $s->worker_pids(all => 1) == 2 }),
       "a zone of $size: the old workers leave");
    $t->run(0.3);
    $parked->close;
}

$t->finish;
is($t->problems, '', 'a zone of another size: all that was stored has come');
is($t->count(503), 0, 'and no request fails');
cmp_ok($t->stored, '>', 20, 'of ' . $t->stored . ' messages');

# the limit on invalid handles works in the new zone

my $r;

for (1 .. 110) {
    $r = $s->client->post('/v1/receipts/ack', { receiptHandles => ['bad'] });
}

is($r->{status}, 429, 'the limit of the zone');
$s->configure(http => 'queues_zone queues 2m;');
$s->reload(drained => 20);
is($s->client->post('/v1/receipts/ack', { receiptHandles => ['bad'] })
   ->{status}, 200, 'another size has it begin anew');

# workers are killed

$t = NgxQueues::Traffic->new($q, at => [$c, $s->client], cut => 1);

for my $turn (1 .. 4) {
    my ($pid) = ($s->worker_pids)[$turn % 2];

    $t->run(0.3);
    push @{ $s->{allow} }, qr/process $pid exited on signal 9/;
    kill KILL => $pid;
    ok($t->run(10, sub {
        my @now = $s->worker_pids;
        @now == 2 && !grep { $_ == $pid } @now
    }), "worker $turn is killed, and replaced");
}

$t->run(0.3);
$t->finish;
is($t->problems, '', 'killed workers: all that was stored has come');
cmp_ok($t->stored, '>', 20, 'of ' . $t->stored . ' messages');
wait_for { links() == 4 };
is(links(), 4, 'no connection is left behind');

# the binary. nginx takes USR2 only as a daemon

my $conf = slurp("$dir/nginx.conf");

ok($s->quit, 'quit');
$conf =~ s/^daemon off;/daemon on;/m or die 'no daemon';
spurt("$dir/nginx.conf", $conf);

my ($env, $reports) = sanitizer_env();

push @{ $s->{prefixes} }, $reports;

sub master { slurp("$dir/nginx.pid") =~ /^(\d+)$/m ? $1 : 0 }

is(reap(spawn({ out => "$dir/nginx.out", env => $env }, $s->command), 20), 0,
   'a daemon');
wait_for { master() && workers(master()) == 2 };

my ($first, $new) = master();

push @masters, $first;

$t = NgxQueues::Traffic->new($q, at => [$c, $s->client]);
$t->run(0.3);

my @old = workers($first);
my @parked = map { $q->park(fresh => 1, waitSeconds => 20) } 1 .. 20;

kill USR2 => $first;
ok($t->run(15, sub { $new = master(); -e "$dir/nginx.pid.oldbin" && $new
                     && $new != $first && workers($new) == 2 }),
   'USR2: the new one runs');
push @masters, $new;
$t->run(0.5);
kill WINCH => $first;
ok($t->run(15, sub { !grep { NgxQueues::Server::alive($_) } @old }),
   'WINCH: the old workers are gone');
$t->run(0.5);
kill QUIT => $first;
ok($t->run(15, sub { !NgxQueues::Server::alive($first) }),
   'QUIT: the old master is gone');
ok(-S "$dir/nginx.sock", 'the socket is still there');
$t->run(0.5);
$c->wait_all(\@parked, scaled(2));
is((grep { ($_->result->{status} // 0) == 200 } @parked), 20,
   'who waited has an answer');
$t->finish;
is($t->problems, '', 'all that was stored has come');
is($t->count(503), 0, 'and no request fails');
cmp_ok($t->stored, '>', 20, 'of ' . $t->stored . ' messages');
wait_for { links() == 4 };
is(links(), 4, 'connections to Redis are those of two workers');

my @workers = workers($new);

kill QUIT => $new;
ok(wait_for(sub { !grep { NgxQueues::Server::alive($_) } $new, @workers }, 15),
   'the new one ends');

$s->finish;

done_testing;
