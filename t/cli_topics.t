#!/usr/bin/perl

# queuectl topics: the Pub/Sub API, its resources and its errors.

use strict;
use warnings;

use Test::More;

use NgxQueues::Cli;
use NgxQueues::Pubsub;

my $s = NgxQueues::Pubsub::server(auth => 1,
                                  http => 'queues_redis_timeout 500ms;');
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
like($r->{err}, qr/\(NOT_FOUND, 404\)\n.*acme\/shop: queuectl topics list/,
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

# who may not, and what is not there

$r = $c->run({ env => { QUEUES_KEY => 'wrong' } }, qw/topics list/);
is($r->{status}, 4, 'an unknown key: 4');
like($r->{err}, qr/UNAUTHENTICATED, 401.*does not know the key of QUEUES_KEY/s,
     'and whose it is');

$s->redis->stop;
$r = $c->run(qw/topics get orders --retries 0/);
$s->redis->cont;
is($r->{status}, 5, 'no store: 5');
like($r->{err}, qr/\(UNAVAILABLE, 503\)/, 'in the words of the server');

$s->finish;
done_testing;
