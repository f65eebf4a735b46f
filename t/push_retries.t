#!/usr/bin/perl

# When a failed message comes again: the backoff and its bounds, Retry-After,
# groups of FIFO queues, dead letters; and how many deliveries are open after
# failures. Most of it at the same time.
#
# A busy machine is late with everything. So a pause is at most as long as Redis is
# told; and that the server comes when a pause is over is seen where it was least
# late, for queues of each kind.

use strict;
use warnings;

use List::Util qw/max min/;
use POSIX 'strftime';
use Test::More;
use Time::HiRes qw/time sleep/;

use NgxQueues::Calls;
use NgxQueues::Push;
use NgxQueues::Wait;

my $p = NgxQueues::Push->new;
my $calls = NgxQueues::Calls->new($p->server->redis);
my (@checks, %late);

sub fails { map { { status => 500 } } 1 .. $_[0] }

# What Redis is told of a subscription's failures, in order: at, the moment, and
# for how long it puts the messages with these ids off.

sub told {
    my ($s) = @_;

    my $queue = $s->queue->key =~ s/.*://r;

    return map {
        my (undef, undef, undef, undef, undef, undef, $q, undef, undef, undef,
            undef, @failed) = @{ $_->{args} };
        my @told;

        while ($q eq $queue && (my ($ms, undef, $ids) = splice @failed, 0, 3)) {
            push @told, { at => $_->{at}, seconds => $ms / 1000, ids => $ids };
        }

        @told;
    } $calls->seen('push_settle');
}

# The seconds for which Redis puts off what it was told of; how late the request that
# comes then is noted.

sub pause {
    my ($s, $told, $r) = @_;

    my $pause = min($told->{seconds},
                    $s->queue->is('visibilityTimeoutSeconds') || 1);

    push @{ $late{ $s->queue->is('kind') } }, $r->{time} - $told->{at} - $pause;

    return $pause;
}

# for each attempt but the last one: the seconds from its answer to the next one,
# and how many Redis was told

sub gaps {
    my ($s) = @_;

    my @r = grep { $_->{answered} } $s->requests;
    my @told = told($s);

    return map {
        { is => $r[$_]{time} - $r[$_ - 1]{answered},
          told => pause($s, $told[$_ - 1], $r[$_]) };
    } 1 .. $#r;
}

