# queues_queen_api: what a wrong one says; locations of both APIs in one server,
# each with its paths and its errors; errors of nginx itself.

use NgxQueues::Env;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();

our $base = '$TEST_NGINX_QUEUES';
our $both = 'location / { queues_api; queues_auth off; }'
    . ' location /api/v1/ { queues_queen_api acme/shop; queues_auth off; }'
    . ' location = /health { queues_queen_api acme/shop; queues_auth off; }';

our $q = '/v1/organizations/o/projects/p/queues';

# a location, what is said

our @wrong = (
    (map { ["queues_queen_api $_;", 'write "ORGANIZATION/PROJECT", each of 1 '
            . 'to 64 letters, digits, "_" or "-"'] }
        'acme', 'acme/', '/shop', '/', 'acme/shop/', 'acme/shop/x', 'a.b/shop',
        'acme/sh%op', 'acme/' . 'x' x 65, '""'),
    ['queues_queen_api;', 'invalid number of arguments in "queues_queen_api"'],
    ['queues_queen_api acme shop;', 'invalid number of arguments'],
    ['queues_queen_api a/b; queues_queen_api a/b;',
     '"queues_queen_api" directive is duplicate'],
    ['queues_queen_api a/b; queues_api;', '"queues_queen_api" and "queues_api" '
     . 'are in one location: give each API a location of its own'],
    ['queues_api live; queues_queen_api a/b;',
     '"queues_api" and "queues_queen_api" are in one location'],
);

our @alone = (
    ['queues_secret_file $TEST_NGINX_SECRET_FILE;',
     '"queues_queen_api" needs a store'],
    ['queues_redis 127.0.0.1:1;', '"queues_queen_api" needs a secret'],
    ['queues_redis 127.0.0.1:1; queues_secret_file $TEST_NGINX_SECRET_FILE;',
     '"queues_queen_api" has no credentials to check'],
    ['queues_queen_api a/b;', '"queues_queen_api" directive is not allowed'],
);

our @bad = ('/api/v1/%zz', '/api/v1/pop/queue/%', '/api/v1/%00');

plan tests => 2 * (@wrong + @alone) + 4 * 8 + 2 * 4 + 3 * 3 + 3 * @bad + 2 + 2;

{
    local $/;
    Test::Base::spec_string(join '',
        (map { "\n=== $_->[0]\n--- http_config\n$base\n--- config\nlocation / "
               . "{ $_->[0] }\n--- request\nGET /\n--- must_die\n--- error_log\n"
               . "$_->[1]\n" } @wrong),
        (map { "\n=== $_->[0]\n--- http_config\n$_->[0]\n--- config\nlocation / "
               . "{ queues_queen_api a/b; }\n--- request\nGET /\n--- must_die\n"
               . "--- error_log\n$_->[1]\n" } @alone),
        <DATA>);
}

run_tests();

__DATA__

=== two APIs in one server, each with its own paths and errors
--- http_config eval: $main::base
--- config eval: $main::both
--- request eval
["POST $::q\n{\"name\":\"a\"}", "GET $::q/b", "GET /health", "HEAD /health",
 "GET /api/v1/none", "GET /api/v1$::q", "GET /api/v1/", "POST /health\n{}"]
--- error_code eval: [201, 404, 200, 200, 404, 404, 404, 405]
--- response_headers eval
["Content-Type: application/json\nAllow: ",
 "Content-Type: application/json\nAllow: ",
 "Content-Type: application/json\nAllow: ",
 "Content-Type: application/json\nAllow: ",
 "Content-Type: application/json\nAccess-Control-Allow-Origin: ",
 "Content-Type: application/json\nAllow: ",
 "Content-Type: application/json\nAllow: ",
 "Content-Type: application/json\nAllow: GET, HEAD"]
--- response_body_like eval
['"name":"a"', '"error":"queue_not_found"',
 '^{"status":"healthy","database":"connected"}$', '^$',
 '^{"error":"Not Found","code":"no_such_route"}$',
 '^{"error":"Not Found","code":"no_such_route"}$',
 '^{"error":"Not Found","code":"no_such_route"}$',
 '^{"error":"This path does not have the method POST."}$']



=== if and limit_except
--- http_config eval: $main::base
--- config
location / { queues_queen_api o/p; queues_auth off;
    if ($arg_x) { add_header X-If 1 always; } limit_except GET { deny all; } }
--- request eval
["GET /health?x=1", "GET /health", "GET /none?x=1", "POST /health\n{}"]
--- error_code eval: [200, 200, 404, 403]
--- response_body_like eval
['"healthy"', '"healthy"', '"no_such_route"', '^{"error":"[^"<]+"}$']



=== nginx' own errors
--- http_config eval: $main::base
--- config
location / { queues_queen_api o/p; queues_auth off; if ($arg_x) { return 418; }
    if ($arg_y) { return 503; } }
--- request eval
["GET /health?x=1", "GET /health?y=1", "GET /health"]
--- error_code eval: [418, 503, 200]
--- response_body_like eval
['^{"error":"The server refused the request with status 418."}$',
 '^{"error":"The server refused the request with status 503."}$', '"healthy"']
--- response_headers eval
["Retry-After: ", "Retry-After: 1", "Retry-After: "]



=== what nginx refuses before it has a location
--- http_config eval: $main::base
--- config eval: $main::both
--- request eval: [map { "GET $_" } @main::bad]
--- error_code eval: [map { 400 } @main::bad]
--- response_body_like eval: [map { '^{"error":"[^"<]+"}$' } @main::bad]
--- response_headers eval
[map { "Content-Type: application/json" } @main::bad]



=== and where the path is the other API's
--- http_config eval: $main::base
--- config eval: $main::both
--- request: GET /v1/%zz
--- error_code: 400
--- response_body_like: ^{"error":"invalid_argument","message":"[^"<]+"}$



=== without a Redis: 503
--- http_config
queues_redis 127.0.0.1:1; queues_secret_file $TEST_NGINX_SECRET_FILE;
--- config
location / { queues_queen_api o/p; queues_auth off; }
--- request eval: ["GET /health"]
--- error_code eval: [503]
--- response_body eval
['{"status":"unhealthy","database":"disconnected"}']
