package Test::Nginx::Socket;

# A reader of the format of Test::Nginx::Socket, as the documentation of that
# CPAN module describes it: as much as the tests here use, written for them. A
# .t that passes here passes there. What is not known here is an error, never
# passed over.
#
# Each block is run with an nginx of its own: repeat_each() times the request
# or, one after the other and each on a connection of its own, the requests.
# Blocks are run in the order of the file.

use strict;
use warnings;

use Test::Base -base;

use File::Path ();
use IO::Socket::INET;
use Time::HiRes 'sleep';

use NgxQueues::Client;
use NgxQueues::Process qw/spawn gone free_port temp_dir spurt slurp/;
use NgxQueues::Wait;

our @EXPORT = qw/run_tests repeat_each no_shuffle no_long_string
                 no_root_location log_level workers worker_connections
                 master_on add_block_preprocessor server_port $ServerPort
                 server_root bail_out/;

our $ServerPort = $ENV{TEST_NGINX_SERVER_PORT} ||= $ENV{TEST_NGINX_PORT}
                                                   || free_port();
our $ClientPort = $ENV{TEST_NGINX_CLIENT_PORT} ||= $ENV{TEST_NGINX_PORT}
                                                   || $ServerPort;
our $Root = $ENV{TEST_NGINX_SERVROOT} ||= temp_dir() . '/servroot';

$ENV{TEST_NGINX_HTML_DIR} ||= "$Root/html";

my %sections = map { $_ => 1 } qw/
    main_config http_config config request raw_request more_headers
    response_body response_body_like response_body_unlike response_headers
    response_headers_like raw_response_headers_like raw_response_headers_unlike
    error_code error_code_like error_log no_error_log must_die timeout
    log_level ONLY
/;

# what Test::Base keeps in a block besides sections

my %attributes = map { $_ => 1 } qw/
    name description seq_num is_filtered blocks_object original_values
/;

my %set = (
    repeat_each => 1, log_level => $ENV{TEST_NGINX_LOG_LEVEL} || 'debug',
    workers => 1, worker_connections => 64, root_location => 1,
    master => ($ENV{TEST_NGINX_MASTER_PROCESS} || 'off') eq 'on',
);

my @preprocessors;
my $nginx;                      # pid
my $config;                     # of the last block that had one

sub repeat_each { $set{repeat_each} = $_[0] if @_; $set{repeat_each} }
sub no_shuffle { }
sub no_long_string { }
sub no_root_location { $set{root_location} = 0 }
sub log_level { $set{log_level} = $_[0] if @_; $set{log_level} }
sub workers { $set{workers} = $_[0] if @_; $set{workers} }
sub worker_connections { $set{worker_connections} = $_[0] if @_;
                         $set{worker_connections} }
sub master_on { $set{master} = 1 }
sub server_port { $ServerPort }
sub server_root { $Root }
sub add_block_preprocessor { push @preprocessors, $_[0] }

sub bail_out {
    stop_nginx();
    Test::More::BAIL_OUT(@_);
}

sub builder { Test::More->builder }

sub run_tests {
    if (slurp($0) =~ /^__(?:DATA|END)__\n.*?^--- (SKIP|LAST)\b/ms) {
        die "$0: --- $1 is not supported: a test is run, or not there\n";
    }

    for my $block (Test::Base::blocks()) {
        $_->($block) for @preprocessors;

        run_block($block);
    }
}

