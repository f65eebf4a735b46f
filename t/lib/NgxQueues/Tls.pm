package NgxQueues::Tls;

# A CA and certificates made for one test, with openssl.
#
#     my $tls = NgxQueues::Tls->new;
#     my $files = $tls->files('localhost', '127.0.0.1');
#     # { ca => FILE, certificate => FILE, key => FILE }
#
#     $tls->expired(@names);            ended yesterday
#     $tls->self_signed(@names);        by no CA

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

    return $self->signed([qw/x509 -req -days 30/], @names);
}

# only "openssl ca" sets the dates of a certificate

sub expired {
    my ($self, @names) = @_;

    spurt("$self->{dir}/index", '');
    spurt("$self->{dir}/ca.conf", <<'END');
[ca]
default_ca = test
[test]
database = index
rand_serial = yes
new_certs_dir = .
default_md = sha256
policy = any
[any]
commonName = supplied
END

    return $self->signed([qw/ca -batch -notext -config ca.conf
        -startdate 20200101000000Z -enddate 20200201000000Z/], @names);
}

sub self_signed {
    my ($self, @names) = @_;

    my $dir = $self->{dir};
    my $n = ++$self->{count};

    openssl($dir, qw/req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256
            -nodes -days 30 -subj/, "/CN=$names[0]", '-addext',
            'subjectAltName=' . alternative(@names),
            '-keyout', "$n.key", '-out', "$n.pem");

    return $self->named($n);
}

sub signed {
    my ($self, $command, @names) = @_;

    my $dir = $self->{dir};
    my $n = ++$self->{count};
    my $old = $command->[0] eq 'ca';

    @names = qw/localhost 127.0.0.1/ if !@names;

    openssl($dir, qw/req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes
            -subj/, "/CN=$names[0]", '-keyout', "$n.key", '-out', "$n.csr");

    spurt("$dir/$n.ext", 'subjectAltName=' . alternative(@names) . "\n");

    openssl($dir, @$command, $old ? qw/-cert ca.pem -keyfile ca.key/
                : qw/-CA ca.pem -CAkey ca.key -CAcreateserial/,
            '-in', "$n.csr", '-extfile', "$n.ext", '-out', "$n.pem");

    return $self->named($n);
}

sub alternative {
    return join ',', map { (/^[\d.]+$|:/ ? 'IP:' : 'DNS:') . $_ } @_;
}

sub named {
    my ($self, $n) = @_;

    return {
        ca => $self->ca,
        certificate => "$self->{dir}/$n.pem",
        key => "$self->{dir}/$n.key",
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
