package NgxQueues::Queue;

# A queue of a server, as flows use it.
#
#     my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 1);
#     my @ids = $q->send('a', { body => 'b', delaySeconds => 5 });
#     my @m = $q->receive(maxMessages => 10);
#     $q->ack(@m);                         'ok ok': a word for each, in order
#     $q->visibility(0, @m);               the same
#     $q->counts;                          'visible inFlight delayed'
#     my $h = $q->park(waitSeconds => 20); a receive on its way
#
# new: client, project ('o/p'), name, and settings. What is answered with
# another status than it should be dies: tests of errors use $q->post, ->get
# with the rest of the path, and look for themselves. at => $client has one
# call go through another client or node.

use strict;
use warnings;

use List::Util 'sum0';

use NgxQueues::Api 'expect';
use NgxQueues::Wait;

my $serial = 0;

sub new {
    my ($class, $s, %settings) = @_;

    my $self = bless {
        server => $s,
        client => delete $settings{client} || $s->client,
        project => delete $settings{project} // 'o/p',
    }, $class;

    my ($org, $project) = split m{/}, $self->{project};

    $self->{queues} = "/v1/organizations/$org/projects/$project/queues";
    $settings{name} //= 'q' . ++$serial;

    my $r = $self->{client}->post($self->{queues}, \%settings);

    $self->{is} = expect($r, 201);
    $self->{name} = $settings{name};
    $self->{path} = "$self->{queues}/$settings{name}";

    return $self;
}

sub name { $_[0]{name} }
sub client { $_[0]{client} }
sub is { $_[0]{is}{$_[1]} }
sub path { $_[0]{path} . ($_[1] // '') }

sub post {
    my ($self, $rest, $body, %o) = @_;

    my $client = delete $o{at} || $self->{client};

    return $client->post($self->path($rest), $body, %o);
}

sub get { $_[0]{client}->get($_[0]->path($_[1])) }

# the message ids; one call for each ten

sub send {
    my ($self, @messages) = @_;

    my %o = ref $messages[0] eq 'HASH' && exists $messages[0]{at}
        ? %{ shift @messages } : ();
    my @ids;

    while (my @ten = splice @messages, 0, 10) {
        my $r = $self->post('/messages', { messages => [
            map { ref $_ ? $_ : { body => $_ } } @ten
        ] }, %o);

        push @ids, map { $_->{messageId} } @{ expect($r, 201)->{messages} };
    }

    return @ids;
}

# at, timeout are the client's; the rest is the request

sub receive {
    my ($self, %body) = @_;

    my %o = map { exists $body{$_} ? ($_ => delete $body{$_}) : () }
        qw/at timeout/;
    my $r = $self->post('/messages/receive', \%body, timeout => 30, %o);

    return @{ expect($r, 200)->{messages} };
}

# everything that is visible now, a call for each ten

sub drain {
    my ($self, %body) = @_;

    my @all;

    while (my @m = $self->receive(maxMessages => 10, %body)) {
        push @all, @m;
    }

    return @all;
}

sub handle_of { ref $_[0] ? $_[0]{receiptHandle} : $_[0] }

sub words {
    my ($r) = @_;

    return join ' ', map { $_->{ok} ? 'ok' : $_->{error} =~ s/.*_//r }
        @{ expect($r, 200)->{results} };
}

sub ack {
    my ($self, @messages) = @_;

    return words($self->{client}->post('/v1/receipts/ack',
        { receiptHandles => [map { handle_of($_) } @messages] }));
}

sub visibility {
    my ($self, $seconds, @messages) = @_;

    return words($self->{client}->post('/v1/receipts/visibility',
        { entries => [map { {
            receiptHandle => handle_of($_),
            visibilityTimeoutSeconds => $seconds,
        } } @messages] }));
}

sub counts {
    my ($self) = @_;

    my $counts = expect($self->get(''), 200)->{counts};

    return join ' ', @$counts{qw/visible inFlight delayed/};
}

# a receive that has been sent and perhaps not yet arrived; see parked

sub park {
    my ($self, %body) = @_;

    my %o = map { exists $body{$_} ? ($_ => delete $body{$_}) : () }
        qw/at timeout fresh/;
    my $client = delete $o{at} || $self->{client};

    return $client->start(POST => $self->path('/messages/receive'),
                          { waitSeconds => 20, %body }, timeout => 30, %o);
}

# waits until a receive waits for this queue in so many workers. One that waited
# earlier, and has gone since, is taken for it: where that matters, take a queue
# of its own or count calls first

sub parked {
    my ($self, $workers) = @_;

    my $redis = $self->redis;

    wait_for {
        ($redis->call('HGET', $self->key, 's') // '') =~ /^[13]/
        && $redis->call(qw/PUBSUB SHARDNUMSUB/, $self->root . ':w')->[1]
           >= ($workers || 1)
    } or die "no receive waits\n";
}

# how many functions Redis has been asked for, by anybody; but not those of due
# work, of members and of projects that are known, which workers call by themselves,
# and which alone use one of these commands, once (but for create, visibility while
# somebody waits, and claims)

sub calls {
    my ($self) = @_;

    my $stats = $self->redis->call(qw/INFO commandstats/);
    my %calls = $stats =~ /^cmdstat_(\w+):calls=(\d+)/mg;

    return ($calls{fcall} // 0)
           - sum0(map { $calls{$_} // 0 } qw/get zmscore exists zremrangebyscore/);
}

# the queue in Redis

sub redis { $_[0]{redis} //= $_[0]{server}->redis->client }
sub root { "ngxq:{$_[0]{project}}" }
sub key { $_[0]->root . ':h:' . ($_[0]->is('queue') =~ s/^que_//r) }

# its generation, and a retention from the next call on that may be shorter
# than the API allows

sub generation { (split /:/, $_[0]->redis->call('HGET', $_[0]->key, 's'))[2] }

sub retention {
    my ($self, $seconds) = @_;

    my @s = split /:/, $self->redis->call('HGET', $self->key, 's'), 14;

    $s[11] = $seconds;
    $self->redis->call('HSET', $self->key, 's', join(':', @s), 'hx', 0, 't', 0);
    $self->redis->call('HSET', $self->key =~ s/:h:/:q:/r, 'ret', $seconds);
}

1;
