#!/usr/bin/perl

# Many consumers of a queue with many partitions, at once with its producers:
# each partition's order holds in each group, one consumer at a time has it,
# nothing is lost, and nothing comes again but what was refused or left to the
# end of its lease.  ORDER_SEED chooses.

use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Server;
use NgxQueues::Wait;

my $seed = $ENV{ORDER_SEED} || time * 1000 % 1_000_000_000;
my $lanes = 20;
my $each = 120;                     # messages of a lane

srand $seed;

my $s = NgxQueues::Server->new(workers => 2,
    locations => 'location /api/v1/ { queues_queen_api o/p; '
                 . 'queues_auth off; }');
my $c = $s->client(timeout => 20);
my $json = JSON::PP->new->utf8->canonical;

# what a group has of a lane: next, the number of the message that is wanted
# next; end, that of the last one that somebody holds, and who, until when

my (@open, @faults);
my @names = map { "l$_" } 1 .. $lanes;
my %lane;

for my $group ('__QUEUE_MODE__', 'billing') {
    $lane{$group}{$_} = { next => 1 } for @names;
}

my ($pops, $refused, $left, $last) = (0, 0, 0, time);

sub pick { $_[int rand @_] }

sub fault {
    push @faults, $_[0];
}

sub later {
    my ($on, $method, $path, $body) = @_;
    my $h = $c->start($method, "/api/v1$path", $body);

    $h->{on} = $on;
    push @open, $h;
}


# a producer has some of the lanes to itself; a push is of several

sub producer {
    my (@mine) = @_;
    my %sent;

    my $next = sub {
        my ($again, $r) = @_;
        my @left = grep { ($sent{$_} // 0) < $each } @mine;
        my @items;

        fault("push: $r->{status} $r->{body}") if $r
            && ($r->{status} != 201 || $r->{body} =~ /"status":"(?!queued)/);
        return if !@left;

        for (1 .. pick(1, 1, 2, 5, 20)) {
            my $lane = pick(@left);
            next if ($sent{$lane} // 0) >= $each;

            my $n = ++$sent{$lane};
            push @items, { queue => 'orders', partition => $lane,
                           transactionId => "$lane-$n",
                           payload => { n => $n } };
        }

        later(sub { $again->($again, @_) }, POST => '/push',
              { items => \@items });
    };

    $next->($next);
}


# a consumer pops, perhaps acknowledges in parts, pops again

sub consumer {
    my ($name, $group) = @_;
    my $me = "$group $name";
    my $pop;

    # of what is left, one lane after another
    my $ack = sub {
        my ($ack, $lease, @batches) = @_;

        return $pop->() if !@batches;

        my ($lane, $id, @m) = @{ shift @batches };
        my $is = $lane{$group}{$lane};
        my @some = rand() < 0.3 ? splice @m, 0, 1 + rand @m : splice @m;
        my @status = ('completed') x @some;
        my $bad = rand() < 0.06 ? int rand @some : @some;

        $status[$bad] = pick('retry', 'failed') if $bad < @some;
        $refused++ if $bad < @some;

        # from now on it may be somebody else's
        $is->{next} = $bad < @some ? $some[$bad]{data}{n}
                                   : $some[-1]{data}{n} + 1;
        delete $is->{who} if !@m || $bad < @some;
        unshift @batches, [ $lane, $id, @m ] if @m && $bad == @some;
        $last = time;

        later(sub {
            my ($r) = @_;
            my $over = $bad < @some || !@m;

            fault("$me: ack of $lane: $r->{status} $r->{body}")
                if $r->{status} != 200 || @{ $r->{json} } != @some
                   || grep { !$_->{success} || $_->{noop} || $_->{dlq}
                             || !!$_->{leaseReleased} != $over }
                      @{ $r->{json} };
            $ack->($ack, $lease, @batches);
        }, POST => '/ack/batch', { acknowledgments => [ map {
            { transactionId => $some[$_]{transactionId}, partitionId => $id,
              leaseId => $lease, status => $status[$_] }
        } 0 .. $#some ], consumerGroup => $group });
    };

    my $got = sub {
        my ($r, $begin, $seconds, $batch, $partitions) = @_;
        my (@batches, %at);

        return $pop->() if $r->{status} == 204;
        return fault("$me: pop: $r->{status} $r->{body}")
            if $r->{status} != 200;

        for my $m (@{ $r->{json}{messages} }) {
            $at{ $m->{partition} } //= push @batches,
                [ $m->{partition}, $m->{partitionId} ];
            push @{ $batches[ $at{ $m->{partition} } - 1 ] }, $m;
        }

        $pops++;
        fault("$me: more than $batch of $partitions: $r->{body}")
            if @{ $r->{json}{messages} } > $batch || @batches > $partitions;

        for (@batches) {
            my ($lane, undef, @m) = @$_;
            my $is = $lane{$group}{$lane};
            my $n = $is->{next};

            fault("$me: $lane: " . join(' ', map { $_->{data}{n} } @m)
                  . ", and $n is next") if grep { $_->{data}{n} != $n++ } @m;

            # leases are whole ms, and so may end one before
            fault("$me: $lane is $is->{who}'s")
                if defined $is->{who} && $is->{until} - 0.002 > time;
            @$is{qw(who until)} = ($me, $begin + $seconds);
        }

        if ($seconds == 1) {
            $left++;
            return $pop->();
        }

        $ack->($ack, $r->{json}{leaseId}, @batches);
    };

    # some leave what they got to the end of its lease

    $pop = sub {
        return if !grep { $_->{next} <= $each } values %{ $lane{$group} };

        my ($batch, $partitions) = (1 + int rand 10, pick(1 .. 3));
        my $seconds = rand() < 0.02 ? 1 : 60;
        my $begin = time;

        later(sub { $got->($_[0], $begin, $seconds, $batch, $partitions) },
              GET => "/pop/queue/orders?batch=$batch&partitions=$partitions"
                     . "&leaseSeconds=$seconds&wait=true&timeout=2000"
                     . "&consumerGroup=$group");
    };

    $pop->();
}


for my $group (sort keys %lane) {
    consumer($_, $group) for 1 .. 10;
}

producer(@names[ 5 * $_ .. 5 * $_ + 4 ]) for 0 .. 3;

while (@open && @faults < 5 && time < $last + scaled(10)) {
    my $h = $c->wait_any(\@open, 1) or next;

    @open = grep { $_ != $h } @open;
    $h->{on}->($h->result);
}

is("@faults", '', 'order, one consumer at a time, nothing twice')
    or diag("ORDER_SEED=$seed");

for my $group (sort keys %lane) {
    is(join(' ', map { $lane{$group}{$_}{next} - 1 } @names),
       join(' ', ($each) x $lanes), "all of all lanes, group $group");
}

cmp_ok($refused, '>', 0, 'some were refused');
cmp_ok($left, '>', 0, 'and some left');
note("$pops pops, $refused refused, $left left");

# what is left to be popped: nothing

for my $group ('', '&consumerGroup=billing') {
    is($c->get("/api/v1/pop/queue/orders?partitions=100$group")->{status}, 204,
       'nothing is left');
}

$s->finish;

done_testing;
