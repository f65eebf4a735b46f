package NgxQueues::Dns;

# A DNS server that knows what it is told, over UDP and TCP on a port of
# 127.0.0.1, in a process of its own.
#
#     my $dns = NgxQueues::Dns->new('a.example.com' => { A => ['127.0.0.1'] });
#     $dns->set('a.example.com' => { A => ['10.0.0.1'], AAAA => ['::1'] });
#     my @q = $dns->queries('a.example.com');    { name, type, time, tcp }
#
# A name's answer ('*': of all that have none of their own, else NXDOMAIN):
#
#     A, AAAA           [addresses]
#     CNAME             a name; what is known of it is in the answer as well,
#                       and so on, unless bare => 1
#     ttl               300
#     rcode             'NXDOMAIN', 'SERVFAIL', 'REFUSED'
#     drop              1: no answer
#     delay             seconds before it
#     truncate          1: over UDP only that it is truncated; so it is anyway
#                       where it has more than 512 bytes
#     next              [answers]: for the first query of each type this one,
#                       then the first of these, and so on; the last stays
#
# The order of the addresses is that of the list.

use strict;
use warnings;

use NgxQueues::Helper;
use NgxQueues::Process 'free_port';

sub new {
    my ($class, %names) = @_;

    my $self = bless { port => free_port() }, $class;

    $self->{helper} = NgxQueues::Helper->start('NgxQueues::Dns::Server',
        { port => $self->{port}, names => \%names });

    return $self;
}

sub port { $_[0]{port} }
sub address { "127.0.0.1:$_[0]{port}" }

sub set { my $dns = shift; $dns->{helper}->call(set => @_) }
sub unset { my $dns = shift; $dns->{helper}->call(unset => @_) }

sub queries {
    my ($self, $name) = @_;

    return grep { !defined $name || $_->{name} eq $name }
        @{ $self->{helper}->call('queries') };
}

# no answers; and answers again

sub down { $_[0]{helper}->call('down') }
sub up { $_[0]{helper}->call('up') }

sub stop { $_[0]{helper}->stop }

1;
