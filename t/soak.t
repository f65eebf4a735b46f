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

    my $judge = Soak::Judge->new([Soak::Journal::load($dir)],
                                 dead => { q => ['d', 2] });

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

# dead letters: q has d, and two receives

my $dying = changed($got, 'vt=5', 'vt=1');
my $again_dying = changed($again, 'vt=5', 'vt=1');
my $dead = 'u: recv 6 6.1 queue=d,status=200,max=9,wait=0,vt=5 i1:1:k-1:1:::2';
my $dead_acked = 'u: ack 6.5 6.6 status=200 i1:1:ok';
my $back = 't: recv 9 9.1 queue=q,status=200,max=9,wait=0,vt=5 i1:1:k-1:1';
my $back_acked = 't: ack 9.5 9.6 status=200 i1:1:ok';

# a FIFO queue, p: two messages of a group

my $two = 's: send 1 1.1 queue=p,status=201 k-1:0:i1:g:1: k-2:0:i2:g:2:';
my $i1 = 'i1:1:k-1:1:g:1:';
my $i2 = 'i2:1:k-2:1:g:2:';
my $both = "recv 2 2.1 queue=p,status=200,max=9,wait=0,vt=5,number=1 $i1 $i2";
my $both_acked = 'ack 3 3.1 status=200 i1:1:ok:1 i2:1:ok:1';
my $first = changed($both, " $i2", '');
my $first_acked = changed($both_acked, ' i2:1:ok:1', '');
my $second = "t: recv 4 4.1 queue=p,status=200,max=9,wait=0,vt=5,number=1 $i2";
my $second_acked = 't: ack 4.5 4.6 status=200 i2:1:ok:1';

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
    ['a dead letter', '', $sent, $dying, $again_dying, $dead, $dead_acked],
    ['received too often', 'dead', $sent, $dying, $again_dying,
     changed($late, 'i1:2', 'i1:3'), changed($after, 'i1:2', 'i1:3')],
    ['dead of other receives', 'dead', $sent, $dying, $again_dying,
     changed($dead, '2$', '1'), $dead_acked],
    ['dead while it is held', 'overlap', $sent, $dying, $again, $dead,
     $dead_acked],
    ['dead when it is acknowledged', 'doubled', $sent, $dying, $again_dying,
     changed($after, '8 8.1', '4.5 4.6'), $dead, $dead_acked],
    ['dead, and an answer that comes late', '', $sent, $dying,
     't: recv 4 9 queue=q,status=200,max=9,wait=5,vt=1 i1:2:k-1:1', $dead,
     $dead_acked],
    ['redriven', '', $sent, $dying, $again_dying, $dead,
     'f: redrive 7 11.1 queue=d,status=200,moved=1',
     changed($back, '9 9.1', '11.2 11.3'),
     changed($back_acked, '9.5 9.6', '11.5 11.6')],
    ['redriven, and nobody saw it dead', '', $sent, $dying, $again_dying,
     'f: redrive 7 7.1 queue=d,status=200,moved=1', $back, $back_acked],
    ['redriven by nobody', 'doubled', $sent, $dying, $again_dying,
     'f: redrive 7 7.1 queue=d,status=200,moved=0', $back, $back_acked],
    ['redriven when it is acknowledged', 'doubled', $sent, $dying,
     $again_dying, $dead, $dead_acked,
     'f: redrive 7 7.1 queue=d,status=200,moved=1', $back, $back_acked],
    ['a group', '', $two, $both, $both_acked],
    ['one after the other', '', $two, $first, $first_acked, $second,
     $second_acked],
    ['in the wrong order', 'order', $two,
     changed($both, "$i1 $i2", "$i2 $i1"), $both_acked],
    ['the second one first', 'order', $two,
     changed($second, '4 4.1', '1.5 1.6'),
     changed($second_acked, '4.5 4.6', '1.7 1.8'), $first, $first_acked],
    ['a group with two', 'group order', $two, $first,
     changed($first_acked, '3 3.1', '5 5.1'), $second, $second_acked],
    ['a group that is held in part', 'group order', $two, $both,
     $first_acked,
     changed($second, 'i2:1', 'i2:2') =~ s/4 4.1/8 8.1/r,
     changed($second_acked, 'i2:1', 'i2:2') =~ s/4.5 4.6/8.5 8.6/r,
     's: send 1.2 1.3 queue=p,status=201 k-3:0:i3:g:3:',
     'u: recv 5 5.1 queue=p,status=200,max=9,wait=0,vt=5,number=1'
     . ' i3:1:k-3:1:g:3:', 'u: ack 6 6.1 status=200 i3:1:ok:1'],
    ['a gap', 'order', changed($two, 'g:2', 'g:3'), changed($both, 'g:2', 'g:3'),
     $both_acked],
    ['numbers against the order of sends', 'order',
     's: send 1 1.1 queue=p,status=201 k-2:0:i1:g:1: k-1:0:i2:g:2:',
     changed($both, 'k-1', 'k-2') =~ s/i2:1:k-2/i2:1:k-1/r, $both_acked],
    ['another group', 'order', changed($two, 'i2:g:', 'i2:h:'), $both,
     $both_acked],
    ['sent again', '', 'f: fault 0.9 1.05 kind=redis,number=1',
     changed($two, '201 k-1:0:i1:g:1: k-2:0:i2:g:2:',
             '503 k-1:0::g:: k-2:0::g::'),
     changed(changed($two, 'send 1 1.1', 'send 1.3 1.4'), '201 (.*)',
             '201,again=1 k-1:0:i1:g:1:1 k-2:0:i2:g:2:1'), $both, $both_acked],
    ['sent again, a half of it new', 'batch',
     'f: fault 0.9 1.05 kind=redis,number=1',
     changed($two, '201 k-1:0:i1:g:1: k-2:0:i2:g:2:',
             '503 k-1:0::g:: k-2:0::g::'),
     changed(changed($two, 'send 1 1.1', 'send 1.3 1.4'), '201 (.*)',
             '201,again=1 k-1:0:i1:g:1:1 k-2:0:i2:g:2:0'), $both, $both_acked],
    ['a duplicate of nothing', 'batch duplicate', changed($two, 'g:2:', 'g:2:1'),
     $both, $both_acked],
    ['a group asleep', 'sleep', $two, $first, $first_acked,
     changed(changed($second, '4 4.1', '2.5 6'), 'wait=0', 'wait=5'),
     changed($second_acked, '4.5 4.6', '6.5 6.6')],
) {
    my ($name, $kinds, @lines) = @$_;

    is(kinds(join "\n", @lines), $kinds, "judge: $name");
}

# its reading of answers

my $dead_letter = '"ezgh.deadLetterSourceQueue":"que_0123456789ab",'
    . '"ezgh.deadLetterReceiveCount":"3",'
    . '"ezgh.deadLetteredAt":"2026-01-01T00:00:00Z"}';

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

my ($letter) = @{ Soak::Body::messages(
    $answer =~ s/\},"sentAt"/,$dead_letter,"sentAt"/gr =~ s/\{,/{/gr
            =~ s/"receiveCount":1/"receiveCount":1,"groupId":"g","seq":"7"/gr)
    || [] };

is(join(' ', map { $_ // '' } @$letter{qw/key exact group seq dead/}),
   'k-1 1 g 7 3', 'judge: dead letters are read, and groups');

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
