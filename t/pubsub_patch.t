#!/usr/bin/perl

# Patches of the Pub/Sub API: what a mask names changes, and nothing else; what
# it may name; several at once.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use NgxQueues::Pubsub;

my $s = NgxQueues::Pubsub::server(
    workers => 2,
    http => 'queues_push_allow_localhost on; queues_push off;');
my $p = NgxQueues::Pubsub->new($s);

$p->topic($_) for qw/orders dead doomed/;

my ($topic, $dead, $doomed) = map { $p->name('topics', $_) } qw/orders dead doomed/;

my %full = (
    pushConfig => { pushEndpoint => 'http://localhost:9/',
                    attributes => { 'x-goog-version' => 'v1' },
                    noWrapper => { writeMetadata => JSON::PP::true } },
    ackDeadlineSeconds => 30, retainAckedMessages => JSON::PP::true,
    messageRetentionDuration => '700s', labels => { a => 'b' },
    enableMessageOrdering => JSON::PP::true, expirationPolicy => { ttl => '90000s' },
    filter => 'attributes:a',
    deadLetterPolicy => { deadLetterTopic => $dead, maxDeliveryAttempts => 6 },
    retryPolicy => { minimumBackoff => '1s', maximumBackoff => '2s' },
);

my $n = 0;

# a new subscription that has all there is; its name

sub full {
    my $name = 'full-' . ++$n;
    my $r = $p->put('subscriptions', $name, { topic => $topic, %full, @_ });

    die $r->{body} if $r->{status} != 200;
    return $name;
}

sub patch {
    my ($name, $mask, $members) = @_;

    return $p->patch('subscriptions', $name,
                     { subscription => $members || {}, updateMask => $mask });
}

sub refused {
    my ($r, $what, $message, $status) = @_;
    my $e = $r->{json}{error} || {};

    is("$r->{status} $e->{status}", $status || '400 INVALID_ARGUMENT', $what);
    like($e->{message}, $message, "$what: why") if $message;
}

sub has { $p->get('subscriptions', $_[0])->{json} }

my %same = (topic => $topic, state => 'ACTIVE', %full);
my $default = '604800s';

# a mask, the members, what is otherwise afterwards (undef: gone)

