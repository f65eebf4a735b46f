package NgxQueues::Warnings;

# A warning of Perl about a test, or about what it uses from t/, fails the test.
# The Makefile has every test load this, before all else.

use strict;
use warnings;

my $owner = $$;
my $warned = 0;

$SIG{__WARN__} = sub {
    print STDERR @_;
    $warned ||= $_[0] =~ m{ at (?:\S*/)?t/\S+ line \d+};
};

END { $? ||= 1 if $warned && $$ == $owner }

1;
