#!/usr/bin/perl

# The functions of redis/*.lua: what is due for logs.  Retention, windows of
# ids, what is never given though it is still there, holds that change.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Logs;
use NgxQueues::Wait;

NgxQueues::Functions::start();

sub due { $r->call('ZSCORE', "$root:t", 'l:' . log_q($_[0])) }
sub stored { $r->call('HLEN', lkey('lm', log_q($_[0]))) }
sub done { my ($name, %o) = @_; my $got = log_pop($name, %o); log_ack($got, '', %o); $got }


subtest 'messages that are too old' => sub {
    log_configure('r', ret => 100);
    is(tend(), '1 -1', 'nothing is due where nothing is');
    log_push('r', 'p', 1, 2);
    my $ms = $r->call('ZSCORE', lkey('lo', log_q('r')), 1);
    is(due('r'), $ms + 100_000, 'due when the first one is too old');
    log_push('r', 'q', 'x');
    log_elapse('r', 60_000);
    log_push('r', 'p', 3);
    is(ids(log_pop('r', batch => 9, auto => 1, lane => 'p')), '1 2 3', 'they come');
    is(stored('r'), 3, 'and stay');
    log_elapse('r', 40_000);

    is(ids(log_pop('r', batch => 9, group => 'h')), '3',
       'what is too old does not come, though it is there');
    is(ids(log_pop('r', batch => 9, group => 'i', lane => 'q')), '', 'nor alone');
    is(stored('r'), 3, 'it is still there');
    log_sound('the keys are in order');

    my ($mine, $next) = split / /, tend();
    ok($next > 55_000 && $next <= 60_000, 'it is due when the next one is too old');
    is(stored('r'), 1, 'and what was is removed');
    is(log_hot('r', 'n') . log_hot('r', 'pushed'), 14, 'and counted');
    is(ids(log_pop('r', batch => 9, group => 'j')), '3', 'the rest comes');
    log_sound('the keys are in order');

    log_elapse('r', 60_000);
    is((split / /, tend())[0], 1, 'looked after');
    is(stored('r') . log_hot('r', 'n'), '00', 'nothing is left');
    is($r->call('EXISTS', map { lkey($_, log_q('r')) } qw(lm lo lt)), 0, 'of any kind');
    log_push('r', 'p', 4, 5);
    is(ids(log_pop('r', batch => 9, group => $_)), '4 5', "$_ goes on") for qw(g i k);
    log_sound('the keys are in order');
};


subtest 'messages that wait too long' => sub {
    log_configure('w', maxwait => 10, ret => 20);
    log_push('w', 'p', 1);
    my $got = log_pop('w');
    log_push('w', 'p', 2);
    log_elapse('w', 10_000);
    tend();
    is(stored('w'), 0, 'leased ones too');
    is(log_ack($got, 'c'), '1o', 'the lease is as good as before');
    log_push('w', 'p', 3);
    is(ids(log_pop('w')), '3', 'the group goes on');
    log_sound('the keys are in order');

    $got = log_pop('w', group => 'h');
    log_elapse('w', 10_000);
    tend();
    is(log_ack($got, 'd', group => 'h'), '1d', 'a dead letter of what is gone');
    log_sound('the keys are in order');
};


subtest 'a lease that ended' => sub {
    log_configure('e', ret => 10, delay => 5);
    log_push('e', 'p', 1);
    log_elapse('e', 5000);
    is(ids(log_pop('e', seconds => 1)), '1', 'leased');
    log_elapse('e', 5000);
    log_push('e', 'p', 2);
    my $got = log_pop('e');
    is(ids($got), '', 'its message is too old, the next one is held back');
    log_sound('the keys are in order');
    is(f('log_ack', 'g', 1, log_q('e'), 1, '', 1, 'c', 0, 2)->[0], '0o',
       'it is not beyond the batch of before');
    log_sound('the keys are in order');
};


