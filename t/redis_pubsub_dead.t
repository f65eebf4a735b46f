#!/usr/bin/perl

# The functions of redis/*.lua for Pub/Sub: dead letters, which are published to
# another topic or dropped, by whoever comes to them; and unused subscriptions.

use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes qw(sleep time);

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Topics;

NgxQueues::Functions::start();

my ($fifo, $q, $dead);

sub shown { my ($reply) = @_; ref $reply eq 'ARRAY' ? "@$reply" : "$reply" =~ s/^QUEUES \S+\K.*//r }
sub pulled { my ($h, @m) = pull(@_); @m }

sub build {
    my (%o) = @_;

    $r->call('FLUSHALL');
    topic($_) for qw(t dead);
    $q = subscribe('s', 't', dlq => 'dead', mrc => 2, flags => $fifo ? 'o' : '', %o);
    $dead = subscribe('d', 'dead', flags => $fifo ? 'o' : '');
}

# all leases of a subscription are over

sub over {
    my ($q) = @_;
    my $gen = part($q, 2);

    for my $key (map { key($_, $q, $gen) } qw(b f)) {
        soon($q, $key, $_) for @{ $r->call('ZRANGE', $key, 0, -1) };
    }

    if ($fifo) {
        my %d = @{ $r->call('HGETALL', key('d', $q, $gen)) };
        $r->call('HSET', key('d', $q, $gen), $_, $d{$_} =~ s/,[1-9]\d*;/,1;/gr) for keys %d;
    }
}

# attributes that tell where a dead letter comes from

sub source {
    my ($m) = @_;
    my %a = $m->{body} =~ /"CloudPubSubDeadLetterSource(\w+)":"([^"]*)"/g;

    return map { $_ // '' } @a{qw(DeliveryCount Subscription SubscriptionProject TopicPublishTime)};
}

for (0, 1) {
    $fifo = $_;
    my $kind = $fifo ? 'FIFO' : 'standard';

    subtest "$kind: by a pull" => sub {
        build();
        my ($id) = publish('t', [ 'a', k => 'v\"', key => 'x' ], 'b');
        my @m = pulled('s');
        is(datas(@m), 'a b', 'once');
        over($q);
        is(scalar pulled('s'), 2, 'twice');
        over($q);
        is(scalar pulled('s'), 0, 'no third time');
        my ($a, $b) = sort { $a->{data} cmp $b->{data} } pulled('d');
        is("$a->{data} $b->{data}", 'a b', 'it is in the other topic');
        like($a->{body}, qr/^\{"data":"a","attributes":\{"k":"v\\"",(?:"\w+":"[^"]*",?){4}\},"orderingKey":"x"\}$/,
             'with all it had');
        isnt($a->{id}, $id, 'as a new message');
        is($a->{count}, 1, 'received once');
        my @source = source($a);
        is("@source[0 .. 2]", '2 s shop', 'where it comes from');
        my ($ms) = $id =~ /^(\d+)/;
        my @t = gmtime($ms / 1000);
        is($source[3], sprintf('%04d-%02d-%02dT%02d:%02d:%02d.%03d+00:00', $t[5] + 1900,
                               $t[4] + 1, @t[3, 2, 1, 0], $ms % 1000), 'and when');
        is($a->{group}, 'kx', 'its key') if $fifo;
        sound('all is well');
    };

    subtest "$kind: by a nack" => sub {
        build(min => 60_000, max => 60_000);
        publish('t', 'a');
        my @m = pulled('s');
        modify('s', 0, @m);
        over($q);
        @m = pulled('s');
        is(modify('s', 0, @m), '1', 'the last one');
        is(datas(pulled('d')), 'a', 'is at once a dead letter');
        sound('all is well');
    };

    subtest "$kind: by what is due" => sub {
        build();
        publish('t', 'a');
        for (1, 2) { pulled('s'); over($q) }
        is(tend() =~ /^1 \d+$/, 1, 'look after it');
        is(datas(pulled('d')), 'a', 'it has moved');
        sound('all is well');
    };

    subtest "$kind: by a push" => sub {
        build(url => 'https://x/', x => 'x');
        my $k = $r->call('HGET', "$root:p", $q);
        publish('t', 'a');
        f('push_sync', 'w', 1);

        for my $n (1, 2) {
            my $c = f('push_claim', $k, 'w', 1, 1, 800 + $n);
            my ($id) = $c->[7] =~ / ([^ :]+(?::\d+)?)/;
            $id =~ s/:.*//;
            $id .= ':1' if $fifo;
            f('push_settle', $k, 'w', 1, 1, '', 800 + $n, $q, 1, '-x 0 m', 1, '',
              5000, $n, $id);
            over($q) if $n == 1;
        }

        is(datas(pulled('d')), 'a', 'it has moved');
        sound('all is well');
    };

    subtest "$kind: no topic" => sub {
        build();
        publish('t', 'a');
        f('topic_delete', 'dead');
        for my $n (1 .. 4) {
            is(join(',', map { $_->{count} } my @m = pulled('s')), $n, "$n times");
            over($q);
            tend();
        }
        is(ref change('s', cfg => 'x'), 'ARRAY', 'all else can be changed');
        topic('dead');
        subscribe('d2', 'dead');
        is(scalar pulled('s'), 0, 'when there is one again');
        tend();
        is((source(pulled('d2')))[0], 4, 'it has moved');
        sound('all is well');
    };

    subtest "$kind: dropped" => sub {
        build(dlq => '-');
        publish('t', 'a', 'b');
        for (1, 2) { pulled('s'); over($q) }
        is(scalar pulled('s'), 0, 'gone');
        is(hot($q, 'dropped'), 2, 'and counted');
        is(datas(pulled('d')), '', 'nowhere else');
        sound('all is well');
    };

    subtest "$kind: to its own topic" => sub {
        $r->call('FLUSHALL');
        topic('t');
        $q = subscribe('s', 't', dlq => 't', mrc => 1, flags => $fifo ? 'o' : '');
        publish('t', map { [ "a$_", key => 'k' ] } 1 .. 3);
        for my $n (1 .. 3) {
            my ($h, @m) = pull('s');
            is($h->[4], 1, 'look again at once') if !@m;
            @m = pulled('s') if !@m;
            is(scalar @m, 3, "round $n");
            over($q);
        }
        my @m = pulled('s');
        @m = pulled('s') if !@m;
        is(join(' ', map { $_->{data} } @m), 'a1 a2 a3', 'all are there, in order');
        is((source($m[0]))[0], '1', 'the last count alone');
        is(scalar(() = $m[0]{body} =~ /DeliveryCount/g), 1, 'it is told once');
        sound('all is well');
    };

    subtest "$kind: a key of a wrong type" => sub {
        build();
        publish('t', 'a');
        for (1, 2) { pulled('s'); over($q) }
        my $key = key($fifo ? 'u' : 'm', $dead, 1);
        $r->call('SET', $key, 'x');
        is(scalar pulled('s'), 0, 'a pull');
        ok(lease_ends($q) > 9000, 'it is put off');
        tend();
        $r->call('DEL', $key);
        over($q);
        pulled('s');
        is(datas(pulled('d')), 'a', 'and moves later');
        sound('all is well');
    };

    subtest "$kind: bounded" => sub {
        build();
        subscribe("d$_", 'dead') for 1 .. 100;
        publish('t', map { "m$_" } 1 .. 50);
        for (1, 2) { pulled('s'); over($q) }
        f('maintain', 'm', 1);
        my $n = $r->call('XLEN', key('m', sprintf('q%011d', substr($dead, 1) + 1), 1));
        cmp_ok($n, '<', 20, 'a call moves some');
        tend('m');
        is(scalar pulled('d'), 50, 'all in the end');
        sound('all is well');
    };
}


