#!/usr/bin/perl

# The functions of redis/*.lua: from send to acknowledge.

use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes qw(sleep time);

use lib "$FindBin::Bin/lib";
use NgxQueues::Check;
use NgxQueues::Functions;
use NgxQueues::Redis;

NgxQueues::Functions::start();


subtest 'send' => sub {
    my $q = create('send', delay => 0, max => 1024);
    my $reply = f('send_each', 'nsend', 5, '', '"abc"', '', '0',
                  '"d\u0000"', '{"a":"b"}');
    like($reply, qr/^$q 1 \d+-\d+ \d+-\d+$/, 'Q, G and ids');
    my @sent = (split / /, $reply)[2, 3];
    my ($h, @m) = take($q, 10);
    is_deeply([ map { [ @$_[0 .. 2] ] } @m ],
              [ [ $sent[0], '"abc"', '' ],
                [ $sent[1], '"d\u0000"', '{"a":"b"}' ] ], 'as sent');
    visibility(map { ($q, 1, $_->[0], token(), 0) } @m);
    ($h, @m) = take($q, 10);
    is_deeply([ map { [ @$_[0 .. 3] ] } @m ],
              [ [ $sent[0], '"abc"', '', 2 ],
                [ $sent[1], '"d\u0000"', '{"a":"b"}', 2 ] ], 'a second time');
    ack(map { ($q, 1, $_->[0], token()) } @m);

    like(f('send', 'nsend', 3, '"abc"'), qr/^$q 1 \d+-\d+$/, 'one');
    ($h, @m) = take($q, 10);
    is(bodies(@m), 'abc', 'as sent');
    ack($q, 1, $m[0][0], token());

    is(f('send', 'nsend', 1025, 'x', 'y'), 'QUEUES TOOBIG 1024', 'too big');
    is(f('send_each', 'nsend', 1025, '', 'x', ''), 'QUEUES TOOBIG 1024',
       'likewise');
    is(counts($q), '0 0 0', 'nothing is stored');
    like(f('send', 'nnone', 1, 'x'), qr/^QUEUES NOQUEUE /, 'no queue');
    like(f('send_each', 'nnone', 1, '', 'x', ''), qr/^QUEUES NOQUEUE /,
         'no queue');
    like(f('send', 'nsend', @$_), qr/^QUEUES ARGUMENT /, 'arguments')
        for [], [ 0 ], [ 'x', 'y' ];
    like(f('send_each', 'nsend', @$_), qr/^QUEUES ARGUMENT /, 'arguments')
        for [], [ 1 ], [ 1, '', 'x' ], [ 1, '', 'x', '', '' ],
            [ 'x', '', 'x', '' ], [ 1, 'x', 'x', '' ];

    my $bytes = join '', map { chr } 0 .. 255;
    f('send', 'nsend', 9, $bytes);
    ($h, @m) = take($q, 1);
    is($m[0][1], $bytes, 'any bytes');
    ack($q, 1, $m[0][0], token());

    # delays
    f('queue_update', 'nsend', 'delay', 100);
    my @ids = (put($q, '', 'late'), put($q, 0, 'now'), put($q, 60, 'soon'));
    is(join(' ', map { /^z/ ? 'z' : 'm' } @ids), 'z m z', 'streams');
    is(counts($q), '1 0 2', 'counts');
    ($h, @m) = take($q, 10);
    is(bodies(@m), 'now', 'only what is not delayed');
    ($h) = take($q, 10);
    ok($h->[3] > 0 && $h->[3] <= 60_000, "next in $h->[3]");
    soon($q, key('y', $q, 1), $ids[2]);
    ($h, @m) = take($q, 10);
    is(bodies(@m), 'soon', 'after its delay');
    is($m[0][3], 1, 'first receive');
    is(counts($q), '0 2 1', 'counts');
    my ($low) = $r->call('ZSCORE', key('y', $q, 1), $ids[0]);
    my ($ms) = $ids[0] =~ /(\d+)/;
    ok(abs($low - $ms - 100000) < 50, 'the delay of the queue');

    # wrong types under its keys: an error, and nothing half done
    $r->call('RENAME', key('y', $q, 1), 'ngxq-aside');
    $r->call('SET', key('y', $q, 1), 'x');
    like(f('send_each', 'nsend', 1, '0', 'x', '', '1', 'x', ''),
         qr/WRONGTYPE/, 'a key of a wrong type');
    $r->call('RENAME', 'ngxq-aside', key('y', $q, 1));
    is(counts($q), '0 2 1', 'nothing is stored');
    sound('sound');

    # hints
    hints();
    put($q, 0, 'a');
    is(hints(), '', 'no hint without a waiter');
    waits($q);
    put($q, 0, 'a', 'b');
    is(hints() . waiting($q), "${q}0", 'one with, and w cleared');
    waits($q);
    put($q, 5, 'a');
    is(hints(), $q, 'for a delayed one');
};


