#!/usr/bin/perl

# The soak in short: one fault of each kind; SOAK_SECONDS=180: all of it. And
# what its judge says of journals that are wrong.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/soak/lib";

use File::Path ();
use Test::More;

use NgxQueues::Process qw/spawn reap spurt slurp temp_dir/;

use Soak::Body;
use Soak::Journal;
use Soak::Judge;
use Soak::Log;

# the kinds of problem that the judge finds in a journal: a line for each
# record, its words as in the file, by the process r unless another is named

sub kinds {
    my ($text) = @_;

    my $dir = temp_dir();
    my %lines;

    for (split /\n/, $text) {
        s/^\s+//;
        my $by = s/^(\w+): // ? $1 : 'r';
        $lines{$by} .= join("\t", split / /) . "\n" if length;
    }

    spurt("$dir/$_", $lines{$_}) for keys %lines;

    my $judge = Soak::Judge->new([Soak::Journal::load($dir)]);

    $judge->judge;

    my %kinds = map { $_->[0] => 1 } @{ $judge->{problems} };

    return join ' ', sort keys %kinds;
}

my $sent = 's: send 1 1.1 queue=q,status=201 k-1:0:i1';
my $got = 'recv 2 2.1 queue=q,status=200,max=9,wait=0,vt=5 i1:1:k-1:1';
my $acked = 'ack 3 3.1 status=200 i1:1:ok';
my $again = 't: recv 4 4.1 queue=q,status=200,max=9,wait=0,vt=5 i1:2:k-1:1';
my $late = 't: recv 7.2 7.3 queue=q,status=200,max=9,wait=0,vt=5 i1:2:k-1:1';
my $after = 't: ack 8 8.1 status=200 i1:2:ok';

sub changed { my ($line, $from, $to) = @_; $line =~ s/$from/$to/; $line }

for (
    ['all is well', '', $sent, $got, $acked],
    ['received again after its visibility', '', $sent, $got, $late, $after],
    ['not received', 'lost', $sent],
    ['not acknowledged', 'lost', $sent, $got],
    ['acknowledged, who knows', '', $sent, $got,
     changed($acked, 'status=200 i1:1:ok',
             'status=none:closed:kept i1:1:unknown'),
     'f: fault 2.9 3.05 kind=worker,number=1 17'],
    ['an outcome without a fault', 'outcome', $sent, $got, $acked,
     's: send 4 4.1 queue=q,status=503 k-2:0:'],
    ['an outcome long after its fault', 'outcome', $sent, $got, $acked,
     'f: fault 1.5 1.8 kind=redis,number=1',
     's: send 4 4.1 queue=q,status=503 k-2:0:'],
    ['an outcome with its fault', '', $sent, $got, $acked,
     'f: fault 3.5 3.8 kind=redis,number=1',
     's: send 4 4.1 queue=q,status=503 k-2:0:'],
    ['acknowledged twice', 'doubled', $sent, $got, $acked,
     changed($acked, '3 3.1', '4 4.1')],
    ['two at once', 'doubled', $sent, $got, $again,
     changed($after, '8 8.1', '4.8 4.9'), $acked],
    ['too early', 'overlap', $sent, $got, $again, $after],
    ['early after a release', '', $sent, $got,
     'vis 3 3.1 status=200,seconds=0 i1:1:ok', $again, $after],
    ['early after an extension', 'overlap', $sent, $got,
     'vis 3 3.1 status=200,seconds=9 i1:1:ok', $late, $after],
    ['twice the same delivery', 'doubled', $sent, $got,
     changed($again, 'i1:2', 'i1:1'), $acked],
    ['received after its acknowledgement', 'doubled', $sent, $got, $acked,
     $late, $after],
    ['stale while it is held', 'lost stale', $sent, $got,
     changed($acked, 'ok', 'stale')],
    ['stale when it may be over', '', $sent, $got,
     changed(changed($acked, 'ok', 'stale'), '3 3.1', '7.4 7.5'), $late,
     $after],
    ['an old handle is valid', 'doubled', $sent, $got, $late, $after,
     changed($acked, '3 3.1', '7.4 7.5')],
    ['an altered handle', 'handle lost', $sent, $got,
     changed($acked, 'ok', 'invalid')],
    ['another body', 'body', $sent, changed($got, ':1$', ':0'), $acked],
    ['two ids', 'id', $sent, $got, $acked,
     changed($got, 'i1', 'i2'), changed($acked, 'i1', 'i2')],
    ['one id, two messages', 'id', $sent, $got, $acked,
     changed($sent, 'k-1', 'k-2')],
    ['from another queue', 'id', $sent, changed($got, '=q', '=p'), $acked],
    ['a message of nobody', 'id', $got, $acked],
    ['before its delay', 'early', changed($sent, 'k-1:0', 'k-1:2'), $got,
     $acked],
    ['half a batch', 'batch', 'f: fault 0.9 1.05 kind=redis,number=1',
     's: send 1 1.1 queue=q,status=503 k-1:0: k-2:0:', $got, $acked],
    ['more than asked for', 'size', $sent,
     changed($got, 'max=9', 'max=0'), $acked],
    ['a wait that ends early', 'wait',
     'recv 2 3 queue=q,status=200,max=9,wait=5,vt=5'],
    ['a wait that does not end', 'wait',
     'recv 2 9 queue=q,status=200,max=9,wait=5,vt=5'],
    ['asleep', 'sleep', $sent, changed($acked, '3 3.1', '6 6.1'),
     'recv 0.5 5 queue=q,status=200,max=9,wait=5,vt=5 i1:1:k-1:1'],
) {
    my ($name, $kinds, @lines) = @$_;

    is(kinds(join "\n", @lines), $kinds, "judge: $name");
}

