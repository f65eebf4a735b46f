# Receives of ten messages whose lengths in sum are all there can be: what one
# reply of Redis is read into is filled to every byte of its end.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;

my $s = NgxQueues::Server->new;
my $q = NgxQueues::Queue->new($s);

my @wrong;

for my $length (1 .. 1000) {
    my @bodies = (('.') x 8, 'x' x $length, 'y' x 300);

    $q->send(@bodies);

    my @got = $q->receive(maxMessages => 10);

    push @wrong, $length
        if join(' ', map { $_->{body} } @got) ne join ' ', @bodies;

    $q->ack(@got);
}

is("@wrong", '', 'all bodies are as they were sent');

$s->finish;

done_testing;
