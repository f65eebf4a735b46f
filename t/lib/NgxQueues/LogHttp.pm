package NgxQueues::LogHttp;

# Logs over HTTP, for NgxQueues::LogHistory.
#
#     my $s = NgxQueues::LogHttp->new($server);
#
# $server: an NgxQueues::Server with the Queen API for o/p below /api/v1/,
# without authentication.

use strict;
use warnings;

use parent 'NgxQueues::LogCalls';

use Encode qw(encode_utf8);
use JSON::PP ();
use POSIX qw(strftime);
use Time::Local qw(timegm);

use NgxQueues::LogModel;

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my $worlds = 0;


sub new {
    my ($class, $server) = @_;

    # a first call has nginx load the library

    $server->client->get('/api/v1/pop/queue/none');

    my $s = $class->SUPER::new($server->redis->client);

    @$s{qw(root clients)} = ('ngxq:{o/p}', [ map { $server->client } 1 .. 3 ]);

    return $s;
}

sub precise { 0 }
sub repeats { 1 }
sub blur { 'x' }                # a dropped message is a success like others
sub start { 'w' . ++$worlds }

# texts of the model are those of JSON strings
sub text { $json->decode('"' . $_[0] . '"') }
sub canonical { substr $json->encode("$_[0]"), 1, -1 }
sub uri { encode_utf8(text($_[0])) =~ s/([^\w.-])/sprintf '%%%02X', ord $1/egr }

sub iso {
    my ($ms) = @_;
    return strftime('%Y-%m-%dT%H:%M:%S', gmtime int $ms / 1000)
           . sprintf '.%03dZ', $ms % 1000;
}

sub moment {
    my ($y, $mon, $d, $h, $min, $s, $ms) =
        $_[0] =~ /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{3})Z\z/
        or die "no moment: $_[0]\n";
    return timegm($s, $min, $h, $d, $mon - 1, $y) * 1000 + $ms;
}

sub call {
    my ($s, $status, $method, $path, $body) = @_;
    my $c = $s->{clients}[rand @{ $s->{clients} }];
    my $r = $c->request($method, "/api/v1$path", $body);

    die "$method $path $body: $r->{status} $r->{body}\n"
        if $r->{status} !~ /^(?:$status)\z/;
    return $r;
}

# lists dealt out into one, each in its order: pairs of (list, index)
sub deal {
    my @from = map { [ 0 .. $_[$_] - 1 ] } 0 .. $#_;
    my @all;

    while (my @left = grep { @{ $from[$_] } } 0 .. $#from) {
        my $i = $left[rand @left];
        push @all, [ $i, shift @{ $from[$i] } ];
    }

    return @all;
}


sub item {
    my ($g, $i) = @_;
    my ($txn, $payload) = @{ $g->{items}[$i] };

    return qq({"queue":"$g->{queue}",)
           . ($g->{lane} eq 'Default' && rand() < 0.5
              ? '' : qq("partition":"$g->{lane}",))
           . qq("transactionId":"$txn","payload":$payload});
}

sub push_ {
    my ($s, $groups) = @_;
    my @deal = deal(map { scalar @{ $_->{items} } } @$groups);
    my $r = $s->call(201, 'POST', '/push', '{"items":[' . join(',', map {
        item($groups->[ $_->[0] ], $_->[1]) } @deal) . ']}');
    my ($n, @all) = (0);

    for my $is (@{ $r->{json} }) {
        my ($i, $j) = @{ $deal[$n] };
        my $g = $groups->[$i];

        die "push: item $n: " . $json->encode($is) . "\n"
            if $is->{index} != $n++
               || $is->{status} !~ /^(?:queued|duplicate)\z/
               || canonical($is->{queueName}) ne $g->{queue}
               || canonical($is->{transaction_id}) ne $g->{items}[$j][0];
        $all[$i][$j] = { dup => $is->{status} eq 'duplicate',
                         key => $is->{message_id} };
    }

    die "push: $n answers, not " . @deal . "\n" if $n != @deal;

    return \@all;
}


