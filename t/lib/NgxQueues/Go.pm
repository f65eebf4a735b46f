package NgxQueues::Go;

# The programs in Go that readers are given, built: docs/guides/*/*.go, each by
# itself, and the endpoint of t/client.
#
#     my $binary = NgxQueues::Go::binary('queues/worker');
#     my $endpoint = NgxQueues::Go::binary('client/endpoint');
#
# All of them are built at once, by the first test that asks for one, in build/go,
# and again where one has changed. Nothing is fetched.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Exporter 'import';
use Fcntl ':flock';
use File::Path 'make_path';

use NgxQueues::Process qw/spawn reap slurp spurt/;

my $top = $NgxQueues::Process::top;
my $dir = "$top/build/go";

# package => its files

sub packages {
    my %packages = ('client/endpoint' => [map { "$top/t/client/$_.go" }
                                              qw/deliveries serve/]);

    for (glob "$top/docs/guides/*/*.go") {
        my ($name) = m{([^/]+/[^/]+)\.go\z};

        $packages{$name} = [$_];
    }

    return \%packages;
}

sub binary {
    my ($name) = @_;

    my $packages = packages();

    die "there is no $name\n" if !$packages->{$name};

    make_path($dir);
    open my $lock, '>>', "$dir/lock" or die "$dir/lock: $!\n";
    flock $lock, LOCK_EX or die "$dir/lock: $!\n";

    my $sum = sha256_hex(map { $_, map { slurp($_) } @{ $packages->{$_} } }
                             sort keys %$packages);

    build($packages, $sum) if slurp("$dir/built") ne $sum;

    return "$dir/bin/" . $name =~ s{/}{_}r;
}

sub build {
    my ($packages, $sum) = @_;

    system 'rm', '-rf', "$dir/src", "$dir/bin";

    for my $name (keys %$packages) {
        my $package = "$dir/src/" . $name =~ s{/}{_}r;

        make_path($package);
        spurt($package . '/' . s{.*/}{}r, slurp($_)) for @{ $packages->{$name} };
    }

    spurt("$dir/src/go.mod", "module programs\n\ngo 1.19\n");
    make_path("$dir/bin");

    my $status = reap(spawn({ out => "$dir/out", env => {
        GOFLAGS => '-mod=mod', GOPROXY => 'off', GOCACHE => "$dir/cache",
        GOTOOLCHAIN => 'local', CGO_ENABLED => 0, HOME => $dir,
    } }, 'sh', '-c', 'cd "$0" && go vet ./... && exec go build -o ../bin ./...',
         "$dir/src"), 400);

    die "go build:\n", slurp("$dir/out") if !defined $status || $status;

    unlink "$dir/out";
    spurt("$dir/built", $sum);
}

1;
