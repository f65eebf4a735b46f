package NgxQueues::Logs;

# Short ways to call the functions of logs, on NgxQueues::Functions' Redis.
#
#   log_push('q', 'lane', 'a', 'b');         [ "Q:l:ms:start …" ] or an error
#   my $got = log_pop('q', group => 'g');    what was got: see there
#   log_ack($got, 'cf', error => 'why');     the words of the reply

use strict;
use warnings;

use Digest::SHA ();
use Exporter 'import';
use Test::More;

use NgxQueues::Check;
use NgxQueues::Functions;
use NgxQueues::LogRecords;

our @EXPORT = qw(log_push log_pop log_find log_ack log_items log_q log_hot
                 log_hot_set log_lane_set
                 log_configure log_elapse log_set log_sound ids lkey log_group hashes
                 pushes now_ms);

our $producer = 'me';

my $serial = 0;
my $lease = 0;

sub lkey { my ($k, $q, $g) = @_; "$root:$k:$q" . (defined $g ? ":$g" : '') }
sub log_q { $r->call('HGET', "$root:ln", $_[0]) }

# one of the numbers of a queue, or another field of its hot hash

sub log_hot {
    my ($name, $field) = @_;
    my %n = _numbers($name);

    return $n{$field} // $r->call('HGET', lkey('lh', log_q($name)), $field) // 0;
}

sub log_hot_set {
    my ($name, %new) = @_;

    $r->call('HSET', lkey('lh', log_q($name)), 'n',
             numbers_text(_numbers($name), %new));
}

sub _numbers { numbers($r->call('HGET', lkey('lh', log_q($_[0])), 'n')) }

# Changes the record of a lane: fn has next head seg last act created since name.

sub log_lane_set {
    my ($name, $l, $fn) = @_;
    my $key = lkey('ld', log_q($name));
    my @lane = lane($r->call('HGET', $key, $l));

    $fn->(\@lane);
    $r->call('HSET', $key, $l, lane_text(@lane));
}

sub now_ms { my ($s, $us) = @{ $r->call('TIME') }; $s * 1000 + int($us / 1000) }

# what the whole project has, logs and all

sub log_sound {
    my @p = NgxQueues::Check::check($r);
    is("@p", '', $_[0]);
}

# a candidate Q and UUID

sub _candidate { ++$serial; (sprintf('l%011d', $serial), uuid($serial)) }

# changes settings of a queue, as a configure does

my @fields = qw(w q lease retry delay window ret cret maxwait dlq enc dedup
                minpop);

sub log_set {
    my ($name, %new) = @_;
    my $key = lkey('lh', log_q($name));
    my @s = split /:/, $r->call('HGET', $key, 's'), 14;

    for my $i (0 .. $#fields) {
        $s[$i] = $new{ $fields[$i] } if exists $new{ $fields[$i] };
    }

    $r->call('HSET', $key, 's', join ':', @s);
}

# what ids of a lane are in the index of ids

sub hashes {
    my ($lane, @ids) = @_;
    return join '', map { substr Digest::SHA::sha1("$lane\n$_"), 0, 14 } @ids;
}

# A group of a push, of chunks [ ids, traces, payloads … ]: payloads are the ids
# in quotes where there are none.

sub log_group {
    my ($number, $lane, $flags, @chunks) = @_;
    my @ids = map { @{ $_->[0] } } @chunks;

    return ($number, $lane, scalar @ids,
            with_ids($flags, map { $_->[0] } @chunks),
            map { (hashes($lane, @{ $_->[0] }), _segment($flags % 2, @$_), '') }
                @chunks);
}

sub _segment {
    my ($sealed, $ids, $traces, @payloads) = @_;

    @payloads = map { qq("$_") } @$ids unless @payloads;

    my @texts = ($producer, join("\n", @$ids), $traces // '',
                 join(' ', map { length } @payloads));

    return join(':', 0, scalar @$ids, $sealed, map { length } @texts) . "\n"
           . join('', @texts, @payloads);
}

# a push from the number of queues on: [ name, lane, ids … ] …

sub pushes {
    my @groups = @_;
    my (@queues, %number, @args);

    for my $g (@groups) {
        my ($name, $lane, @ids) = @$g;

        if (!$number{$name}) {
            push @queues, $name, _candidate();
            $number{$name} = @queues / 3;
        }

        push @args, log_group($number{$name}, $lane, 0, [ \@ids ]);
    }

    return (@queues / 3, @queues, scalar @groups, @args);
}

sub log_push {
    my ($name, $lane, @ids) = @_;
    return f('log_push', pushes([ $name, $lane, @ids ]));
}

# What was got: lease, q, next, now; and lanes, each a hash: l, name, first,
# last, segments; messages, each a hash: id, payload, lane, offset, ms, trace,
# producer.

