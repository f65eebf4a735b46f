#!/usr/bin/perl

# The Queen API while things break: a Redis that is killed amid transactions, one
# that is full, busy, or without functions; workers that are killed or reloaded
# under polls. What was answered is so, and nothing is there twice.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Queen;
use NgxQueues::Wait;

# what is answered is on disk, also where it is slow

my $s = NgxQueues::Queen::server(workers => 2, redis => {
    aof => 1, config => ['--appendfsync', 'always'] });
my $q = NgxQueues::Queen->new($s);
my $redis = $s->redis;

sub data { NgxQueues::Queen::data(@_) }
sub words { NgxQueues::Queen::words(@_) }

# until the store is there again, for both workers

sub again {
    wait_for {
        my @links = eval { $redis->cli(qw/CLIENT LIST/) =~ /name=ngx_queues-/g };

        @links == 4 && $s->client->get('/health')->{status} == 200;
    } 20
        or die "the store stays away\n";
}

# a step from one queue to the next: all that is popped, in one transaction

sub step {
    my ($client, $messages) = @_;

    return $client->start(POST => '/api/v1/transaction', {
        operations => [map { (
            { type => 'ack', transactionId => $_->{transactionId},
              partitionId => $_->{partitionId}, leaseId => $_->{leaseId} },
            { type => 'push', items => [{ queue => 'out', payload => $_->{data} }] }
        ) } @$messages],
        requiredLeases => [$messages->[0]{leaseId}],
    });
}

# pushes that may be sent again and steps that may not, while Redis is killed:
# whatever was answered is so, a message is moved once

my (@left, %pushed, @kinds) = 1 .. 600;

for my $round (1 .. 4) {
    my @now = splice @left, 0, 150;
    my @h = map { $s->client->start(POST => '/api/v1/push', { items => [
        { queue => 'in', partition => 'p' . $_ % 10, transactionId => "t$_",
          payload => $_ } ] }) } @now;

    push @h, map { step($s->client, $_) }
        map { my @m = $q->messages('in', batch => 5, leaseSeconds => 1);
              @m ? [@m] : () } 1 .. 8;

    $s->client->wait_any([$h[20 * $round]], 5);
    $redis->kill;

    my @r = $s->client->wait_all(\@h, 20);

    for my $i (0 .. $#now) {
        push @{ $r[$i]{status} == 201 ? \@kinds : \@left }, $now[$i];
        $pushed{$now[$i]} = 1 if $r[$i]{status} == 201;
    }

    is(scalar(grep { $_->{status} !~ /^(?:20[01]|503)$/ } @r), 0,
       "killed, $round: each has an answer");
    $redis->start;
    again();
}

cmp_ok(scalar @left, '<', 600, 'some were stored at once');
$q->push('in', map { { partition => 'p' . $_ % 10, transactionId => "t$_",
                       payload => $_ } } @left);

my $end = time + scaled(30);
my %out;

while (time < $end && keys %out < 600) {
    my @m = $q->messages('in', batch => 50, partitions => 10, leaseSeconds => 1);

    $s->client->wait_all([step($s->client, \@m)], 10) if @m;

    $out{$_->{data}}++
        for $q->messages('out', batch => 1000, autoAck => 'true',
                         @m ? () : (wait => 'true', timeout => 1000));
}

is(join(' ', sort { $a <=> $b } keys %out), join(' ', 1 .. 600),
   'nothing that was pushed is lost');
is(join(' ', grep { $out{$_} > 1 } keys %out), '', 'nothing was moved twice');

# functions that are gone are there again, without an error

my @calls = (
    sub { ($q->push('gone', 1, 2))[0]{status} },
    sub { data($q->messages('gone')) },
    sub { $q->post('ack', { transactionId => 'x', partitionId => 'y' })->{status} },
    sub { $q->extend('x')->{renewed} },
    sub { $q->post('transaction', { operations => [
        { type => 'push', queue => 'gone', payload => 3 } ] })->{json}{success} },
    sub { $q->configure('gone', leaseTime => 5)->{configured} },
);

for my $i (0 .. $#calls) {
    $redis->cli('FUNCTION', 'FLUSH');
    is($calls[$i]->(), ('queued', 1, 200, 0, 1, 1)[$i], "without functions: $i");
}

# a Redis that is full: what is there can be read and acknowledged

$q->push('full', 1 .. 3);
$redis->cli('CONFIG', 'SET', 'maxmemory', '1mb');

is($q->post('push', { items => [{ queue => 'full', payload => 4 }] })->{status}, 503,
   'full: no push');
is($q->post('transaction', { operations => [
    { type => 'push', queue => 'full', payload => 4 } ] })->{status}, 503,
   'no transaction');

my @m = $q->messages('full', batch => 2);

is(data(@m), '1 2', 'but a pop');
is(words($q->ack(\@m)), 'ok+released ok+released', 'and acks');
is(data($q->messages('full', batch => 9, autoAck => 'true')), '3', 'nothing more');
$redis->cli('CONFIG', 'SET', 'maxmemory', '0');
is(($q->push('full', 5))[0]{status}, 'queued', 'full no more');

# connections that are cut, polls over an outage, and one that outlasts it

my $h = $q->park('cut', timeout => 20_000, at => $s->client);

$redis->cli('CLIENT', 'KILL', 'TYPE', 'normal');
again();
$q->push('cut', 'x');
is(data(@{ ($s->client->wait_all([$h], 10))[0]{json}{messages} || [] }), 'x',
   'connections that are cut end no poll');

$h = $q->park('away', timeout => 1000, at => $s->client);
$redis->kill;

my $r = ($s->client->wait_all([$h], 10))[0];

is($r->{status}, 503, 'away at the end of a poll');
is($q->pop('away')->{status}, 503, 'a pop');

$r = $q->post('push', { items => [{ queue => 'away', payload => 1 }] });
is("$r->{status} " . ($r->{headers}{'retry-after'} // ''), '503 1', 'a push');
is($s->client->get('/health')->{status}, 503, 'health');
$redis->start;
again();

# workers that are killed or reloaded: no poll stays, no message is held

for my $how (qw/kill_worker reload/) {
    my $before = $q->calls;
    my @h = map { $q->park($how, timeout => 30_000, at => $s->client) } 1 .. 20;

    $q->parked($before, 20);
    $s->$how;

    my @was = grep { $s->client->wait_any([$_], 0.2) } @h;

    $q->push($how, map { { partition => "p$_", payload => $_ } } 1 .. 30);

    my @got = map { @{ ($_->result->{json} || {})->{messages} || [] } }
              grep { $s->client->wait_any([$_], scaled(2)) } @h;

    while (@got < 30 and my @m = $q->messages($how, batch => 30, partitions => 30)) {
        push @got, @m;
    }

    is(join(' ', sort { $a <=> $b } map { $_->{data} } @got), join(' ', 1 .. 30),
       "$how: each message is there once");
    $_->close for @h;
}

$s->finish;

done_testing;
