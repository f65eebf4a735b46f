#!/usr/bin/perl

# Subscriptions of Pub/Sub that are pushed, pulled and pushed again, deleted,
# detached; and what workers that reload, quit or die leave of it.

use strict;
use warnings;

use JSON::PP ();
use MIME::Base64 'encode_base64';
use Test::More;
use Time::HiRes 'time';

use NgxQueues::PubsubPush;
use NgxQueues::Wait;

my $p = NgxQueues::PubsubPush->new(workers => 2);
my $api = $p->api;
my $true = JSON::PP::true;
$api->topic('dead');

# with it the number of attempts is told

sub policy {
    return deadLetterPolicy => { deadLetterTopic => 'dead',
                                 maxDeliveryAttempts => 100 };
}

sub b64 { encode_base64($_[0], '') }
sub attempts { join ' ', map { $_->{json}{deliveryAttempt} } @_ }

# pull to push: the backlog, its order and the attempts

my $s = $p->subscribe(push => 0, enableMessageOrdering => $true, policy());

$s->{config} = { pushEndpoint => $s->url };
$s->publish(map { { data => b64($_), orderingKey => 'k' } } 1 .. 5);

my ($m) = $s->pull(1);

is($m->{deliveryAttempt}, 1, 'pulled');
$api->modify($s->name, 0, $m);
ok($s->quiet(0.3), 'nothing is pushed');

$s->configure;

my @r = $s->wait(5, answered => 1);

is($s->data(@r), '1 2 3 4 5', 'pull to push: what was there, in its order');
is(attempts(@r), '2 1 1 1 1', 'and its attempts');
ok($s->done(5), 'it is acknowledged');

# push to pull, while it fails

$s->on({ status => 500 });
$s->publish(map { { data => b64($_), orderingKey => 'k' } } 6 .. 8);
$s->wait(5 + 3, answered => 1);
$s->to_pull;
ok($s->quiet(1), 'push to pull: nothing is pushed');

my @m;

ok(wait_for(sub { push @m, $s->pull(10); @m == 3 }, 10), 'all are there');
is(NgxQueues::Pubsub::data(@m), '6 7 8', 'in order');
cmp_ok($m[0]{deliveryAttempt}, '>=', 4, 'and the attempts go on');
is($m[1]{deliveryAttempt}, 1, 'the others had none');
$api->ack($s->name, @m);
ok($s->done(5), 'they are acknowledged');

# and back, with new ones

$s->on({});
$s->publish({ data => b64('9'), orderingKey => 'k' });
$s->configure;
@r = $s->requests;
@r = $s->wait(@r + 1) if $s->data($r[-1]) ne '9';
is($s->data($r[-1]), '9', 'and pushed again');
ok($s->done(5), 'and acknowledged');

my $on_push = $api->call($s->name, 'pull', { maxMessages => 1,
                                             returnImmediately => $true });

is($on_push->{status}, 400, 'no pull of what is pushed');
is($on_push->{json}{error}{status}, 'FAILED_PRECONDITION', 'it says so');

# while a delivery is open: it ends as it ends

my $open = $p->subscribe(policy());

$open->on({ hold => 'open' }, {});
$open->publish('a');
$open->wait(1);
$open->to_pull;
is(scalar(@{[ $open->pull(10) ]}), 0, 'open at the endpoint: not to be pulled');
$p->plain->release('open');
ok($open->done(5), 'its answer acknowledges it');

$open->configure;
$open->on({ hold => 'open', status => 500 }, {});
$open->publish('b');
$open->wait(2);
$open->to_pull;
$p->plain->release('open');
ok(wait_for(sub { @m = $open->pull(10) }, 10), 'its failure gives it to pulls');
is($m[0]{deliveryAttempt}, 2, 'as the second attempt');
$api->ack($open->name, @m);

# again and again

my $many = $p->subscribe(enableMessageOrdering => $true);
my @pulled;

$many->on({ delay => 0.005 });

for my $round (1 .. 10) {
    $many->publish(map { { data => b64("$round.$_"), orderingKey => "k" . $_ % 4 } }
                   1 .. 20);

    if ($round % 2) {
        $many->to_pull;

        my @got = $many->pull(7);

        $api->ack($many->name, @got) if @got;
        push @pulled, split / /, NgxQueues::Pubsub::data(@got);

    } else {
        $many->configure;
    }
}

ok($many->done(20), 'switched ten times: all are acknowledged');

my %times;

$times{$_}++ for @pulled, split / /, $many->data;

is(scalar(keys %times), 200, 'none is lost');
is((grep { $_ != 1 } values %times), 0, 'each came once');

# deleted and detached

my $deleted = $p->subscribe;
my $detached = $p->subscribe;

for my $s ($deleted, $detached) {
    $s->on({ status => 500 });
    $s->publish('x');
    $s->wait(2, answered => 1);
}

$deleted->delete;
ok($deleted->quiet(1.5), 'deleted: nothing is pushed');
$detached->detach;
ok($detached->quiet(1.5), 'detached: nothing is pushed');
$api->publish($detached->topic, 'y');
ok($detached->quiet(0.5), 'nor what is published later');

# the topic is gone: what is there is pushed

my $orphan = $p->subscribe;

$orphan->on({ status => 500 }, {});
$orphan->publish('x');
$orphan->wait(1);
$api->delete('topics', $orphan->topic);
$orphan->wait(2);
ok($orphan->done(5), 'without its topic a subscription goes on');

# a reload: nothing is lost, nothing comes twice

my $reload = $p->subscribe(enableMessageOrdering => $true);

$reload->on({ delay => 0.02 });

for my $round (1 .. 3) {
    $reload->publish(map { { data => b64("$round.$_"), orderingKey => "k" . $_ % 8 } }
                     1 .. 80);
    $p->server->reload(drained => 20);
}

ok($reload->done(30), 'reloads: all are acknowledged');
%times = ();
$times{$_}++ for split / /, $reload->data;
is(scalar(keys %times), 240, 'all came');
is((grep { $_ != 1 } values %times), 0, 'once');

# a worker dies: what it had open comes again, in order

my @killed = map { $p->subscribe(ackDeadlineSeconds => 10,
                                 enableMessageOrdering => $true, policy()) }
    1 .. 2;

for my $s (@killed) {
    $s->on({ hold => 'killed' }, {});
    $s->publish(map { { data => b64($_), orderingKey => 'k' } } 1 .. 3);
    $s->wait(1);
}

my @workers = $p->server->worker_pids;

$p->server->kill_worker($_) for @workers;
$p->plain->release('killed', always => 1);

for my $s (@killed) {
    @r = $s->wait(4, seconds => 60);
    is($s->data(@r), '1 1 2 3', 'a worker has died: its message first');
    is(attempts(@r), '1 2 1 1', 'as its second attempt');
    ok($s->done(5), 'all are acknowledged');
}

$p->finish;

done_testing;
