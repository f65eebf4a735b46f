package Soak::Faults;

# What is done to the server meanwhile, and when it was over:
#
#     fault  kind, number; pids of workers that end
#     left   kind, pid, seconds: a worker that a reload replaced has ended
#
# begin is when it was done; end when Redis answers again, or the new workers
# serve. Kinds:
#
#     redis    killed by SIGKILL, and started again on the same directory
#     worker   killed by SIGKILL
#     nap      a worker does not run for some seconds
#     reload
#     term     nginx is ended by SIGTERM, at once, and started again
#     node     master and workers are killed by SIGKILL, and started again
#     stop     Redis does not run for three seconds, which nobody may notice
#     freeze   nor for so long that commands or links are given up; nginx
#              reloads meanwhile
#     kick     Redis closes the connections for commands, for hints, or both
#     flush    FUNCTION FLUSH
#     full     Redis' memory is full, and nginx reloads meanwhile
#     rewrite  Redis writes its file anew, and is killed meanwhile
#     replica  Redis is a replica for two seconds
#     limit    Redis closes all connections and takes no new ones for a second

use strict;
use warnings;

use List::Util qw/max shuffle/;
use Time::HiRes 'sleep';

use NgxQueues::Wait 'scaled';
use Soak::Journal 'now';

# seconds between two of them, at least
my $short = 2.5;

sub new {
    my ($class, %options) = @_;

    return bless { leaving => {}, count => {}, lag => 0, %options }, $class;
}

# one after another over so many seconds; %many: kind => how many

sub run {
    my ($self, $seconds, %many) = @_;

    my @kinds = shuffle map { ($_) x $many{$_} } sort keys %many;
    my $begin = now;
    my $each = $seconds / (@kinds + 1);

    # some of the others happen while Redis is away

    my $inside = int(($many{redis} || 0) / 2);

    for my $i (1 .. $#kinds) {
        last if !$inside;
        next if $kinds[$i - 1] ne 'redis'
                || $kinds[$i] !~ /^(?:worker|reload)$/;

        $kinds[$i - 1] = "redis $kinds[$i]";
        $kinds[$i] = '';
        $inside--;
    }

    for my $i (0 .. $#kinds) {
        $self->rest(max $short, $begin + ($i + 0.8 + rand 0.4) * $each - now);

        my ($kind, $within) = split / /, $kinds[$i] or next;

        $self->$kind($within);
    }

    $self->rest(max $short, $begin + $seconds - now);
}

# the pauses tell how late this machine is with everything

sub rest {
    my ($self, $seconds) = @_;

    my $until = now() + $seconds;

    while ((my $begin = now) < $until) {
        sleep 0.02;
        $self->{lag} = max($self->{lag}, now() - $begin - 0.02);
        $self->look;
    }
}

