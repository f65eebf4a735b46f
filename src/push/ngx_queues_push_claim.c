
/*
 * The claims of a job, and what comes of them.
 */

#include "ngx_queues_push_engine.h"


/* all in ms */
#define NGX_QUEUES_PUSH_FULL  1000        /* longest, until others' end */
#define NGX_QUEUES_PUSH_LOOK  1000        /* while no hints come */
#define NGX_QUEUES_PUSH_FAR   86400000    /* a timer's longest */


static void ngx_queues_push_job_begin(ngx_queues_push_job_t *job);
static void ngx_queues_push_job_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_push_job_result(ngx_queues_push_job_t *job,
    ngx_queues_store_result_t *result, ngx_uint_t again);
static void ngx_queues_push_job_idle(ngx_queues_push_job_t *job,
    int64_t next);


static ngx_uint_t  ngx_queues_push_nclaims;      /* not those of settles */


ngx_uint_t
ngx_queues_push_claims(void)
{
    return ngx_queues_push_nclaims;
}


void
ngx_queues_push_job_claim(ngx_queues_push_job_t *job,
    ngx_queues_store_claim_t *claim)
{
    claim->id.data = job->id;
    claim->id.len = NGX_QUEUES_PUSH_ID_LEN;
    claim->worker = ngx_queues_push_engine.worker;
    claim->fence = job->fence;
    claim->version = job->version;
}


ngx_uint_t
ngx_queues_push_job_ready(ngx_queues_push_job_t *job)
{
    if (job->dropped || job->paused || ngx_queues_push_engine.draining
        || (job->claims && (job->probe || job->probing || !job->eager)))
    {
        return 0;
    }

    return job->probe
           || (job->wanted && !job->broken && !job->resting
               && job->open + job->nhandled + job->claims < job->window);
}


static void
ngx_queues_push_job_begin(ngx_queues_push_job_t *job)
{
    if (job->claims++ == 0) {
        job->again = 0;
    }
}


ngx_uint_t
ngx_queues_push_job_follow(ngx_queues_push_job_t *job)
{
    if (!ngx_queues_push_line_first(job)) {
        return 0;
    }

    ngx_queues_push_job_begin(job);

    ngx_queues_push_engine.claims++;

    return 1;
}


void
ngx_queues_push_job_unclaimed(ngx_queues_push_job_t *job)
{
    job->claims--;

    ngx_queues_push_engine.claims--;

    ngx_queues_push_job_pause(job);
}


void
ngx_queues_push_job_spared(ngx_queues_push_job_t *job)
{
    job->claims--;

    ngx_queues_push_engine.claims--;

    ngx_queues_push_line_run();
}


void
ngx_queues_push_job_start(ngx_queues_push_job_t *job)
{
    ngx_queues_store_claim_t  claim;

    ngx_queues_push_job_claim(job, &claim);

    if (job->probe) {

        /* a version that there is not: how it is now, and no messages */

        claim.version = 0;
    }

    if (ngx_queues_store_push_claim(&job->project->root, &claim,
                                    ngx_queues_push_job_done, job)
        != NGX_OK)
    {
        ngx_queues_push_job_pause(job);
        return;
    }

    ngx_queues_push_job_begin(job);

    if (job->probe) {
        job->probe = 0;
        job->probing = 1;

        /* what was wanted is still */

        job->again = job->wanted;

    } else {
        ngx_queues_push_engine.claims++;
    }

    ngx_queues_push_nclaims++;

    ngx_queues_push_job_line(job);
}


static void
ngx_queues_push_job_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_push_job_t *job = data;

    ngx_uint_t  slot;

    ngx_queues_push_nclaims--;

    slot = !job->probing;
    job->probing = 0;

    ngx_queues_push_job_claimed(job, result, slot);
}


