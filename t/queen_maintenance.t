#!/usr/bin/perl

# Maintenance: pops find nothing while theirs is off, pushes go on; who waits is
# woken at its end.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queen;

my $s = NgxQueues::Queen::server(workers => 2);
my $q = NgxQueues::Queen->new($s);
my ($on, $off) = (JSON::PP::true, JSON::PP::false);

sub state { $q->get('system/maintenance')->{body} }
sub body { my ($push, $pop) = @_; qq({"maintenanceMode":$push,)
    . qq("popMaintenanceMode":$pop,"bufferedMessages":0,"bufferHealthy":true,)
    . '"bufferStats":{"pending":0,"failed":0}}' }

is(main::state(), body('false', 'false'), 'none');
is($q->get('system/maintenance/pop')->{json}{popMaintenanceMode}, $off,
   'of pops neither');

my $r = $q->post('system/maintenance', { enabled => $on });

is("$r->{status} $r->{json}{maintenanceMode} $r->{json}{bufferedMessages} "
   . $r->{json}{bufferHealthy}, '200 1 0 1', 'switched on');
is(main::state(), body('true', 'false'), 'which is told');
is(join(' ', map { $_->{status} } $q->push('a', 1)), 'queued',
   'pushes are stored as ever');

$r = $q->post('system/maintenance/pop', { enabled => $on });
is("$r->{status} $r->{json}{popMaintenanceMode}", '200 1', 'pops too');
is(main::state(), body('true', 'true'), 'both');

$r = $q->pop('a');
is("$r->{status} '$r->{body}'", "204 ''", 'nothing is delivered');
is($q->pop(undef, namespace => 'a')->{status}, 204, 'by labels neither');

my $h = $q->park('a', timeout => 30000);

$q->push('a', 2);
$r = $q->post('system/maintenance/pop', { enabled => $off });
is($r->{json}{popMaintenanceMode}, $off, 'off again');
($r) = $q->client->wait_all([$h], 35);
is($r->{status}, 200, 'who waits is served');
is($q->post('system/maintenance', { enabled => $off })->{json}{maintenanceMode},
   $off, 'and the other one');
is(main::state(), body('false', 'false'), 'none is on');

for my $path (qw{system/maintenance system/maintenance/pop}) {
    for my $body ({}, { enabled => 1 }, { enabled => 'true' }, { enabled => undef }) {
        $r = $q->post($path, $body);
        is("$r->{status} $r->{body}",
           '400 {"error":"enabled must be a boolean"}', $path);
    }
}

done_testing();
