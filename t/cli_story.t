#!/usr/bin/perl

# A new user, who has queuectl and a key and nothing else: a queue, an endpoint
# that fails and recovers while he watches, dead letters that go back.

use strict;
use warnings;

use Test::More;

use NgxQueues::Cli;
use NgxQueues::Push;
use NgxQueues::Wait;

my $p = NgxQueues::Push->new;
my $s = $p->server;
my $endpoint = $p->endpoint;
my $c = NgxQueues::Cli->new(server => $s, env => {
    map { $_ => undef } qw/QUEUES_URL QUEUES_KEY QUEUES_PROJECT/
});

# where, what, who

$c->ok(qw/config set endpoint/, $s->url);
$c->ok(qw{config set project o/p});
$c->ok({ stdin => $s->key . "\n" }, qw/config set key/);

# a queue whose messages are tried twice, a second apart

$c->ok(qw/queues create failed/);
$c->ok(qw/queues create orders --visibility-timeout 1s --dead-letter-queue failed
          --max-receive-count 2/);
like($c->ok(qw/queues list --counts/)->{out}, qr/^failed\b.*^orders\b/ms,
     'the queues are there');

# an endpoint that does not work yet

$endpoint->on('/orders', { status => 500 });

my $r = $c->ok(qw/subscriptions create orders --url/,
               'https://hooks.example.com:' . $endpoint->port . '/orders');
my ($id) = $r->{out} =~ /(qsb_\w{12})/;
my ($secret) = $r->{out} =~ /(whsec_\w+)/;

ok(defined $id && defined $secret, 'subscribed, and the secret is shown');

my $tail = $c->start(qw/tail --interval 1s/);
my @bodies = map { qq({"orderId": $_}) } 1 .. 3;

$c->ok('send', 'orders', $_) for @bodies;

# it is seen to fail

ok(wait_for(sub { $c->out($tail) =~ /\Q$id\E.* is failing: .*500/ }, 20),
   'tail says so') or diag($c->out($tail));
ok(wait_for(sub {
    $c->ok(qw/subscriptions get/, $id)->{out} =~ /^Last error .*answered 500/m
}, 20), 'and the subscription');
ok(wait_for(sub {
    $c->ok(qw/queues get failed --json/)->{json}[0]{counts}{visible} == 3
}, 20), 'the messages are dead letters');
ok(wait_for(sub { $c->out($tail) =~ /\bfailed\b.*3/ }, 20), 'which tail tells')
    or diag($c->out($tail));

is(join("\n", sort $c->ok(qw/peek failed/)->{out} =~ /^Body +(.*)$/mg), join("\n", @bodies),
   'they are looked at');

# it is mended, and they go back

$endpoint->forget;
$endpoint->on('/orders', {});
like($c->ok(qw/queues redrive failed/)->{err}, qr/\b3\b/, 'redriven');

my @got = map { $_->{body} } $endpoint->wait_messages(3, path => '/orders');

is(join("\n", sort @got), join("\n", @bodies), 'delivered, byte for byte');

# and is seen to recover

ok(wait_for(sub {
    my $counts = $c->ok(qw/queues get orders --json/)->{json}[0]{counts};

    return !grep { $counts->{$_} } qw/visible inFlight delayed/;
}, 20), 'nothing is left');
like($c->ok(qw/subscriptions list/)->{out}, qr/^$id .*\bactive +healthy\b/m,
     'the subscription is healthy');
ok(wait_for(sub { $c->out($tail) =~ /\Q$id\E.* has recovered/ }, 20),
   'and tail told of that') or diag($c->out($tail));

is($c->end($tail, 'INT')->{status}, 0, 'tail ends');

$p->finish;

done_testing;
