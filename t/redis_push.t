#!/usr/bin/perl

# The functions of redis/*.lua: subscriptions, members, and who owns what.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Check;
use NgxQueues::Functions;

NgxQueues::Functions::start();

my $members = 'ngxq:{push}';
my $n = 0;

sub now { my ($s, $us) = @{ $r->call('TIME') }; $s * 1000 + int($us / 1000) }
sub short { sprintf 'k%011d', $_[0] }
sub of { my ($k, $field) = @_; $r->call('HGET', "$root:s:$k", $field) }
sub set { join ' ', sort @{ $r->call('SMEMBERS', "$root:$_[0]") } }
sub text { ref $_[0] eq 'ARRAY' ? "@{ $_[0] }" : $_[0] }

# a subscription; returns K

sub subscribe {
    my ($q, %o) = @_;
    my $k = short(++$n);
    my $reply = f('subscription_create', "q$q", $k, uuid(1000 + $n),
                  $o{url} // 'https://hooks.example.com/', $o{to} // 30,
                  $o{bs} // 10, $o{mc} // 10, $o{st} // 'a', $o{sealed} // 'S1');

    return ref $reply eq 'ARRAY' ? $k : $reply;
}

# many of them, each of a queue of its own

sub many { map { subscribe(create('m' . ++$n . "-$_")) } 1 .. $_[0] }

sub none { f('queue_delete', "q$_") for @{ $r->call('HVALS', "$root:n") };
           $r->call('DEL', "$root:pw"); hints() }

# what a sync did: its numbers, what was given away, and taken: K → JOB

sub sync_ {
    my $reply = f('push_sync', @_);
    die "push_sync: $reply\n" unless ref $reply eq 'ARRAY';

    my ($active, $owned, $free, $renewed, $next, $n, @rest) = @$reply;
    my @released = splice @rest, 0, $n;
    my %jobs;

    while (my @job = splice @rest, 0, 11) { $jobs{ $job[0] } = \@job }

    return { numbers => "$active $owned $free $renewed", next => $next,
             released => \@released, jobs => \%jobs };
}

sub lapse { $r->call('ZADD', "$root:pw", 'XX', 1, $_) for @_ }


# in so many ms, of which a slow machine leaves a half at least

sub ends_in {
    my ($left, $ms, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    ok($left > $ms / 2 && $left <= $ms + 1, $name) or diag($left);
}


subtest 'create, get, list' => sub {
    my @q = map { create("c$_") } 1 .. 3;
    my $k = short(++$n);
    my @args = ($k, uuid(1), 'https://x.example/a?b', 20, 5, 7, 'a', 'SEALED');
    my $sub = f('subscription_create', "q$q[0]", @args);
    my $time = time;

    is_deeply([ @$sub[0 .. 11] ],
              [ 1, 0, $k, uuid(1), $q[0], uuid(serial() - 2), 'c1',
                'https://x.example/a?b', 20, 5, 7, 'a' ], 'what it is');
    ok(abs($sub->[12] - $time) < 30 && $sub->[13] == $sub->[12], 'times');
    is_deeply([ @$sub[14 .. 22] ], [ 0, 0, 0, '', 0, '', 0, 0, 0 ], 'status');
    is(scalar @$sub, 23, 'that is all');
    is(of($k, 'sec'), '0 SEALED', 'its secret');

    is_deeply(f('subscription_get', $_), [ @$sub[2 .. 22] ], "get $_")
        for "q$k", "u$k" . uuid(1);
    like(f('subscription_get', $_), qr/^QUEUES NOSUB /, "not $_")
        for 'q' . short(999), "u$k" . uuid(2), 'u' . short(999) . uuid(1), $k,
            'q', '', "q$k ", "n$k";

    like(f('subscription_create', "q$q[0]", short(997), uuid(2), @args[2 .. 7]),
         qr/^QUEUES SUBEXISTS /, 'one for each queue');
    like(f('subscription_create', "q$q[1]", @args), qr/^QUEUES IDTAKEN /,
         'an id that is taken');
    like(f('subscription_create', 'nnone', short(998), uuid(2), @args[2 .. 7]),
         qr/^QUEUES NOQUEUE /, 'no queue');
    like(f('subscription_create', "q$q[1]", @$_), qr/^QUEUES ARGUMENT /,
         "not @$_")
        for [ @args[0 .. 6] ], [ 'short', @args[1 .. 7] ], [ @args, 'key' ],
            [ @args[0 .. 2], 'x', @args[4 .. 7] ],
            [ @args[0 .. 5], 'x', $args[7] ], [];

    my $p = subscribe($q[1], st => 'p');

    is(text(f('subscription_get', "q$p")) =~ / (p) /, 1, 'a paused one');
    is(set('pa'), $k, 'is not active');

    my $last = subscribe($q[2]);
    my $list = sub { my $l = f('subscription_list', @_);
                     join ' ', shift @$l, grep { /^k/ } @$l };

    is($list->('', '', 10), "0 $k $p $last", 'list');
    is($list->('', '', 2), "1 $k $p", 'a page');
    is($list->('', $p . uuid(1000 + $n - 1), 2), "0 $last", 'the next one');
    is($list->("q$q[1]", '', 10), "0 $p", 'of a queue');
    is($list->("q$q[1]", $p . uuid(1000 + $n - 1), 10), '0', 'and after it');
    like(f('subscription_list', 'nnone', '', 10), qr/^QUEUES NOQUEUE /,
         'of none');
    like(f('subscription_list', '', '', 'x'), qr/^QUEUES ARGUMENT /,
         'arguments');
    sound('all is well');

    is(f('subscription_delete', "q$p"), 2, 'delete: two are active');
    like(f('subscription_delete', "q$p"), qr/^QUEUES NOSUB /, 'only once');
    is(text(f('queue_delete', "q$q[0]")), '1 1', 'with its queue');
    is(f('queue_delete', "q$q[1]"), 1, 'a queue without one');
    is($list->('', '', 10), "0 $last", 'list');
    sound('all is well');
    none();
};


subtest 'a call that comes again' => sub {
    my $q = create('once');
    my @args = ("q$q", short(++$n), uuid(1), 'https://x.example/', 20, 5, 7, 'a',
                'S', 'a' x 64);
    my $first = f('subscription_create', @args, 'b' x 64);
    my $k = $args[1];

    $args[1] = short(++$n);
    f('subscription_update', "q$k", 'to', 9);
    $first->[1] = 1;
    is_deeply(f('subscription_create', @args, 'b' x 64), $first,
              'the first answer');
    like(f('subscription_create', @args, 'c' x 64), qr/^QUEUES CONFLICT /,
         'another call');
    cmp_ok($r->call('TTL', "$root:j:" . 'a' x 64), '>', 86000, 'for a day');
    f('subscription_delete', "q$k");
    is_deeply(f('subscription_create', @args, 'b' x 64), [ 0, @$first[1 .. 22] ],
              'the same after it was deleted');
    sound('all is well');
    none();
};


subtest 'update, rotate' => sub {
    my $k = subscribe(create('u'));

    $r->call('HSET', "$root:s:$k", 'ut', 1);
    hints();

    my $sub = f('subscription_update', "q$k", 'url', 'https://y/', 'to', 1,
                'bs', 2, 'mc', 3);

    is("@$sub[0, 1] @$sub[7 .. 10]", '1 0 https://y/ 1 2 3', 'what it is');
    ok(abs($sub->[13] - time) < 30, 'when');
    is(of($k, 'ver'), 2, 'a new version');
    is(hints(), "s$k", 'the owner is told');
    like(f('subscription_update', "q$k", @$_), qr/^QUEUES ARGUMENT /, "not @$_")
        for [ 'to' ], [ 'st', 'p' ], [ 'to', 'x' ], [ 'bs', 1, 'mc', '-1' ];
    is(of($k, 'bs') . of($k, 'ver'), 22, 'which change nothing');

    for my $same ([], [ 'bs', 2 ], [ 'url', 'https://y/', 'to', 1, 'mc', 3 ]) {
        is_deeply(f('subscription_update', "q$k", @$same), $sub,
                  "not @$same: it is so already");
        is(of($k, 'ver') . hints(), 2, 'which is no change, and told to nobody');
    }

    f('subscription_update', "q$k", 'bs', 2, 'mc', 4);
    is(of($k, 'ver') . hints(), "3s$k", 'one that differs is enough');

    my @ends;

    for my $i (2 .. 6) {
        $sub = f('subscription_rotate', "q$k", "S$i");
        is("@$sub[0 .. 2]", "1 0 $k", 'rotate') if $i == 2;
        my %s = reverse split / /, of($k, 'sec');
        push @ends, $s{ 'S' . ($i - 1) };
    }

    like(of($k, 'sec'), qr/^0 S6 \d+ S5 \d+ S4 \d+ S3\z/,
         'four at most, the newest first');
    is((grep { abs($_ - time - 86400) > 30 } @ends), 0, 'old ones for a day');
    is(of($k, 'ver'), 8, 'new versions');
    is(hints(), join(' ', ("s$k") x 5), 'the owner is told');

    $r->call('HSET', "$root:s:$k", 'sec', '0 S6 99 S5 ' . (time + 99) . ' S4');
    f('subscription_rotate', "q$k", 'S7');
    like(of($k, 'sec'), qr/^0 S7 \d+ S6 \d+ S4\z/, 'what is over goes');
    like(f('subscription_rotate', "q$k", $_), qr/^QUEUES ARGUMENT /,
         'not that') for '', 'a b';
    like(f('subscription_rotate', 'q' . short(999), 'x'), qr/^QUEUES NOSUB /,
         'nor of none');
    sound('all is well');
    none();
};


subtest 'own, pause, resume' => sub {
    my @k = many(3);

    is(set('pf'), "@k", 'all are free');

    my $s = sync_('w1', 2);
    my ($a, $b) = sort keys %{ $s->{jobs} };

    is($s->{numbers}, '3 2 1 0', 'take two');
    is($s->{next}, -1, 'no other worker');
    is(set('po:w1'), "$a $b", 'they are its own');
    is_deeply($s->{jobs}{$a}, [ $a, of($a, 'q'), 1, 1,
                                'https://hooks.example.com/', 30, 10, 10,
                                '0 S1', 0, '' ], 'what it has to know');
    sound('all is well');

    $s = sync_('w2', 3);
    is($s->{numbers}, '3 1 0 0', 'another one takes what is left');
    ok($s->{next} > 5000 && $s->{next} <= 6000, 'and may look for the rest');
    $s = sync_('w1', 2);
    is($s->{numbers} . keys %{ $s->{jobs} }, '3 2 0 10', 'renewed');
    ends_in($r->call('ZSCORE', "$root:pw", 'w1') - now(), 6000, 'for 6 s');

    hints();
    my $sub = f('subscription_state', "q$a", 'p');
    is("@$sub[0, 1, 11]", '2 0 p', 'pause');
    is(hints(), "s$a", 'the owner is told');
    is(set('pa'), join(' ', grep { $_ ne $a } @k), 'not active');
    is(set('po:w1') . set('pf'), $b, 'nor owned nor free');
    is(f('subscription_state', "q$a", 'p')->[11], 'p', 'and again');
    is(hints() . of($a, 'ver'), 2, 'which is no change');
    sound('all is well');

    $sub = f('subscription_state', "q$a", 'a');
    is("@$sub[0, 1, 11]", '3 0 a', 'resume');
    is(hints(), "s$a", 'told as well');
    is(set('pf'), $a, 'it is free');
    like(f('subscription_state', "q$a", $_), qr/^QUEUES ARGUMENT /, "not '$_'")
        for 'x', '';
    sound('all is well');

    $s = sync_('w2', 2);
    is_deeply([ @{ $s->{jobs}{$a} }[2, 3] ], [ 2, 3 ],
              'a new fence and version');

    # a share that becomes smaller
    $s = sync_('w2', 1);
    is($s->{numbers} . @{ $s->{released} }, '3 1 1 11', 'give one away');
    is(set('pf'), $s->{released}[0], 'which is free');
    is(of($s->{released}[0], 'o'), '', "and nobody's");
    $s = sync_('w2', 0);
    is($s->{numbers}, '3 0 2 1', 'all');
    is($r->call('ZSCORE', "$root:pw", 'w2'), undef, 'no lease for that');
    is(sync_('w2', 0)->{numbers}, '3 0 2 0', 'nothing to renew');
    sound('all is well');

    is(f('subscription_delete', "q$b"), 2, 'delete one that is owned');
    is(set('po:w1'), '', 'it is no more');
    sound('all is well');

    f('subscription_state', "q$_", 'p') for grep { $_ ne $b } @k;
    is($r->call('EXISTS', "$root:pw"), 0, 'no lease of nothing');
    is(sync_('w1', 3)->{numbers}, '0 0 0 0', 'nor a new one');
    is($r->call('EXISTS', "$root:pw"), 0, 'none');
    f('subscription_state', "q$a", 'a');
    is(sync_('w1', 3)->{numbers}, '1 1 0 0', 'all goes on');
    sound('all is well');

    like(f('push_sync', @$_), qr/^QUEUES ARGUMENT /, 'arguments')
        for [], [ 'w1' ], [ '', 1 ], [ 'w1', 'x' ];
    none();
};


subtest 'workers that die' => sub {
    my @k = many(230);

    is(sync_('w1', 130)->{numbers}, '230 100 130 0', 'a hundred a call');
    is(sync_('w1', 130)->{numbers}, '230 130 100 1', 'and the rest');
    is(sync_('w2', 100)->{numbers}, '230 100 0 0', 'another');
    lapse('w1', 'w2');
    is(sync_('w1', 130)->{numbers}, '230 130 100 1',
       'who comes late and before others has lost nothing');
    is($r->call('ZSCORE', "$root:pw", 'w2'), undef, 'but frees what others had');
    sound('all is well');

    lapse('w1');
    my $s = sync_('w3', 20);
    is($s->{numbers}, '230 20 180 0', 'a hundred are freed at once');
    is($s->{next}, 1, 'and more will be');
    sound('all is well');

    $s = sync_('w1', 10);
    is($s->{numbers}, '230 10 200 0', 'who comes later has lost all');
    is(scalar keys %{ $s->{jobs} }, 10, 'and takes anew');
    sound('all is well');

    # more than a call frees
    sync_('w1', 230) for 1 .. 3;
    is(set('po:w1') =~ tr/k//, 210, 'it has what it may');
    $r->call('ZADD', "$root:pw", 0, 'w1');
    $s = sync_('w1', 210);
    is($s->{numbers}, '230 0 100 0', 'nothing is its own before all is free');
    is($s->{next}, 1, 'it is to come again');
    sound('all is well');
    sync_('w1', 210);
    $s = sync_('w1', 210);
    is($s->{numbers}, '230 100 110 0', 'then it begins anew');
    sound('all is well');

    # one that leaves with many
    sync_('w1', 210);
    $s = sync_('w1', 0);
    is($s->{numbers}, '230 100 110 1', 'a hundred are given away');
    is(sync_('w3', 230)->{numbers}, '230 120 110 1',
       'the rest is freed by who comes');
    sound('all is well');
    is(sync_('w3', 230)->{numbers}, '230 220 10 1', 'and taken');
    is(sync_('w3', 230)->{numbers}, '230 230 0 1', 'till all is');
    is($r->call('ZCARD', "$root:pw"), 1, 'there is one worker');
    sound('all is well');
    none();
};


# keys that are lost: whoever has less than it wants finds what is nobody's

subtest 'lost keys' => sub {
    for my $lost ([ 'pf' ], [ 'po:w1' ], [ 'po:w2' ], [ 'pw' ],
                  [ 'pf', 'po:w2', 'pw' ])
    {
        my @k = many(130);

        sync_('w1', 50) for 1 .. 3;
        sync_('w2', 40);
        $r->call('DEL', map { "$root:$_" } @$lost);
        lapse('w2');

        sync_('w1', 130) for 1 .. 9;
        is(sync_('w1', 130)->{numbers}, '130 130 0 1', "without @$lost");
        is(scalar(grep { of($_, 'o') eq 'w1' } @k), 130, 'all have an owner');
        sound('all is well');
        none();
    }

    # others have what it lacks

    my @k = many(4);
    sync_('w1', 4);
    is(sync_('w2', 2)->{numbers}, '4 0 0 0', 'nothing is free');
    is($r->call('SCARD', "$root:po:w1"), 4, 'and nothing is taken');
    none();
};


subtest 'shares are random' => sub {
    my @k = many(20);
    my %seen;

    for (1 .. 20) {
        $seen{$_} = 1 for keys %{ sync_('w', 4)->{jobs} };
        sync_('w', 0);
    }

    cmp_ok(scalar keys %seen, '>', 12, 'not always the same are taken');
    none();
};


sub join_ {
    my $reply = members('push_join', @_);
    die "push_join: $reply\n" unless ref $reply eq 'ARRAY';

    my ($since, $more, $next, $n, @rest) = @$reply;
    my @names = splice @rest, 0, $n;

    return { since => $since, more => $more, next => $next,
             names => "@names", projects => "@rest" };
}

subtest 'members' => sub {
    my $sub = NgxQueues::Redis->new(address());
    my $told = sub {
        my @got;
        $r->call('SPUBLISH', "$members:w", 'end');
        while ((my $m = $sub->get->[2]) ne 'end') { push @got, $m }
        "@got";
    };

    $sub->call('SSUBSCRIBE', "$members:w");

    is(join_('b:1', 0, 10)->{names}, 'b:1', 'a member');
    is($told->(), 'm', 'is told');
    is(join_('a:1', 0, 10)->{names}, 'a:1 b:1', 'another');
    is($told->(), 'm', 'is told');
    is(join_('b:1', 0, 10)->{names}, 'a:1 b:1', 'they renew');
    is($told->(), '', 'which is no news');
    ends_in($r->call('ZSCORE', "$members:m", 'b:1') - now(), 6000, 'for 6 s');

    # when the others' leases end
    ends_in(join_('b:1', 0, 10)->{next}, 6000, 'of the other one');
    $r->call('ZADD', "$members:m", now() + 2000, 'a:1', now() + 5000, 'c:1');
    ends_in(join_('b:1', 0, 10)->{next}, 2000, 'the first one');
    ends_in(join_('a:1', 0, 10)->{next}, 5000, 'but for its own');
    is(members('push_leave', 'c:1'), 1, 'one leaves');
    $told->();
    $r->call('ZADD', "$members:m", 1, 'a:1');
    is(join_('b:1', 0, 10)->{names}, 'b:1', 'one has ended');
    is(join_('b:1', 0, 10)->{next}, -1, 'there is no other');
    is($told->(), 'm', 'is told');
    is(members('push_leave', 'b:1'), 1, 'one leaves');
    is($told->(), 'm', 'is told');
    is(members('push_leave', 'b:1'), 1, 'it may say so again');
    is($told->(), '', 'which is no news');

    # projects
    my @p = map { "ngxq:{p/$_}" } 1 .. 5;
    is(members('push_note', $p[0], 3, $p[1], 1, $p[2], 0), 2,
       'what is new; none of one that is not known is not');
    is($told->(), 'p', 'is told');
    my $j = join_('a:1', 0, 10);
    is($j->{projects}, "$p[0] 3 $p[1] 1", 'all there are');
    my $since = $j->{since};
    ok(abs($since - now()) < 30_000, 'a number like a time');
    is(join_('a:1', $since, 10)->{projects}, '', 'nothing since');
    is(join_('a:1', $since, 10)->{since}, $since, 'the same number then');
    $told->();
    is(members('push_note', $p[0], 3, $p[1], 1), 0, 'no change');
    is($told->(), '', 'is not told');
    is(members('push_note', $p[0], 2, $p[3], 1, $p[4], 9), 3, 'changes');
    $j = join_('a:1', $since, 2);
    is($j->{projects}, "$p[0] 2 $p[3] 1", 'in pages');
    is($j->{more}, 1, 'there is more');
    $j = join_('a:1', $j->{since}, 2);
    is("$j->{projects} $j->{more}", "$p[4] 9 0", 'and that is all');
    sound('all is well');

    # a clock that went back
    $r->call('ZADD', "$members:p", now() + 99999, $p[4]);
    $since = join_('a:1', 0, 10)->{since};
    members('push_note', $p[3], 5);
    is(join_('a:1', $since, 10)->{projects}, "$p[3] 5", 'numbers go on');

    # a number of what is lost
    is(join_('a:1', $since + 200000, 10)->{projects},
       join_('a:1', 0, 10)->{projects}, 'all of them, where numbers are lower');
    is(join_('a:1', $since + 200000, 10)->{since},
       join_('a:1', 0, 10)->{since}, 'and on from there');

    # what is forgotten
    members('push_note', $p[0], 0);
    is(join_('a:1', $since, 10)->{projects}, "$p[3] 5 $p[0] 0", 'none');
    members('push_note', $p[0], 1);
    is($r->call('ZCARD', "$members:x"), 0, 'one again');
    members('push_note', $p[0], 0);
    $r->call('ZADD', "$members:x", now() - 59000, $p[0]);
    like(join_('a:1', 0, 10)->{projects}, qr/\Q$p[0]/, 'known for a minute');
    sound('all is well');
    $r->call('ZADD', "$members:x", now() - 61000, $p[0]);
    like(join_('a:1', 0, 10)->{projects}, qr/\Q$p[0]/,
         'also later, where it is the last');
    members('push_note', $p[1], 7);
    unlike(join_('a:1', 0, 10)->{projects}, qr/\Q$p[0]/, 'and then forgotten');
    sound('all is well');

    # what is lost
    $since = join_('a:1', 0, 10)->{since};
    $r->call('ZREM', "$members:p", $p[1]);
    $r->call('HDEL', "$members:n", $p[1]);
    $j = join_('a:1', $since, 10);
    is($j->{projects} =~ tr/{//, 2, 'all there are are told anew');
    cmp_ok($j->{since}, '<', $since, 'with the number of them');
    is(join_('a:1', $j->{since}, 10)->{projects}, '', 'once');
    $r->call('DEL', "$members:p", "$members:n", "$members:x");
    is(join_('a:1', $since, 10)->{since}, 0, 'also where there are none');

    my @x = map { "ngxq:{x/$_}" } 1 .. 150;
    members('push_note', map { ($_, 1) } @x);
    members('push_note', map { ($_, 0) } @x);
    $r->call('ZADD', "$members:x", 1, $_) for @x;
    join_('a:1', $since, 10);
    is($r->call('ZCARD', "$members:x"), 51,
       'a hundred a call, but for the last that has changed');
    join_('a:1', $since, 10);
    is($r->call('ZCARD', "$members:x"), 1, 'and the rest');
    sound('all is well');

    like(members(@$_), qr/^QUEUES ARGUMENT /, "not @$_")
        for [ 'push_join', 'a', 'x', 1 ], [ 'push_join', '', 0, 1 ],
            [ 'push_leave', ], [ 'push_note', 'x' ], [ 'push_note', 'x', -1 ],
            [ 'push_note', ('x', 1) x 201 ], [ 'push_note', 'x', 1, 'y', 'z' ];
    $r->call('DEL', map { "$members:$_" } qw(m n p x));
};


subtest 'maintain tells' => sub {
    my @k = many(2);

    is(text(f('maintain', 'w', 1)), '1 -1 2', 'how many are active');
    f('subscription_state', "q$k[0]", 'p');
    put(of($k[1], 'q'), '', 'a');
    is(f('maintain', 'w', 1)->[2], 1, 'one less');
    is(text(f('maintain', 'other', 1)) =~ s/^0 \d+ //r, 1,
       'also where another one has the lease');
    none();
    is(f('maintain', 'w', 1)->[2], 0, 'none');
};


# also where memory is full: what frees it, and what delivers

subtest 'memory' => sub {
    my @k = many(3);

    $r->call('CONFIG', 'SET', 'maxmemory', 1);
    like(f('subscription_rotate', "q$k[0]", 'S2'), qr/^OOM /, 'no new secret');
    is(f('subscription_update', "q$k[0]", 'to', 7)->[8], 7, 'update');
    is(f('subscription_state', "q$k[0]", 'p')->[0], 2, 'pause');
    is(f('subscription_state', "q$k[0]", 'a')->[0], 3, 'resume');
    is(sync_('w', 9)->{numbers}, '3 3 0 0', 'sync');
    is(members('push_join', 'w', 0, 1)->[3], 1, 'join');
    is(members('push_note', 'x', 1), 1, 'note');
    is(f('subscription_delete', "q$k[0]"), 2, 'delete');
    is(text(f('queue_delete', 'q' . of($k[1], 'q'))), '1 1', 'with a queue');
    is(members('push_leave', 'w'), 1, 'leave');
    $r->call('CONFIG', 'SET', 'maxmemory', 0);
    $r->call('DEL', map { "$members:$_" } qw(m n p x));
    sound('all is well');
    none();
};


# keys of a wrong type: an error changes nothing, and mended all goes on

subtest 'wrong types' => sub {
    my (@bad, $q, @k);
    my $build = sub {
        none();
        @k = many(4);
        $q = of($k[0], 'q');
        sync_('w1', 4);
        f('subscription_state', "q$_", 'p') for @k[2, 3];
        f('subscription_state', "q$k[2]", 'a');
        sync_('w2', 1);
        f('subscription_state', "q$k[2]", 'p');
        f('subscription_state', "q$k[2]", 'a');
        $r->call('DEL', "$root:a");
        members('push_join', 'w1', 0, 1);
        members('push_note', $root, 3, 'ngxq:{a/b}', 1, 'ngxq:{a/b}', 0);
        $r->call('ZADD', "$members:x", 1, 'ngxq:{a/b}');
    };
    my %do = (
        create => sub { f('subscription_create', 'q' . create('n' . ++$n),
                          short(++$n), uuid(1000 + $n), 'https://x/', 1, 1, 1,
                          'a', 'S') },
        list => sub { f('subscription_list', '', '', 9) },
        update => sub { f('subscription_update', "q$k[0]", 'to', 9) },
        rotate => sub { f('subscription_rotate', "q$k[0]", 'S2') },
        pause => sub { f('subscription_state', "q$k[0]", 'p') },
        resume => sub { f('subscription_state', "q$k[3]", 'a') },
        delete => sub { f('subscription_delete', "q$k[0]") },
        'queue delete' => sub { f('queue_delete', "q$q") },
        take => sub { f('push_sync', 'w1', 4) },
        release => sub { f('push_sync', 'w1', 0) },
        others => sub { lapse('w1'); f('push_sync', 'w3', 4) },
        lost => sub { lapse('w1'); $r->call('ZREM', "$root:pw", 'w1');
                      f('push_sync', 'w1', 4) },
        join => sub { members('push_join', 'w9', 0, 9) },
        leave => sub { members('push_leave', 'w1') },
        note => sub { members('push_note', $root, 9, 'ngxq:{a/c}', 1) },
    );
    my ($errors, $calls) = (0, 0);

    for my $name (sort keys %do) {
        for my $key (map({ "$root:$_" } qw(p v pa pf pw po:w1)),
                     sub { "$root:s:$k[0]" }, sub { "$root:pd:$k[0]" },
                     map { "$members:$_" } qw(m n p x))
        {
            $build->();
            my $at = ref $key ? $key->() : $key;
            my $had = $r->call('EXISTS', $at);
            my $before = set('pa');

            $r->call('RENAME', $at, "aside$at") if $had;
            $r->call('SET', $at, 'planted');

            my $reply = $do{$name}->();
            my $failed = ref $reply eq 'NgxQueues::Redis::Error';

            push @bad, "$name, $at: the key is gone"
                if $failed && ($r->call('GET', $at) // '') ne 'planted';
            push @bad, "$name, $at: $reply"
                if $failed && $reply !~ /WRONGTYPE/;
            $r->call('DEL', $at);
            $r->call('RENAME', "aside$at", $at) if $had;
            push @bad, "$name, $at: $before became " . set('pa')
                if $failed && $before ne set('pa');

            # it may be a lease that the test itself has taken away
            my @p = grep { !/has no lease/ } NgxQueues::Check::check($r, $lib);
            push @bad, "$name, $at: " . ($failed ? 'failed' : 'done') . ": @p"
                if @p && ($failed || $at !~ /:(?:pd|s):/);
            $calls++;
            $errors++ if $failed;

            $reply = $failed ? $do{$name}->() : [];
            push @bad, "$name, $at, mended: $reply"
                if ref $reply eq 'NgxQueues::Redis::Error';
        }
    }

    is(join("\n", @bad), '', "$calls calls, $errors of which failed");
    ok($errors > $calls / 4, 'many of them');
};

done_testing;
