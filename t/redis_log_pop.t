#!/usr/bin/perl

# The functions of redis/*.lua: pops of logs.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Logs;
use NgxQueues::Wait;

NgxQueues::Functions::start();

sub lanes { join ' ', map { $_->{name} } @{ $_[0]{lanes} } }
sub ready { $r->call('ZSCORE', lkey('lr', log_q($_[0]), 1), $_[1]) }

# one lane

my $got = log_pop('none');
is(ids($got), '', 'a queue that was not there has nothing');
is($got->{next}, -1, 'for ever');
ok(log_q('none'), 'it is made');

log_push('a', 'p', 1 .. 5);
$got = log_pop('a', batch => 3);
is(ids($got), '1 2 3', 'the first messages, batch of them');
is("$got->{lanes}[0]{first} $got->{lanes}[0]{last}", '1 3', 'and their offsets');
is($got->{q}, log_q('a'), 'and Q');

my $other = log_pop('a');
is(ids($other), '', 'a leased lane has nothing for the group');
cmp_ok($other->{next}, '>', 299_000, 'till the lease ends, of 300 s');
is(ids(log_pop('a', lane => 'p')), '', 'nor where it is asked for by name');
is(ids(log_pop('a', group => 'h', batch => 9)), '1 2 3 4 5',
   'another group is not affected');

is(log_ack($got, 'ccc'), '1ooo', 'acknowledged');
is(ids(log_pop('a')), '4 5', 'the rest comes');

# lanes with nothing for the group are passed in one look, wherever they stand

log_push('far', "old$_", $_) for 1 .. 9;

my $middle = log_hot('far', 'last') + 1;

wait_for(sub { now_ms() > $middle }, 5);
log_push('far', "new$_", 10 + $_) for 1 .. 3;
$got = log_pop('far', group => 'late', mode => 't', from => $middle,
               batch => 9, partitions => 2);
is(scalar @{ $got->{messages} }, 2, 'two lanes behind nine others');

# the end of a lease

log_push('l', 'p', 1, 2);
$got = log_pop('l', seconds => 1);
cmp_ok($got->{lanes}[0]{last}, '==', 2, 'a lease of 1 s');
$other = log_pop('l');
ok($other->{next} > 0 && $other->{next} <= 1000, 'who waits is told when it ends');
my $again;
ok(wait_for(sub { $again = log_pop('l', batch => 1); ids($again) }, 5),
   'then the messages come again');
is(ids($again), '1', 'from the first one on');
like($r->call('HGET', lkey('lc', log_q('l'), 1), 1), qr/^0:1:[^:]+:\d+:1:1:0:0/,
     'and the counter of retries is as it was');
is(log_ack($got, 'cc'), '0ll', 'the old lease is nothing any more');
is(log_ack($again, 'c'), '1o', 'the new one is');
is(ids(log_pop('l', seconds => 0)), '2', 'no seconds are those of the queue');
log_push('l0', 'p', 1);
log_set('l0', lease => 0);
log_pop('l0');
is(int((log_pop('l0')->{next} + 999) / 1000), 60, 'where it has none, 60');

# commits at once

log_push('auto', 'p', 1 .. 4);
my $leases = @{ $r->call('KEYS', "$root:le:*") };
is(ids(log_pop('auto', auto => 1, batch => 3)), '1 2 3', 'a pop that commits');
is(ids(log_pop('auto', auto => 1, batch => 3)), '4', 'goes on');
is(log_pop('auto', auto => 1)->{next}, -1, 'to the end');
is(scalar @{ $r->call('KEYS', "$root:le:*") }, $leases, 'and leaves no lease');

# several lanes

log_push('m', "p$_", "$_-a", "$_-b") for 1 .. 5;
$got = log_pop('m', batch => 100);
is(scalar @{ $got->{lanes} }, 1, 'one lane where not said otherwise');
$got = log_pop('m', batch => 3, partitions => 10);
is(ids($got), '2-a 2-b 3-a', 'a batch of several lanes ends where it is full');
is(join(' ', map { $_->{last} } @{ $got->{lanes} }), '2 1',
   'each lane at its own last message');

# in another ms than the pop, which is all that tells the one from the other

my $popped = now_ms();

wait_for { now_ms() > $popped };
is(f('log_ack', 'g', 2, log_items($got, 'cc'), log_items($got, 'c', at => 1))->[1],
   '1o', 'each is acknowledged for itself');
