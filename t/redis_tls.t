#!/usr/bin/perl

# The connection to Redis: TLS with verification, user, password, database,
# TCP; and what a wrong one of these answers.

use strict;
use warnings;

use Test::More;

use NgxQueues::Process qw/spurt temp_dir/;
use NgxQueues::Queue;
use NgxQueues::RedisServer;
use NgxQueues::Server;
use NgxQueues::Tls;
use NgxQueues::Wait;

my $dir = temp_dir();
my $ca = NgxQueues::Tls->new;
my $other_ca = NgxQueues::Tls->new;

# Redis with a password, a user of its own, TLS on one port and none on another

my $redis = NgxQueues::RedisServer->new(password => 'open sesame', port => 1,
    tls => $ca->files('localhost'));

is($redis->client->call(qw/ACL SETUSER broker on >for"this ~ngxq:* &ngxq:*
                           +@all/), 'OK', 'a user');

sub files {
    my ($name, $text) = @_;

    spurt("$dir/$name", $text, 0600);
    return "$dir/$name";
}

my $password = files('password', "open sesame\n");
my $user = files('user', "for\"this\r\nanother line\n");
my $wrong = files('wrong', "open barley\n");

my $tcp = 'queues_redis 127.0.0.1:' . $redis->port . ';';
my $by_name = 'queues_redis localhost:' . $redis->tls_port . ';'
              . ' queues_redis_tls on; queues_redis_password_file '
              . "$password;";
my $by_ip = 'queues_redis 127.0.0.1:' . $redis->tls_port . ';'
            . ' queues_redis_tls on; queues_redis_password_file '
            . "$password;";
my $trust = 'queues_redis_trusted_certificate ' . $ca->ca . ';';

# an nginx with this connection

my $s = NgxQueues::Server->new(redis => 0, start => 0);

sub with {
    my ($http) = @_;

    $s->configure(http => $http);
    $s->{pid} && !NgxQueues::Process::gone($s->{pid})
        ? $s->reload(drained => 15) : $s->start;

    return $s->client;
}

my $projects = 0;

sub works {
    my ($name, $http) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $c = with($http);
    my $q = eval {
        NgxQueues::Queue->new($s, client => $c, name => 'q',
                              project => 'o/w' . ++$projects)
    };

    ok($q, $name) or return diag($@, $s->error_log);

    # both connections, of commands and of hints

    my $h = $q->park;

    $q->send({ at => $s->client }, 'x');
    $c->wait_all([$h]);
    is($h->result->{json}{messages}[0]{body}, 'x', "$name: a wait");
}

sub refused {
    my ($name, $http, $why) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $from = length $s->error_log;
    my $c = with($http);
    my $r = $c->get('/v1/organizations/o/projects/p/queues');

    is("$r->{status} $r->{json}{error}", '503 unavailable', $name);
    like($r->{headers}{'retry-after'}, qr/^[1-9]\d*$/, "$name: Retry-After");

    my $log;

    ok(wait_for(sub {
        $log = substr $s->error_log, $from;
        $log =~ /\[error\][^\n]*$why/;
    }, 5), "$name: the log says why") or diag($log);
    unlike($log, qr/sesame|barley|for"this/, "$name: and no password");
}

works('TCP with a password', "$tcp queues_redis_password_file $password;");
refused('a wrong password', "$tcp queues_redis_password_file $wrong;",
        'WRONGPASS');
refused('no password', $tcp, 'NOAUTH');
works('and again with the right one',
      "$tcp queues_redis_password_file $password;");
works('a user and his password',
      "$tcp queues_redis_user broker; queues_redis_password_file $user;");
refused('an unknown user',
        "$tcp queues_redis_user nobody; queues_redis_password_file $user;",
        'WRONGPASS');

# a database

works('another database', "$tcp queues_redis_password_file $password;"
                          . ' queues_redis_database 3;');

my $in = $redis->client;

$in->call('SELECT', 3);
is(scalar @{ $in->call('KEYS', "ngxq:{o/w$projects}:q:*") }, 1,
   'and it is in that one');
refused('a database that is not there',
        "$tcp queues_redis_password_file $password;"
        . ' queues_redis_database 16;', 'DB index');

# TLS

works('TLS by name', "$by_name $trust");
refused('TLS by a name that is not in the certificate', "$by_ip $trust",
        'certificate');
refused('TLS with another CA', $by_name
        . ' queues_redis_trusted_certificate ' . $other_ca->ca . ';',
        'certificate');
refused('no TLS where there should be', 'queues_redis localhost:'
        . $redis->tls_port . "; queues_redis_password_file $password;",
        'no connection for');
refused('TLS where there should be none', 'queues_redis localhost:'
        . $redis->port . '; queues_redis_tls on; queues_redis_password_file '
        . "$password; $trust queues_redis_connect_timeout 500ms;",
        'not ready within the connect timeout');
works('and again with TLS', "$by_name $trust");

# a client certificate, where Redis asks for one

is($redis->client->call('CONFIG', 'SET', 'tls-auth-clients', 'yes'), 'OK',
   'Redis wants a certificate');
refused('none', "$by_name $trust", 'no connection for');

my $mine = $ca->files('client');

works('with a certificate', "$by_name $trust queues_redis_certificate "
      . "$mine->{certificate}; queues_redis_certificate_key $mine->{key};");

# a Redis that comes later

$redis->shutdown;
refused('no Redis', "$tcp queues_redis_password_file $password;",
        'cannot connect');
$redis->start;
ok(wait_for(sub {
    $s->client->get('/v1/organizations/o/projects/p/queues')->{status} == 200
}, 3), 'it is back, and so are we');

# nginx has its own opinion of the alert of Redis

$s->finish(allow => [qr/SSL_read\(\) failed .*certificate required/]);

done_testing;
