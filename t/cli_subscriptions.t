#!/usr/bin/perl

# queuectl subscriptions, and queuectl tail, which follows what fails.

use strict;
use warnings;

use Test::More;

use NgxQueues::Cli;
use NgxQueues::Endpoint;
use NgxQueues::Process qw/slurp spurt/;
use NgxQueues::Push;
use NgxQueues::Queue;
use NgxQueues::Wait;

my $p = NgxQueues::Push->new(http => 'queues_redis_timeout 500ms;');
my $s = $p->server;
my $c = NgxQueues::Cli->new(server => $s);
my $url = 'https://hooks.example.com:' . $p->endpoint->port . '/a';
my $dir = $c->dir;
my $q = NgxQueues::Queue->new($s, name => 'q', visibilityTimeoutSeconds => 1);

# create: the secret, once

my $r = $c->ok(qw/subscriptions create q --batch-size 3 --max-concurrency 7
                  --delivery-timeout 20 --paused --url/, $url);
my ($id) = $r->{out} =~ /^Ids +(qsb_\w{12}), [0-9a-f-]{36}$/m;
my ($secret) = $r->{out} =~ /^Signing secret +(whsec_\S+)$/m;

like($r->{out}, qr/^URL\ +\Q$url\E\nDelivery\ timeout\ +20s\nBatch\ size\ +3\n
                   Deliveries\ at\ once\ +7\nState\ +paused\nHealth\ +healthy\n
                   Last\ success\ +-\nCreated/mx, 'create: for people');
ok(defined $secret, 'with the secret');
like($r->{err}, qr/shown this once/, 'and said so');

$r = $c->run(qw/subscriptions create q --url/, $url);
is($r->{status}, 6, 'a second one: 6');
like($r->{err}, qr/subscription_exists.*To change it: queuectl subscriptions/s, 'and what to do');
is($c->run(qw/subscriptions create q/)->{status}, 2, 'without a URL: usage');
is($c->run(qw/subscriptions create none --url/, $url)->{status}, 3,
   'of no queue: 3');

