#!/usr/bin/perl

# The rules of Pub/Sub's REST API about messages: publishing, pulling, leases,
# filters, order, dead letters, endpoints, moving back.

use strict;
use warnings;
use utf8;

use Encode 'encode_utf8';
use JSON::PP ();
use MIME::Base64 qw/encode_base64 decode_base64/;
use POSIX 'strftime';
use Test::More;
use Time::HiRes 'time';

use NgxQueues::Server;
use NgxQueues::Wait;

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my $s = NgxQueues::Server->new(
    http => 'client_max_body_size 12m;',
    locations => 'location /v1/projects/ { queues_pubsub_api o; }');
my $c = $s->client;
my $p = '/v1/projects/shop';
my $name = 'projects/shop';
my $n = 0;
my $r;

sub said {
    my ($method, $path, $body) = @_;

    $body = $json->encode($body) if ref $body;
    $r = $c->request($method, "$p$path", $body, timeout => 40);

    my $is = $r->{json} or return "$r->{status} $r->{body}";

    return $r->{status} == 200 ? '200 ' . $json->encode($is)
        : "$r->{status} $is->{error}{status}";
}

sub message { $r->{json}{error}{message} }

my $invalid = '400 INVALID_ARGUMENT';
my $failed = '400 FAILED_PRECONDITION';

# a topic, and a subscription of it; both have the name that is given back

sub fresh {
    my (%fields) = @_;

    my $id = 't' . ++$n . '-x';

    said(PUT => "/topics/$id", {});
    said(PUT => "/subscriptions/$id", { topic => "$name/topics/$id", %fields })
        =~ /^200 / or die $r->{body};

    return $id;
}

sub publish {
    my ($id, @messages) = @_;

    return said(POST => "/topics/$id:publish", { messages => [
        map { ref $_ ? $_ : { data => encode_base64($_, '') } } @messages ] });
}

# what is there; with n, as soon as there are so many

