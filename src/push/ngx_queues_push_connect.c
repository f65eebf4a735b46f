
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_event_connect.h>

#include "ngx_queues_push_client.h"
#include "../net/ngx_queues_net.h"


/* ms for an address while there are others to try */
#define NGX_QUEUES_PUSH_LIMIT_MIN  250
#define NGX_QUEUES_PUSH_LIMIT_MAX  5000


static void ngx_queues_push_connect_address(ngx_queues_push_attempt_t *a);
static void ngx_queues_push_connect_limit(ngx_queues_push_attempt_t *a);
static ngx_int_t ngx_queues_push_connect_prepare(ngx_queues_push_attempt_t *a,
    ngx_connection_t *c);
static void ngx_queues_push_connect_handler(ngx_event_t *ev);
static void ngx_queues_push_connect_done(ngx_queues_push_attempt_t *a);
static const char *ngx_queues_push_connect_refused(
    ngx_queues_push_attempt_t *a, ngx_err_t err);
static const char *ngx_queues_push_connect_text(ngx_queues_push_attempt_t *a,
    ngx_err_t err);


void
ngx_queues_push_connect_start(ngx_queues_push_attempt_t *a)
{
    a->current = 0;

    if (!a->resent) {
        a->connection = ngx_queues_push_pool_take(a);

        if (a->connection) {
            a->reused = 1;
            ngx_queues_push_send_start(a);
            return;
        }
    }

    ngx_queues_push_connect_address(a);
}


/* only for what failed before any byte of the request was sent */

void
ngx_queues_push_connect_next(ngx_queues_push_attempt_t *a,
    ngx_queues_stat_outcome_e class, const char *reason)
{
    if (a->limit.timer_set) {
        ngx_del_timer(&a->limit);
    }

    if (++a->current == a->naddrs) {
        ngx_queues_push_attempt_fail(a, class, reason);
        return;
    }

    if (a->connection) {
        ngx_queues_push_connect_close(a->connection);
        a->connection = NULL;
    }

    ngx_queues_push_connect_address(a);
}


static void
ngx_queues_push_connect_address(ngx_queues_push_attempt_t *a)
{
    ngx_int_t              rc;
    ngx_addr_t            *addr;
    ngx_peer_connection_t  pc;

    a->state = NGX_QUEUES_PUSH_CONNECT;

    addr = &a->addrs[a->current];

    ngx_memzero(&pc, sizeof(ngx_peer_connection_t));

    pc.sockaddr = addr->sockaddr;
    pc.socklen = addr->socklen;
    pc.name = &addr->name;
    pc.get = ngx_event_get_peer;
    pc.log = &a->log;
    pc.log_error = NGX_ERROR_INFO;

    ngx_set_socket_errno(0);

    rc = ngx_event_connect_peer(&pc);

    if (rc == NGX_ERROR && ngx_socket_errno == EAFNOSUPPORT) {

        /* IPv6, where there is none: the next address may be another kind */

        ngx_queues_push_connect_next(a, NGX_QUEUES_STAT_CONNECTION,
                                "The node cannot connect to such addresses.");
        return;
    }

    if (rc == NGX_DECLINED) {
        ngx_queues_push_connect_next(a, NGX_QUEUES_STAT_CONNECTION,
                        ngx_queues_push_connect_refused(a, ngx_socket_errno));
        return;
    }

    if (rc != NGX_OK && rc != NGX_AGAIN) {
        ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_UNSENT,
                                     "No connection could be opened.");
        return;
    }

    a->connection = pc.connection;

    if (ngx_queues_push_connect_prepare(a, pc.connection) != NGX_OK) {
        ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_UNSENT,
                                     "No connection could be prepared.");
        return;
    }

    ngx_queues_push_connect_limit(a);

    if (rc == NGX_OK) {
        ngx_queues_push_connect_done(a);
    }
}


/* an address that swallows everything leaves time for the others */

