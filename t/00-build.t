#!/usr/bin/perl

# How the sources are built and laid out: what a folder may include, how long
# files and functions may be, what the module exports and embeds.

use strict;
use warnings;

use File::Basename;
use Test::More;

use NgxQueues::Process 'slurp';

chdir $NgxQueues::Process::top or die $!;

my @layers = (
    [qw/base/], [qw/conf net/], [qw/stat/], [qw/auth redis/], [qw/http store/],
    [qw/api push/], [qw/module/],
);

my %rank = map { my $i = $_; map { $_ => $i } @{ $layers[$i] } } 0 .. $#layers;

my @sources = grep { !m{^src/(?:cli|dashboard)/} }
    glob('*.c *.h src/*/*.c src/*/*.h');

sub folder { $_[0] =~ m{^src/([^/]+)/} ? $1 : 'module' }

# "../base/ngx_queues_base.h" in src/redis/… → src/base/ngx_queues_base.h

sub included {
    my ($from, $path) = @_;

    $path = dirname($from) . "/$path" if $from =~ m{/};
    1 while $path =~ s{[^/]+/\.\./}{};

    return $path;
}

my (@unknown, @upward, @missing, @hiredis, @long_files, @long_functions);

for my $file (@sources) {
    my $from = folder($file);
    my @lines = split /^/, slurp($file);

    push @unknown, $file if !defined $rank{$from};
    push @long_files, "$file: " . @lines if @lines > 600;

    my ($begin, $name);

    for my $i (0 .. $#lines) {
        local $_ = $lines[$i];
        my $at = "$file:" . ($i + 1);

        push @hiredis, $at if /#\s*include\s*<hiredis/ && $from ne 'redis';

        if (/^\s*#\s*include\s+"([^"]+)"/ && $1 !~ /^ngx_queues_\w+\.inc\z/) {
            my $path = included($file, $1);
            my $to = folder($path);

            push @missing, "$at: $1" if !-e $path;
            push @upward, "$at: $from includes $to"
                if $to ne $from
                   && (!defined $rank{$to} || $rank{$to} >= ($rank{$from} // 0)
                       || "$from $to" eq 'http redis');
        }

        $name = $1 if /^(\w+)\(/;
        $begin = $i if /^\{/;

        if (/^\}\s*$/ && defined $begin) {
            push @long_functions, "$at: $name: " . ($i - $begin + 1)
                if $i - $begin + 1 > 100;
            undef $begin;
        }
    }
}

for my $file (glob 'redis/*.lua src/dashboard/*') {
    my @lines = split /^/, slurp($file);

    push @long_files, "$file: " . @lines if @lines > 600;
}

cmp_ok(scalar @sources, '>', 0, 'there are sources');
is("@unknown", '', 'each folder of src/ has its place among the layers');
is(join("\n", @missing), '', 'what is included is there');
is(join("\n", @upward), '', 'a folder includes only what is below it');
is(join("\n", @hiredis), '', 'hiredis is known to src/redis only');
is(join("\n", @long_files), '', 'files have at most 600 lines');
is(join("\n", @long_functions), '', 'functions have at most 100 lines');

my %seen;
my @twice = grep { $seen{$_}++ } map { basename($_) } @sources;

is("@twice", '', 'file names are unique: nginx names objects by them');

# curl says that what follows -d is a form, unless it is told

my @forms;

for my $file ('README.md', glob 'docs/*.md docs/*/*.md') {
    my $text = slurp($file) =~ s/\\\n//gr;

    push @forms, map { "$file: $_" }
        grep { m{/organizations/} && / -d / && !/Content-Type: application/ }
        $text =~ /^(curl .*)/mg;
}

is(join("\n", @forms), '', 'examples in the documents send JSON');

# an nginx that runs has the old file mapped

unlike(slurp('Makefile'), qr/\bcp \S+ \$@(?!\.new)/,
       'what was built before is never written over');

# what was built, by either build

my $module = $ENV{NGX_QUEUES_MODULE};
my $binary = $module || $ENV{TEST_NGINX_BINARY} || '';
my $objs = dirname($binary) . ($module ? '' : '/src') . '/objs';

if (-e "$objs/Makefile") {
    my $makefile = slurp("$objs/Makefile");
    my @left = grep { index($makefile, "/$_") < 0 } @sources;

    is("@left", '', 'every source is built, every header watched');

    my $text = join '', map { slurp($_) . "\n" } glob 'redis/*.lua';

    cmp_ok(index(slurp($binary), $text), '>=', 0,
           'the text of redis/*.lua is in the module');
}

if ($module) {
    my @names = sort map { (split)[2] } `nm -D --defined-only $module`;

    is("@names",
       'ngx_module_names ngx_module_order ngx_modules ngx_queues_module',
       'the module exports what nginx looks for, and nothing else');

    my @undefined = grep { /ngx_queues/ }
        map { (split)[1] } `nm -D --undefined-only $module`;

    is("@undefined", '', 'no function of ours is missing');
}

done_testing;
