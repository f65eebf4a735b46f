package Soak::Receiver;

# Receives and acknowledges until told to stop, and does what consumers do
# besides: releases, extends, is too slow, leaves during the wait, dies.
#
#     recv  queue, status, max, wait, vt, number; id:count:key:exact:group:seq:dead
#     left  queue, max, wait, vt, how: gave up a receive, or is about to die
#     ack   status; id:count:result:number
#     vis   status, seconds; id:count:result:number
#
# A result is ok, stale or invalid, or "unknown" where no answer came. What has
# died ends with status 9 and is started again.
#
# Of queues with a dead-letter queue some messages fail again and again.

use strict;
use warnings;

use POSIX ();
use Time::HiRes 'sleep';

use Soak::Body;
use Soak::Http;
use Soak::Journal 'now';

# queues; calm: no leaving and dying

sub run {
    my ($o, $name, %does) = @_;

    my $self = bless {
        o => $o, name => $name, later => [],
        journal => Soak::Journal->new($o->{journals}, $name),
        http => Soak::Http->new(%$o),
        queues => $does{queues},
    }, __PACKAGE__;

    srand($o->{seed} . $name =~ s/\D//gr);

    while (1) {
        my $draining = -e $o->{stop_senders};

        $self->{calm} = $does{calm} || $draining;
        $self->due;

        last if -e $o->{stop_receivers} && !@{ $self->{later} };

        my @of = @{ rand() < 0.1 || $draining ? $o->{queues}
                    : $self->{queues} };

        $self->receive($of[rand @of], $draining);
    }
}

sub receive {
    my ($self, $queue, $draining) = @_;

    my $o = $self->{o};
    my %body = (
        max => 1 + int rand 10,
        wait => $draining ? int rand 2
                : (0, 1, 1, 2, 2, 3, 5, 5, 8, 20)[rand 10],
        vt => vt($o, $queue),
    );

    my $begin = now;
    my $h = $self->{http}->start("$o->{path}/$queue/messages/receive",
        qq({"maxMessages":$body{max},"waitSeconds":$body{wait},)
        . qq("visibilityTimeoutSeconds":$body{vt}}),
        timeout => $body{wait} + 10);

    if (ref $h && !$self->{calm} && rand() < 0.04) {
        return $self->leave($h, $begin, $queue, \%body);
    }

    my ($status, $answer) = ref $h ? $self->{http}->end($h) : ($h, '');

    $self->received($begin, $queue, \%body, $status, $answer);
}

sub vt {
    my ($o, $queue) = @_;

    my ($least, $most) = @{ $o->{dead}{$queue} ? [2, 3] : $o->{vt} };

    return $least + int rand($most - $least + 1);
}

sub received {
    my ($self, $begin, $queue, $body, $status, $answer) = @_;

    my $end = now;
    my $messages = $status eq '200' ? Soak::Body::messages($answer) : [];

    if (!$messages) {
        $status = '200:unlike';
        $messages = [];
        NgxQueues::Process::spurt("$self->{o}{dir}/unlike-$self->{name}-$end",
                                  $answer);
    }

    my $number = ++$self->{number};

    $_->{number} = $number for @$messages;
    $self->{journal}->write(recv => $begin, $end,
        { queue => $queue, status => $status, number => $number, %$body },
        map { join ':', @$_{qw/id count key exact group seq dead/} }
            @$messages);

    if ($status ne '200') {
        sleep($self->{pause} // 0.05);
        return;
    }

    POSIX::_exit(9) if @$messages && !$self->{calm} && rand() < 0.01;

    my @good = $self->fail($queue, @$messages);

    $self->handle($body->{vt}, @good) if @good;
}

# What fails is released, or forgotten; returns the others.

sub fail {
    my ($self, $queue, @messages) = @_;

    return @messages if !$self->{o}{dead}{$queue} || -e $self->{o}{stop_senders};

    my (@good, @bad);

    push @{ Soak::Body::fails($_->{key}) && rand() < 0.9 ? \@bad : \@good }, $_
        for @messages;

    $self->visibility(0, @bad) if @bad && rand() < 0.6;

    return @good;
}

# the client goes during the wait, or just as the answer comes

sub leave {
    my ($self, $h, $begin, $queue, $body) = @_;

    my $how = (qw/close reset half die/)[rand 4];

    $self->{journal}->write(left => $begin, now,
                            { queue => $queue, how => $how, %$body });

    if (rand() < 0.5) {
        $self->{http}->client->wait_any([$h], rand 3);

    } else {
        sleep rand 0.02;
    }

    POSIX::_exit(9) if $how eq 'die';

    if ($how eq 'half') {

        # an answer that comes nevertheless counts

        $h->{pooled} = 0 if !$h->{done};
        $h->half_close if !$h->{done};
        $self->{http}->client->wait_any([$h], 2);

        if ($h->{done} && $h->result->{status}) {
            my ($status, $answer) = Soak::Http::result($h);

            $self->received($begin, $queue, $body, $status, $answer);
        }

        $h->close if !$h->{pooled};

    } elsif ($h->{done}) {

        # taken from the socket and forgotten

    } elsif ($how eq 'reset') {
        $h->reset;

    } else {
        $h->close;
    }
}

sub handle {
    my ($self, $vt, @messages) = @_;

    my $x = $self->{calm} ? 1 : rand;

    if ($x < 0.03) {                            # release
        $self->visibility(0, @messages);
        $self->ack(@messages) if rand() < 0.3;  # ok or stale

    } elsif ($x < 0.06) {                       # extend, later acknowledge
        my $seconds = 1 + int rand 2 * $vt;

        $self->visibility($seconds, @messages);
        $self->later(rand $seconds, @messages);

    } elsif ($x < 0.08) {                       # too slow, perhaps
        $self->later($vt - 0.5 + rand, @messages);

    } elsif ($x < 0.1) {                        # some now, some later
        my $first = shift @messages;

        $self->later(rand $vt, @messages) if @messages;
        $self->ack($first);

    } elsif ($x < 0.11) {                       # forgotten

    } elsif ($x < 0.13) {                       # twice
        $self->ack(@messages);
        $self->ack(@messages);

    } else {
        $self->ack(@messages);
    }
}

sub later {
    my ($self, $seconds, @messages) = @_;

    push @{ $self->{later} }, [now() + $seconds, @messages];
}

sub due {
    my ($self) = @_;

    my $now = now;
    my @due = grep { $_->[0] <= $now } @{ $self->{later} };

    $self->{later} = [grep { $_->[0] > $now } @{ $self->{later} }];
    $self->ack(@$_[1 .. $#$_]) for @due;
}

# where the outcome is not known it is asked for again, some times

sub ack {
    my ($self, @messages) = @_;

    for (1 .. 8) {
        $self->change(ack => {}, '/v1/receipts/ack',
            '{"receiptHandles":['
            . join(',', map { qq("$_->{handle}") } @messages) . ']}',
            @messages)
            and return;

        sleep 0.2;
    }
}

sub visibility {
    my ($self, $seconds, @messages) = @_;

    $self->change(vis => { seconds => $seconds }, '/v1/receipts/visibility',
        '{"entries":[' . join(',', map {
            qq({"receiptHandle":"$_->{handle}",)
            . qq("visibilityTimeoutSeconds":$seconds})
        } @messages) . ']}', @messages);
}

sub change {
    my ($self, $event, $fields, $path, $text, @messages) = @_;

    my $begin = now;
    my ($status, $answer) = $self->{http}->post($path, $text);
    my $end = now;

    my @results = $status eq '200'
        ? map { $_ eq '"ok":true' ? 'ok' : /_([a-z]+)"$/ ? $1 : '?' }
          $answer =~ /\{("ok":true|"error":"\w+")\}/g
        : ();

    $status = '200:unlike' if $status eq '200' && @results != @messages;

    $self->{journal}->write($event => $begin, $end,
        { status => $status, %$fields },
        map { "$messages[$_]{id}:$messages[$_]{count}:"
              . ($results[$_] // 'unknown') . ":$messages[$_]{number}" }
            0 .. $#messages);

    return $status eq '200';
}

1;
