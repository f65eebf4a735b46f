
#include "ngx_queues_base_sign.h"
#include "ngx_queues_base_text.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>


#define NGX_QUEUES_BASE_SIGN_PARTS     5
#define NGX_QUEUES_BASE_SIGN_MAC_SIZE  32       /* SHA-256 */
#define NGX_QUEUES_BASE_SIGN_TEXT      43       /* base64url of 32 bytes */


static ngx_int_t ngx_queues_base_sign_mac(u_char *key, ngx_str_t *parts,
    ngx_uint_t n, u_char *mac);
static EVP_MAC_CTX *ngx_queues_base_sign_context(void);


ngx_uint_t
ngx_queues_base_secret_portable(u_char *secret)
{
    u_char      text[NGX_QUEUES_BASE_SIGN_TEXT];
    ngx_uint_t  portable;

    (void) ngx_queues_base_base64url_print(text, secret,
                                           NGX_QUEUES_BASE_SECRET_SIZE);

    portable = memchr(text, '-', sizeof(text)) == NULL
               && memchr(text, '_', sizeof(text)) == NULL;

    OPENSSL_cleanse(text, sizeof(text));

    return portable;
}


u_char *
ngx_queues_base_secret_print(u_char *p, u_char *secret)
{
    p = ngx_cpymem(p, "whsec_", sizeof("whsec_") - 1);

    return ngx_queues_base_base64url_print(p, secret,
                                           NGX_QUEUES_BASE_SECRET_SIZE);
}


u_char *
ngx_queues_base_sign(u_char *p, ngx_queues_base_secrets_t *secrets,
    uint64_t t, ngx_str_t *body)
{
    u_char      mac[NGX_QUEUES_BASE_SIGN_MAC_SIZE];
    ngx_str_t   parts[3];
    ngx_uint_t  i, k;

    static const u_char  hex[] = "0123456789abcdef";

    p = ngx_cpymem(p, "t=", 2);

    parts[0].data = p;
    p = ngx_queues_base_decimal_print(p, t);
    parts[0].len = p - parts[0].data;

    ngx_str_set(&parts[1], ".");
    parts[2] = *body;

    for (i = 0; i < secrets->n; i++) {

        if (ngx_queues_base_sign_mac(secrets->keys[i], parts, 3, mac)
            != NGX_OK)
        {
            return NULL;
        }

        p = ngx_cpymem(p, ",v1=", 4);

        for (k = 0; k < sizeof(mac); k++) {
            *p++ = hex[mac[k] >> 4];
            *p++ = hex[mac[k] & 0x0f];
        }
    }

    return p;
}


u_char *
ngx_queues_base_sign_webhook(u_char *p, ngx_queues_base_secrets_t *secrets,
    ngx_str_t *id, uint64_t t, ngx_str_t *body)
{
    u_char      mac[NGX_QUEUES_BASE_SIGN_MAC_SIZE];
    u_char      seconds[NGX_QUEUES_BASE_DECIMAL_MAX], *last;
    ngx_str_t   parts[NGX_QUEUES_BASE_SIGN_PARTS];
    ngx_uint_t  i;

    parts[0] = *id;
    ngx_str_set(&parts[1], ".");

    parts[2].data = seconds;
    parts[2].len = ngx_queues_base_decimal_print(seconds, t) - seconds;

    parts[3] = parts[1];
    parts[4] = *body;

    for (i = 0; i < secrets->n; i++) {

        if (ngx_queues_base_sign_mac(secrets->keys[i], parts,
                                     NGX_QUEUES_BASE_SIGN_PARTS, mac)
            != NGX_OK)
        {
            return NULL;
        }

        if (i) {
            *p++ = ' ';
        }

        p = ngx_cpymem(p, "v1,", 3);
        last = ngx_queues_base_base64url_print(p, mac, sizeof(mac));

        /* the same digits but for two, and padded to a multiple of four */

        for ( /* void */ ; p < last; p++) {
            if (*p == '-') {
                *p = '+';

            } else if (*p == '_') {
                *p = '/';
            }
        }

        *p++ = '=';
    }

    return p;
}


/*
 * HMAC() wants one text, and the body is not copied.  OpenSSL 3 looks its
 * algorithms up each time that a MAC is begun by their names, which costs
 * more than to run them: the context is kept.
 */

static ngx_int_t
ngx_queues_base_sign_mac(u_char *key, ngx_str_t *parts, ngx_uint_t n,
    u_char *mac)
{
    size_t        len;
    ngx_int_t     rc;
    ngx_uint_t    i;
    EVP_MAC_CTX  *ctx;

    static const u_char  none[NGX_QUEUES_BASE_SECRET_SIZE];

    ctx = ngx_queues_base_sign_context();

    if (ctx == NULL
        || EVP_MAC_init(ctx, key, NGX_QUEUES_BASE_SECRET_SIZE, NULL) != 1)
    {
        return NGX_ERROR;
    }

    rc = NGX_OK;

    for (i = 0; i < n && rc == NGX_OK; i++) {
        if (EVP_MAC_update(ctx, parts[i].data, parts[i].len) != 1) {
            rc = NGX_ERROR;
        }
    }

    if (rc == NGX_OK
        && EVP_MAC_final(ctx, mac, &len, NGX_QUEUES_BASE_SIGN_MAC_SIZE) != 1)
    {
        rc = NGX_ERROR;
    }

    /* the context has a copy of the key, over which goes another one's */

    if (EVP_MAC_init(ctx, none, sizeof(none), NULL) != 1) {
        rc = NGX_ERROR;
    }

    return rc;
}


static EVP_MAC_CTX *
ngx_queues_base_sign_context(void)
{
    EVP_MAC             *hmac;
    OSSL_PARAM           params[2];

    static EVP_MAC_CTX  *ctx;

    if (ctx) {
        return ctx;
    }

    hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    if (hmac == NULL) {
        return NULL;
    }

    ctx = EVP_MAC_CTX_new(hmac);

    EVP_MAC_free(hmac);

    params[0] = OSSL_PARAM_construct_utf8_string("digest", "SHA256", 0);
    params[1] = OSSL_PARAM_construct_end();

    if (ctx && EVP_MAC_CTX_set_params(ctx, params) != 1) {
        EVP_MAC_CTX_free(ctx);
        ctx = NULL;
    }

    return ctx;
}
