#!/usr/bin/perl

# Dead-letter queues: when a message goes there, what it has then, who may name
# one, and what cannot be one.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my %key = map { $_ => "qk_$_-0123456789abcdefghijklmnopq" } qw/some both/;

my $s = NgxQueues::Server->new(workers => 2, keys => [
    sha256_hex($key{some}) . ' some * o/p/mine-*',
    sha256_hex($key{both}) . ' both * o/p/mine-*,o/p/dead',
]);
my $c = $s->client;
my $dead = NgxQueues::Queue->new($s, name => 'dead',
                                 visibilityTimeoutSeconds => 60);
my $queues = $dead->{queues};

sub policy {
    my ($q, $n) = @_;

    return (redrivePolicy => { deadLetterQueueId => ref $q ? $q->is('queueId') : $q,
                               maxReceiveCount => $n });
}

sub source {
    my ($to, $n, %more) = @_;

    return NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 0,
                                 policy($to, $n), %more);
}

sub sources { $_[0]->get('')->{json}{counts}{deadLetterSource} }

sub ok_status {
    my ($r, $status, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is($r->{status}, $status, $name) or diag($r->{error} // $r->{body});
}

my $time = qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

# the policy as it is answered, whatever it is called in the request

for my $name ($dead->is('queueId'), $dead->is('queue'), 'dead') {
    my $q = source($name, 7);

    is_deeply($q->is('redrivePolicy'),
              { deadLetterQueueId => $dead->is('queueId'),
                maxReceiveCount => 7 }, "$name: create");
    is_deeply($q->get('')->{json}{redrivePolicy}, $q->is('redrivePolicy'),
              'get');
    is(sources($dead), 1, 'one source');
    ok_status($c->delete($q->path), 204, 'delete');
    is(sources($dead), 0, 'none');
}

# exactly so many deliveries

for my $n (1, 2, 3) {
    my $q = source($dead, $n);
    my ($id) = $q->send({ body => "\0$n", attributes => { k => 'v' } });
    my (@m, $last);

    for (1 .. 5) {
        my @got = $q->receive or last;

        push @m, @got;
        $last = $got[0];
    }

    is(scalar @m, $n, "maxReceiveCount $n: so many deliveries");
    is(join(' ', map { $_->{receiveCount} } @m), join(' ', 1 .. $n), 'counted');
    ok(wait_for(sub { $q->counts eq '0 0 0' }, 5), 'it has gone');
    is($q->ack($last), 'stale', 'its handle is stale');
    is($q->visibility(5, $last), 'stale', 'for all calls');
    is($dead->counts, '1 0 0', 'one copy in the dead-letter queue');

    my ($d) = $dead->receive;

    is("$d->{messageId} $d->{body}", "$id \0$n", 'the same id and body');
    is($d->{sentAt}, $m[0]{sentAt}, 'sent when it was');
    is($d->{receiveCount}, 1, 'received for the first time there');

    my $at = delete $d->{attributes}{'ezgh.deadLetteredAt'};

    like($at, $time, 'when it was moved');
    cmp_ok($at, 'ge', $d->{sentAt}, 'which is later');
    is_deeply($d->{attributes}, { k => 'v',
        'ezgh.deadLetterSourceQueue' => $q->is('queue'),
        'ezgh.deadLetterReceiveCount' => "$n" }, 'from where, after how many');
    is($dead->ack($d), 'ok', 'ack');
    ok_status($c->delete($q->path), 204, 'delete the source');
}

# nobody receives: the counts are right by themselves

my $q = source($dead, 1, visibilityTimeoutSeconds => 1);

$q->send(map { "m$_" } 1 .. 5);

my @m = $q->receive(maxMessages => 5);

ok(wait_for(sub { $dead->counts eq '5 0 0' }, 5),
   'they are in the dead-letter queue');
is($q->counts, '0 0 0', 'and not in the source');
is($q->ack(@m), join(' ', ('stale') x 5), 'stale');
is(join(' ', sort map { $_->{body} } $dead->receive(maxMessages => 10)),
   'm1 m2 m3 m4 m5', 'all of them');
ok_status($dead->post('/purge'), 202, 'purge');

# a wait at the dead-letter queue ends when a message comes there

$q->send('waited for');
@m = $q->receive;

my $h = $dead->park(waitSeconds => 20, fresh => 1);

$dead->parked;
wait_for { $q->counts; $c->wait_any([$h], 0.1) } 5;
is($h->result->{json}{messages}[0]{body}, 'waited for', 'a waiting receive');
is($dead->ack($h->result->{json}{messages}[0]), 'ok', 'ack');

# acknowledged in time it does not go, however often it was received

$q = source($dead, 2, visibilityTimeoutSeconds => 60);
$q->send('good');
@m = $q->receive(visibilityTimeoutSeconds => 0);
@m = $q->receive;
is($m[0]{receiveCount}, 2, 'the last delivery');
is($q->ack(@m), 'ok', 'is a success');
is($q->counts . ' ' . $dead->counts, '0 0 0 0 0 0', 'it is nowhere');

# a release counts as well

$q->send('released');

for (1, 2) {
    @m = $q->receive;
    is($q->visibility(0, @m), 'ok', 'release');
}

is(scalar $q->receive, 0, 'not delivered once more');
is($dead->counts, '1 0 0', 'but moved');
ok_status($dead->post('/purge'), 202, 'purge');

# a chain: the count begins anew in each

my $end = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);
my $middle = source($end, 2, name => 'middle');
my $begin = source($middle, 1);
my ($id) = $begin->send('chained');

$begin->receive;
wait_for { $begin->counts; $middle->counts eq '1 0 0' } 5;
is(join(' ', map { ($middle->receive)[0]{receiveCount} } 1, 2), '1 2',
   'two deliveries in the middle');
wait_for { $middle->counts; $end->counts eq '1 0 0' } 5;

my ($m) = $end->receive;

is("$m->{messageId} $m->{body}", "$id chained", 'at the end');
is($m->{attributes}{'ezgh.deadLetterSourceQueue'}, $middle->is('queue'),
   'from the middle');
is($m->{attributes}{'ezgh.deadLetterReceiveCount'}, '2', 'after two receives');

# attributes as they were sent, byte for byte, in front

for my $case (['{ "a" : "\\u0041" ,"b":"\\/"}', '{ "a" : "\\u0041" ,"b":"\\/",'],
              ['{}', '{'], ['{ }', '{']) {
    $q = source($dead, 1);
    ok_status($q->post('/messages', "{\"body\":\"x\",\"attributes\":$case->[0]}"),
              201, "attributes $case->[0]");
    $q->receive;
    wait_for { $q->counts; $dead->counts eq '1 0 0' } 5;

    my $r = $dead->post('/messages/receive', {});

    like($r->{body}, qr/"attributes":\Q$case->[1]\E"ezgh\.deadLetterSourceQueue":/,
         'as they were, and three more');
    is($dead->ack($r->{json}{messages}[0]), 'ok', 'ack');
}

# FIFO queues: a message that goes frees its group

my $fdead = NgxQueues::Queue->new($s, kind => 'fifo', name => 'fdead',
                                  visibilityTimeoutSeconds => 60);
my $f = source($fdead, 2, kind => 'fifo', contentBasedDeduplication => \1);
my @sent = map { $f->send({ body => $_->[1], groupId => $_->[0] }) }
    ['g', 'g1'], ['g', 'g2'], ['h', 'h1'];

# everything is received twice and goes, in order

wait_for { $f->receive(maxMessages => 10); $f->counts eq '0 0 0' } 10;
is($f->counts, '0 0 0', 'all have gone');
is($fdead->counts, '3 0 0', 'to the dead-letter queue');
@m = $fdead->receive(maxMessages => 10);
is(join(' ', map { $_->{body} } grep { $_->{groupId} eq 'g' } @m), 'g1 g2',
   'in their groups, in order');
is(join(' ', sort map { $_->{messageId} } @m), join(' ', sort @sent),
   'with their ids');
is_deeply([map { @{ $_->{attributes} }{qw/ezgh.deadLetterSourceQueue
                                         ezgh.deadLetterReceiveCount/} } @m],
          [($f->is('queue'), '2') x 3], 'from where, after how many');
is_deeply([map { $_->{receiveCount} } @m], [1, 1, 1], 'the count is new');
is($fdead->ack(@m), 'ok ok ok', 'ack');

my $g = source($fdead, 1, kind => 'fifo', visibilityTimeoutSeconds => 1,
               contentBasedDeduplication => \1);

$g->send(map { { body => $_, groupId => 'g' } } 'dies', 'lives');
@m = $g->receive;
@m = $g->receive(waitSeconds => 10, visibilityTimeoutSeconds => 60);
is($m[0]{body}, 'lives', 'a dead message frees its group');
is($g->ack(@m), 'ok', 'ack');
is($fdead->counts, '1 0 0', 'where the other is');

# update: set, change, clear, leave

$q = NgxQueues::Queue->new($s);

sub patched {
    my ($body) = @_;

    my $r = $c->patch($q->path, $body);

    return $r->{status} == 200 ? $r->{json}{redrivePolicy} : $r->{body};
}

my %is = (deadLetterQueueId => $dead->is('queueId'));

is_deeply(patched({ policy('dead', 1) }), { %is, maxReceiveCount => 1 }, 'set');
is_deeply(patched({ policy($dead->is('queue'), 1000) }),
          { %is, maxReceiveCount => 1000 }, 'change');
is_deeply(patched({ delaySeconds => 1 }), { %is, maxReceiveCount => 1000 },
          'leave');
my $before = sources($dead);
is(patched('{"redrivePolicy":null}'), undef, 'clear');
is(sources($dead), $before - 1, 'a source less');
is(patched('{"redrivePolicy":null}'), undef, 'and again');

# fewer receives than a message has had: it is not delivered once more

for my $to ($dead, $fdead) {
    my $kind = $to->is('kind');
    my $before = $to->counts =~ s/ .*//r;

    $q = source($to, 5, kind => $kind);
    $q->send({ body => 'often', $kind eq 'fifo'
               ? (groupId => 'often', deduplicationId => 'often') : () });
    is(join('', map { $_->{receiveCount} } map { $q->receive } 1 .. 2), '12',
       "$kind: received twice");
    is($q->counts, '1 0 0', 'it is visible');
    patched({ policy($to, 2) });
    is(scalar $q->receive, 0, 'not received again');
    is($q->counts, '0 0 0', 'but gone');
    is($to->counts =~ s/ .*//r, $before + 1, 'to the dead-letter queue');
}

# a queue that others name cannot be deleted

$q = NgxQueues::Queue->new($s);

is_deeply(patched({ policy('dead', 5) }), { %is, maxReceiveCount => 5 }, 'set');

my $r = $c->delete($dead->path);

is("$r->{status} $r->{json}{error}", '409 queue_in_use', 'in use');
is(patched('{"redrivePolicy":null}'), undef, 'clear');

# what is wrong

my ($no_uuid, $no_id) = ('01890000-0000-7000-8000-00000000000a',
                         'que_0123456789ab');
my $id_field = 'redrivePolicy.deadLetterQueueId';
my $count_field = 'redrivePolicy.maxReceiveCount';

for my $case (
    ['[]', 'redrivePolicy'], ['"dead"', 'redrivePolicy'], [1, 'redrivePolicy'],
    ['false', 'redrivePolicy'], ['{}', $id_field],
    ['{"maxReceiveCount":5}', $id_field],
    ['{"deadLetterQueueId":"dead"}', $count_field],
    ['{"deadLetterQueueId":"dead","maxReceiveCount":null}', $count_field],
    ['{"deadLetterQueueId":null,"maxReceiveCount":1}', $id_field],
    (map { ["{\"deadLetterQueueId\":\"dead\",\"maxReceiveCount\":$_}",
            $count_field] } 0, -1, 1001, '1.0', '"1"', 'true'),
    (map { ["{\"deadLetterQueueId\":$_,\"maxReceiveCount\":1}", $id_field] }
        1, '""', '"a b"', '"none"', "\"$no_uuid\"", "\"$no_id\"", '"fdead"',
        '"' . $fdead->is('queueId') . '"', '"' . 'n' x 81 . '"', '"a\\u0000"'),
    ['{"deadLetterQueueId":"dead","maxReceiveCount":1,"x":1}',
     'redrivePolicy.x'],
) {
    for my $r ($c->post($queues, "{\"name\":\"new\",\"redrivePolicy\":$case->[0]}"),
               $c->patch($q->path, "{\"redrivePolicy\":$case->[0]}")) {
        is("$r->{status} $r->{json}{error} $r->{json}{field}",
           "400 invalid_argument $case->[1]", "policy $case->[0]");
    }
}

for my $self ($q->name, $q->is('queue'), $q->is('queueId')) {
    my $r = $c->patch($q->path, { policy($self, 1) });

    is("$r->{status} $r->{json}{field}", "400 $id_field", "$self: itself");
}

$r = $c->patch($f->path, { policy('dead', 1) });
is("$r->{status} $r->{json}{field}", "400 $id_field",
   'a standard queue for a FIFO queue');
is($c->get("$queues/new")->{status}, 404, 'nothing was created');
is_deeply($q->get('')->{json}{redrivePolicy}, undef, 'nor changed');

# another project's queue is none of this one's

my $far = NgxQueues::Queue->new($s, project => 'o/far', name => 'far');

for my $name ('far', $far->is('queue'), $far->is('queueId')) {
    ok_status($c->patch($q->path, { policy($name, 1) }), 400, "$name: far");
}

# who may not use all queues needs the permission on the other one as well

my ($some, $both) = map { $s->client(key => $key{$_}) } 'some', 'both';

ok_status($some->post($queues, { name => 'mine-a' }), 201, 'a queue');

for my $name ('dead', $dead->is('queue'), $dead->is('queueId'), 'none', $no_uuid,
              $no_id) {
    for my $r ($some->post($queues, { name => 'mine-b', policy($name, 1) }),
               $some->patch("$queues/mine-a", { policy($name, 1) })) {
        is("$r->{status} $r->{json}{error}", '403 permission_denied',
           "$name: not allowed");
    }
}

for my $name ('dead', $dead->is('queue'), $dead->is('queueId')) {
    ok_status($both->patch("$queues/mine-a", { policy($name, 1) }), 200,
              "$name: allowed");
}

ok_status($both->post($queues, { name => 'mine-c', policy('mine-a', 1) }), 201,
          'create');
ok_status($some->patch("$queues/mine-a", '{"redrivePolicy":null}'), 200,
          'nothing is named where it is cleared');

$s->finish;

done_testing;
