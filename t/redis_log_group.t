#!/usr/bin/perl

# The functions of redis/*.lua: groups of consumers of logs, looked at, moved
# and forgotten.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Logs;

NgxQueues::Functions::start();

# a lease says of lanes that were moved all at once that they are leased
$NgxQueues::CheckLog::moved = 1;

my @group = qw(group queue Q mode from ct cursors lanes lag oldest consumed);
my @lane = qw(l name committed head next lease expiry consumed oldest);

sub cut { my ($from, @f) = @_; my %h; @h{@f} = splice @$from, 0, scalar @f; \%h }

# more, and rows
sub groups {
    my ($more, @rest) = @{ f('log_groups', @_) };
    my @rows;

    push @rows, cut(\@rest, @group) while @rest;
    return ($more, @rows);
}

sub group {
    my @rest = @{ f('log_group', @_) };
    my @rows;

    while (@rest) {
        push @rows, cut(\@rest, @group);
        $rows[-1]{l} = [ map { cut(\@rest, @lane) } 1 .. shift @rest ];
    }

    return @rows;
}

sub row { my ($g, $q) = @_; (grep { $_->{queue} eq $q } group($g))[0] }
sub all {
    my ($name, %o) = @_;
    my ($got, @ids);

    do {
        $got = log_pop($name, batch => 1000, partitions => 100, auto => 1, %o);
        push @ids, split / /, ids($got);
    } while (@{ $got->{messages} } || $got->{next} == 0);

    return join ' ', sort { $a cmp $b } @ids;
}


subtest 'looked at' => sub {
    is_deeply([ groups('', 10) ], [ 0 ], 'none');
    is_deeply([ group('g') ], [], 'not this one');

    log_push('a', 'p', 1 .. 5);
    log_push('a', 'q', 6, 7);
    log_push('b', 'p', 1);
    my $got = log_pop('a', lane => 'p', batch => 3);
    my $now = $got->{now};
    log_ack($got, 'cc', ids => [ 1, 2 ]);
    log_pop('b', group => 'h', auto => 1);
    log_pop('a', group => 'new', mode => 'n');

    my ($more, @rows) = groups('', 10);
    is(join(' ', $more, map { "$_->{group}:$_->{queue}" } @rows), '0 g:a h:b new:a',
       'all, in order');
    my %g = %{ $rows[0] };
    is_deeply([ @g{qw(Q mode from cursors lanes lag)} ], [ log_q('a'), 'a', 0, 1, 2, 5 ],
              'one that lags');
    is($g{oldest}, $got->{messages}[0]{ms}, 'by the time of its first message');
    ok(abs($g{consumed} - $now) < 2000 && abs($g{ct} - $now) < 2000, 'when it was there');
    is_deeply([ @{ $rows[1] }{qw(cursors lanes lag oldest)} ], [ 1, 0, 0, '' ],
              'one that does not');
    is_deeply([ @{ $rows[2] }{qw(mode cursors lag oldest consumed)} ], [ 't', 0, 0, '', 0 ],
              'one that is new');
    ok($rows[2]{from} > $now - 2000, 'and begins now');

    my @paged;
    my $after = '';

    for (1 .. 4) {
        my ($m, $row) = groups($after, 1);
        push @paged, "$row->{group}:$row->{queue}:$m";
        last unless $m;
        $after = "$row->{group}\n$row->{queue}";
    }

    is("@paged", 'g:a:1 h:b:1 new:a:0', 'in pages');

    ($more, @rows) = groups('', 10, 'a');
    is(join(' ', $more, map { "$_->{group}:$_->{queue}:$_->{lag}" } @rows),
       '0 g:a:5 new:a:0', 'of one queue');
    is_deeply([ groups('', 10, 'none') ], [ 0 ], 'of one that there is not');

    my ($row) = group('g');
    is($row->{lag}, 5, 'one group');
    is(scalar @{ $row->{l} }, 1, 'and the lanes it has been to');
    my %l = %{ $row->{l}[0] };
    is_deeply([ @l{qw(l name committed head next lease)} ],
              [ 1, 'p', 2, 1, 6, $got->{lease} ], 'what it has there');
    ok($l{expiry} > $now && $l{oldest} == $g{oldest}, 'till when, and since when');

    log_elapse('a', 90_000);
    my @lag = @{ f('log_lagging', 60, 10) };
    is(scalar @lag, 20, 'lanes that lag');
    is_deeply([ map { join ',', @lag[$_ * 10, $_ * 10 + 1, $_ * 10 + 4, $_ * 10 + 6] } 0, 1 ],
              [ 'g,a,p,3', 'g,a,q,2' ], 'which');
    is(scalar @{ f('log_lagging', 60, 1) }, 10, 'one of them');
    is_deeply(f('log_lagging', 100, 10), [], 'or less');
    like(f($_), qr/^QUEUES ARGUMENT/, "$_ without arguments")
        for qw(log_groups log_group log_lagging log_subscription log_seek log_forget);
    log_sound('the keys are in order');
};


