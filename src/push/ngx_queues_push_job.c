
#include "ngx_queues_push_engine.h"


#define NGX_QUEUES_PUSH_BUCKETS  4096    /* a power of two */


/* jobs by their subscription, and by its queue */
typedef enum {
    NGX_QUEUES_PUSH_BY_ID = 0,
    NGX_QUEUES_PUSH_BY_QUEUE
} ngx_queues_push_by_e;


static ngx_queues_push_job_t *ngx_queues_push_job_create(
    ngx_queues_push_project_t *p, ngx_queues_store_job_t *owned);
static ngx_queues_push_job_t *ngx_queues_push_job_lookup(
    ngx_queues_push_project_t *p, ngx_queues_push_by_e by, ngx_str_t *id);
static void ngx_queues_push_job_insert(ngx_queues_push_job_t *job,
    ngx_queues_push_by_e by);
static void ngx_queues_push_job_remove(ngx_queues_push_job_t *job,
    ngx_queues_push_by_e by);
static ngx_queues_push_job_t **ngx_queues_push_job_bucket(
    ngx_queues_push_job_t *job, ngx_queues_push_by_e by);
static ngx_uint_t ngx_queues_push_job_slot(ngx_queues_push_project_t *p,
    u_char *id);
static void ngx_queues_push_job_configure(ngx_queues_push_job_t *job,
    ngx_queues_push_config_t *config, ngx_queues_store_job_t *owned);
static void ngx_queues_push_job_timer_handler(ngx_event_t *ev);


/* short ids of subscriptions and queues: one does not stand for the other */
static ngx_queues_push_job_t  **ngx_queues_push_jobs[2];


