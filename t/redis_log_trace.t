#!/usr/bin/perl

# The functions of redis/*.lua: traces of messages of logs.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Logs;

NgxQueues::Functions::start();

sub trace { my ($q, $id, $trace, @names) = @_; f('log_trace', $q, 1, $id, 'g', 'info', qq({"n":"$trace"}), $trace, @names) }

# traces, with more elements each
sub rows {
    my ($more, @rest) = @_;
    my @rows;

    while (@rest) {
        my @row = splice @rest, 0, 6;
        push @row, [ splice @rest, 0, $row[5] ], splice @rest, 0, $more;
        push @rows, \@row;
    }

    return @rows;
}

sub named { my ($n, @rest) = @{ f('log_traces_named', @_) }; ($n, rows(7, @rest)) }
sub told { my ($n, @rows) = @_; join ' ', "$n:", map { $_->[0] } @rows }
sub traces { join ' ', map { $_->[0] } rows(0, @{ f('log_traces', @_) }) }
sub names { my ($n, @rest) = @{ f('log_trace_names', $_[0] // 100, $_[1] // 0) };
            join ' ', "$n:", map { join '/', @rest[$_ * 4 .. $_ * 4 + 2] } 0 .. @rest / 4 - 1 }


subtest 'of messages' => sub {
    log_push('a', 'p', 1, 2);
    log_push('b', 'p', 1);
    my ($q, $other) = map { log_q($_) } 'a', 'b';
    is(trace($q, 1, 't1', 'x', 'y', 'x'), 1, 'noted');
    is(trace($q, 1, 't2'), 1, 'without a name');
    is(trace($q, 2, 't3', 'x'), 1, 'of another one');
    is(trace($other, 1, 't4', 'x'), 1, 'of another queue');

    my @rows = rows(0, @{ f('log_traces', $q, 1, 1) });
    ok(abs($rows[0][4] - now_ms()) < 5000, 'when');
    is_deeply([ map { [ @$_[0 .. 3, 6] ] } @rows ],
              [ [ 't1', 'info', '{"n":"t1"}', 'g', [ 'x', 'y' ] ],
                [ 't2', 'info', '{"n":"t2"}', 'g', [] ] ], 'those of a message');
    is(traces($q, 1, 3), '', 'or none');
    is(traces('none', 1, 3), '', 'or no queue');

    my ($n, @named) = named('x', 10, 0);
    is($n, 3, 'those of a name');
    is_deeply([ sort { $a->[0] cmp $b->[0] }
                map { [ @$_[0, 6 .. 13] ] } @named ],
              [ [ 't1', [ 'x', 'y' ], 1, $q, 1, 'a', 'p', 0, '"1"' ],
                [ 't3', [ 'x' ], 2, $q, 1, 'a', 'p', 0, '"2"' ],
                [ 't4', [ 'x' ], 1, $other, 1, 'b', 'p', 0, '"1"' ] ], 'and their messages');
    is(scalar(@{[ named('x', 1, 1) ]}), 2, 'a page');
    is(told(named('none', 10, 0)), '0:', 'of no name');
    is(join(' ', sort split / /, names()), '2: x/3/3 y/1/1', 'names');
    is(trace($q, 1, 't5', 'x'), 1, 'more of a message');
    like(names(), qr{ x/4/3}, 'one message');
    is(names(1, 0), '2: x/4/3', 'a page of names');

    is(trace($q, 'gone', 't6', 'y'), 1, 'of a message that is not there');
    ($n, @named) = named('y', 1, 0);
    is($named[0][13], '', 'its payload is not known') if $named[0][0] eq 't6';
    like(trace('none', 1, 't7'), qr/^QUEUES NOMESSAGE/, 'not of no queue');
    like(f('log_trace', $q, 9, 1, '', '', '1', 't'), qr/^QUEUES NOMESSAGE/, 'nor of no lane');
    like(f(@$_), qr/^QUEUES ARGUMENT/, "@$_[0]") for
        [ 'log_trace', (1) x 6 ], [ 'log_trace', (1) x 108 ], [ 'log_traces' ],
        [ 'log_traces_named', 'x', 1 ], [ 'log_trace_names' ];
    log_sound('the keys are in order');
};


subtest 'a queue that is deleted' => sub {
    f('log_delete', 'b');
    unlike(told(named('x', 10, 0)), qr/t4/, 'takes its traces with it');
    like(names(), qr{ x/3/2}, 'they are not counted');
    f('log_delete', 'a');
    is(told(named('x', 10, 0)), '0:', 'nothing is left');
    named('y', 10, 0);
    is(names(), '0:', 'nor the name');
    is($r->call('EXISTS', map { "$root:$_" } qw(lw lw:x lW:x lw:y lW:y)), 0, 'nor its keys');
    log_sound('the keys are in order');
};


subtest 'so many, and no more' => sub {
    log_push('m', 'p', 1, 2);
    my $q = log_q('m');
    trace($q, 1, "t$_", 'z') for 1 .. 1001;
    my @all = split / /, traces($q, 1, 1);
    is(scalar @all, 1000, 'a message has a thousand');
    is("$all[0] $all[-1]", 't2 t1001', 'the last ones');
    is(names(), '1: z/1000/1', 'of a name too');

    $r->call('HSET', lkey('lh', $q), 'tr', 100_001);
    trace($q, 2, 'last');
    is((split / /, traces($q, 1, 1))[0], 't3', 'a queue has so many');

    $r->call('ZADD', "$root:lw:z", map { ($_, "$q:0:1:gone$_") } 1 .. 9001);
    trace($q, 2, 'named', 'z');
    is($r->call('ZCARD', "$root:lw:z"), 10_000, 'a name has so many');

    $r->call('ZADD', "$root:lw", map { ($_, "name $_") } 1 .. 9_999);
    trace($q, 2, 'more', 'new');
    is($r->call('ZCARD', "$root:lw"), 10_000, 'a project has so many names');
    is($r->call('ZSCORE', "$root:lw", 'name 1'), undef, 'the oldest one has left');
    $r->call('DEL', "$root:lw", "$root:lw:z", "$root:lW:z", "$root:lw:new", "$root:lW:new");
};


subtest 'keys of a wrong type' => sub {
    log_push('w', 'p', 1);
    my $q = log_q('w');
    $r->call('SET', "$root:lW:bad", 'x');
    like(trace($q, 1, 't', 'good', 'bad'), qr/WRONGTYPE/, 'fail');
    is(traces($q, 1, 1) . names(), '0:', 'and change nothing');
    $r->call('DEL', "$root:lW:bad");
};

done_testing();
