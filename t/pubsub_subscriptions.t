#!/usr/bin/perl

# Subscriptions of the Pub/Sub API: created, read, listed, detached, deleted;
# their defaults and limits; push configs.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use NgxQueues::Pubsub;

my $s = NgxQueues::Pubsub::server(
    workers => 2,
    http => 'queues_push_allow_localhost on; '
            . 'queues_push_allow_address 10.0.0.0/8; queues_push off;');
my $p = NgxQueues::Pubsub->new($s);

$p->topic($_) for qw/orders dead/;

my ($topic, $dead) = map { $p->name('topics', $_) } qw/orders dead/;

sub create {
    my ($id, %members) = @_;

    return $p->put('subscriptions', $id, { topic => $topic, %members });
}

sub refused {
    my ($r, $status, $what, $message) = @_;

    my %codes = (INVALID_ARGUMENT => 400, FAILED_PRECONDITION => 400,
                 NOT_FOUND => 404, ALREADY_EXISTS => 409);
    my $e = $r->{json}{error} || {};

    is("$r->{status} $e->{code} $e->{status}",
       "$codes{$status} $codes{$status} $status", $what);
    like($e->{message}, $message, "$what: why") if $message;
}

# as the production service was recorded to answer

my $r = create('plain', ackDeadlineSeconds => 60);

is("$r->{status} $r->{body}", '200 {"name":"projects/shop/subscriptions/plain",'
   . '"topic":"projects/shop/topics/orders","pushConfig":{},'
   . '"ackDeadlineSeconds":60,"messageRetentionDuration":"604800s",'
   . '"expirationPolicy":{"ttl":"2678400s"},"state":"ACTIVE"}', 'created');
is($p->get('subscriptions', 'plain')->{body}, $r->{body}, 'read');

refused(create('plain'), 'ALREADY_EXISTS', 'created again',
        qr/^Resource already exists in the project \(resource=plain\)\.$/);
refused(create('plain', topic => $p->name('topics', 'none')), 'ALREADY_EXISTS',
        'created again, of no topic');

refused($p->$_('subscriptions', 'none'), 'NOT_FOUND', "$_ of none",
        qr/^Resource not found \(resource=none\)\.$/) for qw/get delete/;
refused($p->call('none', $_, {}), 'NOT_FOUND', "$_ of none",
        qr/^Resource not found \(resource=none\)\.$/)
    for qw/detach modifyPushConfig/;

# the topic

