#!/usr/bin/perl

# Retention: what outlived it is never delivered and not counted, whether or
# not anything has removed it. A minute is the least there is, so a shorter
# one is written straight into Redis.

use strict;
use warnings;

use List::Util 'min';
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new;
my $c = $s->client;
my $redis = $s->redis->client;

# until the moment at which what was sent before it has expired

sub elapse {
    my ($seconds) = @_;

    my $until = time + $seconds + 0.005;

    wait_for { time >= $until } $seconds + 1;
}

# the keys that are left of a queue's messages

sub left {
    my ($q) = @_;

    my ($id) = $q->key =~ /(\w+)$/;
    my $gen = $q->generation;
    my $root = $q->root;

    return join ' ', map {
        $redis->call(@$_)
    } ['XLEN', "$root:m:$id:$gen"], ['XLEN', "$root:z:$id:$gen"],
      ['ZCARD', "$root:f:$id:$gen"], ['ZCARD', "$root:y:$id:$gen"],
      ['HLEN', "$root:d:$id:$gen"], ['HLEN', "$root:e:$id:$gen"],
      ['ZCARD', "$root:b:$id:$gen"], ['HGET', $q->key, 'nb'];
}

# of each state: visible, in flight, in flight and visible again, delayed, and
# a delay that is over

my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);

$q->send('flying', 'back', map { "visible$_" } 1 .. 30);

my ($flying, $back) = $q->receive(maxMessages => 2);

is($q->visibility(0, $back), 'ok', 'one was released');
$q->send({ body => 'delayed', delaySeconds => 900 },
         { body => 'due', delaySeconds => 1 });
wait_for { $q->counts eq '32 1 1' } 3;
is($q->counts, '32 1 1', 'messages of every state');

$q->retention(0.25);
elapse(0.25);

is(scalar($q->receive(maxMessages => 10)), 0, 'none of them is delivered');
is($q->counts, '0 0 0', 'nor counted');
is(left($q), '0 0 0 0 0 0 0 0', 'nor kept');
is($q->ack($flying, $back), 'stale stale', 'their handles are stale');
is($q->visibility(5, $flying), 'stale', 'for visibility as well');

# an ack or an extension is the first call of all after the expiry

for my $call (sub { $q->ack(@_) }, sub { $q->visibility(9, @_) }) {
    $q->retention(60);
    $q->send('a');

    my ($m) = $q->receive;

    $q->retention(0.25);
    elapse(0.25);
    is($call->($m), 'stale', 'a handle of what has expired');
    is($q->counts, '0 0 0', 'and it counts no more');
}

# old and new ones

$q->retention(60);
$q->send(map { "old$_" } 1 .. 5);
my @old = $q->receive(maxMessages => 3, visibilityTimeoutSeconds => 1);
elapse(0.6);
$q->send(map { "new$_" } 1 .. 5);
$q->retention(1);
elapse(0.45);
is(join(' ', map { $_->{body} } $q->receive(maxMessages => 10)),
   'new1 new2 new3 new4 new5', 'of old and new ones, the new ones');
is($q->counts, '0 5 0', 'and they count');
elapse(0.6);
is($q->counts, '0 0 0', 'until they are old, too');

# counts and the age of the oldest are exact at every moment

$q->retention(1209600);
$q->send('first');
is($c->get($q->path)->{json}{counts}{oldestMessageAgeSeconds}, 0, 'age');
elapse(1);
$q->send({ body => 'second', delaySeconds => 9 });
is($c->get($q->path)->{json}{counts}{oldestMessageAgeSeconds}, 1,
   'of the oldest');
is($c->post($q->path('/purge'))->{status}, 202, 'purge');

# more than one call removes: 2,500 messages, some large; asked for counts at
# once, and other times by receives, each of which is soon done where a busy machine
# is least in the way

my @took;

for my $how ('count', ('receive') x 4) {
    $q->retention(1209600);
    $q->send(map { 'x' x ($_ == 5 ? 100_000 : 10) } 1 .. 10) for 1 .. 250;
    $q->send(map { { body => 'z', delaySeconds => 900 } } 1 .. 10) for 1 .. 10;
    my @m = $q->receive(maxMessages => 10);

    $q->retention(0.25);
    elapse(0.25);

    if ($how eq 'count') {
        is($q->counts, '0 0 0', 'many: counted as none');

    } else {
        $q->send('fresh');

        my $begin = time;
        my ($m) = $q->receive(waitSeconds => 20);

        is($m->{body}, 'fresh', 'many: the fresh one behind them');
        push @took, time - $begin;
        is($q->ack($m), 'ok', 'ack');
        is($q->counts, '0 0 0', 'and nothing counts');
    }

    is(left($q), '0 0 0 0 0 0 0 0', 'all are removed');
    is($q->ack($m[0]), 'stale', 'those in flight as well');
}

cmp_ok(min(@took), '<', scaled(0.9), 'without a wait') or diag("@took");

# a wait over expired messages goes on, and a longer retention ends it

$q->retention(60);
$q->send('hidden');
$q->retention(0);

my $h = $q->park(waitSeconds => 2);

is(($c->wait_all([$h]))[0]{body}, '{"messages":[]}', 'a wait finds nothing');

# a message that becomes visible after its retention is not delivered then

$q->retention(1209600);
$q->send({ body => 'late', delaySeconds => 1 });
$q->send('v');
my ($v) = $q->receive(visibilityTimeoutSeconds => 1);
$q->retention(0.25);
$h = $q->park(waitSeconds => 2);
is(($c->wait_all([$h]))[0]{body}, '{"messages":[]}',
   'neither when a delay nor when a visibility ends');
is($q->counts, '0 0 0', 'and nothing is left');

$s->finish;

done_testing;
