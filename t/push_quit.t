#!/usr/bin/perl

# A worker that is told to leave has soon left: what it owns is given away at
# once, not when its next timer happens to expire.

use strict;
use warnings;

use List::Util 'sum';
use Test::More;
use Time::HiRes 'sleep', 'time';

use NgxQueues::Push;
use NgxQueues::Wait;

my $p = NgxQueues::Push->new;
my $s = $p->subscribe(batchSize => 1);
my @took;

for my $n (1 .. 5) {
    my ($worker) = $p->server->worker_pids;

    $s->send('x');
    $s->wait($n);
    $s->done(5) or die "not done\n";

    sleep 0.4;              # idle: no timer of its own is near

    my $begin = time;

    kill QUIT => $worker;
    wait_for {
        my @now = $p->server->worker_pids;
        @now == 1 && $now[0] != $worker
        && 1 == $p->server->worker_pids(all => 1);
    } 5 or die "it stays\n";
    push @took, time - $begin;
}

cmp_ok(sum(@took), '<', scaled(0.5), 'five leave soon') or diag("@took");
is((grep { $_->{receiveCount} > 1 } $s->messages), 0,
   'nothing is delivered twice');
$p->finish;

done_testing;
