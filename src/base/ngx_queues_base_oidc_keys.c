
#include "ngx_queues_base_oidc.h"
#include "ngx_queues_base_text.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>


#define NGX_QUEUES_BASE_OIDC_BITS_MIN  2048

/* to sign with 4096 bits takes ten times as long as with 2048: some ms */
#define NGX_QUEUES_BASE_OIDC_BITS_MAX  4096

#define NGX_QUEUES_BASE_OIDC_NUMBER    (NGX_QUEUES_BASE_OIDC_BITS_MAX / 8)
#define NGX_QUEUES_BASE_OIDC_DIGITS                                           \
    ngx_queues_base_base64url_length(NGX_QUEUES_BASE_OIDC_NUMBER)

/* two numbers, and what stands around them */
#define NGX_QUEUES_BASE_OIDC_JWK       (2 * NGX_QUEUES_BASE_OIDC_DIGITS + 128)


static ngx_int_t ngx_queues_base_oidc_pem(ngx_queues_base_oidc_keys_t *keys,
    ngx_str_t *text, const char **error, ngx_uint_t *number);
static const char *ngx_queues_base_oidc_block(
    ngx_queues_base_oidc_keys_t *keys, char *name, char *header, u_char *data,
    long len);
static const char *ngx_queues_base_oidc_set(ngx_queues_base_oidc_key_t *key);
static ngx_uint_t ngx_queues_base_oidc_signs(EVP_PKEY *pkey);
static ngx_int_t ngx_queues_base_oidc_jwk(ngx_queues_base_oidc_key_t *key);
static ngx_int_t ngx_queues_base_oidc_number(EVP_PKEY *pkey,
    const char *name, u_char *buf, ngx_str_t *text);


static const char  ngx_queues_base_oidc_no_memory[] =
    "is not read: there is no memory";


ngx_queues_base_oidc_keys_t *
ngx_queues_base_oidc_keys_create(void)
{
    return calloc(1, sizeof(ngx_queues_base_oidc_keys_t));
}


void
ngx_queues_base_oidc_keys_destroy(ngx_queues_base_oidc_keys_t *keys)
{
    ngx_uint_t  i;

    if (keys == NULL) {
        return;
    }

    for (i = 0; i < keys->nkeys; i++) {
        EVP_PKEY_free(keys->keys[i].pkey);
        free(keys->keys[i].jwk.data);
    }

    free(keys);
}


ngx_int_t
ngx_queues_base_oidc_keys_add(ngx_queues_base_oidc_keys_t *keys,
    ngx_str_t *text, const char **error, ngx_uint_t *number)
{
    size_t     i;
    ngx_int_t  rc;

    *number = 0;

    for (i = 0; i < text->len; i++) {
        if (text->data[i] > ' ') {
            break;
        }
    }

    if (i == text->len) {
        *error = "is empty: make a key with \"openssl genpkey -algorithm RSA "
                 "-pkeyopt rsa_keygen_bits:2048 -out FILE\"";
        return NGX_ERROR;
    }

    rc = ngx_queues_base_oidc_pem(keys, text, error, number);

    ERR_clear_error();

    return rc;
}


static ngx_int_t
ngx_queues_base_oidc_pem(ngx_queues_base_oidc_keys_t *keys, ngx_str_t *text,
    const char **error, ngx_uint_t *number)
{
    BIO     *bio;
    long     len;
    char    *name, *header;
    u_char  *data;

    bio = BIO_new_mem_buf(text->data, (int) text->len);
    if (bio == NULL) {
        *error = ngx_queues_base_oidc_no_memory;
        return NGX_ERROR;
    }

    do {
        ERR_clear_error();

        *error = NULL;

        if (PEM_read_bio(bio, &name, &header, &data, &len) != 1) {

            if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE
                || *number == 0)
            {
                ++*number;
                *error = "is not PEM";
            }

            break;
        }

        ++*number;

        *error = ngx_queues_base_oidc_block(keys, name, header, data, len);

        OPENSSL_free(name);
        OPENSSL_free(header);
        OPENSSL_clear_free(data, len);

    } while (*error == NULL);

    BIO_free(bio);

    return *error ? NGX_ERROR : NGX_OK;
}


