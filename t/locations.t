# queues_api beside limit_except and if, which make locations of their own in
# nginx, and paths that nginx refuses before it has a location: the answer is
# the API's, in JSON, and only where the API is.

use NgxQueues::Env;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();
add_block_preprocessor(\&NgxQueues::Env::defaults);

our $q = '/v1/organizations/o/projects/p/queues';
our $auth = "Authorization: Bearer $NgxQueues::Env::key_all";

our @calls = ("GET $q/a", "POST $q/a/messages\n{\"body\":\"x\"}",
              "PATCH $q/a\n{}", "POST $q/a/messages/receive\n{}",
              "POST /v1/receipts/ack\n{\"receiptHandles\":[\"x\"]}",
              "GET $q/none", "GET /v1/none", "DELETE $q/none");
our @answers = (200, 201, 200, 200, 200, 404, 404, 404);
our @bodies = ('"name":"a"', '"messageId"', '"name":"a"', '"body":"x"',
               '^{"results":\[\{"error":"receipt_handle_invalid"}]}$',
               '"queue_not_found"', '"not_found"', '"queue_not_found"');

our $denied = '^{"error":"permission_denied","message":"[^<"]+"}$';
our $refused = '^{"error":"invalid_argument","message":"[^<"]+"}$';
our $json = 'Content-Type: application/json';

# a path with something more in its query

sub with { my ($query, @calls) = @_; map { s/(?=\n|$)/?$query/r } @calls }
sub times { my ($what, $n) = @_; [($what) x $n] }

# paths that cannot be decoded; in another place than /v1/, the same

our @escapes = ('%zz', '%', '%1', '%00', 'a%00b', 'a%zg/messages',
                '../' x 9, '%2e%2e/' x 9);
our @bad = map { ("GET $q/$_", "POST $q/$_\n{}") } @escapes;
our @elsewhere = map { ("GET /x$q/$_", "POST /$_\n{}") } @escapes[0 .. 5];

plan tests => 1 + 3 * 4 * (@calls + 1) + 3 * 3 + 3 * 8 + 2 * 4 + 4 * 4 + 3
              + 2 * 2 + 3 * 3 * (@bad + @elsewhere);

run_tests();

__DATA__

=== a queue
--- request eval: "POST $::q\n{\"name\":\"a\"}"
--- error_code: 201



=== if, and it is not so
--- config
location / { queues_api; if ($arg_x) { add_header X-If 1; } }
--- request eval: [@::calls, "GET $::q/none"]
--- error_code eval: [@::answers, 404]
--- response_headers eval: [map { "$::json\nX-If: " } 0 .. @::calls]
--- response_body_like eval: [@::bodies, "queue_not_found"]



=== if, and it is so
--- config
location / { queues_api; if ($arg_x) { add_header X-If 1 always; } }
--- request eval: [main::with("x=1", @::calls, "GET $::q/none")]
--- error_code eval: [@::answers, 404]
--- response_headers eval: [map { "$::json\nX-If: 1" } 0 .. @::calls]
--- response_body_like eval: [@::bodies, "queue_not_found"]



=== if within a location beside others
--- config
location /v1/ { queues_api; set $y 1; if ($request_method = POST) { set $y 2; }
    if ($y) { add_header X-If $y always; } if ($arg_none) { return 444; } }
location / { return 418; }
--- request eval: [@::calls, "GET $::q/none"]
--- error_code eval: [@::answers, 404]
--- response_headers eval
[map { "$::json\nX-If: " . (/^POST/ ? 2 : 1) } @::calls, "GET"]
--- response_body_like eval: [@::bodies, "queue_not_found"]



=== limit_except: what is not denied
--- config
location / { queues_api; limit_except GET HEAD { deny all; } }
--- request eval: ["GET $::q/a", "HEAD $::q/a", "GET $::q/none"]
--- error_code eval: [200, 200, 404]
--- response_headers eval: main::times($::json, 3)
--- response_body_like eval: ['"name":"a"', '^$', 'queue_not_found']



=== limit_except: what is
--- config
location / { queues_api; limit_except GET HEAD { deny all; } }
--- request eval
[(grep { !/^GET/ } @::calls), "OPTIONS /v1/receipts/ack", "PUT /x", "POST /\n{}"]
--- error_code eval: main::times(403, 8)
--- response_headers eval: main::times($::json, 8)
--- response_body_like eval: main::times($::denied, 8)



=== limit_except: allowed by the address, the API answers
--- config
location / { queues_api; limit_except GET { allow 127.0.0.1; deny all; } }
--- request eval
["POST $::q/a/messages\n{\"body\":\"y\"}", "PATCH $::q/a\n{}",
 "POST $::q/a/messages/receive", "PUT $::q"]
--- error_code eval: [201, 200, 200, 405]
--- response_body_like eval
['"messageId"', '"name":"a"', '"body":"y"', '"method_not_allowed"']



=== limit_except and if, with a part of the API
--- config
location / { queues_api live; limit_except POST { deny all; }
    if ($arg_x) { add_header X-If 1; } }
--- request eval
["POST $::q/a/messages?x=1\n{\"body\":\"z\"}", "POST $::q/a/messages/receive?x=1",
 "POST $::q/a/messages\n{\"body\":\"z\"}", "POST $::q/b?x=1\n{}"]
--- error_code eval: [201, 200, 201, 404]
--- response_headers eval
[map { "$::json\nX-If: $_" } 1, 1, "", ""]
--- response_body_like eval
['"messageId"', '"body":"z"', '"messageId"', '"not_found"']



=== queues_auth off, inherited by if and limit_except
--- config
location / { queues_api; queues_auth off; limit_except GET { allow all; }
    if ($arg_x) { add_header X-If 1; } }
--- more_headers
--- request eval
["GET $::q/a", "GET $::q/a?x=1", "POST $::q/a/messages/receive"]
--- error_code eval: [200, 200, 200]



=== neither is inherited by another location
--- config
location /v1/ { queues_api; if ($arg_x) { add_header X-If 1; }
    location /v1/static/ { limit_except GET { deny all; } } }
--- request eval: ["GET /v1/static/x", "POST /v1/static/x\n{}"]
--- error_code eval: [404, 403]
--- response_body_like eval: ['<html>', '<html>']



=== bad paths: the API in location /
--- request eval: [@::bad, @::elsewhere]
--- error_code eval: main::times(400, @::bad + @::elsewhere)
--- response_headers eval
[map { "Content-Type: " . (m{ /v1/} ? "application/json" : "text/html") }
 @::bad, @::elsewhere]
--- response_body_like eval
[(map { $::refused } @::bad), (map { "<html>" } @::elsewhere)]



=== bad paths: in location /v1/
--- config
location /v1/ { queues_api; }
--- request eval: [@::bad, @::elsewhere]
--- error_code eval: main::times(400, @::bad + @::elsewhere)
--- response_headers eval
[map { "Content-Type: " . (m{ /v1/} ? "application/json" : "text/html") }
 @::bad, @::elsewhere]
--- response_body_like eval
[(map { $::refused } @::bad), (map { "<html>" } @::elsewhere)]



=== bad paths: in a location of a location
--- config
location /v1/ { return 418;
    location /v1/organizations/ { location ~ . { queues_api; } } }
--- request eval: [@::bad, @::elsewhere]
--- error_code eval: main::times(400, @::bad + @::elsewhere)
--- response_headers eval
[map { "Content-Type: " . (m{ /v1/} ? "application/json" : "text/html") }
 @::bad, @::elsewhere]
--- response_body_like eval
[(map { $::refused } @::bad), (map { "<html>" } @::elsewhere)]

