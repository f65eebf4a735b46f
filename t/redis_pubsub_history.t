#!/usr/bin/perl

# Pub/Sub under a random mix of all that may happen: topics and subscriptions that come
# and go, publishes, pulls, acks, nacks, ends of leases, dead letters, seeks, snapshots.
# All that docs/redis.md says holds every few steps; a subscription gives what its filter
# passes and nothing else, messages of a key in their order; and in the end everything
# that was not acknowledged is there.
#
# TEST_SEED=n runs a history again, TEST_STEPS=n makes it longer.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Check;
use NgxQueues::Functions;
use NgxQueues::Topics;

NgxQueues::Functions::start();

my $seed = $ENV{TEST_SEED} // int rand 1e6;
my $steps = $ENV{TEST_STEPS} // 1000;
my ($n, %sub, %log, %snap, @bad) = (0);

srand $seed;
diag("TEST_SEED=$seed");

sub any { $_[rand @_] }
sub now { my ($s, $us) = @{ $r->call('TIME') }; $s * 1000 + int($us / 1000) }
sub fine { my ($reply) = @_; die "$reply\n" if ref $reply eq 'NgxQueues::Redis::Error'; $reply }
sub before { my ($x, $y) = map { [ split /-/ ] } @_; $x->[0] < $y->[0] || $x->[0] == $y->[0] && $x->[1] < $y->[1] }

# every id of a topic that was published: log{topic}{id} = [ data, colour, key ]

my @topics = map { "t$_" } 1, 2;

fine(topic($_, ret => $_ eq 't1' ? 3600 : '')) for @topics;
fine(topic('dead'));
fine(subscribe('dead', 'dead'));

# a subscription, as it should be: has: ids that are not acknowledged; held: what was
# pulled last, by id

sub add {
    my $name = 's' . ++$n;
    my %s = (topic => any(@topics), ordered => any(0, 1), colour => any('', '', 'red'),
             once => any(0, 0, 1), backoff => any(0, 0, 1), dies => any(0, 0, 1, 2),
             has => {}, held => {}, times => {});

    $s{q} = fine(subscribe($name, $s{topic}, %{ options(\%s) },
        filter => $s{colour} ? filter([ e => 'c', 'red' ]) : ''));
    $sub{$name} = \%s;
}

sub options {
    my ($s) = @_;

    return { vt => 60, flags => ($s->{ordered} ? 'o' : '') . ($s->{once} ? 'e' : ''),
             $s->{dies} ? (dlq => 'dead', mrc => $s->{dies}) : (),
             $s->{backoff} ? (min => 1000, max => 8000) : (min => '', max => '') };
}

sub wants { my ($s, $m) = @_; !$s->{colour} || $m->[1] eq $s->{colour} }

sub a_sub { my @names = sort keys %sub; @names ? any(@names) : () }

# what is pulled has to be there, and of a key the first one

sub receive {
    my ($name, $max) = @_;
    my $s = $sub{$name};
    my ($h, @m) = pull($name, $max);
    my %first;

    fine($h);

    for my $m (@m) {
        my $is = $log{ $s->{topic} }{ $m->{id} };

        push @bad, "$name: $m->{id} was not published" and next unless $is;
        push @bad, "$name: $m->{id} is acknowledged" unless $s->{has}{ $m->{id} };
        push @bad, "$name: $m->{id} is $m->{data}, not $is->[0]" if $m->{data} ne $is->[0];
        push @bad, "$name: $m->{id} is in flight" if $s->{held}{ $m->{id} } && !$s->{held}{ $m->{id} }{over};

        # of a key, those before it are in this pull or acknowledged or in flight
        $s->{held}{ $m->{id} } = $m;
        push @bad, "$name: $m->{id} comes for the $m->{count}. time"
            if ++$s->{times}{ $m->{id} } != $m->{count} || $s->{dies} && $m->{count} > $s->{dies};

        if ($s->{ordered} && $is->[2] ne '') {
            my $last = $first{ $is->[2] };
            push @bad, "$name: $m->{id} after $last" if $last && !before($last, $m->{id});
            $first{ $is->[2] } //= $m->{id};
        }
    }

    for my $key (sort keys %first) {
        push @bad, "$name: $first{$key} before one of its key, $_"
            for grep { $log{ $s->{topic} }{$_}[2] eq $key && before($_, $first{$key}) && !$s->{held}{$_} }
                keys %{ $s->{has} };
    }

    return ($h, @m);
}

