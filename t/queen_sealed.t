#!/usr/bin/perl

# Encryption at rest: nothing of a payload is in Redis, nothing of it shows on
# the wire; it is switched on and off, transactions too, dead letters; secrets
# that are replaced, and one that is gone.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Test::More;

use NgxQueues::Process qw/slurp spurt/;
use NgxQueues::Queen;

my $s = NgxQueues::Queen::server();
my $q = NgxQueues::Queen->new($s);
my $redis = $s->redis->client;
my ($on, $off) = (JSON::PP::true, JSON::PP::false);

# all that Redis has, as far as it can be looked into

sub stored {
    my $found = '';

    for my $key (@{ $redis->call('KEYS', '*') }) {
        my $type = $redis->call('TYPE', $key);

        $found .= join "\n", '', $key, @{ $redis->call('HGETALL', $key) }
            if $type eq 'hash';
    }

    return $found;
}

sub sealed { my @n = stored() =~ /$_[0]/g; scalar @n }

# what is pushed comes back, and is not there to be read

my %payloads = (a => '"secret-a"', b => '{"b":"secret-b","x":[1,2.50,null]}',
                c => 'null', d => '""', e => '"' . 'secret' x 5000 . '"');

sub push_all {
    my ($queue) = @_;

    return $q->post('push', '{"items":[' . join(',', map {
        qq({"queue":"$queue","transactionId":"$_","payload":$payloads{$_}})
    } sort keys %payloads) . ']}');
}

sub same {
    my ($queue, $how) = @_;

    my $r = $q->pop($queue, batch => 100, autoAck => 'true');
    my @found = $r->{body} =~ /"data":(.*?),"producerSub"/g;

    is_deeply(\@found, [map { $payloads{$_} } sort keys %payloads], $how);
}

is($q->configure('s', encryptionEnabled => $on)->{options}{encryptionEnabled},
   $on, 'switched on');
is(push_all('s')->{status}, 201, 'pushed');
is(sealed('secret'), 0, 'nothing of it is in Redis');
is(sealed('"encrypted":'), 5, 'but envelopes');
same('s', 'all payloads as they were');

push_all('plain');
is(sealed('"encrypted":'), 5, 'another queue has none');
same('plain', 'its payloads');

# to several queues in one call, in transactions, with dead letters

$q->configure('s2', encryptionEnabled => $on);

my $r = $q->post('push', { items => [map { { queue => $_, payload => "mixed-$_" } }
    qw/s s2 plain s2 s/] });

is(join(' ', map { $_->{status} } @{ $r->{json} }),
   'queued queued queued queued queued', 'to several queues');
is(sealed('mixed-s'), 0, 'sealed where it is wanted');
is(sealed('mixed-plain'), 1, 'and only there');
is(NgxQueues::Queen::data($q->messages($_, batch => 9, autoAck => 'true')),
   $_ eq 'plain' ? 'mixed-plain' : "mixed-$_ mixed-$_", "of $_")
    for qw/s s2 plain/;

$q->configure('s3', encryptionEnabled => $on, retryLimit => 0);
$r = $q->post('transaction', { operations => [ { type => 'push', items => [
    { queue => 's3', payload => 'bundle-secret' },
    { queue => 'plain', payload => 'bundle' } ] } ] });
is($r->{json}{success}, $on, 'a transaction');
is(sealed('bundle-secret'), 0, 'is sealed too');

my ($m) = $q->messages('s3');

is($m->{data}, 'bundle-secret', 'and comes back');
is(NgxQueues::Queen::words($q->ack([$m], 'failed')), 'ok+dlq+released',
   'a dead letter');
is(sealed('bundle-secret'), 0, 'of which nothing is to be read');

# switched off and on: what is there stays as it is and is opened all the same

$q->push('s2', 'before');
$q->configure('s2', encryptionEnabled => $off);
$q->push('s2', 'after-1');
$q->push('s2', 'after-2');
$q->configure('s2', encryptionEnabled => $on);
$q->push('s2', 'again');
is(NgxQueues::Queen::data($q->messages('s2', batch => 9)),
   'before after-1 after-2 again', 'some are sealed, some are not');
is(sealed('before') + sealed('again'), 0, 'these');
is(sealed('after-'), 2, 'those');

# a payload that looks like an envelope is none

my $fake = { encrypted => 'QQ==', iv => 'QQ==', authTag => 'QQ==' };

$q->push($_, { payload => $fake }) for 'fake', 's';
is_deeply([$q->messages('fake')]->[0]{data}, $fake, 'what looks like one');
is_deeply([$q->messages('s')]->[0]{data}, $fake, 'in a sealed queue, too');

# many queues that a worker does not know yet: it learns some in each call

$q->configure("many$_", encryptionEnabled => $on) for 1 .. 20;

my @many = map { { queue => "many$_", payload => "many-secret-$_" } } 1 .. 20;

is($q->post('push', { items => \@many })->{status}, 503, 'too many at once');
is($q->post('push', { items => \@many })->{status}, 201, 'but not for ever');
is(sealed('many-secret'), 0, 'all are sealed');

# secrets are replaced: what an old one has sealed is opened as long as it is in
# the file, and then told as it is

my $old = slurp($s->{secret_file});
my $new = sha256_hex('another secret') . "\n";

sub secrets {
    spurt($s->{secret_file}, $_[0], 0600);
    $s->reload(drained => 15);
    $q->{client} = $s->client;
}

$q->push('s3', 'under-old');
secrets("$new$old");
$q->push('s3', 'under-new');
is(NgxQueues::Queen::data($q->messages('s3', batch => 9, consumerGroup => 'g')),
   'bundle-secret under-old under-new', 'a new secret and the old one');
secrets($new);

my @m = $q->messages('s3', batch => 9, consumerGroup => 'h');

is_deeply([map { ref $_->{data} ? join ' ', sort keys %{ $_->{data} } : $_->{data} }
           @m], [('authTag encrypted iv') x 2, 'under-new'],
          'the old one is gone: envelopes');
like(slurp("$s->{dir}/error.log"), qr/sealed under none of the secrets/,
     'which the log tells');

done_testing();
