
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_redis_link.h"


#define NGX_QUEUES_REDIS_READ_SIZE   65536

/* the reader moves what is left of its buffer: keep that short */
#define NGX_QUEUES_REDIS_FEED_SIZE   16384

/* bytes after which the other connections of the worker have their turn */
#define NGX_QUEUES_REDIS_TURN_SIZE   (1024 * 1024)


/*
 * Commands after which a turn's first ones leave: Redis works on them while
 * the worker goes on with its other events, instead of after it.
 */
#define NGX_QUEUES_REDIS_EARLY       8


static ngx_int_t ngx_queues_redis_link_write_some(ngx_queues_redis_link_t *l);
static ngx_chain_t *ngx_queues_redis_link_chain(ngx_queues_redis_link_t *l);
static void ngx_queues_redis_link_written(ngx_queues_redis_link_t *l);
static ngx_int_t ngx_queues_redis_link_feed(ngx_queues_redis_link_t *l,
    size_t len);
static void ngx_queues_redis_link_reply(ngx_queues_redis_link_t *l,
    ngx_queues_redis_reply_t *reply);


/* the commands of one turn of the event loop leave in a few writes */

void
ngx_queues_redis_link_send(ngx_queues_redis_link_t *l,
    ngx_queues_redis_command_t *cmd)
{
    ngx_queue_insert_tail(&l->unsent, &cmd->queue);

    if (++l->nunsent >= NGX_QUEUES_REDIS_EARLY
        && l->drop == NULL
        && ngx_queues_redis_link_write_some(l) != NGX_OK)
    {
        /* the caller is not to be told of a loss before it returns */

        ngx_queues_redis_link_drop(l, "cannot write");
    }

    ngx_post_event(&l->flush, &ngx_posted_events);
}


void
ngx_queues_redis_link_flush_handler(ngx_event_t *ev)
{
    ngx_queues_redis_link_t  *l;

    l = ev->data;

    /* what has not left when the link is dropped was certainly not executed */

    if (l->drop == NULL) {
        ngx_queues_redis_link_write(l);
    }
}


void
ngx_queues_redis_link_write_handler(ngx_event_t *wev)
{
    ngx_connection_t         *c;
    ngx_queues_redis_link_t  *l;

    c = wev->data;
    l = c->data;

    if (l->drop == NULL) {
        ngx_queues_redis_link_write(l);
    }
}


void
ngx_queues_redis_link_write(ngx_queues_redis_link_t *l)
{
    if (ngx_queues_redis_link_write_some(l) != NGX_OK) {
        ngx_queues_redis_link_lost(l, 0, "cannot write");
    }
}


static ngx_int_t
ngx_queues_redis_link_write_some(ngx_queues_redis_link_t *l)
{
    ngx_chain_t       *cl;
    ngx_connection_t  *c;

    c = l->connection;

    l->nunsent = 0;

    while (!ngx_queue_empty(&l->unsent) && c->write->ready) {

        cl = c->send_chain(c, ngx_queues_redis_link_chain(l), 0);

        if (cl == NGX_CHAIN_ERROR) {
            return NGX_ERROR;
        }

        ngx_queues_redis_link_written(l);
    }

    /* TLS collects records */

    if (c->ssl && c->write->ready) {
        if (c->send_chain(c, NULL, 0) == NGX_CHAIN_ERROR) {
            return NGX_ERROR;
        }
    }

    return ngx_handle_write_event(c->write, 0);
}


static ngx_chain_t *
ngx_queues_redis_link_chain(ngx_queues_redis_link_t *l)
{
    ngx_uint_t                   n;
    ngx_queue_t                 *q;
    ngx_queues_redis_command_t  *cmd;

    n = 0;

    for (q = ngx_queue_head(&l->unsent);
         q != ngx_queue_sentinel(&l->unsent) && n < NGX_QUEUES_REDIS_CHAIN;
         q = ngx_queue_next(q))
    {
        cmd = ngx_queue_data(q, ngx_queues_redis_command_t, queue);

        l->bufs[n].pos = cmd->pos;
        l->bufs[n].last = cmd->last;
        l->chain[n].next = &l->chain[n + 1];

        n++;
    }

    l->chain[n - 1].next = NULL;

    return l->chain;
}


