#!/usr/bin/perl

# The functions of redis/*.lua: logs, how ids are known.  Ids that rise are in the
# index as ranges, all others one by one; a message is known by its id either way.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Logs;

NgxQueues::Functions::start();

my $seed = $ENV{NGX_QUEUES_SEED} || 1 + int rand 1e6;
note("NGX_QUEUES_SEED=$seed");
srand $seed;

sub of_window { lkey($_[0], log_q('q')) . ':' . log_hot('q', 'iw') }
sub own { grep { !/^\d+:\d+$/ } @{ $r->call('HKEYS', of_window('li')) } }
sub runs { @{ $r->call('ZRANGE', of_window('lj'), 0, -1) } }
sub id { sprintf '%s%05d', @_ }

# what a push said: which of its ids were there, and where; where the others begin
sub dups {
    my ($word, @dups) = split / /, $_[0][0];

    return (+{ map { (split /:/)[0, 1] } @dups }, $word =~ /:(\d+)$/);
}

# which ways there are

log_push('q', 'p', map { id('a', $_) } 1 .. 100);
is(scalar own() . '|' . join(' ', runs()) =~ s/\d{13}//r, "0|1:a00100\na00001\n1:",
   'ids that rise: the first and the last one');
cmp_ok($r->call('PTTL', of_window('lj')), '>', 900_000, 'which leave by themselves');
log_push('q', 'p', map { id('a', $_) } 101 .. 107);
is(scalar own() . '|' . runs(), '7|1', 'a few: each');
log_push('q', 'p', map { id('b', $_) } 9, 1 .. 8);
is(scalar own() . '|' . runs(), '16|1', 'those that do not rise: each');
log_push('q', 'p', map { id('a', 50) . $_ } 1 .. 8);
is(scalar own() . '|' . runs(), '24|1', 'and those within a range');
log_push('q', 'p', map { id('a', 0) . $_ } 1 .. 8);
log_push('q', 'p', map { id('c', $_) } 1 .. 8);
log_push('q', 'other', map { id('a', $_) } 1 .. 9);
is(scalar own() . '|' . runs(), '24|4', 'others before and behind, and in another lane');
f('log_push', 1, 'q', 'x', 'x', 1,
  log_group(1, 'two', 0, [ [ map { id('a', $_) } 1 .. 8 ] ], [ [ id('a', 9) ] ]));
is(scalar own() . '|' . runs(), '24|6', 'each segment of a push for itself');

my ($dup) = dups(log_push('q', 'p', map { id('a', $_) } 1 .. 3, 99 .. 102, 1000));
is_deeply($dup, { map({ $_ => $_ + 1 } 0 .. 2), map { $_ => $_ + 96 } 3 .. 6 },
          'those of both kinds are known');
($dup) = dups(log_push('q', 'p', 'a00100'));
is_deeply($dup, { 0 => 100 }, 'one alone');
($dup) = dups(log_push('q', 'p', 'a000001', 'a0000', 'a'));
is_deeply($dup, { 0 => 125 }, 'those that are longer or shorter are others');
log_sound('all is well');

my $words = f('log_push', pushes([ 'q', 'two', 'new' ], [ 'q', 'p', 'newer', 'a00101' ]));
($dup) = dups([ $words->[1] ]);
is_deeply($dup, { 1 => 101 }, 'also where another lane has none of its own');

# the same id twice: the last one counts

log_set('q', dedup => 0);
log_push('q', 'twice', map { id('x', $_) } 1 .. 8);
log_push('q', 'twice', 'x00003', 'y00005');
log_push('q', 'twice', map { id('y', $_) } 1 .. 8);
log_set('q', dedup => 3600);
($dup) = dups(log_push('q', 'twice', 'x00003', 'y00005', 'x00004'));
is_deeply($dup, { 0 => 9, 1 => 15, 2 => 4 }, 'of a run and an id of its own the later one');

# what an ack says without a lease, and a message that is looked for

