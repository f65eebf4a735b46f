#!/usr/bin/perl

# Errors of the Pub/Sub API beside those of its bodies: paths, methods, verbs,
# what it does not implement, sizes, rates, a Redis that is away; what is logged.

use strict;
use warnings;

use Test::More;

use NgxQueues::Pubsub;
use NgxQueues::Wait;

my $s = NgxQueues::Pubsub::server(
    http => 'log_format t "$request_method $uri|$status|$queues_operation|'
            . '$queues_queue|$queues_error|$queues_messages"; '
            . 'access_log %%DIR%%/access.log t; ');
my $p = NgxQueues::Pubsub->new($s);

sub is_error {
    my ($r, $status, $code, $what, $message) = @_;
    my $e = $r->{json}{error} || {};

    is("$r->{status} $e->{code} $e->{status}", "$status $status $code", $what);
    like($e->{message}, $message || qr/\S/, "$what: why");
    like($r->{headers}{'content-type'}, qr{^application/json}, "$what: its type");
}

$p->topic('orders');
$p->sub('sub', 'orders');

# paths, methods, verbs

my $base = '/v1/projects/shop';

is_error($s->client->get("$base/$_"), 404, 'NOT_FOUND', "path $_")
    for '', 'topics/', 'topics//orders', 'topic/orders', 'topics/orders/x',
        'topics/orders/subscriptions/sub', 'subscriptions/sub/topics', 'x:y',
        'Topics', 'topics%2Forders';
is_error($s->client->get($_), 404, 'NOT_FOUND', "path $_")
    for '/', '/v1', '/v1/projects', '/v1/projects/shop', '/v2/projects/shop/topics';

my %allowed = (
    'topics/orders' => 'GET, HEAD, PUT, PATCH, DELETE',
    'subscriptions/sub' => 'GET, HEAD, PUT, PATCH, DELETE',
    'snapshots/snap' => 'GET, HEAD, PUT, PATCH, DELETE',
    'topics' => 'GET, HEAD',
    'topics/orders:publish' => 'POST',
    'subscriptions/sub:pull' => 'POST',
    'subscriptions/sub:detach' => 'POST',
);

for my $path (sort keys %allowed) {
    my $r = $s->client->request(OPTIONS => "$base/$path", undef);

    is_error($r, 405, 'UNIMPLEMENTED', "OPTIONS $path", qr/the method OPTIONS/);
    is($r->{headers}{allow}, $allowed{$path}, "what $path has");
}

is_error($s->client->post("$base/topics/orders", {}), 405, 'UNIMPLEMENTED',
         'POST without a verb');
is_error($s->client->post("$base/topics/orders$_", {}), 404, 'NOT_FOUND',
         "POST of orders$_") for ':none', ':publish:x', ':publish%3Ax', ':';
is_error($s->client->get("$base/topics/orders:none"), 404, 'NOT_FOUND', 'GET of it');

# a verb is behind the last bare colon, which a name has only escaped

is_error($s->client->post("$base/topics/orders%3Apublish", {}), 405,
         'UNIMPLEMENTED', 'an escaped colon is part of the name');
is_error($s->client->post("$base/topics/a%3Ab:publish", { messages => [{}] }), 400,
         'INVALID_ARGUMENT', 'and then of no name', qr/\(name=a:b\)/);
is($s->client->post("$base/topics/orders:publis%68?\$alt=json%3Benum-encoding=int",
                    { messages => [{ data => 'YQ==' }] })->{status}, 200,
   'a verb with an escape');

# what is not implemented

for my $of ('topics/orders', 'subscriptions/sub', 'snapshots/snap', 'schemas/s') {
    is_error($s->client->post("$base/$of:$_", {}), 501, 'UNIMPLEMENTED', "$of:$_",
             qr/does not implement/)
        for qw/getIamPolicy setIamPolicy testIamPermissions/;
    is_error($s->client->get("$base/$of:getIamPolicy"), 501, 'UNIMPLEMENTED',
             "GET $of:getIamPolicy");
}

is_error($s->client->get("$base/$_"), 501, 'UNIMPLEMENTED', $_)
    for 'schemas', 'schemas/s?view=FULL';
is_error($s->client->post("$base/$_", '{'), 501, 'UNIMPLEMENTED', $_)
    for 'schemas', 'schemas:validate', 'schemas:validateMessage', 'schemas/s:commit';
is_error($s->client->delete("$base/schemas/s"), 501, 'UNIMPLEMENTED', 'DELETE');

# another type of body; a charset

is_error($s->client->put("$base/topics/typed", '{}', headers => { 'Content-Type' => $_ }),
         400, 'INVALID_ARGUMENT', "type $_", qr{application/json})
    for 'text/plain', 'application/x-www-form-urlencoded', 'application/json5',
        'application/json; charset=latin1';
is_error($s->client->post("$base/$_", '{}', headers => { 'Content-Type' => 'text/plain' }),
         400, 'INVALID_ARGUMENT', "type of $_", qr{application/json})
    for 'topics/orders:publish', map { "subscriptions/sub:$_" } qw/pull seek modifyPushConfig/;
is_error($s->client->post("$base/subscriptions/sub:$_", '{"ackIds":["x"]}',
                          headers => { 'Content-Type' => 'text/plain' }),
         400, 'INVALID_ARGUMENT', "any type for $_", qr/ack_id=x/)
    for qw/acknowledge modifyAckDeadline/;
