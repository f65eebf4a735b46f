#!/usr/bin/perl

# Names of endpoints: each delivery asks for all addresses, and one that is not
# allowed refuses it; what DNS servers answer otherwise.

use strict;
use warnings;

use IO::Socket::IP;
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Push;
use NgxQueues::Wait;

# 127.0.0.0/8 is allowed here, and nothing else that is not public

my %refused = (
    (map { ("a-$_" =~ tr/./-/r => { A => [$_] }) } qw/10.0.0.1 172.16.0.1
        192.168.1.1 100.64.0.1 169.254.169.254 0.0.0.0 192.0.0.1 192.0.2.1
        198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1
        255.255.255.255/),
    (map { my ($name, $address) = @$_; ("b-$name" => { AAAA => [$address] }) }
        ['one', '::1'], ['none', '::'], ['link', 'fe80::1'], ['site', 'fec0::1'],
        ['ula', 'fd00::1'], ['multicast', 'ff02::1'],
        ['mapped', '::ffff:10.0.0.1'], ['nat64', '64:ff9b::a00:1'],
        ['nat64-local', '64:ff9b:1::a00:1'], ['6to4', '2002:a00:1::'],
        ['teredo', '2001:0:a00:1::'], ['compatible', '::10.0.0.1'],
        ['documentation', '2001:db8::1']),
    'mixed' => { A => ['127.0.0.1', '10.0.0.1'] },
    'mixed-first' => { A => ['10.0.0.1', '127.0.0.1'] },
    'mixed-families' => { A => ['127.0.0.1'], AAAA => ['::1'] },
    'many' => { A => [(map { "127.0.0.$_" } 1 .. 50), '10.0.0.1'] },
    'cname-private' => { CNAME => 'private.example.com' },
    'private' => { A => ['10.0.0.1'] },
);

my %unknown = (
    'nx' => { rcode => 'NXDOMAIN' },
    'servfail' => { rcode => 'SERVFAIL' },
    'refuses' => { rcode => 'REFUSED' },
    'empty' => {},
    'loop' => { CNAME => 'loop.example.com' },
    'loop-1' => { CNAME => 'loop-2.example.com' },
    'loop-2' => { CNAME => 'loop-1.example.com' },
    'cname-nowhere' => { CNAME => 'nx.example.com' },
);

my %fine = (
    'plain' => { A => ['127.0.0.1'] },
    'cname' => { CNAME => 'plain.example.com' },
    'cname-bare' => { CNAME => 'cname.example.com', bare => 1 },
    'ttl' => { A => ['127.0.0.1'], ttl => 0 },
    'first-is-away' => { A => ['127.0.0.2', '127.0.0.1'] },
    'truncated' => { A => ['127.0.0.1'], truncate => 1 },
    'long' => { A => [map { "127.0.0.$_" } 1 .. 50] },
    'slow' => { A => ['127.0.0.1'], delay => 0.7 },
);

my %names = (%refused, %unknown, %fine, 'quiet' => { drop => 1 },
    'late' => { A => ['127.0.0.1'], delay => 4 },
    'later' => { A => ['127.0.0.1'], delay => 2 },
    'rebound' => { A => ['127.0.0.1'], ttl => 0 },
    'turns' => { A => ['127.0.0.1'], ttl => 0, next => [{ A => ['10.0.0.1'] }] });

# nginx would take a loop for an answer that never comes; some names alone have
# no AAAA, and none at all is an answer too

my $p = NgxQueues::Push->new(dns => { map { ("$_.example.com" => $names{$_}) }
                                      keys %names });
my ($e, $dns) = ($p->endpoint, $p->dns);
my %s;

sub subscribe {
    my ($name, %o) = @_;

    $s{$name} = $p->subscribe(host => "$name.example.com", path => "/$name",
        queue => { visibilityTimeoutSeconds => 20 }, timeoutSeconds => 3, %o);
    $s{$name}->send('x');
}

# a pause while the name is looked up: nothing was delivered

subscribe('late', timeoutSeconds => 20);
wait_for { $dns->queries('late.example.com') };
is($s{late}->counts, '0 1 0', 'a message of a name that is looked up');
$s{late}->pause;
ok(wait_for(sub { $s{late}->counts eq '1 0 0' }, 2), 'is back after a pause');
is(($s{late}->queue->receive)[0]{receiveCount}, 1, 'and was not received');

subscribe($_) for sort(keys %refused), sort(keys %unknown), 'quiet',
                  sort(keys %fine);

