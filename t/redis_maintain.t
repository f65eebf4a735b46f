#!/usr/bin/perl

# The functions of redis/*.lua: what is due is done where nobody calls, by one
# worker at a time; projects; calls that come twice.

use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes qw(sleep time);

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;

NgxQueues::Functions::start();


sub fifo { my ($name, %o) = @_; create($name, kind => 'fifo', %o) }
sub maintain { my $reply = f('maintain', @_);
               ref $reply eq 'ARRAY' ? "@$reply[0, 1]" : $reply }
sub now { my ($s, $us) = @{ $r->call('TIME') }; $s * 1000 + int($us / 1000) }
sub due { $r->call('ZSCORE', "$root:t", $_[0]) }
sub stored { my ($q) = @_;
             $r->call('XLEN', key('m', $q, 1)) + $r->call('XLEN', key('z', $q, 1))
             + $r->call('HLEN', key('u', $q, 1)) }
sub none { for (@{ $r->call('HVALS', "$root:n") }) {
               f('queue_update', "q$_", 'dlq', '', 'mrc', 0) }
           f('queue_delete', "q$_") for @{ $r->call('HVALS', "$root:n") };
           $r->call('DEL', "$root:a");
           hints() }


subtest 'nothing is due' => sub {
    is(maintain('w1', 20), '1 -1', 'no queue');
    create('a');
    fifo('b');
    is(maintain('w1', 20), '1 -1', 'queues without messages');
    is($r->call('EXISTS', "$root:a"), 0, 'no lease for that');
    like(maintain('w1'), qr/ARGUMENT/, 'arguments');
    like(maintain('w1', 'x'), qr/ARGUMENT/, 'arguments');
    none();
};


subtest 'lease' => sub {
    my $q = create('lease', ret => 3600);
    put($q, '', 'a');
    my ($mine, $next) = split / /, maintain('w1', 20);
    ok($mine == 1 && abs($next - 3600000) < 1000, 'the first one has it');
    ($mine, $next) = split / /, maintain('w2', 20);
    ok($mine == 0 && $next > 3600000 && $next <= 3602000, 'another has not');
    like(maintain('w1', 20), qr/^1 3[56]\d{5}$/, 'the first has it still');

    # an earlier moment
    my $p = create('early', ret => 60);
    put($p, '', 'b');
    ($mine, $next) = split / /, maintain('w2', 20);
    ok($mine == 1 && $next <= 60000, 'who comes for an earlier moment has it');
    ($mine, $next) = split / /, maintain('w1', 20);
    ok($mine == 0 && $next <= 62000, 'and the other has not');

    # its holder does not come
    elapse(300);
    is(stored($p), 1, 'nobody came');
    like(maintain('w1', 20), qr/^1 32\d{5}$/, 'another takes over');
    is(stored($p), 0, 'and does what is due');

    # the holder has gone, something is due
    put($p, '', 'c');
    maintain('w1', 20);
    $r->call('ZADD', "$root:t", 1, $p);
    like(maintain('w2', 20), qr/^1 /, 'what is due now needs no holder of later');
    f('queue_delete', "q$_") for $p, $q;
    is(maintain('w2', 20), '1 -1', 'nothing is left');
    is($r->call('EXISTS', "$root:a"), 0, 'nor a lease');
    none();
};


subtest 'retention and dead letters' => sub {
    my $sd = create('sd');
    my $fd = fifo('fd');
    my @o = (mrc => 1, vt => 150, ret => 3600);
    my $s = create('s', dlq => $sd, @o);
    my $q = fifo('q', dlq => $fd, @o);

    put($s, '', 1 .. 4);
    put_fifo($q, 'g', 1 .. 4);
    is(due($_) <= now() + 3600000, 1, 'on the agenda') for $s, $q;
    take($s, 2);
    take_fifo($q, 2);
    my ($mine, $next) = split / /, maintain('w', 20);
    ok($next > 140000 && $next <= 150000, 'for the end of visibility');
    elapse(300);
    tend('w');
    is(join(' ', map { stored($_) } $s, $sd, $q, $fd), '2 2 2 2', 'moved');
    sound('sound');
    elapse(3600);
    tend('w');
    is(join(' ', map { stored($_) } $s, $sd, $q, $fd), '0 2 0 2', 'expired');
    is(due($s), undef, 'an empty queue is off the agenda');
    ok(due($q) < now() + 2 * 86400000, 'but for what it knows of groups');
    sound('sound');
    put($s, '', 5);
    put_fifo($q, 'g', 5);
    ok(defined due($_), 'and on it again') for $s, $q;

    # without a policy ends of visibility are no matter
    my $n = create('n', vt => 30);
    put($n, '', 1);
    take($n, 1);
    ok(due($n) > now() + 345500000, 'only retention');
    elapse(86400 * 5);
    tend('w');
    is(join(' ', map { stored($_) } $s, $sd, $q, $fd, $n), '0 0 0 0 0',
       'after days');
    sound('sound');
    none();
};


