
/*
 * Due work: messages whose visibility ended for the last time go to their
 * dead-letter queue, expired ones are removed.  A function does it; here is
 * when it is called, for which project, and by which worker.
 */

#include "ngx_queues_store_maintain.h"


/* all in ms */
#define NGX_QUEUES_STORE_SOON          1000       /* after a use */
#define NGX_QUEUES_STORE_SOON_JITTER   200
#define NGX_QUEUES_STORE_ADOPT_JITTER  1000       /* after the lease's end */
#define NGX_QUEUES_STORE_SPREAD        200        /* what is late */
#define NGX_QUEUES_STORE_RESPAWN       2000       /* starts after that are of
                                                     workers that replace */


typedef struct {
    void          *unused[3];

    /* event ident must be after 3 pointers as in ngx_connection_t */
    ngx_socket_t   ident;

    ngx_event_t    timer;        /* the first moment of a project */
    ngx_uint_t     active;       /* unsigned  active:1; */
} ngx_queues_store_maintain_t;


static void ngx_queues_store_maintain_arm(void);
static void ngx_queues_store_maintain_timer_handler(ngx_event_t *ev);


static ngx_queues_store_maintain_t  ngx_queues_store_maintain;

/* when the master has read the configuration */
static ngx_msec_t                   ngx_queues_store_maintain_loaded;


void
ngx_queues_store_maintain_load(void)
{
    ngx_queues_store_maintain_loaded = ngx_current_msec;
}


ngx_int_t
ngx_queues_store_maintain_init(ngx_cycle_t *cycle)
{
    ngx_uint_t                    late;
    ngx_queues_store_maintain_t  *m;

    m = &ngx_queues_store_maintain;

    ngx_memzero(m, sizeof(ngx_queues_store_maintain_t));

    if (ngx_queues_store_work_init(cycle) != NGX_OK
        || ngx_queues_store_projects_init() != NGX_OK)
    {
        return NGX_ERROR;
    }

    m->ident = (ngx_socket_t) -1;

    m->timer.handler = ngx_queues_store_maintain_timer_handler;
    m->timer.data = m;
    m->timer.log = cycle->log;
    m->timer.cancelable = 1;

    m->active = 1;

    ngx_queues_store_note_init(cycle);
    ngx_queues_store_known_init(cycle);
    ngx_queues_store_tell_init();

    /*
     * What was used through nodes and workers that are no more is found in
     * the registry: one worker of each node asks it all the time, and one
     * that takes the place of a dead one asks it once.
     */

    late = ngx_current_msec - ngx_queues_store_maintain_loaded
           > NGX_QUEUES_STORE_RESPAWN;

    if (ngx_worker == 0 || late) {
        ngx_queues_store_registry_init(ngx_worker == 0);
    }

    return NGX_OK;
}


void
ngx_queues_store_maintain_exit(ngx_cycle_t *cycle)
{
    ngx_queues_store_maintain_t  *m;

    m = &ngx_queues_store_maintain;

    if (!m->active) {
        return;
    }

    m->active = 0;

    ngx_queues_store_registry_exit();
    ngx_queues_store_note_exit();
    ngx_queues_store_known_exit();
    ngx_queues_store_tell_exit();
    ngx_queues_store_work_exit();

    if (m->timer.timer_set) {
        ngx_del_timer(&m->timer);
    }

    ngx_queues_store_projects_exit();
}


void
ngx_queues_store_maintain_note(ngx_str_t *root)
{
    ngx_queues_store_project_t  *p;

    if (!ngx_queues_store_maintain.active) {
        return;
    }

    p = ngx_queues_store_project_get(root);

    if (p == NULL) {

        /* as many as a worker can know have something due: others do it */

        return;
    }

    ngx_queues_store_known_note(p);

    if (ngx_exiting) {

        /* others will have to look after it, and often for the first time */

        ngx_queues_store_note_now(p, NGX_QUEUES_STORE_SOON);
        return;
    }

    ngx_queues_store_maintain_use(p);
}


