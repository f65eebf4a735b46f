package Soak::Deliveries;

# Messages through push subscriptions while a worker is killed now and then:
# what is done, and what is said of the journals. A part of t/soak/push.
#
#     send   queue, status; keys
#     push   as Soak::Sink writes it
#     fault  as Soak::Faults writes it

use strict;
use warnings;

use List::Util qw/max min sum0/;
use POSIX ();
use Time::HiRes 'sleep';

use NgxQueues::Process ();
use NgxQueues::Queue;
use NgxQueues::Wait qw/wait_for scaled/;

use Soak::Body;
use Soak::Faults;
use Soak::Http;
use Soak::Journal 'now';

use constant {
    QUEUES => 2,
    WIDE => 10,                 # maxConcurrency
    TIMEOUT => 5,               # seconds of a delivery
    HIDDEN => 35,               # and of its messages
    TAKEN => 10,                # until another worker delivers
};

sub new {
    my ($class, %options) = @_;

    my $self = bless { step => 0, counted => 'inf', %options }, $class;

    $self->{faults} = Soak::Faults->new(server => $self->{server},
        say => $self->{say}, look => sub { },
        journal => Soak::Journal->new($self->{journals}, 'faults'));

    for my $n (1 .. QUEUES) {
        my $q = NgxQueues::Queue->new($self->{server}, name => "kills-$n");

        $self->{sink}->answer("/kills-$n", 200, 0, 0.2);
        push @{ $self->{queues} }, $q;
        push @{ $self->{ids} }, subscribe($self, $q, WIDE, TIMEOUT);
    }

    return $self;
}

# also of Soak::Herd: the path is the queue's name

sub subscribe {
    my ($self, $q, $wide, $timeout, %more) = @_;

    my $r = $q->client->post($q->{queues} =~ s/queues$/subscriptions/r, {
        queueId => $q->is('queueId'), maxConcurrency => $wide, %more,
        target => {
            url => "https://sink.example.com:" . $self->{sink}->port . '/'
                   . $q->name,
            timeoutSeconds => $timeout,
        },
    });
    my $s = NgxQueues::Queue::expect($r, 201);

    $self->{sink}->secret('/' . $q->name, $s->{signingSecret});

    return $s->{subscription};
}

sub run {
    my ($self) = @_;

    my $faults = $self->{faults};
    my @senders = map { $self->start_sender($_) } 0 .. QUEUES - 1;
    my $every = $self->{short} ? 1.5 : 10;
    my $n = 0;

    $self->{begin} = now();

    # a reload now and then, which explains nothing

    do {
        $faults->rest($every);
        ++$n % 4 == 3 ? $faults->reload : $faults->worker;
    } while ($n < 2
             || !$self->{short} && grep { $self->counts($_)->{visible} }
                                   @{ $self->{queues} });

    for my $pid (@senders) {
        waitpid $pid, 0;
        $self->{problem}->(process => "a sender ended with status $?") if $?;
    }

    $self->{say}->('all is sent') if $self->{short};

    # what was open when the last workers died comes back later

    $self->idle;
    $self->{say}->(sprintf '%d kills, %d reloads', map {
        $faults->{count}{$_} // 0
    } qw/worker reload/);
}

sub counts { NgxQueues::Queue::expect($_[1]->get(''), 200)->{counts} }

# until only what is hidden is left

sub idle {
    my ($self) = @_;

    wait_for {
        !grep { $self->counts($_)->{visible} } @{ $self->{queues} }
    } 90 or $self->{problem}->(rest => 'messages stay in the queues: '
        . join ', ', map { $_->counts } @{ $self->{queues} });
}

sub start_sender {
    my ($self, $n) = @_;

    my $pid = fork // die "fork: $!";

    return $pid if $pid;

    my $well = eval {
        NgxQueues::Process::die_with_parent('KILL');
        $SIG{$_} = 'DEFAULT' for qw/INT TERM HUP ALRM/;
        $self->send_all($self->{queues}[$n], "sender-$n",
                        int($self->{messages} / QUEUES / 10));
        1;
    };

    print STDERR "sender: $@" if !$well;
    POSIX::_exit($well ? 0 : 1);
}

sub send_all {
    my ($self, $q, $name, $tens) = @_;

    my $server = $self->{server};
    my $journal = Soak::Journal->new($self->{journals}, $name);
    my $http = Soak::Http->new(port => $server->port, key => $server->key);

    for my $n (1 .. $tens) {
        my @keys = map { "$name-$n-$_" } 0 .. 9;
        my $text = '{"messages":['
            . join(',', map { Soak::Body::message($_) } @keys) . ']}';
        my $begin = now();
        my ($status) = $http->post($q->path('/messages'), $text);

        $journal->write(send => $begin, now(),
                        { queue => $q->name, status => $status }, @keys);
        sleep 0.05 if $status ne '201';
    }
}

# After the other parts: all has come. In short, what a dead worker had is
# still hidden, and must be there; or it has just become visible, and comes
# again meanwhile.

sub finish {
    my ($self) = @_;

    my @queues = @{ $self->{queues} };

    if (!$self->{short}) {
        wait_for { !grep { $_->counts ne '0 0 0' } @queues } HIDDEN + 30
            or $self->{problem}->(rest => 'the queues are not empty: '
                . join ', ', map { $_->counts } @queues);
    }

    $self->idle;
    $self->{counted} = now();
    $self->{hidden} = sum0 map {
        @{ $self->counts($_) }{qw/visible inFlight delayed/}
    } @queues;
}

