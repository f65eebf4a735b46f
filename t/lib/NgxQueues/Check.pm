package NgxQueues::Check;

# What must hold in Redis between any two calls (docs/redis.md).  check() looks
# at all projects and returns a list of problems, empty if all is well.
#
#   my @problems = NgxQueues::Check::check($redis);

use strict;
use warnings;


# The library is looked up in Redis where its name is not given.  Messages
# that outlived their retention are swept by the way (queue_count).
sub check {
    my ($redis, $library) = @_;
    my %roots;

    $library //= _library($redis);

    for my $key (_scan($redis, 'ngxq:*')) {
        my ($root) = $key =~ /^(ngxq:\{[^}]*\})/;
        push @{ $roots{$root // $key} }, $key;
    }

    return map { _project($redis, $library, $_, $roots{$_}) } sort keys %roots;
}


sub _project {
    my ($r, $library, $root, $keys) = @_;
    my %n = @{ $r->call('HGETALL', "$root:n") };
    my %l = map { $_ => 1 } @{ $r->call('ZRANGE', "$root:l", 0, -1) };
    my %counted = @{ $r->call('HGETALL', "$root:r") };
    my (@p, %known, %named);

    $known{"$root:$_"} = 1 for qw(n l r);

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
            qw(s cur t nb nf hx);

        my ($gen) = ($hot{s} // '') =~ /^[01]:\Q$q\E:([1-9]\d*):\d+-\d+:/;

        if (!$gen || ($hot{s} =~ s/^([^:]*:){4}//r) ne
            join ':', @h{qw(max delay vt wait ret id name)})
        {
            push @p, "$root: $q: s does not say what the settings do";
            next unless $gen;
        }

        $named{ $h{dlq} }++ if $h{dlq} ne '' && $h{dlq} ne $q;
        $known{"$root:$_:$q:$gen"} = 1 for qw(m z y f d b e);

        push @p, _queue($r, $library, $root, $q);
    }

    push @p, map { "$root: $_ is nobody's key" }
             grep { !$known{$_} && $r->call('EXISTS', $_) } sort @$keys;

    for my $q (sort keys %{ { %counted, %named } }) {
        my ($a, $b) = ($counted{$q} // 0, $named{$q} // 0);
        push @p, "$root: $q is a dead-letter queue of $b, counted $a"
            if $a != $b;
    }

    return @p;
}


sub _queue {
    my ($r, $library, $root, $q) = @_;
    my @p;

    # a moment that passes between the reads looks like a fault: look again
    for (1 .. 5) {
        @p = _generation($r, $library, $root, $q) or return;
    }

    return @p;
}


sub _generation {
    my ($r, $library, $root, $q) = @_;
    my ($count, @p);

    do {
        $count = $r->call('FCALL', "${library}_queue_count", 1, $root, "q$q");
        return "$root: $q: queue_count: $count" if ref $count ne 'ARRAY';
    } while ($count->[14]);

    my %h = @{ $r->call('HGETALL', "$root:h:$q") };
    my ($s, $us) = @{ $r->call('TIME') };
    my $now = $s * 1000 + int($us / 1000);
    my ($gen, $ret) = (split /:/, $h{s})[2, 8];
    my $live = $now - $ret * 1000;

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
        for grep { ($h{t} // 0) > $_ } $h{hx}, values %f, values %y, values %b;

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
        push @p, "$id outlived its retention" if $ms <= $live;
    }

    my $flying = keys(%batch) + grep { $_ > $now } values %f;
    my $delayed = grep { $_ > $now } values %y;
    my $is = join ' ', keys(%body) - $flying - $delayed, $flying, $delayed;
    my $told = join ' ', @$count[15 .. 17];

    push @p, "counts are $is and told as $told" if $is ne $told;

    return map { "$root: $q: $_" } @p;
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