refused(create('a-1', topic => $_), 'INVALID_ARGUMENT', 'topic ' . ($_ // 'null'))
    for undef, '', 'orders', 'topics/orders', 'projects/shop/subscriptions/orders',
        'projects/shop/topics/a', 'projects/shop/topics/a/b', $topic . ' ', {}, 1;
refused(create('a-1', topic => 'projects/other/topics/orders'),
        'INVALID_ARGUMENT', 'a topic of another project', qr/another project/);
refused(create('a-1', topic => $p->name('topics', 'none')), 'NOT_FOUND',
        'no such topic', qr/^Resource not found \(resource=none\)\.$/);

# all that there is comes back

my %full = (
    pushConfig => {
        pushEndpoint => 'https://example.com/push?a=%20b',
        attributes => { 'x-goog-version' => 'v1beta1' },
        noWrapper => { writeMetadata => JSON::PP::true },
    },
    ackDeadlineSeconds => 600, retainAckedMessages => JSON::PP::true,
    messageRetentionDuration => '86400.250s', labels => { a => 'b', c => '' },
    enableMessageOrdering => JSON::PP::true,
    expirationPolicy => { ttl => '86401s' },
    filter => qq/attributes.k = "\\"\x{e4}\\n" AND NOT attributes:x/,
    deadLetterPolicy => { deadLetterTopic => $dead, maxDeliveryAttempts => 100 },
    retryPolicy => { minimumBackoff => '0s', maximumBackoff => '599.999s' },
);

my %answer = (name => $p->name('subscriptions', 'full'), topic => $topic,
              state => 'ACTIVE', %full);

$r = create('full', %full, name => 'other', state => 'ACTIVE', tags => {},
            detached => \0, topicMessageRetentionDuration => '1s',
            bigqueryConfig => undef, cloudStorageConfig => {},
            messageTransforms => []);
is_deeply($r->{json}, \%answer, 'all that a subscription may have');
is_deeply($p->get('subscriptions', 'full')->{json}, \%answer, 'and read');

sub snake { $_[0] =~ s/"([a-z]+[A-Z]\w*)":/'"' . $1 =~ s{([A-Z])}{_\l$1}gr . '":'/ger }

my $text = snake(JSON::PP->new->utf8->canonical->encode(
    { topic => $topic, %full }));
like($text, qr/"ack_deadline_seconds":.*"dead_letter_topic":.*"no_wrapper":/,
     'names with underscores');
$answer{name} = $p->name('subscriptions', 'snake');
is_deeply($p->put('subscriptions', 'snake', $text)->{json}, \%answer,
          'are the same');

refused($p->put('subscriptions', 'a-1', qq/{"topic":"$topic",/
        . '"ackDeadlineSeconds":10,"ack_deadline_seconds":10}'),
        'INVALID_ARGUMENT', 'one field in two spellings', qr/more than once/);

# what is given, and how it comes back

my @good = (
    [ackDeadlineSeconds => 0, 10], [ackDeadlineSeconds => 10],
    [ackDeadlineSeconds => '20', 20], [ackDeadlineSeconds => 600],
    [messageRetentionDuration => '600s'], [messageRetentionDuration => '2678400s'],
    [expirationPolicy => {}], [expirationPolicy => { ttl => undef }, {}],
    [expirationPolicy => { ttl => '315576000000s' }],
    [retainAckedMessages => \0, undef], [enableMessageOrdering => \0, undef],
    [enableExactlyOnceDelivery => \1, JSON::PP::true], [labels => {}, undef],
    [filter => '', undef], [filter => 'attributes:' . 'k' x 245],
    [retryPolicy => {}, { minimumBackoff => '10s', maximumBackoff => '600s' }],
    [retryPolicy => { minimumBackoff => '600s' },
     { minimumBackoff => '600s', maximumBackoff => '600s' }],
    [retryPolicy => { minimumBackoff => '0s', maximumBackoff => '0s' }],
    [retryPolicy => undef, undef], [deadLetterPolicy => {}, undef],
    [deadLetterPolicy => { deadLetterTopic => $dead },
     { deadLetterTopic => $dead, maxDeliveryAttempts => 5 }],
    [deadLetterPolicy => { deadLetterTopic => $dead, maxDeliveryAttempts => 0 },
     { deadLetterTopic => $dead, maxDeliveryAttempts => 5 }],
    [pushConfig => undef, {}], [pushConfig => {}],
    [pushConfig => { pushEndpoint => '', attributes => {} }, {}],
    [pushConfig => { attributes => { 'x-goog-version' => 'v1' } }, {}],
    [pushConfig => { pushEndpoint => 'https://example.com', attributes => {} },
     { pushEndpoint => 'https://example.com' }],
    [pushConfig => { pushEndpoint => 'https://example.com:8443/x',
                     pubsubWrapper => {} }],
    [pushConfig => { pushEndpoint => 'https://example.com', noWrapper => {} }],
    [pushConfig => { pushEndpoint => 'https://example.com',
                     noWrapper => { writeMetadata => \0 } },
     { pushEndpoint => 'https://example.com', noWrapper => {} }],
    (map { [pushConfig => { pushEndpoint => $_ }] }
        'https://10.1.2.3/x', 'http://localhost/x', 'http://localhost:8080',
        'http://127.0.0.1:9/', 'http://127.9.9.9/x?y', 'http://[::1]:80/x'),
);

for my $case (@good) {
    my ($field, $value, $back) = @$case;
    my $name = JSON::PP->new->canonical->allow_nonref->encode(
        ref $value eq 'SCALAR' ? $$value : $value);

    $r = create('good', $field => $value);
    is($r->{status}, 200, "$field " . substr($name, 0, 60)) or diag($r->{body});
    is_deeply($r->{json}{$field}, @$case == 3 ? $back : $value,
              "$field " . substr($name, 0, 60) . ' comes back');
    is($p->get('subscriptions', 'good')->{body}, $r->{body}, 'and again');
    $p->delete('subscriptions', 'good');
}

# a retention that nobody asked for is no longer than the subscription

$r = create('short', expirationPolicy => { ttl => '86400s' });
is($r->{json}{messageRetentionDuration}, '86400s', 'the default is the ttl');

# what is refused

my $push = '"pushConfig":{"pushEndpoint":"https://example.com",';

my @wrong = (
    (map { [qq/"ackDeadlineSeconds":$_/, qr/ackDeadlineSeconds/] }
        9, 601, -1, 1, 10.5, '"x"', 'true', '{}', 4294967306, '""'),
    (map { [qq/"messageRetentionDuration":$_/, qr/messageRetentionDuration/] }
        '"599s"', '"2678401s"', '"x"', 600),
    ['"messageRetentionDuration":"86401s","expirationPolicy":{"ttl":"86400s"}',
     qr/more than expirationPolicy\.ttl/],
    (map { [qq/"expirationPolicy":$_/, qr/expirationPolicy/] }
        '{"ttl":"86399.999s"}', '{"ttl":"0s"}', '{"ttl":1}', '[]', '"86400s"'),
    ['"expirationPolicy":{"TTL":"86400s"}',
     qr/Unknown name "TTL" at 'expirationPolicy'/],
    (map { [qq/"retryPolicy":$_/, qr/retryPolicy/] }
        '{"minimumBackoff":"601s"}', '{"maximumBackoff":"600.001s"}',
        '{"minimumBackoff":"-1s"}', '{"maximumBackoff":"5s"}',
        '{"minimumBackoff":"20s","maximumBackoff":"10s"}', '[]', '{"a":1}'),
    (map { [qq/"deadLetterPolicy":$_/, $_[1]] }
        qq/{"deadLetterTopic":"$dead","maxDeliveryAttempts":4}/,
        qq/{"deadLetterTopic":"$dead","maxDeliveryAttempts":101}/,
        qq/{"deadLetterTopic":"$dead","maxDeliveryAttempts":-1}/,
        '{"maxDeliveryAttempts":5}', '{"deadLetterTopic":"dead"}',
        '{"deadLetterTopic":"projects/x/topics/dead"}', '"dead"'),
    (map { [qq/"$_":"yes"/, qr/'$_': it must be true or false/] }
        qw/retainAckedMessages enableMessageOrdering enableExactlyOnceDelivery/),
    ['"filter":"attributes"', qr/filter/], ['"filter":1', qr/'filter'/],
    ['"filter":"attributes:' . 'k' x 246 . '"', qr/filter/],
    (map { [qq/"$_":{"table":"t"}/, qr/'$_': it is not supported/] }
        qw/bigqueryConfig cloudStorageConfig bigtableConfig tags/),
    ['"messageTransforms":[{}]', qr/not supported/],
    ['"labels":{"A":""}', qr/labels/], ['"unknown":null', qr/Unknown name "unknown"/],
    ['"pushConfig":{"pushEndpoint":1}', qr/'pushConfig\.pushEndpoint'/],
    ['"pushConfig":{"x":1}', qr/Unknown name "x" at 'pushConfig'/],
    ['"pushConfig":[]', qr/"pushConfig" must be an object/],
    (map { [qq/"pushConfig":{"pushEndpoint":"$_"}/, qr/push endpoint given: the URL/] }
        'example.com', '/x', 'ftp://example.com', 'http://example.com',
        'http://10.1.2.3/', 'http://128.0.0.1/', 'http://localhost.example.com/',
        'https://', 'https://192.168.1.1/',
        'https://user@example.com/', 'https://example.com/#f',
        'https://exa mple.com', 'https://example.com/' . 'a' x 2048,
        'https://[::ffff:192.168.1.1]/'),
    (map { [qq/${push}"attributes":$_}/, qr/attributes/] }
        '{"x-goog-version":"v2"}', '{"x-goog-version":1}', '{"x":"y"}', '[]'),
    [qq/${push}"noWrapper":{},"pubsubWrapper":{}}/, qr/beside pubsubWrapper/],
    [qq/${push}"noWrapper":{"writeMetadata":"x"}}/, qr/writeMetadata/],
    [qq/${push}"noWrapper":{"x":1}}/, qr/at 'pushConfig\.noWrapper'/],
    [qq/${push}"pubsubWrapper":{"x":1}}/, qr/at 'pushConfig\.pubsubWrapper'/],
    [qq/${push}"oidcToken":{}}/, qr/serviceAccountEmail/],
    [qq/${push}"oidcToken":{"serviceAccountEmail":"a\\nb"}}/,
     qr/serviceAccountEmail/],
    [qq/${push}"oidcToken":{"serviceAccountEmail":"a\@b","audience":"a\\u0000"}}/,
     qr/audience/],
    [qq/${push}"oidcToken":{"x":1}}/, qr/at 'pushConfig\.oidcToken'/],
    [qq/${push}"attributes":{}},"enableExactlyOnceDelivery":true/,
     qr/not for push/],
);

