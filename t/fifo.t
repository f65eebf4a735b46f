#!/usr/bin/perl

# FIFO queues: order in groups, one receiver of a group at a time, numbers
# without gaps, deduplication, handles.

use strict;
use warnings;

use MIME::Base64 qw/decode_base64url encode_base64url/;
use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(workers => 2);
my $c = $s->client;
my $serial = 0;

sub fifo {
    return NgxQueues::Queue->new($s, kind => 'fifo',
        visibilityTimeoutSeconds => 60, @_);
}

# messages of a group, with ids of their own

sub of {
    my ($group, @bodies) = @_;

    return map { { body => $_, groupId => $group,
                   deduplicationId => 'd' . $serial++ } } @bodies;
}

# the whole answer of a send

sub sent {
    my ($q, @messages) = @_;

    my $r = $q->post('/messages', @messages > 1 ? { messages => \@messages }
                                                : $messages[0]);

    die "send: $r->{status} $r->{body}\n" if $r->{status} != 201;

    return @{ $r->{json}{messages} };
}

sub words {
    my ($key, @m) = @_;

    return join ' ', map { $_->{$key} // '-' } @m;
}

# what a queue says of itself, one message

my $q = fifo();

is($q->is('kind'), 'fifo', 'kind');
is($q->is('contentBasedDeduplication'), 0, 'not by content, by default');

my ($a) = sent($q, of('g', 'a'));

is(join(' ', sort keys %$a), 'messageId seq', 'the answer to a send');
is($a->{seq}, '1', 'the first number');
like($a->{messageId}, qr/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/, 'UUIDv7');

my $r = $q->post('/messages/receive', {});

like($r->{body}, qr/"groupId":"g","seq":"1"\}\]\}$/, 'group, and number as text');

my ($m) = @{ $r->{json}{messages} };

is($m->{messageId}, $a->{messageId}, 'its id');
is("$m->{body} $m->{receiveCount}", 'a 1', 'received once');
like($m->{receiptHandle}, qr/^AQ[A-Za-z0-9_-]+$/, 'its handle');
is($q->counts, '0 1 0', 'in flight');
is($q->ack($m), 'ok', 'ack');
is($q->ack($m), 'stale', 'and again');
is($q->counts, '0 0 0', 'gone');

# order is that of the array; numbers go on in each group, whatever is acked

my @sent = sent($q, map { of($_->[0], $_->[1]) } ['g', 'g2'], ['h', 'h1'],
                ['g', 'g3'], ['h', 'h2'], ['i', 'i1'], ['g', 'g4']);

is(words('seq', @sent), '2 1 3 2 1 4', 'numbers in their groups, without gaps');

my %ids = map { $_->{messageId} => 1 } @sent;

is(scalar keys %ids, 6, 'every message has its id');

my @m = $q->receive(maxMessages => 10);

is(scalar @m, 6, 'one receive takes several of a group, and of several groups');

for my $group ('g', 'h', 'i') {
    is(words('body', grep { $_->{groupId} eq $group } @m),
       { g => 'g2 g3 g4', h => 'h1 h2', i => 'i1' }->{$group}, "$group: in order");
}

is($q->ack(@m), 'ok ok ok ok ok ok', 'ack of all');

# while one message of a group is in flight, no receive gets that group

sent($q, of('g', 'a', 'b', 'c'));
sent($q, of('h', 'x'));
($m) = $q->receive(maxMessages => 1);
is($m->{body}, 'a', 'the first one of a group');
is($m->{seq}, '5', 'its number');
sent($q, of('g', 'd'));

my @other = $q->receive(maxMessages => 10);

is(words('body', @other), 'x', 'then another group only');
is(scalar $q->receive(maxMessages => 10), 0, 'then none');
is($q->counts, '3 2 0', 'three wait for their turn');
is($q->ack($m), 'ok', 'ack');
@m = $q->receive(maxMessages => 10);
is(words('body', @m), 'b c d', 'the others, in order');

# a part is acknowledged, the rest fails: it comes again, in order

is($q->ack($m[0]), 'ok', 'ack of the first');
is($q->visibility(0, @m[1, 2]), 'ok ok', 'the others are released');

my @again = $q->receive(maxMessages => 10);

