#!/usr/bin/perl

# Clients take every connection of a worker: what the module has goes on, a
# link that is lost meanwhile is made anew when there is one again, and no
# connection stays taken. The same for receives that wait.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw/sleep time/;

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(connections => 64,
    server => 'location = /status { stub_status; }');
my $c = $s->client;
my $q = NgxQueues::Queue->new($s, client => $c,
                              visibilityTimeoutSeconds => 60);

sub connections {
    my ($n) = ($c->get('/status', close => 1)->{body} // '')
        =~ /Active connections: (\d+)/;

    return $n // 1000;
}

sub links { () = $s->redis->cli(qw/CLIENT LIST/) =~ /name=ngx_queues-/g }

my $before = connections();

is(links(), 2, 'two links');

# more clients than there are connections, which say nothing: nginx would close
# those that are idle, but not these, which have begun

sub crowd {
    my ($n) = @_;

    return map {
        my $h = $s->client->connect;
        $h->write("POST / HTTP/1.1\r\nHost: a\r\nX: ");
        $h;
    } 1 .. $n;
}

my $path = $q->path('/messages/receive');

for my $turn (1 .. 3) {
    my $h = $q->park(fresh => 1, waitSeconds => 20);

    $q->parked;
    $c->{idle} = [];

    my @crowd = crowd(200);

    ok(wait_for(sub { $s->error_log =~ /worker_connections are not enough/ },
                5), "$turn: no connection is free");

    # the links are lost, and cannot be made

    $s->redis->client->call(qw/CLIENT KILL TYPE/, $_) for qw/normal pubsub/;
    sleep 1;

    $_->reset for @crowd;
    ok(wait_for(sub { links() == 2 }, 5), "$turn: the links are back");
    delete $q->{redis};
    $q->send({ at => $s->client }, "turn $turn");
    $c->wait_all([$h], scaled(5));
    is($h->result->{json}{messages}[0]{body}, "turn $turn",
       "$turn: a wait outlasts it");
}

$c->{idle} = [];
wait_for { connections() <= $before };
cmp_ok(connections(), '<=', $before, 'connections are as many as before');

# receives that wait take them all; each that ends lets another one in

my @parked = map { $q->park(fresh => 1, waitSeconds => 3) } 1 .. 200;
my @r = $c->wait_all(\@parked, scaled(25));
my %status;

$status{$_->{status}}++ for @r;
cmp_ok($status{200} // 0, '>=', 50, 'as many wait as there is room for');
is((grep { $_ != 200 && $_ != 0 } keys %status), 0,
   'the others get no connection, or a turn')
    or diag(explain(\%status));
$c->{idle} = [];
$_->close for @parked;
wait_for { connections() <= $before };
cmp_ok(connections(), '<=', $before, 'connections are as many as before');
is($q->counts, '0 3 0', 'and no message is lost');
is(links(), 2, 'two links');
$c->{idle} = [];

# reload while there is none

my @crowd = crowd(200);

$s->reload;
$_->reset for @crowd;
ok(wait_for(sub { $s->worker_pids(all => 1) == 1 }, 15),
   'a reload without a free connection: the old worker leaves');
is($s->client->get($q->path)->{status}, 200, 'the new one serves');
wait_for { links() == 2 };
is(links(), 2, 'with links of its own');

$s->finish(allow => [qr/64 worker_connections are not enough/]);

done_testing;
