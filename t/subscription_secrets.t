#!/usr/bin/perl

# Signing secrets: shown once, sealed at rest, in no log and not left in
# memory; what a rotation keeps of them.

use strict;
use warnings;

use IO::Socket::UNIX;
use MIME::Base64 qw/decode_base64url encode_base64url/;
use Test::More;

use NgxQueues::Client;
use NgxQueues::Memory;
use NgxQueues::Process 'slurp';
use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(workers => 1, http2 => 1, tls => 1,
    log_level => 'debug', http => <<'');
log_format all '$request $status $queues_operation $queues_queue '
    '$queues_principal $queues_messages $queues_error $sent_http_content_type';
access_log %%DIR%%/all.log all;

my $c = $s->client;
my $redis = $s->redis->client;
my $root = 'ngxq:{o/p}';
my $subs = '/v1/organizations/o/projects/p/subscriptions';

# everything that is sent to Redis as well

my $monitor = IO::Socket::UNIX->new(Peer => $s->redis->socket) or die $!;

$monitor->syswrite("MONITOR\r\n");
$monitor->sysread(my $monitored, 5) or die $!;

my @secrets;

sub secret {
    my ($r) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    like($r->{json}{signingSecret} // '', qr/^whsec_[A-Za-z0-9]{43}$/, 'a secret');
    push @secrets, $r->{json}{signingSecret};

    my $bytes = decode_base64url(substr $secrets[-1], 6);

    is(length $bytes, 32, 'of 32 bytes');
    is(encode_base64url($bytes), substr($secrets[-1], 6), 'base64url');

    return $r;
}

# what is kept of them: [UNTIL, SEALED], the newest first

sub kept {
    my ($r) = @_;

    my @words = split / /, $redis->call(
        'HGET', "$root:s:" . substr($r->{json}{subscription}, 4), 'sec');

    return map { [@words[2 * $_, 2 * $_ + 1]] } 0 .. $#words / 2;
}

sub forms { NgxQueues::Memory::forms(decode_base64url(substr $_[0], 6)) }

sub found {
    my ($where) = @_;

    return scalar grep { index($where, $_) >= 0 } map { forms($_) } @secrets;
}

my @q = map { NgxQueues::Queue->new($s) } 1 .. 12;

sub body {
    return { queueId => $_[0]->name,
             target => { url => 'https://hooks.example.com/' } };
}

# create: one key, for good

my $first = secret($c->post($subs, body($q[0])));
my @kept = kept($first);

is(scalar @kept, 1, 'one secret');
is($kept[0][0], 0, 'for good');
like($kept[0][1], qr/^A[A-Za-z0-9_-]{81}$/, 'sealed');

my $one = $kept[0][1];
my $id = $first->{json}{subscription};

# rotate: the one before is kept for a day

my $now = $redis->call('TIME')->[0];

secret($c->post("$subs/$id/rotate-secret"));
@kept = kept($first);
is(scalar @kept, 2, 'two');
is($kept[0][0], 0, 'the new one for good');
isnt($kept[0][1], $one, 'which is another');
is($kept[1][1], $one, 'and the one before, as it was');
cmp_ok($kept[1][0], '>=', $now + 86400, 'for 24 hours');
cmp_ok($kept[1][0], '<=', $now + 86410, 'not longer');

# twice within a day: each for a day of its own; four at most

for my $n (3 .. 6) {
    my @before = kept($first);

    secret($c->post("$subs/$first->{json}{subscriptionId}/rotate-secret", {}));
    @kept = kept($first);
    is(scalar @kept, $n < 4 ? $n : 4, 'so many');
    is(join(' ', map { $_->[1] } @kept[1 .. $#kept]),
       join(' ', map { $_->[1] } @before[0 .. $#kept - 1]), 'those before');
    is($kept[$_][0], $before[$_ - 1][0], 'each until its own end')
        for 2 .. $#kept;
}

# those that have ended go

my @words = map { ($_->[0] && $_->[0] - 86400, $_->[1]) } @kept;

$redis->call('HSET', "$root:s:" . substr($id, 4), 'sec', "@words[0 .. 3]");
secret($c->post("$subs/$id/rotate-secret"));
is(scalar(kept($first)), 2, 'one that has ended is gone');

# pause, update and the like leave them

@kept = map { @$_ } kept($first);
$c->patch("$subs/$id", { batchSize => 1 });
$c->post("$subs/$id/$_") for qw/pause resume/;
is(join(' ', map { @$_ } kept($first)), "@kept", 'nothing else changes them');

# more of them, by every way that an answer may take, and with a key

secret($s->client(tls => 1)->post($subs, body($q[1])));
secret(NgxQueues::Client::h2(port => $s->h2_port, key => $s->key,
    method => 'POST', path => $subs, body => body($q[2])));
secret($c->post($subs, body($q[3]), headers => { 'Idempotency-Key' => 'k' }));
is($c->post($subs, body($q[3]), headers => { 'Idempotency-Key' => 'k' })
       ->{json}{signingSecret}, undef, 'not twice');

for my $n (4 .. 11) {
    my $r = secret($c->post($subs, body($q[$n]), close => $n % 2));

    secret($c->post("$subs/$r->{json}{subscription}/rotate-secret"));
}

my %seen;

is((grep { $seen{$_}++ } @secrets), 0, 'all of them differ');
is(found("xx $secrets[3] xx"), 1, 'what is searched for would be found');

# in no other answer

for my $path ($subs, "$subs?queue=" . $q[0]->name, "$subs/$id") {
    my $r = $c->get($path);

    is($r->{status}, 200, $path);
    is(found($r->{body}), 0, 'no secret');
    unlike($r->{body}, qr/signingSecret|whsec/, 'nor its name');
}

# nowhere in Redis

sub value {
    my ($key) = @_;

    my $type = $redis->call('TYPE', $key);
    my %read = (string => ['GET', $key], hash => ['HGETALL', $key],
                set => ['SMEMBERS', $key], list => ['LRANGE', $key, 0, -1],
                zset => ['ZRANGE', $key, 0, -1, 'WITHSCORES'],
                stream => ['XRANGE', $key, '-', '+']);

    return flat($redis->call(@{ $read{$type} || die "$key: $type\n" }));
}

sub flat { join ' ', map { ref $_ ? flat(@$_) : $_ // '' } map { ref $_ ? @$_ : $_ } @_ }

my @keys = @{ $redis->call('KEYS', '*') };
my $all = join ' ', @keys, map { value($_) } @keys;

like($all, qr/\Q$one\E|\Q$kept[1]\E/, 'the sealed ones are there');
is(found($all), 0, 'no secret is in Redis');

# nor was any sent there

$redis->call('ECHO', 'the end');
1 while $monitored !~ /"the end"/
        && $monitor->sysread($monitored, 1 << 20, length $monitored);
like($monitored, qr/subscription_create.*subscription_rotate.*the end/s,
     'all was seen');
is(found($monitored =~ s/\\x([0-9a-f]{2})/chr hex $1/ger), 0,
   'no secret is sent to Redis');

# in no log, at the level debug

ok(wait_for { slurp($s->dir . '/all.log') =~ /RotateSubscriptionSecret o\/p\/q12/ },
   'the log is written');
is(found(slurp($_)), 0, "none is in $_") for glob $s->dir . '/*.log';

# nor in the worker, once its requests are over: see t/secret_memory.t, too

my $memory = NgxQueues::Memory->new($s->worker_pids);

like($memory->found($s->dir), qr/./, 'memory is read');
is($memory->gone(NgxQueues::Memory::parts(map { forms($_) } @secrets)), '',
   'none is left in memory, nor part of one');

$s->finish;

done_testing;
