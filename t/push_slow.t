#!/usr/bin/perl

# Endpoints that take their time: one deadline holds for all of a delivery,
# wherever it is. Those that are slow and in time are no fault.

use strict;
use warnings;

use List::Util 'min';
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Push;
use NgxQueues::Wait;

my $p = NgxQueues::Push->new;

# an endpoint of its own for each that is slow before it knows the path; with
# little room for what it has not read

my @cases;

sub slow {
    my ($name, %o) = @_;

    my $endpoint = $o{own} ? $p->another_endpoint(rcvbuf => 32768) : undef;
    my $s = $p->subscribe(timeoutSeconds => 4, batchSize => 10,
        queue => { visibilityTimeoutSeconds => 30 }, state => 'paused',
        host => 'h' . @cases . '.example.com',
        $endpoint ? (endpoint => $endpoint) : ());

    $endpoint->accepting($o{accepting}) if $o{accepting};
    $s->on($o{behaviour}, {}) if $o{behaviour};
    $s->send($o{large} ? 'x' x 250_000 : 'x') for 1 .. $o{large} || 1;

    push @cases, { name => $name, s => $s, %o };
}

# from the first byte of the request to the last one of the answer

slow('TLS is not answered', own => 1, accepting => { do => 'stall' });
slow('no answer', behaviour => { hold => 'never' });
slow('the answer, byte by byte', behaviour => { body => 'x' x 100,
                                                drip => [1, 0.3] });
slow('its body, byte by byte', behaviour => { body => 'x' x 100,
    drip => [1, 0.3], drip_after => 'head' });
slow('chunks, one by one', behaviour => { body => 'x' x 100,
    chunked => [(1) x 99], drip => [6, 0.3], drip_after => 'head' });
slow('a head without end', behaviour => { cut => 30 });
slow('a body without end', behaviour => { body => '{"failed":[]}',
                                          cut => 'half' });
slow('a last chunk that does not come', behaviour => { body => 'x',
    chunked => [], last => 0, end => 'hang' });
slow('no end of HTTP/1.0', behaviour => { http10 => 1, end => 'hang' });
slow('interim answers only', behaviour => {
    raw => "HTTP/1.1 102 Processing\r\n\r\n" x 50, drip => [27, 0.1] });
slow('the request is not read', own => 1, large => 10,
     behaviour => { at => 'head', cut => 0 });
slow('the request is read slowly', own => 1, large => 10,
     behaviour => { read => [1000, 0.05] });

for my $case (@cases) {
    $case->{from} = time;
    $case->{s}->resume;
}

my @took;

for my $case (@cases) {
    my ($name, $s) = @$case{qw/name s/};

    # the endpoint sees that its connection is closed (where it reads, it has to
    # read what was sent before that)

    if ($name !~ /read/) {
        my $host = ($s->url =~ m{//([^:]+)})[0];
        my $c;

        wait_for {
            ($c) = grep { $case->{own} || ($_->{sni} // '') eq $host }
                $s->endpoint->connections;
            $c && $c->{closed}
        };

        my $took = ($c->{closed} // 0) - $case->{from};

        cmp_ok($took, '>', 3.9, "$name: closed, and not before its time");
        cmp_ok($took, '<', 7.5, "$name: long before a second timeout would end");
        push @took, $took;
    }

    # again: in time, then

    ok(wait_for(sub { grep { $_->{answered} } $s->requests }),
       "$name: the next attempt");

    my $e = $s->status->{lastError} || {};

    is($e->{class}, 'timeout', "$name: the class");
    ok(!exists $e->{status}, "$name: it has no status");
    ok($s->done, "$name: done");

    my %first;

    $first{ $_->{messageId} } //= $_->{receiveCount}
        for map { @{ $_->{json}{messages} } } grep { $_->{answered} } $s->requests;
    is(join(' ', values %first), join(' ', (2) x ($case->{large} || 1)),
       "$name: it has counted");
    is($s->verify(($s->requests)[-1]), '', "$name: signed anew");
}

# how soon the endpoint sees it, is looked at where a busy machine was least in the way

cmp_ok(min(@took), '<', 4 + scaled(0.5), 'closed in time') or diag("@took");

# slow, and in time

my %fine = (
    'an answer that takes a second' => { delay => 1 },
    'byte by byte' => { drip => [1, 0.01], body => 'x' x 20 },
    'after interim answers' => { interim => [100, 100], delay => 0.5 },
    'read slowly' => { read => [100, 0.01] },
);

for my $name (sort keys %fine) {
    $fine{$name} = [$p->subscribe(timeoutSeconds => 20), $fine{$name}];
    $fine{$name}[0]->on($fine{$name}[1]);
    $fine{$name}[0]->send('x');
}

for my $name (sort keys %fine) {
    my $s = $fine{$name}[0];

    ok($s->done, "$name: acknowledged");
    is(scalar @{ [$s->requests] }, 1, "$name: once");
    is($s->last_error, '', "$name: no error");
}

# while a delivery is open, its messages are hidden longer than it may take

my $long = $p->subscribe(queue => { visibilityTimeoutSeconds => 1 },
                         timeoutSeconds => 10);

$long->on({ hold => 'long' }, {});
$long->send('x');
$long->wait(1);
ok($long->quiet(1.5), 'it is not delivered twice');
is($long->queue->receive, 0, 'nor received');
is($long->counts, '0 1 0', 'it is in flight');
$p->endpoint->release('long');
ok($long->done, 'and acknowledged');

# timeouts halve what is open at once

my $halved = $p->subscribe(batchSize => 1, maxConcurrency => 4,
    timeoutSeconds => 1, queue => { visibilityTimeoutSeconds => 1 });

$halved->on((map { { hold => 'never' } } 1 .. 4), { hold => 'halved' });
$halved->send(map { "h$_" } 1 .. 20);
ok(wait_for(sub {
    my @r = $halved->requests;
    @r > 4 && $r[-1]{open} == 1
}), 'one is open after four timeouts');
$p->endpoint->release('halved', always => 1);
ok($halved->done, 'all is done');
is($halved->most, 4, 'never more than maxConcurrency');

$p->finish;

done_testing;
