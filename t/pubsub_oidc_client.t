#!/usr/bin/perl

# The library jose finds the keys of queues_oidc_key by what
# queues_oidc_discovery answers, and verifies tokens with them.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use NgxQueues::Jwt;
use NgxQueues::Process qw/spawn reap slurp spurt/;
use NgxQueues::Server;

my $client = "$NgxQueues::Process::top/t/client";
my $modules = "$NgxQueues::Process::top/build/client";
my $json = JSON::PP->new->utf8->canonical;

my ($one, $two, $three) = map { NgxQueues::Jwt->rsa } 1 .. 3;

sub http {
    return 'queues_redis 127.0.0.1:1; queues_oidc_issuer'
           . ' http://127.0.0.1:%%PORT%%;'
           . join '', map { 'queues_oidc_key ' . $_->private . ';' } @_;
}

my $s = NgxQueues::Server->new(redis => 0, http => http($one),
                               api => 'queues_oidc_discovery;');
my $issuer = 'http://127.0.0.1:' . $s->port;
my $dir = $s->dir;

ok(-d "$modules/node_modules/jose", 'jose is installed')
    or diag('t/tools/install test');

# what is published of a server's keys, in their order

sub kids {
    my $r = $s->client(key => undef)->get('/.well-known/jwks.json');

    return map { $_->{kid} } @{ $r->{json}{keys} };
}

sub line {
    my ($key, $kid, %claims) = @_;

    return { issuer => $issuer, audience => 'https://example.com/push',
             token => $key->token({
                 iss => $issuer, aud => 'https://example.com/push',
                 sub => '1', exp => time + 60, %claims
             }, { kid => $kid }) };
}

sub verify {
    unlink "$dir/jose";
    spurt("$dir/lines", join '', map { $json->encode($_) . "\n" } @_);

    my $status = reap(spawn({ out => "$dir/jose",
                              env => { MODULES => $modules } }, 'sh', '-c',
                            'exec node "$0" < "$1"', "$client/oidc.cjs",
                            "$dir/lines"), 30);

    is($status, 0, 'it runs') or diag(slurp("$dir/jose"));

    return split /\n/, slurp("$dir/jose");
}

my ($first) = kids();
my @said = verify(line($one, $first), line($two, $first), line($one, 'x'),
                  line($one, $first, aud => 'x'),
                  line($one, $first, iss => 'https://accounts.google.com'));

is($json->decode($said[0])->{header}{kid}, $first, 'a token of the key');
like($said[1], qr/JWSSignatureVerificationFailed/, 'one of another key');
like($said[2], qr/JWKSNoMatchingKey/, 'an unknown key');
like($said[3], qr/unexpected "aud" claim value/, 'for somebody else');
like($said[4], qr/unexpected "iss" claim value/, 'of somebody else');

# during a rotation, whichever of the two signs

$s->configure(http => http($two, $one));
$s->reload(drained => 15);

my ($second) = kids();
@said = verify(line($two, $second), line($one, $first), line($three, 'x'));

is($json->decode($said[0])->{header}{kid}, $second, 'the new key');
is($json->decode($said[1])->{header}{kid}, $first, 'the old one');
like($said[2], qr/JWKSNoMatchingKey/, 'and no other');

# afterwards

$s->configure(http => http($two));
$s->reload(drained => 15);

@said = verify(line($two, $second), line($one, $first));

is($json->decode($said[0])->{header}{kid}, $second, 'the new one');
like($said[1], qr/JWKSNoMatchingKey/, 'not the old one');

$s->finish;

done_testing;
