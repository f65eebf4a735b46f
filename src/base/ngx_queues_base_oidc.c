
#include "ngx_queues_base_oidc.h"
#include "ngx_queues_base_bytes.h"
#include "ngx_queues_base_json.h"
#include "ngx_queues_base_text.h"

#include <openssl/err.h>
#include <openssl/sha.h>


/* bytes of the header, and of the claims beside their texts */
#define NGX_QUEUES_BASE_OIDC_HEADER                                           \
    (sizeof("{\"alg\":\"RS256\",\"kid\":\"\",\"typ\":\"JWT\"}") - 1           \
     + NGX_QUEUES_BASE_OIDC_KID_LEN)
#define NGX_QUEUES_BASE_OIDC_CLAIMS                                           \
    (sizeof("{\"aud\":\"\",\"azp\":\"\",\"email\":\"\",\"sub\":\"\","         \
            "\"email_verified\":true,\"exp\":,\"iat\":,\"iss\":\"\"}") - 1    \
     + 2 * NGX_QUEUES_BASE_OIDC_SUB_LEN + 2 * NGX_QUEUES_BASE_DECIMAL_MAX)


static size_t ngx_queues_base_oidc_claims_room(
    ngx_queues_base_oidc_claims_t *claims);
static u_char *ngx_queues_base_oidc_claims(u_char *p,
    ngx_queues_base_oidc_claims_t *claims);
static u_char *ngx_queues_base_oidc_put(u_char *p, const char *text);
static u_char *ngx_queues_base_oidc_sign(u_char *p, EVP_PKEY *pkey,
    ngx_str_t *text);


/* the token, and after it room for what is encoded into it */

size_t
ngx_queues_base_oidc_room(ngx_queues_base_oidc_keys_t *keys,
    ngx_queues_base_oidc_claims_t *claims)
{
    size_t  n, signature;

    n = ngx_queues_base_oidc_claims_room(claims);
    signature = (size_t) EVP_PKEY_get_size(keys->keys[0].pkey);

    return ngx_queues_base_base64url_length(NGX_QUEUES_BASE_OIDC_HEADER)
           + 1 + ngx_queues_base_base64url_length(n)
           + 1 + ngx_queues_base_base64url_length(signature)
           + ngx_max(ngx_max(n, NGX_QUEUES_BASE_OIDC_HEADER), signature);
}


static size_t
ngx_queues_base_oidc_claims_room(ngx_queues_base_oidc_claims_t *claims)
{
    return NGX_QUEUES_BASE_OIDC_CLAIMS
           + ngx_queues_base_json_escape_length(&claims->issuer)
           + ngx_queues_base_json_escape_length(&claims->email)
           + ngx_queues_base_json_escape_length(&claims->audience);
}


u_char *
ngx_queues_base_oidc_token(u_char *p, ngx_queues_base_oidc_keys_t *keys,
    ngx_queues_base_oidc_claims_t *claims)
{
    u_char                      *raw, *last, *end;
    ngx_str_t                    text;
    ngx_queues_base_oidc_key_t  *key;

    key = &keys->keys[0];

    text.data = p;
    end = p + ngx_queues_base_oidc_room(keys, claims);

    raw = end - NGX_QUEUES_BASE_OIDC_HEADER;
    last = ngx_queues_base_oidc_put(raw, "{\"alg\":\"RS256\",\"kid\":\"");
    last = ngx_cpymem(last, key->kid, NGX_QUEUES_BASE_OIDC_KID_LEN);
    last = ngx_queues_base_oidc_put(last, "\",\"typ\":\"JWT\"}");

    p = ngx_queues_base_base64url_print(p, raw, last - raw);
    *p++ = '.';

    raw = end - ngx_queues_base_oidc_claims_room(claims);
    last = ngx_queues_base_oidc_claims(raw, claims);
    if (last == NULL) {
        return NULL;
    }

    p = ngx_queues_base_base64url_print(p, raw, last - raw);

    text.len = p - text.data;
    *p++ = '.';

    raw = end - EVP_PKEY_get_size(key->pkey);
    last = ngx_queues_base_oidc_sign(raw, key->pkey, &text);
    if (last == NULL) {
        return NULL;
    }

    return ngx_queues_base_base64url_print(p, raw, last - raw);
}


/* in the order in which Google writes them */

static u_char *
ngx_queues_base_oidc_claims(u_char *p, ngx_queues_base_oidc_claims_t *claims)
{
    u_char  subject[NGX_QUEUES_BASE_OIDC_SUB_LEN];

    if (ngx_queues_base_oidc_subject(subject, &claims->email) == NULL) {
        return NULL;
    }

    p = ngx_queues_base_oidc_put(p, "{\"aud\":\"");
    p = ngx_queues_base_json_escape(p, &claims->audience);
    p = ngx_queues_base_oidc_put(p, "\",\"azp\":\"");
    p = ngx_cpymem(p, subject, NGX_QUEUES_BASE_OIDC_SUB_LEN);
    p = ngx_queues_base_oidc_put(p, "\",\"email\":\"");
    p = ngx_queues_base_json_escape(p, &claims->email);
    p = ngx_queues_base_oidc_put(p, "\",\"sub\":\"");
    p = ngx_cpymem(p, subject, NGX_QUEUES_BASE_OIDC_SUB_LEN);
    p = ngx_queues_base_oidc_put(p, "\",\"email_verified\":true,\"exp\":");
    p = ngx_queues_base_decimal_print(p, (uint64_t) claims->now
                                         + NGX_QUEUES_BASE_OIDC_LIFETIME);
    p = ngx_queues_base_oidc_put(p, ",\"iat\":");
    p = ngx_queues_base_decimal_print(p, (uint64_t) claims->now);
    p = ngx_queues_base_oidc_put(p, ",\"iss\":\"");
    p = ngx_queues_base_json_escape(p, &claims->issuer);

    return ngx_queues_base_oidc_put(p, "\"}");
}


/* as Google's, it begins with 1, so that it is a number of all its digits */

u_char *
ngx_queues_base_oidc_subject(u_char *p, ngx_str_t *email)
{
    u_char      hash[SHA256_DIGEST_LENGTH];
    uint64_t    n;
    ngx_uint_t  i, k;

    if (EVP_Digest(email->data, email->len, hash, NULL, EVP_sha256(), NULL)
        != 1)
    {
        ERR_clear_error();
        return NULL;
    }

    *p++ = '1';

    /* ten digits of each 64 bits */

    for (i = 0; i < 2; i++) {
        n = ngx_queues_base_bytes_read(hash + 8 * i, 8);

        for (k = 0; k < 10; k++) {
            *p++ = (u_char) ('0' + n % 10);
            n /= 10;
        }
    }

    return p;
}


static u_char *
ngx_queues_base_oidc_put(u_char *p, const char *text)
{
    return ngx_cpymem(p, text, ngx_strlen(text));
}


static u_char *
ngx_queues_base_oidc_sign(u_char *p, EVP_PKEY *pkey, ngx_str_t *text)
{
    size_t       len;
    EVP_MD_CTX  *ctx;

    len = (size_t) EVP_PKEY_get_size(pkey);

    ctx = EVP_MD_CTX_new();

    /* the padding of an RSA key is PKCS #1 unless another is asked for */

    if (ctx == NULL
        || EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, pkey) != 1
        || EVP_DigestSign(ctx, p, &len, text->data, text->len) != 1)
    {
        /* nginx would take what is left there for an error of its TLS */

        ERR_clear_error();
        p = NULL;

    } else {
        p += len;
    }

    EVP_MD_CTX_free(ctx);

    return p;
}
