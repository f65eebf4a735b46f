#!/usr/bin/perl

# The soak of push in short: t/soak/push has it all.

use strict;
use warnings;

use FindBin;

use Test::More;

use NgxQueues::Process qw/spawn reap slurp temp_dir/;

my $dir = temp_dir();
my $status = reap(spawn({ out => "$dir/out", death => 'TERM' },
    $^X, "$FindBin::Bin/soak/push", $ENV{SOAK_MESSAGES} ? () : '--short'),
    $ENV{SOAK_MESSAGES} ? 1200 : 200);
my $out = slurp("$dir/out");

is($status, 0, 'the soak of push') or diag $out;

note $out;

done_testing;
