#!/usr/bin/perl

# Pops of the Queen API: what is in their answers, the parameters, groups,
# labels, subscriptions, and the answer that is nothing.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Queen;

my $s = NgxQueues::Queen::server(workers => 2);
my $q = NgxQueues::Queen->new($s);

sub data { NgxQueues::Queen::data(@_) }

# nothing: the bytes on the wire, and the connection goes on

$q->push('nothing', 1);

my $n = $q->client->connect;
my $get = sub { "GET $_[0] HTTP/1.1\r\nHost: a\r\n\r\n" };

for my $path ('/api/v1/pop/queue/none', '/api/v1/pop/queue/nothing/partition/x',
              '/api/v1/pop?namespace=none',
              '/api/v1/pop/queue/none?wait=true&timeout=100')
{
    $n->write($get->($path));

    my $r = $n->response;

    is($r->{status}, 204, "nothing: $path");
    is($r->{body}, '', 'no body');
    unlike($r->{head}, qr/^(?:Content-|Transfer-)/mi, 'no word of one');
}

$n->write($get->('/api/v1/pop/queue/nothing'));
is($n->response->{status}, 200, 'the connection goes on');

# batch, partitions

$q->push('four', map { my $p = $_; map { { partition => "p$p",
    payload => "$p$_" } } 1 .. 5 } 1 .. 4);

my $r = $q->pop('four', batch => 100, consumerGroup => 'one');

is(scalar @{ $r->{json}{messages} }, 5, 'of one partition by default');
is($r->{json}{partitionsClaimed}, 1, 'which is said');

$r = $q->pop('four', batch => 100, partitions => 10, consumerGroup => 'all');

my @m = @{ $r->{json}{messages} };
my %by;

push @{ $by{$_->{partition}} }, $_->{data} for @m;
is($r->{json}{partitionsClaimed}, 4, 'four partitions');
is_deeply(\%by, { map { my $p = $_; ("p$p" => [map { "$p$_" } 1 .. 5]) } 1 .. 4 },
          'each in its order');
is(scalar(keys %{ { map { $_->{leaseId} => 1 } @m } }), 1, 'one lease');
is("$r->{json}{partition} $r->{json}{partitionId} $r->{json}{leaseId}",
   "$m[0]{partition} $m[0]{partitionId} $m[0]{leaseId}", 'that of the first');
is(scalar(keys %{ { map { $_->{partitionId} => 1 } @m } }), 4, 'four ids');

is(scalar $q->messages('four', batch => 7, partitions => 9, consumerGroup => 'c'),
   7, 'the batch is the whole answer\'s');
is(scalar $q->messages('four', consumerGroup => 'd'), 1, 'one by default');
is(data($q->messages('four', partition => 'p3', batch => 9, partitions => 9,
                     consumerGroup => 'e')), '31 32 33 34 35', 'pinned');

for my $batch (0, -5, '') {
    is(scalar $q->messages('four', batch => $batch, partitions => $batch,
                           consumerGroup => "b$batch"), 1, "batch=$batch");
}

is(scalar $q->messages('four', batch => '9' x 30, partitions => '9' x 30,
                       timeout => '9' x 30, consumerGroup => 'huge'), 20,
   'huge numbers');