sub pull {
    my ($id, $n) = @_;

    my @all;

    wait_for {
        said(POST => "/subscriptions/$id:pull",
             { maxMessages => 1000, returnImmediately => JSON::PP::true });
        push @all, @{ $r->{json}{receivedMessages} || [] };
        @all >= ($n // 0)
    } 10;

    return @all;
}

sub data { join ' ', map { decode_base64($_->{message}{data} // '') } @_ }
sub ids { [map { $_->{ackId} } @_] }

sub ack {
    my ($id, @received) = @_;

    return said(POST => "/subscriptions/$id:acknowledge",
                { ackIds => ids(@received) });
}

sub modify {
    my ($id, $seconds, @received) = @_;

    return said(POST => "/subscriptions/$id:modifyAckDeadline",
                { ackIds => ids(@received), ackDeadlineSeconds => $seconds });
}

# 5. publishing

my $id = fresh();

like(publish($id, 'a', 'b', 'c'),
     qr/^200 \{"messageIds":\["\d+","\d+","\d+"\]\}$/, 'ids');

my @ids = @{ $r->{json}{messageIds} };
my %by = map { $_->{message}{messageId} => data($_) } pull($id, 3);

is("@by{@ids}", 'a b c', 'in the order of the request');

for ('{}', '{"messages":[]}', '{"messages":[{}]}', '{"messages":[null]}',
     '{"messages":[{"data":""}]}', '{"messages":[{"orderingKey":"k"}]}',
     '{"messages":[{"data":"","attributes":{}}]}',
     '{"messages":[{"data":"!"}]}', '{"messages":[{"data":"A"}]}',
     '{"messages":[{"data":1}]}', '{"messages":[{"data":"YQ==","x":1}]}',
     '{"messages":[{"attributes":{"":"a"}}]}',
     '{"messages":[{"attributes":{"a":1}}]}',
     '{"messages":[{"attributes":{"goog":"a"}}]}',
     '{"messages":{"data":"YQ=="}}', '{"messages":[{"data":"YQ=="}],"x":1}')
{
    is(said(POST => "/topics/$id:publish", $_), $invalid, $_);
}

like(publish($id, { attributes => { 'k' x 256 => 'v' x 1024 } }), qr/^200 /,
     'the longest attribute');
like(publish($id, { attributes => { map { ("k$_" => '') } 1 .. 100 } }),
     qr/^200 /, 'a hundred of them');
like(publish($id, { data => 'YQ==', orderingKey => 'k' x 1024 }), qr/^200 /,
     'the longest key');
is(publish($id, $_), $invalid, 'bytes count, not characters')
    for { attributes => { a => 'é' x 513 } }, { attributes => { 'é' x 129 => '' } },
        { data => 'YQ==', orderingKey => 'é' x 513 };
like(publish($id, ('x') x 1000), qr/^200 /, 'a thousand messages');
is(publish($id, ('x') x 1001), $invalid, 'one more');
is(publish($id, 'x', {}), $invalid, 'one that is wrong');
is(said(POST => "/topics/$id:publish", '{"messages":[{"data":"'
        . 'A' x 10_485_760 . '"}]}'), $invalid, 'a body of too many bytes');
is(said(POST => '/topics/none:publish', { messages => [{ data => 'YQ==' }] }),
   '404 NOT_FOUND', 'no topic');

$id = fresh();
publish($id, 'x', {});
publish($id, { data => 'YQ==', messageId => '7', publishTime =>
               '2001-01-01T00:00:00Z', attributes => { a => 'b' } });

my ($m) = pull($id, 1);

is(data($m), 'a', 'a batch is taken as a whole');
isnt($m->{message}{messageId}, '7', 'the server gives the id');
like($m->{message}{publishTime},
     qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/, 'and the time');
unlike($m->{message}{publishTime}, qr/^2001/, 'of now');
is_deeply([sort keys %$m], [qw/ackId message/], 'no attempt without a policy');
is_deeply([sort keys %{ $m->{message} }],
          [qw/attributes data messageId publishTime/], 'nothing that is empty');

# 6. pulling, acknowledging

is(ack($id, $m), '200 {}', 'acknowledged');
is(ack($id, $m), '200 {}', 'again: no error, and no effect');
is(modify($id, 0, $m), '200 {}', 'nor is it made visible');
is(said(POST => "/subscriptions/$id:pull", { maxMessages => 5000,
                                             returnImmediately => \1 }),
   '200 {}', 'nothing is there');

for ('{}', '{"maxMessages":0}', '{"maxMessages":-1}', '{"maxMessages":null}',
     '{"maxMessages":"x"}')
{
    is(said(POST => "/subscriptions/$id:pull", $_), $invalid, "pull $_");
}

said(POST => "/subscriptions/$id:pull", '{}');
like(message(), qr/\(argument=max_messages\)/, 'and says what is wrong');

for my $verb ('acknowledge', 'modifyAckDeadline') {
    is(said(POST => "/subscriptions/$id:$verb", { ackIds => ['x-y'] }), $invalid,
       "$verb: no id");
    like(message(), qr/invalid ack ID.*\(ack_id=x-y\)/, 'it is named');
    is(said(POST => "/subscriptions/$id:$verb", $_), $invalid, "$verb $_")
        for '{}', '{"ackIds":[]}', '{"ackIds":[""]}';
    is(said(POST => "/subscriptions/none:$verb", { ackIds => [$m->{ackId}] }),
       '404 NOT_FOUND', "$verb of none");
}

publish($id, 'y');
($m) = pull($id, 1);
is(modify($id, $_, $m), $invalid, "a deadline of $_") for -1, 601;

my $begin;

for (600, 1) {
    $begin = time;
    is(modify($id, $_, $m), '200 {}', "a deadline of $_");
}

($m) = pull($id, 1);
cmp_ok(time - $begin, '>', 0.99, 'it counts from then');
said(GET => "/subscriptions/$id");
is($r->{json}{ackDeadlineSeconds}, 10, 'the subscription has the same one');
ack($id, $m);

# exactly once

$id = fresh(enableExactlyOnceDelivery => \1);
publish($id, 'x');
($m) = pull($id, 1);
is(ack($id, $m), '200 {}', 'exactly once: the first one');

for my $late (\&ack, sub { modify($_[0], 10, $_[1]) }) {
    is($late->($id, $m), $failed, 'a second one');

    my ($info) = grep { $_->{'@type'} =~ /ErrorInfo$/ }
        @{ $r->{json}{error}{details} };

    is($info->{reason}, 'EXACTLY_ONCE_ACKID_FAILURE', 'its reason');
    is($info->{domain}, 'pubsub.googleapis.com', 'and domain');
    is_deeply($info->{metadata},
              { $m->{ackId} => 'PERMANENT_FAILURE_INVALID_ACK_ID' }, 'the id');
}

publish($id, 'y', 'z');

my ($y, $z) = pull($id, 2);

ack($id, $y);
is(ack($id, $y, $z), $failed, 'one of two');
is(modify($id, 0, $z), $failed, 'the other one was acknowledged');

# of a push subscription

$id = fresh(pushConfig => { pushEndpoint => 'https://push.example.com/' });
is(said(POST => "/subscriptions/$id:pull", { maxMessages => 1 }), $failed,
   'a pull of a push subscription');
is(message(), 'This method is not supported for this subscription type.',
   'and what it says');

# 7. filters: of these messages, by the attribute "id"

my @messages = map { { attributes => { map { "$_" } %$_ } } }
    { id => 1 }, { id => 2, a => '' }, { id => 3, a => 'x' },
    { id => 4, a => 'xy', b => '1' }, { id => 5, 'a b' => 'x', b => '2' },
    { id => 6, 'é' => 'é"' };
my %filters = (
    'attributes:a' => '2 3 4',
    'NOT attributes:a' => '1 5 6',
    '-attributes:a' => '1 5 6',
    'attributes.a = "x"' => '3',
    'attributes.a="x"' => '3',
    'attributes.a != "x"' => '1 2 4 5 6',
    'attributes.a = ""' => '2',
    'hasPrefix(attributes.a, "x")' => '3 4',
    'hasPrefix(attributes.a,"")' => '2 3 4',
    'attributes:"a b"' => '5',
    'attributes."a b" = "x"' => '5',
    'attributes:a AND attributes:b' => '4',
    'attributes:a OR attributes:b' => '2 3 4 5',
    'attributes:a AND NOT attributes:b' => '2 3',
    'attributes:a AND attributes:b AND attributes.b = "1"' => '4',
    '(attributes:a AND attributes:b) OR attributes.id = "1"' => '1 4',
    'NOT (attributes:a OR attributes:b)' => '1 6',
    ' ( ( attributes:a ) ) ' => '2 3 4',
    'attributes:"é"' => '6',
    'attributes."é" = "é\""' => '6',
    '' => '1 2 3 4 5 6',
);
my %sub;

$id = fresh();

for my $filter (sort keys %filters) {
    $sub{$filter} = 'filter-' . ++$n;
    like(said(PUT => "/subscriptions/$sub{$filter}",
              { topic => "$name/topics/$id", filter => $filter }),
         qr/^200 /, "a filter: $filter") or diag($r->{body});
}

publish($id, @messages);

for my $filter (sort keys %filters) {
    my @want = split ' ', $filters{$filter};

    is(join(' ', sort map { $_->{message}{attributes}{id} }
            pull($sub{$filter}, scalar @want)),
       $filters{$filter}, "passes: $filter");
}

for my $filter ('attributes', 'attributes:', 'attributes.a', 'attributes.a = x',
                'attributes.a = 1', 'attributes.a == "x"', 'a = "x"',
                'attributes:a and attributes:b', 'attributes:a attributes:b',
                'attributes:a AND attributes:b OR attributes:c', '(attributes:a',
                'attributes:a)', 'hasPrefix(attributes.a)', 'attributes.a = "x',
                "attributes.a = 'x'", 'data = "x"', 'NOT', 'attributes:-a',
                'hasprefix(attributes.a, "x")')
{
    is(said(PUT => '/subscriptions/filtered',
            { topic => "$name/topics/$id", filter => $filter }),
       $invalid, "no filter: $filter");
}

my ($info) = grep { $_->{'@type'} =~ /ErrorInfo$/ }
    @{ $r->{json}{error}{details} };

is($info->{reason}, 'FILTER_EXPRESSION_FAILED_TO_PARSE', 'and why');
is_deeply([sort keys %{ $info->{metadata} }], [qw/column line token/], 'where');

my $long = 'attributes.a = "' . 'x' x (256 - 17) . '"';

is(length $long, 256, 'the longest filter');
like(said(PUT => '/subscriptions/long', { topic => "$name/topics/$id",
                                          filter => $long }), qr/^200 /, 'is one');
is(said(PUT => '/subscriptions/longer', { topic => "$name/topics/$id",
                                          filter => "$long " }), $invalid,
   'one byte more is none');

# 8. order: what comes back comes before what is behind it

$id = fresh(enableMessageOrdering => \1);
publish($id, map { { data => encode_base64($_, ''), orderingKey => 'k' } }
        1 .. 4);

my @seen;

wait_for {
    my @all = pull($id, 1) or return 0;

    push @seen, map { data($_) } @all;

    # the first time, 2 fails

    my ($two) = grep { data($_) eq '2' } @all;

    if ($two && 1 == grep { $_ eq '2' } @seen) {
        my @before = grep { data($_) eq '1' } @all;
        my @behind = grep { data($_) gt '2' } @all;

        ack($id, @before) if @before;
        modify($id, 0, $two, @behind);

    } else {
        ack($id, @all);
    }

    $seen[-1] eq '4' && $seen[-2] eq '3' && 2 == grep { $_ eq '2' } @seen
} 15;

like("@seen", qr/^1 2 (?:3 4 |3 )?2 3 4$/, 'again, and those behind it');

# 9. dead letters

my $dead = fresh();

$id = fresh(deadLetterPolicy => { deadLetterTopic => "$name/topics/$dead",
                                  maxDeliveryAttempts => 5 });
publish($id, { data => 'YQ==', attributes => { map { ("k$_" => '') } 1 .. 100 } });

for (1 .. 5) {
    ($m) = pull($id, 1);
    is($m->{deliveryAttempt}, $_, "attempt $_");
    modify($id, 0, $m);
}

($m) = pull($dead, 1);
is(scalar keys %{ $m->{message}{attributes} }, 104,
   'more than a hundred attributes, with those of a dead letter');
is(scalar(() = pull($id)), 0, 'the message has gone');

# its topic is deleted: the message stays

publish($id, 'stays');
said(DELETE => "/topics/$dead");

for (1 .. 7) {
    ($m) = pull($id, 1);
    modify($id, 0, $m);
}

is(data(pull($id, 1)), 'stays', 'no topic for dead letters: it comes again');

# the backoff doubles, after a nack too

$id = fresh(retryPolicy => { minimumBackoff => '0.3s', maximumBackoff => '1s' });
publish($id, 'x');
($m) = pull($id, 1);

for (0.3, 0.6, 1, 1) {
    $begin = time;
    modify($id, 0, $m);
    ($m) = pull($id, 1);

    my $took = time - $begin;

    ok($took > $_ - 0.01 && $took < 2 * $_ + scaled(1), "after $_ s") or diag($took);
}

# 10. endpoints, on a server that does not push to itself

$id = fresh();

sub pushes_to {
    my ($url) = @_;

    my $config = { pushConfig => { pushEndpoint => $url } };
    my @said = (
        said(PUT => '/subscriptions/to-' . ++$n,
             { topic => "$name/topics/$id", %$config }),
        said(POST => "/subscriptions/$id:modifyPushConfig", $config),
        said(PATCH => "/subscriptions/$id", { subscription => $config,
                                              updateMask => 'pushConfig' }),
    );

    return join ' ', map { /^200/ ? 'taken' : /^$invalid/ ? 'refused' : $_ } @said;
}

is(pushes_to($_), 'taken taken taken', "an endpoint: $_")
    for 'https://push.example.com', 'https://push.example.com:8443/a/b?c=d',
        'https://93.184.216.34/', 'https://xn--bcher-kva.example/';
is(pushes_to($_), 'refused refused refused', 'no endpoint: ' . $json->encode($_))
    for 'http://push.example.com/', 'http://localhost/', 'http://127.0.0.1:8080/',
        'http://[::1]/', 'http://localhost.example.com/', 'ftp://example.com/',
        'push.example.com', '/push', 'https://', 'https:///x', 'x',
        'https://10.0.0.1/', 'https://127.0.0.1/', 'https://169.254.169.254/',
        'https://[::1]/', 'https://user:password@example.com/',
        "https://example.com/\r\nX: y", 'https://exa mple.com/',
        'https://example.com/#a', 'https://example.com:99999/';

# 12. back to a moment or a snapshot

sub seek_to { said(POST => "/subscriptions/$_[0]:seek", $_[1]) }

$id = fresh(retainAckedMessages => \1);
publish($id, 'a', 'b');

my @two = pull($id, 2);

ack($id, $two[0]);
like(said(PUT => '/snapshots/snap', { subscription => "$name/subscriptions/$id" }),
     qr/^200 /, 'a snapshot');

is(seek_to($id, $_), $invalid, 'seek to ' . $json->encode($_))
    for {}, { time => '2026-01-01T00:00:00Z', snapshot => "$name/snapshots/snap" },
        { time => 'yesterday' }, { time => '2026-01-01T00:00:00' },
        { snapshot => 'snap' }, { snapshot => "$name/topics/snap" };

is(seek_to($id, { time => '2001-01-01T00:00:00+02:00' }), '200 {}',
   'before anything is kept');
is(ack($id, @two), '200 {}', 'leases are over');
is(join(' ', sort map { data($_) } pull($id, 2)), 'a b', 'so all comes again');

is(seek_to($id, { time => strftime('%Y-%m-%dT%H:%M:%S.123456789Z',
                                   gmtime time + 3600) }), '200 {}',
   'a time to come');
is(scalar(() = pull($id)), 0, 'all is acknowledged');
is(seek_to($id, { snapshot => "$name/snapshots/snap" }), '200 {}',
   'to the snapshot');
is(data(pull($id, 1)), data($two[1]), 'what was open then');

is(seek_to(fresh(), { snapshot => "$name/snapshots/snap" }), $invalid,
   'one of another topic');

# a subscription that is detached

is(said(POST => "/subscriptions/$id:detach", ''), '200 {}', 'detach');
is(said(POST => "/subscriptions/$id:pull", { maxMessages => 1 }), $failed,
   'a pull');
is(seek_to($id, { time => '2001-01-01T00:00:00Z' }), $failed, 'seek');
is(said(PUT => '/snapshots/late', { subscription => "$name/subscriptions/$id" }),
   $failed, 'a snapshot');
is(said(POST => '/subscriptions/none:detach', ''), '404 NOT_FOUND', 'of none');

$s->finish;

done_testing;
