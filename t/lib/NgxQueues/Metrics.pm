package NgxQueues::Metrics;

# Scrapes of queues_metrics.
#
#     my $m = NgxQueues::Metrics->new($client, '/metrics');
#     my $text = $m->scrape;                         200, or it dies
#     $m->value('queues_requests_total{operation="GetQueue",status="200"}');
#     $m->families;                                  { name => type }
#     $m->is('queues_parked_requests', 2);           within ten seconds
#     NgxQueues::Metrics::wrong($text)               '': promtool finds nothing
#
# A value that is not there is 0 to value and is, and undef to look.

use strict;
use warnings;

use NgxQueues::Process qw/spurt temp_dir/;
use NgxQueues::Wait;

sub new {
    my ($class, $client, $path) = @_;

    return bless { client => $client, path => $path // '/metrics' }, $class;
}

sub scrape {
    my ($self) = @_;

    my $r = $self->{client}->get($self->{path});

    die "a scrape is $r->{status}: $r->{body}\n" if $r->{status} != 200;

    return $self->{text} = $r->{body};
}

# of the last scrape

sub look {
    my ($self, $name) = @_;

    return $self->{text} =~ /^\Q$name\E (\S+)$/m ? $1 : undef;
}

sub value {
    my ($self, $name) = @_;

    $self->scrape;

    return $self->look($name) // 0;
}

sub is {
    my ($self, $name, $value, $seconds) = @_;

    my $is;
    my $found = wait_for { ($is = $self->value($name)) == $value } $seconds;

    Test::More::diag("$name is $is") if !$found;

    return $found;
}

sub families {
    my ($self) = @_;

    return { $self->{text} =~ /^# TYPE (\S+) (\S+)$/mg };
}

sub wrong {
    my ($text) = @_;

    my $file = temp_dir() . '/metrics';

    spurt($file, $text);

    my $said = `promtool check metrics < $file 2>&1`;

    return $? ? "status $?: $said" : $said;
}

1;
