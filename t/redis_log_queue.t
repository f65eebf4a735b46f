#!/usr/bin/perl

# The functions of redis/*.lua: queues of logs, made, changed and deleted.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Logs;

NgxQueues::Functions::start();

sub keys_left { join ' ', grep { !/:l[lnz]$|:lF$|:le:|:lKA/ } sort @{ $r->call('KEYS', "$root:l?*") } }
sub names { join ' ', @{ $r->call('ZRANGE', "$root:$_[0]", 0, -1) } }


subtest 'made and changed' => sub {
    my $made = log_configure('c', ns => 'shop', task => 'mail', lease => 7,
                             opt => '{"leaseTime":7}');
    my $q = log_q('c');
    is($made->[0], $q, 'Q');
    is($r->call('HGET', lkey('lq', $q), 'id'), $made->[1], 'UUID');
    is($r->call('HGET', lkey('lq', $q), 'opt'), '{"leaseTime":7}', 'options');
    is(names('lNS'), 'shop', 'the list of namespaces');
    is(names('lTS'), 'mail', 'and of tasks');

    log_push('c', 'p', 1, 2);
    my $got = log_pop('c', batch => 1);
    is($got->{messages}[0]{id}, 1, 'messages come');
    is($r->call('ZSCORE', lkey('lr', $q, 1), 1) - $got->{now}, 7000,
       'leased as long as it says');

    hints();
    is_deeply(log_configure('c', ns => 'shop', task => 'post', lease => 9),
              $made, 'it is the same afterwards');
    is(hints(), 'd', 'who waits for labels is told');
    is(names('lTS'), 'post', 'a label without queues is forgotten');
    is(names('lT:post'), 'c', 'the new one has it');
    is($r->call('HGET', lkey('lq', $q), 'opt'), '', 'options are replaced');
    is(ids(log_pop('c', group => 'h', batch => 5)), '1 2', 'messages are there');

    log_pop('c', lane => 'none', wait => 1);
    hints();
    log_configure('c', ns => 'shop', task => 'post', lease => 10);
    is(hints(), $q, 'who waits for the queue is told');
    is(log_pop('c', group => 'new')->{lanes}[0]{q}, $q, 'it goes on');

    log_configure('c');
    is(names('lNS') . names('lTS') . names('lN:shop'), '', 'no labels at all');
    log_configure('0:~', ns => '~:', task => 'x:y');
    is(names('lN:~:'), '0:~', 'any name, any label');
    log_push('a.b.c', 'p', 1);
    is(names('lNS') . ' ' . names('lTS'), 'a ~: b x:y', 'those of a push-born one');
    log_sound('the keys are in order');
};


subtest 'wrong arguments' => sub {
    my @args = ('w', 'llllllllllll', uuid(999), '', '', '{}', 300, 3, (0) x 5, 1, 0, 3600, 0);
    my $before = keys_left();

    like(f('log_configure', @args[0 .. 15]), qr/^QUEUES ARGUMENT /, 'too few');
    like(f('log_configure', @args, 1), qr/^QUEUES ARGUMENT /, 'too many');

    for my $i (6 .. 16) {
        local $args[$i] = '-1';
        like(f('log_configure', @args), qr/^QUEUES ARGUMENT /, "$i is wrong");
    }

    local $args[1] = log_q('c');
    like(f('log_configure', @args), qr/^QUEUES IDTAKEN /, 'an id in use');
    like(f('log_delete'), qr/^QUEUES ARGUMENT /, 'delete what');
    is(keys_left(), $before, 'nothing was made');
};


subtest 'deleted' => sub {
    is(f('log_delete', $_), 1, "$_ is deleted") for 'c', '0:~', 'a.b.c';
    is(keys_left(), '', 'no key is left but of leases');

    log_configure('d', ns => 'n', task => 't', ret => 60, retry => 0);
    my $q = log_q('d');
    log_push('d', "lane $_", "a$_", "b$_") for 1 .. 300;

    for my $group (qw(g h)) {
        my $got = log_pop('d', group => $group, partitions => 5, batch => 10);
        is(log_ack($got, 'fc', group => $group, errors => { 0 => 'why' }), '1do',
           "a dead letter of $group");
    }

    log_pop('d', lane => 'other', group => 'x', wait => 1);
    ok(defined $r->call('ZSCORE', "$root:t", "l:$q"), 'it is on the agenda');
    hints();
    is(f('log_delete', 'd'), 1, 'deleted');
    is(hints(), $q, 'who waits is told');
    is(keys_left(), '', 'no key is left');
    is($r->call('ZSCORE', "$root:t", "l:$q"), undef, 'nor a place on the agenda');
    is(f('log_delete', 'd'), 0, 'once');

    log_push('d', 'lane 1', 'a1');
    isnt(log_q('d'), $q, 'another one of this name');
    is(ids(log_pop('d', group => 'g', batch => 9)), 'a1', 'has nothing of the old one');
    log_sound('the keys are in order');
};

done_testing();
