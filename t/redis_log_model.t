#!/usr/bin/perl

# The functions of redis/*.lua: logs, by chance.  Pushes, pops, acks and all else
# of several groups: each gets each message, each lane in order, and a cursor is
# where the verdicts say.

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

my @queues = qw(a.x a.y b);
my @groups = qw(one two three);
my (%log, %done, @held);
my ($serial, @wrong) = (0);

sub any { $_[rand @_] }
sub wrong { push @wrong, "@_" if @wrong < 5 }
sub cursor { $done{"@_"} //= 0 }

sub push_some {
    my %groups;

    for (1 .. 1 + int rand 4) {
        my $lane = any(@queues) . ' p' . int rand 6;
        push @{ $groups{$lane} }, map { 'm' . ++$serial } 1 .. 1 + int rand(
            rand(10) < 1 ? 90 : 4);
    }

    for my $lane (keys %groups) {
        push @{ $groups{$lane} }, any(@{ $log{$lane} })
            if @{ $log{$lane} // [] } && rand(4) < 1;
    }

    my $reply = f('log_push', pushes(map { [ split(/ /), @{ $groups{$_} } ] }
                                         sort keys %groups));
    return wrong("push: $reply") unless ref $reply;

    for my $lane (keys %groups) {
        my %had = map { $_ => 1 } @{ $log{$lane} };
        push @{ $log{$lane} }, grep { !$had{$_}++ } @{ $groups{$lane} };
    }
}

my %name;

sub check_got {
    my ($got, $group, $auto) = @_;
    my $found = @{ $got->{lanes} };

    %name = reverse @{ $r->call('HGETALL', "$root:ln") };

    for my $lane (@{ $got->{lanes} }) {
        my $key = "$name{ $lane->{q} } $lane->{name}";
        my @ids = map { $_->{id} } grep { $_->{lane} == $lane }
                                   @{ $got->{messages} };
        my $at = cursor($group, $key);

        wrong("$group got @ids of $key, at $at")
            if "@ids" ne join ' ', @{ $log{$key} }[$at .. $at + $#ids];
        $done{"$group $key"} += @ids if $auto;
    }

    push @held, [ $got, $group ] if $found && !$auto;

    return $found;
}

sub pop_some {
    my ($group, %o) = @_;

    %o = (group => $group, batch => 1 + int rand 40,
          partitions => 1 + int rand 4, auto => rand(5) < 1 ? 1 : 0, %o);
    $o{lane} = 'p' . int rand 6 if !exists $o{lane} && rand(5) < 1;

    my $got = rand(4) < 1 ? log_find(any('a', 'b'), '', %o)
                          : log_pop(any(@queues), %o);

    return check_got($got, $group, $o{auto});
}

sub end_some {
    my ($got, $group) = @{ splice @held, rand @held, 1 };

    if (rand(6) < 1) {
        f('log_undo', $got->{lease});
        return;
    }

    for my $i (0 .. $#{ $got->{lanes} }) {
        my $lane = $got->{lanes}[$i];
        my $key = "$group $name{ $lane->{q} } $lane->{name}";
        my $n = $lane->{last} - $lane->{first} + 1;
        my $fine = rand(3) < 2 ? $n : int rand $n;
        my $words = 'c' x $fine . ($fine < $n ? any('r', 'f', 'd')
                                   . 'c' x ($n - $fine - 1) : '');
        my $reply = log_ack($got, $words, group => $group, at => $i);
        my ($released, @letters) = split //, $reply;

        wrong("ack $words: $reply") if !$released;
        wrong("ack $words: $reply")
            if grep { $letters[$_] ne 'o' && $_ != $fine } 0 .. $n - 1;
        $done{$key} += $fine + ($fine < $n && $letters[$fine] eq 'd');
    }
}

for my $step (1 .. 1500) {
    my $dice = rand 10;

    if ($dice < 3) { push_some() }
    elsif ($dice < 7) { pop_some(any(@groups)) }
    elsif (@held) { end_some() }

    log_sound("after $step steps") if $step % 250 == 0;
}

end_some() while @held;

for my $group (@groups) {
    for my $name (@queues) {
        my $got;

        for (1 .. 3000) {
            $got = log_pop($name, group => $group, batch => 50, auto => 1,
                           partitions => 3);
            check_got($got, $group, 1);
            last if !@{ $got->{lanes} } && $got->{next} != 0;
        }

        is($got->{next}, -1, "$group has all of $name");
    }

    is(join(' ', map { cursor($group, $_) } sort keys %log),
       join(' ', map { scalar @{ $log{$_} } } sort keys %log),
       "$group has each message");
}

is(join("\n", @wrong), '', 'in order');
log_sound('all is well');
done_testing();
