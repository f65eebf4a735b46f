# Who may do what: 401, 403, globs of permissions and resources.

use Digest::SHA 'sha256_hex';
use NgxQueues::Env;
use NgxQueues::Process 'spurt';
use Test::Nginx::Socket;

no_shuffle();
no_root_location();
add_block_preprocessor(\&NgxQueues::Env::defaults);

our $p = '/v1/organizations/o/projects/p';
our $q = "$p/queues";
our %key = map { $_ => "qk_$_-0123456789abcdefghijklmnopq" }
    qw/all none team orders project two send/;

spurt("$ENV{TEST_NGINX_DIR}/mine", "# who may do what\n\n" . join '', map {
    sha256_hex($key{$_->[0]}) . "  $_->[0]\t$_->[1] $_->[2]\r\n"
} ['all', '*', '*'], ['none', 'queues.nothing', '*'], ['team', '*', 'o/p/team-*'],
  ['orders', 'queues.get,queues.messages.*', 'o/p/orders'],
  ['project', '*', 'o/other/*'], ['two', 'queues.*', 'o/p/orders,o/p/team-b'],
  ['send', 'queues.messages.send,*.list', 'o/*']);

$ENV{TEST_NGINX_MINE} = "$ENV{TEST_NGINX_DIR}/mine";

our $http = 'queues_redis unix:$TEST_NGINX_REDIS_SOCKET;'
            . ' queues_redis_connect_timeout 10s;'
            . ' queues_secret_file $TEST_NGINX_SECRET_FILE;'
            . ' queues_api_keys $TEST_NGINX_MINE;';

add_block_preprocessor(sub { $_[0]->set_value(http_config => $http) });

sub as { "Authorization: Bearer $key{$_[0]}" }

my %perms = (
    "POST $q\n{\"name\":\"x\"}" => 'queues.create',
    "GET $q" => 'queues.list',
    "GET $q/orders" => 'queues.get',
    "HEAD $q/orders" => '',
    "PATCH $q/orders\n{}" => 'queues.update',
    "DELETE $q/orders" => 'queues.delete',
    "POST $q/orders/purge" => 'queues.purge',
    "POST $q/orders/redrive" => 'queues.redrive',
    "GET $q/orders/messages" => 'queues.messages.peek',
    "POST $q/orders/messages\n{\"body\":\"a\"}" => 'queues.messages.send',
    "POST $q/orders/messages/receive\n{}" => 'queues.messages.receive',
);

our @calls = sort keys %perms;
our @denied = map {
    $perms{$_} eq '' ? '^$'
        : "^{\"error\":\"permission_denied\",\"message\":\"[^\"]*\\b$perms{$_}\\b"
} @calls;

# a key, a call, what comes of it; in this order

our @who = (
    ['all', "POST $q\n{\"name\":\"orders\"}", 201],
    ['all', "POST $q\n{\"name\":\"team-a\"}", 201],
    ['team', "POST $q\n{\"name\":\"team-b\"}", 201],
    ['team', "POST $q\n{\"name\":\"orders2\"}", 403],
    ['team', "POST $q\n{\"name\":\"orders\"}", 403],
    ['team', "GET $q/team-a", 200],
    ['team', "GET $q/team-none", 404],
    ['team', "GET $q/orders", 403],
    ['team', "GET $q/none", 403],
    ['orders', "GET $q/orders", 200],
    ['orders', "GET $q/orders2", 403],
    ['orders', "GET $q/order", 403],
    ['orders', "PATCH $q/orders\n{}", 403],
    ['orders', "POST $q/orders/messages\n{\"body\":\"a\"}", 201],
    ['orders', "POST $q/orders/messages/receive", 200],
    ['orders', "POST $q/team-a/messages/receive", 403],
    ['orders', "GET $q", 403],
    ['project', "GET $q/orders", 403],
    ['project', "GET $q", 403],
    ['project', "GET /v1/organizations/o/projects/other/queues", 200],
    ['project', "GET /v1/organizations/o/projects/other/queues/x", 404],
    ['two', "GET $q/team-b", 200],
    ['two', "GET $q/team-a", 403],
    ['two', "POST $q/orders/messages\n{\"body\":\"a\"}", 201],
    ['send', "POST $q/orders/messages\n{\"body\":\"a\"}", 201],
    ['send', "POST $q/none/messages\n{\"body\":\"a\"}", 404],
    ['send', "POST $q/orders/messages/receive", 403],
    ['send', "GET $q", 200],
    ['none', "POST $q/orders/messages\nnot JSON", 403],
    ['none', "GET $q/none", 403],
    ['none', "GET /v1/none", 404],
);

