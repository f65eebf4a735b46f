#!/usr/bin/perl

# queuectl logs: queues of the Queen API, their options, groups, dead letters
# and switches, as people and scripts have them.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use NgxQueues::Cli;
use NgxQueues::Queen;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(
    locations => 'location / { queues_api; }'
                 . 'location /api/v1/ { queues_queen_api o/p; }',
);
my $c = NgxQueues::Cli->new(server => $s);
my $q = NgxQueues::Queen->new($s);

sub logs { $c->ok('logs', @_) }

sub options { $q->get("resources/queues/$_[0]")->{json}{options} }

# a queue is made, with its defaults; then one thing is changed at a time

my $r = logs(qw/configure orders/);

like($r->{out}, qr/^Name +orders$/m, 'made');
like($r->{out}, qr/^Lease time +5m\nDelayed processing +0s$/m, 'with defaults');

my %before = %{ options('orders') };

$q->post('configure', '{"queue":"orders","namespace":"n","task":"t","options":'
         . '{"ttl":1e3,"retryLimit":7,"maxSize":12}}');
$r = logs(qw/configure orders --lease-time 90s --json/);
like($r->{out}, qr/"ttl":1e3[,}]/, 'options that are not named stay');
is_deeply(options('orders'), { %before, ttl => 1000, retryLimit => 7,
                               maxSize => 12, leaseTime => 90 },
          'all of them');
is("$r->{json}[0]{namespace} $r->{json}[0]{task}", 'n t', 'labels, too');

$r = logs(qw/configure orders --task other --dead-letters off --encryption on
             --retry-limit 0 --delayed-processing 1m --window-buffer 2
             --dedup-window 2h --max-wait-time 3d/);
is_deeply(options('orders'), {
    %before, ttl => 1000, maxSize => 12, leaseTime => 90, retryLimit => 0,
    delayedProcessing => 60, windowBuffer => 2, dedupWindowSeconds => 7200,
    maxWaitTimeSeconds => 259200, encryptionEnabled => JSON::PP::true,
    deadLetterQueue => JSON::PP::false, dlqAfterMaxRetries => JSON::PP::false,
}, 'all flags');
like($r->{out}, qr/^Namespace +n\nTask +other$/m, 'one label');
like($r->{out}, qr/^Dead letters +off\nEncryption +on$/m, 'switches');

logs(qw/configure orders --replace --lease-time 10/);
is_deeply(options('orders'), { %before, leaseTime => 10 }, '--replace');

# retention: one that was off does not begin to count with the other

$q->configure('kept', retentionSeconds => 5);
logs(qw/configure kept --completed-retention 1h/);
is_deeply([@{ options('kept') }{qw/retentionEnabled retentionSeconds
                                   completedRetentionSeconds/}],
          [JSON::PP::true, 0, 3600], 'retention of what is consumed');
logs(qw/configure kept --retention 2d/);
$r = logs(qw/get kept/);
like($r->{out}, qr/^Retention +2d\nCompleted retention +1h$/m, 'and of all');
logs(qw/configure kept --lease-time 5/);
is(options('kept')->{retentionSeconds}, 172800, 'it stays');

# what is refused

is($c->run(qw/logs configure orders --dead-letters maybe/)->{status}, 2,
   'neither on nor off: usage');
$r = $c->run(qw/logs configure orders --lease-time 500d/);
is($r->{status}, 1, 'refused by the server: 1');
like($r->{err}, qr/leaseTime must be an integer from 0 to 31536000 \(400\)/,
     'with its words');
is($c->run('logs', 'configure', "a\xff")->{status}, 1, 'no UTF-8');
is($c->run('logs', 'configure', 'x', '--task', "a\xff")->{status}, 2,
   'a label of none: usage');

# names of all kinds, and lists of them, over more than a page

my $odd = "a/b?c=d#e %41 \"\\ \x{e9}\x{1f600}";

utf8::encode(my $bytes = $odd);
logs('configure', $bytes);
is($q->get('resources/queues/' . NgxQueues::Api::escape($bytes))->{status}, 200,
   'a name of all kinds');
like(logs('get', $bytes)->{out}, qr/^Name +a\/b\?c=d#e %41 "\\ \xc3\xa9.*$/m,
     'is shown');
is($c->ok('logs', 'delete', $bytes, '--yes')->{err},
   "queuectl: a/b?c=d#e %41 \"\\ \xc3\xa9\xf0\x9f\x98\x80 is deleted\n",
   'and deleted');

$q->push('many.' . ($_ % 2 ? 'odd' : 'even') . ".$_", $_) for 1 .. 105;
is(@{ logs(qw/list --names/)->{lines} }, 107, 'all pages');
is(@{ logs(qw/list --names --namespace many --task odd/)->{lines} }, 53,
   'by labels');
is(logs(qw/list --namespace none/)->{err}, "queuectl: no queues\n", 'none');
$r = logs(qw/list --namespace many/);
like($r->{out}, qr/^NAME +NAMESPACE +TASK +PARTITIONS +MESSAGES +PENDING +DEAD/,
     'a table');
like($r->{out}, qr/^many\.even\.10 +many +even +1 +1 +1 +0 +20/m, 'a queue');
$r = logs(qw/list --json/);
is(@{ $r->{json} }, 107, 'JSON: an object a line');
is($r->{json}[0]{name}, 'kept', 'each a queue');

# one, with its partitions

$q->push('orders', { partition => "p$_", payload => $_ }, $_) for 1 .. 3;
$r = logs(qw/get orders/);
like($r->{out}, qr/^Partitions +4\nMessages +6\nPending +6\nDead +0$/m, 'its totals');
like($r->{out}, qr/^PARTITION .*^Default +3 +3 +20\S+Z +20\S+Z +-$/ms,
     'its partitions');
$r = logs(qw/get orders --partitions 2/);
like($r->{err}, qr/2 of 4 partitions are shown/, 'some of them');
is(logs(qw/get orders --json/)->{json}[0]{totals}{total}, 6, 'JSON');

# deletion asks, and says of what is not there

is($c->run(qw/logs delete orders/)->{status}, 2, 'nobody to ask: usage');
is($q->get('resources/queues/orders')->{status}, 200, 'it is there');
logs(qw/delete orders --yes/);
is($q->get('resources/queues/orders')->{status}, 404, 'it is not');

for my $command ('get', 'delete --yes') {
    $r = $c->run('logs', split(/ /, $command), 'orders');
    is($r->{status}, 3, "$command: not found");
    like($r->{err}, qr/Queue not found/, 'in words');
}

# keys, and what they may not

is($c->run({ env => { QUEUES_KEY => 'qk_no' } }, qw/logs list/)->{status}, 4,
   'an unknown key: 4');
$r = $c->run({ env => { QUEUES_KEY => undef } }, qw/logs list/);
is($r->{status}, 4, 'none: 4');
like($r->{err}, qr/Authentication required \(401\).*Give a key/s, 'and what to do');
is($c->run({ env => { QUEUES_PROJECT => undef } }, qw/logs list/)->{status}, 0,
   'the location has the project');

$s->finish;
done_testing;
