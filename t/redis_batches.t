#!/usr/bin/perl

# The functions of redis/*.lua: what was received together is in flight as one
# record, until a part of it goes another way.

use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes qw(time);

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Redis;

NgxQueues::Functions::start();


# batches, messages in them, single ones in flight; states, ends
sub shape {
    my ($q, $gen) = (@_, 1);
    my ($e, $b, $d, $f) = map { $r->call(@$_) }
        [ 'HLEN', key('e', $q, $gen) ], [ 'ZCARD', key('b', $q, $gen) ],
        [ 'HLEN', key('d', $q, $gen) ], [ 'ZCARD', key('f', $q, $gen) ];

    fail("e $e and b $b, d $d and f $f") if $e != $b || $d != $f;

    return join ' ', $e, hot($q, 'nb'), $f;
}

# handles of messages
sub of { my $q = shift; my $t = shift; map { ($q, 1, $_->[0], $t) } @_ }

# lets a batch end
sub ends { my ($q, $t) = @_; soon($q, key('b', $q, 1), $t) }


subtest 'which are batches' => sub {
    my $q = create('which', vt => 100);
    put($q, '', 1 .. 9) for 1 .. 30;
    my ($h, @m) = take($q, 1);
    is(shape($q), '0 0 1', 'one is none');
    ($h, @m) = take($q, 2);
    is(shape($q), '1 2 1', 'two are one');
    ($h, @m) = take($q, 100);
    is(shape($q), '2 102 1', 'a hundred are one');
    ($h, @m) = take($q, 101);
    is(shape($q), '2 102 102', 'more are single ones');
    is(join('', @{ ack(of($q, token(), @m)) }), '1' x 101, 'which end as well');
    is(counts($q), '66 103 0', 'counts');

    put($q, 900, 'z');
    soon($q, key('y', $q, 1));
    visibility($q, 1, $m[0][0], token(), 0);
    ($h, @m) = take($q, 5);
    is(bodies(@m) . ' ' . shape($q), 'z 7 8 9 1 3 106 2',
       'the new ones of a receive, not those that were due');

    # the same token once more
    my $t = token();
    my $reply = f('receive', "q$q", 3, '', '', $t);
    my (undef, @ids) = split / /, $reply->[4];
    is(shape($q), '3 106 5', 'not in the same batch');
    is_deeply(ack(map { ($q, 1, $_, $t) } $m[1][0], @ids, $m[1][0]),
              [ 1, 1, 1, 1, 0 ], 'both are of that token');
    is(shape($q), '3 105 2', 'and left');
    is(f('undo', $q, 1, $t, $m[2][0]), 1, 'undo');
    is(shape($q), '2 102 5', 'takes it apart');
    sound('sound');
};


