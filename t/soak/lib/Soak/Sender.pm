package Soak::Sender;

# Sends messages, one or ten at a time, some of them delayed, until told to
# stop; what became of each send is in the journal:
#
#     send  queue, status, fresh; key:delay:id, no id where it is not known

use strict;
use warnings;

use Time::HiRes 'sleep';

use Soak::Body;
use Soak::Http;
use Soak::Journal 'now';

# queues, batch (1 or 10), rate (requests a second), delays (0 .. 2 s), fresh

sub run {
    my ($o, $name, %does) = @_;

    my $journal = Soak::Journal->new($o->{journals}, $name);
    my $http = Soak::Http->new(%$o);
    my $serial = 0;

    srand($o->{seed} . $name =~ s/\D//gr);

    while (!-e $o->{stop_senders}) {
        my $queue = $does{queues}[rand @{ $does{queues} }];
        my @sent = map {
            { key => $name . '-' . ++$serial,
              delay => $does{delays} && rand() < 0.7 ? int rand 3 : 0 }
        } 1 .. ($does{batch} || 1);

        my @messages = map {
            Soak::Body::message($_->{key}, $_->{delay})
        } @sent;

        my $text = @messages == 1 && rand() < 0.5 ? $messages[0]
            : '{"messages":[' . join(',', @messages) . ']}';

        my $begin = now;
        my ($status, $answer) = $http->post(
            "$o->{path}/$queue/messages", $text,
            $does{fresh} ? (fresh => 1, close => 1) : ());
        my $end = now;

        my @ids = $status eq '201' ? ids($answer) : ();

        $status = '201:unlike' if $status eq '201' && @ids != @sent;

        $journal->write(send => $begin, $end,
            { queue => $queue, status => $status, fresh => $does{fresh} || 0 },
            map { "$sent[$_]{key}:$sent[$_]{delay}:" . ($ids[$_] // '') }
                0 .. $#sent);

        sleep($status eq '201' ? rand(2) / $does{rate}
              : 0.02 + rand 0.05);
    }
}

sub ids {
    my ($answer) = @_;

    return $answer =~ /^\{"messages":\[.*\]\}\z/
        ? $answer =~ /\{"messageId":"([-0-9a-f]{36})"\}/g : ();
}

1;
