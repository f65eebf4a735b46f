#!/usr/bin/perl

# Deliveries and clients take every connection of a worker: what cannot be sent
# waits, is no failure, and goes on when there are connections again.

use strict;
use warnings;

use IO::Socket::INET;
use Test::More;
use Time::HiRes 'sleep';

use NgxQueues::Push;
use NgxQueues::Wait;

my $p = NgxQueues::Push->new(connections => 24);
my $e = $p->endpoint;
my $redis = $p->server->redis;
my @s = map { $p->subscribe(batchSize => 1, maxConcurrency => 10) } 1 .. 4;

# deliveries alone: fewer at once than they may be

$e->on('*', { delay => 0.5 });
$_->send(map { "m$_" } 1 .. 20) for @s;
ok(wait_for(sub { $e->messages >= 20 }, 10), 'they begin');

my $before = $redis->calls('fcall');

sleep scaled(1);
cmp_ok($redis->calls('fcall') - $before, '<', 200, 'and Redis is not besieged');
$e->on('*', {});
ok($_->done(10), $_->path . ' has all') for @s;

# clients have them, which say nothing, when messages become visible

$_->send({ body => 'later', delaySeconds => 1 }) for @s;

my @crowd = map {
    my $h = $p->server->client->connect;
    $h->write("POST / HTTP/1.1\r\nHost: a\r\nX: ");
    $h;
} 1 .. 60;

ok(wait_for(sub {
    $p->server->error_log =~ /worker_connections are not enough/
}, 5), 'no connection is free');

$before = $redis->calls('fcall');
sleep 2.5;
cmp_ok($redis->calls('fcall') - $before, '<', 100, 'and little is asked for');
@crowd = ();
ok(wait_for(sub { eval { $s[0]->counts } }, 10), 'they are gone');
ok($_->done(10), $_->path . ' goes on') for @s;

is((grep { $_->{receiveCount} > 1 } $e->messages), 0, 'nothing came twice');
is(join(' ', map { $_->last_error } @s) =~ s/ //gr, '', 'and nothing failed');

# connections that are only kept, for the next delivery to there, give way: to
# deliveries elsewhere, and to clients

my $few = NgxQueues::Push->new(connections => 24);

for my $n (1 .. 40) {
    my $s = $few->subscribe(host => "h$n.example.com");

    $s->send('x');
    $s->done(2) or fail("$n has none");
}

is(scalar @{ [$few->endpoint->requests] }, 40, 'one after another');
unlike($few->server->error_log, qr/worker_connections are not enough$/m,
       'no client is sent away');
$few->finish(name => 'few connections');

# An endpoint that never gets to an answer is connected to by few at once, while
# others have as many as they may.

my $deaf = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 64)
    or die "listen: $!";

my $quiet = NgxQueues::Push->new(
    push => 'queues_push_allow_port ' . $deaf->sockport . ';');
my $none = $quiet->subscribe(batchSize => 1, maxConcurrency => 40,
                             port => $deaf->sockport, timeoutSeconds => 30);
my $wide = $quiet->subscribe(batchSize => 1, maxConcurrency => 8);

sub connected {
    my @some;

    $deaf->blocking(0);

    while (my $c = $deaf->accept) { push @some, $c }

    return @some;
}

my @deaf;

$none->send(map { "m$_" } 1 .. 20);
ok(wait_for(sub { push @deaf, connected(); @deaf >= 2 }, 10),
   'it is connected to');
$wide->on({ hold => 'all' });
$wide->send(map { "m$_" } 1 .. 8);
ok(wait_for(sub { $wide->open == 8 }, 10), 'another has as many as it may');
push @deaf, connected();
is(scalar @deaf, 2, 'and by two only');
$quiet->endpoint->release('all');
ok($wide->done(10), 'which has all');
push @deaf, connected();
is(scalar @deaf, 2, 'and still');
undef $deaf;
@deaf = ();
$none->delete;
$quiet->finish;

$p->server->finish(allow => [
    qr/worker_connections are not enough(?: while delivering to "[^"]*")?\z/
]);

done_testing;