/* takes over how far the bufs, in the order of the commands, have come */

static void
ngx_queues_redis_link_written(ngx_queues_redis_link_t *l)
{
    ngx_uint_t                   n;
    ngx_queue_t                 *q;
    ngx_queues_redis_command_t  *cmd;

    for (n = 0; n < NGX_QUEUES_REDIS_CHAIN; n++) {

        q = ngx_queue_head(&l->unsent);
        cmd = ngx_queue_data(q, ngx_queues_redis_command_t, queue);

        cmd->pos = l->bufs[n].pos;

        if (cmd->pos != cmd->last) {
            break;
        }

        ngx_queue_remove(q);

        if (cmd->silent) {
            ngx_queues_redis_command_free(cmd);

        } else {
            ngx_queue_insert_tail(&l->sent, q);
        }

        if (l->chain[n].next == NULL) {
            break;
        }
    }
}


void
ngx_queues_redis_link_read_handler(ngx_event_t *rev)
{
    size_t                    total;
    ssize_t                   n;
    ngx_connection_t         *c;
    ngx_queues_redis_link_t  *l;

    c = rev->data;
    l = c->data;

    if (c->close) {
        ngx_queues_redis_link_drop(l, "worker is shutting down");
        return;
    }

    for (total = 0; total < NGX_QUEUES_REDIS_TURN_SIZE; total += n) {

        n = c->recv(c, l->buffer, NGX_QUEUES_REDIS_READ_SIZE);

        if (n == NGX_AGAIN) {
            goto wait;
        }

        if (n == NGX_ERROR) {
            ngx_queues_redis_link_lost(l, 0, "cannot read");
            return;
        }

        if (n == 0) {
            ngx_queues_redis_link_lost(l, 0, "Redis closed it");
            return;
        }

        if (ngx_queues_redis_link_feed(l, n) != NGX_OK) {
            ngx_log_error(NGX_LOG_ERR, &l->log, 0,
                          "unexpected bytes from Redis: %s",
                          ngx_queues_redis_reader_error(l->reader));
            ngx_queues_redis_link_lost(l, 0, "protocol error");
            return;
        }

        if (!rev->ready) {
            goto wait;
        }
    }

    ngx_post_event(rev, &ngx_posted_next_events);

wait:

    if (ngx_handle_read_event(rev, 0) != NGX_OK) {
        ngx_queues_redis_link_lost(l, 0, "cannot wait for Redis");
    }
}


static ngx_int_t
ngx_queues_redis_link_feed(ngx_queues_redis_link_t *l, size_t len)
{
    u_char                    *p, *last;
    size_t                     size;
    ngx_int_t                  rc;
    ngx_queues_redis_reply_t  *reply;

    l->received = ngx_current_msec;
    l->pinged = 0;

    last = l->buffer + len;

    for (p = l->buffer; p < last; p += size) {

        size = ngx_min((size_t) (last - p), NGX_QUEUES_REDIS_FEED_SIZE);

        if (ngx_queues_redis_reader_feed(l->reader, p, size) != NGX_OK) {
            return NGX_ERROR;
        }

        for ( ;; ) {
            rc = ngx_queues_redis_reader_next(l->reader, &reply);

            if (rc == NGX_ERROR) {
                return NGX_ERROR;
            }

            if (rc == NGX_AGAIN) {
                break;
            }

            ngx_queues_redis_link_reply(l, reply);
        }
    }

    return NGX_OK;
}


static void
ngx_queues_redis_link_reply(ngx_queues_redis_link_t *l,
    ngx_queues_redis_reply_t *reply)
{
    if (l->state == NGX_QUEUES_REDIS_LINK_READY) {
        l->role->reply(l, reply);

        if (l->drop && ngx_queue_empty(&l->sent)) {
            ngx_queues_redis_link_drop(l, l->drop);
        }

        return;
    }

    ngx_queues_redis_handshake_reply(l, reply);
}
