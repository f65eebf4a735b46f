package NgxQueues::Endpoint::Server;

# The process of NgxQueues::Endpoint: one loop over all connections. What a
# behaviour means is made of steps, which NgxQueues::Endpoint::Answer writes.

use strict;
use warnings;

use Errno qw/EAGAIN EWOULDBLOCK EINTR/;
use IO::Socket::IP;
use IO::Socket::SSL;
use Socket qw/SOL_SOCKET SO_LINGER SO_RCVBUF/;
use Time::HiRes 'time';

use NgxQueues::Endpoint::Answer;

my ($config, $listen, $tls, %conns, @news, %open, %most, %behaviours, @accepting,
    %released, @history);
my $requests = 0;
my $serial = 0;

my %commands = (
    on => sub { my ($path, @list) = @_; $behaviours{$path} = \@list; 1 },
    accepting => sub { push @accepting, @_; 1 },
    release => \&release,
    down => sub { undef $listen; finish($_, 'here', 'close') for values %conns },
    up => sub { bind_port(); 1 },
    connections => sub { [map { { %$_ } } @history] },
    most => sub { $most{$_[0]} || 0 },
    open => sub { $open{$_[0]} || 0 },
    forget => sub { @news = (); %most = %open; $requests },
    news => sub { my %seen; [map { { %$_ } } grep { !$seen{ $_->{n} }++ }
                             splice @news] },
);

sub run {
    ($config, my $ready) = @_;

    $SIG{PIPE} = 'IGNORE';

    bind_port();
    $tls = context() if !$config->{plain};

    my $control = $ready->();

    while (1) {
        my ($readable, $writable) = wait_events($control->{fh});

        $control->serve(\&command) if $readable->(fileno $control->{fh});

        for my $c (values %conns) {
            my $fd = $c->{fd};

            eval { progress($c, $readable->($fd), $writable->($fd)); 1 }
                or do { warn $@; finish($c, 'here', 'close') };
        }

        accept_all() if $listen && $readable->(fileno $listen);
    }
}

sub command {
    my ($name, @arguments) = @_;

    return $commands{$name}->(@arguments);
}

sub bind_port {
    $listen = IO::Socket::IP->new(LocalHost => $config->{host} // '127.0.0.1',
        LocalPort => $config->{port}, Listen => 511, ReuseAddr => 1,
        Blocking => 0) or die "bind: $!";

    setsockopt $listen, SOL_SOCKET, SO_RCVBUF, $config->{rcvbuf}
        if $config->{rcvbuf};
}

# one certificate for each name, '' for all others

sub context {
    my %files = ('' => $config->{files}, %{ $config->{certificates} || {} });
    my $version = $config->{version};

    return IO::Socket::SSL::SSL_Context->new(
        SSL_server => 1,
        SSL_cert_file => { map { $_ => $files{$_}{certificate} } keys %files },
        SSL_key_file => { map { $_ => $files{$_}{key} } keys %files },
        $config->{demanding} ? (SSL_verify_mode => 3,
                                SSL_ca_file => $config->{files}{ca}) : (),
        $version ? (SSL_version => $version,
                    SSL_cipher_list => 'DEFAULT:@SECLEVEL=0') : (),
    ) || die "TLS: $SSL_ERROR";
}

sub wait_events {
    my ($control) = @_;

    my ($r, $w) = ('', '');
    my $now = time;
    my $wait = 60;

    vec($r, fileno $_, 1) = 1 for $control, $listen || ();

    for my $c (values %conns) {
        vec($r, $c->{fd}, 1) = 1 if wants_read($c);
        vec($w, $c->{fd}, 1) = 1 if $c->{blocked};

        if ($c->{wake}) {
            my $left = $c->{wake} - $now;
            $wait = $left < 0 ? 0 : $left if $left < $wait;
        }

        $wait = 0 if wants_read($c) && $c->{tls} && $c->{fh}->pending;
    }

    select $r, $w, undef, $wait;

    return (sub { vec $r, $_[0], 1 }, sub { vec $w, $_[0], 1 });
}

# a connection that is not to read is left alone until it is time to

sub wants_read {
    my ($c) = @_;

    return 0 if $c->{deaf};
    return !$c->{pace_until} || $c->{pace_until} <= time;
}

sub accept_all {
    while (my $fh = $listen->accept) {
        $fh->blocking(0);
        setsockopt $fh, 6, 1, 1;                    # TCP_NODELAY

        my $c = {
            number => ++$serial, fh => $fh, fd => fileno $fh, in => '',
            state => $config->{plain} ? 'head' : 'handshake', nth => 0,
            history => { number => $serial, opened => time, requests => 0 },
        };

        push @history, $c->{history};
        $conns{$serial} = $c;

        if (my $special = shift @accepting) {
            accept_special($c, $special);
        }
    }
}

