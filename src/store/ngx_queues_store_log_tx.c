
#include "ngx_queues_store_log_call.h"


typedef struct {
    ngx_str_t                       code;
    ngx_queues_store_log_outcome_e  outcome;
} ngx_queues_store_log_reason_t;


static ngx_int_t ngx_queues_store_log_tx_args(ngx_queues_store_call_t *call,
    ngx_queues_store_log_tx_t *tx, ngx_queues_store_log_args_t *args);
static ngx_int_t ngx_queues_store_log_tx_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_log_tx_failed(
    ngx_queues_store_log_work_t *work, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);


static ngx_queues_store_log_reason_t  ngx_queues_store_log_reasons[] = {
    { ngx_string("LEASE"), NGX_QUEUES_STORE_LOG_LEASE_OVER },
    { ngx_string("DUPLICATE"), NGX_QUEUES_STORE_LOG_DUPLICATE },
    { ngx_string("ACK"), NGX_QUEUES_STORE_LOG_ACK_REFUSED },
    { ngx_null_string, NGX_QUEUES_STORE_LOG_DONE }
};


ngx_int_t
ngx_queues_store_log_tx(ngx_str_t *root, ngx_queues_store_log_tx_t *tx,
    ngx_queues_store_done_pt done, void *data)
{
    ngx_int_t                     rc;
    ngx_queues_store_call_t      *call;
    ngx_queues_store_log_args_t   args;

    call = ngx_queues_store_log_create(root, ngx_queues_store_log_tx_parse,
                                       done, data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    call->durable = (tx->push.nitems != 0);

    rc = ngx_queues_store_log_args_init(&args);

    if (rc == NGX_OK) {
        rc = ngx_queues_store_log_push_plan(call, &tx->push, &args);
    }

    if (rc == NGX_OK) {
        rc = ngx_queues_store_log_ack_plan(call, tx->acks, tx->nacks, &args);
    }

    if (rc == NGX_OK) {
        rc = ngx_queues_store_log_tx_args(call, tx, &args);
    }

    return ngx_queues_store_log_start(call, "log_tx", &args, rc);
}


/* nleases lease..., what log_push has, ngroups, groups */

static ngx_int_t
ngx_queues_store_log_tx_args(ngx_queues_store_call_t *call,
    ngx_queues_store_log_tx_t *tx, ngx_queues_store_log_args_t *args)
{
    ngx_uint_t  i;

    args->n += 2 + tx->nleases;
    args->size += 2 * NGX_QUEUES_BASE_DECIMAL_MAX;

    if (ngx_queues_store_log_args_alloc(args) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_queues_store_log_number(args, tx->nleases);

    for (i = 0; i < tx->nleases; i++) {
        ngx_queues_store_log_arg(args, &tx->leases[i]);
    }

    if (ngx_queues_store_log_push_args(call->log, args) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_queues_store_log_number(args, call->log->nsets);
    ngx_queues_store_log_ack_args(call->log, 1, args);

    return NGX_OK;
}


/* "ok", those of the partitions and of the acks; or why not */

static ngx_int_t
ngx_queues_store_log_tx_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    ngx_str_t                     text;
    ngx_queues_redis_reply_t     *elts;
    ngx_queues_store_log_work_t  *work;

    work = call->log;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts == 0
        || ngx_queues_store_string(&reply->elts[0], &text) != NGX_OK)
    {
        return NGX_ERROR;
    }

    result->log = ngx_pcalloc(reply->pool, sizeof(ngx_queues_store_log_t));
    if (result->log == NULL) {
        return NGX_ERROR;
    }

    if (text.len != 2 || ngx_memcmp(text.data, "ok", 2) != 0) {
        return ngx_queues_store_log_tx_failed(work, reply, result);
    }

    if (reply->nelts != 1 + work->nlanes + work->nsets) {
        return NGX_ERROR;
    }

    elts = reply->elts + 1;

    if (ngx_queues_store_log_push_read(work, elts) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_queues_store_log_ack_read(work, elts + work->nlanes);
}


/* "failed" CODE detail */

static ngx_int_t
ngx_queues_store_log_tx_failed(ngx_queues_store_log_work_t *work,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    ngx_str_t                       code, *detail;
    ngx_queues_store_log_reason_t  *reason;

    static ngx_str_t  failed = ngx_string("failed");

    detail = &result->log->detail;

    if (reply->nelts != 3
        || !ngx_queues_store_log_same(&reply->elts[0].str, &failed)
        || ngx_queues_store_string(&reply->elts[1], &code) != NGX_OK
        || ngx_queues_store_string(&reply->elts[2], detail) != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (reason = ngx_queues_store_log_reasons;
         reason->code.len && !ngx_queues_store_log_same(&reason->code, &code);
         reason++)
    {
        /* void */
    }

    if (reason->code.len == 0) {
        return NGX_ERROR;
    }

    result->log->outcome = reason->outcome;

    if (reason->outcome == NGX_QUEUES_STORE_LOG_ACK_REFUSED) {
        return ngx_queues_store_log_ack_refused(work, detail, &result->index);
    }

    return NGX_OK;
}
