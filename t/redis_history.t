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
        sleep 0.5;
    },

    # retention is lowered: what was sent before the mark is too old
    expire => sub {
        return unless $mark;

        my @ids = grep { /(\d+)/ && $1 < $mark * 1000 } keys %m;

        # for each call anew: time goes by
        my $since = sub { retention($q, time - $mark + 0.05) };

        stale(@ids);
        $since->();
        delete @m{@ids};

        for (1 .. rand 4) {
            my $name = (qw(receive ack stale visibility undo))[rand 5];
            $since->();
            $do{$name}->();
        }

        do { $since->() } while f('queue_count', "q$q")->[14];
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

    see($q, @faults);
};


subtest 'the checker sees faults of FIFO queues' => sub {
    my $dead = create('fault-dead', kind => 'fifo');
    my $q = create('fault-fifo', kind => 'fifo', dlq => $dead, mrc => 5,
                   cbd => 1);
    put_fifo($q, 's', 1 .. 2);                  # one by one
    take_fifo($q, 2, 0);
    my (undef, @m) = take_fifo($q, 2, 1000);
    put_fifo($q, 'b', 1 .. 3);                  # a batch
    take_fifo($q, 2, 1000);
    my $t = token();
    put_fifo($q, 'r', 1 .. 3);                  # visible again
    take_fifo($q, 2, 0);
    f('queue_update', "q$q", 'delay', 450);     # delayed
    put_fifo($q, 'k', 1 .. 2);
    f('queue_update', "q$q", 'delay', 0);
    put_fifo($q, 'o', 1 .. 2);                  # ready
    sound('all is sound');

    my %gid = map { $_ => ($r->call('HGET', key('g', $q, 1), $_)
                           =~ /^(\d+)/)[0] } qw(s b r k o);
    my %k = map { $_ => key($_, $q, 1) } qw(u g o x k y f d b e);
    my $hot = key('h', $q);
    my $d = $r->call('HGET', $k{d}, $gid{s});
    my $r_ = $r->call('HGET', $k{d}, $gid{r});
    my $e = $r->call('HGET', $k{e}, $t);
    my $x = $r->call('ZSCORE', $k{x}, 'o');
    my $due = $r->call('ZSCORE', $k{k}, 'k');
    my $u = $r->call('HGET', $k{u}, "$gid{o}:1");
    my $w = hot($q, 'dw');

    see($q,
        # places of groups
        [ [ 'ZREM', $k{o}, 'o' ], qr/group o: is in no place/ ],
        [ [ 'ZREM', $k{k}, 'k' ], qr/group k: is in no place/ ],
        [ [ 'ZREM', $k{f}, 's' ], qr/group s: is in no place/ ],
        [ [ 'ZADD', $k{o}, 1, 'k' ], qr/group k: is in o and k/ ],
        [ [ 'ZADD', $k{o}, 1, 'b' ], qr/group b: is in o and e/ ],
        [ [ 'ZADD', $k{f}, 1e14, 'o' ], qr/group o: is in o and f/ ],
        [ [ 'ZADD', $k{o}, 1, 'none' ], qr/none is in o and no group/ ],
        [ [ 'ZADD', $k{x}, 9e12, 'none' ], qr/none is in x and no group/ ],
        [ [ 'HDEL', $k{g}, 'o' ], qr/o is in o and no group/ ],
        [ [ 'HDEL', $k{g}, 'o' ], qr/message $gid{o}:1 is of no group/ ],
        [ [ 'HSET', $k{g}, 'o', 'x' ], qr/group o is x/ ],
        [ [ 'HSET', $k{g}, 'o', "$gid{k}:1:2" ],
          qr/groups k and o are both|groups o and k are both/ ],
        [ [ 'HSET', $hot, 'gid', 1 ], qr/after the last, 1/ ],

        # messages
        [ [ 'HDEL', $k{u}, "$gid{o}:2" ], qr/group o: lacks 2/ ],
        [ [ 'HDEL', $k{u}, "$gid{s}:2" ],
          qr/group s: 2 was received and is not there/ ],
        [ [ 'HSET', $k{u}, "$gid{o}:3", $u ],
          qr/group o: 3 is stored, after 2/ ],
        [ [ 'HSET', $k{g}, 'o', "$gid{o}:2:2" ],
          qr/group o: 1 is stored, before 2 and not received/ ],
        [ [ 'HSET', $k{u}, "$gid{o}:1", 'x' ], qr/is no message/ ],
        [ [ 'HSET', $k{u}, "$gid{o}:2", $u =~ s/^(\d+)/$1 - 10/er ],
          qr/group o: 2 was sent before 1/ ],
        [ [ 'HSET', $k{u}, "$gid{o}:1", $u =~ s/^\d+/9999999999999/r ],
          qr/sent after the last/ ],
        [ [ 'HSET', $k{u}, "$gid{o}:2", $u =~ s/^\d+/1999999999999/r ],
          qr/sent after the last/ ],
        [ [ 'HSET', $k{u}, "$gid{o}:1", $u =~ s/:(\d+):/:$1:x,y:/r
                                           =~ s/:x,y::/:x,y:/r ],
          qr/has the origin x,y/ ],
        [ [ 'HSET', $k{u}, "$gid{o}:1", $u =~ s/::/:9999999999999:/r ],
          qr/is due after cur/ ],

        # what was received
        # the count that comes first may have ended what was in flight, or not
        [ [ 'HDEL', $k{d}, $gid{s} ],
          qr/message\ $gid{s}:1\ is\ of\ no\ group
             |group\ s:\ has\ a\ mark\ and\ nothing\ received/x ],
        [ [ 'HSET', $k{g}, 'o', "$gid{o}:1:2:d" ],
          qr/group o: has a mark and nothing received/ ],
        [ [ 'HSET', $k{d}, 999, $d ], qr/999 was received of no group/ ],
        [ [ 'HSET', $k{d}, $gid{s}, $d =~ s/^s/z/r ], qr/was received as z/ ],
        [ [ 'HSET', $k{d}, $gid{r}, 'x' ], qr/group r was received as x/ ],
        [ [ 'HSET', $k{d}, $gid{s}, $d =~ s/\n(.*?;)(.*?;)/\n$2$1/r ],
          qr/out of order/ ],
        [ [ 'HSET', $k{d}, $gid{s}, $d =~ s/;2,/;32,/r ],
          qr/is not before|is not there/ ],
        [ [ 'HSET', $k{d}, $gid{o}, "o\n1,5,1,1,1,0;" ],
          qr/group o: has no mark of what was received/ ],
        [ [ 'ZADD', $k{f}, 2e12, 's' ], qr/group s: is in f at/ ],
        [ [ 'HSET', $k{d}, $gid{r}, $r_ =~ s/,0;/,2000000000000;/r ],
          qr/group r: has messages in flight/ ],

        # batches
        [ [ 'HDEL', $k{e}, $t ], qr/batch $t without record/ ],
        [ [ 'HDEL', $k{e}, $t ], qr/group b: is in no place/ ],
        [ [ 'ZREM', $k{b}, $t ], qr/batch $t has no end/ ],
        [ [ 'HSET', $k{e}, $t, 'x' ], qr/batch $t has record x/ ],
        [ [ 'HSET', $k{e}, 5, $e ], qr/group b: is in e and e/ ],
        [ [ 'HSET', $k{e}, $t, $e =~ s/ 2\n/ 3\n/r ], qr/counts 3/ ],
        [ [ 'HSET', $k{e}, $t, $e =~ s/$gid{b}:/$gid{o}:/gr ],
          qr/is not group|from its first/ ],

        # numbers and moments
        [ [ 'HSET', $hot, 'n', 99 ], qr/n is 99/ ],
        [ [ 'HSET', $hot, 'nb', 9 ], qr/nb is 9, in batches are 2/ ],
        [ [ 'HSET', $hot, 'nf', 9 ], qr/nf is 9, in flight are 2/ ],
        [ [ 'HSET', $hot, 'hx', 9e14, 't', 1 ], qr/hx is .* after the oldest/ ],
        [ [ 'HDEL', $hot, 'n' ], qr/lacks n/ ],
        [ [ 'ZREM', $k{x}, 'o' ], qr/group o: is not in x/ ],
        [ [ 'ZADD', $k{x}, $x + 9e9, 'o' ], qr/group o: is in x at/ ],
        [ [ 'ZADD', $k{k}, $due + 1000, 'k' ], qr/group k: is in k at/ ],
        [ [ 'ZADD', $k{y}, $due + 1000, "$gid{k}:1:k" ], qr/is not so/ ],
        [ [ 'ZREM', $k{y}, "$gid{k}:2:k" ], qr/is delayed and not in y/ ],
        [ [ 'ZADD', $k{y}, 2e12, '99:1:k' ], qr/delayed and of no group/ ],

        # what is due
        [ [ 'ZREM', "$root:t", $q ], qr/is not on the agenda and says so/ ],
        [ [ 'ZREM', "$root:t", $q ], qr/no time, too late for an end in b/ ],
        [ [ 'ZADD', "$root:t", 3e12, $q ], qr/too late for retention/ ],
        [ [ 'ZADD', "$root:t", 3e12, $q ], qr/too late for an end in f/ ],
        [ [ 'ZADD', "$root:t", 3e12, $q ], qr/for the keys of deduplication/ ],
        [ [ 'ZADD', "$root:t", 3e12, $q ], qr/for the ends of groups/ ],
        [ [ 'ZADD', "$root:t", 1, 'none' ], qr/none is on the agenda and no/ ],
        [ [ 'HSET', $hot, 's', hot($q, 's') =~ s/^\d/0/r ],
          qr/no flag of the agenda/ ],

        # keys
        [ [ 'HSET', key('i', $q, $w - 2), 'x', 1 ], qr/nobody's key/ ],
        [ [ 'HSET', key('c', $q, 1), 'x', 1 ], qr/nobody's key/ ],
        [ [ 'HSET', key('i', 'zzzzzzzzzzzz', $w), 'x', 1 ], qr/nobody's key/ ],
        [ [ 'HSET', key('u', $q, 2), 'x', 1 ], qr/nobody's key/ ],
        [ [ 'XADD', key('m', $q, 1), '*', 'b', 1 ], qr/nobody's key/ ],
        [ [ 'SET', "$root:j:abc", 1 ], qr/nobody's key/ ],
        [ [ 'HINCRBY', "$root:r", $dead, 1 ], qr/is a dead-letter queue of 1/ ],
    );
};


# Each fault, and what the checker is to say of it.
sub see {
    my ($q, @faults) = @_;

    for my $fault (@faults) {
        my ($command, $like) = @$fault;
        my %dump = map { $_ => $r->call('DUMP', $_) }
                   grep { /:[nlrt]$|$q/ } @{ $r->call('KEYS', "$root:*") };
        my $reply = $r->call(@$command);
        fail("@$command: $reply") if ref $reply;
        like(join('; ', NgxQueues::Check::check($r)), $like, "@$command[0, 1]");
        $r->call('DEL', $command->[1], keys %dump);
        $r->call('RESTORE', $_, 0, $dump{$_}, 'REPLACE') for keys %dump;
    }

    sound('sound again');
}

done_testing;
