#!/usr/bin/perl

# What subscription calls answer beside their usual: the status of deliveries,
# a limit of calls, Redis away.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use JSON::PP ();
use Test::More;

use NgxQueues::Process qw/reap spawn/;
use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $some = 'qk_some-0123456789abcdefghijklmnopqr';

my $s = NgxQueues::Server->new(workers => 2, http2 => 1,
    keys => [sha256_hex($some) . ' some * */p/q*'],
    http => 'queues_zone queues 1m;', locations => <<'END');
location / { queues_api; }
location /v1/organizations/few/ {
    queues_rate_limit organization=1/m queue=1/m burst=12;
    queues_api;
}
END

my $c = $s->client;
my $redis = $s->redis->client;
my $subs = '/v1/organizations/o/projects/p/subscriptions';
my %hook = (target => { url => 'https://hooks.example.com/' });

my $q = NgxQueues::Queue->new($s);
my $id = $c->post($subs, { queueId => $q->name, %hook })->{json}{subscription};

# the status, as deliveries leave it

sub status {
    my (%is) = @_;

    $redis->call('HSET', 'ngxq:{o/p}:s:' . substr($id, 4), nd => 9, ne => 1, %is);

    my $r = $c->get("$subs/$id");
    my ($status) = $r->{body} =~ /"status":(.*),"createdAt"/;

    is_deeply($c->get($subs)->{json}{subscriptions}[0], $r->{json},
              'the same in a list');

    return $status // "$r->{status} $r->{body}";
}

is(status(fl => 1, le => '1700000000 http 503 The endpoint answered 503. "busy"'),
   '{"health":"failing","lastError":{"at":"2023-11-14T22:13:20Z","class":"http",'
   . '"status":503,"message":"The endpoint answered 503. \"busy\""},'
   . '"lastSuccessAt":null}', 'failing');
is(status(fl => 0, ls => 1700000060),
   '{"health":"healthy","lastError":{"at":"2023-11-14T22:13:20Z","class":"http",'
   . '"status":503,"message":"The endpoint answered 503. \"busy\""},'
   . '"lastSuccessAt":"2023-11-14T22:14:20Z"}', 'healthy again');

for my $class (qw/timeout connection refused tls/) {
    is(status(fl => 1, le => "1700000000 $class 0 It is so."),
       "{\"health\":\"failing\",\"lastError\":{\"at\":\"2023-11-14T22:13:20Z\","
       . "\"class\":\"$class\",\"message\":\"It is so.\"},"
       . '"lastSuccessAt":"2023-11-14T22:14:20Z"}', "$class: no status");
}

# whatever an endpoint has said comes as valid JSON

for my $message ('', ' ', "\0\x01\x1f\n\"\\/", "\xff\xfe", "\xe2\x82\xac",
                 "\xf0\x9f\x98\x8a" x 200, "\x01" x 200, '%s%n', '</script>') {
    my $text = status(le => "1700000000 http 500 $message");
    my $json = eval { JSON::PP->new->utf8->decode($text) };

    is(ref $json ? $json->{lastError}{status} : $@, 500, 'valid JSON');
}

# all calls that there are, by a client for all queues and one for some

my %calls = (
    create => sub { $_[0]->post($_[1], { queueId => 'q-new', %hook }) },
    list => sub { $_[0]->get($_[1]) },
    queue => sub { $_[0]->get("$_[1]?queue=" . $q->is('queueId')) },
    get => sub { $_[0]->get("$_[1]/$id") },
    head => sub { $_[0]->head("$_[1]/$id") },
    update => sub { $_[0]->patch("$_[1]/$id", {}) },
    (map { my $call = $_; ($call => sub { $_[0]->post("$_[1]/$id/$call") }) }
        qw/pause resume rotate-secret/),
    delete => sub { $_[0]->delete("$_[1]/$id") },
);

# each counts for its organization; nothing else is counted, as no path has a
# queue

$q = NgxQueues::Queue->new($s, project => 'few/p');

my $few = $subs =~ s/organizations\/o\//organizations\/few\//r;
my $one = $s->client(key => $some);

$id = $c->post($few, { queueId => $q->name, %hook })->{json}{subscription};

my @calls = grep { $_ ne 'delete' } sort keys %calls;

is(join(' ', map { $calls{$_}->($one, $few)->{status} } @calls),
   '404 200 200 200 200 200 200 200 200', 'within the limit');
is($c->get("$few/x")->{status}, 404, 'and one more');

for my $call (@calls, 'delete') {
    for my $client ($c, $one) {
        my $r = $calls{$call}->($client, $few);

        is($r->{status}, 429, "$call: over the limit");
        cmp_ok($r->{headers}{'retry-after'} // 0, '>', 0, 'for a while');
    }
}

# clients that are gone when Redis answers; by HTTP/2 nginx knows it at once

$q = NgxQueues::Queue->new($s);
$id = $c->post($subs, { queueId => $q->name, %hook })->{json}{subscription};

my $created = NgxQueues::Queue->new($s, name => 'q-new');
my $body = '{"queueId":"' . $created->is('queueId') . '","target":{"url":'
           . '"https://hooks.example.com/"}}';

$s->redis->stop;

my @curls = map {
    my ($key, $method, $path, @body) = @$_;

    spawn({ out => '/dev/null' }, qw/curl -sS --http2-prior-knowledge -m 1/,
          '-X', $method, '-H', "Authorization: Bearer $key",
          (map { ('-H', 'Content-Type: application/json', '-d', $_) } @body),
          'http://127.0.0.1:' . $s->h2_port . "$subs$path");
} map {
    my $key = $_;

    ([$key, 'POST', '', $body], [$key, 'GET', ''],
     [$key, 'GET', '?queue=' . $q->is('queue')],
     [$key, 'GET', "/$id"], [$key, 'PATCH', "/$id", '{}'],
     map { [$key, 'POST', "/$id/$_"] } qw/pause resume rotate-secret/)
} $s->key, $some;

is(join(' ', map { reap($_, 20) >> 8 } @curls), join(' ', (28) x @curls),
   'all have gone');
$s->redis->cont;

ok(wait_for { $c->get("$subs/$id")->{status} == 200 }, 'the others are served');
is($c->get("$subs?queue=q-new")->{status}, 200, 'whatever was made');
$c->delete("$subs/$id");

# Redis away: 503, whichever call it is

$s->redis->shutdown;

for my $call (sort keys %calls) {
    for my $client ($c, $one) {
        my $r = $calls{$call}->($client, $subs);

        is("$r->{status} " . ($r->{json}{error} // '-')
           . ' ' . ($r->{headers}{'retry-after'} // ''),
           $call eq 'head' ? '503 - 1' : '503 unavailable 1', "$call: Redis away");
    }
}

is($c->get("$subs/x")->{status}, 404, 'what cannot be one needs no Redis');

$s->{redis_is_ours} = 0;
$s->finish;

done_testing;
