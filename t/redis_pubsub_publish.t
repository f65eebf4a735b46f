#!/usr/bin/perl

# The functions of redis/*.lua for Pub/Sub: what a publish does, ids, filters, order.

use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes qw(sleep time);

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Topics;

NgxQueues::Functions::start();

sub shown { my ($reply) = @_; ref $reply eq 'ARRAY' ? "@$reply" : "$reply" =~ s/^QUEUES \S+\K.*//r }
sub last_ { $r->call('HGET', "$root:gt:$_[0]", 'last') }


subtest 'fan-out' => sub {
    my $t = topic('t');
    like(join(' ', publish('t', 'none')), qr/^\d+-0$/, 'no subscription');
    my @q = map { subscribe($_, 't') } qw(a b);
    subscribe('o', 't', flags => 'o');
    topic('other');
    subscribe('else', 'other');

    my @ids = publish('t', 'x', [ 'y', k => 'v' ], 'z');
    my ($ms) = $ids[0] =~ /^(\d+)-/;
    ok(abs($ms - time * 1000) < 30_000, 'when');
    is(last_($t), $ids[2], 'the last id');

    for my $s (qw(a b)) {
        my ($h, @m) = pull($s);
        is(datas(@m), 'x y z', "in $s");
        is(ids_of(@m), "@ids", 'with their ids');
        is($m[1]{body}, '{"data":"y","attributes":{"k":"v"}}', 'whole');
        is("@$h", " $m[0]{q} 1 0 -1", 'head');
    }

    my ($h, @m) = pull('o');
    is_deeply({ map { $_->{data} => $_->{id} } @m },
              { x => $ids[0], y => $ids[1], z => $ids[2] }, 'in a FIFO one');
    is(datas(pull('else')), '', 'not of another topic');
    is(shown(publish('none', 'x')), 'QUEUES NOTOPIC', 'to none');
    sound('all is well');
};


subtest 'ids' => sub {
    $r->call('FLUSHALL');
    my $t = topic('t');
    subscribe('s', 't');
    subscribe('o', 't', flags => 'o');

    my $far = int(time * 1000) + 100_000;
    $r->call('HSET', "$root:gt:$t", 'last', "$far-7");
    is(join(' ', publish('t', 'a', 'b')), "$far-8 $far-9", 'the clock went back');
    $r->call('HSET', "$root:gt:$t", 'last', "$far-999997");
    is(join(' ', publish('t', 'c', 'd')), "$far-999998 $far-999999", 'the last ones of a ms');
    is(join(' ', publish('t', 'e')), (++$far) . '-0', 'go on in the next');
    $r->call('HSET', "$root:gt:$t", 'last', "$far-999998");
    is(join(' ', publish('t', 'f', 'g')), ($far + 1) . '-0 ' . ($far + 1) . '-1',
       'those of a call are of one');
    is(datas(pull('s')), 'a b c d e f g', 'all are there');
    my ($h, @m) = pull('o');
    is(scalar @m, 7, 'in both');
    sound('all is well');
};


subtest 'filters' => sub {
    $r->call('FLUSHALL');
    topic('t');
    my %filter = (
        has => [ [ h => 'a' ] ], equal => [ [ e => 'a', '1' ] ], not => [ [ n => 'a', '1' ] ],
        prefix => [ [ p => 'a', 'x:' ] ], none => [ [ h => 'a' ], '!' ],
        and => [ [ h => 'a' ], [ e => 'b', "\n2 !" ], '& 2' ],
        or => [ [ e => 'a', '' ], [ h => 'c' ], [ e => 'b', "\xc3\xa9\"" ], '| 3' ],
        mixed => [ [ h => 'a' ], '!', [ h => 'b' ], [ h => 'c' ], '| 2', '& 2' ],
    );
    subscribe($_, 't', filter => filter(@{ $filter{$_} })) for keys %filter;
    subscribe('fifo', 't', filter => filter([ h => 'a' ]), flags => 'o');

    publish('t', 'plain', [ 'a1', a => 1 ], [ 'ax', a => 'x:y', b => '\n2 !' ],
            [ 'ae', a => '' ], [ 'c', c => '\u0000' ], [ 'b', b => '\u00e9\"' ],
            [ 'bc', b => 1, c => 2, key => 'k' ], [ '', a => 1 ]);

    my %want = (has => 'a1 ax ae ', equal => 'a1 ', not => 'plain ax ae c b bc',
                prefix => 'ax', none => 'plain c b bc', and => 'ax', or => 'ae c b bc',
                mixed => 'c b bc', fifo => ' a1 ae ax');

    for my $s (sort keys %want) {
        my ($h, @m) = pull($s);
        my $got = $s eq 'fifo' ? join(' ', sort map { $_->{data} } @m) : datas(@m);
        is($got, $want{$s}, $s);
    }

    sound('all is well');

    # another filter of the same id, after a deletion

    $r->call('FLUSHALL');
    my @c = ('aaaaaaaaaaaa', 's', 't', '', 10, 600, '', '', '', '', '');
    f('topic_create', 'tttttttttttt', 't', '', '');

    for my $key (qw(x y)) {
        f('sub_create', @c, filter([ h => $key ]), 0, 'kkkkkkkkkkkk', '', '');
        publish('t', [ 'x', x => 1 ], [ 'y', y => 1 ]);
        is(datas(pull('s')), $key, "the filter of $key");
        f('sub_delete', 's');
    }
};


subtest 'order' => sub {
    $r->call('FLUSHALL');
    topic('t');
    my $q = subscribe('o', 't', flags => 'o');

    publish('t', map { [ "a$_", key => 'a' ] } 1 .. 3);
    publish('t', [ 'b1', key => 'b\n' ], 'p', 'r');
    my ($h, @m) = pull('o', 2);
    is(datas(@m), 'a1 a2', 'of one key');
    is($m[0]{group}, 'ka', 'its group');
    my @rest = grep { ref eq 'HASH' } pull('o');
    is(join(' ', sort map { $_->{data} } @rest), 'b1 p r', 'the others');
    like($_->{group}, $_->{data} eq 'b1' ? qr/^kb\\n$/ : qr/^m\Q$_->{id}\E$/,
         "$_->{data}: its group") for @rest;
    is(modify('o', 0, $m[0]), '1', 'nack of the first');
    is(datas(pull('o')), '', 'none while the second one is in flight');
    is(acks('o', $m[1]), '1', 'ack of it');
    is(datas(my @again = pull('o')), 'a1 a3', 'the first again, then what follows');
    is(acks('o', @rest, grep { ref eq 'HASH' } @again), '11111', 'ack of all');
    publish('t', [ 'a4', key => 'a' ]);
    ($h, @m) = pull('o');
    like($m[0]{handle}, qr/:4$/, 'a key has its sequence');
    my ($c) = map { "c:$q:$_" } hot($q, 'cw');
    is(join(' ', sort @{ $r->call('HKEYS', "$root:$c") }), 'ka kb\n',
       'that of a message without key is not remembered');
    sound('all is well');
};


subtest 'many' => sub {
    $r->call('FLUSHALL');
    my $t = topic('t');
    subscribe("s$_", 't') for 1 .. 21;
    is(shown(publish('t', ('x') x 1000)), 'QUEUES TOOMANY', 'too many');
    is(last_($t), '0-0', 'nothing was done');
    f('sub_delete', 's21');
    is(scalar(my @ids = publish('t', ('x') x 1000)), 1000, 'not too many');
    sound('all is well');

    $r->call('FLUSHALL');
    topic('t');
    subscribe("s$_", 't') for 1 .. 1000;
    is(shown(subscribe('more', 't')), 'QUEUES TOOMANY', 'no more than 1,000');
    publish('t', 'x');
    is(datas(pull('s1000')), 'x', 'all of them have it');
    is(shown(publish('t', 'x' x 1_100_000)), 'QUEUES TOOMANY', 'too many bytes');
    is(datas(pull('s1000')), '', 'nobody has that');
};


subtest 'sizes' => sub {
    $r->call('FLUSHALL');
    topic('t');
    my ($q, $o) = map { subscribe($_, 't', flags => $_ eq 'o' ? 'o' : '') } qw(s o);
    my $big = 'A' x 3_000_000;

    is(part($q, 7), 4096, 'at first');
    publish('t', $_, 'b') for ($big) x 4;
    is(part($q, 7), 4194304, 'a long one');
    is(part($o, 7), 4194304, 'likewise');
    my ($h, @m) = pull('s');
    is(scalar @m, 5, 'no more than 8 MiB and one at once');
    ($h, @m) = pull('s');
    is(scalar @m, 3, 'and the rest');
    modify('s', 0, @m);
    ($h, @m) = pull('s');
    is(scalar @m, 3, 'again');
    my $n = 0;
    ($h, @m) = pull('o') and cmp_ok(scalar @m, '<=', 2, 'two at once') and $n += @m
        for 1 .. 4;
    is($n, 8, 'all');
    sound('all is well');
};


subtest 'a key of a wrong type' => sub {
    for my $key (qw(m u gg gx)) {
        $r->call('FLUSHALL');
        my $t = topic('t', ret => 600);
        my %q = map { $_ => subscribe($_, 't', flags => /o/ ? 'o' : '') } qw(a o b);
        f('snap_create', 'nnnnnnnnnnnn', 'n', 'a', '');
        my $planted = $key eq 'm' ? key('m', $q{b}, 1) : $key eq 'u' ? key('u', $q{o}, 1)
                      : "$root:$key:" . ($key eq 'gg' ? $t : 'nnnnnnnnnnnn');
        $r->call('SET', $planted, 'x');
        like(publish('t', 'x', 'y'), qr/^WRONGTYPE/, "$key: refused");
        is(join(',', map { datas(pull($_)) } qw(a o)), ',', 'nobody has it');
        is($r->call('XLEN', "$root:gg:$t"), 0, 'nor the log') if $key ne 'gg';
        $r->call('DEL', $planted);
        publish('t', 'z');
        is(join(',', map { datas(pull($_)) } qw(a o b)), 'z,z,z', 'and goes on');
        sound('all is well');
    }
};


subtest 'waiting' => sub {
    $r->call('FLUSHALL');
    topic('t');
    my ($q, $o) = map { subscribe($_, 't', flags => $_ eq 'o' ? 'o' : '') } qw(s o);
    pull($_, 1, 1) for qw(s o);
    hints();
    publish('t', 'a');
    is(join(' ', sort split / /, hints()), "$q $o", 'who waits is told');
    publish('t', 'b');
    is(hints(), '', 'once');
    sound('all is well');
};


done_testing;
