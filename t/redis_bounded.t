#!/usr/bin/perl

# One call of a function copies about 2 MiB of messages, however large they are
# and however many are due: the rest is left to the next one.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;

NgxQueues::Functions::start();

my $size = 1_000_000;
my @most = (max => 1_048_576);

sub large { 'x' x ($_[0] // $size) }

sub stored { $r->call('HLEN', key('u', $_[0], 1)) }
sub entries { $r->call('XLEN', key('m', $_[0], 1)) }

# what a call answers, and how often it has used a command

sub calls {
    my ($command, $call) = @_;

    $r->call('CONFIG', 'RESETSTAT');

    my $reply = $call->();
    my ($n) = $r->call('INFO', 'commandstats') =~ /^cmdstat_$command:calls=(\d+)/m;

    return ($reply, $n // 0);
}

# dead letters of FIFO queues: of many groups, and of one

for my $groups (12, 1) {
    my $d = create("d$groups", kind => 'fifo', @most);
    my $q = create("f$groups", kind => 'fifo', dlq => $d, mrc => 1, vt => 300,
                   @most);

    put_fifo($q, 'g' . $_ % $groups, large()) for 1 .. 12;
    take_fifo($q, 12);
    elapse(300);

    my $reply = f('maintain', 'one', 10);

    is("@$reply[0, 1]", '1 0', "$groups groups: there is more to do");
    is(stored($d), 3, 'as many as have 2 MiB have gone');
    is(stored($q), 9, 'the others have not');

    my (undef, @got) = take_fifo($q, 10);

    is(scalar @got, 0, 'nor are they received');
    tend('one');
    is(stored($d) . ' ' . counts($q), '12 0 0 0', 'then all');
    sound('and all is well');

    # what outlived its retention

    retention($d, 60);
    elapse(300);
    put_fifo($d, 'young', 'young');

    my (undef, $n) = calls('hget', sub { [ peek($d, 'v') ] });

    cmp_ok($n, '<', 50, 'a peek looks at no more');
    f('maintain', 'one', 1);
    cmp_ok(stored($d), '>', 7, 'nor is more removed');
    cmp_ok(stored($d), '<', 13, 'some is');
    tend('one');
    is(stored($d), 1, 'then all');
}

# a queue with much to do is enough for a call, and goes behind the others

{
    my $d = create('ms', @most);
    my @q = map { create("m$_", dlq => $d, mrc => 1, vt => 300, @most) } 1 .. 3;

    for my $q (@q) {
        put($q, '', large()) for 1 .. 6;
        take($q, 6);
    }

    elapse(300);

    my @left;

    for (1 .. 4) {
        f('maintain', 'one', 10);
        push @left, join '+', sort map { entries($_) } @q;
    }

    is("@left", '3+6+6 3+3+6 3+3+3 0+3+3', 'one after the other');
}

# a message that is lost, by whatever hand, ends no work

{
    my $d = create('dl', kind => 'fifo');
    my $q = create('fl', kind => 'fifo', dlq => $d, mrc => 1, vt => 300);

    put_fifo($q, 'g', 'a', 'b', 'c');

    my (undef, @got) = take_fifo($q, 3);

    elapse(300);
    $r->call('HDEL', key('u', $q, 1), $got[0]{id});
    is(tend('one') =~ /^1 [1-9]/, 1, 'due work comes to its end');
    is(stored($d), 2, 'the others have gone');
}

# those of standard queues are not read before their turn comes

{
    my $d = create('ds', @most);
    my $q = create('s', dlq => $d, mrc => 1, vt => 300, @most);

    put($q, '', large()) for 1 .. 12;
    take($q, 1) for 1 .. 12;
    elapse(300);
    put($q, '', 'new');

    my ($got, $n) = calls('xrange', sub { [ take($q, 1) ] });

    is(bodies(@$got[1 .. $#$got]), 'new', 'the next message');
    cmp_ok($n, '<', 10, 'and a few of the dead ones');
    is(entries($d), 3, 'as many as have 2 MiB have gone');
    tend('one');
    is(entries($d), 12, 'then all');
    sound('and all is well');
}

# redrive

{
    my $d = create('dr', @most);
    my $q = create('r', dlq => $d, mrc => 1, vt => 300, @most);

    put($q, '', large(300_000)) for 1 .. 40;
    take($q, 10) for 1 .. 4;
    elapse(300);
    tend('one');

    my $reply = f('redrive', "q$d", '', 100);

    is("@$reply", '7 33 1', 'redrive moves as many as have 2 MiB');
    moved($d);
    is(entries($q), 40, 'then all');
    sound('and all is well');
}

done_testing();
