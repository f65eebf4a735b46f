#!/usr/bin/perl

# Connections that are kept: they are used again, by whom they may be, and their
# end is nobody's failure where the endpoint has certainly not got the request.

use strict;
use warnings;

use List::Util 'min';
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Push;
use NgxQueues::Wait;

my $p = NgxQueues::Push->new(endpoint => { rcvbuf => 32768 });
my $e = $p->endpoint;
my $hosts = 0;

# each with a name of its own, so with connections of its own

sub subscribe {
    my (%o) = @_;

    return $p->subscribe(host => 'k' . ++$hosts . '.example.com',
        queue => { visibilityTimeoutSeconds => 30 }, maxConcurrency => 1,
        batchSize => 1, %o);
}

sub connections { scalar keys %{ { map { $_->{connection} => 1 } @_ } } }

# delivers so many, one after the other

sub deliver {
    my ($s, $n) = @_;

    for (1 .. $n) {
        my $before = $s->requests;

        $s->send('x');
        wait_for { my @r = $s->requests; @r > $before && $r[-1]{answered} }
            or die "no delivery\n";
        $s->done or die "not done\n";
    }
}

# idle ones are closed in time, before servers would; looked at last, and how late it
# is, where a busy machine was least in the way

my @idle = map { subscribe() } 1 .. 4;

deliver($_, 1) for @idle;

# one after the other

my $s = subscribe();

deliver($s, 10);
is(connections($s->requests), 1, 'ten deliveries, one connection');
is(join(' ', map { $_->{nth} } $s->requests), join(' ', 1 .. 10), 'in order');

my $other = $p->subscribe(host => 'k' . $hosts . '.example.com');

deliver($other, 1);
is(($other->requests)[0]{connection}, ($s->requests)[0]{connection},
   'another subscription of the same host has it as well');

deliver(my $alone = subscribe(), 1);
isnt(($alone->requests)[0]{connection}, ($s->requests)[0]{connection},
     'another name does not');

# those that end: with or without being told

for my $case (
    ['Connection: close', { headers => [Connection => 'close'] }],
    ['Connection: close, and closed', { headers => [Connection => 'Close'],
                                        end => 'close' }],
    ['HTTP/1.0', { http10 => 1, body => 'x' }],
    ['closed at once', { end => 'close' }],
    ['closed without notice', { end => 'fin' }],
    ['reset', { end => 'reset', body => '{}' }],
    ['more than the answer',
     { raw => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 503 No\r\n"
              . "Content-Length: 0\r\n\r\n" }],
    ['a body of 204', { raw => "HTTP/1.1 204 No Content\r\nContent-Length: 2"
                               . "\r\n\r\n{}" }],
    ['half of an answer later', { drip => [38, 0.1],
        raw => "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nx" }],
) {
    my ($name, $b) = @$case;
    my $s = subscribe();

    $s->on($b);
    deliver($s, 4);
    is(scalar @{ [$s->requests] }, 4, "$name: four deliveries");
    is(connections($s->requests), 4, "$name: each on its own");
    is($s->last_error, '', "$name: no error");
    is((grep { $_->{receiveCount} != 1 } $s->messages), 0, "$name: at once");
}

# closed some moments later, around the moment of the next delivery

my $racing = subscribe();

for my $ms (0, 1, 2, 5, 10, 20) {
    $racing->on({ idle => $ms / 1000 });

    for my $wait (0, 1, 2, 5, 10, 20) {
        my $n = $racing->requests;

        $racing->send('x');
        wait_for { $racing->requests > $n } or die "no delivery\n";
        select undef, undef, undef, $wait / 1000;
    }
}

ok($racing->done, 'all are delivered');

# What the endpoint's TCP has taken of a connection that was then closed unread
# may have been read, for all that can be known here: that counts.  It is rare.

my $twice = grep { $_->{receiveCount} > 1 } $racing->messages;

cmp_ok($twice, '<=', 3, 'hardly a message counts twice')
    or diag($racing->last_error);

# the endpoint goes while it reads the request: on a connection that was kept
# the request is sent again, as the same delivery

sub large {
    my (%o) = @_;

    my $s = subscribe(state => 'paused',
        queue => { visibilityTimeoutSeconds => 30, maxMessageBytes => 1048576 },
        %o);

    $s->send('x' x 1_000_000);

    return $s;
}

my @again;

