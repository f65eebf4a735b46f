package Soak::Report;

# The table at the end of the soak, and the evidence. Returns how many problems
# there are.

use strict;
use warnings;

use List::Util qw/first max min/;

use Soak::Journal;

# of a kind; the rest is counted
my $shown = 5;

sub report {
    my (%of) = @_;

    my ($judge, $log) = @of{qw/judge log/};
    my @problems = (
        (map { [$_->[0], $_->[1]] } @{ $of{problems} }),
        (map { [log => $_] } @{ $log->{problems} }),
        @{ $judge->{problems} },
    );

    push @problems, gaps($judge);
    table(\%of);
    evidence(@problems);

    printf "\n%s\n", @problems ? @problems . ' problems'
        : '0 lost, 0 doubled, nothing unexplained';

    return scalar @problems;
}

# How long nobody was served, around each fault: of the probes, who make a new
# connection each time, all successes in order. And how long after the fault
# was over a request still failed.

sub gaps {
    my ($judge) = @_;

    my @probes = grep { $_->{by} =~ /^probe/ } @{ $judge->{send} };
    my @good = grep { $_->{status} eq '201' } @probes;
    my @problems;

    print "\nfault         took   gap of service   last failure after it\n";

    my @faults = sort { $a->{begin} <=> $b->{begin} } @{ $judge->{fault} };

    for my $i (0 .. $#faults) {
        my $fault = $faults[$i];
        my $to = $fault->{end} + 4;

        # others may follow at once, or have been a part of it

        $to = min $to, map { $_->{begin} } grep {
            $_->{begin} > $fault->{end}
        } @faults;

        my @ends = map { $_->{end} } @good;
        my $first = first { $ends[$_] > $fault->{begin} } 1 .. $#ends;
        my $last = first { $ends[$_] > max $fault->{end}, $to - 3 } 1 .. $#ends;
        my $gap = max 0, map { $ends[$_] - $ends[$_ - 1] }
            $first // @ends .. $last // $#ends;
        my @bad = grep {
            $_->{status} ne '201' && $_->{begin} > $fault->{begin}
            && $_->{end} < $to && $_->{end} > $fault->{end}
        } @probes;
        my $late = max 0, map { $_->{end} - $fault->{end} } @bad;

        printf "%-8s%3d %6.2f s       %7.3f s               %7.3f s\n",
            @$fault{qw/kind number/}, $fault->{end} - $fault->{begin},
            $gap, $late;

        push @problems, [gap => "no service $late s after $fault->{kind}"
                         . " $fault->{number} was over", @bad]
            if $fault->{kind} eq 'redis' && $late > $judge->{limit};

        my $long = max map { $_->{end} - $_->{begin} } grep {
            $_->{begin} <= $fault->{begin} && $_->{end} >= $fault->{end}
        } @faults;

        push @problems, [gap => sprintf('no service for %.2f s around %s %d',
                         $gap, @$fault{qw/kind number/})]
            if $gap > $long + $judge->{limit};
    }

    return @problems;
}

sub table {
    my ($of) = @_;

    my ($judge, $log) = @$of{qw/judge log/};
    my $count = $judge->{count};
    my @lags = @{ $judge->{lags} || [] };

    $count->{$_} //= 0 for qw/lost doubled/,
        'messages sent', 'messages answered 201', 'messages received',
        'messages of unknown outcome', 'of these stored';

    print "\n";
    printf "%-40s %9s\n", $_, $count->{$_} for
        (grep { /^messages|^of these|^stored/ } sort keys %$count),
        (grep { /^receives|^acknowledged/ } sort keys %$count),
        (grep { /^(?:ack|vis) of/ } sort keys %$count),
        (grep { /^(?:send|recv|ack|vis|redrive) (?!of)/ } sort keys %$count);

    my $left = grep { $_->{event} eq 'left' } @{ $of->{records} };
    my $lives = grep { /\./ } keys %{ { map { $_->{by} => 1 }
                                       @{ $of->{records} } } };

    printf "%-40s %9d\n", 'receives given up by the client', $left;
    printf "%-40s %9d\n", 'receivers that died', $lives;
    printf "%-40s %9s\n", "error log: $_", $log->{count}{$_}
        for sort keys %{ $log->{count} };

    printf "%-40s %9.3f s\n", 'waiting receive: half of them within',
        $lags[@lags / 2] if @lags;
    printf "%-40s %9.3f s\n", 'waiting receive: 99 % within',
        $lags[@lags * 0.99] if @lags;
    printf "%-40s %9.3f s\n", 'waiting receive: slowest', $lags[-1] if @lags;
    printf "%-40s %9.3f s\n", 'group that is free: slowest',
        max @{ $judge->{group_lags} } if @{ $judge->{group_lags} || [] };

    printf "%-40s %9.3f s\n", 'replaced worker: slowest to leave', max 0, map {
        $_->{end} - $_->{begin}
    } @{ $judge->{gone} };
    printf "%-40s %9.3f s\n", 'nginx, to quit', $of->{quit};
    printf "%-40s %9.3f s\n", 'this machine was late by', $of->{faults}{lag};
    printf "%-40s %9d\n", 'lost', $count->{lost};
    printf "%-40s %9d\n", 'doubled', $count->{doubled};
}

sub evidence {
    my (@problems) = @_;

    my %seen;

    for (@problems) {
        my ($kind, $text, @records) = @$_;

        next if ++$seen{$kind} > $shown;

        print "\n$kind: $text\n";

        my ($word) = $text =~ /([-0-9a-f]{36})/;

        print '    ', Soak::Journal::show($_, $word), "\n" for @records;
    }

    print "\n" if %seen;
    printf "%d problems of kind %s\n", $seen{$_}, $_ for sort keys %seen;
}

1;
