#!/usr/bin/perl

# queuectl receive, drain, peek, ack, change-visibility.

use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Cli;
use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new;
my $c = NgxQueues::Cli->new(server => $s);
my $q = NgxQueues::Queue->new($s, name => 'q');

sub handles { map { $_->{receiptHandle} } @{ $_[0]{json} } }

# for people

$q->send({ body => "a\n\tb\e[31m\x{202e}c", attributes => { k => "v\n\x{9b}" } });

my $r = $c->ok(qw/receive q/);

like($r->{out}, qr/^Message      [0-9a-f-]{36}
Sent         \S+Z
Handle       AQ\S+
Received     1
Attribute    k=v\\n\\u009b
Body         a
             \tb\\u001b\[31m\\u202ec

\z/, 'for people, without control characters');

my ($handle) = $r->{out} =~ /^Handle +(\S+)$/m;

$r = $c->ok('ack', $handle);
is($r->{out} =~ s/  +/ /gr, "RESULT HANDLE\nok $handle\n", 'acknowledged');
$r = $c->run('ack', $handle, 'nonsense');
is($r->{status}, 1, 'a second time: 1');
is($r->{out} =~ s/  +/ /gr, "RESULT HANDLE\nreceipt_handle_stale $handle\n"
   . "receipt_handle_invalid nonsense\n", 'and what is wrong');
is(($c->run('ack', 'nonsense', '--json'))->{out},
   qq({"error":"receipt_handle_invalid"}\n), 'as JSON');

# none, and a wait that is longer than the API's

$r = $c->ok(qw/receive q --wait 0/);
is("$r->{out}|$r->{err}", "|queuectl: no messages\n", 'none');

my $h = $c->start(qw/receive q --raw --wait 5m --ack/);

ok(wait_for(sub { eval { $q->parked } }), 'it waits');
$q->send('late');
$r = $c->end($h);
is($r->{out}, "late\n", 'for a message');
is($q->counts, '0 0 0', 'which is acknowledged');

# raw: the bytes of the body, and a line feed

my $odd = "a\0b\e\x{d7ff}\x{1f600}\"\\\n";

$q->send($odd);
utf8::encode($odd);
is($c->ok(qw/receive q -ra/)->{out}, "$odd\n", 'raw');
$q->post('/messages', '{"body":"\ud800x\u00e9"}');
is($c->ok(qw/receive q -ra/)->{out}, "\xed\xa0\x80x\xc3\xa9\n",
   'raw: half of a pair');

# JSON: as the server sent it, one a line, more than one call's

my @bodies = map { "m$_" } 1 .. 25;

$q->send(@bodies);
$r = $c->ok(qw/receive q --max 23 --json --visibility-timeout 1h/);
is(join(' ', map { $_->{body} } @{ $r->{json} }), "@bodies[0 .. 22]", 'JSON');
is($q->counts, '2 23 0', 'in flight');

# handles of stdin; extended, released

my $stdin = join '', map { "$_\n" } handles($r);

$r = $c->ok({ stdin => $stdin },
            qw/change-visibility - --visibility-timeout 0 --json/);
is_deeply($r->{json}, [({ ok => JSON::PP::true }) x 23], 'released');
is($q->counts, '25 0 0', 'all are visible');

$r = $c->ok(qw/receive q --max 2 --json/);
$c->ok('change-visibility', handles($r), '-t', '2h');
is($q->counts, '23 2 0', 'extended');
$c->ok('ack', handles($r));
is($q->counts, '23 0 0', 'acknowledged');

is($c->run('change-visibility', $handle)->{status}, 2, 'for how long? usage');
is($c->run(qw/change-visibility x -t 13h/)->{status}, 1,
   'longer than the API has: 1');

# the handle is the permission: neither a project nor a key

$r = $c->ok(qw/receive q --json/);
$c->ok({ env => { QUEUES_PROJECT => undef, QUEUES_KEY => undef } },
       'ack', handles($r));
is($q->counts, '22 0 0', 'without a key');

# what cannot be written is not acknowledged

$r = $c->run({ command => ['bash', '-c', 'exec "$@" > /dev/full', 'x',
                           $c->binary, qw/receive q --ack --max 3/] });
is($r->{status}, 1, 'stdout is full: 1');
like($r->{err}, qr/cannot write: No space/, 'and why');
is($q->counts, '19 3 0', 'nothing is acknowledged');

# nor what has nowhere to go, and no connection takes its place

for my $closed ('>&-', '<&- >&- 2>&-') {
    $r = $c->run({ command => ['bash', '-c', "exec \"\$@\" $closed", 'x',
                               $c->binary, qw/receive q --ack --max 3/] });
    is($r->{status}, 1, "$closed: 1");
}

is($q->counts, '13 9 0', 'nothing is acknowledged');

# a reader that has gone ends it quietly

$r = $c->run({ command => ['bash', '-c', 'exec 3> >(true); wait $!; "$@" >&3',
                           'x', $c->binary, qw/receive q --ack/] });
is("$r->{status} $r->{err}", 128 + 13 . ' ', '| head is quiet');
is($q->counts, '12 10 0', 'and nothing is acknowledged');

# drain

$c->ok(qw/queues purge q --yes/);
$q->send(@bodies);
$r = $c->ok(qw/drain q --raw/);
is($r->{out}, join('', map { "$_\n" } @bodies), 'drain: all of them');
is($r->{err}, "queuectl: 25 messages received and acknowledged\n", 'how many');
is($q->counts, '0 0 0', 'acknowledged');

$q->send(@bodies);
$r = $c->ok(qw/drain q --max 12 -qj/);
is(@{ $r->{json} } . $r->{err}, 12, 'drain: some of them, quietly');
is($q->counts, '13 0 0', 'the others stay');

# peek

$r = $c->ok(qw/peek q --max 3/);
is(() = $r->{out} =~ /^Body         m1[345]$/mg, 3, 'peek');
unlike($r->{out}, qr/^Handle/m, 'without handles');
is($c->ok(qw/peek q -n 100 --raw/)->{out}, join('', map { "m$_\n" } 13 .. 25),
   'peek: raw');
$c->ok(qw/receive q/);
is(@{ $c->ok(qw/peek q --state inFlight --json/)->{json} }, 1,
   'peek: in flight');
is($q->counts, '12 1 0', 'nothing was received');
like($c->ok(qw/peek q --state delayed/)->{err}, qr/no messages/, 'peek: none');
is($c->run(qw/peek q --max 101/)->{status}, 1, 'peek: more than there may be');
is($c->run(qw/peek q --state odd/)->{status}, 1, 'peek: no such state');

# FIFO: the group and the sequence

my $fifo = NgxQueues::Queue->new($s, name => 'fifo', kind => 'fifo');

$fifo->send(map { { body => "f$_", groupId => 'g', deduplicationId => "d$_" } } 1 .. 12);
$r = $c->ok(qw/drain fifo/);
is(join(' ', $r->{out} =~ /^Sequence +(\d+)$/mg), "@{[1 .. 12]}",
   'FIFO: in order');
is(() = $r->{out} =~ /^Group        g$/mg, 12, 'with groups');

for my $words ('q --json --raw', 'q --max 0', 'q --wait x', 'q --max 1.5',
               'q --max -1', '', 'q r')
{
    is($c->run('receive', split / /, $words)->{status}, 2, "$words: usage");
}

# Ctrl-C ends a wait at once, as a signal does

for my $signal (qw/INT TERM/) {
    my $idle = NgxQueues::Queue->new($s, name => "idle-$signal");

    $h = $c->start('receive', $idle->name, qw/--wait 20/);
    ok(wait_for(sub { eval { $idle->parked } }), 'it waits');

    my $began = time;

    $r = $c->end($h, $signal);
    cmp_ok(time - $began, '<', scaled(5), "$signal: it ends");
    is($r->{signal}, { INT => 2, TERM => 15 }->{$signal}, 'by the signal');
    is($r->{out} . $r->{err}, '', 'with nothing written');
}

$s->finish;
done_testing;
