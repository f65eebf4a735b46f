package NgxQueues::Endpoint::Answer;

# From a behaviour (see NgxQueues::Endpoint) to the steps of an answer:
# [write => bytes], [drip => bytes, size, seconds], [sleep => seconds],
# [hold => name], ['answered'], [end => how, idle].

use strict;
use warnings;

use IO::Compress::Deflate ();
use IO::Compress::Gzip ();
use IO::Compress::RawDeflate ();
use JSON::PP ();

my $json = JSON::PP->new->utf8->canonical;

my %reasons = (
    200 => 'OK', 201 => 'Created', 202 => 'Accepted', 204 => 'No Content',
    100 => 'Continue', 103 => 'Early Hints', 301 => 'Moved Permanently',
    302 => 'Found', 400 => 'Bad Request', 404 => 'Not Found',
    429 => 'Too Many Requests', 500 => 'Internal Server Error',
    503 => 'Service Unavailable',
);

sub steps {
    my ($request, $b) = @_;

    my ($head, $body) = defined $b->{raw} ? split_raw($b->{raw})
        : compose($request, $b);
    my @steps;

    push @steps, [sleep => $b->{delay}] if $b->{delay};
    push @steps, [hold => $b->{hold}] if defined $b->{hold};
    push @steps, [write => "HTTP/1.1 $_ " . ($reasons{$_} // 'x') . "\r\n"
                           . ($_ == 103 ? "Link: </a>; rel=preload\r\n" : '')
                           . "\r\n"]
        for @{ $b->{interim} || [] };

    my $bytes = $head . $body;
    my $cut = $b->{cut};

    if (defined $cut) {
        $cut = length $head if $cut eq 'head';
        $cut = length($head) + int(length($body) / 2) if $cut eq 'half';
        $bytes = substr $bytes, 0, $cut;
    }

    if ($b->{drip}) {
        my $first = $b->{drip_after} // 0;

        $first = length $head if $first eq 'head';
        push @steps, [write => substr $bytes, 0, $first] if $first;
        push @steps, [drip => substr($bytes, $first), @{ $b->{drip} }];

    } elsif (length $bytes) {
        push @steps, [write => $bytes];
    }

    my $end = $b->{end}
        // (defined $cut ? 'hang' : $b->{at} ? 'linger'
            : $b->{http10} ? 'close' : 'keep');

    push @steps, ['answered'] if !defined $cut && $end ne 'hang';
    push @steps, [end => $end, $b->{idle}];

    return \@steps;
}

sub split_raw {
    my ($raw) = @_;

    return $raw =~ /^(.*?\r\n\r\n)(.*)/s ? ($1, $2) : ($raw, '');
}

sub compose {
    my ($request, $b) = @_;

    my $status = $b->{status} // 200;
    my $body = body($request, $b);
    my @headers = @{ $b->{headers} || [] };

    if ($b->{failed} && !grep { lc eq 'content-type' } @headers) {
        push @headers, 'Content-Type' => 'application/json';
    }

    if (my $encoding = $b->{encoding}) {
        $body = encode($encoding, $body);
        $body = substr $body, 0, $b->{encoded_cut} if $b->{encoded_cut};
        push @headers, 'Content-Encoding' => $encoding =~ s/^raw-//r;
    }

    if ($b->{http10}) {
        # ends with the connection

    } elsif ($b->{chunked}) {
        push @headers, 'Transfer-Encoding' => 'chunked';
        $body = chunks($b, $body);

    } elsif (defined $b->{length}) {
        push @headers, 'Content-Length' => $b->{length};

    } elsif ($status != 204 && $status != 304) {
        push @headers, 'Content-Length' => length $body;
    }

    return ($b->{raw_head}, $body) if defined $b->{raw_head};

    my $head = sprintf "HTTP/1.%d %d %s\r\n", $b->{http10} ? 0 : 1, $status,
        $b->{reason} // $reasons{$status} // 'x';

    while (my ($name, $value) = splice @headers, 0, 2) {
        $head .= "$name: $value\r\n";
    }

    return ("$head\r\n", $body);
}

sub body {
    my ($request, $b) = @_;

    my $body = $b->{failed} ? failed($request, $b->{failed})
        : $b->{list} // $b->{body} // '';

    if (defined $b->{list}) {
        my $id = $json->decode($request->{body})->{messages}[1]{messageId};

        # an id that begins with an escape is without its first character

        $body =~ s/\\u0030MARK0/'\\u0030' . substr $id, 1/e;
        $body =~ s/MARK/$id/;
    }

    if (my $pad = $b->{pad}) {
        substr $body, -1, 0, ' ' x ($pad - length $body);
    }

    return $body;
}

sub chunks {
    my ($b, $body) = @_;

    my $out = '';

    for my $size (@{ $b->{chunked} }, length $body) {
        my $part = substr $body, 0, $size, '';

        $out .= sprintf "%x\r\n%s\r\n", length $part, $part if length $part;
    }

    return $out . (($b->{last} // 1) ? "0\r\n\r\n" : '');
}

sub encode {
    my ($encoding, $body) = @_;

    my $out = '';

    $encoding eq 'gzip' ? IO::Compress::Gzip::gzip(\$body => \$out)
    : $encoding eq 'deflate' ? IO::Compress::Deflate::deflate(\$body => \$out)
    : $encoding eq 'raw-deflate'
        ? IO::Compress::RawDeflate::rawdeflate(\$body => \$out)
    : ($out = $body);

    return $out;
}

# the list of failed messages, made of the request

sub failed {
    my ($request, $which) = @_;

    my @messages = @{ $json->decode($request->{body})->{messages} };
    my %index = map { $_ => 1 } @{ $which->{index} || [] };
    my @failed;

    for my $i (0 .. $#messages) {
        my $m = $messages[$i];

        push @failed, $m->{messageId}
            if $which->{all} || $index{$i}
               || grep { $m->{body} =~ /$_/ } @{ $which->{body} || [] };
    }

    return $json->encode({ failed => [@failed, @{ $which->{more} || [] }] });
}

1;
