package Soak::Order;

# What FIFO queues promise. A part of Soak::Judge.
#
# - A message comes only when all before it in its group are over: acknowledged,
#   or gone to the dead-letter queue; or with them, in order, in one answer.
# - A group is with one receiver at a time.
# - Numbers go on without gaps, in the order in which one sender has sent.
# - A group that is free again does not lie while a receive waits.

use strict;
use warnings;

use List::Util qw/max min first/;

use Soak::Sleep;

my $tolerance = 0.02;
my $never = 9e9;

sub judge {
    my ($judge) = @_;

    my (%groups, %known);

    for my $message (values %{ $judge->{message} }) {
        next if ($message->{group} // '') eq '';

        my $lives = $message->{lives};

        push @{ $known{"$message->{queue} $message->{group}"} }, $message;

        for my $i (0 .. $#$lives) {
            my $life = $lives->[$i];
            my $group = $groups{"$life->{queue} $message->{group}"} //= {};

            if (my $other = $group->{ $life->{seq} }) {
                $judge->problem(order => "$message->{id} and"
                    . " $other->{message}{id} have the seq $life->{seq}",
                    $message->{send}, $other->{message}{send});
            }

            $life->{over} = over($life, $lives->[$i + 1]);
            $life->{message} = $message;
            $group->{ $life->{seq} } = $life;
        }

        # one that went on without ever being received where it was sent to

        $groups{"$message->{queue} $message->{group}"}{ $message->{seq} } //= {
            message => $message, seq => $message->{seq}, got => [],
            over => @$lives ? 0 : $never, queue => $message->{queue},
        } if $message->{seq} ne '';
    }

    for (sort keys %groups) {
        my ($queue, $group) = split / /;

        group($judge, $queue, "$queue $group", $groups{$_});
    }

    numbers($judge, $_, @{ $known{$_} }) for sort keys %known;
}


# The earliest moment at which a life may have been over.

sub over {
    my ($life, $next) = @_;

    my @ends = map { $_->{r}{begin} } grep {
        $_->{r}{event} eq 'ack' && $_->{result} =~ /^(?:ok|unknown)$/
    } map { @{ $_->{changes} } } @{ $life->{got} };

    push @ends, Soak::Judge::surely($life->{got}[-1], $never) if $next;

    return min $never, @ends;
}


sub group {
    my ($judge, $queue, $name, $lives) = @_;

    my @seqs = sort { $a <=> $b } keys %$lives;
    my %receives;

    for my $life (values %$lives) {
        for my $got (@{ $life->{got} }) {
            my $r = $receives{ $got->{recv}{at} } //=
                { recv => $got->{recv}, got => [] };

            push @{ $r->{got} }, { %$got, seq => $life->{seq},
                                   over => $life->{over} };
        }
    }

    my @receives = sort { $a->{recv}{end} <=> $b->{recv}{end} }
        values %receives;

    $judge->{count}{'receives of groups'} += @receives;

    my $first = 0;
    my @held;
    my $before;

    for my $r (@receives) {
        my $end = $r->{recv}{end};
        my %here = map { $_->{seq} => 1 } @{ $r->{got} };
        my $last = max keys %here;

        in_order($judge, $name, $r);

        $first++ while $first < @seqs
                       && $lives->{ $seqs[$first] }{over} < $end;

        for my $i ($first .. $#seqs) {
            my $life = $lives->{ $seqs[$i] };

            last if $seqs[$i] >= $last;
            next if $here{ $seqs[$i] } || $life->{over} < $end;

            $judge->problem(order => "$name: $last came before $seqs[$i]"
                . " ($life->{message}{id}) was over", $r->{recv},
                $life->{message}{send},
                map { $_->{recv}, map { $_->{r} } @{ $_->{changes} } }
                    @{ $life->{got} });
            last;
        }

        @held = alone($judge, $name, $r, @held);
        lag($judge, $queue, $r, $before, $lives);
        $before = $r;
    }
}

