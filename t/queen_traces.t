#!/usr/bin/perl

# Traces: noted, and read by message and by name.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queen;

my $s = NgxQueues::Queen::server();
my $q = NgxQueues::Queen->new($s);
my $uuid = qr/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/;

$q->push('a', { transactionId => 't', partition => 'p', payload => { n => 1 } },
         { transactionId => 'u', partition => 'p', payload => 2 });

my ($m) = $q->messages('a');
my %at = map { $_ => $m->{$_} } qw/transactionId partitionId/;

sub trace { $q->post('traces', { %at, @_ }) }
sub of { $q->get("traces/$at{partitionId}/$_[0]")->{json}{traces} }

is_deeply(of('t'), [], 'none');
is($q->get('traces/names')->{body}, '{"trace_names":[],"total":0,"pagination":{'
   . '"limit":50,"offset":0}}', 'no names');
is($q->get('traces/by-name/x')->{body}, '{"traces":[],"total":0,"pagination":{'
   . '"limit":100,"offset":0}}', 'none of a name');

my $r = trace(data => { a => 1 });

is($r->{status}, 201, 'noted');
like($r->{body}, qr/^\{"success":true,"traceId":"$uuid"\}$/, 'its answer');

my $id = $r->{json}{traceId};

trace(data => 'text', consumerGroup => 'g', eventType => "e\"\x{e9}",
      traceNames => ['one', 'two', 'one']);
trace(data => [1, undef], traceNames => 'two', consumerGroup => undef);

my $l = of('t');

is(scalar @$l, 3, 'three');
is_deeply({ %{ $l->[0] }, created_at => 1 },
          { id => $id, event_type => 'info', data => { a => 1 },
            consumer_group => undef, worker_id => undef, created_at => 1,
            trace_names => [] }, 'the first');
is("$l->[1]{event_type} $l->[1]{consumer_group} $l->[1]{data}", "e\"\x{e9} g text",
   'the second');
is_deeply([sort @{ $l->[1]{trace_names} }], ['one', 'two'], 'its names, once each');
is_deeply($l->[2]{data}, [1, undef], 'the last');
is_deeply(of('u'), [], 'none of another message');

# by name

$r = $q->get('traces/by-name/two')->{json};
is("$r->{total} " . scalar @{ $r->{traces} }, '2 2', 'two of a name');

my $t = $r->{traces}[1];

is_deeply([map { $t->{$_} } qw/transaction_id partition_id queue_name
          partition_name/], ['t', $at{partitionId}, 'a', 'p'], 'of which message');
is_deeply($t->{message_payload}, { n => 1 }, 'with its payload');
is(scalar @{ $q->get('traces/by-name/two', limit => 1, offset => 1)->{json}{traces} },
   1, 'a page');

$r = $q->get('traces/names')->{json};
is(join(' ', map { "$_->{trace_name}:$_->{trace_count}:$_->{message_count}" }
        sort { $a->{trace_name} cmp $b->{trace_name} } @{ $r->{trace_names} }),
   'one:1:1 two:2:1', 'the names');
like($r->{trace_names}[0]{last_seen}, qr/^\d{4}-.*Z$/, 'when last');
is($r->{total}, 2, 'how many');

# refused

for my $c ([{ data => undef }, 201], [{ transactionId => undef, data => 1 }, 400],
           [{ partitionId => undef, data => 1 }, 400],
           [{ partitionId => 'x', data => 1 }, 404],
           [{ data => 1, traceNames => [1] }, 400],
           [{ data => 1, traceNames => [('x') x 101] }, 400],
           [{ data => 1, eventType => 1 }, 400])
{
    is(trace(%{ $c->[0] })->{status}, $c->[1], join ' ', %{ $c->[0] }{
        grep { defined $c->[0]{$_} } sort keys %{ $c->[0] } });
}

is($q->post('traces', \%at)->{status}, 400, 'no data');

# a sealed message's payload; traces leave with their queue

$q->configure('s', encryptionEnabled => JSON::PP::true);
$q->push('s', 'secret');
($m) = $q->messages('s');
%at = map { $_ => $m->{$_} } qw/transactionId partitionId/;
trace(data => 1, traceNames => 's');
is($q->get('traces/by-name/s')->{json}{traces}[0]{message_payload}, 'secret',
   'of a sealed message');
$q->delete('resources/queues/s');
is($q->get('traces/by-name/s')->{json}{total}, 0, 'gone with its queue');

done_testing();
