#!/usr/bin/perl

# What a subscription retains comes back with a seek, however soon after its
# creation it was published; and nothing does that was published before.

use strict;
use warnings;

use Test::More;

use NgxQueues::Pubsub;
use NgxQueues::Wait;

my $s = NgxQueues::Pubsub::server();
my $p = NgxQueues::Pubsub->new($s);
my ($lost, $more) = (0, 0);

$p->topic('topic');

# the log of the topic begins anew each time: most of this is in one ms

for my $n (1 .. 60) {
    $p->publish('topic', 'before');
    $p->sub("sub$n", 'topic', retainAckedMessages => \1);
    $p->publish('topic', "after $n");

    my @m = $p->pull("sub$n", 10);

    $p->ack("sub$n", @m);
    $p->call("sub$n", 'seek', { time => '2020-01-01T00:00:00Z' });

    my $data = '';

    wait_for { $data = NgxQueues::Pubsub::data($p->pull("sub$n", 10)) } 1;

    $lost++ if $data !~ /after $n/;
    $more++ if $data =~ /before/;
    $p->delete('subscriptions', "sub$n");
}

is($lost, 0, 'what came after it is there');
is($more, 0, 'what came before it is not');

$s->finish;

done_testing;
