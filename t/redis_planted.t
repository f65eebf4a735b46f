#!/usr/bin/perl

# Another program has put a string in the place of each of a queue's keys, one
# at a time. Whatever is called then is done as if nothing were wrong, where it
# does not need that key, or it is 503 and nothing of it is done.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;

my $s = NgxQueues::Server->new;
my $c = $s->client;
my $redis = $s->redis->client;

my (%calls, $q, @batch, @single, @late);

%calls = (
    send => sub { $q->post('/messages', { messages => [
        { body => 'a' }, { body => 'b' }, { body => 'c', attributes =>
        { k => 'v' } } ] }) },
    delay => sub { $q->post('/messages', { messages => [
        { body => 'a' }, { body => 'b', delaySeconds => 900 },
        { body => 'c' } ] }) },
    receive => sub { $q->post('/messages/receive', { maxMessages => 10 }) },
    one => sub { $q->post('/messages/receive', { maxMessages => 1 }) },
    ack => sub { receipts('ack', receiptHandles => [map {
        $_->{receiptHandle} } $batch[0], @single, @late, $batch[2]]) },
    ack_batch => sub { receipts('ack', receiptHandles => [map {
        $_->{receiptHandle} } @batch]) },
    extend => sub { receipts('visibility', entries => [map { {
        receiptHandle => $_->{receiptHandle}, visibilityTimeoutSeconds => 900
    } } $batch[1], @single, @late]) },
    release => sub { receipts('visibility', entries => [map { {
        receiptHandle => $_->{receiptHandle}, visibilityTimeoutSeconds => 0
    } } @single, @late, $batch[0]]) },
    count => sub { $c->get($q->path) },
    list => sub { $c->get($q->{queues}) },
    create => sub { $c->post($q->{queues}, { name => 'another' }) },
    update => sub { $c->patch($q->path, { retentionSeconds => 7200 },
        headers => { 'Content-Type' => 'application/json' }) },
    purge => sub { $c->post($q->path('/purge')) },
    delete => sub { $c->delete($q->path) },
);

sub receipts {
    my ($what, %body) = @_;

    return $c->post("/v1/receipts/$what", \%body);
}

# a queue with something in each of its keys: 2 visible, a batch of 3, one in
# flight alone, one delayed, and one that was received after its delay

sub fill {
    my ($project) = @_;

    $q = NgxQueues::Queue->new($s, client => $c, project => "o/$project",
        name => 'q', visibilityTimeoutSeconds => 600);
    $q->send({ body => 'late', delaySeconds => 1 });

    return $q;
}

sub fill_rest {
    @late = $q->receive(maxMessages => 1, waitSeconds => 3);
    $q->send(map { "m$_" } 1 .. 3);
    @batch = $q->receive(maxMessages => 10);
    $q->send('single');
    @single = $q->receive;
    $q->send('v1', 'v2', { body => 'd', delaySeconds => 900 });
}

sub key_of {
    my ($kind) = @_;

    my $id = $q->is('queue') =~ s/^que_//r;

    return $q->root . ":$kind" . ($kind =~ /[nlr]/ ? ''
                                  : $kind =~ /[qh]/ ? ":$id" : ":$id:1");
}

my @kinds = qw/n l r q h m z y f d b e/;
my (@queues, @wrong, %status, %untouched);

# all of them first: the delay passes once

for my $kind (@kinds) {
    for my $call (sort keys %calls) {
        push @queues, [$kind, $call, fill("$kind-$call")];
    }
}

for (@queues) {
    my ($kind, $call, $queue) = @$_;

    $q = $queue;
    fill_rest();

    my $key = key_of($kind);
    my $before = $q->counts;
    my $kept = $redis->call('EXISTS', $key);

    $redis->call('RENAME', $key, "kept-$key") if $kept;
    $redis->call('SET', $key, 'planted');

    my $r = $calls{$call}->();
    my $is = $redis->call('TYPE', $key) eq 'string'
        ? $redis->call('GET', $key) : 'gone';

    push @{ $status{$r->{status}} }, "$kind-$call";

    if ($r->{status} == 503) {
        push @wrong, "$kind-$call: $is" if $is ne 'planted';
        push @wrong, "$kind-$call: " . $r->{body}
            if $r->{json}{error} ne 'unavailable';
    }

    # put back; what was purged or deleted has none to put back

    if ($is eq 'planted') {
        $redis->call('DEL', $key);
        $redis->call('RENAME', "kept-$key", $key) if $kept;

    } else {
        $redis->call('DEL', "kept-$key");
    }

    next if $r->{status} != 503;

    my $after = $q->counts;

    # a batch that cannot be removed comes again at once

    $before = '5 2 1' if "$kind-$call" eq 'm-ack_batch';

    push @wrong, "$kind-$call: $before, then $after" if $before ne $after;
}

is(join("\n", @wrong), '', 'where it is 503 nothing was done');
is(join(' ', sort keys %status), '200 201 202 204 503', 'no other answer')
    or diag(explain(\%status));
note(explain(\%status));

# what needs a key cannot be done without it

my %refused = map { $_ => 1 } @{ $status{503} };

ok($refused{$_}, "$_ is refused")
    for qw/n-create l-list q-count h-send h-receive m-send m-receive z-delay
           y-delay f-one b-receive e-ack d-ack/;

$s->finish(allow => [qr/function failed in Redis: "/]);

done_testing;