my @cases = (
    ['ackDeadlineSeconds', { ackDeadlineSeconds => 40, labels => { z => 'z' } },
     ackDeadlineSeconds => 40],
    ['ack_deadline_seconds', { ack_deadline_seconds => 41 },
     ackDeadlineSeconds => 41],
    ['ackDeadlineSeconds', {}, ackDeadlineSeconds => 10],
    ['labels', { labels => { c => 'd', e => 'f' } }, labels => { c => 'd', e => 'f' }],
    ['labels', {}, labels => undef],
    ['messageRetentionDuration', { messageRetentionDuration => '800s' },
     messageRetentionDuration => '800s'],
    ['message_retention_duration', {}, messageRetentionDuration => '90000s'],
    ['retainAckedMessages', {}, retainAckedMessages => undef],
    ['expirationPolicy', { expirationPolicy => {} }, expirationPolicy => {}],
    ['expirationPolicy', {}, expirationPolicy => { ttl => '2678400s' }],
    ['expirationPolicy.ttl', { expirationPolicy => { ttl => '86400s' } },
     expirationPolicy => { ttl => '86400s' }],
    ['retryPolicy', {}, retryPolicy => undef],
    ['retryPolicy', { retryPolicy => {} },
     retryPolicy => { minimumBackoff => '10s', maximumBackoff => '600s' }],
    ['retry_policy.maximum_backoff', { retryPolicy => { maximumBackoff => '5s' } },
     retryPolicy => { minimumBackoff => '1s', maximumBackoff => '5s' }],
    ['retryPolicy.minimumBackoff', { retryPolicy => { minimumBackoff => '0.500s',
                                                      maximumBackoff => '9s' } },
     retryPolicy => { minimumBackoff => '0.500s', maximumBackoff => '2s' }],
    ['deadLetterPolicy', {}, deadLetterPolicy => undef],
    ['deadLetterPolicy', { deadLetterPolicy => { deadLetterTopic => $topic } },
     deadLetterPolicy => { deadLetterTopic => $topic, maxDeliveryAttempts => 5 }],
    ['dead_letter_policy.max_delivery_attempts',
     { deadLetterPolicy => { maxDeliveryAttempts => 7 } },
     deadLetterPolicy => { deadLetterTopic => $dead, maxDeliveryAttempts => 7 }],
    ['pushConfig', {}, pushConfig => {}],
    ['push_config', { push_config => { push_endpoint => 'http://localhost:8/' } },
     pushConfig => { pushEndpoint => 'http://localhost:8/' }],
    ['pushConfig.pushEndpoint', { pushConfig => {
        pushEndpoint => 'http://localhost:7/', noWrapper => {} } },
     pushConfig => { %{ $full{pushConfig} }, pushEndpoint => 'http://localhost:7/' }],
    ['pushConfig.noWrapper', { pushConfig => { noWrapper => {} } },
     pushConfig => { %{ $full{pushConfig} }, noWrapper => {} }],
    ['pushConfig.attributes', {}, pushConfig => {
        pushEndpoint => 'http://localhost:9/',
        noWrapper => { writeMetadata => JSON::PP::true } }],
    ['pushConfig,enableExactlyOnceDelivery', { enableExactlyOnceDelivery => \1 },
     pushConfig => {}, enableExactlyOnceDelivery => JSON::PP::true],
    ['labels,ack_deadline_seconds,labels', { ackDeadlineSeconds => 12 },
     labels => undef, ackDeadlineSeconds => 12],
);

for my $case (@cases) {
    my ($mask, $members, %changed) = @$case;
    my $name = full();
    my %now = (%same, name => $p->name('subscriptions', $name));

    for (keys %changed) {
        defined $changed{$_} ? $now{$_} = $changed{$_} : delete $now{$_};
    }

    my $r = patch($name, $mask, $members);
    is($r->{status}, 200, "mask $mask") or diag($r->{body});
    is_deeply($r->{json}, \%now, "changed $mask");
    is_deeply(has($name), \%now, "$mask is kept");
}

# what a mask may not have, and bodies that are wrong: nothing changes

my $name = full();
my $before = $p->get('subscriptions', $name)->{body};
my $none = qr/^The update_mask in the request must be set/;

my @wrong = (
    ['', {}, $none], [undef, {}, $none],
    (map { [$_, {}, qr/^Invalid update_mask .*"\Q$_\E"/] }
        qw/name topic filter enableMessageOrdering enable_message_ordering state
           detached tags unknown * Labels ackDeadline_seconds bigqueryConfig
           topicMessageRetentionDuration ackDeadlineSeconds.x/, 'labels '),
    ['labels,', {}, qr/update_mask/], [',labels', {}, qr/update_mask/],
    [['labels'], {}, qr/updateMask/], [1, {}, qr/updateMask/],
    ['ackDeadlineSeconds', { ackDeadlineSeconds => 9 }, qr/ackDeadlineSeconds/],
    ['labels', { labels => { A => 1 } }, qr/labels/],
    ['labels', { ackDeadlineSeconds => 'x' }, qr/ackDeadlineSeconds/],
    ['labels', { unknown => 1 }, qr/Unknown name "unknown" at 'subscription'/],
    ['labels,ackDeadlineSeconds', { labels => { a => 'c' }, ackDeadlineSeconds => 1 },
     qr/ackDeadlineSeconds/],
    ['messageRetentionDuration', { messageRetentionDuration => '90001s' },
     qr/expirationPolicy\.ttl/],
    ['retryPolicy.minimumBackoff', { retryPolicy => { minimumBackoff => '3s' } },
     qr/more than maximumBackoff/],
    ['deadLetterPolicy.deadLetterTopic', {}, qr/deadLetterTopic/],
    ['deadLetterPolicy', { deadLetterPolicy => {
        deadLetterTopic => 'projects/x/topics/dead' } }, qr/another project/],
    ['pushConfig', { pushConfig => { pushEndpoint => 'http://x.com/' } },
     qr/push endpoint/],
    ['pushConfig.attributes', { pushConfig => { attributes => {
        'x-goog-version' => 'v9' } } }, qr/x-goog-version/],
    ['enableExactlyOnceDelivery', { enableExactlyOnceDelivery => \1 },
     qr/not for push/],
);

