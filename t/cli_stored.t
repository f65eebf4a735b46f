#!/usr/bin/perl

# queuectl: what answers 200 to whatever is sent has stored nothing: messages are
# sent where the answer tells of each.

use strict;
use warnings;

use Test::More;

use NgxQueues::Cli;
use NgxQueues::Server;

my @answers = ('{}', '', '[]', '{"messages":[],"messageIds":[]}',
               '[{},{},{}]', '{"messages":[{},{},{}],"messageIds":["1","2","3"]}');
my $s = NgxQueues::Server->new(redis => 0, queues => 0, locations => join "\n",
    map { "location /$_/ { return 200 '$answers[$_]'; }" } 0 .. $#answers);
my $c = NgxQueues::Cli->new;

for my $command ('send q', 'topics publish t', 'logs push q') {
    for my $i (0 .. $#answers) {
        my $o = { stdin => "1\n2\n", env => { QUEUES_URL => $s->url . "/$i",
                                              QUEUES_PROJECT => 'o/p' } };
        my $r = $c->run($o, split(/ /, $command), '1');

        is("$r->{status} $r->{out}", '1 ', "$command: $answers[$i]");
        like($r->{err}, qr/tells of \d messages, and not of 1: .* is not known/, 'is none of it');
        $r = $c->run($o, split(/ /, $command), qw/--lines --keep-going/);
        is($r->{status}, 1, 'nor of lines');
        like($r->{err}, qr/lines 1 to 2 may have been stored, or not\n.*0 messages sent/, 'which is told');
    }
}

$s->finish;
done_testing;
