#!/usr/bin/perl

# The functions of redis/*.lua that tell of projects and queues for metrics: what
# became of messages is counted once, whatever way it went and whoever came to it
# first; pages of queues and of projects; projects that are forgotten.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Topics;

NgxQueues::Functions::start();

my $known = 'ngxq:known';
my $empty = 'ngxq:{ngxq:known}:x';
my ($fifo, $q, $dead);

sub kept { my ($name, @args) = @_; $r->call('FCALL', "${lib}_known_$name", 1, $known, @args) }

sub fresh { $r->call('FLUSHALL') }

# what is told of the project, and of its queues by their names

sub page {
    my ($cursor, $limit) = @_;
    my $reply = f('metrics_queues', $cursor // '', $limit // 50);

    die "metrics_queues: $reply\n" unless ref $reply eq 'ARRAY';

    my ($next, $all, $ex, $dl, $dropped, $nothing, @rest) = @$reply;
    my %page = (next => $next, all => $all, losses => "$ex $dl $dropped",
                nothing => $nothing, names => []);

    while (my @row = splice @rest, 0, 11) {
        push @{ $page{names} }, $row[0];
        $page{of}{ $row[0] } = {
            kind => $row[1], counts => "@row[2 .. 4]", oldest => $row[5],
            totals => "@row[6 .. 10]", there => $row[2] + $row[3] + $row[4],
        };
    }

    return \%page;
}

# a subscription with an id that no queue has

sub subscribed { my $s; do { $s = subscribe(@_) } while ref $s; $s }

# sent acknowledged expired deadLettered dropped

sub totals { page()->{of}{ $_[0] // 'q' }{totals} }

sub build {
    my (%o) = @_;

    fresh();
    $dead = create('dead', kind => $fifo ? 'fifo' : 'standard');
    $q = create('q', kind => $fifo ? 'fifo' : 'standard',
                $o{mrc} ? (dlq => $dead, mrc => $o{mrc}) : (), %o);
}

sub send_ { my ($n, $queue) = @_; $fifo ? map { (put_fifo($queue // $q, "g$_", 'b'))[0] } 1 .. $n
                                        : put($queue // $q, '', map { "b$_" } 1 .. $n) }
sub receive { my ($n, $vt, $queue) = @_; my ($h, @m) = $fifo ? take_fifo($queue // $q, $n, $vt)
                                                             : take($queue // $q, $n, $vt);
              map { ref eq 'HASH' ? $_->{id} : $_->[0] } @m }
sub done_ { ack(map { ($q, 1, $_, token()) } @_) }

# whoever comes to it first

my %by = (
    receive => sub { receive(100) },
    count => sub { f('queue_count', "q$q") },
    maintain => sub { tend() },
    ack => sub { f('ack', $q, 1, 4711, $fifo ? '1:1' : '1-1') },
);

for (0, 1) {
    $fifo = $_;
    my $kind = $fifo ? 'FIFO' : 'standard';

    subtest "$kind: acknowledged" => sub {
        build(vt => 30);
        is(totals(), '0 0 0 0 0', 'nothing');
        send_(12);
        is(totals(), '12 0 0 0 0', 'sent');

        my @m = receive(3);
        is(totals(), '12 0 0 0 0', 'received');
        done_(@m);
        is(totals(), '12 3 0 0 0', 'a whole batch');
        done_(@m);
        is(totals(), '12 3 0 0 0', 'again');

        @m = receive(3);
        done_(@m[0, 1]);
        is(totals(), '12 5 0 0 0', 'a part of one');
        is(f('undo', $q, 1, token(), $m[2]), 1, 'the rest is given back');
        is(totals(), '12 5 0 0 0', 'which is no way out');
        done_(receive(1));
        is(totals(), '12 6 0 0 0', 'a single one');
        @m = receive(2);
        visibility(map { ($q, 1, $_, token(), 0) } @m);
        is(totals(), '12 6 0 0 0', 'released');

        if ($fifo) {
            f('send_fifo', "q$q", 1, ('g', 'd-again', '"x"', '') x 2);
            is(totals(), '13 6 0 0 0', 'a duplicate does not come in');
        } else {
            put($q, 60, 'x');
            is(totals(), '13 6 0 0 0', 'a delayed one comes in at once');
        }

        is(page()->{losses}, '0 0 0', 'the project lost none');
        sound('all is well');

        f('queue_purge', "q$q");
        is(totals(), '0 0 0 0 0', 'a purge begins anew');
        send_(2);
        ack($q, 2, receive(1), token());
        is(totals(), '2 1 0 0 0', 'in another generation');
        sound('all is well');
    };

    for my $by (sort keys %by) {
        subtest "$kind: expired, by $by" => sub {
            build(vt => 43200);
            send_(5);
            receive(1);
            receive(2);
            elapse(600);
            send_(2);
            retention($q, 300);
            $by{$by}->();
            # an ack to a standard queue leaves them to others
            is(totals(), !$fifo && $by eq 'ack' ? '7 0 0 0 0' : '7 0 5 0 0', 'those that are old');
            f('queue_count', "q$q");
            is(totals(), '7 0 5 0 0', 'once');
            is(page()->{losses}, '5 0 0', 'of the project too');
            sound('all is well');
        };

        next if $by eq 'ack';

        subtest "$kind: dead letters, by $by" => sub {
            build(vt => 150, mrc => 1);
            send_(5);
            receive(2);
            receive(1);
            elapse(300);
            $by{$by}->();
            is(totals(), '5 0 0 3 0', 'those that were received');
            f('queue_count', "q$q");
            is(totals(), '5 0 0 3 0', 'once');
            is(totals('dead'), '3 0 0 0 0', 'they came in elsewhere');
            is(page()->{losses}, '0 3 0', 'of the project too');
            sound('all is well');
        };
    }

    subtest "$kind: all of them expired" => sub {
        build();
        send_(30);
        elapse(600);
        retention($q, 300);
        tend();
        is(totals(), '30 0 30 0 0', 'at once');
        sound('all is well');
    };

    subtest "$kind: a redrive" => sub {
        build(vt => 150, mrc => 1);
        send_(4);
        receive(4);
        elapse(300);
        tend();
        is((moved($dead))[0], 4, 'back');
        is(totals(), '8 0 0 4 0', 'they came in again');
        is(totals('dead'), '4 0 0 0 0', 'and are not acknowledged');
        is(page()->{of}{dead}{counts}, '0 0 0', 'nor there');
        done_(receive(4));
        is(totals(), '8 4 0 4 0', 'till they are');
        f('queue_count', "q$dead");
        is(page()->{losses}, '0 4 0', 'of the project');
        sound('all is well');
    };

    subtest "$kind: what the project has lost" => sub {
        build(vt => 150, mrc => 1);
        send_(3);
        receive(1);
        elapse(300);
        send_(1);
        retention($q, 200);
        tend();
        is(totals(), '4 0 3 0 0', 'a dead letter that is too old has expired');
        f('queue_purge', "q$q");
        send_(1);
        elapse(300);
        f('queue_count', "q$q");
        is(page()->{losses}, '4 0 0', 'a purge does not take it back');
        f('queue_delete', "q$q");
        is(page()->{losses}, '4 0 0', 'nor does a deletion');
        sound('all is well');
    };

    subtest "$kind: the project's key is of another type" => sub {
        build(vt => 150, mrc => 1);
        send_(3);
        receive(1);
        $r->call('SET', "$root:m", 'planted');
        elapse(300);
        tend();
        is(totals(), '3 0 0 1 0', 'what is due is done all the same');
        is(page()->{losses}, '0 0 0', 'and not known of the project');
        is($r->call('GET', "$root:m"), 'planted', 'which is left alone');
    };

    subtest "$kind: in flight, without anything being done" => sub {
        build(vt => 30, mrc => 9);
        send_(10);
        is(page()->{of}{q}{counts}, '10 0 0', 'visible');
        receive(4);
        receive(1);
        receive(2);
        is(page()->{of}{q}{counts}, '3 7 0', 'in flight');
        is(page()->{of}{q}{kind}, $fifo ? 'fifo' : 'standard', 'kind');
        soon($q, key('b', $q, 1));
        like(page()->{of}{q}{counts}, qr/^[5-8] [2-5] 0$/, 'a batch has ended: about');
        soon($q, key('b', $q, 1), $_) for @{ $r->call('ZRANGE', key('b', $q, 1), 0, -1) };
        soon($q, key('f', $q, 1), $_) for @{ $r->call('ZRANGE', key('f', $q, 1), 0, -1) };
        is(page()->{of}{q}{counts}, '10 0 0', 'all have: exactly');
        is($r->call('HGET', key('h', $q), 'nb'), $fifo ? 7 : 6, 'nobody has touched them');
    };

    subtest "$kind: of the version before" => sub {
        build(vt => 30);
        send_(4);
        $r->call('HDEL', key('h', $q), 'in');
        is(totals(), '4 0 0 0 0', 'what is there came in');
        send_(1);
        is(totals(), '5 0 0 0 0', 'and what comes');
        done_(receive(2));
        is(totals(), '5 2 0 0 0', 'acknowledged');
        $r->call('HSET', key('h', $q), 'ex', 9);
        is(totals(), '5 0 9 0 0', 'nothing is less than none');
    };
}

# Pub/Sub

for my $ordered ('', 'o') {
    my $name = 'gcp.sub.s';

    my $start = sub {
        fresh();
        topic('t');
        topic('dl');
        return subscribe('s', 't', mrc => 1, flags => $ordered, @_);
    };

    for my $dlq ('dl', '-') {
        subtest "a subscription$ordered: dead letters to $dlq" => sub {
            my $s = $start->(dlq => $dlq);
            publish('t', [ 'a', key => 'k' ], 'b', 'c');
            my (undef, @m) = pull('s', 3);
            acks('s', $m[2]);
            modify('s', 0, @m[0, 1]);
            pull('s', 3);
            tend();
            is(totals($name), $dlq eq '-' ? '3 1 0 0 2' : '3 1 0 2 0', 'counted');
            is(page()->{losses}, $dlq eq '-' ? '0 0 2' : '0 2 0', 'of the project');
            is(page()->{of}{$name}{kind}, $ordered ? 'fifo' : 'standard', 'kind');
            sound('all is well');
            f('sub_seek', 's', 't', 1);
            is(totals($name), '0 0 0 0 0', 'a seek begins anew');
            publish('t', 'd');
            tend();
            pull('s', 1);
            is(totals($name), '1 0 0 0 0', 'with what comes');
            f('sub_delete', 's');
            is(page()->{losses}, $dlq eq '-' ? '0 0 2' : '0 2 0', 'which the project keeps');
            sound('all is well');
        };
    }

    subtest "a subscription$ordered: expired" => sub {
        my $s = $start->(ret => 600);
        publish('t', 'a', 'b');
        pull('s', 1);
        my @s = split /:/, hot($s, 's'), -1;
        $s[11] = 0;
        $r->call('HSET', key('h', $s), 's', join(':', @s), 'hx', 0, 't', 0);
        $r->call('ZADD', "$root:t", 0, $s);
        tend();
        is(totals($name), '2 0 2 0 0', 'counted');
        is(page()->{losses}, '2 0 0', 'of the project');
    };

    subtest "a subscription$ordered: a seek brings messages back" => sub {
        my $s = $start->();
        publish('t', map { "m$_" } 1 .. 5);
        my ($h, @m) = pull('s', 2);
        f('snap_create', 'n00000000001', 'snap', 's', '');
        acks('s', @m);
        is(totals($name), '5 2 0 0 0', 'acknowledged');
        f('sub_seek', 's', 's', 'snap');
        tend();
        is(totals($name), '5 0 0 0 0', 'all came in again');
        sound('all is well');
    };
}

# the oldest message

subtest 'ages' => sub {
    fresh();
    my $s = create('s');
    my $f = create('f', kind => 'fifo');
    is(page()->{of}{$_}{oldest}, -1, "$_: none") for qw(s f);
    put($s, '', 'a');
    put_fifo($f, 'g', 'a');
    elapse(600);
    put($s, '', 'b');
    put($s, 60, 'c');
    put_fifo($f, 'g', 'b');
    like(page()->{of}{$_}{oldest}, qr/^60[01]$/, "$_: the first one's") for qw(s f);

    ack($s, 1, (take($s, 1))[1][0], token());
    ack($f, 1, (take_fifo($f, 1))[1]{id}, token());
    like(page()->{of}{$_}{oldest}, qr/^[01]$/, "$_: the next one's") for qw(s f);
    cmp_ok($r->call('ZSCORE', key('x', $f, 1), 'g'), '>', time * 1000 - 60_000,
           'what is known of its group is right from then on');
    ack($s, 1, (take($s, 1))[1][0], token());
    like(page()->{of}{s}{oldest}, qr/^[01]$/, 's: a delayed one is there too');

    # a group of which a message is in flight by itself
    my (undef, $m) = take_fifo($f, 1);
    visibility($f, 1, $m->{id}, token(), 0);
    elapse(300);
    take_fifo($f, 1);
    like(page()->{of}{f}{oldest}, qr/^30[01]$/, 'f: one that was received');
    sound('all is well');
};

subtest 'ages of many groups that were all looked at long ago' => sub {
    fresh();
    my $f = create('f', kind => 'fifo');
    put_fifo($f, "g$_", 'old') for 1 .. 35;
    elapse(3600);
    put_fifo($f, "g$_", 'new') for 1 .. 35;
    my (undef, @m) = take_fifo($f, 35);
    ack(map { ($f, 1, $_->{id}, token()) } grep { $_->{group} ne 'g35' && $_->{seq} == 1 } @m);
    f('undo', $f, 1, token(), map { $_->{id} } grep { $_->{group} eq 'g35' || $_->{seq} > 1 } @m);
    my @ages;

    for (1 .. 6) {
        my $age = page()->{of}{f}{oldest};
        push @ages, $age;
        last if $age >= 3600;
    }

    like($ages[-1], qr/^360[01]$/, 'the oldest is found in some calls');
    is(scalar(grep { $_ > 3601 } @ages), 0, 'and no age is told that no message has');
    cmp_ok(scalar @ages, '>', 1, 'as each of them looks at a few groups only');
    sound('all is well');
};

# pages

subtest 'pages of queues' => sub {
    fresh();
    is_deeply(page(), { next => '', all => 0, losses => '0 0 0', nothing => 1, names => [] }, 'nothing');
    create(sprintf 'q%03d', $_) for 1 .. 120;
    topic('t');
    subscribed(sprintf('s%02d', $_), 't') for 1 .. 60;

    my @want = ((map { sprintf 'q%03d', $_ } 1 .. 120), map { sprintf 'gcp.sub.s%02d', $_ } 1 .. 60);

    for my $limit (1, 7, 50, 60, 1000) {
        my ($cursor, @names, @sizes) = '';

        do {
            my $page = page($cursor, $limit);
            push @names, @{ $page->{names} };
            push @sizes, scalar @{ $page->{names} };
            $cursor = $page->{next};
            is($page->{all}, 180, 'all of them') if $page->{all} != 180;
        } while $cursor ne '' && @sizes < 200;

        is("@names", "@want", "each once, in order: $limit a page");
        is(scalar(grep { $_ > 50 } @sizes), 0, 'no more than 50');
    }

    my $page = page('', 0);
    is("@$page{qw(next all nothing)} @{ $page->{names} }", ' 180 0 ', 'none are asked for');
    like(f('metrics_queues', 'x', 1), qr/^QUEUES ARGUMENT/, 'another cursor');
    like(f('metrics_queues', '', 'x'), qr/^QUEUES ARGUMENT/, 'no number');
};

subtest 'a page of exactly all' => sub {
    fresh();
    create("q$_") for 1 .. 5;
    is(page('', 5)->{next}, '', 'queues only');
    topic('t');
    subscribed('s', 't');
    my $page = page('', 5);
    isnt($page->{next}, '', 'a subscription follows');
    is("@{ page($page->{next}, 5)->{names} }", 'gcp.sub.s', 'on the next page');
    is(page($page->{next}, 1)->{next}, '', 'which is the last');
};

subtest 'large bodies' => sub {
    fresh();
    my @q = map { create("q$_", max => 1048576) } 1 .. 9;
    put($_, '', 'x' x 600_000) for @q;
    my ($cursor, @names, @sizes) = '';

    do {
        my $page = page($cursor);
        push @names, @{ $page->{names} };
        push @sizes, scalar @{ $page->{names} };
        $cursor = $page->{next};
    } while $cursor ne '';

    is("@names", "@{[ map { qq(q$_) } 1 .. 9 ]}", 'each once');
    cmp_ok(scalar @sizes, '>', 3, 'a page ends after 2 MiB of them');
};

subtest 'a queue that cannot be looked at' => sub {
    fresh();
    my %q = map { $_ => create($_, kind => /f/ ? 'fifo' : 'standard') } qw(a f1 f2 m y);
    put($q{$_}, '', 'x') for qw(a m y);
    put_fifo($q{$_}, 'g', 'x') for qw(f1 f2);

    for (key('m', $q{m}, 1), key('y', $q{y}, 1), key('u', $q{f1}, 1), key('h', $q{f2})) {
        $r->call('DEL', $_);
        $r->call('SET', $_, 'planted');
    }

    my $page = page();
    is("@{ $page->{names} }", 'a', 'is left out');
    is("$page->{all} '$page->{next}'", "5 ''", 'and counted');
    $r->call('DEL', "$root:l");
    $r->call('SET', "$root:l", 'planted');
    is(ref f('metrics_queues', '', 50), 'NgxQueues::Redis::Error', 'nor can the list be');
};

# what there is, so that a project is not forgotten

subtest 'nothing' => sub {
    for my $make (sub { create('q') }, sub { topic('t') },
                  sub { f('log_configure', 'l', 'q00000000001', uuid(1), '', '', '', 60, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0) })
    {
        fresh();
        is(page()->{nothing}, 1, 'nothing');
        my $reply = $make->();
        is(page()->{nothing}, 0, 'something') or diag(explain($reply));
        is(f('metrics_forget'), 0, 'which is not to be forgotten');
    }

    fresh();
    $r->call('HSET', "$root:m", 'ex', 7);
    is(page()->{losses}, '7 0 0', 'what was counted is there');
    is(f('metrics_forget'), 1, 'till the project is forgotten');
    is($r->call('EXISTS', "$root:m"), 0, 'then not');
};

# projects

subtest 'projects that are known' => sub {
    fresh();
    is_deeply(kept('list', '', 100), [ '' ], 'none');
    my @roots = map { sprintf 'ngxq:{o/p%03d}', $_ } 1 .. 250;
    is(kept('note', @roots[100 .. 249]), 150, 'new ones');
    is(kept('note', @roots[0 .. 120]), 100, 'noted once');
    is(kept('note', @roots[0 .. 120]), 0, 'and again');

    for my $limit (1, 100, 1000) {
        my ($cursor, $n, @all) = ('', 0);

        do {
            my ($next, @some) = @{ kept('list', $cursor, $limit) };
            push @all, @some;
            $n++;
            $cursor = $next;
        } while $cursor ne '' && $n < 300;

        is("@all", "@roots", "each once, in order: $limit a page");
        is($n, $limit == 1 ? 250 : 3, 'pages') ;
    }

    like(kept('note'), qr/^QUEUES ARGUMENT/, 'none');
    like(kept('note', ('x') x 201), qr/^QUEUES ARGUMENT/, 'too many');
    like(kept('list', ''), qr/^QUEUES ARGUMENT/, 'no limit');
    like(kept('forget'), qr/^QUEUES ARGUMENT/, 'no root');
};

subtest 'projects that are forgotten' => sub {
    fresh();
    my ($p, $other) = ('ngxq:{o/p}', 'ngxq:{o/q}');
    my $ago = sub { $r->call('ZADD', $empty, 'XX', (time - $_[0]) * 1000, $p) };
    my $list = sub { join ' ', @{ kept('list', '', 100) } };

    kept('note', $p, $other);
    is(kept('forget', $p), 0, 'not when it is found with nothing');
    is(kept('forget', $p), 0, 'nor soon after');
    $ago->(890);
    is(kept('forget', $p), 0, 'nor before a quarter of an hour');
    $ago->(901);
    kept('note', $p);
    is(kept('forget', $p), 0, 'nor where it was used since');
    is($list->(), " $p $other", 'both are there');
    $ago->(901);
    is(kept('forget', $p), 1, 'then it is');
    is($list->(), " $other", 'the other one is there');
    is($r->call('EXISTS', $empty), 0, 'and nothing else');
    kept('note', $p);
    is($list->(), " $p $other", 'it may come back');

    for my $key ($known, $empty) {
        fresh();
        kept('note', $p);
        kept('forget', $p);
        $ago->(901);
        my $other = $key eq $known ? $empty : $known;
        my @was = @{ $r->call('ZRANGE', $other, 0, -1, 'WITHSCORES') };
        $r->call('DEL', $key);
        $r->call('SET', $key, 'planted');
        is(ref kept($_, $p), 'NgxQueues::Redis::Error', "$key of another type: $_ fails") for qw(note forget);
        is("@{ $r->call('ZRANGE', $other, 0, -1, 'WITHSCORES') }", "@was", 'and has changed nothing');
    }
};

done_testing;
