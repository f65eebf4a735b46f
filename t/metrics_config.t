#!/usr/bin/perl

# The directive queues_metrics: what is wrong with it, and how that is mended.

use strict;
use warnings;

use Test::More;

use NgxQueues::Server;

sub test {
    my ($locations, %options) = @_;

    return NgxQueues::Server->new(start => 0, redis => 0,
        http => 'queues_redis 127.0.0.1:1;', locations => $locations,
        %options)->test_configuration;
}

sub at { map { "location = /metrics { $_ }" } @_ }

my $many = join ' ', map { "project=o/p$_" } 1 .. 101;

for my $wrong (
    [at('queues_metrics queues=;'), 'write how many queues are told of at most, 0 to 10000'],
    [at('queues_metrics queues=-1;'), 'invalid "queues=-1" of "queues_metrics"'],
    [at('queues_metrics queues=10001;'), 'such as "queues=500"'],
    [at('queues_metrics queues=many;'), 'invalid "queues=many"'],
    [at('queues_metrics queues=1 queues=1;'), 'has "queues=" twice: leave "queues=1" out'],
    [at('queues_metrics project=acme;'), 'write "project=ORGANIZATION/PROJECT"'],
    [at('queues_metrics project=acme/;'), 'invalid "project=acme/"'],
    [at('queues_metrics project=/shop;'), 'invalid "project=/shop"'],
    [at('queues_metrics project=a/b/c;'), 'letters, digits, "_" or "-"'],
    [at('queues_metrics project=a/b project=c/d project=a/b;'),
     'has "project=a/b" twice: leave one out'],
    [at("queues_metrics $many;"), 'has more than 100 projects: name none, and all are told of'],
    [at('queues_metrics on;'), 'invalid parameter "on" of "queues_metrics": write "queues=N"'],
    [at('queues_metrics; queues_metrics;'), '"queues_metrics" directive is duplicate'],
    [at('queues_health; queues_metrics;'), '"queues_health" and "queues_metrics" are in one location'],
    ['queues_metrics;', '"queues_metrics" directive is not allowed here'],
    ['', '"queues_metrics" directive is not allowed here',
     http => 'queues_redis 127.0.0.1:1; queues_metrics;'],
    ['', '"queues_metrics" directive is not allowed here',
     main => 'queues_metrics;'],
) {
    my ($locations, $says, @options) = @$wrong;
    my ($right, $said) = test($locations, @options);

    ok(!$right && index($said, $says) >= 0, $says) or diag($said);
}

for my $right (at('queues_metrics;'), at('queues_metrics queues=0 project=a/b project=a/c;'),
               'location /x/ { if ($arg_y) { } queues_metrics queues=10000; }')
{
    my ($is, $said) = test($right);

    ok($is, $right) or diag($said);
}

# it asks for a credential, unless it is told not to

my %bare = (queues => 0,
            http => 'queues_redis 127.0.0.1:1; queues_secret_file %%DIR%%/secret;');
my ($right, $said) = test(at('queues_metrics;'), %bare);

ok(!$right && index($said, 'add "queues_api_keys FILE;"') >= 0, 'no keys') or diag($said);
($right, $said) = test(at('queues_metrics; queues_auth off;'), %bare);
ok($right, 'queues_auth off') or diag($said);

done_testing;