my $got = log_pop('q', lane => 'p', batch => 1, auto => 1);
is(log_ack($got, 'cc', lease => '', ids => [ 'a00030', 'a00200' ]), '0ou', 'an ack');
is(ids(log_pop('q', lane => 'p', batch => 2)), 'a00031 a00032', 'the cursor is behind it');
my $q = log_q('q');
my $found = f('log_message', $q, 1, 'a00077');
ok(ref $found && (grep { defined && /a00077/ } @$found), 'a message by its id');

# wrong arguments

for my $flags (4, "4a\n", "4a\nb\nc\n") {
    my @group = log_group(1, 'p', 0, [ [ map { id('x', $_) } 1 .. 9 ] ]);
    $group[3] = $flags;
    my $reply = f('log_push', 1, 'q', 'x', 'x', 1, @group);
    like("$reply", qr/^QUEUES ARGUMENT /, 'wrong: ' . $flags =~ s/\n/,/gr);
}

# by chance: several producers, whose ids rise, in lanes of both; some of them
# again, in any order, alone or in hundreds; windows that are over

my (%at, %next, %last, @bad);
my $window = 0;

sub some {
    my ($lane) = @_;
    my @known = sort keys %{ $at{$lane} };
    my $n = (1, 2, 5, 8, 20, 100)[rand 6];
    my $how = int rand 6;
    my $producer = ('a' .. 'd')[rand 4];

    return map { id($producer, $next{$producer} += 1 + rand 2) } 1 .. $n if $how < 3;
    return map { id('r', rand 2000) } 1 .. $n if $how == 3;
    return unless @known;

    my $from = int rand @known;
    my $to = $from + $n > @known ? $#known : $from + $n - 1;
    my @part = @known[$from .. $to];

    return @part if $how == 4;
    return map { $known[rand @known] } 1 .. $n if rand 2 < 1;
    return sort @part, map { id('a', rand ($next{a} // 0)) . 'x' } 1 .. $n;
}

for my $step (1 .. 400) {
    my @groups;

    for my $lane (grep { rand 2 < 1 } map { "l$_" } 0 .. 2) {
        my %seen;
        my @ids = grep { !$seen{$_}++ } some($lane);

        @ids = sort @ids if rand 3 < 1;
        push @groups, [ 'r', $lane, @ids ] if @ids;
    }

    next unless @groups;

    if (rand(60) < 1 && $window) {
        log_hot_set('r', is => now_ms() - 3_600_001);
        $window++;
    }

    my $words = f('log_push', pushes(@groups));

    $window ||= 1;

    for my $g (@groups) {
        my (undef, $lane, @ids) = @$g;
        my ($dups, $start) = dups([ shift @$words ]);

        for my $i (0 .. $#ids) {
            my $was = $at{$lane}{ $ids[$i] };
            my $known = $was && $was->[1] >= $window - 1 ? $was->[0] : '';
            my $is = $dups->{$i} // '';

            push @bad, "$step: $ids[$i] of $lane is at $is, not '$known'" if $is ne $known;
            $at{$lane}{ $ids[$i] } = [ $start++, $window ] unless defined $dups->{$i};
        }
    }

    next if $step % 50;
    log_sound("after $step");
}

is("@bad[0 .. ($#bad < 4 ? $#bad : 4)]", '', 'what was there is known, where it is');

$q = log_q('r');
for my $lane (sort keys %at) {
    my $l = $r->call('HGET', lkey('lp', $q), $lane);
    my @in = grep { $at{$lane}{$_}[1] >= $window - 1 } sort keys %{ $at{$lane} };

    for my $id (map { $in[rand @in] } 1 .. 20) {
        my $reply = f('log_message', $q, $l, $id);
        push @bad, "$id of $lane is not found" unless ref $reply && grep { defined && /\Q$id\E/ } @$reply;
    }
}
is("@bad", '', 'and found by it');

is(f('log_delete', $_), 1, "$_ is removed") for 'q', 'r';
log_sound('nothing is left of them');

done_testing();
