package NgxQueues::Push;

# What a test of push subscriptions needs: a broker, an endpoint that answers as
# it is told (NgxQueues::Endpoint) and a DNS server that knows its names
# (NgxQueues::Dns).
#
#     my $p = NgxQueues::Push->new(workers => 2);
#     my $s = $p->subscribe(queue => { visibilityTimeoutSeconds => 5 },
#                           batchSize => 1);
#     $s->on({ status => 503 }, {});
#     $s->send('a', 'b');
#     my @r = $s->wait(3);
#     is($s->verify(@r), '');
#     $p->finish;
#
# new: endpoint ({ options for it }), dns ({ name => answer }; '*' is
# 127.0.0.1), push (more directives for http), the rest is for NgxQueues::Server
# (workers, redis …). The endpoint's certificate is for *.example.com.
#
# subscribe: queue (a NgxQueues::Queue or its settings), host
# ('hooks.example.com'), path ('/s1' …), port, url, timeoutSeconds, batchSize,
# maxConcurrency, state. What it gives is below.
#
# Other endpoints and nodes: $p->another_endpoint(options), $p->node(options of
# a server).

use strict;
use warnings;

use NgxQueues::Dns;
use NgxQueues::Endpoint;
use NgxQueues::Process ();
use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Tls;

my $owner = $$;

