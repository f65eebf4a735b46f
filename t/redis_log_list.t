#!/usr/bin/perl

# The functions of redis/*.lua: what there is of logs, and switches.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Logs;
use NgxQueues::Redis;

NgxQueues::Functions::start();

my $mode = '__QUEUE_MODE__';

# more, and rows of so many elements
sub rows {
    my ($n, @f) = @_;
    my ($more, @rest) = @{ f(@f) };
    my @rows;

    push @rows, [ splice @rest, 0, $n ] while @rest;
    return ($more, @rows);
}


subtest 'queues' => sub {
    is_deeply([ rows(12, 'log_queues', '', 10) ], [ 0 ], 'none');
    is_deeply([ rows(5, 'log_labels', 'N', '', 10) ], [ 0 ], 'and no label');
    is_deeply(f('log_overview', ''), [ '', (0) x 9 ], 'nothing to sum');

    my $made = log_configure('b', ns => 'n', task => 't', lease => 11, opt => '{"a":1}');
    log_push('a.t', 'p', 1 .. 3);
    log_push('a.t', 'q', 4);
    log_push('c', 'p', 1);
    my $now = now_ms();
    my $got = log_pop('a.t', lane => 'p', group => $mode, batch => 2);
    log_ack($got, 'dc', group => $mode);
    log_pop('a.t', group => 'g');

    my $get = f('log_get', 'b');
    ok(abs($get->[4] - $now) < 5000, 'when it was made');
    is_deeply([ @$get[0 .. 3, 5 .. 13] ],
              [ @$made, 'n', 't', '{"a":1}', (0) x 6,
                $r->call('HGET', lkey('lh', $made->[0]), 's'), '' ], 'a queue without anything');
    $get = f('log_get', 'a.t');
    is_deeply([ @$get[0, 2, 3, 5 .. 10, 13] ],
              [ log_q('a.t'), 'a', 't', '', 4, 4, 2, 2, 1, 3 ], 'one with something');
    ok(abs($get->[11] - $now) < 5000, 'its last push');
    like(f('log_get', 'none'), qr/^QUEUES NOQUEUE/, 'one that is not there');

    my ($more, @rows) = rows(12, 'log_queues', '', 10);
    is($more, 0, 'all');
    is_deeply([ map { join ',', @$_[0, 1, 3, 4, 6 .. 11] } @rows ],
              [ 'a.t,' . log_q('a.t') . ',a,t,4,4,2,2,1,3',
                "b,$made->[0],n,t,0,0,0,0,0,", 'c,' . log_q('c') . ',c,,1,1,1,0,0,' ],
              'in order');
    is($rows[1][2], $made->[1], 'UUID');
    is(join(' ', map { ref ? $_->[0] : $_ } rows(12, 'log_queues', '', 2)), '1 a.t b', 'a page');
    is(join(' ', map { ref ? $_->[0] : $_ } rows(12, 'log_queues', 'b', 2)), '0 c', 'the next');
    is(join(' ', map { ref ? $_->[0] : $_ } rows(12, 'log_queues', '', 1, 1)), '1 b', 'by an offset');

    is_deeply([ rows(5, 'log_labels', 'N', '', 10) ],
              [ 0, [ 'a', 1, 2, 4, 3 ], [ 'c', 1, 1, 1, 1 ], [ 'n', 1, 0, 0, 0 ] ], 'namespaces');
    is_deeply([ rows(5, 'log_labels', 'T', '', 10) ], [ 0, [ 't', 2, 2, 4, 3 ] ], 'tasks');
    is(join(' ', map { ref ? $_->[0] : $_ } rows(5, 'log_labels', 'N', 'a', 1)), '1 c', 'a page');
    is_deeply(f('log_overview', ''), [ '', 3, 3, 5, 5, 1, 4, 2, 3, 1 ], 'sums');
    like(f(@$_), qr/^QUEUES ARGUMENT/, "@$_") for
        [ 'log_get' ], [ 'log_queues', '' ], [ 'log_labels', 'X', '', 1 ], [ 'log_overview' ],
        [ 'log_lanes', 'a' ];
};


subtest 'lanes' => sub {
    my $q = log_q('a.t');
    my ($id, $now, $total, @rest) = @{ f('log_lanes', 'a.t', 0, 10) };
    is("$id $total", "$q 2", 'how many');
    ok(abs($now - now_ms()) < 5000, 'now');
    my @a = splice @rest, 0, 9;
    is(scalar @rest, 9, 'two of them');
    is_deeply([ @a[0, 1, 3, 4, 7, 8] ], [ 1, 'p', 1, 4, 1, '' ], 'one that was used');
    is_deeply([ @rest[0, 1, 3, 4, 7, 8] ], [ 2, 'q', 1, 2, '', '' ], 'one that was not');
    is("@a[2, 5]", "@a[6, 6]", 'moments');

    my $got = log_pop('a.t', lane => 'p', group => $mode, seconds => 20);
    @a = @{ f('log_lanes', 'a.t', 0, 1) };
    is(scalar @a, 12, 'a page');
    is($a[11], $got->{now} + 20_000, 'a lease');
    is((f('log_lanes', 'a.t', 1, 1))->[4], 'q', 'the next one');
    is(scalar @{ f('log_lanes', 'a.t', 2, 1) }, 3, 'the end');
    log_configure('a.t', ret => 10);
    log_elapse('a.t', 10_000);
    tend();
    @a = @{ f('log_lanes', 'a.t', 0, 1) };
    is_deeply([ @a[6, 7, 9] ], [ 4, 4, '' ], 'one without messages');
    like(f('log_lanes', 'none', 0, 1), qr/^QUEUES NOQUEUE/, 'no queue');
    log_sound('the keys are in order');
};


