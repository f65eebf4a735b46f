#!/usr/bin/perl

# queues_metrics: what a node has counted, for Prometheus: requests, waits,
# messages, deliveries, Redis; and what the store knows of projects and queues.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Metrics;
use NgxQueues::Process qw/free_port slurp/;
use NgxQueues::Pubsub;
use NgxQueues::Push;
use NgxQueues::Queen;
use NgxQueues::Queue;
use NgxQueues::Wait;

my %keys = ('qk_all' => 'queues.metrics.read */*',
            'qk_star' => 'queues.metrics.* *',
            'qk_acme' => 'queues.metrics.read acme/*',
            'qk_named' => 'queues.metrics.read */orders,*/shop/*',
            'qk_other' => 'queues.messages.* *');

my $p = NgxQueues::Push->new(workers => 2,
    http => 'queues_zone queues 1m; queues_redis_timeout 2s;',
    keys => [map { sha256_hex($_) . " $_ $keys{$_}" } sort keys %keys],
    locations => <<'END');
location / { queues_api; client_max_body_size 16k; }
location /v1/projects/ { queues_pubsub_api acme; queues_auth off; }
location /api/v1/ { queues_queen_api acme/queen; queues_auth off; }
location = /metrics { queues_metrics; queues_auth off; }
location = /guarded { queues_metrics; queues_rate_limit organization=1/m; }
location = /none { queues_metrics queues=0; queues_auth off; }
location = /two { queues_metrics queues=2; queues_auth off; }
location = /some { queues_metrics project=no/body project=acme/shop; queues_auth off; }
END
my $s = $p->server;
my $c = $s->client;
my $m = NgxQueues::Metrics->new($s->client(key => undef));
my $at = '/v1/organizations/acme/projects/shop';

sub requests {
    my ($operation, $status) = @_;

    return $m->value(qq[queues_requests_total{operation="$operation",]
                     . qq[status="$status"}]);
}

sub moved { $m->value(qq[queues_messages_$_[0]_total{api="$_[1]"}]) }
sub delivered { qq[queues_deliveries_total{api="$_[0]",outcome="$_[1]"}] }

# the form

ok($m->is('queues_redis_links{kind="hints"}', 2), 'both workers have a Redis');

my $r = $m->{client}->get('/metrics');

is($r->{status}, 200, 'a scrape');
is($r->{headers}{'content-type'}, 'text/plain; version=0.0.4; charset=utf-8',
   'its type');
is($r->{headers}{'cache-control'}, 'no-store', 'nobody keeps it');
is(NgxQueues::Metrics::wrong($r->{body}), '', 'promtool finds nothing');

$r = $m->{client}->head('/metrics');
is("$r->{status} $r->{body}", '200 ', 'HEAD');
cmp_ok($r->{headers}{'content-length'}, '>', 1000, 'says how long it is');

$r = $m->{client}->post('/metrics', {});
is("$r->{status} $r->{headers}{allow}", '405 GET, HEAD', 'POST');

# who may: whose resources have all

is($m->{client}->get('/guarded')->{status}, 401, 'without a credential');
for (['qk_all', 200], ['qk_star', 200], ['qk_acme', 403], ['qk_named', 403],
     ['qk_other', 403])
{
    my ($key, $status) = @$_;

    $r = $s->client(key => $key)->get('/guarded') for 1 .. 2;
    is($r->{status}, $status, "$keys{$key}, twice, and no limit counts it");
}
like($r->{body}, qr/lacks the permission queues\.metrics\.read/, 'which is said');
like(slurp($s->dir . '/access.log'), qr/GET \/guarded/, 'in the log as others');

# requests, by operation and status

my $q = NgxQueues::Queue->new($s, name => 'orders', project => 'acme/shop',
                              visibilityTimeoutSeconds => 30);

is(requests('CreateQueue', 201), 1, 'a queue');
$c->get("$at/queues/none");
is(requests('GetQueue', 404), 1, 'of one that there is not');
$c->post("$at/queues", '{');
is(requests('CreateQueue', 400), 1, 'one that is wrong');
$m->{client}->get("$at/queues");
is(requests('ListQueues', 401), 1, 'without a credential');
$c->get('/v1/nothing');
is(requests('unknown', 404), 1, 'at no path');
$c->put("$at/queues", {});
is(requests('unknown', 405), 2, 'of no method, and that POST');
$c->post("$at/queues", 'x' x 17000);
is(requests('unknown', 413), 1, 'what nginx refuses');
is($m->look('queues_request_duration_seconds_count{operation="CreateQueue"}'),
   2, 'how long they took');
