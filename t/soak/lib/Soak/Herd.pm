package Soak::Herd;

# Endpoints that fail for a while, one with 503 and one without an answer: how
# many deliveries are open at once, and when what failed is tried again. A part
# of t/soak/push.

use strict;
use warnings;

use List::Util qw/max sum0/;

use NgxQueues::Queue;
use NgxQueues::Wait 'wait_for';

use Soak::Body;
use Soak::Deliveries;
use Soak::Journal 'now';

use constant {
    MESSAGES => 1000,
    MORE => 2000,               # once the endpoint works
    WIDE => 100,                # maxConcurrency
    TIMEOUT => 1,
    BUCKET => 0.1,              # seconds
    HIDDEN => 31,               # an answer that comes too late is none
};

sub new {
    my ($class, %options) = @_;

    return bless { step => 0, %options }, $class;
}

sub run {
    my ($self) = @_;

    my %how = ('herd-503' => [503, 0.01], 'herd-silent' => ['hang']);
    my %queues = map {
        $_ => NgxQueues::Queue->new($self->{server}, name => $_)
    } keys %how;
    my %ids;

    for my $name (keys %how) {
        $self->{sink}->answer("/$name", @{ $how{$name} });
        $ids{$name} = Soak::Deliveries::subscribe($self, $queues{$name}, WIDE,
            TIMEOUT, state => 'paused');
        send_some($queues{$name}, $name, MESSAGES);
    }

    my $all = (values %queues)[0]{queues} =~ s/queues$/subscriptions/r;
    my $client = $self->{server}->client;

    $self->{begin} = now();
    NgxQueues::Queue::expect($client->post("$all/$_/resume", undef), 200)
        for values %ids;

    $self->{say}->('endpoints fail');
    Time::HiRes::sleep($self->{begin} + $self->{outage} - now());
    $self->{say}->('endpoints work');

    $self->{works} = now();
    $self->{sink}->answer("/$_", 200, 0.1) for keys %how;
    send_some($queues{$_}, "$_-more", MORE) for keys %queues;

    wait_for { !grep { $_->counts ne '0 0 0' } values %queues } 90
        or $self->{problem}->(rest => 'not all is delivered: '
            . join ', ', map { "$_ " . $queues{$_}->counts } keys %queues);

    $self->{names} = [sort keys %how];
}

sub send_some {
    my ($q, $name, $n) = @_;

    for my $ten (1 .. $n / 10) {
        $q->send(map { "$name-$ten-$_:" . 'x' x 50 } 0 .. 9);
    }
}

sub judge {
    my ($self) = @_;

    my @records = sort { $a->{begin} <=> $b->{begin} }
        Soak::Journal::load($self->{journals});

    for my $name (@{ $self->{names} || [] }) {
        $self->one($name, grep { $_->{path} eq "/$name" } @records);
    }
}

sub one {
    my ($self, $name, @all) = @_;

    my (%wide, %tries, %got);

    for my $r (@all) {
        my $second = int($r->{begin} - $self->{begin});

        $wide{$second}{most} = max $wide{$second}{most} // 0, $r->{open};
        $wide{$second}{n}++;

        $self->{problem}->(wide => "$r->{open} deliveries are open", $r)
            if $r->{open} > WIDE;

        for (@{ $r->{items} }) {
            my ($key, $count) = split /:/;

            push @{ $tries{$count} }, $r->{begin} if $count > 1;
            $got{$key}++ if $r->{status} eq '200';
        }
    }

    print "\n$name: deliveries of each second, most at once\n";
    print "  ", join(' ', map { "$_:$wide{$_}{n}/$wide{$_}{most}" }
                     sort { $a <=> $b } keys %wide), "\n";

    my $n = grep { /^$name/ } keys %got;
    my @twice = grep { $got{$_} > 1 } keys %got;

    $self->{problem}->(lost => "$name: $n messages of " . (MESSAGES + MORE))
        if $n != MESSAGES + MORE;
    $self->{problem}->(doubled => "$name: @twice") if @twice;

    $self->falls($name, \%wide, @all);
    $self->spread($name, \%tries);
}

# To one at a time, and never to none while there is something to do, which is
# always so where each takes a second; then up again.

sub falls {
    my ($self, $name, $wide, @all) = @_;

    my $end = int($self->{works} - $self->{begin});
    my $from = TIMEOUT + 2;
    my $most = max 0, map { $wide->{$_}{most} // 0 } $from .. $end - 1;
    my @times = map { $_->{begin} } grep { $_->{begin} < $self->{works} } @all;
    my $rest = max 0, map { $times[$_] - $times[$_ - 1] } 1 .. $#times;
    my $later = max 0, map { $_->{open} }
        grep { $_->{begin} > $self->{works} } @all;

    printf "  at most %d at once in the outage, %d after it; longest without any"
        . " %.1f s\n", $most, $later, $rest;

    $self->{problem}->(window => "$name: $most deliveries at once, $from s after"
        . ' all began to fail') if $most != 1;
    $self->{problem}->(window => "$name: no delivery for $rest s")
        if $name =~ /silent/ && $rest > TIMEOUT + 1.5;
    $self->{problem}->(window => "$name: at most $later at once when the"
        . ' endpoint works again') if $later < WIDE / 5;
}

# Of those who come for the n-th time, how many do so within a tenth of a
# second; who waits 2^(n - 2) s is spread over 0.4 of that at least. Ten that
# failed together come together.

sub spread {
    my ($self, $name, $tries) = @_;

    my $all = sum0 map { scalar @$_ } values %$tries;
    my %buckets;

    for my $count (sort { $a <=> $b } keys %$tries) {
        my %of;

        $of{ int(($_ - $self->{begin}) / BUCKET) }++ for @{ $tries->{$count} };
        $buckets{$_} += $of{$_} for keys %of;

        my $n = @{ $tries->{$count} };
        my $most = (max values %of) / $n;
        my $even = BUCKET / (0.4 * 2 ** ($count - 2));
        my $limit = 2.5 * ($even < 0.02 ? 0.02 : $even) + 40 / $n;

        printf "  try %d: %4d messages, at most %.1f %% in %.1f s, evenly"
            . " %.1f %%\n", $count, $n, 100 * $most, BUCKET,
            100 * ($even > 1 ? 1 : $even);

        $self->{problem}->(herd => sprintf '%s: %.0f %% of tries no. %d come at'
                . ' once', $name, 100 * $most, $count)
            if $n >= 200 && $most > $limit;
    }

    return if !$all;

    printf "  %d tries again, at most %.1f %% in %.1f s\n", $all,
        100 * (max values %buckets) / $all, BUCKET;

    print "  tries of each tenth of a second (from the first one):\n";

    my @at = sort { $a <=> $b } keys %buckets;
    my $line = '';

    for my $at ($at[0] .. $at[-1]) {
        $line .= sprintf ' %d', $buckets{$at} // 0;

        if (($at - $at[0]) % 20 == 19 || $at == $at[-1]) {
            printf "  %6.1f %s\n", ($at - ($at - $at[0]) % 20) * BUCKET, $line;
            $line = '';
        }
    }
}

1;
