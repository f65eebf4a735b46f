#!/usr/bin/perl

# The rules of Pub/Sub's REST API, one by one: how things are written, names,
# routes, resources. What messages do is in t/pubsub_page_messages.t.

use strict;
use warnings;
use utf8;

use Digest::SHA 'sha256_hex';
use Encode 'encode_utf8';
use JSON::PP ();
use Test::More;

use NgxQueues::Server;

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my $s = NgxQueues::Server->new(
    http => 'client_max_body_size 11m;',
    keys => [sha256_hex('reader') . ' reader pubsub.topics.get o/shop/*'],
    locations => 'location /v1/projects/ { queues_pubsub_api o; }');
our $c = $s->client;
my $p = '/v1/projects/shop';
my $name = 'projects/shop';
my $n = 0;

# "200 {…}", canonical, or "404 NOT_FOUND"; the last answer is in $r

my $r;

sub said {
    my ($method, $path, $body, %options) = @_;

    $body = $json->encode($body) if ref $body;
    $body = encode_utf8($body) if defined $body && utf8::is_utf8($body);
    $path = "$p$path" if $path !~ m{^/v1/};

    $r = $c->request($method, $path, $body, timeout => 40, %options);

    my $is = $r->{json} or return "$r->{status} $r->{body}";

    return "$r->{status} " . $json->encode($is) if $r->{status} == 200;

    my $e = $is->{error};

    return "$r->{status} is not $e->{code}" if $e->{code} != $r->{status};
    return "$r->{status} without a message" if !length $e->{message};

    return "$r->{status} $e->{status}";
}

my $invalid = '400 INVALID_ARGUMENT';
my $absent = '404 NOT_FOUND';

sub message { $r->{json}{error}{message} }

# a subscription's creation: what it answers; its fields are in $r->{json}

sub creation {
    my ($fields) = @_;

    my $body = ref $fields ? { topic => "$name/topics/here", %$fields }
        : "{\"topic\":\"$name/topics/here\",$fields}";

    return said(PUT => '/subscriptions/made-' . ++$n, $body);
}

sub made { creation(@_) =~ /^200 / ? 'made' : "$r->{status} $r->{body}" }

# of a field of the answer

sub field { my ($f) = @_; $json->encode($r->{json}{$f}) }

# of a topic of whom only the name is said

sub topic_is {
    return "200 {\"name\":\"$name/topics/$_[0]\",\"state\":\"ACTIVE\"}";
}

is(said(PUT => '/topics/here', {}), topic_is('here'), 'a topic');

# 1. how it is written

is($r->{headers}{'content-type'}, 'application/json; charset=UTF-8', 'its type');

is(said(GET => '/topics/here?$alt=json%3Benum-encoding=int&x=y&prettyPrint'),
   topic_is('here'), 'unknown keys of a query');
is(said(GET => '/topics/here', undef,
        headers => { 'Content-Type' => 'application/json' }),
   topic_is('here'), 'a type without a body');

for (['a~b%2Bc%2541d', 'a~b+c%41d'], ['a+b', 'a+b'], ['a%7Eb', 'a~b'],
     ['x%252Fy', 'x%2Fy'])
{
    my ($raw, $id) = @$_;

    is(said(PUT => "/topics/$raw", {}), topic_is($id),
       "$raw is $id");
    is(said(DELETE => "/topics/$raw"), '200 {}', 'and is there');
}

is(said(PUT => '/topics/a%20b', {}), $invalid, 'a blank is no name');
like(said(POST => '/topics/here%3Apublish', '{}'), qr/^(?:400 I|404 N|405 U|501 U)/,
     'an escaped colon begins no verb');

for my $spelling ('ackDeadlineSeconds', 'ack_deadline_seconds') {
    is(made("\"$spelling\":20"), 'made', $spelling);
    is(field('ackDeadlineSeconds'), 20, 'it is the deadline');
}

is(creation('"ackDeadlineSeconds":20,"ack_deadline_seconds":20'), $invalid,
   'both spellings');
is(creation('"retryPolicy":{"minimumBackoff":"1s","minimum_backoff":"1s"}'),
   $invalid, 'both, inside');
is(made('"ackDeadlineSeconds":null,"labels":null,"retryPolicy":null'), 'made',
   'null is as nothing');
is(field('ackDeadlineSeconds'), 10, 'a deadline of null');

for ('"ackDeadlineSeconds":"20"', '"ackDeadlineSeconds":20.0',
     '"ackDeadlineSeconds":2e1')
{
    is(made($_), 'made', $_);
    is(field('ackDeadlineSeconds'), 20, 'it is 20');
}