like($m->{text}, qr/^queues_request_duration_seconds_bucket\{operation="CreateQueue",le="\+Inf"\} 2$/m,
     'as a histogram');
my $sum = $m->look('queues_request_duration_seconds_sum{operation="CreateQueue"}');
ok($sum > 0 && $sum < scaled(5), 'in seconds') or diag($sum);

# messages, by API

$q->send('a', 'b', 'c');
is(moved('sent', 'queues'), 3, 'sent');
my @got = $q->receive(maxMessages => 2);
is(moved('received', 'queues'), 2, 'received');
$q->ack(@got);
is(moved('acknowledged', 'queues'), 2, 'acknowledged');
$q->post('/messages/receive', { maxMessages => 11 });
is(moved('received', 'queues'), 2, 'a refused one has none');
$c->get($q->path('/messages'));
is(moved('received', 'queues'), 2, 'nor has a peek');

my $queen = NgxQueues::Queen->new($s);

$queen->push('log', 1 .. 4);
@got = $queen->messages('log', batch => 3);
$queen->ack(\@got);
is(join(' ', map { moved($_, 'queen') } qw/sent received acknowledged/), '4 3 3',
   'of the Queen API');
$r = $queen->post('transaction', { operations => [
    { type => 'push', items => [map { { queue => 'log', payload => $_ } } 1, 2] } ] });
is("$r->{status} " . moved('sent', 'queen'), '200 6', 'with those of transactions')
    or diag($r->{body});

my $pubsub = NgxQueues::Pubsub->new($s);

$pubsub->topic('news');
$pubsub->sub('mine', 'news');
$pubsub->publish('news', 'x', 'y');
@got = $pubsub->pull('mine', 10);
$pubsub->ack('mine', @got);
is(join(' ', map { moved($_, 'pubsub') } qw/sent received acknowledged/), '2 2 2',
   'of Pub/Sub');

# operations are known by their names

my $sources = join '', map { slurp($_) } grep { !/_operations\.c$/ }
    glob "$NgxQueues::Process::top/src/api/*.c";
