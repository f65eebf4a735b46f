#!/usr/bin/perl

# Endpoints that hang, fail or are many take nothing from the others.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw/time sleep/;

use NgxQueues::Push;
use NgxQueues::Wait;

# one worker, with room for 20 deliveries; and another server, to see how long all
# takes on this machine where nothing hangs

my $p = NgxQueues::Push->new(push => 'queues_push_max_deliveries 20;');
my $e = $p->endpoint;
my $apart = NgxQueues::Push->new;
my $usual = $apart->subscribe(batchSize => 1);

# three that hang, each of which may have more than there is room for

my @hanging = map {
    $p->subscribe(batchSize => 1, maxConcurrency => 100, timeoutSeconds => 2,
                  state => 'paused', queue => { visibilityTimeoutSeconds => 1 })
} 1 .. 3;

my $failing = $p->subscribe(batchSize => 1, maxConcurrency => 100,
    queue => { visibilityTimeoutSeconds => 1 });
my $good = $p->subscribe(batchSize => 1);
my $later = $p->subscribe(batchSize => 1);

for (@hanging) {
    $_->on({ hold => 'never' });
    $_->send(map { "hang $_" } 1 .. 200);
}

$failing->on({ status => 503 });
$failing->send(map { "fail $_" } 1 .. 200);

# ten messages a second: how late nine of ten of them come, and the last of all; and
# what is usual

sub latency {
    my ($seconds, @s) = @_;

    my $end = time + $seconds;
    my (%sent, @p90, @last);
    my @from = map { scalar(() = $_->messages) } @s;
    my $n = 0;

    while (time < $end) {
        for my $s (@s) {
            my $t = time;
            my ($id) = $s->send('good');

            $sent{$id} = $t;
        }

        $n++;
        sleep 0.1;
    }

    for my $s (@s) {
        my @late;

        $s->wait_messages($n + shift @from);

        for my $r ($s->requests) {
            push @late, map { $r->{time} - $_ } grep { defined }
                map { $sent{ $_->{messageId} } } @{ $r->{json}{messages} };
        }

        @late = sort { $a <=> $b } @late;
        push @p90, $late[0.9 * @late];
        push @last, $late[-1];
    }

    note(sprintf 'latency: p90 %.3f, %.3f; max %.3f, %.3f', @p90, @last);

    return (@p90, @last);
}

$_->resume for @hanging;
$hanging[0]->wait(1);

# while they hang for the first time, time out, and hang again

my ($while, $least, $last, $usual_last) = latency(5, $good, $usual);

cmp_ok($while, '<', scaled(0.1) + 3 * $least, 'nearly all come at once');
cmp_ok($last, '<', scaled(0.5) + 3 * $usual_last, 'none is late');

my $open = 0;

$open += $_->most for @hanging, $failing, $good;
cmp_ok($open, '<=', 45, 'there was no room for more');
ok($_->requests > 0, 'each of them is tried') for @hanging;
like($hanging[0]->last_error, qr/^timeout/, 'and times out');

# one that has not delivered before is as well off

my ($new, $usually) = latency(1, $later, $usual);

cmp_ok($new, '<', scaled(0.5) + 3 * $usually, 'a new subscription, too');

# Redis is not asked all the time: to claim and to settle, with the next claim

my $calls = $p->server->redis->calls('fcall');
my $made = $failing->requests;

sleep 1;
$calls = $p->server->redis->calls('fcall') - $calls;
$made = $failing->requests - $made;
note("calls a second: $calls, deliveries that fail: $made");
cmp_ok($calls, '<', 3 * $made + 100, 'claims that find nothing are few');

# what hangs is mended: all of it comes

for (@hanging, $failing) {
    $_->on({});
}

$e->release('never', always => 1);

for (@hanging, $failing) {
    ok($_->done, 'all is delivered') or diag($_->counts);
}

# nothing to do: nothing is asked but leases

sleep 0.5;
$calls = $p->server->redis->calls('fcall');
sleep 2.5;
$calls = $p->server->redis->calls('fcall') - $calls;
note("calls in 2.5 seconds without traffic: $calls");
cmp_ok($calls, '<', 15, 'idle subscriptions cost their leases only');

$apart->finish(name => 'the usual one');
$p->finish;

done_testing;
