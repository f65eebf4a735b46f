#!/usr/bin/perl

# What an answer means: which messages of a batch of three are acknowledged and
# which come again, and what the status says of it. All answers at once, each
# with a subscription of its own; the second delivery of each is answered 200.

use strict;
use warnings;

use Test::More;

use NgxQueues::Push;
use NgxQueues::Wait;

my $p = NgxQueues::Push->new;
my @rows;

# answer(name, behaviour, which come again (indexes), error)

sub answer {
    my ($name, $behaviour, $again, $error) = @_;

    push @rows, { name => $name, behaviour => $behaviour, again => $again,
                  error => $error };
}

sub acknowledged { answer(@_, '', undef) }
sub listed { answer(@_, '1', undef) }
sub failed { my $error = pop; answer(@_, '0 1 2', $error) }

my %list = (failed => { index => [1] });
my @json = ('Content-Type' => 'application/json');
my $space = ' ' x 70_000;

# the answers of the page

acknowledged('200', {});
acknowledged("$_", { status => $_, body => 'fine' }) for 201, 202, 226, 299;
acknowledged('204', { status => 204 });
acknowledged('204 with a body\'s type', { status => 204, headers => [@json] });
acknowledged('205 with nothing', { status => 205 });
listed('a list', { %list });
listed('a list with 202', { %list, status => 202 });
failed("$_", { status => $_, headers => [Location => 'https://10.0.0.1/x'] },
       "http $_") for 300 .. 303, 307, 308;
failed("$_", { status => $_, body => 'no' }, "http $_")
    for 400, 401, 404, 410, 429, 499, 500, 501, 502, 503, 504, 599;
failed('a list with 500', { %list, status => 500 }, 'http 500');
failed('304', { status => 304 }, 'http 304');

# what is a list and what is not

acknowledged("not a list: $_", { body => $_, headers => [@json] })
    for '{"failed":[]}', '[]', 'null', '{}', '{"failed":null}', '"failed"',
        '{"failed":{}}', '{"failed":"0"}', '{"failed":[1]}', '{"failed":[[]]}',
        '{"failed":["x","y"]}', '{"failed":[""]}', '{"failed":[', 'fine', ' ';
listed('ids twice, and of others', { failed => { index => [1, 1],
    more => ['zzz', '01999f3d-02b4-7c1d-8e2f-3a4b5c6d7e8f', ''] } });
answer('all of them', { failed => { all => 1 } }, '0 1 2', undef);
listed('a list as text/plain', { %list,
    headers => ['Content-Type' => 'text/plain'] });
listed('a list as HTML', { %list,
    headers => ['Content-Type' => 'text/html; charset=utf-16'] });

# made of the request's ids: MARK stands for that of the second message

listed('a list among others', { list => '{"a":{"failed":["x"]},"b":[],'
    . '"failed" : [ "MARK" ] , "ok":true}' });
listed('a list with escapes', { list => '{"\u0066ailed":["\u0030MARK0"]}' });
listed('a list beside what is deep', { list => '{"a":' . '[{"b":' x 5000 . '0'
    . '}]' x 5000 . ',"failed":["MARK"]}' });
acknowledged('what is deep, and wrong', { list => '{"a":' . '[' x 100 . '}'
    . ']' x 99 . ',"failed":["MARK"]}' });
acknowledged('a list within', { list => '{"result":{"failed":["MARK"]}}' });
acknowledged('ids and numbers', { list => '{"failed":["MARK",1]}' });
acknowledged('a byte order mark', { list => "\xef\xbb\xbf" . '{"failed":["MARK"]}' });
acknowledged('text after it', { list => '{"failed":["MARK"]}x' });
acknowledged('failed twice', { list => '{"failed":["MARK"],"failed":[]}' });
acknowledged('in capitals', { list => '{"Failed":["MARK"]}' });
acknowledged('not UTF-8', { list => "{\"failed\":[\"MARK\"],\"a\":\"\xff\"}" });
listed('blanks around it', { list => "\r\n\t {\"failed\":[\"MARK\"]}\n\n" });

# how long it may be

