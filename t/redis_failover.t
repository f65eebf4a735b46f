#!/usr/bin/perl

# Redis changes in the middle of traffic: its primary hands over to the replica
# (READONLY) and back, it restarts, forgets its functions, with room and
# without. What was answered is there, once, and nginx comes back by itself.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Process 'temp_dir';
use NgxQueues::Queue;
use NgxQueues::RedisServer;
use NgxQueues::Server;
use NgxQueues::Traffic;
use NgxQueues::Wait;

my $dir = temp_dir();
my $one = NgxQueues::RedisServer->new(port => 1, aof => 1);
my $other = NgxQueues::RedisServer->new(port => 1, aof => 1,
                                        replica_of => $one);

chmod 0755, $dir;

# a link to the socket of the primary, which is what nginx knows

sub point_to {
    my ($redis) = @_;

    symlink $redis->socket, "$dir/new" or die "symlink: $!";
    rename "$dir/new", "$dir/redis.sock" or die "rename: $!";
}

point_to($one);

my $s = NgxQueues::Server->new(redis => $one, queues => 0, workers => 2,
    http => 'queues_secret_file %%DIR%%/secret; queues_api_keys %%DIR%%/keys;'
            . " queues_redis unix:$dir/redis.sock;");
my $c = $s->client;
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 2);
my $waits = NgxQueues::Queue->new($s, name => 'waits');

# how long after something a send is answered with 201 again

sub back {
    my ($t, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my ($begin, $stored) = (time, $t->stored);

    # both workers have all of their connections there

    $t->run(10, sub {
        $t->stored > $stored + 20
        && 4 == (() = $s->redis->cli(qw/CLIENT LIST/) =~ /name=ngx_queues-/g)
    });
    cmp_ok(time - $begin, '<', scaled(2), "$name: service is back");
}

sub whole {
    my ($t, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    $t->finish(15);
    is($t->problems, '', "$name: all that was stored has come, once");
    cmp_ok($t->stored, '>', 20, "$name: of " . $t->stored . ' messages');
}

# hand over, there and back; FAILOVER loses nothing, so nothing may be lost

for my $turn (1, 2) {
    my ($from, $to) = $turn == 1 ? ($one, $other) : ($other, $one);
    my $t = NgxQueues::Traffic->new($q);

    # in each worker, so that none of them is asked for anything else

    my $calls = $waits->calls;
    my @parked = map { $waits->park(fresh => 1, maxMessages => 1) } 1 .. 10;

    ok(wait_for { $waits->calls >= $calls + @parked },
       "failover $turn: they wait");
    $t->run(0.3);
    is($from->client->call('FAILOVER', 'TO', '127.0.0.1', $to->port), 'OK',
       "FAILOVER $turn");
    ok($t->run(10, sub {
        $to->cli(qw/INFO replication/) =~ /role:master/
        && $from->cli(qw/INFO replication/) =~ /role:slave/
    }), 'the other one is the primary');
    $t->run(0.1);
    point_to($to);
    $s->{redis} = $to;
    back($t, "failover $turn");
    $t->run(0.3);
    $from->{replica_of} = $to;
    delete $to->{replica_of};
    $from->synced;
    delete $_->{redis} for $q, $waits;
    whole($t, "failover $turn");
    is($t->count(503, 'send') + $t->count(503, 'ack'), 0,
       "failover $turn: no request fails");
    $waits->send(map { "failover $turn" } @parked);
    $c->wait_all(\@parked, scaled(5));
    is((grep { @{ $_->result->{json}{messages} // [] } == 1 } @parked), 10,
       "failover $turn: waits outlast it");
    $waits->drain(visibilityTimeoutSeconds => 600);

    # hints come from the new one: both workers have joined there

    my @again = map { $waits->park(fresh => 1, waitSeconds => 2) } 1 .. 20;

    ok(eval { $waits->parked(2) }, "failover $turn: hints from the new one");
    $_->close for @again;
}

my ($problems) = join "\n", $one->check;

is($problems, '', 'Redis has what it should have');

# the log has a line for each request that failed, and few others

my @lines = grep { /\[error\]/ && !/the store is unavailable/ }
    split /\n/, $s->error_log;

cmp_ok(scalar(@lines), '<', 40, 'the links say little: ' . @lines . ' lines')
    or diag(join "\n", @lines);
like($s->error_log, qr/read-only replica/, 'and why');

# a restart; all that was answered is in the file

my $t = NgxQueues::Traffic->new($q);

$t->run(0.3);
$one->restart;
delete $waits->{redis};
back($t, 'restart');
whole($t, 'restart');

# the functions are gone: no request fails, and they are loaded once by each
# worker at most

$t = NgxQueues::Traffic->new($q, senders => 20);

my $loads = $one->calls('function|load');

for (1 .. 5) {
    $t->run(0.2);
    is($one->client->call(qw/FUNCTION FLUSH/), 'OK', 'FUNCTION FLUSH');
}

back($t, 'flushed');
whole($t, 'flushed');
is($t->count(503), 0, 'no request fails');
$loads = $one->calls('function|load') - $loads;
ok($loads >= 5 && $loads <= 10, "loaded by each worker, once: $loads");

# and while memory is full: they cannot be loaded, nothing works; once there is
# room it does. Who waits does so in a queue of its own, where nobody else did:
# its first call is before all that

$t = NgxQueues::Traffic->new($q);
$t->run(0.2);

my $admin = $one->client;
my $late = NgxQueues::Queue->new($s, name => 'late');
my $h = $late->park(fresh => 1);

$late->parked(1);
is($admin->call(qw/CONFIG SET maxmemory 1/), 'OK', 'full');
is($admin->call(qw/FUNCTION FLUSH/), 'OK', 'and flushed');
$loads = $one->calls('function|load');

my $length = length $s->error_log;

$t->run(0.7);
is($c->get($q->path)->{status}, 503, 'nothing works');
$admin->call(qw/CLIENT KILL TYPE normal/);
$t->run(0.5);

my $lines = grep { !/the store is unavailable/ && /\[error\]/ }
    split /\n/, substr $s->error_log, $length;

cmp_ok($lines, '<', 20, "what the links say of it: $lines lines");

my $stored = $t->stored;

$t->run(0.2);
is($t->stored, $stored, 'nothing is stored');
is($one->client->call(qw/CONFIG SET maxmemory 0/), 'OK', 'room');
back($t, 'room');
whole($t, 'room');
$late->send('room');
$c->wait_all([$h], scaled(5));
is($h->result->{json}{messages}[0]{body}, 'room', 'a wait outlasts it');

$problems = join "\n", $one->check;
is($problems, '', 'Redis has what it should have');
$s->finish;
$_->shutdown for $other, $one;

done_testing;
