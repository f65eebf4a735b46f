
#include "ngx_queues_api_queen.h"


typedef struct {
    ngx_uint_t                    n;
    ngx_queues_api_queen_ack_t   *items;
    ngx_queues_store_log_ack_t   *acks;
    ngx_uint_t                    nacks;
} ngx_queues_api_queen_acks_t;


static void ngx_queues_api_queen_ack(ngx_queues_api_t *api);
static void ngx_queues_api_queen_ack_batch(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_queen_ack_alloc(ngx_queues_api_t *api,
    ngx_uint_t n);
static ngx_int_t ngx_queues_api_queen_ack_add(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *group);
static void ngx_queues_api_queen_ack_start(ngx_queues_api_t *api);
static void ngx_queues_api_queen_ack_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_ack_answer(ngx_queues_api_t *api);
static u_char *ngx_queues_api_queen_ack_item(u_char *p, ngx_uint_t index,
    ngx_queues_api_queen_ack_t *item);


static const ngx_str_t  ngx_queues_api_queen_batch_names[] = {
    ngx_string("consumerGroup"),
    ngx_string("acknowledgments")
};


const ngx_queues_api_route_t  ngx_queues_api_queen_ack_routes[] = {

    { NGX_HTTP_POST,
      ngx_string("/api/v1/ack"),
      ngx_string("QueenAcknowledge"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.use.ack"),
      NGX_QUEUES_API_ANY_BODY,
      0,
      ngx_queues_api_queen_ack },

    { NGX_HTTP_POST,
      ngx_string("/api/v1/ack/batch"),
      ngx_string("QueenAcknowledgeBatch"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.use.ack"),
      NGX_QUEUES_API_ANY_BODY,
      0,
      ngx_queues_api_queen_ack_batch },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static void
ngx_queues_api_queen_ack(ngx_queues_api_t *api)
{
    ngx_str_t                      group;
    ngx_queues_base_json_value_t   body, value;

    if (ngx_queues_api_body(api, 0, &body) != NGX_OK) {
        return;
    }

    if (ngx_queues_api_queen_members(api, &body,
                                     ngx_queues_api_queen_batch_names, 1,
                                     &value)
        != NGX_OK
        || ngx_queues_api_queen_group(api, &value, &group) != NGX_OK
        || ngx_queues_api_queen_ack_alloc(api, 1) != NGX_OK
        || ngx_queues_api_queen_ack_add(api, &body, &group) != NGX_OK)
    {
        return;
    }

    ngx_queues_api_queen_ack_start(api);
}


static void
ngx_queues_api_queen_ack_batch(ngx_queues_api_t *api)
{
    ngx_int_t                      n;
    ngx_str_t                      group;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   values[2], value;

    if (ngx_queues_api_queen_body(api, ngx_queues_api_queen_batch_names, 2,
                                  values)
        != NGX_OK
        || ngx_queues_api_queen_group(api, &values[0], &group) != NGX_OK)
    {
        return;
    }

    n = ngx_queues_api_queen_count(api, &values[1], "acknowledgments",
                                   NGX_QUEUES_STORE_LOG_ACKS);

    if (n == NGX_ERROR || ngx_queues_api_queen_ack_alloc(api, n) != NGX_OK) {
        return;
    }

    ngx_queues_base_json_open(&it, &values[1]);

    while (ngx_queues_base_json_next(&it, NULL, &value) == NGX_OK) {
        if (ngx_queues_api_queen_ack_add(api, &value, &group) != NGX_OK) {
            return;
        }
    }

    ngx_queues_api_queen_ack_start(api);
}


static ngx_int_t
ngx_queues_api_queen_ack_alloc(ngx_queues_api_t *api, ngx_uint_t n)
{
    ngx_queues_api_queen_acks_t  *ctx;

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_queen_acks_t));

    if (ctx) {
        ctx->items = ngx_pcalloc(api->op->pool,
                                 (n + 1) * sizeof(ngx_queues_api_queen_ack_t));
        ctx->acks = ngx_pcalloc(api->op->pool,
                                (n + 1) * sizeof(ngx_queues_store_log_ack_t));
    }

    if (ctx == NULL || ctx->items == NULL || ctx->acks == NULL) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    api->data = ctx;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_queen_ack_add(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *group)
{
    ngx_queues_api_queen_ack_t   *item;
    ngx_queues_api_queen_acks_t  *ctx;

    ctx = api->data;

    item = &ctx->items[ctx->n++];

    if (ngx_queues_api_queen_read_ack(api, value, group,
                                      &ctx->acks[ctx->nacks], item)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (item->ack) {
        ctx->nacks++;
    }

    return NGX_OK;
}


static void
ngx_queues_api_queen_ack_start(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_acks_t  *ctx;

    ctx = api->data;

    if (ctx->nacks == 0) {
        ngx_queues_api_queen_ack_answer(api);
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_log_ack(&api->root, ctx->acks, ctx->nacks,
                                 ngx_queues_api_queen_ack_done, api));
}


static void
ngx_queues_api_queen_ack_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_queen_ack_answer(api);

        } else {
            ngx_queues_api_store_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_queen_ack_answer(ngx_queues_api_t *api)
{
    u_char                       *p, *start;
    size_t                        size;
    ngx_uint_t                    i;
    ngx_queues_api_queen_acks_t  *ctx;

    ctx = api->data;
    size = sizeof("[]");

    for (i = 0; i < ctx->n; i++) {
        size += sizeof(",{\"index\":,\"transactionId\":\"\",\"success\":false,"
                       "\"error\":\"\",\"leaseReleased\":false,\"dlq\":false,"
                       "\"noop\":false}")
                + NGX_INT_T_LEN + ctx->items[i].id.len
                + NGX_QUEUES_API_QUEEN_VERDICT_MAX;
    }

    start = ngx_queues_api_alloc(api, size);
    if (start == NULL) {
        return;
    }

    p = start;
    *p++ = '[';

    for (i = 0; i < ctx->n; i++) {

        if (i) {
            *p++ = ',';
        }

        p = ngx_queues_api_queen_ack_item(p, i, &ctx->items[i]);
    }

    *p++ = ']';

    api->op->note->messages = ctx->n;

    ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);
}


static u_char *
ngx_queues_api_queen_ack_item(u_char *p, ngx_uint_t index,
    ngx_queues_api_queen_ack_t *item)
{
    const char                      *error;
    ngx_uint_t                       noop, dead, released;
    ngx_queues_store_log_verdict_e   verdict;

    error = ngx_queues_api_queen_verdict(item);

    noop = 0;
    dead = 0;
    released = 0;

    if (item->ack) {
        verdict = item->ack->verdict;
        released = item->ack->released;

        dead = (verdict == NGX_QUEUES_STORE_LOG_BURIED);
        noop = (verdict == NGX_QUEUES_STORE_LOG_NOOP
                || verdict == NGX_QUEUES_STORE_LOG_COMMITTED
                || verdict == NGX_QUEUES_STORE_LOG_UNRESOLVABLE);
    }

    p = ngx_sprintf(p, "{\"index\":%ui,\"transactionId\":\"%V\","
                    "\"success\":%s,\"error\":", index, &item->id,
                    error ? "false" : "true");

    p = error ? ngx_sprintf(p, "\"%s\"", error) : ngx_sprintf(p, "null");

    return ngx_sprintf(p, ",\"leaseReleased\":%s,\"dlq\":%s,\"noop\":%s}",
                       released ? "true" : "false", dead ? "true" : "false",
                       noop ? "true" : "false");
}
