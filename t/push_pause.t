#!/usr/bin/perl

# Subscriptions that are paused, resumed, changed, deleted, and whose secrets are
# rotated, while they deliver.

use strict;
use warnings;

use List::Util qw/max min/;
use Test::More;
use Time::HiRes qw/time sleep/;

use NgxQueues::Push;
use NgxQueues::Wait;

my $p = NgxQueues::Push->new(workers => 2);
my $e = $p->endpoint;

# traffic: a message is sent wherever there is time for it; their ids

sub traffic {
    my ($s, $seconds) = @_;

    my $end = time + $seconds;
    my @ids;

    while (time < $end) {
        push @ids, $s->send(map { 'x' } 1 .. 5);
        sleep 0.01;
    }

    return @ids;
}

# a pause: open deliveries end, no other begins

my $s = $p->subscribe(batchSize => 1, maxConcurrency => 3);

$s->on({ hold => 'open' });
$s->send(map { "m$_" } 1 .. 6);
$s->wait(3);
is($s->pause->{state}, 'paused', 'paused');
is($e->release('open', always => 1), 3, 'three are open');
ok(wait_for(sub { $s->counts eq '3 0 0' }, 5), 'they are acknowledged');
ok($s->quiet(0.5), 'and no other begins');
$s->send('more');
ok($s->quiet(0.5), 'not for a message either that comes now');
is($s->counts, '4 0 0', 'they are there');
is($s->pause->{state}, 'paused', 'once more is fine');
is(scalar(() = $s->queue->receive(maxMessages => 1, at => $p->server->client)), 1,
   'who receives gets them');

is($s->resume->{state}, 'active', 'resumed');
$s->wait(6);

# how soon, is seen where a busy machine was least in the way

my @soon;

for my $n (7 .. 10) {
    $s->pause;
    $s->send('x');

    my $begin = time;

    $s->resume;
    push @soon, ($s->wait($n))[-1]{time} - $begin;
}

cmp_ok(min(@soon), '<', scaled(0.7), 'it goes on at once') or diag("@soon");
is($s->resume->{state}, 'active', 'once more is fine');
$s->delete;

# No delivery begins when the call has answered, whichever worker it was of: of what
# is in the queue by then nothing is taken. What was taken before comes to the endpoint
# late where the machine is busy, which it is not always.

my (@taken, @late);

for my $turn (1 .. 8) {
    my $s = $p->subscribe(batchSize => 1, maxConcurrency => 10);

    traffic($s, 0.15);
    $turn % 2 ? $s->pause : $s->delete;

    my $answered = time;
    my $there = (split ' ', $s->counts)[0];
    my %after = map { $_ => 1 } traffic($s, 0.1);

    ok(wait_for(sub { $s->counts =~ / 0 0\z/ }), 'what is open ends');
    push @taken, "turn $turn" if (split ' ', $s->counts)[0] < $there + keys %after
        || grep { $after{ $_->{messageId} } } $s->messages;
    push @taken, "no traffic in turn $turn" if !$s->requests;
    push @late, max 0, map { $_->{time} - $answered } $s->requests;
}

is("@taken", '', 'nothing is delivered after the answer');
cmp_ok(min(@late), '<', scaled(0.05), 'nor what was about to be') or diag("@late");

# created as a paused one

my $paused = $p->subscribe(state => 'paused');

$paused->send('x');
ok($paused->quiet(0.5), 'paused from the beginning');
$paused->resume;
ok($paused->done, 'and then resumed');

# changes hold for the next delivery

my $u = $p->subscribe(batchSize => 1, maxConcurrency => 8);

$u->on({ hold => 'before' });
$u->send(map { "m$_" } 1 .. 20);
$u->wait(8);

my $is = $u->update(batchSize => 10, maxConcurrency => 2,
    target => { url => "https://changed.example.com:@{[$e->port]}/changed" });

is("$is->{batchSize} $is->{maxConcurrency}", '10 2', 'changed');
is($is->{target}{timeoutSeconds}, 30, 'what is not said stays');
$e->on('/changed', { hold => 'after' });
ok($e->quiet(0.5, '/changed'), 'nothing new while more than that are open');
$e->release('before', always => 1);

my @r = $e->wait(2, path => '/changed');

is($r[0]{sni}, 'changed.example.com', 'the next one goes to the new URL');
is(join(' ', sort map { scalar @{ $_->{json}{messages} } } @r), '10 2',
   'with the new size of a batch');
is(scalar @{ [$u->requests] }, 8, 'the old one has no more');
$e->release('after', always => 1);
ok($u->done, 'all are done');
cmp_ok($e->most('/changed'), '<=', 2, 'at most so many at once');

my $timeout = $p->subscribe(timeoutSeconds => 60,
                            queue => { visibilityTimeoutSeconds => 1 });

$timeout->update(target => { timeoutSeconds => 1 });
$timeout->on({ hold => 'never' }, {});
$timeout->send('x');
ok($timeout->done, 'another timeout');
is($timeout->last_error, 'timeout', 'is the one that holds');

# to an endpoint that works, instead of one that does not: at its next attempt

my $mend = $p->subscribe(queue => { visibilityTimeoutSeconds => 1 });

$mend->on({ status => 500 });
$mend->send('x');
$mend->wait(1);
$mend->update(target => {
    url => "https://mended.example.com:@{[$e->port]}/mended" });
