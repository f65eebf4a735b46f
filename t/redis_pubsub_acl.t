#!/usr/bin/perl

# The user of docs/redis.md may do all that Pub/Sub needs.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Process qw/slurp/;
use NgxQueues::Redis;
use NgxQueues::Topics;

NgxQueues::Functions::start();

my ($acl) = slurp("$FindBin::Bin/../docs/redis.md")
    =~ /^ACL (SETUSER queues .*?)^```/ms or die "no ACL in docs/redis.md\n";
my ($password) = $acl =~ / >(\S+)/;

is($r->call('ACL', split ' ', $acl), 'OK', 'the user of the page');

my $admin = $r;

sub as { my ($who, $code) = @_; $r = $who; my @got = $code->(); $r = $admin; return wantarray ? @got : $got[-1] }

my $user = NgxQueues::Redis->new(address());

is($user->call('AUTH', 'queues', $password), 'OK', 'as this user');

for my $o ('', 'o') {
    my $kind = $o ? 'FIFO' : 'standard';

    subtest $kind => sub {
        $r->call('FLUSHALL');
        as($user, sub {
            topic('t', ret => 3600);
            topic('dead');
            subscribe('s', 't', flags => "er$o", dlq => 'dead', mrc => 1, ttl => 86400,
                      filter => filter([ h => 'a' ]), min => 1000, max => 1000);
            subscribe('d', 'dead', flags => $o);
            subscribe('p', 't', flags => $o, url => 'https://x/', x => 'x');
            f('push_sync', 'w', 1);
        });

        my $q = f('sub_get', 's')->[0];
        my @m = as($user, sub { pull('s', 1, 1); publish('t', map { [ "m$_", a => 1, key => "k$_" ] } 1 .. 150); pull('s', 9) });
        is(scalar @m, 10, 'publish and pull');
        is(join(',', as($user, sub { acks('s', @m[1, 2]), modify('s', 0, $m[3]), modify('s', 9, $m[4]) })),
           '11,1,1', 'ack and modify');
        is(as($user, sub { datas(pull('d')) }), $m[3]{data}, 'a dead letter');
        my ($snap) = as($user, sub { f('snap_create', 'nnnnnnnnnnnn', 'n', 's', '') });
        is(ref $snap, 'ARRAY', 'snapshot') or diag($snap);
        is(as($user, sub { f('sub_seek', 's', 't', 1) }), 1, 'seek to a time');
        is(as($user, sub { tend() =~ /^1 \d+$/ }), 1, 'look after all');
        is($r->call('HGET', "$root:gq:$q", 'src'), '', 'all is back');
        is(as($user, sub { f('sub_seek', 's', 's', 'n') }), 1, 'seek to a snapshot');
        is(as($user, sub { tend() =~ /^1 \d+$/ }), 1, 'look after all');
        sound('all is well');

        my @replies = as($user, sub {
            (change('s', url => 'https://y/', x => 'x'), f('sub_detach', 'p'), f('sub_count', 's'), f('sub_list', '', 9),
             f('topic_update', 't', 1, '', ''), f('snap_update', 'n', 1, ''), f('snap_delete', 'n'),
             f('sub_delete', 's'), f('topic_delete', 't'));
        });
        is_deeply([ grep { ref eq 'NgxQueues::Redis::Error' } @replies ], [], 'the rest');
        sound('all is well');
    };
}

done_testing;
