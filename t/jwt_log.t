#!/usr/bin/perl

# The log says why a token was refused, and nothing of the token.

use strict;
use warnings;

use Test::More;

use NgxQueues::BadTokens;
use NgxQueues::Jwt;
use NgxQueues::Queue;
use NgxQueues::Server;

my %key = ((map { $_ => NgxQueues::Jwt->key($_) } qw/rsa ec ed25519/),
           secret => NgxQueues::Jwt->secret);
my %other = ((map { $_ => NgxQueues::Jwt->key($_) } qw/rsa ec ed25519/),
             secret => NgxQueues::Jwt->secret);
my @good = map { my ($name, $alg) = @$_;
                 $key{$name}->token(NgxQueues::Jwt::claims(roles => ['*@*']),
                                    { alg => $alg, typ => 'JWT' }) }
    (map { ['secret', "HS$_"], ['rsa', "RS$_"] } 256, 384, 512),
    ['ec', 'ES256'], ['ed25519', 'EdDSA'];

my $s = NgxQueues::Server->new(
    http => 'large_client_header_buffers 4 32k; '
            . join ' ', map { 'queues_jwt_key ' . $_->public . ';' } values %key);
my $q = NgxQueues::Queue->new($s);

for my $bad (NgxQueues::BadTokens::list(\%key, \%other, @good)) {
    my ($token, $reason) = @$bad;
    my $before = length $s->error_log;

    is($s->client(key => $token)->get($q->path)->{status}, 401,
       "refused: $reason");

    my $said = substr $s->error_log, $before;

    like($said, qr/\[info\].*a token was refused: it .*\Q$reason\E/, 'and why');
    unlike($said, qr/\Q$token\E/, 'without the token') if $token =~ /\w{20}/;
}

# what is no token at all: nothing is said about it

my ($head, $body, $signature) = split /\./, $good[0];

for my $text ("$head.$body", "$head.$body.$signature.", $head, '.', '...',
              'x' x 8000)
{
    my $before = length $s->error_log;

    is($s->client(key => $text)->get($q->path)->{status}, 401, 'no token');
    unlike(substr($s->error_log, $before), qr/a token was refused/,
           'nothing is said');
}

$s->finish;

done_testing;