sub run_block {
    my ($block) = @_;

    my $name = "$0 " . $block->name;

    for my $section (keys %$block) {
        next if $section =~ /^_/ || $attributes{$section};

        die "$name: unknown section: $section\n" if !$sections{$section};
    }

    for (['response_body', 'response_body_like'], ['request', 'raw_request'],
         ['response_headers', 'response_headers_like'],
         ['error_code', 'error_code_like'])
    {
        die "$name: $_->[0] beside $_->[1]\n"
            if has($block, $_->[0]) && has($block, $_->[1]);
    }

    $config = value($block, 'config') // $config;
    die "$name: no config\n" if !defined $config;

    write_config($block, $name);

    if (has($block, 'must_die')) {
        run_must_die($block, $name) for 1 .. $set{repeat_each};
        return;
    }

    start_nginx($name);

    for my $turn (0 .. $set{repeat_each} - 1) {
        my $from = -s "$Root/logs/error.log" || 0;

        my @requests = requests($block, $name);

        for my $i (0 .. $#requests) {
            my $r = exchange($requests[$i], timeout($block));

            check_response($block, $name, $r, $i, scalar @requests);
        }

        check_log($block, $name, $from);
    }

    my $status = stop_nginx();

    if (!defined $status || $status & 127) {
        builder()->ok(0, "$name - nginx ends by itself, and well");
        builder()->diag(tail());
    }
}


# sections

sub has {
    my ($block, $section) = @_;

    return exists $block->{$section};
}

sub value {
    my ($block, $section) = @_;

    return undef if !has($block, $section);

    my $value = $block->$section;

    return defined $value ? $value : '';
}

# what a section says about the i-th of n requests

sub value_for {
    my ($block, $section, $name, $i, $n) = @_;

    my $value = value($block, $section);

    return undef if !defined $value;

    if (ref $value eq 'ARRAY') {
        die "$name: $section: $n requests, " . @$value . " values\n"
            if @$value != $n;

        return $value->[$i];
    }

    die "$name: $section: with several requests it has to be an array\n"
        if $n > 1;

    return $value;
}

sub expand {
    my ($text, $name) = @_;

    $text =~ s{\$(TEST_NGINX_\w+)}{
        $ENV{$1} // die "$name: no $1 in the environment\n"
    }ge;

    return $text;
}

sub timeout {
    my ($block) = @_;

    my $value = value($block, 'timeout') // return 10;

    $value =~ /^\s*([\d.]+)\s*(m?s)?\s*$/ or die "timeout: $value?";

    return $1 / (($2 || '') eq 'ms' ? 1000 : 1);
}


# nginx

