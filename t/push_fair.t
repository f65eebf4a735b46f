#!/usr/bin/perl

# Endpoints that hang, fail or are many take nothing from the others.

use strict;
use warnings;

use List::Util 'max';
use Test::More;
use Time::HiRes qw/time sleep/;

use NgxQueues::Push;
use NgxQueues::Wait;

# one worker, with room for 20 deliveries

my $p = NgxQueues::Push->new(push => 'queues_push_max_deliveries 20;');
my $e = $p->endpoint;

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

# ten messages a second: how late each of them comes

sub latency {
    my ($s, $seconds) = @_;

    my $end = time + $seconds;
    my (%sent, @late);
    my $from = $s->messages;

    while (time < $end) {
        my $t = time;
        my ($id) = $s->send('good');

        $sent{$id} = $t;
        sleep 0.1;
    }

    $s->wait_messages($from + keys %sent);

    for my $r ($s->requests) {
        for my $m (@{ $r->{json}{messages} }) {
            push @late, $r->{time} - $sent{ $m->{messageId} }
                if $sent{ $m->{messageId} };
        }
    }

    return sort { $a <=> $b } @late;
}

my @before = latency($good, 0.5);

$_->resume for @hanging;
$hanging[0]->wait(1);

# while they hang for the first time, time out, and hang again

my @while = latency($good, 5);

note(sprintf 'latency: before %.3f at most, while others hang %.3f, p90 %.3f',
     max(@before), max(@while), $while[0.9 * @while]);

cmp_ok($while[0.9 * @while], '<', scaled(0.1), 'nearly all come at once');
cmp_ok(max(@while), '<', scaled(0.5), 'none is late');

my $open = 0;

$open += $_->most for @hanging, $failing, $good;
cmp_ok($open, '<=', 45, 'there was no room for more');
ok($_->requests > 0, 'each of them is tried') for @hanging;
like($hanging[0]->last_error, qr/^timeout/, 'and times out');

# one that has not delivered before is as well off

my @new = latency($later, 1);

cmp_ok(max(@new), '<', scaled(0.5), 'a new subscription, too');

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
    ok($_->done(20), 'all is delivered') or diag($_->counts);
}

# nothing to do: nothing is asked but leases

sleep 0.5;
$calls = $p->server->redis->calls('fcall');
sleep 2.5;
$calls = $p->server->redis->calls('fcall') - $calls;
note("calls in 2.5 seconds without traffic: $calls");
cmp_ok($calls, '<', 15, 'idle subscriptions cost their leases only');

$p->finish;

done_testing;
