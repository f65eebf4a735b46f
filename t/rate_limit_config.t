# queues_rate_limit in the configuration: what a wrong one says, and where the
# right ones are in force.

use NgxQueues::Env;
use Test::Nginx::Socket;

no_shuffle();
no_root_location();
add_block_preprocessor(\&NgxQueues::Env::defaults);

# the parameters, what is said

my $write = ' in "queues_rate_limit": write "queue=N/s", "organization=N/s" and'
            . ' "burst=N" with numbers from 1 to 1000000, or "N/m" for a'
            . ' minute, or "off"';

our @wrong = (
    ['', 'invalid number of arguments in "queues_rate_limit" directive'],
    (map { [$_, "invalid or repeated \"$_\"$write"] } qw(
        on queue queue= queue=5 queue=5s queue=/s queue=5/h queue=5/S queue=0/s
        queue=-1/s queue=1.5/s queue=x/s queue=1000001/s queue=99999999999/s
        organization=0/m organization=5r/s burst=5/s burst=0 burst= burst=-1
        burst=1000001 burst=99999999999999999999 rate=5/s Queue=5/s
    )),
    ['queue=1/s queue=2/s', "invalid or repeated \"queue=2/s\"$write"],
    ['organization=1/s organization=1/s',
     "invalid or repeated \"organization=1/s\"$write"],
    ['queue=1/s burst=1 burst=2', "invalid or repeated \"burst=2\"$write"],
    ['off queue=1/s', "invalid or repeated \"off\"$write"],
    ['queue=1/s off', "invalid or repeated \"off\"$write"],
    ['burst=5', '"queues_rate_limit" limits nothing: add "queue=N/s" or'
     . ' "organization=N/s"'],
    ['queue=1/m burst=1441', 'takes more than a day at the rate of "queue":'
     . ' write a smaller "burst" or a higher rate'],
    ['queue=1/s organization=1/m burst=86400',
     'takes more than a day at the rate of "organization"'],
    ['queue=1/s; queues_rate_limit off',
     '"queues_rate_limit" directive is duplicate'],
    ['off; queues_rate_limit off', '"queues_rate_limit" directive is dup'],
);

our @right = ('off', 'queue=1/s', 'queue=1000000/s burst=1000000',
              'organization=1/m burst=1440', 'burst=2 organization=7/s',
              'burst=1 organization=1/s queue=3/m');

our $q = '/v1/organizations/o/projects/p/queues';

sub answers { [map { "GET $q/$_" } @_] }

plan tests => 2 * @wrong + 2 * @right + 3 * 6;

# the tables as blocks, before those of the file

my @blocks = (
    (map { "\n=== $_->[0]\n--- http_config\nqueues_rate_limit $_->[0];\n"
           . "\$TEST_NGINX_QUEUES\n--- request\nGET /\n--- must_die\n"
           . "--- error_log\n$_->[1]\n" } @wrong),
    (map { "\n=== $_\n--- http_config\nqueues_rate_limit $_;\n"
           . "\$TEST_NGINX_QUEUES\n--- request\nGET $q/q\n"
           . "--- error_code: 404\n--- response_body_like: queue_not_found\n" }
     @right),
);

{
    local $/;
    Test::Base::spec_string(join '', @blocks, <DATA>);
}

run_tests();

__DATA__

=== of http, for each queue
--- http_config
queues_rate_limit queue=1/m burst=2;
$TEST_NGINX_QUEUES
--- request eval: main::answers(qw/a a a b b b/)
--- error_code eval: [404, 404, 429, 404, 404, 429]



=== of a server, instead of that of http
--- http_config
queues_rate_limit queue=1/m burst=1;
$TEST_NGINX_QUEUES
--- config
queues_rate_limit organization=1/m burst=4;
location / { queues_api; }
--- request eval: main::answers(qw/a a b b b c/)
--- error_code eval: [404, 404, 404, 404, 429, 429]



=== of a location, none instead of that of the server
--- config
queues_rate_limit queue=1/m burst=1;
location / { queues_rate_limit off; queues_api; }
--- request eval: main::answers(qw/a a a a a a/)
--- error_code eval: [(404) x 6]
