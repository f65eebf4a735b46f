#!/usr/bin/perl

# Dead letters: after so many deliveries that failed a message is published to
# another topic, as a new one that says where it comes from.

use strict;
use warnings;
use utf8;

use Test::More;

use NgxQueues::Pubsub;
use NgxQueues::Wait;

my $s = NgxQueues::Pubsub::server(workers => 2);
my $p = NgxQueues::Pubsub->new($s);

sub data { NgxQueues::Pubsub::data(@_) }

# fails a message as often as it comes; the attempts it had

sub exhaust {
    my ($sub, %o) = @_;

    my @attempts;

    while (my ($m) = $p->pull($sub, 1)) {
        push @attempts, $m->{deliveryAttempt} // '-';

        if ($o{by} && $o{by} eq 'deadline') {
            my $before = $p->calls;

            $p->modify($sub, 1, $m);

            my ($again) = $p->pull($sub, 1, wait => 1) or last;

            push @attempts, $again->{deliveryAttempt} // '-';
            $m = $again;
        }

        $p->modify($sub, 0, $m);
        last if @attempts > 20;
    }

    return "@attempts";
}

$p->topic('topic');
$p->topic('dead');
$p->sub('morgue', 'dead');
$p->sub('mine', 'topic', deadLetterPolicy => { deadLetterTopic => 'dead',
                                        maxDeliveryAttempts => 5 });

my $body = '{"messages":[{"data":"YQ==","attributes":{"a":"é\u0000\"","b":""},'
           . '"orderingKey":"k"}]}';
utf8::encode($body);

my $sent = $p->client->post($p->path('topics', 'topic', 'publish'), $body);
my ($id) = @{ $sent->{json}{messageIds} };

is(exhaust('mine'), '1 2 3 4 5', 'five deliveries');

my ($m) = $p->pull('morgue', 10, wait => 1);
my $dead = $m->{message};

ok($dead, 'then it is in the other topic');
is(data($m), 'a', 'its data');
is($dead->{orderingKey}, 'k', 'its key');
isnt($dead->{messageId}, $id, 'with an id of its own');
is($dead->{attributes}{a}, "é\0\"", 'its attributes');
is($dead->{attributes}{b}, '', 'all of them');
is($dead->{attributes}{CloudPubSubDeadLetterSourceDeliveryCount}, '5',
   'how often it was delivered');
is($dead->{attributes}{CloudPubSubDeadLetterSourceSubscription}, 'mine', 'where');
is($dead->{attributes}{CloudPubSubDeadLetterSourceSubscriptionProject}, 'shop',
   'in which project');

my $ms = substr $id, 0, 13;
my @t = gmtime(substr $ms, 0, 10);

is($dead->{attributes}{CloudPubSubDeadLetterSourceTopicPublishTime},
   sprintf('%04d-%02d-%02dT%02d:%02d:%02d.%03d+00:00', $t[5] + 1900, $t[4] + 1,
           @t[3, 2, 1, 0], substr $ms, 10), 'and since when');
is(scalar keys %{ $dead->{attributes} }, 6, 'no more than that');
is(scalar $p->pull('mine', 1), 0, 'it is no longer where it was');
$p->ack('morgue', $m);

# the end of a deadline counts as well; acks count nothing

$p->publish('topic', 'b');
is(exhaust('mine', by => 'deadline') =~ s/ .*(\d)$/ … $1/r, '1 … 5',
   'deadlines that end');
($m) = $p->pull('morgue', 10, wait => 1);
is(data($m), 'b', 'a dead letter of deadlines');
is($m->{message}{attributes}{CloudPubSubDeadLetterSourceDeliveryCount}, '5',
   'its count');
$p->ack('morgue', $m);

# nobody has to come for a deadline to end

$p->publish('topic', 'c');

for (1 .. 5) {
    ($m) = $p->pull('mine', 1, wait => 1);
    $p->modify('mine', $_ < 5 ? 0 : 1, $m);
}

