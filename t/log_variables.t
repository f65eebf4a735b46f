#!/usr/bin/perl

# What the log's variables say of each call: also where it was refused, by us
# or by nginx, where its client has gone, and of requests that are not ours.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Jwt;
use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $some = 'qk_some-0123456789abcdefghijklmnopqr';

my $secret = NgxQueues::Jwt->secret;

my $s = NgxQueues::Server->new(
    workers => 2,
    keys => [sha256_hex($some) . ' some queues.messages.* o/p/open*'],
    http => 'queues_jwt_key ' . $secret->public . ';' . <<'END',
log_format queues '$status|$queues_operation|$queues_queue|$queues_principal|'
                  '$queues_messages|$queues_error|$http_x_tag';
log_format json escape=json '{"queue":"$queues_queue","tag":"$http_x_tag"}';
map $queues_operation $logged { ListQueues 0; default 1; }
access_log %%DIR%%/queues.log queues if=$logged;
access_log %%DIR%%/json.log json;
limit_req_zone $http_x_limit zone=slow:1m rate=1r/m;
client_max_body_size 1k;
END
    locations => <<'END',
location / { queues_api; }
location /v1/organizations/free/ { queues_auth off; queues_api; }
location /v1/organizations/slow/ { limit_req zone=slow; queues_api; }
location /v1/organizations/page/ { error_page 413 =413 /page; queues_api; }
location = /page { return 413 "page\n"; }
location /early/ {
    set $early "$queues_operation";
    add_header X-Early "$early." always;
    add_header X-Late "$queues_error." always;
    queues_api;
}
location /other { return 200 "other\n"; }
END
);

my $c = $s->client;
my $none = $s->client(key => undef);
my $other = $s->client(key => $some);
my $serial = 0;

# the line of a log with the request's tag, which comes after its answer

