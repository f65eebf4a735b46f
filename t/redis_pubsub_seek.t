#!/usr/bin/perl

# The functions of redis/*.lua for Pub/Sub: seek, logs of topics, snapshots.

use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes qw(sleep time);

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Topics;

NgxQueues::Functions::start();

my $fifo;

sub shown { my ($reply) = @_; ref $reply eq 'ARRAY' ? "@$reply" : "$reply" =~ s/^QUEUES \S+\K.*//r }
sub new { my ($name, %o) = @_; subscribe($name, 't', %o, flags => ($o{flags} // '') . ($fifo ? 'o' : '')) }
sub seek_ { f('sub_seek', @_) }
sub ms { $_[0] =~ /^(\d+)/ ? $1 : die }
sub src { $r->call('HGET', "$root:gq:$_[0]", 'src') }

# all there is to pull, in order of ids; those of a key have to be in order; ack: each
# is acknowledged, as else a FIFO queue does not go on with its key

sub all {
    my ($name, $max, $ack) = @_;
    my (@all, %last);

    for (1 .. 10_000) {
        my ($h, @m) = pull($name, $max // 100);
        die "$h" unless ref $h eq 'ARRAY';
        for my $m (@m) {
            my ($key) = $m->{body} =~ /"orderingKey":"([^"]*)"/ or next;
            fail("$key: $m->{id} after $last{$key}{id}")
                if $fifo && $last{$key} && !later($m, $last{$key});
            $last{$key} = $m;
        }
        push @all, @m;
        acks($name, @m) if $ack && @m;
        last if !@m && $h->[4] != 1;
    }

    @all = sort { later($a, $b) ? 1 : -1 } @all;

    return @all;
}

sub later {
    my ($a, $b) = map { [ split /-/, $_->{id} ] } @_;
    return $a->[0] > $b->[0] || $a->[0] == $b->[0] && $a->[1] > $b->[1];
}

# publishes messages in ms of their own, each with a key

my $n = 0;

sub post {
    my ($topic, @data) = @_;
    my @ids;

    for (@data) {
        push @ids, publish($topic, [ $_, key => 'k' . ++$n ]);
        sleep 0.0015;
    }

    return @ids;
}

sub names { join ' ', map { $_->{data} } @_ }
sub nothing_left { my ($name) = @_; is_deeply([ grep { !/:(?:t|a|i:.*|c:.*)$/ } @{ $r->call('KEYS', '*') } ], [], $name) }

for (0, 1) {
    $fifo = $_;
    my $kind = $fifo ? 'FIFO' : 'standard';

    subtest "$kind: to a time, without a log" => sub {
        $r->call('FLUSHALL');
        topic('t');
        my $q = new('s');
        my @ids = post('t', 'a' .. 'f');
        my ($h, @m) = pull('s', 6);
        my %m = map { $_->{data} => $_ } @m;
        acks('s', @m{qw(b e)});
        modify('s', 0, $m{d});

        is(seek_('s', 't', ms($ids[2])), 1, 'seek');
        is(part($q, 2), 2, 'a new generation');
        is(acks('s', @m), '000000', 'deliveries are over');
        is(names(my @c = all('s')), 'c d f', 'what was not acknowledged, and not before');
        is(join(',', map { $_->{count} } @c), '1,1,1', 'as if it were new');
        is(ids_of(@c), "@ids[2, 3, 5]", 'the same ids');
        sound('all is well');

        post('t', 'g');
        is(names(all('s')), 'g', 'and goes on');
        is(seek_('s', 't', 1), 1, 'to before all');
        is(names(all('s')), 'c d f g', 'all there is');
        is(seek_('s', 't', int(time * 1000) + 60_000), 1, 'to a time that is to come');
        is(names(all('s')), '', 'nothing is left');
        post('t', 'h');
        is(names(all('s')), 'h', 'what is published later comes');
        sound('all is well');
        $r->call('HSET', "$root:gt:" . $r->call('HGET', "$root:gt", 't'), 'last', (int(time * 1000) + 60_000) . '-0');
        seek_('s', 't', int(time * 1000) + 50_000);
        post('t', 'j');
        is(names(all('s')), 'j', 'what is published after it comes');
        sound('all is well');
        f('sub_delete', 's');
        f('topic_delete', 't');
        nothing_left('nothing is left');
    };

    subtest "$kind: to a time, with the topic's log" => sub {
        $r->call('FLUSHALL');
        my $t = topic('t');
        my $q = new('s');
        new('z');
        post('t', 'x', 'y');
        is(datas(pull('s', 1)) ne '', 1, 'received');
        f('topic_update', 't', 1, '', 3600);
        sleep 0.005;
        my @ids = post('t', 'a' .. 'e');
        my ($h, @m) = pull('s');
        my @most = grep { $_->{data} =~ /[a-e]/ } @m;
        is(acks('s', @most), '11111', 'all are acknowledged');
        acks('z', grep { ref eq 'HASH' && $_->{data} =~ /[a-e]/ } pull('z'));
        is(seek_('s', 't', ms($ids[1])), 1, 'seek');
        is(names(all('s')), 'b c d e', 'they come again');
        sound('all is well');
        seek_('s', 't', 1);
        is(names(all('s')), 'a b c d e', 'all the log has');
        seek_('z', 't', 1);
        is(names(all('z')), 'x y a b c d e', 'what is not acknowledged, and the log');
        sound('all is well');

        new('later', filter => filter([ h => 'k' ]));
        publish('t', [ 'f', k => 1, key => 'k0' ]);
        publish('t', [ 'g', l => 1, key => 'k0' ]);
        all($_) for qw(s later);
        seek_('later', 't', 1);
        is(names(all('later')), 'f', 'the filter holds');
        sound('all is well');

        f('topic_update', 't', 2, '', '');
        is($r->call('EXISTS', "$root:gg:$t"), 0, 'no log any more');
        sound('all is well');
    };

    subtest "$kind: to a time, with a subscription's own" => sub {
        $r->call('FLUSHALL');
        my $t = topic('t');
        post('t', 'w');
        new('else', flags => 'r', ret => 86400);
        post('t', 'x');
        my $q = new('s', flags => 'r');
        new('not');
        sleep 0.005;
        my @ids = post('t', 'a' .. 'c');
        acks($_, (pull($_))[1 .. 3]) for qw(s not);
        seek_($_, 't', 1) for qw(s not);
        is(names(all('s')), 'a b c', 'what it has acknowledged');
        is(names(all('not')), '', 'not of another one');
        is($r->call('HGET', "$root:gt:$t", 'log'), 604800_000, 'as long as the longest');
        change('s', flags => $fifo ? 'o' : '');
        is($r->call('HGET', "$root:gt:$t", 'log'), 86400_000, 'as others want it');
        f('sub_detach', 'else');
        is($r->call('EXISTS', "$root:gg:$t"), 0, 'till none does');
        sound('all is well');
    };

    subtest "$kind: in steps" => sub {
        $r->call('FLUSHALL');
        topic('t', ret => 3600);
        my $q = new('s');
        new('w');
        publish('t', map { [ "m$_", key => 'k' . $_ % 7 ] } 1 .. 350);
        is(scalar(all('s', 50, 1)), 350, 'all');
        seek_('s', 't', 1);
        is(scalar(split /\n/, src($q)), 2, 'not all is back');
        acks('s', grep { ref eq 'HASH' } pull('s', 100));
        publish('t', map { [ "n$_", key => 'k' . $_ % 7 ] } 1 .. 60);
        sound('all is well');
        my $rest = () = all('s', 50, 1);
        is($rest, 310, 'what is published meanwhile comes behind them');
        is(src($q), '', 'done');
        sound('all is well');

        is(seek_('s', 't', 1), 1, 'again');
        is(seek_('s', 't', 1), 1, 'and again');
        my ($h, @m) = pull('s', 1, 1);
        is(acks('s', @m), '1', 'pull');
        tend();
        is(src($q), '', 'who looks after the project brings the rest back');
        is(scalar(all('s', 100, 1)), 409, 'all of it');
        sound('all is well');

        seek_('s', 't', 1);
        f('topic_update', 't', 1, '', '');
        publish('t', 'after');
        is(scalar(all('s', 100, 1)), 411, 'the log is there till all is back');
        is(f('topic_get', 't')->[1], 2, 'the topic');
        sound('all is well');

        f('topic_update', 't', 2, '', 600);
        seek_('w', 't', 1);
        seek_('w', 't', 1) for 1 .. 3;
        is(scalar(all('w', 90, 1)), 411, 'many times');
        sound('all is well');

        publish('t', map { [ "o$_", key => 'k' . $_ % 7 ] } 1 .. 250);
        f('topic_update', 't', 3, '', '');
        pull('w', 110);
        seek_('w', 't', 1);
        publish('t', 'p');
        is(scalar(split /\n/, src(f('sub_get', 'w')->[0])), 2, 'without a log');
        seek_('w', 't', 1);
        publish('t', 'q');
        is(scalar(split /\n/, src(f('sub_get', 'w')->[0])), 4, 'and once more') or diag(src(f('sub_get', 'w')->[0]));
        sound('all is well');
        is(scalar(all('w', 100, 1)), 252, 'all');
        sound('all is well');
        seek_('w', 't', 1);
        f('sub_delete', $_) for qw(s w);
        f('topic_delete', 't');
        nothing_left('nothing is left');
    };

    subtest "$kind: many seeks" => sub {
        $r->call('FLUSHALL');
        topic('t');
        my $q = new('s');
        publish('t', map { [ "m$_", key => "k" . $_ % 300 ] } 1 .. 1000) for 1 .. 3;
        my $reply;

        for my $n (1 .. 60) {
            $reply = seek_('s', 't', 1);
            publish('t', [ "n$n", key => "k$n" ]);
        }

        is(shown($reply), 'QUEUES TOOMANY', 'not more than there may be');
        cmp_ok(scalar(split /\n/, src($q)), '<=', 102, 'lines');
        is(shown(f('snap_create', 'n-----------', 'n', 's', '')), 'QUEUES SEEKING', 'no snapshot yet');
        sound('all is well');
        is(scalar(all('s', 1000, 1)), 3060, 'all is there');
        is(src($q), '', 'done');
        sound('all is well');
    };

    subtest "$kind: push" => sub {
        $r->call('FLUSHALL');
        topic('t', ret => 3600);
        my $q = new('s', url => 'https://x/', x => 'x');
        my $k = $r->call('HGET', "$root:p", $q);
        f('push_sync', 'w', 1);
        publish('t', map { [ "m$_", key => "k$_" ] } 1 .. 250);
        seek_('s', 't', 1);
        my %got;

        for my $n (1 .. 500) {
            my $c = f('push_claim', $k, 'w', 1, 1, 900 + $n);
            last if $c->[6] == -1 && !$c->[8];
            my ($data) = $c->[-1] =~ /"data":"(\w+)"/ or next;
            my ($id) = $c->[7] =~ / ([^ :]+(?::\d+)?)/;
            $got{$data}++;
            f('push_settle', $k, 'w', 1, 1, '', 900 + $n, $c->[3], $c->[4], '+', '', $id);
        }

        is(scalar(keys %got), 250, 'claims bring back');
        is(src($q), '', 'all of it');
        sound('all is well');
    };

    subtest "$kind: snapshots" => sub {
        $r->call('FLUSHALL');
        my $t = topic('t');
        my $q = new('s');
        new('other', filter => filter([ e => 'a', '1' ]));
        my @ids = post('t', 'a' .. 'd');
        my ($h, @m) = pull('s');
        my %m = map { $_->{data} => $_ } @m;
        acks('s', $m{b});
        modify('s', 0, $m{c});
        my $snap = f('snap_create', 'n-----------', 'snap', 's', '"labels":{}');
        is_deeply([ @$snap[0 .. 3, 5] ], [ 'n-----------', 1, 'snap', 't', '"labels":{}' ], 'create');
        cmp_ok(abs($snap->[4] - ms($ids[0]) - 604800_000), '<', 30_000, 'when it expires');
        is(shown(f('snap_create', 'n-----------', 'snap', 's', '')), 'QUEUES EXISTS', 'again');
        is(shown(f('snap_create', 'n-----------', 'two', 's', '')), 'QUEUES IDTAKEN', 'same id');
        is(shown(f('snap_create', 'm-----------', 'two', 'x', '')), 'QUEUES NOSUB', 'of none');
        is(shown(f('snap_create', 'm', 'two', 's', '')), 'QUEUES ARGUMENT', 'wrong');
        is_deeply(f('topic_snaps', 't', '', 9), [ 0, 'snap' ], 'of the topic');
        sound('all is well');

        publish('t', [ 'e', a => 1, key => 'k1' ]);
        acks('s', all('s'), values %m);
        is(seek_('s', 's', 'snap'), 1, 'seek');
        is(names(all('s')), 'a c d e', 'what it had not acknowledged, and what came then');
        is(seek_('s', 's', 'snap'), 1, 'again');
        post('t', 'f');
        is(names(all('s')), 'a c d e f', 'and goes on');
        is(seek_('other', 's', 'snap'), 1, 'another subscription');
        is(names(all('other')), 'e', 'its filter holds');
        sound('all is well');

        is(shown(seek_('s', 's', 'none')), 'QUEUES NOSNAP', 'to none');
        topic('t2');
        subscribe('s2', 't2', flags => $fifo ? 'o' : '');
        is(shown(seek_('s2', 's', 'snap')), 'QUEUES OTHERTOPIC', 'of another topic');
        my $std = subscribe('std', 't');
        is(shown(seek_('std', 's', 'snap')), $fifo ? 'QUEUES OTHERTOPIC' : 1,
           'one without order');

        is_deeply(f('snap_get', 'snap'), $snap, 'get');
        is_deeply([ @{ f('snap_update', 'snap', 1, '"x":1') }[1, 5] ], [ 2, '"x":1' ], 'update');
        is(shown(f('snap_update', 'snap', 1, '')), 'QUEUES CHANGED', 'of before');
        is(shown(f("snap_$_", 'none', 1, '')), 'QUEUES NOSNAP', "$_ of none") for qw(get update delete);
        f('snap_create', 'o-----------', 'a', 'other', '');
        is(join(',', @{ f('snap_list', '', 1) }[0, 3]), '1,a', 'list');
        is(join(',', @{ f('snap_list', 'a', 1) }[0, 3]), '0,snap', 'the next');
        sound('all is well');

        publish('t', map { [ "m$_", key => 'k' . $_ % 5, a => 1 ] } 1 .. 250);
        all('s', 100, 1);
        seek_('s', 's', 'snap');
        is(f('snap_delete', 'snap'), 1, 'delete it while a seek reads it');
        sound('all is well');
        is(scalar(all('s', 100, 1)), 255, 'that is not disturbed');
        is(shown(seek_('s', 's', 'snap')), 'QUEUES NOSNAP', 'and it is gone');
        is_deeply([ grep { /n-----/ } @{ $r->call('KEYS', '*') } ], [], 'all of it');
        sound('all is well');

        seek_('other', 't', 1);
        f('snap_create', 'p-----------', 'p', 'other', '');
        is(shown(f('snap_create', 'q-----------', 'old', 's', '')) =~ /^q-/, 1, 'one more');
        $r->call('HSET', "$root:gn:$_", 'expire', 1), $r->call('ZADD', "$root:t", 1, "n:$_")
            for qw(q----------- p-----------);
        tend();
        is_deeply([ @{ f('snap_list', '', 9) }[0, 3] ], [ 0, 'a' ], 'they expire');
        sound('all is well');

        f('topic_delete', 't');
        is(f('snap_get', 'a')->[3], '', 'of a topic that is gone');
        is(seek_('other', 's', 'a'), 1, 'seek to it');
        sound('all is well');
        f('sub_detach', 'other');
        is(shown(seek_('other', 's', 'a')), 'QUEUES DETACHED', 'one that is detached');
        is(shown(f('snap_create', 'r-----------', 'r', 'other', '')), 'QUEUES DETACHED', 'likewise');
        f('snap_delete', 'a');
        f('sub_delete', $_) for qw(s other s2 std);
        f('topic_delete', 't2');
        nothing_left('nothing is left');
    };
}


subtest 'limits' => sub {
    $fifo = 0;
    $r->call('FLUSHALL');
    my $t = topic('t', ret => 600);
    my $q = subscribe('s', 't', ret => 604800 * 2);
    $r->call('XADD', key('m', $q, 1), (int(time * 1000) - 604800_000 + 1800_000) . '-0', 'b', '{"data":"a"}');
    is(shown(f('snap_create', 'n-----------', 'n', 's', '')), 'QUEUES TOOOLD', 'too old');
    is(shown(f('sub_seek', @$_)), 'QUEUES ARGUMENT', "wrong: @$_") for [ 's' ], [ 's', 't', 'x' ], [ 's', 'x', 1 ];
    is(shown(f('sub_seek', 'none', 't', 1)), 'QUEUES NOSUB', 'of none');
    $r->call('DEL', key('m', $q, 1));
    publish('t', 'A' x 4_000_000) for 1 .. 65;
    is(shown(f('snap_create', 'n-----------', 'n', 's', '')), 'QUEUES TOOBIG', 'too big');
    $r->call('FLUSHALL');
    $t = topic('t', ret => 600);
    $q = subscribe('s', 't', ret => 604800 * 2);

    my $now = int(time * 1000);
    $r->call('XADD', "$root:gg:$t", ($now - 700_000 + $_) . '-0', 'b', qq({"data":"old$_"})) for 1 .. 300;
    publish('t', 'new');
    $r->call('ZADD', "$root:t", 1, "g:$t");
    tend();
    is($r->call('XLEN', "$root:gg:$t"), 1, 'a log is trimmed');
    ok($r->call('ZSCORE', "$root:t", "g:$t") > $now + 590_000, 'and looked at when there is more');

    $r->call('HSET', "$root:gt:$t", 'since', 1);
    all('s');
    seek_('s', 't', 1);
    is(names(all('s')), 'new', 'from its beginning');

    change('s', ret => 1);
    f('topic_update', 't', 1, '', 86400);
    publish('t', 'old');
    sleep 1.05;
    tend();
    f('topic_update', 't', 2, '', '');
    is(names(all('s')), '', 'what is too old is gone when the topic keeps it no more');
    change('s', ret => 600);
    f('topic_update', 't', 3, '', 86400);
    is(part($q, 11), 86400, 'a subscription keeps what its topic does');
    f('topic_update', 't', 4, '', '');
    is(part($q, 11), 600, 'or what it wants itself');
    f('topic_update', 't', 5, '', 86400);
    f('topic_delete', 't');
    is(part($q, 11), 600, 'also where it is gone');
    sound('all is well');

    # by a clock that is behind, a log has nothing of before it
    $r->call('FLUSHALL');
    $t = topic('t');
    $now = int(time * 1000) + 60_000;
    $r->call('HSET', "$root:gt:$t", 'last', "$now-7");
    f('topic_update', 't', 1, '', 600);
    is(join(' ', publish('t', 'a')), $now + 1 . '-0', 'which begins in a moment of its own');
    is($r->call('HGET', "$root:gt:$t", 'since'), $now + 1, 'that is noted');
};


done_testing;
