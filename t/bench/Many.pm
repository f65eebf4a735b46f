package Many;

# The lines of many queues, and of many receives that wait.

use strict;
use warnings;

use Bench;
use Figures;

use constant {
    QUEUES => 10_000,
    QUIET => 3,                 # seconds in which nothing may reach Redis
};


# one message for each queue, against as many on one queue, by turns

sub spread {
    my $memory = used_memory();
    my $made = queues(QUEUES);
    my $bytes = (used_memory() - $memory) / $made;
    my $queue = queue('spread');
    my (%send, %cycle, @ratios);

    for (1 .. rounds) {
        my @all;

        for my $path ($queue, 'w%%%%') {
            my $send = load('blast', c => connections, n => QUEUES,
                            g => QUEUES,
                            r => request('p', "$path/messages", one()));
            my $cycle = cycle($path, QUEUES, g => QUEUES,
                              r => receive_one($path));

            die "$cycle->{empty} receives found nothing\n" if $cycle->{empty};

            push @{ $send{$path} }, $send;
            push @{ $cycle{$path} }, $cycle;
            push @all, { answers => QUEUES, map {
                $_ => $send->{$_} + $cycle->{$_}
            } qw/nginx redis/ };
        }

        push @ratios, ratio('', $all[1], $all[0]);
    }

    row('empty queue, memory of Redis', values => [
        [sprintf('%.0f bytes', $bytes), undef, '']]);
    row('one queue: send of one message', numbers(1, '', @{ $send{$queue} }));
    row('receive + acknowledge of one', numbers(1, '', @{ $cycle{$queue} }));
    row(QUEUES . ' queues: send of one message',
        numbers(1, '', @{ $send{'w%%%%'} }));
    row('receive + acknowledge of one', numbers(1, '', @{ $cycle{'w%%%%'} }),
        values => [share(median(@ratios), 'one, all')]);
}


# Receives at rest, and connections that have sent half of their header: two
# fresh workers.

sub parked {
    queues(QUEUES);

    my ($path, $body) = ('w@@@@/messages/receive',
                         { maxMessages => 1, waitSeconds => 20 });
    my $whole = request('p', $path, $body);
    my $half = Bench::file(substr NgxQueues::Process::slurp($whole), 0, 150);

    my ($half_size) = at_rest($half);
    my ($whole_size, $early, $calls) = at_rest($whole);
    my $more = $whole_size - $half_size;

    row('connection with half a request', values => [
        [sprintf('%.0f bytes', $half_size), undef, '']]);
    row('parked receive, beside that', values => [
        [sprintf('%.0f bytes', $more), $more < 2048, '< 2048'],
        [$calls ? $calls : 'no commands', !$calls, 'none']]);

    note("$early of " . QUEUES . ' receives did not wait.') if $early;
}

# bytes for each connection, answers that came, commands meanwhile

sub at_rest {
    my ($file) = @_;

    workers(1);
    load('blast', c => 1, n => 20,
         r => request('p', 'w0000/messages/receive', {}));

    my $before = dirty();
    my $run = load_start('park', c => QUEUES, r => $file);
    my $size = (dirty() - $before) / QUEUES;

    # due work looks once, a second after a use of the project

    sleep 2;

    my $old = commands();
    sleep QUIET;
    my $new = commands();

    my $end = load_stop($run);
    my @calls = map { "$_ " . ($new->{$_} - ($old->{$_} || 0)) }
        grep { $new->{$_} != ($old->{$_} || 0) } sort keys %$new;

    return ($size, $end->{early}, join ', ', @calls);
}


sub wake {
    queues(QUEUES);

    my $receive = request('p', 'w@@@@/messages/receive',
                          { maxMessages => 1, waitSeconds => 20 });
    my $send = request('p', 'w@@@@/messages', one());

    my @runs = map { load('wake', c => QUEUES, r => $receive, a => $send) }
        1 .. 2;

    my ($p50, $p99, $max) = map {
        my $name = $_;
        median(map { $_->{$name} } @runs)
    } qw/p50 p99 max/;

    row('wake, ' . QUEUES . ' waiters on as many queues', values => [
        [sprintf('p50 %.3f ms', $p50), $p50 < 1, '< 1 ms'],
        [sprintf('p99 %.3f ms', $p99), $p99 < 5, '< 5 ms'],
        [sprintf('max %.3f ms', $max), undef, '']]);
}

1;
