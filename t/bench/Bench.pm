package Bench;

# What the benchmark's lines have in common: the servers, requests as files for
# the load generator, its runs, and the table.

use strict;
use warnings;

use Exporter 'import';
use IPC::Open2;
use JSON::PP ();

use NgxQueues::Process qw/slurp spurt/;
use NgxQueues::RedisServer;
use NgxQueues::Server;
use NgxQueues::Wait;

our @EXPORT = qw/build start server redis client queue request ack_head
                 load load_start load_stop cpu_of median row table note
                 workers used_memory dirty commands/;

use constant {
    API => '/v1/organizations/o/projects',
    BASE => 'none',             # the project that "return 200" answers for
};

my ($program, $server, $redis, $client, @rows, @notes);


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

    my ($api, $base) = (API, BASE);

    $server = NgxQueues::Server->new(
        redis => $redis, connections => 16384, log_level => 'warn',
        main => 'worker_rlimit_nofile 20000;',
        server => 'access_log off; keepalive_requests 1000000000;',
        locations => "location $api/$base/ { return 200; }"
                     . 'location / { queues_api; }');

    $client = $server->client(timeout => 30);
}

sub server { $server }
sub redis { $redis }
sub client { $client }


# a queue of that name; nothing comes back by itself during a run

sub queue {
    my ($name) = @_;

    my $r = $client->post(API . '/p/queues',
                          { name => $name, visibilityTimeoutSeconds => 43200 });

    die "queue $name: $r->{status} $r->{body}\n" if $r->{status} != 201;

    return $name;
}


# the file with a request: project, path below its queues, body

sub request {
    my ($project, $path, $body) = @_;

    my $text = ref $body ? JSON::PP->new->canonical->encode($body) : $body;

    return file(head(API . "/$project/queues/$path", $server->key)
                . 'Content-Length: ' . length($text) . "\r\n\r\n$text");
}

sub ack_head { file(head('/v1/receipts/ack')) }

sub head {
    my ($path, $key) = @_;

    return "POST $path HTTP/1.1\r\nHost: localhost\r\n"
           . ($key ? "Authorization: Bearer $key\r\n" : '')
           . "Content-Type: application/json\r\n";
}

my $nfiles = 0;

sub file {
    my ($text) = @_;

    my $name = $server->dir . '/request-' . ++$nfiles;

    spurt($name, $text);

    return $name;
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


# µs of CPU for each of the answers times "each": (nginx, Redis)

sub cpu_of {
    my ($numbers, $each, $prefix) = @_;

    $prefix //= '';

    my $n = $numbers->{"${prefix}answers"} * ($each || 1) or die "no answers\n";

    return map { $numbers->{"$prefix$_"} / $n * 1e6 } 'nginx', 'redis';
}


# a fresh worker, or several

sub workers {
    my ($n) = @_;

    $server->configure(workers => $n);
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


sub median {
    my @sorted = sort { $a <=> $b } @_;

    return @sorted % 2 ? $sorted[$#sorted / 2]
        : ($sorted[@sorted / 2] + $sorted[@sorted / 2 - 1]) / 2;
}


# row(what => …, rate => …, cpu => [[nginx, Redis], …], load => [shares],
#     values => [text, met or not or undef, target] …)

sub row {
    my ($what, %row) = @_;

    push @rows, { what => $what, %row };
    print STDERR "  $what\n";
}

sub note { push @notes, @_ }

sub table {
    my $form = "%-39s %9s %7s %7s %5s  %-16s %-10s %s\n";
    my $text = sprintf $form, 'what', 'per s', 'nginx', 'Redis', 'load',
                       'result', 'target', 'met';

    $text .= '-' x 107 . "\n";

    for my $row (@rows) {
        my @values = @{ $row->{values} || [] };
        my $cpu = $row->{cpu};
        my @first = (
            $row->{what},
            defined $row->{rate} ? sprintf '%.0f', $row->{rate} : '',
            $cpu ? map { sprintf '%.2f', $_ } @$cpu : ('', ''),
            defined $row->{load} ? sprintf '%.0f%%', 100 * $row->{load} : '');

        for my $value (@values ? @values : ['', undef, '']) {
            my ($result, $met, $target) = @$value;

            $text .= sprintf $form, @first, $result, $target // '',
                             defined $met ? $met ? 'yes' : 'NO' : '';
            @first = ('') x 5;
        }
    }

    $text =~ s/ +$//mg;

    return $text . "\n" . join '', map { "$_\n" } @notes;
}

1;
