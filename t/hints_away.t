#!/usr/bin/perl

# The link for hints is away, or refused, while the one for commands works: who
# waits looks by itself until hints come again.

use strict;
use warnings;

use List::Util 'min';
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new;
my $q = NgxQueues::Queue->new($s);
my $c = $s->client;
my $admin = $s->redis->client;

# a message for a parked receive, and how soon it is there

my %took;

sub comes {
    my ($h, $body, $name) = @_;

    $q->send($body);

    my $begin = time;
    my ($r) = $c->wait_all([$h], scaled(25));

    is($r->{json}{messages}[0]{body}, $body, $name) or diag($r->{body});
    cmp_ok(time - $begin, '<', 15, "$name: long before the end");
    push @{ $took{$name} }, time - $begin;
    $q->ack(@{ $r->{json}{messages} });
}

my $h;

for (1 .. 4) {
    $h = $q->park(waitSeconds => 20);
    $q->parked;
    comes($h, 'hinted', 'by a hint');
}

# parked while the channel is joined; then the link is lost and not let in again

$h = $q->park(waitSeconds => 20);
$q->parked;

is($admin->call(qw/ACL SETUSER default -ssubscribe/), 'OK', 'refused');
is($admin->call(qw/CLIENT KILL TYPE pubsub/), 1, 'the link is lost');
ok(wait_for(sub { $s->error_log =~ /hints are refused/ }, 5), 'it is logged');
comes($h, 'looked for', 'a receive that was parked before');

$h = $q->park(waitSeconds => 20);
comes($h, 'looked for again', 'and one that came later');

# looking costs little: not more than a few calls a second, but not much less

my $calls = $q->calls;
my $begin = time;

$h = $q->park(waitSeconds => 20);
ok(wait_for(sub { $q->calls >= $calls + 6 }, 12), 'it looks again and again');
cmp_ok($q->calls - $calls, '<=', 4 + 3 * (time - $begin), 'a few calls');
$h->close;

is($admin->call(qw/ACL SETUSER default +ssubscribe/), 'OK', 'permitted again');

for (1 .. 4) {
    $h = $q->park(waitSeconds => 20);
    $q->parked;
    comes($h, 'hinted again', 'by a hint again');
}

# sooner than who looks, where a busy machine was least in the way

cmp_ok(min(@{ $took{$_} }), '<', scaled(0.25), "$_: at once") or diag("@{ $took{$_} }")
    for 'by a hint', 'by a hint again';

$s->finish;
done_testing;
