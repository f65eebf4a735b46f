#!/usr/bin/perl

# Builds each t/unit/*.c with src/base/*.c under the sanitizers, without any
# nginx object, and runs it.
#
# NGX_QUEUES_CFLAGS  flags that find nginx's headers; without them build/objs
#                    (ngx_auto_config.h) and Debian's nginx-dev are taken
# CC                 the compiler, cc by default

use warnings;
use strict;

use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Temp qw(tempdir);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/..');
my $tmp = tempdir('ngx_queues_unit_XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $cc = $ENV{CC} || 'cc';

my @flags = split ' ', '-std=gnu99 -O1 -g -Wall -Wextra -Werror'
    . ' -fno-omit-frame-pointer -fsanitize=address,undefined'
    . ' -fno-sanitize-recover=undefined';

my @includes = defined $ENV{NGX_QUEUES_CFLAGS}
    ? split(' ', $ENV{NGX_QUEUES_CFLAGS})
    : ("-I$top/build/objs",
       map { "-I/usr/share/nginx/src/src/$_" }
       qw(core event event/modules os/unix));

my @tests = sort glob "$top/t/unit/*.c";
my @sources = sort glob "$top/src/base/*.c";

plan(skip_all => 'no headers: build first, or set NGX_QUEUES_CFLAGS')
    unless defined $ENV{NGX_QUEUES_CFLAGS}
        || -f "$top/build/objs/ngx_auto_config.h";

plan(tests => 1 + @tests);

my @objects = build_base();

for my $source (@tests) {
    subtest basename($source, '.c') => sub { run_unit($source) };
}


sub build_base {
    my @built;
    my $failed = 0;

    for my $source (@sources) {
        my $object = "$tmp/" . basename($source, '.c') . '.o';

        $failed ||= compile('-c', $source, '-o', $object);
        push @built, $object;
    }

    ok(!$failed, 'src/base compiles');

    return @built;
}


sub compile {
    return system($cc, @flags, @includes, "-I$top/src/base", @_);
}


sub run_unit {
    my ($source) = @_;

    my $program = "$tmp/" . basename($source, '.c');

    if (compile($source, @objects, '-lcrypto', '-o', $program)) {
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
