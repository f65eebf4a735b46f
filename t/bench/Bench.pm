package Bench;

# What the benchmark's lines have in common: the servers, requests as files for
# the load generator, and its runs. What is made of their numbers: Figures.pm.

use strict;
use warnings;

use Exporter 'import';
use IPC::Open2;
use JSON::PP ();

use NgxQueues::Process qw/slurp spurt/;
use NgxQueues::RedisServer;
use NgxQueues::Server;
use NgxQueues::Wait;

our @EXPORT = qw/build start server redis client queue queues id purge request
                 ack_head load load_start load_stop rounds connections backlog
                 blast fill cycle drain one ten receive_ten receive_one
                 workers used_memory spent dirty commands/;

use constant {
    API => '/v1/organizations/o/projects',
    BASE => 'none',             # the project that "return 200" answers for
    BODY => 'x' x 200,
};

my ($program, $server, $redis, $client);

sub rounds { $ENV{BENCH_ROUNDS} || 7 }
sub connections { $ENV{BENCH_CONNECTIONS} || 32 }
sub backlog { $ENV{BENCH_BACKLOG} || 1_000_000 }


sub build {
    my ($top) = @_;

    my $dir = "$top/build/bench";
    my @files = glob "$top/t/bench/*.c";

    $program = "$dir/load";

    system('mkdir', '-p', $dir) == 0 or die "mkdir $dir\n";
    system($ENV{CC} || 'cc', '-O2', '-W', '-Wall', '-Werror', '-o', $program,
           @files) == 0 or die "the load generator does not compile\n";
}


sub start {
    $ENV{TEST_NGINX_BINARY} = $ENV{NGINX_BINARY} || '/usr/sbin/nginx';
    $ENV{NGX_QUEUES_MODULE} = $ENV{MODULE};
    delete $ENV{NGX_QUEUES_SANITIZE};

    $redis = NgxQueues::RedisServer->new(
        aof => 1, config => ['--auto-aof-rewrite-percentage', 0]);

    $server = NgxQueues::Server->new(
        redis => $redis, connections => 16384, log_level => 'warn',
        main => 'worker_rlimit_nofile 20000;',
        server => 'access_log off; keepalive_requests 1000000000;',
        locations => locations());

    $client = $server->client(timeout => 30);
}

sub locations {
    return 'location ' . API . '/' . BASE . '/ { return 200; } '
           . Queen::locations() . Pubsub::locations()
           . 'location / { queues_api; }';
}

sub server { $server }
sub redis { $redis }
sub client { $client }


# a queue of that name; nothing comes back by itself during a run

sub queue {
    my ($name, %settings) = @_;

    my $r = $client->post(API . '/p/queues', {
        name => $name, visibilityTimeoutSeconds => 43200, %settings });

    die "queue $name: $r->{status} $r->{body}\n" if $r->{status} != 201;

    return $name;
}

# the part of its keys that is its own

sub id {
    my ($name) = @_;

    return $client->get(API . "/p/queues/$name")->{json}{queue} =~ s/^que_//r;
}

sub purge { $client->post(API . "/p/queues/$_/purge", undef) for @_ }

# w0000 and so on: at least so many; returns how many were made now

my $made = 0;

sub queues {
    my ($n) = @_;

    my $more = $n - $made;

    return 0 if $more <= 0;

    load('blast', c => connections(), n => $more, i => $made,
         r => request('p', '',
             { name => 'w####', visibilityTimeoutSeconds => 43200 }));
    $made = $n;

    return $more;
}


# messages as they are sent: one, and ten; for FIFO queues each has a group

sub one {
    my (%more) = @_;

    return { body => BODY, %more };
}

sub ten { { messages => [ map { one(@_) } 1 .. 10 ] } }

sub receive_ten { request('p', "$_[0]/messages/receive",
                          { maxMessages => 10 }) }
sub receive_one { request('p', "$_[0]/messages/receive", {}) }


# the file with a request: project, path below its queues, body

sub request {
    my ($project, $path, $body) = @_;

    return file(post_text(API . "/$project/queues"
                          . ($path eq '' ? '' : "/$path"), $body));
}

sub post_text {
    my ($path, $body) = @_;

    my $text = ref $body ? JSON::PP->new->canonical->encode($body) : $body;

    return head($path, $server->key) . 'Content-Length: ' . length($text)
           . "\r\n\r\n$text";
}

my $ack_head;

sub ack_head { $ack_head ||= file(head('/v1/receipts/ack')) }

sub head {
    my ($path, $key) = @_;

    return "POST $path HTTP/1.1\r\nHost: localhost\r\n"
           . ($key ? "Authorization: Bearer $key\r\n" : '')
           . "Content-Type: application/json\r\n";
}

