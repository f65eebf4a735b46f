#!/usr/bin/perl

# Messages are looked at: lists with their filters, one with all that is known of
# it; dead letters are pushed again or deleted.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queen;

my $s = NgxQueues::Queen::server();
my $q = NgxQueues::Queen->new($s);

sub keys_of { join ' ', sort keys %{ $_[0] } }
sub ids { join ' ', map { $_->{transactionId} } @{ $_[0]{json}{messages} } }

sub path {
    my ($m, $rest) = @_;

    return "messages/$m->{partitionId}/"
           . NgxQueues::Queen::escape($m->{transactionId}) . ($rest // '');
}

my $r = $q->get('messages');

is("$r->{status} $r->{body}", '200 {"messages":[],"mode":{"hasQueueMode":false,'
   . '"busGroupsCount":0,"type":"none"}}', 'none');

$q->configure('a', retryLimit => 0, leaseTime => 100);
$q->push('a', map { { transactionId => "t$_", partition => 'p',
                      payload => { n => $_ } } } 1 .. 4);
$q->push('n.b', { transactionId => 'u', payload => 'x' });

# lists: the newest first

is(ids($q->get('messages', queue => 'a')), 't4 t3 t2 t1', 'of a queue');
is(ids($q->get('messages', queue => 'a', limit => 2, offset => 1)), 't3 t2',
   'a page');
is(ids($q->get('messages', ns => 'n')), 'u', 'of a namespace');
is(ids($q->get('messages', namespace => 'n', task => 'b')), 'u', 'and a task');
is(ids($q->get('messages', task => 'none')), '', 'of none');
is(ids($q->get('messages', queue => 'a', partition => 'none')), '',
   'of a partition that there is not');
is(ids($q->get('messages', queue => 'a', from => '2100-01-01T00:00:00Z')), '',
   'from');
is(ids($q->get('messages', queue => 'a', to => '2020-01-01T00:00:00Z',
               from => '2019-01-01')), '', 'to');
is($q->get('messages', from => 'x')->{status}, 400, 'no time');
is(scalar @{ $q->get('messages')->{json}{messages} }, 5, 'of all');

# what becomes of them

my @m = $q->messages('a', batch => 3);

$q->ack([$m[0]]);
$r = $q->get('messages', queue => 'a');

my @l = reverse @{ $r->{json}{messages} };

is(keys_of($l[0]), join(' ', sort qw/id transactionId partitionId queuePath queue
   partition namespace task status queueStatus busStatus traceId producerSub
   createdAt leaseExpiresAt data payload/), 'the keys');
is($l[0]{$_}, $m[0]{$_}, $_) for qw/id transactionId partitionId createdAt/;
is($l[0]{queuePath}, 'a/p', 'its path');
is_deeply($l[0]{data}, { n => 1 }, 'its payload');
is(join(' ', map { $_->{status} } @l),
   'completed processing processing pending', 'each status');
ok($l[1]{leaseExpiresAt} && !$l[3]{leaseExpiresAt}, 'a lease');
is_deeply($r->{json}{mode}, { hasQueueMode => JSON::PP::true,
          busGroupsCount => 0, type => 'queue' }, 'who consumes');
is(ids($q->get('messages', queue => 'a', status => 'processing')), 't3 t2',
   'of one status');

$q->messages('n.b', consumerGroup => 'g');
$r = $q->get('messages', queue => 'n.b')->{json};
is("$r->{messages}[0]{status} $r->{mode}{type}", 'pending bus', 'of a group');
is_deeply($r->{messages}[0]{busStatus}, { consumedBy => 0, totalGroups => 1 },
          'which has not consumed it');

# one

$r = $q->get(path($m[1]))->{json};
is(keys_of($r), join(' ', sort qw/id transactionId partitionId queue partition
   queuePath namespace task status payload isEncrypted traceId producerSub
   createdAt errorMessage retryCount leaseExpiresAt queueConfig consumerGroups
   mode/), 'the keys of one');
is("$r->{id} $r->{queuePath} $r->{status} $r->{queueConfig}{leaseTime} "
   . $r->{queueConfig}{retryLimit}, "$m[1]{id} a/p processing 100 0", 'what it is');
is($r->{consumerGroups}[0]{name}, '__QUEUE_MODE__', 'who consumes it');
ok(!$r->{consumerGroups}[0]{consumed} && $r->{consumerGroups}[0]{leaseExpiresAt},
   'it is leased');

for my $m ({ %{ $m[0] }, transactionId => 'none' },
           { %{ $m[0] }, partitionId => 'x' })
{
    $r = $q->get(path($m));
    is("$r->{status} $r->{body}", '404 {"error":"Message not found"}', 'none');
}

# a dead letter

is($q->delete(path($m[1]))->{status}, 404, 'a message cannot be deleted');
is($q->post(path($m[1], '/retry'))->{status}, 404, 'nor pushed again');

$q->ack([$m[1]], 'failed', error => 'why');
$r = $q->get(path($m[1]))->{json};
is("$r->{status} $r->{errorMessage} $r->{retryCount}", 'dead_letter why 0',
   'a dead letter');
is(ids($q->get('messages', queue => 'a', status => 'dead_letter')), 't2',
   'in the list');

$r = $q->post(path($m[1], '/retry'));
is($r->{status}, 200, 'pushed again');
ok($r->{json}{success}, 'it was');
is("$r->{json}{partitionId} $r->{json}{transactionId}",
   "$m[1]{partitionId} t2", 'what');
is($q->post(path($m[1], '/retry'))->{status}, 404, 'once');

my @again = $q->messages('a', batch => 9);

is(join(' ', map { $_->{data}{n} } @again), '3 4 2', 'at the end');
is("$again[2]{transactionId} $again[2]{id}",
   "$r->{json}{newTransactionId} $r->{json}{messageId}", 'as another one');

$q->ack([$again[0]], 'dlq');
$r = $q->delete(path($again[0]));
is("$r->{status} $r->{json}{success} $r->{json}{transactionId}", '200 1 t3',
   'deleted');
is($q->delete(path($again[0]))->{status}, 404, 'once');
is($q->get('dlq', queue => 'a')->{json}{total}, 0, 'none is left');

# sealed

$q->configure('s', encryptionEnabled => JSON::PP::true);
$q->push('s', { transactionId => 'a b/c', payload => 'secret' });
my ($m) = $q->messages('s');
is($q->get('messages', queue => 's')->{json}{messages}[0]{data}, 'secret',
   'a sealed one');
$r = $q->get(path($m))->{json};
is("$r->{payload} $r->{isEncrypted}", 'secret 1', 'and by itself');

done_testing();
