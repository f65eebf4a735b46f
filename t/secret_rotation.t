#!/usr/bin/perl

# queues_secret_file: its first line makes handles, all of them open handles;
# API keys come and go by a reload.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Process qw/slurp spurt/;
use NgxQueues::Queue;
use NgxQueues::Server;

my $s = NgxQueues::Server->new(workers => 2);
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);
my $file = $s->{secret_file};
my $old = slurp($file);
my $new = sha256_hex('another secret') . "\n";

sub secrets {
    my ($text) = @_;

    spurt($file, $text, 0600);
    $s->reload(drained => 15);
    $q->{client} = $s->client;
}

$q->send(map { "m$_" } 0 .. 9);

my @m = $q->receive(maxMessages => 4);

# a new first line: old handles go on working, new ones are of the new secret

secrets("$new$old");
is($q->ack($m[0]), 'ok', 'a handle of the old secret');
push @m, $q->receive(maxMessages => 2);
is($q->ack($m[4]), 'ok', 'a handle of the new one');
is($q->visibility(60, $m[1], $m[5]), 'ok ok', 'both in a request');

# the other order, empty lines and line ends of another system

secrets("\n" . ($old =~ s/\n/\r\n/r) . "\r\n\n$new");
is($q->ack($m[1], $m[5]), 'ok ok', 'in another order');
push @m, $q->receive;
is($q->visibility(60, $m[2], $m[6]), 'ok ok', 'and of both');

# without a line end

secrets($new . $old =~ s/\n//r);
is($q->visibility(60, $m[2]), 'ok', 'the last line without its end');

# the old one is gone: its handles are not ours any more

secrets($new);
is($q->ack($m[2], $m[6]), 'invalid invalid', 'handles of the removed secret');
push @m, $q->receive;
is($q->ack($m[7]), 'ok', 'and of the new one');

# the old secret again: nothing was lost meanwhile

secrets("$new$old");
is($q->ack($m[2], $m[3], $m[6]), 'ok ok ok', 'it is known again');

# a wrong file: the reload is refused, the old workers go on

my @workers = $s->worker_pids;
my $line = qr/is shorter than 32 bytes/;

spurt($file, "short\n", 0600);
$s->signal('HUP');
ok(NgxQueues::Wait::wait_for(sub { $s->error_log =~ $line }, 5),
   'a short secret is refused');
is(join(' ', $s->worker_pids), "@workers", 'and nothing changes');

my ($m) = $q->receive;

is($q->ack($m), 'ok', 'it goes on');
secrets("$new$old");

# nodes: one that is ahead and one that is behind understand each other only
# where both secrets are in both files

my $node = NgxQueues::Server->new(node_of => $s);

($m) = $q->receive(at => $node->client);
is($q->ack($m), 'ok', 'a handle of another node');

# keys: a new one, and one that is gone

my $keys = $s->{keys_file};

spurt($keys, sha256_hex('other') . " o * *\n", 0600);
$s->reload(drained => 15);
is($s->client->get($q->path)->{status}, 401, 'a key that was removed');
is($s->client(key => 'other')->get($q->path)->{status}, 200, 'and a new one');

is($s->client(key => 'other')->get($q->path)->{json}{counts}{visible}, 0,
   'all were received');
unlike($s->error_log . $s->access_log, qr/\Q@{[$new =~ s{\n}{}r]}\E|AQ\w{20}/,
       'no secret and no handle in a log');

$node->finish;
$s->finish(allow => [$line]);

done_testing;
