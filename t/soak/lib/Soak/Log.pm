package Soak::Log;

# The error log: every line of warn and above must be one that a fault of that
# moment explains.
#
#     Soak::Log->new(text => …, clock => wall clock - journal's clock,
#                    faults => [fault records], limit => seconds)->{problems}

use strict;
use warnings;

use POSIX ();

# Redis is gone (111: nobody listens; 2: no socket; 32, 104: closed), or loads

my $errno = qr/\((?:2|32|104|111): [^)]+\)/;
my $link = qr/connection for (?:commands|hints)/;
my $broken = qr/(?:Redis\ closed\ it
                |(?:cannot\ (?:connect|read|write))(?:\ $errno)?
                |Redis\ is\ loading\ its\ data)/x;
my $while = qr/ while talking to Redis unix:\S+/;
my $request = qr/, client: 127\.0\.0\.1, server: localhost, request: "POST /;
my $unavailable = qr/(?:no\ connection\ to\ Redis
                      |connection\ to\ Redis\ lost,\ outcome\ unknown
                      |Redis\ is\ loading\ its\ data)/x;

# kind of fault, level, text

my @explained = (
    [redis => error => qr/^$link lost: $broken$while$/],
    [redis => error => qr/^no $link: $broken$while$/],
    [redis => error => qr/^connect\(\) to unix:\S+ failed $errno$while$/],
    [redis => error => qr/^Redis answered: "LOADING [^"]+"$while$/],
    [redis => error => qr/^(?:recv|send|writev)\(\) failed $errno$while$/],
    [redis => error => qr/^the store is unavailable: $unavailable$request/],
    [redis => warn =>
        qr/^messages that nobody received were not given back \($unavailable/],
    [worker => alert => qr/^worker process (\d+) exited on signal 9$/],
    ['' => warn => qr/^a client request body is buffered to a temporary file/],
);

sub new {
    my ($class, %options) = @_;

    my $self = bless { problems => [], count => {}, %options }, $class;

    $self->line($_) for split /\n/, delete $self->{text};

    return $self;
}

sub line {
    my ($self, $line) = @_;

    my ($year, $month, $day, $hour, $minute, $second, $level, $text) = $line
        =~ m{^(\d+)/(\d+)/(\d+)\ (\d+):(\d+):(\d+)\ \[(\w+)\]\ \d+\#\d+:\ 
             (?:\*\d+\ )?(.*)}x;

    if (!defined $text) {
        push @{ $self->{problems} }, $line;
        return;
    }

    return if $level =~ /^(?:debug|info|notice)$/;

    my $when = POSIX::mktime($second, $minute, $hour, $day, $month - 1,
                             $year - 1900, 0, 0, -1) - $self->{clock};

    for (@explained) {
        my ($kind, $of, $pattern) = @$_;

        next if $level ne $of || $text !~ $pattern;
        next if $kind && !$self->fault($kind, $when, $1);

        $self->{count}{$level}++;
        return;
    }

    push @{ $self->{problems} }, $line;
}

# the log's times are whole seconds

sub fault {
    my ($self, $kind, $when, $pid) = @_;

    return scalar grep {
        $_->{kind} eq $kind && $when > $_->{begin} - 1.1
        && $when < $_->{end} + $self->{limit} + 0.1
        && ($kind ne 'worker' || grep { $_ == $pid } @{ $_->{items} })
    } @{ $self->{faults} };
}

1;
