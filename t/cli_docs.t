#!/usr/bin/perl

# docs/queuectl.md, line by line, as it is there, but for the address of the
# server; and what "make install" puts where.

use strict;
use warnings;

use Test::More;

use NgxQueues::CheckLog;
use NgxQueues::Cli;
use NgxQueues::Process qw/slurp spurt temp_dir/;
use NgxQueues::Queue;
use NgxQueues::Server;

$NgxQueues::CheckLog::moved = 1;         # by a seek, while they have leases

my $top = $NgxQueues::Process::top;
my $s = NgxQueues::Server->new(locations => 'location / { queues_api; }'
    . ' location /v1/projects/ { queues_pubsub_api acme; }'
    . ' location /api/v1/ { queues_queen_api acme/shop; }');
my $c = NgxQueues::Cli->new(server => $s, env => {
    map { $_ => undef } qw/QUEUES_URL QUEUES_KEY QUEUES_PROJECT/
});
my $dir = temp_dir();
my $page = slurp("$top/docs/queuectl.md");
my $url = $s->url;

mkdir "$dir/bin";
symlink $c->binary, "$dir/bin/queuectl" or die $!;

sub sh {
    my ($script) = @_;

    spurt("$dir/sh", "set -e -o pipefail\ncd '$dir'\n$script\n");

    my $r = $c->run({ stdin => $s->key . "\n", seconds => 60,
                      env => { PATH => "$dir/bin:$ENV{PATH}" },
                      command => ['bash', "$dir/sh"] });

    is($r->{status}, 0, $script =~ s/\s+#.*//r) or diag($r->{err});

    return $r->{out};
}

# a line is run by itself, with the variables of those before it

my ($set, %said) = '';

for my $block ($page =~ /^```sh\n(.*?)^```$/msg) {
    next if $block =~ /^make /m;

    for my $line (split /\n/, $block) {
        next if $line eq '';

        $line =~ s{http://127\.0\.0\.1:8080}{$url};

        if ($line =~ /^([A-Z]+)=/) {
            my $out = sh("$line\necho \"\$$1\"");

            chomp $out;
            $set .= "$1='$out'\n";
            next;
        }

        $said{$line =~ s/\s+#.*//r} = sh($line =~ /\$[A-Z]/ ? "$set$line" : $line);
    }
}

for my $command ($page =~ /`(queuectl [^`]+)`/g) {
    sh($command) if $command !~ /[A-Z]{2}/;
}

like($said{'queuectl queues list --counts'}, qr/^failed .*^orders /ms, 'the queues');
like($said{'queuectl receive orders --wait 20s'},
     qr/^Attribute    source=shop\nBody         \{"orderId": 1\}$/m, 'a message');
is($said{'queuectl logs pop clicks --group stats --ack --raw'},
   "{\"page\": \"/\"}\n", 'a message of a log');
is(() = slurp("$dir/clicks.jsonl") =~ /"transactionId":"numbers-\d+"/mg, 1000,
   'many of a log');
is($said{'queuectl receive orders --ack --raw'}, "{\"orderId\": 2}\n\n",
   'and its body');
is(() = slurp("$dir/orders.jsonl") =~ /^\{"messageId":/mg, 1000, 'many of them');
like($said{'queuectl subscriptions create orders --url '
           . 'https://hooks.example.com/orders'},
     qr/^Signing secret +whsec_/m, 'a subscription');

like($said{'queuectl subs pull billing --wait 20s'},
     qr/^Attribute    source=shop\nData         order 1$/m, 'a message of a topic');
is(() = slurp("$dir/messages.jsonl") =~ /^\{"ackId":/mg, 500, 'and many of those');

# what the table says of exit codes is what the source has

my ($enum) = slurp("$top/src/cli/queuectl.h")
    =~ /\{([^{}]*)\} queuectl_exit_e;/;
my %codes = $enum =~ /QUEUECTL_(\w+) = (\d+)/g;

is(join(' ', $page =~ /^\| (\d+) \|/mg),
   join(' ', sort { $a <=> $b } values %codes), 'exit codes');
is(join(' ', slurp("$top/docs/queuectl.1") =~ /^\.SH EXIT STATUS\n(.*?)^\.SH/ms
        ? $1 =~ /^\.B (\d+)$/mg : ()),
   join(' ', sort { $a <=> $b } values %codes), 'and in the man page');

# make install: the three files

delete local @ENV{qw/MAKEFLAGS MAKELEVEL MFLAGS/};

my $made = $c->run({ seconds => 200, command => [
    'make', '-s', '-C', $top, 'install-queuectl', "DESTDIR=$dir/root"] });

is($made->{status}, 0, 'make install-queuectl') or diag($made->{err});

for my $file ('bin/queuectl', 'share/man/man1/queuectl.1',
              'share/bash-completion/completions/queuectl')
{
    ok(-s "$dir/root/usr/$file", "usr/$file");
}

like(`make -C $top -nk install DESTDIR=/none 2>&1`, qr{/none/usr/bin/queuectl},
     'is a part of make install');

$s->finish;
done_testing;
