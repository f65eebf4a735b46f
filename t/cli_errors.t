#!/usr/bin/perl

# What goes wrong, and how queuectl ends then: no server, a bad certificate,
# refusals, an outage that passes; answers that no server of ours would give.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Cli;
use NgxQueues::Endpoint;
use NgxQueues::Process qw/free_port spurt/;
use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Tls;
use NgxQueues::Wait;

my $get = 'qk_get-0123456789abcdefghijklmnopqrst';
my $s = NgxQueues::Server->new(tls => 1, http => 'queues_redis_timeout 500ms;',
                               keys => [
    sha256_hex($get) . ' reader queues.get,queues.list *'
]);
my $c = NgxQueues::Cli->new(server => $s);
my $q = NgxQueues::Queue->new($s, name => 'q');

sub fails {
    my ($name, $status, $error, @words) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $r = $c->run(@words);

    is($r->{status}, $status, "$name: $status");
    like($r->{err}, $error, "$name: it says so");
    is($r->{out}, '', "$name: and nothing on stdout");

    return $r;
}

# usage

fails('no command', 2, qr/^Usage:/m);
fails('no such command', 2, qr/no command "list".*queuectl --help/s, 'list');
fails('no such one of a group', 2, qr/no command "queues lst".*queues --help/s,
      qw/queues lst/);
fails('one that is nearly one', 2, qr/no command "recieve"\. Is it "receive"\?/,
      qw/recieve q/);
fails('a group that is nearly one', 2, qr/Is it "queues"\?/, qw/queue list/);
fails('no such flag', 2, qr/no flag --prefx\. Is it --prefix\?.*queues list --help/s,
      qw/queues list --prefx a/);
fails('no such letter', 2, qr/no flag -z/, qw/queues list -jz/);
fails('a flag before its command', 2, qr/come after it/, qw/--max 3 receive q/);
fails('a switch with a value', 2, qr/takes no value/, qw/queues list --json=1/);
fails('a flag without its value', 2, qr/--prefix PREFIX/,
      qw/queues list --prefix/);
fails('an argument too many', 2, qr/too many: b/, qw/queues get a b/);
fails('an argument too few', 2, qr/QUEUE is missing/, qw/queues get/);
fails('no such colour', 2, qr/auto, always or never/,
      qw/queues list --color red/);

is($c->ok(qw/-j queues -q list --names/)->{json}[0]{name}, 'q',
   'flags of all commands stand anywhere');

# the server says no

fails('an unknown key', 4, qr/unauthenticated, 401.*does not know the key of QUEUES_KEY/s,
      { env => { QUEUES_KEY => 'wrong' } }, qw/queues list/);
fails('a key that may not', 4, qr/permission_denied, 403.*from QUEUES_KEY/s,
      { env => { QUEUES_KEY => $get } }, qw/queues purge q -y/);
# no server

my $none = 'http://127.0.0.1:' . free_port();

fails('no server', 5, qr/Connection refused|connect.*QUEUES_URL/is,
      { env => { QUEUES_URL => $none } }, qw/queues list/);
