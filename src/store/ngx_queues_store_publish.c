
/* Pub/Sub: messages. */

#include "ngx_queues_store_pubsub_call.h"


/* Q G token ids */
#define NGX_QUEUES_STORE_SUB_GROUP  4

/* of the two numbers before a message's ordering key */
#define NGX_QUEUES_STORE_META_MAX   (2 * (NGX_QUEUES_BASE_DECIMAL_MAX + 1))


static ngx_int_t ngx_queues_store_publish_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static u_char *ngx_queues_store_publish_meta(ngx_str_t *arg, u_char *p,
    ngx_queues_store_publish_t *message);
static ngx_int_t ngx_queues_store_pull_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static void ngx_queues_store_pull_late(ngx_queues_store_call_t *call,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_pull_flags(ngx_queues_redis_reply_t *elt,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_sub_receipts(const char *function,
    ngx_str_t *root, ngx_str_t *name, int64_t seconds,
    ngx_queues_store_receipt_t *receipts, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data);
static ngx_uint_t ngx_queues_store_sub_groups(ngx_str_t *args, u_char *p,
    ngx_queues_store_receipt_t *receipts, ngx_uint_t n);
static ngx_int_t ngx_queues_store_sub_receipts_parse(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);


ngx_int_t
ngx_queues_store_topic_publish(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_publish_t *messages, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data)
{
    size_t                    size;
    u_char                   *p;
    ngx_int_t                 rc;
    ngx_str_t                *args;
    ngx_uint_t                i, nargs;
    ngx_queues_store_call_t  *call;

    nargs = 1 + 2 * n;
    size = nargs * sizeof(ngx_str_t);

    for (i = 0; i < n; i++) {
        size += NGX_QUEUES_STORE_META_MAX + messages[i].key.len;
    }

    args = ngx_alloc(size, ngx_cycle->log);
    if (args == NULL) {
        return NGX_ERROR;
    }

    args[0] = *name;
    p = (u_char *) &args[nargs];

    for (i = 0; i < n; i++) {
        args[1 + 2 * i] = messages[i].body;
        p = ngx_queues_store_publish_meta(&args[2 + 2 * i], p, &messages[i]);
    }

    call = ngx_queues_store_call_create(root, ngx_queues_store_publish_parse,
                                        done, data);
    rc = NGX_ERROR;

    if (call) {
        call->durable = 1;
        rc = ngx_queues_store_call_start(call, "topic_publish", args, nargs);
    }

    ngx_free(args);

    return rc;
}


/* empty or "AT:LEN:KEY" */

static u_char *
ngx_queues_store_publish_meta(ngx_str_t *arg, u_char *p,
    ngx_queues_store_publish_t *message)
{
    arg->data = p;

    if (message->attributes || message->key.len) {
        p = ngx_queues_base_decimal_print(p, message->attributes);
        *p++ = ':';
        p = ngx_queues_base_decimal_print(p, message->length);
        *p++ = ':';
        p = ngx_cpymem(p, message->key.data, message->key.len);
    }

    arg->len = p - arg->data;

    return p;
}


static ngx_int_t
ngx_queues_store_publish_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    ngx_str_t  text;

    if (ngx_queues_store_string(reply, &text) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_queues_store_spot(&text, &result->spot);
}


u_char *
ngx_queues_store_pubsub_id(u_char *p, ngx_queues_base_spot_t *spot,
    ngx_uint_t n)
{
    u_char     digits[NGX_QUEUES_BASE_DECIMAL_MAX], *last;
    ngx_int_t  pad;

    p = ngx_queues_base_decimal_print(p, spot->major);

    last = ngx_queues_base_decimal_print(digits, spot->minor + n);
    pad = NGX_QUEUES_STORE_PUBSUB_DIGITS - (last - digits);

    while (pad-- > 0) {
        *p++ = '0';
    }

    return ngx_cpymem(p, digits, last - digits);
}


ngx_int_t
ngx_queues_store_sub_pull(ngx_str_t *root, ngx_str_t *name, ngx_uint_t max,
    int64_t wait, ngx_queues_store_done_pt done, void *data)
{
    u_char                   *p;
    u_char                    buf[3 * NGX_QUEUES_BASE_DECIMAL_MAX];
    uint64_t                  token;
    ngx_str_t                 args[4];
    ngx_queues_store_call_t  *call;

    if (ngx_queues_store_token(&token) != NGX_OK) {
        return NGX_ERROR;
    }

    call = ngx_queues_store_call_create(root, ngx_queues_store_pull_parse,
                                        done, data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    call->token = token;
    call->late = ngx_queues_store_pull_late;

    args[0] = *name;
    p = ngx_queues_store_number_arg(&args[1], buf, max);
    p = ngx_queues_store_number_arg(&args[2], p, wait);
    (void) ngx_queues_store_number_arg(&args[3], p, token);

    return ngx_queues_store_call_start(call, "sub_pull", args, 4);
}


static ngx_int_t
ngx_queues_store_pull_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts == 0
        || ngx_queues_store_pull_flags(&reply->elts[0], result) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_store_messages_parse(reply, 1, result);
}


static void
ngx_queues_store_pull_late(ngx_queues_store_call_t *call,
    ngx_queues_store_result_t *result)
{
    ngx_queues_store_undo_all(&call->root, result);
}


static ngx_int_t
ngx_queues_store_pull_flags(ngx_queues_redis_reply_t *elt,
    ngx_queues_store_result_t *result)
{
    size_t     i;
    ngx_str_t  flags;

    if (ngx_queues_store_string(elt, &flags) != NGX_OK) {
        return NGX_ERROR;
    }

    for (i = 0; i < flags.len; i++) {

        switch (flags.data[i]) {

        case 'd':
            result->dead_letters = 1;
            break;

        case 'e':
            result->once = 1;
            break;

        default:
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_store_sub_ack(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_receipt_t *receipts, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_sub_receipts("sub_ack", root, name, -1, receipts,
                                         n, done, data);
}


ngx_int_t
ngx_queues_store_sub_modify(ngx_str_t *root, ngx_str_t *name, int64_t seconds,
    ngx_queues_store_receipt_t *receipts, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_sub_receipts("sub_modify", root, name, seconds,
                                         receipts, n, done, data);
}


/* seconds: -1 for a function that has none */

static ngx_int_t
ngx_queues_store_sub_receipts(const char *function, ngx_str_t *root,
    ngx_str_t *name, int64_t seconds, ngx_queues_store_receipt_t *receipts,
    ngx_uint_t n, ngx_queues_store_done_pt done, void *data)
{
    u_char                   *p;
    ngx_int_t                 rc;
    ngx_str_t                *args;
    ngx_uint_t                k, max;
    ngx_queues_store_call_t  *call;

    max = 2 + n * NGX_QUEUES_STORE_SUB_GROUP;

    args = ngx_alloc(max * sizeof(ngx_str_t) + NGX_QUEUES_BASE_DECIMAL_MAX
                     + n * (NGX_QUEUES_BASE_SHORT_LEN
                            + 2 * NGX_QUEUES_BASE_DECIMAL_MAX
                            + NGX_QUEUES_STORE_SPOT_MAX),
                     ngx_cycle->log);
    if (args == NULL) {
        return NGX_ERROR;
    }

    p = (u_char *) &args[max];
    k = 0;

    args[k++] = *name;

    if (seconds >= 0) {
        p = ngx_queues_store_number_arg(&args[k++], p, seconds);
    }

    k += ngx_queues_store_sub_groups(&args[k], p, receipts, n);

    call = ngx_queues_store_call_create(root,
                                        ngx_queues_store_sub_receipts_parse,
                                        done, data);
    rc = NGX_ERROR;

    if (call) {
        call->nreceipts = n;
        rc = ngx_queues_store_call_start(call, function, args, k);
    }

    ngx_free(args);

    return rc;
}


/* what follows one another and is of the same pull is one group */

static ngx_uint_t
ngx_queues_store_sub_groups(ngx_str_t *args, u_char *p,
    ngx_queues_store_receipt_t *receipts, ngx_uint_t n)
{
    ngx_str_t                    id;
    ngx_uint_t                   i, k;
    ngx_queues_store_receipt_t  *first;

    k = 0;
    i = 0;

    while (i < n) {
        first = &receipts[i];

        p = ngx_queues_store_short_arg(&args[k++], p, first->place.queue);
        p = ngx_queues_store_number_arg(&args[k++], p,
                                        first->place.generation);
        p = ngx_queues_store_number_arg(&args[k++], p, first->token);

        args[k].data = p;

        do {
            p = ngx_queues_store_spot_arg(&id, p, &receipts[i].spot);
            *p++ = ' ';
            i++;

        } while (i < n
                 && receipts[i].token == first->token
                 && receipts[i].place.queue == first->place.queue
                 && receipts[i].place.generation == first->place.generation);

        args[k].len = p - 1 - args[k].data;
        k++;
    }

    return k;
}


static ngx_int_t
ngx_queues_store_sub_receipts_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts != 2
        || ngx_queues_store_pull_flags(&reply->elts[0], result) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_store_ok(call, reply->pool, &reply->elts[1], result);
}
