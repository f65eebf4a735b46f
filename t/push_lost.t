#!/usr/bin/perl

# What workers know of each other is lost, or wrong, and workers that stand still
# or are cut off: subscriptions find somebody who delivers all the same.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw/time sleep/;

use NgxQueues::Calls;
use NgxQueues::Push;
use NgxQueues::Wait;

my $p = NgxQueues::Push->new(workers => 1);
my $redis = $p->server->redis->client;
my @s = map { $p->subscribe } 1 .. 8;
my $node = $p->node(workers => 1);
my $root = $s[0]->queue->root;
my $members = 'ngxq:{push}';

sub owners {
    my %owners;

    for my $s (@s) {
        my $key = "$root:s:" . $s->is('subscription') =~ s/^qsb_//r;

        $owners{ $redis->call('HGET', $key, 'o') }++;
    }

    my $free = delete $owners{''};

    return join ' ', (map { $owners{$_} } sort keys %owners),
                     $free ? "$free free" : ();
}

sub owned { my $should = shift; wait_for { owners() eq $should } }

sub delivered {
    my ($name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    $_->send('x') for @s;
    is((grep { !$_->done } @s), 0, "$name: all deliver");
}

ok(owned('4 4'), 'each has a half') or diag(owners());

# a node that dies is noticed at the end of its lease, which is never longer

sub now_ms {
    my ($seconds, $us) = @{ $redis->call('TIME') };

    return 1000 * $seconds + $us / 1000;
}

sub ends { @{ $redis->call('ZRANGE', $_[0], 0, -1, 'WITHSCORES') } }

my $now = now_ms();
my %ends = ends("$root:pw");

is((grep { $_ > $now + 6000 } values %ends), 0, 'leases end after 6 s');
is(scalar keys %ends, 2, 'of both nodes');

# The other one, which is told when that is, looks then, and not when its own turn comes,
# two seconds after the last one. It is woken shortly before, so that these are two
# moments.

my $calls = NgxQueues::Calls->new($p->server->redis);
my ($dead, @joins);

$node->kill;
%ends = ends("$members:m");
wait_for {
    my %now = ends("$members:m");
    my @same = grep { $ends{$_} == ($now{$_} // 0) } keys %ends;

    $dead = $ends{ $same[0] };
    @same == 1;
};
wait_for { now_ms() > $dead - 600 };
$redis->call('SPUBLISH', "$members:w", 'm');
wait_for {
    @joins = map { 1000 * $_->{at} } $calls->seen('push_join');
    $joins[-1] >= $dead;
};
cmp_ok($joins[-1] - $joins[-2], '<', 1900, 'a dead node: at once')
    or diag("$dead: @joins");
ok(owned('8'), 'a dead node') or diag(owners());
$node->start;
ok(owned('4 4'), 'it comes again') or diag(owners());

# the registry, and a worker that was not there before

$redis->call('DEL', map { "$members:$_" } qw/m n p x/);
ok((wait_for { ($redis->call('HGET', "$members:n", $root) // '') eq 8 }),
   'the lost registry: what there is is noted again');
$node->kill;
$node->start;
ok(owned('4 4'), 'a new worker knows of it') or diag(owners());
delivered('the registry');

# who owns what

for my $lost (qw/pf pw po/) {
    $redis->call('DEL', @{ $redis->call('KEYS', "$root:$lost*") },
                 "$root:none");
    $node->kill;
    $node->start;
    ok(owned('4 4'), "$lost is lost") or diag(owners());
    delivered($lost);
}

# two workers tell of a pause and a resume, and the first comes last

my $s = $p->subscribe(queue => { project => 'o/one' });
my $one = $s->queue->root;
my $told = sub { $redis->call('HGET', "$members:n", $one) // 'none' };
my ($note) = grep { /_push_note\z/ } map {
    my %library = @$_;
    map { my %function = @$_; $function{name} } @{ $library{functions} }
} @{ $redis->call('FUNCTION', 'LIST') };

$s->send('a');
ok($s->done, 'one of another project');
$s->pause;
$s->resume;
$redis->call('FCALL', $note, 1, $members, $one, 0);
ok((wait_for { $told->() eq 1 }), 'a number that is wrong is put right');
$s->send('b');
ok($s->done, 'and it goes on');

# a worker that stood still for longer than its lease: what it had not sent yet
# is for the new owner

my $e = $p->another_endpoint;
my $still = $p->subscribe(endpoint => $e, queue => { project => 'o/two' });

$e->accepting({ do => 'stall', seconds => 60 });
$still->send('c');
ok((wait_for { $still->counts eq '0 1 0' }), 'a delivery that hangs');

my $key = $still->queue->root . ':s:' . $still->is('subscription') =~ s/^qsb_//r;
my $owner = $redis->call('HGET', $key, 'o');
my ($worker) = $owner =~ /^(\d+)-/;

kill STOP => $worker;
ok((wait_for { $redis->call('HGET', $key, 'o') ne $owner }),
   'another one has it');
kill CONT => $worker;
ok($still->done, 'and delivers it once the first one goes on');
is(scalar @{ [$still->requests] }, 1, 'once');

# a worker that nginx does not wait for: what it has sent has failed

my $cut = $p->subscribe(endpoint => $e, maxConcurrency => 1, batchSize => 1,
                        queue => { project => 'o/three' });

for my $server ($p->server, $node) {
    $server->configure(main => 'worker_shutdown_timeout 500ms;');
    $server->reload(drained => 30);
}

$cut->on({ hold => 'cut' }, {});
$cut->send('d', 'e');
$cut->wait(1);

my $begin = time;

$_->reload(drained => 30) for $p->server, $node;
cmp_ok(time - $begin, '<', 25, 'old workers leave');
ok($cut->done, 'all is delivered') or diag($cut->counts);
is(join(' ', sort map { $_->{body} } $cut->messages), 'd d e',
   'and again what was open');
is($cut->last_error, 'connection', 'which has failed');
$e->release('cut');

$node->finish(name => 'the other node');
$p->finish;

done_testing;
