#!/usr/bin/perl

# Deliveries as they should be: the request to its last byte, its signatures,
# batches, and that they come at once.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Push;
use NgxQueues::Wait;

my $p = NgxQueues::Push->new;
my $port = $p->endpoint->port;

# one message

my $s = $p->subscribe(path => '/orders?a=%2f&b');

like($s->is('subscription'), qr/^qsb_[0-9a-hjkmnp-tv-z]{12}\z/, 'an id');
like($s->is('signingSecret'), qr/^whsec_[A-Za-z0-9]{43}\z/,
     'a secret, the same in base64 and base64url');
is($s->is('state'), 'active', 'active');

my ($id) = $s->send({ body => '{"orderId": "o-123"}',
                      attributes => { source => 'checkout' } });
my ($r) = $s->wait(1, answered => 1);

is($r->{method}, 'POST', 'the method');
is($r->{uri}, '/orders?a=%2f&b', 'the path as it was given');
like($r->{head}, qr{^POST /orders\?a=%2f&b HTTP/1\.1\r\n}, 'HTTP/1.1');
is($r->{sni}, 'hooks.example.com', 'the name in SNI');

my $h = $r->{headers};
my %rest = %$h;

is(delete $rest{host}, "hooks.example.com:$port", 'Host');
is(delete $rest{'user-agent'}, 'ngx_queues', 'User-Agent');
is(delete $rest{'content-type'}, 'application/json', 'Content-Type');
is(delete $rest{'content-length'}, length $r->{body}, 'Content-Length');
is(delete $rest{'accept-encoding'}, 'identity', 'Accept-Encoding');
is(join(' ', sort keys %rest), 'ezgh-delivery-id ezgh-signature webhook-id'
   . ' webhook-signature webhook-timestamp', 'and those of a delivery');
like($r->{head}, qr/^EZGH-Signature: .*^EZGH-Delivery-Id: /ms,
     'names as they are written');

my ($delivery, $queue) = ($r->{json}{deliveryId}, $s->queue->is('queue'));
my $sent = $r->{json}{messages}[0]{sentAt};

