package NgxQueues::Client;

# A small HTTP/1.1 client for tests: what browsers and libraries do not do, it
# does on demand, and it never waits for ever.
#
#     my $c = NgxQueues::Client->new(port => 8080, key => 'qk_…');
#     my $r = $c->post('/path', { name => 'a' }, headers => { 'X-A' => 1 });
#     # { status, reason, headers (lower case), head (raw), body, json, time }
#
# new: host (127.0.0.1), port, unix (a path), tls ({ ca, name }), key (for
# Authorization: Bearer), timeout (10 seconds), headers (for all requests),
# rcvbuf (bytes of the receive buffer, for one that reads slowly).
#
# get, post, put, patch, delete, head, options, or request(METHOD, …): path,
# body (a string as it is, a hash or array as JSON, undef for none), and
#
#     headers  => { Name => value, or undef for none of that name }
#     timeout  => seconds
#     chunked  => [3, 5]        Transfer-Encoding: chunked in chunks of these
#                               sizes, the rest in one
#     writes   => [10, 1]       the request's bytes in writes of these sizes,
#     pause    => 0.01          that long between them
#     expect   => 1             Expect: 100-continue; the body is sent when
#                               told ($r->{continued}), not after a refusal
#     close    => 1             Connection: close
#     fresh    => 1             on a new connection
#     raw      => bytes         instead of all of this: the bytes of a request
#
# A request that fails gives status 0 and "error": 'timeout', 'closed' …
#
#     my @h = map { $c->start(POST => "$queue/receive", {}) } 1 .. 500;
#     my $h = $c->wait_any(\@h, 5);     one that has ended, or undef
#     my $r = $h->result;
#     my @r = $c->wait_all(\@h, 20);    all results, in order
#     $h->half_close; $h->reset; $h->close;
#
# Connections are kept alive and used again by the same client object. A
# connection by hand:
#
#     my $n = $c->connect;
#     $n->write("GET / HTTP/1.1\r\n…"); my $r = $n->response; $n->closed(2);
#
# HTTP/2, by curl:   NgxQueues::Client::h2(port => …, path => …, method => …,
#                    body => …, headers => { }, tls => { ca })

use strict;
use warnings;

use Errno qw/EAGAIN EWOULDBLOCK EINTR/;
use IO::Select;
use IO::Socket::INET;
use IO::Socket::IP;
use IO::Socket::UNIX;
use JSON::PP ();
use Socket qw/SOL_SOCKET SO_RCVBUF/;
use Time::HiRes qw/time sleep/;

use NgxQueues::Wait ();

my $json = JSON::PP->new->utf8->canonical->allow_nonref;

sub new {
    my ($class, %options) = @_;

    return bless { host => '127.0.0.1', timeout => 10, idle => [],
                   %options }, $class;
}

sub get { my $c = shift; $c->request(GET => shift, undef, @_) }
sub head { my $c = shift; $c->request(HEAD => shift, undef, @_) }
sub options { my $c = shift; $c->request(OPTIONS => shift, undef, @_) }
sub post { my $c = shift; $c->request(POST => @_) }
sub put { my $c = shift; $c->request(PUT => @_) }
sub patch { my $c = shift; $c->request(PATCH => @_) }

sub delete {
    my ($c, $path, @rest) = @_;

    return $c->request(DELETE => $path, @rest % 2 ? @rest : (undef, @rest));
}

sub request {
    my ($self, @arguments) = @_;

    my $h = $self->start(@arguments);

    $self->wait_any([$h], $h->{timeout}) or $h->fail('timeout');

    return $h->result;
}

# a request on its way: NgxQueues::Client::Connection

sub start {
    my ($self, $method, $path, $body, %options) = @_;

    my $h = !$options{fresh} && $self->idle_connection || $self->connect;

    $h->{client} = $self;
    $h->{pooled} = 1;
    $h->{timeout} = NgxQueues::Wait::scaled($options{timeout}
                                            || $self->{timeout});
    $h->begin($method);

    my ($head, $content) = $self->compose($method, $path, $body, \%options);

    if ($options{expect}) {
        $h->write($head, %options);
        $h->{continued} = $h->wait_interim;
        return $h if !$h->{continued} || $h->{done};
        $h->write($content, %options);

    } else {
        $h->write($head . $content, %options);
    }

    return $h;
}

# how often the workers at a port have been told to leave

my %left;

sub workers_leave { $left{$_}++ for @_ }

