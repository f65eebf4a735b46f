#!/usr/bin/perl

# The registry of projects: workers note there when each has something due, and
# whoever is left finds what others have left. Nothing is asked of a project
# where nothing is due.

use strict;
use warnings;

use IO::Socket::INET;
use Test::More;
use Time::HiRes qw/time sleep/;

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $key = 'ngxq:projects';
my $s = NgxQueues::Server->new(workers => 2);
my $redis = $s->redis->client;

# calls of functions that Redis has seen since watch(): by name, the keys

sub watch {
    my $m = $s->redis->client;

    $m->call('MONITOR');

    return $m;
}

sub seen {
    my ($m) = @_;

    my %calls;

    while (my $line = $m->poll(0.1)) {
        push @{ $calls{$2} }, [$1, $3] if $line
            =~ /^\+?(\d+\.\d+) .*\] "FCALL" "ngxq_[0-9a-f]+_(\w+)" "1" "([^"]+)"/;
    }

    return \%calls;
}

# a queue with a dead-letter queue, in a project of its own

my $serial = 0;

sub pair {
    my ($server, %settings) = @_;

    my $project = 'o/x' . ++$serial;
    my $c = $server->client;
    my $dead = NgxQueues::Queue->new($server, client => $c,
                                     project => $project);

    return (NgxQueues::Queue->new($server, client => $c, project => $project,
        %settings, redrivePolicy => {
            deadLetterQueueId => $dead->is('queueId'), maxReceiveCount => 1
        }),
        $dead);
}

sub stored {
    my ($q) = @_;

    return $redis->call('XLEN', $q->key =~ s/:h:/:m:/r . ':1');
}

# s from now at which a project is to be looked after, as noted

sub left {
    my ($q) = @_;
    my $score = $redis->call('ZSCORE', $key, $q->root) // return undef;

    return $score / 1000 - time;
}

# when its one message came, as Redis' clock has it

