#!/usr/bin/perl

# The functions of redis/*.lua on logs where another program has put a string in
# the place of a key, of each one in turn.  When the key is back all is sound,
# whatever was called and answered.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Check;
use NgxQueues::Functions;
use NgxQueues::Logs;

NgxQueues::Functions::start();

# a lease says of lanes that were moved all at once that they are leased
$NgxQueues::CheckLog::moved = 1;

my ($q, $held, $twice, $lease);

# two groups, one of which was forgotten; leases, dead letters, traces; messages
# that are too old or consumed, and windows of ids that are over
sub fill {
    $r->call('FLUSHALL');
    log_configure('q', ns => 'n', task => 't', ret => 1000, cret => 500, dedup => 900);
    $q = log_q('q');
    f('log_push', pushes(map { [ 'q', "p$_", map { "old$_" } 1 .. 3 ] } 1 .. 2));
    log_elapse('q', 990_000);
    f('log_push', pushes(map { [ 'q', "p$_", map { "m$_" } 1 .. 9 ] } 1 .. 3));
    log_push('q', 'p1', "s$_") for 1 .. 33;
    log_pop('q', auto => 1, batch => 3, partitions => 3, group => $_) for 'g', 'gone';
    log_ack(log_pop('q', group => $_, lane => 'p2', batch => 1), 'd', group => $_)
        for 'g', 'gone';
    f('log_forget', 'gone', 'q', 1, 0);
    f('log_trace', $q, 1, 'm1', 'g', 'i', '1', 'id', 'x', 'y');
    $held = log_pop('q', partitions => 2, batch => 4);
    $lease = $held->{lease};
    log_elapse('q', 20_000);
}

my %calls = (
    maintain => sub { f('maintain', 'one', 10) },
    push => sub { log_push('q', 'p1', 'm1', 'new') },
    'push of a run' => sub { log_push('q', 'p1', map { "r$_" } 1 .. 9) },
    'push of a run to a new lane' => sub { log_push('q', 'p9', map { "r$_" } 1 .. 9) },
    'push to a new lane' => sub { log_push('q', 'p9', 'new') },
    'push to a new queue' => sub { log_push('n.t', 'p', 'new') },
    pop => sub { f('log_pop', 'q', 'x', uuid(1), '', 'g', 9, 3, 0, '', 'a', '', 1, 'l2') },
    'pop of a new group' => sub { f('log_pop', 'q', 'x', uuid(1), '', 'new', 9, 3, 1, '', 'n', '', 1, 'l2') },
    'pop of one that comes back' => sub { f('log_pop', 'q', 'x', uuid(1), 'p1', 'gone', 9, 3, 1, '', 'a', '', 1, 'l2') },
    find => sub { f('log_find', 'n', 't', 'g', 9, 3, 0, '', 'a', '', 1, 'l2') },
    ack => sub { f('log_ack', 'g', 1, log_items($held, '')) },
    'ack that fails' => sub { f('log_ack', 'g', 1, log_items($held, 'd' . 'c' x ($held->{lanes}[0]{last} - $held->{lanes}[0]{first}))) },
    tx => sub { f('log_tx', 1, $lease, pushes([ 'q', 'p1', 'new' ]), 1, 'g', log_items($held, '')) },
    extend => sub { f('log_extend', $lease, 900) },
    undo => sub { f('log_undo', $lease) },
    configure => sub { log_configure('q', ns => 'n', task => 'other') },
    'configure a new one' => sub { log_configure('new', ns => 'n', task => 'other') },
    delete => sub { f('log_delete', 'q') },
    seek => sub { f('log_seek', 'g', 'q', '', 'end') },
    'seek of a lane' => sub { f('log_seek', 'g', 'q', 'p1', 1) },
    'seek of a new group' => sub { f('log_seek', 'new', 'q', '', 1) },
    forget => sub { f('log_forget', 'g', '', 1, 1) },
    'forget cursors' => sub { f('log_forget', 'g', 'q', 0, 0) },
    subscription => sub { f('log_subscription', 'g', 1) },
    dead => sub { f('log_dead', '', 'g', 0, 9) },
    'purge dead' => sub { f('log_purge_dead', 'q', '') },
    'purge dead of a group' => sub { f('log_purge_dead', 'q', 'gone') },
    'delete dead' => sub { f('log_delete_dead', $q, 2, 'm1') },
    'retry dead' => sub { f('log_retry_dead', $q, 2, 'm1', 'again') },
    trace => sub { f('log_trace', $q, 1, 'm1', 'g', 'i', '1', 'id2', 'x', 'z') },
    'traces named' => sub { f('log_traces_named', 'x', 9, 0) },
    switch => sub { f('log_switch', 'pop', 1) },
    look => sub {
        f(@$_) for [ 'log_get', 'q' ], [ 'log_lanes', 'q', 0, 9 ], [ 'log_queues', '', 9 ],
            [ 'log_labels', 'N', '', 9 ], [ 'log_overview', '' ], [ 'log_groups', '', 9 ],
            [ 'log_group', 'g' ], [ 'log_lagging', 1, 9 ], [ 'log_message', $q, 1, 'm1' ],
            [ 'log_messages', 'q', '', '', '', 1, now_ms(), 0, 9 ],
            [ 'log_traces', $q, 1, 'm1' ], [ 'log_trace_names', 9, 0 ];
    },
);

fill();

# a lease is a string itself
my @keys = grep { !/:le:/ } sort @{ $r->call('KEYS', "$root:*") };
my @p = NgxQueues::Check::check($r);
is("@p", '', scalar(@keys) . ' keys');

for my $what (sort keys %calls) {
    my @bad;

    fill();
    $calls{$what}->();
    @p = NgxQueues::Check::check($r);
    push @bad, "nothing: @p" if @p;
    fill();

    for my $key (@keys) {
        $key =~ s/\bl\d{11}/$q/;
        $r->call('RENAME', $key, 'away');
        $r->call('SET', $key, 'planted');

        my $reply = eval { $calls{$what}->() } // $@;

        # what was to be removed is removed, whatever it is
        $r->call($r->call('UNLINK', $key) ? ('RENAME', 'away', $key) : ('DEL', 'away'));
        @p = NgxQueues::Check::check($r);
        push @bad, "$key: @p[0 .. ($#p < 1 ? $#p : 1)]" if @p;
        push @bad, "$key: $reply" if "$reply" =~ /attempt|script_error/i;

        # what has failed has changed nothing
        fill() if @p || "$reply" !~ /WRONGTYPE/ && $what ne 'look';
    }

    is(join("\n", @bad), '', $what);
}

done_testing();
