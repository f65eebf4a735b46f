package NgxQueues::Topics;

# Short ways to call the functions of Pub/Sub; NgxQueues::Functions::start() first.

use strict;
use warnings;

use Exporter 'import';
use NgxQueues::Functions;

our @EXPORT = qw(topic subscribe change publish pull datas ids_of acks modify part
                 message filter settled lease_ends);

my $serial = 0;
my %options;                    # of each subscription, for change()

sub topic {
    my ($name, %o) = @_;
    my $t = sprintf 't%011d', ++$serial;
    my $reply = f('topic_create', $t, $name, $o{cfg} // '', $o{ret} // '');

    return ref $reply eq 'ARRAY' ? $t : $reply;
}

# a subscription with these settings; returns its Q

sub subscribe {
    my ($name, $topic, %o) = @_;
    my $q = sprintf 'q%011d', ++$serial;
    my $reply = f('sub_create', $q, $name, $topic, $o{cfg} // '', $o{vt} // 30,
                  $o{ret} // 604800, $o{mrc} // '', $o{dlq} // '',
                  $o{min} // '', $o{max} // '', $o{flags} // '',
                  $o{filter} // '', $o{ttl} // 0, sprintf('k%011d', $serial),
                  $o{url} // '', $o{x} // '');

    $options{$name} = { %o };

    return ref $reply eq 'ARRAY' ? $q : $reply;
}

# an update to other settings

sub change {
    my ($name, %o) = @_;
    my $s = f('sub_get', $name);

    return $s unless ref $s eq 'ARRAY';
    %o = (%{ $options{$name} }, %o);
    $options{$name} = { %o };

    return f('sub_update', $name, $o{ver} // $s->[1], $o{cfg} // '', $o{vt} // 30,
             $o{ret} // 604800, $o{mrc} // '', $o{dlq} // '', $o{min} // '',
             $o{max} // '', $o{flags} // '', $o{ttl} // 0,
             sprintf('k%011d', ++$serial), $o{url} // '', $o{x} // '');
}

# a message as C makes it, and its meta: data, then attributes in pairs, "key" the
# ordering key

sub message {
    my ($data, @pairs) = @_;
    my (@members, @attributes, $key);

    while (my ($k, $v) = splice @pairs, 0, 2) {
        $k eq 'key' ? $key = $v : push @attributes, qq("$k":"$v");
    }

    my ($at, $len) = (0, 0);
    my $body = '{' . ($data eq '' ? '' : qq("data":"$data"));

    if (@attributes) {
        $body .= ($body eq '{' ? '' : ',') . '"attributes":';
        $at = 1 + length $body;
        my $object = '{' . join(',', @attributes) . '}';
        $len = length $object;
        $body .= $object;
    }

    $body .= qq(,"orderingKey":"$key") if defined $key;

    return ("$body}", @attributes || defined $key ? "$at:$len:" . ($key // '') : '');
}

# data, or messages as lists of what message() takes; returns their ids

sub publish {
    my ($topic, @messages) = @_;
    my $reply = f('topic_publish', $topic,
                  map { message(ref $_ ? @$_ : $_) } @messages);

    return $reply if ref $reply;

    my ($ms, $n) = split /-/, $reply;

    return map { "$ms-" . ($n + $_) } 0 .. $#messages;
}

# what a filter is for the functions: each a test of key and value, or an operator

sub filter {
    my @tokens;

    for (@_) {
        my ($op, @operands) = ref $_ ? @$_ : $_;
        push @tokens, "$op" . join('', map { ' ' . length() . ":$_" } @operands) . "\n";
    }

    return join '', @tokens;
}

my $token = 5000;

# (head, messages): head has flags Q G wait next, messages data, id, handle, count and
# body

sub pull {
    my ($name, $n, $wait) = @_;
    my $reply = f('sub_pull', $name, $n // 100, $wait // 0, ++$token);

    return $reply unless ref $reply eq 'ARRAY';

    my ($flags, $q, $gen, $seconds, $next, $text, @rest) = @$reply;
    my ($now, @words) = split / /, $text;
    my @m;

    for my $word (@words) {
        if ($now =~ /^f/) {
            my ($gid, $a, $z, $count) = $word =~ /^(\d+):(\d+):(\d+)(?::(\d+):\d+)?\z/
                or die "pulled: $word\n";
            my $group = shift @rest;

            for my $seq ($a .. $z) {
                my ($id, $length, $body) = shift(@rest) =~ /^(\d+-\d+)::(\d+)::(.*)/s
                    or die "pulled no message\n";
                push @m, { id => $id, body => $body, count => $count // 1,
                           group => $group, handle => "$gid:$seq" };
            }
        } else {
            my ($id, $count) = $word =~ /^(\d+-\d+)(?::(\d+):\d+)?\z/
                or die "pulled: $word\n";
            push @m, { id => $id, body => shift @rest, count => $count // 1,
                       handle => $id };
        }
    }

    die "pulled more: @rest\n" if @rest;

    for (@m) {
        @$_{qw(q gen token)} = ($q, $gen, $token);
        ($_->{data}) = $_->{body} =~ /^\{"data":"([^"]*)"/;
        $_->{data} //= '';
    }

    return ([ $flags, $q, $gen, $seconds, $next ], @m);
}

sub datas { join ' ', map { $_->{data} } grep { ref eq 'HASH' } @_ }
sub ids_of { join ' ', map { $_->{id} } grep { ref eq 'HASH' } @_ }

sub _groups {
    my @groups;

    for my $m (@_) {
        if (@groups && $groups[-1][2] eq $m->{token} && $groups[-1][1] eq $m->{gen}) {
            $groups[-1][3] .= " $m->{handle}";
        } else {
            push @groups, [ @$m{qw(q gen token handle)} ];
        }
    }

    return map { @$_ } @groups;
}

# what became of each: 1 or 0

sub settled { my ($reply) = @_; return ref $reply eq 'ARRAY' ? $reply->[1] : "$reply" }
sub acks { my $name = shift; settled(f('sub_ack', $name, _groups(@_))) }
sub modify { my ($name, $s, @m) = @_; settled(f('sub_modify', $name, $s, _groups(@m))) }

# a part of the field s of a subscription, from 0 on

sub part { my ($q, $i) = @_; (split /:/, hot($q, 's'), 14)[$i] }

# in how many ms the first message in flight is visible

sub lease_ends {
    my ($q) = @_;
    my ($s, $us) = @{ $r->call('TIME') };
    my ($first) = sort { $a <=> $b }
        map { $r->call('ZRANGE', key($_, $q, part($q, 2)), 0, 0, 'WITHSCORES')->[1] // () }
        qw(b f);

    return defined $first ? $first - $s * 1000 - int $us / 1000 : undef;
}


1;