for ('"ackDeadlineSeconds":20.5', '"ackDeadlineSeconds":true',
     '"ackDeadlineSeconds":"x"', '"ackDeadlineSeconds":4294967316',
     '"retainAckedMessages":1', '"retainAckedMessages":"yes"', '"filter":1',
     '"labels":[]', '"labels":{"a":1}', '"pushConfig":"x"', '"topic":1',
     '"messageRetentionDuration":600', '"messageRetentionDuration":"600"',
     '"messageRetentionDuration":"10m"', '"messageRetentionDuration":"s"')
{
    is(creation($_), $invalid, $_);
}

is(made('"retryPolicy":{"minimumBackoff":"1.5s","maximumBackoff":"2.000000s"}'),
   'made', 'durations');
is(field('retryPolicy'), '{"maximumBackoff":"2s","minimumBackoff":"1.500s"}',
   'written with 0 or 3 digits');

is(made({ ackDeadlineSeconds => 60 }), 'made', 'the answer that was recorded');
is($json->encode($r->{json}),
   $json->encode({ name => "$name/subscriptions/made-$n",
       topic => "$name/topics/here", pushConfig => {},
       ackDeadlineSeconds => 60, messageRetentionDuration => '604800s',
       expirationPolicy => { ttl => '2678400s' }, state => 'ACTIVE' }),
   'what is usual is left out');

is(made({ labels => {}, tags => {}, pushConfig => { attributes => {} } }),
   'made', 'the empty maps of the client');
is(said(PUT => '/topics/bare', ''), topic_is('bare'),
   'no body at all');

for my $body ('', '""', '{}') {
    is(made({}), 'made', "to be detached by '$body'");
    is(said(POST => "/subscriptions/made-$n:detach", $body), '200 {}', 'it is');
    is(said(GET => "/subscriptions/made-$n") =~ /"detached":true/, 1, 'and says');
}

is(said(PUT => '/topics/wins', { name => 'projects/x/topics/loses' }),
   topic_is('wins'), 'the path wins');

for (['/topics/odd', '{"x":1}', 'x'],
     ['/subscriptions/odd', "{\"topic\":\"$name/topics/here\",\"y\":1}", 'y'],
     ['/subscriptions/odd', "{\"topic\":\"$name/topics/here\","
      . '"retryPolicy":{"z":1}}', 'z'])
{
    my ($path, $body, $unknown) = @$_;

    is(said(PUT => $path, $body), $invalid, "unknown: $unknown");
    like(message(), qr/^Invalid JSON payload received\. Unknown name "$unknown"/,
         'and named');
    like(message(), qr/: Cannot find field\.$/, 'in these words');
}

is(said(PUT => '/topics/odd', $_), $invalid, "no object: $_")
    for '{', '[]', '1', 'x', '{"labels":{"a":"b"}', '{} {}', "{\"\x01\":1}",
        '{"labels":{"a":"1","a":"2"}}';

is(said(GET => '/topics/odd'), $absent, 'none of these is there');
is(message(), 'Resource not found (resource=odd).', 'the message');
like($r->{headers}{'content-type'}, qr{^application/json}, 'an error is JSON');

# errors, of what is no route too

for (['GET', '/nothing'], ['GET', '/topics/here/nothing'], ['GET', '/topics/'],
     ['GET', ''], ['GET', '/'], ['POST', '/topics/here:nothing'],
     ['POST', '/topics/here'], ['DELETE', '/topics'], ['PATCH', '/topics'],
     ['GET', '/schemas'], ['POST', '/topics/here:getIamPolicy'],
     ['POST', '/topics/here:setIamPolicy'],
     ['POST', '/subscriptions/none:testIamPermissions'],
     ['POST', '/subscriptions/none:streamingPull'])
{
    my ($method, $path) = @$_;

    like(said($method, $path, $method eq 'GET' ? undef : '{}'),
         qr/^(?:501 UNIMPLEMENTED|404 NOT_FOUND|405 \w+)$/, "$method $path");
}

is(said($_ => '/topics/here:publish', $_ eq 'GET' ? undef : {}),
   '405 UNIMPLEMENTED', "no $_ of a verb") for qw/GET PUT PATCH DELETE/;
is(said(POST => '/topics/here:getIamPolicy', '{}'), '501 UNIMPLEMENTED', 'IAM');

my $reader = $s->client(key => 'reader');

