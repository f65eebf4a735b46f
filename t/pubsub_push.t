#!/usr/bin/perl

# Pushes of Pub/Sub as they should be: wrapped and unwrapped requests to their
# last byte, metadata and what does not become a header, ordering, and endpoints
# with and without TLS, of names and of addresses.

use strict;
use warnings;

use JSON::PP ();
use MIME::Base64 qw/encode_base64 decode_base64/;
use POSIX 'strftime';
use Test::More;

use NgxQueues::Endpoint;
use NgxQueues::PubsubPush;
use NgxQueues::Wait;

my $p = NgxQueues::PubsubPush->new(workers => 2);
my $api = $p->api;

sub names { join ' ', sort keys %{ $_[0]{headers} } }
sub b64 { encode_base64($_[0], '') }

# a time as the API has it, of a messageId

sub time_of {
    my ($ms) = $_[0] =~ /^(\d+)\d{6}\z/ or die "messageId $_[0]";

    return strftime('%Y-%m-%dT%H:%M:%S', gmtime int $ms / 1000)
           . ($ms % 1000 ? sprintf('.%03d', $ms % 1000) : '') . 'Z';
}

# wrapped

for my $tls (0, 1) {
    my $what = $tls ? 'with TLS' : 'without TLS';
    my $s = $p->subscribe(tls => $tls, path => "/orders$tls?a=%2f&b");
    my ($id) = $s->publish({ data => b64('Hello'),
                             attributes => { key => 'value' },
                             orderingKey => 'some key' });
    my ($r) = $s->wait(1, answered => 1);
    my $time = time_of($id);

    is($r->{method}, 'POST', "$what: the method");
    is($r->{uri}, "/orders$tls?a=%2f&b", "$what: the path as it was given");
    is($r->{headers}{host}, ($tls ? 'hooks.example.com:' : '127.0.0.1:')
       . ($tls ? $p->tls : $p->plain)->port, "$what: Host");
    is($r->{headers}{'content-type'}, 'application/json',
       "$what: Content-Type");
    is($r->{headers}{'user-agent'}, 'ngx_queues', "$what: User-Agent");
    is($r->{headers}{'accept-encoding'}, 'identity', "$what: Accept-Encoding");
    is(names($r), 'accept-encoding content-length content-type host user-agent',
       "$what: and nothing else: no signature, no token");
    is($r->{sni}, $tls ? 'hooks.example.com' : undef, "$what: SNI");
    is($r->{body}, '{"message":{"attributes":{"key":"value"},"data":"SGVsbG8=",'
       . qq("messageId":"$id","message_id":"$id","orderingKey":"some key",)
       . qq("publishTime":"$time","publish_time":"$time"},"subscription":")
       . $s->full . '"}', "$what: the body");
    ok($s->done(5), "$what: it is acknowledged");

    # what is empty is left out

    my ($only) = $s->publish({ attributes => { a => '' } });

    is(($s->wait(2))[1]{body} =~ s/"publish_?[tT]ime":"[^"]*",?//gr,
       '{"message":{"attributes":{"a":""},'
       . qq("messageId":"$only","message_id":"$only",},)
       . '"subscription":"' . $s->full . '"}', "$what: attributes alone");

    my ($data) = $s->publish('x');

    like(($s->wait(3))[2]{body}, qr/^\{"message":\{"data":"eA==","messageId":/,
         "$what: data alone");
    ok($s->done(5), "$what: all are acknowledged");

    my @r = $s->requests;

    is(scalar(@r), 3, "$what: each came once");
    is($r[-1]{connection}, $r[0]{connection}, "$what: on one connection");
}

# texts: as they are

my $odd = $p->subscribe;
my %odd = (
    "\x{e9}\x{20b9}\x{1f60a}" => "\x{2028}</script>", '"\\/' => "\t\r\n\0\x1f\x7f",
    'goo' => 'g', ' ' => ' ', 'a.b:c/d' => '',
);

$odd->publish({ data => b64(join '', map { chr } 0 .. 255), attributes => \%odd,
                orderingKey => "\x{e9}\"\\\n" });

my ($r) = $odd->wait(1);

is_deeply($r->{json}{message}{attributes}, \%odd, 'odd attributes');
is($r->{json}{message}{orderingKey}, "\x{e9}\"\\\n", 'an odd ordering key');
is(decode_base64($r->{json}{message}{data}), join('', map { chr } 0 .. 255),
   'all bytes');

# unwrapped: the data alone

my $n = $p->subscribe(push => { noWrapper => {} });

$n->publish({ data => b64(join '', map { chr } 0 .. 255),
              attributes => { key => 'value', 'Content-Type' => 'text/plain' },
              orderingKey => 'k' },
            { attributes => { key => 'value' } },
            { data => b64('') , attributes => { x => 'y' } }, '{"a":1}');

my @r = sort { $b->{headers}{'content-length'} <=> $a->{headers}{'content-length'} }
    $n->wait(4);

is($r[0]{body}, join('', map { chr } 0 .. 255), 'unwrapped: all bytes');
is($r[1]{body}, '{"a":1}', 'unwrapped: others');
is("$r[2]{body}$r[3]{body}", '', 'unwrapped: no data');

for (@r) {
    is(names($_), 'accept-encoding content-length content-type host user-agent',
       'unwrapped: no metadata');
    is($_->{headers}{'content-type'}, 'application/octet-stream',
       'unwrapped: Content-Type');
}

ok($n->done(5), 'unwrapped: all are acknowledged');

# with metadata

my $m = $p->subscribe(push => { noWrapper => { writeMetadata => JSON::PP::true } });

sub heads {
    my ($message) = @_;

    my $before = $m->requests;
    my ($id) = $m->publish($message);
    my $r = ($m->wait($before + 1))[-1];
    my %h = %{ $r->{headers} };

    delete @h{qw/host content-length/};

    return ($r, $id, %h);
}

my ($req, $id, %h) = heads({ data => b64('{"status": "Hello there"}'),
    attributes => { 'Content-Type' => 'application/json', Custom => 'v 1' },
    orderingKey => 'some-key' });

is($req->{body}, '{"status": "Hello there"}', 'metadata: the data');
is_deeply(\%h, {
    'accept-encoding' => 'identity', 'user-agent' => 'ngx_queues',
    'content-type' => 'application/json', custom => 'v 1',
    'x-goog-pubsub-subscription-name' => $m->full,
    'x-goog-pubsub-message-id' => $id,
    'x-goog-pubsub-publish-time' => time_of($id),
    'x-goog-pubsub-ordering-key' => 'some-key',
}, 'metadata: the headers');
like($req->{head}, qr/^Custom: v 1\r$/m, 'names as they are written');
like($req->{head}, qr/^Custom: .*^x-goog-pubsub-subscription-name: /ms,
     'metadata last');

($req, $id, %h) = heads('no key');
ok(!exists $h{'x-goog-pubsub-ordering-key'}, 'no ordering key: no header');
is($h{'content-type'}, 'application/octet-stream', 'no attribute: no type');

# hostile ones: what is no header, and what would be somebody else's

my %hostile = (
    (map { $_ => 'evil' } qw/Host host CONTENT-LENGTH Content-Length
        Transfer-Encoding transfer-encoding Connection Keep-Alive TE Trailer
        Upgrade Expect Authorization authorization Proxy-Authorization Cookie
        Proxy-Connection Accept-Encoding X-Goog-Pubsub-Message-Id
        x-goog-pubsub-subscription-name x-goog-pubsub-anything webhook-id
        EZGH-Signature X-Forwarded-For Via/),
    (map { $_ => 'evil' } 'a b', 'a:', 'a:b', ':', "a\r\nevil: 1\r\nx", "a\n",
        "a\0b", "\x{e9}", 'a(b)', 'a"', "a\t", '{}', ' a', 'a,b', '='),
    value1 => "evil\r\nEvil: 1", value2 => "evil\n x", value3 => "evil\r",
    value4 => "evil\0", value5 => "evil\x{e9}", value6 => "evil\x7f",
    value7 => "evil\x{1f60a}", value8 => "evil\t\x01",
    "a'!#\$%&*+-.^_`|~9" => 'good', good => q(!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~ x),
    empty => '',
);

($req, $id, %h) = heads({ data => b64('hostile'), attributes => \%hostile });

is($req->{body}, 'hostile', 'hostile attributes: the body is that long');
unlike($req->{head}, qr/evil/i, 'nothing of them is in the head');
is($h{good}, $hostile{good}, 'printable ones are');
is($h{"a'!#\$%&*+-.^_`|~9"}, 'good', 'with all that a name may have');
is($h{empty}, '', 'and an empty one');
is($h{'x-goog-pubsub-message-id'}, $id, 'metadata is ours');
is(scalar(() = $req->{head} =~ /^(?:host|content-length|content-type|user-agent|
        accept-encoding|x-goog-pubsub-message-id):/gmix), 6, 'and once');

($req, $id, %h) = heads({ data => b64('x'), attributes => {
    'content-type' => 'a/b', 'Content-Type' => 'c/d', 'User-Agent' => 'me' } });

is(scalar(() = $req->{head} =~ /^content-type:/gmi), 1, 'one type of several');
is($h{'user-agent'}, 'me', 'another User-Agent');

($req, $id, %h) = heads({ data => b64('x'), orderingKey => "a\r\nEvil: 1" });
unlike($req->{head}, qr/evil/i, 'an ordering key that is no value');
($req, $id, %h) = heads({ data => b64('x'), orderingKey => 'k' x 1024 });
is($h{'x-goog-pubsub-ordering-key'}, 'k' x 1024, 'a long one');

# as many as there may be: some of them

($req, $id, %h) = heads({ data => b64('many'), attributes => {
    map { sprintf('many-%02d', $_) => 'x' x 1024 } 0 .. 99 } });

my @many = grep { /^many-/ } keys %h;

is($req->{body}, 'many', 'many attributes: the data comes');
is(scalar(@many), 7, 'and what fits into 8,192 bytes of lines');
is((grep { length $h{$_} != 1024 } @many), 0, 'as a whole');
is($h{'x-goog-pubsub-message-id'}, $id, 'and all of the metadata');

# any 2xx acknowledges; a redirect is not followed

for my $status (200, 201, 202, 203, 204, 206, 226, 299) {
    my $s = $p->subscribe(name => "status$status");

    $s->on({ status => $status, body => $status == 204 ? '' : 'what ever' });
    $s->publish('x');
    $s->wait(1, answered => 1);
    ok($s->done(5), "$status acknowledges");
    is(scalar(@{[ $s->requests ]}), 1, "$status: once");
}

for my $status (301, 302, 303, 307, 308) {
    my $s = $p->subscribe(name => "status$status");

    $s->on({ status => $status, headers => [Location => "/to$status"] }, {});
    $s->publish('x');
    $s->wait(2, answered => 1);
    ok($s->done(5), "$status does not");
    is(scalar(@{[ $p->plain->requests("/to$status") ]}), 0,
       "$status is not followed");
}

# large ones

my $large = $p->subscribe(tls => 1);
my $raw = $p->subscribe(topic => $large->topic, push => { noWrapper => {} });

$large->publish('0123456789abcdef' x 16_384);
($r) = $large->wait(1, answered => 1, seconds => 30);
is(length decode_base64($r->{json}{message}{data}), 262_144, '256 KiB');
ok($large->done(5), 'are acknowledged');
$large->delete;
$raw->publish('0123456789abcdef' x 262_144);
($r) = grep { length $_->{body} == 4_194_304 }
    $raw->wait(2, answered => 1, seconds => 30);
is($r->{body}, '0123456789abcdef' x 262_144, '4 MiB, unwrapped');
ok($raw->done(5), 'are acknowledged');

# ordering: one request of a key is open, and in order

my $o = $p->subscribe(enableMessageOrdering => JSON::PP::true);
my %sent;

$o->on({ delay => 0.02 });

for my $i (1 .. 60) {
    my $key = (qw/a b c/)[$i % 3];

    push @{ $sent{$key} }, $i;
}

$o->publish(map { my $key = (qw/a b c/)[$_ % 3];
                  { data => b64($_), orderingKey => $key } } 1 .. 60);
@r = $o->wait(60, answered => 1, seconds => 30);

for my $key (qw/a b c/) {
    my @of = grep { $_->{json}{message}{orderingKey} eq $key } @r;

    is($o->data(@of), "@{ $sent{$key} }", "key $key: in order");
    is((grep { $of[$_]{time} < $of[$_ - 1]{answered} - 0.002 } 1 .. $#of), 0,
       "key $key: one at a time");
}

is($o->most, 3, 'keys do not wait for one another');
ok($o->done(5), 'all are acknowledged');

# a failure holds up its own key

my $f = $p->subscribe(enableMessageOrdering => JSON::PP::true);

$f->on({ status => 500 }, {});
$f->publish(map { { data => b64($_), orderingKey => 'a' } } 1 .. 3);
$f->wait(4, answered => 1);
is($f->data, '1 1 2 3', 'what has failed comes again, and then the rest');
ok($f->done(5), 'all are acknowledged');

# endpoints of other hosts

my $local = $p->subscribe(name => 'local',
    url => 'http://localhost:' . $p->plain->port . '/local');

$local->publish('x');
($r) = $local->wait(1, answered => 1);
is($r->{headers}{host}, 'localhost:' . $p->plain->port, 'http://localhost');

my $address = NgxQueues::Endpoint->new(
    files => $p->push->tls->files('127.0.0.1'));
my $by_address = $p->subscribe(name => 'address', endpoint => $address,
    url => 'https://127.0.0.1:' . $address->port . '/address');

$by_address->publish('x', 'y');
($r) = $by_address->wait(2, answered => 1);
is($r->{headers}{host}, '127.0.0.1:' . $address->port, 'https:// an address');
ok(!length($r->{sni} // ''), 'which is no name for SNI');
ok($by_address->done(5), 'and is acknowledged');

my $wrong = $p->subscribe(name => 'wrong', endpoint => $p->tls,
    url => 'https://127.0.0.1:' . $p->tls->port . '/wrong');

$wrong->publish('x');
ok(wait_for(sub {
    $p->server->error_log =~ /certificate is for another address/
}, 10), 'a certificate of a name is not for an address');
is(scalar(@{[ $wrong->requests ]}), 0, 'nothing was sent there');

SKIP: {
    my $six = eval { NgxQueues::Endpoint->new(plain => 1, host => '::1') }
        or skip 'no IPv6', 2;
    my $s = $p->subscribe(name => 'six', endpoint => $six,
        url => 'http://[::1]:' . $six->port . '/six');

    $s->publish('x');
    ($r) = $s->wait(1, answered => 1);
    is($r->{headers}{host}, '[::1]:' . $six->port, 'http://[::1]');
    ok($s->done(5), 'it is acknowledged');
}

# without TLS an answer may end with its connection, but not before its length

my $ends = $p->subscribe(name => 'ends');

$ends->on({ http10 => 1, body => 'x' x 100 });
$ends->publish('x');
ok($ends->done(5), 'an answer until its connection ends');
is(scalar(@{[ $ends->requests ]}), 1, 'acknowledges');
$ends->on({ body => 'x', length => 100, end => 'close' }, { chunked => [3, 3],
    body => 'abcdefghi' });
$ends->publish('y');
$ends->wait(3, answered => 1);
ok($ends->done(5), 'a part of one does not, and one in chunks does');

# rules that are others than when it was made

$p->server->configure(http =>
    $p->push->directives =~ s/queues_push_allow_localhost on;//r);
$p->server->reload(drained => 15);
$local->publish('z');
ok(wait_for(sub { $p->server->error_log =~ m{/local" of .* failed: refused 0} },
            10), 'localhost without TLS is not allowed any more');
is(scalar(@{[ $local->requests ]}), 1, 'nothing was sent there');

# nothing of it is in the log

unlike($p->server->error_log, qr/Hello|some.key|evil/i, 'no message in the log');
$p->finish;

done_testing;
