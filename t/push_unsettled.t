#!/usr/bin/perl

# Deliveries that cannot be settled keep their slots: others wait for these, and
# go on when they are settled at last.

use strict;
use warnings;

use Test::More;

use NgxQueues::Push;
use NgxQueues::Wait;

my $p = NgxQueues::Push->new(push => 'queues_push_max_deliveries 1;');
my $redis = $p->server->redis->client;
my ($stuck, $next) = map { $p->subscribe } 1 .. 2;

# where its queue has what is in flight there is something else for some time

my $q = $stuck->queue;
my $key = $q->key =~ s/:h:/:b:/r . ':' . $q->generation;

$stuck->on({ hold => 'until it cannot be settled' });
$stuck->send('w', 'x');
$stuck->wait(1);
$redis->call('RENAME', $key, "$key:saved");
$redis->call('SET', $key, 'in the way');
$stuck->endpoint->release('until it cannot be settled', always => 1);

ok(wait_for(sub { $p->server->error_log =~ /WRONGTYPE.*push_settle/ }, 5),
   'it is answered, and cannot be settled');

$next->send('y');
ok($next->quiet(1), 'it has the only slot');

$redis->call('RENAME', "$key:saved", $key);

ok($stuck->done(10), 'it is settled');
ok($next->done(5), 'and the next one delivers');
is(scalar @{ [$stuck->requests] }, 1, 'nothing came twice');

$p->finish(allow => [qr/WRONGTYPE/]);

done_testing;
