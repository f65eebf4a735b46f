#!/usr/bin/perl

# Pushes are segments already: stored as they are where their moment may be
# kept, else with another one, and without duplicates.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Logs;

NgxQueues::Functions::start();

# a segment with a moment: its producer, and "id trace payload" of each message

sub segment {
    my ($ms, $producer, @messages) = @_;
    my (@ids, @traces, @lens, $payloads);

    for (@messages) {
        my ($id, $trace, $payload) = split / /, $_, 3;

        push @ids, $id;
        push @traces, $trace;
        push @lens, length $payload;
        $payloads .= $payload;
    }

    my @texts = ($producer, join("\n", @ids),
                 grep({ length } @traces) ? join("\n", @traces) : '', "@lens");

    return join(':', $ms, scalar @ids, 0, map { length } @texts) . "\n"
           . join('', @texts, $payloads);
}

# a push of such chunks into a lane: [ moment, messages … ] …; the moment it got

sub moment {
    my ($queue, $lane, @chunks) = @_;
    my (@ids, @args);

    for (@chunks) {
        my ($ms, @messages) = @$_;

        push @ids, map { /^(\S+)/ } @messages;
        push @args, hashes($lane, map { /^(\S+)/ } @messages),
            segment($ms, 'she', @messages), '';
    }

    my $w = f('log_push', 1, $queue, 'x', 'x', 1, 1, $lane, scalar @ids, 0,
              @args);

    return ref $w ? "@$w" =~ s/^.*?:\d+:(\d+):/$1 /r : "$w";
}

sub all {
    my ($queue, %o) = @_;

    return join ' ', map { join '=', @$_{qw/id trace payload producer/} }
        @{ log_pop($queue, %o)->{messages} };
}

log_push('q', 'other', 1);

# a moment that has just been

my ($ms, $lane, $word);

for (1 .. 50) {
    ($ms, $lane) = (now_ms() - 1, "a$_");
    $word = moment('q', $lane, [ $ms, 'i  1', 'j t "2"' ], [ $ms, 'k  3' ]);
    last if $word eq "$ms 1";
}

is($word, "$ms 1", 'it is kept');

my $got = log_pop('q', lane => $lane, group => 'x');

is(join(' ', map { "$_->{id}=$_->{trace}=$_->{payload}=$_->{producer}=$_->{ms}" }
             @{ $got->{messages} }),
   "i==1=she=$ms j=t=\"2\"=she=$ms k==3=she=$ms", 'and all that was given');

# one that may not be

for ([ 'too old', -10_000 ], [ 'to come', 60_000 ]) {
    my ($what, $off) = @$_;
    my $before = now_ms();
    my ($at) = moment('q', $what, [ $before + $off, 'i  1', 'j t 2' ]) =~ /^(\d+)/;

    cmp_ok($at, '>=', $before, "$what: it is now");
    cmp_ok($at, '<=', now_ms(), 'no later');
    is(all('q', lane => $what, group => 'y'), 'i==1=she j=t=2=she',
       'all is there');
}

# which those do that come in crowds, and not all in order

my $crowd;

for (1 .. 50) {
    $ms = now_ms();
    $crowd = "b$_";
    $word = join ' ', map { moment('q', $crowd, $_) }
        [ $ms - 20, 'i  1' ], [ $ms - 21, 'j  1' ], [ $ms - 19, 'k  1' ];
    last if now_ms() < $ms + 200;
}

is($word, join(' ', $ms - 20, 1, $ms - 20, 2, $ms - 19, 3),
   'no lane goes back, and none ahead of what it was given');
is(all('q', lane => $crowd, group => 'y'), 'i==1=she j==1=she k==1=she',
   'with all messages');

# where messages are held back for a time, that is Redis' time

for my $set ('delay', 'window') {
    log_configure($set, $set => 60);

    my $before = now_ms();

    cmp_ok((moment($set, 'l', [ $before - 20, 'i  1' ]) =~ /^(\d+)/)[0], '>=',
           $before, "$set: it is now");
}

my ($first) = moment('q', 'two', [ $ms = now_ms() - 10, 'i  1' ],
                     [ $ms - 1, 'j  2' ], [ $ms, 'k  3' ]) =~ /^(\d+)/;

is(join(' ', map { $_->{ms} } @{ log_pop('q', lane => 'two')->{messages} }),
   "$first $first $first", 'chunks with different ones get one');

# a group that begins now gets what is pushed after that

log_pop('q', lane => 'c', group => 'late', mode => 'n');
moment('q', 'c', [ now_ms() - 200, 'i  1' ]);
is(all('q', lane => 'c', group => 'late'), 'i==1=she',
   'no push is before a registration that was');

# so does one that begins at a time that has just been, however it came to that; what
# is to come is not awaited

my %begins = (
    'a pop' => sub { log_pop($_[0], group => $_[1], mode => 't', from => $_[1]) },
    'a seek' => sub { f('log_seek', $_[1], $_[0], '', $_[1]) },
    'a subscription' => sub {
        log_pop($_[0], group => $_[1]);
        f('log_subscription', $_[1], $_[1]);
    },
);

for my $how (sort keys %begins) {
    log_push($how, 'other', 1);

    my $from = now_ms();

    $begins{$how}->($how, $from);
    ($ms) = moment($how, 'l', [ $from - 100, 'i  1' ]) =~ /^(\d+)/;
    cmp_ok($ms, '>=', $from, "$how: nothing is before it");
    is(all($how, lane => 'l', group => $from), 'i==1=she',
       'what is pushed then is got');
    $begins{$how}->($how, now_ms() + 60_000);
    ($ms) = moment($how, 'm', [ now_ms(), 'i  1' ]) =~ /^(\d+)/;
    cmp_ok($ms, '<=', now_ms() + 1, 'no moment is ahead of the clock');
}

# duplicates

$ms = now_ms() - 10;
like(moment('q', $lane, [ $ms, 'l tl 4', 'j tj 5' ], [ $ms, 'k tk 6' ],
            [ $ms, 'm  7', 'n  88', 'i  9' ]),
     qr/^\d+ 4 1:2:\d+ 2:3:\d+ 5:1:\d+$/, 'duplicates are told');
is(all('q', lane => $lane, group => 'z'), 'i==1=she j=t="2"=she k==3=she '
   . 'l=tl=4=she m==7=she n==88=she', 'and left out');

# what is no segment of so many messages

for my $text ('', 'x', '1:2:0', segment($ms, '', 'i  1', 'j  1')) {
    like(f('log_push', 1, 'q', 'x', 'x', 1, 1, 'd', 1, 0, hashes('d', 'i'), $text,
           '') . '', qr/^QUEUES ARGUMENT /, 'wrong: ' . $text =~ s/\n.*//sr);
}

log_sound('all is well');

done_testing;
