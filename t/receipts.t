# AckMessages and ChangeVisibility for any page of the web: CORS on every
# answer, no credential, any content type; and handles that are none. What
# real handles do is in handles.t and visibility.t.

use NgxQueues::Env;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();
add_block_preprocessor(\&NgxQueues::Env::defaults);

our $ack = "POST /v1/receipts/ack\n";
our $vis = "POST /v1/receipts/visibility\n";

my @handles = ('', 'x', 'AQ', 'AQ' . 'A' x 60, 'AQ' . 'A' x 1000, 'A' x 60000,
               '\\u0000', "\xc3\xa9", 'AQ==', 'AQ AA', '\\ud800', '../../x',
               '{}', 'que_0123456789ab');

our @invalid = (
    (map { "$ack\{\"receiptHandles\":[\"$_\"]}" } @handles),
    (map { "$vis\{\"entries\":[{\"receiptHandle\":\"$_\","
           . '"visibilityTimeoutSeconds":0}]}' } @handles),
);

my $no = '{"error":"receipt_handle_invalid"}';
our $invalid = "{\"results\":[$no]}";
our $ten = '{"results":[' . join(',', ($no) x 10) . ']}';

sub handles { "$ack\{\"receiptHandles\":[" . join(',', ('"x"') x $_[0]) . ']}' }

sub entries {
    "$vis\{\"entries\":[" . join(',', ('{"receiptHandle":"x",'
        . '"visibilityTimeoutSeconds":9}') x $_[0]) . ']}'
}

our $cors = "Access-Control-Allow-Origin: *";
our $error = '^{"error":"[a-z_]+","message":"[^<]+"(,"field":"[a-zA-Z]+")?}$';

# errors, each with CORS

our @errors = (
    [handles(0), 400], [handles(11), 400], [entries(0), 400],
    [entries(11), 400], ["${ack}[]", 400], ["${ack}{", 400],
    ['POST /v1/receipts/ack', 400], ['GET /v1/receipts/ack', 405],
    ['PUT /v1/receipts/visibility', 405],
    ["$ack\{\"receiptHandles\":[\"" . 'x' x 65536 . '"]}', 413],
);

sub all { my ($what, @list) = @_; [($what) x @list] }

plan tests => 2 * @invalid + 3 * 4 + 3 * @errors + 2 * 6 + 3 * 4 + 2 * 2 + 6;

run_tests();

__DATA__

=== what is no handle
--- request eval: [@::invalid]
--- more_headers
--- response_body eval: main::all($::invalid, @::invalid)



=== as many as may be, by any content type and credential
--- request eval: [main::handles(10), main::entries(10), main::handles(1), main::entries(1)]
--- more_headers eval
["Content-Type: text/plain;charset=UTF-8\nOrigin: https://a.example",
 "Content-Type: application/json\nAuthorization: Bearer nobody", "Content-Type: x",
 "Origin: null\nCookie: a=b"]
--- response_body eval: [$::ten, $::ten, $::invalid, $::invalid]
--- response_headers eval: main::all($::cors, 1 .. 4)



=== errors
--- request eval: [map { $_->[0] } @::errors]
--- more_headers: Origin: https://a.example
--- error_code eval: [map { $_->[1] } @::errors]
--- response_body_like eval: main::all($::error, @::errors)
--- response_headers eval: main::all($::cors, @::errors)



=== preflight
--- request eval: ["OPTIONS /v1/receipts/ack", "OPTIONS /v1/receipts/visibility"]
--- more_headers
Origin: https://a.example
Access-Control-Request-Method: POST
Access-Control-Request-Headers: content-type
--- error_code eval: [204, 204]
--- raw_response_headers_unlike eval: main::all('Content-(?:Length|Type)', 1, 2)
--- response_headers eval
main::all("$::cors\nAccess-Control-Allow-Methods: POST\nAccess-Control-Allow-Headers: content-type\nAccess-Control-Max-Age: 86400", 1, 2)



=== other calls have no CORS
--- request eval
["OPTIONS /v1/organizations/o/projects/p/queues",
 "GET /v1/organizations/o/projects/p/queues", "GET /v1",
 "POST /v1/organizations/o/projects/p/queues\n{"]
--- more_headers eval
"Authorization: Bearer $NgxQueues::Env::key_all\nOrigin: https://a.example"
--- error_code eval: [405, 200, 404, 400]
--- response_headers eval
main::all("! Access-Control-Allow-Origin", 1 .. 4)
--- raw_response_headers_unlike eval: main::all("(?i)access-control", 1 .. 4)



=== nginx' own errors have CORS as well
--- config
location / { client_max_body_size 10; queues_api; }
--- request eval: [main::handles(1), main::entries(1)]
--- error_code eval: [413, 413]
--- response_headers eval: [$::cors, $::cors]



=== a location with receipts only
--- config
location / { queues_api receipts; }
--- request eval
[main::handles(1), "GET /v1/organizations/o/projects/p/queues"]
--- error_code eval: [200, 404]



=== and one without
--- config
location / { queues_api control live; }
--- request eval
[main::handles(1), "GET /v1/organizations/o/projects/p/queues",
 "OPTIONS /v1/receipts/ack",
 "POST /v1/organizations/o/projects/p/queues/x/messages\n{\"body\":\"a\"}"]
--- error_code eval: [404, 200, 404, 404]