for my $case (@wrong) {
    refused($p->put('subscriptions', 'wrong', qq/{"topic":"$topic",$case->[0]}/),
            'INVALID_ARGUMENT', substr($case->[0], 0, 70), $case->[1]);
}

refused($p->get('subscriptions', 'wrong'), 'NOT_FOUND', 'none was made');

refused(create('wrong', deadLetterPolicy =>
               { deadLetterTopic => $p->name('topics', 'none') }),
        'NOT_FOUND', 'no topic for dead letters',
        qr/^Resource not found \(resource=none\)\.$/);

refused(create('wrong', pushConfig => { pushEndpoint => 'https://example.com',
               oidcToken => { serviceAccountEmail => 'a@b.c' } }),
        'FAILED_PRECONDITION', 'tokens without a key', qr/queues_oidc_key/);

# what is wrong is told as a violation of its field, too

$r = create('wrong', retryPolicy => { minimumBackoff => '601s' });
is_deeply($r->{json}{error}{details}, [{
    '@type' => 'type.googleapis.com/google.rpc.BadRequest',
    fieldViolations => [{ field => 'retryPolicy.minimumBackoff',
                          description => 'It must be from 0s to 600s.' }],
}], 'of which field');
is_deeply(create('wrong', pushConfig => { pushEndpoint => 'ftp://example.com' })->{json}{error}{details}, [{
    '@type' => 'type.googleapis.com/google.rpc.BadRequest',
    fieldViolations => [{ field => 'pushConfig.pushEndpoint',
                          description => 'It must begin with https://.' }],
}], 'an endpoint as well');
is_deeply(create('wrong', pushConfig => { pushEndpoint => 'https://example.com',
                 oidcToken => { serviceAccountEmail => 'a@b.c' } })->{json}{error}{details}, [{
    '@type' => 'type.googleapis.com/google.rpc.PreconditionFailure',
    violations => [{ type => 'OIDC_KEY', subject => 'pushConfig.oidcToken.serviceAccountEmail',
                     description => 'This server has no key for OIDC tokens.' }],
}], 'and what the server lacks for one');

