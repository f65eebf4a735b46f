package Pubsub;

# The lines of the Pub/Sub API: publishes to topics of one or many subscriptions,
# and pulls with their acknowledgements.

use strict;
use warnings;

use MIME::Base64 'encode_base64';

use Bench;
use Figures;

use constant {
    API => '/v1/projects/pubsub',
    TARGET => 3,                # us of Redis for a message and a subscription
    KEEP => 40_000,             # messages times subscriptions between clearings
};

my @subs = (1, 10, 100);
my $topics = 0;


sub locations { 'location ' . API . '/ { queues_pubsub_api o; '
                . 'client_max_body_size 11m; client_body_buffer_size 64k; } ' }

sub post { Bench::file(Bench::post_text(API . "/$_[0]", $_[1])) }

sub put {
    my ($path, $body) = @_;

    my $r = client->put(API . "/$path", $body);

    die "$path: $r->{status} $r->{body}\n" if $r->{status} != 200;
}

sub topic {
    my ($n) = @_;

    my $topic = 'topic-' . ++$topics;

    put("topics/$topic", {});
    put("subscriptions/$topic-$_", {
        topic => "projects/pubsub/topics/$topic", ackDeadlineSeconds => 600,
    }) for 1 .. $n;

    return $topic;
}

sub remove {
    my ($topic, $n) = @_;

    for ((map { "subscriptions/$topic-$_" } 1 .. $n), "topics/$topic") {
        my $r = client->delete(API . "/$_");

        die "$_: $r->{status} $r->{body}\n" if $r->{status} != 200;
    }
}

# data of 200 bytes and an attribute

sub messages {
    my $data = encode_base64('x' x 200, '');

    return { messages => [ map { {
        data => $data, attributes => { origin => 'bench' }
    } } 1 .. $_[0] ] };
}


# so many publishes of as many messages each: a run

sub publishes {
    my ($topic, $n, $each) = @_;

    return load('blast', c => connections, n => $n,
                r => post("topics/$topic:publish", messages($each)));
}

sub publish_lines {
    for my $subs (@subs) {
        for my $each (1, 100) {
            my $n = int(KEEP / $subs / $each) || 1;
            my @runs;

            for (1 .. rounds) {
                my $topic = topic($subs);

                CORE::push @runs, publishes($topic, $n, $each);
                remove($topic, $subs);
            }

            # of a message, and of one of its copies

            my ($nginx, $redis) = cpu($each, '', @runs);

            row("Pub/Sub: publish of $each to $subs subscription"
                . ($subs > 1 ? 's' : ''), numbers($each, '', @runs),
                values => [micro($redis / $subs,
                                 $subs == 100 ? TARGET : undef)]);
        }
    }
}


sub pull_lines {
    my $topic = topic(1);
    my $n = 200;
    my @runs;

    for (1 .. rounds) {
        publishes($topic, $n, 100);

        CORE::push @runs, load('pubsub', c => 4, n => $n,
            r => post("subscriptions/$topic-1:pull", { maxMessages => 100 }),
            a => Bench::file(Bench::head(API . "/subscriptions/$topic-1:"
                                         . 'acknowledge', server->key)));
    }

    my ($nginx, $redis) = cpu(1, '', @runs);

    row('pull + acknowledge of 100', numbers(1, '', @runs),
        values => [micro($nginx + $redis)]);
    remove($topic, 1);
}

1;