{
    local $c = $s->client(key => undef);

    is(said(GET => '/topics/here'), '401 UNAUTHENTICATED', 'no key');
    like($r->{headers}{'www-authenticate'}, qr/^Bearer/, 'what it takes');
    $c = $reader;
    like(said(GET => '/topics/here'), qr/^200 /, 'a key for reading');
    is(said(DELETE => '/topics/here'), '403 PERMISSION_DENIED', 'for nothing else');
    is(said(DELETE => '/topics/none'), '403 PERMISSION_DENIED',
       'whatever there is');
}

# 2. names, labels

for my $id ('abc', 'a' x 255, 'A-b_c.d~e+f%g', 'sub.x') {
    my $raw = $id =~ s/%/%25/gr;

    like(said(PUT => "/topics/$raw", {}), qr/^200 /, "a name: $id");
}

for my $id ('ab', 'a' x 256, '1ab', '-ab', '.ab', 'goog', 'googx', 'a%2Fb',
            'ab%00', 'ab%C3%A9', 'a%3Ab', 'a%22b', 'a*b', '%61')
{
    is(said($_ => "/topics/$id", $_ eq 'GET' ? undef : {}), $invalid,
       "no name, $_: $id") for qw/PUT GET/;
}

is(said(PUT => '/subscriptions/ab', { topic => "$name/topics/here" }), $invalid,
   'no name of a subscription');
is(creation({ topic => $_ }), $invalid, "no topic: $_")
    for 'here', 'topics/here', "$name/topics/x", "$name/topics/",
        "$name/subscriptions/here", "/$name/topics/here";
is(said(PUT => '/subscriptions/made', {}), $invalid, 'no topic at all');

sub labelled { said(PUT => '/topics/labels-' . ++$n, { labels => $_[0] }) }

for ({ a => '' }, { 'a' x 63 => 'b' x 63 }, { 'a_b-1' => '1_-é' }, { 'é' => 'a' },
     { map { ("k$_" => 'v') } 1 .. 64 })
{
    like(labelled($_), qr/^200 /, 'labels') or diag($r->{body});
    is(field('labels'), $json->encode($_), 'as they were given');
}

for ({ 'a' x 64 => '' }, { a => 'b' x 64 }, { A => '' }, { '' => 'a' },
     { '1a' => '' }, { 'a b' => '' }, { a => 'B' }, { a => 'b c' },
     { map { ("k$_" => 'v') } 1 .. 65 })
{
    is(labelled($_), $invalid, 'no labels: ' . substr $json->encode($_), 0, 40);
}

# 3. lists

like(said(PUT => "/v1/projects/lists/topics/t$_", {}), qr/^200 /, "t$_")
    for map { sprintf '%02d', $_ } reverse 1 .. 25;

sub list {
    my ($query) = @_;

    said(GET => "/v1/projects/lists/topics$query");

    return join ' ', (map { $_->{name} =~ s{.*/t}{}r } @{ $r->{json}{topics} }),
        $r->{json}{nextPageToken} ? 'more' : ();
}

my $all = join ' ', map { sprintf '%02d', $_ } 1 .. 25;

is(list(''), $all, 'a list, by names');
is(list('?pageSize=0'), $all, 'a size of 0');
is(list('?pageSize=5000'), $all, 'of more than there can be');
is(list('?pageSize=25'), $all, 'of as many as there are');
is(list('?page_size=10'), '01 02 03 04 05 06 07 08 09 10 more', 'a page');

my $token = $r->{json}{nextPageToken} =~ s/([^\w])/sprintf '%%%02X', ord $1/ger;

is(list("?pageSize=3&pageToken=$token"), '11 12 13 more', 'the next');
is(list("?page_token=$token"), join(' ', 11 .. 25), 'and the rest');
is(said(GET => "/v1/projects/lists/topics?pageToken=$_"), $invalid, "token $_")
    for 'x', "x$token";
is(said(GET => "/v1/projects/lists/subscriptions?pageToken=$token"), $invalid,
   'a token of another list');
is(said(GET => "/v1/projects/lists/topics?pageSize=$_"), $invalid, "size $_")
    for '-1', 'x', '1.5';
is(said(GET => "/v1/projects/lists/$_"), '200 {}', "no $_")
    for 'subscriptions', 'snapshots', 'topics/t01/subscriptions',
        'topics/t01/snapshots';
is(said(GET => "/v1/projects/lists/topics/none/$_"), $absent, "none, $_")
    for 'subscriptions', 'snapshots';

# 4. topics

sub topic { said(PUT => '/topics/made-' . ++$n, $_[0]) }

