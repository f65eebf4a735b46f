package Soak::Herd;

# Endpoints that fail for a while, one with 503 and one without an answer: how
# many deliveries are open at once, and when what failed is tried again. A part
# of t/soak/push.
#
# What was due long ago is no herd, however many there are: it comes as fast as
# the endpoint answers, and never more at once than the window is, which grows
# by one for each success. So that is what is looked at, for each delivery; and
# by Soak::Spread that the moments at which retries are due are spread.
#
# A busy machine answers later than the timeout, though the endpoint works: then
# the server has failed a delivery that has its 200 in the journal. So an answer
# counts only where it came before, counted from the claim, which is before the
# server's clock begins to run; and what takes longer may be over since then.

use strict;
use warnings;

use List::Util qw/max min sum0/;

use NgxQueues::Queue;
use NgxQueues::Wait qw/wait_for scaled/;

use Soak::Body;
use Soak::Deliveries;
use Soak::Journal 'now';
use Soak::Spread;

use constant {
    MESSAGES => 1000,
    MORE => 2000,               # once the endpoint works
    WIDE => 100,                # maxConcurrency
    BATCH => 10,
    TIMEOUT => 2,               # of the one that does not answer
    LONG => 20,                 # of the one that does, however late it is
    VISIBLE => 30,              # after so many seconds, at most
    LAG => 0.05,                # what one end sees before the other one
    CLOSED => 0.25,             # likewise, of a connection that is closed
    BUCKET => 0.1,
};

sub new {
    my ($class, %options) = @_;

    return bless { step => 0, %options }, $class;
}

sub run {
    my ($self) = @_;

    my %how = ('herd-503' => [503, 0.01], 'herd-silent' => ['hang']);
    my %queues = map {
        $_ => NgxQueues::Queue->new($self->{server}, name => $_,
                                     visibilityTimeoutSeconds => VISIBLE)
    } keys %how;
    my %ids;

    for my $name (keys %how) {
        $self->{sink}->answer("/$name", @{ $how{$name} });
        $ids{$name} = Soak::Deliveries::subscribe($self, $queues{$name}, WIDE,
            timeout($name), state => 'paused', batchSize => BATCH);
        send_some($queues{$name}, $name, MESSAGES);
    }

    my $all = (values %queues)[0]{queues} =~ s/queues$/subscriptions/r;
    my $client = $self->{server}->client;

    $self->{begin} = now();
    NgxQueues::Queue::expect($client->post("$all/$_/resume", undef), 200)
        for values %ids;

    $self->{say}->('endpoints fail');
    $self->counts($_), $self->{faults}->rest(0.1)
        for map { values %queues } 1 .. $self->{outage} / 0.2;
    $self->{faults}->rest($self->{begin} + $self->{outage} - now());
    $self->{say}->('endpoints work');

    $self->{works} = now();
    $self->{sink}->answer("/$_", 200, 0.2) for keys %how;
    send_some($queues{$_}, "$_-more", MORE) for keys %queues;

    wait_for { !grep { $self->counts($_) ne '0 0 0' } values %queues } 90
        or $self->{problem}->(rest => 'not all is delivered: '
            . join ', ', map { "$_ " . $queues{$_}->counts } keys %queues);

    $self->{names} = [sort keys %how];
}

# How long it takes says how late the server is with what it hears of, and Redis
# with what it is told.

sub counts {
    my ($self, $q) = @_;

    my $begin = now;
    my $counts = $q->counts;

    $self->{slowest} = max $self->{slowest} // 0, now() - $begin;

    return $counts;
}

sub timeout { $_[0] =~ /silent/ ? TIMEOUT : LONG }

sub send_some {
    my ($q, $name, $n) = @_;

    for my $ten (1 .. $n / 10) {
        $q->send(map { "$name-$ten-$_:" . 'x' x 50 } 0 .. 9);
    }
}

sub judge {
    my ($self) = @_;

    my @records = sort { $a->{claimed} <=> $b->{claimed} }
        Soak::Journal::load($self->{journals});

    for my $name (@{ $self->{names} || [] }) {
        $self->one($name, grep { $_->{path} eq "/$name" } @records);
    }
}

sub one {
    my ($self, $name, @all) = @_;

    my (%tries, %got, %sure, @twice);
    my $lag = $self->lag;

    for my $r (@all) {
        $r->{over} = min $r->{end}, $r->{claimed} + timeout($name);
        $r->{sure} = $r->{status} eq '200'
                     && $r->{end} < $r->{claimed} + timeout($name) - $lag;

        for (@{ $r->{items} }) {
            my ($key, $count) = split /:/;

            push @{ $tries{$count} }, $r->{begin} if $count > 1;
            push @twice, $key if $sure{$key};

            $got{$key} = 1 if $r->{status} eq '200';
            $sure{$key} = 1 if $r->{sure};
        }
    }

    my $n = grep { /^$name/ } keys %got;

    $self->{problem}->(lost => "$name: $n messages of " . (MESSAGES + MORE))
        if $n != MESSAGES + MORE;
    $self->{problem}->(doubled => "$name: @twice") if @twice;

    $self->window($name, @all);
    $self->falls($name, @all);
    $self->spread($name, @all);
    histogram($self->{begin}, map { @$_ } values %tries);
}

