#!/usr/bin/perl

# The functions of redis/*.lua: leases of logs, and pushes and acks that are done
# together.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Logs;
use NgxQueues::Redis;
use NgxQueues::Wait;

NgxQueues::Functions::start();

# a bundle: leases, pushes, acks (each with its group)

sub tx {
    my (%o) = @_;
    my @leases = @{ $o{leases} // [] };
    my @acks = @{ $o{acks} // [] };
    my $reply = f('log_tx', scalar @leases, @leases,
                  pushes(@{ $o{pushes} // [] }), scalar @acks, map { @$_ } @acks);

    return ref $reply eq 'ARRAY' ? join ' ', map { s/\d{13}/MS/gr } @$reply
                                 : "$reply";
}

# all keys, as they are

sub state_ {
    return join '|', map { $_ . ($r->call('DUMP', $_) // '') }
                     sort grep { !/^\Q$root\E:le:/ } @{ $r->call('KEYS', '*') };
}

sub expires { $r->call('PTTL', "$root:le:$_[0]") }

# both, or one

log_push('a', 'p', 1 .. 4);
my ($q, $got) = (log_q('a'), log_pop('a', batch => 3));
my $lease = $got->{lease};

is(tx(leases => [$lease], pushes => [ [ 'b', 'p', 'x', 'y' ], [ 'a', 'p', 5 ] ],
      acks => [ [ 'g', log_items($got, '') ] ]),
   'ok ' . log_q('b') . ":1:MS:1 $q:1:MS:5 1ooo", 'pushes and acks');
is(ids(log_pop('b')), 'x y', 'what was pushed is there');
is(ids($got = log_pop('a', batch => 1)), '4', 'what was acknowledged is done');
is(tx(acks => [ [ 'g', log_items($got, 'c', lease => '') ] ]), 'ok 1o',
   'acks alone, of the present holder');
is(ids($got = log_pop('a')), '5', 'a lane that was pushed to in the bundle');
is(tx(pushes => [ [ 'a', 'p', 6 ] ], acks => [ [ 'g', log_items($got, '') ] ]),
   "ok $q:1:MS:6 1o", 'is also acknowledged');
is(ids($got = log_pop('a')), '6', 'and nothing is missed');
is(tx(pushes => [ [ 'a', 'p', 7 ] ]), "ok $q:1:MS:7", 'pushes alone');
is(tx(), 'ok', 'nothing');

# nothing of it

my $before = state_();
my @push = ([ 'new', 'p', 1 ], [ 'b', 'p', 'z' ]);
is(tx(leases => [$lease], pushes => \@push), "failed LEASE $lease",
   'a lease that is over');
is(tx(leases => [ $got->{lease}, 'none' ], pushes => \@push), 'failed LEASE none',
   'one that was never');
is(tx(pushes => [ @push, [ 'b', 'p2', 'x' ], [ 'a', 'p', 8, 5 ] ]),
   'failed DUPLICATE 5', 'an id that is known');
is(tx(pushes => \@push,
      acks => [ [ 'g', log_items($got, 'cc', ids => [ 6, 'no' ]) ] ]),
   'failed ACK u 1', 'an id that is not');
is(tx(pushes => \@push, acks => [ [ 'g', log_items($got, '', lease => 'x') ] ]),
   'failed ACK l 0', 'an ack of another lease');
is(tx(pushes => \@push, acks => [ [ 'nobody', log_items($got, '') ] ]),
   'failed ACK c 0', 'of another group');
is(tx(pushes => \@push, acks => [ [ 'g', log_items($got, 'f', ids => [5]) ] ]),
   'failed ACK a 0', 'of what was committed before');
is(tx(pushes => \@push, acks => [ [ 'g', log_items($got, 'c', ids => [7]) ] ]),
   'failed ACK b 0', 'beyond the batch');
is(state_(), $before, 'and nothing has changed');

# each lease is looked at once: many lanes times many names would be too many

$r->call('CONFIG', 'RESETSTAT');
is(tx(leases => [ ($got->{lease}) x 1000 ]), 'ok', 'a lease that is named often');
like($r->call('INFO', 'commandstats'), qr/^cmdstat_get:calls=1,/m,
     'is read once');

log_pop('b', group => 'waits', lane => 'none', wait => 1);
hints();
is(tx(pushes => [ [ 'b', 'p', 'w' ] ],
      acks => [ [ 'g', log_items($got, 'd', errors => { 0 => 'bad' }) ] ]),
   'ok ' . log_q('b') . ':1:MS:3 1d', 'a dead letter in a bundle');
is(hints(), log_q('b'), 'who waits is told');
is($r->call('HLEN', lkey('lk', $q)), 1, 'there is a row');

# two groups, several lanes

log_push('c', 'p1', 1);
log_push('c', 'p2', 1);
my $one = log_pop('c', group => 'one', partitions => 2);
my $two = log_pop('c', group => 'two');
is(tx(leases => [ map { $_->{lease} } $one, $two ],
      acks => [ [ 'one', log_items($one, '') ], [ 'two', log_items($two, 'r') ],
                [ 'one', log_items($one, '', at => 1) ] ]),
   'ok 1o 1o 1o', 'acks of several groups');
is(ids(log_pop('c', group => 'two', batch => 9, partitions => 2)), '1 1',
   'each for itself');
$one = log_pop('c', group => 'one');
is($one->{next}, -1, 'all is done');

# a wrong type in what comes last

log_push('w', 'p', 1);
$got = log_pop('w');
my $lr = lkey('lr', log_q('w'), 1);
$r->call('RENAME', $lr, 'kept');
$r->call('SET', $lr, 'x');
$before = state_();
like(tx(pushes => [ [ 'w', 'p', 2 ] ], acks => [ [ 'g', log_items($got, '') ] ]),
     qr/WRONGTYPE/, 'lr is a string');
is(state_(), $before, 'nothing is half done');
$r->call('DEL', $lr);
$r->call('RENAME', 'kept', $lr);

for my $bad ([ '' ], [ 0, 1 ], [ 0, 0, 0, 1, 'g' ])
{
    like(f('log_tx', @$bad) . '', qr/^QUEUES ARGUMENT /, "wrong: @$bad");
}

# extend

log_push('e', "p$_", 1, 2) for 1 .. 3;
$got = log_pop('e', partitions => 3, batch => 9, seconds => 20);
my ($n, $till) = @{ f('log_extend', $got->{lease}, 5) };
is($n, 3, 'a lease is prolonged on all its lanes');
ok($till >= $got->{now} + 20_000 && $till <= $got->{now} + 21_000,
   'and never shortened');
log_ack($got, '');
($n, $till) = @{ f('log_extend', $got->{lease}, 100) };
is($n, 2, 'on those that it still holds');
cmp_ok($till, '>=', $got->{now} + 100_000, 'to that moment');
cmp_ok(expires($got->{lease}), '>', 90_000, 'as what is known of it');
my $later = log_pop('e');
cmp_ok($later->{next}, '>', 90_000, 'who waits is told of the new one');
is("@{ f('log_extend', 'none', 5) }", '0 0', 'one that is not known');

log_push('over', 'p', 1);
$got = log_pop('over', seconds => 1);
ok(wait_for(sub { "@{ f('log_extend', $got->{lease}, 0) }" eq '0 0' }, 5),
   'one that is over');
is("@{ f('log_extend', $got->{lease}, 60) }", '0 0', 'does not come back');
is(ids(log_pop('over')), '1', 'its messages do');

# undo

log_push('u', "p$_", 1, 2) for 1 .. 2;
log_pop('u', group => 'waits', lane => 'none', wait => 1);
hints();
$got = log_pop('u', partitions => 2);
is(log_ack($got, 'f', at => 1, ids => [1]), '1o', 'one lane is released');
is(hints(), log_q('u'), 'which is told');
is(f('log_undo', $got->{lease}), 1, 'the other is given back');
is($r->call('EXISTS', "$root:le:$got->{lease}"), 0, 'the lease is gone');
is(log_ack($got, 'c', ids => [1]), '0l', 'and not valid');
is(ids(log_pop('u', partitions => 2)), '1 2 1 2', 'all of it comes');
is(f('log_undo', $got->{lease}), 0, 'once');
$got = log_pop('c', group => 'undo');
log_pop('c', group => 'waits', lane => 'none', wait => 1);
hints();
f('log_undo', $got->{lease});
is(hints(), log_q('c'), 'who waits is told');
is(ids(log_pop('c', group => 'undo')), ids($got), 'and has it');

# with the rights that the documents give

{
    open my $file, '<', folder() . '/../docs/redis.md' or die "docs: $!\n";
    my ($acl) = do { local $/; <$file> } =~ /ACL SETUSER queues (.*?)\n```/s;
    my ($password) = $acl =~ />(\S+)/;

    is($r->call('ACL', 'SETUSER', 'queues', split ' ', $acl), 'OK', 'a user');

    local $r = NgxQueues::Redis->new(address());
    $r->call('AUTH', 'queues', $password);

    log_push('least', 'p', 1 .. 3);
    log_push('least', 'p', map { "x$_" } 1 .. 3) for 1 .. 40;
    my $now = now_ms();
    ok(wait_for(sub { now_ms() > $now }), 'a moment later');
    log_push('least', 'p', "$_") for 10 .. 60;
    log_hot_set('least', is => 1);
    log_push('least', 'p', 61);
    is(ids(log_pop('least', group => 't', mode => 't', from => $now + 1,
                   batch => 1)), 10, 'by time');
    $got = log_pop('least', batch => 2, wait => 1);
    is(f('log_extend', $got->{lease}, 900)->[0], 1, 'extend');
    is(log_ack($got, 'cd'), '1od', 'ack');
    is(ids($got = log_find('least', '', batch => 1)), '3', 'find');
    log_set('least', window => 100);
    log_pop('least', group => 'w');
    is(ids(log_find('least', '', group => 'none', wait => 1, batch => 1)), '',
       'which waits');
    is(tx(leases => [ $got->{lease} ], pushes => [ [ 'least2', 'p', 1 ] ],
          acks => [ [ 'g', log_items($got, '') ] ]),
       'ok ' . log_q('least2') . ':1:MS:1 1o', 'a bundle');
    is(f('log_undo', log_pop('least2')->{lease}), 1, 'undo');
}

log_sound('all is well');
done_testing();
