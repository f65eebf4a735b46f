#!/usr/bin/perl

# Signing secrets are not left in a worker's memory, by whatever way they were
# answered or used, nor are parts of them. Under sanitizers what was freed is not
# used again for long, so that a copy which some layout hides is found there. A
# copy in the processor's registers is found by a signal, which puts it on the
# stack.

use strict;
use warnings;

use Digest::SHA 'hmac_sha256';
use MIME::Base64 qw/decode_base64url encode_base64url/;
use Test::More;

use NgxQueues::Client;
use NgxQueues::Memory;
use NgxQueues::Process qw/free_port slurp spurt/;
use NgxQueues::Push;
use NgxQueues::Wait;

# ports where an answer soon waits for whoever does not read

my %slow = map { $_ => free_port() } qw/h1 h2/;

my $p = NgxQueues::Push->new(tls => 1, http2 => 1, http => <<'', server => <<"");
gzip on;
gzip_types application/json;
gzip_min_length 1;

listen 127.0.0.1:$slow{h1} ssl sndbuf=4096;
listen 127.0.0.1:$slow{h2} ssl http2 sndbuf=4096;

my $s = $p->server;
my $memory = NgxQueues::Memory->new($s->worker_pids);
my $any = qr/whsec_[A-Za-z0-9]{43}/;

# one that no worker has for deliveries

my $sub = $p->subscribe(state => 'paused');
my $path = "$sub->{at}/rotate-secret";
my $request = "POST $path HTTP/1.1\r\nHost: localhost\r\n"
              . 'Authorization: Bearer ' . $s->key . "\r\n\r\n";

