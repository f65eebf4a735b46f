#!/usr/bin/perl

# Subscriptions under a random mix of all that may happen: workers that come and
# die, pauses, changes, failures, pull consumers.  All that docs/redis.md says
# holds every few steps; none has more deliveries at once than it may, or one
# while it is paused; and in the end each message was handled or is there.
#
# TEST_SEED=n runs a history again, TEST_STEPS=n makes it longer.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Check;
use NgxQueues::Functions;

NgxQueues::Functions::start();

my $seed = $ENV{TEST_SEED} // int rand 1e6;
my $steps = $ENV{TEST_STEPS} // 2500;
my ($n, $serial, $token) = (0, 0, 1e6);
my (%queue, %job, @open, %sent, %done, @workers);
my %paused;

srand $seed;
diag("TEST_SEED=$seed");

sub any { $_[rand @_] }
sub now { my ($s, $us) = @{ $r->call('TIME') }; $s * 1000 + int($us / 1000) }
sub call_ { my $reply = f(@_); die "$_[0]: $reply\n"
            if ref $reply eq 'NgxQueues::Redis::Error'
               && $reply !~ /^QUEUES (?:NOSUB|INUSE|NOQUEUE)/;
            return $reply }

sub add {
    my $kind = any('standard', 'fifo');
    my $dead = rand() < .5 && create('d' . ++$n, kind => $kind);
    my $q = create('q' . ++$n, kind => $kind, vt => any(0, 5, 60),
                   $dead ? (dlq => $dead, mrc => any(1 .. 4)) : ());
    my $k = sprintf 'k%011d', $n;
    my $st = any('a', 'a', 'a', 'p');

    $queue{$k} = { q => $q, kind => $kind, dead => $dead, mc => any(1 .. 3) };
    $paused{$k} = $st eq 'p';
    call_('subscription_create', "q$q", $k, uuid(1000 + $n), 'https://x/', 20,
          any(1 .. 10), $queue{$k}{mc}, $st, 'S');
}

# what a reply of a claim says; a job of before may be told that it is over

sub claimed {
    my ($worker, $k, $reply, $claim) = @_;
    my ($code, undef, @rest) = @$reply;

    if ($code == 1) {
        delete $job{$worker}{$k};
    } elsif ($code == 2) {
        $job{$worker}{$k} = { fence => $rest[2], ver => $rest[3] };
    }

    die "$k was claimed, and is paused\n" if $code == 0 && $paused{$k};
    die "$k was claimed, and is gone\n" if $code == 0 && !$queue{$k};
    return if $code || @rest <= 6;

    my $fifo = $rest[5] =~ /^f/;
    my $of = $queue{$k};

    # those that are not given up
    die "$k has more deliveries than it may\n"
        if $r->call('ZCOUNT', "$root:pd:$k", now(), '+inf') > $of->{mc};

    shift @rest;
    my @m = NgxQueues::Functions->can($fifo ? '_fifo' : '_standard')->(\@rest);

    push @open, { k => $k, worker => $worker, token => $claim // $token, q => $rest[0],
                  gen => $rest[1], m => [ map { ref eq 'HASH' ? $_
                  : { id => $_->[0], body => $_->[1] =~ tr/"//dr,
                      count => $_->[3] } } @m ] };
}

