#!/usr/bin/perl

# Which endpoints a subscription may have, and that nothing of what is refused
# is kept: by create and by update.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;

my $s = NgxQueues::Server->new;
my $c = $s->client;
my $q = NgxQueues::Queue->new($s);
my $subs = '/v1/organizations/o/projects/p/subscriptions';

my $longest = 'https://hooks.example.com/' . 'a' x (2048 - 26);

my %refused = (
    'not https' => [qw{http://hooks.example.com/ ftp://hooks.example.com/
        hooks.example.com //hooks.example.com/ https:hooks.example.com
        https:/hooks.example.com/ javascript:alert(1) file:///etc/passwd
        unix:/run/redis.sock https https: https://}],
    'no host' => [qw{https:/// https://:443/ https://?a https://./ https://..
        https://a..example.com/ https://.example.com/}],
    'a user or a password' => [qw{https://user@hooks.example.com/
        https://user:pass@hooks.example.com/ https://@hooks.example.com/
        https://hooks.example.com@127.0.0.1/
        https://:pass@hooks.example.com/}],
    'a fragment' => ['https://hooks.example.com/#f', 'https://hooks.example.com/#',
        'https://hooks.example.com#f'],
    'another port' => [qw{https://hooks.example.com:8443/
        https://hooks.example.com:80/ https://hooks.example.com:0/
        https://hooks.example.com:65536/ https://hooks.example.com:443x/
        https://hooks.example.com:-443/ https://hooks.example.com:443:443/
        https://hooks.example.com:4294967739/}],
    'an IPv4 address' => [qw{https://127.0.0.1/ https://8.8.8.8/
        https://2130706433/ https://0x7f.1/ https://0x7f000001/
        https://017700000001/ https://127.1/ https://0177.0.0.1/
        https://127.0.0.1./ https://1.2.3.4.5/ https://169.254.169.254/
        https://0/ https://a.0x7f/ https://hooks.example.1/}],
    'an IPv6 address' => [qw{https://[::1]/ https://[::ffff:10.0.0.1]/
        https://[64:ff9b::a00:1]/ https://[2002:7f00:1::]/
        https://[2606:4700::1111]/ https://[::]/ https://[fe80::1%25eth0]/
        https://::1/ https://[hooks.example.com]/}],
    'a name that is not public' => [qw{https://localhost/ https://LOCALHOST/
        https://localhost./ https://a.LOCALHOST/ https://a.b.localhost./
        https://foo/ https://foo./ https://redis:443/ https://x.local/
        https://x.internal/ https://x.internal./ https://X.Internal/
        https://metadata.google.internal/ https://x.test/ https://x.svc/
        https://redis.default.svc/ https://ezghcloud.com/
        https://a.b.ezghcloud.com/ https://ezgh.app/ https://x.EZGH.app./
        https://local/ https://internal/ https://test/}],
    'odd characters' => ['https://hooks.example.com/a b',
        'https://hooks.example.com /', ' https://hooks.example.com/',
        'https://hooks.example.com/ ', "https://hooks.example.com/\r\nX: y",
        "https://hooks.example.com\t/", "https://hooks.example.com/\0",
        "https://hooks.example.com\0.evil.example/",
        'https://hooks.example.com\\@evil.example/',
        'https://hooks_1.example.com/', 'https://hooks%2eexample.com/',
        'https://-a.example.com/', 'https://a-.example.com/',
        'https://' . 'a' x 64 . '.example.com/',
        'https://' . join('.', ('a' x 60) x 5) . '.example.com/',
        "https://hooks\x{3002}example.com/", "https://hooks.\x{ff45}xample.com/",
        "https://127\x{ff0e}0\x{ff0e}0\x{ff0e}1/", "https://b\x{fc}cher.example/",
        "https://hooks.example.com/\x{fc}"],
    'too long' => ["${longest}a", "https://hooks.example.com/?" . 'a' x 3000],
);

my @fine = (
    qw{https://hooks.example.com https://hooks.example.com/
       https://hooks.example.com:443/x HTTPS://Hooks.Example.COM/A?b=c&d=%20
       https://hooks.example.com./ https://hooks.example.com?x=1
       https://xn--bcher-kva.example/ https://a-b.c-9.example.com/
       https://local.example.com/ https://localhost.example.com/
       https://notlocalhost.com/ https://notezgh.app/ https://test.example/
       https://1.example.com/ https://127.0.0.1.example.com/
       https://hooks.example.com/@a:b https://hooks.example.com/a//b/../c
       https://hooks.example.com/?url=http://127.0.0.1/},
    $longest, 'https://' . join('.', ('a' x 60) x 4) . '.com/',
);

my $name = $q->name;

sub create { $c->post($subs, { queueId => $name, target => { url => $_[0] } }) }

sub is_refused {
    my ($r, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $json = $r->{json} || {};

    is(join(' ', $r->{status}, $json->{error} // '', $json->{field} // ''),
       '400 invalid_argument target.url', $name)
        && like($json->{message}, qr/^The field "target\.url" must .*\.$/,
                'a sentence');
}

sub short {
    my ($url) = @_;

    return substr($url =~ s/([^!-~])/sprintf '\\x{%x}', ord $1/ger, 0, 70);
}

# create

for my $why (sort keys %refused) {
    is_refused(create($_), "$why: " . short($_)) for @{ $refused{$why} };
}

is($c->get($subs)->{body}, '{"subscriptions":[],"nextPageToken":null}',
   'nothing was made');

# a lone surrogate, in JSON

is_refused($c->post($subs, "{\"queueId\":\"$name\",\"target\":{\"url\":"
                           . '"https://hooks.example.com/\ud800"}}'),
           'a lone surrogate');
is_refused($c->post($subs, "{\"queueId\":\"$name\",\"target\":{\"url\":"
                           . '"https://\u006cocalhost/"}}'),
           'an escape in the JSON');

# update

my $r = create('https://first.example.com/');
my $id = $r->{json}{subscription};

for my $why (sort keys %refused) {
    is_refused($c->patch("$subs/$id", { target => { url => $_ } }),
               "update: $why: " . short($_)) for @{ $refused{$why} };
}

is($c->get("$subs/$id")->{json}{target}{url}, 'https://first.example.com/',
   'the URL stays');

# what is fine, kept as it was written

for my $url (@fine) {
    $r = $c->patch("$subs/$id", { target => { url => $url } });
    is("$r->{status} " . ($r->{json}{target}{url} // $r->{body}), "200 $url",
       'update: ' . short($url));
    is($c->get("$subs/$id")->{json}{target}{url}, $url, 'kept');

    $c->delete("$subs/$id");
    $r = create($url);
    is("$r->{status} " . ($r->{json}{target}{url} // $r->{body}), "201 $url",
       'create: ' . short($url));
    $id = $r->{json}{subscription} // '';
}

# what the administrator allows beside

$s->configure(http => <<'');
queues_push_allow_host hooks .svc A.internal;
queues_push_allow_port 8443 9000-9001;
queues_push_allow_localhost on;

$s->reload(drained => 20);

for my $url (qw{https://hooks/ https://x.y.svc/ https://a.Internal./
                https://hooks.example.com:8443/ https://hooks:9001/a
                https://localhost:9000/ https://x.localhost/}) {
    $r = $c->patch("$subs/$id", { target => { url => $url } });
    is("$r->{status} " . ($r->{json}{target}{url} // $r->{body}), "200 $url",
       "allowed: $url");
}

is_refused($c->patch("$subs/$id", { target => { url => $_ } }), "not allowed: $_")
    for qw{https://svc/ https://b.internal/ https://x.a.internal/
           https://hooks.example.com:8444/ https://hooks2/ https://127.0.0.1/
           https://127.0.0.1:9000/ https://[::1]:9000/ http://localhost/};

# how it is told

for (['http://a.example.com/', 'must begin with https://'],
     ['https://u@a.example.com/', 'must not have a user name or a password'],
     ['https://a.example.com/#', 'must not have a fragment'],
     ['https://10.0.0.1/', 'must have a DNS name, not an IP address']) {
    is($c->patch("$subs/$id", { target => { url => $_->[0] } })->{json}{message},
       "The field \"target.url\" $_->[1].", $_->[1]);
}

$s->finish;

done_testing;
