
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_redis_link.h"


static ngx_int_t ngx_queues_redis_tls_server_name(ngx_connection_t *c,
    ngx_queues_conf_redis_t *conf);
static void ngx_queues_redis_tls_handler(ngx_connection_t *c);
static ngx_int_t ngx_queues_redis_tls_verify(ngx_connection_t *c,
    ngx_queues_conf_redis_t *conf);
static ngx_int_t ngx_queues_redis_tls_check_host(ngx_connection_t *c,
    ngx_str_t *host);
static ngx_uint_t ngx_queues_redis_tls_literal(ngx_str_t *host);


void
ngx_queues_redis_tls_start(ngx_queues_redis_link_t *l)
{
    ngx_int_t          rc;
    ngx_connection_t  *c;

    c = l->connection;

    if (ngx_ssl_create_connection(l->conf->ssl, c,
                                  NGX_SSL_BUFFER|NGX_SSL_CLIENT)
        != NGX_OK
        || ngx_queues_redis_tls_server_name(c, l->conf) != NGX_OK)
    {
        ngx_queues_redis_link_lost(l, 0, "cannot prepare TLS");
        return;
    }

    rc = ngx_ssl_handshake(c);

    if (rc == NGX_AGAIN) {
        c->ssl->handler = ngx_queues_redis_tls_handler;
        return;
    }

    ngx_queues_redis_tls_handler(c);
}


static ngx_int_t
ngx_queues_redis_tls_server_name(ngx_connection_t *c,
    ngx_queues_conf_redis_t *conf)
{
    u_char  *name;

    /* as per RFC 6066, literal IPv4 and IPv6 addresses are not permitted */

    if (conf->host.len == 0 || ngx_queues_redis_tls_literal(&conf->host)) {
        return NGX_OK;
    }

    name = ngx_pnalloc(c->pool, conf->host.len + 1);
    if (name == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_cpystrn(name, conf->host.data, conf->host.len + 1);

    if (SSL_set_tlsext_host_name(c->ssl->connection, (char *) name) == 0) {
        ngx_ssl_error(NGX_LOG_ERR, c->log, 0,
                      "SSL_set_tlsext_host_name(\"%s\") failed", name);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static void
ngx_queues_redis_tls_handler(ngx_connection_t *c)
{
    ngx_queues_redis_link_t  *l;

    l = c->data;

    if (!c->ssl->handshaked) {
        ngx_queues_redis_link_lost(l, 0, "TLS handshake failed");
        return;
    }

    if (ngx_queues_redis_tls_verify(c, l->conf) != NGX_OK) {
        ngx_queues_redis_link_lost(l, 0, "its certificate is not trusted");
        return;
    }

    ngx_queues_redis_link_secured(l);
}


static ngx_int_t
ngx_queues_redis_tls_verify(ngx_connection_t *c, ngx_queues_conf_redis_t *conf)
{
    long  rc;

    rc = SSL_get_verify_result(c->ssl->connection);

    if (rc != X509_V_OK) {
        ngx_log_error(NGX_LOG_ERR, c->log, 0,
                      "Redis SSL certificate verify error: (%l:%s)",
                      rc, X509_verify_cert_error_string(rc));
        return NGX_ERROR;
    }

    /* a Unix socket has no name to compare with */

    if (conf->host.len
        && ngx_queues_redis_tls_check_host(c, &conf->host) != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ERR, c->log, 0,
                      "Redis SSL certificate does not match \"%V\"",
                      &conf->host);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_redis_tls_check_host(ngx_connection_t *c, ngx_str_t *host)
{
    int      rc;
    X509    *cert;
    u_char   text[NGX_SOCKADDR_STRLEN + 1];

    if (!ngx_queues_redis_tls_literal(host)) {
        return ngx_ssl_check_host(c, host);
    }

    cert = SSL_get_peer_certificate(c->ssl->connection);
    if (cert == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_cpystrn(text, host->data,
                       ngx_min(host->len, NGX_SOCKADDR_STRLEN) + 1);

    rc = X509_check_ip_asc(cert, (char *) text, 0);

    X509_free(cert);

    return (rc == 1) ? NGX_OK : NGX_ERROR;
}


static ngx_uint_t
ngx_queues_redis_tls_literal(ngx_str_t *host)
{
#if (NGX_HAVE_INET6)
    u_char  addr[16];

    if (ngx_inet6_addr(host->data, host->len, addr) == NGX_OK) {
        return 1;
    }
#endif

    return ngx_inet_addr(host->data, host->len) != INADDR_NONE;
}
