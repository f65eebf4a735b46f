#!/usr/bin/perl

# Who may do what with subscriptions: the permission is on their queue, and
# nothing tells a credential without it whether a subscription exists.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Queue;
use NgxQueues::Server;

my %key = map { $_ => "qk_$_-0123456789abcdefghijklmnopq" }
    qw/team none other create list get pause update rest/;
my %grant = (
    team => '* o/p/team-*', none => 'queues.nothing *', other => '* o/other/*',
    create => 'queues.subscriptions.create o/p/team-*',
    list => 'queues.subscriptions.list *',
    get => 'queues.subscriptions.get *',
    pause => 'queues.subscriptions.pause o/p/team-a',
    update => 'queues.subscriptions.update o/p/*',
    rest => 'queues.*,queues.messages.* o/p/orders',
);

my $s = NgxQueues::Server->new(workers => 2, keys => [
    map { sha256_hex($key{$_}) . " $_ $grant{$_}" } sort keys %key]);
my $all = $s->client;
my %as = map { $_ => $s->client(key => $key{$_}) } keys %key;

my $p = '/v1/organizations/o/projects/p';
my $subs = "$p/subscriptions";
my $unknown = "$subs/qsb_0123456789ab";

my %q = map { $_ => NgxQueues::Queue->new($s, name => $_) }
    qw/orders team-a team-b team-c/;

sub body {
    return { queueId => $_[0], target => { url => 'https://hooks.example.com/' } };
}

# the message names the permission

