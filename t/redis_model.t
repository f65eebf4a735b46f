#!/usr/bin/perl

# The functions of redis/*.lua against a small model of the contract, in random
# histories of queues with dead-letter queues: MODEL_SEED for the first one,
# MODEL_HISTORIES for how many.

use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes qw(time);

use lib "$FindBin::Bin/lib";
use NgxQueues::Check;
use NgxQueues::Functions;
use NgxQueues::Model;

NgxQueues::Functions::start();


# What a history is: a model, the ids of its queues, a log, and handles that are
# over.  Each call has a seed of its own, so that a history that fails can be
# made shorter.

my ($fifo, $model, @log, @old, $body, %losses);

# In some histories there is more to do than one call does: such calls may
# receive or show less than there is.

my $large;

sub pick { $_[int rand @_] }
sub chance { rand() < $_[0] }
sub note_ { push @log, join ' ', @_ }
sub wrong { die join(' ', @_) . "\n" }
sub names { join ' ', map { $_->{body} } @_ }

sub any_queue { $model->queue(pick(qw(a a a a d d e))) }

# messages that somebody holds, of one receive or of any
sub held {
    my ($q) = @_;
    my @held = grep { $_->{token} ne '' } @{ $q->{list} } or return;
    my @m = @held;

    if (chance(0.8)) {
        my $token = pick(@held)->{token};
        @m = grep { $_->{token} eq $token } @held;
        @m = sort { $a->{order} <=> $b->{order} } @m;
    }

    @m = sort { rand() <=> 0.5 } @m if chance(0.3);
    @m = @m[0 .. rand @m] if chance(0.4);

    return @m;
}

sub over { push @old, map { [ $_->{q}, $_->{gen}, $_->{id}, $_->{token} ] } @_ }

sub number {
    my ($q) = @_;

    for (1 .. 100) {
        my $c = f('queue_count', "q$q->{q}");
        wrong($c) if ref $c ne 'ARRAY';
        return $c unless $c->[14];
    }

    wrong('the count comes to no end');
}

# what is due is done: dead letters have gone
sub touch {
    my ($q) = @_;

    if (chance(0.5)) {
        note_('  maintain');
        tend();
        $model->bury($_) for map { $model->queue($_) } qw(a d e);
    } else {
        note_("  count $q->{name}");
        number($q);
        $model->bury($q);
    }
}

# so that nothing is on its way to or from a queue
sub quiet {
    for my $name (qw(a d)) {
        my $q = $model->queue($name);
        touch($q) while $model->in($q, 'dead');
    }
}

