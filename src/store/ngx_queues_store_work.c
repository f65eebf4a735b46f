
/*
 * The calls for due work: a few at once, the others in turn.  What fails is
 * tried again, later and later.
 */

#include "ngx_queues_store_maintain.h"
#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_STEPS         "10"       /* queues in one call */
#define NGX_QUEUES_STORE_CALLS         8          /* at once, of a worker */

/* all in ms */
#define NGX_QUEUES_STORE_FAR           86400000   /* a timer's longest */
#define NGX_QUEUES_STORE_BEHIND        1000       /* after those who are */
#define NGX_QUEUES_STORE_BEHIND_JITTER 2000       /* first: at least, more */
#define NGX_QUEUES_STORE_LINK          500        /* look for the link again */
#define NGX_QUEUES_STORE_PAUSE         30000      /* longest, of the worker */
#define NGX_QUEUES_STORE_REFUSED       300000     /* longest, of a project */


typedef struct {
    void          *unused[3];

    /* event ident must be after 3 pointers as in ngx_connection_t */
    ngx_socket_t   ident;

    ngx_event_t    pause;        /* while it runs nothing is called */
    ngx_event_t    run;          /* posted */

    ngx_uint_t     ncalls;
    ngx_uint_t     failures;     /* in a row, of whatever project */
    time_t         logged;

    ngx_str_t      holder;
    u_char         name[NGX_MAXHOSTNAMELEN + NGX_INT64_LEN + 2 + 16];
} ngx_queues_store_work_t;


static ngx_int_t ngx_queues_store_work_holder(ngx_cycle_t *cycle);
static void ngx_queues_store_work_pause_handler(ngx_event_t *ev);
static void ngx_queues_store_work_run_handler(ngx_event_t *ev);
static ngx_int_t ngx_queues_store_work_start(ngx_queues_store_project_t *p);
static void ngx_queues_store_work_done(void *data,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);
static void ngx_queues_store_work_settle(ngx_queues_store_project_t *p,
    ngx_queues_redis_reply_t *reply);
static void ngx_queues_store_work_behind(ngx_queues_store_project_t *p,
    ngx_msec_t next);
static void ngx_queues_store_work_refused(ngx_queues_store_project_t *p,
    const char *reason);
static void ngx_queues_store_work_failed(const char *reason);
static ngx_uint_t ngx_queues_store_work_own(ngx_queues_redis_result_e rc);


static ngx_queues_store_work_t  ngx_queues_store_work;


ngx_int_t
ngx_queues_store_work_init(ngx_cycle_t *cycle)
{
    ngx_queues_store_work_t  *work;

    work = &ngx_queues_store_work;

    ngx_memzero(work, sizeof(ngx_queues_store_work_t));

    work->ident = (ngx_socket_t) -1;

    work->pause.handler = ngx_queues_store_work_pause_handler;
    work->pause.data = work;
    work->pause.log = cycle->log;
    work->pause.cancelable = 1;

    work->run.handler = ngx_queues_store_work_run_handler;
    work->run.data = work;
    work->run.log = cycle->log;

    return ngx_queues_store_work_holder(cycle);
}


void
ngx_queues_store_work_exit(void)
{
    ngx_queues_store_work_t  *work;

    work = &ngx_queues_store_work;

    if (work->pause.timer_set) {
        ngx_del_timer(&work->pause);
    }

    if (work->run.posted) {
        ngx_delete_posted_event(&work->run);
    }
}


/* a text that no other worker has, also after a reboot or in a container */

static ngx_int_t
ngx_queues_store_work_holder(ngx_cycle_t *cycle)
{
    u_char                   *p, bytes[8];
    ngx_queues_store_work_t  *work;

    work = &ngx_queues_store_work;

    if (ngx_queues_store_random(bytes, sizeof(bytes)) != NGX_OK) {
        return NGX_ERROR;
    }

    p = ngx_snprintf(work->name, sizeof(work->name) - 2 * sizeof(bytes),
                     "%V:%P:", &cycle->hostname, ngx_pid);
    p = ngx_hex_dump(p, bytes, sizeof(bytes));

    work->holder.data = work->name;
    work->holder.len = p - work->name;

    return NGX_OK;
}


void
ngx_queues_store_work_run(void)
{
    ngx_post_event(&ngx_queues_store_work.run, &ngx_posted_events);
}


static void
ngx_queues_store_work_pause_handler(ngx_event_t *ev)
{
    ngx_queues_store_work_run();
}


static void
ngx_queues_store_work_run_handler(ngx_event_t *ev)
{
    ngx_queues_store_work_t     *work;
    ngx_queues_store_project_t  *p;

    work = &ngx_queues_store_work;

    if (ngx_exiting
        || work->pause.timer_set
        || ngx_queues_store_projects_ready() == 0)
    {
        return;
    }

    if (!ngx_queues_store_ready()) {

        /* the link comes back by itself, and nobody asks Redis meanwhile */

        ngx_add_timer(&work->pause, NGX_QUEUES_STORE_LINK
                                    + ngx_random() % NGX_QUEUES_STORE_LINK);
        return;
    }

    while (work->ncalls < NGX_QUEUES_STORE_CALLS) {

        p = ngx_queues_store_project_take();
        if (p == NULL) {
            return;
        }

        if (ngx_queues_store_work_start(p) != NGX_OK) {
            ngx_queues_store_project_ready(p);
            ngx_queues_store_work_failed("no memory");
            return;
        }

        work->ncalls++;
    }
}


