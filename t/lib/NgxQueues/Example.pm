package NgxQueues::Example;

# A folder of docs/examples as it is there, in a temporary folder: only folders,
# addresses, ports and the user are others.
#
#     my $e = NgxQueues::Example->new('tls-http2');
#     $e->certificate('etc/nginx/tls/fullchain.pem', 'etc/nginx/tls/privkey.pem',
#                     'queues.example.com');
#     $e->sh('Set up');                  the README's commands under that heading
#     $e->redis('redis.conf', ping => ['-s', "$e->{dir}/run/redis/redis.sock"]);
#     $e->nginx('nginx.conf');           or with name => 'a': one of several
#     my $said = $e->sh('Try it');
#     my $r = $e->curl('https://queues.example.com/…', '-d', '{}');
#     # { status, version, seconds, head, body, json }; later(…) gives a sub instead
#     $e->finish;                        one test
#
# systemctl is taken for done; with systemctl => 1 it stops, starts and reloads
# what was started here.
#
# {replace} has { text => other text } for all files and commands. What listens
# at port N is found by curl at any host's port N.

use strict;
use warnings;

use IO::Socket::INET;
use JSON::PP ();
use Test::More ();

use NgxQueues::Process qw/spawn gone reap free_port temp_dir spurt slurp
                          sanitizer_env sanitizer_reports/;
use NgxQueues::Tls;
use NgxQueues::Wait;

my $top = $NgxQueues::Process::top;
my $json = JSON::PP->new->utf8->allow_nonref;

my %pretend = (
    (map { $_ => 'exit 0' } qw/adduser chown/),
    install => <<'END_OF_SCRIPT',
for word; do
    shift
    case $word in
    -o|-g) skip=1 ;;
    *) [ "${skip:-}" ] || set -- "$@" "$word"; skip= ;;
    esac
done
exec /usr/bin/install "$@"
END_OF_SCRIPT
    systemctl => <<'END_OF_SCRIPT',
[ "$EXAMPLE_ASK" ] || exit 0
echo "$*" >"$EXAMPLE_ASK.new"
mv "$EXAMPLE_ASK.new" "$EXAMPLE_ASK"
while [ -e "$EXAMPLE_ASK" ]; do sleep 0.02; done
END_OF_SCRIPT
    curl => 'case " $* " in *" -i "*) ;; *) set -- --fail-with-body "$@" ;; esac'
            . "\nexec /usr/bin/curl \"\$@\"",
);

sub new {
    my ($class, $name, %options) = @_;

    my $dir = temp_dir();
    my $self = bless {
        name => $name, dir => $dir, replace => {}, n => 0,
        from => "$top/docs/examples/$name", tls => NgxQueues::Tls->new,
        running => {}, %options,
    }, $class;

    chmod 0755, $dir;

    for (qw{bin home temp etc etc/nginx etc/nginx/tls etc/redis etc/redis/tls run
            run/redis var var/lib var/lib/redis var/log var/log/nginx
            var/log/redis var/backups var/backups/queues})
    {
        mkdir "$dir/$_" or die "$dir/$_: $!";
    }

    chmod 0777, "$dir/run/redis", "$dir/temp";
    spurt("$dir/bin/$_", "#!/bin/bash\n$pretend{$_}\n", 0755)
        for keys %pretend;
    spurt("$dir/env", '');

    return $self;
}

