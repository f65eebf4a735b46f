
#include "ngx_queues_base_jwt_parts.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>


static void ngx_queues_base_jwt_keys_drop(ngx_queues_base_jwt_keys_t *keys,
    ngx_uint_t n);
static ngx_int_t ngx_queues_base_jwt_secret(ngx_queues_base_jwt_keys_t *keys,
    ngx_str_t *text, const char **error);
static ngx_int_t ngx_queues_base_jwt_pem(ngx_queues_base_jwt_keys_t *keys,
    ngx_str_t *text, const char **error, ngx_uint_t *number);
static ngx_int_t ngx_queues_base_jwt_pem_block(
    ngx_queues_base_jwt_keys_t *keys, char *name, u_char *data, long len,
    const char **error);
static ngx_int_t ngx_queues_base_jwt_key_kind(ngx_queues_base_jwt_key_t *key,
    EVP_PKEY *pkey, const char **error);


ngx_queues_base_jwt_keys_t *
ngx_queues_base_jwt_keys_create(void)
{
    return calloc(1, sizeof(ngx_queues_base_jwt_keys_t));
}


void
ngx_queues_base_jwt_keys_destroy(ngx_queues_base_jwt_keys_t *keys)
{
    if (keys == NULL) {
        return;
    }

    ngx_queues_base_jwt_keys_drop(keys, 0);

    free(keys);
}


/* the keys from the n-th on */

static void
ngx_queues_base_jwt_keys_drop(ngx_queues_base_jwt_keys_t *keys, ngx_uint_t n)
{
    ngx_queues_base_jwt_key_t  *key;

    while (keys->nkeys > n) {
        key = &keys->keys[--keys->nkeys];

        OPENSSL_clear_free(key->secret.data, key->secret.len);
        EVP_PKEY_free(key->pkey);
        free(key->kid.data);

        ngx_memzero(key, sizeof(ngx_queues_base_jwt_key_t));
    }
}


ngx_int_t
ngx_queues_base_jwt_keys_add(ngx_queues_base_jwt_keys_t *keys,
    ngx_str_t *text, const char **error, ngx_uint_t *number)
{
    size_t      i;
    ngx_int_t   rc;
    ngx_uint_t  before;

    static char  begin[] = "-----BEGIN ";

    *number = 0;
    before = keys->nkeys;

    for (i = 0; i < text->len; i++) {
        if (text->data[i] > ' ') {
            break;
        }
    }

    if (i == text->len) {
        *error = "is empty: write a secret, public keys in PEM or a JWKS";
        return NGX_ERROR;
    }

    if (text->data[i] == '{') {
        rc = ngx_queues_base_jwt_jwks(keys, text, error, number);

    } else if (memmem(text->data, text->len, begin, sizeof(begin) - 1)) {
        rc = ngx_queues_base_jwt_pem(keys, text, error, number);

    } else {
        rc = ngx_queues_base_jwt_secret(keys, text, error);
    }

    ERR_clear_error();

    /* nothing of a file that is wrong: a key without its secret, say */

    if (rc != NGX_OK) {
        ngx_queues_base_jwt_keys_drop(keys, before);
    }

    return rc;
}


/*
 * A line end that an editor or echo has left is none of the secret's; other
 * control characters tell of a binary one, of which nobody could say whether
 * such a byte is its last, or of several secrets.
 */

static ngx_int_t
ngx_queues_base_jwt_secret(ngx_queues_base_jwt_keys_t *keys, ngx_str_t *text,
    const char **error)
{
    size_t                      i;
    ngx_str_t                   secret;
    ngx_queues_base_jwt_key_t  *key;

    secret = *text;

    if (secret.data[secret.len - 1] == LF) {
        secret.len--;
    }

    if (secret.len && secret.data[secret.len - 1] == CR) {
        secret.len--;
    }

    for (i = 0; i < secret.len; i++) {
        if (secret.data[i] < ' ' || secret.data[i] == 0x7f) {
            *error = "is not one line of text: write each secret to a file "
                     "of its own, and binary ones as \"k\" of a JWKS";
            return NGX_ERROR;
        }
    }

    key = ngx_queues_base_jwt_key_push(keys, error);

    if (key == NULL) {
        return NGX_ERROR;
    }

    return ngx_queues_base_jwt_key_set_secret(key, &secret, error);
}


static ngx_int_t
ngx_queues_base_jwt_pem(ngx_queues_base_jwt_keys_t *keys, ngx_str_t *text,
    const char **error, ngx_uint_t *number)
{
    BIO        *bio;
    long        len;
    char       *name, *header;
    u_char     *data;
    ngx_int_t   rc;

    bio = BIO_new_mem_buf(text->data, (int) text->len);
    if (bio == NULL) {
        *error = "is not read: there is no memory";
        return NGX_ERROR;
    }

    rc = NGX_OK;

    while (rc == NGX_OK) {

        ERR_clear_error();

        if (PEM_read_bio(bio, &name, &header, &data, &len) != 1) {

            if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE
                || *number == 0)
            {
                ++*number;
                *error = "is not PEM";
                rc = NGX_ERROR;
            }

            break;
        }

        ++*number;

        rc = ngx_queues_base_jwt_pem_block(keys, name, data, len, error);

        OPENSSL_free(name);
        OPENSSL_free(header);
        OPENSSL_clear_free(data, len);
    }

    BIO_free(bio);

    return rc;
}


