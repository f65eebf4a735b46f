package NgxQueues::Functions;

# A Redis of its own with the function library, and short ways to call the
# functions of one project.  start() first; see the subs for the rest.

use strict;
use warnings;

use Exporter 'import';
use File::Temp qw(tempdir);
use FindBin;
use POSIX qw(_exit);
use Test::More;
use Time::HiRes qw(sleep);

use NgxQueues::Check;
use NgxQueues::Redis;

our @EXPORT = qw($r $lib $root f hints uuid create put take token ack visibility
                 bodies counts key sound waits waiting retention hot soon
                 serial folder address);

our ($r, $lib);                 # the connection, the library's name
our $root = 'ngxq:{acme/shop}';

my ($dir, $pid, $sub);
my $main = $$;

END {
    if ($pid && $$ == $main) {
        local $?;
        kill 'KILL', $pid;
        waitpid $pid, 0;
    }
}

sub folder { "$FindBin::Bin/../redis" }
sub address { "$dir/s" }

# starts all that, or skips the file

sub start {
    my $server = $ENV{REDIS_SERVER} || 'redis-server';

    plan skip_all => 'no redis-server'
        unless grep { -x "$_/$server" || -x $server }
               split /:/, "$ENV{PATH}:/usr/sbin";

    $dir = tempdir('ngxq-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    $pid = fork // die "fork: $!\n";

    if (!$pid) {
        open STDOUT, '>', "$dir/log";
        open STDERR, '>&', \*STDOUT;
        exec $server, '--save', '', '--appendonly', 'no', '--port', 0, '--dir',
             $dir, '--unixsocket', "$dir/s" or _exit(1);
    }

    for (1 .. 100) {
        last if $r = eval { NgxQueues::Redis->new(address()) };
        sleep 0.05;
    }

    BAIL_OUT('redis-server does not start') unless $r;

    $lib = $r->load_library(folder());
    $sub = NgxQueues::Redis->new(address());
    $sub->call('SSUBSCRIBE', "$root:w");
}

sub f {
    my $name = shift;

    return $r->call('FCALL', "${lib}_$name", 1, $root, @_);
}

# what was published since the last look

sub hints {
    my @got;

    $r->call('SPUBLISH', "$root:w", 'end');
    while ((my $m = $sub->get->[2]) ne 'end') { push @got, $m }

    return join ' ', @got;
}

my $serial = 0;

sub serial { $serial }
sub uuid { sprintf '01890000-0000-7000-8000-%012d', $_[0] }

# a queue with these settings; returns Q

sub create {
    my ($name, %o) = @_;

    my $n = ++$serial;
    my $q = sprintf 'q%011d', $n;
    my $reply = f('queue_create', $q, uuid($n), $name, $o{kind} // 'standard',
                  $o{vt} // 30, $o{wait} // 0, $o{ret} // 345600,
                  $o{delay} // 0, $o{max} // 262144, $o{cbd} // 0,
                  $o{dlq} // '', $o{mrc} // 0);

    return ref $reply eq 'ARRAY' ? $q : $reply;
}

# sends bodies, with the delay of the queue if it is ''; returns ids

sub put {
    my ($q, $delay, @bodies) = @_;

    my $longest = 0;
    for (@bodies) { $longest = length if length > $longest }

    my $reply = $delay eq ''
        ? f('send', "q$q", $longest, map { qq("$_") } @bodies)
        : f('send_each', "q$q", $longest,
            map { ($delay, qq("$_"), '') } @bodies);
    die "send: $reply\n" if ref $reply;

    my ($queue, $gen, @ids) = split / /, $reply;

    return @ids;
}

my $token = 1000;

sub token { $token }

# receives; returns (head, message …), each message a list of five: id, body,
# attributes, count, first

sub take {
    my ($q, $n, $vt, $wait) = @_;

    my $reply = f('receive', "q$q", $n, $vt // '', $wait // '', ++$token);
    die "receive: $reply\n" unless ref $reply eq 'ARRAY';

    my @head = splice @$reply, 0, 4;
    my ($now, @what) = split / /, shift @$reply;
    my @m;

    for my $what (@what) {
        my ($id, $count, $first, $a) =
            $what =~ /^(z?\d+-\d+)(?::(\d+):(\d+))?(a?)$/
            or die "received: $what\n";

        push @m, [ $id, shift @$reply, $a ? shift @$reply : '', $count // 1,
                   $first // $now ];
    }

    die "more received: @$reply\n" if @$reply;

    return ([ @head, $now ], @m);
}

# per message: Q G id token; and vt for visibility

sub ack { return _receipts('ack', 4, @_) }
sub visibility { return _receipts('visibility', 5, @_) }

sub _receipts {
    my ($name, $width, @args) = @_;
    my (@groups, @call);

    while (my ($q, $gen, $id, @rest) = splice @args, 0, $width) {
        my $head = join ' ', $q, $gen, @rest;

        push @groups, [ [ $q, $gen, @rest ], $head ]
            if !@groups || $groups[-1][1] ne $head;
        push @{ $groups[-1] }, $id;
    }

    for (@groups) {
        my ($head, undef, @ids) = @$_;
        push @call, @$head, join ' ', @ids;
    }

    my $reply = f($name, @call);

    return ref $reply ? $reply : [ split //, $reply ];
}

sub bodies { join ' ', map { $_->[1] =~ tr/"//dr } @_ }
sub counts { my $c = f('queue_count', "q$_[0]"); join ' ', @$c[15 .. 17] }
sub key { my ($k, $q, $g) = @_; "$root:$k:$q" . ($g ? ":$g" : '') }
sub hot { $r->call('HGET', key('h', $_[0]), $_[1]) }
sub sound { my @p = NgxQueues::Check::check($r); is("@p", '', $_[0]) }

# a receive waits; whether one does

sub waits {
    my ($q) = @_;

    $r->call('HSET', key('h', $q), 's', '1' . substr hot($q, 's'), 1);
}

sub waiting { substr hot($_[0], 's'), 0, 1 }

# another retention from the next call on

sub retention {
    my ($q, $seconds) = @_;

    my @s = split /:/, hot($q, 's'), 11;

    $s[8] = $seconds;
    $r->call('HSET', key('h', $q), 's', join(':', @s), 'hx', 0, 't', 0);
    $r->call('HSET', key('q', $q), 'ret', $seconds);
}

# lets the moment of something in y, f or b be over

sub soon {
    my ($q, $key, $member) = @_;

    $member //= $r->call('ZRANGE', $key, 0, 0)->[0];
    $r->call('HSET', key('h', $q), 't', 0);

    return $r->call('ZADD', $key, 'XX', 'CH', 1, $member);
}


1;
