#!/usr/bin/perl

# The functions of redis/*.lua: no call does more than a bounded work, however
# large the messages are that are due, and however many.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;

NgxQueues::Functions::start();

my $big = 'x' x 1048000;

# how many messages are stored on queues

sub stored {
    my $n = 0;

    for my $q (@_) {
        my $gen = (split /:/, hot($q, 's'))[2];

        $n += $r->call('HLEN', key('u', $q, $gen))
              + $r->call('XLEN', key('m', $q, $gen));
    }

    return $n;
}

# how often a command ran in the functions that $do calls

sub commands {
    my ($name, $do) = @_;

    $r->call(qw/CONFIG RESETSTAT/);
    $do->();

    my ($n) = $r->call(qw/INFO commandstats/)
              =~ /^cmdstat_\Q$name\E:calls=(\d+)/m;

    return $n // 0;
}

# calls till nothing is left to do; most messages that one call took off queues

sub most {
    my ($queues, $more, @call) = @_;
    my ($before, $most, $calls) = (stored(@$queues), 0, 0);

    while ($calls++ < 200) {
        my $reply = f(@call);
        my $left = stored(@$queues);

        $most = $before - $left if $before - $left > $most;
        $before = $left;
        last if !$more->($reply);
    }

    cmp_ok($calls, '<', 200, "$call[0]: $calls calls");

    return $most;
}

my @maintain = (sub { $_[0][1] == 0 }, 'maintain', 'w', 10);

sub count_of { (sub { $_[0][14] }, 'queue_count', "q$_[0]") }


for my $kind ('standard', 'fifo') {
    subtest "dead letters, $kind" => sub {
        my $dead = create('dead', kind => $kind, max => 1048576);
        my @q = map { create("q$_", kind => $kind, dlq => $dead, mrc => 1,
                             vt => 150, max => 1048576) } 1 .. 3;

        for my $by ('count', 'work', 'receive') {
            for my $q (@q) {
                for (1 .. 8) {
                    $kind eq 'fifo' ? put_fifo($q, "g$_", $big)
                                    : put($q, '', $big);
                }

                # each alone, or two at once
                for (1 .. 6) {
                    $kind eq 'fifo' ? take_fifo($q, 1 + $_ % 2, 150)
                                    : take($q, 1 + $_ % 2, 150);
                }
            }

            elapse(300);

            my $most = $by eq 'count' ? most([$q[0]], count_of($q[0]))
                     : $by eq 'work' ? most(\@q, @maintain)
                     : most([$q[0]], sub { $_[0][3] > 0 }, 'receive', "q$q[0]",
                            10, 150, 0, 12345);

            ok($most > 0 && $most <= 6, "$by: at most $most in a call");
            f('queue_purge', "q$_") for @q, $dead;
            sound('sound');
        }

        f('queue_delete', "q$_") for @q, $dead;
    };


    subtest "retention, $kind" => sub {
        my @q = map { create("q$_", kind => $kind, ret => 600,
                             max => 1048576) } 1 .. 3;

        for my $by ('count', 'work') {
            for my $q (@q) {
                for (1 .. 8) {
                    $kind eq 'fifo' ? put_fifo($q, "g$_", $big)
                                    : put($q, '', $big);
                }
            }

            elapse(300);
            $kind eq 'fifo' ? put_fifo($_, 'h', 'young') : put($_, '', 'young')
                for @q;
            elapse(300);

            my $most = $by eq 'count' ? most([$q[0]], count_of($q[0]))
                                      : most(\@q, @maintain);

            # whole nodes of a stream go at once
            ok($most > 0 && ($kind eq 'standard' || $most <= 5),
               "$by: at most $most in a call");
            f('queue_purge', "q$_") for @q;
            sound('sound');
        }

        f('queue_delete', "q$_") for @q;
    };
}


subtest 'redrive of what stays, FIFO' => sub {
    my $dead = create('dead', kind => 'fifo', max => 1048576);
    my ($calls, $reply) = (0);

    put_fifo($dead, "g$_", $big) for 1 .. 20;

    my $read = commands('hget', sub {
        do {
            $reply = f('redrive', "q$dead", '', 100);
        } while ($reply->[2] && ++$calls < 20);
    });

    cmp_ok($calls, '>=', 4, "$calls calls");
    is("@$reply", '0 20 0', 'all stay');
    sound('sound');
    f('queue_delete', "q$dead");
};


# those that outlived their retention are in the way until they are removed

subtest 'peek of many that are too old, FIFO' => sub {
    my $q = create('q', kind => 'fifo', ret => 600);

    for my $g (1 .. 20) {
        put_fifo($q, "g$g", 1 .. 200);
    }

    take_fifo($q, 10, 43200) for 1 .. 3;
    elapse(300);
    put_fifo($q, 'g10', 'a', 'b');
    put_fifo($q, 'g2', 'c');
    elapse(300);

    my @m;

    for my $state ('v', 'f', 'd') {
        my $read = commands('hget', sub { @m = peek($q, $state, 100) });

        cmp_ok($read, '<', 400, "$state: $read reads");
        is(join(' ', sort map { "$_->{group}:$_->{body}" } @m),
           $state eq 'v' ? 'g10:a g10:b g2:c' : '', 'what is not');
    }

    f('queue_count', "q$q") for 1 .. 20;
    is(counts($q), '3 0 0', 'as many');
    sound('sound');
};

done_testing;
