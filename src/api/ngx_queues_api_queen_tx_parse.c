
#include "ngx_queues_api_queen_tx.h"


typedef enum {
    NGX_QUEUES_API_QUEEN_TX_OPERATIONS = 0,
    NGX_QUEUES_API_QUEEN_TX_LEASES,
    NGX_QUEUES_API_QUEEN_TX_NMEMBERS
} ngx_queues_api_queen_tx_member_e;


typedef enum {
    NGX_QUEUES_API_QUEEN_STEP_TYPE = 0,
    NGX_QUEUES_API_QUEEN_STEP_ITEMS,
    NGX_QUEUES_API_QUEEN_STEP_GROUP,
    NGX_QUEUES_API_QUEEN_STEP_NMEMBERS
} ngx_queues_api_queen_step_member_e;


static ngx_int_t ngx_queues_api_queen_tx_leases(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *array, ngx_queues_store_log_tx_t *tx);
static ngx_int_t ngx_queues_api_queen_tx_walk(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *array, ngx_queues_api_queen_tx_t *ctx,
    ngx_uint_t fill);
static ngx_int_t ngx_queues_api_queen_tx_push(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *items, ngx_queues_base_json_value_t *flat,
    ngx_queues_api_queen_tx_t *ctx, ngx_uint_t fill);
static ngx_int_t ngx_queues_api_queen_tx_item(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_queues_api_queen_tx_t *ctx,
    ngx_uint_t fill);
static ngx_int_t ngx_queues_api_queen_tx_ack(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_queues_base_json_value_t *group,
    ngx_queues_api_queen_tx_t *ctx, ngx_uint_t fill);
static ngx_int_t ngx_queues_api_queen_tx_alloc(ngx_queues_api_t *api,
    ngx_queues_api_queen_tx_t *ctx);


static const ngx_str_t  ngx_queues_api_queen_tx_names[] = {
    ngx_string("operations"),
    ngx_string("requiredLeases")
};


static const ngx_str_t  ngx_queues_api_queen_step_names[] = {
    ngx_string("type"),
    ngx_string("items"),
    ngx_string("consumerGroup")
};


/* counts first what there is, as items must not move once they are filled */

