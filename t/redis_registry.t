#!/usr/bin/perl

# project_note and project_due, called straight on a Redis: whose moment holds
# where several note one, and that pages leave nobody out.

use strict;
use warnings;

use FindBin;
use Test::More;
use Time::HiRes qw(sleep time);

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;

NgxQueues::Functions::start();

my $key = 'ngxq:projects';

sub call_ {
    my $name = shift;

    return $r->call('FCALL', "${lib}_$name", 1, $key, @_);
}

# in how many ms the moment of a project comes, about: a slow machine looks late

sub left {
    my ($project) = @_;
    my $score = $r->call('ZSCORE', $key, $project) // return undef;

    return $score - time * 1000;
}

sub about {
    my ($project, $ms, $name) = @_;
    my $left = left($project);

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    ok(defined $left && $left < $ms + 400 && $left > 0.8 * $ms - 400, $name)
        or diag($left // 'none');
}


subtest 'a moment' => sub {
    is(call_('project_note', 'a', 60000, 'b', 5000, 'c', -1), 2, 'two of three');
    about('a', 60000, 'a');
    about('b', 5000, 'b');
    is(left('c'), undef, 'c, where nothing is to come, is not there');

    is(call_('project_note', 'a', 30000), 1, 'earlier');
    about('a', 30000, 'is taken');
    is(call_('project_note', 'a', 40000), 0, 'later');
    is(call_('project_note', 'a', -1), 0, 'and nothing at all');
    about('a', 30000, 'are not, while the moment is to come');

    call_('project_note', 'a', 300);
    is(call_('project_note', 'a', 40000), 1, 'later, as it has nearly come');
    about('a', 40000, 'is taken');
    call_('project_note', 'a', 0);
    sleep 0.01;
    is(call_('project_note', 'a', -1), 1, 'nothing, as it has come');
    is(left('a'), undef, 'is taken');
    is(call_('project_note', 'a', -1), 0, 'once more');
};


subtest 'many in one call' => sub {
    my @many = map { ("p$_", 1000 * $_) } 1 .. 200;

    is(call_('project_note', @many), 200, 'as many as may be');
    about('p200', 200000, 'the last one');
    like(call_('project_note', @$_), qr/^QUEUES ARGUMENT /, 'not ' . @$_)
        for [], ['a'], ['a', ''], ['a', 'x'], ['a', '1.5'], ['a', 1, 'b'],
            [@many, 'x', 1];
    $r->call('DEL', $key);
};


subtest 'what is due' => sub {
    is_deeply(call_('project_due', 6000, 10, ''), [''], 'of no registry');

    my $now = int(time * 1000);

    $r->call('ZADD', $key, $now + 60000, 'far', $now + 3000, 'near',
             $now - 9000, 'late');

    my $due = call_('project_due', 6000, 10, '');

    is_deeply([@$due[0, 1, 3]], ['', 'late', 'near'], 'the earliest first');
    is(scalar @$due, 5, 'not what is far');
    ok($due->[2] <= -9000 && $due->[2] > -12000, 'late by');
    ok($due->[4] <= 3000 && $due->[4] > 0, 'left');
    is(call_('project_due', -5000, 10, '')->[1], 'late', 'late by 5 s');
    is_deeply(call_('project_due', -20000, 10, ''), [''], 'by more than is');
    is(scalar @{ call_('project_due', 100000, 10, '') }, 7, 'all');

    like(call_('project_due', @$_), qr/^QUEUES ARGUMENT /, 'not ' . @$_)
        for [], [6000], [6000, 10], ['x', 10, ''], [6000, 0, ''];
    like(call_('project_note', 'late', -1), qr/^1$/, 'as it is late');
    $r->call('DEL', $key);
};


# by cursors, with 7 of each, until the end; $between is called after each page

sub pages {
    my ($between) = @_;
    my ($cursor, @seen, $pages) = ('');

    do {
        my $page = call_('project_due', 6000, 7, $cursor);

        $cursor = shift @$page;
        push @seen, map { $page->[2 * $_] } 0 .. @$page / 2 - 1;
        die "no end\n" if ++$pages > 100;
        $between->($page) if $between;
    } while length $cursor;

    return ($pages, @seen);
}

subtest 'pages' => sub {
    my $now = int(time * 1000) - 100000;

    # all have a moment of their own; the same one; some the same

    for my $step (1, 0, 0.1) {
        $r->call('ZADD', $key, int($now + $step * $_), "p$_") for 1 .. 70;

        my ($pages, @seen) = pages();

        is($pages, 10, "$step: pages");
        is(join(' ', sort @seen), join(' ', sort map { "p$_" } 1 .. 70),
           "$step: all of them, once");

        # each is looked after between two pages

        my %seen;

        (undef, @seen) = pages(sub {
            my ($page) = @_;

            call_('project_note', map {
                ($page->[2 * $_], $_ % 2 ? 90000 : -1)
            } 0 .. @$page / 2 - 1);
        });

        $seen{$_}++ for @seen;

        # of the same moment some are left for the next time

        cmp_ok(scalar keys %seen, $step == 1 ? '==' : '>=',
               $step == 1 ? 70 : 35, "$step: while they change");
        is((grep { $_ > 1 } values %seen), 0, "$step: none twice");
        $r->call('DEL', $key);
    }

    $r->call('ZADD', $key, '-inf', 'first', 'inf', 'last', 1.5, 'part');
    is(join(' ', (pages())[1, 2]), 'first part', "others' scores");
    is(scalar @{ call_('project_due', 6000, 1, '') }, 3, 'a page of them');
};

done_testing;