sub dir { $_[0]{dir} }
sub log { slurp("$_[0]{dir}/var/log/nginx/" . ($_[1] // '') . 'error.log') }

# the free port that stands for one of the example's, of one program

sub port {
    my ($self, $port, $name) = @_;

    return $self->{ports}{$name // 'nginx'}{$port} //= free_port();
}

sub text {
    my ($self, $text) = @_;

    for my $from (sort { length $b <=> length $a } keys %{ $self->{replace} }) {
        $text =~ s/(?<![\w.])\Q$from\E(?!\d)/$self->{replace}{$from}/g;
    }

    $text =~ s,(?<![\w./}])/(etc|run|var)/,$self->{dir}/$1/,g;

    return $text;
}

# a file of the folder, or of another, where it belongs

sub install {
    my ($self, $file, $to) = @_;

    my $text = slurp("$self->{from}/$file");

    die "$self->{from} has no $file" if $text eq '';

    spurt("$self->{dir}/$to", $self->text($text));
}

sub certificate {
    my ($self, $certificate, $key, @names) = @_;

    my $files = $self->{tls}->files(@names);

    spurt("$self->{dir}/$certificate", slurp($files->{certificate}));
    spurt("$self->{dir}/$key", slurp($files->{key}));
}

# the blocks under a heading of README.md (undef: all), in one shell, with the
# variables that the blocks before have set

sub sh {
    my ($self, $heading) = @_;

    my $page = slurp("$self->{from}/README.md");
    my ($section) = defined $heading
        ? $page =~ /^## \Q$heading\E\n(.*?)(?=^## |\z)/ms : $page;

    die "$self->{name} has no $heading" if !defined $section;

    return $self->script($heading // 'all of them',
                         join '', $section =~ /^```sh\n(.*?)^```$/msg);
}

sub script {
    my ($self, $name, $script) = @_;

    my $dir = $self->{dir};
    my $n = ++$self->{n};

    spurt("$dir/$n.sh", "shopt -s expand_aliases\n. '$dir/env'\n"
          . "set -e -o pipefail\n" . $self->text($script)
          . "set +e\ndeclare -p | grep -E '^declare -- [A-Z]+=' >'$dir/env'\n");

    my $pid = spawn({ out => "$dir/$n.out", env => $self->env },
                    'bash', "$dir/$n.sh");

    wait_for { $self->systemctl; gone($pid) } 60;

    Test::More::is(reap($pid, 1), 0, "$self->{name}: the lines work: $name")
        or Test::More::diag(slurp("$dir/$n.out"));

    return slurp("$dir/$n.out");
}

# what the stub of that name has been asked for

sub systemctl {
    my ($self) = @_;

    my ($verb, @units) = split ' ', slurp("$self->{dir}/ask") or return;

    for (map { s/-server//r } @units) {
        $self->stop($_) if $verb =~ /stop|restart/ && $self->{running}{$_};
        $self->reload($_) if $verb eq 'reload';
        next if $verb !~ /start/;
        $self->{redis}{$_} ? $self->redis_start($_) : $self->nginx_start($_);
    }

    unlink "$self->{dir}/ask";
}

# returns when the workers of before have gone

sub reload {
    my ($self, $name) = @_;

    my $pid = $self->{running}{$name}{pid};
    my %old = map { $_ => 1 } NgxQueues::Process::children($pid);

    CORE::kill HUP => $pid;

    wait_for {
        my @now = NgxQueues::Process::children($pid);

        @now == keys %old && !grep { $old{$_} } @now
    } 20 or push @{ $self->{problems} }, "$name was not reloaded";
}

sub env {
    my ($self) = @_;

    my ($dir, $ports) = @$self{qw/dir ports/};
    my $rc = 'cacert = ' . $self->{tls}->ca . "\n";

    # a program that is not called nginx is not called by curl

    for (sort keys %{ $ports->{nginx} || {} }) {
        $rc .= "connect-to = \":$_:127.0.0.1:$ports->{nginx}{$_}\"\n";
    }

    # one that was started just now may be reading it

    if ($rc ne slurp("$dir/home/.curlrc")) {
        spurt("$dir/home/curlrc.new", $rc);
        rename "$dir/home/curlrc.new", "$dir/home/.curlrc" or die $!;
    }

    return { HOME => "$dir/home", PATH => "$dir/bin:$ENV{PATH}",
             EXAMPLE_ASK => $self->{systemctl} ? "$dir/ask" : '' };
}

# a variable that the README's commands have set

sub set {
    my ($self, $name) = @_;

    return slurp("$self->{dir}/env") =~ /^declare -- \Q$name\E="(.*)"$/m
           ? $1 : die "$self->{name}: no $name is set";
}

sub redis {
    my ($self, $file, %options) = @_;

    my $dir = $self->{dir};
    my $name = $options{name} // 'redis';
    my $text = $self->text(slurp("$self->{from}/$file"));

    mkdir "$dir/var/lib/$name";
    $text =~ s{^dir .*}{dir $dir/var/lib/$name}m;
    $text =~ s{^((?:pid|log)file) .*/}{$1 $dir/run/redis/$name-}mg;
    $text = $options{change}->($text) if $options{change};
    spurt("$dir/etc/redis/$name.conf", $text);

    $self->{redis}{$name} = { %options, file => "$dir/etc/redis/$name.conf" };
    $self->redis_start($name);
}

sub redis_start {
    my ($self, $name) = @_;

    my $dir = $self->{dir};
    my $redis = $self->{redis}{$name};

    my $pid = spawn({ out => "$dir/$name.out" },
                    $ENV{REDIS_SERVER} || 'redis-server', $redis->{file},
                    '--daemonize', 'no');

    $self->{running}{$name} = { pid => $pid, signal => 'TERM' };

    wait_for {
        gone($pid) || $self->redis_cli($name, 'PING') =~ /PONG/
    } 20;

    die "$name does not start:\n", slurp("$dir/$name.out"),
        slurp("$dir/run/redis/$name-redis-server.log") if gone($pid);
}

sub redis_cli {
    my ($self, $name, @command) = @_;

    my @where = @{ $self->{redis}{$name}{ping} };

    open my $out, '-|', 'sh', '-c', 'exec redis-cli "$@" 2>&1', 'sh', @where,
        @command or die "redis-cli: $!";
    local $/;
    my $text = <$out> // '';
    local $?;
    close $out;

    return $text;
}

# nginx with a file of the folder. Only what a test must do otherwise is changed:
# it stays in the foreground, and puts bodies into the test's folder.

sub nginx {
    my ($self, $file, %options) = @_;

    my $dir = $self->{dir};
    my $name = $options{name} // 'nginx';
    my $module = $ENV{NGX_QUEUES_MODULE};
    my $text = $self->text(slurp("$self->{from}/$file"));

    my $temp = join '', map {
        "${_}_temp_path $dir/temp/$_;\n"
    } qw/client_body proxy fastcgi uwsgi scgi/;

    if ($name ne 'nginx') {
        mkdir "$dir/var/log/nginx/$name";
        $text =~ s{/var/log/nginx/}{/var/log/nginx/$name/}g;
    }

    $text =~ s{^load_module .*}{$module ? "load_module $module;" : ''}me;
    $text =~ s{^user .*}{$< == 0 ? 'user root;' : ''}me;
    $text =~ s{^pid .*}{pid $dir/run/$name.pid;}m;
    $text =~ s{(\blisten\s+)(?:[\d.]+:)?(\d+)}
              {$1 . '127.0.0.1:' . $self->port($2, $name)}ge;
    $text =~ s/^http \{\n/http {\n$temp/m;
    $text = "daemon off;\n" . ($ENV{NGX_QUEUES_SANITIZE}
            ? "env ASAN_OPTIONS;\nenv UBSAN_OPTIONS;\n" : '') . $text;

    spurt("$dir/etc/nginx/$name.conf", $text);

    $self->nginx_start($name);
}

sub nginx_start {
    my ($self, $name) = @_;

    my $dir = $self->{dir};
    my ($env, $prefix) = sanitizer_env();
    my $before = $self->links;
    my $pid = spawn({ out => "$dir/$name.out", env => $env, death => 'TERM' },
        $ENV{TEST_NGINX_BINARY} || 'nginx', '-p', $dir, '-c',
        "$dir/etc/nginx/$name.conf", '-e', "$dir/$name.log");

    $self->{running}{$name} = { pid => $pid, signal => 'QUIT' };
    push @{ $self->{prefixes} }, $prefix;

    for my $port (values %{ $self->{ports}{$name} }) {
        wait_for {
            gone($pid) || IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                                                PeerPort => $port)
        } 20;
    }

    die "$name does not start:\n", slurp("$dir/$name.out"), slurp("$dir/$name.log")
        if gone($pid);

    # until its workers have found Redis, it answers 503

    wait_for {
        my @workers = NgxQueues::Process::children($pid);

        @workers && $self->links >= $before + @workers
    } 20 if slurp("$dir/etc/nginx/$name.conf") =~ /queues_redis/;
}

sub links {
    my ($self) = @_;

    return 0 if !$self->{running}{redis};

    return () = $self->redis_cli('redis', qw/CLIENT LIST/)
        =~ /name=ngx_queues-commands/g;
}

# at once, with all its workers: as when the machine is lost

sub kill {
    my ($self, $name) = @_;

    my $pid = delete($self->{running}{$name})->{pid};

    CORE::kill KILL => $pid, NgxQueues::Process::children($pid);
    reap($pid, 10);
}

sub stop {
    my ($self, $name) = @_;

    my $one = delete $self->{running}{$name};

    NgxQueues::Process::stop($one->{pid}, $one->{signal}, scaled(20))
        or push @{ $self->{problems} }, "$name did not end";
}

sub later {
    my ($self, @arguments) = @_;

    my $file = "$self->{dir}/" . ++$self->{n};
    my $pid = spawn({ out => "$file.out", env => $self->env },
        '/usr/bin/curl', '-sS', '--max-time', 40, '-o', "$file.body", '-D',
        "$file.head", '-w', '%{http_code} %{http_version} %{time_total}',
        '-H', 'Content-Type: application/json', @arguments);

    return sub {
        reap($pid, 45);

        my ($status, $version, $seconds) =
            slurp("$file.out") =~ /(\d+) (\S+) ([\d.]+)$/;
        my $body = slurp("$file.body");

        return { status => ($status // 0) + 0, version => $version, body => $body,
                 seconds => $seconds, head => slurp("$file.head"),
                 said => slurp("$file.out"),
                 json => scalar eval { $json->decode($body) } };
    };
}

sub curl { my $self = shift; return $self->later(@_)->() }

sub finish {
    my ($self) = @_;

    # the one in front first, Redis at last

    $self->stop($_) for sort {
        ($self->{redis}{$a} ? 1 : 0) <=> ($self->{redis}{$b} ? 1 : 0)
        || $a cmp $b
    } keys %{ $self->{running} };

    my @problems = @{ $self->{problems} || [] };

    for (glob "$self->{dir}/var/log/nginx/*.log $self->{dir}/var/log/nginx/*/*.log")
    {
        # who runs the tests may not raise limits

        push @problems, grep {
            /\[(?:alert|crit|emerg)\]/ && !/setrlimit\(RLIMIT_NOFILE/
        } split /\n/, slurp($_);
    }

    push @problems, grep { length } map { sanitizer_reports($_) }
        @{ $self->{prefixes} || [] };

    Test::More::is(join("\n", @problems), '', "$self->{name}: all ended well");
}

1;
