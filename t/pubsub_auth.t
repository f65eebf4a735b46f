#!/usr/bin/perl

# Credentials of the Pub/Sub API: which permission each call needs, on which
# names; what a call needs beside its own.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Pubsub;

my %keys = (
    all => 'pubsub.* acme/shop/*',
    read => 'pubsub.topics.get,pubsub.topics.list,pubsub.subscriptions.get,'
            . 'pubsub.subscriptions.list acme/shop/a*',
    subscriber => 'pubsub.subscriptions.*,pubsub.consume acme/shop/sub-*',
    attach => 'pubsub.subscriptions.create,pubsub.subscriptions.update,'
              . 'pubsub.topics.attachSubscription acme/shop/*',
    dead => 'pubsub.subscriptions.create,pubsub.subscriptions.update,'
            . 'pubsub.topics.attachSubscription,pubsub.publish '
            . 'acme/shop/a*,acme/shop/sub-*,acme/shop/dead',
    snaps => 'pubsub.snapshots.* acme/shop/*',
    seeks => 'pubsub.subscriptions.seek acme/shop/*',
    away => 'pubsub.* acme/mall/*',
    queues => 'queues.* *',
);

my $s = NgxQueues::Pubsub::server(auth => 1,
    keys => [map { sha256_hex("key-$_") . " p-$_ $keys{$_}" } sort keys %keys]);

my %of = map {
    $_ => NgxQueues::Pubsub->new($s, client => $s->client(key => "key-$_"))
} keys %keys;

my $p = $of{all};

$p->topic($_) for qw/apple banana dead/;
$p->sub('sub-1', 'apple');
$p->sub('a-sub', 'apple');
is($p->put('snapshots', 'snap', { subscription => $p->name('subscriptions', 'sub-1') })
   ->{status}, 200, 'a snapshot');

# every call without a credential, with one that is not known, with one of another
# project, with one of another API

my @calls = (
    (map {
        my $method = $_;

        map { [$method, @$_, $method eq 'get' ? () : {}] }
            ['topics', 'apple'], ['subscriptions', 'sub-1'], ['snapshots', 'snap']
    } qw/get put patch delete/),
    [get => 'topics'], [get => 'subscriptions'], [get => 'snapshots'], [counts => 'sub-1'],
    (map { [call => 'sub-1', $_, {}] }
        qw/detach seek modifyPushConfig pull acknowledge modifyAckDeadline/),
);

