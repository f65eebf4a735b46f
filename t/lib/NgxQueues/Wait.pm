package NgxQueues::Wait;

# Waiting for a condition, never for a fixed time.
#
#     wait_for { -e $file } 5 or die "no $file";
#
# gives the condition's value as soon as it is true, or undef after so many
# seconds (20 where not said: a busy machine is slow). Under sanitizers all is
# slower, and the time is three times as long; scaled(5) is for limits of other
# kinds.
#
#     least_late({ calls => [0.01, 0.7], ends => [0.02] }, 0.2, 'at once');
#
# asserts of each kind that so many seconds were more than it was late when a busy
# machine was least in the way.

use strict;
use warnings;

use Exporter 'import';
use List::Util 'min';
use Time::HiRes qw/time sleep/;

our @EXPORT = qw/wait_for scaled least_late/;

sub scaled {
    my ($seconds) = @_;

    return $seconds * ($ENV{NGX_QUEUES_SANITIZE} ? 3 : 1);
}

sub wait_for (&;$) {
    my ($condition, $seconds) = @_;

    my $deadline = time + scaled($seconds || 20);
    my $pause = 0.002;

    while (1) {
        my $last = time >= $deadline;
        my $value = $condition->();

        return $value if $value;
        return undef if $last;

        sleep $pause;
        $pause *= 1.5 if $pause < 0.05;
    }
}

sub least_late {
    my ($late, $most, $what) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    for my $kind (sort keys %$late) {
        my @late = @{ $late->{$kind} };

        Test::More::cmp_ok(min(@late), '<', $most, "$kind: $what")
            or Test::More::diag("@late");
    }
}

1;
