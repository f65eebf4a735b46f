# The directives: what a wrong one says, and what the right ones do without a
# Redis to talk to.

use NgxQueues::Env qw/no_redis/;
use NgxQueues::Process 'spurt';
use NgxQueues::Tls;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();

our $dir = $ENV{TEST_NGINX_DIR};
our $hash = '0' x 64;

our $base = 'queues_redis unix:/nonexistent/redis.sock;'
            . ' queues_secret_file $TEST_NGINX_SECRET_FILE;'
            . ' queues_api_keys $TEST_NGINX_KEYS_FILE;';

our $tls = 'queues_redis 127.0.0.1:1;'
           . ' queues_secret_file $TEST_NGINX_SECRET_FILE;'
           . ' queues_api_keys $TEST_NGINX_KEYS_FILE; queues_redis_tls on;';

spurt("$dir/empty", '');
spurt("$dir/blank", "\n\npassword\n");
spurt("$dir/short", ('x' x 32) . "\n" . ('x' x 31) . "\n");
spurt("$dir/nine", join '', map { "$_" x 32 . "\n" } 1 .. 9);
spurt("$dir/keys1", "# a comment\n\n$hash a * *\nabc a * *\n");
spurt("$dir/keys2", "$hash a *\n");
spurt("$dir/keys3", "$hash a *,,x *\n");
spurt("$dir/keys4", "$hash a * * more\n");
spurt("$dir/text", "not a certificate\n");

my $files = NgxQueues::Tls->new->files('localhost');

$ENV{TEST_NGINX_CA} = $files->{ca};
$ENV{TEST_NGINX_CERT} = $files->{certificate};

# a line for each: the configuration of http{}, what is said

our @wrong = (
    ['queues_secret_file $TEST_NGINX_SECRET_FILE;',
     'needs a store: add "queues_redis unix:PATH;" or "queues_redis HOST:PORT'],
    ['queues_redis 127.0.0.1:1;',
     'needs a secret: make one with "openssl rand -base64 48 > FILE"'],
    ['queues_redis 127.0.0.1:1; queues_secret_file $TEST_NGINX_SECRET_FILE;',
     'has no credentials to check: add "queues_api_keys FILE;"'],
    ["$base queues_redis 127.0.0.1:1;", '"queues_redis" directive is duplicate'],
    ["queues_redis 127.0.0.1:1 127.0.0.1:2;", 'takes one address here'],
    ['queues_redis 127.0.0.1:0;', 'write "unix:PATH" or "HOST:PORT"'],
    ['queues_redis 127.0.0.1:99999;', 'invalid port in "queues_redis 127'],
    ['queues_redis localhost:x;', 'write "unix:PATH" or "HOST:PORT"'],
    ['queues_redis no-such-host.invalid:1;', 'host not found in "queues_redis'],
    ['queues_redis 127.0.0.1:6379/2;', '"queues_redis_database N"'],
    ['queues_redis unix:;', 'write "unix:PATH" or "HOST:PORT"'],
    ['queues_redis;', 'invalid number of arguments in "queues_redis"'],
    ['queues_redis_database one;', 'write the database\'s number, such as "0"'],
    ['queues_redis_database -1;', 'is not a number'],
    ['queues_redis_database 1; queues_redis_database 1;', 'is duplicate'],
    ["$base queues_redis_user me;",
     'needs "queues_redis_password_file FILE;" beside it'],
    ["$base queues_redis_password_file $dir/none;",
     '"queues_redis_password_file": open() '],
    ["$base queues_redis_password_file $dir/empty;",
     'the first line of "queues_redis_password_file'],
    ["$base queues_redis_password_file $dir/blank;", 'must be the password'],
    ["$base queues_redis_tls on;", 'not for a Unix socket'],
    ["$base queues_redis_tls maybe;", 'it must be "on" or "off"'],
    [$tls, 'needs "queues_redis_trusted_certificate FILE;"'],
    ["$base queues_redis_trusted_certificate \$TEST_NGINX_CA;",
     'add "queues_redis_tls on;", or "off" to go without'],
    ["$base queues_redis_certificate_key \$TEST_NGINX_CERT;",
     'add "queues_redis_tls on;"'],
    ["$tls queues_redis_trusted_certificate $dir/none;", qq{"$dir/none"}],
    ["$tls queues_redis_trusted_certificate $dir/text;", qq{"$dir/text"}],
    ["$tls queues_redis_trusted_certificate \$TEST_NGINX_CA;"
     . 'queues_redis_certificate $TEST_NGINX_CERT;',
     '"queues_redis_certificate_key" go together'],
    ["$tls queues_redis_trusted_certificate \$TEST_NGINX_CA;"
     . "queues_redis_certificate \$TEST_NGINX_CERT;"
     . "queues_redis_certificate_key $dir/text;", 'cannot load certificate key'],
    ['queues_redis_timeout soon;', 'invalid value'],
    ["$base queues_redis_timeout 0;", '"queues_redis_timeout 0" leaves no time'],
    ["$base queues_redis_connect_timeout 0s;",
     '"queues_redis_connect_timeout 0" leaves no time'],
    ['queues_redis_replicas 1;', 'invalid number of arguments'],
    ['queues_redis_replicas 1 1s; queues_redis_replicas 1 1s;', 'is duplicate'],
    (map { ["queues_redis_replicas $_;", 'invalid "queues_redis_replicas '
            . "$_\": write how many replicas, 1 to 10, and how long to wait" ] }
        '0 1s', '11 1s', 'x 1s', '-1 1s', '1 0', '1 soon', '1 -1s'),
    ["$base queues_redis_replicas 1 6s;",
     'is 6000ms, but a command has 5000ms: give it at most half of that'],
    ["$base queues_redis_replicas 1 2s; queues_redis_timeout 1s;",
     'is 2000ms, but a command has 1000ms'],
    ['queues_redis_connect_timeout -1;', 'invalid value'],
    ["queues_redis 127.0.0.1:1; queues_secret_file $dir/none;"
     . ' queues_api_keys $TEST_NGINX_KEYS_FILE;',
     '"queues_secret_file": open() '],
    ["queues_redis 127.0.0.1:1; queues_secret_file $dir;"
     . ' queues_api_keys $TEST_NGINX_KEYS_FILE;', 'must be a regular file'],
    ["queues_redis 127.0.0.1:1; queues_secret_file $dir/empty;"
     . ' queues_api_keys $TEST_NGINX_KEYS_FILE;', 'is empty: make it with'],
    ["queues_redis 127.0.0.1:1; queues_secret_file $dir/short;"
     . ' queues_api_keys $TEST_NGINX_KEYS_FILE;', 'is shorter than 32 bytes'],
    ["queues_redis 127.0.0.1:1; queues_secret_file $dir/nine;"
     . ' queues_api_keys $TEST_NGINX_KEYS_FILE;', 'has more than 8 lines'],
    ["$base queues_secret_file $dir/x;", '"queues_secret_file" directive is dup'],
    (map { [
        'queues_redis 127.0.0.1:1; queues_secret_file $TEST_NGINX_SECRET_FILE;'
        . " queues_api_keys $dir/$_->[0];", $_->[1]
    ] }
        ['none', '"queues_api_keys": open() '],
        ['keys1', "the first field must be 64 hex digits in $dir/keys1:4;"],
        ['keys2', "there must be four fields"],
        ['keys3', "the permissions must be globs"],
        ['keys4', "keys4:1; a line is"],
    ),
    ['queues_zone queues 1023k;', 'a name and a size of at least 1m'],
    ['queues_zone queues huge;', 'such as "queues 8m"'],
    ['queues_zone "" 1m;', 'a name and a size of at least 1m'],
    ['queues_zone a 1m; queues_zone b 1m;', '"queues_zone" directive is dup'],
    ["$base limit_req_zone \$uri zone=queues:1m rate=1r/s;", 'zone "queues"'],
    ['queues_api;', '"queues_api" directive is not allowed here'],
    ['queues_auth perhaps;', 'it must be "on" or "off"'],
);

