package Soak::Judge;

# Reads what all processes saw and says what cannot be right.
#
#     my $judge = Soak::Judge->new(Soak::Journal::load($dir), limit => 1.2,
#                                  dead => { q => ['dead', 3] });
#     $judge->judge;
#     $judge->{problems}       [kind, sentence, records as evidence …]
#     $judge->{count}          name => number
#
# limit is how long after a fault is over requests may still fail; dead has the
# dead-letter queue of a queue, and after how many receives messages go there.
#
# A message has one life after the other: in the queue that it was sent to, in its
# dead-letter queue, and, after a redrive, in the first one once more. Each begins
# with a receive count of 1, and on a FIFO queue with another seq.
#
# Nothing here supposes when Redis did something, only that it was between the
# begin and the end of a request. A delivery begins at begin at the earliest,
# so it surely lasts until begin + vt, or begin of an extension + seconds.

use strict;
use warnings;

use List::Util qw/max min first/;

use Soak::Journal;

# faults while which there is no Redis for some
my @away = qw/redis kick freeze term replica limit/;

# clocks differ, and Redis counts in whole ms
my $tolerance = 0.02;

sub new {
    my ($class, $records, %options) = @_;

    return bless {
        limit => 1, grace => 1, dead => {}, %options, records => $records,
        problems => [], count => {}, message => {}, key => {},
    }, $class;
}

sub problem {
    my ($self, $kind, $text, @records) = @_;

    push @{ $self->{problems} }, [$kind, $text, @records];
}

sub judge {
    my ($self) = @_;

    my %by;

    push @{ $by{ $_->{event} } }, $_ for @{ $self->{records} };
    $self->{$_} = $by{$_} || [] for qw/send recv left ack vis redrive fault gone/;

    $self->outlived;
    $self->outcomes;
    $self->sent;
    $self->received;
    $self->batches;
    $self->changes;
    $self->settled($_) for sort keys %{ $self->{message} };
    $self->waits;

    require Soak::Sleep;
    Soak::Sleep::judge($self);

    require Soak::Order;
    Soak::Order::judge($self);
}


# A reload is over for clients when the last old worker has gone.

