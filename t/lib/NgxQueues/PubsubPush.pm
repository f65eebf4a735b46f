package NgxQueues::PubsubPush;

# What a test of Pub/Sub's pushes needs: the API (NgxQueues::Pubsub), endpoints
# with and without TLS, and the DNS of NgxQueues::Push.
#
#     my $p = NgxQueues::PubsubPush->new(workers => 2);
#     my $s = $p->subscribe(push => { noWrapper => {} }, ackDeadlineSeconds => 20);
#     $s->on({ status => 503 }, {});
#     my @ids = $s->publish('a', { data => 'YQ==' });
#     my @r = $s->wait(3);
#     $p->finish;
#
# new: options of NgxQueues::Push; more (directives of the API's location).
#
# subscribe: name ('s1' …), topic ('NAME-topic', which is made unless it was
# before), tls (1: the endpoint hooks.example.com, else the one at 127.0.0.1
# without TLS), endpoint, url, path ('/NAME'), push (members of pushConfig beside the
# endpoint, or 0: none), and members of the subscription.

use strict;
use warnings;

use NgxQueues::Endpoint;
use NgxQueues::Pubsub;
use NgxQueues::Push;

sub new {
    my ($class, %options) = @_;

    my $push = 'queues_push_allow_localhost on; ' . ($options{push} // '');
    my $more = delete $options{more} // '';

    my $self = bless {
        push => NgxQueues::Push->new(
            api => "queues_pubsub_api $NgxQueues::Pubsub::org; queues_auth off;"
                   . " client_max_body_size 11m; $more",
            %options, push => $push),
        plain => NgxQueues::Endpoint->new(plain => 1),
        serial => 0,
    }, $class;

    $self->{api} = NgxQueues::Pubsub->new($self->server);

    return $self;
}

sub api { $_[0]{api} }
sub push { $_[0]{push} }
sub server { $_[0]{push}->server }
sub plain { $_[0]{plain} }
sub tls { $_[0]{push}->endpoint }
sub finish { shift->{push}->finish(@_) }

sub subscribe {
    my ($self, %options) = @_;

    my $name = delete $options{name} // 'sub' . ++$self->{serial};
    my $topic = delete $options{topic} // "$name-topic";
    my $path = delete $options{path} // "/$name";
    my $tls = delete $options{tls};
    my $endpoint = delete $options{endpoint}
        // ($tls ? $self->tls : $self->plain);
    my $push = delete $options{push} // {};
    my $url = delete $options{url}
        // ($tls ? 'https://hooks.example.com:' : 'http://127.0.0.1:')
           . $endpoint->port . $path;

    $self->api->topic($topic) if !$self->{topics}{$topic}++;

    my $s = bless { of => $self, name => $name, topic => $topic, url => $url,
                    path => $path =~ s/\?.*//sr, endpoint => $endpoint },
                  'NgxQueues::PubsubPush::Subscription';

    $s->{config} = $push ? { pushEndpoint => $url, %$push } : {};
    $self->api->sub($name, $topic, %options, pushConfig => $s->{config});

    return $s;
}


package NgxQueues::PubsubPush::Subscription;

use MIME::Base64 'decode_base64';

use NgxQueues::Wait;

sub api { $_[0]{of}->api }
sub name { $_[0]{name} }
sub topic { $_[0]{topic} }
sub url { $_[0]{url} }
sub path { $_[0]{path} }
sub full { $_[0]->api->name('subscriptions', $_[0]{name}) }

sub publish { my $s = shift; $s->api->publish($s->{topic}, @_) }
sub pull { my $s = shift; $s->api->pull($s->{name}, @_) }

# another configuration; none: as it was; to_pull: an empty one

sub configure {
    my ($self, $config) = @_;

    my $r = $self->api->call($self->{name}, 'modifyPushConfig',
                             { pushConfig => $config // $self->{config} });

    die "modifyPushConfig: $r->{status} $r->{body}\n" if $r->{status} != 200;
}

sub to_pull { $_[0]->configure({}) }

sub delete {
    my ($self) = @_;

    my $r = $self->api->delete('subscriptions', $self->{name});

    die "delete: $r->{status} $r->{body}\n" if $r->{status} != 200;
}

sub detach {
    my ($self) = @_;

    my $r = $self->api->call($self->{name}, 'detach', {});

    die "detach: $r->{status} $r->{body}\n" if $r->{status} != 200;
}

# at the endpoint

sub on { my $s = shift; $s->{endpoint}->on($s->{path}, @_) }
sub requests { $_[0]{endpoint}->requests($_[0]{path}) }
sub quiet { $_[0]{endpoint}->quiet($_[1], $_[0]{path}) }
sub most { $_[0]{endpoint}->most($_[0]{path}) }
sub open { $_[0]{endpoint}->open($_[0]{path}) }

sub wait {
    my ($self, $n, %options) = @_;

    return $self->{endpoint}->wait($n, path => $self->{path}, %options);
}

# the data of wrapped messages, as 'a b c'

sub data {
    my ($self, @requests) = @_;

    @requests = $self->requests if !@requests;

    return join ' ', map { decode_base64($_->{json}{message}{data} // '') }
        @requests;
}

# how many messages its queue has, delivered or not

sub count {
    my ($self) = @_;

    my $redis = $self->api->redis;
    my $hot = $self->api->hot($self->{name});
    my $n = $redis->call('HGET', $hot, 'n') // 0;

    for my $key (@{ $redis->call('KEYS', $hot =~ s/:h:/:[mz]:/r . ':*') }) {
        $n += $redis->call('XLEN', $key);
    }

    return $n;
}

# whether all that was published is acknowledged within so many seconds

sub done {
    my ($self, $seconds) = @_;

    return wait_for { $self->count == 0 } $seconds;
}

1;
