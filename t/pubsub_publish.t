#!/usr/bin/perl

# Publishing to a topic: what is taken and how it comes out, byte for byte; what
# is refused, of which nothing is stored.

use strict;
use warnings;
use utf8;

use MIME::Base64 qw/encode_base64 decode_base64/;
use Test::More;

use NgxQueues::Pubsub;
use NgxQueues::Wait;

my $s = NgxQueues::Pubsub::server(workers => 2);
my $p = NgxQueues::Pubsub->new($s);
my $c = $p->client;
my $path = $p->path('topics', 'orders', 'publish');

$p->topic('orders');
$p->sub('mine', 'orders');

sub json { "{\"messages\":[$_[0]]}" }

# the text of the first message as a pull has it

sub pulled {
    my $r = $p->call('mine', 'pull', { maxMessages => 1,
                                       returnImmediately => \1 });
    my ($text) = $r->{body} =~ /"message":(\{.*\})\}\]\}\z/s or return '';

    $p->ack('mine', @{ $r->{json}{receivedMessages} });

    return $text =~ s/,"messageId":"\d+","publishTime":"[^"]+"\}\z/}/r;
}

# what comes out is canonical

my @kept = (
    'data' => '{"data":"SGVsbG8="}' => '{"data":"SGVsbG8="}',
    'no padding' => '{"data":"SGVsbG8"}' => '{"data":"SGVsbG8="}',
    'one byte, no padding' => '{"data":"AA"}' => '{"data":"AA=="}',
    'the URL alphabet' => '{"data":"-_-_"}' => '{"data":"+/+/"}',
    'the standard one' => '{"data":"+/+/"}' => '{"data":"+/+/"}',
    'escaped slashes' => '{"data":"\/\/\/\/"}' => '{"data":"////"}',
    'escaped letters' => '{"data":"\u0053GVsbG8="}' => '{"data":"SGVsbG8="}',
    'bits behind the end' => '{"data":"AB=="}' => '{"data":"AA=="}',
    'attributes alone' => '{"attributes":{"a":"b"}}'
        => '{"attributes":{"a":"b"}}',
    'in their order' => '{"attributes":{"z":"1","a":"2","m":""},"data":"AA=="}'
        => '{"data":"AA==","attributes":{"z":"1","a":"2","m":""}}',
    'empty attributes' => '{"data":"AA==","attributes":{}}'
        => '{"data":"AA=="}',
    'an ordering key' => '{"orderingKey":"k","data":"AA=="}'
        => '{"data":"AA==","orderingKey":"k"}',
    'its other spelling' => '{"ordering_key":"k","data":"AA=="}'
        => '{"data":"AA==","orderingKey":"k"}',
    'an escaped name' => '{"\u0064ata":"AA=="}' => '{"data":"AA=="}',
    'an empty ordering key' => '{"data":"AA==","orderingKey":""}'
        => '{"data":"AA=="}',
    'nulls' => '{"data":"AA==","attributes":null,"orderingKey":null}'
        => '{"data":"AA=="}',
    'blanks' => "\t{ \"data\" :\r\n \"AA==\" , \"attributes\" : "
        . '{ "a" : "b c" } } ' => '{"data":"AA==","attributes":{"a":"b c"}}',
    'what the server sets' => '{"data":"AA==","messageId":"7",'
        . '"publishTime":"2001-01-01T00:00:00Z"}' => '{"data":"AA=="}',
    'its other spelling' => '{"data":"AA==","message_id":"7",'
        . '"publish_time":"2001-01-01T00:00:00Z"}' => '{"data":"AA=="}',
    'escapes' => '{"attributes":{"\u0061\/":"\u00e9\n\u000a\u001f\b\u0022\\\\"}}'
        => '{"attributes":{"a/":"é\n\n\u001f\b\"\\\\"}}',
    'NUL' => '{"attributes":{"a\u0000b":"x\u0000y"}}'
        => '{"attributes":{"a\u0000b":"x\u0000y"}}',
    'UTF-8' => '{"attributes":{"ключ":"值 😀"},"orderingKey":"ß"}'
        => '{"attributes":{"ключ":"值 😀"},"orderingKey":"ß"}',
    'a surrogate pair' => '{"attributes":{"a":"\ud83d\ude00"}}'
        => '{"attributes":{"a":"😀"}}',
    'no character' => '{"attributes":{"a":"\uffff\u2028\u007f"}}'
        => "{\"attributes\":{\"a\":\"\x{ffff}\x{2028}\x{7f}\"}}",
    'numbers as text' => '{"attributes":{"a":"9007199254740993","b":"1e400"}}'
        => '{"attributes":{"a":"9007199254740993","b":"1e400"}}',
);