sub accept_special {
    my ($c, $special) = @_;

    my $do = $special->{do} // '';

    if ($do eq 'stall') {
        @$c{qw/state discard/} = ('steps', 1);
        $c->{steps} = [$special->{after}
            ? ([sleep => $special->{seconds} || 0], [end => $special->{after}])
            : [end => 'hang']];
        steps($c);

    } elsif ($do eq 'plain') {
        @$c{qw/state steps/} = ('steps',
            [[write => "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"],
             [end => 'linger']]);
        steps($c);

    } elsif ($do) {
        finish($c, 'here', $do);
    }
}

sub progress {
    my ($c, $readable, $writable) = @_;

    if ($c->{state} eq 'handshake') {
        handshake($c) if $readable || $writable;
        return;
    }

    if (wants_read($c)) {
        my $pending = $c->{tls} && $c->{fh}->pending;

        if ($readable || $pending || $c->{pace_until}) {
            receive($c) or return;
        }
    }

    advance($c) if $readable || length $c->{in};

    return if !$conns{ $c->{number} };

    $c->{blocked} = 0 if $writable;
    my $due = !$c->{wake} || $c->{wake} <= time;

    if ($c->{state} eq 'steps') {
        steps($c) if $due && !$c->{blocked};

    } elsif ($c->{wake} && $due) {                  # idle for long enough
        finish($c, 'here', 'close');
    }
}

sub handshake {
    my ($c) = @_;

    if (!$c->{tls}) {
        $c->{tls} = 1;
        $c->{fh} = IO::Socket::SSL->start_SSL($c->{fh}, SSL_server => 1,
            SSL_startHandshake => 0, SSL_reuse_ctx => $tls)
            or return finish($c, 'here', 'close');
        $c->{fh}->blocking(0);
    }

    $c->{blocked} = 0;

    if ($c->{fh}->accept_SSL) {
        $c->{state} = 'head';
        $c->{history}{sni} = $c->{fh}->get_servername;
        $c->{history}{tls} = $c->{fh}->get_sslversion;
        return;
    }

    if ($SSL_ERROR == SSL_WANT_WRITE) {
        $c->{blocked} = 1;

    } elsif ($SSL_ERROR != SSL_WANT_READ) {
        $c->{history}{error} = "$SSL_ERROR";
        finish($c, 'peer', 'fin');
    }
}

# 0 where the connection has ended

sub receive {
    my ($c) = @_;

    my $pace = $c->{state} eq 'body' && $c->{behaviour}{read};
    my $size = $pace ? $pace->[0] : 65536;

    while (1) {
        my $n = sysread($c->{fh}, my $bytes, $size);

        if (!defined $n) {
            last if $!{EAGAIN} || $!{EWOULDBLOCK} || $!{EINTR};
            finish($c, 'peer', 'fin');
            return 0;
        }

        if ($n == 0) {
            finish($c, 'peer', 'close');
            return 0;
        }

        $c->{in} .= $bytes if !$c->{discard};

        if ($pace) {
            @$c{qw/pace_until wake/} = (time + $pace->[1]) x 2;
            last;
        }

        # with others to serve, and not all at once: at says when to stop

        last if !($c->{tls} && $c->{fh}->pending);
    }

    return 1;
}

# from what has been read to what is to be done

sub advance {
    my ($c) = @_;

    if ($c->{state} eq 'head' && $c->{in} =~ s/^(.*?\r\n)\r\n//s) {
        begin($c, $1);
    }

    return if $c->{state} ne 'body';

    my $r = $c->{request};
    my $at = $c->{behaviour}{at} // 'end';
    my $length = $r->{headers}{'content-length'} // 0;
    my $whole = length $c->{in} >= $length;

    if ($whole || $at eq 'head' || $at eq 'half' && length $c->{in} >= $length / 2)
    {
        $r->{body} = substr $c->{in}, 0, $length, '';
        $r->{whole} = $whole ? 1 : 0;
        $c->{state} = 'steps';
        $c->{deaf} = !$whole;
        delete @$c{qw/wake pace_until/};

        push @news, $r;

        $c->{steps} = NgxQueues::Endpoint::Answer::steps($r, $c->{behaviour});
        steps($c);
    }
}

