package NgxQueues::CheckPush;

# What must hold in Redis of push between any two calls (docs/redis.md): a part
# of NgxQueues::Check.

use strict;
use warnings;


# The subscriptions of a project, and who owns them.  Keys that are of them are
# noted in known; queues are the project's.
sub project {
    my ($r, $root, $keys, $known, $queues) = @_;
    my %has = map { $_ => 1 } @$queues;
    my %p = @{ $r->call('HGETALL', "$root:p") };
    my %v = map { $_ => 1 } @{ $r->call('ZRANGE', "$root:v", 0, -1) };
    my %active = _set($r, "$root:pa");
    my %free = _set($r, "$root:pf");
    my %lease = @{ $r->call('ZRANGE', "$root:pw", 0, -1, 'WITHSCORES') };
    my (@p, %of, %owner);

    push @p, 'there are leases of nothing' if %lease && !%active;
    $known->{"$root:$_"} = 1 for qw(p v pa pf pw);

    for my $q (sort keys %p) {
        my $k = $p{$q};

        $known->{"$root:$_:$k"} = 1 for qw(s pd);
        push @p, "subscription $k is of $q, which is no queue" unless $has{$q};
        push @p, "subscription $k is of $q and $of{$k}" if $of{$k};
        $of{$k} = $q;
    }

    for my $key (grep { /^\Q$root\E:po:/ } @$keys) {
        my $worker = $key =~ s/^\Q$root\E:po://r;
        my %owned = _set($r, $key) or next;

        $known->{$key} = 1;
        push @p, "worker $worker owns subscriptions, and has no lease"
            unless defined $lease{$worker};

        for my $k (sort keys %owned) {
            push @p, "subscription $k is owned by $owner{$k} and $worker"
                if defined $owner{$k};
            $owner{$k} = $worker;
        }
    }

    push @p, map { "subscription $_ is active and nobody's nor free" }
             grep { !$free{$_} && !defined $owner{$_} } sort keys %active;
    push @p, map { "subscription $_ is free and owned by $owner{$_}" }
             grep { defined $owner{$_} } sort keys %free;
    push @p, map { "subscription $_ is free or owned, and not active" }
             grep { !$active{$_} } sort keys %free, sort keys %owner;
    push @p, map { "subscription $_ is active and of no queue" }
             grep { !$of{$_} } sort keys %active;

    my %created;

    for my $k (sort keys %of) {
        my %s = @{ $r->call('HGETALL', "$root:s:$k") };
        my @lacks = grep { !defined $s{$_} }
            qw(v id q url to bs mc st sec ct ut ver o fn w fl ls le nd ne nm);

        push @p, map { "subscription $k lacks $_" } @lacks;
        next if @lacks;

        push @p, map { "subscription $k: $_" } _record(\%s, $of{$k});
        push @p, "subscription $k is $s{st}, and "
                 . ($active{$k} ? 'active' : 'not active')
            if ($s{st} eq 'a') != !!$active{$k};
        push @p, "subscription $k is of '$s{o}', owned by '"
                 . ($owner{$k} // '') . "'"
            if $s{o} ne ($owner{$k} // '');
        next if defined $s{x};              # of Pub/Sub

        push @p, "subscription $k was created unseen" unless $v{"$s{id}$k"};
        $created{"$s{id}$k"} = 1;
    }

    push @p, map { "$_ was created and is no subscription" }
             grep { !$created{$_} } sort keys %v;

    return map { "$root: $_" } @p;
}


sub _record {
    my ($s, $q) = @_;
    my @p;

    push @p, "is of $s->{q}, found at $q" if $s->{q} ne $q;
    push @p, map { "$_ is $s->{$_}" } grep { $s->{$_} !~ /^(?:0|[1-9]\d*)\z/ }
        qw(to bs mc ct ut ver fn w ls nd ne nm);
    push @p, "fl is $s->{fl}" if $s->{fl} !~ /^[01]\z/;
    push @p, "le is $s->{le}"
        if $s->{le} !~ /^(?:\d+ [^ ]+ \d+ .*)?\z/s
           || ($s->{le} eq '') != ($s->{ne} == 0);
    push @p, 'fails, without a failure' if $s->{fl} && $s->{le} eq '';
    push @p, "ne is $s->{ne}, nd is $s->{nd}" if $s->{ne} > $s->{nd};

    push @p, "secrets are $s->{sec}"
        if $s->{sec} !~ /^0 [^ ]+(?: [1-9]\d* [^ ]+){0,3}\z/
           && !(defined $s->{x} && $s->{sec} eq '');

    return @p;
}


# The members, and how many active subscriptions projects have.
sub members {
    my ($r, $key, $keys) = @_;
    my %n = @{ $r->call('HGETALL', "$key:n") };
    my %seq = @{ $r->call('ZRANGE', "$key:p", 0, -1, 'WITHSCORES') };
    my %idle = @{ $r->call('ZRANGE', "$key:x", 0, -1, 'WITHSCORES') };
    my (@p, %at);

    push @p, map { "$_ is nobody's key" }
             grep { !/^\Q$key\E:[mpnx]\z/ && $r->call('EXISTS', $_) } @$keys;
    push @p, map { "$key: $_ has changed and no number" }
             grep { !defined $n{$_} } sort keys %seq;

    for my $root (sort keys %n) {
        push @p, "$key: $root has the number $n{$root}"
            if $n{$root} !~ /^(?:0|[1-9]\d*)\z/;
        push @p, "$key: $root has a number and did not change"
            unless defined $seq{$root};
        push @p, "$key: $root and $at{ $seq{$root} } changed at once"
            if $at{ $seq{$root} // '' };
        $at{ $seq{$root} } = $root if defined $seq{$root};
        push @p, "$key: $root has $n{$root}, and is "
                 . (defined $idle{$root} ? '' : 'not ') . 'to be forgotten'
            if ($n{$root} eq '0') != defined $idle{$root};
    }

    push @p, map { "$key: $_ is to be forgotten and unknown" }
             grep { !defined $n{$_} } sort keys %idle;

    return @p;
}


sub _set {
    my ($r, $key) = @_;
    return map { $_ => 1 } @{ $r->call('SMEMBERS', $key) };
}


1;
