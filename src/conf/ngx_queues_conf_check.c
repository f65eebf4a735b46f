
#include "ngx_queues_conf.h"
#include "ngx_queues_conf_library.h"
#include "../base/ngx_queues_base_wipe.h"

#include <openssl/evp.h>


#define NGX_QUEUES_CONF_SECRET_MIN     32
#define NGX_QUEUES_CONF_SECRET_MAX     8
#define NGX_QUEUES_CONF_FILE_MAX       65536
#define NGX_QUEUES_CONF_HASH_LEN       8      /* bytes, twice as many digits */


static ngx_int_t ngx_queues_conf_required(ngx_conf_t *cf,
    ngx_queues_conf_main_t *qmcf);
static ngx_int_t ngx_queues_conf_times(ngx_conf_t *cf,
    ngx_queues_conf_main_t *qmcf);
static ngx_int_t ngx_queues_conf_password(ngx_conf_t *cf,
    ngx_queues_conf_main_t *qmcf);
static void ngx_queues_conf_password_cleanup(void *data);
static ngx_int_t ngx_queues_conf_tls(ngx_conf_t *cf,
    ngx_queues_conf_main_t *qmcf);
static ngx_int_t ngx_queues_conf_tls_files(ngx_conf_t *cf,
    ngx_queues_conf_main_t *qmcf);
static ngx_int_t ngx_queues_conf_secret(ngx_conf_t *cf,
    ngx_queues_conf_main_t *qmcf);
static ngx_int_t ngx_queues_conf_secret_line(ngx_conf_t *cf,
    ngx_queues_conf_main_t *qmcf, ngx_str_t *line);
static void ngx_queues_conf_resolver(ngx_conf_t *cf,
    ngx_queues_conf_main_t *qmcf);
static ngx_int_t ngx_queues_conf_library(ngx_conf_t *cf,
    ngx_queues_conf_main_t *qmcf);


ngx_int_t
ngx_queues_conf_check(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    if (!qmcf->used) {
        return NGX_OK;
    }

    if (ngx_queues_conf_required(cf, qmcf) != NGX_OK
        || ngx_queues_conf_times(cf, qmcf) != NGX_OK
        || ngx_queues_conf_password(cf, qmcf) != NGX_OK
        || ngx_queues_conf_tls(cf, qmcf) != NGX_OK
        || ngx_queues_conf_secret(cf, qmcf) != NGX_OK
        || ngx_queues_conf_check_jwt(cf, &qmcf->jwt) != NGX_OK
        || ngx_queues_conf_check_oidc(cf, &qmcf->oidc) != NGX_OK
        || ngx_queues_conf_check_push(cf, qmcf) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_queues_conf_resolver(cf, qmcf);

    return ngx_queues_conf_library(cf, qmcf);
}


static ngx_int_t
ngx_queues_conf_required(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    if (qmcf->redis.address.len == 0) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"%s\" needs a store: add \"queues_redis "
                      "unix:PATH;\" or \"queues_redis HOST:PORT;\" to "
                      "\"http\"", qmcf->used);
        return NGX_ERROR;
    }

    if (qmcf->secret_file.len == 0) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"%s\" needs a secret: make one with \"openssl "
                      "rand -base64 48 > FILE\" and add \"queues_secret_file "
                      "FILE;\" to \"http\"", qmcf->used);
        return NGX_ERROR;
    }

    if (qmcf->auth
        && qmcf->api_keys_file.len == 0
        && qmcf->jwt.key_files->nelts == 0)
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"%s\" has no credentials to check: add "
                      "\"queues_api_keys FILE;\" or \"queues_jwt_key FILE;\" "
                      "to \"http\", or \"queues_auth off;\" where everyone "
                      "may do everything", qmcf->used);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_conf_times(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    /* to nginx 0 is a time like others, here nothing could ever be in time */

    if (qmcf->redis.timeout == 0 || qmcf->redis.connect_timeout == 0) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"%s 0\" leaves no time for an answer: write one "
                      "such as \"1s\"",
                      qmcf->redis.timeout == 0
                      ? "queues_redis_timeout"
                      : "queues_redis_connect_timeout");
        return NGX_ERROR;
    }

    if (qmcf->redis.replicas_timeout > qmcf->redis.timeout) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "the time of \"queues_redis_replicas\" is %Mms, but a "
                      "command has %Mms: give it at most half of that, or "
                      "raise \"queues_redis_timeout\"",
                      qmcf->redis.replicas_timeout, qmcf->redis.timeout);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_conf_password(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    ngx_str_t            text;
    ngx_pool_cleanup_t  *cln;

    if (qmcf->redis_password_file.len == 0) {

        if (qmcf->redis.user.len) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "\"queues_redis_user\" needs "
                          "\"queues_redis_password_file FILE;\" beside it");
            return NGX_ERROR;
        }

        return NGX_OK;
    }

    cln = ngx_pool_cleanup_add(cf->pool, sizeof(ngx_str_t));
    if (cln == NULL) {
        return NGX_ERROR;
    }

    if (ngx_queues_conf_read_file(cf, "queues_redis_password_file",
                                  &qmcf->redis_password_file,
                                  NGX_QUEUES_CONF_FILE_MAX, &text)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    *(ngx_str_t *) cln->data = text;
    cln->handler = ngx_queues_conf_password_cleanup;

    if (ngx_queues_conf_next_line(&text, &qmcf->redis.password) != NGX_OK
        || qmcf->redis.password.len == 0)
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "the first line of \"queues_redis_password_file %V\" "
                      "must be the password", &qmcf->redis_password_file);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static void
