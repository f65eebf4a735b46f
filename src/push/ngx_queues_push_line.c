
/*
 * Jobs that are to claim stand in a line, and have a slot for the delivery
 * that may come of it.  A job takes no more than what it leaves free, so that
 * no endpoint has all slots while its answers do not come; and those of whom
 * that is known share a half of them.  Some are left to those who have none.
 */

#include "ngx_queues_push_engine.h"


#define NGX_QUEUES_PUSH_CLAIMS   64      /* at once, of a worker */
#define NGX_QUEUES_PUSH_RESERVE  8       /* this part of the slots */
#define NGX_QUEUES_PUSH_CONNECTING  2    /* at once, before an answer */
#define NGX_QUEUES_PUSH_HANGS    5000    /* ms: an attempt that takes longer */


typedef struct {
    ngx_queue_t   jobs[NGX_QUEUES_PUSH_NLINES];
    ngx_uint_t    n[NGX_QUEUES_PUSH_NLINES];
    ngx_event_t   run;                   /* posted */
    unsigned      serving:1;
} ngx_queues_push_lines_t;


static void ngx_queues_push_line_handler(ngx_event_t *ev);
static void ngx_queues_push_line_serve(ngx_queues_push_line_e place);
static ngx_uint_t ngx_queues_push_slots(void);
static ngx_uint_t ngx_queues_push_connections(void);
static ngx_uint_t ngx_queues_push_job_may(ngx_queues_push_job_t *job);
static ngx_uint_t ngx_queues_push_job_hangs(ngx_queues_push_job_t *job);


static ngx_queues_push_lines_t  ngx_queues_push_lines;


void
ngx_queues_push_line_init(void)
{
    ngx_uint_t                i;
    ngx_queues_push_lines_t  *l;

    l = &ngx_queues_push_lines;

    ngx_memzero(l, sizeof(ngx_queues_push_lines_t));

    for (i = 0; i < NGX_QUEUES_PUSH_NLINES; i++) {
        ngx_queue_init(&l->jobs[i]);
    }

    ngx_queues_push_event(&l->run, ngx_queues_push_line_handler);
}


void
ngx_queues_push_line_exit(void)
{
    ngx_event_t  *ev;

    ev = &ngx_queues_push_lines.run;

    if (ev->posted) {
        ngx_delete_posted_event(ev);
    }
}


void
ngx_queues_push_line_run(void)
{
    ngx_uint_t                i;
    ngx_queues_push_lines_t  *l;

    l = &ngx_queues_push_lines;

    if (l->serving) {

        /* nginx runs posted events until there are none */

        return;
    }

    for (i = 0; i < NGX_QUEUES_PUSH_NLINES; i++) {
        if (l->n[i]) {
            ngx_post_event(&l->run, &ngx_posted_events);
            return;
        }
    }
}


static void
ngx_queues_push_line_handler(ngx_event_t *ev)
{
    ngx_uint_t  i;

    if (ngx_queues_push_engine.draining) {
        return;
    }

    if (!ngx_queues_store_ready()) {

        /* the link comes back by itself, and nobody asks Redis meanwhile */

        ngx_queues_push_pause();
        return;
    }

    ngx_queues_push_lines.serving = 1;

    for (i = 0; i < NGX_QUEUES_PUSH_NLINES; i++) {
        ngx_queues_push_line_serve(i);
    }

    ngx_queues_push_lines.serving = 0;

    if (ngx_queues_push_connections() == 0) {

        /* nobody says when there is one again */

        ngx_queues_push_pause();
    }
}


/*
 * Once over the line.  Whoever may not claim now goes behind the others: there
 * are no more of these than slots are in use.
 */

static void
ngx_queues_push_line_serve(ngx_queues_push_line_e place)
{
    ngx_uint_t                n;
    ngx_queue_t              *q;
    ngx_queues_push_job_t    *job;
    ngx_queues_push_lines_t  *l;

    l = &ngx_queues_push_lines;

    for (n = l->n[place]; n; n--) {

        if (ngx_queues_push_claims() >= NGX_QUEUES_PUSH_CLAIMS
            || (place != NGX_QUEUES_PUSH_PROBES
                && ngx_queues_push_slots() == 0))
        {
            return;
        }

        q = ngx_queue_head(&l->jobs[place]);
        job = ngx_queue_data(q, ngx_queues_push_job_t, line);

        ngx_queues_push_job_leave(job);

        if (place == NGX_QUEUES_PUSH_BRISK && ngx_queues_push_job_hangs(job)) {
            ngx_queues_push_job_slow(job, 1);
        }

        if (job->probe || ngx_queues_push_job_may(job)) {
            ngx_queues_push_job_start(job);

        } else {
            ngx_queues_push_job_line(job);
        }
    }
}


static ngx_uint_t
ngx_queues_push_slots(void)
{
    ngx_uint_t                 used;
    ngx_queues_push_engine_t  *engine;

    engine = &ngx_queues_push_engine;

    used = engine->open + engine->claims + engine->unsettled;

    if (used >= engine->conf->max) {
        return 0;
    }

    return ngx_min(engine->conf->max - used, ngx_queues_push_connections());
}


/*
 * Those that nginx has for attempts yet to come.  Without one, nothing is
 * claimed: that is no fault of an endpoint.
 */

