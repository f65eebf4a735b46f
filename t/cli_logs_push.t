#!/usr/bin/perl

# queuectl logs push and pop: what is pushed is what was given, what is printed
# is what the server has, byte for byte; acknowledgements with the handles.

use strict;
use warnings;

use IO::Handle;
use Test::More;

use NgxQueues::Cli;
use NgxQueues::Process 'spurt';
use NgxQueues::Queen;
use NgxQueues::Server;
use NgxQueues::Wait;

my $locations = 'location / { queues_api; }'
                . 'location /api/v1/ { queues_queen_api o/p; }';
my $s = NgxQueues::Server->new(locations => $locations);
my $c = NgxQueues::Cli->new(server => $s);
my $q = NgxQueues::Queen->new($s);
my $dir = $c->dir;
my $uuid = qr/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/;

sub logs { $c->ok('logs', @_) }

# the payloads of a queue, as they are in the answer, in order

sub payloads {
    my ($queue, %query) = @_;

    my $r = $q->pop($queue, batch => 1000, partitions => 100, autoAck => 1,
                    %query);

    return $r->{status} == 204 ? () : $r->{body} =~ /"data":(.*?),"producerSub"/gs;
}

# one message

my $odd = "{\"a\" :\n [1.50, 12345678901234567890, \"\\ud800 \\u00e9 \\/ "
          . "\xc3\xa9\"],\t\"a\":-0e+1}";
my $r = logs('push', 'q', $odd);

like($r->{out}, qr/^pushed $uuid\n\z/, 'an argument');
$c->ok({ stdin => " \n$odd\n" }, qw/logs push q/);
$c->ok({ stdin => '"x"' }, qw/logs push q -/);
spurt("$dir/file", $odd);
logs(qw/push q --file/, "$dir/file");
is_deeply([payloads('q')], [$odd, $odd, '"x"', $odd], 'is the payload, byte for byte');

$r = logs(qw/push q 1 --id a --partition lane --trace t --json/);
is($r->{json}[0]{transaction_id}, 'a', 'an id');

my ($m) = $q->messages('q', partition => 'lane');

is("$m->{partition} $m->{traceId} $m->{transactionId}", 'lane t a',
   'partition and trace');
is(logs(qw/push q 1 --id a --partition lane/)->{out},
   "pushed a, a duplicate: it was there before\n", 'a duplicate');

my $text = join('', map { chr } 0 .. 127) . "\xc3\xa9";

$c->ok({ stdin => $text }, qw/logs push text --text/);
($m) = $q->messages('text');
utf8::encode(my $bytes = $m->{data});
is($bytes, $text, 'text: a JSON string');

for my $bad ('hi', '{', '', '1 2', "\"\xff\"", '[1,]') {
    $r = $c->run('logs', 'push', 'q', $bad);
    is($r->{status}, 1, "no JSON: $bad");
    like($r->{err}, qr/the payload is not JSON: --text/, 'and what to do');
}

is($c->run({ stdin => "\xff" }, qw/logs push q --text/)->{status}, 1, 'no text');
$r = $c->run(qw/logs push q 1 --partition/, 'x' x 1100);
is($r->{status}, 1, 'refused: 1');
like($r->{err}, qr/partition is longer than 1024 bytes \(400\)/, 'and why');

# lines: more than a batch, in order; once more with the same ids

my @lines = map { "{\"n\": $_}" } 1 .. 2100;

spurt("$dir/lines", join("\n", @lines[0 .. 99], '', @lines[100 .. 2099]));
$r = logs(qw/push many --lines --id i --file/, "$dir/lines");
is($r->{err}, "queuectl: 2100 messages sent, 0 lines refused\n", 'lines');
is_deeply([map { payloads('many') } 1 .. 3], \@lines, 'all of them, in order');
logs(qw/push many --lines --id i --start-line 2000 --file/, "$dir/lines");
is_deeply([payloads('many')], [], 'pushed again with ids: stored once');
$r = $c->ok({ stdin => "a\n\n\xc3\xa9\r\n" }, qw/logs push many --text -lj -q/);
is(@{ $r->{json} }, 2, 'JSON: what the server says');
is_deeply([payloads('many')], ['"a"', "\"\xc3\xa9\\u000d\""], 'lines of text');

