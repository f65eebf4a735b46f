package Soak::Sleep;

# Was a message left lying while a receive of its queue waited? It is looked at
# where a message became visible by its send, by the end of its delay or by a
# release, and what came next is the very next delivery, so that no other one
# was between. Groups of FIFO queues: Soak::Order. A part of Soak::Judge.

use strict;
use warnings;

use List::Util 'first';

sub judge {
    my ($judge) = @_;

    my %waits;

    push @{ $waits{ $_->{queue} } }, $_
        for grep { $_->{wait} && $_->{status} eq '200' } @{ $judge->{recv} };

    $judge->{waits} = \%waits;

    my @lags;

    for my $message (values %{ $judge->{message} }) {
        next if ($message->{group} // '') ne '' || !@{ $message->{got} };

        my ($first, @more) = @{ $message->{lives}[0]{got} };
        my $send = $message->{send};

        next if $message->{lives}[0]{queue} ne $message->{queue};

        push @lags, look($judge, $message, $send->{end} + $message->{delay},
                         $first, $waits{ $message->{queue} })
            if $first->{count} == 1 && !$message->{unknown};

        for my $next (@more) {
            my $before = $first;

            $first = $next;
            next if $next->{count} != $before->{count} + 1;

            my ($release) = grep {
                $_->{r}{event} eq 'vis' && $_->{result} eq 'ok'
                && $_->{r}{seconds} == 0
            } @{ $before->{changes} };

            push @lags, look($judge, $message, $release->{r}{end}, $next,
                             $waits{ $message->{queue} })
                if $release;
        }
    }

    @lags = sort { $a <=> $b } @lags;
    $judge->{lags} = \@lags;
}

# how long it took where somebody waited all the while and no fault was near

sub look {
    my ($judge, $message, $visible, $got, $waits) = @_;

    my $taken = $got->{recv}{end};
    my $lag = $taken - $visible;

    return () if $got->{recv}{begin} > $visible + 0.02
                 && $lag < $judge->{grace};

    return () if first {
        $_->{begin} < $taken + 0.2
        && ($_->{gone} // $_->{end}) + $judge->{limit} > $visible - 1
    } @{ $judge->{fault} };

    if ($lag <= $judge->{grace}) {
        return $lag > 0 ? $lag : 0;
    }

    # somebody waited from before it was visible until after it was taken

    my $idle = first {
        $_->{begin} < $visible && $_->{end} >= $taken
    } @$waits or return ();

    $judge->problem(sleep => sprintf('%s lay %.2f s while a receive waited',
                    $message->{id}, $lag),
                    $message->{send}, $got->{recv}, $idle);

    return $lag;
}

1;