# its reading of answers

my @keys = map { "k-$_" } 1 .. 200;
my $answer = '{"messages":[' . join(',', map {
    my $a = Soak::Body::attributes($_) // '{}';
    '{"messageId":"01234567-89ab-7def-8000-000000000000","receiptHandle":"AQ-",'
    . '"body":"' . Soak::Body::body($_) . qq(","attributes":$a,)
    . '"sentAt":"2026-01-01T00:00:00Z","firstReceivedAt":"2026-01-01T00:00:00Z"'
    . ',"receiveCount":1}'
} @keys) . ']}';

is(join(' ', map { "$_->{key}:$_->{exact}" }
        @{ Soak::Body::messages($answer) }),
   join(' ', map { "$_:1" } @keys), 'judge: answers are read');
is(join(' ', map { $_->{exact} }
        @{ Soak::Body::messages($answer =~ s/(.*)\w(?=","attr)/$1!/r) }),
   '1 ' x 199 . '0', 'judge: one byte of a body matters');

my $log = join "\n",
    '2026/01/01 00:00:05 [alert] 1#1: worker process 17 exited on signal 9',
    '2026/01/01 00:00:05 [alert] 1#1: worker process 18 exited on signal 9',
    '2026/01/01 00:00:05 [notice] 1#1: signal 17 (SIGCHLD) received',
    '2026/01/01 00:00:05 [error] 17#17: *5 the store is unavailable: no'
    . ' connection to Redis, client: 127.0.0.1, server: localhost, request:'
    . ' "POST /v1/x HTTP/1.1", host: "a"',
    '2026/01/01 00:00:05 [alert] 17#17: *3 open socket #4 left in connection 3';

{
    my $begin = POSIX::mktime(5, 0, 0, 1, 0, 126, 0, 0, -1);

    is(join("\n", map { s/.*\] \S+ //r } @{ Soak::Log->new(text => $log,
        clock => 0, limit => 1, faults => [{ kind => 'worker', begin => $begin,
        end => $begin, items => [17] }])->{problems} }),
       join("\n", map { (split /\n/, $log)[$_] =~ s/.*\] \S+ //r } 1, 3, 4),
       'judge: lines of the error log that no fault explains');
}

# and now the soak

my $dir = temp_dir();
my $status = reap(spawn({ out => "$dir/out", death => 'TERM' },
    $^X, "$FindBin::Bin/soak/run", $ENV{SOAK_SECONDS} ? () : '--short'),
    200 + 3 * ($ENV{SOAK_SECONDS} || 0));
my $out = slurp("$dir/out");

is($status, 0, 'the soak') or diag $out;

note $out;

done_testing;
