#!/usr/bin/perl

# Consumer groups of the Queen API: what is told of them, lag; where they begin;
# they are moved and forgotten.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queen;
use NgxQueues::Wait;

my $s = NgxQueues::Queen::server();
my $q = NgxQueues::Queen->new($s);

sub data { NgxQueues::Queen::data(@_) }

sub pop_all {
    my ($queue, $group, %query) = @_;

    return data($q->messages($queue, consumerGroup => $group, batch => 100,
                             partitions => 10, %query));
}

sub at { $q->post("consumer-groups/$_[0]", $_[1]) }

my $r = $q->get('consumer-groups');

is("$r->{status} $r->{body}", '200 []', 'none');
is($q->get('consumer-groups/none')->{body}, '{}', 'an unknown one');
is($q->get('consumer-groups/lagging')->{body}, '[]', 'none lags');

# what is told

$q->push('a', { partition => 'p', payload => 1 }, { partition => 'p', payload => 2 },
         { partition => 'o', payload => 3 });

my ($m) = $q->messages('a', consumerGroup => 'g', partition => 'p');

is($m->{data}, 1, 'the first one');
$q->ack([$m]);
$q->messages('a', consumerGroup => 'g', partition => 'p');
$q->pop('a', consumerGroup => 'new', subscriptionMode => 'new');
$q->pop('b', consumerGroup => 'g');

$r = $q->get('consumer-groups');

my @g = @{ $r->{json} };

is(join(' ', map { "$_->{name}/$_->{queueName}" } @g), 'g/a g/b new/a',
   'each group on each queue');
is_deeply([sort keys %{ $g[0] }], [sort qw/name topics queueName members
          partitionsWithLag totalLag maxTimeLag state subscriptionMode
          subscriptionTimestamp subscriptionCreatedAt/], 'its keys');
is_deeply($g[0]{topics}, ['a'], 'topics');
is("$g[0]{members} $g[0]{totalLag} $g[0]{state} $g[0]{subscriptionMode}",
   '1 2 Stable all', 'one that has consumed');
is("$g[1]{members} $g[1]{totalLag} $g[1]{state}", '0 0 Dead', 'one that has not');
is("$g[2]{totalLag} $g[2]{subscriptionMode}", '0 new', 'one of what is new');
ok($g[2]{subscriptionTimestamp} && !$g[0]{subscriptionTimestamp},
   'only that has a time');
is(join(' ', map { "$_->{name}/$_->{queueName}" } @{ $q->get('consumer-groups',
   limit => 1, after => 'g', afterQueue => 'a')->{json} }), 'g/b', 'a page');

sub of { join ' ', map { "$_->{name}/$_->{queueName}" } @{ $q->get('consumer-groups', @_)->{json} } }

is(of(queue => 'a'), 'g/a new/a', 'of one queue');
is(of(queue => 'b'), 'g/b', 'of another');
is(of(queue => 'a', limit => 1), 'g/a', 'a page of these');
is(of(queue => 'a', limit => 1, after => 'g', afterQueue => 'a'), 'new/a', 'the next one');
is(of(queue => 'a', after => 'new'), '', 'that was the last one');
is(of(queue => $_), '', "none of '$_'") for 'none', '';
is($q->get('consumer-groups', queue => "\xff")->{status}, 400, 'a queue that is no text');

$r = $q->get('consumer-groups/g')->{json};
is(join(' ', sort keys %$r), 'a b', 'one group: its queues');

my ($p) = grep { $_->{partition} eq 'p' } @{ $r->{a}{partitions} };

is_deeply([sort keys %$p], [sort qw/partition workerId lastConsumedAt
          totalConsumed offsetLag timeLagSeconds leaseActive/], 'a partition');
is("$p->{totalConsumed} $p->{offsetLag}", '1 1', 'what it has consumed');
ok($p->{leaseActive} && $p->{workerId} && $p->{lastConsumedAt}, 'and leased');
is_deeply($r->{b}{partitions}, [], 'a queue without');