our @unknown = (
    '', 'Authorization:', 'Authorization: Bearer', 'Authorization: Bearer ',
    "Authorization: Bearer x$key{all}", "Authorization: Bearer $key{all}x",
    "Authorization: Bearer " . sha256_hex($key{all}),
    "Authorization: Basic $key{all}", "Authorization: $key{all}",
    "Authorization: Bearer" . $key{all}, "X-Api-Key: $key{all}",
    'Authorization: Bearer ' . 'x' x 8000,
);

sub times { my ($what, @list) = @_; [($what) x @list] }

plan tests => @who + 2 * @calls + 3 * @unknown + 2 * 4 + 2 * 2 + 3 + @calls + 3;

run_tests();

__DATA__

=== nobody knows this credential: whatever is there, 401
--- request eval
[map { $_ % 2 ? "GET $::q/orders" : "POST $::q\nnot JSON" } 0 .. $#::unknown]
--- more_headers eval: [@::unknown]
--- error_code eval: main::times(401, @::unknown)
--- response_headers eval: main::times("WWW-Authenticate: Bearer", @::unknown)
--- response_body_like eval
main::times('^{"error":"unauthenticated","message":"[^<]+"}$', @::unknown)



=== globs
--- request eval: [map { $_->[1] } @::who]
--- more_headers eval: [map { main::as($_->[0]) } @::who]
--- error_code eval: [map { $_->[2] } @::who]



=== the permission that is lacking has a name
--- request eval: [@::calls]
--- more_headers eval: main::as("none")
--- error_code eval: main::times(403, @::calls)
--- response_body_like eval: [@::denied]



=== nothing tells whether a queue exists
--- request eval
[map { "GET $::q/$_" } "orders", "none", "que_0123456789ab",
 "01890000-0000-7000-8000-000000000000"]
--- more_headers eval: main::as("project")
--- error_code eval: main::times(403, 1 .. 4)
--- response_body_like eval
main::times('^{"error":"permission_denied","message":"[^"]*queues\.get[^"0]*"}$', 1 .. 4)



=== a list has what the principal may list, under any scheme's case
--- request eval: ["GET $::q", "GET $::q"]
--- more_headers eval
["authorization: bearer $::key{team}", "Authorization: BEARER   $::key{all}"]
--- error_code eval: [200, 200]
--- response_body_like eval
['^{"queues":\[\{[^}]*"name":"team-a"[^}]*},\{[^}]*"name":"team-b"[^}]*}\],',
 '"name":"orders".*"name":"team-a".*"name":"team-b"']



=== the answer to a request whose body is wanted comes before the body
--- config
location / { lingering_timeout 200ms; queues_api; }
--- raw_request eval
"POST $::q/orders/messages HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n"
. "Expect: 100-continue\r\nConnection: close\r\n\r\n"
--- error_code: 401
--- raw_response_headers_unlike: 100 Continue
--- response_body_like: "unauthenticated"



=== queues_auth off
--- config
location / { queues_api; queues_auth off; }
--- request eval: [grep { !/^DELETE/ } @::calls]
--- more_headers
--- error_code eval
[map { /^POST.*(?:queues|messages)\n/ ? 201 : /purge/ ? 202 : 200 }
 grep { !/^DELETE/ } @::calls]



=== receipt calls ask for no credential
--- request eval: "POST /v1/receipts/ack\n{\"receiptHandles\":[\"x\"]}"
--- more_headers eval: "Authorization: Basic nobody"
--- response_body chomp
{"results":[{"error":"receipt_handle_invalid"}]}



=== and queues_auth off asks for none where one is given
--- config
location / { queues_api; queues_auth off; }
--- request eval: "GET $::q/orders"
--- more_headers: Authorization: Bearer nobody
--- response_body_like: "name":"orders"