ngx_int_t
ngx_queues_push_jobs_init(void)
{
    ngx_uint_t  i;

    for (i = 0; i < 2; i++) {
        ngx_queues_push_jobs[i] = ngx_calloc(NGX_QUEUES_PUSH_BUCKETS
                                             * sizeof(ngx_queues_push_job_t *),
                                             ngx_cycle->log);

        if (ngx_queues_push_jobs[i] == NULL) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* deliveries have gone before, and no call is open */

void
ngx_queues_push_jobs_exit(void)
{
    ngx_uint_t               i;
    ngx_queues_push_job_t  **bucket;

    bucket = ngx_queues_push_jobs[NGX_QUEUES_PUSH_BY_ID];

    for (i = 0; i < NGX_QUEUES_PUSH_BUCKETS; i++) {
        while (bucket[i]) {
            ngx_queues_push_job_drop(bucket[i], 0);
        }
    }

    for (i = 0; i < 2; i++) {
        ngx_free(ngx_queues_push_jobs[i]);
        ngx_queues_push_jobs[i] = NULL;
    }
}


ngx_int_t
ngx_queues_push_job_take(ngx_queues_push_project_t *p,
    ngx_queues_store_job_t *owned)
{
    ngx_queues_push_job_t     *job;
    ngx_queues_push_config_t  *config;

    if (owned->id.len != NGX_QUEUES_PUSH_ID_LEN
        || owned->queue.len != NGX_QUEUES_PUSH_ID_LEN)
    {
        return NGX_ERROR;
    }

    job = ngx_queues_push_job_find(p, &owned->id);

    if (job) {

        /* it was lost and taken again since */

        ngx_queues_push_job_drop(job, 0);
    }

    config = ngx_queues_push_config_create(&p->root, owned);
    if (config == NULL) {
        return NGX_ERROR;
    }

    job = ngx_queues_push_job_create(p, owned);
    if (job == NULL) {
        ngx_queues_push_config_release(config);
        return NGX_ERROR;
    }

    ngx_queues_push_job_window(job, owned->window ? owned->window
                                                  : config->concurrency);

    ngx_queues_push_job_configure(job, config, owned);
    ngx_queues_push_job_wake(job);

    return NGX_OK;
}


static ngx_queues_push_job_t *
ngx_queues_push_job_create(ngx_queues_push_project_t *p,
    ngx_queues_store_job_t *owned)
{
    ngx_queues_push_job_t  *job;

    job = ngx_calloc(sizeof(ngx_queues_push_job_t), ngx_cycle->log);
    if (job == NULL) {
        return NULL;
    }

    job->project = p;
    job->fence = owned->fence;

    ngx_memcpy(job->id, owned->id.data, NGX_QUEUES_PUSH_ID_LEN);
    ngx_memcpy(job->queue_id, owned->queue.data, NGX_QUEUES_PUSH_ID_LEN);

    job->timer.handler = ngx_queues_push_job_timer_handler;
    job->timer.data = job;
    job->timer.log = ngx_cycle->log;
    job->timer.cancelable = 1;

    ngx_queues_push_rest_init(job);

    ngx_queue_init(&job->deliveries);
    ngx_queue_init(&job->handled);
    ngx_queue_insert_tail(&p->jobs, &job->queue);

    ngx_queues_push_job_insert(job, NGX_QUEUES_PUSH_BY_ID);
    ngx_queues_push_job_insert(job, NGX_QUEUES_PUSH_BY_QUEUE);

    ngx_queues_push_project_hold(p);

    p->njobs++;
    ngx_queues_push_engine.njobs++;
    ngx_queues_stat_gauge(NGX_QUEUES_STAT_SUBSCRIPTIONS, 1);

    return job;
}


void
ngx_queues_push_jobs_drop(ngx_queues_push_project_t *p, ngx_uint_t undo)
{
    ngx_queue_t            *q;
    ngx_queues_push_job_t  *job;

    ngx_queues_push_project_hold(p);

    while (!ngx_queue_empty(&p->jobs)) {
        q = ngx_queue_head(&p->jobs);
        job = ngx_queue_data(q, ngx_queues_push_job_t, queue);

        ngx_queues_push_job_drop(job, undo);
    }

    ngx_queues_push_project_release(p);
}


void
ngx_queues_push_job_drop(ngx_queues_push_job_t *job, ngx_uint_t undo)
{
    ngx_queue_t                 *q;
    ngx_queues_push_delivery_t  *d;

    if (undo) {
        ngx_queues_push_deliveries_undo(job);
    }

    while (!ngx_queue_empty(&job->deliveries)) {
        q = ngx_queue_head(&job->deliveries);
        d = ngx_queue_data(q, ngx_queues_push_delivery_t, queue);

        ngx_queues_push_delivery_detach(d);
    }

    ngx_queues_push_job_leave(job);

    if (job->timer.timer_set) {
        ngx_del_timer(&job->timer);
    }

    ngx_queues_push_rest_cancel(job);

    ngx_queues_push_job_remove(job, NGX_QUEUES_PUSH_BY_ID);
    ngx_queues_push_job_remove(job, NGX_QUEUES_PUSH_BY_QUEUE);

    ngx_queue_remove(&job->queue);
    job->project->njobs--;

    ngx_queues_push_job_window(job, 0);
    ngx_queues_stat_gauge(NGX_QUEUES_STAT_SUBSCRIPTIONS, -1);

    job->dropped = 1;

    ngx_queues_push_done_flush(job);

    ngx_queues_push_job_check(job);
}


void
ngx_queues_push_job_window(ngx_queues_push_job_t *job, ngx_uint_t n)
{
    ngx_queues_stat_gauge(NGX_QUEUES_STAT_WINDOW,
                          (ngx_int_t) n - (ngx_int_t) job->window);

    job->window = n;
}


void
ngx_queues_push_job_check(ngx_queues_push_job_t *job)
{
    if (!job->dropped || job->claims || job->settles) {
        return;
    }

    ngx_queues_push_config_release(job->config);
    ngx_queues_push_project_release(job->project);

    ngx_queues_push_engine.njobs--;

    ngx_free(job);
}


void
ngx_queues_push_job_change(ngx_queues_push_job_t *job,
    ngx_queues_store_job_t *owned)
{
    ngx_queues_push_config_t  *config;

    if (owned->version == job->version) {
        return;
    }

    config = ngx_queues_push_config_create(&job->project->root, owned);

    if (config == NULL) {

        /* the next claim has the old version, and is told again */

        ngx_queues_push_job_pause(job);
        return;
    }

    if (job->window == job->config->concurrency
        || job->window > config->concurrency)
    {
        ngx_queues_push_job_window(job, config->concurrency);
    }

    ngx_queues_push_config_release(job->config);
    ngx_queues_push_job_configure(job, config, owned);
}


static void
ngx_queues_push_job_configure(ngx_queues_push_job_t *job,
    ngx_queues_push_config_t *config, ngx_queues_store_job_t *owned)
{
    job->config = config;
    job->version = owned->version;

    ngx_queues_push_job_window(job, ngx_min(job->window,
                                            config->concurrency));
    job->broken = !config->ready;

    /* what has failed with other settings says nothing of these */

    ngx_queues_push_job_rested(job);
}


ngx_queues_push_job_t *
ngx_queues_push_job_find(ngx_queues_push_project_t *p, ngx_str_t *id)
{
    return ngx_queues_push_job_lookup(p, NGX_QUEUES_PUSH_BY_ID, id);
}


ngx_queues_push_job_t *
ngx_queues_push_job_of_queue(ngx_queues_push_project_t *p, ngx_str_t *queue)
{
    return ngx_queues_push_job_lookup(p, NGX_QUEUES_PUSH_BY_QUEUE, queue);
}


static ngx_queues_push_job_t *
ngx_queues_push_job_lookup(ngx_queues_push_project_t *p,
    ngx_queues_push_by_e by, ngx_str_t *id)
{
    u_char                  *key;
    ngx_uint_t               n;
    ngx_queues_push_job_t   *job;

    if (id->len != NGX_QUEUES_PUSH_ID_LEN) {
        return NULL;
    }

    n = ngx_queues_push_job_slot(p, id->data);

    for (job = ngx_queues_push_jobs[by][n]; job; job = job->next[by]) {

        key = (by == NGX_QUEUES_PUSH_BY_ID) ? job->id : job->queue_id;

        if (job->project == p
            && ngx_memcmp(key, id->data, NGX_QUEUES_PUSH_ID_LEN) == 0)
        {
            return job;
        }
    }

    return NULL;
}


static void
ngx_queues_push_job_insert(ngx_queues_push_job_t *job,
    ngx_queues_push_by_e by)
{
    ngx_queues_push_job_t  **bucket;

    bucket = ngx_queues_push_job_bucket(job, by);

    job->next[by] = *bucket;
    *bucket = job;
}


static void
ngx_queues_push_job_remove(ngx_queues_push_job_t *job,
    ngx_queues_push_by_e by)
{
    ngx_queues_push_job_t  **prev;

    prev = ngx_queues_push_job_bucket(job, by);

    while (*prev != job) {
        prev = &(*prev)->next[by];
    }

    *prev = job->next[by];
}


static ngx_queues_push_job_t **
ngx_queues_push_job_bucket(ngx_queues_push_job_t *job,
    ngx_queues_push_by_e by)
{
    u_char  *id;

    id = (by == NGX_QUEUES_PUSH_BY_ID) ? job->id : job->queue_id;

    return &ngx_queues_push_jobs[by][ngx_queues_push_job_slot(job->project,
                                                              id)];
}


static ngx_uint_t
ngx_queues_push_job_slot(ngx_queues_push_project_t *p, u_char *id)
{
    uint64_t  hash;

    hash = p->hash ^ ngx_queues_push_hash(id, NGX_QUEUES_PUSH_ID_LEN);

    return hash % NGX_QUEUES_PUSH_BUCKETS;
}


static void
ngx_queues_push_job_timer_handler(ngx_event_t *ev)
{
    ngx_queues_push_job_t *job = ev->data;

    job->paused = 0;

    ngx_queues_push_job_wake(job);
}
