#!/usr/bin/perl

# Queues whose names have the form of an id: create, get, send, receive,
# update, purge and delete by that name; ids of queues go before names.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;

my $only = 'qk_only-0123456789abcdefghijklmnopqr';
my $s = NgxQueues::Server->new(keys => [map {
    sha256_hex($only) . " only * $_" } join ',', map { "o/p/$_" }
    '01890000-0000-7000-8000-00000000000b', 'que_0123456789bc']);
my $c = $s->client;
my $plain = NgxQueues::Queue->new($s, name => 'plain');
my $queues = $plain->{queues};

my ($uuid, $id) = map { $plain->is($_) } 'queueId', 'queue';

my @names = (
    # a UUID, of no queue: in lower, upper and mixed case, and of all kinds
    '01890000-0000-7000-8000-00000000000a',
    '01890000-0000-7000-8000-00000000000A',
    '01890ABC-DEF0-7ABC-8DEF-0123456789AB',
    '01890abc-def0-7abc-8def-0123456789AB',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
    '00000000-0000-0000-0000-000000000000',
    'c2d9a1e4-1b2c-4d3e-9f00-112233445566',
    '018900000000700080000000000000ab',
    # an id, of no queue: in the letters of ids, and in others
    'que_0123456789ab', 'que_0123456789AB', 'QUE_0123456789ab',
    'que_zzzzzzzzzzzz', 'que_ZZZZZZZZZZZZ', 'que_ilouilouilou',
    'que_0123456789a', 'que_0123456789abc', 'que_------------', 'que_',
    'qsb_0123456789ab',
    # those of another queue in other letters: nobody's
    uc $uuid, uc $id, $id =~ s/^que/QUE/r, $id =~ s/_(.*)/_\U$1/r,
    $uuid =~ s/-//gr,
);

my %seen;

@names = grep { !$seen{$_}++ && $_ ne $id && $_ ne $uuid } @names;

sub is_status {
    my ($r, $status, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is($r->{status}, $status, $name) or diag($r->{error} // $r->{body});
}

is_status($c->get("$queues/$_"), 404, "$_: not there") for @names;

my %q;

for my $name (@names) {
    is_status($c->post($queues, { name => $name }), 201, "$name: create");
    is_status($c->post($queues, { name => $name }), 409, "$name: and again");
}

for my $name (@names) {
    my $path = "$queues/$name";
    my $r = $c->get($path);

    is(($r->{json}{name} // $r->{body}), $name, "$name: get");
    $q{$name} = $r->{json};

    is_status($c->post("$path/messages", { body => "to $name" }), 201,
              "$name: send");
    is_status($c->patch($path, { visibilityTimeoutSeconds => 60 }), 200,
              "$name: update");
}

# each has its own, by its name, its UUID and its id

for my $name (@names) {
    my @r = map { $c->get("$queues/$_") } $name, @{ $q{$name} }{qw/queueId queue/};

    is(join(' ', map { "$_->{json}{name} $_->{json}{counts}{visible}" } @r),
       join(' ', ("$name 1") x 3), "$name: by all that it is called");

    my $r = $c->post("$queues/$name/messages/receive", {});
    my $m = $r->{json}{messages}[0];

    is($m->{body}, "to $name", "$name: receive");
    is($plain->ack($m), 'ok', "$name: ack");
}

is(scalar @{ $c->get("$queues?pageSize=100")->{json}{queues} }, @names + 1,
   'a list of them');
is($plain->counts, '0 0 0', 'the queue whose id some look like has nothing');

for my $name (@names) {
    is_status($c->post("$queues/$name/purge"), 202, "$name: purge");
    is_status($c->delete("$queues/$name"), 204, "$name: delete");
    is_status($c->get("$queues/$name"), 404, "$name: is not there");
    is_status($c->post("$queues/$name/messages", { body => 'x' }), 404,
              "$name: nor for a send");
}

is($c->get("$queues/$_")->{json}{name}, 'plain', "$_: the other is still there")
    for $uuid, $id, 'plain';

# a name that is another queue's id: the id goes first, the name's queue is
# reached by its own ids

for my $taken ($uuid, $id) {
    my $q = NgxQueues::Queue->new($s, name => $taken);

    is($c->get("$queues/$taken")->{json}{name}, 'plain', "$taken: is an id");
    is($c->get("$queues/" . $q->is('queue'))->{json}{name}, $taken,
       "$taken: and a name");
    is_status($c->delete("$queues/" . $q->is('queueId')), 204,
              "$taken: delete");
    is($c->get("$queues/$taken")->{json}{name}, 'plain', "$taken: is an id yet");
}

# a key that is limited to such names

my $o = $s->client(key => $only);

for my $name ('01890000-0000-7000-8000-00000000000b', 'que_0123456789bc') {
    is_status($o->get("$queues/$name"), 403, "$name: not told, being no queue");
    is_status($o->post($queues, { name => $name }), 201, "$name: create");
    is_status($o->get("$queues/$name"), 200, "$name: get");
    is_status($o->post("$queues/$name/messages", { body => 'x' }), 201,
              "$name: send");
    is_status($o->delete("$queues/$name"), 204, "$name: delete");
}

is_status($o->get("$queues/$_"), 403, "$_: no right") for $uuid, $id, 'plain';
is_status($o->post($queues, { name => uc '01890000-0000-7000-8000-00000000000b' }),
          403, 'nor to that name in capitals');

$s->finish;

done_testing;
