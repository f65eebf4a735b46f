#!/usr/bin/perl

# Queues of the Queen API are configured and deleted: options come back as they
# were written, replace all others, and act; what is refused.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queen;
use NgxQueues::Wait;

my $s = NgxQueues::Queen::server();
my $q = NgxQueues::Queen->new($s);
my $uuid = qr/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/;

sub configure { $q->post('configure', $_[0]) }

# the defaults

my $r = configure('{"queue":"a.b","namespace":null,"task":null,"options":{}}');

is($r->{status}, 200, 'configured');
like($r->{body}, qr/^\{"configured":true,"queueId":"$uuid","partitionId":null,
                    "queue":"a\.b","namespace":"","task":"","options":\{/x,
     'its answer');

my %defaults = (leaseTime => 300, retryLimit => 3, retryDelay => 1000,
                priority => 0, ttl => 3600, maxSize => 0,
                delayedProcessing => 0, windowBuffer => 0,
                retentionEnabled => JSON::PP::false, retentionSeconds => 0,
                completedRetentionSeconds => 0, maxWaitTimeSeconds => 0,
                encryptionEnabled => JSON::PP::false,
                dedupWindowSeconds => 3600, minPopWaitTime => 0,
                deadLetterQueue => JSON::PP::true,
                dlqAfterMaxRetries => JSON::PP::true);

is_deeply($r->{json}{options}, \%defaults, 'the defaults');

my $id = $r->{json}{queueId};

# what is given comes back as it was written, and replaces all that was

my %given = (completedRetentionSeconds => 3600, deadLetterQueue => 'true',
             delayedProcessing => 2, dlqAfterMaxRetries => 'true',
             encryptionEnabled => 'false', leaseTime => 60, maxSize => 10000,
             maxWaitTimeSeconds => 1800, priority => '5.0',
             retentionEnabled => 'true', retentionSeconds => 7200,
             retryDelay => 2e3, retryLimit => 5, ttl => '1e3',
             windowBuffer => 3);

$r = configure('{"queue":"a.b","namespace":"n","task":"t\u00e4","x":1,"options":{'
               . join(',', map { "\"$_\":$given{$_}" } sort keys %given)
               . ',"unknown":{}}}');
is($r->{status}, 200, 'configured again');
is($r->{json}{queueId}, $id, 'the same queue');
is("$r->{json}{namespace} $r->{json}{task}", "n t\x{e4}", 'its labels');

for my $name (sort keys %given) {
    like($r->{body}, qr/[{,]"$name":\Q$given{$name}\E[,}]/, "$name comes back");
}

$r = configure('{"queue":"a.b","leaseTime":7,"retryLimit":null}');
is_deeply($r->{json}{options}, { %defaults, leaseTime => 7 },
          'options beside the name, others have their defaults again');

# names and labels of all kinds

for my $name ('""', '"a/b?c=d#e"', '"\u00e9\ud83d\ude00"', '"q\"\\\\\u0001"') {
    $r = configure("{\"queue\":$name}");
    is($r->{status}, 200, "a queue $name");
    is($r->{json}{queue}, JSON::PP->new->allow_nonref->decode($name), 'its name');
}

# what is refused

for my $c (
    ['', 'The body is not JSON'], ['[]', 'must be a JSON object'],
    ['{}', 'queue is required'], ['{"queue":null}', 'queue is required'],
    ['{"queue":1}', 'queue must be a string'],
    ['{"queue":"q","namespace":1}', 'namespace must be a string'],
    ['{"queue":"q","task":[]}', 'task must be a string'],
    ['{"queue":"' . 'x' x 1025 . '"}', 'longer than 1024 bytes'],
    ['{"queue":"q","queue":"r"}', 'queue is there more than once'],
    ['{"queue":"q","options":{"ttl":1,"ttl":2}}', 'ttl is there more than once'],
    ['{"queue":"q","options":[]}', 'options must be an object'],
    ['{"queue":"q","options":{"leaseTime":"5"}}', 'leaseTime must be an integer'],
    ['{"queue":"q","options":{"leaseTime":-1}}', 'leaseTime must be an integer'],
    ['{"queue":"q","options":{"retryLimit":1.5}}', 'retryLimit must be an integer'],
    ['{"queue":"q","options":{"leaseTime":31536001}}', 'from 0 to 31536000'],
    ['{"queue":"q","options":{"ttl":"1"}}', 'ttl must be a number'],
    ['{"queue":"q","options":{"encryptionEnabled":1}}', 'must be a boolean'],
) {
    $r = configure($c->[0]);
    is($r->{status}, 400, "refused: $c->[1]");
    like($r->{json}{error}, qr/\Q$c->[1]\E/, 'and says so');
}

is($q->get('configure')->{status}, 405, 'it is a POST');

# they act: on pops from then on

$q->configure('lease', leaseTime => 1);
$q->push('lease', 1, 2);
is(NgxQueues::Queen::data($q->messages('lease')), '1', 'leased');
ok(wait_for { $q->pop('lease', batch => 9)->{status} == 200 },
   'for a second only');

$q->configure('delay', delayedProcessing => 3600);
$q->push('delay', 1);
is($q->pop('delay')->{status}, 204, 'held back');

my $h = $q->park('delay', timeout => 30000);

$q->configure('delay', delayedProcessing => 1);
($r) = $q->client->wait_all([$h], 20);
is($r->{status}, 200, 'a shorter delay wakes who waits');

$q->configure('limit', retryLimit => 0);
$q->push('limit', 1);
is(NgxQueues::Queen::words($q->ack([$q->messages('limit')], 'failed')),
   'ok+dlq+released', 'no retries');

$q->configure('drop', retryLimit => 0, deadLetterQueue => JSON::PP::false,
              dlqAfterMaxRetries => JSON::PP::false);
$q->push('drop', 1);
is(NgxQueues::Queen::words($q->ack([$q->messages('drop')], 'failed')),
   'ok+released', 'no dead letters');

$q->configure('keep', dedupWindowSeconds => 0);

my @pushed = map { $q->push('keep', { transactionId => 't', payload => $_ }) }
    1, 2;

is("@{[map { $_->{status} } @pushed]}", 'queued queued', 'no duplicates');

# deleted: with all that it has

$r = $q->delete('resources/queues/limit');
is("$r->{status} $r->{body}", '200 {"deleted":true,"queue":"limit",'
   . '"existed":true}', 'deleted');
$r = $q->delete('resources/queues/limit');
is("$r->{status} $r->{body}", '200 {"deleted":false,"queue":"limit",'
   . '"existed":false}', 'deleted before');
is($q->pop('limit')->{status}, 204, 'nothing is there');

$q->push('limit', 2);
is(NgxQueues::Queen::data($q->messages('limit')), '2', 'a new one');

$r = $q->delete('resources/queues/a%2Fb%3Fc%3Dd%23e');
is($r->{json}{queue}, 'a/b?c=d#e', 'a name with everything');
ok($r->{json}{existed}, 'it was there');

done_testing();
