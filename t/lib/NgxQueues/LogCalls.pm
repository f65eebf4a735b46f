package NgxQueues::LogCalls;

# The functions of logs, called as the store does, for NgxQueues::LogHistory.
#
#     my $s = NgxQueues::LogCalls->new($redis, $folder);   $folder: of the Lua
#
# The library is loaded with a clock of its own, the key "clock": see freeze().

use strict;
use warnings;

use Digest::SHA 'sha1';

use NgxQueues::Check;
use NgxQueues::LogRecords;
use NgxQueues::Redis;

my $serial = 0;


# Loads the library so that its time is what the key "clock" says, and real
# time while there is none: of a folder, or the one that an nginx has loaded.
sub freeze {
    my ($redis, $folder) = @_;
    my ($name, $text) = defined $folder ? NgxQueues::Redis::library($folder)
                                        : loaded($redis);

    $text =~ s/^(function L\.now\(\)\n)/$1    local fixed = call('GET', 'clock')
    if fixed then
        return tonumber(fixed)
    end

/m or die "there is no L.now()\n";

    my $reply = $redis->call('FUNCTION', 'LOAD', 'REPLACE', $text);
    die "FUNCTION LOAD: $reply\n" if ref $reply;

    return $name;
}

sub loaded {
    my ($redis) = @_;
    my $list = $redis->call('FUNCTION', 'LIST', 'LIBRARYNAME', 'ngxq_*',
                            'WITHCODE');

    die 'libraries: ' . @$list . "\n" if @$list != 1;

    my %is = @{ $list->[0] };

    return @is{qw(library_name library_code)};
}

sub new {
    my ($class, $redis, $folder) = @_;

    return bless { r => $redis, lib => freeze($redis, $folder),
                   root => 'ngxq:{acme/shop}' }, $class;
}

sub precise { 1 }               # offsets and moments are told
sub repeats { 0 }               # the same id twice in one call
sub blur { '' }
sub epoch { 1.9e12 }

sub clock { $_[0]{r}->call('SET', 'clock', sprintf '%.0f', $_[1]) }

sub start {
    my ($s) = @_;

    $s->{r}->call('FLUSHALL');

    return 'w';
}

sub f {
    my ($s, $name, @args) = @_;
    my $reply = $s->{r}->call('FCALL', "$s->{lib}_$name", 1, $s->{root}, @args);

    die "$name: $reply\n" if ref $reply && ref $reply ne 'ARRAY';

    return $reply;
}

sub candidate {
    my $q = join '', map { ('a' .. 'z', 2 .. 7)[rand 32] } 1 .. 12;
    return ($q, uuid());
}

sub uuid { sprintf '01890000-0000-7000-8000-%012d', ++$serial }


sub settings {
    my ($s, $queue, %o) = @_;

    $s->pop_({ queue => $queue, group => 'of the settings', batch => 1,
               partitions => 1, auto => 0, seconds => '', mode => 'a',
               from => 0 });

    my $q = $s->{r}->call('HGET', "$s->{root}:ln", $queue);
    my $hot = "$s->{root}:lh:$q";
    my @is = split /:/, $s->{r}->call('HGET', $hot, 's'), 14;

    @is[2 .. 5, 9, 11] = @o{qw(lease retry delay window dlq dedup)};
    $s->{r}->call('HSET', $hot, 's', join ':', @is);
}


# the arguments of a push, and which message each new one is
sub pushed {
    my ($s, $groups) = @_;
    my (%at, @names, @args);

    for my $g (@$groups) {
        my @m = @{ $g->{items} };

        if (!$at{ $g->{queue} }) {
            push @names, $g->{queue}, candidate();
            $at{ $g->{queue} } = @names / 3;
        }

        my @chunks;

        while (my @some = splice @m, 0, 1 + rand 64) {
            push @chunks, \@some;
        }

        push @args, $at{ $g->{queue} }, $g->{lane}, scalar @{ $g->{items} },
            with_ids(0, map { [ map { $_->[0] } @$_ ] } @chunks);

        for my $chunk (@chunks) {
            my @some = @$chunk;
            my @texts = ('sub', join("\n", map { $_->[0] } @some), '',
                         join(' ', map { length $_->[1] } @some));

            push @args, join('', map { substr sha1("$g->{lane}\n$_->[0]"), 0, 14 }
                                     @some),
                join(':', 0, scalar @some, 0, map { length } @texts)
                . "\n" . join('', @texts, map { $_->[1] } @some), '';
        }
    }

    return (@names / 3, @names, scalar @$groups, @args);
}

