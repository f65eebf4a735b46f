# SendMessage and SendMessages: what is taken and what is answered.

use NgxQueues::Env;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();
add_block_preprocessor(\&NgxQueues::Env::defaults);

our $queues = '/v1/organizations/o/projects/p/queues';
our $q = "$queues/q/messages";

my $id = '\{"messageId":"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}'
         . '-[0-9a-f]{12}"}';

sub ids { '^\{"messages":\[' . join(',', ($id) x $_[0]) . '\]}$' }

sub message { '{"body":"' . ($_[0] // 'a') . '"' . ($_[1] // '') . '}' }

sub attributes {
    my ($n, $value) = @_;

    return ',"attributes":{' . join(',', map { "\"k$_\":\"$value\"" } 1 .. $n)
           . '}';
}

# what is fine: a message, or an array of them

our @fine = (
    message(), message('a', ',"delaySeconds":900'),
    message('a', ',"delaySeconds":null,"attributes":null,"groupId":null,'
                 . '"deduplicationId":null'),
    message('a', ',"attributes":{}'), message('\\u0000'),
    message('\\ud800'), message('\\udc00\\ud800'), message(' '),
    message('a', attributes(10, 'x' x 1024)),
    message('a', ',"attributes":{"' . 'k' x 128 . '":""}'),
    message('a', ',"attributes":{"A.b_c-9":"\\u0000\\ud83d","a.b_c-9":"",'
                 . '"ezgh":"1","ezghx.":"","x.ezgh.y":""}'),
    message('a', ',"attributes":{"\\u006b":"escaped"}'),
    message('a', ',"attributes":{"k":"' . "\xc3\xa9" x 512 . '"}'),
    message('x' x 4096), message("\xf0\x9f\x98\x80" x 1024),
    message('\\ud83d\\ude00' x 1024), message('\\n' x 4096),
    '{"messages":[' . message() . ']}',
    '{"messages":[' . join(',', (message('x' x 4096, attributes(10, 'v'))) x 10)
    . ']}',
    " \r\n\t{ \"body\" : \"a\" }",
);
our @count = map { scalar(() = /"body"/g) } @fine;

my @names = map { ",\"attributes\":{\"$_\":\"v\"}" }
    '', 'k' x 129, 'a b', 'a/b', 'a:b', "\xc3\xa9", '\\u0000', 'k\\n',
    'ezgh.', 'ezgh.a', 'EZGH.a', 'eZgH.deadLetterSourceQueue',
    '\\u0065zgh.x';

our @wrong = (
    [message('x' x 4097), 'body'], [message("\xc3\xa9" x 2048 . 'x'), 'body'],
    [message('\\u00e9' x 2048 . 'x'), 'body'],
    [message('\\ud83d\\ude00' x 1024 . 'x'), 'body'],
    [message('x' x 1048577), 'body'],
    ['{"messages":[' . message() . ',' . message('x' x 4097) . ','
     . message('x' x 5000) . ']}', 'messages\[1\].body'],
    (map { [message('a', $_), 'attributes'] } @names, attributes(11, 'v'),
     attributes(10, 'v') =~ s/"v"}/"v","k0":5}/r,
     ',"attributes":{"k":"' . 'x' x 1025 . '"}',
     ',"attributes":{"k":"' . "\xc3\xa9" x 513 . '"}',
     ',"attributes":{"k":["v"]}', ',"attributes":"k"'),
    ['{"messages":[' . message() . ',' . message('a', attributes(11, 'v'))
     . ']}', 'messages\[1\].attributes'],
);

sub invalid {
    map { '^\{"error":"invalid_argument","message":"[^<]+","field":"' . $_->[1]
          . '"}$' } @_
}

plan tests => 1 + 2 * @fine + 1 + 2 * @wrong + 2 + 2 * 3 + 4 * 2;

run_tests();

__DATA__

=== a queue of small messages
--- request eval
"POST $::queues\n{\"name\":\"q\",\"maxMessageBytes\":4096}"
--- error_code: 201



=== messages as they may be
--- request eval: [map { "POST $::q\n$_" } @::fine]
--- error_code eval: [map { 201 } @::fine]
--- response_body_like eval: [map { main::ids($_) } @::count]



=== empty the queue
--- request eval: "POST $::queues/q/purge"
--- error_code: 202



=== and as they may not
--- request eval: [map { "POST $::q\n$_->[0]" } @::wrong]
--- error_code eval: [map { 400 } @::wrong]
--- response_body_like eval: [main::invalid(@::wrong)]



=== of a batch with one wrong message nothing is stored
--- request eval: "GET $::queues/q"
--- response_body_like: "counts":\{"visible":0,"inFlight":0,"delayed":0,



=== no such queue; no such method; a smaller limit holds from then on
--- request eval
["POST $::queues/none/messages\n{\"body\":\"a\"}",
 "PATCH $::queues/q\n{\"maxMessageBytes\":1024}",
 "POST $::q\n{\"body\":\"" . "x" x 1025 . "\"}"]
--- error_code eval: [404, 200, 400]
--- response_body_like eval
["queue_not_found", '"maxMessageBytes":1024', "over the 1024 bytes"]



=== the delay of a message is over that of the queue
--- request eval
["PATCH $::queues/q\n{\"delaySeconds\":900}",
 "POST $::q\n{\"messages\":[{\"body\":\"1\"},{\"body\":\"2\",\"delaySeconds\":0},{\"body\":\"3\",\"delaySeconds\":null},{\"body\":\"4\",\"delaySeconds\":5}]}",
 "GET $::queues/q", "POST $::q/receive\n{\"maxMessages\":10}"]
--- error_code eval: [200, 201, 200, 200]
--- response_body_like eval
['"delaySeconds":900', main::ids(4),
 '"counts":\{"visible":1,"inFlight":0,"delayed":3,',
 '^\{"messages":\[\{"messageId":"[^"]*","receiptHandle":"[^"]*","body":"2",[^}]*}[^}]*}\]}$']
