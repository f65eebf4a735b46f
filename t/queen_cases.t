#!/usr/bin/perl

# What users of such systems have really hit, by the Queen API: names in paths,
# numbers, autoAck for ever, cursors that go back, leases over several
# partitions, polls that nothing wakes or whose client has gone.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Queen;
use NgxQueues::Wait;

# Who is not woken waits for 20 seconds. How late one is who is woken, is seen where a
# busy machine was least in the way.

my $late = $ENV{NGX_QUEUES_SANITIZE} ? 0.6 : 0.3;
my %late;
my $s = NgxQueues::Queen::server(workers => 2, http2 => 1);
my $q = NgxQueues::Queen->new($s);
my $c = $q->client;

sub data { NgxQueues::Queen::data(@_) }
sub words { NgxQueues::Queen::words(@_) }
sub tx { $q->post('transaction', @_) }

sub park {
    my ($queue, %query) = @_;

    my $before = $q->calls;
    my $h = $q->park($queue, timeout => 20_000, at => $s->client, %query);

    $q->parked($before);

    return $h;
}

# the messages of what was parked, not before $from s after $begin

sub woken {
    my ($h, $begin, $data, $name, $from) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    $s->client->wait_all([$h], scaled(25));

    my @m = @{ ($h->result->{json} || {})->{messages} || [] };

    is(data(@m), $data, $name) or diag(explain($h->result));
    cmp_ok(time - $begin, '>', ($from // 0) - 0.05, "$name: not before");
    push @{ $late{$from ? 'moments' : 'calls'} }, time - $begin - ($from // 0);

    return @m;
}

# names: of a body and, encoded, of a path they are the same; no two of them
# are one

my @names = ('a/b', 'a%2Fb', 'a%252Fb', 'a+b', 'a b', 'a:b', '{a}', '}{', 'a//b',
    '../../x', '..', '.', '?a=b', '#', '%', ';', '"\\', "\xe2\x80\xa8", 'a',
    'x' x 1024);

for my $name (@names) {
    (my $text = $name) =~ s/(["\\])/\\$1/g;

    $c->post('/api/v1/push', '{"items":[' . join(',', map {
        "{\"queue\":$_->[0],\"partition\":$_->[1],\"payload\":\"$text\"}"
    } ["\"$text\"", '"b"'], ['"one"', "\"$text\""]) . ']}');
}

for my $name (@names) {
    my $short = substr $name, 0, 10;
    my %all = (batch => 99, partitions => 99);

    for my $r ($q->pop($name, %all), $q->pop('one', partition => $name, %all),
               $q->pop($name, partition => 'b', %all, consumerGroup => $name))
    {
        my @ids = ($r->{body} // '') =~ /"data":"((?:[^"\\]|\\.)*)"/g;

        is("@ids", $name =~ s/(["\\])/\\$1/gr, "the name $short is its own");
    }
}

for my $path ('a%00', '%FF', '%C0%80', '%ED%A0%80', '%ZZ', 'a%2',
              'one/partition/%00', 'x' x 1025)
{
    is($c->get("/api/v1/pop/queue/$path")->{status}, 400, substr $path, 0, 20);
}

for my $path ('queue/', 'queue/a/', 'queue//a', 'queue/a/b', 'queue/a/partition',
              'queue/a/partition/', 'queue/a/partition/b/c', './queue/a')
{
    is($c->get("/api/v1/pop/$path")->{status}, 404, $path);
}

# two pairs of names that make one text

$q->push('pair:x', { partition => 'y', payload => 1 });
$q->push('pair', { partition => 'x:y', payload => 2 });
is(data($q->messages('pair:x', consumerGroup => 'g'),
        $q->messages('pair', consumerGroup => 'x:g')), '1 2', 'two pairs');
is($c->get('/api/v1/pop/queue/pair?consumerGroup=x%3Ag')->{status}, 204,
   'a group, encoded');

# numbers and deep values come back as they were, by transactions, too

my $numbers = '{"a":9007199254740993,"b":1491926160718000000,"c":1e400,"d":1.0,'
    . '"e":-0,"f":0.10000000000000000000000000000000001,"g":"\u0000\ud800"}';

for my $payload ($numbers, '[' x 58 . ']' x 58) {
    $c->post('/api/v1/push', "{\"items\":[{\"queue\":\"n\",\"payload\":$payload}]}");
    tx("{\"operations\":[{\"type\":\"push\",\"queue\":\"n\",\"data\":$payload}]}");

    for (1 .. 2) {
        my $r = $q->pop('n', autoAck => 'true');
        ok(index($r->{body}, "\"data\":$payload,") > 0, 'byte by byte');
    }
}

for my $bad ('[' x 100_000, '{"items":' . '[' x 100_000, '{"a":' x 100_000,
             '{"items":[],' . join(',', map { "\"k$_\":[[" } 1 .. 9) . '}')
{
    is($c->post('/api/v1/push', $bad)->{status}, 400, 'too deep, no JSON');
}

is($c->post('/api/v1/push', '{"items":[],'
            . join(',', map { "\"k$_\":0" } 1 .. 100_000) . '}')->{body}, '[]',
   '100,000 members');
is($c->post('/api/v1/ack/batch', '{"acknowledgments":['
            . join(',', (0) x 500_000) . ']}')->{status}, 400, 'and elements');

# autoAck: each message once, no lease, an ack is a noop

$q->push('auto', map { { partition => 'p' . $_ % 3, payload => $_ } } 1 .. 20);

for my $query ({}, { consumerGroup => 'g' },
               { consumerGroup => 'h', partitions => 3 })
{
    my @got;

    while (my @m = $q->messages('auto', autoAck => 'true', batch => 3, %$query)) {
        push @got, map { $_->{data} } @m;
        last if @got > 20;
        is(words($q->ack([$m[-1]], undef, leaseId => undef)), 'ok+noop', 'an ack');
    }

    is(join(' ', sort { $a <=> $b } @got), join(' ', 1 .. 20), 'each message once');
}

# a stale worker does not move the cursor, which never goes back

$q->push('stale', 1 .. 5);

my $begin = time;
my @a = $q->messages('stale', batch => 5, leaseSeconds => 1);
my @b = woken(park('stale', batch => 5), $begin, '1 2 3 4 5', 'the lease is over', 1);

is($q->extend($a[0]{leaseId})->{renewed}, 0, 'it cannot be renewed');
is(words($q->ack([$a[4]]), $q->ack([$a[2]], 'failed')), 'invalid invalid',
   'the first one is late');
is(words($q->ack([@b[3, 1]])), 'ok ok', 'out of order');
is(words($q->ack([$b[0]]), $q->ack([$b[2]], 'failed'), $q->ack([$b[3]])),
   'ok+noop already+noop ok+noop', 'nothing goes back');
is($q->pop('stale')->{status}, 204, 'the lease is as it was');
is(words($q->ack([$b[4]])), 'ok+released', 'the rest');

# a lease over several partitions

$q->push('wide', map { { partition => "p$_", payload => $_ } } 1 .. 5);

my @w = $q->messages('wide', batch => 50, partitions => 5, leaseSeconds => 5);

is($q->extend($w[0]{leaseId}, { seconds => 1 })->{renewed}, 5, 'five partitions');
$q->ack([$w[2]]);
$begin = time;

my $is = $q->extend($w[0]{leaseId}, { seconds => 5 });

is($is->{renewed}, 4, 'four of them are left');

my ($m) = woken(park('wide'), $begin, $w[0]{data}, 'when it is over', 5);

$is = $q->extend($w[0]{leaseId});
is($is->{renewed} . ($is->{expiresAt} // ' null'), '0 null', 'nothing is renewed');
is($q->extend($m->{leaseId})->{renewed}, 1, 'another\'s lease is untouched');

# the window of deduplication: from the push on, gone with the queue

$q->configure('dedup', dedupWindowSeconds => 3600);
$q->push('dedup', { transactionId => 't', payload => 1 });
$q->messages('dedup', autoAck => 'true');
is(($q->push('dedup', { transactionId => 't', payload => 2 }))[0]{status},
   'duplicate', 'what was read is known');
$q->configure('short', dedupWindowSeconds => 1);
$begin = time;
$q->push('short', { transactionId => 't', payload => 1 });
ok((wait_for {
    ($q->push('short', { transactionId => 't', payload => 3 }))[0]{status} eq 'queued'
}), 'until the window is over');
cmp_ok(time - $begin, '>', 0.95, 'and not before');
$q->push('dedup2', { transactionId => 't', payload => 1 });
$q->delete('resources/queues/dedup2');
is(($q->push('dedup2', { transactionId => 't', payload => 1 }))[0]{status}, 'queued',
   'a queue that is new knows nothing');

# polls that are woken by time, by what is configured, by what was deleted

$q->configure('delayed', delayedProcessing => 1);
$q->configure('window', windowBuffer => 1);
$q->post('configure', { queue => 'labelled', namespace => 'delay',
                        options => { delayedProcessing => 1 } });

for my $case (['delayed', 'delayed'], ['window', 'window'], [undef, 'labelled']) {
    my $h = park($case->[0], defined $case->[0] ? () : (namespace => 'delay'));

    $begin = time;
    $q->push($case->[1], 'x');
    woken($h, $begin, 'x', "$case->[1]", 1);
}

$q->push('deleted', 1);
$q->messages('deleted', autoAck => 'true');

my $h = park('deleted');

$q->delete('resources/queues/deleted');
$begin = time;
$q->push('deleted', 'anew');
woken($h, $begin, 'anew', 'a queue that was deleted');

$h = park(undef, namespace => 'given');
$q->push('labels', 1);
$begin = time;
$q->post('configure', { queue => 'labels', namespace => 'given', options => {} });
woken($h, $begin, '1', 'a label that is given');

# one push among a thousand queues of a label

$q->post('push', { items => [map { { queue => "thousand.$_", payload => $_ } }
                             1 .. 1000] });

my $n = 0;

while (my @m = $q->messages(undef, namespace => 'thousand', batch => 1000,
                            partitions => 1000, autoAck => 'true'))
{
    $n += @m;
}

is($n, 1000, 'all of them are read');
$h = park(undef, namespace => 'thousand');
$begin = time;
$q->push('thousand.777', 'hit');
woken($h, $begin, 'hit', 'one of a thousand');

# clients that go: with a request behind the one that waits, by a reset, half,
# by HTTP/2

my $request = "GET /api/v1/pop/queue/%s?wait=true HTTP/1.1\r\nHost: a\r\n\r\n";

for my $how ('pipelined', 'reset', 'half_close', 'http2') {
    my $before = $q->calls;

    if ($how eq 'http2') {
        open my $err, '>&', \*STDERR or die $!;
        open STDERR, '>', '/dev/null' or die $!;
        NgxQueues::Client::h2(port => $s->h2_port, timeout => 1,
                              path => '/api/v1/pop/queue/http2?wait=true');
        open STDERR, '>&', $err or die $!;
    } else {
        my $n = $s->client->connect;

        $n->write(sprintf($request, $how) . ($how eq 'pipelined'
                                             ? sprintf($request, 'x') : ''));
        $q->parked($before);
        $how eq 'pipelined' ? $n->close : $n->$how;
    }

    $q->push($how, 'x');
    $begin = time;
    is(data($q->messages($how, wait => 'true', timeout => 5000)), 'x',
       "a client has gone: $how, and nothing was held for it");
    push @{ $late{gone} }, time - $begin;
}

# many requests in one write, empty ones over one connection, HTTP/2

my $one = $s->client->connect;

$one->write("GET /api/v1/pop/queue/none HTTP/1.1\r\nHost: a\r\n\r\n" x 100);
is(scalar(grep { $_->{status} == 204 && $_->{head} !~ /content-(length|type)/i }
          map { scalar $one->response } 1 .. 100), 100, 'in the pipeline');
is(NgxQueues::Client::h2(port => $s->h2_port, path => '/api/v1/pop/queue/none')
   ->{status}, 204, 'HTTP/2');
is($c->head('/api/v1/pop/queue/none')->{status}, 204, 'HEAD');

# a transaction wakes who waits, and what is wrong with one leaves nothing

$q->push('stage1', 1);
($m) = $q->messages('stage1', consumerGroup => 'g');
$h = park('stage2');
$begin = time;

my %ack = (type => 'ack', consumerGroup => 'g',
           map { $_ => $m->{$_} } qw/transactionId partitionId/);
my %push = (type => 'push', items => [{ queue => 'stage2', payload => 2 }]);

for my $bad ([{ %ack, consumerGroup => 'other' }], [{ %ack, transactionId => 'no' }],
             [{ %ack, partitionId => 'no' }], [\%ack, { %ack, leaseId => 'no' }])
{
    ok(!tx({ operations => [\%push, @$bad] })->{json}{success}, 'rolled back');
}

ok(!tx({ operations => [\%push, \%ack], requiredLeases => ['no'] })->{json}{success},
   'another lease');
ok(tx({ operations => [\%push, \%ack], requiredLeases => [$m->{leaseId}] })
   ->{json}{success}, 'a push and an ack');
woken($h, $begin, '2', 'a transaction, once');
is($q->pop('stage2')->{status}, 204, 'nothing of the others');

least_late(\%late, $late, 'at once');

$s->finish;

done_testing;
