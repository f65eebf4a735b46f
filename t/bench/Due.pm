package Due;

# The lines of what happens by the passing of time: ends of delays and of
# visibility, dead letters; and redrive.

use strict;
use warnings;

use Time::HiRes qw/sleep time/;

use NgxQueues::Wait;

use Bench;
use Figures;

use constant {
    WAITERS => 1000,
    TENS => 1000,               # of a round
    ROUNDS => 3,
};


# sent with a delay of a second, received when that is over

sub delayed {
    my $queue = queue('delayed');
    my (@send, @cycle);

    for (1 .. ROUNDS) {
        push @send, fill($queue, TENS, message => ten(delaySeconds => 1));
        sleep 1.1;
        push @cycle, cycle($queue, TENS);
    }

    row('delayed: send in tens', numbers(10, '', @send));
    row('receive + acknowledge of ten', numbers(1, '', @cycle));
}


# how late those who wait have what becomes visible by itself

sub late {
    queues(WAITERS);

    my %wait = (
        c => WAITERS, d => 1, r => request('p', 'w@@@@/messages/receive',
                                           { waitSeconds => 20 }));
    my $send = request('p', 'w@@@@/messages', one(delaySeconds => 1));
    my $take = request('p', 'w@@@@/messages/receive',
                       { visibilityTimeoutSeconds => 1 });
    my (@delay, @visibility);

    for (1 .. ROUNDS) {
        push @delay, load('late', %wait, a => $send);
        load('blast', c => connections, n => WAITERS, g => WAITERS,
             r => request('p', 'w%%%%/messages', one()));
        push @visibility, load('late', %wait, a => $take);
    }

    lateness('end of a delay, until a waiting receive', @delay);
    lateness('end of a visibility, likewise', @visibility);
}

sub lateness {
    my ($what, @runs) = @_;

    row($what, values => [ map {
        my $name = $_;
        [sprintf("$name %.1f ms late", median(map { $_->{$name} } @runs)),
         undef, '']
    } qw/p50 p99 max/ ]);
}


# Received once and not acknowledged: all go to the dead-letter queue when their
# visibility ends, and come back by redrive.

sub dead {
    my $dead = queue('dead');
    my $queue = queue('to-dead', redrivePolicy => {
        deadLetterQueueId => $dead, maxReceiveCount => 1 });
    my $receive = request('p', "$queue/messages/receive",
        { maxMessages => 10, visibilityTimeoutSeconds => 2 });
    my $n = 10 * TENS;
    my (@receive, @move, @redrive, @took);

    fill($queue, TENS);

    for (1 .. ROUNDS) {
        my $ends = time() + 2;

        push @receive, load('blast', c => connections, n => TENS,
                            r => $receive);
        sleep $ends - 0.1 - time();

        push @move, {
            %{ spent(sub {
                wait_for { moved($queue, $dead, $ends) == $n } 20
                    or die "not all messages go to the dead-letter queue\n";
            }) },
            answers => $n,
        };

        push @redrive, { %{ spent(sub { push @took, redrive($dead, $n) }) },
                         answers => $n };
    }

    row('dead letters: receive of ten', numbers(10, '', @receive));
    row('end of visibility and move, a message', cpu => [cpu(1, '', @move)]);
    row('redrive, a message', cpu => [cpu(1, '', @redrive)], values => [
        [sprintf('%.1f ms for 1000', median(@took)), undef, '']]);

    purge($queue);
}

# how many have come; where nobody moves them by himself, a count does

sub moved {
    my ($queue, $dead, $ends) = @_;

    sleep 0.02;
    client()->get(Bench::API . "/p/queues/$queue") if time() > $ends + 1.5;

    return redis()->client->call('XLEN', 'ngxq:{o/p}:m:' . id($dead) . ':1');
}

# ms of each call

sub redrive {
    my ($dead, $n) = @_;

    my @took;

    while ($n > 0) {
        my $begin = time;
        my $r = client()->post(Bench::API . "/p/queues/$dead/redrive", undef);

        push @took, 1000 * (time() - $begin);
        die "redrive: $r->{status} $r->{body}\n"
            if $r->{status} != 200 || $r->{json}{moved} != 1000;
        $n -= 1000;
    }

    return @took;
}

1;
