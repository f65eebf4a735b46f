#!/usr/bin/perl

# What an endpoint reads to verify the tokens of pushes: the two documents of
# queues_oidc_discovery, and the keys in them over a rotation.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use JSON::PP ();
use Test::More;

use NgxQueues::Jwt;
use NgxQueues::Process qw/slurp spurt/;
use NgxQueues::Server;
use NgxQueues::Wait;

my $json = JSON::PP->new->canonical;
my $configuration = '/.well-known/openid-configuration';
my $jwks = '/.well-known/jwks.json';
my $issuer = 'https://queues.example.com/a';

my ($one, $two, $three) = map { NgxQueues::Jwt->rsa } 1 .. 3;
my $dir = NgxQueues::Jwt::dir();
my $file = "$dir/oidc.pem";

sub http {
    return 'queues_redis 127.0.0.1:1; queues_rate_limit organization=1/m;'
           . ' log_format op "$queues_operation $status $queues_error";'
           . " access_log %%DIR%%/op.log op; queues_oidc_issuer $issuer;"
           . join '', map { "queues_oidc_key $_;" } @_;
}

my $s = NgxQueues::Server->new(workers => 2, redis => 0,
    http => http($one->private),
    locations => 'location /.well-known/ { queues_oidc_discovery; }'
                 . ' location /a/ { queues_oidc_discovery; }'
                 . ' location / { queues_api; }');
my $c = $s->client(key => undef);

# as verifiers read a key, with the id that RFC 7638 has for it, cut

sub published {
    my ($key) = @_;

    my $jwk = $key->jwk;

    return { %$jwk, use => 'sig', alg => 'RS256',
             kid => substr sha256_hex($json->encode($jwk)), 0, 40 };
}

sub set { $json->encode({ keys => [map { published($_) } @_] }) }

# what both workers have: one connection each time

sub sets {
    my %seen = map {
        my $r = $s->client(key => undef)->get($jwks);

        ($r->{status} == 200 ? $json->encode($r->{json}) : $r->{status} => 1)
    } 1 .. 16;

    return join "\n", keys %seen;
}

# the documents

my $r = $c->get($configuration);

is($r->{status}, 200, 'the configuration');
is($r->{headers}{'content-type'}, 'application/json', 'its type');
is($r->{headers}{'cache-control'}, 'public, max-age=3600', 'its age');
is_deeply($r->{json}, {
    issuer => $issuer,
    jwks_uri => "$issuer$jwks",
    response_types_supported => ['id_token'],
    subject_types_supported => ['public'],
    id_token_signing_alg_values_supported => ['RS256'],
    claims_supported => [qw/aud azp email email_verified exp iat iss sub/],
}, 'its members');

my $length = $r->{headers}{'content-length'};

$r = $c->get($jwks);
is($r->{status}, 200, 'the keys');
is($r->{headers}{'content-type'}, 'application/json', 'their type');
is($r->{headers}{'cache-control'}, 'public, max-age=3600', 'their age');
is($json->encode($r->{json}), set($one), 'one key, all its members');
unlike($r->{body}, qr/"(?:d|p|q|dp|dq|qi)"/, 'and its public part alone');

# where they are: the last two parts of a path count

for my $path ($configuration, $jwks) {
    my $usual = $c->get($path)->{body};

    for my $other ("/a$path", "/a/b/c/d/e$path", "$path?x=1",
                   "/a//$path", $path =~ s/w/%77/r) {
        is($c->get($other)->{body}, $usual, "GET $other");
    }

    $r = $c->head($path);
    is($r->{status}, 200, "HEAD $path");
    is($r->{headers}{'content-length'}, length $usual, 'its length');
    is($r->{headers}{'cache-control'}, 'public, max-age=3600', 'its age');
    is($r->{body}, '', 'no body');

    $r = $c->get($path, headers => { Authorization => 'Bearer x' });
    is($r->{status}, 200, 'whoever asks');

    for my $method (qw/POST PUT PATCH DELETE OPTIONS PURGE/) {
        $r = $c->request($method, $path, $method =~ /^P/ ? {} : undef);
        is($r->{status}, 405, "$method $path");
        is($r->{headers}{allow}, 'GET, HEAD', 'what may be');
        is($r->{json}{error}, 'method_not_allowed', 'and why');
        is($r->{headers}{'cache-control'}, undef, 'not to be cached');
    }
}

for my $path ('/.well-known/', '/.well-known/x', '/a/jwks.json', '/a/',
              "$jwks/", '/.well-known//jwks.json', '/a/.Well-known/jwks.json',
              '/.well-known/JWKS.json', '/a' . '/x' x 20 . $jwks) {
    $r = $c->get($path);
    is($r->{status}, 404, "GET $path");
    is($r->{headers}{'content-type'}, 'application/json', 'its type');
    is($r->{json}{error}, 'not_found', 'and why');
    is($r->{headers}{'cache-control'}, undef, 'not to be cached');
}

$r = $c->get('/.well-known/%zz');
is($r->{status}, 400, 'a path that cannot be decoded');
is($r->{json}{error}, 'invalid_argument', 'in JSON, too');
is($c->get('/v1/organizations/o/projects/p/queues')->{status}, 401,
   'other locations ask for a credential');

my $log = slurp($s->dir . '/op.log');

like($log, qr/^$_$/m, "logged: $_") for 'OidcConfiguration 200 -',
    'OidcKeys 200 -', '- 405 method_not_allowed', '- 404 not_found';

# a rotation: the new key is there before it signs, the old one after it

spurt($file, slurp($two->private), 0600);
$s->configure(http => http($one->private, $file));
$s->reload(drained => 15);
is(sets(), set($one, $two), 'a second key, of another file');

spurt($file, slurp($two->private) . slurp($one->private), 0600);
$s->configure(http => http($file));
$s->reload(drained => 15);
is(sets(), set($two, $one), 'the other way round, in one file');

spurt($file, slurp($two->private), 0600);
$s->reload(drained => 15);
is(sets(), set($two), 'and alone: the file is read again');

# a file that is wrong: nothing changes

my @workers = $s->worker_pids;
my $line = qr/key 2 of "queues_oidc_key \Q$file\E" is not PEM/;

spurt($file, slurp($two->private) . substr(slurp($three->private), 0, -40),
      0600);
$s->signal('HUP');
ok(wait_for(sub { $s->error_log =~ $line }, 10), 'half a key is refused');
is(join(' ', $s->worker_pids), "@workers", 'and nothing changes');
is(sets(), set($two), 'it goes on');

# no part of a key is written down

for my $key ($one, $two, $three) {
    my @lines = grep { !/^---/ } split /\n/, slurp($key->private);
    my $text = $s->error_log . $s->access_log;

    is((grep { index($text, $_) >= 0 } @lines), 0, 'no key in a log');
}

$s->finish(allow => [$line]);

done_testing;
