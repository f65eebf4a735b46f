#!/usr/bin/perl

# queues_dashboard: how the page is sent, and what its source must not have. What
# it does is in t/dashboard.t.

use strict;
use warnings;

use Digest::SHA qw/sha256 sha256_hex/;
use MIME::Base64 'encode_base64';
use Test::More;

use NgxQueues::Client;
use NgxQueues::Process qw/slurp free_port/;
use NgxQueues::Server;
use NgxQueues::Tls;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(workers => 2, server => <<'END');
    location /dashboard/ { queues_dashboard; }
    location = /dashboard { queues_dashboard /queues/v~1.0_x; }
    location /if/ {
        queues_dashboard;
        if ($arg_a) { set $b c; }
    }
    location /packed/ { gzip on; gzip_types text/html; queues_dashboard; }
END
my $c = $s->client(key => undef);

my $r = $c->get('/dashboard/');
my $page = $r->{body};
my $etag = $r->{headers}{etag};

is($r->{status}, 200, 'everyone gets it');
is($r->{headers}{'content-type'}, 'text/html; charset=utf-8', 'its type');
is($r->{headers}{'cache-control'}, 'no-cache', 'asked for again');
is($r->{headers}{'x-content-type-options'}, 'nosniff', 'nothing else than that type');
is($r->{headers}{'referrer-policy'}, 'no-referrer', 'tells nobody where it is');
is($r->{headers}{'cross-origin-opener-policy'}, 'same-origin', 'nobody opens it');
like($etag, qr/^"[\w+\/]{22}"\z/, 'ETag');
is(length $page, $r->{headers}{'content-length'}, 'its length');

sub hash { "'sha256-" . encode_base64(sha256($_[0]), '') . "'" }

my ($style) = $page =~ m{<style>(.*?)</style>}s;
my ($script) = $page =~ m{<script type="module">(.*?)</script>}s;