subtest 'many of one queue' => sub {
    my @names = sort { $a cmp $b } '', qw(A a), "\xc3\xa9", "e\xcc\x81", '\\n', map { "g$_" } 1 .. 249;

    log_pop('many', group => $_) for @names;
    log_pop('few', group => $_) for 'b', 'g20';

    my $after;

    for my $limit (1, 7, 100) {
        my ($more, @got, @rows) = 1;

        $after = '';

        while ($more) {
            ($more, @rows) = groups($after, $limit, 'many');
            last if @rows != $limit && $more || grep { $_->{queue} ne 'many' } @rows;
            push @got, map { $_->{group} } @rows;
            $after = "$got[-1]\nmany";
        }

        # in what order is the locale's
        is_deeply([ sort { $a cmp $b } @got ], \@names, "each once, in pages of $limit");
    }

    is(join(' ', map { $_->{group} } (groups("g20\nmany", 2, 'many'))[1, 2]), 'g200 g201',
       'after a group that the other queue has, too');
    is_deeply([ groups($after, 9, 'many') ], [ 0 ], 'none after the last one');
    f('log_delete', $_) for qw(many few);
};


subtest 'lag is what it will get' => sub {
    my $later = now_ms() + 3_600_000;
    my $lag = sub { my $r = row('g', 'l'); join ' ', @$r{qw(lanes lag oldest)} };

    log_push('l', "l$_", "a$_", "b$_") for 1 .. 12;
    log_pop('l', mode => 't', from => $later);
    is($lag->(), '0 0 ', 'nothing, of one that begins later');
    log_pop('l', group => 'all', lane => 'l1', auto => 1);
    is(row('all', 'l')->{lag}, 22, 'another one lags');

    # in one lane it is somewhere, in the others it begins later
    f('log_seek', 'g', 'l', 'l2', 0);
    f('log_subscription', 'g', $later);
    is(row('g', 'l')->{lanes}, 12, 'where many lanes are new, they may have something');
    is(row('g', 'l')->{lag}, 24, 'likewise');

    # some of what is there is before its time
    log_push('t', $_, "${_}1", "${_}2") for 'a', 'b';
    my $from = now_ms();
    log_elapse('t', 100_000);
    log_push('t', 'a', 'a3');
    log_push('t', 'c', 'c1', 'c2');
    log_pop('t', group => 'since', lane => 'none', mode => 't', from => $from);
    my $r = row('since', 't');
    is("$r->{lanes} $r->{lag}", '2 3', 'from a moment that was');
    log_pop('t', group => 'since', lane => 'a', auto => 1);
    $r = row('since', 't');
    is("$r->{lanes} $r->{lag}", '1 2', 'also once it has begun');

    log_elapse('t', 100_000);
    my @of = @{ f('log_lagging', 50, 100) };
    my @rows;
    push @rows, [ splice @of, 0, 10 ] while @of;
    is(join(' ', map { "$_->[4]:$_->[6]" } grep { $_->[0] eq 'since' } @rows), 'c:2',
       'of a lane');
    is(scalar(grep { "@$_[0, 1]" eq 'g l' && $_->[4] ne 'l2' } @rows), 0, 'none of what begins later');
    f('log_delete', $_) for qw(l t);
    log_sound('the keys are in order');
};