is($r->call('EXISTS', "$root:le:$got->{lease}"), 0, 'then the lease is gone');
$got = log_pop('m', batch => 100, partitions => 10);
is(lanes($got), 'p4 p5 p3', 'the lane that was served last comes last');

# segments: one by one, cut in the middle

log_push('s', 'p', $_) for 1 .. 40;
log_push('s', 'p', 41 .. 70);
log_push('s', 'p', $_) for 71 .. 80;
$got = log_pop('s', batch => 45, auto => 1);
is(ids($got), join(' ', 1 .. 45), 'a batch ends in a segment');
is(ids(log_pop('s', batch => 20, auto => 1)), join(' ', 46 .. 65),
   'begins and ends in one');
$got = log_pop('s', batch => 100);
is(ids($got), join(' ', 66 .. 80), 'and begins in one');
my $cursor = lkey('lc', log_q('s'), 1);
like($r->call('HGET', $cursor, 1), qr/\n66\n67\n.*\n80\z/s,
     'the cursor has what is leased');
log_ack($got, 'ccc', ids => [ 66 .. 68 ]);
is(log_ack($got, 'f', ids => [ 75 ]), '1o', 'one fails, and holds back');
is(ids(log_pop('s', batch => 2)), '69 70', 'what was done of a batch is');

# a part of a segment: of a large one no more than that is given, a small one is
# whole, as cutting it takes longer

