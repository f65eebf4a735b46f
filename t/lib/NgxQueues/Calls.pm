package NgxQueues::Calls;

# The calls of functions that a Redis has had since, by its own clock: what a busy
# machine does late, it was asked for at a moment that is known.
#
#     my $calls = NgxQueues::Calls->new($s->redis);
#     my @settled = $calls->seen('push_settle');      all until now, in order
#
# A call: name, at (seconds), key, args (a list).

use strict;
use warnings;

my $marks = 0;

sub new {
    my ($class, $redis) = @_;

    my $self = bless { monitor => $redis->client, redis => $redis->client,
                       calls => [] }, $class;

    $self->{monitor}->call('MONITOR');

    return $self;
}

sub seen {
    my ($self, $name) = @_;

    my $mark = 'mark ' . ++$marks;

    $self->{redis}->call('PING', $mark);

    while (1) {
        my $line = $self->{monitor}->get;

        last if $line =~ /\] "PING" "$mark"\z/;

        my ($at, $words) = $line =~ /^([\d.]+) \[[^\]]*\] "FCALL" (.*)\z/ or next;
        my ($function, undef, $key, @args) = map { s/\\(.)/$1/gr }
            $words =~ /"((?:[^"\\]|\\.)*)"/g;

        push @{ $self->{calls} }, {
            name => $function =~ s/^ngxq_[0-9a-f]+_//r,
            at => $at, key => $key, args => \@args,
        };
    }

    return grep { !defined $name || $_->{name} eq $name } @{ $self->{calls} };
}

1;
