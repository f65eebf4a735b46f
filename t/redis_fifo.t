#!/usr/bin/perl

# The functions of redis/*.lua on FIFO queues: groups, order, deduplication,
# sequence numbers, delays, retention, caps.

use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes qw(sleep time);

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;

NgxQueues::Functions::start();


sub fifo { my ($name, %o) = @_; create($name, kind => 'fifo', %o) }
sub shown { join ' ', map { "$_->{group}$_->{body}" } @_ }
sub get { my ($h, @m) = take_fifo(@_); return @m }

# handles of messages, all of one receive
sub of {
    my ($q, $t, @m) = @_;

    return map { ($q, gen($q), $_->{id}, $t) } @m;
}

sub gen { (split /:/, hot($_[0], 's'))[2] }

sub done { my ($q, $t, @m) = @_; join '', @{ ack(of($q, $t, @m)) } }

sub hold {
    my ($vt, $q, $t, @m) = @_;

    return join '', @{ visibility(map { ($q, gen($q), $_->{id}, $t, $vt) } @m) };
}

# sends one message by its key of deduplication: seq, and generation where it
# is known
sub once {
    my ($q, $group, $key, $body) = @_;
    my $reply = f('send_fifo', "q$q", 1, $group, $key, qq("$body"), '');

    return ref $reply ? "$reply" : (split / /, $reply)[2] =~ s/^[^:]*://r;
}


