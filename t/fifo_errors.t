# FIFO queues and what they refuse; what standard queues refuse of them; names
# of groups as they may be.

use NgxQueues::Env;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();
add_block_preprocessor(\&NgxQueues::Env::defaults);

our $queues = '/v1/organizations/o/projects/p/queues';

sub post { "POST $queues/$_[0]/messages\n$_[1]" }
sub batch { '{"messages":[' . join(',', @_) . ']}' }

my $is = '"body":"a"';
our $all = join '', map { chr } 0x20 .. 0x7e;
our $escaped = $all =~ s/(["\\])/\\$1/gr;

# ids out of their range, on either kind of queue

our @bad = ('""', '"' . 'g' x 129 . '"', '"a\\u0000"', '"a\\n"', '"\\u007f"',
            "\"\xc3\xa9\"", '"\\u00e9"', '"\\ud83d\\ude00"', 1, '[]', '{}',
            'true');

my @ids = map { my $id = $_; map {
    [post($id->[0], "{$is,$id->[1]:$_}"), $id->[1] =~ s/"//gr],
    [post($id->[0], batch("{$is}", "{$is,$id->[1]:$_}")),
     'messages\[1\].' . $id->[1] =~ s/"//gr]
} @bad } ['f', '"groupId"'], ['f', '"deduplicationId"'], ['s', '"groupId"'],
    ['s', '"deduplicationId"'];

my $g = '"groupId":"g"';
my $d = '"deduplicationId":"d"';

our @refused = (
    @ids,
    # a FIFO queue needs a group
    [post('f', "{$is}"), 'groupId'], [post('f', "{$is,$d}"), 'groupId'],
    [post('f', "{$is,\"groupId\":null,\"deduplicationId\":null}"), 'groupId'],
    [post('f', batch("{$is}")), 'messages\[0\].groupId'],
    [post('f', batch("{$is,$g,$d}", "{$is,$d}")), 'messages\[1\].groupId'],
    [post('f', batch("{$is,$g,$d}", "{$is}")), 'messages\[1\].groupId'],
    # and an id of deduplication where it does not take the content
    [post('f', "{$is,$g}"), 'deduplicationId'],
    [post('f', batch("{$is,$g,$d}", "{$is,$g}")),
     'messages\[1\].deduplicationId'],
    # a delay is the queue's
    [post('f', "{$is,$g,$d,\"delaySeconds\":1}"), 'delaySeconds'],
    [post('f', "{$is,$g,$d,\"delaySeconds\":0}"), 'delaySeconds'],
    [post('c', batch("{$is,$g}", "{$is,$g,\"delaySeconds\":5}")),
     'messages\[1\].delaySeconds'],
    # a standard queue has none of it
    [post('s', "{$is,$g}"), 'groupId'], [post('s', "{$is,$g,$d}"), 'groupId'],
    [post('s', "{$is,$d}"), 'deduplicationId'],
    [post('s', "{$is,$g,\"delaySeconds\":1}"), 'groupId'],
    [post('s', batch("{$is}", "{$is,$g}")), 'messages\[1\].groupId'],
    [post('s', batch("{$is}", "{$is,$d}", "{$is,$g}")),
     'messages\[1\].deduplicationId'],
    # settings
    ["POST $queues\n{\"name\":\"x\",\"contentBasedDeduplication\":true}",
     'contentBasedDeduplication'],
    ["POST $queues\n{\"name\":\"x\",\"kind\":\"standard\","
     . '"contentBasedDeduplication":true}', 'contentBasedDeduplication'],
    (map { ["POST $queues\n{\"name\":\"x\",\"kind\":\"fifo\","
            . "\"contentBasedDeduplication\":$_}",
            'contentBasedDeduplication'] } 1, '"true"', '{}'),
    ["PATCH $queues/s\n{\"contentBasedDeduplication\":true}",
     'contentBasedDeduplication'],
    ["PATCH $queues/f\n{\"contentBasedDeduplication\":0}",
     'contentBasedDeduplication'],
    ["PATCH $queues/f\n{\"kind\":\"fifo\"}", 'kind'],
    (map { ["POST $queues\n{\"name\":\"x\",\"kind\":$_}", 'kind'] }
        '"FIFO"', '""', 'true', '["fifo"]'),
);

sub invalid {
    [map { '^{"error":"invalid_argument","message":"[^<]+","field":"' . $_->[1]
           . '"}$' } @_]
}

our @fine = (
    post('f', "{$is,$g,$d,\"delaySeconds\":null}"),
    post('c', "{$is,$g}"), post('c', "{$is,$g,$d}"),
    post('f', '{"body":"a","groupId":"' . 'g' x 128 . '","deduplicationId":"'
              . 'd' x 128 . '"}'),
    post('f', "{\"body\":\"a\",\"groupId\":\"$escaped\","
              . "\"deduplicationId\":\"$escaped\"}"),
    post('f', '{"body":"a","groupId":"' . '\\u0067' x 128
              . '","deduplicationId":" "}'),
    post('s', "{$is,\"groupId\":null,\"deduplicationId\":null}"),
    "PATCH $queues/f\n{\"contentBasedDeduplication\":false}",
    "PATCH $queues/s\n{\"contentBasedDeduplication\":false}",
);

plan tests => 3 + 2 * @refused + 2 + @fine + 2 * 2 + 2;

run_tests();

__DATA__

=== queues
--- request eval
["POST $::queues\n{\"name\":\"s\"}",
 "POST $::queues\n{\"name\":\"f\",\"kind\":\"fifo\"}",
 "POST $::queues\n{\"name\":\"c\",\"kind\":\"\\u0066ifo\",\"contentBasedDeduplication\":true}"]
--- error_code eval: [201, 201, 201]



=== what is refused
--- request eval: [map { $_->[0] } @::refused]
--- error_code eval: [map { 400 } @::refused]
--- response_body_like eval: main::invalid(@::refused)



=== nothing of it is stored
--- request eval: "GET $::queues/f"
--- error_code: 200
--- response_body_like: "counts":\{"visible":0,"inFlight":0,"delayed":0,



=== and what is not
--- request eval: [@::fine]
--- error_code eval: [map { /^PATCH/ ? 200 : 201 } @::fine]



=== no such queue
--- request eval
["POST $::queues/none/messages\n{\"body\":\"a\",\"groupId\":\"g\"}",
 "POST $::queues/none/messages\n{\"body\":\"a\",\"deduplicationId\":\"g\"}"]
--- error_code eval: [404, 404]
--- response_body_like eval: ["queue_not_found", "queue_not_found"]



=== a body that is too long
--- request eval
"POST $::queues/f/messages\n{\"messages\":[{\"body\":\"a\",\"groupId\":\"big\",\"deduplicationId\":\"1\"},{\"body\":\"" . "x" x 262145 . "\",\"groupId\":\"big\",\"deduplicationId\":\"2\"}]}"
--- error_code: 400
--- response_body_like: "field":"messages\[1\].body"
