#!/usr/bin/perl

# Acknowledgements and deadlines: each id once, whatever its order; what is no id
# of the subscription is refused, and what is late does nothing.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw/time/;

use NgxQueues::Pubsub;
use NgxQueues::Wait;

my $s = NgxQueues::Pubsub::server(
    workers => 2, http => 'queues_zone queues 4m;');
my $p = NgxQueues::Pubsub->new($s);
my $other = NgxQueues::Pubsub->new($s, project => 'other');

sub data { NgxQueues::Pubsub::data(@_) }

sub error {
    my ($r) = @_;

    my $error = ($r->{json} || {})->{error} || {};

    return "$r->{status} " . ($error->{code} // '') . ' '
           . ($error->{status} // '');
}

$p->topic('topic');
$p->sub('mine', 'topic', ackDeadlineSeconds => 600);
$p->sub('mine2', 'topic', ackDeadlineSeconds => 600);
$other->topic('topic');
$other->sub('mine', 'topic');
$other->publish('topic', 'x');

# bodies

my ($m) = do { $p->publish('topic', 'a'); $p->pull('mine', 1) };
my $id = $m->{ackId};

for my $verb ('acknowledge', 'modifyAckDeadline') {
    for ('', '{}', '{"ackIds":[]}', '{"ackIds":null}', '{"ackIds":"a"}',
         '{"ackIds":[1]}', '{"ackIds":[null]}', "{\"ackIds\":[\"$id\",{}]}",
         "{\"ackIds\":[\"$id\"],\"x\":1}",
         "{\"ackIds\":[\"$id\"],\"ack_ids\":[\"$id\"]}",
         "{\"ackIds\":[\"$id\"],\"ackIds\":[\"$id\"]}",
         "{\"ackIds\":[\"$id\"]} x", '[]')
    {
        is(error($p->call('mine', $verb, $_)), '400 400 INVALID_ARGUMENT',
           "$verb $_");
    }
}

for ('-1', '601', '1.5', '"x"', '4294967296', 'true', '[]') {
    my $r = $p->call('mine', 'modifyAckDeadline',
                     "{\"ackIds\":[\"$id\"],\"ackDeadlineSeconds\":$_}");

    is(error($r), '400 400 INVALID_ARGUMENT', "ackDeadlineSeconds $_");
}

is(scalar $p->pull('mine', 1), 0, 'nothing of that has done anything');

# what is no id here

$p->publish('topic', 'b');

my ($foreign) = $p->pull('mine2', 1);
my ($far) = $other->pull('mine', 1);
my $changed = $id =~ s/(.)\z/$1 eq 'A' ? 'Q' : 'A'/er;

for my $verb ('acknowledge', 'modifyAckDeadline') {
    for (['malformed', 'no-id'], ['empty', ''], ['changed', $changed],
         ['of another subscription', $foreign->{ackId}],
         ['of another project', $far->{ackId}], ['long', 'A' x 300])
    {
        my ($what, $bad) = @$_;

        for my $ids ([$bad], [$id, $bad], [$bad, $id]) {
            my $r = $p->call('mine', $verb, { ackIds => $ids });

            is(error($r), '400 400 INVALID_ARGUMENT', "$what: $verb");

            next if length $bad > 250;

            like($r->{json}{error}{message},
                 qr/invalid ack ID.*\(ack_id=\Q$bad\E\)/, "$what: which");
        }
    }

    is(error($p->call('missing', $verb, { ackIds => [$id] })),
       '404 404 NOT_FOUND', "$verb: no such subscription");
    is(error($p->call('missing', $verb, { ackIds => ['no-id'] })),
       '404 404 NOT_FOUND', "$verb: nor with an invalid id");
}

is(data($p->pull('mine', 1)), 'b', 'and nothing has become of it');

# acknowledged: once, and again; twice in one request

my $r = $p->call('mine', 'acknowledge', { ackIds => [$id] });

is("$r->{status} $r->{body}", '200 {}', 'acknowledged');
is($p->call('mine', 'acknowledge', { ackIds => [$id] })->{body}, '{}', 'and again');
is($p->call('mine', 'modifyAckDeadline', { ackIds => [$id] })->{body}, '{}',
   'a deadline for what is gone');
$p->sub('twice', 'topic');
$p->publish('topic', 'c', 'd');

my @m = $p->pull('twice', 2);

$r = $p->call('twice', 'acknowledge',
              { ack_ids => [map { $_->{ackId} } @m, $m[0], $m[0]] });
is("$r->{status} $r->{body}", '200 {}', 'twice in one request');
is(scalar $p->pull('twice', 1), 0, 'gone');
$p->delete('subscriptions', 'twice');

# thousands, of many pulls, in any order

$p->topic('many');
$p->sub('many', 'many', ackDeadlineSeconds => 600);
$p->sub('ordered', 'many', ackDeadlineSeconds => 600,
        enableMessageOrdering => \1);

for my $n (1 .. 4) {
    $p->publish('many', map { { data => 'YQ==', $_ % 2 ? ()
        : (orderingKey => 'k' . $_ % 50) } } 1 .. 1000);
}

for my $sub ('many', 'ordered') {
    my (@ids, %seen);

    while (my @m = $p->pull($sub, 1 + int rand 200)) {
        $seen{ $_->{message}{messageId} }++ for @m;
        push @ids, map { $_->{ackId} } @m;

        next if @ids < 3000;

        @ids = sort { rand() <=> 0.5 } @ids;
        $p->ack($sub, splice @ids, 0, 3000);
    }

    while (@ids) {
        @ids = sort @ids;
        $p->ack($sub, splice @ids, 0, 3000);

        while (my @m = $p->pull($sub, 1000)) {
            $seen{ $_->{message}{messageId} }++ for @m;
            push @ids, map { $_->{ackId} } @m;
        }
    }

    is(scalar keys %seen, 4000, "$sub: all of them");
    is(scalar(grep { $_ != 1 } values %seen), 0, "$sub: once");
    is($p->redis->call('HGET', $p->hot($sub), 'n') // 0, 0,
       "$sub: nothing is in flight");
}

# a deadline: later than it was, sooner, and none

$p->topic('timed');
$p->sub('timed', 'timed', ackDeadlineSeconds => 10);
$p->publish('timed', 'x');
($m) = $p->pull('timed', 1);

my $begin = time;

$p->modify('timed', 1, $m);

my ($again) = $p->pull('timed', 1, wait => 1);

cmp_ok(time - $begin, '>', 0.99, 'a deadline counts from now');
cmp_ok(time - $begin, '<', 9, 'and not longer');
is(data($again), 'x', 'it is back');

$p->ack('timed', $m);
is(scalar $p->pull('timed', 1), 0, 'the one who has it has it on');
$p->modify('timed', 0, $again);
($again) = $p->pull('timed', 1);
is(data($again), 'x', 'a nack: at once');
$p->modify('timed', 600, $m);
$p->modify('timed', 0, $m);
is(scalar $p->pull('timed', 1), 0, 'an old id moves nothing');

# an id whose deadline has passed, as long as nobody else has the message

$p->modify('timed', 1, $again);
wait_for { time > $begin + 3 };
$p->ack('timed', $again);
is(scalar $p->pull('timed', 1), 0, 'late, but in time');

my $got = $p->get('subscriptions', 'timed')->{json};

is($got->{ackDeadlineSeconds}, 10, 'the subscription keeps its own');
$p->modify('timed', 600, $again);

# without a number it is 0

$p->publish('timed', 'y');
($m) = $p->pull('timed', 1);
$p->call('timed', 'modifyAckDeadline', { ackIds => [$m->{ackId}] });
is(data($p->pull('timed', 1)), 'y', 'no deadline: a nack');

# one of many parallel ones wins

$p->topic('race');
$p->sub('race', 'race', ackDeadlineSeconds => 600);
$p->publish('race', 'z');
($m) = $p->pull('race', 1);

my @h = map { $s->client->start(POST => $p->path('subscriptions', 'race',
    'acknowledge'), { ackIds => [$m->{ackId}] }) } 1 .. 20;

is(scalar(grep { $_->{status} == 200 } $s->client->wait_all(\@h, 10)), 20,
   'twenty at once');
is(scalar $p->pull('race', 1), 0, 'gone');

# too many invalid ids from one address: of this API as of the other

my $client = $s->client(local => '127.0.0.9');
my $last;

for (1 .. 120) {
    $last = $client->post($p->path('subscriptions', 'mine', 'acknowledge'),
                          { ackIds => ["no-id-$_"] });
    last if $last->{status} != 400;
}

is(error($last), '429 429 RESOURCE_EXHAUSTED', 'too many invalid ids');
ok($last->{headers}{'retry-after'}, 'when to come again');
is($client->post($p->path('subscriptions', 'mine', 'pull'),
                 { maxMessages => 1, returnImmediately => \1 })->{status}, 200,
   'a pull is no such thing');
is($p->call('mine', 'acknowledge', { ackIds => [$id] })->{status}, 200,
   'another address may');

# as many as a body may have, the last of which is one

$client = $s->client(local => '127.0.0.10');
$last = $client->post($p->path('subscriptions', 'mine', 'acknowledge'),
    '{"ackIds":[' . '"",' x 300_000 . qq("$id"]}));

is(error($last), '400 400 INVALID_ARGUMENT', 'all that fits, and is none');

$s->finish;

done_testing;
