package NgxQueues::Queen;

# A location of the Queen API, as flows use it.
#
#     my $s = NgxQueues::Queen::server(workers => 2);
#     my $q = NgxQueues::Queen->new($s);
#     my @pushed = $q->push('orders', { partition => 'a', payload => 1 }, 2);
#     my $r = $q->pop('orders', consumerGroup => 'g', batch => 10);  an answer
#     my @m = $q->messages('orders', batch => 10);       its messages, () of 204
#     $q->ack(\@m, 'failed', consumerGroup => 'g', error => 'why')
#     $q->extend($lease, { seconds => 5 });
#     $q->configure('orders', leaseTime => 5);
#     my $r = $q->get('dlq', queue => 'orders'), $q->delete(...);    answers
#     my $h = $q->park('orders', timeout => 5000);       a pop on its way
#
# server: options of NgxQueues::Server; queues_auth is off unless auth => 1.
# new: client. Answers are what NgxQueues::Client gives: push, messages, ack,
# extend and configure die of one with another status than it should be.

use strict;
use warnings;

use NgxQueues::Api qw(expect escape);
use NgxQueues::Server;

our @ISA = 'NgxQueues::Api';

our $project = 'acme/shop';

sub server {
    my (%options) = @_;

    my $auth = delete $options{auth} ? '' : 'queues_auth off; ';

    return NgxQueues::Server->new(
        api => "queues_queen_api $project; ${auth}client_max_body_size 64m;",
        %options
    );
}

sub new {
    my ($class, $s, %options) = @_;

    return bless {
        server => $s,
        client => $options{client} || $s->client,
    }, $class;
}

sub query {
    my (%query) = @_;

    my $text = join '&', map { "$_=" . escape($query{$_}) } sort keys %query;

    return length $text ? "?$text" : '';
}

# items of one queue: hashes, or payloads alone

sub push {
    my ($self, $queue, @items) = @_;

    my @all = map { {
        queue => $queue,
        ref eq 'HASH' && exists $_->{payload} ? %$_ : (payload => $_)
    } } @items;

    return @{ expect($self->post('push', { items => \@all }), 201) };
}

sub post {
    my ($self, $route, @rest) = @_;

    return $self->{client}->post("/api/v1/$route", @rest);
}

# of the routes beside those of messages

sub get {
    my ($self, $route, %query) = @_;

    return $self->{client}->get("/api/v1/$route" . query(%query));
}

sub delete {
    my ($self, $route, %query) = @_;

    return $self->{client}->delete("/api/v1/$route" . query(%query));
}

sub configure {
    my ($self, $queue, %options) = @_;

    return expect($self->post('configure', { queue => $queue,
                                             options => \%options }), 200);
}

# the path of a pop; partition => pins one, queue is undef where labels choose

sub path {
    my ($queue, %query) = @_;

    my $partition = delete $query{partition};

    return '/api/v1/pop' . (defined $queue ? '/queue/' . escape($queue) : '')
           . (defined $partition ? '/partition/' . escape($partition) : '')
           . query(%query);
}

sub pop {
    my ($self, $queue, %query) = @_;

    return $self->{client}->get(path($queue, %query), timeout => 60);
}

sub messages {
    my ($self, @rest) = @_;

    my $r = $self->pop(@rest);

    return () if $r->{status} == 204;
    return @{ expect($r, 200)->{messages} };
}

sub data { join ' ', map { $_->{data} } @_ }

# the results, in order; the group is that of the messages

sub ack {
    my ($self, $messages, $status, %o) = @_;

    return @{ expect($self->post('ack/batch', {
        consumerGroup => $messages->[0]{consumerGroup},
        acknowledgments => [map { {
            transactionId => $_->{transactionId},
            partitionId => $_->{partitionId},
            leaseId => $_->{leaseId},
            status => $status // 'completed',
            %o
        } } @$messages]
    }), 200) };
}

# a letter for each result: what succeeded, and how

sub words {
    return join ' ', map {
        ($_->{success} ? 'ok' : $_->{error} =~ s/ .*//r)
        . ($_->{noop} ? '+noop' : '') . ($_->{dlq} ? '+dlq' : '')
        . ($_->{leaseReleased} ? '+released' : '')
    } @_;
}

sub extend {
    my ($self, $lease, @body) = @_;

    return expect($self->post('lease/' . escape($lease) . '/extend', @body),
                  200);
}

# a pop that has been sent and perhaps not yet arrived; at => $client

sub park {
    my ($self, $queue, %query) = @_;

    my $client = delete $query{at} || $self->{client};

    return $client->start(GET => path($queue, wait => 'true', %query), undef,
                          timeout => 60);
}

1;
