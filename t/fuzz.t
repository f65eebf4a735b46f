#!/usr/bin/perl

# Builds each fuzz target, t/fuzz/*.c, under the sanitizers and runs it over
# its corpus: no fuzzer is needed for that. "make fuzz" looks for more.

use warnings;
use strict;

use File::Basename qw(basename);
use Test::More;

use NgxQueues::Compile qw/compile compile_all build_base no_headers temp_path/;

my $dir = "$NgxQueues::Compile::top/t/fuzz";
my @targets = grep { $_ ne 'main' } map { basename($_, '.c') }
    sort glob "$dir/*.c";

plan(skip_all => no_headers()) if no_headers();
plan(tests => 2 + @targets);

my %target = map { $_ => 1 } @targets;
my @strays = grep { !$target{basename($_) =~ s/\.dict$//r} }
    glob "$dir/corpus/* $dir/*.dict";

is("@strays", '', 'corpora and dictionaries are those of targets');

# One program of all targets, which is linked once.  Of each only the function
# that it is stays a name: several have the same other ones.  What above
# src/base they include has arguments that it does not use.

my @base = build_base();

my @good = compile_all(map {
    ['-c', '-Wno-unused-parameter', "-DLLVMFuzzerTestOneInput=fuzz_run_$_",
     "$dir/$_.c", '-o', temp_path("fuzz_$_.o")]
} @targets);

my %compiled;

for my $i (0 .. $#targets) {
    my $name = $targets[$i];

    $compiled{$name} = $good[$i]
        && system('objcopy', "--keep-global-symbol=fuzz_run_$name",
                  temp_path("fuzz_$name.o")) == 0;
}

my @all = grep { $compiled{$_} } @targets;
my $program = temp_path('fuzz');

ok(@base
   && compile('-DFUZZ_TARGETS=' . join(' ', map { "FUZZ_TARGET($_)" } @all),
              "$dir/main.c", (map { temp_path("fuzz_$_.o") } @all), @base,
              '-lcrypto', '-l:libhiredis.a', '-o', $program),
   'src/base and main.c compile');

for my $name (@targets) {
    subtest $name => sub {
        ok($compiled{$name}, 'compiles') or return;
        run_corpus($name, glob "$dir/corpus/$name/*");
    };
}


sub run_corpus {
    my ($name, @files) = @_;

    cmp_ok(scalar @files, '>', 0, 'there is a corpus');
    cmp_ok(scalar @files, '<=', 200, 'of at most 200 files');

    my $size = 0;
    $size += -s for @files;

    cmp_ok($size, '<=', 200 * 1024, 'and 200 KiB');

    open(my $out, '-|', $program, $name, @files) or die "$program: $!";
    my @ran = <$out>;
    close $out;

    is($? >> 8 || $? & 127, 0, 'all properties hold') && @ran == @files
        or diag('at ' . ($ran[-1] // 'the start'));
}
