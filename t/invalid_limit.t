#!/usr/bin/perl

# More than 100 invalid receipt handles from one address within a minute: 429
# for its receipt calls, on all workers, until the minute is over; nobody else
# is touched.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;

my $s = NgxQueues::Server->new(workers => 2, http =>
    'set_real_ip_from 127.0.0.9; real_ip_header X-Real-IP;');
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);

$q->send(map { "m$_" } 1 .. 10);

my @m = $q->receive(maxMessages => 10);

# a client of an address, with headers; each request on its own connection

sub from {
    my ($local, %headers) = @_;

    return $s->client(local => $local, headers => \%headers, key => undef);
}

sub ack {
    my ($c, @handles) = @_;

    return $c->post('/v1/receipts/ack', { receiptHandles => \@handles },
                    fresh => 1);
}

sub limited {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is("$r->{status} " . ($r->{json}{error} // $r->{body}), '429 rate_limited',
       $name);

    my $after = $r->{headers}{'retry-after'} // 0;

    ok($after =~ /^\d+$/ && $after >= 1 && $after <= 60, "$name: Retry-After")
        or diag($after);
    is($r->{headers}{'access-control-allow-origin'}, '*', "$name: CORS");
}

my $bad = from('127.0.0.2');

is((grep { ack($bad, ('x') x 10)->{status} == 200 } 1 .. 10), 10,
   '100 invalid handles');
is(ack($bad, $m[0]{receiptHandle}, 'x')->{body},
   '{"results":[{"ok":true},{"error":"receipt_handle_invalid"}]}',
   'one more, with a good one');

limited(ack($bad, 'x'), "turn $_") for 1 .. 8;
limited(ack($bad, $m[1]{receiptHandle}), 'a good one');
limited($bad->post('/v1/receipts/visibility', { entries => [] }),
        'visibility');
is(ack(from('127.0.0.3'), $m[1]{receiptHandle})->{body},
   '{"results":[{"ok":true}]}', 'another address; nothing was done before');
is($bad->options('/v1/receipts/ack')->{status}, 204, 'a preflight');

my $known = $s->client(local => '127.0.0.2');

is($known->get($q->path)->{status}, 200, 'other calls of that address');
is($known->post($q->path('/messages/receive'), {})->{status}, 200,
   'a receive');

# a stale handle is not an invalid one, nor is a wrong body

my $stale = from('127.0.0.4');

ack($stale, ($m[0]{receiptHandle}) x 10) for 1 .. 15;
ack($stale) for 1 .. 110;
is(ack($stale, $m[2]{receiptHandle})->{body}, '{"results":[{"ok":true}]}',
   'stale handles do not count');

# the address is the one that realip says

ack(from('127.0.0.9', 'X-Real-IP' => '192.0.2.1'), ('x') x 10) for 1 .. 11;
limited(ack(from('127.0.0.9', 'X-Real-IP' => '192.0.2.1'), 'x'), 'realip');
is(ack(from('127.0.0.9', 'X-Real-IP' => "192.0.2.$_"), 'x')->{status}, 200,
   "realip, 192.0.2.$_") for 2, 3;
is(ack(from('127.0.0.5', 'X-Real-IP' => '192.0.2.1'), 'x')->{status}, 200,
   'a header of nobody that is trusted');

ack(from('127.0.0.9', 'X-Real-IP' => '2001:db8::1'), ('x') x 10) for 1 .. 11;
is(ack(from('127.0.0.9', 'X-Real-IP' => '2001:db8::2'), 'x')->{status}, 200,
   'an address of IPv6');

# a reload keeps the count

$s->reload(drained => 15);
limited(ack(from('127.0.0.2'), $m[3]{receiptHandle}), 'after a reload');

# many addresses: each has its own count

my @r = map { ack(from('127.0.0.9', 'X-Real-IP' => "198.51.100.$_"), 'x') }
    1 .. 250;

is((grep { $_->{status} == 200 } @r), 250, 'many addresses');

$s->finish;

done_testing;
