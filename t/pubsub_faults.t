#!/usr/bin/perl

# Faults of the store: what a publish has answered is there, what it has not is
# there for all subscriptions or for none; replies that come too late give back
# what they bring; who waits outlasts an outage.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Pubsub;
use NgxQueues::Wait;

my $s = NgxQueues::Pubsub::server(workers => 2, redis => { aof => 1 },
    http => 'queues_redis_timeout 1s;');
my $p = NgxQueues::Pubsub->new($s);
my $redis = $s->redis;

sub data { NgxQueues::Pubsub::data(@_) }

sub error {
    my ($r) = @_;

    return "$r->{status} " . ((($r->{json} || {})->{error} || {})->{status}
                              // '');
}

$p->topic('topic');
$p->sub("sub$_", 'topic', ackDeadlineSeconds => 600,
        $_ == 3 ? (enableMessageOrdering => \1) : ()) for 1 .. 3;

# a Redis that hangs: 503, and the late reply's messages are given back

$p->publish('topic', map { "$_" } 1 .. 20);
$redis->stop;

my @h = map { $s->client->start(POST => $p->path('subscriptions', $_, 'pull'),
    { maxMessages => 7, returnImmediately => \1 }) } qw/sub1 sub2 sub3/;

is(join(' ', map { error($_) } $s->client->wait_all(\@h, 20)),
   join(' ', ('503 UNAVAILABLE') x 3), 'a pull of a Redis that hangs');
$redis->cont;
wait_for { $p->get('topics', 'topic')->{status} == 200 } or fail('it is back');

for my $sub (qw/sub1 sub2 sub3/) {
    my @m;

    wait_for { push @m, $p->pull($sub, 100); @m >= 20 };
    is(join(' ', sort map { data($_) } @m), join(' ', sort 1 .. 20),
       "$sub: nothing is held by nobody");
    $p->ack($sub, @m);
}

# what else is asked for meanwhile

$redis->stop;
is(error($p->publish_answer('topic', 'x')), '503 UNAVAILABLE', 'a publish');
is(error($p->call('sub1', 'acknowledge', { ackIds => ['no-id'] })),
   '503 UNAVAILABLE', 'an ack');
is(error($p->call('sub1', 'pull', { maxMessages => 1 })), '503 UNAVAILABLE',
   'a pull that would wait');
$redis->cont;
wait_for { $p->get('topics', 'topic')->{status} == 200 } or fail('it is back');

# a pull that waits outlasts an outage; what was published meanwhile, though it
# was answered with 503, may be there

while (my @m = $p->pull('sub1', 100)) { $p->ack('sub1', @m) }

my $before = $p->calls;
my $h = $p->park('sub1', 10, at => $s->client);

$p->parked($before);
$redis->written;
$redis->kill;
is(error($p->publish_answer('topic', 'y')), '503 UNAVAILABLE', 'Redis is away');
$redis->start;
delete $p->{redis};
wait_for { $p->publish_answer('topic', 'z')->{status} == 200 }
    or fail('it is back');
$s->client->wait_all([$h], scaled(25));
like(data(@{ ($h->result->{json} || {})->{receivedMessages} || [] }),
     qr/\b[yz]\b/, 'who waited has it');

# killed while publishes run: each is in all subscriptions or in none, and those
# that were answered are there

$p->topic('all');
$p->sub("all$_", 'all', ackDeadlineSeconds => 600) for 1 .. 5;

my (%answered, %maybe);
my $n = 0;
my $client = $s->client;

for my $round (1 .. 3) {
    my %open;

    for (1 .. 60) {
        my @texts = map { ++$n } 1 .. 5;
        my $h = $client->start(POST => $p->path('topics', 'all', 'publish'),
            { messages => [map { NgxQueues::Pubsub::message("m$_") } @texts] });

        $open{$h} = [$h, @texts];
        $redis->written, $redis->kill if $_ == 40;
    }

    $client->wait_all([map { $_->[0] } values %open], 30);

    for (values %open) {
        my ($h, @texts) = @$_;
        my $set = $h->result->{status} == 200 ? \%answered : \%maybe;

        $set->{$_} = 1 for @texts;
    }

    $redis->start;
    wait_for { $p->get('topics', 'all')->{status} == 200 } or fail('b');
}

my @first;

for my $sub (map { "all$_" } 1 .. 5) {
    my @texts;

    while (my @m = $p->pull($sub, 1000)) {
        push @texts, map { data($_) =~ s/m//r } @m;
    }

    my %seen;

    $seen{$_}++ for @texts;
    @first = sort keys %seen if !@first;

    is(join(' ', sort keys %seen), "@first", "$sub has what the others have");
    is(scalar(grep { $_ != 1 } values %seen), 0, "$sub: once");
    is(scalar(grep { !$maybe{$_} && !$answered{$_} } keys %seen), 0,
       "$sub: nothing else");
}

my %there = map { $_ => 1 } @first;
my $lost = grep { !$there{$_} } keys %answered;

cmp_ok($lost, '<=', 200, "of " . keys(%answered) . " answered ones $lost were "
       . 'in the last second of the file');

# the library is gone

$redis->client->call(qw/FUNCTION FLUSH/);
is(scalar($p->publish('topic', 'q')), 1, 'without its functions');
is((split ' ', data($p->pull('sub2', 10)))[-1], 'q', 'they are loaded again');

$s->finish(allow => [qr/./]);

done_testing;