sub judge {
    my ($self) = @_;

    my @records = Soak::Journal::load($self->{journals});
    my $lag = scaled(0.5) + $self->{faults}{lag};
    my (%sent, %got, %ids, %of);

    push @{ $of{ $_->{event} } }, $_ for @records;

    $self->{$_} = $of{$_} || [] for qw/send push fault/;
    @{ $self->{push} } = sort { $a->{begin} <=> $b->{begin} }
        @{ $self->{push} };

    for my $r (@{ $self->{send} }) {
        $sent{$_} = $r for @{ $r->{items} };
    }

    for my $r (@{ $self->{push} }) {
        my $problem = $self->{problem};

        $problem->(signature => 'a signature is wrong', $r) if !$r->{signed};
        $problem->(delivery => "$r->{id} came twice", $r, $ids{ $r->{id} })
            if $ids{ $r->{id} };
        $problem->(wide => "$r->{open} deliveries are open", $r)
            if $r->{open} > WIDE;

        $ids{ $r->{id} } = $r;

        for (@{ $r->{items} }) {
            my ($key, $count, $exact) = split /:/;

            $problem->(body => "$key is not as it was sent", $r)
                if !$exact || !$sent{$key}
                   || $r->{path} ne "/$sent{$key}{queue}";
            push @{ $got{$key} }, { r => $r, count => $count };
        }
    }

    $self->lost(\%sent, \%got, $lag);
    $self->doubled($lag, $_, @{ $got{$_} }) for sort keys %got;
    $self->gaps($lag);

    my %count = (
        'messages sent' => scalar keys %sent,
        'messages delivered' => scalar keys %got,
        'deliveries' => scalar @{ $self->{push} },
        map { $_ => $self->{count}{$_} // 0 } qw/doubled unanswered hidden/,
    );

    print "\n";
    printf "%-40s %9d\n", $_, $count{$_} for sort keys %count;
    printf "%-40s %9.3f s\n", 'after a kill: longest without a delivery',
        $self->{gap} // 0;
}

# All that was answered came and was answered, or is hidden still; what was
# answered while a worker died, or when they were counted, or too late, may be
# hidden as well.

sub lost {
    my ($self, $sent, $got, $lag) = @_;

    my (@missing, $perhaps);

    for my $key (keys %$sent) {
        my @good = grep { $_->{r}{status} eq '200' } @{ $got->{$key} || [] };

        if (!@good) {
            if ($sent->{$key}{status} eq '201') {
                push @missing, $key;

            } else {
                $perhaps++;
            }

        } elsif (!grep {
            $_->{r}{end} < $self->{counted} - $lag
            && !$self->killed($_->{r}, $lag) && !late($_->{r}, $lag)
        } @good) {
            $perhaps++;
        }
    }

    my $most = $self->{short} ? $self->{hidden} : 0;

    $self->{count}{hidden} = $self->{hidden};
    $self->{problem}->(lost => @missing . " messages were not delivered, and"
            . " $most are hidden: @missing[0 .. min 9, $#missing]")
        if @missing > $most;
    $self->{problem}->(settled => "$self->{hidden} messages are hidden, but"
            . ' only ' . @missing . ' were not delivered')
        if $self->{hidden} > @missing + ($perhaps // 0);
}

# whether a worker died while it was open or not settled yet

sub killed {
    my ($self, $r, $lag) = @_;

    return scalar grep {
        $_->{kind} eq 'worker' && $_->{begin} > $r->{begin} - $lag
        && $_->{begin} < $r->{end} + $lag
    } @{ $self->{fault} };
}

# a busy machine may answer when the server has given up, as Soak::Herd says

sub late {
    my ($r, $lag) = @_;

    return $r->{end} > $r->{claimed} + TIMEOUT - $lag;
}

sub doubled {
    my ($self, $lag, $key, @deliveries) = @_;

    my $problem = $self->{problem};

    $self->{count}{unanswered} += grep { $_->{r}{status} eq '0' } @deliveries;

    for my $i (1 .. $#deliveries) {
        my ($a, $b) = @deliveries[$i - 1, $i];
        my @both = ($a->{r}, $b->{r});

        $self->{count}{doubled}++;

        my $late = late($a->{r}, $lag);

        $problem->(doubled => "$key came again for no reason", @both)
            if !$late && !$self->killed($a->{r}, $lag);
        $problem->(early => "$key came again too early", @both)
            if !$late && $b->{r}{begin} < $a->{r}{begin} + HIDDEN - $lag;
        $problem->(count => "$key: receiveCount $b->{count} after $a->{count}",
                   @both)
            if $b->{count} <= $a->{count};
    }
}

# how long nothing came after a kill, while there was something to come

sub gaps {
    my ($self, $lag) = @_;

    my %paths;

    push @{ $paths{ $_->{path} } }, $_ for @{ $self->{push} };

    for my $path (sort keys %paths) {
        my @r = @{ $paths{$path} };

        for my $i (1 .. $#r) {
            my ($a, $b) = @r[$i - 1, $i];
            my ($kill) = grep {
                $_->{begin} > $a->{begin} - $lag && $_->{begin} < $b->{begin}
            } @{ $self->{fault} } or next;

            # at the end there are only hidden ones

            next if grep { (split /:/)[1] > 1 } @{ $b->{items} };

            my $gap = $b->{begin} - $kill->{begin};

            $self->{gap} = max $self->{gap} // 0, $gap;
            $self->{problem}->(gap => sprintf('%s: nothing came for %.1f s after'
                    . ' a worker was killed', $path, $gap), $a, $kill, $b)
                if $gap > TAKEN + $lag;
        }
    }
}

1;
