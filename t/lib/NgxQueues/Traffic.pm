package NgxQueues::Traffic;

# Senders and receivers on one queue while something happens to it, and what
# may not come of that.
#
#     my $t = NgxQueues::Traffic->new($q, senders => 8, receivers => 4);
#     $t->run(0.5);                     for so many seconds
#     $t->run(5, sub { … });            until it is true: whether it was
#     $t->finish;                       until all that was stored has come
#     is($t->problems, '');
#     $t->count(503);                   answers of a status
#     $t->count(503, 'send');           of these: send, receive, ack
#     $t->stored;                       messages with 201
#
# Each request has a connection of its own. A receive waits for up to a second,
# what it gets is acknowledged. A problem is: a message that was answered with
# 201 and never came; one that came after its acknowledgement was answered ok;
# one that nobody sent; an answer that is neither success nor 503. cut => 1
# says that connections may be closed without an answer. at => [clients] are
# used in turn instead of that of the queue.
#
# The queue's visibility timeout should be a second or two: so long does a
# message stay away whose receive got no answer.

use strict;
use warnings;

use Time::HiRes qw/sleep time/;

use NgxQueues::Wait;

my $serial = 0;

sub new {
    my ($class, $q, %options) = @_;

    my $self = bless {
        q => $q, senders => 8, receivers => 4, at => [$q->client], %options,
        id => 't' . ++$serial, n => 0, slots => [], answers => {}, sent => {},
        stored => {}, got => {}, over => {}, problems => [],
    }, $class;

    push @{ $self->{slots} }, { kind => 'send' } for 1 .. $self->{senders};
    push @{ $self->{slots} }, { kind => 'receive' }
        for 1 .. $self->{receivers};

    return $self;
}

sub count { $_[0]{answers}{join ' ', @_[1 .. $#_]} // 0 }
sub stored { scalar keys %{ $_[0]{stored} } }
sub problem { push @{ $_[0]{problems} }, $_[1] }

sub start {
    my ($self, $slot) = @_;

    my $q = $self->{q};
    my @at = @{ $self->{at} };
    my $client = $at[$self->{turn}++ % @at];
    my %o = (fresh => 1, timeout => 20);

    if ($slot->{messages}) {
        $slot->{h} = $client->start(POST => '/v1/receipts/ack',
            { receiptHandles => [map { $_->{receiptHandle} }
                                     @{ $slot->{messages} }] }, %o);
        $slot->{since} = time;

    } elsif ($slot->{kind} eq 'receive') {
        $slot->{h} = $client->start(POST => $q->path('/messages/receive'),
            { maxMessages => 10, waitSeconds => $self->{ending} ? 0 : 1 }, %o);

    } elsif ($self->{ending}) {
        return;

    } else {
        $slot->{body} = "$self->{id}." . ++$self->{n};
        $self->{sent}{$slot->{body}} = 1;
        $slot->{h} = $client->start(POST => $q->path('/messages'),
                                    { body => $slot->{body} }, %o);
    }

    return 1;
}

sub done {
    my ($self, $slot) = @_;

    my $r = (delete $slot->{h})->result;
    my $status = $r->{status};
    my $kind = $slot->{messages} ? 'ack' : $slot->{kind};

    $self->{answers}{$_}++ for $status, "$status $kind";
    $slot->{pause} = time + 0.02 if $status == 503 || $status == 0;

    my $known = $status == 503
                || $status == ($kind eq 'send' ? 201 : 200)
                || $status == 0 && $self->{cut};

    $self->problem("$kind: $status " . ($r->{error} // $r->{body} // ''))
        if !$known;

    if ($kind eq 'ack') {
        my @m = @{ delete $slot->{messages} };
        my @results = $status == 200 ? @{ $r->{json}{results} } : ();

        for my $i (0 .. $#results) {
            $self->{over}{ $m[$i]{body} } = $slot->{since}
                if $results[$i]{ok};
        }

    } elsif ($kind eq 'send') {
        $self->{stored}{ $slot->{body} } = 1 if $status == 201;

    } elsif ($status == 200) {
        my @m = @{ $r->{json}{messages} };

        for my $m (@m) {
            $self->problem("$m->{body}: nobody sent that")
                if !$self->{sent}{ $m->{body} };
            $self->problem("$m->{body}: came after its acknowledgement")
                if $self->{over}{ $m->{body} };
            $self->{got}{ $m->{body} } = 1;
        }

        $slot->{messages} = \@m if @m;
        $slot->{empty} = !@m;
    }
}

sub step {
    my ($self) = @_;

    my $now = time;
    my @running;

    for my $slot (@{ $self->{slots} }) {
        $self->done($slot) if $slot->{h} && $slot->{h}{done};

        $self->start($slot)
            if !$slot->{h} && ($slot->{pause} // 0) <= $now;

        push @running, $slot->{h} if $slot->{h};
    }

    return sleep 0.01 if !@running;

    $self->{q}->client->wait_any(\@running, 0.02);
}

sub run {
    my ($self, $seconds, $until) = @_;

    my $deadline = time + ($until ? scaled($seconds) : $seconds);

    while (time < $deadline) {
        $self->step;
        return 1 if $until && $until->();
    }

    return $until ? 0 : 1;
}

# what has come and may be acknowledged twice: a lost answer's message is back
# after its visibility timeout

sub left { grep { !$_[0]{got}{$_} } keys %{ $_[0]{stored} } }

sub finish {
    my ($self, $seconds) = @_;

    $self->{ending} = 1;

    my $over = $self->run($seconds // 10, sub {
        !(grep { $_->{kind} eq 'send' && $_->{h} } @{ $self->{slots} })
        && !$self->left
        && (eval { $self->{q}->counts } // '') eq '0 0 0';
    });

    # what still is on its way comes to nothing now

    my @running = map { $_->{h} || () } @{ $self->{slots} };

    $self->{q}->client->wait_all(\@running, scaled(5));
    $_->{h} && $self->done($_) for @{ $self->{slots} };

    $self->problem('lost: ' . join ' ', sort $self->left) if $self->left;
    $self->problem('counts: ' . $self->{q}->counts) if !$over;
}

sub problems {
    my ($self) = @_;

    my @p = @{ $self->{problems} };
    my $more = @p - 10;

    splice @p, 10 if $more > 0;
    push @p, "and $more more" if $more > 0;

    return join "\n", @p;
}

1;
