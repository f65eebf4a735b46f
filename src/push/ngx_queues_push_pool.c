
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_push_client.h"


#define NGX_QUEUES_PUSH_KEPT_MAX  64


/* in the connection's pool, also while an attempt uses it */

struct ngx_queues_push_kept_s {
    ngx_queue_t        queue;
    ngx_connection_t  *connection;
    ngx_str_t          host;
    ngx_sockaddr_t     sockaddr;
    socklen_t          socklen;
};


static ngx_uint_t ngx_queues_push_pool_matches(ngx_queues_push_kept_t *kept,
    ngx_queues_push_attempt_t *a);
static ngx_uint_t ngx_queues_push_pool_clean(ngx_queues_push_attempt_t *a);
static ngx_queues_push_kept_t *ngx_queues_push_pool_create(
    ngx_queues_push_attempt_t *a);
static ngx_uint_t ngx_queues_push_pool_silent(ngx_connection_t *c);
static void ngx_queues_push_pool_log(ngx_connection_t *c, ngx_log_t *log);
static void ngx_queues_push_pool_handler(ngx_event_t *ev);
static void ngx_queues_push_pool_dummy_handler(ngx_event_t *ev);
static void ngx_queues_push_pool_close(ngx_queues_push_kept_t *kept);


/* the newest one is first */
static ngx_queue_t  ngx_queues_push_pool;
static ngx_uint_t   ngx_queues_push_pool_n;
static ngx_uint_t   ngx_queues_push_pool_drained;
static ngx_log_t    ngx_queues_push_pool_quiet;


void
ngx_queues_push_pool_init(ngx_cycle_t *cycle)
{
    ngx_queue_init(&ngx_queues_push_pool);

    ngx_queues_push_pool_n = 0;
    ngx_queues_push_pool_drained = 0;

    ngx_queues_push_pool_quiet = *cycle->log;
    ngx_queues_push_attempt_quiet(&ngx_queues_push_pool_quiet);
}


ngx_connection_t *
ngx_queues_push_pool_take(ngx_queues_push_attempt_t *a)
{
    ngx_queue_t             *q, *next;
    ngx_connection_t        *c;
    ngx_queues_push_kept_t  *kept;

    for (q = ngx_queue_head(&ngx_queues_push_pool);
         q != ngx_queue_sentinel(&ngx_queues_push_pool);
         q = next)
    {
        next = ngx_queue_next(q);
        kept = ngx_queue_data(q, ngx_queues_push_kept_t, queue);

        if (!ngx_queues_push_pool_matches(kept, a)) {
            continue;
        }

        c = kept->connection;

        if (!ngx_queues_push_pool_silent(c)) {
            ngx_queues_push_pool_close(kept);
            continue;
        }

        ngx_queue_remove(q);
        ngx_queues_push_pool_n--;

        ngx_reusable_connection(c, 0);

        ngx_del_timer(c->read);
        c->read->cancelable = 0;
        c->idle = 0;
        c->data = a;

        ngx_queues_push_pool_log(c, &a->log);

        a->kept = kept;
        a->log.connection = c->number;

        return c;
    }

    return NULL;
}


/*
 * The name too: it was for this one that the certificate was checked, if there
 * was one.
 */

static ngx_uint_t
ngx_queues_push_pool_matches(ngx_queues_push_kept_t *kept,
    ngx_queues_push_attempt_t *a)
{
    ngx_uint_t   i;
    ngx_addr_t  *addr;

    if ((kept->connection->ssl != NULL) != a->request.endpoint->tls
        || kept->host.len != a->host.len
        || ngx_memcmp(kept->host.data, a->host.data, a->host.len) != 0)
    {
        return 0;
    }

    for (i = 0; i < a->naddrs; i++) {
        addr = &a->addrs[i];

        if (ngx_cmp_sockaddr(&kept->sockaddr.sockaddr, kept->socklen,
                             addr->sockaddr, addr->socklen, 1)
            == NGX_OK)
        {
            return 1;
        }
    }

    return 0;
}


