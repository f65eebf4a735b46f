#!/usr/bin/perl

# How the sources of queuectl are laid out: what they include, how long files
# and functions are, and that they are C11 for compilers that are strict.

use strict;
use warnings;

use Test::More;

use NgxQueues::Process qw/slurp temp_dir/;

chdir $NgxQueues::Process::top or die $!;

my @sources = glob 'src/cli/*.[ch]';
my (@includes, @prefix, @long_files, @long_functions);

for my $file (@sources) {
    my @lines = split /^/, slurp($file);
    my ($begin, $name);

    push @long_files, "$file: " . @lines if @lines > 450;
    push @prefix, $file if $file !~ m{/queuectl(?:_[a-z_]+)?\.[ch]$};

    for my $i (0 .. $#lines) {
        local $_ = $lines[$i];

        push @includes, "$file: $_"
            if /^#include "(.*)"/ && $1 ne '../base/ngx_queues_base_version.h'
                   && (!-e "src/cli/$1" || $1 =~ m{/})
               || /^#include <(?:ngx_|hiredis)/;

        $name = $1 if /^(\w+)\(/;
        $begin = $i if /^\{/;

        if (/^\}\s*$/ && defined $begin) {
            push @long_functions, "$file: $name: " . ($i - $begin + 1)
                if $i - $begin + 1 > 100;
            undef $begin;
        }
    }
}

cmp_ok(scalar @sources, '>', 0, 'there are sources');
is("@prefix", '', 'files are named after the program');
is(join("\n", @includes), '',
   'nothing of nginx or of the module is included but the version');
is(join("\n", @long_files), '', 'files have at most 450 lines');
is(join("\n", @long_functions), '', 'functions have at most 100 lines');

# every function is static, or is in a header

my $headers = join '', map { slurp($_) } glob 'src/cli/*.h';
my @stray;

for my $file (glob 'src/cli/*.c') {
    my $text = slurp($file);

    while ($text =~ /^((?:\w+ )*\w+(?: \**)?)\n\**(\w+)\(/mg) {
        push @stray, "$file: $2"
            if $1 !~ /^static/ && $2 ne 'main' && $headers !~ /\b$2\(/;
    }
}

is(join("\n", @stray), '', 'what is not static is in a header');

done_testing;