my %files;

sub file {
    my ($text) = @_;

    return $files{$text} if $files{$text};

    my $name = $server->dir . '/request-' . (1 + keys %files);

    spurt($name, $text);

    return $files{$text} = $name;
}


# the arguments for a run, with all servers

sub arguments {
    my (%options) = @_;

    my $n = 0;
    my @cpu = map { 'cpu=nginx' . $n++ . ":$_" } $server->worker_pids;

    return ("port=" . $server->port, @cpu, 'cpu=redis:' . $redis->pid,
            map { "$_=$options{$_}" } sort keys %options);
}


# runs the generator; its numbers, and "nginx" for all workers together

sub load {
    my ($mode, %options) = @_;

    open my $out, '-|', $program, $mode, arguments(%options)
        or die "$program: $!\n";

    my %numbers = map { /^(\S+) (\S+)$/ ? ($1 => $2) : () } <$out>;

    close $out or die "load $mode failed\n", $server->error_log;

    return sum_workers(\%numbers);
}

sub sum_workers {
    my ($numbers) = @_;

    for my $name (keys %$numbers) {
        $numbers->{"$1nginx"} += $numbers->{$name} if $name =~ /^(.*)nginx\d/;
    }

    return $numbers;
}


# the same request for so many seconds

sub blast {
    my ($seconds, @options) = @_;

    return load('blast', c => connections(), w => 0.2, s => $seconds,
                @options);
}

# so many times ten messages

sub fill {
    my ($queue, $tens, %more) = @_;

    my $message = delete $more{message} || ten();

    return load('blast', c => connections(), n => $tens,
                r => request('p', "$queue/messages", $message), %more);
}

# so many receives of ten, or what else is asked for, and acknowledgements

sub cycle {
    my ($queue, $n, %more) = @_;

    return load('cycle', c => connections(), n => $n, a => ack_head(),
                r => receive_ten($queue), %more);
}

# 100 receives of ten, and then all acknowledgements

sub drain {
    my ($queue) = @_;

    my $n = load('drain', c => 8, n => 100, a => ack_head(),
                 r => receive_ten($queue));

    die "drain: $n->{receive_answers} received, $n->{ack_answers} "
        . "acknowledged\n"
        if $n->{receive_answers} != 1000 || $n->{ack_answers} != 1000;

    return $n;
}


# "park" in the background: returns when all wait

sub load_start {
    my ($mode, %options) = @_;

    my %run;

    $run{pid} = open2($run{out}, $run{in}, $program, $mode,
                      arguments(%options));

    my $line = readline($run{out}) // '';

    die "load $mode failed\n" if $line ne "ready\n";

    return \%run;
}

sub load_stop {
    my ($run) = @_;

    close $run->{in};

    my %numbers = map { /^(\S+) (\S+)$/ ? ($1 => $2) : () }
        readline($run->{out});

    waitpid $run->{pid}, 0;

    return \%numbers;
}


# a fresh worker, or several

sub workers { configure(workers => $_[0]) }

# with more configuration: http, locations

sub configure {
    my (%options) = @_;

    $server->configure(%options);
    $server->reload(drained => 20);
}

# of Redis, once what was purged is freed

sub used_memory {
    wait_for {
        $redis->cli('INFO', 'memory') =~ /^lazyfree_pending_objects:0\b/m
    } 20 or die "Redis does not come to the end of freeing\n";

    my ($bytes) = $redis->cli('INFO', 'memory') =~ /^used_memory:(\d+)/m;

    return $bytes;
}

# seconds of CPU while something is done: { nginx, redis }

sub spent {
    my ($code) = @_;

    my %pids = (nginx => ($server->worker_pids)[0], redis => $redis->pid);
    my %before = map { $_ => cpu_time($pids{$_}) } keys %pids;

    $code->();

    return { map { $_ => cpu_time($pids{$_}) - $before{$_} } keys %pids };
}

sub cpu_time {
    my ($pid) = @_;

    my $ns = 0;

    $ns += (split ' ', slurp($_))[0] // 0
        for glob "/proc/$pid/task/*/schedstat";

    return $ns / 1e9;
}

# bytes that the one worker has written to

sub dirty {
    my ($pid) = $server->worker_pids;
    my ($kb) = slurp("/proc/$pid/smaps_rollup") =~ /^Private_Dirty:\s+(\d+)/m;

    return $kb * 1024;
}

# calls of all commands until now, INFO excepted

sub commands {
    my %calls;

    for (split /\n/, $redis->cli('INFO', 'commandstats')) {
        $calls{$1} = $2 if /^cmdstat_(\S+?):calls=(\d+)/ && $1 ne 'info';
    }

    return \%calls;
}


1;
