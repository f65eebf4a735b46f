#!/usr/bin/perl

# The tools that flows are tested with, on nginx without the module's
# directives: NgxQueues::Server, ::Client, ::RedisServer.

use strict;
use warnings;

use IO::Socket::INET;
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Client;
use NgxQueues::Process qw/spawn reap free_port slurp gone/;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(
    workers => 2, queues => 0, tls => 1, http2 => 1, redis => { aof => 1 },
    locations => <<'END',
        client_max_body_size 100k;
        location / {
            default_type application/json;
            return 200 '{"m":"$request_method","a":"$http_authorization"}';
        }
        location /body {
            proxy_pass http://127.0.0.1:%%PORT%%/echo;
            proxy_http_version 1.1;
        }
        location /echo { return 200 "$content_length $http_x"; }
        location /none { return 204; }
        location /slow { limit_rate 1; return 200 "abcdefghij"; }
END
);

my $c = $s->client;
my $r = $c->get('/');

is($r->{status}, 200, 'get');
is_deeply($r->{json}, { m => 'GET', a => 'Bearer ' . $s->key }, 'json');
is($r->{headers}{'content-type'}, 'application/json', 'a header');
is($c->delete('/none')->{status}, 204, 'no content');
is($c->head('/')->{body}, '', 'head');
is(@{ $c->{idle} }, 1, 'one connection, kept alive');

is($c->post('/body', { a => 1 }, headers => { X => 'y' })->{body}, '7 y',
   'a hash as JSON');
is($c->post('/body', 'x' x 50000, writes => [10, 100, 1000])->{body},
   '50000 ', 'several writes');
is($c->post('/body', 'x' x 50, chunked => [1, 20])->{body}, '50 ', 'chunked');

$r = $c->post('/body', 'abc', expect => 1);
is("$r->{body}$r->{continued}", '3 1', 'expect');

$r = $c->post('/body', 'x' x 200_000, expect => 1);
is($r->{status}, 413, 'refused instead of 100');

is($c->get('/', raw => "BAD\r\n\r\n", fresh => 1)->{status}, 400,
   'raw bytes');

$r = $c->get('/slow', timeout => 0.3);
is("$r->{status} $r->{error}", '0 timeout', 'a timeout');

# by hand

my $n = $c->connect;

$n->write("GET / HTTP/1.1\r\nHost: a\r\n\r\n" x 2);
is($n->response->{status}, 200, 'the first of two');
is($n->response->{json}{m}, 'GET', 'the second');
$n->half_close;
ok($n->closed, 'closed after half a close');

# many at once, against a server that keeps them all waiting

my $port = free_port();
my $park = spawn({ }, $^X, '-e', <<'END', $port);
    use IO::Socket::INET; use IO::Select;
    my $l = IO::Socket::INET->new(Listen => 1000, LocalAddr => '127.0.0.1',
                                  LocalPort => shift, ReuseAddr => 1) or die;
    my @c;
    while (@c < 500) {
        my $c = $l->accept; sysread $c, my $b, 4096; push @c, $c;
    }
    syswrite $_, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                 . "a\r\n0123456789\r\n1\r\nx\r\n0\r\n\r\n" for reverse @c;
    sysread $_, my $b, 1 for @c;
END

my $p = NgxQueues::Client->new(port => $port);

wait_for { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port) };

my @h = map { $p->start(POST => '/', { n => $_ }) } 1 .. 499;
my $first = $p->wait_any(\@h, 10);

is($first && $first->result->{body}, '0123456789x', 'one of 499');
is((grep { $_->{status} == 200 } $p->wait_all(\@h, 20)), 499, 'all of them');

# a reset while waiting

my $listen = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1',
                                   LocalPort => free_port());
my $h = NgxQueues::Client->new(port => $listen->sockport)->start(GET => '/');
my $peer = $listen->accept;

is($h->result, undef, 'no result yet');
$h->reset;
sysread $peer, my $bytes, 4096;
is(sysread($peer, $bytes, 1), undef, 'reset by peer');
is($h->result->{error}, 'closed here', 'which we did');

# TLS and HTTP/2