subtest 'messages that are consumed' => sub {
    log_configure('c', cret => 50);
    log_push('c', $_, "${_}1", "${_}2") for qw(p q);
    log_elapse('c', 50_000);
    tend();
    is(stored('c'), 2, 'nobody has consumed them');

    done('c', lane => 'p', group => $_) for qw(g h);
    done('c', lane => 'q');
    my ($mine, $next) = split / /, tend();
    is(stored('c'), 2, 'they are not looked at all the time');
    ok($next > 0 && $next <= 5000, 'but after seconds');
    log_elapse('c', 5000);
    tend();
    is($r->call('HGET', lkey('lm', log_q('c')), '1:1'), undef,
       'what all groups have consumed is removed');
    is(stored('c'), 1, 'what one has not is there');
    log_sound('the keys are in order');

    log_push('c', 'q', 'q3');
    is(ids(done('c', lane => 'q', group => 'h', batch => 9)), 'q1 q2 q3', 'it comes');
    log_elapse('c', 5000);
    tend();
    is(stored('c'), 1, 'then it goes too, but for what is not old enough');
    log_pop('c', group => 'new', mode => 'n');
    log_pop('c', group => 'all', mode => 'a', lane => 'none');
    log_elapse('c', 50_000);
    tend();
    is(stored('c'), 1, 'a group that begins with the first message keeps it');
    is(ids(done('c', group => $_)), 'q3', "till $_ has it") for qw(g all);
    log_elapse('c', 5000);
    tend();
    is(stored('c'), 0, 'a group that begins later does not');
    log_sound('the keys are in order');
};


subtest 'many' => sub {
    log_configure('m', ret => 600, cret => 10);
    f('log_push', pushes(map { [ 'm', "lane $_", "a$_" ] } 1 .. 450));
    log_push('m', 'long', "b$_") for 1 .. 350;
    log_pop('m', group => $_) for 'g', 'h';
    log_elapse('m', 400_000);
    log_push('m', 'long', 'last');
    is((split / /, tend())[0], 1, 'a round over lanes that are not consumed');
    is(stored('m'), 801, 'leaves all');
    log_elapse('m', 200_000);
    my $calls = 0;
    my $reply;
    do { $reply = f('maintain', 'tender', 20); $calls++ } while ($reply->[1] == 0);
    is(stored('m'), 1, 'then they are too old');
    ok($calls >= 8, "in steps: $calls");
    is(log_hot('m', 'n'), 1, 'counted');
    my $got;
    do { $got = log_pop('m', batch => 9, group => 'i') } while ($got->{next} == 0);
    is(ids($got), 'last', 'the last one comes');
    log_sound('the keys are in order');

    my $big = 'x' x 500_000;
    f('log_push', 1, 'm', 'unused', uuid(1), 1,
      log_group(1, 'big', 0, map { [ [ $_ ], '', qq("$big") ] } 1 .. 20));
    log_elapse('m', 600_000);
    f('maintain', 'tender', 20) for 1, 2;
    my $left = stored('m');
    ok($left > 5 && $left < 20, "large ones are some steps more: $left");
    tend();
    is(stored('m'), 0, 'all went');
    log_sound('the keys are in order');
};


subtest 'consumed, many lanes' => sub {
    log_configure('n', cret => 10);
    f('log_push', pushes(map { [ 'n', "lane $_", "a$_" ] } 1 .. 450));
    log_pop('n', partitions => 400, batch => 400, group => $_, auto => 1) for 'g', 'h';
    my $q = log_q('n');
    my %own = map { my %c = @{ $r->call('HGETALL', lkey('lc', $q, $_)) }; ($_, \%c) } 1, 2;
    my $both = grep { $own{2}{$_} } keys %{ $own{1} };
    log_elapse('n', 10_000);
    tend();
    is(stored('n'), 450 - $both, "those consumed by both, $both, went in one round");
    log_sound('the keys are in order');
};


subtest 'ids of messages that are gone' => sub {
    log_configure('g', ret => 100, dedup => 1000);
    log_push('g', 'p', 1 .. 20);
    log_elapse('g', 101_000);
    tend();
    is(stored('g'), 0, 'nothing is left');
    like(log_push('g', 'p', 5, 20, 21)->[0], qr/:21 0:5:\d+ 1:20:\d+$/,
         'they are known for as long as they would be');
};


