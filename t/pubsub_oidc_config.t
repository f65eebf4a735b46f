# What a wrong queues_oidc_* directive says, and that right ones are fine.

use NgxQueues::Env qw/no_redis/;
use NgxQueues::Jwt;
use NgxQueues::Process qw/slurp spurt/;
use NgxQueues::Tls;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();

our $dir = $ENV{TEST_NGINX_DIR};

our $base = 'queues_redis 127.0.0.1:1; queues_secret_file'
            . ' $TEST_NGINX_SECRET_FILE; queues_api_keys'
            . ' $TEST_NGINX_KEYS_FILE;';

our %key = map { $_ => NgxQueues::Jwt->key($_) } qw/rsa ec rsa1024/;
our $other = NgxQueues::Jwt->rsa;

sub pem { slurp(($key{$_[0]} // $other)->private) }

sub file {
    my ($name, $text) = @_;

    spurt("$dir/$name", $text);

    return "queues_oidc_key $dir/$name;";
}

sub openssl { NgxQueues::Jwt::openssl(@_) }

our $key = file('key', pem('rsa'));
our $issuer = 'queues_oidc_issuer https://queues.example.com;';

my $certificate = NgxQueues::Tls->new->files('localhost')->{certificate};
my $encrypted = openssl('pkey', '-in', $key{rsa}->private, '-aes-128-cbc',
                        '-passout', 'pass:x');
my $traditional = openssl('rsa', '-in', $key{rsa}->private, '-traditional');

our @wrong = (
    [$key, '"queues_oidc_key" needs the URL that verifiers know the signer by:'
     . ' add "queues_oidc_issuer https://HOST;"'],
    [$issuer, '"queues_oidc_issuer" needs a key that signs: make one with '
     . '"openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 '
     . '-out FILE" and add "queues_oidc_key FILE;" to "http"'],
    ["$key $issuer $issuer", '"queues_oidc_issuer" directive is duplicate'],
    ['queues_oidc_key;', 'invalid number of arguments in "queues_oidc_key"'],
);

push @wrong, map { ["$key queues_oidc_issuer \"$_\";",
    "\"queues_oidc_issuer $_\" is not the URL of an issuer: write "
    . '"https://HOST", with a port or a path if need be, and without a query']
} '', 'queues.example.com', 'https://', 'http://', 'HTTPS://a.example',
  'https:///path', 'https://:443', 'https://me@a.example',
  'https://me:secret@a.example', 'https://a.example?x=1', 'https://a.example/#',
  'https://a.example/a b', 'https://a.example/<', "https://\x{e9}.example",
  'ftp://a.example', 'accounts.google.com';

push @wrong, map { ["$key queues_oidc_issuer $_;", "\"queues_oidc_issuer $_\""
    . ' is fetched without TLS: write "https://"'] }
    'http://a.example', 'http://localhost.example', 'http://127.example',
    'http://10.0.0.1', 'http://128.0.0.1', 'http://[::1].example',
    'http://[::2]', 'http://localhost@a.example';

push @wrong, map { ["$_->[0] $issuer", $_->[1]] } (
    ["queues_oidc_key $dir/none;", qq{"queues_oidc_key": open() "$dir/none"}],
    ["queues_oidc_key $dir;", 'must be a regular file'],
    [file('huge', 'x' x 65537), 'of at most 65536 bytes'],
    [file('empty', ''), qq{"queues_oidc_key $dir/empty" is empty: make a key }
     . 'with "openssl genpkey'],
    [file('text', 'c3VwZXJzZWNyZXQ'), qq{key 1 of "queues_oidc_key $dir/text"}
     . ' is not PEM'],
    [file('cut', substr pem('rsa'), 0, -30), 'is not PEM'],
    [file('cut2', pem('other') . substr pem('rsa'), 0, -30),
     qq{key 2 of "queues_oidc_key $dir/cut2" is not PEM}],
    [file('public', slurp($key{rsa}->public)), qq{key 1 of "queues_oidc_key }
     . qq{$dir/public" is not a private key}],
    [file('certificate', pem('rsa') . slurp($certificate)),
     qq{key 2 of "queues_oidc_key $dir/certificate" is not a private key}],
    [file('encrypted', $encrypted), 'is encrypted: write it without its '
     . 'passphrase, with "openssl pkey -in FILE -out NEW"'],
    [file('ec', pem('ec')), 'is not an RSA key: tokens are signed with RS256'],
    [file('small', pem('rsa1024')), 'is an RSA key of less than 2048'],
    [file('bad', pem('rsa') =~ s/\n.{8}/\nAAAAAAAA/r),
     'is not a private key that OpenSSL can read'],
    [file('twice', pem('rsa') x 2), 'is there twice: write each key once'],
    ["$key " . file('again', $traditional),
     qq{key 1 of "queues_oidc_key $dir/again" is there twice}],
);

our @locations = (
    ['queues_oidc_discovery;', '"queues_oidc_discovery" needs a key that '
     . 'signs', $base],
    ['queues_oidc_discovery;', '"queues_oidc_discovery" needs a store',
     "$key $issuer"],
    ['queues_oidc_discovery on;', 'invalid number of arguments in '
     . '"queues_oidc_discovery"', $base],
    ['queues_oidc_discovery; queues_oidc_discovery;',
     '"queues_oidc_discovery" directive is duplicate', "$base $key $issuer"],
    ['queues_api; queues_oidc_discovery;', '"queues_api" and '
     . '"queues_oidc_discovery" are in one location: give each API a '
     . 'location of its own', "$base $key $issuer"],
);

# an issuer, and where its keys are

our @issuers = map { [$_ => $_ =~ s{/$}{}r . '/.well-known/jwks.json'] }
    'https://queues.example.com', 'https://queues.example.com/',
    'https://queues.example.com:8443', 'https://10.1.2.3/a/b',
    'https://[2001:db8::1]/x', 'http://localhost', 'http://localhost:8080',
    'http://localhost/x/', 'http://127.0.0.2:8080', 'http://[::1]:8080',
    'https://accounts.google.com', 'https://a.example/%7Eme/~me@x:y';

# no credential is asked for: none has to be configured

our $open = 'queues_redis 127.0.0.1:1; queues_secret_file'
            . ' $TEST_NGINX_SECRET_FILE;';

plan tests => 3 * @wrong + 2 * @locations + 3 * @issuers + 2;

sub block {
    my ($http, $location, $message) = @_;

    return "\n=== $message\n--- http_config\n$http\n--- config\nlocation / { "
           . "$location }\n--- request\nGET /\n--- must_die\n--- error_log\n"
           . "$message\n";
}

{
    local $/;
    Test::Base::spec_string(join '',
        (map { block("$base $_->[0]", 'queues_api;', $_->[1])
               . "--- no_error_log\nc3VwZXJzZWNyZXQ\n" }
             @wrong),
        (map { block($_->[2], @$_) } @locations),
        (map { "\n=== $_->[0]\n--- http_config\n$open $key queues_oidc_issuer "
               . "$_->[0];\n--- config\nlocation / { queues_oidc_discovery; }"
               . "\n--- request\nGET /.well-known/openid-configuration\n"
               . "--- response_headers\nContent-Type: application/json\n"
               . "--- response_body_like: ^"
               . quotemeta("{\"issuer\":\"$_->[0]\",\"jwks_uri\":\"$_->[1]\",")
               . "\n" } @issuers),
        <DATA>);
}

run_tests();

__DATA__

=== a key that no location needs is not read
--- http_config
queues_oidc_key no-such-key; queues_oidc_issuer x;
--- config
location / { return 204; }
--- request
GET /
--- error_code: 204
--- no_error_log
no-such-key
