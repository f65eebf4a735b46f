#!/usr/bin/perl

# Who may publish and consume: API keys for some topics and subscriptions only, and
# what is told to those who may not.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Pubsub;

sub line { sha256_hex("key-$_[0]") . " @_" }

my $s = NgxQueues::Pubsub::server(auth => 1, keys => [
    line('publishes', 'pubsub.publish', 'acme/shop/orders*'),
    line('consumes', 'pubsub.consume', 'acme/shop/mine'),
    line('all', 'pubsub.*', 'acme/shop/*'),
    line('elsewhere', 'pubsub.*', 'acme/other/*'),
]);
my $p = NgxQueues::Pubsub->new($s);

$p->topic($_) for 'orders', 'orders-2', 'bills';
$p->sub($_, 'orders') for 'mine', 'yours';

my %as = map { $_ => NgxQueues::Pubsub->new($s,
    client => $s->client(key => "key-$_")) }
    qw/publishes consumes all elsewhere unknown/;

$as{nobody} = NgxQueues::Pubsub->new($s, client => $s->client(key => undef));

my @calls = (
    ['publish', sub { $_[0]->publish_answer('orders', 'a') }, 'publishes all'],
    ['to another', sub { $_[0]->publish_answer('orders-2', 'a') },
     'publishes all'],
    ['to one more', sub { $_[0]->publish_answer('bills', 'a') }, 'all'],
    ['to none', sub { $_[0]->publish_answer('none', 'a') }, 'all'],
    (map {
        my ($verb, $body) = @$_;

        map {
            my $id = $_;
            ["$verb of $id", sub { $_[0]->call($id, $verb, $body) },
             $id eq 'mine' ? 'consumes all' : 'all']
        } qw/mine yours none/
    } ['pull', { maxMessages => 1, returnImmediately => \1 }],
      ['acknowledge', { ackIds => ['no-id'] }],
      ['modifyAckDeadline', { ackIds => ['no-id'] }]),
);

for (@calls) {
    my ($what, $call, $may) = @$_;
    my %may = map { $_ => 1 } split ' ', $may;

    for my $who (sort keys %as) {
        my $r = $call->($as{$who});
        my $status = $r->{json}{error}{status} // 'OK';
        my $told = $who =~ /^(?:nobody|unknown)$/ ? 'UNAUTHENTICATED'
                   : $may{$who} ? undef : 'PERMISSION_DENIED';

        if ($told) {
            is($status, $told, "$what: $who may not");
            is($r->{status}, $told eq 'UNAUTHENTICATED' ? 401 : 403,
               "$what: $who is told so");
            next;
        }

        unlike($status, qr/UNAUTHENTICATED|DENIED/, "$what: $who may");
    }
}

# an id is of no use to those who may not consume

$p->publish('orders', 'x');

my ($m) = $p->pull('mine', 1);

is($as{publishes}->call('mine', 'acknowledge', { ackIds => [$m->{ackId}] })
   ->{status}, 403, 'an id does not permit');
is($as{consumes}->call('mine', 'acknowledge', { ackIds => [$m->{ackId}] })
   ->{status}, 200, 'a permission does');

$s->finish;

done_testing;
