#!/usr/bin/perl

# Reload, quit, and the death of a worker, with receives that wait: they end
# early and empty, no message is lost, and nothing stays behind.

use strict;
use warnings;

use List::Util 'min';
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(workers => 2);
my $c = $s->client;
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);

# receives that wait, each on a connection of its own

sub park_all {
    my ($n) = @_;

    my $calls = $q->calls;
    my @h = map { $q->park(fresh => 1) } 1 .. $n;

    wait_for { $q->calls >= $calls + $n } or die "not all wait\n";

    return @h;
}

my @ends;

sub end_early {
    my ($name, @h) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $begin = time;
    my @r = $c->wait_all(\@h, 25);

    is((grep { $_->{status} == 200 && $_->{body} eq '{"messages":[]}' } @r),
       scalar @h, "$name: all receives end, empty");
    push @ends, time - $begin;
    cmp_ok($ends[-1], '<', 15, "$name: long before they had to");
    is((grep { ($_->{headers}{connection} // '') ne 'close' } @r), 0,
       "$name: and say that the connection ends");
}

# reloads, each with its own

for my $turn (1 .. 5) {
    my @h = park_all(100);

    $s->reload;
    end_early("reload $turn", @h);
}

# how soon, is seen where a busy machine was least in the way

cmp_ok(min(@ends), '<', scaled(2), 'soon') or diag("@ends");

# keep-alive connections of the old workers are closed, new ones are served

is($c->get($q->path)->{status}, 200, 'a request after it');

# the old workers leave, whoever is connected to them

my @h = park_all(20);

$s->reload(drained => 20);
end_early('drained', @h);
is(scalar($s->worker_pids(all => 1)), 2, 'the old workers are gone');

# reloads in the middle of traffic: what was sent is received, once

my (%sent, %got);
my $errors = 0;

for my $turn (1 .. 4) {
    my @receives = map { $q->park(fresh => 1, maxMessages => 10) } 1 .. 20;
    my @sends = map {
        my $body = "turn $turn.$_";
        $sent{$body} = 1;
        $c->start(POST => $q->path('/messages'), { body => $body }, fresh => 1)
    } 1 .. 40;

    $s->reload if $turn % 2;
    $s->signal('HUP') if $turn % 2 == 0;

    for my $r ($c->wait_all(\@sends, 20)) {
        $errors++ if $r->{status} != 201;
    }

    my $done = wait_for {
        $c->wait_any([grep { !$_->{done} } @receives], 0.05);
        my $n = grep { $_->{done} } @receives;
        $n == @receives || $q->counts =~ /^0 /
    } 10;

    $s->reload;

    for my $r ($c->wait_all(\@receives, 20)) {
        $errors++ if $r->{status} != 200;
        $got{ $_->{body} }++ for @{ $r->{json}{messages} || [] };
    }
}

$got{ $_->{body} }++ for $q->drain;

is($errors, 0, 'no request fails');
is(join(',', sort keys %got), join(',', sort keys %sent),
   'every message is received');
is((grep { $_ != 1 } values %got), 0, 'once');

# another configuration: the location is gone, and comes back

my @before = park_all(10);
$s->configure(api => 'return 404;');
$s->reload;
end_early('a location that is removed', @before);
is($s->client->get($q->path)->{body} =~ /json/ ? 1 : 0, 0, 'it is gone');
$s->configure(api => 'queues_api;', workers => 3);
$s->reload(drained => 20);
is($s->client->get($q->path)->{status}, 200, 'it is back');
is(scalar($s->worker_pids), 3, 'with another worker');

# Redis moves: the new workers use another one

my $elsewhere = NgxQueues::RedisServer->new;
my $first = $s->redis;

$s->configure(redis => $elsewhere);
$s->reload(drained => 20);
is($s->client->get($q->path)->{status}, 404, 'another Redis has no queue');
$s->configure(redis => $first);
$s->reload(drained => 20);
is($s->client->get($q->path)->{status}, 200, 'and the first one has');
is(join("\n", $elsewhere->check), '', 'nothing is wrong there');

# a worker is killed: who waited there is cut off, the others are not

@h = park_all(60);
$s->kill_worker;
wait_for { $c->wait_any([grep { !$_->{done} } @h], 0.1); grep { $_->{done} } @h };

my @cut = grep { $_->{done} } @h;
my @left = grep { !$_->{done} } @h;

cmp_ok(scalar(@left), '>', 0, 'some wait on');
is((grep { $_->result->{status} } @cut), 0, 'those who do not have no answer');
$q->send({ at => $s->client }, map { "k$_" } 1 .. @left);

my @r = $c->wait_all(\@left, 10);

is((grep { @{ $_->{json}{messages} || [] } == 1 } @r), scalar @left,
   'each of the others gets a message');
is((grep { $_->{receiveCount} != 1 } map { @{ $_->{json}{messages} || [] } } @r),
   0, 'for the first time');

# quit: the same as a reload, and nginx is gone

@h = park_all(60);

$s->signal('QUIT');
end_early('quit', @h);
ok(wait_for(sub { NgxQueues::Process::gone($s->pid) }, 15), 'nginx has ended');
$s->start;
is($s->client->get($q->path)->{status}, 200, 'and starts again');

# stopped hard, in the middle of waits: nothing is lost

@h = park_all(20);
ok($s->terminate, 'terminated');
$s->start;
is((split ' ', $q->counts)[0], 0, 'no message has come back');

$s->finish;

done_testing;
