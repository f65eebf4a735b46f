#!/usr/bin/perl

# What failures of Pub/Sub's pushes do: the pause of the subscription, how much is
# open at once, retry policies, dead letters and the number of attempts.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::PubsubPush;
use NgxQueues::Wait;

my $p = NgxQueues::PubsubPush->new;

# seconds between requests, each with what it should be at least; it is no more
# than half a second later, or twice of that under sanitizers

sub gaps_are {
    my ($what, $requests, @expected) = @_;

    my @gaps = map { $requests->[$_]{time} - $requests->[$_ - 1]{answered} }
        1 .. $#$requests;
    my @wrong = grep {
        $gaps[$_] < $expected[$_] - 0.02
        || $gaps[$_] > $expected[$_] + scaled(0.5)
    } 0 .. $#expected;

    ok(@gaps >= @expected && !@wrong, $what)
        or diag("@gaps, not @expected");
}

# the pause doubles, and a success ends it

my $s = $p->subscribe;

$s->on((map { { status => $_, headers => ['Retry-After' => 30] } }
    503, 500, 404, 429, 400), {}, { status => 503 }, {});
$s->publish('a');

my @r = $s->wait(6, answered => 1);

gaps_are('100 ms, doubled, whatever the status and Retry-After', \@r,
         0.1, 0.2, 0.4, 0.8, 1.6);
ok($s->done(5), 'then it is acknowledged');
is((grep { exists $_->{json}{deliveryAttempt} } @r), 0,
   'no attempts are told without a dead-letter policy');

$s->publish('b');
@r = $s->wait(8, answered => 1);
gaps_are('a success has ended it', [@r[6, 7]], 0.1);
ok($s->done(5), 'and so on');

# the whole subscription pauses, and no other one

$s->on((map { { status => 503 } } 1 .. 4), {});
$s->publish('first');
@r = $s->wait(12, answered => 1);
$s->publish('second');

my $other = $p->subscribe;

$other->publish('other');
$other->wait(1, seconds => 0.5);

my @later = ($s->wait(14))[12, 13];

gaps_are('a second message waits as well', [$r[11], $later[0]], 0.8);
is(join(' ', sort map { $s->data($_) } @later), 'first second',
   'and both come then');
ok($s->done(5), 'both are acknowledged');

# a new configuration begins anew

$s->on({ status => 503 });
$s->publish('first');
@r = ($s->wait(14 + 5, answered => 1))[14 .. 18];
$s->publish('second');
$p->plain->on('/elsewhere', {});
$s->configure({ pushEndpoint => $s->url =~ s{/[^/]*\z}{/elsewhere}r });

my ($moved) = $p->plain->wait(1, path => '/elsewhere');

is($s->data($moved), 'second', 'what has not failed is sent elsewhere');
cmp_ok($moved->{time} - $r[4]{answered}, '<', 1.4, 'the pause is over');
ok($s->done(10), 'and the other one when its time has come');

# at first one is open, one more after each success, and all of it again after a
# failure of all

my $w = $p->subscribe;

$w->on({ hold => 'w' });
$w->publish(1 .. 40);

for my $n (1, 2, 4, 8) {
    ok(wait_for(sub { $w->open == $n }, 5), "$n are open") or diag($w->open);
    ok(!wait_for(sub { $w->open > $n }, 0.2), "and no more than $n");
    is($w->most, $n, 'nor were');
    $w->on({ hold => 'w', status => 503 }) if $n == 4;
    $p->plain->release('w');
}

# eight have failed: of these one pause, and the window is 1 again

@r = sort { $a->{answered} <=> $b->{answered} } $w->wait(15, answered => 1);
$w->on({ hold => 'w' });

my ($next) = ($w->wait(16))[15];

gaps_are('failures of the same time are one', [$r[14], $next], 0.1);
ok(!wait_for(sub { $w->open > 1 }, 0.3), 'one is open again');
$p->plain->release('w');
ok(wait_for(sub { $w->open == 2 }, 5), 'and then two');
$p->plain->release('w', always => 1);
ok($w->done(20), 'all are acknowledged');
is(scalar(keys %{{ map { $w->data($_) => 1 } $w->requests }}), 40, 'all of them');

# a failure halves it

my $h = $p->subscribe;

$h->on({});
$h->publish(1 .. 15);
ok($h->done(10), '15 successes');
$h->on({ status => 500 }, { hold => 'h' });
$h->publish(1 .. 30);
ok(wait_for(sub { $h->open >= 8 }, 10), 'after a failure: a half of 16');
ok(!wait_for(sub { $h->open > 16 }, 0.3), 'and no more than before');
$p->plain->release('h', always => 1);
ok($h->done(20), 'all are acknowledged');

# endpoints that are not there, and come back

my $gone = $p->subscribe(tls => 1);

$p->tls->down;
$gone->publish('x');
ok(wait_for(sub { $p->server->error_log =~ /sub\d+" of .* failed: connection 0/ },
            5), 'no connection: a failure');
$p->tls->up;
$gone->wait(1, answered => 1);
ok($gone->done(5), 'which is over when the endpoint is back');

# a retry policy: the longer one of both counts

my $policy = $p->subscribe(retryPolicy => { minimumBackoff => '1s',
                                            maximumBackoff => '2s' });

$policy->on((map { { status => 500 } } 1 .. 4), {});
$policy->publish('x');
@r = $policy->wait(5, answered => 1, seconds => 20);
gaps_are('1 s, and 2 s at most', \@r, 1, 2, 2, 2);
ok($policy->done(5), 'it is acknowledged');

my $short = $p->subscribe(retryPolicy => { minimumBackoff => '0s',
                                           maximumBackoff => '600s' });

$short->on((map { { status => 500 } } 1 .. 3), {});
$short->publish('x');
@r = $short->wait(4, answered => 1);
gaps_are('none: the pause remains', \@r, 0.1, 0.2, 0.4);

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
ok($d->done(5), 'after five it is gone');
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
ok($d->done(5), 'and is acknowledged');

# no answer within the deadline

my $t = $p->subscribe(ackDeadlineSeconds => 10);

$t->on({ end => 'hang', cut => 0 }, {});
$t->publish('x');
@r = $t->wait(2, seconds => 20);
cmp_ok($r[1]{time} - $r[0]{time}, '>=', 10, 'it has the whole deadline');
cmp_ok($r[1]{time} - $r[0]{time}, '<', 10 + scaled(2), 'and no more');
ok($t->done(5), 'then it comes again');

$p->finish;

done_testing;