for my $size (100, 1000) {
    my $name = "part $size";
    my @large = map { '"' . 'x' x $size . "$_\"" } 1 .. 4;

    f('log_push', 1, $name, "lpart00$size", uuid(904 + $size), 1,
      log_group(1, 'p', 0, [ [ 1 .. 4 ], '', @large ]));

    for my $i (1 .. 4) {
        my $segment = f('log_pop', $name, 'lpart0000000', uuid(905), '', 'other',
                        1, 1, 1, '', 'a', '', 0, "lease of $i")->[5];
        my $has = join '', map { $segment =~ /x$_"/ ? $_ : '' } 1 .. 4;

        $got = log_pop($name, batch => 1, auto => 1);
        is(ids($got) . ' ' . substr($got->{messages}[0]{payload}, -2, 1),
           "$i $i", "the next message of four, $size bytes each");
        is($has, $size == 100 ? '1234' : $i, 'which came with these');
    }
}

# many lanes, fairly

log_push('fair', "p$_", 1 .. 3) for 1 .. 20;
my %seen;
for (1 .. 40) {
    $got = log_pop('fair');
    log_push('fair', 'p1', "x$_");
    $seen{ lanes($got) }++;
    log_ack($got, '');
}
is(scalar keys %seen, 20, 'a lane that is pushed to all the time starves none');

# bounded

log_push('wide', "p$_", 1) for 1 .. 200;
log_pop('wide', group => 'new', mode => 'n', lane => 'p1');
log_pop('wide', group => 'future', mode => 't', from => now_ms() + 100_000,
        lane => 'x');
$got = log_pop('wide', group => 'future');
is($got->{next}, 0, 'where many lanes have nothing a pop looks at some');
my $calls = 1;
$calls++ while log_pop('wide', group => 'future')->{next} == 0;
cmp_ok($calls, '<', 12, 'and so on, to the end');
is(log_pop('wide', group => 'future')->{next}, -1, 'then there is nothing');
is(log_pop('wide', group => 'new')->{next}, -1,
   'a group that began now looks at none of them');

my @ten;
for my $from (0 .. 9) {
    push @ten, [ map { [ 'wide', 'q' . ($from * 1000 + $_), 1 ] } 1 .. 1000 ];
}
f('log_push', pushes(@$_)) for @ten;
$got = log_pop('wide', group => 'future');
is($got->{next}, 0, 'with 10,000 of them too');
$r->call('CONFIG', 'RESETSTAT');
log_pop('wide', group => 'future') for 1 .. 5;
my ($n) = $r->call('INFO', 'commandstats') =~ /cmdstat_zadd:calls=(\d+)/;
cmp_ok($n // 0, '<', 40, 'a pop does not go through them all');
log_pop('wide', group => 'newer', mode => 'n', lane => 'p1');
log_push('wide', 'q77', 'here');
is(lanes(log_pop('wide', group => 'newer')), 'q77',
   'a group without backlog gets at once what is new');

# where groups begin

log_push('b', 'p', 1, 2);
is(ids(log_pop('b', group => 'all')), '1 2', 'all: at the first message');
is(ids(log_pop('b', group => 'new', mode => 'n')), '', 'new: at the end');
log_push('b', 'p', 3);
log_push('b', 'late', 4);
$got = log_pop('b', group => 'new', partitions => 5);
is(ids($got), '3 4', 'and all that comes, also in a lane that was not there');
is(ids(log_pop('b', group => '__QUEUE_MODE__', mode => 'n')), '1 2 3',
   'without a group it is always the first message');
is(ids(log_pop('b', group => 'all', mode => 'n', partitions => 5)), '4',
   'a mode counts at the first contact only');
my $lag = lkey('lg', log_q('b'));
like($r->call('HGET', $lag, 'new'), qr/:0:2:0$/,
     'a new group has passed none, of those after its base');

my $early = log_pop('unborn', group => 'new', mode => 'n');
log_push('unborn', 'p', 1);
is(ids(log_pop('unborn', group => 'new')), '1',
   'a group that waited for a queue to be born misses nothing');

log_push('t', 'p', 1);
my $from = now_ms() + 2;
wait_for { now_ms() >= $from } 5;
log_push('t', 'p', 2, 3);
log_push('t', 'q', 4);
is(ids(log_pop('t', group => 't', mode => 't', from => $from, partitions => 3)),
   '2 3 4', 'by time: at the first message of that moment or later');
is(ids(log_pop('t', group => 'end', mode => 't', from => now_ms() + 2)), '',
   'none such: at the end');

log_push('deep', 'p', $_) for 1 .. 100;
my $at = now_ms() + 2;
wait_for { now_ms() >= $at } 5;
log_push('deep', 'p', $_) for 101 .. 120;
is(ids(log_pop('deep', group => 't', mode => 't', from => $at, batch => 2)),
   '101 102', 'also where that is far from the first one');

# retention took the head

sub cut {
    my ($name, $l, $from, $to) = @_;
    my $q = log_q($name);

    $r->call('HDEL', lkey('lm', $q), map { "$l:$_" } $from .. $to);
    log_lane_set($name, $l, sub { $_[0][1] = $to + 1 });
    log_hot_set($name, n => log_hot($name, 'n') + $from - $to - 1);
}

log_push('hole', 'p', $_) for 1 .. 10;
is(ids(log_pop('hole', batch => 2, auto => 1)), '1 2', 'a cursor');
cut('hole', 1, 1, 5);
is(ids(log_pop('hole', batch => 2, auto => 1)), '6 7',
   'in a hole goes on at the next message');
is(ids(log_pop('hole', group => 'h', batch => 1)), '6', 'a new one begins there');
like($r->call('HGET', lkey('lg', log_q('hole')), 'g'), qr/:7:0:\d+$/,
     'the hole was passed');

# options that hold back

log_push('delay', 'p', 1);
log_set('delay', delay => 1);
$got = log_pop('delay');
is(ids($got), '', 'delayedProcessing');
ok($got->{next} > 0 && $got->{next} <= 1000, 'says when');
log_push('delay', 'p', 2);
ok(wait_for(sub { $got = log_pop('delay'); ids($got) }, 5), 'it comes then');
like(ids($got), qr/^1/, 'the first one');

log_push('window', 'p', 1);
log_set('window', window => 1);
$got = log_pop('window');
is(ids($got), '', 'windowBuffer');
ok($got->{next} > 0 && $got->{next} <= 1000, 'says when');
log_push('window', 'p', 2, 3);
ok(wait_for(sub { $got = log_pop('window'); ids($got) }, 5), 'then it comes');
is(ids($got), '1 2 3', 'together');

log_push('full', 'p', 1);
log_set('full', window => 100);
is(ids(log_pop('full')), '', 'a long windowBuffer');
log_push('full', 'p', 2 .. 99);
is(ids(log_pop('full')), '', 'holds 99 back');
log_push('full', 'p', 100);
is(ids(log_pop('full', batch => 1)), '1', 'and not 100');

# pops stop

$r->call('HSET', "$root:lz", 'pop', 1);
$got = log_pop('b', group => 'paused');
is(ids($got) . "$got->{q}:$got->{next}", ':1000', 'pops are off');
$r->call('DEL', "$root:lz");

# large messages

my $large = 'x' x 1_500_000;
for my $i (1 .. 6) {
    f('log_push', 1, 'large', 'llarge000001', uuid(903), 1,
      log_group(1, 'p', 0, [ [ $i ], '', $large ]));
}
is(ids(log_pop('large', batch => 9)), '1 2 3', 'a pop reads about 4 MiB');

# wrong arguments, keys of a wrong type

for my $bad ([ 'b' ], [ 'b', 'x', 'x', '', 'g', 1, 1, 0, '', 'z', '', 0, 'l' ],
             [ 'b', 'x', 'x', '', 'g', 1, 1, 0, '', 't', '', 0, 'l' ],
             [ 'b', 'x', 'x', '', 'g', 1, 1, 0, '', 'a', '', 0, '' ])
{
    my $reply = f('log_pop', @$bad);
    like("$reply", qr/^QUEUES ARGUMENT /, 'wrong: ' . join ',', @$bad);
}

log_sound('all is well');

for my $letter (qw(ld lm la lc:1 lr:1)) {
    log_push("wrong $letter", 'p', 1, 2);
    log_pop("wrong $letter", lane => 'none');
    my $q = log_q("wrong $letter");
    my $key = "$root:$letter" =~ s/:(l.)(:1)?$/":$1:$q" . ($2 \/\/ '')/er;
    my $kept = $r->call('EXISTS', $key);

    $r->call('RENAME', $key, 'kept') if $kept;
    $r->call('SET', $key, 'x');
    for my $lane ('', 'p') {
        my $text = eval { log_pop("wrong $letter", lane => $lane); '' } // $@;

        like($text, qr/WRONGTYPE/, "$letter is a string")
            unless $letter eq 'la' && $lane;
    }
    $r->call('DEL', $key);
    $r->call('RENAME', 'kept', $key) if $kept;
    log_pop("wrong $letter", auto => 1);
}

# lanes that are noted while others are tried: some come before these in order

log_push('noted', "lane $_", "old $_") for 1 .. 11;

my $since = now_ms() + 1;

wait_for { now_ms() > $since } 5;
log_push('noted', 'lane 12', 'new');
is(ids(log_pop('noted', group => 'since', mode => 't', from => $since,
               batch => 1, partitions => 3)), 'new',
   'none of them is passed over');

# where enough are ready noted ones are taken several at once, now and then

sub calls_of {
    my ($command) = @_;

    return ($r->call('INFO', 'commandstats')
            =~ /^cmdstat_$command:calls=(\d+)/m)[0] // 0;
}

log_push('lumps', "lane $_", 1 .. 65) for 1 .. 200;
$r->call('CONFIG', 'RESETSTAT');
$got = log_pop('lumps', batch => 1, auto => 1) for 1 .. 64;
cmp_ok(calls_of('zrangebyscore'), '<=', 64 + 2 * 5,
       'pops of one with many ready lanes read them, and seldom those noted');
cmp_ok($r->call('ZCARD', lkey('lr', log_q('lumps'), 1)), '>=', 64,
       'but take as many of these as they give');
log_sound('all is well between lumps');

# so that none waits for ever behind those that are ready all the time

sub pops_till_new {
    my ($name, @groups) = @_;
    my ($pops, %left) = (0, map { $_ => 1 } @groups);

    while (%left && $pops++ < 60) {
        for my $group (sort keys %left) {
            my $got = log_pop($name, group => $group, batch => 1, auto => 1);

            delete $left{$group} if lanes($got) eq 'new';
        }
    }

    return $pops;
}

log_push('behind', "deep $_", 1 .. 90) for 1, 2;
log_pop('behind', batch => 1, partitions => 2, auto => 1) for 1 .. 2;
log_push('behind', 'new', 1);
cmp_ok(pops_till_new('behind', 'g'), '<=', 20, 'a new lane comes soon');

# of more groups than the library knows what is due to them

my @many = map { "group $_" } 1 .. 1001;

log_push('crowd', "deep $_", 1 .. 90) for 1, 2;
log_pop('crowd', group => $_, batch => 2, partitions => 2, auto => 1) for @many;
log_push('crowd', 'new', 1);
cmp_ok(pops_till_new('crowd', @many), '<=', 20, 'for each of many groups too');

log_sound('all is well at the end');
done_testing();
