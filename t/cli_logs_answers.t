#!/usr/bin/perl

# queuectl logs where the server answers with what it should not: it says so, or
# shows what is there, and ends.

use strict;
use warnings;

use Test::More;

use NgxQueues::Cli;
use NgxQueues::Server;

my @answers = (
    '', 'no JSON', '[[],1,null,{}]',
    '{"messages":[{}],"queues":[{}],"options":[],"totals":1,"partitions":[1],'
        . '"total":-1,"existed":1,"deleted":"x","maintenanceMode":null}',
    '{"messages":[{"data":1,"partitionId":1,"transactionId":null,"leaseId":"",'
        . '"consumerGroup":"g","failedAt":"x"}],"queues":{},"next":1,"total":9}',
    '{"messages":{},"options":{"leaseTime":"\ud800","retentionEnabled":[]},'
        . '"partitions":{},"next":{},"q":{"partitions":3}}',
);

my $s = NgxQueues::Server->new(redis => 0, queues => 0, locations => join "\n",
    map { "location /$_/ { return 200 '$answers[$_]'; }" } 0 .. $#answers);
my $c = NgxQueues::Cli->new;

my @commands = (
    'configure q --retention 1h', 'list', 'list --names', 'get q',
    'delete q --yes', 'push q 1', 'push q --lines', 'pop q', 'pop q --ack --raw',
    'ack a:b:c:d', 'extend a:b:c:d', 'groups', 'groups q', 'group g', 'seek g q --to end',
    'delete-group g --yes', 'messages q', 'dead q', 'retry q --all',
    'retry q a:b', 'purge-dead q --yes', 'maintenance', 'maintenance pop on',
);

for my $command (@commands) {
    my @bad;

    my @runs = map { $c->start({ stdin => "1\n", env => {
        QUEUES_URL => $s->url . "/$_" } }, 'logs', split(/ /, $command),
        $_ % 2 || $command =~ /--raw/ ? () : '--json') } 0 .. $#answers;

    for my $i (0 .. $#answers) {
        my $r = $c->end($runs[$i]);

        push @bad, "$answers[$i]: $r->{status} $r->{signal}"
            if $r->{signal} || $r->{status} > 3
               || $answers[$i] eq 'no JSON' && $r->{status} != 1
               || $r->{status} && "$r->{err}$r->{out}" eq '';
    }

    is("@bad", '', $command);
}

my $r = $c->run({ env => { QUEUES_URL => $s->url . '/1' } }, qw/logs list/);

like($r->{err}, qr/answers 200, and not as the API does/, 'no JSON: in words');

$s->finish;
done_testing;
