#!/usr/bin/perl

# The calls of push subscriptions: fields, defaults, ranges, ids, conflicts,
# and what becomes of a subscription's queue.

use strict;
use warnings;

use Test::More;

use NgxQueues::Client;
use NgxQueues::Queue;
use NgxQueues::Server;

my $s = NgxQueues::Server->new(workers => 2, http2 => 1);
my $c = $s->client;

my $p = '/v1/organizations/o/projects/p';
my $subs = "$p/subscriptions";
my $url = 'https://hooks.example.com/queues/orders';

my $uuid = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
my $time = '\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ';
my $secret = 'whsec_[A-Za-z0-9]{43}';

# an answer about a subscription, whole; with: the signingSecret, a pattern

sub like_subscription {
    my ($r, $status, $q, $name, %is) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $with = delete $is{with};
    my %value = (url => $url, timeoutSeconds => 30, batchSize => 10,
                 maxConcurrency => 10, state => 'active', %is);
    my $expected = "\\{\"subscriptionId\":\"$uuid\","
        . '"subscription":"qsb_[0-9a-hjkmnp-tv-z]{12}",'
        . '"queueId":"' . $q->is('queueId') . '","queue":"' . $q->is('queue')
        . '","target":\{"kind":"https","url":"' . quotemeta($value{url})
        . "\",\"timeoutSeconds\":$value{timeoutSeconds}},"
        . "\"batchSize\":$value{batchSize},"
        . "\"maxConcurrency\":$value{maxConcurrency},"
        . "\"state\":\"$value{state}\",\"status\":\\{\"health\":\"healthy\","
        . '"lastError":null,"lastSuccessAt":null},'
        . "\"createdAt\":\"$time\",\"updatedAt\":\"$time\""
        . (defined $with ? ",\"signingSecret\":$with" : '') . '}';

    like("$r->{status} $r->{body}", qr/^$status $expected$/,
         $name);

    return $r->{json};
}

