#!/usr/bin/perl

# TLS to endpoints: the certificate must be of the name, by a CA that is trusted
# and of today. Whoever is refused gets no byte of a request.

use strict;
use warnings;

use Test::More;

use NgxQueues::Push;
use NgxQueues::Tls;
use NgxQueues::Wait;

my $other_ca = NgxQueues::Tls->new;
my $p = NgxQueues::Push->new;
my $tls = $p->tls;

my $e = $p->another_endpoint(certificates => {
    'wrong.example.com' => $tls->files('other.example.com', 'example.com'),
    'deep.wrong.example.com' => $tls->files('*.example.com'),
    'address.example.com' => $tls->files('127.0.0.1'),
    'expired.example.com' => $tls->expired('expired.example.com'),
    'self.example.com' => $tls->self_signed('self.example.com'),
    'stranger.example.com' => $other_ca->files('stranger.example.com'),
});
my $old = $p->another_endpoint(version => 'TLSv1_1');
my $new = $p->another_endpoint(version => 'TLSv1_2');
my $plain = $p->another_endpoint;
my %demanding = map { $_ => $p->another_endpoint(version => $_,
                                                 demanding => 1) }
    qw/TLSv1_2 TLSv1_3/;

$plain->accepting(map { { do => 'plain' } } 1 .. 50);

my %refused = map { $_ => [$e, "$_.example.com"] }
    qw/wrong deep.wrong address expired self stranger/;

$refused{'TLS 1.1'} = [$old, 'old.example.com'];
$refused{'no TLS'} = [$plain, 'plain.example.com'];
$refused{"a certificate demanded by $_"} = [$demanding{$_}, 'due.example.com']
    for keys %demanding;

my %s;

for my $name (sort keys %refused) {
    my ($endpoint, $host) = @{ $refused{$name} };

    $s{$name} = $p->subscribe(endpoint => $endpoint, host => $host,
        queue => { visibilityTimeoutSeconds => 1 });
    $s{$name}->send('secret');
}

for my $name (sort keys %s) {
    my $s = $s{$name};

    ok(wait_for(sub { $s->last_error eq 'tls' }, 5), "$name: class tls")
        or diag(explain($s->status));

    my $status = $s->status;

    is($status->{health}, 'failing', "$name: failing");
    is($status->{lastSuccessAt}, undef, "$name: no success");
    ok(!exists $status->{lastError}{status}, "$name: no status");
    like($status->{lastError}{message}, qr/^[A-Z][^\n]{10,199}\z/,
         "$name: and a reason");
    note("$name: $status->{lastError}{message}");
    isnt($s->counts, '0 0 0', "$name: the message is kept");
}

is($s{$_}->status->{lastError}{message} =~ s/^The endpoint ended TLS: //r,
   $_ =~ /3/ ? 'certificate required.' : 'handshake failure.', "$_: said so")
    for grep { /demanded/ } sort keys %s;

# each attempt counts, and the next ones wait

$_->pause for values %s;

my ($m) = $s{self}->queue->receive(waitSeconds => 5);

cmp_ok($m->{receiveCount}, '>=', 2, 'attempts are counted');
$_->resume for values %s;

is((map { $_->requests } $e, $old, $plain, values %demanding), 0,
   'nobody has got a request');
is((grep { defined $_->{sni} && $_->{sni} !~ /^[a-z.]+\.example\.com\z/ }
    $e->connections), 0, 'all were asked by their name');

# they are not to take part in what follows

$s{$_}->pause for grep { $_ ne 'self' } keys %s;

# the same subscription, with an endpoint that is right

$s{self}->update(target => { kind => 'https',
    url => 'https://right.example.com:' . $e->port . '/right' });
$s{self}->send('x');
$e->wait(1, path => '/right');
ok(wait_for(sub { $s{self}->status->{health} eq 'healthy' }, 5), 'healthy');

# what is fine: a wildcard, TLS 1.2, 1.3

my $fine = $p->subscribe(endpoint => $new);

$fine->send('x');
is(($fine->wait(1))[0]{tls}, 'TLSv1_2', 'TLS 1.2');
ok($fine->done(5), 'is fine');
is(($e->requests('/right'))[0]{tls}, 'TLSv1_3', 'and 1.3');

# connections that end in the handshake

for my $how (qw/close reset/) {
    my $s = $p->subscribe(endpoint => $e, host => "$how.example.com");

    $e->accepting({ do => $how });
    $s->send('x');
    ok($s->done(10), "$how: the next attempt");
    like($s->last_error, qr/^(?:tls|connection)\z/, "$how: after an error");
    is(($s->messages)[0]{receiveCount}, 2, "$how: which counts");
}

# a name of which other names have a session does not take it over

my $first = $p->subscribe(endpoint => $e, host => 'right.example.com');

$first->send('x');
ok($first->done(5), 'a name that is right');

my $second = $p->subscribe(endpoint => $e, host => 'wrong.example.com');

$second->send('x');
ok(wait_for(sub { $second->last_error eq 'tls' }, 5),
   'one that is wrong remains so');
is(scalar @{ [$second->requests] }, 0, 'it gets nothing');

# without a trusted certificate of ours: the system's, of which this is none

my $system = NgxQueues::Push->new;

$system->server->configure(http =>
    $system->directives =~ s/queues_push_trusted_certificate [^;]*;//r);
$system->server->reload(drained => 10);

my $unknown = $system->subscribe;

$unknown->send('x');
ok(wait_for(sub { $unknown->last_error eq 'tls' }, 5), 'an unknown CA');
is(scalar @{ [$system->endpoint->requests] }, 0, 'gets nothing');

$_->finish for $system, $p;

done_testing;
