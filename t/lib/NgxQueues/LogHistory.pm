package NgxQueues::LogHistory;

# Random histories of logs, judged step by step by NgxQueues::LogModel.
#
#     my $h = NgxQueues::LogHistory->new($server);
#     my $problem = $h->check($seed);    undef, or text: what is wrong, and the
#                                        shortest history found that shows it
#
# The server does what it is told: start (a new world: its name), clock,
# settings, push_, pop_, ack, tx, extend, undo (where it can), dead (dead
# letters); see NgxQueues::LogCalls and ::LogHttp.

use strict;
use warnings;

use List::Util qw(shuffle uniq);
use Time::HiRes qw(time);

use NgxQueues::LogModel;

my @lanes = ('Default', 'Default', 'Default', 'a b', 'a b', 'x\\"y',
             "\xc3\xa9");
my @sizes = ((1) x 12, (2) x 6, (3) x 6, (5) x 6, 70, 130);

my %often = (push => 26, pop => 30, ack => 22, tx => 8, extend => 4, undo => 3,
             pass => 12, find => 4);
my @kinds = map { ($_) x $often{$_} } sort keys %often;


sub new {
    my ($class, $server) = @_;
    return bless { server => $server }, $class;
}

sub pick { $_[int rand @_] }
sub chance { rand() < $_[0] }
sub note { my $h = shift; push @{ $h->{log} }, join ' ', @_ }

# Steps have seeds of their own, so that a history that fails can be made
# shorter.
sub check {
    my ($h, $seed) = @_;

    srand $seed;

    my @steps = map { [ pick(@kinds), int rand 1e9 ] } 1 .. 25 + rand 25;
    my $wrong = $h->run($seed, @steps) // return;

    return join "\n", $h->shorten($seed, $wrong, @steps);
}

# the shortest history with a fault that is found in some seconds
sub shorten {
    my ($h, $seed, $wrong, @steps) = @_;
    my @found = ($wrong, @{ $h->{log} });
    my $until = time + 10;

    for (my $size = int(@steps / 2); $size >= 1; $size = int($size / 2)) {
        for (my $i = 0; $i < @steps && time < $until;) {
            my @less = @steps;
            splice @less, $i, $size;

            if (defined(my $still = $h->run($seed, @less))) {
                @steps = @less;
                @found = ($still, @{ $h->{log} });
            } else {
                $i += $size;
            }
        }
    }

    return @found;
}

sub run {
    my ($h, $seed, @steps) = @_;
    my $s = $h->{server};

    srand $seed;
    @$h{qw(log txn n old)} = ([], 0, 0, []);

    my $m = $h->{model} = NgxQueues::LogModel->new;
    my $world = $s->start;

    @$h{qw(queue ns task)} = ("$world.t.a", $world, 't');

    # groups, and how each one starts
    $h->{modes} = { NgxQueues::LogModel->QUEUE_MODE => 'a', 'g 1' => 'a',
                    'g\\"2' => pick(qw(a n t)), g3 => 'n' };

    $h->{queues} = [ ($h->{queue}) x 5, "$world.t", "$world\\\\\xe2\x82\xac" ];
    $h->{groups} = [ 'g 1', sort keys %{ $h->{modes} } ];
    @$h{qw(lanes sizes bad)} = (\@lanes, \@sizes, 0.4);

    # in some there is one lane, where failures add up, or many messages are;
    # in some there are many lanes
    my $kind = pick(0, 0, 0, 0, 1, 2, 3);

    if ($kind == 3) {
        @$h{qw(queues sizes)} = ([ $h->{queue} ], [ 1, 1, 2 ]);
        $h->{lanes} = [ map { "lane $_" } 1 .. 25 ];
    } elsif ($kind) {
        @$h{qw(queues groups lanes bad)} = ([ $h->{queue} ], [ 'g 1' ],
                                            [ 'Default' ], 0.7);
        $h->{sizes} = [ 10, 49, 51 ] if $kind == 2;
    }

    $h->{kind} = $kind;

    return eval {
        $h->tick(pick(1 .. 5000));
        $h->settings($h->{queue}, $kind == 2 ? (delay => 0, window => 20) : ())
            if $kind % 3 || chance(0.6);

        for my $step (@steps) {
            my ($kind, $seed) = @$step;

            srand $seed;
            $h->tick($s->precise ? pick(0, 0, 1, 3) : pick(2, 5));
            $kind = "do_$kind";
            $h->$kind;
        }

        $h->dead($_) for keys %{ $m->{queues} };

        # where there are other worlds, they would be looked at all the time
        my @problems = $s->precise ? $s->problems : ();
        die "@problems\n" if @problems;
        1;
    } ? undef : $@;
}

