# JSON Web Tokens: algorithms and the keys they may be verified with, claims,
# and roles as permissions.

use NgxQueues::BadTokens;
use NgxQueues::Env;
use NgxQueues::Jwt;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();
log_level('info');

our $q = '/v1/organizations/o/projects/p/queues';

our %key = (
    (map { $_ => NgxQueues::Jwt->key($_) } qw/rsa ec ed25519/),
    secret => NgxQueues::Jwt->secret,
);

our %other = (
    (map { $_ => NgxQueues::Jwt->key($_) } qw/rsa ec ed25519/),
    secret => NgxQueues::Jwt->secret,
);

our @all = ('*@*');
our $base = '$TEST_NGINX_QUEUES ';
our $keys = $base . join ' ', map { 'queues_jwt_key ' . $_->public . ';' }
    values %key;

# the same keys by name, and some for RS256 and HS512 only

our $jwks = $base . 'queues_jwt_key ' . NgxQueues::Jwt::jwks('all',
    $key{rsa}->jwk(kid => 'rsa', alg => 'RS256', use => 'sig'),
    $key{ec}->jwk(kid => 'ec', use => 'sig', key_ops => ['verify']),
    $key{ed25519}->jwk(kid => "\x{e9}d"),
    $key{secret}->jwk(kid => 'secret', alg => 'HS512'),
    $other{rsa}->jwk(kid => 'enc', use => 'enc'),
    $other{rsa}->jwk(kid => 'ps', alg => 'PS256'),
    $other{ec}->jwk(kid => 'ec2'),
    { kty => 'AKP', kid => 'new', alg => 'ML-DSA-44', pub => 'AAAA' }) . ';';

add_block_preprocessor(sub {
    my ($block) = @_;

    $block->set_value(http_config => $keys)
        if !defined $block->http_config;
    $block->set_value(config => 'large_client_header_buffers 4 32k;'
                                . ' location / { queues_api; }')
        if !defined $block->config;
});

sub claims { NgxQueues::Jwt::claims(roles => \@all, @_) }
sub hs { $key{secret}->token(@_) }
sub bearer { [map { "Authorization: Bearer $_" } @_] }
sub times { my ($what, @list) = @_; [($what) x @list] }

# key, alg

our @good = map { my $row = $_; $key{$row->[0]}->token(claims(),
                  { alg => $row->[1], typ => 'JWT' }) }
    (map { ['secret', "HS$_"], ['rsa', "RS$_"] } 256, 384, 512),
    ['ec', 'ES256'], ['ed25519', 'EdDSA'];

push @good, hs(claims(x => 'x' x 5900));

our ($head, $body, $signature) = split /\./, $good[0];

# a token's text, and why it is refused: t/jwt_log.t looks at that

our @bad = NgxQueues::BadTokens::list(\%key, \%other, @good);

# what is no token at all: nothing is said about it

our @not = ("$head.$body", "$head.$body.$signature.", "$head", '.', '...',
            "$head.$body.$signature.$signature.$signature",
            'x' x 8000, hs(claims(x => 'x' x 6200)));

# roles, and what they permit: list, get orders, send to orders, get team-a

our @may = (
    [['*@*'] => '1111'],
    ['*@*' => '1111'],
    [[] => '0000'],
    ['' => '0000'],
    [undef, '0000'],
    [{ '*@*' => 1 } => '0000'],
    [1 => '0000'],
    [['admin', 'openid', 'someone@example.com', 'a@b@c', '@', '*@', '@*'],
     '0000'],
    [['*'] => '0000'],
    ['openid queues.get@o/p/orders  email' => '0100'],
    [['openid queues.get@o/p/orders'] => '0000'],
    [['queues.get@o/p/*', 'queues.messages.send@o/p/orders'] => '0111'],
    [['queues.get,queues.list@o/p/team-a,o/p/x'] => '1001'],
    [['queues.get@o/p/team-a', 'queues.messages.*@o/p/orders'] => '0011'],
    [['queues.get@o/p'] => '0000'],
    [['*@o/other/*'] => '0000'],
    [[1, undef, ['*@*'], { a => '*@*' }, 'queues.get@o/*'] => '0101'],
    [[map { "x$_\@o" } 1 .. 63], '0000'],
    [[(map { "other-system-role-$_" } 1 .. 200), 'queues.list@o/*'] => '1000'],
);

our @calls = ("GET $q", "GET $q/orders",
              "POST $q/orders/messages\n{\"body\":\"a\"}", "GET $q/team-a");

our @may_tokens = map { my $t = hs(claims(roles => $_->[0])); ($t) x 4 } @may;
our @may_codes = map { my @b = split //, $_->[1];
                       ($b[0] ? 200 : 403, $b[1] ? 200 : 403,
                        $b[2] ? 201 : 403, $b[3] ? 200 : 403) } @may;

# with an issuer, an audience, a leeway and a claim in an object

our $strict = "$keys queues_jwt_issuer https://id.example/;"
              . ' queues_jwt_audience "queues of o"; queues_jwt_leeway 0;'
              . ' queues_jwt_roles_claim realm_access.roles;';

sub strict {
    return hs(NgxQueues::Jwt::claims(iss => 'https://id.example/',
        aud => 'queues of o', realm_access => { roles => ['*@*'] }, @_));
}