sub write_config {
    my ($block, $name) = @_;

    File::Path::remove_tree($Root);
    File::Path::make_path(map { "$Root/$_" } qw/conf logs html temp/);

    my $modules = join '', map { "load_module $_;\n" }
        split ' ', $ENV{TEST_NGINX_LOAD_MODULES} // '';

    my $main = expand(value($block, 'main_config') // '', $name);
    my $http = expand(value($block, 'http_config') // '', $name);
    my $server = expand($config, $name);

    my $master = $set{master} ? 'on' : 'off';
    my $user = $< == 0 ? 'user root;' : '';
    my $level = value($block, 'log_level') // $set{log_level};
    my $temp = join "\n    ", map {
        "${_}_temp_path $Root/temp/$_;"
    } qw/client_body proxy fastcgi uwsgi scgi/;

    chomp $level;

    my $location = $set{root_location}
        ? "location / { root $Root/html; index index.html; }" : '';

    spurt("$Root/conf/nginx.conf", <<END);
${modules}daemon off;
master_process $master;
worker_processes $set{workers};
pid $Root/logs/nginx.pid;
error_log $Root/logs/error.log $level;
env ASAN_OPTIONS;
env UBSAN_OPTIONS;
$user
$main

events {
    worker_connections $set{worker_connections};
}

http {
    access_log $Root/logs/access.log;
    default_type text/plain;
    keepalive_timeout 68;
    $temp

$http

    server {
        listen $ServerPort;
        server_name localhost;
        client_max_body_size 30M;

$server

        $location
    }
}
END
}

sub launch {
    $nginx = spawn({ out => "$Root/logs/stderr", death => 'TERM' },
        split(' ', $ENV{TEST_NGINX_BINARY} || 'nginx'),
        '-p', "$Root/", '-c', "$Root/conf/nginx.conf",
        '-e', "$Root/logs/error.log");
}

sub start_nginx {
    my ($name) = @_;

    launch();

    my $up = wait_for {
        gone($nginx) || IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                                              PeerPort => $ServerPort)
    } 20;

    if (!$up || gone($nginx)) {
        my $text = slurp("$Root/logs/stderr") . tail();

        stop_nginx();
        die "$name: nginx does not start:\n$text";
    }
}

# the wait status, or undef where nginx had to be killed

sub stop_nginx {
    return 0 if !$nginx;

    my $pid = $nginx;
    $nginx = undef;

    kill QUIT => $pid if !gone($pid);

    my $status = NgxQueues::Process::reap($pid, 10);

    if (!defined $status) {
        NgxQueues::Process::stop($pid, 'KILL', 5);
    }

    return $status;
}

sub run_must_die {
    my ($block, $name) = @_;

    my $from = -s "$Root/logs/error.log" || 0;

    launch();

    my $status = NgxQueues::Process::reap($nginx, 10);
    my $expected = value($block, 'must_die');

    $expected = '' if !defined $expected;
    chomp $expected;

    stop_nginx() if !defined $status;
    $nginx = undef;

    my $died = defined $status && $status != 0 && !($status & 127)
               && ($expected eq '' || $status >> 8 == $expected);

    builder()->ok($died, "$name - nginx dies");
    builder()->diag('status ' . ($status // 'none: it runs')) if !$died;

    check_log($block, $name, $from);
}

sub tail {
    my @lines = split /^/, slurp("$Root/logs/error.log");
    my @important = grep { !/\[debug\]/ } @lines;

    return join '', @important > 20 ? @important[-20 .. -1] : @important;
}


# requests

# a list of lists of packets: bytes, or { value, delay_before }

sub requests {
    my ($block, $name) = @_;

    if (has($block, 'raw_request')) {
        my $raw = value($block, 'raw_request');

        return [ref $raw eq 'ARRAY' ? @$raw : $raw];
    }

    my $spec = value($block, 'request') // die "$name: no request\n";
    my @specs = ref $spec eq 'ARRAY' ? @$spec : $spec;
    my $more = value($block, 'more_headers');

    return map {
        my $headers = ref $more eq 'ARRAY' ? $more->[$_] : $more;

        one_request($specs[$_], $headers // '', $name)
    } 0 .. $#specs;
}

sub one_request {
    my ($spec, $more, $name) = @_;

    my @packets = ref $spec eq 'ARRAY' ? @$spec : $spec;
    my $first = ref $packets[0] ? $packets[0]{value} : $packets[0];

    # empty lines and comments, the request line, then the body

    $first =~ s/^(?:\s*(?:#[^\n]*)?\n)*//;

    $first =~ s{^[ \t]*([A-Z]+)(?:[ \t]+(\S+))?(?:[ \t]+(HTTP/\S+))?[ \t]*
                (\r?\n|$)}{}x
        or die "$name: no request line: $first\n";

    my ($method, $uri, $version, $has_body) = ($1, $2 // '/',
                                               $3 // 'HTTP/1.1', length $4);

    if (@packets == 1) {
        $first =~ s/\r?\n\z// if !ref $packets[0];
        $has_body = length $first;
    }

    my $length = length $first;
    $length += length(ref $_ ? $_->{value} : $_) for @packets[1 .. $#packets];

    my %given = map { lc($_) => 1 } $more =~ /^\s*([^:\s]+)\s*:/mg;

    my $head = "$method $uri $version\r\n";

    $head .= "Host: localhost\r\n" if !$given{host};
    $head .= "Connection: close\r\n" if !$given{connection};

    for (split /\r?\n/, $more) {
        s/^\s+//;
        $head .= "$_\r\n" if length;
    }

    $head .= "Content-Length: $length\r\n"
        if ($has_body || $length) && !$given{'content-length'}
           && !$given{'transfer-encoding'};

    my @rest = @packets[1 .. $#packets];

    return ["$head\r\n$first", @rest];
}

sub exchange {
    my ($packets, $timeout) = @_;

    my $client = NgxQueues::Client->new(port => $ClientPort,
                                        timeout => $timeout);
    my $connection = $client->connect;
    my $whole = join '', map { ref $_ ? $_->{value} : $_ } @$packets;

    $connection->begin($whole =~ /^HEAD / ? 'HEAD' : 'GET');

    for my $i (0 .. $#$packets) {
        my $packet = $packets->[$i];

        if (ref $packet) {
            sleep $packet->{delay_before} if $packet->{delay_before};
            $packet = $packet->{value};

        } elsif ($i) {
            sleep($ENV{TEST_NGINX_SLEEP} || 0.015);
        }

        last if !$connection->write($packet);
    }

    my $r = $connection->response;

    $connection->close;

    return $r;
}


# checks

sub check_response {
    my ($block, $name, $r, $i, $n) = @_;

    my $t = builder();
    my $at = $n > 1 ? "$name (request $i)" : $name;
    my $for = sub { value_for($block, $_[0], $name, $i, $n) };

    if ($r->{error}) {
        $t->diag($r->{error} eq 'timeout'
                 ? "ERROR: client socket timed out - $name"
                 : "ERROR: $r->{error} - $name");
    }

    my $status = $r->{status} || '';

    if (defined(my $pattern = $for->('error_code_like'))) {
        chomp $pattern;
        $t->like($status, qr/$pattern/, "$at - status");

    } else {
        my $code = $for->('error_code') // 200;

        $code =~ s/\s+//g;
        $t->is_eq($status, $code, "$at - status");
        $t->diag("body: $r->{body}") if $status ne $code;
    }

    for my $section ('raw_response_headers_like', 'raw_response_headers_unlike')
    {
        my $pattern = $for->($section) // next;

        $section =~ /unlike/
            ? $t->unlike($r->{head}, qr/$pattern/s, "$at - $section")
            : $t->like($r->{head}, qr/$pattern/s, "$at - $section");
    }

    for my $section ('response_headers', 'response_headers_like') {
        my $lines = $for->($section) // next;

        check_header($t, $at, $r, $_, $section =~ /like/)
            for grep { /\S/ } split /\n/, $lines;
    }

    if (defined(my $body = $for->('response_body'))) {
        ref $body eq 'Regexp' ? $t->like($r->{body}, $body, "$at - body")
            : $t->is_eq($r->{body}, $body, "$at - body");
    }

    if (defined(my $pattern = $for->('response_body_like'))) {
        $t->like($r->{body}, qr/$pattern/s, "$at - body like");
    }

    if (defined(my $pattern = $for->('response_body_unlike'))) {
        $t->unlike($r->{body}, qr/$pattern/s, "$at - body unlike");
    }
}

sub check_header {
    my ($t, $at, $r, $line, $like) = @_;

    if ($line =~ /^\s*!\s*(\S+?):?\s*$/) {
        $t->ok(!exists $r->{headers}{lc $1}, "$at - no header $1");
        return;
    }

    my ($header, $expected) = $line =~ /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/
        or die "$at: header: $line?\n";
    my $value = $r->{headers}{lc $header} // '';

    $like ? $t->like($value, qr/^$expected$/, "$at - header $header")
        : $t->is_eq($value, $expected, "$at - header $header");
}

sub patterns {
    my ($block, $section) = @_;

    my $value = value($block, $section);

    return () if !defined $value;
    return @$value if ref $value eq 'ARRAY';
    return $value if ref $value;
    return grep { length } split /\n/, $value;
}

sub found {
    my ($pattern, $from) = @_;

    my $text = slurp("$Root/logs/error.log");

    substr $text, 0, $from, '';

    return ref $pattern ? scalar grep { /$pattern/ } split /\n/, $text
        : index($text, $pattern) >= 0;
}

# a line may come a little later than the answer

sub check_log {
    my ($block, $name, $from) = @_;

    my $t = builder();

    for my $pattern (patterns($block, 'error_log')) {
        my $found = wait_for { found($pattern, $from) };

        $t->ok($found, "$name - in the error log: $pattern");
        $t->diag(tail()) if !$found;
    }

    for my $pattern (patterns($block, 'no_error_log')) {
        my $found = found($pattern, $from);

        $t->ok(!$found, "$name - not in the error log: $pattern");
        $t->diag(tail()) if $found;
    }
}

END {
    my $result = $?;
    stop_nginx();
    $? = $result;
}

1;
