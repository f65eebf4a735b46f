package Soak::Spread;

# When messages that failed come again. After n receives that is 2^(n - 1) s
# later, by up to 20 % more or less, drawn for each by itself, and at most the
# visibility timeout. When a message comes says less than that: what is due
# waits for its turn, be it for a minute while an endpoint hangs. But a delivery
# with room for more had all that was due when it was claimed, so what a later
# claim takes has become due since: the moment is after the last such claim, and
# not after the one that takes the message. In shares of the time from 80 % to
# 120 % these are two bounds of what must be spread evenly. How far n such ones
# may be from that says the inequality of Dvoretzky, Kiefer and Wolfowitz, for
# one run in a million.
#
#     for my $try (Soak::Spread::tries($batch, $timeout, $lag, @deliveries)) {
#         # no, n, known, early, late, limit, together, problems
#     }
#
# deliveries: in the order of claimed; over: the first moment at which one may
# have failed. lag: seconds by which the end may be off that the endpoint
# sees. known: of how many the share is known to 0.2 and less; early and late:
# how much more than even have come by some moment, or fewer; together: of all
# pairs that failed in one delivery, the part that comes in one again. All
# would if not each were drawn by itself, and few do by chance, in a crowd:
# where a delivery fails now and then, what comes next is the same ten.

use strict;
use warnings;

use List::Util qw/max min/;

use constant {
    ODDS => 1e-6,
    KNOWN => 0.2,
    CROWD => 100,               # messages
    PAIRS => 100,               # fewer say nothing
    TOGETHER => 0.25,           # by chance one in ten, or less
};

sub tries {
    my ($batch, $timeout, $lag, @deliveries) = @_;

    my (%last, %tries);
    my $since = '-inf';

    for my $r (@deliveries) {
        for (@{ $r->{items} }) {
            my ($key, $count) = split /:/;
            my $before = $last{$key};

            $last{$key} = { r => $r, count => $count };

            push @{ $tries{ $before->{count} } }, {
                key => $key, of => $before->{r}, r => $r,
                least => $since - $before->{r}{end} - $lag,
                most => $r->{claimed} - $before->{r}{over} + $lag,
            } if $before;
        }

        $since = $r->{claimed} if @{ $r->{items} } < $batch;
    }

    return map { try($_, $timeout, $tries{$_}) } sort { $a <=> $b } keys %tries;
}

# of all that had been received so many times

sub try {
    my ($count, $timeout, $waits) = @_;

    my $from = 0.8 * min 2 ** ($count - 1), $timeout;
    my $to = min 1.2 * 2 ** ($count - 1), $timeout;
    my $n = @$waits;
    my $limit = sqrt(log(2 / ODDS) / (2 * $n));
    my (@problems, %failed);

    for my $w (@$waits) {
        push @problems, ["$w->{key} comes again too early", $w->{r}]
            if $w->{most} < $from;

        @$w{qw/least most/} = map { max 0, min 1, ($_ - $from) / ($to - $from) }
            @$w{qw/least most/};

        push @{ $failed{ $w->{of}{id} } }, $w;
    }

    my @first = sort { $a <=> $b } map { $_->{least} } @$waits;
    my @last = sort { $a <=> $b } map { $_->{most} } @$waits;
    my $early = max map { ($_ + 1) / $n - $last[$_] } 0 .. $n - 1;
    my $late = max map { $first[$_] - $_ / $n } 0 .. $n - 1;
    my $together = together($waits, ($to - $from) / 2, values %failed);
    my $known = grep { $_->{most} - $_->{least} <= KNOWN } @$waits;

    push @problems, [sprintf '%.0f %% more than even of those received %d times'
                     . ' come early', 100 * $early, $count] if $early > $limit;
    push @problems, [sprintf '%.0f %% more than even of those received %d times'
                     . ' come late', 100 * $late, $count] if $late > $limit;
    push @problems, ["what failed together after $count receives comes"
                     . ' together again'] if ($together // 0) > TOGETHER;

    return { no => $count + 1, n => $n, early => $early, late => $late,
             known => $known, limit => $limit, together => $together,
             problems => \@problems };
}

sub together {
    my ($waits, $near, @deliveries) = @_;

    my ($all, $same) = (0, 0);

    for my $failed (@deliveries) {
        my $end = $failed->[0]{of}{end};
        my %again;

        next if CROWD > grep { abs($_->{of}{end} - $end) < $near } @$waits;

        $again{ $_->{r}{id} }++ for @$failed;
        $all += pairs(scalar @$failed);
        $same += pairs($_) for values %again;
    }

    return $all < PAIRS ? undef : $same / $all;
}

sub pairs { $_[0] * ($_[0] - 1) / 2 }

1;
