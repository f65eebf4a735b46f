package NgxQueues::CheckFifo;

# What must hold of a FIFO queue in Redis between any two calls
# (docs/redis.md): a part of NgxQueues::Check.

use strict;
use warnings;


# Reads all there is of a generation.
sub _read {
    my ($r, $c) = @_;
    my ($root, $q, $gen) = @$c{qw(root q gen)};
    my %all = (map({ my $key = $_;
                     $key => { @{ $r->call('ZRANGE', "$root:$key:$q:$gen", 0,
                                           -1, 'WITHSCORES') } } }
                   qw(o x k y f b)),
               map({ my $key = $_;
                     $key => { @{ $r->call('HGETALL', "$root:$key:$q:$gen") } }
                   } qw(u g d e)));

    return \%all;
}


sub generation {
    my ($r, $c) = @_;
    my $all = _read($r, $c);
    my %h = %{ $c->{h} };
    my (@p, %gid, %place, %fields);

    $c->{$_} = 0 for qw(flying nb);

    for my $name (sort keys %{ $all->{g} }) {
        my ($gid, $first, $last, $mark) =
            $all->{g}{$name} =~ /^([1-9]\d*):([1-9]\d*):(\d+)(:d)?\z/;

        if (!$gid) {
            push @p, "group $name is $all->{g}{$name}";
            next;
        }

        push @p, "groups $gid{$gid}{name} and $name are both $gid"
            if $gid{$gid};
        push @p, "group $name is $gid, after the last, $h{gid}"
            if $gid > ($h{gid} // 0);
        $gid{$gid} = { name => $name, gid => $gid, h => $first, t => $last,
                       mark => $mark };
        $place{$name} = [ grep { exists $all->{$_}{$name} } qw(o k f) ];
    }

    for my $key (qw(o x k f)) {
        push @p, map { "$_ is in $key and no group" }
                 grep { !$all->{g}{$_} } sort keys %{ $all->{$key} };
    }

    for my $field (keys %{ $all->{u} }) {
        my ($gid, $seq) = $field =~ /^(\d+):(\d+)\z/;

        if (!$gid || !$gid{$gid}) {
            push @p, "message $field is of no group";
            next;
        }

        my ($ms, $n, $due, $length, $origin, $rest) = $all->{u}{$field}
            =~ /^(\d+)-(\d+):(\d*):(\d+):([^:]*):(.*)\z/s;

        if (!defined $ms || length $rest < $length) {
            push @p, "message $field is no message";
            next;
        }

        push @p, "$field has the origin $origin"
            if $origin ne '' && $origin
               !~ /^[^,]+,\d+,z?\d+-\d+(?:,[^,]+,\d+,\d+)?\z/;
        push @p, "$field outlived its retention"
            if $c->{count} && $ms <= $c->{live};
        push @p, "$field was sent after the last, $h{last}"
            if $ms > ($h{last} // '0-0') =~ s/-.*//r;
        push @p, "$field is due after cur" if $due ne '' && $due > $h{cur};

        $fields{$gid}{$seq} = { ms => $ms, due => $due };
        $c->{oldest} = $ms if $ms < ($c->{oldest} // 9e15);
    }

    push @p, _batches($c, $all, \%place);
    push @p, map { _group($c, $all, $_, $place{ $_->{name} },
                          $fields{ $_->{gid} } // {}) }
             map { $gid{$_} } sort keys %gid;
    push @p, map { "$_ was received of no group" }
             grep { !$gid{$_} } sort keys %{ $all->{d} };
    push @p, _delays($c, $all, \%gid, \%fields);
    push @p, _numbers($c, $all);

    return @p;
}


sub _batches {
    my ($c, $all, $place) = @_;
    my @p = map { "batch $_ without record" }
            grep { !exists $all->{e}{$_} } sort keys %{ $all->{b} };

    for my $token (sort keys %{ $all->{e} }) {
        my ($n, $ids, $groups) = $all->{e}{$token}
            =~ /^\d+ (\d+)\n(\d+:\d+(?: \d+:\d+)*)\n((?:\d+:\d+:\d+ .*\n)+)\z/;
        my (@runs, $last);

        push @p, "batch $token has no end" unless exists $all->{b}{$token};

        if (!$n) {
            push @p, "batch $token has record $all->{e}{$token}";
            next;
        }

        for my $id (split / /, $ids) {
            my ($gid, $seq) = split /:/, $id;

            if (!$last || $last->[0] != $gid) {
                push @runs, $last = [ $gid, $seq ];
            } elsif ($seq != $last->[2] + 1) {
                push @p, "batch $token has $id in a wrong place";
            }

            $last->[2] = $seq;
        }

        my @told = map { [ split / /, $_, 2 ] } split /\n/, $groups;
        my @names = map { $_->[1] } @told;

        $c->{nb} += split / /, $ids;
        push @p, "batch $token counts $n messages"
            if $n != (() = split / /, $ids, -1);
        push @p, "batch $token has other names than groups"
            if @names != @runs
               || grep { $told[$_][0] ne join ':', @{ $runs[$_] } } 0 .. $#runs;

        for my $i (0 .. $#runs) {
            my ($gid, $a, $z) = @{ $runs[$i] };
            my ($own, $first, $t) = split /:/,
                $all->{g}{ $names[$i] // '' } // '0:0:0';

            push @p, "batch $token: $gid:$a-$z is not group"
                     . " $names[$i] from its first on"
                if $own != $gid || $first != $a || $t < $z;
            push @{ $place->{ $names[$i] } }, 'e' if $place->{ $names[$i] };
        }
    }

    return @p;
}


# A group, where it is, and its messages by their numbers.
sub _group {
    my ($c, $all, $g, $place, $messages) = @_;
    my ($name, $gid) = @$g{qw(name gid)};
    my @seqs = sort { $a <=> $b } keys %$messages;
    my (@p, %received, $first, $text);

    push @p, 'is in ' . (join(' and ', @$place) || 'no place')
        if @$place != 1;
    $place = $place->[0] // '';

    if (defined($text = $all->{d}{$gid})) {
        my ($own, $rest) = $text =~ /^([^\n]*)\n((?:\d+,[^,;]+(?:,\d+){4};)+)\z/
            or return "group $name was received as $text";
        my $last = 0;

        push @p, "was received as $own" if $own ne $name;

        for my $entry (split /;/, $rest) {
            my ($seq, $token, $count, undef, undef, $moment) =
                split /,/, $entry;

            push @p, "$seq was received, out of order" if $seq <= $last;
            push @p, "$seq was received and is not there"
                unless $messages->{$seq};
            push @p, "$seq was received and is not before $g->{h}"
                if $seq >= $g->{h};
            push @p, "$seq has the token $token, received $count times"
                if $token !~ /^(?:\d+|-)\z/ || ($count == 0 && $token ne '-');

            ($last, $received{$seq}) = ($seq, 1);

            if ($moment > 0) {
                $c->{flying}++;
                $first = $moment if $moment < ($first // 9e15);
            }
        }

        push @p, 'has no mark of what was received' unless $g->{mark};
        push @p, "is in $place with messages received"
            if $place !~ /^[of]?\z/;

    } elsif ($g->{mark}) {
        push @p, 'has a mark and nothing received';
    }

    if ($place eq 'f') {
        push @p, "is in f at $all->{f}{$name}, its first end is "
                 . ($first // 'none')
            if ($first // 0) != $all->{f}{$name};
    } elsif (defined $first) {
        push @p, "has messages in flight until $first and is in $place";
    }

    push @p, 'has no message' unless @seqs;
    push @p, map { "$_ is stored, before $g->{h} and not received" }
             grep { $_ < $g->{h} && !$received{$_} } @seqs;
    push @p, map { "$_ is stored, after $g->{t}" }
             grep { $_ > $g->{t} } @seqs;
    push @p, map { "lacks $_" }
             grep { !$messages->{$_} } $g->{h} .. $g->{t};
    push @p, map { "$seqs[$_] was sent before $seqs[$_ - 1]" }
             grep { $messages->{ $seqs[$_] }{ms}
                    < $messages->{ $seqs[$_ - 1] }{ms} } 1 .. $#seqs;

    if (!defined $all->{x}{$name}) {
        push @p, 'is not in x';
    } elsif (@seqs && $all->{x}{$name} > $messages->{ $seqs[0] }{ms}) {
        push @p, "is in x at $all->{x}{$name}, its first message is of"
                 . " $messages->{ $seqs[0] }{ms}";
    }

    my $due = ($messages->{ $g->{h} } // {})->{due} || 0;

    push @p, "is in k at $all->{k}{$name}, its first message is due at $due"
        if $place eq 'k' && $all->{k}{$name} != $due;
    push @p, "is ready, its first message is due at $due"
        if $place eq 'o' && !%received && $due > $c->{now};

    return map { "group $name: $_" } @p;
}


sub _delays {
    my ($c, $all, $gid, $fields) = @_;
    my (@p, %delayed);

    for my $member (sort keys %{ $all->{y} }) {
        my ($id, $seq, $name) = $member =~ /^(\d+):(\d+):(.*)\z/s;
        my $score = $all->{y}{$member};

        # what is over is left to the next call
        next if $score <= $c->{now};

        if (!$id || !$gid->{$id} || $gid->{$id}{name} ne $name) {
            push @p, "$member is delayed and of no group";
        } elsif (($fields->{$id}{$seq}{due} || 0) != $score) {
            push @p, "$member is delayed until $score and is not so";
        } elsif ($seq < $gid->{$id}{h}) {
            push @p, "$member is delayed and was received";
        }

        $delayed{"$id:$seq"} = 1;
    }

    for my $id (sort keys %$fields) {
        push @p, map { "$id:$_ is delayed and not in y" }
                 grep { ($fields->{$id}{$_}{due} || 0) > $c->{now}
                        && !$delayed{"$id:$_"} }
                 sort keys %{ $fields->{$id} };
    }

    $c->{delayed} = keys %delayed;

    return @p;
}


sub _numbers {
    my ($c, $all) = @_;
    my %h = %{ $c->{h} };
    my $n = keys %{ $all->{u} };
    my @p;

    push @p, "n is $h{n}, stored are $n" if $h{n} != $n;
    push @p, "nb is $h{nb}, in batches are $c->{nb}" if $h{nb} != $c->{nb};
    push @p, "nf is $h{nf}, in flight are $c->{flying}"
        if $h{nf} != $c->{flying};
    push @p, map { "t is $h{t} after $_" }
             grep { $h{t} > $_ } $h{hx}, map { values %{ $all->{$_} } }
                                         qw(b f k);
    push @p, "hx is $h{hx}, after the oldest message's end"
        if defined $c->{oldest}
           && $h{hx} > $c->{oldest} + $c->{now} - $c->{live};

    my $flying = $c->{nb} + $c->{flying};
    my $is = join ' ', $n - $flying - $c->{delayed}, $flying, $c->{delayed};
    my $told = $c->{count} ? join ' ', @{ $c->{count} }[15 .. 17] : $is;

    push @p, "counts are $is and told as $told" if $is ne $told;

    return @p;
}


1;
