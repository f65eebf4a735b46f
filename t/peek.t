#!/usr/bin/perl

# PeekMessages: what is there, in any state, without a receive.

use strict;
use warnings;

use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new;
my $c = $s->client;

sub peek {
    my ($q, $query) = @_;

    my $r = $q->get('/messages' . ($query // ''));

    die "peek: $r->{status} $r->{body}\n" if $r->{status} != 200;

    return @{ $r->{json}{messages} };
}

sub bodies { join ' ', map { $_->{body} } @_ }

my $q = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 60);

is($q->get('/messages')->{body}, '{"messages":[]}', 'nothing is there');

my @ids = $q->send('1', { body => '2', attributes => { k => "v\0" } },
                   map { "$_" } 3 .. 120);
my @m = peek($q);

is(scalar @m, 10, 'ten, where no number is said');
is(bodies(@m), join(' ', 1 .. 10), 'the oldest ones, in order');
is(join(' ', map { $_->{messageId} } @m), join(' ', @ids[0 .. 9]),
   'with their ids');
is(join(' ', sort keys %{ $m[0] }), 'attributes body firstReceivedAt messageId'
   . ' receiveCount sentAt', 'all that a message has, but no handle');
is_deeply([map { [$_->{firstReceivedAt}, $_->{receiveCount}] } @m],
          [map { [undef, 0] } @m], 'never received');
is_deeply([$m[0]{attributes}, $m[1]{attributes}], [{}, { k => "v\0" }],
          'attributes');
like($m[0]{sentAt}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, 'when it was sent');
is($q->counts, '120 0 0', 'nothing has changed');

is(bodies(peek($q, '?limit=1')), '1', 'one');
is(bodies(peek($q, '?limit=100&state=visible')), join(' ', 1 .. 100), 'a hundred');
is(scalar peek($q, '?limit=100&state=inFlight'), 0, 'none is in flight');
is(scalar peek($q, '?state=delayed'), 0, 'none is delayed');

# in flight

my @r = $q->receive(maxMessages => 3);

push @r, $q->receive;
is(bodies(peek($q, '?limit=2')), '5 6', 'what is in flight is not visible');
@m = peek($q, '?state=inFlight');
is(join(' ', sort { $a <=> $b } map { $_->{body} } @m), '1 2 3 4', 'in flight');
is_deeply({ map { $_->{messageId} => [@$_{qw/firstReceivedAt receiveCount/}] } @m },
          { map { $_->{messageId} => [@$_{qw/firstReceivedAt receiveCount/}] } @r },
          'received when they were');
is($q->visibility(0, $r[1]), 'ok', 'release one');
is(join(' ', sort { $a <=> $b }
        map { $_->{body} } peek($q, '?state=inFlight')), '1 3 4',
   'three are left in flight');
@m = peek($q, '?limit=100');
my ($again) = grep { $_->{body} eq '2' } @m;
is($again->{receiveCount}, 1, 'visible again, received once');
is($again->{firstReceivedAt}, $r[1]{firstReceivedAt}, 'when it was');
is($q->ack($r[1]), 'ok', 'a peek takes no handle its right');

# delayed

$q->send({ body => 'late', delaySeconds => 900 });
is(bodies(peek($q, '?state=delayed')), 'late', 'delayed');
is($q->counts, '116 3 1', 'counted as ever');

# moments pass

my $brief = NgxQueues::Queue->new($s, visibilityTimeoutSeconds => 1);

$brief->send('b');
$brief->receive;
ok(wait_for(sub { bodies(peek($brief)) eq 'b' }, 5),
   'visible when the visibility has ended, with no receive');
is((peek($brief))[0]{receiveCount}, 1, 'received once');

# a FIFO queue

my $f = NgxQueues::Queue->new($s, kind => 'fifo', delaySeconds => 0,
    contentBasedDeduplication => \1, visibilityTimeoutSeconds => 60);

$f->send(map { { body => $_->[1], groupId => $_->[0] } }
    ['g"\\', 'g1'], ['h', 'h1'], ['g"\\', 'g2'], ['h', 'h2']);

@m = peek($f);
is_deeply([sort map { "$_->{body} $_->{groupId} $_->{seq} $_->{receiveCount}" } @m],
          ['g1 g"\\ 1 0', 'g2 g"\\ 2 0', 'h1 h 1 0', 'h2 h 2 0'],
          'of a FIFO queue, with groups and numbers');
@r = $f->receive(maxMessages => 1);
@m = peek($f, '?state=inFlight');
is("$m[0]{messageId} $m[0]{seq}", "$r[0]{messageId} 1", 'one is in flight');
is($m[0]{receiveCount}, 1, 'received once');
ok(!exists $m[0]{receiptHandle}, 'no handle');

my $late = NgxQueues::Queue->new($s, kind => 'fifo', delaySeconds => 900,
                                 contentBasedDeduplication => \1);

$late->send({ body => 'late', groupId => 'g', attributes => { k => 'v' } });
@m = peek($late, '?state=delayed');
is("$m[0]{body} $m[0]{groupId} $m[0]{seq} $m[0]{attributes}{k}", 'late g 1 v',
   'a delayed one');
is(scalar peek($late), 0, 'is not visible');

# large bodies: a part of them

my $large = NgxQueues::Queue->new($s, maxMessageBytes => 1048576);

$large->send('x' x 900_000) for 1 .. 25;
@m = peek($large, '?limit=100');
ok(@m >= 1 && @m < 25, 'not more than some MiB') or diag(scalar @m);
is(scalar(grep { length $_->{body} != 900_000 } @m), 0, 'whole ones');

# what is wrong with a query

for my $query ('limit=0', 'limit=101', 'limit=1.0', 'limit=', 'limit=-1',
               'limit=x', 'state=', 'state=Visible', 'state=all', 'x=1',
               'limit=1&limit=1', 'state=visible&state=visible', 'limit=%',
               'pageSize=1') {
    my $r = $q->get("/messages?$query");

    is("$r->{status} $r->{json}{error}", '400 invalid_argument', $query);
}

is($c->get("$q->{queues}/none/messages")->{status}, 404, 'no such queue');
is($c->head($q->path('/messages'))->{status}, 200, 'HEAD');

$s->finish;

done_testing;