subtest 'send' => sub {
    my $q = fifo('send', max => 1024);
    my $s = create('standard');
    my $reply = f('send_fifo', 'nsend', 5, 'g', 'd1', '"a\u0000"', '{"k":"v"}',
                  'h', 'd2', '"b"', '', 'g', 'd3', '"c"', '');
    like($reply, qr/^$q 1 (\d+-\d+):1 \d+-\d+:1 \d+-\d+:2$/, 'Q, G, id and seq');
    my ($id) = $reply =~ / (\d+-\d+):1/;
    my ($h, @m) = take_fifo($q, 10);
    is_deeply([ @$h[0 .. 3] ], [ $q, 1, 0, -1 ], 'receive');
    is(shown(@m), 'ga\u0000 gc hb', 'messages of a group together, in order');
    is("$m[0]{ms}-$m[0]{n} $m[0]{attributes} $m[0]{count}", "$id {\"k\":\"v\"} 1",
       'id, attributes, count');
    is("$m[1]{attributes}$m[1]{origin}$m[1]{due}", '', 'or none');
    ok(abs($m[0]{first} - time * 1000) < 30_000, 'first');
    is(done($q, token(), @m), '111', 'ack');
    is(counts($q), '0 0 0', 'and nothing is left');

    my $bytes = join '', map { chr } 0 .. 255;
    f('send_fifo', 'nsend', 9, '~ !"{}:%', 'dx', $bytes, $bytes);
    ($h, @m) = take_fifo($q, 1);
    is_deeply([ @{ $m[0] }{qw(group body attributes)} ],
              [ '~ !"{}:%', $bytes =~ tr/"//dr, $bytes ], 'any bytes');
    hold(0, $q, token(), @m);
    ($h, @m) = take_fifo($q, 1);
    is("$m[0]{group} $m[0]{count}", '~ !"{}:% 2', 'again');
    done($q, token(), @m);

    like(f('send', "q$q", 1, '"x"'), qr/^QUEUES ISFIFO /, 'send');
    like(f('send_each', "q$q", 1, '', '"x"', ''), qr/^QUEUES ISFIFO /,
         'send_each');
    like(f('send_fifo', "q$s", 1, 'g', 'd1', '"x"', ''), qr/^QUEUES NOTFIFO /,
         'a standard queue');
    like(f('send_fifo', 'nnone', 1, 'g', 'd1', '"x"', ''), qr/^QUEUES NOQUEUE /,
         'no queue');
    is(f('send_fifo', "q$q", 1025, 'g', 'd9', '"x"', ''), 'QUEUES TOOBIG 1024',
       'too big');
    like(f('send_fifo', "q$q", 1, 'g', 'd9', '"x"', '', 'g', 'h0', '"y"', ''),
         qr/^QUEUES NODEDUP /, 'one without a deduplication id');
    like(f('send_fifo', "q$q", @$_), qr/^QUEUES ARGUMENT /, 'arguments')
        for [], [ 1 ], [ 1, 'g', 'd9', '"x"' ], [ 'x', 'g', 'd9', '"x"', '' ],
            [ 1, 'g', 'd9', '"x"', '', 'g' ];
    is(counts($q), '0 0 0', 'nothing is stored');
    is(once($q, 'g', 'd9', 'x'), 3, 'nor known');
    sound('sound');
};


subtest 'one receiver per group' => sub {
    my $q = fifo('group');
    put_fifo($q, 'g', 'a', 'b');
    my @a = get($q, 1, 100);
    my $ta = token();
    put_fifo($q, 'g', 'c');
    is(scalar get($q, 10, 100), 0, 'a send into a group in flight frees nothing');
    put_fifo($q, 'h', 'x', 'y');
    my @x = get($q, 10, 100);
    my $tx = token();
    is(shown(@x), 'hx hy', 'other groups flow');
    is(counts($q), '2 3 0', 'counts');
    is(done($q, $ta, @a), '1', 'ack');
    my @b = get($q, 10, 100);
    is(shown(@b), 'gb gc', 'and the group goes on');
    my $tb = token();
    is(done($q, $tb, $b[1]), '1', 'the last one first');
    put_fifo($q, 'g', 'd');
    is(scalar get($q, 10, 100), 0, 'one is still in flight');
    is(done($q, $tb, $b[0]), '1', 'the other');
    is(shown(get($q, 10, 100)), 'gd', 'what came meanwhile');

    # a thousand messages of a hundred groups, each receive takes what it can
    my $p = fifo('many');
    put_fifo($p, "g$_", 1 .. 10) for 1 .. 100;
    my (%held, $n);

    for (1 .. 200) {
        my @m = get($p, 7, 100) or last;
        my %groups = map { $_->{group} => 1 } @m;
        $held{$_}++ && fail("$_ has two receivers") for keys %groups;
        $n += @m;
    }

    ok($n >= 100, "$n are in flight");
    is(keys %held, 100, 'of all groups');
    is(counts($p), 1000 - $n . " $n 0", 'counts');
    sound('sound');
};


subtest 'order' => sub {
    my $q = fifo('order');
    put_fifo($q, 'g', 1 .. 5);
    my @m = get($q, 4, 450);
    is(done($q, token(), $m[1]), '1', 'one in the middle is done');
    elapse(600);
    is(counts($q), '4 0 0', 'timeout');
    @m = get($q, 2, 450);
    is(shown(@m), 'g1 g3', 'the group goes on in order');
    is(join(' ', map { $_->{count} } @m), '2 2', 'receive counts');
    my $t = token();
    is(hold(0, $q, $t, $m[1]), '1', 'the second one is released');
    is(scalar get($q, 10), 0, 'and waits for the first');
    is(hold(0, $q, $t, $m[0]), '1', 'released too');
    @m = get($q, 10, 450);
    is(shown(@m), 'g1 g3 g4 g5', 'all of it');
    is(join(' ', map { $_->{count} } @m), '3 3 2 1', 'each with its count');
    $t = token();
    is(done($q, $t, @m[3, 0]), '11', 'acks in any order');
    put_fifo($q, 'g', 6);
    is(done($q, $t, @m[2, 2, 1]), '101', 'one handle twice');
    is(shown(get($q, 10)), 'g6', 'the next');
    sound('sound');

    # failure of one: what follows has been delivered too
    my $p = fifo('partial');
    put_fifo($p, 'a', 1 .. 3);
    put_fifo($p, 'b', 1, 2);
    @m = get($p, 10, 450);
    my %m = map { ("$_->{group}$_->{body}" => $_) } @m;
    done($p, token(), @m{qw(a1 b1 b2)});
    hold(0, $p, token(), @m{qw(a2 a3)});
    @m = get($p, 10);
    is(shown(@m) . " $m[0]{count}$m[1]{count}", 'a2 a3 22', 'redelivered');
    sound('sound');
};


subtest 'stale handles' => sub {
    my $q = fifo('stale');
    put_fifo($q, 'g', 1 .. 3);
    my @a = get($q, 2, 150);
    my $ta = token();
    is(done($q, $ta + 1, @a), '00', 'another token');
    is_deeply(ack($q, 2, $a[0]{id}, $ta), [ 0 ], 'another generation');
    is_deeply(ack(map { ($q, 1, $_, $ta) } '9:1', '1:9', '1', 'x:1', '1:1:1'),
              [ (0) x 5 ], 'no such message');
    is(counts($q), '1 2 0', 'nothing is changed');
    elapse(300);
    my @b = get($q, 2, 450);
    my $tb = token();
    is(done($q, $ta, @a), '00', 'an old ack');
    is(hold(0, $q, $ta, @a), '00', 'an old release');
    is(f('undo', $q, 1, $ta, map { $_->{id} } @a), 0, 'an old undo');
    is(counts($q), '1 2 0', 'change nothing');
    elapse(600);
    my $turn = $r->call('ZSCORE', key('o', $q, 1), 'g');
    is(counts($q), '3 0 0', 'timeout');
    $turn = $r->call('ZSCORE', key('o', $q, 1), 'g');
    sleep 0.01;
    waits($q);
    is(done($q, $ta, @a) . f('undo', $q, 1, $ta, $a[0]{id}), '000', 'old ones');
    is($r->call('ZSCORE', key('o', $q, 1), 'g'), $turn, 'its turn stays');
    is(hints(), '', 'and nobody is woken');
    is(done($q, $tb, $b[0]), '1', 'a late ack');
    is(done($q, $tb, $b[0]), '0', 'only once');
    is(shown(get($q, 10)), 'g2 g3', 'the rest');
    is(done($q, $tb, $b[1]), '0', 'taken by another');
    is_deeply(ack('zzzzzzzzzzzz', 1, '1:1', 1), [ 0 ], 'no queue');
    hints();
    sound('sound');
};


subtest 'visibility' => sub {
    my $q = fifo('visibility');
    my ($ends, $f, $now) = (key('b', $q, 1), key('f', $q, 1), time * 1000);
    put_fifo($q, 'g', 1 .. 3);
    put_fifo($q, 'h', 1, 2);
    my @m = get($q, 5, 100);
    my $t = token();
    is(hold(200, $q, $t, @m), '11111', 'of all');
    is(hot($q, 'nb') . $r->call('ZCARD', $f), 50, 'stays a batch');
    ok(abs($r->call('ZSCORE', $ends, $t) - $now - 200000) < 500, 'from now');
    hold(43200, $q, $t, @m);
    my ($last) = $r->call('HGET', key('e', $q, 1), $t) =~ /^(\d+)/;
    is($r->call('ZSCORE', $ends, $t), $last + 43200000, 'at most 12 hours');
    waits($q);
    hold(43200, $q, $t, @m);
    is(hints(), '', 'no hint for the same end');
    hold(100, $q, $t, @m);
    is(hints(), $q, 'a hint for an earlier one');
    is_deeply(visibility((map { ($q, 1, $_->{id}, $t, 100) } @m),
                         (map { ($q, 1, $_->{id}, $t, 50) } @m)),
              [ (1) x 5, (0) x 5 ], 'a second mention is over');
    is(hold(450, $q, $t, $m[1]), '1', 'of one');
    is(hot($q, 'nb') . hot($q, 'nf'), '05', 'taken apart');
    elapse(300);
    is(counts($q), '4 1 0', 'the others ended');
    is(shown(get($q, 10, 0)), 'h1 h2', 'but their group waits');
    is(hold(43200, $q, $t, $m[1]), '1', 'to the end');
    is($r->call('ZSCORE', $f, 'g'), $last - 300000 + 43200000,
       'at most 12 hours');
    is(hold(900, $q, $t, $m[0]), '1', 'one that ended is held again');
    is(counts($q), '3 2 0', 'counts');
    is(hold(0, $q, $t, @m[0, 1]), '11', 'release');
    is(shown(sort { $a->{group} cmp $b->{group} } get($q, 10, 0)),
       'g1 g2 g3 h1 h2', 'and all is there');
    sound('sound');
};


subtest 'undo' => sub {
    my $q = fifo('undo', wait => 3);
    put_fifo($q, 'a', 1 .. 3);
    put_fifo($q, 'b', 1);
    put_fifo($q, 'c', 1);
    my @m = get($q, 4, 100);
    is(shown(@m), 'a1 a2 a3 b1', 'received');
    waits($q);
    is(f('undo', $q, 1, token() + 1, $m[0]{id}), 0, 'another token');
    is(f('undo', $q, 1, token(), map { $_->{id} } @m), 4, 'all of it');
    is(hints(), $q, 'hint');
    is(counts($q), '5 0 0', 'visible');
    is(done($q, token(), @m), '0000', 'handles are over');
    @m = get($q, 4, 100);
    is(shown(@m), 'a1 a2 a3 b1', 'first in turn, in order');
    is(join(' ', map { $_->{count} } @m), '1 1 1 1', 'counts as before');
    my $t = token();
    is(f('undo', $q, 1, $t, map { $_->{id} } @m[1, 2, 1]), 2, 'a part');
    is(done($q, $t, $m[1]), '0', 'its handle is over');
    is(shown(get($q, 1, 100)), 'c1', 'it waits for the first');
    is(done($q, $t, $m[0]), '1', 'which is held');
    sleep 0.01;
    my @n = get($q, 10, 450);
    is(shown(@n), 'a2 a3', 'in order');
    is(join(' ', map { $_->{count} } @n), '1 1', 'counts as before');
    ok($n[0]{first} > $m[0]{first}, 'first is of this one');
    elapse(600);
    @n = get($q, 2, 450);
    is(shown(@n) . $n[0]{count}, 'a2 a32', 'received a second time');
    f('undo', $q, 1, token(), map { $_->{id} } @n);
    my @o = get($q, 2, 450);
    is(shown(@o) . $o[0]{count}, 'a2 a32', 'the same again');
    is($o[0]{first}, $n[0]{first}, 'first stays');
    is(f('undo', 'zzzzzzzzzzzz', 1, 1, '1:1'), 0, 'no queue');
    hints();
    sound('sound');
};


subtest 'waits' => sub {
    my $q = fifo('waits', wait => 7);
    my ($h, @m) = take_fifo($q, 10);
    is_deeply([ @$h[2, 3] ], [ 7, -1 ], 'nothing there');
    is(waiting($q), 1, 'waits');
    put_fifo($q, 'g', 'a', 'b');
    is(hints() . waiting($q), "${q}0", 'a send wakes');
    @m = get($q, 1, 100);
    ($h) = take_fifo($q, 1);
    ok($h->[3] > 99000 && $h->[3] <= 100000, 'the end is known');
    put_fifo($q, 'g', 'c');
    is(hints(), '', 'a send into the group wakes nobody');
    done($q, token() - 1, @m);
    is(hints(), $q, 'an ack does');
    @m = get($q, 1, 100);
    ($h) = take_fifo($q, 1);
    hold(0, $q, token() - 1, @m);
    is(hints(), $q, 'a release does');
    @m = get($q, 9, 100);
    ($h) = take_fifo($q, 1);
    done($q, token() - 1, @m);
    is(hints(), '', 'nothing is left to wake for');
    hints();
    sound('sound');
};


subtest 'delays' => sub {
    my $q = fifo('delay', delay => 450, vt => 1050);
    put_fifo($q, 'g', 1, 2);
    is(counts($q), '0 0 2', 'delayed');
    my ($h, @m) = take_fifo($q, 10, '', 5);
    is(@m . ($h->[3] > 449000 && $h->[3] <= 450000), '01', 'for so long');
    elapse(300);
    f('queue_update', 'ndelay', 'delay', 0);
    put_fifo($q, 'g', 3);
    put_fifo($q, 'h', 1);
    is(counts($q), '2 0 2', 'what comes without a delay is visible');
    is(shown(get($q, 10)), 'h1', 'but waits for the head of its group');
    elapse(300);
    is(counts($q), '3 1 0', 'the delay is over');
    @m = get($q, 10);
    is(shown(@m), 'g1 g2 g3', 'in order');
    is(done($q, token(), @m), '111', 'ack');
    sound('sound');

    # a delay behind what has none
    put_fifo($q, 'k', 1);
    f('queue_update', 'ndelay', 'delay', 450);
    put_fifo($q, 'k', 2, 3);
    put_fifo($q, 'l', 1);
    @m = get($q, 10);
    is(shown(@m), 'k1', 'only what is not delayed');
    is(done($q, token(), @m), '1', 'ack');
    is(scalar get($q, 10), 0, 'the next is delayed');
    is($r->call('ZSCORE', key('k', $q, 1), 'k') > time * 1000 + 400000, 1, 'k');
    sound('sound');
    elapse(600);
    is(shown(sort { $a->{group} cmp $b->{group} } get($q, 10)), 'k2 k3 l1',
       'and comes then');

    # a clock that goes back: what was ready is delayed again
    put_fifo($q, 'm', 1);
    soon_fifo($q, 'm');
    is(shown(my @n = get($q, 10)), 'm1', 'over');
    f('undo', $q, 1, token(), $n[0]{id});
    my $u = key('u', $q, 1);
    my $far = int(time * 1000) + 5000;
    my $value = $r->call('HGET', $u, $n[0]{id}) =~ s/:(\d*):/:$far:/r;
    $r->call('HSET', $u, $n[0]{id}, $value);
    $r->call('HSET', key('h', $q), 'cur', $far);
    is(scalar get($q, 10), 0, 'not now');
    is($r->call('ZSCORE', key('k', $q, 1), 'm'), $far, 'but then');
    ok(hot($q, 't') <= $far, 'when somebody will look');
    f('queue_delete', "q$q");
    hints();
};

# the delays of a group are over
sub soon_fifo {
    my ($q, $group) = @_;
    my ($gid) = $r->call('HGET', key('g', $q, 1), $group) =~ /^(\d+)/;
    my %u = @{ $r->call('HGETALL', key('u', $q, 1)) };

    for (grep { /^$gid:/ } keys %u) {
        $r->call('HSET', key('u', $q, 1), $_, $u{$_} =~ s/:\d+:/:1:/r);
        $r->call('ZADD', key('y', $q, 1), 'XX', 1, "$_:$group");
    }

    $r->call('ZADD', key('k', $q, 1), 'XX', 1, $group);
    $r->call('HSET', key('h', $q), 't', 0);
}


subtest 'deduplication' => sub {
    my $q = fifo('dedup', vt => 100);
    is(once($q, 'g', 'dk', 'a'), 1, 'the first');
    is(once($q, 'g', 'dk', 'b'), '1:1', 'the same id, another body');
    is(once($q, 'h', 'dk', 'a'), '1:1', 'another group: of the queue');
    is(counts($q), '1 0 0', 'stored once');
    my ($first) = f('send_fifo', "q$q", 1, 'g', 'dk', '"a"', '') =~ / (\S+):1:1$/;
    my @m = get($q, 10);
    is("$m[0]{ms}-$m[0]{n}", $first, 'the first id');
    done($q, token(), @m);
    is(once($q, 'g', 'dk', 'a'), '1:1', 'after its ack too');
    elapse(300);
    is(once($q, 'g', 'dk', 'a'), 2, 'new after the window');
    is(once($q, 'g', 'dk', 'a'), '2:1', 'which begins anew');

    my $reply = f('send_fifo', "q$q", 1, map { @$_ } [ 'g', 'dn', '"1"', '' ],
                  [ 'i', 'dn', '"2"', '' ], [ 'g', 'dk', '"3"', '' ],
                  [ 'g', 'do', '"4"', '' ], [ 'g', 'dn', '"5"', '' ]);
    my @w = split / /, $reply;
    is(join(' ', map { s/^[^:]*://r } @w[2 .. 6]), '3 3:1 2:1 4 3:1',
       'within a batch');
    is($w[2] . ':1', $w[3], 'with the id of the first');
    is(shown(@m = get($q, 10)), 'ga g1 g4', 'no group of duplicates');
    done($q, token(), @m);
    is($r->call('HLEN', key('g', $q, 1)), 0, 'nor left over');

    f('queue_purge', "q$q");
    is(once($q, 'g', 'dk', 'a'), '2:1', 'a purge does not forget');
    is(once($q, 'g', 'dp', 'a'), 5, 'numbers go on');
    is(shown(get($q, 10)), 'ga', 'a new generation');
    is(once($q, 'g', 'dp', 'a'), '5:2', 'of which the first was');
    sound('sound');

    # by content
    like(once($q, 'g', 'h0', 'a'), qr/NODEDUP/, 'not by content');
    f('queue_update', "q$q", 'cbd', 1);
    is(once($q, 'j', 'h0', 'a'), 1, 'by content');
    is(once($q, 'j', 'h0', 'a'), '1:2', 'the same');
    is(once($q, 'j', 'd0', 'a'), 2, 'an id is no content');
    is(once($q, 'j', 'h1', 'b'), 3, 'another body');
    like(f('queue_update', 'q' . create('std'), 'cbd', 1), qr/NOTFIFO/,
         'not on a standard queue');

    # windows: two of them are known, older ones are dropped
    my ($w) = hot($q, 'dw');
    my @keys = sub { sort grep { /:i:/ } @{ $r->call('KEYS', "$root:i:$q:*") } };
    is(join(' ', $keys[0]->()), join(' ', map { key('i', $q, $_) } $w - 1, $w),
       'this window and the last one');
    elapse(300);
    is(once($q, 'j', 'd2', 'a'), 4, 'the next window');
    is(scalar(() = $keys[0]->()), 2, 'two windows');
    elapse(300);
    once($q, 'j', 'd3', 'a');
    is(scalar(() = $keys[0]->()), 2, 'still two');
    elapse(1200);
    once($q, 'j', 'd4', 'a');
    is(scalar(() = $keys[0]->()), 1, 'one');

    # a call that saw a later time knows the next window already
    $r->call('HSET', key('h', $q), 'dw', hot($q, 'dw') + 1);
    like(once($q, 'j', 'd4', 'a'), qr/^\d+:2$/, 'known by a clock behind');
    is(once($q, 'j', 'd5', 'a') =~ /^(\d+)$/, 1, 'stored by it');
    like(once($q, 'j', 'd5', 'a'), qr/^\d+:2$/, 'and known');

    # a value of the clock before the window's end is known to the ms
    my $i = key('i', $q, hot($q, 'dw'));
    my ($s, $us) = @{ $r->call('TIME') };
    my $now = $s * 1000 + int($us / 1000);
    $r->call('HSET', $i, 'd6', "7-7 99 1 " . ($now - 299000));
    is(once($q, 'j', 'd6', 'a'), '99:1', 'before 5 minutes are over');
    $r->call('HSET', $i, 'd6', "7-7 99 1 " . ($now - 300000));
    is(once($q, 'j', 'd6', 'a') =~ /^(\d+)$/, 1, 'after');
    sound('sound');

    # memory is given back
    f('queue_purge', "q$q");
    elapse(1200);
    my $day = hot($q, 'cw');
    $r->call('RENAME', key('c', $q, $day), key('c', $q, $day - 3));
    $r->call('HSET', key('h', $q), 'cw', $day - 3);
    $r->call('ZADD', "$root:t", 0, $q);
    tend();
    is_deeply([ grep { /:[ic]:$q/ } @{ $r->call('KEYS', '*') } ], [],
              'maintain drops what is over');
    is($r->call('ZSCORE', "$root:t", $q), undef, 'and is done with it');
    sound('sound');
    once($q, 'j', 'd4', 'a');
    is(f('queue_delete', "q$q"), 1, 'delete');
    is_deeply([ grep { /$q/ } @{ $r->call('KEYS', '*') } ], [], 'no key stays');
    $q = fifo('dedup');
    is(once($q, 'j', 'd4', 'a'), 1, 'nor does a new queue know');
    hints();
};


subtest 'sequence numbers and ids' => sub {
    my $q = fifo('seq');
    my @s = map { $_->[1] } put_fifo($q, 'g', 1 .. 3);
    my @o = map { $_->[1] } put_fifo($q, 'h', 1);
    my @m = get($q, 10);
    done($q, token(), @m);
    is(counts($q), '0 0 0', 'empty');
    push @s, map { $_->[1] } put_fifo($q, 'g', 4, 5);
    f('queue_purge', "q$q");
    push @s, map { $_->[1] } put_fifo($q, 'g', 6);
    is("@s @o", '1 2 3 4 5 6 1', 'no gaps, of each group');

    # of the day before
    my $day = hot($q, 'cw');
    @m = get($q, 10);
    done($q, token(), @m);
    $r->call('RENAME', key('c', $q, $day), key('c', $q, $day - 1));
    $r->call('HSET', key('h', $q), 'cw', $day - 1);
    is((put_fifo($q, 'g', 7))[0][1], 7, 'they are known the next day');
    is(hot($q, 'cw'), $day, 'today');

    # the clock goes back
    my ($sec) = @{ $r->call('TIME') };
    my $ahead = ($sec + 500) . '000';
    my $n = (split /-/, hot($q, 'last'))[1];
    $r->call('HSET', key('h', $q), 'last', "$ahead-$n");
    @s = put_fifo($q, 'g', 8, 9);
    is(join(' ', map { "@$_" } @s), "$ahead-" . ($n + 1) . " 8 $ahead-"
       . ($n + 2) . ' 9', 'ids and numbers go on');
    put_fifo($q, 'g', 10);
    @m = get($q, 10);
    is(shown(@m), 'g7 g8 g9 g10', 'and order');

    # the number of a message in its queue wraps in the id
    $r->call('HSET', key('h', $q), 'last', "$ahead-4294967295");
    is((put_fifo($q, 'i', 1))[0][0], "$ahead-0", 'wraps at 32 bits');
    is((put_fifo($q, 'i', 2))[0][0], "$ahead-1", 'and goes on');

    # large numbers are written whole
    my $big = 99_999_999_999_000;
    $r->call('HSET', key('c', $q, $day), 'big', $big);
    is((put_fifo($q, 'big', 1))[0][1], $big + 1, 'a large number');
    my ($b) = grep { $_->{group} eq 'big' } get($q, 10, 0);
    is($b->{seq}, $big + 1, 'received');
    ($b) = grep { $_->{group} eq 'big' } get($q, 10, 0);
    is("$b->{seq} $b->{count}", $big + 1 . ' 2', 'again');
    put_fifo($q, 'big', 2);
    my @b = grep { $_->{group} eq 'big' } get($q, 10, 9);
    is(join(' ', map { $_->{seq} } @b), ($big + 1) . ' ' . ($big + 2),
       'with the next');
    is(done($q, token(), @b), '11', 'and acknowledged');
    f('queue_delete', "q$q");
};


subtest 'fairness' => sub {
    my $q = fifo('fair');
    put_fifo($q, 'big', 1 .. 1000) for 1 .. 100;
    put_fifo($q, "s$_", 'x', 'y') for 1 .. 100;
    is(counts($q), '100200 0 0', 'a large group and small ones');
    my (%seen, @size);

    for (1 .. 101) {
        my @m = get($q, 10);
        push @size, scalar @m;
        $seen{ $_->{group} }++ for @m;
        done($q, token(), @m);
    }

    is(scalar(grep { $_ != 10 } @size), 0, 'each receive is full');
    is(scalar(grep { $seen{"s$_"} } 1 .. 100), 100, 'all small ones are served');
    is(scalar(grep { $seen{"s$_"} == 2 } 1 .. 100), 100, 'to their ends');

    # one at a time, released each time: each has its turn
    put_fifo($q, "s$_", 'x') for 1 .. 5;
    my @turns;

    for (1 .. 12) {
        my ($m) = get($q, 1);
        push @turns, $m->{group};
        sleep 0.002;
        hold(0, $q, token(), $m);
    }

    is("@turns[0 .. 5]", "@turns[6 .. 11]", 'in turns');
    is("@turns[0 .. 5]", 'big s1 s2 s3 s4 s5', 'each group once');
    sound('sound');
    f('queue_delete', "q$q");
};


subtest 'caps' => sub {
    my $q = fifo('cap', wait => 5);
    put_fifo($q, "g$_", 1 .. 500) for 1 .. 42;
    my (@h, @t);

    for (1 .. 20) {
        my @m = get($q, 5000, 10_000);
        push @h, \@m;
        push @t, token();
        is(scalar @m, 1000, 'a thousand at most') if $_ == 1;
    }

    is(counts($q), '1000 20000 0', 'as many as may be');
    my ($h, @m) = take_fifo($q, 10);
    is(scalar @m, 0, 'none over it');
    ok($h->[3] > 9_800_000 && $h->[3] <= 10_000_000, 'till one ends');
    is(waiting($q), 1, 'waits');
    hints();
    is(done($q, $t[0], @{ $h[0] }[0 .. 3]), '1111', 'an ack');
    is(hints(), $q, 'makes room');
    @m = get($q, 10, 100);
    is(scalar @m, 4, 'for as many');
    is(f('undo', $q, 1, token(), map { $_->{id} } @m), 4, 'undo');
    is(counts($q), '1000 19996 0', 'gives it back');
    is(scalar get($q, 10, 100), 4, 'to others');
    sound('sound');
    f('queue_delete', "q$q");
    is_deeply([ grep { /$q/ } @{ $r->call('KEYS', '*') } ], [], 'no key stays');
    hints();
};


subtest 'retention' => sub {
    my $q = fifo('retention', ret => 600, vt => 1050);
    put_fifo($q, 'a', 1 .. 3);
    put_fifo($q, 'b', 1);
    put_fifo($q, 'c', 1, 2);
    put_fifo($q, 'd', 1);
    my @c = get($q, 4);                       # a and b, a batch
    my $t = token();
    my @d = get($q, 2);
    my $td = token();
    hold(1050, $q, $td, $d[1]);               # c, one by one
    elapse(300);
    put_fifo($q, $_, 'new') for qw(a b c e);
    is(counts($q), '5 6 0', 'before');
    elapse(300);
    is(done($q, $t, $c[0]), '0', 'ack of what is old');
    is(hold(9, $q, $td, @d), '00', 'visibility too');
    is(shown(sort { $a->{group} cmp $b->{group} } get($q, 10)),
       'anew bnew cnew enew', 'what is young, though the front was in flight');
    is(counts($q), '0 4 0', 'counts');
    is(int(f('queue_count', "q$q")->[18] / 100), 3, 'age');
    sound('sound');
    elapse(300);
    is(counts($q), '0 0 0', 'in flight, all at once');
    is_deeply([ grep { /:$q:1$/ } @{ $r->call('KEYS', "$root:[^ci]:$q:*") } ], [],
              'nothing stays');
    is(f('queue_count', "q$q")->[18], -1, 'no oldest');
    is((put_fifo($q, 'a', 9))[0][1], 5, 'numbers go on');
    sound('sound');

    # parts of a large group: no receive has one that is old
    f('queue_purge', "q$q");
    put_fifo($q, 'l', 1 .. 500) for 1 .. 4;
    my @l = get($q, 300, 150);
    put_fifo($q, "m$_", 1) for 1 .. 50;
    elapse(300);
    put_fifo($q, 'l', 'new');
    put_fifo($q, 'n', 'new');
    elapse(300);
    my (%got, $calls);

    for (1 .. 60) {
        my @m = get($q, 10);
        $calls++;
        $got{"$_->{group}$_->{body}"}++ for @m;
        last if keys %got >= 2;
    }

    is(join(' ', sort keys %got), 'lnew nnew', "only what is young, $calls calls");
    is(counts($q), '0 2 0', 'and nothing else is left');
    sound('sound');

    # a delay that is longer than the retention
    f('queue_purge', "q$q");
    f('queue_update', "q$q", 'delay', 900);
    put_fifo($q, 'k', 1);
    f('queue_update', "q$q", 'delay', 0);
    elapse(300);
    put_fifo($q, 'k', 2, 3);
    is(scalar get($q, 10), 0, 'delayed');
    elapse(300);
    my @k = get($q, 1);
    is(shown(@k), 'k2', 'the head is gone, the next is free');
    elapse(0);
    is(scalar get($q, 10), 0, 'and held');
    is(done($q, token() - 1, @k), '1', 'ack');
    is(shown(get($q, 10)), 'k3', 'the last');
    sound('sound');

    # longer again
    f('queue_purge', "q$q");
    put_fifo($q, 'z', 1);
    f('queue_update', "q$q", 'ret', 1200);
    elapse(900);
    is(counts($q), '1 0 0', 'a longer retention');
    f('queue_update', "q$q", 'ret', 600);
    is(scalar get($q, 10), 0, 'a shorter one');
    f('queue_delete', "q$q");
};


# 1 MiB bodies: a call takes 4 MiB of them away, or a little more.
subtest 'large bodies' => sub {
    my $q = fifo('large', ret => 600, max => 1048576);
    my $big = 'x' x 1048574;
    put_fifo($q, 'g', $big) for 1 .. 12;
    elapse(300);
    put_fifo($q, 'h', 'young');
    elapse(300);
    my ($calls, $before, $most) = (0, 13, 0);

    while ($calls++ < 20) {
        my $c = f('queue_count', "q$q");
        my $left = $r->call('HLEN', key('u', $q, 1));

        $most = $before - $left if $before - $left > $most;
        $before = $left;
        last if !$c->[14];
    }

    ok($most >= 1, "up to $most in a call");
    is(counts($q), '1 0 0', "gone after $calls calls");
    put_fifo($q, 'g', $big) for 1 .. 2;
    my @m = get($q, 10);
    is(length $m[1]{body}, 1048574, 'received');
    f('queue_delete', "q$q");

    # groups with one each: too old, of an age, dead
    my $dead = fifo('large dead');
    $q = fifo('large', ret => 600, max => 1048576, dlq => $dead, mrc => 1,
              vt => 150);
    put_fifo($q, "g$_", $big) for 1 .. 20;
    ok(f('queue_count', "q$q")->[14] == 0, 'the oldest one is known at once');
    my $step = sub {
        my ($call) = @_;
        my ($most, $calls, $more) = (0, 0);

        do {
            my $left = $r->call('HLEN', key('u', $q, 1));
            $more = $call->();
            $left -= $r->call('HLEN', key('u', $q, 1));
            $most = $left if $left > $most;
        } while ($more && ++$calls < 50);

        return $most;
    };

    get($q, 10);
    elapse(300);
    my $most_dead = $step->(sub { f('maintain', 'w', 1)->[1] == 0 });
    ok($most_dead <= 5, "at most $most_dead dead ones in a step");
    is(counts($dead), '10 0 0', 'which are all moved');
    elapse(300);
    put_fifo($q, 'g', 'young');
    my $most_old = $step->(sub { f('queue_count', "q$q")->[14] });
    ok($most_old <= 5, "at most $most_old old ones in a count");
    is(counts($q), '1 0 0', 'which are all gone');
    sound('sound');
    f('queue_delete', "q$_") for $q, $dead;
};

done_testing;
