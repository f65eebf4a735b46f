package NgxQueues::Docs::Shell;

# Runs blocks of shell as a reader would, one after the other in one shell, in a
# folder of its own:
#
#     my $shell = NgxQueues::Docs::Shell->new;
#     $shell->of($server);                  or url => …, key => … of new
#     my @done = $shell->run('first block', 'second block');
#     # of each { ok, out, answers: [texts that curl was answered with] }
#
# $URL, $KEY, $QUEUES_URL and $QUEUES_KEY are the broker's, and queuectl is there.
# Replaced are the host and port of the broker, what is under /etc, /run and
# /var/log (a folder of the test), and "…" in a JSON text that curl sends:
# "leaseId": "…" is the leaseId of the last answer that had one, "ackIds": ["…"]
# its ackId. A KEY=… is left out. What changes the machine does nothing: sudo
# runs the command, package managers, systemctl and git are taken for done, make
# says what it would do, and nginx -s reload reloads the broker's.

use strict;
use warnings;

use JSON::PP ();

use NgxQueues::Cli;
use NgxQueues::Process qw/spawn reap temp_dir spurt slurp/;

my $top = $NgxQueues::Process::top;
my $json = JSON::PP->new->utf8->allow_nonref;

my %pretend = (
    sudo => 'while [ "${1#-}" != "$1" ] || [ "${1#*=}" != "$1" ]; do shift; done'
            . '; exec "$@"',
    (map { $_ => 'exit 0' } qw/apt apt-get dpkg apt-cache systemctl journalctl git
                               adduser chown service/),
    make => "exec /usr/bin/make -n -C '$top' \"\$@\"",
    'redis-cli' => 'exec /usr/bin/redis-cli -s "$DOCS_REDIS" "$@"',
    nginx => <<'END_OF_SCRIPT',
[ "$*" = "-s reload" ] || exit 0
old=$(pgrep -P "$DOCS_NGINX")
kill -HUP "$DOCS_NGINX"
for try in {1..200}; do
    sleep 0.05
    ps -o pid= -p "$(echo $old)" >/dev/null || exit 0
done
echo 'the old workers stay'
exit 1
END_OF_SCRIPT
    curl => "exec perl '$top/t/lib/NgxQueues/Docs/curl' \"\$@\"",
);

sub new {
    my ($class, %options) = @_;

    my $dir = temp_dir();
    my $self = bless { %options, dir => $dir, n => 0 }, $class;

    mkdir "$dir/$_" for qw/bin work home etc etc etc\/nginx run log log\/nginx/;

    for (keys %pretend) {
        spurt("$dir/bin/$_", "#!/bin/bash\n$pretend{$_}\n", 0755);
    }

    symlink NgxQueues::Cli::binary(), "$dir/bin/queuectl" or die $!;

    # what a broker of these folders is given at its start

    spurt("$dir/etc/nginx/queues.jwt", 'a secret ' x 8 . "\n", 0600);

    return $self;
}

sub dir { $_[0]{dir} }
sub etc { "$_[0]{dir}/etc/nginx/" }

sub of {
    my ($self, $server) = @_;

    @$self{qw/url key nginx/} = ($server->url, $server->key, $server->pid);
    $self->{redis} = $server->redis->address =~ s/^unix://r;
}

# a line of the page as it is run

sub replaced {
    my ($self, $text) = @_;

    $text =~ s{https?://(?:127\.0\.0\.1:8080|localhost:8080|queues\.example\.com)}
              {$self->{url}}g;
    $text =~ s{unix:/run/redis/redis\.sock|/run/redis/redis\.sock}
              {$self->{redis}}g if $self->{redis};
    $text =~ s{(?<![\w./])/(etc|run)/}{$self->{dir}/$1/}g;
    $text =~ s{(?<![\w./])/var/log/}{$self->{dir}/log/}g;
    $text =~ s/^(?:export )?\w*KEY=(?:qk_)?….*\n//mg;
    $text =~ s/^git clone.*\n//mg;

    return $text;
}

sub run {
    my ($self, @blocks) = @_;

    my $dir = $self->{dir};
    my @n = map { $self->{n} + $_ } 1 .. @blocks;
    my $script = "shopt -s expand_aliases\nset -e -o pipefail\ncd '$dir/work'\n";

    for (@n) {
        spurt("$dir/$_.sh", $self->replaced(shift @blocks));
        $script .= "export DOCS_ANSWERS='$dir/$_.answers'\n"
                   . ". '$dir/$_.sh' >'$dir/$_.out' 2>&1\n: >'$dir/$_.done'\n";
    }

    $self->{n} += @n;

    # the environment of the shell before goes on in the next one

    spurt("$dir/sh", ($self->{env_from} // '') . "$script"
          . "declare -px | grep -v ' DOCS_' >'$dir/env'\n");

    my $pid = spawn({ out => "$dir/sh.out", env => {
        URL => $self->{url}, KEY => $self->{key}, QUEUES_URL => $self->{url},
        QUEUES_KEY => $self->{key}, HOME => "$dir/home",
        DOCS_REDIS => $self->{redis} // '', DOCS_NGINX => $self->{nginx} // 0,
        DOCS_DIR => $dir, PATH => "$dir/bin:$ENV{PATH}", %{ $self->{env} || {} },
    } }, 'setsid', 'bash', "$dir/sh");

    reap($pid, $self->{seconds} // 60);
    kill -15 => $pid;

    return map { {
        ok => -e "$dir/$_.done", out => slurp("$dir/$_.out"),
        answers => [map { $json->decode($_) }
                        split /\n/, slurp("$dir/$_.answers")],
    } } @n;
}

1;
