#!/usr/bin/perl

# What docs/examples/ has for Prometheus and Grafana: the configuration and the
# alert rules by promtool, with their own tests; of the dashboard each expression.
# All ask for metrics, and labels of them, that docs/operations.md tells of.

use strict;
use warnings;

use File::Copy 'copy';
use File::Temp 'tempdir';
use JSON::PP;
use Test::More;

use NgxQueues::Process 'slurp';

chdir $NgxQueues::Process::top or die $!;

my $dir = tempdir('ngxq-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $json = JSON::PP->new->utf8;

sub promtool {
    my ($what, @args) = @_;
    my $said = `cd $dir && promtool @args 2>&1`;

    is($?, 0, $what) or diag($said);
}

sub written {
    my ($name, $text) = @_;

    open my $f, '>', "$dir/$name" or die "$dir/$name: $!\n";
    print $f $text;
    close $f or die $!;
}

copy($_, $dir) or die "$_: $!\n" for glob 'docs/examples/prometheus/*';
written('queues.key', "key\n");

promtool('the configuration', 'check config prometheus.yml');
promtool('the alert rules', 'check rules alerts.yml');
promtool('their tests', 'test rules alerts_test.yml');

my $alerts = slurp('docs/examples/prometheus/alerts.yml');
my $tests = slurp('docs/examples/prometheus/alerts_test.yml');
my @names = $alerts =~ /^ *- alert: (\w+)$/mg;

cmp_ok(scalar @names, '>', 10, 'there are rules');
is(join(' ', grep { $tests !~ /alertname: $_\n *eval_time: \w+\n *exp_alerts:/ } @names), '',
   'each has a test in which it fires');

# the dashboard

my $dashboard = $json->decode(slurp('docs/examples/grafana/ngx_queues.json'));
my (@wrong, %ids, %taken, @expressions);

cmp_ok($dashboard->{schemaVersion}, '>=', 36, 'dashboard: of Grafana 9');
is($dashboard->{__inputs}[0]{type}, 'datasource', 'whoever imports it names a datasource');

my $source = { type => 'prometheus', uid => "\${$dashboard->{__inputs}[0]{name}}" };

for my $panel (@{ $dashboard->{panels} }) {
    my ($x, $y, $w, $h) = @{ $panel->{gridPos} }{qw(x y w h)};
    my $title = $panel->{title};

    push @wrong, "$title: its id is of another one" if $ids{ $panel->{id} }++;
    push @wrong, "$title: it is wider than all" if $x + $w > 24;

    for my $at (map { my $row = $_; map { "$_,$row" } $x .. $x + $w - 1 } $y .. $y + $h - 1) {
        push @wrong, "$title: $at is of $taken{$at}" if $taken{$at};
        $taken{$at} = $title;
    }

    next if $panel->{type} eq 'row';

    push @wrong, "$title: no expression" unless @{ $panel->{targets} };

    for my $asked ($panel, @{ $panel->{targets} }) {
        is_deeply($asked->{datasource}, $source, "$title: its datasource")
            or push @wrong, "$title: another datasource";
    }

    push @expressions, map { [ $title, $_->{expr} ] } @{ $panel->{targets} };
}

is(join("\n", @wrong), '', 'the panels');

my %variables = map { $_ => 1 } '__rate_interval',
                map { $_->{name} } @{ $dashboard->{templating}{list} };

is(join(' ', grep { !$variables{$_} } map { $_->[1] =~ /\$(\w+)/g } @expressions), '',
   'the variables are there');

my $n = 0;

written('dashboard.yml', $json->encode({ groups => [ {
    name => 'dashboard', rules => [ map { {
        record => 'panel:' . $n++,
        expr => $_->[1] =~ s/\$__rate_interval/5m/gr =~ s/\$\w+/.*/gr,
    } } @expressions ],
} ] }));
promtool("its $n expressions", 'check rules dashboard.yml');

# what they ask for: each family of the table, with the labels that it has there

my %labels;

for (grep { /^\| `queues_\w/ } split /\n/, slurp('docs/operations.md')) {
    my ($name, $of, $type) = /^\| `(\w+)(?:\{(.*?)\})?` \| (counter|gauge|histogram) \|/
        or next;
    my %of = map { $_ => 1 } split(/,/, $of // ''), qw(instance job);

    if ($type eq 'histogram') {
        $labels{"${name}_$_"} = { %of } for qw(sum count);
        $labels{"${name}_bucket"} = { %of, le => 1 };
    } else {
        $labels{$name} = \%of;
    }
}

cmp_ok(scalar keys %labels, '>', 30, 'there is a table of families');

my @asked = ((map { [ "alert $_->[0]", $_->[1] ] }
              map { [ /^ *- alert: (\w+)/, /expr: (.*?)\n +(?:for|labels):/s ] }
              split /^(?= *- alert:)/m, $alerts =~ s/.*?^(?= *- alert:)//msr),
             @expressions,
             map { [ "variable $_->{name}", $_->{definition} ] }
             @{ $dashboard->{templating}{list} });

@wrong = ();

for (@asked) {
    my ($where, $text) = @$_;

    # label_values(SELECTOR, LABEL)
    $text .= " by ($1)" if $text =~ /^label_values\(.*, (\w+)\)$/;

    my %by = map { $_ => 1 } map { split /, */ } $text =~ /\b(?:by|on) \(([^)]*)\)/g;
    my %has;

    while ($text =~ /\b(queues_\w+)(?:\{([^}]*)\})?/g) {
        my ($name, $selector) = ($1, $2 // '');

        push @wrong, "$where: $name" and next unless $labels{$name};
        $has{$_} = 1 for keys %{ $labels{$name} };
        push @wrong, map { "$where: $name has no $_" } grep { !$labels{$name}{$_} }
                     $selector =~ /(\w+)(?:=~|=|!=|!~)"/g;
    }

    push @wrong, map { "$where: nothing has $_" } grep { %has && !$has{$_} } sort keys %by;
}

is(join("\n", @wrong), '', 'all of it is there');

my $all = join ' ', map { $_->[1] } @asked;

is(join(' ', grep { !/_(?:sum|count)$/ && $all !~ /\b$_\b/ } sort keys %labels), '',
   'and every family is asked for');

done_testing;