sub pop_ {
    my ($s, $op) = @_;
    my %mode = (a => [ '', 'subscriptionMode=all' ],
                n => [ 'subscriptionMode=new', 'subscriptionFrom=now' ],
                t => [ 'subscriptionFrom=' . iso($op->{from}) ]);
    my $mode = $mode{ $op->{mode} };
    my $queue = $op->{group} eq NgxQueues::LogModel->QUEUE_MODE;
    my @query = ("batch=$op->{batch}", "partitions=$op->{partitions}",
        $op->{auto} ? 'autoAck=true' : (),
        $op->{seconds} ? "leaseSeconds=$op->{seconds}" : (),
        $queue ? () : 'consumerGroup=' . uri($op->{group}),
        $mode->[rand @$mode] || ());
    my $path = '/pop';

    if (defined $op->{queue}) {
        $path .= '/queue/' . uri($op->{queue});
        $path .= '/partition/' . uri($op->{lane}) if defined $op->{lane};
    } else {
        push @query, 'namespace=' . uri($op->{ns});
        push @query, 'task=' . uri($op->{task}) if $op->{task} ne '';
    }

    my $r = $s->call('200|204', 'GET', "$path?" . join '&', @query);

    if ($r->{status} == 204) {
        die "204 with a body\n" if $r->{body} ne ''
            || defined $r->{headers}{'content-length'};
        return { lease => '', lanes => [] };
    }

    return popped($op, $r->{json});
}

sub popped {
    my ($op, $is) = @_;
    my @lanes;

    for my $m (@{ $is->{messages} }) {
        my $id = $m->{partitionId};

        push @lanes, { id => $id, name => canonical($m->{partition}) }
            if !@lanes || $lanes[-1]{id} ne $id;
        push @{ $lanes[-1]{messages} }, {
            key => $m->{id}, ms => moment($m->{createdAt}),
            txn => canonical($m->{transactionId}),
            payload => $json->encode($m->{data})
        };

        die "a message has " . $json->encode($m) . "\n"
            if defined $m->{traceId} || defined $m->{producerSub}
               || !exists $m->{traceId} || !exists $m->{producerSub}
               || $m->{leaseId} ne $is->{leaseId}
               || canonical($m->{consumerGroup}) ne $op->{group};
    }

    my %want = (success => 1, queue => $op->{queue} // '', partition =>
                $lanes[0]{name}, consumerGroup => $op->{group});

    for (sort keys %want) {
        die "a pop has $_ $is->{$_}\n" if canonical($is->{$_}) ne $want{$_};
    }

    die "a pop has lanes $is->{partitionId} …, $is->{partitionsClaimed}\n"
        if $is->{partitionId} ne $lanes[0]{id}
           || $is->{partitionsClaimed} != @lanes;

    return { lease => $is->{leaseId}, lanes => \@lanes };
}


my %words = (c => [ '"completed"', '"success"', '"acked"', '"ok"', 'null', '' ],
             r => [ '"retry"' ], d => [ '"dlq"' ],
             f => [ '"failed"', '"nack"', '"Completed"', '""' ]);

sub acked {
    my ($s, $g, $i, $lease) = @_;
    my ($status, $txn, $error) = @{ $g->{items}[$i] };
    my $word = $words{$status}[rand @{ $words{$status} }];

    return qq("transactionId":"$txn","partitionId":"$g->{lane}{id}")
           . ($lease && $g->{lease} ne '' ? qq(,"leaseId":"$g->{lease}") : '')
           . ($word ne '' ? qq(,"status":$word) : '')
           . ($error ne '' ? qq(,"error":"$error")
              : rand() < 0.5 ? ',"error":null' : '');
}

sub group {
    my ($group) = @_;

    return qq("consumerGroup":"$group")
        if $group ne NgxQueues::LogModel->QUEUE_MODE;
    return rand() < 0.5 ? '"consumerGroup":null' : '';
}

my %errors = ('already committed' => 'a', 'unresolvable' => 'u',
              'position beyond leased batch' => 'b',
              'invalid or expired lease' => 'l', 'consumer not found' => 'c');