while (my ($name, $in, $out) = splice @kept, 0, 3) {
    utf8::encode($_) for $in, $out;

    my $r = $c->post($path, json($in));

    is($r->{status}, 200, "$name: taken") or diag($r->{body});
    is(pulled(), $out, "$name: kept");
}

# limits in bytes, which are taken, and one more, which is not

sub text { encode_base64($_[0], '') }

my $hundred = join ',', map { "\"k$_\":\"$_\"" } 1 .. 100;

my @limits = (
    'key of 256 bytes' => '{"attributes":{"' . 'k' x 256 . '":"v"}}',
    'and in UTF-8' => '{"attributes":{"' . 'é' x 128 . '":"v"}}',
    'value of 1024 bytes' => '{"attributes":{"k":"' . 'v' x 1024 . '"}}',
    'and in UTF-8' => '{"attributes":{"k":"' . '\u00e9' x 512 . '"}}',
    '100 attributes' => "{\"attributes\":{$hundred}}",
    'ordering key of 1024 bytes' => '{"data":"AA==","orderingKey":"'
        . 'ß' x 512 . '"}',
    'goog elsewhere' => '{"attributes":{"agoog":"v","Goog":"v","goo":"v"}}',
);

while (my ($name, $in) = splice @limits, 0, 2) {
    utf8::encode($in);
    is($c->post($path, json($in))->{status}, 200, $name);
}

is(scalar $p->pull('mine', 100), 7, 'they were stored');
$p->topic('refused');
$p->sub('nothing', 'refused');

my $refused = $p->path('topics', 'refused', 'publish');