is(words('body', @again), 'c d', 'in order');
is(words('receiveCount', @again), '2 2', 'for the second time');
is(words('messageId', @again), words('messageId', @m[1, 2]), 'the same ids');
is(words('firstReceivedAt', @again), words('firstReceivedAt', @m[1, 2]),
   'first received when they were');
is($q->ack(@m[1, 2]), 'stale stale', 'the handles before are stale');
is($q->ack(@again), 'ok ok', 'the new ones are not');

# what fails in the middle: those behind it wait for it

sent($q, of('g', 'e', 'f', 'g'));
@m = $q->receive(maxMessages => 10);
is(words('body', @m), 'e f g', 'three');
is($q->visibility(0, $m[0]), 'ok', 'the first one fails');
is(scalar $q->receive(maxMessages => 10), 0,
   'not received while others of the group are in flight');
is($q->ack($m[2]), 'ok', 'the last one is done');
is($q->visibility(0, $m[1]), 'ok', 'the second fails');
@again = $q->receive(maxMessages => 10);
is(words('body', @again), 'e f', 'they come again in order');
is($q->ack(@again), 'ok ok', 'ack');
is($q->ack($other[0]), 'ok', 'ack of the other group');
is($q->counts, '0 0 0', 'nothing is left');

# a timeout: the group goes on with that message

my $brief = fifo(visibilityTimeoutSeconds => 1);

sent($brief, of('t', '1', '2'));
@m = $brief->receive(maxMessages => 1);
@again = $brief->receive(maxMessages => 10, waitSeconds => 10,
                         visibilityTimeoutSeconds => 60);
is(words('body', @again), '1 2', 'after a timeout, in order');
is(words('receiveCount', @again), '2 1', 'counts');
is($brief->ack($m[0]), 'stale', 'stale');
is($brief->ack(@again), 'ok ok', 'ack');

# a wait ends when the group is free again

sent($q, of('w', '1', '2'));
($m) = $q->receive;

my $h = $q->park(waitSeconds => 20, fresh => 1);

$q->parked;
ok(!$c->wait_any([$h], 0.3), 'the group is taken: it waits');
is($q->ack($m), 'ok', 'ack');
($r) = $c->wait_all([$h], 5);
is(words('body', @{ $r->{json}{messages} }), '2', 'then it has the next one');
is($q->ack($r->{json}{messages}[0]), 'ok', 'ack');

# several wait; whoever is first has a group alone, however many it takes

for my $try (1 .. 20) {
    my @h = map { $q->park(waitSeconds => 20, maxMessages => $_, fresh => 1) }
        2, 10, 10;

    $q->parked(1);
    sent($q, of("one$try", map { "$_" } 1 .. 6));

    my ($first) = $c->wait_any(\@h, 5);
    my @got = @{ $first->result->{json}{messages} };
    my @rest = grep { $_ != $first } @h;

    my $second = $c->wait_any(\@rest, 0.02);

    ok(!$second, 'nobody else has of that group')
        or diag($second->result->{body});
    is($q->ack(@got), join(' ', ('ok') x @got), 'ack');

    while (@got < 6) {
        my $next = $c->wait_any(\@rest, 5) or last;
        my @more = @{ $next->result->{json}{messages} };

        @rest = grep { $_ != $next } @rest;
        push @got, @more;
        $q->ack(@more);
    }

    is(words('body', @got), '1 2 3 4 5 6', 'all of it, in order');
    $_->close for @rest;
}

$r = $q->post('/purge');
is($r->{status}, 202, 'purge');

# a client that has gone takes no message, and its group is free

for my $go ('close', 'reset') {
    my $n = $q->park(waitSeconds => 20, fresh => 1, maxMessages => 10);

    $q->parked;
    $n->$go;
    sent($q, of("gone-$go", '1', '2'));

    my @next = $q->receive(maxMessages => 10, waitSeconds => 5);

    is(words('body', @next), '1 2', "$go: the next one gets them");
    is(words('receiveCount', @next), '1 1', "$go: for the first time");
    is($q->ack(@next), 'ok ok', "$go: ack");
}

# many at once: of each group every message once, in order, one at a time

my $many = fifo();
my %order;

for my $i (0 .. 19) {
    sent($many, map { of("g$_", "$i") } 0 .. 9);
}

my (%busy, @wrong);
my $left = 200;