for (['600s', '600s'], ['2678400s', '2678400s'], ['600.5s', '600.500s']) {
    like(topic({ messageRetentionDuration => $_->[0] }), qr/^200 /, $_->[0]);
}

is(topic({ messageRetentionDuration => $_ }), $invalid, "a retention of $_")
    for '599s', '599.999s', '2678401s', '-600s', '0s';
is(topic($_), $invalid, 'refused: ' . (keys %$_)[0])
    for { ingestionDataSourceSettings => {
              awsKinesis => { streamArn => 'a' } } },
        { messageTransforms => [{ javascriptUdf => { functionName => 'a' } }] };
like(topic({ kmsKeyName => 'a' }), qr/^200 /, 'kmsKeyName is ignored');
like(topic({ messageTransforms => [], satisfiesPzs => \0 }), qr/^200 /,
     'what is empty');

like(said(PUT => '/topics/patched', { labels => { a => 'b' },
                                      messageRetentionDuration => '600s' }),
     qr/^200 /, 'to be patched');

sub patch {
    my ($kind, $id, $mask, %members) = @_;

    my $of = { topics => 'topic', subscriptions => 'subscription',
               snapshots => 'snapshot' }->{$kind};

    return said(PATCH => "/$kind/$id", { $of => \%members,
        defined $mask ? (updateMask => $mask) : () });
}

is(patch('topics', 'patched', 'labels', labels => { c => 'd' },
         messageRetentionDuration => '700s'),
   "200 {\"labels\":{\"c\":\"d\"},\"messageRetentionDuration\":\"600s\","
   . "\"name\":\"$name/topics/patched\",\"state\":\"ACTIVE\"}", 'only what the mask says');
is(patch('topics', 'patched', 'message_retention_duration,labels'),
   topic_is('patched'), 'cleared');
