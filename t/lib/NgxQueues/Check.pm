package NgxQueues::Check;

# What must hold in Redis between any two calls (docs/redis.md).  check() looks
# at all projects and returns a list of problems, empty if all is well.
#
#   my @problems = NgxQueues::Check::check($redis);

use strict;
use warnings;

use NgxQueues::CheckFifo;
use NgxQueues::CheckLog;
use NgxQueues::CheckPubsub;
use NgxQueues::CheckPush;


# The library is looked up in Redis where its name is not given.  Messages
# that outlived their retention are swept by the way (queue_count).
sub check {
    my ($redis, $library) = @_;
    my %roots;

    $library //= _library($redis);

    # the registry of projects is a key of none, as is what is known of them

    for my $key (grep { !/^ngxq:(?:projects|known|\{ngxq:known\}:x)\z/ }
                 _scan($redis, 'ngxq:*'))
    {
        my ($root) = $key =~ /^(ngxq:\{[^}]*\})/;
        push @{ $roots{$root // $key} }, $key;
    }

    # nor are the members of push

    my $push = 'ngxq:{push}';
    my $members = delete $roots{$push};

    return ($members ? NgxQueues::CheckPush::members($redis, $push, $members)
                     : (),
            map { _project($redis, $library, $_, $roots{$_}) }
            sort keys %roots);
}


sub _project {
    my ($r, $library, $root, $keys) = @_;
    my %n = @{ $r->call('HGETALL', "$root:n") };
    my %l = map { $_ => 1 } @{ $r->call('ZRANGE', "$root:l", 0, -1) };
    my %counted = @{ $r->call('HGETALL', "$root:r") };
    my %agenda = @{ $r->call('ZRANGE', "$root:t", 0, -1, 'WITHSCORES') };
    my (@p, %known, %named, %has);

    $known{"$root:$_"} = 1 for qw(n l r t a m);
    $known{$_} = 1 for grep { /^\Q$root\E:j:[0-9a-f]+\z/
                              && $r->call('TTL', $_) >= 0 } @$keys;

    for my $name (sort keys %l) {
        push @p, "$root: $name is listed and has no id" unless $n{$name};
    }

    for my $name (sort keys %n) {
        my $q = $n{$name};
        my %h = @{ $r->call('HGETALL', "$root:q:$q") };

        $known{"$root:$_:$q"} = 1 for qw(q h);
        push @p, "$root: $name is not listed" unless $l{$name};

        if (!%h) {
            push @p, "$root: $name has no hash";
            next;
        }

        my %hot = @{ $r->call('HGETALL', "$root:h:$q") };

        push @p, "$root: $name has the hash of $h{name}" if $h{name} ne $name;
        push @p, "$root: $q lacks $_" for grep { !defined $h{$_} }
            qw(v id name kind vt wait ret delay max cbd dlq mrc ct ut);
        push @p, "$root: $q lacks $_" for grep { !defined $hot{$_} }
            qw(s cur t nb nf hx n);

        my $fifo = ($h{kind} // '') eq 'fifo';
        my ($flags, $gen) =
            ($hot{s} // '') =~ /^([0-3]):\Q$q\E:([1-9]\d*):\d+-\d+:/;

        if (!$gen || ($hot{s} =~ s/^([^:]*:){4}//r) ne
            join ':', ($fifo ? 'f' : 's') . $h{cbd},
                 @h{qw(mrc dlq max delay vt wait ret id name)})
        {
            push @p, "$root: $q: s does not say what the settings do";
            next unless $gen;
        }

        $has{$q} = 1;
        $named{ $h{dlq} }++ if $h{dlq} ne '' && $h{dlq} ne $q;
        _generation_keys(\%known, $root, $q, $gen, $fifo, \%hot);

        push @p, _queue($r, $library, $root, $q, $fifo);
    }

    my ($subs, $topics, $snaps, @wrong) =
        NgxQueues::CheckPubsub::project($r, $root, $keys, \%known);
    my %push = @{ $r->call('HGETALL', "$root:p") };

    push @p, @wrong;
    $has{"g:$_"} = 1 for grep { $topics->{$_}{log} } keys %$topics;
    $has{"n:$_"} = 1 for keys %$snaps;
    $has{"x:$_"} = 1 for grep { $subs->{$_}{ttl} } keys %$subs;

    for my $q (sort keys %$subs) {
        my %hot = @{ $r->call('HGETALL', "$root:h:$q") };
        my ($gen) = ($hot{s} // '') =~ /^[0-3]:\Q$q\E:([1-9]\d*):0-0:/;
        my $is = ($hot{s} // '') =~ s/^([^:]*:){4}//r;
        my $want = NgxQueues::CheckPubsub::settings($r, $root, $subs->{$q},
                                                    $push{$q}, $is);

        $known{"$root:h:$q"} = 1;
        push @p, "$root: $q lacks $_" for grep { !defined $hot{$_} }
            qw(s cur t nb nf hx n use);
        push @p, "$root: $q: s is $is, and should be $want"
            if !$gen || $is ne $want;
        next unless $gen;

        my $fifo = $is =~ /^f/;

        $has{$q} = 1;
        _generation_keys(\%known, $root, $q, $gen, $fifo, \%hot);
        push @p, _queue($r, undef, $root, $q, $fifo);
    }

    push @p, NgxQueues::CheckPush::project($r, $root, $keys, \%known,
                                           [ values %n, keys %$subs ]);

    if (my @logs = grep { /^\Q$root\E:l[a-zA-Z]\w*(?::|\z)/ } @$keys) {
        $known{$_} = 1 for @logs;
        $has{"l:$_"} = 1 for @{ $r->call('HVALS', "$root:ln") };
        push @p, map { "$root: $_" } NgxQueues::CheckLog::check($r, $root);
    }

    push @p, map { "$root: $_ is on the agenda and no queue" }
             grep { !$has{$_} } sort keys %agenda;

    push @p, map { "$root: $_ is nobody's key" }
             grep { !$known{$_} && $r->call('EXISTS', $_) } sort @$keys;

    for my $q (sort keys %{ { %counted, %named } }) {
        my ($a, $b) = ($counted{$q} // 0, $named{$q} // 0);
        push @p, "$root: $q is a dead-letter queue of $b, counted $a"
            if $a != $b;
    }

    return @p;
}


sub _generation_keys {
    my ($known, $root, $q, $gen, $fifo, $hot) = @_;

    $known->{"$root:$_:$q:$gen"} = 1 for qw(y f d b e),
        $fifo ? qw(u g o x k) : qw(m z);

    for my $w ([ 'i', $hot->{dw} ], [ 'c', $hot->{cw} ]) {
        $known->{"$root:$w->[0]:$q:$_"} = 1
            for $fifo && $w->[1] ? ($w->[1], $w->[1] - 1) : ();
    }
}


# Of a subscription of Pub/Sub, without library, nothing is swept or counted.
sub _queue {
    my ($r, $library, $root, $q, $fifo) = @_;
    my @p;

    # a moment that passes between the reads looks like a fault: look again
    for (1 .. 5) {
        my $count;

        for (1 .. ($library ? 1000 : 0)) {
            $count = $r->call('FCALL', "${library}_queue_count", 1, $root,
                              "q$q");
            return "$root: $q: queue_count: $count" if ref $count ne 'ARRAY';
            last unless $count->[14];
        }

        return "$root: $q: no count comes to an end"
            if $count && $count->[14];

        my %h = @{ $r->call('HGETALL', "$root:h:$q") };
        my ($gen, $mrc, $dlq, $ret, $sub) = (split /:/, $h{s})[2, 5, 6, 11, 12];
        my ($s, $us) = @{ $r->call('TIME') };
        my $now = $s * 1000 + int($us / 1000);
        my %c = (now => $now, live => $now - $ret * 1000, count => $count,
                 root => $root, q => $q, gen => $gen, h => \%h);

        @p = $fifo ? NgxQueues::CheckFifo::generation($r, \%c)
                   : _generation($r, \%c);
        push @p, _agenda($r, \%c, $ret,
                         $mrc > 0 && _dead($r, $root, $dlq, $sub)),
                 _totals($r, \%c, $fifo);
        return unless @p;
    }

    return map { "$root: $q: $_" } @p;
}


# Whether its dead letters have somewhere to go. Those of a subscription of Pub/Sub
# go to a topic, "-" is nowhere; where that topic is gone, they stay.
sub _dead {
    my ($r, $root, $dlq, $sub) = @_;

    return $dlq ne '' && ($sub !~ /,/ || $dlq eq '-'
                          || $r->call('HEXISTS', "$root:gt", $dlq));
}


# When the queue must be looked after at the latest.
sub _agenda {
    my ($r, $c, $ret, $dead) = @_;
    my ($root, $q, $h, $gen) = @$c{qw(root q h gen)};
    my $score = $r->call('ZSCORE', "$root:t", $q);
    my ($flag) = substr($h->{s}, 0, 1) >= 2;
    my (@p, %latest);

    push @p, 'is not on the agenda and says so' if $flag && !defined $score;

    if (defined $c->{oldest}) {
        push @p, 'has messages and no flag of the agenda' unless $flag;
        # XADD takes the moment at which its call began
        $latest{retention} = $c->{oldest} + $ret * 1000 + 100;

        my $age = int(($c->{now} - $c->{oldest}) / 1000);
        push @p, "the oldest message is of $age s, told as $c->{count}[18]"
            if $c->{count}
               && ($age < $c->{count}[18] || $age > $c->{count}[18] + 1);

    } elsif ($c->{count} && $c->{count}[18] != -1) {
        push @p, "no message, told as of $c->{count}[18] s";
    }

    for my $key ($dead ? qw(f b) : ()) {
        my $first = $r->call('ZRANGEBYSCORE', "$root:$key:$q:$gen", 0, '+inf',
                             'WITHSCORES', 'LIMIT', 0, 1);
        $latest{"an end in $key"} = $first->[1] if @$first;
    }

    $latest{'the keys of deduplication'} = ($h->{dw} + 2) * 300_000
        if $h->{dw};
    $latest{'the ends of groups'} = ($h->{cw} + 2) * 86_400_000 if $h->{cw};

    push @p, map { "is on the agenda at " . ($score // 'no time')
                   . ", too late for $_ at $latest{$_}" }
             grep { !defined $score || $score > $latest{$_} }
             sort keys %latest;

    return @p;
}


# No more went away than came in; the project has counted what its queues have.
sub _totals {
    my ($r, $c, $fifo) = @_;
    my ($root, $q, $h, $gen) = @$c{qw(root q h gen)};
    my %project = @{ $r->call('HGETALL', "$root:m") };
    my ($came, $there) = ($h->{in} // $h->{n}, $h->{n});
    my @ways = grep { $h->{$_} } qw(ex dl dropped rd);
    my @p;

    if (!$fifo) {
        my @streams = map { { @$_ } } grep { ref eq 'ARRAY' }
                      map { $r->call('XINFO', 'STREAM', "$root:$_:$q:$gen") } qw(m z);

        ($came, $there) = (0, 0);

        for my $s (@streams) {
            $came += $s->{'entries-added'};
            $there += $s->{length};
        }
    }

    my $gone = $there;

    $gone += $h->{$_} for @ways;
    push @p, "$came came in, $gone are there or went: @ways" if $gone > $came;
    push @p, map { "the project has " . ($project{$_} // 0) . " of $_, of $h->{$_}" }
             grep { $_ ne 'rd' && ($project{$_} // 0) < $h->{$_} } @ways;

    return @p;
}


sub _generation {
    my ($r, $c) = @_;
    my ($root, $q, $gen, $live, $now, $count) =
        @$c{qw(root q gen live now count)};
    my %h = %{ $c->{h} };
    my @p;

    my %key = map { $_ => "$root:$_:$q:$gen" } qw(m z y f d b e);
    my %body = ((map { $_ => 1 } _stream($r, $key{m})),
                (map { ; "z$_" => 1 } _stream($r, $key{z})));
    my %f = @{ $r->call('ZRANGE', $key{f}, 0, -1, 'WITHSCORES') };
    my %y = @{ $r->call('ZRANGE', $key{y}, 0, -1, 'WITHSCORES') };
    my %d = @{ $r->call('HGETALL', $key{d}) };
    my %b = @{ $r->call('ZRANGE', $key{b}, 0, -1, 'WITHSCORES') };
    my %e = @{ $r->call('HGETALL', $key{e}) };
    my %batch;

    for my $token (sort keys %b) {
        push @p, "batch $token without record" unless exists $e{$token};
    }

    for my $token (sort keys %e) {
        my ($last, @ids) = split / /, $e{$token};

        push @p, "batch $token has no end" unless exists $b{$token};
        push @p, "batch $token has record $e{$token}"
            if !@ids || $e{$token} !~ /^\d+( \d+-\d+)+\z/
               || grep { !_later($ids[$_], $ids[$_ - 1]) } 1 .. $#ids;

        for my $id (@ids) {
            push @p, "$id in two batches" if $batch{$id}++;
            push @p, "$id in a batch and in flight by itself"
                if exists $f{$id};
            push @p, "$id in a batch without body" unless $body{$id};
            push @p, "$id in a batch beyond cur $h{cur}"
                if _later($id, $h{cur});
        }
    }

    push @p, "nb is $h{nb}, in batches are " . keys %batch
        if $h{nb} != keys %batch;
    push @p, "nf is $h{nf}, in flight are " . keys %f if $h{nf} < keys %f;
    push @p, "t is $h{t} after " . $_
        for grep { ($h{t} // 0) > $_ } $h{hx}, values %y, values %b,
                                       map { _moment($_) } values %f;

    for my $id (sort keys %f) {
        push @p, "$id in flight without state" unless exists $d{$id};
        push @p, "$id in flight without body" unless $body{$id};
        push @p, "$id in flight beyond cur $h{cur}"
            if $id !~ /^z/ && _later($id, $h{cur});
    }

    for my $id (sort keys %d) {
        push @p, "$id has state and is not in flight" unless exists $f{$id};
        push @p, "$id has state $d{$id}"
            unless $d{$id} =~ /^(?: -:0:0 | (?: \d+ | - ) (?: :[1-9]\d* ){2} )
                               :\d+$/x;
    }

    for my $id (sort keys %y) {
        push @p, "$id delayed without body" unless $body{$id};
        push @p, "$id delayed and not of z" unless $id =~ /^z/;
        push @p, "$id delayed and in flight" if exists $f{$id};
    }

    for my $id (sort keys %body) {
        if ($id =~ /^z/) {
            push @p, "$id stored, neither delayed nor in flight"
                unless exists $y{$id} || exists $f{$id};

        } elsif (!_later($id, $h{cur}) && !exists $f{$id} && !$batch{$id}) {
            push @p, "$id stored, not in flight, before cur $h{cur}";
        }

        my ($ms) = $id =~ /^z?(\d+)/;
        push @p, "$id outlived its retention" if $count && $ms <= $live;
        $c->{oldest} = $ms if $ms < ($c->{oldest} // 9e15);
    }

    my $flying = keys(%batch) + grep { $_ > $now } values %f;
    my $delayed = grep { $_ > $now } values %y;
    my $is = join ' ', keys(%body) - $flying - $delayed, $flying, $delayed;
    my $told = $count ? join ' ', @$count[15 .. 17] : $is;

    push @p, "counts are $is and told as $told" if $is ne $told;

    return @p;
}


# The moment that a score of f is of: those that were looked at are marked.
sub _moment {
    my ($score) = @_;
    return $score < -1e14 ? $score + 2e14 : $score < 0 ? $score + 1e14 : $score;
}


sub _later {
    my ($a, $b) = map { [ split /-/ ] } @_;
    return ($a->[0] <=> $b->[0] || $a->[1] <=> $b->[1]) > 0;
}


# The ids of a stream.
sub _stream {
    my ($r, $key) = @_;
    my ($from, @ids) = '-';

    while (1) {
        my $part = $r->call('XRANGE', $key, $from, '+', 'COUNT', 1000);
        last unless @$part;
        push @ids, map { $_->[0] } @$part;
        $from = "($ids[-1]";
    }

    return @ids;
}


sub _scan {
    my ($r, $match) = @_;
    my ($cursor, %keys) = 0;

    do {
        my $reply = $r->call('SCAN', $cursor, 'MATCH', $match, 'COUNT', 1000);
        $cursor = $reply->[0];
        $keys{$_} = 1 for @{ $reply->[1] };
    } while ($cursor ne '0');

    return sort keys %keys;
}


sub _library {
    my ($r) = @_;
    my $list = $r->call('FUNCTION', 'LIST', 'LIBRARYNAME', 'ngxq_*');

    die "no library is loaded\n" unless ref $list eq 'ARRAY' && @$list;

    my %one = @{ $list->[0] };
    return $one{library_name};
}


1;
