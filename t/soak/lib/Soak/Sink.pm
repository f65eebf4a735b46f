package Soak::Sink;

# An HTTPS endpoint for many deliveries, in a process of its own. It looks at
# each and writes a line to its journal when the delivery is over:
#
#     push  begin: all of the request had come; end: before the answer was
#           written, or the connection was closed. path, id (of the delivery),
#           claimed (when, by that id: the end of its millisecond), status (0: it
#           was not answered), open (deliveries of this path, this one counted),
#           signed (1: as it should be), connection, nth (on it);
#           key:count:exact of each message, exact as in Soak::Body
#
#     my $sink = Soak::Sink->new(files => $tls->files('localhost'),
#                                journals => $dir, name => 'sink');
#     $sink->secret('/a', 'whsec_…');
#     $sink->answer('/a', 503, 0.02);       after so many seconds
#     $sink->answer('/a', 200, 0, 0.1);     after 0 to 0.1 seconds
#     $sink->answer('/a', 'hang');
#     $sink->answer('/a', 'close');         200, and the connection is closed
#     $sink->stop;                          what is open counts as not answered
#
# What is told is in force when the call returns. Without an answer: 200, at
# once. Without a secret "signed" is 1.

use strict;
use warnings;

use Digest::SHA 'hmac_sha256_hex';
use Errno qw/EAGAIN EWOULDBLOCK EINTR/;
use IO::Socket::INET;
use IO::Socket::SSL;
use List::Util 'min';
use MIME::Base64 ();
use POSIX ();
use Socket;
use Time::HiRes ();

use Soak::Body;
use Soak::Journal 'now';

my $owner = $$;

sub new {
    my ($class, %options) = @_;

    my $listen = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1024,
                                       ReuseAddr => 1) or die "listen: $!";

    socketpair my $here, my $there, AF_UNIX, SOCK_STREAM, 0
        or die "socketpair: $!";

    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        close $here;
        $SIG{$_} = 'DEFAULT' for qw/INT TERM HUP ALRM/;
        $SIG{PIPE} = 'IGNORE';
        eval { serve(%options, listen => $listen, control => $there); 1 }
            or print STDERR "sink: $@";
        POSIX::_exit($@ ? 1 : 0);
    }

    close $there;
    $here->autoflush(1);

    return bless { pid => $pid, control => $here,
                   port => $listen->sockport }, $class;
}

sub port { $_[0]{port} }

sub answer { my $self = shift; $self->say(answer => @_) }
sub secret { my $self = shift; $self->say(secret => @_) }

sub say {
    my ($self, @words) = @_;

    print { $self->{control} } join("\t", @words), "\n";

    defined readline $self->{control} or die "the sink has gone\n";
}

sub stop {
    my ($self) = @_;

    my $control = delete $self->{control} or return;

    # a later process may have this end of it as well, so closing is not enough

    print { $control } "stop\n";
    waitpid $self->{pid}, 0;
}

sub DESTROY {
    my ($self) = @_;

    return if $$ != $owner;

    local ($?, $@, $!);

    $self->stop;
}


# the process

my (%o, $tls, %conns, %open, %answers, %secrets, @due, $readable);
my $serial = 0;

sub serve {
    %o = @_;

    $o{journal} = Soak::Journal->new($o{journals}, $o{name});
    $o{listen}->blocking(0);

    $tls = IO::Socket::SSL::SSL_Context->new(SSL_server => 1,
        SSL_cert_file => $o{files}{certificate},
        SSL_key_file => $o{files}{key}) or die "TLS: $SSL_ERROR";

    $readable = '';
    vec($readable, fileno $_, 1) = 1 for @o{qw/listen control/};

    while (1) {
        my $wait = @due ? $due[0][0] - now : 60;
        my $r = $readable;
        my $n = select $r, undef, undef, $wait > 0 ? $wait : 0;

        respond(shift(@due)->[1]) while @due && $due[0][0] <= now;

        next if $n <= 0;

        if (vec $r, fileno $o{control}, 1) {
            last if !told();
        }

        for my $fd (keys %conns) {
            progress($conns{$fd}) if vec $r, $fd, 1;
        }

        accept_all() if vec $r, fileno $o{listen}, 1;
    }

    drop($_) for values %conns;
}

