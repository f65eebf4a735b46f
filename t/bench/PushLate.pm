package PushLate;

# The lines of push that are about time, and about what costs nothing: how
# soon a message is delivered, also beside an endpoint that hangs, and 10,000
# subscriptions at rest.

use strict;
use warnings;

use Time::HiRes qw/sleep/;

use NgxQueues::Process 'temp_dir';
use NgxQueues::Wait;

use Soak::Journal 'now';
use Soak::Sink;

use Bench;
use Figures;
use Push qw/HOST PATH begin endpoint tls_files subscribe call state/;

use constant {
    WAKES => 500,
    GOOD => 100,                # subscriptions beside the one that hangs
    PACE => 0.002,              # seconds from one send to the next
    SECONDS => 6,               # of a measurement
    ROUNDS => 3,
    SUBSCRIPTIONS => 10_000,
    QUIET => 10,                # seconds in which Redis' commands are counted
};


my $connection;                 # of post()


# from before a send is written until the whole delivery has come, one at a time

sub wake {
    my ($sink, $journals) = sink();

    fresh([$sink->port]);

    my $queue = queue('pushwake');
    my ($id) = subscribe($queue, 'https://' . HOST . ':' . $sink->port . '/w');
    my %sent;

    for (['kept', 200], ['new', 'close']) {
        my ($name, $answer) = @$_;

        $sink->answer('/w', $answer);

        for my $n (1 .. WAKES) {
            post($queue, "$name-$n", \%sent);
            sleep 0.01 + rand 0.01;
        }
    }

    drained($queue, $id);
    call(DELETE => "/$id", undef, 204);
    $sink->stop;

    my $late = lateness(\%sent, $journals);

    for (['kept', 'delivery, from its send, connection kept'],
         ['new', 'the same, new connection'])
    {
        my ($name, $what) = @$_;
        my @ms = map { $late->{$_} } grep { /^$name-/ } keys %$late;

        row($what, values => [
            map { [sprintf('p%d %.3f ms', $_, at($_, @ms)), undef, ''] }
                50, 99 ]);
    }
}

# begin() of these lines: the kept connection was the last worker's

sub fresh {
    undef $connection;
    begin(@_);
}

sub sink {
    my $dir = temp_dir();
    my $sink = Soak::Sink->new(files => tls_files(), journals => $dir,
                               name => 'sink');

    return ($sink, $dir);
}

# a message over a connection that is kept: nothing but the write is between the
# clock and the server

