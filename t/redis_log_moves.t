#!/usr/bin/perl

# The functions of redis/*.lua: logs, by chance.  Retention, settings, groups that
# are moved and forgotten, queues that are deleted, dead letters that come again:
# the keys are always in order, and in the end each group gets what is there.

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

my $seed = $ENV{NGX_QUEUES_SEED} || 1 + int rand 1e6;
note("NGX_QUEUES_SEED=$seed");
srand $seed;

my @queues = qw(a.x a.y b);
my @groups = qw(one two three);
my (@held, @wrong);
my $serial = 0;

sub any { $_[rand @_] }

# calls a function, which must not fail but so
sub fine {
    my ($so, @f) = @_;
    my $reply = f(@f);

    push @wrong, "@f: $reply"
        if ref $reply && ref $reply ne 'ARRAY' && "$reply" !~ /$so/;
    return $reply;
}

my %do = (
    push => sub {
        my $name = any(@queues);
        my @lanes = map { [ $name, "p$_", map { 'm' . ++$serial }
                                          1 .. 1 + int rand(rand(9) < 1 ? 70 : 4) ] }
                    grep { rand(2) < 1 } 1 .. 6;
        fine('', 'log_push', pushes(@lanes)) if @lanes;
    },
    pop => sub {
        my $group = any(@groups);
        my $got = log_pop(any(@queues), group => $group, batch => 1 + int rand 30,
                          partitions => 1 + int rand 4, auto => rand(4) < 1 ? 1 : 0,
                          mode => any('a', 'a', 'n'));
        push @held, [ $got, $group ] if @{ $got->{lanes} };
    },
    ack => sub {
        my ($got, $group) = @{ splice(@held, rand @held, 1) // return };

        for my $i (0 .. $#{ $got->{lanes} }) {
            my $n = $got->{lanes}[$i]{last} - $got->{lanes}[$i]{first} + 1;
            my $words = 'c' x ($n - 1) . any('c', 'c', 'c', 'r', 'f', 'd');
            log_ack($got, $words, group => $group, at => $i);
        }
    },
    configure => sub {
        log_configure(any(@queues), ns => any('', 'a', 'b'), task => any('', 'x'),
                      ret => any(0, 0, 600), cret => any(0, 60, 300),
                      maxwait => any(0, 0, 0, 900), retry => any(0, 3),
                      dedup => any(0, 3600), delay => any(0, 0, 0, 5));
    },
    elapse => sub {
        my $ms = 1000 * any(5, 60, 300, 2000);
        log_elapse($_, $ms) for grep { log_q($_) } @queues;
    },
    maintain => sub { tend() },
    seek => sub {
        my $to = any('end', 0, now_ms() - 1000 * int rand 400);
        fine('NOQUEUE|NOLANE', 'log_seek', any(@groups), any(@queues),
             any('', 'p' . int rand 7), $to);
    },
    forget => sub {
        fine('', 'log_forget', any(@groups), any(@queues), int rand 2, rand(4) < 1 ? 1 : 0);
    },
    subscription => sub {
        fine('', 'log_subscription', any(@groups), now_ms() - 1000 * int rand 400);
    },
    delete => sub { fine('', 'log_delete', any(@queues)) if rand(4) < 1 },
    purge => sub { fine('', 'log_purge_dead', any(@queues), any('', @groups)) if rand(3) < 1 },
    retry => sub {
        my ($total, @row) = @{ fine('', 'log_dead', any('', @queues), any('', @groups), 0, 1) };
        my ($f, @more) = any([ 'log_retry_dead', 'again' . ++$serial ], [ 'log_delete_dead' ])->@*;
        fine('', $f, @row[1, 3, 11], @more) if @row;
    },
    look => sub {
        fine('NOQUEUE', @$_) for [ 'log_get', any(@queues) ], [ 'log_groups', '', 100 ],
            [ 'log_group', any(@groups) ], [ 'log_lagging', 10, 100 ], [ 'log_queues', '', 10 ],
            [ 'log_lanes', any(@queues), 0, 10 ], [ 'log_overview', '' ],
            [ 'log_messages', any('', @queues), any('', 'p1'), '', '',
              now_ms() - 1000 * int rand 400, now_ms(), int rand 30, 50 ];
    },
);
my @often = (('push', 'pop', 'ack') x 6, ('elapse', 'maintain', 'seek') x 2, sort keys %do);

for my $step (1 .. 3000) {
    $do{ any(@often) }->();

    if ($step % 100 == 0) {
        my @p = NgxQueues::Check::check($r);
        is("@p", '', "after $step steps");
        last if @p;
    }
}

is(join("\n", @wrong), '', 'no errors');

# ids of what is stored of a queue, by lanes
sub stored {
    my $q = log_q($_[0]);
    my %lane = reverse @{ $r->call('HGETALL', lkey('lp', $q)) };
    my %segment = @{ $r->call('HGETALL', lkey('lm', $q)) };
    my @list;

    for my $at (keys %segment) {
        my ($l, $start) = split /:/, $at;
        my ($head, $rest) = split /\n/, $segment{$at}, 2;
        my ($ms, $n, $flags, $a, $b) = split /:/, $head;

        push @list, map { [ $lane{$l}, $start++, $_ ] } split /\n/, substr $rest, $a, $b;
    }

    return map { "$_->[0]:$_->[2]" } sort { $a->[0] cmp $b->[0] || $a->[1] <=> $b->[1] } @list;
}

for my $name (grep { log_q($_) } @queues) {
    log_configure($name);

    for my $group (@groups) {
        my (%got, $got);

        f('log_seek', $group, $name, '', 0);

        do {
            $got = log_pop($name, group => $group, batch => 100, partitions => 6, auto => 1);
            push @{ $got{ $_->{lane}{name} } }, $_->{id} for @{ $got->{messages} };
        } while (@{ $got->{messages} } || $got->{next} == 0);

        is(join(' ', map { my $l = $_; map { "$l:$_" } @{ $got{$l} } } sort keys %got),
           join(' ', stored($name)), "$group gets all that is there of $name");
        is((grep { $_ eq $group } map { my @g = @{ $r->call('HGETALL', lkey('lg', log_q($name))) };
            @g } 1)[0], $group, 'and is registered');
        my @row = @{ f('log_group', $group) };
        my ($at) = grep { $row[$_] eq $group && $row[$_ + 1] eq $name } 0 .. $#row - 1;
        is($row[$at + 8], 0, 'it has no lag');
    }
}

log_sound('all is well');
done_testing();
