
#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_QUEUE_ELTS    14
#define NGX_QUEUES_STORE_COUNT_ELTS    10   /* of queue_count after these */


static ngx_int_t ngx_queues_store_queue_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_queue_parse_count(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_queue_parse_list(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_queue_parse_redrive(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_queue_parse_delete(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_queue_elts(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_queue_t *queue);


/* names of the settings in queue_update, in the order of the enum */

static ngx_str_t  ngx_queues_store_names[] = {
    ngx_string("vt"),
    ngx_string("wait"),
    ngx_string("ret"),
    ngx_string("delay"),
    ngx_string("max")
};


ngx_int_t
ngx_queues_store_queue_create(ngx_str_t *root, ngx_queues_store_queue_t *queue,
    ngx_queues_store_once_t *once, ngx_queues_store_done_pt done, void *data)
{
    u_char                       *p;
    u_char                        buf[(NGX_QUEUES_STORE_NSETTINGS + 2)
                                      * NGX_QUEUES_BASE_DECIMAL_MAX];
    u_char                        hex[NGX_QUEUES_STORE_ONCE_MAX];
    ngx_str_t                     args[4 + NGX_QUEUES_STORE_NSETTINGS + 5];
    ngx_uint_t                    i, n;
    ngx_queues_store_settings_t  *settings;

    settings = &queue->settings;

    n = 0;

    args[n++] = queue->id;
    args[n++] = queue->uuid;
    args[n++] = queue->name;
    args[n++] = queue->kind;

    p = buf;

    for (i = 0; i < NGX_QUEUES_STORE_NSETTINGS; i++) {
        p = ngx_queues_store_number_arg(&args[n++], p, settings->values[i]);
    }

    p = ngx_queues_store_number_arg(&args[n++], p, settings->by_content);
    args[n++] = settings->dead_letter;
    (void) ngx_queues_store_number_arg(&args[n++], p, settings->max_receives);

    if (once) {
        ngx_queues_store_once_args(&args[n], hex, once);
        n += 2;
    }

    return ngx_queues_store_call("queue_create", root, args, n,
                                 NGX_QUEUES_STORE_WRITES,
                                 ngx_queues_store_queue_parse, done,
                                 data);
}


ngx_int_t
ngx_queues_store_queue_get(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_call("queue_get", root, ref, 1,
                                 NGX_QUEUES_STORE_READS,
                                 ngx_queues_store_queue_parse, done,
                                 data);
}


ngx_int_t
ngx_queues_store_queue_count(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_call("queue_count", root, ref, 1,
                                 NGX_QUEUES_STORE_READS,
                                 ngx_queues_store_queue_parse_count, done,
                                 data);
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

    return ngx_queues_store_call("queue_list", root, args, 3,
                                 NGX_QUEUES_STORE_READS,
                                 ngx_queues_store_queue_parse_list, done,
                                 data);
}


ngx_int_t
ngx_queues_store_queue_update(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_settings_t *settings, ngx_queues_store_done_pt done,
    void *data)
{
    u_char      *p;
    u_char       buf[(NGX_QUEUES_STORE_NSETTINGS + 2)
                     * NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t    args[1 + 2 * (NGX_QUEUES_STORE_NSETTINGS + 3)];
    ngx_uint_t   i, n;

    n = 0;
    p = buf;

    args[n++] = *ref;

    for (i = 0; i < NGX_QUEUES_STORE_NSETTINGS; i++) {
        if (settings->values[i] < 0) {
            continue;
        }

        args[n++] = ngx_queues_store_names[i];
        p = ngx_queues_store_number_arg(&args[n++], p, settings->values[i]);
    }

    if (settings->by_content >= 0) {
        ngx_str_set(&args[n], "cbd");
        n++;

        p = ngx_queues_store_number_arg(&args[n++], p, settings->by_content);
    }

    if (settings->max_receives >= 0) {
        ngx_str_set(&args[n], "dlq");
        n++;

        args[n++] = settings->dead_letter;

        ngx_str_set(&args[n], "mrc");
        n++;

        (void) ngx_queues_store_number_arg(&args[n++], p,
                                           settings->max_receives);
    }

    return ngx_queues_store_call("queue_update", root, args, n,
                                 NGX_QUEUES_STORE_WRITES,
                                 ngx_queues_store_queue_parse, done,
                                 data);
}


ngx_int_t
ngx_queues_store_queue_purge(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_call("queue_purge", root, ref, 1,
                                 NGX_QUEUES_STORE_WRITES,
                                 ngx_queues_store_integer_parse, done,
                                 data);
}


ngx_int_t
ngx_queues_store_queue_delete(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_call("queue_delete", root, ref, 1,
                                 NGX_QUEUES_STORE_TELLS,
                                 ngx_queues_store_queue_parse_delete, done,
                                 data);
}


ngx_int_t
ngx_queues_store_queue_redrive(ngx_str_t *root, ngx_str_t *ref,
    ngx_str_t *destination, ngx_uint_t limit, ngx_queues_store_done_pt done,
    void *data)
{
    u_char     buf[NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t  args[3];

    args[0] = *ref;
    args[1] = *destination;
    (void) ngx_queues_store_number_arg(&args[2], buf, limit);

    return ngx_queues_store_call("redrive", root, args, 3,
                                 NGX_QUEUES_STORE_WRITES,
                                 ngx_queues_store_queue_parse_redrive, done,
                                 data);
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

    if (ngx_queues_store_queue_elts(reply->elts, queue) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_queues_base_short_parse(&queue->id, &result->place.queue);
}


static ngx_int_t
ngx_queues_store_queue_parse_count(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    int64_t                     more;
    ngx_queues_redis_reply_t   *elt;
    ngx_queues_store_counts_t  *counts;

    if (ngx_queues_store_queue_parse(call, reply, result) != NGX_OK
        || reply->nelts != NGX_QUEUES_STORE_QUEUE_ELTS
                           + NGX_QUEUES_STORE_COUNT_ELTS)
    {
        return NGX_ERROR;
    }

    elt = reply->elts + NGX_QUEUES_STORE_QUEUE_ELTS;
    counts = &result->counts;

    if (ngx_queues_store_integer(&elt[0], &more) != NGX_OK
        || ngx_queues_store_integer(&elt[1], &counts->visible) != NGX_OK
        || ngx_queues_store_integer(&elt[2], &counts->in_flight) != NGX_OK
        || ngx_queues_store_integer(&elt[3], &counts->delayed) != NGX_OK
        || ngx_queues_store_integer(&elt[4], &counts->oldest) != NGX_OK
        || ngx_queues_store_integer(&elt[5], &counts->sources) != NGX_OK
        || ngx_queues_store_totals(&elt[6], &result->totals) != NGX_OK)
    {
        return NGX_ERROR;
    }

    result->more = (more != 0);

    return NGX_OK;
}


/* sent acknowledged expired deadLettered */

ngx_int_t
ngx_queues_store_totals(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_totals_t *totals)
{
    if (ngx_queues_store_unsigned(&elts[0], &totals->sent) != NGX_OK
        || ngx_queues_store_unsigned(&elts[1], &totals->acknowledged)
           != NGX_OK
        || ngx_queues_store_unsigned(&elts[2], &totals->expired) != NGX_OK
        || ngx_queues_store_unsigned(&elts[3], &totals->dead_lettered)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

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


/* moved remaining more */

static ngx_int_t
ngx_queues_store_queue_parse_redrive(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    int64_t  more;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts != 3
        || ngx_queues_store_integer(&reply->elts[0], &result->moved) != NGX_OK
        || ngx_queues_store_integer(&reply->elts[1], &result->remaining)
           != NGX_OK
        || ngx_queues_store_integer(&reply->elts[2], &more) != NGX_OK)
    {
        return NGX_ERROR;
    }

    result->more = (more != 0);

    return NGX_OK;
}


/* 1, or where a subscription went with it: 1 active */

static ngx_int_t
ngx_queues_store_queue_parse_delete(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    int64_t  n;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY) {
        result->active = -1;

        return ngx_queues_store_integer(reply, &n);
    }

    if (reply->nelts != 2
        || ngx_queues_store_integer(&reply->elts[0], &n) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_store_integer(&reply->elts[1], &result->active);
}


/* Q id name kind vt wait ret delay max cbd dlq mrc ct ut */

static ngx_int_t
ngx_queues_store_queue_elts(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_queue_t *queue)
{
    ngx_uint_t                    i;
    ngx_queues_store_settings_t  *settings;

    settings = &queue->settings;

    if (ngx_queues_store_string(&elts[0], &queue->id) != NGX_OK
        || ngx_queues_store_string(&elts[1], &queue->uuid) != NGX_OK
        || ngx_queues_store_string(&elts[2], &queue->name) != NGX_OK
        || ngx_queues_store_string(&elts[3], &queue->kind) != NGX_OK
        || ngx_queues_store_integer(&elts[9], &settings->by_content) != NGX_OK
        || ngx_queues_store_string(&elts[10], &settings->dead_letter)
           != NGX_OK
        || ngx_queues_store_integer(&elts[11], &settings->max_receives)
           != NGX_OK
        || ngx_queues_store_integer(&elts[12], &queue->created) != NGX_OK
        || ngx_queues_store_integer(&elts[13], &queue->updated) != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < NGX_QUEUES_STORE_NSETTINGS; i++) {
        if (ngx_queues_store_integer(&elts[4 + i], &settings->values[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}
