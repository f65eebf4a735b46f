#!/usr/bin/perl

# docs/operations.md, "What the error log says": each line from warn on that the
# module writes while it runs is in the table there, with its level, and nothing
# else is. So are the reasons that end many of them. What nginx -t refuses
# ("[emerg]" with the name of a directive) says itself what to do.

use strict;
use warnings;

use Test::More;

use NgxQueues::Process 'slurp';

chdir $NgxQueues::Process::top or die $!;

my %level = (EMERG => 'emerg', ALERT => 'alert', CRIT => 'crit', ERR => 'error',
             WARN => 'warn', NOTICE => 'notice', INFO => 'info');

# the calls: level, and the format with "…" for what is put in

my (@calls, $n);

for my $file ('ngx_queues_module.c', grep { !m{^src/cli/} } glob 'src/*/*.c') {
    my $text = slurp($file);

    while ($text =~ /\b(ngx_log_error|ngx_ssl_error|ngx_connection_error)\(/g) {
        my ($call, $at) = ($1, pos $text);
        my $rest = substr $text, $at;

        # neighbours are one string; macros of strings stand between them

        my ($arguments, $string) = $rest =~ m{
            \A ([^";]*?),\s* ( (?: \w+_n\s+ )? " (?: [^"\\] | \\. )* "
                               (?: \s* (?: " (?: [^"\\] | \\. )* " | \w+_n\b ) )* )
        }xs or die "$file: a call without a format";

        $arguments = '' if $call eq 'ngx_connection_error';
        $n++;

        $string =~ s/\b\w+_n\b/"…"/g;
        $string = join '', $string =~ /"((?:[^"\\]|\\.)*)"/g;
        $string =~ s/\\"/"/g;
        $string =~ s/%(?:\*s|[0-9.]*u?[a-zA-Z]i?)/…/g;

        my ($level) = $arguments =~ /^\s*NGX_LOG_(\w+)/;
        my $where = $file . ':' . (1 + (substr($text, 0, $at) =~ tr/\n//));

        next if ($level // '') eq 'EMERG'
                && $arguments =~ /\bcf->log\b|zone->shm\.log/;

        push @calls, { where => $where, text => $string,
                       level => $level && $level{$level} };
    }
}

cmp_ok($n, '>', 50, 'the calls are found');

# the tables

my ($section) = slurp('docs/operations.md')
    =~ /^## What the error log says\n(.*?)(?=^## |\z)/ms;
my (@rows, %reason);

for (split /\n/, $section // '') {
    if (/^\| `(.*?)` \| ([\w, ]+) \| \S/) {
        my ($texts, $levels) = ($1, $2);

        push @rows, { text => $_, levels => { map { $_ => 1 }
                                              $levels =~ /(\w+)/g } }
            for split /`, `/, $texts;

    } elsif (/^\| `([^`]*)` \| \S/) {
        $reason{$1} = 1;
    }
}

cmp_ok(scalar @rows, '>', 30, 'and the table');

sub pattern { join '.*', map { quotemeta } split /…/, $_[0], -1 }

my (%found, @missing, @levels);

for my $call (@calls) {
    # a row of no words is that line alone

    my ($row) = grep { $call->{text} eq $_->{text}
                       || $_->{text} =~ /[a-z]/
                          && $call->{text} =~ /^${\pattern($_->{text})}$/s } @rows;

    if ($row) {
        $found{$row->{text}} = 1;
        push @levels, "$call->{where}: $call->{level}: $call->{text}"
            if $call->{level} && $call->{level} !~ /^(?:info|notice)$/
               && !$row->{levels}{$call->{level}};
        next;
    }

    next if ($call->{level} // '') =~ /^(?:info|notice)$/;

    push @missing, "$call->{where}: " . ($call->{level} // 'some level')
                   . ": $call->{text}";
}

# what stands for a reason by itself: how Redis answered a call

my @texts = slurp('src/redis/ngx_queues_redis_error.c')
    =~ /^    \[NGX_QUEUES_REDIS_(?!OK\]|APP\])\w+\] =\s+"([^"]*)"/mg;

cmp_ok(scalar @texts, '>', 10, 'the reasons are found');

is(join("\n", @missing), '', 'each line is in the table');
is(join("\n", @levels), '', 'with its level');
is(join("\n", grep { !$found{$_} } map { $_->{text} } @rows), '',
   'each line of the table is written somewhere');

my @reasons = (@texts, map { slurp($_) =~ m{
    ngx_queues_redis_link_(?:lost|drop)\([^"();]*?"([^"]*)"
}xg } glob 'src/redis/*.c');

my %said = map { $_ => 1 } @reasons;

is(join("\n", grep { !$reason{$_} } sort keys %said), '',
   'each reason is in the table of reasons');
is(join("\n", grep { !$said{$_} } sort keys %reason), '',
   'each of the table is given somewhere');

done_testing;
