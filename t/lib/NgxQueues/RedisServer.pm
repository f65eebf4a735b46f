package NgxQueues::RedisServer;

# A private redis-server, or what the environment names as REDIS_SERVER.
#
#     my $redis = NgxQueues::RedisServer->new(aof => 1);
#
# listens on a Unix socket, $redis->socket. Options: aof (appendonly, fsync
# everysec), password, port (1: a free one, else that one), tls (a hash of
# NgxQueues::Tls->files: a TLS port, $redis->tls_port), config (a list of
# further options: ['--maxmemory', '10mb']), port_only (no Unix socket),
# replica_of (another one, with a port: this one is a replica of it).
#
#     $redis->stop; $redis->cont;      SIGSTOP, SIGCONT
#     $redis->written;                 waits until all of it is in the file
#                                      (aof): a kill loses nothing of it
#     $redis->kill;                    SIGKILL
#     $redis->shutdown;                SIGTERM: writes what it has to
#     $redis->start;                   after kill or shutdown, on the same data;
#                                      ('--option', 'value' …) for this once
#     $redis->restart;                 shutdown and start
#     $redis->follow($other);          becomes its replica, or with undef a
#                                      primary
#     $redis->synced;                  waits until it has all of its primary
#     $redis->calls('wait');           how often Redis was asked for that
#     $redis->client;                  NgxQueues::Redis, connected
#     $redis->cli('GET', 'a');         by redis-cli: its output
#     $redis->check;                   problems found by NgxQueues::Check
#     $redis->address;                 for queues_redis

use strict;
use warnings;

use NgxQueues::Process qw/spawn gone free_port temp_dir slurp/;
use NgxQueues::Wait;

my $owner = $$;

sub new {
    my ($class, %options) = @_;

    my $self = bless { %options, dir => temp_dir() }, $class;

    $self->{socket} = "$self->{dir}/redis.sock" if !$self->{port_only};
    $self->{port} = 1 if $self->{port_only} && !$self->{port};
    $self->{port} = free_port() if ($self->{port} || 0) == 1;
    $self->{tls_port} = free_port() if $self->{tls};

    $self->start;
    $self->synced if $self->{replica_of};

    return $self;
}

sub socket { $_[0]{socket} }
sub port { $_[0]{port} }
sub tls_port { $_[0]{tls_port} }
sub dir { $_[0]{dir} }
sub pid { $_[0]{pid} }
sub log { slurp("$_[0]{dir}/redis.log") }

sub address {
    my ($self) = @_;

    return "127.0.0.1:$self->{tls_port}" if $self->{tls_port};
    return "127.0.0.1:$self->{port}" if !$self->{socket};
    return "unix:$self->{socket}";
}

sub start {
    my ($self, @more) = @_;

    die "Redis is running" if $self->{pid} && !gone($self->{pid});

    my $dir = $self->{dir};
    my @options = (
        '--dir' => $dir, '--daemonize' => 'no', '--save' => '',
        '--logfile' => "$dir/redis.log", '--bind' => '127.0.0.1',
        '--port' => $self->{port} || 0, '--maxclients' => 4000,
        '--appendonly' => $self->{aof} ? 'yes' : 'no',
        '--appendfsync' => 'everysec', '--repl-diskless-sync-delay' => 0,
    );

    if (my $primary = $self->{replica_of}) {
        push @options, '--replicaof' => "127.0.0.1 $primary->{port}";
        push @options, '--masterauth' => $primary->{password}
            if defined $primary->{password};
    }

    push @options, '--unixsocket' => $self->{socket},
                   '--unixsocketperm' => '777' if $self->{socket};
    push @options, '--requirepass' => $self->{password}
        if defined $self->{password};

    if (my $tls = $self->{tls}) {
        push @options, '--tls-port' => $self->{tls_port},
                       '--tls-cert-file' => $tls->{certificate},
                       '--tls-key-file' => $tls->{key},
                       '--tls-ca-cert-file' => $tls->{ca},
                       '--tls-auth-clients' => 'no';
    }

    $self->{pid} = spawn({ out => "$dir/redis.out" },
                         $ENV{REDIS_SERVER} || 'redis-server', @options,
                         @{ $self->{config} || [] }, @more);

    # nginx' workers may run as another user

    chmod 0755, $dir;

    my $up = wait_for {
        gone($self->{pid}) || $self->cli('PING') =~ /^PONG/
        || @more && $self->cli('PING') =~ /^LOADING/
    } 30;

    if (!$up || gone($self->{pid})) {
        die "Redis does not start:\n", slurp("$dir/redis.out"), $self->log;
    }
}

