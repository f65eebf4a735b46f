#!/usr/bin/perl

# ListQueues in pages: tokens are sealed, hold while queues come and go, and
# show a key its own queues only.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use MIME::Base64 'decode_base64url';
use Test::More;

use NgxQueues::Process qw/slurp spurt/;
use NgxQueues::Queue;
use NgxQueues::Server;

my $pub = 'qk_pub-0123456789abcdefghijklmnopqrst';
my $s = NgxQueues::Server->new(keys => [
    sha256_hex($pub) . ' pub * o/p/pub-*,o/none/pub-*']);
my $c = $s->client;
my $p = $s->client(key => $pub);

my $queues = '/v1/organizations/o/projects/p/queues';

sub list {
    my ($client, %query) = @_;

    return $client->get("$queues?" . join '&', map { "$_=$query{$_}" }
                        sort keys %query);
}

sub names { map { $_->{name} } @{ $_[0]{json}{queues} } }

# all pages: (the names, all tokens); between: what happens after each page

sub pages {
    my ($client, $between, %query) = @_;

    my (@names, @tokens);

    for (1 .. 500) {
        my $r = list($client, %query);

        die "$r->{status} $r->{body}\n" if $r->{status} != 200;
        die "too many\n" if names($r) > ($query{pageSize} // 50);

        push @names, names($r);

        my $token = $r->{json}{nextPageToken} // return (\@names, \@tokens);

        push @tokens, $token;
        $query{pageToken} = $token;
        $between->($token, scalar @tokens) if $between;
    }

    die "no end\n";
}

sub create { $c->post($queues, { name => $_ })->{status} == 201 or die for @_ }
sub remove { $c->delete("$queues/$_")->{status} == 204 or die for @_ }

sub refused {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is("$r->{status} " . ($r->{json}{error} // '') . ' '
       . ($r->{json}{field} // ''), '400 invalid_argument pageToken', $name);
}

# three kinds of queues, of which "pub" may see one

my $longest = 'hidden-' . 'z' x 73;
my @hidden = ((map { sprintf 'hidden-%02d', $_ } 0 .. 19), $longest,
              (map { sprintf 'secret-%02d', $_ } 0 .. 9), 'pub', 'pub_x');
my @pub = map { sprintf 'pub-%02d', $_ } 0 .. 14;
my @all = sort @hidden, @pub;

create(@hidden, @pub);

for my $size (1, 2, 7, 15, 47, 48, 49, 100) {
    my ($names, $tokens) = pages($c, undef, pageSize => $size);

    is("@$names", "@all", "pages of $size");
    is(@$tokens, int((@all - 1) / $size), "pages of $size: so many");
    is((grep { !/^AQ[A-Za-z0-9_-]{40,}$/ } @$tokens), 0,
       "pages of $size: the form of tokens");
}

# a key of some queues: short pages, and at their end all of its queues

my %token;

for my $size (1, 3, 10, 20, 100) {
    my ($names, $tokens) = pages($p, undef, pageSize => $size);

    is("@$names", "@pub", "pub, pages of $size");
    $token{$_} = 1 for @$tokens;

    ($names, $tokens) = pages($p, undef, pageSize => $size, prefix => 'pub');
    is("@$names", "@pub", "pub, pages of $size with a prefix");
    $token{$_} = 1 for @$tokens;

    ($names, $tokens) = pages($p, undef, pageSize => $size, prefix => 's');
    is("@$names", '', "pub, pages of $size of what it may not see");
    $token{$_} = 1 for @$tokens;
}

my $leaks = 0;

for my $token (keys %token) {
    my $text = $token;

    # as it is, and as bytes at every offset

    for my $cut (0 .. 3) {
        my $plain = decode_base64url(substr $text, $cut);

        $leaks++ if $plain =~ /hidden|secret|pub/ || $plain =~ /([a-z0-9-])\1{9}/;
    }
}

cmp_ok(scalar(keys %token), '>', 40, 'tokens of many pages');
is($leaks, 0, 'none of them tells a name');

# the next page starts after the last name, whatever came and went

my ($names) = pages($c, sub {
    my ($token, $n) = @_;

    remove('hidden-04', 'hidden-05', 'hidden-06') if $n == 1;
    create('hidden-050', 'a-before', 'pub-070') if $n == 1;
    remove('pub-070', 'secret-09') if $n == 5;
}, pageSize => 5);

my %gone = map { $_ => 1 } qw/hidden-05 hidden-06 secret-09/;
my @expected = sort 'hidden-050', grep { !$gone{$_} } @all;

is("@$names", "@expected", 'queues come and go; a token of one that has gone');

# its queue is deleted and made again: the token holds

my $r = list($c, pageSize => 3);
my $token = $r->{json}{nextPageToken};
my ($last) = (names($r))[2];
my @after = names(list($c, pageToken => $token));

remove($last);
is(join(' ', names(list($c, pageToken => $token))), "@after", 'deleted');
create($last);
is(join(' ', names(list($c, pageToken => $token))), "@after", 'and made again');

# everything is deleted; of another project, where a token would tell by the
# order of queues made for that

NgxQueues::Queue->new($s, project => 'o/none', name => 'pub-a');
NgxQueues::Queue->new($s, project => 'o/none', name => 'pub-b');

my $none = '/v1/organizations/o/projects/none/queues';
my $first = $p->get("$none?pageSize=1")->{json}{nextPageToken};

refused($c->get("$none?pageToken=$token"), 'a token of another project');
refused(list($c, pageToken => $first), 'and the other way');
$c->delete("$none/$_") for 'pub-a', 'pub-b';
is($p->get("$none?pageToken=$first")->{body},
   '{"queues":[],"nextPageToken":null}', 'nothing is left to show');

# what is no token

my $q = NgxQueues::Queue->new($s, name => 'pub-handles');

$q->send('a');

my ($m) = $q->receive;

refused(list($c, pageToken => $m->{receiptHandle}), 'a receipt handle');
is($q->ack($token), 'invalid', 'nor is a token a handle');
is($q->ack($m), 'ok', 'the handle was one');

refused(list($c, pageToken => $_), "token '" . substr($_, 0, 20) . "'")
    for '', 'a', 'AQ', 'YS00OQ', 'AQ' . 'A' x 70, "${token}A", substr($token, 1),
        substr($token, 0, -1), "$token$token", 'x' x 3000, "$token%20",
        "$token%3D";

my $accepted = 0;

for my $i (0 .. length($token) - 1) {
    my $other = $token;

    substr $other, $i, 1, substr($other, $i, 1) eq 'B' ? 'C' : 'B';
    $accepted++ if list($c, pageToken => $other)->{status} != 400;
}

is($accepted, 0, 'no token with another character');

# the secret is rotated: first both, then the old one has gone

my $old = slurp($s->{secret_file});
my $new = sha256_hex('another secret') . "\n";

spurt($s->{secret_file}, "$new$old", 0600);
$s->reload(drained => 15);
$c = $s->client;
is(join(' ', names(list($c, pageToken => $token))), join(' ', @after,
   'pub-handles') =~ s/(pub-14) (.*) (pub-handles)/$1 $3 $2/r,
   'a token of the old secret');

my $newer = list($c, pageSize => 3)->{json}{nextPageToken};

isnt($newer, $token, 'new tokens are of the new secret');
spurt($s->{secret_file}, $new, 0600);
$s->reload(drained => 15);
$c = $s->client;
refused(list($c, pageToken => $token), 'the old secret has gone');
is(list($c, pageToken => $newer)->{status}, 200, 'the new one has not');

$s->finish;

done_testing;
