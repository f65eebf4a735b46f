package Soak::Log;

# The error log: every line of warn and above must be one that a fault of that
# moment explains.
#
#     Soak::Log->new(text => …, clock => wall clock - journal's clock,
#                    faults => [fault records], limit => seconds)->{problems}

use strict;
use warnings;

use POSIX ();

# 2: no socket; 111: nobody listens; 32, 104: closed; 110: silent

my $errno = qr/\((?:2|32|104|110|111): [^)]+\)/;
my $link = qr/connection for (?:commands|hints|sends)/;
my $broken = qr/(?:Redis\ closed\ it|Redis\ has\ moved
                |cannot\ (?:connect|read|write)(?:\ $errno)?
                |Redis\ is\ loading\ its\ data)/x;
my $while = qr/ while talking to Redis (?:unix:\S+|127\.0\.0\.1:\d+)/;
my $request = qr/, client: 127\.0\.0\.1, server: localhost, request: "POST /;
my $unavailable = qr/(?:no\ connection\ to\ Redis
                      |connection\ to\ Redis\ lost,\ outcome\ unknown
                      |Redis\ is\ loading\ its\ data)/x;
my $late = 'no answer from Redis in time, outcome unknown';
my $replica = 'Redis is a read-only replica';
my $refused = 'Redis refused CLIENT SETNAME';

my $away = 'redis kick freeze replica limit';

# kinds of fault, none: at any time; level, text

my @explained = (
    [$away => error => qr/^$link lost: $broken$while$/],
    [$away => error => qr/^no $link: $broken$while$/],
    [$away => error => qr/^connect\(\) to \S+ failed $errno$while$/],
    [$away => error => qr/^(?:recv|send|writev)\(\) failed $errno$while$/],
    ["$away term" => error => qr/^the store is unavailable: $unavailable$request/],
    [$away => warn =>
        qr/^messages that nobody received were not given back \($unavailable/],
    [$away => warn => qr/^due work waits: $unavailable$/],
    [freeze => warn => qr/^due work waits: $late$/],
    [full => warn => qr/^due work waits: Redis is out of memory$/],
    [replica => warn => qr/^due work waits: $replica$/],
    [redis => error => qr/^Redis answered: "LOADING [^"]+"$while$/],
    [freeze => error =>
        qr/^$link lost: no answer to (?:a command|PING) $errno$while$/],
    [freeze => error =>
        qr/^no $link: not ready within the connect timeout $errno$while$/],
    [freeze => error => qr/^the store is unavailable: $late$request/],
    [freeze => warn =>
        qr/^messages that nobody received were not given back \($late/],
    [full => error =>
        qr/^the store is unavailable: Redis is out of memory$request/],
    ["$away full" => warn => qr/^due work waits: \w[\w ,]+$/],
    [full => error =>
        qr/^due work of "ngxq:\{[^}"]+\}" is not done: Redis is out of memory$/],
    [replica => error => qr/^the store is unavailable: $replica$request/],
    [replica => warn =>
        qr/^messages that nobody received were not given back \($replica/],
    [replica => error => qr/^(?:no $link|$link lost): $replica(?: $errno)?$while$/],
    [replica => error =>
        qr/^(?:no $link|$link lost): Redis has moved$while$/],
    [replica => error => qr/^Redis answered: "READONLY [^"]+"$while$/],
    [limit => error => qr/^no $link: $refused$while$/],
    [limit => error => qr/^Redis answered: "ERR max number of clients [^"]+"/],
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
        my ($kinds, $of, $pattern) = @$_;

        next if $level ne $of || $text !~ $pattern;
        next if $kinds && !$self->fault($kinds, $when, $1);

        $self->{count}{$level}++;
        return;
    }

    push @{ $self->{problems} }, $line;
}

# the log's times are whole seconds

sub fault {
    my ($self, $kinds, $when, $pid) = @_;

    my %kinds = map { $_ => 1 } split / /, $kinds;

    return scalar grep {
        $kinds{ $_->{kind} } && $when > $_->{begin} - 1.1
        && $when < $_->{end} + $self->{limit} + 0.1
        && ($kinds ne 'worker' || grep { $_ == $pid } @{ $_->{items} })
    } @{ $self->{faults} };
}

1;
