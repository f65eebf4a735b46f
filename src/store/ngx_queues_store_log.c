
#include "ngx_queues_store_log_call.h"
#include "../base/ngx_queues_base_siphash.h"


#define NGX_QUEUES_STORE_LOG_POOL  1024


static ngx_int_t ngx_queues_store_log_key_init(void);
static ngx_int_t ngx_queues_store_log_extend_parse(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);


/* names are chosen by others, who are not to choose what meets in a table */

static u_char      ngx_queues_store_log_key[NGX_QUEUES_BASE_SIPHASH_KEY];
static ngx_uint_t  ngx_queues_store_log_keyed;


ngx_int_t
ngx_queues_store_log_extend(ngx_str_t *root, ngx_str_t *lease,
    ngx_uint_t seconds, ngx_queues_store_done_pt done, void *data)
{
    u_char     buf[NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t  args[2];

    args[0] = *lease;
    (void) ngx_queues_store_number_arg(&args[1], buf, seconds);

    return ngx_queues_store_call("log_extend", root, args, 2,
                                 NGX_QUEUES_STORE_WRITES,
                                 ngx_queues_store_log_extend_parse, done,
                                 data);
}


static ngx_int_t
ngx_queues_store_log_extend_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    if (reply->type != NGX_QUEUES_REDIS_ARRAY || reply->nelts != 2) {
        return NGX_ERROR;
    }

    result->log = ngx_pcalloc(reply->pool, sizeof(ngx_queues_store_log_t));
    if (result->log == NULL) {
        return NGX_ERROR;
    }

    if (ngx_queues_store_unsigned(&reply->elts[0], &result->log->renewed)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_store_unsigned(&reply->elts[1], &result->log->expires);
}


void
ngx_queues_store_log_undo(ngx_str_t *root, u_char *lease)
{
    ngx_str_t  arg;

    arg.data = lease;
    arg.len = NGX_QUEUES_BASE_UUID_LEN;

    (void) ngx_queues_store_call("log_undo", root, &arg, 1,
                                 NGX_QUEUES_STORE_WRITES,
                                 ngx_queues_store_integer_parse,
                                 ngx_queues_store_undo_done, NULL);
}


ngx_queues_store_call_t *
ngx_queues_store_log_create(ngx_str_t *root, ngx_queues_store_parse_pt parse,
    ngx_queues_store_done_pt done, void *data)
{
    ngx_queues_store_call_t  *call;

    call = ngx_queues_store_call_create(root, parse, done, data);
    if (call == NULL) {
        return NULL;
    }

    call->pool = ngx_create_pool(NGX_QUEUES_STORE_LOG_POOL, ngx_cycle->log);
    if (call->pool == NULL) {
        goto failed;
    }

    call->log = ngx_pcalloc(call->pool, sizeof(ngx_queues_store_log_work_t));
    if (call->log == NULL) {
        goto failed;
    }

    return call;

failed:

    ngx_queues_store_call_free(call);

    return NULL;
}


ngx_int_t
ngx_queues_store_log_args_init(ngx_queues_store_log_args_t *args)
{
    ngx_memzero(args, sizeof(ngx_queues_store_log_args_t));

    args->pool = ngx_create_pool(NGX_QUEUES_STORE_LOG_POOL, ngx_cycle->log);

    return args->pool ? ngx_queues_store_log_key_init() : NGX_ERROR;
}


ngx_int_t
ngx_queues_store_log_args_alloc(ngx_queues_store_log_args_t *args)
{
    args->elts = ngx_palloc(args->pool, args->n * sizeof(ngx_str_t));
    args->p = ngx_pnalloc(args->pool, args->size);

    args->n = 0;

    return args->elts && args->p ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_queues_store_log_start(ngx_queues_store_call_t *call,
    const char *function, ngx_queues_store_log_args_t *args, ngx_int_t rc)
{
    if (rc == NGX_OK) {
        rc = ngx_queues_store_call_start(call, function, args->elts, args->n);

    } else {
        ngx_queues_store_call_free(call);
    }

    if (args->pool) {
        ngx_destroy_pool(args->pool);
    }

    return rc;
}


/* at most half full */

ngx_int_t
ngx_queues_store_log_table_init(ngx_queues_store_log_table_t *table,
    ngx_pool_t *pool, ngx_uint_t n)
{
    ngx_uint_t  size;

    for (size = 16; size < 2 * n; size *= 2) { /* void */ }

    table->mask = size - 1;
    table->slots = ngx_pcalloc(pool,
                               size * sizeof(ngx_queues_store_log_slot_t));

    return table->slots ? NGX_OK : NGX_ERROR;
}


uint64_t
ngx_queues_store_log_hash(u_char *data, size_t len)
{
    return ngx_queues_base_siphash(ngx_queues_store_log_key, data, len);
}


static ngx_int_t
ngx_queues_store_log_key_init(void)
{
    if (!ngx_queues_store_log_keyed) {
        if (ngx_queues_store_random(ngx_queues_store_log_key,
                                    NGX_QUEUES_BASE_SIPHASH_KEY)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        ngx_queues_store_log_keyed = 1;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_store_log_lane(ngx_str_t *text, ngx_queues_store_lane_t *lane)
{
    ngx_str_t  word;

    if (ngx_queues_base_word(text, ':', &word) != NGX_OK
        || ngx_queues_base_short_parse(&word, &lane->queue) != NGX_OK
        || ngx_queues_store_number(text, ':', &lane->lane) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return lane->lane <= NGX_QUEUES_BASE_LANE_MAX ? NGX_OK : NGX_ERROR;
}