is($r->{body}, '{"subscription":"' . $s->is('subscription')
   . qq{","queue":"$queue","deliveryId":"$delivery","messages":[}
   . qq({"messageId":"$id","body":"{\\"orderId\\": \\"o-123\\"}",)
   . qq("attributes":{"source":"checkout"},"sentAt":"$sent",)
   . '"receiveCount":1}]}', 'the body');
like($sent, qr/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/, 'a time');
is($s->verify($r), '', 'the signatures');

my ($high, $low) = map { hex } $delivery =~ /^(.{8})-(.{4})/;

cmp_ok(abs(($high * 65536 + $low) / 1000 - time), '<', 5, 'the delivery id is of now');
ok($s->done(5), 'it is acknowledged');

# at once, again and again: on one connection, each with an id of its own

my (@late, %ids);

for my $i (1 .. 20) {
    my $begin = time;

    $s->send("no $i");

    my @r = $s->wait(1 + $i);

    push @late, sprintf '%.3f', $r[-1]{time} - $begin
        if $r[-1]{time} - $begin > scaled(0.25);
    $ids{ $r[-1]{json}{deliveryId} } = 1;
}

is("@late", '', 'an idle subscription delivers at once');
is(scalar keys %ids, 20, 'each delivery has an id of its own');
is($s->verify($s->requests), '', 'all signatures');
ok($s->done(5), 'all are acknowledged');
is(scalar @{ [$s->requests] }, 21, 'each came once');

# bodies and attributes byte for byte: as they stand in the text that was sent

my @odd = (
    '"\u0000"', '"a\u0000b\u001f\u007f"', "\"\x7f\"", '"\ud800"', '"\udc00x"',
    '"\ud83d\ude0a"', "\"\xf0\x9f\x98\x8a\"", "\"\xc3\xa9\xe2\x82\xb9\"",
    '"\u00e9\u20b9"', '"\u2028"', "\"\xe2\x80\xa8\"", '"<\/script></"', '"\/"',
    '"\\\\\\""', '"\b\f\n\r\t"', "\"\xef\xbf\xbf\"", '"\uFFFE"', '" "',
    '"{\"failed\":[]}"', '"\\\\u0041"',
);

my $o = $p->subscribe(state => 'paused', batchSize => 7,
                     maxConcurrency => 1);

for my $text (@odd) {
    my $sent = $o->queue->post('/messages',
        qq({"body":$text,"attributes":{ "k" :$text}}));

    is($sent->{status}, 201, 'sent') or diag($text, $sent->{body});
}

$o->resume;

my @m = map { $_->{body} =~ /\{("messageId":.*?"receiveCount":\d+)\}/g }
    $o->wait(3);

is(scalar @m, @odd, 'all came');

for my $i (0 .. $#odd) {
    like($m[$i], qr/"body":\Q$odd[$i]\E,"attributes":\{ "k" :\Q$odd[$i]\E\},/,
         "$odd[$i]");
}

is($o->verify($o->requests), '', 'signed as they are');

# large ones

my $large = $p->subscribe(queue => { visibilityTimeoutSeconds => 60 },
                          state => 'paused');

$large->send(map { $_ x 262_144 } 'a' .. 'c');
$large->send($_ x 262_144) for 'd' .. 'j';
$large->resume;
@m = $large->wait_messages(10, seconds => 20);

is(join('', map { substr $_->{body}, 0, 1 } @m), 'abcdefghij', 'in order');
is((grep { length $_->{body} == 262_144 } @m), 10, 'whole');
is($large->verify($large->requests), '', 'and signed');
ok($large->done(10), 'acknowledged');

# batches

my $by = $p->subscribe(state => 'paused', batchSize => 10);
my $one = $p->subscribe(state => 'paused', batchSize => 1, maxConcurrency => 2);

$by->send(map { "m$_" } 1 .. 25);
$one->send(map { "m$_" } 1 .. 5);
$_->resume for $by, $one;
$by->wait_messages(25);
$one->wait_messages(5);

is(join(' ', sort map { scalar @{ $_->{json}{messages} } } $by->requests),
   '10 10 5', 'as many as there may be in a batch');
is(join(' ', map { scalar @{ $_->{json}{messages} } } $one->requests),
   '1 1 1 1 1', 'one each');
ok($one->done(5), 'all are done');
cmp_ok($one->most, '<=', 2, 'not more than maxConcurrency at once');

my %once;

$once{ $_->{messageId} }++ for $by->messages, $one->messages;
is(scalar keys %once, 30, 'each message once');

# as many at once as may be

my $wide = $p->subscribe(batchSize => 1, maxConcurrency => 40);

$wide->on({ hold => 'wide' });
$wide->send(map { "w$_" } 1 .. 60);
$wide->wait(40);
ok($wide->quiet(0.5), 'no more than maxConcurrency');
is($wide->open, 40, 'all of them open');
$p->endpoint->release('wide', always => 1);
ok($wide->done(10), 'and the rest comes');
is($wide->most, 40, 'never more at once');

# attempts and receives are counted together

my $both = $p->subscribe(state => 'paused');

$both->send('x');
is($both->queue->visibility(0, $both->queue->receive), 'ok', 'a receive');
$both->resume;
is(($both->wait_messages(1))[0]{receiveCount}, 2, 'is counted');

# FIFO: its fields, groups in order

my $f = $p->subscribe(state => 'paused', queue => { kind => 'fifo' });
my $dedup = 0;

sub of {
    my ($group, $body) = @_;

    return { groupId => $group, body => $body, deduplicationId => "d" . ++$dedup };
}

$f->send(of(a => 'a1'), of(b => 'b1'), of(a => 'a2'), of('c d', 'c1'),
         of(a => 'a3'), of(b => 'b2'));
$f->resume;
@m = $f->wait_messages(6);

for my $group ('a', 'b', 'c d') {
    my @of = grep { $_->{groupId} eq $group } @m;

    is(join(' ', map { "$_->{body}:$_->{seq}" } @of),
       join(' ', map { substr($group, 0, 1) . "$_:$_" } 1 .. @of),
       "the group $group in order");
}

like(($f->requests)[0]{body},
     qr/"receiveCount":1,"groupId":"[^"]+","seq":"\d+"\}/, 'the fields');
is($f->verify($f->requests), '', 'signed');
ok($f->done(5), 'acknowledged');

# a group that is being delivered is nobody else's

my $taken = $p->subscribe(state => 'paused', queue => { kind => 'fifo' });

$taken->on({ hold => 'taken' });
$taken->send(of(a => 'a1'));
$taken->resume;
$taken->wait(1);
$taken->pause;
$taken->send(of(a => 'a2'), of(b => 'b1'));
is(join(' ', map { $_->{body} } $taken->queue->receive(maxMessages => 10)), 'b1',
   'a receive has the other group only');
$p->endpoint->release('taken', always => 1);
is(($taken->queue->receive(waitSeconds => 5))[0]{body}, 'a2',
   'and the group when it is free');

# other forms of the same URL, and other names for the queue

my $root = $p->subscribe(url => "HTTPS://Hooks.EXAMPLE.com.:$port", path => '/');

$root->send('x');
($r) = $root->wait(1);
is($r->{uri}, '/', 'no path is /');
is($r->{headers}{host}, "hooks.example.com:$port", 'Host in lower case');
is($r->{sni}, 'hooks.example.com', 'SNI as well');

# the owner of the names of headers

my $other = NgxQueues::Push->new(push => 'queues_push_header_prefix Acme;');
my $acme = $other->subscribe;

$acme->send('x');
($r) = $acme->wait(1);
like($r->{head}, qr/^Acme-Signature: t=\d+,v1=\w{64}\r$/m, 'another prefix');
like($r->{head}, qr/^Acme-Delivery-Id: [0-9a-f-]{36}\r$/m, 'of both');
unlike($r->{head}, qr/EZGH/i, 'and nothing else');
$other->finish;

# a node that does not deliver

my $off = NgxQueues::Push->new(push => 'queues_push off;');
my $idle = $off->subscribe;

$idle->send('x');
ok($idle->quiet(1), 'queues_push off: no deliveries');
is($idle->counts, '1 0 0', 'the message is there');
$off->finish;

$p->finish;

done_testing;
