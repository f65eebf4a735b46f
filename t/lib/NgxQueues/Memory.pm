package NgxQueues::Memory;

# What is in the memory that a process can write to, to see that a secret is
# not left there.
#
#     my $m = NgxQueues::Memory->new($s->worker_pids);
#     is($m->found($secret), '', 'it is gone');
#
# found(what, …) names the places of strings and regular expressions, or ''.
# gone(what, …) waits until there is none, and gives what found does then.
# forms(bytes) are the texts and bytes by which a secret might be known.
# parts(text, …) finds what is left of any of them: that many bytes that a
# register may have had, or more.

use strict;
use warnings;

no warnings 'portable';

use MIME::Base64 qw/encode_base64 encode_base64url/;
use POSIX ();

use NgxQueues::Process 'slurp';
use NgxQueues::Wait;

my $page = POSIX::sysconf(POSIX::_SC_PAGESIZE());

# mappings larger than this are reserved, and hardly used: those of sanitizers

my $most = 256 << 20;

sub new {
    my ($class, @pids) = @_;

    return bless { pids => [@pids] }, $class;
}

sub gone {
    my ($self, @what) = @_;

    my $found;

    wait_for { ($found = $self->found(@what)) eq '' } 5;

    return $found;
}

sub found {
    my ($self, @what) = @_;

    my @found;

    die "nothing is everywhere\n" if grep { $_ eq '' } @what;

    for my $pid (@{ $self->{pids} }) {
        $self->each($pid, sub {
            my ($memory, $from, $name) = @_;

            for my $n (0 .. $#what) {
                my $at = place($memory, $what[$n]);

                push @found, sprintf('no. %d in %d at %x (%s): %s', $n, $pid,
                                     $from + $at, $name, near($memory, $at))
                    if $at >= 0;
            }
        });
    }

    return join "\n", @found;
}

sub place {
    my ($memory, $what) = @_;

    return index($$memory, $what) if !ref $what;
    return $$memory =~ $what ? $-[0] : -1;
}

# what stands before it tells whose it is

sub near {
    my ($memory, $at) = @_;

    my $from = $at > 64 ? $at - 64 : 0;

    return substr($$memory, $from, 96) =~ s/[^ -~]/./gr;
}

sub each {
    my ($self, $pid, $call) = @_;

    open my $mem, '<:raw', "/proc/$pid/mem" or die "/proc/$pid/mem: $!";
    open my $map, '<:raw', "/proc/$pid/pagemap" or die "pagemap of $pid: $!";

    for my $line (split /\n/, slurp("/proc/$pid/maps")) {
        my ($from, $to, $name) = $line =~ /^(\w+)-(\w+) rw\S+(?: +\S+){3} *(.*)/
            or next;

        ($from, $to) = map { hex } $from, $to;
        next if $to - $from > $most;

        for my $run (runs($map, $from, $to)) {
            my $memory = bytes_at($mem, @$run);

            $call->(\$memory, $run->[0], $name);
        }
    }
}

# [FROM, TO] of what has pages: all else was never written to

sub runs {
    my ($map, $from, $to) = @_;

    my @runs;
    my $pages = bytes_at($map, $from / $page * 8, $to / $page * 8);

    # present, or swapped out

    while ((my $entry = substr $pages, 0, 8, '') ne '') {
        if (vec($entry, 7, 8) & 0xc0) {
            push @runs, [$from, $from] if !@runs || $runs[-1][1] != $from;
            $runs[-1][1] += $page;
        }

        $from += $page;
    }

    return @runs;
}

# less of them where a mapping is gone by now

sub bytes_at {
    my ($file, $from, $to) = @_;

    my $bytes = '';

    defined sysseek $file, $from, 0 or return '';

    while (length $bytes < $to - $from) {
        sysread $file, $bytes, $to - $from - length $bytes, length $bytes
            or last;
    }

    return $bytes;
}

# also base64 of it within something else, and blocks of HMAC

sub forms {
    my ($bytes) = @_;

    my $n = int((length($bytes) - 2) / 3) * 4;

    return ($bytes, encode_base64url($bytes), unpack('H*', $bytes),
            uc unpack('H*', $bytes),
            (map { substr encode_base64('x' x $_ . $bytes, ''), 4, $n } 1, 2),
            map { $bytes ^ chr($_) x length $bytes } 0x36, 0x5c);
}

my $part = 8;

sub parts {
    my %parts = map { my $text = $_;
                      map { substr($text, $_, $part) => 1 }
                          0 .. length($text) - $part } @_;

    my $any = join '|', map { quotemeta } sort keys %parts;

    return qr/$any/;
}

1;
