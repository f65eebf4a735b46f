#!/usr/bin/perl

# The functions of redis/*.lua: acks of logs.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Logs;
use NgxQueues::Wait;

NgxQueues::Functions::start();

my $n = 0;

# a queue with a lane of these ids that is leased

sub leased {
    my ($ids, %o) = @_;
    my $name = 'k' . ++$n;

    log_push($name, 'p', @$ids);
    log_set($name, %{ $o{set} }) if $o{set};

    return ($name, log_pop($name, batch => $o{batch} // 100,
                           seconds => $o{seconds} // ''));
}

sub cursor {
    my ($name) = @_;
    my @c = split /:/, $r->call('HGET', lkey('lc', log_q($name), 1), 1) =~ s/\n.*//sr;

    return { committed => $c[0], lease => $c[2], retries => $c[6],
             consumed => $c[7] };
}

# a row: its numbers, and texts

sub row {
    my ($name, $i) = @_;
    my ($head, $rest) = split /\n/, $r->call('HGET', lkey('lk', log_q($name)), $i),
                              2;
    my ($l, $g, $offset, $ms, $failed, $retries, $sealed, @size) =
        split /:/, $head;
    my ($id, $producer, $error, $payload, $group) =
        map { substr $rest, 0, $_, '' } @size;

    return "$l $g $offset $retries $sealed|$id|$producer|$error|$payload|$group";
}

# all of a batch

my ($name, $got) = leased([ 1 .. 5 ]);
is(log_ack($got, ''), '1ooooo', 'all of a batch');
is(cursor($name)->{committed}, 5, 'the cursor is at its end');
is(cursor($name)->{lease}, '', 'nobody holds it');
cmp_ok(cursor($name)->{consumed}, '>', 1e12, 'and when is known');
is(log_pop($name)->{next}, -1, 'there is nothing more');
is(log_ack($got, ''), '0lllll', 'the lease is over');
is(log_ack($got, 'cfrdc', lease => ''), '0naaan',
   'without a lease: committed before');
is(log_ack($got, 'c', lease => '', ids => ['x']), '0u', 'an id nobody knows');
is(f('log_ack', 'nobody', 1, log_items($got, ''))->[0], '0ccccc',
   'a group that is not there');
is(f('log_ack', 'g', 2, 'lnone0000001', 1, '', 1, 'c', 0, 1,
     log_q($name), 7, '', 1, 'f', 0, 1)->[0], '0c',
   'a queue that is not there');
is(f('log_ack', 'g', 1, log_q($name), 7, '', 1, 'f', 0, 1)->[0], '0c',
   'a lane that is not there');

# in parts, out of order

($name, $got) = leased([ 'a' .. 'f' ]);
is(log_ack($got, 'c', ids => ['b']), '0o', 'an ack of a part');
is(cursor($name)->{committed}, 2, 'what is before it is done too');
is(log_ack($got, 'cc', ids => [ 'a', 'd' ]), '0no', 'one before and one after');
is(ids(log_pop($name)), '', 'the lease goes on');
is(log_ack($got, 'c', ids => ['f']), '1o', 'till the last one is done');

# beyond the batch

($name, $got) = leased([ 'a' .. 'f' ], batch => 2);
is(log_ack($got, 'cc', ids => [ 'a', 'c' ]), '0ob', 'beyond the leased batch');
is(cursor($name)->{committed}, 1, 'does not count');
is(log_ack($got, 'f', ids => ['e']), '0b', 'nor what failed there');

# who does not hold the lease

is(log_ack($got, 'c', ids => ['b'], lease => 'x'), '0l', 'another lease');
is(log_ack($got, 'c', ids => ['b'], lease => ''), '1o', 'none: the holder is meant');

# failed, with retries

($name, $got) = leased([ 1 .. 4 ], set => { retry => 2 });
for my $i (1, 2) {
    is(log_ack($got, $i == 1 ? 'cfcf' : 'fcf', errors => { 1 => "e$i" }),
       $i == 1 ? '1oooo' : '1ooo', "failed, $i");
    is(cursor($name)->{retries}, $i, 'is counted once in a call');
    is(ids($got = log_pop($name)), '2 3 4', 'and all from it on comes again');
}
is(log_ack($got, 'fcc', errors => { 0 => 'e3' }), '1doo',
   'once too often: a dead letter');
is(row($name, 1), '1 1 2 2 0|2|me|e3|"2"|g', 'its row');
is(cursor($name)->{retries}, 0, 'the counter begins anew');
is(ids($got = log_pop($name)), '3 4', 'the ones after it come');
is(log_ack($got, 'ff'), '1oo', 'the counter is that of the lane');

($name, $got) = leased([ 1, 2 ], set => { retry => 0 });
is(log_ack($got, 'f', ids => [1]), '1d', 'no retries: at once');
is(row($name, 1), '1 1 1 0 0|1|me|Retries exhausted|"1"|g', 'without an error');
is(ids(log_pop($name)), '2', 'and on');

($name, $got) = leased([ 1, 2 ], set => { retry => 0, dlq => 0 });
is(log_ack($got, 'f', ids => [1]), '1x', 'without dead letters it is dropped');
is($r->call('EXISTS', lkey('lk', log_q($name))), 0, 'without a row');
$got = log_pop($name);
is(log_ack($got, 'd'), '1d', 'but where dlq is asked for');
is(row($name, 1), '1 1 2 0 0|2|me|Retries exhausted|"2"|g', 'there is one');

# retry

($name, $got) = leased([ 1 .. 3 ]);
hints();
is(log_ack($got, 'cr', ids => [ 1, 2 ]), '1oo', 'retry');
is(cursor($name)->{retries}, 0, 'does not count');
log_pop($name, group => 'waits', lane => 'none', wait => 1);
is(ids($got = log_pop($name)), '2 3', 'what was not done comes again');
is(log_ack($got, 'r'  . 'c'), '1oo', 'all before it only');
is(hints(), log_q($name), 'who waits is told');
is(ids(log_pop($name)), '2 3', 'and again');

# which one counts

($name, $got) = leased([ 1 .. 6 ]);
is(log_ack($got, 'cccfdr', ids => [ 6, 1, 2, 4, 3, 5 ]), '1oooodo',
   'the lowest that did not succeed');
is(cursor($name)->{committed}, 3, 'is where the cursor stays');
($name, $got) = leased([ 1 .. 3 ]);
is(log_ack($got, 'rfd', ids => [ 2, 2, 2 ]), '1ood', 'of one: dlq before failed');
($name, $got) = leased([ 1 .. 3 ]);
is(log_ack($got, 'rf', ids => [ 2, 2 ]), '1oo', 'failed before retry');
is(cursor($name)->{retries}, 1, 'it is counted');
is(cursor($name)->{committed}, 0, 'and nobody said that the first is done');

# the same ids twice in a batch

($name) = leased([ 'a', 'b' ], set => { dedup => 0 });
log_push($name, 'q', 'x', 'y');
log_push($name, 'q', 'x', 'y');
$got = log_pop($name, lane => 'q');
is(log_ack($got, 'cc', ids => [ 'x', 'y' ]), '0oo', 'the first of each');
is(ids($got), 'x y x y', 'of four');
is(log_ack($got, 'cc', ids => [ 'x', 'y' ]), '1oo', 'then the next');

# after the lease

($name, $got) = leased([ 1 .. 3 ], seconds => 1);
ok(wait_for(sub { log_ack($got, 'c', ids => [1]) eq '0l' || 0 }, 5),
   'a lease that ended is not valid');
is(log_ack($got, 'cc', ids => [ 1, 2 ], lease => ''), '0no',
   'an ack without lease is');
is(log_ack($got, 'f', ids => [3], lease => ''), '1o', 'failed likewise');
is(cursor($name)->{retries}, 1, 'and counts');
is(log_ack($got, 'c', ids => [3], lease => ''), '0o',
   'also where nobody holds the lane any more');
is(log_pop($name)->{next}, -1, 'all is done');

# far ahead, without a lease: from the index

($name) = leased([ 'first' ]);
my $lane = log_pop($name, group => 'other');
log_ack($lane, 'r', group => 'other');
log_push($name, 'p', "$_") for 1 .. 300;
is(log_ack($lane, 'c', ids => [250], lease => '', group => 'other'), '0o',
   'an offset far ahead');
is(ids(log_pop($name, group => 'other', batch => 2)), '251 252', 'goes on there');

# a cursor never goes back

($name, $got) = leased([ 1 .. 9 ], batch => 9);
my ($last, $back) = (0, 0);
srand 7;
for (1 .. 300) {
    my @ids = map { 1 + int rand 9 } 1 .. 1 + int rand 3;
    my $words = join '', map { (qw(c c c f r d))[rand 6] } @ids;

    log_ack($got, $words, ids => \@ids, lease => rand(2) < 1 ? '' : $got->{lease});
    my $at = cursor($name)->{committed};
    $back++ if $at < $last;
    $last = $at;
    my $next = log_pop($name, batch => 1 + int rand 9);
    $got = $next if ids($next) ne '';
}
is($back, 0, 'a cursor never goes back');

# several lanes, several queues, in one call

log_push('x1', "p$_", 1, 2) for 1 .. 3;
log_push('x2', 'p', 1, 2);
$got = log_pop('x1', partitions => 3, batch => 6);
my $more = log_pop('x2');
my $reply = f('log_ack', 'g', 4, log_items($got, ''), log_items($got, 'f',
              at => 1, ids => [2]), log_items($more, ''),
              log_items($got, 'c', at => 2, ids => [1]));
is("@$reply", '1oo 1o 1oo 0o', 'each is decided for itself');
is($r->call('GET', "$root:le:$got->{lease}"), log_q('x1') . ':1:'
   . $got->{lanes}[2]{l}, 'the lease has what is left');
is($r->call('EXISTS', "$root:le:$more->{lease}"), 0, 'or is gone');
$reply = f('log_ack', 'g', 2, log_items($got, 'c', at => 2, ids => [1]),
           log_items($got, 'c', at => 2, ids => [2], lease => ''));
is("@$reply", '0n 1o', 'two of one lane see each other');

# by the index of ids, in a long segment

log_push('long', 'p', 1 .. 40);
$got = log_pop('long', batch => 1, auto => 1);
is(log_ack($got, 'cc', lease => '', ids => [ 30, 41 ]), '0ou', 'without a lease');
is(ids(log_pop('long', batch => 2)), '31 32', 'the cursor is behind it');

# sealed payloads and rows of several groups

log_push('sealed', 'p', 'first');
log_set('sealed', enc => 1);
f('log_push', 1, 'sealed', 'x', 'x', 1,
  log_group(1, 'p', 1, [ [qw(a b c)], '', 'AA', 'BBB', 'C' ]));
$got = log_pop('sealed', group => $_) , log_ack($got, 'ccd', ids => [qw(first a b)],
       group => $_, errors => { 2 => "of $_" }) for 'g1', 'g2';
is(row('sealed', 1), '1 1 3 0 1|b|me|of g1|BBB|g1', 'a sealed one');
is(row('sealed', 2), '1 2 3 0 1|b|me|of g2|BBB|g2', 'of another group');
is($r->call('HGET', lkey('lX', log_q('sealed')), '1:b'), '1 2', 'found by its id');

# what was removed before it became a dead letter

($name, $got) = leased([ 1, 2 ]);
my $q = log_q($name);
$r->call('HDEL', lkey('lm', $q), '1:1');
$r->call('ZREM', lkey('lo', $q), 1);
log_lane_set($name, 1, sub { $_[0][1] = 3 });
log_hot_set($name, n => 0);
is(log_ack($got, 'd', ids => [1]), '1d', 'retention was faster');
like(row($name, 1), qr/\|null\|g$/, 'a row without payload');

# many

my @ids = map { "m$_" } 1 .. 1000;
($name) = leased([ 'z' ]);
log_push($name, 'many', @ids);
$got = log_pop($name, lane => 'many', batch => 1000);
is(log_ack($got, ''), '1' . 'o' x 1000, 'a thousand at once');

for my $bad ([ 'g' ], [ 'g', 1 ], [ 'g', 1, $q, 1, '', 2, 'c', 0, 1, 2 ],
             [ 'g', 1, $q, 1, '', 1, 'c', 0 ], [ 'g', 1, $q, 1, '', 1, 'c', 0, 1, 2 ])
{
    my $reply = f('log_ack', @$bad);
    like("$reply", qr/^QUEUES ARGUMENT /, 'wrong: ' . join ',', @$bad);
}

log_sound('all is well');

for my $letter (qw(lc:1 lr:1 lk lK lK:1 lX)) {
    my ($name, $got) = leased([ 1, 2 ]);
    my $q = log_q($name);
    my ($key) = map { "$root:$_" } $letter =~ s/^(l.)/$1:$q/r;
    my $kept = $r->call('EXISTS', $key);
    my $before = cursor($name)->{committed};

    $r->call('RENAME', $key, 'kept') if $kept;
    $r->call('SET', $key, 'x');
    like(log_ack($got, 'cd'), qr/WRONGTYPE/, "$letter is a string");
    $r->call('DEL', $key);
    $r->call('RENAME', 'kept', $key) if $kept;
    is(cursor($name)->{committed}, $before, 'nothing is half done');
}

($name, $got) = leased([ 1 ]);
$r->call('DEL', "$root:le:$got->{lease}");
$r->call('HSET', "$root:le:$got->{lease}", 'x', 1);
is(log_ack($got, 'c'), '1o', 'a lease of another type is in nobody\'s way');
$r->call('DEL', "$root:le:$got->{lease}");

log_sound('all is well at the end');
done_testing();
