#!/usr/bin/perl

# Random histories of a queue, over two workers and two nodes, against a small
# model of what it is to do. HISTORY_SEED and HISTORY_STEPS choose.

use strict;
use warnings;

use Test::More;
use Time::HiRes 'time';

use NgxQueues::Queue;
use NgxQueues::Server;

my $seed = $ENV{HISTORY_SEED} || time * 1000 % 1_000_000_000;
my $steps = $ENV{HISTORY_STEPS} || 700;

srand $seed;
diag("HISTORY_SEED=$seed") if $ENV{HISTORY_SEED};

my $s = NgxQueues::Server->new(workers => 2);
my $node = NgxQueues::Server->new(node_of => $s);
my @clients = (map({ $s->client } 1 .. 4), $node->client);

# The model. A message is due (receivable) from some moment between lo and hi:
# the clock that decides is read while the call is under way.

my %live;                   # id => { body, lo, hi, count, handle, delayed, n }
my @old;                    # handles that are over
my ($n, $queues) = (0, 0);
my ($q, @history, $begin, $end);

sub pick { $_[int rand @_] }

sub wrong {
    my ($what) = @_;

    fail("step " . @history . ": $what");
    diag("HISTORY_SEED=$seed");
    diag($_) for @history > 40 ? @history[-40 .. -1] : @history;
    $node->finish;
    $s->finish;
    done_testing;
    exit;
}

sub call {
    my ($method, $path, $body) = @_;

    my $c = pick(@clients);

    $begin = time;
    my $r = $c->request($method, $path, $body);
    $end = time;

    push @history, sprintf '%.3f-%.3f %s %s %s: %s %s', $begin, $end, $method,
        $path, ref $body ? JSON::PP::encode_json($body) : '', $r->{status},
        substr $r->{body}, 0, 1500;

    wrong("status $r->{status} $r->{body}") if $r->{status} !~ /^2/;

    return $r->{json};
}

