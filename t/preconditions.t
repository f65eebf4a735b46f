#!/usr/bin/perl

# Preconditions (If-Match and the like) are of no resource here: what a call
# did is answered, never 304 or 412 in its place.

use strict;
use warnings;

use Test::More;

use NgxQueues::Client;
use NgxQueues::Queue;
use NgxQueues::Server;

my $s = NgxQueues::Server->new(http2 => 1);
my $c = $s->client;
my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);
my $queues = $q->{queues};

my $old = 'Thu, 01 Jan 1970 00:00:01 GMT';
my $new = 'Fri, 01 Jan 2100 00:00:00 GMT';

my @headers = (
    { 'If-Match' => '"x"' }, { 'If-Match' => '*' },
    { 'If-None-Match' => '*' }, { 'If-None-Match' => '"x", W/"y"' },
    (map { ({ 'If-Modified-Since' => $_ }, { 'If-Unmodified-Since' => $_ }) }
        $old, $new, 'never'),
    { 'Range' => 'bytes=0-1' }, { 'Range' => 'bytes=0-1', 'If-Range' => $new },
    { 'If-Match' => '"x"', 'If-None-Match' => '*',
      'If-Modified-Since' => $new, 'If-Unmodified-Since' => $old },
);

# every call, in an order in which each has what it needs

sub calls {
    my ($n, %o) = @_;

    my @statuses;
    my $call = sub {
        my $r = $c->request(@_, %o);

        push @statuses, $r->{status};
        return $r;
    };

    $call->(POST => $queues, { name => "n$n" });
    $call->(GET => "$queues/n$n", undef);
    $call->(GET => $queues, undef);
    $call->(PATCH => "$queues/n$n", { delaySeconds => 0 });
    $call->(POST => $q->path('/messages'), { body => "body $n" });

    my $r = $call->(POST => $q->path('/messages/receive'), {});
    my $m = $r->{json}{messages}[0] || {};

    push @statuses, $m->{body} // 'no message';
    $call->(POST => '/v1/receipts/visibility', { entries => [
        { receiptHandle => $m->{receiptHandle} // 'none',
          visibilityTimeoutSeconds => 60 } ] });
    $r = $call->(POST => '/v1/receipts/ack',
                 { receiptHandles => [$m->{receiptHandle} // 'none'] });
    push @statuses, $r->{body};
    $call->(POST => "$queues/n$n/purge", undef);
    $call->(DELETE => "$queues/n$n", undef);
    $call->(GET => "$queues/n$n", undef);
    $call->(OPTIONS => '/v1/receipts/ack', undef);
    $call->(POST => '/v1/receipts/ack', '{');

    return "@statuses";
}

for my $n (0 .. $#headers) {
    my $h = $headers[$n];

    is(calls($n, headers => $h), "201 200 200 200 201 200 body $n 200 200"
       . ' {"results":[{"ok":true}]} 202 204 404 204 400',
       join ', ', map { "$_: $h->{$_}" } sort keys %$h);
    is($q->counts, '0 0 0', 'no message is left');

    # a HEAD, and a receive that has waited

    is($c->head($queues, headers => $h)->{status}, 200, 'HEAD');

    my $parked = $c->start(POST => $q->path('/messages/receive'),
        { waitSeconds => 20 }, headers => $h, timeout => 30, fresh => 1);

    $q->parked;
    $q->send('woken');

    my ($r) = $c->wait_all([$parked]);

    is("$r->{status} " . ($r->{json}{messages}[0]{body} // $r->{body}),
       '200 woken', 'a receive that has waited');
    is($q->ack($r->{json}{messages}[0]{receiptHandle} // ''), 'ok', 'ack');
}

# the same by HTTP/2

for my $h (@headers) {
    my $r = NgxQueues::Client::h2(port => $s->h2_port, key => $s->key,
        method => 'POST', path => $q->path('/messages'),
        body => { body => 'two' }, headers => $h);

    is($r->{status}, 201, 'send by HTTP/2');
    $r = NgxQueues::Client::h2(port => $s->h2_port, key => $s->key,
        method => 'POST', path => $q->path('/messages/receive'), body => {},
        headers => $h);
    is("$r->{status} " . ($r->{json}{messages}[0]{body} // $r->{body}),
       '200 two', 'receive by HTTP/2');
    $q->ack($r->{json}{messages}[0]{receiptHandle} // '');
}

is($q->counts, '0 0 0', 'nothing is left');
$s->finish;

done_testing;
