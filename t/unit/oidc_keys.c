
#include "oidc.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>


/* made once: each takes a while */

static EVP_PKEY  *unit_rsa, *unit_other, *unit_large, *unit_small, *unit_ec;


static ngx_str_t
unit_join(ngx_str_t a, ngx_str_t b)
{
    ngx_str_t  both;

    both.len = a.len + b.len;
    both.data = malloc(both.len);

    ngx_memcpy(both.data, a.data, a.len);
    ngx_memcpy(both.data + a.len, b.data, b.len);

    free(a.data);
    free(b.data);

    return both;
}


static void
unit_refused(const char *what, ngx_str_t text, const char *expected,
    ngx_uint_t number)
{
    ngx_queues_base_oidc_keys_t  *keys;

    keys = ngx_queues_base_oidc_keys_create();
    unit_add(what, keys, text, expected, number);
    ngx_queues_base_oidc_keys_destroy(keys);
}


static void
unit_files(void)
{
    ngx_str_t                     empty, blank, junk;
    ngx_uint_t                    i;
    ngx_queues_base_oidc_keys_t  *keys;

    empty = unit_text("");
    blank = unit_text(" \r\n\t\n");
    junk = unit_text("not a key\n");

    unit_refused("nothing", unit_copy(&empty), "is empty: make a key", 0);
    unit_refused("blanks", unit_copy(&blank), "is empty: make a key", 0);
    unit_refused("junk", unit_copy(&junk), "is not PEM", 1);
    unit_refused("a key that ends early", unit_pem(unit_rsa, UNIT_PKCS8, 30),
                 "is not PEM", 1);
    unit_refused("an encrypted key", unit_pem(unit_rsa, UNIT_ENCRYPTED, 0),
                 "is encrypted", 1);
    unit_refused("an encrypted key, PKCS #1",
                 unit_pem(unit_rsa, UNIT_ENCRYPTED_PKCS1, 0), "is encrypted",
                 1);
    unit_refused("a public key", unit_pem(unit_rsa, UNIT_PUBLIC, 0),
                 "is not a private key", 1);
    unit_refused("an EC key", unit_pem(unit_ec, UNIT_PKCS8, 0),
                 "is not an RSA key", 1);
    unit_refused("a small key", unit_pem(unit_small, UNIT_PKCS8, 0),
                 "is an RSA key of less than 2048", 1);
    unit_refused("a good key and a small one",
                 unit_join(unit_pem(unit_rsa, UNIT_PKCS8, 0),
                           unit_pem(unit_small, UNIT_PKCS8, 0)),
                 "is an RSA key of less than 2048", 2);
    unit_refused("a key twice",
                 unit_join(unit_pem(unit_rsa, UNIT_PKCS8, 0),
                           unit_pem(unit_rsa, UNIT_PKCS1, 0)),
                 "is there twice", 2);

    keys = ngx_queues_base_oidc_keys_create();

    unit_add("a key of PKCS #8 and one of PKCS #1 among other text", keys,
             unit_join(unit_join(unit_copy(&junk),
                                 unit_pem(unit_rsa, UNIT_PKCS8, 0)),
                       unit_join(unit_pem(unit_other, UNIT_PKCS1, 0),
                                 unit_copy(&junk))),
             NULL, 0);
    unit_add("a third one, of 4096 bits", keys,
             unit_pem(unit_large, UNIT_PKCS8, 0), NULL, 0);
    unit_ok(keys->nkeys == 3, "three keys", NULL);
    unit_add("one that another file has", keys,
             unit_pem(unit_other, UNIT_PKCS8, 0), "is there twice", 1);

    for (i = keys->nkeys; i < NGX_QUEUES_BASE_OIDC_KEYS; i++) {
        keys->keys[keys->nkeys].pkey = NULL;
        keys->keys[keys->nkeys++].jwk.data = NULL;
    }

    unit_add("a ninth one", keys, unit_pem(unit_rsa, UNIT_PKCS8, 0),
             "is one too many", 1);

    ngx_queues_base_oidc_keys_destroy(keys);
    ngx_queues_base_oidc_keys_destroy(NULL);
}


/* a key whose public part is another's: e = 3 where it was 65537 */