$r = $c->run(qw{subscriptions create q --url http://a.example.com});
is($r->{status}, 1, 'a URL that is refused: 1');
like($r->{err}, qr/invalid_argument in target\.url, 400/, 'with the field');

# get, update, pause, resume, list

my $path = '/v1/organizations/o/projects/p/subscriptions';

$r = $c->ok(qw/subscriptions get --json/, $id);
is($r->{out}, $p->client->get("$path/$id")->{body} . "\n",
   'get: the bytes of the server');
unlike($c->ok(qw/subscriptions get/, $id)->{out}, qr/secret/i,
       'get: for people, without a secret');
is($c->run(qw/subscriptions get none/)->{status}, 3, 'get none: 3');

$r = $c->ok(qw/subscriptions update --batch-size 1 --delivery-timeout 5 --json/,
            $id);
is("$r->{json}[0]{batchSize} $r->{json}[0]{target}{timeoutSeconds} "
   . $r->{json}[0]{target}{url}, "1 5 $url", 'update');
is($c->run(qw/subscriptions update/, $id)->{status}, 2,
   'update nothing: usage');

like($c->ok(qw/subscriptions resume/, $id)->{out}, qr/^State +active$/m, 'resume');
like($c->ok(qw/subscriptions pause/, $id)->{out}, qr/^State +paused$/m, 'pause');

$c->ok(qw/queues create other/);
$r = $c->ok(qw/subscriptions create other --secret-file/, "$dir/secret",
            '--url', "${url}b");
unlike($r->{out}, qr/whsec_/, 'a secret in a file is not shown');
like(slurp("$dir/secret"), qr/^whsec_\S+\n\z/, 'but is there');
is((stat "$dir/secret")[2] & 0777, 0600, 'for nobody else');

my ($other) = $r->{out} =~ /(qsb_\w{12})/;

$r = $c->ok(qw/subscriptions list/);
is($r->{lines}[0] =~ s/  +/, /gr,
   'SUBSCRIPTION, QUEUE, STATE, HEALTH, LAST ERROR, URL', 'list: a table');
like($r->{lines}[1], qr/^$id +que_\w{12} +paused +healthy +- +\Q$url\E$/,
     'with its columns');
is(@{ $r->{lines} }, 3, 'of both');
$r = $c->ok(qw/subscriptions list --json --queue other/);
is(join(' ', map { $_->{subscription} } @{ $r->{json} }), $other,
   'list: that of a queue');

# rotate: a new secret

$r = $c->ok(qw/subscriptions rotate-secret --json/, $id);
like($r->{json}[0]{signingSecret}, qr/^whsec_/, 'rotate');
isnt($r->{json}[0]{signingSecret}, $secret, 'another one');
$r = $c->run(qw/subscriptions rotate-secret --secret-file/, "$dir/secret", $id);
is($r->{status}, 1, 'no file is written over');
is($c->run(qw/subscriptions rotate-secret none --secret-file/, "$dir/none")
   ->{status}, 3, 'of none: 3');
ok(!-e "$dir/none", 'and no file is left');
is($c->run(qw/subscriptions rotate-secret --json --secret-file/, "$dir/none", $id)
   ->{status}, 2, 'shown and not shown: usage');

# an answer that was lost: the second one has no secret

my $lossy = NgxQueues::Endpoint->new(plain => 1);

$lossy->on('*', { status => 503 },
           { status => 201, body => '{"subscription":"qsb_x","signingSecret":null}' });
$r = $c->run({ env => { QUEUES_URL => 'http://127.0.0.1:' . $lossy->port } },
             qw{subscriptions create q --url https://a.example.com});
is($r->{status}, 1, 'the answer with the secret was lost: 1');
like($r->{err}, qr/rotate-secret/, 'and what to do');

# delete

is($c->run(qw/subscriptions delete/, $other)->{status}, 2, 'delete asks');
$c->ok(qw/subscriptions delete --yes/, $other);
is($c->run(qw/subscriptions delete -y/, $other)->{status}, 3, 'deleted');
is($c->ok(qw/subscriptions list --queue other/)->{err},
   "queuectl: no subscriptions in o/p\n", 'none');

# tail: what fails now, what comes, and what recovers

my $dead = NgxQueues::Queue->new($s, name => 'dead');

is($c->ok(qw/tail --once/)->{out}, '', 'tail: nothing fails');

my $h = $c->start(qw/tail --interval 1/);
my $j = $c->start(qw/tail -i1 --json/);

$p->endpoint->on('*', { status => 503 });
$c->ok(qw/subscriptions resume/, $id);
$q->send('a');

ok(wait_for(sub { $c->out($h) =~ /^\S+Z  subscription $id of que_\w+ is failing: http, /m },
            20), 'tail: a delivery that fails') or diag($c->out($h), $c->err($h));
ok(wait_for(sub { $c->out($j) =~ /^\{"event":"failing","subscription":"$id",
            "queue":"que_\w+","lastError":\{"at":[^{}]*"status":503[^{}]*\},
            "seenAt":"\S+Z"\}$/mx }, 20), 'tail: as JSON')
    or diag($c->out($j), $c->err($j));

like($c->ok(qw/tail --once/)->{out}, qr/\A\S+Z  subscription $id .*\n\z/,
     'tail --once: what fails now');

$p->endpoint->on('*', {});
$c->ok(qw/queues update q --dead-letter-queue dead --max-receive-count 1/);

ok(wait_for(sub { $c->out($h) =~ /^\S+Z  subscription $id has recovered$/m
                  || $q->counts eq '0 0 0' && !$q->send('b') }, 20),
   'tail: it recovers');

$c->end($_, 'INT') for $h, $j;

# dead letters: those that are there, and those that come

$c->ok(qw/subscriptions pause/, $id);
$c->ok(qw/queues purge q -y/);
$c->ok(qw/queues purge dead -y/);

sub die_one {
    my ($body, $counts) = @_;

    $q->send($body);

    return wait_for(sub { $c->run(qw/receive q --visibility-timeout 0 -q/);
                          $dead->counts eq $counts }, 20);
}

ok(die_one('x', '1 0 0'), 'a message is dead');

$h = $c->start(qw/tail --interval 1/);
$j = $c->start(qw/tail -i1 --json/);

for ($h, $j) {
    ok(wait_for(sub { $c->out($_) =~ /dead has 1 dead letter$|"count":1,"seenAt"/m },
                20), 'tail: it is there') or diag($c->out($_), $c->err($_));
}

ok(die_one('y', '2 0 0'), 'a second one');

for ($h, $j) {
    ok(wait_for(sub { $c->out($_) =~ /dead\ has\ 2\ dead\ letters,\ \+1$
                                      |"count":2,"change":1,/mx }, 20),
       'tail: one more') or diag($c->out($_), $c->err($_));
}

like($c->out($h),
     qr/Z  message [0-9a-f-]{36} is dead, after 1 receives from que_\w+, in dead$/m,
     'tail: which message');
unlike($c->out($j), qr/"body":"x"/, 'tail: not that which was there before');
like($c->out($j), qr/^\{"event":"deadLetter","queue":"dead","message":\{.*"body":"y"/m,
     'tail: as JSON, with the message');

like($c->ok(qw/tail --once/)->{out}, qr/queue dead has 2 dead letters$/m,
     'tail --once: how many there are');

# a server that is away is waited for

$s->redis->stop;
ok(wait_for(sub { $c->err($h) =~ /unavailable|not available/ }, 30),
   'tail: an outage is said');
$s->redis->cont;
$dead->post('/purge');
ok(wait_for(sub { $c->out($h) =~ /^\S+Z  queue dead has 0 dead letters, -2$/m }, 60),
   'tail: and it goes on');

is($c->end($h, 'INT')->{signal}, 2, 'tail: until Ctrl-C');
$c->end($j, 'TERM');

is($c->run(qw/tail --interval 0/)->{status}, 2, 'no interval: usage');
is($c->run({ env => { QUEUES_KEY => 'x' } }, 'tail')->{status}, 4,
   'tail: without a key it ends');

$p->finish;
done_testing;
