package NgxQueues::Model;

# A small model of the contract: what queues with dead-letter queues have to do,
# whatever Redis does.  Time is in seconds since the model began, and passes by
# whole 5 minutes; visibility ends between two of these.
#
# A message is known by its body.  sent, due, ends, last: moments; count,
# token; group and seq on FIFO queues; source: the queue it was dead-lettered
# from; first: when it was first received, as Redis says it.

use strict;
use warnings;

use constant HOLD => 43200;


sub new { bless { now => 0, queues => {}, order => 0, gone => [] }, shift }

sub queue {
    my ($self, $name, %o) = @_;

    return $self->{queues}{$name} if !%o;
    return $self->{queues}{$name} = { name => $name, list => [], seq => {},
                                      keys => {}, gen => 1, delay => 0,
                                      mrc => 0, dlq => undef, %o };
}


sub pass {
    my ($self, $seconds) = @_;

    $self->{now} += $seconds;
    $self->expire($_) for values %{ $self->{queues} };
}

sub expire {
    my ($self, $q) = @_;

    my @left = grep { $_->{sent} + $q->{ret} > $self->{now} } @{ $q->{list} };

    $q->{totals}{expired} += @{ $q->{list} } - @left;
    @{ $q->{list} } = @left;
}


# what became of its messages since it was made or purged
sub totals {
    my ($self, $q) = @_;

    return join ' ', map { $_ // 0 }
                     @{ $q->{totals} }{qw(sent acknowledged expired dead)};
}


# what state a message is in: delayed, flying, visible, dead (it has to go)
sub state {
    my ($self, $q, $m) = @_;
    my $now = $self->{now};

    return 'flying' if defined $m->{ends} && $m->{ends} > $now;
    return 'delayed' if !$m->{taken} && $m->{due} > $now;
    return 'dead' if $q->{dlq} && $m->{count} >= $q->{mrc};
    return 'visible';
}

sub in {
    my ($self, $q, $state) = @_;

    return grep { $self->state($q, $_) eq $state } @{ $q->{list} };
}

sub counts {
    my ($self, $q) = @_;

    return join ' ', map { my @l = $self->in($q, $_); scalar @l }
                     qw(visible flying delayed);
}


sub store {
    my ($self, $q, %m) = @_;

    my $m = { sent => $self->{now}, due => 0, count => 0, token => '',
              taken => 0, order => ++$self->{order}, %m };
    $m->{seq} = ++$q->{seq}{ $m->{group} } if $q->{fifo};
    push @{ $q->{list} }, $m;
    $q->{totals}{sent}++;

    return $m;
}

# the message that a key of deduplication stands for, if it is known
sub known {
    my ($self, $q, $key) = @_;
    my $known = $q->{keys}{$key};

    return $known && $self->{now} - $known->{at} < 300 ? $known : undef;
}

sub remember {
    my ($self, $q, $key, $m, $id) = @_;

    $q->{keys}{$key} = { at => $self->{now}, seq => $m->{seq}, id => $id,
                         gen => $q->{gen} };
}


# moves a message to another queue, where it is new; gone has those of which
# there was a handle
sub move {
    my ($self, $q, $m, $to, %more) = @_;

    push @{ $self->{gone} }, $m if $m->{token} ne '';
    $self->remove($q, $m, $more{source} ? 'dead' : 'moved');
    $self->store($to, body => $m->{body}, group => $m->{group}, %more);
}

# it went that way: acknowledged, or as above
sub remove {
    my ($self, $q, $m, $way) = @_;

    $q->{totals}{$way}++;
    @{ $q->{list} } = grep { $_ != $m } @{ $q->{list} };
}

# dead letters go
sub bury {
    my ($self, $q) = @_;

    for my $m (sort { $a->{seq} <=> $b->{seq} } map { $_->{seq} //= 0; $_ }
               $self->in($q, 'dead'))
    {
        $self->move($q, $m, $q->{dlq}, source => $q->{name});
    }
}


sub groups {
    my ($self, $q) = @_;
    my %groups;

    push @{ $groups{ $_->{group} } }, $_ for @{ $q->{list} };
    return map { [ sort { $a->{seq} <=> $b->{seq} } @$_ ] }
           @groups{ sort keys %groups };
}

# per group that has nothing in flight: the messages that may be received, in
# order
sub ready {
    my ($self, $q) = @_;
    my @ready;

    for my $group ($self->groups($q)) {
        next if grep { $self->state($q, $_) eq 'flying' } @$group;

        my @next;

        for my $m (@$group) {
            my $state = $self->state($q, $m);
            last if $state eq 'delayed';
            push @next, $m if $state eq 'visible';
        }

        push @ready, \@next if @next;
    }

    return @ready;
}


sub take {
    my ($self, $m, $vt, $token) = @_;

    @$m{qw(taken token last)} = (1, $token, $self->{now});
    $m->{count}++;
    $m->{ends} = $self->{now} + $vt;
}

sub extend {
    my ($self, $m, $vt) = @_;
    my $end = $m->{last} + HOLD;

    $m->{ends} = $self->{now} + $vt;
    $m->{ends} = $end if $m->{ends} > $end;
}

sub give_back {
    my ($self, $m) = @_;

    $m->{count}--;
    @$m{qw(token ends)} = ('', undef);
}


# redrives; returns how many messages move
sub redrive {
    my ($self, $q, $dest) = @_;
    my $n = 0;

    my $to = sub {
        my ($m) = @_;
        return $dest // ($m->{source} && $self->{queues}{ $m->{source} });
    };

    if (!$q->{fifo}) {
        for my $m ($self->in($q, 'visible')) {
            my $where = $to->($m) or next;
            $self->move($q, $m, $where);
            $n++;
        }

        return $n;
    }

    for my $group ($self->ready($q)) {
        for my $m (@$group) {
            my $where = $to->($m) or last;
            $self->move($q, $m, $where);
            $n++;
        }
    }

    return $n;
}


1;
