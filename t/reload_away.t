#!/usr/bin/perl

# Reloads while Redis is away and clients ask all the time: a worker leaves when
# it has answered them. One that did not would log an alert, which is a failure.

use strict;
use warnings;

use POSIX ();
use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(workers => 2);
my $q = NgxQueues::Queue->new($s);

$s->redis->kill;

my $pid = fork;

die "fork: $!" if !defined $pid;

if ($pid == 0) {
    my $c = $s->client;

    $SIG{TERM} = sub { POSIX::_exit(0) };
    alarm 60;

    while (1) {
        my @h = map {
            $c->start(POST => $q->path('/messages'), { body => 'a' })
        } 1 .. 16;

        $c->wait_all(\@h, 5);
    }
}

sub refused { scalar(() = $s->access_log =~ /" 503 /g) }

for (1 .. 4) {
    my $before = refused();

    wait_for { refused() > $before + 50 } or die "nobody asks\n";
    $s->reload(drained => 10);
}

kill TERM => $pid;
waitpid $pid, 0;

is($s->error_log =~ /open socket/ ? 'an open socket' : '', '',
   'all were answered before the workers left');

$s->redis->start;
ok(wait_for(sub {
    $s->client->post($q->path('/messages'), { body => 'a' })->{status} == 404
}), 'and the new ones serve');
$s->finish;

done_testing;
