#!/usr/bin/perl

# The functions of redis/*.lua: several deliveries of a subscription that end in
# one call, all messages of which were handled, and the claims of that call.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Check;
use NgxQueues::Functions;

NgxQueues::Functions::start();

my ($n, $token) = (0, 5000);

sub of { my ($k, $field) = @_; $r->call('HGET', "$root:s:$k", $field) }
sub open_ { join ' ', @{ $r->call('ZRANGE', "$root:pd:$_[0]", 0, -1) } }
sub status { join ' ', @{ f('subscription_get', "q$_[0]") }[18 .. 20] }
sub tokens { join ' ', map { $_->{token} } @_ }
sub batches { join '|', map { $_->{bodies} // "code $_->{code}" } @_ }

# A queue with a subscription that w owns; returns Q and K.
sub pushed {
    my (%o) = @_;
    my %of = map { exists $o{$_} ? ($_ => delete $o{$_}) : () } qw(bs mc);
    my $q = create('d' . ++$n, vt => 60, %o);
    my $k = sprintf 'k%011d', $n;

    f('subscription_create', "q$q", $k, uuid(1000 + $n), 'https://x.example/',
      20, $of{bs} // 3, $of{mc} // 10, 'a', 'S');
    f('push_sync', 'w', 1000);
    hints();

    return ($q, $k);
}

# CLAIM as a hash
sub claimed {
    my ($token, @reply) = @_;
    my %c = (token => $token, code => shift @reply, now => shift @reply);

    return { %c, rest => \@reply } if $c{code};

    @c{qw(vt q gen)} = @reply[0 .. 2];
    shift @reply;

    my @m = $reply[4] =~ /^f/ ? NgxQueues::Functions::_fifo(\@reply)
                              : NgxQueues::Functions::_standard(\@reply);
    my @of = map { ref eq 'HASH' ? [ @$_{qw(id body count)} ]
                                 : [ $_->[0], $_->[1] =~ tr/"//dr, $_->[3] ] } @m;

    return { %c, next => $reply[3], ids => [ map { $_->[0] } @of ],
             bodies => join(' ', map { $_->[1] } @of),
             counts => join(' ', map { $_->[2] } @of) };
}

sub claim {
    my ($k) = @_;

    return claimed($token, @{ f('push_claim', $k, 'w', of($k, 'fn'),
                                of($k, 'ver'), ++$token) });
}

# Ends claims; returns how many were open, and a hash for each claim of claims.
sub done {
    my ($k, $c, %o) = @_;
    my @new = map { ++$token } 1 .. $o{claims} // 0;
    my $reply = f('push_done', $k, $o{worker} // 'w', $o{fence} // 1,
                  $o{ver} // 1, "@new", $o{window} // '', @{ $c->[0] }{qw(q gen)},
                  map { ($_->{token}, join ' ', @{ $_->{ids} }) } @$c);

    die "push_done: $reply\n" unless ref $reply eq 'ARRAY';

    my @reply = @$reply;
    my $open = shift @reply;
    my @claims;

    while (@reply) {
        push @claims, claimed(shift @new, splice @reply, 0, shift @reply);
    }

    return ($open, @claims);
}


subtest 'several' => sub {
    my ($q, $k) = pushed();

    put($q, '', 1 .. 20);

    my @c = map { claim($k) } 1 .. 3;
    my ($open, @next) = done($k, [ @c[1, 0, 2] ], claims => 3);

    is("$open " . batches(@next), '3 10 11 12|13 14 15|16 17 18',
       'settled, in any order, and as many claimed');
    is(join(' ', map { "$_->{code}$_->{next} $_->{counts}" } @next),
       join(' ', ('0-1 1 1 1') x 3), 'each by itself');
    is(open_($k), tokens(@next), 'these are open');
    is(counts($q), '2 9 0', 'and nine are gone');
    is(status($k), '3 0 9', 'three deliveries');
    ok(abs(of($k, 'ls') - time) < 30, 'when');

    for (@next) {
        is($r->call('ZSCORE', "$root:pd:$k", $_->{token}) - $_->{now}, 30000,
           'open until 10 s after its timeout');
        is($r->call('ZSCORE', key('b', $q, 1), $_->{token}) - $_->{now}, 60000,
           'hidden for the visibility timeout');
    }

    sound('all is well');

    # with one that is open and stays so before them
    (my $stays, @c) = @next;
    ($open, @next) = done($k, \@c, claims => 3, window => 7);
    is("$open " . batches(@next), '2 19 20', 'what is left');
    is(of($k, 'w'), 7, 'the window');
    is(counts($q), '0 5 0', 'the one before is still in flight');
    sound('all is well');
    ($open, @next) = done($k, [ $stays, @next ], claims => 2, window => 0);
    is("$open " . batches(@next), '2 ', 'and nothing more');
    is($next[0]{next}, -1, 'nothing is to come');
    is(waiting($q), 1, 'it waits');
    is(open_($k), '', 'nothing is open');
    is(counts($q), '0 0 0', 'all is done');
    is(status($k), '7 0 20', 'seven deliveries');
    is($r->call('XLEN', key('m', $q, 1)), 0, 'the stream is empty');
    sound('all is well');
    none();
};


subtest 'some are over' => sub {
    my ($q, $k) = pushed();

    put($q, '', 1 .. 12);

    my @c = map { claim($k) } 1 .. 3;
    my ($open) = done($k, [ $c[0] ]);

    is("$open", 1, 'no claim');
    ($open, my @next) = done($k, [ @c[0, 1] ], claims => 1);
    is("$open " . batches(@next), '1 10 11 12', 'one was settled before');
    is(status($k), '2 0 6', 'it is counted once');
    ($open) = done($k, [ { %{ $c[2] }, token => 77 }, $c[2] ]);
    is("$open " . status($k), '1 3 0 9', 'a token that there is not');
    ($open) = done($k, [ @c ]);
    is("$open " . status($k), '0 3 0 9', 'all of them once more');
    is(counts($q), '0 3 0', 'which has no effect');
    sound('all is well');

    # others have received what it had
    put($q, '', 'a' .. 'f');
    @c = ($next[0], claim($k), claim($k));
    soon($q, key('b', $q, 1), $c[1]{token});
    my (undef, @m) = take($q, 10, 60);
    is(bodies(@m), 'a b c', 'a receive takes those of one');
    ($open) = done($k, \@c);
    is("$open " . counts($q), '3 0 3 0', 'the others are acknowledged');
    is(status($k), '6 0 15', 'and no more');
    sound('all is well');

    # some of its messages are not its own any more
    put($q, '', 'g' .. 'l');
    @c = map { claim($k) } 1, 2;
    is_deeply(ack($q, 1, $c[0]{ids}[1], $c[0]{token}), [ 1 ], 'one of a batch');
    ($open) = done($k, \@c);
    is("$open " . status($k), '2 8 0 20', 'the rest of it');
    is(counts($q), '0 3 0', 'nothing is left of them');
    sound('all is well');
    none();
};


subtest 'who may claim' => sub {
    my ($q, $k) = pushed(mc => 3);

    put($q, '', 1 .. 30);

    my @c = map { claim($k) } 1 .. 3;
    my ($open, @next) = done($k, [ @c[0, 1] ], claims => 3);

    is("$open " . batches(@next), '2 10 11 12|13 14 15|code 3',
       'no more than may be open');
    sound('all is well');
    is(batches((done($k, [ $c[2] ], claims => 2, worker => 'x'))[1]), 'code 1',
       'not another');
    is(batches((done($k, [ $next[0] ], claims => 2, fence => 9))[1]), 'code 1',
       'nor with another fence');
    f('subscription_update', "q$k", 'mc', 5);
    ($open, @c) = done($k, [ $next[1] ], claims => 2);
    is("$open " . batches(@c), '1 code 2', 'what has changed');
    is("@{ $c[0]{rest} }[0, 1, 2, 3, 7]", "$k $q 1 2 5", 'as it is now');
    is(counts($q), '15 0 0', 'which take nothing');

    @c = map { claim($k) } 1, 2;
    f('subscription_state', "q$k", 'p');
    ($open, @next) = done($k, \@c, claims => 2, ver => 2);
    is("$open " . batches(@next), '2 code 1', 'settled, though it is paused');
    is(counts($q), '9 0 0', 'counts');
    f('subscription_state', "q$k", 'a');
    f('push_sync', 'w', 1000);
    @c = map { claim($k) } 1, 2;
    f('subscription_delete', "q$k");
    ($open, @next) = done($k, \@c, claims => 2, ver => 2, fence => 2);
    is("$open " . batches(@next), '0 code 1', 'or gone');
    is(counts($q), '3 0 0', 'its messages are acknowledged');
    sound('all is well');
    none();

    ($q, $k) = pushed();
    put($q, '', 1 .. 12);
    @c = map { claim($k) } 1, 2;
    f('queue_purge', "q$q");
    put($q, '', 1 .. 3);
    ($open, @next) = done($k, \@c, claims => 2);
    is("$open " . batches(@next), '2 1 2 3|', 'purged');
    is(status($k), '2 0 0', 'no message was acknowledged');
    f('queue_delete', "q$q");
    is(join(' ', (done($k, [ $next[0] ]))[0]), 0, 'deleted');
    sound('all is well');
    none();
};


subtest 'other queues' => sub {
    # what was received before, and single messages
    for my $bs (1, 3) {
        my ($q, $k) = pushed(bs => $bs);

        put($q, '', 1 .. 12);

        my @c = map { claim($k) } 1, 2;

        soon($q, key($bs == 1 ? 'f' : 'b', $q, 1));
        my ($open, @next) = done($k, [ $c[1] ], claims => 3);
        is("$open $next[0]{bodies} $next[0]{counts}",
           $bs == 1 ? '1 1 2' : '1 1 2 3 2 2 2', "$bs: what comes again is first");
        is(scalar @next, 3, 'as many as were asked for');
        sound('all is well');
        ($open) = done($k, \@next);
        is($open, 3, 'they are settled');
        is(counts($q), $bs == 1 ? '8 0 0' : '0 0 0', 'counts');
        sound('all is well');
        none();
    }

    my ($q, $k) = pushed(kind => 'fifo');

    put_fifo($q, $_, "${_}1") for 'a' .. 'f';
    put_fifo($q, 'a', 'x');

    my @c = map { claim($k) } 1, 2;
    my ($open, @next) = done($k, \@c, claims => 2);

    is("$open " . batches(@next), '2 f1', 'of groups');
    is(status($k), '2 0 6', 'six messages');
    sound('all is well');
    none();

    # dead letters stay what they are
    my $d = create('dead');
    ($q, $k) = pushed(dlq => $d, mrc => 1, bs => 2);
    put($q, '', 1 .. 8);
    @c = map { claim($k) } 1, 2;
    ($open, @next) = done($k, \@c, claims => 2);
    is("$open " . batches(@next), '2 5 6|7 8', 'with a dead-letter queue');
    soon($q, key('b', $q, 1), $_->{token}) for @next;
    tend();
    is(counts($d) . ' ' . counts($q), '4 0 0 0 0 0', 'as they were received');
    sound('all is well');
    none();
};


subtest 'what it refuses' => sub {
    my ($q, $k) = pushed();

    put($q, '', 1 .. 6);

    my $c = claim($k);
    my @args = ($k, 'w', 1, 1, '', '', $q, 1);
    my @of = ($c->{token}, "@{ $c->{ids} }");

    like(f('push_done', @$_), qr/^QUEUES ARGUMENT /, "not @$_[4 .. $#$_]")
        for [ @args ], [ @args, 1 ], [ @args, @of, @of ], [ @args, @of, 7 ],
            [ @args, @of, 7, '' ], [ @args, @of, 7, '1-1  1-2' ],
            [ @args[0 .. 4], 'x', $q, 1, @of ],
            [ @args[0 .. 3], 'x', '', $q, 1, @of ];
    is(counts($q) . ' ' . open_($k), "3 3 0 $c->{token}", 'nothing has changed');

    # a token that is in use
    my @c = ($c, claim($k));
    put($q, '', 7 .. 18);
    my (undef, @m) = take($q, 2);
    my @ids = map { $_->[0] } @m;
    my @reply = @{ f('push_done', @args[0 .. 3], join(' ', token(), 1, 2), '',
                     $q, 1, map { ($_->{token}, "@{ $_->{ids} }") } @c) };
    is(shift @reply, 2, 'settled');
    is(counts($q), '1 11 0', 'three more are taken');
    is(@{ ack(map { ($q, 1, $_, token()) } @ids) }, 2, 'and what it had as well');
    sound('all is well');

    # keys of a wrong type: nothing is lost, and it can be done again
    for my $key (qw(m b e h pd s)) {
        my ($q, $k) = pushed();
        my $name = $key =~ /^[pds]/ ? "$root:$key:$k"
                                    : key($key, $q, $key eq 'h' ? () : 1);

        put($q, '', 1 .. 12);

        my @c = map { claim($k) } 1, 2;

        $r->call('RENAME', $name, 'aside');
        $r->call('SET', $name, 'planted');
        eval { done($k, \@c, claims => 2) };
        $r->call('DEL', $name);
        $r->call('RENAME', 'aside', $name);
        done($k, \@c);
        is((split / /, counts($q))[0], 6, "$key: no more is visible");
        sound('all is well');
    }

    none();
};


sub none {
    for (@{ $r->call('HVALS', "$root:n") }) {
        f('queue_update', "q$_", 'dlq', '', 'mrc', 0);
    }

    f('queue_delete', "q$_") for @{ $r->call('HVALS', "$root:n") };
    $r->call('DEL', "$root:pw", "$root:a");
    hints();
}


done_testing();
