
/*
 * Bringing what this worker owns in a project to what it wants to, and keeping
 * it.
 */

#include "ngx_queues_push_engine.h"


#define NGX_QUEUES_PUSH_SYNCS         8       /* at once, of a worker */
#define NGX_QUEUES_PUSH_TRIES         20      /* until it waits longer */

/* all in ms */
#define NGX_QUEUES_PUSH_RENEW         2000    /* a third of a lease */
#define NGX_QUEUES_PUSH_RENEW_JITTER  200
#define NGX_QUEUES_PUSH_RETRY         500


typedef struct {
    ngx_queue_t   line;
    ngx_uint_t    nready;        /* in the line */
    ngx_uint_t    ncalls;
    ngx_event_t   run;           /* posted */
    unsigned      left:1;        /* the worker has */
} ngx_queues_push_syncs_t;


static void ngx_queues_push_sync_timer_handler(ngx_event_t *ev);
static void ngx_queues_push_sync_run_handler(ngx_event_t *ev);
static void ngx_queues_push_sync_call(ngx_queues_push_project_t *p);
static void ngx_queues_push_sync_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_push_sync_failed(ngx_queues_push_project_t *p,
    const char *reason);
static void ngx_queues_push_sync_owned(ngx_queues_push_project_t *p,
    ngx_queues_store_result_t *result);
static void ngx_queues_push_sync_count(ngx_queues_push_project_t *p,
    ngx_queues_store_result_t *result);
static void ngx_queues_push_sync_next(ngx_queues_push_project_t *p,
    ngx_queues_store_result_t *result);
static void ngx_queues_push_sync_drained(void);


static ngx_queues_push_syncs_t  ngx_queues_push_syncs;


void
ngx_queues_push_sync_init(void)
{
    ngx_queues_push_syncs_t  *t;

    t = &ngx_queues_push_syncs;

    ngx_memzero(t, sizeof(ngx_queues_push_syncs_t));

    ngx_queue_init(&t->line);

    ngx_queues_push_event(&t->run, ngx_queues_push_sync_run_handler);
}


void
ngx_queues_push_sync_exit(void)
{
    ngx_event_t  *ev;

    ev = &ngx_queues_push_syncs.run;

    if (ev->posted) {
        ngx_delete_posted_event(ev);
    }
}


void
ngx_queues_push_sync_init_timer(ngx_event_t *ev, ngx_queues_push_project_t *p)
{
    ev->handler = ngx_queues_push_sync_timer_handler;
    ev->data = p;
    ev->log = ngx_cycle->log;
    ev->cancelable = 1;
}


void
ngx_queues_push_sync(ngx_queues_push_project_t *p)
{
    if (p->calling) {
        p->again = 1;
        return;
    }

    if (p->timer.timer_set) {
        ngx_del_timer(&p->timer);
    }

    if (!p->ready) {
        p->ready = 1;
        ngx_queue_insert_tail(&ngx_queues_push_syncs.line, &p->line);
        ngx_queues_push_syncs.nready++;
    }

    ngx_queues_push_sync_run();
}


static void
ngx_queues_push_sync_timer_handler(ngx_event_t *ev)
{
    ngx_queues_push_sync(ev->data);
}


void
ngx_queues_push_sync_run(void)
{
    /* a macro of several statements */

    ngx_post_event(&ngx_queues_push_syncs.run, &ngx_posted_events);
}


static void
ngx_queues_push_sync_run_handler(ngx_event_t *ev)
{
    ngx_queue_t                 *q;
    ngx_queues_push_project_t   *p;
    ngx_queues_push_syncs_t  *t;

    t = &ngx_queues_push_syncs;

    while (t->nready && t->ncalls < NGX_QUEUES_PUSH_SYNCS) {

        if (!ngx_queues_store_ready()) {
            ngx_queues_push_pause();
            return;
        }

        q = ngx_queue_head(&t->line);
        ngx_queue_remove(q);
        t->nready--;

        p = ngx_queue_data(q, ngx_queues_push_project_t, line);
        p->ready = 0;

        ngx_queues_push_sync_call(p);
    }

    ngx_queues_push_sync_drained();
}


static void
ngx_queues_push_sync_call(ngx_queues_push_project_t *p)
{
    ngx_uint_t  want;

    want = p->want;

    if (p->reset || ngx_queues_push_engine.draining) {
        want = 0;
    }

    if (want || p->njobs) {

        /* before it takes something: no hint is to be missed */

        (void) ngx_queues_store_watch(&p->root);
    }

    p->asked = want;

    if (ngx_queues_store_push_sync(&p->root, &ngx_queues_push_engine.worker,
                                   want, ngx_queues_push_sync_done, p)
        != NGX_OK)
    {
        ngx_queues_push_sync_failed(p, "no memory");
        return;
    }

    p->calling = 1;
    p->again = 0;

    ngx_queues_push_syncs.ncalls++;
}


