package NgxQueues::CheckPubsub;

# What must hold in Redis of Pub/Sub's topics, subscriptions and snapshots between
# any two calls (docs/redis.md): a part of NgxQueues::Check.

use strict;
use warnings;


# The topics and snapshots of a project, and its subscriptions but for what holds of
# all queues.  Keys that are of them are noted in known.  Returns what is wrong, and
# a hash from Q to the record of each subscription.
sub project {
    my ($r, $root, $keys, $known) = @_;
    my %t = @{ $r->call('HGETALL', "$root:gt") };
    my %s = @{ $r->call('HGETALL', "$root:gs") };
    my %n = @{ $r->call('HGETALL', "$root:gn") };
    my (@p, %topic, %sub, %snap);

    $known->{"$root:$_"} = 1 for qw(gt gl gs gk gn gm gy);
    push @p, _listed($r, "$root:gl", \%t), _listed($r, "$root:gk", \%s),
             _listed($r, "$root:gm", \%n);

    for my $name (sort keys %t) {
        $topic{ $t{$name} } = { _record($r, "$root:gt:$t{$name}", $name, \@p,
            qw(v name cfg ret last fan ver ct log fn)) };
        $known->{"$root:$_:$t{$name}"} = 1 for qw(gt gz gw gg);
    }

    for my $name (sort keys %s) {
        my $q = $s{$name};

        $sub{$q} = { _record($r, "$root:gq:$q", $name, \@p,
            qw(v name t cfg vt ret mrc dlq min max flags filter ttl det ver ct
               src)) };
        $known->{"$root:gq:$q"} = 1;
        push @p, "$name is a queue of the Queues API as well"
            if $r->call('EXISTS', "$root:q:$q");
    }

    for my $name (sort keys %n) {
        $snap{ $n{$name} } = { _record($r, "$root:gn:$n{$name}", $name, \@p,
            qw(v name t filter cfg expire ver kind)) };
        $known->{"$root:gn:$n{$name}"} = 1;
    }

    push @p, map { _fan($r, $root, $_, $topic{$_}, \%sub, \%snap) }
             sort keys %topic;
    push @p, _sources($r, $root, $known, \%topic, \%sub, \%snap);

    return (\%sub, \%topic, \%snap, map { "$root: $_" } @p);
}


sub _listed {
    my ($r, $key, $names) = @_;
    my %l = map { $_ => 1 } @{ $r->call('ZRANGE', $key, 0, -1) };

    return ((map { "$_ is not in $key" } grep { !$l{$_} } sort keys %$names),
            (map { "$_ is in $key only" } grep { !$names->{$_} } sort keys %l));
}


sub _record {
    my ($r, $key, $name, $p, @fields) = @_;
    my %h = @{ $r->call('HGETALL', $key) };

    push @$p, "$key lacks $_" for grep { !defined $h{$_} } @fields;
    $h{$_} //= '' for @fields;
    push @$p, "$key is of $h{name}, found as $name" if $h{name} ne $name;

    return %h;
}


