#!/usr/bin/perl

# queuectl subs and snapshots: messages of subscriptions of topics, byte for
# byte, what is done with their ack ids, and seeks.

use strict;
use warnings;

use MIME::Base64 'encode_base64';
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Cli;
use NgxQueues::Endpoint;
use NgxQueues::Process qw/gone spurt/;
use NgxQueues::Pubsub;
use NgxQueues::Wait;

my $s = NgxQueues::Pubsub::server(auth => 1);
my $p = NgxQueues::Pubsub->new($s);
my $c = NgxQueues::Cli->new(server => $s, project => 'acme/shop');
my $dir = $c->dir;

$p->topic('top');
$p->topic('failed');
$p->sub('sub', 'top', deadLetterPolicy => { deadLetterTopic => 'failed' });

# pull: for people, who are shown no control characters

my ($id) = $p->publish('top', {
    data => encode_base64("two\nlines\0\xff\e[2J", ''), orderingKey => "k\e",
    attributes => { kind => "a\nb" },
});

my $r = $c->ok(qw/subs pull sub/);

like($r->{out}, qr/\AMessage\ {6}$id\nPublished\ {4}20\S+Z\n
                   Key\ +k\\u001b\nAttempt\ +1\nAck\ id\ +\S+\n
                   Attribute\ +kind=a\\nb\n
                   Data\ +two\n\ {13}lines\\u0000\\xff\\u001b\[2J\n\n\z/x,
     'pull: a message');

my ($ack) = $r->{out} =~ /^Ack id +(\S+)$/m;

$r = $c->run(qw/subs pull sub/);
is("$r->{status}|$r->{out}|$r->{err}", "0||queuectl: no messages\n",
   'it is with somebody');

# ack, nack and extend

is($c->ok(qw/subs nack sub/, $ack)->{err}, "queuectl: 1 given back\n", 'nack');
$r = $c->ok(qw/subs pull sub --json/);
is($r->{json}[0]{deliveryAttempt}, 2, 'it comes again');
is($c->ok(qw/subs extend sub --deadline 10m/, $r->{json}[0]{ackId})->{err},
   "queuectl: 1 extended\n", 'extend');

is($c->ok({ stdin => "$r->{json}[0]{ackId}\n\n" }, qw/subs ack sub -/)->{err},
   "queuectl: 1 acknowledged\n", 'ack, of stdin');
is($p->pull('sub', 1), 0, 'gone');

for my $words ('ack sub', 'nack sub', 'extend sub x', 'extend sub x --deadline 0',
               'pull', 'pull sub --max 0', 'pull sub --raw --json',
               'pull sub --raw --lines')
{
    is($c->run('subs', split / /, $words)->{status}, 2, "subs $words: usage");
}

$r = $c->run(qw/subs ack sub nonsense/);
is($r->{status}, 1, 'an id that is none: 1');
like($r->{err}, qr/INVALID_ARGUMENT, 400/, 'is said');
is($c->run(qw/subs ack none x/)->{status}, 3, 'no such subscription: 3');
is($c->run(qw/subs pull none/)->{status}, 3, 'nor to pull from');

# bytes: what comes out of --raw is what was published

my $bytes = join('', map { chr } 0 .. 255) . "\xff\0\xe2\x82\n";

$c->ok({ stdin => $bytes }, qw/topics publish top/);
is($c->ok(qw/subs pull sub --ack --raw/)->{out}, $bytes, 'raw: byte for byte');

for my $n (0 .. 3) {
    my $data = substr $bytes, 0, $n;

    $p->publish('top', { data => encode_base64($data, ''),
                       attributes => { a => 'b' } });
    is($c->ok(qw/subs pull sub -ar/)->{out}, $data, "of $n bytes");
}

my @lines = map { "line $_ \xff\0" } 1 .. 1500;

spurt("$dir/lines", join '', map { "$_\n" } @lines);
$c->ok(qw/topics publish top --lines --file/, "$dir/lines");
$r = $c->ok(qw/subs pull sub --max 1200 --ack --lines/);
is_deeply($r->{lines}, [@lines[0 .. 1199]], 'lines: as many as are asked for');
$r = $c->ok(qw/subs pull sub --max 1000000 --ack --lines/);
is_deeply($r->{lines}, [@lines[1200 .. 1499]], 'and all that are left');
is($p->pull('sub', 1), 0, 'acknowledged');

# JSON goes back to where it came from

$c->ok(qw/topics publish top -a k=v --ordering-key o/, 'one');
$c->ok({ stdin => "\0\1" }, qw/topics publish top/);
$r = $c->ok(qw/subs pull sub -n 10 --ack --json/);
is(@{ $r->{lines} }, 2, 'JSON: a message a line');
$c->ok({ stdin => $r->{out} }, qw/topics publish top --jsonl/);
is_deeply([map { [@{ $_->{message} }{qw/data attributes orderingKey/}] }
           sort { $a->{message}{messageId} cmp $b->{message}{messageId} }
           $p->pull('sub', 10)],
          [[encode_base64('one', ''), { k => 'v' }, 'o'], ['AAE=', undef, undef]],
          'and back: the same');

# waiting: for the first one, and not longer than it is to

sub waits {
    my $h = $c->start(qw/subs pull sub -v --raw --wait/, @_);

    ok(wait_for(sub { $c->err($h) =~ /^queuectl: > POST/ }), 'it asks');

    return $h;
}

my $h = waits(30);

$p->publish('top', 'late');
is($c->end($h)->{out}, 'late', 'and waits for the first');

my $began = time;

$r = $c->ok(qw/subs pull sub --wait 1/);
is($r->{err}, "queuectl: no messages\n", 'for a second');
cmp_ok(time - $began, '<', 5, 'and no longer');
$p->publish('top', 'x');
is(@{ $c->ok(qw/subs pull sub --wait 1 --json/)->{lines} }, 1,
   'who went away took nothing with him');

$h = waits(60);
is($c->end($h, 'INT')->{signal}, 2, 'Ctrl-C ends a wait');

# exactly once: what was too late is told, and the others are done

$p->topic('exact');
$p->sub('once', 'exact', enableExactlyOnceDelivery => \1);
$p->publish('exact', 'a', 'b');

my @m = $p->pull('once', 2);

$p->ack('once', $m[0]);
$r = $c->run(qw/subs ack once/, map { $_->{ackId} } @m);
is($r->{status}, 1, 'one was done before: 1');
is($r->{err}, "queuectl: too late, the message may come again: "
              . "PERMANENT_FAILURE_INVALID_ACK_ID: $m[0]{ackId}\n", 'which');
$r = $c->run(qw/subs nack once/, $m[1]{ackId});
is($r->{status}, 1, 'and the other one is done');

$c->ok(qw{subs push-to once none});
$c->ok(qw{subs push-to sub https://hooks.example.com/a});
$r = $c->run(qw/subs pull sub/);
is($r->{status}, 1, 'one that is pushed: 1');
like($r->{err}, qr/FAILED_PRECONDITION, 400/, 'in the words of the server');

# snapshots and seeks

$p->sub('again', 'top', retainAckedMessages => \1);
$c->ok(qw/topics publish top first/);

$r = $c->ok(qw/snapshots create again before --label a=b/);
like($r->{out}, qr/\ASnapshot\ \ before\nTopic\ {5}top\nExpires\ {3}20\S+Z\n
                   Labels\ {4}a=b\n\z/x, 'a snapshot');
is($c->ok(qw/snapshots get before --json/)->{out},
   $p->get('snapshots', 'before')->{body} . "\n", 'as the server has it');
like($c->ok(qw/snapshots list/)->{out},
     qr/\ASNAPSHOT  TOPIC  EXPIRES .*\nbefore    top    20.*  a=b\n\z/, 'in the list');
is($c->ok(qw/snapshots list --names/)->{out}, "before\n", 'by its name');
is($c->run(qw/snapshots create again before/)->{status}, 6, 'a second one: 6');
is($c->run(qw/snapshots create none other/)->{status}, 3, 'of nothing: 3');

sub all { $c->ok(qw/subs pull again --max 100 --ack --lines -q/)->{out} }

is(all(), "first\n", 'all is acknowledged');
$c->ok(qw/topics publish top second/);
$r = $c->ok(qw/subs seek again --snapshot before --yes/);
is($r->{err}, "queuectl: again is there\n", 'seek to it');
is(all(), "first\nsecond\n", 'what it had, and what came after');
$c->ok(qw/subs seek again --ago 1h -y/);
is(all(), "first\nsecond\n", 'an hour ago: all comes again');
$c->ok(qw/topics publish top third/);
$c->ok(qw/subs seek again --to 2999-01-01T00:00:00Z -y/);
is(all(), '', 'a time that is to come: all counts as acknowledged');

for my $words ('again --to 2026-01-01T00:00:00Z', 'again -y', 'again --ago x -y',
               'again --ago 1h --snapshot before -y')
{
    is($c->run(qw/subs seek/, split / /, $words)->{status}, 2, "seek $words: usage");
}

is($c->run(qw/subs seek again --to soon -y/)->{status}, 1, 'no time: 1');
is($c->run(qw/subs seek again --snapshot none -y/)->{status}, 3, 'no snapshot: 3');
$c->ok(qw/snapshots delete before -y/);
is($c->ok(qw/snapshots list -q/)->{out}, '', 'deleted');

# servers that are none of ours

my $e = NgxQueues::Endpoint->new(plain => 1);
my %env = (QUEUES_URL => 'http://127.0.0.1:' . $e->port);

sub answers {
    my ($name, $status, $error, $body, @words) = @_;

    $e->on('*', { body => $body });
    $r = $c->run({ env => \%env }, qw/subs pull sub/, @words);
    is($r->{status}, $status, "$name: $status");
    like($r->{err}, $error, "$name: it says so");
}

answers('no object', 1, qr/none of a pull/, '[]');
answers('no ack id', 1, qr/without an ack id/, '{"receivedMessages":[{"message":{}}]}');
answers('no message', 1, qr/a message that is none/, '{"receivedMessages":[{"ackId":"a"}]}');
answers('no base64', 1, qr/a message that is none/,
        '{"receivedMessages":[{"ackId":"a","message":{"data":"' . $_ . '"}}]}')
    for 'AAA', 'A===', '=AAA', 'AA=A', 'A?==', "AAAA\\u0000AAA";

my $path = '/v1/projects/shop/subscriptions/sub:acknowledge';

$e->on($path, { status => 500 });
$e->on('*', { body => '{"receivedMessages":[{"ackId":"a","message":{"data":"Yg=="}}]}' });
$r = $c->run({ env => \%env }, qw/subs pull sub --lines --ack/);
is("$r->{status} $r->{out}", "5 b\n", 'printed, and not acknowledged: 5');
like($r->{err}, qr/500.*not all is acknowledged: it comes again/s, 'is said');

# Ctrl-C while messages are printed: what was is acknowledged first

$e->forget;
$e->on($path, { hold => 'ack', body => '{}' });
$h = $c->start({ env => \%env }, qw/subs pull sub --lines --ack/);
$e->wait(1, path => $path);
kill INT => $h->{pid};
ok(!wait_for(sub { gone($h->{pid}) }, 0.5), 'Ctrl-C waits');
$e->release('ack');
$r = $c->end($h);
is("$r->{signal} $r->{out}$r->{err}", "2 b\n", 'for the acknowledgement');

# stdout that cannot be written to: nothing is acknowledged

$e->forget;
$r = $c->run({ env => \%env, command => ['bash', '-c', 'exec "$@" >/dev/full', 'full',
               $c->binary, qw/subs pull sub --ack --raw/] });
is($r->{status}, 1, 'not written: 1');
is($r->{err}, "queuectl: cannot write: No space left on device\n", 'is said, once');
is(join(' ', map { $_->{uri} =~ s/.*://r } $e->wait(1)), 'pull', 'and it comes again');

# what is sent: a thousand a call

$e->forget;
$e->on('*', { body => '{}' });
$c->ok({ env => \%env, stdin => join '', map { "$_\n" } 1 .. 1001 },
       qw/subs extend sub - --deadline 90s/);

my @sent = map { "$_->{uri} $_->{body}" } $e->wait(2);

is($sent[0] =~ tr/,//, 1000, 'a thousand');
is($sent[1], '/v1/projects/shop/subscriptions/sub:modifyAckDeadline '
             . '{"ackIds":["1001"],"ackDeadlineSeconds":90}', 'and one more');

$s->finish;
done_testing;
