
#include "ngx_queues_stat_metrics.h"
#include "ngx_queues_stat_zone.h"

#include <time.h>
#include <unistd.h>


static ngx_uint_t ngx_queues_stat_alive(ngx_queues_stat_worker_t *slot);
static void ngx_queues_stat_turn_handler(ngx_event_t *ev);


/* of who has none in the zone */
static ngx_queues_stat_worker_t  ngx_queues_stat_nobody;

ngx_queues_stat_counters_t  *ngx_queues_stat_counters;
ngx_queues_stat_worker_t    *ngx_queues_stat_worker = &ngx_queues_stat_nobody;


const uint64_t  ngx_queues_stat_bounds[NGX_QUEUES_STAT_BOUNDS] = {
    100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000,
    500000, 1000000, 2500000, 5000000, 10000000, 25000000, 60000000
};


ngx_str_t  ngx_queues_stat_outcomes[NGX_QUEUES_STAT_NOUTCOMES] = {
    [NGX_QUEUES_STAT_OK] = ngx_string("ok"),
    [NGX_QUEUES_STAT_HTTP] = ngx_string("http"),
    [NGX_QUEUES_STAT_TIMEOUT] = ngx_string("timeout"),
    [NGX_QUEUES_STAT_CONNECTION] = ngx_string("connection"),
    [NGX_QUEUES_STAT_REFUSED] = ngx_string("refused"),
    [NGX_QUEUES_STAT_TLS] = ngx_string("tls"),
    [NGX_QUEUES_STAT_TOKEN] = ngx_string("token")
};


/* what the APIs answer, and nginx for them */

const ngx_uint_t  ngx_queues_stat_statuses[NGX_QUEUES_STAT_STATUSES] = {
    200, 201, 204, 400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 429, 499,
    500, 501, 503, 202, 0
};


/* the clock is read once while its event is posted, that is in one turn */
static ngx_event_t  ngx_queues_stat_turn;
static uint64_t     ngx_queues_stat_us;


void
ngx_queues_stat_begin(ngx_queues_conf_main_t *qmcf)
{
    ngx_uint_t                 i;
    ngx_queues_stat_zone_t    *z;
    ngx_queues_stat_worker_t  *slot;

    z = qmcf->zone;

    ngx_queues_stat_turn.handler = ngx_queues_stat_turn_handler;
    ngx_queues_stat_turn.log = ngx_cycle->log;

    ngx_queues_stat_counters = (ngx_queues_stat_counters_t *)
        (z->copies + (ngx_worker % z->ncopies) * z->copy_size);

    /* the pool's mutex is freed by nginx where its holder dies */

    ngx_shmtx_lock(&qmcf->zone_pool->mutex);

    for (i = 0; i < z->nworkers; i++) {
        slot = &z->workers[i];

        if (slot->pid == 0 || slot->pid == (ngx_atomic_uint_t) ngx_pid
            || !ngx_queues_stat_alive(slot))
        {
            ngx_memzero((void *) slot, sizeof(ngx_queues_stat_worker_t));

            slot->pid = ngx_pid;
            ngx_queues_stat_worker = slot;

            break;
        }
    }

    ngx_shmtx_unlock(&qmcf->zone_pool->mutex);
}


void
ngx_queues_stat_end(ngx_queues_conf_main_t *qmcf)
{
    ngx_queues_stat_worker->pid = 0;
    ngx_queues_stat_worker = &ngx_queues_stat_nobody;
}


/*
 * Its number may be that of another process by now, but not within this group,
 * which a master makes when it becomes a daemon.
 */

static ngx_uint_t
ngx_queues_stat_alive(ngx_queues_stat_worker_t *slot)
{
    ngx_pid_t  pid;

    pid = (ngx_pid_t) slot->pid;

    return pid && (pid == ngx_pid || getpgid(pid) == getpgrp());
}


uint64_t
ngx_queues_stat_now(void)
{
    struct timespec  ts;

    if (ngx_queues_stat_turn.posted) {
        return ngx_queues_stat_us;
    }

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    ngx_queues_stat_us = (uint64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;

    ngx_post_event(&ngx_queues_stat_turn, &ngx_posted_events);

    return ngx_queues_stat_us;
}


static void
ngx_queues_stat_turn_handler(ngx_event_t *ev)
{
    /* void: it is no longer posted */
}


void
ngx_queues_stat_observe(ngx_queues_stat_histogram_t *h, uint64_t us)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_QUEUES_STAT_BOUNDS; i++) {
        if (us <= ngx_queues_stat_bounds[i]) {
            break;
        }
    }

    (void) ngx_atomic_fetch_add(&h->buckets[i], 1);

    if (us) {
        (void) ngx_atomic_fetch_add(&h->sum, us);
    }
}


void
ngx_queues_stat_request(ngx_atomic_t *statuses, ngx_uint_t status)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_QUEUES_STAT_STATUSES - 1; i++) {
        if (ngx_queues_stat_statuses[i] == status) {
            break;
        }
    }

    (void) ngx_atomic_fetch_add(&statuses[i], 1);
}


time_t
ngx_queues_stat_since(ngx_queues_conf_main_t *qmcf)
{
    ngx_queues_stat_zone_t  *z;

    z = qmcf->zone;

    return z->since;
}


ngx_queues_stat_counters_t *
ngx_queues_stat_sum(ngx_queues_conf_main_t *qmcf, ngx_pool_t *pool)
{
    ngx_uint_t               i, k, n;
    ngx_atomic_t            *sum, *copy;
    ngx_queues_stat_zone_t  *z;

    z = qmcf->zone;
    n = z->copy_size / sizeof(ngx_atomic_t);

    sum = ngx_pcalloc(pool, z->copy_size);
    if (sum == NULL) {
        return NULL;
    }

    for (i = 0; i < z->ncopies; i++) {
        copy = (ngx_atomic_t *) (z->copies + i * z->copy_size);

        for (k = 0; k < n; k++) {
            sum[k] += copy[k];
        }
    }

    return (ngx_queues_stat_counters_t *) sum;
}


ngx_uint_t
ngx_queues_stat_gauges(ngx_queues_conf_main_t *qmcf, int64_t *gauges)
{
    ngx_uint_t               i, k, n;
    ngx_queues_stat_zone_t  *z;

    z = qmcf->zone;
    n = 0;

    ngx_memzero(gauges, NGX_QUEUES_STAT_NGAUGES * sizeof(int64_t));

    for (i = 0; i < z->nworkers; i++) {

        if (!ngx_queues_stat_alive(&z->workers[i])) {
            continue;
        }

        for (k = 0; k < NGX_QUEUES_STAT_NGAUGES; k++) {
            gauges[k] += z->workers[i].gauges[k];
        }

        n++;
    }

    return n;
}


size_t
ngx_queues_stat_free(ngx_queues_conf_main_t *qmcf)
{
    return qmcf->zone_pool->pfree * ngx_pagesize;
}
