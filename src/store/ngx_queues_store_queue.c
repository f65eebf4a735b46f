
#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_QUEUE_ELTS    14


static ngx_int_t ngx_queues_store_queue_call(const char *function,
    ngx_str_t *root, ngx_str_t *args, ngx_uint_t nargs,
    ngx_queues_store_parse_pt parse, ngx_queues_store_done_pt done,
    void *data);
static ngx_int_t ngx_queues_store_queue_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_queue_parse_count(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_queue_parse_list(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_queue_parse_done(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_queue_elts(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_queue_t *queue);


/* names of the settings in queue_update, in the order of the enum */

static ngx_str_t  ngx_queues_store_settings[] = {
    ngx_string("vt"),
    ngx_string("wait"),
    ngx_string("ret"),
    ngx_string("delay"),
    ngx_string("max")
};


ngx_int_t
ngx_queues_store_queue_create(ngx_str_t *root, ngx_queues_store_queue_t *queue,
    ngx_queues_store_done_pt done, void *data)
{
    u_char      *p;
    u_char       buf[NGX_QUEUES_STORE_NSETTINGS * NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t    args[4 + NGX_QUEUES_STORE_NSETTINGS + 3];
    ngx_uint_t   i, n;

    n = 0;

    args[n++] = queue->id;
    args[n++] = queue->uuid;
    args[n++] = queue->name;
    args[n++] = queue->kind;

    p = buf;

    for (i = 0; i < NGX_QUEUES_STORE_NSETTINGS; i++) {
        p = ngx_queues_store_number_arg(&args[n++], p, queue->settings[i]);
    }

    /* no deduplication by content, no dead-letter queue */

    ngx_str_set(&args[n], "0");
    n++;

    ngx_str_null(&args[n]);
    n++;

    ngx_str_set(&args[n], "0");
    n++;

    return ngx_queues_store_queue_call("queue_create", root, args, n,
                                       ngx_queues_store_queue_parse, done,
                                       data);
}


ngx_int_t
ngx_queues_store_queue_get(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_queue_call("queue_get", root, ref, 1,
                                       ngx_queues_store_queue_parse, done,
                                       data);
}


ngx_int_t
ngx_queues_store_queue_count(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_queue_call("queue_count", root, ref, 1,
                                       ngx_queues_store_queue_parse_count,
                                       done, data);
}


ngx_int_t
ngx_queues_store_queue_list(ngx_str_t *root, ngx_str_t *prefix,
    ngx_str_t *after, ngx_uint_t limit, ngx_queues_store_done_pt done,
    void *data)
{
    u_char     buf[NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t  args[3];

    args[0] = *prefix;
    args[1] = *after;
    (void) ngx_queues_store_number_arg(&args[2], buf, limit);

    return ngx_queues_store_queue_call("queue_list", root, args, 3,
                                       ngx_queues_store_queue_parse_list,
                                       done, data);
}


ngx_int_t
ngx_queues_store_queue_update(ngx_str_t *root, ngx_str_t *ref,
    int64_t *settings, ngx_queues_store_done_pt done, void *data)
{
    u_char      *p;
    u_char       buf[NGX_QUEUES_STORE_NSETTINGS * NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t    args[1 + 2 * NGX_QUEUES_STORE_NSETTINGS];
    ngx_uint_t   i, n;

    n = 0;
    p = buf;

    args[n++] = *ref;

    for (i = 0; i < NGX_QUEUES_STORE_NSETTINGS; i++) {
        if (settings[i] < 0) {
            continue;
        }

        args[n++] = ngx_queues_store_settings[i];
        p = ngx_queues_store_number_arg(&args[n++], p, settings[i]);
    }

    return ngx_queues_store_queue_call("queue_update", root, args, n,
                                       ngx_queues_store_queue_parse, done,
                                       data);
}


ngx_int_t
ngx_queues_store_queue_purge(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_queue_call("queue_purge", root, ref, 1,
                                       ngx_queues_store_queue_parse_done,
                                       done, data);
}


ngx_int_t
ngx_queues_store_queue_delete(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_queue_call("queue_delete", root, ref, 1,
                                       ngx_queues_store_queue_parse_done,
                                       done, data);
}


static ngx_int_t
ngx_queues_store_queue_call(const char *function, ngx_str_t *root,
    ngx_str_t *args, ngx_uint_t nargs, ngx_queues_store_parse_pt parse,
    ngx_queues_store_done_pt done, void *data)
{
    ngx_queues_store_call_t  *call;

    call = ngx_queues_store_call_create(root, parse, done, data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    return ngx_queues_store_call_start(call, function, args, nargs);
}


static ngx_int_t
ngx_queues_store_queue_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    ngx_queues_store_queue_t  *queue;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts < NGX_QUEUES_STORE_QUEUE_ELTS)
    {
        return NGX_ERROR;
    }

    queue = ngx_pcalloc(reply->pool, sizeof(ngx_queues_store_queue_t));
    if (queue == NULL) {
        return NGX_ERROR;
    }

    result->queues = queue;
    result->nqueues = 1;

    return ngx_queues_store_queue_elts(reply->elts, queue);
}


static ngx_int_t
ngx_queues_store_queue_parse_count(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    int64_t                     more;
    ngx_queues_redis_reply_t   *elt;
    ngx_queues_store_counts_t  *counts;

    if (ngx_queues_store_queue_parse(call, reply, result) != NGX_OK
        || reply->nelts != NGX_QUEUES_STORE_QUEUE_ELTS + 5)
    {
        return NGX_ERROR;
    }

    elt = reply->elts + NGX_QUEUES_STORE_QUEUE_ELTS;
    counts = &result->counts;

    if (ngx_queues_store_integer(&elt[0], &more) != NGX_OK
        || ngx_queues_store_integer(&elt[1], &counts->visible) != NGX_OK
        || ngx_queues_store_integer(&elt[2], &counts->in_flight) != NGX_OK
        || ngx_queues_store_integer(&elt[3], &counts->delayed) != NGX_OK
        || ngx_queues_store_integer(&elt[4], &counts->oldest) != NGX_OK)
    {
        return NGX_ERROR;
    }

    result->more = (more != 0);

    return NGX_OK;
}


static ngx_int_t
ngx_queues_store_queue_parse_list(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    int64_t                    more;
    ngx_uint_t                 i, n;
    ngx_queues_redis_reply_t  *elt;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts == 0
        || (reply->nelts - 1) % NGX_QUEUES_STORE_QUEUE_ELTS
        || ngx_queues_store_integer(&reply->elts[0], &more) != NGX_OK)
    {
        return NGX_ERROR;
    }

    n = (reply->nelts - 1) / NGX_QUEUES_STORE_QUEUE_ELTS;

    result->more = (more != 0);
    result->nqueues = n;

    if (n == 0) {
        return NGX_OK;
    }

    result->queues = ngx_pcalloc(reply->pool,
                                 n * sizeof(ngx_queues_store_queue_t));
    if (result->queues == NULL) {
        return NGX_ERROR;
    }

    elt = reply->elts + 1;

    for (i = 0; i < n; i++) {
        if (ngx_queues_store_queue_elts(elt, &result->queues[i]) != NGX_OK) {
            return NGX_ERROR;
        }

        elt += NGX_QUEUES_STORE_QUEUE_ELTS;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_store_queue_parse_done(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    int64_t  n;

    return ngx_queues_store_integer(reply, &n);
}


/* Q id name kind vt wait ret delay max cbd dlq mrc ct ut */

static ngx_int_t
ngx_queues_store_queue_elts(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_queue_t *queue)
{
    ngx_uint_t  i;

    if (ngx_queues_store_string(&elts[0], &queue->id) != NGX_OK
        || ngx_queues_store_string(&elts[1], &queue->uuid) != NGX_OK
        || ngx_queues_store_string(&elts[2], &queue->name) != NGX_OK
        || ngx_queues_store_string(&elts[3], &queue->kind) != NGX_OK
        || ngx_queues_store_integer(&elts[12], &queue->created) != NGX_OK
        || ngx_queues_store_integer(&elts[13], &queue->updated) != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < NGX_QUEUES_STORE_NSETTINGS; i++) {
        if (ngx_queues_store_integer(&elts[4 + i], &queue->settings[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}