static void
ngx_queues_push_sync_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_push_project_t *p = data;

    p->calling = 0;
    ngx_queues_push_syncs.ncalls--;

    /* the next one may start, and the last one is noticed */

    ngx_queues_push_sync_run();

    if (result->code != NGX_QUEUES_STORE_OK) {
        ngx_queues_push_sync_failed(p, result->reason);
        return;
    }

    p->failures = 0;

    ngx_queues_push_project_hold(p);

    if (ngx_queues_push_engine.draining) {

        if (result->owned) {
            ngx_queues_push_sync(p);
        }

    } else {
        ngx_queues_push_sync_owned(p, result);
        ngx_queues_push_sync_count(p, result);
        ngx_queues_push_sync_next(p, result);
    }

    ngx_queues_push_project_release(p);
}


static void
ngx_queues_push_sync_failed(ngx_queues_push_project_t *p,
    const char *reason)
{
    if (ngx_queues_push_engine.draining) {

        /* the lease ends by itself */

        return;
    }

    p->failures++;

    if (ngx_queues_store_ready()) {

        if (p->failures == 1) {
            ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                          "push of \"%V\" is not renewed: %s", &p->root,
                          reason ? reason : "unexpected");
        }

        ngx_queues_push_timer(&p->timer, ngx_queues_push_backoff(p->failures));
        return;
    }

    ngx_queues_push_sync(p);
}


/* makes the jobs those that it owns, as far as the reply tells */

static void
ngx_queues_push_sync_owned(ngx_queues_push_project_t *p,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t              i;
    ngx_queues_push_job_t  *job;

    if (!result->renewed) {

        /*
         * The lease had ended: others may have had them since, and do not
         * count what is open here.
         */

        ngx_queues_push_jobs_drop(p, 1);
    }

    for (i = 0; i < result->nreleased; i++) {
        job = ngx_queues_push_job_find(p, &result->released[i]);

        if (job) {
            ngx_queues_push_job_drop(job, 0);
        }
    }

    for (i = 0; i < result->njobs; i++) {
        if (ngx_queues_push_job_take(p, &result->jobs[i]) != NGX_OK) {
            p->reset = 1;
            return;
        }
    }
}


/*
 * A reply that was lost may have been of subscriptions that we have now and do
 * not know.  One that was paused is no more among those we own, and its claim
 * will show it, unless that was lost.
 */

static void
ngx_queues_push_sync_count(ngx_queues_push_project_t *p,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t              owned;
    ngx_queue_t            *q;
    ngx_queues_push_job_t  *job;

    owned = (ngx_uint_t) result->owned;

    if (p->reset) {
        p->reset = (owned != 0);
        p->again = 1;

        if (!p->reset) {
            ngx_queues_push_jobs_drop(p, 0);
        }

        return;
    }

    if (owned > p->njobs) {
        ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                      "push of \"%V\" starts anew, it has %ui subscriptions "
                      "instead of %ui", &p->root, owned, p->njobs);

        p->reset = 1;
        p->again = 1;
        return;
    }

    if (owned == p->njobs) {
        p->missing = 0;
        return;
    }

    if (!p->missing) {
        p->missing = 1;
        return;
    }

    p->missing = 0;

    for (q = ngx_queue_head(&p->jobs);
         q != ngx_queue_sentinel(&p->jobs);
         q = ngx_queue_next(q))
    {
        job = ngx_queue_data(q, ngx_queues_push_job_t, queue);

        ngx_queues_push_job_probe(job);
    }
}


static void
ngx_queues_push_sync_next(ngx_queues_push_project_t *p,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t  owned;
    ngx_msec_t  ms;

    owned = (ngx_uint_t) result->owned;

    p->active = result->active;
    p->want = ngx_queues_push_member_share(&p->root, p->active);

    if (p->active != p->noted) {
        ngx_queues_push_note(&p->root, p->active);
    }

    if (p->again
        || (owned > p->want && (result->nreleased || p->want != p->asked))
        || (owned < p->want && result->njobs && result->free))
    {
        ngx_queues_push_sync(p);
        return;
    }

    ms = NGX_QUEUES_PUSH_RENEW - NGX_QUEUES_PUSH_RENEW_JITTER
         + ngx_random() % NGX_QUEUES_PUSH_RENEW_JITTER;

    if (owned != p->want) {

        /* others have more than they want still, or are dead */

        if (p->tries < NGX_QUEUES_PUSH_TRIES) {
            p->tries++;

            ms = NGX_QUEUES_PUSH_RETRY;

            if (result->next >= 0 && result->next < (int64_t) ms) {
                ms = (ngx_msec_t) result->next + 1;
            }
        }

    } else {
        p->tries = 0;

        if (owned == 0) {
            return;
        }
    }

    ngx_queues_push_timer(&p->timer, ms);
}


static void
ngx_queues_push_sync_drained(void)
{
    ngx_queues_push_syncs_t  *t;

    t = &ngx_queues_push_syncs;

    if (ngx_queues_push_engine.draining && !t->left
        && t->nready == 0 && t->ncalls == 0)
    {
        t->left = 1;
        ngx_queues_push_member_leave();
    }
}


/* at once: the worker would not stay for what is posted */

void
ngx_queues_push_sync_drain(void)
{
    ngx_queues_push_sync_run_handler(&ngx_queues_push_syncs.run);
}
