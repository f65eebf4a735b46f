#!/usr/bin/perl

# "make run" and all that README.md does with it, a push subscription among it,
# with the endpoint of docs/api/queues.md: literally, but for ports and the folder.

use strict;
use warnings;

use IO::Socket::INET;
use JSON::PP 'decode_json';
use Test::More;

use NgxQueues::Docs ();
use NgxQueues::Docs::Shell;
use NgxQueues::Process qw/spawn reap gone stop free_port temp_dir spurt slurp
                          sanitizer_env sanitizer_reports/;
use NgxQueues::Wait;

my $top = $NgxQueues::Process::top;
my $dir = temp_dir();
my %port = map { $_ => free_port() } 8080, 8443, 8081;
my ($readme, $page) = qw{README.md docs/api/queues.md};

# a block of code that has this, with our ports and folder

sub block {
    my ($file, $has) = @_;

    my $block = NgxQueues::Docs::block($file, $has);

    $block =~ s/\b(8080|8443|8081)\b/$port{$1}/g;
    $block =~ s{(?<!\w)run/}{$dir/run/}g;

    return $block;
}

sub sh {
    my ($script, %env) = @_;

    my $out = "$dir/sh.out";

    unlink $out;
    spurt("$dir/sh", "shopt -s expand_aliases\nset -e\n$script");

    my $pid = spawn({ out => $out, env => \%env }, 'bash', "$dir/sh");
    my $status = reap($pid, 30);

    is($status, 0, 'the lines work') or diag($script, slurp($out));

    return slurp($out);
}

# README: settings and a certificate; then "make run" itself

my $settings = block($readme, qr{^mkdir -p run/http\.d}m);

$settings =~ s/^make run\n\z//m or die "it does not end with make run\n";
sh($settings);

my ($sanitizer, $prefix) = sanitizer_env();
my $run = spawn({ out => "$dir/out", death => 'TERM', env => {
    %$sanitizer, PORT => $port{8080}, RUN_DIR => "$dir/run",
    NGINX_BINARY => $ENV{TEST_NGINX_BINARY} || '/usr/sbin/nginx',
    MODULE => $ENV{NGX_QUEUES_MODULE} // '',
} }, "$top/t/tools/run");

ok(wait_for(sub { slurp("$dir/out") =~ /API key/ || gone($run) }, 20), 'it runs')
    or diag(slurp("$dir/out"));

my ($key) = slurp("$dir/out") =~ /API key +(\S+)/;
my $dashboard = "http://127.0.0.1:$port{8080}/dashboard/";

like(slurp("$dir/out"), qr/Dashboard \Q$dashboard\E$/m, 'it names the dashboard');
like(sh("curl -sS $dashboard"), qr/^<!doctype html>/, 'and serves it');

my ($names) = slurp('/etc/resolv.conf') =~ /^nameserver\s+([\d.]+)\s*$/m;

SKIP: {
    skip 'no name server here', 1 if !defined $names;

    like(slurp("$dir/run/nginx.conf"), qr/resolver .*\Q$names\E/,
         'the name servers of the machine');
}

# the lines of README, with the alias that it makes before

my $base = join '', block($readme, qr/^alias q=/m) =~ /^((?:P|alias q)=.*\n)/mg;
my ($subscribe, $send) = split /^(?=.*\/messages)/m,
    block($readme, qr/localhost:8443.*signingSecret/), 2;

my $said = sh($base . $subscribe, KEY => $key);
my ($secret) = $said =~ /"signingSecret":"(whsec_\w+)"/;

ok(defined $secret, 'a subscription, with its secret') or diag($said);

# the endpoint of the page, in Python

spurt("$dir/endpoint.py", block($page, qr/^class Endpoint/m));
spawn({ out => "$dir/endpoint", env => { SIGNING_SECRETS => $secret // '',
                                         PYTHONUNBUFFERED => 1 } },
      '/usr/bin/python3', "$dir/endpoint.py");
ok(wait_for(sub { IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port{8081}") },
            10), 'the endpoint runs') or diag(slurp("$dir/endpoint"));

sh($base . $send, KEY => $key);
ok(wait_for(sub { slurp("$dir/endpoint") =~ /^\S+ hello$/m }, 5),
   'the message is delivered') or diag(slurp("$dir/endpoint"));

my ($list, $status) = $base . "q \$P/subscriptions\n";

ok(wait_for(sub {
    my ($json) = sh($list, KEY => $key) =~ /^(\{.*\})$/m;

    $status = decode_json($json)->{subscriptions}[0]{status};
    defined $status->{lastSuccessAt};
}, 5), 'and acknowledged') or diag(explain($status));
is($status->{health}, 'healthy', 'with no failure');

# all other lines: queues, FIFO and dead letters, topics, the log

my @blocks = map { NgxQueues::Docs::block($readme, $_) }
    qr/^KEY=…/m, qr/"deadLetterQueueId"/, qr{hooks\.example\.com/orders}, qr/^T=/m,
    qr/^L=/m;
my $shell = NgxQueues::Docs::Shell->new(url => "http://127.0.0.1:$port{8080}",
                                        key => $key);
my @done = $shell->run(@blocks);

for (0 .. $#done) {
    ok($done[$_]{ok}, 'the lines work: ' . $blocks[$_] =~ s/\n.*//sr)
        or diag($blocks[$_], $done[$_]{out});
}

sub answers { map { decode_json($_) } @{ $done[$_[0]]{answers} } }

my ($receive, $ack) = (answers(0))[2, 3];

is($receive->{messages}[0]{body}, '{"orderId": 1}', 'received');
is_deeply($ack->{results}, [{ ok => JSON::PP::true }], 'and acknowledged');
is((answers(1))[4]{moved}, 0, 'a redrive');
like((answers(2))[0]{signingSecret}, qr/^whsec_/, 'a subscription');

my @topic = answers(3);

is($topic[0]{name}, 'projects/shop/topics/orders', 'a topic');
is_deeply($topic[1]{pushConfig}, {}, 'its subscription');
is($topic[3]{receivedMessages}[0]{message}{messageId}, $topic[2]{messageIds}[0],
   'published and pulled');
is_deeply($topic[4], {}, 'and acknowledged');

my ($pushed, $popped, $acked) = answers(4);

is($pushed->[0]{status}, 'queued', 'pushed');
is_deeply($popped->{messages}[0]{data}, { n => 1 }, 'popped');
is($acked->[0]{success}, JSON::PP::true, 'acknowledged');

# Ctrl-C

ok(stop($run, 'INT', 20), 'it ends');
ok(!IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port{8080}"), 'nginx has ended');
ok(!-e "$dir/run/redis.sock", 'and Redis');
is(sanitizer_reports($prefix), '', 'no sanitizer report');

done_testing;
