package Soak::Sender;

# Sends messages, one or ten at a time, some of them delayed, until told to
# stop; what became of each send is in the journal:
#
#     send  queue, status, fresh, again; key:delay:id:group:seq:duplicate, no id
#           where it is not known. Group and seq are of FIFO queues.
#
# Where the outcome of a send to a FIFO queue is not known it is sent again until
# it is: deduplication is what makes that one message.

use strict;
use warnings;

use Time::HiRes 'sleep';

use Soak::Body;
use Soak::Http;
use Soak::Journal 'now';

# queues, batch (1 or 10), rate (requests a second), delays (0 .. 2 s), fresh,
# groups (how many: the queues are FIFO queues), delay (that they have)

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
              delay => $does{delay}
                       // ($does{delays} && rand() < 0.7 ? int rand 3 : 0),
              group => $does{groups} ? 'g' . int rand $does{groups} : undef }
        } 1 .. ($does{batch} || 1);

        my @messages = map {
            Soak::Body::message($_->{key}, $does{delay} ? 0 : $_->{delay},
                                $_->{group})
        } @sent;

        my $text = @messages == 1 && rand() < 0.5 ? $messages[0]
            : '{"messages":[' . join(',', @messages) . ']}';

        for my $again (0 .. 200) {
            my $begin = now;
            my ($status, $answer) = $http->post(
                "$o->{path}/$queue/messages", $text,
                $does{fresh} ? (fresh => 1, close => 1) : ());
            my $end = now;

            my @ids = $status eq '201' ? ids($answer) : ();

            $status = '201:unlike' if $status eq '201' && @ids != @sent;

            $journal->write(send => $begin, $end,
                { queue => $queue, status => $status,
                  fresh => $does{fresh} || 0, again => $again },
                map { words($sent[$_], $ids[$_]) } 0 .. $#sent);

            sleep($status eq '201' ? rand(2) / $does{rate}
                  : 0.02 + rand 0.05);

            last if $status eq '201' || !$does{groups};
        }
    }
}

# of each message: [id, seq, whether it is a duplicate]

sub ids {
    my ($answer) = @_;

    return () if $answer !~ /^\{"messages":\[(.*)\]\}\z/;

    my ($list, @ids) = $1;

    push @ids, [$1, $2 // '', $3 ? 1 : 0]
        while $list =~ /\G,?\{"messageId":"([-0-9a-f]{36})"
                        (?:,"seq":"(\d+)")?(,"duplicate":true)?\}/gcx;

    return @ids;
}

sub words {
    my ($sent, $id) = @_;

    my ($uuid, $seq, $duplicate) = $id ? @$id : ('', '', '');

    return join ':', $sent->{key}, $sent->{delay}, $uuid,
                     $sent->{group} // '', $seq, $duplicate;
}

1;
