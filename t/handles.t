#!/usr/bin/perl

# Receipt handles: what they tell, what an altered one is, several queues and
# projects in one request, the order of results.

use strict;
use warnings;

use JSON::PP;
use MIME::Base64 qw/decode_base64url encode_base64url/;
use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;

my $s = NgxQueues::Server->new(workers => 2);
my $c = $s->client;

# of three projects, one with the longest names there are

my $long = 'x' x 64;
my @q = map { NgxQueues::Queue->new($s, project => $_->[0], name => $_->[1]) }
    ['o/p', 'secret-name'], ['o/p', 'b'], ['o/p2', 'secret-name'],
    ["$long/$long", 'n' x 80];

$_->send(map { "m$_" } 0 .. 9) for @q;

my @m = map { [$_->receive(maxMessages => 10)] } @q;

is(scalar(map { @$_ } @m), 40, 'ten messages of each');

my @handles = map { map { $_->{receiptHandle} } @$_ } @m;
my %seen;

is((grep { $seen{$_}++ } @handles), 0, 'every delivery has its own handle');
is((grep { !/^AQ[A-Za-z0-9_-]+\z/ } @handles), 0, 'base64url, version 1');

for my $h (@handles) {
    my $bytes = decode_base64url($h);

    fail("a handle that tells: $h")
        if $bytes =~ /secret|$long|o\/p/ || $h =~ /secret/;
}

# one bit, or a character, changed: at every position of one, some of another;
# from many addresses, since one of them may not send so many

my $address = 0;

sub invalid {
    my ($name, @altered) = @_;

    my @bad;

    while (my @ten = splice @altered, 0, 10) {
        local $q[0]{client} = $s->client(local => '127.0.1.' . ++$address);

        my $words = $q[0]->ack(@ten);
        push @bad, $words if $words ne join ' ', ('invalid') x @ten;
    }

    is("@bad", '', $name);
}

my $h = $handles[0];
my $bytes = decode_base64url($h);

invalid('a bit of each byte', map {
    my $x = $bytes;
    substr($x, $_, 1) ^= chr(1 << $_ % 8);
    encode_base64url($x);
} 0 .. length($bytes) - 1);

invalid('another character at each place', map {
    my $x = $h;
    substr($x, $_, 1) = substr($x, $_, 1) eq 'A' ? 'B' : 'A';
    $x;
} 0 .. length($h) - 1);

invalid('a character less at each place, or more', map {
    my ($x, $y) = ($h, $h);
    substr($x, $_, 1) = '';
    substr($y, $_, 0) = '_';
    ($x, $y);
} map { $_ * 3 } 0 .. length($h) / 3 - 1);

invalid('other writings of the same bytes', "$h=", "$h==", " $h", "$h ",
        "$h\n", "$h\0", lc $h, uc $h, $h . 'A', $h . $h,
        $h =~ tr{-_}{+/}r . '+', "\x{e9}$h", substr($h, 0, -1) . '+');

# the last character has bits that no byte needs: they have to be zero

my $spare = (3 - length($bytes) % 3) % 3 * 2;

invalid('bits that are to spare', map {
    my @abc = ('A' .. 'Z', 'a' .. 'z', 0 .. 9, '-', '_');
    my ($at) = grep { $abc[$_] eq substr($h, -1) } 0 .. 63;
    substr($h, 0, -1) . $abc[$at ^ $_];
} 1 .. 2 ** $spare - 1);

invalid('half of one, half of another', map {
    my $n = $_ * 5;
    substr($h, 0, $n) . substr($handles[1], $n);
} grep { substr($h, 0, $_ * 5) ne substr($handles[1], 0, $_ * 5)
         && substr($h, $_ * 5) ne substr($handles[1], $_ * 5) }
    1 .. length($h) / 5 - 1);

like($q[0]->counts, qr/^0 10 0$/, 'none of it has done anything');

# JSON has other ways to write the same handle: it is what it says

my $r = $c->post('/v1/receipts/visibility', '{"entries":[{"receiptHandle":"'
    . ($h =~ s/^A/\\u0041/r) . '","visibilityTimeoutSeconds":60}]}');

is($r->{body}, '{"results":[{"ok":true}]}', 'an escaped character');

# all four queues in one request, in any order, good and bad ones

sub h { $m[$_[0]][$_[1]] }

is($q[0]->ack(h(3, 0), 'x', h(0, 0), h(2, 0), h(0, 1), h(3, 1), '', h(1, 0),
              h(0, 0), h(2, 1)),
   'ok invalid ok ok ok ok invalid ok stale ok', 'mixed projects and queues');
is($q[0]->ack(h(1, 0), h(1, 1), h(3, 0), h(2, 2), h(0, 0), h(0, 2)),
   'stale ok stale ok stale ok', 'again, with new ones between');
is($q[1]->visibility(0, h(0, 3), h(3, 3), 'x', h(1, 3), h(0, 0), h(2, 3),
                     h(0, 3)),
   'ok ok invalid ok stale ok stale', 'the same for visibility');
is($q[0]->ack(h(0, 4), h(0, 4), h(0, 4)), 'ok stale stale', 'one thrice');

is(join(', ', map { $_->counts } @q), '1 5 0, 1 7 0, 1 6 0, 1 7 0',
   'every ack did its own');

# an old handle of a message, the new one, and another message twice

$q[1]->visibility(0, h(1, 9));

my ($next) = grep { $_->{messageId} eq h(1, 9)->{messageId} }
    $q[1]->receive(maxMessages => 10);

is($next->{receiveCount}, 2, 'received again');
is($q[1]->ack(h(1, 8), h(1, 9), h(1, 8), $next, $next),
   'ok stale stale ok stale', 'the old one says nothing of the new one');

# of a queue that was deleted, and of one with its name

my $path = $q[1]->path;

is($c->delete($path)->{status}, 204, 'deleted');
is($q[0]->ack(h(1, 5), h(0, 5), h(1, 6)), 'stale ok stale', 'its handles');

my $again = NgxQueues::Queue->new($s, name => 'b');
my @ids = $again->send('new');
my ($new) = $again->receive(visibilityTimeoutSeconds => 0);

is($again->ack(h(1, 5)), 'stale', 'not valid for the new queue of that name');
is($c->post("$path/purge")->{status}, 202, 'purged');
is($again->ack($new), 'stale', 'of a purged message');
$again->send('next');
($new) = $again->receive;
is($again->ack($new), 'ok', 'and after the purge');

# another secret makes other handles

my $other = NgxQueues::Server->new(redis => $s->redis);

is(NgxQueues::Queue::words($other->client->post('/v1/receipts/ack',
   { receiptHandles => [h(0, 6)->{receiptHandle}] })), 'invalid',
   'the secret of another installation');
is($q[0]->ack(h(0, 6)), 'ok', 'and with its own');

$other->finish;
$s->finish;

done_testing;
