#!/usr/bin/perl

# A key with two lines in queues_api_keys: nobody would know which of them
# counts, so neither does: nginx does not start with it.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Process qw/slurp spurt/;
use NgxQueues::Server;
use NgxQueues::Wait;

my $s = NgxQueues::Server->new(redis => 0,
                               http => 'queues_redis 127.0.0.1:1;');
my $file = $s->{keys_file};
my $usual = slurp($file);
my @hash = map { sha256_hex("key $_") } 0 .. 40;

sub keys_file { spurt($file, $usual . join('', map { "$_\n" } @_), 0600) }

sub refused {
    my ($name, $one, $two, @lines) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    keys_file(@lines);

    my ($well, $text) = $s->test_configuration;

    ok(!$well, "$name: refused");
    like($text, qr/\[emerg\].*"queues_api_keys": "(?:$one" and "$two|$two" and "$one)" have the same key in \Q$file\E/,
         "$name: both have a name");
    unlike($text, qr/$hash[0]/i, "$name: and not the key");
}

sub accepted {
    my ($name, @lines) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    keys_file(@lines);

    my ($well, $text) = $s->test_configuration;

    ok($well, "$name: accepted") or diag($text);
}

my @others = map { "$hash[$_] p$_ * o/p/*" } 1 .. 40;

refused('two lines', 'alice', 'bob', "$hash[0] alice queues.get *",
        "$hash[0] bob * *");
refused('far apart', 'alice', 'bob', "$hash[0] alice queues.get *", @others,
        '', '# bob', "$hash[0]\tbob  * *");
refused('at the ends', 'first', 'last', @others[0 .. 19], "$hash[0] last * *",
        @others[20 .. 39], "$hash[0] first * *");
refused('one in capitals', 'alice', 'bob', "$hash[0] alice * *",
        uc($hash[0]) . ' bob * *')
    if $hash[0] =~ /[a-f]/;
refused('the same line twice', 'alice', 'alice', ("$hash[0] alice * *") x 2);
refused('with CRLF', 'alice', 'bob', "$hash[0] alice * *\r",
        "$hash[0] bob * *\r");
refused('the key of the file itself', 'test', 'bob',
        sha256_hex($s->key) . ' bob * *');

accepted('a principal with two keys', "$hash[0] alice queues.get *",
         "$hash[1] alice * *");
accepted('many', "$hash[0] alice * *", @others);
accepted('a line that is a comment', "$hash[0] alice * *",
         "#$hash[0] bob * *");

# a reload with such a file: the workers go on as they were

my @workers = $s->worker_pids;
my $line = qr/"alice" and "bob" have the same key|"bob" and "alice" have/;

keys_file("$hash[0] alice * *", "$hash[0] bob * *");
$s->signal('HUP');
ok(wait_for(sub { $s->error_log =~ $line }, 5), 'a reload is refused');
is(join(' ', $s->worker_pids), "@workers", 'and nothing changes');
is($s->client(key => 'key 0')->get('/v1/organizations/o/projects/p/queues')
   ->{status}, 401, 'the key is not known');

$s->finish(allow => [qr/have the same key/]);

done_testing;
