package Soak::Http;

# Requests of the soak's processes: what goes wrong is a result, not an end.
#
#     my $h = Soak::Http->new(port => …, key => …, close => 0);
#     my ($status, $body) = $h->post($path, $text, timeout => 10);
#
# A status is that of HTTP or, where there was no answer, "none:WHY", with
# ":kept" behind it where the connection had served another request before.
# close: a connection for each request.

use strict;
use warnings;

use NgxQueues::Client;

sub new {
    my ($class, %options) = @_;

    my $self = bless { close => $options{close} }, $class;

    $self->{client} = NgxQueues::Client->new(
        port => $options{port}, key => $options{key}, timeout => 10);

    # the answers here are read by Soak::Body, which is much faster

    no warnings 'redefine';
    *NgxQueues::Client::Connection::with_json = sub { $_[0] };

    return $self;
}

sub client { $_[0]{client} }

sub post {
    my ($self, $path, $text, %options) = @_;

    my $h = $self->start($path, $text, %options);

    return ref $h ? $self->end($h) : ($h, '');
}

# a request on its way, or the status that it has got at once

sub start {
    my ($self, $path, $text, %options) = @_;

    $options{close} = 1 if $self->{close};

    my $kept = !$options{fresh} && @{ $self->{client}{idle} } > 0;
    my $h = eval {
        $self->{client}->start(POST => $path, $text, %options);
    };

    return 'none:' . word($@) if !$h;

    $h->{kept} = $kept;

    return $h;
}

sub end {
    my ($self, $h) = @_;

    $self->{client}->wait_any([$h], $h->{timeout}) or $h->fail('timeout');

    return result($h);
}

sub result {
    my ($h) = @_;

    my $r = $h->result;

    return ($r->{status}, $r->{body}) if $r->{status};
    return ('none:' . word($r->{error}) . ($h->{kept} ? ':kept' : ''), '');
}

sub word {
    my ($text) = @_;

    return 'refused' if $text =~ /refused/;
    return 'reset' if $text =~ /reset|Broken pipe/;

    return lc($text) =~ s/[^a-z]+/_/gr =~ s/^_|_$//gr;
}

1;
