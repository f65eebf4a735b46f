package Figures;

# What is made of the generator's numbers: medians, µs of CPU, and the table.

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw/median cpu_of cpu ratio numbers micro share row note table/;

my (@rows, @notes);


sub median {
    my @sorted = sort { $a <=> $b } @_;

    return @sorted % 2 ? $sorted[$#sorted / 2]
        : ($sorted[@sorted / 2] + $sorted[@sorted / 2 - 1]) / 2;
}


# µs of CPU for each of the answers times "each": (nginx, Redis)

sub cpu_of {
    my ($numbers, $each, $prefix) = @_;

    $prefix //= '';

    my $n = $numbers->{"${prefix}answers"} * ($each || 1) or die "no answers\n";

    return map { $numbers->{"$prefix$_"} / $n * 1e6 } 'nginx', 'redis';
}

# medians of it

sub cpu {
    my ($each, $prefix, @runs) = @_;

    my @cpu = map { [cpu_of($_, $each, $prefix)] } @runs;

    return map { my $i = $_; median(map { $_->[$i] } @cpu) } 0, 1;
}

# of one run's CPU for an answer to another's

sub ratio {
    my ($prefix, $one, $two) = @_;

    my ($a, $b) = map {
        my ($nginx, $redis) = cpu_of($_, 1, $prefix);
        $nginx + $redis
    } $one, $two;

    return $a / $b;
}


# for row(): rate and CPU of one of "each" in an answer

sub numbers {
    my ($each, $prefix, @runs) = @_;

    return (
        rate => $each * median(map { $_->{"${prefix}rate"} } @runs),
        cpu => [cpu($each, $prefix, @runs)],
        load => median(map { $_->{"${prefix}load"} / $_->{"${prefix}seconds"} }
                       @runs),
    );
}

# for values of row(): CPU of nginx and Redis together; a ratio

sub micro {
    my ($value, $target) = @_;

    return [sprintf('%.2f us CPU', $value),
            $target ? ($value < $target, "< $target us") : (undef, '')];
}

sub share {
    my ($value, $what, $target) = @_;

    return [sprintf('%.2f of %s', $value, $what),
            $target ? ($value <= $target, "<= $target") : (undef, '')];
}


# row(what => …, rate => …, cpu => [[nginx, Redis], …], load => [shares],
#     values => [text, met or not or undef, target] …)

sub row {
    my ($what, %row) = @_;

    push @rows, { what => $what, %row };
    print STDERR "  $what\n";
}

sub note { push @notes, @_ }

sub table {
    my $form = "%-41s %9s %7s %7s %5s  %-18s %-10s %s\n";
    my $text = sprintf $form, 'what', 'per s', 'nginx', 'Redis', 'load',
                       'result', 'target', 'met';

    $text .= '-' x 111 . "\n";

    for my $row (@rows) {
        my @values = @{ $row->{values} || [] };
        my $cpu = $row->{cpu};
        my @first = (
            $row->{what},
            defined $row->{rate} ? sprintf '%.0f', $row->{rate} : '',
            $cpu ? map { sprintf '%.2f', $_ } @$cpu : ('', ''),
            defined $row->{load} ? sprintf '%.0f%%', 100 * $row->{load} : '');

        for my $value (@values ? @values : ['', undef, '']) {
            my ($result, $met, $target) = @$value;

            $text .= sprintf $form, @first, $result, $target // '',
                             defined $met ? $met ? 'yes' : 'NO' : '';
            @first = ('') x 5;
        }
    }

    $text =~ s/ +$//mg;

    return $text . "\n" . join '', map { "$_\n" } @notes;
}

1;
