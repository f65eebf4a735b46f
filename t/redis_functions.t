#!/usr/bin/perl

# The functions of redis/*.lua, called straight on a Redis of its own: queues,
# the library, rights.

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


subtest 'library' => sub {
    like($lib, qr/^ngxq_[0-9a-f]{16}$/, 'name');
    my ($name, $text) = NgxQueues::Redis::library(folder());
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
        queue_delete => 'allow-oom', send => '', send_each => '',
        send_fifo => '', receive => 'allow-oom', ack => 'allow-oom',
        visibility => 'allow-oom', undo => 'allow-oom',
        peek => 'no-writes', redrive => '', maintain => 'allow-oom',
        project_note => 'allow-oom', project_due => 'no-writes',
        known_note => 'allow-oom', known_list => 'no-writes',
        known_forget => 'allow-oom', metrics_queues => 'allow-oom',
        metrics_forget => 'allow-oom',
        subscription_create => '', subscription_get => 'no-writes',
        subscription_list => 'no-writes',
        subscription_update => 'allow-oom', subscription_state => 'allow-oom',
        subscription_rotate => '', subscription_delete => 'allow-oom', push_join => 'allow-oom',
        push_leave => 'allow-oom', push_note => 'allow-oom',
        push_sync => 'allow-oom', push_claim => 'allow-oom',
        push_settle => 'allow-oom', push_done => 'allow-oom',
        log_push => '', log_tx => '',
        topic_create => '', topic_update => '', topic_publish => '',
        sub_create => '', sub_update => '', sub_seek => '',
        snap_create => '', snap_update => '',
        (map { ("topic_$_" => 'no-writes') } qw(get list subs snaps)),
        (map { ("sub_$_" => 'no-writes', "snap_$_" => 'no-writes') } qw(get list)),
        topic_delete => 'allow-oom', snap_delete => 'allow-oom',
        (map { ("sub_$_" => 'allow-oom') } qw(delete detach count pull ack modify)),
        log_pop => 'allow-oom', log_find => 'allow-oom',
        log_ack => 'allow-oom', log_extend => 'allow-oom',
        log_undo => 'allow-oom',
        log_configure => '', log_retry_dead => '', log_trace => '',
        (map { ("log_$_" => 'allow-oom') } qw(delete seek forget subscription
            dead purge_dead delete_dead switch traces_named)),
        (map { ("log_$_" => 'no-writes') } qw(get lanes queues labels groups group
            lagging message messages traces trace_names overview ping)),
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

    like(f('queue_create', 'bbbbbbbbbbbb', uuid(0), 'jobs', 'standard', (9) x 6, '', 0),
         qr/^QUEUES EXISTS /, 'name taken');
    like(f('queue_create', 'aaaaaaaaaaaa', uuid(0), 'other', 'standard', (9) x 6, '', 0),
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

    $r->call('HSET', key('q', 'aaaaaaaaaaaa'), 'ut', 1);
    $r->call('HSET', key('h', 'aaaaaaaaaaaa'), 'hx', 99, 't', 98);
    $s = f('queue_update', 'njobs', 'vt', 1, 'wait', 2, 'delay', 0,
           'max', 2000);
    is_deeply([ @$s[4 .. 8] ], [ 1, 2, 345600, 0, 2000 ], 'updated');
    ok(abs($s->[13] - $now) < 3, 'updated at');
    is(hot('aaaaaaaaaaaa', 'hx') . hot('aaaaaaaaaaaa', 't'), 9998, 'hx and t');
    f('queue_update', 'njobs', 'ret', 3600);
    is(hot('aaaaaaaaaaaa', 'hx') . hot('aaaaaaaaaaaa', 't'), '00', 'both anew');
    like(f('queue_update', 'njobs', @$_), qr/^QUEUES ARGUMENT /, "not @$_")
        for [ 'name', 'x' ], [ 'gen', 5 ], [ 'vt' ], [ 'vt', 9, 'kind', 'x' ],
            [ 'vt', 'x' ], [ 'max', '' ];
    is(f('queue_get', 'njobs')->[4], 1, 'a refused update changes nothing');
    is(scalar @{ f('queue_update', 'njobs') }, 14, 'nothing to update');

    waits('aaaaaaaaaaaa');
    f('queue_update', 'njobs', 'vt', 3);
    is(hints(), '', 'no hint for vt');
    f('queue_update', 'njobs', 'ret', 7200);
    is(hints(), 'aaaaaaaaaaaa', 'a hint for retention');
    is(waiting('aaaaaaaaaaaa'), 0, 'and nobody waits now');
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
    is_deeply(ack( $q, 1, $m->[0], token()), [ 0 ], 'handle is stale');
    is(create('del'), sprintf('q%011d', serial()), 'the name is free');

    my $d = create('dead');
    my $s = create('source', dlq => $d, mrc => 3);
    is_deeply([ @{ f('queue_get', "q$s") }[10, 11] ], [ uuid(serial() - 1), 3 ],
              'stored');
    like(f('queue_delete', "q$d"), qr/^QUEUES INUSE /, 'in use');
    my $t = create('source2');
    f('queue_update', "q$t", 'dlq', "q$d") for 1, 2;
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
    is_deeply(ack( $q, 1, $m->[0], token()), [ 0 ], 'handle is stale');
    is_deeply(visibility( $q, 1, $m->[0], token(), 0), [ 0 ], 'likewise');
    is(f('undo', $q, 1, token(), $m->[0]), 0, 'undo too');
    my ($id) = put($q, '', 'd');
    ok(NgxQueues::Check::_later($id, $last), "ids go on: $id after $last");
    my ($h, @m) = take($q, 9);
    is("$h->[1] " . bodies(@m), '2 d', 'new generation');
    is_deeply(ack( $q, 2, $id, token()), [ 1 ], 'its handle works');
    sound('sound');

    # a clock that is behind
    my ($sec) = @{ $r->call('TIME') };
    my $ahead = ($sec + 500) . '000';
    my $floor = sub { (split /:/, hot($q, 's'))[3] };
    $r->call('HSET', key('h', $q), 's', hot($q, 's') =~ s/\d+-\d+/$ahead-5/r);
    f('queue_purge', "q$q");
    is($floor->(), "$ahead-5", 'floor is kept');
    my @ids = (put($q, '', 'a', 'b'), put($q, '', 'c'));
    $ahead++;
    is("@ids", "$ahead-0 $ahead-1 $ahead-2", 'ids above the floor');
    is((put($q, 5, 'd'))[0], "z$ahead-0", 'delayed ones too');
    f('queue_purge', "q$q");
    is($floor->(), "$ahead-2", 'floor rises');
    $r->call('XADD', key('m', $q, 4), ($ahead + 100) . '-7', 'b', '"x"');
    is((put($q, '', 'a'))[0], ($ahead + 100) . '-8', 'above what is stored');
    f('queue_delete', "q$q");
    hints();
};


subtest 'out of memory' => sub {
    my $q = create('oom');
    put($q, '', 1 .. 3);
    $r->call('CONFIG', 'SET', 'maxmemory', 1);
    like(f('send', "q$q", 1, 'x'), qr/^OOM /, 'send is refused');
    my ($h, @m) = take($q, 2);
    is(scalar @m, 2, 'receive works');
    is_deeply(ack( $q, 1, $m[0][0], token()), [ 1 ], 'ack works');
    is(f('undo', $q, 1, token(), $m[1][0]), 1, 'undo works');
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

    my $user = NgxQueues::Redis->new(address());
    local $NgxQueues::Functions::r = $user;
    is($user->call('AUTH', 'queues', 'PASSWORD'), 'OK', 'and comes in');
    is($user->load_library(folder()), $lib, 'loads the library');

    my $q = create('rights', wait => 1);
    my $d = create('rights2');
    put($q, '', 'a', 'b');
    put($q, 5, 'c');
    my $admin = sub {
        my ($do, @args) = @_;
        local $NgxQueues::Functions::r = $r;
        $do->(@args);
    };
    $admin->(\&retention, $q, 345600);
    $admin->(\&waits, $q);
    my ($h, @m) = take($q, 5);
    is(scalar @m, 2, 'receives');
    $admin->(\&waits, $q);
    is_deeply(visibility( $q, 1, $m[0][0], token(), 1), [ 1 ], 'visibility');
    is(f('undo', $q, 1, token(), $m[0][0]), 1, 'undo');
    is_deeply(ack( $q, 1, $m[1][0], token()), [ 1 ], 'ack');
    ($h, @m) = take($q, 5);
    is(counts($q), '0 1 1', 'count');
    $admin->(\&retention, $q, 0);
    sleep 0.01;
    is(counts($q), '0 0 0', 'sweep');
    is(scalar @{ f('queue_list', '', '', 100) } % 14, 1, 'list');
    is(f('queue_update', "q$q", 'dlq', "q$d", 'ret', 60)->[10],
       uuid(serial()), 'update');
    is(f('queue_purge', "q$q"), 1, 'purge');
    put($q, '', 'x');
    put($q, 1, 'x');
    is(f('queue_delete', "q$q"), 1, 'delete');
    is(f('queue_delete', "q$d"), 1, 'delete');

    # FIFO queues, dead letters, and what is due; both kinds
    for my $kind ('fifo', 'standard') {
        my @o = (kind => $kind);
        my $take = $kind eq 'fifo' ? \&take_fifo : \&take;
        my $send = sub { my $to = shift; $kind eq 'fifo' ? put_fifo($to, 'g', @_)
                                                      : put($to, '', @_) };

        $d = create("$kind-d", @o);
        $q = create("$kind-q", @o, dlq => $d, mrc => 1, vt => 150);
        $send->($q, 1 .. 5);
        my ($h, @m) = $take->($q, 3);
        is(scalar @m, 3, "$kind: receive");
        my @ids = map { $kind eq 'fifo' ? $_->{id} : $_->[0] } @m;
        is(scalar(() = peek($q, 'f')), 3, 'peek');
        is(f('undo', $q, 1, token(), $ids[2]), 1, 'undo');
        is_deeply(visibility($q, 1, $ids[1], token(), 1), [ 1 ], 'visibility');
        is_deeply(ack($q, 1, $ids[0], token()), [ 1 ], 'ack');
        $admin->(\&elapse, 300);
        like(tend(), qr/^1 \d+$/, 'maintain');
        is(counts($d), '1 0 0', 'a dead letter');
        is((moved($d))[0], 1, 'redrive');
        f('queue_update', "q$q", 'delay', 1);
        $send->($q, 'late');
        $admin->(\&elapse, 86400 * 5);
        tend();
        is(counts($q), '0 0 0', 'retention');
        f('queue_purge', "q$q");
        $send->($q, 'last');
        is(f('queue_delete', "q$_"), 1, 'delete') for $q, $d;
    }

    my @new = ('standard', 30, 0, 3600, 0, 1024, 0, '', 0, 'a' x 64, 'b' x 64);
    is(f('queue_create', 'rrrrrrrrrrrr', uuid(800), 'once', @new)->[2], 'once',
       'create, once');
    is(f('queue_create', 'ssssssssssss', uuid(801), 'once', @new)->[0],
       'rrrrrrrrrrrr', 'and twice');
    f('queue_delete', 'nonce');
    is($user->call('FCALL', "${lib}_project_note", 1, 'ngxq:projects', $root,
                   9), 1, 'project_note');
    is($user->call('FCALL', "${lib}_project_due", 1, 'ngxq:projects', 1000, 9,
                   '')->[1], $root, 'project_due');
    is($user->call('FCALL', "${lib}_project_note", 1, 'ngxq:projects', $root,
                   -1), 1, 'project_note, nothing');
    $admin->(sub { $r->call('DEL', 'ngxq:projects', "$root:j:" . 'a' x 64) });

    $q = create('pushed', vt => 60);
    my $k = 's' x 12;
    my @target = ('https://x.example/', 30, 10, 1);
    is(f('subscription_create', "q$q", $k, uuid(900), @target, 'a', 'x',
         'c' x 64, 'd' x 64)->[0], 1, 'a subscription');
    is(f('subscription_get', "q$k")->[0], $k, 'get');
    is(f('subscription_list', '', '', 9)->[1], $k, 'list');
    is(f('subscription_update', "q$k", 'to', 9)->[8], 9, 'update');
    is(f('subscription_rotate', "q$k", 'y')->[2], $k, 'rotate');
    is(f('push_sync', 'w', 1)->[1], 1, 'sync');
    put($q, '', 1 .. 3);
    my $claim = f('push_claim', $k, 'w', 1, 3, 501);
    is($claim->[0], 0, 'claim');
    is(f('push_claim', $k, 'w', 1, 3, 502)->[0], 3, 'no more than one');
    $admin->(sub { $r->call('ZADD', "$root:pd:$k", 1, 501) });
    is(f('push_claim', $k, 'w', 1, 3, 502)->[0], 0, 'one is given up');
    my ($id, @ids) = $claim->[7] =~ /(\d+-\d+)/g;
    is_deeply([ @{ f('push_settle', $k, 'w', 1, 3, '', 501, $q, 1, '+', '',
                     $id, 1000, 1, "@ids") }[0, 1] ], [ 0, 4 ], 'settle');
    is_deeply(f('push_done', $k, 'w', 1, 3, '', '', $q, 1, 501, "@ids"), [ 0 ],
              'done');
    is(f('push_sync', 'w', 0)->[1], 0, 'give it away');
    is(f('subscription_state', "q$k", 'p')->[0], 0, 'pause');
    is(f('subscription_state', "q$k", 'a')->[0], 1, 'resume');
    is_deeply(f('queue_delete', "q$q"), [ 1, 0 ], 'and all of it goes');
    is(members('push_join', 'w', 0, 9)->[3], 1, 'join');
    is(members('push_note', $root, 1), 1, 'note');
    is(members('push_leave', 'w'), 1, 'leave');
    $admin->(sub { $r->call('DEL', "$root:j:" . 'c' x 64,
                            map { "ngxq:{push}:$_" } qw(n p)) });
    like($user->call(@$_), qr/^NOPERM /, "not @$_")
        for [ 'KEYS', '*' ], [ 'HGETALL', 'x' ], [ 'FLUSHALL' ],
            [ 'SSUBSCRIBE', 'x' ], [ 'HGET', 'x', 'y' ];
    hints();
    is($user->call('SSUBSCRIBE', "$root:w")->[0], 'ssubscribe', 'hints');
};

done_testing;
