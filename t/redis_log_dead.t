#!/usr/bin/perl

# The functions of redis/*.lua: dead letters of logs, and messages that are
# looked at.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Logs;

NgxQueues::Functions::start();

my @fields = qw(row Q queue l lane group offset ms failed retries sealed id
                producer error payload);

# total and rows of a reply
sub rows {
    my ($total, @rest) = @{ $_[0] };
    my @rows;

    while (@rest) {
        my %row;
        @row{@fields} = splice @rest, 0, 15;
        push @rows, \%row;
    }

    return ($total, @rows);
}

sub dead { rows(f('log_dead', $_[0] // '', $_[1] // '', $_[2] // 0, $_[3] // 100)) }
sub told { my ($n, @rows) = @_; join ' ', "$n:", map { "$_->{queue}/$_->{id}" } @rows }

# the next message of a queue becomes a dead letter
sub bury {
    my ($name, %o) = @_;
    my $got = log_pop($name, batch => 1, %o);

    die "nothing to bury\n" unless @{ $got->{messages} };
    log_ack($got, 'd', %o, $o{error} ? (errors => { 0 => $o{error} }) : ());
    return $got;
}


subtest 'rows' => sub {
    log_push('a', 'p', 1 .. 4);
    log_push('b', 'q', 'x');
    my $got = bury('a', error => 'why "so"');
    bury('a');
    bury('b', group => 'h');
    bury('a', group => 'h');

    my ($n, @rows) = dead('a');
    is(told($n, @rows), '3: a/1 a/2 a/1', 'of a queue, the newest first');
    my %row = %{ $rows[2] };
    ok(abs(delete($row{failed}) - now_ms()) < 5000, 'when it failed');
    is_deeply(\%row, { row => 1, Q => log_q('a'), queue => 'a', l => 1, lane => 'p',
                       group => 'g', offset => 1, ms => $got->{messages}[0]{ms},
                       retries => 0, sealed => 0, id => 1, producer => 'me',
                       error => 'why "so"', payload => '"1"' }, 'all that is known');
    is($rows[0]{error}, 'Retries exhausted', 'an error that was not told');
    is(told(dead('a', 'h')), '1: a/1', 'of a group');
    is(told(dead('a', 'none')), '0:', 'of one that is not there');
    is(told(dead('none')), '0:', 'of a queue that is not there');
    is(told(dead('a', '', 1, 1)), '3: a/2', 'a page');
    is(told(dead('a', '', 5)), '3:', 'after the end');
    my ($all, @all) = dead();
    is(join(' ', $all, sort map { $_->{queue} . $_->{id} } @all), '4 a1 a1 a2 bx', 'of all queues');
    is((dead('', 'h'))[0], 2, 'of a group on all queues');
    log_sound('the keys are in order');
};


subtest 'messages by id' => sub {
    my $q = log_q('a');
    my $m = f('log_message', $q, 1, 2);
    is_deeply([ @$m[0, 1, 3 .. 11] ], [ 1, 2, 'me', 0, '"2"', 2, '', 'a', 'p', 'a', '' ],
              'what it is');
    like($m->[12], qr/^\d:$q:300:/, 'settings');
    is($m->[13], 1, 'a dead letter');
    is($m->[14 + 11], 2, 'which it is');
    my ($n, @groups) = splice @$m, 29;
    is($n * 5, scalar @groups, 'groups');
    is_deeply({ map { @groups[$_ * 5, $_ * 5 + 1] } 0 .. $n - 1 }, { g => 2, h => 1 },
              'what they have consumed');

    my $got = log_pop('a');
    $m = f('log_message', $q, 1, 3);
    is($m->[13], 0, 'no dead letter');
    my ($g) = grep { $m->[$_] eq 'g' } 15 .. $#$m;
    is($m->[$g + 2], $got->{lease}, 'a lease');
    like(f('log_message', @$_), qr/^QUEUES NOMESSAGE/, "not @$_")
        for [ $q, 1, 9 ], [ $q, 2, 1 ], [ 'none', 1, 1 ];
    like(f('log_message', 1), qr/^QUEUES ARGUMENT/, 'too few');

    log_configure('a', ret => 10);
    log_elapse('a', 10_000);
    tend();
    $m = f('log_message', $q, 1, 2);
    is_deeply([ @$m[0, 1, 5, 6, 13] ], [ 0, 2, '"2"', 2, 1 ], 'a dead letter is what is left');
    like(f('log_message', $q, 1, 3), qr/^QUEUES NOMESSAGE/, 'or nothing');
    log_elapse('a', 8000_000);
    tend();
    is(f('log_message', $q, 1, 2)->[5], '"2"', 'for long');
    log_sound('the keys are in order');
};


subtest 'messages' => sub {
    log_push('l', 'lane 9', '1-1');
    {
        local $NgxQueues::Logs::producer = 'she';
        f('log_push', pushes(map { my $l = $_; [ 'l', "lane $l", map { "$l-$_" } 1 .. 3 ] } 2 .. 4));
    }
    log_elapse('l', 60_000);
    log_push('l', 'lane 2', '2-4', '2-5');
    log_push('m', 'p', $_) for 1 .. 300;
    my $list = sub {
        my @rest = @{ f('log_messages', @_) };
        my @list;

        push @list, [ splice @rest, 0, 19 ] while @rest;
        return @list;
    };
    my $now = now_ms();
    my @all = $list->('l', '', '', '', 0, $now, 0, 200);

    is(join(' ', map { $_->[8] } @all),
       '2-5 2-4 2-3 2-2 2-1 3-3 3-2 3-1 4-3 4-2 4-1 1-1', 'of a queue, the newest first');
    is_deeply([ @{ $all[2] }[0 .. 4, 6 .. 13] ],
              [ log_q('l'), 'l', 2, 'lane 2', 3, 'she', 0, '2-3', '', '"2-3"', 'l', '', 0 ],
              'what they are');
    is(join(' ', map { $_->[8] } $list->('l', 'lane 3', '', '', 0, $now, 1, 5)), '3-2 3-1',
       'of a lane, a page');
    is(join(' ', map { $_->[8] } $list->('l', '', '', '', $now - 30_000, $now, 0, 200)),
       '2-5 2-4', 'from a moment');
    is(scalar $list->('l', '', '', '', 0, $now - 30_000, 0, 200), 10, 'till a moment');
    is(join(' ', map { $_->[8] } $list->('m', '', '', '', 0, $now, 198, 200)),
       join(' ', reverse 1 .. 102), 'many segments');
    is(join(' ', map { $_->[8] } $list->('m', '', '', '', 0, $now, 0, 3)), '300 299 298', 'their end');
    is($list->('', '', '', '', 0, $now, 0, 1) + 0, 1, 'of any queue');
    is($list->('', '', 'l', '', 0, $now, 0, 200) + 0, 12, 'by namespace');
    is($list->('', '', 'l', 'x', 0, $now, 0, 200) + 0, 0, 'and task');
    is($list->('none', '', '', '', 0, $now, 0, 200) + 0, 0, 'of no queue');

    my $got = log_pop('l', lane => 'lane 3', group => '__QUEUE_MODE__', batch => 2);
    log_ack($got, 'c', group => '__QUEUE_MODE__', ids => [ '3-1' ]);
    bury('l', lane => 'lane 3', group => 'h');
    @all = $list->('l', 'lane 3', '', '', 0, $now, 0, 3);
    is_deeply([ map { join ',', @$_[13 .. 15], $_->[16] ne '' ? 1 : 0, @$_[17, 18] } @all ],
              [ '0,1,1,0,1,0', '0,1,1,1,1,0', '1,1,1,0,1,1' ],
              'pending, leased, consumed and a dead letter');
    like(f('log_messages', 1), qr/^QUEUES ARGUMENT/, 'too few');
};


subtest 'retried and deleted' => sub {
    log_push('r', 'p', 1 .. 3);
    bury('r', group => $_, error => "of $_") for qw(g h);
    bury('r');
    my $q = log_q('r');
    my $reply = f('log_retry_dead', $q, 1, 1, 'again');
    is_deeply([ @$reply[0, 1, 3] ], [ $q, 1, 4 ], 'pushed anew');
    is(told(dead('r')), '2: r/2 r/1', 'the newest row is gone');
    my $m = f('log_message', $q, 1, 'again');
    is_deeply([ @$m[1, 2, 3, 5] ], [ 4, $reply->[2], 'me', '"1"' ], 'it is as it was');
    is(f('log_retry_dead', $q, 1, 1, 'again')->[3], 4, 'the same id, the same message');
    is(told(dead('r')), '1: r/2', 'no row of it is left');
    like(f('log_retry_dead', $q, 1, 1, 'x'), qr/^QUEUES NOMESSAGE/, 'nor to be retried');
    like(f('log_retry_dead', 'none', 1, 1, 'x'), qr/^QUEUES NOMESSAGE/, 'nor of no queue');

    bury('r', group => 'h');
    is(f('log_delete_dead', $q, 1, 2), 2, 'deleted');
    is(f('log_delete_dead', $q, 1, 2), 0, 'once');
    is(told(dead('r')), '0:', 'nothing is left');
    log_sound('the keys are in order');
    is($r->call('EXISTS', map { lkey($_, $q) } qw(lk lK lX)), 0, 'not a key');

    log_configure('r', enc => 1);
    bury('r');
    is(ref f('log_retry_dead', $q, 1, 3, 'c'), 'ARRAY', 'what is sealed stays so, or not');
    log_sound('the keys are in order');
};


subtest 'purged' => sub {
    log_push('u', 'p', 1 .. 30);
    bury('u') for 1 .. 3;
    bury('u', group => 'h') for 1 .. 2;
    is_deeply(f('log_purge_dead', 'u', 'h'), [ 2, 0 ], 'of a group');
    is(told(dead('u')), '3: u/3 u/2 u/1', 'others stay');
    bury('u', group => 'h');
    is_deeply(f('log_purge_dead', 'u', ''), [ 4, 0 ], 'all');
    is_deeply(f('log_purge_dead', $_, ''), [ 0, 0 ], "none of $_") for 'u', 'none';
    is_deeply(f('log_purge_dead', 'u', 'none'), [ 0, 0 ], 'nor of no group');
    is(told(dead('u')), '0:', 'nothing is left');
    unlike(told(dead()), qr{u/}, 'not among all');
    bury('u');
    is(told(dead('u')), '1: u/4', 'it goes on');

    f('log_delete', 'a');
    unlike(told(dead()), qr{a/}, 'those of a deleted queue are not told');
    log_sound('the keys are in order');
};


subtest 'large ones' => sub {
    my $big = 'x' x 1_500_000;

    f('log_push', 1, 'big', 'bbbbbbbbbbbb', uuid(1), 1,
      log_group(1, 'p', 0, map { [ [ $_ ], '', qq("$big") ] } 1 .. 5));
    bury('big') for 1 .. 5;
    my ($n, @rows) = dead('big');
    is($n, 5, 'all are counted');
    ok(@rows >= 2 && @rows < 5, 'some are told: ' . @rows);
    my ($all, @all) = dead();
    ok(@all >= 2 && @all < 5, 'likewise of all: ' . @all);
    ok(@{ f('log_messages', 'big', '', '', '', 0, now_ms(), 0, 200) } / 19 < 5, 'and messages');
    log_sound('the keys are in order');
};


like(f($_), qr/^QUEUES ARGUMENT/, "$_ without arguments")
    for qw(log_dead log_purge_dead log_delete_dead log_retry_dead);

done_testing();
