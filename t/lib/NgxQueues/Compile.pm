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
use Digest::SHA ();
use Exporter 'import';
use Fcntl ':flock';
use File::Basename;
use File::Path ();
use File::Temp ();
use POSIX ();

our @EXPORT_OK = qw/compile compile_all build_base no_headers temp_path/;

our $top = Cwd::abs_path(__FILE__ =~ s{[^/]*$}{../../..}r);

# beside tests for which a tenth of a second counts

POSIX::nice(10);

my $tmp = File::Temp::tempdir('ngx_queues_c_XXXXXX', TMPDIR => 1,
                              CLEANUP => 1);

# to compile these takes longer than to run them, and twice as long at -O1; an
# optimizer may take away what the sanitizers would find

my @flags = split ' ', '-std=gnu99 -O0 -Wall -Wextra -Werror'
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

sub compile { system(compiler(), @_) == 0 }


sub compiler {
    return ($ENV{CC} || 'cc', @flags, @includes, "-I$top/src/base");
}


# compile_all([arguments], ...) → for each whether that went well; as many at a
# time as there are processors

sub compile_all {
    my @jobs = @_;
    my $most = () = glob '/sys/devices/system/cpu/cpu[0-9]*';
    my (%running, @good);

    for my $i (0 .. $#jobs) {
        reap(\%running, \@good) if keys %running >= ($most || 1);

        my $pid = fork() // die "fork: $!";

        if (!$pid) {
            exec compiler(), @{$jobs[$i]};
            warn "exec: $!";
            POSIX::_exit(1);
        }

        $running{$pid} = $i;
    }

    reap(\%running, \@good) while %running;

    return @good;
}


sub reap {
    my ($running, $good) = @_;

    my $pid = waitpid(-1, 0);
    die "waitpid: $!" if $pid < 0;

    my $i = delete $running->{$pid};
    $good->[$i] = ($? == 0) if defined $i;
}


# build_base() → the objects of src/base, none if one does not compile
#
# They are made once for all that want them: in a folder of build/ whose name is
# a hash of all that they are made from.

sub build_base {
    my @sources = sort glob "$top/src/base/*.c";
    my $dir = -d "$top/build" ? "$top/build/base" : temp_path('base');

    mkdir $dir;

    open(my $lock, '>', "$dir/lock") or die "$dir/lock: $!";
    flock($lock, LOCK_EX) or die "$dir/lock: $!";

    my $made = "$dir/" . base_hash();
    my @objects = map { "$made/" . basename($_, '.c') . '.o' } @sources;

    return @objects if -e "$made/done";

    File::Path::remove_tree(grep { -d } glob "$dir/*");
    mkdir $made or die "$made: $!";

    my @good = compile_all(map { ['-c', $sources[$_], '-o', $objects[$_]] }
                           0 .. $#sources);

    return () if grep { !$_ } @good;

    open(my $done, '>', "$made/done") or die "$made/done: $!";

    return @objects;
}


sub base_hash {
    my $sha = Digest::SHA->new(256);
    my $version = join ' ', $ENV{CC} || 'cc', '--version';

    $sha->add(join(' ', compiler()), `$version`);
    $sha->addfile($_) for sort(glob "$top/src/base/*.[ch]"),
        defined $objs ? "$objs/ngx_auto_config.h" : ();

    return substr $sha->hexdigest, 0, 16;
}


1;
