#!/usr/bin/perl

# RedriveMessages: dead letters go back to where they came from, or to another
# queue, as if they had never been received.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my %key = map { $_ => "qk_$_-0123456789abcdefghijklmnopq" } qw/some both/;

my $s = NgxQueues::Server->new(workers => 2, keys => [
    sha256_hex($key{some}) . ' some * o/p/dead',
    sha256_hex($key{both}) . ' both * o/p/dead,o/p/other',
]);
my $c = $s->client;

sub queue {
    my ($name, %more) = @_;

    return NgxQueues::Queue->new($s, name => $name,
                                 visibilityTimeoutSeconds => 60, %more);
}

sub source {
    my ($name, $to, %more) = @_;

    return queue($name, redrivePolicy => {
        deadLetterQueueId => $to->name, maxReceiveCount => 1 }, %more);
}

# has so many messages of a queue die

sub kill_all {
    my ($q) = @_;

    for (1 .. 400) {
        my @m = $q->receive(maxMessages => 10, visibilityTimeoutSeconds => 0);

        last if !@m && $q->counts eq '0 0 0';
    }
}

sub redrive {
    my ($q, $body, %o) = @_;

    my $r = ($o{as} || $c)->post($q->path('/redrive'), $body // undef,
                                 timeout => 30);

    return $r->{status} == 200 ? "$r->{json}{moved} $r->{json}{remaining}"
        : join ' ', $r->{status}, grep { defined } @{ $r->{json} }{qw/error field/};
}

my $dead = queue('dead');
my $a = source('a', $dead);
my $b = source('b', $dead);
my $other = queue('other');

is(redrive($dead), '0 0', 'nothing is there');
is(redrive($dead, {}), '0 0', 'an empty object');
is(redrive($dead, { destinationQueueId => undef }), '0 0', 'null is none');

# back to where they came from

my @ids = $a->send({ body => 'a1', attributes => { k => 'v' } }, 'a2');

push @ids, $b->send('b1');
my %sent = map { $_->{messageId} => $_->{sentAt} } map {
    $_->receive(maxMessages => 10, visibilityTimeoutSeconds => 0)
} $a, $b;
kill_all($_) for $a, $b;
is($dead->counts, '3 0 0', 'three have died');
is(redrive($dead), '3 0', 'and go back');
is($dead->counts, '0 0 0', 'none is left');

my @m = $a->receive(maxMessages => 10);

is(join(' ', map { $_->{body} } @m), 'a1 a2', 'to their queue');
is(join(' ', map { $_->{messageId} } @m), "@ids[0, 1]", 'with their ids');
is(join(' ', map { $_->{sentAt} } @m), join(' ', @sent{ @ids[0, 1] }),
   'sent when they were');
is(join(' ', map { $_->{receiveCount} } @m), '1 1', 'the count is new');
is($m[0]{attributes}{k}, 'v', 'attributes are kept');
is($a->ack(@m), 'ok ok', 'ack');
@m = $b->receive;
is("$m[0]{messageId} $m[0]{body}", "$ids[2] b1", 'each to its own');
is($b->ack(@m), 'ok', 'ack');

# once more: it may die again, and be moved again

my ($id) = $a->send('again');

for my $time (1, 2, 3) {
    kill_all($a);
    is(redrive($dead), '1 0', "time $time");
}

@m = $a->receive;
is("$m[0]{messageId} $m[0]{receiveCount}", "$id 1", 'it is what it was');
is($a->ack(@m), 'ok', 'ack');

# to another queue, by any of its names

for my $name ('other', $other->is('queue'), $other->is('queueId')) {
    my ($id) = $a->send("to $name");

    kill_all($a);
    is(redrive($dead, { destinationQueueId => $name }), '1 0', $name);
    is($a->counts, '0 0 0', 'not back');
    my ($m) = $other->receive;
    is("$m->{messageId} $m->{body} $m->{receiveCount}", "$id to $name 1",
       'but there');
    is($other->ack($m), 'ok', 'ack');
}

# what came from nowhere stays, and goes where it is told

$dead->send('sent there');
is(redrive($dead), '0 1', 'what was sent there itself stays');
is(redrive($dead, { destinationQueueId => 'other' }), '1 0', 'or goes on');
is($other->ack($other->receive), 'ok', 'ack');

# what is in flight stays

$a->send('1', '2', '3');
kill_all($a);
@m = $dead->receive;
is(redrive($dead), '2 0', 'two go');
is($dead->counts, '0 1 0', 'one is in flight');
is($dead->visibility(0, @m), 'ok', 'release');
is(redrive($dead), '1 0', 'now it goes');
is(scalar $a->receive(maxMessages => 10), 3, 'all are back');
$a->post('/purge');

