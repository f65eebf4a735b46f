#!/usr/bin/perl

# A Redis that is there and cannot be used for a while: it loads its file, or
# wants another password. 503 in the meantime, waits go on, few attempts to
# connect and few lines in the log, and nginx comes back by itself.

use strict;
use warnings;

use List::Util 'min';
use Test::More;
use Time::HiRes qw/sleep time/;

use NgxQueues::Queue;
use NgxQueues::RedisServer;
use NgxQueues::Server;
use NgxQueues::Wait;

my $redis = NgxQueues::RedisServer->new(aof => 1);
my $s = NgxQueues::Server->new(redis => $redis, workers => 2,
    server => 'location = /status { stub_status; }');
my $c = $s->client;
my $q = NgxQueues::Queue->new($s, client => $c,
                              visibilityTimeoutSeconds => 60);

sub unavailable {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is("$r->{status} " . ($r->{json}{error} // $r->{error} // '')
       . ($r->{headers}{'retry-after'} // ''), '503 unavailable1', $name);
}

# how soon, is seen where a busy machine was least in the way

my @back;

sub returns {
    my ($name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $begin = time;

    ok(wait_for(sub {
        4 == (() = $redis->cli(qw/CLIENT LIST/) =~ /name=ngx_queues-/g)
    }), "$name: the links are back");
    ok(wait_for(sub {
        30 == grep { $_->{status} == 200 } $c->wait_all([map {
            $c->start(GET => $q->{queues}, undef, fresh => $_ > 2)
        } 1 .. 30])
    }), "$name: and what they are for");
    push @back, time - $begin;
}

sub stat_of { $redis->cli(qw/INFO stats/) =~ /^$_[0]:(\d+)/m ? $1 : -1 }

# lines of the links in the log from a place on

sub lines_of {
    my ($from) = @_;

    return grep { /\[(?:error|warn)\]/ && !/the store is unavailable/ }
        split /\n/, substr $s->error_log, $from;
}

sub connections {
    $c->get('/status', close => 1)->{body} =~ /Active connections: (\d+)/
        ? $1 : 0
}

my $before = connections();

# 300 receives wait; Redis dies, and takes its time to load what it has. It
# loads keys as slowly as it is told, and a queue has few: so it gets more

my $admin = $redis->client;

$admin->call('EVAL', 'for i = 1, 3000 do redis.call("SET", "key" .. i, i) end',
             0);
$admin->call('BGREWRITEAOF');
wait_for {
    $redis->cli(qw/INFO persistence/) =~ /aof_rewrite_in_progress:0/
    && $redis->cli(qw/INFO persistence/) =~ /aof_rewrite_scheduled:0/
};
$q->send(map { "before $_" } 1 .. 10);

my ($done, @rest) = $q->receive(maxMessages => 2);

is($q->ack($done), 'ok', 'one is acknowledged');
$redis->written;

my $other = NgxQueues::Queue->new($s, client => $c, name => 'other');
my $calls = $other->calls;
my @parked = map { $other->park(fresh => 1, waitSeconds => 20) } 1 .. 300;

wait_for { $other->calls >= $calls + 300 };

my $from = length $s->error_log;

$redis->kill;
$redis->start(qw/--key-load-delay 1000 --loading-process-events-interval-bytes
                 1024/);
is($redis->cli('PING') =~ /^LOADING/ ? 1 : 0, 1, 'it is loading');
unavailable($c->get($q->path), 'loading');
unavailable($q->post('/messages', { body => 'x' }), 'loading: send');

my $begin = time;
my $attempts = stat_of('total_connections_received');

sleep 1.5;
is($redis->cli('PING') =~ /^LOADING/ ? 1 : 0, 1, 'it is loading still');

my $took = time - $begin;

$attempts = stat_of('total_connections_received') - $attempts;

# two workers, two links; once in half a second each. redis-cli is one too

cmp_ok($attempts, '<=', 4 * (2 * $took + 4), "few attempts: $attempts");
cmp_ok($attempts, '>', 2, 'but there are some');
cmp_ok(scalar(lines_of($from)), '<=', 24, 'few lines: ' . lines_of($from));
is((grep { $_->{done} } @parked), 0, 'nobody who waits was answered');

my ($cpu) = map { my @f = split ' ', NgxQueues::Process::slurp("/proc/$_/stat");
                  $f[13] + $f[14] } ($s->worker_pids)[0];

sleep 0.5;

my ($later) = map {
    my @f = split ' ', NgxQueues::Process::slurp("/proc/$_/stat");
    $f[13] + $f[14]
} ($s->worker_pids)[0];

cmp_ok($later - $cpu, '<=', 10, 'and it costs no time');
wait_for { $redis->cli('PING') =~ /^PONG/ } 20;
returns('loaded');
delete $_->{redis} for $q, $other;
is($q->counts, '8 1 0', 'what was stored and acknowledged has stayed so');

# what is sent now comes to those who wait

$other->send(map { "m$_" } 1 .. 300);

my @r = $c->wait_all(\@parked, scaled(5));

is((grep { @{ $_->{json}{messages} || [] } == 1 } @r), 300,
   'each of those who waited gets a message');
$c->{idle} = [];
$_->close for @parked;
wait_for { connections() <= $before + 2 };
cmp_ok(connections(), '<=', $before + 2, 'connections are as many as before');

# another password, for a while

$from = length $s->error_log;
$admin = $redis->client;

my $h = $other->park(fresh => 1, waitSeconds => 20);

$other->parked;
is($admin->call(qw/CONFIG SET requirepass changed/), 'OK', 'a password');
$admin->call(qw/CLIENT KILL TYPE/, $_) for qw/normal pubsub/;
wait_for { $c->get($q->path)->{status} == 503 };
unavailable($q->post('/messages', { body => 'x' }), 'a password is wanted');
sleep 1;
unavailable($q->post('/messages', { body => 'x' }), 'and still');
cmp_ok(scalar(lines_of($from)), '<=', 24, 'few lines: ' . lines_of($from));
like(join("\n", lines_of($from)), qr/wants a password and none is configured/,
     'which say why');

# nginx gets a wrong one, then the right one

$redis->{password} = 'wrong';
$s->configure;
$s->reload(drained => 20);
$c->wait_all([$h], scaled(2));
is($h->result->{status}, 200, 'a reload ends the wait');
$from = length $s->error_log;
unavailable($q->post('/messages', { body => 'x' }), 'a wrong password');
wait_for { join('', lines_of($from)) =~ /does not accept/ };
like(join("\n", lines_of($from)), qr/does not accept the user name or the pass/,
     'the log says so');
$redis->{password} = 'changed';
$s->configure;
$s->reload(drained => 20);
returns('the right password');

# and Redis wants none again: nginx has one too many, which is no matter

is($redis->client->call('CONFIG', 'SET', 'requirepass', ''), 'OK', 'none');
$redis->{password} = undef;
$redis->client->call(qw/CLIENT KILL TYPE normal/);

$s->configure;
$s->reload(drained => 20);
returns('no password');
unlike($s->error_log, qr/"changed"|"wrong"/, 'no password in the log');
$c->{idle} = [];
wait_for { connections() <= $before + 2 };
cmp_ok(connections(), '<=', $before + 2, 'connections are as many as before');
delete $_->{redis} for $q, $other;
is($q->ack(@rest), 'ok', 'and all goes on');
$redis->client->call('DEL', map { "key$_" } 1 .. 3000);
is(join("\n", $redis->check), '', 'Redis has what it should have');
$s->finish;
$redis->shutdown;

cmp_ok(min(@back), '<', scaled(2), 'back within two seconds') or diag("@back");

done_testing;
