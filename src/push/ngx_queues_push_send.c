
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_push_client.h"

#if (NGX_LINUX)
#include <sys/ioctl.h>
#include <linux/sockios.h>
#endif


static ngx_int_t ngx_queues_push_send_head(ngx_queues_push_attempt_t *a);
static void ngx_queues_push_send_handler(ngx_event_t *wev);
static void ngx_queues_push_send_done_handler(ngx_event_t *wev);
static void ngx_queues_push_send(ngx_queues_push_attempt_t *a);
static ngx_int_t ngx_queues_push_send_chain(ngx_queues_push_attempt_t *a);


void
ngx_queues_push_send_start(ngx_queues_push_attempt_t *a)
{
    ngx_event_t       *rev;
    ngx_connection_t  *c;

    c = a->connection;

    a->state = NGX_QUEUES_PUSH_SEND;
    a->unwritable = 0;

    a->request.begun(a->request.data);

    if (ngx_queues_push_send_head(a) != NGX_OK
        || ngx_queues_push_response_start(a) != NGX_OK)
    {
        ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_CONNECTION,
                                     "The request could not be prepared.");
        return;
    }

    c->read->handler = ngx_queues_push_response_handler;
    c->write->handler = ngx_queues_push_send_handler;

    /* what came with the end of the handshake is not announced again */

    rev = c->read;

    if (rev->ready) {
        ngx_post_event(rev, &ngx_posted_events);
    }

    a->sent = 1;

    ngx_queues_push_send(a);
}


static ngx_int_t
ngx_queues_push_send_head(ngx_queues_push_attempt_t *a)
{
    size_t                       len;
    u_char                      *p;
    ngx_buf_t                   *b;
    ngx_queues_push_request_t   *request;
    ngx_queues_base_endpoint_t  *endpoint;

    static const char  fields[] = "Accept-Encoding: identity" CRLF
                                  "Content-Length: ";

    request = &a->request;
    endpoint = request->endpoint;

    len = sizeof("POST  HTTP/1.1" CRLF "Host: " CRLF) - 1
          + endpoint->uri.len + endpoint->authority.len
          + sizeof(fields) - 1 + NGX_SIZE_T_LEN + 2 * (sizeof(CRLF) - 1)
          + request->lines_max;

    b = &a->bufs[0];

    b->start = ngx_pnalloc(a->pool, len);
    if (b->start == NULL) {
        return NGX_ERROR;
    }

    p = ngx_sprintf(b->start, "POST %V HTTP/1.1" CRLF "Host: %V" CRLF "%s%uz"
                    CRLF, &endpoint->uri, &endpoint->authority, fields,
                    request->body.len);

    p = request->lines(request->data, p);
    if (p == NULL) {
        return NGX_ERROR;
    }

    *p++ = CR; *p++ = LF;

    b->pos = b->start;
    b->last = p;
    b->memory = 1;

    b = &a->bufs[1];

    b->pos = request->body.data;
    b->last = request->body.data + request->body.len;
    b->memory = 1;
    b->last_buf = 1;

    /* a buffer with nothing in it would never be gone */

    a->chain[0].buf = &a->bufs[0];
    a->chain[0].next = request->body.len ? &a->chain[1] : NULL;
    a->chain[1].buf = &a->bufs[1];
    a->chain[1].next = NULL;

    a->out = a->chain;

    return NGX_OK;
}


static void
ngx_queues_push_send_handler(ngx_event_t *wev)
{
    ngx_connection_t           *c;
    ngx_queues_push_attempt_t  *a;

    c = wev->data;
    a = c->data;

    if (c->close) {
        ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_CONNECTION,
                                     "The delivery was ended by a shutdown.");
        return;
    }

    ngx_queues_push_send(a);
}


static void
ngx_queues_push_send_done_handler(ngx_event_t *wev)
{
    ngx_log_debug0(NGX_LOG_DEBUG_EVENT, wev->log, 0, "push write dummy");
}


static void
ngx_queues_push_send(ngx_queues_push_attempt_t *a)
{
    ngx_connection_t  *c;

    c = a->connection;

    if (ngx_queues_push_send_chain(a) != NGX_OK) {

        /* there may be an answer that says why it was not taken */

        a->unwritable = 1;
        c->write->handler = ngx_queues_push_send_done_handler;

        ngx_queues_push_response_read(a);
        return;
    }

    if (a->out == NULL && !c->buffered) {
        a->state = NGX_QUEUES_PUSH_READ;
        c->write->handler = ngx_queues_push_send_done_handler;
    }

    if (ngx_handle_write_event(c->write, 0) != NGX_OK) {
        ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_CONNECTION,
                                     "The connection could not be watched.");
    }
}


static ngx_int_t
ngx_queues_push_send_chain(ngx_queues_push_attempt_t *a)
{
    off_t              sent;
    ngx_connection_t  *c;

    c = a->connection;

    while (c->write->ready && (a->out || c->buffered)) {

        sent = c->sent;

        a->out = c->send_chain(c, a->out, 0);

        if (a->out == NGX_CHAIN_ERROR) {
            return NGX_ERROR;
        }

        /* TLS may wait for something to read */

        if (c->sent == sent) {
            break;
        }
    }

    return NGX_OK;
}


/* a peer that acknowledges what it does not read is taken to have got it */

ngx_uint_t
ngx_queues_push_send_incomplete(ngx_queues_push_attempt_t *a)
{
    if (a->state == NGX_QUEUES_PUSH_SEND) {
        return 1;
    }

#if (NGX_LINUX && defined SIOCOUTQ)
    {
    int  left;

    left = 0;

    if (ioctl(a->connection->fd, SIOCOUTQ, &left) == 0) {
        return left > 0;
    }
    }
#endif

    return 0;
}
