
/*
 * After a failure a subscription rests, where its API has it so: nothing more is
 * claimed for some time, which doubles as long as nothing goes well.  What is
 * open goes on, and what of it fails later is part of the same failure.
 */

#include "ngx_queues_push_engine.h"


/* ms */
#define NGX_QUEUES_PUSH_REST_MIN  100
#define NGX_QUEUES_PUSH_REST_MAX  60000


static void ngx_queues_push_rest_handler(ngx_event_t *ev);
static void ngx_queues_push_rest_end(ngx_queues_push_job_t *job);


void
ngx_queues_push_rest_init(ngx_queues_push_job_t *job)
{
    job->rest.handler = ngx_queues_push_rest_handler;
    job->rest.data = job;
    job->rest.log = ngx_cycle->log;
    job->rest.cancelable = 1;
}


void
ngx_queues_push_job_rest(ngx_queues_push_job_t *job,
    ngx_queues_push_delivery_t *d)
{
    if (job->resting || (job->rests && d->round != job->round)) {
        return;
    }

    job->rests = job->rests ? ngx_min(job->rests * 2, NGX_QUEUES_PUSH_REST_MAX)
                            : NGX_QUEUES_PUSH_REST_MIN;
    job->resting = 1;

    ngx_queues_push_timer(&job->rest, job->rests);

    ngx_queues_push_job_line(job);
}


void
ngx_queues_push_job_rested(ngx_queues_push_job_t *job)
{
    job->rests = 0;

    if (job->resting) {
        ngx_queues_push_rest_end(job);
    }
}


void
ngx_queues_push_rest_cancel(ngx_queues_push_job_t *job)
{
    if (job->rest.timer_set) {
        ngx_del_timer(&job->rest);
    }
}


static void
ngx_queues_push_rest_handler(ngx_event_t *ev)
{
    ngx_queues_push_rest_end(ev->data);
}


static void
ngx_queues_push_rest_end(ngx_queues_push_job_t *job)
{
    ngx_queues_push_rest_cancel(job);

    job->resting = 0;
    job->round++;

    ngx_queues_push_job_wake(job);
}