# lag

ok(wait_for { @{ $q->get('consumer-groups/lagging', minLagSeconds => 1)
                 ->{json} } >= 2 }, 'some lag');

my @l = @{ $q->get('consumer-groups/lagging', minLagSeconds => 1)->{json} };
my ($l) = grep { $_->{partition_name} eq 'p' } @l;

is_deeply([sort keys %$l], [sort qw/consumer_group queue_name partition_name
          partition_id worker_id offset_lag time_lag_seconds lag_hours
          oldest_unconsumed_at last_consumed_at/], 'the keys');
is("$l->{consumer_group} $l->{queue_name} $l->{partition_id} $l->{offset_lag}",
   "g a $m->{partitionId} 1", 'one of them');
cmp_ok($l->{time_lag_seconds}, '>=', 1, 'for a second');
is($q->get('consumer-groups/lagging')->{body}, '[]', 'not for an hour');

# where it begins on what it has not begun yet

my $future = '2100-01-01T00:00:00.000Z';

$r = at('g/subscription', { subscriptionTimestamp => $future });
is("$r->{status} $r->{body}", '200 {"success":true,"consumerGroup":"g",'
   . "\"newTimestamp\":\"$future\",\"rowsUpdated\":2}", 'a time for all queues');
is(at('none/subscription', { subscriptionTimestamp => $future })
   ->{json}{rowsUpdated}, 0, 'of a group that there is not');
is(at('g/subscription', $_)->{status}, 400, 'refused')
    for {}, { subscriptionTimestamp => 'x' }, { subscriptionTimestamp => 1 };
is($q->get('consumer-groups')->{json}[0]{subscriptionTimestamp}, $future,
   'is told');

# lag: what it will get

$q->push('lag', map { { partition => "p$_", payload => $_ } } 1 .. 12);
$q->pop('lag', consumerGroup => 'later', subscriptionFrom => $future);
$q->pop('lag', consumerGroup => 'all', partition => 'p1', autoAck => 'true');

my %lag = map { $_->{name} => "$_->{totalLag} $_->{partitionsWithLag} $_->{state}" }
    @{ $q->get('consumer-groups', queue => 'lag')->{json} };

is($lag{later}, '0 0 Dead', 'of one that begins later: nothing');
like($lag{all}, qr/^11 \d+ Stable$/, 'of another');
$q->delete('resources/queues/lag');

# moved: to the end, to a time, one partition; leases are over

$q->push('s', map { { partition => "p$_", payload => $_ } } 1 .. 3);
is(join(' ', sort split / /, pop_all('s', 'g')), '1 2 3', 'all are leased');
$r = at('g/queues/s/seek', { toEnd => JSON::PP::true });
is($r->{body}, '{"success":true,"consumerGroup":"g","queueName":"s","seekToEnd":'
   . 'true,"targetTimestamp":null,"partitionsUpdated":3}', 'to the end');
is(pop_all('s', 'g'), '', 'nothing is left');
$q->push('s', { partition => 'p1', payload => 4 });
is(pop_all('s', 'g'), '4', 'but what comes');

$r = at('g/queues/s/seek', { timestamp => '2020-01-01T00:00:00Z' });
is("$r->{json}{targetTimestamp} $r->{json}{seekToEnd}",
   '2020-01-01T00:00:00.000Z 0', 'to a time');
is(join(' ', sort split / /, pop_all('s', 'g')), '1 2 3 4', 'all once more');

at('g/queues/s/seek', { toEnd => JSON::PP::true });

my $h = $q->park('s', consumerGroup => 'g', batch => 9, timeout => 20000);

$r = at('g/queues/s/partitions/p1/seek', { timestamp => '2020-01-01' });
is($r->{body}, '{"success":true,"consumerGroup":"g","queueName":"s",'
   . '"partitionName":"p1","updated":true}', 'one partition');
