#!/usr/bin/perl

# What the pages of the APIs (queues.md, queen.md, pubsub.md) and auth.md show in
# JSON without a command before it: bodies are sent, answers and requests are
# compared with what the server says (NgxQueues::Docs::Shape).

use strict;
use warnings;
use utf8;

use JSON::PP ();
use MIME::Base64 'encode_base64';
use Test::More;

use NgxQueues::Docs qw/blocks block/;
use NgxQueues::Docs::Shape qw/shown fits/;
use NgxQueues::Endpoint;
use NgxQueues::Jwt;
use NgxQueues::Process qw/spawn reap slurp spurt temp_dir/;
use NgxQueues::Push;

my $top = $NgxQueues::Process::top;
my $oidc = NgxQueues::Jwt->rsa;
my $jwt = NgxQueues::Jwt->secret;

# the directives of auth.md, with a key of our own

my ($directives) = block('docs/auth.md', qr/queues_jwt_issuer/)
    =~ /^http \{\n(.*)^\}/ms;

$directives =~ s{/etc/nginx/queues\.jwks}{$jwt->public}e or die;

my $p = NgxQueues::Push->new(
    http => 'client_max_body_size 12m;'
            . 'queues_push_allow_localhost on; queues_oidc_issuer https://id.example.com;'
            . 'queues_oidc_key ' . $oidc->private . ";\n$directives",
    locations => 'location / { queues_api; }'
        . 'location /v1/projects/ { queues_pubsub_api acme; }'
        . 'location /api/v1/ { queues_queen_api acme/shop; }');
my $c = $p->client;

sub json_with {
    my ($page, $has) = @_;

    return shown(block($page, $has));
}

# an answer's JSON; dies where the status is not of success

sub ok_json {
    my ($r) = @_;

    die "$r->{status} $r->{body}\n" if $r->{status} !~ /^2/;

    return $r->{json};
}