sub look {
    my ($self) = @_;

    my $now = now;

    return if $now < ($self->{looked} // 0) + 0.2;
    $self->{looked} = $now;
    $self->{look}->();

    for my $pid (keys %{ $self->{leaving} }) {
        next if NgxQueues::Server::alive($pid);

        my $since = delete $self->{leaving}{$pid};

        $self->{journal}->write(gone => $since, $now,
                                { kind => 'worker', pid => $pid });
    }
}

sub done {
    my ($self, $kind, $begin, @pids) = @_;

    my $end = now;
    my $number = ++$self->{count}{$kind};

    $self->{journal}->write(fault => $begin, $end,
                            { kind => $kind, number => $number }, @pids);
    $self->{say}->(sprintf '%-7s %2d  %.2f s', $kind, $number, $end - $begin);
}

sub redis {
    my ($self, $within) = @_;

    my $redis = $self->{server}->redis;
    my $begin = now;

    $redis->kill;
    $self->rest(rand 0.6);

    # until Redis is back, what is inside is a part of this fault as well

    $self->$within if $within;
    $self->rest(rand 0.6);

    $redis->start;
    $self->done(redis => $begin);
}

sub worker {
    my ($self) = @_;

    my @pids = $self->{server}->worker_pids;
    my $begin = now;
    my $pid = $self->{server}->kill_worker($pids[rand @pids]);

    $self->done(worker => $begin, $pid);
}

sub nap {
    my ($self) = @_;

    my @pids = $self->{server}->worker_pids;
    my $pid = $pids[rand @pids];
    my $begin = now;

    kill STOP => $pid;
    $self->rest(1 + rand 3);            # commands wait for 5 s
    kill CONT => $pid;
    $self->done(nap => $begin, $pid);
}

sub reload {
    my ($self) = @_;

    my @old = $self->{server}->worker_pids;
    my $begin = now;

    $self->{server}->reload;
    $self->{leaving}{$_} = $begin for @old;
    $self->done(reload => $begin, @old);
}

sub term {
    my ($self) = @_;

    my $begin = now;

    $self->{server}->terminate;
    $self->{server}->start;
    $self->done(term => $begin);
}

sub node {
    my ($self) = @_;

    my $begin = now;

    $self->{server}->kill;
    $self->{server}->start;
    $self->done(node => $begin);
}

sub stop {
    my ($self) = @_;

    $self->hold(stop => 3);
}

sub freeze {
    my ($self) = @_;

    $self->hold(freeze => 5.5 + rand 9);
}

sub hold {
    my ($self, $kind, $seconds) = @_;

    my $begin = now;

    $self->{server}->redis->stop;
    $self->rest($seconds / 2);
    $self->reload if $kind eq 'freeze';
    $self->rest($seconds / 2);
    $self->{server}->redis->cont;
    $self->done($kind => $begin);
}

sub kick {
    my ($self) = @_;

    my $begin = now;
    my $client = $self->{server}->redis->client;

    for my $type ((['normal'], ['pubsub'], [qw/normal pubsub/])[rand 3]) {
        $client->call(qw/CLIENT KILL TYPE/, $_) for @$type;
    }

    $self->done(kick => $begin);
}

sub flush {
    my ($self) = @_;

    my $begin = now;

    $self->{server}->redis->client->call(qw/FUNCTION FLUSH/);
    $self->done(flush => $begin);
}

sub full {
    my ($self) = @_;

    my $begin = now;
    my $client = $self->{server}->redis->client;

    $client->call(qw/CONFIG SET maxmemory 1/);
    $self->rest(1);
    $self->reload;
    $self->rest(1);
    $client->call(qw/CONFIG SET maxmemory 0/);
    $self->done(full => $begin);
}

sub rewrite {
    my ($self) = @_;

    my $begin = now;

    $self->{server}->redis->client->call('BGREWRITEAOF');
    $self->rest(rand 0.1);
    $self->redis;
    $self->done(rewrite => $begin);
}

sub replica {
    my ($self) = @_;

    my $begin = now;
    my $client = $self->{server}->redis->client;

    $client->call(qw/REPLICAOF 127.0.0.1 1/);
    $self->rest(2);
    $client->call(qw/REPLICAOF NO ONE/);
    $self->done(replica => $begin);
}

sub limit {
    my ($self) = @_;

    my $begin = now;
    my $client = $self->{server}->redis->client;

    $client->call(qw/CONFIG SET maxclients 1/);
    $client->call(qw/CLIENT KILL TYPE/, $_) for qw/normal pubsub/;
    $self->rest(1);
    $client->call(qw/CONFIG SET maxclients 4000/);
    $self->done(limit => $begin);
}

# what has not ended after so many seconds

sub stay {
    my ($self, $seconds) = @_;

    my $deadline = now() + scaled($seconds);

    while (%{ $self->{leaving} } && now() < $deadline) {
        $self->rest(0.3);
    }

    return sort keys %{ $self->{leaving} };
}

1;
