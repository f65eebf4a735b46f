
#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_GROUP_ARGS    5     /* at most */


static ngx_int_t ngx_queues_store_receipts(const char *function,
    ngx_str_t *root, ngx_queues_store_receipt_t *receipts, ngx_uint_t n,
    ngx_uint_t visibility, ngx_queues_store_done_pt done, void *data);
static ngx_uint_t ngx_queues_store_together(ngx_queues_store_receipt_t *a,
    ngx_queues_store_receipt_t *b, ngx_uint_t visibility);
static ngx_int_t ngx_queues_store_receipts_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);


ngx_int_t
ngx_queues_store_ack(ngx_str_t *root, ngx_queues_store_receipt_t *receipts,
    ngx_uint_t n, ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_receipts("ack", root, receipts, n, 0, done, data);
}


ngx_int_t
ngx_queues_store_visibility(ngx_str_t *root,
    ngx_queues_store_receipt_t *receipts, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_receipts("visibility", root, receipts, n, 1, done,
                                     data);
}


/*
 * In groups: what follows one another and is of the same receive, as all of
 * a request is as a rule.
 */

static ngx_int_t
ngx_queues_store_receipts(const char *function, ngx_str_t *root,
    ngx_queues_store_receipt_t *receipts, ngx_uint_t n, ngx_uint_t visibility,
    ngx_queues_store_done_pt done, void *data)
{
    u_char                   *p;
    u_char                    buf[NGX_QUEUES_STORE_BATCH_MAX
                                  * (NGX_QUEUES_BASE_SHORT_LEN
                                     + NGX_QUEUES_STORE_SPOT_MAX
                                     + 3 * NGX_QUEUES_BASE_DECIMAL_MAX)];
    ngx_str_t                 id;
    ngx_str_t                 args[NGX_QUEUES_STORE_BATCH_MAX
                                   * NGX_QUEUES_STORE_GROUP_ARGS];
    ngx_uint_t                i, k, next;
    ngx_queues_store_call_t  *call;

    call = ngx_queues_store_call_create(root, ngx_queues_store_receipts_parse,
                                        done, data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    k = 0;
    p = buf;

    for (i = 0; i < n; i = next) {

        for (next = i + 1; next < n; next++) {
            if (!ngx_queues_store_together(&receipts[i], &receipts[next],
                                           visibility))
            {
                break;
            }
        }

        p = ngx_queues_store_short_arg(&args[k++], p, receipts[i].place.queue);
        p = ngx_queues_store_number_arg(&args[k++], p,
                                        receipts[i].place.generation);
        p = ngx_queues_store_number_arg(&args[k++], p, receipts[i].token);

        if (visibility) {
            p = ngx_queues_store_number_arg(&args[k++], p,
                                            receipts[i].visibility);
        }

        /* the ids, separated by blanks */

        args[k].data = p;

        for ( /* void */ ; i < next; i++) {
            p = ngx_queues_store_spot_arg(&id, p, &receipts[i].spot);
            *p++ = ' ';
        }

        args[k].len = p - 1 - args[k].data;
        k++;
    }

    call->nreceipts = n;

    return ngx_queues_store_call_start(call, function, args, k);
}


static ngx_uint_t
ngx_queues_store_together(ngx_queues_store_receipt_t *a,
    ngx_queues_store_receipt_t *b, ngx_uint_t visibility)
{
    return a->place.queue == b->place.queue
           && a->place.generation == b->place.generation
           && a->token == b->token
           && (!visibility || a->visibility == b->visibility);
}


static ngx_int_t
ngx_queues_store_receipts_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    return ngx_queues_store_ok(call, reply->pool, reply, result);
}


ngx_int_t
ngx_queues_store_ok(ngx_queues_store_call_t *call, ngx_pool_t *pool,
    ngx_queues_redis_reply_t *elt, ngx_queues_store_result_t *result)
{
    ngx_str_t   text;
    ngx_uint_t  i;

    if (ngx_queues_store_string(elt, &text) != NGX_OK
        || text.len != call->nreceipts)
    {
        return NGX_ERROR;
    }

    result->ok = ngx_pnalloc(pool, text.len);
    if (result->ok == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < text.len; i++) {
        result->ok[i] = (text.data[i] == '1');
    }

    result->nok = text.len;

    return NGX_OK;
}


void
ngx_queues_store_undo(ngx_str_t *root, ngx_queues_store_place_t *place,
    uint64_t token, ngx_queues_base_spot_t *spots, ngx_uint_t n)
{
    u_char                   *p;
    ngx_str_t                *args;
    ngx_uint_t                i;
    ngx_queues_store_call_t  *call;

    args = ngx_alloc((3 + n) * sizeof(ngx_str_t) + NGX_QUEUES_BASE_SHORT_LEN
                     + 2 * NGX_QUEUES_BASE_DECIMAL_MAX
                     + n * NGX_QUEUES_STORE_SPOT_MAX, ngx_cycle->log);
    if (args == NULL) {
        return;
    }

    call = ngx_queues_store_call_create(root, ngx_queues_store_integer_parse,
                                        ngx_queues_store_undo_done, NULL);

    if (call) {
        p = (u_char *) &args[3 + n];

        p = ngx_queues_store_short_arg(&args[0], p, place->queue);
        p = ngx_queues_store_number_arg(&args[1], p, place->generation);
        p = ngx_queues_store_number_arg(&args[2], p, token);

        for (i = 0; i < n; i++) {
            p = ngx_queues_store_spot_arg(&args[3 + i], p, &spots[i]);
        }

        (void) ngx_queues_store_call_start(call, "undo", args, 3 + n);
    }

    ngx_free(args);
}


void
ngx_queues_store_undo_all(ngx_str_t *root, ngx_queues_store_result_t *result)
{
    ngx_uint_t               i, n;
    ngx_queues_base_spot_t  *spots;

    n = result->nmessages;
    if (n == 0) {
        return;
    }

    spots = ngx_alloc(n * sizeof(ngx_queues_base_spot_t), ngx_cycle->log);
    if (spots == NULL) {
        return;
    }

    for (i = 0; i < n; i++) {
        spots[i] = result->messages[i].spot;
    }

    ngx_queues_store_undo(root, &result->place, result->token, spots, n);

    ngx_free(spots);
}


void
ngx_queues_store_undo_done(void *data, ngx_queues_store_result_t *result)
{
    if (result->code == NGX_QUEUES_STORE_UNAVAILABLE) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "messages that nobody received were not given back "
                      "(%s): they come back when their visibility ends",
                      result->reason);
    }
}
