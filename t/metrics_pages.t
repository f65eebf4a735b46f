#!/usr/bin/perl

# queues_metrics with more projects and queues than one call to Redis tells of:
# each is there once, as far as the directive lets it.

use strict;
use warnings;

use Test::More;

use NgxQueues::Metrics;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(workers => 2, locations => <<'END');
location / { queues_api; queues_auth off; }
location = /all { queues_metrics; queues_auth off; }
location = /most { queues_metrics queues=70; queues_auth off; }
location = /fifty { queues_metrics queues=50; queues_auth off; }
END
my $c = $s->client;
my $all = NgxQueues::Metrics->new($c, '/all');

# so many queues in one project, and one in each of the others

my @queues = map { sprintf 'q%03d', $_ } 1 .. 120;
my @projects = map { sprintf 'p%03d', $_ } 1 .. 105;
my @calls = ((map { [many => $_] } @queues), map { [$_ => 'q'] } @projects);

for my $call (@calls) {
    my $r = $c->post("/v1/organizations/o/projects/$call->[0]/queues",
                     { name => $call->[1] });

    die "$r->{status} $r->{body}\n" if $r->{status} != 201;
}

sub projects { $_[0] =~ /^queues_project_queues\{organization="o",project="(\w+)"\}/mg }

sub queues {
    my ($text) = @_;

    return $text =~ /^queues_queue_messages\{organization="o",project="many",queue="(\w+)",state="visible"\} 0$/mg;
}

my $text;

ok((wait_for { (() = projects($text = $all->scrape)) == 106 }), 'all projects are known')
    or diag(scalar(() = projects($text)));
is(join(' ', sort(projects($text))), join(' ', 'many', @projects), 'each once');
is(join(' ', queues($text)), "@queues", 'and the queues of one, in order');
is($all->look('queues_queues_left_out'), 0, 'none is left out');
is($all->look('queues_projects_complete'), 1, 'it is complete');
is($all->look('queues_project_queues{organization="o",project="many"}'), 120, 'their number');
is(NgxQueues::Metrics::wrong($text), '', 'promtool finds nothing');

my %lines;

$lines{$_}++ for grep { !/^#/ } split /\n/, $text;
is_deeply([grep { $lines{$_} > 1 } keys %lines], [], 'no sample is there twice');

for (['/most', 70], ['/fifty', 50]) {
    my ($path, $n) = @$_;
    my $m = NgxQueues::Metrics->new($c, $path);

    $text = $m->scrape;
    is(scalar(() = $text =~ /^queues_queue_messages\{.*state="visible"/mg), $n, "$n of them");
    is($m->look('queues_queues_left_out'), 225 - $n, 'the others are left out');
    is(scalar(() = projects($text)), 106, 'of all projects');
}

# what is planted in Redis does not spoil the text for the rest

my $redis = $s->redis->client;
my $root = 'ngxq:{o/many}';

$redis->call('ZADD', 'ngxq:known', map { (0, "ngxq:{$_}") }
             "o/\xff\xfe", '/', 'o/', '/p', 'o/p/q', qq[o/"\n], 'o}o/p', 'o/' . 'p' x 65);

my $hot = "$root:h:" . $redis->call('HGET', "$root:n", 'q001');
my $plan = $redis->call('HGET', $hot, 's');

$redis->call('HSET', $hot, 's', $plan =~ s/q001$/q\xff"\n/r);
$text = $all->scrape;
$redis->call('HSET', $hot, 's', $plan);
is(scalar(() = $text =~ /^queues_project_queues/mg), 106, 'what is no project is passed over');
ok($text =~ /queue="q\?\\"\\n",state="visible"/, 'what is no name of a queue is text all the same');
is(NgxQueues::Metrics::wrong($text), '', 'promtool finds nothing');

# who asks and goes leaves nothing behind

for (1 .. 20) {
    $c->start(GET => '/all', undef, fresh => 1)->reset;
}

ok($all->is('queues_redis_commands_in_flight', 0), 'scrapes that were given up');
is((() = projects($all->scrape)), 106, 'and one after them');

$s->finish;
done_testing;
