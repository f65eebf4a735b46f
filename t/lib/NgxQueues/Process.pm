package NgxQueues::Process;

# What tests start, and its end: children, ports and temporary folders.
#
# Whatever a test starts is gone when the test is: at its end, when it dies,
# by Ctrl-C, after NGX_QUEUES_TEST_TIMEOUT seconds (600), and, as the kernel
# sends it a signal then, also when the test is killed.

use strict;
use warnings;

use Config;
use Cwd ();
use Exporter 'import';
use Fcntl qw/:flock O_CREAT O_RDWR/;
use File::Path ();
use File::Temp ();
use IO::Socket::INET;
use POSIX ();
use Time::HiRes ();

use NgxQueues::Wait;

our @EXPORT_OK = qw/spawn gone reap stop free_port temp_dir spurt slurp
                    children sanitizer_reports sanitizer_env/;

our $top = Cwd::abs_path(__FILE__ =~ s{[^/]*$}{../../..}r);

my $owner = $$;
my %running;                # pid => 1, ours and not yet reaped
my %status;                 # pid => $?, once reaped
my @dirs;
my %ports;                  # port => handle of its lock
my $reports = 0;

$SIG{INT} ||= sub { exit 130 };
$SIG{TERM} ||= sub { exit 143 };
$SIG{HUP} ||= sub { exit 129 };
$SIG{PIPE} = 'IGNORE';

$SIG{ALRM} ||= sub {
    print STDERR "# $0: not done in time, ended\n";
    exit 1;
};

alarm($ENV{NGX_QUEUES_TEST_TIMEOUT} || 600);


# spawn({ out => file, env => { }, death => 'KILL' }, program, arguments) → pid
#
# death is the signal that the kernel sends when the test has died.

sub spawn {
    my ($options, @command) = @_;

    my $out = $options->{out} || '/dev/null';
    my $pid = fork;

    die "fork: $!" if !defined $pid;

    if ($pid == 0) {
        eval {
            local $SIG{__DIE__};

            $SIG{$_} = 'DEFAULT' for qw/INT TERM HUP PIPE ALRM/;
            alarm 0;

            die_with_parent($options->{death} || 'KILL');

            delete $ENV{NGINX};     # to nginx, sockets to inherit

            while (my ($name, $value) = each %{ $options->{env} || {} }) {
                $ENV{$name} = $value;
            }

            open STDIN, '<', '/dev/null';
            open STDOUT, '>>', $out or die "$out: $!";
            open STDERR, '>&', \*STDOUT;

            exec { $command[0] } @command or die "$command[0]: $!";
        };

        print STDERR $@;
        POSIX::_exit(127);
    }

    $running{$pid} = 1;

    return $pid;
}

sub die_with_parent {
    my ($signal) = @_;

    my %number = (x86_64 => 157, aarch64 => 167);
    my ($machine) = $Config{archname} =~ /^(\w+?)-/;
    my $call = $number{$machine} or return;

    syscall($call, 1, { KILL => 9, TERM => 15 }->{$signal} + 0, 0, 0, 0);
    POSIX::_exit(127) if getppid() != $owner;
}


# gone(pid) → whether the child has ended; reap(pid, seconds) waits for that
# and gives its wait status, or undef where it goes on running

sub gone {
    my ($pid) = @_;

    return 1 if !$running{$pid};

    my $got = waitpid($pid, POSIX::WNOHANG());

    if ($got == $pid || $got == -1) {
        $status{$pid} = $got == $pid ? $? : 0;
        delete $running{$pid};
        return 1;
    }

    return 0;
}

sub reap {
    my ($pid, $seconds) = @_;

    wait_for { gone($pid) } $seconds or return undef;

    return $status{$pid} || 0;
}


# stop(pid, signal, seconds) → 1, or 0 where only KILL helped

sub stop {
    my ($pid, $signal, $seconds) = @_;

    return 1 if gone($pid);

    kill $signal => $pid;
    return 1 if defined reap($pid, $seconds);

    kill CONT => $pid;
    kill KILL => $pid;
    reap($pid, 10);

    return 0;
}


# a port of 127.0.0.1 that nobody uses and, until this process ends, no other
# test file is given; below those that the kernel gives to outgoing connections

sub free_port {
    my $dir = "/tmp/ngx_queues-ports-$<";
    mkdir $dir, 0700;

    for (1 .. 1000) {
        my $port = 10240 + int rand 22000;

        next if $ports{$port};

        sysopen my $lock, "$dir/$port", O_CREAT|O_RDWR or die "$dir: $!";
        flock $lock, LOCK_EX|LOCK_NB or next;

        IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1',
                              LocalPort => $port, ReuseAddr => 1)
            or next;

        $ports{$port} = $lock;
        return $port;
    }

    die "no free port";
}


sub temp_dir {
    my $dir = File::Temp::tempdir('ngxq-XXXXXXXX', TMPDIR => 1);

    push @dirs, $dir;

    return $dir;
}

sub spurt {
    my ($file, $text, $mode) = @_;

    open my $fh, '>:raw', $file or die "$file: $!";
    chmod $mode, $file if defined $mode;
    print $fh $text or die "$file: $!";
    close $fh or die "$file: $!";
}

sub slurp {
    my ($file) = @_;

    open my $fh, '<:raw', $file or return '';
    local $/;

    return scalar(<$fh>) // '';
}


# the processes whose parent is this one

sub children {
    my ($parent) = @_;

    my @pids;

    for my $file (glob '/proc/[0-9]*/stat') {
        my ($pid, $ppid, $state) = slurp($file) =~ /^(\d+) \(.*\) (\S) (\d+)/s
            ? ($1, $3, $2) : next;

        push @pids, $pid if $ppid == $parent && $state ne 'Z';
    }

    return sort { $a <=> $b } @pids;
}


# Sanitizers write beside the prefix that the Makefile gives; each server has
# a prefix of its own there, so that its test is the one that fails.

sub sanitizer_env {
    my $prefix = $ENV{NGX_QUEUES_SANITIZE} or return ({}, undef);

    my ($name) = $0 =~ m{([^/]+)$};
    $prefix .= ".$name-$$-" . ++$reports;

    my %env = map {
        $_ => ($ENV{$_} // '') =~ s/(?:^|:)log_path=[^:]*//r
              . ":log_path=$prefix"
    } qw/ASAN_OPTIONS UBSAN_OPTIONS/;

    return (\%env, $prefix);
}

sub sanitizer_reports {
    my ($prefix) = @_;

    return '' if !defined $prefix;

    return join '', map { "$_:\n" . slurp($_) } glob "$prefix.*";
}


# everything, whatever happens

sub end_all {
    my $result = $?;

    alarm 0;

    for my $pid (keys %running) {
        kill TERM => $pid;
        kill CONT => $pid;
    }

    for my $pid (keys %running) {
        stop($pid, 'TERM', 3);
    }

    chdir '/';

    if (!$ENV{TEST_NGINX_NO_CLEAN}) {
        File::Path::remove_tree($_) for @dirs;
    }

    $? = $result;
}

END {
    end_all() if $$ == $owner;
}

1;
