package NgxQueues::Docs::Shape;

# Whether a JSON text of a page has the shape of what the server says. In it "…"
# is any value, and … alone what was left out: of an object further members, of
# an array any elements. Members are the same otherwise; a value has the type of
# the one shown, and its form, where that is a UUID or a time; null is any value.

use strict;
use warnings;
use utf8;

use Exporter 'import';
use JSON::PP ();

our @EXPORT_OK = qw/shown fits/;

my $json = JSON::PP->new->allow_nonref;
my $uuid = qr/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/;
my $time = qr/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/;

# the values that a block has, one or more; dies where it is no JSON

sub shown {
    my ($text) = @_;

    utf8::decode($text) if !utf8::is_utf8($text);

    my ($out, @in) = '';

    while ($text =~ /\G("(?:[^"\\]|\\.)*"|…|[\[\]{}]|[^"…\[\]{}]+)/gc) {
        my $token = $1;

        if ($token eq '…') {
            $token = $in[-1] eq '{' && $out !~ /:\s*\z/ ? '"…":"…"' : '"…"';
        } elsif ($token =~ /^[\[{]/) {
            push @in, $token;
        } elsif ($token =~ /^[\]}]/) {
            pop @in;
        }

        $out .= $token;
    }

    my $reader = JSON::PP->new->allow_nonref;
    my @values;

    $reader->incr_parse($out);

    while (defined(my $value = $reader->incr_parse)) {
        push @values, $value;
    }

    die "no JSON: $out\n" if !@values || $reader->incr_text =~ /\S/;

    return @values;
}

sub type {
    my ($value) = @_;

    return 'null' if !defined $value;
    return 'boolean' if JSON::PP::is_bool($value);
    return { HASH => 'object', ARRAY => 'array' }->{ref $value} if ref $value;
    return $json->encode($value) =~ /^"/ ? 'string' : 'number';
}

# what does not fit, as texts: none where all does

sub fits {
    my ($shown, $is, $at) = @_;

    $at //= '';

    return if !defined $shown || type($shown) eq 'string' && $shown eq '…';

    my ($one, $other) = (type($shown), type($is));

    return "$at is $other, not $one" if $one ne $other;

    if ($one eq 'object') {
        if (grep { /.…\z/ } keys %$shown) {
            return fits([values %$shown], [values %$is], $at);
        }

        my $open = exists $shown->{'…'};

        return (
            (map { "$at.$_ is not there" }
                 grep { $_ ne '…' && !exists $is->{$_} } sort keys %$shown),
            $open ? () : (map { "$at.$_ is not shown" }
                              grep { !exists $shown->{$_} } sort keys %$is),
            map { fits($shown->{$_}, $is->{$_}, "$at.$_") }
                grep { exists $is->{$_} } sort keys %$shown,
        );
    }

    if ($one eq 'array') {
        return "$at is empty" if @$shown && !@$is;

        return map { fits($shown->[$_], $is->[$_ < @$is ? $_ : -1], $at . "[$_]") }
            0 .. $#$shown;
    }

    for (['a UUID', $uuid], ['a time', $time]) {
        my ($what, $form) = @$_;

        return "$at is not $what: $is"
            if $one eq 'string' && $shown =~ /^$form\z/ && $is !~ /^$form\z/;
    }

    return;
}

1;
