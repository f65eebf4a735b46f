#!/usr/bin/perl

# queuectl logs: queues of the Queen API, their options, groups, dead letters
# and switches, as people and scripts have them.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use JSON::PP ();
use Test::More;

use NgxQueues::CheckLog;
use NgxQueues::Cli;
use NgxQueues::Queen;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(
    locations => 'location / { queues_api; }'
                 . 'location /api/v1/ { queues_queen_api o/p; }',
    keys => [sha256_hex('qk_reader') . ' reader queen.read.queues *',
             sha256_hex('qk_work') . ' work queen.read.* o/p/work'],
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

# groups: how far behind, also of one queue and beside it

$q->push('work', map +{ partition => "p$_", payload => $_ }, 1, 1, 2);
is(logs(qw/groups/)->{err}, "queuectl: no groups\n", 'no groups');
$q->messages('work', consumerGroup => "g$_") for 1 .. 103;
$q->messages('other', consumerGroup => 'g1');
$q->messages('work', consumerGroup => 'g1', partition => 'p2', autoAck => 1);

is(@{ logs(qw/groups --json/)->{json} }, 104, 'all pages');
$r = logs(qw/groups work/);
is(@{ $r->{lines} }, 104, 'a table');
like($r->{out}, qr/^GROUP .*^g1 +work +2 +1 +2 +\d+s +Stable$/ms, 'a group');
like(logs(qw/get work/)->{out}, qr/^PARTITION.*^p2.*\n\nGROUP .*^g1 +work /ms,
     'beside a queue');
is(logs(qw/groups --names/)->{out}, join('', map { "$_\n" } sort map { "g$_" } 1 .. 103),
   'each name once');
is(@{ logs(qw/groups work --names --limit/, $_)->{lines} }, $_, "$_ of them") for 1, 102;
is(@{ logs(qw/groups work --json --limit 101/)->{json} }, 101, 'of the others as well');
is(logs(qw/get work --names/)->{out}, "p1\np2\n", 'names of partitions');
is(logs(qw/get work --names --partitions 1/)->{out}, "p1\n", 'one of them');
$r = logs(qw/group g1/);
like($r->{out}, qr/^work +p2 +1 +0 +\d+s +- +20\S+Z$/m, 'by partition');
is(logs(qw/group g1 --json/)->{json}[0]{work}{partitions}[1]{totalConsumed}, 1,
   'JSON');
is($c->run(qw/logs group none/)->{status}, 3, 'no such group: 3');
$r = $c->run(qw/logs group lagging/);
is($r->{status}, 1, 'a name that the API has for a call');
unlike($r->{err}, qr/not found/, 'it is not said that there is none');

# they go on elsewhere

$NgxQueues::CheckLog::moved = 1;         # while they have leases

sub popped {
    return join ' ', sort map { $_->{data} }
        $q->messages('work', consumerGroup => 'g1', batch => 9, partitions => 9,
                     autoAck => 1, @_);
}

logs(qw/seek g1 work --to end/);
is(popped(), '', 'the end');
logs(qw/seek g1 work --to beginning/);
is(popped(), '1 1 2', 'the beginning');
logs(qw/seek g1 work --to 1h --partition p2/);
is(popped(), '2', 'an hour ago, in a partition');
$r = logs(qw/seek g1 work --to 2020-08-01T12:00:00Z --json/);
is($r->{json}[0]{partitionsUpdated}, 2, 'a time, and JSON');
is(popped(), '1 1 2', 'goes on there');

for my $bad (['--to then', 2], ['', 2], ['--to end --partition none', 3]) {
    is($c->run(qw/logs seek g1 work/, split / /, $bad->[0])->{status}, $bad->[1],
       "seek $bad->[0]: $bad->[1]");
}

is($c->run(qw/logs seek g1 nowhere --to end/)->{status}, 3, 'no such queue: 3');
is($c->run(qw/logs delete-group g1/)->{status}, 2, 'nobody to ask');
logs(qw/delete-group g1 work --yes/);
is(popped(), '1 1 2', 'a group is forgotten');
logs(qw/delete-group g1 --yes/);
is($c->run(qw/logs group g1/)->{status}, 3, 'on all queues');

# messages, without a pop

$r = logs(qw/messages work --limit 2/);
is(() = $r->{out} =~ /^Message /mg, 2, 'messages');
like($r->{out}, qr/^Status +\w+$/m, 'with what is said of them');
is(logs(qw/messages work --partition p1 --raw/)->{out}, "1\n1\n", 'of a partition');
is(@{ logs(qw/messages work --from 1h --json/)->{json} }, 3, 'from a time on');
is(logs(qw/messages work --from 2100-01-01T00:00:00Z/)->{err},
   "queuectl: no messages\n", 'none');

# dead letters are shown, pushed again, and deleted

sub bury {
    my ($queue, @items) = @_;

    $q->push($queue, @items);

    while (my @m = $q->messages($queue, consumerGroup => 'g', partitions => 9,
                                batch => 3))
    {
        my %first = map { $_->{partitionId} => $_ } reverse @m;

        $q->ack([values %first], 'dlq', error => "why\e[1m");
    }
}

sub dead { $q->get('dlq', queue => $_[0])->{json}{total} }

bury('jobs', map +{ payload => $_, transactionId => "a/$_: " }, 1 .. 3);
$r = logs(qw/dead jobs/);
like($r->{out}, qr/^Group +g\nFailed +20\S+Z\nError +why\\u001b\[1m\nRetries +0\nLetter +\S+:a%2F3%3A%20\nPayload +3$/m,
     'a dead letter');
is(logs(qw/dead jobs --limit 2/)->{err}, "queuectl: 2 of 3 are shown: --limit N\n",
   'some of them');
is(logs(qw/dead jobs --group other/)->{err}, "queuectl: no dead letters\n",
   'of no other group');

my @letters = $r->{out} =~ /^Letter +(\S+)$/mg;

is(logs('retry', 'jobs', @letters[0, 1])->{out},
   join('', map { "pushed again $_\n" } @letters[0, 1]), 'pushed again');
is(join(' ', sort map { $_->{data} } $q->messages('jobs', consumerGroup => 'g',
                                                  batch => 9)), '2 3', 'both');
is(dead('jobs'), 1, 'one stays');
$r = $c->run(qw/logs retry jobs/, @letters);
is("$r->{status}|$r->{out}", "3|pushed again $letters[2]\n",
   'those that are there; not found: 3');
is(dead('jobs'), 0, 'none stays');

bury('lots', map +{ payload => $_, partition => "p" . $_ % 3 }, 1 .. 250);
is(dead('lots'), 250, 'many');
is(logs(qw/dead lots --limit 130 --json/)->{json}[129]{queue}, 'lots', 'pages of them');
is(logs(qw/retry lots --all/)->{err}, "queuectl: 250 messages pushed again\n", 'all');
is(dead('lots'), 0, 'none is dead');
is(join(' ', sort { $a <=> $b } map { $_->{data} }
        $q->messages('lots', consumerGroup => 'g', batch => 1000, partitions => 9)),
   join(' ', 1 .. 250), 'all are there again');
is(logs(qw/retry lots --all/)->{err}, "queuectl: 0 messages pushed again\n", 'none');

# some are gone by the time that it comes to them

my $slow = NgxQueues::Server->new(
    node_of => $s, http => 'limit_req_zone "x" zone=slow:32k rate=40r/s;',
    locations => 'location /api/v1/ { queues_queen_api o/p; }'
                 . 'location ~ /retry$ { limit_req zone=slow burst=999; queues_queen_api o/p; }');

bury('race', map +{ payload => $_ }, 1 .. 120);

my @page = map { "messages/$_->{partitionId}/$_->{transactionId}" }
    @{ $q->get('dlq', queue => 'race', limit => 100)->{json}{messages} };
my $run = $c->start({ env => { QUEUES_URL => $slow->url } }, qw/logs retry race --all/);

ok(wait_for { dead('race') < 120 }, 'it has begun');
my $deleted = grep { $q->delete($_)->{status} == 200 } @page[50 .. 99];
$r = $c->end($run);
is("$r->{status} $r->{err}", '0 queuectl: ' . (120 - $deleted) . " messages pushed again\n",
   "of those that were there, $deleted were not any more");
cmp_ok($deleted, '>', 20, 'which are more than the rest of the list');
is(dead('race'), 0, 'no other one was passed over');
$slow->finish;

bury('bad', 1 .. 4);
($r) = logs(qw/dead bad/)->{out} =~ /^Letter +(\S+)$/m;
is($c->run(qw/logs purge-dead bad/)->{status}, 2, 'nobody to ask');
logs(qw/purge-dead bad --yes/, $r);
is(dead('bad'), 3, 'one is deleted');
logs(qw/purge-dead bad --yes --group other/);
is(dead('bad'), 3, 'those of no other group');
is(logs(qw/purge-dead bad --yes/)->{err}, "queuectl: 3 dead letters deleted\n", 'all');

for my $words ('retry q', 'retry q x:y --all', 'retry q x', 'retry q a:b:c',
               'purge-dead q x:y --group g --yes', 'messages q --json --raw',
               'messages q --from then')
{
    is($c->run('logs', split / /, $words)->{status}, 2, "$words: usage");
}

# maintenance

like(logs('maintenance')->{out}, qr/^Push maintenance +off\nPop maintenance +off$/m,
     'switches');
like(logs(qw/maintenance pop on push on/)->{out},
     qr/^Push maintenance +on\nPop maintenance +on$/m, 'are turned');
is($q->pop('jobs', consumerGroup => 'new')->{status}, 204, 'and act');
ok(!logs(qw/maintenance pop off --json/)->{json}[0]{popMaintenanceMode}, 'JSON');
is($q->pop('jobs', consumerGroup => 'new')->{status}, 200, 'off again');

for my $words ('pop', 'pop maybe', 'all on', 'pop on push') {
    is($c->run(qw/logs maintenance/, split / /, $words)->{status}, 2,
       "$words: usage");
}

# keys, and what they may not

is($c->run({ env => { QUEUES_KEY => 'qk_no' } }, qw/logs list/)->{status}, 4,
   'an unknown key: 4');
$r = $c->run({ env => { QUEUES_KEY => undef } }, qw/logs list/);
is($r->{status}, 4, 'none: 4');
like($r->{err}, qr/Authentication required \(401\).*Give a key/s, 'and what to do');
my %reader = (env => { QUEUES_KEY => 'qk_reader' });

$r = $c->ok(\%reader, qw/logs get work/);
like($r->{out}, qr/^PARTITION /m, 'a key that may read queues');
is($r->{err}, "queuectl: the key may not read groups\n", 'and no groups');
$r = $c->run(\%reader, qw/logs groups work/);
is($r->{status}, 4, 'not permitted: 4');
like($r->{err}, qr/Insufficient permissions \(403\)\n.*The key is from QUEUES_KEY/,
     'in words');

my %work = (env => { QUEUES_KEY => 'qk_work' });

is(@{ $c->ok(\%work, qw/logs groups work/)->{lines} }, @{ logs(qw/groups work/)->{lines} },
   'a key of one queue: its groups are asked for alone');
is($c->run(\%work, qw/logs groups/)->{status}, 4, 'and not those of all');
is($c->run({ env => { QUEUES_URL => $s->url . '/nowhere' } }, qw/logs list/)->{status},
   3, 'no such location: 3');

# a server that is overloaded, or has no store

my $busy = NgxQueues::Server->new(node_of => $s, locations => join ' ', map {
    "location /$_/ { return $_ '{\"error\":\"slow\",\"code\":\"x\"}'; }"
} 429, 503);

for my $status (429, 503) {
    my $env = { QUEUES_URL => $busy->url . "/$status" };

    $r = $c->run({ env => $env }, qw/logs list --retries 1/);
    is($r->{status}, 5, "$status: 5");
    like($r->{err}, qr/\($status\); trying again in 1 s\n.*slow \($status\)/,
         'after another try, with what the server says');
}

$busy->finish;

is($c->run({ env => { QUEUES_PROJECT => undef } }, qw/logs list/)->{status}, 0,
   'the location has the project');

$s->finish;
done_testing;
