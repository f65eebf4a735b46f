#!/usr/bin/perl

# Tokens over time: keys that come and go by a reload, tokens that end while
# they are remembered, more of them than are remembered, and what the logs say.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Jwt;
use NgxQueues::Process qw/slurp spurt/;
use NgxQueues::Queue;
use NgxQueues::Server;
use NgxQueues::Wait;

my $one = NgxQueues::Jwt->secret;
my $two = NgxQueues::Jwt->secret;
my $rsa = NgxQueues::Jwt->rsa;
my $file = $one->public;

my $s = NgxQueues::Server->new(workers => 2,
                               keys => [sha256_hex('a.b.c') . ' dots * *'],
                               http => "queues_jwt_key $file;"
                                       . ' queues_jwt_leeway 0;');
my $q = NgxQueues::Queue->new($s);
my @tokens;

sub roles { NgxQueues::Jwt::claims(roles => [@_]) }

sub token {
    my ($key, @rest) = @_;

    push @tokens, $key->token(@rest);

    return $tokens[-1];
}

# the status for a token, on a new connection, which either worker may take

sub status {
    my ($token) = @_;

    return $s->client(key => $token)->get($q->path)->{status};
}

sub statuses { my ($token) = @_; join ' ', map { status($token) } 1 .. 8 }

my $t1 = token($one, roles('queues.get@o/p/*'));
my $t2 = token($two, roles('queues.get@o/p/*'));
my $t3 = token($rsa, roles('queues.get@o/p/*'), { kid => 'r' });

is(statuses($t1), '200 ' x 7 . '200', 'a token of the first key');
is(statuses($t2), '401 ' x 7 . '401', 'one of another key');
is(statuses('a.b.c'), '200 ' x 7 . '200', 'an API key that looks like one');

# another key in the same file: what was remembered is forgotten

my $text = slurp($file);

spurt($file, slurp($two->public), 0600);
$s->reload(drained => 15);
is(statuses($t1), '401 ' x 7 . '401', 'the key is gone');
is(statuses($t2), '200 ' x 7 . '200', 'another one is there');

# both, and a JWKS: a rotation

spurt($file, $text, 0600);
my $jwks = NgxQueues::Jwt::jwks('set', $rsa->jwk(kid => 'r'));
$s->configure(http => "queues_jwt_key $file; queues_jwt_leeway 0;"
                      . ' queues_jwt_key ' . $two->public . ';'
                      . " queues_jwt_key $jwks;");
$s->reload(drained => 15);
is(join(' ', map { status($_) } $t1, $t2, $t3), '200 200 200', 'three keys');

# a wrong file: the reload is refused, the old workers go on

my @workers = $s->worker_pids;
my $line = qr/is a secret of less than 32 bytes/;

spurt($file, "short-secret\n", 0600);
$s->signal('HUP');
ok(wait_for(sub { $s->error_log =~ $line }, 5), 'a short secret is refused');
is(join(' ', $s->worker_pids), "@workers", 'and nothing changes');
is(status($t1), 200, 'it goes on');
spurt($file, $text, 0600);

# a token ends while it is remembered

my $short = token($one, { sub => 'me', roles => '*@*', exp => time + 3 });
my $c = $s->client(key => $short);
my $last = 0;

is($c->get($q->path)->{status}, 200, 'a token of three seconds');
ok(wait_for(sub { $c->get($q->path)->{status} == 401 }, 10), 'ends');
like($s->error_log, qr/a token was refused: it has expired/,
     'and the log says so');

# one that is not yet good

my $early = token($one, NgxQueues::Jwt::claims(roles => '*@*',
                                               nbf => time + 2));

is(status($early), 401, 'a token of the future');
ok(wait_for(sub { status($early) == 200 }, 10), 'is good when it is there');

# more tokens than are remembered, of other rights each: none is taken for
# another, whatever is remembered of it

my @may = map { [$one->token(NgxQueues::Jwt::claims(
    jti => $_, roles => [$_ % 2 ? 'queues.get@o/p/*' : 'queues.list@o/p/*']
)), $_ % 2] } 1 .. 3000;

# receives that wait meanwhile hold what they were permitted with, by an id:
# the name is looked up first

my $reader = token($one, roles('queues.messages.receive@o/p/' . $q->name));
my @waiting = map {
    $s->client(key => $reader)->start(POST => ($q->path =~ s{[^/]+$}{}r)
        . $q->is('queue') . '/messages/receive', { waitSeconds => 20 },
        timeout => 30)
} 1 .. 4;

my %wrong;

for my $turn (1 .. 2) {
    my $client = $s->client;

    for my $row (@may) {
        my ($token, $may) = @$row;
        my $r = $client->get($q->path,
                             headers => { Authorization => "Bearer $token" });

        $wrong{"$r->{status}"}++ if $r->{status} != ($may ? 200 : 403);
    }
}

is(join(' ', %wrong), '', 'each token has its own rights');
is((grep { $_->{done} } @waiting), 0, 'who waits has waited');
$q->send('a', 'b', 'c', 'd');

my @r = map { $_->result } grep { $s->client->wait_any([$_], 10) } @waiting;

is(join(' ', map { $_->{status} } @r), '200 200 200 200', 'and receives');

# nothing of all that is written down

ok(index($s->error_log . $s->access_log, $_) < 0, 'no token in a log')
    for map { /([^.]{30,})$/ } @tokens;
ok(index($s->error_log, $_->{secret}) < 0, 'no secret in the log')
    for $one, $two;
unlike($s->error_log, qr/short-secret/, 'nor one that was refused');

$s->finish(allow => [$line]);

done_testing;
