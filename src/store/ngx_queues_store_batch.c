
#include "ngx_queues_store_batch.h"
#include "ngx_queues_store_maintain.h"
#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_BATCH         200        /* in one call */

/* all in ms */
#define NGX_QUEUES_STORE_BATCH_DELAY   200        /* of what is not urgent */
#define NGX_QUEUES_STORE_BATCH_LINK    500        /* look for the link again */
#define NGX_QUEUES_STORE_BATCH_PAUSE   30000      /* longest, of failures */


static void ngx_queues_store_batch_timer(ngx_queues_store_batch_t *b,
    ngx_msec_t ms, ngx_uint_t cancelable);
static void ngx_queues_store_batch_timer_handler(ngx_event_t *ev);
static void ngx_queues_store_batch_send_handler(ngx_event_t *ev);
static ngx_uint_t ngx_queues_store_batch_args(ngx_queues_store_batch_t *b,
    ngx_str_t *args);
static void ngx_queues_store_batch_done(void *data,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);
static void ngx_queues_store_batch_failed(ngx_queues_store_batch_t *b,
    const char *reason);


void
ngx_queues_store_batch_init(ngx_queues_store_batch_t *b,
    ngx_queues_store_batch_kind_t *kind, ngx_cycle_t *cycle)
{
    ngx_memzero(b, sizeof(ngx_queues_store_batch_t));

    b->kind = kind;
    b->ident = (ngx_socket_t) -1;

    b->timer.handler = ngx_queues_store_batch_timer_handler;
    b->timer.data = b;
    b->timer.log = cycle->log;
    b->timer.cancelable = 1;

    b->send.handler = ngx_queues_store_batch_send_handler;
    b->send.data = b;
    b->send.log = cycle->log;

    ngx_queue_init(&b->urgent);
    ngx_queue_init(&b->later);
    ngx_queue_init(&b->sent);
}


void
ngx_queues_store_batch_exit(ngx_queues_store_batch_t *b)
{
    if (b->timer.timer_set) {
        ngx_del_timer(&b->timer);
    }

    if (b->send.posted) {
        ngx_delete_posted_event(&b->send);
    }
}


void
ngx_queues_store_batch_next(ngx_queues_store_batch_t *b)
{
    ngx_msec_t  gone;

    if (b->calling || b->paused) {
        return;
    }

    if (!ngx_queue_empty(&b->urgent)) {
        gone = ngx_current_msec - b->called;

        if (gone >= b->kind->gap) {
            ngx_post_event(&b->send, &ngx_posted_events);

        } else if (!b->timer.timer_set || b->timer.cancelable) {

            /* a worker that leaves stays that long */

            ngx_queues_store_batch_timer(b, b->kind->gap - gone, 0);
        }

    } else if (!ngx_queue_empty(&b->later) && !b->timer.timer_set) {
        ngx_queues_store_batch_timer(b, NGX_QUEUES_STORE_BATCH_DELAY, 1);
    }
}


static void
ngx_queues_store_batch_timer(ngx_queues_store_batch_t *b, ngx_msec_t ms,
    ngx_uint_t cancelable)
{
    ngx_event_t  *ev;

    ev = &b->timer;

    /* ngx_add_timer() takes some hundred ms for no difference */

    if (ev->timer_set) {
        ngx_del_timer(ev);
    }

    ev->cancelable = cancelable;

    ngx_add_timer(ev, ms);
}


static void
ngx_queues_store_batch_timer_handler(ngx_event_t *ev)
{
    ngx_queues_store_batch_t  *b;

    b = ev->data;
    b->paused = 0;

    ngx_queues_store_batch_send_handler(ev);
}


static void
ngx_queues_store_batch_send_handler(ngx_event_t *ev)
{
    ngx_str_t                  args[NGX_QUEUES_STORE_BATCH_ARGS
                                    * NGX_QUEUES_STORE_BATCH];
    ngx_uint_t                 n;
    ngx_queues_store_batch_t  *b;

    b = ev->data;

    if (b->calling || b->paused) {
        return;
    }

    if (!ngx_queues_store_ready()) {
        ngx_queues_store_batch_failed(b, NULL);
        return;
    }

    n = ngx_queues_store_batch_args(b, args);

    if (n == 0) {

        /* those that were to be told are forgotten */

        return;
    }

    if (ngx_queues_redis_call(b->kind->function, &b->kind->key, args, n,
                              ngx_queues_store_batch_done, b)
        != NGX_OK)
    {
        ngx_queues_store_batch_failed(b, "no memory");
        return;
    }

    b->calling = 1;
    b->called = ngx_current_msec;
}


/* moves the first ones to those that are sent: what is urgent, then the rest */

static ngx_uint_t
ngx_queues_store_batch_args(ngx_queues_store_batch_t *b, ngx_str_t *args)
{
    ngx_uint_t    n;
    ngx_queue_t  *q, *list;

    static u_char  text[NGX_QUEUES_STORE_BATCH][NGX_QUEUES_BASE_DECIMAL_MAX];

    for (n = 0; n < NGX_QUEUES_STORE_BATCH; n++) {

        list = ngx_queue_empty(&b->urgent) ? &b->later : &b->urgent;

        if (ngx_queue_empty(list)) {
            break;
        }

        q = ngx_queue_head(list);
        ngx_queue_remove(q);
        ngx_queue_insert_tail(&b->sent, q);

        b->kind->args(q, &args[n * b->kind->nargs], text[n]);
    }

    return n * b->kind->nargs;
}


static void
ngx_queues_store_batch_done(void *data, ngx_queues_redis_result_e rc,
    ngx_queues_redis_reply_t *reply)
{
    ngx_queues_store_batch_t *b = data;

    ngx_queue_t  *q;

    if (rc == NGX_QUEUES_REDIS_TIMEOUT) {

        /* it will be called once more, and no other call is made till then */

        return;
    }

    b->calling = 0;

    if (reply) {
        ngx_queues_redis_reply_free(reply);
    }

    if (rc != NGX_QUEUES_REDIS_OK) {
        ngx_queues_store_batch_failed(b, ngx_queues_redis_result_text(rc));
        return;
    }

    b->failures = 0;

    while (!ngx_queue_empty(&b->sent)) {
        q = ngx_queue_head(&b->sent);
        ngx_queue_remove(q);

        b->kind->told(q);
    }

    ngx_queues_store_batch_next(b);
}


/* what was not replaced meanwhile is to be sent again, before the others */

static void
ngx_queues_store_batch_failed(ngx_queues_store_batch_t *b, const char *reason)
{
    ngx_msec_t    ms;
    ngx_queue_t  *q;

    while (!ngx_queue_empty(&b->sent)) {
        q = ngx_queue_last(&b->sent);
        ngx_queue_remove(q);
        ngx_queue_insert_head(&b->urgent, q);
    }

    if (ngx_queues_store_ready()) {
        b->failures++;

        ms = ngx_queues_store_maintain_pause(b->failures,
                                             NGX_QUEUES_STORE_BATCH_PAUSE);

        b->kind->failed(reason);

    } else {

        /* the link comes back by itself, and nobody asks Redis meanwhile */

        ms = NGX_QUEUES_STORE_BATCH_LINK
             + ngx_random() % NGX_QUEUES_STORE_BATCH_LINK;
    }

    b->paused = 1;

    ngx_queues_store_batch_timer(b, ms, 1);
}
