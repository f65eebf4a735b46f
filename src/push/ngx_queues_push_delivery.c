
#include "ngx_queues_push_engine.h"


static ngx_queues_push_delivery_t *ngx_queues_push_delivery_create(
    ngx_queues_push_job_t *job, ngx_queues_store_result_t *result);
static void ngx_queues_push_delivery_denied(ngx_queues_push_delivery_t *d);
static ngx_int_t ngx_queues_push_delivery_start(
    ngx_queues_push_delivery_t *d);
static void ngx_queues_push_delivery_begun(void *data);
static void ngx_queues_push_delivery_done(void *data,
    ngx_queues_push_answer_t *answer);
static void ngx_queues_push_delivery_count(ngx_queues_push_delivery_t *d);
static void ngx_queues_push_delivery_unsent(ngx_queues_push_delivery_t *d);
static void ngx_queues_push_delivery_back(ngx_queues_push_delivery_t *d);
static void ngx_queues_push_delivery_closed(ngx_queues_push_delivery_t *d);
static void ngx_queues_push_delivery_learn(ngx_queues_push_job_t *job,
    ngx_queues_push_delivery_t *d);
static ngx_uint_t ngx_queues_push_window(ngx_queues_push_job_t *job);
static void ngx_queues_push_delivery_abort(ngx_queues_push_delivery_t *d);
static void ngx_queues_push_delivery_cut(ngx_queues_push_delivery_t *d);
static void ngx_queues_push_delivery_log(ngx_queues_push_delivery_t *d);


