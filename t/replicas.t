#!/usr/bin/perl

# queues_redis_replicas: what is answered with 201 is on so many replicas, and
# outlasts the primary. Where they are not there a send is 503, in time, and
# nothing but sends notices.

use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes qw/sleep time/;

use NgxQueues::Process qw/slurp spurt temp_dir/;
use NgxQueues::Queue;
use NgxQueues::RedisServer;
use NgxQueues::Server;
use NgxQueues::Wait;

my $dir = temp_dir();
my $primary = NgxQueues::RedisServer->new(port => 1);
my $replica = NgxQueues::RedisServer->new(port => 1, replica_of => $primary);

chmod 0755, $dir;

# what nginx talks to: a link that a failover repoints

sub point_to {
    my ($redis) = @_;

    symlink $redis->socket, "$dir/new" or die "symlink: $!";
    rename "$dir/new", "$dir/redis.sock" or die "rename: $!";
}

point_to($primary);

sub node {
    my ($replicas, %options) = @_;

    my $http = delete $options{http} // '';

    return NgxQueues::Server->new(redis => $primary, queues => 0,
        %options, http => 'queues_secret_file ' . ($options{node_of}
        ? "$options{node_of}{secret_file}; queues_api_keys "
          . "$options{node_of}{keys_file};"
        : '%%DIR%%/secret; queues_api_keys %%DIR%%/keys;')
        . " queues_redis unix:$dir/redis.sock;"
        . " queues_redis_replicas $replicas; $http");
}

sub median { (sort { $a <=> $b } @_)[@_ / 2] }

# sends have much time at first, and little of it where it is looked at

my $s = node('1 10s', http => 'queues_redis_timeout 20s;');
my $c = $s->client;
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);
my $messages = $q->path('/messages');

