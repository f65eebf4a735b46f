#!/usr/bin/perl

# The limit on invalid receipt handles is per address: clients of a Unix socket
# have none and are not limited; those of IPv4 and of IPv6 are, each for
# itself, and stay so over a reload.

use strict;
use warnings;

use IO::Socket::IP;
use Test::More;

use NgxQueues::Process qw/free_port temp_dir/;
use NgxQueues::Queue;
use NgxQueues::Server;

# a machine may be without IPv6

my $six = free_port();
my $ipv6 = IO::Socket::IP->new(LocalHost => '::1', LocalPort => $six,
                               Listen => 1, ReuseAddr => 1) ? 1 : 0;

# of a Unix socket the path is short, so not in the server's own folder

my $path = temp_dir() . '/s';
my $s = NgxQueues::Server->new(workers => 2, server => "listen unix:$path;"
    . ($ipv6 ? "listen [::1]:$six;" : ''));
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);

my %from = (
    '127.0.0.1' => {}, '127.0.0.7' => { local => '127.0.0.7' },
    unix => { unix => $path },
    $ipv6 ? ('::1' => { host => '::1', port => $six }) : (),
);

my %client = map { $_ => $s->client(%{ $from{$_} }) } keys %from;
my @limited = grep { $_ ne '127.0.0.7' && $_ ne 'unix' } sort keys %client;

sub ack {
    my ($from, @handles) = @_;

    return $client{$from}->post('/v1/receipts/ack',
        { receiptHandles => \@handles }, fresh => 1);
}

sub statuses { join ' ', map { $_->{status} } @_ }

$q->send(map { "m$_" } 1 .. 10);

my @m = $q->receive(maxMessages => 10);

sub limited {
    my ($from, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $c = $client{$from};

    for my $r (ack($from, 'x'), ack($from, $m[9]{receiptHandle}),
               $c->post('/v1/receipts/visibility', { entries => [{
                   receiptHandle => $m[9]{receiptHandle},
                   visibilityTimeoutSeconds => 0,
               }] }))
    {
        is("$r->{status} " . ($r->{json}{error} // $r->{body}),
           '429 rate_limited', "$from, $name: limited");
        like($r->{headers}{'retry-after'} // '', qr/^(?:[1-9]|[1-5]\d|60)$/,
             "$from, $name: Retry-After");
    }

    is(statuses(map { $c->options("/v1/receipts/$_", headers => {
        'Origin' => 'https://example.com',
        'Access-Control-Request-Method' => 'POST',
    }) } 'ack', 'visibility'), '204 204', "$from, $name: not the preflight");
    is(statuses($c->get($q->path), $c->get($q->{queues}),
                $c->post($q->path('/messages'), { body => 'x' }),
                $c->post($q->path('/messages/receive'), {}),
                $c->post('/v1/receipts/none', {})),
       '200 200 201 200 404', "$from, $name: nor other calls");
}

# a Unix socket: far more than the limit, of all workers

is(statuses(map { ack('unix', ('x') x 10) } 1 .. 40),
   join(' ', (200) x 40), 'unix: 400 invalid handles');
is(ack('unix', $m[0]{receiptHandle}, 'x')->{body},
   '{"results":[{"ok":true},{"error":"receipt_handle_invalid"}]}',
   'unix: not limited');

# the others: up to the limit, and none for another one's

for my $from (@limited) {
    is(statuses(map { ack($from, ('x') x 10) } 1 .. 10), join(' ', (200) x 10),
       "$from: 100 invalid handles");
    is(ack($from, 'x')->{body},
       '{"results":[{"error":"receipt_handle_invalid"}]}', "$from: one more");
    limited($from, 'at first');
}

is(ack('127.0.0.7', $m[1]{receiptHandle}, 'x')->{body},
   '{"results":[{"ok":true},{"error":"receipt_handle_invalid"}]}',
   'another address of IPv4');
is(ack('unix', $m[2]{receiptHandle}, 'x')->{status}, 200,
   'nor is the Unix socket');

# a reload keeps the counts, also those below the limit

is(statuses(map { ack('127.0.0.7', ('x') x 10) } 1 .. 9), join(' ', (200) x 9),
   '127.0.0.7: 91 before the reload');

for my $turn (1, 2) {
    $s->reload(drained => 15);
    limited($_, "reload $turn") for @limited;
    is(ack('127.0.0.7', ('x') x 5)->{status}, 200, "127.0.0.7: 5 more, $turn");
    is(ack('unix', $m[3]{receiptHandle}, ('x') x 9)->{status}, 200,
       "unix: reload $turn");
}

limited('127.0.0.7', 'counted over two reloads');
is(ack('unix', $m[9]{receiptHandle})->{body}, '{"results":[{"ok":true}]}',
   'what was limited did nothing');

$s->finish;

done_testing;
