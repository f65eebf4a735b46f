
#include "ngx_queues_push_engine.h"
#include "../base/ngx_queues_base_siphash.h"


#define NGX_QUEUES_PUSH_PAGE         500     /* projects of a reply */

/* all in ms */
#define NGX_QUEUES_PUSH_JOIN         2000    /* a third of a lease */
#define NGX_QUEUES_PUSH_JOIN_GAP     50      /* between two, after hints */
#define NGX_QUEUES_PUSH_JOIN_LATE    10      /* after the end of a lease */


typedef struct {
    ngx_event_t    timer;        /* of the next join */
    ngx_msec_t     called;       /* the last one */
    uint64_t       since;
    ngx_uint_t     failures;     /* in a row */

    uint64_t      *hashes;       /* of the names of all */
    ngx_uint_t     n;
    uint64_t       own;

    unsigned       calling:1;
    unsigned       again:1;      /* a hint came meanwhile */
    unsigned       joined:1;     /* it is one of them */
    unsigned       ready:1;      /* all projects are known */
} ngx_queues_push_members_t;


static void ngx_queues_push_member_handler(ngx_event_t *ev);
static void ngx_queues_push_member_call(void);
static void ngx_queues_push_member_at(ngx_msec_t ms);
static void ngx_queues_push_member_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_push_member_next(ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_push_member_set(ngx_queues_store_result_t *result);
static int ngx_libc_cdecl ngx_queues_push_member_order(const void *one,
    const void *two);
static uint64_t ngx_queues_push_member_hash(ngx_str_t *text);
static uint64_t ngx_queues_push_member_mix(uint64_t project, uint64_t member);


static ngx_queues_push_members_t  ngx_queues_push_members;


ngx_int_t
ngx_queues_push_member_init(void)
{
    ngx_queues_push_members_t  *m;

    m = &ngx_queues_push_members;

    ngx_memzero(m, sizeof(ngx_queues_push_members_t));

    m->own = ngx_queues_push_member_hash(&ngx_queues_push_engine.worker);

    ngx_queues_push_event(&m->timer, ngx_queues_push_member_handler);

    ngx_add_timer(&m->timer, 1);

    return NGX_OK;
}


void
ngx_queues_push_member_exit(void)
{
    ngx_queues_push_members_t  *m;

    m = &ngx_queues_push_members;

    if (m->timer.timer_set) {
        ngx_del_timer(&m->timer);
    }

    if (m->hashes) {
        ngx_free(m->hashes);
    }

    ngx_memzero(m, sizeof(ngx_queues_push_members_t));
}


ngx_uint_t
ngx_queues_push_member_ready(void)
{
    return ngx_queues_push_members.ready;
}


void
ngx_queues_push_member_wake(void)
{
    ngx_msec_t                  gone;
    ngx_queues_push_members_t  *m;

    m = &ngx_queues_push_members;

    if (m->calling) {
        m->again = 1;
        return;
    }

    gone = ngx_current_msec - m->called;

    ngx_queues_push_member_at(gone < NGX_QUEUES_PUSH_JOIN_GAP
                              ? NGX_QUEUES_PUSH_JOIN_GAP - gone : 1);
}


/* the earlier one of this moment and that which is set */

static void
ngx_queues_push_member_at(ngx_msec_t ms)
{
    ngx_event_t  *ev;

    ev = &ngx_queues_push_members.timer;

    if (ev->timer_set
        && (ngx_msec_int_t) (ev->timer.key - (ngx_current_msec + ms)) <= 0)
    {
        return;
    }

    ngx_queues_push_timer(ev, ms);
}


static void
ngx_queues_push_member_handler(ngx_event_t *ev)
{
    if (!ngx_queues_push_engine.draining) {
        ngx_queues_push_member_call();
    }
}


static void
ngx_queues_push_member_call(void)
{
    ngx_queues_push_members_t  *m;

    static ngx_str_t  root = ngx_string(NGX_QUEUES_STORE_PUSH_ROOT);

    m = &ngx_queues_push_members;

    if (m->calling) {
        m->again = 1;
        return;
    }

    /* until hints come, the timer is what there is */

    (void) ngx_queues_store_watch(&root);

    m->called = ngx_current_msec;

    if (ngx_queues_store_push_join(&ngx_queues_push_engine.worker, m->since,
                                   NGX_QUEUES_PUSH_PAGE,
                                   ngx_queues_push_member_done, m)
        != NGX_OK)
    {
        ngx_queues_push_member_at(NGX_QUEUES_PUSH_BACKOFF);
        return;
    }

    m->calling = 1;
    m->again = 0;
}


static void
ngx_queues_push_member_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_uint_t                  i, more;
    ngx_queues_push_members_t  *m;

    m = &ngx_queues_push_members;

    m->calling = 0;

    if (ngx_queues_push_engine.draining) {
        return;
    }

    if (result->code != NGX_QUEUES_STORE_OK) {

        if (m->failures++ == 0 && ngx_queues_store_ready()) {
            ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                          "push has no part in deliveries: %s",
                          result->reason);
        }

        ngx_queues_push_member_at(ngx_queues_push_backoff(
                                               ngx_min(m->failures, 4)));
        return;
    }

    m->failures = 0;
    more = result->more;

    if (ngx_queues_push_member_set(result) != NGX_OK) {
        ngx_queues_push_member_at(NGX_QUEUES_PUSH_BACKOFF);
        return;
    }

    if (result->since < m->since) {
        ngx_queues_push_projects_lost();
    }

    for (i = 0; i < result->npushes; i++) {
        if (ngx_queues_push_project_told(&result->pushes[i].root,
                                         result->pushes[i].active)
            != NGX_OK)
        {
            ngx_queues_push_member_at(NGX_QUEUES_PUSH_BACKOFF);
            return;
        }
    }

    m->since = result->since;

    if (more) {
        ngx_queues_push_member_at(1);
        return;
    }

    m->ready = 1;

    ngx_queues_push_member_next(result);
}


