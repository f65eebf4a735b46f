package NgxQueues::Redis;

# A small client of Redis (RESP2) for tests.  Core Perl; every wait ends.
#
#   my $r = NgxQueues::Redis->new('/path/to/socket');   # or 'host:port'
#   my $reply = $r->call('HGET', 'key', 'field');
#
# A reply is a string, an integer, undef (nil), an array reference, or an
# object for an error (ref($reply) eq 'NgxQueues::Redis::Error', text in
# $$reply; as a string it is its text).  A lost or silent server dies.

use strict;
use warnings;

use Digest::SHA ();
use IO::Socket::INET;
use IO::Socket::UNIX;
use Socket qw(SOL_SOCKET SO_RCVTIMEO SO_SNDTIMEO);


sub new {
    my ($class, $address, %opt) = @_;
    my $timeout = $opt{timeout} // 60;

    my $s = $address =~ m{/}
        ? IO::Socket::UNIX->new(Peer => $address, Timeout => $timeout)
        : IO::Socket::INET->new(PeerAddr => $address, Timeout => $timeout);

    die "cannot connect to Redis at $address: $!\n" unless $s;

    my $self = bless { socket => $s, buffer => '' }, $class;
    $self->timeout($timeout);

    return $self;
}


# The longest wait for bytes, in seconds.
sub timeout {
    my ($self, $seconds) = @_;
    my $tv = pack 'l!l!', int($seconds),
                          int(($seconds - int($seconds)) * 1e6);

    setsockopt($self->{socket}, SOL_SOCKET, $_, $tv) or die "setsockopt: $!\n"
        for SO_RCVTIMEO, SO_SNDTIMEO;
}


sub call {
    my $self = shift;

    $self->put(@_);
    return $self->get;
}


# Sends a command without waiting for its reply; get() fetches replies in
# order, and messages of subscriptions.
sub put {
    my $self = shift;
    my $text = '*' . @_ . "\r\n";

    for my $arg (@_) {
        my $bytes = $arg;
        utf8::encode($bytes) if utf8::is_utf8($bytes);
        $text .= '$' . length($bytes) . "\r\n$bytes\r\n";
    }

    local $SIG{PIPE} = 'IGNORE';

    while (length $text) {
        my $n = syswrite $self->{socket}, $text;
        next if !defined $n && $!{EINTR};
        die "write to Redis: $!\n" unless $n;
        substr($text, 0, $n) = '';
    }
}


sub get {
    my ($self) = @_;
    my $line = $self->_line;
    my $type = substr $line, 0, 1, '';

    return $line                                     if $type eq '+';
    return $line + 0                                 if $type eq ':';
    return bless \$line, 'NgxQueues::Redis::Error'   if $type eq '-';

    if ($type eq '$') {
        return undef if $line < 0;
        return substr $self->_bytes($line + 2), 0, $line;
    }

    if ($type eq '*') {
        return undef if $line < 0;
        return [ map { scalar $self->get } 1 .. $line ];
    }

    die "not RESP2: $type$line\n";
}


# A reply or message if one comes within so many seconds, else undef.
sub poll {
    my ($self, $seconds) = @_;

    if ($self->{buffer} eq '') {
        my $set = '';
        vec($set, fileno $self->{socket}, 1) = 1;
        return undef unless select($set, undef, undef, $seconds) > 0;
    }

    return $self->get;
}


# Loads the function library of a folder of Lua files as the module does;
# returns its name.
sub load_library {
    my ($self, $folder) = @_;
    my ($name, $text) = library($folder);
    my $reply = $self->call('FUNCTION', 'LOAD', $text);

    die "FUNCTION LOAD: $$reply\n"
        if ref $reply eq 'NgxQueues::Redis::Error'
           && $$reply !~ /already exists/;

    return $name;
}


sub library {
    my ($folder) = @_;
    my $body = '';

    for my $file (sort glob "$folder/*.lua") {
        open my $fh, '<:raw', $file or die "$file: $!\n";
        local $/;
        $body .= <$fh>;
    }

    my $name = 'ngxq_' . substr Digest::SHA::sha256_hex($body), 0, 16;

    return ($name, "#!lua name=$name\nlocal P = '${name}_'\n$body");
}


sub _fill {
    my ($self) = @_;
    my $n;

    do {
        $n = sysread $self->{socket}, $self->{buffer}, 65536,
                     length $self->{buffer};
    } while (!defined $n && $!{EINTR});

    die "read from Redis: $!\n" unless defined $n;
    die "Redis closed the connection\n" unless $n;
}


sub _line {
    my ($self) = @_;
    my $end;

    $self->_fill while ($end = index $self->{buffer}, "\r\n") < 0;

    my $line = substr $self->{buffer}, 0, $end + 2, '';
    return substr $line, 0, $end;
}


sub _bytes {
    my ($self, $n) = @_;

    $self->_fill while length $self->{buffer} < $n;

    return substr $self->{buffer}, 0, $n, '';
}


package NgxQueues::Redis::Error;

use overload '""' => sub { ${ $_[0] } }, 'bool' => sub { 1 }, fallback => 1;


1;
