#!/usr/bin/perl

# queuectl topics: the Pub/Sub API, its resources and its errors.

use strict;
use warnings;

use JSON::PP ();
use MIME::Base64 'decode_base64';
use Test::More;

use NgxQueues::Cli;
use NgxQueues::Jwt;
use NgxQueues::Process 'spurt';
use NgxQueues::Pubsub;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Pubsub::server(auth => 1, http => 'queues_redis_timeout 500ms;'
    . 'queues_oidc_issuer https://queues.example.com; queues_oidc_key '
    . NgxQueues::Jwt->rsa->private . ';');
my $p = NgxQueues::Pubsub->new($s);
my $c = NgxQueues::Cli->new(server => $s, project => 'acme/shop');

sub body { $p->get(@_)->{body} . "\n" }

# topics

my $r = $c->ok(qw/topics create orders --retention 10m --label team=sales
                  --label empty=/);

is($r->{out}, "Topic      orders\nRetention  10m\nLabels     team=sales empty=\n",
   'create: for people');
$r = $c->ok(qw/topics create plain --json/);
is($r->{out}, body(qw/topics plain/), 'and as the server has it');

$r = $c->run(qw/topics create plain/);
is($r->{status}, 6, 'one that is there: 6');
like($r->{err}, qr/^queuectl: Resource already exists.*\(ALREADY_EXISTS, 409\)\n/,
     'in the words of the server');
is($c->run(qw/topics create 1/)->{status}, 1, 'a name that is none: 1');
is($c->run(qw/topics create abc --label x/)->{status}, 2, 'a label that is none: 2');

is($c->ok(qw/topics get orders --json/)->{out}, body(qw/topics orders/), 'get');
is($c->ok(qw/topics list/)->{out}, <<'END_OF_TABLE', 'list: a table');
TOPIC   RETENTION  LABELS
orders        10m  team=sales empty=
plain           -  -
END_OF_TABLE

is($c->ok(qw/topics list --names/)->{out}, "orders\nplain\n", 'their names');
is($c->ok(qw/topics list --json/)->{out},
   body(qw/topics orders/) . body(qw/topics plain/), 'and JSON, one a line');

$c->ok(qw/topics update orders --retention 1h --label a=b/);
is($c->ok(qw/topics get orders/)->{out},
   "Topic      orders\nRetention  1h\nLabels     a=b\n", 'update');
$c->ok(qw/topics update orders --no-retention/);
is($c->ok(qw/topics get orders/)->{out},
   "Topic      orders\nRetention  -\nLabels     a=b\n", 'what is not named stays');
$c->ok(qw/topics update orders --no-labels/);
is($c->ok(qw/topics get orders/)->{out},
   "Topic      orders\nRetention  -\nLabels     -\n", 'and nothing is left');

for my $words ('update plain', 'update plain --retention 1h --no-retention',
               'update plain --label a=b --no-labels', 'delete plain',
               'get', 'get a b')
{
    is($c->run('topics', split / /, $words)->{status}, 2, "topics $words: usage");
}

$r = $c->run(qw/topics get none/);
is($r->{status}, 3, 'no such topic: 3');
like($r->{err}, qr/\(NOT_FOUND, 404\)\n.*topics of acme\/shop: queuectl topics list/,
     'and where to look');

$r = $c->ok(qw/topics delete plain --yes/);
is("$r->{out}|$r->{err}", "|queuectl: plain is deleted\n", 'delete');

# a name is one part of a path, whatever is in it

$c->ok(qw/topics create/, 'a+b%41.~');
is($c->ok(qw/topics list --names/)->{out}, "a+b%41.~\norders\n", 'odd names');
$c->ok(qw/topics delete -y/, 'a+b%41.~');

# pages

$p->topic(sprintf 'many-%03d', $_) for 1 .. 101;
is(@{ $c->ok(qw/topics list -n/)->{lines} }, 102, 'lists of several pages');