# its queue is gone

my $gone = source('gone', $dead);

$gone->send('homeless');
kill_all($gone);
is($c->delete($gone->path)->{status}, 204, 'delete the source');
is(redrive($dead), '0 1', 'it stays');
is(redrive($dead, { destinationQueueId => 'other' }), '1 0', 'or goes elsewhere');
is($other->ack($other->receive), 'ok', 'ack');

# a waiting receive hears of it

$a->send('waited for');
kill_all($a);

my $h = $a->park(waitSeconds => 20, fresh => 1);

$a->parked;
is(redrive($dead), '1 0', 'redrive');
my ($r) = $c->wait_all([$h], 5);
is($r->{json}{messages}[0]{body}, 'waited for', 'the wait is over');
is($a->ack($r->{json}{messages}[0]), 'ok', 'ack');

# a thousand of a call at most; none is lost, none doubled

my %left;

for my $i (0 .. 119) {
    my @all = $a->send(map { 'm' . ($i * 10 + $_) } 0 .. 9);
    @left{@all} = (1) x @all;
}

kill_all($a);
is($dead->counts, '1200 0 0', '1200 have died');
is(redrive($dead), '1000 200', 'a thousand');
is(redrive($dead), '200 0', 'and the rest');

my $wrong = 0;

while (my @got = $a->receive(maxMessages => 10)) {
    delete $left{ $_->{messageId} } or $wrong++ for @got;
    $a->ack(@got);
}

is($wrong, 0, 'none twice');
is(scalar keys %left, 0, 'none lost');

# FIFO queues

my $fdead = queue('fdead', kind => 'fifo');
my $f = source('f', $fdead, kind => 'fifo', contentBasedDeduplication => \1);
my $fother = queue('fother', kind => 'fifo');

@ids = $f->send(map { { body => $_->[1], groupId => $_->[0] } }
                ['g', 'g1'], ['h', 'h1'], ['g', 'g2']);
kill_all($f);
is($fdead->counts, '3 0 0', 'three have died');
is(redrive($fdead), '3 0', 'and go back');
@m = $f->receive(maxMessages => 10);
is(join(' ', map { $_->{body} } grep { $_->{groupId} eq 'g' } @m), 'g1 g2',
   'in order');
is(join(' ', sort map { $_->{messageId} } @m), join(' ', sort @ids),
   'with their ids');
is(join(' ', map { $_->{receiveCount} } @m), '1 1 1', 'the count is new');
is($f->ack(@m), 'ok ok ok', 'ack');
$f->send({ body => 'x', groupId => 'g' });
kill_all($f);
is(redrive($fdead, { destinationQueueId => 'fother' }), '1 0', 'elsewhere');
is(($fother->receive)[0]{body}, 'x', 'there');

# what is wrong

my $field = '400 invalid_argument destinationQueueId';
my ($no_uuid, $no_id) = ('01890000-0000-7000-8000-00000000000a',
                         'que_0123456789ab');

is(redrive($dead, { destinationQueueId => $_ }), $field, "destination $_")
    for 'none', $no_uuid, $no_id, 'dead', $dead->is('queue'), 'fdead', '',
        'a b', 'n' x 81;
is(redrive($fdead, { destinationQueueId => 'other' }), $field, 'of another kind');
is(redrive($dead, "{\"destinationQueueId\":$_}"), $field, "destination $_")
    for 1, '{}', 'true', '["other"]';
is(redrive($dead, { maxMessages => 1 }), '400 invalid_argument maxMessages',
   'an unknown field');
is(redrive($dead, '{'), '400 invalid_json', 'no JSON');
is(redrive($dead, '[]'), '400 invalid_argument', 'no object');
is($c->post("$dead->{queues}/none/redrive")->{json}{error}, 'queue_not_found',
   'no such queue');
is($c->get($dead->path('/redrive'))->{headers}{allow}, 'POST', 'POST only');

# who may not use all queues needs the permission on the destination as well

my ($some, $both) = map { $s->client(key => $key{$_}) } 'some', 'both';

is(redrive($dead, undef, as => $some), '0 0', 'back to the sources');
is(redrive($dead, { destinationQueueId => $_ }, as => $some),
   '403 permission_denied', "$_: not allowed")
    for 'other', $other->is('queue'), $other->is('queueId'), 'none', $no_uuid,
        $no_id;
is(redrive($dead, { destinationQueueId => $_ }, as => $both), '0 0',
   "$_: allowed")
    for 'other', $other->is('queue'), $other->is('queueId');
is(redrive($a, undef, as => $both), '403 permission_denied', 'another queue');

$s->finish;

done_testing;
