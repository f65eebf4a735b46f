#!/usr/bin/perl

# What was not acknowledged comes again: at once, or, with a retry policy, after
# a backoff that doubles up to its maximum; a nack and the end of a deadline count
# alike.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Pubsub;
use NgxQueues::Wait;

my $late = $ENV{NGX_QUEUES_SANITIZE} ? 1 : 0.35;
my %late;
my $s = NgxQueues::Pubsub::server(workers => 2);
my $p = NgxQueues::Pubsub->new($s);

sub data { NgxQueues::Pubsub::data(@_) }

$p->topic('topic');

# a pull that waits after a message was given such a deadline, and how long it took
# for the message to come again; how late it is, after a pause and without one, is seen
# where a busy machine was least in the way

sub again {
    my ($sub, $deadline, $m, $seconds, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $begin = time;

    $p->modify($sub, $deadline, $m);
    ($m) = $p->pull($sub, 1, wait => 1);

    my $took = time - $begin;

    ok($m, "$name: it comes") or return;
    cmp_ok($took, '>', $seconds - 0.01, "$name: not before");
    push @{ $late{$seconds ? 'pauses' : 'nacks'} }, $took - $seconds;

    return $m;
}

# no policy

$p->sub('plain', 'topic', ackDeadlineSeconds => 10);
$p->publish('topic', 'a');

my ($m) = $p->pull('plain', 1);

$m = again('plain', 0, $m, 0, "nack $_") for 1 .. 5;
$m = again('plain', 1, $m, 1, 'the end of a deadline');
$p->ack('plain', $m);
is(scalar $p->pull('plain', 1), 0, 'acknowledged');

# backoffs: 0.5, 1, 2, 2 seconds

$p->sub('slow', 'topic', retryPolicy => { minimumBackoff => '0.5s',
                                      maximumBackoff => '2s' });
is_deeply($p->get('subscriptions', 'slow')->{json}{retryPolicy},
          { minimumBackoff => '0.500s', maximumBackoff => '2s' }, 'the policy');
$p->publish('topic', 'b');
($m) = $p->pull('slow', 1);

$m = again('slow', 0, $m, $_, "a backoff of $_ s") for 0.5, 1, 2, 2;

# a deadline and the backoff after it, which is the next one

$m = again('slow', 1, $m, 1 + 2, 'after a deadline');
$p->ack('slow', $m);

# others do not wait for one that does

$p->topic('others');
$p->sub('others', 'others', retryPolicy => { minimumBackoff => '600s' });
$p->publish('others', 'c');
($m) = $p->pull('others', 1);
$p->modify('others', 0, $m);
$p->publish('others', 'd');
is(data($p->pull('others', 10)), 'd', 'another one comes meanwhile');

# the next message begins anew

$p->publish('topic', 'c');
($m) = $p->pull('slow', 1);
$m = again('slow', 0, $m, 0.5, 'the first backoff');
$p->ack('slow', $m);

# an ack during the backoff of its deadline: in time

$p->publish('topic', 'e');
($m) = $p->pull('slow', 1);
$p->modify('slow', 1, $m);

my $begin = time;

wait_for { time > $begin + 1.2 };
$p->ack('slow', $m);
wait_for { time > $begin + 1.9 };
is(scalar $p->pull('slow', 1), 0, 'acknowledged before it came again');

# of a key the later ones wait for it

$p->topic('keys');
$p->sub('keys', 'keys', enableMessageOrdering => \1,
        retryPolicy => { minimumBackoff => '1s', maximumBackoff => '1s' });
$p->sub('held', 'keys', enableMessageOrdering => \1,
        retryPolicy => { minimumBackoff => '600s' });
$p->publish('keys', map { NgxQueues::Pubsub::keyed('k', $_) } 1 .. 3);
$p->publish('keys', 'free');

my @m = $p->pull('held', 1);

is(data(@m), '1', 'the first one of a key');
$p->modify('held', 0, @m);
is(data($p->pull('held', 10)), 'free', 'those without a key do not wait');
($m) = $p->pull('keys', 1);
$p->ack('keys', $p->pull('keys', 10));
$begin = time;
$p->modify('keys', 0, $m);
@m = $p->pull('keys', 10, wait => 1);
cmp_ok(time - $begin, '>', 0.99, 'those of the key do');
is((split ' ', data(@m))[0], '1', 'in order');

# a policy that is taken away, and one that is set

$p->patch('subscriptions', 'slow', { subscription => {},
                                     updateMask => 'retryPolicy' });
$p->publish('topic', 'f');
($m) = $p->pull('slow', 1);
$m = again('slow', 0, $m, 0, 'without the policy');
$p->patch('subscriptions', 'slow', { subscription =>
    { retryPolicy => { minimumBackoff => '1s', maximumBackoff => '1s' } },
    updateMask => 'retryPolicy' });
$m = again('slow', 0, $m, 1, 'with another one');

# {}: 10 s and 600 s

$p->sub('default', 'topic', retryPolicy => {});
is_deeply($p->get('subscriptions', 'default')->{json}{retryPolicy},
          { minimumBackoff => '10s', maximumBackoff => '600s' },
          'the policy that has nothing said');

least_late(\%late, $late, 'in time');

$s->finish;

done_testing;