# all leases end

sub end_leases {
    my ($s) = @_;
    my ($q, $gen) = ($s->{q}, part($s->{q}, 2));

    for my $key (map { key($_, $q, $gen) } qw(b f)) {
        soon($q, $key, $_) for @{ $r->call('ZRANGE', $key, 0, -1) };
    }

    if ($s->{ordered}) {
        my %d = @{ $r->call('HGETALL', key('d', $q, $gen)) };
        $r->call('HSET', key('d', $q, $gen), $_, $d{$_} =~ s/,[1-9]\d*;/,1;/gr) for keys %d;
    }

    $_->{over} = 1 for values %{ $s->{held} };
}

# what has died by now, wherever: it is no more where it was

sub bury {
    tend();

    while (my @m = (pull('dead', 100))[1 .. 100]) {
        @m = grep { $_ } @m or last;

        for my $m (@m) {
            my ($count) = $m->{body} =~ /SourceDeliveryCount":"(\d+)"/;
            my ($name) = $m->{body} =~ /SourceSubscription":"([^"]*)"/;
            my $s = $sub{$name} or next;
            my ($id) = grep { $log{ $s->{topic} }{$_}[0] eq $m->{data} } keys %{ $s->{has} };

            push @bad, "$name: $m->{data} died, and was not there" and next unless $id;
            push @bad, "$name: $id died after $count times"
                if $count != $s->{dies} || $count != $s->{times}{$id};
            delete $s->{$_}{$id} for qw(has held times);
            $s->{died}++;
        }

        acks('dead', @m);
    }
}

# a new generation has what has() says of the ids that its topic had

sub renew {
    my ($s, $has) = @_;

    @$s{qw(held times acked died)} = ({}, {}, 0, 0);
    $s->{has} = { map { $_ => 1 } grep { wants($s, $log{ $s->{topic} }{$_}) && $has->($_) }
                  keys %{ $log{ $s->{topic} } } };
}

# what is told of a subscription: no message is counted twice, and none is lost

sub count {
    bury();

    my @all = @{ f('metrics_queues', '', 50) };

    splice @all, 0, 6;

    while (my @row = splice @all, 0, 11) {
        my $name = $row[0] =~ s/^gcp\.sub\.//r;
        my $s = $sub{$name} or next;
        my $there = $row[2] + $row[3] + $row[4];
        my $is = "$row[7] acknowledged, $row[9] dead letters";
        my $want = ($s->{acked} // 0) . ' acknowledged, ' . ($s->{died} // 0)
                   . ' dead letters';

        push @bad, "$name: $is, not $want" if $is ne $want;
        push @bad, "$name: $row[6] sent, $there there, $is" if $row[6] != $there + $row[7] + $row[9];
    }
}

my %step = (
    count => \&count,
    add => sub { add() if keys %sub < 8 },
    publish => sub {
        my $topic = any(@topics);
        my @m = map { [ 'd' . ++$n, any('red', 'blue', ''), any('', 'k1', 'k2', 'k3') ] } 1 .. any(1, 1, 3, 10, 60);
        my @ids = publish($topic, map { [ $_->[0], $_->[1] ? (c => $_->[1]) : (),
                                          $_->[2] ? (key => $_->[2]) : () ] } @m);
        fine($ids[0]);

        for my $i (0 .. $#m) {
            $log{$topic}{ $ids[$i] } = $m[$i];
            $_->{has}{ $ids[$i] } = 1
                for grep { $_->{topic} eq $topic && wants($_, $m[$i]) } values %sub, values %snap;
        }
    },
    pull => sub { receive($_, any(1, 3, 10, 100)) for a_sub() },
    ack => sub {
        my $name = a_sub() or return;
        my $s = $sub{$name};
        my @m = grep { rand() < .7 } map { $s->{held}{$_} } sort keys %{ $s->{held} } or return;
        my @is = split //, acks($name, @m);

        for my $i (0 .. $#m) {
            my $over = $m[$i]{over} || 0;
            push @bad, "$name: $m[$i]{id} is $is[$i]" if !$over && !$is[$i] || $s->{once} && $over && $is[$i];
            map { delete $s->{$_}{ $m[$i]{id} } } qw(has held times) if $is[$i];
            $s->{acked}++ if $is[$i];
        }
    },
    nack => sub {
        my $name = a_sub() or return;
        my $s = $sub{$name};
        my @m = grep { rand() < .5 && !$_->{over} } map { $s->{held}{$_} } sort keys %{ $s->{held} } or return;
        my $is = modify($name, any(0, 0, 30), @m);

        push @bad, "$name: $is" if $is =~ /0/;
        end_leases($s);
    },
    'the end of leases' => sub { end_leases($sub{$_}) for a_sub() },
    'seek to a time' => sub {
        my $name = a_sub() or return;
        my $s = $sub{$name};
        my @ids = sort { before($a, $b) ? -1 : 1 } keys %{ $log{ $s->{topic} } } or return;
        my ($ms) = any(@ids, '1-0') =~ /^(\d+)/;
        bury();
        my %had = %{ $s->{has} };
        my $reply = f('sub_seek', $name, 't', $ms);

        return if $reply =~ /TOOMANY/;
        fine($reply);
        renew($s, sub { $_[0] =~ /^(\d+)/; $1 >= $ms && ($had{ $_[0] } || $s->{topic} eq 't1') });
    },
    snapshot => sub {
        my $name = a_sub() or return;
        my $s = $sub{$name};
        return if keys %snap > 3;
        my $snap = 'p' . ++$n;
        bury();
        my $reply = f('snap_create', sprintf('n%011d', $n), $snap, $name, '');
        return if $reply =~ /TOOMANY/;
        fine($reply);
        $snap{$snap} = { %$s, has => { %{ $s->{has} } } };
    },
    'seek to a snapshot' => sub {
        my ($name, $snap) = (a_sub(), any(sort keys %snap));
        return unless $name && $snap;
        my ($s, $p) = ($sub{$name}, $snap{$snap});
        bury();
        my $reply = f('sub_seek', $name, 's', $snap);

        return if $reply =~ /OTHERTOPIC/ && ($s->{topic} ne $p->{topic} || $p->{ordered} && !$s->{ordered});
        fine($reply);
        renew($s, sub { $p->{has}{ $_[0] } });
    },
    'delete a snapshot' => sub {
        my $snap = any(sort keys %snap) or return;
        fine(f('snap_delete', $snap));
        delete $snap{$snap};
    },
    update => sub {
        my $name = a_sub() or return;
        my $s = $sub{$name};
        @$s{qw(once backoff)} = (any(0, 1), any(0, 1));
        fine(change($name, %{ options($s) }));
        end_leases($s);
    },
    'to push and back' => sub {
        my $name = a_sub() or return;
        fine(change($name, %{ options($sub{$name}) }, url => 'https://x/', x => 'x'));
        fine(change($name, %{ options($sub{$name}) }, url => ''));
    },
    delete => sub {
        my $name = a_sub() or return;
        return if rand() < .7;
        bury();
        fine(f('sub_delete', $name));
        delete $sub{$name};
    },
    maintain => sub { any(\&tend, \&bury)->() },
);

my @weighted = map { ($_) x ({ publish => 6, pull => 8, ack => 6, nack => 4, maintain => 2, "the end of leases" => 3 }->{$_} // 1) } sort keys %step;

add() for 1 .. 4;

for my $step (1 .. $steps) {
    my $name = any(@weighted);

    $step{$name}->();

    push @bad, NgxQueues::Check::check($r)
        if $step % 10 == 0 || $name =~ /^(?:seek|delete|snap|update)/;

    if (@bad) {
        fail("step $step, $name: $_") for @bad[0 .. (@bad > 5 ? 4 : $#bad)];
        last;
    }
}

is("@bad", '', 'all is well') if !@bad;

# in the end

for my $name (@bad ? () : sort keys %sub) {
    my $s = $sub{$name};

    for (1 .. 2000) {
        end_leases($s);
        my ($h, @m) = receive($name, 100);
        acks($name, @m) if @m;
        for my $m (@m) { delete $s->{$_}{ $m->{id} } for qw(has held) }
        bury() if $s->{dies} && $_ % 10 == 1;
        last if !@m && $h->[4] == -1;
    }

    bury() if $s->{dies};
    push @bad, "$name: " . join ' ', %{ $s->{has} } if %{ $s->{has} };
}

is("@bad", '', 'everything is there in the end');
done_testing;
