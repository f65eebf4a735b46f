#!/usr/bin/perl

# Idempotency-Key of CreateSubscription: a create that comes again makes
# nothing, and does not show the signing secret again.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Client;
use NgxQueues::Queue;
use NgxQueues::Server;

my $other_key = 'qk_other-0123456789abcdefghijklmnop';

my $s = NgxQueues::Server->new(workers => 2, http2 => 1,
    keys => [sha256_hex($other_key) . ' other * *']);
my $c = $s->client;
my $p = '/v1/organizations/o/projects/p';
my $subs = "$p/subscriptions";
my $redis = $s->redis->client;

my $serial = 0;

sub queue { NgxQueues::Queue->new($s, name => $_[0] // 'q' . $serial++) }

sub body {
    my ($queue, $more) = @_;

    return "{\"queueId\":\"$queue\",\"target\":{\"url\":"
           . '"https://hooks.example.com/"}' . ($more // '') . '}';
}

sub create {
    my ($key, $body, %o) = @_;

    my $client = delete $o{client} || $c;

    return $client->post($o{path} || $subs, $body,
                         headers => { 'Idempotency-Key' => $key });
}

sub is_error {
    my ($r, $expected, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is(join(' ', $r->{status}, grep { defined } @{ $r->{json} }{qw/error field/}),
       $expected, $name);
}

# what the first answer is when it comes again

sub again { $_[0]{body} =~ s/"signingSecret":"whsec_\w{43}"/"signingSecret":null/r }

queue($_) for 'a' .. 'h';

my $first = create('key-1', body('a'));

like($first->{body}, qr/"signingSecret":"whsec_[A-Za-z0-9]{43}"\}$/, 'the secret');
is($first->{status}, 201, 'create');

my $id = $first->{json}{subscription};
my $sealed = $redis->call('HGET', 'ngxq:{o/p}:s:' . substr($id, 4), 'sec');

for (1 .. 3) {
    my $r = create('key-1', body('a'));

    is("$r->{status} $r->{body}", '201 ' . again($first), 'the first answer again');
}

is($redis->call('HGET', 'ngxq:{o/p}:s:' . substr($id, 4), 'sec'), $sealed,
   'the secret in use is the first one');
is(scalar @{ $c->get($subs)->{json}{subscriptions} }, 1, 'there is one');

# whatever has become of it

$c->patch("$subs/$id", { batchSize => 3 });
is(create('key-1', body('a'))->{body}, again($first), 'changed meanwhile');
$c->post("$subs/$id/pause");
$c->post("$subs/$id/rotate-secret");
is(create('key-1', body('a'))->{body}, again($first), 'rotated meanwhile');
is($c->delete("$subs/$id")->{status}, 204, 'delete');
is(create('key-1', body('a'))->{body}, again($first), 'deleted meanwhile');
is_error($c->get("$subs/$id"), '404 subscription_not_found', 'not made again');
is($c->delete("$p/queues/a")->{status}, 204, 'delete its queue');
is(create('key-1', body('a'))->{body}, again($first), 'also without its queue');
queue('a');
is(create('key-1', body('a'))->{body}, again($first), 'and with a new one');
is($c->get("$subs?queue=a")->{body}, '{"subscriptions":[],"nextPageToken":null}',
   'which has none');

# with another body: a conflict, and nothing is made

for my $other (body('b'), body('a', ',"batchSize":10'), body('a') . ' ') {
    is_error(create('key-1', $other), '409 idempotency_conflict', $other);
}

is($c->get($subs)->{body}, '{"subscriptions":[],"nextPageToken":null}',
   'nothing is made');

# without the key, or with another, it is another request

is(create('key-2', body('b'))->{status}, 201, 'create');
is_error($c->post($subs, body('b')), '409 subscription_exists', 'without a key');
is_error(create('key-3', body('b')), '409 subscription_exists', 'another key');

# a request that failed binds its key to nothing

is_error(create('key-3', body('none')), '404 queue_not_found queueId', 'no queue');
is_error(create('key-3', body('c', ',"x":1')), '400 invalid_argument x', 'a typo');
is_error(create('key-3', body('c') =~ s/hooks.example.com/localhost/r),
         '400 invalid_argument target.url', 'a URL');
like(create('key-3', body('c'))->{body}, qr/"signingSecret":"whsec_/,
     'the key is free yet');

# keys are of one principal, one project and one call

my $client = $s->client(key => $other_key);

is_error(create('key-2', body('b'), client => $client), '409 subscription_exists',
         'another principal has keys of its own');
like(create('key-2', body('d'), client => $client)->{body},
     qr/"signingSecret":"whsec_/, 'with bodies of their own');
like(create('key-2', body('b'))->{body}, qr/"signingSecret":null/,
     'and this one its own');
NgxQueues::Queue->new($s, project => 'o/other', name => 'b');
like(create('key-2', body('b'),
            path => '/v1/organizations/o/projects/other/subscriptions')->{body},
     qr/"signingSecret":"whsec_/, 'another project');
is(create('key-2', '{"name":"of-a-queue"}', path => "$p/queues")->{status}, 201,
   'another call');

for my $key ('', 'k' x 256, "a\tb", "caf\xc3\xa9", ['k1', 'k2']) {
    is_error(create($key, body('e')), '400 invalid_argument Idempotency-Key',
             'no key');
}

# two at the same moment make one, and one of them has the secret

my ($answers, $secrets) = (0, 0);

for my $i (1 .. 30) {
    my $q = queue();
    my @h = map {
        $c->start(POST => $subs, body($q->name), fresh => 1,
                  headers => { 'idempotency-key' => "once-$i" })
    } 1 .. 6;
    my @r = $c->wait_all(\@h, 20);
    my %answers = map { ("$_->{status} " . again($_) => 1) } @r;

    $answers += keys %answers;
    $secrets += grep { /"signingSecret":"whsec_/ } map { $_->{body} } @r;
}

is("$answers $secrets", '30 30', 'one answer, and one secret, each time');
is(scalar(grep { $_->{state} eq 'active' }
          @{ $c->get("$subs?pageSize=100")->{json}{subscriptions} }), 33,
   'and one subscription');

# after a restart, and by HTTP/2

$s->reload(drained => 20);
like(create('key-2', body('b'))->{body}, qr/"signingSecret":null/, 'a reload');

my $r = NgxQueues::Client::h2(port => $s->h2_port, key => $s->key,
    method => 'POST', path => $subs, body => body('b'),
    headers => { 'Idempotency-Key' => 'key-2' });

like($r->{body}, qr/"signingSecret":null/, 'HTTP/2');
$r = NgxQueues::Client::h2(port => $s->h2_port, key => $s->key,
    method => 'POST', path => $subs, body => body('e'),
    headers => { 'Idempotency-Key' => 'key-5' });
like($r->{body}, qr/"signingSecret":"whsec_/, 'the first one');

# kept for a day, without the key and the secret

for my $key (@{ $redis->call('KEYS', 'ngxq:{o/p}:j:*') }) {
    my $ttl = $redis->call('PTTL', $key);

    ok($ttl > 86_000_000 && $ttl <= 86_400_000, 'for a day') or diag($ttl);
    last;
}

unlike("@{ $redis->call('KEYS', '*') }", qr/key-\d|once-/, 'no key is stored');

$s->finish;

done_testing;
