#!/usr/bin/perl

# The functions of redis/*.lua: pops over the queues of a namespace or task.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use NgxQueues::Functions;
use NgxQueues::Logs;
use NgxQueues::Wait;

NgxQueues::Functions::start();

sub queues {
    my %name = reverse @{ $r->call('HGETALL', "$root:ln") };
    return join ' ', map { $name{ $_->{q} } } @{ $_[0]{lanes} };
}

is(log_find('none', '')->{next}, -1, 'no queue of the namespace');

log_push('shop.mail', 'p', 1, 2);
log_push('shop.post', 'p', 3);
log_push('shop', 'p', 4);
log_push('bank.mail', 'p', 5);

my $got = log_find('shop', '', batch => 10);
is(queues($got), 'shop', 'one lane where not said otherwise');
is($got->{q}, '', 'the queue is not told first');
is(queues(log_find('shop', '')), 'shop.mail', 'then the next queue');
is(queues(log_find('shop', '')), 'shop.post', 'and the next');
$got = log_find('shop', '');
is(ids($got), '', 'all is leased');
cmp_ok($got->{next}, '>', 299_000, 'till the first lease ends');

is(join(' ', sort split / /, queues(log_find('', 'mail', group => 'm',
                                             partitions => 5))),
   'bank.mail shop.mail', 'by task');
is(queues(log_find('shop', 'mail', group => 'b', partitions => 5)), 'shop.mail',
   'by both');
is(queues(log_find('bank', 'post', group => 'b')), '', 'which none has');
is(log_pop('shop.post', group => 'b')->{lanes}[0]{name}, 'p',
   'a group that looked at a queue may pop of it');

$got = log_find('shop', '', group => 'all', partitions => 2, batch => 10);
is(scalar @{ $got->{lanes} }, 2, 'partitions of several queues');
is(log_ack($got, '', group => 'all'), '1' . 'o' x @{ [
   grep { $_->{lane} == $got->{lanes}[0] } @{ $got->{messages} } ] },
   'are acknowledged as any');
is(f('log_undo', $got->{lease}), 1, 'and given back');

# each queue has its own time of a lease

log_set('shop', lease => 7);
log_set('shop.mail', lease => 77);
$got = log_find('shop', '', group => 'times', partitions => 5, batch => 10);
my %seconds;
for my $lane (@{ $got->{lanes} }) {
    my $g = $r->call('HGET', lkey('lg', $lane->{q}), 'times') =~ s/:.*//r;
    my $until = $r->call('ZSCORE', lkey('lr', $lane->{q}, $g), $lane->{l});

    $seconds{ int(($until - $got->{now}) / 1000) }++;
}
is(join(' ', sort keys %seconds), '300 7 77', 'each lane for the time of its queue');

# groups that begin now

log_find('shop', '', group => 'new', mode => 'n');
log_push('shop', 'p', 6);
is(ids(log_find('shop', '', group => 'new')), '6',
   'a group is registered on what it looked at');

# many queues, in rounds

log_push("many.$_", 'p', $_) for 1 .. 120;
my (%seen, $calls);
for (1 .. 120) {
    $got = log_find('many', '');
    $seen{ queues($got) }++;
}
is(scalar keys %seen, 120, 'fairly over all queues');
($calls, $got) = (1, log_find('many', ''));
while ($got->{next} == 0 && $calls < 20) {
    $got = log_find('many', '');
    $calls++;
}
is($calls, 3, 'a round that finds nothing takes three calls of 50');
cmp_ok($got->{next}, '>', 290_000, 'then it is known when there will be something');
is(log_find('many', '')->{next}, 0, 'another begins');
log_push('many.3', 'q', 'x');
my $more;
for (1 .. 4) { $more = log_find('many', ''); last if ids($more) ne '' }
is(ids($more), 'x', 'what comes in the meantime is found');
log_ack($more, '');

# hints

hints();
$got = log_find('many', '', wait => 1);
$got = log_find('many', '', wait => 1) while $got->{next} == 0;
is(hints(), '', 'one waits');
log_push('many.77', 'q', 'y');
is(hints(), 'd', 'and is told of a push to any of the queues');
is(ids(log_find('many', '', wait => 1, group => 'x', lease => 'l')) ne '', 1,
   'another group has its own round');
log_push('many.new', 'p', 1);
is(hints(), 'd', 'a new queue is told of at once');

$got = log_find('bank', '', group => 'm', wait => 1);
log_pop('bank.mail', group => 'm', wait => 1);
hints();
log_push('bank.mail', 'p', 'z');
is(hints(), log_q('bank.mail') . ' d', 'both who wait are told');

# pops stop

$r->call('HSET', "$root:lz", 'pop', 1);
is(log_find('bank', '', group => 'off')->{next}, 1000, 'pops are off');
$r->call('DEL', "$root:lz");

for my $bad ([ 'a' ], [ '', '', 'g', 1, 1, 0, '', 'a', '', 0, 'l' ],
             [ 'a', '', 'g', 1, 1, 0, '', 'x', '', 0, 'l' ])
{
    like(f('log_find', @$bad) . '', qr/^QUEUES ARGUMENT /, "wrong: @$bad");
}

log_sound('all is well');
done_testing();
