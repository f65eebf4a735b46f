#!/usr/bin/perl

# What nginx refuses before it looks for a location: JSON under /v1/, where the
# server has our API, and nginx' own pages elsewhere.

use strict;
use warnings;

use Test::More;

use NgxQueues::Server;

my $s = NgxQueues::Server->new(server => <<'END');
    location /other/ { return 200; }
END

my $p = '/v1/organizations/o/projects/p/queues';
my $long = 'x' x 9000;

sub answer {
    my ($request, $headers) = @_;

    my $n = $s->client->connect;

    $n->write("$request HTTP/1.1\r\n$headers\r\n");

    return $n->response;
}

my $host = "Host: x\r\n";

my @refused = (
    [ 'a long header', "${host}Authorization: Bearer $long\r\n", 400 ],
    [ 'no Host', '', 400 ],
    [ 'two of it', $host x 2, 400 ],
    [ 'a wrong one', "Host: a/b\r\n", 400 ],
    [ 'a wrong length', "${host}Content-Length: x\r\n", 400 ],
    [ 'two lengths', "${host}Content-Length: 2\r\n"
                     . "Transfer-Encoding: chunked\r\n", 400 ],
    [ 'an unknown coding', "${host}Transfer-Encoding: gzip\r\n", 501 ],
    [ 'NUL', "${host}A: \0b\r\n", 400 ],
);

for my $case (@refused) {
    my ($what, $headers, $status) = @$case;

    for my $request ("POST $p", 'POST /v1/receipts/ack', "POST http://x$p") {
        my $r = answer($request, $headers);

        is("$r->{status} $r->{headers}{'content-type'}",
           "$status application/json", "$what: $request");
        like($r->{body}, qr/^\{"error":"\w+","message":"[^<"]+"\}$/, 'JSON');
    }

    for my $path ('/other/v1/', '/', '/v1x/') {
        my $r = answer("POST $path", $headers);

        is("$r->{status} $r->{headers}{'content-type'}", "$status text/html",
           "$what: elsewhere");
    }
}

my $r = answer("POST /v1/receipts/ack", '');
is($r->{headers}{'access-control-allow-origin'}, '*', 'any origin may read it');

$s->finish;

done_testing;
