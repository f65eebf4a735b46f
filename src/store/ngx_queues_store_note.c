
/*
 * What the registry of projects is told: when each is to be looked after.
 * Many are told in one call, and one call at a time is under way.
 */

#include "ngx_queues_store_maintain.h"
#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_NOTES         200        /* in one call */

/* all in ms */
#define NGX_QUEUES_STORE_NOTE_DELAY    200        /* of what is not urgent */
#define NGX_QUEUES_STORE_NOTE_GAP      20         /* between calls */
#define NGX_QUEUES_STORE_NOTE_LINK     500        /* look for the link again */
#define NGX_QUEUES_STORE_NOTE_PAUSE    30000      /* longest, of failures */


typedef struct {
    void          *unused[3];

    /* event ident must be after 3 pointers as in ngx_connection_t */
    ngx_socket_t   ident;

    ngx_event_t    timer;        /* what is not urgent; a pause */
    ngx_event_t    send;         /* posted */

    ngx_queue_t    urgent;
    ngx_queue_t    later;
    ngx_queue_t    sent;         /* in the call under way */

    ngx_msec_t     called;       /* the last time */
    ngx_uint_t     failures;     /* in a row */

    unsigned       calling:1;
    unsigned       paused:1;
} ngx_queues_store_note_t;


static void ngx_queues_store_note_put(ngx_queues_store_project_t *p,
    ngx_queue_t *list);
static void ngx_queues_store_note_next(void);
static void ngx_queues_store_note_timer(ngx_msec_t ms, ngx_uint_t cancelable);
static void ngx_queues_store_note_timer_handler(ngx_event_t *ev);
static void ngx_queues_store_note_send_handler(ngx_event_t *ev);
static ngx_uint_t ngx_queues_store_note_pairs(ngx_str_t *args);
static void ngx_queues_store_note_done(void *data,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);
static void ngx_queues_store_note_again(void);
static void ngx_queues_store_note_failed(const char *reason);


static ngx_queues_store_note_t  ngx_queues_store_note;


void
ngx_queues_store_note_init(ngx_cycle_t *cycle)
{
    ngx_queues_store_note_t  *note;

    note = &ngx_queues_store_note;

    ngx_memzero(note, sizeof(ngx_queues_store_note_t));

    note->ident = (ngx_socket_t) -1;

    note->timer.handler = ngx_queues_store_note_timer_handler;
    note->timer.data = note;
    note->timer.log = cycle->log;
    note->timer.cancelable = 1;

    note->send.handler = ngx_queues_store_note_send_handler;
    note->send.data = note;
    note->send.log = cycle->log;

    ngx_queue_init(&note->urgent);
    ngx_queue_init(&note->later);
    ngx_queue_init(&note->sent);
}


void
ngx_queues_store_note_exit(void)
{
    ngx_queues_store_note_t  *note;

    note = &ngx_queues_store_note;

    if (note->timer.timer_set) {
        ngx_del_timer(&note->timer);
    }

    if (note->send.posted) {
        ngx_delete_posted_event(&note->send);
    }
}


void
ngx_queues_store_note_now(ngx_queues_store_project_t *p, ngx_msec_t ms)
{
    p->moment = ngx_current_msec + ms;
    p->nothing = 0;

    ngx_queues_store_note_put(p, &ngx_queues_store_note.urgent);
}


void
ngx_queues_store_note_soon(ngx_queues_store_project_t *p, ngx_msec_t ms)
{
    p->moment = ngx_current_msec + ms;
    p->nothing = 0;

    ngx_queues_store_note_put(p, &ngx_queues_store_note.later);
}


void
ngx_queues_store_note_nothing(ngx_queues_store_project_t *p)
{
    p->nothing = 1;

    ngx_queues_store_note_put(p, &ngx_queues_store_note.later);
}


static void
ngx_queues_store_note_put(ngx_queues_store_project_t *p, ngx_queue_t *list)
{
    if (p->noting) {
        ngx_queue_remove(&p->notes);
    }

    p->noting = 1;
    ngx_queue_insert_tail(list, &p->notes);

    ngx_queues_store_note_next();
}


/* sends what is urgent at the end of this turn, and the rest by and by */

static void
ngx_queues_store_note_next(void)
{
    ngx_msec_t                gone;
    ngx_queues_store_note_t  *note;

    note = &ngx_queues_store_note;

    if (note->calling || note->paused) {
        return;
    }

    if (!ngx_queue_empty(&note->urgent)) {
        gone = ngx_current_msec - note->called;

        if (gone >= NGX_QUEUES_STORE_NOTE_GAP) {
            ngx_post_event(&note->send, &ngx_posted_events);

        } else if (!note->timer.timer_set || note->timer.cancelable) {

            /* a worker that leaves stays that long */

            ngx_queues_store_note_timer(NGX_QUEUES_STORE_NOTE_GAP - gone, 0);
        }

    } else if (!ngx_queue_empty(&note->later) && !note->timer.timer_set) {
        ngx_queues_store_note_timer(NGX_QUEUES_STORE_NOTE_DELAY, 1);
    }
}