# a filter that cannot be parsed tells where

$r = create('wrong', filter => qq/attributes:a AND\n  attributes.b ~ "c"/);
refused($r, 'INVALID_ARGUMENT', 'a filter');
is_deeply($r->{json}{error}{details}, [{
    '@type' => 'type.googleapis.com/google.rpc.ErrorInfo',
    reason => 'FILTER_EXPRESSION_FAILED_TO_PARSE',
    domain => 'pubsub.googleapis.com',
    metadata => { line => '2', column => '16', token => '~' },
}], 'where it is wrong');

# names are of a kind: a topic and a subscription may have the same

is(create('orders')->{status}, 200, 'the name of its topic');
is($p->get('topics', 'orders')->{json}{name}, $topic, 'which is another thing');

# lists

$p->delete('subscriptions', $_) for qw/plain full snake short orders/;
create("list-$_") for 3, 1, 2;

sub list { $p->{client}->get($p->path('subscriptions') . ($_[0] // '')) }

is(join(' ', map { $_->{name} =~ s{.*/}{}r } @{ list()->{json}{subscriptions} }),
   'list-1 list-2 list-3', 'listed by name');

$r = list('?pageSize=2');
is(scalar @{ $r->{json}{subscriptions} }, 2, 'a page');
is_deeply(list("?pageToken=$r->{json}{nextPageToken}")->{json},
          { subscriptions => [$p->get('subscriptions', 'list-3')->{json}] },
          'the next one has whole subscriptions');

# a topic's retention is shown

$p->patch('topics', 'orders', { topic => { messageRetentionDuration => '700s' },
                                updateMask => 'messageRetentionDuration' });
is($p->get('subscriptions', 'list-1')->{json}{topicMessageRetentionDuration},
   '700s', 'what the topic keeps');

# pull and push

sub push_config { $p->get('subscriptions', 'list-1')->{json}{pushConfig} }

is($p->call('list-1', 'modifyPushConfig', { pushConfig =>
    { pushEndpoint => 'http://localhost:9/' } })->{body}, '{}', 'push');
is_deeply(push_config(), { pushEndpoint => 'http://localhost:9/' }, 'it is');
refused($p->call('list-1', 'pull', { maxMessages => 1 }), 'FAILED_PRECONDITION',
        'pull of a push subscription',
        qr/^This method is not supported for this subscription type\.$/);

refused($p->call('list-1', 'modifyPushConfig', { pushConfig =>
        { pushEndpoint => $_ } }), 'INVALID_ARGUMENT', "push to $_")
    for 'http://example.com/', 'x';
refused($p->call('list-1', 'modifyPushConfig', { pushConfig =>
        { pushEndpoint => 'https://example.com',
          oidcToken => { serviceAccountEmail => 'a@b.c' } } }),
        'FAILED_PRECONDITION', 'push with tokens');
refused($p->call('list-1', 'modifyPushConfig', $_), 'INVALID_ARGUMENT',
        "body $_") for '{"pushEndpoint":"https://example.com"}', '[]', '{';
is_deeply(push_config(), { pushEndpoint => 'http://localhost:9/' },
          'which changed nothing');

for my $none ({ pushConfig => {} }, {}, '', { pushConfig => undef },
              { push_config => { push_endpoint => '' } })
{
    $p->call('list-1', 'modifyPushConfig', { pushConfig =>
        { pushEndpoint => 'http://localhost:9/' } });
    is($p->call('list-1', 'modifyPushConfig', $none)->{body}, '{}', 'pull again');
    is_deeply(push_config(), {}, 'it is');
    is($p->call('list-1', 'pull', { maxMessages => 1, returnImmediately => \1 })
       ->{body}, '{}', 'and pulls');
}

create('once', enableExactlyOnceDelivery => \1);
refused($p->call('once', 'modifyPushConfig', { pushConfig =>
        { pushEndpoint => 'http://localhost:9/' } }), 'INVALID_ARGUMENT',
        'push of one that delivers exactly once');

# detached

for my $body ('""', '{}', '', undef) {
    my $name = 'detach-' . length($body // 'none');

    create($name);
    is($p->{client}->post($p->path('subscriptions', $name, 'detach')
                          . '?$alt=json', $body)->{body}, '{}', 'detached');
    is($p->get('subscriptions', $name)->{json}{detached}, JSON::PP::true, 'it is');
    refused($p->call($name, 'pull', { maxMessages => 1 }), 'FAILED_PRECONDITION',
            'pull of it');
    is($p->call($name, 'detach', {})->{body}, '{}', 'detached again');
}

# as many as a topic may have

for my $i (1 .. 1000) {
    my $r = create("many-$i", topic => $dead);

    last if $r->{status} != 200;
}

is(scalar @{ $p->{client}->get($p->path('topics', 'dead')
   . '/subscriptions?pageSize=1000')->{json}{subscriptions} }, 1000, '1,000');

$r = create('many-more', topic => $dead);
is("$r->{status} $r->{json}{error}{status}", '429 RESOURCE_EXHAUSTED',
   'one more of a topic');

$s->finish;

# localhost, where nobody has said that it may be

my $strict = NgxQueues::Pubsub::server();
my $q = NgxQueues::Pubsub->new($strict);

$q->topic('orders');

refused($q->put('subscriptions', 'wrong', { topic => $topic, pushConfig =>
        { pushEndpoint => $_ } }), 'INVALID_ARGUMENT', $_, qr/push endpoint/)
    for 'http://localhost/', 'http://127.0.0.1/', 'http://[::1]/',
        'https://localhost/', 'https://127.0.0.1/', 'https://10.1.2.3/';

$strict->finish;

done_testing();