sub where {
    my ($self) = @_;

    return $self->{socket} ? ('-s' => $self->{socket})
           : ('-h' => '127.0.0.1', '-p' => $self->{port});
}

sub cli {
    my ($self, @command) = @_;

    local $ENV{REDISCLI_AUTH} = $self->{password} // '';
    delete local $ENV{REDISCLI_AUTH} if !defined $self->{password};

    my $pid = open my $out, '-|';
    die "fork: $!" if !defined $pid;

    if ($pid == 0) {
        open STDERR, '>&', \*STDOUT;
        exec 'redis-cli', $self->where, @command or POSIX::_exit(127);
    }

    local $/;
    my $text = <$out>;

    {
        local $?;
        close $out;
    }

    return $text // '';
}

sub client {
    my ($self, %more) = @_;

    require NgxQueues::Redis;

    my $redis = NgxQueues::Redis->new($self->{socket}
        || "127.0.0.1:$self->{port}", %more);

    if (defined $self->{password}) {
        my $reply = $redis->call('AUTH', $self->{password});
        die "AUTH: $reply" if ref $reply;
    }

    return $redis;
}

sub check {
    my ($self) = @_;

    return () if $self->{no_check} || gone($self->{pid});

    # the invariants are another file's business; without it there are none

    return () if !grep { -e "$_/NgxQueues/Check.pm" } grep { !ref } @INC;

    require NgxQueues::Check;

    my @problems = eval {
        my $redis = $self->client;

        # a Redis that no nginx has used has no library to ask

        @{ $redis->call('KEYS', 'ngxq:*') }
            ? NgxQueues::Check::check($redis) : ()
    };

    return $@ ? "the check of Redis failed: $@" : @problems;
}

sub follow {
    my ($self, $primary) = @_;

    my $reply = $self->client->call('REPLICAOF',
        $primary ? ('127.0.0.1', $primary->{port}) : qw/NO ONE/);

    die "REPLICAOF: $reply" if ref $reply;

    $self->{replica_of} = $primary;
}

sub synced {
    my ($self) = @_;

    # the primary counts a replica when it has heard of it again

    wait_for {
        $self->cli(qw/INFO replication/) =~ /master_link_status:up\r/
        && $self->{replica_of}->cli(qw/INFO replication/)
           =~ /port=$self->{port},state=online/
    } 20 or die "no replica of its primary:\n", $self->log;
}

sub calls {
    my ($self, $command) = @_;

    my ($calls) = $self->cli(qw/INFO commandstats/)
        =~ /^cmdstat_\Q$command\E:calls=(\d+)/m;

    return $calls // 0;
}

sub signal { CORE::kill $_[1] => $_[0]{pid} if !gone($_[0]{pid}) }

sub stop { $_[0]->signal('STOP') }
sub cont { $_[0]->signal('CONT') }

sub written {
    my ($self) = @_;

    wait_for {
        my $info = $self->cli(qw/INFO persistence/);
        $info =~ /aof_buffer_length:0\r/ && $info =~ /aof_pending_bio_fsync:0\r/
    } 10 or die "Redis does not write its file\n";
}

sub kill {
    my ($self) = @_;

    NgxQueues::Process::stop($self->{pid}, 'KILL', 10);
}

sub shutdown {
    my ($self) = @_;

    $self->cont;

    return NgxQueues::Process::stop($self->{pid}, 'TERM', 20);
}

sub restart {
    my ($self) = @_;

    $self->shutdown;
    $self->start;
}

sub DESTROY {
    my ($self) = @_;

    return if $$ != $owner || !$self->{pid};

    local ($?, $@, $!);

    NgxQueues::Process::stop($self->{pid}, 'KILL', 10);
}

1;
