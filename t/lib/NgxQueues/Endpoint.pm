package NgxQueues::Endpoint;

# An HTTPS endpoint that takes deliveries, in a process of its own: it records
# what comes and answers as it is told, also in ways that no server should.
#
#     my $e = NgxQueues::Endpoint->new(files => $tls->files('a.example.com'));
#     $e->on('/a', { status => 503 }, { failed => { body => ['^x'] } });
#     my @r = $e->wait(2, path => '/a');
#
# new: files (certificate, key), certificates ({ name => files }: for this name
# in SNI), version ('TLSv1_1': only this one), demanding (1: clients must have a
# certificate), plain (1: without TLS), rcvbuf (bytes of its sockets' receive
# buffers), host ('127.0.0.1').
#
# on(PATH, BEHAVIOUR...): of requests with this path, the query not counted; '*'
# for all that have none of their own. The first one is for the first request
# that comes from now on, and so on; the last one stays. Without any: 200 and an
# empty body. A behaviour:
#
#     status, reason    200, what is usual
#     headers           [Name => value, …]
#     body              bytes; 204 and 304 have none
#     failed            { body => [regular expressions], index => [0, …],
#                       all => 1, more => [ids] }: a body that lists messages
#     list              a body, in which MARK stands for the id of the second
#                       message
#     pad               a body of so many bytes, by blanks before its last one
#     encoding          'gzip', 'deflate', 'raw-deflate': the body is, and a
#                       header says so; encoded_cut: only so many bytes of it
#     length            another Content-Length than there is
#     chunked           [sizes]: in chunks of these sizes, the rest in one;
#     last              0: and without the last chunk
#     http10            1: HTTP/1.0, and the body ends with the connection
#     interim           [100, 103]: answers before the answer
#     raw_head          bytes instead of the head
#     raw               bytes instead of all that
#     at                'head', 'half': the answer is begun when so much of the
#                       request has been read; nothing more is read then
#     read              [bytes, seconds]: the request's body, so much at a time
#     delay             seconds before the answer
#     hold              a name: the answer waits for $e->release(name), which
#                       lets go those that wait then, and with always => 1 also
#                       those that will
#     drip              [bytes, seconds]: the answer's bytes, so many at a time;
#     drip_after        the first so many bytes, or with 'head' the head, go at
#                       once
#     cut               only so many bytes of the answer; 'head': only the head;
#                       'half': and the half of the body
#     end               what comes then: 'keep' (the next request), 'close',
#                       'fin' (without TLS' notice), 'reset', 'hang', 'linger'
#                       (what comes is read until the peer closes); 'keep', or
#                       for http10 'close', for at 'linger', for cut 'hang'
#     idle              a connection that is kept is closed after so many
#                       seconds without a request
#
# accepting(CONNECTION, …): of the next connections, in order; then all is usual:
#
#     do                'stall' (nothing is read), 'close', 'reset', 'plain'
#                       (an HTTP answer without TLS)
#     after             'close', 'reset', 'stall' after so many seconds of
#     seconds           it
#
# A request has: n (a number, in order), path, uri, method, head, headers (lower
# case), body, json (once asked for by wait or requests), whole (its body is),
# time, connection, nth (on its connection), sni, tls ('TLSv1_3'), open (how many
# of this path are, with it), answered, ended (times; what follows the last bytes of
# an answer is never before it), end (by whom: 'peer', 'here').

use strict;
use warnings;

use JSON::PP ();

use NgxQueues::Helper;
use NgxQueues::Process 'free_port';
use NgxQueues::Wait;

my $json = JSON::PP->new->utf8->allow_nonref;

sub new {
    my ($class, %options) = @_;

    my $self = bless { port => free_port(), requests => [], base => 0 }, $class;

    $self->{helper} = NgxQueues::Helper->start('NgxQueues::Endpoint::Server',
        { %options, port => $self->{port} });

    return $self;
}

sub port { $_[0]{port} }
sub log { $_[0]{helper}->log }

sub on { my $e = shift; $e->{helper}->call(on => @_) }
sub accepting { my $e = shift; $e->{helper}->call(accepting => @_) }

sub release {
    my ($self, $name, %options) = @_;

    return $self->{helper}->call(release => $name, \%options);
}

# open connections are closed and no new ones taken; and taken again

sub down { $_[0]{helper}->call('down') }
sub up { $_[0]{helper}->call('up') }

# all connections: { number, opened, sni, requests, closed, end }

sub connections { @{ $_[0]{helper}->call('connections') } }

# how many requests of a path were open at once, since the start or forget

sub most { $_[0]{helper}->call(most => $_[1]) }
sub open { $_[0]{helper}->call(open => $_[1]) }

sub forget {
    my ($self) = @_;

    $self->{requests} = [];
    $self->{base} = $self->{helper}->call('forget');
}

sub stop { $_[0]{helper}->stop }

# all requests, or those of a path

sub requests {
    my ($self, $path) = @_;

    my $all = $self->{requests};

    for my $r (@{ $self->{helper}->call('news') }) {
        my $n = $r->{n} - $self->{base} - 1;

        next if $n < 0;                             # of before forget

        if ($all->[$n]) {
            $all->[$n]{$_} = $r->{$_} for keys %$r;
            next;
        }

        $all->[$n] = $r;
    }

    for my $r (@$all) {
        # looking into one that was not whole may have made an empty json

        $r->{json} = eval { $json->decode($r->{body}) }
            if $r->{whole} && !$r->{decoded}++;
    }

    return grep { !defined $path || $_->{path} eq $path } @$all;
}

# the messages of all requests, in order

sub messages {
    my ($self, $path) = @_;

    return map { @{ $_->{json}{messages} || [] } } $self->requests($path);
}

# waits until there are n requests (path => of this path; answered => 1: that
# have been answered, ended => 1: or have ended otherwise; seconds => 10) and
# gives them; or dies

sub wait {
    my ($self, $n, %options) = @_;

    my @r;

    wait_for {
        @r = grep {
            ($options{answered} ? $_->{answered}
             : $options{ended} ? $_->{ended} || $_->{answered} : $_->{whole})
        } $self->requests($options{path});

        @r >= $n
    } $options{seconds} or die 'only ' . @r . " of $n requests came\n"
                               . $self->log;

    return @r;
}

# waits until n messages were delivered, of one path or all

sub wait_messages {
    my ($self, $n, %options) = @_;

    my @m;

    wait_for {
        @m = $self->messages($options{path});
        @m >= $n
    } $options{seconds} or die 'only ' . @m . " of $n messages came\n"
                               . $self->log;

    return @m;
}

# whether nothing comes for so long: more requests than before

sub quiet {
    my ($self, $seconds, $path) = @_;

    my $before = $self->requests($path);

    return !wait_for { $self->requests($path) > $before } $seconds;
}

1;