subtest 'windows of ids' => sub {
    log_configure('i', dedup => 1000);
    log_push('i', 'p', 1);
    my $key = sub { lkey('li', log_q('i'), $_[0]) };
    my $is = log_hot('i', 'is');
    is(due('i'), $is + 1000_000, 'due when another one could begin');
    log_elapse('i', 1000_000);
    log_push('i', 'p', 2);
    tend();
    is($r->call('EXISTS', $key->(1), $key->(2)), 2, 'both are there');
    like(log_push('i', 'p', 2)->[0], qr/ 0:2:/, 'a duplicate');
    log_elapse('i', 1000_000);
    tend();
    is($r->call('EXISTS', $key->(1)) . $r->call('EXISTS', $key->(2)), '01',
       'the one before leaves where nobody pushes');
    log_elapse('i', 1000_000);
    is(tend() =~ /^1 /, 1, 'looked after');
    is($r->call('EXISTS', $key->(2)), 0, 'and the last one');
    is(due('i'), undef, 'nothing more is due');
    unlike(log_push('i', 'p', 2)->[0], qr/ /, 'pushed anew');
    ok(due('i'), 'due again');
    like(log_push('i', 'p', 2)->[0], qr/ 0:3:/, 'a duplicate');
    log_sound('the keys are in order');
};


# a longer one holds for what is known, and for what comes into the same window

subtest 'windows of ids that get longer' => sub {
    log_configure('w', dedup => 1000);
    log_push('w', 'p', 1 .. 9);
    my @keys = map { [ $_, 1 ] } qw/li lj/;
    my $least = sub {
        return (sort { $a <=> $b }
                map { $r->call('PTTL', lkey($_->[0], log_q('w'), $_->[1])) } @keys)[0];
    };
    my $first = $least->();
    ok($first > 2000_000 && $first <= 2060_000, 'it goes some time');
    log_configure('w', dedup => 3600);
    ok($least->() > 7200_000, 'and now later');
    log_elapse('w', 2000_000);
    like(log_push('w', 'p', 5)->[0], qr/ 0:5:/, 'a duplicate');

    log_configure('w', dedup => 1000);
    tend();
    is($r->call('EXISTS', lkey('li', log_q('w'), 1)), 0, 'gone, as it got shorter');
    log_configure('w', dedup => 3600);
    log_push('w', 'p', 11 .. 19);
    @keys = map { [ $_, 2 ] } qw/li lj/;
    ok($least->() > 7200_000, 'what comes then begins a window');
    ok(due('w'), 'which is looked after');
    like(log_push('w', 'p', 15)->[0], qr/ 0:\d+:/, 'and known');
    log_sound('the keys are in order');
};


subtest 'settings that change' => sub {
    log_configure('s', delay => 3600);
    log_push('s', 'p', 1);
    my $got = log_pop('s');
    is(ids($got), '', 'held back');
    ok($got->{next} > 0 && $got->{next} <= 10_000, 'but looked at again soon');
    log_configure('s', delay => 0);
    log_elapse('s', 10_000);
    is(ids(log_pop('s')), '1', 'no longer');

    log_push('s', 'p', 2);
    log_elapse('s', 100_000);
    tend();
    is(stored('s'), 2, 'no retention');
    log_configure('s', ret => 100);
    tend();
    is(stored('s'), 0, 'it begins at once');
    log_sound('the keys are in order');
};


subtest 'keys of a wrong type' => sub {
    log_configure($_, ret => 10) for 'bad', 'good';
    log_push($_, 'p', 1) for 'bad', 'good';
    $r->call('DEL', lkey('lt', log_q('bad')));
    $r->call('SET', lkey('lt', log_q('bad')), 'x');
    log_elapse('good', 10_000);
    $r->call('ZADD', "$root:t", 1, 'l:' . log_q('bad'));
    tend();
    is(stored('good'), 0, 'are not in the way of other queues');
    is(stored('bad'), 1, 'and nothing is changed there');
    ok(due('bad') > now_ms(), 'it is tried again later');
    $r->call('DEL', lkey('lt', log_q('bad')));
    log_sound('the keys are in order');
};

done_testing();