while ($left) {
    my @h = map { $many->park(waitSeconds => 0, maxMessages => 3, fresh => 1) }
        1 .. 10;
    my @taken = map { [@{ $_->{json}{messages} }] } $c->wait_all(\@h, 20);

    %busy = ();

    for my $i (0 .. $#taken) {
        for my $one (@{ $taken[$i] }) {
            my $group = $one->{groupId};

            push @wrong, "$group is with two" if ($busy{$group} //= $i) != $i;
            push @{ $order{$group} }, $one->{body};
        }
    }

    my @all = map { @$_ } @taken or last;

    $left -= @all;
    $many->ack(splice @all, 0, 10) while @all;
}

is($left, 0, 'all were received');
is("@wrong", '', 'a group is with one at a time');
is(join(';', map { "@{ $order{$_} }" } sort keys %order),
   join(';', ("@{[0 .. 19]}") x 10), 'in order');

# deduplication: the first answer again, whatever comes of the first message

my $first = { body => 'first', groupId => 'd', deduplicationId => 'once' };

($a) = sent($q, $first);

for my $message ($first, { %$first, body => 'other' },
                 { %$first, groupId => 'other' },
                 { %$first, deduplicationId => 'once' }) {
    my ($b) = sent($q, $message);

    is("$b->{messageId} $b->{seq}", "$a->{messageId} $a->{seq}",
       'the first id and number');
    is($b->{duplicate}, 1, 'a duplicate');
}

$r = $q->post('/messages', '{"body":"e","groupId":"d",'
              . '"deduplicationId":"\\u006fn\\u0063e"}');
like($r->{body}, qr/"duplicate":true\}\]\}$/, 'the same id, in other letters');
is($q->counts, '1 0 0', 'one is stored');
($m) = $q->receive;
is($m->{body}, 'first', 'the first one');
($a) = sent($q, $first);
is($a->{duplicate}, 1, 'known while it is in flight');
is($q->ack($m), 'ok', 'ack');
($a) = sent($q, $first);
is($a->{duplicate}, 1, 'and when it is gone');
is($a->{messageId}, $m->{messageId}, 'with its id');

@sent = sent($q, of('d', 'x'), $first, { %$first, deduplicationId => 'twice' },
             { %$first, deduplicationId => 'twice' }, of('d', 'y'));
is(words('duplicate', @sent), '- 1 - 1 -', 'in a batch');
is(words('seq', @sent), '2 1 3 3 4', 'which has no gap');
is($q->post('/purge')->{status}, 202, 'purge');
($a) = sent($q, $first);
is($a->{duplicate}, 1, 'a purge does not forget');
is($a->{messageId}, $m->{messageId}, 'nor its id');

# ids of another kind of case are others

($a) = sent($q, { %$first, deduplicationId => 'ONCE' });
ok(!$a->{duplicate}, 'another id');

# a deleted queue is forgotten

my $gone = fifo(name => 'gone');

sent($gone, $first);
is($c->delete($gone->path)->{status}, 204, 'delete');
$gone = fifo(name => 'gone');
($a) = sent($gone, $first);
ok(!$a->{duplicate}, 'a new queue of that name knows nothing');
is($a->{seq}, 1, 'and begins anew');

# by content: the decoded body, and nothing else

my $by = fifo(contentBasedDeduplication => \1);

is($by->is('contentBasedDeduplication'), 1, 'by content');

sub raw {
    my $r = $by->post('/messages', $_[0]);

    die $r->{body} if $r->{status} != 201;
    return $r->{json}{messages}[0];
}

my $b = raw('{"body":"a\\u0041/","groupId":"g"}');

is($b->{seq}, 1, 'the first');
is(raw('{"body":"aA\\/","groupId":"g"}')->{messageId}, $b->{messageId},
   'the same body, written in another way');
is(raw('{"body":"aA/","groupId":"h","attributes":{"k":"v"}}')->{duplicate}, 1,
   'whatever its group and attributes');
ok(!raw('{"body":"aA/","groupId":"g","deduplicationId":"x"}')->{duplicate},
   'an id goes before the content');
ok(!raw('{"body":"aa/","groupId":"g"}')->{duplicate}, 'another body');
ok(!raw('{"body":"' . 'x' x 200_000 . '","groupId":"g"}')->{duplicate},
   'a long one');