void
ngx_queues_push_job_claimed(ngx_queues_push_job_t *job,
    ngx_queues_store_result_t *result, ngx_uint_t slot)
{
    ngx_uint_t  again, level;

    job->claims--;

    /* the last one may have been answered before the reason, too */

    again = (job->again && job->claims == 0);

    if (again) {
        job->again = 0;
    }

    if (slot) {
        ngx_queues_push_engine.claims--;
    }

    ngx_queues_push_line_run();

    if (job->dropped || ngx_queues_push_engine.draining) {

        if (result->code == NGX_QUEUES_STORE_OK && result->nmessages) {
            ngx_queues_push_give_back(job, result);
        }

        ngx_queues_push_job_check(job);
        return;
    }

    switch (result->code) {

    case NGX_QUEUES_STORE_OK:
        ngx_queues_push_job_result(job, result, again);
        return;

    case NGX_QUEUES_STORE_NO_QUEUE:
    case NGX_QUEUES_STORE_NO_SUBSCRIPTION:
        ngx_queues_push_job_drop(job, 1);
        return;

    default:
        break;
    }

    job->wanted = 1;
    job->eager = 0;

    if (ngx_queues_store_ready()) {
        level = job->failures ? NGX_LOG_INFO : NGX_LOG_ERR;

        ngx_log_error(level, ngx_cycle->log, 0,
                      "nothing is received for \"%V\" of \"%V\": %s",
                      &job->config->name, &job->project->root,
                      result->reason ? result->reason : "unexpected");

        ngx_queues_push_job_pause(job);
        return;
    }

    ngx_queues_push_job_line(job);
}


static void
ngx_queues_push_job_result(ngx_queues_push_job_t *job,
    ngx_queues_store_result_t *result, ngx_uint_t again)
{
    int64_t  next;

    if (result->claim != NGX_QUEUES_STORE_CLAIM_NONE
        && result->nmessages == 0)
    {
        job->failures = 0;
    }

    job->eager = (result->claim == NGX_QUEUES_STORE_CLAIMED
                  && result->nmessages == job->config->batch);

    switch (result->claim) {

    case NGX_QUEUES_STORE_CLAIMED:

        if (result->nmessages == 0) {
            ngx_queues_push_job_idle(job, result->next);

            if (again) {
                ngx_queues_push_job_wake(job);
            }

            break;
        }

        job->wanted = 1;

        if (ngx_queues_push_deliver(job, result) != NGX_OK) {

            /* no connection, or no memory: one at a time finds out when */

            job->eager = 0;

            ngx_queues_push_job_pause(job);
            return;
        }

        job->failures = 0;
        break;

    case NGX_QUEUES_STORE_CLAIM_LOST:
        ngx_queues_push_job_drop(job, 1);
        return;

    case NGX_QUEUES_STORE_CLAIM_CHANGED:
        ngx_queues_push_job_change(job, &result->jobs[0]);

        if (again) {
            ngx_queues_push_job_wake(job);
        }

        break;

    case NGX_QUEUES_STORE_CLAIM_NONE:

        /* a settle went well, and the claim with it did not */

        ngx_queues_push_job_pause(job);
        return;

    default: /* FULL */
        next = ngx_min(result->next, NGX_QUEUES_PUSH_FULL);

        job->wanted = 0;

        ngx_queues_push_timer(&job->timer, (ngx_msec_t) ngx_max(next, 1));
        break;
    }

    ngx_queues_push_job_line(job);
}


static void
ngx_queues_push_job_idle(ngx_queues_push_job_t *job, int64_t next)
{
    ngx_msec_t  ms;

    job->wanted = 0;

    if (ngx_queues_store_watch(&job->project->root) != NGX_OK) {

        /* until hints come, and that is a hint, it has to look by itself */

        ms = ngx_max(NGX_QUEUES_PUSH_LOOK, ngx_queues_push_engine.njobs);

        if (next < 0 || next > (int64_t) ms) {
            next = ms;
        }
    }

    if (next < 0) {

        if (job->timer.timer_set) {
            ngx_del_timer(&job->timer);
        }

        return;
    }

    next = ngx_min(next, NGX_QUEUES_PUSH_FAR);

    ngx_queues_push_timer(&job->timer, (ngx_msec_t) ngx_max(next, 1));
}
