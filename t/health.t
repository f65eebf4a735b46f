#!/usr/bin/perl

# queues_health: what a load balancer is told of a node, while Redis is there,
# silent, away, back, loading.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Process 'slurp';
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(workers => 2,
    http => 'queues_redis_timeout 1s; queues_rate_limit organization=1/m;'
            . ' log_format op "$queues_operation $status $queues_error";'
            . ' access_log %%DIR%%/op.log op;',
    server => 'location = /healthz { queues_health; }'
              . ' location /deep/in/ { queues_health; }'
              . ' location /site/ { return 200 site; }');
my $c = $s->client(key => undef);

sub told {
    my ($path) = @_;
    my $r = $s->client(key => undef)->get($path // '/healthz');

    return "$r->{status} $r->{body}";
}

my $up = '200 {"status":"ok"}';
my $down = '503 {"status":"unavailable"}';

ok((wait_for { told() eq $up } 5), 'a node that serves') or diag(told());
is(told($_), $up, $_) for '/healthz?x=y', '/deep/in/it', '/deep/in/a/b/c';

my $r = $c->get('/healthz');

is($r->{headers}{'content-type'}, 'application/json', 'its type');
is($r->{headers}{'cache-control'}, 'no-store', 'nobody keeps it');

$r = $c->request(HEAD => '/healthz');
is("$r->{status} $r->{body}", '200 ', 'HEAD');

for my $method (qw/POST PUT DELETE/) {
    $r = $c->request($method => '/healthz', '{}');
    is("$r->{status} " . ($r->{headers}{allow} // ''), '405 GET, HEAD', $method);
}

is($c->get('/site/x')->{body}, 'site', 'other locations');

# often, by both workers, whatever the rate limit

is(join(' ', grep { told() ne $up } 1 .. 50), '', 'fifty times');

# nothing is written

my $redis = $s->redis->client;

is(join(' ', @{ $redis->call('KEYS', '*{push}*health*') }), '', 'no key');

# silent

$s->redis->stop;

my $begin = time;

is(told(), $down, 'Redis is silent');
cmp_ok(time - $begin, '<', scaled(3), 'told in time');
$s->redis->cont;
ok((wait_for { told() eq $up } 10), 'and speaks again');

# away, and back

$s->redis->kill;
ok((wait_for { told() eq $down } 5), 'Redis is away');
is($c->get('/healthz')->{headers}{'cache-control'}, 'no-store',
   'nobody keeps that either');
$s->redis->start;
ok((wait_for { told() eq $up } 15), 'and is back');

like(slurp($s->dir . '/op.log'), qr/^Health 200 .*^Health 503 /ms, 'in the log');

$s->finish;

# a location has one of them

for my $wrong ([ 'queues_api; queues_health;', '"queues_api" and "queues_health" are in one location' ],
               [ 'queues_health on;', 'invalid number of arguments in "queues_health"' ])
{
    my $t = NgxQueues::Server->new(start => 0, redis => 0,
        http => 'queues_redis 127.0.0.1:1;',
        locations => "location / { $wrong->[0] }");
    my ($right, $said) = $t->test_configuration;

    ok(!$right && index($said, $wrong->[1]) >= 0, $wrong->[0]) or diag($said);
}

# it asks for no credential, so that there need be none for it

{
    my $t = NgxQueues::Server->new(start => 0, redis => 0, queues => 0,
        http => 'queues_redis 127.0.0.1:1; queues_secret_file %%DIR%%/secret;',
        locations => 'location = /healthz { queues_health; } '
                     . 'location /v1/ { queues_api; queues_auth off; }');
    my ($right, $said) = $t->test_configuration;

    ok($right, 'no keys') or diag($said);
}

done_testing;
