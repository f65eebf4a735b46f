#!/usr/bin/perl

# Random histories of logs against a small model of the contract: of the
# functions in Redis, and over HTTP.  Time stands still but for where a history
# lets it pass.  QUEEN_SEED for the first one, QUEEN_HISTORIES for how many.

use strict;
use warnings;

use FindBin;
use Test::More;

use NgxQueues::LogCalls;
use NgxQueues::LogHistory;
use NgxQueues::LogHttp;
use NgxQueues::RedisServer;
use NgxQueues::Server;

my $seed = $ENV{QUEEN_SEED} // (int(time) ^ $$ << 4) % 1e6;
my $n = $ENV{QUEEN_HISTORIES} // ($ENV{QUEEN_SEED} ? 1 : 1000);

sub histories {
    my ($name, $n, $server) = @_;
    my $history = NgxQueues::LogHistory->new($server);
    my $failed = 0;

    for ($seed .. $seed + $n - 1) {
        my $problem = $history->check($_) // next;

        fail("$name: QUEEN_SEED=$_");
        diag($problem);
        last if ++$failed > 2;
    }

    ok(!$failed, "$name: $n histories from QUEEN_SEED=$seed");
}

my $redis = NgxQueues::RedisServer->new(no_check => 1);

histories('functions', $n,
          NgxQueues::LogCalls->new($redis->client, "$FindBin::Bin/../redis"));

my $s = NgxQueues::Server->new(workers => 2, redis => { no_check => 1 },
    locations => 'location /api/v1/ { queues_queen_api o/p; '
                 . 'queues_auth off; }');

my $http = NgxQueues::LogHttp->new($s);

histories('HTTP', int($n / 4) || 1, $http);

# each world had a time of its own: the end of all is late enough for any

$http->clock(5_000_000_000_000);
is(join("\n", $http->problems), '', 'all is sound');

$s->finish;

done_testing;
