#!/usr/bin/perl

# The consumer loop that users are given, run by Node.js: its TypeScript as it
# is, with another host, a handler that fails when told to, and its types taken
# away.

use strict;
use warnings;

use Test::More;

use NgxQueues::Process qw/spawn gone reap slurp spurt temp_dir/;
use NgxQueues::Queue;
use NgxQueues::RedisServer;
use NgxQueues::Server;
use NgxQueues::Wait;

my $dir = temp_dir();

# without idle connections, as a reload closes them: where it does so in the
# moment in which the loop sends on one, fetch() fails and the loop ends, with
# any server

my $s = NgxQueues::Server->new(workers => 2, redis => { aof => 1 },
                               server => 'keepalive_timeout 0;');
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 1);

my $loop = do { local $/; <DATA> };

is($loop =~ s{https://queues-live\.ezghcloud\.com}{$s->url}e, 1, 'the host');
is($loop =~ s{(console\.log\(message\.messageId)}
             {if (message.body === "fail") throw new Error("no"); $1}, 1,
   'a handler that may fail');

# the types: of two parameters and of an array

is($loop =~ s/\(ms: number\)/(ms)/, 1, 'a type');
is($loop =~ s/\(message: \{[^}]*\}\)/(message)/, 1, 'another type');
is($loop =~ s/handled: string\[\]/handled/, 1, 'and an array');

spurt("$dir/consumer.mjs", $loop);

my $consumers = 0;

sub consumer {
    my ($id, %env) = @_;

    my $out = "$dir/out" . ++$consumers;

    return (spawn({ out => $out, env => {
        EZGH_API_KEY => $s->key, ORG_ID => 'o', PROJECT_ID => 'p',
        QUEUE_ID => $id, %env
    } }, 'node', "$dir/consumer.mjs"), $out);
}

# one that finds messages and then waits for more

my @ids = $q->send(map { "before $_" } 1 .. 15);
my ($pid, $out) = consumer($q->is('queueId'));

ok(wait_for(sub { $q->counts eq '0 0 0' }, 15), 'all that was there is handled');
is(slurp($out), join('', map { "$ids[$_] before " . ($_ + 1) . "\n" } 0 .. 14),
   'and printed');

push @ids, $q->send("after \\ \"x\"",
                    { body => 'two', attributes => { a => 'b' } });
ok(wait_for(sub { $q->counts eq '0 0 0' }, 5), 'and what comes later');
like(slurp($out), qr/\Q$ids[15] after \ "x"\E\n\Q$ids[16]\E two\n\z/,
     'in order');

# what it fails to handle comes again

$q->send('fail', 'fine');
ok(wait_for(sub { slurp($out) =~ /failed \(receive 2\)/ }, 10),
   'a failed message is received again');
like(slurp($out), qr/ fine\n/, 'the others are handled');
is($s->client->post($q->path('/purge'))->{status}, 202, 'purge');

# an outage is over before it gives up: it waits for Retry-After

$s->redis->written;
$s->redis->kill;
wait_for { $s->client->get($q->path)->{status} == 503 } 5;
$s->redis->start;
delete $q->{redis};

# each worker finds Redis by itself

wait_for {
    $s->client->post($q->path('/messages'), { body => 'after the outage' })
        ->{status} == 201
} 5;

ok(wait_for(sub { slurp($out) =~ / after the outage\n/ }, 10),
   'it goes on after an outage');

# reloads do not disturb it while it waits

for (1 .. 2) {
    $q->parked;

    my $calls = $q->calls;

    $s->reload(drained => 15);
    wait_for { $q->calls > $calls } 10;
}

$q->send('after a reload');
ok(wait_for(sub { slurp($out) =~ / after a reload\n/ }, 10),
   'it goes on after a reload');
ok(!gone($pid), 'it is the same one');

# several: each message to one of them

my ($pid2, $out2) = consumer($q->name);
my ($pid3, $out3) = consumer($q->is('queue'));

$q->send(map { "shared $_" } 1 .. 40);
ok(wait_for(sub {
    my %is = map { $_ => 1 } (slurp($out) . slurp($out2) . slurp($out3))
                             =~ / shared (\d+)/g;
    keys %is == 40;
}, 15), 'three consumers');
ok(wait_for(sub { $q->counts eq '0 0 0' }, 10), 'all is done')
    or diag($q->counts, "\n", map { slurp($_) } $out, $out2, $out3);
is((() = (slurp($out) . slurp($out2) . slurp($out3)) =~ / shared /g), 40,
   'each message once');

# the queue is deleted while they wait; a key that is wrong

is($s->client->delete($q->path)->{status}, 204, 'delete');

for ($pid, $pid2, $pid3) {
    my $status = reap($_, 10);
    is($status && $status >> 8, 1, 'a consumer ends');
}

like(slurp($out), qr/Error: receive: 404 \{"error":"queue_not_found"/,
     'and says why');

my ($pid4, $out4) = consumer('x', EZGH_API_KEY => 'wrong');

reap($pid4, 10);
like(slurp($out4), qr/Error: receive: 401 \{"error":"unauthenticated"/,
     'a wrong key');

$s->finish;

done_testing;

__DATA__
const live = "https://queues-live.ezghcloud.com"
const { EZGH_API_KEY, ORG_ID, PROJECT_ID, QUEUE_ID } = process.env
const receiveUrl = `${live}/v1/organizations/${ORG_ID}/projects/${PROJECT_ID}/queues/${QUEUE_ID}/messages/receive`
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function handle(message: { messageId: string; body: string; attributes: Record<string, string> }) {
  console.log(message.messageId, message.body)
}

while (true) {
  const res = await fetch(receiveUrl, {
    method: "POST",
    headers: { Authorization: `Bearer ${EZGH_API_KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify({ maxMessages: 10, waitSeconds: 20 }),
    signal: AbortSignal.timeout(30_000),
  })
  if (res.status === 429 || res.status >= 500) {
    await sleep(Number(res.headers.get("Retry-After") ?? 1) * 1000)
    continue
  }
  if (!res.ok) throw new Error(`receive: ${res.status} ${await res.text()}`)

  const { messages } = await res.json()
  const handled: string[] = []
  for (const message of messages) {
    try {
      await handle(message)
      handled.push(message.receiptHandle)
    } catch (err) {
      console.error(`message ${message.messageId} failed (receive ${message.receiveCount})`, err)
    }
  }
  if (handled.length > 0) {
    await fetch(`${live}/v1/receipts/ack`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ receiptHandles: handled }),
    })
  }
}