sub line {
    my ($tag, $log) = @_;

    my $line;

    wait_for {
        my $text = NgxQueues::Process::slurp($s->dir . '/' . ($log // 'queues')
                                             . '.log');
        ($line) = grep { /\Q$tag\E(?:"\})?$/ } split /\n/, $text;
    } or return 'no line';

    return $line;
}

sub logs {
    my ($expected, $client, $method, $path, $body, %o) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $tag = 'tag' . ++$serial . 'end';
    my $headers = { %{ delete $o{headers} || {} }, 'X-Tag' => $tag };
    my $r = $client->request($method, $path, $body, headers => $headers, %o);

    is(line($tag), "$expected|$tag", substr "$method $path", 0, 70);

    return $r;
}

my $p = '/v1/organizations/o/projects/p/queues';

# calls of each kind

logs('201|CreateQueue|o/p|test|-|-', $c, POST => $p, { name => 'q' });
logs('409|CreateQueue|o/p|test|-|queue_exists', $c, POST => $p,
     { name => 'q' });
logs('201|CreateQueue|o/p|test|-|-', $c, POST => $p, { name => 'open' });

my $id = logs('200|GetQueue|o/p/q|test|-|-', $c, GET => "$p/q")->{json}{queue};

logs("200|GetQueue|o/p/$id|test|-|-", $c, GET => "$p/$id");
logs('200|UpdateQueue|o/p/q|test|-|-', $c, PATCH => "$p/q",
     { delaySeconds => 0 });
logs('201|SendMessages|o/p/q|test|1|-', $c, POST => "$p/q/messages",
     { body => 'a' });
logs('201|SendMessages|o/p/q|test|3|-', $c, POST => "$p/q/messages",
     { messages => [map { { body => "m$_" } } 1 .. 3] });

my @m = @{ logs('200|ReceiveMessages|o/p/q|test|4|-', $c,
                POST => "$p/q/messages/receive", { maxMessages => 10 })
           ->{json}{messages} };

logs('200|ReceiveMessages|o/p/q|test|0|-', $c, POST => "$p/q/messages/receive",
     { maxMessages => 10 });
logs('200|ReceiveMessages|o/p/q|test|0|-', $c, POST => "$p/q/messages/receive",
     { waitSeconds => 1 });

my @h = map { $_->{receiptHandle} } @m;

logs('200|AcknowledgeMessages|-|-|2|-', $c, POST => '/v1/receipts/ack',
     { receiptHandles => [@h[0, 1], 'x'] });
logs('200|AcknowledgeMessages|-|-|0|-', $none, POST => '/v1/receipts/ack',
     { receiptHandles => [$h[0]] });
logs('200|ChangeMessageVisibility|-|-|1|-', $none,
     POST => '/v1/receipts/visibility', { entries => [
        { receiptHandle => $h[2], visibilityTimeoutSeconds => 0 }] });
logs('400|AcknowledgeMessages|-|-|-|invalid_argument', $none,
     POST => '/v1/receipts/ack', {});
logs('204|Preflight|-|-|-|-', $none, OPTIONS => '/v1/receipts/ack');
logs('200|PeekMessages|o/p/q|test|1|-', $c, GET => "$p/q/messages");
logs('200|RedriveMessages|o/p/q|test|0|-', $c, POST => "$p/q/redrive", {});
logs('202|PurgeQueue|o/p/q|test|-|-', $c, POST => "$p/q/purge");

# subscriptions: their queue, where it is known

my $subs = $p =~ s/queues$/subscriptions/r;
my %hook = (target => { url => 'https://hooks.example.com/' });
my $sub = logs('201|CreateSubscription|o/p/q|test|-|-', $c, POST => $subs,
               { queueId => 'q', %hook })->{json}{subscription};

logs("409|CreateSubscription|o/p/$id|test|-|subscription_exists", $c,
     POST => $subs, { queueId => $id, %hook });
logs('404|CreateSubscription|o/p/none|test|-|queue_not_found', $c,
     POST => $subs, { queueId => 'none', %hook });
logs('400|CreateSubscription|o/p|test|-|invalid_argument', $c, POST => $subs, {});
logs('200|ListSubscriptions|o/p|test|-|-', $c, GET => $subs);
logs('200|ListSubscriptions|o/p/q|test|-|-', $c, GET => "$subs?queue=q");
logs('200|GetSubscription|o/p/q|test|-|-', $c, GET => "$subs/$sub");
logs('404|GetSubscription|o/p|test|-|subscription_not_found', $c,
     GET => "$subs/x");
logs('403|GetSubscription|o/p|some|-|permission_denied', $other,
     GET => "$subs/$sub");
logs('200|UpdateSubscription|o/p/q|test|-|-', $c, PATCH => "$subs/$sub", {});
logs('200|PauseSubscription|o/p/q|test|-|-', $c, POST => "$subs/$sub/pause");
logs('200|ResumeSubscription|o/p/q|test|-|-', $c, POST => "$subs/$sub/resume");
logs('200|RotateSubscriptionSecret|o/p/q|test|-|-', $c,
     POST => "$subs/$sub/rotate-secret");
logs('204|DeleteSubscription|o/p|test|-|-', $c, DELETE => "$subs/$sub");
logs('405|-|-|-|-|method_not_allowed', $c, PUT => $subs, {});

# by a token: what is known of it goes with the request

for my $sub ('short', 'a"b' . 'long' x 50) {
    my $token = $secret->token(NgxQueues::Jwt::claims(sub => $sub,
                                                      roles => ['*@*']));

    logs('201|SendMessages|o/p/q|' . ($sub =~ s/"/\\x22/r) . '|1|-',
         $s->client(key => $token), POST => "$p/q/messages", { body => 'a' });
}

# refused

logs('401|SendMessages|o/p/q|-|-|unauthenticated', $none,
     POST => "$p/q/messages", { body => 'a' });
logs('403|SendMessages|o/p/q|some|-|permission_denied', $other,
     POST => "$p/q/messages", { body => 'a' });
logs("403|SendMessages|o/p/$id|some|-|permission_denied", $other,
     POST => "$p/$id/messages", { body => 'a' });
logs('201|SendMessages|o/p/open|some|1|-', $other, POST => "$p/open/messages",
     { body => 'a' });
logs('404|SendMessages|o/p/none|test|-|queue_not_found', $c,
     POST => "$p/none/messages", { body => 'a' });
logs('400|SendMessages|o/p/q|test|-|invalid_json', $c,
     POST => "$p/q/messages", '{');
logs('415|SendMessages|o/p/q|test|-|unsupported_media_type', $c,
     POST => "$p/q/messages", '{', headers => { 'Content-Type' => 'a/b' });
logs('405|-|-|-|-|method_not_allowed', $c, PUT => "$p/q", {});
logs('404|-|-|-|-|not_found', $c, GET => '/v1/nothing');
logs('404|GetQueue|o/a.b/q|-|-|not_found', $c,
     GET => '/v1/organizations/o/projects/a.b/queues/q');
logs('404|GetQueue|free/p/q|-|-|queue_not_found', $none,
     GET => '/v1/organizations/free/projects/p/queues/q');

# by nginx

logs('413|-|-|-|-|request_too_large', $c, POST => "$p/q/messages", 'x' x 2000);
logs('413|SendMessages|o/p/q|test|-|request_too_large', $c,
     POST => "$p/q/messages", 'x' x 2000, chunked => [1000]);
logs('404|GetQueue|slow/p/q|test|-|queue_not_found', $c,
     GET => '/v1/organizations/slow/projects/p/queues/q', undef,
     headers => { 'X-Limit' => 1 });
logs('503|-|-|-|-|unavailable', $c,
     GET => '/v1/organizations/slow/projects/p/queues/q', undef,
     headers => { 'X-Limit' => 1 });

# nginx refuses these before it has seen a header

$c->get("$p/a%00b");
$c->get("$p/a%2");
ok(wait_for {
    2 == (() = NgxQueues::Process::slurp($s->dir . '/queues.log')
                =~ /^400\|-\|-\|-\|-\|invalid_argument\|-$/mg)
}, 'paths that cannot be decoded');

logs('413|-|-|-|-|-', $c,
     POST => '/v1/organizations/page/projects/p/queues/q/messages',
     'x' x 2000);
logs('200|-|-|-|-|-', $c, GET => '/other');

# names are decoded; what could forge a line or a field is escaped

logs('404|GetQueue|o/p/a b\x22\x5C/|test|-|queue_not_found', $c,
     GET => "$p/a%20b%22%5C%2F");
logs('404|GetQueue|o/p/\xC3\xA4|test|-|queue_not_found', $c,
     GET => "$p/%C3%A4");
logs('400|-|-|-|-|invalid_argument', $c, GET => "$p/a%0Ab");
is(line('tag1end', 'json'), '{"queue":"o/p","tag":"tag1end"}', 'as JSON');

my $quoted = 'tag' . $serial . 'quoted';

$c->get("$p/a%22b", headers => { 'X-Tag' => $quoted });
is(line($quoted, 'json'), "{\"queue\":\"o/p/a\\\"b\",\"tag\":\"$quoted\"}",
   'as JSON, a quote');

# "if" of the log; a value that was asked for early is not kept

is($c->get($p, headers => { 'X-Tag' => 'a list' })->{status}, 200, 'a list');
logs('200|GetQueue|o/p/q|test|-|-', $c, GET => "$p/q");
unlike(NgxQueues::Process::slurp($s->dir . '/queues.log'), qr/a list/,
       'is not logged');

my $r = logs('404|-|-|-|-|not_found', $c, GET => '/early/x');

is("$r->{headers}{'x-early'} $r->{headers}{'x-late'}", '. not_found.',
   'in headers');

# a client that goes, early and while it waits

my $q = NgxQueues::Queue->new($s);
my $name = $q->name;

$q->park(fresh => 1, waitSeconds => 20);

my $h = $c->start(POST => $q->path('/messages/receive'), { waitSeconds => 20 },
                  fresh => 1, headers => { 'X-Tag' => 'gone' });

$q->parked;
$h->close;
is(line('gone'), "499|ReceiveMessages|o/p/$name|test|-|-|gone",
   'gone while it waits');

my $n = $c->connect;

$n->write("POST $p/q/messages HTTP/1.1\r\nHost: a\r\nX-Tag: half\r\n"
          . "Authorization: Bearer " . $s->key
          . "\r\nContent-Length: 100\r\n\r\n{");
$n->half_close;
is(line('half'), '400|SendMessages|o/p/q|test|-|-|half', 'half a body');

$n = $c->connect;
$n->write("nonsense\r\nX-Tag: none\r\n\r\n");
$n->response;

# Redis away

$s->redis->shutdown;
logs('503|SendMessages|o/p/q|test|-|unavailable', $c, POST => "$p/q/messages",
     { body => 'a' });

$s->{redis_is_ours} = 0;
$s->finish;

done_testing;
