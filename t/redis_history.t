#!/usr/bin/perl

# The functions of redis/*.lua against a model, and the checker against faults.

use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes qw(sleep time);

use lib "$FindBin::Bin/lib";
use NgxQueues::Check;
use NgxQueues::Functions;
use NgxQueues::Redis;

NgxQueues::Functions::start();


# Random calls against a model, many times over: TEST_SEED for the first one,
# TEST_HISTORIES for how many.  Moments are moved by changing scores, retention
# is what was sent before a mark.

my ($q, $gen, $mark, $bad);
my (%m, @old);                  # id → body, state, count, token; stale handles

sub wrong { $bad //= "@_" }
sub some { my @l = sort grep { $_[0]->($m{$_}) } keys %m;
           @l ? $l[rand @l] : undef }
sub held { $_[0]{token} ne '' }
sub of_token { my $t = $_[0];
               sort { later($a, $b) } grep { $m{$_}{token} eq $t } keys %m }

sub later {
    my ($x, $y) = map { [ /(\d+)-(\d+)/ ] } @_;
    return $x->[0] <=> $y->[0] || $x->[1] <=> $y->[1];
}

# ids that are held: of one receive, in order or not, all or a part, or any
sub handles {
    my $id = some(\&held) // return;
    my @ids = of_token($m{$id}{token});
    my $dice = rand;

    @ids = sort { rand() <=> 0.5 } @ids if $dice > 0.5;
    @ids = @ids[0 .. rand @ids] if $dice > 0.7;
    @ids = map { some(\&held) } 1 .. 4 if $dice > 0.85;

    my %seen;
    return grep { !$seen{$_}++ } @ids;
}

sub stale { push @old, map { [ $_, $m{$_}{token} || 7 ] } @_ }

my %do;

%do = (
    send => sub {
        my @b = map { 'b' . int rand 1e9 } 1 .. 1 + rand 6;
        my $delay = rand() < 0.3 ? 900 : rand() < 0.5 ? 0 : '';
        my @ids = put($q, $delay, @b);

        for (0 .. $#b) {
            $m{ $ids[$_] } = { body => $b[$_], count => 0, token => '',
                               state => $delay ? 'delayed' : 'visible' };
        }
    },

    receive => sub {
        my $n = 1 + int rand 8;
        my $vt = rand() < 0.2 ? 0 : 1000;
        my $visible = grep { $_->{state} eq 'visible' } values %m;
        my ($h, @got) = take($q, $n, $vt, 0);
        my $want = $n < $visible ? $n : $visible;

        wrong(@got . " received of $want") if @got != $want;

        for my $got (@got) {
            my ($id, $m) = ($got->[0], $m{ $got->[0] });

            return wrong("received @$got")
                if !$m || $m->{state} ne 'visible'
                   || $got->[1] ne qq("$m->{body}")
                   || $got->[3] != ++$m->{count};
            stale($id) if $m->{token} ne '';
            $m->{token} = token();
            $m->{state} = $vt ? 'flying' : 'visible';
        }
    },

    ack => sub {
        my @ids = handles() or return;
        my $got = ack(map { ($q, $gen, $_, $m{$_}{token}) } @ids,
                      rand() < 0.3 ? $ids[0] : ());

        stale(@ids);
        delete @m{@ids};
        wrong("ack @$got") if "@$got" !~ /^1( 1){$#ids}( 0)?$/;
    },

    stale => sub {
        my @h = map { $old[rand @old] // () } 1 .. 3 or return;
        my $got = ack(map { ($q, $gen, @$_) } @h);

        wrong("stale ack @$got") if "@$got" =~ /1/;
        $got = visibility(map { ($q, $gen, @$_, 9) } @h);
        wrong("stale visibility @$got") if "@$got" =~ /1/;
    },

    visibility => sub {
        my @ids = handles() or return;
        my $vt = rand() < 0.5 ? 0 : 1000;
        my $got = visibility(map { ($q, $gen, $_, $m{$_}{token}, $vt) } @ids);

        $m{$_}{state} = $vt ? 'flying' : 'visible' for @ids;
        wrong("visibility @$got") if "@$got" =~ /0/;
    },

    undo => sub {
        my @ids = handles() or return;
        my $t = $m{ $ids[0] }{token};

        @ids = grep { $m{$_}{token} eq $t } @ids;
        stale(@ids);

        my $got = f('undo', $q, $gen, $t, @ids);

        for (@m{@ids}) {
            @$_{qw(token state)} = ('', 'visible');
            $_->{count}--;
        }

        wrong("undo $got") if $got != @ids;
    },

    # a visibility ends: of a single one, or of a batch
    end => sub {
        my $id = some(sub { $_[0]{state} eq 'flying' }) // return;
        my $record = $r->call('HGET', key('e', $q, $gen), $m{$id}{token});
        my @ids = $record && $record =~ /\b\Q$id\E\b/
            ? (split / /, $record)[1 .. 99] : $id;

        soon($q, @ids > 1 || ($record && $record =~ /\b\Q$id\E\b/)
            ? (key('b', $q, $gen), $m{$id}{token}) : (key('f', $q, $gen), $id))
            or wrong("$id is nowhere in flight");
        $m{$_}{state} = 'visible' for grep { defined } @ids;
    },

    arrive => sub {
        my $id = some(sub { $_[0]{state} eq 'delayed' }) // return;

        soon($q, key('y', $q, $gen), $id) or wrong("$id is not delayed");
        $m{$id}{state} = 'visible';
    },

    purge => sub {
        f('queue_purge', "q$q");
        $gen++;
        stale(keys %m);
        %m = ();
    },

    mark => sub {
        return if $mark;
        sleep 0.1;
        $mark = time;
        sleep 0.1;
    },

    # retention is lowered: what was sent before the mark is too old
    expire => sub {
        return unless $mark;

        my @ids = grep { /(\d+)/ && $1 < $mark * 1000 } keys %m;
        my $seconds = time - $mark;

        stale(@ids);
        retention($q, $seconds);
        delete @m{@ids};

        for (1 .. rand 4) {
            my $name = (qw(receive ack stale visibility undo))[rand 5];
            $do{$name}->();
        }

        counts($q) while f('queue_count', "q$q")->[14];
        retention($q, 345600);
        $mark = undef;
    },
);

my %often = (send => 30, receive => 25, ack => 15, stale => 5, visibility => 8,
             undo => 6, end => 6, arrive => 5, purge => 0.3, mark => 0.6,
             expire => 2);

sub history {
    my ($seed, $steps) = @_;

    srand $seed;
    $q = create("history$seed");
    ($gen, $mark, $bad, %m) = (1, undef, undef);
    @old = ();

    my @names = sort keys %often;
    my $sum = 0;
    $sum += $_ for values %often;

    for my $step (1 .. $steps) {
        my $dice = rand $sum;
        my ($name) = grep { ($dice -= $often{$_}) < 0 } @names;

        $do{ $name // 'send' }->();

        my $want = join ' ', map { my $s = $_;
                                   scalar grep { $_->{state} eq $s } values %m }
                             qw(visible flying delayed);
        my $got = rand() < 0.5 ? $want : counts($q);

        wrong("counts $got, want $want") if $got ne $want;

        if ($step % 50 == 0) {
            my @p = NgxQueues::Check::check($r);
            wrong("@p") if @p;
        }

        last if $bad && fail("seed $seed, step $step, $name: $bad") + 1;
    }

    f('queue_delete', "q$q");

    return !$bad;
}

subtest 'history' => sub {
    my $seed = $ENV{TEST_SEED} // (int(time) ^ $$) % 1e6;

    diag("TEST_SEED=$seed");
    ok(history($seed + $_, 700), 'seed ' . ($seed + $_))
        for 0 .. ($ENV{TEST_HISTORIES} // 4) - 1;
};


subtest 'the checker sees faults' => sub {
    sound('all is sound');
    my $q = create('fault');
    put($q, '', 'a', 'b', 'c');
    put($q, 9, 'd');
    my ($h, $m) = take($q, 1);
    put($q, '', 'e', 'f', 'g');
    ($h, my @b) = take($q, 3);
    my ($t, $e, $b, $hot) = (token(), key('e', $q, 1), key('b', $q, 1),
                             key('h', $q));
    my $s = hot($q, 's');
    my @faults = (
        [ [ 'HDEL', key('d', $q, 1), $m->[0] ], qr/without state/ ],
        [ [ 'ZREM', key('f', $q, 1), $m->[0] ], qr/not in flight/ ],
        [ [ 'XDEL', key('m', $q, 1), $m->[0] ], qr/without body/ ],
        [ [ 'DEL', key('y', $q, 1) ], qr/neither delayed nor/ ],
        [ [ 'DEL', key('z', $q, 1) ], qr/delayed without body/ ],
        [ [ 'HSET', $hot, 'cur', '0-0' ], qr/beyond cur/ ],
        [ [ 'HDEL', $e, $t ], qr/batch $t without record/ ],
        [ [ 'HDEL', $e, $t ], qr/stored, not in flight, before cur/ ],
        [ [ 'ZREM', $b, $t ], qr/batch $t has no end/ ],
        [ [ 'HSET', $e, $t, "1 $b[1][0]" ], qr/nb is \d, in batches are 1/ ],
        [ [ 'HSET', $e, $t, "1 $b[1][0] $b[0][0]" ], qr/has record/ ],
        [ [ 'HSET', $e, $t, '1' ], qr/has record/ ],
        [ [ 'HSET', $e, 5, "1 $b[1][0]" ], qr/in two batches/ ],
        [ [ 'HSET', $e, 5, "1 $m->[0]" ], qr/and in flight by itself/ ],
        [ [ 'HSET', $e, 5, '1 1-1' ], qr/1-1 in a batch without body/ ],
        [ [ 'XDEL', key('m', $q, 1), $b[2][0] ], qr/in a batch without body/ ],
        [ [ 'HSET', $hot, 'nb', 4 ], qr/nb is 4, in batches are 3/ ],
        [ [ 'HSET', $hot, 'nf', 0 ], qr/nf is 0, in flight are 1/ ],
        [ [ 'HSET', $hot, 't', 1e14 ], qr/t is .* after/ ],
        [ [ 'HDEL', $hot, 't' ], qr/lacks t/ ],
        [ [ 'HSET', $hot, 's', "${s}x" ], qr/s does not say/ ],
        [ [ 'HSET', key('q', $q), 'vt', 7 ], qr/s does not say/ ],
        [ [ 'SET', key('m', $q, 7), 1 ], qr/nobody's key/ ],
        [ [ 'HDEL', "$root:n", 'fault' ], qr/has no id/ ],
        [ [ 'ZREM', "$root:l", 'fault' ], qr/not listed/ ],
        [ [ 'DEL', key('q', $q) ], qr/has no hash/ ],
        [ [ 'HSET', "$root:r", $q, 2 ], qr/counted 2/ ],
    );

    for my $fault (@faults) {
        my ($command, $like) = @$fault;
        my %dump = map { $_ => $r->call('DUMP', $_) }
                   grep { /:[nlr]$|$q/ } @{ $r->call('KEYS', "$root:*") };
        $r->call(@$command);
        like(join('; ', NgxQueues::Check::check($r)), $like, "@$command[0, 1]");
        $r->call('DEL', @$command[1]);
        $r->call('RESTORE', $_, 0, $dump{$_}, 'REPLACE') for keys %dump;
    }

    sound('sound again');
};

done_testing;
