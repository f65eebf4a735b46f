package Soak::Crowd;

# Many receives that wait at once on one queue: what comes is acknowledged. The
# journal has the same lines as that of a receiver.

use strict;
use warnings;

use Time::HiRes 'sleep';

use Soak::Http;
use Soak::Journal 'now';
use Soak::Receiver;

# queue, size, wait: the longest

sub run {
    my ($o, $name, %does) = @_;

    my $self = bless {
        o => $o, name => $name, later => [], calm => 1, pause => 0.001,
        journal => Soak::Journal->new($o->{journals}, $name),
        http => Soak::Http->new(%$o),
    }, 'Soak::Receiver';

    srand($o->{seed} . $name =~ s/\D//gr);

    my @parked;

    while (1) {
        my $ends = -e $o->{stop_senders};

        last if $ends && !@parked;

        push @parked, park($self, \%does)
            while !$ends && @parked < $does{size};

        my ($over) = grep { $_->{late} < now } @parked;
        my $h = $over || $self->{http}->client->wait_any(\@parked, 0.2)
            or next;

        @parked = grep { $_ != $h } @parked;
        $h->fail('timeout') if !$h->{done};

        my ($status, $answer) = Soak::Http::result($h);

        $self->received($h->{started}, $does{queue}, $h->{body}, $status,
                        $answer);
    }
}

sub park {
    my ($self, $does) = @_;

    my $o = $self->{o};
    my %body = (max => 1 + int rand 3, wait => 1 + int rand $does->{wait},
                vt => $o->{vt}[1]);

    while (1) {
        my $begin = now;
        my $h = $self->{http}->start(
            "$o->{path}/$does->{queue}/messages/receive",
            qq({"maxMessages":$body{max},"waitSeconds":$body{wait},)
            . qq("visibilityTimeoutSeconds":$body{vt}}), timeout => 40);

        if (ref $h) {
            $h->{started} = $begin;
            $h->{late} = $begin + $body{wait} + 10;
            $h->{body} = \%body;
            return $h;
        }

        $self->received($begin, $does->{queue}, \%body, $h, '');
        sleep 0.1;
    }
}

1;