static const char *
ngx_queues_base_oidc_block(ngx_queues_base_oidc_keys_t *keys, char *name,
    char *header, u_char *data, long len)
{
    const char                  *error;
    ngx_uint_t                   i;
    const u_char                *p;
    ngx_queues_base_oidc_key_t  *key;

    if (strcmp(name, "ENCRYPTED PRIVATE KEY") == 0
        || strstr(header, "ENCRYPTED"))
    {
        return "is encrypted: write it without its passphrase, with "
               "\"openssl pkey -in FILE -out NEW\"";
    }

    if (strstr(name, "PRIVATE KEY") == NULL) {
        return "is not a private key: nothing else belongs there";
    }

    if (keys->nkeys == NGX_QUEUES_BASE_OIDC_KEYS) {
        return "is one too many: there can be 8 keys in all";
    }

    key = &keys->keys[keys->nkeys];

    p = data;

    key->pkey = d2i_AutoPrivateKey(NULL, &p, len);
    if (key->pkey == NULL) {
        return "is not a private key that OpenSSL can read";
    }

    keys->nkeys++;

    error = ngx_queues_base_oidc_set(key);

    if (error) {
        return error;
    }

    for (i = 0; i < keys->nkeys - 1; i++) {
        if (ngx_memcmp(keys->keys[i].kid, key->kid,
                       NGX_QUEUES_BASE_OIDC_KID_LEN)
            == 0)
        {
            return "is there twice: write each key once";
        }
    }

    return NULL;
}


static const char *
ngx_queues_base_oidc_set(ngx_queues_base_oidc_key_t *key)
{
    int  bits;

    if (EVP_PKEY_get_base_id(key->pkey) != EVP_PKEY_RSA) {
        return "is not an RSA key: tokens are signed with RS256";
    }

    bits = EVP_PKEY_get_bits(key->pkey);

    if (bits < NGX_QUEUES_BASE_OIDC_BITS_MIN
        || bits > NGX_QUEUES_BASE_OIDC_BITS_MAX)
    {
        return "is an RSA key of less than 2048 or more than 4096 bits";
    }

    if (!ngx_queues_base_oidc_signs(key->pkey)) {
        return "is not a sound RSA key: what it signs cannot be verified";
    }

    if (ngx_queues_base_oidc_jwk(key) != NGX_OK) {
        return ngx_queues_base_oidc_no_memory;
    }

    return NULL;
}


/*
 * Whether the public part fits the private one: what is published would be of
 * no use otherwise.  To look at the primes would take OpenSSL a tenth of a
 * second.
 */

static ngx_uint_t
ngx_queues_base_oidc_signs(EVP_PKEY *pkey)
{
    u_char       signature[NGX_QUEUES_BASE_OIDC_NUMBER];
    size_t       len;
    ngx_uint_t   ok;
    EVP_MD_CTX  *sign, *verify;

    static u_char  text[] = "ngx_queues";

    len = sizeof(signature);

    sign = EVP_MD_CTX_new();
    verify = EVP_MD_CTX_new();

    ok = sign && verify
         && EVP_DigestSignInit(sign, NULL, EVP_sha256(), NULL, pkey) == 1
         && EVP_DigestSign(sign, signature, &len, text, sizeof(text)) == 1
         && EVP_DigestVerifyInit(verify, NULL, EVP_sha256(), NULL, pkey) == 1
         && EVP_DigestVerify(verify, signature, len, text, sizeof(text)) == 1;

    EVP_MD_CTX_free(sign);
    EVP_MD_CTX_free(verify);

    return ok;
}


/* the kid is of the key alone (RFC 7638): it is the same on all nodes */