sub told {
    my $n = sysread $o{control}, my $text, 65536 or return 0;

    for (split /\n/, $text) {
        my ($what, $path, @words) = split /\t/;

        return 0 if $what eq 'stop';

        $answers{$path} = \@words if $what eq 'answer';
        $secrets{$path} = MIME::Base64::decode_base64url($words[0] =~ s/^\w+?_//r)
            if $what eq 'secret';

        syswrite $o{control}, "ok\n";
    }

    return 1;
}

sub accept_all {
    while (my $fh = $o{listen}->accept) {
        $fh->blocking(0);
        setsockopt $fh, 6, 1, 1;                        # TCP_NODELAY

        my $fd = fileno $fh;

        $fh = IO::Socket::SSL->start_SSL($fh, SSL_server => 1,
            SSL_startHandshake => 0, SSL_reuse_ctx => $tls) or next;
        $fh->blocking(0);

        $conns{$fd} = { fh => $fh, fd => $fd, in => '', nth => 0,
                        number => ++$serial };
        vec($readable, $fd, 1) = 1;
    }
}

sub drop {
    my ($c) = @_;

    over($c, 0, now) if $c->{delivery};
    vec($readable, $c->{fd}, 1) = 0;
    delete $conns{ $c->{fd} };
    $c->{gone} = 1;

    # one whose handshake failed is an ordinary socket again

    $c->{fh}->close($c->{fh}->isa('IO::Socket::SSL')
                    ? (SSL_fast_shutdown => 1) : ());
}

sub progress {
    my ($c) = @_;

    if (!$c->{ready}) {
        if (!$c->{fh}->accept_SSL) {
            drop($c) if $SSL_ERROR != SSL_WANT_READ;
            return;
        }

        $c->{ready} = 1;
    }

    while (1) {
        my $n = sysread $c->{fh}, $c->{in}, 65536, length $c->{in};

        next if $n;
        last if !defined $n && ($!{EAGAIN} || $!{EWOULDBLOCK} || $!{EINTR});
        return drop($c);
    }

    my $end = index $c->{in}, "\r\n\r\n";

    return if $end < 0;

    my ($length) = $c->{in} =~ /\r\ncontent-length: *(\d+)/i;

    delivery($c, $end + 2, $end + 4)
        if length $c->{in} >= $end + 4 + ($length // 0);
}

sub delivery {
    my ($c, $head, $body) = @_;

    my $now = now;
    my $text = delete $c->{in};

    $c->{in} = '';

    my ($path) = $text =~ /^POST (\S+)/;
    my ($id) = $text =~ /^ezgh-delivery-id: *(\S+)/mi;
    my $bytes = substr $text, $body;

    $path //= '?';

    my $d = $c->{delivery} = {
        path => $path, id => $id // '?', begin => $now, open => ++$open{$path},
        claimed => claimed($id // ''),
        connection => $c->{number}, nth => ++$c->{nth},
    };

    $d->{signed} = signed($path, substr($text, 0, $head), $bytes);
    $d->{items} = items($bytes, $d);

    my ($status, $least, $most) = @{ $answers{$path} || [200] };

    return if $status eq 'hang';

    $d->{close} = 1 if $status eq 'close';
    $d->{status} = $status eq 'close' ? 200 : $status;

    my $delay = $least // 0;

    $delay += rand($most - $least) if $most;                # rand(0) is rand(1)

    return respond($c) if $delay <= 0;

    push @due, [$now + $delay, $c];
    @due = sort { $a->[0] <=> $b->[0] } @due;
}

sub claimed {
    my ($high, $low) = $_[0] =~ /^([0-9a-f]{8})-([0-9a-f]{4})-/ or return 0;

    return sprintf '%.6f', (hex($high) * 65536 + hex($low) + 1) / 1000
                           - Time::HiRes::time() + now;
}

sub signed {
    my ($path, $head, $body) = @_;

    my $secret = $secrets{$path} // return 1;
    my ($t, $v) = $head =~ /^ezgh-signature: *t=(\d+),(\S+)/mi or return 0;
    my $is = hmac_sha256_hex("$t.$body", $secret);

    return abs(Time::HiRes::time() - $t) < 10
           && grep({ $_ eq "v1=$is" } split /,/, $v) ? 1 : 0;
}

sub items {
    my ($text, $d) = @_;

    my $string = qr/"((?:[^"\\]++|\\.)*+)"/s;
    my @items;

    $text =~ /\G\{"subscription":"qsb_[0-9a-zA-Z]{12}","queue":
              "que_[0-9a-zA-Z]{12}","deliveryId":"\Q$d->{id}\E",
              "messages":\[/gcx or return ['?:0:0'];

    while ($text =~ /\G,?\{"messageId":"[-0-9a-f]{36}","body":$string,
                     "attributes":(\{[^{}]*\}),"sentAt":"[-\dT:]+Z",
                     "receiveCount":(\d+)
                     (?:,"groupId":"([^"]*)","seq":"(\d+)")?\}/gcx)
    {
        my ($body, $attributes, $count) = ($1, $2, $3);
        my ($key) = $body =~ /^([-\w]+):/;

        push @items, join ':', $key // '?', $count,
            !$o{exact} || defined $key && $body eq Soak::Body::body($key)
                && $attributes eq (Soak::Body::attributes($key) // '{}')
                ? 1 : 0;
    }

    return $text =~ /\G\]\}\z/gc ? \@items : ['?:0:0'];
}

sub respond {
    my ($c) = @_;

    my $d = $c->{delivery};

    return if $c->{gone} || !$d;

    my $answer = "HTTP/1.1 $d->{status} x\r\nContent-Length: 0\r\n"
                 . ($d->{close} ? "Connection: close\r\n" : '') . "\r\n";

    my $now = now;

    if ((syswrite $c->{fh}, $answer) // 0) {
        over($c, $d->{status}, $now);
    }

    drop($c) if $d->{close} || $c->{delivery};
}

sub over {
    my ($c, $status, $end) = @_;

    my $d = delete $c->{delivery};

    $open{ $d->{path} }--;

    $o{journal}->write(push => $d->{begin}, $end,
        { status => $status, map {
              $_ => $d->{$_}
          } qw/path id claimed open signed connection nth/ },
        @{ $d->{items} });
}

1;
