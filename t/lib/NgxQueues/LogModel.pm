package NgxQueues::LogModel;

# A small model of the contract of logs: partitions ("lanes"), groups with
# cursors, leases, retries, dead letters, deduplication in a window, messages
# that are held back.  It judges an answer and then follows it: where the
# contract leaves a choice (which lane a pop takes), the answer decides; where
# it leaves none, another answer dies with what is wrong.
#
# Time is in ms and stands still within a call.  Names and ids are the texts
# of JSON strings.
#
# A lane: msgs, offsets from 1; a message: key (what answers call it), txn,
# payload, ms, off, seq (its number among all pushes and registrations).
# A cursor: committed, lease, expiry, last, and retries, a set of what the
# counter may be.

use strict;
use warnings;

use List::Util qw(min max);

use constant QUEUE_MODE => '__QUEUE_MODE__';
use constant INDEX => 900;          # s that ids are known at least

my %usual = (lease => 300, retry => 3, delay => 0, window => 0, dlq => 1,
             dedup => 3600);


sub new {
    my ($class, %o) = @_;

    return bless { now => 0, queues => {}, seq => 0, known => {}, leases => {},
                   %o }, $class;
}

sub wrong { die join(' ', @_) . "\n" }

sub queue {
    my ($self, $name, %o) = @_;
    my ($ns, $task) = split /\./, $name;
    my $q = $self->{queues}{$name} //= { name => $name, lanes => {},
        groups => {}, ns => $ns, task => $task // '', %usual };

    $q->{$_} = $o{$_} for keys %o;

    return $q;
}

sub lane {
    my ($self, $queue, $name) = @_;
    my $q = $self->queue($queue);

    return $q->{lanes}{$name} //= { queue => $q, name => $name, msgs => [],
                                    cursors => {}, dead => [] };
}

sub lanes { map { values %{ $_->{lanes} } } values %{ $_[0]{queues} } }


# What a group has of a lane; where it has nothing yet, what it would start
# with.
sub cursor {
    my ($self, $lane, $group) = @_;

    return $lane->{cursors}{$group} if $lane->{cursors}{$group};

    my $g = $lane->{queue}{groups}{$group} or return;
    my ($first) = grep {
        $g->{mode} eq 'a' || ($g->{mode} eq 'n' ? $_->{seq} > $g->{seq}
                                                : $_->{ms} >= $g->{from})
    } @{ $lane->{msgs} };

    return { committed => $first ? $first->{off} - 1
                                  : scalar @{ $lane->{msgs} },
             lease => '', expiry => 0, last => 0, retries => { 0 => 1 },
             group => $group, lane => $lane };
}

sub live { $_[1]{lease} ne '' && $_[1]{expiry} > $_[0]{now} }