sub secret { ($_[0]{body} // '') =~ /($any)/ ? $1 : '' }
sub bytes { decode_base64url(substr $_[0], 6) }

# to open logs anew is all that it asks for

sub signals {
    my $opened = () = $s->error_log =~ /reopening logs/g;

    kill USR1 => $s->worker_pids;
    wait_for { (() = $s->error_log =~ /reopening logs/g) > $opened }
        or die "no signal\n";
}

# all of them, in whatever form, are gone

sub is_gone {
    my ($name, @secrets) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is(scalar(grep { length } @secrets), scalar(@secrets), "$name: secrets");

    signals();

    my @forms = map { NgxQueues::Memory::forms(bytes($_)) }
        grep { length } @secrets;

    is($memory->gone($any, @forms ? NgxQueues::Memory::parts(@forms) : ()), '',
       "$name: nothing is left");
}

like($memory->found($s->dir), qr/no\. 0 in/, 'memory is read');
is_gone('create', $sub->secrets);

# one answer each

my $h1 = $s->client;
my $tls = $s->client(tls => 1);

is_gone('HTTP/1.1', secret($h1->post($path)));
is_gone('HTTP/1.1, closed', secret($h1->post($path, undef, close => 1)));
is_gone('TLS', secret($tls->post($path)));
is_gone('TLS, closed', secret($tls->post($path, undef, close => 1)));

my $r = $h1->post($path, undef, headers => { 'Accept-Encoding' => 'gzip' });

is($r->{headers}{'content-encoding'}, undef, 'it is not compressed');
is_gone('gzip is accepted', secret($r));

for my $over (['HTTP/2', port => $s->h2_port],
              ['HTTP/2 and TLS', port => $s->tls_port, tls => { ca => $s->ca }])
{
    my ($name, @to) = @$over;

    is_gone($name, secret(NgxQueues::Client::h2(@to, key => $s->key,
                                                method => 'POST', path => $path)));
}

# many on one connection, which stays

for my $c ($h1, $tls) {
    my $n = $c->connect;

    $n->write($request x 5);
    is_gone('pipelined', map { secret($n->response) } 1 .. 5);
    $n->close;
}

# what waits to be read is there, and no longer than it waits

sub slow {
    my ($port, %tls) = @_;

    my $c = $s->client(tls => 1, rcvbuf => 4096, port => $slow{$port});

    $c->{tls}{options} = { %tls };

    return $c;
}

sub waits {
    my ($name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    ok(wait_for { $memory->found($any) }, "$name: one waits to be read");
}

my $n = slow('h1')->connect;

$n->write($request x 40);
waits('slow');
is_gone('slow, read', map { secret($n->response) } 1 .. 40);
is(secret($n->response(0.01)), '', 'no more of them');

$n = slow('h1')->connect;
$n->write($request x 40);
waits('slow');
$n->reset;
is_gone('slow, reset');

# frames by hand: without indexes, and without Huffman's code

sub h2_frame {
    my ($type, $flags, $stream, $payload) = @_;

    return substr(pack('N', length $payload), 1)
           . pack('CCN', $type, $flags, $stream) . $payload;
}

sub h2_open { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" . h2_frame(4, 0, 0, '') }

sub h2_post {
    my ($stream) = @_;

    my @fields = (':method', 'POST', ':scheme', 'https', ':path', $path,
                  ':authority', 'localhost', authorization => 'Bearer ' . $s->key);

    return h2_frame(1, 5, $stream, join '', map {
        my ($name, $value) = @fields[2 * $_, 2 * $_ + 1];
        pack 'CC/a*C/a*', 0, $name, $value
    } 0 .. $#fields / 2);
}

for my $end ('read', 'reset') {
    $n = slow('h2', SSL_alpn_protocols => ['h2'])->connect;
    $n->write(h2_open() . join '', map { h2_post(2 * $_ + 1) } 0 .. 39);
    waits('slow HTTP/2');

    if ($end eq 'read') {
        my ($in, %seen) = ('');

        wait_for {
            sysread $n->{fh}, $in, 65536, length $in;
            %seen = map { $_ => 1 } $in =~ /$any/g;
            keys %seen == 40
        };

        is_gone('slow HTTP/2, read', keys %seen);
        is(scalar(keys %seen), 40, 'all of them');
    }

    $n->reset;
    is_gone("slow HTTP/2, $end");
}

# one whose client left before the answer: only Redis has it, sealed (the cipher
# without its tag is one of a stream)

my $redis = $s->redis->client;
my ($record) = grep { /:s:/ } @{ $redis->call('KEYS', 'ngxq:*') };
my $sealing = hmac_sha256('ngx_queues secrets at rest',
                          slurp($s->{secret_file}) =~ s/\n//r);

sub sealed { (split / /, $redis->call('HGET', $record, 'sec'))[1] }

sub opened {
    my ($version, $nonce, $text) = unpack 'a a12 a32', decode_base64url($_[0]);

    spurt($s->dir . '/sealed', $text);

    my @open = ('openssl', 'enc', '-d', '-aes-256-ctr', '-K', unpack('H*', $sealing),
                '-iv', unpack('H*', $nonce . pack 'N', 2), '-in', $s->dir . '/sealed');

    open my $out, '-|:raw', @open or die "openssl: $!";
    local $/;

    return 'whsec_' . encode_base64url(<$out>);
}

$r = $h1->post($path);
is(opened(sealed()), secret($r), 'what Redis has is known');

for my $client ($h1, $tls) {
    my $before = sealed();

    $redis->call('CLIENT', 'PAUSE', 10000, 'WRITE');

    $n = $client->connect;
    $n->write($request);
    ok(wait_for { $redis->call('INFO', 'clients') =~ /blocked_clients:[1-9]/ },
       'it waits for Redis');
    $n->reset;
    $redis->call('CLIENT', 'UNPAUSE');

    ok(wait_for { sealed() ne $before }, 'it is stored');
    is_gone('gone before the answer', opened(sealed()));
}

# those that sign deliveries are there, until their subscription is deleted

my $used = $p->subscribe;

$used->send('a');

my @deliveries = $used->wait(1);

is($used->verify(@deliveries), '', 'a delivery');
like($memory->found(bytes(($used->secrets)[0])), qr/./, 'is signed by what is there');
$used->delete;
is_gone('deleted', $used->secrets);

$p->finish;

done_testing;