is($r->{headers}{'content-security-policy'}, join('; ',
    "default-src 'none'", "connect-src 'self'", 'img-src data:',
    'style-src ' . hash($style), 'script-src ' . hash($script),
    "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    "require-trusted-types-for 'script'", "trusted-types 'none'"),
   'it may run this script, look so, and ask its own server');

like($page, qr{^<!doctype html>\n<html lang="en" data-api="">.*</html>\n\z}s, 'one page');
unlike($page, qr/%%/, 'no part is missing');
is(() = $page =~ m{</?(?:script|style)\b}g, 4, 'one script, one style');

# where the API is

$r = $c->get('/dashboard');
like($r->{body}, qr{data-api="/queues/v~1\.0_x">}, 'a prefix');
isnt($r->{headers}{etag}, $etag, 'is another page');

is($c->get("/$_")->{body}, $page, $_)
    for 'dashboard/?a=b', 'dashboard/deep/er', 'if/', 'if/?a=1';

# what a browser keeps

$r = $c->request(GET => '/dashboard/', undef, headers => { 'If-None-Match' => $etag });
is("$r->{status} $r->{body}", '304 ', 'it has not changed');
is($r->{headers}{etag}, $etag, 'the same ETag');
like($r->{headers}{'content-security-policy'}, qr/default-src 'none'/, 'the same policy');

$r = $c->request(GET => '/dashboard/', undef,
                 headers => { 'If-None-Match' => '"other"' });
is($r->{status}, 200, 'it has');

$r = $c->request(HEAD => '/dashboard/');
is("$r->{status} $r->{body} $r->{headers}{'content-length'}",
   '200  ' . length $page, 'HEAD');

$r = $c->request(GET => '/packed/', undef, headers => { 'Accept-Encoding' => 'gzip' });
is("$r->{status} " . ($r->{headers}{'content-encoding'} // ''), '200 gzip', 'packed by nginx');
is($r->{headers}{etag}, "W/$etag", 'which weakens the ETag');

for my $method (qw/POST PUT DELETE OPTIONS/) {
    $r = $c->request($method => '/dashboard/', $method eq 'OPTIONS' ? undef : '{}');
    is("$r->{status} " . ($r->{headers}{allow} // ''), '405 GET, HEAD', $method);
}

like($r->{headers}{'content-type'}, qr{^text/html}, 'its errors are pages, too');

# it asks nobody

$s->redis->kill;
is($c->get('/dashboard/')->{body}, $page, 'without Redis');
$s->reload;
$r = $c->get('/dashboard/');
is($r->{headers}{etag}, $etag, 'the same after a reload');
$s->redis->start;
$s->finish;

# The source. What comes from others never becomes markup or code; nothing is
# from elsewhere; only the colours outlast the tab.

my $source = join '', map { slurp($_) }
    glob "$NgxQueues::Process::top/src/dashboard/*";

unlike($source, qr/(?:inner|outer)HTML|insertAdjacentHTML|document\.write|\beval\b|
                   \bFunction\b|srcdoc|javascript:|setHTML|createContextualFragment/x,
       'no markup out of text');
is(join(' ', grep { $_ ne 'http://www.w3.org/2000/svg' && $_ !~ m{^https://hooks\.example\.com/} }
        $source =~ m{\b(?:https?:|//)[\w./-]+\.\w[\w./-]*}g), '', 'nothing from elsewhere');
is(join(' ', $source =~ /localStorage\.\w+\(\w+/g),
   'localStorage.setItem(COLOURS localStorage.getItem(COLOURS', 'what is kept');
unlike($source, qr/document\.cookie|indexedDB/, 'and nowhere else');

# wrong

my $prefix = 'write what stands before "/v1/" in the paths of "queues_api"';

for my $wrong ([ 'queues_dashboard /x/;', $prefix ], [ 'queues_dashboard x;', $prefix ],
               [ 'queues_dashboard /;', $prefix ], [ 'queues_dashboard //x;', $prefix ],
               [ 'queues_dashboard "/a\"b";', $prefix ], [ 'queues_dashboard /a/<b>;', $prefix ],
               [ 'queues_dashboard "";', '' ],
               [ 'queues_dashboard /a /b;', 'invalid number of arguments in "queues_dashboard"' ],
               [ 'queues_dashboard; queues_dashboard;', '"queues_dashboard" directive is duplicate' ],
               [ 'queues_api; queues_dashboard;', '"queues_api" and "queues_dashboard" are in one location' ])
{
    my $t = NgxQueues::Server->new(start => 0, redis => 0,
        http => 'queues_redis 127.0.0.1:1;',
        locations => "location / { $wrong->[0] }");
    my ($right, $said) = $t->test_configuration;

    ok($wrong->[1] eq '' ? $right : !$right && index($said, $wrong->[1]) >= 0, $wrong->[0])
        or diag($said);
}

# the configuration that the document has, and its key

{
    my $text = slurp("$NgxQueues::Process::top/docs/dashboard.md");
    my ($server) = $text =~ /^```nginx\n(.*?)^```$/ms;
    my ($line) = $text =~ /^  ([0-9a-f]{64} ann .*)$/m;
    my $tls = NgxQueues::Tls->new;
    my $files = $tls->files('localhost');
    my $port = free_port();

    $server =~ s{/etc/nginx/queues\.pem}{$files->{certificate}};
    $server =~ s{/etc/nginx/queues\.key}{$files->{key}};
    $server =~ s{listen 443 ssl}{listen 127.0.0.1:$port ssl};
    $line =~ s{^\S+}{sha256_hex('ann')}e;

    my $d = NgxQueues::Server->new(http => $server, keys => [$line]);
    my $n = NgxQueues::Client->new(port => $port, key => 'ann',
        tls => { ca => $tls->ca, name => 'localhost' });

    is($n->get('/dashboard/')->{status}, 403, 'as documented: only from a network');
    is($n->get('/v1/organizations/acme/projects/shop/queues')->{status}, 200,
       'who looks on may list');
    is($n->post('/v1/organizations/acme/projects/shop/queues', { name => 'x' })->{status},
       403, 'and not create');
    $d->finish(allow => [qr/access forbidden by rule/]);
}

# it asks for no credential, so that there need be none for it

{
    my $t = NgxQueues::Server->new(start => 0, redis => 0, queues => 0,
        http => 'queues_redis 127.0.0.1:1; queues_secret_file %%DIR%%/secret;',
        locations => 'location = /dashboard { queues_dashboard; } '
                     . 'location /v1/ { queues_api; queues_auth off; }');
    my ($right, $said) = $t->test_configuration;

    ok($right, 'no keys') or diag($said);
}

done_testing;
