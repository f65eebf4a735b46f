#!/usr/bin/perl

# A Redis that permits little: the user of docs/redis.md is enough for all
# calls, and where hints are refused a waiting receive looks by itself.

use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Process qw/slurp spurt temp_dir/;
use NgxQueues::Queue;
use NgxQueues::RedisServer;
use NgxQueues::Server;
use NgxQueues::Wait;

my $redis = NgxQueues::RedisServer->new;
my $admin = $redis->client;
my ($acl) = slurp("$FindBin::Bin/../docs/redis.md")
    =~ /^ACL (SETUSER queues .*?)^```/ms or die "no ACL in docs/redis.md\n";

# a name is for people who look at CLIENT LIST: without it all goes on

$acl =~ s/\+client\|setname // or die "no CLIENT SETNAME in docs/redis.md\n";

is($admin->call('ACL', split ' ', $acl), 'OK', 'the user of the page');

my ($password) = $acl =~ / >(\S+)/;
my $dir = temp_dir();

spurt("$dir/password", "$password\n", 0600);

my $s = NgxQueues::Server->new(redis => $redis, workers => 2, http =>
    "queues_redis_user queues; queues_redis_password_file $dir/password;",
    locations => 'location / { queues_api; }
                  location = /metrics { queues_metrics; queues_auth off; }');
my $c = $s->client;
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);

sub bodies { join ' ', map { $_->{body} } @_ }

# what a parked receive has got; at the end of its wait it has nothing

sub got {
    my ($h, $body, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my ($r) = $c->wait_all([$h], scaled(25));
    my @m = @{ $r->{json}{messages} || [] };

    is(bodies(@m), $body, $name) or diag(explain($r));
    is($q->ack(@m), 'ok', "$name: ack") if @m;
}

# connections of the module as Redis has them; SHARDNUMSUB needs none of it

my @clients = grep { /\buser=queues\b/ } split /\n/,
    $admin->call('CLIENT', 'LIST');

cmp_ok(scalar @clients, '>=', 2, 'connections of this user');
is((grep { /\bname=ngx/ } @clients), 0, 'CLIENT SETNAME is refused, and it is'
   . ' no matter');

# what queues_redis_replicas needs; t/replicas.t has the rest of it

{
    my $user = $redis->client;

    is($user->call('AUTH', 'queues', $password), 'OK', 'AUTH');
    is($user->call('WAIT', 0, 1), 0, 'WAIT');
}

# every call

my @ids = $q->send('a', { body => 'b', delaySeconds => 1 },
                   { body => 'c', attributes => { k => 'v' } });

is(@ids, 3, 'send');

my @m = $q->receive(maxMessages => 10);

is(bodies(@m), 'a c', 'receive');
is($q->visibility(0, $m[0]), 'ok', 'release');
is(bodies($q->receive), 'a', 'and receive again');
is($q->visibility(1, $m[1]), 'ok', 'visibility');
is($q->ack($m[1], $m[1]), 'ok stale', 'ack');
is(bodies($q->receive(waitSeconds => 5)), 'b', 'a delay ends during a wait');

for my $n (1 .. 6) {
    my $h = $q->park(fresh => 1);

    $q->parked;
    $q->send({ at => $s->client }, "woken $n");
    got($h, "woken $n", "a long poll woken by a send, $n");
}

my $path = $q->path;

is($c->request(PATCH => $path, { delaySeconds => 0 })->{status}, 200,
   'update');
is($q->counts, '0 2 0', 'get, with its counts');
is($c->get($q->{queues})->{json}{queues}[0]{name}, $q->name, 'list');
is($c->post("$path/purge")->{status}, 202, 'purge');

my $scrape;

ok(wait_for(sub { $scrape = $c->get('/metrics')->{body}; $scrape =~ /^queues_queue_messages\{/m }),
   'metrics');
is($c->delete($path)->{status}, 204, 'delete');
ok(wait_for(sub {
    $scrape = $c->get('/metrics')->{body};
    $admin->call('ZADD', 'ngxq:{ngxq:known}:x', 'XX', 1, $q->root);
    $scrape !~ /^queues_project_queues\{/m;
}), 'a project is forgotten');

# also after the connections were lost, and with the library gone

$redis->cli(qw/CLIENT KILL USER queues/);
$admin->call('FUNCTION', 'FLUSH');

# each worker comes back by itself: one connection, so one worker, for this

$q = wait_for {
    eval { NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60) }
} 10 or die "it does not come back: $@\n";
$q->send('again');
is($q->ack($q->receive), 'ok', 'another connection, the library once more');
unlike($redis->log . $s->error_log, qr/\Q$password/, 'no password in a log');
unlike($s->error_log, qr/NOPERM|hints are refused/, 'nothing was refused');

# where CLIENT SETNAME is permitted, the connections have names

$redis->cli(qw/ACL SETUSER queues +client|setname/);
$redis->cli(qw/CLIENT KILL USER queues/);
ok(wait_for(sub {
    $redis->cli('CLIENT', 'LIST') =~ /\bname=ngx_queues-hints .*user=queues/
}, 10), 'names where they may be');

$s->finish;

# hints are refused: the command, or the channel

for my $refuse ([['-ssubscribe'], ['+ssubscribe']],
                [['resetchannels'], ['allchannels']],
                [['resetchannels', '&other:*'], ['resetchannels', '&ngxq:*']])
{
    my ($no, $yes) = @$refuse;

    # Redis asks who may publish as well as who may subscribe; the one who
    # sends is of another server, with rights of its own

    my $name = "@$no";
    my $other = NgxQueues::Server->new(redis => $redis,
        http => "queues_redis_user all; queues_redis_password_file"
                . " $dir/password;", start => 0);

    $admin->call('ACL', 'SETUSER', 'all', 'reset', 'on', ">$password",
                 '~*', '&*', '+@all');
    $admin->call('ACL', 'SETUSER', 'waits', 'reset', 'on', ">$password", '~*',
                 '&*', '+@all', @$no);
    $other->start;
    $s = NgxQueues::Server->new(node_of => $other, http =>
        "queues_redis_user waits; queues_redis_password_file $dir/password;");
    $c = $s->client;
    $q = NgxQueues::Queue->new($s, client => $c, name => "r" . $s->port,
                               visibilityTimeoutSeconds => 60);

    # what is sent meanwhile, nothing at all, and a delay, which needs no hint

    my $empty = NgxQueues::Queue->new($s);
    my $due = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);

    $due->send({ at => $other->client }, { body => 'due', delaySeconds => 1 });

    my $calls = $q->calls;
    my $begin = time;
    my @h = map { $_->park(fresh => 1, waitSeconds => 5) } $q, $empty, $due;

    ok(wait_for(sub { $s->error_log =~ /hints are refused: "NOPERM/ }, 5),
       "$name: the log tells");
    wait_for { $q->calls >= $calls + 3 } 5 or fail("$name: all wait");
    $q->send({ at => $other->client }, 'meanwhile');
    got($h[2], 'due', "$name: a delay ends");
    got($h[0], 'meanwhile', "$name: found by a look");
    got($h[1], '', "$name: nothing is found");

    my $took = time - $begin;

    ok($took > 4.9 && $took < 10, "$name: and that at its end")
        or diag($took);

    # mended

    $admin->call('ACL', 'SETUSER', 'waits', @$yes);

    my $h = $q->park(fresh => 1);

    $q->parked;
    $q->send({ at => $other->client }, 'hint');
    got($h, 'hint', "$name: mended, and woken at once");

    $s->finish;
    $other->finish;
}

is(join("\n", $redis->check), '', 'Redis has what it should have');
$redis->shutdown;

done_testing;