subtest 'ack' => sub {
    my $q = create('ack');
    put($q, '', 1 .. 9);
    my ($h, @m) = take($q, 9, 100);
    my $t = token();
    is_deeply(ack(of($q, $t + 1, @m[0, 1]), of($q, $t, $m[3])), [ 0, 0, 1 ],
              'only by its token');
    is(shape($q), '1 8 0', 'one less');
    is_deeply(ack(of($q, $t, @m[0, 0, 8, 3, 4])), [ 1, 0, 1, 0, 1 ],
              'first, last, one of the middle; twice');
    is(shape($q), '1 5 0', 'five left');
    is_deeply(ack(of($q, $t, $m[7]), of($q, 5, $m[1]), of($q, $t, $m[7],
              $m[6])), [ 1, 0, 0, 1 ], 'in several groups');
    is(shape($q), '1 3 0', 'three left');
    my $short = [ $m[1][0] =~ s/.$//r ];
    is_deeply(ack(of($q, $t, $short, [ "1$m[1][0]" ], [ "$m[1][0]0" ],
              [ "z$m[1][0]" ])), [ (0) x 4 ], 'whole ids only');
    is(counts($q), '0 3 0', 'counts');
    is_deeply(ack(of($q, $t, @m[5, 2, 1])), [ 1, 1, 1 ], 'in another order');
    is(shape($q), '0 0 0', 'nothing is left');
    is(counts($q), '0 0 0', 'no message either');

    # many at once, with single ones between
    my (@h, @want);
    put($q, '', 1 .. 30);
    for my $n (3, 1, 5, 1, 2) {
        my ($h, @m) = take($q, $n, 100);
        push @h, of($q, token(), @m);
    }
    is(shape($q), '3 10 2', 'batches and others');
    is(join('', @{ ack(@h) }), '1' x 12, 'all in one call');
    is(shape($q), '0 0 0', 'nothing is left');
    is(counts($q), '18 0 0', 'but what was not received');
    sound('sound');
};


subtest 'the end of visibility' => sub {
    my $q = create('end');
    put($q, '', 1 .. 12);
    my ($h, @a) = take($q, 3, 100);
    my $ta = token();
    ($h, my @b) = take($q, 4, 60);
    my $tb = token();
    is(counts($q), '5 7 0', 'in flight');
    ack(of($q, $tb, $b[1]));
    ends($q, $ta);
    is(counts($q), '8 3 0', 'one is visible');
    is(shape($q), '1 3 3', 'as single ones');
    is_deeply(ack(of($q, $ta, $a[0])), [ 1 ], 'a late ack');
    ($h, my @m) = take($q, 10, 100);
    is(bodies(@m), '2 3 8 9 10 11 12', 'first of all');
    is(join(' ', map { $_->[3] } @m), '2 2 1 1 1 1 1', 'counts');
    is($m[0][4], $a[1][4], 'first stays');
    is_deeply(ack(of($q, $ta, @a)), [ 0, 0, 0 ], 'the old handles are over');
    ($h) = take($q, 10);
    ok($h->[3] > 0 && $h->[3] <= 60_000, "next in $h->[3]");
    ends($q, $tb);
    ($h, @m) = take($q, 2, 100);
    is(bodies(@m), '4 6', 'a batch ends by itself');
    is(shape($q), '1 5 5', 'what was not taken is a single one');
    is_deeply(ack(of($q, $tb, @b)), [ 0, 0, 0, 1 ], 'and still held');
    sound('sound');

    # vt 0
    put($q, '', 'x', 'y');
    ($h, @m) = take($q, 2, 0);
    is(counts($q), '2 9 0', 'visible at once');
    ($h, my @n) = take($q, 2, 0);
    is("$n[0][0] $n[0][3] $n[1][3]", "$m[0][0] 2 2", 'and again');

    # hundreds at once
    my $p = create('end2');
    put($p, '', 1 .. 10) for 1 .. 150;
    my @t = map { take($p, 10, 100); token() } 1 .. 150;
    ends($p, $_) for @t;
    is(f('queue_count', "q$p")->[14], 1, 'not all of them in one count');
    is(counts($p), '1500 0 0', 'but in two');
    for (1 .. 150) { take($p, 10, 0) }
    is(counts($p), '1500 0 0', 'all single ones');
    sound('sound');
};


subtest 'visibility' => sub {
    my $q = create('visibility');
    my $b = key('b', $q, 1);
    put($q, '', 1 .. 6);
    my ($h, @m) = take($q, 3, 100);
    my ($t, $now) = (token(), time * 1000);
    is_deeply(visibility(map { ($q, 1, $_->[0], $t, 200) } @m), [ 1, 1, 1 ],
              'all of it');
    is(shape($q), '1 3 0', 'stays a batch');
    ok(abs($r->call('ZSCORE', $b, $t) - $now - 200000) < 500, 'from now');
    visibility(map { ($q, 1, $_->[0], $t, 43200) } @m);
    my ($last) = $r->call('HGET', key('e', $q, 1), $t) =~ /^(\d+)/;
    is($r->call('ZSCORE', $b, $t), $last + 43200000, 'at most 12 hours');
    waits($q);
    visibility(map { ($q, 1, $_->[0], $t, 43200) } @m);
    is(hints(), '', 'no hint');
    visibility(map { ($q, 1, $_->[0], $t, 50) } @m);
    is(hints(), $q, 'a hint for an earlier end');
    is_deeply(visibility($q, 1, $m[1][0], $t + 1, 0), [ 0 ], 'another token');
    is(shape($q), '1 3 0', 'changes nothing');
    is_deeply(visibility($q, 1, $m[1][0], $t, 0, $q, 1, $m[0][0], $t, 300),
              [ 1, 1 ], 'parts');
    is(shape($q), '0 0 3', 'are single ones');
    is(counts($q), '4 2 0', 'one was released');
    ($h, my $n) = take($q, 1, 100);
    is("$n->[0] $n->[3]", "$m[1][0] 2", 'it comes first');
    is_deeply(ack(of($q, $t, @m)), [ 1, 0, 1 ], 'the others are held');

    ($h, @m) = take($q, 3, 100);
    visibility(map { ($q, 1, $_->[0], token(), 0) } @m);
    is(counts($q), '3 1 0', 'all released');
    is(shape($q), '0 0 4', 'and counted one by one');
    sound('sound');
};


subtest 'undo' => sub {
    my $q = create('undo');
    put($q, '', 1 .. 4);
    my ($h, @m) = take($q, 4, 100);
    my $t = token();
    waits($q);
    is(f('undo', $q, 1, $t, $m[1][0]), 1, 'one of four');
    is(hints(), $q, 'hint');
    is(counts($q), '1 3 0', 'visible');
    is_deeply(ack(of($q, $t, @m[0, 1])), [ 1, 0 ], 'the rest is held');
    ($h, my @n) = take($q, 4, 100);
    is("$n[0][0] $n[0][3]", "$m[1][0] 1", 'as if it had not been received');
    is(f('undo', $q, 1, token(), map { $_->[0] } @n), 1, 'again');
    sound('sound');
};


subtest 'retention' => sub {
    my $q = create('ret', vt => 3000);
    my $fill = sub {
        put($q, '', 1 .. 10) for 1 .. $_[0];
        return map { my ($h, @m) = take($q, $_[1]); [ token(), @m ] }
            1 .. $_[0] * 10 / $_[1];
    };
    my $later = sub {
        elapse(300);
        return map { my ($t, @m) = @$_;
                     [ $t, map { [ aged($_->[0], 300) ] } @m ] } @_;
    };

    my @h = $later->($fill->(1, 5));
    put($q, '', 'young');
    retention($q, 200);
    is_deeply(ack(map { of($q, @$_) } @h), [ (0) x 10 ], 'no ack');
    is_deeply(visibility(map { ($q, 1, $h[0][$_][0], $h[0][0], 9) } 1 .. 5),
              [ (0) x 5 ], 'no visibility');
    my ($h, @m) = take($q, 10);
    is(bodies(@m), 'young', 'what is young');
    elapse(300);
    is(counts($q), '0 0 0', 'nothing is kept');
    is(shape($q), '0 0 0', 'nor a batch');
    is($r->call('XLEN', key('m', $q, 1)), 0, 'nor a body');
    sound('sound');

    # partly old: by count, and by receives
    for my $how ('count', 'receive') {
        retention($q, 345600);
        @h = $later->($fill->(30, 6));
        my @new = $fill->(3, 10);
        retention($q, 200);
        take($q, 1) for 1 .. ($how eq 'receive' ? 30 : 0);
        is(counts($q), '0 30 0', "$how: the old ones are gone");
        is_deeply(ack(map { of($q, @$_) } @new), [ (1) x 30 ], 'not the new');
        is_deeply(ack(of($q, @{ $h[49] })), [ (0) x 6 ], 'but the old');
        is(shape($q), '0 0 0', 'and nothing is left');
        sound('sound');
    }

    # an old one in a batch with new ones
    retention($q, 345600);
    put($q, '', 'old');
    elapse(300);
    put($q, '', 'new1', 'new2');
    ($h, @m) = take($q, 3);
    retention($q, 200);
    is_deeply(ack(of($q, token(), @m[0, 1])), [ 0, 1 ], 'each for itself');
    is(counts($q), '0 1 0', 'in counts too');
    is_deeply(visibility(map { ($q, 1, $_->[0], token(), 9) } @m), [ 0, 0, 1 ],
              'and for visibility');
    sound('sound');
};


subtest 'cap' => sub {
    my $q = create('cap', wait => 5);
    put($q, '', 1 .. 10);
    my ($h, @a) = take($q, 3, 10_000);
    my $ta = token();
    my $far = int(time + 100_000) . '000';

    # as if these were in flight
    $r->call('ZADD', key('f', $q, 1), map { ($far, "$_-1") } 1 .. 1000)
        for 1;
    $r->call('HINCRBY', key('h', $q), 'nb', 118995);
    $r->call('HINCRBY', key('h', $q), 'nf', 119500);
    ($h, my @b) = take($q, 9, 5000);
    my $tb = token();
    is(bodies(@b), '4 5', 'up to the cap');
    ($h, my @m) = take($q, 5);
    is(scalar @m, 0, 'none over it');
    ok($h->[3] > 4_800_000 && $h->[3] <= 5_000_000, 'room when a batch ends');
    is(waiting($q), 1, 'waits');
    is_deeply(ack(of($q, $ta, $a[0])), [ 1 ], 'an ack');
    is(hints(), $q, 'makes room');
    ($h, @m) = take($q, 5, 100);
    is(bodies(@m), '6', 'for one');
    ($h) = take($q, 5);
    ends($q, $tb);
    ($h, @m) = take($q, 5, 100);
    is(bodies(@m), '4 5', 'what ended makes room');
    f('queue_delete', "q$q");
    is_deeply([ grep { /$q/ } @{ $r->call('KEYS', '*') } ], [], 'no key stays');
    hints();
};


subtest 'purge, delete' => sub {
    my $q = create('purge');
    put($q, '', 1 .. 5);
    my ($h, @m) = take($q, 3, 100);
    f('queue_purge', "q$q");
    is_deeply(ack(of($q, token(), @m)), [ 0, 0, 0 ], 'over');
    is_deeply([ grep { /$q:1/ } @{ $r->call('KEYS', '*') } ], [], 'old keys');
    put($q, '', 1 .. 5);
    ($h, @m) = take($q, 3, 100);
    is(shape($q, 2) . ' ' . counts($q), '1 3 0 2 3 0', 'a new generation');
    sound('sound');
};


subtest 'keys of a wrong type' => sub {
    my $q = create('types');
    put($q, '', 1 .. 6);

    for my $k ('e', 'b') {
        $r->call('SET', key($k, $q, 1), 'x');
        like(f('receive', "q$q", 3, '', '', 7), qr/WRONGTYPE/, "$k: receive");
        $r->call('DEL', key($k, $q, 1));
        is(shape($q) . ' ' . hot($q, 'cur'), '0 0 0 0-0', 'nothing is done');
    }

    my ($h, @m) = take($q, 3, 100);

    for my $k ('m', 'b', 'e') {
        $r->call('RENAME', key($k, $q, 1), 'aside');
        $r->call('SET', key($k, $q, 1), 'x');
        like(ack(of($q, token(), @m)), qr/WRONGTYPE/, "$k: ack");
        like(ack(of($q, token(), $m[1])), qr/WRONGTYPE/, "$k: ack of a part");
        $r->call('RENAME', 'aside', key($k, $q, 1));
        is(shape($q), '1 3 0', 'nothing is done');
    }

    for my $k ('f', 'd') {
        $r->call('SET', key($k, $q, 1), 'x');
        like(f('undo', $q, 1, token(), $m[0][0]), qr/WRONGTYPE/, "$k: undo");
        $r->call('DEL', key($k, $q, 1));
        is(shape($q), '1 3 0', 'nothing is done');
    }

    is_deeply(ack(of($q, token(), @m)), [ 1, 1, 1 ], 'and it goes on');
    sound('sound');
};


# What is known of a reference is not taken for true when queues change.
subtest 'references' => sub {
    my $a = create('ref');
    my $name = 'que_' . (my $later = sprintf 'q%011d', serial() + 2);
    my $b = create($name);
    is((split / /, f('send', 'nref', 1, 'x'))[0], $a, 'by name') for 1, 2;
    is((split / /, f('send', "q$later", 1, 'x'))[0], $b, 'a name like an id')
        for 1, 2;
    is(create('third'), $later, 'a queue of that id');
    is((split / /, f('send', "q$later", 1, 'x'))[0], $later, 'is now meant');
    is((split / /, f('send', "n$name", 1, 'x'))[0], $b, 'by name as before');
    f('queue_delete', 'nref');
    like(f('send', 'nref', 1, 'x'), qr/NOQUEUE/, 'deleted');
    my $c = create('ref');
    is((split / /, f('send', 'nref', 1, 'x'))[0], $c, 'another of that name');
    f('queue_update', 'nref', 'max', 1024);
    like(f('send', 'nref', 1025, 'x'), qr/TOOBIG 1024/, 'an update counts');
    f('queue_purge', 'nref');
    is((split / /, f('send', 'nref', 1, 'x'))[1], 2, 'so does a purge');
    is((split / /, f('send', "u$c" . uuid(serial()), 1, 'x'))[0], $c,
       'by UUID') for 1, 2;
    like(f('send', "u$c" . uuid(999), 1, 'x'), qr/NOQUEUE/, 'not another one');

    # more than are remembered, and another project of the same queues
    local $NgxQueues::Functions::root = 'ngxq:{acme/other}';
    my @q = map { create("many$_") } 1 .. 1200;
    is(scalar(grep { (split / /, f('send', "nmany$_", 1, 'x'))[0]
                     ne $q[$_ - 1] } (1 .. 1200) x 2), 0, 'many');
    my $s = $r->call('HGET', "ngxq:{acme/shop}:h:$c", 's');
    f('queue_create', $c, uuid(serial() - 1200), 'ref', 'standard',
      (split /:/, $s)[9 .. 11, 8, 7], 0, '', 0);
    f('queue_purge', 'nref');
    like(f('send', 'nref', 1, 'x'), qr/^$c 2 /, 'in the one project');
    is($r->call('XLEN', "ngxq:{acme/other}:m:$c:2"), 1, 'stored there');
};

done_testing;