ngx_int_t
ngx_queues_push_deliver(ngx_queues_push_job_t *job,
    ngx_queues_store_result_t *result)
{
    ngx_queues_push_delivery_t  *d;

    d = ngx_queues_push_delivery_create(job, result);

    if (d == NULL) {
        ngx_queues_push_give_back(job, result);
        return NGX_ERROR;
    }

    ngx_queue_insert_tail(&ngx_queues_push_engine.deliveries, &d->all);

    d->job = job;
    ngx_queue_insert_tail(&job->deliveries, &d->queue);

    job->connecting++;

    ngx_queues_push_slot_take(job);

    if (d->config->wrong || d->denied) {
        ngx_queues_push_delivery_denied(d);

        return NGX_OK;
    }

    if (ngx_queues_push_delivery_start(d) != NGX_OK) {
        ngx_queues_push_delivery_back(d);

        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_queues_push_delivery_t *
ngx_queues_push_delivery_create(ngx_queues_push_job_t *job,
    ngx_queues_store_result_t *result)
{
    u_char                       uuid[NGX_QUEUES_BASE_UUID_SIZE];
    u_char                       random[NGX_QUEUES_BASE_UUID_RANDOM];
    ngx_uint_t                   i;
    ngx_queues_push_delivery_t  *d;
    ngx_queues_store_message_t  *m;

    if (result->nmessages > NGX_QUEUES_STORE_BATCH_MAX
        || ngx_queues_store_random(random, sizeof(random)) != NGX_OK)
    {
        return NULL;
    }

    d = ngx_calloc(sizeof(ngx_queues_push_delivery_t), ngx_cycle->log);
    if (d == NULL) {
        return NULL;
    }

    ngx_memcpy(d->id, job->id, NGX_QUEUES_PUSH_ID_LEN);

    d->place = result->place;
    d->token = result->token;
    d->now = result->now;
    d->since = ngx_current_msec;

    d->until = ngx_current_msec
               + ngx_max((ngx_msec_t) result->visibility * 1000,
                         job->config->timeout + 30000);

    ngx_queues_base_uuid_make(uuid, d->now, random);
    (void) ngx_queues_base_uuid_print(d->uuid, uuid);

    /* of a queue without visibility timeout: the store has the same */

    d->longest = result->visibility ? (uint64_t) result->visibility * 1000
                                    : 1000;

    d->nmessages = result->nmessages;

    for (i = 0; i < d->nmessages; i++) {
        m = &result->messages[i];

        d->messages[i].spot = m->spot;
        d->messages[i].count = m->count;

        (void) ngx_queues_store_message_id(d->messages[i].id,
                                           &m->origin.place, &m->origin.spot);
    }

    d->config = job->config;

    if (d->config->format->request(d, result) != NGX_OK) {
        ngx_free(d);
        return NULL;
    }

    d->config->refs++;

    d->window = ngx_queues_push_window(job);
    d->round = job->round;

    d->project = job->project;
    ngx_queues_push_project_hold(d->project);

    return d;
}


/* no connection is made */

static void
ngx_queues_push_delivery_denied(ngx_queues_push_delivery_t *d)
{
    u_char                    text[NGX_QUEUES_STORE_LAST_ERROR];
    ngx_queues_push_answer_t  answer;

    ngx_memzero(&answer, sizeof(ngx_queues_push_answer_t));
    ngx_memzero(text, sizeof(text));

    if (d->config->wrong) {

        /* the rules are others than when it was set */

        (void) ngx_snprintf(text, sizeof(text) - 1, "The URL %s.%Z",
                            d->config->wrong);

        answer.class = NGX_QUEUES_STAT_REFUSED;
        answer.reason = (const char *) text;

    } else {
        answer.class = NGX_QUEUES_STAT_TOKEN;
        answer.reason = d->denied;
    }

    ngx_queues_push_delivery_done(d, &answer);
}


static ngx_int_t
ngx_queues_push_delivery_start(ngx_queues_push_delivery_t *d)
{
    ngx_queues_push_request_t  request;

    ngx_memzero(&request, sizeof(ngx_queues_push_request_t));

    request.conf = ngx_queues_push_engine.conf;
    request.endpoint = &d->config->endpoint;
    request.timeout = d->config->timeout;
    request.body = d->body;
    request.lines = d->config->format->lines;
    request.lines_max = d->config->format->lines_length(d);
    request.begun = ngx_queues_push_delivery_begun;
    request.done = ngx_queues_push_delivery_done;
    request.data = d;

    d->attempt = ngx_queues_push_attempt_start(&request);

    return d->attempt ? NGX_OK : NGX_ERROR;
}


static void
ngx_queues_push_delivery_begun(void *data)
{
    ngx_queues_push_delivery_t *d = data;

    if (d->begun) {
        return;
    }

    d->begun = 1;

    if (d->job) {
        d->job->connecting--;

        ngx_queues_push_line_run();
    }
}


static void
ngx_queues_push_delivery_done(void *data, ngx_queues_push_answer_t *answer)
{
    ngx_queues_push_job_t       *job;
    ngx_queues_push_delivery_t  *d = data;

    d->attempt = NULL;
    job = d->job;

    if (answer->class == NGX_QUEUES_STAT_UNSENT) {
        ngx_queues_push_delivery_unsent(d);
        return;
    }

    ngx_queues_push_judge(d, answer);
    ngx_queues_push_delivery_count(d);
    ngx_queues_push_delivery_log(d);

    ngx_queues_push_delivery_closed(d);

    if (job) {
        ngx_queues_push_delivery_learn(job, d);

    } else if (d->throttled) {

        /* for whoever owns the subscription next */

        d->window = d->window ? d->window : d->config->concurrency;
        d->window = ngx_max(d->window / 2, 1);
    }

    ngx_queues_push_settle(d, job);
}


static void
ngx_queues_push_delivery_count(ngx_queues_push_delivery_t *d)
{
    ngx_uint_t             i, n;
    ngx_queues_stat_api_e  api;

    api = d->config->format->api;

    ngx_queues_stat_add(deliveries[api][d->success ? NGX_QUEUES_STAT_OK
                                                   : d->class],
                        1);

    ngx_queues_stat_observe(&ngx_queues_stat_counters->delivery,
                            (uint64_t) (ngx_current_msec - d->since) * 1000);

    if (d->begun) {
        ngx_queues_stat_add(messages[NGX_QUEUES_STAT_RECEIVED][api],
                            d->nmessages);
    }

    for (n = 0, i = 0; i < d->nmessages; i++) {
        n += !d->messages[i].failed;
    }

    if (n) {
        ngx_queues_stat_add(messages[NGX_QUEUES_STAT_ACKNOWLEDGED][api], n);
    }
}


/* others have had the connections that there were when it was claimed */

static void
ngx_queues_push_delivery_unsent(ngx_queues_push_delivery_t *d)
{
    ngx_queues_push_job_t  *job;

    job = d->job;

    if (job) {
        job->eager = 0;
        ngx_queues_push_job_pause(job);
    }

    ngx_queues_push_delivery_back(d);
}


/* nothing was received */

static void
ngx_queues_push_delivery_back(ngx_queues_push_delivery_t *d)
{
    d->undo = 1;

    ngx_queues_push_delivery_closed(d);
    ngx_queues_push_settle(d, NULL);
}


/* the attempt is over: others may have its slot */

static void
ngx_queues_push_delivery_closed(ngx_queues_push_delivery_t *d)
{
    if (d->body.data) {
        ngx_free(d->body.data);
        d->body.data = NULL;
    }

    if (d->job) {
        ngx_queues_push_delivery_detach(d);
    }

    ngx_queues_push_slot_free();
}


void
ngx_queues_push_delivery_detach(ngx_queues_push_delivery_t *d)
{
    ngx_queues_push_slot_leave(d->job);

    if (!d->begun) {
        d->job->connecting--;
    }

    ngx_queue_remove(&d->queue);
    d->job = NULL;
}


/* an endpoint that is overloaded gets less at once, and more by and by */

static void
ngx_queues_push_delivery_learn(ngx_queues_push_job_t *job,
    ngx_queues_push_delivery_t *d)
{
    if (d->throttled) {
        ngx_queues_push_job_window(job, ngx_max(job->window / 2, 1));

    } else if (d->success && job->window < job->config->concurrency) {
        ngx_queues_push_job_window(job, job->window + 1);
    }

    d->window = ngx_queues_push_window(job);

    job->answers = (d->status != 0);

    ngx_queues_push_job_slow(job, d->class == NGX_QUEUES_STAT_TIMEOUT);
}


/* as the store has it */

static ngx_uint_t
ngx_queues_push_window(ngx_queues_push_job_t *job)
{
    return (job->window < job->config->concurrency) ? job->window : 0;
}


static void
ngx_queues_push_delivery_log(ngx_queues_push_delivery_t *d)
{
    if (d->success) {
        ngx_log_debug3(NGX_LOG_DEBUG_CORE, ngx_cycle->log, 0,
                       "queues push delivery %*s status:%ui",
                       (size_t) NGX_QUEUES_BASE_UUID_LEN, d->uuid, d->status);
        return;
    }

    /* what an endpoint says is for its owner to read, and not for the log */

    ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0,
                  "delivery %*s of \"%V\" of \"%V\" failed: %V %ui",
                  (size_t) NGX_QUEUES_BASE_UUID_LEN, d->uuid,
                  &d->config->name, &d->project->root,
                  &ngx_queues_stat_outcomes[d->class], d->status);
}


void
ngx_queues_push_delivery_free(ngx_queues_push_delivery_t *d)
{
    if (d->job) {
        ngx_queues_push_delivery_detach(d);
    }

    if (d->waiting) {
        ngx_queues_push_done_leave(d);
    }

    if (d->timer.timer_set) {
        ngx_del_timer(&d->timer);
    }

    if (d->unsettled) {
        ngx_queues_push_engine.unsettled--;
        ngx_queues_push_line_run();
    }

    if (d->body.data) {
        ngx_free(d->body.data);
    }

    ngx_queue_remove(&d->all);

    ngx_queues_push_config_release(d->config);
    ngx_queues_push_project_release(d->project);

    ngx_free(d);
}


void
ngx_queues_push_deliveries_undo(ngx_queues_push_job_t *job)
{
    ngx_queue_t                 *q, *next;
    ngx_queues_push_delivery_t  *d;

    for (q = ngx_queue_head(&job->deliveries);
         q != ngx_queue_sentinel(&job->deliveries);
         q = next)
    {
        next = ngx_queue_next(q);

        d = ngx_queue_data(q, ngx_queues_push_delivery_t, queue);

        if (!ngx_queues_push_attempt_sent(d->attempt)) {
            ngx_queues_push_delivery_detach(d);
            ngx_queues_push_delivery_abort(d);
        }
    }
}


/* of no job any more, and nothing was sent */

static void
ngx_queues_push_delivery_abort(ngx_queues_push_delivery_t *d)
{
    ngx_queues_push_attempt_abort(d->attempt);
    d->attempt = NULL;

    ngx_queues_push_delivery_back(d);
}


/* it may have been received: that nobody waits for the answer is a failure */

static void
ngx_queues_push_delivery_cut(ngx_queues_push_delivery_t *d)
{
    ngx_queues_push_answer_t  answer;

    ngx_queues_push_attempt_abort(d->attempt);

    ngx_memzero(&answer, sizeof(ngx_queues_push_answer_t));

    answer.class = NGX_QUEUES_STAT_CONNECTION;
    answer.reason = "The delivery was ended by a shutdown.";

    ngx_queues_push_delivery_done(d, &answer);
}


/* the links still send what is settled now; their replies nobody waits for */

void
ngx_queues_push_deliveries_abort(void)
{
    ngx_queue_t                 *q, *next;
    ngx_queues_push_delivery_t  *d;

    q = ngx_queue_head(&ngx_queues_push_engine.deliveries);

    while (q != ngx_queue_sentinel(&ngx_queues_push_engine.deliveries)) {
        d = ngx_queue_data(q, ngx_queues_push_delivery_t, all);

        q = ngx_queue_next(q);

        if (d->waiting) {
            ngx_queues_push_done_flush(d->claimer);
        }
    }

    ngx_queues_push_engine.aborted = 1;

    for (q = ngx_queue_head(&ngx_queues_push_engine.deliveries);
         q != ngx_queue_sentinel(&ngx_queues_push_engine.deliveries);
         q = next)
    {
        next = ngx_queue_next(q);

        d = ngx_queue_data(q, ngx_queues_push_delivery_t, all);

        if (d->calling) {

            /* its reply is near */

            continue;
        }

        if (d->attempt == NULL) {
            ngx_queues_push_delivery_free(d);

        } else if (ngx_queues_push_attempt_sent(d->attempt)) {
            ngx_queues_push_delivery_cut(d);

        } else {
            ngx_queues_push_delivery_abort(d);
        }
    }
}


void
ngx_queues_push_deliveries_exit(void)
{
    ngx_queue_t                 *q;
    ngx_queues_push_delivery_t  *d;

    while (!ngx_queue_empty(&ngx_queues_push_engine.deliveries)) {
        q = ngx_queue_head(&ngx_queues_push_engine.deliveries);
        d = ngx_queue_data(q, ngx_queues_push_delivery_t, all);

        if (d->attempt) {
            ngx_queues_push_attempt_abort(d->attempt);
            d->attempt = NULL;

            ngx_queues_push_delivery_closed(d);
        }

        ngx_queues_push_delivery_free(d);
    }
}
