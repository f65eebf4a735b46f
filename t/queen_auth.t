#!/usr/bin/perl

# Credentials of the Queen API: API keys and their queues, tokens and the words
# of their roles, what is said of those that are refused, who has pushed.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Jwt;
use NgxQueues::Queen;

my $secret = NgxQueues::Jwt->secret;
my $other = NgxQueues::Jwt->secret;
my $rsa = NgxQueues::Jwt->rsa;

my %keys = (
    push => 'queen.push acme/shop/*',
    orders => 'queen.* acme/shop/orders*',
    use => 'queen.use.* acme/shop/*',
    read => 'queen.read.* acme/shop/*',
    pop => 'queen.use.pop acme/shop/orders',
    away => 'queen.* acme/mall/*',
    queues => 'queues.* *',
);

my $s = NgxQueues::Queen::server(
    auth => 1,
    http => 'queues_jwt_key ' . $secret->public . '; queues_jwt_key '
            . $rsa->public . ';',
    keys => [map { sha256_hex("key-$_") . " p-$_ $keys{$_}" } sort keys %keys],
    locations => 'location / { queues_queen_api acme/shop; }'
        . ' location /v1/ { queues_api; }',
);

my $uri = { push => 'push', pop => 'pop/queue/orders',
            labels => 'pop?namespace=orders', ack => 'ack',
            batch => 'ack/batch', tx => 'transaction',
            extend => 'lease/x/extend' };
my $body = {
    push => '{"items":[{"queue":"orders","payload":1}]}',
    ack => '{}',
    batch => '{"acknowledgments":[]}',
    tx => '{"operations":[{"type":"push","queue":"orders","payload":1}]}',
};

# a call with an Authorization header as it is

