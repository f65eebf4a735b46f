package NgxQueues::Helper;

# A process of the test's own that serves something (NgxQueues::Endpoint, ::Dns)
# and is told what to do over a Unix socket.
#
# In the test:
#
#     my $helper = NgxQueues::Helper->start('NgxQueues::Dns::Server', \%config);
#     my $reply = $helper->call(command => @arguments);     any Perl data
#
# In the process, whose run() is given the configuration and a control:
#
#     my $fh = $control->{fh};                select for reading: when it is,
#     $control->serve(sub { my ($command, @arguments) = @_; …; $reply });
#
# A reply comes when a command has been carried out. Where the test goes, so
# does the process.

use strict;
use warnings;

use IO::Socket::UNIX;
use Storable qw/freeze thaw nstore retrieve/;

use NgxQueues::Process qw/spawn gone temp_dir slurp/;
use NgxQueues::Wait;

my $owner = $$;

sub start {
    my ($class, $server, $config) = @_;

    my $dir = temp_dir();
    my $self = bless { dir => $dir, server => $server }, $class;

    nstore($config, "$dir/config");

    $self->{pid} = spawn({ out => "$dir/out" }, $^X,
        "-I$NgxQueues::Process::top/t/lib", "-M$server", '-MNgxQueues::Helper',
        '-e', 'NgxQueues::Helper::run(@ARGV)', $server, $dir);

    my $up = wait_for {
        gone($self->{pid})
        || ($self->{fh} = IO::Socket::UNIX->new(Peer => "$dir/control"))
    } 20;

    die "$server does not start:\n", $self->log if !$up || !$self->{fh};

    return $self;
}

sub pid { $_[0]{pid} }
sub log { slurp("$_[0]{dir}/out") }

sub call {
    my ($self, @command) = @_;

    put($self->{fh}, \@command);

    my $reply = get($self->{fh})
        or die "$self->{server} has gone:\n", $self->log;

    die "$self->{server}: $reply->{error}" if exists $reply->{error};

    return $reply->{is};
}

sub stop { NgxQueues::Process::stop($_[0]{pid}, 'KILL', 10) }

sub DESTROY {
    my ($self) = @_;

    return if $$ != $owner || !$self->{pid};

    local ($?, $@, $!);

    $self->stop;
}

sub put {
    my ($fh, $data) = @_;

    my $bytes = pack 'N/a*', freeze($data);

    while (length $bytes) {
        my $n = syswrite $fh, $bytes or return 0;
        substr $bytes, 0, $n, '';
    }

    return 1;
}

sub get {
    my ($fh) = @_;

    my ($bytes, $want) = ('', 4);

    while (length $bytes < $want) {
        my $n = sysread $fh, $bytes, $want - length $bytes, length $bytes;
        return undef if !$n;

        $want = 4 + unpack 'N', $bytes if $want == 4 && length $bytes == 4;
    }

    return thaw(substr $bytes, 4);
}

# the process

sub run {
    my ($server, $dir) = @_;

    my $config = retrieve("$dir/config");

    # whoever can connect finds it ready

    $server->can('run')->($config, sub {
        my $listen = IO::Socket::UNIX->new(Local => "$dir/control",
                                           Listen => 1) or die "control: $!";

        my $fh = $listen->accept or die "control: $!";

        return bless { fh => $fh }, 'NgxQueues::Helper::Control';
    });
}


package NgxQueues::Helper::Control;

sub serve {
    my ($self, $handler) = @_;

    my $command = NgxQueues::Helper::get($self->{fh}) or exit 0;
    my $is = eval { { is => $handler->(@$command) } };

    NgxQueues::Helper::put($self->{fh}, $is || { error => "$@" });
}

1;
