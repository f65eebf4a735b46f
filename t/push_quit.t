#!/usr/bin/perl

# A worker that is told to leave has soon left: what it owns is given away at
# once, not when its next timer happens to expire. How soon one can leave that has
# nothing to give away, on this machine at that time, is looked at as well.

use strict;
use warnings;

use List::Util 'sum';
use Test::More;
use Time::HiRes 'sleep', 'time';

use NgxQueues::Push;
use NgxQueues::Server;
use NgxQueues::Wait;

my $p = NgxQueues::Push->new;
my $s = $p->subscribe(batchSize => 1);
my $none = NgxQueues::Server->new;
my (@took, @least);

sub leaves {
    my ($server) = @_;

    my ($worker) = $server->worker_pids;
    my $begin = time;

    kill QUIT => $worker;
    wait_for {
        my @now = $server->worker_pids;
        @now == 1 && $now[0] != $worker && 1 == $server->worker_pids(all => 1);
    } or die "it stays\n";

    return time - $begin;
}

for my $n (1 .. 5) {
    $s->send('x');
    $s->wait($n);
    $s->done or die "not done\n";

    sleep 0.4;              # idle: no timer of its own is near

    push @took, leaves($p->server);
    push @least, leaves($none);
}

cmp_ok(sum(@took), '<', scaled(0.5) + 3 * sum(@least), 'five leave soon')
    or diag("@took; @least");
is((grep { $_->{receiveCount} > 1 } $s->messages), 0,
   'nothing is delivered twice');
$none->finish(name => 'one without subscriptions');
$p->finish;

done_testing;
