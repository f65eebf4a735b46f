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

# a message of a send; delay and group may be none. Of a FIFO queue the key is
# the deduplication id as well.

sub message {
    my ($key, $delay, $group) = @_;

    my $attributes = attributes($key);

    return '{"body":"' . body($key) . '"'
        . (defined $attributes ? qq(,"attributes":$attributes) : '')
        . ($delay ? qq(,"delaySeconds":$delay) : '')
        . (defined $group ? qq(,"groupId":"$group","deduplicationId":"$key")
           : '') . '}';
}

# whether it is one that fails again and again

sub fails { hex(substr md5_hex("fate of $_[0]"), 0, 1) < 2 }

# what a dead letter has besides

my $dead = qr/"ezgh\.deadLetterSourceQueue":"que_[0-9a-zA-Z]{12}",
              "ezgh\.deadLetterReceiveCount":"(\d+)",
              "ezgh\.deadLetteredAt":"[-\dT:]+Z"\}\z/x;

# the messages of a receive's answer: { id, handle, count, key, exact, group,
# seq, dead }; group and seq are of FIFO queues, dead is how often a dead letter
# had been received; undef where it is nothing like one

sub messages {
    my ($text) = @_;

    my $string = qr/"((?:[^"\\]++|\\.)*+)"/s;
    my @messages;

    $text =~ /\G\{"messages":\[/gc or return undef;

    while ($text =~ /\G,?\{"messageId":"([-0-9a-f]{36})","receiptHandle":
                     "([-\w]+)","body":$string,"attributes":(\{[^{}]*\}),
                     "sentAt":"[-\dT:]+Z","firstReceivedAt":"[-\dT:]+Z",
                     "receiveCount":(\d+)
                     (?:,"groupId":"([^"]*)","seq":"(\d+)")?\}/gcx)
    {
        my ($id, $handle, $body, $attributes, $count, $group, $seq)
            = ($1, $2, $3, $4, $5, $6 // '', $7 // '');
        my ($key) = $body =~ /^([-\w]+):/;
        my $died = $attributes =~ s/,?$dead/}/ ? $1 : '';

        push @messages, {
            id => $id, handle => $handle, count => $count, key => $key // '?',
            group => $group, seq => $seq, dead => $died,
            exact => defined $key && $body eq body($key)
                     && $attributes eq (attributes($key) // '{}') ? 1 : 0,
        };
    }

    return $text =~ /\G\]\}\z/gc ? \@messages : undef;
}

1;
