#!/usr/bin/perl

# The walkthrough of "Using Queen over HTTP", its curl lines as they are, with
# another address.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use NgxQueues::Queen;

my $s = NgxQueues::Queen::server();
my $uuid = qr/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/;

# runs the next line of the walkthrough, with ids in it replaced

sub run {
    my (%ids) = @_;

    my $line = <DATA>;

    chomp $line;
    $line =~ s{http://localhost:6632}{$s->url}e or die $line;
    $line =~ s/<$_>/$ids{$_}/g for keys %ids;

    my $text = `$line`;

    is($?, 0, $line =~ s/ -d .*//r);

    return $text;
}

sub json { JSON::PP::decode_json($_[0]) }

is(run(), '{"status":"healthy","database":"connected"}', 'health');

my $text = run();

like($text, qr/^\[\{"index":0,"message_id":"$uuid","transaction_id":"evt-1",
               "queueName":"demo","status":"queued"\},\{"index":1,"message_id":
               "$uuid","transaction_id":"evt-2","queueName":"demo","status":
               "queued"\}\]$/x, 'two are queued');

my ($first, $second) = map { $_->{message_id} } @{ json($text) };

is(run(), qq([{"index":0,"message_id":"$first","transaction_id":"evt-1",)
          . '"queueName":"demo","status":"duplicate"}]', 'a duplicate');

$text = run();

my $pop = json($text);
my ($lease, $partition) = @$pop{qw/leaseId partitionId/};
my $at = $pop->{messages}[0]{createdAt};

sub message {
    my ($id, $n, $group) = @_;

    return qq({"id":"$id","transactionId":"evt-$n","traceId":null,"data":)
           . qq({"n":$n},"producerSub":null,"createdAt":"$at","partitionId":)
           . qq("$partition","partition":"acct-42","leaseId":"$lease",)
           . qq("consumerGroup":"$group"});
}

sub answer {
    my ($group) = @_;

    return qq({"success":true,"queue":"demo","partition":"acct-42",)
           . qq("partitionId":"$partition","leaseId":"$lease","consumerGroup":)
           . qq("$group","messages":[) . message($first, 1, $group) . ','
           . message($second, 2, $group) . '],"partitionsClaimed":1}';
}

is($text, answer('billing'), 'a pop, byte by byte');
like("$lease $partition", qr/^$uuid $uuid$/, 'ids');
like($at, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'a time');

is(run(leaseId => $lease, partitionId => $partition),
   '[' . join(',', map { qq({"index":$_->[0],"transactionId":"$_->[1]",)
                         . '"success":true,"error":null,"leaseReleased":true,'
                         . '"dlq":false,"noop":false}' }
                  [0, 'evt-1'], [1, 'evt-2']) . ']', 'acks');

$text = run();

like($text, qr{^HTTP/1.1 204 No Content\r\n(?:[\w-]+: [^\r\n]+\r\n)+\r\n$},
     'nothing more, without a body');
unlike($text, qr/Content-|Transfer-/i, 'and nothing that tells of one');

$text = run();
$lease = json($text)->{leaseId};
is($text, answer('analytics'), 'another group');

$s->finish;

done_testing;

__DATA__
curl -s http://localhost:6632/health
curl -s -X POST http://localhost:6632/api/v1/push -H 'Content-Type: application/json' -d '{"items":[{"queue":"demo","partition":"acct-42","transactionId":"evt-1","payload":{"n":1}},{"queue":"demo","partition":"acct-42","transactionId":"evt-2","payload":{"n":2}}]}'
curl -s -X POST http://localhost:6632/api/v1/push -H 'Content-Type: application/json' -d '{"items":[{"queue":"demo","partition":"acct-42","transactionId":"evt-1","payload":{"n":1}}]}'
curl -s 'http://localhost:6632/api/v1/pop/queue/demo?consumerGroup=billing&batch=10&wait=true&timeout=5000'
curl -s -X POST http://localhost:6632/api/v1/ack/batch -H 'Content-Type: application/json' -d '{"consumerGroup":"billing","acknowledgments":[{"transactionId":"evt-1","partitionId":"<partitionId>","leaseId":"<leaseId>","status":"completed"},{"transactionId":"evt-2","partitionId":"<partitionId>","leaseId":"<leaseId>","status":"completed"}]}'
curl -si 'http://localhost:6632/api/v1/pop/queue/demo?consumerGroup=billing&batch=10'
curl -s 'http://localhost:6632/api/v1/pop/queue/demo?consumerGroup=analytics&batch=10'
