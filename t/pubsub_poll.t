#!/usr/bin/perl

# Pulls that wait: whatever makes a message deliverable, the answer comes at
# once, in whatever worker or node the pull waits.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Pubsub;
use NgxQueues::Wait;

# Who is not woken waits for 20 seconds, and has nothing then, as no deadline ends
# sooner by itself. How late one is who is woken, is seen where a busy machine was least
# in the way.

my $late = $ENV{NGX_QUEUES_SANITIZE} ? 0.5 : 0.2;
my %late;
my $s = NgxQueues::Pubsub::server(workers => 2);
my $node = NgxQueues::Pubsub::server(node_of => $s);
my $p = NgxQueues::Pubsub->new($s);
my $q = NgxQueues::Pubsub->new($node);

sub data { NgxQueues::Pubsub::data(@_) }

sub park {
    my ($sub, %options) = @_;

    my $on = delete $options{on} || $p;
    my $before = $p->calls;
    my $h = $on->park($sub, 10, at => ($on == $p ? $s : $node)->client);

    $p->parked($before);

    return $h;
}

# $after s after $since, when what was waited for began, where that takes time

my $since;

sub woken {
    my ($h, $data, $after, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $begin = time;

    $s->client->wait_all([$h], scaled(25));

    my $now = time;
    my $took = $now - $begin;
    my @m = @{ ($h->result->{json} || {})->{receivedMessages} || [] };

    is(data(@m), $data, $name) or diag(explain($h->result));
    cmp_ok($now - $since, '>', $after - 0.1, "$name: not before") if $after;
    push @{ $late{$after ? 'moments' : 'calls'} },
        $after ? $now - $since - $after : $took;

    return @m;
}

$p->topic('topic');
$p->topic('orders');
$p->sub('mine', 'topic', ackDeadlineSeconds => 600);
$p->sub('ordered', 'orders', enableMessageOrdering => \1, ackDeadlineSeconds => 600);

sub one { { data => 'YQ==', orderingKey => 'k' } }

for my $sub ('mine', 'ordered') {
    my $topic = $sub eq 'mine' ? 'topic' : 'orders';

    # a publish: of this worker or another one, of another node

    for my $n (1 .. 8) {
        my $h = park($sub, on => $n % 4 ? $p : $q);

        ($n % 3 ? $p : $q)->publish($topic, one());

        my @m = woken($h, 'a', 0, "$sub: publish $n");

        $p->ack($sub, @m);
    }

    # a nack, of another worker

    $p->publish($topic, one());

    my @m = $p->pull($sub, 1);
    my $h = park($sub);

    $q->modify($sub, 0, @m);
    @m = woken($h, 'a', 0, "$sub: a nack");

    # the end of a deadline, which is made shorter

    $h = park($sub);
    $since = time;
    $q->modify($sub, 1, @m);
    @m = woken($h, 'a', 1, "$sub: a deadline");

    # and of a deadline that was running when it came

    $since = time;
    $p->modify($sub, 1, @m);
    $h = park($sub);
    @m = woken($h, 'a', 1, "$sub: a deadline that runs");
    $p->ack($sub, @m);

    # an ack of the one before it

    next if $sub eq 'mine';

    $p->publish($topic, one(), one());
    @m = $p->pull($sub, 1);
    $h = park($sub);
    $q->ack($sub, @m);
    @m = woken($h, 'a', 0, "$sub: an ack lets the next one come");
    $p->ack($sub, @m);
}

# the end of a backoff

$p->topic('back');
$p->sub('back', 'back', ackDeadlineSeconds => 600,
        retryPolicy => { minimumBackoff => '1s', maximumBackoff => '1s' });
$p->publish('back', 'x');

my @m = $p->pull('back', 1);
my $h = park('back');

$since = time;
$p->modify('back', 0, @m);
@m = woken($h, 'x', 1, 'the end of a backoff');
$since = time;
$p->modify('back', 1, @m);
$h = park('back');
@m = woken($h, 'x', 2, 'of a deadline and a backoff');

# a dead letter

$p->topic('dead');
$p->sub('morgue', 'dead');
$p->sub('fails', 'topic', deadLetterPolicy => { deadLetterTopic => 'dead' });
$p->publish('topic', 'dead');

for (1 .. 5) {
    @m = $p->pull('fails', 1, wait => 1);
    $p->modify('fails', 0, @m) if $_ < 5;
}

$h = park('morgue');
$p->modify('fails', 0, @m);
woken($h, 'dead', 0, 'a dead letter');

# a seek

$p->sub('again', 'topic', retainAckedMessages => \1);
$p->publish('topic', 'once more');
$p->ack('again', $p->pull('again', 10));
$h = park('again');
is($p->call('again', 'seek', { time => '2020-01-01T00:00:00Z' })->{status}, 200,
   'a seek');
woken($h, 'once more', 0, 'a seek');

# a subscription that becomes one of push, and back

$p->sub('turned', 'topic');
$h = park('turned');

my $r = $p->call('turned', 'modifyPushConfig', { pushConfig =>
    { pushEndpoint => 'https://example.com/x' } });

is($r->{status}, 200, 'it becomes one of push') or diag($r->{body});
$s->client->wait_all([$h], 5);
is(($h->result->{json} || {})->{error}{status}, 'FAILED_PRECONDITION',
   'who waits is told');
is($p->call('turned', 'pull', { maxMessages => 1 })->{json}{error}{message},
   'This method is not supported for this subscription type.',
   'and who comes');
$p->call('turned', 'modifyPushConfig', { pushConfig => {} });
$h = park('turned');
$p->publish('topic', 'pulled');
woken($h, 'pulled', 0, 'and back');

# many that wait: each message to one, in a few turns

$p->topic('many');
$p->sub('many', 'many');

my $before = $p->calls;
my @h = map { $p->park('many', 1, at => $s->client) } 1 .. 30;

$p->parked($before, 30);
$p->publish('many', map { "$_" } 1 .. 30);
is(join(' ', sort { $a <=> $b }
        map { data(@{ ($_->{json} || {})->{receivedMessages} || [] }) }
        $s->client->wait_all(\@h, 20)), join(' ', 1 .. 30), 'each has one');

# between the look and the wait: a publish is never seen at the end of it only

$p->topic('race');
$p->sub('race', 'race');

my $slowest = 0;

for (1 .. 200) {
    my $begin = time;
    my $h = $p->park('race', 1, at => $p->client);

    $q->publish('race', "$_");
    $p->client->wait_all([$h], 30);
    $p->ack('race', @{ ($h->result->{json} || {})->{receivedMessages} || [] });
    $slowest = time - $begin if time - $begin > $slowest;
}

cmp_ok($slowest, '<', 19, 'two hundred races');

# a worker that exits ends the waits

$p->sub('idle', 'topic');
$h = park('idle');
$s->reload;
($r) = $s->client->wait_all([$h], 20);

is("$r->{status} $r->{body}", '200 {}', 'a reload ends a wait');

least_late(\%late, $late, 'at once');

$node->finish;
$s->finish;

done_testing;
