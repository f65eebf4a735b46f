#!/usr/bin/perl

# What redrive leaves where it is, and until when: a message that came from no
# queue, or from one that is gone, is not looked at again, and hides no other.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;

NgxQueues::Functions::start();

# on a FIFO queue it stops its group, until it is gone

for my $end ('ack', 'retention', 'no more') {
    my $d = create("d $end", kind => 'fifo', ret => 600);
    my $q = create("q $end", kind => 'fifo', dlq => $d, mrc => 1, vt => 300);

    put_fifo($d, $_, 'stays') for qw(g h);

    is(join(' ', moved($d)), '0 2 1', "$end: it came from nowhere");
    put_fifo($q, 'g', 'a', 'b');
    take_fifo($q, 2);
    elapse(300);
    tend();

    is(join(' ', moved($d)), '0 4 1', 'and stops what is behind it');

    if ($end eq 'ack') {
        my (undef, @m) = take_fifo($d, 1);
        ack($d, 1, $m[0]{id}, token());

    } elsif ($end eq 'retention') {
        elapse(300);
        tend();

    } else {
        next;
    }

    is((moved($d))[0], 2, 'then these go back');
    is(join(' ', map { $_->{body} } (take_fifo($q, 10))[1, 2]), 'a b', 'in order');
    sound('and all is well');
}

# on a standard queue nothing is behind it

{
    my $d = create('d');
    my $q = create('q', dlq => $d, mrc => 1, vt => 300);

    put($d, '', 'stays', 'stays again');
    is(join(' ', moved($d)), '0 2 1', 'it came from nowhere');
    put($q, '', 'a', 'b');
    take($q, 2);
    elapse(300);
    tend();
    is(join(' ', moved($d)), '2 2 1', 'others go back');
    is(join(' ', moved($d, "q$q")), '2 0 1', 'all go where they are told');
    sound('and all is well');
}

done_testing();