# Moments at which something ends are left open: no clock stops at one.
sub tick {
    my ($h, $ms) = @_;
    my $m = $h->{model};
    my %ends;

    for my $lane ($m->lanes) {
        my $q = $lane->{queue};

        $ends{ $_->{expiry} } = 1 for values %{ $lane->{cursors} };
        for my $is (@{ $lane->{msgs} }) {
            $ends{ $is->{ms} + $_ * 1000 } = 1 for grep { $_ } @$q{qw(window
                dedup)};
        }
    }

    $m->{now} ||= $h->{server}->epoch;
    $m->{now} += $ms;
    $m->{now}++ while $ends{ $m->{now} };
    $h->{server}->clock($m->{now});
}

sub settings {
    my ($h, $queue, @more) = @_;
    my %o = (lease => pick(20, 300), retry => pick(0, 0, 1, 1, 3),
             dlq => pick(0, 1), dedup => pick(0, 60, 3600, 3600),
             delay => 0, window => 0, pick(qw(delay window)) => pick(0, 0, 20),
             @more);

    $h->note("settings $queue", map { "$_=$o{$_}" } sort keys %o);
    $h->{model}->queue($queue, %o);
    $h->{server}->settings($queue, %o);
}

sub group { pick(@{ $_[0]{groups} }) }


# some lanes with messages for them, most of them new
sub batch {
    my ($h, $new, $n) = @_;
    my @all;

    for (1 .. $n) {
        my $queue = pick(@{ $h->{queues} });
        my $name = pick(@{ $h->{lanes} });

        next if grep { $_->{queue} eq $queue && $_->{lane} eq $name } @all;

        my $q = $h->{model}{queues}{$queue};
        my $lane = $q && $q->{lanes}{$name};
        my @old = $lane ? map { $_->{txn} } @{ $lane->{msgs} } : ();
        my (@items, %seen);

        for (1 .. pick(@{ $h->{sizes} })) {
            my $txn = @old && !chance($new) ? pick(@old)
                                            : 't\\\\' . ++$h->{txn};
            my $size = pick(0, 0, 0, 0, 5, chance(0.02) ? 20000 : ());

            push @items, [ $txn, pick('null', '{}', ++$h->{n}, '"' . 'x' x $size
                                      . ++$h->{n} . '"') ]
                if !$seen{$txn}++ || $h->{server}->repeats && $q && $q->{dedup};
        }

        push @all, { queue => $queue, lane => $name, items => \@items };
    }

    return \@all;
}

sub show {
    join '; ', map {
        my $g = $_;
        my $of = ref $g->{lane}
            ? "$g->{lane}{queue}{name}/$g->{lane}{name}"
            : "$g->{queue}/$g->{lane}";

        join ' ', $of,
            defined $g->{group} ? "group $g->{group}" : (),
            defined $g->{lease} ? "lease '$g->{lease}'" : (),
            map { @$_ > 2 ? "$_->[0]:$_->[1]" : "$_->[0]="
                  . substr $_->[1], 0, 20 } @{ $g->{items} }
    } @_;
}