sub letter {
    my ($is) = @_;
    my ($text) = ($is->{error} // '') =~ /(already\ committed
        |^unresolvable|^position.*|^invalid.*|^consumer.*)/x;
    my $letter = $is->{success} ? ($is->{dlq} ? 'd' : $is->{noop} ? 'n' : 'o')
                                : $errors{ $text // '' };

    die 'an ack has ' . $json->encode($is) . "\n"
        if !$letter || $is->{success} && defined $is->{error}
           || !exists $is->{error} || !!$is->{noop} != ($letter =~ m{[nua]})
           || grep { ref $is->{$_} ne 'JSON::PP::Boolean' }
              qw(success leaseReleased dlq noop);

    return $letter;
}

sub ack {
    my ($s, $group, $groups) = @_;
    my @deal = deal(map { scalar @{ $_->{items} } } @$groups);
    my @items = map { $s->acked($groups->[ $_->[0] ], $_->[1], 1) } @deal;
    my @of = group($group) || ();
    my $list = '"acknowledgments":[' . join(',', map { "{$_}" } @items) . ']';
    my $r = @items == 1 && rand() < 0.7
        ? $s->call(200, 'POST', '/ack', '{' . join(',', @items, @of) . '}')
        : $s->call(200, 'POST', '/ack/batch',
                   '{' . join(',', $list, @of) . '}');
    my (@all, %released);

    die 'ack: ' . @{ $r->{json} } . ' answers, not ' . @items . "\n"
        if @{ $r->{json} } != @items;

    for my $n (0 .. $#deal) {
        my ($i, $j) = @{ $deal[$n] };
        my $is = $r->{json}[$n];
        my $letter = letter($is);

        die "ack: item $n: " . $json->encode($is) . "\n" if $is->{index} != $n
            || canonical($is->{transactionId}) ne $groups->[$i]{items}[$j][1];
        $all[$i][0] .= $letter;
        $released{$i}{ $is->{leaseReleased} ? 1 : 0 } = 1
            if $is->{leaseReleased} || $letter =~ /[od]/;
    }

    for my $i (0 .. $#all) {
        my @is = keys %{ $released{$i} // { 0 => 1 } };

        die "ack: released and not\n" if @is > 1;
        $all[$i][1] = $is[0];
    }

    return \@all;
}


# operations in any order, and of each what its results are about
sub operations {
    my ($s, $op) = @_;
    my (@all, @about);
    my @lists = (map({ [ push => $_ ] } 0 .. $#{ $op->{push} }),
                 map({ [ acks => $_ ] } 0 .. $#{ $op->{acks} }));

    for (deal(map { scalar @{ $op->{ $_->[0] }[ $_->[1] ]{items} } } @lists)) {
        my ($kind, $i) = @{ $lists[ $_->[0] ] };
        my $g = $op->{$kind}[$i];

        push @about, [ $kind, $i, $_->[1] ];
        push @all, $kind eq 'push'
            ? '{"type":"push","items":[' . item($g, $_->[1]) . ']}'
            : '{' . join(',', '"type":"ack"', $s->acked($g, $_->[1], 1),
                         group($g->{group}) || ()) . '}';
    }

    return (\@all, \@about);
}

sub tx {
    my ($s, $op) = @_;
    my ($operations, $about) = $s->operations($op);
    my $leases = join ',', map { qq("$_") } @{ $op->{leases} };
    my $is = $s->call(200, 'POST', '/transaction', '{"operations":['
        . join(',', @$operations) . ']' . ($leases ne '' || rand() < 0.5
        ? qq(,"requiredLeases":[$leases]) : '') . '}')->{json};

    if (!$is->{success}) {
        die 'tx: ' . $json->encode($is) . "\n"
            if @{ $is->{results} } || ($is->{error} // '') eq '';
        return { ok => 0 };
    }

    my %answer = (ok => 1, push => [], acks => []);
    my $n = 0;

    for my $r (@{ $is->{results} }) {
        my ($kind, $i, $j) = @{ $about->[$n] };
        my $txn = $op->{$kind}[$i]{items}[$j][$kind eq 'push' ? 0 : 1];

        die "tx: result $n: " . $json->encode($r) . "\n"
            if $r->{index} != $n++ || !$r->{success}
               || $r->{type} ne ($kind eq 'push' ? 'push' : 'ack')
               || canonical($r->{transactionId}) ne $txn;

        if ($kind eq 'push') {
            $answer{push}[$i][$j] = { key => $r->{messageId}, again => 1,
                                      dup => !!$r->{duplicate} };
        } else {
            $answer{acks}[$i][0] .= $r->{dlq} ? 'd' : 'o';
        }
    }

    die "tx: $n results, not " . @$about . "\n" if $n != @$about;

    return \%answer;
}


sub extend {
    my ($s, $lease, $seconds) = @_;
    my $is = $s->call(200, 'POST', "/lease/$lease/extend",
                      qq({"seconds":$seconds}))->{json};
    my @at = map { $is->{$_} // '' }
             qw(expiresAt newExpiresAt lease_expires_at);

    die 'extend: ' . $json->encode($is) . "\n"
        if !!$is->{success} != ($is->{renewed} > 0) || $is->{leaseId} ne $lease
           || $at[0] ne $at[1] || $at[0] ne $at[2];

    return ($is->{renewed}, $at[0] eq '' ? 0 : moment($at[0]));
}


1;
