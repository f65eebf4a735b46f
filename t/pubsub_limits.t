#!/usr/bin/perl

# How many snapshots a topic of the Pub/Sub API may have.

use strict;
use warnings;

use Test::More;

use NgxQueues::Pubsub;

my $s = NgxQueues::Pubsub::server();
my $p = NgxQueues::Pubsub->new($s);

$p->topic('topic');
$p->sub('sub', 'topic');

my $sub = { subscription => $p->name('subscriptions', 'sub') };
my $made = grep { $p->put('snapshots', "snap-$_", $sub)->{status} == 200 } 1 .. 1000;

is($made, 1000, 'a thousand');

my $r = $p->put('snapshots', 'more', $sub);

is("$r->{status} $r->{json}{error}{status}", '429 RESOURCE_EXHAUSTED', 'no more');
like($r->{json}{error}{message}, qr/\(resource=more\)\.$/, 'says which');
is($p->delete('snapshots', 'snap-7')->{status}, 200, 'but where one is gone');
is($p->put('snapshots', 'more', $sub)->{status}, 200, 'there is another one');

$p->publish('topic', 'data');
is(NgxQueues::Pubsub::data($p->pull('sub', 10)), 'data', 'publishes go on');

$s->finish;

done_testing;