our @strict = (
    [strict() => 200],
    [strict(aud => ['x', 'queues of o']) => 200],
    [strict(aud => ['queues of']) => 401],
    [strict(aud => 'queues of o ') => 401],
    [strict(aud => []) => 401],
    [strict(aud => undef) => 401],
    [strict(aud => { 'queues of o' => 1 }) => 401],
    [strict(iss => 'https://id.example') => 401],
    [strict(iss => ['https://id.example/']) => 401],
    [strict(iss => undef) => 401],
    [strict(exp => time) => 401],
    [strict(exp => time - 1) => 401],
    [strict(nbf => time + 30) => 401],
    [strict(nbf => time - 1, iat => time - 1) => 200],
    [strict(roles => ['*@*'], realm_access => {}) => 403],
    [strict(realm_access => ['*@*']) => 403],
    [strict('realm_access.roles' => 'queues.get@*') => 403],
    [strict('realm_access.roles' => 'queues.list@*') => 200],
    [hs(NgxQueues::Jwt::claims()) => 401],
);

# by name

our @named = (
    [$key{rsa}->token(claims(), { kid => 'rsa' }) => 200],
    [$key{rsa}->token(claims(), { kid => 'rsa', alg => 'RS512' }) => 401],
    [$key{rsa}->token(claims(), { kid => 'ec' }) => 401],
    [$key{rsa}->token(claims(), { kid => 'none' }) => 401],
    [$key{rsa}->token(claims(), { kid => '' }) => 401],
    [$key{rsa}->token(claims()) => 200],
    [$key{ec}->token(claims(), { kid => 'ec' }) => 200],
    [$key{ec}->token(claims(), { kid => 'ec2' }) => 401],
    [$key{ec}->token(claims()) => 200],
    [$other{ec}->token(claims(), { kid => 'ec' }) => 401],
    [$other{ec}->token(claims()) => 200],
    [$key{ed25519}->token(claims(), '{"alg":"EdDSA","kid":"\u00e9d"}') => 200],
    [$key{ed25519}->token(claims(), { kid => "\x{e9}d" }) => 200],
    [hs(claims(), { kid => 'secret', alg => 'HS512' }) => 200],
    [hs(claims(), { kid => 'secret', alg => 'HS256' }) => 401],
    [hs(claims(), { alg => 'HS256' }) => 401],
    [$other{rsa}->token(claims(), { kid => 'enc' }) => 401],
    [$other{rsa}->token(claims(), { kid => 'ps' }) => 401],
    [$other{rsa}->token(claims()) => 401],
    [hs(claims(), { kid => 'rsa', alg => 'HS256' }) => 401],
);

plan tests => 2 * 2 + @good + 3 * @bad + 3 * @not + @may_codes
              + @strict + @named + 3 + 4 + 2;

run_tests();

__DATA__

=== queues, by a key
--- request eval
[map { "POST $::q\n{\"name\":\"$_\"}" } "orders", "team-a"]
--- more_headers eval
main::times("Authorization: Bearer qk_test-all-0123456789abcdefghijklmn", 1, 2)
--- error_code eval: [201, 201]
--- response_body_like eval: ['"name":"orders"', '"name":"team-a"']



=== each algorithm
--- request eval: [map { "GET $::q" } @::good]
--- more_headers eval: main::bearer(@::good)
--- error_code eval: main::times(200, @::good)



=== what is refused, and why
--- request eval: [map { "GET $::q" } @::bad]
--- more_headers eval: main::bearer(map { $_->[0] } @::bad)
--- error_code eval: main::times(401, @::bad)
--- response_headers eval
main::times('WWW-Authenticate: Bearer error="invalid_token"', @::bad)
--- response_body_like eval
main::times('^{"error":"unauthenticated","message":"[^<]+"}$', @::bad)



=== what is no token
--- request eval: [map { "GET $::q" } @::not]
--- more_headers eval: main::bearer(@::not)
--- error_code eval: main::times(401, @::not)
--- response_headers eval: main::times("WWW-Authenticate: Bearer", @::not)
--- response_body_like eval: main::times('"unauthenticated"', @::not)



=== roles
--- request eval: [(@::calls) x @::may]
--- more_headers eval: main::bearer(@::may_tokens)
--- error_code eval: [@::may_codes]



=== issuer, audience, leeway, and roles in an object
--- http_config eval: $::strict
--- request eval: [map { "GET $::q" } @::strict]
--- more_headers eval: main::bearer(map { $_->[0] } @::strict)
--- error_code eval: [map { $_->[1] } @::strict]



=== keys with names
--- http_config eval: $::jwks
--- request eval: [map { "GET $::q" } @::named]
--- more_headers eval: main::bearer(map { $_->[0] } @::named)
--- error_code eval: [map { $_->[1] } @::named]



=== a claim whose name is a URL, and tokens alone, without API keys
--- http_config eval
'queues_redis unix:$TEST_NGINX_REDIS_SOCKET; queues_redis_connect_timeout 10s;'
. ' queues_secret_file $TEST_NGINX_SECRET_FILE;'
. ' queues_jwt_roles_claim https://example.com/roles; queues_jwt_key '
. $::key{secret}->public . ';'
--- request eval: ["GET $::q", "GET $::q", "GET $::q"]
--- more_headers eval
main::bearer(
    main::hs(main::claims("https://example.com/roles" => '*@o/p/*')),
    main::hs(main::claims()),
    "qk_test-all-0123456789abcdefghijklmn")
--- error_code eval: [200, 403, 401]



=== a list shows what the token may list, and 403 names the permission
--- request eval: ["GET $::q", "GET $::q/orders"]
--- more_headers eval
main::bearer((main::hs(main::claims(roles => ['queues.list@o/p/team-*']))) x 2)
--- error_code eval: [200, 403]
--- response_body_like eval
['^{"queues":\[\{[^}]*"name":"team-a"[^}]*}\],',
 '^{"error":"permission_denied","message":"[^"]*queues\.get']



=== queues_auth off asks for nothing
--- config
location / { queues_api; queues_auth off; }
--- request eval: "GET $::q"
--- more_headers: Authorization: Bearer a.b.c
--- no_error_log
a token was refused
