
#include "ngx_queues_push_engine.h"
#include "../base/ngx_queues_base_siphash.h"
#include "../net/ngx_queues_net.h"


/* ms: until the link is looked at again, and as much again at random */
#define NGX_QUEUES_PUSH_LINK  200


static ngx_int_t ngx_queues_push_worker(void);
static void ngx_queues_push_watcher_handler(ngx_event_t *ev);
static void ngx_queues_push_drain_handler(ngx_event_t *ev);
static void ngx_queues_push_pause_handler(ngx_event_t *ev);
static void ngx_queues_push_wake_project(ngx_queues_push_project_t *p);
static void ngx_queues_push_seen(ngx_str_t *root, int64_t active);


ngx_queues_push_engine_t   ngx_queues_push_engine;

static u_char              ngx_queues_push_name[NGX_INT64_LEN + 1 + 16];

/* names of projects are clients' to choose */
static u_char              ngx_queues_push_secret[NGX_QUEUES_BASE_SIPHASH_KEY];

static ngx_event_t         ngx_queues_push_pause_event;
static ngx_event_t         ngx_queues_push_drain_event;

static ngx_connection_t   *ngx_queues_push_watcher;


ngx_int_t
ngx_queues_push_init(ngx_cycle_t *cycle, ngx_queues_conf_main_t *qmcf)
{
    ngx_queues_push_engine_t  *engine;

    engine = &ngx_queues_push_engine;

    ngx_memzero(engine, sizeof(ngx_queues_push_engine_t));

    if (!qmcf->push.on) {
        return NGX_OK;
    }

    engine->qmcf = qmcf;
    engine->conf = &qmcf->push;
    ngx_queue_init(&engine->deliveries);

    ngx_queues_push_event(&ngx_queues_push_pause_event,
                          ngx_queues_push_pause_handler);
    ngx_queues_push_event(&ngx_queues_push_drain_event,
                          ngx_queues_push_drain_handler);
    ngx_queues_push_drain_event.cancelable = 0;

    ngx_queues_push_line_init();
    ngx_queues_push_sync_init();

    if (ngx_queues_push_worker() != NGX_OK
        || ngx_queues_push_jobs_init() != NGX_OK
        || ngx_queues_push_projects_init(cycle) != NGX_OK
        || ngx_queues_push_attempts_init(cycle) != NGX_OK
        || ngx_queues_push_member_init() != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_queues_push_watcher = ngx_queues_net_watcher(cycle,
                                              ngx_queues_push_watcher_handler);
    if (ngx_queues_push_watcher == NULL) {
        return NGX_ERROR;
    }

    ngx_queues_store_push_seen(ngx_queues_push_seen);

    engine->active = 1;

    return NGX_OK;
}


/* a text that no other worker has, nor has had */

static ngx_int_t
ngx_queues_push_worker(void)
{
    u_char  *p, bytes[8];

    if (ngx_queues_store_random(bytes, sizeof(bytes)) != NGX_OK
        || ngx_queues_store_random(ngx_queues_push_secret,
                                   NGX_QUEUES_BASE_SIPHASH_KEY)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    p = ngx_sprintf(ngx_queues_push_name, "%P-", ngx_pid);
    p = ngx_hex_dump(p, bytes, sizeof(bytes));

    ngx_queues_push_engine.worker.data = ngx_queues_push_name;
    ngx_queues_push_engine.worker.len = p - ngx_queues_push_name;

    return NGX_OK;
}


void
ngx_queues_push_exit(ngx_cycle_t *cycle)
{
    ngx_uint_t                 n;
    ngx_queues_push_engine_t  *engine;

    engine = &ngx_queues_push_engine;

    if (!engine->active) {
        return;
    }

    engine->active = 0;

    ngx_queues_net_watcher_close(ngx_queues_push_watcher);

    if (ngx_queues_push_pause_event.timer_set) {
        ngx_del_timer(&ngx_queues_push_pause_event);
    }

    if (ngx_queues_push_drain_event.timer_set) {
        ngx_del_timer(&ngx_queues_push_drain_event);
    }

    ngx_queues_push_member_exit();
    ngx_queues_push_deliveries_exit();
    ngx_queues_push_jobs_exit();
    ngx_queues_push_projects_exit();
    ngx_queues_push_line_exit();
    ngx_queues_push_sync_exit();

    n = ngx_queues_push_attempts_exit(cycle);

    if (n || engine->open || engine->claims || engine->slow
        || engine->unsettled || engine->njobs)
    {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, 0,
                      "push has %ui attempts, %ui of %ui slots, %ui claims, "
                      "%ui settles and %ui subscriptions left",
                      n, engine->open, engine->slow, engine->claims,
                      engine->unsettled, engine->njobs);
    }
}


/*
 * Called once when the worker is to leave, and when nginx waits no longer.  The
 * former is outside of the handling of events: what is posted there, as what is
 * written to Redis is, would wait until something else happens.
 */

static void
ngx_queues_push_watcher_handler(ngx_event_t *ev)
{
    ngx_connection_t  *c;

    c = ev->data;

    ngx_log_debug1(NGX_LOG_DEBUG_CORE, ev->log, 0,
                   "queues push to drain, error:%d", c->error);

    if (c->error) {
        ngx_queues_push_deliveries_abort();
        return;
    }

    if (!ngx_queues_push_engine.draining) {
        ngx_queues_push_timer(&ngx_queues_push_drain_event, 0);
    }
}


static void
ngx_queues_push_drain_handler(ngx_event_t *ev)
{
    ngx_queues_push_engine.draining = 1;

    ngx_queues_push_attempts_drain();
    ngx_queues_push_projects_drain();
}


void
ngx_queues_push_event(ngx_event_t *ev, ngx_event_handler_pt handler)
{
    /* nginx prints the descriptor of what an event is of */

    static ngx_connection_t  dumb;

    dumb.fd = (ngx_socket_t) -1;

    ngx_memzero(ev, sizeof(ngx_event_t));

    ev->handler = handler;
    ev->data = &dumb;
    ev->log = ngx_cycle->log;
    ev->cancelable = 1;
}


ngx_msec_t
ngx_queues_push_backoff(ngx_uint_t failures)
{
    ngx_msec_t  ms;

    ms = NGX_QUEUES_PUSH_BACKOFF << ngx_min(failures - 1, 10);
    ms = ngx_min(ms, NGX_QUEUES_PUSH_BACKOFF_MAX);

    return ms - ms / 4 + ngx_random() % (ms / 2);
}


void
ngx_queues_push_timer(ngx_event_t *ev, ngx_msec_t ms)
{
    if (ev->timer_set) {
        ngx_del_timer(ev);
    }

    ngx_add_timer(ev, ms);
}


uint64_t
ngx_queues_push_hash(u_char *data, size_t len)
{
    return ngx_queues_base_siphash(ngx_queues_push_secret, data, len);
}


void
ngx_queues_push_pause(void)
{
    ngx_event_t  *ev;

    ev = &ngx_queues_push_pause_event;

    if (!ev->timer_set) {
        ngx_add_timer(ev, NGX_QUEUES_PUSH_LINK
                          + ngx_random() % NGX_QUEUES_PUSH_LINK);
    }
}


static void
ngx_queues_push_pause_handler(ngx_event_t *ev)
{
    if (!ngx_queues_store_ready()) {
        ngx_queues_push_pause();
        return;
    }

    ngx_queues_push_sync_run();
    ngx_queues_push_line_run();
}


void
ngx_queues_push_wake(ngx_str_t *root, ngx_str_t *id)
{
    ngx_str_t                   sub;
    ngx_queues_push_job_t      *job;
    ngx_queues_push_project_t  *p;

    if (!ngx_queues_push_engine.active || ngx_queues_push_engine.draining) {
        return;
    }

    if (root->len == sizeof(NGX_QUEUES_STORE_PUSH_ROOT) - 1
        && ngx_memcmp(root->data, NGX_QUEUES_STORE_PUSH_ROOT, root->len) == 0)
    {
        ngx_queues_push_member_wake();
        return;
    }

    p = ngx_queues_push_project_find(root);

    if (p == NULL || p->njobs == 0) {
        return;
    }

    if (id->len == 0) {
        ngx_queues_push_wake_project(p);
        return;
    }

    if (id->data[0] == 's' && id->len == 1 + NGX_QUEUES_PUSH_ID_LEN) {
        sub.data = id->data + 1;
        sub.len = id->len - 1;

        job = ngx_queues_push_job_find(p, &sub);

        if (job) {
            ngx_queues_push_job_probe(job);
        }

        return;
    }

    job = ngx_queues_push_job_of_queue(p, id);

    if (job) {
        ngx_queues_push_job_wake(job);
    }
}


/* hints were lost: anything may have happened */

static void
ngx_queues_push_wake_project(ngx_queues_push_project_t *p)
{
    ngx_queue_t            *q;
    ngx_queues_push_job_t  *job;

    for (q = ngx_queue_head(&p->jobs);
         q != ngx_queue_sentinel(&p->jobs);
         q = ngx_queue_next(q))
    {
        job = ngx_queue_data(q, ngx_queues_push_job_t, queue);

        ngx_queues_push_job_wake(job);
    }

    ngx_queues_push_sync(p);
}


/* what workers look at anyway shows whether the registry is right */

static void
ngx_queues_push_seen(ngx_str_t *root, int64_t active)
{
    int64_t                     known;
    ngx_queues_push_project_t  *p;

    if (!ngx_queues_push_member_ready() || ngx_queues_push_engine.draining) {
        return;
    }

    p = ngx_queues_push_project_find(root);
    known = p ? p->noted : 0;

    if (known != active) {
        ngx_queues_push_note(root, active);
    }
}


/* all workers are told by a hint; where it failed it is seen again */

void
ngx_queues_push_note(ngx_str_t *root, int64_t active)
{
    (void) ngx_queues_store_push_note(root, active, ngx_queues_push_ignore,
                                      NULL);
}


void
ngx_queues_push_ignore(void *data, ngx_queues_store_result_t *result)
{
    /* void */
}
