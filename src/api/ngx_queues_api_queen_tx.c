
#include "ngx_queues_api_queen.h"


/* one of the flattened list of operations, each item of a push by itself */
typedef struct {
    ngx_queues_store_log_item_t  *item;    /* NULL: an ack */
    ngx_queues_api_queen_ack_t    ack;
} ngx_queues_api_queen_step_t;


typedef struct {
    ngx_str_t                     id;      /* of the call */
    ngx_queues_store_log_tx_t     tx;
    ngx_queues_api_queen_step_t  *steps;
    ngx_uint_t                    nsteps;
    const char                   *refused; /* an ack that never goes to the
                                              store */
} ngx_queues_api_queen_tx_t;


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


static void ngx_queues_api_queen_tx(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_queen_tx_parse(ngx_queues_api_t *api,
    ngx_queues_api_queen_tx_t *ctx);
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
static void ngx_queues_api_queen_tx_start(ngx_queues_api_t *api,
    ngx_queues_api_queen_tx_t *ctx);
static void ngx_queues_api_queen_tx_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_tx_failed(ngx_queues_api_t *api,
    const char *reason, const char *text, ngx_str_t *detail);
static void ngx_queues_api_queen_tx_answer(ngx_queues_api_t *api);
static u_char *ngx_queues_api_queen_tx_step(u_char *p, ngx_uint_t index,
    ngx_queues_api_queen_step_t *step);


static const ngx_str_t  ngx_queues_api_queen_tx_names[] = {
    ngx_string("operations"),
    ngx_string("requiredLeases")
};


static const ngx_str_t  ngx_queues_api_queen_step_names[] = {
    ngx_string("type"),
    ngx_string("items"),
    ngx_string("consumerGroup")
};


const ngx_queues_api_route_t  ngx_queues_api_queen_tx_routes[] = {

    { NGX_HTTP_POST,
      ngx_string("/api/v1/transaction"),
      ngx_string("QueenTransaction"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.use.transaction"),
      NGX_QUEUES_API_ANY_BODY,
      0,
      ngx_queues_api_queen_tx },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static void
ngx_queues_api_queen_tx(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_tx_t  *ctx;

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_queen_tx_t));
    if (ctx == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = ctx;

    if (ngx_queues_api_queen_uuid(api, &ctx->id) != NGX_OK
        || ngx_queues_api_queen_tx_parse(api, ctx) != NGX_OK
        || ngx_queues_api_queen_producer(api, &ctx->tx.push.producer)
           != NGX_OK)
    {
        return;
    }

    if (ctx->refused) {
        ngx_queues_api_queen_tx_failed(api, "ack_rejected", ctx->refused,
                                       NULL);
        return;
    }

    if (ctx->nsteps == 0 && ctx->tx.nleases == 0) {
        ngx_queues_api_queen_tx_answer(api);
        return;
    }

    if (ngx_queues_api_queen_seal(api, &ctx->tx.push) == NGX_OK) {
        ngx_queues_api_queen_tx_start(api, ctx);
    }
}


static void
ngx_queues_api_queen_tx_start(ngx_queues_api_t *api,
    ngx_queues_api_queen_tx_t *ctx)
{
    ngx_queues_api_started(api,
        ngx_queues_store_log_tx(&api->root, &ctx->tx,
                                ngx_queues_api_queen_tx_done, api));
}


/* counts first what there is, as items must not move once they are filled */

static ngx_int_t
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

        if (value.type == NGX_QUEUES_BASE_JSON_OBJECT) {
            ngx_queues_api_queen_members(&value,
                                         ngx_queues_api_queen_step_names,
                                         NGX_QUEUES_API_QUEEN_STEP_NMEMBERS,
                                         values);

        } else {
            type->type = NGX_QUEUES_BASE_JSON_NULL;
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


static void
ngx_queues_api_queen_tx_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_store_log_t     *log;
    ngx_queues_api_queen_tx_t  *ctx;

    if (api->op->request == NULL) {
        ngx_queues_http_op_release(api->op);
        return;
    }

    log = result->log;

    if (result->code == NGX_QUEUES_STORE_LOG_SEAL) {
        ctx = api->data;

        if (ngx_queues_api_queen_reseal(api, &ctx->tx.push, result) == NGX_OK) {
            ngx_queues_api_queen_tx_start(api, ctx);
        }

    } else if (result->code != NGX_QUEUES_STORE_OK) {
        ngx_queues_api_store_error(api, result);

    } else {

        switch (log->outcome) {

        case NGX_QUEUES_STORE_LOG_DONE:
            ngx_queues_api_queen_tx_answer(api);
            break;

        case NGX_QUEUES_STORE_LOG_LEASE_OVER:
            ngx_queues_api_queen_tx_failed(api, "lease_expired",
                                           "invalid or expired lease",
                                           &log->detail);
            break;

        case NGX_QUEUES_STORE_LOG_DUPLICATE:
            ngx_queues_api_queen_tx_failed(api, "duplicate",
                                           "QDUP: the transactionId is there "
                                           "already", &log->detail);
            break;

        case NGX_QUEUES_STORE_LOG_ACK_REFUSED:
            ngx_queues_api_queen_tx_failed(api, "ack_rejected",
                                           "ack rejected", &log->detail);
        }
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_queen_tx_failed(ngx_queues_api_t *api, const char *reason,
    const char *text, ngx_str_t *detail)
{
    u_char                     *p, *start;
    ngx_queues_api_queen_tx_t  *ctx;

    ctx = api->data;

    start = ngx_queues_api_alloc(api,
                sizeof("{\"transactionId\":\"\",\"success\":false,\"error\":"
                       "\": \",\"reason\":\"\",\"results\":[]}")
                + ctx->id.len + ngx_strlen(reason) + ngx_strlen(text)
                + (detail ? detail->len : 0));
    if (start == NULL) {
        return;
    }

    p = ngx_sprintf(start, "{\"transactionId\":\"%V\",\"success\":false,"
                    "\"error\":\"%s", &ctx->id, text);

    if (detail && detail->len) {
        p = ngx_sprintf(p, ": %V", detail);
    }

    p = ngx_sprintf(p, "\",\"reason\":\"%s\",\"results\":[]}", reason);

    ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);
}


static void
ngx_queues_api_queen_tx_answer(ngx_queues_api_t *api)
{
    u_char                       *p, *start;
    size_t                        size;
    ngx_uint_t                    i;
    ngx_queues_api_queen_tx_t    *ctx;
    ngx_queues_api_queen_step_t  *step;

    ctx = api->data;

    size = sizeof("{\"transactionId\":\"\",\"success\":true,\"results\":[]}")
           + ctx->id.len;

    for (i = 0; i < ctx->nsteps; i++) {
        step = &ctx->steps[i];

        size += sizeof(",{\"index\":,\"type\":\"push\",\"success\":true,"
                       "\"transactionId\":\"\",\"messageId\":\"\","
                       "\"queueName\":\"\",\"duplicate\":true}")
                + NGX_INT_T_LEN + NGX_QUEUES_BASE_UUID_LEN
                + (step->item ? step->item->id.len + step->item->queue.len
                              : step->ack.id.len);
    }

    start = ngx_queues_api_alloc(api, size);
    if (start == NULL) {
        return;
    }

    p = ngx_sprintf(start, "{\"transactionId\":\"%V\",\"success\":true,"
                    "\"results\":[", &ctx->id);

    for (i = 0; i < ctx->nsteps; i++) {

        if (i) {
            *p++ = ',';
        }

        p = ngx_queues_api_queen_tx_step(p, i, &ctx->steps[i]);
    }

    *p++ = ']';
    *p++ = '}';

    api->op->note->messages = ctx->nsteps;

    ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);
}


static u_char *
ngx_queues_api_queen_tx_step(u_char *p, ngx_uint_t index,
    ngx_queues_api_queen_step_t *step)
{
    ngx_queues_store_log_item_t  *item;

    item = step->item;

    if (item == NULL) {
        return ngx_sprintf(p, "{\"index\":%ui,\"type\":\"ack\","
                           "\"success\":true,\"transactionId\":\"%V\","
                           "\"error\":null,\"dlq\":%s}", index, &step->ack.id,
                           step->ack.ack->verdict
                           == NGX_QUEUES_STORE_LOG_BURIED ? "true" : "false");
    }

    p = ngx_sprintf(p, "{\"index\":%ui,\"type\":\"push\",\"success\":true,"
                    "\"transactionId\":\"%V\",\"messageId\":\"", index,
                    &item->id);
    p = ngx_queues_api_queen_message_id(p, &item->place, item->offset,
                                        item->ms);

    return ngx_sprintf(p, "\",\"queueName\":\"%V\"%s}", &item->queue,
                       item->duplicate ? ",\"duplicate\":true" : "");
}
