package NgxQueues::Jwt;

# Keys and JSON Web Tokens made for one test: keys by openssl, HMAC by Perl.
#
#     my $key = NgxQueues::Jwt->rsa;        also ec, ed25519, secret, key(…)
#     $key->public;                         a file: PEM, or the secret
#     $key->jwk(kid => 'a');                a hash of it for a JWKS
#     NgxQueues::Jwt::jwks('name', { … });  a file with such hashes
#     $key->token({ exp => … }, { kid => 'a' });
#     NgxQueues::Jwt::claims(…);            of somebody, for ten minutes, and more
#
# The header's alg is the key's usual one where it is not given; payload and
# header may be strings, as they are. sign(text, alg) is for odd tokens.

use strict;
use warnings;

use Digest::SHA ();
use JSON::PP ();
use MIME::Base64 qw/encode_base64url/;
use POSIX ();

use NgxQueues::Process qw/slurp spurt temp_dir/;

our %kinds = (
    rsa => [qw/RS256 RSA rsa_keygen_bits:2048/],
    rsa1024 => [qw/RS256 RSA rsa_keygen_bits:1024/],
    ec => [qw/ES256 EC ec_paramgen_curve:P-256/],
    p384 => [qw/ES256 EC ec_paramgen_curve:P-384/],
    ed25519 => [qw/EdDSA ED25519/],
    ed448 => [qw/EdDSA ED448/],
);

my $json = JSON::PP->new->canonical->utf8;
my $dir;
my $serial = 0;

sub dir {
    if (!defined $dir) {
        $dir = temp_dir();
        chmod 0755, $dir;
    }

    return $dir;
}

sub rsa { $_[0]->key('rsa') }
sub ec { $_[0]->key('ec') }
sub ed25519 { $_[0]->key('ed25519') }

sub key {
    my ($class, $kind) = @_;

    my ($alg, $type, $option) = @{ $kinds{$kind} };
    my $file = dir() . '/' . ++$serial . ".$kind";

    openssl('genpkey', '-algorithm', $type, '-out', "$file.key",
            $option ? ('-pkeyopt', $option) : ());
    openssl('pkey', '-in', "$file.key", '-pubout', '-out', "$file.pem");

    return bless { alg => $alg, file => $file }, $class;
}

sub secret {
    my ($class, $secret) = @_;

    my $file = dir() . '/' . ++$serial . '.secret';

    $secret //= substr Digest::SHA::sha512_hex("$file$$" . rand), 0, 64;
    spurt($file, "$secret\n", 0600);

    return bless { alg => 'HS256', secret => $secret, file => $file }, $class;
}

sub public { $_[0]{file} . (defined $_[0]{secret} ? '' : '.pem') }
sub private { "$_[0]{file}.key" }

sub jwk {
    my ($self, %more) = @_;

    return { kty => 'oct', k => encode_base64url($self->{secret}), %more }
        if defined $self->{secret};

    my $der = openssl('pkey', '-pubin', '-in', $self->public, '-outform',
                      'DER');

    return { kty => 'OKP', crv => 'Ed25519',
             x => encode_base64url(substr $der, -32), %more }
        if $self->{alg} eq 'EdDSA';

    return { kty => 'EC', crv => 'P-256',
             x => encode_base64url(substr $der, -64, 32),
             y => encode_base64url(substr $der, -32), %more }
        if $self->{alg} eq 'ES256';

    my ($n) = openssl('rsa', '-pubin', '-in', $self->public, '-noout',
                      '-modulus') =~ /=(\w+)/;

    return { kty => 'RSA', n => encode_base64url(pack 'H*', $n), e => 'AQAB',
             %more };
}

sub jwks {
    my ($name, @keys) = @_;

    my $file = dir() . "/$name.jwks";

    spurt($file, $json->encode({ keys => \@keys }));

    return $file;
}

sub claims { return { sub => 'me', exp => time + 600, @_ } }

sub token {
    my ($self, $claims, $header) = @_;

    my $alg = $self->{alg};

    if (ref($header //= {})) {
        $header = { alg => $alg, %$header };
        $alg = $header->{alg};
        $header = $json->encode($header);
    }

    $claims = $json->encode($claims) if ref $claims;

    my $text = encode_base64url($header) . '.' . encode_base64url($claims);

    return "$text." . encode_base64url($self->sign($text, $alg));
}

# with the algorithm, or with the key's own where that does not fit it

sub sign {
    my ($self, $text, $alg) = @_;

    my ($bits) = ($alg // '') =~ /^[HR]S(256|384|512)$/;

    $bits //= 256;

    if (defined $self->{secret}) {
        no strict 'refs';
        return "Digest::SHA::hmac_sha$bits"->($text, $self->{secret});
    }

    my $file = dir() . '/text';

    spurt($file, $text);

    return openssl('pkeyutl', '-sign', '-rawin', '-inkey', $self->private,
                   '-in', $file)
        if $self->{alg} eq 'EdDSA';

    my $signature = openssl('dgst', "-sha$bits", '-sign', $self->private,
                            $file);

    return $self->{alg} eq 'ES256' ? raw($signature) : $signature;
}

# DER of two numbers, without their leading zeros or with one more

sub raw {
    my ($der) = @_;

    my ($r, $s) = unpack 'x2 x C/a x C/a', $der;

    return join '', map {
        my $n = s/^\0+//r;
        "\0" x (32 - length $n) . $n
    } $r, $s;
}

sub openssl {
    my (@arguments) = @_;

    my $log = dir() . '/openssl.log';

    my $pid = open my $out, '-|';
    die "fork: $!" if !defined $pid;

    if (!$pid) {
        open STDERR, '>', $log;
        exec 'openssl', @arguments or POSIX::_exit(127);
    }

    binmode $out;
    local $/;

    my $text = <$out>;

    close $out or die "openssl @arguments:\n", slurp($log);

    return $text;
}

1;