my @known = slurp("$NgxQueues::Process::top/src/api/ngx_queues_api_operations.c")
    =~ /^    \{ ngx_string\("(\w+)"\),$/mg;

cmp_ok(scalar @known, '>=', 12, 'operations that move messages');
is(join(' ', grep { $sources !~ /"$_"/ } @known), '', 'each is a route');

# who waits

my $w = NgxQueues::Queue->new($s, name => 'waits', project => 'acme/shop');
my $waits = 'queues_wait_duration_seconds_count{operation="ReceiveMessages"}';
my $looks = 'queues_request_duration_seconds_count{operation="ReceiveMessages"}';
my $before = $m->value($looks);
my @h = map { $w->park(fresh => 1) } 1 .. 3;

ok($m->is('queues_parked_requests', 3), 'three wait');
is($m->look($waits), undef, 'and none has ended');
$h[0]->close;
ok($m->is('queues_parked_requests', 2), 'one has gone');
is(requests('ReceiveMessages', 499), 1, 'without an answer');
$w->send('x', 'y');
$c->wait_all([@h[1, 2]], 10);
ok($m->is('queues_parked_requests', 0), 'none waits');
is($m->look($waits), 3, 'they have waited');
is($m->look($looks), $before, 'and are not among those that did not');

# deliveries

my $ok = $p->subscribe(maxConcurrency => 4);
my $bad = $p->subscribe(batchSize => 1, maxConcurrency => 3,
                        queue => { visibilityTimeoutSeconds => 30 });
my $gone = $p->subscribe(url => 'https://hooks.example.com:' . free_port() . '/x',
                         maxConcurrency => 2);

ok($m->is('queues_subscriptions_owned', 3), 'subscriptions');
is($m->look('queues_delivery_window'), 9, 'and what they may have under way');
$ok->on({ hold => 'one' });
$ok->send('x');
ok($m->is('queues_deliveries_in_flight', 1), 'one is under way');
$p->endpoint->release('one', always => 1);
ok($m->is(delivered('queues', 'ok'), 1), 'and has succeeded');
ok($m->is('queues_deliveries_in_flight', 0), 'none is');
$before = moved('acknowledged', 'queues');
$bad->on({ status => 503 }, {});
$bad->send('x');
ok($m->is(delivered('queues', 'http'), 1), 'one has failed');
ok($m->is('queues_delivery_window', 7), 'and halved its window');
ok($m->is(delivered('queues', 'ok'), 2), 'before it succeeds');
is(moved('acknowledged', 'queues'), $before + 1, 'and is acknowledged');
$gone->send('x');
ok($m->is(delivered('queues', 'connection'), 1), 'one has no connection');
cmp_ok($m->look('queues_delivery_duration_seconds_count'), '>=', 4,
       'how long they took');
$_->delete for $ok, $bad, $gone;
ok($m->is('queues_subscriptions_owned', 0), 'deleted ones');
is($m->look('queues_delivery_window'), 0, 'have no window');
$pubsub->sub('pushed', 'news', pushConfig => {
    pushEndpoint => 'https://hooks.example.com:' . $p->endpoint->port . '/p' });
$pubsub->publish('news', 'z');
ok($m->is(delivered('pubsub', 'ok'), 1), 'one of Pub/Sub');
is(moved('received', 'pubsub'), 3, 'which is received');
$pubsub->delete('subscriptions', 'pushed');
$pubsub->ack('mine', $pubsub->pull('mine', 10));

# Redis

cmp_ok($m->value('queues_redis_command_duration_seconds_count'), '>', 20, 'commands');
is($m->look('queues_redis_up'), 1, 'it answers');
is($m->look('queues_redis_links{kind="commands"}'), 2, 'two links');
is($m->look('queues_redis_reconnects_total'), 0, 'none was lost');
my $redis = $s->redis->client;
$redis->call(qw/CLIENT KILL TYPE normal SKIPME yes/);
ok($m->is('queues_redis_reconnects_total', 2), 'both were, and are back');
is($m->look('queues_redis_links{kind="commands"}'), 2, 'two links again');
is($m->look('queues_redis_commands_overdue_total'), 0, 'nothing was overdue');
like($m->{text}, qr/^queues_build_info\{version="[\d.]+",library="ngxq_\w+"\} 1$/m,
     'what it is');
is($m->look('queues_zone_bytes{state="used"}') + $m->look('queues_zone_bytes{state="free"}'),
   1048576, 'the zone');

# all there is: as the documents have it

is(NgxQueues::Metrics::wrong($m->scrape), '', 'promtool finds nothing');

my %told = slurp("$NgxQueues::Process::top/docs/operations.md")
    =~ /^\| `(queues_\w+)(?:\{[^}]*\})?` \| (counter|gauge|histogram) \|/mg;

is_deeply($m->families, \%told, 'families are those of docs/operations.md');

# projects and queues

$m->is('queues_queue_messages{organization="acme",project="shop",queue="orders",state="visible"}', 1);
my %is = $m->{text} =~ /^queues_(\w+)\{organization="acme",project="shop",queue="orders"\} (\d+)$/mg;
my $age = delete $is{queue_oldest_message_age_seconds};
ok(defined $age && $age < scaled(60), 'how old the oldest message is');
is_deeply(\%is, { queue_messages_sent_total => 3, queue_messages_acknowledged_total => 2 },
          'what came and went');
like($m->{text}, qr/queue_messages\{organization="acme",project="shop",queue="gcp\.sub\.mine",state="in_flight"\} 0/,
     'subscriptions of Pub/Sub');
is($m->look('queues_project_queues{organization="acme",project="shop"}'), 3, 'their number');
is($m->look('queues_queues_left_out'), 0, 'none is left out');
is($m->look('queues_projects_complete'), 1, 'no project is');
ok($m->{text} !~ /oldest_message.*queue="gcp\.sub\.mine"/, 'one without messages has no age');

my %other = map { $_ => NgxQueues::Metrics->new($m->{client}, "/$_") } qw/none two some/;
my $text = $other{none}->scrape;

unlike($text, qr/^queues_queue_/m, 'queues=0');
like($text, qr/^queues_messages_expired_total\{organization="acme",project="shop"\} 0$/m, 'still has the projects');
my $all = 0;
$all += $_ for $text =~ /^queues_project_queues\{.*\} (\d+)$/mg;
is($other{none}->look('queues_queues_left_out'), $all, 'and all queues are left out');
$text = $other{two}->scrape;
is(scalar(() = $text =~ /^queues_queue_messages_sent_total/mg), 2, 'queues=2');
is($other{two}->look('queues_queues_left_out'), $all - 2, 'the others are left out');
$text = $other{some}->scrape;
is(join(' ', sort $text =~ /^queues_project_queues\{organization="(.*?)"/mg), 'acme no',
   'some projects');
is($other{some}->look('queues_queues_left_out'), 0, 'and all their queues');
is(NgxQueues::Metrics::wrong($_), '', 'promtool finds nothing') for $text;

# a name that no queue can have, but Redis can

my $settings = $redis->call('HGET', $q->key, 's');

$redis->call('HSET', $q->key, 's', $settings =~ s/orders/o"r\\d/r);
$text = $m->scrape;
is($m->look('queues_queue_messages{organization="acme",project="shop",queue="o\"r\\\\d",state="visible"}'),
   1, 'is escaped');
is(NgxQueues::Metrics::wrong($text), '', 'promtool finds nothing');
$redis->call('HSET', $q->key, 's', $settings);

# another program's key is in the place of one of ours

$redis->call('HSET', 'ngxq:{no/body}:l', 'x', 'y');
push @{ $s->{allow} }, qr/WRONGTYPE|wrong kind of value/;
$text = $other{some}->scrape;
is($other{some}->look('queues_projects_complete'), 0, 'a project fails');
is($other{some}->look('queues_redis_up'), 1, 'Redis is there');
is($other{some}->look('queues_project_queues{organization="acme",project="shop"}'), 3,
   'and the other ones are told of');
$redis->call('DEL', 'ngxq:{no/body}:l');

# gauges of a worker end with it

my @park = map { $w->park(fresh => 1) } 1 .. 6;
ok($m->is('queues_parked_requests', 6), 'six wait');
my ($one, $two) = $s->worker_pids;
$s->kill_worker($one);
$m->{client} = $s->client(key => undef);        # the other one may have been with it
my ($left, $failed) = (0, 0);
wait_for { ($left = $m->value('queues_parked_requests')) <= 6 && $m->look('queues_workers') == 2 };
$failed += $_->closed(0.05) for @park;
is($left, 6 - $failed, 'those of a worker that has died are gone with it');
is($m->look('queues_workers'), 2, 'another one has its place');
is(moved('sent', 'pubsub'), 3, 'what it has counted stays');

# a reload goes on, while the old workers are still there

my $held = $p->subscribe;

$held->on({ hold => 'reload' });
$held->send('x');
ok($m->is('queues_deliveries_in_flight', 1), 'a delivery is under way');
$s->reload;
$m->{client} = $s->client(key => undef);
ok($m->is('queues_workers', 3), 'an old worker is still there');
is($m->look('queues_deliveries_in_flight'), 1, 'with its delivery');
is(moved('sent', 'pubsub'), 3, 'what was counted stays');
$p->endpoint->release('reload', always => 1);
ok($m->is('queues_deliveries_in_flight', 0), 'until that has ended');
ok($m->is('queues_subscriptions_owned', 1), 'a new one has the subscription');
is($m->look('queues_parked_requests'), 0, 'nobody waits');

# without Redis

$s->redis->stop;

my $since = time;

$text = $m->scrape;
cmp_ok(time - $since, '<', 3.9, 'a scrape waits for one command, and not for a second one');
is($m->look('queues_redis_up'), 0, 'Redis is silent');
cmp_ok($m->look('queues_redis_commands_overdue_total'), '>=', 1, 'a command is overdue');
unlike($text, qr/^queues_(?:queue_|project)/m, 'nothing is told of queues');
is(NgxQueues::Metrics::wrong($text), '', 'promtool finds nothing');
$s->redis->cont;
ok($m->is('queues_redis_up', 1), 'and speaks again');
$s->redis->kill;
ok($m->is('queues_redis_links{kind="commands"}', 0), 'it is away');
is($m->look('queues_redis_up'), 0, 'which is told');
$s->redis->start;
ok($m->is('queues_redis_up', 1), 'and back');
ok($m->is('queues_workers', 2), 'the old workers have gone');

$p->finish;
done_testing;