static ngx_int_t
ngx_queues_base_oidc_jwk(ngx_queues_base_oidc_key_t *key)
{
    int         len;
    char        text[NGX_QUEUES_BASE_OIDC_JWK];
    u_char      hash[SHA256_DIGEST_LENGTH];
    u_char      room[2][NGX_QUEUES_BASE_OIDC_DIGITS];
    ngx_str_t   n, e;
    ngx_uint_t  i;

    static u_char  hex[] = "0123456789abcdef";

    if (ngx_queues_base_oidc_number(key->pkey, OSSL_PKEY_PARAM_RSA_N, room[0],
                                    &n)
        != NGX_OK
        || ngx_queues_base_oidc_number(key->pkey, OSSL_PKEY_PARAM_RSA_E,
                                       room[1], &e)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    len = snprintf(text, sizeof(text),
                   "{\"e\":\"%.*s\",\"kty\":\"RSA\",\"n\":\"%.*s\"}",
                   (int) e.len, e.data, (int) n.len, n.data);

    if (EVP_Digest(text, len, hash, NULL, EVP_sha256(), NULL) != 1) {
        return NGX_ERROR;
    }

    for (i = 0; i < NGX_QUEUES_BASE_OIDC_KID_LEN / 2; i++) {
        key->kid[2 * i] = hex[hash[i] >> 4];
        key->kid[2 * i + 1] = hex[hash[i] & 0x0f];
    }

    len = snprintf(text, sizeof(text),
                   "{\"kty\":\"RSA\",\"n\":\"%.*s\",\"e\":\"%.*s\","
                   "\"kid\":\"%.*s\",\"use\":\"sig\",\"alg\":\"RS256\"}",
                   (int) n.len, n.data, (int) e.len, e.data,
                   NGX_QUEUES_BASE_OIDC_KID_LEN, key->kid);

    key->jwk.data = malloc(len);
    if (key->jwk.data == NULL) {
        return NGX_ERROR;
    }

    key->jwk.len = len;
    ngx_memcpy(key->jwk.data, text, len);

    return NGX_OK;
}


/* base64url of a number of the key, big end first, without leading zeros */

static ngx_int_t
ngx_queues_base_oidc_number(EVP_PKEY *pkey, const char *name, u_char *buf,
    ngx_str_t *text)
{
    int      len;
    u_char   bytes[NGX_QUEUES_BASE_OIDC_NUMBER];
    BIGNUM  *n;

    n = NULL;

    if (EVP_PKEY_get_bn_param(pkey, name, &n) != 1) {
        return NGX_ERROR;
    }

    len = BN_num_bytes(n);

    if ((size_t) len > sizeof(bytes)) {
        BN_free(n);
        return NGX_ERROR;
    }

    BN_bn2bin(n, bytes);
    BN_free(n);

    text->data = buf;
    text->len = ngx_queues_base_base64url_print(buf, bytes, len) - buf;

    return NGX_OK;
}


size_t
ngx_queues_base_oidc_jwks_length(ngx_queues_base_oidc_keys_t *keys)
{
    size_t      len;
    ngx_uint_t  i;

    len = sizeof("{\"keys\":[]}") - 1 + (keys->nkeys ? keys->nkeys - 1 : 0);

    for (i = 0; i < keys->nkeys; i++) {
        len += keys->keys[i].jwk.len;
    }

    return len;
}


u_char *
ngx_queues_base_oidc_jwks(u_char *p, ngx_queues_base_oidc_keys_t *keys)
{
    ngx_str_t   *jwk;
    ngx_uint_t   i;

    p = ngx_cpymem(p, "{\"keys\":[", sizeof("{\"keys\":[") - 1);

    for (i = 0; i < keys->nkeys; i++) {
        jwk = &keys->keys[i].jwk;

        if (i) {
            *p++ = ',';
        }

        p = ngx_cpymem(p, jwk->data, jwk->len);
    }

    *p++ = ']';
    *p++ = '}';

    return p;
}
