#!/usr/bin/perl

# Pulls: what they are asked for, what they answer, for how long they wait, and
# what becomes of messages whose client has gone.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Pubsub;
use NgxQueues::Wait;

my $s = NgxQueues::Pubsub::server(workers => 2);
my $p = NgxQueues::Pubsub->new($s);
my $c = $p->client;

sub data { NgxQueues::Pubsub::data(@_) }

$p->topic('topic');
$p->sub('mine', 'topic', ackDeadlineSeconds => 600);

sub pull { $p->call('mine', 'pull', @_) }

sub error {
    my ($r) = @_;

    my $error = ($r->{json} || {})->{error} || {};

    return "$r->{status} " . ($error->{code} // '') . ' '
           . ($error->{status} // '');
}

# what is asked for

for (['nothing', ''], ['{}', '{}'], ['null', '{"maxMessages":null}'],
     ['0', '{"maxMessages":0}'], ['-1', '{"maxMessages":-1}'],
     ['"0"', '{"max_messages":"0"}'])
{
    my $r = pull($_->[1]);

    is(error($r), '400 400 INVALID_ARGUMENT', "maxMessages: $_->[0]");
    like($r->{json}{error}{message}, qr/\(argument=max_messages\)/,
         "$_->[0]: its message");
}

for ('{"maxMessages":1.5}', '{"maxMessages":"x"}', '{"maxMessages":true}',
     '{"maxMessages":[]}', '{"maxMessages":1,"max_messages":1}',
     '{"maxMessages":1,"maxMessages":1}', '{"maxMessages":1,"x":1}',
     '{"maxMessages":1,"returnImmediately":"yes"}', '{"maxMessages":1} x',
     '{"maxMessages":4294967297}', '{"maxMessages":1e30}', '[]', '1')
{
    is(error(pull($_)), '400 400 INVALID_ARGUMENT', "body $_");
}

for ('{"maxMessages":1,"returnImmediately":true}',
     '{"max_messages":1,"return_immediately":true}',
     '{"maxMessages":"1","returnImmediately":true}',
     '{"maxMessages":1.0,"returnImmediately":true}',
     '{"maxMessages":2147483647,"returnImmediately":true}')
{
    my $begin = time;
    my $r = pull($_);

    is("$r->{status} $r->{body}", '200 {}', "nothing there: $_");
    is($r->{headers}{'content-type'}, 'application/json; charset=UTF-8',
       'its type');
    cmp_ok(time - $begin, '<', 4.9, 'without a wait');
}

# what is answered, to the letter

my ($id) = $p->publish('topic', { data => 'YQ==', orderingKey => 'k',
                              attributes => { a => 'b' } });
my $r = pull({ maxMessages => 10, returnImmediately => \1 });
my ($handle) = $r->{body} =~ /"ackId":"([\w-]+)"/;
my ($time) = $r->{body} =~ /"publishTime":"([^"]+)"/;

is($r->{body}, '{"receivedMessages":[{"ackId":"' . $handle . '","message":'
   . '{"data":"YQ==","attributes":{"a":"b"},"orderingKey":"k","messageId":"'
   . $id . '","publishTime":"' . $time . '"}}]}', 'a message');
is(pull({ maxMessages => 10, returnImmediately => \1 })->{body}, '{}',
   'which nobody else gets');
$p->ack('mine', $handle);

my ($ms) = $id =~ /\A(\d{13})\d{6}\z/;
my @t = gmtime($ms / 1000);
my $expect = sprintf '%04d-%02d-%02dT%02d:%02d:%02d', $t[5] + 1900, $t[4] + 1,
    @t[3, 2, 1, 0];

$expect .= sprintf '.%03d', $ms % 1000 if $ms % 1000;
is($time, "${expect}Z", 'its time is that of its id');

# how many

$p->publish('topic', map { "$_" } 1 .. 1000) for 1, 2;

my @m = $p->pull('mine', 3);

is(data(@m), '1 2 3', 'so many');
@m = $p->pull('mine', 100_000);
is(scalar @m, 1000, 'at most 1000');
is(join(',', map { $_->{message}{messageId} } @m),
   join(',', sort { $a <=> $b } map { $_->{message}{messageId} } @m),
   'in order');
ok(!(grep { exists $_->{deliveryAttempt} } @m), 'no deliveryAttempt');
@m = $p->pull('mine', 1000, wait => 1);
is(scalar @m, 997, 'the rest, and no waiting for more');

# deliveryAttempt, where there is a dead-letter policy

$p->topic('dead');
$p->sub('counted', 'topic', deadLetterPolicy => { deadLetterTopic => 'dead' });
$p->publish('topic', 'x');

for my $n (1 .. 3) {
    my ($m) = $p->pull('counted', 1, wait => 1);

    is($m->{deliveryAttempt}, $n, "deliveryAttempt $n");
    $p->modify('counted', 0, $m);
}