sub fits_ok {
    my ($shown, $is, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is(join("\n", fits($shown, $is)), '', $name) or diag(explain($is));
}

# what a page shows, with "…" in it being what came before: leaseId => …

sub filled {
    my ($shown, %known) = @_;

    if (ref $shown eq 'ARRAY') {
        return [map { filled($_, %known) } @$shown];
    }

    return $shown if ref $shown ne 'HASH';

    return { map {
        my ($name, $value) = ($_, $shown->{$_});
        my $one = $known{$name} // $known{ $name eq 'requiredLeases' ? 'leaseId'
                                                                     : '' };

        ($name => !defined $value ? undef
            : ref $value eq 'ARRAY' && !ref($value->[0] // []) ? [$one]
            : !ref $value && $value =~ /…/ ? $one : filled($value, %known));
    } keys %$shown };
}

my $shop = '/v1/organizations/acme/projects/shop';

# queues.md: a message, and its delivery

my $s = $p->subscribe(state => 'paused', path => '/queues/orders');
my ($message) = json_with('docs/api/queues.md', qr/"delaySeconds"/);

ok_json($c->post($s->queue->path('/messages'), { %$message, delaySeconds => 0 }));
ok_json($c->post($s->queue->path('/messages'), $message));
$s->resume;

my ($request) = $s->wait(1);
my ($delivery) = json_with('docs/api/queues.md', qr/"deliveryId"/);

fits_ok($delivery, $request->{json}, 'a delivery');

my @lines = split /\n/, block('docs/api/queues.md', qr/^EZGH-Delivery-Id/m);

is(shift @lines, "POST $request->{path} HTTP/1.1", 'its request line');

my %forms = (
    'EZGH-Signature' => qr/t=\d{10},v1=[0-9a-f]{64}/,
    'webhook-signature' => qr{v1,[\w/+]{43}=},
    'webhook-timestamp' => qr/\d{10}/,
    'Host' => qr/hooks\.example\.com:\d+/,
);

for (@lines) {
    my ($name, $value) = /^([\w-]+): (.*)/ or die;
    my $form = $forms{$name} // ($value =~ /^\w{8}-\w{4}-/
        ? qr/\w{8}-(?:\w{4}-){3}\w{12}/ : quotemeta $value);

    like($request->{headers}{lc $name} // 'none', qr/^$form$/, "its $name");
}

# queen.md

my $at = '/api/v1';
my $page = 'docs/api/queen.md';

sub pushed {
    my ($queue, $id, @more) = @_;

    ok_json($c->post("$at/push", { items => [{ queue => $queue, @more,
        partition => 'acct-42', transactionId => $id, payload => { id => 1 } }] }));
}

sub popped {
    my ($queue) = @_;

    my $is = ok_json($c->get("$at/pop/queue/$queue?consumerGroup=billing&batch=9"));

    return ($is, map { $_ => $is->{messages}[0]{$_} }
                     qw/transactionId partitionId leaseId/);
}

pushed('orders', 'order-1-created');

my ($pop, %ids) = popped('orders');

fits_ok(json_with($page, qr/"partitionsClaimed"/), $pop, 'a pop');

my ($ack, $batch) = json_with($page, qr/"acknowledgments"/);
my $acked = ok_json($c->post("$at/ack", filled($ack, %ids)));

fits_ok(json_with($page, qr/"noop"/), $acked, 'an acknowledgement');
is($acked->[0]{success}, JSON::PP::true, 'which succeeds');

ok_json($c->post("$at/configure", { queue => 'once', options => {
    retryLimit => 0 } }));
pushed('once', 'once-1');
(undef, %ids) = popped('once');
is(ok_json($c->post("$at/ack/batch", filled($batch, %ids)))->[0]{success},
   JSON::PP::true, 'a failure');

my $dead = ok_json($c->get("$at/dlq?queue=once"));

fits_ok(json_with($page, qr/"errorMessage"/), $dead, 'dead letters');
is($dead->{messages}[0]{errorMessage}, 'why', 'with their error');

pushed('stage-1', 'stage-1');
(undef, %ids) = popped('stage-1');

my ($body) = json_with($page, qr/"operations"/);
my ($done, $failed) = json_with($page, qr/"reason"/);

fits_ok(json_with($page, qr/"renewed"/),
    ok_json($c->post("$at/lease/$ids{leaseId}/extend", { seconds => 60 })),
    'a lease that is extended');
fits_ok($done, ok_json($c->post("$at/transaction", filled($body, %ids))),
    'a transaction');

my $again = { operations => [{ type => 'push', items => [
    { queue => 'stage-1', partition => 'acct-42', transactionId => 'stage-1',
      payload => 1 }] }] };

my $refused = ok_json($c->post("$at/transaction", $again));

fits_ok($failed, $refused, 'one that fails');
is($refused->{reason}, $failed->{reason}, 'for this reason');

my ($settings) = json_with($page, qr/\A\{"queue":"orders","namespace"/);
my ($configured) = json_with($page, qr/"configured"/);

fits_ok($configured, ok_json($c->post("$at/configure", $settings)),
        'a configuration');
fits_ok(json_with($page, qr/"next":null/),
        ok_json($c->get("$at/resources/queues?limit=100")), 'queues');

# pubsub.md

$at = '/v1/projects/shop';
$page = 'docs/api/pubsub.md';

my $r = $c->get("$at/topics/orders");

is_deeply($r->{json}, json_with($page, qr/"Resource not found/), 'an error');

ok_json($c->put("$at/topics/orders", {}));
ok_json($c->put("$at/subscriptions/billing", { topic => 'projects/shop/topics/orders',
    deadLetterPolicy => { deadLetterTopic => 'projects/shop/topics/orders' },
    enableExactlyOnceDelivery => JSON::PP::true }));
ok_json($c->patch("$at/subscriptions/billing", json_with($page, qr/"updateMask"/)));
is(ok_json($c->get("$at/subscriptions/billing"))->{ackDeadlineSeconds}, 60,
   'a patch');

my $sent = { data => encode_base64('Hello', ''), orderingKey => 'acct-42',
             attributes => { kind => 'created' } };

ok_json($c->post("$at/topics/orders:publish", { messages => [$sent] }));

my $pull = ok_json($c->post("$at/subscriptions/billing:pull", { maxMessages => 1 }));
my ($received) = json_with($page, qr/"receivedMessages"/);

fits_ok($received, $pull, 'a pull');

my @handles = { ackIds => [map { $_->{ackId} } @{ $pull->{receivedMessages} }] };

ok_json($c->post("$at/subscriptions/billing:acknowledge", @handles));
$r = $c->post("$at/subscriptions/billing:acknowledge", @handles);
fits_ok(json_with($page, qr/EXACTLY_ONCE/), $r->{json}, 'an acknowledgement too late');

my ($push) = json_with($page, qr/"noWrapper"/);

is($c->put("$at/subscriptions/unwrapped", { topic => 'projects/shop/topics/orders',
                                           %$push })->{status},
   200, 'a push configuration');

my $plain = NgxQueues::Endpoint->new(plain => 1);

$sent->{orderingKey} = 'key';
$sent->{attributes} = { key => 'value' };
ok_json($c->put("$at/subscriptions/pushed", { topic => 'projects/shop/topics/orders',
    deadLetterPolicy => { deadLetterTopic => 'projects/shop/topics/orders' },
    pushConfig => { pushEndpoint => 'http://127.0.0.1:' . $plain->port . '/orders' },
}));
ok_json($c->post("$at/topics/orders:publish", { messages => [$sent] }));
($request) = $plain->wait(1, path => '/orders');

my ($line, $type, $wrapped) = block($page, qr/^POST/)
    =~ /\A(.*)\nContent-Type: (.*)\n\n(.*)/;

is("POST $request->{path} HTTP/1.1", $line, 'a push');
is($request->{headers}{'content-type'}, $type, 'its type');
fits_ok(shown($wrapped), $request->{json}, 'its body');
is_deeply($request->{json}{message}{attributes}, { key => 'value' },
          'its attributes');

# the lines of pubsub.md for Google's client, after those that make it

my $dir = temp_dir();

symlink "$top/build/client/node_modules", "$dir/node_modules" or die $!;
spurt("$dir/publish.mjs", block($page, qr/^import .*pubsub"/m)
      . block($page, qr/^const \[\{ messageIds/m)
      . "console.log(messageIds.length)\n");

is(reap(spawn({ out => "$dir/out", env => {
    PUBSUB_URL => $p->server->url, PROJECT_ID => 'shop',
    API_KEY => $p->server->key, NODE_NO_WARNINGS => 1,
} }, 'node', "$dir/publish.mjs"), 60), 0, 'a publish by the client');
is(slurp("$dir/out"), "1\n", 'one message') or diag(slurp("$dir/out"));

# auth.md: the token of the page, only that it is not over yet

my ($payload) = json_with('docs/auth.md', qr/"sub": "orders"/);
my $token = $p->server->client(key => $jwt->token({ %$payload, exp => time + 60 }));

is($token->post("$shop/queues/none/messages", { body => 'a' })->{json}{error},
   'queue_not_found', 'the token may send');
is($token->get("$shop/queues")->{status}, 200, 'and list');
is($token->post("$shop/queues", { name => 'a' })->{status}, 403, 'and not create');
is($token->post("$shop/queues/none/purge")->{status}, 403, 'and not purge');

$p->finish;
done_testing;
