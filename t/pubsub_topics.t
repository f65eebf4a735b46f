#!/usr/bin/perl

# Topics of the Pub/Sub API: created, read, listed, deleted; their names and
# labels; lists of what hangs on them.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use NgxQueues::Pubsub;

my $s = NgxQueues::Pubsub::server(workers => 2);
my $p = NgxQueues::Pubsub->new($s);
my $query = '?$alt=json%3Benum-encoding=int';

sub topics { $p->{client}->get($p->path('topics') . ($_[0] // '')) }
sub names { join ' ', map { $_->{name} =~ s{.*/}{}r } @{ $_[0]{json}{topics} || [] } }

sub refused {
    my ($r, $status, $what, $message) = @_;

    my %codes = (INVALID_ARGUMENT => 400, NOT_FOUND => 404,
                 ALREADY_EXISTS => 409);
    my $e = $r->{json}{error} || {};

    is("$r->{status} $e->{code} $e->{status}",
       "$codes{$status} $codes{$status} $status", $what);
    like($e->{message}, $message, "$what: why") if $message;
}

# create, get, delete

my $r = topics($query);

is($r->{body}, '{}', 'no topics: an empty object');
is($r->{headers}{'content-type'}, 'application/json; charset=UTF-8', 'its type');

$r = $p->{client}->put($p->path('topics', 'orders') . $query,
    { labels => {}, tags => {} });
is("$r->{status} $r->{body}", '200 {"name":"projects/shop/topics/orders",'
   . '"state":"ACTIVE"}', 'created');

refused($p->put('topics', 'orders', {}), 'ALREADY_EXISTS', 'created again',
        qr/^Resource already exists in the project \(resource=orders\)\.$/);

is($p->get('topics', 'orders')->{body}, $r->{body}, 'read');
is($p->{client}->head($p->path('topics', 'orders'))->{status}, 200, 'HEAD');

for my $empty (undef, '', '{}', ' {} ') {
    is($p->put('topics', 'empty', $empty)->{status}, 200, 'no members');
    is($p->delete('topics', 'empty')->{body}, '{}', 'deleted');
}

refused($p->$_('topics', 'none'), 'NOT_FOUND', "$_ of one that is not there",
        qr/^Resource not found \(resource=none\)\.$/) for qw/get delete/;

is($p->delete('topics', 'orders')->{body}, '{}', 'deleted');
refused($p->delete('topics', 'orders'), 'NOT_FOUND', 'deleted twice');
is($p->put('topics', 'orders', {})->{status}, 200, 'made again');

# what it has comes back, in either spelling, and what is ignored

my %full = (labels => { env => 'prod', "\x{e4}-1" => "\x{df}_2", empty => '' },
            messageRetentionDuration => '1234.500s');

$r = $p->put('topics', 'full', { %full, name => 'projects/x/topics/other',
    kmsKeyName => 'k', messageStoragePolicy => {
        allowedPersistenceRegions => ['eu'] }, satisfiesPzs => \1, state => 1,
    schemaSettings => undef, ingestionDataSourceSettings => {},
    messageTransforms => [], tags => {} });

is_deeply($r->{json}, { name => $p->name('topics', 'full'), state => 'ACTIVE',
                        %full }, 'all that is kept; the name is the path\'s');
is($p->put('topics', 'snake', '{"message_retention_duration":"600s"}')
   ->{json}{messageRetentionDuration}, '600s', 'names with underscores');

is($p->put('topics', 'escaped', '{"l\u0061bels":{"\u0061":"\u0062"}}')
   ->{json}{labels}{a}, 'b', 'names with escapes');

for my $d (['600s'], ['2678400s'], ['600.000s', '600s'], ['600.1s', '600.100s'],
           ['601.000000001s'])
{
    is($p->put('topics', 'times', { messageRetentionDuration => $d->[0] })
       ->{json}{messageRetentionDuration}, $d->[1] // $d->[0], "kept $d->[0]");
    $p->delete('topics', 'times');
}

# bodies that are refused, of which nothing is left

my @wrong = (
    (map { [qq/{"messageRetentionDuration":$_}/, qr/messageRetentionDuration/] }
        '"599s"', '"599.999999999s"', '"2678400.000000001s"', '"2678401s"',
        '"-600s"', '"600"', '600', '"1h"', 'true', '{}', '""'),
    ['{"labels":[]}', qr/'labels': it must be an object/],
    (map { [qq/{"labels":{$_}}/, qr/'labels': it has a key/] }
        '"":"a"', '"A":"a"', '"1":"a"', '"a b":""', '"' . 'a' x 64 . '":""',
        '"-a":"a"', '"a.b":"a"'),
    (map { [qq/{"labels":{"a":$_}}/, qr/'labels': it has a value/] }
        '"A"', '"a b"', '"' . 'a' x 64 . '"', '1', 'true', 'null', '{}',
        '"\ud800"', '"a\u0000"'),
    ['{"labels":{"a":"b","\u0061":"c"}}', qr/'labels': it has a key more than/],
    ['{"labels":{' . join(',', map { qq/"k$_":""/ } 1 .. 65) . '}}',
     qr/more than 64/],
    ['{"x":1}', qr/^Invalid JSON payload received\. Unknown name "x": Cannot find field\.$/],
    ['{"Labels":{}}', qr/Unknown name "Labels"/],
    ['{"x\u0000\"y":null}', qr/Unknown name "x\x00"y"/],
    ['{"' . 'x' x 200 . '":1}', qr/Unknown name of 200 bytes/],
    ['{"messageRetentionDuration":null,"message_retention_duration":"600s"}',
     qr/'messageRetentionDuration': it is there more than once/],
    ['{"labels":{},"labels":{}}', qr/'labels': it is there more than once/],
    ['{"name":1}', qr/'name': it must be a string/],
    (map { [qq/{"$_->[0]":$_->[1]}/, qr/'$_->[0]': it is not supported/] }
        ['schemaSettings', '{"schema":"projects/p/schemas/s"}'],
        ['ingestionDataSourceSettings', '{"awsKinesis":{}}'],
        ['messageTransforms', '[{}]'], ['tags', '{"a":"b"}']),
    (map { [$_, qr/^Invalid JSON payload received/] }
        '[]', '"a"', '1', 'null', '{', '{"a"}', '{} {}', "\xef\xbb\xbf{}",
        qq/{"labels":{"a":"\xff"}}/, "\0"),
);

for my $case (@wrong) {
    refused($p->put('topics', 'wrong', $case->[0]), 'INVALID_ARGUMENT',
            'body ' . substr($case->[0], 0, 60), $case->[1]);
}

refused($p->get('topics', 'wrong'), 'NOT_FOUND', 'none was made');

my %most = map { ("k$_", '') } 1 .. 64;
is(scalar keys %{ $p->put('topics', 'labels',
    { labels => \%most })->{json}{labels} }, 64, '64 labels');

# names: what is decoded is decoded once

for my $name ('abc', 'a' x 255, 'a~b+c%41d', 'A-_.~+%', 'goo', 'a1%2525') {
    is($p->topic($name)->{name}, $p->name('topics', $name), "made $name");
    is($p->get('topics', $name)->{json}{name}, $p->name('topics', $name),
       "read $name");
    is($p->delete('topics', $name)->{status}, 200, "deleted $name");
}

is($p->{client}->put('/v1/projects/shop/topics/a+b', {})->{json}{name},
   'projects/shop/topics/a+b', 'a plus is none but itself');

for my $name ('ab', 'a' x 256, '1abc', '-abc', 'goog', 'google-x', 'a b', 'a/bc',
              "a\xc3\xa4b", 'a:bc', 'a,bc', '_deleted-topic_')
{
    refused($p->put('topics', $name, {}), 'INVALID_ARGUMENT',
            'no name: ' . substr($name, 0, 20), qr/^Invalid resource name given/);
}

# projects are apart; their names may have a colon, escaped or not

my $other = NgxQueues::Pubsub->new($s, project => 'my.dom:p');

is($other->topic('orders')->{name}, 'projects/my.dom:p/topics/orders',
   'a project with a colon');
is($other->get('topics', 'full')->{status}, 404, 'topics are of a project');
is($s->client->get('/v1/projects/my.dom:p/topics/orders')->{status}, 200,
   'the colon as it is');

refused($s->client->get("/v1/projects/$_/topics"), 'INVALID_ARGUMENT',
        'no project: ' . substr($_, 0, 10)) for 'a%20b', 'a' x 65, '%7b', 'a%2Fb';

# lists: in the order of names, in pages

$p->delete('topics', $_) for split ' ', names(topics());

my @all = map { sprintf 'list-%03d', $_ } 1 .. 120;
$p->topic($_) for reverse @all;

$r = topics();
is(names($r), join(' ', @all[0 .. 99]), 'a page has 100 by default');
$r = topics("?pageToken=$r->{json}{nextPageToken}");
is(names($r), join(' ', @all[100 .. 119]), 'the next one');
ok(!exists $r->{json}{nextPageToken}, 'which is the last one');

is(names(topics('?pageSize=0')), join(' ', @all[0 .. 99]), 'pageSize=0');
is(names(topics('?pageSize=5000')), join(' ', @all), 'more than there may be');
is(names(topics('?page_size=2&x=y&$alt=json')), "$all[0] $all[1]",
   'names with underscores; others are passed over');

my ($seen, $token) = ('', '');

for (1 .. 50) {
    $r = topics("?pageSize=50&pageToken=$token");
    $seen .= names($r) . ' ';
    $token = $r->{json}{nextPageToken} // last;
    $p->delete('topics', 'list-050');
}

is($seen, join(' ', @all) . ' ', 'all pages, though the last one of a page was '
   . 'deleted');

$token = topics('?pageSize=1')->{json}{nextPageToken};

refused(topics($_), 'INVALID_ARGUMENT', $_, qr/page_(size|token)/)
    for '?pageSize=-1', '?pageSize=x', '?pageSize=1.5', '?pageToken=x',
        '?pageToken=tok/%3D%2B', '?pageToken=' . substr($token, 1),
        "?pageToken=${token}A", '?pageToken=' . 'A' x 2000;

refused($other->{client}->get($other->path('topics') . "?pageToken=$token"),
        'INVALID_ARGUMENT', 'a token of another project');
refused($p->{client}->get($p->path('subscriptions') . "?pageToken=$token"),
        'INVALID_ARGUMENT', 'a token of another list');

# subscriptions and snapshots of a topic: names

$p->sub($_, 'list-001') for qw/sub-c sub-a sub-b/;
$p->sub('sub-z', 'list-002');

sub of { $p->{client}->get($p->path('topics', $_[0]) . "/$_[1]" . ($_[2] // '')) }

my @subs = map { $p->name('subscriptions', "sub-$_") } qw/a b c/;

is_deeply(of('list-001', 'subscriptions')->{json}, { subscriptions => \@subs },
          'subscriptions of a topic');

$r = of('list-001', 'subscriptions', '?pageSize=2');
is_deeply($r->{json}{subscriptions}, [@subs[0, 1]], 'two of them');
is_deeply(of('list-001', 'subscriptions',
             "?pageToken=$r->{json}{nextPageToken}")->{json},
          { subscriptions => [$subs[2]] }, 'the rest');
refused(of('list-002', 'subscriptions', "?pageToken=$r->{json}{nextPageToken}"),
        'INVALID_ARGUMENT', 'a token of another topic');

is($p->put('snapshots', 'snap-a', { subscription => $subs[0] })->{status}, 200,
   'a snapshot');
is_deeply(of('list-001', 'snapshots')->{json},
          { snapshots => [$p->name('snapshots', 'snap-a')] }, 'snapshots of it');
is(of('list-003', $_)->{body}, '{}', "$_ of one that has none")
    for qw/subscriptions snapshots/;
refused(of('none', $_), 'NOT_FOUND', "$_ of one that is not there")
    for qw/subscriptions snapshots/;

# a topic is deleted: its subscriptions stay

$p->delete('topics', 'list-001');
is($p->get('subscriptions', 'sub-a')->{json}{topic}, '_deleted-topic_',
   'the topic of a subscription whose topic is gone');
is($p->topic('list-001')->{state}, 'ACTIVE', 'a topic of the same name');
is(of('list-001', 'subscriptions')->{body}, '{}', 'is another one');

$s->finish;

done_testing();
