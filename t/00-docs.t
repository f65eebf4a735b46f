#!/usr/bin/perl

# What t/docs.t runs pages with: that what is wrong on a page is seen.

use strict;
use warnings;
use utf8;

use Test::More;

use NgxQueues::Docs ();
use NgxQueues::Docs::Nginx;
use NgxQueues::Docs::Shape qw/shown fits/;
use NgxQueues::Docs::Shell;
use NgxQueues::Process 'slurp';
use NgxQueues::Server;

my $top = $NgxQueues::Process::top;

# blocks: their kinds, and what they are behind

my @blocks = NgxQueues::Docs::blocks('docs/api/pubsub.md');

is((grep { $_->{kind} eq '' } @blocks), 0, 'blocks have kinds');
is((grep { $_->{kind} eq 'json' && $_->{after} && $_->{after}{kind} eq 'sh' }
        @blocks), 3, 'an answer is behind its call');
like(NgxQueues::Docs::block('README.md', qr/^load_module/), qr/queues_api;/,
     'a block by what it has');
ok(!eval { NgxQueues::Docs::block('README.md', qr/^q /m); 1 }, 'one, not several');

# the figures of the comparison are those of the benchmarks

my ($table) = slurp("$top/docs/comparison.md")
    =~ /^\| \| messages a second .*?\n((?:\|.*\n)+)/m;
my $benchmarks = slurp("$top/docs/benchmarks.md");
my @figures = map { tr/,//dr } $table =~ /\b(\d+,\d{3})\b/g;

cmp_ok(scalar @figures, '>=', 9, 'figures');
is(join(' ', grep { $benchmarks !~ /\b$_\b/ } @figures), '',
   'docs/comparison.md has what docs/benchmarks.md has');

# shapes

sub wrong { join ', ', fits((shown($_[0]))[0], (shown($_[1]))[0]) }

my $uuid = '01999f3e-1b2c-7d3e-8f40-5162738495a6';

is(wrong('{"a": 1, "b": ["x"]}', '{"a": 2, "b": ["y", "z"]}'), '', 'the same');
is(wrong('{"a": "…", "b": null, …}', '{"a": 1, "b": "x", "c": 2}'), '', 'left out');
is(wrong('[{"a": 1}, …]', '[{"a": 2}]'), '', 'elements that were left out');
is(wrong('{"AQ…": 1}', '{"AQxyz": 2}'), '', 'a name by its beginning');
is(wrong('{"a": 1}', '{}'), '.a is not there', 'a member less');
is(wrong('{"a": 1}', '{"a": 1, "b": 2}'), '.b is not shown', 'a member more');
is(wrong('{"a": 1}', '{"a": "1"}'), '.a is string, not number', 'another type');
is(wrong('{"a": [1]}', '{"a": []}'), '.a is empty', 'no elements');
is(wrong("\"$uuid\"", '"x"'), ' is not a UUID: x', 'another form');
is(wrong('"2026-10-13T17:02:40Z"', '"x"'), ' is not a time: x', 'no time');
is(scalar(shown("{\"a\": …}\n[…]")), 2, 'two values');
ok(!eval { shown($_); 1 }, "no JSON: $_") for '{"a": }', '{"a": 1} x', '';

# configurations

my $nginx = NgxQueues::Docs::Nginx->new;

for ('location / { queues_api; }', 'queues_rate_limit queue=200/s;',
     'http { server { listen 443 ssl; location / { queues_api; } } }')
{
    my ($right, $said) = $nginx->check("$_\n");

    ok($right, "right: $_") or diag($said);
}

like(($nginx->check("location / { queues_apis; }\n"))[1],
     qr/unknown directive "queues_apis"/, 'wrong');

# lines

my $s = NgxQueues::Server->new;
my $shell = NgxQueues::Docs::Shell->new;

$shell->of($s);

my $queues = '/v1/organizations/o/projects/p/queues';
my ($first, $second, $third, $fourth) = $shell->run(
    'A="Authorization: Bearer $KEY"; curl -sS -H "$A" -H "Content-Type: '
    . "application/json\" http://127.0.0.1:8080$queues -d '{\"name\": \"a\"}'\n",
    "echo one > /etc/nginx/x\ncurl -sS -H \"\$A\" http://127.0.0.1:8080$queues\n",
    "curl -sS http://127.0.0.1:8080$queues\n", "echo never\n");

ok($first->{ok}, 'a line') or diag($first->{out});
like($first->{answers}[0], qr/^\{"queueId":/, 'its answer');
ok($second->{ok}, 'the next one has its variables');
ok(-s $shell->etc . 'x', 'what is under /etc is not there');
ok(!$third->{ok}, 'a call that is refused');
ok(!$fourth->{ok}, 'is the last one');
ok(($shell->run("curl -sSi http://127.0.0.1:8080$queues\n"))[0]{ok},
   'unless its status is shown');

$s->finish;
done_testing;
