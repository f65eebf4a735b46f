#!/usr/bin/perl

# queues_rate_limit: a bucket of tokens for each queue and each organization,
# which all workers share, under whatever spelling of the queue; over it 429
# with the second at which there will be a token.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;
use Time::HiRes qw/time sleep/;

use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $some = 'qk_some-0123456789abcdefghijklmnopqr';

# buckets of a minute for a token do not fill while the test looks at them

my %options = (
    workers => 2,
    keys => [sha256_hex($some) . ' some queues.messages.* */p/open*'],
    http => 'queues_zone queues 1m; queues_rate_limit queue=1/m burst=5;'
            . ' keepalive_requests 1000000;',
    server => 'add_header X-Pid $pid always; client_header_buffer_size 64k;',
    locations => <<'END',
location / { queues_api; }
location /v1/organizations/org/ {
    queues_rate_limit organization=1/m burst=5;
    queues_api;
}
location /v1/organizations/both/ {
    queues_rate_limit queue=1/m organization=50/s;
    queues_api;
}
location /v1/organizations/fast/ {
    queues_rate_limit queue=5/s burst=2;
    queues_api;
}
location /v1/organizations/free/ { queues_rate_limit off; queues_api; }
END
);

my $s = NgxQueues::Server->new(%options);
my $c = $s->client;

