#!/usr/bin/perl

# The functions of redis/*.lua: messages as they are, without receiving them.

use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes qw(sleep time);

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;

NgxQueues::Functions::start();


# body:count of what is shown, in order
sub std { join ' ', map { $_->[1] =~ tr/"//dr . ":$_->[3]" } peek(@_) }
sub fifo { join ' ', map { "$_->{group}$_->{body}:$_->{count}" } peek(@_) }

# all that Redis has, so that nothing of it changes
sub all {
    my @keys = sort @{ $r->call('KEYS', "$root:*") };
    return join "\n", map { "$_ " . $r->call('DUMP', $_) } @keys;
}


subtest 'standard' => sub {
    my $q = create('standard', vt => 450);
    is(std($q, 'v') . std($q, 'f') . std($q, 'd'), '', 'nothing');

    put($q, '', 'a', 'b', 'c');
    put($q, 450, 'late');
    put($q, 900, 'later');
    f('send_each', "q$q", 1, 0, '"d"', '{"k":"v"}');
    my $before = all();
    is(std($q, 'v'), 'a:0 b:0 c:0 d:0', 'visible');
    is(std($q, 'd'), 'late:0 later:0', 'delayed');
    is(std($q, 'f'), '', 'in flight');
    my @m = peek($q, 'v');
    is("$m[0][3] $m[0][4]", '0 0', 'never received');
    is($m[3][2], '{"k":"v"}', 'attributes');
    is(all(), $before, 'and nothing is changed');

    my ($h, @got) = take($q, 2, 450);
    my $t = token();
    ($h, my @one) = take($q, 1, 450);
    is(std($q, 'f'), 'c:1 a:1 b:1', 'a batch and a single one');
    is(std($q, 'v'), 'd:0', 'the rest');
    ($m[0]) = grep { $_->[1] eq '"a"' } peek($q, 'f');
    is("@{$m[0]}[0, 4]", "$got[0][0] $got[0][4]", 'id and first');
    f('undo', $q, 1, $t, $got[0][0]);
    is(std($q, 'v'), 'a:0 d:0', 'what was given back');
    elapse(600);
    $before = all();
    is(std($q, 'v'), 'a:0 b:1 c:1 late:0 d:0', 'ended, and no longer delayed');
    is(std($q, 'f') . std($q, 'd'), 'later:0', 'delayed still');
    is(all(), $before, 'and nothing is changed');
    is(counts($q), '5 0 1', 'the counts say the same');
    is(std($q, 'v', 2), 'a:0 b:1', 'a limit');
    is(std($q, 'v', 0), 'a:0', 'one at least');
    put($q, '', 1 .. 200);
    is(scalar(() = peek($q, 'v', 1000)), 100, 'a hundred at most');

    # an ended batch, and what is too old
    f('queue_purge', "q$q");
    put($q, '', 'x', 'y');
    put($q, 450, 'z');
    take($q, 2, 150);
    elapse(300);
    is(std($q, 'v'), 'x:1 y:1', 'a batch that ended');
    is(std($q, 'f'), '', 'is not in flight');
    retention($q, 60);
    is(std($q, 'v') . std($q, 'f') . std($q, 'd'), '', 'nothing too old');
    retention($q, 345600);
    like(f('peek', 'nnone', 'v', 1), qr/NOQUEUE/, 'no queue');
    like(f('peek', "q$q", @$_), qr/ARGUMENT/, 'arguments')
        for [ 'x', 1 ], [ 'v', 'x' ], [ '', 1 ], [ 'vf', 1 ];
    sound('sound');

    # an origin
    my $d = create('dead');
    f('queue_update', "q$q", 'dlq', "q$d", 'mrc', 1);
    f('queue_purge', "q$q");
    put($q, '', 'dead');
    take($q, 1, 150);
    elapse(300);
    tend();
    my ($o) = peek($d, 'v');
    like($o->[5], qr/^$q,3,\d+-\d+,$q,1,\d+$/, 'where it was');
    sound('sound');
};


subtest 'FIFO' => sub {
    my $q = create('fifo', kind => 'fifo', vt => 450);
    is(fifo($q, 'v') . fifo($q, 'f') . fifo($q, 'd'), '', 'nothing');

    put_fifo($q, 'g', 1 .. 3);
    sleep 0.002;
    put_fifo($q, 'h', 1 .. 2);
    f('queue_update', "q$q", 'delay', 450);
    put_fifo($q, 'k', 1);
    sleep 0.002;
    put_fifo($q, 'h', 3);
    f('queue_update', "q$q", 'delay', 0);
    my $before = all();
    is(fifo($q, 'v'), 'g1:0 g2:0 g3:0 h1:0 h2:0', 'visible');
    is(fifo($q, 'd'), 'k1:0 h3:0', 'delayed');
    is(fifo($q, 'f'), '', 'in flight');
    is(all(), $before, 'and nothing is changed');
    is(counts($q), '5 0 2', 'the counts say the same');

    my ($h, @m) = take_fifo($q, 2, 450);
    my $t = token();
    is(fifo($q, 'f'), 'g1:1 g2:1', 'a batch');
    is(fifo($q, 'v'), 'h1:0 h2:0 g3:0', 'the rest of its group');
    my ($p) = peek($q, 'f');
    is("$p->{id} $p->{first}", "$m[0]{id} $m[0]{first}", 'id and first');
    f('undo', $q, 1, $t, $m[1]{id});
    is(fifo($q, 'f'), 'g1:1', 'a single one');
    is(fifo($q, 'v'), 'h1:0 h2:0 g2:0 g3:0', 'the rest');
    elapse(600);
    $before = all();
    is(fifo($q, 'v'), 'h1:0 h2:0 h3:0 k1:0 g1:1 g2:0 g3:0', 'all is over');
    is(fifo($q, 'f') . fifo($q, 'd'), '', 'nothing else');
    is(all(), $before, 'and nothing is changed');
    is(counts($q), '7 0 0', 'the counts say the same');
    is(scalar(() = peek($q, 'v')), 7, 'as many then');
    is(scalar(() = peek($q, 'v', 3)), 3, 'a limit');

    take_fifo($q, 10, 150);
    elapse(300);
    is(scalar(() = peek($q, 'v')), 7, 'a batch that ended');
    is(fifo($q, 'f'), '', 'is not in flight');
    put_fifo($q, "n$_", 1 .. 10) for 1 .. 20;
    is(scalar(() = peek($q, 'v', 1000)), 100, 'a hundred at most');
    sound('sound');

    # what is too old
    f('queue_purge', "q$q");
    put_fifo($q, 'g', 'old');
    elapse(300);
    put_fifo($q, 'g', 'new');
    retention($q, 60);
    is(fifo($q, 'v'), 'gnew:0', 'nothing too old');
    retention($q, 345600);
    f('queue_update', "q$q", 'ret', 345600);
    sound('sound');
};


subtest 'large bodies' => sub {
    my $big = 'x' x 1048574;

    for my $kind ('standard', 'fifo') {
        my $q = create("large $kind", kind => $kind, max => 1048576);

        for (1 .. 12) {
            $kind eq 'fifo' ? put_fifo($q, "g$_", $big) : put($q, '', $big);
        }

        my @m = peek($q, 'v');
        ok(@m >= 4 && @m <= 6, "$kind: " . @m . ' visible');
        $kind eq 'fifo' ? take_fifo($q, 12, 100) : take($q, 12, 100);
        @m = peek($q, 'f');
        ok(@m >= 4 && @m <= 6, "$kind: " . @m . ' in flight');
        f('queue_delete', "q$q");
    }
};

done_testing;
