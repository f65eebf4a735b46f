#!/usr/bin/perl

# Google's client for Node.js, over REST, and endpoints that verify tokens with
# the library jose: t/client/pubsub.mjs and pubsub_endpoint.mjs, as the page gives
# them to its readers, and the cases of t/client/pubsub.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use IO::Socket::INET;
use Test::More;

use NgxQueues::Dns;
use NgxQueues::Jwt;
use NgxQueues::Process qw/spawn reap slurp spurt temp_dir free_port/;
use NgxQueues::Server;
use NgxQueues::Wait;

my $modules = "$NgxQueues::Process::top/build/client";
my $dir = temp_dir();
my $runs = 0;

ok(-d "$modules/node_modules/\@google-cloud/pubsub", 'the client is installed')
    or BAIL_OUT('t/tools/install test');

# where Node.js finds it

mkdir "$dir/pubsub";
symlink "$modules/node_modules", "$dir/node_modules" or die $!;

for (glob "$NgxQueues::Process::top/t/client/{pubsub*,pubsub/*}.mjs") {
    spurt($dir . '/' . s{.*/t/client/}{}r, slurp($_));
}

# which is what the page shows of them

my $page = slurp("$NgxQueues::Process::top/docs/api/pubsub.md");
my ($client, $verifier) = $page =~ /^```js\n(import .*?)^```$/msg;

like(slurp("$dir/pubsub.mjs"), qr/^\Q$client\E/m, 'the client of the page');
like(slurp("$dir/pubsub_endpoint.mjs"), qr/^\Q$verifier\E/m, 'its verifier');

my ($port, $open_port) = (free_port(), free_port());
my $endpoint = "http://127.0.0.1:$port/orders";
my $dns = NgxQueues::Dns->new('*' => { A => ['127.0.0.1'] });
my $rsa = NgxQueues::Jwt->rsa;
my $s = NgxQueues::Server->new(workers => 2, redis => { aof => 1 },
    keys => [sha256_hex('publisher') . ' publisher pubsub.publish o/shop/in-*'],
    http => 'queues_oidc_key ' . $rsa->private . ';'
            . 'queues_oidc_issuer http://127.0.0.1:%%PORT%%;'
            . 'queues_push_allow_localhost on; client_max_body_size 16m;'
            . 'resolver ' . $dns->address . ';'
            . "server { listen 127.0.0.1:$open_port; location /v1/projects/ {"
            . ' queues_pubsub_api o; queues_auth off; } }',
    locations => 'location /v1/projects/ { queues_pubsub_api o; }'
                 . 'location /.well-known/ { queues_oidc_discovery; }');

sub start {
    my ($what, @arguments) = @_;

    my $out = "$dir/out" . ++$runs;

    return ($out, spawn({ out => $out, env => {
        PUBSUB_URL => $s->url, PROJECT_ID => 'shop', API_KEY => $s->key,
        PUBLISHER_KEY => 'publisher', ONCE => 1, NODE_NO_WARNINGS => 1,
        ISSUER => $s->url, SERVICE_ACCOUNT => 'push@example.com', PORT => $port,
        ENDPOINT => $endpoint, AUDIENCE => $endpoint,
        ENDPOINT_PORT => free_port(), OPEN_PORT => $open_port,
    } }, 'node', "$dir/$what.mjs", @arguments));
}

sub node {
    my ($what, @arguments) = @_;

    my ($out, $pid) = start($what, @arguments);

    is(reap($pid, 90), 0, "$what ends well") or diag(slurp($out));

    return slurp($out);
}

# what cases print, as tests of this file

sub cases {
    my ($group, $said) = @_;

    my $n = 0;

    while ($said =~ /^(not )?ok - (.*)\n((?:(?!(?:not )?ok - |1\.\.).*\n)*)/mg) {
        $n++;
        ok(!$1, "$group: $2") or diag($3);
    }

    like($said, qr/^1\.\.$n$/m, "$group: $n cases");
}

# the page's examples: an endpoint, a publisher, a consumer

my ($pushed, $pid) = start('pubsub_endpoint');

ok(wait_for(sub { IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") }, 20),
   'the endpoint runs') or diag(slurp($pushed));
is(node('pubsub', 'push'), '', 'a push subscription');

my @ids = map { /(\d+)/g } node('pubsub', 'publish') =~ /^published (.*)$/mg;

is(scalar @ids, 15, 'all is published');
ok(wait_for(sub { slurp($pushed) =~ tr/\n// >= @ids }, 20), 'all is pushed')
    or diag(slurp($pushed));

my @pushed = slurp($pushed)
    =~ m{^projects/shop/subscriptions/shipping (\d+) \{"customer":"}mg;

is(join(' ', sort @pushed), "@ids", 'each once');

my $out = node('pubsub', 'consume');

for my $name (qw(ann bob eve)) {
    is(join(' ', $out =~ /^handled $name (\d)$/mg), '1 2 3 4 5',
       "all of ${name}'s, in order");
}

is((() = $out =~ /^/mg), 15, 'and nothing else');
is(node('pubsub', 'consume'), '', 'no more');

# the cases

for my $group (qw/resources messages errors push high/) {
    cases($group, node("pubsub/$group"));
}

# Redis is away, and comes back

$s->redis->written;
$s->redis->kill;

(my $file, $pid) = start('pubsub/away');

ok(wait_for(sub { slurp($file) =~ /^# it tries/m }, 20), 'a publish waits');
$s->redis->start;
is(reap($pid, 60), 0, 'it ends well');
cases('away', slurp($file));

$s->finish;

done_testing;
