package NgxQueues::Env;

# What a .t in Test::Nginx's format needs, before it says "use
# Test::Nginx::Socket":
#
#     use NgxQueues::Env;
#
# starts a private Redis for the file, writes a secret and a keys file, chooses
# ports and a server root, and exports for the sections of the file
#
#     $TEST_NGINX_REDIS_SOCKET, $TEST_NGINX_REDIS_PORT   (port: with_port)
#     $TEST_NGINX_SECRET_FILE, $TEST_NGINX_KEYS_FILE
#     $TEST_NGINX_KEY, $TEST_NGINX_KEY_READ     keys: everything; only get and
#                                               list
#     $TEST_NGINX_DIR                           a folder for other files
#     $TEST_NGINX_SERVER_PORT, $TEST_NGINX_CLIENT_PORT, $TEST_NGINX_SERVROOT
#     $TEST_NGINX_LOAD_MODULES                  from NGX_QUEUES_MODULE
#     $TEST_NGINX_QUEUES      the usual http_config: queues_redis and so on
#
# In the keys file and in requests, the keys are constant, so that more_headers
# (where nothing is expanded) can say
#
#     Authorization: Bearer qk_test-all-0123456789abcdefghijklmn
#     Authorization: Bearer qk_test-get-0123456789abcdefghijklmn
#
# At the end of the file, when nginx is gone, NgxQueues::Check looks into
# Redis; a problem there, or a report of a sanitizer, fails the file.
#
#     use NgxQueues::Env qw/no_redis no_check with_port aof/;
#
# What a block does not say can be the usual: an http_config of
# $TEST_NGINX_QUEUES, queues_api for all paths, and the key of all rights.
#
#     add_block_preprocessor(\&NgxQueues::Env::defaults);
#
# NgxQueues::Env::redis() is the NgxQueues::RedisServer.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';

use NgxQueues::Process qw/free_port temp_dir spurt sanitizer_env
                          sanitizer_reports/;
use NgxQueues::RedisServer;

our $key_all = 'qk_test-all-0123456789abcdefghijklmn';
our $key_get = 'qk_test-get-0123456789abcdefghijklmn';

my $owner = $$;
my ($redis, $reports, %is);

sub redis { $redis }

sub defaults {
    my ($block) = @_;

    my %usual = (
        http_config => '$TEST_NGINX_QUEUES',
        config => 'location / { queues_api; }',
        more_headers => "Authorization: Bearer $key_all",
    );

    for my $section (keys %usual) {
        $block->set_value($section, $usual{$section})
            if !defined $block->$section;
    }
}

sub import {
    my ($class, @options) = @_;

    %is = map { $_ => 1 } @options;

    for (@options) {
        die "NgxQueues::Env: $_?" if !/^(?:no_redis|no_check|with_port|aof)$/;
    }

    my $dir = temp_dir();
    chmod 0755, $dir;

    spurt("$dir/secret", sha256_hex("$dir$$") . "\n", 0600);
    spurt("$dir/keys", sha256_hex($key_all) . " test * *\n"
          . sha256_hex($key_get) . " reader *.get,*.list *\n", 0600);

    my %env = (
        DIR => $dir,
        SECRET_FILE => "$dir/secret",
        KEYS_FILE => "$dir/keys",
        KEY => $key_all,
        KEY_READ => $key_get,
    );

    my $queues = "queues_secret_file $dir/secret; "
                 . "queues_api_keys $dir/keys;";

    if (!$is{no_redis}) {
        $redis = NgxQueues::RedisServer->new(aof => $is{aof},
            port => $is{with_port}, no_check => $is{no_check});

        $env{REDIS_SOCKET} = $redis->socket;
        $env{REDIS_PORT} = $redis->port if $is{with_port};

        # a machine that runs many tests may be slow to connect

        $queues .= " queues_redis unix:" . $redis->socket . ';'
                   . ' queues_redis_connect_timeout 10s;';
    }

    $env{QUEUES} = $queues;

    $ENV{"TEST_NGINX_$_"} = $env{$_} for keys %env;

    $ENV{TEST_NGINX_SERVROOT} ||= "$dir/servroot";
    $ENV{TEST_NGINX_SERVER_PORT} ||= $ENV{TEST_NGINX_PORT} || free_port();
    $ENV{TEST_NGINX_CLIENT_PORT} ||= $ENV{TEST_NGINX_SERVER_PORT};
    $ENV{TEST_NGINX_LOAD_MODULES} ||= $ENV{NGX_QUEUES_MODULE}
        if $ENV{NGX_QUEUES_MODULE};

    my ($sanitizer, $prefix) = sanitizer_env();

    $ENV{$_} = $sanitizer->{$_} for keys %$sanitizer;
    $reports = $prefix;
}

# later than that of Test::Nginx::Socket, which is loaded later

END {
    if ($$ == $owner) {
        my $result = $?;
        my @problems = grep { length } sanitizer_reports($reports);

        if ($redis) {
            push @problems, $redis->check;
            $redis->shutdown;
        }

        print STDERR map { s/^/# /gmr . "\n" } @problems;

        $? = $result || (@problems ? 1 : 0);
    }
}

1;
