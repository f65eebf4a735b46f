#!/usr/bin/perl

# Ordering: of one key the messages come in the order in which they were
# published, and one that comes again has the later ones of its key come after
# it; keys do not wait for one another.

use strict;
use warnings;
use utf8;

use Test::More;

use NgxQueues::Pubsub;
use NgxQueues::Wait;

my $s = NgxQueues::Pubsub::server(workers => 2);
my $p = NgxQueues::Pubsub->new($s);

sub data { NgxQueues::Pubsub::data(@_) }

sub keyed { NgxQueues::Pubsub::keyed(@_) }

# messages of a key, and their data

sub of {
    my ($key, @m) = @_;

    return data(grep { ($_->{message}{orderingKey} // '') eq $key } @m);
}

# what one who acknowledges all of it gets, key by key

sub drain {
    my ($sub) = @_;

    my @all;

    while (my @m = $p->pull($sub, 10)) {
        $p->ack($sub, @m);
        push @all, @m;
    }

    return @all;
}

$p->topic('topic');
$p->sub('mine', 'topic', enableMessageOrdering => \1, ackDeadlineSeconds => 600);
$p->sub('loose', 'topic');

is($p->get('subscriptions', 'mine')->{json}{enableMessageOrdering}, 1, 'ordered');

# three keys, and none

$p->publish('topic', map { my $n = $_; map { keyed($_, "$_$n") } qw/a b c/ } 1 .. 30);
$p->publish('topic', map { "x$_" } 1 .. 10);

my @all = drain('mine');

for my $k (qw/a b c/) {
    is(of($k, @all), join(' ', map { "$k$_" } 1 .. 30), "key $k");
}

is(of('', @all), join(' ', map { "x$_" } 1 .. 10), 'without a key');
is(scalar(drain('loose')), 100, 'a subscription that does not care');

# while a message of a key is out, none of the key comes

$p->publish('topic', map { keyed('a', $_) } 1 .. 5);
$p->publish('topic', keyed('b', 'b1'), 'x');

my @m = $p->pull('mine', 1);

is(data(@m), '1', 'the first one');

my @others = $p->pull('mine', 100);

is(join(' ', sort map { data($_) } @others), 'b1 x', 'others flow');
is(scalar $p->pull('mine', 100), 0, 'of that key nothing');
$p->publish('topic', keyed('a', '6'));
is(scalar $p->pull('mine', 100), 0, 'nor what is new');
$p->ack('mine', @others, @m);
is(data(drain('mine')), '2 3 4 5 6', 'then the rest');

# a nack has it come again, before the later ones

$p->publish('topic', map { keyed('n', $_) } 1 .. 6);
@m = $p->pull('mine', 3);
is(data(@m), '1 2 3', 'three in one pull');
$p->ack('mine', @m[0, 2]);
$p->modify('mine', 0, $m[1]);
is(data(drain('mine')), '2 4 5 6', 'the nacked one and, later on, the rest');

$p->publish('topic', map { keyed('n', $_) } 1 .. 4);
@m = $p->pull('mine', 3);
$p->modify('mine', 0, @m);
is(data(drain('mine')), '1 2 3 4', 'all of them nacked');

# the end of a deadline

$p->publish('topic', map { keyed('e', $_) } 1 .. 4);
@m = $p->pull('mine', 2);
$p->modify('mine', 1, @m);

my @again = $p->pull('mine', 10, wait => 1);

$p->ack('mine', @again);
is(data(@again, drain('mine')), '1 2 3 4', 'after the end of a deadline');

# keys of any text

my @keys = ('', ' ', 'k:1', 'm5-0', 'с ключом 😀', "\0", 'a' x 1024, '{x}', '%41');

for my $n (1 .. 3) {
    $p->publish('topic', map { length $keys[$_] ? keyed($keys[$_], "$_.$n")
                                            : "$_.$n" } 0 .. $#keys);
}

@all = drain('mine');

for my $i (0 .. $#keys) {
    is(of($keys[$i], @all), "$i.1 $i.2 $i.3", "key $i");
}

# many at once: pulls of two workers, acks and nacks, and each key in its order

my @clients = map { $s->client } 1 .. 8;
my $path = $p->path('subscriptions', 'mine', 'pull');
my $body = { maxMessages => 7, returnImmediately => \1 };
my (%last, %seen, $wrong);
my $sent = 0;

for my $n (1 .. 40) {
    $p->publish('topic', map { keyed("k$_", $n) } 1 .. 10);
    $sent += 10;
}

wait_for {
    my @h = map { $_->start(POST => $path, $body) } @clients;

    for my $r ($clients[0]->wait_all(\@h, 40)) {
        my %nacked;

        for my $m (@{ ($r->{json} || {})->{receivedMessages} || [] }) {
            my $k = $m->{message}{orderingKey};
            my $n = data($m);

            if ($nacked{$k} || rand() < 0.2) {
                $nacked{$k} = 1;
                $p->modify('mine', 0, $m);
                next;
            }

            $wrong++ if $n != ($last{$k} // 0) + 1;
            $last{$k} = $n;
            $seen{"$k $n"}++;
            $p->ack('mine', $m);
        }
    }

    keys %seen == $sent
} 60;

is(scalar keys %seen, $sent, 'all have come');
ok(!$wrong, 'each key in its order');
is(scalar(grep { $_ != 1 } values %seen), 0, 'once');

$s->finish;

done_testing;
