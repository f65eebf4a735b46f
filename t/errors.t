# What is refused, and how: status, code, field, headers, and never HTML.

use NgxQueues::Env;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();
add_block_preprocessor(\&NgxQueues::Env::defaults);

our $q = '/v1/organizations/o/projects/p/queues';
our $auth = "Authorization: Bearer $NgxQueues::Env::key_all";

my $send = "POST $q/q/messages\n";
my $receive = "POST $q/q/messages/receive\n";
my $create = "POST $q\n";

sub h { '"receiptHandle":"x","visibilityTimeoutSeconds":' . $_[0] }

# not JSON, or not JSON that means one thing

our @json = map { ["$send$_", 'invalid_json'] } (
    '{"body":"a"} xyz', '{"body":"a"}{"body":"b"}', '{"body":"a",}', '{', '"',
    '{"body":"\\uzzzz"}', '{"body":"\\u12"}', '{"body":"\\x"}', '{"body":"a}',
    '{"body":"a","delaySeconds":01}', '{"body":"a","delaySeconds":1.}',
    '{"body":"a","delaySeconds":+1}', '{"body":"a","delaySeconds":.5}',
    '{"body":"a","delaySeconds":1e}', '{"body":"a","delaySeconds":NaN}',
    "{'body':'a'}", '{body:"a"}', '{"body":"a"/**/}', '{"body" "a"}',
    "\xef\xbb\xbf{\"body\":\"a\"}", '{"body":nul}', '{"body":TRUE}',
    (map { "{\"body\":\"a${_}b\"}" } "\t", "\n", "\r", "\0", "\x01", "\x1f",
     "\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82",
     "\x80"),
    "{\"body\":\"a\",\"attributes\":{\"k\":\"\xff\"}}",
    "{\"body\":\"a\",\"attributes\":{\"\xc0\x80\":\"v\"}}",
    "{\"body\":\"a\"}\0", '{"body":"a","body":"b"}',
    '{"body":"a","b\\u006fdy":"b"}',
    '{"body":"a","attributes":{"k":"1","k":"2"}}',
    '{"messages":[{"body":"a","delaySeconds":1,"delaySeconds":1}]}',
    '[' x 100_000, '{"a":' x 1000 . '1' . '}' x 1000,
    '{"x":' . '[' x 64 . ']' x 64 . '}',
);

# fields: unknown, missing, of a wrong type; the last is the field to blame

our @fields = (
    ["${send}[]", ''], ["${send}1", ''], ["${send}null", ''],
    ["$send\"a\"", ''], ["${send}{}", 'body'],
    ["$send" . '{"x":' . '[' x 63 . ']' x 63 . '}', 'x'],
    ["$send" . '{' . join(',', map { "\"k$_\":0" } 1 .. 100_000) . '}', 'k1'],
    (map { ["$send$_->[0]", $_->[1]] }
        ['{"body":""}', 'body'], ['{"body":null}', 'body'],
        ['{"body":1}', 'body'], ['{"body":{}}', 'body'],
        ['{"Body":"a"}', 'Body'], ['{"body":"a","bodyx":1}', 'bodyx'],
        ['{"body\\u0000x":1}', 'body\\\\u0000x'],
        ['{"body":"a","groupId":"g"}', 'groupId'],
        ['{"body":"a","deduplicationId":"d"}', 'deduplicationId'],
        ['{"body":"a","messages":[{"body":"a"}]}', 'body'],
        ['{"messages":[]}', 'messages'], ['{"messages":{}}', 'messages'],
        ['{"messages":["a"]}', 'messages'],
        ['{"messages":[' . join(',', ('{"body":"a"}') x 11) . ']}',
         'messages'],
        ['{"messages":[{"body":"a"},{"body":"b","x":1}]}', 'messages\[1\].x'],
        ['{"messages":[{"body":"a"},{"body":""}]}', 'messages\[1\].body'],
        ['{"messages":[{"body":"a","messages":[]}]}', 'messages\[0\].messages'],
        ['{"body":"a","attributes":[]}', 'attributes'],
        ['{"body":"a","attributes":{"k":1}}', 'attributes'],
        ['{"body":"a","attributes":{"k":null}}', 'attributes'],
    ),
    (map { ["$create$_->[0]", $_->[1]] }
        ['{}', 'name'], ['{"name":""}', 'name'], ['{"name":5}', 'name'],
        ['{"name":"' . 'n' x 81 . '"}', 'name'], ['{"name":"a b"}', 'name'],
        ['{"name":"a\\u0000"}', 'name'], ['{"name":"a/b"}', 'name'],
        ['{"name":"a}"}', 'name'],
        ['{"name":"a","kind":"FIFO"}', 'kind'],
        ['{"name":"a","kind":"Standard"}', 'kind'],
        ['{"name":"a","kind":1}', 'kind'],
        ['{"name":"a","contentBasedDeduplication":true}',
         'contentBasedDeduplication'],
        ['{"name":"a","redrivePolicy":[]}', 'redrivePolicy'],
        ['{"name":"a","Kind":"standard"}', 'Kind'],
    ),
    (map { ["PATCH $q/q\n$_->[0]", $_->[1]] }
        ['{"name":"b"}', 'name'], ['{"kind":"standard"}', 'kind'],
        ['{"delay":1}', 'delay'],
    ),
    (map { ["POST /v1/receipts/ack\n$_->[0]", $_->[1]] }
        ['{}', 'receiptHandles'], ['{"receiptHandles":[1]}', 'receiptHandles'],
        ['{"receiptHandles":"x"}', 'receiptHandles'],
        ['{"receiptHandles":[' . join(',', (0) x 30000) . ']}',
         'receiptHandles'],
        ['{"receipthandles":["x"]}', 'receipthandles'],
    ),
    (map { ["POST /v1/receipts/visibility\n{\"entries\":[$_->[0]]}", $_->[1]] }
        ['1', 'entries'], ['{}', 'entries\[0\].receiptHandle'],
        ['{"receiptHandle":"x"}', 'entries\[0\].visibilityTimeoutSeconds'],
        ['{' . h(1) . '},{' . h(1) . ',"a":1}', 'entries\[1\].a'],
    ),
);

