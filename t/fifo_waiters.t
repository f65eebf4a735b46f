#!/usr/bin/perl

# Those who wait on a FIFO queue: a group is with one of them at a time, also
# where messages come between their looks; what nobody took is given back.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(http => 'queues_redis_timeout 2s;');
my $c = $s->client;
my $q = NgxQueues::Queue->new($s, kind => 'fifo',
                              visibilityTimeoutSeconds => 60);
my $serial = 0;

sub of {
    my ($group, @bodies) = @_;

    return map { { body => $_, groupId => $group,
                   deduplicationId => 'd' . $serial++ } } @bodies;
}

sub start_send {
    my (@messages) = @_;

    return $c->start(POST => $q->path('/messages'), { messages => \@messages },
                     fresh => 1);
}

# waiters of one message and of ten, and sends that hit their looks: of one
# group, and of two

my ($twice, $order, $rounds) = (0, 0, 60);

for my $round (1 .. $rounds) {
    my @h = map { $q->park(waitSeconds => 20, maxMessages => $_, fresh => 1) }
        1, 10, 3, 10;
    my %got;

    $q->parked if $round % 2;

    my @sends = map { start_send(of("g$round-" . $_ % 2, map { "$_" } 1 .. 4)) }
        1 .. 4;
    my ($left, %with) = (16);

    while ($left) {
        my $h = $c->wait_any(\@h, 5) or last;
        my @m = @{ $h->result->{json}{messages} };

        @h = grep { $_ != $h } @h;

        # what others have been given before this one acknowledges

        for my $other (grep { $_->{done} } @h) {
            my %theirs = map { $_->{groupId} => 1 }
                @{ $other->result->{json}{messages} };

            $twice++ for grep { $theirs{ $_->{groupId} } } @m;
        }

        push @{ $got{ $_->{groupId} } }, $_->{seq} for @m;
        $twice++ if grep { $_->{receiveCount} != 1 } @m;
        $left -= @m;
        $q->ack(@m);
        push @h, $q->park(waitSeconds => 20, maxMessages => 10, fresh => 1);
    }

    $c->wait_all(\@sends, 10);
    $order++ for grep { "@$_" ne "@{[1 .. 8]}" } values %got;
    $left and diag("$left left in round $round"), last;
    $_->close for @h;
}

is($twice, 0, 'a group is with one at a time');
is($order, 0, 'in order');
is($q->counts, '0 0 0', 'nothing is left');

# the store answers too late: what it gave is given back

$q->send(of('late', '1', '2', '3'));
$s->redis->stop;

my $h = $c->start(POST => $q->path('/messages/receive'), { maxMessages => 10 },
                  fresh => 1, timeout => 30);

$c->wait_any([$h], 20);
is($h->result->{status}, 503, 'no answer in time');
$s->redis->cont;

my @m;

wait_for { @m = $q->receive(maxMessages => 10) } 5;
is(join(' ', map { $_->{body} } @m), '1 2 3', 'the next one gets it');
is(join(' ', map { $_->{receiveCount} } @m), '1 1 1', 'for the first time');
is($q->ack(@m), 'ok ok ok', 'ack');

# the client goes while the store is answering

$q->send(of('gone', '1', '2', '3'));
$s->redis->stop;
$h = $c->start(POST => $q->path('/messages/receive'), { maxMessages => 10 },
               fresh => 1);
select undef, undef, undef, 0.1;
$h->close;
select undef, undef, undef, 0.1;
$s->redis->cont;
@m = ();
wait_for { @m = $q->receive(maxMessages => 10) } 5;
is(join(' ', map { "$_->{body} $_->{receiveCount}" } @m), '1 1 2 1 3 1',
   'for the first time');
is($q->ack(@m), 'ok ok ok', 'ack');
is($q->counts, '0 0 0', 'nothing is left');

$s->finish;

done_testing;