static ngx_int_t
ngx_queues_store_work_start(ngx_queues_store_project_t *p)
{
    ngx_str_t  args[2];

    args[0] = ngx_queues_store_work.holder;
    ngx_str_set(&args[1], NGX_QUEUES_STORE_STEPS);

    return ngx_queues_redis_call("maintain", &p->root, args, 2,
                                 ngx_queues_store_work_done, p);
}


static void
ngx_queues_store_work_done(void *data, ngx_queues_redis_result_e rc,
    ngx_queues_redis_reply_t *reply)
{
    ngx_queues_store_project_t *p = data;

    if (rc == NGX_QUEUES_REDIS_TIMEOUT) {

        /* its own end is still to come; until then it keeps its room */

        ngx_queues_store_work_failed(ngx_queues_redis_result_text(rc));
        return;
    }

    ngx_queues_store_work.ncalls--;

    if (rc == NGX_QUEUES_REDIS_OK) {
        ngx_queues_store_work.failures = 0;
        ngx_queues_store_work_settle(p, reply);

    } else if (ngx_queues_store_work_own(rc)) {
        ngx_queues_store_work_refused(p, ngx_queues_redis_result_text(rc));

    } else {
        ngx_queues_store_maintain_ready(p);
        ngx_queues_store_work_failed(ngx_queues_redis_result_text(rc));
    }

    if (reply) {
        ngx_queues_redis_reply_free(reply);
    }

    ngx_queues_store_work_run();
}


/* mine next active */

static void
ngx_queues_store_work_settle(ngx_queues_store_project_t *p,
    ngx_queues_redis_reply_t *reply)
{
    int64_t  mine, next, active;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts != 3
        || ngx_queues_store_integer(&reply->elts[0], &mine) != NGX_OK
        || ngx_queues_store_integer(&reply->elts[1], &next) != NGX_OK
        || ngx_queues_store_integer(&reply->elts[2], &active) != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, 0,
                      "unexpected reply of a Redis function");

        ngx_queues_store_work_refused(p, "unexpected reply");
        return;
    }

    p->failures = 0;

    ngx_queues_store_push_saw(&p->root, active);

    next = ngx_min(next, NGX_QUEUES_STORE_FAR);

    if (!mine) {
        ngx_queues_store_work_behind(p, (ngx_msec_t) ngx_max(next, 0));

    } else if (next < 0) {
        ngx_queues_store_project_idle(p);
        ngx_queues_store_note_nothing(p);

    } else if (next == 0) {

        /* after the others that wait: a long work is not in their way */

        ngx_queues_store_maintain_ready(p);
        return;

    } else {
        ngx_queues_store_maintain_at(p, (ngx_msec_t) next);
        ngx_queues_store_note_soon(p, (ngx_msec_t) next);
    }

    if (p->touched) {

        /* noted anew: what is to be noted was of the moment just replaced */

        p->used = 0;

        ngx_queues_store_maintain_use(p);
    }
}


/* another worker has the lease, for so many ms */

static void
ngx_queues_store_work_behind(ngx_queues_store_project_t *p, ngx_msec_t next)
{
    ngx_msec_t  ms;

    /*
     * Where this worker has noted an earlier moment, that has come, and its
     * holder may have been before it.
     */

    ms = next > NGX_QUEUES_STORE_GRACE ? next - NGX_QUEUES_STORE_GRACE : next;

    ngx_queues_store_note_soon(p, ms);

    if (!p->adopted) {

        /* should the one who is first not come; and not all at once */

        ngx_queues_store_maintain_at(p, next + NGX_QUEUES_STORE_BEHIND
                                     + ngx_random()
                                       % NGX_QUEUES_STORE_BEHIND_JITTER);

    } else if (ms == next) {

        /* the holder's moment has come, and it has not */

        ngx_queues_store_maintain_at(p, next + ngx_random()
                                               % NGX_QUEUES_STORE_BEHIND);

    } else {

        /* the registry will tell when it has to be looked after again */

        ngx_queues_store_project_idle(p);
    }
}


/* the project's own failure: others are not to wait for it */

static void
ngx_queues_store_work_refused(ngx_queues_store_project_t *p,
    const char *reason)
{
    ngx_msec_t  ms;

    p->failures++;

    ms = ngx_queues_store_maintain_pause(p->failures,
                                         NGX_QUEUES_STORE_REFUSED);

    ngx_queues_store_maintain_at(p, ms);
    ngx_queues_store_note_soon(p, ms);

    if (ngx_queues_store_work.logged != ngx_time()) {
        ngx_queues_store_work.logged = ngx_time();

        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "due work of \"%V\" is not done: %s", &p->root, reason);
    }
}


/* nobody's own: Redis is not as it should be */

static void
ngx_queues_store_work_failed(const char *reason)
{
    ngx_queues_store_work_t  *work;

    work = &ngx_queues_store_work;

    if (!ngx_queues_store_ready() || work->pause.timer_set) {

        /* a link that is down is waited for without a call */

        return;
    }

    work->failures++;

    ngx_add_timer(&work->pause,
                  ngx_queues_store_maintain_pause(work->failures,
                                                  NGX_QUEUES_STORE_PAUSE));

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0, "due work waits: %s",
                  reason);
}


/* whether another project may well fare better */

static ngx_uint_t
ngx_queues_store_work_own(ngx_queues_redis_result_e rc)
{
    switch (rc) {

    case NGX_QUEUES_REDIS_APP:
    case NGX_QUEUES_REDIS_OOM:
    case NGX_QUEUES_REDIS_NOPERM:
    case NGX_QUEUES_REDIS_MOVED:
    case NGX_QUEUES_REDIS_SCRIPT:
    case NGX_QUEUES_REDIS_OTHER:
        return 1;

    default:
        return 0;
    }
}
