#!/usr/bin/perl

# Acknowledgements of the Queen API: their words, the commit of an offset, nacks
# and the budget of retries, leases that are not there.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use NgxQueues::Queen;

my $s = NgxQueues::Queen::server(workers => 2);
my $q = NgxQueues::Queen->new($s);
my $serial = 0;

sub words { NgxQueues::Queen::words(@_) }
sub data { NgxQueues::Queen::data(@_) }

# a queue of its own with these payloads, and a batch of them

sub batch {
    my ($n, %query) = @_;

    my $queue = 'q' . ++$serial;

    $q->push($queue, map { { payload => $_, transactionId => "t$_" } } 1 .. $n);

    return $queue, $q->messages($queue, batch => $n, %query);
}

sub rest { data($q->messages($_[0], batch => 100, @_[1 .. $#_])) }

# one: the bytes

my ($queue, @m) = batch(2);
my %one = (map { $_ => $m[1]{$_} } qw/transactionId partitionId leaseId/);
my $r = $q->post('ack', { %one, status => 'completed',
                          consumerGroup => undef, error => undef });

is("$r->{status} $r->{body}", '200 [{"index":0,"transactionId":"t2",'
   . '"success":true,"error":null,"leaseReleased":true,"dlq":false,'
   . '"noop":false}]', 'one of two: the last completes both');
is(rest($queue), '', 'nothing is left');
is($q->post('ack', \%one)->{body}, '[{"index":0,"transactionId":"t2",'
   . '"success":false,"error":"invalid or expired lease","leaseReleased":false,'
   . '"dlq":false,"noop":false}]', 'once more: the lease is over');
delete $one{leaseId};
is($q->post('ack', \%one)->{body}, '[{"index":0,"transactionId":"t2",'
   . '"success":true,"error":null,"leaseReleased":false,"dlq":false,'
   . '"noop":true}]', 'without one: nothing to do');
is(words(@{ $q->post('ack', { %one, status => 'failed' })->{json} }),
   'already+noop', 'nor to be undone');

# which words mean what

for my $word (qw/completed success acked ok/, undef) {
    my ($queue, @m) = batch(1);

    is(words($q->ack(\@m, undef, status => $word)), 'ok+released',
       'status ' . ($word // 'null'));
}

for my $word ('failed', '', 'nack', 'Completed', 'DLQ', 1, JSON::PP::true, {}) {
    my ($queue, @m) = batch(1);

    is(words($q->ack(\@m, $word)), 'ok+released', "status $word: failed");
    is(rest($queue), '1', 'and comes again');
}

# a part of a batch: the lease goes on; more of it; a position too far

($queue, @m) = batch(5);
is(words($q->ack([@m[0, 1]])), 'ok ok', 'two of five');
is(rest($queue), '', 'the others are leased');
is(words($q->ack([$m[3]])), 'ok', 'another one');
is(words($q->ack([@m[1, 3]])), 'ok+noop ok+noop', 'what is done already');
is(words($q->ack([$m[4]])), 'ok+released', 'the last one');

$q->push($queue, map { { payload => $_, transactionId => "t$_" } } 6, 7);
@m = $q->messages($queue);
like(words($q->ack([{ %{ $m[0] }, transactionId => 't7' }])),
     qr/^(?:position|unresolvable)/, 'one that is not in the batch');
like(words($q->ack([{ %{ $m[0] }, transactionId => 'none' }])),
     qr/^unresolvable\+noop$/, 'one that is not');
is(words($q->ack(\@m)), 'ok+released', 'the batch');

# nacks: the lowest one holds the cursor

($queue, @m) = batch(5);
is(words(@{ $q->post('ack/batch', { acknowledgments => [
       map { { %$_, status => $_->{data} == 3 ? 'failed' : 'completed' } } @m
   ] })->{json} }), 'ok+released ok+released ok+released ok+released ok+released',
   'one of five fails');
is(rest($queue), '3 4 5', 'it and what follows come again');

($queue, @m) = batch(3);
is(words(@{ $q->post('ack/batch', { acknowledgments => [
       { %{ $m[1] }, status => 'retry' }, { %{ $m[1] }, status => 'dlq' },
       { %{ $m[0] } }
   ] })->{json} }) =~ s/\+released//gr, 'ok ok+dlq ok', 'dlq before retry')
    or diag(explain($r));
is(rest($queue), '3', 'it is gone');

# the budget: three times by default, then it is dead; a retry is free

($queue, @m) = batch(2);

for my $n (1 .. 3) {
    is(words($q->ack(\@m, 'failed')), 'ok+released ok+released', "failure $n");
    @m = $q->messages($queue, batch => 2);
    is(data(@m), '1 2', 'both come again');
    is(words($q->ack(\@m, 'retry')), 'ok+released ok+released', 'a retry');
    @m = $q->messages($queue, batch => 2);
}

is(words($q->ack([$m[0]], 'failed', error => "why\n\x{e9}")), 'ok+dlq+released',
   'the fourth one');
@m = $q->messages($queue, batch => 2);
is(data(@m), '2', 'the next one');
is(words($q->ack(\@m, 'failed')), 'ok+released', 'has a budget of its own');

# errors that are long, or none

for my $error ('x' x 100_000, "\x{e9}" x 5000, '"' x 9000, 1, { a => 1 }) {
    my ($queue, @m) = batch(1);

    is(words($q->ack(\@m, 'dlq', error => $error)), 'ok+dlq+released',
       'error: ' . substr $error, 0, 5);
}

# groups and leases are not each other's

($queue, @m) = batch(1, consumerGroup => 'g');
is(words(map { @{ $q->post('ack', { %{ $m[0] }, %$_ })->{json} } }
     { consumerGroup => 'h' }, { consumerGroup => undef },
     { leaseId => '01a22bdb-5e4d-7791-bf08-28c1af2cde32' },
     { leaseId => 'x' }, { leaseId => 1 }, { leaseId => 'x' x 2000 },
     { partitionId => '01a22bdb-5e4d-7791-bf08-28c1af2cde32' },
     { partitionId => 'x' }, { consumerGroup => 'g' }),
   'consumer consumer invalid invalid invalid invalid consumer consumer '
   . 'ok+released', 'a group, a lease, a partition');

($queue, @m) = batch(2);
is(words($q->ack(\@m, undef, leaseId => $_)), 'ok+released ok+released',
   'no lease at all') for '';

# what lacks an id fails by itself

($queue, @m) = batch(1);
$r = $q->post('ack/batch', { acknowledgments => [
    {}, { transactionId => 't1' }, { partitionId => $m[0]{partitionId} }, 1, undef,
    { %{ $m[0] }, transactionId => 1 }, { %{ $m[0] }, partitionId => '' },
    $m[0] ] });
is($r->{status}, 200, 'some lack an id');
is(words(@{ $r->{json} }), ('transactionId ' x 7) . 'ok+released', 'alone');
is(join(' ', map { $_->{index} } @{ $r->{json} }), '0 1 2 3 4 5 6 7', 'in order');
is($q->post('ack', {})->{body}, '[{"index":0,"transactionId":"","success":'
   . 'false,"error":"transactionId and partitionId are required",'
   . '"leaseReleased":false,"dlq":false,"noop":false}]', 'none at all');

# several partitions in one call

$q->push('parts', map { { partition => "p$_", payload => $_ } } 1 .. 3);
@m = $q->messages('parts', batch => 9, partitions => 9);
is(words($q->ack([$m[0]], 'failed')), 'ok+released', 'one of three');
is(words($q->ack([@m[1, 2]])), 'ok+released ok+released', 'and the others');
is(scalar(() = $q->messages('parts', batch => 9, partitions => 9)), 1,
   'one comes again');

# a thousand

($queue, @m) = batch(1000);
is(scalar(@m), 1000, 'a thousand messages');
is(words($q->ack(\@m)), join(' ', ('ok+released') x 1000), 'and acks');

# what is no request of this kind

for my $bad (['ack', '[]'], ['ack', '1'], ['ack', '{'], ['ack', ''],
             ['ack', '{"consumerGroup":1}'], ['ack/batch', '{}'],
             ['ack/batch', '{"acknowledgments":{}}'], ['ack/batch', '[]'],
             ['ack/batch', '{"acknowledgements":[]}'],
             ['ack/batch', '{"acknowledgments":[],"consumerGroup":[]}'],
             ['ack/batch', '{"acknowledgments":[],"acknowledgments":[]}'],
             ['ack/batch', '{"acknowledgments":[{"status":"ok","status":1}]}'],
             ['ack', '{"consumerGroup":"g","consumerGroup":"h"}'],
             ['ack/batch', '{"acknowledgments":[' . join(',', ('1') x 10_001)
                           . ']}'])
{
    my $r = $q->post(@$bad);

    is($r->{status}, 400, substr "@$bad", 0, 40);
    like($r->{body}, qr/^\{"error":"[^"]+"\}$/, 'why');
}

is($q->post('ack/batch', '{"acknowledgments":[]}')->{body}, '[]', 'no acks');

$s->finish;

done_testing;
