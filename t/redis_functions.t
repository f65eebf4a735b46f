#!/usr/bin/perl

# The functions of redis/*.lua, called straight on a Redis of its own.

use strict;
use warnings;

use FindBin;
use File::Temp qw(tempdir);
use POSIX qw(_exit);
use Test::More;
use Time::HiRes qw(sleep time);

use lib "$FindBin::Bin/lib";
use NgxQueues::Check;
use NgxQueues::Redis;

my $dir = tempdir('ngxq-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $main = $$;
my $pid;

END {
    if ($pid && $$ == $main) {
        local $?;
        kill 'KILL', $pid;
        waitpid $pid, 0;
    }
}

my $server = $ENV{TEST_REDIS_BINARY} || 'redis-server';

plan skip_all => 'no redis-server' unless grep { -x "$_/$server" || -x $server }
    split /:/, "$ENV{PATH}:/usr/sbin";

$pid = fork // die "fork: $!\n";

if (!$pid) {
    open STDOUT, '>', "$dir/log";
    open STDERR, '>&', \*STDOUT;
    exec $server, '--save', '', '--appendonly', 'no', '--port', 0, '--dir',
         $dir, '--unixsocket', "$dir/s" or _exit(1);
}

our $r;
for (1 .. 100) {
    last if $r = eval { NgxQueues::Redis->new("$dir/s") };
    sleep 0.05;
}
BAIL_OUT('redis-server does not start') unless $r;

my $lib = $r->load_library("$FindBin::Bin/../redis");
my $root = 'ngxq:{acme/shop}';
my $sub = NgxQueues::Redis->new("$dir/s");

$sub->call('SSUBSCRIBE', "$root:w");


sub f {
    my $name = shift;
    return $r->call('FCALL', "${lib}_$name", 1, $root, @_);
}

# what was published since the last look
sub hints {
    my @got;

    $r->call('SPUBLISH', "$root:w", 'end');
    while ((my $m = $sub->get->[2]) ne 'end') { push @got, $m }

    return join ' ', @got;
}

my $serial = 0;
sub uuid { sprintf '01890000-0000-7000-8000-%012d', $_[0] }

# a queue with these settings; returns Q
sub create {
    my ($name, %o) = @_;
    my $n = ++$serial;
    my $q = sprintf 'q%011d', $n;
    my $reply = f('queue_create', $q, uuid($n), $name, $o{kind} // 'standard',
                  $o{vt} // 30, $o{wait} // 0, $o{ret} // 345600,
                  $o{delay} // 0, $o{max} // 262144, $o{cbd} // 0,
                  $o{dlq} // '', $o{mrc} // 0);
    return ref $reply eq 'ARRAY' ? $q : $reply;
}

# sends bodies; returns ids
sub put {
    my ($q, $delay, @bodies) = @_;
    my $reply = f('send', "q$q", scalar @bodies,
                  map { ($delay, length $_, qq("$_"), '') } @bodies);
    die "send: $reply\n" unless ref $reply eq 'ARRAY';
    return @$reply[2 .. $#$reply];
}

my $token = 1000;

# receives; returns (head, message …), each message a list of five
sub take {
    my ($q, $n, $vt, $wait) = @_;
    my $reply = f('receive', "q$q", $n, $vt // '', $wait // '', ++$token);
    die "receive: $reply\n" unless ref $reply eq 'ARRAY';
    my @head = splice @$reply, 0, 4;
    my @m;
    push @m, [ splice @$reply, 0, 5 ] while @$reply;
    return (\@head, @m);
}

sub bodies { join ' ', map { $_->[1] =~ tr/"//dr } @_ }
sub counts { my $c = f('queue_count', "q$_[0]"); join ' ', @$c[15 .. 17] }
sub key { my ($k, $q, $g) = @_; "$root:$k:$q" . ($g ? ":$g" : '') }
sub sound { my @p = NgxQueues::Check::check($r); is("@p", '', $_[0]) }


subtest 'library' => sub {
    like($lib, qr/^ngxq_[0-9a-f]{16}$/, 'name');
    my ($name, $text) = NgxQueues::Redis::library("$FindBin::Bin/../redis");
    like($r->call('FUNCTION', 'LOAD', $text), qr/already exists/, 'twice');
    like(f('queue_get'), qr/^QUEUES NOQUEUE /, 'no reference');
    like($r->call('FCALL', "${lib}_queue_get", 0),
         qr/^QUEUES ARGUMENT /, 'no key');

    my %one = @{ $r->call('FUNCTION', 'LIST', 'LIBRARYNAME', $lib)->[0] };
    my %flags = map { my %f = @$_; ($f{name} =~ s/^${lib}_//r, "@{$f{flags}}") }
                    @{ $one{functions} };
    is_deeply(\%flags, {
        queue_create => '', queue_get => 'no-writes',
        queue_count => 'allow-oom', queue_list => 'no-writes',
        queue_update => '', queue_purge => 'allow-oom',
        queue_delete => 'allow-oom', send => '', receive => 'allow-oom',
        ack => 'allow-oom', visibility => 'allow-oom', undo => 'allow-oom',
    }, 'functions and flags');
};


subtest 'create, get, update' => sub {
    my $s = f('queue_create', 'aaaaaaaaaaaa', uuid(0), 'jobs', 'standard', 30,
              5, 345600, 7, 262144, 0, '', 0);
    my $now = time;
    is(scalar @$s, 14, 'elements');
    is_deeply([ @$s[0 .. 11] ],
              [ 'aaaaaaaaaaaa', uuid(0), 'jobs', 'standard', 30, 5, 345600, 7,
                262144, 0, '', 0 ], 'settings');
    ok(abs($s->[12] - $now) < 3 && $s->[13] == $s->[12], 'times');

    like(f('queue_create', 'bbbbbbbbbbbb', uuid(0), 'jobs', ('x') x 9),
         qr/^QUEUES EXISTS /, 'name taken');
    like(f('queue_create', 'aaaaaaaaaaaa', uuid(0), 'other', ('x') x 9),
         qr/^QUEUES IDTAKEN /, 'id taken');
    like(f('queue_create', 'aaaaaaaaaaaa'), qr/^QUEUES ARGUMENT /, 'too few');

    is_deeply(f('queue_get', $_), $s, "by $_")
        for 'qaaaaaaaaaaaa', 'njobs', 'uaaaaaaaaaaaa' . uuid(0);
    like(f('queue_get', $_), qr/^QUEUES NOQUEUE /, "not by $_")
        for 'qbbbbbbbbbbbb', 'nJobs', 'uaaaaaaaaaaaa' . uuid(1), 'n', '';

    my $a = create('que_cccccccccccc');
    my $b = create(uuid(77));
    is(f('queue_get', 'qcccccccccccc')->[0], $a, 'name like an id');
    is(f('queue_get', 'udddddddddddd' . uuid(77))->[0], $b, 'name like a UUID');
    is(f('queue_get', 'uaaaaaaaaaaaa' . uuid(77))->[0], $b,
       'name like a UUID with the short id of another');

    $r->call('HSET', key('q', 'aaaaaaaaaaaa'), 'ut', 1, 'hx', 99);
    $s = f('queue_update', 'njobs', 'vt', 1, 'wait', 2, 'delay', 0,
           'max', 2000);
    is_deeply([ @$s[4 .. 8] ], [ 1, 2, 345600, 0, 2000 ], 'updated');
    ok(abs($s->[13] - $now) < 3, 'updated at');
    is($r->call('HGET', key('q', 'aaaaaaaaaaaa'), 'hx'), 99, 'hx stays');
    f('queue_update', 'njobs', 'ret', 3600);
    is($r->call('HGET', key('q', 'aaaaaaaaaaaa'), 'hx'), 0, 'hx starts anew');
    like(f('queue_update', 'njobs', @$_), qr/^QUEUES ARGUMENT /, "not @$_")
        for [ 'name', 'x' ], [ 'gen', 5 ], [ 'vt' ], [ 'vt', 9, 'kind', 'x' ];
    is(f('queue_get', 'njobs')->[4], 1, 'a refused update changes nothing');
    is(scalar @{ f('queue_update', 'njobs') }, 14, 'nothing to update');

    $r->call('HSET', key('q', 'aaaaaaaaaaaa'), 'w', 1);
    f('queue_update', 'njobs', 'vt', 3);
    is(hints(), '', 'no hint for vt');
    f('queue_update', 'njobs', 'ret', 7200);
    is(hints(), 'aaaaaaaaaaaa', 'a hint for retention');
    sound('sound');
};


subtest 'list' => sub {
    my @names = sort map { ("l-$_", "L_$_", "l$_") } 1 .. 9;
    create($_) for @names;
    my ($after, @got) = '';

    do {
        my $l = f('queue_list', 'l', $after, 4);
        my $more = shift @$l;
        is(@$l % 14, 0, 'whole settings');
        push @got, map { $l->[ $_ * 14 + 2 ] } 0 .. @$l / 14 - 1;
        $after = $more ? $got[-1] : undef;
    } while defined $after;

    is("@got", join(' ', grep { /^l/ } @names), 'pages of a prefix');
    is(f('queue_list', '', '', 100)->[0], 0, 'no more');
    is(scalar @{ f('queue_list', 'l', 'l9', 10) }, 1, 'after the last');
    is(f('queue_list', 'l', 'L', 1)->[3], 'l-1', 'after before the prefix');
    is(scalar @{ f('queue_list', 'k', 'l', 10) }, 1, 'after past the prefix');
    is(scalar @{ f('queue_list', 'none', '', 10) }, 1, 'no such prefix');
    f('queue_delete', "n$_") for @names;
    hints();
};


subtest 'delete and purge' => sub {
    my $q = create('del');
    put($q, '', 'a', 'b');
    put($q, 9, 'c');
    my (undef, $m) = take($q, 1);
    is(f('queue_delete', 'ndel'), 1, 'deleted');
    is(hints(), $q, 'hint in any case');
    is_deeply([ grep { /$q/ } @{ $r->call('KEYS', '*') } ], [], 'no key stays');
    like(f('queue_delete', 'ndel'), qr/^QUEUES NOQUEUE /, 'gone');
    is_deeply(f('ack', $q, 1, $m->[0], $token), [ 0 ], 'handle is stale');
    is(create('del'), sprintf('q%011d', $serial), 'the name is free');

    my $d = create('dead');
    my $s = create('source', dlq => $d, mrc => 3);
    is_deeply([ @{ f('queue_get', "q$s") }[10, 11] ], [ $d, 3 ], 'stored');
    like(f('queue_delete', "q$d"), qr/^QUEUES INUSE /, 'in use');
    my $t = create('source2');
    f('queue_update', "q$t", 'dlq', $d) for 1, 2;
    f('queue_update', "q$s", 'dlq', '');
    like(f('queue_delete', "q$d"), qr/^QUEUES INUSE /, 'in use by the other');
    f('queue_delete', "q$t");
    is(f('queue_delete', "q$d"), 1, 'free again');
    is($r->call('EXISTS', "$root:r"), 0, 'nothing counted');
    hints();

    $q = create('purge');
    put($q, '', 'a', 'b');
    my $last = (put($q, 600, 'c'))[0];
    ($last) = $last =~ /^z(.*)/;
    (undef, $m) = take($q, 1);
    is(f('queue_purge', "q$q"), 1, 'purged');
    is(counts($q), '0 0 0', 'empty');
    is_deeply([ grep { /:$q:1$/ } @{ $r->call('KEYS', '*') } ], [], 'old keys');
    is_deeply(f('ack', $q, 1, $m->[0], $token), [ 0 ], 'handle is stale');
    is_deeply(f('visibility', $q, 1, $m->[0], $token, 0), [ 0 ], 'likewise');
    is(f('undo', $q, 1, $token, $m->[0]), 0, 'undo too');
    my ($id) = put($q, '', 'd');
    ok(NgxQueues::Check::_later($id, $last), "ids go on: $id after $last");
    my ($h, @m) = take($q, 9);
    is("$h->[1] " . bodies(@m), '2 d', 'new generation');
    is_deeply(f('ack', $q, 2, $id, $token), [ 1 ], 'its handle works');
    sound('sound');

    # a clock that is behind
    my ($sec) = @{ $r->call('TIME') };
    my $ahead = ($sec + 500) . '000';
    $r->call('HSET', key('q', $q), 'floor', "$ahead-5");
    f('queue_purge', "q$q");
    is($r->call('HGET', key('q', $q), 'floor'), "$ahead-5", 'floor is kept');
    my @ids = (put($q, '', 'a', 'b'), put($q, '', 'c'));
    $ahead++;
    is("@ids", "$ahead-0 $ahead-1 $ahead-2", 'ids above the floor');
    is((put($q, 5, 'd'))[0], "z$ahead-0", 'delayed ones too');
    f('queue_purge', "q$q");
    is($r->call('HGET', key('q', $q), 'floor'), "$ahead-2", 'floor rises');
    $r->call('XADD', key('m', $q, 4), ($ahead + 100) . '-7', 'b', '"x"');
    is((put($q, '', 'a'))[0], ($ahead + 100) . '-8', 'above what is stored');
    f('queue_delete', "q$q");
    hints();
};


subtest 'send' => sub {
    my $q = create('send', delay => 0, max => 1024);
    my $reply = f('send', 'nsend', 2, '', 3, '"abc"', '', '0', 5, '"d\u0000"',
                  '{"a":"b"}');
    is("@$reply[0, 1]", "$q 1", 'Q and G');
    like("@$reply[2, 3]", qr/^\d+-\d+ \d+-\d+$/, 'ids');
    my ($h, @m) = take($q, 10);
    is_deeply([ map { [ @$_[0 .. 2] ] } @m ],
              [ [ $reply->[2], '"abc"', '' ],
                [ $reply->[3], '"d\u0000"', '{"a":"b"}' ] ], 'as sent');
    f('ack', map { ($q, 1, $_->[0], $token) } @m);

    $reply = f('send', 'nsend', 3, '', 1024, 'x', '', '', 1025, 'y', '', '',
               1026, 'z', '');
    is("$reply", 'QUEUES TOOBIG 1 1024', 'too big');
    is(counts($q), '0 0 0', 'nothing is stored');
    like(f('send', 'nnone', 1, '', 1, 'x', ''), qr/^QUEUES NOQUEUE /,
         'no queue');
    like(f('send', 'nsend', @$_), qr/^QUEUES ARGUMENT /, 'arguments')
        for [ 2, '', 1, 'x', '' ], [ 0 ], [ 1 ], [ 1, '', 1, 'x' ];

    my $bytes = join '', map { chr } 0 .. 255;
    f('send', 'nsend', 1, '', 9, $bytes, '');
    ($h, @m) = take($q, 1);
    is($m[0][1], $bytes, 'any bytes');
    f('ack', $q, 1, $m[0][0], $token);

    # delays
    f('queue_update', 'nsend', 'delay', 100);
    my @ids = (put($q, '', 'late'), put($q, 0, 'now'), put($q, 1, 'soon'));
    is(join(' ', map { /^z/ ? 'z' : 'm' } @ids), 'z m z', 'streams');
    is(counts($q), '1 0 2', 'counts');
    ($h, @m) = take($q, 10);
    is(bodies(@m), 'now', 'only what is not delayed');
    ok($h->[3] > 0 && $h->[3] <= 1000, "next in $h->[3]");
    sleep $h->[3] / 1000;
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
    like(f('send', 'nsend', 2, '0', 1, 'x', '', '1', 1, 'x', ''),
         qr/WRONGTYPE/, 'a key of a wrong type');
    $r->call('RENAME', 'ngxq-aside', key('y', $q, 1));
    is(counts($q), '0 2 1', 'nothing is stored');
    sound('sound');

    # hints
    my $w = key('q', $q);
    hints();
    put($q, 0, 'a');
    is(hints(), '', 'no hint without a waiter');
    $r->call('HSET', $w, 'w', 1);
    put($q, 0, 'a', 'b');
    is(hints() . $r->call('HGET', $w, 'w'), "${q}0", 'one with, and w cleared');
    $r->call('HSET', $w, 'w', 1);
    put($q, 5, 'a');
    is(hints(), $q, 'for a delayed one');
};


subtest 'receive and ack' => sub {
    my $q = create('recv', vt => 30, wait => 3);
    my ($h, @m) = take($q, 10);
    is_deeply($h, [ $q, 1, 3, -1 ], 'nothing there');
    is($r->call('HGET', key('q', $q), 'w'), 1, 'waits');
    put($q, '', 1 .. 12);
    is(hints(), $q, 'hint');
    ($h, @m) = take($q, 5, '', 0);
    is(bodies(@m), '1 2 3 4 5', 'in order');
    is($h->[2], 0, 'wait of the call');
    ok($h->[3] > 29000 && $h->[3] <= 30000, 'next is the visibility');
    is_deeply([ map { $_->[3] } @m ], [ (1) x 5 ], 'counts');
    ok(abs($m[0][4] - time * 1000) < 2000, 'first');
    is(counts($q), '7 5 0', 'counts of the queue');
    my $t = $token;

    is_deeply(f('ack', map { ($q, 1, $_->[0], $t) } @m[0, 1], $m[0], $m[2]),
              [ 1, 1, 0, 1 ], 'one handle twice');
    is_deeply(f('ack', map { ($q, 1, $_->[0], $t) } @m[0, 3]), [ 0, 1 ],
              'acknowledged before');
    is_deeply(f('ack', $q, 1, $m[4][0], $t + 1, $q, 2, $m[4][0], $t, $q, 1,
                '1-1', $t, 'zzzzzzzzzzzz', 1, $m[4][0], $t, $q, 1, $m[4][0],
                substr($t, 0, -1), $q, 1, $m[4][0], ''), [ (0) x 6 ],
              'other token, generation, id, queue, part of the token, none');
    is(counts($q), '7 1 0', 'which change nothing');
    like(f('ack', 1, 2, 3), qr/^QUEUES ARGUMENT /, 'arguments');
    is_deeply(f('ack'), [], 'no message');

    # visibility 0, and stale handles
    ($h, my $a) = take($q, 1, 0);
    is($h->[3], 1, 'visible at once');
    is(counts($q), '7 1 0', 'not in flight');
    my $ta = $token;
    ($h, my $b) = take($q, 1, 60);
    is("$b->[0] $b->[3]", "$a->[0] 2", 'comes again, before new ones');
    is($b->[4], $a->[4], 'first stays');
    is_deeply(f('ack', $q, 1, $a->[0], $ta), [ 0 ], 'old handle');
    is_deeply(f('visibility', $q, 1, $a->[0], $ta, 0), [ 0 ], 'old handle');
    is_deeply(f('ack', $q, 1, $b->[0], $token), [ 1 ], 'new handle');

    # a handle works until another receive
    ($h, $a) = take($q, 1, 0);
    sleep 0.01;
    is_deeply(f('ack', $q, 1, $a->[0], $token), [ 1 ], 'late ack');

    # several queues
    my $p = create('recv2');
    put($p, '', 'x', 'y');
    put($p, 1, 'z');
    $r->call('ZADD', key('y', $p, 1), 'XX', 1,
             $r->call('ZRANGE', key('y', $p, 1), 0, 0)->[0]);
    ($h, my @p) = take($p, 3);
    is(bodies(@p), 'z x y', 'due before new');
    my $tp = $token;
    ($h, my @q) = take($q, 2);
    is_deeply(f('ack', $q, 1, $q[0][0], $token, $p, 1, $p[0][0], $tp, $q, 1,
                $q[1][0], 1, $p, 1, $p[1][0], $tp, $p, 1, $p[0][0], $tp,
                $p, 1, $p[2][0], $tp), [ 1, 1, 0, 1, 0, 1 ], 'mixed');
    is(counts($p), '0 0 0', 'empty');
    like(f('receive', "q$q", 'x', '', '', 1), qr/^QUEUES ARGUMENT /, 'max');
    like(f('receive', 'nnone', 1, '', '', 1), qr/^QUEUES NOQUEUE /, 'no queue');

    # a batch of a thousand
    put($p, '', 1 .. 600) for 1, 2;
    ($h, @p) = take($p, 5000);
    is(scalar @p, 1000, 'a thousand at most');
    is_deeply(f('ack', map { ($p, 1, $_->[0], $token) } @p), [ (1) x 1000 ],
              'acknowledged');
    sound('sound');
};


subtest 'visibility' => sub {
    my $q = create('vis');
    put($q, '', 'a', 'b');
    my ($h, $a, $b) = take($q, 2, 30);
    my ($f, $t) = (key('f', $q, 1), $token);
    my $now = time * 1000;

    is_deeply(f('visibility', $q, 1, $a->[0], $t, 100, $q, 1, $b->[0], 1, 0),
              [ 1, 0 ], 'extended; other token');
    ok(abs($r->call('ZSCORE', $f, $a->[0]) - $now - 100000) < 500, 'from now');
    ok(abs($r->call('ZSCORE', $f, $b->[0]) - $now - 30000) < 500, 'unchanged');
    is_deeply(f('visibility', $q, 1, $a->[0], $t, 43200), [ 1 ], 'to the end');
    my $state = $r->call('HGET', key('d', $q, 1), $a->[0]);
    my ($last) = $state =~ /:(\d+)$/;
    is($r->call('ZSCORE', $f, $a->[0]), $last + 43200000, 'at most 12 hours');

    $r->call('HSET', key('q', $q), 'w', 1);
    f('visibility', $q, 1, $b->[0], $t, 40);
    is(hints(), '', 'no hint for a later end');
    f('visibility', $q, 1, $b->[0], $t, 20);
    is(hints(), $q, 'a hint for an earlier one');
    f('visibility', $q, 1, $b->[0], $t, 0);
    is(hints(), '', 'none without a waiter');
    ($h, my $c) = take($q, 2);
    is("$c->[0] $c->[3]", "$b->[0] 2", 'released');
    like(f('visibility', $q, 1, 'x', 1, 'x'), qr/^QUEUES ARGUMENT /, 'vt');
    like(f('visibility', $q), qr/^QUEUES ARGUMENT /, 'too few');
    sound('sound');
};


subtest 'undo' => sub {
    my $q = create('undo');
    put($q, '', 'a', 'b', 'c');
    put($q, 3, 'd');
    my ($h, $a, $b) = take($q, 2, 30);
    my $t = $token;

    $r->call('HSET', key('q', $q), 'w', 1);
    is(f('undo', $q, 1, $t + 1, $a->[0]), 0, 'another token');
    is(hints(), '', 'no hint');
    is(f('undo', $q, 1, $t, $a->[0], '9-9', $a->[0]), 1, 'one given back');
    is(hints(), $q, 'hint');
    is(f('undo', $q, 1, $t, $a->[0]), 0, 'only once');
    is_deeply(f('ack', $q, 1, $a->[0], $t), [ 0 ], 'its handle is over');
    is(counts($q), '2 1 1', 'visible');
    sleep 0.01;
    ($h, my @m) = take($q, 2, 30);
    is(bodies(@m), 'a c', 'first of all');
    is($m[0][3], 1, 'receive count as before');
    ok($m[0][4] > $a->[4], 'first is of this one');

    f('visibility', $q, 1, $m[0][0], $token, 0);
    ($h, my $again) = take($q, 1, 30);
    f('undo', $q, 1, $token, $again->[0]);
    ($h, my $more) = take($q, 1, 30);
    is("$more->[3] $more->[4]", "2 $m[0][4]", 'count and first of the second');
    is(f('undo', $q, 1, $token), 0, 'no ids');
    like(f('undo', $q), qr/^QUEUES ARGUMENT /, 'arguments');
    is(f('undo', 'zzzzzzzzzzzz', 1, 1, '1-1'), 0, 'no queue');
    sound('sound');
};


subtest 'retention' => sub {
    my $q = create('ret', vt => 100);
    my $hash = key('q', $q);
    my $more = sub { $r->call('HSET', $hash, 'ret', 1, 'hx', 0) };

    put($q, '', 1 .. 150);
    put($q, 2, 'z1', 'z2');
    $r->call('ZADD', key('y', $q, 1), 'XX', 1,
             $r->call('ZRANGE', key('y', $q, 1), 0, 0)->[0]);
    my ($h, @m) = take($q, 20);
    is(bodies(@m[0, 1]), 'z1 1', 'before');
    my $t = $token;
    f('visibility', $q, 1, $m[2][0], $t, 0);
    my $hx = $r->call('HGET', $hash, 'hx');
    my ($first) = $r->call('XRANGE', key('m', $q, 1), '-', '+')->[0][0]
                  =~ /(\d+)/;
    ok(abs($hx - $first - 345600000) < 1000, 'hx');
    sleep 1.05;
    put($q, '', 'young');
    $more->();
    is_deeply(f('ack', $q, 1, $m[0][0], $t, $q, 1, $m[1][0], $t), [ 0, 0 ],
              'ack of expired ones');
    is_deeply(f('visibility', $q, 1, $m[1][0], $t, 9), [ 0 ], 'visibility too');
    ($h, my @n) = take($q, 10);
    is(bodies(@n), 'young', 'only what is young');
    my $left = $r->call('XLEN', key('m', $q, 1));
    ok($left > 1, 'not all is swept at once');
    is($r->call('HGET', $hash, 'hx'), 0, 'hx waits for the rest');
    is(counts($q), '0 1 0', 'counts sweep');
    is_deeply([ map { $r->call($_->[0], key($_->[1], $q, 1)) } [ 'XLEN', 'm' ],
                [ 'XLEN', 'z' ], [ 'ZCARD', 'y' ], [ 'ZCARD', 'f' ],
                [ 'HLEN', 'd' ] ], [ 1, 0, 0, 1, 1 ], 'nothing stays');
    ok($r->call('HGET', $hash, 'hx') > 1e12, 'hx is right again');
    sound('sound');

    # in bulk, and more than one call
    $r->call('HSET', $hash, 'ret', 345600);
    f('queue_purge', "q$q");
    put($q, '', 1 .. 1000) for 1 .. 3;
    put($q, 300, 1 .. 100);
    sleep 1.05;
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
    sleep 1.05;
    $more->();
    put($q, '', 'x');
    my $got = '';
    $got .= bodies((take($q, 1))[1] // ()) for 1 .. 10;
    is($got, 'x', 'each receive sweeps some');
    sound('sound');
    ok(f('queue_count', "q$q")->[18] <= 1, 'age');
    f('queue_delete', "q$q");
    hints();
};


subtest 'cap' => sub {
    my $q = create('cap', wait => 5);
    my ($f, $hash) = (key('f', $q, 1), key('q', $q));
    my $far = int(time + 1000) . '000';

    put($q, '', 1 .. 5);
    my ($h, @m) = take($q, 1);
    my $t = $token;

    for my $i (0 .. 119) {
        $r->call('ZADD', $f, map { ($far, "$i-$_") } 1 .. 1000);
    }

    $r->call('ZREM', $f, '0-1', '0-2', '0-3');
    ($h, my @n) = take($q, 10);
    is(bodies(@n), '2 3', 'up to the cap');
    ok($h->[3] > 25000 && $h->[3] <= 30000, 'room in 30 s');
    ($h, @n) = take($q, 10);
    is(scalar @n, 0, 'none over it');
    is($r->call('HGET', $hash, 'w'), 1, 'waits');
    f('visibility', $q, 1, $m[0][0], $t, 0);
    is(hints(), $q, 'a release makes room');
    ($h, @n) = take($q, 10);
    is(bodies(@n), '1', 'and is received again');
    ($h) = take($q, 10);
    is_deeply(f('ack', $q, 1, $n[0][0], $token - 1), [ 1 ], 'ack');
    is(hints(), $q, 'makes room');
    $r->call('ZREM', $f, '5-5');
    ($h, @n) = take($q, 10);
    is(bodies(@n), '4 5', 'two more');
    f('queue_delete', "q$q");
    hints();
};


subtest 'out of memory' => sub {
    my $q = create('oom');
    put($q, '', 1 .. 3);
    $r->call('CONFIG', 'SET', 'maxmemory', 1);
    like(f('send', "q$q", 1, '', 1, 'x', ''), qr/^OOM /, 'send is refused');
    my ($h, @m) = take($q, 2);
    is(scalar @m, 2, 'receive works');
    is_deeply(f('ack', $q, 1, $m[0][0], $token), [ 1 ], 'ack works');
    is(f('undo', $q, 1, $token, $m[1][0]), 1, 'undo works');
    is(counts($q), '2 0 0', 'count works');
    is(f('queue_purge', "q$q"), 1, 'purge works');
    is(f('queue_delete', "q$q"), 1, 'delete works');
    $r->call('CONFIG', 'SET', 'maxmemory', 0);
    hints();
};


# The rights that docs/redis.md gives are enough, and no more.
subtest 'rights' => sub {
    open my $fh, '<', "$FindBin::Bin/../docs/redis.md" or die "redis.md: $!\n";
    my ($acl) = do { local $/; <$fh> } =~ /^ACL (SETUSER queues .*?)^```/ms;
    is($r->call('ACL', split ' ', $acl), 'OK', 'the user is made');

    my $admin = $r;
    local $r = NgxQueues::Redis->new("$dir/s");
    is($r->call('AUTH', 'queues', 'PASSWORD'), 'OK', 'and comes in');
    is($r->load_library("$FindBin::Bin/../redis"), $lib, 'loads the library');

    my $q = create('rights', wait => 1);
    my $d = create('rights2');
    put($q, '', 'a', 'b');
    put($q, 5, 'c');
    $admin->call('HSET', key('q', $q), 'hx', 0, 'w', 1);
    my ($h, @m) = take($q, 5);
    is(scalar @m, 2, 'receives');
    $admin->call('HSET', key('q', $q), 'w', 1);
    is_deeply(f('visibility', $q, 1, $m[0][0], $token, 1), [ 1 ], 'visibility');
    is(f('undo', $q, 1, $token, $m[0][0]), 1, 'undo');
    is_deeply(f('ack', $q, 1, $m[1][0], $token), [ 1 ], 'ack');
    ($h, @m) = take($q, 5);
    is(counts($q), '0 1 1', 'count');
    $admin->call('HSET', key('q', $q), 'ret', 0, 'hx', 0);
    sleep 0.01;
    is(counts($q), '0 0 0', 'sweep');
    is(scalar @{ f('queue_list', '', '', 100) } % 14, 1, 'list');
    is(f('queue_update', "q$q", 'dlq', $d, 'ret', 60)->[10], $d, 'update');
    is(f('queue_purge', "q$q"), 1, 'purge');
    put($q, '', 'x');
    put($q, 1, 'x');
    is(f('queue_delete', "q$q"), 1, 'delete');
    is(f('queue_delete', "q$d"), 1, 'delete');
    like($r->call(@$_), qr/^NOPERM /, "not @$_")
        for [ 'SET', "$root:n", 1 ], [ 'HGETALL', 'x' ], [ 'FLUSHALL' ],
            [ 'SSUBSCRIBE', 'x' ], [ 'HGET', 'x', 'y' ];
    hints();
    is($r->call('SSUBSCRIBE', "$root:w")->[0], 'ssubscribe', 'hints');
};


# Random calls against a model.  Time is moved by changing scores.
subtest 'history' => sub {
    my $seed = $ENV{TEST_SEED} // int(time) ^ $$;
    diag("TEST_SEED=$seed");
    srand $seed;

    my $q = create('history');
    my $gen = 1;
    my (%m, @old, $bad);            # id → body, state, count, token
    my $pick = sub { my @l = sort grep { $_[0]->($m{$_}) } keys %m;
                     @l ? $l[rand @l] : undef };
    my $wrong = sub { $bad = 1; fail("step $_[0]: $_[1]") };

    STEP: for my $step (1 .. 1000) {
        my $dice = rand 100;

        if ($dice < 30) {
            my @b = map { "b$step.$_" } 1 .. 1 + rand 4;
            my $delay = rand() < 0.3 ? 900 : 0;
            my @ids = put($q, $delay, @b);
            $m{ $ids[$_] } = { body => $b[$_], count => 0, token => '',
                               state => $delay ? 'delayed' : 'visible' }
                for 0 .. $#b;

        } elsif ($dice < 55) {
            my $n = 1 + int rand 6;
            my $vt = rand() < 0.2 ? 0 : 1000;
            my $visible = grep { $_->{state} eq 'visible' } values %m;
            my ($h, @got) = take($q, $n, $vt, 0);
            my $want = $n < $visible ? $n : $visible;
            $wrong->($step, @got . " received of $want") if @got != $want;

            for my $got (@got) {
                my $m = $m{ $got->[0] };
                if (!$m || $m->{state} ne 'visible'
                    || $got->[1] ne qq("$m->{body}")
                    || $got->[3] != ++$m->{count})
                {
                    $wrong->($step, "received @$got");
                    last STEP;
                }
                push @old, [ $got->[0], $m->{token} ] if $m->{token} ne '';
                $m->{token} = $token;
                $m->{state} = $vt ? 'flying' : 'visible';
            }

        } elsif ($dice < 70) {
            my @ids = map { $pick->(sub { $_[0]{token} ne '' }) // () } 1 .. 3;
            my @want = map { delete $m{$_->[0]} ? 1 : 0 }
                       my @h = map { [ $_, $m{$_}{token} ] } @ids;
            push @old, @h;
            my $got = f('ack', map { ($q, $gen, @$_) } @h);
            $wrong->($step, "ack @$got") if "@$got" ne "@want";

        } elsif ($dice < 75 && @old) {
            my @h = map { $old[rand @old] } 1 .. 3;
            my $got = f('ack', map { ($q, $gen, @$_) } @h);
            $wrong->($step, "stale ack @$got") if "@$got" ne '0 0 0';

        } elsif ($dice < 82) {
            my $id = $pick->(sub { $_[0]{token} ne '' }) // next;
            my $vt = rand() < 0.5 ? 0 : 1000;
            my $got = f('visibility', $q, $gen, $id, $m{$id}{token}, $vt);
            $m{$id}{state} = $vt ? 'flying' : 'visible';
            $wrong->($step, 'visibility') if "@$got" ne '1';

        } elsif ($dice < 88) {
            my $id = $pick->(sub { $_[0]{token} ne '' }) // next;
            my $m = $m{$id};
            my $got = f('undo', $q, $gen, $m->{token}, $id);
            push @old, [ $id, $m->{token} ];
            @$m{qw(token state)} = ('', 'visible');
            $m->{count}--;
            $wrong->($step, 'undo') if $got ne 1;

        } elsif ($dice < 94) {
            my $id = $pick->(sub { $_[0]{state} eq 'flying' }) // next;
            $r->call('ZADD', key('f', $q, $gen), 'XX', 1, $id);
            $m{$id}{state} = 'visible';

        } elsif ($dice < 99.5) {
            my $id = $pick->(sub { $_[0]{state} eq 'delayed' }) // next;
            $r->call('ZADD', key('y', $q, $gen), 'XX', 1, $id);
            $m{$id}{state} = 'visible';

        } else {
            f('queue_purge', "q$q");
            $gen++;
            push @old, map { [ $_, $m{$_}{token} || 7 ] } keys %m;
            %m = ();
        }

        my $want = join ' ', map { my $s = $_;
                                   scalar grep { $_->{state} eq $s } values %m }
                             qw(visible flying delayed);
        my $got = counts($q);
        $wrong->($step, "counts $got, want $want") if $got ne $want;

        if ($step % 100 == 0) {
            my @p = NgxQueues::Check::check($r);
            $wrong->($step, "@p") if @p;
        }

        last if $bad;
    }

    ok(!$bad, 'as the model');
};


subtest 'the checker sees faults' => sub {
    sound('all is sound');
    my $q = create('fault');
    put($q, '', 'a', 'b', 'c');
    put($q, 9, 'd');
    my ($h, $m) = take($q, 1);
    my @faults = (
        [ [ 'HDEL', key('d', $q, 1), $m->[0] ], qr/without state/ ],
        [ [ 'ZREM', key('f', $q, 1), $m->[0] ], qr/not in flight/ ],
        [ [ 'XDEL', key('m', $q, 1), $m->[0] ], qr/without body/ ],
        [ [ 'DEL', key('y', $q, 1) ], qr/neither delayed nor/ ],
        [ [ 'DEL', key('z', $q, 1) ], qr/delayed without body/ ],
        [ [ 'HSET', key('q', $q), 'cur', '0-0' ], qr/beyond cur/ ],
        [ [ 'SET', key('m', $q, 7), 1 ], qr/nobody's key/ ],
        [ [ 'HDEL', "$root:n", 'fault' ], qr/has no id/ ],
        [ [ 'ZREM', "$root:l", 'fault' ], qr/not listed/ ],
        [ [ 'DEL', key('q', $q) ], qr/has no hash/ ],
        [ [ 'HSET', "$root:r", $q, 2 ], qr/counted 2/ ],
    );

    for my $fault (@faults) {
        my ($command, $like) = @$fault;
        my %dump = map { $_ => $r->call('DUMP', $_) }
                   grep { /:[nlr]$|$q/ } @{ $r->call('KEYS', "$root:*") };
        $r->call(@$command);
        like(join('; ', NgxQueues::Check::check($r)), $like, "@$command[0, 1]");
        $r->call('DEL', @$command[1]);
        $r->call('RESTORE', $_, 0, $dump{$_}, 'REPLACE') for keys %dump;
    }

    sound('sound again');
};

done_testing;
