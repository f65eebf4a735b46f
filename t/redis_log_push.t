#!/usr/bin/perl

# The functions of redis/*.lua: pushes to logs.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Logs;
use NgxQueues::Wait;

NgxQueues::Functions::start();

sub calls {
    my $info = $r->call('INFO', 'commandstats');
    my $sum = 0;

    while ($info =~ /^cmdstat_([^:]*):calls=(\d+)/mg) {
        $sum += $2 if $1 !~ /^(?:fcall|info)$/;
    }

    return $sum;
}

# a queue, its lanes and offsets

my $w = log_push('orders.paid.eu', 'p', 'a', 'b', 'c');
my $q = log_q('orders.paid.eu');

like("@$w", qr/^\Q$q\E:1:\d{13}:1$/, 'a push makes the queue and the lane');
is(hints(), 'd', 'who waits by labels is told of a new queue');
is($r->call('HGET', "$root:lq:$q", 'ns'), 'orders', 'a namespace of the name');
is($r->call('HGET', "$root:lq:$q", 'task'), 'paid', 'and a task');
like(log_hot('orders.paid.eu', 's'), qr/^0:\Q$q\E:300:3:0:/,
     'with the settings of a queue that a push made');

log_push('plain', 'p', 'a');
is($r->call('HGET', lkey('lq', log_q('plain')), 'ns'), 'plain',
   'a name without dots is the namespace');
is($r->call('HGET', lkey('lq', log_q('plain')), 'task'), '', 'without task');

$w = log_push('orders.paid.eu', 'p', 'd');
like("@$w", qr/:1:\d+:4$/, 'offsets go on');
$w = log_push('orders.paid.eu', 'p2', 'a');
like("@$w", qr/:2:\d+:1$/, 'another lane has its own, and its own ids');

$w = f('log_push', pushes([ 'plain', 'x', 1, 2 ], [ 'other', 'x', 1 ],
                              [ 'plain', 'y', 1 ]));
is(join(' ', map { /:(\d+:)\d+(:\d+)/ ? "$1$2" : '?' } @$w), '2::1 1::1 3::1',
   'several lanes of several queues in one call');

# texts are kept as they are

my $name = 'a:b "\\u0001 \\" é';
{
    local $NgxQueues::Logs::producer = 'sub:1';
    f('log_push', 1, $name, 'lnamed000001', uuid(900), 1,
      log_group(1, $name, 0, [ [ 'i:1', 'é' ], "t1\n", '{"a":[1, 2]}', 'null' ],
            [ [ 3 ], '', '""' ]));
}
my $got = log_pop($name);
is(join('|', map { "$_->{id},$_->{payload},$_->{trace},$_->{producer}" }
             @{ $got->{messages} }),
   'i:1,{"a":[1, 2]},t1,sub:1|é,null,,sub:1|3,"",,sub:1',
   'ids, payloads, trace ids and the producer');
is($got->{lanes}[0]{name}, $name, 'and names');

# duplicates

$w = log_push('plain', 'p', 'z', 'a', 'y');
like("@$w", qr/:1:\d+:2 1:1:\d{13}$/, 'a duplicate is told with its first one');
$w = log_push('plain', 'p', 'a', 'z');
like("@$w", qr/ 0:1:\d{13} 1:2:\d{13}$/, 'all of them');
is(log_hot('plain', 'n'), 6, 'nothing of them is stored');
is(ids(log_pop('plain', lane => 'p')), 'a z y', 'the others are');

f('log_push', 1, 'plain', 'x', 'x', 1,
  log_group(1, 'p', 0, [ [ 'a', 'k' ], "\n7f", '1', '22' ],
        [ [ 'y', 'l' ], "x\ny", '3', '44' ]));
$got = log_pop('plain', lane => 'p', group => 'late', mode => 'a');
is(join(' ', map { "$_->{id}=$_->{payload}=$_->{trace}" }
             @{ $got->{messages} }[3, 4]),
   'k=22=7f l=44=y', 'what is left of chunks with duplicates');

log_set('plain', dedup => 1);
my ($again) = (0);
wait_for { $w = log_push('plain', 'p', 'a'); $again = "@$w" !~ / / } 5;
ok($again, 'after the window an id is new again');
$w = log_push('plain', 'p', 'a');
like("@$w", qr/ 0:\d+:\d+$/, 'and known from then on');
log_set('plain', dedup => 0);
$w = log_push('plain', 'p', 'a', 'b');
unlike("@$w", qr/ /, 'without a window none is a duplicate');

# long segments have one value in the index of ids, and a list of them

log_set('plain', dedup => 3600);

my @long = map { "id $_" } 1 .. 100;