/* when the lease of one that has died ends, it is noticed at once */

static void
ngx_queues_push_member_next(ngx_queues_store_result_t *result)
{
    ngx_msec_t  ms;

    if (ngx_queues_push_members.again) {
        ngx_queues_push_member_at(NGX_QUEUES_PUSH_JOIN_GAP);
        return;
    }

    ms = NGX_QUEUES_PUSH_JOIN;

    if (result->next >= 0
        && result->next < (int64_t) ms - NGX_QUEUES_PUSH_JOIN_LATE)
    {
        ms = (ngx_msec_t) result->next + NGX_QUEUES_PUSH_JOIN_LATE;
    }

    ngx_queues_push_member_at(ms);
}


static ngx_int_t
ngx_queues_push_member_set(ngx_queues_store_result_t *result)
{
    uint64_t                   *hashes;
    ngx_uint_t                  i, joined;
    ngx_queues_push_members_t  *m;

    m = &ngx_queues_push_members;

    hashes = ngx_alloc((result->nworkers + 1) * sizeof(uint64_t),
                       ngx_cycle->log);
    if (hashes == NULL) {
        return NGX_ERROR;
    }

    joined = 0;

    for (i = 0; i < result->nworkers; i++) {
        hashes[i] = ngx_queues_push_member_hash(&result->workers[i]);

        if (hashes[i] == m->own) {
            joined = 1;
        }
    }

    ngx_qsort(hashes, result->nworkers, sizeof(uint64_t),
              ngx_queues_push_member_order);

    if (m->hashes && m->n == result->nworkers && m->joined == joined
        && ngx_memcmp(m->hashes, hashes, m->n * sizeof(uint64_t)) == 0)
    {
        ngx_free(hashes);
        return NGX_OK;
    }

    if (m->hashes) {
        ngx_free(m->hashes);
    }

    m->hashes = hashes;
    m->n = result->nworkers;
    m->joined = joined;

    ngx_queues_push_projects_share();

    return NGX_OK;
}


static int ngx_libc_cdecl
ngx_queues_push_member_order(const void *one, const void *two)
{
    uint64_t  a, b;

    a = *(const uint64_t *) one;
    b = *(const uint64_t *) two;

    return (a > b) - (a < b);
}


/*
 * All workers rank all members of a project in the same way, another one for
 * each project: so what is left of the division is spread over them, and
 * nobody has to say who has what.
 */

ngx_uint_t
ngx_queues_push_member_share(ngx_str_t *root, int64_t active)
{
    uint64_t                    project, own, other;
    ngx_uint_t                  i, rank, rest;
    ngx_queues_push_members_t  *m;

    m = &ngx_queues_push_members;

    if (!m->joined || active <= 0) {
        return 0;
    }

    rest = active % m->n;

    if (rest == 0) {
        return active / m->n;
    }

    project = ngx_queues_push_member_hash(root);
    own = ngx_queues_push_member_mix(project, m->own);
    rank = 0;

    for (i = 0; i < m->n; i++) {
        other = ngx_queues_push_member_mix(project, m->hashes[i]);

        if (other < own) {
            rank++;
        }
    }

    return active / m->n + (rank < rest);
}


/* with a key that all have: those who choose names gain nothing by it */

static uint64_t
ngx_queues_push_member_hash(ngx_str_t *text)
{
    static const u_char  key[NGX_QUEUES_BASE_SIPHASH_KEY] = "ngx_queues push";

    return ngx_queues_base_siphash(key, text->data, text->len);
}


/* each step can be undone, so two members never meet */

static uint64_t
ngx_queues_push_member_mix(uint64_t project, uint64_t member)
{
    uint64_t  n;

    n = project ^ member;

    n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9ULL;
    n = (n ^ (n >> 27)) * 0x94d049bb133111ebULL;

    return n ^ (n >> 31);
}


void
ngx_queues_push_member_leave(void)
{
    /* where it fails, the lease ends by itself */

    (void) ngx_queues_store_push_leave(&ngx_queues_push_engine.worker,
                                       ngx_queues_push_ignore, NULL);
}