sub refused {
    my ($name, $body, $field, $text) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    utf8::encode($body) if utf8::is_utf8($body);

    my $r = $c->post($refused, $body);
    my $error = ($r->{json} || {})->{error} || {};

    is("$r->{status} " . ($error->{code} // '') . ' '
       . ($error->{status} // ''), '400 400 INVALID_ARGUMENT', $name)
        or diag($r->{body});
    like($error->{message} // '', $text, "$name: the message") if $text;

    return if !defined $field;

    my ($bad) = grep { $_->{'@type'} eq
                       'type.googleapis.com/google.rpc.BadRequest' }
                @{ $error->{details} || [] };

    is($bad->{fieldViolations}[0]{field}, $field, "$name: the field")
        or diag($r->{body});
    ok(length($bad->{fieldViolations}[0]{description} // ''),
       "$name: what is wrong with it");
}

my $good = '{"data":"AA=="}';
my $unknown = qr/Unknown name \"x\"/;

refused('no messages', '{}', 'messages');
refused('an empty body', '', 'messages');
refused('null', '{"messages":null}', 'messages');
refused('none', json(''), 'messages');
refused('1001 of them', json(join ',', ($good) x 1001), 'messages');
refused('no array', '{"messages":{}}', 'messages');
refused('a string', json("$good,\"a\""), undef, qr/messages\[1\]/);
refused('null among them', json("$good,null"));
refused('no object', '[]');
refused('no JSON', '{"messages":[}');
refused('more behind it', json($good) . ' x');
refused('a BOM', "\x{feff}" . json($good));
refused('a raw control character', json("{\"data\":\"AA==\",\"attributes\":"
                                        . "{\"a\":\"\x01\"}}"));
refused('bytes that are no UTF-8', do {
    my $body = json('{"attributes":{"a":"' . "\xff\xc0\x80" . '"}}');
    utf8::downgrade($body);
    $body
});
refused('an unknown field', '{"messages":[' . $good . '],"x":1}', undef,
        $unknown);
refused('and in a message', json("$good,{\"data\":\"AA==\",\"x\":1}"), undef,
        $unknown);
refused('a name of another case', json('{"Data":"AA=="}'));
refused('a name with NUL', json('{"data\u0000":"AA=="}'));
refused('a name twice', json('{"data":"AA==","data":"AA=="}'));
refused('messages twice', '{"messages":[],"messages":[' . $good . ']}');
refused('both spellings',
        json('{"data":"AA==","orderingKey":"a","ordering_key":"a"}'));

for (['a number', '1'], ['an object', '{}'], ['no base64', '"%%%%"'],
     ['a blank in it', '"AA =="'], ['a line break', '"AA\n=="'],
     ['half of a padding', '"AA="'], ['padding inside', '"AA==AA=="'],
     ['too short', '"A"'], ['five', '"AAAAA"'], ['both alphabets', '"-/AA"'],
     ['half a surrogate pair', '"\ud800"'])
{
    refused("data: $_->[0]", json("$good,{\"data\":$_->[1]}"),
            'messages[1].data');
}

for (['an array', '[]'], ['a string', '"a"'], ['a number in it', '{"a":1}'],
     ['null in it', '{"a":null}'], ['an object in it', '{"a":{}}'],
     ['an empty key', '{"":"a"}'], ['a key of 257 bytes', '{"' . 'k' x 257
      . '":"v"}'], ['in UTF-8', '{"' . '\u00e9' x 129 . '":"v"}'],
     ['a value of 1025 bytes', '{"a":"' . 'v' x 1025 . '"}'],
     ['101 of them', "{$hundred,\"more\":\"\"}"],
     ['a key twice', '{"a":"1","b":"2","a":"1"}'],
     ['and escaped', '{"a":"1","\u0061":"2"}'],
     ['goog', '{"goog":"a"}'], ['and more', '{"googclient":"a"}'],
     ['and escaped', '{"\u0067oog-x":"a"}'],
     ['half a surrogate pair', '{"a":"\udc00"}'],
     ['and in a key', '{"\ud83dx":"a"}'])
{
    refused("attributes: $_->[0]", json("{\"data\":\"AA==\",\"attributes\":"
                                        . "$_->[1]}"),
            'messages[0].attributes');
}

for (['a number', '1'], ['1025 bytes', '"' . 'k' x 1025 . '"'],
     ['half a surrogate pair', '"\ud800\ud800"'])
{
    refused("orderingKey: $_->[0]",
            json("$good,$good,{\"data\":\"AA==\",\"orderingKey\":$_->[1]}"),
            'messages[2].orderingKey');
}

for ('{}', '{"data":""}', '{"data":"","attributes":{}}',
     '{"orderingKey":"k"}', '{"data":null,"messageId":"1"}')
{
    refused("empty: $_", json("$good,$_"), 'messages[1].data');
}

is(scalar $p->pull('nothing', 100), 0, 'nothing of all that was stored');

# sizes: of the request, and of what is in it

my $most = 10_485_760;
my $frame = length json('{"data":""}');
my $large = 'A' x (($most - $frame) - ($most - $frame) % 4);

$p->topic('large');
$p->sub('all', 'large', retainAckedMessages => \0);

my $largest = $p->path('topics', 'large', 'publish');
my $body = json("{\"data\":\"$large\"}");

$body .= ' ' x ($most - length $body);

is($c->post($largest, $body, timeout => 30)->{status}, 200,
   'a request of 10,485,760 bytes');

my ($m) = $p->pull('all', 1);

ok($m->{message}{data} eq $large, 'comes out as it was');
$p->ack('all', $m);

my $r = $c->post($largest, "$body ", timeout => 30);

is("$r->{status} $r->{json}{error}{status}", '400 INVALID_ARGUMENT',
   'one byte more');
$r = $c->post($largest, "$body ", timeout => 30, chunked => [100_000]);
is("$r->{status} $r->{json}{error}{status}", '400 INVALID_ARGUMENT',
   'and chunked');

# decoded: attributes of 1,280 bytes each

sub filled {
    my ($bytes) = @_;

    my @messages;

    while ($bytes > 0) {
        my @attributes;

        for (1 .. 100) {
            last if $bytes <= 0;

            my $key = sprintf '%03d', $_;
            my $n = $bytes > 1027 ? 1024 : $bytes - 3;

            push @attributes, "\"$key\":\"" . 'v' x $n . '"';
            $bytes -= $n + 3;
        }

        push @messages, '{"attributes":{' . join(',', @attributes) . '}}';
    }

    return json(join ',', @messages);
}

is($c->post($largest, filled(10_000_000), timeout => 30)->{status}, 200,
   '10,000,000 bytes of messages');
$r = $c->post($largest, filled(10_000_001), timeout => 30);
is("$r->{status} $r->{json}{error}{status}", '400 INVALID_ARGUMENT',
   'one byte more');

# ids: of each message another one, in their order

my @ids = map { $p->publish('orders', map { "$_" } 1 .. $_) } 1, 3, 1000;

is(scalar @ids, 1004, 'an id for each');
ok(!(grep { !/\A[1-9]\d{15,18}\z/ } @ids), 'decimal');
is(scalar(grep { $ids[$_] <= $ids[$_ - 1] } 1 .. $#ids), 0, 'they grow');

my @got;

while (my @m = $p->pull('mine', 1000)) {
    $p->ack('mine', @m);
    push @got, grep { $_->{message}{messageId} >= $ids[0] } @m;
}

is(join(' ', map { $_->{message}{messageId} } @got), join(' ', @ids),
   'pulled with their ids');
is(join(' ', map { decode_base64($_->{message}{data}) } @got),
   join(' ', 1, 1 .. 3, 1 .. 1000), 'in order');
like($got[0]{message}{publishTime},
     qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z\z/, 'a time');

# framings of the body

$p->topic('framed');
$p->sub('framed', 'framed');

my $to = $p->path('topics', 'framed', 'publish');
my $é = '{"attributes":{"a":"é值😀"}}';

utf8::encode($é);

for my $n (0, 1, 1023, 1024, 1025, 8192, 262_144) {
    for my $how ([], [chunked => [1 .. 30]], [writes => [100, 1, 1, 1, 50]]) {
        my @more = $n ? '{"data":"' . text('x' x $n) . '"}' : ();

        is($c->post($to, json(join ',', $é, @more), @$how)->{status}, 200,
           "$n bytes" . ($how->[0] ? " $how->[0]" : ''));
    }
}

my @m = $p->pull('framed', 1000);

is(scalar @m, 3 * 13, 'all framings');
is(scalar(grep { ($_->{message}{attributes}{a} // 'é值😀') ne 'é值😀' } @m), 0,
   'as they were sent');

# topics that there are not

$r = $p->publish_answer('missing', 'a');
is("$r->{status} $r->{json}{error}{status}", '404 NOT_FOUND', 'no such topic');
is($r->{json}{error}{message}, 'Resource not found (resource=missing).',
   'its message');
$p->topic('short-lived');
$p->publish('short-lived', 'nobody has it');
pass('a topic without subscriptions');
$p->delete('topics', 'short-lived');
is($p->publish_answer('short-lived', 'a')->{status}, 404, 'a deleted one');

# a subscription has what comes after it

$p->topic('late');
$p->publish('late', 'before');
$p->sub('late', 'late');
$p->publish('late', 'after');
is(NgxQueues::Pubsub::data($p->pull('late', 10)), 'after',
   'not what came before');

# each subscription has its own copy

$p->topic('many');
$p->sub("copy$_", 'many') for 1 .. 5;
$p->publish('many', 'a', 'b');

for (1 .. 5) {
    my @m = $p->pull("copy$_", 10);

    is(NgxQueues::Pubsub::data(@m), 'a b', "subscription $_");
    $p->ack("copy$_", @m) if $_ % 2;
}

is(scalar $p->pull('copy1', 10), 0, 'acknowledged in one');
$p->delete('subscriptions', 'copy2');
$p->publish('many', 'c');
is(NgxQueues::Pubsub::data($p->pull('copy1', 10)), 'c',
   'one less does not matter');

# so many copies in one step, and no more

$p->topic('wide');
$p->sub("wide$_", 'wide') for 1 .. 21;

my @thousand = map { { data => 'AA==' } } 1 .. 1000;

$r = $p->publish_answer('wide', @thousand);
is("$r->{status} $r->{json}{error}{status}", '400 INVALID_ARGUMENT',
   '21,000 copies');
is(scalar $p->pull('wide1', 10), 0, 'are none');
$r = $p->publish_answer('wide', @thousand[0 .. 951]);
is($r->{status}, 200, '19,992 copies');
is(scalar $p->pull("wide$_", 1000), 952, "all of them: $_") for 1, 21;

$s->finish;

done_testing;