is($s->client(tls => 1, key => undef)->get('/')->{json}{a}, '', 'TLS');
is($s->client(tls => 1)->post('/body', 'abc')->{body}, '3 ', 'TLS post');
ok(!eval {
    NgxQueues::Client->new(port => $s->tls_port,
        tls => { ca => $s->ca, name => 'other.test' })->get('/')
}, 'a wrong name');

$r = NgxQueues::Client::h2(port => $s->h2_port, path => '/body', body => {});
is("$r->{version} $r->{status} $r->{body}", '2 200 2 ', 'HTTP/2');
$r = NgxQueues::Client::h2(port => $s->tls_port, path => '/',
                           tls => { ca => $s->ca });
is("$r->{version} $r->{json}{m}", '2 GET', 'HTTP/2 with TLS');

# Redis

my $redis = $s->redis;

like($redis->cli(qw/SET a 1/), qr/^OK/, 'set');
$redis->restart;
like($redis->cli(qw/GET a/), qr/^1/, 'kept over a restart');
$redis->cli(qw/SET a 2/);
wait_for { $redis->cli(qw/INFO persistence/) =~ /aof_pending_bio_fsync:0/ };
$redis->kill;
like($redis->cli('PING'), qr/Could not connect/, 'killed');
$redis->start;
like($redis->cli(qw/GET a/), qr/^2/, 'kept over a kill');
$redis->stop;

my $begin = time;
my $ping = fork // die;

if (!$ping) {
    require POSIX;
    open STDOUT, '>', '/dev/null';
    $redis->cli('PING');
    POSIX::_exit(0);
}

select undef, undef, undef, 0.3;
$redis->cont;
waitpid $ping, 0;
cmp_ok(time - $begin, '>=', 0.25, 'stopped, and continued');

my $locked = NgxQueues::RedisServer->new(password => 'x y', port => 1,
    tls => NgxQueues::Tls->new->files('localhost'), no_check => 1);

like($locked->cli('PING'), qr/PONG/, 'Redis with a password, a port and TLS');
is($locked->client->call('PING'), 'PONG', 'the same by its client');
ok($locked->shutdown, 'it ends');

# nginx

my @old = $s->worker_pids;

is(@old, 2, 'two workers');
$s->reload(drained => 10);
is((grep { my $pid = $_; grep { $_ == $pid } @old } $s->worker_pids), 0,
   'a reload: others');
my $killed = $s->kill_worker;
is((grep { $_ == $killed } $s->worker_pids), 0, 'a worker killed');
is($s->client->get('/')->{status}, 200, 'it goes on');

$s->configure(http => 'bad;');
my ($right, $said) = $s->test_configuration;
ok(!$right, 'a wrong configuration');
like($said, qr/unknown directive "bad"/, 'and why');

my $second = NgxQueues::Server->new(queues => 0, node_of => $s,
                                    api => 'return 200 2;');

is($second->client->get('/')->{body}, '2', 'a second node');
is($second->key, $s->key, 'the same key');
$second->kill;
ok(gone($second->pid), 'killed');

$s->finish(allow => [qr/unknown directive "bad"/]);
ok(gone($redis->pid), 'Redis has ended');

reap($park, 1) // NgxQueues::Process::stop($park, 'KILL', 5);

# a test that dies, or is killed, leaves nothing

for my $end ('die "so"', 'kill KILL => $$', 'kill INT => $$; sleep 9') {
    my $script = 'use NgxQueues::Server; $| = 1;'
        . '$s = NgxQueues::Server->new(queues => 0, api => "return 200;",'
        . ' workers => 2); print join(" ", $s->pid, $s->worker_pids,'
        . ' $s->redis->pid), "\n";' . $end;

    my $dir = NgxQueues::Process::temp_dir();
    my $out = "$dir/out";
    my $pid = spawn({ out => $out, env => { TMPDIR => $dir } }, $^X, (map { "-I$_" } @INC), '-e', $script);

    reap($pid, 20);

    my ($pids) = slurp($out) =~ /^([\d ]+)$/m;
    my @left;

    wait_for {
        @left = grep { NgxQueues::Server::alive($_) } split ' ', $pids // '';
        !@left
    } 10;

    is(@{[ split ' ', $pids // '' ]}, 4, "$end: it ran");
    is("@left", '', "$end: all have ended");
}

done_testing;
