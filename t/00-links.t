#!/usr/bin/perl

# Links of README.md and docs: what is linked within is there, and has the
# heading that is named.

use strict;
use warnings;

use File::Basename 'dirname';
use Test::More;

use NgxQueues::Docs 'pages';
use NgxQueues::Process 'slurp';

chdir $NgxQueues::Process::top or die $!;

# a page without its blocks of code

sub text { slurp($_[0]) =~ s/^\s*```.*?^\s*```\s*$//msgr }

# headings as they are named in links

sub anchors {
    my ($page) = @_;

    my %anchors;

    for my $heading (text($page) =~ /^#+ (.*)/mg) {
        $heading =~ s/\[([^\]]*)\]\([^)]*\)/$1/g;
        $heading = lc $heading =~ s/[^\w\- ]//gr =~ tr/ /-/r;
        $anchors{$heading} = 1;
    }

    return \%anchors;
}

my ($n, @wrong) = 0;

for my $page (pages()) {
    for my $link (text($page) =~ /\]\(([^)\s]+)\)/g) {
        next if $link =~ /^\w+:/;

        my ($path, $anchor) = split /#/, $link, 2;
        my $to = $path eq '' ? $page : dirname($page) . "/$path";

        $n++;
        push @wrong, "$page: $link"
            if !-e $to || defined $anchor && !anchors($to)->{$anchor};
    }
}

cmp_ok($n, '>', 100, 'the links are found');
is(join("\n", @wrong), '', 'all lead somewhere');

done_testing;