$e->wait(1, path => '/mended');
ok($mend->done, 'a better URL is taken at the next attempt');

# deleted: what is open ends, and acknowledges

my $d = $p->subscribe(batchSize => 1, maxConcurrency => 2);

$d->on({ hold => 'deleted' }, { hold => 'deleted', status => 500 },
       { hold => 'deleted' });
$d->send(map { "d$_" } 1 .. 4);
$d->wait(2);
$d->delete;
is($p->client->get($d->{at})->{status}, 404, 'it is gone');
$e->release('deleted', always => 1);
ok(wait_for(sub { $d->counts =~ /^2 [01] 0/ && $d->counts ne '2 2 0' }, 5),
   'an open delivery acknowledges') or diag($d->counts);
ok($d->quiet(0.5), 'no other begins');

my $next = $p->subscribe(queue => $d->queue, batchSize => 10);

isnt($next->is('subscription'), $d->is('subscription'), 'a new one');
$next->wait_messages(3);
ok($next->quiet(0.2), 'has what is left, and what has failed');
is($next->verify($next->requests), '', 'signed by its own secret');

# the queue is deleted: its subscription goes with it

my $q = $p->subscribe(batchSize => 1);

$q->on({ hold => 'queue' });
$q->send('a', 'b');
$q->wait(2);
is($p->client->delete($q->queue->path)->{status}, 204, 'a queue is deleted');
is($p->client->get($q->{at})->{status}, 404, 'its subscription with it');
$e->release('queue', always => 1);
wait_for { !$q->open };

# so are a queue's messages, by a purge

my $purged = $p->subscribe(batchSize => 1, maxConcurrency => 1);

$purged->on({ hold => 'purged' }, {});
$purged->send('a', 'b');
$purged->wait(1);
is($purged->queue->post('/purge')->{status}, 202, 'a queue is purged');
$e->release('purged');
$purged->send('c');
$purged->wait(2);
is($purged->bodies(($purged->requests)[-1]), 'c', 'and goes on');
ok($purged->done, 'with nothing else');

# secrets: during the traffic, on two workers

my $rot = $p->subscribe(batchSize => 1, maxConcurrency => 5);

traffic($rot, 0.2);
is($rot->verify($rot->requests), '', 'one secret');

my $before = $rot->requests;

$is = $rot->rotate;
like($is->{signingSecret}, qr/^whsec_[A-Za-z0-9]{43}\z/, 'another secret');
isnt($is->{signingSecret}, ($rot->secrets)[1], 'which is new');
is($rot->get->{signingSecret}, undef, 'told once');

my %rotated = map { $_ => 1 } traffic($rot, 0.3);

ok($rot->done, 'none is lost');

my @old = ($rot->secrets)[1];
my @wrong;

for my $r (($rot->requests)[$before .. $rot->requests - 1]) {
    next if !$rot->verify($r);

    push @wrong, $rot->verify($r)
        if $rotated{ $r->{json}{messages}[0]{messageId} }
           || $rot->verify(secrets => [@old], $r);
}

is("@wrong", '', 'deliveries are signed by both from the rotation on');

# a message that was first sent before a rotation

my $retry = $p->subscribe(queue => { visibilityTimeoutSeconds => 1 });

$retry->on({ status => 500 }, {});
$retry->send('x');
$retry->wait(1);
is($retry->verify($retry->requests), '', 'signed before a rotation');
$retry->rotate;
$retry->wait(2);
is($retry->verify(($retry->requests)[1]), '', 'and anew after it');

# again and again: four at most, the oldest one goes

for my $n (3, 4, 4, 4) {
    $rot->rotate;
    splice @{ $rot->{secrets} }, $n;
    $before = $rot->requests;
    $rot->send('x');
    $rot->wait($before + 1);
    is($rot->verify(($rot->requests)[-1]), '', "$n secrets");
}

# the end of the old ones, 24 hours later: as the time cannot be changed, their
# end is

my $redis = $rot->queue->redis;
my $key = $rot->queue->root . ':s:' . $rot->is('subscription') =~ s/^qsb_//r;
my @sec = split / /, $redis->call('HGET', $key, 'sec');

is(scalar @sec, 8, 'four secrets are kept');
is($sec[0], 0, 'the current one has no end');

for my $i (1 .. 3) {
    cmp_ok(abs($sec[2 * $i] - time - 86400), '<', 60, 'the others in a day');
}

$sec[2] = $sec[4] = int(time) + 2;
$sec[6] = int(time) - 1;
$redis->call('HSET', $key, 'sec', "@sec");
$redis->call('HINCRBY', $key, 'ver', 1);
$before = $rot->requests;
$rot->send('x');
$rot->wait($before + 1);

my @s = $rot->secrets;

is($rot->verify(secrets => [@s[0 .. 2]], ($rot->requests)[-1]), '',
   'one has ended');
wait_for { time >= $sec[2] + 0.1 } 5;
$rot->send('x');
$rot->wait($before + 2);
is($rot->verify(secrets => [$s[0]], ($rot->requests)[-1]), '',
   'then all old ones have');
$rot->{secrets} = [$s[0]];
$rot->rotate;
@sec = split / /, $redis->call('HGET', $key, 'sec');
is(scalar @sec, 4, 'a rotation forgets those that have ended');

$p->finish;

done_testing;