static ngx_uint_t
ngx_queues_push_connections(void)
{
    ngx_uint_t  n, claims;

    n = ngx_cycle->free_connection_n + ngx_cycle->reusable_connections_n;
    claims = ngx_queues_push_engine.claims;

    return n > claims ? n - claims : 0;
}


static ngx_uint_t
ngx_queues_push_job_may(ngx_queues_push_job_t *job)
{
    ngx_uint_t  slots, half, open;

    slots = ngx_queues_push_slots();

    open = job->open + job->nhandled + job->claims;

    if (slots == 0 || open >= ngx_max(job->window, 1)) {
        return 0;
    }

    half = ngx_max(ngx_queues_push_engine.conf->max / 2, 1);

    if (job->slow && ngx_queues_push_engine.slow >= half) {
        return 0;
    }

    if (open == 0) {
        return 1;
    }

    /*
     * A handshake costs more than all else of a delivery, so who has not
     * answered is not given many of them at once.
     */

    if (!job->answers
        && job->connecting + job->claims >= NGX_QUEUES_PUSH_CONNECTING)
    {
        return 0;
    }

    slots -= ngx_min(slots, ngx_queues_push_engine.conf->max
                            / NGX_QUEUES_PUSH_RESERVE);

    return open < slots;
}


static ngx_uint_t
ngx_queues_push_job_hangs(ngx_queues_push_job_t *job)
{
    ngx_queue_t                 *q;
    ngx_queues_push_delivery_t  *d;

    if (job->slow || job->open == 0) {
        return 0;
    }

    q = ngx_queue_head(&job->deliveries);
    d = ngx_queue_data(q, ngx_queues_push_delivery_t, queue);

    return ngx_current_msec - d->since > NGX_QUEUES_PUSH_HANGS;
}


void
ngx_queues_push_job_slow(ngx_queues_push_job_t *job, ngx_uint_t slow)
{
    if (job->slow == slow) {
        return;
    }

    job->slow = slow;

    if (slow) {
        ngx_queues_push_engine.slow += job->open;

    } else {
        ngx_queues_push_engine.slow -= job->open;
    }

    if (job->waiting) {
        ngx_queues_push_job_line(job);
    }
}


void
ngx_queues_push_slot_take(ngx_queues_push_job_t *job)
{
    ngx_queues_push_engine.open++;
    ngx_queues_stat_gauge(NGX_QUEUES_STAT_DELIVERIES, 1);

    job->open++;

    if (job->slow) {
        ngx_queues_push_engine.slow++;
    }
}


void
ngx_queues_push_slot_leave(ngx_queues_push_job_t *job)
{
    job->open--;

    if (job->slow) {
        ngx_queues_push_engine.slow--;
    }
}


void
ngx_queues_push_slot_free(void)
{
    ngx_queues_push_engine.open--;
    ngx_queues_stat_gauge(NGX_QUEUES_STAT_DELIVERIES, -1);

    ngx_queues_push_line_run();
}


void
ngx_queues_push_job_wake(ngx_queues_push_job_t *job)
{
    if (job->claims) {

        /* it may have been answered before the reason of this */

        job->again = 1;
        return;
    }

    if (job->timer.timer_set && !job->paused) {
        ngx_del_timer(&job->timer);
    }

    job->wanted = 1;

    ngx_queues_push_job_line(job);
}


void
ngx_queues_push_job_probe(ngx_queues_push_job_t *job)
{
    job->probe = 1;

    ngx_queues_push_job_line(job);
}


void
ngx_queues_push_job_line(ngx_queues_push_job_t *job)
{
    ngx_queues_push_line_e    place;
    ngx_queues_push_lines_t  *l;

    if (!ngx_queues_push_job_ready(job)) {
        ngx_queues_push_job_leave(job);
        return;
    }

    if (job->probe) {
        place = NGX_QUEUES_PUSH_PROBES;

    } else {
        place = job->slow ? NGX_QUEUES_PUSH_SLOW : NGX_QUEUES_PUSH_BRISK;
    }

    if (job->waiting) {

        if (job->place == place) {
            return;
        }

        ngx_queues_push_job_leave(job);
    }

    l = &ngx_queues_push_lines;

    job->waiting = 1;
    job->place = place;

    ngx_queue_insert_tail(&l->jobs[place], &job->line);
    l->n[place]++;

    ngx_queues_push_line_run();
}


void
ngx_queues_push_job_leave(ngx_queues_push_job_t *job)
{
    if (job->waiting) {
        ngx_queue_remove(&job->line);
        ngx_queues_push_lines.n[job->place]--;
        job->waiting = 0;
    }
}


void
ngx_queues_push_job_pause(ngx_queues_push_job_t *job)
{
    if (job->paused) {

        /* by another one of the claims that failed together */

        return;
    }

    job->failures++;
    job->paused = 1;

    ngx_queues_push_timer(&job->timer,
                          ngx_queues_push_backoff(job->failures));

    ngx_queues_push_job_leave(job);
}


ngx_uint_t
ngx_queues_push_line_first(ngx_queues_push_job_t *job)
{
    ngx_queues_push_lines_t  *l;

    l = &ngx_queues_push_lines;

    ngx_queues_push_job_line(job);

    if (!job->waiting || job->probe
        || l->n[NGX_QUEUES_PUSH_BRISK] + l->n[NGX_QUEUES_PUSH_SLOW] > 1
        || !ngx_queues_push_job_may(job))
    {
        return 0;
    }

    ngx_queues_push_job_leave(job);

    return 1;
}
