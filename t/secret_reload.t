#!/usr/bin/perl

# What files had before a reload (secrets, keys, a password) is not left in the
# memory of the master, nor of its new workers, nor is a part of it. Not so
# private keys: OpenSSL frees a copy as it is when it reads one, as with nginx' own
# ssl_certificate_key.

use strict;
use warnings;

use Digest::SHA 'hmac_sha256';
use Test::More;

use NgxQueues::Jwt;
use NgxQueues::Memory;
use NgxQueues::Process qw/slurp spurt/;
use NgxQueues::Queue;
use NgxQueues::Server;

my $password = 'Zq7pLw9xKd3vTr5mYb8nHc2s';
my $jwt = NgxQueues::Jwt->secret;
my $jwk = NgxQueues::Jwt->secret;
my $jwks = NgxQueues::Jwt::jwks('keys', $jwk->jwk(kid => 'a'));

my $s = NgxQueues::Server->new(redis => { password => $password },
    http => 'queues_jwt_key ' . $jwt->public . "; queues_jwt_key $jwks;");

is(NgxQueues::Queue->new($s)->counts, '0 0 0', 'it works');

my $secret = slurp($s->{secret_file}) =~ s/\n//r;
my %kinds = (
    'the secret' => [$secret],
    'what is made of it' => [hmac_sha256('ngx_queues secrets at rest', $secret)],
    'a secret of tokens' => [$jwt->{secret}],
    'one of a JWKS' => [NgxQueues::Memory::forms($jwk->{secret})],
    'the password' => [$password],
);

sub memory { NgxQueues::Memory->new($s->pid, $s->worker_pids) }

my $before = memory();

like($before->found($kinds{$_}[0]), qr/./, "before: $_")
    for 'what is made of it', 'a secret of tokens', 'the password';

# all of them are others

spurt($s->{secret_file}, 'x' x 64 . "\n", 0600);
spurt($jwt->public, NgxQueues::Jwt->secret->{secret} . "\n");
NgxQueues::Jwt::jwks('keys', NgxQueues::Jwt->secret->jwk(kid => 'a'));
$s->redis->client->call('CONFIG', 'SET', 'requirepass', 'another password 9876543210');
$s->redis->{password} = 'another password 9876543210';
$s->configure;
$s->reload(drained => 15);
is(NgxQueues::Queue->new($s)->counts, '0 0 0', 'it works');

my $after = memory();

is($after->gone(NgxQueues::Memory::parts(@{ $kinds{$_} })), '', "after: $_")
    for sort keys %kinds;

$s->finish;

done_testing;