plan tests => 2 * (@wrong + 3) + 2 * 2 + 3;

# the table as blocks, before those of the file

my @blocks = map { "\n=== $_->[0]\n--- http_config\n$_->[0]\n"
                   . "--- config\nlocation / { queues_api; }\n--- request\n"
                   . "GET /\n--- must_die\n--- error_log\n$_->[1]\n" } @wrong;

{
    local $/;
    Test::Base::spec_string(join '', @blocks, <DATA>);
}

run_tests();

__DATA__

=== a part that is not known
--- http_config eval: $main::base
--- config
location / { queues_api control life; }
--- request
GET /
--- must_die
--- error_log
invalid part "life" in "queues_api": write "all", "control", "live" or "receipts"



=== queues_api twice
--- http_config eval: $main::base
--- config
location / { queues_api; queues_api; }
--- request
GET /
--- must_die
--- error_log
"queues_api" directive is duplicate



=== queues_api in a server
--- http_config eval: $main::base
--- config
queues_api;
--- request
GET /
--- must_die
--- error_log
"queues_api" directive is not allowed here



=== no Redis is needed to start, and parts are told apart
--- http_config eval
$main::base . ' queues_redis_trusted_certificate none; queues_redis_tls off;'
. ' queues_redis_timeout 10s; queues_zone z 1m;'
--- config
location / { queues_api control receipts; }
location /live { rewrite ^/live(.*) $1 break; queues_api; }
--- request eval
["GET /v1/x", "POST /v1/organizations/o/projects/p/queues/q/messages/receive\n{}"]
--- error_code eval
[404, 404]
--- response_body_like eval
['"error":"not_found"', '"error":"not_found"']



=== without a Redis: 503
--- http_config eval: $main::base
--- config
location / { queues_api; queues_auth off; }
--- request
GET /v1/organizations/o/projects/p/queues
--- error_code: 503
--- response_headers
Retry-After: 1
--- response_body chomp
{"error":"unavailable","message":"The store is unavailable, try again."}
