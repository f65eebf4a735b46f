
/*
 * Who delivers: the workers of all nodes, and what each owns in a project.
 */

#include "ngx_queues_store_call.h"
#include "ngx_queues_store_maintain.h"


#define NGX_QUEUES_STORE_JOIN_ELTS   4     /* before the workers */
#define NGX_QUEUES_STORE_SYNC_ELTS   6     /* before what is released */
#define NGX_QUEUES_STORE_JOB_ELTS    11


static ngx_int_t ngx_queues_store_join_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_pushes_parse(
    ngx_queues_redis_reply_t *reply, ngx_uint_t from,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_sync_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_strings(ngx_queues_redis_reply_t *reply,
    ngx_uint_t from, ngx_uint_t n, ngx_str_t **strings);
static ngx_int_t ngx_queues_store_job_elts(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_job_t *job);


static ngx_queues_store_push_seen_pt  ngx_queues_store_push_handler;


void
ngx_queues_store_push_seen(ngx_queues_store_push_seen_pt handler)
{
    ngx_queues_store_push_handler = handler;
}


void
ngx_queues_store_push_saw(ngx_str_t *root, int64_t active)
{
    if (ngx_queues_store_push_handler) {
        ngx_queues_store_push_handler(root, active);
    }
}


ngx_int_t
ngx_queues_store_push_join(ngx_str_t *worker, uint64_t since,
    ngx_uint_t limit, ngx_queues_store_done_pt done, void *data)
{
    u_char     *p;
    u_char      buf[2 * NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t   args[3];

    args[0] = *worker;
    p = ngx_queues_store_number_arg(&args[1], buf, (int64_t) since);
    (void) ngx_queues_store_number_arg(&args[2], p, limit);

    return ngx_queues_store_push_call("push_join", args, 3,
                                      ngx_queues_store_join_parse, done, data);
}


ngx_int_t
ngx_queues_store_push_leave(ngx_str_t *worker, ngx_queues_store_done_pt done,
    void *data)
{
    return ngx_queues_store_push_call("push_leave", worker, 1,
                                      ngx_queues_store_integer_parse, done,
                                      data);
}


ngx_int_t
ngx_queues_store_push_call(const char *function, ngx_str_t *args,
    ngx_uint_t nargs, ngx_queues_store_parse_pt parse,
    ngx_queues_store_done_pt done, void *data)
{
    ngx_str_t  root;

    ngx_str_set(&root, NGX_QUEUES_STORE_PUSH_ROOT);

    /* it is no project: nothing is due there */

    return ngx_queues_store_call(function, &root, args, nargs,
                                 NGX_QUEUES_STORE_READS, parse, done, data);
}


ngx_int_t
ngx_queues_store_push_sync(ngx_str_t *root, ngx_str_t *worker,
    ngx_uint_t want, ngx_queues_store_done_pt done, void *data)
{
    u_char     buf[NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t  args[2];

    args[0] = *worker;
    (void) ngx_queues_store_number_arg(&args[1], buf, want);

    return ngx_queues_store_call("push_sync", root, args, 2,
                                 NGX_QUEUES_STORE_READS,
                                 ngx_queues_store_sync_parse, done, data);
}


/* since more next nworkers, the workers, then pairs of root and active */

static ngx_int_t
ngx_queues_store_join_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    int64_t   more;
    uint64_t  n;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts < NGX_QUEUES_STORE_JOIN_ELTS
        || ngx_queues_store_unsigned(&reply->elts[0], &result->since) != NGX_OK
        || ngx_queues_store_integer(&reply->elts[1], &more) != NGX_OK
        || ngx_queues_store_integer(&reply->elts[2], &result->next) != NGX_OK
        || ngx_queues_store_unsigned(&reply->elts[3], &n) != NGX_OK
        || n > reply->nelts - NGX_QUEUES_STORE_JOIN_ELTS
        || ngx_queues_store_strings(reply, NGX_QUEUES_STORE_JOIN_ELTS,
                                    (ngx_uint_t) n, &result->workers)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    result->more = (more != 0);
    result->nworkers = (ngx_uint_t) n;

    return ngx_queues_store_pushes_parse(reply, NGX_QUEUES_STORE_JOIN_ELTS
                                                + result->nworkers, result);
}


static ngx_int_t
ngx_queues_store_pushes_parse(ngx_queues_redis_reply_t *reply,
    ngx_uint_t from, ngx_queues_store_result_t *result)
{
    ngx_uint_t                  i, n;
    ngx_queues_redis_reply_t   *elt;
    ngx_queues_store_pushes_t  *pushes;

    n = reply->nelts - from;

    if (n % 2) {
        return NGX_ERROR;
    }

    n /= 2;

    if (n == 0) {
        return NGX_OK;
    }

    pushes = ngx_pcalloc(reply->pool, n * sizeof(ngx_queues_store_pushes_t));
    if (pushes == NULL) {
        return NGX_ERROR;
    }

    elt = reply->elts + from;

    for (i = 0; i < n; i++) {
        if (ngx_queues_store_string(elt++, &pushes[i].root) != NGX_OK
            || ngx_queues_store_integer(elt++, &pushes[i].active) != NGX_OK
            || pushes[i].active < 0)
        {
            return NGX_ERROR;
        }
    }

    result->pushes = pushes;
    result->npushes = n;

    return NGX_OK;
}


/* active owned free renewed next nreleased, ids, then jobs */

static ngx_int_t
ngx_queues_store_sync_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    int64_t                    renewed;
    uint64_t                   n;
    ngx_queues_redis_reply_t  *elt;

    elt = reply->elts;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts < NGX_QUEUES_STORE_SYNC_ELTS
        || ngx_queues_store_integer(&elt[0], &result->active) != NGX_OK
        || ngx_queues_store_integer(&elt[1], &result->owned) != NGX_OK
        || ngx_queues_store_integer(&elt[2], &result->free) != NGX_OK
        || ngx_queues_store_integer(&elt[3], &renewed) != NGX_OK
        || ngx_queues_store_integer(&elt[4], &result->next) != NGX_OK
        || ngx_queues_store_unsigned(&elt[5], &n) != NGX_OK
        || n > reply->nelts - NGX_QUEUES_STORE_SYNC_ELTS
        || ngx_queues_store_strings(reply, NGX_QUEUES_STORE_SYNC_ELTS,
                                    (ngx_uint_t) n, &result->released)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    result->renewed = (renewed != 0);
    result->nreleased = (ngx_uint_t) n;

    return ngx_queues_store_jobs_parse(reply, NGX_QUEUES_STORE_SYNC_ELTS
                                              + result->nreleased, result);
}


ngx_int_t
ngx_queues_store_jobs_parse(ngx_queues_redis_reply_t *reply, ngx_uint_t from,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t                 i, n;
    ngx_queues_redis_reply_t  *elt;

    n = reply->nelts - from;

    if (n % NGX_QUEUES_STORE_JOB_ELTS) {
        return NGX_ERROR;
    }

    n /= NGX_QUEUES_STORE_JOB_ELTS;

    if (n == 0) {
        return NGX_OK;
    }

    result->jobs = ngx_pcalloc(reply->pool,
                               n * sizeof(ngx_queues_store_job_t));
    if (result->jobs == NULL) {
        return NGX_ERROR;
    }

    elt = reply->elts + from;

    for (i = 0; i < n; i++) {
        if (ngx_queues_store_job_elts(elt, &result->jobs[i]) != NGX_OK) {
            return NGX_ERROR;
        }

        elt += NGX_QUEUES_STORE_JOB_ELTS;
    }

    result->njobs = n;

    return NGX_OK;
}


/*
 * K Q fence ver url to bs mc sec window x.  Whoever delivers counts with these
 * numbers, so they are looked at.
 */

static ngx_int_t
ngx_queues_store_job_elts(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_job_t *job)
{
    uint64_t                    window;
    ngx_queues_store_target_t  *target;

    target = &job->target;

    if (ngx_queues_store_short(&elts[0], &job->id) != NGX_OK
        || ngx_queues_store_short(&elts[1], &job->queue) != NGX_OK
        || ngx_queues_store_unsigned(&elts[2], &job->fence) != NGX_OK
        || ngx_queues_store_unsigned(&elts[3], &job->version) != NGX_OK
        || ngx_queues_store_string(&elts[4], &target->url) != NGX_OK
        || ngx_queues_store_integer(&elts[5], &target->timeout) != NGX_OK
        || ngx_queues_store_integer(&elts[6], &target->batch) != NGX_OK
        || ngx_queues_store_integer(&elts[7], &target->concurrency) != NGX_OK
        || ngx_queues_store_string(&elts[8], &job->secrets) != NGX_OK
        || ngx_queues_store_unsigned(&elts[9], &window) != NGX_OK
        || ngx_queues_store_string(&elts[10], &job->format) != NGX_OK
        || target->timeout < 1
        || target->batch < 1
        || target->batch > NGX_QUEUES_STORE_BATCH_MAX
        || target->concurrency < 1)
    {
        return NGX_ERROR;
    }

    job->window = (ngx_uint_t) window;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_store_strings(ngx_queues_redis_reply_t *reply, ngx_uint_t from,
    ngx_uint_t n, ngx_str_t **strings)
{
    ngx_str_t   *s;
    ngx_uint_t   i;

    if (n == 0) {
        return NGX_OK;
    }

    s = ngx_palloc(reply->pool, n * sizeof(ngx_str_t));
    if (s == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < n; i++) {
        if (ngx_queues_store_string(&reply->elts[from + i], &s[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    *strings = s;

    return NGX_OK;
}