is($s->client->put("$base/topics/typed", '{}', headers => {
    'Content-Type' => 'application/json; charset=UTF-8' })->{status}, 200, 'UTF-8');
is($s->client->put("$base/topics/untyped", '{}', headers => {
    'Content-Type' => undef })->{status}, 200, 'no type');

# bodies that come in pieces; what nobody reads

is($p->{client}->put("$base/topics/pieces", '{"labels":{"a":"b"}}', %$_)
   ->{json}{labels}{a}, 'b', 'in pieces') && $p->delete('topics', 'pieces')
    for { chunked => [1, 2, 3] }, { writes => [150, 1, 1, 1] }, { expect => 1 };
is($s->client->request(GET => "$base/topics/orders", '{"x":')->{status}, 200,
   'a body of a GET');
is($s->client->request(DELETE => "$base/topics/typed", '""')->{status}, 200,
   'a body of a DELETE');

# what nginx refuses

is_error($s->client->post("$base/topics/orders:publish", undef, fresh => 1, raw =>
         "POST $base/topics/orders:publish HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
         . "$_->[0]\r\n\r\n"), @$_[1, 2], $_->[0], qr/status $_->[1]/)
    for ['Transfer-Encoding: gzip, chunked', 501, 'UNIMPLEMENTED'],
        ['Content-Length: -1', 400, 'INVALID_ARGUMENT'];

# sizes

is_error($p->put('topics', 'large', '{"labels":{' . ' ' x 65536 . '}}'), 400,
         'INVALID_ARGUMENT', 'a large body', qr/^Request payload size exceeds/);
is_error($p->put('topics', 'large', '{"labels":{' . ' ' x 65536 . '}}',
                 chunked => [60000]), 400, 'INVALID_ARGUMENT',
         'the same in chunks', qr/^Request payload size exceeds/);

# logs

$s->client->get("$base/topics/none");
$s->client->put("$base/topics/large", 'x' x 12_000_000);

my %logged = (
    "PUT $base/topics/orders|200|PubsubCreateTopic|acme/shop/orders|-|-" => 1,
    "POST $base/topics/orders:publish|200|PubsubPublish|acme/shop/orders|-|1" => 1,
    "GET $base/topics/none|404|PubsubGetTopic|acme/shop/none|NOT_FOUND|-" => 1,
    "POST $base/schemas|501|PubsubCreateSchema|acme/shop|UNIMPLEMENTED|-" => 1,
    "POST $base/topics/orders:none|404|-|-|NOT_FOUND|-" => 1,
    "PUT $base/topics/large|400|-|-|INVALID_ARGUMENT|-" => 1,
);

my $seen = wait_for {
    open my $log, '<', "$s->{dir}/access.log" or return;
    my %lines = map { chomp; $_ => 1 } <$log>;

    !grep { !$lines{$_} } keys %logged;
};

ok($seen, 'logged') or diag(`cat $s->{dir}/access.log`);

# a Redis that is away

$s->redis->shutdown;
is_error($p->get('topics', 'orders'), 503, 'UNAVAILABLE', 'without Redis');
is_error($p->put('topics', 'new', {}), 503, 'UNAVAILABLE', 'likewise');
is($p->get('topics', 'orders')->{headers}{'retry-after'}, 1, 'when to try again');
$s->redis->start;
ok(wait_for { $p->get('topics')->{status} == 200 }, 'it is back');

$s->finish;

# how large a request may be: what the server says, what the location, of so many
# bytes, what is said; it has no limit of its own by default

my @sizes = (
    ['', '', 9_999_000, 404, qr/not found/],
    ['', '', 10_600_000, 400, qr/^Request payload size exceeds/],
    ['client_max_body_size 2m;', '', 9_999_000, 404, qr/not found/],
    ['client_max_body_size 0;', '', 9_999_000, 404, qr/not found/],
    ['client_max_body_size 20m;', '', 10_600_000, 400, qr/payload|size/],
    ['', 'client_max_body_size 2m;', 9_999_000, 400, qr/^Request payload size/],
    ['client_max_body_size 20m;', 'client_max_body_size 2m;', 9_999_000, 400,
     qr/^Request payload size/],
);

for my $case (@sizes) {
    my ($server, $location, $bytes, $status, $message) = @$case;
    my $s = NgxQueues::Server->new(server => $server,
        api => "queues_pubsub_api acme; queues_auth off; $location");

    # data alone has few bytes less

    my $body = '{"messages":[{"data":"' . 'a' x (($bytes - 30) & ~3) . '"}]}';

    for my $chunked (0, 1) {
        my $r = $s->client->post("$base/topics/none:publish", $body,
                                 $chunked ? (chunked => [1_000_000]) : ());

        is_error($r, $status, $status == 404 ? 'NOT_FOUND' : 'INVALID_ARGUMENT',
                 "'$server' '$location' $bytes" . ($chunked ? ' in chunks' : ''),
                 $message);
    }

    $s->finish;
}

# rates

$s = NgxQueues::Pubsub::server(more => 'queues_rate_limit queue=1/s burst=2;');
$p = NgxQueues::Pubsub->new($s);

my ($r) = grep { $_->{status} != 404 } map { $p->get('topics', 'none') } 1 .. 10;

is_error($r, 429, 'RESOURCE_EXHAUSTED', 'over the rate', qr/over its rate/);
is($r->{headers}{'retry-after'}, 1, 'when to try again');

$s->finish;

done_testing();
