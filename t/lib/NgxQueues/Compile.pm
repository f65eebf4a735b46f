package NgxQueues::Compile;

# C programs of the tests, with src/base, under the sanitizers and without any
# nginx object.
#
# NGX_QUEUES_CFLAGS  flags that find nginx's headers; without them those of the
#                    build (ngx_auto_config.h) and of Debian's nginx-dev are
#                    taken
# CC                 the compiler, cc by default

use strict;
use warnings;

use Cwd ();
use Exporter 'import';
use File::Basename;
use File::Temp ();

our @EXPORT_OK = qw/compile build_base no_headers temp_path/;

our $top = Cwd::abs_path(__FILE__ =~ s{[^/]*$}{../../..}r);

my $tmp = File::Temp::tempdir('ngx_queues_c_XXXXXX', TMPDIR => 1,
                              CLEANUP => 1);

my @flags = split ' ', '-std=gnu99 -O1 -g -Wall -Wextra -Werror'
    . ' -fno-omit-frame-pointer -fsanitize=address,undefined'
    . ' -fno-sanitize-recover=undefined';

my ($objs) = grep { -f "$_/ngx_auto_config.h" }
    "$top/build/objs", "$top/build/sanitize/src/objs";

my @includes = defined $ENV{NGX_QUEUES_CFLAGS}
    ? split(' ', $ENV{NGX_QUEUES_CFLAGS})
    : (map { "-I$_" } grep { defined } $objs,
       map { "/usr/share/nginx/src/src/$_" }
       qw(core event event/modules os/unix));


# why nothing can be compiled, or nothing

sub no_headers {
    return if defined $ENV{NGX_QUEUES_CFLAGS} || $objs;
    return 'no headers: build first, or set NGX_QUEUES_CFLAGS';
}


sub temp_path { "$tmp/$_[0]" }


# compile(arguments of the compiler) → 1 if that went well

sub compile {
    return system($ENV{CC} || 'cc', @flags, @includes, "-I$top/src/base", @_)
           == 0;
}


# build_base() → the objects of src/base, none if one does not compile

sub build_base {
    my @objects;

    for my $source (sort glob "$top/src/base/*.c") {
        my $object = temp_path(basename($source, '.c') . '.o');

        compile('-c', $source, '-o', $object) or return;
        push @objects, $object;
    }

    return @objects;
}


1;