subtest 'filtered out' => sub {
    $fifo = 0;
    build();
    subscribe('f', 'dead', filter => filter([ h => 'k' ]));
    subscribe('g', 'dead', filter => filter([ e => 'CloudPubSubDeadLetterSourceSubscription', 's' ]));
    publish('t', 'a');
    for (1, 2) { pulled('s'); over($q) }
    pulled('s');
    is(join(',', map { scalar pulled($_) } qw(d f g)), '1,0,1', 'by the other topic');
};


subtest 'unused subscriptions' => sub {
    $r->call('FLUSHALL');
    topic('t');
    my %q = map { $_ => subscribe($_, 't', ttl => 86400,
                                  $_ eq 'push' ? (url => 'https://x/', x => 'x') : ()) }
                qw(pull ack modify push none);
    publish('t', 'a');
    f('push_sync', 'w', 1);
    my $k = $r->call('HGET', "$root:p", $q{push});
    my %m = map { my ($h, $m) = pull($_); ($_ => $m) } qw(ack modify);
    my $claim = f('push_claim', $k, 'w', 1, 1, 900);
    my ($id) = $claim->[7] =~ / (\S+)/;

    for my $q (values %q) {
        $r->call('HSET', key('h', $q), 'use', 1);
        $r->call('ZADD', "$root:t", 1, "x:$q");
    }

    pull('pull');
    acks('ack', $m{ack});
    modify('modify', 10, $m{modify});
    f('push_settle', $k, 'w', 1, 1, '', 900, $q{push}, 1, '+', 1, $id);
    f('maintain', 'm', 10) for 1 .. 3;
    is_deeply(f('topic_subs', 't', '', 9), [ 0, qw(ack modify pull push) ], 'those that are used stay');
    sound('all is well');

    $r->call('HSET', key('h', $q{push}), 'use', 1);
    $r->call('ZADD', "$root:t", 1, "x:$q{push}");
    is(f('maintain', 'm', 10)->[2], 0, 'one with a push part: its worker learns of it');
    sound('all is well');

    change('pull', ttl => 0);
    is($r->call('ZSCORE', "$root:t", "x:$q{pull}"), undef, 'it does not expire any more');
    f('sub_delete', 'ack');
    f('sub_detach', 'modify');
    is_deeply([ map { $r->call('ZSCORE', "$root:t", "x:$q{$_}") } qw(ack modify) ], [ undef, undef ],
              'nor does what is gone');
    sound('all is well');
};


done_testing;
