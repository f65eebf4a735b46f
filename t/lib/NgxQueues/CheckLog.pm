package NgxQueues::CheckLog;

# What must hold of logs between any two calls (docs/redis.md, "Logs").
#
#   my @problems = NgxQueues::CheckLog::check($redis, $root);

use strict;
use warnings;

use Digest::SHA 'sha1';

use NgxQueues::LogRecords;

our $moved = 0;         # groups were moved that had leases

my @settings = qw(lease retry delay window ret cret maxwait dlq enc dedup
                  minpop);

sub check {
    my ($r, $root) = @_;
    my %names = _hash($r, "$root:ln");
    my %there = reverse %names;
    my %left = map { $_ => 1 } _scan($r, "$root:l?*");
    my %leased;
    my @p;

    # some end by themselves while all the rest is looked at
    my %held = map { $_ => $r->call('GET', $_) // '' }
               grep { /^\Q$root\E:le:/ } keys %left;

    delete $left{"$root:l"};            # the list of queues of another kind
    delete @left{ map { "$root:$_" } qw(ln ll lz lF lNS lTS lGS) };
    push @p, "$root: ll is not ln"
        if join("\n", sort keys %names) ne join "\n", _members($r, "$root:ll");

    for my $name (sort keys %names) {
        push @p, _queue($r, $root, $name, $names{$name}, \%left, \%leased);
    }

    push @p, _all_dead($r, $root, \%there, \%left);

    for my $letter ('N', 'T', 'G') {
        my @labels = sort map { /:l$letter:(.*)/s } keys %left;
        my @listed = _members($r, "$root:l${letter}S");

        push @p, "l${letter}S has @listed, not @labels"
            if "@listed" ne "@labels";
    }

    for my $key (grep { /^\Q$root\E:l[NTG]:/ } keys %left) {
        delete $left{$key};
        push @p, map { "$key: there is no queue $_" }
                 grep { !$names{$_} } _members($r, $key);
    }

    for my $key (keys %held) {
        my ($lease) = $key =~ /:le:(.*)/;

        delete $left{$key};

        for my $word (split / /, $held{$key}) {
            push @p, "$key has $word, which is not leased"
                unless defined delete $leased{$lease}{$word}
                       || $word =~ /^(\w+):/ && !$there{$1}
                       || $moved;
        }
    }

    for my $lease (keys %leased) {
        push @p, map { "$lease is not known to hold $_" }
                 grep { $leased{$lease}{$_} } keys %{ $leased{$lease} };
    }

    # traces of a name; those of queues that are no more may be left
    my @names = _members($r, "$root:lw");

    delete @left{ "$root:lw", map { ("$root:lw:$_", "$root:lW:$_") } @names };

    for my $name (@names) {
        my %count;

        $count{s/^(\w+:)\d+:/$1/r}++ for _members($r, "$root:lw:$name");
        my %is = _hash($r, "$root:lW:$name");
        push @p, map { "lW has $is{$_} of $_" }
                 grep { ($count{$_} // 0) != $is{$_} } keys %is;
        push @p, "lW of $name lacks some" if keys %is != keys %count;
    }

    push @p, map { "$_ belongs to nothing" } sort keys %left;

    return @p;
}

sub _queue {
    my ($r, $root, $name, $q, $left, $leased) = @_;
    my %set = _hash($r, "$root:lq:$q");
    my %hot = _hash($r, "$root:lh:$q");
    my %group = _hash($r, "$root:lg:$q");
    my @p;

    %hot = (numbers($hot{n}), s => $hot{s});
    delete @$left{ map { "$root:$_:$q" } qw(lq lh lp ld lm la lt lo lg lk lK lX lf lv lu) };
    for my $w ($hot{iw} - 1, $hot{iw}) {
        delete @$left{ "$root:li:$q:$w", "$root:lj:$q:$w" };
    }

    push @p, 'the settings are of ' . ($set{name} // 'nothing')
        if ($set{name} // '') ne $name;
    push @p, 's says ' . ($hot{s} // 'nothing')
        unless ($hot{s} // '') =~ /^[0-3]:\Q$q\E:(?:\d+:){11}\Q$name\E\z/;

    my %label = (N => 'ns', T => 'task');

    for my $letter (sort keys %label) {
        my $value = $set{ $label{$letter} };
        push @p, "it is not among those of $value"
            if ($value // '') ne ''
               && !defined $r->call('ZSCORE', "$root:l$letter:$value", $name);
    }

    my ($lanes, @more) = _lanes($r, $root, $q, \%hot);
    push @more, _ids($r, $root, $q, $lanes, \%hot);

    my %trace = _hash($r, "$root:lv:$q");
    my %traced = _hash($r, "$root:lu:$q");
    my @numbers = sort { $a <=> $b } map { split / / } values %traced;

    push @p, "lv has not what lu has"
        if "@numbers" ne join ' ', sort { $a <=> $b } keys %trace;

    my %former = _hash($r, "$root:lf:$q");
    my %number;

    for my $group (sort keys %former) {
        my $key = "$root:lK:$q:$former{$group}";

        push @p, "$group is a former group and one" if $group{$group};
        push @p, "$group has no dead letters" unless delete $left->{$key};
        $number{ $former{$group} }++;
    }

    for my $group (sort keys %group) {
        my ($g) = $group{$group} =~ /^(\d+):/;

        push @p, "two groups are $g" if $number{$g}++;
        push @p, "group $g was not given" if $g > $hot{groups};
        push @p, "$group does not know the queue"
            if !defined $r->call('ZSCORE', "$root:lG:$group", $name);
        delete @$left{ map { "$root:$_:$q:$g" } qw(lc lr lK) };
        push @more, map { "$group: $_" }
                    _group($r, $root, $q, $group{$group}, $lanes, \%hot, $leased);
    }

    return map { "$name ($q): $_" } @p, @more, _dead($r, $root, $q, \%hot);
}

sub _lanes {
    my ($r, $root, $q, $hot) = @_;
    my %named = _hash($r, "$root:lp:$q");
    my %record = _hash($r, "$root:ld:$q");
    my %segment = _hash($r, "$root:lm:$q");
    my %noted = _scores($r, "$root:la:$q");
    my %oldest = _scores($r, "$root:lo:$q");
    my %times = map { $_ => 1 } _members($r, "$root:lt:$q");
    my (%lane, @p);
    my $n = 0;

    for my $name (sort keys %named) {
        my $l = $named{$name};
        my $text = delete $record{$l} // '';
        my ($next, $head, $seg, $last, $act, $created, $since, $as) = lane($text);

        if (!defined $as || $as ne $name) {
            push @p, "lane $name: its record is '$text'";
            next;
        }

        push @p, "lane $l was not given" if $l > $hot->{lanes};
        push @p, "lane $l: la has another number" if ($noted{$l} // 0) != $act;
        push @p, "lane $l: act is too large" if $act > $hot->{act};
        delete $noted{$l};

        my ($at, $ms, $start) = ($head, $created, $head);
        my %starts;

        while ($at < $next) {
            my $s = _segment(delete $segment{"$l:$at"} // '');

            if (!$s) {
                push @p, "lane $l: no segment at $at";
                last;
            }

            push @p, "lane $l: $at is older than the one before"
                if $s->{ms} < $ms;
            delete $times{ sprintf '%012d:%013d:%012d', $l, $s->{ms}, $at };
            $starts{$at} = $s;
            ($start, $ms) = ($at, $s->{ms});
            push @p, "lane $l is not in lo"
                if $at == $head && !defined $oldest{$l};
            $n += $s->{n};
            $at += $s->{n};
        }

        delete $oldest{$l} if $head < $next;
        push @p, "lane $l ends at $at, not $next" if $at != $next;
        push @p, "lane $l: seg is $seg" if $head < $next && $seg != $start;
        push @p, "lane $l: last is $last, not $ms"
            if $head < $next && $last != $ms;
        $lane{$l} = { next => $next, head => $head, act => $act,
                      created => $created, starts => \%starts,
                      name => $name, own => $since >> 5 & 31,
                      runs => $since >> 10 };
    }

    push @p, "there are $n messages, not $hot->{n}" if $n != $hot->{n};
    push @p, map { "ld has $_" } keys %record;
    push @p, map { "lm has $_" } sort keys %segment;
    push @p, map { "la has $_" } keys %noted;
    push @p, map { "lo has $_" } keys %oldest;
    push @p, map { "lt has $_" } keys %times;

    return (\%lane, @p);
}

# The index of ids: what was pushed in the last window is in it, and runs are in
# order.

sub _ids {
    my ($r, $root, $q, $lanes, $hot) = @_;
    my (%known, @p);

    return unless $r->call('EXISTS', "$root:li:$q:$hot->{iw}");

    for my $w (reverse $hot->{iw} - $hot->{ip} .. $hot->{iw}) {
        my %index = _hash($r, "$root:li:$q:$w");
        my @runs = _members($r, "$root:lj:$q:$w");
        my %end;

        push @p, "the runs of $w stay" if @runs && $r->call('PTTL', "$root:lj:$q:$w") < 0;

        for my $run (@runs) {
            my ($l, $last, $first, $start, $ms) =
                $run =~ /^(\d+):([^\n]*)\n([^\n]*)\n(\d+):(\d+)\z/;
            my $list = $index{"$l:$start"} // '';
            my $s = $lanes->{$l}{starts}{$start};

            push @p, "run $run of $w: it is not behind $end{$l}"
                if defined $end{$l} && $first le $end{$l};
            push @p, "run $run of $w: its lane does not know"
                if _age($hot, $lanes->{$l}{runs}) > $hot->{iw} - $w;
            push @p, "run $run of $w: its hashes are not its ids"
                if $s && $list ne join '', map { _in_index($lanes->{$l}, $_) } @{ $s->{ids} };
            push @p, "run $run of $w: its ids are others"
                if $s && ($s->{ids}[0] lt $first || $s->{ids}[-1] gt $last);
            $end{$l} = $last;
            @known{unpack '(a14)*', $list} = ();
        }

        $known{$_} = 1 for grep { length == 14 } keys %index;
    }

    for my $l (sort keys %$lanes) {
        my $lane = $lanes->{$l};

        for my $s (grep { $_->{ms} > $hot->{is} } values %{ $lane->{starts} }) {
            my @in = map { _in_index($lane, $_) } @{ $s->{ids} };

            push @p, "lane $l: not all of @{ $s->{ids} }[0 .. ($#in < 2 ? $#in : 2)] … are in the index"
                if grep { !exists $known{$_} } @in;
            push @p, "lane $l does not know that it has ids in the index"
                if (grep { $known{$_} } @in) && _age($hot, $lane->{own}) > $hot->{ip};
        }
    }

    return @p;
}

sub _in_index { substr sha1("$_[0]{name}\n$_[1]"), 0, 14 }

# how many windows ago something was

sub _age { $_[1] ? ($_[0]{iw} + 1 - $_[1]) % 31 : 99 }

sub _segment {
    my ($text) = @_;
    my ($head, $rest) = split /\n/, $text, 2;
    my ($ms, $n, $flags, @size) =
        ($head // '') =~ /^(\d+):(\d+):([01]):(\d+):(\d+):(\d+):(\d+)\z/
        or return;
    my @part = map { substr $rest, 0, $_, '' } @size;
    my @lens = split / /, $part[3];
    my $sum = 0;

    $sum += $_ for @lens;

    return if @lens != $n || $sum != length $rest
              || split(/\n/, $part[1], -1) != $n
              || $part[2] ne '' && split(/\n/, $part[2], -1) != $n;

    return { ms => $ms, n => $n, ids => [ split /\n/, $part[1], -1 ] };
}

sub _group {
    my ($r, $root, $q, $text, $lanes, $hot, $leased) = @_;
    my ($g, $seen, $mode, $from, $ct, $passed, $base) =
        $text =~ /^(\d+):(\d+):([at]):(\d+):(\d+):(\d+):(\d+):\d+\z/
        or return "its record is '$text'";
    my %cursor = _hash($r, "$root:lc:$q:$g");
    my %ready = _scores($r, "$root:lr:$q:$g");
    my ($now) = _now($r);
    my ($sum, @p) = (0);

    push @p, "it has seen $seen" if $seen > $hot->{seen};

    for my $l (sort keys %cursor) {
        my ($committed, $seg, $lease, $expiry, $last, $lastseg, $retries,
            $consumed, $ids) = $cursor{$l} =~
            /^(\d+):(\d+):([^:]*):(\d+):(\d+):(\d+):(\d+):(\d+)(?:\n(.*))?\z/s;
        my $lane = $lanes->{$l};

        if (!defined $consumed || !$lane) {
            push @p, "the cursor of $l is '$cursor{$l}'";
            next;
        }

        $sum += $committed;
        push @p, "the cursor of $l is past its end"
            if $committed >= $lane->{next};
        push @p, "the cursor of $l has seg $seg"
            if $seg > $committed + 1 && $seg > $lane->{head}
               || $seg >= $lane->{head} && $seg < $lane->{next}
                  && !$lane->{starts}{$seg};

        if ($lease ne '') {
            my $n = () = $ids =~ /[^\n]+/g;

            $leased->{$lease}{"$q:$g:$l"} = $expiry > $now + 500;
            push @p, "the batch of $l is wrong"
                if $last <= $committed || $last >= $lane->{next}
                   || $last - $committed > $n;
            push @p, "$l is not ready when its lease ends"
                if ($ready{$l} // 0) > $expiry && $expiry > $now;
        }

        push @p, "$l has something and nobody will know"
            if $committed + 1 < $lane->{next} && !defined $ready{$l}
               && $lane->{act} <= $seen;
    }

    for my $l (grep { !$cursor{$_} } sort keys %$lanes) {
        push @p, "$l was not begun with and nobody will know"
            if $mode eq 'a' && $lanes->{$l}{next} > $lanes->{$l}{head}
               && !defined $ready{$l} && $lanes->{$l}{act} <= $seen;
    }

    push @p, "it has passed $passed, its cursors $sum"
        if !$base && $passed != $sum;
    push @p, map { "lr has $_" } grep { !$lanes->{$_} } keys %ready;

    return @p;
}

sub _dead {
    my ($r, $root, $q, $hot) = @_;
    my %row = _hash($r, "$root:lk:$q");
    my %all = _scores($r, "$root:lK:$q");
    my %of = _hash($r, "$root:lX:$q");
    my (%id, @p);

    for my $field (keys %of) {
        $id{$_} = $field for split / /, $of{$field};
    }

    for my $n (sort keys %row) {
        my ($head, $rest) = split /\n/, $row{$n}, 2;
        my ($l, $g, $offset, $ms, $failed, $retries, $sealed, @size) =
            split /:/, $head;
        my $sum = 0;

        $sum += $_ for @size;
        push @p, "row $n was not given" if $n > $hot->{dead};
        push @p, "row $n is of another length"
            if @size != 5 || $sum != length $rest;
        push @p, "row $n is not in lK" if ($all{$n} // 0) != $n;
        push @p, "row $n is not in lK of $g"
            if !defined $r->call('ZSCORE', "$root:lK:$q:$g", $n);
        push @p, "row $n is not in lX"
            if ($id{$n} // '') ne "$l:" . substr $rest, 0, $size[0];
        delete $all{$n};
        delete $id{$n};
    }

    return @p, (map { "lK has $_" } keys %all), map { "lX has $_" } keys %id;
}

# Of all queues; rows of queues that are no more may be left.

sub _all_dead {
    my ($r, $root, $there, $left) = @_;
    my %all = _scores($r, "$root:lKA");
    my (%listed, @p);

    for my $key (grep { /^\Q$root\E:lKA(?::|\z)/ } keys %$left) {
        my ($group) = $key =~ /:lKA:(.*)/s;

        delete $left->{$key};

        for my $member ($group ? _members($r, $key) : ()) {
            push @p, "$key has $member"
                unless defined $all{$member}
                       || !$r->call('HEXISTS', "$root:lk:" . $member =~ s/:.*//r,
                                    $member =~ s/.*://r);
            $listed{$member}++;
        }
    }

    for my $q (sort keys %$there) {
        push @p, map { "row $_ of $q is not in lKA" }
                 grep { !defined $all{"$q:$_"} || $listed{"$q:$_"} != 1 }
                 @{ $r->call('HKEYS', "$root:lk:$q") };
    }

    return @p;
}

# also where the library has a clock of its own: LogCalls.pm
sub _now {
    my $fixed = $_[0]->call('GET', 'clock');
    return $fixed if defined $fixed;

    my ($s, $us) = @{ $_[0]->call('TIME') };
    return $s * 1000 + int($us / 1000);
}

sub _hash { @{ $_[0]->call('HGETALL', $_[1]) } }
sub _members { @{ $_[0]->call('ZRANGE', $_[1], 0, -1) } }
sub _scores { @{ $_[0]->call('ZRANGE', $_[1], 0, -1, 'WITHSCORES') } }

sub _scan {
    my ($r, $pattern) = @_;
    my ($cursor, @keys) = (0);

    $pattern =~ s/([\[\]\\])/\\$1/g;

    do {
        my $reply = $r->call('SCAN', $cursor, 'MATCH', $pattern, 'COUNT', 1000);
        $cursor = $reply->[0];
        push @keys, @{ $reply->[1] };
    } while ($cursor);

    return @keys;
}


1;
