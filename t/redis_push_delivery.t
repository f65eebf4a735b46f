#!/usr/bin/perl

# The functions of redis/*.lua: what the owner of a subscription claims, and
# settles.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Check;
use NgxQueues::Functions;

NgxQueues::Functions::start();

my ($n, $token) = (0, 5000);

sub now { my ($s, $us) = @{ $r->call('TIME') }; $s * 1000 + int($us / 1000) }
sub of { my ($k, $field) = @_; $r->call('HGET', "$root:s:$k", $field) }
sub open_ { join ' ', @{ $r->call('ZRANGE', "$root:pd:$_[0]", 0, -1) } }
sub status { join ' ', @{ f('subscription_get', "q$_[0]") }[18 .. 20] }

# A queue with a subscription that w owns; returns Q and K.
sub pushed {
    my (%o) = @_;
    my %of = map { exists $o{$_} ? ($_ => delete $o{$_}) : () } qw(to bs mc);
    my $q = create('p' . ++$n, vt => 60, %o);
    my $k = sprintf 'k%011d', $n;

    f('subscription_create', "q$q", $k, uuid(1000 + $n), 'https://x.example/',
      $of{to} // 20, $of{bs} // 10, $of{mc} // 10, 'a', 'S');
    f('push_sync', 'w', 1000);
    hints();

    return ($q, $k);
}

sub none {
    for (@{ $r->call('HVALS', "$root:n") }) {
        f('queue_update', "q$_", 'dlq', '', 'mrc', 0);
    }

    f('queue_delete', "q$_") for @{ $r->call('HVALS', "$root:n") };
    $r->call('DEL', "$root:pw", "$root:a");
    hints();
}

# What CLAIM says: a hash with code, now, and what follows.  Of messages: id,
# body, count, by their order.
sub claimed {
    my ($reply) = @_;
    my %c = (code => shift @$reply, now => shift @$reply);

    if ($c{code} == 0) {
        $c{vt} = shift @$reply;
        $c{next} = $reply->[3];

        my ($q, $gen) = @$reply;
        my @m = NgxQueues::Functions->can(
            $reply->[4] =~ /^f/ ? '_fifo' : '_standard')->($reply);

        @c{qw(q gen token m)} = ($q, $gen, $token, [ map { ref eq 'HASH'
            ? $_ : { id => $_->[0], body => $_->[1] =~ tr/"//dr,
                     count => $_->[3] } } @m ]);
        $c{bodies} = join ' ', map { $_->{body} } @{ $c{m} };
        $c{ids} = [ map { $_->{id} } @{ $c{m} } ];
    } else {
        $c{rest} = $reply;
    }

    return \%c;
}

sub claim {
    my ($k, %o) = @_;
    my $reply = f('push_claim', $k, $o{worker} // 'w', $o{fence} // of($k, 'fn'),
                  $o{ver} // of($k, 'ver'), $o{token} // ++$token);

    die "push_claim: $reply\n" unless ref $reply eq 'ARRAY';

    return claimed($reply);
}

# Ends what a claim took.  failed: [ms, count, place …] …; the others are
# handled unless ok says which.
sub settle {
    my ($k, $c, %o) = @_;
    my @failed = @{ $o{failed} // [] };
    my %is = map { my (undef, undef, @i) = @$_; map { $_ => 1 } @i } @failed;
    my @ok = grep { !$is{$_} } @{ $o{ok} // [ 0 .. $#{ $c->{ids} } ] };
    my $reply = f('push_settle', $k, $o{worker} // 'w', $o{fence} // 1,
                  $o{ver} // 1, $o{again} ? ++$token : '', $c->{token}, $c->{q},
                  $c->{gen}, $o{outcome} // '+', $o{window} // '',
                  join(' ', @{ $c->{ids} }[@ok]),
                  map { my ($ms, $count, @i) = @$_;
                        ($ms, $count, join ' ', @{ $c->{ids} }[@i]) } @failed);

    die "push_settle: $reply\n" unless ref $reply eq 'ARRAY';

    return (shift @$reply, claimed($reply));
}

# in how many ms each message that was received is visible

sub ends {
    my ($q) = @_;
    my $now = now();
    my %f = @{ $r->call('ZRANGE', key('f', $q, 1), 0, -1, 'WITHSCORES') };

    return map { $f{$_} < -1e14 ? $f{$_} + 2e14 - $now
                 : $f{$_} < 0 ? $f{$_} + 1e14 - $now : $f{$_} - $now }
           sort keys %f;
}


subtest 'claim and settle' => sub {
    my ($q, $k) = pushed(bs => 3);

    is(claim($k)->{next}, -1, 'there is nothing');
    is(waiting($q), 1, 'it waits');
    is(open_($k), '', 'nothing is open');
    put($q, '', 1 .. 7);
    is(hints(), $q, 'and is told');

    my $c = claim($k);

    is($c->{bodies}, '1 2 3', 'a batch');
    is("$c->{vt} $c->{q} $c->{gen} $c->{next}", "60 $q 1 -1", 'of the queue');
    ok(abs($c->{now} - now()) < 30_000, 'the moment');
    is(open_($k), $token, 'it is open');
    my $left = $r->call('ZSCORE', "$root:pd:$k", $token) - $c->{now};
    is($left, 30000, 'until 10 s after its timeout');
    $left = $r->call('ZSCORE', key('b', $q, 1), $token) - $c->{now};
    is($left, 60000, 'hidden for the visibility timeout');
    sound('all is well');

    my ($settled, $next) = settle($k, $c, again => 1);

    is("$settled $next->{code} $next->{bodies}", '1 0 4 5 6',
       'settled, and the next one');
    is(open_($k), $token, 'which is open');
    is(counts($q), '1 3 0', 'three are gone');
    is(status($k), '1 0 3', 'a delivery, three messages');
    ok(abs(of($k, 'ls') - time) < 30, 'when');
    sound('all is well');

    ($settled, $c) = settle($k, { %$c }, again => 1);
    is("$settled $c->{bodies}", '0 7', 'settled twice');
    is(status($k), '1 0 3', 'it is counted once');
    ($settled, $c) = settle($k, $c);
    is("$settled $c->{code}", '1 4', 'no further claim');
    ok(abs($c->{now} - now()) < 30_000, 'but the moment');
    ($settled, $c) = settle($k, $next, again => 1);
    is("$settled $c->{code} $c->{bodies}", '1 0 ', 'nothing is left');
    is(waiting($q), 1, 'it waits');
    is(counts($q), '0 0 0', 'none');
    is(status($k), '3 0 7', 'three deliveries');
    is(open_($k), '', 'none is open');
    sound('all is well');

    # the visibility timeout is shorter than the delivery may take
    f('queue_update', "q$q", 'vt', 5);
    put($q, '', 'a', 'b');
    $c = claim($k);
    $left = $r->call('ZSCORE', key('b', $q, 1), $token) - $c->{now};
    is("$c->{vt} $left", '5 50000', 'hidden 30 s longer than that');

    # a queue that was purged meanwhile, one that is gone
    f('queue_purge', "q$q");
    ($settled, $next) = settle($k, $c, again => 1);
    is("$settled $next->{code}", '1 0', 'purged');
    is(status($k), '4 0 7', 'no message was acknowledged');
    put($q, '', 'a', 'b');
    $c = claim($k);
    f('queue_delete', "q$q");
    is(join(' ', (settle($k, $c, again => 1))[0]), 0, 'deleted');
    sound('all is well');

    is(f('push_claim', 'k' x 12, 'w', 1, 1, 1)->[0], 1, 'no such subscription');
    like(f('push_claim', @$_), qr/^QUEUES ARGUMENT /, 'arguments')
        for [ $k ], [ $k, 'w', 1, 1, 'x' ], [ $k, 'w', 1, 1, '' ];
    my @args = ($k, 'w', 1, 1, '', 7, $q, 1);
    like(f('push_settle', @$_), qr/^QUEUES ARGUMENT /, "not @$_[8 .. $#$_]")
        for [ @args, 'x', '', '' ], [ @args, '-http 503', '', '' ],
            [ @args, '+', 'x', '' ], [ @args, '+', '', '', 1 ],
            [ @args, '+', '' ], [ @args, '+', '', '', 'x', 1, '1-1' ],
            [ @args, '+', '', '', 1, 1, '' ];
    none();
};


subtest 'who may claim' => sub {
    my ($q, $k) = pushed(mc => 2, bs => 1);

    put($q, '', 1 .. 9);
    is(claim($k, worker => 'x')->{code}, 1, 'not another');
    is(claim($k, fence => 2)->{code}, 1, 'nor with another fence');
    is(counts($q), '9 0 0', 'which take nothing');

    f('subscription_update', "q$k", 'to', 9, 'url', 'https://new/');
    my $c = claim($k, ver => 1);
    is("$c->{code} @{ $c->{rest} }", "2 $k $q 1 2 https://new/ 9 1 2 0 S 0 ",
       'what has changed');
    is(counts($q), '9 0 0', 'nothing was taken');

    my @c = map { claim($k) } 1, 2;
    $c = claim($k);
    is($c->{code}, 3, 'as many as may be are open');
    ok($c->{rest}[0] > 18500 && $c->{rest}[0] <= 19000, 'till one is given up');
    is((settle($k, $c[0], ver => 2, again => 1))[1]{bodies}, '3',
       'or one is settled');
    is((settle($k, { %{ $c[1] }, token => 1 }, ver => 2, again => 1))[1]{code},
       3, 'which is this one');
    sound('all is well');

    # handed over
    f('push_sync', 'w', 0);
    f('push_sync', 'v', 1);
    is(claim($k)->{code}, 1, 'not the owner of before');
    is(claim($k, worker => 'v')->{code}, 3, 'both together have no more');
    is((settle($k, { %{ $c[1] } }, again => 1))[1]{code}, 1,
       'who settles takes none');
    is(claim($k, worker => 'v')->{bodies}, '4', 'the new one does');
    $r->call('ZADD', "$root:pd:$k", 'XX', 1, open_($k) =~ /^(\d+)/);
    is(claim($k, worker => 'v')->{bodies}, '5', 'one is given up');
    is(claim($k, worker => 'v')->{code}, 3, 'and no more');

    # fewer than are open
    f('subscription_update', "q$k", 'mc', 1);
    is(claim($k, worker => 'v')->{code}, 3, 'fewer may be');

    f('subscription_state', "q$k", 'p');
    is(claim($k, worker => 'v', fence => 2)->{code}, 1, 'not when paused');
    f('subscription_state', "q$k", 'a');
    is(claim($k, worker => 'v', fence => 2)->{code}, 1,
       'nor by the owner of before');
    sound('all is well');

    my $visible = (split / /, counts($q))[0];
    f('subscription_delete', "q$k");
    is(claim($k, worker => 'v', fence => 2, ver => 1)->{code}, 1,
       'not when it is gone');
    is((split / /, counts($q))[0], $visible, 'nothing was taken');
    sound('all is well');
    none();
};


subtest 'status' => sub {
    my ($q, $k) = pushed(bs => 2);

    put($q, '', 1 .. 10);

    my ($settled, $c) = settle($k, claim($k), again => 1, ok => [],
                               outcome => '-http 503 It said: "no".',
                               failed => [ [ 1000, 1, 0, 1 ] ], window => 5);
    my $s = f('subscription_get', "q$k");
    is("@$s[12, 13, 15 .. 20]", '1 0 http 503 It said: "no". 1 1 0', 'a failure');
    ok(abs($s->[14] - time) < 30, 'when');
    is(of($k, 'w'), 5, 'the window');
    sound('all is well');

    ($settled, $c) = settle($k, $c, again => 1, outcome => '-timeout 0 ',
                            ok => [], failed => [ [ 1000, 1, 0, 1 ] ]);
    $s = f('subscription_get', "q$k");
    is(join('|', @$s[12, 13, 15 .. 20]), '1|0|timeout|0||2|2|0', 'another');
    is(of($k, 'w'), 5, 'the same window');

    ($settled, $c) = settle($k, $c, again => 1, window => 0);
    $s = f('subscription_get', "q$k");
    is(join('|', @$s[12, 15 .. 20]), '0|timeout|0||3|2|2', 'a success');
    ok(abs($s->[13] - time) < 30, 'when');
    is(of($k, 'w'), 0, 'the window is full');
    sound('all is well');

    # some of it
    my $last = of($k, 'ls');
    settle($k, $c, failed => [ [ 1000, 1, 1 ] ]);
    is(status($k), '4 2 3', 'a part of it');
    sound('all is well');

    f('push_sync', 'w', 0);
    $r->call('HSET', "$root:s:$k", 'w', 3);
    is(f('push_sync', 'w', 1)->[-2], 3, 'the next owner has the window');
    none();
};


subtest 'what failed' => sub {
    my ($q, $k) = pushed();

    put($q, '', 1 .. 6);

    my $c = claim($k);
    my ($settled) = settle($k, $c, outcome => '-http 500 x', ok => [],
                           failed => [ [ 1500, 1, 0 .. 5 ] ]);
    my $left = $r->call('ZSCORE', key('b', $q, 1), $c->{token}) - now();
    ok($left > 1000 && $left <= 1500, 'all of it, to the ms');
    is(counts($q), '0 6 0', 'not visible yet');
    $left = claim($k)->{next};
    ok($left > 1000 && $left <= 1500, 'the owner knows when');
    sound('all is well');

    soon($q, key('b', $q, 1));
    $c = claim($k);
    is(join(' ', map { "$_->{body}:$_->{count}" } @{ $c->{m} }),
       join(' ', map { "$_:2" } 1 .. 6), 'and again');
    settle($k, $c, failed => [ [ 2000, 2, 1 ], [ 4000, 2, 3 ],
                               [ 99999999, 2, 5 ] ]);
    my @ends = ends($q);
    is(scalar @ends, 3, 'three are left');
    is(join(' ', map { int($_ / 500 + .5) } @ends), '4 8 120',
       'each by itself, but no later than the queue has it');
    is(counts($q), '0 3 0', 'counts');
    sound('all is well');

    # somebody waits
    waits($q);
    hints();
    soon($q, key('f', $q, 1));
    $c = claim($k);
    waits($q);
    settle($k, $c, ok => [], failed => [ [ 10, 3, 0 ] ]);
    is(hints(), $q, 'who waits is told');
    none();

    # no visibility timeout
    ($q, $k) = pushed(vt => 0);
    put($q, '', 'a', 'b');
    settle($k, claim($k), ok => [], failed => [ [ 100, 1, 0 ], [ 5000, 1, 1 ] ]);
    is(join(' ', map { int($_ / 100 + .5) } ends($q)), '1 10',
       'no later than after 1 s');
    sound('all is well');

    # the delivery was over: others have received what it had
    put($q, '', 'c', 'd');
    $c = claim($k);
    soon($q, key('b', $q, 1));
    my (undef, @m) = take($q, 10, 60);
    is(bodies(grep { $_->[1] =~ /[cd]/ } @m), 'c d', 'another one receives');
    my $flying = (split / /, counts($q))[1];
    ($settled) = settle($k, $c, failed => [ [ 1, 1, 0 ] ]);
    is($settled, 1, 'the delivery was open');
    is((split / /, counts($q))[1], $flying, 'and has no message');
    is(status($k), '2 0 0', 'nor acknowledged one');
    sound('all is well');
    none();
};


subtest 'given back' => sub {
    for my $kind ('standard', 'fifo') {
        my ($q, $k) = pushed(kind => $kind);
        my $put = $kind eq 'fifo' ? sub { put_fifo($q, 'g', @_) }
                                  : sub { put($q, '', @_) };

        $put->(1 .. 3);
        waits($q);
        hints();

        my $c = claim($k);
        my ($settled) = settle($k, $c, outcome => 'u');

        is($settled, 1, "$kind: it was open");
        is(status($k), '0 0 0', 'it is no delivery');
        is(hints(), $q, 'who waits is told');
        is(counts($q), '3 0 0', 'all is visible');
        $c = claim($k);
        is(join(' ', map { "$_->{body}:$_->{count}" } @{ $c->{m} }),
           '1:1 2:1 3:1', 'as if not received');
        settle($k, $c, outcome => 'u');
        is((settle($k, $c, outcome => 'u'))[0], 0, 'only once');
        sound('all is well');
        none();
    }
};


subtest 'dead letters' => sub {
    for my $kind ('standard', 'fifo') {
        my $put = $kind eq 'fifo' ? sub { put_fifo(shift, 'g', @_) }
                                  : sub { put(shift, '', @_) };
        my $d = create("d$kind", kind => $kind);
        my ($q, $k) = pushed(kind => $kind, dlq => $d, mrc => 2);

        $put->($q, 1 .. 4);
        settle($k, claim($k), ok => [], failed => [ [ 0, 1, 0 .. 3 ] ]);

        my $c = claim($k);
        is(join(' ', map { "$_->{body}:$_->{count}" } @{ $c->{m} }),
           '1:2 2:2 3:2 4:2', "$kind: received again");
        settle($k, $c, failed => [ [ 30000, 2, 1 ], [ 30000, 1, 2, 3 ] ]);
        is((split / /, counts($d))[0], 1, 'one moves at once');
        is(counts($q), '0 2 0', 'the others wait');
        sound('all is well');

        my (undef, @m) = peek($d, 'v');
        none();

        # the first of a batch
        $d = create("d2$kind", kind => $kind);
        ($q, $k) = pushed(kind => $kind, dlq => $d, mrc => 1);
        $put->($q, 1 .. 4);
        $c = claim($k);
        settle($k, $c, ok => [], failed => [ [ 30000, 1, 0 .. 3 ] ]);
        is(counts($d), '4 0 0', 'all of it');
        is(counts($q), '0 0 0', 'is gone');
        sound('all is well');

        # a dead-letter queue that is of a wrong type
        $put->($q, 5, 6);
        $c = claim($k);
        my $key = key($kind eq 'fifo' ? 'u' : 'm', $d, 1);
        $r->call('RENAME', $key, 'aside');
        $r->call('SET', $key, 'planted');
        eval { settle($k, $c, failed => [ [ 1, 1, 0 ] ]) };
        $r->call('DEL', $key);
        $r->call('RENAME', 'aside', $key);
        eval { settle($k, $c, failed => [ [ 1, 1, 0 ] ]) };
        tend();
        is(counts($d), '5 0 0', 'mended, it moves');
        sound('all is well');
        none();
    }

    # fewer receives than it had: the claim moves it
    my $d = create('dd');
    my ($q, $k) = pushed(dlq => $d, mrc => 3);
    put($q, '', 'a');
    settle($k, claim($k), ok => [], failed => [ [ 0, 1, 0 ] ]);
    f('queue_update', "q$q", 'mrc', 1);
    is(claim($k)->{bodies} . counts($d), '1 0 0', 'by a claim');
    sound('all is well');
    none();
};


subtest 'groups' => sub {
    my ($q, $k) = pushed(kind => 'fifo');

    put_fifo($q, 'a', 'a1', 'a2', 'a3');
    put_fifo($q, 'b', 'b1', 'b2');
    put_fifo($q, 'c', 'c1');

    my $c = claim($k);
    is($c->{bodies}, 'a1 a2 a3 b1 b2 c1', 'all of them');
    is($c->{vt}, 60, 'the visibility timeout');
    put_fifo($q, 'a', 'a4');
    put_fifo($q, 'c', 'c2');
    is(claim($k)->{bodies}, '', 'groups in flight are nobody\'s');

    my (undef, $e) = settle($k, $c, again => 1, failed => [ [ 1500, 1, 1, 2 ],
                                                          [ 900, 1, 4 ] ]);
    is($e->{bodies}, 'c2', 'a group that is free goes on');
    is(status($k), '1 0 3', 'what was handled');
    sound('all is well');

    my %f = @{ $r->call('ZRANGE', key('f', $q, 1), 0, -1, 'WITHSCORES') };
    ok($f{a} > $c->{now} && $f{a} - $c->{now} - 1500 < 200
       && $f{b} - $c->{now} - 900 < 200, 'when the others do')
        or diag(explain(\%f, $c->{now}));
    is(claim($k)->{bodies}, '', 'not yet');
    elapse(300);
    $c = claim($k);
    is($c->{bodies}, 'a2 a3 a4 b2 c2', 'each in its order, as they come');
    is(join(' ', map { $_->{count} } @{ $c->{m} }), '2 2 1 2 2', 'counts');
    sound('all is well');

    # the first of a group that is dead lets the others go when their time comes
    none();
    my $d = create('df', kind => 'fifo');
    ($q, $k) = pushed(kind => 'fifo', dlq => $d, mrc => 2);
    put_fifo($q, 'a', 'a1');
    settle($k, claim($k), ok => [], failed => [ [ 0, 1, 0 ] ]);
    put_fifo($q, 'a', 'a2', 'a3');
    $c = claim($k);
    is(join(' ', map { "$_->{body}:$_->{count}" } @{ $c->{m} }),
       'a1:2 a2:1 a3:1', 'one that was received before');
    settle($k, $c, ok => [], outcome => '-http 500 x',
           failed => [ [ 2000, 2, 0 ], [ 2000, 1, 1, 2 ] ]);
    is(counts($d) . ' ' . counts($q), '1 0 0 0 2 0', 'it moves at once');
    %f = @{ $r->call('ZRANGE', key('f', $q, 1), 0, -1, 'WITHSCORES') };
    ok($f{a} - now() > 1500 && $f{a} - now() <= 2000, 'the others wait no longer')
        or diag(explain(\%f));
    sound('all is well');
    elapse(300);
    is(claim($k)->{bodies}, 'a2 a3', 'and come in order');
    none();
};


# keys of a wrong type: an error leaves nothing half done, and mended all goes on

subtest 'wrong types' => sub {
    for my $kind ('standard', 'fifo') {
        my (@bad, $q, $k, $d, $c);
        my $fifo = $kind eq 'fifo';
        my $put = $fifo ? sub { put_fifo($q, @_) }
                        : sub { shift; put($q, '', @_) };
        my $build = sub {
            my ($how) = @_;

            none();
            $r->call('FLUSHALL');
            $d = create('d' . ++$n, kind => $kind);
            ($q, $k) = pushed(kind => $kind, dlq => $d, mrc => 3, bs => 5);
            $put->('a', 'a1', 'a2');
            $put->('b', 'b1');
            $c = claim($k);

            if ($how eq 'single') {
                settle($k, $c, ok => [], failed => [ [ 0, 1, 0 .. 2 ] ]);
                $c = claim($k);
            }

            $put->('z', 'z1');
            f('queue_update', "q$q", 'delay', 450);
            $put->('k', 'k1');
        };
        my %do = (
            claim => sub { eval { claim($k, ver => 1) } // $@ },
            settle => sub { settle($k, $c) },
            'settle and claim' => sub { settle($k, $c, again => 1) },
            undo => sub { settle($k, $c, outcome => 'u') },
            fail => sub { settle($k, $c, ok => [], outcome => '-http 500 x',
                                 failed => [ [ 1000, 1, 0 .. 2 ] ]) },
            'fail partly' => sub { settle($k, $c, failed => [ [ 9, 1, 1 ] ]) },
            die => sub { settle($k, $c, failed => [ [ 9, 3, 1 ] ]) },
        );
        my ($errors, $calls) = (0, 0);

        for my $how ('batch', 'single') {
            for my $name (sort keys %do) {
                for my $key (($fifo ? qw(y f d b e u g o x k)
                                    : qw(y f d b e m z)), 'pd', 's', 'h')
                {
                    $build->($how);

                    my $at = $key =~ /^(?:pd|s)\z/ ? "$root:$key:$k"
                           : $key eq 'h' ? key('h', $q) : key($key, $q, 1);
                    my $had = $r->call('EXISTS', $at);

                    $r->call('RENAME', $at, "aside$at") if $had;
                    $r->call('SET', $at, 'planted');

                    my @reply = eval { $do{$name}->() };
                    my $error = $@ || (ref $reply[0] ? '' : $reply[0] // '');
                    my $failed = $error =~ /^push_/;

                    push @bad, "$how, $name, $key: the key is gone"
                        if ($r->call('GET', $at) // '') ne 'planted';
                    push @bad, "$how, $name, $key: $error"
                        if $failed && $error !~ /WRONGTYPE/;
                    $r->call('DEL', $at);
                    $r->call('RENAME', "aside$at", $at) if $had;

                    # what was open while its key was away is no more
                    my @p = NgxQueues::Check::check($r, $lib);
                    push @bad, "$how, $name, $key: "
                               . ($failed ? 'failed' : 'done') . ": @p" if @p;
                    $calls++;
                    $errors++ if $failed;

                    eval { $do{$name}->(); 1 }
                        or push @bad, "$how, $name, $key, mended: $@";
                    @p = NgxQueues::Check::check($r, $lib);
                    push @bad, "$how, $name, $key, mended: @p" if @p;
                }
            }
        }

        is(join("\n", @bad), '', "$kind: $calls calls, $errors of which failed");
        ok($errors > $calls / 4, 'many of them');
    }
};

done_testing;
