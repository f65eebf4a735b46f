#!/usr/bin/perl

# The programs of docs/guides/queues.md, in each language: producers and workers
# while Redis dies and nginx is reloaded, endpoints that end in the middle. What is
# lost, done twice or left is a failure.
#
# producer.mjs producer.py producer.go worker.mjs worker.py worker.go
# endpoint.mjs endpoint.py endpoint.go

use strict;
use warnings;

use IO::Socket::INET;
use Test::More;

use NgxQueues::Client;
use NgxQueues::Process qw/slurp gone reap free_port/;
use NgxQueues::Programs qw/done is_done busy/;
use NgxQueues::Push;
use NgxQueues::Queue;
use NgxQueues::Wait;

my @languages = @NgxQueues::Programs::languages;
my ($half, $proxy) = (free_port(), busy(free_port()));
my $p = NgxQueues::Push->new(workers => 2, redis => { aof => 1 },
    http => $proxy->{directives} . "server { listen 127.0.0.1:$half;"
            . ' location / { proxy_pass http://127.0.0.1:%%PORT%%; }'
            . ' location /v1/receipts/visibility { return 403; } }');
my $s = $p->server;
my $programs = NgxQueues::Programs->new('queues', {
    QUEUES_URL => $s->url, QUEUES_KEY => $s->key, QUEUES_PROJECT => 'o/p',
    VISIBILITY => 1,
});
my $dir = $programs->dir;

sub queues {
    my ($name, %settings) = @_;

    my $dead = NgxQueues::Queue->new($s, name => "$name-dead", %settings);
    my $queue = NgxQueues::Queue->new($s, name => $name, %settings, redrivePolicy => {
        deadLetterQueueId => $dead->name, maxReceiveCount => 2 });

    return ($queue, $dead);
}

# producers and workers, of all languages at once

my (%queue, %dead, %worker, %producer, %fifo, %fifo_worker);

for my $language (@languages) {
    ($queue{$language}, $dead{$language}) = queues($language);
    $fifo{$language} = NgxQueues::Queue->new($s, name => "$language-fifo",
                                             kind => 'fifo');

    $worker{$language} = $programs->start('worker', $language,
        { DONE => "$dir/$language" }, $language);
    $fifo_worker{$language} = $programs->start('worker', $language,
        { DONE => "$dir/$language-fifo" }, "$language-fifo");
    $producer{$language} = $programs->start('producer', $language, {}, $language);

    $programs->feed($producer{$language},
        join '', map { "{\"orderId\": $_}\n" } 1 .. 20);
}

is_done("$dir/$_", 10) for @languages;

# the groups of a FIFO queue: the third message of one fails

for my $language (@languages) {
    my @messages = map { my $n = $_; map { {
        body => $n == 3 && $_ eq 'a' ? 'no JSON' : '{}', groupId => $_,
        deduplicationId => "$_$n", attributes => { id => "$_$n" },
    } } qw/a b/ } 1 .. 6;

    $fifo{$language}->send(@messages);
}

$s->redis->written;
$s->redis->kill;

for (@languages) {
    $programs->feed($producer{$_}, join '', map { "{\"orderId\": $_}\n" } 21 .. 45);
}

$s->reload;
$s->redis->start;

for (@languages) {
    $programs->feed($producer{$_}, "no JSON\n");
    $programs->fed($producer{$_});
    $programs->ends($producer{$_});
}

for my $language (@languages) {
    is_done("$dir/$language", 45);
    ok(wait_for(sub { $dead{$language}->counts eq '1 0 0' }, 15),
       "$language: what cannot be read is a dead letter");
    is($queue{$language}->counts, '0 0 0', 'and nothing is left');

    my %ids = map { $_ => 1 } done("$dir/$language");

    is(keys %ids, 45, "$language: each order");
    is(scalar(done("$dir/$language")), 45, 'once');
}

# what failed holds its group back, and no other one

sub fifo_done {
    my ($language, $group) = @_;

    return join ' ', grep { /$group/ } done("$dir/$language-fifo");
}

sub receives {
    my ($q) = @_;

    # it is in one of the two, and on its way to the other between the questions

    return wait_for { receives_now($q) };
}

sub receives_now {
    my ($q) = @_;

    my @m = map { @{ $q->get("/messages?limit=100&state=$_")->{json}{messages} } }
        qw/visible inFlight/;

    return (map { $_->{receiveCount} } grep { $_->{body} eq 'no JSON' } @m)[0] // 0;
}

for my $language (@languages) {
    my $q = $fifo{$language};

    ok(wait_for(sub { receives($q) >= 3 }, 15), "$language: one fails");
    is(fifo_done($language, 'a'), 'a1 a2', 'its group waits');
    is(fifo_done($language, 'b'), 'b1 b2 b3 b4 b5 b6', 'and another one does not');
    $programs->ends($fifo_worker{$language}, 'TERM', 5);

    # it becomes a dead letter, received one by one

    my $dead = NgxQueues::Queue->new($s, name => "$language-fifo-dead",
                                     kind => 'fifo');

    $q->client->patch($q->path, { redrivePolicy => {
        deadLetterQueueId => $dead->name, maxReceiveCount => receives($q) + 1 } });
    $fifo_worker{$language} = $programs->start('worker', $language,
        { DONE => "$dir/$language-fifo", MAX_MESSAGES => 1 }, "$language-fifo");
    is_done("$dir/$language-fifo", 11);
    is($dead->counts, '1 0 0', "$language: a dead letter of a group");
    is(fifo_done($language, 'a'), 'a1 a2 a4 a5 a6', 'which goes on');
}

# work that takes longer than the visibility timeout, and SIGTERM in its middle