# What a topic's fan says: a line for each subscription that is not detached, and for
# each snapshot.
sub _fan {
    my ($r, $root, $t, $topic, $sub, $snap) = @_;
    my (%is, %line, %marks, @p);

    for my $q (grep { $sub->{$_}{t} eq $t && $sub->{$_}{det} eq '0' } keys %$sub) {
        my $letter = $sub->{$q}{flags} =~ /o/ ? 'f' : 's';

        $is{$q} = [ $sub->{$q}{src} ne '' ? uc $letter : $letter,
                    $sub->{$q}{filter} ];
    }

    $is{$_} = [ 'n', $snap->{$_}{filter} ]
        for grep { $snap->{$_}{t} eq $t } keys %$snap;

    push @p, "the fan of $t is $topic->{fan}"
        if $topic->{fan} !~ /^(?:[sfSFn][^:\n]{12}:\d*\n)*\z/;

    for my $text (split /\n/, $topic->{fan}) {
        my ($letter, $id, $mark) = $text =~ /^(.)(.*):(.*)/;

        push @p, "$id is twice in the fan of $t" if $line{$id}++;
        push @p, "the filters of $t have the same mark $mark"
            if $mark ne '' && $marks{$mark}++;
        push @p, "$id in the fan of $t is no target" and next unless $is{$id};
        push @p, "$id in the fan of $t is $letter, not $is{$id}[0]"
            if $letter ne $is{$id}[0];
        push @p, "$id in the fan of $t says of its filter '$mark'"
            if ($mark ne '') != ($is{$id}[1] ne '');
    }

    push @p, map { "$_ is not in the fan of $t" } grep { !$line{$_} } sort keys %is;

    my %subs = map { $_ => 1 } @{ $r->call('ZRANGE', "$root:gz:$t", 0, -1) };
    my %snaps = map { $_ => 1 } @{ $r->call('ZRANGE', "$root:gw:$t", 0, -1) };
    my %want = map { $sub->{$_}{name} => 1 } grep { $sub->{$_} } keys %is;
    my %wants = map { $snap->{$_}{name} => 1 } grep { $snap->{$_} } keys %is;

    push @p, "$t has the subscriptions @{[ sort keys %subs ]}"
        if "@{[ sort keys %subs ]}" ne "@{[ sort keys %want ]}";
    push @p, "$t has the snapshots @{[ sort keys %snaps ]}"
        if "@{[ sort keys %snaps ]}" ne "@{[ sort keys %wants ]}";

    my ($keep) = sort { $b <=> $a } $topic->{ret},
        map { $_->{ret} } grep { $_->{t} eq $t && $_->{det} eq '0'
                                 && $_->{flags} =~ /r/ } values %$sub;

    push @p, "$t keeps messages for $topic->{log}, not $keep s"
        if $topic->{log} != $keep * 1000;
    push @p, "the log of $t is not on the agenda"
        if $keep && !defined $r->call('ZSCORE', "$root:t", "g:$t");

    return @p;
}


# What seeks read from: of the generations before, snapshots and logs.
sub _sources {
    my ($r, $root, $known, $topic, $sub, $snap) = @_;
    my %uses = @{ $r->call('HGETALL', "$root:gy") };
    my (%used, @p);

    for my $q (sort keys %$sub) {
        my $hot = $r->call('HGET', "$root:h:$q", 's') // '';
        my $gen = (split /:/, $hot)[2] // 0;
        my @lines = split /\n/, $sub->{$q}{src};

        push @p, "$q: $lines[-1] is the last to come back"
            if @lines && $lines[-1] !~ /^s gp:\Q$q\E:$gen \d+-\d+ \+\z/;

        for my $line (@lines) {
            my ($kind, $key) = split / /, $line;

            if ($kind eq 'g') {
                $known->{"$root:$_:$key"} = 1 for qw(u g d x);
                $used{"gx:$1"}++ if $key =~ /^(.*):0\z/;
            } elsif ($kind eq 's') {
                $known->{"$root:$key"} = 1;
                $used{$key}++ if $key =~ /^g[gx]:/;
            } else {
                push @p, "$q is to get back $line";
            }
        }
    }

    for my $n (sort keys %$snap, map { /^gx:(.*)/ } keys %uses) {
        $known->{"$root:gx:$n"} = 1;
        $known->{"$root:$_:$n:0"} = 1 for qw(u g d x);
    }

    push @p, map { "$_ is used $used{$_} times, not " . ($uses{$_} // 0) }
             grep { $used{$_} != ($uses{$_} // 0) } sort keys %used;
    push @p, map { "$_ is said to be used" } grep { !$used{$_} } sort keys %uses;

    return @p;
}


# What the field s of a subscription's hot hash says, but for its first four parts and
# the size of bodies; p: whether it has a push part.
sub settings {
    my ($r, $root, $f, $push, $s) = @_;
    my ($size) = $s =~ /^(?:[^:]*:){3}([^:]*):/;
    my $letters = $f->{flags} =~ s/[^er]//gr . ($push ? 'p' : '')
                  . ($f->{det} eq '1' ? 'x' : '') . ($f->{src} ne '' ? 'y' : '');
    my $tret = $f->{det} eq '1' ? 0 : $r->call('HGET', "$root:gt:$f->{t}", 'ret') // 0;
    my $ret = $tret > $f->{ret} ? $tret : $f->{ret};

    return join ':', ($f->{flags} =~ /o/ ? 'f' : 's') . '0',
        @$f{qw(mrc dlq)}, $size // '', 0, $f->{vt}, 0, $ret,
        join(',', @$f{qw(min max)}, $letters), "gcp.sub.$f->{name}";
}


1;
