#!/usr/bin/perl

# Metrics: what a node has counted, as JSON and for Prometheus, for everyone,
# also while the store is away.

use strict;
use warnings;

use File::Copy 'copy';
use Test::More;

use NgxQueues::Metrics;
use NgxQueues::Queen;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(workers => 2, locations => <<'END');
location / { queues_queen_api acme/shop; queues_auth off; client_max_body_size 16k; }
location /v1/ { queues_api; queues_auth off; }
location = /all { queues_metrics; queues_auth off; }
END
my $q = NgxQueues::Queen->new($s);
my $c = $q->client;
my $all = NgxQueues::Metrics->new($c, '/all');

my @lines = (qr/# HELP [a-z_]+ .*/, qr/# TYPE [a-z_]+ (?:counter|gauge)/,
             qr/[a-z_]+(?:\{[a-z]+="[a-z0-9]+"(?:,[a-z]+="[a-z0-9]+")*\})? \d+/);

sub scrape {
    my $r = $c->get('/metrics/prometheus');

    is($r->{status}, 200, 'a scrape');

    return $r;
}

sub value {
    my ($r, $name) = @_;

    return $r->{body} =~ /^\Q$name\E (\d+)$/m ? $1 : undef;
}

my $r = scrape();

is($r->{headers}{'content-type'}, 'text/plain; version=0.0.4', 'its type');
is_deeply([grep { my $line = $_; !grep { $line =~ /^$_$/ } @lines }
           split /\n/, $r->{body}], [], 'each line is as it should be');
like($r->{body}, qr/\n\z/, 'the last one, too');
is(NgxQueues::Metrics::wrong($r->{body}), '', 'promtool finds nothing');

my (%type, @untyped);

for (split /\n/, $r->{body}) {
    $type{$1} = 1 if /^# TYPE (\S+)/;
    push @untyped, $_ if /^(queen_\w+)/ && !$type{$1};
}

is_deeply(\@untyped, [], 'each has its type before');
is(value($r, 'queen_up'), 1, 'the store answers');
is(value($r, 'queen_messages_pushed_total'), 0, 'nothing was pushed');

$q->push('a', 1 .. 5);
$q->pop('a', batch => 3);
$q->pop('none');
$q->post('push', '{');
$q->ack([{ transactionId => 't', partitionId => 'x', consumerGroup => undef }]);
$q->get('resources/queues');
$q->get('none');
scrape();
$r = scrape();
is(value($r, 'queen_messages_pushed_total'), 5, 'pushed');
is(value($r, 'queen_messages_popped_total'), 3, 'popped');
is(value($r, 'queen_requests_total{call="push",code="2xx"}'), 1, 'pushes');
is(value($r, 'queen_requests_total{call="push",code="4xx"}'), 1, 'refused ones');
is(value($r, 'queen_requests_total{call="pop",code="2xx"}'), 2, 'pops');
is(value($r, 'queen_requests_total{call="ack",code="2xx"}'), 1, 'acks');
is(value($r, 'queen_requests_total{call="other",code="4xx"}'), 1, 'of no route');
cmp_ok(value($r, 'queen_requests_total{call="other",code="2xx"}'), '>=', 2,
       'others');

# as JSON

$r = $c->get('/metrics');
is($r->{headers}{'content-type'}, 'application/json', 'JSON');

my $json = $r->{json};

is_deeply([sort keys %$json], [qw/cpu database memory messages requests uptime/],
          'its keys');
is_deeply($json->{messages}, { pushed => 5, popped => 3, acknowledged => 1 }, 'messages');
cmp_ok($json->{requests}{total}, '>=', 7, 'requests');
ok($json->{uptime} >= 1 && $json->{memory}{maxRss} > 0, 'the rest');
is($json->{database}{connected}, JSON::PP::true, 'the store answers');

# queues_metrics has the same, and beside it what is within transactions, and who has
# gone without an answer

sub told { $all->look("queues_messages_$_[0]_total{api=\"queen\"}") }

sub answers {
    my ($r, $call) = @_;

    return join ' ', map { value($r, qq[queen_requests_total{call="$call",code="$_"}]) }
        qw/2xx 4xx 5xx/;
}

sub transaction {
    my (@operations) = @_;

    my $r = $q->post('transaction', { operations => \@operations });

    ok($r->{json}{success}, 'a transaction') or diag($r->{body});
}

transaction({ type => 'push', items => [map { { queue => 'b', payload => $_ } } 1 .. 4] });
transaction(map { { type => 'ack', status => 'completed', transactionId => $_->{transactionId},
                    partitionId => $_->{partitionId}, leaseId => $_->{leaseId} } }
            $q->messages('b', batch => 2));

my @h = map { $q->park('none', timeout => 60_000, fresh => 1) } 1, 2;

ok($all->is('queues_parked_requests', 2), 'two pops wait');
$_->close for @h;
ok($all->is('queues_requests_total{operation="QueenPop",status="499"}', 2),
   'and have gone');
$c->get('/v1/nothing');
$q->post('push', 'x' x 17000, chunked => [5000]);
ok($all->is('queues_requests_total{operation="QueenPush",status="413"}', 1),
   'a push is too large for nginx');
$r = scrape();
is(answers($r, 'pop'), '3 0 0', 'pops: none that has gone');
is(answers($r, 'transaction'), '2 0 0', 'transactions');
is(answers($r, 'push'), '1 2 0', 'pushes, with that one');
is(answers($r, 'other') =~ s/^\d+ //r, '1 0', 'of no route: none of another API');
is(value($r, 'queen_messages_pushed_total'), 5, 'pushed, without those of a transaction');
is(told('sent'), 9, 'with them');
is(value($r, 'queen_messages_acknowledged_total'), 1, 'acknowledged, without them');
is(told('acknowledged'), 3, 'with them');
is(value($r, 'queen_messages_popped_total'), 5, 'popped');
is(told('received'), 5, 'as many');

# a reload goes on counting

$s->reload;
$q->{client} = $c = $s->client;
is(value(scrape(), 'queen_messages_pushed_total'), 5, 'after a reload');

# so does one that finds the module in another file: what runs is what ran

SKIP: {
    my $module = $ENV{NGX_QUEUES_MODULE} or skip 'the module is in nginx itself', 1;

    local $ENV{NGX_QUEUES_MODULE} = $s->{dir} . '/new.so';
    copy($module, $ENV{NGX_QUEUES_MODULE}) or die "copy: $!\n";
    $s->configure;
    $s->reload;
    $q->{client} = $c = $s->client;
    is(value(scrape(), 'queen_messages_pushed_total'), 5, 'of another file');
}

# while the store is away

$s->redis->stop;
ok(wait_for { value(scrape(), 'queen_up') == 0 }, 'the store is away');
is($c->get('/metrics')->{json}{database}{connected}, JSON::PP::false,
   'which is told');

done_testing();
