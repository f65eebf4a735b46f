#!/usr/bin/perl

# The programs of docs/guides/queen.md, in each language: a producer and two
# consumers, of which one is killed, while Redis dies and nginx is reloaded. There
# must be one receipt of each event, in the order of its partition.
#
# producer.mjs producer.py producer.go consumer.mjs consumer.py consumer.go

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use NgxQueues::Process qw/reap free_port/;
use NgxQueues::Programs qw/busy open_up asks_again/;
use NgxQueues::Queen;
use NgxQueues::Wait;

my @languages = @NgxQueues::Programs::languages;
my $json = JSON::PP->new->canonical;
my $proxy = busy(free_port());
my $s = NgxQueues::Queen::server(workers => 2, auth => 1, redis => { aof => 1 },
                                 http => $proxy->{directives});
my $q = NgxQueues::Queen->new($s);
my $programs = NgxQueues::Programs->new('queen', {
    QUEEN_URL => $s->url, QUEEN_KEY => $s->key, LEASE => 2,
});

my (%producer, %consumers, %receipts);

sub consumer {
    my ($language) = @_;

    return $programs->start('consumer', $language, {}, "events-$language", 'billing',
                            "receipts-$language");
}

sub events {
    my ($from, $to) = @_;

    return join '', map { my $n = $_; map {
        $json->encode({ id => "$_$n", account => $_, amount => $n }) . "\n"
    } qw/ann bob eve/ } $from .. $to;
}

# what has come of them so far, as 'ann1 bob1 …', in order

sub receipts {
    my ($language) = @_;

    push @{ $receipts{$language} }, map { $_->{data}{id} }
        $q->messages("receipts-$language", consumerGroup => 'test', batch => 1000,
                     partitions => 10, autoAck => 'true');

    return @{ $receipts{$language} };
}

for my $language (@languages) {
    $q->configure("events-$language", retryLimit => 1);
    $consumers{$language} = [map { consumer($language) } 1, 2];
    $producer{$language} = $programs->start('producer', $language, {},
                                            "events-$language");
    $programs->feed($producer{$language}, events(1, 20));
}

ok(wait_for(sub { receipts($_) >= 20 }, 20), "$_: it begins") for @languages;

# one consumer dies with what it has in hand, then Redis

for (@languages) {
    my $dies = pop @{ $consumers{$_} };

    kill KILL => $dies->{pid};
    reap($dies->{pid}, 5);
}

$s->redis->written;
$s->redis->kill;
$programs->feed($producer{$_}, events(21, 40)) for @languages;
$s->reload;
$s->redis->start;

for (@languages) {
    # again what was there, and one that fails, and its like behind it

    $programs->feed($producer{$_}, events(39, 40)
        . '{"id": "bad", "account": "eve"}' . "\n" . events(41, 41));
    $programs->fed($producer{$_});
    $programs->ends($producer{$_});

    my $said = $programs->out($producer{$_});

    is(() = $said =~ /^queued$/mg, 124, "$_: each event is pushed");
    is(() = $said =~ /^duplicate$/mg, 6, 'and not twice');
}

for my $language (@languages) {
    ok(wait_for(sub { receipts($language) >= 123 }, 20), "$language: all are handled")
        or diag(scalar receipts($language));

    my $dead = $q->get('dlq', queue => "events-$language")->{json};

    is($dead->{total}, 1, "$language: what fails is a dead letter");
    like($dead->{messages}[0]{errorMessage}, qr/amount/, 'with what was wrong');

    for my $account (qw/ann bob eve/) {
        is(join(' ', grep { /^$account/ } receipts($language)),
           join(' ', map { "$account$_" } 1 .. 41), "$language: each of $account, once");
    }
}

# a replay: all from the beginning, for this group

for my $language (@languages) {
    my $r = $q->post("consumer-groups/billing/queues/events-$language/seek",
                     { timestamp => '2020-01-01T00:00:00Z' });

    is($r->{status}, 200, "$language: a seek") or diag($r->{body});
}

for my $language (@languages) {
    ok(wait_for(sub { receipts($language) >= 246 }, 20), "$language: all come again");
    is(scalar(receipts($language)), 246, 'once');
}

# work that is longer than its lease, and SIGTERM in its middle

for (@languages) {
    $q->push("events-$_", map { {
        partition => 'ann', payload => { id => "slow$_", amount => 1, seconds => 12 * !$_ },
    } } 0, 1);
    push @{ $consumers{$_} }, consumer($_);
}

sub leased {
    my ($language) = @_;

    my $is = $q->get('consumer-groups/billing')->{json};

    return grep { $_->{leaseActive} } @{ $is->{"events-$language"}{partitions} };
}

ok(wait_for(sub { leased($_) }, 10), "$_: it works") for @languages;

my @other = map { $q->park("events-$_", consumerGroup => 'billing', timeout => 3000) }
    @languages;

is_deeply([map { $_->{status} } $s->client->wait_all(\@other, 10)], [204, 204, 204],
          'nobody else gets what somebody works at');

for (@languages) {
    kill TERM => $_->{pid} for @{ $consumers{$_} };
}

for (@languages) {
    $programs->ends($_, undef, 30) for @{ $consumers{$_} };
    is((receipts($_))[-1], 'slow0', "$_: what it had in hand is done");

    my @rest = $q->messages("events-$_", consumerGroup => 'billing', batch => 10);

    is(join(' ', map { $_->{data}{id} } @rest), 'slow1', 'and the rest given back');
}

# who is told when to ask again: in seconds, or by a date, which is not waited for

my (%told, @ways);

for my $language (@languages) {
    for my $way (qw/date seconds/) {
        my $name = "$way-$language";
        my %arguments = (producer => [$name], consumer => [$name, 'billing', "$name-to"]);

        push @ways, $name;
        $q->configure($name);

        $told{$name} = [map { $programs->start($_, $language, {
            QUEEN_URL => "$proxy->{url}/$way/$_-$language",
        }, @{ $arguments{$_} }) } qw/producer consumer/];

        $programs->feed($told{$name}[0], events(1, 4));
    }
}

for my $program (qw/producer consumer/) {
    asks_again($proxy, s{-}{/$program-}r) for @ways;
}

open_up($proxy);

for my $name (@ways) {
    my $n = 0;

    $programs->fed($told{$name}[0]);
    $programs->ends($told{$name}[0]);
    ok(wait_for(sub {
        $n += () = $q->messages("$name-to", consumerGroup => 'test', batch => 10,
                                partitions => 10, autoAck => 'true');
        $n == 12
    }, 20), "$name: all are handled");
    $programs->ends($told{$name}[1], 'TERM', 5);
}

$s->finish;
done_testing;
