package NgxQueues::Programs;

# The programs of docs/guides, run as their readers run them.
#
#     my $p = NgxQueues::Programs->new('queues', { QUEUES_URL => …, … });
#     my $run = $p->start('worker', 'python', { DONE => … }, 'orders');
#     $run->{pid}, $p->out($run)        what it has said so far
#     $p->feed($run, "lines\n"); $p->fed($run);      its input, and the end of it
#     $p->ends($run, 'TERM')            in order: one test
#     done($file)                       the ids of what was done, in order, in the
#                                       file of a program, its DONE
#     is_done($file, 10)                so many, soon: one test
#
#     my $proxy = busy(free_port());    one before the server, $proxy->{directives} of
#                                       its http { }: busy until open_up($proxy)
#     asks_again($proxy, 'date/x')      what calls $proxy->{url}/date/x, or /seconds/x,
#                                       does so again, in time: one test

use strict;
use warnings;

use Exporter 'import';
use IO::Handle;
use POSIX 'mkfifo';
use Test::More ();

use NgxQueues::Go;
use NgxQueues::Process qw/spawn reap gone slurp temp_dir/;
use NgxQueues::Wait;

our @EXPORT_OK = qw/done is_done busy open_up asks_again/;
our @languages = qw/node python go/;

my $top = $NgxQueues::Process::top;

sub new {
    my ($class, $guide, $env) = @_;

    my $self = bless { guide => $guide, env => $env, dir => temp_dir(), n => 0 },
        $class;

    # where Node.js finds Google's client

    symlink "$top/build/client/node_modules", "$self->{dir}/node_modules" or die $!;

    return $self;
}

sub dir { $_[0]{dir} }

sub command {
    my ($self, $program, $language) = @_;

    my $name = "$self->{guide}/$program";

    return NgxQueues::Go::binary($name) if $language eq 'go';

    my %of = (node => ['mjs', 'node'], python => ['py', '/usr/bin/python3']);
    my ($suffix, $runs) = @{ $of{$language} };
    my $file = "$self->{dir}/$program.$suffix";

    # once: one that starts now may be reading it

    NgxQueues::Process::spurt($file, slurp("$top/docs/guides/$name.$suffix"))
        if !-e $file;

    return ($runs, $file);
}

sub start {
    my ($self, $program, $language, $env, @arguments) = @_;

    my $n = ++$self->{n};
    my $run = { name => "$program in $language", in => "$self->{dir}/in$n",
                out => "$self->{dir}/out$n" };

    # the input of producers is a pipe with a name, of which we hold an end

    if ($program =~ /^(?:producer|publisher)\z/) {
        mkfifo($run->{in}, 0600) or die "$run->{in}: $!";
        open $run->{to}, '+<', $run->{in} or die "$run->{in}: $!";
        $run->{to}->autoflush(1);
    } else {
        $run->{in} = '/dev/null';
    }

    $run->{pid} = spawn({ out => $run->{out}, env => {
        PYTHONDONTWRITEBYTECODE => 1, PYTHONUNBUFFERED => 1, NODE_NO_WARNINGS => 1,
        %{ $self->{env} }, %$env,
    } }, 'sh', '-c', 'exec "$@" <"$0"', $run->{in},
         $self->command($program, $language), @arguments);

    return $run;
}

sub out { slurp($_[1]{out}) }

sub feed { print { $_[1]{to} } $_[2] }
sub fed { close $_[1]{to} }

sub ends {
    my ($self, $run, $signal, $seconds) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    kill $signal => $run->{pid} if $signal && !gone($run->{pid});

    my $status = reap($run->{pid}, $seconds || 20);

    Test::More::is($status, 0, "$run->{name} ends" . ($signal ? " by $signal" : ''))
        or Test::More::diag($self->out($run));
}

# those in Python keep theirs in a database

sub done {
    my ($file) = @_;

    return split /\n/, slurp($file) if $file !~ /python/;
    return split /\n/, `/usr/bin/python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute("SELECT id FROM orders ORDER BY rowid"):
    print(row[0])' $file 2>/dev/null`;
}

sub is_done {
    my ($file, $n) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    Test::More::ok(wait_for(sub { (my @all = done($file)) >= $n }, 20), "$n are done")
        or Test::More::diag(scalar(done($file)));
}

# It says when to ask again: by a date, as some do, or by seconds.

sub busy {
    my ($port) = @_;

    my $dir = temp_dir();
    my %after = (date => 'Wed, 21 Oct 2026 07:28:00 GMT', seconds => 1);

    return { dir => $dir, url => "http://127.0.0.1:$port", directives =>
        "log_format asked '\$msec \$uri';"
        . "server { listen 127.0.0.1:$port; access_log $dir/asked asked;"
        . join('', map {
            "location ~ ^/$_/[^/]+(/.*)\$ {"
            . " if (!-f $dir/open) { add_header Retry-After '$after{$_}' always;"
            . ' return 503; }'
            . ' proxy_pass http://127.0.0.1:%%PORT%%$1$is_args$args; }'
        } sort keys %after) . '}' };
}

sub open_up { NgxQueues::Process::spurt("$_[0]{dir}/open", '') }

# Twice more: not before 0.1 s and 0.2 s have passed, the shortest pauses of its own,
# or one second each.

sub asks_again {
    my ($proxy, $path) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my @at;

    wait_for(sub {
        @at = slurp("$proxy->{dir}/asked") =~ m{^(\S+) /\Q$path\E/}mg;
        @at >= 3
    }, 20);

    my $least = $path =~ /^seconds/ ? 1.9 : 0.29;

    Test::More::ok(@at >= 3 && $at[2] - $at[0] >= $least, "$path: it asks again")
        or Test::More::diag("at @at");
}

# Programs that send and that receive, the roles, in these languages, each told in two
# ways when to ask again; make has what a name needs at the broker. What is sent once
# the proxy opens up is done.

sub told {
    my ($self, $proxy, $url, $roles, $languages, $make) = @_;

    my (%told, @ways);

    for my $language (@$languages) {
        for my $way (qw/date seconds/) {
            my $name = "$way-$language";

            push @ways, $name;
            $make->($name);

            $told{$name} = [map { $self->start($_, $language, {
                DONE => "$self->{dir}/$name",
                $url => "$proxy->{url}/$way/$_-$language",
            }, $name) } @$roles];

            $self->feed($told{$name}[0], "{}\n" x 10);
        }
    }

    for my $role (@$roles) {
        asks_again($proxy, s{-}{/$role-}r) for @ways;
    }

    open_up($proxy);

    for my $name (@ways) {
        $self->fed($told{$name}[0]);
        $self->ends($told{$name}[0]);
        is_done("$self->{dir}/$name", 10);
        $self->ends($told{$name}[1], 'TERM', 5);
    }
}

1;