# What one end sees before the other one, on this machine: the endpoint, and the
# server with Redis.

sub lag { scaled(LAG) + $_[0]{faults}{lag} }
sub server_lag { $_[0]->lag + $_[0]{slowest} }

# When a delivery is claimed, at most so many are open as the answers until then
# allow: at first maxConcurrency, half of it after each failure, one more after
# each success. Who closed a connection knew before, and who is answered knows
# later: so a failure halves as early as it can, which leaves most of what the
# successes after it add, and what was before it still counts until it must be
# known.

sub window {
    my ($self, $name, @all) = @_;

    my $lag = scaled(CLOSED) + $self->server_lag;
    my @ends = sort { $a->[0] <=> $b->[0] }
        map { [$_->{status} eq '200' ? $_->{end} : $_->{over}, $_] } @all;
    my $window = { is => WIDE };
    my (@were, @open, %seconds);

    for my $r (@all) {
        while (@ends && $ends[0][0] <= $r->{claimed}) {
            my $d = shift(@ends)->[1];

            if ($d->{status} eq '200') {
                $_->{is} = min WIDE, $_->{is} + 1 for $window, @were;

            } else {
                push @were, { until => $d->{end} + $lag, is => $window->{is} };
                $window->{is} = max 1, int $window->{is} / 2;
            }
        }

        @were = grep { $_->{until} >= $r->{claimed} } @were;

        @open = ((grep {
            $_->{over} - ($_->{sure} || $_->{status} eq '503' ? 0 : $lag)
                > $r->{claimed}
        } @open), $r);

        my $may = max map { $_->{is} } $window, @were;
        my $second = $seconds{ int($r->{claimed} - $self->{begin}) } ||= {};

        $r->{at_once} = @open;
        $second->{n}++;
        $second->{most} = max $second->{most} // 0, scalar @open;
        $second->{may} = max $second->{may} // 0, $may;

        $self->{problem}->(herd => "$name: " . @open . " deliveries are open,"
                . " and the window is $may", $r) if @open > $may;
    }

    print "\n$name: deliveries of each second/most at once/window\n";
    print '  ', join(' ', map {
        "$_:" . join '/', @{ $seconds{$_} }{qw/n most may/}
    } sort { $a <=> $b } keys %seconds), "\n";
}

# To one at a time, and never to none while there is something to do, which is
# always so where each takes a second; then up again.

sub falls {
    my ($self, $name, @all) = @_;

    my $from = $self->{begin} + TIMEOUT + 2 + $self->server_lag;
    my @before = grep { $_->{claimed} < $self->{works} } @all;
    my $most = max 0, map { $_->{at_once} }
        grep { $_->{claimed} > $from } @before;
    my $rest = max 0, map {
        $before[$_]{claimed} - $before[$_ - 1]{claimed}
    } 1 .. $#before;
    my $later = max 0, map { $_->{at_once} } @all[@before .. $#all];

    printf "  at most %d at once in the outage, %d after it; longest without"
        . " any %.1f s; %d answers of 200 were late, lags %.2f and %.2f s\n", $most,
        $later, $rest, scalar(grep { $_->{status} eq '200' && !$_->{sure} } @all),
        $self->lag, $self->server_lag;

    $self->{problem}->(window => "$name: $most deliveries at once, some time"
        . ' after all began to fail') if $most != 1;
    $self->{problem}->(window => "$name: no delivery for $rest s")
        if $name =~ /silent/ && $rest > TIMEOUT + 1.5 + $self->server_lag;
    $self->{problem}->(window => "$name: at most $later at once when the"
        . ' endpoint works again') if $later < WIDE / 5;
}

sub spread {
    my ($self, $name, @all) = @_;

    for my $try (Soak::Spread::tries(BATCH, VISIBLE, $self->server_lag, @all)) {
        printf "  try %d: %4d messages, %4d of them timed; early by %4.1f %%,"
            . " late by %4.1f %%, at most %4.1f %%; together %s\n",
            @$try{qw/no n known/}, map({ 100 * $_ } @$try{qw/early late limit/}),
            defined $try->{together}
                ? sprintf '%.1f %%', 100 * $try->{together} : '-';

        for (@{ $try->{problems} }) {
            my ($text, @records) = @$_;

            $self->{problem}->(spread => "$name: $text", @records);
        }
    }
}

sub histogram {
    my ($begin, @times) = @_;

    my %n;

    $n{ int(($_ - $begin) / BUCKET) }++ for @times;

    my @at = sort { $a <=> $b } keys %n;

    return if !@at;

    printf "  %d tries again, of each tenth of a second:\n", scalar @times;

    for (my $at = $at[0]; $at <= $at[-1]; $at += 20) {
        my $last = min $at + 19, $at[-1];

        printf "  %6.1f  %s\n", $at * BUCKET,
            join ' ', map { $n{$_} // 0 } $at .. $last
            if sum0 map { $n{$_} // 0 } $at .. $last;
    }
}

1;
