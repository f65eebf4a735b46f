#!/usr/bin/perl

# As redis_planted.t, for all functions and both kinds of queues with a
# dead-letter queue: a string is in the place of each of their keys, one at a
# time. When the key is back, all is sound, whatever was called and answered.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Check;
use NgxQueues::Functions;

NgxQueues::Functions::start();

# the queue and its dead-letter queue; what is in flight there, and its token

my ($q, $d, @held, $token);

# two messages that are dead letters now, two that are visible again, one that
# is delayed, five new ones in two groups

sub fill {
    my ($kind) = @_;
    my $fifo = $kind eq 'fifo';
    my $put = $fifo ? \&put_fifo : sub { put($_[0], '', @_[2 .. $#_]) };
    my $take = $fifo ? \&take_fifo : \&take;

    $r->call('FLUSHALL');
    $d = create('d', kind => $kind, vt => 300);
    $q = create('q', kind => $kind, dlq => $d, mrc => 2, vt => 300);

    $put->($q, 'dead', 'x1', 'x2');
    $take->($q, 2);
    elapse(300);
    $take->($q, 2);
    $put->($q, 'again', 'a1', 'a2');
    $take->($q, 1);
    elapse(300);

    f('queue_update', "q$q", 'delay', 300);
    $put->($q, 'late', 'l');
    f('queue_update', "q$q", 'delay', 0);

    $put->($q, 'one', 'n1', 'n2', 'n3');
    $put->($q, 'two', 'n4', 'n5');
    $put->($d, 'dead', 'y');
}

sub hold {
    my ($kind) = @_;
    my (undef, @m) = $kind eq 'fifo' ? take_fifo($q, 10, 900)
                                     : take($q, 10, 900);

    @held = map { ref eq 'HASH' ? $_->{id} : $_->[0] } @m;
    $token = token();
}

my %calls = (
    maintain => sub { f('maintain', 'one', 10) },
    count => sub { f('queue_count', "q$q") },
    receive => sub { f('receive', "q$q", 10, 900, 20, 999999) },
    'receive a few' => sub { f('receive', "q$q", 3, 900, 20, 999999) },
    redrive => sub { f('redrive', "q$q", "q$d", 100) },
    send => sub { f('send', "q$q", 1, '"n"') },
    'send to groups' => sub { f('send_fifo', "q$q", 1, 'new', 'd1', '"n"', '',
                                'one', 'd2', '"n"', '') },
);

my %receipts = (
    ack => sub { f('ack', $q, 1, $token, "@held") },
    'ack of a part' => sub { f('ack', $q, 1, $token, "@held[1, 2]") },
    'ack in parts' => sub { f('ack', map { ($q, 1, $token, $_) }
                              $held[0], "@held[1 .. $#held]") },
    extend => sub { f('visibility', $q, 1, $token, 600, "@held") },
    release => sub { f('visibility', $q, 1, $token, 0, "@held") },
    'release of a part' => sub { f('visibility', $q, 1, $token, 0,
                                   "@held[1, 2]") },
    undo => sub { f('undo', $q, 1, $token, @held) },
    'undo of a part' => sub { f('undo', $q, 1, $token, @held[1, 2]) },
);

# calls with a string at this key; returns what is wrong then

sub planted {
    my ($key, $call) = @_;
    my $had = $r->call('EXISTS', $key);

    $r->call('RENAME', $key, 'kept') if $had;
    $r->call('SET', $key, 'planted');

    my $reply = $call->();

    # a sweep of all, which unlinks it, is all that may take it away
    return 'the planted key is gone'
        if ($r->call('GET', $key) // '') ne 'planted';

    $r->call('DEL', $key);
    $r->call('RENAME', 'kept', $key) if $had;

    return NgxQueues::Check::check($r, $lib);
}

for my $kind ('fifo', 'standard') {
    my %all = (%calls, %receipts);
    my %keys = (fifo => [qw(y f d b e u g o x k c i)],
                standard => [qw(y f d b e m z)]);

    delete $all{$kind eq 'fifo' ? 'send' : 'send to groups'};

    for my $name (sort keys %all) {
        my @wrong;

        for my $letter (@{ $keys{$kind} }) {
            for my $place ('q', 'd') {
                fill($kind);
                hold($kind) if $receipts{$name};

                my $id = $place eq 'q' ? $q : $d;
                my $of = $letter eq 'c' ? hot($id, 'cw')
                       : $letter eq 'i' ? hot($id, 'dw') : 1;

                push @wrong, map { "$place:$letter: $_" }
                             planted("$root:$letter:$id:$of", $all{$name});
            }
        }

        is(join("\n", @wrong), '', "$kind: $name");
    }
}

done_testing();
