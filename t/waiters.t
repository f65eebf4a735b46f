#!/usr/bin/perl

# Many who wait on one queue: in order, without asking the store in vain.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new;
my $c = $s->client;
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);

# the number of calls that Redis has had; a first waiter joins the channel,
# which is followed by one more look

my $begin = $q->calls;
my $first = $q->park(fresh => 1);

$q->parked;
wait_for { $q->calls >= $begin + 2 } or die "the first one does not look again\n";

my @h = ($first);

for my $n (1 .. 59) {
    my $calls = $q->calls;

    push @h, $q->park(fresh => 1);
    wait_for { $q->calls > $calls } or die "no call of waiter $n\n";
}

# who has been answered, and with what

sub answered {
    my ($n) = @_;

    my %done;

    wait_for {
        $c->wait_any([grep { !$_->{done} } @h], 0.05);
        $done{$_} //= 1 for grep { $h[$_]{done} } 0 .. $#h;
        keys %done >= $n
    } 10;

    return join ' ', map {
        $_ . ':' . join ',', map { $_->{body} } @{ $h[$_]->result->{json}{messages} }
    } sort { $a <=> $b } keys %done;
}

# what is answered is taken out of the line

sub served {
    @h = grep { !$_->{done} } @h;
}

my $calls = $q->calls;

ok(!wait_for(sub { $q->calls > $calls }, 1.1),
   'waiting costs no call');

$q->send('one');
is(answered(1), '0:one', 'the one who came first');
ok(!wait_for(sub { $q->calls > $calls + 4 }, 0.3),
   'nobody else was woken');
served();

$calls = $q->calls;
$q->send(map { "m$_" } 0 .. 9);
is(answered(10), join(' ', map { "$_:m$_" } 0 .. 9), 'ten, in order');
ok(!wait_for(sub { $q->calls > $calls + 30 }, 0.3),
   'for a few calls more');
served();

# one after the other

$q->send("s$_") for 0 .. 9;
is(answered(10), join(' ', map { "$_:s$_" } 0 .. 9), 'ten sends, in order');
served();

# those who have gone are not counted; the others keep their order

$h[$_]->close for 0, 2, 3, 5;
ok(wait_for(sub { 4 == (() = $s->access_log =~ /" 499 /g) }, 5), 'four go');
@h = @h[1, 4, 6 .. $#h];
$q->send(map { "g$_" } 0 .. 9);
is(answered(10), join(' ', map { "$_:g$_" } 0 .. 9), 'some had gone');
served();

# one who takes several

my $all = $q->park(maxMessages => 10);

$q->send(map { "r$_" } 0 .. 9) for 1 .. 3;
is(scalar(split ' ', answered(scalar @h)), scalar @h, 'all who are left');
served();
is(scalar(@h), 0, 'nobody is left');
$c->wait_all([$all]);

my $left = @{ $all->result->{json}{messages} } + $q->drain;

is($left, 30 - (60 - 1 - 10 - 10 - 4 - 10), 'and the rest is there');

# wakes of one queue are not another one's

my $other = NgxQueues::Queue->new($s);
my $h = $other->park(waitSeconds => 2);

$other->parked;
$calls = $q->calls;
$q->send("o$_") for 1 .. 20;
$other->counts;
is($q->calls - $calls, 21, 'a send elsewhere costs a waiter nothing');
is(($c->wait_all([$h]))[0]{body}, '{"messages":[]}', 'and brings it nothing');

$s->finish;

done_testing;