for my $call (@calls) {
    my ($method, @args) = @$call;
    my $what = join ' ', grep { !ref } @$call;

    for my $wrong ([undef, '401 UNAUTHENTICATED'], ['unknown', '401 UNAUTHENTICATED'],
                   ['key-away', '403 PERMISSION_DENIED'],
                   ['key-queues', '403 PERMISSION_DENIED'])
    {
        my $client = $s->client(key => $wrong->[0]);
        my $r = NgxQueues::Pubsub->new($s, client => $client)->$method(@args);

        is("$r->{status} $r->{json}{error}{status}", $wrong->[1],
           "$what: " . ($wrong->[0] // 'none'));
    }
}

my $r = $s->client(key => undef)->get($p->path('topics', 'apple'));
is($r->{headers}{'www-authenticate'}, 'Bearer', 'how to authenticate');
$r = $of{away}->get('topics', 'apple');
is($r->{json}{error}{message}, 'The credential lacks the permission '
   . 'pubsub.topics.get here.', 'what is missing');

is($of{away}{client}->get('/v1/projects/mall/topics')->{status}, 200,
   'its own project');

# names

sub code { my ($key, $method, @args) = @_; $of{$key}->$method(@args)->{status} }

is(code(read => get => 'topics', 'apple'), 200, 'a topic it may read');
is(code(read => get => 'topics', 'banana'), 403, 'one that it may not');
is(code(read => get => 'topics', 'cherry'), 403, 'nor is told whether it is there');
is(code(read => get => 'topics', 'anything'), 404, 'this one is not');
is(code(read => put => 'topics', 'apricot', {}), 403, 'it makes none');
is(code(read => delete => 'topics', 'apple'), 403, 'nor deletes');
is(code(read => patch => 'topics', 'apple', {}), 403, 'nor changes');

$r = $of{read}->get('topics');
is(join(' ', map { $_->{name} } @{ $r->{json}{topics} }), $p->name('topics', 'apple'),
   'a list has what it may list');
is($of{read}->get('subscriptions')->{json}{subscriptions}[0]{name},
   $p->name('subscriptions', 'a-sub'), 'of subscriptions as well');

$r = $of{read}{client}->get($p->path('subscriptions') . '?pageSize=1');
$r = $of{read}{client}->get($p->path('subscriptions')
                            . "?pageToken=$r->{json}{nextPageToken}");
is($r->{body}, '{}', 'a page may be empty');
is($of{read}{client}->get($p->path('topics', 'apple') . '/subscriptions')->{status},
   200, 'subscriptions of a topic it may read');
is($of{read}{client}->get($p->path('topics', 'banana') . '/snapshots')->{status}, 403,
   'and of one it may not');

# a subscription reads its topic, and writes to the one for dead letters

my ($apple, $banana, $dead) = map { $p->name('topics', $_) } qw/apple banana dead/;
my %policy = (deadLetterPolicy => { deadLetterTopic => $dead });

is(code(subscriber => put => 'subscriptions', 'sub-2', { topic => $apple }), 403,
   'a topic to which it may not attach');
is(code(attach => put => 'subscriptions', 'sub-2', { topic => $apple }), 200,
   'one to which it may');
is(code(attach => put => 'subscriptions', 'sub-3', { topic => $apple, %policy }), 403,
   'dead letters to a topic to which it may not publish');
is(code(dead => put => 'subscriptions', 'sub-3', { topic => $apple, %policy }), 200,
   'and to one to which it may');
is(code(dead => put => 'subscriptions', 'sub-4', { topic => $banana, %policy }), 403,
   'of a topic to which it may not attach');
is(code(attach => patch => 'subscriptions', 'sub-2',
        { subscription => { %policy }, updateMask => 'deadLetterPolicy' }), 403,
   'the same by a patch');
is(code(attach => patch => 'subscriptions', 'sub-3',
        { subscription => {}, updateMask => 'labels' }), 200,
   'a patch of something else');
is(code(attach => patch => 'subscriptions', 'sub-3',
        { subscription => {}, updateMask => 'deadLetterPolicy' }), 200,
   'dead letters may be switched off');
is(code(dead => patch => 'subscriptions', 'sub-2',
        { subscription => { %policy }, updateMask => 'deadLetterPolicy' }), 200,
   'and on by who may publish there');

# a snapshot has what its subscription has, a seek needs both

my $sub = $p->name('subscriptions', 'sub-1');
my %to = (snapshot => $p->name('snapshots', 'snap'));

is(code(snaps => put => 'snapshots', 'snap-2', { subscription => $sub }), 403,
   'a snapshot of a subscription that it may not consume');
is(code(all => put => 'snapshots', 'snap-2', { subscription => $sub }), 200,
   'and of one that it may');
is(code(seeks => call => 'sub-1', 'seek', { %to }), 403,
   'a snapshot that it may not use');
is(code(seeks => call => 'sub-1', 'seek', { time => '2026-01-01T00:00:00Z' }), 200,
   'a time is for everyone who may seek');
is(code(all => call => 'sub-1', 'seek', { %to }), 200, 'with both');
is(code(subscriber => call => 'sub-1', 'detach', {}), 200, 'detached');

# what is not there for anybody

is($s->client(key => undef)->post($p->path('topics', 'apple', 'setIamPolicy'), {})
   ->{status}, 501, 'without a credential, too');

$s->finish;

done_testing();