is(patch('topics', 'patched', $_, labels => { e => 'f' }), $invalid,
   'mask ' . ($_ // 'none')) for undef, '', 'x', 'name', 'labels,x', 'labels,';
is(patch('topics', 'none-such', 'labels'), $absent, 'of none');
is(said(GET => '/topics/patched'), topic_is('patched'),
   'nothing was changed');

# subscriptions

for (['{}', 'expirationPolicy', '{"ttl":"2678400s"}'],
     ['{"expirationPolicy":{}}', 'expirationPolicy', '{}'],
     ['{"expirationPolicy":{"ttl":"86400s"}}', 'messageRetentionDuration',
      '"86400s"'],
     ['{"expirationPolicy":{"ttl":"700000s"}}', 'messageRetentionDuration',
      '"604800s"'],
     ['{"messageRetentionDuration":"2678400s"}', 'messageRetentionDuration',
      '"2678400s"'],
     ['{"ackDeadlineSeconds":0}', 'ackDeadlineSeconds', 10],
     ['{"ackDeadlineSeconds":600}', 'ackDeadlineSeconds', 600],
     ['{"retryPolicy":{}}', 'retryPolicy',
      '{"maximumBackoff":"600s","minimumBackoff":"10s"}'],
     ['{"retryPolicy":{"minimumBackoff":"20s"}}', 'retryPolicy',
      '{"maximumBackoff":"600s","minimumBackoff":"20s"}'],
     ["{\"deadLetterPolicy\":{\"deadLetterTopic\":\"$name/topics/here\"}}",
      'deadLetterPolicy', "{\"deadLetterTopic\":\"$name/topics/here\","
      . '"maxDeliveryAttempts":5}'],
     ["{\"deadLetterPolicy\":{\"deadLetterTopic\":\"$name/topics/here\","
      . '"maxDeliveryAttempts":0}}',
      'deadLetterPolicy', "{\"deadLetterTopic\":\"$name/topics/here\","
      . '"maxDeliveryAttempts":5}'],
     ['{"filter":"attributes:a"}', 'filter', '"attributes:a"'],
     ['{"retainAckedMessages":true}', 'retainAckedMessages', 'true'],
     ['{"enableMessageOrdering":true}', 'enableMessageOrdering', 'true'],
     ['{"detached":true}', 'detached', 'null'],
     ['{"pushConfig":{"pushEndpoint":""}}', 'pushConfig', '{}'])
{
    my ($fields, $field, $is) = @$_;

    is(made($json->decode($fields)), 'made', $fields);
    is(field($field), $is, "$field");
    is(said(GET => "/subscriptions/made-$n") && field($field), $is, 'and kept');
}

for ('"ackDeadlineSeconds":-1', '"expirationPolicy":{"ttl":"86399s"}',
     '"expirationPolicy":{"ttl":"0s"}', '"messageRetentionDuration":"-1s"',
     '"retryPolicy":{"minimumBackoff":"-1s"}',
     '"retryPolicy":{"minimumBackoff":"601s"}',
     '"retryPolicy":{"maximumBackoff":"5s"}',
     '"deadLetterPolicy":{"maxDeliveryAttempts":5}',
     '"deadLetterPolicy":{"deadLetterTopic":"here"}',
     '"cloudStorageConfig":{"bucket":"a"}', '"bigtableConfig":{"table":"a"}',
     '"messageTransforms":[{"disabled":true}]',
     '"pushConfig":{"pushEndpoint":"https://a.example.com/",'
     . '"pubsubWrapper":{},"noWrapper":{}}',
     '"pushConfig":{"pushEndpoint":"https://a.example.com/",'
     . '"attributes":{"x":"y"}}',
     '"pushConfig":{"pushEndpoint":"https://a.example.com/",'
     . '"attributes":{"x-goog-version":"v2"}}')
{
    is(creation($_), $invalid, $_);
}

is(creation('"pushConfig":{"pushEndpoint":"https://a.example.com/",'
            . '"oidcToken":{"serviceAccountEmail":"a@b.example.com"}}'),
   '400 FAILED_PRECONDITION', 'a token, and no key to sign it with');

is(creation('"deadLetterPolicy":{"deadLetterTopic":"projects/x/topics/here"}'),
   $invalid, 'dead letters to another project');

is(made({ labels => { a => 'b' }, ackDeadlineSeconds => 20 }), 'made', 'one');

my $sub = "made-$n";
my $before = said(GET => "/subscriptions/$sub");

is(patch('subscriptions', $sub, $_, topic => "$name/topics/wins",
         ackDeadlineSeconds => 30, filter => 'attributes:a'), $invalid,
   'mask ' . ($_ // 'none'))
    for undef, '', 'name', 'topic', 'filter', 'enableMessageOrdering', 'state',
        'x', 'ackDeadlineSeconds,topic', 'retryPolicy.x';
is(patch('subscriptions', $sub, 'ackDeadlineSeconds', ackDeadlineSeconds => 5),
   $invalid, 'out of range');
is(patch('subscriptions', $sub, 'deadLetterPolicy',
         deadLetterPolicy => { deadLetterTopic => "$name/topics/none" }),
   $absent, 'dead letters to nowhere');
is(said(GET => "/subscriptions/$sub"), $before, 'nothing was changed');
like(patch('subscriptions', $sub, 'ack_deadline_seconds, labels'),
     qr/^(?:200|400 INV)/, 'blanks in a mask');
like(patch('subscriptions', $sub, 'labels,ackDeadlineSeconds'), qr/^200 /,
     'both are cleared');
is(field('ackDeadlineSeconds') . field('labels'), '10null', 'they are');

# 13. what is there twice, and what is not there

is(said(PUT => '/topics/here', {}), '409 ALREADY_EXISTS', 'a topic, again');
is(message(), 'Resource already exists in the project (resource=here).',
   'the message');
is(said(PUT => "/subscriptions/$sub", { topic => "$name/topics/here" }),
   '409 ALREADY_EXISTS', 'a subscription, again');
is(said(PUT => '/snapshots/none', { subscription => "$name/subscriptions/none" }),
   $absent, 'a snapshot of none');
is(said(PUT => '/snapshots/snap', { subscription => "$name/subscriptions/$sub" })
       =~ /^200 .*"topic":"$name\/topics\/here"/, 1, 'a snapshot');
like($r->{json}{expireTime}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3}){0,3}Z$/,
     'it expires');
is(said(PUT => '/snapshots/snap', { subscription => "$name/subscriptions/$sub" }),
   '409 ALREADY_EXISTS', 'again');
is(patch('snapshots', 'snap', 'labels', labels => { a => 'b' }) =~ /"a":"b"/, 1,
   'its labels');
is(patch('snapshots', 'snap', $_), $invalid, 'mask ' . ($_ // 'none'))
    for undef, '', 'topic', 'x';

for my $path ('/topics/made-x', '/subscriptions/made-x', '/snapshots/made-x') {
    is(said($_ => $path), $absent, "$_ $path") for qw/GET DELETE/;
}

is(said(DELETE => '/snapshots/snap'), '200 {}', 'delete');
is(said(DELETE => '/snapshots/snap'), $absent, 'and again');

$s->finish;

done_testing;