listed('64 KiB', { list => '{"failed":["MARK"]}', pad => 65536 });
acknowledged('a byte more', { list => '{"failed":["MARK"]}', pad => 65537 });
acknowledged('a longer list', { list => '{"failed":["MARK"]}', pad => 200_000 });
acknowledged('an endless body', { body => $space, length => 10_000_000,
                                  end => 'hang' });
acknowledged('an endless chunked body', { body => $space, chunked => [10],
                                          last => 0, end => 'hang' });
listed('chunked, 64 KiB', { list => '{"failed":["MARK"]}', pad => 65536,
                            chunked => [1, 100, 30_000] });

# forms of bodies

listed('chunked', { %list, chunked => [] });
listed('chunks of a byte', { %list, chunked => [(1) x 60] });
listed('HTTP/1.0 to the end of the connection', { %list, http10 => 1 });
listed('HTTP/1.1 to the end of the connection', { list => '{"failed":["MARK"]}',
    raw_head => "HTTP/1.1 200 OK\r\n\r\n", end => 'close' });
listed('only line feeds', { list => '{"failed":["MARK"]}',
    raw_head => "HTTP/1.1 200 OK\nConnection: close\n\n", end => 'close' });
listed('no reason', { list => '{"failed":["MARK"]}',
    raw_head => "HTTP/1.1 200\r\nConnection: close\r\n\r\n", end => 'close' });
listed('after 100 and 103', { %list, interim => [100, 103, 103] });
failed('503 after 100', { status => 503, interim => [100] }, 'http 503');
acknowledged('204 after 103', { status => 204, interim => [103] });
listed('one byte at a time', { %list, drip => [1, 0.002] });
listed('closed after it', { %list, end => 'close' });
listed('closed without notice', { %list, end => 'fin' });
listed('closed by Connection: close', { %list, end => 'close',
    headers => [Connection => 'close'] });

# encodings that nobody has asked for

listed($_, { %list, encoding => $_ }) for qw/gzip deflate/;
listed('gzip, chunked', { %list, encoding => 'gzip', chunked => [3, 5] });
listed('identity', { %list, headers => ['Content-Encoding' => 'identity'] });
acknowledged('gzip of much', { encoding => 'gzip',
                               body => '{"failed":["' . 'x' x 5_000_000 });
failed('brotli', { %list, headers => ['Content-Encoding' => 'br'] },
       'connection');
failed('not gzip', { %list, headers => ['Content-Encoding' => 'gzip'] },
       'connection');
failed('gzip that breaks off', { %list, encoding => 'gzip', encoded_cut => 20 },
       'connection');
failed('503 in gzip', { status => 503, body => 'no', encoding => 'gzip' },
       'http 503');

# what breaks off

failed('closed at once', { cut => 0, end => 'close' }, 'connection');
failed('reset at once', { cut => 0, end => 'reset' }, 'connection');
failed("$_->[0] in the $_->[1]",
       { %list, cut => $_->[2], end => $_->[0] }, 'connection')
    for map { my $how = $_; [$how, 'status line', 10], [$how, 'head', 30],
              [$how, 'body', 'half'], [$how, 'whole body', 'head'] }
    qw/close fin reset/;
failed('a body that is shorter', { body => '{"failed":[', length => 60,
                                   end => 'close' }, 'connection');
failed('chunked without its end', { %list, chunked => [], last => 0,
                                    end => 'close' }, 'connection');
failed('chunked, in a chunk', { %list, chunked => [10], cut => 'half',
                                end => 'close' }, 'connection');
failed("$_->[0] without TLS' notice", { %list, @{ $_->[1] }, end => 'fin' },
       'connection')
    for ['HTTP/1.0 that ends', [http10 => 1]],
        ['HTTP/1.0 that ends in its body', [http10 => 1, cut => 'half']],
        ['HTTP/1.1 that ends', [raw_head => "HTTP/1.1 200 OK\r\n\r\n"]],
        ['a head alone that ends', [raw => "HTTP/1.1 200 OK\r\n\r\n"]];
failed("503 without TLS' notice", { status => 503, http10 => 1, end => 'fin' },
       'http 503');
acknowledged("204 without TLS' notice", { status => 204, end => 'fin' });
failed('a 204 that is none', { raw => "HTTP/1.1 2", end => 'close' },
       'connection');

