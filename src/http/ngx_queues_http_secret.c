
#include "ngx_queues_http.h"
#include "../base/ngx_queues_base_wipe.h"


static void ngx_queues_http_secret_cleanup(void *data);

#if (NGX_HTTP_SSL)
static ngx_int_t ngx_queues_http_secret_tls(ngx_connection_t *c);
static ngx_chain_t *ngx_queues_http_secret_send_chain(ngx_connection_t *c,
    ngx_chain_t *in, off_t limit);
static void ngx_queues_http_secret_buffer_cleanup(void *data);
#endif


ngx_str_t *
ngx_queues_http_secret(ngx_http_request_t *r)
{
    ngx_str_t           *text;
    ngx_pool_cleanup_t  *cln;

#if (NGX_HTTP_SSL)
    ngx_connection_t    *c;

    c = r->connection;

#if (NGX_HTTP_V2)
    if (r->stream) {
        c = r->stream->connection->connection;
    }
#endif

    if (ngx_queues_http_secret_tls(c) != NGX_OK) {
        return NULL;
    }
#endif

#if (NGX_HTTP_GZIP)

    /* it would be in the compressor's window, and told by lengths */

    r->gzip_tested = 1;
    r->gzip_ok = 0;
#endif

    cln = ngx_pool_cleanup_add(r->pool, sizeof(ngx_str_t));
    if (cln == NULL) {
        return NULL;
    }

    cln->handler = ngx_queues_http_secret_cleanup;

    text = cln->data;
    ngx_str_null(text);

    return text;
}


static void
ngx_queues_http_secret_cleanup(void *data)
{
    ngx_str_t *text = data;

    ngx_queues_base_wipe(text->data, text->len);
}


#if (NGX_HTTP_SSL)

/*
 * nginx copies what goes over TLS into a buffer of the connection, which it
 * frees as it is, or uses again for less.  From now on what was sent of it is
 * wiped at once: the end of the request would be too early, as an answer of
 * HTTP/2 may wait there longer than its stream lives.
 */

static ngx_int_t
ngx_queues_http_secret_tls(ngx_connection_t *c)
{
    ngx_pool_cleanup_t  *cln;

    if (c->ssl == NULL || c->send_chain != ngx_ssl_send_chain) {
        return NGX_OK;
    }

    cln = ngx_pool_cleanup_add(c->pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_queues_http_secret_buffer_cleanup;
    cln->data = c->ssl;

    c->send_chain = ngx_queues_http_secret_send_chain;

    return NGX_OK;
}


static ngx_chain_t *
ngx_queues_http_secret_send_chain(ngx_connection_t *c, ngx_chain_t *in,
    off_t limit)
{
    ngx_buf_t  *b;

    in = ngx_ssl_send_chain(c, in, limit);

    b = c->ssl->buf;

    if (b && b->start) {
        ngx_explicit_memzero(b->start, b->pos - b->start);
        ngx_explicit_memzero(b->last, b->end - b->last);
    }

    ngx_queues_base_wipe_traces();

    return in;
}


/* the connection has ended, and nothing more is sent: c->ssl is NULL by now */

static void
ngx_queues_http_secret_buffer_cleanup(void *data)
{
    ngx_ssl_connection_t *ssl = data;

    ngx_buf_t  *b;

    b = ssl->buf;

    if (b && b->start) {
        ngx_queues_base_wipe(b->start, b->end - b->start);
    }
}

#endif
