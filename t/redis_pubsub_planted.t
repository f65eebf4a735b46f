#!/usr/bin/perl

# The functions of redis/*.lua for Pub/Sub where another program has put a string in
# the place of a key.  When the key is back all is sound, whatever was called and
# answered.  Each call meets one key in SHARE, other ones each time: TEST_SEED=n takes
# those of a run again, TEST_SHARE=1 all of them.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Check;
use NgxQueues::Functions;
use NgxQueues::Topics;

my $share = $ENV{TEST_SHARE} // 6;
my $seed = $ENV{TEST_SEED} // int rand 1e6;

diag("TEST_SEED=$seed");

NgxQueues::Functions::start();

my (%q, %t, %k, %held, $token);

# standard and FIFO subscriptions: some with messages in flight, one by one and in
# batches, and dead letters that are due; one that is pushed, one to which a seek brings
# back messages; snapshots, a log
sub fill {
    $r->call('FLUSHALL');
    %t = map { $_ => topic($_, ret => $_ eq 't' ? 3600 : '') } qw(t dead);
    $q{dead} = subscribe('dead', 'dead');
    $q{deadf} = subscribe('deadf', 'dead', flags => 'o');

    for my $o ('', 'o') {
        $q{"s$o"} = subscribe("s$o", 't', flags => $o, dlq => 'dead', mrc => 2, ttl => 86400);
        $q{"y$o"} = subscribe("y$o", 't', flags => "r$o");
        $q{"n$o"} = subscribe("n$o", 't', flags => "e$o", min => 1000, max => 2000);
    }

    $q{f} = subscribe('f', 't', filter => filter([ h => 'k' ]));
    $q{p} = subscribe('p', 't', url => 'https://x/', x => 'x');
    $k{p} = $r->call('HGET', "$root:p", $q{p});
    publish('t', map { [ "a$_", k => $_, key => "k" . $_ % 4 ] } 1 .. 30);

    for my $o ('', 'o') {
        for my $round (1, 2) {
            my ($h, @m) = pull("s$o", 5);
            modify("s$o", $round == 1 ? 0 : 100, $m[0]);
            $held{"s$o"} = [ @m ];
            modify("s$o", 0, @m[1 .. $#m]) if $round == 1;
        }
        my ($h, @m) = pull("n$o", 6);
        modify("n$o", 50, $m[1]);
        $held{"n$o"} = [ @m ];
        f('snap_create', "snap------$o-" . ($o ? '' : '-'), "snap$o", "n$o", '');
    }

    publish('t', map { [ "b$_", key => "k" . $_ % 3 ] } 1 .. 120);
    f('sub_seek', "y$_", 't', 1) for '', 'o';
    publish('t', 'c');
    f('push_sync', 'w', 1);
    $held{p} = f('push_claim', $k{p}, 'w', 1, 1, $token = 700);

    # what was received twice is due to be a dead letter
    for my $q (@q{qw(s so)}) {
        soon($q, key('b', $q, 1), $_) for @{ $r->call('ZRANGE', key('b', $q, 1), 0, -1) };
        soon($q, key('f', $q, 1), $_) for @{ $r->call('ZRANGE', key('f', $q, 1), 0, -1) };
        my %d = @{ $r->call('HGETALL', key('d', $q, 1)) };
        $r->call('HSET', key('d', $q, 1), $_, $d{$_} =~ s/,[1-9]\d*;/,1;/gr)
            for $q eq $q{so} ? keys %d : ();
    }
}

sub claimed { my ($id) = $held{p}[7] =~ / (\S+)/; return $id }

my %both = (
    publish => sub { publish('t', [ 'x', k => 1, key => 'k1' ], 'y') },
    maintain => sub { f('maintain', 'm', 10) },
    'topic_create' => sub { topic('new', ret => 60) },
    'topic_update' => sub { f('topic_update', 't', 1, '', 60) },
    'topic_update to none' => sub { f('topic_update', 't', 1, '', '') },
    'topic_delete' => sub { f('topic_delete', 't') },
    'sub_create' => sub { subscribe('new', 't', flags => 'or', url => 'https://x/', x => 'x', ttl => 86400) },
    'detach push' => sub { f('sub_detach', 'p') },
    'push to pull' => sub { change('p', url => '') },
    'another endpoint' => sub { change('p', url => 'https://y/', x => 'x') },
    'push_claim' => sub { f('push_claim', $k{p}, 'w', 1, 1, 701) },
    'push_settle' => sub { f('push_settle', $k{p}, 'w', 1, 1, 702, 700, $q{p}, 1, '+', 1, claimed()) },
    'push fails' => sub { f('push_settle', $k{p}, 'w', 1, 1, '', 700, $q{p}, 1, '-x 0 m', 1, '', 1000, 1, claimed()) },
    look => sub {
        f(@$_) for ['topic_get', 't'], ['topic_list', '', 9], ['topic_subs', 't', '', 9],
            ['topic_snaps', 't', '', 9], ['sub_get', 's'], ['sub_count', 's'], ['sub_count', 'so'], ['sub_list', '', 9],
            ['snap_get', 'snap'], ['snap_list', '', 9];
    },
);

# of a standard and a FIFO subscription
for my $o ('', 'o') {
    my %calls = (
        pull => sub { f('sub_pull', "s$o", 100, 1, 801) },
        'pull of what comes back' => sub { f('sub_pull', "y$o", 100, 1, 802) },
        'pull with backoff' => sub { f('sub_pull', "n$o", 100, 1, 803) },
        ack => sub { acks("s$o", @{ $held{"s$o"} }) },
        'ack of a part' => sub { acks("n$o", @{ $held{"n$o"} }[0, 1, 3]) },
        nack => sub { modify("s$o", 0, @{ $held{"s$o"} }) },
        modify => sub { modify("n$o", 30, @{ $held{"n$o"} }[0, 1, 3]) },
        update => sub { change("s$o", flags => "r$o", ret => 7200) },
        'to push' => sub { change("s$o", flags => $o, url => 'https://z/', x => 'x') },
        delete => sub { f('sub_delete', "s$o") },
        'delete one that comes back' => sub { f('sub_delete', "y$o") },
        detach => sub { f('sub_detach', "y$o") },
        'seek to a time' => sub { f('sub_seek', "s$o", 't', 1) },
        'seek again' => sub { f('sub_seek', "y$o", 't', 1) },
        'seek to what comes' => sub { f('sub_seek', "y$o", 't', 9e12) },
        'seek to a snapshot' => sub { f('sub_seek', "s$o", 's', "snap$o") },
        'snap_create' => sub { f('snap_create', 'new---------', 'new', "s$o", '') },
        'snap_create of what comes back' => sub { f('snap_create', 'new---------', 'new', "y$o", '') },
        'snap_update' => sub { f('snap_update', "snap$o", 1, '') },
        'snap_delete' => sub { f('snap_delete', "snap$o") },
    );

    $both{"$_, " . ($o ? 'FIFO' : 'standard')} = $calls{$_} for keys %calls;
}

# what is filled once is kept in another database

my $copy = q{for _, key in ipairs(redis.call('KEYS', '*')) do
                 redis.call('COPY', key, key, 'DB', ARGV[1])
             end};

sub again {
    $r->call('FLUSHDB');
    $r->call('SELECT', 1);
    $r->call('EVAL', $copy, 0, 0);
    $r->call('SELECT', 0);
}

# whether anything is other than it was

sub state {
    return $r->call('EVAL', q{local keys, all = redis.call('KEYS', '*'), {}
                              table.sort(keys)
                              for i, key in ipairs(keys) do
                                  all[i] = key .. redis.sha1hex(redis.call('DUMP', key))
                              end
                              return redis.sha1hex(table.concat(all))}, 0);
}

fill();
$r->call('EVAL', $copy, 0, 1);

my @p = NgxQueues::Check::check($r);
my $keys = @{ $r->call('KEYS', "$root:*") };

is("@p", '', "$keys keys");

for my $what (sort keys %both) {
    my @bad;

    again();
    my $reply = $both{$what}->();
    @p = NgxQueues::Check::check($r);
    push @bad, "nothing: $reply @p" if @p || "$reply" =~ /attempt|script_error|ARGUMENT/i;
    again();

    my $before = state();
    my @keys = grep { !/:a$/ && $seed++ % $share == 0 } sort @{ $r->call('KEYS', "$root:*") };

    for my $key (@keys) {
        $r->call('RENAME', $key, 'away');
        $r->call('SET', $key, 'planted');
        $reply = eval { $both{$what}->() } // $@;
        push @bad, "$key: $reply" if "$reply" =~ /attempt|script_error/i;

        # what was to be removed is removed, whatever it is
        $r->call($r->call('UNLINK', $key) ? ('RENAME', 'away', $key) : ('DEL', 'away'));
        next if state() eq $before;
        push @bad, "$key: $reply, and it has changed something"
            if "$reply" =~ /WRONGTYPE/ && $what ne 'publish';

        # what could not be looked after is looked after later
        $r->call('ZADD', "$root:t", 'XX', 1, $_)
            for $what eq 'maintain' ? @{ $r->call('ZRANGE', "$root:t", 0, -1) } : ();
        @p = NgxQueues::Check::check($r);
        push @bad, "$key: $reply: @p[0 .. ($#p < 1 ? $#p : 1)]" if @p;
        again();
    }

    is(join("\n", @bad), '', $what);
}

done_testing;