# One queue with much to do does not keep others waiting.
subtest 'fairness' => sub {
    for my $kind ('standard', 'fifo') {
        my $dead = create('dead', kind => $kind);
        my @o = (kind => $kind, dlq => $dead, mrc => 1, vt => 150);
        my $big = create('big', @o);
        my @small = map { create("small$_", @o) } 1 .. 200;
        my $send = sub {
            my ($q, @b) = @_;
            return put($q, '', @b) if $kind eq 'standard';
            put_fifo($q, "g$_", $_) for @b;
        };
        my $get = sub { $kind eq 'fifo' ? take_fifo(@_) : take(@_) };

        $send->($big, 1 .. 1000) for 1 .. 5;
        $get->($big, 1000) for 1 .. 5;
        $send->($_, 'x') for @small;
        $get->($_, 1) for @small;
        elapse(300);
        my ($steps, $reply) = (0);

        do {
            $reply = maintain('w', 20);
            $steps++;
        } until $steps >= 100 || !grep { stored($_) } @small;

        ok($steps <= 15, "$kind: small ones are done after $steps steps");
        ok(stored($big) > 2500, 'the large one is not');
        tend('w');
        is(stored($big), 0, 'but in the end');
        is((f('queue_count', "q$dead"))->[15], 5200, 'all are moved');
        sound('sound');
        none();
    }
};


# A step is bounded.
subtest 'steps' => sub {
    for my $kind ('standard', 'fifo') {
        my $q = create('q', kind => $kind, ret => 300);

        for (1 .. 5) {
            $kind eq 'fifo' ? put_fifo($q, "g$_", 1 .. 1000)
                            : put($q, 300, 1 .. 1000);
        }

        $kind eq 'fifo' ? take_fifo($q, 1000, 1000) : take($q, 1000, 1000);
        elapse(300);
        $kind eq 'fifo' ? put_fifo($q, 'young', 1) : put($q, 300, 1);
        my ($most, $calls, $reply) = (0, 0);

        do {
            my $before = stored($q);
            $reply = f('maintain', 'w', 1);
            my $gone = $before - stored($q);
            $most = $gone if $gone > $most;
        } while ($reply->[1] == 0 && ++$calls < 1000);

        ok($most <= 1100, "$kind: at most $most in a step, $calls steps");
        is(stored($q), 1, 'and all in the end');
        sound('sound');
        none();
    }
};


subtest 'what is broken' => sub {
    my $bad = create('bad', ret => 300);
    my $good = create('good', ret => 600);
    my $fifo = fifo('fifo', ret => 600);
    put($_, '', 'x') for $bad, $good;
    put_fifo($fifo, 'g', 'x');
    elapse(600);
    $r->call('RENAME', key('m', $bad, 1), "$root:aside");
    $r->call('SET', key('m', $bad, 1), 'x');
    like(maintain('w', 20), qr/^1 \d+$/, 'no error');
    is(stored($fifo) + stored($good), 0, 'the others are looked after');
    ok(due($bad) > now() && due($bad) <= now() + 10000, 'it is tried again');
    $r->call('RENAME', "$root:aside", key('m', $bad, 1));
    $r->call('ZADD', "$root:t", 1, $bad);
    tend('w');
    is(stored($bad), 0, 'and done when it is mended');

    # queues that are gone
    $r->call('ZADD', "$root:t", 1, 'zzzzzzzzzzzz');
    maintain('w', 20);
    is(due('zzzzzzzzzzzz'), undef, 'no such queue');
    $r->call('SET', "$root:a", 'nonsense');
    like(maintain('w', 20), qr/^1 /, 'a lease of nobody');
    none();
};


