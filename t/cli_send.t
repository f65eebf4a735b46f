#!/usr/bin/perl

# queuectl send: arguments, files, stdin and lines of them; what is stored is
# what was given, byte for byte.

use strict;
use warnings;

use IO::Handle;
use JSON::PP ();
use Test::More;

use NgxQueues::Cli;
use NgxQueues::Process 'spurt';
use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new;
my $c = NgxQueues::Cli->new(server => $s);
my $q = NgxQueues::Queue->new($s, name => 'q');
my $fifo = NgxQueues::Queue->new($s, name => 'fifo', kind => 'fifo');
my $dir = $c->dir;

# the bodies of a queue, as bytes, after which it is empty

sub bodies {
    my ($queue) = @_;

    my @all;

    while (my @m = $queue->receive(maxMessages => 10)) {
        push @all, @m;
        $queue->ack(@m);
    }

    return map { my $body = $_->{body}; utf8::encode($body); $body } @all;
}

# one message

my $r = $c->ok(qw/send q hello/);
like($r->{out}, qr/^sent [0-9a-f-]{36}\n\z/, 'an argument');
is_deeply([bodies($q)], ['hello'], 'is the body');

my $odd = join '', map { chr } 1 .. 127;
my $text = $odd . "\0\"\\/\n\r\t\x{fffd}\x{ffff}\x{1f600}\x{e000}\x{10ffff}ü";

utf8::encode($text);

$r = $c->ok({ stdin => $text }, qw/send q --json/);
ok($r->{json}[0]{messageId}, 'JSON: the id');
is_deeply([bodies($q)], [$text], 'stdin, all of it');
$c->ok({ stdin => 'x' }, qw/send q -/);
is_deeply([bodies($q)], ['x'], 'or where it is said');

spurt("$dir/body", "$text\n");
$c->ok(qw/send q -f/, "$dir/body");
$c->ok({ stdin => 'x' }, qw/send q --file -/);
is_deeply([bodies($q)], ["$text\n", 'x'], 'a file');

$c->ok(qw/send q --/, '--help');
is_deeply([bodies($q)], ['--help'], '-- ends the flags');

# halves of pairs, in the three bytes that they would have, and no other ones

$c->ok({ stdin => "a\xed\xa0\x80b" }, qw/send q/);
like($q->post('/messages/receive')->{body}, qr/"body":"a\\ud800b"/,
     'half of a pair');
$q->post('/purge');

for my $bytes ("\x80", "a\xff", "\xc0\x80", "\xed\xa0\x80\xed\xb0\x80", "\xe2\x82",
               "\xf4\x90\x80\x80")
{
    $r = $c->run({ stdin => "ok$bytes" }, qw/send q/);
    is($r->{status}, 1, 'no UTF-8 ' . unpack('H*', $bytes));
    like($r->{err}, qr/byte [3-6] of the body is not UTF-8/, 'and where');
}

is($c->run({ stdin => '' }, qw/send q/)->{status}, 2, 'no body: usage');
is($c->run(qw/send q/, '')->{status}, 2, 'an empty body: usage');

# attributes and delays, groups and ids

$c->ok(qw/send q a --attribute a=1 -a/, 'b=x=" ü');
$c->ok(qw/send q b --delay 10m/);

my ($m) = $q->receive;

is_deeply($m->{attributes}, { a => 1, b => "x=\" \x{fc}" }, 'attributes');
is($q->counts, '0 1 1', 'a delay');

for my $bad ('a', '=b') {
    is($c->run(qw/send q a -a/, $bad)->{status}, 2, "attribute $bad: usage");
}

$r = $c->run(qw/send q a -a ezgh.x=1/);
is($r->{status}, 1, 'refused by the server: 1');
like($r->{err}, qr/attributes/, 'with the field');

$r = $c->ok(qw/send fifo a --group g --deduplication-id d/);
like($r->{out}, qr/^sent [0-9a-f-]{36}, sequence 1\n\z/, 'FIFO');
$r = $c->ok(qw/send fifo a -g g --deduplication-id d/);
like($r->{out}, qr/, sequence 1, a duplicate/, 'a duplicate');
is($c->run(qw/send fifo a/)->{status}, 1, 'without a group');
$q->post('/purge');

# lines: in order, the last one without an end, empty ones passed over

my @lines = map { "line $_ \" \\ \x{e4}" } 1 .. 123;

utf8::encode($_) for @lines;
spurt("$dir/lines", join("\n", @lines[0 .. 60], '', '', @lines[61 .. 122]));

$r = $c->ok(qw/send q --lines --file/, "$dir/lines");
is("$r->{out}|$r->{err}", "|queuectl: 123 messages sent, 0 lines refused\n",
   'lines');
is_deeply([bodies($q)], \@lines, 'all of them, in order');

$r = $c->ok({ stdin => "a\r\nb\n" }, qw/send q -lj -q -a n=v/);
is(@{ $r->{json} }, 2, 'lines of stdin: their ids');
is($r->{err}, '', 'quietly');
is_deeply([bodies($q)], ["a\r", 'b'], 'only the line feed is taken away');

$c->ok(qw/send q --lines --start-line 120 --file/, "$dir/lines");
is_deeply([bodies($q)], [@lines[117 .. 122]], 'from a line on');

