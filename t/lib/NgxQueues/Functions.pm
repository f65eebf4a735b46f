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

our @EXPORT = qw($r $lib $root f members hints uuid create put take token ack visibility
                 bodies counts key sound waits waiting retention hot soon
                 serial folder address put_fifo take_fifo moved peek
                 tend elapse aged);

our ($r, $lib);                 # the connection, the library's name
our $root = 'ngxq:{acme/shop}';
my $members = 'ngxq:{push}';

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

    # histories and the like run beside tests of nginx for which a tenth of a
    # second counts

    POSIX::nice(10);

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

    for (1 .. 1200) {
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

# likewise of those that are about no project: push_join, push_leave, push_note

sub members {
    my $name = shift;

    return $r->call('FCALL', "${lib}_$name", 1, $members, @_);
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
                  $o{dlq} ? "q$o{dlq}" : '', $o{mrc} // 0);

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

    return ([ @$reply[0 .. 3], $reply->[4] =~ /^(\d+)/ ], _standard($reply));
}

sub _standard {
    my ($reply) = @_;
    my (undef, undef, undef, undef, $text, @rest) = @$reply;
    my ($now, @what) = split / /, $text;
    my @m;

    for my $what (@what) {
        my ($id, $count, $first, $a) =
            $what =~ /^(z?\d+-\d+)(?::(\d+):(\d+))?(a?o?)$/
            or die "received: $what\n";

        push @m, [ $id, shift @rest, $a =~ /a/ ? shift @rest : '',
                   $count // 1, $first // $now,
                   $a =~ /o/ ? shift @rest : () ];
    }

    die "more received: @rest\n" if @rest;

    return @m;
}

# sends bodies to a group, each with a deduplication id of its own; returns
# [ id, seq ] for each

my $dedup = 0;

sub put_fifo {
    my ($q, $group, @bodies) = @_;

    my $reply = f('send_fifo', "q$q", 1,
                  map { ($group, 'd-' . ++$dedup, qq("$_"), '') } @bodies);
    die "send_fifo: $reply\n" if ref $reply;

    my ($queue, $gen, @words) = split / /, $reply;

    return map { [ split /:/ ] } @words;
}

# likewise for FIFO queues; each message is a hash: id, group, seq, body,
# attributes, count, first, ms, due, origin

sub take_fifo {
    my ($q, $n, $vt, $wait) = @_;

    my $reply = f('receive', "q$q", $n, $vt // '', $wait // '', ++$token);
    die "receive: $reply\n" unless ref $reply eq 'ARRAY';

    return ([ @$reply[0 .. 3] ], _fifo($reply));
}

sub _fifo {
    my ($reply) = @_;
    my (undef, undef, undef, undef, $text, @rest) = @$reply;
    my ($now, @words) = split / /, $text;
    my @m;

    $now =~ s/^f(?=\d+\z)// or die "received: $text\n";

    for my $word (@words) {
        my ($gid, $a, $z, $count, $first) =
            $word =~ /^(\d+):(\d+):(\d+)(?::(\d+):(\d+))?\z/
            or die "received: $word\n";
        my $group = shift @rest;

        for my $seq ($a .. $z) {
            my ($ms, $n, $due, $length, $origin, $text) = shift(@rest)
                =~ /^(\d+)-(\d+):(\d*):(\d+):([^:]*):(.*)\z/s
                or die "received: no value of $gid:$seq\n";

            push @m, { id => "$gid:$seq", group => $group, seq => $seq,
                       body => substr($text, 0, $length) =~ tr/"//dr,
                       attributes => substr($text, $length),
                       count => $count // 1, first => $first // $now,
                       ms => $ms, n => $n, due => $due, origin => $origin };
        }
    }

    die "more received: @rest\n" if @rest;

    return @m;
}

# what a peek shows of a FIFO queue; of a standard one, as take()

sub peek {
    my ($q, $state, $limit) = @_;

    my $reply = f('peek', "q$q", $state, $limit // 100);
    die "peek: $reply\n" unless ref $reply eq 'ARRAY';

    return $reply->[4] =~ /^f/ ? _fifo($reply) : _standard($reply);
}

# redrives till there is no more; returns how many, what remains, and calls

sub moved {
    my ($q, $dest, $limit) = @_;
    my ($sum, $calls, $reply) = (0, 0);

    do {
        $reply = f('redrive', "q$q", $dest // '', $limit // 100);
        die "redrive: $reply\n" unless ref $reply eq 'ARRAY';
        $sum += $reply->[0];
        die "redrive comes to no end\n" if ++$calls > 10000;
    } while ($reply->[2]);

    return ($sum, $reply->[1], $calls);
}

# looks after the project till nothing is due; returns the last reply

sub tend {
    my ($holder, $calls, $reply) = ($_[0] // 'tender', 0);

    do {
        $reply = f('maintain', $holder, $_[1] // 20);
        die "maintain: $reply\n" unless ref $reply eq 'ARRAY';
        die "maintain comes to no end\n" if ++$calls > 10000;
    } while ($reply->[0] && $reply->[1] == 0);

    return "@$reply[0, 1]";
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

    my $s = hot($q, 's');
    $r->call('HSET', key('h', $q), 's', (substr($s, 0, 1) | 1) . substr $s, 1);
}

sub waiting { substr(hot($_[0], 's'), 0, 1) % 2 }

# another retention from the next call on

sub retention {
    my ($q, $seconds) = @_;

    my @s = split /:/, hot($q, 's'), 14;

    $s[11] = $seconds;
    $r->call('HSET', key('h', $q), 's', join(':', @s), 'hx', 0, 't', 0);
    $r->call('ZADD', "$root:t", 'XX', 'LT', 0, $q);
    $r->call('HSET', key('q', $q), 'ret', $seconds);
}

# lets the moment of something in y, f or b be over

sub soon {
    my ($q, $key, $member) = @_;

    $member //= $r->call('ZRANGE', $key, 0, 0)->[0];
    $r->call('HSET', key('h', $q), 't', 0);
    $r->call('ZADD', "$root:t", 'XX', 'LT', 1, $q);

    return $r->call('ZADD', $key, 'XX', 'CH', 1, $member);
}

# As if that much time had passed: every moment that the project knows of is
# moved back.  A multiple of 5 minutes, so that windows of deduplication are
# whole; what is known of the ends of groups stays.  Ids of standard queues
# have the moment in them: aged() says what has become of one.

my $script = <<'END';
local root, x = ARGV[1], tonumber(ARGV[2])

local function back(n)
    n = tonumber(n)
    return string.format('%.0f', n > 0 and n - x or n)
end

local function aged(id)
    return (id:gsub('^(z?)(%d+)%-', function(z, ms)
        return z .. back(ms) .. '-'
    end))
end

local function zset(key, rename)
    local list = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
    redis.call('DEL', key)

    for i = 1, #list, 2 do
        redis.call('ZADD', key, string.format('%.0f', list[i + 1] - x),
                   rename and rename(list[i]) or list[i])
    end
end

local function hash(key, change)
    local list = redis.call('HGETALL', key)
    redis.call('DEL', key)

    for i = 1, #list, 2 do
        redis.call('HSET', key, change(list[i], list[i + 1]))
    end
end

local function stream(key)
    if redis.call('EXISTS', key) == 0 then
        return
    end

    local list, has = redis.call('XRANGE', key, '-', '+'), {}
    local info = redis.call('XINFO', 'STREAM', key)

    for i = 1, #info, 2 do
        has[info[i]] = info[i + 1]
    end

    redis.call('DEL', key)
    redis.call('XGROUP', 'CREATE', key, 'g', '$', 'MKSTREAM')
    redis.call('XGROUP', 'DESTROY', key, 'g')

    for _, entry in ipairs(list) do
        redis.call('XADD', key, aged(entry[1]), unpack(entry[2]))
    end

    redis.call('XSETID', key, aged(has['last-generated-id']), 'ENTRIESADDED',
               has['entries-added'], 'MAXDELETEDID', '0-0')
end

local function standard(q, gen)
    local function key(letter)
        return root .. ':' .. letter .. ':' .. q .. ':' .. gen
    end

    stream(key('m'))
    stream(key('z'))
    zset(key('y'), aged)
    zset(key('f'), aged)
    zset(key('b'))
    hash(key('d'), function(id, state)
        local token, count, first, last = state:match('^(.-):(.-):(.-):(.-)$')
        return aged(id), table.concat({ token, count, back(first),
                                        back(last) }, ':')
    end)
    hash(key('e'), function(token, record)
        local moment, ids = record:match('^(%d+)(.*)$')
        return token, back(moment) .. ids:gsub(' (%d+)%-', function(ms)
            return ' ' .. back(ms) .. '-'
        end)
    end)
end

local function fifo(q, gen, hot)
    local function key(letter)
        return root .. ':' .. letter .. ':' .. q .. ':' .. gen
    end

    for _, letter in ipairs({ 'y', 'f', 'b', 'o', 'x', 'k' }) do
        zset(key(letter))
    end

    hash(key('u'), function(field, value)
        return field, (value:gsub('^(%d+)(%-%d+:)(%d*)', function(ms, n, due)
            return back(ms) .. n .. (due ~= '' and back(due) or '')
        end))
    end)
    hash(key('d'), function(gid, text)
        return gid, (text:gsub('(%d+),(%d+),(%d+);', function(a, b, c)
            return back(a) .. ',' .. back(b) .. ',' .. back(c) .. ';'
        end))
    end)
    hash(key('e'), function(token, record)
        return token, (record:gsub('^%d+', back))
    end)

    local dw = redis.call('HGET', hot, 'dw')

    for _, w in ipairs(dw and { dw - 1, dw } or {}) do
        local from = root .. ':i:' .. q .. ':' .. string.format('%.0f', w)
        local to = root .. ':i:' .. q .. ':'
                   .. string.format('%.0f', w - x / 300000)

        hash(from, function(id, value)
            return id, (value:gsub('%d+$', back))
        end)

        if redis.call('EXISTS', from) == 1 then
            redis.call('RENAME', from, to)
        end
    end

    if dw then
        redis.call('HSET', hot, 'dw', string.format('%.0f', dw - x / 300000))
    end
end

local names = redis.call('HGETALL', root .. ':n')

for i = 2, #names, 2 do
    local q, hot = names[i], root .. ':h:' .. names[i]
    local s = redis.call('HGET', hot, 's')
    local gen, low, kind = s:match('^%d:[^:]*:(%d+):([^:]*):(.)')

    if kind == 'f' then
        fifo(q, gen, hot)
    else
        standard(q, gen)
    end

    for _, field in ipairs({ 't', 'hx', 'cur', 'last', 'rc' }) do
        local value = redis.call('HGET', hot, field)

        if value then
            redis.call('HSET', hot, field, value:find('-', 2, true)
                                           and aged(value) or back(value))
        end
    end

    redis.call('HSET', hot, 's', (s:gsub('^(%d:[^:]*:%d+:)[^:]*', function(a)
        return a .. aged(low)
    end)))
end

zset(root .. ':t')
zset(root .. ':pw')

local subscriptions = redis.call('HGETALL', root .. ':p')

for i = 2, #subscriptions, 2 do
    zset(root .. ':pd:' .. subscriptions[i])
end

local lease = redis.call('GET', root .. ':a')

if lease then
    local left = redis.call('PTTL', root .. ':a') - x

    if left > 0 then
        redis.call('SET', root .. ':a', (lease:gsub('%d+$', back)), 'PX', left)
    else
        redis.call('DEL', root .. ':a')
    end
end

return 1
END

my $sha;

sub elapse {
    my ($seconds) = @_;

    die "elapse: $seconds is no multiple of 300\n" if $seconds % 300;

    $sha //= $r->call('SCRIPT', 'LOAD', $script);
    my $reply = $r->call('EVALSHA', $sha, 0, $root, $seconds * 1000);
    die "elapse: $reply\n" if ref $reply;
}

sub aged {
    my ($id, $seconds) = @_;

    return $id =~ s/^(z?)(\d+)-/$1 . ($2 - $seconds * 1000) . '-'/er;
}


1;
