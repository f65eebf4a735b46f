#!/usr/bin/perl

# Backup and restore as docs/operations.md has them: the snapshots of
# docs/examples/systemd/queues-backup and a copy of the append-only file, in the
# middle of traffic, brought back by the commands of the page. What was there at
# the moment of the copy is there again; what handles do after that.

use strict;
use warnings;

use Test::More;

use NgxQueues::Docs 'block';
use NgxQueues::Example;
use NgxQueues::Process qw/slurp spawn reap/;
use NgxQueues::Wait;

my $top = $NgxQueues::Process::top;
my $e = NgxQueues::Example->new('one-server', systemctl => 1);
my $url = 'http://127.0.0.1:8080/v1';
my $P = "$url/organizations/acme/projects/shop";
my $backups = "$e->{dir}/var/backups/queues";

$e->{systemctl} = 0;
$e->sh('Set up');
$e->{systemctl} = 1;
$e->redis('redis.conf', ping => ['-s', "$e->{dir}/run/redis/redis.sock"]);
$e->nginx('nginx.conf');

my @key = ('-H', 'Authorization: Bearer ' . $e->set('KEY'));

# the one that fits this server is the server itself, by another name

my ($name) = ($ENV{REDIS_SERVER} || 'redis-server') =~ m{([^/]+)-server$};
my $check = "$e->{dir}/bin/$name-check-rdb";

my ($server) = grep { -x } map { "$_/$name-server" }
    ($ENV{REDIS_SERVER} // '') =~ m{^(.*)/} ? $1 : split /:/, $ENV{PATH};

symlink $server, $check or die $!;

sub backup {
    my ($out) = @_;

    return reap(spawn({ out => $out, env => {
        REDIS_SOCKET => "$e->{dir}/run/redis/redis.sock",
        REDIS_CHECK_RDB => $check,
    } }, "$top/docs/examples/systemd/queues-backup", $backups, 2), 60);
}

# a call, again while Redis is being found

sub call {
    my ($path, $body, @more) = @_;

    my $r;

    wait_for {
        $r = $e->curl($path =~ /^http/ ? $path : "$P/$path", @key, '-d', $body,
                      @more);
        $r->{status} != 503
    } 10;

    return $r;
}

sub bodies {
    my ($queue) = @_;

    my @bodies;

    while (1) {
        my $r = call("queues/$queue/messages/receive",
                     '{"maxMessages":10,"visibilityTimeoutSeconds":600}');

        last if !@{ $r->{json}{messages} || [] };
        push @bodies, map { $_->{body} } @{ $r->{json}{messages} };
    }

    return join ' ', sort @bodies;
}

sub receive {
    my ($queue) = @_;

    return call("queues/$queue/messages/receive",
                '{"visibilityTimeoutSeconds":600}')->{json}{messages}[0];
}

sub acknowledge {
    my ($message) = @_;

    my $r = call("$url/receipts/ack",
                 qq({"receiptHandles":["$message->{receiptHandle}"]}))
        ->{json}{results}[0];

    return $r->{ok} ? 'ok' : $r->{error};
}

for my $way (qw/snapshot file/) {
    my ($queue, $fifo) = ("work-$way", "line-$way");

    call('queues', qq({"name":"$queue"}));
    call('queues', qq({"name":"$fifo","kind":"fifo"}));
    call("queues/$queue/messages",
         '{"messages":[{"body":"a"},{"body":"b"},{"body":"c"},{"body":"d"}]}');
    call("queues/$fifo/messages",
         '{"body":"once","groupId":"g","deduplicationId":"1"}');

    my $held = receive($queue);
    my $done = receive($queue);

    acknowledge($done);

    if ($way eq 'snapshot') {
        my $out = "$e->{dir}/backup.out";
        my $status = backup($out);

        is($status, 0, 'the backup') or diag(slurp($out));
        like(slurp($out), qr{^\Q$backups\E/dump-\d+T\d+Z\.rdb$}m,
             'it says where');
        is((stat glob "$backups/*.rdb")[2] & 077, 0, 'for its owner alone');

    } else {
        $e->script('a copy of the file',
                   block('docs/operations.md', qr/auto-aof-rewrite-percentage 0/));
        like($e->redis_cli('redis', qw/CONFIG GET auto-aof-rewrite-percentage/),
             qr/\b100\b/, 'rewrites go on');
    }

    # after the copy: lost, but for what is only known by handles

    my $later = receive($queue);
    my $gone = receive($queue);

    acknowledge($gone);
    call("queues/$queue/messages", '{"body":"late"}');
    $e->kill('redis');

    $e->script("restore a $way", block('docs/operations.md', $way eq 'snapshot'
        ? qr/appendonly no/ : qr{^cp -a .*appendonlydir /var/lib/redis/}m));

    is(acknowledge($held), 'ok', 'a handle of before the copy is good');
    is(acknowledge($held), 'receipt_handle_stale', 'once');
    is(acknowledge($done), 'receipt_handle_stale', 'what was done stays done');
    is(acknowledge($later), 'receipt_handle_stale', 'one of after it is stale');
    is(bodies($queue), join(' ', sort map { $_->{body} } $later, $gone),
       'what was received and done after it comes again');

    call("queues/$fifo/messages",
         '{"body":"once","groupId":"g","deduplicationId":"1"}');
    is(bodies($fifo), 'once', 'what was sent before is known when it comes again');

    # and it is in the files that Redis writes from now on

    call("queues/$queue/messages", '{"body":"new"}');
    $e->stop('redis');
    $e->redis_start('redis');
    is(bodies($queue), 'new', 'a restart keeps it');
}

# old copies go

my ($first) = glob "$backups/*.rdb";

is(join(' ', map { backup() } 1 .. 2), '0 0', 'two more');

my @left = glob "$backups/*.rdb";

is(scalar @left, 2, 'the last two stay');
ok(!-e $first, 'the first is gone');

$e->finish;
done_testing;