subtest 'many queues' => sub {
    f('log_push', pushes(map { [ sprintf('many.%04d', $_), 'p', 1 ] } 1 .. 1005));
    my $s = f('log_overview', '');
    is_deeply([ @$s[0 .. 2] ], [ 'many.0997', 1000, 1000 - 3 + 3 ], 'some');
    $s = f('log_overview', $s->[0]);
    is_deeply([ @$s[0 .. 4] ], [ '', 8, 8, 8, 8 ], 'the rest');
    my ($more, $row) = rows(5, 'log_labels', 'N', 'c', 10);
    is_deeply($row, [ 'many', 1005, 1000, 1000, 1000 ], 'those of a label, up to a thousand');
};


subtest 'switches' => sub {
    is_deeply(f('log_switch', '', ''), [ 0, 0 ], 'off');
    is_deeply(f('log_switch', 'pop', 1), [ 0, 1 ], 'pops');
    is(log_pop('c')->{next}, 1000, 'get nothing');
    is(ids(log_pop('c')), '', 'at all');
    is_deeply(f('log_switch', 'push', 1), [ 1, 1 ], 'pushes');
    is_deeply(f('log_switch', 'pop', 0), [ 1, 0 ], 'pops again');
    is(ids(log_pop('c')), '1', 'get something');
    is_deeply(f('log_switch', 'push', 0), [ 0, 0 ], 'off');
    is($r->call('EXISTS', "$root:lz"), 0, 'no key is left');
    like(f('log_switch', @$_), qr/^QUEUES ARGUMENT/, "not @$_")
        for [ 'pop', '' ], [ '', 1 ], [ 'x', 1 ], [ 'pop', 2 ], [];
    ok(abs(f('log_ping') - now_ms()) < 2000, 'ping');
    log_sound('the keys are in order');
};


subtest 'with the rights that the documents give' => sub {
    open my $file, '<', folder() . '/../docs/redis.md' or die "docs: $!\n";
    my ($acl) = do { local $/; <$file> } =~ /ACL SETUSER queues (.*?)\n```/s;
    my ($password) = $acl =~ />(\S+)/;

    is($r->call('ACL', 'SETUSER', 'queues', split ' ', $acl), 'OK', 'a user');

    my $admin = $r;
    my $user = NgxQueues::Redis->new(address());
    $user->call('AUTH', 'queues', $password);
    $r = $user;

    log_configure('l', ns => 'n', task => 't', ret => 10, cret => 5);
    log_configure('l', ns => 'n2', ret => 10, cret => 5);
    log_push('l', 'p', map { "$_-$_" } 1 .. 9) for 1 .. 40;
    log_ack(log_pop('l', batch => 1, group => $_), 'd', group => $_) for 'g', 'h';
    my $q = log_q('l');
    my @calls = ([ 'log_get', 'l' ], [ 'log_lanes', 'l', 0, 9 ], [ 'log_queues', '', 9 ],
                 [ 'log_labels', 'N', '', 9 ], [ 'log_labels', 'T', '', 9 ],
                 [ 'log_overview', '' ], [ 'log_groups', '', 9 ], [ 'log_group', 'g' ],
                 [ 'log_lagging', 0, 9 ], [ 'log_subscription', 'g', 1 ],
                 [ 'log_seek', 'g', 'l', 'p', 1 ], [ 'log_seek', 'g', 'l', '', 'end' ],
                 [ 'log_forget', 'h', '', 1, 1 ], [ 'log_dead', '', '', 0, 9 ],
                 [ 'log_dead', 'l', 'h', 0, 9 ], [ 'log_message', $q, 1, '1-1' ],
                 [ 'log_messages', 'l', '', '', '', 0, now_ms(), 0, 9 ],
                 [ 'log_messages', '', 'p', 'n2', '', 0, now_ms() - 1, 0, 9 ],
                 [ 'log_trace', $q, 1, '1-1', 'g', 'i', '1', 'id', 'n' ],
                 [ 'log_traces', $q, 1, '1-1' ], [ 'log_traces_named', 'n', 9, 0 ],
                 [ 'log_trace_names', 9, 0 ], [ 'log_retry_dead', $q, 1, '1-1', 'x' ],
                 [ 'log_delete_dead', $q, 1, '1-1' ], [ 'log_purge_dead', 'l', 'g' ],
                 [ 'log_purge_dead', 'l', '' ], [ 'log_switch', 'pop', 1 ],
                 [ 'log_switch', 'pop', 0 ], [ 'log_ping' ]);
    unlike(f(@$_), qr/NOPERM|ERR|QUEUES/, $_->[0]) for @calls;

    $r = $admin;
    log_elapse('l', 10_000);
    $r = $user;
    tend();
    is(log_hot('l', 'n'), 0, 'what is too old goes');
    is(f('log_delete', 'l'), 1, 'log_delete');
    $r = $admin;
    log_sound('the keys are in order');
};

done_testing();
