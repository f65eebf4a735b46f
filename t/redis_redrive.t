#!/usr/bin/perl

# The functions of redis/*.lua: dead letters go back.

use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes qw(sleep time);

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;

NgxQueues::Functions::start();


my $fifo;                       # which kind is tested

sub queue { my ($n, %o) = @_; create($n, kind => $fifo ? 'fifo' : 'standard', %o) }

# sends bodies; FIFO: to the group that their first letter names
sub post {
    my ($q, @bodies) = @_;

    return put($q, '', @bodies) unless $fifo;
    return map { put_fifo($q, substr($_, 0, 1), $_) } @bodies;
}

sub get {
    my ($h, @m) = $fifo ? take_fifo(@_) : take(@_);
    return map { ref eq 'HASH' ? $_
        : { id => $_->[0], body => $_->[1] =~ tr/"//dr, attributes => $_->[2],
            count => $_->[3], first => $_->[4], origin => $_->[5] // '' } } @m;
}

sub shown { join ' ', sort map { $_->{body} } @_ }
sub in_order { join ' ', map { $_->{body} } @_ }
sub done { my ($q, $t, @m) = @_;
           join '', @{ ack(map { ($q, 1, $_->{id}, $t) } @m) } }

# makes messages dead letters
sub dead {
    my ($q, @bodies) = @_;

    post($q, @bodies);

    for (1 .. 1 + @bodies) { get($q, 1000, 150) or last }

    elapse(300);
    tend();
}

sub both {
    my ($name, $test) = @_;

    for my $kind (0, 1) {
        $fifo = $kind;
        subtest(($kind ? 'FIFO: ' : 'standard: ') . $name, $test);
        f('queue_update', "q$_", 'dlq', '', 'mrc', 0)
            for @{ $r->call('HVALS', "$root:n") };
        f('queue_delete', "q$_") for @{ $r->call('HVALS', "$root:n") };
        hints();
    }
}


both('back to where they came from' => sub {
    my $dead = queue('dead');
    my @q = map { queue("q$_", dlq => $dead, mrc => 1, vt => 150) } 1 .. 2;

    dead($q[0], 'a1', 'a2');
    dead($q[1], 'b1');
    dead($q[0], 'a3');
    my %origin = map { $_->{body} => $_->{origin} } get($dead, 10, 150);
    elapse(300);
    post($dead, 'x1', 'x2');

    waits($q[0]);
    hints();
    my ($moved, $left) = moved($dead);
    is("$moved $left", '4 2', 'moved; what came from nowhere remains');
    is(hints(), $q[0], 'a hint to those who wait');
    is(counts($q[0]) . ' ' . counts($q[1]) . ' ' . counts($dead),
       '3 0 0 1 0 0 2 0 0', 'counts');
    my @m = (get($q[0], 10), get($q[1], 10));
    is(shown(@m), 'a1 a2 a3 b1', 'messages');
    is(in_order(grep { $_->{body} =~ /a/ } @m), 'a1 a2 a3', 'in their order');
    is(join(' ', map { $_->{count} } @m), '1 1 1 1', 'received anew');
    is($_->{origin} . ',', ($origin{ $_->{body} } =~ /^((?:[^,]*,){3})/)[0],
       "still of its first id, and no dead letter: $_->{body}") for @m;
    my @more = moved($dead);
    is("@more[0, 1]", '0 2', 'nothing more');
    is(shown(get($dead, 10)), 'x1 x2', 'which may be received');

    # and die again
    elapse(300);
    tend();
    is(counts($dead), '6 0 0', 'dead once more');
    is((moved($dead))[0], 4, 'and back once more');
    sound('sound');
});


both('to another queue' => sub {
    my $dead = queue('dead');
    my $q = queue('q', dlq => $dead, mrc => 1, vt => 150);
    my $to = queue('to', delay => 0);
    my $other = create('other', kind => $fifo ? 'standard' : 'fifo');

    dead($q, 'a1', 'b1');
    post($dead, 'x1');
    like(f('redrive', "q$dead", "q$other", 10), qr/DESTKIND/, 'another kind');
    like(f('redrive', "q$dead", "q$dead", 10), qr/DESTSELF/, 'itself');
    like(f('redrive', "q$dead", 'nnone', 10), qr/NODEST/, 'none');
    like(f('redrive', 'nnone', '', 10), qr/NOQUEUE/, 'no queue');
    like(f('redrive', "q$dead", '', 'x'), qr/ARGUMENT/, 'arguments');
    is(counts($dead), '3 0 0', 'nothing is moved');
    is_deeply(f('redrive', 'ndead', 'nto', 2)->[0], 2, 'a limit');
    my ($moved, $left) = moved($dead, 'nto', 1);
    is("$moved $left", '1 0', 'the rest');
    my @m = get($to, 10);
    is(shown(@m), 'a1 b1 x1', 'all of them');
    my ($x) = grep { $_->{body} eq 'x1' } @m;
    like($x->{origin}, qr/^$dead,1,\d+-\d+$/, 'also what was sent there');
    sound('sound');
});


both('what is not visible' => sub {
    my $dead = queue('dead', vt => 450);
    my $q = queue('q', dlq => $dead, mrc => 1, vt => 150);

    dead($q, 'a1', 'a2', 'b1', 'c1');
    my @m = get($dead, 2);
    my $t = token();
    my ($moved, $left) = moved($dead);
    is($moved, 2, 'what is in flight is not moved');
    is(counts($dead), '0 2 0', 'it stays');
    is(done($dead, $t, $m[0]), '1', 'and its handle works');
    elapse(600);
    is((moved($dead))[0], 1, 'after its visibility it is');
    is(done($dead, $t, $m[1]), '0', 'and its handle is over');

    # delayed ones
    f('queue_update', "q$dead", 'delay', 450);
    post($dead, 'd1');
    f('queue_update', "q$dead", 'delay', 0);
    is((moved($dead, "q$q"))[0], 0, 'delayed');
    elapse(600);
    is((moved($dead, "q$q"))[0], 1, 'no longer');
    is(counts($dead), '0 0 0', 'nothing is left');

    # what was received, in part
    get($q, 100, 150);
    elapse(300);
    tend();
    is(counts($dead), '4 0 0', 'all again');
    @m = get($dead, 3, 150);
    done($dead, token(), $m[1]);
    elapse(300);
    my @left = moved($dead);
    is($left[0], 3, 'the others go back');
    my @n = get($q, 10);
    is(join(' ', map { $_->{count} } @n), '1 1 1', 'as new ones');
    sound('sound');
});


both('order' => sub {
    my $dead = queue('dead');
    my $q = queue('q', dlq => $dead, mrc => 1, vt => 150);

    dead($q, map { ("a$_", "b$_") } 10 .. 59);
    is(counts($dead), '100 0 0', 'dead');
    post($q, 'a99', 'b99');
    my ($moved) = moved($dead, '', 7);
    is($moved, 100, 'moved in parts');
    my @m;

    while (my @some = get($q, 100)) {
        done($q, token(), @some);
        push @m, @some;
    }

    is(in_order(grep { $_->{body} =~ /^a/ } @m),
       join(' ', map { "a$_" } 99, 10 .. 59), 'each group in its order')
        if $fifo;
    is(scalar @m, 102, 'all');
    sound('sound');
});


both('what stays does not stand in the way' => sub {
    my $dead = queue('dead');
    my $q = queue('q', dlq => $dead, mrc => 1, vt => 150);
    my $gone = queue('gone', dlq => $dead, mrc => 1, vt => 150);

    # groups of their own
    if ($fifo) { put_fifo($dead, "s$_", 's') for 1 .. 5000 }
    else { put($dead, '', map { 's' } 1 .. 1000) for 1 .. 5 }

    # some of it received before
    get($dead, 1000, 150) for 1, 2;
    elapse(300);
    dead($gone, map { "g$_" } 1 .. 30);
    f('queue_delete', "q$gone");
    dead($q, map { "a$_" } 1 .. 50);
    my ($moved, $left, $calls) = moved($dead);
    is($moved, 50, 'what has a queue is moved');
    ok($calls >= 5 && $calls < 30, "$calls calls");
    is($left, 5030, 'the rest remains');
    my ($again, undef, $few) = moved($dead);
    is($again, 0, 'nothing more');
    ok($few < $calls, "which $few calls find") or diag($calls);
    dead($q, map { "b$_" } 1 .. 5);
    is((moved($dead))[0], 55, 'what comes later');
    sound('sound');

    # what stays may be received as ever, or moved elsewhere
    my @m = get($dead, 1000);
    is(scalar @m, 1000, 'received');
    my ($to) = moved($dead, "q$q");
    is($to, 4030, 'to a queue that is named');
    sound('sound');
});


both('what stays outlives its retention' => sub {
    my $dead = queue('dead', ret => 900);
    my $q = queue('q', dlq => $dead, mrc => 1, vt => 150);

    post($dead, 'a0');
    is((moved($dead))[0], 0, 'it stays');
    elapse(600);
    dead($q, 'a1');
    is((moved($dead))[0], 1, 'what is behind it does not');
    sound('sound');
});


both('large bodies' => sub {
    my $dead = queue('dead', max => 1048576);
    my $q = queue('q', dlq => $dead, mrc => 1, vt => 150, max => 1048576);
    my $big = 'x' x 1048500;

    # between those that stay
    for my $i (10 .. 21) {
        dead($q, "$_$big$i") for $i % 2 ? 'a' : 'b';
        post($dead, "y$big$i");
    }

    is(counts($dead), '24 0 0', 'dead');
    my ($sum, $most, $reply, $calls) = (0, 0, undef, 0);

    do {
        $reply = f('redrive', "q$dead", '', 100);
        $sum += $reply->[0];
        $most = $reply->[0] if $reply->[0] > $most;
    } while ($reply->[2] && ++$calls < 100);

    is($sum, 12, 'all are moved');
    ok($most <= 5, "at most $most in a call");
    is(counts($dead), '12 0 0', 'the others stay');
    sound('sound');
});


both('what is too old' => sub {
    my $dead = queue('dead', ret => 900);
    my $q = queue('q', dlq => $dead, mrc => 1, vt => 150);

    dead($q, map { "a$_" } 1 .. 300);
    elapse(600);
    post($dead, 'y1');
    dead($q, 'b1');
    my ($moved, $left) = moved($dead);
    is("$moved $left", '1 1', 'does not go back');
    is(counts($q), '1 0 0', 'nowhere');
    elapse(3600);
    is((moved($dead, "q$q"))[0], 0, 'nor elsewhere');
    sound('sound');
});


subtest 'FIFO: several sources in a group' => sub {
    $fifo = 1;
    my $dead = queue('dead');
    my @q = map { queue("q$_", dlq => $dead, mrc => 1, vt => 150) } 1 .. 2;

    dead($q[0], 'g1', 'g2');
    dead($q[1], 'g3');
    dead($q[0], 'g4');
    put_fifo($dead, 'g', 'here');
    dead($q[0], 'g5');
    my ($moved, $left) = moved($dead);
    is("$moved $left", '4 2', 'up to the one that stays');
    is(in_order(get($q[0], 10)) . ', ' . in_order(get($q[1], 10)),
       'g1 g2 g4, g3', 'in order');
    is(in_order(get($dead, 10)), 'here g5', 'which keeps its group together');
    sound('sound');
    hints();
};

done_testing;