subtest 'receive and ack' => sub {
    my $q = create('recv', vt => 30, wait => 3);
    my ($h, @m) = take($q, 10);
    is_deeply([ @$h[0 .. 3] ], [ $q, 1, 3, -1 ], 'nothing there');
    ok(abs($h->[4] - time * 1000) < 30_000, 'now');
    is(waiting($q), 1, 'waits');
    put($q, '', 1 .. 12);
    is(hints(), $q, 'hint');
    ($h, @m) = take($q, 5, '', 0);
    is(bodies(@m), '1 2 3 4 5', 'in order');
    is($h->[2], 0, 'wait of the call');
    is($h->[3], -1, 'next is not looked for');
    is_deeply([ map { $_->[3] } @m ], [ (1) x 5 ], 'counts');
    ok(abs($m[0][4] - time * 1000) < 30_000, 'first');
    is(counts($q), '7 5 0', 'counts of the queue');
    my $t = token();

    is_deeply(ack(map { ($q, 1, $_->[0], $t) } @m[0, 1], $m[0], $m[2]),
              [ 1, 1, 0, 1 ], 'one handle twice');
    is_deeply(ack(map { ($q, 1, $_->[0], $t) } @m[0, 3]), [ 0, 1 ],
              'acknowledged before');
    is_deeply(ack($q, 1, $m[4][0], $t + 1, $q, 2, $m[4][0], $t, $q, 1,
                '1-1', $t, 'zzzzzzzzzzzz', 1, $m[4][0], $t, $q, 1, $m[4][0],
                substr($t, 0, -1), $q, 1, $m[4][0], ''), [ (0) x 6 ],
              'other token, generation, id, queue, part of the token, none');
    is(counts($q), '7 1 0', 'which change nothing');
    like(f('ack', @$_), qr/^QUEUES ARGUMENT /, 'arguments')
        for [ 1, 2, 3 ], [ $q, 1, 1, '' ], [ $q, 1, 1, ' ' ],
            [ $q, 1, 1, '1-1 ' ], [ $q, 1, 1, ' 1-1' ],
            [ $q, 1, 1, '1-1  1-2' ], [ $q, 1, 1, '1-1', $q ];
    is_deeply(ack(), [], 'no message');

    # visibility 0, and stale handles
    ($h, my $a) = take($q, 1, 0);
    is(counts($q), '7 1 0', 'visible at once');
    my $ta = token();
    ($h, my $b) = take($q, 1, 60);
    is("$b->[0] $b->[3]", "$a->[0] 2", 'comes again, before new ones');
    is($b->[4], $a->[4], 'first stays');
    is_deeply(ack($q, 1, $a->[0], $ta), [ 0 ], 'old handle');
    is_deeply(visibility($q, 1, $a->[0], $ta, 0), [ 0 ], 'old handle');
    is_deeply(ack($q, 1, $b->[0], token()), [ 1 ], 'new handle');

    # a handle works until another receive
    ($h, $a) = take($q, 1, 0);
    sleep 0.01;
    is_deeply(ack($q, 1, $a->[0], token()), [ 1 ], 'late ack');

    # several queues
    my $p = create('recv2');
    put($p, '', 'x', 'y');
    put($p, 1, 'z');
    soon($p, key('y', $p, 1));
    ($h, my @p) = take($p, 3);
    is(bodies(@p), 'z x y', 'due before new');
    my $tp = token();
    ($h, my @q) = take($q, 2);
    is_deeply(ack($q, 1, $q[0][0], token(), $p, 1, $p[0][0], $tp, $q, 1,
                $q[1][0], 1, $p, 1, $p[1][0], $tp, $p, 1, $p[0][0], $tp,
                $p, 1, $p[2][0], $tp), [ 1, 1, 0, 1, 0, 1 ], 'mixed');
    is(counts($p), '0 0 0', 'empty');
    like(f('receive', "q$q", 'x', '', '', 1), qr/^QUEUES ARGUMENT /, 'max');
    like(f('receive', 'nnone', 1, '', '', 1), qr/^QUEUES NOQUEUE /, 'no queue');

    # a batch of a thousand
    put($p, '', 1 .. 600) for 1, 2;
    ($h, @p) = take($p, 5000);
    is(scalar @p, 1000, 'a thousand at most');
    is_deeply(ack(map { ($p, 1, $_->[0], token()) } @p), [ (1) x 1000 ],
              'acknowledged');
    sound('sound');
};


