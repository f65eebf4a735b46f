#!/usr/bin/perl

# How much JSON text attributes may be: ten of the largest, however they are
# written, and not without end blanks.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;

my $s = NgxQueues::Server->new(server => 'client_max_body_size 4m;');
my $c = $s->client;
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);

sub json { "{\"body\":\"a\",\"attributes\":$_[0]}" }

sub sent {
    my ($name, $attributes, %o) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $r = $q->post('/messages', json($attributes), %o);

    is($r->{status}, 201, "$name: sent") or diag($r->{body});
    $r = $q->post('/messages/receive', {});

    my ($handle, $got) = $r->{body} =~
        /"receiptHandle":"([^"]+)","body":"a","attributes":(\{.*\}),"sentAt":/s;

    ok(($got // '') eq $attributes, "$name: received")
        or diag(length($got // ''), ' bytes: ', substr($got // '', 0, 100));
    is($q->ack($handle // ''), 'ok', "$name: ack");
}

sub refused {
    my ($name, $body, $field, %o) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $r = $q->post('/messages', $body, %o);

    is("$r->{status} " . ($r->{json}{error} // '') . ' '
       . ($r->{json}{field} // ''), "400 invalid_argument $field", $name);
}

# ten of the largest: as they are, and every byte escaped

my @names = map { $_ x 128 } 'a' .. 'j';
my $plain = '{' . join(',', map { "\"$_\":\"" . 'v' x 1024 . '"' } @names)
            . '}';
my $escaped = $plain =~ s/([a-z])/sprintf '\\u%04x', ord $1/ger;

is(length $escaped, 69181, 'ten of the largest, escaped');
sent('ten of the largest', $plain);
sent('escaped', $escaped);
sent('escaped, in chunks', $escaped, chunked => [30000, 1, 30000]);
sent('escaped in capitals', $escaped =~ s/(\\u00)(6[a-f]|76)/$1\U$2/gr);
sent('the longest UTF-8', '{' . join(',', map {
    "\"$_\":\"" . "\xf0\x9f\x98\x80" x 256 . '"' } @names) . '}');
sent('surrogates, escaped', '{' . join(',', map {
    "\"$_\":\"" . '\ud83d\ude00' x 256 . '"' } @names) . '}');
sent('some blanks', $plain =~ s/([,:])/ $1\t\r\n /gr);

# one more byte, name or value

refused('a value of 1025 bytes', json('{"k":"' . '\u0061' x 1025 . '"}'),
        'attributes');
refused('a name of 129 bytes', json('{"' . '\u0061' x 129 . '":"v"}'),
        'attributes');
refused('eleven', json($escaped =~ s/\}$/,"k":""}/r), 'attributes');

# blanks: they are kept where attributes are, and limited

my $value = '{"k"' . ' ' x 60000 . ':"v"}';

sent('60,000 blanks', $value);

my $most;

for my $length (69181, 70000, 72000, 80000, 300000, 3000000) {
    my $r = $q->post('/messages', json('{"k"' . ' ' x ($length - 8) . ':"v"}'));

    $most = $length if $r->{status} == 201;
}

is($most, 70000, 'up to about 70 KB of JSON text');
$q->drain(visibilityTimeoutSeconds => 60);

for my $o ({}, { chunked => [50000] }) {
    for my $blanks (72000, 900000, 3000000) {
        my @texts = map { s/ /' ' x $blanks/er }
            '{ }', '{ "k":"v"}', '{"k":"v" }', '{"k": "v"}';

        refused("$blanks blanks", json($_), 'attributes', %$o) for @texts;
        refused("$blanks blanks, second of a batch", '{"messages":[{"body":"b"},'
                . json($_) . ']}', 'messages[1].attributes', %$o) for $texts[0];
    }
}

# blanks elsewhere in the request are stored nowhere

is($q->post('/messages', '{"attributes":{"k":"v"}' . ' ' x 1000000
            . ',"body":"a"}')->{status}, 201, 'blanks of the request');

my ($m) = $q->receive;

is(join(' ', %{ $m->{attributes} }), 'k v', 'are not of the attributes');
$q->ack($m);

# ten messages of the largest attributes in one request and one answer

my $r = $q->post('/messages', '{"messages":[' . join(',', (json($escaped)) x 10)
                 . ']}');

is($r->{status}, 201, 'ten messages of such attributes');
$r = $q->post('/messages/receive', { maxMessages => 10 });
is((() = $r->{body} =~ /"attributes":\Q$escaped\E,/g), 10, 'received');
is($q->ack(@{ $r->{json}{messages} }), join(' ', ('ok') x 10), 'ack');

is($q->counts, '0 2 0', 'nothing of a refused request was stored');
$s->finish;

done_testing;