void
ngx_queues_store_maintain_use(ngx_queues_store_project_t *p)
{
    ngx_msec_int_t  left;

    p->adopted = 0;

    switch (p->state) {

    case NGX_QUEUES_STORE_PROJECT_READY:
        left = 0;
        break;

    case NGX_QUEUES_STORE_PROJECT_CALLING:
        p->touched = 1;
        left = NGX_QUEUES_STORE_SOON;
        break;

    case NGX_QUEUES_STORE_PROJECT_TIMED:
        left = (ngx_msec_int_t) (p->node.key - ngx_current_msec);

        if (p->failures
            || left <= NGX_QUEUES_STORE_SOON + NGX_QUEUES_STORE_SOON_JITTER)
        {
            left = ngx_max(left, 0);
            break;
        }

        /* fall through */

    default: /* IDLE */
        left = NGX_QUEUES_STORE_SOON
               + ngx_random() % NGX_QUEUES_STORE_SOON_JITTER;

        ngx_queues_store_maintain_at(p, left);
        break;
    }

    if (!p->used) {

        /*
         * Once between two calls, for the case that this worker dies before
         * the next one.  What was noted before is no good: others who looked
         * may have seen that there was nothing.
         */

        p->used = 1;

        ngx_queues_store_note_now(p, left);
    }
}


void
ngx_queues_store_maintain_adopt(ngx_str_t *root, int64_t left)
{
    ngx_queues_store_project_t  *p;

    left += NGX_QUEUES_STORE_GRACE
            + ngx_random() % NGX_QUEUES_STORE_ADOPT_JITTER;

    if (left < 0) {
        left = ngx_random() % NGX_QUEUES_STORE_SPREAD;
    }

    p = ngx_queues_store_project_get(root);

    if (p == NULL) {
        return;
    }

    /* it may have been used by nodes of before only */

    ngx_queues_store_known_note(p);

    switch (p->state) {

    case NGX_QUEUES_STORE_PROJECT_IDLE:
        p->adopted = 1;
        break;

    case NGX_QUEUES_STORE_PROJECT_TIMED:

        /* others may have made something due earlier, and be no more */

        if (p->failures
            || (ngx_msec_int_t) (p->node.key - ngx_current_msec) <= left)
        {
            return;
        }

        break;

    default: /* READY, CALLING */
        return;
    }

    ngx_queues_store_maintain_at(p, (ngx_msec_t) left);
}


ngx_msec_t
ngx_queues_store_maintain_pause(ngx_uint_t failures, ngx_msec_t max)
{
    ngx_msec_t  ms;

    ms = 1000 << ngx_min(failures - 1, 10);
    ms = ngx_min(ms, max);

    return ms - ms / 4 + ngx_random() % (ms / 2);
}


void
ngx_queues_store_maintain_at(ngx_queues_store_project_t *p, ngx_msec_t ms)
{
    ngx_queues_store_project_timed(p, ms);
    ngx_queues_store_maintain_arm();
}


void
ngx_queues_store_maintain_ready(ngx_queues_store_project_t *p)
{
    ngx_queues_store_project_ready(p);

    /* off the way of the request, and never within a reply */

    ngx_queues_store_work_run();
}


static void
ngx_queues_store_maintain_arm(void)
{
    ngx_msec_t    next;
    ngx_event_t  *ev;

    ev = &ngx_queues_store_maintain.timer;

    next = ngx_queues_store_projects_next();

    if (next == NGX_TIMER_INFINITE) {
        return;
    }

    if (ev->timer_set) {

        if ((ngx_msec_int_t) (ev->timer.key - (ngx_current_msec + next)) <= 0)
        {
            return;
        }

        /* ngx_add_timer() takes some hundred ms for no difference */

        ngx_del_timer(ev);
    }

    ngx_add_timer(ev, next);
}


static void
ngx_queues_store_maintain_timer_handler(ngx_event_t *ev)
{
    ngx_queues_store_projects_expire();
    ngx_queues_store_maintain_arm();

    ngx_queues_store_work_run();
}