($m) = $p->pull('morgue', 10, wait => 1);
is(data($m), 'c', 'without another pull');
$p->ack('morgue', $m);

# unset: 5; to several subscriptions, of which one has a filter

$p->sub('filtered', 'dead', filter =>
        'attributes.CloudPubSubDeadLetterSourceSubscription = "other"');
$p->sub('other', 'topic', deadLetterPolicy => { deadLetterTopic => 'dead' });
is($p->get('subscriptions', 'other')->{json}{deadLetterPolicy}
   {maxDeliveryAttempts}, 5, 'five, where nothing is said');
$p->publish('topic', 'd');
is(exhaust('other'), '1 2 3 4 5', 'five deliveries');
is(exhaust('mine'), '1 2 3 4 5', 'and of the other one');
is(data($p->pull('filtered', 10, wait => 1)), 'd', 'the filter sees new names');
is(scalar(my @both = $p->pull('morgue', 10, wait => 1)), 2, 'both are there');
$p->ack('morgue', @both);

# the topic is gone: the message stays, until there is one again

$p->delete('topics', 'dead');
$p->publish('topic', 'e');

my $attempts = 0;

for (1 .. 8) {
    ($m) = $p->pull('mine', 1, wait => 1);
    $attempts = $m->{deliveryAttempt};
    $p->modify('mine', 0, $m);
}

is($attempts, 8, 'it goes on being delivered');
$p->topic('dead');
$p->sub('morgue2', 'dead');
wait_for {
    ($m) = $p->pull('mine', 1);
    $p->modify('mine', 0, $m) if $m;
    !$m
};
is(data($p->pull('morgue2', 10, wait => 1)), 'e', 'then it goes there');

# of a key in order, the later ones come to be delivered

$p->topic('keys');
$p->sub('keys', 'keys', enableMessageOrdering => \1,
        deadLetterPolicy => { deadLetterTopic => 'dead' });
$p->publish('keys', map { NgxQueues::Pubsub::keyed('k', $_) } 1 .. 3);

for (1 .. 5) {
    my @m = $p->pull('keys', 1, wait => 1);

    is(data(@m), '1', "the first one, $_");
    $p->modify('keys', 0, @m);
}

my @m = $p->pull('keys', 10, wait => 1);

is(data(@m), '2 3', 'then the others');
is(join(' ', map { $_->{deliveryAttempt} } @m), '1 1', 'for the first time');
is(data($p->pull('morgue2', 10, wait => 1)), '1', 'a dead letter with a key');

# a topic may be its own, as at Google: it starts anew

$p->topic('self');
$p->sub('self', 'self', deadLetterPolicy => { deadLetterTopic => 'self' });
my ($first) = $p->publish('self', 'x');

for (1 .. 5) {
    ($m) = $p->pull('self', 1, wait => 1);
    $p->modify('self', 0, $m);
}

($m) = $p->pull('self', 1, wait => 1);
is($m->{deliveryAttempt}, 1, 'its own topic: as a new one');
isnt($m->{message}{messageId}, $first, 'of another id');

$s->finish;

# without a policy: dropped and counted where a directive says so

$s = NgxQueues::Pubsub::server(workers => 1,
    http => 'queues_pubsub_max_delivery_attempts 3;');
$p = NgxQueues::Pubsub->new($s);
$p->topic('topic');
$p->sub('mine', 'topic');
$p->publish('topic', 'x', 'y');

for my $n (1 .. 3) {
    my @m = $p->pull('mine', 10, wait => 1);

    is(data(@m), $n == 1 ? 'x y' : 'x', "delivery $n");
    ok(!exists $m[0]{deliveryAttempt}, 'which is not counted for the client');
    $p->modify('mine', 0, $m[0]);
    $p->ack('mine', $m[1]) if $n == 1;
}

is(scalar $p->pull('mine', 10), 0, 'then it is dropped');
is($p->redis->call('HGET', $p->hot('mine'), 'dropped'), 1, 'and counted');

$s->finish;

done_testing;
