#!/usr/bin/perl

# Tokens of Pub/Sub's pushes: their claims, verified by the library jose with what
# the issuer serves; that they are used again, keys that are rotated or gone.

use strict;
use warnings;

use JSON::PP ();
use MIME::Base64 'decode_base64url';
use Test::More;

use NgxQueues::Jwt;
use NgxQueues::Process qw/spawn reap slurp spurt/;
use NgxQueues::PubsubPush;
use NgxQueues::Wait;

my $client = "$NgxQueues::Process::top/t/client";
my $modules = "$NgxQueues::Process::top/build/client";
my $json = JSON::PP->new->utf8->canonical;
my ($one, $two) = map { NgxQueues::Jwt->rsa } 1 .. 2;

ok(-d "$modules/node_modules/jose", 'jose is installed')
    or diag('t/tools/install test');

my $discovery = 'location /.well-known/ { queues_oidc_discovery; }';
my $base;

sub http {
    return $base . 'queues_oidc_issuer http://127.0.0.1:%%PORT%%;'
           . join '', map { 'queues_oidc_key ' . $_->private . ';' } @_;
}

my $p = NgxQueues::PubsubPush->new(
    http => 'queues_oidc_issuer http://127.0.0.1:%%PORT%%; queues_oidc_key '
            . $one->private . ';',
    server => $discovery);

$base = $p->push->directives;

my $issuer = 'http://127.0.0.1:' . $p->server->port;
my $dir = $p->server->dir;
my $email = 'pusher@shop.iam.example.com';

sub token { ($_[0]{headers}{authorization} // '') =~ /^Bearer (\S+)\z/ ? $1 : '' }

sub part {
    my ($n, $request) = @_;

    return $json->decode(decode_base64url((split /\./, token($request))[$n]));
}

sub header { part(0, @_) }
sub claims { part(1, @_) }

# what jose says of tokens, each with its audience: header and claims, or why not

sub verify {
    unlink "$dir/jose";
    spurt("$dir/lines", join '', map {
        $json->encode({ issuer => $issuer, audience => $_->[0],
                        token => token($_->[1]) }) . "\n"
    } @_);

    my $status = reap(spawn({ out => "$dir/jose",
                              env => { MODULES => $modules } }, 'sh', '-c',
                            'exec node "$0" < "$1"', "$client/oidc.cjs",
                            "$dir/lines"), 30);

    is($status, 0, 'jose runs') or diag(slurp("$dir/jose"));

    return split /\n/, slurp("$dir/jose");
}

sub kids {
    my $keys = $p->server->client(key => undef)->get('/.well-known/jwks.json');

    return map { $_->{kid} } @{ $keys->{json}{keys} };
}

# an audience that is given, and one that is not

my $s = $p->subscribe(push => { oidcToken => { serviceAccountEmail => $email,
                                               audience => 'orders & co' } });
my $url = $p->subscribe(tls => 1, path => '/push?x=%2f',
    push => { oidcToken => { serviceAccountEmail => $email } });
my $unwrapped = $p->subscribe(push => {
    noWrapper => { writeMetadata => JSON::PP::true },
    oidcToken => { serviceAccountEmail => 'other@example.com' } });

$_->publish({ data => 'YQ==', attributes => { Authorization => 'evil' } })
    for $s, $url, $unwrapped;

my ($r) = $s->wait(1, answered => 1);
my ($of_url) = $url->wait(1, answered => 1);
my ($plain) = $unwrapped->wait(1, answered => 1);
my ($kid) = kids();

is_deeply(header($r), { alg => 'RS256', kid => $kid, typ => 'JWT' },
          'the header');

my $claims = claims($r);

is($claims->{iss}, $issuer, 'iss');
is($claims->{aud}, 'orders & co', 'aud');
is($claims->{email}, $email, 'email');
ok($claims->{email_verified}, 'email_verified');
like($claims->{sub}, qr/^\d+\z/, 'sub');
is($claims->{azp}, $claims->{sub}, 'azp');
is($claims->{exp} - $claims->{iat}, 3600, 'an hour');
cmp_ok(abs($claims->{iat} - time), '<=', 60, 'from now on');
is(claims($of_url)->{aud}, $url->url, 'no audience: the endpoint as given');
isnt(claims($plain)->{sub}, $claims->{sub}, 'another account, another sub');
is(scalar(() = $plain->{head} =~ /^authorization:/gmi), 1,
   'an attribute is no other one');
unlike($plain->{head}, qr/evil/, 'nor in it');

my @said = verify(['orders & co', $r], [$url->url, $of_url],
                  [$unwrapped->url, $plain], ['other', $r]);

for my $i (0 .. 2) {
    is(eval { $json->decode($said[$i])->{header}{kid} }, $kid, 'jose verifies it')
        or diag($said[$i]);
}

like($said[3], qr/unexpected "aud" claim value/, 'and not for another one');

# it is used again

$s->publish('b', 'c');
is(join(' ', map { token($_) eq token($r) ? 1 : 0 } $s->wait(3)), '1 1 1',
   'one token for all of them');
ok($s->done(5), 'they are acknowledged');

# no oidcToken, no header; and where it is taken away

my $none = $p->subscribe;

$none->publish('x');
ok(!exists(($none->wait(1))[0]{headers}{authorization}), 'none asked, none sent');
$s->configure({ pushEndpoint => $s->url });
$s->publish('d');
ok(!exists(($s->wait(4))[3]{headers}{authorization}), 'none any more');
$s->configure;

# a rotation

$p->server->configure(http => http($two, $one));
$p->server->reload(drained => 15);
$s->publish('e');

my $new = ($s->wait(5, answered => 1))[4];
my ($second) = kids();

is(header($new)->{kid}, $second, 'another key signs');
isnt($second, $kid, 'the new one');
@said = verify(['orders & co', $r], ['orders & co', $new]);
is(eval { $json->decode($said[0])->{header}{kid} }, $kid, 'the old one is known')
    or diag($said[0]);
is(eval { $json->decode($said[1])->{header}{kid} }, $second, 'and the new one')
    or diag($said[1]);

# no key any more: nothing is sent without a token

$p->server->configure(http => $base, server => '');
$p->server->reload(drained => 15);
$s->publish('f');
$none->publish('y');
ok(wait_for(sub { $p->server->error_log =~ /nothing is pushed for "\S+\/sub1": / },
            10), 'no key: the log says so');
like($p->server->error_log, qr/sub1" of .* failed: token 0/, 'a failure: token');
$none->wait(2, answered => 1);
is(scalar(@{[ $s->requests ]}), 5, 'nothing was sent');
is($s->count, 1, 'the message stays');

my $refused = $p->api->call($none->name, 'modifyPushConfig', { pushConfig => {
    pushEndpoint => $none->url, oidcToken => { serviceAccountEmail => $email } } });

is($refused->{json}{error}{status}, 'FAILED_PRECONDITION',
   'and no subscription can ask for one');

$p->server->configure(http => http($two), server => $discovery);
$p->server->reload(drained => 15);
is(header(($s->wait(6, answered => 1, seconds => 30))[5])->{kid}, $second,
   'with a key again it is sent');
ok($s->done(5), 'and acknowledged');

# no token is written down

my $log = $p->server->error_log . $p->server->access_log;

is((grep { index($log, token($_)) >= 0 } $r, $of_url, $plain, $new), 0,
   'no token in a log');
unlike($log, qr/\Q$email\E/, 'nor an account');
$p->finish;

done_testing;