fails('no such host', 5, qr/resolv.*the command line/is,
      qw{queues list -e http://queues.invalid -q --connect-timeout 2});

# TLS: verified; with its authority, or said loudly

my $tls = 'https://localhost:' . $s->tls_port;

fails('an authority that is not known', 5, qr/not trusted.*--cacert/s,
      { env => { QUEUES_URL => $tls } }, qw/queues list/);

for ([QUEUES_CACERT => { QUEUES_URL => $tls, QUEUES_CACERT => $s->ca }],
     ['--cacert' => { QUEUES_URL => $tls }, '--cacert', $s->ca])
{
    my ($name, $env, @words) = @$_;
    my $r = $c->run({ env => $env }, qw/queues list --names/, @words);

    is("$r->{out}|$r->{err}", "q\n|", $name);
}

my $r = $c->run(qw/queues list --names --insecure -q -e/, $tls);

is($r->{out}, "q\n", '--insecure');
like($r->{err}, qr/--insecure: .* not checked/, 'said loudly, also with -q');

fails('no such file of authorities', 2, qr/--cacert/,
      { env => { QUEUES_URL => $tls } }, qw/queues list --cacert/,
      $c->dir . '/none');

# an outage: tries again as the server asks, and in the end says so

$s->redis->stop;

my $began = time;

fails('no store', 5, qr/not available \(503\); trying again in \d+ s.*unavailable, 503/s,
      qw/queues list --retries 1 --timeout 20/);
cmp_ok(time - $began, '>=', 1, 'after a pause');

my $h = $c->start({ seconds => 60, stdin => join "\n", 1 .. 25 },
                  qw/send q --lines/);

ok(wait_for(sub { $c->err($h) =~ /trying again/ }, 20), 'lines wait');
$s->redis->cont;
$r = $c->end($h);
is($r->{status}, 0, 'and go on when it is back');
like($r->{err}, qr/25 messages sent/, 'all of them');

# --timeout, and Ctrl-C in a pause

$s->redis->stop;
$h = $c->start(qw/queues list --retries 50/);
ok(wait_for(sub { $c->err($h) =~ /trying again/ }, 20), 'it tries again');
$r = $c->end($h, 'INT');
is($r->{signal}, 2, 'until Ctrl-C');
$s->redis->cont;

# lines for a server that is not there, and of which nobody knows

$r = $c->run({ env => { QUEUES_URL => $none }, stdin => "a\nb\n" },
             qw/send q --lines --retries 1/);
is($r->{status}, 5, 'lines for no server: 5');
like($r->{err}, qr/does not answer; trying again in 1 s.*nothing was sent/s,
     'tried again');
unlike($r->{err}, qr/may have been stored/, 'and nothing was sent');

# a server that is none of ours

my $e = NgxQueues::Endpoint->new(plain => 1);
my %env = (QUEUES_URL => 'http://127.0.0.1:' . $e->port);
my $path = '/v1/organizations/o/projects/p/queues';

sub answers {
    my ($name, $status, $error, $behaviour, @words) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    $e->on('*', $behaviour);
    @words = qw/queues get q/ if !@words;

    return fails($name, $status, $error, { env => \%env }, @words);
}

answers('HTML', 3, qr/answers 404, and not as.*QUEUES_URL: is it the right/s,
        { status => 404, body => '<html>' });
answers('a redirect is not followed', 1, qr/answers 302/,
        { status => 302, headers => [Location => $s->url . $path] });
answers('no JSON', 1, qr/answers 200, and not/, { body => '{"name":"a"' });
answers('JSON and more', 1, qr/answers 200/, { body => '{} {}' });
answers('a line end in a string', 1, qr/answers 200/, { body => "{\"a\":\"\n\"}" });
answers('deep', 1, qr/answers 200/, { body => '[' x 65 . ']' x 65 });
answers('an odd status', 5, qr/answers 502/, { status => 502 });
answers('control characters', 1, qr/^queuectl: x\\u001b\[2J\\u009by \(c\\u202ed, 400/,
        { status => 400, body => '{"error":"c\u202ed","message":"x\u001b[2J\u009by"}' });
answers('line ends', 1, qr/^queuectl: a\\nqueuectl: all is well \(c, 400\)\n\z/,
        { status => 400, body => '{"error":"c","message":"a\nqueuectl: all is well"}' });
answers('an answer that breaks off', 5, qr/Whether the call was carried out/,
        { body => '{}', length => 100, end => 'close' });
answers('an answer that does not come', 5, qr/Whether the call was carried out/,
        { delay => 30 }, qw/queues get q --timeout 1/);
answers('a list without one', 1, qr/has no queues/, { body => '{}' },
        qw/queues list/);
answers('a page again and again', 1, qr/same page twice/,
        { body => '{"queues":[],"nextPageToken":"a"}' }, qw/queues list/);
answers('and of topics', 1, qr/same page twice/,
        { body => '{"topics":[],"nextPageToken":"a"}' }, qw/topics list/);
answers('of logs', 1, qr/same page twice/, { body => '{"queues":[],"next":"a"}' },
        qw/logs list/);
answers('of groups', 1, qr/same page twice/,
        { body => '[' . join(',', ('{"name":"a","queueName":"b"}') x 100) . ']' },
        qw/logs groups other/);
answers('messages without handles', 1, qr/without a handle/,
        { body => '{"messages":[{"body":"a"}]}' }, qw/receive q/);
answers('messages without bodies', 1, qr/without a body/,
        { body => '{"messages":[{"receiptHandle":"a"}]}' }, qw/receive q --raw/);
answers('too few results', 1, qr/too few results/, { body => '{"results":[]}' },
        qw/ack a -q/);
answers('a redrive that says nothing', 1, qr/does not say/, { body => '{}' },
        qw/queues redrive q/);

# messages that are printed, and then cannot be acknowledged

$e->on('/v1/receipts/ack', { status => 500 });
$e->on('*', { body => '{"messages":[{"receiptHandle":"a","body":"b"}]}' });
$r = $c->run({ env => \%env }, qw/receive q --raw --ack/);
is("$r->{status} $r->{out}", "5 b\n", 'printed, and not acknowledged: 5');
like($r->{err}, qr/500.*not all is acknowledged: it comes again/s, 'is said');

$e->on('/v1/receipts/ack',
       { body => '{"results":[{"error":"receipt_handle_stale"}]}' });
$r = $c->run({ env => \%env }, qw/receive q --raw --ack/);
is("$r->{status} $r->{out}", "1 b\n", 'printed, and too late: 1');
like($r->{err}, qr/its handle is stale/, 'is said');

# Ctrl-C while messages are printed: what was is acknowledged first

$e->forget;
$e->on('/v1/receipts/ack', { hold => 'ack', body => '{"results":[{"ok":true}]}' });
$h = $c->start({ env => \%env }, qw/receive q --raw --ack/);
$e->wait(1, path => '/v1/receipts/ack');
kill INT => $h->{pid};
ok(!wait_for(sub { NgxQueues::Process::gone($h->{pid}) }, 1.5), 'Ctrl-C waits');
$e->release('ack');
$r = $c->end($h);
is("$r->{signal} $r->{out}$r->{err}", "2 b\n", 'for the acknowledgement');

# an acknowledgement that is done does not hide what else was wrong

$e->on('/v1/receipts/ack', { body => '{"results":[{"ok":true}]}' });
$e->on('*', { body => '{"messages":[{"receiptHandle":"a","body":"b"},{"body":"c"}]}' });
$r = $c->run({ env => \%env }, qw/receive q --raw --ack --max 2/);
is("$r->{status} $r->{out}", "1 b\n", 'one without a handle after one with: 1');
like($r->{err}, qr/without a handle/, 'is said');

$e->on('*', { body => '{}', length => 100, end => 'close' });
$r = $c->run({ env => \%env, stdin => "a\nb\n" }, qw/send q --lines/);
is($r->{status}, 5, 'lines without an answer: 5');
like($r->{err}, qr/lines 1 to 2 may have been stored, or not/, 'nobody knows');

# what is odd, and shown all the same: never a control character

my $odd = '{"name":"\u001b]0;x\u0007","kind":7,"retentionSeconds":1e300,'
          . '"redrivePolicy":{},"counts":{"visible":-1}}';

$e->on('*', { body => $odd });
$r = $c->run({ env => \%env }, qw/queues get q/);
is($r->{status}, 0, 'odd values');
like($r->{out}, qr/^Name +\\u001b\]0;x\\u0007$/m, 'are shown');
unlike($r->{out}, qr/[^\n -~]/, 'without control characters');

$e->on('*', { body => "{\"queues\":[\n $odd,\n[],null,\"a\"\n],\"nextPageToken\":null}" });
$r = $c->run({ env => \%env }, qw/queues list/);
is($r->{status} . @{ $r->{lines} }, '05', 'odd items: a table');
$r = $c->run({ env => \%env }, qw/queues list --json/);
is_deeply($r->{lines}, [$odd, '[]', 'null', '"a"'], 'odd items: as they are');

$e->on('*', { body => "{\"a\":\r\n1}" });
is($c->run({ env => \%env }, qw/queues get q -j/)->{out}, "{\"a\":  1}\n",
   'a line a value');

# what is sent: paths that are no steps, the key to receipts never

$e->forget;
$e->on('*', { body => '{"results":[{"ok":true}]}' });
$c->run({ env => \%env }, qw/ack h/);
$c->run({ env => \%env }, qw/queues get/, '../../x?a#b%');

my ($ack, $got) = $e->wait(2);

is($ack->{headers}{authorization}, undef, 'no key with a handle');
is($ack->{body}, '{"receiptHandles":["h"]}', 'but the handle');
is($got->{uri}, "$path/%2E%2E%2F%2E%2E%2Fx%3Fa%23b%25", 'one segment of a path');
is($got->{headers}{authorization}, 'Bearer ' . $s->key, 'with the key');
like($got->{headers}{'user-agent'}, qr{^queuectl/\d}, 'and a name');

# 429: as long as it says; a create has one idempotency key for all tries

$e->forget;
$e->on('*', { status => 429, headers => ['Retry-After' => 1] },
       { status => 503, headers => ['Retry-After' => 'Thu, 01 Jan 2026 00:00:00 GMT'] },
       { status => 201, body => '{"name":"a"}' });
$r = $c->run({ env => \%env }, qw/queues create a --json/);
is($r->{out}, "{\"name\":\"a\"}\n", 'the third try');

my @r = $e->wait(3);
my %keys = map { $_->{headers}{'idempotency-key'} => 1 } @r;

is(keys %keys, 1, 'is the same creation');
cmp_ok($r[1]{time} - $r[0]{time}, '>=', 0.99, 'after as long as it asked');

$s->finish;
done_testing;
