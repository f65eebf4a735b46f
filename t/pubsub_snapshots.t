#!/usr/bin/perl

# Snapshots of the Pub/Sub API, and seeks to them and to times.

use strict;
use warnings;

use Test::More;

use NgxQueues::Pubsub;
use NgxQueues::Wait;

my $s = NgxQueues::Pubsub::server(workers => 2);
my $p = NgxQueues::Pubsub->new($s);

$p->topic($_) for qw/orders other/;
$p->sub('sub', 'orders');
$p->sub('keeps', 'orders', retainAckedMessages => \1);
$p->sub('foreign', 'other');

my ($sub, $topic) = ($p->name('subscriptions', 'sub'), $p->name('topics', 'orders'));

sub refused {
    my ($r, $what, $status, $message) = @_;
    my $e = $r->{json}{error} || {};

    is("$r->{status} $e->{status}", $status || '400 INVALID_ARGUMENT', $what);
    like($e->{message}, $message, "$what: why") if $message;
}

sub snap { $p->put('snapshots', $_[0], { subscription => $_[1] // $sub, %{ $_[2] || {} } }) }
sub seek_to { $p->call($_[0], 'seek', $_[1]) }
sub moment { my @t = gmtime($_[0]); sprintf('%04d-%02d-%02dT%02d:%02d:%02dZ',
             $t[5] + 1900, $t[4] + 1, @t[3, 2, 1, 0]) }

# a snapshot

my $r = snap('snap-1', $sub, { labels => { a => 'b' }, tags => {}, name => 'x' });

is($r->{status}, 200, 'made') or diag($r->{body});
is_deeply([sort keys %{ $r->{json} }], [qw/expireTime labels name topic/],
          'what it has');
is("$r->{json}{name} $r->{json}{topic} $r->{json}{labels}{a}",
   $p->name('snapshots', 'snap-1') . " $topic b", 'which is');
like($r->{json}{expireTime}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/,
     'when it expires');
cmp_ok($r->{json}{expireTime}, 'gt', moment(time + 6.99 * 86400), 'in a week');
cmp_ok($r->{json}{expireTime}, 'lt', moment(time + 7.01 * 86400), 'no later');
is($p->get('snapshots', 'snap-1')->{body}, $r->{body}, 'read');

refused(snap('snap-1'), 'made again', '409 ALREADY_EXISTS',
        qr/^Resource already exists in the project \(resource=snap-1\)\.$/);
refused(snap('snap-2', $p->name('subscriptions', 'none')), 'of no subscription',
        '404 NOT_FOUND', qr/\(resource=none\)/);
refused(snap('snap-2', $_), "of $_") for '', 'sub', $topic, 'projects/x/subscriptions/sub';
refused($p->put('snapshots', 'snap-2', $_), "body $_")
    for '{}', '{"subscription":1}', '[]', qq/{"subscription":"$sub","x":1}/,
        qq/{"subscription":"$sub","labels":{"A":""}}/,
        qq/{"subscription":"$sub","tags":{"a":"b"}}/;
refused($p->$_('snapshots', 'none'), "$_ of none", '404 NOT_FOUND',
        qr/^Resource not found \(resource=none\)\.$/) for qw/get delete/;
refused(snap('s!'), 'no name');

# patches

sub patch { $p->patch('snapshots', 'snap-1', { snapshot => $_[1] || {}, updateMask => $_[0] }) }

is_deeply(patch('labels', { labels => { c => 'd' } })->{json}{labels}, { c => 'd' },
          'labels');
is($p->get('snapshots', 'snap-1')->{json}{labels}{c}, 'd', 'are kept');
ok(!exists patch('labels')->{json}{labels}, 'and cleared');
refused(patch($_), 'mask ' . ($_ // 'null')) for '', undef, 'topic', 'expireTime', 'x';
refused(patch('labels', { labels => { A => 1 } }), 'wrong labels');
refused($p->patch('snapshots', 'none', { snapshot => {}, updateMask => 'labels' }),
        'patch of none', '404 NOT_FOUND');

# lists

is(snap($_)->{status}, 200, "made $_") for qw/snap-3 snap-2/;
$r = $p->{client}->get($p->path('snapshots') . '?pageSize=2');
is(join(' ', map { $_->{name} =~ s{.*/}{}r } @{ $r->{json}{snapshots} }),
   'snap-1 snap-2', 'listed by name');
is_deeply($p->{client}->get($p->path('snapshots')
          . "?pageToken=$r->{json}{nextPageToken}")->{json},
          { snapshots => [$p->get('snapshots', 'snap-3')->{json}] }, 'the rest');
is($p->delete('snapshots', 'snap-3')->{body}, '{}', 'deleted');
refused($p->delete('snapshots', 'snap-3'), 'deleted twice', '404 NOT_FOUND');

# what was acknowledged after the snapshot comes again, as does what was not

$p->publish('orders', 'a', 'b', 'c');

my @m = $p->pull('sub', 10);
is(NgxQueues::Pubsub::data(@m), 'a b c', 'received');
$p->ack('sub', $m[0]);

is(snap('snap-ab')->{status}, 200, 'a snapshot in the middle');
$p->ack('sub', @m[1, 2]);
$p->publish('orders', 'd');
@m = $p->pull('sub', 10);
is(NgxQueues::Pubsub::data(@m), 'd', 'what was published later');
$p->ack('sub', @m);

is(seek_to('sub', { snapshot => $p->name('snapshots', 'snap-ab') })->{body}, '{}',
   'back to it');

my %seen;
wait_for { $seen{ NgxQueues::Pubsub::data($_) }++ for $p->pull('sub', 10); keys %seen >= 3 };
is(join(' ', sort keys %seen), 'b c d', 'what was not acknowledged then');

# a snapshot while a large seek is not through: not yet, and each try comes nearer

$p->topic('large', messageRetentionDuration => '600s');
$p->sub('large', 'large');
$p->publish('large', ('x') x 1000) for 1 .. 6;
is(seek_to('large', { time => moment(time - 60) })->{body}, '{}', 'a large seek');

my $large = $p->name('subscriptions', 'large');

refused(snap('snap-large', $large), 'a snapshot meanwhile', '409 ABORTED',
        qr/seek .* not through/);
ok(wait_for(sub { snap('snap-large', $large)->{status} == 200 }, 10), 'it is made in the end');

# times: with what was acknowledged, where the subscription keeps it

@m = $p->pull('keeps', 10);
is(NgxQueues::Pubsub::data(@m), 'a b c d', 'received by the other');
$p->ack('keeps', @m);

is(seek_to('keeps', { time => moment(time - 3600) })->{body}, '{}', 'an hour back');
%seen = ();
wait_for { $seen{ NgxQueues::Pubsub::data($_) }++ for $p->pull('keeps', 10); keys %seen >= 4 };
is(join(' ', sort keys %seen), 'a b c d', 'all of it again');

is(seek_to('keeps', { time => moment(time + 3600) })->{body}, '{}', 'an hour ahead');
is(NgxQueues::Pubsub::data($p->pull('keeps', 10)), '', 'nothing is left');

$p->publish('orders', 'later');
@m = $p->pull('keeps', 10);
is(NgxQueues::Pubsub::data(@m), 'later', 'but what is published before that hour');
$p->ack('keeps', @m);

is(seek_to('sub', { time => $_ })->{body}, '{}', "to $_")
    for '1969-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z',
        '2026-10-13T17:02:40+02:00';

# seeks that are refused

my $snap = $p->name('snapshots', 'snap-1');

refused(seek_to('sub', $_), "seek $_")
    for '{}', '', '{"time":null,"snapshot":null}',
        qq/{"time":"2026-01-01T00:00:00Z","snapshot":"$snap"}/,
        '{"time":"yesterday"}', '{"time":1}', '{"time":"2026-01-01T00:00:00"}',
        '{"snapshot":"snap-1"}', '{"snapshot":"projects/x/snapshots/snap-1"}',
        qq/{"snapshot":"$topic"}/, '{"snapshot":1}', '{"x":1}', '[]';
refused(seek_to('sub', { snapshot => $p->name('snapshots', 'none') }),
        'to no snapshot', '404 NOT_FOUND', qr/\(resource=none\)/);
refused(seek_to('none', $_), 'of no subscription', '404 NOT_FOUND',
        qr/\(resource=none\)/) for { snapshot => $snap }, { time => '2026-01-01T00:00:00Z' };
refused(seek_to('foreign', { snapshot => $snap }), 'a snapshot of another topic',
        undef, qr/another topic/);

$p->call('sub', 'detach', {});
refused(snap('snap-9'), 'of a detached subscription', '400 FAILED_PRECONDITION',
        qr/detached/);
refused(seek_to('sub', { time => '2026-01-01T00:00:00Z' }),
        'seek of a detached subscription', '400 FAILED_PRECONDITION', qr/detached/);

$p->delete('topics', 'orders');
is($p->get('snapshots', 'snap-1')->{json}{topic}, '_deleted-topic_',
   'a snapshot of a topic that was deleted');

$s->finish;

done_testing();