($r) = $q->client->wait_all([$h], 30);
is(data(@{ $r->{json}{messages} }), '1 4', 'who waits gets it');
at('g/queues/s/partitions/p1/seek', '');
is(pop_all('s', 'g'), '', 'to its end, by an empty body');

for my $c (['g/queues/s/seek', {}, 400, 'toEnd or timestamp is required'],
           ['g/queues/s/seek', { toEnd => 1 }, 400, 'toEnd must be a boolean'],
           ['g/queues/s/seek', { timestamp => 'x' }, 400, 'timestamp must be a'],
           ['g/queues/none/seek', { toEnd => JSON::PP::true }, 404,
            'Queue not found'],
           ['g/queues/s/partitions/none/seek', {}, 404, 'Partition not found'])
{
    $r = at(@$c[0, 1]);
    is($r->{status}, $c->[2], "$c->[0]: $c->[3]");
    like($r->{json}{error}, qr/^$c->[3]/, 'and says so');
}

# forgotten

$q->push('f', 1, 2);
is(pop_all('f', 'f', autoAck => 'true'), '1 2', 'consumed');
is(pop_all('f', 'f'), '', 'nothing is left');
$r = $q->delete('consumer-groups/f/queues/f');
is("$r->{status} $r->{body}", '200 {"success":true,"consumerGroup":"f",'
   . '"queueName":"f","deletedPartitions":1,"metadataDeleted":true}',
   'forgotten on a queue');
is(pop_all('f', 'f', subscriptionMode => 'new'), '', 'a first contact again');
$q->push('f', 3);
is(pop_all('f', 'f'), '3', 'with what is new');
$r = $q->delete('consumer-groups/f', deleteMetadata => 'false');
is($r->{body}, '{"success":true,"consumerGroup":"f","deletedPartitions":1,'
   . '"metadataDeleted":false}', 'its cursors alone');
is(pop_all('f', 'f'), '3', 'begins where it did');
is($q->delete('consumer-groups/f')->{json}{metadataDeleted}, JSON::PP::true,
   'on all queues');
is(pop_all('f', 'f'), '1 2 3', 'from the start');
$r = $q->delete('consumer-groups/none');
is("$r->{status} $r->{json}{deletedPartitions}", '200 0', 'an unknown one');

# names with everything

my $name = "a/b c\"\x{e9}";

utf8::encode($name);
$q->push('x', 1);

my $path = NgxQueues::Queen::escape($name);

is(pop_all('x', $name), '1', 'a group of any name');
ok(at("$path/queues/x/seek", { timestamp => '2020-01-01' })->{json}{success},
   'is moved');
is(pop_all('x', $name), '1', 'and consumes anew');
is($q->delete("consumer-groups/$path")->{json}{deletedPartitions}, 1,
   'and is forgotten');

# names with line feeds, which part the names of a page's end

for my $queue ("l\n", "l\nl") {
    $q->push($queue, 1);
    $q->pop($queue, consumerGroup => $_) for "l\n", "l\nm";
    is(join('|', map { $_->{name} } map { @{ $q->get('consumer-groups',
           queue => $queue, limit => 1, after => $_)->{json} } } 'l', "l\n", "l\nm"),
       "l\n|l\nm", 'pages of names with line feeds');
}

# there is an end to how many a queue may have

my $full = 0;

for my $n (1 .. 10_000) {
    $full++ if $q->pop('full', consumerGroup => "g$n")->{status} != 204;
}

is($full, 0, 'ten thousand groups');
is(of(queue => 'full', limit => 2, after => 'g5000', afterQueue => 'full'),
   'g5001/full g5002/full', 'which are listed in pages');
$r = $q->pop('full', consumerGroup => 'more');
is("$r->{status} $r->{body}", '400 {"error":"the queue has as many consumer '
   . 'groups as it may have"}', 'one more');
is($q->pop('full', consumerGroup => 'g1')->{status}, 204, 'the others go on');

done_testing();
