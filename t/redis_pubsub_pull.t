#!/usr/bin/perl

# The functions of redis/*.lua for Pub/Sub: pull, ack, deadlines, the backoff of the
# retry policy, exactly once.  All of it of both kinds of queues.

use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes qw(sleep time);

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Topics;

NgxQueues::Functions::start();

my $fifo;

sub shown { my ($reply) = @_; ref $reply eq 'ARRAY' ? "@$reply" : "$reply" =~ s/^QUEUES \S+\K.*//r }
sub new { my ($name, %o) = @_; subscribe($name, 't', %o, flags => ($o{flags} // '') . ($fifo ? 'o' : '')) }
sub pulled { my ($h, @m) = pull(@_); @m }

# about so many ms, or what a slow machine leaves of them

sub about {
    my ($q, $ms, $name) = @_;
    my $is = lease_ends($q);

    local $Test::Builder::Level = $Test::Builder::Level + 1;
    ok(defined $is && $is > 0 && $is > $ms - 8000 && $is <= $ms, $name) or diag($is // 'none');
}

# all leases of a subscription are over

sub over {
    my ($q) = @_;
    my $gen = part($q, 2);

    for my $key (map { key($_, $q, $gen) } qw(b f)) {
        for my $member (@{ $r->call('ZRANGE', $key, 0, -1) }) {
            soon($q, $key, $member);
        }
    }

    if ($fifo) {
        my %d = @{ $r->call('HGETALL', key('d', $q, $gen)) };
        $r->call('HSET', key('d', $q, $gen), $_, $d{$_} =~ s/,[1-9]\d*;/,1;/gr) for keys %d;
    }
}

for (0, 1) {
    $fifo = $_;
    my $kind = $fifo ? 'FIFO' : 'standard';

    subtest "$kind: pull and ack" => sub {
        $r->call('FLUSHALL');
        topic('t');
        my $q = new('s', vt => 20);
        new('else');
        my @ids = publish('t', map { [ $_, key => 'k' ] } 'a' .. 'e');
        my ($h, @m) = pull('s', 3);

        is(ids_of(@m), "@ids[0 .. 2]", 'some');
        is("@$h[0 .. 2]", " $q 1", 'head');
        about($q, 20_000, 'the deadline');
        is(acks('s', @m[0, 2]), '11', 'ack');
        is(acks('s', @m), '010', 'a second time');
        my @other = pulled('else', 1);
        is(shown(f('sub_ack', 's', @{ $other[0] }{qw(q gen token handle)})), 'QUEUES FOREIGN',
           'of another subscription');
        is(shown(f('sub_ack', 's', @{ $m[0] }{qw(q gen token handle)},
                   @{ $other[0] }{qw(q gen token handle)})), 'QUEUES FOREIGN', 'or a part');
        is(shown(f('sub_modify', 's', 0, @{ $other[0] }{qw(q gen token handle)})),
           'QUEUES FOREIGN', 'modify');
        is(acks('else', $other[0]), '1', 'and it is still in flight');
        sound('all is well');

        @m = pulled('s');
        is(ids_of(@m), "@ids[3, 4]", 'the rest');
        is(modify('s', 100, @m), '11', 'modify');
        about($q, 100_000, 'the deadline') if @m == 2;
        is(modify('s', 0, @m), '11', 'nack');
        my @again = pulled('s');
        is(ids_of(@again), "@ids[3, 4]", 'at once again');
        is(join(',', map { $_->{count} } @again), '2,2', 'their count');
        is(acks('s', @m), '00', 'the handle of before');
        over($q);
        is(acks('s', @again), '11', 'late, and nobody else has them');
        is(scalar pulled('s'), 0, 'all are gone');
        sound('all is well');
    };

    subtest "$kind: backoff" => sub {
        $r->call('FLUSHALL');
        topic('t');
        my $q = new('s', vt => 20, min => 10_000, max => 50_000);

        publish('t', 'a');
        for my $ms (10_000, 20_000, 40_000, 50_000, 50_000) {
            my @m = pulled('s');
            is(scalar @m, 1, "a lease and $ms ms");
            about($q, 20_000 + $ms, 'expires later');
            is(modify('s', 50, @m), '1', 'modify');
            about($q, 50_000 + $ms, 'likewise');
            is(modify('s', 0, @m), '1', 'nack');
            about($q, $ms, 'visible after the backoff');
            is(scalar pulled('s'), 0, 'not before');
            over($q);
        }

        sound('all is well');
        pulled('s');
        over($q);
        change('s', vt => 20, min => '', max => '', flags => $fifo ? 'o' : '');
        my @m = pulled('s');
        about($q, 20_000, 'without a policy');
        is(modify('s', 0, @m), '1', 'nack');
        @m = pulled('s');
        is("@{[ map { $_->{count} } @m ]}", 8, 'visible at once');
        acks('s', @m);

        publish('t', map { "b$_" } 1 .. 5);
        change('s', vt => 20, min => 2000, max => 2000, flags => $fifo ? 'o' : '');
        @m = pulled('s');
        about($q, 22_000, 'of several');
        modify('s', 10, @m);
        about($q, 12_000, 'all of them together');
        modify('s', 0, $m[2]);
        about($q, 2000, 'one of them');
        sound('all is well');
    };

    subtest "$kind: retention" => sub {
        $r->call('FLUSHALL');
        topic('t');
        my ($q, $o) = map { new($_, ret => 4) } qw(s o);
        publish('t', 'a', 'b');
        my @held = pulled('s', 1);
        sleep 4.05;
        publish('t', 'c');
        is(datas(pulled('s')), 'c', 'what is too old is gone');
        is(acks('s', @held), '0', 'what was in flight, too');
        tend();
        is($r->call($fifo ? 'HLEN' : 'XLEN', key($fifo ? 'u' : 'm', $o, 1)), 1,
           'also where nobody pulls');
        sound('all is well');
    };

    subtest "$kind: exactly once" => sub {
        $r->call('FLUSHALL');
        topic('t');
        my $q = new('s', vt => 20, flags => 'e', min => 5000, max => 10_000);
        my ($h, @m);

        publish('t', map { [ $_, key => 'k' ] } 'a' .. 'f');
        ($h, @m) = pull('s', 4);
        is($h->[0], 'e', 'is told');
        is(acks('s', $m[0]), '1', 'ack');
        is(acks('s', @m[0, 1]), '01', 'no second time');
        is(modify('s', 20, $m[2]), '1', 'modify');
        is(modify('s', 0, $m[2]), '1', 'nack');
        is(acks('s', $m[2]), '0', 'the lease is over, though nobody else may have it');
        is(modify('s', 20, $m[2]), '0', 'nor can it begin anew');
        over($q);
        is(acks('s', $m[3]), '0', 'a lease that has ended');
        is(modify('s', 20, $m[3]), '0', 'likewise');
        @m = pulled('s');
        is(scalar @m, 4, 'all that is left');
        is(acks('s', @m), '1111', 'ack');
        publish('t', 'x', 'y');
        @m = pulled('s');
        over($q);
        is(acks('s', @m), '00', 'a batch that has ended');
        is(f('sub_ack', 's', $q, 9, 1, '1-1')->[0], 'e', 'another generation');
        is(acks('s', { q => $q, gen => 1, token => 3, handle => 'x' }), '0', 'no handle');
        sound('all is well');

        publish('t', map { [ $_, key => 'l' ] } 1 .. 3);
        my @next = pulled('s');
        is(acks('s', reverse grep { $_->{data} =~ /\d/ } @next), '111', 'in any order');
        sound('all is well');
    };
}


subtest 'flags' => sub {
    $r->call('FLUSHALL');
    topic($_) for qw(t dead);
    subscribe('d', 't', dlq => 'dead', mrc => 5);
    subscribe('x', 't', dlq => '-', mrc => 5, flags => 'e');

    is(join(',', map { (pull($_))[0][0] } qw(d x)), 'd,e', 'pull');
    publish('t', 'a');
    my ($h, $m) = pull('d');
    is(f('sub_modify', 'd', 5, @$m{qw(q gen token handle)})->[0], 'd', 'modify');
    is(f('sub_ack', 'd', @$m{qw(q gen token handle)})->[0], 'd', 'ack');
};


subtest 'undo' => sub {
    $r->call('FLUSHALL');
    topic('t');
    subscribe('s', 't');
    publish('t', 'a', 'b');
    my ($h, @m) = pull('s');
    is(f('undo', @{ $m[0] }{qw(q gen token)}, map { $_->{handle} } @m), 2, 'what nobody got');
    ($h, @m) = pull('s');
    is(join(',', map { $_->{count} } @m), '1,1', 'is as if it had not been pulled');
    sound('all is well');
};


done_testing;
