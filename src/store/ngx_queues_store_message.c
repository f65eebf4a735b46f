
#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_TOKEN_SIZE      5     /* bytes: 40 bits */

#define NGX_QUEUES_STORE_SEND_ARGS       4     /* of one message */
#define NGX_QUEUES_STORE_RECEIVE_HEAD    4     /* elements of a reply before */
#define NGX_QUEUES_STORE_RECEIVE_ELTS    5     /* and of each message */


static ngx_int_t ngx_queues_store_send_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_receive_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_message_elts(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_message_t *m);


ngx_int_t
ngx_queues_store_send(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_send_t *messages, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data)
{
    u_char                   *p;
    u_char                    buf[(2 * NGX_QUEUES_STORE_BATCH_MAX + 1)
                                  * NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t                 args[2 + NGX_QUEUES_STORE_BATCH_MAX
                                       * NGX_QUEUES_STORE_SEND_ARGS];
    ngx_uint_t                i, k;
    ngx_queues_store_call_t  *call;

    call = ngx_queues_store_call_create(root, ngx_queues_store_send_parse,
                                        done, data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    k = 0;
    p = buf;

    args[k++] = *ref;
    p = ngx_queues_store_number_arg(&args[k++], p, n);

    for (i = 0; i < n; i++) {
        p = ngx_queues_store_number_arg(&args[k++], p, messages[i].delay);
        p = ngx_queues_store_number_arg(&args[k++], p, messages[i].length);
        args[k++] = messages[i].body;
        args[k++] = messages[i].attributes;
    }

    return ngx_queues_store_call_start(call, "send", args, k);
}


static ngx_int_t
ngx_queues_store_send_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    ngx_uint_t  i, n;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts < 3
        || ngx_queues_store_place(reply->elts, &result->place) != NGX_OK)
    {
        return NGX_ERROR;
    }

    n = reply->nelts - 2;

    result->nids = n;
    result->ids = ngx_palloc(reply->pool, n * sizeof(ngx_queues_store_id_t));
    if (result->ids == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < n; i++) {
        if (ngx_queues_store_id(&reply->elts[2 + i], &result->ids[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_store_receive(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_receive_t *receive, ngx_queues_store_done_pt done,
    void *data)
{
    u_char                   *p;
    u_char                    random[NGX_QUEUES_STORE_TOKEN_SIZE];
    u_char                    buf[4 * NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t                 args[5];
    ngx_uint_t                i;
    ngx_queues_store_call_t  *call;

    if (ngx_queues_store_random(random, sizeof(random)) != NGX_OK) {
        return NGX_ERROR;
    }

    call = ngx_queues_store_call_create(root, ngx_queues_store_receive_parse,
                                        done, data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < NGX_QUEUES_STORE_TOKEN_SIZE; i++) {
        call->token = call->token << 8 | random[i];
    }

    call->undo = 1;

    p = buf;

    args[0] = *ref;
    p = ngx_queues_store_number_arg(&args[1], p, receive->max);
    p = ngx_queues_store_number_arg(&args[2], p, receive->visibility);
    p = ngx_queues_store_number_arg(&args[3], p, receive->wait);
    (void) ngx_queues_store_number_arg(&args[4], p, call->token);

    return ngx_queues_store_call_start(call, "receive", args, 5);
}


/* Q G wait next, then per message: id body attributes count first */

static ngx_int_t
ngx_queues_store_receive_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    ngx_uint_t                 i, n;
    ngx_queues_redis_reply_t  *elt;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts < NGX_QUEUES_STORE_RECEIVE_HEAD
        || (reply->nelts - NGX_QUEUES_STORE_RECEIVE_HEAD)
           % NGX_QUEUES_STORE_RECEIVE_ELTS
        || ngx_queues_store_place(reply->elts, &result->place) != NGX_OK
        || ngx_queues_store_integer(&reply->elts[2], &result->wait) != NGX_OK
        || ngx_queues_store_integer(&reply->elts[3], &result->next) != NGX_OK)
    {
        return NGX_ERROR;
    }

    n = (reply->nelts - NGX_QUEUES_STORE_RECEIVE_HEAD)
        / NGX_QUEUES_STORE_RECEIVE_ELTS;

    if (n == 0) {
        return NGX_OK;
    }

    result->messages = ngx_palloc(reply->pool,
                                  n * sizeof(ngx_queues_store_message_t));
    if (result->messages == NULL) {
        return NGX_ERROR;
    }

    elt = reply->elts + NGX_QUEUES_STORE_RECEIVE_HEAD;

    for (i = 0; i < n; i++) {
        if (ngx_queues_store_message_elts(elt, &result->messages[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        elt += NGX_QUEUES_STORE_RECEIVE_ELTS;
    }

    result->nmessages = n;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_store_message_elts(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_message_t *m)
{
    int64_t  count, first;

    if (ngx_queues_store_id(&elts[0], &m->id) != NGX_OK
        || ngx_queues_store_string(&elts[1], &m->body) != NGX_OK
        || ngx_queues_store_string(&elts[2], &m->attributes) != NGX_OK
        || ngx_queues_store_integer(&elts[3], &count) != NGX_OK
        || ngx_queues_store_integer(&elts[4], &first) != NGX_OK)
    {
        return NGX_ERROR;
    }

    m->count = (uint64_t) count;
    m->first = (uint64_t) first;

    return NGX_OK;
}
