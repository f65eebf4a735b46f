#!/usr/bin/perl

# The functions of redis/*.lua where a key is of a wrong type: an error leaves
# nothing half done, and when the key is mended all goes on.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Check;
use NgxQueues::Functions;

NgxQueues::Functions::start();


my ($fifo, $q, $dead, %held);

sub post {
    my ($to, $group, @bodies) = @_;
    return $fifo ? put_fifo($to, $group, @bodies) : put($to, '', @bodies);
}

sub get {
    my ($n, $vt, $name, $from) = @_;
    my (undef, @m) = $fifo ? take_fifo($from // $q, $n, $vt)
                           : take($from // $q, $n, $vt);

    die "got " . @m . ", not $n\n" if @m != $n;
    $held{$name} = [ token(), map { $fifo ? $_->{id} : $_->[0] } @m ] if $name;
}

# A queue with messages in all states, and dead letters.
sub build {
    my ($phase) = @_;

    $r->call('FLUSHALL');
    my @o = (kind => $fifo ? 'fifo' : 'standard');
    $dead = create('dead', @o);
    $q = create('q', @o, dlq => $dead, mrc => 2);

    post($q, 'x', 'x1', 'x2');
    get(2, 0);
    get(2, 150);
    elapse(300);
    tend();
    post($dead, 'y', 'y1');

    post($q, 'd', 'd1');
    get(1, 0);
    get(1, 150, 'dies');
    post($q, 's', 's1', 's2');
    get(2, 0);
    get(2, 1050, 'single');
    post($q, 'b', 'b1', 'b2', 'b3');
    get(3, 1050, 'batch');
    post($q, 'e', 'e1', 'e2');
    get(2, 150, 'ends');
    f('queue_update', "q$q", 'delay', 450);
    post($q, 'k', 'k1');
    f('queue_update', "q$q", 'delay', 0);
    post($q, 'r', 'r1', 'r2');
    get(2, 0);
    post($q, 'n', 'n1', 'n2', 'n3');

    if ($phase eq 'ended') {
        elapse(300);
    } elsif ($phase eq 'old') {
        elapse(300);
        post($q, 'm', 'm1');
        f('queue_update', "q$q", 'ret', 450);
        f('queue_update', "q$dead", 'ret', 450);
        elapse(300);
    }
}

sub ids { my ($t, @ids) = @{ $held{ $_[0] } }; return @ids }

sub handles {
    my ($name, @which) = @_;
    my ($t, @ids) = @{ $held{$name} };

    @ids = @ids[@which] if @which;

    return ($q, 1, $t, join(' ', @ids));
}

my %do = (
    'send' => sub { $fifo ? f('send_fifo', "q$q", 1, 'n', 'dnew', '"new"', '',
                              'new', 'dnew2', '"new"', '')
                          : f('send_each', "q$q", 1, 0, '"new"', '', 450,
                              '"new"', '') },
    'receive' => sub { f('receive', "q$q", 100, 450, 5, 77) },
    'receive one' => sub { f('receive', "q$q", 1, 450, 5, 77) },
    'ack' => sub { f('ack', handles('batch')) },
    'ack of a part' => sub { f('ack', handles('batch', 1)) },
    'ack of single ones' => sub { f('ack', handles('single')) },
    'ack of several' => sub { f('ack', handles('batch'), handles('single', 0),
                                handles('ends'), handles('dies')) },
    'visibility' => sub { f('visibility', map { @$_[0 .. 2], 900, $_->[3] }
                            [ handles('batch') ]) },
    'release' => sub { f('visibility', map { @$_[0 .. 2], 0, $_->[3] }
                         [ handles('batch') ], [ handles('single', 0) ],
                         [ handles('dies') ]) },
    'undo' => sub { f('undo', $q, 1, $held{batch}[0], ids('batch')) },
    'undo of a part' => sub { f('undo', $q, 1, $held{batch}[0],
                                (ids('batch'))[1]) },
    'undo of single ones' => sub { f('undo', $q, 1, $held{single}[0],
                                     ids('single')) },
    'count' => sub { f('queue_count', "q$q") },
    'count of dead letters' => sub { f('queue_count', "q$dead") },
    'redrive' => sub { f('redrive', "q$dead", '', 100) },
    'redrive to' => sub { f('redrive', "q$dead", "q$q", 100) },
    'maintain' => sub { f('maintain', 'w', 20) },
    'peek' => sub { f('peek', "q$q", 'v', 100) },
    'peek in flight' => sub { f('peek', "q$q", 'f', 100) },
    'metrics' => sub { f('metrics_queues', '', 50) },
);

# What is counted of both.
sub counted {
    my $all = '';

    for my $queue ($q, $dead) {
        my %h = @{ $r->call('HGETALL', key('h', $queue)) };
        $all .= join(' ', map { $_ // 0 } @h{qw(in ex dl rd)}) . "\n";
    }

    return $all;
}


# All messages of both queues that did not outlive their retention.
sub bodies_of {
    my @all;

    for my $queue ($q, $dead) {
        push @all, map { $fifo ? $_ =~ /"([^"]*)"/ : () }
                   @{ $r->call('HVALS', key('u', $queue, 1)) } if $fifo;
        next if $fifo;
        push @all, map { $_->[1][1] =~ tr/"//dr }
                   map { @{ $r->call('XRANGE', key($_, $queue, 1), '-', '+') } }
                   qw(m z);
    }

    return join ' ', sort @all;
}


for my $kind ('standard', 'fifo') {
    $fifo = $kind eq 'fifo';

    for my $phase ('new', 'ended', 'old') {
        subtest "$kind, $phase" => sub {
            my ($errors, $calls, @bad) = (0, 0);

            for my $name (sort keys %do) {
                for my $letter ($fifo ? qw(y f d b e u g o x k)
                                      : qw(y f d b e m z), 'dead', 't',
                                'losses')
                {
                    build($phase);

                    my @keys = $letter eq 't' ? "$root:t"
                        : $letter eq 'losses' ? "$root:m"
                        : $letter eq 'dead' ? key($fifo ? 'u' : 'm', $dead, 1)
                        : key($letter, $q, 1);
                    my ($before, $counted) = (bodies_of(), counted());

                    for (@keys) {
                        $r->call('RENAME', $_, "aside$_");
                        $r->call('SET', $_, 'planted');
                    }

                    my $reply = $do{$name}->();
                    my $failed = ref $reply eq 'NgxQueues::Redis::Error';
                    my $still = grep { ($r->call('GET', $_) // '') ne 'planted' }
                                @keys;

                    for (@keys) {
                        $r->call('DEL', $_);
                        $r->call('RENAME', "aside$_", $_);
                    }

                    # what was lost meanwhile the project does not know of
                    $r->call('HSET', "$root:m", 'ex', 1000, 'dl', 1000)
                        if $letter eq 'losses';

                    $calls++;
                    $errors++ if $failed;
                    push @bad, "$name, $letter: the key is gone" if $still;
                    push @bad, "$name, $letter: $reply"
                        if $failed && $reply !~ /WRONGTYPE/;

                    my $after = bodies_of();
                    push @bad, "$name, $letter: $before became $after"
                        if $failed && $phase ne 'old' && $before ne $after
                           && $before ne $after =~ s/\bnew ?//gr;
                    push @bad, "$name, $letter: it counted what it did not do"
                        if $failed && $before eq $after && $counted ne counted();

                    # what failed in maintenance is tried again later
                    my $agenda = $letter eq 't' || $name eq 'maintain';
                    my @p = grep { !$agenda || !/ the agenda / }
                            NgxQueues::Check::check($r, $lib);
                    push @bad, "$name, $letter: "
                               . ($failed ? 'failed' : 'done') . ": @p" if @p;

                    my $again = $do{$name}->();
                    push @bad, "$name, $letter, mended: $again"
                        if ref $again eq 'NgxQueues::Redis::Error'
                           && $again !~ /^QUEUES BUSY/;
                    @p = grep { !$agenda || !/ the agenda / }
                         NgxQueues::Check::check($r, $lib);
                    push @bad, "$name, $letter, mended: @p" if @p;
                }
            }

            is(join("\n", @bad), '', "$calls calls, $errors of which failed");
            ok($errors > $calls / 5, 'many of them');
        };
    }
}

done_testing;
