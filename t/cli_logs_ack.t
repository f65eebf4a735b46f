#!/usr/bin/perl

# queuectl logs pop --ack and ack of much: in calls that the server takes, and
# nothing is said to be acknowledged that is not.

use strict;
use warnings;

use Test::More;

use NgxQueues::Cli;
use NgxQueues::Queen;
use NgxQueues::Server;

my $one = '{"transactionId":"t","partitionId":"p","leaseId":"l","consumerGroup":"g",'
          . '"data":1}';
my $message = "{\"messages\":[$one]}";
my $many = join ',', ($one) x 10;
my $late = join ',', ('{"success":true}') x 2, ('{"success":false,"error":"late"}') x 7,
                     '{"success":false,"error":"no"}';
my $s = NgxQueues::Server->new(locations => <<"END");
location / { queues_api; }
location /api/v1/ { queues_queen_api o/p; }
location /small/ {
    client_max_body_size 16k;
    proxy_set_header Authorization \$http_authorization;
    rewrite ^/small(/.*) \$1 break;
    proxy_pass http://\$server_addr:\$server_port;
}
location /late/api/v1/pop/ { return 200 '{"messages":[$many]}'; }
location /late/api/v1/ack/ { return 200 '[$late]'; }
location /none/api/v1/pop/ { return 200 '$message'; }
location /none/ { return 403 '{"error":"no"}'; }
END
my $c = NgxQueues::Cli->new(server => $s);
my $q = NgxQueues::Queen->new($s);

sub left {
    my ($queue, $group) = @_;
    my @m = $q->messages($queue, consumerGroup => $group, batch => 10);

    return scalar @m;
}

# ids as long as they may be: more than nginx takes by itself

my $lines = join '', map { sprintf qq({"payload":%d,"transactionId":"%s"}\n), $_,
                                   'x' x 1000 . $_ } 1001 .. 2000;
my $numbers = join '', map { "$_\n" } 1001 .. 2000;

$c->ok({ stdin => $lines }, qw/logs push long --jsonl/);

my $r = $c->ok(qw/logs pop long --all --ack --raw --group a/);

is($r->{out}, $numbers, 'all are printed');
is($r->{err}, "queuectl: 1000 messages popped and acknowledged\n", 'and acknowledged');
is(left('long', 'a'), 0, 'none comes again');

$r = $c->ok(qw/logs pop long --batch 1000 --json --group b/);
$r = $c->ok({ stdin => $r->{out} }, qw/logs ack -/);
is(scalar(grep { /^ok +x{1000}\d{4}$/ } @{ $r->{lines} }), 1000, 'by their handles');
is(left('long', 'b'), 0, 'none comes again');

# a server that takes less

my $small = { QUEUES_URL => $s->url . '/small' };

$r = $c->ok({ env => $small }, qw/logs pop long --all --ack --raw --group c/);
is($r->{out}, $numbers, 'of a server that takes less');
is(left('long', 'c'), 0, 'none comes again');

# what is not acknowledged

$r = $c->run({ env => { QUEUES_URL => $s->url . '/none' } },
             qw/logs pop q --all --ack --raw/);
is("$r->{status} $r->{out}", "4 1\n", 'the server takes no acknowledgement');
unlike($r->{err}, qr/popped and acknowledged/, 'it is not said to');
like($r->{err}, qr/not all is acknowledged: it comes again/, 'but that it comes again');

$r = $c->run({ env => { QUEUES_URL => $s->url . '/late' } }, qw/logs pop q --all --ack --raw/);
is($r->{status}, 1, 'messages are not acknowledged');
is($r->{err}, "queuectl: 7 messages may come again: late\n"
            . "queuectl: 1 message may come again: no\n",
   'not a line for each');

# handles that cannot be read

for my $ack ('logs ack -', 'subs ack s -', 'ack -') {
    $r = $c->run({ command => [ 'bash', '-c', 'exec "$0" "$@" </', $c->binary, split / /, $ack ] });
    is($r->{status}, 1, "$ack: stdin cannot be read");
    is($r->{err}, "queuectl: cannot read: Is a directory\n", 'and that is all');
}

$s->finish;
done_testing;
