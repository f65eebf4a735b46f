#!/usr/bin/perl

# queuectl queues: create, list (pages), get, update, delete, purge, redrive.

use strict;
use warnings;

use Test::More;

use NgxQueues::Cli;
use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(workers => 2);
my $c = NgxQueues::Cli->new(server => $s);
my $client = $s->client;

# create: for people, and as the server sent it

my $r = $c->ok(qw/queues create orders --visibility-timeout 2m --retention 7d
                  --receive-wait 5 --delay 1m --max-message-bytes 64k/);

like($r->{out}, qr/^Name \s+ orders \n Ids \s+ que_\w{12},\ [0-9a-f-]{36} \n
                   Kind \s+ standard \n Visibility\ timeout \s+ 2m \n
                   Receive\ wait \s+ 5s \n Retention \s+ 7d \n Delay \s+ 1m \n
                   Largest\ message \s+ 65536\ bytes \n Created \s+ \S+Z \n
                   Updated \s+ \S+Z \n\z/x, 'create: for people');
is($r->{err}, '', 'with nothing else said');

$r = $c->ok(qw/queues create dead --json/);
is($r->{json}[0]{name}, 'dead', 'create: JSON');

$r = $c->ok(qw/queues create jobs --json --dead-letter-queue dead
               --max-receive-count 1 --visibility-timeout 0/);
is($r->{json}[0]{redrivePolicy}{maxReceiveCount}, 1, 'with a policy');

$r = $c->ok(qw/queues create pay --fifo --content-based-deduplication on
               --json/);
is("$r->{json}[0]{kind} $r->{json}[0]{contentBasedDeduplication}", 'fifo 1',
   'a FIFO queue');

$r = $c->run(qw/queues create orders/);
is($r->{status}, 6, 'one that is there: 6');
like($r->{err}, qr/queue_exists.*queues update/s, 'and what to do');

# get, by name and id; the bytes of the server

my $path = '/v1/organizations/o/projects/p/queues';

$r = $c->ok(qw/queues get orders --json/);
is($r->{out}, $client->get("$path/orders")->{body} . "\n",
   'get: the bytes of the server');

$r = $c->ok(qw/queues get/, $r->{json}[0]{queue});
like($r->{out}, qr/^Name +orders$/m, 'get: by its id');
is(join(' ', $r->{out} =~ /^(?:Visible|In\ flight|Delayed|Dead\ letters\ of|Oldest
                            \ message)\ +(.*)$/mgx), '0 0 0 0 queues 0s',
   'with counts');
is(join(' ', $r->{out} =~ /^(?:Sent|Acknowledged|Expired|Dead-lettered) +(.*)$/mg),
   '0 0 0 0', 'and totals');

$r = $c->run(qw/queues get none/);
is($r->{status}, 3, 'none: 3');
like($r->{err}, qr/no queue "none".*queuectl queues list/s, 'and what to do');

# update

$r = $c->ok(qw/queues update jobs --no-dead-letter-queue --json/);
is($r->{json}[0]{redrivePolicy}, undef, 'update: the policy goes');
$r = $c->ok(qw/queues update jobs --dead-letter-queue dead
               --max-receive-count 1 --retention 90/);
like($r->{out}, qr/^Retention +1m30s$/m, 'update: a time');
like($r->{out}, qr/^Dead letters +to [0-9a-f-]{36} after 1 receives$/m,
     'update: the policy comes');

for my $words ('', '--dead-letter-queue dead', '--max-receive-count 3',
               '--content-based-deduplication yes', '--delay 1w',
               '--max-message-bytes 1x',
               '--dead-letter-queue dead --max-receive-count 1'
               . ' --no-dead-letter-queue')
{
    $r = $c->run(qw/queues update jobs/, split / /, $words);
    is($r->{status}, 2, "update $words: usage");
}

$r = $c->run(qw/queues update jobs --delay 2d/);
is($r->{status}, 1, 'what the server refuses: 1');
like($r->{err}, qr/invalid_argument in delaySeconds, 400/, 'with the field');

$c->ok(qw/send pay x --group g/);
$r = $c->ok(qw/queues list --counts/);
is($r->{lines}[0] =~ s/  +/, /gr, 'NAME, KIND, VISIBILITY, RETENTION, DELAY, '
   . 'DEAD LETTERS, CREATED, VISIBLE, IN FLIGHT, DELAYED', 'list: counts');
like($r->{lines}[-1], qr/^pay +fifo +.* 1 +0 +0$/, 'of each');
is($c->ok(qw/queues list --counts --prefix pay --json/)->{json}[0]{counts}{visible},
   1, 'list: counts in JSON');
