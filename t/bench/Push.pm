package Push;

# The line of what goes through a push subscription, against this nginx
# proxying the same requests; and what the other lines of push need too:
# PushLate.pm.

use strict;
use warnings;

use Exporter 'import';
use Time::HiRes qw/sleep time/;

use NgxQueues::Dns;
use NgxQueues::Process 'free_port';
use NgxQueues::Server;
use NgxQueues::Tls;
use NgxQueues::Wait;

use Bench;
use Figures;

our @EXPORT_OK = qw/HOST PATH begin endpoint tls_files subscribe call state/;

use constant {
    HOST => 'sink.example.com', # all endpoints
    PATH => Bench::API . '/p/subscriptions',
    DELIVERIES => 10_000,       # of a round
    CONCURRENCY => [10, 32],
};

my ($tls, $files, $dns, $endpoint);

sub tls_files {
    $tls ||= NgxQueues::Tls->new;

    return $files ||= $tls->files(HOST);
}


# A fresh worker that delivers, to endpoints on these ports. http, locations:
# more of its configuration.

sub begin {
    my ($ports, %more) = @_;

    $dns ||= NgxQueues::Dns->new(HOST, { A => ['127.0.0.1'] });

    Bench::configure(
        http => join("\n", 'queues_push on;',
                     'queues_push_allow_address 127.0.0.1;',
                     "queues_push_allow_port @$ports;",
                     'queues_push_trusted_certificate ' . tls_files()->{ca}
                     . ';', 'resolver ' . $dns->address . ';',
                     $more{http} // ''),
        locations => Bench::locations() . ($more{locations} // ''));
}

# nginx with one worker that answers all POSTs by 200; what comes below /hang is
# never answered

sub endpoint {
    return $endpoint if $endpoint;

    local $ENV{NGX_QUEUES_MODULE} = '';

    my $files = tls_files();
    my $port = free_port();
    my $silent = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
                                       Listen => 4096) or die "listen: $!";
    my $where = '127.0.0.1:' . $silent->sockport;

    my $server = NgxQueues::Server->new(
        redis => 0, queues => 0, connections => 8192, log_level => 'warn',
        server => <<"        EOF", locations => <<"        EOF");
        access_log off;
        listen 127.0.0.1:$port ssl backlog=4096;
        ssl_certificate $files->{certificate};
        ssl_certificate_key $files->{key};
        ssl_protocols TLSv1.2 TLSv1.3;
        keepalive_requests 1000000000;
        keepalive_timeout 600s;
        EOF
        location / { return 200; }
        location = /status { stub_status; }
        location /hang {
            proxy_pass http://$where;
            proxy_read_timeout 600s;
        }
        EOF

    return $endpoint = {
        server => $server, port => $port, silent => $silent,
        client => $server->client(key => undef), polls => 0,
    };
}

# how many requests have come to it but for these

sub requests {
    my $body = $endpoint->{client}->get('/status')->{body};
    my ($n) = $body =~ /^ \d+ \d+ (\d+)/m or die "stub_status: $body\n";

    return $n - ++$endpoint->{polls};
}


# a call of the API below /subscriptions; what is answered

sub call {
    my ($method, $path, $body, $status) = @_;

    my $r = client()->request($method => PATH . $path, $body);

    die "$method $path: $r->{status} $r->{body}\n"
        if $r->{status} != ($status // 200);

    return $r->{json};
}

# (its id, its secret)

sub subscribe {
    my ($queue, $url, %settings) = @_;

    my $timeout = delete $settings{timeout} // 30;
    my $s = call(POST => '', {
        queueId => $queue, %settings,
        target => { url => $url, timeoutSeconds => $timeout },
    }, 201);

    return ($s->{subscription}, $s->{signingSecret});
}

# for when something does not come

sub state {
    my ($id) = @_;

    my $s = call(GET => "/$id");
    my $counts = client()->get(Bench::API . "/p/queues/$s->{queue}")->{json}
        {counts};

    return JSON::PP->new->canonical->encode({ counts => $counts,
        map { $_ => $s->{$_} } qw/state status/ }) . "\n"
        . substr server()->error_log, 0, 2000;
}


# (queue, its subscription, which is paused, file with the POST to be proxied)

sub tens_ready {
    my $port = endpoint()->{port};
    my $ca = tls_files()->{ca};

    begin([$port], http => <<"    EOF", locations => <<"    EOF");
        upstream endpoint {
            server 127.0.0.1:$port;
            keepalive 128;
            keepalive_requests 1000000000;
            keepalive_timeout 600s;
        }
    EOF
        location /proxied {
            proxy_pass https://endpoint;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_ssl_protocols TLSv1.2 TLSv1.3;
            proxy_ssl_verify on;
            proxy_ssl_verify_depth 4;
            proxy_ssl_trusted_certificate $ca;
            proxy_ssl_server_name on;
            proxy_ssl_name @{[HOST]};
            client_body_buffer_size 32k;
        }
    EOF

    my $queue = queue('push');
    my ($id) = subscribe($queue, 'https://' . HOST . ":$port/delivered",
                         state => 'paused');

    return ($queue, $id, Bench::file(proxied()));
}

# deliveries of ten and proxied POSTs by turns

sub tens {
    my ($queue, $id, $proxied) = tens_ready();

    for my $c (@{ CONCURRENCY() }) {
        my (@push, @proxy, @ratios);

        call(PATCH => "/$id", { maxConcurrency => $c });

        for (1 .. rounds) {
            push @push, delivered($queue, $id);
            push @proxy, blast(1, c => $c, r => $proxied);
            push @ratios, $push[-1]{rate} / $proxy[-1]{rate};
        }

        my $ratio = median(@ratios);

        row("proxied POST of ten messages, TLS, $c wide",
            numbers(1, '', @proxy));
        row("delivery of ten messages, $c wide", numbers(1, '', @push),
            values => [[sprintf('%.2f of proxied', $ratio), $ratio >= 0.5,
                        '>= 0.5']]);
    }

    call(DELETE => "/$id", undef, 204);
}

# the POST of a delivery, byte for byte as long

sub proxied {
    my $uuid = '01999f41-6c3b-7a2d-9e1f-0a1b2c3d4e5f';
    my $mac = 'A' x 43 . '=';
    my $message = qq({"messageId":"$uuid","body":") . Bench::BODY
        . '","attributes":{},"sentAt":"2026-10-13T17:02:40Z",'
        . '"receiveCount":1}';
    my $body = '{"subscription":"qsb_7m2k9x0q4r1s","queue":"que_4k2m9x0a7qpe",'
        . qq("deliveryId":"$uuid","messages":[)
        . join(',', ($message) x 10) . ']}';

    return join("\r\n", 'POST /proxied HTTP/1.1', 'Host: ' . HOST . ':10000',
        'User-Agent: ngx_queues', 'Content-Type: application/json',
        'Content-Length: ' . length $body, 'Accept-Encoding: identity',
        'EZGH-Signature: t=1789000000,v1=' . 'a' x 64,
        "EZGH-Delivery-Id: $uuid", "webhook-id: $uuid",
        'webhook-timestamp: 1789000000', "webhook-signature: v1,$mac", '', $body);
}

# The queue is filled while the subscription is paused. Measured is from the
# first tenth of the deliveries to the last: the same keys as from load().

sub delivered {
    my ($queue, $id) = @_;

    fill($queue, DELIVERIES);

    my $before = requests();
    my ($begin, $n, $took, $own);

    call(POST => "/$id/resume");
    reach($id, $before + 0.1 * DELIVERIES);

    my $spent = spent(sub {
        $n = requests();
        $begin = time;
        $own = own();
        $n = reach($id, $before + 0.95 * DELIVERIES) - $n;
        $took = time() - $begin;
        $own = own() - $own;
    });

    my $all = reach($id, $before + DELIVERIES) - $before;

    wait_for { emptied($queue) } 20 or die "not all of it is acknowledged: ",
        state($id);

    $all = requests() - $before;
    note("$all deliveries instead of " . DELIVERIES . '.')
        if $all != DELIVERIES;

    call(POST => "/$id/pause");

    return { %$spent, answers => $n, seconds => $took, rate => $n / $took,
             load => $own };
}

sub own {
    my ($user, $system) = times;

    return $user + $system;
}

sub reach {
    my ($id, $n) = @_;

    my $deadline = time + 60;

    while (time() < $deadline) {
        my $is = requests();

        return $is if $is >= $n;

        sleep 0.01;
    }

    die 'deliveries do not come: ', state($id);
}

sub emptied {
    my ($queue) = @_;

    my $counts = client()->get(Bench::API . "/p/queues/$queue")->{json}{counts};

    return $counts->{visible} + $counts->{inFlight} == 0;
}

1;