sub begin {
    my ($c, $head) = @_;

    my ($method, $uri) = $head =~ /^(\S+) (\S+)/ or die "no request: $head";
    my $path = $uri =~ s/\?.*//sr;
    my %headers;

    for (split /\r\n/, $head) {
        my ($name, $value) = /^([^:\s]+):\s*(.*?)\s*$/ or next;

        $name = lc $name;
        $headers{$name} = exists $headers{$name} ? "$headers{$name}, $value"
            : $value;
    }

    delete $c->{wake};

    my $now = ++$open{$path};

    $most{$path} = $now if $now > ($most{$path} // 0);
    $c->{history}{requests}++;

    $c->{request} = {
        n => ++$requests, method => $method, uri => $uri, path => $path,
        head => $head, headers => \%headers, body => '', whole => 0,
        time => time, connection => $c->{number}, nth => ++$c->{nth},
        sni => $c->{history}{sni}, tls => $c->{history}{tls}, open => $now,
    };

    my $list = $behaviours{$path} || $behaviours{'*'} || [{}];

    $c->{behaviour} = (@$list > 1 ? shift @$list : $list->[0]) || {};
    $c->{state} = 'body';

    push @news, $c->{request};
}

sub steps {
    my ($c) = @_;

    delete $c->{wake};

    while (my $step = $c->{steps}[0]) {
        my ($what, $value, @more) = @$step;

        if ($what eq 'write') {
            $c->{writes} = time;
            write_bytes($c, \$step->[1]) or return;

        } elsif ($what eq 'drip') {
            my $part = substr $value, 0, $more[0];
            my $all = length $part >= length $value;

            splice @{ $c->{steps} }, 0, 1, [write => $part], $all ? ()
                : ([sleep => $more[1]], [drip => substr($value, $more[0]), @more]);
            next;

        } elsif ($what eq 'sleep') {
            shift @{ $c->{steps} };
            $c->{wake} = time + $value;
            return;

        } elsif ($what eq 'hold') {
            if (!$released{$value}) {
                $c->{held} = $value;
                return;
            }

        } elsif ($what eq 'answered') {
            $c->{request}{answered} = delete $c->{writes} // time;
            closed_request($c);

        } elsif ($what eq 'end') {
            shift @{ $c->{steps} };
            return ending($c, $value, @more);
        }

        shift @{ $c->{steps} };
    }
}

# 1 where all was written; else there is more to write, or nobody to read it

sub write_bytes {
    my ($c, $bytes) = @_;

    while (length $$bytes) {
        my $n = syswrite $c->{fh}, $$bytes;

        if (defined $n) {
            substr $$bytes, 0, $n, '';
            next;
        }

        if ($!{EAGAIN} || $!{EWOULDBLOCK} || $!{EINTR}) {
            $c->{blocked} = 1;
            return 0;
        }

        finish($c, 'peer', 'fin');
        return 0;
    }

    return 1;
}

sub ending {
    my ($c, $how, $idle) = @_;

    if ($how eq 'keep') {
        delete @$c{qw/deaf/};
        $c->{state} = 'head';
        $c->{wake} = time + $idle if defined $idle;
        advance($c) if length $c->{in};

    } elsif ($how eq 'hang') {
        $c->{steps} = [];

    } elsif ($how eq 'linger') {
        $c->{discard} = 1;
        $c->{steps} = [];
        delete $c->{deaf};
        Net::SSLeay::shutdown($c->{fh}->_get_ssl_object) if $c->{tls};
        CORE::shutdown $c->{fh}, 1;

    } else {
        finish($c, 'here', $how);
    }
}

# a request is no longer open: it was answered, or its connection is gone

sub closed_request {
    my ($c) = @_;

    my $r = $c->{request} or return;

    return if $r->{over}++;

    $open{ $r->{path} }--;
    push @news, $r;
}

sub finish {
    my ($c, $by, $how) = @_;

    delete $conns{ $c->{number} } or return;

    my $r = $c->{request};

    if ($r && !$r->{answered}) {
        @$r{qw/ended end/} = (time, $by);
        $r->{body} = $c->{in} if $c->{state} eq 'body';
    }

    closed_request($c);
    @{ $c->{history} }{qw/closed end/} = (time, $by);

    setsockopt $c->{fh}, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0
        if $how eq 'reset';

    if ($c->{tls}) {
        $c->{fh}->close(SSL_no_shutdown => $how eq 'close' ? 0 : 1,
                        SSL_fast_shutdown => 1);

    } else {
        CORE::close $c->{fh};
    }
}

sub release {
    my ($name, $options) = @_;

    my $n = 0;

    $released{$name} = 1;

    for my $c (values %conns) {
        next if ($c->{held} // '') ne $name;

        delete $c->{held};
        $n++;
        steps($c);
    }

    delete $released{$name} if !$options->{always};

    return $n;
}

1;
