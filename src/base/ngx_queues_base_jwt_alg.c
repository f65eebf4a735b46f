
#include "ngx_queues_base_jwt_parts.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>


#define NGX_QUEUES_BASE_JWT_P256      32       /* bytes of r and of s */

/* SEQUENCE of two INTEGERs, each with a leading zero at most */
#define NGX_QUEUES_BASE_JWT_DER_MAX                                           \
    (2 + 2 * (2 + 1 + NGX_QUEUES_BASE_JWT_P256))


static ngx_int_t ngx_queues_base_jwt_hmac(const ngx_queues_base_jwt_alg_t *alg,
    ngx_queues_base_jwt_key_t *key, ngx_str_t *text, ngx_str_t *signature);
static ngx_int_t ngx_queues_base_jwt_public(
    const ngx_queues_base_jwt_alg_t *alg, ngx_queues_base_jwt_key_t *key,
    ngx_str_t *text, ngx_str_t *signature);
static u_char *ngx_queues_base_jwt_der_integer(u_char *p, u_char *number);


/* "none" is not among them, nor is any other */

static const ngx_queues_base_jwt_alg_t  ngx_queues_base_jwt_algs[] = {
    { ngx_string("HS256"), NGX_QUEUES_BASE_JWT_HMAC, EVP_sha256 },
    { ngx_string("HS384"), NGX_QUEUES_BASE_JWT_HMAC, EVP_sha384 },
    { ngx_string("HS512"), NGX_QUEUES_BASE_JWT_HMAC, EVP_sha512 },
    { ngx_string("RS256"), NGX_QUEUES_BASE_JWT_RSA, EVP_sha256 },
    { ngx_string("RS384"), NGX_QUEUES_BASE_JWT_RSA, EVP_sha384 },
    { ngx_string("RS512"), NGX_QUEUES_BASE_JWT_RSA, EVP_sha512 },
    { ngx_string("ES256"), NGX_QUEUES_BASE_JWT_EC, EVP_sha256 },
    { ngx_string("EdDSA"), NGX_QUEUES_BASE_JWT_ED, NULL },
    { ngx_null_string, NGX_QUEUES_BASE_JWT_HMAC, NULL }
};


const ngx_queues_base_jwt_alg_t *
ngx_queues_base_jwt_alg(ngx_str_t *name)
{
    ngx_str_t                         known;
    const ngx_queues_base_jwt_alg_t  *alg;

    for (alg = ngx_queues_base_jwt_algs; alg->name.len; alg++) {
        known = alg->name;

        if (ngx_queues_base_json_equal(&known, name)) {
            return alg;
        }
    }

    return NULL;
}


ngx_int_t
ngx_queues_base_jwt_alg_verify(const ngx_queues_base_jwt_alg_t *alg,
    ngx_queues_base_jwt_key_t *key, ngx_str_t *text, ngx_str_t *signature)
{
    u_char     *p, der[NGX_QUEUES_BASE_JWT_DER_MAX];
    ngx_str_t   sequence;

    if (alg->kind != key->kind) {
        return NGX_ERROR;
    }

    switch (alg->kind) {

    case NGX_QUEUES_BASE_JWT_HMAC:
        return ngx_queues_base_jwt_hmac(alg, key, text, signature);

    case NGX_QUEUES_BASE_JWT_EC:
        if (signature->len != 2 * NGX_QUEUES_BASE_JWT_P256) {
            return NGX_ERROR;
        }

        /* r and s side by side become what OpenSSL reads */

        p = ngx_queues_base_jwt_der_integer(der + 2, signature->data);
        p = ngx_queues_base_jwt_der_integer(p, signature->data
                                               + NGX_QUEUES_BASE_JWT_P256);
        der[0] = 0x30;
        der[1] = (u_char) (p - der - 2);

        sequence.data = der;
        sequence.len = p - der;

        return ngx_queues_base_jwt_public(alg, key, text, &sequence);

    default:
        return ngx_queues_base_jwt_public(alg, key, text, signature);
    }
}


static ngx_int_t
ngx_queues_base_jwt_hmac(const ngx_queues_base_jwt_alg_t *alg,
    ngx_queues_base_jwt_key_t *key, ngx_str_t *text, ngx_str_t *signature)
{
    u_char        mac[EVP_MAX_MD_SIZE];
    unsigned int  len;

    if (HMAC(alg->md(), key->secret.data, (int) key->secret.len, text->data,
             text->len, mac, &len)
        == NULL)
    {
        ERR_clear_error();
        return NGX_ERROR;
    }

    if (signature->len != len || CRYPTO_memcmp(signature->data, mac, len)) {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_jwt_public(const ngx_queues_base_jwt_alg_t *alg,
    ngx_queues_base_jwt_key_t *key, ngx_str_t *text, ngx_str_t *signature)
{
    ngx_int_t      rc;
    EVP_MD_CTX    *ctx;
    EVP_PKEY_CTX  *pctx;

    rc = NGX_ERROR;

    ctx = EVP_MD_CTX_new();
    if (ctx == NULL) {
        goto done;
    }

    if (EVP_DigestVerifyInit(ctx, &pctx, alg->md ? alg->md() : NULL, NULL,
                             key->pkey)
        != 1)
    {
        goto done;
    }

    if (alg->kind == NGX_QUEUES_BASE_JWT_RSA
        && EVP_PKEY_CTX_set_rsa_padding(pctx, RSA_PKCS1_PADDING) != 1)
    {
        goto done;
    }

    if (EVP_DigestVerify(ctx, signature->data, signature->len, text->data,
                         text->len)
        == 1)
    {
        rc = NGX_OK;
    }

done:

    EVP_MD_CTX_free(ctx);

    /* nginx would take what is left there for an error of its TLS */

    if (rc != NGX_OK) {
        ERR_clear_error();
    }

    return rc;
}


/* the shortest INTEGER of an unsigned number of 32 bytes, big end first */

static u_char *
ngx_queues_base_jwt_der_integer(u_char *p, u_char *number)
{
    size_t  skip, zero;

    skip = 0;

    while (skip < NGX_QUEUES_BASE_JWT_P256 - 1 && number[skip] == 0) {
        skip++;
    }

    zero = number[skip] >> 7;

    *p++ = 0x02;
    *p++ = (u_char) (NGX_QUEUES_BASE_JWT_P256 - skip + zero);

    if (zero) {
        *p++ = 0;
    }

    return ngx_cpymem(p, number + skip, NGX_QUEUES_BASE_JWT_P256 - skip);
}