# what was there before is told; an id that is empty is none

$r = $c->ok({ stdin => "1\n2\n" }, qw/logs push twice --lines --id x/);
is($r->{err}, "queuectl: 2 messages sent, 0 lines refused\n", 'new ones');
$r = $c->ok({ stdin => "3\n4\n5\n" }, qw/logs push twice --lines --id x/);
is($r->{err}, "queuectl: 3 messages sent, 0 lines refused\n"
            . "queuectl: 2 messages were there before: they are not stored twice\n",
   'duplicates');
is_deeply([payloads('twice')], [1, 2, 5], 'are not stored');
$r = $c->run({ stdin => "1\n2\n" }, qw/logs push twice --lines --id/, '');
is("$r->{status} $r->{err}", "2 queuectl: --id is empty\n"
   . "See: queuectl logs push --help\n", 'no id: usage');

# a line that is refused by us, or by the server, in the midst of a batch

for my $bad (['x', 'was not sent', 'not JSON'],
             ['[' x 63 . ']' x 63, 'was refused', '\(400\)'])
{
    my $stdin = join "\n", 1 .. 13, $bad->[0], 14 .. 26;

    $r = $c->run({ stdin => $stdin }, qw/logs push bad --lines/);
    is($r->{status}, 1, "a line that $bad->[1]: 1");
    like($r->{err}, qr/$bad->[2].*line 14 $bad->[1]\n.*13 messages sent; go on with --start-line 14/s,
         'it is known which, and those before it are stored');
    is(join(' ', payloads('bad')), join(' ', 1 .. 13), 'and no other');
    $r = $c->run({ stdin => $stdin }, qw/logs push bad --lines --keep-going/);
    like($r->{err}, qr/26 messages sent, 1 line refused/, '--keep-going');
    is(join(' ', payloads('bad')), join(' ', 1 .. 26), 'the others are stored');
}

# a location that takes less is sent less at a time

my $small = NgxQueues::Server->new(node_of => $s, locations =>
    'location /api/v1/ { queues_queen_api o/p; client_max_body_size 5k; }');

$c->ok({ env => { QUEUES_URL => $small->url },
         stdin => join "\n", map { "\"$_" . 'x' x 900 . '"' } 1 .. 20 },
       qw/logs push small --lines/);