ngx_int_t
ngx_queues_push_pool_keep(ngx_queues_push_attempt_t *a)
{
    ngx_queue_t             *q;
    ngx_connection_t        *c;
    ngx_queues_push_kept_t  *kept;

    if (!ngx_queues_push_pool_clean(a)) {
        return NGX_DECLINED;
    }

    c = a->connection;

    kept = a->kept ? a->kept : ngx_queues_push_pool_create(a);

    if (kept == NULL || ngx_handle_read_event(c->read, 0) != NGX_OK) {
        return NGX_DECLINED;
    }

    if (ngx_queues_push_pool_n == NGX_QUEUES_PUSH_KEPT_MAX) {
        q = ngx_queue_last(&ngx_queues_push_pool);
        ngx_queues_push_pool_close(ngx_queue_data(q, ngx_queues_push_kept_t,
                                                  queue));
    }

    ngx_queue_insert_head(&ngx_queues_push_pool, &kept->queue);
    ngx_queues_push_pool_n++;

    if (c->ssl) {
        ngx_ssl_free_buffer(c);
    }

    ngx_queues_push_pool_log(c, &ngx_queues_push_pool_quiet);

    c->data = kept;
    c->idle = 1;
    c->read->handler = ngx_queues_push_pool_handler;
    c->write->handler = ngx_queues_push_pool_dummy_handler;
    c->read->cancelable = 1;

    if (c->read->posted) {
        ngx_delete_posted_event(c->read);
    }

    ngx_add_timer(c->read, a->response.idle);

    /* who needs a connection may have this one's place */

    ngx_reusable_connection(c, 1);

    return NGX_OK;
}


/* nothing may be left of this exchange on a connection for another one */

static ngx_uint_t
ngx_queues_push_pool_clean(ngx_queues_push_attempt_t *a)
{
    ngx_buf_t                   *b;
    ngx_connection_t            *c;
    ngx_queues_push_response_t  *response;

    c = a->connection;
    response = &a->response;
    b = response->buf;

    return !ngx_queues_push_pool_drained
           && !ngx_exiting
           && !ngx_terminate
           && a->state == NGX_QUEUES_PUSH_READ
           && response->keepalive
           && !response->over
           && response->idle
           && b->pos == b->last
           && !c->close
           && !c->error
           && !c->read->eof
           && !c->read->error
           && (c->ssl == NULL || SSL_pending(c->ssl->connection) == 0)
           && ngx_queues_push_pool_silent(c);
}


static ngx_queues_push_kept_t *
ngx_queues_push_pool_create(ngx_queues_push_attempt_t *a)
{
    ngx_addr_t              *addr;
    ngx_connection_t        *c;
    ngx_queues_push_kept_t  *kept;

    c = a->connection;
    addr = &a->addrs[a->current];

    kept = ngx_palloc(c->pool, sizeof(ngx_queues_push_kept_t));
    if (kept == NULL) {
        return NULL;
    }

    kept->host.data = ngx_pstrdup(c->pool, &a->host);
    if (kept->host.data == NULL) {
        return NULL;
    }

    kept->host.len = a->host.len;
    kept->connection = c;
    kept->socklen = addr->socklen;
    ngx_memcpy(&kept->sockaddr, addr->sockaddr, addr->socklen);

    return kept;
}


static ngx_uint_t
ngx_queues_push_pool_silent(ngx_connection_t *c)
{
    char  buf[1];

    return recv(c->fd, buf, 1, MSG_PEEK) == -1
           && ngx_socket_errno == NGX_EAGAIN;
}


static void
ngx_queues_push_pool_log(ngx_connection_t *c, ngx_log_t *log)
{
    c->log = log;
    c->read->log = log;
    c->write->log = log;
    c->pool->log = log;
}


static void
ngx_queues_push_pool_handler(ngx_event_t *ev)
{
    ngx_connection_t  *c;

    c = ev->data;

    if (!c->close && !ev->timedout && ngx_queues_push_pool_silent(c)) {
        ev->ready = 0;

        if (ngx_handle_read_event(ev, 0) == NGX_OK) {
            return;
        }
    }

    ngx_queues_push_pool_close(c->data);
}


static void
ngx_queues_push_pool_dummy_handler(ngx_event_t *ev)
{
    ngx_log_debug0(NGX_LOG_DEBUG_EVENT, ev->log, 0, "push kept write dummy");
}


static void
ngx_queues_push_pool_close(ngx_queues_push_kept_t *kept)
{
    ngx_queue_remove(&kept->queue);
    ngx_queues_push_pool_n--;

    ngx_queues_push_connect_close(kept->connection);
}


void
ngx_queues_push_pool_drain(void)
{
    ngx_queue_t  *q;

    ngx_queues_push_pool_drained = 1;

    while (!ngx_queue_empty(&ngx_queues_push_pool)) {
        q = ngx_queue_head(&ngx_queues_push_pool);
        ngx_queues_push_pool_close(ngx_queue_data(q, ngx_queues_push_kept_t,
                                                  queue));
    }
}
