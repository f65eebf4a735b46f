#!/usr/bin/perl

# Redis goes away and comes back, forgets its functions or all it had, or stops
# for a while: 503 in the meantime, never an answer that is another one's, and
# service within a second of its return.

use strict;
use warnings;

use IO::Socket::UNIX;
use List::Util 'min';
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Queue;
use NgxQueues::RedisServer;
use NgxQueues::Server;
use NgxQueues::Wait;

my $redis = NgxQueues::RedisServer->new(aof => 1);

$redis->kill;

my $s = NgxQueues::Server->new(redis => $redis, http =>
    'queues_redis_timeout 500ms; queues_redis_connect_timeout 500ms;');
my $c = $s->client;
my $queues = '/v1/organizations/o/projects/p/queues';

sub unavailable {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is("$r->{status} " . ($r->{json}{error} // $r->{error} // '')
       . ($r->{headers}{'retry-after'} // ''), '503 unavailable1', $name);
}

# how soon, is seen where a busy machine was least in the way

my @back;

sub returns {
    my ($begin, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    ok(wait_for(sub { $c->get($queues)->{status} == 200 }), "$name: back");
    push @back, time - $begin;
}

# not there at the start

unavailable($c->get($queues), 'no Redis: list');
unavailable($c->post($queues, { name => 'a' }), 'no Redis: create');
unavailable($c->post("$queues/a/messages/receive", { waitSeconds => 1 }),
            'no Redis: a receive that would wait');
is($c->get('/v1')->{status}, 404, 'what needs no Redis goes on');

# the pause between two attempts gets no longer than half a second: two links try, and
# are cut off by somebody who counts them

unlink $redis->socket;

my $nobody = IO::Socket::UNIX->new(Local => $redis->socket, Listen => 64,
                                   Blocking => 0) or die $!;

sub attempts {
    my ($n) = @_;

    return wait_for {
        while (my $attempt = $nobody->accept) {
            $n--;
        }

        $n <= 0
    } 10;
}

ok(attempts(12), 'attempts that get seldom at first');
ok(attempts(12), 'and do not get any more seldom');
close $nobody;

$redis->start;
returns(time, 'start');

# killed; what was answered as done is done, as far as it was written

my $q = NgxQueues::Queue->new($s, name => 'q', visibilityTimeoutSeconds => 60);
my @ids = $q->send(map { "m$_" } 1 .. 20);
my @m = $q->receive(maxMessages => 10);

is($q->ack(@m[0 .. 4]), join(' ', ('ok') x 5), 'some are done');
my $h = $q->park(waitSeconds => 20, fresh => 1, maxMessages => 1);

$c->wait_all([$h]);

my ($one) = @{ $h->result->{json}{messages} };

# a receive waits for another queue; the outage does not end its wait

my $other = NgxQueues::Queue->new($s, name => 'other');
my $parked = $other->park(fresh => 1);

$other->parked;
$redis->written;
$redis->kill;
unavailable($c->get($queues), 'killed');
unavailable($q->post('/messages', { body => 'x' }), 'killed: send');
unavailable($c->post('/v1/receipts/ack',
    { receiptHandles => [$m[5]{receiptHandle}] }), 'killed: ack');
$redis->start;
delete $q->{redis};
delete $other->{redis};
returns(time, 'kill');
is($q->counts, '9 6 0', 'everything that was answered is there');
is($q->ack(@m[4 .. 9], $one), 'stale ok ok ok ok ok ok',
   'handles have stayed');
$other->send('parked');
$c->wait_all([$parked]);
is($parked->result->{json}{messages}[0]{body}, 'parked',
   'a wait outlasts the outage');

# a wait whose end comes while Redis is away: 503

$h = $other->park(waitSeconds => 1, fresh => 1);
$other->parked;
$redis->kill;
$c->wait_all([$h]);
unavailable($h->result, 'the end of a wait in an outage');
$redis->start;
delete $other->{redis};
returns(time, 'kill again');

# stopped: answers in time, and afterwards none that is another one's

my @mixed;
my @clients = map { $s->client } 1 .. 3;
my @handles = map { $_->{receiptHandle} } $q->receive(maxMessages => 10);

$redis->stop;

for my $i (1 .. 50) {
    push @mixed, $clients[$i % 3]->start(@$_, fresh => 1) for [
        [POST => $q->path('/messages'), { body => "stopped $i" }],
        [POST => $q->path('/messages/receive'), { maxMessages => 10 }],
        [POST => '/v1/receipts/ack',
         { receiptHandles => [$handles[$i % @handles] // 'x'] }],
        [GET => $q->path, undef], [GET => $queues, undef],
    ]->[$i % 5];
}

$mixed[$_]->reset for 7, 12, 26;
splice @mixed, $_, 1 for 26, 12, 7;

my $begin = time;
my @r = $c->wait_all(\@mixed, scaled(5));

is((grep { $_->{status} == 503 && $_->{headers}{'retry-after'} >= 1 } @r), 47,
   '47 requests of any kind: 503');
cmp_ok(time - $begin, '<', scaled(2), 'after the timeout');
$redis->cont;
returns(time, 'stop');

my $echo = NgxQueues::Queue->new($s, name => 'echo',
                                 visibilityTimeoutSeconds => 60);
my %sent;
my @wrong;

for my $turn (1 .. 20) {
    my @r = $c->wait_all([map {
        $clients[$_ % 3]->start(POST => $echo->path('/messages'),
            { body => "body $turn.$_" })
    } 1 .. 50], 20);

    for my $i (0 .. $#r) {
        my $id = $r[$i]{json}{messages}[0]{messageId};

        push @wrong, "send $turn.$i: $r[$i]{status}" if !$id || $sent{$id};
        $sent{$id // ''} = "body $turn." . ($i + 1);
    }

    my @got = map { @{ $_->{json}{messages} || [{ body => $_->{status} }] } }
        $c->wait_all([map {
            $clients[$_ % 3]->start(POST => $echo->path('/messages/receive'),
                { maxMessages => 10 })
        } 1 .. 5], 20);

    push @wrong, grep { ($sent{$_->{messageId} // ''} // '') ne $_->{body} }
        @got;
    push @wrong, "$turn: " . @got if @got != 50;
}

is(scalar(@wrong), 0, '1,000 with bodies of their own: none is mixed up')
    or diag(explain(@wrong[0 .. 2]));

# what receives had claimed late is nobody's: it is visible at once

$q->ack(@handles);

my ($visible, $flying) = split ' ', $q->counts;

is($flying, 0, 'late claims are given back');
is((grep { $_->{receiveCount} != 1 } $q->drain), 0, 'and are not counted');

# the functions are gone: loaded anew, by the call that misses them

for my $flush ('FUNCTION FLUSH', 'SCRIPT FLUSH', 'CLIENT KILL TYPE normal',
               'CLIENT KILL TYPE pubsub', 'CONFIG RESETSTAT')
{
    my $h = $echo->park(fresh => 1);

    $echo->parked;
    like($redis->cli(split ' ', $flush), qr/OK|\d/, $flush);
    returns(time, $flush);

    my @r = $c->wait_all([map {
        $c->start(GET => $echo->path, undef, fresh => 1)
    } 1 .. 20], 10);

    is((grep { $_->{status} == 200 } @r), 20, "$flush: no call fails");
    delete $echo->{redis};
    $echo->send('after');
    $c->wait_all([$h], scaled(5));
    is($h->result->{json}{messages}[0]{body}, 'after', "$flush: the wait too");
}

# everything is gone

$h = $echo->park(fresh => 1);
$echo->parked;
like($redis->cli('FLUSHALL'), qr/OK/, 'FLUSHALL');
is($c->get($queues)->{body}, '{"queues":[],"nextPageToken":null}', 'nothing');
is($echo->post('/messages', { body => 'x' })->{status}, 404, 'no queue');
is($q->ack($m[0]), 'stale', 'a handle of what is gone');
is(NgxQueues::Queue->new($s, name => 'echo')->counts, '0 0 0', 'a new one');
$h->close;

# restarted without what it had, and without the functions

$redis->restart;
returns(time, 'restart');
$redis->cli('FLUSHALL');

my $problems = join "\n", $redis->check;

is($problems, '', 'Redis has what it should have');
$s->finish;
$redis->shutdown;

cmp_ok(min(@back), '<', scaled(1), 'back within a second') or diag("@back");

done_testing;
