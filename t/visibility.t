#!/usr/bin/perl

# Deliveries over time: when a handle is valid, when it is stale, and that at
# most one acknowledgement of a delivery succeeds.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(workers => 2);
my $c = $s->client;
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 1);

# the moment at which the delivery of a message ends, in s from now, by Redis

sub ends_in {
    my ($queue) = @_;

    my $r = $queue->redis;
    my ($key) = @{ $r->call('KEYS', $queue->root . ':f:*') } or return undef;
    my ($score) = $r->call('ZRANGE', $key, 0, 0, 'WITHSCORES')->[1];
    my ($seconds, $us) = @{ $r->call('TIME') };

    return $score / 1000 - $seconds - $us / 1e6;
}

sub near {
    my ($expected, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $is = ends_in($q);

    ok($is > $expected - scaled(1) && $is <= $expected + 0.01, $name)
        or diag("ends in $is");
}

# an old delivery's handle does nothing to the new one

my ($id) = $q->send('x');
my ($a) = $q->receive;

is($q->counts, '0 1 0', 'in flight');

my ($b) = $q->receive(waitSeconds => 5, visibilityTimeoutSeconds => 60);

is("$b->{messageId} $b->{receiveCount}", "$id 2", 'received again');
isnt($b->{receiptHandle}, $a->{receiptHandle}, 'by another handle');
is($b->{firstReceivedAt}, $a->{firstReceivedAt}, 'first received when it was');
is($b->{sentAt}, $a->{sentAt}, 'sent when it was');
is($q->ack($a), 'stale', 'ack of the old delivery');
is($q->visibility(0, $a), 'stale', 'release of the old delivery');
is($q->visibility(9, $a), 'stale', 'extension of the old delivery');
is($q->counts, '0 1 0', 'nothing has changed');
near(60, 'nor has the end');
is($q->ack($b), 'ok', 'ack of the new one');
is($q->ack($b, $b), 'stale stale', 'and again');
is($q->visibility(0, $b), 'stale', 'and a release after it');
is($q->counts, '0 0 0', 'gone');

# after the timeout, as long as nobody else has taken it

$q->send('y');
($a) = $q->receive;
wait_for { $q->counts eq '1 0 0' } 5 or fail('it becomes visible');
is($q->visibility(60, $a), 'ok', 'a late extension hides it again');
is($q->counts, '0 1 0', 'hidden');
is(scalar($q->receive), 0, 'from others');
is($q->visibility(0, $a), 'ok', 'released');
is($q->counts, '1 0 0', 'visible');
is($q->ack($a), 'ok', 'a late ack, after the release');
is($q->counts, '0 0 0', 'gone');

# extend, shorten, release

$q->send('z');
($a) = $q->receive;
is($q->visibility(120, $a), 'ok', 'extend');
near(120, 'counted from now');
is($q->visibility(30, $a), 'ok', 'shorten');
near(30, 'counted from now');
is($q->visibility(43200, $a), 'ok', 'twelve hours');
near(43200, 'as asked');
is($q->visibility(0, $a, $a), 'ok stale', 'release, twice in a request');
($b) = $q->receive(visibilityTimeoutSeconds => 43200);
is("$b->{receiveCount}", 2, 'a release counts as a receive');
near(43200, 'twelve hours from the receive');
is($q->visibility(1, $a), 'stale', 'the released handle, once received again');

# at most 12 hours from the receive: as if it was 11 hours ago

my $redis = $q->redis;
my ($state) = @{ $redis->call('KEYS', $q->root . ':d:*') };
my ($field, $value) = @{ $redis->call('HGETALL', $state) };
my ($token, $count, $first, $last) = split /:/, $value;

$redis->call('HSET', $state, $field,
             join ':', $token, $count, $first, $last - 11 * 3600 * 1000);
is($q->visibility(43200, $b), 'ok', 'beyond the cap');
near(3600, 'it ends at the cap');
is($q->visibility(600, $b), 'ok', 'below the cap');
near(600, 'as asked');
is($q->ack($b), 'ok', 'ack');

# partial batches

$q->send(map { "p$_" } 1 .. 5);

my @m = $q->receive(maxMessages => 5, visibilityTimeoutSeconds => 60);

is($q->ack($m[0], $m[1], '', 'x', $m[0], $m[2], "$m[3]{receiptHandle}x"),
   'ok ok invalid invalid stale ok invalid', 'each has its own result');
is($q->visibility(0, $m[0], $m[3], 'x', $m[4]), 'stale ok invalid ok',
   'of visibility as well');
is($q->ack(@m), 'stale stale stale ok ok', 'and the rest');
is($q->counts, '0 0 0', 'all gone');

# many acknowledge the same delivery at once, on both workers

for my $turn (1 .. 10) {
    $q->send('race');
    ($a) = $q->receive(visibilityTimeoutSeconds => 60);

    my @r = $c->wait_all([map {
        $c->start(POST => '/v1/receipts/ack',
                  { receiptHandles => [$a->{receiptHandle}] }, fresh => 1)
    } 1 .. 20], 20);

    is((grep { $_->{json}{results}[0]{ok} } @r), 1, "one of 20, turn $turn");
}

# and many receive: each message to one of them

$q->send(map { "n$_" } 1 .. 10) for 1 .. 20;

my %seen;
my @r = $c->wait_all([map {
    $c->start(POST => $q->path('/messages/receive'),
              { maxMessages => 10, visibilityTimeoutSeconds => 60 }, fresh => 1)
} 1 .. 50], 20);

my @all = map { @{ $_->{json}{messages} } } @r;

for my $m (@all) {
    $seen{ $m->{messageId} }++;
    fail('a count of its own') if $m->{receiveCount} != 1;
}

is(scalar(keys %seen), 200, 'all were received');
is((grep { $_ > 1 } values %seen), 0, 'none by two');
is($q->counts, '0 200 0', 'all are in flight');

# a purge ends deliveries; a new visibility of the queue is for new ones

is($c->post($q->path('/purge'))->{status}, 202, 'purge');
is($q->ack($all[0]), 'stale', 'of a purged message');
is($c->patch($q->path, { visibilityTimeoutSeconds => 500 })->{status}, 200,
   'another visibility timeout');
$q->send('new');
$q->receive;
near(500, 'is the next receive\'s');

# 0: never hidden, its handle is good until the next one takes it

my $zero = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 0);

$zero->send('0');
@m = map { $zero->receive } 1 .. 3;
is(join(' ', map { $_->{receiveCount} } @m), '1 2 3', 'visible at once');
is($zero->ack(@m), 'stale stale ok', 'the last one\'s handle is valid');

$s->finish;

done_testing;
