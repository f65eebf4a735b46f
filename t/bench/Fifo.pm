package Fifo;

# The lines of FIFO queues. Groups and deduplication ids are numbers that the
# generator counts on.

use strict;
use warnings;

use Bench;
use Figures;

use constant {
    FEW => 10,                  # groups
    MANY => 100_000,
    TENS => 2000,               # of a round
};

my $ten = ten(groupId => 'g-%%%%%%', deduplicationId => 'd-########');
my %next;

# so many tens to a queue with so many groups, k messages of each at a time

sub fill_groups {
    my ($queue, $tens, $groups, $k) = @_;

    my $first = $next{$queue} // 0;

    $next{$queue} = $first + 10 * $tens;

    return fill($queue, $tens, message => $ten, g => $groups, k => $k // 1,
                i => $first);
}

sub fifo { queue($_[0], kind => 'fifo') }


# The same on a standard queue, a FIFO queue with ten long groups, and one where
# each message has its own group, by turns. Eight connections: fewer than there
# are groups.

sub tens {
    my $standard = queue('standard');
    my $few = fifo('few');
    my $own = fifo('own');
    my (%send, %cycle, %ratio);

    fill($standard, 5 * TENS);
    fill_groups($few, 5 * TENS, FEW);
    fill_groups($own, MANY / 10, MANY);

    for (1 .. rounds) {
        push @{ $send{$standard} }, fill($standard, TENS);
        push @{ $send{$few} }, fill_groups($few, TENS, FEW);
        push @{ $send{$own} }, fill_groups($own, TENS, MANY);

        for my $queue ($standard, $few, $own) {
            push @{ $cycle{$queue} }, cycle($queue, TENS, c => 8);

            for (["send $queue", \%send], ["cycle $queue", \%cycle]) {
                my ($name, $runs) = @$_;

                push @{ $ratio{$name} }, ratio('', $runs->{$queue}[-1],
                                               $runs->{$standard}[-1]);
            }
        }
    }

    for ([$standard, 'standard queue'], [$few, FEW . ' groups'],
         [$own, MANY . ' groups of one'])
    {
        my ($queue, $what) = @$_;
        my $ratios = $queue ne $standard;

        row("$what: send in tens", numbers(10, '', @{ $send{$queue} }),
            $ratios ? (values => [share(median(@{ $ratio{"send $queue"} }),
                                        'standard')]) : ());
        row('receive + acknowledge of ten', numbers(1, '', @{ $cycle{$queue} }),
            $ratios ? (values => [share(median(@{ $ratio{"cycle $queue"} }),
                                        'standard', 1.5)]) : ());
    }

    purge($standard, $few, $own);
}


# Does a receive care how many groups there are? Both queues have as many messages;
# it gets ten of one group, and some are left.

sub groups {
    my $few = fifo('groups');
    my $many = fifo('groups-many');
    my $n = 3 * rounds;
    my (@few, @many, @ratios);

    fill_groups($few, MANY * 11 / 10, FEW, 10);
    fill_groups($many, MANY * 11 / 10, MANY, 11);

    for (1 .. $n) {
        push @few, cycle($few, 500, c => 8);
        push @many, cycle($many, 500, c => 8);
        push @ratios, ratio('', $many[-1], $few[-1]);
    }

    row('receive + acknowledge of ten, ' . FEW . ' groups',
        numbers(1, '', @few));
    row('the same, ' . MANY . ' groups', numbers(1, '', @many),
        values => [share(median(@ratios), 'the CPU', 1.1)]);

    purge($few, $many);
}


# Does it care how long a group is? One connection, for there is one group. And
# what a stored message takes.

sub long {
    my $large = fifo('long');
    my $small = fifo('short');
    my $n = backlog;
    my (@large, @small, @ratios);

    my $memory = used_memory();

    fill_groups($large, $n / 10, 1);

    my $bytes = (used_memory() - $memory) / $n;
    my $ids = deduplication($large) / $n;

    row('FIFO: stored message, memory of Redis', values => [
        [sprintf('%.0f bytes', $bytes - $ids), undef, ''],
        [sprintf('%.0f of its id, 5 min', $ids), undef, '']]);

    for (1 .. 3 * rounds) {
        fill_groups($small, 100, 1);
        push @small, cycle($small, 100, c => 1);
        push @large, cycle($large, 100, c => 1);
        push @ratios, ratio('', $large[-1], $small[-1]);
    }

    row('FIFO: receive + acknowledge, backlog 1000', numbers(1, '', @small));
    row("the same, backlog $n", numbers(1, '', @large),
        values => [share(median(@ratios), 'the CPU', 1.1)]);

    purge($large, $small);
}

# bytes of what is kept to know messages again, of all windows

sub deduplication {
    my ($queue) = @_;

    my $q = id($queue);
    my $redis = redis()->client;
    my $bytes = 0;

    for (1 .. 3) {
        my $window = int($redis->call('TIME')->[0] / 300) + 1 - $_;

        $bytes += $redis->call(qw/MEMORY USAGE/,
            "ngxq:{o/p}:i:$q:$window", 'SAMPLES', 1000) // 0;
    }

    return $bytes;
}

1;
