package NgxQueues::BadTokens;

# Tokens that are refused, and what the log says of each: for the keys of
# t/jwt.t.

use strict;
use warnings;

use MIME::Base64 'encode_base64url';

use NgxQueues::Jwt;
use NgxQueues::Process 'slurp';


# pairs of a token and a reason. key, other: keys by name, of which the first ones
# are known; good: tokens that are not refused, the first one with HS256

sub list {
    my ($key, $other, @good) = @_;

    my %key = %$key;
    my %other = %$other;
    my ($head, $body, $signature) = split /\./, $good[0];
    my $claims = sub { NgxQueues::Jwt::claims(roles => ['*@*'], @_) };
    my $hs = sub { $key{secret}->token(@_) };

    return (
        (map { [$other{$_}->token($claims->()) => 'has a bad signature'] }
         qw/secret rsa ec ed25519/),

        # without a signature

        [$hs->($claims->(), { alg => 'none' }), 'no "alg" that is supported'],
        [$hs->($claims->(), { alg => 'none' }) =~ s/[^.]*$//r, 'no "alg"'],
        [$hs->($claims->(), { alg => 'NONE' }) =~ s/[^.]*$//r, 'no "alg"'],
        (map { [$_ =~ s/[^.]*$//r, 'has a bad signature'] } @good),

        # public keys as secrets, in the forms that somebody may have

        (map { my $k = $key{$_};
               map { [NgxQueues::Jwt->secret($_)->token($claims->(),
                      { alg => 'HS256' }), 'has a bad signature'] }
               slurp($k->public), slurp($k->public) =~ s/\n\z//r,
               NgxQueues::Jwt::openssl('pkey', '-pubin', '-in', $k->public,
                                       '-outform', 'DER')
         } qw/rsa ec ed25519/),

        # a signature of one algorithm under the name of another

        [$key{rsa}->token($claims->(), { alg => 'ES256' }), 'has a bad signature'],
        [$key{rsa}->token($claims->(), { alg => 'EdDSA' }), 'has a bad signature'],
        [$key{rsa}->token($claims->(), { alg => 'PS256' }), 'no "alg"'],
        [$key{ec}->token($claims->(), { alg => 'RS256' }), 'has a bad signature'],
        [$key{ec}->token($claims->(), { alg => 'ES384' }), 'no "alg"'],
        [$key{ed25519}->token($claims->(), { alg => 'ES256' }), 'has a bad sign'],
        [$key{ed25519}->token($claims->(), { alg => 'Ed25519' }), 'no "alg"'],
        [$hs->($claims->(), { alg => 'RS256' }), 'has a bad signature'],
        (map { ["$head.$body." . encode_base64url($_), 'has a bad signature'] }
         '', "\0" x 32, "\0" x 64, 'x' x 64, 'x' x 256, 'x' x 1024),
        ["$head.$body." . encode_base64url('x' x 1025), 'signature that is not'],

        # headers

        [$hs->($claims->(), '{}'), 'no "alg"'],
        [$hs->($claims->(), '[]'), 'a header that is not'],
        [$hs->($claims->(), ''), 'a header that is not'],
        [$hs->($claims->(), '{"alg":"HS256"'), 'a header that is not'],
        [$hs->($claims->(), '{"alg":"HS256","alg":"none"}'), 'a member twice'],
        [$hs->($claims->(), '{"alg":"none","\u0061lg":"HS256"}'), 'a member twice'],
        [$hs->($claims->(), { crit => ['exp'] }), 'critical extensions'],
        [$hs->($claims->(), { crit => [] }), 'critical extensions'],
        [$hs->($claims->(), { kid => 7 }), '"kid" that is not a string'],
        [$other{secret}->token($claims->(), { jwk => $other{secret}->jwk,
                                           jku => 'http://127.0.0.1/' }),
         'has a bad signature'],

        # payloads

        [$hs->('{}'), 'no "exp"'],
        [$hs->(''), 'a payload that is not'],
        [$hs->('null'), 'a payload that is not'],
        [$hs->('{"exp":99999999999,}'), 'a payload that is not'],
        [$hs->('{"exp":99999999999,"exp":99999999999}'), 'a member twice'],
        [$hs->('{"exp":99999999999,"roles":[],"r\u006fles":["*@*"]}'), 'twice'],
        [$hs->("{\"exp\":99999999999,\"a\":\"\xff\"}"), 'a payload that is not'],
        [$hs->('{"exp":"99999999999"}'), 'no time'],
        [$hs->('{"exp":1e20}'), 'no time'],
        [$hs->('{"exp":-99999999999}'), 'no time'],
        [$hs->('{"exp":9999999999999}'), 'no time'],
        [$hs->('{"exp":null}'), 'no time'],
        [$hs->($claims->(exp => time - 31)), 'has expired'],
        [$hs->($claims->(exp => 0)), 'has expired'],
        [$hs->($claims->(nbf => time + 60)), 'not valid yet'],
        [$hs->($claims->(nbf => 'now')), 'no time'],
        [$hs->($claims->(iat => time + 60)), 'from the future'],
        [$hs->($claims->(iat => [])), 'no time'],
        [$hs->($claims->(aud => 'somebody')), 'there is no queues_jwt_audience'],
        [$hs->($claims->(aud => ['somebody'])), 'there is no queues_jwt_audience'],
        (map { [$hs->($claims->(sub => $_)), 'no "sub"'] }
         1, undef, '', "a\0b", "a\n", 'x' x 256),
        [$hs->($claims->(roles => [map { "q.$_\@o" } 1 .. 65])), 'more than 64 roles'],
        [$hs->('{"exp":99999999999' . join('', map { ",\"$_\":1" } 1 .. 128) . '}'),
         'more than 128 members'],

        # other texts of a good token

        ["$head=.$body.$signature", 'a header that is not'],
        ["$head.$body.$signature=", 'a signature that is not'],
        ["$head.$body.$signature" . 'A', 'signature'],
        ["$head.$body." . substr($signature, 1), 'signature'],
        ["$head.$body." . ($signature =~ tr{-_}{+/}r =~ s{[+/]|$}{/}r),
         'signature'],
        ["$head..$signature", 'has a bad signature'],
        [".$body.$signature", 'a header that is not'],
        ['..', 'a header that is not'],
        ["Bearer $good[0]", 'a header that is not'],
    );
}


1;
