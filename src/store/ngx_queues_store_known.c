
/*
 * Which projects there are: a sorted set in Redis, where each worker notes those
 * that it has used.  Metrics go through it.  Many are told in one call, and one
 * call at a time is under way.
 */

#include "ngx_queues_store_maintain.h"
#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_KNOWN_NOTES   200        /* in one call */

/* all in ms */
#define NGX_QUEUES_STORE_KNOWN_LINK    500        /* look for the link again */
#define NGX_QUEUES_STORE_KNOWN_PAUSE   30000      /* longest, of failures */
#define NGX_QUEUES_STORE_KNOWN_AGAIN   300000     /* 3 times of it are to end
                                                     before one is forgotten:
                                                     known_forget */


typedef struct {
    void          *unused[3];

    /* event ident must be after 3 pointers as in ngx_connection_t */
    ngx_socket_t   ident;

    ngx_event_t    timer;        /* of a pause */
    ngx_event_t    send;         /* posted */

    ngx_queue_t    list;
    ngx_queue_t    sent;         /* in the call under way */

    ngx_uint_t     failures;     /* in a row */
    ngx_uint_t     calling;      /* unsigned  calling:1; */
} ngx_queues_store_knowing_t;


static void ngx_queues_store_known_next(void);
static void ngx_queues_store_known_handler(ngx_event_t *ev);
static void ngx_queues_store_known_done(void *data,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);
static void ngx_queues_store_known_failed(const char *reason);


static ngx_queues_store_knowing_t  ngx_queues_store_knowing;


void
ngx_queues_store_known_init(ngx_cycle_t *cycle)
{
    ngx_queues_store_knowing_t  *k;

    k = &ngx_queues_store_knowing;

    ngx_memzero(k, sizeof(ngx_queues_store_knowing_t));

    k->ident = (ngx_socket_t) -1;

    k->timer.handler = ngx_queues_store_known_handler;
    k->timer.data = k;
    k->timer.log = cycle->log;
    k->timer.cancelable = 1;

    k->send.handler = ngx_queues_store_known_handler;
    k->send.data = k;
    k->send.log = cycle->log;

    ngx_queue_init(&k->list);
    ngx_queue_init(&k->sent);
}


void
ngx_queues_store_known_exit(void)
{
    ngx_queues_store_knowing_t  *k;

    k = &ngx_queues_store_knowing;

    if (k->timer.timer_set) {
        ngx_del_timer(&k->timer);
    }

    if (k->send.posted) {
        ngx_delete_posted_event(&k->send);
    }
}


void
ngx_queues_store_known_note(ngx_queues_store_project_t *p)
{
    ngx_queues_store_knowing_t  *k;

    k = &ngx_queues_store_knowing;

    if (p->knowing
        || (p->was_told
            && ngx_current_msec - p->told < NGX_QUEUES_STORE_KNOWN_AGAIN))
    {
        return;
    }

    p->knowing = 1;
    ngx_queue_insert_tail(&k->list, &p->known);

    ngx_queues_store_known_next();
}


/* at the end of this turn, with the others that come in it */

static void
ngx_queues_store_known_next(void)
{
    ngx_queues_store_knowing_t  *k;

    k = &ngx_queues_store_knowing;

    if (!ngx_queue_empty(&k->list) && !k->calling && !k->timer.timer_set) {
        ngx_post_event(&k->send, &ngx_posted_events);
    }
}


static void
ngx_queues_store_known_handler(ngx_event_t *ev)
{
    ngx_uint_t                   n;
    ngx_str_t                    args[NGX_QUEUES_STORE_KNOWN_NOTES];
    ngx_queue_t                 *q;
    ngx_queues_store_project_t  *p;
    ngx_queues_store_knowing_t  *k;

    static ngx_str_t  known = ngx_string(NGX_QUEUES_STORE_KNOWN);

    k = &ngx_queues_store_knowing;

    if (!ngx_queues_store_ready()) {
        ngx_queues_store_known_failed(NULL);
        return;
    }

    for (n = 0; n < NGX_QUEUES_STORE_KNOWN_NOTES; n++) {

        if (ngx_queue_empty(&k->list)) {
            break;
        }

        q = ngx_queue_head(&k->list);
        ngx_queue_remove(q);
        ngx_queue_insert_tail(&k->sent, q);

        p = ngx_queue_data(q, ngx_queues_store_project_t, known);

        args[n] = p->root;
        p->told = ngx_current_msec;
    }

    if (n == 0) {

        /* those that were to be told are forgotten */

        return;
    }

    if (ngx_queues_redis_call("known_note", &known, args, n,
                              ngx_queues_store_known_done, k)
        != NGX_OK)
    {
        ngx_queues_store_known_failed("no memory");
        return;
    }

    k->calling = 1;
}


static void
ngx_queues_store_known_done(void *data, ngx_queues_redis_result_e rc,
    ngx_queues_redis_reply_t *reply)
{
    ngx_queue_t                 *q;
    ngx_queues_store_project_t  *p;
    ngx_queues_store_knowing_t  *k;

    if (rc == NGX_QUEUES_REDIS_TIMEOUT) {

        /* it will be called once more, and no other call is made till then */

        return;
    }

    k = &ngx_queues_store_knowing;

    k->calling = 0;

    if (reply) {
        ngx_queues_redis_reply_free(reply);
    }

    if (rc != NGX_QUEUES_REDIS_OK) {
        ngx_queues_store_known_failed(ngx_queues_redis_result_text(rc));
        return;
    }

    k->failures = 0;

    while (!ngx_queue_empty(&k->sent)) {
        q = ngx_queue_head(&k->sent);
        ngx_queue_remove(q);

        p = ngx_queue_data(q, ngx_queues_store_project_t, known);

        p->knowing = 0;
        p->was_told = 1;
    }

    ngx_queues_store_known_next();
}


/* what was not told is told again, before the others */

static void
ngx_queues_store_known_failed(const char *reason)
{
    ngx_msec_t                   ms;
    ngx_queue_t                 *q;
    ngx_queues_store_knowing_t  *k;

    k = &ngx_queues_store_knowing;

    while (!ngx_queue_empty(&k->sent)) {
        q = ngx_queue_last(&k->sent);
        ngx_queue_remove(q);
        ngx_queue_insert_head(&k->list, q);
    }

    if (ngx_queues_store_ready()) {
        k->failures++;

        ms = ngx_queues_store_maintain_pause(k->failures,
                                             NGX_QUEUES_STORE_KNOWN_PAUSE);

        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "projects are not made known to metrics: %s", reason);

    } else {

        /* the link comes back by itself, and nobody asks Redis meanwhile */

        ms = NGX_QUEUES_STORE_KNOWN_LINK
             + ngx_random() % NGX_QUEUES_STORE_KNOWN_LINK;
    }

    ngx_add_timer(&k->timer, ms);
}
