# ReceiveMessages, where one answer tells: fields, order, defaults. Waiting is
# in longpoll.t, visibility over time in visibility.t.

use NgxQueues::Env;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();
add_block_preprocessor(\&NgxQueues::Env::defaults);

our $queues = '/v1/organizations/o/projects/p/queues';
our $receive = "POST $queues/q/messages/receive";
our $empty = '{"messages":[]}';

my $time = '"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"';

# the messages of an answer, whole: body, attributes, count of each

sub messages {
    return '^\{"messages":\[' . join(',', map {
        my ($body, $attributes, $count) = ref $_ ? @$_ : $_;
        '\{"messageId":"[0-9a-f-]{36}","receiptHandle":"AQ[A-Za-z0-9_-]+",'
        . '"body":"' . $body . '","attributes":'
        . quotemeta($attributes // '{}')
        . ",\"sentAt\":$time,\"firstReceivedAt\":$time,\"receiveCount\":"
        . ($count // 1) . '}'
    } @_) . '\]}$';
}

our $attributes = '{ "b":"\u0000","a" : "x\/y"}';

plan tests => 2 + 3 * 2 + 4 * 2 + 6 * 2 + 3 * 2 + 2 + 5 * 2 + 3;

run_tests();

__DATA__

=== queues
--- request eval
[map { "POST $::queues\n{\"name\":\"$_\"}" } "q", "empty"]
--- error_code eval: [201, 201]



=== nothing there: an empty list, at once, with or without a body
--- request eval: [$::receive, "$::receive\n{}", "$::receive\n{\"waitSeconds\":0}"]
--- response_body eval: [$::empty, $::empty, $::empty]



=== one message where no number is said; all fields; attributes as they were
--- request eval
["POST $::queues/q/messages\n{\"body\":\"a\\/b\\u00e9\\n\",\"attributes\":$::attributes}",
 "POST $::queues/q/messages\n{\"body\":\"b\"}", $::receive, "$::receive\n{}"]
--- error_code eval: [201, 201, 200, 200]
--- response_body_like eval
["messageId", "messageId",
 main::messages([quotemeta('a\/b\u00e9\n'), $::attributes]),
 main::messages("b")]



=== up to ten, in the order in which they were sent
--- request eval
["POST $::queues/q/purge",
 map({ my $n = $_; "POST $::queues/q/messages\n{\"messages\":["
       . CORE::join(",", map { "{\"body\":\"m$n$_\"}" } 0 .. 7) . "]}" } 0, 1),
 "$::receive\n{\"maxMessages\":10}", "$::receive\n{\"maxMessages\":10}",
 "$::receive\n{\"maxMessages\":10}"]
--- error_code eval: [202, 201, 201, 200, 200, 200]
--- response_body_like eval
["{}", "messageId", "messageId",
 main::messages(map({ "m0$_" } 0 .. 7), "m10", "m11"),
 main::messages(map { "m1$_" } 2 .. 7), main::messages()]



=== a visibility of 0: seen by the next one as well, and counted
--- request eval
["POST $::queues/q/purge",
 "POST $::queues/q/messages\n{\"messages\":[{\"body\":\"v\"},{\"body\":\"w\"}]}",
 map { "$::receive\n{\"visibilityTimeoutSeconds\":0}" } 1 .. 1]
--- error_code eval: [202, 201, 200]
--- response_body_like eval: ["{}", "messageId", main::messages("v")]



=== HEAD and GET are no way to receive
--- request eval: ["GET $::queues/q/messages/receive", "HEAD $::queues/q/messages/receive"]
--- error_code eval: [405, 405]



=== the request's setting, the queue's, the product's
--- request eval
["POST $::queues\n{\"name\":\"own\",\"visibilityTimeoutSeconds\":0}",
 "POST $::queues/own/messages\n{\"body\":\"o\"}",
 "POST $::queues/own/messages/receive\n{\"visibilityTimeoutSeconds\":null}",
 "POST $::queues/own/messages/receive\n{\"visibilityTimeoutSeconds\":60}",
 "POST $::queues/own/messages/receive\n{\"visibilityTimeoutSeconds\":0}"]
--- error_code eval: [201, 201, 200, 200, 200]
--- response_body_like eval
["own", "messageId", main::messages("o"), main::messages(["o", "{}", 2]),
 main::messages()]



=== no such queue, also where a wait is wanted
--- request eval
[map { "POST $::queues/none/messages/receive\n{\"waitSeconds\":$_}" } 0, 20, 5]
--- error_code eval: [404, 404, 404]