sub push_long {
    my ($lane, @chunks) = @_;
    my $w = f('log_push', 1, 'plain', 'x', 'x', 1,
              log_group(1, $lane, 0, map { [ $_ ] } @chunks));

    return join ' ', map { s/:\d{13}$//r } (split / /, $w->[0])[1 .. $w->[0] =~ tr/ //];
}

is(push_long('long', [ @long[0 .. 63] ], [ @long[64 .. 99] ]), '', 'of 64 and 36');
is(push_long('long', [ @long[0, 1, 62 .. 65, 99] ]),
   '0:1 1:2 2:63 3:64 4:65 5:66 6:100', 'each is known where it is');
is(push_long('other', [ @long[0 .. 15] ]), '', 'but in its lane');
is(push_long('long', [ (map { ("n$_", $long[$_]) } 1 .. 9), map { "n$_" } 10 .. 20 ]),
   join(' ', map { 2 * $_ - 1 . ':' . ($_ + 1) } 1 .. 9), 'half of it again');
is(push_long('long', [ map { "n$_" } 20, 1 .. 19 ]),
   join(' ', '0:120', map { "$_:" . (100 + $_) } 1 .. 19), 'of the others each, too');
is(push_long('short', [ @long[0 .. 14] ], [ @long[15 .. 30] ]), '', 'of 15 and 16');
is(push_long('short', [ @long[30, 0, 14, 15] ]), '0:31 1:1 2:15 3:16',
   'those of a short one have each its own');
is(log_pop('plain', lane => 'long', batch => 1000)->{messages}[119]{id}, 'n20',
   'they are there once');

# windows of ids: at most two, which leave by themselves

my $li = lkey('li', log_q('plain'));
my $iw = log_hot('plain', 'iw');
cmp_ok($r->call('PTTL', "$li:$iw"), '>', 900_000, 'a window leaves by itself');
log_push('plain', 'w', 'old');
log_hot_set('plain', is => now_ms() - 3_600_001);
$w = log_push('plain', 'w', 'old', 'new');
like("@$w", qr/ 0:1:\d+$/, 'an id of the window before is known');
is($r->call('EXISTS', "$li:$iw", "$li:" . ($iw + 1)), 2, 'there are two');
log_hot_set('plain', is => now_ms() - 3_600_001);
log_push('plain', 'w', 'newer');
is($r->call('EXISTS', "$li:$iw"), 0, 'no third one');
log_hot_set('plain', is => now_ms() - 7_200_001);
log_push('plain', 'w', 'newest');
is($r->call('EXISTS', map { "$li:" . ($iw + $_) } 0 .. 2), 0,
   'and after a long time only the new one');

# sealed payloads

my $seal = f('log_push', 1, 'plain', 'x', 'x', 1, log_group(1, 'p', 1, [ ['s1'] ]));
like("$seal", qr/^QUEUES SEAL 1$/, 'a queue that is not sealed wants none');
log_set('plain', enc => 1);
$seal = f('log_push', pushes([ 'fresh', 'p', 1 ], [ 'plain', 'p', 's1' ]));
like("$seal", qr/^QUEUES SEAL 2$/, 'one that is wants nothing else');
is(log_q('fresh'), undef, 'and nothing is stored');
log_set('plain', enc => 0);

# ids that were made for the call are not looked for

my @made = (1, 'plain', 'x', 'x');

f('log_push', @made, 1, log_group(1, 'made', 0, [ ['u1'] ]));
$w = f('log_push', @made, 1, log_group(1, 'made', 2, [ ['u1'] ]));
unlike("@$w", qr/ /, 'an id that cannot be known is not looked for');
$w = log_push('plain', 'made', 'u1');
like("@$w", qr/ 0:2:\d+$/, 'but found from then on');
like(f('log_push', @made, 1, log_group(1, 'made', 3, [ ['u2'] ])) . '',
     qr/^QUEUES SEAL 1$/, 'and may be sealed');
$w = f('log_push', @made, 2, log_group(1, 'made', 0, [ ['u3'] ]),
       log_group(1, 'made', 0, [ ['u4'] ]));
is(join(' ', map { /:(\d+)$/ } @$w), '3 4', 'a lane that is in two groups');

# hints

hints();
log_push('plain', 'h', 1);
is(hints(), '', 'nobody waits, nobody is told');
$got = log_pop('plain', lane => 'none', wait => 1);
is($got->{next}, -1, 'nothing for the one who waits');
log_push('plain', 'h', 2);
is(hints(), log_q('plain'), 'the next push tells it');
log_push('plain', 'h', 3);
is(hints(), '', 'once');
log_pop('plain', lane => 'none', wait => 1);
log_push('plain', 'h', 3);
is(hints(), '', 'duplicates tell nobody');

# a group costs a push nothing

log_pop('many', group => "g$_", lane => 'none') for 1 .. 100;
log_push('many', 'p', "m$_") for 1 .. 3;
log_push('few', 'p', "m$_") for 1 .. 3;
my @cost;
for my $name ('many', 'few') {
    my $before = calls();
    log_push($name, 'p', 'x');
    push @cost, calls() - $before;
}
is($cost[0], $cost[1], 'a push with 100 groups takes as many commands');

# order, in one lane, whatever the clock does

my $lane = lkey('ld', log_q('few'));
my $record = $r->call('HGET', $lane, 1);
my $future = now_ms() + 5000;
log_lane_set('few', 1, sub { $_[0][3] = $future });
like(log_push('few', 'p', 'later')->[0], qr/:$future:/,
     'a moment is never before that of the message before');
$r->call('HSET', $lane, 1, $record);
$r->call('HDEL', lkey('lm', log_q('few')), '1:5');
log_hot_set('few', n => log_hot('few', 'n') - 1);

# many messages, in chunks

my @ids = map { "n$_" } 1 .. 3000;
my @chunks;
for (my $i = 0; $i < @ids; $i += 64) {
    my $to = $i + 63 > $#ids ? $#ids : $i + 63;
    push @chunks, [ [ @ids[$i .. $to] ] ];
}
$w = f('log_push', 1, 'much', 'lmuch0000001', uuid(901), 1,
       log_group(1, 'p', 0, @chunks));
is(scalar @$w, 1, 'a push of 3000');
is(ids(log_pop('much', batch => 1000)), "@ids[0 .. 999]", 'in order');
is(scalar @{ $r->call('ZRANGE', lkey('lt', log_q('much')), 0, -1) }, 1,
   'with an entry in the index by time for so many segments');

# wrong arguments, and keys of a wrong type

my @abc = log_group(1, 'l', 0, [ [ 'a', 'b', 'c' ] ]);

for my $bad ([ '' ], [ 1, 'q' ], [ 1, 'q', 'x', 'x', 1, 2, 'l' ],
             [ 1, 'q', 'x', 'x', 1, 1, 'l', 2, 0, @abc[4 .. 6] ],
             [ 1, 'q', 'x', 'x', 1, @abc[0 .. 3], hashes('l', 'a', 'b'),
               @abc[5, 6] ],
             [ 1, 'q', 'x', 'x', 1, @abc[0 .. 5] ],
             [ 1, 'q', 'a:b', 'x', 1, log_group(1, 'l', 0, [ ['a'] ]) ])
{
    my $reply = f('log_push', @$bad);
    like("$reply", qr/^QUEUES ARGUMENT /,
         'wrong: ' . join(',', @$bad) =~ s/[^ -~]/?/gr);
}

is(log_q('q'), undef, 'nothing is made of that');
like(f('log_push', 1, 'q', log_q('few'), uuid(902), 1,
       log_group(1, 'l', 0, [ ['a'] ])) . '', qr/^QUEUES IDTAKEN /,
     'an id that is in use');

log_sound('all is well');

for my $letter (qw(ld lp lm la lo)) {
    log_push("wrong $letter", 'first', 1);
    my $q = log_q("wrong $letter");
    my $key = lkey($letter, $q);
    my $before = join ' ', map { $r->call('DUMP', lkey($_, $q)) // '-' }
                           grep { $_ ne $letter } qw(lp ld lm la lo lt lh);

    $r->call('RENAME', $key, 'kept');
    $r->call('SET', $key, 'x');
    my $reply = log_push("wrong $letter", 'second', 'x', 'y');
    like("$reply", qr/WRONGTYPE/, "$letter is a string");
    is(join(' ', map { $r->call('DUMP', lkey($_, $q)) // '-' }
                 grep { $_ ne $letter } qw(lp ld lm la lo lt lh)), $before,
       'nothing is half done');
    $r->call('RENAME', 'kept', $key);
}

$r->call('SET', "$root:lN:mark", 'x');
like(log_push('mark', 'p', 1) . '', qr/WRONGTYPE/, 'lN is a string');
is(log_q('mark'), undef, 'no queue is made');
$r->call('DEL', "$root:lN:mark");

# more new lanes than a command of a function takes arguments

$w = f('log_push', pushes(map { [ 'wide', "lane $_", 1 ] } 1 .. 5000));
is(ref $w eq 'ARRAY' ? scalar @$w : "$w", 5000, 'a push into 5000 new lanes');
is(log_hot('wide', 'lanes'), 5000, 'which are counted');
is(log_hot('wide', 'n'), 5000, 'as are their messages');

log_sound('all is well at the end');

done_testing();