for (@languages) {
    $queue{$_}->send({ body => '{"seconds": 3}', attributes => { id => 'slow' } });
}

ok(wait_for(sub { $queue{$_}->counts eq '0 1 0' }, 5), "$_: it works")
    for @languages;

my @other = map { $queue{$_}->park(waitSeconds => 2) } @languages;

is_deeply([map { $_->{json}{messages} } $s->client->wait_all(\@other, 10)],
          [[], [], []], 'nobody else gets what somebody works at');

for (@languages) {
    kill TERM => $worker{$_}{pid};
    kill TERM => $fifo_worker{$_}{pid};
}

for (@languages) {
    $programs->ends($fifo_worker{$_}, undef, 5);
    $programs->ends($worker{$_}, undef, 10);
    is((done("$dir/$_"))[-1], 'slow', "$_: what it had in hand is done");
    is($queue{$_}->counts, '0 0 0', 'and acknowledged');
}

# what failed cannot be released: a worker ends all the same, and lets go of it; what
# it has done before is acknowledged

for my $language (@languages) {
    $queue{$language}->send({ body => '{}', attributes => { id => 'before' } },
                            'no JSON');
    $worker{$language} = $programs->start('worker', $language,
        { QUEUES_URL => "http://127.0.0.1:$half", DONE => "$dir/$language" },
        $language);
}

for my $language (@languages) {
    my $run = $worker{$language};

    ok(wait_for(sub { $programs->out($run) =~ /403/ }, 15),
       "$language: a release is refused");
    kill TERM => $run->{pid} if !gone($run->{pid});
    ok(defined reap($run->{pid}, 10), 'and the worker ends')
        or diag($programs->out($run));
    ok(wait_for(sub { $queue{$language}->counts =~ m{ 0 0\z} }, 5),
       "what it had is let go");
    is((done("$dir/$language"))[-1], 'before', 'what it has done');

    my @left = map { my $q = $_; map {
        @{ $q->get("/messages?limit=100&state=$_")->{json}{messages} }
    } qw/visible inFlight/ } $queue{$language}, $dead{$language};

    is((grep { $_->{body} eq '{}' } @left), 0, 'is acknowledged');
}

# who is told when to ask again: in seconds, or by a date, which is not waited for

$programs->told($proxy, 'QUEUES_URL', [qw/producer worker/],
                \@languages, sub {
    NgxQueues::Queue->new($s, name => $_[0]);
});

# endpoints: TLS for them, as their readers have it

my $tls = $p->tls->files('*.example.com');
my %ports = map { $_ => [free_port(), free_port()] } @languages;

$s->configure(http => $p->directives . 'client_max_body_size 16m;'
    . "ssl_certificate $tls->{certificate}; ssl_certificate_key $tls->{key};"
    . join '', map {
        my ($public, $own) = @{ $ports{$_} };

        "server { listen 127.0.0.1:$public ssl; server_name $_.example.com;"
        . " location / { proxy_pass http://127.0.0.1:$own; } }"
    } @languages);
$s->reload;

my (%subscription, %endpoint);

sub endpoint {
    my ($language) = @_;

    my $port = $ports{$language}[1];
    my $run = $programs->start('endpoint', $language, {
        PORT => $port, DONE => "$dir/$language-push",
        SIGNING_SECRETS => $subscription{$language}->is('signingSecret'),
    });

    ok(wait_for(sub { IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") }, 20),
       "$language: the endpoint runs") or diag($programs->out($run));

    return $run;
}

for my $language (@languages) {
    my ($queue, $dead) = queues("$language-push", visibilityTimeoutSeconds => 1);

    $dead{$language} = $dead;
    $subscription{$language} = $p->subscribe(queue => $queue,
        host => "$language.example.com", port => $ports{$language}[0]);
    $endpoint{$language} = endpoint($language);
    $queue->send('no JSON', map { "{\"orderId\": $_}" } 1 .. 15);
}

for my $language (@languages) {
    is_done("$dir/$language-push", 15);
    ok(wait_for(sub { $dead{$language}->counts eq '1 0 0' }, 10),
       "$language: what fails is a dead letter");

    # each attempt counts as a receive, also while it is away

    my $q = $subscription{$language}->queue;

    $q->client->patch($q->path, { redrivePolicy => {
        deadLetterQueueId => $dead{$language}->name, maxReceiveCount => 1000 } });

    # whoever goes in the middle does it no harm

    my $rest = IO::Socket::INET->new("127.0.0.1:$ports{$language}[1]");

    print $rest "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{}";
    close $rest;

    my $forged = NgxQueues::Client->new(port => $ports{$language}[1]);

    is($forged->post('/', { messages => [] },
           headers => { 'EZGH-Signature' => $_ })->{status}, 401,
       "$language: it refuses " . ($_ // 'none'))
        for undef, 't=' . time . ',v1=' . '0' x 64, 't=,v1=', 'v1';
    is($forged->post('/', ' ' x (1 + (16 << 20)), fresh => 1)->{status}, 413,
       "$language: and what is too large");

    $programs->ends($endpoint{$language}, 'TERM', 5);
    $subscription{$language}->send(map { "{\"orderId\": $_}" } 16 .. 20);
}

for my $language (@languages) {
    ok(wait_for(sub { $subscription{$language}->last_error ne '' }, 10),
       "$language: it is away");
    $endpoint{$language} = endpoint($language);
}

for my $language (@languages) {
    is_done("$dir/$language-push", 20);
    is(scalar(done("$dir/$language-push")), 20, "$language: each once");
    ok($subscription{$language}->done(10), 'and the rest is acknowledged');
    $programs->ends($endpoint{$language}, 'TERM', 5);
}

$p->finish;
done_testing;
