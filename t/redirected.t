#!/usr/bin/perl

# What brings a request into our location by a detour, and what others do with
# its body: an answer of the API stays what it is.

use strict;
use warnings;

use IO::Socket::INET;
use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

# an endpoint that takes the mirrored requests and never answers

my $mirror = IO::Socket::INET->new(Listen => 64, LocalAddr => '127.0.0.1')
    or die "no socket: $!\n";
my $port = $mirror->sockport;

my $q1 = '/v1/organizations/o/projects/p/queues';
my $s = NgxQueues::Server->new(
    http => 'log_format body "[$request_body]";',
    locations => <<"END");
location / {
    queues_api;
    client_max_body_size 64k;
}
location $q1/q1/messages {
    root %%DIR%%;
    error_page 403 404 405 \@api;
}
location $q1/small/messages {
    queues_api;
    client_max_body_size 1k;
    error_page 413 = \@api;
}
location \@api { queues_api; }

location $q1/q1/messages/receive {
    queues_api;
    mirror /mirror;
    access_log %%DIR%%/body.log body;
}
location = /mirror {
    internal;
    proxy_pass http://127.0.0.1:$port;
    proxy_set_header X-Body \$request_body;
}
END

my $q = NgxQueues::Queue->new($s);
my $c = $s->client;

is($q->path, "$q1/q1", 'the queue of these locations');

# error_page without "=": the status is the API's

my $r = $c->post($q->path('/messages'), { body => 'x' });

is($r->{status}, 201, 'a send through error_page');
ok($r->{json}{messages}[0]{messageId}, 'with its own answer');
is($q->counts, '1 0 0', 'one message');
is($c->delete($q->path('/messages'))->{status}, 405,
   'a method that is not there');

# a body that was refused is not an empty one

$c->post($q1, { name => 'small' });
$r = $c->post("$q1/small/messages/receive", ' ' x 2000 . '{}');
is($r->{status}, 413, 'a refused body');
is($r->{json}{error}, 'request_too_large', 'in JSON');

my $h = $c->start(POST => "$q1/small/messages/receive", ' ' x 3000 . '{}',
                  chunked => [500, 500, 500], fresh => 1);
($r) = $c->wait_all([$h], scaled(10));
is($r->{status}, 413, 'one in chunks');
is($r->{json}{error}, 'request_too_large', 'in JSON');

# a parked receive whose body a mirror still has: short, and in a large buffer

is($c->post($q->path('/purge'))->{status}, 202, 'purge');

for my $blanks (10, 3000) {
    my $h = $c->start(POST => $q->path('/messages/receive'),
                      '{"waitSeconds": 20' . ' ' x $blanks . '}',
                      chunked => [7, 1000], fresh => 1);

    $q->parked;
    my ($peer) = $mirror->accept;
    my $head = '';

    wait_for {
        sysread $peer, $head, 65536, length $head;
        $head =~ /\r\n\r\n.*\{"waitSeconds": 20 *\}/s;
    } 5;

    like($head, qr/\r\n\r\n\{"waitSeconds": 20 {$blanks}\}/,
         "the mirror has the body, $blanks blanks");

    # its answer to come, the message comes

    $q->send("m$blanks");
    ($r) = $c->wait_all([$h], scaled(10));
    is($r->{json}{messages}[0]{body}, "m$blanks", 'and the receive its message');
    close $peer;
}

$s->finish(allow => []);
done_testing;
