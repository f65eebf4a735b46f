package Soak::Redriver;

# Moves what is in dead-letter queues back, now and then:
#
#     redrive  queue, status, moved

use strict;
use warnings;

use Time::HiRes 'sleep';

use Soak::Http;
use Soak::Journal 'now';

# queues, every: seconds

sub run {
    my ($o, $name, %does) = @_;

    my $journal = Soak::Journal->new($o->{journals}, $name);
    my $http = Soak::Http->new(%$o);

    srand($o->{seed} . $name =~ s/\D//gr);

    while (!-e $o->{stop_senders}) {
        my $queue = $does{queues}[rand @{ $does{queues} }];
        my $begin = now;
        my ($status, $answer) = $http->post("$o->{path}/$queue/redrive", '{}');
        my ($moved) = $answer =~ /^\{"moved":(\d+),"remaining":\d+\}\z/;

        $status = '200:unlike' if $status eq '200' && !defined $moved;

        $journal->write(redrive => $begin, now,
            { queue => $queue, status => $status, moved => $moved // '?' });

        sleep($does{every} * (0.5 + rand));
    }
}

1;