subtest 'visibility' => sub {
    my $q = create('vis');
    put($q, '', 'a', 'b');
    my ($h, $a, $b) = take($q, 2, 30);
    my ($f, $t) = (key('f', $q, 1), token());
    is(hot($q, 'nb'), 2, 'a batch');
    my $now = time * 1000;

    is_deeply(visibility($q, 1, $a->[0], $t, 100, $q, 1, $b->[0], 1, 0),
              [ 1, 0 ], 'extended; other token');
    ok(abs($r->call('ZSCORE', $f, $a->[0]) - $now - 100000) < 500, 'from now');
    ok(abs($r->call('ZSCORE', $f, $b->[0]) - $now - 30000) < 500, 'unchanged');
    is_deeply(visibility($q, 1, $a->[0], $t, 43200), [ 1 ], 'to the end');
    my $state = $r->call('HGET', key('d', $q, 1), $a->[0]);
    my ($last) = $state =~ /:(\d+)$/;
    is($r->call('ZSCORE', $f, $a->[0]), $last + 43200000, 'at most 12 hours');

    waits($q);
    visibility($q, 1, $b->[0], $t, 40);
    is(hints(), '', 'no hint for a later end');
    visibility($q, 1, $b->[0], $t, 20);
    is(hints(), $q, 'a hint for an earlier one');
    visibility($q, 1, $b->[0], $t, 0);
    is(hints(), '', 'none without a waiter');
    ($h, my $c) = take($q, 2);
    is("$c->[0] $c->[3]", "$b->[0] 2", 'released');
    like(f('visibility', $q, 1, 1, 'x', '1-1'), qr/^QUEUES ARGUMENT /, 'vt');
    like(f('visibility', $q), qr/^QUEUES ARGUMENT /, 'too few');
    sound('sound');
};


subtest 'undo' => sub {
    my $q = create('undo');
    put($q, '', 'a', 'b', 'c');
    put($q, 3, 'd');
    my ($h, $a, $b) = take($q, 2, 30);
    my $t = token();

    waits($q);
    is(f('undo', $q, 1, $t + 1, $a->[0]), 0, 'another token');
    is(hints(), '', 'no hint');
    is(f('undo', $q, 1, $t, $a->[0], '9-9', $a->[0]), 1, 'one given back');
    is(hints(), $q, 'hint');
    is(f('undo', $q, 1, $t, $a->[0]), 0, 'only once');
    is_deeply(ack($q, 1, $a->[0], $t), [ 0 ], 'its handle is over');
    is(counts($q), '2 1 1', 'visible');
    sleep 0.01;
    ($h, my @m) = take($q, 2, 30);
    is(bodies(@m), 'a c', 'first of all');
    is($m[0][3], 1, 'receive count as before');
    ok($m[0][4] > $a->[4], 'first is of this one');

    visibility($q, 1, $m[0][0], token(), 0);
    ($h, my $again) = take($q, 1, 30);
    f('undo', $q, 1, token(), $again->[0]);
    ($h, my $more) = take($q, 1, 30);
    is("$more->[3] $more->[4]", "2 $m[0][4]", 'count and first of the second');
    is(f('undo', $q, 1, token()), 0, 'no ids');
    like(f('undo', $q), qr/^QUEUES ARGUMENT /, 'arguments');
    is(f('undo', 'zzzzzzzzzzzz', 1, 1, '1-1'), 0, 'no queue');
    sound('sound');
};


