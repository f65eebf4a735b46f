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
use List::Util 'min';
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Client;
use NgxQueues::Pubsub;
use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my ($s, $path, $body, $request, $worker);

END { kill CONT => $worker if $worker }

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

# the one who stays gets its messages by the same way

sub stays {
    my ($q) = @_;
    my $h = $q->park(at => $s->client(tls => 1), maxMessages => 3, fresh => 1);

    $q->parked;
    kill STOP => $worker;
    $q->send('a', 'b');
    kill CONT => $worker;
    ($h) = $s->client->wait_all([$h], scaled(10));
    is(join(' ', map { $_->{body} } @{ $h->{json}{messages} || [] }), 'a b',
       'a client of TLS that stays');
}

# The calls that wait: of those who send, receive and count by another node.

sub queue_of {
    my ($node) = @_;
    my $q = NgxQueues::Queue->new($s, client => $node->client,
                                  visibilityTimeoutSeconds => 60);

    return $q, $q->path('/messages/receive'),
        '{"waitSeconds":20,"maxMessages":3}', {
        parked => sub { $q->parked },
        send => sub { $q->send('a', 'b') },
        take => sub { $q->receive(waitSeconds => 5, maxMessages => 10) },
        told => sub { "$_[0]{body} $_[0]{receiveCount}" },
        ack => sub { $q->ack(@_) eq 'ok ok' },
        left => sub { $q->counts ne '0 0 0' },
    };
}

sub subscription_of {
    my ($node) = @_;
    my $p = NgxQueues::Pubsub->new($s, client => $node->client);

    $p->topic('dead');
    $p->topic('topic');
    $p->sub('sub', 'topic', ackDeadlineSeconds => 60,
            deadLetterPolicy => { deadLetterTopic => 'dead' });

    return $p, $p->path('subscriptions', 'sub', 'pull'), '{"maxMessages":3}', {
        parked => sub {
            wait_for { $p->redis->call('HGET', $p->hot('sub'), 's') =~ /^[13]/
                && $p->redis->call(qw/PUBSUB SHARDNUMSUB/, $p->root . ':w')->[1]
            } or die "no pull waits\n";
        },
        send => sub { $p->publish('topic', 'a', 'b') },
        take => sub { $p->pull('sub', 10, wait => 1) },
        told => sub { NgxQueues::Pubsub::data($_[0]) . " $_[0]{deliveryAttempt}" },
        ack => sub { $p->ack('sub', @_); 1 },
        left => sub { $p->pull('sub', 10) },
    };
}

# of receives and pulls alike: not those that workers call by themselves

sub tries { return NgxQueues::Queue::calls($_[0]) }

sub held_back {
    my ($admin) = @_;

    return $admin->call('CLIENT', 'LIST') =~ /flags=\S*b\S* .*cmd=fcall/;
}

# how soon another one has them, is seen where a busy machine was least in the way

my @took;

for my $api ([ 'receive', sub { NgxQueues::Server->new(@_) }, \&queue_of ],
             [ 'pull', \&NgxQueues::Pubsub::server, \&subscription_of ])
{
    my ($name, $server, $make) = @$api;

    $s = $server->(tls => 1, http2 => 1);

    my $node = $server->(node_of => $s);
    my $admin = $s->redis->client;

    ($worker) = $s->worker_pids;
    (my $q, $path, $body, my $does) = $make->($node);
    $request = join '', $s->client->compose(POST => $path, $body, {});

    for my $way (sort keys %ways) {
        my ($come, $go, $tries) = @{ $ways{$way} };
        my $what = "$name, $way";
        my $calls = tries($q);
        my $n = $come->();

        wait_for { tries($q) >= $calls + ($tries // 1) } 5 or die "no try\n";
        $does->{parked}();

        # The hint waits for the worker, and then its try for Redis. The answer comes,
        # and the end after it. What is held back may be another call first, which
        # workers make by themselves.

        kill STOP => $worker;
        $does->{send}();
        $calls = tries($q);

        my $held = 0;

        do {
            $admin->call('CLIENT', 'PAUSE', 30000, 'WRITE');
            kill CONT => $worker;
            wait_for { held_back($admin) } or die "nothing is held back\n";
            kill STOP => $worker;
            $admin->call('CLIENT', 'UNPAUSE');
        } until wait_for { tries($q) > $calls } 1 or ++$held == 10;

        is(tries($q) - $calls, 1, "$what: a try");
        $go->($n);
        kill CONT => $worker;

        my $begin = time;
        my (@m, @more);

        push @m, @more while @m < 2 && (@more = $does->{take}());

        is(join(' ', map { $does->{told}($_) } @m), 'a 1 b 1',
           "$what: another one gets them");
        push @took, time - $begin;
        ok($does->{ack}(@m), "$what: ack") if @m == 2;
        ok(!$does->{left}(), "$what: nothing else is there");
    }

    if ($name eq 'receive') {
        stays($q);
    }

    $node->finish;
    $s->finish;
}

cmp_ok(min(@took), '<', scaled(1), 'at once') or diag("@took");

done_testing;