sub new_queue {
    push @old, map { $_->{handle} // () } values %live;
    %live = ();

    $q = NgxQueues::Queue->new($s, name => "history" . $queues++ % 2,
                               visibilityTimeoutSeconds => pick(0, 1, 60));
}

my %step = (
    send => sub {
        my @messages = map {
            my $delay = pick(0, 0, 0, 1, 900);
            { body => 'm' . $n++, $delay || rand() < 0.5
                                  ? (delaySeconds => $delay) : () }
        } 1 .. pick(1, 1, 2, 10);

        my $sent = call(POST => $q->path('/messages'),
            @messages == 1 && rand() < 0.5 ? $messages[0]
                : { messages => \@messages })->{messages};

        wrong('another number of ids') if @$sent != @messages;

        for my $i (0 .. $#messages) {
            my $id = $sent->[$i]{messageId};
            my $delay = $messages[$i]{delaySeconds} || 0;

            wrong("id $id twice") if $live{$id};

            # ids and due times have whole milliseconds

            $live{$id} = { body => $messages[$i]{body}, count => 0,
                           delayed => $delay, n => $n * 16 + $i,
                           lo => $delay ? $begin + $delay - 0.001 : 0,
                           hi => $delay ? $end + $delay : 0 };
        }
    },

    receive => sub {
        my $max = pick(1, 1, 2, 5, 10);
        my $vt = pick(undef, 0, 1, 1, 60);
        my $wait = rand() < 0.03 ? 1 : 0;

        my $got = call(POST => $q->path('/messages/receive'), {
            maxMessages => $max, waitSeconds => $wait,
            defined $vt ? (visibilityTimeoutSeconds => $vt) : ()
        })->{messages};

        $vt //= $q->is('visibilityTimeoutSeconds');

        my %had = map { $_ => 1 } grep { $live{$_}{hi} <= $begin } keys %live;
        my @new = sort { $live{$a}{n} <=> $live{$b}{n} }
            grep { !$live{$_}{delayed} && !$live{$_}{count} } keys %live;

        wrong('too many') if @$got > $max;

        for my $m (@$got) {
            my $is = $live{ $m->{messageId} } or wrong("$m->{messageId}?");

            wrong("$m->{body} twice") if ($is->{handle} // '')
                                         eq $m->{receiptHandle};
            wrong("another body: $m->{body}") if $m->{body} ne $is->{body};
            wrong("$m->{body} too early") if $is->{lo} > $end;
            wrong("$m->{body}: count $m->{receiveCount}, not $is->{count} + 1")
                if $m->{receiveCount} != $is->{count} + 1;
            wrong("$m->{body} is not the next new one")
                if !$is->{count} && !$is->{delayed}
                   && shift @new ne $m->{messageId};

            push @old, $is->{handle} if $is->{handle};
            delete $had{ $m->{messageId} };

            @$is{qw/handle count lo hi/} = ($m->{receiptHandle},
                $is->{count} + 1, $begin + $vt - 0.001, $end + $vt);
        }

        wrong('left ' . join ' ', map { $live{$_}{body} } keys %had)
            if @$got < $max && %had;
        wrong('waited for nothing') if $wait && %had && !@$got;
    },

    counts => sub {
        my $is = call(GET => $q->path)->{counts};
        my %sure = (visible => 0, inFlight => 0, delayed => 0);
        my %perhaps = %sure;

        for my $m (values %live) {
            my $hidden = $m->{count} ? 'inFlight' : 'delayed';

            $sure{visible}++ if $m->{hi} <= $begin;
            $perhaps{visible}++ if $m->{lo} <= $end;
            $sure{$hidden}++ if $m->{lo} > $end;
            $perhaps{$hidden}++ if $m->{hi} > $begin;
        }

        for (sort keys %sure) {
            wrong("$_ is $is->{$_}, not $sure{$_} to $perhaps{$_}")
                if $is->{$_} < $sure{$_} || $is->{$_} > $perhaps{$_};
        }

        my $sum = $is->{visible} + $is->{inFlight} + $is->{delayed};

        wrong("$sum in all, not " . keys %live) if $sum != keys %live;
    },

    purge => sub {
        return if rand() < 0.9;
        call(POST => $q->path('/purge'));
        push @old, map { $_->{handle} // () } values %live;
        %live = ();
    },

    recreate => sub {
        return if rand() < 0.95;
        call(DELETE => $q->path);
        new_queue();
    },

    update => sub {
        return if rand() < 0.5;
        $q->{is} = call(PATCH => $q->path,
                        { visibilityTimeoutSeconds => pick(0, 1, 60) });
    },
);

# handles of any age, what each does, and what is to be answered

sub receipts {
    my ($path, $entry, $apply) = @_;

    my %valid = map { $live{$_}{handle} ? ($live{$_}{handle} => $_) : () }
        keys %live;
    my @handles = grep { defined } map {
        rand() < 0.8 ? pick(sort keys %valid) : pick(@old)
    } 1 .. pick(1, 2, 10);

    return if !@handles;

    my (@expected, @entries, @later);

    for my $h (@handles) {
        my $id = $valid{$h};
        my $value = pick(0, 1, 60);

        push @entries, $entry->($h, $value);
        push @expected, $id ? 'ok' : 'stale';
        push @later, [$id, $value] if $id;
        delete $valid{$h};              # a second mention is stale
    }

    my $results = call(POST => "/v1/receipts/$path",
        { ($path eq 'ack' ? 'receiptHandles' : 'entries') => \@entries });
    my $is = join ' ', map { $_->{ok} ? 'ok' : $_->{error} =~ s/.*_//r }
        @{ $results->{results} };

    wrong("$path: $is, not @expected") if $is ne "@expected";

    $apply->(@$_) for @later;
}

$step{ack} = sub {
    receipts('ack', sub { $_[0] }, sub {
        push @old, $live{ $_[0] }{handle};
        delete $live{ $_[0] };
    });
};

$step{visibility} = sub {
    receipts('visibility', sub {
        return { receiptHandle => $_[0], visibilityTimeoutSeconds => $_[1] };
    }, sub {
        my ($id, $value) = @_;
        @{ $live{$id} }{qw/lo hi/} = ($begin + $value - 0.001, $end + $value);
    });
};

my @kinds = (qw/purge recreate update/, ('send') x 6, ('receive') x 10,
             ('ack') x 5, ('visibility') x 3, ('counts') x 3);

new_queue();

for (1 .. $steps) {
    $step{pick(@kinds)}->();
}

$step{counts}->();
pass("$steps steps, HISTORY_SEED=$seed");

$node->finish;
$s->finish;

done_testing;
