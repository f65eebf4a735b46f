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

# what does not go together

for my $words ('1 --lines', '1 --file y', '--lines --jsonl', '--jsonl --text',
               '--jsonl --trace t', '1 --start-line 3', '1 2')
{
    is($c->run(qw/logs push q/, split / /, $words)->{status}, 2, "$words: usage");
}

$s->finish;
done_testing;
