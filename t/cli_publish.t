#!/usr/bin/perl

# queuectl topics publish: arguments, files, stdin and lines of them; what is
# published is what was given, byte for byte.

use strict;
use warnings;

use MIME::Base64 'decode_base64';
use Test::More;

use NgxQueues::Cli;
use NgxQueues::Process 'spurt';
use NgxQueues::Pubsub;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Pubsub::server(auth => 1, http => 'queues_redis_timeout 500ms;');
my $p = NgxQueues::Pubsub->new($s);
my $c = NgxQueues::Cli->new(server => $s, project => 'acme/shop');
my $dir = $c->dir;

$p->topic('news');
$p->sub('mine', 'news');

my $bytes = join('', map { chr } 0 .. 255) . "\xff\0\xe2\x82\n";

# all that a subscription has, after which it has nothing

sub pulled {
    my @m = $p->pull('mine', 1000);

    $p->ack('mine', @m) if @m;

    return @m;
}

sub datas { map { decode_base64($_->{message}{data} // '') } pulled() }

my $r = $c->ok(qw/topics publish news hello --attribute kind=created
               --ordering-key a-1/, '-a', 'x==" ü');

my ($m) = pulled();

is($r->{out}, "published $m->{message}{messageId}\n", 'publish: its id');
is(decode_base64($m->{message}{data}), 'hello', 'its data');
is_deeply($m->{message}{attributes}, { kind => 'created', x => "=\" \xfc" },
          'its attributes');
is($m->{message}{orderingKey}, 'a-1', 'and its key');

like($c->ok({ stdin => $bytes }, qw/topics publish news --json/)->{out},
     qr/^\{"messageIds":\["\d+"\]\}\n\z/, 'JSON: as the server has it');
is_deeply([datas()], [$bytes], 'stdin, any bytes');

for my $n (1 .. 4) {
    spurt("$dir/data", substr $bytes, -$n);
    $c->ok(qw/topics publish news -f/, "$dir/data");
}

is_deeply([datas()], [map { substr $bytes, -$_ } 1 .. 4], 'files, of any length');

$c->ok(qw/topics publish news/, '', '-a', 'a=b');
is_deeply([map { $_->{message}{data} } pulled()], [undef], 'attributes alone');
is($c->run(qw/topics publish news/, '')->{status}, 2, 'nothing at all: usage');
is($c->run(qw/topics publish news x -a a/)->{status}, 2, 'no attribute: usage');
is($c->run(qw/topics publish none x/)->{status}, 3, 'no such topic: 3');

my @lines = map { "line $_ \xff\0" } 1 .. 250;

spurt("$dir/lines", join "\n", @lines);
$r = $c->ok(qw/topics publish news --lines --file/, "$dir/lines");
is("$r->{out}|$r->{err}", "|queuectl: 250 messages sent, 0 lines refused\n",
   'lines');
is_deeply([datas()], \@lines, 'all of them, in order');

$r = $c->ok(qw/topics publish news --lines --json --start-line 150 --file/,
            "$dir/lines");
is(join(' ', map { scalar @{ $_->{messageIds} } } @{ $r->{json} }), '100 1',
   'from a line on, a hundred a call');
is_deeply([datas()], [@lines[149 .. 249]], 'those');

# JSON: messages as a pull has them, and those that are refused

my @json = ('{"ackId":"x","message":{"data":"AAE=","attributes":{"k":"\u0041"},'
            . '"orderingKey":"o","messageId":"1"},"deliveryAttempt":2}',
            '{"data":"AAI="}', '{"data":"?"}', '{"message":{}}', '{',
            '{"attributes":{"a":"b"}}', '{"attributes":{"goog":1}}');

$r = $c->run({ stdin => join "\n", @json }, qw/topics publish news --jsonl/);
is($r->{status}, 1, 'lines of JSON');
like($r->{err}, qr/no\ data\ and\ no\ attributes.*line\ 4\ was\ not\ sent.*
                   line\ 3\ was\ refused.*nothing\ was\ sent/sx,
     'one that is bad: nothing of its call is there');

$r = $c->run({ stdin => join "\n", @json },
             qw/topics publish news --jsonl --keep-going/);
is($r->{status}, 1, 'the others');
like($r->{err}, qr/3 messages sent, 4 lines refused/, 'are sent');
is_deeply([map { [@{ $_->{message} }{qw/data attributes orderingKey/}] } pulled()],
          [['AAE=', { k => 'A' }, 'o'], ['AAI=', undef, undef],
           [undef, { a => 'b' }, undef]], 'as they are');

# a server that takes less, and says so with a 400 that blames nobody

my $small = NgxQueues::Server->new(node_of => $s, api => 'queues_pubsub_api acme;'
    . 'client_max_body_size 5k;');
my @some = map { $_ x 1500 } 'a' .. 'm';

$c->ok({ env => { QUEUES_URL => $small->url }, stdin => join "\n", @some },
       qw/topics publish news --lines/);
is_deeply([datas()], \@some, 'smaller calls, in order');
$r = $c->run({ env => { QUEUES_URL => $small->url },
               stdin => join "\n", 'a', 'b' x 6000, 'c' },
             qw/topics publish news --lines --keep-going/);
like($r->{err}, qr/line 2 was refused.*2 messages sent, 1 line refused/s,
     'a line that is too large by itself');
is_deeply([datas()], ['a', 'c'], 'and the others');
$small->finish;

# where the store is away

$s->redis->stop;
my $h = $c->start({ seconds => 60, stdin => join "\n", 1 .. 5 },
                  qw/topics publish news --lines/);
ok(wait_for(sub { $c->err($h) =~ /\(503\); trying again/ }, 20), 'lines wait');
$s->redis->cont;
is($c->end($h)->{status}, 0, 'and go on when it is back');
is_deeply([(datas())[-5 .. -1]], [1 .. 5], 'all of them');

$s->finish;
done_testing;