sub is_error {
    my ($r, $expected, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is(join(' ', $r->{status}, grep { defined } @{ $r->{json} }{qw/error field/}),
       $expected, $name);
}

sub create {
    my ($queue, %o) = @_;

    return $c->post($subs, { queueId => $queue, target => { url => $url },
                             %o });
}

my @q = map { NgxQueues::Queue->new($s, name => $_) } 'orders', 'a-b_9', 'third';
my $fifo = NgxQueues::Queue->new($s, name => 'fifo', kind => 'fifo');
my $elsewhere = NgxQueues::Queue->new($s, project => 'o/other', name => 'there');

# create: defaults, all fields, the ends of the ranges, null; the queue by its
# name and both ids

my $first = like_subscription(create('orders'), 201, $q[0], 'defaults',
                              with => "\"$secret\"");
my $all = like_subscription(
    $c->post($subs, { queueId => $q[1]->is('queueId'), batchSize => 1,
        maxConcurrency => 100, state => 'paused', target => {
            kind => 'https', url => 'https://A.example.com:443/?q="1"&r=/x',
            timeoutSeconds => 60 } }),
    201, $q[1], 'all fields', with => "\"$secret\"", batchSize => 1,
    maxConcurrency => 100, state => 'paused', timeoutSeconds => 60,
    url => 'https://A.example.com:443/?q=\\"1\\"&r=/x');
my $null = like_subscription(
    $c->post($subs, '{"queueId":"' . $q[2]->is('queue') . '","batchSize":null,'
        . '"maxConcurrency":1,"state":null,"targe\u0074":{"kind":null,"timeoutSeconds":1,'
        . '"url":"https:\/\/hooks.example.com\/queues\/order\u0073"}}'),
    201, $q[2], 'null, escapes', with => "\"$secret\"", timeoutSeconds => 1,
    maxConcurrency => 1);

like_subscription(create('fifo', state => 'active'), 201, $fifo,
                  'of a FIFO queue', with => "\"$secret\"");

isnt($first->{signingSecret}, $null->{signingSecret}, 'secrets are random');

# a queue has one at most

is_error(create('orders'), '409 subscription_exists', 'another one');
is_error(create($q[0]->is('queueId')), '409 subscription_exists', 'by its id');
is_error(create('none'), '404 queue_not_found queueId', 'no queue');
is_error(create($elsewhere->is($_)), '404 queue_not_found queueId',
         "a queue of another project by its $_") for qw/queueId queue name/;

# what is wrong in a body, and the field that is to blame

my $target = "\"target\":{\"url\":\"$url\"}";

sub bad { ('"5"', '5.0', '5e0', '-1', '0', '-0', $_[0] + 1, 4294967297,
           18446744073709551617, '1e30', 'true', '[]', '{}', '""') }

for (
    ['{', undef, 'invalid_json'], ['', undef, 'invalid_json'],
    ['{"queueId":"orders","queueId":"orders"}', undef, 'invalid_json'],
    ["{\"queueId\":\"orders\",\"target\":{\"url\":\"$url\",\"url\":\"$url\"}}",
     undef, 'invalid_json'],
    ['[]', undef], ['null', undef], ['{}', 'queueId'],
    ["{$target}", 'queueId'], ["{\"queueId\":null,$target}", 'queueId'],
    ["{\"queueId\":1,$target}", 'queueId'], ["{\"queueId\":\"\",$target}", 'queueId'],
    ["{\"queueId\":\"a b\",$target}", 'queueId'],
    ["{\"queueId\":\"" . 'q' x 81 . "\",$target}", 'queueId'],
    ["{\"queueid\":\"orders\",$target}", 'queueid'],
    ['{"queueId":"orders"}', 'target'],
    ['{"queueId":"orders","target":null}', 'target'],
    ['{"queueId":"orders","target":"https://hooks.example.com"}', 'target'],
    ['{"queueId":"orders","target":[]}', 'target'],
    ['{"queueId":"orders","target":{}}', 'target.url'],
    ['{"queueId":"orders","target":{"url":null}}', 'target.url'],
    ['{"queueId":"orders","target":{"url":5}}', 'target.url'],
    ['{"queueId":"orders","target":{"url":""}}', 'target.url'],
    ['{"queueId":"orders","target":{"kind":"https"}}', 'target.url'],
    (map { ["{\"queueId\":\"orders\",\"target\":{\"kind\":$_,\"url\":\"$url\"}}",
            'target.kind'] } '"http"', '"HTTPS"', '1', '""', '{}'),
    ["{\"queueId\":\"orders\",\"target\":{\"url\":\"$url\",\"timeout\":1}}",
     'target.timeout'],
    (map { my $json = $_;
           ["{\"queueId\":\"orders\",\"target\":{\"url\":\"$url\","
            . "\"timeoutSeconds\":$json}}", 'target.timeoutSeconds'] } bad(60)),
    (map { ["{\"queueId\":\"orders\",$target,\"batchSize\":$_}", 'batchSize'] }
        bad(10)),
    (map { ["{\"queueId\":\"orders\",$target,\"maxConcurrency\":$_}",
            'maxConcurrency'] } bad(100)),
    (map { ["{\"queueId\":\"orders\",$target,\"state\":$_}", 'state'] }
        '"Active"', '"deleted"', '1', 'true', '""'),
    ["{\"queueId\":\"orders\",$target,\"signingSecret\":\"x\"}", 'signingSecret'],
    ["{\"queueId\":\"orders\",$target,\"queue\":\"orders\"}", 'queue'],
) {
    my ($body, $field, $code) = @$_;

    is_error($c->post($subs, $body),
             join(' ', 400, $code // 'invalid_argument', $field // ()),
             'create: ' . substr $body, 0, 90);
}

is_error($c->post($subs, 'x=1', headers => {
             'Content-Type' => 'application/x-www-form-urlencoded' }),
         '415 unsupported_media_type', 'a form');
is_error($c->post($subs, 'x' x 65537), '413 request_too_large', 'too large');

# get, by both ids

my $id = $first->{subscription};

for my $ref ($id, $first->{subscriptionId}, uc $first->{subscriptionId}) {
    my $got = like_subscription($c->get("$subs/$ref"), 200, $q[0], "get $ref");

    is($got->{subscription}, $id, 'this one');
}

my $head = $c->head("$subs/$id");

is("$head->{status} $head->{headers}{'content-type'} $head->{body}",
   '200 application/json ', 'HEAD');

# whatever is none, for every call

my $other_half = $first->{subscriptionId} =~ s/^(.)/$1 eq '0' ? '1' : '0'/er;
my @none = ('x', 'orders', 'qsb_', 'qsb_0123456789ab', uc $id, substr($id, 4),
            "${id}0", substr($id, 0, -1), 'qsb_ilou00000000', $q[0]->is('queue'),
            $q[0]->is('queueId'), '01890000-0000-7000-8000-000000000000',
            $other_half, $first->{subscriptionId} =~ tr/-//dr, '%20', 'qsb_%00'
            =~ s/%00/%c3%a4/r, 'x' x 600);

for my $ref (@none) {
    my @r = ($c->get("$subs/$ref"), $c->patch("$subs/$ref", {}),
             $c->delete("$subs/$ref"),
             map { $c->post("$subs/$ref/$_") } qw/pause resume rotate-secret/);

    is(join(' ', map { "$_->{status} $_->{json}{error}" } @r),
       join(' ', ('404 subscription_not_found') x 6), substr "none: $ref", 0, 60);
}

is_error($c->get("$p/../other/subscriptions/$id"), '404 not_found', 'dots');
is_error($c->get("/v1/organizations/o/projects/other/subscriptions/$id"),
         '404 subscription_not_found', 'in another project');
is_error($c->get("$subs/$id/"), '404 not_found', 'a slash more');
is_error($c->get("$subs/"), '404 not_found', 'a slash more');
is_error($c->get("$subs/$id/none"), '404 not_found', 'no such call');

for (['PUT', '', 'GET, HEAD, POST'], ['DELETE', '', 'GET, HEAD, POST'],
     ['POST', "/$id", 'GET, HEAD, PATCH, DELETE'],
     (map { ['GET', "/$id/$_", 'POST'] } qw/pause resume rotate-secret/)) {
    my ($method, $path, $allow) = @$_;
    my $r = $c->request($method, "$subs$path", $method eq 'POST' ? {} : undef);

    is("$r->{status} $r->{json}{error} $r->{headers}{allow}",
       "405 method_not_allowed $allow", "$method $path");
}

# update: what is not named stays

my %now;

for (
    [{}, ()], [undef, ()], [{ batchSize => 3 }, batchSize => 3],
    [{ maxConcurrency => 7, batchSize => undef }, maxConcurrency => 7],
    [{ target => {} }, ()], [{ target => undef }, ()],
    [{ target => { timeoutSeconds => 5 } }, timeoutSeconds => 5],
    [{ target => { kind => 'https' } }, ()],
    [{ target => { url => 'https://b.example.org' } },
     url => 'https://b.example.org'],
    [{ target => { url => $url, timeoutSeconds => 60 }, batchSize => 10,
       maxConcurrency => 100 }, url => $url, timeoutSeconds => 60,
     batchSize => 10, maxConcurrency => 100],
    [{ queueId => undef, state => undef }, ()],
) {
    my ($body, %change) = @$_;

    %now = (%now, %change);
    like_subscription($c->patch("$subs/$id", $body), 200, $q[0], 'update', %now);
}

like_subscription($c->get("$subs/$first->{subscriptionId}"), 200, $q[0],
                  'it is so', %now);

for (
    ['{', undef, 'invalid_json'], ['[]', undef], ['{"queueId":"orders"}', 'queueId'],
    ['{"state":"active"}', 'state'], ['{"batchSize":11}', 'batchSize'],
    ['{"maxConcurrency":0}', 'maxConcurrency'], ['{"target":5}', 'target'],
    ['{"target":{"url":"http://a.example.com/"}}', 'target.url'],
    ['{"target":{"kind":"sqs"}}', 'target.kind'],
    ['{"target":{"timeoutSeconds":61}}', 'target.timeoutSeconds'],
    ['{"target":{"x":1}}', 'target.x'], ['{"signingSecret":"x"}', 'signingSecret'],
    ['{"batchSize":1,"maxConcurrency":101}', 'maxConcurrency'],
) {
    my ($body, $field, $code) = @$_;

    is_error($c->patch("$subs/$id", $body),
             join(' ', 400, $code // 'invalid_argument', $field // ()),
             "update: $body");
}

like_subscription($c->get("$subs/$id"), 200, $q[0], 'nothing has changed', %now);

# pause and resume, also again

for (qw/pause pause resume resume pause/) {
    $now{state} = /pause/ ? 'paused' : 'active';
    like_subscription($c->post("$subs/$id/$_", $now{state} eq 'active' ? {} : undef),
                      200, $q[0], $_, %now);
    like_subscription($c->get("$subs/$id"), 200, $q[0], 'it is so', %now);
}

for my $call (qw/pause resume rotate-secret/) {
    is_error($c->post("$subs/$id/$call", { state => 'paused' }),
             '400 invalid_argument state', "$call takes no field");
    is_error($c->post("$subs/$id/$call", '['), '400 invalid_json',
             "$call: no JSON");
}

like_subscription($c->patch("$subs/$id", { batchSize => 2 }), 200, $q[0],
                  'an update of one that is paused', %now, batchSize => 2);

# rotate: a new secret, shown once

my $rotated = like_subscription($c->post("$subs/$id/rotate-secret"), 200, $q[0],
    'rotate', %now, batchSize => 2, with => "\"$secret\"");

isnt($rotated->{signingSecret}, $first->{signingSecret}, 'another secret');
like_subscription($c->get("$subs/$id"), 200, $q[0], 'it is not shown again',
                  %now, batchSize => 2);

# by HTTP/2

my $r = NgxQueues::Client::h2(port => $s->h2_port, key => $s->key,
    method => 'POST', path => "$subs/$id/rotate-secret", body => undef);

like($r->{json}{signingSecret} // '', qr/^$secret$/, 'rotate by HTTP/2');

# delete: the queue and its messages stay

$q[2]->send('stays');

is($c->delete("$subs/$null->{subscriptionId}")->{status}, 204, 'delete');
is_error($c->get("$subs/$null->{$_}"), '404 subscription_not_found', 'gone')
    for qw/subscription subscriptionId/;
is_error($c->delete("$subs/$null->{subscription}"),
         '404 subscription_not_found', 'delete again');
is($q[2]->counts, '1 0 0', 'the message stays');

my $second = like_subscription(create('third', state => 'paused'), 201, $q[2],
    'another one for the queue', state => 'paused', with => "\"$secret\"");

isnt($second->{subscription}, $null->{subscription}, 'another id');

# a deleted queue drops it; a new one of this name has none

is($c->delete($q[2]->path)->{status}, 204, 'delete the queue');
is_error($c->get("$subs/$second->{subscription}"),
         '404 subscription_not_found', 'its subscription is gone');
is_error(create('third'), '404 queue_not_found queueId', 'and there is no queue');
is_error($c->get("$subs?queue=third"), '404 queue_not_found queue', 'to list');

$q[2] = NgxQueues::Queue->new($s, name => 'third');

is($c->get("$subs?queue=third")->{body},
   '{"subscriptions":[],"nextPageToken":null}', 'a new queue has none');
like_subscription(create('third'), 201, $q[2], 'it may have one',
                  with => "\"$secret\"");

# list: in the order of their creation, to the millisecond

sub ids { map { $_->{subscription} } @{ $_[0]{json}{subscriptions} } }

sub pages {
    my ($size, $query) = @_;

    my (@ids, $token);

    for (1 .. 100) {
        my $r = $c->get("$subs?pageSize=$size"
                        . (defined $token ? "&pageToken=$token" : '')
                        . ($query // ''));

        die "$r->{status} $r->{body}\n" if $r->{status} != 200;
        die "too many\n" if ids($r) > $size;

        push @ids, ids($r);
        $token = $r->{json}{nextPageToken} // return "@ids";
    }

    die "no end\n";
}

my @all = ids($c->get($subs));
my %queue_of;

is(scalar @all, 4, 'all are listed');
like_subscription({ %{ $c->get("$subs?queue=third") }, body =>
    $c->get("$subs?queue=third")->{body}
        =~ s/^\{"subscriptions":\[(.*)\],"nextPageToken":null\}$/$1/r },
    200, $q[2], 'as in a get');

for my $n (1 .. 20) {
    my $q = NgxQueues::Queue->new($s, name => "n$n");

    push @all, create("n$n")->{json}{subscription};
    $queue_of{$all[-1]} = $q;
}

is(join(' ', sort(ids($c->get($subs)))), join(' ', sort @all), 'all 24');

my $listed = $c->get($subs)->{json}{subscriptions};
my $order = join ' ', map { $_->{subscription} } @$listed;

is(join(' ', map { $_->{subscriptionId} } @$listed),
   join(' ', sort map { $_->{subscriptionId} } @$listed), 'in order');

for my $size (1, 2, 7, 23, 24, 25, 100) {
    is(pages($size), $order, "pages of $size");
}

is(join(' ', ids($c->get("$subs?queue=$_"))), $all[-1], "those of $_")
    for 'n20', map { $queue_of{$all[-1]}->is($_) } qw/queueId queue/;
is(join(' ', ids($c->get("$subs?queue=n20&pageSize=1"))), $all[-1], 'one page');
is($c->get("$subs?queue=n20&pageSize=1")->{json}{nextPageToken}, undef,
   'and no other');

# a page goes on after the last one, also if that is gone

my $page = $c->get("$subs?pageSize=5");
my $token = $page->{json}{nextPageToken};
my @rest = ids($c->get("$subs?pageToken=$token"));

is(join(' ', ids($page), @rest), $order, 'the rest');
$c->delete("$subs/" . (ids($page))[4]);
is(join(' ', ids($c->get("$subs?pageToken=$token"))), "@rest", 'its last is gone');
$c->delete("$subs/$rest[0]");
is(join(' ', ids($c->get("$subs?pageToken=$token"))), "@rest[1 .. $#rest]",
   'and the next');
is($c->get('/v1/organizations/o/projects/other/subscriptions')->{body},
   '{"subscriptions":[],"nextPageToken":null}', 'another project has none');

# what is wrong; tokens are of one list and one project

my $queues_token = $c->get("$p/queues?pageSize=1")->{json}{nextPageToken};

for (['pageSize=0', 'pageSize'], ['pageSize=101', 'pageSize'],
     ['pageToken=x', 'pageToken'], ['pageToken=', 'pageToken'],
     ["pageToken=$queues_token", 'pageToken'], ['queue=', 'queue'],
     ['queue=a&queue=b'], ['prefix=a'], ['queueId=orders'], ['%zz']) {
    is_error($c->get("$subs?$_->[0]"),
             join(' ', '400 invalid_argument', $_->[1] // ()), "list: $_->[0]");
}

is_error($c->get("$p/queues?pageToken=$token"),
         '400 invalid_argument pageToken', 'no token of queues');
is_error($c->get("/v1/organizations/o/projects/other/subscriptions?pageToken=$token"),
         '400 invalid_argument pageToken', 'nor of another project');
is_error($c->get("$subs?queue=$_"), '404 queue_not_found queue', "list: $_")
    for 'none', 'que_0123456789ab', $elsewhere->is('queueId'), '%20', 'x' x 200,
        '01890000-0000-7000-8000-000000000000';

$s->finish;

done_testing;
