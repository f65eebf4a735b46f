#!/usr/bin/perl

# A client that goes while the store is answering its wait: the worker has the
# messages of its try before it learns of the end, looks at the socket, and
# gives them back. Another consumer gets them at once, as the first one.
#
# The moment is made: the worker is stopped while a message is sent by another
# node, Redis holds back the answer to the try that follows, and the worker is
# stopped again until the answer and, after it, the client's end have come.

use strict;
use warnings;

use IO::Socket::INET;
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Client;
use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(tls => 1, http2 => 1);
my $node = NgxQueues::Server->new(node_of => $s);
my $q = NgxQueues::Queue->new($s, client => $node->client,
                              visibilityTimeoutSeconds => 60);
my $admin = $s->redis->client;
my ($worker) = $s->worker_pids;

END { kill CONT => $worker if $worker }

my $path = $q->path('/messages/receive');
my $body = '{"waitSeconds":20,"maxMessages":3}';
my $request = join '', $s->client->compose(POST => $path, $body, {});

# connections that wait

sub http {
    my ($more, %o) = @_;

    my $n = $s->client(%o)->connect;

    $n->write($request . $more);

    return $n;
}

sub frame {
    my ($type, $flags, $stream, $payload) = @_;

    return substr(pack('N', length $payload), 1)
           . pack('CCN', $type, $flags, $stream) . $payload;
}

sub http2 {
    my ($scheme, @streams) = @_;

    my $n = NgxQueues::Client->new(
        $scheme eq 'http' ? (port => $s->h2_port)
            : (port => $s->tls_port, tls => { ca => $s->ca,
                   options => { SSL_alpn_protocols => ['h2'] } }))->connect;
    my @fields = (':method' => 'POST', ':scheme' => $scheme,
        ':authority' => 'a', ':path' => $path,
        'authorization' => 'Bearer ' . $s->key);
    my $block = '';

    $block .= "\0" . join '', map { chr(length) . $_ } splice @fields, 0, 2
        while @fields;

    $n->write(join '', "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", frame(4, 0, 0, ''),
              map { (frame(1, 4, $_, $block), frame(0, 1, $_, $body)) }
              @streams);

    return $n;
}

# close_notify, which a TLS socket says when it is closed, and then FIN

sub clean {
    my ($n) = @_;

    $n->{fh}->stop_SSL(SSL_fast_shutdown => 1);
    CORE::close $n->{fh};
}

my %ways = (
    'FIN' => [sub { http('') }, sub { $_[0]->close }],
    'RST' => [sub { http('') }, sub { $_[0]->reset }],
    'bytes of another request, FIN' => [
        sub { http('') },
        sub { $_[0]->write('POST /v1/x HTTP/1.1'); $_[0]->close }],
    'TLS, close_notify and FIN' => [sub { http('', tls => 1) }, \&clean],
    'TLS, FIN alone' => [sub { http('', tls => 1) },
                         sub { $_[0]{fh}->close(SSL_no_shutdown => 1) }],
    'TLS, RST' => [sub { http('', tls => 1) }, sub { $_[0]->reset }],
    'TLS, bytes of another request, close_notify and FIN' => [
        sub { http('', tls => 1) },
        sub { $_[0]->write('POST /v1/x HTTP/1.1'); clean($_[0]) }],
    'HTTP/2, FIN' => [sub { http2('http', 1) }, sub { $_[0]->close }],
    'HTTP/2, RST' => [sub { http2('http', 1) }, sub { $_[0]->reset }],
    'HTTP/2, GOAWAY and FIN' => [
        sub { http2('http', 1) },
        sub { $_[0]->write(frame(7, 0, 0, pack 'NN', 0, 0)); $_[0]->close }],
    'HTTP/2 and TLS, close_notify and FIN' => [sub { http2('https', 1) },
                                               \&clean],
    'HTTP/2 and TLS, RST' => [sub { http2('https', 1) },
                              sub { $_[0]->reset }],
    'HTTP/2, of three streams, FIN' => [sub { http2('http', 1, 3, 5) },
                                        sub { $_[0]->close }, 3],
);

sub held_back {
    return $admin->call('CLIENT', 'LIST') =~ /flags=\S*b\S* .*cmd=fcall/;
}

for my $way (sort keys %ways) {
    my ($come, $go, $tries) = @{ $ways{$way} };
    my $calls = $q->calls;
    my $n = $come->();

    wait_for { $q->calls >= $calls + ($tries // 1) } 5 or die "no try\n";
    $q->parked;

    # the hint waits for the worker, and then its try for Redis

    kill STOP => $worker;
    $q->send('a', 'b');
    $admin->call('CLIENT', 'PAUSE', 30000, 'WRITE');
    $calls = $q->calls;
    kill CONT => $worker;
    wait_for { held_back() } 5 or die "no try is held back\n";

    # the answer comes, and the end after it

    kill STOP => $worker;
    $admin->call('CLIENT', 'UNPAUSE');
    wait_for { $q->calls > $calls } 5 or die "no answer\n";
    is(($q->calls - $calls), 1, "$way: a try");
    $go->($n);
    kill CONT => $worker;

    my $begin = time;
    my (@m, @more);

    push @m, @more while @m < 2
        && (@more = $q->receive(waitSeconds => 5, maxMessages => 10));

    is(join(' ', map { "$_->{body} $_->{receiveCount}" } @m), 'a 1 b 1',
       "$way: another one gets them");
    cmp_ok(time - $begin, '<', scaled(1), "$way: at once");
    is($q->ack(@m), 'ok ok', "$way: ack") if @m == 2;
    is($q->counts, '0 0 0', "$way: nothing else is there");
}

# the one who stays gets its messages by the same way

my $h = $q->park(at => $s->client(tls => 1), maxMessages => 3, fresh => 1);

$q->parked;
kill STOP => $worker;
$q->send('a', 'b');
kill CONT => $worker;
($h) = $s->client->wait_all([$h], scaled(10));
is(join(' ', map { $_->{body} } @{ $h->{json}{messages} || [] }), 'a b',
   'a client of TLS that stays');

$node->finish;
$s->finish;

done_testing;
