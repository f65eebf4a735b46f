#!/usr/bin/perl

# The programs of docs/guides/pubsub.md, in each language: publishers and
# subscribers while Redis dies and nginx is reloaded, endpoints that verify tokens
# and end in the middle. What is lost, done twice or left is a failure.
#
# publisher.mjs publisher.py publisher.go subscriber.mjs subscriber.py subscriber.go
# endpoint.mjs endpoint.py endpoint.go

use strict;
use warnings;

use IO::Socket::INET;
use List::Util 'sum';
use Test::More;

use NgxQueues::Client;
use NgxQueues::Dns;
use NgxQueues::Jwt;
use NgxQueues::Metrics;
use NgxQueues::Process qw/slurp gone reap free_port/;
use NgxQueues::Programs qw/done is_done busy/;
use NgxQueues::Pubsub;
use NgxQueues::Server;
use NgxQueues::Wait;

my @languages = @NgxQueues::Programs::languages;
my ($rsa, $other) = map { NgxQueues::Jwt->rsa } 1, 2;
my $dns = NgxQueues::Dns->new('*' => { A => ['127.0.0.1'] });
my ($half, $proxy) = (free_port(), busy(free_port()));

# one that moves the deadlines of a subscription once, and refuses to do so again

my $refusing = <<"END";
limit_req_zone \$uri zone=half:1m rate=1r/m;
server {
    listen 127.0.0.1:$half;
    location / { proxy_pass http://127.0.0.1:%%PORT%%; }
    location ~ :modifyAckDeadline\$ {
        limit_req zone=half;
        limit_req_status 403;
        error_page 403 /refused;
        proxy_pass http://127.0.0.1:%%PORT%%;
    }
    location = /refused {
        default_type application/json;
        return 403 '{"error":{"code":403,"message":"403","status":"PERMISSION_DENIED"}}';
    }
}
END

my $s = NgxQueues::Server->new(workers => 2, redis => { aof => 1 },
    http => $proxy->{directives} . $refusing
        . 'queues_push_allow_localhost on; resolver ' . $dns->address . ';'
        . 'queues_oidc_issuer http://127.0.0.1:%%PORT%%;'
        . 'queues_oidc_key ' . $rsa->private . ';',
    locations => 'location /v1/projects/ { queues_pubsub_api acme; }'
        . 'location /.well-known/ { queues_oidc_discovery; }'
        . 'location = /metrics { queues_metrics; }');
my $p = NgxQueues::Pubsub->new($s);
my $programs = NgxQueues::Programs->new('pubsub', {
    PUBSUB_URL => $s->url, PROJECT_ID => 'shop', API_KEY => $s->key, DEADLINE => 2,
    ISSUER => $s->url, AUDIENCE => 'orders', ACCOUNT => 'push@example.com',
});
my $dir = $programs->dir;

sub orders { join '', map { "{\"orderId\": $_}\n" } $_[0] .. $_[1] }

# publishers and subscribers, of all languages at once; dead letters of both kinds
# of subscriptions go to a topic of their own

my (%publisher, %subscriber, %endpoint, %port);

for my $language (@languages) {
    $port{$language} = free_port();
    $p->topic($_) for "orders-$language", "dead-$language";
    $p->sub("dead-$language", "dead-$language");

    my $policy = sub { (deadLetterPolicy => { maxDeliveryAttempts => 5,
                                              deadLetterTopic => "dead-$language" }) };

    $p->sub("billing-$language", "orders-$language", ackDeadlineSeconds => 10,
            $policy->());
    $p->sub("shipping-$language", "orders-$language", $policy->(), pushConfig => {
        pushEndpoint => "http://127.0.0.1:$port{$language}/orders",
        oidcToken => { serviceAccountEmail => 'push@example.com', audience => 'orders' },
    });

    $subscriber{$language} = $programs->start('subscriber', $language,
        { DONE => "$dir/$language" }, "billing-$language");
    $publisher{$language} = $programs->start('publisher', $language, {},
        "orders-$language");
}

sub endpoint {
    my ($language) = @_;

    my $run = $programs->start('endpoint', $language, {
        PORT => $port{$language}, DONE => "$dir/$language-push" });

    ok(wait_for(sub {
        IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port{$language}")
    }, 20), "$language: the endpoint runs") or diag($programs->out($run));

    return $run;
}

$endpoint{$_} = endpoint($_) for @languages;
$programs->feed($publisher{$_}, orders(1, 20)) for @languages;
is_done("$dir/$_", 10) for @languages;

$s->redis->written;
$s->redis->kill;
$programs->feed($publisher{$_}, orders(21, 45)) for @languages;
$s->reload;
$s->redis->start;

for (@languages) {
    $programs->feed($publisher{$_}, "no JSON\n");
    $programs->fed($publisher{$_});
    $programs->ends($publisher{$_}, undef, 60);
}

for my $language (@languages) {
    is_done("$dir/$language", 45);

    my %ids = map { $_ => 1 } done("$dir/$language");

    is(keys %ids, 45, "$language: each order");
    is(scalar(done("$dir/$language")), 45, 'once');
    is_done("$dir/$language-push", 45);
}

# what fails, of both subscriptions

for my $language (@languages) {
    my @dead;

    ok(wait_for(sub { push @dead, $p->pull("dead-$language", 10); @dead >= 2 }, 40),
       "$language: dead letters") or diag($programs->out($endpoint{$language}));
    is(join(' ', sort map {
        $_->{message}{attributes}{CloudPubSubDeadLetterSourceSubscription}
    } @dead), "billing-$language shipping-$language", 'of each subscription');
}

# an endpoint refuses what the server has not signed, and others' tokens

my %claims = (iss => $s->url, aud => 'orders', email => 'push@example.com',
              email_verified => JSON::PP::true, sub => 'x', iat => time,
              exp => time + 600);
my $kid = $s->client(key => undef)->get('/.well-known/openid-configuration')
    ->{json}{jwks_uri};

($kid) = map { $_->{kid} } @{ $s->client(key => undef)->get(
    $kid =~ s{^http://[^/]+}{}r)->{json}{keys} };

for my $language (@languages) {
    my $client = NgxQueues::Client->new(port => $port{$language}, timeout => 15);
    my %tokens = (
        none => undef,
        'no token' => 'x',
        'another key' => $other->token(\%claims, { kid => $kid }),
        'an unknown key' => $other->token(\%claims, { kid => 'x' }),
        'another audience' => $rsa->token({ %claims, aud => 'x' }, { kid => $kid }),
        'another issuer' => $rsa->token({ %claims, iss => 'x' }, { kid => $kid }),
        'another account' => $rsa->token({ %claims, email => 'x' }, { kid => $kid }),
        'an old token' => $rsa->token({ %claims, exp => time - 600 }, { kid => $kid }),
    );

    for (sort keys %tokens) {
        my $r = $client->post('/orders', { message => { messageId => 'forged',
            data => 'MQ==' } }, headers => {
                Authorization => $tokens{$_} && "Bearer $tokens{$_}" });

        is($r->{status}, 401, "$language refuses: $_");
    }

    my $r = $client->post('/orders', { message => { messageId => 'ours',
        data => 'MQ==' } }, headers => {
            Authorization => 'Bearer ' . $rsa->token(\%claims, { kid => $kid }) });

    is($r->{status}, 204, "$language: and takes its own");
    is($client->post('/orders', ' ' x (1 + (16 << 20)), fresh => 1)->{status}, 413,
       "$language: and nothing that is too large");

    # each attempt counts, also while it is away

    $p->patch('subscriptions', "shipping-$language",
              { subscription => {}, updateMask => 'deadLetterPolicy' });
    $programs->ends($endpoint{$language}, 'TERM', 5);
}

# while they are away something comes; a change of the configuration ends the pause

# whether it works at what was published since then: after its pull was answered with
# messages it has moved their deadline, and once more, as the work takes time; SIGTERM
# between the two would find it with what it has not begun

sub works {
    my ($language, $since) = @_;

    return substr($s->access_log, $since)
        =~ /billing-$language:pull[^"]*"[ ]200[ ]\d{3}.*
            (?:billing-$language:modifyAckDeadline.*){2}/xs;
}

my $since = length $s->access_log;

$p->publish("orders-$_", '{"seconds": 4}', '{"orderId": 47}') for @languages;

# while it works, for longer than the deadline of 2 s that the program has, nobody else
# gets what it has in hand

my $begin = time;
my $got = 0;

for my $language (@languages) {
    ok(wait_for(sub { works($language, $since) }, 10), "$language: it works");
}

while (time < $begin + 4) {
    $got += $p->pull("billing-$_", 10) for @languages;
}

is($got, 0, 'nobody else gets what somebody works at');

for my $language (@languages) {
    is_done("$dir/$language", 47);
}

for my $language (@languages) {
    $endpoint{$language} = endpoint($language);
    $p->call("shipping-$language", 'modifyPushConfig', { pushConfig => {
        pushEndpoint => "http://127.0.0.1:$port{$language}/again",
        oidcToken => { serviceAccountEmail => 'push@example.com', audience => 'orders' },
    } });
}

for my $language (@languages) {
    is_done("$dir/$language-push", 48);

    my @done = done("$dir/$language-push");
    my %ids = map { $_ => 1 } @done;

    is(scalar(@done), keys %ids, "$language: none is done twice");
    ok(!$ids{forged}, 'and no forged one');
    $programs->ends($endpoint{$language}, 'TERM', 5);
}

# SIGTERM while it works

$since = length $s->access_log;

$p->publish("orders-$_", '{"seconds": 3}') for @languages;

for my $language (@languages) {
    ok(wait_for(sub { works($language, $since) }, 10), "$language: it works");
    $programs->ends($subscriber{$language}, 'TERM', 10);
    is(scalar(done("$dir/$language")), 48, "$language: what it had in hand is done");
}

# what failed cannot be released: what a subscriber has done before is acknowledged all
# the same.  With a deadline that it does not move meanwhile, the release is what is
# refused first.

my $metrics = NgxQueues::Metrics->new($s->client);
my %half;

sub left {
    my ($sub) = @_;

    return sum($metrics->scrape
        =~ /^queues_queue_messages\{[^}]*queue="gcp\.sub\.$sub"[^}]*\} (\d+)$/mg);
}

for my $language (@languages) {
    my $name = "half-$language";

    $p->topic($name);
    $p->sub($name, $name);
    $p->publish($name, '{"orderId": 1}', 'no JSON');
    $half{$language} = $programs->start('subscriber', $language,
        { PUBSUB_URL => "http://127.0.0.1:$half", DONE => "$dir/$name",
          DEADLINE => 30 }, $name);
}

for my $language (@languages) {
    my $run = $half{$language};

    ok(wait_for(sub { $programs->out($run) =~ /403/ }, 15),
       "$language: a release is refused") or diag($programs->out($run));
    kill TERM => $run->{pid} if !gone($run->{pid});
    ok(defined reap($run->{pid}, 10), 'and the subscriber ends')
        or diag($programs->out($run));
    is(scalar(done("$dir/half-$language")), 1, 'what it has done');
    ok(wait_for(sub { left("half-$language") == 1 }, 10), 'is acknowledged');
}

# who is told when to ask again: in seconds, or by a date, which is not waited for.
# Google's client knows its own pauses alone.

$programs->told($proxy, 'PUBSUB_URL', [qw/publisher subscriber/],
                [grep { $_ ne 'node' } @languages], sub {
    $p->topic($_[0]);
    $p->sub($_[0], $_[0]);
});

$s->finish;
done_testing;
