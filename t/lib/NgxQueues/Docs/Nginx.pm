package NgxQueues::Docs::Nginx;

# A configuration of a page, as nginx -t is to read it: with the rest that it
# needs around it, ports that are free, and in the place of /etc/nginx and the
# like a folder of the test, where each file is that a directive names.
#
#     my ($right, $said) = NgxQueues::Docs::Nginx->new->check($text);
#
# What begins with directives of the top level, of http, of a server or with a
# location is put there.

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use File::Basename 'dirname';
use File::Path 'make_path';

use NgxQueues::Jwt;
use NgxQueues::Process qw/spawn reap free_port temp_dir spurt slurp sanitizer_env
                          sanitizer_reports/;
use NgxQueues::Tls;

sub new {
    my ($class) = @_;

    my $tls = NgxQueues::Tls->new;
    my $files = $tls->files('queues.example.com');
    my $keys = sha256_hex('key') . " somebody * *\n";

    return bless {
        dir => temp_dir(), n => 0, tls => $files, files => {
            ssl_certificate => slurp($files->{certificate}),
            ssl_certificate_key => slurp($files->{key}),
            ssl_trusted_certificate => slurp($tls->ca),
            proxy_ssl_trusted_certificate => slurp($tls->ca),
            queues_push_trusted_certificate => slurp($tls->ca),
            queues_redis_trusted_certificate => slurp($tls->ca),
            queues_oidc_key => slurp(NgxQueues::Jwt->rsa->private),
            queues_jwt_key => "a secret of more than thirty-two bytes\n",
            queues_secret_file => sha256_hex('secret') . "\n",
            queues_redis_password_file => "password\n",
            queues_api_keys => $keys,
            include => '',
        },
    }, $class;
}

# the names of the directives of the outermost level

sub outermost {
    my ($text) = @_;

    $text =~ s/#.*//mg;
    1 while $text =~ s/\{[^{}]*\}/;/;

    return map { /(\S+)/ ? $1 : () } split /;/, $text;
}

sub whole {
    my ($self, $text) = @_;

    my %top = map { $_ => 1 } outermost($text);

    if (!$top{http} && !$top{events}) {
        $text = "server {\nlisten 8080;\n$text\n}"
            if $top{location} && !$top{server};
        $text = "http {\n$text\n}";
    }

    my $dir = $self->{dir};
    my %mine = (
        queues_redis => "unix:$dir/redis.sock",
        queues_secret_file => '/etc/nginx/docs.secret',
        queues_api_keys => '/etc/nginx/docs.keys',
        ssl_certificate => '/etc/nginx/docs.pem',
        ssl_certificate_key => '/etc/nginx/docs.key',
    );
    my $missing = join '', map { "$_ $mine{$_};\n" }
        grep { $text !~ /^\s*$_\s/m } sort keys %mine;

    $text =~ s/^http\s*\{/http {\n$missing/m;
    $text =~ s/^\s*load_module\s.*?queues.*?;//mg;
    $text =~ s/^\s*(?:user|pid|error_log)\s[^;]*;//mg;
    $text .= "\nevents {}\n" if !$top{events};

    my $module = $ENV{NGX_QUEUES_MODULE};

    return ($module ? "load_module $module;\n" : '')
           . ($< == 0 ? "user root;\n" : '') . "pid $dir/nginx.pid;\n$text";
}

sub check {
    my ($self, $text) = @_;

    my $dir = $self->{dir};
    my $conf = "$dir/" . ++$self->{n} . '.conf';
    my %ports;

    $text = $self->whole($text);
    $text =~ s{(\s)/(etc|var|run|usr/share/nginx)/}{$1$dir/$2/}g;
    $text =~ s{^(\s*listen\s+)(?:[\w.*\[\]:]+:)?(\d+)\b}
              {$1 . '127.0.0.1:' . ($ports{$2} //= free_port())}mge;

    make_path(map { "$dir/$_" } qw{var/log/nginx run etc/nginx logs});

    while ($text =~ /^\s*(\w+)\s+(\Q$dir\E\S+?)[;\s]/mg) {
        my $content = $self->{files}{$1} // next;

        make_path(dirname($2));
        spurt($2, $content) if !-e $2 && $2 !~ /\*/;
    }

    spurt($conf, $text);

    my ($env, $prefix) = sanitizer_env();
    my $status = reap(spawn({ out => "$conf.out", env => $env },
        $ENV{TEST_NGINX_BINARY} || 'nginx', '-t', '-p', $dir, '-c', $conf,
        '-e', "$dir/error.log"), 30);

    return (defined $status && $status == 0,
            slurp("$conf.out") . sanitizer_reports($prefix));
}

1;