sub after {
    my ($self, $c) = @_;
    my @m = @{ $c->{lane}{msgs} };

    return @m[$c->{committed} .. $#m];
}

# what a pop may deliver of a lane, in order
sub ready {
    my ($self, $lane, $group) = @_;
    my $c = $self->cursor($lane, $group) or return;
    my $q = $lane->{queue};
    my @m = $self->after($c);

    return if $self->live($c) || !@m;
    return if $q->{window} && @m < 100
              && $m[0]{ms} + $q->{window} * 1000 > $self->{now};
    return grep { !$q->{delay} || $_->{ms} + $q->{delay} * 1000
                                  <= $self->{now} } @m;
}

# when something of a lane may be delivered, if nothing happens till then
sub moment {
    my ($self, $lane, $group) = @_;
    my $c = $self->cursor($lane, $group) or return;
    my $q = $lane->{queue};
    my @m = $self->after($c) or return;

    return max($self->live($c) ? $c->{expiry} : $self->{now},
               $q->{delay} ? $m[0]{ms} + $q->{delay} * 1000 : 0,
               $q->{window} && @m < 100 ? $m[0]{ms} + $q->{window} * 1000 : 0);
}


# groups: of (queue, lane, items [ txn, payload ]); the answer: for each item
# key, dup, ms (if it says so)
sub push_ {
    my ($self, $op, $answer) = @_;

    for my $i (0 .. $#{ $op->{groups} }) {
        my $g = $op->{groups}[$i];
        my $lane = $self->lane(@$g{qw(queue lane)});

        for my $j (0 .. $#{ $g->{items} }) {
            my ($txn, $payload) = @{ $g->{items}[$j] };
            my $is = $answer->[$i][$j] or wrong("no answer for $txn");
            my ($old, $sure) = $self->stored($lane, $txn);

            if ($is->{dup}) {
                wrong("$txn is no duplicate") if !$old;
                wrong("$txn: $is->{key}, the first was $old->{key}")
                    if $is->{key} ne $old->{key};
                next;
            }

            wrong("$txn is a duplicate of $old->{key}") if $sure;
            $self->append($lane, $txn, $payload, $is);
        }
    }
}

# the message of that id within the window, and whether that is sure
sub stored {
    my ($self, $lane, $txn) = @_;
    my $window = $lane->{queue}{dedup} * 1000;
    my ($m) = grep { $_->{txn} eq $txn } reverse @{ $lane->{msgs} };

    return if !$m || !$window || $self->{now} > $m->{ms} + $window;
    return ($m, $self->{now} < $m->{ms} + $window);
}

sub append {
    my ($self, $lane, $txn, $payload, $is) = @_;
    my $off = @{ $lane->{msgs} } + 1;
    my $last = $off > 1 ? $lane->{msgs}[-1]{ms} : 0;
    my $ms = $is->{ms} // $self->{now};

    wrong("$txn has offset $is->{off}, not $off")
        if ($is->{off} // $off) != $off;
    wrong("$txn has ms $ms at $self->{now}, after $last")
        if $ms < $self->{now} || $ms > $self->{now} + 50 || $ms < $last;
    wrong("$is->{key} twice") if $self->{known}{ $is->{key} };

    my $m = { txn => $txn, payload => $payload, ms => $ms, key => $is->{key},
              off => $off, lane => $lane, seq => ++$self->{seq} };

    push @{ $lane->{msgs} }, $m;
    $self->{known}{ $is->{key} } = $m;
}


# queue or ns, task; lane; group batch partitions auto seconds mode from; the
# answer: lease, next, and lanes of (id, name, messages of (key, txn, payload,
# ms))
sub pop_ {
    my ($self, $op, $answer) = @_;
    my @queues = $self->meant($op);
    my @lanes = map { values %{ $_->{lanes} } } @queues;

    @lanes = grep { $_->{name} eq $op->{lane} } @lanes if defined $op->{lane};
    $self->register($_, $op) for @queues;

    my %free = map { $_->[0] => $_ }
               grep { @{ $_->[1] } }
               map { [ $_, [ $self->ready($_, $op->{group}) ] ] } @lanes;

    return $self->nothing($op, $answer, \@lanes, values %free)
        if !@{ $answer->{lanes} };

    my ($sum, $n, @short) = (0, 0);
    my $lease = $answer->{lease};

    wrong("no lease, or one: '$lease'") if ($lease eq '') != !!$op->{auto};
    wrong("lease $lease again") if $self->{leases}{$lease};

    for my $is (@{ $answer->{lanes} }) {
        my @got = @{ $is->{messages} } or wrong("nothing of $is->{name}");
        my $first = $self->{known}{ $got[0]{key} }
            or wrong("$got[0]{key} is not known");
        my $free = delete $free{ $first->{lane} }
            or wrong("$got[0]{key} is not to be delivered");

        $self->delivered($op, $is, $lease, @$free);
        $sum += @got;
        $n++;
        push @short, $is->{name} if @got < @{ $free->[1] };
    }

    wrong("$sum messages, batch $op->{batch}") if $sum > $op->{batch};
    wrong("$sum messages, and there are more in @short")
        if @short && $sum < $op->{batch};
    wrong("$n lanes, partitions $op->{partitions}")
        if $n > (defined $op->{lane} ? 1 : $op->{partitions});
    wrong("$sum messages of $n lanes, and there are more: "
          . join ' ', map { $_->[0]{name} } values %free)
        if %free && $sum < $op->{batch} && $n < $op->{partitions}
           && defined $op->{queue};
}

sub meant {
    my ($self, $op) = @_;

    return $self->queue($op->{queue}) if defined $op->{queue};
    return grep { ($op->{ns} eq '' || $_->{ns} eq $op->{ns})
                  && ($op->{task} eq '' || $_->{task} eq $op->{task}) }
           values %{ $self->{queues} };
}

sub register {
    my ($self, $q, $op) = @_;
    my $group = $op->{group};

    $q->{groups}{$group} //= {
        mode => $group eq QUEUE_MODE ? 'a' : $op->{mode},
        from => $op->{from}, seq => $self->{seq},
    };
}

# a pop that found nothing, and when it is to be tried again
sub nothing {
    my ($self, $op, $answer, $lanes, @free) = @_;

    wrong('nothing, and there is ' . join ' ',
          map { "$_->[0]{queue}{name}/$_->[0]{name}" } @free) if @free;

    my $next = $answer->{next} // return;
    my $want = min(map { $self->moment($_, $op->{group}) // () } @$lanes);

    wrong("next $next, and something comes in " . ($want - $self->{now}))
        if defined $want && ($next < 0 || $next > $want - $self->{now} + 1);
    wrong('to be tried again for ever') if $next == 0;
}

sub delivered {
    my ($self, $op, $is, $lease, $lane, $ready) = @_;
    my @got = @{ $is->{messages} };
    my $c = $self->cursor($lane, $op->{group});

    wrong("the name of $lane->{name}: $is->{name}")
        if $is->{name} ne $lane->{name};
    wrong("$lane->{name}: id $is->{id}, was $lane->{id}")
        if ($lane->{id} //= $is->{id}) ne $is->{id};
    wrong("$lane->{name}: $#got of $#$ready") if @got > @$ready;

    for my $i (0 .. $#got) {
        for (qw(key txn payload ms)) {
            wrong("$lane->{name}: $_ $got[$i]{$_}, not $ready->[$i]{$_}")
                if $got[$i]{$_} ne $ready->[$i]{$_};
        }
    }

    my $last = $ready->[$#got]{off};

    $lane->{cursors}{ $op->{group} } = $c;

    # what an own commit does to the counter is left open
    if ($op->{auto}) {
        @$c{qw(committed lease expiry last)} = ($last, '', 0, 0);
        $c->{retries}{0} = 1;
        return;
    }

    my $seconds = $op->{seconds} || $lane->{queue}{lease} || 60;

    @$c{qw(lease last expiry)} = ($lease, $last,
                                  $self->{now} + $seconds * 1000);
    push @{ $self->{leases}{$lease} }, $c;
}

# the cursors that a lease still has
sub under {
    my ($self, $lease) = @_;

    return grep { $_->{lease} eq $lease && $self->live($_) }
           @{ $self->{leases}{$lease} // [] };
}


# What has to come of the items [ status, txn, error ] of one (lane, group,
# lease): for each the letters that are right, and what it does.  said: the
# letters of the answer, which decide where the contract does not.
sub plan {
    my ($self, $lane, $group, $lease, $items, $said) = @_;
    my $c = $self->cursor($lane, $group);
    my $bound = $lane->{cursors}{$group};

    # whether a registered group has a cursor before it popped is left open
    return { want => [ ('c') x @$items ] }
        if !$c || (!$bound && ($said // '') =~ /^c+\z/);
    return { want => [ ('l') x @$items ] }
        if $lease ne '' && ($c->{lease} ne $lease || !$self->live($c));

    my (@want, @at, %signal);

    for my $i (0 .. $#$items) {
        my ($status, $txn) = @{ $items->[$i] };
        my ($m, $aged) = $self->position($c, $txn);
        my $p = $m ? $m->{off} : 0;

        if (!$m || ($aged && $said && substr($said, $i, 1) eq 'u')) {
            $want[$i] = 'u';
        } elsif ($p <= $c->{committed}) {
            $want[$i] = ($status eq 'c' ? 'n' : 'a') . ($aged ? 'u' : '');
        } elsif ($c->{lease} ne '' && $p > $c->{last}) {
            $want[$i] = 'b' . ($aged ? 'u' : '');
        } else {
            ($want[$i], $at[$i]) = ($aged && !defined $said ? 'ou' : 'o', $p);
            $signal{$p} = $status if $status ne 'c'
                && index('rfd', $status) > index('rfd', $signal{$p} // '-');
        }
    }

    my $signal = min(keys %signal);
    my $high = max($c->{committed}, grep { !defined $signal || $_ < $signal }
                   map { $at[$_] // 0 } grep { $items->[$_][0] eq 'c' }
                   0 .. $#$items);
    my $plan = { want => \@want, c => $c, high => $high, bound => $bound };

    return $plan if !grep { defined } @at;

    if (defined $signal) {
        $self->signalled($plan, $signal, $signal{$signal}, \@at, $items, $said);
    } else {
        my $leased = $c->{lease} ne '';

        # what an ack does to the counter where there is no batch is left open
        $plan->{over} = $leased && $high >= $c->{last};
        $plan->{retries} = { $leased && !$plan->{over} ? () : (0 => 1),
                             $plan->{over} ? () : %{ $c->{retries} } };
    }

    # whether the end of a lease that was over by itself is said is left open
    $plan->{released} = !$plan->{over} ? '0' : $self->live($c) ? '1' : '01';

    return $plan;
}

# what the lowest failure does
sub signalled {
    my ($self, $plan, $p, $status, $at, $items, $said) = @_;
    my $c = $plan->{c};
    my $q = $c->{lane}{queue};
    my @here = grep { defined $at->[$_] && $at->[$_] == $p } 0 .. $#$items;
    my ($i) = grep { $items->[$_][0] eq $status } @here;
    my %may = map { $_ => 1 } keys %{ $c->{retries} };
    my %end = map { $_ => 1 } grep { $_ >= $q->{retry} } keys %may;
    my $dead = $status eq 'd' || $q->{dlq} ? 'd' : 'x';

    $plan->{over} = $c->{lease} ne '';
    $plan->{retries} = \%may;
    return if $status eq 'r';

    my $ends = $status eq 'd' || keys %end == keys %may
               || (%end && $said && substr($said, $i, 1) eq $dead);

    # other items about the same message may say either
    $plan->{want}[$_] .= 'dx' for grep { $_ != $i } $ends ? @here : ();

    if ($ends) {
        $plan->{want}[$i] =~ s/o/$dead/;
        @$plan{qw(high retries)} = ($p, { 0 => 1 });
        $plan->{dead} = [ $p, $items->[$i][2] ] if $dead eq 'd';
        return;
    }

    $plan->{retries} = { map { $_ + 1 => 1 } grep { !$end{$_} } keys %may };
    $plan->{want}[$i] .= $dead if %end && !defined $said;
}

# The message that an id stands for, and whether it may be forgotten by now.
sub position {
    my ($self, $c, $txn) = @_;
    my $q = $c->{lane}{queue};
    my @m = grep { $_->{txn} eq $txn } @{ $c->{lane}{msgs} } or return;
    my ($leased) = grep { $c->{lease} ne '' && $_->{off} > $c->{committed}
                          && $_->{off} <= $c->{last} } @m;
    my $m = $leased // $m[-1];

    return ($m, !$leased && $self->{now} - $m->{ms}
                            >= 1000 * max($q->{dedup}, INDEX));
}

# whether the contract does not say which message an id stands for
sub ambiguous {
    my ($self, $c, $txn) = @_;
    my @m = grep { $_->{txn} eq $txn } @{ $c->{lane}{msgs} };
    my @leased = grep { $c->{lease} ne '' && $_->{off} > $c->{committed}
                        && $_->{off} <= $c->{last} } @m;

    return @m > 1 && @leased != 1;
}

# whether the contract leaves open what becomes of a message that fails, so that the
# answer alone may tell: not where what is dropped is answered like the rest
sub unsure {
    my ($self, $c) = @_;
    my $q = $c->{lane}{queue};
    my @may = keys %{ $c->{retries} };
    my $ends = grep { $_ >= $q->{retry} } @may;

    return !$q->{dlq} && $ends && $ends < @may;
}

sub same {
    my ($self, $plan, $said, $released, $blur) = @_;

    for my $i (0 .. $#{ $plan->{want} }) {
        my $want = $plan->{want}[$i];

        # some answers do not tell all letters from success
        $want .= 'o' if ($blur // '') ne '' && $want =~ /[$blur]/;
        wrong("item $i: " . substr($said, $i, 1) . ", not $want")
            if index($want, substr $said, $i, 1) < 0;
    }

    my $want = $plan->{released} // '0';

    wrong("released: $released, not $want")
        if defined $released && index($want, $released) < 0;
}

sub follow {
    my ($self, $plan) = @_;
    my $c = $plan->{c} or return;
    my $lane = $c->{lane};

    return if !exists $plan->{retries};

    $lane->{cursors}{ $c->{group} } = $c;
    push @{ $lane->{dead} }, { group => $c->{group}, error => $plan->{dead}[1],
        m => $lane->{msgs}[ $plan->{dead}[0] - 1 ] } if $plan->{dead};
    @$c{qw(committed retries)} = @$plan{qw(high retries)};
    @$c{qw(lease expiry last)} = ('', 0, 0) if $plan->{over};
}

# group, groups of (lane, lease, items); the answer: for each letters and
# released
sub ack {
    my ($self, $op, $answer, $blur) = @_;

    for my $i (0 .. $#{ $op->{groups} }) {
        my $g = $op->{groups}[$i];
        my ($said, $released) = @{ $answer->[$i] };
        my $plan = $self->plan($g->{lane}, $g->{group} // $op->{group},
                               $g->{lease}, $g->{items}, $said);

        $self->same($plan, $said, $released, $blur);
        $self->follow($plan);
    }
}


# push (groups), acks (groups, each with its group), leases; the answer: ok,
# push, acks, or failed, a reason
sub tx {
    my ($self, $op, $answer, $blur) = @_;
    my %may;                            # reason → whether it is sure

    # where a lease is over on some of its lanes, which another one may have
    # then, either is right

    for my $lease (@{ $op->{leases} }) {
        my @live = $self->under($lease);
        my @all = grep { $_->{lease} ne '' } @{ $self->{leases}{$lease} };

        $may{LEASE} ||= @live ? 0 : 1 if @live < @all || !@live;
    }

    for my $g (@{ $op->{push} }) {
        my $lane = $self->lane(@$g{qw(queue lane)});

        for (@{ $g->{items} }) {
            my ($old, $sure) = $self->stored($lane, $_->[0]);
            $may{DUPLICATE} ||= $sure ? 1 : 0 if $old;
        }
    }

    for my $g (@{ $op->{acks} }) {
        my $open = !$g->{lane}{cursors}{ $g->{group} };
        my $plan = $self->plan(@$g{qw(lane group lease items)});

        for (@{ $plan->{want} }) {
            $may{ACK} ||= /[ondx]/ ? 0 : 1 if $open || /[^ondx]/;
        }
    }

    if (!$answer->{ok}) {
        wrong("failed by $answer->{reason}, not ", join '|', sort keys %may)
            if !exists $may{ $answer->{reason} // '' }
               && (defined $answer->{reason} || !%may);
        return;
    }

    my @sure = grep { $may{$_} } keys %may;

    wrong("not failed by @sure") if @sure;
    $self->ack({ groups => $op->{acks} }, $answer->{acks}, $blur);
    $self->push_({ groups => $op->{push} }, $answer->{push});
    wrong('a duplicate') if grep { $_->{dup} && !$_->{again} }
                            map { @$_ } @{ $answer->{push} };
}


sub extend {
    my ($self, $lease, $seconds, $renewed, $expires) = @_;
    my @c = $self->under($lease);

    wrong("renewed $renewed, not " . @c) if $renewed != @c;
    $_->{expiry} = max($_->{expiry}, $self->{now} + $seconds * 1000) for @c;

    my $want = min(map { $_->{expiry} } @c) // 0;

    wrong("expires $expires, not $want") if $expires != $want;
}

# those whose lease is over by itself may be given back as well
sub undo {
    my ($self, $lease, $n) = @_;
    my @live = $self->under($lease);
    my @all = grep { $_->{lease} eq $lease } @{ $self->{leases}{$lease} };

    wrong("undone $n, not " . @live) if $n != @live && $n != @all;
    @$_{qw(lease expiry last)} = ('', 0, 0) for $n == @all ? @all : @live;
}


1;