static void
unit_unsound(void)
{
    BIO        *bio;
    RSA        *rsa;
    char       *data;
    BIGNUM     *e;
    ngx_str_t   text;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

    rsa = EVP_PKEY_get1_RSA(unit_rsa);
    e = BN_new();
    BN_set_word(e, 3);
    RSA_set0_key(rsa, NULL, e, NULL);

    bio = BIO_new(BIO_s_mem());
    PEM_write_bio_RSAPrivateKey(bio, rsa, NULL, NULL, 0, NULL, NULL);
    RSA_free(rsa);

#pragma GCC diagnostic pop

    text.len = BIO_get_mem_data(bio, &data);
    text.data = (u_char *) data;

    unit_refused("a public part that does not fit", unit_copy(&text),
                 "is not a sound RSA key", 1);

    BIO_free(bio);
}


/* base64url of a number of the key, by OpenSSL */

static char *
unit_number(EVP_PKEY *pkey, const char *name)
{
    int            len;
    char          *p;
    u_char         bytes[512];
    BIGNUM        *n;
    static char    text[2][1024];
    static size_t  turn;

    n = NULL;
    EVP_PKEY_get_bn_param(pkey, name, &n);
    len = BN_bn2bin(n, bytes);
    BN_free(n);

    p = text[turn++ % 2];
    EVP_EncodeBlock((u_char *) p, bytes, len);

    for (len = 0; p[len]; len++) {
        p[len] = p[len] == '+' ? '-' : p[len] == '/' ? '_' : p[len];

        if (p[len] == '=') {
            p[len--] = '\0';
        }
    }

    return p;
}


static size_t
unit_jwk(char *text, EVP_PKEY *pkey)
{
    char    *n, *e;
    size_t   i;
    u_char   hash[32];

    n = unit_number(pkey, OSSL_PKEY_PARAM_RSA_N);
    e = unit_number(pkey, OSSL_PKEY_PARAM_RSA_E);

    sprintf(text, "{\"e\":\"%s\",\"kty\":\"RSA\",\"n\":\"%s\"}", e, n);
    EVP_Digest(text, strlen(text), hash, NULL, EVP_sha256(), NULL);

    sprintf(text, "{\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"%s\",\"kid\":\"", n, e);

    for (i = 0; i < 20; i++) {
        sprintf(text + strlen(text), "%02x", hash[i]);
    }

    strcat(text, "\",\"use\":\"sig\",\"alg\":\"RS256\"}");

    return strlen(text);
}


static void
unit_jwks(EVP_PKEY *first, EVP_PKEY *second, const char *what)
{
    char                          expected[4096];
    u_char                       *end;
    size_t                        n;
    ngx_str_t                     text;
    ngx_queues_base_oidc_keys_t  *keys;

    keys = unit_keys(first, second);

    n = sprintf(expected, "{\"keys\":[");
    n += unit_jwk(expected + n, first);

    if (second) {
        expected[n++] = ',';
        n += unit_jwk(expected + n, second);
    }

    n += sprintf(expected + n, "]}");

    text.len = ngx_queues_base_oidc_jwks_length(keys);
    text.data = malloc(text.len);
    end = ngx_queues_base_oidc_jwks(text.data, keys);

    unit_ok(end == text.data + text.len && text.len == n
            && memcmp(text.data, expected, n) == 0, what, NULL);

    free(text.data);
    ngx_queues_base_oidc_keys_destroy(keys);
}


int
main(void)
{
    unit_rsa = EVP_RSA_gen(2048);
    unit_other = EVP_RSA_gen(2048);
    unit_large = EVP_RSA_gen(4096);
    unit_small = EVP_RSA_gen(2047);
    unit_ec = EVP_EC_gen("P-256");

    unit_files();
    unit_unsound();
    unit_jwks(unit_rsa, NULL, "a set of one key");
    unit_jwks(unit_large, unit_other, "a set of two");

    EVP_PKEY_free(unit_rsa);
    EVP_PKEY_free(unit_other);
    EVP_PKEY_free(unit_large);
    EVP_PKEY_free(unit_small);
    EVP_PKEY_free(unit_ec);

    return unit_done();
}