# small integers: those out of range, or not integers; and those that are fine

sub bad { ('"5"', '5.0', '5e0', '20.9', '-1', $_[0] + 1, 4294967297,
           18446744073709551617, '1e30', 'true', '[]', '{}', '""') }

our @ranges = (
    (map { my ($name, @range) = @$_; map {
        ["$create\{\"name\":\"x\",\"$name\":$_}", $name]
    } bad($range[1]), $range[0] ? ($range[0] - 1, 0, '-0') : () }
        ['visibilityTimeoutSeconds', 0, 43200], ['receiveWaitSeconds', 0, 20],
        ['retentionSeconds', 60, 1209600], ['delaySeconds', 0, 900],
        ['maxMessageBytes', 1024, 1048576]),
    (map { my ($name, $max) = @$_; map {
        ["$receive\{\"$name\":$_}", $name]
    } bad($max), $name =~ /max/ ? ('0', '-0') : () }
        ['maxMessages', 10], ['waitSeconds', 20],
        ['visibilityTimeoutSeconds', 43200]),
    (map { ["$send\{\"body\":\"a\",\"delaySeconds\":$_}", 'delaySeconds'] }
        bad(900)),
    (map { ["POST /v1/receipts/visibility\n{\"entries\":[{" . h($_) . '}]}',
            'entries\[0\].visibilityTimeoutSeconds'] } bad(43200)),
);

our @fine = map { "$receive\{$_}" }
    '', '"maxMessages":null,"waitSeconds":null',
    '"visibilityTimeoutSeconds":null', '"waitSeconds":-0', '"maxMessages":10',
    '"visibilityTimeoutSeconds":43200', '"visibilityTimeoutSeconds":-0',
    ' "waitSeconds" : 0 ,"maxMessages":1';

our @paths = (
    ['GET /', 404], ['GET /v1', 404], ['GET /v1/receipts/ack/', 404],
    ["GET $q/q/messages/x", 404], ["POST $q/q/purge/\n{}", 404],
    ["PUT $q\n{}", 405, 'GET, HEAD, POST'],
    ["OPTIONS $q", 405, 'GET, HEAD, POST'],
    ["POST $q/q\n{}", 405, 'GET, HEAD, PATCH, DELETE'],
    ["DELETE $q/q/messages", 405, 'GET, HEAD, POST'],
    ["GET $q/q/messages/receive", 405, 'POST'],
    ["HEAD $q/q/purge", 405, 'POST'],
    ['GET /v1/receipts/ack', 405, 'POST, OPTIONS'],
    ['DELETE /v1/receipts/visibility', 405, 'POST, OPTIONS'],
);

