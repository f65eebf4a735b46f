#!/usr/bin/perl

# Pops that wait: whatever makes a message deliverable, the answer comes at once;
# groups, partitions and labels do not stand in each other's way; clients that
# have gone leave nothing leased.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Queen;
use NgxQueues::Wait;

# Who is not woken waits for 20 seconds. How late one is who is woken, is seen where a
# busy machine was least in the way.

my $late = $ENV{NGX_QUEUES_SANITIZE} ? 0.5 : 0.2;
my %late;
my $s = NgxQueues::Queen::server(workers => 2);
my $node = NgxQueues::Queen::server(node_of => $s);
my $q = NgxQueues::Queen->new($s);

sub data { NgxQueues::Queen::data(@_) }

# pops on their way that have all found nothing

sub park {
    my @all = @_;

    my $before = $q->calls;
    my @h = map { $q->park(@$_, at => $s->client) } @all;

    $q->parked($before, scalar @h);

    return @h;
}

sub woken {
    my ($h, $data, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $begin = time;

    $s->client->wait_all([$h], scaled(25));

    my $r = $h->result;
    my @m = @{ ($r->{json} || {})->{messages} || [] };

    is(data(@m), $data, $name) or diag(explain($r));
    push @{ $late{calls} }, time - $begin;

    return @m;
}

# a push: of this worker or another one, of another node

my ($h, @m);

for my $n (1 .. 8) {
    ($h) = park(['a', timeout => 20_000]);
    NgxQueues::Queen->new($n % 3 ? $s : $node)->push('a', $n);
    @m = woken($h, $n, "push $n");
    $q->ack(\@m);
}

# of another group, another partition

my @h = park(map { ['b', timeout => 20_000, @$_] }
    [consumerGroup => 'g'], [consumerGroup => 'h'], [], [partition => 'p'],
    [partition => 'p', consumerGroup => 'g'], [partition => 'x', consumerGroup => 'i']);

$q->push('b', { partition => 'p', payload => 'all' });

my @open = @h;

ok(wait_for(sub {
    $s->client->wait_any(\@open, 0.05);
    @open = grep { !$_->{done} } @open;
    @open <= 3
}, 20), 'three have something');
ok(!$s->client->wait_any(\@open, 0.2), 'and no more');

my @taken = map {
    $_->{done} ? data(@{ $_->result->{json}{messages} || [] }) : '-'
} @h;

is(join(' ', sort @taken[0, 4]), '- all', 'one of a group has it');
is($taken[1], 'all', 'and another group');
is(join(' ', sort @taken[2, 3]), '- all', 'and who has none');
is($taken[5], '-', 'who waits for another partition waits on');
$q->push('b', { partition => 'x', payload => 'mine' });
woken($h[5], 'mine', 'that one');
$_->close for @h;

# labels

($h) = park([undef, namespace => 'shop', timeout => 20_000]);
$q->push('shop.orders', 'by label');
woken($h, 'by label', 'a queue that is new');

my ($one, $two) = park([undef, task => 'mail', timeout => 20_000],
                       [undef, namespace => 'other', timeout => 1500]);

$q->push('x.mail', 'mail');
woken($one, 'mail', 'a task');
is(($s->client->wait_all([$two], 10))[0]{status}, 204, 'nothing for the other');

# the end of a lease, a nack, an ack that leaves something

$q->push('c', 1, 2);

my $begin = time;

@m = $q->messages('c', leaseSeconds => 1);
($h) = park(['c', timeout => 20_000]);
@m = woken_after($h, '1', 1, 'the end of a lease');

sub woken_after {
    my ($h, $data, $seconds, $name) = @_;

    $s->client->wait_all([$h], scaled(25));

    my @m = @{ ($h->result->{json} || {})->{messages} || [] };

    is(data(@m), $data, $name);
    cmp_ok(time - $begin, '>', $seconds - 0.05, "$name: not before");
    push @{ $late{moments} }, time - $begin - $seconds;

    return @m;
}

($h) = park(['c', timeout => 20_000]);
$q->ack(\@m, 'failed');
@m = woken($h, '1', 'a failure');
($h) = park(['c', timeout => 20_000]);
$q->ack(\@m);
@m = woken($h, '2', 'the next message');

# a transaction

($h) = park(['d', timeout => 20_000]);
$q->post('transaction', { operations => [
    { type => 'push', items => [{ queue => 'd', payload => 'tx' }] } ] });
woken($h, 'tx', 'a transaction');

# the end of the wait

$begin = time;

my $r = $q->pop('none', wait => 'true', timeout => 1000);

is($r->{status}, 204, 'the end of a wait');
unlike($r->{head}, qr/content-length/i, 'is bodiless');
cmp_ok(time - $begin, '>=', 0.99, 'not before');
cmp_ok(time - $begin, '<', 20, 'and not long after');
is($q->pop('none', wait => 'false', timeout => 9000)->{status}, 204,
   'without a wait');
is($q->pop('none', wait => '1', timeout => 0)->{status}, 204, 'of 0 ms');

# many waiters of one queue: each message to one, in a few turns

my $before = $q->calls;

@h = map { $q->park('many', timeout => 20_000, at => $s->client) } 1 .. 30;
$q->parked($before, 30);
$q->push('many', map { { partition => "p$_", payload => $_ } } 1 .. 30);
is(join(' ', sort { $a <=> $b }
        map { data(@{ ($_->{json} || {})->{messages} || [] }) }
        $s->client->wait_all(\@h, 20)), join(' ', 1 .. 30), 'each has one');

# a client that has gone: while it waits, and while Redis holds the answer back

($h) = park(['gone', timeout => 20_000]);
$h->close;
$q->push('gone', 1);
is(data($q->messages('gone', wait => 'true', timeout => 5000)), 1,
   'who has gone takes nothing');

my $redis = $s->redis->client;

for my $query ('?', '?wait=true&') {
    my $queue = 'left' . length $query;
    my $n = $s->client->connect;

    $q->push($queue, 'back');
    $before = $q->calls;
    $redis->call(qw/CLIENT PAUSE 300 ALL/);
    $n->write("GET /api/v1/pop/queue/$queue${query}x HTTP/1.1\r\nHost: a\r\n\r\n");
    $n->close;

    wait_for { $q->calls >= $before + 2 } or fail('no pop, no undo');
    is(data($q->messages($queue, wait => 'true', timeout => 5000)), 'back',
       'what nobody takes is given back');
}

# a worker that exits ends the waits

($h) = park(['reload', timeout => 60_000]);
$s->reload;
is(($s->client->wait_all([$h], 20))[0]{status}, 204, 'a reload ends a wait');

least_late(\%late, $late, 'at once');

$node->finish;
$s->finish;

done_testing;