is($c->run(qw/queues list --counts --names/)->{status}, 2,
   'counts of names: usage');

# redrive: to where they came from, to another, and what stays

my @bodies = map { "m$_" } 1 .. 25;
my $jobs = bless { server => $s, client => $client, path => "$path/jobs" },
    'NgxQueues::Queue';

$jobs->send(@bodies);

ok(wait_for(sub {
    $c->ok(qw/receive jobs --max 10 -q/);
    $c->ok(qw/queues get dead --json/)->{json}[0]{counts}{visible} == 25
}), 'all are dead');

$c->ok(qw/queues update jobs --visibility-timeout 30/);
$r = $c->ok(qw/queues redrive dead/);
is($r->{err}, "queuectl: 25 messages moved\n", 'redrive');
is($r->{out}, '', 'with nothing on stdout');
is($c->ok(qw/queues get jobs --json/)->{json}[0]{counts}{visible}, 25,
   'they are back');

$r = $c->ok(qw/queues redrive jobs/);
like($r->{err}, qr/0 messages moved.*25 stay.*--destination/s,
     'what came from nowhere stays, and that is said');

$c->ok(qw/queues create again/);
$r = $c->ok(qw/queues redrive jobs --destination again --json/);
is_deeply($r->{json}, [{ moved => 25, remaining => 0 }],
          'to another one, as JSON');
is($c->run(qw/queues redrive none/)->{status}, 3, 'of none: 3');

# purge and delete ask first

$r = $c->run(qw/queues purge again/);
is($r->{status}, 2, 'nobody is there to be asked: usage');
like($r->{err}, qr/--yes/, 'and what to say');
is($c->ok(qw/queues get again --json/)->{json}[0]{counts}{visible}, 25,
   'nothing has happened');

my ($status, $screen) = $c->terminal({ stdin => "n\n" }, qw/queues purge again/);
is($status, 1, 'no is no');
like($screen, qr{all messages of the queue again of o/p\? \[y/N\]}, 'asked');
is($c->ok(qw/queues get again --json/)->{json}[0]{counts}{visible}, 25,
   'nothing has happened');

($status) = $c->terminal({ stdin => "y\n" }, qw/queues purge again/);
is($status, 0, 'yes is yes');
is($c->ok(qw/queues get again --json/)->{json}[0]{counts}{visible}, 0, 'purged');

$r = $c->run(qw/queues delete dead --yes/);
is($r->{status}, 6, 'one in use: 6');
like($r->{err}, qr/queue_in_use.*--no-dead-letter-queue/s, 'and what to do');
$c->ok(qw/queues delete again -y/);
is($c->run(qw/queues delete again -y/)->{status}, 3, 'deleted');

# list: 250 queues are three pages

my @names = sort map { sprintf 'list-%03d', $_ } 1 .. 250;

$client->post($path, { name => $_ })->{status} == 201 or die for @names;

$r = $c->ok(qw/queues list --prefix list- --json/);
is_deeply([map { $_->{name} } @{ $r->{json} }], \@names, 'list: an object a line');

my $page = $client->get("$path?prefix=list-001")->{body};

like($page, qr/\Q$r->{lines}[0]\E/, 'as the server sent it');

$r = $c->ok(qw/queues list --prefix list- --names/);
is($r->{out}, join('', map { "$_\n" } @names), 'list: names');

$r = $c->ok(qw/queues list/);
is($r->{lines}[0] =~ s/  +/, /gr, 'NAME, KIND, VISIBILITY, RETENTION, DELAY, '
   . 'DEAD LETTERS, CREATED', 'list: a table');
is(@{ $r->{lines} }, 1 + 4 + 250, 'of all');

my $at = index $r->{lines}[0], 'KIND';

is((grep { substr($_, $at - 2) !~ /^  \w/ } @{ $r->{lines} }), 0, 'in columns');

$r = $c->ok(qw/queues list --prefix nothing/);
is("$r->{out}|$r->{err}", "|queuectl: no queues in o/p\n", 'none');
is($c->ok(qw/queues list --prefix nothing -q/)->{err}, '', 'quietly');

# a name that is no step of a path, and one with everything

for my $name ('..', '.', 'a/b', 'ü%?#', ' ') {
    is($c->run(qw/queues get/, $name)->{status}, 3, "get $name: not found");
}

is($c->run(qw/queues get/, '')->{status}, 2, 'no name: usage');

$s->finish;
done_testing;
