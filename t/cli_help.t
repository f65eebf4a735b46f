#!/usr/bin/perl

# The help of queuectl, its man page and its completion: each knows every
# command and every flag.

use strict;
use warnings;

use Test::More;

use NgxQueues::Cli;
use NgxQueues::Process qw/slurp spurt temp_dir/;
use NgxQueues::Pubsub;
use NgxQueues::Queen;
use NgxQueues::Queue;
use NgxQueues::Server;

my $top = $NgxQueues::Process::top;
my $c = NgxQueues::Cli->new;
my $all = $c->ok('--help')->{out};

is($all, $c->ok('help')->{out}, 'help and --help');
is($all, $c->ok('-h')->{out}, 'and -h');
like($c->ok('--version')->{out}, qr/^queuectl \d+\.\d+\.\d+ \(libcurl/, 'the version');
like($c->ok('-V')->{out}, qr/^queuectl/, 'and -V');
is((grep { length > 100 } split /\n/, $all), 0, 'lines are no longer than 100');

my ($list, $flags) = $all =~ /^The Queues API:\n(.*?)\n\nFlags of all commands:\n(.*?)\n\n/ms;
my @commands = map { /^  ((?:[a-z]+ )?[a-z-]+)  / ? $1 =~ s/ +$//r : () }
    split /\n/, $list;

my %groups = map { /^(\S+) \S/ ? ($1 => 1) : () } @commands;
my @groups = sort keys %groups;

cmp_ok(scalar @commands, '>=', 28, 'there are commands');

# the flags of a help: [letter, name, whether it has a value]

sub flags {
    return map { /^  (?:-(\S), |    )--(\S+)(?: (\S+))?  / ? [$1, $2, $3]
                 : die "no flag: $_" } split /\n/, $_[0];
}

my @global = flags($flags);
my %flags;

for my $command (@commands) {
    my @words = split / /, $command;
    my $help = $c->ok(@words, '--help')->{out};

    is($help, $c->ok('help', @words)->{out}, "help $command");
    like($help, qr/\A[A-Z].+\n\nUsage:\n  queuectl $command\b/, 'with its usage');
    like($help, qr/^Flags of all commands:\n\Q$flags\E$/m, 'and all flags');

    my ($own) = $help =~ /^Flags:\n(.*?)\n\n/ms;

    $flags{$command} = [$own ? flags($own) : ()];

    my (%seen, @twice);

    for (@{ $flags{$command} }, @global) {
        push @twice, $_->[1] if $seen{"--$_->[1]"}++;
        push @twice, $_->[0] if defined $_->[0] && $seen{"-$_->[0]"}++;
    }

    is("@twice", '', 'no flag and no letter twice');

    # the examples of a help are of that command, and none has flags that it
    # has not

    for my $example ($help =~ /^  (queuectl .*)$/mg) {
        next if $example !~ /^queuectl $command /;

        my @unknown = grep { my $flag = $_; !grep { $_->[1] eq $flag }
                             @{ $flags{$command} }, @global }
            $example =~ s/\|.*//r =~ / --([a-z-]+)/g;

        is("@unknown", '', "example: $example");
    }
}

for my $group (@groups) {
    my $help = $c->ok($group, '--help')->{out};
    my @of = grep { /^$group / } @commands;

    is((grep { $help !~ /^  $_  /m } @of), 0, "$group --help has its commands");
    is($c->run($group)->{status}, 2, "$group alone: usage");
}

# the man page

my $page = slurp("$top/docs/queuectl.1") =~ s/\\-/-/gr;
my ($part) = $page =~ /^\.SH COMMANDS\n(.*?)^\.SH /ms;
my %section = map { /^queuectl ((?:[a-z]+ )?[a-z-]+)/
                    && exists $flags{$1 =~ s/ +$//r} ? ($1 =~ s/ +$//r => $_)
                    : /^queuectl (\S+)/ ? ($1 => $_) : () }
    split /^\.TP\n\.B (?=queuectl )/m, $part;

sub documented {
    my ($text, @flags) = @_;

    return join ' ', grep { defined } map {
        my $line = ($_->[0] ? "-$_->[0], " : '') . "--$_->[1]"
                   . (defined $_->[2] ? " $_->[2]" : '');

        $text =~ /^\.B \Q$line\E$/m ? undef : $line
    } @flags;
}

for my $command (@commands) {
    is(documented($section{$command} // '', @{ $flags{$command} }), '',
       "man page: $command");
    ok(exists $section{$command}, 'is there');

    my %has = map { ("--$_->[1]" => 1) } @{ $flags{$command} };
    my @stray = grep { !$has{$_} }
        ($section{$command} // '') =~ /^\.B (?:-., )?(--\S+)/mg;

    is("@stray", '', 'with no other flags');
}

is(join(' ', sort keys %section), join(' ', sort @commands),
   'man page: no other commands');
is(documented($page =~ /^\.SH FLAGS OF ALL(.*?)^\.SH /ms, @global), '',
   'man page: flags of all commands');

my $warnings = $c->run({ command => ['groff', '-man', '-ww', '-Tascii', '-z',
                                     "$top/docs/queuectl.1"] });

is("$warnings->{status}|$warnings->{err}", '0|', 'man page: groff reads it');

# the completion, as bash asks for it

my $bin = temp_dir();
my $s = NgxQueues::Server->new(locations => 'location / { queues_api; }'
                               . ' location /api/v1/ { queues_queen_api o/p; }'
                               . 'location /v1/projects/ { queues_pubsub_api o; }');
my $p = NgxQueues::Pubsub->new($s, project => 'p');

NgxQueues::Queue->new($s, name => $_) for qw/orders other payments/;
my $log = NgxQueues::Queen->new($s);

$log->configure($_) for qw/clicks clocks views/, "b \$(touch $bin/run); *";
$p->topic($_) for qw/news views/;
$p->sub($_, 'news') for qw/mine yours/;
$p->put('snapshots', 'before', { subscription => $p->name('subscriptions', 'mine') });

symlink $c->binary, "$bin/queuectl" or die $!;
spurt("$bin/complete", <<'BASH');
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_queuectl
printf '%s\n' "${COMPREPLY[@]}"
BASH

my %env = (PATH => "$bin:$ENV{PATH}", QUEUES_URL => $s->url, QUEUES_KEY => $s->key,
           QUEUES_PROJECT => 'o/p');

sub complete {
    my (@words) = @_;

    my $r = $c->run({ env => \%env,
                      command => ['bash', "$bin/complete", "$top/docs/queuectl.bash",
                                  'queuectl', @words] });

    return $r->{status} ? "status $r->{status}" : $r->{err} ne '' ? $r->{err}
           : join ' ', sort @{ $r->{lines} };
}

my %first = map { (split / /)[0] => 1 } @commands, 'help';

is(complete(''), join(' ', sort keys %first), 'completion: first words');

for my $group (@groups) {
    is(complete($group, ''), join(' ', sort map { /^$group (.*)/ ? $1 : () }
                                  @commands), "completion: $group");
}

for my $command (@commands) {
    is(complete(split(/ /, $command), '--'),
       join(' ', sort map { "--$_->[1]" } @{ $flags{$command} }, @global),
       "completion: flags of $command");
}

# a flag with a value takes the next word: it is no argument of the command

my %taking = map { defined $_->[2] ? ($_->[1] => 1) : () }
    map({ @$_ } values %flags), @global;

delete @taking{qw/endpoint project key key-file config cacert/};

for my $flag (sort keys %taking) {
    is(complete('send', "--$flag", 'value', 'ord'), 'orders',
       "completion: --$flag takes a word");
}

is(complete(qw/receive o/), 'orders other', 'completion: queues');
is(complete(qw/queues get -q p/), 'payments', 'after a switch');
is(complete(qw/receive orders/, ''), '', 'one is enough');
is(complete(qw/logs get c/), 'clicks clocks', 'logs');
is(complete(qw/logs get b/), "b\\ \\\$\\(touch\\ $bin/run\\)\\;\\ \\*", 'a name of any text is quoted');
is(complete('logs', 'get', 'b\ '), complete(qw/logs get b/), 'and goes on as it was');
ok(!-e "$bin/run", 'nothing in it is run');
$log->push('clicks', map { { partition => $_, payload => 1 } } qw/acct-1 acct-2 other/);
$log->push('clocks', { partition => 'acct-3', payload => 1 });
$log->pop('clicks', consumerGroup => $_) for 'bill', 'book \'s';
$log->pop('clocks', consumerGroup => $_) for 'bill', 'build';

for my $what ('group', 'seek', 'delete-group', 'pop clicks --all --group', 'dead clocks -g') {
    my %of = ('pop clicks --all --group' => "bill book\\ \\'s", 'dead clocks -g' => 'bill build');

    is(complete('logs', split(/ /, $what), 'b'), $of{$what} // "bill book\\ \\'s build",
       "groups: $what");
}

is(complete('logs', $_, 'bill', 'cl'), 'clicks clocks', "$_: of a log") for qw/seek delete-group/;
is(complete(qw/logs group bill/, ''), '', 'one is enough');
is(complete('logs', split(/ /), '--partition', 'ac'), 'acct-1 acct-2', "partitions: $_")
    for 'push clicks', 'pop clicks', 'messages clicks', 'seek bill clicks';
is(complete(qw/logs push --partition/, ''), '', 'of no log: none');
is(complete(qw/logs push nowhere --partition/, ''), '', 'of one that there is not');
is(complete(qw/queues redrive orders --destination o/), 'orders other',
   'queues of flags');
is(complete(qw/topics get/, ''), 'news views', 'topics');
is(complete(qw/topics subscribe news s --dead-letter-topic v/), 'views', 'of flags');
is(complete(qw/subs seek mine --snapshot/, ''), 'before', 'snapshots');
is(complete(qw/subs get/, ''), 'mine yours', 'their subscriptions');
is(complete(qw/subs push-to mine/, ''), 'none', 'and where they are pushed to');
is(complete(qw/peek orders --state/, ''), 'delayed inFlight visible', 'values');
is(complete(qw/config set key/), 'key key-file', 'settings');
is(complete(qw/send orders --file/, "$bin/comp"), "$bin/complete", 'files');

$env{QUEUES_URL} = 'http://127.0.0.1:1';
is(complete(qw/receive o/), '', 'no server: none, and no word of it');
is(complete('logs', split(/ /), ''), '', "$_: likewise") for 'group', 'push clicks --partition';
is(complete('--endpoint', $s->url, qw/receive o/), 'orders other',
   'the server of the line');

$s->finish;
done_testing;
