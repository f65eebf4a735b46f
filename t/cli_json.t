#!/usr/bin/perl

# queuectl's own reader of JSON, which never copies a body: what it takes for
# JSON, by the side of Perl's; spans and characters, to the byte. Compiled with
# the sanitizers, each text in memory of its own size.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use NgxQueues::Process qw/slurp spurt spawn reap temp_dir/;

my $top = $NgxQueues::Process::top;
my $dir = temp_dir();
my @command = (split(' ', $ENV{CC} || 'cc'), split(' ', '-std=c11 -D_GNU_SOURCE -O1'
    . ' -g -Wall -Wextra -Werror -fsanitize=address,undefined'
    . ' -fno-sanitize-recover=undefined'),
    "-I$top/src/cli", "$top/t/cli/json.c",
    map({ "$top/src/cli/queuectl_$_.c" } qw/json json_text text/),
    '-o', "$dir/json");

is(system(@command), 0, 'it compiles') or BAIL_OUT('no driver');

sub look {
    spurt("$dir/in", join '', map { unpack('H*', $_) . "\n" } @_);

    my $pid = spawn({ out => "$dir/out" }, 'sh', '-c', 'exec "$0" <"$1"',
                    "$dir/json", "$dir/in");

    is(reap($pid, 60), 0, scalar(@_) . ' texts') or diag(slurp("$dir/out"));

    my @lines = split /\n/, slurp("$dir/out");

    unlink "$dir/out";

    return map {
        my ($verdict, @parts) = split / /;
        [$verdict, map { my ($what, $hex) = split /:/, $_, 2;
                         [$what, pack 'H*', $hex] } @parts]
    } @lines;
}

# what is not JSON, and what only looks odd

my @bad = ('', ' ', '{', '}', '[', '[1', '[1,', '[1,]', '[,1]', '{"a"}', '{"a":}',
    '{"a":1,}', '{,}', '{a:1}', "{'a':1}", '01', '-', '+1', '1.', '.5', '1e', '1e+',
    '0x1', 'nul', 'nulll', 'True', 'NaN', '"', '"\\"', '"\\x"', '"\\u12"', '"\\u12g4"',
    "\"\n\"", "\"\0\"", '1 2', '{} []', '[1}', '{"a":1]', "\0", "[1]\0", "\xef\xbb\xbf1", "\"\xff\"",
    "\"\xc0\x80\"", "\"\xe2\x82\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"",
    '[' x 65 . ']' x 65, '//', '[1,,2]', '{"a":1,,"b":2}', '"\\u', '"\\');
my @good = ('0', '-0', '1e5', '1E-5', '1.5e+10', '""', '"\\u0000"', '[]', '{}', ' [ ] ',
    "\t{\r\n}", '[[],{}]', '"\\ud800"', '12345678901234567890', '[' x 64 . ']' x 64,
    '{"a":{"a":[{"a":1}]},"a":2}', '"\\/\\b\\f\\n\\r\\t\\"\\\\"');

is_deeply([map { $_->[0] } look(@bad)], [('no') x @bad], 'what is not JSON');
is_deeply([map { $_->[0] } look(@good)], [('yes') x @good], 'what is');

# spans: the bytes between commas

my ($array, $object, $value) = look("[ 1 ,\"a,]\" , [2, {}]\t]",
    "{ \"a\" : 1,\"b\\\"}\":\n{\"c\":[ ]} }", "  \"x\"\n");

is_deeply([@$array[2 .. $#$array]],
          [[item => '1'], [item => '"a,]"'], [item => '[2, {}]']], 'items');
is_deeply([@$object[2 .. $#$object]],
          [[name => '"a"'], [member => '1'], [name => '"b\\"}"'],
           [member => '{"c":[ ]}']], 'members');
is_deeply($value->[1], [value => '"x"'], 'a value without what is around it');

# characters, the way back, and what a terminal gets

my @strings = (
    ['"a\\u00e9\\u20ac\\ud83d\\ude00"', "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
     "\"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
     "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"],
    ['"\\u0000\\n\\u007f"', "\0\n\x7f", "\"\\u0000\\u000a\x7f\"",
     '\\u0000\\n\\u007f'],
    ['"\\ud800\\ud800\\udc00\\udc00"', "\xed\xa0\x80\xf0\x90\x80\x80\xed\xb0\x80",
     "\"\\ud800\xf0\x90\x80\x80\\udc00\"", "\\ud800\xf0\x90\x80\x80\\udc00"],
    ['"\\u202e\\u009b\\u2028"', "\xe2\x80\xae\xc2\x9b\xe2\x80\xa8",
     "\"\xe2\x80\xae\xc2\x9b\xe2\x80\xa8\"", '\\u202e\\u009b\\u2028'],
    ['"\\/\\b\\f\\r\\t\\"\\\\"', "/\b\f\r\t\"\\", '"/\\u0008\\u000c\\u000d\\u0009\\"\\\\"',
     '/\\u0008\\u000c\\u000d\\t"\\'],
);

my @seen = look(map { $_->[0] } @strings);

for my $i (0 .. $#strings) {
    my ($json, $text, $again, $safe) = @{ $strings[$i] };
    my %is = map { @$_ } @{ $seen[$i] }[1 .. $#{ $seen[$i] }];

    is_deeply([@is{qw/text again safe/}], [$text, $again, $safe], $json);
}

# texts by chance, and texts with a change: as Perl says

my $perl = JSON::PP->new->utf8->allow_nonref->max_depth(64);
my $seed = $ENV{NGX_QUEUES_SEED} || 20261130;

srand $seed;

sub text {
    my ($depth) = @_;

    my $kind = int rand($depth > 3 ? 4 : 6);
    my $blank = sub { (' ', '', "\n", '')[rand 4] };

    return (qw/0 -1 2.5 1e3 -0.0E-2 true false null/)[rand 8] if $kind < 2;
    return '"' . join('', map { ('a', ' ', '\\n', '\\u0041', '\\\\', '\\"', ']', '}',
                                 ',', ':', 'é')[rand 11] } 1 .. rand 6) . '"'
        if $kind < 4;
    return '[' . $blank->() . join(',', map { $blank->() . text($depth + 1) }
                                   1 .. rand 4) . $blank->() . ']' if $kind == 4;
    return '{' . join($blank->() . ',', map { "\"$_\"" . $blank->() . ':'
                                              . text($depth + 1) } 1 .. rand 4)
           . '}';
}

my @texts;

for (1 .. 3000) {
    my $text = text(0);

    if (rand() < 0.7) {
        my $at = int rand(1 + length $text);
        my $new = ('', ',', '"', '\\', '}', ']', '{', '[', ':', '0', '.', 'e', ' ',
                   "\x01", 't')[rand 15];

        substr $text, $at, int rand 2, $new;
    }

    push @texts, $text;
}

my @verdicts = map { $_->[0] } look(@texts);
my @differ = grep {
    my $i = $_;
    my $is = eval { $perl->decode($texts[$i]); 1 } ? 'yes' : 'no';

    $is ne ($verdicts[$i] // '');
} 0 .. $#texts;

is(join("\n", map { "$verdicts[$_]: $texts[$_]" } @differ), '',
   "3000 texts by chance, seed $seed");

my $good = grep { $_ eq 'yes' } @verdicts;

ok($good > 500 && $good < 2500, "of which $good are JSON");

done_testing;