is($c->ok(qw/topics subscriptions orders -q/)->{out}, '', 'no subscriptions');
$p->sub($_, 'orders') for qw/one two/;
is($c->ok(qw/topics subscriptions orders/)->{out}, "one\ntwo\n", 'their names');
is($c->ok(qw/topics subscriptions orders --json/)->{out},
   qq("projects/shop/subscriptions/one"\n"projects/shop/subscriptions/two"\n),
   'as the server has them');

# publish: bytes, from arguments, files, stdin and lines

my $bytes = join('', map { chr } 0 .. 255) . "\xff\0\xe2\x82\n";
my $dir = $c->dir;

# all that a subscription has, after which it has nothing

sub pulled {
    my @m = $p->pull('one', 1000);

    $p->ack('one', @m) if @m;

    return @m;
}

sub datas { map { decode_base64($_->{message}{data} // '') } pulled() }

$r = $c->ok(qw/topics publish orders hello --attribute kind=created
               --ordering-key a-1/, '-a', 'x==" ü');

my ($m) = pulled();

is($r->{out}, "published $m->{message}{messageId}\n", 'publish: its id');
is(decode_base64($m->{message}{data}), 'hello', 'its data');
is_deeply($m->{message}{attributes}, { kind => 'created', x => "=\" \xfc" },
          'its attributes');
is($m->{message}{orderingKey}, 'a-1', 'and its key');

like($c->ok({ stdin => $bytes }, qw/topics publish orders --json/)->{out},
     qr/^\{"messageIds":\["\d+"\]\}\n\z/, 'JSON: as the server has it');
is_deeply([datas()], [$bytes], 'stdin, any bytes');

for my $n (1 .. 4) {
    spurt("$dir/data", substr $bytes, -$n);
    $c->ok(qw/topics publish orders -f/, "$dir/data");
}

is_deeply([datas()], [map { substr $bytes, -$_ } 1 .. 4], 'files, of any length');

$c->ok(qw/topics publish orders/, '', '-a', 'a=b');
is_deeply([map { $_->{message}{data} } pulled()], [undef], 'attributes alone');
is($c->run(qw/topics publish orders/, '')->{status}, 2, 'nothing at all: usage');
is($c->run(qw/topics publish orders x -a a/)->{status}, 2, 'no attribute: usage');
is($c->run(qw/topics publish none x/)->{status}, 3, 'no such topic: 3');

my @lines = map { "line $_ \xff\0" } 1 .. 250;

spurt("$dir/lines", join "\n", @lines);
$r = $c->ok(qw/topics publish orders --lines --file/, "$dir/lines");
is("$r->{out}|$r->{err}", "|queuectl: 250 messages sent, 0 lines refused\n",
   'lines');
is_deeply([datas()], \@lines, 'all of them, in order');

$r = $c->ok(qw/topics publish orders --lines --json --start-line 150 --file/,
            "$dir/lines");
is(join(' ', map { scalar @{ $_->{messageIds} } } @{ $r->{json} }), '100 1',
   'from a line on, a hundred a call');
is_deeply([datas()], [@lines[149 .. 249]], 'those');

# JSON: messages as a pull has them, and those that are refused

my @json = ('{"ackId":"x","message":{"data":"AAE=","attributes":{"k":"\u0041"},'
            . '"orderingKey":"o","messageId":"1"},"deliveryAttempt":2}',
            '{"data":"AAI="}', '{"data":"?"}', '{"message":{}}', '{',
            '{"attributes":{"a":"b"}}', '{"attributes":{"goog":1}}');

$r = $c->run({ stdin => join "\n", @json }, qw/topics publish orders --jsonl/);
is($r->{status}, 1, 'lines of JSON');
like($r->{err}, qr/no\ data\ and\ no\ attributes.*line\ 4\ was\ not\ sent.*
                   line\ 3\ was\ refused.*nothing\ was\ sent/sx,
     'one that is bad: nothing of its call is there');

$r = $c->run({ stdin => join "\n", @json },
             qw/topics publish orders --jsonl --keep-going/);
is($r->{status}, 1, 'the others');
like($r->{err}, qr/3 messages sent, 4 lines refused/, 'are sent');
is_deeply([map { [@{ $_->{message} }{qw/data attributes orderingKey/}] } pulled()],
          [['AAE=', { k => 'A' }, 'o'], ['AAI=', undef, undef],
           [undef, { a => 'b' }, undef]], 'as they are');

# a server that takes less, and says so with a 400 that blames nobody

my $small = NgxQueues::Server->new(node_of => $s, api => 'queues_pubsub_api acme;'
    . 'client_max_body_size 5k;');
my @some = map { $_ x 1500 } 'a' .. 'm';

$c->ok({ env => { QUEUES_URL => $small->url }, stdin => join "\n", @some },
       qw/topics publish orders --lines/);
is_deeply([datas()], \@some, 'smaller calls, in order');
$r = $c->run({ env => { QUEUES_URL => $small->url },
               stdin => join "\n", 'a', 'b' x 6000, 'c' },
             qw/topics publish orders --lines --keep-going/);
like($r->{err}, qr/line 2 was refused.*2 messages sent, 1 line refused/s,
     'a line that is too large by itself');
is_deeply([datas()], ['a', 'c'], 'and the others');
$small->finish;

# subscribe: as the server keeps it

$p->topic('failed');
$r = $c->ok(qw/topics subscribe orders all --ack-deadline 1m --retention 1d
               --retain-acked on --expiration 2d --ordering --filter/,
            'attributes.a = "b"', qw/--dead-letter-topic failed
               --max-delivery-attempts 7 --min-backoff 5 --max-backoff 2m
               --label a=b/);
is($r->{out}, <<'END_OF_SHOW', 'subscribe: for people');
Subscription    all
Topic           orders
Pushed to       nothing: it is pulled
Ack deadline    1m
Retention       1d
Expires unused  2d
Acknowledged    kept, for seeks
Order           kept, of each ordering key
Filter          attributes.a = "b"
Dead letters    to failed after 7 deliveries
Backoff         5s to 2m
Labels          a=b
END_OF_SHOW

is($c->ok(qw/subs get all --json/)->{out}, body(qw/subscriptions all/),
   'get, as the server has it');

my $url = 'https://hooks.example.com/orders';

$r = $c->ok(qw/topics subscribe orders hook --json --no-expiration
               --no-wrapper --write-metadata --push-endpoint/, $url);
is($r->{json}[0]{pushConfig}{pushEndpoint}, $url, 'pushed');
is_deeply($r->{json}[0]{pushConfig}{noWrapper}, { writeMetadata => JSON::PP::true() },
          'bare, with the rest in headers');
is_deeply($r->{json}[0]{expirationPolicy}, {}, 'and never deleted');

is($c->ok(qw/subs list/)->{out}, <<'END_OF_TABLE', 'list: a table');
SUBSCRIPTION  TOPIC   KIND  ACK DEADLINE  RETENTION  DEAD LETTERS  LABELS
all           orders  pull            1m         1d  failed        a=b
hook          orders  push           10s         7d  -             -
one           orders  pull           10s         7d  -             -
two           orders  pull           10s         7d  -             -
END_OF_TABLE

is($c->ok(qw/subs list --names/)->{out}, "all\nhook\none\ntwo\n", 'names');

# update: what is named, also parts of what is there

my %all = %{ $c->ok(qw/subs get all --json/)->{json}[0] };

$r = $c->ok(qw/subs update all --ack-deadline 20 --max-delivery-attempts 9
               --max-backoff 3m --retain-acked off --no-expiration --json/);
delete $all{retainAckedMessages};
$all{deadLetterPolicy}{maxDeliveryAttempts} = 9;
$all{retryPolicy}{maximumBackoff} = '180s';
is_deeply($r->{json}[0], { %all, ackDeadlineSeconds => 20, expirationPolicy => {} },
          'update: what is named, all else stays');

$r = $c->ok(qw/subs update all --no-dead-letter-topic --no-backoff --no-labels
               --exactly-once on --json/);
is(join(' ', map { $_ // '-' } @{ $r->{json}[0] }{qw/deadLetterPolicy retryPolicy
                                                      labels/}), '- - -', 'taken away');
like($c->ok(qw/subs get all/)->{out}, qr/^Delivery +exactly once$/m, 'and given');

for my $words ('topics subscribe orders x --retain-acked maybe',
               'topics subscribe orders x --no-wrapper',
               "topics subscribe orders x --write-metadata --push-endpoint $url",
               "topics subscribe orders x --oidc-audience a --push-endpoint $url",
               'topics subscribe orders', 'subs update all',
               'subs update all --no-backoff --min-backoff 5',
               'subs update all --expiration 2d --no-expiration',
               'subs delete all', 'subs detach all', 'subs push-to all',
               'subs push-to all none --oidc-account a@example.com')
{
    is($c->run(split / /, $words)->{status}, 2, "$words: usage");
}

$r = $c->run(qw/topics subscribe orders xyz --ack-deadline 5/);
is($r->{status}, 1, 'a value that is refused: 1');
like($r->{err}, qr/ackDeadlineSeconds/, 'with its field');
is($c->run(qw/topics subscribe none xyz/)->{status}, 3, 'no such topic: 3');
is($c->run(qw/topics subscribe orders all/)->{status}, 6, 'one that is there: 6');

# push and pull, detach, delete

$r = $c->ok(qw/subs push-to one/, $url, qw/--oidc-account a@example.com
               --oidc-audience shop/);
is($r->{err}, "queuectl: one is pushed to $url\n", 'push-to');
is($c->ok(qw/subs get one/)->{out} =~ /^(Pushed to.*?)^Ack/ms ? $1 : '',
   "Pushed to       $url\nToken           of a\@example.com for shop\n",
   'as it is kept');
$c->ok(qw/subs push-to one none/);
like($c->ok(qw/subs get one/)->{out}, qr/^Pushed to +nothing/m, 'and pulled again');

$r = $c->ok(qw/subs detach two -y/);
is($r->{err}, "queuectl: two is detached\n", 'detach');
like($c->ok(qw/subs list/)->{out}, qr/^two +orders +detached/m, 'is shown');
$c->ok(qw/subs delete -y/, $_) for qw/two hook/;
is($c->ok(qw/subs list -n/)->{out}, "all\none\n", 'delete');
is($c->run(qw/subs get two/)->{status}, 3, 'one that is not there: 3');

$p->topic('gone');
$p->sub('left', 'gone');
$c->ok(qw/topics delete gone -y/);
like($c->ok(qw/subs list/)->{out}, qr/^left +_deleted-topic_ /m,
     'of a topic that is deleted');

# who may not, and what is not there

$r = $c->run({ env => { QUEUES_KEY => 'wrong' } }, qw/topics list/);
is($r->{status}, 4, 'an unknown key: 4');
like($r->{err}, qr/UNAUTHENTICATED, 401.*does not know the key of QUEUES_KEY/s,
     'and whose it is');

my $other = NgxQueues::Server->new(node_of => $s, api => 'queues_api;');

$r = $c->run({ env => { QUEUES_URL => $other->url } }, qw/topics list/);
is($r->{status}, 3, 'a server without this API: 3');
like($r->{err}, qr/not_found, 404.*a location for the API/s, 'and what may be wrong');
$other->finish;

$s->redis->stop;
$r = $c->run(qw/topics get orders --retries 0/);
$s->redis->cont;
is($r->{status}, 5, 'no store: 5');
like($r->{err}, qr/\(UNAVAILABLE, 503\)/, 'in the words of the server');

$s->redis->stop;
my $h = $c->start({ seconds => 60, stdin => join "\n", 1 .. 5 },
                  qw/topics publish orders --lines/);
ok(wait_for(sub { $c->err($h) =~ /\(503\); trying again/ }, 20), 'lines wait');
$s->redis->cont;
is($c->end($h)->{status}, 0, 'and go on when it is back');
is_deeply([(datas())[-5 .. -1]], [1 .. 5], 'all of them');

$s->finish;
done_testing;