sub count {
    my ($q) = @_;

    quiet();

    my $c = number($q);
    my $is = join ' ', @$c[15 .. 17];
    my $want = $model->counts($q);

    wrong("counts of $q->{name}: $is, want $want") if $is ne $want;
    wrong("sources of $q->{name}: $c->[19]")
        if $c->[19] != grep { ($_->{dlq} // 0) == $q }
                       values %{ $model->{queues} };

    my ($oldest) = sort { $a <=> $b } map { $_->{sent} } @{ $q->{list} };
    my $age = defined $oldest ? $model->{now} - $oldest : -1;

    wrong("age of $q->{name}: $c->[18], want $age")
        if $c->[18] < $age - 1 || $c->[18] > $age + 60 || ($age < 0 && $c->[18] >= 0);

    my $totals = join ' ', @$c[20 .. 23];

    $want = $model->totals($q);
    wrong("totals of $q->{name}: $totals, want $want") if $totals ne $want;
    measure($q, $c) if chance(0.3);
}

# metrics tell the same, once that is so
sub measure {
    my ($q, $c) = @_;
    my (undef, $n, undef, undef, undef, undef, @rows) = @{ f('metrics_queues', '', 50) };
    my %row = map { my @row = splice @rows, 0, 11; ($row[0] => \@row) } 1 .. $n;
    my $is = join ' ', @{ $row{ $q->{name} } }[2 .. 5, 6 .. 9];
    my $want = join ' ', @$c[15 .. 18], @$c[20 .. 23];

    # a second may have begun
    $is = join ' ', @{ $row{ $q->{name} } }[2 .. 4], $c->[18], @{ $row{ $q->{name} } }[6 .. 9]
        if $row{ $q->{name} }[5] == $c->[18] + 1;
    wrong("metrics of $q->{name}: $is, want $want") if $is ne $want;
}

# what a generation that is over has added to the project's
sub lost {
    my ($q) = @_;

    $losses{$_} += hot($q->{q}, $_) // 0 for qw(ex dl);
}

my %do = (
    send => sub {
        my ($q) = @_;

        quiet() if $q->{name} ne 'a';

        if (!$fifo) {
            my $delay = pick('', '', 0, 450);
            my @b = map { 'm' . ++$body } 1 .. ($large ? pick(60, 150, 300)
                                                       : pick(1, 1, 2, 3, 10));

            note_("send $q->{name} delay '$delay': @b");
            put($q->{q}, $delay, @b);
            $delay = $q->{delay} if $delay eq '';
            $model->store($q, body => $_, due => $delay ? $model->{now} + $delay
                                                        : 0) for @b;
            return;
        }

        my (@args, @want, %seen);

        for (1 .. ($large ? pick(60, 150, 300)
                         : pick(1, 1, 2, 5, 10))) {
            my $group = pick(qw(g g h), 'i j');
            my $key = 'd' . (chance(0.2) ? 'x' . pick(1 .. 3)
                                         : 'k' . ($body + 1));
            my $known = $model->known($q, $key);

            push @args, $group, $key, '"m' . ++$body . '"', '';

            if ($known) {
                push @want, [ $key, undef, $known ];
                next;
            }

            my $m = $model->store($q, body => "m$body", group => $group,
                due => $q->{delay} ? $model->{now} + $q->{delay} : 0);
            $model->remember($q, $key, $m);
            push @want, [ $key, $m, $model->known($q, $key) ];
        }

        note_("send_fifo $q->{name}: ", @args);

        my $reply = f('send_fifo', "q$q->{q}", 1, @args);
        wrong($reply) if ref $reply;

        my (undef, $gen, @words) = split / /, $reply;
        wrong("generation $gen") if $gen != $q->{gen};
        wrong("words @words") if @words != @want;

        for my $i (0 .. $#words) {
            my ($id, $seq, $gen) = split /:/, $words[$i];
            my ($key, $m, $known) = @{ $want[$i] };

            $known->{id} = $id if $m;
            wrong("$key: $words[$i], want seq $known->{seq}")
                if $seq != $known->{seq} || $id ne $known->{id}
                   || ($m ? defined $gen : $gen != $known->{gen});
        }
    },

    receive => sub {
        my ($q) = @_;
        my $n = pick(1, 1, 2, 3, 5, 10, 10, 100);
        my $vt = pick($large ? 150 : 0, 150, 450, 450, 1050);

        $n = pick(10, 100, 200, 400) if $large;

        # dead letters that are on their way may come meanwhile; in a FIFO
        # queue they go before anything is received
        quiet() if $q->{name} ne 'a';
        $model->bury($q) if $fifo && !$large;
        note_("receive $q->{name} $n vt $vt, token", token() + 1);

        my (undef, @got) = $fifo ? take_fifo($q->{q}, $n, $vt, 0)
                                 : take($q->{q}, $n, $vt, 0);

        @got = map { { id => $_->[0], body => $_->[1] =~ tr/"//dr,
                       count => $_->[3], first => $_->[4] } } @got unless $fifo;
        note_('  got', map { "$_->{id}=$_->{body}" } @got);

        my @ready = $fifo ? $model->ready($q)
                          : map { [ $_ ] } $model->in($q, 'visible');
        my %next = map { $_->[0]{body} => $_ } @ready;
        my $all = 0;
        $all += @$_ for @ready;
        my $want = $n < $all ? $n : $all;

        # a message that is delayed ends what is taken of its group
        wrong(@got . " received, not $want") if @got > $want
            || (@got < $want && !$large
                && !(@got && $fifo && $model->in($q, 'delayed')));

        for my $got (@got) {
            my $list = delete $next{ $got->{body} }
                or wrong("$got->{body} is not to be received");
            my $m = shift @$list;

            $next{ $list->[0]{body} } = $list if @$list;
            wrong("$got->{body} is of $got->{group} $got->{seq}")
                if $fifo && ($got->{group} ne $m->{group}
                             || $got->{seq} != $m->{seq});
            over({ %$m }) if $m->{token} ne '';
            $model->take($m, $vt, token());
            wrong("$got->{body} is received $got->{count} times")
                if $got->{count} != $m->{count};
            $m->{first} = $got->{first} if $m->{count} == 1;
            wrong("$got->{body} was received first at $got->{first},"
                  . " not $m->{first}") if $got->{first} != $m->{first};
            @$m{qw(id q gen)} = ($got->{id}, $q->{q}, $q->{gen});
        }

        quiet() if $large;
    },

    ack => sub {
        my ($q) = @_;
        my @m = held($q) or return;

        @m = (@m, $m[0]) if chance(0.2);
        note_("ack $q->{name}", map { "$_->{id}/$_->{token}" } @m);

        my $got = ack(map { ($q->{q}, $q->{gen}, $_->{id}, $_->{token}) } @m);
        my (%seen, $moved);

        for my $i (0 .. $#m) {
            my $ok = !$seen{ $m[$i] }++;

            # a dead letter may have gone
            if ($ok && $model->state($q, $m[$i]) eq 'dead' && !$got->[$i]) {
                $moved = 1;
                next;
            }

            wrong("ack of $m[$i]{body}: $got->[$i]") if $got->[$i] != $ok;
            over($m[$i]) if $ok;
            $model->remove($q, $m[$i], 'acknowledged') if $ok;
        }

        touch($q) if $moved;
    },

    stale => sub {
        my @h = map { $old[rand @old] // () } 1 .. 3 or return;
        my %aged = map { ("@$_[0 .. 3]" => 1) } grep { $_->[4] } @old;

        $_ = [ @$_[0 .. 3] ] for @h;

        note_('stale', map { "@$_" } @h);
        my $got = ack(map { @$_ } @h);
        wrong("ack of what is over: @$got") if "@$got" =~ /1/;
        $got = visibility(map { (@$_, 450) } @h);
        wrong("visibility of what is over: @$got") if "@$got" =~ /1/;
        $got = f('undo', @{ $h[0] }[0, 1, 3, 2]);
        wrong("undo of what is over: $got") if $got && !$aged{"@{ $h[0] }"};
    },

    visibility => sub {
        my ($q) = @_;
        my @m = held($q) or return;
        my $vt = pick(0, 0, 450, 1050, 43200);

        @m = (@m, $m[0]) if chance(0.2);
        note_("visibility $q->{name} $vt",
              map { "$_->{id}/$_->{token}" } @m);

        my @vts = map { $vt } @m;
        $vts[-1] = 150 if chance(0.3);
        my $got = visibility(map { ($q->{q}, $q->{gen}, $m[$_]{id},
                                    $m[$_]{token}, $vts[$_]) } 0 .. $#m);
        my (%seen, $moved);

        for my $i (0 .. $#m) {
            my $ok = !$seen{ $m[$i] }++;

            if ($ok && $model->state($q, $m[$i]) eq 'dead' && !$got->[$i]) {
                $moved = 1;
                next;
            }

            wrong("visibility of $m[$i]{body}: $got->[$i]") if $got->[$i] != $ok;
            $model->extend($m[$i], $vts[$i]) if $ok;
        }

        touch($q) if $moved;
    },

    undo => sub {
        my ($q) = @_;
        my @m = held($q) or return;

        @m = grep { $_->{token} eq $m[0]{token}
                    && $model->state($q, $_) ne 'dead' } @m or return;
        note_("undo $q->{name}", map { "$_->{id}/$_->{token}" } @m);
        over(map { +{ %$_ } } @m);

        my $got = f('undo', $q->{q}, $q->{gen}, $m[0]{token},
                    map { $_->{id} } @m);
        wrong("undo of " . @m . ": $got") if $got != @m;
        $model->give_back($_) for @m;
    },

    pass => sub {
        my $seconds = pick(300, 300, 600, 600, 1200, 3600, chance(0.3) ? 43200
                                                                       : 300);

        quiet();
        note_("$seconds s pass");
        elapse($seconds);

        for my $q (values %{ $model->{queues} }) {
            for (@{ $q->{list} }) {
                $_->{first} -= $seconds * 1000 if $_->{first};
                $_->{id} = aged($_->{id}, $seconds) if $_->{id} && !$fifo;
            }
        }

        for (@old) { $_->[2] = aged($_->[2], $seconds) unless $fifo }

        my @all = map { @{ $_->{list} } } values %{ $model->{queues} };
        $model->pass($seconds);
        my %left = map { $_ => 1 }
                   map { @{ $_->{list} } } values %{ $model->{queues} };
        my $n = @old;
        over(grep { !$left{$_} && $_->{token} ne '' } @all);

        # an undo does not look at retention: what it gives back goes all the
        # same
        $_->[4] = 1 for @old[$n .. $#old];
    },

    purge => sub {
        my ($q) = @_;

        quiet();
        note_("purge $q->{name}");
        over(grep { $_->{token} ne '' } @{ $q->{list} });
        lost($q);
        f('queue_purge', "q$q->{q}");
        @$q{qw(list totals)} = ([], {});
        $q->{gen}++;
    },

    redrive => sub {
        my $q = $model->queue(pick(qw(d d d e)));
        my $dest = chance(0.3) ? pick(grep { $_ != $q }
                                      map { $model->queue($_) } qw(a d e))
                               : undef;

        quiet();

        my $limit = pick(1, 2, 100);
        note_("redrive $q->{name} to", $dest ? $dest->{name} : 'sources', $limit);

        my ($moved, $left) = moved($q->{q}, $dest && "q$dest->{q}", $limit);

        my $want = $model->redrive($q, $dest);
        wrong("redrive moved $moved, want $want") if $moved != $want;
        my $remain = $model->in($q, 'visible');
        wrong("redrive leaves $left, want $remain") if $left != $remain;
    },

    update => sub {
        my $q = $model->queue(pick(qw(a a d)));

        if (chance(0.4)) {
            $q->{delay} = pick(0, 0, 450, 900);
            note_("update $q->{name} delay $q->{delay}");
            f('queue_update', "q$q->{q}", 'delay', $q->{delay});
            return;
        }

        my ($dlq, $mrc) = $q->{name} eq 'a' ? (pick(qw(d d d e), ''), pick(1 .. 4))
                                            : (pick('e', ''), pick(1 .. 3));
        my $to = $dlq ne '' ? $model->queue($dlq) : undef;

        quiet();

        # a message that was received often enough before is not decided
        return if $to && grep {
            $_->{count} >= $mrc + ($model->state($q, $_) eq 'flying' ? 1 : 0)
        } @{ $q->{list} };

        note_("update $q->{name} dlq '$dlq' mrc $mrc");
        f('queue_update', "q$q->{q}", 'dlq', $to ? "q$to->{q}" : '', 'mrc',
          $to ? $mrc : 0);
        @$q{qw(dlq mrc)} = ($to, $mrc);
    },

    maintain => sub {
        note_('maintain');
        tend();
        $model->bury($_) for map { $model->queue($_) } qw(a d e);
    },

    count => sub { note_("count $_[0]{name}"); count($_[0]) },

    peek => sub {
        my ($q) = @_;
        my $state = pick(qw(visible flying delayed));

        quiet();
        note_("peek $q->{name} $state");

        my @got = peek($q->{q}, $state eq 'flying' ? 'f' : substr $state, 0, 1);
        my %want = map { $_->{body} => $_ } $model->in($q, $state);

        for (@got) {
            my ($body, $count) = $fifo ? @$_{qw(body count)}
                                       : ($_->[1] =~ tr/"//dr, $_->[3]);
            my $m = delete $want{$body} or wrong("peek $state has $body");

            wrong("peek $state: $body received $count times")
                if $count != $m->{count};
        }

        # what is behind a delayed one
        delete @want{map { $_->{body} } behind($q)} if $fifo;
        wrong("peek $state lacks @{[ sort keys %want ]}") if %want && !$large;
    },
);

sub behind {
    my ($q) = @_;
    my @behind;

    for my $group ($model->groups($q)) {
        my $delayed = 0;

        for my $m (@$group) {
            $delayed = 1 if $model->state($q, $m) eq 'delayed';
            push @behind, $m if $delayed && $model->state($q, $m) eq 'visible';
        }
    }

    return @behind;
}

my %often = (send => 24, receive => 26, ack => 12, visibility => 8, undo => 6,
             stale => 3, pass => 14, purge => 0.4, redrive => 5, update => 2,
             maintain => 3, count => 4, peek => 5);
my @kinds = map { ($_) x ($often{$_} * 10) } sort keys %often;


# Runs a history; returns what is wrong with it, if anything.
sub run {
    my ($seed, @steps) = @_;

    srand $seed;
    $large = $seed % 100 > 97;
    $r->call('FLUSHALL');
    ($model, $body) = (NgxQueues::Model->new, 0);
    (@log, @old, %losses) = ();

    my %ret = (a => pick(4050, 90150), d => pick(7650, 90150), e => 180150);
    my %dlq = (d => chance(0.5) ? 'e' : undef, a => 'd');

    for my $name (qw(e d a)) {
        my $to = $dlq{$name} && $model->queue($dlq{$name});
        my $mrc = pick(1, 2, 2, 3);

        my $q = create($name, kind => $fifo ? 'fifo' : 'standard', vt => 450,
                       ret => $ret{$name}, dlq => $to && $to->{q},
                       mrc => $to ? $mrc : 0);
        $model->queue($name, q => $q, fifo => $fifo, ret => $ret{$name},
                      dlq => $to, mrc => $mrc);
        note_("queue $name $q ret $ret{$name}", $to ? "mrc $mrc to $to->{name}"
                                                     : '');
    }

    my $wrong = eval {
        for my $step (@steps) {
            my ($name, $seed) = @$step;

            srand $seed;
            $do{$name}->(any_queue());
            over(splice @{ $model->{gone} });
            touch(any_queue()) if chance(0.2);
            count(any_queue()) if chance(0.3);

            if (chance(0.02)) {
                quiet();
                my @p = NgxQueues::Check::check($r, $lib);
                wrong("@p") if @p;
            }
        }

        count($model->queue($_)) for qw(a d e);
        my @p = NgxQueues::Check::check($r, $lib);
        wrong("@p") if @p;
        lost($model->queue($_)) for qw(a d e);
        f('queue_delete', "n$_") for qw(a d e);
        my @keys = grep { $_ !~ /:[am]\z/ } @{ $r->call('KEYS', "$root:*") };
        wrong("deleted, and there are @keys") if @keys;

        my %m = @{ $r->call('HGETALL', "$root:m") };
        my ($is, $want) = map { my $h = $_; join ' ', map { $h->{$_} || 0 } qw(ex dl) }
                          \%m, \%losses;
        wrong("losses $is, want $want") if $is ne $want;
        1;
    } ? undef : $@;

    return $wrong;
}

sub history {
    my ($seed) = @_;

    srand $seed;
    $fifo = $seed % 2;

    my @steps = map { [ pick(@kinds), int rand 1e9 ] } 1 .. 40 + rand 20;
    my $wrong = run($seed, @steps) or return 1;

    # make it shorter
    my @found = ($wrong, @log);
    my $until = time + 20;

    for (my $size = @steps / 2; $size >= 1 && time < $until; $size /= 2) {
        for (my $i = 0; $i < @steps && time < $until;) {
            my @less = @steps;
            splice @less, $i, $size;

            if (my $still = run($seed, @less)) {
                @steps = @less;
                @found = ($still, @log);
            } else {
                $i += int $size;
            }
        }
    }

    fail("MODEL_SEED=$seed: $found[0]");
    diag(join "\n", @found[1 .. $#found]);

    return 0;
}


my $seed = $ENV{MODEL_SEED} // (int(time) ^ $$ << 4) % 1e6;
my $n = $ENV{MODEL_HISTORIES} // ($ENV{MODEL_SEED} ? 1 : 1000);
my $failed = 0;

for ($seed .. $seed + $n - 1) {
    history($_) or ++$failed > 2 && last;
}

ok(!$failed, "$n histories from MODEL_SEED=$seed");

done_testing;
