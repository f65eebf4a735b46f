# What a wrong queues_jwt_* directive says.

use NgxQueues::Env qw/no_redis/;
use NgxQueues::Jwt;
use NgxQueues::Process qw/slurp spurt/;
use NgxQueues::Tls;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();

our $dir = $ENV{TEST_NGINX_DIR};

our $base = 'queues_redis 127.0.0.1:1;'
            . ' queues_secret_file $TEST_NGINX_SECRET_FILE;';

our %key = map { $_ => NgxQueues::Jwt->key($_) }
    qw/rsa ec ed25519 rsa1024 p384 ed448/;

our $jwk = $key{rsa}->jwk;
our $secret = 's3cr3t-' x 6;

sub file {
    my ($name, $text) = @_;

    spurt("$dir/$name", $text);

    return "queues_jwt_key $dir/$name;";
}

sub jwks { 'queues_jwt_key ' . NgxQueues::Jwt::jwks(@_) . ';' }
sub pem { slurp($key{$_[0]}->public) }

my $good = file('good', "$secret\n");
my $encrypted = NgxQueues::Jwt::openssl('pkey', '-in', $key{rsa}->private,
    '-aes-128-cbc', '-passout', 'pass:x');
my $certificate = NgxQueues::Tls->new->files('localhost')->{certificate};

our @wrong = (
    ["queues_jwt_key $dir/none;", qq{"queues_jwt_key": open() "$dir/none"}],
    ["queues_jwt_key $dir;", 'must be a regular file'],
    ['queues_jwt_key;', 'invalid number of arguments in "queues_jwt_key"'],
    [file('huge', 'x' x 262145), 'of at most 262144 bytes'],
    [file('empty', ''), qq{"queues_jwt_key $dir/empty" is empty}],
    [file('blank', " \n\n"), 'write a secret, public keys in PEM or a JWKS'],
    [file('short', ('x' x 31) . "\n"), 'is a secret of less than 32 bytes: '
     . 'make one with "openssl rand -base64 48"'],
    [file('two', "$secret\n$secret\n"), 'is not one line of text'],
    [file('binary', "\0\xff" x 32), 'binary ones as "k" of a JWKS'],

    [file('private', slurp($key{rsa}->private)), qq{key 1 of "queues_jwt_key }
     . qq{$dir/private" is a private key: write the public one}],
    [file('encrypted', $encrypted), 'is a private key'],
    [file('certificate', slurp($certificate)), 'is a certificate: write its '
     . 'public key, made with "openssl x509 -in FILE -noout -pubkey"'],
    [file('rsa1024', pem('ec') . pem('rsa1024')), "key 2 of \"queues_jwt_key "
     . "$dir/rsa1024\" is an RSA key of less than 2048"],
    [file('p384', pem('p384')), 'is an EC key of another curve than P-256'],
    [file('ed448', pem('ed448')), 'is not a public key of RSA, EC P-256 or'],
    [file('cut', substr pem('rsa'), 0, -30), 'is not PEM'],
    [file('cut2', pem('rsa') . substr pem('rsa'), 0, -30), 'is not PEM'],
    [file('other', pem('ec') =~ s/PUBLIC KEY/PUBLIC THING/gr),
     'is not a public key'],
    [file('bad', pem('ec') =~ s/\n.{8}/\nAAAAAAAA/r), 'is not a public key'],

    [file('json', '{"keys": ['), 'is not JSON, though it starts with "{"'],
    [file('no_keys', '{"key": []}'), 'is not a JWKS: write {"keys": [...]}'],
    [file('one', JSON::PP::encode_json($jwk)), 'is not a JWKS'],
    [jwks('none'), 'has no key that verifies HS256'],
    [jwks('unusable', { %$jwk, use => 'enc' }, { %$jwk, alg => 'PS256' },
          { kty => 'EC', crv => 'P-521' }), 'has no key that verifies HS256'],
    [jwks('number', $jwk, 7), 'key 2 of'],
    [jwks('d', { %$jwk, d => 'AQAB' }), 'has its private part, "d"'],
    [jwks('n', { %$jwk, n => undef }), 'is not a public key of its "kty"'],
    [jwks('e', { %$jwk, e => 'AQAB=' }), 'is not a public key of its "kty"'],
    [jwks('x', { %{ $key{ec}->jwk }, x => 'AAAA' }), 'of its "kty"'],
    [jwks('off', { %{ $key{ec}->jwk }, x => 'A' x 43 }), 'of its "kty"'],
    [jwks('small', $key{rsa1024}->jwk), 'is an RSA key of less than 2048'],
    [jwks('kid', { %$jwk, kid => 1 }), 'has a "kid" that is not a string'],
    [jwks('oct', { kty => 'oct', k => 'AQAB' }), 'a secret of less than 32'],
    [jwks('many', map { { %{ $key{ed25519}->jwk }, kid => "k$_" } } 1 .. 65),
     'is one too many: there can be 64 keys'],
);

push @wrong, map { [
    'queues_api_keys $TEST_NGINX_KEYS_FILE; ' . $_->[0],
    "\"$_->[1]\" needs a key that tokens are signed with: add "
    . '"queues_jwt_key FILE;" beside it'
] } ['queues_jwt_issuer x;', 'queues_jwt_issuer'],
    ['queues_jwt_audience x;', 'queues_jwt_audience'],
    ['queues_jwt_leeway 0;', 'queues_jwt_leeway'],
    ['queues_jwt_roles_claim roles;', 'queues_jwt_roles_claim'];

push @wrong,
    ["$good queues_jwt_issuer '';", '"queues_jwt_issuer" is empty'],
    ["$good queues_jwt_audience '';", '"queues_jwt_audience" is empty'],
    ["$good queues_jwt_roles_claim '';", '"queues_jwt_roles_claim" is empty'],
    ["$good queues_jwt_issuer a; queues_jwt_issuer b;", 'is duplicate'],
    ["$good queues_jwt_leeway soon;", 'invalid value'],
    ["$good queues_jwt_leeway -1;", 'invalid value'],
    ["$good queues_jwt_leeway 3601s;", 'write at most "1h"'],
    ['', 'add "queues_api_keys FILE;" or "queues_jwt_key FILE;" to "http"'];

our $right = $base . join ' ', $good, file('pem', join "\n", 'comment',
    map { pem($_) } qw/rsa ec ed25519/), jwks('set', $jwk, { kty => 'X' }),
    'queues_jwt_leeway 1h; queues_jwt_issuer a; queues_jwt_audience b;'
    . ' queues_jwt_roles_claim "a \"b\".c";',
    file('pkcs1', NgxQueues::Jwt::openssl('rsa', '-pubin', '-in',
        $key{rsa}->public, '-RSAPublicKey_out'));

plan tests => 4 * @wrong + 2;

my @blocks = map { "\n=== $_->[1]\n--- http_config\n$base $_->[0]\n"
                   . "--- config\nlocation / { queues_api; }\n--- request\n"
                   . "GET /\n--- must_die\n--- error_log\n[emerg]\n$_->[1]\n"
                   . "--- no_error_log\ns3cr3t\n" } @wrong;

{
    local $/;
    Test::Base::spec_string(join '', @blocks, <DATA>);
}

run_tests();

__DATA__

=== all forms together
--- http_config eval: $main::right
--- config
location / { queues_api; }
--- request
GET /v1/x
--- error_code: 404
--- no_error_log
s3cr3t