for my $name (sort keys %fine) {
    ok($s{$name}->done(8), "$name: delivered");
    is($s{$name}->last_error, '', "$name: without an error")
        or diag(explain($s{$name}->status));

    my ($r) = $s{$name}->requests;

    is($r && $r->{sni}, "$name.example.com", "$name: by its name");
    is($r && $r->{headers}{host}, "$name.example.com:" . $e->port,
       "$name: and for it");
}

ok((grep { $_->{tcp} } $dns->queries('long.example.com')), 'some by TCP');

sub fails {
    my ($class, @names) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    for my $name (@names) {
        ok(wait_for(sub { $s{$name}->last_error =~ /^$class\z/ }, 6),
           "$name: $class") or diag(explain($s{$name}->status));
        is(scalar @{ [$s{$name}->requests] }, 0, "$name: no request");

        my ($message) = map { $_->{message} } $s{$name}->status->{lastError};

        note("$name: $message");
    }
}

fails('refused', sort keys %refused);

# a name that is answered too late, or in circles, may be either

fails('timeout', 'quiet');
fails('connection', grep { !/loop|refuses|servfail/ } sort keys %unknown);
fails('(?:connection|timeout)', grep { /loop|refuses|servfail/ }
                                sort keys %unknown);

my ($m) = map { $_->{message} } $s{'a-10-0-0-1'}->status->{lastError};

like($m, qr/address/, 'the reason is told');
unlike($m, qr/10\.0\.0\.1/, 'and not what was found out');

# attempts that were refused wait for the next one

is($s{'a-10-0-0-1'}->counts, '0 1 0', 'the message waits');

# the answer changes: while a connection is kept, and between two deliveries

subscribe('rebound');
ok($s{rebound}->done(5), 'a name of ours');
$dns->set('rebound.example.com' => { A => ['10.0.0.1'], ttl => 0 });

# nginx knows an answer for a second, whatever its TTL

my $before = @{ [$s{rebound}->requests] };
my $turned = time;

ok(wait_for(sub {
    $s{rebound}->send('y');
    wait_for { $s{rebound}->last_error ne ''
               || $s{rebound}->requests > $before } 1;
    $before = $s{rebound}->requests;
    $s{rebound}->last_error eq 'refused'
}, 8), 'is not any more');
$before = @{ [$s{rebound}->requests] };
$s{rebound}->send('z') for 1 .. 3;
ok($s{rebound}->quiet(1.5), 'nothing goes to the connection that was kept');
$dns->set('rebound.example.com' => { A => ['127.0.0.1'], ttl => 0 });
ok($s{rebound}->done(25), 'and all comes when it is again');

# a connection goes to an address that was checked, not to another answer

subscribe('turns');
ok($s{turns}->done(5), 'the answer that was checked is the one that is used');

# no DNS server

$dns->down;

my $down = $p->subscribe(host => 'never-asked.example.com', timeoutSeconds => 1);

$down->send('x');
ok(wait_for(sub { $down->last_error =~ /^(?:timeout|connection)\z/ }, 6),
   'no DNS server');
$dns->up;
ok($down->done(10), 'it is delivered when there is one');

# a subscription that is deleted, and a reload, while names are looked up

my @late = map { $p->subscribe(host => 'later.example.com') } 1 .. 3;

$_->send('x') for @late;
wait_for { $late[0]->counts eq '0 1 0' };
$late[0]->delete;
is($p->client->delete($late[1]->queue->path)->{status}, 204, 'a queue is deleted');
$p->server->reload;
ok($late[2]->done(20), 'a reload lets look-ups end');
is(scalar @{ [map { $_->requests } @late[0, 1]] }, 0, 'nothing for those');

# IPv6 alone, after an address of IPv4 at which nobody listens

SKIP: {
    skip 'no IPv6 here', 3 if !IO::Socket::IP->new(LocalHost => '::1',
                                                   LocalPort => 0, Listen => 1);

    my $six = NgxQueues::Push->new(endpoint => { host => '::1' },
        push => 'queues_push_allow_address ::1;',
        dns => { 'six.example.com' => { AAAA => ['::1'] },
                 'both.example.com' => { A => ['127.0.0.1'],
                                         AAAA => ['::1'] } });

    for my $name (qw/six both/) {
        my $s = $six->subscribe(host => "$name.example.com");

        $s->send('x');
        ok($s->done(5), "IPv6: $name") or diag(explain($s->status));
    }

    $six->finish;
}

$p->finish;

done_testing;
