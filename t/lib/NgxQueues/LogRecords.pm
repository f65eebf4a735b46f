package NgxQueues::LogRecords;

# The records of logs that are bytes in Redis: numbers of 6 bytes, the high ones
# first (docs/redis.md, "Logs").
#
#     my %n = numbers($text);      field n of a hot hash; undef: all are 0
#     my @lane = lane($text);      next head seg last act created since name
#     with_ids($flags, @lists);    flags of a push, with what they say of the ids
#                                  of its segments

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(numbers numbers_text lane lane_text with_ids);

my @numbers = qw(act seen last reg n pushed lanes groups dead iw is ip ir big);


sub _six { my @x = unpack '(nN)*', $_[0]; map { $x[2 * $_] * 2**32 + $x[2 * $_ + 1] } 0 .. $#x / 2 }

sub _text { join '', map { pack 'nN', int($_ / 2**32), $_ % 2**32 } @_ }

sub numbers {
    my ($text) = @_;
    my %n;

    @n{@numbers} = defined $text ? _six($text) : (0) x @numbers;

    return %n;
}

sub numbers_text { my (%n) = @_; _text(@n{@numbers}) }

sub lane {
    my ($text) = @_;

    return length $text < 38 ? ()
        : (_six(substr $text, 0, 36), unpack 'n a*', substr $text, 36);
}

sub lane_text {
    my @lane = @_;
    return _text(@lane[0 .. 5]) . pack('n', $lane[6]) . $lane[7];
}

# as src/store does it

sub with_ids {
    my ($flags, @lists) = @_;
    my @ids = map { @$_ } @lists;
    my @sorted = sort @ids;
    my $rise = @ids >= 8 && join("\n", @ids) eq join "\n", @sorted;

    $flags += 4 if $rise;

    return join '', $flags, map { "$_->[0]\n$_->[-1]\n" }
                            $rise ? @lists : @ids > 1 ? \@sorted : ();
}

1;
