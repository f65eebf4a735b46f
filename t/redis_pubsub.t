#!/usr/bin/perl

# The functions of redis/*.lua for Pub/Sub: topics and subscriptions as resources.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Topics;

NgxQueues::Functions::start();

sub shown { my ($reply) = @_; ref $reply eq 'ARRAY' ? "@$reply" : "$reply" =~ s/^QUEUES \S+\K.*//r }


subtest 'topics' => sub {
    my @c = ('topic_create', 't-one-------', 'one', '"labels":{"a":"b"}', 600);

    is_deeply(f(@c), [ 't-one-------', 1, 'one', '"labels":{"a":"b"}' ], 'create');
    is(shown(f(@c)), 'QUEUES EXISTS', 'again');
    is(shown(f(@c[0, 1], 'other', '', '')), 'QUEUES IDTAKEN', 'the same id');
    is_deeply(f('topic_get', 'one'), [ 't-one-------', 1, 'one', $c[3] ], 'get');
    is(shown(f('topic_get', 'two')), 'QUEUES NOTOPIC', 'of none');
    is_deeply(f('topic_update', 'one', 1, '"x":1', ''), [ $c[1], 2, 'one', '"x":1' ],
              'update');
    is(shown(f('topic_update', 'one', 1, '', '')), 'QUEUES CHANGED', 'of before');
    is(shown(f('topic_update', 'two', 1, '', '')), 'QUEUES NOTOPIC', 'of none');
    sound('all is well');

    topic($_) for qw(zwei a-topic);
    is(join(' ', map { ref $_ ? $_->[0] . ':' . join ',', @$_[3, 7, 11] : $_ }
            f('topic_list', '', 10)), '0:a-topic,one,zwei', 'list');
    is(join(',', map { $_ // '' } @{ f('topic_list', '', 2) }[0, 3, 7]), '1,a-topic,one',
       'a page');
    is(join(',', map { $_ // '' } @{ f('topic_list', 'one', 2) }[0, 3]), '0,zwei',
       'the next');

    is(f('topic_delete', 'zwei'), 1, 'delete');
    is(shown(f('topic_delete', 'zwei')), 'QUEUES NOTOPIC', 'again');
    is(shown(f(@$_)), 'QUEUES ARGUMENT', "wrong: @$_")
        for ['topic_create'], ['topic_create', 'short', 'x', '', ''],
            ['topic_create', 'aa:aaaaaaaaa', 'x', '', ''],
            ['topic_create', 'aaaaaaaaaaaa', 'x', '', 'y'],
            ['topic_update', 'one', 2, ''], ['topic_update', 'one', 2, '', 'x'],
            ['topic_list', '', 'x'], ['topic_subs', 'one', '', 'x'],
            ['topic_publish', 'one'], ['topic_publish', 'one', '{}'],
            ['topic_publish', 'one', '{}', 'x'], ['topic_publish', 'one', '{}', '2:'];
    sound('all is well');
};


subtest 'subscriptions' => sub {
    $r->call('FLUSHALL');
    my $t = topic('t', ret => 86400);
    topic('dead');
    my @c = ('sub_create', 'q-one-------', 'one', 't', '"labels":{}', 20, 7200, 5,
             'dead', 1000, 600000, 'oe', filter([ h => 'k' ]), 86400, 'k-one-------',
             '', '');
    my @sub = ('q-one-------', 1, 'one', 't', '"labels":{}', 0, 86400, 0);

    is_deeply(f(@c), [ -1, @sub ], 'create');
    is(shown(f(@c)), 'QUEUES EXISTS', 'again');
    is(shown(f(@c[0, 1], 'two', @c[3 .. $#c])), 'QUEUES IDTAKEN', 'the same id');
    is(shown(f($c[0], 'q-two-------', 'two', 'none', @c[4 .. $#c])), 'QUEUES NOTOPIC',
       'of no topic');
    is(shown(f($c[0], 'q-two-------', 'two', @c[3 .. 7], 'none', @c[9 .. $#c])),
       'QUEUES NODLTOPIC', 'of no topic for dead letters');
    is_deeply(f('sub_get', 'one'), \@sub, 'get');
    is(shown(f('sub_get', 'none')), 'QUEUES NOSUB', 'of none');
    is(hot($c[1], 's'),
       "0:$c[1]:1:0-0:f0:5:dead:4096:0:20:0:86400:1000,600000,e:gcp.sub.one",
       'its queue');
    sound('all is well');

    my @u = ('sub_update', 'one', 1, '"x":1', 30, 172800, '', '', '', '', 'r', 0,
             'k-one-------', '', '');
    is_deeply(f(@u), [ -1, $sub[0], 2, 'one', 't', '"x":1', 0, 86400, 0 ], 'update');
    is(hot($c[1], 's'), "0:$c[1]:1:0-0:f0:0::4096:0:30:0:172800:,,r:gcp.sub.one",
       'its queue');
    is(shown(f(@u)), 'QUEUES CHANGED', 'of before');
    is(shown(f($u[0], 'none', @u[2 .. $#u])), 'QUEUES NOSUB', 'of none');
    is(shown(f(@u[0, 1], 2, @u[3 .. 6], 'none', @u[8 .. $#u])), 'QUEUES NODLTOPIC',
       'no topic for dead letters');
    sound('all is well');

    subscribe($_, 't') for qw(b a);
    is_deeply(f('topic_subs', 't', '', 2), [ 1, 'a', 'b' ], 'of a topic');
    is_deeply(f('topic_subs', 't', 'b', 2), [ 0, 'one' ], 'and the next');
    is(shown(f('topic_subs', 'none', '', 2)), 'QUEUES NOTOPIC', 'of none');
    is(join(',', @{ f('sub_list', '', 2) }[0, 3, 11]), '1,a,b', 'list');
    is(join(',', @{ f('sub_list', 'b', 2) }[0, 3]), '0,one', 'and the next');

    is(f('sub_delete', 'a'), -1, 'delete');
    is(shown(f('sub_delete', 'a')), 'QUEUES NOSUB', 'again');
    is_deeply(f('topic_subs', 't', '', 9), [ 0, 'b', 'one' ], 'the topic has it no more');
    is(f('topic_delete', 't'), 1, 'delete the topic');
    is(join('|', @{ f('sub_get', 'b') }[3, 6]), '|0', 'its subscription stays');
    is(shown(f('topic_subs', 't', '', 9)), 'QUEUES NOTOPIC', 'and it is gone');
    topic('t');
    is(f('sub_get', 'b')->[3], '', 'another one of the name is another one');
    is(f('sub_delete', 'b'), -1, 'delete it');
    sound('all is well');

    is(shown(f(@$_)), 'QUEUES ARGUMENT', "wrong: $$_[0]")
        for ['sub_create'], [@c[0 .. 10], 'y', @c[12 .. $#c]],
            ['sub_create', 'short', @c[2 .. $#c]],
            map({ [@c[0 .. 11], $_, @c[13 .. $#c]] } 'x', "h a\n"), [@c[0 .. 8], '', @c[10 .. $#c]],
            [@c[0 .. 4], 'x', @c[6 .. $#c]], [@c[0 .. 13], 'k', '', ''],
            [@u[0 .. 3], 'x', @u[5 .. $#u]], ['sub_update', 'one', 2],
            ['sub_list', '', 'x'], ['sub_pull', 'one', 1, 0], ['sub_pull', 'one', 1, 0, 'x'],
            ['sub_ack', 'one'], ['sub_ack', 'one', 'q', 1, 1], ['sub_modify', 'one', 601, 'q', 1, 1, '1-1'],
            ['sub_modify', 'one', -1, 'q', 1, 1, '1-1'], ['sub_modify', 'one', 'x', 'q', 1, 1, '1-1'];
    is(shown(f(@$_)), 'QUEUES NOSUB', "none: $$_[0]")
        for ['sub_pull', 'none', 1, 0, 1], ['sub_ack', 'none', 'q', 1, 1, 'x'],
            ['sub_modify', 'none', 0, 'q', 1, 1, 'x'], ['sub_detach', 'none'], ['sub_count', 'none'],
            ['sub_delete', 'none'];
};


subtest 'the Queues API does not find them' => sub {
    $r->call('FLUSHALL');
    topic('t');
    my $q = subscribe('s', 't', url => 'https://x/', x => 'x');
    my $k = $r->call('HGET', "$root:p", $q);

    publish('t', 'a');
    is(shown(f(@$_)), 'QUEUES NOQUEUE', "$$_[0] $$_[1]")
        for map({ my $ref = $_; map { [ $_, $ref, 9, 9, 9, 9 ] }
                                qw(queue_get queue_count queue_purge queue_delete receive peek) }
                "q$q", 'ngcp.sub.s', "u$q,,p", "u$q" . uuid(1)),
            [ 'send', "q$q", 9, 'b' ], [ 'subscription_list', "q$q", '', 9 ],
            [ 'subscription_create', "q$q", 'k-----------', uuid(2), 'u', 1, 1, 1, 'a', 's' ];
    is(shown(f('subscription_get', "q$k")), 'QUEUES NOSUB', 'its push part');
    is(shown(f('subscription_delete', "q$k")), 'QUEUES NOSUB', 'delete it');
    is_deeply(f('subscription_list', '', '', 9), [ 0 ], 'in no list');
    is_deeply(f('queue_list', '', '', 9), [ 0 ], 'nor the queue');

    subscribe('pull', 't');
    publish('t', 'b');
    my ($h, $m) = pull('pull', 1);
    is(f('ack', @$m{qw(q gen token handle)}), '0', 'ack');
    is(f('visibility', @$m{qw(q gen token)}, 0, $m->{handle}), '0', 'visibility');
    is(acks('pull', $m), '1', 'but its own');
    is(shown(f('queue_create', $q, uuid(1), 'gcp.sub.s', 'standard', 30, 0, 600, 0, 1024,
               0, '', 0)), 'QUEUES IDTAKEN', 'their ids are taken');
    sound('all is well');
};


subtest 'push' => sub {
    $r->call('FLUSHALL');
    topic('t');
    my $q = subscribe('s', 't');
    hints();
    my $reply = change('s', url => 'https://x/', x => "f\n", vt => 20);
    is("@$reply[0, 8]", '1 1', 'a push part');
    is(hints(), $q, 'who pulls learns of it');
    is(shown(pull('s')), 'QUEUES ISPUSH', 'and pulls no more');
    is_deeply([ @{ f('push_sync', 'w', 1) }[7 .. 16] ],
              [ $q, 1, 1, 'https://x/', 20, 1, 100, '', 1, "f\n" ], 'a job');
    my $k = $r->call('HGET', "$root:p", $q);

    publish('t', 'a', 'b');
    my $claim = f('push_claim', $k, 'w', 1, 1, 77);
    is("$claim->[0] $claim->[8]", '0 {"data":"a"}', 'a delivery');
    my ($id) = $claim->[7] =~ / (\S+)/;
    is(f('push_settle', $k, 'w', 1, 1, '', 77, $q, 1, '-x 0 m', 1, '', 700000, 1,
         $id)->[0], 1, 'it failed');
    ok(lease_ends($q) > 599_000 && lease_ends($q) <= 600_000, 'for 10 minutes at most');
    f('push_claim', $k, 'w', 1, 1, 78);

    $reply = change('s', url => 'https://y/', x => "f\n", vt => 20);
    is("@$reply[0, 8]", '-1 1', 'another endpoint');
    $claim = f('push_claim', $k, 'w', 1, 1, 79);
    is("@$claim[0, 6, 12]", "2 https://y/ f\n", 'is told');
    $reply = change('s', url => '', vt => 20);
    is("@$reply[0, 8]", '0 0', 'pull again');
    my ($h, @m) = pull('s');
    is(scalar @m, 0, 'what is in flight stays so');
    publish('t', 'c');
    ($h, @m) = pull('s');
    is(datas(@m), 'c', 'and the rest is pulled');
    sound('all is well');

    change('s', url => 'https://y/');
    hints();
    is(f('sub_delete', 's'), 0, 'delete');
    like(hints(), qr/\b$q\b/, 'is told');
    sound('all is well');

    subscribe('d', 't', url => 'https://x/', x => 'x');
    is(join(',', @{ f('sub_detach', 'd') }[0, 3, 4, 6, 8]), '0,d,t,1,0', 'detach');
    $reply = change('d', url => 'https://x/', x => 'x');
    is("@$reply[0, 6, 8]", '-1 1 0', 'a detached one is not pushed');
    sound('all is well');
};


subtest 'detach' => sub {
    $r->call('FLUSHALL');
    topic('t');
    my $q = subscribe('s', 't', flags => 'r');

    publish('t', 'a');
    my ($h, $m) = pull('s');
    hints();
    is(join(',', @{ f('sub_detach', 's') }), "-1,$q,2,s,t,,1,0,0", 'detach');
    is(hints(), $q, 'who waits learns of it');
    is(shown(pull('s')), 'QUEUES DETACHED', 'pull');
    is(acks('s', $m), '0', 'ack of before');
    publish('t', 'b');
    is($r->call('EXISTS', key('m', $q, 2)), 0, 'nothing comes to it');
    is_deeply(f('topic_subs', 't', '', 9), [ 0 ], 'nor is it of the topic');
    is(join(',', @{ f('sub_detach', 's') }[0, 2, 6]), '-1,2,1', 'again');
    sound('all is well');
    tend();
    f('topic_update', 't', 1, '', 9_000_000);
    sound('when all was looked after, too, and the topic is another one');
    f('sub_delete', 's');
    f('topic_delete', 't');
    is_deeply([ grep { !/:t$|:a$/ } @{ $r->call('KEYS', '*') } ], [], 'nothing is left');
};


done_testing;
