#!/usr/bin/perl

# Builds each t/unit/*.c with src/base/*.c under the sanitizers, without any
# nginx object, and runs it.

use warnings;
use strict;

use File::Basename qw(basename);
use Test::More;

use NgxQueues::Compile qw/compile build_base no_headers temp_path/;

my @tests = sort glob "$NgxQueues::Compile::top/t/unit/*.c";

plan(skip_all => no_headers()) if no_headers();
plan(tests => 1 + @tests);

my @objects = build_base();

ok(scalar @objects, 'src/base compiles');

for my $source (@tests) {
    subtest basename($source, '.c') => sub { run_unit($source) };
}


sub run_unit {
    my ($source) = @_;

    my $program = temp_path(basename($source, '.c'));

    if (!compile($source, @objects, '-lcrypto', '-o', $program)) {
        fail('compiles');
        return;
    }

    open(my $out, '-|', $program) or die "$program: $!";

    my ($planned, $seen) = (undef, 0);

    while (my $line = <$out>) {
        if ($line =~ /^(not )?ok \d+ - (.*)/) {
            ok(!$1, $2);
            $seen++;

        } elsif ($line =~ /^1\.\.(\d+)/) {
            $planned = $1;

        } else {
            diag($line);
        }
    }

    close $out;

    is($seen, $planned, 'as many tests as planned');
    is($? >> 8 || $? & 127, 0, 'exits without an error');
}