sub idle_connection {
    my ($self) = @_;

    while (my $h = pop @{ $self->{idle} }) {

        # readable while idle: it was closed, or said what nobody asked for; one
        # to a worker that has to leave may be closed while it is written to

        if ($h->{leaves} != ($left{ $self->{port} // '' } // 0)
            || IO::Select->new($h->{fh})->can_read(0))
        {
            $h->close;
            next;
        }

        return $h;
    }

    return undef;
}

sub connect {
    my ($self) = @_;

    my $fh;

    if ($self->{unix}) {
        $fh = IO::Socket::UNIX->new(Peer => $self->{unix});

    } else {
        my $class = 'IO::Socket::' . ($self->{host} =~ /:/ || $self->{rcvbuf}
                                      ? 'IP' : 'INET');

        $fh = $class->new(PeerAddr => $self->{host},
            PeerPort => $self->{port}, Timeout => $self->{timeout},
            $self->{local} ? (LocalAddr => $self->{local}) : (),
            $self->{rcvbuf} ? (Sockopts => [[SOL_SOCKET, SO_RCVBUF,
                                             $self->{rcvbuf}]]) : ());
    }

    die "connect to " . ($self->{unix} || "$self->{host}:$self->{port}")
        . ": $!\n" if !$fh;

    setsockopt $fh, 6, 1, 1 if !$self->{unix};          # TCP_NODELAY

    if (my $tls = $self->{tls}) {
        require IO::Socket::SSL;

        $tls = {} if !ref $tls;
        $fh = IO::Socket::SSL->start_SSL($fh, Timeout => $self->{timeout},
            SSL_hostname => $tls->{name} || 'localhost',
            SSL_verifycn_name => $tls->{name} || 'localhost',
            SSL_verifycn_scheme => 'http',
            $tls->{ca} ? (SSL_ca_file => $tls->{ca})
                : (SSL_verify_mode => 0),
            %{ $tls->{options} || {} })
            or die "TLS: ", IO::Socket::SSL::errstr(), "\n";
    }

    $fh->blocking(0);

    return bless { fh => $fh, in => '', client => $self,
                   leaves => $left{ $self->{port} // '' } // 0,
                   timeout => NgxQueues::Wait::scaled($self->{timeout}) },
                 'NgxQueues::Client::Connection';
}

# (head, content) of a request, ready to send

sub compose {
    my ($self, $method, $path, $body, $options) = @_;

    return ($options->{raw}, '') if defined $options->{raw};

    $body = $json->encode($body) if ref $body;

    my %headers = (
        'Host' => $self->{unix} || $self->{host} =~ /:/ ? 'localhost'
                  : "$self->{host}:$self->{port}",
        $options->{close} ? ('Connection' => 'close') : (),
        defined $self->{key} ? ('Authorization' => "Bearer $self->{key}") : (),
        defined $body ? ('Content-Type' => 'application/json') : (),
        $options->{expect} ? ('Expect' => '100-continue') : (),
    );

    my $content = $body // '';

    if ($options->{chunked}) {
        my $rest = $content;

        $headers{'Transfer-Encoding'} = 'chunked';
        $content = '';

        for my $size (@{ $options->{chunked} }, length $rest) {
            my $part = substr $rest, 0, $size, '';

            $content .= sprintf "%x\r\n%s\r\n", length $part, $part
                if length $part;
        }

        $content .= "0\r\n\r\n";

    } elsif (defined $body) {
        $headers{'Content-Length'} = length $content;
    }

    for my $more ($self->{headers}, $options->{headers}) {
        for my $name (keys %{ $more || {} }) {
            delete $headers{$_} for grep { lc eq lc $name } keys %headers;
            $headers{$name} = $more->{$name};
        }
    }

    my $head = "$method $path HTTP/1.1\r\n";

    for my $name (sort keys %headers) {
        my $value = $headers{$name};

        $head .= "$name: $_\r\n"
            for ref $value ? @$value : defined $value ? $value : ();
    }

    return ("$head\r\n", $content);
}

sub wait_any {
    my ($self, $handles, $seconds) = @_;

    my $deadline = time
        + ($seconds // NgxQueues::Wait::scaled($self->{timeout}));

    while (1) {
        for my $h (@$handles) {
            return $h if $h->{done};
        }

        my %by = map { fileno($_->{fh}) => $_ } @$handles;

        # TLS may have read more than it has given out

        my @ready = grep {
            $_->{fh}->can('pending') && $_->{fh}->pending
        } @$handles;

        if (!@ready) {
            my $left = $deadline - time;
            return undef if $left <= 0;

            @ready = map { $by{fileno $_} }
                IO::Select->new(map { $_->{fh} } @$handles)->can_read($left);
        }

        $_->progress for @ready;
    }
}

sub wait_all {
    my ($self, $handles, $seconds) = @_;

    my $deadline = time
        + ($seconds // NgxQueues::Wait::scaled($self->{timeout}));
    my @open = grep { !$_->{done} } @$handles;

    while (@open) {
        my $left = $deadline - time;

        last if !$self->wait_any(\@open, $left < 0 ? 0 : $left);

        @open = grep { !$_->{done} } @open;
    }

    $_->fail('timeout') for @open;

    return map { $_->result } @$handles;
}

# in a process of its own; the same kind of result

sub h2 {
    my (%o) = @_;

    my $scheme = $o{tls} ? 'https' : 'http';
    my $url = "$scheme://" . ($o{host} || ($o{tls} ? 'localhost' : '127.0.0.1'))
              . ":$o{port}$o{path}";
    my @command = (qw/curl -sS -i --max-time/, $o{timeout} || 10,
                   $o{tls} ? '--http2' : '--http2-prior-knowledge',
                   ref $o{tls} && $o{tls}{ca} ? ('--cacert', $o{tls}{ca})
                       : $o{tls} ? '-k' : ());
    my %headers = (
        defined $o{key} ? (Authorization => "Bearer $o{key}") : (),
        defined $o{body} ? ('Content-Type' => 'application/json') : (),
        %{ $o{headers} || {} },
    );

    push @command, '-X', $o{method} if $o{method};
    push @command, '-H', "$_: $headers{$_}" for sort keys %headers;

    my $in;

    if (defined $o{body}) {
        require NgxQueues::Process;

        $in = NgxQueues::Process::temp_dir() . '/body';
        NgxQueues::Process::spurt($in,
            ref $o{body} ? $json->encode($o{body}) : $o{body});
        push @command, '--data-binary', "\@$in";
    }

    my $begin = time;
    my $pid = open(my $out, '-|', @command, $url) // die "curl: $!";

    binmode $out;

    my $text = do { local $/; <$out> } // '';
    my $code = do { local $?; close $out; $? >> 8 };

    1 while $text =~ s{^HTTP/2 1\d\d.*?\r\n\r\n}{}s;

    if ($text !~ s{^(HTTP/(\S+) (\d+)[^\n]*\n.*?\r\n\r\n)}{}s) {
        return { status => 0, error => "curl $code", headers => {},
                 head => '', body => $text, time => time - $begin };
    }

    my %result = (status => $3, version => $2, head => $1, body => $text,
                  headers => NgxQueues::Client::Connection::fields($1),
                  time => time - $begin);

    return NgxQueues::Client::Connection::with_json(\%result);
}


package NgxQueues::Client::Connection;

use Errno qw/EAGAIN EWOULDBLOCK EINTR/;
use IO::Select;
use Socket qw/SOL_SOCKET SO_LINGER/;
use Time::HiRes qw/time sleep/;

# a new request on this connection

sub begin {
    my ($self, $method) = @_;

    delete @$self{qw/done r head eof left continued/};

    $self->{method} = $method || 'GET';
    $self->{begin} = time;
}

# all of the bytes, or what the peer takes before it closes

sub write {
    my ($self, $bytes, %options) = @_;

    my $deadline = time + $self->{timeout};

    $self->begin('GET') if !$self->{begin};

    for my $size (@{ $options{writes} || [] }) {
        last if !length $bytes;

        $self->write_all(substr($bytes, 0, $size, ''), $deadline) or return 0;
        sleep($options{pause} || 0.005);
    }

    return $self->write_all($bytes, $deadline);
}

sub write_all {
    my ($self, $bytes, $deadline) = @_;

    while (length $bytes) {
        my $n = syswrite $self->{fh}, $bytes;

        if (defined $n) {
            substr $bytes, 0, $n, '';
            next;
        }

        return 0 if !$!{EAGAIN} && !$!{EWOULDBLOCK} && !$!{EINTR};
        return 0 if time > $deadline;

        IO::Select->new($self->{fh})->can_write(0.2);
    }

    return 1;
}

# whether 100 was said; not so after a final answer or silence

sub wait_interim {
    my ($self) = @_;

    my $deadline = time + $self->{timeout};

    while (!$self->{done} && !$self->{head}) {
        return 1 if $self->{interim}{100};
        return 0 if time > $deadline;

        $self->progress if IO::Select->new($self->{fh})->can_read(0.2);
    }

    return 0;
}

# the next response on this connection

sub response {
    my ($self, $seconds) = @_;

    my $method = $self->{method};

    if (!$self->{begin} || $self->{taken}) {
        $self->begin($method);
        $self->{taken} = 0;
    }

    $self->parse;
    $self->{client}->wait_any([$self], $seconds // $self->{timeout})
        or $self->fail('timeout');

    $self->{taken} = 1;

    return $self->{r};
}

# whether the peer closes within so many seconds

sub closed {
    my ($self, $seconds) = @_;

    my $deadline = time + ($seconds // 5);

    while (time < $deadline) {
        next if !IO::Select->new($self->{fh})->can_read(0.1);

        my $n = sysread $self->{fh}, my $bytes, 65536;

        return 1 if defined $n && $n == 0;
        return 1 if !defined $n && !$!{EAGAIN} && !$!{EWOULDBLOCK};
    }

    return 0;
}

sub half_close { CORE::shutdown $_[0]{fh}, 1 }

sub reset {
    my ($self) = @_;

    setsockopt $self->{fh}, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0;
    $self->close;
}

sub close {
    my ($self) = @_;

    $self->fail('closed here') if !$self->{done};
    CORE::close $self->{fh};
}

# the result; before the end: undef

sub result {
    my ($self) = @_;

    return $self->{done} ? $self->{r} : undef;
}

sub fail {
    my ($self, $error) = @_;

    return if $self->{done};

    $self->{r} = { status => 0, headers => {}, head => '', body => '',
                   %{ $self->{r} || {} }, error => $error,
                   time => time - ($self->{begin} || time) };
    $self->{r}{status} = 0;
    $self->{done} = 1;

    CORE::close $self->{fh} if $error eq 'timeout';
}

# reads what there is

sub progress {
    my ($self) = @_;

    while (!$self->{done}) {
        my $n = sysread $self->{fh}, my $bytes, 65536;

        if (!defined $n) {
            return if $!{EAGAIN} || $!{EWOULDBLOCK} || $!{EINTR};

            $self->{eof} = 1;
            $self->parse;
            $self->fail("$!");
            return;
        }

        if ($n == 0) {
            $self->{eof} = 1;
            $self->parse;
            $self->fail('closed');
            return;
        }

        $self->{in} .= $bytes;
        $self->parse;
    }
}

sub parse {
    my ($self) = @_;

    while (!$self->{head}) {
        return if $self->{in} !~ s{^(HTTP/1\.\d[ ](\d\d\d)[ ]?([^\r\n]*)\r\n
                                    (?:.*?\r\n)??)\r\n}{}sx;

        my ($head, $status, $reason) = ($1, $2, $3);

        if ($status < 200) {
            $self->{interim}{$status}++;
            next;
        }

        $self->{head} = 1;
        $self->{r} = { status => $status + 0, reason => $reason,
                       head => $head, headers => fields($head), body => '' };
    }

    my $r = $self->{r};
    my $h = $r->{headers};

    if ($self->{method} eq 'HEAD' || $r->{status} == 204
        || $r->{status} == 304)
    {
        return $self->complete;
    }

    if (($h->{'transfer-encoding'} // '') eq 'chunked') {
        return $self->parse_chunks;
    }

    if (defined(my $length = $h->{'content-length'})) {
        return if length $self->{in} < $length;

        $r->{body} = substr $self->{in}, 0, $length, '';
        return $self->complete;
    }

    if ($self->{eof}) {
        $r->{body} = $self->{in};
        $self->{in} = '';
        $self->complete;
    }
}

sub parse_chunks {
    my ($self) = @_;

    while (1) {
        if (defined $self->{left}) {
            return if length $self->{in} < $self->{left} + 2;

            $self->{r}{body} .= substr $self->{in}, 0, $self->{left}, '';
            substr $self->{in}, 0, 2, '';
            delete $self->{left};
        }

        if ($self->{in} =~ s/^0+(?:;[^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n//) {
            return $self->complete;
        }

        return if $self->{in} =~ /^0+(?:;[^\r\n]*)?\r\n/;
        return if $self->{in} !~ s/^([0-9a-fA-F]+)[^\r\n]*\r\n//;

        $self->{left} = hex $1;
    }
}

sub complete {
    my ($self) = @_;

    my $r = $self->{r};

    $r->{time} = time - $self->{begin};
    $r->{continued} = $self->{continued} if exists $self->{continued};
    $r->{interim} = delete $self->{interim} if $self->{interim};

    with_json($r);

    $self->{done} = 1;

    return if $self->{eof} || length $self->{in};

    my $connection = lc($r->{headers}{connection}
        // ($r->{head} =~ m{^HTTP/1\.0 } ? 'close' : ''));

    if ($connection eq 'close') {
        CORE::close $self->{fh} if $self->{pooled};

    } elsif ($self->{pooled}) {

        # the handle keeps its result; the socket serves another one

        push @{ $self->{client}{idle} },
            bless { fh => $self->{fh}, in => '', leaves => $self->{leaves},
                    timeout => $self->{timeout} }, ref $self;
    }
}

sub with_json {
    my ($r) = @_;

    if (($r->{headers}{'content-type'} // '') =~ m{^application/(.+\+)?json}) {
        $r->{json} = eval { $json->decode($r->{body}) };
    }

    return $r;
}

sub fields {
    my ($head) = @_;

    my %fields;

    for (split /\r?\n/, $head) {
        my ($name, $value) = /^([^:\s]+):\s*(.*?)\s*$/ or next;

        $name = lc $name;
        $fields{$name} = exists $fields{$name} ? "$fields{$name}, $value"
            : $value;
    }

    return \%fields;
}

1;
