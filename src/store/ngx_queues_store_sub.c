
/* Pub/Sub: subscriptions. */

#include "ngx_queues_store_pubsub_call.h"


#define NGX_QUEUES_STORE_SUB_SHAPE    "snsssnnn"

/* of create, the longer one */
#define NGX_QUEUES_STORE_SUB_ARGS     16
#define NGX_QUEUES_STORE_SUB_NUMBERS  7
#define NGX_QUEUES_STORE_SUB_FLAGS    3


typedef struct {
    ngx_uint_t                n;
    ngx_str_t                 args[NGX_QUEUES_STORE_SUB_ARGS];
    u_char                   *p;
    u_char                    text[NGX_QUEUES_STORE_SUB_FLAGS
                                   + NGX_QUEUES_STORE_SUB_NUMBERS
                                     * NGX_QUEUES_BASE_DECIMAL_MAX];
} ngx_queues_store_sub_args_t;


static void ngx_queues_store_sub_number(ngx_queues_store_sub_args_t *args,
    int64_t n);
static void ngx_queues_store_sub_settings(ngx_queues_store_sub_args_t *args,
    ngx_queues_store_sub_t *sub, ngx_uint_t create);
static void ngx_queues_store_sub_push(ngx_queues_store_sub_args_t *args,
    ngx_queues_store_sub_t *sub);


ngx_int_t
ngx_queues_store_sub_create(ngx_str_t *root, ngx_queues_store_sub_t *sub,
    ngx_queues_store_done_pt done, void *data)
{
    ngx_queues_store_sub_args_t  args;

    args.n = 0;
    args.p = args.text;

    args.args[args.n++] = sub->id;
    args.args[args.n++] = sub->name;
    args.args[args.n++] = sub->topic;

    ngx_queues_store_sub_settings(&args, sub, 1);
    args.args[args.n++] = sub->filter;
    ngx_queues_store_sub_push(&args, sub);

    return ngx_queues_store_pubsub_call("sub_create",
                                        "i" NGX_QUEUES_STORE_SUB_SHAPE,
                                        NGX_QUEUES_STORE_TELLS, root,
                                        args.args, args.n, done, data);
}


ngx_int_t
ngx_queues_store_sub_update(ngx_str_t *root, ngx_queues_store_sub_t *sub,
    uint64_t version, ngx_queues_store_done_pt done, void *data)
{
    ngx_queues_store_sub_args_t  args;

    args.n = 0;
    args.p = args.text;

    args.args[args.n++] = sub->name;
    ngx_queues_store_sub_number(&args, (int64_t) version);

    ngx_queues_store_sub_settings(&args, sub, 0);
    ngx_queues_store_sub_push(&args, sub);

    return ngx_queues_store_pubsub_call("sub_update",
                                        "i" NGX_QUEUES_STORE_SUB_SHAPE,
                                        NGX_QUEUES_STORE_TELLS, root,
                                        args.args, args.n, done, data);
}


static void
ngx_queues_store_sub_number(ngx_queues_store_sub_args_t *args, int64_t n)
{
    args->p = ngx_queues_store_number_arg(&args->args[args->n++], args->p, n);
}


/* cfg vt ret mrc dlq min max flags */

static void
ngx_queues_store_sub_settings(ngx_queues_store_sub_args_t *args,
    ngx_queues_store_sub_t *sub, ngx_uint_t create)
{
    ngx_str_t  *flags;

    args->args[args->n++] = sub->members;

    ngx_queues_store_sub_number(args, sub->deadline);
    ngx_queues_store_sub_number(args, sub->retention);

    ngx_queues_store_sub_number(args, sub->max_attempts
                                      ? sub->max_attempts : -1);
    args->args[args->n++] = sub->dead_letter;

    ngx_queues_store_sub_number(args, sub->min_backoff);
    ngx_queues_store_sub_number(args, sub->max_backoff);

    flags = &args->args[args->n++];
    flags->data = args->p;

    if (create && sub->ordered) {
        *args->p++ = 'o';
    }

    if (sub->once) {
        *args->p++ = 'e';
    }

    if (sub->retains) {
        *args->p++ = 'r';
    }

    flags->len = args->p - flags->data;
}


/* ttl K url x */

static void
ngx_queues_store_sub_push(ngx_queues_store_sub_args_t *args,
    ngx_queues_store_sub_t *sub)
{
    ngx_queues_store_sub_number(args, sub->ttl);

    args->args[args->n++] = sub->push_id;
    args->args[args->n++] = sub->url;
    args->args[args->n++] = sub->extra;
}


ngx_int_t
ngx_queues_store_sub_get(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_pubsub_call("sub_get", NGX_QUEUES_STORE_SUB_SHAPE,
                                        NGX_QUEUES_STORE_READS, root, name, 1,
                                        done, data);
}


ngx_int_t
ngx_queues_store_sub_count(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_pubsub_call("sub_count", "nnninnnnn",
                                        NGX_QUEUES_STORE_READS, root, name, 1,
                                        done, data);
}


ngx_int_t
ngx_queues_store_sub_list(ngx_str_t *root, ngx_str_t *after,
    ngx_uint_t limit, ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_pubsub_list("sub_list",
                                        "n*" NGX_QUEUES_STORE_SUB_SHAPE,
                                        root, after, limit, done, data);
}


ngx_int_t
ngx_queues_store_sub_delete(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_pubsub_call("sub_delete", "i",
                                        NGX_QUEUES_STORE_TELLS, root, name, 1,
                                        done, data);
}


ngx_int_t
ngx_queues_store_sub_detach(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_pubsub_call("sub_detach",
                                        "i" NGX_QUEUES_STORE_SUB_SHAPE,
                                        NGX_QUEUES_STORE_TELLS, root, name, 1,
                                        done, data);
}


ngx_int_t
ngx_queues_store_sub_seek_time(ngx_str_t *root, ngx_str_t *name, uint64_t ms,
    ngx_queues_store_done_pt done, void *data)
{
    u_char     buf[NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t  args[3];

    args[0] = *name;
    ngx_str_set(&args[1], "t");
    (void) ngx_queues_store_number_arg(&args[2], buf, (int64_t) ms);

    return ngx_queues_store_pubsub_call("sub_seek", "n",
                                        NGX_QUEUES_STORE_WRITES, root, args, 3,
                                        done, data);
}


ngx_int_t
ngx_queues_store_sub_seek_snap(ngx_str_t *root, ngx_str_t *name,
    ngx_str_t *snap, ngx_queues_store_done_pt done, void *data)
{
    ngx_str_t  args[3];

    args[0] = *name;
    ngx_str_set(&args[1], "s");
    args[2] = *snap;

    return ngx_queues_store_pubsub_call("sub_seek", "n",
                                        NGX_QUEUES_STORE_WRITES, root, args, 3,
                                        done, data);
}