for my $case (@wrong) {
    my ($mask, $members, $message) = @$case;

    refused(patch($name, $mask, $members),
            'mask ' . ($mask // 'null') . ' ' . join(' ', keys %$members), $message);
}

refused($p->patch('subscriptions', $name, $_), "body $_")
    for '{}', '{"updateMask":"labels"}', '{"subscription":[],"updateMask":"labels"}',
        '{"subscription":{}}', '{"subscription":{},"updateMask":"labels","x":1}',
        '{"topic":{},"updateMask":"labels"}', '[]', '',
        '{"subscription":{},"updateMask":"labels","update_mask":"labels"}';

refused(patch($name, 'deadLetterPolicy', { deadLetterPolicy => {
        deadLetterTopic => $p->name('topics', 'none') } }),
        'no such topic for dead letters', qr/\(resource=none\)/, '404 NOT_FOUND');
refused(patch($name, 'pushConfig', { pushConfig => {
        pushEndpoint => 'https://example.com',
        oidcToken => { serviceAccountEmail => 'a@b' } } }),
        'tokens without a key', qr/queues_oidc_key/, '400 FAILED_PRECONDITION');

is($p->get('subscriptions', $name)->{body}, $before, 'nothing has changed');

refused(patch('none', 'labels'), 'none', qr/\(resource=none\)/, '404 NOT_FOUND');
refused(patch('none', 'labels', { labels => 1 }), 'none, and a wrong body');

# where the topic for dead letters was deleted all else can be changed still

$name = full(deadLetterPolicy => { deadLetterTopic => $doomed });
$p->delete('topics', 'doomed');
is(patch($name, 'labels', { labels => { x => 'y' } })->{json}{labels}{x}, 'y',
   'the topic for dead letters is gone');
refused(patch($name, 'deadLetterPolicy', { deadLetterPolicy => {
        deadLetterTopic => $p->name('topics', 'none') } }),
        'and cannot be another one that is', undef, '404 NOT_FOUND');

# and where the server does not allow the endpoint any more

$name = full();

my $strict = NgxQueues::Server->new(node_of => $s,
    api => 'queues_pubsub_api acme; queues_auth off;');
my $node = NgxQueues::Pubsub->new($strict);

sub strictly { $node->patch('subscriptions', $name,
    { subscription => $_[1] || {}, updateMask => $_[0] }) }

is(strictly('labels', { labels => { x => 'z' } })->{json}{labels}{x}, 'z',
   'an endpoint that may not be any more');
refused(strictly($_), "$_ is checked with it", qr/push endpoint/)
    for 'pushConfig.attributes', 'pushConfig.noWrapper';
is_deeply(strictly('pushConfig')->{json}{pushConfig}, {}, 'it can be taken away');

$strict->finish;

# topics

sub topic { $p->patch('topics', 'orders', { topic => $_[1] || {},
                                            updateMask => $_[0] }) }

is_deeply(topic('labels', { labels => { a => 'b' }, messageRetentionDuration => '600s' })
          ->{json}, { name => $topic, labels => { a => 'b' }, state => 'ACTIVE' },
          'labels of a topic');
is_deeply(topic('message_retention_duration', { messageRetentionDuration => '601s' })
          ->{json}, { name => $topic, labels => { a => 'b' }, state => 'ACTIVE',
                      messageRetentionDuration => '601s' }, 'its retention');
is_deeply(topic('messageRetentionDuration,labels,schemaSettings')->{json},
          { name => $topic, state => 'ACTIVE' }, 'both are cleared');

refused(topic($_->[0], $_->[1]), 'topic mask ' . ($_->[0] // 'null'))
    for [''], [undef], ['name'], ['kmsKeyName'], ['state'], ['x'], ['tags'],
        ['messageRetentionDuration', { messageRetentionDuration => '1s' }],
        ['labels', { labels => { A => 'b' } }],
        ['schemaSettings', { schemaSettings => { schema => 'x' } }];

refused($p->patch('topics', 'none', { topic => {}, updateMask => 'labels' }),
        'no such topic', qr/\(resource=none\)/, '404 NOT_FOUND');

# many at once

$name = full();
my @fields = (
    ['ackDeadlineSeconds', { ackDeadlineSeconds => 50 }],
    ['labels', { labels => { many => 'x' } }],
    ['messageRetentionDuration', { messageRetentionDuration => '1000s' }],
    ['retainAckedMessages', {}],
    ['expirationPolicy', { expirationPolicy => { ttl => '100000s' } }],
    ['retryPolicy', { retryPolicy => {} }],
);

my @h = map {
    my ($mask, $members) = @{ $fields[$_ % @fields] };

    $s->client->start(PATCH => $p->path('subscriptions', $name),
                      { subscription => $members, updateMask => $mask })
} 1 .. 30;

# each is tried ten times, and each time one of all is done

my %codes;
$codes{"$_->{status} " . ($_->{json}{error}{status} // '')}++
    for $s->client->wait_all(\@h, 20);

cmp_ok(delete $codes{'200 '} // 0, '>=', 10, 'ten are done');
delete $codes{'409 ABORTED'};
is_deeply(\%codes, {}, 'all others are told to try again');
is(patch($name, @$_)->{status}, 200, "alone: $_->[0]") for @fields;

my $now = has($name);
is("$now->{ackDeadlineSeconds} $now->{labels}{many} "
   . "$now->{messageRetentionDuration} $now->{expirationPolicy}{ttl} "
   . "$now->{retryPolicy}{minimumBackoff}", '50 x 1000s 100000s 10s',
   'all of it is there');

# of two that change different fields neither loses what the other did

for my $round (1 .. 20) {
    my @both = map {
        $s->client->start(PATCH => $p->path('topics', 'dead'),
                          { topic => $_->[1], updateMask => $_->[0] })
    } ['labels', { labels => { round => "r$round" } }],
      ['messageRetentionDuration', { messageRetentionDuration => (600 + $round) . 's' }];

    my @r = $s->client->wait_all(\@both, 20);
    my $t = $p->get('topics', 'dead')->{json};

    next if "$r[0]{status} $r[1]{status} $t->{labels}{round} "
            . $t->{messageRetentionDuration}
            eq "200 200 r$round " . (600 + $round) . 's';

    fail("round $round: $r[0]{body} $r[1]{body}");
}

pass('two at once, 20 times');

# what Redis has is not what was written: said, logged, and left as it is

my $redis = $s->redis->client;
my $root = $p->root;
my $t = $redis->call('HGET', "$root:gt", 'dead');

my $cfg = $redis->call('HGET', "$root:gt:$t", 'cfg');
$redis->call('HSET', "$root:gt:$t", 'cfg', '"labels":{');
my $r = $p->patch('topics', 'dead', { topic => {}, updateMask => 'labels' });
is("$r->{status} $r->{json}{error}{status}", '500 INTERNAL', 'not JSON in Redis');
is($redis->call('HGET', "$root:gt:$t", 'cfg'), '"labels":{', 'is left as it is');
$redis->call('HSET', "$root:gt:$t", 'cfg', $cfg);

$s->finish(allow => [qr/what Redis has of "dead" is not JSON/]);

done_testing();