ngx_queues_conf_password_cleanup(void *data)
{
    ngx_str_t *text = data;

    ngx_queues_base_wipe(text->data, text->len);
}


static ngx_int_t
ngx_queues_conf_tls(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    ngx_ssl_t  *ssl;

    if (ngx_queues_conf_tls_files(cf, qmcf) != NGX_OK) {
        return NGX_ERROR;
    }

    if (qmcf->redis_tls != 1) {
        return NGX_OK;
    }

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

    qmcf->redis.ssl = ssl;

    if (qmcf->redis_certificate.len
        && ngx_ssl_certificate(cf, ssl, &qmcf->redis_certificate,
                               &qmcf->redis_certificate_key, NULL)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    /* depth as nginx' own proxy_ssl_verify_depth allows, plus intermediates */

    return ngx_ssl_trusted_certificate(cf, ssl,
                                       &qmcf->redis_trusted_certificate, 4);
}


/* whether what is named goes together */

static ngx_int_t
ngx_queues_conf_tls_files(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    if (qmcf->redis_tls == NGX_CONF_UNSET
        && (qmcf->redis_trusted_certificate.len
            || qmcf->redis_certificate.len
            || qmcf->redis_certificate_key.len))
    {
        /* the password would go to Redis in clear */

        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "certificates for Redis are of use with TLS only: add "
                      "\"queues_redis_tls on;\", or \"off\" to go without");
        return NGX_ERROR;
    }

    if (qmcf->redis_tls != 1) {
        return NGX_OK;
    }

    if (qmcf->redis.host.len == 0) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"queues_redis_tls on\" is for \"queues_redis "
                      "HOST:PORT\", not for a Unix socket");
        return NGX_ERROR;
    }

    if (qmcf->redis_trusted_certificate.len == 0) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"queues_redis_tls on\" needs "
                      "\"queues_redis_trusted_certificate FILE;\": the CA's "
                      "certificate in PEM");
        return NGX_ERROR;
    }

    if ((qmcf->redis_certificate.len == 0)
        != (qmcf->redis_certificate_key.len == 0))
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"queues_redis_certificate\" and "
                      "\"queues_redis_certificate_key\" go together");
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_conf_secret(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    ngx_int_t  rc;
    ngx_str_t  text, rest, line;

    if (ngx_queues_conf_read_file(cf, "queues_secret_file",
                                  &qmcf->secret_file,
                                  NGX_QUEUES_CONF_FILE_MAX, &text)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    qmcf->handle_keys = ngx_pcalloc(cf->pool, NGX_QUEUES_CONF_SECRET_MAX
                                    * sizeof(ngx_queues_base_handle_key_t *));
    if (qmcf->handle_keys == NULL) {
        return NGX_ERROR;
    }

    qmcf->push.seal_keys = ngx_pcalloc(cf->pool, NGX_QUEUES_CONF_SECRET_MAX
                                       * sizeof(ngx_queues_base_seal_key_t *));
    if (qmcf->push.seal_keys == NULL) {
        return NGX_ERROR;
    }

    rc = NGX_OK;
    rest = text;

    while (rc == NGX_OK
           && ngx_queues_conf_next_line(&rest, &line) == NGX_OK)
    {
        if (line.len) {
            rc = ngx_queues_conf_secret_line(cf, qmcf, &line);
        }
    }

    ngx_queues_base_wipe(text.data, text.len);

    if (rc == NGX_OK && qmcf->nhandle_keys == 0) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"queues_secret_file %V\" is empty: make it with "
                      "\"openssl rand -base64 48 > FILE\"",
                      &qmcf->secret_file);
        return NGX_ERROR;
    }

    return rc;
}


