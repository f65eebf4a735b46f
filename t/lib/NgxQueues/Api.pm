package NgxQueues::Api;

# What the flows of the APIs share: expect and escape are functions; the rest are
# methods of objects with server and client.
#
#     my $before = $api->calls;
#     my $h = $api->park(…);
#     $api->parked($before);

use strict;
use warnings;

use Exporter 'import';

use NgxQueues::Wait;

our @EXPORT_OK = qw(expect escape);

# the JSON of an answer, which dies where it has another status

sub expect {
    my ($r, $status) = @_;

    die "answer: ", $r->{error} // '', " $r->{status} $r->{body}\n"
        if $r->{status} != $status;

    return $r->{json};
}

# for a part of a path

sub escape { $_[0] =~ s/([^\w.~-])/sprintf '%%%02X', ord $1/ger }

sub client { $_[0]{client} }
sub redis { $_[0]{redis} //= $_[0]{server}->redis->client }

# how many functions Redis has been asked for

sub calls {
    my ($self) = @_;

    my $stats = $self->redis->call(qw/INFO commandstats/);

    return $stats =~ /^cmdstat_fcall:calls=(\d+)/m ? $1 : 0;
}

# waits until so many calls that wait have looked at the store and found
# nothing, from before they were sent

sub parked {
    my ($self, $before, $n) = @_;

    wait_for { $self->calls >= $before + ($n // 1) }
        or die "nobody waits\n";
}

1;