sub queue { NgxQueues::Queue->new($s, project => $_[0] // 'o/p', @_[1 .. $#_]) }

# the path of a queue by another spelling

sub spelled {
    my ($q, $what) = @_;

    return "$q->{queues}/" . $q->is($what);
}

sub send_to {
    my ($path, %o) = @_;

    return ($o{client} // $c)->post("$path/messages", { body => 'a' }, %o);
}

sub statuses { join ' ', map { $_->{status} } @_ }

sub limited {
    my ($r, $name, $what, $least, $most) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is("$r->{status} $r->{body}", "429 {\"error\":\"rate_limited\",\"message\":"
       . "\"The $what is over its rate of calls.\"}", $name);

    my $after = $r->{headers}{'retry-after'} // '';

    ok($after =~ /^\d+$/ && $after >= $least && $after <= $most,
       "$name: Retry-After") or diag($after);
    is($r->{headers}{'content-type'}, 'application/json', "$name: JSON");
}

# a queue: each call that names it

my $q = queue();

is(statuses($c->get($q->path), $c->patch($q->path, { delaySeconds => 0 }),
            $c->post($q->path('/messages'),
                     { messages => [map { { body => "m$_" } } 1 .. 10] }),
            $c->post($q->path('/messages/receive'),
                     { maxMessages => 10, visibilityTimeoutSeconds => 60 }),
            $c->post($q->path('/messages'), '{')),
   '200 200 201 200 400', 'a burst of five');

limited(send_to($q->path), 'the sixth', 'queue', 50, 60);
limited($c->get($q->path), 'a get', 'queue', 50, 60);
limited($c->delete($q->path), 'a delete', 'queue', 50, 60);
limited($c->post($q->path('/messages'), 'x' x 100_000), 'a large body',
        'queue', 50, 60);
is($c->head($q->path)->{status}, 429, 'HEAD');

is(statuses((map { $c->get($q->{queues}) } 1 .. 8),
            map { send_to(queue($_)->path) } 'o/p', 'o/p2', 'o2/p'),
   join(' ', (200) x 8, (201) x 3), 'what names no queue; other queues');
is(statuses(map { send_to(queue('free/p', name => "f$_")->path) } 1 .. 3),
   '201 201 201', '"off"');
is(statuses(map { $c->get('/v1/organizations/o/projects/p/queues/'
                          . 'n' x 500) } 1 .. 8),
   join(' ', (404) x 8), 'what can be no queue');

# workers share it

$q = queue();

my %count;
my $begin = time;

while (time - $begin < scaled(20)) {
    my $r = send_to($q->path, fresh => 1);

    $count{ $r->{status} }++;
    $count{pid}{ $r->{headers}{'x-pid'} }++ if $r->{status} == 429;
    last if keys %{ $count{pid} || {} } == 2;
}

is("$count{201} of " . keys %{ $count{pid} }, '5 of 2',
   'two workers share the bucket');

# spellings: those of ids are one, a name is known after its first answer

$q = queue();

my ($id, $uuid) = map { spelled($q, $_) } 'queue', 'queueId';

is(statuses(map { send_to($_) } $q->path, $id, $uuid, $q->path, $uuid),
   join(' ', (201) x 5), 'five by three spellings');
limited(send_to($_), "then by $_", 'queue', 50, 60) for $q->path, $id, $uuid;

$q = queue();

is(statuses(map { send_to($_) } (spelled($q, 'queue')) x 5),
   join(' ', (201) x 5), 'five by the id');
is(statuses(map { send_to($q->path, fresh => 1) } 1 .. 12),
   join(' ', 201, (429) x 11), 'by the name one more, as nobody knew whose');

# Many at once by a name that nobody knows: a burst.  An answer that comes between
# them lets some more pass, as those under way are not known to be the queue's
# yet; it owes all of them.

$q = queue();

my @r = $c->wait_all([map {
    $c->start(POST => $q->path('/messages'), { body => 'a' }, fresh => 1)
} 1 .. 20]);

my $passed = grep { $_->{status} == 201 } @r;
my $owed = 60 * ($passed - 5);

cmp_ok($passed, '>=', 5, 'at once by the name');
cmp_ok($passed, '<=', 9, 'no second burst');
limited(send_to(spelled($q, 'queue')), 'then by the id', 'queue', $owed + 50,
        $owed + 60);

# a name that looks like an id

my $odd = queue('o/p', name => 'que_' . '0' x 12);

is(statuses(map { send_to($_) } $odd->path, (spelled($odd, 'queue')) x 2,
            $odd->path, $odd->path, $odd->path, spelled($odd, 'queueId')),
   join(' ', (201) x 5, 429, 429), 'a name that looks like an id');

# a queue that is made anew is another one

$q = queue('o/p', name => 'anew');

is(statuses(map { send_to($q->path) } 1 .. 4), join(' ', (201) x 4), 'four');
is($c->delete($q->path)->{status}, 204, 'deleted');

$q = queue('o/p', name => 'anew');
send_to(spelled($q, 'queue')) for 1 .. 4;
is(statuses(map { send_to(spelled($q, 'queue')) } 1 .. 2), '201 429',
   'anew, by the id');

# nobody uses up what is not his

$q = queue('o/p', name => 'open');

my $none = $s->client(key => undef);
my $other = $s->client(key => $some);
my $closed = queue('o/p', name => 'closed');
my $path = $q->path('/messages');

is(statuses(map { $none->post($path, { body => 'a' }) } 1 .. 8),
   join(' ', (401) x 8), 'without a key');
is(statuses(map { send_to($_, client => $other) }
            ($closed->path, spelled($closed, 'queue')) x 6),
   join(' ', (403) x 12), 'without the permission');
is(statuses(map { $c->request($_->[0], $q->path($_->[1]), {}) }
            (['PUT', ''], ['PUT', '/messages'], ['POST', '/nothing']) x 3),
   join(' ', (405, 405, 404) x 3), 'no such call');
is(statuses(map { send_to($_, client => $other) } ($q->path) x 2,
            (spelled($q, 'queue')) x 4), join(' ', (201) x 5, 429),
   'a key of some queues');
is(statuses(map { send_to($closed->path) } 1 .. 6),
   join(' ', (201) x 5, 429), 'the other one has all of its tokens');

# receipt calls are not counted

$q = queue('o/p', visibilityTimeoutSeconds => 60);
$q->send('a');

my ($m) = $q->receive;

send_to($q->path) for 1 .. 4;
is(send_to($q->path)->{status}, 429, 'a queue over its limit');
is(statuses(map { $c->post('/v1/receipts/visibility', { entries => [
       { receiptHandle => $m->{receiptHandle},
         visibilityTimeoutSeconds => 60 }] }) } 1 .. 10),
   join(' ', (200) x 10), 'visibility changes');
is($q->ack($m), 'ok', 'and is acknowledged');

# organizations: any call under them, in any project

$q = queue('org/p');

is(statuses($c->get($q->{queues}), send_to($q->path),
            $c->get('/v1/organizations/org/projects/p2/queues'),
            $c->get('/v1/organizations/org/projects/p2/queues/none')),
   '200 201 200 404', 'five with the create');
limited($c->get($q->{queues}), 'a list', 'organization', 50, 60);
limited(send_to($q->path), 'a send', 'organization', 50, 60);
limited($c->post('/v1/organizations/org/projects/p3/queues', { name => 'q' }),
        'a create', 'organization', 50, 60);

# what its queue refuses takes nothing from the organization

$q = queue('both/p');

my $second = queue('both/p');

send_to($q->path);
is(statuses(map { send_to($q->path) } 1 .. 300), join(' ', (429) x 300),
   'over the limit of the queue');
is(send_to($second->path)->{status}, 201, 'another one of the organization');

# a reload keeps buckets and what names mean; another limit starts anew

$q = queue('o/p', name => 'kept');
$id = spelled($q, 'queue');

is(statuses(map { send_to($_) } ($q->path) x 3, $id), join(' ', (201) x 4),
   'four before a reload');
$s->reload(drained => 15);
is(statuses(map { send_to($_) } $id, $q->path, $id), '201 429 429',
   'one after it');
$s->kill_worker;
is(statuses(map { send_to($_, fresh => 1) } $q->path, $id), '429 429',
   'after the death of a worker');

$s->configure(http => $options{http} =~ s/burst=5/burst=2/r);
$s->reload(drained => 15);
is(statuses(map { send_to($_) } ($id) x 3), '201 201 429', 'another limit');
$s->configure(http => $options{http});
$s->reload(drained => 15);

# tokens come back, and at their rate

$q = queue('fast/p');

$passed = 0;

$begin = time;

while (time - $begin < 2) {
    my $r = send_to($q->path);

    if ($r->{status} == 201) {
        $passed++;

    } elsif (!$count{after}++) {
        limited($r, 'of 5 a second', 'queue', 1, 1);
    }

    sleep 0.01;
}

my $most = 2 + 5 * (time - $begin) + 1;

cmp_ok($passed, '<=', $most, 'no more than the rate');
cmp_ok($passed, '>=', 2 + 1, 'and tokens come back');
ok(wait_for { send_to($q->path)->{status} == 201 }, 'again');

# more queues than there are places: who is over his limit stays so, nobody
# is limited who is not over it

$q = queue('o/p', name => 'hot');
$id = spelled($q, 'queue');
$begin = time;
send_to($id) for 1 .. 5;
is(send_to($id)->{status}, 429, 'before the flood');

is(flood(45_000), '45000 404', 'each of 45000 names may be used');

# but for the one of each minute that it took

my $few = grep { $_->{status} == 201 } map { send_to($id) } 1 .. 6;

cmp_ok($few, '<=', (time - $begin) / 60, 'after the flood');
is(statuses(send_to($q->path), send_to($q->path)), '201 429', 'by its name as well');

$s->finish;

done_testing;


# the statuses of so many calls of one name each, pipelined; 1m has room for
# 40960

sub flood {
    my ($n) = @_;

    my $from = 0;
    my %seen;

    while ($from < $n) {
        my $h = $c->connect;
        my ($sent, $got) = (0, 0);
        my $text = '';

        # as much at a time as buffers hold, so that neither side waits

        while ($from < $n && $sent < 20_000) {
            my $requests = join '', map {
                "GET /v1/organizations/o/projects/p/queues/flood$_ HTTP/1.1\r\n"
                . "Host: a\r\nAuthorization: Bearer " . $s->key . "\r\n\r\n"
            } $from + 1 .. $from + 100;

            $h->write($requests);
            $from += 100;
            $sent += 100;

            for (1 .. 100) {
                my $r = $h->response(10);

                $seen{ $r->{status} }++;
            }
        }

        $h->close;
    }

    return join ', ', map { "$seen{$_} $_" } sort keys %seen;
}