subtest 'projects' => sub {
    my $call = sub { $r->call('FCALL', "${lib}_project_" . shift, 1,
                              'ngxq:projects', @_) };
    my $score = sub { $r->call('ZSCORE', 'ngxq:projects', $_[0]) };

    is($call->('note', $root, 5000), 1, 'noted');
    my $moment = $score->($root);
    ok($moment > now() + 4000 && $moment <= now() + 5000, 'at its moment');
    is($call->('note', $root, 9000), 0, 'one that is still to come');
    is($score->($root), $moment, 'is not put off');
    is($call->('note', $root, -1), 0, 'nor removed');
    is($call->('note', $root, 400), 1, 'an earlier one');
    ok($score->($root) < $moment, 'counts');
    is($call->('note', $root, -1), 1, 'nothing is to come');
    is($score->($root), undef, 'and nothing is kept');
    like($call->('note', @$_), qr/ARGUMENT/, "arguments: @$_[0 .. 1]")
        for [ $root, 'x' ], [ '', '' ], [ map { $_, 1 } 1 .. 201 ];
    like($call->('note', $root), qr/ARGUMENT/, 'half a pair');

    $call->('note', map { ("ngxq:{acme/$_}", 1000 + $_) }
                        100 * $_ + 1 .. 100 * $_ + 100) for 0 .. 4;
    my ($cursor, @seen, $pages) = ('');

    do {
        my $reply = $call->('due', 1250, 50, $cursor);
        $cursor = shift @$reply;
        push @seen, $reply->[$_ * 2] for 0 .. @$reply / 2 - 1;
        $pages++;
    } while ($cursor ne '' && $pages < 100);

    is($seen[0], 'ngxq:{acme/1}', 'the earliest first');
    cmp_ok(scalar(@seen), '>=', 250, "those before that, in $pages pages");
    is(scalar(keys %{ { map { $_ => 1 } @seen } }), scalar(@seen), 'each once');
    ok($pages > 3, 'some at a time');
    like($call->('due', 1), qr/ARGUMENT/, 'arguments');
    $r->call('DEL', 'ngxq:projects');
};


subtest 'creation twice' => sub {
    my ($key, $hash, $other) = map { $_ x 64 } 'a', 'b', 'c';
    my @o = ('standard', 30, 0, 3600, 0, 1024, 0, '', 0);
    my $first = f('queue_create', 'aaaaaaaaaaaa', uuid(900), 'twice', @o, $key,
                  $hash);
    is(scalar @$first, 14, 'created');
    is_deeply(f('queue_create', 'bbbbbbbbbbbb', uuid(901), 'twice', @o, $key,
                $hash), $first, 'the same again: the same answer');
    is(f('queue_get', 'qaaaaaaaaaaaa')->[2], 'twice', 'one queue');
    like(f('queue_get', 'qbbbbbbbbbbbb'), qr/NOQUEUE/, 'and no other');
    like(f('queue_create', 'bbbbbbbbbbbb', uuid(901), 'other', @o, $key, $other),
         qr/CONFLICT/, 'another body');
    like(f('queue_create', 'bbbbbbbbbbbb', uuid(901), 'twice', @o),
         qr/EXISTS/, 'no key');
    like(f('queue_create', 'bbbbbbbbbbbb', uuid(901), 'twice', @o, $other,
           $hash), qr/EXISTS/, 'another key');
    is(ref f('queue_create', 'bbbbbbbbbbbb', uuid(901), 'third', @o, $other,
             $hash), 'ARRAY', 'a refused one is not kept');
    f('queue_update', 'ntwice', 'vt', 7);
    is(f('queue_create', 'cccccccccccc', uuid(902), 'twice', @o, $key,
         $hash)->[4], 30, 'the first answer, whatever came after');
    f('queue_delete', 'ntwice');
    is_deeply(f('queue_create', 'cccccccccccc', uuid(902), 'twice', @o, $key,
                $hash), $first, 'also when it is deleted');
    ok($r->call('TTL', "$root:j:$key") > 86300, 'for 24 hours');
    sound('sound');
    $r->call('DEL', "$root:j:$key");
    is(f('queue_create', 'cccccccccccc', uuid(902), 'twice', @o, $key,
         $hash)->[0], 'cccccccccccc', 'and not longer');

    # with a dead-letter queue
    $o[7] = 'nthird';
    $o[8] = 5;
    $first = f('queue_create', 'dddddddddddd', uuid(903), 'source', @o, 'd' x 64,
               $hash);
    is("@$first[10, 11]", uuid(901) . ' 5', 'with a dead-letter queue');
    is_deeply(f('queue_create', 'eeeeeeeeeeee', uuid(904), 'source', @o,
                'd' x 64, $hash), $first, 'the same answer');
    is(f('queue_count', 'nthird')->[19], 1, 'one source');
    like(f('queue_create', 'eeeeeeeeeeee', uuid(904), 'x', @o, 'd' x 64),
         qr/ARGUMENT/, 'a key without hash');
    none();
};

done_testing;