sub outlived {
    my ($self) = @_;

    for my $gone (@{ $self->{gone} }) {
        for my $fault (grep { $_->{kind} eq 'reload' } @{ $self->{fault} }) {
            $fault->{gone} = max($fault->{gone} // $fault->{end}, $gone->{end})
                if grep { $_ == $gone->{pid} } @{ $fault->{items} };
        }
    }
}


# What was not answered as it should be must have its reason in a fault.

sub outcomes {
    my ($self) = @_;

    for my $r (map { @{ $self->{$_} } } qw/send recv ack vis redrive/) {
        my $status = $r->{status};

        $self->{count}{"$r->{event} $status"}++;

        next if $status =~ /^20[01]$/;

        my @kinds = $status eq '503'
            ? (@away, $r->{event} =~ /^(?:send|redrive)$/ ? 'full' : ())
            : $status =~ /^none:(?:closed|reset)/
                ? (qw/worker term node/, $status =~ /:kept$/ ? 'reload' : ())
            : $status eq 'none:refused' ? qw/term node/ : ();

        $self->problem(outcome => "answered $status, and no fault explains it",
                       $r, $self->nearest($r))
            if !$self->excuse($r, @kinds);
    }
}

# a fault of these kinds that a request met

sub excuse {
    my ($self, $r, @kinds) = @_;

    my %kinds = map { $_ => 1 } @kinds;

    return first {
        $kinds{ $_->{kind} } && $r->{end} > $_->{begin}
        && $r->{begin} < ($_->{gone} // $_->{end})
                         + ($_->{kind} =~ /^(?:worker|term|node)$/ ? 0
                            : $self->{limit})
    } @{ $self->{fault} };
}

# the last fault that began before it

sub nearest {
    my ($self, $r) = @_;

    my @before = grep { $_->{begin} < $r->{end} } @{ $self->{fault} };

    return @before ? $before[-1] : ();
}


# Messages are known by their ids: { id, key, queue, delay, send, group, seq,
# got => [] }. What was sent again, to a FIFO queue, is one message.

sub sent {
    my ($self) = @_;

    for my $r (@{ $self->{send} }) {
        for (@{ $r->{items} }) {
            my ($key, $delay, $id, $group, $seq, $again) = split /:/, $_, -1;

            if (!$r->{again}) {
                $self->problem(id => "key $key sent twice", $r)
                    if $self->{key}{$key};

                $self->{key}{$key} = { send => $r, delay => $delay };
                $self->{count}{'messages sent'}++;
            }

            if ($id eq '') {
                $self->{count}{'messages of unknown outcome'}++;
                next;
            }

            $self->{count}{'messages answered 201'}++;
            $self->{count}{'of these sent again'}++ if $r->{again};
            $self->{count}{'of these duplicates'}++ if $again;

            $self->problem(duplicate => "$key is a duplicate of nothing", $r)
                if $again && !$r->{again};

            if (my $other = $self->{message}{$id}) {
                $self->problem(id => "id $id given to two messages",
                               $r, $other->{send});
                next;
            }

            $self->{message}{$id} = {
                id => $id, key => $key, send => $self->{key}{$key}{send},
                queue => $r->{queue}, delay => $delay, group => $group,
                seq => $seq, got => [], unknown => $r->{again},
                stored => $r->{end},
            };
            $self->{key}{$key}{id} = $id;
        }
    }
}

sub received {
    my ($self) = @_;

    for my $r (@{ $self->{recv} }) {
        my %here;

        $self->problem(size => 'more messages than asked for', $r)
            if @{ $r->{items} } > $r->{max};

        for (@{ $r->{items} }) {
            my ($id, $count, $key, $exact, $group, $seq, $died) = split /:/;
            my $sent = $self->{key}{$key};

            $self->{count}{'messages received'}++;
            $self->{count}{'of these again'}++ if $count > 1;

            $self->problem(body => "body of $id is not as sent", $r)
                if !$exact;

            $self->problem(twice => "$id twice in one answer", $r)
                if $here{$id}++;

            if (!$sent) {
                $self->problem(id => "$id has a body that nobody sent", $r);
                next;
            }

            $sent->{id} //= $id;

            $self->problem(id => "$key has the ids $id and $sent->{id}", $r,
                           $sent->{send})
                if $sent->{id} ne $id;

            $self->problem(id => "$id came from another queue", $r,
                           $sent->{send})
                if $sent->{send}{queue} ne $r->{queue}
                   && $self->dead_of($sent->{send}{queue}) ne $r->{queue};

            $self->dead_letter($sent->{send}{queue}, $id, $r, $count, $died);

            my $message = $self->{message}{$id} //= {
                id => $id, key => $key, send => $sent->{send}, got => [],
                queue => $sent->{send}{queue}, delay => $sent->{delay},
                unknown => 1,
            };

            $self->problem(id => "$id given to two messages", $r,
                           $message->{send}, $sent->{send})
                if $message->{key} ne $key;

            my $early = $sent->{send}{begin} + $sent->{delay} - $r->{end};

            $self->problem(early => sprintf('%s received %.3f s early', $id,
                                            $early), $r, $sent->{send})
                if $early > $tolerance;

            $self->problem(order => "$id is in the group $group instead of"
                           . " $message->{group}", $r, $message->{send})
                if ($group // '') ne ($message->{group} // '');

            push @{ $message->{got} }, { count => $count, recv => $r,
                                         by => $r->{by}, changes => [],
                                         seq => $seq // '' };
        }
    }
}

sub dead_of { ($_[0]{dead}{ $_[1] } || [''])->[0] }

# what is said of a dead letter, and of others

sub dead_letter {
    my ($self, $queue, $id, $r, $count, $died) = @_;

    my ($dead, $most) = @{ $self->{dead}{$queue} || ['', 0] };
    my $should = $dead eq $r->{queue} ? $most : '';

    $self->problem(dead => "$id died of '" . ($died // '') . "' receives", $r)
        if ($died // '') ne $should;

    $self->problem(dead => "$id was received $count times", $r)
        if $most && $queue eq $r->{queue} && $count > $most;
}


# The lives of a message: { queue, seq, got => [deliveries] }.

sub lives {
    my ($self, $message) = @_;

    my (@lives, $last);

    for my $got (sort { $a->{recv}{end} <=> $b->{recv}{end}
                        || $a->{count} <=> $b->{count} } @{ $message->{got} })
    {
        my $queue = $got->{recv}{queue};

        if (my $life = $self->late($message, $got, @lives)) {
            push @{ $life->{got} }, $got;
            next;
        }

        push @lives, { queue => $queue, seq => $got->{seq}, got => [] }
            if !@lives || $lives[-1]{queue} ne $queue
               || $lives[-1]{seq} ne $got->{seq}
               || ($got->{count} <= $last->{count}
                   && $self->redriven($message->{queue}, $last, $got));

        push @{ $lives[-1]{got} }, $got;
        $last = $got;
    }

    $_->{got} = [sort { $a->{count} <=> $b->{count}
                        || $a->{recv}{end} <=> $b->{recv}{end} } @{ $_->{got} }]
        for @lives;

    return @lives;
}

# The life before the last one where a delivery belongs there, the answer of
# which was late: a worker did not run for some seconds.

sub late {
    my ($self, $message, $got, @lives) = @_;

    for my $i (0 .. $#lives - 1) {
        my ($life, $next) = @lives[$i, $i + 1];
        my $after = $next->{got}[0];

        next if $life->{queue} ne $got->{recv}{queue}
                || $life->{seq} ne $got->{seq};

        return $life if $got->{seq} ne '';

        return $life if $got->{recv}{begin} < $after->{recv}{end}
            && !(grep { $_->{count} == $got->{count} } @{ $life->{got} })
            && ((grep { $_->{r}{event} eq 'ack' && $_->{result} eq 'ok' }
                 map { @{ $_->{changes} } } @{ $next->{got} })
                || !$self->redriven($message->{queue}, $after, $got));
    }

    return undef;
}

# whether it may have come back by a redrive between two receives

sub redriven {
    my ($self, $queue, $one, $two) = @_;

    my $dead = $self->dead_of($queue);

    return first {
        $_->{queue} eq $dead && $_->{end} > $one->{recv}{begin}
        && $_->{begin} < $two->{recv}{end} && $_->{moved} ne '0'
    } @{ $self->{redrive} };
}


# A batch of unknown outcome was stored whole or not at all.

sub batches {
    my ($self) = @_;

    for my $r (@{ $self->{send} }) {
        if ($r->{status} eq '201') {
            my $n = grep { (split /:/)[5] } @{ $r->{items} };

            $self->problem(batch => "$n of it were duplicates", $r)
                if $n && $n != @{ $r->{items} };
            next;
        }

        my @stored = grep { defined $self->{key}{ (split /:/)[0] }{id} }
            @{ $r->{items} };

        $self->{count}{'of these stored'} += @stored;

        $self->problem(batch => 'stored in part: ' . join(' ', @stored), $r)
            if @stored && @stored != @{ $r->{items} };
    }
}


# What Redis has counted, by queue, must be what has been received; where dead
# letters come and go, some were stored that nobody saw there.

sub stored {
    my ($self, $stored) = @_;

    my %got;

    for (map { @{ $_->{lives} || [] } } values %{ $self->{message} }) {
        $got{ $_->{queue} }++;
    }

    my %moves = map { $_ => 1, $self->dead_of($_) => 1 }
        keys %{ $self->{dead} };

    for my $queue (sort keys %$stored) {
        my $n = $got{$queue} // 0;

        $self->{count}{'stored, as Redis says'} += $stored->{$queue};
        $self->problem(stored => "$queue: Redis stored $stored->{$queue}"
                       . " messages, $n were received")
            if $moves{$queue} ? $n > $stored->{$queue}
                              : $n != $stored->{$queue};
    }
}


# Acknowledgements and changes of visibility, to their deliveries.

sub changes {
    my ($self) = @_;

    my %delivery;

    for my $message (values %{ $self->{message} }) {
        push @{ $delivery{"$message->{id}:$_->{count}:$_->{by}"} }, $_
            for sort { $a->{recv}{end} <=> $b->{recv}{end} }
                @{ $message->{got} };
    }

    for my $r (@{ $self->{ack} }, @{ $self->{vis} }) {
        for (@{ $r->{items} }) {
            my ($id, $count, $result, $number) = split /:/;

            # of several lives: the receive of that number in this process

            my $list = $delivery{"$id:$count:$r->{by}"} or next;
            my ($delivery) = grep {
                !defined $number || $_->{recv}{number} == $number
            } @$list or next;

            $self->{count}{"$r->{event} of a message: $result"}++;

            push @{ $delivery->{changes} }, { r => $r, result => $result };
        }
    }

    for (map { @$_ } values %delivery) {
        $_->{changes} = [sort { $a->{r}{begin} <=> $b->{r}{begin} }
                         @{ $_->{changes} }];
    }
}


# One message: not lost, not doubled, with one receiver at a time.

sub settled {
    my ($self, $id) = @_;

    my $message = $self->{message}{$id};
    my @lives = $self->lives($message);
    my @got = map { @{ $_->{got} } } @lives;
    my @evidence = ($message->{send}, map {
        $_->{recv}, map { $_->{r} } @{ $_->{changes} }
    } @got);
    my %acks;

    for my $got (@got) {
        for (grep { $_->{r}{event} eq 'ack' } @{ $got->{changes} }) {
            push @{ $acks{ $_->{result} } }, $_->{r};
        }
    }

    if (!@got) {
        $self->{count}{lost}++;
        $self->problem(lost => "$id was never received", @evidence);

    } elsif (!$acks{ok} && !$acks{unknown}) {
        $self->{count}{lost}++;
        $self->problem(lost => "$id was never acknowledged", @evidence);
    }

    $self->{count}{'acknowledged, outcome unknown'}++
        if !$acks{ok} && $acks{unknown};

    if (@{ $acks{ok} || [] } > 1) {
        $self->{count}{doubled}++;
        $self->problem(doubled => "$id acknowledged twice", @evidence);
    }

    $message->{lives} = \@lives;
    $self->{count}{'of these dead letters'}
        += grep { $_->{queue} ne $message->{queue} } @lives;

    my $least = $message->{send}{begin} + $message->{delay};

    for my $life (@lives) {
        $_->{life} = $life for @{ $life->{got} };
    }

    for my $i (0 .. $#got) {
        my $got = $got[$i];

        # the earliest moment at which it may have begun

        $least = $got->{least} = max($least, $got->{recv}{begin});

        $self->stale($message, $got, \@evidence);
        $self->later($message, $got, $_, \@evidence) for @got[$i + 1 .. $#got];
    }
}

# until when a delivery surely lasted, as seen at some moment; infinity: it
# was acknowledged

sub surely {
    my ($got, $moment, $same) = @_;

    my $until = $got->{least} + $got->{recv}{vt};

    for (@{ $got->{changes} }) {
        my $r = $_->{r};

        last if $r->{begin} >= $moment || ($same && $r == $same);
        next if $r->{event} ne 'vis' || $_->{result} eq 'stale';

        my $new = $r->{begin} + $r->{seconds};

        $until = $_->{result} eq 'ok' && $r->{end} <= $moment
            ? $new : min($until, $new);
    }

    return $until;
}

# a handle may be refused only when the delivery may be over

sub stale {
    my ($self, $message, $got, $evidence) = @_;

    my (%acked, $over);

    for (@{ $got->{changes} }) {
        my ($r, $result) = @$_{qw/r result/};

        $self->problem(handle => "a handle of $message->{id} is $result",
                       @$evidence)
            if $result !~ /^(?:ok|stale|unknown)$/;

        if ($result eq 'ok' && $over) {
            $self->{count}{doubled}++;
            $self->problem(doubled => "$message->{id}: a handle was valid"
                           . ' again', @$evidence);
        }

        if ($result eq 'stale' && !$acked{ok} && !$acked{unknown}
            && $r->{end} < surely($got, $r->{end}, $r) - $tolerance)
        {
            $self->problem(stale => "$message->{id}: a handle was stale during"
                           . ' its delivery', @$evidence);
        }

        $over = 1 if $result eq 'stale' && !$acked{unknown};
        $acked{$result} = 1 if $r->{event} eq 'ack';
    }
}

# two deliveries of one message: the second one began after the first one

sub later {
    my ($self, $message, $one, $two, $evidence) = @_;

    my $id = $message->{id};

    if ($one->{count} == $two->{count} && $one->{life} == $two->{life}) {
        $self->{count}{doubled}++;
        $self->problem(doubled => "$id delivered twice as number"
                       . " $one->{count}", @$evidence);
        return;
    }

    for (@{ $one->{changes} }) {
        next if $_->{result} ne 'ok';

        if ($_->{r}{event} eq 'ack') {
            $self->{count}{doubled}++;
            $self->problem(doubled => "$id received as number $two->{count} in"
                           . " $two->{recv}{queue}"
                           . " beside the acknowledgement of number"
                           . " $one->{count}", @$evidence);
            return;
        }

        if ($_->{r}{begin} > $two->{recv}{end}) {
            $self->problem(overlap => "$id: the handle of number"
                           . " $one->{count} was valid after number"
                           . " $two->{count} had been received", @$evidence);
        }
    }

    my $until = surely($one, $two->{recv}{end});

    if ($two->{recv}{end} < $until - $tolerance) {
        $self->problem(overlap => sprintf('%s: number %d received %.3f s'
                       . ' before the end of number %d', $id, $two->{count},
                       $until - $two->{recv}{end}, $one->{count}), @$evidence);
    }
}


# A wait ends when it is over, earlier only for messages or where the worker
# leaves, and later only where Redis was away.

sub waits {
    my ($self) = @_;

    for my $r (@{ $self->{recv} }) {
        next if $r->{status} ne '200' || @{ $r->{items} };

        my $waited = $r->{end} - $r->{begin};

        $self->{count}{'receives that found nothing'}++;
        $self->problem(wait => sprintf('a wait of %d s ended after %.2f s',
                       $r->{wait}, $waited), $r, $self->nearest($r))
            if $waited < $r->{wait} - 0.02
               && !$self->excuse($r, qw/reload term/);
    }

    for my $r (@{ $self->{recv} }) {
        my $late = $r->{end} - $r->{begin} - $r->{wait};

        $self->problem(wait => sprintf('a wait of %d s took %.2f s more',
                       $r->{wait}, $late), $r, $self->nearest($r))
            if $late > $self->{grace} && !$self->excuse($r, @away, qw/stop nap/);
    }
}

1;
