
#include "ngx_queues_conf.h"


/* intermediates in a chain: the public ones have at most three or four */
#define NGX_QUEUES_CONF_PUSH_DEPTH  8


static ngx_int_t ngx_queues_conf_push_tls(ngx_conf_t *cf,
    ngx_queues_conf_push_t *push);
static ngx_int_t ngx_queues_conf_push_system(ngx_conf_t *cf,
    ngx_queues_conf_push_t *push, ngx_ssl_t *ssl);


ngx_int_t
ngx_queues_conf_check_push(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    ngx_queues_conf_push_t  *push;

    push = &qmcf->push;

    push->resolver = ngx_queues_conf_http_resolver(cf,
                                                   &push->resolver_timeout);

    if (push->resolver == NULL) {

        if (push->on == 1) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "\"queues_push on\" needs name servers: add "
                          "\"resolver ADDRESS;\" to \"http\", or write "
                          "\"queues_push off\"");
            return NGX_ERROR;
        }

        if (push->on == NGX_CONF_UNSET && qmcf->control) {
            ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                          "\"queues_push\" stays off: there are no name "
                          "servers; add \"resolver ADDRESS;\" to \"http\", or "
                          "write \"queues_push off\"");
        }

        push->on = 0;
    }

    if (push->on == 0) {
        return NGX_OK;
    }

    return ngx_queues_conf_push_tls(cf, push);
}


static ngx_int_t
ngx_queues_conf_push_tls(ngx_conf_t *cf, ngx_queues_conf_push_t *push)
{
    ngx_ssl_t  *ssl;

    ssl = ngx_pcalloc(cf->pool, sizeof(ngx_ssl_t));
    if (ssl == NULL) {
        return NGX_ERROR;
    }

    ssl->log = cf->log;

    if (ngx_ssl_create(ssl, NGX_SSL_TLSv1_2|NGX_SSL_TLSv1_3, NULL)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    push->ssl = ssl;

    /* a resumed session would not show its certificate again */

    (void) SSL_CTX_set_session_cache_mode(ssl->ctx, SSL_SESS_CACHE_OFF);

    /* without a file it sets how to verify, but not against what */

    if (ngx_ssl_trusted_certificate(cf, ssl, &push->trusted_certificate,
                                    NGX_QUEUES_CONF_PUSH_DEPTH)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (push->trusted_certificate.len == 0) {
        return ngx_queues_conf_push_system(cf, push, ssl);
    }

    push->on = 1;

    return NGX_OK;
}


/*
 * The authorities that the system trusts, of OpenSSL's file.  A missing one is
 * no error to OpenSSL, but nothing could ever be delivered.
 */

static ngx_int_t
ngx_queues_conf_push_system(ngx_conf_t *cf, ngx_queues_conf_push_t *push,
    ngx_ssl_t *ssl)
{
    X509_STORE  *store;
    ngx_uint_t   level;

    if (SSL_CTX_set_default_verify_paths(ssl->ctx) != 1) {
        ngx_ssl_error(NGX_LOG_EMERG, cf->log, 0,
                      "SSL_CTX_set_default_verify_paths() failed");
        return NGX_ERROR;
    }

    ERR_clear_error();

    store = SSL_CTX_get_cert_store(ssl->ctx);

    if (sk_X509_OBJECT_num(X509_STORE_get0_objects(store)) > 0) {
        push->on = 1;
        return NGX_OK;
    }

    level = (push->on == 1) ? NGX_LOG_EMERG : NGX_LOG_WARN;

    ngx_log_error(level, cf->log, 0,
                  "%s: \"%s\" has no certificates of authorities: install the "
                  "package ca-certificates, or add "
                  "\"queues_push_trusted_certificate FILE;\"",
                  (push->on == 1) ? "\"queues_push on\" cannot verify endpoints"
                                  : "\"queues_push\" stays off",
                  X509_get_default_cert_file());

    if (push->on == 1) {
        return NGX_ERROR;
    }

    push->on = 0;

    return NGX_OK;
}
