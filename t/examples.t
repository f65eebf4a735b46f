#!/usr/bin/perl

# docs/examples: each configuration is started as it is there (only folders,
# addresses and ports are others), after the commands of its README.md, and
# called as its README.md says and further.

use strict;
use warnings;

use Test::More;

use NgxQueues::Docs 'block';
use NgxQueues::Example;
use NgxQueues::Process qw/spawn reap slurp spurt temp_dir/;
use NgxQueues::Wait;

my $top = $NgxQueues::Process::top;
my $P = '/v1/organizations/acme/projects/shop';

sub bearer { ('-H', "Authorization: Bearer $_[0]") }

sub body { ('-d', $_[0]) }

# what a folder's Redis on a Unix socket is asked by

sub by_socket { (ping => ['-s', "$_[0]{dir}/run/redis/redis.sock"]) }

# waiting($e) looks at what Redis is asked from now on; waiting($e, 4) returns
# when four receives have asked, and so wait

my ($monitor, $seen);

sub waiting {
    my ($e, $n) = @_;

    if (!$n) {
        $seen = temp_dir() . '/seen';
        $monitor = spawn({ out => $seen }, 'redis-cli',
                         @{ $e->{redis}{redis}{ping} }, 'MONITOR');
        wait_for { slurp($seen) =~ /^OK/m } or die 'Redis tells nothing';
        return;
    }

    wait_for {
        my @asked = slurp($seen) =~ /"FCALL" "ngxq_\w+_receive"/gi;
        @asked >= $n
    } or die "no $n receives: ", slurp($seen);

    NgxQueues::Process::stop($monitor, 'TERM', 5);
}