# of one answer

sub in_order {
    my ($judge, $name, $r) = @_;

    my %seqs = map { $_->{seq} => 1 } @{ $r->{got} };
    my ($group) = $name =~ / (.*)/;
    my @order = map { $_->[5] } grep { ($_->[4] // '') eq $group }
        map { [split /:/] } @{ $r->{recv}{items} };

    $judge->problem(order => "$name: not in order: @order", $r->{recv})
        if "@order" ne join ' ', sort { $a <=> $b } keys %seqs;
}

# deliveries that others still hold; returns those that may be

sub alone {
    my ($judge, $name, $r, @held) = @_;

    my $end = $r->{recv}{end};
    my @still;

    for my $got (@held) {
        next if $got->{over} < $end;

        my $until = min $got->{over}, Soak::Judge::surely($got, $end);

        next if $until < $end - 60;
        push @still, $got;

        next if $until <= $end + $tolerance || before($r, $got);

        $judge->problem(group => sprintf('%s: seq %s is held %.3f s longer'
                        . ' when others are received', $name, $got->{seq},
                        $until - $end), $got->{recv},
                        (map { $_->{r} } @{ $got->{changes} }), $r->{recv});
    }

    return @still, @{ $r->{got} };
}

# whether a receive may have been over before a delivery, and its answer late

sub before {
    my ($r, $got) = @_;

    my $end = $got->{recv}{end};

    return !grep {
        min($_->{over}, Soak::Judge::surely($_, $end)) > $end + $tolerance
    } @{ $r->{got} };
}

# How long a group lay that was free: all of the receive before it was
# acknowledged or released, and what came is no later than the next message.

sub lag {
    my ($judge, $queue, $r, $before, $lives) = @_;

    my $visible = 0;

    for my $got (@{ $before ? $before->{got} : [] }) {
        my ($end) = first {
            $_->{result} eq 'ok' && ($_->{r}{event} eq 'ack'
                || ($_->{r}{event} eq 'vis' && $_->{r}{seconds} == 0))
        } @{ $got->{changes} };

        return if !$end || $end->{r}{begin} > $r->{recv}{begin} + 60;

        $visible = max $visible, $end->{r}{end};
    }

    my ($next) = sort { $a->{seq} <=> $b->{seq} } @{ $r->{got} };
    my $message = $lives->{ $next->{seq} }{message};

    return if $message->{unknown} || $next->{count} > 1
              || $queue ne $message->{queue}
              || $message->{seq} ne $next->{seq};

    $visible = max $visible, $message->{stored} + $message->{delay};

    push @{ $judge->{group_lags} }, Soak::Sleep::look($judge, $message,
        $visible, $next, $judge->{waits}{$queue});
}


# The numbers that the sends were answered.

sub numbers {
    my ($judge, $name, @messages) = @_;

    my (%seqs, %by);
    my ($queue) = split / /, $name;

    for my $message (@messages) {
        my ($sender, $serial) = $message->{key} =~ /^(.*)-(\d+)$/;

        next if $message->{seq} eq '';
        $seqs{ $message->{seq} } = 1;
        push @{ $by{$sender} }, [$serial, $message];
    }

    for my $sender (sort keys %by) {
        my @sent = sort { $a->[0] <=> $b->[0] } @{ $by{$sender} };

        for my $i (1 .. $#sent) {
            my ($one, $two) = map { $_->[1] } @sent[$i - 1, $i];

            $judge->problem(order => "$name: $two->{key} has the number"
                            . " $two->{seq}, and $one->{key} had $one->{seq}",
                            $one->{send}, $two->{send})
                if $two->{seq} <= $one->{seq};
        }
    }

    # where none is redriven the sends have all numbers

    return if $judge->{dead}{$queue};

    my @missing = grep { !$seqs{$_} } 1 .. max 0, keys %seqs;

    $judge->problem(order => "$name: no message has the numbers @missing")
        if @missing;
}

1;
