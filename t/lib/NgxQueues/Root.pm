package NgxQueues::Root;

# A Debian of its own in memory, for what may only be tried as root: an archive
# is unpacked in namespaces for mounts, network and processes. Their first
# process ends when its standard input does, so with the test, however that ends,
# and then all is gone: processes, mounts and files.
#
# It needs root, or sudo that asks for no password.

use strict;
use warnings;

use POSIX ();

use NgxQueues::Process qw/spawn reap slurp temp_dir/;
use NgxQueues::Wait;

my @sudo = $> == 0 ? () : qw/sudo -n/;

# /mnt is there on each Debian; what is mounted over it, nobody else sees

my $setup = <<'END';
set -e
read -r pid _ </proc/self/stat
ip link set lo up
mount -t tmpfs -o mode=755 tmpfs /mnt
tar -xf "$1" -C /mnt
mount -t proc proc /mnt/proc
touch /mnt/root-of-a-test
exec env -i PATH="$PATH" chroot /mnt perl -e '
    $SIG{CHLD} = "IGNORE";
    syswrite STDOUT, "root is $ARGV[0]\n";
    1 while sysread STDIN, $_, 1' "$pid"
END

sub new {
    my ($class, %o) = @_;

    my $self = bless { dir => temp_dir(), runs => 0 }, $class;
    my $log = "$self->{dir}/root.log";

    pipe my $end, $self->{lifeline} or die "pipe: $!";

    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        close $self->{lifeline};
        open STDIN, '<&', $end or die $!;
        open STDOUT, '>', $log or die $!;
        open STDERR, '>&', \*STDOUT or die $!;

        { exec @sudo, qw/unshare --mount --net --pid --fork bash -c/, $setup,
               'root', $o{archive}; }

        print STDERR "@sudo unshare: $!\n";
        POSIX::_exit(127);
    }

    close $end;
    $self->{holder} = $pid;

    wait_for {
        ($self->{pid}) = slurp($log) =~ /^root is (\d+)$/m;
        $self->{pid} || waitpid($pid, POSIX::WNOHANG()) == $pid;
    } 60;

    die "No Debian to test in can be made, for which root or sudo is needed:\n",
        slurp($log) if !$self->{pid};

    return $self;
}

# run(script, seconds) → its wait status; what it has written is in out. Nothing
# runs but where the archive has been unpacked.

sub run {
    my ($self, $script, $seconds) = @_;

    my $out = "$self->{dir}/out" . $self->{runs}++;
    my $pid = spawn({ out => $out }, @sudo, 'nsenter', '--target', $self->{pid},
        qw{--mount --net --pid --root env -i -C /root HOME=/root TERM=dumb},
        'LC_ALL=C.UTF-8', 'DEBIAN_FRONTEND=noninteractive',
        'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'bash', '-c', "[ -e /root-of-a-test ] || exit 99\n$script");
    my $status = reap($pid, $seconds || 60);

    $self->{out} = slurp($out);

    return $status // -1;
}

sub out { $_[0]{out} }

# files of this machine, into /root there

sub copy {
    my ($self, @files) = @_;

    system(@sudo, 'cp', @files, "/proc/$self->{pid}/root/root/") == 0
        or die "cp @files: $?\n";
}

# ends all of it: when the kernel has, the holder of the namespaces ends

sub finish {
    my ($self) = @_;

    close $self->{lifeline};
    waitpid($self->{holder}, 0);
}

1;