# large messages: as many as one answer has room for, but one at least

$p->topic('large');
$p->sub('large', 'large', ackDeadlineSeconds => 600);

for (1 .. 6) {
    $p->publish('large', 'x' x 5_000_000);
}

my $all = 0;

while (my @m = $p->pull('large', 1000)) {
    my $length = 0;

    $length += length $_->{message}{data} for @m;
    cmp_ok($length, '<', 30_000_000, scalar(@m) . ' large ones');
    $p->ack('large', @m);
    $all += @m;
}

is($all, 6, 'all of them, in turn');

# never more than a thousand

$p->topic('full');
$p->sub('full', 'full', ackDeadlineSeconds => 600);
$p->publish('full', ('x') x 600) for 1 .. 2;
is(scalar $p->pull('full', 2000), 1000, 'a thousand at most');
is(scalar $p->pull('full', 2000), 200, 'the rest');

# subscriptions that there are not, that are of another kind

is(error($p->call('missing', 'pull', { maxMessages => 1 })),
   '404 404 NOT_FOUND', 'no such subscription');

$p->sub('away', 'topic');
$p->publish('topic', 'x');
$p->call('away', 'detach', '""');
is(error($p->call('away', 'pull', { maxMessages => 1 })),
   '400 400 FAILED_PRECONDITION', 'a detached one');

# a wait ends

my $begin = time;

$p->topic('empty');
$p->sub('empty', 'empty');
$r = $p->call('empty', 'pull', { maxMessages => 1 });
is("$r->{status} $r->{body}", '200 {}', 'nothing comes');

my $took = time - $begin;

cmp_ok($took, '>', 4.9, 'it has waited');
cmp_ok($took, '<', scaled(31), 'for less than clients do');

# parked ones, when there is nothing more to wait for

sub parked {
    my ($id) = @_;

    my $before = $p->calls;
    my $h = $p->park($id, 1, at => $s->client);

    $p->parked($before);

    return $h;
}

sub ended {
    my ($h) = @_;

    $begin = time;
    $s->client->wait_all([$h], 10);
    cmp_ok(time - $begin, '<', 4.9, 'without waiting any longer');

    return error($h->result);
}

my $h = parked('empty');

$p->delete('subscriptions', 'empty');
is(ended($h), '404 404 NOT_FOUND', 'its subscription was deleted');

$p->sub('empty', 'empty');
$h = parked('empty');
$p->delete('subscriptions', 'empty');
$p->sub('empty', 'empty');
$p->publish('empty', 'of another one');
is(ended($h), '404 404 NOT_FOUND', 'and made anew');
is(data($p->pull('empty', 1)), 'of another one', 'takes nothing of it');

$h = parked('empty');
$p->call('empty', 'detach', {});
is(ended($h), '400 400 FAILED_PRECONDITION', 'it was detached');

# a client that has gone while the answer was on its way: the next one has it,
# as the first delivery

$p->sub('gone', 'topic', deadLetterPolicy => { deadLetterTopic => 'dead' });

my $redis = $s->redis->client;

for my $wait (0, 1) {
    my $before = $p->calls;
    my $n = $s->client->connect;
    my ($head, $content) = $c->compose(POST =>
        $p->path('subscriptions', 'gone', 'pull'),
        { maxMessages => 100, $wait ? () : (returnImmediately => \1) }, {});

    $p->publish('topic', map { "$_" } 1 .. 50);
    $redis->call(qw/CLIENT PAUSE 300 ALL/);
    $n->write($head . $content);
    $n->close;
    wait_for { $p->calls >= $before + 3 } or fail('no pull, no undo');

    my @m = $p->pull('gone', 100, wait => 1);

    is(scalar @m, 50, 'given back');
    is(scalar(grep { $_->{deliveryAttempt} != 1 } @m), 0,
       'as if nobody had had them');
    $p->ack('gone', @m);
}

$h = parked('gone');
$h->close;
$p->publish('topic', 'y');
@m = $p->pull('gone', 1, wait => 1);
is(data(@m), 'y', 'who has gone takes nothing');
is($m[0]{deliveryAttempt}, 1, 'and does not count');

# those who wait have their messages in the order in which they came

$p->topic('fair');
$p->sub('fair', 'fair');

my $before = $p->calls;
my @h = map { $p->park('fair', 2, at => $s->client) } 1 .. 6;

$p->parked($before, 6);
$p->publish('fair', map { "$_" } 1 .. 12);
is(join(' ', sort { $a <=> $b } map { split / /,
        data(@{ ($_->{json} || {})->{receivedMessages} || [] }) }
        $s->client->wait_all(\@h, 10)), join(' ', 1 .. 12), 'each has two');

$s->finish;

done_testing;