sub is_denied {
    my ($r, $permission, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is("$r->{status} " . ($r->{json}{error} // ''), '403 permission_denied', $name)
        && like($r->{json}{message}, qr/\bqueues\.subscriptions\.$permission\b/,
                'it is named');
}

sub is_status {
    my ($r, $status, $name) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is($r->{status} . ' ' . ($r->{json}{error} // '-'),
       $status =~ / / ? $status : "$status -", $name);
}

# create: on the queue that the body names, by its name and by its ids

my %id;

is_status($all->post($subs, body('orders')), 201, 'everything');
$id{$_->{queueId}} = $_ for $all->get($subs)->{json}{subscriptions}[0];

for my $who (qw/team create/) {
    for my $ref ('orders', 'none', $q{orders}->is('queue'),
                 $q{orders}->is('queueId'), 'que_0123456789ab',
                 '01890000-0000-7000-8000-000000000000') {
        is_denied($as{$who}->post($subs, body($ref)), 'create', "$who: $ref");
    }
}

is_status($as{team}->post($subs, body('team-none')), '404 queue_not_found',
          'of no queue that it might use');
is_status($as{team}->post($subs, body('team-a')), 201, 'by its name');
is_status($as{create}->post($subs, body($q{'team-b'}->is('queue'))), 201,
          'by its short id');
is_status($as{create}->post($subs, body($q{'team-b'}->is('queueId'))),
          '409 subscription_exists', 'by its id');
is_denied($as{$_}->post($subs, body('team-c')), 'create', "create as $_")
    for qw/none other list rest/;
is_denied($as{none}->post($subs, 'not JSON'), 'create', 'before the body is read');
is_status($as{team}->post($subs, 'not JSON'), '400 invalid_json', 'and then it is');

my ($orders, $a, $b) = map {
    my $name = $_;
    my ($s) = grep { $_->{queue} eq $q{$name}->is('queue') }
        @{ $all->get($subs)->{json}{subscriptions} };
    $s;
} qw/orders team-a team-b/;

# A list has what the credential may list.  What was made in the same ms is in no
# certain order.

sub listed {
    my ($r) = @_;

    return $r->{status} != 200 ? "$r->{status} $r->{json}{error}"
        : join ' ', sort map {
            my $id = $_->{queue};
            grep { $q{$_}->is('queue') eq $id } sort keys %q;
        } @{ $r->{json}{subscriptions} };
}

is(listed($all->get($subs)), 'orders team-a team-b', 'everything');
is(listed($as{team}->get($subs)), 'team-a team-b', 'two of three');
is(listed($as{list}->get($subs)), 'orders team-a team-b', 'all');
is_denied($as{$_}->get($subs), 'list', "list as $_")
    for qw/none other create get pause update/;

my (@seen, $token);

for (1 .. 3) {
    my $r = $as{team}->get("$subs?pageSize=1"
                           . (defined $token ? "&pageToken=$token" : ''));

    push @seen, '[' . listed($r) . ']';
    $token = $r->{json}{nextPageToken};
}

is(join('', sort @seen), '[][team-a][team-b]',
   'pages have room for what is not shown');
is($token, undef, 'and end');

for my $ref ('orders', 'none', $q{orders}->is('queue'), $q{orders}->is('queueId'),
             'que_0123456789ab', '%20') {
    is_denied($as{team}->get("$subs?queue=$ref"), 'list', "list: $ref");
}

is(listed($as{team}->get("$subs?queue=$_")), 'team-b', "list: $_")
    for 'team-b', $q{'team-b'}->is('queue'), $q{'team-b'}->is('queueId');
is(listed($as{team}->get("$subs?queue=team-c")), '', 'it has none');
is(listed($as{team}->get("$subs?queue=team-none")), '404 queue_not_found',
   'no queue that it might use');

# those with an id in their path

my %calls = (
    get => sub { $_[0]->get($_[1]) },
    update => sub { $_[0]->patch($_[1], { batchSize => 5 }) },
    pause => sub { $_[0]->post("$_[1]/pause") },
    resume => sub { $_[0]->post("$_[1]/resume", {}) },
    rotate => sub { $_[0]->post("$_[1]/rotate-secret") },
    delete => sub { $_[0]->delete($_[1]) },
);
my %permission = (%{ { map { $_ => $_ } keys %calls } }, resume => 'pause',
                  rotate => 'update');

for my $call (sort keys %calls) {
    my $do = $calls{$call};
    my $permission = $permission{$call};

    # one of another's queue, and none at all, are the same

    for my $ref ("$subs/$orders->{subscription}", "$subs/$orders->{subscriptionId}",
                 $unknown, "$subs/x", "$subs/" . $q{'team-a'}->is('queue'),
                 "$subs/01890000-0000-7000-8000-000000000000") {
        is_denied($do->($as{team}, $ref), $permission, "$call as team: $ref");
        is_denied($do->($as{$_}, $ref), $permission, "$call as $_: $ref")
            for qw/none other create list/;
    }

    is_status($do->($all, $_), '404 subscription_not_found', "$call: $_")
        for $unknown, "$subs/x";
}

for my $call (qw/get update pause resume rotate/) {
    is_status($calls{$call}->($as{team}, "$subs/$_"), 200, "$call as team")
        for $a->{subscription}, $a->{subscriptionId};
    is_status($calls{$call}->($as{rest}, "$subs/$orders->{subscription}"), 200,
              "$call as rest");
}

# each permission alone

my %may = (
    get => { get => '*' }, update => { update => '*', rotate => '*' },
    pause => { pause => 'a', resume => 'a' },
);

for my $who (sort keys %may) {
    for my $call (sort keys %calls) {
        for ([a => $a], [b => $b]) {
            my $r = $calls{$call}->($as{$who}, "$subs/$_->[1]{subscription}");
            my $where = $may{$who}{$call} // '';

            $where eq '*' || $where eq $_->[0]
                ? is_status($r, 200, "$call as $who: $_->[0]")
                : is_denied($r, $permission{$call}, "$call as $who: $_->[0]");
        }
    }
}

is_status($as{get}->get($unknown), '404 subscription_not_found',
          'a credential for all queues is told that there is none');
is_denied($as{pause}->post("$unknown/pause"), 'pause', 'one for some is not');

# a body that is refused: not before the permission is known

is_denied($as{team}->patch("$subs/$orders->{subscription}", '{'), 'update',
          'not JSON, and not permitted');
is_status($as{team}->patch("$subs/$a->{subscription}", '{'), '400 invalid_json',
          'not JSON');

# without a credential: 401, whatever is there

for my $client ($s->client(key => undef), $s->client(key => 'nobody')) {
    is_status($_->($client, "$subs/$a->{subscription}"), '401 unauthenticated',
              'nobody') for map { $calls{$_} } sort keys %calls;
    is_status($client->post($subs, body('team-c')), '401 unauthenticated', 'create');
    is_status($client->get($subs), '401 unauthenticated', 'list');
}

# the queue's deletion is another permission; delete

is_status($as{team}->delete("$subs/$b->{subscription}"), 204, 'delete');
is_denied($as{team}->delete("$subs/$b->{subscription}"), 'delete', 'again');
is_status($all->delete("$subs/$b->{subscription}"), '404 subscription_not_found',
          'who may know that it is gone is told');

# no credential is asked for: everything

$s->configure(location => 'queues_auth off;');
$s->reload(drained => 20);

my $open = $s->client(key => undef);

is(listed($open->get($subs)), 'orders team-a', 'queues_auth off: list');
is_status($open->post($subs, body('team-c')), 201, 'create');
is_status($calls{$_}->($open, "$subs/$a->{subscription}"), $_ eq 'delete' ? 204 : 200,
          $_) for qw/get update pause resume rotate delete/;

# the group of queues_api that they are in

my %groups = (control => 201, live => 404, receipts => 404);

for my $group (sort keys %groups) {
    $s->configure(location => '', api => "queues_api $group;");
    $s->reload(drained => 20);
    is($s->client->post($subs, body('team-a'))->{status}, $groups{$group},
       "queues_api $group");
}

$s->finish;

done_testing;
