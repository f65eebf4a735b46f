package NgxQueues::Tls;

# A CA and certificates made for one test, with openssl.
#
#     my $tls = NgxQueues::Tls->new;
#     my $files = $tls->files('localhost', '127.0.0.1');
#     # { ca => FILE, certificate => FILE, key => FILE }

use strict;
use warnings;

use NgxQueues::Process qw/temp_dir spurt/;

sub new {
    my ($class) = @_;

    my $dir = temp_dir();
    my $self = bless { dir => $dir, count => 0 }, $class;

    chmod 0755, $dir;

    openssl($dir, qw/req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256
            -nodes -days 30 -subj/, '/CN=ngx_queues test CA',
            '-addext', 'keyUsage=critical,keyCertSign,cRLSign',
            '-keyout', 'ca.key', '-out', 'ca.pem');

    return $self;
}

sub ca { "$_[0]{dir}/ca.pem" }

sub files {
    my ($self, @names) = @_;

    my $dir = $self->{dir};
    my $n = ++$self->{count};

    @names = qw/localhost 127.0.0.1/ if !@names;

    my $alternative = join ',', map {
        (/^[\d.]+$|:/ ? 'IP:' : 'DNS:') . $_
    } @names;

    openssl($dir, qw/req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes
            -subj/, "/CN=$names[0]", '-keyout', "$n.key", '-out', "$n.csr");

    spurt("$dir/$n.ext", "subjectAltName=$alternative\n");

    openssl($dir, qw/x509 -req -days 30 -CA ca.pem -CAkey ca.key
            -CAcreateserial -in/, "$n.csr", '-extfile', "$n.ext",
            '-out', "$n.pem");

    return {
        ca => "$dir/ca.pem",
        certificate => "$dir/$n.pem",
        key => "$dir/$n.key",
    };
}

sub openssl {
    my ($dir, @arguments) = @_;

    my $pid = NgxQueues::Process::spawn({ out => "$dir/openssl.log" },
        'sh', '-c', 'cd "$0" && exec openssl "$@"', $dir, @arguments);
    my $status = NgxQueues::Process::reap($pid, 60);

    die "openssl @arguments:\n", NgxQueues::Process::slurp("$dir/openssl.log")
        if !defined $status || $status != 0;
}

1;