sub unavailable {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is("$r->{status} " . ($r->{json}{error} // $r->{error} // '')
       . ($r->{headers}{'retry-after'} // ''), '503 unavailable1', $name);
}

# what is answered with 201, in seconds from now

sub stores {
    my ($name, $seconds) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $begin = time;

    wait_for {
        $c->post($messages, { body => "stores: $name" })->{status} == 201
        && $c->get($q->path)->{status} == 200
    } 10;
    cmp_ok(time - $begin, '<', scaled($seconds || 2), "$name: and it stores");
}

# with a replica

my $copy = $replica->client;
my $stream = $q->key =~ s/:h:(.*)/:m:$1:1/r;
my $behind = 0;

for my $n (1 .. 50) {
    $q->send("m$n");
    $behind++ if $copy->call('XLEN', $stream) != $n;
}

is($behind, 0, 'what is answered is on the replica');
is($c->post($q->{queues} . '/none/messages', { body => 'x' })->{status}, 404,
   'an error of the function');
is(scalar($q->drain), 50, 'receive');

# many at once: the worker finds them all when it runs again

my $before = $primary->calls('wait');
my ($worker) = $s->worker_pids;

kill STOP => $worker;

my @h = map {
    $c->start(POST => $messages, { body => "many $_" }, fresh => 1)
} 1 .. 300;

kill CONT => $worker;

my @r = $c->wait_all(\@h, 20);

is((grep { $_->{status} == 201 } @r), 300, 'many at once');

my $waits = $primary->calls('wait') - $before;

cmp_ok($waits, '<=', 100, "they share WAITs: $waits for 300");
cmp_ok($waits, '>', 0, 'and there are some');

# the library is gone: every send succeeds, and it is loaded once for each link

$before = $primary->calls('function|load');
is($primary->client->call(qw/FUNCTION FLUSH/), 'OK', 'FUNCTION FLUSH');
@r = $c->wait_all([map {
    $c->start(POST => $messages, { body => "flushed $_" }, fresh => 1)
} 1 .. 100], 20);
is((grep { $_->{status} == 201 } @r), 100, 'no send fails');
cmp_ok($primary->calls('function|load') - $before, '<=', 2, 'loaded once');
is($copy->call('XLEN', $stream), 450, 'and the replica has all');

# the connections are lost

$primary->client->call(qw/CLIENT KILL TYPE normal/);
stores('killed connections', 1);

# the replica stops: sends are refused in time, the rest goes on

$s->configure(http => $s->{http} =~ s/replicas 1 10s/replicas 1 1s/r
                                 =~ s/timeout 20s/timeout 3s/r);
$s->reload(drained => 30);

my $fifo = NgxQueues::Queue->new($s, kind => 'fifo');

my @m = $q->receive(maxMessages => 10);
my $empty = NgxQueues::Queue->new($s, name => 'empty');
my $parked = $empty->park(fresh => 1);

$empty->parked;
$replica->stop;

my $begin = time;
my @while;

@h = $c->start(POST => $empty->path('/messages'), { body => 'parked' },
               fresh => 1);
is($c->wait_any([$parked, $h[0]]), $parked, 'a parked receive does not wait');
is($parked->result->{json}{messages}[0]{body}, 'parked',
   'a message of a refused send may be there');

push @h, map { $c->start(POST => $messages, { body => "s$_" }, fresh => 1) }
    1 .. 20;

for (1 .. 20) {
    my $start = time;
    my ($m) = $q->receive;

    is($q->ack($m), 'ok', 'ack') if $_ == 1;
    $q->ack($m) if $_ > 1;
    push @while, time - $start;
}

cmp_ok(median(@while), '<', scaled(0.5), 'receives and acks do not wait');
unavailable($_, 'a send without the replica')
    for ($c->wait_all(\@h, scaled(5)))[0, 1, 20];

my $took = time - $begin;

cmp_ok($took, '>', 0.95, 'after the time of the directive');
cmp_ok($took, '<', scaled(2.8), 'and soon after it');

# sends that come meanwhile wait for the next round, not longer

@h = ();
$begin = time;

while (time - $begin < 1) {
    push @h, $c->start(POST => $messages, { body => 'x' }, fresh => 1);
    $c->wait_any([grep { !$_->{done} } @h], 0.02);
}

@r = $c->wait_all(\@h, scaled(5));
is((grep { $_->{status} == 503 } @r), scalar @r, 'all of a second: 503');
cmp_ok((sort { $b <=> $a } map { $_->{time} } @r)[0], '<', scaled(2.7),
       'within two rounds');
like($s->error_log, qr/the store is unavailable: stored, but not enough/,
     'the log says why');

# what is sent again is on no replica either, though a connection that has not
# written it finds it stored. Valkey, and Redis from 7.2, WAIT for a
# connection's own writes

my $again = { body => 'x', groupId => 'g', deduplicationId => 'd' };

unavailable($c->post($fifo->path('/messages'), $again), 'of a group');
$primary->client->call(qw/CLIENT KILL TYPE normal/);
ok(wait_for { $primary->client->call(qw/CLIENT LIST/) =~ /ngx_queues-sends/ },
   'another connection');

for my $name ('sent again', 'and again') {
    $begin = time;
    unavailable($c->post($fifo->path('/messages'), $again), $name);
    cmp_ok(time - $begin, '>', 0.28, "$name: waits for replicas");
}

$replica->cont;
stores('continued');
is($c->post($fifo->path('/messages'), $again)->{json}{messages}[0]{duplicate},
   1, 'sent again: a duplicate, which the replica has');

# the replica dies, and comes back

$replica->kill;
unavailable($c->post($messages, { body => 'x' }), 'killed: send');
is($q->ack($m[0]), 'ok', 'killed: ack');
$replica->start;
$replica->synced;
stores('started');

# the primary does not answer: the deadline of commands

$primary->stop;
$begin = time;
@r = $c->wait_all([map {
    $c->start(POST => $messages, { body => "stopped $_" }, fresh => 1)
} 1 .. 10], scaled(8));
$took = time - $begin;
unavailable($_, 'the primary is stopped') for @r[0, 9];
ok($took > 2.9 && $took < scaled(5.8), 'after its deadline') or diag($took);
$primary->cont;
stores('the primary goes on');

# two replicas are wanted, and one is there

my $two = node('2 1s', node_of => $s);
my $at = $two->client;

unavailable($at->post($messages, { body => 'two' }), 'one of two');

my $second = NgxQueues::RedisServer->new(port => 1, replica_of => $primary);

is($at->post($messages, { body => 'two' })->{status}, 201, 'two of two');
$two->finish;
$second->shutdown;

# a user who may not WAIT; that of docs/redis.md may

my ($acl) = slurp("$FindBin::Bin/../docs/redis.md")
    =~ /^ACL (SETUSER queues .*?)^```/ms or die "no ACL in docs/redis.md\n";
my ($password) = $acl =~ / >(\S+)/;

spurt("$dir/password", "$password\n", 0644);
$primary->client->call('ACL', split ' ', $acl);

my $user = node('1 1s', node_of => $s, http => 'queues_redis_user queues;'
    . " queues_redis_password_file $dir/password;");

$at = $user->client;
is($at->post($messages, { body => 'user' })->{status}, 201, 'a user');
$primary->client->call(qw/ACL SETUSER queues -wait/);
unavailable($at->post($messages, { body => 'user' }), 'who may not WAIT');
like($user->error_log, qr/lacks a permission: "NOPERM[^"]*'?wait/,
     'the log says so');
is($at->get($q->path)->{status}, 200, 'the rest goes on');
$user->finish;

# the primary dies in the middle of traffic. The replica takes its place, with
# another one behind it; nginx is told by the link alone

$q->drain(visibilityTimeoutSeconds => 600);

my $third = NgxQueues::RedisServer->new(port => 1, replica_of => $replica);
my (%sent, %answered, @running);
my ($n, $phase, $until) = (0, 'before', time + 0.7);

sub traffic {
    @running = map {
        my ($h, $body) = @$_;

        if ($h->{done}) {
            $answered{$body} = $phase if $h->result->{status} == 201;
            $sent{$body} = $h->result->{status};
        }

        $h->{done} ? () : $_;
    } @running;

    while (@running < 20) {
        my $body = 'f' . ++$n;

        push @running, [$c->start(POST => $messages, { body => $body }),
                        $body];
    }

    $c->wait_any([map { $_->[0] } @running], 0.05);
    sleep 0.01 if $phase eq 'away';
}

traffic() while time < $until;
$primary->kill;
$phase = 'away';
$until = time + 0.5;
traffic() while time < $until;
$replica->follow(undef);
point_to($replica);
$begin = time;

# until some that began after it have been stored

my $after = $n;

traffic() while !(grep { s/f//r > $after } keys %answered)
                && time - $begin < scaled(10);
cmp_ok(time - $begin, '<', scaled(3), 'the other one has taken over');
$until = time + 0.5;
traffic() while time < $until;
$_->[0]{done} || $c->wait_any([$_->[0]], 5) for @running;

cmp_ok(scalar(grep { $_ == 503 } values %sent), '>', 0, 'some were refused');
is((grep { $_ != 201 && $_ != 503 } values %sent), 0,
   'there was no other answer');

my %got;

$got{$_->{body}}++ for $q->drain;

my @lost = grep { !$got{$_} } keys %answered;

is("@lost", '', 'all of ' . keys(%answered) . ' that were stored are there');
is((grep { $_ > 1 } values %got), 0, 'once');
stores('the new primary');
is(join("\n", $replica->check), '', 'Redis has what it should have');

$s->finish;
$_->shutdown for $third, $replica;

done_testing;
