
/* Dead letters. */

#include "ngx_queues_api_queen_extra.h"


#define NGX_QUEUES_API_QUEEN_DEAD_LIMIT  100
#define NGX_QUEUES_API_QUEEN_DEAD_MAX    1000


typedef enum {
    NGX_QUEUES_API_QUEEN_DEAD_QUEUE = 0,
    NGX_QUEUES_API_QUEEN_DEAD_GROUP,
    NGX_QUEUES_API_QUEEN_DEAD_LIMITED,
    NGX_QUEUES_API_QUEEN_DEAD_OFFSET,
    NGX_QUEUES_API_QUEEN_DEAD_NPARAMETERS
} ngx_queues_api_queen_dead_parameter_e;


typedef struct {
    ngx_str_t                     queue;
    ngx_str_t                     group;
    uint64_t                      limit;
    uint64_t                      offset;
    uint64_t                      deleted;
} ngx_queues_api_queen_dead_t;


static void ngx_queues_api_queen_dead(ngx_queues_api_t *api);
static ngx_queues_api_queen_dead_t *ngx_queues_api_queen_dead_read(
    ngx_queues_api_t *api);
static void ngx_queues_api_queen_dead_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_api_queen_dead_row(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row, ngx_queues_api_queen_out_t *out);
static void ngx_queues_api_queen_purge(ngx_queues_api_t *api);
static void ngx_queues_api_queen_purge_start(ngx_queues_api_t *api);
static void ngx_queues_api_queen_purge_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


static const ngx_str_t  ngx_queues_api_queen_dead_names[] = {
    ngx_string("queue"),
    ngx_string("consumerGroup"),
    ngx_string("limit"),
    ngx_string("offset")
};


