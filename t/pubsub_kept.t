#!/usr/bin/perl

# What is published comes out as it was, whatever is in it and however it was
# written: random messages, of which the same is expected as a JSON library reads.

use strict;
use warnings;

use JSON::PP ();
use MIME::Base64 qw/encode_base64 encode_base64url/;
use Test::More;

use NgxQueues::Pubsub;

my $seed = $ENV{NGX_QUEUES_SEED} || time;

srand $seed;

my $s = NgxQueues::Pubsub::server(workers => 2,
    location => 'client_body_buffer_size 4k;');
my $p = NgxQueues::Pubsub->new($s);
my $json = JSON::PP->new->utf8->canonical;

$p->topic('topic');
$p->sub('plain', 'topic', ackDeadlineSeconds => 600);
$p->sub('ordered', 'topic', ackDeadlineSeconds => 600,
        enableMessageOrdering => \1);
$p->sub('filtered', 'topic', filter => 'attributes:k0');

sub one { $_[int rand @_] }

# a text of up to n characters, of all kinds

sub text {
    my ($n) = @_;

    return join '', map {
        chr(one(0, 9, 10, 34, 92, 47, 127, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000,
                0xfffd, 0xffff, 0x10000, 0x10ffff, 32 + int rand 95,
                32 + int rand 95, 32 + int rand 95, 0x400 + int rand 256))
    } 1 .. int rand $n + 1;
}

# JSON text of it: each character raw or in one of its escapes

sub written {
    my ($text) = @_;

    my %short = ("\b" => 'b', "\f" => 'f', "\n" => 'n', "\r" => 'r',
                 "\t" => 't', '"' => '"', '\\' => '\\', '/' => '/');
    my $out = join '', map {
        my $c = ord;
        my $must = $c < 32 || $c == 34 || $c == 92;

        if (!$must && rand() < 0.8) {
            $_;
        } elsif (defined $short{$_} && rand() < 0.5) {
            "\\$short{$_}";
        } else {
            my @units = $c < 0x10000 ? $c
                : (0xd800 + (($c - 0x10000) >> 10), 0xdc00 + ($c & 0x3ff));

            join '', map { sprintf one('\u%04x', '\u%04X'), $_ } @units;
        }
    } split //, $text;

    utf8::encode($out);

    return "\"$out\"";
}

sub blank { one('', '', '', ' ', "\n", "\t \r\n") }

sub member { blank() . written($_[0]) . blank() . ':' . blank() . $_[1] . blank() }

# a message as it is sent, and as it is to be

sub message {
    my ($n) = @_;

    my (%is, @members);
    my $bytes = join '', map { chr int rand 256 } 1 .. int rand one(4, 4, 50, 3000);

    if (length $bytes || rand() < 0.5) {
        my $data = rand() < 0.5 ? encode_base64($bytes, '')
                                : encode_base64url($bytes);

        $data =~ s/=+\z// if rand() < 0.3;
        push @members, member('data', written($data));
        $is{data} = encode_base64($bytes, '') if length $bytes;
    }

    if (!length $bytes || rand() < 0.7) {
        my %attributes = ("k$n" => text(one(3, 30, 250)));

        $attributes{ 'x' . text(20) } = text(one(3, 30)) for 1 .. int rand 6;

        push @members, member('attributes', '{' . join(',', map {
            member($_, written($attributes{$_}))
        } keys %attributes) . '}');
        $is{attributes} = \%attributes;
    }

    if (rand() < 0.5) {
        my $key = text(one(3, 20));

        push @members, member(one('orderingKey', 'ordering_key'), written($key));
        $is{orderingKey} = $key if length $key;
    }

    push @members, member(one('messageId', 'message_id'), written(text(5)))
        if rand() < 0.2;
    @members = sort { rand() <=> 0.5 } @members;

    return (blank() . '{' . join(',', @members) . '}' . blank(), \%is);
}

my ($sent, %wrong) = (0);
my %expected = map { $_ => {} } qw/plain ordered filtered/;

for my $round (1 .. 40) {
    my (@texts, @are);

    for my $n (0 .. int rand 20) {
        my ($text, $is) = message($n);

        push @texts, $text;
        push @are, $is;
    }

    my $r = $p->client->post($p->path('topics', 'topic', 'publish'),
        blank() . '{' . member('messages', '[' . join(',', @texts) . ']') . '}');

    if ($r->{status} != 200) {
        fail("seed $seed: $r->{body}");
        next;
    }

    for my $i (0 .. $#are) {
        my $id = $r->{json}{messageIds}[$i];
        my $text = $json->encode($are[$i]);

        $sent++;
        $expected{$_}{$id} = $text for qw/plain ordered/;
        $expected{filtered}{$id} = $text
            if exists(($are[$i]{attributes} || {})->{k0});
    }
}

for my $sub (sort keys %expected) {
    my $is = $expected{$sub};
    my $all = keys %$is;
    my ($came, $same) = (0, 0);

    while (my @m = $p->pull($sub, 1000)) {
        $p->ack($sub, @m);

        for my $m (map { $_->{message} } @m) {
            my $id = delete $m->{messageId};

            delete $m->{publishTime};
            $came++;
            $same += $json->encode($m) eq (delete $is->{$id} // '');
        }
    }

    is($came, $all, "$sub: all that were sent (seed $seed)");
    is($same, $all, "$sub: as they were (seed $seed)");
}

cmp_ok($sent, '>', 100, "$sent messages");

$s->finish;

done_testing;
