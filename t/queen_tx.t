#!/usr/bin/perl

# Transactions of the Queen API: all or nothing.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queen;

my $s = NgxQueues::Queen::server(workers => 2);
my $q = NgxQueues::Queen->new($s);
my $uuid = qr/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/;
my $serial = 0;

sub data { NgxQueues::Queen::data(@_) }
sub tx { $q->post('transaction', { operations => $_[0], @_[1 .. $#_] }) }
sub add { { type => 'push', items => [@_] } }

sub ack {
    my ($m, %o) = @_;

    return { type => 'ack', transactionId => $m->{transactionId},
             partitionId => $m->{partitionId}, status => 'completed', %o };
}

# one message of a queue of its own, leased

sub message {
    my (%query) = @_;

    my $queue = 'in' . ++$serial;

    $q->push($queue, { transactionId => "t$serial", payload => $serial });

    my ($m) = $q->messages($queue, %query);

    return $queue, $m;
}

# what the API page has: a push to another queue, and the ack of what led to it

my ($in, $m) = message(consumerGroup => 'g');
my $r = tx([add({ queue => 'out', partition => 'p', payload => { value => 2 },
                  transactionId => 'x' }),
            ack($m, consumerGroup => 'g')],
           requiredLeases => [$m->{leaseId}]);

is($r->{status}, 200, 'a push and an ack');
like($r->{body}, qr/^\{"transactionId":"$uuid","success":true,"results":\[
    \{"index":0,"type":"push","success":true,"transactionId":"x","messageId":
    "$uuid","queueName":"out"\},\{"index":1,"type":"ack","success":true,
    "transactionId":"t1","error":null,"dlq":false\}\]\}$/x, 'its answer');
my ($out) = $q->messages('out', partition => 'p');

is($out->{data}{value}, 2, 'the push');
is($out->{id}, $r->{json}{results}[0]{messageId}, 'with the id that was told');
is($q->pop($in, consumerGroup => 'g', leaseSeconds => 1)->{status}, 204,
   'the ack');

# items: several, flat, data, none; in any order with acks; repeated ids

($in, $m) = message();
$r = tx([ack($m), add({ queue => 'many', payload => 1 },
                      { queue => 'many', data => 2 }, { queue => 'many' }),
         { type => 'push', queue => 'many', payload => 4, traceId => 'tr' },
         add({ queue => 'many', payload => 5, transactionId => 'r' },
             { queue => 'many', payload => 6, transactionId => 'r' }), add()]);

is(join(' ', map { $_->{type} . $_->{index} . ($_->{duplicate} ? 'd' : '') }
       @{ $r->{json}{results} }), 'ack0 push1 push2 push3 push4 push5 push6d',
   'flattened, a repeated id is a duplicate');
is($r->{json}{results}[6]{messageId}, $r->{json}{results}[5]{messageId},
   'of the first');
is(join(' ', map { ref $_->{data} ? '{}' : $_->{data} }
       $q->messages('many', batch => 9)), '1 2 {} 4 5', 'all are there');

# the ack's words

($in, $m) = message();
is(tx([ack($m, status => 'dlq', error => 'why')])->{json}{results}[0]{dlq} ? 1 : 0,
   1, 'dlq');
($in, $m) = message();
ok(tx([ack($m, status => 'retry')])->{json}{success}, 'retry');
is(scalar(() = $q->messages($in)), 1, 'comes again');
($in, $m) = message();
ok(tx([ack($m, status => 'nack')])->{json}{success}, 'any other');
is(scalar(() = $q->messages($in)), 1, 'comes again');
is(scalar @{ tx([add({ queue => 'x', payload => 1 })],
                requiredLeases => undef)->{json}{results} }, 1, 'null leases');

# what rolls back: nothing of it has happened

sub rolls_back {
    my ($reason, $name, $operations, @rest) = @_;

    my $r = tx([add({ queue => 'never', payload => 1 }), @$operations], @rest);

    is($r->{status}, 200, $name);
    like($r->{body}, qr/^\{"transactionId":"$uuid","success":false,"error":"[^"]+",
                        "reason":"$reason","results":\[\]\}$/x, 'why');
    is($q->pop('never')->{status}, 204, 'nothing was pushed');

    return $r;
}

like(rolls_back('duplicate', 'a stored id',
                [add({ queue => 'out', partition => 'p', payload => 1,
                       transactionId => 'x' })])->{json}{error}, qr/^QDUP/,
     'QDUP');

($in, $m) = message();
is(rolls_back('ack_rejected', 'an id that is not there',
              [ack($m), ack($m, transactionId => 'none')])->{json}{error},
   'unresolvable transactionId: none', 'which, and why');
rolls_back('ack_rejected', 'no id', [ack($m, transactionId => undef)]);
rolls_back('ack_rejected', 'no partition', [ack($m, partitionId => 'x')]);
rolls_back('ack_rejected', 'another group', [ack($m, consumerGroup => 'h')]);
rolls_back('ack_rejected', 'another lease', [ack($m, leaseId => 'x')]);
rolls_back('lease_expired', 'a lease that is not live', [ack($m)],
           requiredLeases => [$m->{leaseId},
                              '01a22bdb-5e4d-7791-bf08-28c1af2cde32']);
is($q->pop($in)->{status}, 204, 'it is leased as before');
ok(tx([ack($m, leaseId => $m->{leaseId})])->{json}{success}, 'and good');
rolls_back('lease_expired', 'a lease that is over', [],
           requiredLeases => [$m->{leaseId}]);

# what is no request of this kind

for my $bad ('{}', '{"operations":[]}', '{"operations":{}}', '{', '[]', '',
    '{"operations":[{"type":"x"}]}', '{"operations":[{}]}', '{"operations":[1]}',
    '{"operations":[{"type":"push","items":{}}]}',
    '{"operations":[{"type":"push","items":[{}]}]}',
    '{"operations":[{"type":"push"}]}', '{"operations":1,"operations":[]}',
    '{"operations":[{"type":"push","queue":"never","type":"push"}]}',
    '{"operations":[{"type":"push","queue":"never","queue":"x"}]}',
    '{"operations":[{"type":"ack","leaseId":"x","leaseId":null}]}',
    '{"operations":[{"type":"push","queue":"never","payload":1},{"type":"y"}]}',
    '{"operations":[{"type":"ack","consumerGroup":1}]}',
    '{"operations":[{"type":"push","queue":"never"}],"requiredLeases":"x"}',
    '{"operations":[{"type":"push","queue":"never"}],"requiredLeases":[1]}')
{
    $r = $q->post('transaction', $bad);
    is($r->{status}, 400, $bad);
    like($r->{body}, qr/^\{"error":"[^"]+"\}$/, 'why');
}

is($q->pop('never')->{status}, 204, 'nothing of it was stored');

$s->finish;

done_testing;
