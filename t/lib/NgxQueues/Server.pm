package NgxQueues::Server;

# A broker for flows that one request does not make: nginx with the module and
# a Redis of its own, on free ports, in a temporary folder.
#
#     my $s = NgxQueues::Server->new(workers => 2);
#     my $r = $s->client->get('/v1/organizations/o/projects/p/queues');
#     $s->finish;                        one test: all went and ended well
#
# Options:
#
#     workers          1
#     redis            options for NgxQueues::RedisServer, or a running one
#                      (the other server's, say), or 0 for none
#     node_of          another server: this is one more node on its Redis, with
#                      its secret and keys
#     main, events, http, server, location
#                      more configuration, as text; in it %%PORT%%, %%DIR%%,
#                      %%REDIS%% are replaced
#     api              what "location /" has: 'queues_api;'
#     locations        instead of "location /": text
#     queues           0: without queues_redis, _secret_file and _api_keys
#     keys             lines for the keys file, besides $s->key's: may all
#     tls              1: a TLS listener as well, $s->tls_port, $s->ca
#     http2            1: HTTP/2 without TLS on $s->h2_port, and with it on
#                      the TLS listener
#     connections      worker_connections: 4096
#     log_level        info
#     start            0: do not start yet
#
# Methods: see below. "finish" is what makes a test of it: without it, nginx
# and Redis are ended, but nothing is checked.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use IO::Socket::INET;
use Test::More ();

use NgxQueues::Client;
use NgxQueues::Process qw/spawn gone reap free_port temp_dir spurt slurp
                          children sanitizer_env sanitizer_reports/;
use NgxQueues::RedisServer;
use NgxQueues::Tls;
use NgxQueues::Wait;

my $owner = $$;

sub new {
    my ($class, %options) = @_;

    my $self = bless { workers => 1, %options, allow => [] }, $class;
    my $node = $self->{node_of};

    $self->{dir} = temp_dir();
    chmod 0755, $self->{dir};
    mkdir "$self->{dir}/temp";

    if ($node) {
        $self->{redis} //= $node->redis;
    }

    if (!defined $self->{redis} || ref $self->{redis} eq 'HASH') {
        $self->{redis} =
            NgxQueues::RedisServer->new(%{ $self->{redis} || {} });
        $self->{redis_is_ours} = 1;
    }

    $self->{$_} = free_port()
        for 'port', $self->{tls} ? 'tls_port' : (),
            $self->{http2} ? 'h2_port' : ();

    if ($self->{tls}) {
        $self->{tls} = NgxQueues::Tls->new if !ref $self->{tls};
        $self->{tls_files} = $self->{tls}->files('localhost', '127.0.0.1');
    }

    $self->files($node);
    $self->configure;
    $self->start if !defined $self->{start} || $self->{start};

    return $self;
}

sub key { $_[0]{key} }
sub port { $_[0]{port} }
sub tls_port { $_[0]{tls_port} }
sub h2_port { $_[0]{h2_port} }
sub ca { $_[0]{tls}->ca }
sub dir { $_[0]{dir} }
sub redis { $_[0]{redis} }
sub pid { $_[0]{pid} }
sub url { "http://127.0.0.1:$_[0]{port}" }
sub error_log { slurp("$_[0]{dir}/error.log") }
sub access_log { slurp("$_[0]{dir}/access.log") }

# an NgxQueues::Client for it; tls => 1 for the TLS listener; key => undef for
# none

sub client {
    my ($self, %options) = @_;

    my $tls = delete $options{tls};

    return NgxQueues::Client->new(
        port => $tls ? $self->{tls_port} : $self->{port},
        $tls ? (tls => { ca => $self->ca, name => 'localhost' }) : (),
        key => $self->{key},
        %options
    );
}

sub files {
    my ($self, $node) = @_;

    my $dir = $self->{dir};

    if ($node) {
        $self->{$_} = $node->{$_} for qw/key secret_file keys_file/;
        return;
    }

    $self->{key} = 'qk_' . substr(sha256_hex($dir . rand), 0, 32);
    $self->{secret_file} = "$dir/secret";
    $self->{keys_file} = "$dir/keys";

    spurt("$dir/secret", sha256_hex("$dir$$" . rand) . "\n", 0600);
    spurt("$dir/keys", join("\n", sha256_hex($self->{key}) . ' test * *',
                            @{ $self->{keys} || [] }) . "\n", 0600);
}

