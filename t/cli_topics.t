#!/usr/bin/perl

# queuectl topics and subs: resources of the Pub/Sub API, and its errors.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use NgxQueues::Cli;
use NgxQueues::Jwt;
use NgxQueues::Pubsub;
use NgxQueues::Server;

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

$s->finish;
done_testing;
