
#include "ngx_queues_auth_oidc.h"
#include "../base/ngx_queues_base_oidc_cache.h"
#include "../base/ngx_queues_base_wipe.h"


#define NGX_QUEUES_AUTH_OIDC_FILE_MAX  65536


/*
 * To sign takes a worker longer than most requests do.  Each remembers on its
 * own, in a copy of what the configuration has made: a reload begins anew,
 * perhaps with another key.
 */

typedef struct {
    ngx_queues_base_oidc_keys_t   *keys;
    ngx_queues_base_oidc_cache_t  *cache;
    ngx_str_t                      configuration;
    ngx_str_t                      jwks;
} ngx_queues_auth_oidc_t;


static ngx_int_t ngx_queues_auth_oidc_file(ngx_conf_t *cf,
    ngx_queues_auth_oidc_t *oidc, ngx_str_t *file);
static ngx_int_t ngx_queues_auth_oidc_documents(ngx_conf_t *cf,
    ngx_queues_auth_oidc_t *oidc, ngx_str_t *issuer);
static void ngx_queues_auth_oidc_cleanup(void *data);


ngx_int_t
ngx_queues_auth_oidc_load(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    ngx_str_t               *file;
    ngx_uint_t               i;
    ngx_pool_cleanup_t      *cln;
    ngx_queues_auth_oidc_t  *oidc;

    if (qmcf->oidc.key_files->nelts == 0) {
        return NGX_OK;
    }

    oidc = ngx_pcalloc(cf->pool, sizeof(ngx_queues_auth_oidc_t));
    if (oidc == NULL) {
        return NGX_ERROR;
    }

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_queues_auth_oidc_cleanup;
    cln->data = oidc;

    oidc->keys = ngx_queues_base_oidc_keys_create();
    if (oidc->keys == NULL) {
        return NGX_ERROR;
    }

    file = qmcf->oidc.key_files->elts;

    for (i = 0; i < qmcf->oidc.key_files->nelts; i++) {
        if (ngx_queues_auth_oidc_file(cf, oidc, &file[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    oidc->cache = ngx_queues_base_oidc_cache_create(oidc->keys,
                                                    &qmcf->oidc.issuer);
    if (oidc->cache == NULL) {
        return NGX_ERROR;
    }

    qmcf->oidc.tokens = oidc;

    return ngx_queues_auth_oidc_documents(cf, oidc, &qmcf->oidc.issuer);
}


static ngx_int_t
ngx_queues_auth_oidc_file(ngx_conf_t *cf, ngx_queues_auth_oidc_t *oidc,
    ngx_str_t *file)
{
    ngx_int_t    rc;
    ngx_str_t    text;
    ngx_uint_t   number;
    const char  *error;

    if (ngx_queues_conf_read_file(cf, "queues_oidc_key", file,
                                  NGX_QUEUES_AUTH_OIDC_FILE_MAX, &text)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_queues_base_oidc_keys_add(oidc->keys, &text, &error, &number);

    ngx_queues_base_wipe(text.data, text.len);

    if (rc == NGX_OK) {
        return NGX_OK;
    }

    if (number) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "key %ui of \"queues_oidc_key %V\" %s", number, file,
                      error);

    } else {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"queues_oidc_key %V\" %s", file, error);
    }

    return NGX_ERROR;
}


/*
 * An issuer's last slash is a part of its name, and left out before a path
 * (OpenID Connect Discovery 1.0, 4).  Its characters need no escapes in JSON.
 */

static ngx_int_t
ngx_queues_auth_oidc_documents(ngx_conf_t *cf, ngx_queues_auth_oidc_t *oidc,
    ngx_str_t *issuer)
{
    u_char     *p;
    size_t      len;
    ngx_str_t   base;

    static char  format[] =
        "{\"issuer\":\"%V\",\"jwks_uri\":\"%V/.well-known/jwks.json\","
        "\"response_types_supported\":[\"id_token\"],"
        "\"subject_types_supported\":[\"public\"],"
        "\"id_token_signing_alg_values_supported\":[\"RS256\"],"
        "\"claims_supported\":[\"aud\",\"azp\",\"email\",\"email_verified\","
        "\"exp\",\"iat\",\"iss\",\"sub\"]}";

    base = *issuer;

    if (base.data[base.len - 1] == '/') {
        base.len--;
    }

    len = ngx_queues_base_oidc_jwks_length(oidc->keys);

    p = ngx_pnalloc(cf->pool, len + sizeof(format) + 2 * issuer->len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    oidc->jwks.data = p;
    p = ngx_queues_base_oidc_jwks(p, oidc->keys);
    oidc->jwks.len = p - oidc->jwks.data;

    oidc->configuration.data = p;
    p = ngx_sprintf(p, format, issuer, &base);
    oidc->configuration.len = p - oidc->configuration.data;

    return NGX_OK;
}


static void
ngx_queues_auth_oidc_cleanup(void *data)
{
    ngx_queues_auth_oidc_t *oidc = data;

    ngx_queues_base_oidc_cache_destroy(oidc->cache);
    ngx_queues_base_oidc_keys_destroy(oidc->keys);
}


ngx_uint_t
ngx_queues_auth_oidc_ready(ngx_queues_conf_main_t *qmcf)
{
    return qmcf->oidc.tokens != NULL;
}


ngx_str_t *
ngx_queues_auth_oidc_configuration(ngx_queues_conf_main_t *qmcf)
{
    ngx_queues_auth_oidc_t *oidc = qmcf->oidc.tokens;

    return &oidc->configuration;
}


ngx_str_t *
ngx_queues_auth_oidc_jwks(ngx_queues_conf_main_t *qmcf)
{
    ngx_queues_auth_oidc_t *oidc = qmcf->oidc.tokens;

    return &oidc->jwks;
}


ngx_int_t
ngx_queues_auth_oidc_token(ngx_queues_conf_main_t *qmcf, ngx_str_t *email,
    ngx_str_t *audience, time_t now, ngx_log_t *log, ngx_str_t *token)
{
    ngx_queues_auth_oidc_t *oidc = qmcf->oidc.tokens;

    if (oidc == NULL) {
        return NGX_DECLINED;
    }

    if (ngx_queues_base_oidc_cache_token(oidc->cache, email, audience, now,
                                         token)
        != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ERR, log, 0, "no token could be signed");
        return NGX_ERROR;
    }

    return NGX_OK;
}
