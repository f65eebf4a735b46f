
#include "ngx_queues_store_metrics.h"
#include "ngx_queues_store_maintain.h"
#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_METRICS_HEAD  6     /* elements before the queues */
#define NGX_QUEUES_STORE_METRICS_ELTS  11    /* of each */


static ngx_int_t ngx_queues_store_metrics_projects_parse(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_metrics_project(ngx_str_t *root,
    ngx_queues_store_metrics_project_t *project);
static ngx_int_t ngx_queues_store_metrics_queues_parse(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_metrics_queue(
    ngx_queues_redis_reply_t *elts, ngx_queues_store_metrics_queue_t *queue);
static void ngx_queues_store_metrics_forget(ngx_str_t *root);
static void ngx_queues_store_metrics_forget_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_store_metrics_forgotten(void *data,
    ngx_queues_store_result_t *result);


static ngx_str_t  ngx_queues_store_known = ngx_string(NGX_QUEUES_STORE_KNOWN);


ngx_int_t
ngx_queues_store_metrics_projects_start(ngx_str_t *cursor, ngx_uint_t limit,
    ngx_queues_store_done_pt done, void *data)
{
    u_char     buf[NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t  args[2];

    args[0] = *cursor;
    (void) ngx_queues_store_number_arg(&args[1], buf, limit);

    return ngx_queues_store_call("known_list", &ngx_queues_store_known, args,
                                 2, NGX_QUEUES_STORE_READS,
                                 ngx_queues_store_metrics_projects_parse, done,
                                 data);
}


/* cursor, then roots */

static ngx_int_t
ngx_queues_store_metrics_projects_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    ngx_str_t                            root;
    ngx_uint_t                           i;
    ngx_queues_store_metrics_t          *metrics;
    ngx_queues_store_metrics_project_t  *project;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY || reply->nelts == 0) {
        return NGX_ERROR;
    }

    metrics = ngx_pcalloc(reply->pool,
                          sizeof(ngx_queues_store_metrics_t)
                          + (reply->nelts - 1)
                            * sizeof(ngx_queues_store_metrics_project_t));
    if (metrics == NULL) {
        return NGX_ERROR;
    }

    result->metrics = metrics;
    metrics->projects = (ngx_queues_store_metrics_project_t *) &metrics[1];

    if (ngx_queues_store_string(&reply->elts[0], &metrics->next) != NGX_OK) {
        return NGX_ERROR;
    }

    for (i = 1; i < reply->nelts; i++) {

        if (ngx_queues_store_string(&reply->elts[i], &root) != NGX_OK) {
            return NGX_ERROR;
        }

        project = &metrics->projects[metrics->nprojects];

        /* what others wrote there is left alone */

        if (ngx_queues_store_metrics_project(&root, project) == NGX_OK) {
            metrics->nprojects++;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_store_metrics_project(ngx_str_t *root,
    ngx_queues_store_metrics_project_t *project)
{
    size_t   len;
    u_char  *slash, *start, *last;

    len = sizeof(NGX_QUEUES_STORE_ROOT_PREFIX) - 1;

    if (root->len <= len
        || ngx_memcmp(root->data, NGX_QUEUES_STORE_ROOT_PREFIX, len) != 0
        || root->data[root->len - 1] != '}')
    {
        return NGX_DECLINED;
    }

    start = root->data + len;
    last = root->data + root->len - 1;

    slash = ngx_strlchr(start, last, '/');
    if (slash == NULL) {
        return NGX_DECLINED;
    }

    project->root = *root;
    project->organization.data = start;
    project->organization.len = slash - start;
    project->project.data = slash + 1;
    project->project.len = last - slash - 1;

    return NGX_OK;
}


ngx_int_t
ngx_queues_store_metrics_queues_start(ngx_str_t *root, ngx_str_t *cursor,
    ngx_uint_t limit, ngx_queues_store_done_pt done, void *data)
{
    u_char     buf[NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t  args[2];

    args[0] = *cursor;
    (void) ngx_queues_store_number_arg(&args[1], buf, limit);

    return ngx_queues_store_call("metrics_queues", root, args, 2,
                                 NGX_QUEUES_STORE_READS,
                                 ngx_queues_store_metrics_queues_parse, done,
                                 data);
}


/* cursor all expired deadLettered dropped nothing, then queues */

static ngx_int_t
ngx_queues_store_metrics_queues_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    uint64_t                     nothing;
    ngx_uint_t                   i, n;
    ngx_queues_redis_reply_t    *elt;
    ngx_queues_store_metrics_t  *metrics;

    n = NGX_QUEUES_STORE_METRICS_HEAD;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts < n
        || (reply->nelts - n) % NGX_QUEUES_STORE_METRICS_ELTS)
    {
        return NGX_ERROR;
    }

    n = (reply->nelts - n) / NGX_QUEUES_STORE_METRICS_ELTS;

    metrics = ngx_pcalloc(reply->pool,
                          sizeof(ngx_queues_store_metrics_t)
                          + n * sizeof(ngx_queues_store_metrics_queue_t));
    if (metrics == NULL) {
        return NGX_ERROR;
    }

    result->metrics = metrics;
    metrics->queues = (ngx_queues_store_metrics_queue_t *) &metrics[1];
    metrics->nqueues = n;

    elt = reply->elts;

    if (ngx_queues_store_string(&elt[0], &metrics->next) != NGX_OK
        || ngx_queues_store_unsigned(&elt[1], &metrics->all) != NGX_OK
        || ngx_queues_store_unsigned(&elt[2], &metrics->totals.expired)
           != NGX_OK
        || ngx_queues_store_unsigned(&elt[3], &metrics->totals.dead_lettered)
           != NGX_OK
        || ngx_queues_store_unsigned(&elt[4], &metrics->totals.dropped)
           != NGX_OK
        || ngx_queues_store_unsigned(&elt[5], &nothing) != NGX_OK)
    {
        return NGX_ERROR;
    }

    elt += NGX_QUEUES_STORE_METRICS_HEAD;

    for (i = 0; i < n; i++) {
        if (ngx_queues_store_metrics_queue(elt, &metrics->queues[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        elt += NGX_QUEUES_STORE_METRICS_ELTS;
    }

    if (nothing) {
        ngx_queues_store_metrics_forget(&call->root);
    }

    return NGX_OK;
}


/*
 * name kind visible inFlight delayed oldest
 *     sent acknowledged expired deadLettered dropped
 */

static ngx_int_t
ngx_queues_store_metrics_queue(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_metrics_queue_t *queue)
{
    ngx_queues_store_counts_t  *counts;
    ngx_queues_store_totals_t  *totals;

    counts = &queue->counts;
    totals = &queue->totals;

    if (ngx_queues_store_string(&elts[0], &queue->name) != NGX_OK
        || ngx_queues_store_string(&elts[1], &queue->kind) != NGX_OK
        || ngx_queues_store_integer(&elts[2], &counts->visible) != NGX_OK
        || ngx_queues_store_integer(&elts[3], &counts->in_flight) != NGX_OK
        || ngx_queues_store_integer(&elts[4], &counts->delayed) != NGX_OK
        || ngx_queues_store_integer(&elts[5], &counts->oldest) != NGX_OK
        || ngx_queues_store_unsigned(&elts[10], &totals->dropped) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_store_totals(&elts[6], totals);
}


/*
 * A project that has nothing is forgotten when it was so for a while, and what
 * was counted of it goes then.  Nobody waits for this: where it fails the next
 * one who looks does it.
 */

static void
ngx_queues_store_metrics_forget(ngx_str_t *root)
{
    ngx_str_t                *copy;
    ngx_queues_store_call_t  *call;

    copy = ngx_alloc(sizeof(ngx_str_t) + root->len, ngx_cycle->log);
    if (copy == NULL) {
        return;
    }

    copy->len = root->len;
    copy->data = (u_char *) copy + sizeof(ngx_str_t);
    ngx_memcpy(copy->data, root->data, root->len);

    call = ngx_queues_store_call_create(&ngx_queues_store_known,
                                        ngx_queues_store_rows_parse,
                                        ngx_queues_store_metrics_forget_done,
                                        copy);
    if (call == NULL) {
        ngx_free(copy);
        return;
    }

    call->reads = 1;
    call->shape = "n";

    if (ngx_queues_store_call_start(call, "known_forget", copy, 1) != NGX_OK)
    {
        ngx_free(copy);
    }
}


static void
ngx_queues_store_metrics_forget_done(void *data,
    ngx_queues_store_result_t *result)
{
    ngx_str_t *root = data;

    if (result->code == NGX_QUEUES_STORE_OK && result->values[0].number) {
        (void) ngx_queues_store_call("metrics_forget", root, NULL, 0,
                                     NGX_QUEUES_STORE_READS,
                                     ngx_queues_store_integer_parse,
                                     ngx_queues_store_metrics_forgotten, NULL);
    }

    ngx_free(root);
}


static void
ngx_queues_store_metrics_forgotten(void *data,
    ngx_queues_store_result_t *result)
{
    /* the next one who looks does what was not done */
}
