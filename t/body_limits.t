#!/usr/bin/perl

# How large a body may be that is no message, and what of it stays in memory
# while a receive waits.

use strict;
use warnings;

use Test::More;

use NgxQueues::Client;
use NgxQueues::Process qw/slurp temp_dir/;
use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $log = temp_dir() . '/bodies.log';
my $s = NgxQueues::Server->new(http2 => 1,
    http => "log_format body '\$status \$request_length \"\$request_body\"';",
    server => "access_log $log body; access_log %%DIR%%/access.log;"
              . 'client_body_buffer_size 1m; client_max_body_size 2m;');
my $c = $s->client;
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);
my $queues = $q->{queues};

# a JSON text of that length

sub padded { $_[0] . ' ' x ($_[1] - length $_[0]) }

my @calls = (
    ['receive', POST => $q->path('/messages/receive'), '{"maxMessages":1}',
     4096, 200],
    ['create', POST => $queues, '{"name":"x"}', 65536, 409],
    ['update', PATCH => $q->path, '{"delaySeconds":0}', 65536, 200],
    ['ack', POST => '/v1/receipts/ack', '{"receiptHandles":["x"]}', 65536, 200],
    ['visibility', POST => '/v1/receipts/visibility', '{"entries":[{'
     . '"receiptHandle":"x","visibilityTimeoutSeconds":1}]}', 65536, 200],
    ['send', POST => $q->path('/messages'), '{"body":"x"}', 2097152, 201],
);

NgxQueues::Queue->new($s, name => 'x');

sub refused {
    my ($r, $name, $path) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is("$r->{status} " . ($r->{json}{error} // $r->{error} // $r->{body}),
       '413 request_too_large', $name);
    is($r->{headers}{'access-control-allow-origin'} // '',
       $path =~ /receipts/ ? '*' : '', "$name: CORS");
}

for my $call (@calls) {
    my ($name, $method, $path, $json, $max, $status) = @$call;

    for my $how (['by its length'], ['chunked', chunked => [7, 3000]],
                 ['a chunk', chunked => [$max + 1]])
    {
        my ($what, %o) = @$how;
        my $r = $c->request($method, $path, padded($json, $max), %o);

        is($r->{status}, $status, "$name, $what: the most")
            or diag($r->{error} // $r->{body});

        for my $more (1, 100, 1_000_000) {
            my $n = $max + $more;

            refused($c->request($method, $path, padded($json, $n), %o),
                    "$name, $what: $n bytes", $path);
        }
    }

    # a body that is announced is not waited for

    my $r = $s->client->request($method, $path, padded($json, $max + 1),
                                expect => 1, close => 1);

    refused($r, "$name: Expect", $path);
    is($r->{continued} || 0, 0, "$name: nobody asked for the body");

    # HTTP/2; nginx may end a stream that it has answered so early that curl
    # has not sent all of it, and reports that instead

    $r = NgxQueues::Client::h2(port => $s->h2_port, key => $s->key,
        method => $method, path => $path, body => padded($json, $max));
    is($r->{status}, $status, "$name: the most by HTTP/2");
}

# too long goes before not JSON, and after who may

my $r = $c->post($q->path('/messages/receive'), 'x' x 5000, chunked => [1000]);

refused($r, 'not JSON, and too long', '');
is($s->client(key => undef)->post($q->path('/messages/receive'), 'x' x 5000,
                                  close => 1)->{status}, 401, 'nobody');
is($c->post("$queues/none/messages/receive", ' ' x 5000)->{status}, 413,
   'of no queue');
is((scalar $q->drain), 4, 'what was sent is there, once');

# parked: the memory of the worker

sub memory {
    my ($pid) = $s->worker_pids;
    my %kb = slurp("/proc/$pid/status") =~ /^(VmRSS|VmData):\s+(\d+) kB/mg;

    return map { $kb{$_} / 1024 } qw/VmRSS VmData/;
}

sub park_all {
    my ($n, $text, %o) = @_;

    my @h;

    # some at a time: before it is parked, each has its buffer

    while (@h < $n) {
        my $calls = $q->calls;

        push @h, map {
            $s->client->start(POST => $q->path('/messages/receive'), $text,
                              timeout => 60, fresh => 1, %o)
        } 1 .. 5;

        wait_for { $q->calls >= $calls + 5 } 20 or die "they do not park\n";
    }

    $q->parked;

    return @h;
}

sub wake_all {
    my ($name, @h) = @_;

    $q->send(map { "m$_" } 1 .. @h);

    my @r = $c->wait_all(\@h, scaled(20));
    my %bodies = map { ($_->{json}{messages}[0]{body} // $_->{body}) => 1 } @r;

    is((grep { exists $bodies{"m$_"} } 1 .. @h), @h, "$name: all are woken");
    $q->ack(map { @{ $_->{json}{messages} || [] } } splice @r, 0, 10)
        while @r;
}

my $n = 200;
my $text = padded('{"waitSeconds":20}', 4096);

# what buffers and pools take once

wake_all('before', park_all(20, '{"waitSeconds":20}'));

for my $o ([], [4096], [1000, 1000, 1000], [(64) x 64]) {
    my $name = @$o ? 'chunks of ' . $o->[0] : 'one chunk';
    my @before = memory();
    my @h = park_all($n, $text, chunked => $o);
    my @after = memory();
    my @grown = map { $after[$_] - $before[$_] } 0, 1;

    # a sanitizer keeps what was freed, and has much address space

    cmp_ok($grown[0], '<', $ENV{NGX_QUEUES_SANITIZE} ? 300 : 20,
           "$name: resident MB");
    cmp_ok($grown[1], '<', $ENV{NGX_QUEUES_SANITIZE} ? 4000 : 20,
           "$name: MB of data");
    wake_all($name, @h);
}

# a body whose buffer has gone is empty in a variable

my @bodies = slurp($log) =~ /^200 \d{4} "(.*)"$/mg;

cmp_ok(scalar @bodies, '>=', 4 * $n, 'they are in the log');
is((grep { !/^(?:-|\{\\x22(?:waitS|maxM|rec|ent)\w+\\x22:[^"]*\} *)$/ } @bodies),
   0, 'with their body or without one');

is($q->counts =~ s/ .*//r, 0, 'nothing is left');
$s->finish;

done_testing;
