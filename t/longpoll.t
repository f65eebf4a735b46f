#!/usr/bin/perl

# Waiting receives: whoever makes a message receivable, the answer comes at
# once; the end of a wait; the order of those who wait.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

# Nobody looks again who is not woken: he waits for 20 seconds, and has nothing then.
# So what comes is what has woken him. How late that is, between the moment and the
# answer at the client, is seen where a busy machine was least in the way.

my $late = $ENV{NGX_QUEUES_SANITIZE} ? 0.5 : 0.3;
my %late;

my $s = NgxQueues::Server->new(workers => 2, server =>
    'send_timeout 1s; keepalive_timeout 1s; client_header_timeout 1s;'
    . ' client_body_timeout 1s; lingering_timeout 1s;');
my $node = NgxQueues::Server->new(node_of => $s);

my $c = $s->client;
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);

# a parked receive answers with the body, at this moment (now: undef)

sub woken {
    my ($h, $body, $at, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $begin = $at // time;

    $c->wait_all([$h], scaled(25));

    my $took = time - $begin;
    my @m = @{ $h->result->{json}{messages} || [] };

    is(join(' ', map { $_->{body} } @m), $body, $name)
        or diag(explain($h->result));
    push @{ $late{defined $at ? 'moments' : 'calls'} }, $took;
    cmp_ok($took, '>', -0.05, "$name: and not before") if defined $at;
    is($q->ack(@m), join(' ', ('ok') x @m), "$name: ack") if @m;

    return @m;
}

# by a send: the worker of the waiter and another one (the kernel chooses one
# for each connection: with so many of them both come), and another node

for my $n (1 .. 12) {
    my $h = $q->park(fresh => 1);

    $q->parked;
    $q->send({ at => $s->client }, "m$n");
    woken($h, "m$n", undef, "a send, connection $n");
}

my $h = $q->park;

$q->parked;
$q->send({ at => $node->client }, 'node');
woken($h, 'node', undef, 'a send through another node');

my $back = $q->park(at => $node->client);

$q->parked;
$q->send('back');
woken($back, 'back', undef, 'and the other way round');

# by the end of a visibility timeout, with no other traffic

$q->send('expires');

my $begin = time;
my ($m) = $q->receive(visibilityTimeoutSeconds => 1);

$h = $q->park;
($m) = woken($h, 'expires', time > $begin + 1 ? time : $begin + 1,
             'the end of visibility');
is($m->{receiveCount}, 2, 'received twice');

# by a release, by an extension that is shorter than the time was

$q->send('released');
($m) = $q->receive;
$h = $q->park;
$q->parked;
is($q->visibility(0, $m), 'ok', 'release');
woken($h, 'released', undef, 'a release');

$q->send('shortened');
($m) = $q->receive;
$h = $q->park;
$q->parked;
$begin = time;
is($q->visibility(1, $m), 'ok', 'an end that comes earlier');
woken($h, 'shortened', $begin + 1, 'the earlier end');

# by a delayed message, sent before and while the receive waits

$begin = time;
$q->send({ body => 'delayed', delaySeconds => 1 });
$h = $q->park;
woken($h, 'delayed', $begin + 1, 'the end of a delay');

$h = $q->park;
$q->parked;
$begin = time;
$q->send({ body => 'later', delaySeconds => 2 },
         { body => 'sooner', delaySeconds => 1 });
woken($h, 'sooner', $begin + 1, 'of the shorter of two delays');
woken($q->park, 'later', $begin + 2, 'and then of the longer one');

# the wait ends: at its time, with an empty list; also where nginx' timeouts
# are shorter, by HTTP/1.0, and where the queue says how long

for my $how ('', 'HTTP/1.0', 'queue') {
    my $own = NgxQueues::Queue->new($s,
                                    receiveWaitSeconds => $how ? 2 : 0);
    my $body = $how eq '' ? '{"waitSeconds":2}' : '{}';
    my $version = $how eq 'HTTP/1.0' ? $how : 'HTTP/1.1';
    my $r = $c->request(POST => '', undef, fresh => 1, raw => 'POST '
        . $own->path('/messages/receive') . " $version\r\nHost: a\r\n"
        . 'Authorization: Bearer ' . $s->key . "\r\nContent-Length: "
        . length($body) . "\r\n\r\n$body");

    is($r->{body}, '{"messages":[]}', "the end of a wait $how");
    cmp_ok($r->{time}, '>=', 1.99, 'not before');
    push @{ $late{ends} }, $r->{time} - 2;

    if ($how eq 'queue') {
        is($c->patch($own->path, { receiveWaitSeconds => 20 })->{status}, 200,
           'a long wait');
        $r = $own->post('/messages/receive', { waitSeconds => 0 });
        cmp_ok($r->{time}, '<', 20, 'one of 0 is the request\'s own');
    }
}

# a deleted queue

my $gone = NgxQueues::Queue->new($s);
my @h = map { $gone->park(fresh => 1) } 1 .. 4;

$gone->parked;
wait_for { $gone->calls >= 4 };
is($c->delete($gone->path)->{status}, 204, 'delete');
is(join(' ', map { $_->{status} . $_->{json}{error} } $c->wait_all(\@h, 10)),
   join(' ', ('404queue_not_found') x 4), 'who waits for it is told');

# a queue that has the name of the deleted one is another one

my $name = $gone->name;

$gone = NgxQueues::Queue->new($s, name => $name);
$gone->send('new');
is(($gone->receive)[0]{body}, 'new', 'its name lives on');

# an update of the retention, a purge, an ack wake nobody wrongly

$h = $gone->park(waitSeconds => 1);
$gone->parked;
is($c->post($gone->path('/purge'))->{status}, 202, 'purge');
is($c->patch($gone->path, { retentionSeconds => 60 })->{status}, 200, 'update');
is(($c->wait_all([$h]))[0]{body}, '{"messages":[]}', 'still an empty end');

# many in turns: none waits to its end where a message is there (the look at
# the queue and the wait have no gap between them)

my $race = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);
my $slowest = 0;

for my $n (1 .. 500) {
    my $h = $race->park;

    $race->send({ at => $n % 2 ? $c : $node->client }, "r$n");
    $c->wait_all([$h], scaled(25));
    $slowest = $h->result->{time} if $h->result->{time} > $slowest;
    last if !@{ $h->result->{json}{messages} || [] };
}

cmp_ok($slowest, '<', 19, 'no send is missed');
is($race->counts, '0 500 0', '500 were received');

least_late(\%late, $late, 'at once');

$node->finish;
$s->finish;

done_testing;