my %do = (
    join => sub { push @workers, 'w' . ++$n if @workers < 4 },

    sync => sub {
        my $worker = any(@workers) // return;
        my $reply = call_('push_sync', $worker, any(0 .. 6));
        my ($owned, $renewed, $lost, @rest) = @$reply[1, 3, 5 .. $#$reply];

        $job{$worker} = {} unless $renewed;
        delete $job{$worker}{$_} for splice @rest, 0, $lost;
        while (my @j = splice @rest, 0, 11) {
            $job{$worker}{ $j[0] } = { fence => $j[2], ver => $j[3] };
        }
    },

    # one dies: its deliveries are given up, its messages come back
    die => sub {
        my $worker = any(@workers) // return;

        @workers = grep { $_ ne $worker } @workers;
        @open = grep { $_->{worker} ne $worker } @open;
        delete $job{$worker};
        $r->call('ZADD', "$root:pw", 'XX', 1, $worker);
    },

    send => sub {
        my $k = any(sort keys %queue) // return;
        my @bodies = map { ++$serial } 1 .. 1 + rand 8;

        $sent{$_} = $k for @bodies;
        $queue{$k}{kind} eq 'fifo'
            ? put_fifo($queue{$k}{q}, any('a' .. 'd'), @bodies)
            : put($queue{$k}{q}, '', @bodies);
    },

    claim => sub {
        my $worker = any(grep { %{ $job{$_} // {} } } @workers) // return;
        my $k = any(sort keys %{ $job{$worker} });
        my $j = $job{$worker}{$k};

        claimed($worker, $k, call_('push_claim', $k, $worker, @$j{qw(fence ver)},
                                   ++$token));
    },

    settle => sub {
        my $d = splice @open, rand @open, 1 or return;
        my ($k, $worker) = @$d{qw(k worker)};
        my $j = $job{$worker}{$k} // { fence => 0, ver => 0 };
        my $how = any('+', '+', '+', '-http 503 x', '-timeout 0 ', 'u');
        my (@ok, @failed, %bad);

        for my $m (@{ $d->{m} }) {
            my $fails = $how =~ /^-/ || ($how eq '+' && rand() < .1);

            # the later ones of a group fail with it
            $fails = 1 if defined $m->{group} && $bad{ $m->{group} }
                          && $how ne 'u';
            $bad{ $m->{group} } = 1 if defined $m->{group} && $fails;
            $fails ? push @failed, [ any(0, 10, 2000), $m ] : push @ok, $m;
        }

        my @args = ($k, $worker, @$j{qw(fence ver)}, rand() < .7 ? ++$token : '',
            @$d{qw(token q gen)}, $how, any('', 0, 3),
            join(' ', map { $_->{id} } @ok),
            map { ($_->[0], $_->[1]{count}, $_->[1]{id}) } @failed);

        if (rand() < .1) {                      # twice
            local $args[4] = '';
            call_('push_settle', @args);
        }

        my $reply = call_('push_settle', @args);

        if ($how ne 'u') { $done{ $_->{body} }++ for @ok }
        shift @$reply;
        claimed($worker, $k, $reply);
    },

    # several of a subscription, all messages of which were handled
    done => sub {
        my $first = any(@open) // return;
        my ($k, $worker) = @$first{qw(k worker)};
        my @of = grep { $_->{k} eq $k && $_->{worker} eq $worker
                        && "$_->{q} $_->{gen}" eq "$first->{q} $first->{gen}" }
                 @open;
        my $j = $job{$worker}{$k} // { fence => 0, ver => 0 };
        my @new = map { ++$token } 1 .. rand 4;

        @open = grep { my $d = $_; !grep { $_ == $d } @of } @open;
        @of = reverse @of if rand() < .5;
        push @of, { token => 1, m => [ { id => '1-1' } ] } if rand() < .1;

        my @args = ($k, $worker, @$j{qw(fence ver)}, "@new", any('', 0, 3),
            @$first{qw(q gen)}, map {
                ($_->{token}, join ' ', map { $_->{id} } @{ $_->{m} }) } @of);

        if (rand() < .1) {                      # twice
            local $args[4] = '';
            call_('push_done', @args);
        }

        my @reply = @{ call_('push_done', @args) };

        $done{ $_->{body} }++ for grep { exists $_->{body} }
                                  map { @{ $_->{m} } } @of;
        shift @reply;

        while (@reply) {
            claimed($worker, $k, [ splice @reply, 0, shift @reply ],
                    shift @new);
        }
    },

    pause => sub {
        my $k = any(sort keys %queue) // return;
        my $st = any('p', 'a', 'a');

        $paused{$k} = $st eq 'p'
            if ref call_('subscription_state', "q$k", $st) eq 'ARRAY';
    },

    update => sub {
        my $k = any(sort keys %queue) // return;
        my $of = $queue{$k};

        if (rand() < .3) {
            call_('subscription_rotate', "q$k", 'S' . ++$n);
        } else {
            $of->{mc} = any(1 .. 3);
            call_('subscription_update', "q$k", 'mc', $of->{mc}, 'bs',
                  any(1 .. 10));
        }
    },

    pull => sub {
        my $k = any(sort keys %queue) // return;
        my ($q, $kind) = @{ $queue{$k} }{qw(q kind)};
        my (undef, @m) = $kind eq 'fifo' ? take_fifo($q, 5, 5) : take($q, 5, 5);

        for my $m (@m) {
            my ($id, $body) = ref $m eq 'HASH' ? @$m{qw(id body)}
                                               : ($m->[0], $m->[1] =~ tr/"//dr);

            $done{$body}++ if ack($q, 1, $id, token())->[0];
        }
    },

    # a queue, or a subscription, goes
    delete => sub {
        my $k = any(sort keys %queue) // return;
        my $of = delete $queue{$k};

        if (rand() < .5) {
            call_('queue_delete', "q$of->{q}");
        } else {
            call_('subscription_delete', "q$k");
            my $moved = sprintf 'k%011d', ++$n;
            call_('subscription_create', "q$of->{q}", $moved,
                  uuid(1000 + $n), 'https://x/', 20, 5, $of->{mc}, 'a', 'S');
            $queue{$moved} = $of;
            for (values %sent) { $_ = $moved if $_ eq $k }
        }

        add();
    },

    tend => sub { tend() },
    elapse => sub { elapse(300); @open = grep { rand() < .5 } @open },
);

my %often = (join => 4, sync => 30, die => 2, send => 40, claim => 60,
             settle => 40, done => 30, pause => 5, update => 3, pull => 3, delete => 1,
             tend => 3, elapse => 1);
my @pick = map { ($_) x $often{$_} } sort keys %often;
my @bad;

add() for 1 .. 6;

for my $step (1 .. $steps) {
    my $name = any(@pick);

    eval { $do{$name}->(); 1 } or push @bad, "step $step, $name: $@";
    push @bad, map { "step $step, $name: $_" } NgxQueues::Check::check($r, $lib)
        if $step % 10 == 0 || $name =~ /^(?:delete|elapse|die)\z/;
    last if @bad;
}

is(join("\n", @bad), '', "$steps steps");
cmp_ok(scalar keys %done, '>', $steps / 20, scalar(keys %done)
       . ' messages were handled');

# what was not handled is in its queue, or in the dead-letter queue

my %there;

for my $k (sort keys %queue) {
    my $of = $queue{$k};

    for my $q ($of->{q}, $of->{dead} || ()) {
        my @values = $of->{kind} eq 'fifo'
            ? @{ $r->call('HVALS', key('u', $q, 1)) }
            : map { $_->[1][1] } map { @{ $r->call('XRANGE', key($_, $q, 1),
                                                    '-', '+') } } qw(m z);

        $there{$_} = 1 for map { /"(\d+)"/ } @values;
    }
}

my @lost = grep { $queue{ $sent{$_} } && !$done{$_} && !$there{$_} }
           sort keys %sent;

is("@lost", '', 'none is lost');
sound('all is well');

done_testing;