sub post {
    my ($queue, $key, $sent) = @_;

    $connection ||= client()->connect;

    my $text = qq({"body":"$key:) . substr(Bench::BODY, 0, 199 - length $key)
               . '"}';
    my $request = Bench::post_text(Bench::API . "/p/queues/$queue/messages",
                                   $text);

    $sent->{$key} = now();
    $connection->write($request);

    my $r = $connection->response;

    die 'send: ', $r->{error} // "$r->{status} $r->{body}", "\n"
        if $r->{status} != 201;
}

sub drained {
    my ($queue, $id) = @_;

    wait_for { Push::emptied($queue) } 20
        or die "not all is delivered: ", state($id);
}

# key => ms, of first deliveries

sub lateness {
    my ($sent, $journals) = @_;

    my %late;

    for my $r (Soak::Journal::load($journals)) {
        for (@{ $r->{items} }) {
            my ($key) = split /:/;
            my $ms = 1000 * ($r->{begin} - ($sent->{$key} // next));

            $late{$key} = $ms if !defined $late{$key} || $ms < $late{$key};
        }
    }

    my @missing = grep { !exists $late{$_} } keys %$sent;

    die "not delivered: @missing\n" if @missing;

    return \%late;
}

sub at {
    my ($percent, @values) = @_;

    my @sorted = sort { $a <=> $b } @values;

    return $sorted[$percent / 100 * $#sorted];
}


# subscriptions with steady traffic, alone and beside such as hang

sub fair {
    my ($sink, $journals) = sink();
    my $hang = endpoint()->{port};

    fresh([$sink->port, $hang]);

    my @good = map { queue("fair-$_") } 1 .. GOOD;
    my @ids = map {
        (subscribe($_, 'https://' . HOST . ':' . $sink->port . "/$_"))[0]
    } @good;
    my @bad = map { queue("hang-$_") } 1 .. 3;
    my (%sent, @most);

    fill($_, 500) for @bad;

    traffic('warm', 1, \@good, \%sent);

    for my $round (1 .. ROUNDS) {
        for my $n (0, 1, 3) {
            my @hang = map {
                (subscribe($_, 'https://' . HOST . ":$hang/hang/$_",
                           timeout => 3, maxConcurrency => 100))[0]
            } @bad[0 .. $n - 1];

            my $most = traffic($n, SECONDS, \@good, \%sent, @hang);

            push @{ $most[$n] }, $most;

            call(DELETE => "/$_", undef, 204) for @hang;
            sleep 3.5 if $n;
        }
    }

    drained($good[$_], $ids[$_]) for 0 .. $#good;
    call(DELETE => "/$_", undef, 204) for @ids;
    purge(@bad);
    $sink->stop;

    my $late = lateness(\%sent, $journals);
    my $alone;

    for my $n (0, 1, 3) {
        my @ms = map { $late->{$_} } grep { /^$n-/ } keys %$late;
        my $p99 = at(99, @ms);

        $alone //= $p99;
        row($n ? "the same beside $n that hang" . ($n == 1 ? 's' : '')
            : GOOD . ' subscriptions, from a send', values => [
            [sprintf('p50 %.3f ms', at(50, @ms)), undef, ''],
            [sprintf('p99 %.3f ms', $p99),
             $n ? ($p99 <= 1.5 * $alone, '<= 1.5 alone') : (undef, '')],
            [sprintf('max %.3f ms', at(100, @ms)), undef, ''],
            $n ? [sprintf('%d hang at most', median(@{ $most[$n] })), undef, '']
               : (),
        ]);
    }
}

# a send each PACE seconds, to one queue after the other; how many deliveries of
# the others were open at most

my $traffic = 0;

sub traffic {
    my ($name, $seconds, $queues, $sent, @hang) = @_;

    my $begin = now();
    my $redis = redis()->client;
    my $n = 0;
    my $most = 0;

    while (now() < $begin + $seconds) {
        post($queues->[$n++ % @$queues], "$name-" . ++$traffic, $sent);

        if (@hang && $n % 200 == 0) {
            my $open = 0;

            $open += $redis->call('ZCARD', 'ngxq:{o/p}:pd:' . s/^qsb_//r)
                for @hang;
            $most = $open if $open > $most;
        }

        my $rest = $begin + $n * PACE - now();

        sleep $rest if $rest > 0;
    }

    return $most;
}


# 10,000 subscriptions, none of which has anything to do

sub idle {
    queues(SUBSCRIPTIONS);
    fresh([endpoint()->{port}]);

    # a first delivery, so that all is there that one needs

    my $first = queue('idle');
    my ($id) = subscribe($first, 'https://' . HOST . ':' . endpoint()->{port}
                                 . '/');

    post($first, 'idle', {});
    drained($first, $id);

    my ($dirty, $memory) = (dirty(), used_memory());

    load('blast', c => connections, n => SUBSCRIPTIONS,
         r => Bench::file(Bench::post_text(PATH, {
             queueId => 'w####',
             target => { url => 'https://' . HOST . ':' . endpoint()->{port}
                                . '/' },
         })));

    my $redis = redis()->client;

    wait_for { !$redis->call(qw/SCARD ngxq:{o\/p}:pf/) } 60
        or die "not all subscriptions are taken\n";

    sleep 5;

    my $bytes = (dirty() - $dirty) / SUBSCRIPTIONS;
    my $in_redis = (used_memory() - $memory) / SUBSCRIPTIONS;

    my $old = commands();
    my $spent = spent(sub { sleep QUIET });
    my $new = commands();

    my %more = map { $_ => $new->{$_} - ($old->{$_} // 0) } keys %$new;
    my $calls = ($more{fcall} // 0) / QUIET;

    row('idle subscription', values => [
        [sprintf('%.0f bytes, worker', $bytes), undef, ''],
        [sprintf('%.0f bytes, Redis', $in_redis), undef, ''],
        [sprintf('%.1f calls a second', $calls), $calls < 10, '< 10'],
        [sprintf('%.2f %% of a CPU', 100 * $spent->{nginx} / QUIET), undef,
         ''],
        [sprintf('%.2f %% for Redis', 100 * $spent->{redis} / QUIET), undef,
         ''],
    ]);
}

1;