sub between {
    my ($gap, $from, $to, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    ok($gap && $gap->{is} > $from - 0.01
       && $gap->{told} > $from - 0.001 && $gap->{told} < $to + 0.001, $name)
        or diag($gap ? "$gap->{is}, of $gap->{told}" : 'none',
                ": not from $from to $to");
}

# what comes later is looked at later: later(subscription, deliveries, check)

sub later { push @checks, [@_] }

# 2^(n - 1) seconds, by up to 20 % more or less, up to the visibility timeout

my $backoff = $p->subscribe(queue => { visibilityTimeoutSeconds => 3 });

$backoff->on(fails(3), {});
$backoff->send('x');

later($backoff, 4, sub {
    my @gaps = gaps($backoff);

    between($gaps[0], 0.8, 1.2, 'after the first attempt');
    between($gaps[1], 1.6, 2.4, 'after the second');
    between($gaps[2], 2.4, 3, 'after the third: the visibility timeout');
    is(join(' ', map { $_->{receiveCount} } $backoff->messages), '1 2 3 4',
       'each attempt counts');

    my %ids = map { $_->{headers}{'ezgh-delivery-id'} => 1 } $backoff->requests;

    is(scalar keys %ids, 4, 'each has an id of its own');
    is($backoff->verify($backoff->requests), '', 'and is signed by itself');
});

my $short = $p->subscribe(queue => { visibilityTimeoutSeconds => 1 });

$short->on(fails(3), {});
$short->send('x');

later($short, 4, sub {
    my @gaps = gaps($short);

    between($gaps[0], 0.8, 1, 'a timeout of a second');
    between($gaps[$_], 0.8, 1, 'holds whatever comes') for 1, 2;
});

my $none = $p->subscribe(queue => { visibilityTimeoutSeconds => 0 });

$none->on(fails(3), {});
$none->send('x');

later($none, 4, sub {
    my @gaps = gaps($none);

    between($gaps[$_], 0.8, 1, 'without one, a second at most') for 0 .. 2;
});

# not all at the same moment

my $herd = $p->subscribe(batchSize => 1, maxConcurrency => 40,
                         queue => { visibilityTimeoutSeconds => 60 });

$herd->on(fails(40), {});
$herd->send(map { "h$_" } 1 .. 40);

later($herd, 80, sub {
    my %first;
    my @gaps;

    for my $r ($herd->requests) {
        my $id = $r->{json}{messages}[0]{messageId};

        push @gaps, $r->{time} - $first{$id} if $first{$id};
        $first{$id} = $r->{answered};
    }

    cmp_ok(min(@gaps), '>', 0.79, 'none too early');

    my @told = map { $_->{seconds} } told($herd);

    is(scalar @told, 40, 'each by itself');
    cmp_ok(min(@told), '>=', 0.8, 'none earlier');
    cmp_ok(max(@told), '<=', 1.2, 'none later');
    cmp_ok(max(@told) - min(@told), '>', 0.2, 'spread');

    my @parts = (0) x 9;

    $parts[int(($_ - 0.8) / 0.05)]++ for @told;
    cmp_ok(max(@parts), '<', 20, 'and evenly so') or diag("@parts");
});

# a message of a batch by itself: the others are not delivered again

my $part = $p->subscribe;

$part->on({ failed => { body => ['^bad'] } }, {});
$part->send('good', 'bad', 'fine', 'bad as well');

later($part, 2, sub {
    $part->wait_messages(6);
    is(join(', ', sort map { "$_->{body}:$_->{receiveCount}" } $part->messages),
       'bad as well:1, bad as well:2, bad:1, bad:2, fine:1, good:1',
       'those that failed come again, and no others');
});

# Retry-After

my $retries = 0;

sub retry {
    my ($value, $from, $to, %b) = @_;

    my $s = $p->subscribe(queue => { visibilityTimeoutSeconds => 4 });
    my @values = ref $value ? @$value : $value;

    $s->on({ status => $retries++ % 2 ? 429 : 503,
             headers => [map { ('Retry-After' => $_) } @values], %b }, {});
    $s->send('x');

    my $name = join ', ', map { "Retry-After: $_" } @values;

    later($s, 2, sub {
        between((gaps($s))[0], $from, $to, $name . ($b{status} ? " with $b{status}" : ''));
    });
}

# To a moment, in whole seconds: what is left of it when the server looks, which
# does so after the message was sent and before it tells Redis.

sub until_date {
    my ($format) = @_;

    my $s = $p->subscribe(queue => { visibilityTimeoutSeconds => 4 });
    my $begin = time;
    my $date = int($begin) + 3;
    my $value = strftime($format, gmtime $date);

    $s->on({ status => 503, headers => ['Retry-After', $value] }, {});
    $s->send('x');

    later($s, 2, sub {
        my ($told) = told($s);

        between((gaps($s))[0], max(0.1, $date - int $told->{at}),
                $date - int $begin, "Retry-After: $value");
        cmp_ok(($s->requests)[1]{time}, '>', $date - 0.01, 'not before');
    });
}

retry('2', 2, 2);
retry('3', 3, 3);
retry("\t 2  ", 2, 2);
retry('002', 2, 2);
retry('0', 0.1, 0.1);
retry('99', 4, 4);
retry('99999999999999999999', 4, 4);
retry($_, 0.8, 1.2) for '-5', '3000abc', '3.5', '', 'soon', '+3', '0x3', '3,3',
    ['3', '3'], ['3', '0'], 'Wed, 41 Oct 2099 07:28:00 GMT', '3 s',
    '2099-10-21T07:28:00Z';
until_date($_) for '%a, %d %b %Y %H:%M:%S GMT', '%A, %d-%b-%y %H:%M:%S GMT',
    '%a %b %e %H:%M:%S %Y';
retry('Fri, 21 Oct 2095 07:28:00 GMT', 4, 4);
retry('Wed, 21 Oct 2015 07:28:00 GMT', 0.1, 0.1);
retry('3', 0.8, 1.2, status => $_) for 500, 502, 400, 301;
retry('3', 0.8, 1.2, status => 200, failed => { all => 1 });

# FIFO: with a failed message those after it in its group, and no others

my $dedup = 0;

sub of {
    my ($group, @bodies) = @_;

    return map { { groupId => $group, body => $_,
                   deduplicationId => "d" . ++$dedup } } @bodies;
}

my $fifo = $p->subscribe(state => 'paused', queue => { kind => 'fifo' });

$fifo->on({ failed => { body => ['^a2'] }, hold => 'fifo' }, {});
$fifo->send(of(a => qw/a1 a2 a3/), of(b => qw/b1 b2/));
$fifo->resume;
$fifo->wait(1);
$fifo->send(of(a => 'a4'), of(b => 'b3'));
$p->endpoint->release('fifo');

later($fifo, 3, sub {
    my @m = grep { $_->{body} =~ /^a/ } $fifo->messages;

    is(join(' ', map { "$_->{body}:$_->{receiveCount}" } @m),
       'a1:1 a2:1 a3:1 a2:2 a3:2 a4:1',
       'a failed message and those after it, in order');
    is(join(' ', map { $_->{body} } grep { $_->{body} =~ /^b/ } $fifo->messages),
       'b1 b2 b3', 'another group goes on');

    is(join(' ', map { $_->{body} } ($fifo->messages)[5 .. 6]), 'b3 a2', 'at once');
    pause($fifo, (told($fifo))[0], ($fifo->requests)[2]);
});

# the whole batch, of several groups

my $whole = $p->subscribe(state => 'paused', queue => { kind => 'fifo' });

$whole->on({ status => 500 }, {});
$whole->send(of(a => qw/a1 a2/), of(b => qw/b1 b2/), of(c => 'c1'));
$whole->resume;

later($whole, 2, sub {
    $whole->wait_messages(10);
    pause($whole, (told($whole))[0], ($whole->requests)[1]);

    for my $group ('a1:1 a2:1 a1:2 a2:2', 'b1:1 b2:1 b1:2 b2:2', 'c1:1 c1:2') {
        my $letter = substr $group, 0, 1;

        is(join(' ', map { "$_->{body}:$_->{receiveCount}" }
                     grep { $_->{body} =~ /^$letter/ } $whole->messages),
           $group, "FIFO: the group $letter");
    }
});

# dead letters: after so many attempts, at once, whatever the endpoint asks for; and
# they are delivered, too

sub dead {
    my (%kind) = @_;

    my $dead = $p->subscribe(queue => { %kind });
    my $s = $p->subscribe(queue => {
        %kind, visibilityTimeoutSeconds => 30,
        redrivePolicy => { deadLetterQueueId => $dead->queue->is('queueId'),
                           maxReceiveCount => 2 } });

    $s->on({ failed => { body => ['^bad'] } },
           { status => 503, headers => ['Retry-After', 29] });

    return ($s, $dead);
}

my ($dying, $dead) = dead();
my ($fdying, $fdead) = dead(kind => 'fifo');

$dying->send('good', 'bad');
$fdying->send(of(g => 'good', 'bad', 'after'));

for my $case ([$dying, $dead, 'standard'], [$fdying, $fdead, 'fifo']) {
    my ($s, $d, $name) = @$case;

    later($d, 1, sub {
        my ($m) = $d->messages;
        my ($second) = ($s->requests)[1];
        my $a = $m->{attributes};

        is($m->{body}, 'bad', "$name: a dead letter is delivered");
        is($m->{receiveCount}, 1, "$name: for the first time");
        is($a->{'ezgh.deadLetterReceiveCount'}, 2, "$name: after two attempts");
        is($a->{'ezgh.deadLetterSourceQueue'}, $s->queue->is('queue'),
           "$name: with where it came from");
        is((grep { $_->{body} eq 'bad' } $s->messages), 2,
           "$name: it came twice before that");
        cmp_ok(($d->requests)[0]{time} - $second->{answered}, '<', 29,
               "$name: it moves at once");
        ok($s->done, "$name: nothing is left");
    });
}

# what came after it has failed with it, as often

later($fdead, 1, sub {
    is(join(' ', map { "$_->{body}:$_->{receiveCount}" } $fdying->messages),
       'good:1 bad:1 after:1 bad:2 after:2', 'fifo: the attempts');
    $fdead->wait_messages(2);
    is(join(' ', map { $_->{body} } $fdead->messages), 'bad after',
       'fifo: in order');
});

# how many are open: halved by each failure that says so, one more by each
# success

my $window = $p->subscribe(batchSize => 1, maxConcurrency => 8,
                           queue => { visibilityTimeoutSeconds => 1 });

$window->on((map { { status => $_ % 2 ? 429 : 503 } } 1 .. 8),
            { hold => 'window' });
$window->send(map { "w$_" } 1 .. 40);
$window->wait(9);
ok($window->quiet(1), 'eight failures: one at a time')
    or diag($window->open);
is($window->open, 1, 'one is open');

my $came = 9;

for my $open (2, 4, 8, 8) {
    $p->endpoint->release('window');
    $window->wait($came += $open);
    ok($window->quiet(0.3), 'each success adds one, up to maxConcurrency');
    is($window->open, $open, "$open are open");
}

$p->endpoint->release('window', always => 1);
ok($window->done, 'all is done');
is($window->most, 8, 'never more than maxConcurrency');

# errors of other kinds do not slow it down

my $full = $p->subscribe(batchSize => 1, maxConcurrency => 6);

$full->on(fails(6), { hold => 'full' });
$full->send(map { "f$_" } 1 .. 20);
ok(wait_for(sub { $full->open == 6 }), 'a 500 leaves it as it was');
$p->endpoint->release('full', always => 1);
ok($full->done, 'all is done');

# and the rest

for my $check (@checks) {
    my ($s, $n, $do) = @$check;

    eval { $s->wait($n, answered => 1, seconds => 20); 1 } or diag($@);
    $do->();
    ok($s->done, 'all is acknowledged');
}

cmp_ok(min(@{ $late{$_} }), '<', 0.3, "$_: a pause is over when it is")
    or diag("@{ $late{$_} }") for qw/standard fifo/;

$p->finish;

done_testing;