# writes nginx.conf anew, with changed options: configure(workers => 4); then
# reload or start

sub configure {
    my ($self, %options) = @_;

    $self->{$_} = $options{$_} for keys %options;

    my $dir = $self->{dir};
    my $module = $ENV{NGX_QUEUES_MODULE};
    my $main = $self->{main} // '';
    my $queues = '';

    if ($self->{queues} // 1) {
        $queues = "queues_secret_file $self->{secret_file};\n"
                  . "queues_api_keys $self->{keys_file};\n";
        $queues .= 'queues_redis ' . $self->{redis}->address . ";\n"
            if $self->{redis};

        # a machine that runs many tests may be slow to connect

        $queues .= "queues_redis_connect_timeout 10s;\n"
            if ($self->{http} // '') !~ /queues_redis_connect_timeout/;

        if (ref $self->{redis} && $self->{redis}{tls}) {
            $queues .= "queues_redis_tls on;\nqueues_redis_trusted_certificate "
                       . "$self->{redis}{tls}{ca};\n";
        }

        if (ref $self->{redis} && defined $self->{redis}{password}) {
            spurt("$dir/redis_password", "$self->{redis}{password}\n", 0600);
            $queues .= "queues_redis_password_file $dir/redis_password;\n";
        }
    }

    my $listen = "listen 127.0.0.1:$self->{port};\n";

    $listen .= "listen 127.0.0.1:$self->{h2_port} http2;\n"
        if $self->{http2};

    if ($self->{tls}) {
        $listen .= "listen 127.0.0.1:$self->{tls_port} ssl"
                   . ($self->{http2} ? ' http2' : '') . ";\n"
                   . "ssl_certificate $self->{tls_files}{certificate};\n"
                   . "ssl_certificate_key $self->{tls_files}{key};\n";
    }

    my $locations = $self->{locations} // 'location / { '
                    . ($self->{api} // 'queues_api;') . ' '
                    . ($self->{location} // '') . ' }';

    my $temp = join '', map {
        "${_}_temp_path $dir/temp/$_;\n"
    } qw/client_body proxy fastcgi uwsgi scgi/;

    my $text = join "\n",
        $module ? "load_module $module;" : (),
        'daemon off;', "worker_processes $self->{workers};",
        $< == 0 ? 'user root;' : (),
        $ENV{NGX_QUEUES_SANITIZE} ? 'env ASAN_OPTIONS; env UBSAN_OPTIONS;' : (),
        "pid $dir/nginx.pid;",
        "error_log $dir/error.log " . ($self->{log_level} // 'info') . ';',
        $main,
        'events {', 'worker_connections ' . ($self->{connections} // 4096) . ';',
        $self->{events} // '', '}',
        'http {', "access_log $dir/access.log;", $temp, $queues,
        $self->{http} // '',
        'server {', $listen, 'server_name localhost;',
        $self->{server} // '', $locations, '}', '}', '';

    my %known = (
        PORT => $self->{port}, DIR => $dir, TLS_PORT => $self->{tls_port},
        REDIS => ref $self->{redis} ? $self->{redis}->address : undef,
    );

    $text =~ s{%%(\w+)%%}{$known{$1} // die "no %%$1%% here"}ge;

    spurt("$dir/nginx.conf", $text);
}

sub command {
    my ($self) = @_;

    return ($ENV{TEST_NGINX_BINARY} || 'nginx', '-p', $self->{dir},
            '-c', "$self->{dir}/nginx.conf", '-e', "$self->{dir}/error.log");
}

# nginx -t: (whether it is right, what it says)

sub test_configuration {
    my ($self) = @_;

    my ($env, $prefix) = sanitizer_env();
    my $out = "$self->{dir}/test.out";

    unlink $out;

    my $status = reap(spawn({ out => $out, env => $env },
                            $self->command, '-t'), 30);

    return (defined $status && $status == 0,
            slurp($out) . sanitizer_reports($prefix));
}

sub start {
    my ($self) = @_;

    my $dir = $self->{dir};
    my ($env, $prefix) = sanitizer_env();

    push @{ $self->{prefixes} }, $prefix;

    # should the test be killed, its death ends nginx in good order

    $self->{pid} = spawn({ out => "$dir/nginx.out", env => $env,
                           death => 'TERM' }, $self->command);

    my $up = wait_for {
        gone($self->{pid})
        || IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                                 PeerPort => $self->{port})
           && $self->worker_pids == $self->{workers}
    } 20;

    if (!$up || gone($self->{pid})) {
        die "nginx does not start:\n", slurp("$dir/nginx.out"),
            $self->error_log;
    }
}

# the workers that serve; with all => 1 also those that are shutting down

sub worker_pids {
    my ($self, %options) = @_;

    my @pids = children($self->{pid});

    return @pids if $options{all};

    return grep {
        slurp("/proc/$_/cmdline") =~ /^nginx: worker process(?! is shutting)/
    } @pids;
}

sub signal {
    my ($self, $signal) = @_;

    return if gone($self->{pid});

    CORE::kill $signal => $self->{pid};
    NgxQueues::Client::workers_leave(grep { defined }
                                     @$self{qw/port tls_port h2_port/});
}

# HUP; returns when the new workers alone serve, and with drained => seconds when
# the old ones are gone as well

sub reload {
    my ($self, %options) = @_;

    my %old = map { $_ => 1 } $self->worker_pids;

    $self->signal('HUP');

    wait_for {
        my @now = $self->worker_pids;
        @now == $self->{workers} && !grep { $old{$_} } @now
    } 20 or die "no reload:\n", $self->error_log;

    if ($options{drained}) {
        wait_for {
            !grep { $old{$_} } $self->worker_pids(all => 1)
        } $options{drained} or die "old workers stay:\n", $self->error_log;
    }
}

# QUIT: graceful; TERM: at once. 1 where nginx ended within so many seconds

sub quit { $_[0]->end('QUIT', $_[1] || 20) }
sub terminate { $_[0]->end('TERM', $_[1] || 10) }

sub end {
    my ($self, $signal, $seconds) = @_;

    my $well = NgxQueues::Process::stop($self->{pid}, $signal, $seconds);

    push @{ $self->{problems} }, "nginx did not end by $signal in $seconds s"
        if !$well;

    return $well;
}

# SIGKILL for one worker (the first, or that pid); returns when another has
# taken its place. The alert about it is then no problem.

sub kill_worker {
    my ($self, $pid) = @_;

    $pid ||= ($self->worker_pids)[0];

    push @{ $self->{allow} }, qr/process $pid exited on signal 9/;

    CORE::kill KILL => $pid;

    wait_for {
        my @now = $self->worker_pids;
        @now == $self->{workers} && !grep { $_ == $pid } @now
    } 20 or die "no new worker:\n", $self->error_log;

    return $pid;
}

# the node dies: master and workers, by SIGKILL

sub kill {
    my ($self) = @_;

    my @workers = $self->worker_pids(all => 1);

    CORE::kill KILL => $self->{pid}, @workers;

    reap($self->{pid}, 10);
    wait_for { !grep { CORE::kill(0, $_) && alive($_) } @workers } 10;
}

sub alive { slurp("/proc/$_[0]/stat") =~ /^\d+ \(.*\) [^ZX]/s }

# What no test may leave behind. allow => [qr/…/] are lines of the error log
# that are as they should be. One test, whatever is found.

sub finish {
    my ($self, %options) = @_;

    my @problems;

    if ($self->{pid} && !gone($self->{pid})) {
        my @workers = $self->worker_pids(all => 1);

        $self->quit;

        wait_for { !grep { alive($_) } @workers } 5
            or push @problems, 'a worker has outlived its master';
    }

    push @problems, @{ delete $self->{problems} || [] };

    my @allow = (@{ $self->{allow} }, @{ $options{allow} || [] });

    for my $line (split /\n/, $self->error_log) {
        next if $line !~ /\[(?:alert|crit|emerg)\]/;
        next if grep { $line =~ $_ } @allow;

        push @problems, $line;
    }

    push @problems, grep { length } map { sanitizer_reports($_) }
        @{ $self->{prefixes} || [] };

    if ($self->{redis_is_ours}) {
        push @problems, $self->{redis}->check;
        $self->{redis}->shutdown or push @problems, 'Redis did not end';
    }

    my $tester = Test::More->builder;
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    $tester->ok(!@problems, $options{name} || 'all ended well');
    $tester->diag(join "\n", @problems, '') if @problems;

    $self->{finished} = 1;

    return !@problems;
}

sub DESTROY {
    my ($self) = @_;

    return if $$ != $owner || !$self->{pid};

    local ($?, $@, $!);

    NgxQueues::Process::stop($self->{pid}, 'TERM', 5);
}

1;