subtest 'retention' => sub {
    my $q = create('ret', vt => 3000);
    my $more = sub { retention($q, 200) };

    put($q, '', 1 .. 150);
    put($q, 2, 'z1', 'z2');
    soon($q, key('y', $q, 1));
    my ($h, @m) = take($q, 20);
    is(bodies(@m[0, 1]), 'z1 1', 'before');
    my $t = token();
    visibility($q, 1, $m[2][0], $t, 0);
    my $hx = hot($q, 'hx');
    my ($first) = $r->call('XRANGE', key('m', $q, 1), '-', '+')->[0][0]
                  =~ /(\d+)/;
    ok(abs($hx - $first - 345600000) < 30_000, 'hx');
    elapse(300);
    $_->[0] = aged($_->[0], 300) for @m;
    put($q, '', 'young');
    $more->();
    is_deeply(ack($q, 1, $m[0][0], $t, $q, 1, $m[1][0], $t), [ 0, 0 ],
              'ack of expired ones');
    is_deeply(visibility($q, 1, $m[1][0], $t, 9), [ 0 ], 'visibility too');
    ($h, my @n) = take($q, 10);
    is(bodies(@n), 'young', 'only what is young');
    my $left = $r->call('XLEN', key('m', $q, 1));
    ok($left > 1, 'not all is swept at once');
    is(hot($q, 'hx'), 0, 'hx waits for the rest');
    is(counts($q), '0 1 0', 'counts sweep');
    is_deeply([ map { $r->call($_->[0], key($_->[1], $q, 1)) } [ 'XLEN', 'm' ],
                [ 'XLEN', 'z' ], [ 'ZCARD', 'y' ], [ 'ZCARD', 'f' ],
                [ 'HLEN', 'd' ], [ 'HLEN', 'e' ], [ 'ZCARD', 'b' ] ],
              [ 1, 0, 0, 1, 1, 0, 0 ], 'nothing stays');
    ok(hot($q, 'hx') > 1e12, 'hx is right again');
    sound('sound');

    # in bulk, and more than one call
    retention($q, 345600);
    f('queue_purge', "q$q");
    put($q, '', 1 .. 1000) for 1 .. 3;
    put($q, 900, 1 .. 100);
    elapse(300);
    $more->();
    my $calls = 0;
    my $before = 3100;

    while (1) {
        my $c = f('queue_count', "q$q");
        my $now = $r->call('XLEN', key('m', $q, 2))
                  + $r->call('XLEN', key('z', $q, 2));
        ok($before - $now <= 1000, 'at most a thousand');
        $before = $now;
        last if !$c->[14] || ++$calls > 10;
    }

    is(counts($q), '0 0 0', "all gone after $calls more calls");
    is(f('queue_count', "q$q")->[18], -1, 'no oldest');

    # receive alone gets there too
    put($q, '', 1 .. 300);
    take($q, 100, 0);
    elapse(300);
    $more->();
    put($q, '', 'x');
    my $got = '';
    $got .= bodies((take($q, 1))[1] // ()) for 1 .. 10;
    is($got, 'x', 'each receive sweeps some');
    sound('sound');
    ok(f('queue_count', "q$q")->[18] < 200, 'age');
    f('queue_delete', "q$q");
    hints();
};


subtest 'cap' => sub {
    my $q = create('cap', wait => 5, vt => 3000);
    my $f = key('f', $q, 1);
    my $far = int(time + 100_000) . '000';

    put($q, '', 1 .. 5);
    my ($h, @m) = take($q, 1);
    my $t = token();

    for my $i (0 .. 119) {
        $r->call('ZADD', $f, map { ($far, "$i-$_") } 1 .. 1000);
    }

    $r->call('HSET', key('h', $q), 'nf', 120001);
    $r->call('ZREM', $f, '0-1', '0-2', '0-3');
    ($h, my @n) = take($q, 10);
    is(bodies(@n), '2 3', 'up to the cap');
    is(hot($q, 'nb') . ' ' . hot($q, 'nf'), '2 119998', 'a batch; nf is exact');
    ($h, @n) = take($q, 10);
    is(scalar @n, 0, 'none over it');
    ok($h->[3] > 2_800_000 && $h->[3] <= 3_000_000, 'room when a batch ends');
    is(waiting($q), 1, 'waits');
    visibility($q, 1, $m[0][0], $t, 0);
    is(hints(), $q, 'a release makes room');
    ($h, @n) = take($q, 10);
    is(bodies(@n), '1', 'and is received again');
    ($h) = take($q, 10);
    is_deeply(ack($q, 1, $n[0][0], token() - 1), [ 1 ], 'ack');
    is(hints(), $q, 'makes room');
    $r->call('ZREM', $f, '5-5');
    ($h, @n) = take($q, 10);
    is(bodies(@n), '4 5', 'two more');
    f('queue_delete', "q$q");
    hints();
};

done_testing;
