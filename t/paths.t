# Names and ids in paths: the raw path is split first, each segment decoded
# once, and nothing reaches another object than it says.

use NgxQueues::Env;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();
add_block_preprocessor(\&NgxQueues::Env::defaults);

our $o = '/v1/organizations';
our $q = "$o/o/projects/p/queues";
our $long = 'x' x 64;

# a queue "a" in o/p and one in each of these, none of which is another one

our @projects = map { "$o/$_->[0]/projects/$_->[1]/queues" }
    ['o', 'p'], ['o', 'P'], ['O', 'p'], ['o-p', 'q'], ['o', 'p-q'],
    ['o_', '-p'], [$long, $long];

# the same queue, however it is written

our @same = map { "GET $_" } "$q/a-b", "$q/a%2Db", "$q/a%2db", "$q/%61-%62",
    "/%76%31/organizations/%6F/projects/p/queues/a-b", "$q/a-b?x=y&x=z",
    "$q/a-b?", "$o/o%00/projects/p/queues/a-b" =~ s/%00//r;

# no queue, or no path at all; all answer JSON

our @none = map { "GET $_" } (map { "$q/$_" }
    'a%2Fb', 'a%2fb', 'a//b', 'a%2525', 'a%252Db', 'a+b', 'a%20b', 'a-b%20',
    '%20a-b', 'a-b%C3%A9', '..%2F..%2Fx', '%2e%2e',
    '..;/a-b', 'a-b/', 'a-b//', '/a-b', 'a-b;x', 'a-b%23', 'a-b%3F', 'A-B',
    'a-b%7D', '%7Ba-b%7D', 'que_', 'que_0123456789ab', 'que_0123456789abc',
    'que_0123456789AB', '01890000-0000-7000-8000-00000000000',
    '01890000-0000-7000-8000-000000000000', 'x' x 81, 'x' x 5000, '*', '?',
    '%2A', 'a*', '\\', '"', "a-b%27", '<b>'),
    "$o//projects/p/queues/a-b", "$o/o/projects//queues/a-b",
    "$o/${long}x/projects/p/queues/a-b", "$o/o/projects/${long}x/queues/a-b",
    "$o/o%2Fprojects%2Fp/queues/a-b", "$o/o%20/projects/p/queues/a-b",
    "$o/o/projects/p%7D/queues/a-b", "$o/o/projects/p./queues/a-b",
    "$o/o/project/p/queues/a-b", "$o/o/projects/p/Queues/a-b",
    "/V1/organizations/o/projects/p/queues/a-b", "/v1//receipts/ack", '//v1',
    '/v1/organizations/o/projects/p/queues%2Fa-b', '/v1/./receipts/ack',
    '/v1/receipts/x/../ack', '/.', '/%2e';

# what is no text

our @bad = map { ("GET $q/$_", "GET $q/a-b/$_", "POST $q/$_/messages\n{}") }
    'a-b%0A', 'a-b%0D%0A', '%09', 'a-b%7F', 'a-b%FF', 'a-b%C0%80',
    'a-b%ED%A0%80', '%1f', 'a-b%E2%82';

# nginx itself refuses these before a location is known

our @refused = map { "GET $q/$_" } 'a%00b', 'a%', 'a%Z', 'a%ZZ', '../' x 8;

# a name that has the form of an id, or of another route

our @odd = ('que_0123456789ab', '01890000-0000-7000-8000-000000000000',
            'messages', 'receive', 'purge', 'receipts', '-', '_', '0',
            'que_ilou', '__proto__', 'constructor');

sub all { my ($what, @list) = @_; [($what) x @list] }

plan tests => 5 * @projects + 1 + 2 * @same + 2 * @none + @refused
              + 2 * @bad
              + 8 * @odd;

run_tests();

__DATA__

=== projects: a queue of each
--- request eval
[map { "POST $::projects[$_]\n{\"name\":\"a\",\"delaySeconds\":$_}" }
 0 .. $#::projects]
--- error_code eval: main::all(201, @::projects)



=== each has its own, and sees its own only
--- request eval: [map { ("GET $_/a", "GET $_") } @::projects]
--- error_code eval: main::all(200, @::projects, @::projects)
--- response_body_like eval
[map { ("\"delaySeconds\":$_,", "^\\{\"queues\":\\[\\{[^{]*\"delaySeconds\":$_,[^{]*}\\],") }
 0 .. $#::projects]



=== a queue
--- request eval: "POST $::q\n{\"name\":\"a-b\"}"
--- error_code: 201



=== many ways to write its path
--- request eval: [@::same]
--- error_code eval: main::all(200, @::same)
--- response_body_like eval: main::all('"name":"a-b"', @::same)



=== and of no queue
--- request eval: [@::none]
--- error_code eval: main::all(404, @::none)
--- response_body_like eval
main::all('^\{"error":"(queue_)?not_found","message":".+"}$', @::none)



=== nor of anything
--- request eval: [@::bad]
--- error_code eval: main::all(400, @::bad)
--- response_body_like eval
main::all('^\{"error":"invalid_argument","message":".+"}$', @::bad)



=== what nginx refuses
--- request eval: [@::refused]
--- error_code eval: main::all(400, @::refused)



=== names that look like something else: create, get, send, delete
--- request eval
[(map { "POST $::q\n{\"name\":\"$_\"}" } @::odd),
 (map { "GET $::q/$_" } @::odd),
 (map { "POST $::q/$_/messages\n{\"body\":\"to $_\"}" } @::odd)]
--- error_code eval
[(201) x @::odd, (200) x @::odd, (201) x @::odd]
--- response_body_like eval
[(map { "\"name\":\"$_\"" } @::odd, @::odd), ("messageId") x @::odd]



=== and what they have is their own
--- request eval: [map { "POST $::q/$_/messages/receive" } @::odd]
--- response_body_like eval: [map { "\"body\":\"to $_\"" } @::odd]