our @types = ('text/plain', 'application/jsonx', 'application/json; charset=x',
              'application/json; q=1', 'application', 'text/json');
our @json_types = ('application/json', 'application/json; charset=utf-8',
                   'Application/JSON;charset="UTF-8"', 'application/json ;');

sub requests { [map { ref $_ ? $_->[0] : $_ } @_] }
sub codes { my $code = shift; [($code) x @_] }

sub invalid {
    [map { $_->[1] eq 'invalid_json' ? '^{"error":"invalid_json","message":"[^<]+"}$'
           : '^{"error":"invalid_argument","message":"[^<]+"'
             . ($_->[1] eq '' ? '' : ",\"field\":\"$_->[1]\"") . '}$' } @_]
}

plan tests => 1 + 2 * (@json + @fields + @ranges) + @fine + 2 * @paths
              + 2 * @types + @json_types + 3 * 3 + 4 + 2;

run_tests();

__DATA__

=== a queue
--- request eval: "POST $::q\n{\"name\":\"q\"}"
--- error_code: 201



=== invalid JSON
--- request eval: main::requests(@::json)
--- error_code eval: main::codes(400, @::json)
--- response_body_like eval: main::invalid(@::json)



=== invalid fields
--- request eval: main::requests(@::fields)
--- error_code eval: main::codes(400, @::fields)
--- response_body_like eval: main::invalid(@::fields)



=== types and ranges
--- request eval: main::requests(@::ranges)
--- error_code eval: main::codes(400, @::ranges)
--- response_body_like eval: main::invalid(@::ranges)



=== numbers that are fine
--- request eval: main::requests(@::fine)
--- error_code eval: main::codes(200, @::fine)



=== paths and methods
--- request eval: main::requests(@::paths)
--- error_code eval: [map { $_->[1] } @::paths]
--- response_headers eval
[map { $_->[2] ? "Allow: $_->[2]" : "! Allow" } @::paths]



=== media types
--- request eval: main::codes("POST $::q/q/messages\n{\"body\":\"a\"}", @::types)
--- more_headers eval: [map { "$::auth\nContent-Type: $_" } @::types]
--- error_code eval: main::codes(415, @::types)
--- response_body_like eval
main::codes('^{"error":"unsupported_media_type","message":"[^<]+"}$', @::types)



=== media types that are JSON
--- request eval
main::codes("POST $::q/q/messages\n{\"body\":\"a\"}", @::json_types)
--- more_headers eval: [map { "$::auth\nContent-Type: $_" } @::json_types]
--- error_code eval: main::codes(201, @::json_types)



=== a body over client_max_body_size
--- config
location / { client_max_body_size 1k; queues_api; }
--- request eval
["POST $::q/q/messages\n" . "x" x 1025,
 "POST $::q/q/messages\n401\r\n" . "x" x 1025 . "\r\n0\r\n\r\n",
 "POST /v1/receipts/ack\n401\r\n" . "x" x 1025 . "\r\n0\r\n\r\n"]
--- more_headers eval
[$::auth, map { "$::auth\nTransfer-Encoding: chunked" } 1, 2]
--- error_code eval: [413, 413, 413]
--- response_body_like eval
main::codes('^{"error":"request_too_large","message":"[^<]+"}$', 1 .. 3)
--- response_headers eval
["Content-Type: application/json", "Content-Type: application/json",
 "Access-Control-Allow-Origin: *"]



=== a receipt call over 64 KiB
--- request eval: "POST /v1/receipts/ack\n" . "x" x 65537
--- error_code: 413
--- response_body_like chomp
^{"error":"request_too_large","message":"[^<]+"}$



=== a receipt call over 64 KiB, chunked
--- raw_request eval
"POST /v1/receipts/visibility HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
. "Transfer-Encoding: chunked\r\n\r\n10001\r\n" . "x" x 65537
. "\r\n0\r\n\r\n"
--- error_code: 413
--- response_body_like chomp
^{"error":"request_too_large","message":"[^<]+"}$



=== a chunk that is none
--- raw_request eval
"POST $::q/q/messages HTTP/1.1\r\nHost: a\r\n$::auth\r\n"
. "Transfer-Encoding: chunked\r\n\r\nzz\r\n"
--- error_code: 400
--- response_body_like chomp
^{"error":"invalid_argument","message":"[^<]+"}$
