# queues_pubsub_api: what a wrong one says; locations of two APIs in one server,
# each with its paths and its errors; errors of nginx itself.

use NgxQueues::Env;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();

our $base = '$TEST_NGINX_QUEUES';
our $api = 'queues_pubsub_api acme; queues_auth off;';
our $both = 'location / { queues_api; queues_auth off; }'
    . " location /v1/projects/ { $api }";

our $q = '/v1/organizations/o/projects/p/queues';
our $t = '/v1/projects/p/topics';

# a location, what is said

our @wrong = (
    (map { ["queues_pubsub_api $_;", 'write an organization of 1 to 64 letters, '
            . 'digits, "_" or "-"; the project is in the paths'] }
        'acme/shop', 'a.b', 'a%b', 'x' x 65, '""'),
    ['queues_pubsub_api;', 'invalid number of arguments in "queues_pubsub_api"'],
    ['queues_pubsub_api a b;', 'invalid number of arguments'],
    ['queues_pubsub_api a; queues_pubsub_api a;',
     '"queues_pubsub_api" directive is duplicate'],
    ['queues_pubsub_api a; queues_api;', '"queues_pubsub_api" and "queues_api" '
     . 'are in one location: give each API a location of its own'],
    ['queues_queen_api a/b; queues_pubsub_api a;',
     '"queues_queen_api" and "queues_pubsub_api" are in one location'],
);

our @alone = (
    ['queues_secret_file $TEST_NGINX_SECRET_FILE;',
     '"queues_pubsub_api" needs a store'],
    ['queues_redis 127.0.0.1:1;', '"queues_pubsub_api" needs a secret'],
    ['queues_redis 127.0.0.1:1; queues_secret_file $TEST_NGINX_SECRET_FILE;',
     '"queues_pubsub_api" has no credentials to check'],
    ['queues_pubsub_api a;', '"queues_pubsub_api" directive is not allowed'],
    (map { ["$main::base queues_pubsub_max_delivery_attempts $_;",
            'write how often, up to 1000000, or 0 for no limit'] }
        '-1', '1000001', 'x', '""'),
    ["$main::base queues_pubsub_max_delivery_attempts 1; "
     . 'queues_pubsub_max_delivery_attempts 1;', 'directive is duplicate'],
    ["$main::base queues_pubsub_max_delivery_attempts;",
     'invalid number of arguments'],
);

our @bad = ('/v1/projects/%zz', '/v1/projects/p/topics/%', '/v1/projects/%00');

sub status {
    my ($code, $status, $message) = @_;

    return qq/^\\{"error":\\{"code":$code,"message":"$message","status":"$status"}}\$/;
}

our $text = '[^"<]+';

plan tests => 2 * (@wrong + @alone) + 2 * 3 + 7 * 4 + 3 * 3 + 3 * 3 + 3 * @bad + 2 + 2;

{
    local $/;
    Test::Base::spec_string(join '',
        (map { "\n=== $_->[0]\n--- http_config\n$base\n--- config\nlocation / "
               . "{ $_->[0] }\n--- request\nGET /\n--- must_die\n--- error_log\n"
               . "$_->[1]\n" } @wrong),
        (map { "\n=== $_->[0]\n--- http_config\n$_->[0]\n--- config\nlocation / "
               . "{ queues_pubsub_api a; }\n--- request\nGET /\n--- must_die\n"
               . "--- error_log\n$_->[1]\n" } @alone),
        <DATA>);
}

run_tests();

__DATA__

=== two APIs in one server, each with its own paths and errors
--- http_config eval: $main::base
--- config eval: $main::both
--- more_headers
Content-Type: application/json
--- request eval
["POST $::q\n{\"name\":\"a\"}", "GET $::q/b", "PUT $::t/t-1\n{}", "GET $::t/t-1",
 "HEAD $::t/t-1", "GET $::t/t-2", "GET /v1/projects/p/none", "GET /v1/projects/",
 "POST $::t/t-1\n{}"]
--- error_code eval: [201, 404, 200, 200, 200, 404, 404, 404, 405]
--- response_headers eval
[(map { "Content-Type: application/json" } 1, 2),
 (map { "Content-Type: application/json; charset=UTF-8\nAllow: " } 3 .. 8),
 "Content-Type: application/json; charset=UTF-8\nAllow: GET, HEAD, PUT, PATCH, DELETE"]
--- response_body_like eval
['"name":"a"', '"error":"queue_not_found"',
 '^{"name":"projects/p/topics/t-1","state":"ACTIVE"}$',
 '^{"name":"projects/p/topics/t-1","state":"ACTIVE"}$', '^$',
 main::status(404, 'NOT_FOUND', 'Resource not found \(resource=t-2\)\.'),
 main::status(404, 'NOT_FOUND', 'There is nothing at this path\.'),
 main::status(404, 'NOT_FOUND', 'There is nothing at this path\.'),
 main::status(405, 'UNIMPLEMENTED', 'This path does not have the method POST\.')]



=== if and limit_except
--- http_config eval: $main::base
--- config eval
"location / { $main::api if (\$arg_x) { add_header X-If 1 always; }
    limit_except GET { deny all; } }"
--- request eval
["GET $::t/t-9?x=1", "GET $::t/t-9", "PUT $::t/t-9\n{}"]
--- error_code eval: [404, 404, 403]
--- response_body_like eval
[(map { main::status(404, 'NOT_FOUND', 'Resource not found \(resource=t-9\)\.') }
  1, 2), main::status(403, 'PERMISSION_DENIED', $main::text)]
--- response_headers eval
["X-If: 1", "X-If: ", "Content-Type: application/json"]



=== nginx' own errors
--- http_config eval: $main::base
--- config eval
"location / { $main::api if (\$arg_x) { return 418; } if (\$arg_y) { return 503; } }"
--- request eval
["GET $::t?x=1", "GET $::t?y=1", "GET $::t"]
--- error_code eval: [418, 503, 200]
--- response_body_like eval
[main::status(418, 'INVALID_ARGUMENT', $main::text),
 main::status(503, 'UNAVAILABLE', $main::text), '^{"topics":']
--- response_headers eval
["Retry-After: ", "Retry-After: 1", "Retry-After: "]



=== what nginx refuses before it has a location
--- http_config eval: $main::base
--- config eval: $main::both
--- request eval: [map { "GET $_" } @main::bad]
--- error_code eval: [map { 400 } @main::bad]
--- response_body_like eval
[map { main::status(400, 'INVALID_ARGUMENT', $main::text) } @main::bad]
--- response_headers eval
[map { "Content-Type: application/json" } @main::bad]



=== and where the path is the other API's
--- http_config eval: $main::base
--- config eval: $main::both
--- request: GET /v1/organizations/%zz
--- error_code: 400
--- response_body_like: ^{"error":"invalid_argument","message":"[^"<]+"}$



=== without a Redis: 503
--- http_config
queues_redis 127.0.0.1:1; queues_secret_file $TEST_NGINX_SECRET_FILE;
--- config
location / { queues_pubsub_api a; queues_auth off; }
--- request: GET /v1/projects/p/topics/t-1
--- error_code: 503
--- response_body_like eval
main::status(503, 'UNAVAILABLE', 'The store is unavailable, try again\.')
