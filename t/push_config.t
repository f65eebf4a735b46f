# What a wrong queues_push* directive says, and that right ones are fine.

use NgxQueues::Env qw/no_redis/;
use NgxQueues::Process 'spurt';
use NgxQueues::Tls;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();

our $dir = $ENV{TEST_NGINX_DIR};

our $base = 'queues_redis 127.0.0.1:1;'
            . ' queues_secret_file $TEST_NGINX_SECRET_FILE;'
            . ' queues_api_keys $TEST_NGINX_KEYS_FILE;';

our $resolver = 'resolver 127.0.0.1:1;';

spurt("$dir/text", "not a certificate\n");

$ENV{TEST_NGINX_CA} = NgxQueues::Tls->new->files('localhost')->{ca};

# where OpenSSL looks for the authorities of the system

$ENV{SSL_CERT_FILE} = "$dir/none";
$ENV{SSL_CERT_DIR} = "$dir/none";

our @wrong = (
    ['queues_push on;', '"queues_push on" needs name servers: add "resolver '
     . 'ADDRESS;" to "http", or write "queues_push off"'],
    ['queues_push maybe;', 'it must be "on" or "off"'],
    ["queues_push off; queues_push on;", 'is duplicate'],
    ["$resolver queues_push on;", '"queues_push on" cannot verify endpoints: '],
    ["$resolver queues_push on;", 'has no certificates of authorities: install '
     . 'the package ca-certificates, or add "queues_push_trusted_certificate'],
    ["$resolver queues_push_trusted_certificate $dir/none;", qq{"$dir/none"}],
    ["$resolver queues_push_trusted_certificate $dir/text;", qq{"$dir/text"}],
    ['queues_push_allow_localhost yes;', 'it must be "on" or "off"'],
    (map { ["queues_push_max_deliveries $_;",
            qq{invalid "queues_push_max_deliveries $_": write a number from 1}
            . ' to 10000'] }
        qw/0 -1 10001 many/),
    ['queues_push_max_deliveries 1; queues_push_max_deliveries 1;',
     'is duplicate'],
    (map { ["queues_push_allow_address 10.0.0.0/8 $_;",
            qq{invalid "$_" in "queues_push_allow_address": write an address }
            . 'or a network such as "10.0.0.0/8" or "fd00::/8", with no bits'] }
        qw{10.0.0.1/8 10.0.0.0/33 10.0.0/8 all fd00::1/8 ::/129 [::1] x},
        '10.0.0.0/', '010.0.0.1', '10.0.0.1:443'),
    (map { ["queues_push_allow_host a.internal $_;",
            qq{invalid "$_" in "queues_push_allow_host": write a DNS name, }
            . 'such as "hooks.internal", or ".internal" for all names'] }
        qw{*.internal a..b 10.0.0.1 [::1] a:443 a/b a_b -a . .. .10 a..
           https://a},
        'a@b', 'x' x 64),
    (map { ["queues_push_allow_port 8443 $_;",
            qq{invalid "$_" in "queues_push_allow_port": write a port from 1 }
            . 'to 65535, or a range such as "8000-8999"'] }
        qw{0 65536 x 8000- -8000 9000-8999 1-2-3 8000:9000}),
    (map { ["queues_push_header_prefix $_->[0];",
            "invalid \"queues_push_header_prefix $_->[1]\": write the beginning"
            . ' of a header\'s name, 1 to 64 letters, digits and hyphens'] }
        (map { [$_, $_] } 'X:', 'Ü', 'x' x 65, 'Webhook'), ['""', ''],
        ["'X Y'", 'X Y']),
    ['queues_push_header_prefix A; queues_push_header_prefix A;',
     'is duplicate'],
);

plan tests => 2 * @wrong + 5 * 2;

my @blocks = map { "\n=== $_->[1]\n--- http_config\n$base $_->[0]\n"
                   . "--- config\nlocation / { queues_api; }\n--- request\n"
                   . "GET /\n--- must_die\n--- error_log\n$_->[1]\n" } @wrong;

our $all = 'queues_push_allow_address 10.0.0.0/8 fd00::/8 127.0.0.1 ::/0;'
    . ' queues_push_allow_address 0.0.0.0/0;'
    . ' queues_push_allow_host Hooks.Internal. .svc;'
    . ' queues_push_allow_host one;'
    . ' queues_push_allow_port 8443 9000-9999; queues_push_allow_port 1;'
    . ' queues_push_allow_localhost on; queues_push_max_deliveries 10000;'
    . ' queues_push_header_prefix x-My_App;';

{
    local $/;
    Test::Base::spec_string(join '', @blocks, <DATA>);
}

run_tests();

__DATA__

=== all of them
--- http_config eval
"$main::base $main::resolver $main::all queues_push on;"
. ' queues_push_trusted_certificate $TEST_NGINX_CA;'
--- config
location / { queues_api; }
--- request
GET /v1/x
--- error_code: 404
--- no_error_log
[warn]



=== without a resolver it is off, and needs no authorities
--- http_config eval: "$main::base $main::all"
--- config
location / { queues_api; }
--- request
GET /v1/x
--- error_code: 404
--- no_error_log
has no certificates



=== a resolver of a server is not that of http
--- http_config eval: "$main::base queues_push on;"
--- config
resolver 127.0.0.1:1;
location / { queues_api; }
--- request
GET /v1/x
--- must_die
--- error_log
"queues_push on" needs name servers



=== off, nothing is needed
--- http_config eval
"$main::base $main::resolver queues_push off;"
. " queues_push_trusted_certificate $main::dir/none;"
--- config
location / { queues_api; }
--- request
GET /v1/x
--- error_code: 404
--- no_error_log
[warn]



=== where nothing has an API, nothing is checked
--- http_config
queues_push on;
--- config
location / { return 404; }
--- request
GET /
--- error_code: 404
--- no_error_log
[emerg]