# what is no HTTP

failed("no HTTP: $_->[0]", { raw => $_->[1], end => 'close' }, 'connection')
    for ['text', "hello\r\n\r\n"], ['a line', "\r\n\r\n\r\n"],
        ['no status', "HTTP/1.1 OK\r\n\r\n"],
        ['a short status', "HTTP/1.1 20\r\nContent-Length: 0\r\n\r\n"],
        ['HTTP/2', "\0\0\x0c\4\0\0\0\0\0\0\3\0\0\0\x64\0\4\0\1\0\0"],
        ['a length', "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"],
        ['a negative length', "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"],
        ['a chunk', "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
        ['an endless head', "HTTP/1.1 200 OK\r\n" . "X-A: " . 'x' x 300_000],
        ['endless headers', "HTTP/1.1 200 OK\r\n" . "X-A: b\r\n" x 50_000];

# before the request was read: a large one

my @large = map { $_ . 'x' x 200_000 } 'a' .. 'c';

acknowledged('an early 200', { at => 'head', large => 1 });
acknowledged('an early 200, in the middle', { at => 'half', large => 1 });
failed('an early 503', { at => 'head', status => 503, large => 1 }, 'http 503');
failed('an early 413, and closed', { at => 'half', status => 413, large => 1,
                                     body => 'too large' }, 'http 413');
failed('closed before it was read', { at => 'head', cut => 0, large => 1,
                                      end => 'reset' }, 'connection');

# all of them

my @vt = (visibilityTimeoutSeconds => 30);

my $hosts = 0;

# each by a name of its own: no row has the connection of another one

for my $row (@rows) {
    $row->{s} = $p->subscribe(queue => { @vt }, host => 'h' . ++$hosts
                                                        . '.example.com');
    $row->{s}->on($row->{behaviour}, {});
}

for my $row (@rows) {
    $row->{ids} = [$row->{s}->send($row->{behaviour}{large} ? @large
                                   : qw/m0 m1 m2/)];
}

for my $row (@rows) {
    my ($s, $name) = @$row{qw/s name/};
    my $again = join ' ', sort @{ $row->{ids} }[split ' ', $row->{again}];
    my ($first, @later, @m);

    # each message that failed comes again by itself

    wait_for {
        ($first, @later) = $s->requests;
        @m = map { @{ $_->{json}{messages} || [] } } @later;
        @m == @{ [split ' ', $again] }
        && ($again ne '' || $s->counts eq '0 0 0')
    } 10;

    is(join(' ', sort map { $_->{messageId} } @m), $again,
       "$name: what comes again") or diag($s->counts), next;
    is((grep { $_->{receiveCount} != 2 } @m), 0, "$name: for the second time");
    is((grep { $_->{headers}{'ezgh-delivery-id'}
               eq $first->{headers}{'ezgh-delivery-id'} } @later), 0,
       "$name: as another delivery");
    is(scalar @{ $first->{json}{messages} }, 3, "$name: after all three")
        if $first->{whole};

    my @r = ($first, @later);

    is($s->verify(grep { $_->{whole} } @r), '', "$name: signed");
    ok($s->done(5), "$name: then all is done");

    my $status = $s->status;

    is($status->{health}, 'healthy', "$name: healthy again");
    is(join(' ', map { $_->{class}, $_->{status} // () }
                 $status->{lastError} || ()),
       $row->{error} // '', "$name: the last error")
        or diag(explain($status->{lastError}));
    ok($status->{lastSuccessAt}, "$name: and a success");
}

is((grep { $_->{sni} !~ /^h\d+\.example\.com\z/ } $p->endpoint->connections), 0,
   'no redirect was followed');

# one after the other on a kept connection: an answer without a body leaves it
# as it was

my $kept = $p->subscribe(batchSize => 1, maxConcurrency => 1);

$kept->on({ status => 204 }, { %list }, { status => 204 }, { status => 304 },
          { chunked => [] }, { status => 503 }, {});
$kept->send(map { "k$_" } 1 .. 5);
ok($kept->done(10), 'all are done');
is(scalar keys %{ { map { $_->{connection} => 1 } $kept->requests } }, 1,
   'on one connection');

$p->finish;

done_testing;