sub _got {
    my ($reply, $lease) = @_;

    die "pop: $reply\n" unless ref $reply eq 'ARRAY';

    my ($q, $next, $now, @rest) = @$reply;
    my $got = { lease => $lease, q => $q, next => $next, now => $now,
                lanes => [], messages => [] };

    while (@rest) {
        my ($in, $l, $first, $last, $at, $n) = split /:/, shift @rest;
        my $lane = { q => $in, l => $l, first => $first, last => $last,
                     name => shift @rest, segments => $n };

        push @{ $got->{lanes} }, $lane;

        for my $text (splice @rest, 0, $n) {
            my ($head, $tail) = split /\n/, $text, 2;
            my ($ms, $many, $sealed, @size) = split /:/, $head;
            my ($producer, $ids, $traces, $lens) =
                map { substr $tail, 0, $_, '' } @size;
            my @ids = split /\n/, $ids;
            my @traces = split /\n/, $traces;

            for my $length (split / /, $lens) {
                my $m = { id => shift @ids, lane => $lane, ms => $ms,
                          payload => substr($tail, 0, $length, ''),
                          trace => shift(@traces) // '', offset => $at,
                          producer => $producer, sealed => $sealed };

                push @{ $got->{messages} }, $m if $at >= $first && $at <= $last;
                $at++;
            }

            die "a segment has more\n" if $tail ne '' || @ids;
        }
    }

    return $got;
}

sub _common {
    my (%o) = @_;

    return ($o{batch} // 10, $o{partitions} // 1, $o{auto} // 0,
            $o{seconds} // '', $o{mode} // 'a', $o{from} // '', $o{wait} // 0,
            $o{lease} // 'lease-' . ++$lease);
}

sub log_pop {
    my ($name, %o) = @_;
    my @common = _common(%o);

    return _got(f('log_pop', $name, _candidate(), $o{lane} // '',
                  $o{group} // 'g', @common), $common[-1]);
}

sub log_find {
    my ($space, $task, %o) = @_;
    my @common = _common(%o);

    return _got(f('log_find', $space, $task, $o{group} // 'g', @common),
                $common[-1]);
}

sub ids { join ' ', map { $_->{id} } @{ $_[0]{messages} } }

# the arguments of a group of acks: of a lane of what was got, with statuses;
# ids, lease and errors where they are others

sub log_items {
    my ($got, $statuses, %o) = @_;
    my $lane = $got->{lanes}[ $o{at} // 0 ];
    my @ids = $o{ids} ? @{ $o{ids} }
            : map { $_->{id} } grep { $_->{lane} == $lane } @{ $got->{messages} };
    my @errors = %{ $o{errors} // {} };

    $statuses = 'c' x @ids if $statuses eq '';

    return ($lane->{q}, $lane->{l}, $o{lease} // $got->{lease}, scalar @ids,
            $statuses, @errors / 2, @errors, @ids);
}

sub log_ack {
    my ($got, $statuses, %o) = @_;
    my $reply = f('log_ack', $o{group} // 'g', 1,
                  log_items($got, $statuses, %o));

    return ref $reply eq 'ARRAY' ? "@$reply" : $reply;
}

# makes a queue or replaces its settings

sub log_configure {
    my ($name, %o) = @_;
    my %default = (lease => 300, retry => 3, dlq => 1, dedup => 3600);

    return f('log_configure', $name, _candidate(), $o{ns} // '', $o{task} // '',
             $o{opt} // '',
             map { $o{$_} // $default{$_} // 0 } @fields[2 .. $#fields]);
}

# As if so many ms had passed for a queue.

sub _back { my ($ms, $x) = @_; $ms > 1e12 ? $ms - $x : $ms }

sub _words { my ($x, $text) = @_; $text =~ s/(\d{13})/_back($1, $x)/ger }

sub log_elapse {
    my ($name, $x) = @_;
    my $q = log_q($name);
    my %hot = @{ $r->call('HGETALL', lkey('lh', $q)) };
    my %groups = @{ $r->call('HGETALL', lkey('lg', $q)) };
    my @g = map { /^(\d+)/ } values %groups;

    my %n = numbers($hot{n});

    $n{$_} and $n{$_} = _back($n{$_}, $x) for qw(last reg is);
    log_hot_set($name, %n);
    $r->call('HSET', lkey('lh', $q), 'rr', _words($x, $hot{rr})) if $hot{rr};

    for my $l (@{ $r->call('HKEYS', lkey('ld', $q)) }) {
        log_lane_set($name, $l, sub { $_ = _back($_, $x) for @{ $_[0] }[3, 5] });
    }

    for my $key (lkey('lg', $q), lkey('lm', $q), lkey('lk', $q),
                 map({ lkey('lc', $q, $_) } @g),
                 map { lkey('li', $q, $n{iw} - $_) } 0, 1)
    {
        my %all = @{ $r->call('HGETALL', $key) };

        # of messages no more than the first line
        for my $field (keys %all) {
            my ($first, $rest) = $all{$field} =~ /^([^\n]*)(.*)\z/s;
            $r->call('HSET', $key, $field, _words($x, $first) . $rest);
        }
    }

    for my $key (lkey('lo', $q), map { lkey('lr', $q, $_) } @g) {
        my %all = @{ $r->call('ZRANGE', $key, 0, -1, 'WITHSCORES') };
        $r->call('ZADD', $key, $all{$_} - $x, $_) for keys %all;
    }

    my @times = @{ $r->call('ZRANGE', lkey('lt', $q), 0, -1) };
    $r->call('DEL', lkey('lt', $q));
    $r->call('ZADD', lkey('lt', $q), 0, _words($x, $_)) for @times;

    for my $key (grep { $r->call('GET', $_) =~ /\b$q:/ }
                 @{ $r->call('KEYS', "$root:le:*") })
    {
        $r->call('PEXPIRE', $key, $r->call('PTTL', $key) - $x);
    }

    my $due = $r->call('ZSCORE', "$root:t", "l:$q");
    $r->call('ZADD', "$root:t", $due - $x, "l:$q") if defined $due;
}


1;
