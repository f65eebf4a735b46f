package NgxQueues::Pubsub;

# A location of the Pub/Sub API, as flows use it.
#
#     my $s = NgxQueues::Pubsub::server(workers => 2);
#     my $p = NgxQueues::Pubsub->new($s);
#     $p->topic('orders', labels => { a => 'b' });
#     $p->sub('mine', 'orders', ackDeadlineSeconds => 20);
#     my @ids = $p->publish('orders', 'text', { data => 'YQ==' }, …);
#     my @m = $p->pull('mine', 10);            at once; what was received
#     my $r = $p->call('mine', 'pull', { maxMessages => 1 });       an answer
#     $p->ack('mine', @m); $p->modify('mine', 0, @m);
#     my $h = $p->park('mine', 10);            a pull on its way
#
# server: options of NgxQueues::Server; queues_auth is off unless auth => 1.
# new: client, project. A message that is no hash is the text of its data. What
# is answered with another status than it should be dies: tests of errors use
# call, post, put, get, patch, delete, which give answers of NgxQueues::Client.

use strict;
use warnings;

use MIME::Base64 'encode_base64';

use NgxQueues::Api qw(expect escape);
use NgxQueues::Server;

our @ISA = 'NgxQueues::Api';

our $org = 'acme';

sub server {
    my (%options) = @_;

    my $auth = delete $options{auth} ? '' : 'queues_auth off; ';
    my $more = delete $options{more} // '';

    return NgxQueues::Server->new(
        api => "queues_pubsub_api $org; ${auth}client_max_body_size 11m; $more",
        %options
    );
}

sub new {
    my ($class, $s, %options) = @_;

    return bless {
        server => $s,
        client => $options{client} || $s->client,
        project => $options{project} // 'shop',
    }, $class;
}

sub root { "ngxq:{$org/$_[0]{project}}" }

# paths: path('topics'), path('topics', 'orders'), path('topics', 'orders',
# 'publish'); name: as resources refer to one another

sub path {
    my ($self, $kind, $id, $verb) = @_;

    return '/v1/projects/' . escape($self->{project}) . "/$kind"
           . (defined $id ? '/' . escape($id) : '')
           . (defined $verb ? ":$verb" : '');
}

sub name { "projects/$_[0]{project}/$_[1]/$_[2]" }

for my $method (qw/get put patch post delete/) {
    no strict 'refs';

    *$method = sub {
        my ($self, $kind, $id, @rest) = @_;

        return $self->{client}->$method($self->path($kind, $id), @rest);
    };
}

sub topic {
    my ($self, $id, %members) = @_;

    return expect($self->put('topics', $id, \%members), 200);
}

sub sub {
    my ($self, $id, $topic, %members) = @_;

    $members{deadLetterPolicy}{deadLetterTopic} =
        $self->name('topics', $members{deadLetterPolicy}{deadLetterTopic})
        if $members{deadLetterPolicy};

    return expect($self->put('subscriptions', $id,
        { topic => $self->name('topics', $topic), %members }), 200);
}

sub message {
    my ($message) = @_;

    return ref $message ? $message : { data => encode_base64($message, '') };
}

# the same with an ordering key

sub keyed {
    my ($key, $text) = @_;

    return { %{ message($text) }, orderingKey => $key };
}

# the ids

sub publish {
    my ($self, $topic, @messages) = @_;

    return @{ expect($self->publish_answer($topic, @messages),
                     200)->{messageIds} };
}

sub publish_answer {
    my ($self, $topic, @messages) = @_;

    return $self->{client}->post($self->path('topics', $topic, 'publish'),
        { messages => [map { message($_) } @messages] });
}

# a verb of a subscription; the body: a hash, or text

sub call {
    my ($self, $id, $verb, $body, %options) = @_;

    my $client = delete $options{at} || $self->{client};

    return $client->post($self->path('subscriptions', $id, $verb), $body // {},
                         timeout => 40, %options);
}

# how many messages it has: an answer

sub counts { $_[0]{client}->get($_[0]->path('subscriptions', $_[1], 'counts')) }

# with wait => 1 it waits for the first one

sub pull {
    my ($self, $id, $max, %options) = @_;

    my $wait = delete $options{wait};

    return @{ expect($self->call($id, 'pull',
        { maxMessages => $max, $wait ? ()
            : (returnImmediately => \1) }, %options),
        200)->{receivedMessages} || [] };
}

sub ids { map { ref $_ ? $_->{ackId} : $_ } @_ }

sub ack {
    my ($self, $id, @messages) = @_;

    expect($self->call($id, 'acknowledge', { ackIds => [ids(@messages)] }),
           200);
}

sub modify {
    my ($self, $id, $seconds, @messages) = @_;

    expect($self->call($id, 'modifyAckDeadline',
                       { ackIds => [ids(@messages)],
                         ackDeadlineSeconds => $seconds }), 200);
}

# the texts of messages

sub data {
    return join ' ', map {
        MIME::Base64::decode_base64($_->{message}{data} // '')
    } @_;
}

# a pull that has been sent and perhaps not yet arrived; at => $client

sub park {
    my ($self, $id, $max, %options) = @_;

    my $client = delete $options{at} || $self->{client};

    return $client->start(POST => $self->path('subscriptions', $id, 'pull'),
                          { maxMessages => $max // 1 }, timeout => 40,
                          %options);
}

# the queue of a subscription, and its hot hash

sub queue {
    my ($self, $id) = @_;

    return $self->redis->call('HGET', $self->root . ':gs', $id);
}

sub hot { $_[0]->root . ':h:' . $_[0]->queue($_[1]) }

1;