subtest 'one-server' => sub {
    my $e = NgxQueues::Example->new('one-server');

    $e->sh('Set up');
    $e->redis('redis.conf', by_socket($e));
    $e->nginx('nginx.conf');

    my $said = $e->sh('Try it');

    like($said, qr/"status": ?"ok"/, 'it is well');
    like($said, qr/"body": ?"hello"/, 'and gives what was sent');

    my $url = 'http://127.0.0.1:8080';
    my @key = bearer($e->set('KEY'));

    is($e->curl("$url/v1/projects/shop/topics/orders", '-X', 'PUT', @key,
                body('{}'))->{status}, 200, 'a topic');
    is($e->curl("$url/api/v1/push", @key,
                body('{"items":[{"queue":"l","payload":1}]}'))->{status}, 201,
       'a log');
    like($e->curl("$url/dashboard/")->{body}, qr/<html/, 'a page for people');
    is($e->curl("$url$P/queues", bearer('none'))->{status}, 401,
       'not without a key');
    is($e->curl("$url/healthz", @key)->{status}, 404,
       'health is not for clients');
    like($e->curl('http://127.0.0.1:8081/metrics')->{body},
         qr/^queues_messages_sent_total\{api="queen"\} 1$/m, 'metrics');

    like(slurp("$e->{dir}/var/log/nginx/queues.log")
         || (wait_for { slurp("$e->{dir}/var/log/nginx/queues.log") } 5),
         qr/"operation":"CreateQueue","queue":"acme\/shop/, 'the log of calls');

    # nothing is lost with Redis, as its settings say

    $e->curl("$url$P/queues/orders/messages", @key, body('{"body":"kept"}'));
    $e->stop('redis');
    $e->redis_start('redis');

    my $r;
    wait_for {
        $r = $e->curl("$url$P/queues/orders/messages/receive", @key, body('{}'));
        $r->{status} == 200
    } 10;

    is($r->{json}{messages}[0]{body}, 'kept', 'a restart of Redis keeps it');
    $e->finish;
};

# the steps of docs/operations.md, one after the other

subtest 'a new secret' => sub {
    my $e = NgxQueues::Example->new('one-server');

    $e->sh('Set up');
    $e->redis('redis.conf', by_socket($e));
    $e->nginx('nginx.conf');
    $e->{systemctl} = 1;

    my $url = 'http://127.0.0.1:8080';
    my @key = bearer($e->set('KEY'));
    my $receive = sub {
        $e->curl("$url$P/queues/orders/messages", @key, body('{"body":"x"}'));
        $e->curl("$url$P/queues/orders/messages/receive", @key, body('{}'))
            ->{json}{messages}[0]{receiptHandle};
    };
    my $acknowledge = sub {
        my $result = $e->curl("$url/v1/receipts/ack",
                              body(qq({"receiptHandles":["$_[0]"]})))
            ->{json}{results}[0];

        $result->{ok} ? 'ok' : $result->{error};
    };

    $e->curl("$url$P/queues", @key, body('{"name":"orders"}'));

    my @old = map { $receive->() } 1 .. 2;

    $e->script('below, then first', block('docs/operations.md', qr/# 2: first/));

    my $new = $receive->();

    is($acknowledge->($old[0]), 'ok', 'a handle of the old line');
    $e->script('alone', block('docs/operations.md', qr/# 3: alone/));
    is($acknowledge->($old[1]), 'receipt_handle_invalid', 'its end');
    is($acknowledge->($new), 'ok', 'a handle of the new one');
    is((stat "$e->{dir}/etc/nginx/queues.secret")[2] & 077, 0,
       'the file is for its owner alone');
    $e->finish;
};

subtest 'tls-http2' => sub {
    my $e = NgxQueues::Example->new('tls-http2');

    $e->certificate('etc/nginx/tls/fullchain.pem', 'etc/nginx/tls/privkey.pem',
                    'queues.example.com');
    $e->sh('Set up');
    $e->redis('../one-server/redis.conf', by_socket($e));
    $e->nginx('nginx.conf');

    like($e->sh('Try it'), qr/"body": ?"hello"/, 'sent and received');

    my $url = 'https://queues.example.com';
    my @key = bearer($e->set('KEY'));
    my $r = $e->curl("http://queues.example.com$P/queues", @key, body('{}'));

    is($r->{status}, 308, 'HTTP leads to HTTPS');
    like($r->{head}, qr/^Location: \Q$url$P\E\/queues\r$/m, 'the same path');

    $e->curl("$url$P/queues", @key, body('{"name":"wait"}'));

    # two receives wait over HTTP/2; a send ends one of them, the other goes on

    waiting($e);

    my @waits = map {
        $e->later("$url$P/queues/wait/messages/receive", @key,
                  body('{"waitSeconds":' . $_ . '}'))
    } 20, 20;

    waiting($e, 2);
    $r = $e->curl("$url$P/queues/wait/messages", @key,
                  body('{"messages":[{"body":"a"},{"body":"b"}]}'));
    is($r->{status}, 201, 'a send');

    my @got = map { $_->() } @waits;

    is(join(' ', map { $_->{version} } @got), '2 2', 'over HTTP/2');
    cmp_ok($got[0]{seconds}, '<', 15, 'a receive gets it while it waits');
    is(join(' ', sort map { $_->{body} } map { @{ $_->{json}{messages} || [] } } @got),
       'a b', 'both get theirs') or diag(map { $_->{said}, $_->{body} } @got);

    ok((wait_for {
        slurp("$e->{dir}/var/log/nginx/queues.log") =~ /"protocol":"HTTP\/2.0"/
    } 5), 'the log says HTTP/2');

    $e->curl("$url$P/queues/none", @key);
    ok((wait_for {
        slurp("$e->{dir}/var/log/nginx/queues_errors.log")
            =~ /"error":"queue_not_found"/
    } 5), 'errors have a log of their own');
    is($e->curl('http://127.0.0.1:8081/healthz')->{status}, 200, 'health');

    is($e->curl("$url/dashboard/")->{status}, 403, 'the page is for within');

    # the bucket of a queue has 400 tokens, and gets 200 in a second

    my $many;

    ok((wait_for {
        $many = $e->curl(@key, '-Z', '--parallel-max', 40, '-w',
            "%{http_code}\n", "$url$P/queues/wait?[1-600]")->{said};
        $many =~ /^429$/m
    } 30), 'a queue that is called too often is limited');
    like($many, qr/^200$/m, 'some calls were in time');
    $e->finish;
};

subtest 'two-hosts' => sub {
    my $e = NgxQueues::Example->new('two-hosts');

    $e->{replace}{'10.0.0.0/8'} = '127.0.0.0/8';
    $e->certificate('etc/nginx/tls/fullchain.pem', 'etc/nginx/tls/privkey.pem',
                    'queues.example.com');
    $e->install('queues.keys', 'etc/nginx/queues.keys');
    $e->sh('Set up');
    $e->redis('../one-server/redis.conf', by_socket($e));
    $e->nginx('nginx.conf');

    my $said = $e->sh('Try it');

    like($said, qr/"body": ?"hello"/, 'sent and received');
    like($said, qr/HTTP\/2 404/, 'the control API is not public');

    my $inner = "http://queues.internal:8080";
    my $public = 'https://queues.example.com';
    my @admin = bearer($e->set('ADMIN'));
    my @shop = bearer($e->set('SHOP'));
    my $status = sub { $e->curl(@_)->{status} };

    is($status->("$inner/metrics", @$_[1 .. $#$_]), $_->[0], 'metrics are for a key')
        for [401], [403, @shop], [200, @admin];
    is($status->("$public$P/queues", @admin, body('{"name":"x"}')), 404,
       'no queue is made there');
    is($status->("$public$P/queues/orders", @admin, '-X', 'DELETE'), 404,
       'none deleted');
    is($status->("$public$P/subscriptions", @admin), 404, 'no subscriptions');
    is($status->("$inner$P/queues/orders/messages", @admin,
                 body('{"body":"x"}')), 405, 'nothing is sent within');
    is($status->("$inner$P/queues/orders/messages/receive", @admin,
                 body('{}')), 404, 'or received');
    is($status->("$inner/v1/receipts/ack", body('{"receiptHandles":[]}')), 404,
       'no receipts within');
    is($status->("$public$P/queues/orders/messages/receive", @shop,
                 body('{}')), 403, 'the shop does not receive');

    $e->curl("$public$P/queues/orders/messages", @shop, body('{"body":"one"}'));

    my $r = $e->curl("$public$P/queues/orders/messages/receive",
                     bearer($e->set('WAREHOUSE')), body('{"waitSeconds":5}'));
    my $handle = $r->{json}{messages}[0]{receiptHandle};

    is($status->("$public/v1/receipts/ack",
                 body(qq({"receiptHandles":["$handle"]}))), 200,
       'a handle is enough');
    $e->finish;
};

subtest 'several-nodes' => sub {
    my $e = NgxQueues::Example->new('several-nodes');

    my ($redis, $replica) = map { $e->port(6379, $_) } qw/redis replica/;
    my $ca = "$e->{dir}/etc/redis/tls/internal-ca.pem";

    $e->{replace} = {
        'redis.internal:6379' => "127.0.0.1:$redis",
        'bind 10.0.0.20' => 'bind 127.0.0.1', 'tls-port 6379' => "tls-port $redis",
        '10.0.0.20 6379' => "127.0.0.1 $redis",
        '10.0.0.10' => '127.0.0.1', '-h 10.0.0.21' => "-h 127.0.0.1 -p $replica",
        map { ("10.0.0.1$_:8080" => '127.0.0.1:' . $e->port(8080, "node$_")) }
            1, 2
    };

    $e->certificate('etc/nginx/tls/fullchain.pem', 'etc/nginx/tls/privkey.pem',
                    'queues.example.com');
    $e->certificate('etc/redis/tls/redis.pem', 'etc/redis/tls/redis.key',
                    'redis.internal', '127.0.0.1');
    spurt("$e->{dir}/etc/$_/tls/internal-ca.pem", slurp($e->{tls}->ca))
        for qw/redis nginx/;
    $e->install($_, "etc/redis/$_") for qw/users.acl redis.conf/;
    $e->sh('Set up');
    $e->{replace}{'REPLICA-PASSWORD'} = $e->set('REPLICA');

    my @ask = ('--tls', '--cacert', $ca, '--no-auth-warning', '--user', 'admin',
               '--pass', $e->set('ADMIN'), '-p');

    $e->redis('redis.conf', ping => [@ask, $redis]);
    $e->redis('redis.conf', name => 'replica', ping => [@ask, $replica],
              change => sub {
        $_[0] =~ s/^# (replicaof )/$1/mr =~ s/^tls-port .*/tls-port $replica/mr
    });

    wait_for {
        $e->redis_cli('redis', 'INFO', 'replication') =~ /state=online/
    } 20 or die 'no replica';

    $e->nginx('node.conf', name => "node$_") for 1, 2;
    $e->nginx('balancer.conf');

    my $said = $e->sh('Try it');

    like($said, qr/"body": ?"hello"/, 'sent and received');

    # the user of redis.md

    my ($acl) = slurp("$top/docs/redis.md")
        =~ /^ACL SETUSER queues on >PASSWORD (.*?)^```/ms;
    my ($user) = slurp("$top/docs/examples/several-nodes/users.acl")
        =~ /^user queues on \S+ (.*)/m;

    is($user, join(' ', split ' ', $acl), 'its rights are those of redis.md');

    my $url = 'https://queues.example.com';
    my @key = bearer($e->set('KEY'));
    my $call = sub { $e->curl("$url$P/queues/$_[0]", @key, body($_[1])) };
    my %log = map { $_ => "$e->{dir}/var/log/nginx/node$_/queues.log" } 1, 2;
    my $calls = sub { my @n = slurp($log{$_[0]}) =~ /"SendMessages"/g; @n + 0 };

    $e->curl("$url$P/queues", @key, body('{"name":"a"}'));

    for (1 .. 6) {
        is($call->('a/messages', qq({"body":"$_"}))->{status}, 201, "send $_");
    }

    ok((wait_for { $calls->(1) && $calls->(2) } 5), 'both nodes have work');
    like($e->curl("http://127.0.0.1:" . $e->port(8081, 'node1') . '/metrics',
                  @key)->{body}, qr/^queues_redis_links\{kind="sends"\} [12]$/m, 'metrics');
    like(slurp($log{1}) . slurp($log{2}), qr/"address":"127\.0\.0\.1"/,
         'and know who called');

    # one node is lost: receives that wait there end with 503, the next calls
    # go to the other one, and each send is there once

    waiting($e);

    my @waits = map {
        $e->later("$url$P/queues/orders/messages/receive", @key,
                  body('{"waitSeconds":20}'))
    } 1 .. 4;

    waiting($e, 4);
    $e->kill('node1');

    for (7 .. 12) {
        is($call->('a/messages', qq({"body":"$_"}))->{status}, 201,
           "send $_, without the node");
    }

    my $sent = $call->('orders/messages',
                       '{"messages":[{"body":"w"},{"body":"w"},{"body":"w"},'
                       . '{"body":"w"}]}');
    is($sent->{status}, 201, 'what they wait for');

    my @got = map { $_->() } @waits;

    is(join(' ', sort map { $_->{status} } @got), '200 200 503 503',
       'receives there end with 503, the others get theirs')
        or diag(map { "$_->{said}\n$_->{head}" } @got), diag($e->log);
    is($_->{json}{error}, 'unavailable', 'an error in the form of the API')
        for grep { $_->{status} == 503 } @got;

    my %count;

    wait_for {
        my $r = $call->('a/messages/receive', '{"maxMessages":10}');

        $count{ $_->{body} }++ for @{ $r->{json}{messages} || [] };
        keys %count == 12
    } 20;

    is(join(' ', map { $count{$_} // 0 } 1 .. 12), join(' ', (1) x 12),
       'each message is there once');

    $e->nginx_start('node1');

    my $before = $calls->(1);

    ok((wait_for {
        $call->('a/messages', '{"body":"again"}');
        $calls->(1) > $before
    } 20), 'a node that is back is asked again');

    # both away

    $e->stop($_) for qw/node1 node2/;

    my $r = $call->('a/messages', '{"body":"lost"}');

    is($r->{status}, 503, 'without nodes: 503');
    like($r->{head}, qr/^Retry-After: 1\r$/mi, 'with a time');
    is($r->{json}{error}, 'unavailable', 'in the form of the API');

    $e->nginx_start($_) for qw/node1 node2/;

    # the primary dies, its replica takes over; the name is a port here

    $e->kill('redis');
    $e->sh('When the primary dies');
    like($e->redis_cli('replica', 'INFO', 'replication'), qr/^role:master/m,
         'the replica is promoted');
    like($e->redis_cli('replica', 'KEYS', 'ngxq:*'), qr/acme\/shop/,
         'and has the messages');
    $e->finish;
};

subtest 'systemd' => sub {
    my $from = "$top/docs/examples/systemd";
    my $units = temp_dir();

    # beside the units of Debian, and the programs that they name

    for (qw/nginx redis-server/) {
        spurt("$units/$_.service", slurp("/lib/systemd/system/$_.service"));
        mkdir "$units/$_.service.d";
        spurt("$units/$_.service.d/queues.conf",
              slurp("$from/$_.service.d/queues.conf"));
    }

    for (qw/queues-backup.service queues-backup.timer/) {
        spurt("$units/$_", slurp("$from/$_")
              =~ s{/usr/local/sbin/queues-backup}{$from/queues-backup}r);
    }

    my $out = "$units/out";
    my $status = reap(spawn({ out => $out, env => {
        SYSTEMD_UNIT_PATH => "$units:", SYSTEMD_LOG_LEVEL => 'warning',
    } }, 'systemd-analyze', 'verify', '--man=no', '--recursive-errors=no',
        map { "$units/$_" } qw/nginx.service redis-server.service
                               queues-backup.service queues-backup.timer/), 60);

    is($status, 0, 'systemd takes the units');
    is(join("\n", grep { /queues/ } split /\n/, slurp($out)), '',
       'and says nothing about what is here');

    my @unknown = grep {
        my $file = "/proc/sys/$_" =~ s{(?<=.)\.}{/}gr; !-e $file
    } slurp("$from/60-queues.conf") =~ /^(\S+) = /mg;

    is("@unknown", '', 'the kernel has the settings');
    ok(-x "$from/queues-backup", 'the backup can be run');

    # what the README's commands make is where the timer's unit writes

    my $e = NgxQueues::Example->new('systemd');

    rmdir "$e->{dir}/var/backups/queues";
    $e->sh(undef);
    ok(-d "$e->{dir}/var/backups/queues", 'README.md makes the folder');
};

done_testing;