is(raw('{"body":"\\u0078' . 'x' x 199_999 . '","groupId":"g"}')->{duplicate}, 1,
   'once more');
is($c->patch($by->path, { contentBasedDeduplication => \0 })
       ->{json}{contentBasedDeduplication}, 0, 'no longer by content');
is($by->post('/messages', { body => 'aa/', groupId => 'g' })->{status}, 400,
   'then an id is needed');

# groups: printable ASCII, in any escape

my $names = fifo();
my $ascii = join '', map { chr } 0x20 .. 0x7e;

sent($names, of($ascii, '1'), of(' ', '1'), of('\\u0041', '1'));
$r = $names->post('/messages', '{"body":"2","groupId":"\\u005cu0041",'
                  . '"deduplicationId":"z"}');
is($r->{json}{messages}[0]{seq}, 2, 'an escaped backslash');
sent($names, of('A', '1'));
$r = $names->post('/messages', '{"body":"2","groupId":"\\u0041",'
                  . '"deduplicationId":"y"}');
is($r->{json}{messages}[0]{seq}, 2, 'an escaped letter is the letter');

my %by = map { ("$_->{groupId}$_->{body}" => 1) }
    $names->receive(maxMessages => 10);

is_deeply(\%by, { map { $_ => 1 } "${ascii}1", ' 1', '\\u00411', '\\u00412',
                  'A1', 'A2' }, 'groups as they were sent');

# bodies and attributes byte for byte

my $text = '{"body":"\\u0000:1:\\/\\ud800 \\n","attributes":{ "k" : "\\u0041" },'
           . '"groupId":"b","deduplicationId":"b"}';

is($names->post('/messages', $text)->{status}, 201, 'send');
like($names->post('/messages/receive', {})->{body},
     qr/"body":"\\u0000:1:\\\/\\ud800 \\n","attributes":\{ "k" : "\\u0041" \},/,
     'as they were sent');

# the queue's delay

my $late = fifo(delaySeconds => 1);

sent($late, of('l', '1', '2'));
is($late->counts, '0 0 2', 'delayed');
is(scalar $late->receive, 0, 'not yet');
@m = $late->receive(maxMessages => 10, waitSeconds => 10);
push @m, $late->receive(maxMessages => 10, waitSeconds => 1) if @m == 1;
is(words('body', @m), '1 2', 'in order, when it is over');

# handles: no bit may change, and they tell nothing

sent($q, of('secret-group', 'h'));
($m) = grep { $_->{groupId} eq 'secret-group' } $q->receive(maxMessages => 10);

my $bytes = decode_base64url($m->{receiptHandle});
my $address = 0;
my (@bad, @altered);

unlike($bytes, qr/secret/, 'no name in a handle');

for my $bit (0 .. 8 * length($bytes) - 1) {
    my $x = $bytes;

    substr($x, $bit / 8, 1) ^= chr(1 << $bit % 8);
    push @altered, encode_base64url($x);
}

while (my @ten = splice @altered, 0, 10) {
    my $client = $s->client(local => '127.0.2.' . (1 + $address++ % 250));
    my $r = $client->post('/v1/receipts/ack', { receiptHandles => \@ten });

    push @bad, $r->{body}
        if $r->{body} ne '{"results":['
                         . join(',', ('{"error":"receipt_handle_invalid"}') x @ten)
                         . ']}';
}

is("@bad", '', 'every bit of a handle counts');
is($q->visibility(43200, $m), 'ok', 'it is as it was');
is($q->ack($m, $m), 'ok stale', 'once');

# handles of both kinds of queues in one request

my $plain = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);

$plain->send('p');
sent($q, of('mix', 'm'));

my ($p) = $plain->receive;
my ($f) = $q->receive;

is($q->ack($f, 'AQ', $p), 'ok invalid ok', 'queues of both kinds');

# purge and delete make handles stale

sent($q, of('purged', '1', '2'));
@m = $q->receive(maxMessages => 10);
is($q->post('/purge')->{status}, 202, 'purge');
is($q->counts, '0 0 0', 'nothing is left');
is($q->ack(@m), 'stale stale', 'the handles are stale');
is((sent($q, of('purged', '3')))[0]{seq}, 3, 'numbers go on');
is($c->delete($q->path)->{status}, 204, 'delete');
is($q->ack(@m), 'stale stale', 'and stale');

$s->finish;

done_testing;
