#!/usr/bin/perl

# The producer and the consumer of t/client/queen.mjs, run by Node.js.

use strict;
use warnings;

use Test::More;

use NgxQueues::Process qw/spawn reap slurp temp_dir/;
use NgxQueues::Server;

my $s = NgxQueues::Server->new(workers => 2,
    locations => 'location /api/v1/ { queues_queen_api o/p; }');
my $top = $NgxQueues::Process::top;
my $dir = temp_dir();
my $runs = 0;

sub node {
    my ($what) = @_;

    my $out = "$dir/out" . ++$runs;
    my $pid = spawn({ out => $out, env => { QUEEN_URL => $s->url, IDLE => 300,
                                            API_KEY => $s->key } },
                    'node', "$top/t/client/queen.mjs", $what);

    is(reap($pid, 30), 0, "$what ends well") or diag(slurp($out));

    return slurp($out);
}

my @events = map { my $n = $_; map { "$_-$n" } qw(ann bob eve) } 1 .. 5;

is(node('produce'), join('', map { "queued $_\n" } @events), 'all is queued');
is(node('produce'), join('', map { "duplicate $_\n" } @events), 'once');

my $out = node('consume');

for my $name (qw(ann bob eve)) {
    is(join(' ', $out =~ /^handled $name (\d)$/mg), '1 2 3 4 5',
       "all of ${name}'s, in order");
}

is((() = $out =~ /^/mg), 15, 'and nothing else');
is(node('consume'), '', 'no more');

$s->finish;

done_testing;
