#!/usr/bin/perl

# What became of messages: the totals that GetQueue answers, those of the project
# for queues_metrics; and which projects there are, for those.

use strict;
use warnings;

use Test::More;

use NgxQueues::Metrics;
use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(workers => 2, locations => <<'END');
location / { queues_api; }
location = /metrics { queues_metrics; queues_auth off; }
END
my $c = $s->client;
my $m = NgxQueues::Metrics->new($c);
my $redis = $s->redis->client;

sub totals {
    my ($q) = @_;
    my $t = $q->get('')->{json}{totals};

    return join ' ', @$t{qw/sent acknowledged expired deadLettered/};
}

sub lost {
    my ($project) = @_;

    $m->scrape;

    return join ' ', map {
        $m->look(qq[queues_messages_${_}_total{organization="o",project="$project"}]) // 'none'
    } qw/expired dead_lettered dropped/;
}

for my $kind (qw/standard fifo/) {
    my @group = $kind eq 'fifo' ? (groupId => 'g') : ();
    my $n = 0;
    my $message = sub { { body => "$_[0]", @group,
                          $kind eq 'fifo' ? (deduplicationId => 'd' . $n++) : () } };
    my $dead = NgxQueues::Queue->new($s, project => "o/$kind", name => 'dead', kind => $kind);
    my $q = NgxQueues::Queue->new($s, project => "o/$kind", name => 'q', kind => $kind,
        visibilityTimeoutSeconds => 600,
        redrivePolicy => { deadLetterQueueId => $dead->is('queueId'), maxReceiveCount => 1 });

    is(totals($q), '0 0 0 0', "$kind: nothing");
    $q->send(map { $message->($_) } 1 .. 6);
    is(totals($q), '6 0 0 0', "$kind: sent");

    my @m = $q->receive(maxMessages => 3);

    is(totals($q), '6 0 0 0', "$kind: received");
    $q->ack(@m[0, 1]);
    is(totals($q), '6 2 0 0', "$kind: acknowledged");
    $q->visibility(0, $m[2]);
    is(totals($q), '6 2 0 1', "$kind: dead-lettered");
    is(totals($dead), '1 0 0 0', "$kind: where it came in");
    is($c->post($dead->path('/redrive'), {})->{json}{moved}, 1, "$kind: back");
    is(totals($q), '7 2 0 1', "$kind: it came in again");
    is(totals($dead), '1 0 0 0', "$kind: and was not acknowledged");

    $q->retention(0);
    is(totals($q), '7 2 4 1', "$kind: expired");
    is($q->counts, '0 0 0', "$kind: nothing is left");

    ok(wait_for { lost($kind) eq '4 1 0' }, "$kind: the project's");
    $c->post($q->path('/purge'));
    is(totals($q), '0 0 0 0', "$kind: after a purge");
    $q->retention(60);
    $q->send($message->('again'));
    is(totals($q), '1 0 0 0', "$kind: and a send");
    $c->delete($_->path) for $q, $dead;
    is(lost($kind), '4 1 0', "$kind: the project's, after the queues are gone");
}

is($c->get('/v1/organizations/o/projects/standard/queues')->{body} =~ /totals/, '',
   'a list has none');

# a project that has nothing is forgotten after a while, with what was counted of it

my ($known, $empty) = ('ngxq:known', 'ngxq:{ngxq:known}:x');

ok(wait_for { lost('fifo'); defined $redis->call('ZSCORE', $empty, 'ngxq:{o/fifo}') },
   'that it has nothing is noted');
is($redis->call('ZSCORE', $known, 'ngxq:{o/fifo}'), 0, 'and it is known');
$redis->call('ZADD', $empty, 1, 'ngxq:{o/fifo}');
ok(wait_for { lost('fifo') eq 'none none none' }, 'then it is forgotten');
ok(wait_for { !$redis->call('EXISTS', 'ngxq:{o/fifo}:m') }, 'with what was counted');
is(lost('standard'), '4 1 0', 'another one is not');

# what is there is not forgotten, whatever was noted: a project that no scrape has
# seen without a queue, as what such a one sends comes after its answer

my $q = NgxQueues::Queue->new($s, project => 'o/kept');

ok(wait_for { lost('kept') eq '0 0 0' }, 'one that has a queue is known');
$redis->call('ZADD', $empty, 1, 'ngxq:{o/kept}');
is(lost('kept'), '0 0 0', 'and told') for 1 .. 3;
ok($redis->call('ZSCORE', $known, 'ngxq:{o/kept}') eq 0, 'stays known');

# readers do not make a project known

my $r = $c->get('/v1/organizations/o/projects/looked-at/queues');

is($r->{status}, 200, 'a list of nothing');
NgxQueues::Queue->new($s, project => 'o/used');
ok(wait_for { defined $redis->call('ZSCORE', $known, 'ngxq:{o/used}') }, 'who uses one does');
is($redis->call('ZSCORE', $known, 'ngxq:{o/looked-at}'), undef, 'who looks does not');

# where it cannot be noted it is tried again

$redis->call('RENAME', $known, 'kept');
$redis->call('SET', $known, 'planted');
NgxQueues::Queue->new($s, project => 'o/late');
ok(wait_for { $s->error_log =~ /projects are not made known to metrics/ }, 'a key of another type');
$m->scrape;
is($m->look('queues_projects_complete'), 0, 'is seen by metrics');
$redis->call('DEL', $known);
$redis->call('RENAME', 'kept', $known);
ok(wait_for { defined $redis->call('ZSCORE', $known, 'ngxq:{o/late}') }, 'later it can');

done_testing;
