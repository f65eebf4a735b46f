#!/usr/bin/perl

# README.md and the pages of docs: each block of code is run, by this test or by
# the one that NgxQueues::Docs names.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use NgxQueues::Docs qw/pages blocks elsewhere program/;
use NgxQueues::Docs::Nginx;
use NgxQueues::Docs::Shape qw/shown fits/;
use NgxQueues::Docs::Shell;
use NgxQueues::Jwt;
use NgxQueues::Process qw/slurp spurt/;
use NgxQueues::Server;
use NgxQueues::Wait;

my $top = $NgxQueues::Process::top;
my $json = JSON::PP->new->utf8->allow_nonref;
my $nginx = NgxQueues::Docs::Nginx->new;
my (%used, $helped);

sub where { "$_[0]{page}:$_[0]{line}" }

# what of a page is run by others, or by nobody: the rest is what it gives

sub ours {
    my ($block) = @_;

    my ($kind, $at) = ($block->{kind}, where($block));

    if (my $rule = elsewhere($block)) {
        $used{$rule} = 1;
        return 0;
    }

    return 0 if $kind eq 'text';
    return 1 if $kind =~ /^(?:sh|nginx|keys|yaml|promql)\z/;
    return 1 if $kind eq 'json' && $block->{after}
                && $block->{after}{kind} eq 'sh';

    my $file = program($block);

    if ($file) {
        my ($guide) = $file =~ m{guides/(\w+)/};
        my ($name) = $file =~ m{([^/]+)\z};

        return 0 if slurp("$top/t/docs_guides_$guide.t") =~ /\Q$name\E/;
    }

    fail("$at: a block of the kind \"$kind\" that nothing runs");
    diag(<<"END_OF_HELP") if !$helped++;
Kinds that t/docs.t runs by itself are sh, nginx, keys, yaml, promql, and json behind
the sh whose answer it is; text is not run. Code of docs/guides/X.md is a file of
docs/guides/X/, word by word, which t/docs_guides_X.t runs. For all else add a
line to \@elsewhere of t/lib/NgxQueues/Docs.pm: page, kind, a pattern of what the
block has, and the test that takes it from the page and runs it.
END_OF_HELP

    return 0;
}

sub run_nginx {
    my ($block) = @_;

    my $text = $block->{text};

    if ($block->{kind} eq 'keys') {
        local $nginx->{files}{queues_api_keys} = $text;
        unlink glob "$nginx->{dir}/etc/nginx/docs.keys";
        $text = '';
    }

    my ($right, $said) = $nginx->check($text);

    ok($right, where($block) . ": nginx -t") or diag($said);
}

# what is Prometheus', by promtool

sub run_prometheus {
    my ($block) = @_;

    my ($text, $n) = ($block->{text}, 0);

    $text = join '', "groups:\n  - name: docs\n    rules:\n", map {
        '      - record: docs:line:' . ++$n . "\n        expr: "
        . $json->encode($_) . "\n"
    } grep { /\S/ } split /\n/, $text if $block->{kind} eq 'promql';

    my $file = "$nginx->{dir}/prometheus.yml";
    my $what = $text =~ /^groups:/m ? 'rules' : 'config';

    spurt($file, $text);

    my $said = `promtool check $what $file 2>&1`;

    is($?, 0, where($block) . ": promtool check $what") or diag($said);
}

sub run_json {
    my ($block, $answers) = @_;

    my $at = where($block);
    my @shown = eval { shown($block->{text}) };

    ok(@shown > 0, "$at: JSON") or diag($@);

    my @is = @$answers > @shown ? @$answers[-@shown .. -1] : @$answers;
    my @wrong = @is == @shown ? () : 'there are ' . @is . ' answers before it';

    push @wrong, fits($shown[$_], $json->decode($is[$_]), "answer $_")
        for grep { $_ < @is } 0 .. $#shown;

    is(join("\n", @wrong), '', "$at: is what is answered")
        or diag(join "\n", @is);
}

sub run_shell {
    my ($page, @blocks) = @_;

    my $shell = NgxQueues::Docs::Shell->new;
    my %more = %{ $NgxQueues::Docs::server{$page} || {} };

    s{/etc/nginx/}{$shell->etc}ge for values %more;

    my $s = NgxQueues::Server->new(
        locations => 'location / { queues_api; }'
            . 'location /v1/projects/ { queues_pubsub_api acme; }'
            . 'location /api/v1/ { queues_queen_api acme/shop; }'
            . 'location = /health { queues_queen_api acme/shop; }'
            . 'location = /healthz { queues_health; }' . ($more{locations} // ''),
        http => 'client_max_body_size 12m; queues_push_allow_localhost on;'
                . 'queues_oidc_issuer https://queues.example.com; queues_oidc_key '
                . NgxQueues::Jwt->rsa->private . ';'
                . ($more{http} // ''));

    # its functions are in Redis, of which some lines are

    wait_for { $s->client->get('/healthz')->{status} == 200 };
    $shell->of($s);

    my $before = $NgxQueues::Docs::before{$page} // ':';
    my ($prepared, @done) = $shell->run($before, map { $_->{text} } @blocks);
    my $stopped = 0;

    ok($prepared->{ok}, "$page: what it is to have before")
        or diag($prepared->{out});

    for my $i (0 .. $#blocks) {
        last if $stopped;

        ok($done[$i]{ok}, where($blocks[$i]) . ': the lines work')
            or diag($blocks[$i]{text}, '# says ', $done[$i]{out});
        $stopped = !$done[$i]{ok};
        $blocks[$i]{answers} = $done[$i]{answers};
    }

    $s->finish(name => "$page: all ended well");

    return !$stopped;
}

my @pages = @ARGV ? @ARGV : pages();

for my $page (@pages) {
    my @ours = grep { ours($_) } blocks($page);
    my @shell = grep { $_->{kind} eq 'sh' } @ours;

    run_nginx($_) for grep { $_->{kind} =~ /nginx|keys/ } @ours;
    run_prometheus($_) for grep { $_->{kind} =~ /yaml|promql/ } @ours;

    next if @shell && !run_shell($page, @shell);

    for my $block (grep { $_->{kind} eq 'json' } @ours) {
        run_json($block, $block->{after}{answers} || []);
    }
}

# each program of a guide is on its page

for my $page (grep { m{^docs/guides/} } @pages) {
    my %shown = map { (program($_) // '') => 1 } blocks($page);
    my $dir = "$top/" . $page =~ s/\.md\z//r;
    my @left = grep { !$shown{$_} } map { s{^\Q$top/}{}r } grep { -f } glob "$dir/*";

    is("@left", '', "$page shows each program of its folder, word by word");
}

# the list has nothing that is over, and its tests look at their pages

if (!@ARGV) {
    for (@NgxQueues::Docs::elsewhere) {
        my ($page, $kind, $has, $test) = @$_;
        my ($name) = $page =~ m{([^/]+)\z};

        ok($used{$_}, "$page has $kind with $has");
        like(slurp("$top/$test"), qr/\Q$name\E/, "$test runs $kind of $page");
    }

    # and what is said of make in running text is a target

    my %target = map { $_ => 1 }
        map { split ' ' } slurp("$top/Makefile") =~ /^\.PHONY: (.*)$/mg;

    for my $page (@pages) {
        my @none = grep { !$target{$_} }
            slurp("$top/$page") =~ /`make ([a-z][\w-]*)/g;

        is("@none", '', "$page: make has these targets");
    }
}

done_testing;