sub new {
    my ($class, %options) = @_;

    my $tls = NgxQueues::Tls->new;
    my $self = bless {
        tls => $tls, paths => 0,
        endpoint => NgxQueues::Endpoint->new(
            files => $tls->files('*.example.com'),
            %{ delete $options{endpoint} || {} }),
        dns => NgxQueues::Dns->new('*' => { A => ['127.0.0.1'] },
                                   %{ delete $options{dns} || {} }),
        push => delete $options{push} // '',
    }, $class;

    $self->{options} = { %options, http => ($options{http} // '')
                                           . $self->directives };
    $self->{server} = NgxQueues::Server->new(%{ $self->{options} });

    return $self;
}

sub directives {
    my ($self) = @_;

    return 'resolver ' . $self->dns->address . "; resolver_timeout 5s;\n"
           . 'queues_push_trusted_certificate ' . $self->tls->ca . ";\n"
           . "queues_push_allow_address 127.0.0.0/8;\n"
           . "queues_push_allow_port 1024-65535;\n"
           . $self->{push};
}

sub server { $_[0]{server} }
sub endpoint { $_[0]{endpoint} }
sub dns { $_[0]{dns} }
sub tls { $_[0]{tls} }
sub client { $_[0]{client} //= $_[0]{server}->client }
sub finish { shift->{server}->finish(@_) }

# one more server on the same Redis

sub node {
    my ($self, %options) = @_;

    return NgxQueues::Server->new(%{ $self->{options} }, %options,
                                  redis => $self->{server}->redis,
                                  node_of => $self->{server});
}

# with a certificate of the same names, unless files are given

sub another_endpoint {
    my ($self, %options) = @_;

    return NgxQueues::Endpoint->new(
        files => $self->tls->files('*.example.com'), %options);
}

sub subscribe {
    my ($self, %options) = @_;

    my $queue = delete $options{queue} || {};
    my $settings = ref $queue eq 'HASH' ? $queue : undef;

    $queue = NgxQueues::Queue->new($self->server, %$settings) if $settings;

    my $endpoint = delete $options{endpoint} || $self->endpoint;
    my $path = delete $options{path} // '/s' . ++$self->{paths};
    my $port = delete $options{port} // $endpoint->port;
    my $host = delete $options{host} // 'hooks.example.com';
    my $url = delete $options{url} // "https://$host:$port$path";

    my %target = (kind => 'https', url => $url);

    $target{timeoutSeconds} = delete $options{timeoutSeconds}
        if exists $options{timeoutSeconds};

    my $subscription = bless {
        push => $self, queue => $queue, path => $path =~ s/\?.*//sr,
        endpoint => $endpoint, url => $url,
    }, 'NgxQueues::Push::Subscription';

    my $all = $queue->{queues} =~ s/queues$/subscriptions/r;
    my $is = NgxQueues::Queue::expect($queue->client->post($all,
        { queueId => $queue->is('queueId'), target => \%target, %options }),
        201);

    $subscription->{is} = $is;
    $subscription->{at} = "$all/$is->{subscription}";
    $subscription->{secrets} = [$is->{signingSecret}];

    return $subscription;
}

# this process is the only one that ends the server

sub DESTROY {
    my ($self) = @_;

    return if $$ != $owner;

    # nginx goes first, or it would log that its endpoint is not there

    delete $self->{server};
}


# A subscription: its calls, and its path at the endpoint.

package NgxQueues::Push::Subscription;

use Digest::SHA qw/hmac_sha256 hmac_sha256_hex/;
use MIME::Base64 qw/decode_base64url encode_base64/;

use NgxQueues::Wait;

sub queue { $_[0]{queue} }
sub is { $_[0]{is}{$_[1]} }
sub path { $_[0]{path} }
sub url { $_[0]{url} }
sub endpoint { $_[0]{endpoint} }
sub secrets { @{ $_[0]{secrets} } }             # the newest first
sub client { $_[0]{queue}->client }

sub send { shift->{queue}->send(@_) }
sub counts { $_[0]{queue}->counts }

# as it is now; $r->{status} of the answer is an error's

sub get {
    my ($self) = @_;

    return NgxQueues::Queue::expect($self->client->get($self->{at}), 200);
}

sub status { $_[0]->get->{status} }

# 'http 503', 'timeout' …; '' where there is none

sub last_error {
    my ($self) = @_;

    my $e = $self->status->{lastError} or return '';

    return join ' ', $e->{class}, $e->{status} // ();
}

sub post {
    my ($self, $rest, $body) = @_;

    return NgxQueues::Queue::expect(
        $self->client->post("$self->{at}$rest", $body // {}), 200);
}

sub pause { $_[0]->post('/pause') }
sub resume { $_[0]->post('/resume') }

sub rotate {
    my ($self) = @_;

    my $is = $self->post('/rotate-secret');

    unshift @{ $self->{secrets} }, $is->{signingSecret};

    return $is;
}

sub update {
    my ($self, %changes) = @_;

    return NgxQueues::Queue::expect(
        $self->client->patch($self->{at}, \%changes), 200);
}

sub delete {
    my ($self) = @_;

    return NgxQueues::Queue::expect($self->client->delete($self->{at}), 204);
}

# at the endpoint

sub on { my $s = shift; $s->{endpoint}->on($s->{path}, @_) }
sub requests { $_[0]{endpoint}->requests($_[0]{path}) }
sub messages { $_[0]{endpoint}->messages($_[0]{path}) }
sub quiet { $_[0]{endpoint}->quiet($_[1], $_[0]{path}) }
sub most { $_[0]{endpoint}->most($_[0]{path}) }
sub open { $_[0]{endpoint}->open($_[0]{path}) }

sub wait {
    my ($self, $n, %options) = @_;

    return $self->{endpoint}->wait($n, path => $self->{path}, %options);
}

sub wait_messages {
    my ($self, $n, %options) = @_;

    return $self->{endpoint}->wait_messages($n, path => $self->{path},
                                            %options);
}

# whether all that was sent is acknowledged within so many seconds

sub done {
    my ($self, $seconds) = @_;

    return wait_for { $self->counts eq '0 0 0' } $seconds;
}

# what is in flight becomes visible now (of a standard queue), as the deliveries
# that have it are known to be gone

sub hurry {
    my ($self) = @_;

    my $q = $self->{queue};
    my $redis = $q->redis;
    my $generation = $q->generation;

    for my $ends (map { $q->key =~ s/:h:/:$_:/r . ":$generation" } qw/b f/) {
        my @due = @{ $redis->call('ZRANGEBYSCORE', $ends, 0, '+inf') };

        $redis->call('ZADD', $ends, 'XX', 1, $_) for @due;
    }

    $redis->call('HSET', $q->key, 't', 0);
    $self->pause;
    $self->resume;
}

# bodies of messages, of a request or of all, as 'a b c'

sub bodies {
    my ($self, @requests) = @_;

    @requests = $self->requests if !@requests;

    return join ' ', map { map { $_->{body} } @{ $_->{json}{messages} } }
        @requests;
}

# what is wrong with the signatures of requests, as texts: '' if nothing. All
# secrets must have signed, and nothing else; or secrets => [those]

sub verify {
    my ($self, @requests) = @_;

    my %options = @requests && ref $requests[0] ne 'HASH'
        ? splice @requests, 0, 2 : ();
    my @secrets = $options{secrets} ? @{ $options{secrets} } : $self->secrets;

    return join "\n", map { problems($_, @secrets) } @requests;
}

sub problems {
    my ($r, @secrets) = @_;

    my @p;
    my $h = $r->{headers};
    my ($t, $signatures) = ($h->{'ezgh-signature'} // '')
        =~ /^t=([1-9]\d*)((?:,v1=[0-9a-f]{64})+)\z/;

    return "EZGH-Signature: " . ($h->{'ezgh-signature'} // 'none') if !$t;

    push @p, "t is $t, at $r->{time}" if abs($t - $r->{time}) > 10;

    my @keys = map { decode_base64url(s/^whsec_//r) } @secrets;
    my $hex = join '', map { ',v1=' . hmac_sha256_hex("$t.$r->{body}", $_) }
        @keys;

    push @p, "EZGH-Signature $signatures is not $hex" if $signatures ne $hex;

    my $id = $h->{'ezgh-delivery-id'} // '';
    my $time = $h->{'webhook-timestamp'} // '';

    push @p, "EZGH-Delivery-Id: $id" if $id !~ /^[0-9a-f]{8}-[0-9a-f]{4}
        -7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\z/x;
    push @p, "deliveryId is not $id"
        if $r->{body} !~ /^\{"subscription":"\w+","queue":"\w+",
                          "deliveryId":"$id",/x;
    push @p, 'webhook-id: ' . ($h->{'webhook-id'} // 'none')
        if ($h->{'webhook-id'} // '') ne $id;
    push @p, "webhook-timestamp: $time, not $t" if $time ne $t;

    my $webhook = join ' ', map {
        'v1,' . encode_base64(hmac_sha256("$id.$t.$r->{body}", $_), '')
    } @keys;

    push @p, 'webhook-signature: ' . ($h->{'webhook-signature'} // 'none')
             . ", not $webhook" if ($h->{'webhook-signature'} // '') ne $webhook;

    return map { "request $r->{n}: $_" } @p;
}

1;
