
/*
 * Deliveries of a job all messages of which were handled are settled together:
 * while one call is under way, others wait for it.  So a job that has much to
 * do makes few calls, each of which has a few deliveries and claims as many;
 * and one that has little to do waits for none.
 */

#include "ngx_queues_push_engine.h"


#define NGX_QUEUES_PUSH_SETTLES  2      /* at once, of a job */


typedef struct {
    ngx_queues_push_job_t        *job;
    ngx_uint_t                    claims;
    ngx_uint_t                    n;
    ngx_queues_push_delivery_t   *deliveries[NGX_QUEUES_STORE_DONE_MAX];
} ngx_queues_push_group_t;


static void ngx_queues_push_done_run(ngx_queues_push_job_t *job);
static ngx_int_t ngx_queues_push_done_start(ngx_queues_push_job_t *job);
static void ngx_queues_push_done_take(ngx_queues_push_job_t *job,
    ngx_queues_push_group_t *group);
static ngx_int_t ngx_queues_push_done_call(ngx_queues_push_group_t *group);
static void ngx_queues_push_done_handler(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_push_done_claimed(ngx_queues_push_group_t *group,
    ngx_queues_store_result_t *result);


ngx_uint_t
ngx_queues_push_done_may(ngx_queues_push_delivery_t *d)
{
    ngx_uint_t  i;

    if (!d->success || d->undo || ngx_exiting) {
        return 0;
    }

    for (i = 0; i < d->nmessages; i++) {
        if (d->messages[i].failed) {
            return 0;
        }
    }

    return 1;
}


void
ngx_queues_push_done_add(ngx_queues_push_delivery_t *d,
    ngx_queues_push_job_t *job)
{
    d->waiting = 1;
    d->claimer = job;

    ngx_queue_insert_tail(&job->handled, &d->queue);
    job->nhandled++;

    ngx_queues_push_done_run(job);
}


void
ngx_queues_push_done_leave(ngx_queues_push_delivery_t *d)
{
    ngx_queue_remove(&d->queue);
    d->claimer->nhandled--;

    d->waiting = 0;
    d->claimer = NULL;
}


void
ngx_queues_push_done_flush(ngx_queues_push_job_t *job)
{
    while (!ngx_queue_empty(&job->handled)) {
        (void) ngx_queues_push_done_start(job);
    }
}


static void
ngx_queues_push_done_run(ngx_queues_push_job_t *job)
{
    while (job->settles < NGX_QUEUES_PUSH_SETTLES
           && !ngx_queue_empty(&job->handled))
    {
        (void) ngx_queues_push_done_start(job);
    }
}


/* of those that wait the first ones; NGX_ERROR: they are tried again later */

static ngx_int_t
ngx_queues_push_done_start(ngx_queues_push_job_t *job)
{
    ngx_uint_t                i;
    ngx_queues_push_group_t  *group, none;

    group = ngx_alloc(sizeof(ngx_queues_push_group_t), ngx_cycle->log);

    ngx_queues_push_done_take(job, group ? group : &none);

    if (group && ngx_queues_push_done_call(group) == NGX_OK) {
        job->settles++;
        return NGX_OK;
    }

    if (group == NULL) {
        group = &none;
    }

    while (group->claims) {
        group->claims--;
        ngx_queues_push_job_unclaimed(job);
    }

    for (i = 0; i < group->n; i++) {
        group->deliveries[i]->calling = 0;
        ngx_queues_push_settle_later(group->deliveries[i], "no memory");
    }

    if (group != &none) {
        ngx_free(group);
    }

    return NGX_ERROR;
}


static void
ngx_queues_push_done_take(ngx_queues_push_job_t *job,
    ngx_queues_push_group_t *group)
{
    ngx_queue_t                 *q;
    ngx_queues_push_delivery_t  *d, *first;

    ngx_memzero(group, sizeof(ngx_queues_push_group_t));

    group->job = job;

    q = ngx_queue_head(&job->handled);
    first = ngx_queue_data(q, ngx_queues_push_delivery_t, queue);

    while (!ngx_queue_empty(&job->handled)) {

        q = ngx_queue_head(&job->handled);
        d = ngx_queue_data(q, ngx_queues_push_delivery_t, queue);

        if (group->n == NGX_QUEUES_STORE_DONE_MAX
            || d->place.queue != first->place.queue
            || d->place.generation != first->place.generation)
        {
            break;
        }

        ngx_queues_push_done_leave(d);

        d->calling = 1;

        group->deliveries[group->n++] = d;
    }

    while (group->claims < group->n && ngx_queues_push_job_follow(job)) {
        group->claims++;
    }
}


static ngx_int_t
ngx_queues_push_done_call(ngx_queues_push_group_t *group)
{
    ngx_uint_t                   i, k, n;
    ngx_queues_base_spot_t       spots[NGX_QUEUES_STORE_DONE_MESSAGES];
    ngx_queues_store_claim_t     claim;
    ngx_queues_push_delivery_t  *d;
    ngx_queues_store_handled_t   handled;

    d = group->deliveries[group->n - 1];

    handled.id.data = d->id;
    handled.id.len = NGX_QUEUES_PUSH_ID_LEN;
    handled.place = d->place;
    handled.window = d->window;
    handled.n = group->n;

    for (n = 0, i = 0; i < group->n; i++) {
        d = group->deliveries[i];

        handled.deliveries[i].token = d->token;
        handled.deliveries[i].ok = &spots[n];
        handled.deliveries[i].nok = d->nmessages;

        for (k = 0; k < d->nmessages; k++) {
            spots[n++] = d->messages[k].spot;
        }
    }

    ngx_queues_push_job_claim(group->job, &claim);

    return ngx_queues_store_push_done(&d->project->root, &handled,
                                      group->claims ? &claim : NULL,
                                      group->claims,
                                      ngx_queues_push_done_handler, group);
}


static void
ngx_queues_push_done_handler(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_push_group_t *group = data;

    ngx_uint_t              i;
    ngx_queues_push_job_t  *job;

    job = group->job;

    for (i = 0; i < group->n; i++) {
        ngx_queues_push_settle_end(group->deliveries[i], result);
    }

    /* the next call is under way while what this one has brought is sent */

    job->settles--;

    ngx_queues_push_done_run(job);

    job->settles++;

    ngx_queues_push_done_claimed(group, result);

    job->settles--;

    ngx_queues_push_done_run(job);
    ngx_queues_push_job_check(job);

    ngx_free(group);
}


static void
ngx_queues_push_done_claimed(ngx_queues_push_group_t *group,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t  i, n;

    n = group->claims;

    if (result->code == NGX_QUEUES_STORE_OK) {
        n = result->nclaims;
    }

    for (i = n; i < group->claims; i++) {
        ngx_queues_push_job_spared(group->job);
    }

    for (i = 0; i < n; i++) {

        /* of a failure all have the same */

        ngx_queues_push_job_claimed(group->job,
                                    i && result->code == NGX_QUEUES_STORE_OK
                                    ? &result->others[i - 1] : result, 1);
    }
}
