#!/usr/bin/perl

# :counts, which is of this server: how many messages a subscription has, and what
# became of them.

use strict;
use warnings;

use Test::More;

use NgxQueues::Pubsub;
use NgxQueues::Wait;

my $s = NgxQueues::Pubsub::server(workers => 2, http => 'queues_pubsub_max_delivery_attempts 2;');
my $p = NgxQueues::Pubsub->new($s);

# visible/inFlight/delayed, and sent/acknowledged/expired/deadLettered/dropped

sub told {
    my ($id) = @_;
    my $r = $p->counts($id);

    return "$r->{status} $r->{json}{error}{status}" if $r->{status} != 200;

    my ($c, $t) = @{ $r->{json} }{qw(counts totals)};

    return join('/', @$c{qw(visible inFlight delayed)}) . ' '
           . join('/', @$t{qw(sent acknowledged expired deadLettered dropped)});
}

sub comes { my ($id, $what, $name) = @_; wait_for { told($id) eq $what }; is(told($id), $what, $name) }

$p->topic($_) for qw(orders dead);

for my $ordered (0, 1) {
    my $kind = $ordered ? 'ordered' : 'any order';
    my $sub = "sub-$ordered";
    my $send = sub { $p->publish('orders', map { $ordered ? NgxQueues::Pubsub::keyed("k$_", 'x') : 'x' } 1 .. $_[0]) };

    subtest $kind => sub {
        $p->sub($sub, 'orders', ackDeadlineSeconds => 60, enableMessageOrdering => $ordered ? \1 : \0);
        is($p->counts($sub)->{body},
           '{"counts":{"visible":0,"inFlight":0,"delayed":0,"oldestMessageAgeSeconds":0},'
           . '"totals":{"sent":0,"acknowledged":0,"expired":0,"deadLettered":0,"dropped":0}}', 'nothing');
        $send->(5);
        is(told($sub), '5/0/0 5/0/0/0/0', 'published');
        my @m = $p->pull($sub, 3);
        is(told($sub), '2/3/0 5/0/0/0/0', 'pulled');
        $p->ack($sub, $m[0]);
        is(told($sub), '2/2/0 5/1/0/0/0', 'acknowledged');
        $p->modify($sub, 0, @m[1, 2]);
        is(told($sub), '4/0/0 5/1/0/0/0', 'given back');
        is(told($sub), '4/0/0 5/1/0/0/0', 'asking changes nothing');
        wait_for { $p->counts($sub)->{json}{counts}{oldestMessageAgeSeconds} >= 1 };
        ok($p->counts($sub)->{json}{counts}{oldestMessageAgeSeconds} >= 1, 'the oldest one');
        $p->modify($sub, 0, $p->pull($sub, 5));
        is(scalar $p->pull($sub, 5), 2, 'what was tried twice is gone');
        comes($sub, '0/2/0 5/1/0/0/2', 'and counted as dropped');
        $p->call($sub, 'seek', { time => '2100-01-01T00:00:00Z' });
        is(told($sub), '0/0/0 0/0/0/0/0', 'a seek begins anew');
        $send->(2);
        is($p->call($sub, 'detach')->{status}, 200, 'detach');
        is(told($sub), '0/0/0 0/0/0/0/0', 'so does that');
        is($p->delete('subscriptions', $sub)->{status}, 200, 'delete');
        is(told($sub), '404 NOT_FOUND', 'then there is none');
    };
}

subtest 'a backoff, a dead letter' => sub {
    $p->sub('late', 'orders', retryPolicy => { minimumBackoff => '600s' });
    $p->sub('tried', 'orders', deadLetterPolicy => { deadLetterTopic => 'dead', maxDeliveryAttempts => 5 });
    $p->sub('buried', 'dead');
    $p->publish('orders', 'x');
    $p->modify('late', 0, $p->pull('late', 1));
    is(told('late'), '0/1/0 1/0/0/0/0', 'what waits for its backoff is in flight');
    $p->modify('tried', 0, $p->pull('tried', 1)) for 1 .. 5;
    comes('tried', '0/0/0 1/0/0/1/0', 'a dead letter');
    is(told('buried'), '1/0/0 1/0/0/0/0', 'which is where it went');
};

subtest 'only that' => sub {
    my $path = $p->path('subscriptions', 'late', 'counts');
    my $r = $p->{client}->post($path, {});

    is("$r->{status} $r->{headers}{allow}", '405 GET, HEAD', 'it is read');
    is($p->{client}->get($path . '?$alt=json')->{status}, 200, 'with whatever query');
    is($p->{client}->get($p->path('topics', 'orders', 'counts'))->{status}, 404, 'of subscriptions alone');
    is($p->{client}->get($p->path('subscriptions', 'none', 'counts'))->{status}, 404, 'of none');
    is($p->{client}->get($p->path('subscriptions', 'x', 'counts'))->{status}, 400, 'of what can be none');
};

$s->finish;
done_testing;
