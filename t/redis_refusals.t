#!/usr/bin/perl

# A Redis that is there and refuses: busy with a script, out of memory, a
# read-only replica, a key of a wrong type. 503 with Retry-After, never an
# answer as if it were done; and recovery.

use strict;
use warnings;

use List::Util 'min';
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Queue;
use NgxQueues::RedisServer;
use NgxQueues::Server;
use NgxQueues::Wait;

my $redis = NgxQueues::RedisServer->new(
    config => ['--busy-reply-threshold', 100]);
my $s = NgxQueues::Server->new(redis => $redis, workers => 2,
    http => 'queues_redis_timeout 1s;');
my $c = $s->client;
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60,
                              maxMessageBytes => 1048576);
my $queues = $q->{queues};

sub unavailable {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is("$r->{status} " . ($r->{json}{error} // $r->{error} // '')
       . ($r->{headers}{'retry-after'} // ''), '503 unavailable1', $name);
}

# how soon, is seen where a busy machine was least in the way

my @back;

sub returns {
    my ($name, $call) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $begin = time;

    $call //= sub { $q->post('/messages/receive', { maxMessages => 1,
                                  visibilityTimeoutSeconds => 0 }) };

    ok(wait_for(sub { $call->()->{status} == 200 }), "$name: back");
    push @back, time - $begin;
}

# busy: all calls, until the script is killed

$q->send('before');

my $h = NgxQueues::Queue->new($s, name => 'waits');
my $parked = $h->park(fresh => 1);

$h->parked;

my $endless = $redis->client(timeout => 60);

$endless->put('EVAL', 'while true do end', 0);

my $admin = $redis->client;

wait_for { ref(my $pong = $admin->call('PING')) } 5 or fail('it is not busy');
unavailable($c->get($queues), 'busy: list');
unavailable($q->post('/messages', { body => 'x' }), 'busy: send');
unavailable($q->post('/messages/receive', { waitSeconds => 1 }),
            'busy: receive');
unavailable($c->post($q->path('/purge')), 'busy: purge');
is($admin->call('SCRIPT', 'KILL'), 'OK', 'the script is killed');
$endless->get;
returns('busy');
is($q->counts, '1 0 0', 'nothing was stored that was not answered so');
$h->send('woken');
$c->wait_all([$parked]);
is($parked->result->{json}{messages}[0]{body}, 'woken', 'a wait outlasts it');

# a script that has written cannot be killed: it ends by itself

$endless->put('EVAL', "redis.call('SET', 'x', 1) local t = redis.call('TIME')"
    . ' repeat local n = redis.call("TIME") until n[1] - t[1] >= 2'
    . ' redis.call("DEL", "x")', 0);
wait_for { ref(my $pong = $admin->call('PING')) } 5;
unavailable($c->get($queues), 'busy, and unkillable');
$endless->get;
returns('unkillable');

# out of memory: sends are refused, what makes room goes on

my $big = NgxQueues::Queue->new($s, name => 'big', maxMessageBytes => 1048576,
                                visibilityTimeoutSeconds => 60);

$big->send(('x' x 100_000)) for 1 .. 20;

# without the buffers of connections, which get smaller

my ($used, $buffers) = map {
    $redis->cli('INFO', 'memory') =~ /^$_:(\d+)/m
} qw/used_memory mem_clients_normal/;

is($admin->call(qw/CONFIG SET maxmemory/, $used - $buffers - 100_000), 'OK', 'full');
unavailable($big->post('/messages', { body => 'x' }), 'full: send');
unavailable($c->post($queues, { name => 'more' }), 'full: create');

my @m = $big->receive(maxMessages => 10);

is(scalar(@m), 10, 'full: receive');
is($big->visibility(100, $m[0]), 'ok', 'full: visibility');
is($big->visibility(0, $m[9]), 'ok', 'full: release');
is($big->ack(@m), join(' ', ('ok') x 10), 'full: ack');
is($big->counts, '10 0 0', 'full: counts');

wait_for { $big->post('/messages', { body => 'fits' })->{status} == 201 }
    or fail('there is room again');
is(scalar($big->drain), 11, 'drain');
is($admin->call(qw/CONFIG SET maxmemory 1/), 'OK', 'as full as can be');
unavailable($big->post('/messages', { body => 'x' }), 'send');
is($c->post($big->path('/purge'))->{status}, 202, 'purge');
is($c->delete($big->path)->{status}, 204, 'delete');
is($admin->call(qw/CONFIG SET maxmemory 0/), 'OK', 'no limit');
returns('full');

# a replica (of nobody, so that it keeps what it has): read-only

is($admin->call('REPLICAOF', '127.0.0.1', 1), 'OK', 'a replica');
unavailable($q->post('/messages', { body => 'x' }), 'replica: send');
unavailable($q->post('/messages/receive', { waitSeconds => 0 }),
            'replica: receive');
unavailable($c->post('/v1/receipts/ack',
    { receiptHandles => [$m[0]{receiptHandle}] }), 'replica: ack');
is($redis->client->call(qw/REPLICAOF NO ONE/), 'OK', 'a primary again');
returns('replica');

# each worker that met the replica makes its own link anew

returns('replica, who acknowledged', sub { $c->get($queues) });

# cannot write its file

is($admin->call(qw/CONFIG SET min-replicas-to-write 1/), 'OK', 'no replicas');
unavailable($q->post('/messages', { body => 'x' }), 'NOREPLICAS');
is($admin->call(qw/CONFIG SET min-replicas-to-write 0/), 'OK', 'none wanted');
returns('NOREPLICAS');

# a key of a wrong type under a queue's key: 503, nothing half done

my $odd = NgxQueues::Queue->new($s, name => 'odd',
                                visibilityTimeoutSeconds => 60);
my ($id) = $odd->key =~ /(\w+)$/;
my %planted = (m => "o/p}:m:$id:1", y => "o/p}:y:$id:1", f => "o/p}:f:$id:1",
               d => "o/p}:d:$id:1");

for my $type (sort keys %planted) {
    my $key = "ngxq:{$planted{$type}";

    $admin->call('DEL', $key);
    $admin->call('SET', $key, 'planted');
    unavailable($odd->post('/messages', { messages => [
        { body => 'a' }, { body => 'b', delaySeconds => 900 }
    ] }), "a planted $type: send") if $type =~ /[my]/;
    unavailable($odd->post('/messages/receive', {}),
                "a planted $type: receive") if $type ne 'd';
    is($admin->call('GET', $key), 'planted', 'it is still there');
    $admin->call('DEL', $key);
    is($odd->counts, '0 0 0', "a planted $type: nothing is half done");
}

$odd->send('fine');
is($odd->ack($odd->receive), 'ok', 'and it goes on');

is(join("\n", $redis->check), '', 'Redis has what it should have');
$s->finish(allow => [qr/function failed in Redis: "WRONGTYPE/]);
$redis->shutdown;

cmp_ok(min(@back), '<', scaled(1), 'back within a second') or diag("@back");

done_testing;
