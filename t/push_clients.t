#!/usr/bin/perl

# The endpoints that the page gives to its readers, as they stand there (t/client),
# behind an nginx with TLS; and the library standardwebhooks.

use strict;
use warnings;

use JSON::PP ();
use MIME::Base64 'encode_base64';
use Test::More;

use NgxQueues::Client;
use NgxQueues::Go;
use NgxQueues::Process qw/spawn reap gone free_port temp_dir spurt slurp/;
use NgxQueues::Push;
use NgxQueues::Wait;

my $dir = temp_dir();
my $client = "$NgxQueues::Process::top/t/client";
my $modules = "$NgxQueues::Process::top/build/client";
my $json = JSON::PP->new->utf8->canonical;

my $p = NgxQueues::Push->new;
my $tls = $p->tls->files('*.example.com');

# TLS for them, as their readers have it

my %ports = map { $_ => [free_port(), free_port()] } qw/node go python/;
my $http = $p->directives . 'client_max_body_size 16m;'
    . "ssl_certificate $tls->{certificate}; ssl_certificate_key $tls->{key};"
    . join '', map {
        my ($public, $own) = @{ $ports{$_} };

        "server { listen 127.0.0.1:$public ssl; server_name $_.example.com;"
        . " location / { proxy_pass http://127.0.0.1:$own; } }"
    } sort keys %ports;

$p->server->configure(http => $http);
$p->server->reload;

sub up {
    my ($name, $pid) = @_;

    my $port = $ports{$name}[1];

    ok(wait_for(sub {
        !gone($pid) && IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port")
    }, 20), "$name runs") or diag(slurp("$dir/$name"));
}

my @all = ('plain', 'fail first', "\x{e9}\x{20b9}\x{1f60a} \x{2028} </script>",
           "a\0b\t\"\\", '{"failed":[]}', ' ', map { "no $_" } 1 .. 20);

sub works {
    my ($name, $path, @command) = @_;

    my $s = $p->subscribe(host => "$name.example.com", port => $ports{$name}[0],
        path => $path, state => 'paused',
        queue => { visibilityTimeoutSeconds => 1 });

    up($name, spawn({ out => "$dir/$name", env => {
        PORT => $ports{$name}[1], PYTHONPATH => $client,
        PYTHONDONTWRITEBYTECODE => 1,
        EZGH_QUEUES_SIGNING_SECRET => $s->is('signingSecret'),
    } }, @command));

    my @ids = $s->send(@all);

    $s->send({ body => 'x' x 250_000, attributes => { a => 'b' } }) for 1, 2;
    $s->resume;
    ok($s->done(15), "$name: all is acknowledged")
        or diag(slurp("$dir/$name"), explain($s->get));
    is($s->status->{health}, 'healthy', "$name: healthy");
    is($s->last_error, '', "$name: no signature was refused");

    my %handled;

    for (slurp("$dir/$name") =~ /^(\[.*\])$/mg) {
        my ($id, $body) = @{ $json->decode($_) };

        push @{ $handled{$id} }, $body;
    }

    is(scalar keys %handled, @all + 2, "$name: all were handled");
    is((grep { @$_ != 1 } values %handled), 0, "$name: each once");
    is(join("\n", map { $json->encode([$handled{ $ids[$_] }[0]]) } 0 .. $#all),
       join("\n", map { $json->encode([$_]) } @all), "$name: as they were sent");

    # a secret that it does not know

    my $other = $p->subscribe(host => "$name.example.com",
        port => $ports{$name}[0], path => $path);

    $other->send('x');
    ok(wait_for(sub { $other->last_error ne '' }, 5),
       "$name: a secret that it does not know");
    is($other->last_error, 'http 401', "$name: is refused");

    # during a rotation, the old one is enough

    $s->rotate;
    $s->send('after the rotation');
    ok($s->done(5), "$name: after a rotation, the previous secret is enough");
    is($s->last_error, '', "$name: it is at once");
    $other->delete;
}

works(node => '/', 'node', "$client/serve.mjs");
works(python => '/queues/orders', '/usr/bin/python3', "$client/serve.py");

works(go => '/', NgxQueues::Go::binary('client/endpoint'));

# standardwebhooks: deliveries as they came

ok(-d "$modules/node_modules/standardwebhooks", 'standardwebhooks is installed')
    or diag('t/tools/install test');

my $w = $p->subscribe(state => 'paused');

$w->send(@all);
$w->resume;
$w->wait_messages(scalar @all);
$w->done(5);
$w->rotate;
$w->send('rotated');

my @r = $w->wait(4);
my @lines;

sub line {
    my ($r, $secret, %change) = @_;

    push @lines, $json->encode({ secret => $secret,
        headers => { %{ $r->{headers} }, %change },
        body => encode_base64($r->{body}, '') });
}

line($_, ($w->secrets)[1]) for @r;
line($r[3], ($w->secrets)[0]);
line($r[0], ($w->secrets)[0]);
line($r[0], ($w->secrets)[1], 'webhook-id' => $r[1]{headers}{'webhook-id'});

spurt("$dir/lines", join "\n", @lines, '');
is(reap(spawn({ out => "$dir/webhooks", env => { MODULES => $modules } },
              'sh', '-c', 'exec node "$0" < "$1"', "$client/webhooks.cjs",
              "$dir/lines"), 20), 0, 'it runs');

my @said = split /\n/, slurp("$dir/webhooks");

is("@said[0 .. 4]", 'ok ok ok ok ok', 'deliveries, and both secrets');
like($said[$_], qr/No matching signature/, 'another secret; another id')
    for 5, 6;

$p->finish;

done_testing;
