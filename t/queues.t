# CreateQueue, GetQueue, ListQueues, UpdateQueue, DeleteQueue, PurgeQueue.

use NgxQueues::Env;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();
add_block_preprocessor(\&NgxQueues::Env::defaults);

our $q = '/v1/organizations/o/projects/p/queues';
our $l = '/v1/organizations/o/projects/list/queues';

our $uuid = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
our $time = '\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ';

# an answer about a queue, whole

sub queue {
    my ($name, %is) = @_;

    my %default = (visibilityTimeoutSeconds => 30, receiveWaitSeconds => 0,
                   retentionSeconds => 345600, delaySeconds => 0,
                   maxMessageBytes => 262144);
    my $counts = delete $is{counts};

    return '^\{"queueId":"' . $uuid . '","queue":"que_[0-9a-hjkmnp-tv-z]{12}",'
        . "\"name\":\"$name\",\"kind\":\"standard\","
        . join(',', map { "\"$_\":" . ($is{$_} // $default{$_}) }
               qw/visibilityTimeoutSeconds receiveWaitSeconds retentionSeconds
                  delaySeconds maxMessageBytes/)
        . ',"contentBasedDeduplication":false,"redrivePolicy":null,'
        . "\"createdAt\":\"$time\",\"updatedAt\":\"$time\""
        . (defined $counts ? ",\"counts\":\\{$counts}" : '')
        . (defined $is{totals} ? ",\"totals\":\\{$is{totals}}" : '') . '}$';
}

our $empty = '"visible":0,"inFlight":0,"delayed":0,"deadLetterSource":0,'
             . '"oldestMessageAgeSeconds":0';
our $nothing = '"sent":0,"acknowledged":0,"expired":0,"deadLettered":0';

our %all = (visibilityTimeoutSeconds => 43200, receiveWaitSeconds => 20,
           retentionSeconds => 1209600, delaySeconds => 900,
           maxMessageBytes => 1048576);
our $all = join ',', map { "\"$_\":$all{$_}" } sort keys %all;
our $least = '"visibilityTimeoutSeconds":0,"receiveWaitSeconds":0,'
             . '"retentionSeconds":60,"delaySeconds":0,"maxMessageBytes":1024';
our %least = (visibilityTimeoutSeconds => 0, retentionSeconds => 60,
              maxMessageBytes => 1024);

our $n80 = 'n' x 80;
our @names = map { sprintf 'a-%02d', $_ } 0 .. 54;

sub names {
    my ($token, @names) = @_;

    return '^\{"queues":\[' . join(',', map { "\\{[^{}]*\"name\":\"$_\"[^{}]*}" }
        @names) . "\\],\"nextPageToken\":$token}\$";
}

# the token of another page is sealed: t/paging.t follows them

our $token = '"AQ[A-Za-z0-9_-]{40,}"';

plan tests => 6 * 2 + 2 * 4 + 4 * 2 + 2 * 3 + @names + 7 * 2 + 8 + 5 * 2 + 4 * 2
              + 7 * 2;

run_tests();

__DATA__

=== create, with defaults, all settings, the least ones, null, and a name again
--- request eval
["POST $::q\n{\"name\":\"a\"}",
 "POST $::q\n{\"name\":\"$::n80\",\"kind\":\"standard\",$::all}",
 "POST $::q\n{\"name\":\"least\",\"contentBasedDeduplication\":false,$::least}",
 "POST $::q\n{\"name\":\"A_-9\",\"delaySeconds\":null,\"redrivePolicy\":null,\"kind\":null}",
 "POST $::q\n{\"name\":\"a\"}",
 "POST $::q\n{\"na\\u006de\":\"\\u0061b\"}"]
--- error_code eval: [201, 201, 201, 201, 409, 201]
--- response_body_like eval
[main::queue("a"), main::queue($::n80, %::all),
 main::queue("least", %::least), main::queue("A_-9"),
 '^\{"error":"queue_exists","message":"[^"]+"}$', main::queue("ab")]



=== get: with counts
--- request eval: ["GET $::q/a", "GET $::q/$::n80", "GET $::q/none", "GET $::q/A"]
--- error_code eval: [200, 200, 404, 404]
--- response_body_like eval
[main::queue("a", counts => $::empty, totals => $::nothing),
 main::queue($::n80, %::all, counts => $::empty, totals => $::nothing),
 map { '^\{"error":"queue_not_found","message":"There is no queue \\\\"'
       . $_ . '\\\\" in the project."}$' } "none", "A"]



=== HEAD is GET without the body
--- request eval: ["HEAD $::q/a", "HEAD $::q", "HEAD $::q/none", "HEAD /v1"]
--- error_code eval: [200, 200, 404, 404]
--- response_headers eval
[map { "Content-Type: application/json" } 1 .. 4]



=== a client_max_body_size above the body; no content type; an empty PATCH
--- request eval
["PATCH $::q/a", "PATCH $::q/a\n{\"delaySeconds\":null}"]
--- response_body_like eval: [main::queue("a"), main::queue("a")]
--- response_headers eval
["Content-Type: application/json", "Content-Type: application/json"]



=== many queues
--- request eval: [map { "POST $::l\n{\"name\":\"$_\"}" } CORE::reverse(@::names)]
--- error_code eval: [map { 201 } @::names]



=== list: the first page in order of names, a prefix
--- request eval
["GET $::l", "GET $::l?pageSize=100", "GET $::l?pageSize=2&prefix=a-1",
 "GET $::l?prefix=a%2D5&pageSize=5&", "GET $::l?prefix=none",
 "GET $::l?prefix=&pageSize=55",
 "GET /v1/organizations/o/projects/lis/queues"]
--- error_code eval: [(200) x 7]
--- response_body_like eval
[main::names($::token, @::names[0 .. 49]), main::names("null", @::names),
 main::names($::token, "a-10", "a-11"),
 main::names("null", @::names[50 .. 54]), main::names("null"),
 main::names("null", @::names), main::names("null")]



=== list: what is wrong
--- request eval
[map { "GET $::l?$_" } "pageSize=0", "pageSize=101", "pageSize=1.0",
 "pageSize=", "prefix=a&prefix=b", "page=1", "pageToken=%2B",
 "pageToken=YS00OQ"]
--- error_code eval: [(400) x 8]



=== update: some settings, the others stay
--- request eval
["PATCH $::q/least\n{\"visibilityTimeoutSeconds\":5}",
 "PATCH $::q/least\n{\"maxMessageBytes\":2048,\"receiveWaitSeconds\":null}",
 "GET $::q/least", "PATCH $::q/none\n{\"delaySeconds\":1}",
 "PATCH $::q/least\n{\"delaySeconds\":1,\"retentionSeconds\":59}"]
--- error_code eval: [200, 200, 200, 404, 400]
--- response_body_like eval
[main::queue("least", %::least, visibilityTimeoutSeconds => 5),
 main::queue("least", %::least, visibilityTimeoutSeconds => 5,
             maxMessageBytes => 2048),
 main::queue("least", %::least, visibilityTimeoutSeconds => 5,
             maxMessageBytes => 2048, counts => $::empty, totals => $::nothing),
 "queue_not_found", '"field":"retentionSeconds"']



=== delete: 204 without a body; the name is free
--- request eval
["DELETE $::q/ab", "GET $::q/ab", "DELETE $::q/ab", "POST $::q\n{\"name\":\"ab\"}"]
--- error_code eval: [204, 404, 404, 201]
--- response_body_like eval: ['^$', "queue_not_found", "queue_not_found", '"ab"']



=== purge: messages of all states go
--- request eval
["POST $::q/a/messages\n{\"messages\":[{\"body\":\"1\"},{\"body\":\"2\"},{\"body\":\"3\",\"delaySeconds\":9}]}",
 "POST $::q/a/messages/receive", "GET $::q/a", "POST $::q/a/purge",
 "GET $::q/a", "POST $::q/a/messages/receive", "POST $::q/none/purge"]
--- error_code eval: [201, 200, 200, 202, 200, 200, 404]
--- response_body_like eval
['^\{"messages":\[', '"body":"1"',
 '"visible":1,"inFlight":1,"delayed":1,"deadLetterSource":0,"oldestMessageAgeSeconds":[0-9]},"totals":\{"sent":3,' . $::nothing =~ s/^.*?,//r . '}}$',
 '^\{}$', main::queue("a", counts => $::empty, totals => $::nothing), '^\{"messages":\[\]}$',
 "queue_not_found"]
