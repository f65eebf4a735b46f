#!/usr/bin/perl

# Dead letters of the Queen API: what is told of them, of which queue and group,
# in pages, sealed ones; they are purged.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queen;

my $s = NgxQueues::Queen::server();
my $q = NgxQueues::Queen->new($s);
my $on = JSON::PP::true;

sub dead {
    my ($queue, $n, %query) = @_;

    $q->ack([$q->messages($queue, batch => 1, %query)], 'dlq',
            error => "why $_ \"\x{e9}\"") for 1 .. $n;
}

sub data { join ' ', map { $_->{data} } @{ $_[0]{json}{messages} } }

my $r = $q->get('dlq');

is("$r->{status} $r->{body}", '200 {"messages":[],"pagination":{"limit":100,'
   . '"offset":0},"total":0}', 'none');

# one: all that is told

$q->push('a', { transactionId => 't1', partition => 'p', payload => { n => 1 } });

my ($m) = $q->messages('a', consumerGroup => 'g');

$q->ack([$m], 'dlq', error => "bad \"\x{e9}\"");
$r = $q->get('dlq', queue => 'a');
is($r->{json}{total}, 1, 'one');

my $d = $r->{json}{messages}[0];

is_deeply([sort keys %$d], [sort qw/id transactionId partitionId queue partition
          consumerGroup errorMessage retryCount data producerSub createdAt
          failedAt/], 'its keys');
is($d->{$_}, $m->{$_}, $_) for qw/id transactionId partitionId createdAt/;
is("$d->{queue} $d->{partition} $d->{consumerGroup} $d->{errorMessage} "
   . $d->{retryCount}, "a p g bad \"\x{e9}\" 0", 'the rest');
is_deeply($d->{data}, { n => 1 }, 'the payload');
is($d->{producerSub}, undef, 'nobody has signed it');
cmp_ok($d->{failedAt}, 'ge', $d->{createdAt}, 'failed after it was made');

# retries are counted, the text of those that gave none

$q->configure('b', retryLimit => 1);
$q->push('b', 'x');
$q->ack([$q->messages('b')], 'failed') for 1 .. 2;
$d = $q->get('dlq', queue => 'b')->{json}{messages}[0];
is("$d->{errorMessage} $d->{retryCount} $d->{consumerGroup}",
   'Retries exhausted 1 __QUEUE_MODE__', 'after its retries');

# pages, the newest first; of queues and groups, of all of them

$q->push('c', 1 .. 5);
dead('c', 5);
dead('c', 2, consumerGroup => 'g');
is(data($q->get('dlq', queue => 'c')), '2 1 5 4 3 2 1', 'newest first');
is(data($q->get('dlq', queue => 'c', limit => 2, offset => 1)), '1 5', 'a page');
is(data($q->get('dlq', queue => 'c', consumerGroup => 'g')), '2 1', 'of a group');
is($q->get('dlq', queue => 'c', limit => 2)->{json}{total}, 7, 'how many');
is(data($q->get('dlq', limit => 3)), '2 1 5', 'of all queues');
is($q->get('dlq')->{json}{total}, 9, 'how many of all');
is(data($q->get('dlq', queue => 'none')), '', 'no such queue');
is($q->get('dlq', queue => 'c', limit => 0, offset => -1, from => 'x')
   ->{json}{pagination}{limit}, 1, 'what is out of range, or not known');
is($q->get('dlq', limit => 'x')->{status}, 400, 'no number');

# what is sealed is opened

$q->configure('s', encryptionEnabled => $on);
$q->push('s', 'secret');
dead('s', 1);
is(data($q->get('dlq', queue => 's')), 'secret', 'a sealed one');

# purged

is($q->delete('dlq')->{status}, 400, 'a queue is needed');
$r = $q->delete('dlq', queue => 'c', consumerGroup => 'g');
is("$r->{status} $r->{body}", '200 {"success":true,"deleted":2,"queue":"c",'
   . '"consumerGroup":"g"}', 'those of a group');
is(data($q->get('dlq', queue => 'c')), '5 4 3 2 1', 'others stay');
$r = $q->delete('dlq', queue => 'c');
is($r->{body}, '{"success":true,"deleted":5,"queue":"c","consumerGroup":null}',
   'all of a queue');
is(data($q->get('dlq', queue => 'c')), '', 'they are gone');
is($q->delete('dlq', queue => 'none')->{json}{deleted}, 0, 'no such queue');

# of a group in steps, and with the queue

$q->push('many', map { { payload => $_ } } 1 .. 1100);
dead('many', 1100, consumerGroup => 'g');
is($q->get('dlq', queue => 'many', limit => 1000)->{json}{total}, 1100, 'many');
is($q->delete('dlq', queue => 'many', consumerGroup => 'g')->{json}{deleted},
   1100, 'in steps');

$q->push('d', 1);
dead('d', 1);
$q->delete('resources/queues/d');
is(data($q->get('dlq', queue => 'd')), '', 'they leave with their queue');
unlike(data($q->get('dlq')), qr/\b1\b/, 'and the list of all');

done_testing();
