package Soak::Body;

# The body of a message, as JSON text between its quotes, made from its key, so
# that whoever receives it knows every byte of it.

use strict;
use warnings;

use Digest::MD5 'md5_hex';

my @special = (
    '\\u0000', '\\ud83d\\ude00', "\xe2\x82\xac", '\\ud800', '\\/', '\\"',
    '\\\\', '\\t', "\xf0\x9f\x98\x80", '\\u20ac', ' ', '\\uFFFF', "\x7f",
    '\\u001f', '{}', '\\\\u0041',
);

sub body {
    my ($key) = @_;

    my $hash = md5_hex($key);
    my @n = map { hex } $hash =~ /(..)/g;
    my $unit = join '', map { $_ & 1 ? $special[$n[$_] % @special] : '',
                              substr $hash, 2 * $_, 4 } 0 .. 15;

    # most are short; some are longer than a buffer of nginx or of Redis

    my $size = $n[0] < 128 ? $n[1]
        : $n[0] < 236 ? $n[1] * 16
        : $n[0] < 254 ? $n[1] * 40 + 8000
        : $n[1] * 200 + 16000;

    return "$key:" . $unit x (1 + $size / length $unit);
}

# undef for none

sub attributes {
    my ($key) = @_;

    my $hash = md5_hex("attributes of $key");

    return substr($hash, 0, 1) lt '4' ? qq({"key":"$key","x":"\\u0000$hash"})
        : undef;
}

# a message of a send

sub message {
    my ($key, $delay) = @_;

    my $attributes = attributes($key);

    return '{"body":"' . body($key) . '"'
        . (defined $attributes ? qq(,"attributes":$attributes) : '')
        . ($delay ? qq(,"delaySeconds":$delay) : '') . '}';
}

# the messages of a receive's answer: { id, handle, count, key, exact }; undef
# where it is nothing like one

sub messages {
    my ($text) = @_;

    my $string = qr/"((?:[^"\\]++|\\.)*+)"/s;
    my @messages;

    $text =~ /\G\{"messages":\[/gc or return undef;

    while ($text =~ /\G,?\{"messageId":"([-0-9a-f]{36})","receiptHandle":
                     "([-\w]+)","body":$string,"attributes":(\{[^{}]*\}),
                     "sentAt":"[-\dT:]+Z","firstReceivedAt":"[-\dT:]+Z",
                     "receiveCount":(\d+)\}/gcx)
    {
        my ($id, $handle, $body, $attributes, $count) = ($1, $2, $3, $4, $5);
        my ($key) = $body =~ /^([-\w]+):/;

        push @messages, {
            id => $id, handle => $handle, count => $count, key => $key // '?',
            exact => defined $key && $body eq body($key)
                     && $attributes eq (attributes($key) // '{}') ? 1 : 0,
        };
    }

    return $text =~ /\G\]\}\z/gc ? \@messages : undef;
}

1;
