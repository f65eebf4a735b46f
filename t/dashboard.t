#!/usr/bin/perl

# The dashboard in a real Chromium, by t/client/dashboard.mjs and its stories.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::CheckLog;
use NgxQueues::Jwt;
use NgxQueues::Process qw/spawn reap temp_dir slurp/;
use NgxQueues::Push;
use NgxQueues::Wait;

my $limited = 'qk_limited';
my $reader = 'qk_reader';           # of logs
my $p = NgxQueues::Push->new(workers => 2,
    http => 'queues_redis_timeout 1s; client_max_body_size 16m;'
            . ' queues_oidc_issuer https://queues.example.com; queues_oidc_key '
            . NgxQueues::Jwt->rsa->private . ';',
    keys => [sha256_hex($limited)
             . ' limited queues.get,queues.messages.peek o/rights/seen',
             sha256_hex($reader) . ' reader queen.read.queues o/logs/*'],
    server => 'location /dashboard/ { queues_dashboard; }'
              . ' location /api/v1/ { queues_queen_api o/logs; }'
              . ' location /v1/projects/ { queues_pubsub_api o; }'
              . ' location = /page { queues_dashboard /proxied; }'
              . ' location /proxied/ { proxy_pass http://127.0.0.1:%%PORT%%/; }');
my $s = $p->server;
my $files = $p->tls->files('*.example.com');

my ($chromium) = grep { -x } map { my $dir = $_; map { "$dir/$_" }
    qw/chromium chromium-browser google-chrome/ } split /:/, $ENV{PATH};

die "there is no chromium: t/tools/install test\n" if !defined $chromium;

my $dir = temp_dir();
my $node = spawn({ out => "$dir/out", env => {
    URL => $s->url, CHROMIUM => $chromium, KEY => $s->key, LIMITED => $limited,
    READER => $reader,
    MODULES => "$NgxQueues::Process::top/build/client",
    ENDPOINT_CERTIFICATE => $files->{certificate}, ENDPOINT_KEY => $files->{key},
    REDIS_PID => $s->redis->pid, HOME => $dir, TMPDIR => $dir,
} }, 'node', "$NgxQueues::Process::top/t/client/dashboard.mjs");

is(reap($node, scaled(400)), 0, 'node ends');

my $told = slurp("$dir/out");

while ($told =~ /^(not )?ok - (.*)\n((?:#.*\n)*)/mg) {
    my ($not, $what, $why) = ($1, $2, $3);

    ok(!$not, $what) or diag($why);
}

like($told, qr/^done$/m, 'all stories were told') or diag($told);

$NgxQueues::CheckLog::moved = 1;    # a group that had a lease was sought
$p->finish(allow => [qr/queues/]);

done_testing;
