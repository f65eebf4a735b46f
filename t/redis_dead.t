#!/usr/bin/perl

# The functions of redis/*.lua: dead letters of both kinds of queues.

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

# sends bodies, each to a group of its own unless a group is named
sub post {
    my ($q, @bodies) = @_;

    return put($q, '', @bodies) unless $fifo;
    return map { put_fifo($q, "g$_", $_) } @bodies;
}

# messages as hashes, of either kind
sub hashes {
    return map { ref eq 'HASH' ? $_
        : { id => $_->[0], body => $_->[1] =~ tr/"//dr, attributes => $_->[2],
            count => $_->[3], first => $_->[4], origin => $_->[5] // '' } } @_;
}

sub get {
    my ($h, @m) = $fifo ? take_fifo(@_) : take(@_);
    return hashes(@m);
}

sub shown { join ' ', sort map { $_->{body} } @_ }
sub seen { join ' ', map { "$_->{body}:$_->{count}" }
                     sort { $a->{body} cmp $b->{body} } @_ }
sub gen { (split /:/, hot($_[0], 's'))[2] }

sub done {
    my ($q, $t, @m) = @_;
    return join '', @{ ack(map { ($q, gen($q), $_->{id}, $t) } @m) };
}

sub hold {
    my ($vt, $q, $t, @m) = @_;
    return join '', @{ visibility(map { ($q, gen($q), $_->{id}, $t, $vt) } @m) };
}


sub both {
    my ($name, $test) = @_;

    for my $kind (0, 1) {
        $fifo = $kind;
        subtest(($kind ? 'FIFO: ' : 'standard: ') . $name, $test);
        f('queue_update', $_, 'dlq', '', 'mrc', 0) for all();
        f('queue_delete', $_) for all();
        hints();
    }
}

sub all { map { "q$_" } @{ $r->call('HVALS', "$root:n") } }


both('exactly so many deliveries' => sub {
    for my $mrc (1, 2, 3) {
        for my $how ('timeout', 'maintain', 'release', 'zero') {
            my $dead = queue("dead$mrc$how");
            my $q = queue("q$mrc$how", dlq => $dead, mrc => $mrc, vt => 150);
            my ($t, $n, @m) = (0, 0);

            post($q, 'a', 'b', 'c');

            for (1 .. 5) {
                @m = get($q, 10, $how eq 'zero' ? 0 : 150) or last;
                $t = token();
                $n++;
                is(seen(@m), join(' ', map { "$_:$n" } qw(a b c)), "delivery $n")
                    if $how eq 'timeout';

                if ($how eq 'release') {
                    hold(0, $q, $t, @m);
                } elsif ($how ne 'zero') {
                    elapse(300);
                    tend() if $how eq 'maintain';
                }
            }

            tend();
            is($n, $mrc, "$mrc deliveries: $how");
            is(counts($dead) . ' ' . counts($q), '3 0 0 0 0 0', 'all are moved');
            is(done($q, $t, @m ? @m : { id => '1:1' }), '0' x (@m || 1), 'stale');

            my @d = get($dead, 10, 150);
            is(seen(@d), 'a:1 b:1 c:1', 'with a fresh count');
            my $at = int(time * 1000);

            for (@d) {
                my ($Q, $G, $id, $source, $count, $moment) =
                    split /,/, $_->{origin};

                is("$Q $G $source $count", "$q 1 $q $mrc", 'origin')
                    if $how eq 'timeout';
                ok(abs($moment - $at) < 5000, 'when it was moved');
            }

            done($dead, token(), @d);
            is(counts($dead), '0 0 0', 'acknowledged there');
        }
    }

    sound('sound');
});


both('what moves is what it was' => sub {
    my $dead = queue('dead');
    my $q = queue('q', dlq => $dead, mrc => 1, vt => 150);
    my ($body, $attributes) = ('"\u0000é' . join('', map { chr } 0 .. 255) . '"',
                               '{"a":"b c","x":":,;"}');
    my $reply = $fifo
        ? f('send_fifo', "q$q", 9, 'g:1 2', 'd', $body, $attributes)
        : f('send_each', "q$q", 9, '450', $body, $attributes);
    my ($id) = $reply =~ / (z?\d+-\d+)(?::1)?\z/;

    elapse(600);
    my @m = get($q, 1);
    elapse(300);
    is(counts($q), '0 0 0', 'moved');
    is(f('queue_count', "q$dead")->[18], 0, 'it is new there');
    $reply = f('receive', "q$dead", 1, '', '', 7);

    if ($fifo) {
        my ($name, $value) = @$reply[5, 6];
        my ($length, $rest) = $value =~ /^\d+-\d+::(\d+):[^:]*:(.*)\z/s;
        is($name, 'g:1 2', 'group');
        is(substr($rest, 0, $length), $body, 'body');
        is(substr($rest, $length), $attributes, 'attributes');
    } else {
        is($reply->[5], $body, 'body');
        is($reply->[6], $attributes, 'attributes');
    }

    my ($origin) = $reply->[-1] =~ /(q\d+,1,[^:]*)/;
    my ($ms) = $id =~ /(\d+)/;
    my ($first) = $origin =~ /^$q,1,z?(\d+)-\d+,$q,1,\d+$/;
    ok($first && abs($ms - $first) < 900001, "of $id: $origin");
    sound('sound');
});


both('where nobody receives' => sub {
    my $dead = queue('dead');
    my $q = queue('q', dlq => $dead, mrc => 1, vt => 450);

    # whatever t says, what ends is on the agenda
    post($q, 'a');
    get($q, 1);
    elapse(300);
    is(counts($dead), '0 0 0', 'not yet');
    elapse(300);
    tend();
    is(counts($dead), '1 0 0', 'after its visibility');
    is(f('queue_count', "q$q")->[14], 0, 'and the counts say so');

    post($q, 'b', 'c');
    my @m = get($q, 10, 43200);
    my $t = token();
    tend();
    is(hold(150, $q, $t, @m), '11', 'an earlier end');
    elapse(300);
    like(tend(), qr/^1 /, 'tended');
    is($r->call('XLEN', key('m', $dead, 1))
       + $r->call('HLEN', key('u', $dead, 1)), 3, 'moved');

    # a delay ends before
    f('queue_update', "q$q", 'delay', 450);
    post($q, 'd');
    f('queue_update', "q$q", 'delay', 0);
    post($q, 'e');
    get($q, 10, 600);
    get($q, 10, 900);
    post($q, 'f');
    get($q, 10, 900);
    sound('the agenda has all of them');
    elapse(900);
    elapse(300);
    tend();
    is($r->call('XLEN', key('m', $dead, 1))
       + $r->call('HLEN', key('u', $dead, 1)), 5, 'moved');
    is(counts($q), '1 0 0', 'but for what nobody received');
    get($q, 10, 150);
    elapse(300);
    tend();
    is(counts($dead), '6 0 0', 'now all');

    # an empty queue, long after
    is(scalar get($q, 1), 0, 'empty');
    elapse(86400 * 3);
    post($q, 'g');
    get($q, 10, 43200);
    sound('the agenda has it');
    elapse(86400);
    tend();
    is($r->call('XLEN', key('m', $q, 1)) + $r->call('HLEN', key('u', $q, 1)), 0,
       'moved');
    sound('sound');
});


both('undo is no delivery' => sub {
    my $dead = queue('dead');
    my $q = queue('q', dlq => $dead, mrc => 2, vt => 150);

    post($q, 'a', 'b');

    for (1 .. 5) {
        my @m = get($q, 10);
        is(f('undo', $q, 1, token(), map { $_->{id} } @m), 2, 'undone');
        tend();
    }

    is(seen(get($q, 10)), 'a:1 b:1', 'the first');
    elapse(300);
    tend();
    my @m = get($q, 10);
    is(seen(@m), 'a:2 b:2', 'the second');
    f('undo', $q, 1, token(), map { $_->{id} } @m);
    tend();
    is(seen(get($q, 10)), 'a:2 b:2', 'again');
    elapse(300);
    is(scalar get($q, 10), 0, 'no third');
    tend();
    is(counts($dead), '2 0 0', 'moved');
    sound('sound');
});


both('a chain' => sub {
    my $last = queue('last');
    my $dead = queue('dead', dlq => $last, mrc => 2, vt => 150);
    my $q = queue('q', dlq => $dead, mrc => 1, vt => 150);

    post($q, 'a', 'b');
    get($q, 10);
    elapse(300);
    tend();
    is(counts($dead), '2 0 0', 'not moved on by the old count');
    is(seen(get($dead, 10)), 'a:1 b:1', 'one');
    elapse(300);
    is(seen(get($dead, 10)), 'a:2 b:2', 'two');
    elapse(300);
    tend();
    is(counts($q) . ' ' . counts($dead) . ' ' . counts($last),
       '0 0 0 0 0 0 2 0 0', 'at the end');
    my ($m) = get($last, 10);
    like($m->{origin}, qr/^$q,1,\d+-\d+,$dead,2,\d+$/,
         'sent to the first, dead on the second');
    sound('sound');

    # in a circle
    f('queue_update', "q$last", 'dlq', "q$q", 'mrc', 1);
    elapse(300);
    tend();
    is(counts($q), '2 0 0', 'back to the first');
    sound('sound');
});


both('policies' => sub {
    my $dead = queue('dead');
    my $q = queue('q', vt => 150);
    my $other = create('other', kind => $fifo ? 'standard' : 'fifo');

    like(f('queue_update', "q$q", 'dlq', "q$other", 'mrc', 1), qr/DLQKIND/,
         'of another kind');
    like(f('queue_update', "q$q", 'dlq', "q$q", 'mrc', 1), qr/DLQSELF/, 'itself');
    like(f('queue_update', "q$q", 'dlq', 'nnone', 'mrc', 1), qr/NODLQ/, 'none');
    like(queue('x', dlq => $other), qr/DLQKIND/, 'likewise at creation');
    like(queue('x', dlq => 'zzz'), qr/NODLQ/, 'likewise');
    is(f('queue_get', "q$q")->[10], '', 'nothing is changed');
    is(f('queue_count', "q$dead")->[19], 0, 'a source of nobody');

    post($q, 'a');
    get($q, 10) && elapse(300) for 1 .. 3;
    is(counts($q), '1 0 0', 'without a policy it stays');
    get($q, 10);
    my $s = f('queue_update', "q$q", 'dlq', 'ndead', 'mrc', 2);
    is("@$s[10, 11]", f('queue_get', "q$dead")->[1] . ' 2', 'told by its UUID');
    is(f('queue_count', "q$dead")->[19], 1, 'a source');
    is(counts($q), '0 1 0', 'it is in flight');
    elapse(300);
    tend();
    is(counts($dead), '1 0 0', 'with a policy it moves at the end of that');

    post($q, 'b');
    f('queue_update', "q$q", 'mrc', 5);
    get($q, 10) && elapse(300) for 1 .. 3;
    f('queue_update', "q$q", 'mrc', 2);
    is(scalar get($q, 10), 0, 'fewer receives: no more of it');
    tend();
    is(counts($q) . ' ' . counts($dead), '0 0 0 2 0 0', 'it moves');

    post($q, 'c');
    get($q, 10) && elapse(300) for 1;
    my @m = get($q, 10);
    like(f('queue_delete', "q$dead"), qr/INUSE/, 'the dead-letter queue stays');
    f('queue_update', "q$q", 'dlq', '', 'mrc', 0);
    elapse(300);
    tend();
    is(counts($q), '1 0 0', 'no policy, no move');
    is(seen(get($q, 10)), 'c:3', 'and once more');
    is(f('queue_count', "q$dead")->[19], 0, 'a source of nobody');
    is(f('queue_delete', "q$dead"), 1, 'it may go');
    sound('sound');

    # two sources
    $dead = queue('dead');
    my @s = map { queue("s$_", dlq => $dead, mrc => 1, vt => 150) } 1 .. 2;
    is(f('queue_count', "q$dead")->[19], 2, 'two sources');
    post($_, 'x') for @s;
    get($_, 1) for @s;
    elapse(300);
    tend();
    is(counts($dead), '2 0 0', 'of both');
    f('queue_delete', "q$s[0]");
    is(f('queue_count', "q$dead")->[19], 1, 'one is deleted');
    f('queue_purge', "q$s[1]");
    f('queue_purge', "q$dead");
    is(f('queue_count', "q$dead")->[19], 1, 'a purge changes nothing of that');
    sound('sound');
});


both('retention' => sub {
    my $dead = queue('dead', ret => 900);
    my $q = queue('q', dlq => $dead, mrc => 1, vt => 150, ret => 3600);

    post($q, 'a');
    elapse(3000);
    get($q, 1);
    elapse(300);
    tend();
    is(counts($dead), '1 0 0', 'moved shortly before its retention ends');
    elapse(600);
    is(counts($dead), '1 0 0', 'its retention begins with the move');
    elapse(300);
    is(counts($dead), '0 0 0', 'and ends');

    # what outlived the retention is not brought back to life
    post($q, map { "b$_" } 1 .. 250);
    elapse(3000);

    for (1 .. 30) { get($q, 10, 150) }

    elapse(600);
    my @m = get($q, 10);
    tend();
    is(@m . ' ' . counts($q) . ' ' . counts($dead), '0 0 0 0 0 0 0',
       'too old to be moved');
    is($r->call('XLEN', key('m', $dead, 1)), 0, 'nowhere');
    sound('sound');
});


both('many at once' => sub {
    my $dead = queue('dead');
    my $q = queue('q', dlq => $dead, mrc => 1, vt => 150, wait => 1);

    post($q, map { "m$_" } 1 .. 3000);
    for (1 .. 30) { get($q, 100) }
    elapse(300);
    post($q, 'new');
    my @m;
    for (1 .. 50) { last if @m = get($q, 1, 450) }
    is(shown(@m), 'new', 'none of them is received again');
    tend();
    is(counts($q), '0 1 0', 'counts');
    is(counts($dead), '3000 0 0', 'all are moved');

    # who waits is told
    f('queue_purge', "q$dead");
    post($q, 'x');
    get($q, 1, 150);
    waits($dead);
    hints();
    elapse(300);
    tend();
    is(hints(), $dead, 'a hint to those who wait for dead letters');
    is(shown(get($dead, 1)), 'x', 'x');
    sound('sound');
});


both('large bodies' => sub {
    my $dead = queue('dead');
    my $q = queue('q', dlq => $dead, mrc => 1, vt => 150, max => 1048576);
    my $big = 'x' x 1048574;

    if ($fifo) { put_fifo($q, 'g', $big) for 1 .. 12 }
    else { put($q, '', $big) for 1 .. 12 }

    my @m = get($q, 12);
    is(scalar @m, 12, 'received');
    elapse(300);
    my ($calls, $before, $most, $reply) = (0, 12, 0);

    do {
        $reply = f('maintain', 'w', 1);
        my $left = $r->call($fifo ? 'HLEN' : 'XLEN',
                            key($fifo ? 'u' : 'm', $q, 1));
        $most = $before - $left if $before - $left > $most;
        $before = $left;
    } while (++$calls < 50 && $reply->[1] == 0);

    ok($most <= 5 && $calls > 2, "at most $most in a step, $calls of them");
    is(counts($q) . ' ' . counts($dead), '0 0 0 12 0 0', 'all are moved');
    sound('sound');
    f('queue_purge', "q$dead");
});


# FIFO alone

subtest 'FIFO groups' => sub {
    $fifo = 1;
    my $dead = queue('dead');
    my $q = queue('q', dlq => $dead, mrc => 2, vt => 150);

    put_fifo($q, 'g', 1 .. 4);
    get($q, 1);
    elapse(300);
    my @m = get($q, 3);
    my $t = token();
    is(seen(@m), '1:2 2:1 3:1', 'a dead message in front');
    elapse(300);
    my @n = get($q, 10);
    is(seen(@n), '2:2 3:2 4:1', 'unblocks its group');
    is(done($q, $t, @m), '000', 'old handles');
    done($q, token(), $n[0]);
    elapse(300);
    tend();
    is(seen(get($q, 10)), '4:2', 'the next');
    my @d = get($dead, 10);
    is(join(' ', map { "$_->{body}:$_->{seq}" } @d), '1:1 3:2',
       'dead ones in their order, with numbers of their own');
    is($d[0]{group}, 'g', 'in the same group');
    sound('sound');

    # a dead one ends while another is in flight
    put_fifo($q, 'h', 1 .. 2);
    @m = get($q, 2);
    hold(0, $q, token(), @m);
    @m = get($q, 2);
    hold(450, $q, token(), $m[1]);
    elapse(300);
    tend();
    is(counts($q) . ' ' . counts($dead), '0 1 0 4 0 0', 'the first is moved');
    is(scalar get($q, 10), 0, 'its group is still held by the second');
    elapse(300);
    tend();
    sound('sound');
};


# Receives at once: one delivery each, one copy each.
subtest 'receivers at once' => sub {
    for my $kind (0, 1) {
        $fifo = $kind;
        my $dead = queue("dead at once $kind");
        my $q = queue("q at once $kind", dlq => $dead, mrc => 3, vt => 0);
        post($q, 1 .. 100);
        my %n;

        for (1 .. 500) {
            $n{ $_->{body} }++ for get($q, 7, 0);
            tend() if rand() < 0.1;
        }

        tend();
        is(join(' ', map { $n{$_} // 0 } 1 .. 100), join(' ', (3) x 100),
           'three deliveries of each');
        is(counts($dead), '100 0 0', 'one copy of each');
        my @d = map { get($dead, 100, 100) } 1 .. 3;
        is(scalar(keys %{ { map { $_->{body} => 1 } @d } }), 100, 'of all');
    }

    sound('sound');
};

done_testing;
