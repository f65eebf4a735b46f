#!/usr/bin/perl

# Who delivers: workers and nodes that come, reload and die, and a Redis that
# does. No message is lost, and no subscription has more deliveries open than it
# may, whoever has it.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw/time sleep/;

use NgxQueues::Process 'gone';
use NgxQueues::Push;
use NgxQueues::Wait;

my $p = NgxQueues::Push->new(workers => 2, redis => { aof => 1 });
my $e = $p->endpoint;
my $redis = $p->server->redis;
my @nodes = ($p->server);

# a short visibility timeout does not help where a delivery has died: its
# messages are hidden for its timeout and 30 seconds more

my @s = map {
    $p->subscribe(batchSize => 2, maxConcurrency => 3, timeoutSeconds => 5,
                  queue => { visibilityTimeoutSeconds => 1 })
} 1 .. 8;

$e->on('*', { delay => 0.05 });

my %sent;

# messages for all, for so many seconds and until something is true

sub traffic {
    my ($seconds, $until) = @_;

    my $begin = time;

    while (1) {
        for my $s (@s) {
            my $body = 'm' . keys %sent;
            my $client = $nodes[rand @nodes]->client;
            my $r = $client->post($s->queue->path('/messages'),
                                  { body => $body });

            $sent{$body} = 1 if $r->{status} == 201;
        }

        my $true = !$until || $until->();

        return 1 if $true && time > $begin + $seconds;
        return 0 if time > $begin + $seconds + scaled(30);

        sleep 0.05;
    }
}

# a delivery to each subscription that began after this moment

sub all_since {
    my ($since) = @_;

    my %paths = map { $_->{path} => 1 } grep { $_->{time} > $since }
        $e->requests;

    return !grep { !$paths{ $_->path } } @s;
}

# where somebody has died, when leases have ended; else earlier than that

sub goes_on {
    my ($name, %o) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $since = time;

    ok(traffic(0.5, sub { all_since($since) }), "$name: all go on")
        or diag('some do not');

    my $took = time - $since;

    cmp_ok($took, '<', scaled(6), "$name: soon") if !$o{dead};
    note(sprintf '%s: %.1f s', $name, $took);
    is((grep { $_->most > 3 } @s), 0, "$name: never more than maxConcurrency")
        or diag(map { $_->path . ' ' . $_->most . "\n" } @s);
}

goes_on('at first');

# both workers have a part of them

sub owners {
    my $r = $redis->client;
    my %owners;

    for my $s (@s) {
        my $key = $s->queue->root . ':s:' . $s->is('subscription') =~ s/^qsb_//r;

        $owners{ $r->call('HGET', $key, 'o') // '' }++;
    }

    return join ' ', sort { $a <=> $b } values %owners;
}

ok(wait_for(sub { owners() eq '4 4' }), 'each worker has its half')
    or diag(owners());

# reloads: nothing is delivered twice for them, groups keep their order, and
# what is open ends in its own time

my $open = $p->subscribe(maxConcurrency => 1, batchSize => 1);
my $fifo = $p->subscribe(batchSize => 3, maxConcurrency => 3,
                         queue => { kind => 'fifo' });
my $n = 0;

sub ordered {
    $fifo->send(map { { groupId => "g$_", body => 'n' . ++$n,
                        deduplicationId => "d$n" } } 1 .. 5) for 1 .. 4;
}

$open->on({ hold => 'reload' }, {});
$open->send('a', 'b');
$open->wait(1);
ordered();

for (1 .. 2) {
    $p->server->reload;
    ordered();
    goes_on("reload $_");
}

is(scalar @{ [$open->requests] }, 1, 'an open delivery is its only one still');
$e->release('reload');
ok($open->done, 'and is acknowledged when it ends');
is($open->bodies, 'a b', 'once');
ok($fifo->done, 'all of the groups');

for my $group (1 .. 5) {
    is(join(' ', map { $_->{seq} } grep { $_->{groupId} eq "g$group" }
                 $fifo->messages), "@{[1 .. 12]}", "the group $group in order");
}

ok(wait_for(sub { $p->server->worker_pids(all => 1) == 2 }),
   'the old workers are gone');
is((grep { $_->{receiveCount} > 1 } $e->messages), 0,
   'reloads deliver nothing twice');
$_->delete for $open, $fifo;

# another node

push @nodes, my $node = $p->node(workers => 2);

ok(wait_for(sub { traffic(0); owners() eq '2 2 2 2' }),
   'a new node takes its part') or diag(owners());
goes_on('another node');

# a node dies, and a worker of the other one: all that is left is one worker, and
# one that has just begun; what they were delivering is taken for later

pop @nodes;
$node->kill;
$p->server->kill_worker;
goes_on('a dead node and a dead worker', dead => 1);
ok(wait_for(sub { traffic(0); owners() eq '4 4' }), 'the other has all')
    or diag(owners());

# a node that ends in order leaves at once

push @nodes, $node = $p->node(workers => 1);
ok(wait_for(sub { traffic(0); owners() eq '2 3 3' }), 'one more')
    or diag(owners());
pop @nodes;
ok($node->quit(20), 'it ends');
goes_on('a node that has ended');

# Redis dies, while deliveries are open; some of them end while it is away

my $answered = $p->subscribe;

$answered->on({ hold => 'outage' });
$answered->send('x');
$answered->wait(1);
$e->on('*', { delay => 0.7 });
traffic(0.3);
$redis->written;
$redis->kill;
$e->release('outage');
sleep 0.5;
$redis->start;
$e->on('*', { delay => 0.02 });

wait_for { $p->client->get($s[0]->queue->path)->{status} == 200 };
delete $_->{queue}{redis} for @s;
goes_on('Redis died', dead => 1);
ok($answered->done, 'what was answered meanwhile is acknowledged')
    or diag($answered->counts);
is(scalar @{ [$answered->requests] }, 1, 'and not delivered again');

# all that was stored comes; those whose delivery has died are made to

sub missing {
    my %got = map { $_->{body} => 1 } $e->messages;

    return grep { !$got{$_} } keys %sent;
}

sub left { grep { $_->counts ne '0 0 0' } @s }

wait_for { !missing() && !grep { $_->counts !~ /^0 \d+ 0/ } @s } 10;
$_->hurry for @s;
ok(wait_for(sub { !left() }), 'all is acknowledged')
    or diag(map { $_->path . ': ' . $_->counts . "\n" } left());
is(join(' ', missing()), '', 'nothing is lost');

# as many at once as may be, where there is enough for it

for my $s (@s) {
    $s->on({ hold => 'most' });
    $s->send(map { "most $_" } 1 .. 8);
}

ok(wait_for(sub { $_->most >= 3 }), 'as many at once as may be') for @s;
$e->release('most', always => 1);
ok($_->done, 'all of it is acknowledged') for @s;
is($_->most, 3, 'and never more') for @s;
is($s[0]->verify($e->requests('/s1')), '', 'all are signed');

my %ids;

$ids{ $_->{headers}{'ezgh-delivery-id'} }++ for $e->requests;
is((grep { $_ > 1 } values %ids), 0, 'no delivery came twice');
note(scalar(keys %sent) . ' messages, ' . scalar(@{ [$e->messages] })
     . ' deliveries of them');

$node->finish(name => 'a node that has ended');
$p->finish;

done_testing;
