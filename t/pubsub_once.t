#!/usr/bin/perl

# Exactly once: an acknowledgement that came too late is told, and nobody gets a
# message twice that was acknowledged.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Pubsub;
use NgxQueues::Wait;

my $s = NgxQueues::Pubsub::server(workers => 2);
my $p = NgxQueues::Pubsub->new($s);

sub data { NgxQueues::Pubsub::data(@_) }

# ids that a request was told of, and that nothing else is in it

sub failed {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $error = ($r->{json} || {})->{error} || {};
    my ($info) = @{ $error->{details} || [] };

    is("$r->{status} " . ($error->{status} // ''), '400 FAILED_PRECONDITION',
       $name) or diag($r->{body});
    is($info->{'@type'}, 'type.googleapis.com/google.rpc.ErrorInfo',
       "$name: an ErrorInfo");
    is("$info->{reason} $info->{domain}",
       'EXACTLY_ONCE_ACKID_FAILURE pubsub.googleapis.com', "$name: its reason");

    my %metadata = %{ $info->{metadata} || {} };

    is(scalar(grep { $_ ne 'PERMANENT_FAILURE_INVALID_ACK_ID' }
              values %metadata), 0, "$name: for good");

    return join ' ', sort keys %metadata;
}

$p->topic('topic');

for my $ordered (0, 1) {
    my $sub = $ordered ? 'ordered' : 'plain';

    $p->sub($sub, 'topic', enableExactlyOnceDelivery => \1,
            $ordered ? (enableMessageOrdering => \1) : ());
    $p->publish('topic', map { $ordered
        ? NgxQueues::Pubsub::keyed("k$_", $_) : $_ }
        'a' .. 'f');

    my @m = sort { data($a) cmp data($b) } $p->pull($sub, 10);
    my @ids = map { $_->{ackId} } @m;

    is(data(@m), 'a b c d e f', "$sub: delivered");
    is($p->call($sub, 'acknowledge', { ackIds => [$ids[0]] })->{body}, '{}',
       "$sub: an ack in time");
    is(failed($p->call($sub, 'acknowledge', { ackIds => [$ids[0]] }),
              "$sub: again"), $ids[0], "$sub: which");
    is(failed($p->call($sub, 'modifyAckDeadline',
                       { ackIds => [$ids[0]], ackDeadlineSeconds => 20 }),
              "$sub: nor a deadline"), $ids[0], "$sub: which");

    # others of the request are done

    is(failed($p->call($sub, 'acknowledge', { ackIds => [@ids[1, 0, 2]] }),
              "$sub: among others"), $ids[0], "$sub: which");

    # the end of a deadline: late, though nobody else has it

    my $begin = time;

    $p->modify($sub, 1, @m[3, 4]);
    wait_for { time > $begin + 1.1 };
    is(failed($p->call($sub, 'acknowledge', { ackIds => [$ids[3]] }),
              "$sub: too late"), $ids[3], "$sub: which");
    is(failed($p->call($sub, 'modifyAckDeadline',
                       { ackIds => [$ids[4]], ackDeadlineSeconds => 20 }),
              "$sub: too late for a deadline"), $ids[4], "$sub: which");

    my @again = sort { data($a) cmp data($b) } $p->pull($sub, 10);

    is(data(@again), 'd e', "$sub: those two come again");
    is(failed($p->call($sub, 'acknowledge', { ackIds => [$ids[3],
        $again[0]{ackId}] }), "$sub: old and new"), $ids[3], "$sub: the old");

    # a nack, and its id afterwards

    $p->modify($sub, 0, $m[5]);
    is(failed($p->call($sub, 'acknowledge', { ackIds => [$ids[5]] }),
              "$sub: after a nack"), $ids[5], "$sub: which");
    @m = $p->pull($sub, 10);
    is(data(@m), 'f', "$sub: it comes again");
    is($p->call($sub, 'acknowledge', { ackIds => [map { $_->{ackId} }
        $again[1], @m] })->{body}, '{}', "$sub: the rest");
    is(scalar $p->pull($sub, 10), 0, "$sub: nothing is left");

    # an id twice in one request is one

    $p->publish('topic', { data => 'eA==', $ordered ? (orderingKey => 'x') : () });
    @m = $p->pull($sub, 1);
    is($p->call($sub, 'acknowledge', { ackIds => [($m[0]{ackId}) x 2] })
       ->{body}, '{}', "$sub: twice in one request");

    is($p->call($sub, 'acknowledge', { ackIds => ['no-id'] })
       ->{json}{error}{status}, 'INVALID_ARGUMENT', "$sub: no id at all");
}

# many of a request, in several calls of the store

$p->topic('many');
$p->sub('many', 'many', enableExactlyOnceDelivery => \1,
        ackDeadlineSeconds => 600);
$p->publish('many', map { "$_" } 1 .. 1000) for 1 .. 3;

my @m = map { $p->pull('many', 1000) } 1 .. 3;
my @ids = map { $_->{ackId} } @m;

is(scalar @ids, 3000, 'three thousand');

my @late = @ids[map { $_ * 7 } 0 .. 400];

$p->ack('many', splice(@{ [@late] }, 0, 401));

my $told = failed($p->call('many', 'acknowledge', { ackIds => \@ids }), 'all');

is($told, join(' ', sort @late), 'told of those that were late');
is(scalar $p->pull('many', 10), 0, 'and the others are done');

# with a backoff: its time is not the deadline's

$p->sub('slow', 'many', enableExactlyOnceDelivery => \1,
        retryPolicy => { minimumBackoff => '3s', maximumBackoff => '3s' });
$p->publish('many', 'x');
@m = $p->pull('slow', 1);

my $begin = time;

$p->modify('slow', 1, @m);
wait_for { time > $begin + 1.1 };
is(failed($p->call('slow', 'acknowledge', { ackIds => [$m[0]{ackId}] }),
          'in the backoff'), $m[0]{ackId}, 'is too late');

# twenty at once: one of them is in time

$p->sub('race', 'many', enableExactlyOnceDelivery => \1);
$p->publish('many', 'y');
@m = $p->pull('race', 1);

my @h = map { $s->client->start(POST => $p->path('subscriptions', 'race',
    'acknowledge'), { ackIds => [$m[0]{ackId}] }) } 1 .. 20;

is(join(' ', sort { $a <=> $b } map { $_->{status} }
        $s->client->wait_all(\@h, 10)), join(' ', 200, (400) x 19),
   'one of twenty');

$s->finish;

done_testing;
