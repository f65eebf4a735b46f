#!/usr/bin/perl

# What queues there are: lists and pages, one queue with its partitions,
# namespaces and tasks, sums; the same under /status.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queen;

my $s = NgxQueues::Queen::server();
my $q = NgxQueues::Queen->new($s);
my $uuid = qr/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/;
my $moment = qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

sub keys_of { join ' ', sort keys %{ $_[0] } }
sub counts { join ' ', map { $_[0]{$_} // '-' } qw/total pending processing/ }
sub names { join ' ', map { $_->{name} } @{ $_[0]{json}{queues} } }

my $r = $q->get('resources/queues');

is("$r->{status} $r->{body}", '200 {"queues":[],"next":null}', 'none');
is($q->get('resources/namespaces')->{body}, '{"namespaces":[],"next":null}',
   'no namespaces');
is($q->get('resources/tasks')->{body}, '{"tasks":[],"next":null}', 'no tasks');

my $configured = $q->post('configure', { queue => 'a', namespace => 'n',
    task => 't', options => { leaseTime => 7 } })->{json};

$q->push('a', map { { partition => "$_", payload => $_ } } 1, 1, 2);
$q->push('n.u', 1);

# lists

$r = $q->get('resources/queues');
is(names($r), 'a n.u', 'two');

my $a = $r->{json}{queues}[0];

is(keys_of($a), 'createdAt id messages name namespace partitions task', 'the keys');
is("$a->{id} $a->{namespace} $a->{task} $a->{partitions}",
   "$configured->{queueId} n t 2", 'what it is');
like($a->{createdAt}, $moment, 'since when');
is(counts($a->{messages}), '3 3 0', 'its messages');

my ($m) = $q->messages('a', partition => '1', batch => 2);

$q->ack([$m]);
is(counts($q->get('resources/queues')->{json}{queues}[0]{messages}), '3 2 0',
   'one is consumed');

$r = $q->get('resources/queues', limit => 1);
is(names($r) . " $r->{json}{next}", 'a a', 'a page');
is(names($q->get('resources/queues', limit => 1, after => 'a')), 'n.u',
   'the next one');
$r = $q->get('status/queues', limit => 1, offset => 1);
is(names($r), 'n.u', 'by an offset');
is_deeply($r->{json}{pagination}, { limit => 1, offset => 1 }, 'which is told');

# one

$r = $q->get('resources/queues/a')->{json};
is(keys_of($r), 'createdAt id name namespace options pagination partitions task '
   . 'totals', 'the keys of one');
is("$r->{id} $r->{name} $r->{options}{leaseTime} $r->{options}{retryLimit}",
   "$configured->{queueId} a 7 3", 'what it is');
is(counts($r->{totals}) . " $r->{totals}{completed} $r->{totals}{deadLetter}",
   '3 2 0 1 0', 'its sums');

my ($p, $o) = @{ $r->{partitions} };

is(keys_of($p), 'createdAt id leasedUntil name newestMessage oldestMessage stats',
   'the keys of a partition');
is(keys_of($p->{stats}), 'completed deadLetter failed pending processing total',
   'of its numbers');
is("$p->{id} $p->{name} $o->{name}", "$m->{partitionId} 1 2", 'in their order');
is(counts($p->{stats}) . " $p->{stats}{completed}", '2 1 0 1', 'the first');
is(counts($o->{stats}), '1 1 0', 'and the second');
like($p->{$_}, $moment, $_) for qw/createdAt oldestMessage newestMessage leasedUntil/;
is($o->{leasedUntil}, undef, 'which is not leased');
is(join(' ', map { $_->{name} } @{ $q->get('resources/queues/a', limit => 1,
   offset => 1)->{json}{partitions} }), '2', 'a page of partitions');

$r = $q->get('resources/queues/n.u')->{json};
is("$r->{namespace} $r->{task} $r->{options}{leaseTime}", 'n u 300',
   'one that a push has made');

$r = $q->get('status/queues/a')->{json};
is(keys_of($r), 'pagination partitions queue totals', 'as /status has it');
is("$r->{queue}{name} $r->{queue}{config}{leaseTime}", 'a 7', 'the queue');
is(scalar @{ $r->{partitions} }, 2, 'its partitions');

for my $path (qw{resources/queues/x status/queues/x}) {
    $r = $q->get($path);
    is("$r->{status} $r->{body}", '404 {"error":"Queue not found"}', $path);
}

# labels

is($q->get('resources/namespaces')->{body}, '{"namespaces":[{"namespace":"n",'
   . '"queues":2,"partitions":3,"messages":{"total":4,"pending":3}}],'
   . '"next":null}', 'namespaces');
is($q->get('resources/tasks', limit => 1)->{body}, '{"tasks":[{"task":"t",'
   . '"queues":1,"partitions":2,"messages":{"total":3,"pending":2}}],'
   . '"next":"t"}', 'tasks, a page');
is($q->get('resources/tasks', after => 't')->{json}{tasks}[0]{task}, 'u',
   'the next one');

# sums

$q->ack([$q->messages('n.u')], 'dlq');

for my $path (qw{resources/overview status}) {
    $r = $q->get($path)->{json};
    is("$r->{queues} $r->{partitions} $r->{namespaces} $r->{tasks}", '2 3 1 2',
       $path);
    is(counts($r->{messages}) . " $r->{messages}{completed} "
       . "$r->{messages}{deadLetter}", '4 2 0 2 1', 'its messages');
    like($r->{timestamp}, $moment, 'when');
    is(keys_of($r->{lag}{time}), 'avg max median min', 'lag');
    is(keys_of($r->{throughput}), 'ingestedPerSecond processedPerSecond',
       'throughput');
}

# of many queues: sums take several calls, a list has pages

$q->post('push', { items => [map { { queue => sprintf('z%04d', $_), payload => 1 } }
                             1 .. 2100] });
$r = $q->get('resources/overview')->{json};
is("$r->{queues} $r->{partitions} $r->{messages}{total}", '2102 2103 2104',
   'sums over many queues');

my ($after, $pages, $n) = ('', 0, 0);

do {
    $r = $q->get('resources/queues', after => $after)->{json};
    $n += @{ $r->{queues} };
    $pages++;
    $after = $r->{next};
} while (defined $after && $pages < 50);

is("$n $pages", '2102 22', 'and all pages of them');

done_testing();