ngx_int_t
ngx_queues_api_queen_tx_parse(ngx_queues_api_t *api,
    ngx_queues_api_queen_tx_t *ctx)
{
    ngx_int_t                      n;
    ngx_queues_base_json_value_t   values[NGX_QUEUES_API_QUEEN_TX_NMEMBERS];
    ngx_queues_base_json_value_t  *operations;

    if (ngx_queues_api_queen_body(api, ngx_queues_api_queen_tx_names,
                                  NGX_QUEUES_API_QUEEN_TX_NMEMBERS, values)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    operations = &values[NGX_QUEUES_API_QUEEN_TX_OPERATIONS];

    n = ngx_queues_api_queen_count(api, operations, "operations",
                                   NGX_QUEUES_STORE_LOG_PUSHES
                                   + NGX_QUEUES_STORE_LOG_ACKS);
    if (n == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (n == 0) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "operations is empty");
        return NGX_ERROR;
    }

    if (ngx_queues_api_queen_tx_leases(api,
                                     &values[NGX_QUEUES_API_QUEEN_TX_LEASES],
                                     &ctx->tx)
        != NGX_OK
        || ngx_queues_api_queen_tx_walk(api, operations, ctx, 0) != NGX_OK
        || ngx_queues_api_queen_tx_alloc(api, ctx) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_queen_tx_walk(api, operations, ctx, 1);
}


static ngx_int_t
ngx_queues_api_queen_tx_leases(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *array, ngx_queues_store_log_tx_t *tx)
{
    ngx_int_t                      n;
    ngx_str_t                     *lease;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   value;

    if (array->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    n = ngx_queues_api_queen_count(api, array, "requiredLeases",
                                   NGX_QUEUES_STORE_LOG_ACKS);
    if (n == NGX_ERROR) {
        return NGX_ERROR;
    }

    tx->leases = ngx_pcalloc(api->op->pool, (n + 1) * sizeof(ngx_str_t));
    if (tx->leases == NULL) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    ngx_queues_base_json_open(&it, array);

    while (ngx_queues_base_json_next(&it, NULL, &value) == NGX_OK) {
        lease = &tx->leases[tx->nleases++];

        if (ngx_queues_api_queen_string(api, &value, "a required lease",
                                        lease)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        /* of those that pop without a lease, or null: none is required */

        if (lease->len == 0) {
            tx->nleases--;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_queen_tx_walk(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *array, ngx_queues_api_queen_tx_t *ctx,
    ngx_uint_t fill)
{
    ngx_int_t                      rc;
    ngx_str_t                      push, ack;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   values[NGX_QUEUES_API_QUEEN_STEP_NMEMBERS];
    ngx_queues_base_json_value_t   value, *type;

    ngx_str_set(&push, "push");
    ngx_str_set(&ack, "ack");

    type = &values[NGX_QUEUES_API_QUEEN_STEP_TYPE];

    ngx_queues_base_json_open(&it, array);

    while (ngx_queues_base_json_next(&it, NULL, &value) == NGX_OK) {

        type->type = NGX_QUEUES_BASE_JSON_NULL;

        if (value.type == NGX_QUEUES_BASE_JSON_OBJECT
            && ngx_queues_api_queen_members(api, &value,
                                            ngx_queues_api_queen_step_names,
                                            NGX_QUEUES_API_QUEEN_STEP_NMEMBERS,
                                            values)
               != NGX_OK)
        {
            return NGX_ERROR;
        }

        if (type->type == NGX_QUEUES_BASE_JSON_STRING
            && ngx_queues_base_json_equal(&type->raw, &push))
        {
            rc = ngx_queues_api_queen_tx_push(api,
                                     &values[NGX_QUEUES_API_QUEEN_STEP_ITEMS],
                                     &value, ctx, fill);

        } else if (type->type == NGX_QUEUES_BASE_JSON_STRING
                   && ngx_queues_base_json_equal(&type->raw, &ack))
        {
            rc = ngx_queues_api_queen_tx_ack(api, &value,
                                     &values[NGX_QUEUES_API_QUEEN_STEP_GROUP],
                                     ctx, fill);

        } else {
            ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                                 "the type of an operation must be push or "
                                 "ack");
            return NGX_ERROR;
        }

        if (rc != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_queen_tx_push(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *items, ngx_queues_base_json_value_t *flat,
    ngx_queues_api_queen_tx_t *ctx, ngx_uint_t fill)
{
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   value;

    if (items->type == NGX_QUEUES_BASE_JSON_NULL) {
        return ngx_queues_api_queen_tx_item(api, flat, ctx, fill);
    }

    if (ngx_queues_api_queen_count(api, items, "items",
                                   NGX_QUEUES_STORE_LOG_PUSHES)
        == NGX_ERROR)
    {
        return NGX_ERROR;
    }

    ngx_queues_base_json_open(&it, items);

    while (ngx_queues_base_json_next(&it, NULL, &value) == NGX_OK) {
        if (ngx_queues_api_queen_tx_item(api, &value, ctx, fill) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_queen_tx_item(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_queues_api_queen_tx_t *ctx,
    ngx_uint_t fill)
{
    ngx_queues_store_log_item_t  *item;

    if (!fill) {
        ctx->nsteps++;
        ctx->tx.push.nitems++;
        return NGX_OK;
    }

    item = &ctx->tx.push.items[ctx->tx.push.nitems++];
    ctx->steps[ctx->nsteps++].item = item;

    return ngx_queues_api_queen_item(api, value, 1, item);
}


static ngx_int_t
ngx_queues_api_queen_tx_ack(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_queues_base_json_value_t *group,
    ngx_queues_api_queen_tx_t *ctx, ngx_uint_t fill)
{
    ngx_str_t                     name;
    ngx_queues_api_queen_step_t  *step;

    if (!fill) {
        ctx->nsteps++;
        ctx->tx.nacks++;
        return NGX_OK;
    }

    step = &ctx->steps[ctx->nsteps++];

    if (ngx_queues_api_queen_group(api, group, &name) != NGX_OK
        || ngx_queues_api_queen_read_ack(api, value, &name,
                                         &ctx->tx.acks[ctx->tx.nacks++],
                                         &step->ack)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (step->ack.ack == NULL && ctx->refused == NULL) {
        ctx->refused = step->ack.error;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_queen_tx_alloc(ngx_queues_api_t *api,
    ngx_queues_api_queen_tx_t *ctx)
{
    ngx_pool_t                 *pool;
    ngx_queues_store_log_tx_t  *tx;

    pool = api->op->pool;
    tx = &ctx->tx;

    if (tx->push.nitems > NGX_QUEUES_STORE_LOG_PUSHES
        || tx->nacks > NGX_QUEUES_STORE_LOG_ACKS)
    {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "operations has more than %d items or %d acks",
                             NGX_QUEUES_STORE_LOG_PUSHES,
                             NGX_QUEUES_STORE_LOG_ACKS);
        return NGX_ERROR;
    }

    ctx->steps = ngx_pcalloc(pool, (ctx->nsteps + 1)
                                   * sizeof(ngx_queues_api_queen_step_t));
    tx->push.items = ngx_pcalloc(pool, (tx->push.nitems + 1)
                                       * sizeof(ngx_queues_store_log_item_t));
    tx->acks = ngx_pcalloc(pool, (tx->nacks + 1)
                                 * sizeof(ngx_queues_store_log_ack_t));

    if (ctx->steps == NULL || tx->push.items == NULL || tx->acks == NULL) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    ctx->nsteps = 0;
    tx->push.nitems = 0;
    tx->nacks = 0;

    return NGX_OK;
}
