package NgxQueues::Cli;

# queuectl, as people and scripts run it: build/queuectl, or what the
# environment names as NGX_QUEUES_CLI.
#
#     my $c = NgxQueues::Cli->new(server => $s, project => 'o/p');
#     my $r = $c->run('queues', 'list', '--json');
#     # { status, signal, out, err, lines (of out), json (of each line) }
#
# new: server (an NgxQueues::Server: its URL and key are in the environment),
# project ('o/p'), env (more of the environment; undef: without that). HOME is
# an empty folder, $c->home; all of QUEUES_* is only what is said here.
#
# run: options first, in a hash: stdin (bytes; none is /dev/null), env, seconds.
# What a sanitizer reports dies.
#
#     my $h = $c->start({ … }, 'tail');     runs on; $h->{pid}
#     $c->out($h), $c->err($h)              what it has written so far
#     $c->end($h, 'INT')                    as run gives it
#
#     $c->ok('queues', 'list')              run, and dies where it fails
#     my ($status, $screen) = $c->terminal({ … }, 'drain', 'q');   on a pty

use strict;
use warnings;

use JSON::PP ();

use NgxQueues::Process qw/spawn reap gone temp_dir spurt slurp sanitizer_env
                          sanitizer_reports/;
use NgxQueues::Wait;

my $json = JSON::PP->new->utf8->allow_nonref;

sub new {
    my ($class, %options) = @_;

    my $self = bless { project => 'o/p', %options, dir => temp_dir(), n => 0 },
        $class;

    mkdir "$self->{dir}/home";

    return $self;
}

sub binary { $ENV{NGX_QUEUES_CLI} || "$NgxQueues::Process::top/build/queuectl" }
sub home { "$_[0]{dir}/home" }
sub dir { $_[0]{dir} }

sub environment {
    my ($self, $more) = @_;

    my $s = $self->{server};
    my %env = (
        HOME => $self->home,
        $s ? (QUEUES_URL => $s->url, QUEUES_KEY => $s->key,
              QUEUES_PROJECT => $self->{project}) : (),
        %{ $self->{env} || {} }, %{ $more || {} },
    );

    delete $env{$_} for grep { !defined $env{$_} } keys %env;

    return \%env;
}

sub start {
    my ($self, @words) = @_;

    my %o = ref $words[0] ? %{ shift @words } : ();
    my $name = "$self->{dir}/" . ++$self->{n};
    my ($sanitizer, $prefix) = sanitizer_env();

    $sanitizer->{ASAN_OPTIONS} =~ s/detect_leaks=0/detect_leaks=1/
        if $sanitizer->{ASAN_OPTIONS};

    spurt("$name.in", $o{stdin}) if defined $o{stdin};

    delete local @ENV{qw/QUEUES_URL QUEUES_KEY QUEUES_KEY_FILE QUEUES_PROJECT
                         QUEUES_CACERT QUEUECTL_CONFIG XDG_CONFIG_HOME NO_COLOR
                         http_proxy https_proxy all_proxy HTTPS_PROXY
                         ALL_PROXY/};

    my @command = $o{command} ? @{ $o{command} } : ($self->binary, @words);

    my $pid = spawn({ out => "$name.sh",
        env => { %$sanitizer, %{ $self->environment($o{env}) } } },
        'bash', '-c', 'exec "$@" <"$0.in" >"$0.out" 2>"$0.err"'
            =~ s{"\$0\.in"}{defined $o{stdin} ? '"$0.in"' : '/dev/null'}er,
        $name, @command);

    return { pid => $pid, name => $name, prefix => $prefix, words => \@words,
             seconds => $o{seconds} || 20 };
}

sub out { slurp("$_[1]{name}.out") }
sub err { slurp("$_[1]{name}.err") }

sub end {
    my ($self, $h, $signal) = @_;

    kill $signal => $h->{pid} if $signal && !gone($h->{pid});

    my $status = reap($h->{pid}, $h->{seconds});

    if (!defined $status) {
        kill KILL => $h->{pid};
        die "queuectl @{ $h->{words} } goes on:\n", $self->err($h);
    }

    my $reports = sanitizer_reports($h->{prefix});

    die "queuectl @{ $h->{words} }:\n$reports" if $reports ne '';

    my $out = $self->out($h);
    my @lines = split /\n/, $out;

    return {
        status => $status >> 8, signal => $status & 127, out => $out,
        err => $self->err($h), lines => \@lines,
        json => [map { scalar eval { $json->decode($_) } } @lines],
    };
}

sub run {
    my ($self, @words) = @_;

    return $self->end($self->start(@words));
}

sub ok {
    my ($self, @words) = @_;

    my $r = $self->run(@words);

    die "queuectl @words: $r->{status}\n$r->{err}"
        if $r->{status} || $r->{signal};

    return $r;
}

# on a terminal of its own, made by script(1): (exit code, what is on it). stdin
# is what is typed; stdout and stderr as they are told, in the words of a shell

sub terminal {
    my ($self, $o, @words) = @_;

    my $line = join ' ', map { "'" . s/'/'\\''/gr . "'" }
        $self->binary, @words;

    $line .= " $o->{redirect}" if $o->{redirect};

    my $r = $self->run({ %$o, env => { TERM => 'xterm', SHELL => '/bin/sh',
                                       %{ $o->{env} || {} } },
                         stdin => $o->{stdin} // '',
                         command => ['script', '-qec', $line, '/dev/null'] });

    return ($r->{status}, $r->{out});
}

1;