static ngx_int_t
ngx_queues_base_jwt_pem_block(ngx_queues_base_jwt_keys_t *keys, char *name,
    u_char *data, long len, const char **error)
{
    EVP_PKEY                   *pkey;
    const u_char               *p;
    ngx_queues_base_jwt_key_t  *key;

    if (strstr(name, "PRIVATE KEY")) {
        *error = "is a private key: write the public one, made with "
                 "\"openssl pkey -in FILE -pubout\"";
        return NGX_ERROR;
    }

    if (strcmp(name, "CERTIFICATE") == 0) {
        *error = "is a certificate: write its public key, made with "
                 "\"openssl x509 -in FILE -noout -pubkey\"";
        return NGX_ERROR;
    }

    p = data;
    pkey = NULL;

    if (strcmp(name, "PUBLIC KEY") == 0) {
        pkey = d2i_PUBKEY(NULL, &p, len);

    } else if (strcmp(name, "RSA PUBLIC KEY") == 0) {
        pkey = d2i_PublicKey(EVP_PKEY_RSA, NULL, &p, len);
    }

    if (pkey == NULL || p != data + len) {
        EVP_PKEY_free(pkey);
        *error = "is not a public key of RSA, EC P-256 or Ed25519";
        return NGX_ERROR;
    }

    key = ngx_queues_base_jwt_key_push(keys, error);

    if (key == NULL) {
        EVP_PKEY_free(pkey);
        return NGX_ERROR;
    }

    return ngx_queues_base_jwt_key_set_public(key, pkey, error);
}


ngx_queues_base_jwt_key_t *
ngx_queues_base_jwt_key_push(ngx_queues_base_jwt_keys_t *keys,
    const char **error)
{
    if (keys->nkeys == NGX_QUEUES_BASE_JWT_KEYS) {
        *error = "is one too many: there can be 64 keys in all";
        return NULL;
    }

    return &keys->keys[keys->nkeys++];
}


ngx_int_t
ngx_queues_base_jwt_key_set_secret(ngx_queues_base_jwt_key_t *key,
    ngx_str_t *secret, const char **error)
{
    if (secret->len < NGX_QUEUES_BASE_JWT_SECRET_MIN) {
        *error = "is a secret of less than 32 bytes: make one with "
                 "\"openssl rand -base64 48\"";
        return NGX_ERROR;
    }

    key->kind = NGX_QUEUES_BASE_JWT_HMAC;

    key->secret.data = OPENSSL_memdup(secret->data, secret->len);
    if (key->secret.data == NULL) {
        *error = "is not read: there is no memory";
        return NGX_ERROR;
    }

    key->secret.len = secret->len;

    return NGX_OK;
}


ngx_int_t
ngx_queues_base_jwt_key_set_public(ngx_queues_base_jwt_key_t *key,
    EVP_PKEY *pkey, const char **error)
{
    ngx_int_t      rc;
    EVP_PKEY_CTX  *ctx;

    rc = ngx_queues_base_jwt_key_kind(key, pkey, error);

    if (rc == NGX_OK) {
        ctx = EVP_PKEY_CTX_new(pkey, NULL);

        if (ctx == NULL || EVP_PKEY_public_check(ctx) != 1) {
            *error = "is not a sound public key";
            rc = NGX_ERROR;
        }

        EVP_PKEY_CTX_free(ctx);
    }

    if (rc != NGX_OK) {
        EVP_PKEY_free(pkey);
        return NGX_ERROR;
    }

    key->pkey = pkey;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_jwt_key_kind(ngx_queues_base_jwt_key_t *key, EVP_PKEY *pkey,
    const char **error)
{
    char    group[32];
    int     bits;
    size_t  len;

    switch (EVP_PKEY_get_base_id(pkey)) {

    case EVP_PKEY_RSA:
        bits = EVP_PKEY_get_bits(pkey);

        if (bits < NGX_QUEUES_BASE_JWT_RSA_MIN
            || bits > NGX_QUEUES_BASE_JWT_RSA_MAX)
        {
            *error = "is an RSA key of less than 2048 or more than 8192 bits";
            return NGX_ERROR;
        }

        key->kind = NGX_QUEUES_BASE_JWT_RSA;
        return NGX_OK;

    case EVP_PKEY_EC:
        if (EVP_PKEY_get_group_name(pkey, group, sizeof(group), &len) != 1
            || strcmp(group, SN_X9_62_prime256v1) != 0)
        {
            *error = "is an EC key of another curve than P-256";
            return NGX_ERROR;
        }

        key->kind = NGX_QUEUES_BASE_JWT_EC;
        return NGX_OK;

    case EVP_PKEY_ED25519:
        key->kind = NGX_QUEUES_BASE_JWT_ED;
        return NGX_OK;

    default:
        *error = "is not a public key of RSA, EC P-256 or Ed25519";
        return NGX_ERROR;
    }
}
