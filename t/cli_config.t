#!/usr/bin/perl

# Where queuectl takes the server, the project and the key from, and what it
# refuses; queuectl config and keys.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Cli;
use NgxQueues::Process qw/spurt slurp/;
use NgxQueues::Queue;
use NgxQueues::Server;

my $s = NgxQueues::Server->new;
my $c = NgxQueues::Cli->new;
my $file = $c->home . '/.config/queuectl/config';
my $dir = $c->dir;

NgxQueues::Queue->new($s, name => 'q');

sub list { $c->run({ env => $_[0] || {} }, qw/queues list --names/, @_[1 .. $#_]) }

sub mode { sprintf '%04o', (stat $_[0])[2] & 07777 }

# nothing is known

for (['QUEUES_URL', {}], ['QUEUES_PROJECT', { QUEUES_URL => $s->url }]) {
    my $r = list($_->[1]);

    is($r->{status}, 2, "without $_->[0]: usage");
    like($r->{err}, qr/$_->[0].*queuectl config set/s, 'and what to do');
}

my %env = (QUEUES_URL => $s->url, QUEUES_PROJECT => 'o/p');
my $r = list(\%env);

is($r->{status}, 4, 'without a key: 4');
like($r->{err}, qr/unauthenticated, 401.*QUEUES_KEY/s, 'and what to do');
is(list({ %env, QUEUES_KEY => $s->key })->{out}, "q\n", 'the environment');

# config

is($c->ok(qw/config path/)->{out}, "$file\n", 'config path');
is($c->ok(qw/config list/)->{out}, '', 'config list: nothing yet');
is($c->run(qw/config get endpoint/)->{status}, 3, 'config get: not set: 3');

$c->ok(qw/config set endpoint/, $s->url . '/');
$c->ok(qw{config set project o/p});
$c->ok({ stdin => $s->key . "\n" }, qw/config set key/);

is(mode($file), '0600', 'nobody else can read it');
is(list()->{out}, "q\n", 'the file has it all');
is($c->ok(qw/config get project/)->{out}, "o/p\n", 'config get');

$r = $c->ok(qw/config list/);
like($r->{out}, qr{^endpoint  \S+\nproject   o/p\nkey       \(not shown\)\n\z},
     'config list, without the key');
unlike($r->{out}, qr/qk_/, 'really');
is($c->ok(qw/config list --json/)->{json}[0]{project}, 'o/p', 'config list: JSON');

my ($status, $screen) = $c->terminal({ stdin => "secret-x\n" },
    'config', 'set', 'key', '--config', "$dir/typed");

is($status, 0, 'typed on a terminal');
like(slurp("$dir/typed"), qr/^key = secret-x$/m, 'it is set');

for my $words ('set colour x', 'get colour', 'set endpoint', 'unset', 'get a b')
{
    is($c->run('config', split / /, $words)->{status}, 2,
       "config $words: usage");
}

is($c->run(qw/config set endpoint/, "a\nkey = b")->{status}, 2,
   'a value of two lines: usage');

# a key that others can read is not used: as with ssh

for my $mode (0644, 0640, 0604) {
    chmod $mode, $file;
    $r = list();
    is($r->{status}, 4, sprintf 'mode %04o: 4', $mode);
    like($r->{err}, qr/others can read .*chmod 600 \Q$file/s, 'and the mend');
}

$c->run(qw/config unset key/);
is(mode($file), '0604', 'nor by config');
chmod 0600, $file;
$c->ok(qw/config unset key/);
chmod 0644, $file;
is(list({ QUEUES_KEY => $s->key })->{out}, "q\n", 'without a key all may read it');

# key files

spurt("$dir/key", $s->key . "\nmore\n", 0600);
is(list({}, '--key-file', "$dir/key")->{out}, "q\n", 'a key file');
is(list({ QUEUES_KEY_FILE => "$dir/key" })->{out}, "q\n", 'by the environment');
$c->ok(qw/config set key-file/, "$dir/key");
is(list()->{out}, "q\n", 'by the configuration');
$c->ok(qw/config unset key-file/);

chmod 0644, "$dir/key";
is(list({}, '-k', "$dir/key")->{status}, 4, 'that others can read: 4');
spurt("$dir/empty", "\n", 0600);
is(list({}, '-k', "$dir/empty")->{status}, 4, 'without a key: 4');
is(list({}, '-k', "$dir/none")->{status}, 4, 'that is not there: 4');

my $key = $s->key;

$r = $c->run({ command => ['bash', '-c', "\"\$0\" queues list --names -k <(echo $key)",
                           $c->binary] });
is($r->{out}, "q\n", 'a pipe of the shell');

# what is nearer wins

my %wrong = (QUEUES_URL => 'http://127.0.0.1:1', QUEUES_PROJECT => 'x/y',
             QUEUES_KEY => 'wrong');

is(list(\%wrong, '--endpoint', $s->url, '--project', 'o/p', '--key', $key)->{out},
   "q\n", 'flags before the environment');
is(list({ QUEUES_KEY => 'wrong', QUEUES_KEY_FILE => undef })->{status}, 4,
   'the environment before the file: the server does not know it');
is(list({ QUEUES_URL => '', QUEUES_KEY => $key })->{out}, "q\n",
   'an empty variable is none');

spurt("$dir/other", "# ours\n\n endpoint=" . $s->url . " \nproject = o/p\r\n"
      . "key = $key\n", 0600);
is(list({}, '-c', "$dir/other")->{out}, "q\n", '--config');
is(list({ QUEUECTL_CONFIG => "$dir/other" })->{out}, "q\n", 'QUEUECTL_CONFIG');
mkdir "$dir/xdg";
mkdir "$dir/xdg/queuectl";
spurt("$dir/xdg/queuectl/config", slurp("$dir/other"), 0600);
is(list({ XDG_CONFIG_HOME => "$dir/xdg" })->{out}, "q\n", 'XDG_CONFIG_HOME');
is(list({}, '--config', "$dir/none")->{status}, 2, 'one that is not there');

for my $line ('nonsense', 'colour = x') {
    spurt("$dir/bad", "$line\n", 0600);
    $r = list({}, '-c', "$dir/bad");
    is($r->{status}, 2, "$line: usage");
    like($r->{err}, qr/bad:1:/, 'and where');
}

# what is no endpoint, no project, no key

for my $url ('127.0.0.1:80', 'ftp://a', 'http://', 'http://u:p@a', 'http://a/?b',
             "http://a b", 'https://a#b')
{
    is(list({ %env, QUEUES_KEY => $key }, '-e', $url)->{status}, 2,
       "endpoint $url: usage");
}

for my $project ('o', '/p', 'o/', 'o/p/q', '') {
    is(list({ %env, QUEUES_KEY => $key }, '-p', $project)->{status}, 2,
       "project $project: usage");
}

is(list(\%env, '--key', "a\r\nX: y")->{status}, 4, 'no key has line ends');
is(list(\%env, '--key', 'a', '--key-file', 'b')->{status}, 2, 'two keys: usage');

# neither shows the key, and a network that is no loopback is worth a word

$r = list(\%env, '--key', $key, '--verbose');
like($r->{err}, qr{> GET \S+/o/projects/p/queues\?pageSize=100\n.*< 200}s,
     '--verbose');
unlike($r->{err}, qr/\Q$key/, 'without the key');

for my $host (qw/queues.invalid localhost.invalid 127.0.0.1.invalid/) {
    like(list({ %env, QUEUES_KEY => $key }, '-e', "http://$host",
              '--connect-timeout', 1)->{err},
         qr/goes to \S+ without encryption/, "a key without encryption: $host");
}

for my $host (qw/127.0.0.1 localhost [::1]/) {
    unlike(list({ %env, QUEUES_KEY => $key }, '-e', "http://$host:1/x")->{err},
           qr/encryption/, "but for $host");
}

# keys: the line is one that the server takes

$r = $c->ok(qw/keys create worker/, '--permissions', 'queues.*,x',
            '--resources', 'o/p/*');

my ($made, $line) = $r->{out} =~ /^Key   (qk_[0-9a-f]{48})\nLine  (.*)\n\z/;

is($line, sha256_hex($made) . ' worker queues.*,x o/p/*', 'keys create');
like($r->{err}, qr/shown this once/, 'and said so');

$r = $c->ok(qw{keys create reader --permissions queues.* --resources * --json});
is($r->{json}[0]{line}, sha256_hex($r->{json}[0]{key}) . ' reader queues.* *',
   'as JSON');

my $line2 = $c->ok(qw{keys create w2 --permissions * --resources o/*
                      --secret-file}, "$dir/made")->{out};

is(mode("$dir/made"), '0600', 'a file that nobody else can read');
is($line2, sha256_hex(slurp("$dir/made") =~ s/\n\z//r) . " w2 * o/*\n",
   'and the line alone');
is($c->run(qw{keys create w2 --permissions * --resources o/* --secret-file},
           "$dir/made")->{status}, 1, 'no file is written over');

spurt("$dir/keys", slurp($s->{keys_file}) . "$line\n$line2");
$s->configure(keys_file => "$dir/keys");
$s->reload(drained => 10);

is(list({ %env, QUEUES_KEY => $made })->{out}, "q\n", 'the server knows it');
is(list(\%env, '-k', "$dir/made")->{out}, "q\n", 'and that of the file');

for my $words ('w --permissions a', 'w --resources a', '--permissions a --resources b',
               'w --permissions a,,b --resources c', 'w --permissions a, --resources c',
               'w --permissions ü --resources c')
{
    is($c->run(qw/keys create/, split / /, $words)->{status}, 2,
       "keys create $words: usage");
}

is($c->run(qw/keys create/, 'a b', qw/--permissions a --resources b/)->{status},
   2, 'a name with a blank: usage');

$s->finish;
done_testing;