sub call {
    my ($what, $header, $text) = @_;

    my $client = $s->client(key => undef);
    my %o = (headers => { Authorization => $header });

    return $what =~ /^(?:pop|labels)$/
        ? $client->get("/api/v1/$uri->{$what}", %o)
        : $client->post("/api/v1/$uri->{$what}", $text // $body->{$what}, %o);
}

# a letter for each call: + where it is permitted

sub may {
    my ($header) = @_;

    return join ' ', map {
        my $r = call($_, $header);

        $r->{status} == 403
            && $r->{body} eq '{"error":"Insufficient permissions"}' ? '-'
            : $r->{status} < 300 ? $_ : "$_=$r->{status}"
    } qw/push pop labels ack batch tx extend/;
}

my $all = 'push pop labels ack batch tx extend';
my $none = '- - - - - - -';

# without: nothing but the health

my $r = call('push', undef);

is("$r->{status} $r->{body}", '401 {"error":"Authentication required"}',
   'no credential');
is($r->{headers}{'www-authenticate'}, 'Bearer', 'what it should be');
is($s->client(key => undef)->get('/health')->{status}, 200, 'health asks for none');
is($s->client(key => undef)->get('/none')->{status}, 404, 'nor does nothing');

# API keys

is(may('Bearer ' . $s->key), $all, 'a key of all rights');
is(may($s->key), $all, 'bare');
is(may('bEARER ' . $s->key), $all, 'in other letters');
is(may('Bearer key-push'), 'push - - - - - -', 'push only');
is(may('Bearer key-orders'), 'push pop - ack batch tx extend', 'some queues');
is(may('Bearer key-use'), '- pop labels ack batch - extend',
   'all but push, also in a transaction');
is(may('Bearer key-read'), $none, 'nothing of this is read-only');
is(may('Bearer key-pop'), '- pop - - - - -', 'pop of one queue');
is(may('Bearer key-away'), $none, 'another project');
is(may('Bearer key-queues'), $none, 'another API');
is(call('push', 'Bearer key-none')->{status}, 401, 'a key that is not known');

$r = call('push', 'Bearer key-orders', '{"items":[{"queue":"orders","payload":'
          . '"no"},{"queue":"bills","payload":1}]}');
is($r->{status}, 403, 'one queue of two');
is($s->client(key => 'key-orders')->get('/api/v1/pop/queue/bills')->{status}, 403,
   'a pop of another one');

# roles: words in "roles" or "role"

sub token { 'Bearer ' . $secret->token({ sub => 'me', @_ }) }

is(may(token(roles => ['admin'])), $all, 'admin');
is(may(token(roles => ['read-write'])), $all, 'read-write');
is(may(token(roles => ['read-only'])), $none, 'read-only');
is(may(token(roles => ['write-only'])), 'push - - - - - -', 'write-only');
is(may(token(roles => ['write-only', 'read-only'])), 'push - - - - - -',
   'a set, not a ladder');
is(may(token(roles => 'staff read-write')), $all, 'a string of words');
is(may(token(role => 'read-write')), $all, 'the claim role');
is(may(token(role => 'write-only', roles => ['queen.use.pop@acme/shop/*'])),
   'push pop labels - - - -', 'beside permissions');
is(may(token(roles => ['Admin', 'admins', 'queen'])), $none, 'other words');
is(may(token()), $none, 'none');

# which mean nothing to the other API, nor does what this one tolerates

my $list = '/v1/organizations/acme/projects/shop/queues';

sub list { $s->client(key => undef)->get($list, headers =>
                                         { Authorization => $_[0] })->{status} }

is(list(token(roles => ['admin'], exp => time + 60)), 403, 'no queues.*');
is(list(token(roles => ['*@*'], exp => time + 60)), 200, 'with it');

my $endless = token(roles => ['*@*']);

is(list($endless), 401, 'without an exp');
is(may($endless), $all, 'which is fine here');
is(list($endless), 401, 'and still not there');
is(list($s->key), 401, 'nor is a bare key');
is(may($secret->token({ roles => ['admin'] })), $all, 'bare, without a sub');

# who has pushed

sub producer {
    my ($header) = @_;

    call('push', $header, '{"items":[{"queue":"who","payload":1,"producerSub":'
         . '"other"}]}');

    return $s->client->get('/api/v1/pop/queue/who?autoAck=true')
        ->{json}{messages}[0]{producerSub};
}

is(producer(token(roles => ['admin'], sub => "m\"e \x{e9}")), "m\"e \x{e9}",
   'a token\'s sub');
is(producer('Bearer ' . $secret->token({ role => 'admin', sub => '' })), undef,
   'an empty one');
is(producer('Bearer key-push'), 'p-push', 'a key\'s principal');
call('tx', token(role => 'admin', sub => 'tx'),
     '{"operations":[{"type":"push","queue":"who","payload":1}]}');
is($s->client->get('/api/v1/pop/queue/who?autoAck=true')
   ->{json}{messages}[0]{producerSub}, 'tx', 'in a transaction');

# refused tokens

my $good = { sub => 'me', role => 'admin' };

for my $case (
    ['Token has expired', $secret->token({ %$good, exp => time - 100 })],
    ['Token not yet valid', $secret->token({ %$good, nbf => time + 100 })],
    ['Token issued in the future', $secret->token({ %$good, iat => time + 100 })],
    ['Invalid token signature', $other->token($good)],
    ['Invalid token audience', $secret->token({ %$good, aud => 'x' })],
    ['Unsupported token algorithm', $secret->token($good, { alg => 'none' })],
    ['Unsupported token algorithm', $secret->token($good, { alg => 'PS256' })],
    ['Bad token header', 'e30K.e30.x'], ['Bad token header', '!.e30.x'],
    ['Invalid token', $secret->token({ %$good, sub => 1 })],
    ['Authentication required', 'x'], ['Authentication required', 'a.b.c.d'],
    ['Authentication required', 'Basic abc'],
)
{
    my ($text, $token) = @$case;

    $r = call('push', $token =~ / / ? $token : "Bearer $token");

    if ($token eq 'e30K.e30.x') {
        is($r->{status}, 401, 'an odd header');
        next;
    }

    is("$r->{status} $r->{body}", qq(401 {"error":"$text"}), $text);
    is($r->{headers}{'www-authenticate'}, $text =~ /^Auth/ ? 'Bearer'
       : 'Bearer error="invalid_token"', 'as the header says');
}

$s->finish;

# keys by name, an issuer and an audience

my $t = NgxQueues::Queen::server(auth => 1, http => 'queues_jwt_issuer i;'
    . ' queues_jwt_audience us; queues_jwt_key '
    . NgxQueues::Jwt::jwks('queen', $rsa->jwk(kid => 'a', use => 'sig')) . ';');

sub said {
    my ($claims, $header) = @_;

    my $token = $rsa->token({ role => 'admin', %$claims }, $header);

    return $t->client(key => $token)->get('/api/v1/pop/queue/x')->{json}{error}
           // 'nothing';
}

is(said({ iss => 'i', aud => ['x', 'us'] }, { kid => 'a' }), 'nothing', 'all good');
is(said({ iss => 'j', aud => 'us' }, { kid => 'a' }), 'Invalid token issuer',
   'another issuer');
is(said({ aud => 'us' }, { kid => 'a' }), 'Invalid token issuer', 'none');
is(said({ iss => 'i', aud => 'x' }, { kid => 'a' }), 'Invalid token audience',
   'another audience');
is(said({ iss => 'i', aud => 'us' }, { kid => 'b' }), 'Unknown key ID',
   'another key');

$t->finish;

# a rate

my $rate = NgxQueues::Queen::server(
    api => "queues_queen_api acme/shop; queues_auth off;"
        . " queues_rate_limit queue=1/m;");

$rate->client->get('/api/v1/pop/queue/a') for 1;
$r = $rate->client->get('/api/v1/pop/queue/a');
is($r->{status}, 429, 'too many pops of a queue');
like($r->{body}, qr/^\{"error":"[^"]+","code":"rate_limited"\}$/, 'why');
like($r->{headers}{'retry-after'}, qr/^\d+$/, 'and for how long');
is($rate->client->get('/api/v1/pop/queue/b')->{status}, 204, 'another queue');
$rate->finish;

done_testing;
