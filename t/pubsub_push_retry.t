#!/usr/bin/perl

# What failures of Pub/Sub's pushes do: the pause of the subscription, how much is
# open at once, retry policies, dead letters and the number of attempts.

use strict;
use warnings;

use List::Util 'min';
use Test::More;
use Time::HiRes 'time';

use NgxQueues::PubsubPush;
use NgxQueues::Wait;

my $p = NgxQueues::PubsubPush->new;

# Seconds between requests, of one subscription or of several at the same time, each
# with what it should be at least. It is no more than half a second later, or twice of
# that under sanitizers, for the one to which a busy machine came soonest.

sub gaps_are {
    my ($what, $runs, @expected) = @_;

    my @wrong;

    for my $i (0 .. $#expected) {
        my @gaps = map { $_->[$i + 1]{time} - $_->[$i]{answered} } @$runs;

        push @wrong, "$i: @gaps, not $expected[$i]"
            if min(@gaps) < $expected[$i] - 0.02
               || min(@gaps) > $expected[$i] + scaled(0.5);
    }

    is(join("\n", @wrong), '', $what);
}

# at least so long, and less than what another pause would be

sub gap_is {
    my ($what, $one, $next, $from, $to) = @_;

    my $gap = $next->{time} - $one->{answered};

    ok($gap > $from - 0.02 && $gap < $to, $what) or diag($gap);
}

# several that fail like this

sub failing {
    my ($options, @statuses) = @_;

    my @s = map { $p->subscribe(%$options) } 1 .. 4;

    for my $s (@s) {
        $s->on((map { { status => $_, headers => ['Retry-After' => 30] } } @statuses),
               {});
        $s->publish('a');
    }

    return map { [$_->wait(1 + @statuses, answered => 1)] } @s;
}

# the pause doubles, and a success ends it

my @runs = failing({}, 503, 500, 404, 429, 400);

gaps_are('100 ms, doubled, whatever the status and Retry-After', \@runs,
         0.1, 0.2, 0.4, 0.8, 1.6);
is((grep { exists $_->{json}{deliveryAttempt} } @{ $runs[0] }), 0,
   'no attempts are told without a dead-letter policy');

my $s = $p->subscribe;
my $other = $p->subscribe;

$s->on((map { { status => 503 } } 1 .. 5), {}, { status => 503 }, {});
$s->publish('a');
$s->wait(6, answered => 1);
ok($s->done, 'it is acknowledged');
$s->publish('b');

my @r = $s->wait(8, answered => 1);

gap_is('a success has ended it', @r[6, 7], 0.1, 3.2);
ok($s->done, 'and so on');

# the whole subscription pauses, and no other one

$s->on((map { { status => 503 } } 1 .. 5), {});
$s->publish('first');
@r = $s->wait(13, answered => 1);
$s->publish('second');
$other->publish('other');

my ($meanwhile) = $other->wait(1);
my @later = ($s->wait(15))[13, 14];

gap_is('a second message waits as well', $r[12], $later[0], 1.6, 20);
cmp_ok($meanwhile->{time}, '<', $later[0]{time}, 'another subscription does not');
is(join(' ', sort map { $s->data($_) } @later), 'first second',
   'and both come then');
ok($s->done, 'both are acknowledged');

# a new configuration begins anew

$s->on({ status => 503 });
$s->publish('first');
@r = ($s->wait(15 + 6, answered => 1))[15 .. 20];
$s->publish('second');
$p->plain->on('/elsewhere', {});
$s->configure({ pushEndpoint => $s->url =~ s{/[^/]*\z}{/elsewhere}r });

my ($moved) = $p->plain->wait(1, path => '/elsewhere');

is($s->data($moved), 'second', 'what has not failed is sent elsewhere');
gap_is('the pause is over', $r[5], $moved, 0, 3.2);
ok($s->done, 'and the other one when its time has come');

# at first one is open, one more after each success, and all of it again after a
# failure of all

my $w = $p->subscribe;

$w->on({ hold => 'w' });
$w->publish(1 .. 40);

for my $n (1, 2, 4, 8) {
    ok(wait_for(sub { $w->open == $n }), "$n are open") or diag($w->open);
    ok(!wait_for(sub { $w->open > $n }, 0.2), "and no more than $n");
    is($w->most, $n, 'nor were');
    $w->on({ hold => 'w', status => 503 }) if $n == 4;
    $p->plain->release('w');
}

