# A wait that ends while Redis is silent has its answer; what Redis says later
# is for nobody, though nginx lingers on the connection.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw/sleep/;

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new;
my $q = NgxQueues::Queue->new($s);

$q->send('a');
$q->receive(visibilityTimeoutSeconds => 2);

# the end of that visibility has the wait try once more, in vain

my $body = '{"waitSeconds": 2, "visibilityTimeoutSeconds": 60}';
my $n = $s->client->connect;

sleep 0.3;

$n->write('POST ' . $q->path('/messages/receive') . " HTTP/1.1\r\nHost: a\r\n"
          . 'Authorization: Bearer ' . $s->key . "\r\nConnection: close\r\n"
          . 'Content-Length: ' . length($body) . "\r\n\r\n$body");
$q->parked;

# bytes that nobody reads keep the connection in lingering_close

$n->write("GET / HTTP/1.1\r\nHo");
sleep 1;

$s->redis->stop;

my $r = $n->response(8);

is("$r->{status} $r->{body}", '200 {"messages":[]}', 'the wait has ended');

$s->redis->cont;

ok((wait_for { $q->counts eq '1 0 0' } 3), 'the message is back');

sysread $n->{fh}, my $more, 1000;

is($more // '', '', 'one answer');

$n->close;
$s->finish;

done_testing;