sub came {
    my ($q) = @_;
    my ($entry) = @{ $redis->call('XRANGE', $q->key =~ s/:h:/:m:/r . ':1', '-',
                                  '+') };

    return $entry ? ($entry->[0] =~ s/-.*//r) / 1000 : undef;
}

sub between {
    my ($n, $from, $to, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    ok(defined $n && $n >= $from && $n <= $to, $name)
        or diag($n // 'undefined');
}

# a moment is noted at once, then as it is; where nothing is to come, none

my ($q, $dead) = pair($s);

$q->send('a');
between(left($q), 0, 1.3, 'noted with the answer, or right after it')
    if wait_for { defined left($q) };
ok(wait_for(sub { left($q) > 86000 }), 'then with the end of its retention');
my ($m) = $q->receive(visibilityTimeoutSeconds => 4);
ok(wait_for(sub { left($q) < 5 }, 2), 'a receive: noted anew');
ok(wait_for(sub { my $n = left($q); $n > 1.3 && $n < 3.5 }, 5),
   'then with the end of its visibility');
$q->ack($m);
ok(wait_for(sub { !defined left($q) }, 5), 'nothing is left to come');

# it is lost

$q->send('b');
ok(wait_for(sub { (left($q) // 0) > 86000 }, 5), 'noted');
$redis->call('DEL', $key);
$q->receive(visibilityTimeoutSeconds => 60);
ok(wait_for(sub { defined left($q) }, 5), 'the registry is lost: noted again');

# idle projects that have messages, two nodes

my $node = NgxQueues::Server->new(node_of => $s, workers => 2);
my @nodes = ($s, $node);

for (1 .. 50) {
    my ($q) = pair($nodes[$_ % 2]);

    $q->send(map { "m$_" } 1 .. 3);
    $q->receive(visibilityTimeoutSeconds => 600, maxMessages => 2);
}

# and ten thousand of nobody

my $far = int(time * 1000) + 600000;

$redis->call('ZADD', $key, map { ($far + $_, "ngxq:{far/p$_}") }
    $_ * 1000 .. $_ * 1000 + 999) for 0 .. 9;
sleep scaled(5);

my $monitor = watch();

sleep 12;

my $seen = seen($monitor);

is($seen->{maintain}, undef, 'idle: no call for any project, in 12 s');
is($seen->{project_note}, undef, 'idle: nothing to note');
between(scalar @{ $seen->{project_due} || [] }, 4, 6,
        'idle: two nodes look at the registry, each once in 5 s');
is($redis->call('ZCARD', $key), 10051, 'all are in the registry');

# a node dies right after the receive; the other one has never seen the project

my $third = NgxQueues::Server->new(node_of => $s, workers => 2);

($q, $dead) = pair($third);
$q->send('left alone');
$q->receive(visibilityTimeoutSeconds => 2);

my $moment = time + 2;

$third->kill;
ok(wait_for(sub { came($dead) }, 12), 'a node dies: another one does its work');
between(came($dead) - $moment, -0.1, 8, 'in time');

# the same, when all was noted as it is

$third->start;
($q, $dead) = pair($third);
$q->send('left alone');
$q->receive(visibilityTimeoutSeconds => 9);
$moment = time + 9;
ok(wait_for(sub { (left($q) // 0) > 6.5 }, 3), 'the moment is noted');
$third->kill;
ok(wait_for(sub { came($dead) }, 20), 'a moment that is far when a node dies');
between(came($dead) - $moment, -0.1, 3.5, 'not more than some seconds late');

# a reload

$node->quit;
($q, $dead) = pair($s);
$q->send('kept');
$q->receive(visibilityTimeoutSeconds => 8);
$moment = time + 8;
$s->reload(drained => 20);
ok(wait_for(sub { came($dead) }, 20), 'a reload');
between(came($dead) - $moment, -0.1, 3.5, 'the moment is kept');

# a worker that leaves makes something due; no other one knows of it

($q, $dead) = pair($s);

my $body = '{"messages":[{"body":"slow"}]}';
my $slow = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $s->port);

syswrite $slow, 'POST ' . $q->path('/messages') . " HTTP/1.1\r\nHost: h\r\n"
    . 'Authorization: Bearer ' . $s->key . "\r\nContent-Length: "
    . length($body) . "\r\nContent-Type: application/json\r\n\r\n"
    . substr $body, 0, 9;
ok(wait_for(sub { !defined left($q) }), 'nothing is due yet');
$s->reload;
syswrite $slow, substr $body, 9;
sysread $slow, my $answer, 65536;
like($answer, qr/^HTTP\/1.1 201 /, 'the last call of a worker');
ok(wait_for(sub { defined left($q) }), 'is noted');
ok(wait_for(sub { left($q) > 3600 }, 12), 'and others have looked after it');
close $slow;

# many late projects: nobody knows why. Some of them fail, before all others;
# the one with something to do is the last one

($q, $dead) = pair($s);
$q->send('hidden');
$q->receive(visibilityTimeoutSeconds => 1);
ok($s->quit, 'nginx is down');
sleep 1.2;

my @failing = map { "ngxq:{fails/p$_}" } 1 .. 250;
my @many = map { "ngxq:{many/p$_}" } 1 .. 2000;

$redis->call('SET', "$_:t", 'no agenda') for @failing;
$redis->call('ZADD', $key, map { (1, $_) } @failing);
$redis->call('ZADD', $key, map { (1000, $_) } @many);
$redis->call('ZADD', $key, 2000, $q->root);
$monitor = watch();

my $begin = time;

$s->start;
ok(wait_for(sub { stored($dead) }, 30), 'many are late: none is hidden');
ok(wait_for(sub {
    !grep { defined } @{ $redis->call('ZMSCORE', $key, @many) }
}, 30), 'all are worked off');

my $took = time - $begin;

$seen = seen($monitor);

my %n;

$n{$_->[1]}++ for @{ $seen->{maintain} };

is((grep { !$n{$_} } @many), 0, 'each has been called for');
cmp_ok((grep { $n{$_} > 2 } @many), '<', 20, 'and hardly more than once');
cmp_ok(scalar @{ $seen->{maintain} } / $took, '<', 700, 'at a bounded rate');
cmp_ok((grep { ($n{$_} // 0) > $took / 2 + 3 } @failing), '==', 0,
       'what fails is tried less and less often');
ok(wait_for(sub {
    !grep { $_ < $begin * 1000 } @{ $redis->call('ZMSCORE', $key, @failing) }
}, 20), 'and noted with the next try');
$redis->call('ZREM', $key, map { "ngxq:{far/p$_}" }
    $_ * 1000 .. $_ * 1000 + 999) for 0 .. 9;

$redis->call('DEL', map { "$_:t" } @failing);

$node->finish;
$s->finish(allow => [qr/function failed in Redis: "WRONGTYPE/]);

done_testing;
