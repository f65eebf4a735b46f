#!/usr/bin/perl

# queuectl on a terminal: colours and the progress bar are for people alone.

use strict;
use warnings;

use Test::More;

use NgxQueues::Cli;
use NgxQueues::Process qw/spurt slurp/;
use NgxQueues::Queue;
use NgxQueues::Server;

my $s = NgxQueues::Server->new;
my $c = NgxQueues::Cli->new(server => $s);
my $q = NgxQueues::Queue->new($s, name => 'q');
my $dir = $c->dir;

# colours

sub colours {
    my ($env, @words) = @_;

    my (undef, $screen) = $c->terminal({ env => $env }, qw/queues list/, @words);

    return $screen =~ /\e\[1mNAME/ ? 1 : $screen =~ /\e/ ? 'odd' : 0;
}

is(colours({}), 1, 'headings are bold on a terminal');
is(colours({ NO_COLOR => 1 }), 0, 'not with NO_COLOR');
is(colours({ TERM => 'dumb' }), 0, 'nor on a dumb one');
is(colours({}, '--color', 'never'), 0, 'nor with --color never');
is(colours({ NO_COLOR => 1 }, '--color=always'), 1, '--color always');
unlike($c->ok(qw/queues list/)->{out}, qr/\e/, 'none in a pipe');
like($c->ok(qw/queues list --color always/)->{out}, qr/\e\[1m/,
     'but if it is asked for');

# the bar: of a file by its bytes, on stderr

my $lines = join '', map { "line $_\n" } 1 .. 500;

spurt("$dir/lines", $lines);

my (undef, $screen) = $c->terminal({}, qw/send q --lines --file/, "$dir/lines");

like($screen, qr/\r\e\[K\[=+ *\] +\d+%  \d+ messages, \d+\/s/, 'a bar');
like($screen, qr/\[={24}\] 100%  500 messages, \d+\/s\r\n/, 'to its end');
like($screen, qr/500 messages sent/, 'and what was done');

(undef, $screen) = $c->terminal({}, qw/send q -q --lines --file/, "$dir/lines");
is($screen, '', 'quietly');

(undef, $screen) = $c->terminal({ redirect => "2>$dir/err" },
                                qw/send q --lines --file/, "$dir/lines");
unlike(slurp("$dir/err"), qr/[\e\r]/, 'none in a file');

# drain: where the messages go elsewhere

(undef, $screen) = $c->terminal({ redirect => ">$dir/out" }, qw/drain q --raw/);
like($screen, qr/\[={24}\] 100%  1500 messages/, 'drain: a bar');
is(slurp("$dir/out"), $lines x 3, 'and the messages');

$q->send('x');
(undef, $screen) = $c->terminal({}, qw/drain q --raw/);
unlike($screen, qr/\[=/, 'none in the midst of messages');
like($screen, qr/^x\r$/m, 'which are there');

# redrive

$c->ok(qw/queues create from/);
$c->ok(qw/queues create to/);
$c->ok({ stdin => join "\n", 1 .. 1200 }, qw/send from --lines/);

(undef, $screen) = $c->terminal({}, qw/queues redrive from --destination to/);
like($screen, qr/\[={24}\] 100%  1200 messages.*1200 messages moved/s,
     'redrive: a bar');

# messages of a hostile sender do nothing to a terminal

$q->send("\e]0;title\a\e[2J\x{9b}2J");
(undef, $screen) = $c->terminal({ env => { NO_COLOR => 1 } }, qw/receive q/);
unlike($screen, qr/\e|\a|\xc2\x9b/, 'no control character');
like($screen, qr/\\u001b\]0;title\\u0007\\u001b\[2J\\u009b2J/, 'but what it is');

$s->finish;
done_testing;
