
/* Pub/Sub: topics and snapshots. */

#include "ngx_queues_store_pubsub_call.h"


#define NGX_QUEUES_STORE_TOPIC_SHAPE  "snss"
#define NGX_QUEUES_STORE_SNAP_SHAPE   "snssns"


static ngx_int_t ngx_queues_store_pubsub_changed(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_pubsub_listed(const char *function,
    const char *shape, ngx_str_t *root, ngx_str_t *name, ngx_str_t *after,
    ngx_uint_t limit, ngx_queues_store_done_pt done, void *data);


ngx_int_t
ngx_queues_store_pubsub_call(const char *function, const char *shape,
    ngx_queues_store_kind_e kind, ngx_str_t *root, ngx_str_t *args,
    ngx_uint_t nargs, ngx_queues_store_done_pt done, void *data)
{
    ngx_queues_store_call_t  *call;

    call = ngx_queues_store_call_create(root,
                                        kind == NGX_QUEUES_STORE_TELLS
                                        ? ngx_queues_store_pubsub_changed
                                        : ngx_queues_store_rows_parse,
                                        done, data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    call->shape = shape;
    call->reads = (kind == NGX_QUEUES_STORE_READS);
    call->tells = (kind == NGX_QUEUES_STORE_TELLS);

    return ngx_queues_store_call_start(call, function, args, nargs);
}


/* of one that tells */

static ngx_int_t
ngx_queues_store_pubsub_changed(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    if (ngx_queues_store_rows_parse(call, reply, result) != NGX_OK) {
        return NGX_ERROR;
    }

    result->active = (int64_t) result->values[0].number;

    return NGX_OK;
}


ngx_int_t
ngx_queues_store_pubsub_list(const char *function, const char *shape,
    ngx_str_t *root, ngx_str_t *after, ngx_uint_t limit,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_pubsub_listed(function, shape, root, NULL, after,
                                          limit, done, data);
}


static ngx_int_t
ngx_queues_store_pubsub_listed(const char *function, const char *shape,
    ngx_str_t *root, ngx_str_t *name, ngx_str_t *after, ngx_uint_t limit,
    ngx_queues_store_done_pt done, void *data)
{
    u_char      buf[NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t   args[3];
    ngx_uint_t  n;

    n = 0;

    if (name) {
        args[n++] = *name;
    }

    args[n++] = *after;
    (void) ngx_queues_store_number_arg(&args[n++], buf, limit);

    return ngx_queues_store_pubsub_call(function, shape,
                                        NGX_QUEUES_STORE_READS, root, args, n,
                                        done, data);
}


ngx_int_t
ngx_queues_store_topic_create(ngx_str_t *root,
    ngx_queues_store_topic_t *topic, ngx_queues_store_done_pt done, void *data)
{
    u_char     buf[NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t  args[4];

    args[0] = topic->id;
    args[1] = topic->name;
    args[2] = topic->members;
    (void) ngx_queues_store_number_arg(&args[3], buf, topic->retention);

    return ngx_queues_store_pubsub_call("topic_create",
                                        NGX_QUEUES_STORE_TOPIC_SHAPE,
                                        NGX_QUEUES_STORE_WRITES, root, args, 4,
                                        done, data);
}


ngx_int_t
ngx_queues_store_topic_get(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_pubsub_call("topic_get",
                                        NGX_QUEUES_STORE_TOPIC_SHAPE,
                                        NGX_QUEUES_STORE_READS, root, name, 1,
                                        done, data);
}


ngx_int_t
ngx_queues_store_topic_update(ngx_str_t *root,
    ngx_queues_store_topic_t *topic, uint64_t version,
    ngx_queues_store_done_pt done, void *data)
{
    u_char     *p;
    u_char      buf[2 * NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t   args[4];

    args[0] = topic->name;
    p = ngx_queues_store_number_arg(&args[1], buf, (int64_t) version);
    args[2] = topic->members;
    (void) ngx_queues_store_number_arg(&args[3], p, topic->retention);

    return ngx_queues_store_pubsub_call("topic_update",
                                        NGX_QUEUES_STORE_TOPIC_SHAPE,
                                        NGX_QUEUES_STORE_WRITES, root, args, 4,
                                        done, data);
}


ngx_int_t
ngx_queues_store_topic_delete(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_pubsub_call("topic_delete", "n",
                                        NGX_QUEUES_STORE_WRITES, root, name, 1,
                                        done, data);
}


ngx_int_t
ngx_queues_store_topic_list(ngx_str_t *root, ngx_str_t *after,
    ngx_uint_t limit, ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_pubsub_list("topic_list",
                                        "n*" NGX_QUEUES_STORE_TOPIC_SHAPE,
                                        root, after, limit, done, data);
}


ngx_int_t
ngx_queues_store_topic_subs(ngx_str_t *root, ngx_str_t *name,
    ngx_str_t *after, ngx_uint_t limit, ngx_queues_store_done_pt done,
    void *data)
{
    return ngx_queues_store_pubsub_listed("topic_subs", "n*s", root, name,
                                          after, limit, done, data);
}


ngx_int_t
ngx_queues_store_topic_snaps(ngx_str_t *root, ngx_str_t *name,
    ngx_str_t *after, ngx_uint_t limit, ngx_queues_store_done_pt done,
    void *data)
{
    return ngx_queues_store_pubsub_listed("topic_snaps", "n*s", root, name,
                                          after, limit, done, data);
}


ngx_int_t
ngx_queues_store_snap_create(ngx_str_t *root, ngx_queues_store_snap_t *snap,
    ngx_queues_store_done_pt done, void *data)
{
    ngx_str_t  args[4];

    args[0] = snap->id;
    args[1] = snap->name;
    args[2] = snap->sub;
    args[3] = snap->members;

    return ngx_queues_store_pubsub_call("snap_create",
                                        NGX_QUEUES_STORE_SNAP_SHAPE,
                                        NGX_QUEUES_STORE_WRITES, root, args, 4,
                                        done, data);
}


ngx_int_t
ngx_queues_store_snap_get(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_pubsub_call("snap_get",
                                        NGX_QUEUES_STORE_SNAP_SHAPE,
                                        NGX_QUEUES_STORE_READS, root, name, 1,
                                        done, data);
}


ngx_int_t
ngx_queues_store_snap_list(ngx_str_t *root, ngx_str_t *after,
    ngx_uint_t limit, ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_pubsub_list("snap_list",
                                        "n*" NGX_QUEUES_STORE_SNAP_SHAPE,
                                        root, after, limit, done, data);
}


ngx_int_t
ngx_queues_store_snap_update(ngx_str_t *root, ngx_queues_store_snap_t *snap,
    uint64_t version, ngx_queues_store_done_pt done, void *data)
{
    u_char     buf[NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t  args[3];

    args[0] = snap->name;
    (void) ngx_queues_store_number_arg(&args[1], buf, (int64_t) version);
    args[2] = snap->members;

    return ngx_queues_store_pubsub_call("snap_update",
                                        NGX_QUEUES_STORE_SNAP_SHAPE,
                                        NGX_QUEUES_STORE_WRITES, root, args, 3,
                                        done, data);
}


ngx_int_t
ngx_queues_store_snap_delete(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_pubsub_call("snap_delete", "n",
                                        NGX_QUEUES_STORE_WRITES, root, name, 1,
                                        done, data);
}