subtest 'moved' => sub {
    log_push('s', $_, "${_}1", "${_}2") for 'a' .. 'c';
    my $early = now_ms();
    log_elapse('s', 100_000);
    log_push('s', $_, "${_}3") for 'a', 'b';
    is(all('s'), 'a1 a2 a3 b1 b2 b3 c1 c2', 'all is consumed');
    log_pop('s', wait => 1);
    hints();
    is(f('log_seek', 'g', 's', '', $early - 50_000), 3, 'back to a moment');
    is(hints(), log_q('s'), 'who waits is told');
    is(row('g', 's')->{cursors}, 0, 'it begins anew');
    log_sound('the keys are in order');
    is(all('s'), 'a3 b3', 'with the first one that is not older');
    f('log_seek', 'g', 's', '', 1);
    is(all('s'), 'a1 a2 a3 b1 b2 b3 c1 c2', 'to the start');
    is(row('g', 's')->{lag}, 0, 'no lag');

    f('log_seek', 'g', 's', '', 0);
    my $got = log_pop('s', partitions => 3, batch => 2);
    is(f('log_seek', 'g', 's', '', 'end'), 3, 'to the end');
    like(log_ack($got, ''), qr/^0[lc]+$/, 'a lease of before is over');
    log_push('s', 'd', 'd1');
    log_push('s', 'a', 'a4');
    is(row('g', 's')->{lag}, 2, 'what comes then is its lag');
    is(all('s'), 'a4 d1', 'and comes');
    log_sound('the keys are in order');

    f('log_seek', 'g', 's', '', 'end');
    is(f('log_seek', 'g', 's', 'b', 0), 1, 'one lane to the start');
    is(all('s'), 'b1 b2 b3', 'that one comes');
    $got = log_pop('s', group => 'h', lane => 'c');
    is(f('log_seek', 'h', 's', 'c', 'end'), 1, 'one lane to the end');
    is(log_ack($got, '', group => 'h'), '0ll', 'its lease is over');
    is(all('s', group => 'h'), 'a1 a2 a3 a4 b1 b2 b3 d1', 'the others come');
    is(f('log_seek', 'h', 's', 'c', $early - 200_000), 1, 'back again');
    is(all('s', group => 'h'), 'c1 c2', 'it comes');
    is(row('h', 's')->{lag}, 0, 'no lag');
    is(f('log_seek', 'h', 's', 'a', $early - 50_000), 1, 'to a moment');
    is(all('s', group => 'h'), 'a3 a4', 'from there on');
    log_sound('the keys are in order');

    is(f('log_seek', 'fresh', 's', 'd', 'end'), 1, 'a group that was not there');
    is(all('s', group => 'fresh'), 'a1 a2 a3 a4 b1 b2 b3 c1 c2', 'has the other lanes');
    is(f('log_seek', 'fresher', 's', '', 'end'), 4, 'likewise of all lanes');
    is(all('s', group => 'fresher'), '', 'it has nothing');
    log_sound('the keys are in order');

    like(f('log_seek', 'g', 'none', '', 'end'), qr/^QUEUES NOQUEUE/, 'no queue');
    like(f('log_seek', 'g', 's', 'none', 'end'), qr/^QUEUES NOLANE/, 'no lane');
    like(f('log_seek', 'g', 's', '', $_), qr/^QUEUES ARGUMENT/, "not to '$_'") for '', -1, 'x';
};


