#!/usr/bin/perl

# Idempotency-Key: a create that comes again is the same one.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Client;
use NgxQueues::Server;

my $other_key = 'qk_other-0123456789abcdefghijklmnop';

my $s = NgxQueues::Server->new(workers => 2, http2 => 1,
    keys => [sha256_hex($other_key) . ' other * *']);
my $c = $s->client;
my $queues = '/v1/organizations/o/projects/p/queues';

sub create {
    my ($key, $body, %o) = @_;

    my $client = delete $o{client} || $c;

    return $client->post($o{queues} || $queues, $body,
                         headers => { 'Idempotency-Key' => $key });
}

sub is_error {
    my ($r, $expected, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is(join(' ', $r->{status}, grep { defined } @{ $r->{json} }{qw/error field/}),
       $expected, $name);
}

# the same key with the same body: the first answer, to the byte

my $body = '{"name":"a","delaySeconds":5}';
my $first = create('key-1', $body);

is($first->{status}, 201, 'create');

for (1 .. 3) {
    my $r = create('key-1', $body);

    is("$r->{status} $r->{body}", "201 $first->{body}", 'the first answer again');
}

# also when the queue has changed, or is gone

$c->patch("$queues/a", { delaySeconds => 6 });
is(create('key-1', $body)->{body}, $first->{body}, 'changed meanwhile');
is($c->delete("$queues/a")->{status}, 204, 'delete');
is(create('key-1', $body)->{body}, $first->{body}, 'deleted meanwhile');
is($c->get("$queues/a")->{status}, 404, 'it is not made again');

# with another body: a conflict, and nothing is made

for my $other ('{"name":"b"}', '{"name":"a","delaySeconds":6}', "$body ",
               '{"delaySeconds":5,"name":"a"}') {
    is_error(create('key-1', $other), '409 idempotency_conflict', $other);
}

is($c->get("$queues/b")->{status}, 404, 'nothing is made');

# without the key, or with another, it is another request

$first = create('key-2', '{"name":"c"}');
is($first->{status}, 201, 'create');
is_error($c->post($queues, '{"name":"c"}'), '409 queue_exists', 'without a key');
is_error(create('key-3', '{"name":"c"}'), '409 queue_exists', 'another key');
is_error(create('Key-2', '{"name":"c"}'), '409 queue_exists',
         'case makes another key');

# a request that failed binds its key to nothing

is_error(create('key-3', '{"name":"c"}'), '409 queue_exists', 'and again');
is(create('key-3', '{"name":"d"}')->{status}, 201, 'the key is free yet');
is_error(create('key-4', '{"name":""}'), '400 invalid_argument name', 'invalid');
is(create('key-4', '{"name":"e"}')->{status}, 201, 'the key is free yet');

# a key is of one principal and one project

my $other = $s->client(key => $other_key);

is_error(create('key-2', '{"name":"c"}', client => $other), '409 queue_exists',
         'another principal has keys of its own');
is(create('key-2', '{"name":"f"}', client => $other)->{status}, 201,
   'with bodies of their own');
is(create('key-2', '{"name":"c"}')->{body}, $first->{body}, 'and this one its own');
is(create('key-2', '{"name":"g"}', queues => $queues =~ s/p\/queues/q\/queues/r)
       ->{status}, 201, 'another project');

# keys: 1 to 255 printable ASCII

my $n = 0;

for my $key ('k', '~', '"a b"', 'k' x 255, '!' x 255, '0', 'a:b', "a  b") {
    my $name = 'n' . $n++;
    my $r = create($key, { name => $name });

    is($r->{status}, 201, "key $key");
    is(create($key, { name => $name })->{body}, $r->{body}, 'again');
    is_error(create($key, { name => "x$name" }), '409 idempotency_conflict',
             'another body');
}

for my $key ('', 'k' x 256, "caf\xc3\xa9", "a\tb", "\x7f", "a\x01b") {
    is_error(create($key, { name => 'bad' }),
             '400 invalid_argument Idempotency-Key',
             'key ' . ($key =~ s/([^ -~])/sprintf '\\x%02x', ord $1/ger));
}

is_error(create(['k1', 'k2'], { name => 'bad' }),
         '400 invalid_argument Idempotency-Key', 'two keys');
is_error(create(['k1', 'k1'], { name => 'bad' }),
         '400 invalid_argument Idempotency-Key', 'one twice');
is($c->get("$queues/bad")->{status}, 404, 'nothing is made');

# two at the same moment make one

for my $i (1 .. 20) {
    my @h = map {
        $c->start(POST => $queues, { name => "at-once-$i" }, fresh => 1,
                  headers => { 'idempotency-key' => "once-$i" })
    } 1 .. 8;
    my %answers = map { ("$_->{status} $_->{body}" => 1) } $c->wait_all(\@h, 20);

    is(scalar keys %answers, 1, 'one answer');
    like((keys %answers)[0], qr/^201 /, 'of success');
}

# with a redrive policy, and after a restart of nginx

my %policy = (name => 'with-policy', redrivePolicy => {
    deadLetterQueueId => 'c', maxReceiveCount => 3 });

$first = create('policy', \%policy);
is($first->{json}{redrivePolicy}{maxReceiveCount}, 3, 'a policy');
$s->reload(drained => 20);
is(create('policy', \%policy)->{body}, $first->{body}, 'the same answer');

# HTTP/2

my $r = NgxQueues::Client::h2(port => $s->h2_port, key => $s->key,
    method => 'POST', path => $queues, body => \%policy,
    headers => { 'Idempotency-Key' => 'policy' });

is("$r->{status} $r->{body}", "201 $first->{body}", 'by HTTP/2');

# calls that make nothing do not look at it

is($c->post("$queues/c/messages", { body => 'x' },
            headers => { 'Idempotency-Key' => '' })->{status}, 201, 'a send');
is($c->get("$queues/c", headers => { 'Idempotency-Key' => ['a', 'b'] })
       ->{status}, 200, 'a get');

# kept for 24 hours

my $redis = $s->redis->client;
my ($key) = grep { length } @{ $redis->call('KEYS', 'ngxq:{o/p}:j:*') };
my $ttl = $redis->call('PTTL', $key);

ok($ttl > 86_000_000 && $ttl <= 86_400_000, 'for a day') or diag($ttl);
unlike("@{ $redis->call('KEYS', '*') }", qr/policy|key-1/, 'no key is stored');

$s->finish;

done_testing;
