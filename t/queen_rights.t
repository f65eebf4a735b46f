#!/usr/bin/perl

# Who may call the routes of the Queen API beside those of messages: the words of
# roles, and API keys for some queues only.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Jwt;
use NgxQueues::Queen;

my $secret = NgxQueues::Jwt->secret;
my $s = NgxQueues::Queen::server(
    auth => 1,
    http => 'queues_jwt_key ' . $secret->public . ';',
    keys => [sha256_hex('key-some') . ' some queen.* acme/shop/a*'],
);

my $lane = '00000000-0000-8000-8000-000000000000';

# method, path, body; who may

my @calls = (
    ['POST', 'configure', '{"queue":"b"}', 'rw admin'],
    ['GET', 'resources/queues', undef, 'ro rw admin'],
    ['GET', 'resources/queues/b', undef, 'ro rw admin'],
    ['GET', 'resources/namespaces', undef, 'ro rw admin'],
    ['GET', 'resources/tasks', undef, 'ro rw admin'],
    ['GET', 'resources/overview', undef, 'ro rw admin'],
    ['GET', 'status', undef, 'ro rw admin'],
    ['GET', 'status/queues', undef, 'ro rw admin'],
    ['GET', 'status/queues/b', undef, 'ro rw admin'],
    ['GET', 'messages', undef, 'ro rw admin'],
    ['GET', "messages/$lane/t", undef, 'ro rw admin'],
    ['DELETE', "messages/$lane/t", undef, 'rw admin'],
    ['POST', "messages/$lane/t/retry", undef, 'rw admin'],
    ['GET', 'dlq?queue=b', undef, 'ro rw admin'],
    ['DELETE', 'dlq?queue=b', undef, 'admin'],
    ['GET', 'consumer-groups', undef, 'ro rw admin'],
    ['GET', 'consumer-groups?queue=b', undef, 'ro rw admin'],
    ['GET', 'consumer-groups/lagging', undef, 'ro rw admin'],
    ['GET', 'consumer-groups/g', undef, 'ro rw admin'],
    ['POST', 'consumer-groups/g/subscription',
     '{"subscriptionTimestamp":"2026-01-01"}', 'rw admin'],
    ['POST', 'consumer-groups/g/queues/b/seek', '{"toEnd":true}', 'rw admin'],
    ['POST', 'consumer-groups/g/queues/b/partitions/p/seek', '{}', 'rw admin'],
    ['DELETE', 'consumer-groups/g', undef, 'admin'],
    ['DELETE', 'consumer-groups/g/queues/b', undef, 'admin'],
    ['POST', 'traces', '{}', 'rw admin'],
    ['GET', "traces/$lane/t", undef, 'ro rw admin'],
    ['GET', 'traces/by-name/n', undef, 'ro rw admin'],
    ['GET', 'traces/names', undef, 'ro rw admin'],
    ['GET', 'system/maintenance', undef, 'admin'],
    ['POST', 'system/maintenance', '{"enabled":false}', 'admin'],
    ['GET', 'system/maintenance/pop', undef, 'admin'],
    ['POST', 'system/maintenance/pop', '{"enabled":false}', 'admin'],
    ['DELETE', 'resources/queues/b', undef, 'admin'],
);

my %roles = (wo => 'write-only', ro => 'read-only', rw => 'read-write',
             admin => 'admin');
my %clients = map { $_ => $s->client(key => $secret->token({ role => $roles{$_},
    sub => 'x', exp => time + 600 })) } keys %roles;
my $nobody = $s->client(key => undef);
my $some = $s->client(key => 'key-some');

for my $c (@calls) {
    my ($method, $path, $body, $who) = @$c;
    my %status = map { $_ => $clients{$_}->request($method, "/api/v1/$path", $body)
                             ->{status} } keys %clients;

    is(join(' ', grep { $status{$_} != 403 } qw/wo ro rw admin/), $who,
       "$method $path");
    is(scalar(grep { $_ == 401 || $_ >= 405 } values %status), 0, 'nothing else');
    is($nobody->request($method, "/api/v1/$path", $body)->{status}, 401, 'nobody');
    next if $path =~ m{^(?:resources|status)/queues$};
    is($some->request($method, "/api/v1/$path", $body)->{status}, 403,
       'who may use others only');
}

# who may use some queues: these, and nothing that is of all

is($some->post('/api/v1/configure', { queue => 'a1' })->{status}, 200, 'a queue');
$clients{admin}->post('/api/v1/configure', { queue => 'b1' });

for my $path (qw{resources/queues/a1 status/queues/a1 dlq?queue=a1
                 messages?queue=a1 consumer-groups?queue=a1})
{
    is($some->get("/api/v1/$path")->{status}, 200, $path);
}

is(join(' ', map { $_->{name} } @{ $some->get("/api/v1/$_")->{json}{queues} }),
   'a1', "$_: those alone") for qw{resources/queues status/queues};
is($some->post('/api/v1/consumer-groups/g/queues/a1/seek', { toEnd => \1 })
   ->{status}, 200, 'a seek');
is($some->delete('/api/v1/consumer-groups/g/queues/a1')->{status}, 200,
   'a group of it');
is($some->delete('/api/v1/resources/queues/a1')->{status}, 200, 'its end');

# metrics are for everyone

is($nobody->get($_)->{status}, 200, $_) for '/metrics', '/metrics/prometheus';

done_testing();