subtest 'lanes that began later' => sub {
    log_push('f', "lane $_", "a$_") for 1 .. 3;
    log_pop('f', group => 'later', mode => 'n');
    my $ms = now_ms();
    log_elapse('f', 100_000);
    log_push('f', 'lane 3', 'b3');
    is(f('log_subscription', 'later', $ms - 200_000), 1, 'a group begins earlier');
    my $row = row('later', 'f');
    is("$row->{mode} $row->{from}", 't ' . ($ms - 200_000), 'it is told so');
    is(all('f', group => 'later'), 'a1 a2 a3 b3', 'and gets what is older');
    is(f('log_subscription', 'later', $ms), 1, 'later');
    is(all('f', group => 'later'), '', 'moves no cursor');
    is(f('log_subscription', 'none', $ms), 0, 'of no group');
    log_sound('the keys are in order');

    log_pop('f2', group => 'later');
    is(f('log_subscription', 'later', $ms), 2, 'on all its queues');
};


subtest 'forgotten' => sub {
    log_push('x', 'p', 1 .. 3);
    log_push('y', 'p', 4);
    my $got = log_pop('x', group => 'k', batch => 1);
    log_ack($got, 'd', group => 'k');
    all($_, group => 'k') for 'x', 'y';
    hints();
    is_deeply(f('log_forget', 'k', 'x', 0, 0), [ 1, 0, 0 ], 'its cursors');
    is(all('x', group => 'k'), '1 2 3', 'it begins where it began');
    log_sound('the keys are in order');

    $got = log_pop('x', group => 'late', mode => 'n');
    log_push('x', 'p', 5);
    all('x', group => 'late');
    f('log_forget', 'late', 'x', 0, 0);
    is(all('x', group => 'late'), '5', 'that is not the first message for all');

    is_deeply(f('log_forget', 'k', 'x', 1, 0), [ 1, 1, 0 ], 'and its record');
    is_deeply([ map { $_->{queue} } group('k') ], [ 'y' ], 'of this queue');
    is(f('log_dead', 'x', 'k', 0, 9)->[0], 1, 'its dead letters stay');
    log_sound('the keys are in order');
    is(all('x', group => 'k', mode => 'n'), '', 'its next contact is the first');
    is(f('log_dead', 'x', 'k', 0, 9)->[0], 1, 'and it has its dead letters');
    log_sound('the keys are in order');

    is_deeply(f('log_forget', 'k', '', 1, 1), [ 1, 2, 0 ], 'on all queues');
    is_deeply([ group('k') ], [], 'none is left');
    my (undef, @left) = groups('', 100);
    is_deeply([ grep { $_->{group} eq 'k' } @left ], [], 'anywhere');
    is_deeply(f('log_forget', 'k', '', 1, 1), [ 0, 0, 0 ], 'once');
    is_deeply(f('log_forget', 'k', 'none', 1, 0), [ 0, 0, 0 ], 'nor on no queue');
    f('log_purge_dead', 'x', 'k');
    is($r->call('EXISTS', lkey('lf', log_q('x'))), 0, 'no dead letters, no former group');
    log_sound('the keys are in order');

    log_ack(log_pop('x', group => 'k', batch => 1), 'd', group => 'k');
    f('log_forget', 'k', '', 1, 1);
    f('log_delete', 'x');
    log_sound('the keys are in order when the queue is no more');
};


subtest 'too many' => sub {
    log_push('full', 'p', 1);
    $r->call('HSET', lkey('lg', log_q('full')),
             map { ("group $_", "$_:0:a:0:1:0:0:0") } 1 .. 10_000);
    my $reply = eval { log_pop('full', group => 'more') } // $@;
    like($reply, qr/QUEUES GROUPS/, 'a queue has so many groups');
    like(f('log_seek', 'more', 'full', '', 'end'), qr/^QUEUES GROUPS/, 'also by a seek');
    is(ids(log_find('full', '', group => 'more')), '', 'a pop by labels passes it over');
    $r->call('HDEL', lkey('lg', log_q('full')), map { "group $_" } 1 .. 10_000);
    log_sound('the keys are in order');
};

done_testing();
