#!/usr/bin/perl

# Extending leases by the Queen API.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queen;

my $s = NgxQueues::Queen::server(workers => 2);
my $q = NgxQueues::Queen->new($s);
my $time = qr/"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"/;

# the seconds that a lease has after an extension

sub left {
    my ($r) = @_;

    my ($date, $clock) = $r->{expiresAt} =~ /^(.*)T(.*)\..*Z$/;

    chomp(my $end = `date -u -d '$date $clock' +%s`);

    return $end - time;
}

sub about { my ($n, $is, $name) = @_; ok(abs($n - $is) <= 2, $name) or diag($is) }

$q->push('a', map { { partition => "p$_", payload => 1 } } 1 .. 3);

my @m = $q->messages('a', partitions => 2, batch => 2, leaseSeconds => 1);
my $lease = $m[0]{leaseId};
my $r = $q->post("lease/$lease/extend", { seconds => 60 });

is($r->{status}, 200, 'an extension');
like($r->{body}, qr/^\{"renewed":2,"expiresAt":$time,"leaseId":"$lease",
                    "success":true,"newExpiresAt":"\g1","lease_expires_at":"\g1"
                    \}$/x, 'its answer');
about(60, left($r->{json}), 'so long');

# never shorter; what has no seconds is 60; bounds

about(60, left($q->extend($lease, { seconds => 1 })), 'never shorter');
about($_->[0], left($q->extend($lease, @{ $_ }[1 .. $#$_])), "$_->[0] s")
    for [100, { seconds => 100 }], [200, '{"seconds":2e2}'],
        [300, '{"seconds":300.9}'];

my $long = left($q->extend($lease, '{"seconds":' . '9' x 40 . '}'));

about(31_536_000, $long, 'at most a year');

$q->push('b', 1);

my ($m) = $q->messages('b', leaseSeconds => 1);

about(60, left($q->extend($m->{leaseId})), 'no body: a minute');

for my $body ('', '{}', '[]', '{"seconds":null}', '{"seconds":"9"}', 'no JSON',
              '{"seconds":-5}', '{"seconds":9,"seconds":60}',
              '{"seconds":0}', '{"seconds":1e-5}')
{
    about(60, left($q->extend($m->{leaseId}, $body)), "body: $body");
}

is($q->extend($m->{leaseId}, '', headers => { 'Content-Type' => 'text/plain' })
   ->{renewed}, 1, 'whatever the type');

# leases that are over, or none

my $none = '"renewed":0,"expiresAt":null';

for my $id ('x', '01a22bdb-5e4d-7791-bf08-28c1af2cde32', 'a b/"', 'x' x 1000) {
    $r = $q->post('lease/' . NgxQueues::Queen::escape($id) . '/extend', {});
    is($r->{status}, 200, 'no lease: ' . substr $id, 0, 40);
    like($r->{body}, qr/^\{$none,"leaseId":".+","success":false,
                        "newExpiresAt":null,"lease_expires_at":null\}$/x, 'none');
}

$q->ack([$m]);
like($q->post("lease/$m->{leaseId}/extend")->{body}, qr/$none/, 'acknowledged');

$q->ack([$m[0]]);
is($q->extend($lease)->{renewed}, 1, 'one of two partitions is left');

$q->push('c', 1);
($m) = $q->messages('c', leaseSeconds => 1);
$q->messages('c', wait => 'true', timeout => 5000);
like($q->post("lease/$m->{leaseId}/extend")->{body}, qr/$none/, 'taken over');

is($q->post('lease//extend')->{status}, 404, 'no id');
is($q->client->get("/api/v1/lease/$lease/extend")->{status}, 405, 'GET');

$s->finish;

done_testing;