sub do_push {
    my ($h) = @_;
    my $n = pick(1, 1, 2, 3, $h->{kind} == 3 ? (8, 12) : ());
    my $groups = $h->batch(0.85, $n);

    $h->note('push', show(@$groups));
    my $answer = $h->{server}->push_($groups);
    $h->note('  ', map { join(' ', map { $_->{dup} ? "dup $_->{key}"
                                                   : $_->{key} } @$_) . ';' }
                   @$answer);
    $h->{model}->push_({ groups => $groups }, $answer);
}


sub do_pop {
    my ($h) = @_;
    my $group = $h->group;
    my $queue = pick(@{ $h->{queues} });

    $h->popped(queue => $queue, group => $group, mode => $h->{modes}{$group},
               chance(0.25) ? (lane => pick(@{ $h->{lanes} })) : ());
}

sub do_find {
    my ($h) = @_;

    $h->popped(pick([ ns => $h->{ns}, task => '' ], [ ns => $h->{ns},
        task => $h->{task} ])->@*, group => pick('g 1',
        NgxQueues::LogModel->QUEUE_MODE), mode => 'a');
}

sub popped {
    my ($h, %op) = @_;
    my $m = $h->{model};

    %op = (%op, batch => pick(1, 2, 3, 5, 10, 10, 100),
           partitions => pick(1, 1, 2, 3, 10), auto => chance(0.1),
           seconds => pick('', '', 15, 60, 400),
           from => $m->{now} - pick(1, 50, 5000, 100000));

    $h->note('pop', map { "$_=" . ($op{$_} || 0) } sort keys %op);

    # with next 0 there may be more that was not looked at

    for (1 .. 20) {
        my $answer = $h->{server}->pop_(\%op);

        next if !@{ $answer->{lanes} } && ($answer->{next} // -1) == 0;

        $h->note("  lease '$answer->{lease}' next", $answer->{next} // '?',
            map { ("$_->{name}:", map { $_->{txn} } @{ $_->{messages} }) }
            @{ $answer->{lanes} });
        push @{ $h->{old} }, $answer->{lease} if $answer->{lease} ne '';
        return $m->pop_(\%op, $answer);
    }

    die "next is 0 again and again\n";
}


# cursors that have something to be acked, most of them leased
sub some {
    my ($h, $n) = @_;
    my @all = grep { defined $_->{lane}{id} }
              map { my $l = $_; map { $l->{cursors}{$_} }
                    sort keys %{ $l->{cursors} } }
              sort { "$a->{queue}{name} $a->{name}"
                     cmp "$b->{queue}{name} $b->{name}" } $h->{model}->lanes;
    my @leased = grep { $h->{model}->live($_) } @all;
    my @from = shuffle @leased && chance(0.9) ? @leased : @all;

    return @from > $n ? @from[0 .. $n - 1] : @from;
}

sub lease {
    my ($h, $c) = @_;
    my $lease = chance(0.85) ? $c->{lease}
        : pick('', '', pick(@{ $h->{old} }, 'x'), 'nobody');

    # an uncertain counter would be seen by nothing
    return $lease eq '' && $c->{lease} eq '' && !$c->{lane}{queue}{dlq}
        ? 'nobody' : $lease;
}

sub items {
    my ($h, $c) = @_;
    my @m = @{ $c->{lane}{msgs} };
    my @ids = map { $_->{txn} }
              grep { $_->{off} > $c->{committed} && $_->{off} <= $c->{last} }
              @m;
    my $bad = chance($h->{bad});

    @ids = $ids[-1] if @ids && chance(0.15);
    @ids = @ids[0 .. rand @ids] if @ids && chance(0.25);
    @ids = grep { chance(0.7) } @ids if chance(0.2);
    push @ids, map { $_->{txn} } pick(@m) if @m && chance(0.2);
    push @ids, 'unknown' if chance(0.06);
    @ids = shuffle @ids if chance(0.3);
    push @ids, pick(@ids) if @ids && chance(0.05);

    my @fails = $h->{server}->blur =~ /x/ && $h->{model}->unsure($c) ? () : qw(f f f);

    return map { [ $bad && chance($h->{bad}) ? pick(@fails, qw(r d)) : 'c', $_,
                   chance(0.5) ? 'went wrong' : '' ] }
           grep { !$h->{model}->ambiguous($c, $_) } @ids;
}

sub acks {
    my ($h, $n, @group) = @_;
    my @groups;

    for my $c ($h->some($n)) {
        next if @group && $c->{group} ne $group[0];

        my @items = $h->items($c) or next;
        my $lease = $h->lease($c);

        push @groups, { lane => $c->{lane}, group => $c->{group},
                        lease => $lease, items => \@items };
    }

    return @groups;
}

sub do_ack {
    my ($h) = @_;
    my $group = $h->group;
    my ($c) = $h->some(1);

    $group = $c->{group} if $c && chance(0.95);

    # of a group that may have nothing to do with the lane

    my @groups = $h->acks(pick(1, 4, 8), $group);

    if (!@groups) {
        return if !$c;
        my @items = $h->items($c) or return;
        @groups = { lane => $c->{lane}, group => $group, lease => pick('', 'x'),
                    items => \@items };
        my $other = $c->{lane}{cursors}{$group};
        return if $other && grep { $h->{model}->ambiguous($other, $_->[1]) }
                            @items;
    }

    $h->note("ack $group", show(@groups));
    my $answer = $h->{server}->ack($group, \@groups);
    $h->note('  ', map { "@$_" } @$answer);
    $h->{model}->ack({ groups => \@groups, group => $group }, $answer,
                     $h->{server}->blur);
}

sub do_tx {
    my ($h) = @_;
    my @acks = $h->acks(pick(0, 1, 2));
    my $push = $h->batch(0.97, @acks ? pick(0, 1, 2) : pick(1, 2));
    my @leases = map { chance(0.5) ? $_->{lease} : () } @acks;

    push @leases, pick(@{ $h->{old} }, 'x') if chance(0.15);
    @leases = uniq grep { $_ ne '' } @leases;

    my %op = (push => $push, acks => \@acks, leases => \@leases);

    $h->note('tx leases', "@leases;", show(@$push), '; acks', show(@acks));
    my $answer = $h->{server}->tx(\%op);
    $h->note('  ', $answer->{ok} ? ('ok', map { "@$_" } @{ $answer->{acks} })
             : ('failed', $answer->{reason} // '?'));
    $h->{model}->tx(\%op, $answer, $h->{server}->blur . 'n');
}


sub do_extend {
    my ($h) = @_;
    my @old = @{ $h->{old} };
    my $lease = pick('x', @old, (@old ? $old[-1] : ()) x 3);
    my $seconds = pick(1, 30, 60, 500);

    $h->note("extend $lease $seconds");
    my @answer = $h->{server}->extend($lease, $seconds);
    $h->note("   @answer");
    $h->{model}->extend($lease, $seconds, @answer);
}

sub do_undo {
    my ($h) = @_;
    my $lease = @{ $h->{old} } ? $h->{old}[-1] : return;

    return if !$h->{server}->precise || !$h->{model}->under($lease);

    $h->note("undo $lease");
    $h->{model}->undo($lease, $h->{server}->undo($lease));
}

sub do_pass {
    my ($h) = @_;
    my $ms = pick(40, 5000, 21000, 61000, 100000, 310000, chance(0.2) ? 4e6
                                                                    : 2000);
    $h->note("pass $ms");
    $h->tick($ms);
}

sub dead {
    my ($h, $queue) = @_;
    my $q = $h->{model}{queues}{$queue};
    my @want = sort map { my $l = $_;
                          map { "$l->{name} $_->{m}{txn}" } @{ $l->{dead} } }
                    values %{ $q->{lanes} };
    my @got = sort $h->{server}->dead($queue);

    die "dead letters of $queue: @got, not @want\n" if "@got" ne "@want";
}


1;