static void
ngx_queues_store_note_timer(ngx_msec_t ms, ngx_uint_t cancelable)
{
    ngx_event_t  *ev;

    ev = &ngx_queues_store_note.timer;

    /* ngx_add_timer() takes some hundred ms for no difference */

    if (ev->timer_set) {
        ngx_del_timer(ev);
    }

    ev->cancelable = cancelable;

    ngx_add_timer(ev, ms);
}


static void
ngx_queues_store_note_timer_handler(ngx_event_t *ev)
{
    ngx_queues_store_note.paused = 0;

    ngx_queues_store_note_send_handler(ev);
}


static void
ngx_queues_store_note_send_handler(ngx_event_t *ev)
{
    ngx_uint_t                n;
    ngx_str_t                 args[2 * NGX_QUEUES_STORE_NOTES];
    ngx_queues_store_note_t  *note;

    static ngx_str_t  registry = ngx_string(NGX_QUEUES_STORE_REGISTRY);

    note = &ngx_queues_store_note;

    if (note->calling || note->paused) {
        return;
    }

    if (!ngx_queues_store_ready()) {
        ngx_queues_store_note_failed(NULL);
        return;
    }

    n = ngx_queues_store_note_pairs(args);

    if (n == 0) {
        return;
    }

    if (ngx_queues_redis_call("project_note", &registry, args, 2 * n,
                              ngx_queues_store_note_done, note)
        != NGX_OK)
    {
        ngx_queues_store_note_again();
        ngx_queues_store_note_failed("no memory");
        return;
    }

    note->calling = 1;
    note->called = ngx_current_msec;
}


/* moves the first ones to those that are sent: what is urgent, then the rest */

static ngx_uint_t
ngx_queues_store_note_pairs(ngx_str_t *args)
{
    ngx_uint_t                   n;
    ngx_queue_t                 *q, *list;
    ngx_msec_int_t               ms;
    ngx_queues_store_note_t     *note;
    ngx_queues_store_project_t  *p;

    static u_char  text[NGX_QUEUES_STORE_NOTES][NGX_QUEUES_BASE_DECIMAL_MAX];

    note = &ngx_queues_store_note;

    for (n = 0; n < NGX_QUEUES_STORE_NOTES; n++) {

        list = ngx_queue_empty(&note->urgent) ? &note->later : &note->urgent;

        if (ngx_queue_empty(list)) {
            break;
        }

        q = ngx_queue_head(list);
        ngx_queue_remove(q);
        ngx_queue_insert_tail(&note->sent, q);

        p = ngx_queue_data(q, ngx_queues_store_project_t, notes);

        args[2 * n] = p->root;

        if (p->nothing) {
            ngx_str_set(&args[2 * n + 1], "-1");
            continue;
        }

        ms = (ngx_msec_int_t) (p->moment - ngx_current_msec);

        (void) ngx_queues_store_number_arg(&args[2 * n + 1], text[n],
                                           ngx_max(ms, 0));
    }

    return n;
}


static void
ngx_queues_store_note_done(void *data, ngx_queues_redis_result_e rc,
    ngx_queues_redis_reply_t *reply)
{
    ngx_queue_t                 *q;
    ngx_queues_store_note_t     *note;
    ngx_queues_store_project_t  *p;

    if (rc == NGX_QUEUES_REDIS_TIMEOUT) {

        /* it will be called once more, and no other call is made till then */

        return;
    }

    note = &ngx_queues_store_note;

    note->calling = 0;

    if (reply) {
        ngx_queues_redis_reply_free(reply);
    }

    if (rc != NGX_QUEUES_REDIS_OK) {
        ngx_queues_store_note_again();
        ngx_queues_store_note_failed(ngx_queues_redis_result_text(rc));
        return;
    }

    note->failures = 0;

    while (!ngx_queue_empty(&note->sent)) {
        q = ngx_queue_head(&note->sent);
        ngx_queue_remove(q);

        p = ngx_queue_data(q, ngx_queues_store_project_t, notes);
        p->noting = 0;
    }

    ngx_queues_store_note_next();
}


/* what was not replaced meanwhile is to be sent again, before the others */

static void
ngx_queues_store_note_again(void)
{
    ngx_queue_t              *q;
    ngx_queues_store_note_t  *note;

    note = &ngx_queues_store_note;

    while (!ngx_queue_empty(&note->sent)) {
        q = ngx_queue_last(&note->sent);
        ngx_queue_remove(q);
        ngx_queue_insert_head(&note->urgent, q);
    }
}


static void
ngx_queues_store_note_failed(const char *reason)
{
    ngx_msec_t                ms;
    ngx_queues_store_note_t  *note;

    note = &ngx_queues_store_note;

    if (ngx_queues_store_ready()) {
        note->failures++;

        ms = ngx_queues_store_maintain_pause(note->failures,
                                             NGX_QUEUES_STORE_NOTE_PAUSE);

        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "projects with due work are not noted: %s", reason);

    } else {

        /* the link comes back by itself, and nobody asks Redis meanwhile */

        ms = NGX_QUEUES_STORE_NOTE_LINK
             + ngx_random() % NGX_QUEUES_STORE_NOTE_LINK;
    }

    note->paused = 1;

    ngx_queues_store_note_timer(ms, 1);
}
