package Soak::Journal;

# What one process saw, a line for each event, written before anything else
# happens: a process may be killed at any moment.
#
#     my $j = Soak::Journal->new($dir, 'receiver-1');
#     $j->write(recv => $begin, $end, { queue => 'q', status => 200 }, @items);
#
#     my @records = Soak::Journal::load($dir);
#     # { event, begin, end, at => 'file:line', by => 'receiver-1', items =>
#     #   [...], queue => ... }, in the order of their ends
#
# Times are those of one clock that nobody sets, seconds.

use strict;
use warnings;

use Exporter 'import';
use Time::HiRes qw/clock_gettime CLOCK_MONOTONIC/;

our @EXPORT_OK = qw/now/;

sub now { clock_gettime(CLOCK_MONOTONIC) }

sub new {
    my ($class, $dir, $name) = @_;

    open my $fh, '>>:raw', "$dir/$name" or die "$dir/$name: $!";

    return bless { fh => $fh }, $class;
}

sub write {
    my ($self, $event, $begin, $end, $fields, @items) = @_;

    my $line = join "\t", $event, (map { sprintf '%.6f', $_ } $begin, $end),
        join(',', map { "$_=$fields->{$_}" } sort keys %{ $fields || {} }),
        @items;

    defined syswrite $self->{fh}, "$line\n" or die "journal: $!";
}

sub load {
    my ($dir) = @_;

    my @records;

    for my $file (sort glob "$dir/*") {
        my ($name) = $file =~ m{([^/]+)$};

        open my $fh, '<:raw', $file or die "$file: $!";

        while (my $line = <$fh>) {

            # a process that was killed may have left half a line

            next if chomp $line == 0;

            my ($event, $begin, $end, $fields, @items) = split /\t/, $line, -1;

            push @records, {
                (map { split /=/, $_, 2 } split /,/, $fields),
                event => $event, begin => $begin, end => $end, by => $name,
                items => \@items, at => "$name:$.",
            };
        }
    }

    return sort { $a->{end} <=> $b->{end} } @records;
}

# a record as evidence; the words that name an item are kept, of the others
# only some

sub show {
    my ($record, $word) = @_;

    my @items = @{ $record->{items} };

    @items = grep { index($_, $word) >= 0 } @items if defined $word;
    splice @items, 12, @items, '…' if @items > 12;

    my @fields = map { "$_=$record->{$_}" }
        grep { !/^(?:event|begin|end|by|items|at|send|delivery|groups)$/ }
        sort keys %$record;

    return sprintf '%s %s %.6f..%.6f %s', $record->{at}, $record->{event},
        $record->{begin}, $record->{end}, join ' ', @fields, @items;
}

1;
