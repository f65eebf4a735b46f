package Queen;

# The lines of the Queen API: pushes, and pops with their acknowledgements, over
# one partition or many, by one group or many.

use strict;
use warnings;

use Bench;
use Figures;

use constant {
    API => '/api/v1',
    MANY => 100_000,            # partitions
    POPS => 1000,               # of a round
    TOGETHER => 2,              # messages of a partition in a push, where there
                                # are MANY
};

# messages of a pop, partitions, groups: those that are measured by default
# first

my @pops = ([100, 1, 1], [100, 1000, 1], [100, 1000, 10], [10, 1000, 1],
            [1, 1000, 1], [10, MANY, 1]);
my @more = ([100, 1, 10], [10, 1, 1], [10, 1, 10], [10, 1000, 10], [1, 1, 1],
            [1, 1, 10], [1, 1000, 10], [100, MANY, 1], [100, MANY, 10],
            [10, MANY, 10], [1, MANY, 1], [1, MANY, 10]);

my $all = ($ENV{BENCH_QUEEN} // '') eq 'all';
my %next;


sub locations { 'location ' . API . '/ { queues_queen_api o/queen; '
                . 'client_body_buffer_size 64k; } ' }

sub post { Bench::file(Bench::post_text(API . "/$_[0]", $_[1])) }

# n messages with payloads of 200 bytes as JSON; without ids: the server makes
# them

sub items {
    my ($queue, $n, %options) = @_;

    my $id = $options{fresh} ? {}
        : { transactionId => '01938f2c-7a10-7000-8000-############' };

    return { items => [ map { {
        queue => $queue, partition => 'p-%%%%%%', payload => 'x' x 198, %$id
    } } 1 .. $n ] };
}

# so many pushes, of messages of which together go to one partition

sub put {
    my ($queue, $pushes, $body, $lanes, $together) = @_;

    my $first = $next{$queue} // 0;

    $next{$queue} = $first + $pushes * @{ $body->{items} };

    return load('blast', c => connections, n => $pushes, g => $lanes,
                k => $together, i => $first, r => post('push', $body));
}

sub remove {
    for my $queue (@_) {
        my $r = client->delete(API . "/resources/queues/$queue");

        die "delete: $r->{status} $r->{body}\n" if $r->{status} != 200;
    }

    used_memory();              # once all of it is freed
}


# pops: ack => 0, they commit at once

sub pops {
    my ($queue, $n, $batch, $lanes, $groups, %options) = @_;

    my $ack = $options{ack} // 1;
    my $partitions = $lanes == MANY ? $batch : 1;
    my $group = $groups > 1 ? 'g-@@@@' : 'g-0000';
    my $busy = $groups > 1 ? $groups : $lanes > 1 ? 10 : 1;

    my $request = 'GET ' . API . "/pop/queue/$queue?batch=$batch&partitions="
        . "$partitions&consumerGroup=$group" . ($ack ? '' : '&autoAck=true')
        . " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
        . server->key . "\r\n\r\n";

    my $run = load('queen', c => $busy, n => $n, r => Bench::file($request),
                   $ack ? (a => Bench::file(Bench::head(API . '/ack/batch',
                                                        server->key))) : ());

    die "$queue: only $run->{answers} messages in $n pops of $batch\n"
        if $run->{answers} < $n * $batch * 0.98;

    return $run;
}


sub push_lines {
    my @kinds = (
        ['push of one', 1, 1], ['push of 100, one partition', 100, 1],
        ['ids of the server', 100, 1, fresh => 1],
        ['100 partitions in each', 100, 100]);
    my @runs;

    for (1 .. rounds) {
        for my $i (0 .. $#kinds) {
            my ($what, $n, $lanes, %options) = @{ $kinds[$i] };

            CORE::push @{ $runs[$i] },
                put("push$i", $n == 1 ? 20_000 : 1000,
                     items("push$i", $n, %options), $lanes, 1);
        }

        remove(map { "push$_" } 0 .. $#kinds);
    }

    for my $i (0 .. $#kinds) {
        my ($what, $n) = @{ $kinds[$i] };
        my ($nginx, $redis) = cpu($n, '', @{ $runs[$i] });

        row("Queen: $what", numbers($n, '', @{ $runs[$i] }),
            values => [micro($nginx + $redis, $i == 1 ? 4 : undef)]);
    }
}


sub pop_lines {
    for my $kind (@pops, $all ? @more : ()) {
        my ($batch, $lanes, $groups) = @$kind;
        my $queue = "pop-$batch-$lanes-$groups";
        my $each = $lanes == MANY ? TOGETHER : $batch;
        my $pushes = POPS * $batch / 100 || 10;
        my $body = items($queue, 100);
        my (@pop, $what);

        # all partitions have something, before and after
        put($queue, $lanes * $each / 100 + $pushes, $body, $lanes, $each);

        for (1 .. rounds) {
            put($queue, $pushes, $body, $lanes, $each);
            CORE::push @pop, pops($queue, POPS * $groups, $batch, $lanes,
                                  $groups);
        }

        my ($nginx, $redis) = cpu(1, '', @pop);

        $what = "pop + ack of $batch, $lanes partition"
                . ($lanes > 1 ? 's' : '')
                . ($groups > 1 ? ", $groups groups" : '');
        row($what, numbers(1, '', @pop),
            values => [micro($nginx + $redis,
                             $batch == 100 && $lanes < MANY ? 6 : undef)]);
        remove($queue);
    }
}


# Does a pop care how many partitions are ready? It takes one of the two
# messages that a push put in one.

sub ready {
    my %queue = (ten => ['ready10', 10], many => ['ready', MANY]);
    my (%runs, %ratio);

    for (sort keys %queue) {
        my ($queue, $lanes) = @{ $queue{$_} };

        put($queue, MANY / 10, items($queue, 20), $lanes, 2);
    }

    for (1 .. 3 * rounds) {
        for my $ack (0, 1) {
            for (sort keys %queue) {
                my ($queue, $lanes) = @{ $queue{$_} };

                put($queue, 50, items($queue, 20), $lanes, 2);
                CORE::push @{ $runs{$_}[$ack] },
                    pops($queue, POPS, 1, $lanes, 1, ack => $ack);
            }

            CORE::push @{ $ratio{$ack} }, ratio('', $runs{many}[$ack][-1],
                                                $runs{ten}[$ack][-1]);
        }
    }

    for my $ack (0, 1) {
        my $what = $ack ? 'pop + ack of one' : 'pop of one, autoAck';

        row("$what, 10 ready", numbers(1, '', @{ $runs{ten}[$ack] }));
        row('the same, ' . MANY . ' ready',
            numbers(1, '', @{ $runs{many}[$ack] }),
            values => [share(median(@{ $ratio{$ack} }), 'the CPU', 1.2)]);
    }

    remove(map { $_->[0] } values %queue);
}

1;
