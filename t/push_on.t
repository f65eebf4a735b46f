#!/usr/bin/perl

# When push is on where queues_push says nothing: with name servers and
# authorities to verify endpoints against.

use strict;
use warnings;

use Test::More;

use NgxQueues::Server;
use NgxQueues::Tls;

my $resolver = 'resolver 127.0.0.1:1;';
my $tls = NgxQueues::Tls->new;
my $server = NgxQueues::Server->new(redis => 0, start => 0);

# where OpenSSL looks for the authorities of the system

my %system = (
    some => { SSL_CERT_FILE => $tls->files('localhost')->{ca} },
    none => { SSL_CERT_FILE => $server->dir . '/none',
              SSL_CERT_DIR => $server->dir . '/none' },
);

# the configuration's result and what it says

sub test {
    my ($system, $directives) = @_;

    local %ENV = (%ENV, %{ $system{$system} });

    $server->configure(http => "queues_redis 127.0.0.1:1; $directives");

    return $server->test_configuration;
}

my ($right, $said) = test('some', $resolver);

ok($right, 'a resolver and authorities');
unlike($said, qr/queues_push/, 'are all it needs');

($right, $said) = test('none', $resolver);

ok($right, 'a resolver, but no authorities');
like($said, qr/\[warn\].*"queues_push" stays off: "\S+" has no certificates/,
     'it stays off, which is said');

($right, $said) = test('none', '');

ok($right, 'neither');
like($said, qr/\[warn\].*"queues_push" stays off: there are no name servers/,
     'it stays off, which is said');
is(() = $said =~ /queues_push" stays/g, 1, 'once');

($right, $said) = test('none', 'queues_push off;');

ok($right, 'off');
unlike($said, qr/queues_push/, 'is off');

$server->configure(locations => 'location /v1/receipts { queues_api receipts; }');
($right, $said) = test('none', '');

ok($right, 'where nothing makes subscriptions');
unlike($said, qr/queues_push/, 'nothing is said of them');
$server->configure(locations => undef);

($right, $said) = test('none', "$resolver queues_push on;");

ok(!$right, 'on, but no authorities');
like($said, qr/\[emerg\].*"queues_push on" cannot verify endpoints: "\S+" has/,
     'is an error');

($right, $said) = test('some', "$resolver queues_push on;");

ok($right, 'on, with authorities');

($right, $said) = test('none', "$resolver queues_push on;"
    . ' queues_push_trusted_certificate ' . $system{some}{SSL_CERT_FILE} . ';');

ok($right, 'on, with a file of its own');
unlike($said, qr/queues_push/, 'needs none of the system');

done_testing;
