package Soak::Judge;

# Reads what all processes saw and says what cannot be right.
#
#     my $judge = Soak::Judge->new(Soak::Journal::load($dir), limit => 1.2);
#     $judge->judge;
#     $judge->{problems}       [kind, sentence, records as evidence …]
#     $judge->{count}          name => number
#
# limit is how long after a fault is over requests may still fail.
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
        limit => 1, grace => 1, %options, records => $records,
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
    $self->{$_} = $by{$_} || [] for qw/send recv left ack vis fault gone/;

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

    for my $r (map { @{ $self->{$_} } } qw/send recv ack vis/) {
        my $status = $r->{status};

        $self->{count}{"$r->{event} $status"}++;

        next if $status =~ /^20[01]$/;

        my @kinds = $status eq '503'
            ? (@away, $r->{event} eq 'send' ? 'full' : ())
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


# Messages are known by their ids: { id, key, queue, delay, send, got => [] }.

sub sent {
    my ($self) = @_;

    for my $r (@{ $self->{send} }) {
        for (@{ $r->{items} }) {
            my ($key, $delay, $id) = split /:/, $_, -1;

            $self->problem(id => "key $key sent twice", $r)
                if $self->{key}{$key};

            $self->{key}{$key} = { send => $r, delay => $delay };
            $self->{count}{'messages sent'}++;

            if ($id eq '') {
                $self->{count}{'messages of unknown outcome'}++;
                next;
            }

            $self->{count}{'messages answered 201'}++;

            if (my $other = $self->{message}{$id}) {
                $self->problem(id => "id $id given to two messages",
                               $r, $other->{send});
                next;
            }

            $self->{message}{$id} = { id => $id, key => $key, send => $r,
                                      queue => $r->{queue}, delay => $delay,
                                      got => [] };
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
            my ($id, $count, $key, $exact) = split /:/;
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
                if $sent->{send}{queue} ne $r->{queue};

            my $message = $self->{message}{$id} //= {
                id => $id, key => $key, send => $sent->{send}, got => [],
                queue => $r->{queue}, delay => $sent->{delay}, unknown => 1,
            };

            $self->problem(id => "$id given to two messages", $r,
                           $message->{send}, $sent->{send})
                if $message->{key} ne $key;

            my $early = $sent->{send}{begin} + $sent->{delay} - $r->{end};

            $self->problem(early => sprintf('%s received %.3f s early', $id,
                                            $early), $r, $sent->{send})
                if $early > $tolerance;

            push @{ $message->{got} }, { count => $count, recv => $r,
                                         by => $r->{by}, changes => [] };
        }
    }
}


# A batch of unknown outcome was stored whole or not at all.

sub batches {
    my ($self) = @_;

    for my $r (@{ $self->{send} }) {
        next if $r->{status} eq '201';

        my @stored = grep { defined $self->{key}{ (split /:/)[0] }{id} }
            @{ $r->{items} };

        $self->{count}{'of these stored'} += @stored;

        $self->problem(batch => 'stored in part: ' . join(' ', @stored), $r)
            if @stored && @stored != @{ $r->{items} };
    }
}


# What Redis has counted, by queue, must be what has been received.

sub stored {
    my ($self, $stored) = @_;

    my %got;

    $got{ $_->{queue} } += @{ $_->{got} } > 0
        for values %{ $self->{message} };

    for my $queue (sort keys %$stored) {
        my $n = $got{$queue} // 0;

        $self->{count}{'stored, as Redis says'} += $stored->{$queue};
        $self->problem(stored => "$queue: Redis stored $stored->{$queue}"
                       . " messages, $n were received")
            if $n != $stored->{$queue};
    }
}


# Acknowledgements and changes of visibility, to their deliveries.

sub changes {
    my ($self) = @_;

    my %delivery;

    for my $message (values %{ $self->{message} }) {
        $delivery{"$message->{id}:$_->{count}:$_->{by}"} = $_
            for @{ $message->{got} };
    }

    for my $r (@{ $self->{ack} }, @{ $self->{vis} }) {
        for (@{ $r->{items} }) {
            my ($id, $count, $result) = split /:/;
            my $delivery = $delivery{"$id:$count:$r->{by}"} or next;

            $self->{count}{"$r->{event} of a message: $result"}++;

            push @{ $delivery->{changes} }, { r => $r, result => $result };
        }
    }

    for (values %delivery) {
        $_->{changes} = [sort { $a->{r}{begin} <=> $b->{r}{begin} }
                         @{ $_->{changes} }];
    }
}


# One message: not lost, not doubled, with one receiver at a time.

sub settled {
    my ($self, $id) = @_;

    my $message = $self->{message}{$id};
    my @got = sort { $a->{count} <=> $b->{count}
                     || $a->{recv}{end} <=> $b->{recv}{end} }
        @{ $message->{got} };
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

    my $least = $message->{send}{begin} + $message->{delay};

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

    if ($one->{count} == $two->{count}) {
        $self->{count}{doubled}++;
        $self->problem(doubled => "$id delivered twice as number"
                       . " $one->{count}", @$evidence);
        return;
    }

    for (@{ $one->{changes} }) {
        next if $_->{result} ne 'ok';

        if ($_->{r}{event} eq 'ack') {
            $self->{count}{doubled}++;
            $self->problem(doubled => "$id received as number $two->{count}"
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
