#!/usr/bin/perl

# Pushes of the Queen API: what is stored and answered, duplicates, what is
# refused as a whole, payloads byte by byte, large ones.

use strict;
use warnings;

use Encode 'encode_utf8';
use Test::More;

use NgxQueues::Queen;

my $s = NgxQueues::Queen::server(workers => 2);
my $q = NgxQueues::Queen->new($s);
my $uuid = qr/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/;

sub push_raw { $q->post('push', $_[0], @_[1 .. $#_]) }
sub item { '{"items":[' . $_[0] . ']}' }
sub statuses { join ' ', map { $_->{status} } @_ }

# none, and one

my $r = push_raw('{"items":[]}');

is("$r->{status} $r->{body}", '201 []', 'no items');

$r = push_raw(item('{"queue":"a","payload":1}'));
is($r->{status}, 201, 'one item');
like($r->{body}, qr/^\[\{"index":0,"message_id":"$uuid","transaction_id":"$uuid",
                    "queueName":"a","status":"queued"\}\]$/x, 'its answer');
is($r->{headers}{'content-type'}, 'application/json', 'its type');
is($r->{headers}{'access-control-allow-origin'}, undef, 'no CORS');

my ($m) = $q->messages('a');

is($m->{transactionId}, $r->{json}[0]{transaction_id}, 'the id that was made');
is($m->{id}, $r->{json}[0]{message_id}, 'and the message\'s');
like($m->{transactionId}, qr/^.{14}7/, 'which is a UUIDv7');
is($m->{partition}, 'Default', 'the partition that is none');

$r = push_raw(item(join ',', ('{"queue":"rise","payload":1}') x 100));
my @made = map { $_->{transaction_id} } @{ $r->{json} };
is("@made", join(' ', sort @made), 'of those of one push each is behind the one before');
my %made = map { $_ => 1 } @made;
is(scalar keys %made, 100, 'and no other');

# whatever the media type is

for my $type ('application/x-www-form-urlencoded', 'text/plain', undef) {
    $r = push_raw(item('{"queue":"types","payload":1}'),
                  headers => { 'Content-Type' => $type });
    is($r->{status}, 201, 'Content-Type: ' . ($type // 'none'));
}

# duplicates: of what is stored, within a call, of a duplicate, elsewhere

my @p = $q->push('dup', { transactionId => 't', payload => 1 });

is(statuses(@p), 'queued', 'the first');

my @again = $q->push('dup', map { { payload => 2, %$_ } }
    { transactionId => 't' }, { transactionId => 'u' },
    { transactionId => 'u' }, { transactionId => 't' },
    { transactionId => 't', partition => 'other' });

is(statuses(@again), 'duplicate queued duplicate duplicate queued',
   'duplicates of stored ones and in the call');
is($again[0]{message_id}, $p[0]{message_id}, 'the original\'s id');
is($again[3]{message_id}, $p[0]{message_id}, 'and of a repeated one');
is($again[2]{message_id}, $again[1]{message_id}, 'the winner\'s id');
isnt($again[4]{message_id}, $p[0]{message_id}, 'another partition: another');
is(NgxQueues::Queen::data($q->messages('dup', batch => 10)), '1 2',
   'nothing more was stored');

# ids that rise are in the index as ranges, of a segment each; they are known, too

sub rising { map { { transactionId => sprintf('r%03d', $_), payload => $_ } } @_ }
sub ranges { map { $s->redis->cli('ZCARD', $_) } grep { /:lj:/ }
             split /\n/, $s->redis->cli('KEYS', '*') }

my $before = 0;
$before += $_ for ranges();
$q->push('rising', rising(0 .. 99));
my $after = 0;
$after += $_ for ranges();
is($after - $before, 2, 'a hundred ids are two ranges');
is(statuses($q->push('rising', rising(90 .. 109))),
   join(' ', ('duplicate') x 10, ('queued') x 10), 'some of them again');
is(statuses($q->push('rising', rising(reverse 97 .. 112))),
   join(' ', ('queued') x 3, ('duplicate') x 13), 'and in another order');

# at once, from many connections: one wins

my @h = map { $s->client->start(POST => '/api/v1/push', { items => [
    { queue => 'race', transactionId => 'x', payload => $_ } ] }) } 1 .. 20;
my @won = grep { $_ eq 'queued' }
    map { $_->{json}[0]{status} } $s->client->wait_all(\@h, 20);

is(scalar @won, 1, 'one of many that come at once');

# payloads come back as they were written

my @payloads = ('null', '{}', '[]', '0', '-1.50e+10', 'true', '""', '"a\\u0041"',
    '{ "a" : [ 1 , 2 ] , "a":3 }', '"\\ud800"', '12345678901234567890123',
    "\"\xc3\xa9\\n\"", "{\n\t\"x\": 1\n}");

for my $payload (@payloads) {
    push_raw(item("{\"queue\":\"raw\",\"payload\": $payload }"));

    my $r = $q->pop('raw', autoAck => 'true');

    ok(index($r->{body}, ",\"data\":$payload,\"producerSub\"") > 0,
       'as it was: ' . $payload =~ s/\s/ /gr);
}

# names: any text, in its canonical form

my $names = '{"queue":"\\u0061 \\"b\\"\\\\/\\u00e9\\t\\u0001","partition":"",'
    . '"transactionId":"\\/x\\u0022","traceId":"tr","payload":1}';

$r = push_raw(item($names));
like($r->{body}, qr{"transaction_id":"/x\\"","queueName":"a \\"b\\"\\\\/\xc3\xa9\\t\\u0001"},
     'canonical texts');
is(push_raw(item($names =~ s/\\u0061/a/r))->{json}[0]{status}, 'duplicate',
   'are the same in all spellings');
is(push_raw(item('{"queue":"","payload":1}'))->{status}, 201,
   'the empty name of a queue');

($m) = $q->messages('raw2', partition => 'x');
is($m, undef, 'nothing is where nothing was pushed');

push_raw(item('{"queue":"raw2","partition":"","traceId":"tr","payload":1}'));
($m) = $q->messages('raw2');
is("$m->{partition}|$m->{traceId}|" . ($m->{producerSub} // 'null'), '|tr|null',
   'an empty partition, a trace, no producer');

# halves of surrogate pairs: no two of them are the same text

$r = push_raw(item(join ',', map {
    "{\"queue\":\"half\",\"payload\":1,\"transactionId\":\"$_\"}"
} '\\ud800', '\\ud83d', '\\uDC00x', '\\ufffd', '\\uD800'));
is(join(' ', $r->{body} =~ /"status":"(\w+)"/g),
   'queued queued queued queued duplicate', 'half a pair is an id of its own');

$r = $q->pop('half', batch => 9);
like($r->{body}, qr/"transactionId":"\\ud800".*"transactionId":"\\udc00x"/,
     'which comes back');

my ($partition) = $r->{body} =~ /"partitionId":"([^"]+)"/;

like($q->post('ack', '{"transactionId":"\\uD83D","partitionId":"' . $partition
              . '"}')->{body}, qr/"success":true/, 'and is acknowledged');
is(scalar(() = $q->pop('half', batch => 9, consumerGroup => 'g')->{body}
          =~ /"transactionId"/g), 4, 'all are there');

# unknown members, null

is(push_raw('{"x":[1],"items":[{"queue":"v","payload":1,'
            . '"more":{},"partition":null,"transactionId":null,"traceId":null,'
            . '"producerSub":"me"}]}')->{json}[0]{queueName}, 'v',
   'what is not known is passed over');
($m) = $q->messages('v');
is($m->{producerSub}, undef, 'who pushes is not for the body to say');

# refused as a whole

for my $bad ('{}', '{"items":null}', '{"items":{}}', '[]', '1', '"x"',
    item('1'), item('null'), item('[]'), item('{"payload":1}'),
    item('{"queue":1,"payload":1}'), item('{"queue":null,"payload":1}'),
    '{"items":[],"items":[]}', item('{"queue":"bad","queue":"bad","payload":1}'),
    item('{"queue":"bad","payload":1,"pa\\u0079load":1}'),
    item('{"queue":"bad","payload":1,"partition":null,"partition":"x"}'),
    item('{"queue":"bad"}'), item('{"queue":"bad","data":1}'),
    item('{"queue":"bad","payload":1,"partition":1}'),
    item('{"queue":"bad","payload":1,"transactionId":{}}'),
    item('{"queue":"bad","payload":1,"traceId":1}'),
    item('{"queue":"bad","payload":1},{"queue":"bad"}'),
    item('{"queue":"bad","payload":1,"partition":"' . 'x' x 1025 . '"}'),
    item(join ',', ('{"queue":"bad","payload":1}') x 10_001))
{
    $r = push_raw($bad);
    my $name = substr $bad, 0, 50;

    is($r->{status}, 400, "400: $name");
    like($r->{body}, qr/^\{"error":"[^"]+"\}$/, "why: $name");
}

for my $bad ('', '{', '{"items":[}', '{"items":[]} x', "{\"items\":[\"\xff\"]}",
    item('{"queue":"bad","payload":' . '[' x 64 . ']' x 64 . '}'))
{
    $r = push_raw($bad);
    is($r->{status}, 400, '400: no JSON');
    like($r->{body}, qr/^\{"error":"The body is not JSON: [^"]+"\}$/, 'why');
}

is($q->pop('bad')->{status}, 204, 'nothing of it was stored');

# many and large ones, in memory and in a file

is(scalar(my @many = $q->push('many', 1 .. 10_000)), 10_000, '10,000 items');

my @got;

while (my @m = $q->messages('many', batch => 1000, autoAck => 'true')) {
    push @got, map { $_->{data} } @m;
}

is_deeply(\@got, [1 .. 10_000], 'in their order');

my $large = '"' . 'x' x 2_200_000 . '"';

$r = push_raw(item("{\"queue\":\"large\",\"payload\":$large}"));
is($r->{json}[0]{status}, 'queued', '2.2 MB');
$r = $q->pop('large');
ok(index($r->{body}, $large) > 0, 'come back');

$r = push_raw('x' x (64 * 1024 * 1024 + 1), timeout => 30);
is($r->{status}, 413, 'over client_max_body_size');
is($r->{body}, '{"error":"The server refused the request with status 413."}',
   'why');

$r = push_raw(item('{"queue":"chunks","payload":1}'), chunked => [1, 2, 3]);
is($r->{status}, 201, 'in chunks');

is($q->client->get('/api/v1/push')->{status}, 405, 'GET is not POST');
is($q->client->get('/api/v1/push')->{headers}{allow}, 'POST', 'which it has');

$s->finish;

done_testing;