for my $how (qw/close reset fin/) {
    my $first = subscribe();

    deliver($first, 1);

    my $s = large(host => ($first->url =~ m{//([^:]+)})[0]);

    $s->on({ at => 'half', cut => 0, end => $how }, {});
    $s->resume;
    ok($s->done, "$how: delivered");

    my @r = $s->requests;

    is(scalar @r, 2, "$how: sent twice");
    is($r[0]{connection}, ($first->requests)[0]{connection},
       "$how: first on a connection that was kept");
    is($r[1]{nth}, 1, "$how: then on a new one");
    is($r[1]{headers}{'ezgh-delivery-id'}, $r[0]{headers}{'ezgh-delivery-id'},
       "$how: as the same delivery");
    is($r[1]{json}{messages}[0]{receiveCount}, 1, "$how: it counts once");
    push @again, $r[1]{time} - $r[0]{time};
    is($s->last_error, '', "$how: no error");
    is($s->verify($r[1]), '', "$how: signed");
}

cmp_ok(min(@again), '<', scaled(0.7), 'at once') or diag("@again");

# once: on a new connection it is a failed attempt, also as the second one

my $fresh = large();

$fresh->on({ at => 'half', cut => 0, end => 'reset' }, {});
$fresh->resume;

my $first = subscribe();

deliver($first, 1);

my $again = large(host => ($first->url =~ m{//([^:]+)})[0]);

$again->on({ at => 'half', cut => 0, end => 'reset' },
           { at => 'half', cut => 0, end => 'reset' }, {});
$again->resume;

for my $case ([$fresh, 2, 'a new connection'], [$again, 3, 'twice']) {
    my ($s, $n, $name) = @$case;

    ok($s->done, "$name: delivered");

    my @r = $s->requests;

    is(scalar @r, $n, "$name: after a failed attempt");
    isnt($r[-1]{headers}{'ezgh-delivery-id'},
         $r[-2]{headers}{'ezgh-delivery-id'}, "$name: as another delivery");
    is($r[-1]{json}{messages}[0]{receiveCount}, 2, "$name: which counts");
    is($s->last_error, 'connection', "$name: the error");
    cmp_ok($r[-1]{time} - $r[-2]{time}, '>', 0.7, "$name: later");
}

# an endpoint that has read all of it may have handled it

for my $how (qw/close reset/) {
    my $s = subscribe();

    deliver($s, 1);
    $s->on({ cut => 0, end => $how }, {});
    $s->send('x');
    ok($s->done, "$how after the request: delivered");

    my @r = $s->requests;

    is(scalar @r, 3, "$how after the request: twice");
    is($r[1]{nth}, 2, "$how after the request: on the kept connection");

    # a reset that comes before TCP has told of the last bytes looks as if they
    # were lost

    my $again = $how eq 'reset' && $r[2]{json}{messages}[0]{receiveCount} == 1;

    is($r[2]{json}{messages}[0]{receiveCount}, $again ? 1 : 2,
       "$how after the request: whether it counts");
    is($s->last_error, $again ? '' : 'connection',
       "$how after the request: so does the error say");
    is($r[2]{headers}{'webhook-id'} eq $r[1]{headers}{'webhook-id'} ? 1 : 0,
       $again ? 1 : 0, "$how after the request: and the id");
}

# and one that has begun to answer

my $begun = subscribe();

deliver($begun, 1);
$begun->on({ cut => 5, end => 'reset' }, {});
$begun->send('x');
ok($begun->done, 'an answer that breaks off: delivered');
is($begun->last_error, 'connection', 'after an error');

# idle ones

my @after;

for my $idle (@idle) {
    my ($r) = $idle->requests;
    my $c;

    ok(wait_for(sub {
        ($c) = grep { $_->{number} == $r->{connection} } $e->connections;
        $c->{closed}
    }), 'an idle connection is closed');
    is($c->{end}, 'peer', 'by us');
    push @after, $c->{closed} - $r->{answered};
}

cmp_ok(min(@after), '<', 4.6, 'after four seconds');
cmp_ok(min(@after), '>', 3.9, 'and not before');

# not any number of them

my $many = subscribe(maxConcurrency => 100);

$many->on({ hold => 'many' });
$many->send(map { "m$_" } 1 .. 100);
$many->wait(100);
$e->release('many', always => 1);
ok($many->done, 'a hundred at once');

my $kept;

wait_for {
    $kept = grep { !$_->{closed} } $e->connections;
    $kept <= 64
};
cmp_ok($kept, '<=', 64, 'at most 64 are kept');
cmp_ok($kept, '>', 10, 'but many');

$p->finish;

done_testing;
