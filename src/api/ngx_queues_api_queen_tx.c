
#include "ngx_queues_api_queen_tx.h"
#include "../stat/ngx_queues_stat_metrics.h"


static void ngx_queues_api_queen_tx(ngx_queues_api_t *api);
static void ngx_queues_api_queen_tx_start(ngx_queues_api_t *api,
    ngx_queues_api_queen_tx_t *ctx);
static void ngx_queues_api_queen_tx_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_tx_refused(ngx_queues_api_t *api,
    ngx_queues_store_log_ack_t *ack);
static void ngx_queues_api_queen_tx_failed(ngx_queues_api_t *api,
    const char *reason, const char *text, ngx_str_t *detail);
static void ngx_queues_api_queen_tx_answer(ngx_queues_api_t *api);
static u_char *ngx_queues_api_queen_tx_step(u_char *p, ngx_uint_t index,
    ngx_queues_api_queen_step_t *step);


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
    ctx = api->data;

    if (result->code == NGX_QUEUES_STORE_LOG_SEAL) {

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
            ngx_queues_api_queen_tx_refused(api, &ctx->tx.acks[result->index]);
        }
    }

    ngx_queues_http_op_release(api->op);
}


/* what an ack by itself is told, and which one it is */

static void
ngx_queues_api_queen_tx_refused(ngx_queues_api_t *api,
    ngx_queues_store_log_ack_t *ack)
{
    const char                  *text;
    ngx_queues_api_queen_ack_t   item;

    item.ack = ack;

    text = ngx_queues_api_queen_verdict(&item);

    ngx_queues_api_queen_tx_failed(api, "ack_rejected",
                                   text ? text : "ack rejected", &ack->id);
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
    ngx_uint_t                    i, nacks;
    ngx_queues_api_queen_tx_t    *ctx;
    ngx_queues_api_queen_step_t  *step;

    ctx = api->data;
    nacks = 0;

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
        nacks += (ctx->steps[i].item == NULL);
    }

    *p++ = ']';
    *p++ = '}';

    api->op->note->messages = ctx->nsteps;

    ngx_queues_stat_add(transacted[NGX_QUEUES_STAT_SENT],
                        ctx->nsteps - nacks);
    ngx_queues_stat_add(transacted[NGX_QUEUES_STAT_ACKNOWLEDGED], nacks);

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
