#!/usr/bin/perl

# A client that has gone while it waited gets no message: the next one does, at
# once, and as the first one to receive it.

use strict;
use warnings;

use IO::Socket::INET;
use Test::More;

use NgxQueues::Process qw/spawn reap temp_dir/;
use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(tls => 1, http2 => 1,
    server => 'location = /status { stub_status; }');
my $c = $s->client;
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);

my $path = $q->path('/messages/receive');
my $body = '{"waitSeconds":20}';
my ($head, $content) = $c->compose(POST => $path, $body, {});
my $request = $head . $content;

# ways to wait and to go

sub raw {
    my ($bytes, %o) = @_;

    my $n = $s->client(%o)->connect;

    $n->write($bytes);

    return $n;
}

sub curl {
    my ($url, @options) = @_;

    return spawn({}, 'curl', '-sS', @options, '-d', $body, '-H',
        'Authorization: Bearer ' . $s->key, '-H',
        'Content-Type: application/json', "$url$path");
}

# HTTP/2 by hand: two streams, each with a receive, on one connection

sub frame {
    my ($type, $flags, $stream, $payload) = @_;

    return substr(pack('N', length $payload), 1)
           . pack('CCN', $type, $flags, $stream) . $payload;
}

sub h2_request {
    my ($stream) = @_;

    my @fields = (':method' => 'POST', ':scheme' => 'http',
        ':authority' => 'a', ':path' => $path,
        'authorization' => 'Bearer ' . $s->key);
    my $block = '';

    $block .= "\0" . join '', map { chr(length) . $_ } splice @fields, 0, 2
        while @fields;

    return frame(1, 4, $stream, $block) . frame(0, 1, $stream, $body);
}

sub h2 {
    my $n = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                                  PeerPort => $s->h2_port) or die $!;

    syswrite $n, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" . frame(4, 0, 0, '')
                 . h2_request(1);

    return $n;
}

my %ways = (
    'FIN' => [sub { raw($request) }, sub { $_[0]->close }],
    'RST' => [sub { raw($request) }, sub { $_[0]->reset }],
    'half-close' => [sub { raw($request) }, sub { $_[0]->half_close }],
    'pipelined, FIN' => [sub { raw($request x 2) }, sub { $_[0]->close }],
    'pipelined, RST' => [sub { raw($request x 3) }, sub { $_[0]->reset }],
    'bytes of a request, FIN' => [sub { raw($request . 'POST /v1') },
                                  sub { $_[0]->close }],
    'TLS, FIN' => [sub { raw($request, tls => 1) }, sub { $_[0]->close }],
    'TLS, RST' => [sub { raw($request, tls => 1) }, sub { $_[0]->reset }],
    'TLS, no close_notify' => [
        sub { raw($request, tls => 1) },
        sub { $_[0]{fh}->close(SSL_no_shutdown => 1) }],
    'curl, killed' => [sub { curl($s->url) },
                       sub { kill KILL => $_[0]; reap($_[0], 5) }],
    'curl with HTTP/2, killed' => [
        sub { curl('http://127.0.0.1:' . $s->h2_port,
                   '--http2-prior-knowledge') },
        sub { kill KILL => $_[0]; reap($_[0], 5) }],
    'curl with HTTP/2 and TLS, ended' => [
        sub { curl('https://localhost:' . $s->tls_port, '--http2', '--cacert',
                   $s->ca) },
        sub { kill TERM => $_[0]; reap($_[0], 5) }],
    'RST_STREAM' => [sub { h2() },
                     sub { syswrite $_[0], frame(3, 0, 1, pack 'N', 8) }],
    'HTTP/2, FIN' => [sub { h2() }, sub { close $_[0] }],
);

sub parked {
    my ($calls) = @_;

    wait_for { $q->calls > $calls } or die "it does not ask\n";
    $q->parked;
}

sub active {
    my ($active) = $c->get('/status')->{body} =~ /Active connections: (\d+)/;

    return $active;
}

my $before = active();

for my $way (sort keys %ways) {
    my ($come, $go) = @{ $ways{$way} };

    # noticed before the message comes

    my $calls = $q->calls;
    my $lines = () = $s->access_log =~ /" 499 /g;
    my $n = $come->();

    parked($calls);
    $go->($n);
    ok(wait_for(sub { (() = $s->access_log =~ /" 499 /g) > $lines }, 5),
       "$way: noticed");
    $q->send('x');

    my ($m) = $q->receive(waitSeconds => 2);

    is("$m->{body} $m->{receiveCount}", 'x 1', "$way: the next one gets it");
    is($q->ack($m), 'ok', "$way: ack");

    # and in the same moment

    $calls = $q->calls;
    $n = $come->();
    parked($calls);
    $go->($n);
    $q->send('y');
    ($m) = $q->receive(waitSeconds => 5);

    is(($m->{body} // '') . ' ' . ($m->{receiveCount} // ''), 'y 1',
       "$way: at the same moment");
    is($q->ack($m), 'ok', "$way: ack");
}

# one stream is given up, the other one of its connection is not

my $n = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                              PeerPort => $s->h2_port);
my $calls = $q->calls;

syswrite $n, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" . frame(4, 0, 0, '')
             . h2_request(1) . h2_request(3);
wait_for { $q->calls >= $calls + 2 } 5;
syswrite $n, frame(3, 0, 1, pack 'N', 8);
$q->send('for 3');

my $got = '';

wait_for {
    sysread $n, $got, 65536, length $got;
    $got =~ /for 3/
} 5;
like($got, qr/\x00\x00\x00\x03\{"messages":\[\{.*for 3.*"receiveCount":1}]}/s,
     'another stream of the connection');
close $n;
$q->redis->call('PING');
is($c->post($q->path('/purge'))->{status}, 202, 'purge');

# a client that goes while the store is answering, or just before: 200 times;
# whatever comes of it, each message is delivered once and not late

my %seen;
my $sent = 0;

for my $i (1 .. 200) {
    my $n = raw($request);

    $q->send(map { 's' . $sent++ } 1 .. 1 + $i % 3) if $i % 2;
    $i % 5 ? $n->reset : $n->close;
    $q->send('s' . $sent++) if !($i % 2);
}

my $late = 0;

while (keys %seen < $sent) {
    my @m = $q->receive(maxMessages => 10, waitSeconds => 1) or last;

    $seen{ $_->{body} }++ for @m;
    $late++ for grep { $_->{receiveCount} != 1 } @m;
}

# what a socket took before its client went has been delivered, as far as
# anybody can know: it is in flight until its visibility ends

my ($visible, $flying) = split ' ', $q->counts;

is($visible, 0, 'nothing is left');
is($flying, $sent, 'everything is in flight');
is($late, 0, 'nothing was received twice');
diag($sent - keys %seen, " of $sent went to clients that had gone")
    if $sent - keys %seen > $sent / 2;

ok(wait_for(sub { active() == $before }, 5),
   'no connection is left')
    or diag(active(), " connections, $before before");

$s->finish;

done_testing;
