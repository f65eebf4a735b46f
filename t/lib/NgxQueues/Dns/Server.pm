package NgxQueues::Dns::Server;

# The process of NgxQueues::Dns.

use strict;
use warnings;

use IO::Select;
use IO::Socket::INET;
use Socket qw/inet_aton inet_pton AF_INET6/;
use Time::HiRes 'time';

my (%names, %count, @queries, @later);
my $down = 0;

my %types = (1 => 'A', 5 => 'CNAME', 28 => 'AAAA');
my %numbers = reverse %types;
my %rcodes = (NOERROR => 0, SERVFAIL => 2, NXDOMAIN => 3, REFUSED => 5);

my %commands = (
    set => sub {
        my %new = @_;
        $names{lc $_} = $new{$_} for keys %new;
        delete @count{ map { lc } keys %new };
        1
    },
    unset => sub { delete @names{ map { lc } @_ }; 1 },
    queries => sub { [map { { %$_ } } @queries] },
    down => sub { $down = 1 },
    up => sub { $down = 0; 1 },
);

sub run {
    my ($config, $ready) = @_;

    $SIG{PIPE} = 'IGNORE';
    %names = %{ $config->{names} };

    my @at = (LocalAddr => '127.0.0.1', LocalPort => $config->{port});
    my $udp = IO::Socket::INET->new(@at, Proto => 'udp') or die "UDP: $!";
    my $tcp = IO::Socket::INET->new(@at, Listen => 64, ReuseAddr => 1)
        or die "TCP: $!";
    my $control = $ready->();
    my $select = IO::Select->new($control->{fh}, $udp, $tcp);

    while (1) {
        my @due = sort { $a <=> $b } map { $_->{at} } @later;
        my $wait = @due ? $due[0] - time : 60;

        for my $fh ($select->can_read($wait < 0 ? 0 : $wait)) {
            if ($fh == $control->{fh}) {
                $control->serve(sub { my $name = shift;
                                      $commands{$name}->(@_) });

            } elsif ($fh == $udp) {
                my $from = $udp->recv(my $query, 4096);

                answer($query, 0, sub { $udp->send($_[0], 0, $from) });

            } elsif ($fh == $tcp) {
                my $c = $tcp->accept;
                $select->add($c) if $c;

            } else {
                stream($fh) or $select->remove($fh), close $fh;
            }
        }

        my $now = time;

        $_->{do}->() for grep { $_->{at} <= $now } @later;
        @later = grep { $_->{at} > $now } @later;
    }
}

# one query over TCP; 0 where it is over

sub stream {
    my ($fh) = @_;

    my $bytes = '';
    my $want = 2;

    while (length $bytes < $want) {
        my $n = sysread $fh, $bytes, $want - length $bytes, length $bytes;
        return 0 if !$n;

        $want = 2 + unpack 'n', $bytes if length $bytes == 2;
    }

    answer(substr($bytes, 2), 1, sub { syswrite $fh, pack 'n/a*', $_[0] });

    return 1;
}

sub answer {
    my ($query, $tcp, $send) = @_;

    my ($id, $flags) = unpack 'n n', $query;
    my ($at, @labels) = (12);

    while (my $length = ord substr $query, $at, 1) {
        push @labels, substr $query, $at + 1, $length;
        $at += $length + 1;
    }

    my $type = unpack 'n', substr $query, $at + 1, 2;
    my $question = substr $query, 12, $at + 5 - 12;
    my $name = lc join '.', @labels;

    push @queries, { name => $name, type => $types{$type} // $type,
                     time => time, tcp => $tcp };

    my $known = known($name, $type);

    return if $down || $known->{drop};

    my $rcode = $rcodes{ $known->{rcode} // 'NOERROR' };
    my @records = $rcode ? () : records($name, $known, $type);
    my $body = join '', @records;
    my $long = !$tcp && ($known->{truncate} || 12 + length($question . $body)
                                               > 512);

    my $reply = pack('n n n n n n', $id, 0x8480 | ($flags & 0x100)
                     | ($long ? 0x200 : 0) | $rcode, 1, $long ? 0 : @records + 0,
                     0, 0) . $question . ($long ? '' : $body);

    if ($known->{delay}) {
        push @later, { at => time + $known->{delay}, do => sub { $send->($reply) } };

    } else {
        $send->($reply);
    }
}

# what is known of a name, this time

sub known {
    my ($name, $type) = @_;

    my $known = $names{$name} || $names{'*'} || { rcode => 'NXDOMAIN' };
    my @turns = ($known, @{ $known->{next} || [] });
    my $turn = $count{$name}{$type}++;

    return $turns[$turn < @turns ? $turn : -1];
}

sub records {
    my ($name, $known, $type) = @_;

    my (@records, %seen);

    while ($known->{CNAME}) {
        push @records, record($name, 'CNAME', $known, name($known->{CNAME}));
        last if $seen{$name}++ || $known->{bare} || $type == $numbers{CNAME};

        $name = lc $known->{CNAME};
        $known = $names{$name} || {};
    }

    push @records, map { record($name, 'A', $known, inet_aton($_)) }
        @{ $known->{A} || [] } if $type == $numbers{A};
    push @records, map { record($name, 'AAAA', $known, inet_pton(AF_INET6, $_)) }
        @{ $known->{AAAA} || [] } if $type == $numbers{AAAA};

    return @records;
}

sub record {
    my ($name, $type, $known, $data) = @_;

    return name($name) . pack 'n n N n/a*', $numbers{$type}, 1,
                              $known->{ttl} // 300, $data;
}

sub name { join('', map { pack 'C/a*', $_ } split /\./, $_[0]) . "\0" }

1;
