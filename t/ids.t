#!/usr/bin/perl

# A queue by its name, its que_ id and its UUID; ids of queues that are gone;
# permissions on names, asked for by ids.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;

my $s = NgxQueues::Server->new(keys => [
    sha256_hex('orders') . ' o * o/p/orders',
    sha256_hex('nothing') . ' n * x/*',
]);

my $c = $s->client;
my $q = NgxQueues::Queue->new($s, name => 'orders');
my $other = NgxQueues::Queue->new($s, name => 'other');
my $queues = $q->{queues};

like($q->is('queueId'),
     qr/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
     'a UUIDv7');
like($q->is('queue'), qr/^que_[0-9a-hjkmnp-tv-z]{12}$/, 'a short id');
cmp_ok($q->is('queueId'), 'lt', $other->is('queueId'), 'ids grow with time');

# all three are the same queue, for every call

my @names = ('orders', $q->is('queue'), $q->is('queueId'));

for my $name (@names) {
    my $path = "$queues/$name";
    my $r = $c->get($path);

    is($r->{json}{queueId} // $r->{body}, $q->is('queueId'), "get $name");
    is($c->patch($path, { delaySeconds => 0 })->{status}, 200, 'update');
    is($c->post("$path/messages", { body => $name })->{status}, 201, 'send');

    my ($m) = @{ $c->post("$path/messages/receive", {})->{json}{messages} };

    is($m->{body}, $name, 'receive');
    is($q->ack($m), 'ok', 'ack');
    is($c->post("$path/purge")->{status}, 202, 'purge');
}

# in other letters an id is but a name

my $upper = NgxQueues::Queue->new($s, name => uc $q->is('queueId'));

is($c->get("$queues/" . uc $q->is('queueId'))->{json}{queueId},
   $upper->is('queueId'), 'a queue with a UUID in capitals as its name');
is($c->delete($upper->path)->{status}, 204, 'is another one');
is($c->get("$queues/" . uc $q->is($_))->{status}, 404, "$_ in capitals")
    for qw/queue queueId/;

# another project has no such ids

is($c->get("/v1/organizations/o/projects/p2/queues/$_")->{status}, 404,
   'not in another project') for @names;

# permissions are on names, also for ids

my %status = (orders => [200, 403], nothing => [403, 403]);

for my $key (sort keys %status) {
    my $as = $s->client(key => $key);
    my ($mine, $others) = @{ $status{$key} };

    is($as->get("$queues/" . $q->is($_))->{status}, $mine, "$key: $_")
        for qw/name queue queueId/;
    is($as->get("$queues/" . $other->is($_))->{status}, $others,
       "$key: another one's $_") for qw/name queue queueId/;

    # what there is not looks like what is not allowed

    my $not = $as->get("$queues/" . $other->is('queueId'));

    for my $none ('que_000000000000', '01890000-0000-7000-8000-000000000000') {
        is($as->get("$queues/$none")->{body}, $not->{body}, "$key: $none");
    }
}

# a queue that has another one's id as its name is not that queue

my $id = $other->is('queue');
my $twin = NgxQueues::Queue->new($s, name => $id);

is($c->get("$queues/$id")->{json}{name}, 'other', 'an id comes first');
is($c->get("$queues/" . $twin->is('queueId'))->{json}{name}, $id,
   'the one of that name has its own id');
is($s->client(key => 'orders')->get("$queues/$id")->{status}, 403,
   'and its name allows nothing');

# the name of a deleted queue is free at once, its ids are nobody's

is($c->delete("$queues/" . $other->is('queueId'))->{status}, 204,
   'delete by UUID');
is($c->get("$queues/" . $other->is('queueId'))->{status}, 404, 'no such UUID');
is($c->get("$queues/$id")->{json}{queueId}, $twin->is('queueId'),
   'now the id is but a name');
is($c->delete("$queues/" . $twin->is('queue'))->{status}, 204,
   'delete by short id');

my $again = NgxQueues::Queue->new($s, name => 'other');

isnt($again->is('queueId'), $other->is('queueId'), 'another queue');
is($again->counts, '0 0 0', 'and an empty one');
is($c->get("$queues/$_")->{status}, 404, 'the old ids find nothing')
    for $other->is('queue'), $other->is('queueId');

# message ids: of their own, the same on every delivery

my @ids = map { $again->send(map { "m$_" } 1 .. 10) } 1 .. 5;
my %seen;

is((grep { !$seen{$_}++ } @ids), 50, 'message ids are unique');
is(join(' ', map { $_->{messageId} }
        map { $again->receive(maxMessages => 10, visibilityTimeoutSeconds => 60) }
        1 .. 5), "@ids", 'received with the ids that the sender was told');

# 50 at the same moment with the same name: one is made

my @r = $c->wait_all([map {
    $c->start(POST => $queues, { name => 'race' }, fresh => 1)
} 1 .. 50], 20);

is((grep { $_->{status} == 201 } @r), 1, 'one of many creates succeeds');
is((grep { $_->{status} == 409 } @r), 49, 'and the others are told');

$s->finish;

done_testing;