for my $query ('batch=x', 'batch=1.5', 'partitions=x', 'timeout=-', 'batch=1x',
               'leaseSeconds=soon', 'batch=%zz', 'x=%0', 'consumerGroup=%ff')
{
    my $r = $q->client->get("/api/v1/pop/queue/four?$query");

    is($r->{status}, 400, $query);
    like($r->{body}, qr/^\{"error":"[^"]+"\}$/, 'why');
}

is($q->client->get('/api/v1/pop/queue/four?batch=2&batch=x&namespace=n&y=1'
                   . '&consumerGroup=first')->{status}, 200,
   'of several the first counts, what is not known does not');

# leases: a group's batch is one at a time, another group's is its own

$q->push('leases', 1 .. 4);
@m = $q->messages('leases', batch => 2, consumerGroup => 'g');
is(data(@m), '1 2', 'a batch');
is($q->pop('leases', consumerGroup => 'g')->{status}, 204, 'is leased');
is(data($q->messages('leases', batch => 9, consumerGroup => 'h')), '1 2 3 4',
   'not for others');
is(data($q->messages('leases', batch => 9)), '1 2 3 4', 'nor for no group');
is($q->pop('leases', consumerGroup => '__QUEUE_MODE__')->{status}, 204,
   'which is called so');

$q->push('short', 1);
@m = $q->messages('short', leaseSeconds => 1);

my $begin = time;

($r) = $q->messages('short', wait => 'true', timeout => 20_000);
is($r->{data}, 1, 'the end of a lease of a second');
cmp_ok(time - $begin, '<', 15, 'wakes who waits');
isnt($r->{leaseId}, $m[0]{leaseId}, 'with a lease of its own');

# acknowledged in the pop itself

$q->push('auto', 1 .. 3);
$r = $q->pop('auto', autoAck => 'true', batch => 2);
is("$r->{json}{leaseId}|$r->{json}{messages}[0]{leaseId}", '|', 'no lease');
is(data($q->messages('auto', autoAck => '1', batch => 9)), '3', 'and the rest');
is($q->pop('auto')->{status}, 204, 'all are');
$q->push('auto', 4);
is(data($q->messages('auto', autoAck => 'TRUE')), 4, 'only true is true');
is($q->pop('auto')->{status}, 204, 'so that was leased');

# where a group starts

$q->push('subs', 'old');

my ($old) = $q->messages('subs', consumerGroup => 'all');

is($old->{data}, 'old', 'with the oldest');

for my $new ([subscriptionMode => 'new'], [subscriptionMode => 'new-only'],
             [subscriptionFrom => 'now'],
             [subscriptionFrom => '2999-01-01T00:00:00Z'],
             [subscriptionMode => 'all', subscriptionFrom => 'now'])
{
    is($q->pop('subs', consumerGroup => "@$new", @$new)->{status}, 204, "@$new");
}

for my $all ([subscriptionMode => 'from_beginning'], [subscriptionFrom => 'soon'],
             [subscriptionMode => 'new', subscriptionFrom => '2000-01-01'],
             [subscriptionFrom => $old->{createdAt}])
{
    is(data($q->messages('subs', consumerGroup => "@$all", @$all)), 'old', "@$all");
}

is(data($q->messages('subs', subscriptionMode => 'new')), 'old',
   'who has no group starts with the oldest');

$q->push('subs', 'new', { partition => 'late', payload => 'late' });
is(data(sort { $a->{data} cmp $b->{data} }
        $q->messages('subs', batch => 9, partitions => 9,
                     consumerGroup => 'subscriptionMode new')), 'late new',
   'what comes after the first pop, in new partitions, too');

is($q->pop('later', consumerGroup => 'g', subscriptionMode => 'new')->{status},
   204, 'of a queue that is not there');
$q->push('later', 1);
is(data($q->messages('later', consumerGroup => 'g')), 1, 'likewise');

# by labels

$q->push("shop.$_", $_) for qw/mail print/;
$q->push('other.mail', 'other');

$r = $q->client->get('/api/v1/pop?consumerGroup=g');
is("$r->{status} $r->{body}", '400 {"error":"namespace or task is required"}',
   'neither is given');

$r = $q->pop(undef, namespace => 'shop', batch => 9, partitions => 9,
             consumerGroup => 'n');
is(data(sort { $a->{data} cmp $b->{data} } @{ $r->{json}{messages} }),
   'mail print', 'a namespace');
is($r->{json}{queue}, '', 'no queue is named');
is(data(sort { $a->{data} cmp $b->{data} }
        $q->messages(undef, task => 'mail', batch => 9, partitions => 9,
                     consumerGroup => 't')), 'mail other', 'a task');
is(data($q->messages(undef, task => 'mail', namespace => 'shop', batch => 9,
                     partitions => 9, consumerGroup => 'b')), 'mail', 'both');
is($q->pop(undef, namespace => 'sho', consumerGroup => 'x')->{status}, 204,
   'the whole word');

# more queues than one look sees: a pop goes on until it has seen all of them

NgxQueues::Queen::expect($q->post('push', { items => [
    map { { queue => "wide.$_", payload => $_ } } 1 .. 170 ] }), 201);

my @wide;

while (my @m = $q->messages(undef, namespace => 'wide', batch => 20,
                            partitions => 20, autoAck => 'true'))
{
    push @wide, map { $_->{data} } @m;
}

is_deeply([sort { $a <=> $b } @wide], [1 .. 170], 'each of many queues');

for my $n (1, 60, 120, 170) {
    $q->push("wide.$n", "more $n");
    is(data($q->messages(undef, namespace => 'wide', autoAck => 'true')),
       "more $n", 'the one that has something');
}

# names in paths and queries

$q->push('a b/c%"', { partition => 'p/q?', payload => 'odd' });

my ($odd) = $q->messages('a b/c%"', partition => 'p/q?', consumerGroup => 'x y"');

is("$odd->{data} $odd->{partition} $odd->{consumerGroup}", 'odd p/q? x y"',
   'any characters');
$q->push('plus+plus', 1);
is(data(@{ $q->client->get('/api/v1/pop/queue/plus+plus?consumerGroup=a+b')
           ->{json}{messages} }), 1, 'a plus in a path is one');
is($q->client->get('/api/v1/pop/queue/plus+plus?consumerGroup=a%20b')->{status},
   204, 'and in a query a blank');

# control characters as well, but NUL, which nginx has in no path

my $controls = join '', map { chr } 1 .. 31, 127;

$q->push("c$controls", { partition => $controls, payload => 'controls' });
$q->push("n\0", 'nul');

my ($c) = $q->messages("c$controls", partition => $controls, consumerGroup => "\0$controls");

is("$c->{data} " . ($c->{partition} eq $controls) . ($c->{consumerGroup} eq "\0$controls"),
   'controls 11', 'control characters in paths and queries');
my ($done) = $q->ack([$c]);

ok($done->{success}, 'it is that group');
is($q->pop("c$controls", consumerGroup => "\0$controls")->{status}, 204, 'all is consumed');

for my $path ('/api/v1/pop/queue/%00',
              '/api/v1/pop/queue/%ff', '/api/v1/pop/queue/' . 'x' x 1025)
{
    is($q->client->get($path)->{status}, 400, substr $path, 0, 30);
}

is($q->client->get("/api/v1/$_")->{status}, 404, $_)
    for 'pop/queue/', 'pop/queue', 'pop/queue/a/partition', 'pop/', 'pop/q/a',
        'pop/queue/a/partition/b/c', 'POP';
is($q->post('pop/queue/four', {})->{status}, 405, 'POST');

# a queue has so many groups

$q->push('groups', 1);
$q->messages('groups', consumerGroup => 'a group');

my $redis = $s->redis->client;
my ($lg) = grep { $redis->call('HEXISTS', $_, 'a group') }
                @{ $redis->call('KEYS', '*:lg:*') };
my $record = $redis->call('HGET', $lg, 'a group');

$redis->call('HSET', $lg, map { ("g$_", $record) } 1 .. 9999);
$r = $q->pop('groups', consumerGroup => 'more');
is($r->{status}, 400, 'one group more than there may be');
like($r->{body}, qr/^\{"error":"[^"]+ consumer groups /, 'why');
is($q->pop('groups', consumerGroup => 'a group')->{status}, 204, 'others pop');
$redis->call('HDEL', $lg, map { "g$_" } 1 .. 9999);

# HEAD is GET without its body

$q->push('head', 1);
$r = $q->client->head('/api/v1/pop/queue/head');
is("$r->{status} $r->{body}", '200 ', 'HEAD');
cmp_ok($r->{headers}{'content-length'}, '>', 100, 'of so many bytes');

$s->finish;

done_testing;
