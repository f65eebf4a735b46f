#!/usr/bin/perl

# What the model of redis_model.t has no eye for on FIFO queues: who waits is
# told of all that ends the wait, the cap of what is in flight, and how long the
# numbers of a group are remembered.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;

NgxQueues::Functions::start();

# A group has three messages, of which two are in flight for the first time, and
# somebody waits. What ends the wait, and what he gets then: body/count.

my ($q, $d, @held);

my %ends = (
    send => [ 'n/1', sub { put_fifo($q, 'new', 'n') } ],
    'a delayed send' => [ '', sub {
        f('queue_update', "q$q", 'delay', 600);
        put_fifo($q, 'new', 'n');
    } ],
    ack => [ 'c/1', sub { ack(map { ($q, 1, $_, token() - 1) } @held) } ],
    'ack, then a release' => [ 'b/2 c/1', sub {
        ack($q, 1, $held[0], token() - 1);
        visibility($q, 1, $held[1], token() - 1, 0);
    } ],
    release => [ 'a/2 b/2 c/1', sub {
        visibility(map { ($q, 1, $_, token() - 1, 0) } @held);
    } ],
    'an earlier end' => [ '', sub {
        visibility(map { ($q, 1, $_, token() - 1, 60) } @held);
    } ],
    undo => [ 'a/1 b/1 c/1', sub { f('undo', $q, 1, token() - 1, @held) } ],
    'retention, of what is in flight' => [ 'y/1', sub {
        elapse(300);
        put_fifo($q, 'g', 'y');
        retention($q, 300);
        hints();                                # that was the test's own hand
        waits($q);
        tend();
    } ],
    'another retention' => [ '', sub {
        f('queue_update', "q$q", 'ret', 1200);
    } ],
    redrive => [ 'r/1', sub {
        my $other = create('other', kind => 'fifo');
        put_fifo($other, 'new', 'r');
        f('redrive', "q$other", "q$q", 100);
    } ],
    'dead letters that come' => [ 'x/1', sub {
        my $source = create('source', kind => 'fifo', dlq => $q, mrc => 1,
                            vt => 300);
        put_fifo($source, 'new', 'x');
        take_fifo($source, 1);
        elapse(300);
        tend();
    } ],
    'dead letters that go' => [ 'c/1', sub {
        f('queue_update', "q$q", 'dlq', "q$d", 'mrc', 1);
        hints();
        waits($q);
        elapse(900);
        tend();
    } ],
);

for my $end (sort keys %ends) {
    my ($want, $do) = @{ $ends{$end} };

    $r->call('FLUSHALL');
    $d = create('d', kind => 'fifo');
    $q = create('q', kind => 'fifo', vt => 900);
    put_fifo($q, 'g', 'a', 'b', 'c');
    @held = map { $_->{id} } (take_fifo($q, 2))[1, 2];
    hints();

    my ($head, @got) = take_fifo($q, 10, 900, 20);

    is(@got . waiting($q), '01', "$end: nothing is there, one waits");
    $do->();
    like(hints(), qr/\b$q\b/, 'he is told');

    (undef, @got) = take_fifo($q, 10, 900, 20);

    is(join(' ', map { "$_->{body}/$_->{count}" } @got), $want, 'and gets it');
    sound('all is well') if $end !~ /retention/;
}

# 20,000 in flight

{
    $r->call('FLUSHALL');
    $q = create('q', kind => 'fifo', vt => 900);

    for my $group (1 .. 21) {
        my $reply = f('send_fifo', "q$q", 1,
                      map { ("g$group", "d$group-$_", '"m"', '') } 1 .. 1000);
        die "send_fifo: $reply\n" if ref $reply;
    }

    take_fifo($q, 990);

    my (undef, @first) = take_fifo($q, 1000);

    take_fifo($q, 1000) for 1 .. 18;

    my ($head, @got) = take_fifo($q, 100);

    is(scalar @got, 10, 'as many as there is room for');
    is(counts($q), '1000 20000 0', '20,000 are in flight');
    put_fifo($q, 'late', 'm', 'm');
    ($head, @got) = take_fifo($q, 100, 900, 20);
    is(scalar @got, 0, 'no more');
    cmp_ok($head->[3], '>', 0, 'till the first end');
    hints();
    ack($q, 1, $first[0]{id}, token() - 20);
    is(hints(), $q, 'an ack makes room');
    ($head, @got) = take_fifo($q, 100);
    is(scalar @got, 1, 'for one');
    sound('all is well');
}

# numbers go on for a day at least

{
    my $day = sub { int($r->call('TIME')->[0] / 86400) };

    # as if the last send had been some days ago
    my $ago = sub {
        my ($days) = @_;

        for my $w ($day->() - 1, $day->()) {
            $r->call('RENAME', "$root:c:$q:$w", "$root:c:$q:" . ($w - $days));
        }

        $r->call('HSET', key('h', $q), 'cw', $day->() - $days);
        $r->call('ZADD', "$root:t", 0, $q);
    };

    my $send = sub {
        my ($message) = put_fifo($q, 'g', 'm');
        my (undef, @m) = take_fifo($q, 10);

        ack(map { ($q, 1, $_->{id}, token()) } @m);
        return $message->[1];
    };

    sleep 1 while $r->call('TIME')->[0] % 86400 > 86390;
    $r->call('FLUSHALL');
    $q = create('q', kind => 'fifo');

    is($send->() . $send->(), '12', 'numbers');
    $ago->(1);
    is($send->(), 3, 'they go on on the next day');
    $ago->(1);
    tend();
    is($send->(), 4, 'due work forgets none of them');
    $ago->(2);
    tend();
    is(join(' ', grep { /:c:/ } @{ $r->call('KEYS', '*') }), '',
       'two days later none is known');
    is($send->(), 1, 'they begin anew');
}

done_testing();
