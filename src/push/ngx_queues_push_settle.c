
#include "ngx_queues_push_engine.h"


#define NGX_QUEUES_PUSH_LEAVE  5000    /* ms: of a worker that leaves, for what
                                          could not be settled */


typedef struct {
    ngx_queues_store_settle_t   settle;
    ngx_queues_base_spot_t      ok[NGX_QUEUES_STORE_BATCH_MAX];
    ngx_queues_store_failed_t   failed[NGX_QUEUES_STORE_BATCH_MAX];
} ngx_queues_push_settle_t;


static ngx_int_t ngx_queues_push_settle_call(ngx_queues_push_delivery_t *d,
    ngx_queues_store_claim_t *claim);
static void ngx_queues_push_settle_fill(ngx_queues_push_delivery_t *d,
    ngx_queues_push_settle_t *s);
static void ngx_queues_push_settle_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_push_settle_handler(ngx_event_t *ev);


void
ngx_queues_push_settle(ngx_queues_push_delivery_t *d,
    ngx_queues_push_job_t *job)
{
    ngx_uint_t                 i;
    ngx_queues_store_claim_t   claim;

    d->timer.handler = ngx_queues_push_settle_handler;
    d->timer.data = d;
    d->timer.log = ngx_cycle->log;

    if (job && ngx_queues_push_done_may(d)) {
        ngx_queues_push_done_add(d, job);
        return;
    }

    for (i = 0; job && i < d->nmessages; i++) {
        if (d->messages[i].failed) {

            /* when they are visible again is for the next claim to say */

            job->wanted = 1;
            break;
        }
    }

    if (job && ngx_queues_push_job_follow(job)) {
        d->claimer = job;

        ngx_queues_push_job_claim(job, &claim);
    }

    if (ngx_queues_push_settle_call(d, d->claimer ? &claim : NULL) != NGX_OK)
    {
        if (d->claimer) {
            d->claimer = NULL;
            ngx_queues_push_job_unclaimed(job);
        }

        ngx_queues_push_settle_later(d, "no memory");
    }
}


static ngx_int_t
ngx_queues_push_settle_call(ngx_queues_push_delivery_t *d,
    ngx_queues_store_claim_t *claim)
{
    ngx_queues_push_settle_t  s;

    ngx_queues_push_settle_fill(d, &s);

    if (ngx_queues_store_push_settle(&d->project->root, &s.settle, claim,
                                     ngx_queues_push_settle_done, d)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    d->calling = 1;

    return NGX_OK;
}


static void
ngx_queues_push_settle_fill(ngx_queues_push_delivery_t *d,
    ngx_queues_push_settle_t *s)
{
    ngx_uint_t                  i;
    ngx_queues_store_failed_t  *failed;

    ngx_memzero(s, sizeof(ngx_queues_push_settle_t));

    s->settle.id.data = d->id;
    s->settle.id.len = NGX_QUEUES_PUSH_ID_LEN;
    s->settle.place = d->place;
    s->settle.token = d->token;
    s->settle.undo = d->undo;
    s->settle.success = d->success;
    s->settle.class = ngx_queues_stat_outcomes[d->class];
    s->settle.status = d->status;
    s->settle.message = d->message;
    s->settle.window = d->window;
    s->settle.ok = s->ok;
    s->settle.failed = s->failed;

    for (i = 0; i < d->nmessages; i++) {

        if (!d->messages[i].failed || d->undo) {
            s->ok[s->settle.nok++] = d->messages[i].spot;
            continue;
        }

        failed = &s->failed[s->settle.nfailed++];

        failed->spot = d->messages[i].spot;
        failed->count = d->messages[i].count;
        failed->ms = d->messages[i].ms;
    }
}


static void
ngx_queues_push_settle_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_push_job_t       *job;
    ngx_queues_push_delivery_t  *d = data;

    job = d->claimer;
    d->claimer = NULL;

    ngx_queues_push_settle_end(d, result);

    if (job) {
        ngx_queues_push_job_claimed(job, result, 1);
    }
}


void
ngx_queues_push_settle_end(ngx_queues_push_delivery_t *d,
    ngx_queues_store_result_t *result)
{
    d->calling = 0;

    switch (result->code) {

    case NGX_QUEUES_STORE_OK:
    case NGX_QUEUES_STORE_NO_QUEUE:
    case NGX_QUEUES_STORE_NO_SUBSCRIPTION:
        ngx_queues_push_delivery_free(d);
        break;

    default:
        ngx_queues_push_settle_later(d, result->reason);
        break;
    }
}


void
ngx_queues_push_settle_later(ngx_queues_push_delivery_t *d,
    const char *reason)
{
    ngx_msec_t      ms;
    ngx_msec_int_t  left;

    if (ngx_queues_push_engine.aborted) {

        /* it was sent, most likely */

        ngx_queues_push_delivery_free(d);
        return;
    }

    if (ngx_exiting && !d->leaving) {
        d->leaving = 1;

        if ((ngx_msec_int_t) (d->until - ngx_current_msec)
            > NGX_QUEUES_PUSH_LEAVE)
        {
            d->until = ngx_current_msec + NGX_QUEUES_PUSH_LEAVE;
        }
    }

    left = (ngx_msec_int_t) (d->until - ngx_current_msec);

    if (left <= 0) {

        /* the messages are visible again: it would have no effect */

        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "delivery %*s of \"%V\" of \"%V\" is not settled: %s",
                      (size_t) NGX_QUEUES_BASE_UUID_LEN, d->uuid,
                      &d->config->name, &d->project->root,
                      reason ? reason : "unexpected");

        ngx_queues_push_delivery_free(d);
        return;
    }

    if (!d->unsettled) {
        d->unsettled = 1;
        ngx_queues_push_engine.unsettled++;
    }

    d->failures++;

    ms = ngx_queues_push_backoff(d->failures);

    /* a worker that leaves stays for it */

    ngx_queues_push_timer(&d->timer, ngx_min(ms, (ngx_msec_t) left + 1));
}


static void
ngx_queues_push_settle_handler(ngx_event_t *ev)
{
    ngx_queues_push_delivery_t *d = ev->data;

    if (ngx_queues_push_settle_call(d, NULL) != NGX_OK) {
        ngx_queues_push_settle_later(d, "no memory");
    }
}


void
ngx_queues_push_give_back(ngx_queues_push_job_t *job,
    ngx_queues_store_result_t *result)
{
    ngx_str_t  id;

    id.data = job->id;
    id.len = NGX_QUEUES_PUSH_ID_LEN;

    /* where it fails they come back when they are visible again */

    (void) ngx_queues_store_push_undo(&job->project->root, &id, result,
                                      ngx_queues_push_ignore, NULL);
}