# eight have failed: of these one pause, and the window is 1 again

@r = sort { $a->{answered} <=> $b->{answered} } $w->wait(15, answered => 1);
$w->on({ hold => 'w' });

my ($next) = ($w->wait(16))[15];

gap_is('failures of the same time are one', $r[14], $next, 0.1, 12.8);
ok(!wait_for(sub { $w->open > 1 }, 0.3), 'one is open again');
$p->plain->release('w');
ok(wait_for(sub { $w->open == 2 }), 'and then two');
$p->plain->release('w', always => 1);
ok($w->done, 'all are acknowledged');
is(scalar(keys %{{ map { $w->data($_) => 1 } $w->requests }}), 40, 'all of them');

# a failure halves it

my $h = $p->subscribe;

$h->on({});
$h->publish(1 .. 15);
ok($h->done, '15 successes');
$h->on({ status => 500 }, { hold => 'h' });
$h->publish(1 .. 30);
ok(wait_for(sub { $h->open >= 8 }), 'after a failure: a half of 16');
ok(!wait_for(sub { $h->open > 16 }, 0.3), 'and no more than before');
$p->plain->release('h', always => 1);
ok($h->done, 'all are acknowledged');

# endpoints that are not there, and come back

my $gone = $p->subscribe(tls => 1);

$p->tls->down;
$gone->publish('x');
ok(wait_for(sub { $p->server->error_log =~ /sub\d+" of .* failed: connection 0/ }),
   'no connection: a failure');
$p->tls->up;
$gone->wait(1, answered => 1);
ok($gone->done, 'which is over when the endpoint is back');

# a retry policy: the longer one of both counts

@runs = failing({ retryPolicy => { minimumBackoff => '1s',
                                   maximumBackoff => '2s' } }, (500) x 4);
gaps_are('1 s, and 2 s at most', \@runs, 1, 2, 2, 2);
@runs = failing({ retryPolicy => { minimumBackoff => '0s',
                                   maximumBackoff => '600s' } }, (500) x 3);
gaps_are('none: the pause remains', \@runs, 0.1, 0.2, 0.4);

# dead letters

my $dead = $p->subscribe(name => 'dead-sub', topic => 'dead', push => 0);
my $d = $p->subscribe(deadLetterPolicy => { deadLetterTopic => 'dead',
                                            maxDeliveryAttempts => 5 });

$d->on({ status => 500 });

my ($id) = $d->publish({ data => 'YQ==', attributes => { k => 'v' } });

@r = $d->wait(5, answered => 1);
is(join(' ', map { $_->{json}{deliveryAttempt} } @r), '1 2 3 4 5',
   'deliveryAttempt');
like($r[0]{body}, qr/^\{"deliveryAttempt":1,"message":\{"attributes"/,
     'a number, at the top');
ok($d->done, 'after five it is gone');
ok($d->quiet(1), 'and comes no more');

my ($m) = @{ wait_for(sub { my @m = $dead->pull(10); @m ? \@m : undef }, 10) };

is($m->{message}{data}, 'YQ==', 'it is in the dead-letter topic');
is($m->{message}{attributes}{k}, 'v', 'with its attributes');
is($m->{message}{attributes}{CloudPubSubDeadLetterSourceDeliveryCount}, 5,
   'and the count');
is($m->{message}{attributes}{CloudPubSubDeadLetterSourceSubscription}, $d->name,
   'and where it is from');

# others go on after it

$d->on({});
$d->publish('next');
@r = $d->wait(6, answered => 1);
is($r[5]{json}{deliveryAttempt}, 1, 'the next one is at its first attempt');
ok($d->done, 'and is acknowledged');

# no answer within the deadline

my $t = $p->subscribe(ackDeadlineSeconds => 10);

$t->on({ end => 'hang', cut => 0 }, {});

my $begin = time;

$t->publish('x');
@r = $t->wait(2, seconds => 30);
cmp_ok($r[1]{time} - $begin, '>=', 10, 'it has the whole deadline');
cmp_ok($r[1]{time} - $r[0]{time}, '<', 20, 'and no more');
ok($t->done, 'then it comes again');

$p->finish;

done_testing;