is(join(' ', map { /^"(\d+)x/ } payloads('small')), join(' ', 1 .. 20),
   'smaller batches, in order');
$small->finish;

# Ctrl-C: what is sent is known

system('mkfifo', "$dir/fifo");

my $h = $c->start(qw/logs push fifo --lines --file/, "$dir/fifo");

open my $end, '>', "$dir/fifo" or die $!;
$end->autoflush;
print $end map { "$_\n" } 1 .. 1005;
ok(wait_for(sub { my @all = payloads('fifo'); @all == 1000 }),
   'a batch is stored');
$r = $c->end($h, 'INT');
is($r->{signal}, 2, 'then Ctrl-C');
is($r->{err}, "queuectl: 1000 messages sent; go on with --start-line 1001\n",
   'and it says where to go on');
close $end;

# pop: for people, with a handle; raw; JSON as it came

logs('push', 'p', $odd, '--id', "a:b/%\n \xc3\xa9", '--partition', 'x');
$r = logs(qw/pop p --group g/);
like($r->{out}, qr/^Message\ +a:b\/%\\n\ \xc3\xa9\nPartition\ +x\nPushed\ +20\S+Z\n
                   Producer\ +test\nGroup\ +g\nHandle\ +\S+\n/x, 'a message');
like($r->{out}, qr/^Payload      \{"a" :\n              \[1\.50, 12345678901234567890, /m,
     'its payload, lines below each other');

my ($handle) = $r->{out} =~ /^Handle +(\S+)$/m;

like($handle, qr/^[\w%-]+:[\w%-]+:g:a%3Ab%2F%25%0A%20%C3%A9\z/, 'one word');
is(logs(qw/pop p --group g/)->{err}, "queuectl: no messages\n", 'it is leased');
$r = logs('extend', $handle, '--lease', '20m');
like($r->{out}, qr/\ALEASED TO +HANDLE\n20\S+Z  \Q$handle\E\n\z/, 'a longer lease');
ok(logs('extend', $handle, '--json')->{json}[0]{expiresAt} ge $r->{out} =~ /(20\S+Z)/,
   'none becomes shorter');
is(logs('ack', $handle, '--retry')->{out} =~ s/ +/ /gr,
   "RESULT MESSAGE\nok a:b/%\\n \xc3\xa9\n", 'given back');
is(logs(qw/pop p --group g --raw/)->{out}, "$odd\n", 'the payload alone');
$r = $c->run('logs', 'ack', $handle);
is($r->{status}, 1, 'the lease is another one: 1');
like($r->{out}, qr/^invalid or expired lease  a:b/m, 'and why');
$r = $c->run('logs', 'extend', $handle);
is($r->{status}, 1, 'nor is that one extended');
like($r->{err}, qr/the lease is over: \Q$handle\E$/, 'it is over');
is($c->run(qw/logs extend a:b/)->{status}, 2, 'extend: no handle');
is($c->run({ stdin => "$handle\n\n" }, qw/logs ack - --json/)->{json}[0]{error},
   'invalid or expired lease', 'handles of stdin');
is(logs(qw/pop p --group h --text --ack/)->{out}, "$odd\n", 'text of no string');
is(logs(qw/pop p --group h --text --ack/)->{out}, '', 'it is acknowledged');

logs('push', 'p', '"a\\u0000\\n\\ud83d\\ude00"');
is(logs(qw/pop p --group h --text --ack/)->{out}, "a\0\n\xf0\x9f\x98\x80\n",
   'text of a string');

# an id of zeros and other bytes is one in its handle

$q->push('zero', { payload => 1, transactionId => "\0a\0\0" });
($handle) = logs(qw/pop zero/)->{out} =~ /^Handle +(\S+)$/m;
like($handle, qr/:%00a%00%00\z/, 'zeros');
like(logs('ack', $handle)->{out}, qr/^ok /m, 'are acknowledged');

# batches and partitions; JSON of them is acknowledged, and pushed elsewhere

$q->push('from', map +{ payload => $_, partition => 'l' . $_ % 3,
                         transactionId => "t$_" }, 1 .. 9);
$r = logs(qw/pop from --group g --batch 100 --json/);
is(@{ $r->{json} }, 3, 'a batch of a partition');
like($c->ok({ stdin => $r->{out} }, qw/logs ack -/)->{out}, qr/\A(?:.*\n)(?:ok .*\n){3}\z/,
     'messages are acknowledged as they are printed');
is(@{ logs(qw/pop from --group g --batch 100 --partitions 9 --json/)->{json} }, 6,
   'of more partitions');
is(logs(qw/pop from --group h --partition l2 --batch 2 --raw --ack/)->{out},
   "2\n5\n", 'of one');
$r = logs(qw/pop from --group all --all --ack --json/);
is(@{ $r->{json} }, 9, 'all');
is($r->{err}, "queuectl: 9 messages popped and acknowledged\n", 'and how many');
logs('push', 'odd', $odd =~ s/\n/ /r, '--trace', 't');
$r = logs(qw/pop odd --json/)->{out} . $r->{out};
$c->ok({ stdin => $r }, qw/logs push to --jsonl/);

my @to = map { $q->messages('to', partition => $_, batch => 9) }
    qw/l0 l1 l2/;

is(join(' ', map { "$_->{partition}$_->{transactionId}" } @to),
   'l0t3 l0t6 l0t9 l1t1 l1t4 l1t7 l2t2 l2t5 l2t8', 'from one to another: ids');
like($q->pop('to', partition => 'Default')->{body},
     qr/"traceId":"t","data":\Q${\ ($odd =~ s{\n}{ }r)}\E,/, 'traces, and payloads byte for byte');
$c->ok({ stdin => $r }, qw/logs push to --jsonl --id again --partition z/);
is(join(' ', $q->pop('to', partition => 'z', batch => 3)->{body}
             =~ /"transactionId":"(.*?)"/g), 'again-1 again-2 again-3',
    'with other ids, and elsewhere');

# where a group begins

is(logs(qw/pop from --group late --from now/)->{out}, '', 'now');
is(@{ logs(qw/pop from --group hour --from 1h --batch 9 --partitions 3 --json/)
      ->{json} }, 9, 'an hour ago');
is(logs(qw/pop from --group then --from 2100-01-01T00:00:00.5Z/)->{out}, '',
   'a time');
like(logs(qw/pop from --group begin --from beginning --raw/)->{out}, qr/^\d\n\z/,
     'the beginning');
for my $no ('then', '2026-02-31T00:00:00Z', '26-8-1T1:2:3Z', ' 2026-08-01T12:00:00Z',
            '2026-08-01T12:00:00.Z', '2026-08-01T24:00:00Z', '2026-08-01T12:00:00',
            '2026-08-01T12:00:00Zx')
{
    is($c->run(qw/logs pop from --group g --from/, $no)->{status}, 2,
       "no time of which the server would know: $no");
}

is($c->run(qw/logs pop from --from now/)->{status}, 2, 'no group: usage');

# it waits; Ctrl-C ends that

$h = $c->start(qw/logs pop wait --wait 30s --raw --ack/);
ok(wait_for(sub { $q->get('resources/queues/wait')->{status} == 200 }), 'waiting');
logs(qw/push wait 7/);
is($c->end($h)->{out}, "7\n", 'for the first one');
is($q->pop('wait')->{status}, 204, 'it is acknowledged');
$h = $c->start(qw/logs pop late --wait 60 -v/);
ok(wait_for(sub { $c->err($h) =~ /> GET .*wait=true&timeout=20000/ }),
   'no call waits longer than 20 s');
is($c->end($h, 'INT')->{signal}, 2, 'Ctrl-C');

# failures: the queue's retries, then a dead letter that says why

$q->configure('fail', retryLimit => 1);
logs(qw/push fail 1/);

for my $result ('ok', 'ok, a dead letter') {
    ($handle) = logs(qw/pop fail/)->{out} =~ /^Handle +(\S+)$/m;
    like(logs('ack', $handle, '--failed', '--error', "no \xc3\xa9")->{out},
         qr/^$result  /m, "failed: $result");
}

is($q->get('dlq', queue => 'fail')->{json}{messages}[0]{errorMessage}, "no \x{e9}",
   'with the error');
logs(qw/push fail 2/);
($handle) = logs(qw/pop fail/)->{out} =~ /^Handle +(\S+)$/m;
like(logs('ack', $handle, '--dlq')->{out}, qr/^ok, a dead letter/m, 'at once');

for my $words ('x', 'a:b:c', 'a:b:c:d:e', 'a:b:c:%zz', 'a:b:c:%ff', 'a:b:c:%0') {
    is($c->run(qw/logs ack/, $words)->{status}, 2, "no handle: $words");
}

is($c->run({ stdin => '{"transactionId":"x"}' }, qw/logs ack -/)->{status}, 2,
   'no message');

for my $words ('ack h --failed --dlq', 'ack h --error x', 'pop q --json --raw',
               'pop q --all')
{
    is($c->run('logs', split / /, $words)->{status}, 2, "$words: usage");
}

# a stdout that is full: nothing of it is acknowledged

logs(qw/push full 1/);
is($c->run({ command => ['sh', '-c', '"$0" logs pop full --ack >/dev/full',
                         $c->binary] })->{status}, 1, 'stdout is full: 1');
like($q->get('resources/queues/full')->{body}, qr/"completed":0/, 'not acknowledged');

# what does not go together

for my $words ('1 --lines', '1 --file y', '--lines --jsonl', '--jsonl --text',
               '--jsonl --trace t', '1 --start-line 3', '1 2')
{
    is($c->run(qw/logs push q/, split / /, $words)->{status}, 2, "$words: usage");
}

$s->finish;
done_testing;
