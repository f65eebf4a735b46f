#!/usr/bin/perl

# Bodies and attributes come back byte for byte, whatever they are and however
# the request was framed.

use strict;
use warnings;

use Test::More;

use NgxQueues::Client;
use NgxQueues::Queue;
use NgxQueues::Server;

my $s = NgxQueues::Server->new(tls => 1, http2 => 1, server =>
    'client_body_buffer_size 1k; client_max_body_size 2m;');

my $c = $s->client;
my $q = NgxQueues::Queue->new($s, maxMessageBytes => 262144);
my $messages = $q->path('/messages');

# the raw JSON of the body and attributes of the next message, which is acked

sub next_raw {
    my $r = $q->post('/messages/receive', {}, timeout => 20);

    $r->{body} =~ /"receiptHandle":"([^"]+)","body":"(.*)","attributes":(\{.*\}),"sentAt":/s
        or return ("no message: $r->{status} " . substr($r->{body}, 0, 200), '');

    my ($handle, @raw) = ($1, $2, $3);

    return $q->ack($handle) eq 'ok' ? @raw : ('not acked', '');
}

# is(), for texts that are too long to be shown

sub same {
    my ($got, $expected, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    return is($got, $expected, $name) if length $expected < 200;

    ok($got eq $expected, $name)
        or diag(length $got, " bytes: ", substr($got, 0, 200));
}

sub sent {
    my ($name, $raw, %o) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $r = $c->post($messages, "{\"body\":\"$raw\"}", %o);

    is($r->{status}, 201, "$name: sent") or diag($r->{error} // $r->{body});
    same((next_raw())[0], $raw, "$name: received");
}

# what is in a string

my ($numbers) = map { s/"/\\"/gr } '{"a":9007199254740993,"b":1e400,"d":1.0,'
    . '"c":1491926160718000000,"e":-0,"f":0.10000000000000000000000000000001}';

my %text = (
    'numbers' => $numbers,
    'NUL and controls' => 'ab\u0000cd\r\u0007\u007f\u2028\b\f\n\t',
    'DEL, raw' => "\x7f", 'NUL alone' => '\u0000', 'a blank' => ' ',
    'escapes' => '\\"\\\\\\/\\u00e9\\u00E9\\u002f</script>',
    'surrogates' => '\ud83d\ude00\ud83d\ud83d\ude00\ude00\uDBFF\uDFFF',
    'non-characters' => '\uffff\ufffe' . "\xef\xbf\xbf\xef\xb7\x90",
    'UTF-8' => "\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80"
               . "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\xe2\x80\xa8\xef\xbb\xbf",
    'Redis and HTTP' => '\\r\\n$-1\\r\\n*0\\r\\nHTTP/1.1 200\\r\\n%s%d%n',
);

sent($_, $text{$_}) for sort keys %text;

# attributes too, with their blanks, their order and their escapes

my $attributes = "{ \"z\" : \"\\u0000\\ud800\"\n,\t\"a\":\"\xc3\xa9\\/\" ,"
                 . '"\u006b":"", "n":"9007199254740993"}';
my $r = $c->post($messages, "{\"attributes\":$attributes,\"body\":\"a\"}");

is($r->{status}, 201, 'attributes: sent');
is((next_raw())[1], $attributes, 'attributes: received');

# how long it is

for my $length (1, 1012, 1013, 1014, 1023 .. 1025, 8192, 65536, 262143, 262144)
{
    sent("$length bytes", 'x' x $length);
    sent("$length bytes, chunked", 'y' x $length, chunked => [1, 1000, 1]);
}

sent('the longest, of escapes', '\u00e9' x 131072);
sent('the longest, of pairs', '\ud83d\ude00' x 65536, chunked => [70000]);
sent('the longest, in writes', 'z' x 262144, writes => [1, 1, 1000, 100000]);

for my $o ({}, { chunked => [262144] }) {
    $r = $c->post($messages, '{"body":"' . 'x' x 262145 . '"}', %$o);

    is("$r->{status} " . ($r->{json}{field} // ''), '400 body',
       'a byte more than the queue takes');

    $r = $c->post($messages, '{"body":"' . 'x' x 2097152 . '"}', %$o);

    is($r->{status}, 413, 'more than nginx takes');
}

# framing

my $text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
my $json = "{\"body\":\"$text\"}";

sent('chunks of a byte', $text, chunked => [(1) x length $json]);
sent('large, in chunks of a byte', 'x' x 3000, chunked => [(1) x 3012]);
sent('writes of a byte', $text, writes => [(1) x 400], pause => 0.0005);
sent('chunks, in writes of a byte', $text, chunked => [(1) x length $json],
     writes => [(1) x 500], pause => 0.0005);

# split anywhere, also inside the characters

for my $o ({}, { chunked => [9, 2, 3] }) {
    my ($head, $content) = $c->compose(POST => $messages, $json, $o);

    for my $at (0 .. length($content) - 1) {
        $r = $c->post($messages, $json, %$o, pause => 0.001,
                      writes => [length($head) + $at]);

        same(join(' ', $r->{status}, (next_raw())[0]), "201 $text",
             "split at $at" . ($o->{chunked} ? ', chunked' : ''));
    }
}

# Expect: 100-continue

for my $o ({}, { chunked => [10] }) {
    $r = $c->post($messages, '{"body":"' . 'e' x 5000 . '"}', expect => 1, %$o);
    is("$r->{status} $r->{continued}", '201 1', 'told to go on');
    same((next_raw())[0], 'e' x 5000, 'and received');

    $r = $c->post("$messages/none", $json, expect => 1, %$o, close => 1);
    is("$r->{status} " . ($r->{continued} || 0), '404 0', 'told not to');
}

# a body that nobody reads

$r = $s->client(key => undef)->post($messages, 'x' x 20_000_000,
                                    chunked => [1_000_000], timeout => 20);
is($r->{status}, 401, 'an early answer to a long body');
$r = $s->client->post("$messages/none", 'x' x 20_000_000, timeout => 20);
is($r->{status}, 413, 'and to one of known length');

# TLS and HTTP/2

my $tls = $s->client(tls => 1);

for my $raw ($text, 'x' x 1025, "\xc3\xa9" x 131072) {
    is($tls->post($messages, "{\"body\":\"$raw\"}")->{status}, 201, 'by TLS');
    same((next_raw())[0], $raw, 'and received');

    for my $where ({ port => $s->h2_port },
                   { port => $s->tls_port, tls => { ca => $s->ca } })
    {
        $r = NgxQueues::Client::h2(%$where, key => $s->key, method => 'POST',
            path => $messages, body => "{\"body\":\"$raw\"}");
        is("$r->{version} $r->{status}", '2 201', 'by HTTP/2');
        same((next_raw())[0], $raw, 'and received');
    }
}

# large answers: ten of the longest

$q->send($_ x 262144) for 'a' .. 'j';
$r = $tls->post("$messages/receive", { maxMessages => 10 }, timeout => 30);
ok(join('', map { $_->{body} } @{ $r->{json}{messages} })
   eq join('', map { $_ x 262144 } 'a' .. 'j'), 'ten of 256 KiB');
$q->ack(@{ $r->{json}{messages} });

is($q->counts, '0 0 0', 'nothing is left, nothing was twice');

$s->finish;

done_testing;