# a batch is smaller than what nginx takes by default

$c->ok({ stdin => join "\n", map { $_ x 250_000 } 'a' .. 'k' },
       qw/send q --lines/);
is(join(' ', map { length } bodies($q)), join(' ', (250_000) x 11),
   'large lines');

# a server that takes less is sent less at a time

my $small = NgxQueues::Server->new(node_of => $s,
                                   http => 'client_max_body_size 5k;');
my $env = { QUEUES_URL => $small->url };
my @some = map { $_ x 2000 } 'a' .. 'm';

$c->ok({ env => $env, stdin => join "\n", @some }, qw/send q --lines/);
is_deeply([bodies($q)], \@some, 'smaller batches, in order');

$r = $c->run({ env => $env, stdin => join "\n", 'a', 'b' x 6000, 'c' },
             qw/send q --lines --keep-going/);
is($r->{status}, 1, 'a line that is too large by itself: 1');
like($r->{err}, qr/413.*line 2 was refused.*2 messages sent, 1 line refused/s,
     'and which one');
is(join(' ', bodies($q)), 'a c', 'the others are sent');
$small->finish;

# a line that is refused, by us and by the server

my $long = 'x' x 300_000;

for my $bad ([refused => $long, 1], [not_sent => "\xff", 0]) {
    my ($name, $line, $server) = @$bad;
    my $stdin = join "\n", (map { "a$_" } 1 .. 13), $line,
        map { "b$_" } 1 .. 13;

    $r = $c->run({ stdin => $stdin }, qw/send q --lines/);
    is($r->{status}, 1, "$name: 1");
    like($r->{err}, qr/line 14 was (?:refused|not sent)/, "$name: which line");

    my ($start) = $r->{err} =~ /go on with --start-line (\d+)/;

    is($start, $server ? 11 : 14, "$name: where to go on");
    is_deeply([bodies($q)], [map { "a$_" } 1 .. $start - 1],
              "$name: those before it are stored");

    $r = $c->run({ stdin => $stdin }, qw/send q --lines --keep-going/);
    is($r->{status}, 1, "$name: 1 all the same");
    like($r->{err}, qr/26 messages sent, 1 line refused/, "$name: the others");
    is_deeply([bodies($q)], [map({ "a$_" } 1 .. 13), map { "b$_" } 1 .. 13],
              "$name: are stored");
}

# from one queue to another, byte for byte, but for what the server adds

my $from = NgxQueues::Queue->new($s, name => 'from');
my @raw = ('"\u0000 \ud800 \udc00\ud800 \u00e9 \/ \"\\\\"', '"é 12345678901234567890"',
           '"\ud83d\ude00 ' . "\xf0\x9f\x98\x80" . '"');

for my $body (@raw) {
    $from->post('/messages', "{\"body\":$body,\"attributes\":{\"k\":\"\\u0041\"}}");
}

my $dump = $c->ok(qw/drain from --json/)->{out};

is_deeply([$dump =~ /"body":("(?:[^"\\]|\\.)*")/g], \@raw,
          'received: the bytes of the server');

$dump =~ s/"k":/"ezgh.deadLetteredAt":"x","k":/g;
$c->ok({ stdin => $dump }, qw/send q --jsonl/);

my $received = $q->post('/messages/receive', { maxMessages => 10 })->{body};

is_deeply([$received =~ /"body":("(?:[^"\\]|\\.)*")/g], \@raw,
          'sent: the same bytes');
is_deeply([$received =~ /"attributes":(\{[^{}]*\})/g],
          [('{"k":"\u0041"}') x 3], 'and attributes');

for my $bad ('{', '[]', '{"a":1}', '{"body":"a"} x', '{"body":"' . "\n" . '"}')
{
    is($c->run({ stdin => $bad }, qw/send q --jsonl/)->{status}, 1,
       "no message: $bad");
}

# Ctrl-C: what is sent is known

system('mkfifo', "$dir/fifo");

my $h = $c->start(qw/send q -v --lines --file/, "$dir/fifo");

open my $fifo_end, '>', "$dir/fifo" or die $!;
$fifo_end->autoflush;
$q->post('/purge');
print $fifo_end map { "$_\n" } 1 .. 25;
ok(wait_for(sub { 2 == (() = $c->err($h) =~ /^queuectl: < 20/mg) }),
   'two batches are sent');

$r = $c->end($h, 'INT');
is($r->{signal}, 2, 'then Ctrl-C');
like($r->{err}, qr/\nqueuectl: 20 messages sent; go on with --start-line 21\n\z/,
     'and it says where to go on');
close $fifo_end;

# what does not go together

for my $words ('x --lines', 'x --file y', '--lines --jsonl',
               '--lines --deduplication-id x', '--jsonl --group g',
               'x --start-line 3', 'x --keep-going', 'x y')
{
    is($c->run(qw/send q/, split / /, $words)->{status}, 2, "$words: usage");
}

is($c->run(qw/send none x/)->{status}, 3, 'no such queue: 3');
is($c->run(qw/send none --lines/, '--file', "$dir/lines")->{status}, 3,
   'nor for lines');
is($c->run(qw/send q --file/, "$dir/none")->{status}, 1, 'no such file: 1');

$s->finish;
done_testing;