static void
ngx_queues_push_connect_limit(ngx_queues_push_attempt_t *a)
{
    ngx_uint_t      n;
    ngx_msec_int_t  left;

    n = a->naddrs - a->current;

    if (n == 1) {
        return;
    }

    left = (ngx_msec_int_t) (a->deadline.timer.key - ngx_current_msec)
           / (ngx_msec_int_t) n;

    left = ngx_max(left, NGX_QUEUES_PUSH_LIMIT_MIN);
    left = ngx_min(left, NGX_QUEUES_PUSH_LIMIT_MAX);

    ngx_add_timer(&a->limit, (ngx_msec_t) left);
}


void
ngx_queues_push_connect_limit_handler(ngx_event_t *ev)
{
    ngx_queues_push_connect_next(ev->data, NGX_QUEUES_STAT_CONNECTION,
                            "The endpoint could not be connected to in time.");
}


static ngx_int_t
ngx_queues_push_connect_prepare(ngx_queues_push_attempt_t *a,
    ngx_connection_t *c)
{
    c->data = a;
    c->log = &a->log;
    c->read->log = &a->log;
    c->write->log = &a->log;
    c->read->handler = ngx_queues_push_connect_handler;
    c->write->handler = ngx_queues_push_connect_handler;

    a->log.connection = c->number;

    /* TLS keeps its buffers there, and the pool what it knows of it */

    c->pool = ngx_create_pool(512, &a->log);

    return c->pool ? NGX_OK : NGX_ERROR;
}


static void
ngx_queues_push_connect_handler(ngx_event_t *ev)
{
    ngx_err_t                   err;
    ngx_connection_t           *c;
    ngx_queues_push_attempt_t  *a;

    c = ev->data;
    a = c->data;

    if (c->close) {
        ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_CONNECTION,
                                     "The delivery was ended by a shutdown.");
        return;
    }

    err = ngx_queues_net_connect_error(c);

    if (err) {
        ngx_queues_push_connect_next(a, NGX_QUEUES_STAT_CONNECTION,
                                     ngx_queues_push_connect_text(a, err));
        return;
    }

    ngx_queues_push_connect_done(a);
}


static void
ngx_queues_push_connect_done(ngx_queues_push_attempt_t *a)
{
    if (ngx_tcp_nodelay(a->connection) != NGX_OK) {
        ngx_queues_push_connect_next(a, NGX_QUEUES_STAT_CONNECTION,
                                     "The connection to the endpoint failed.");
        return;
    }

    if (a->request.endpoint->tls) {
        ngx_queues_push_tls_start(a);
        return;
    }

    if (a->limit.timer_set) {
        ngx_del_timer(&a->limit);
    }

    ngx_queues_push_send_start(a);
}


/*
 * nginx has logged the error of its connect() and closed the socket since:
 * what connect() does not say of an endpoint is of one of these.
 */

static const char *
ngx_queues_push_connect_refused(ngx_queues_push_attempt_t *a, ngx_err_t err)
{
    switch (err) {

    case NGX_ECONNREFUSED:
    case NGX_ECONNRESET:
    case NGX_ETIMEDOUT:
    case NGX_ENETDOWN:
    case NGX_ENETUNREACH:
    case NGX_EHOSTDOWN:
    case NGX_EHOSTUNREACH:
        return ngx_queues_push_connect_text(a, err);

    default:
        return "The endpoint could not be connected to.";
    }
}


static const char *
ngx_queues_push_connect_text(ngx_queues_push_attempt_t *a, ngx_err_t err)
{
    u_char  *p, text[NGX_MAX_ERROR_STR];

    p = ngx_strerror(err, text, sizeof(text) - 1);
    *p = '\0';

    return ngx_queues_push_attempt_text(a,
                               "The endpoint could not be connected to",
                               (const char *) text);
}


void
ngx_queues_push_connect_close(ngx_connection_t *c)
{
    ngx_pool_t  *pool;

    if (c->ssl) {
        ngx_queues_net_tls_close(c);
    }

    pool = c->pool;

    ngx_close_connection(c);

    if (pool) {
        ngx_destroy_pool(pool);
    }
}