sub answers {
    my ($s, $groups, @reply) = @_;
    my @all;

    for my $g (@$groups) {
        my ($head, @dups) = split / /, shift @reply;
        my ($q, $l, $ms, $start) = split /:/, $head;
        my %dup = map { my ($i, $off) = split /:/; ($i => $off) } @dups;

        push @all, [ map {
            my $off = exists $dup{$_} ? $dup{$_} : $start++;

            +{ dup => exists $dup{$_}, key => "$q:$l:$off",
              exists $dup{$_} ? () : (off => $off, ms => $ms) }
        } 0 .. $#{ $g->{items} } ];
    }

    return \@all;
}

sub push_ {
    my ($s, $groups) = @_;

    return $s->answers($groups, @{ $s->f('log_push', $s->pushed($groups)) });
}


sub pop_ {
    my ($s, $op) = @_;
    my $lease = uuid();
    my @how = ($op->{group}, @$op{qw(batch partitions)}, $op->{auto} ? 1 : 0,
               @$op{qw(seconds mode)}, sprintf('%.0f', $op->{from}),
               rand() < 0.5 ? 1 : 0, $lease);

    my ($q, $next, $now, @rest) = defined $op->{queue}
        ? @{ $s->f('log_pop', $op->{queue}, candidate(), $op->{lane} // '',
                   @how) }
        : @{ $s->f('log_find', @$op{qw(ns task)}, @how) };
    my @lanes;

    while (@rest) {
        my ($q, $l, $first, $last, $start, $n) = split /:/, shift @rest;
        my $name = shift @rest;
        my @m = map { +{ %$_, key => "$q:$l:$_->{off}" } }
                grep { $_->{off} >= $first && $_->{off} <= $last }
                segments($start, splice @rest, 0, $n);

        die "$name: not all of $first to $last\n" if @m != $last - $first + 1;
        push @lanes, { id => "$q:$l", name => $name, messages => \@m };
    }

    return { lease => @lanes && !$op->{auto} ? $lease : '', next => $next,
             lanes => \@lanes };
}

# the messages in segments, which begin at an offset
sub segments {
    my ($off, @texts) = @_;
    my @all;

    for my $text (@texts) {
        my ($ms, $n, $flags, @size) =
            $text =~ s/^(\d+):(\d+):(\d+):(\d+):(\d+):(\d+):(\d+)\n//
            ? ($1, $2, $3, $4, $5, $6, $7) : die "segment: $text\n";
        my (undef, $ids, undef, $lens) = map { substr $text, 0, $_, '' } @size;
        my @ids = split /\n/, $ids, -1;
        my @lens = split / /, $lens;

        die "segment of $n: @ids, @lens\n" if @ids != $n || @lens != $n;

        push @all, map {
            +{ off => $off++, ms => $ms, txn => $ids[$_],
              payload => substr $text, 0, $lens[$_], '' }
        } 0 .. $n - 1;
        die "segment has more: $text\n" if $text ne '';
    }

    return @all;
}


sub acked {
    my ($s, $g) = @_;
    my @items = @{ $g->{items} };
    my @errors = grep { $items[$_][2] ne '' } 0 .. $#items;

    return (split(/:/, $g->{lane}{id}), $g->{lease}, scalar @items,
            join('', map { $_->[0] } @items), scalar @errors,
            map({ ($_, $items[$_][2]) } @errors), map { $_->[1] } @items);
}

sub verdicts { map { [ substr($_, 1), substr($_, 0, 1) ] } @_ }

sub ack {
    my ($s, $group, $groups) = @_;

    return [ verdicts(@{ $s->f('log_ack', $group, scalar @$groups,
                               map { $s->acked($_) } @$groups) }) ];
}

sub tx {
    my ($s, $op) = @_;
    my ($push, $acks, $leases) = @$op{qw(push acks leases)};
    my ($word, @rest) = @{ $s->f('log_tx', scalar @$leases, @$leases,
        $s->pushed($push), scalar @$acks,
        map { ($_->{group}, $s->acked($_)) } @$acks) };

    return { ok => 0, reason => $rest[0] } if $word eq 'failed';

    my @of = splice @rest, 0, scalar @$push;

    return { ok => 1, push => $s->answers($push, @of),
             acks => [ verdicts(@rest) ] };
}


sub extend {
    my ($s, $lease, $seconds) = @_;
    return @{ $s->f('log_extend', $lease, $seconds) };
}

sub undo { $_[0]->f('log_undo', $_[1]) }

# name of the lane and id of each dead letter
sub dead {
    my ($s, $queue) = @_;
    my ($r, $root) = @$s{qw(r root)};
    my $q = $r->call('HGET', "$root:ln", $queue) // return;
    my %names = reverse @{ $r->call('HGETALL', "$root:lp:$q") };
    my %rows = @{ $r->call('HGETALL', "$root:lX:$q") };
    my @all;

    for my $key (keys %rows) {
        my ($l, $txn) = split /:/, $key, 2;
        push @all, map { "$names{$l} $txn" } split / /, $rows{$key};
    }

    my @n = ($r->call('HLEN', "$root:lk:$q"), $r->call('ZCARD', "$root:lK:$q"));

    die "dead letters: @n, but " . @all . "\n" if grep { $_ != @all } @n;

    return @all;
}

# What is wrong in Redis.  That a lease is still listed which is over is not:
# lists go in real time.
sub problems {
    my ($s) = @_;

    return grep { !/:le:\S+ has \S+, which is not leased/ }
           NgxQueues::Check::check($s->{r}, $s->{lib});
}


1;