static ngx_int_t
ngx_queues_conf_secret_line(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf,
    ngx_str_t *line)
{
    ngx_queues_base_seal_key_t    *seal_key;
    ngx_queues_base_handle_key_t  *key;

    if (line->len < NGX_QUEUES_CONF_SECRET_MIN) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "a line of \"queues_secret_file %V\" is shorter than "
                      "%d bytes: make it with \"openssl rand -base64 48\"",
                      &qmcf->secret_file, NGX_QUEUES_CONF_SECRET_MIN);
        return NGX_ERROR;
    }

    if (qmcf->nhandle_keys == NGX_QUEUES_CONF_SECRET_MAX) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"queues_secret_file %V\" has more than %d lines: "
                      "remove the oldest, at the end",
                      &qmcf->secret_file, NGX_QUEUES_CONF_SECRET_MAX);
        return NGX_ERROR;
    }

    key = ngx_queues_base_handle_key_create(line->data, line->len);
    seal_key = ngx_queues_base_seal_key_create(line->data, line->len);

    if (key == NULL || seal_key == NULL) {
        ngx_queues_base_handle_key_destroy(key);
        ngx_queues_base_seal_key_destroy(seal_key);

        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "no key could be made of \"queues_secret_file %V\"",
                      &qmcf->secret_file);
        return NGX_ERROR;
    }

    qmcf->handle_keys[qmcf->nhandle_keys++] = key;
    qmcf->push.seal_keys[qmcf->push.nseal_keys++] = seal_key;

    return NGX_OK;
}


/*
 * A name of Redis is resolved again at every reconnect where http{} has a
 * resolver: after a failover the name may point elsewhere.
 */

static void
ngx_queues_conf_resolver(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    ngx_addr_t  addr;

    if (qmcf->redis.host.len == 0
        || ngx_parse_addr(cf->pool, &addr, qmcf->redis.host.data,
                          qmcf->redis.host.len)
           == NGX_OK)
    {
        return;
    }

    qmcf->redis.resolver = ngx_queues_conf_http_resolver(cf,
                                               &qmcf->redis.resolver_timeout);
}


ngx_resolver_t *
ngx_queues_conf_http_resolver(ngx_conf_t *cf, ngx_msec_t *timeout)
{
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    /* where there is none, nginx itself makes one without name servers */

    if (clcf->resolver == NULL || clcf->resolver->connections.nelts == 0) {
        return NULL;
    }

    *timeout = clcf->resolver_timeout;

    if (*timeout == NGX_CONF_UNSET_MSEC) {
        *timeout = 30000;
    }

    return clcf->resolver;
}


/*
 * The library's name carries the hash of its text, so that nodes of several
 * versions share one Redis.
 */

static ngx_int_t
ngx_queues_conf_library(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    u_char                    digest[EVP_MAX_MD_SIZE];
    u_char                   *p;
    ngx_str_t                 body;
    ngx_queues_conf_redis_t  *rc;

    static char  head[] = "#!lua name=%V\nlocal P = '%V_'\n";

    rc = &qmcf->redis;

    ngx_queues_conf_library_text(&body);

    if (EVP_Digest(body.data, body.len, digest, NULL, EVP_sha256(), NULL)
        != 1)
    {
        return NGX_ERROR;
    }

    rc->library_name.len = sizeof("ngxq_") - 1 + 2 * NGX_QUEUES_CONF_HASH_LEN;
    rc->library_name.data = ngx_pnalloc(cf->pool, rc->library_name.len);
    if (rc->library_name.data == NULL) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(rc->library_name.data, "ngxq_", sizeof("ngxq_") - 1);
    ngx_hex_dump(p, digest, NGX_QUEUES_CONF_HASH_LEN);

    rc->library.data = ngx_pnalloc(cf->pool, sizeof(head) + body.len
                                             + 2 * rc->library_name.len);
    if (rc->library.data == NULL) {
        return NGX_ERROR;
    }

    p = ngx_sprintf(rc->library.data, head, &rc->library_name,
                    &rc->library_name);
    p = ngx_cpymem(p, body.data, body.len);

    rc->library.len = p - rc->library.data;

    return NGX_OK;
}