const ngx_queues_api_route_t  ngx_queues_api_queen_dead_routes[] = {

    { NGX_HTTP_GET,
      ngx_string("/api/v1/dlq"),
      ngx_string("QueenDeadLetters"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.deadLetters"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_dead },

    { NGX_HTTP_DELETE,
      ngx_string("/api/v1/dlq"),
      ngx_string("QueenPurgeDeadLetters"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.admin.purgeDeadLetters"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_purge },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static void
ngx_queues_api_queen_dead(ngx_queues_api_t *api)
{
    ngx_queues_store_logs_t       call;
    ngx_queues_api_queen_dead_t  *ctx;

    ctx = ngx_queues_api_queen_dead_read(api);
    if (ctx == NULL) {
        return;
    }

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_DEAD);
    ngx_queues_store_logs_text(&call, &ctx->queue);
    ngx_queues_store_logs_text(&call, &ctx->group);
    ngx_queues_store_logs_number(&call, ctx->offset);
    ngx_queues_store_logs_number(&call, ctx->limit);

    ngx_queues_api_queen_start(api, &call, ngx_queues_api_queen_dead_answer);
}


/* NULL after it has answered */

static ngx_queues_api_queen_dead_t *
ngx_queues_api_queen_dead_read(ngx_queues_api_t *api)
{
    ngx_str_t                     *v;
    const ngx_str_t               *names;
    ngx_queues_api_queen_dead_t   *ctx;
    ngx_str_t   values[NGX_QUEUES_API_QUEEN_DEAD_NPARAMETERS];

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_queen_dead_t));
    if (ctx == NULL) {
        ngx_queues_api_no_memory(api);
        return NULL;
    }

    api->data = ctx;

    ctx->limit = NGX_QUEUES_API_QUEEN_DEAD_LIMIT;

    v = values;
    names = ngx_queues_api_queen_dead_names;

    if (ngx_queues_api_queen_query(api, names,
                                   NGX_QUEUES_API_QUEEN_DEAD_NPARAMETERS, v)
        != NGX_OK
        || ngx_queues_api_queen_word(api, "queue",
                                     &v[NGX_QUEUES_API_QUEEN_DEAD_QUEUE],
                                     &ctx->queue)
           != NGX_OK
        || ngx_queues_api_queen_word(api, "consumerGroup",
                                     &v[NGX_QUEUES_API_QUEEN_DEAD_GROUP],
                                     &ctx->group)
           != NGX_OK
        || ngx_queues_api_queen_number(api,
                                  &names[NGX_QUEUES_API_QUEEN_DEAD_LIMITED],
                                  &v[NGX_QUEUES_API_QUEEN_DEAD_LIMITED], 1,
                                  NGX_QUEUES_API_QUEEN_DEAD_MAX, &ctx->limit)
           != NGX_OK
        || ngx_queues_api_queen_number(api,
                                  &names[NGX_QUEUES_API_QUEEN_DEAD_OFFSET],
                                  &v[NGX_QUEUES_API_QUEEN_DEAD_OFFSET], 0,
                                  NGX_QUEUES_API_QUEEN_OFFSET_MAX,
                                  &ctx->offset)
           != NGX_OK
        || ngx_queues_api_queen_of(api, &ctx->queue) != NGX_OK)
    {
        return NULL;
    }

    return ctx;
}


static void
ngx_queues_api_queen_dead_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t                    i;
    ngx_queues_api_queen_out_t    out;
    ngx_queues_api_queen_dead_t  *ctx;

    ctx = api->data;

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "{'messages':[");

    for (i = 1; i < result->nvalues; i += NGX_QUEUES_STORE_OF_DEAD_NCOLUMNS) {

        if (ngx_queues_api_queen_dead_row(api, &result->values[i], &out)
            != NGX_OK)
        {
            return;
        }
    }

    ngx_queues_api_queen_trim(&out);
    ngx_queues_api_queen_write(&out, "],'pagination':{'limit':%d,'offset':%d},"
                               "'total':%v}", ctx->limit, ctx->offset,
                               &result->values[0]);
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


static ngx_int_t
ngx_queues_api_queen_dead_row(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row, ngx_queues_api_queen_out_t *out)
{
    uint64_t                  ms;
    ngx_str_t                *payload;
    ngx_queues_store_lane_t   lane;

    payload = &row[NGX_QUEUES_STORE_OF_DEAD_PAYLOAD].text;

    if (row[NGX_QUEUES_STORE_OF_DEAD_SEALED].number
        && ngx_queues_api_queen_unseal(api, payload) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_queues_api_queen_lane(&row[NGX_QUEUES_STORE_OF_DEAD_ID],
                              &row[NGX_QUEUES_STORE_OF_DEAD_L], &lane);

    ms = row[NGX_QUEUES_STORE_OF_DEAD_MS].number;

    ngx_queues_api_queen_write(out,
        "{'id':%m,'transactionId':%s,'partitionId':%l,'queue':%s,"
        "'partition':%s,'consumerGroup':%s,'errorMessage':%n,",
        &lane, row[NGX_QUEUES_STORE_OF_DEAD_OFFSET].number, ms,
        &row[NGX_QUEUES_STORE_OF_DEAD_TXN].text, &lane,
        &row[NGX_QUEUES_STORE_OF_DEAD_QUEUE].text,
        &row[NGX_QUEUES_STORE_OF_DEAD_LANE].text,
        &row[NGX_QUEUES_STORE_OF_DEAD_GROUP].text,
        &row[NGX_QUEUES_STORE_OF_DEAD_ERROR].text);

    ngx_queues_api_queen_write(out,
        "'retryCount':%v,'data':%r,'producerSub':%n,'createdAt':%t,"
        "'failedAt':%t},",
        &row[NGX_QUEUES_STORE_OF_DEAD_RETRIES], payload,
        &row[NGX_QUEUES_STORE_OF_DEAD_PRODUCER].text, ms,
        row[NGX_QUEUES_STORE_OF_DEAD_FAILED].number);

    return NGX_OK;
}


static void
ngx_queues_api_queen_purge(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_dead_t  *ctx;

    ctx = ngx_queues_api_queen_dead_read(api);
    if (ctx == NULL) {
        return;
    }

    if (ctx->queue.len == 0) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "queue is required");
        return;
    }

    ngx_queues_api_queen_purge_start(api);
}


static void
ngx_queues_api_queen_purge_start(ngx_queues_api_t *api)
{
    ngx_queues_store_logs_t       call;
    ngx_queues_api_queen_dead_t  *ctx;

    ctx = api->data;

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_PURGE_DEAD);
    ngx_queues_store_logs_text(&call, &ctx->queue);
    ngx_queues_store_logs_text(&call, &ctx->group);

    ngx_queues_api_queen_start(api, &call, ngx_queues_api_queen_purge_answer);
}


/* those of one group leave in steps */

static void
ngx_queues_api_queen_purge_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_queen_out_t    out;
    ngx_queues_api_queen_dead_t  *ctx;

    ctx = api->data;
    ctx->deleted += result->values[0].number;

    if (result->values[1].number) {
        ngx_queues_api_queen_purge_start(api);
        return;
    }

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "{'success':true,'deleted':%d,'queue':%s,"
                               "'consumerGroup':%n}", ctx->deleted,
                               &ctx->queue, &ctx->group);
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}
