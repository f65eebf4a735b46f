#!/usr/bin/perl

# What a subscription tells of its deliveries.

use strict;
use warnings;
use utf8;

use Encode qw/encode_utf8/;
use JSON::PP ();
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Metrics;
use NgxQueues::Push;
use NgxQueues::Wait;

binmode Test::More->builder->$_, ':utf8'
    for qw/output failure_output todo_output/;

my $p = NgxQueues::Push->new(locations => <<'END');
location / { queues_api; }
location = /metrics { queues_metrics; queues_auth off; }
END
my $metrics = NgxQueues::Metrics->new($p->client);
my $s = $p->subscribe(timeoutSeconds => 20, batchSize => 3, maxConcurrency => 7,
                      queue => { visibilityTimeoutSeconds => 1 });
my $time = qr/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/;

# all that it tells, and no secret

my $is = $s->get;

is(join(' ', sort keys %$is), 'batchSize createdAt maxConcurrency queue queueId'
   . ' state status subscription subscriptionId target updatedAt', 'the fields');
is(join(' ', sort keys %{ $is->{status} }), 'health lastError lastSuccessAt',
   'those of its status');
is($is->{queue}, $s->queue->is('queue'), 'its queue');
is($is->{queueId}, $s->queue->is('queueId'), 'and its id');
is($is->{batchSize}, 3, 'batchSize');
is($is->{maxConcurrency}, 7, 'maxConcurrency');
is_deeply($is->{target}, { kind => 'https', url => $s->url,
                           timeoutSeconds => 20 }, 'target');
is($is->{status}{health}, 'healthy', 'healthy before any delivery');
is($is->{status}{lastError}, undef, 'no error');
is($is->{status}{lastSuccessAt}, undef, 'no success');

my $list = $p->client->get($s->{at} =~ s{/[^/]*\z}{}r);

unlike($list->{body}, qr/whsec/, 'no secret in the list');

# a failure, and until the next success

my $text = "Sorry, not now";

$s->on({ status => 503, body => $text, headers => ['Retry-After' => 1] },
       { hold => 'success' });
$s->send('x');
ok(wait_for(sub { $s->status->{health} eq 'failing' }, 5), 'failing');

my $status = $s->status;
my $e = $status->{lastError};

is(join(' ', sort keys %$e), 'at class message status', 'the error');
is($e->{class}, 'http', 'its class');
is($e->{status}, 503, 'its status');
like($e->{at}, $time, 'its time');
is($e->{message}, "The endpoint answered 503. $text", 'its message');
is($status->{lastSuccessAt}, undef, 'no success yet');
$s->wait(2);
is($s->status->{health}, 'failing', 'failing, until the next one has succeeded');
$p->endpoint->release('success', always => 1);
ok($s->done(5), 'which it does');
$status = $s->status;
is($status->{health}, 'healthy', 'healthy');
like($status->{lastSuccessAt}, $time, 'a success');
is_deeply($status->{lastError}, $e, 'the error is still told');

# a list of failed messages is an answer

my $part = $p->subscribe(queue => { visibilityTimeoutSeconds => 1 });

$part->on({ failed => { index => [0] } }, { hold => 'part' });
$part->send('x', 'y');
$part->wait(2);
is($part->status->{health}, 'healthy', 'some messages have failed: healthy');
like($part->status->{lastSuccessAt}, $time, 'a success');
$p->endpoint->release('part', always => 1);
ok($part->done(5), 'done');

# what endpoints say: any bytes, of which people are shown text

my $prefix = 'The endpoint answered 500.';
my @said = (
    ['', $prefix],
    ['no', "$prefix no"],
    ['é₹😊 ü', "$prefix é₹😊 ü"],
    ['x' x 500, qr/^\Q$prefix\E x{160,}\z/],
    ['é' x 500, qr/^\Q$prefix\E é{160,}\z/],
    ['a' . '😊' x 500, qr/^\Q$prefix\E a😊{160,}\z/],
    ["a\0b\e[31mc\x7f\r\n\td", qr/^\Q$prefix\E a[^\x00-\x1f\x7f]*d\z/],
    ['<html><body>"no" \\ </body>', qr/<html><body>"no" \\ /],
    ["  \n\n  ", $prefix],
    [join('x', map { chr } 0x61c, 0x200e, 0x200f, 0x2028 .. 0x202e,
                           0x2066 .. 0x2069), "$prefix" . ' x' x 13],
    ["\x{61b}\x{200d}\x{2065}\x{206a}", "$prefix \x{61b}\x{200d}\x{2065}\x{206a}"],
);

my @raw = (
    ["\xff\xfe\xfd", qr/^\Q$prefix\E/],
    ["ok \xc0\x80 \xed\xa0\x80 \xf8 ok", qr/^\Q$prefix\E ok .* ok\z/],
    ["\xe2\x82", qr/^\Q$prefix\E/],
    ["x" x 172 . "\xf0\x9f\x98\x8a" x 3, qr/^\Q$prefix\E x{172}/],
    [join('', map { chr } 0 .. 255), qr/^\Q$prefix\E/],
    ["\x1f\x8b\x08" . "\0" x 50, qr/^\Q$prefix\E/],
);

my @cases = (
    (map { [encode_utf8($_->[0]), $_->[1], {}] } @said),
    (map { [@$_, {}] } @raw),
    ['packed', "$prefix packed", { encoding => 'gzip' }],
    ['in chunks', "$prefix in chunks", { chunked => [1, 2] }],
    ['early', "$prefix early", { http10 => 1 }],
);

for my $case (@cases) {
    my $s = $p->subscribe;

    push @$case, $s;
    $s->on({ status => 500, body => $case->[0], %{ $case->[2] } });
    $s->send('x');
}

for my $case (@cases) {
    my (undef, $expected, undef, $s) = @$case;
    my $e;

    wait_for { $e = $s->status->{lastError} } 5;

    my $message = $e->{message} // '';

    ref $expected ? like($message, $expected, 'what the endpoint said')
        : is($message, $expected, 'what the endpoint said');
    cmp_ok(length $message, '<=', 200, 'not more than 200 characters');
    unlike($message, qr/[\x00-\x1f\x7f-\x9f]/, 'and no control characters');
    $s->pause;
}

# where it did not answer: no status, and a sentence; metrics count it by the
# same name

for my $case ([connection => { cut => 0, end => 'close' }, {}],
              [timeout => { hold => 'never' }, { timeoutSeconds => 1 }],
              [refused => {}, { host => 'refused.example.com' }],
              [connection => {}, { port => NgxQueues::Process::free_port() }])
{
    my ($class, $b, $o) = @$case;
    my $counted = qq[queues_deliveries_total{api="queues",outcome="$class"}];
    my $before = $metrics->value($counted);

    $p->dns->set('refused.example.com' => { A => ['10.1.2.3'] });

    my $s = $p->subscribe(%$o);

    $s->on($b);
    $s->send('x');
    wait_for { $s->status->{lastError} } 5;

    my $e = $s->status->{lastError};

    is(join(' ', sort keys %$e), 'at class message', "$class: no status");
    is($e->{class}, $class, "$class: the class");
    like($e->{message}, qr/^[A-Z].{10,198}\.\z/, "$class: a sentence");
    note($e->{message});
    cmp_ok($metrics->value($counted), '>', $before, "$class: is counted");
    is($s->status->{health}, 'failing', "$class: failing");
    $s->pause;
}

# a log is read by others

is((grep { /whsec_/ } split /^/, $p->server->error_log . $p->server->access_log),
   0, 'no secret in the log');

$p->finish;

done_testing;
