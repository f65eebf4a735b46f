#!/usr/bin/perl

# What the access log tells of calls of the Queen API.

use strict;
use warnings;

use Test::More;

use NgxQueues::Process 'slurp';
use NgxQueues::Queen;
use NgxQueues::Wait;

my $s = NgxQueues::Queen::server(
    auth => 1,
    http => 'log_format queues "$queues_operation|$queues_queue|'
        . '$queues_messages|$queues_error|$queues_principal|$status";'
        . 'log_format raw escape=none "$queues_queue";',
    server => 'access_log %%DIR%%/calls.log queues;'
        . 'access_log %%DIR%%/raw.log raw;'
);
my $q = NgxQueues::Queen->new($s);

$s->client(key => undef)->get('/health');
$q->push('a b', 1, 2);

my @m = $q->messages('a b', batch => 9);

$q->messages('a b', partition => 'x');
$q->messages(undef, task => 'x');
$q->post('ack', $m[0]);
$q->ack(\@m);
$q->post('transaction', { operations => [
    { type => 'push', items => [map { { queue => 'b' } } 1 .. 3] } ] });
$q->extend($m[0]{leaseId});
$q->post('push', '{');
$s->client(key => 'x')->get('/api/v1/pop/queue/a');
$q->client->get('/api/v1/none');
$q->client->get('/api/v1/pop/queue/a%0D%0A%22%5C%01%7F');

my @lines = (
    'QueenHealth|acme/shop||||200',
    'QueenPush|acme/shop|2||test|201',
    'QueenPop|acme/shop/a b|2||test|200',
    'QueenPopPartition|acme/shop/a b|0||test|204',
    'QueenPopLabels|acme/shop|0||test|204',
    'QueenAcknowledge|acme/shop|1||test|200',
    'QueenAcknowledgeBatch|acme/shop|2||test|200',
    'QueenTransaction|acme/shop|3||test|200',
    'QueenExtendLease|acme/shop|||test|200',
    'QueenPush|acme/shop||invalid_json|test|400',
    'QueenPop|acme/shop/a||unauthenticated||401',
    '|||not_found||404',
    'QueenPop|acme/shop/a\x5Cr\x5Cn\x5C\x22\x5C\x5C\x5Cu0001\x5Cu007f|0||test|204',
);
my $log = $s->dir . '/calls.log';

wait_for { (() = slurp($log) =~ /\n/g) >= @lines };
is(slurp($log) =~ s/-(?=\|)//gr, join("\n", @lines, ''), 'the calls');

# control characters of a name make no line of a log that escapes nothing

my $raw = $s->dir . '/raw.log';

wait_for { (() = slurp($raw) =~ /\n/g) >= @lines };
is((split /\n/, slurp($raw))[-1], 'acme/shop/a\r\n\"\\\\\u0001\u007f', 'a name, as in JSON');

$s->finish;

done_testing;
