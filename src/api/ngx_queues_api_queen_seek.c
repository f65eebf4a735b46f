
/* Consumer groups are moved and forgotten. */

#include "ngx_queues_api_queen_extra.h"


typedef enum {
    NGX_QUEUES_API_QUEEN_SEEK_END = 0,
    NGX_QUEUES_API_QUEEN_SEEK_TIME,
    NGX_QUEUES_API_QUEEN_SEEK_NMEMBERS
} ngx_queues_api_queen_seek_member_e;


typedef struct {
    ngx_str_t                     group;
    ngx_str_t                     partition;   /* empty: all of them */
    uint64_t                      moment;
    ngx_uint_t                    end;         /* unsigned  end:1; */
    ngx_uint_t                    metadata;    /* unsigned  metadata:1; */
    uint64_t                      partitions;  /* so far */
    uint64_t                      records;
} ngx_queues_api_queen_seek_t;


static ngx_queues_api_queen_seek_t *ngx_queues_api_queen_seek_create(
    ngx_queues_api_t *api);
static void ngx_queues_api_queen_subscription(ngx_queues_api_t *api);
static void ngx_queues_api_queen_subscription_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_seek(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_queen_seek_read(ngx_queues_api_t *api,
    ngx_queues_api_queen_seek_t *ctx);
static ngx_int_t ngx_queues_api_queen_seek_moment(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, const char *name, uint64_t *ms);
static void ngx_queues_api_queen_seek_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_forget(ngx_queues_api_t *api);
static void ngx_queues_api_queen_forget_start(ngx_queues_api_t *api);
static void ngx_queues_api_queen_forget_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


static const ngx_str_t  ngx_queues_api_queen_subscription_names[] = {
    ngx_string("subscriptionTimestamp")
};


static const ngx_str_t  ngx_queues_api_queen_seek_names[] = {
    ngx_string("toEnd"),
    ngx_string("timestamp")
};


static const ngx_str_t  ngx_queues_api_queen_forget_names[] = {
    ngx_string("deleteMetadata")
};


const ngx_queues_api_route_t  ngx_queues_api_queen_seek_routes[] = {

    { NGX_HTTP_POST,
      ngx_string("/api/v1/consumer-groups/{group}/subscription"),
      ngx_string("QueenSubscription"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.use.subscription"),
      NGX_QUEUES_API_ANY_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_queen_subscription },

    { NGX_HTTP_POST,
      ngx_string("/api/v1/consumer-groups/{group}/queues/{queue}/seek"),
      ngx_string("QueenSeek"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.use.seek"),
      NGX_QUEUES_API_ANY_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_queen_seek },

    { NGX_HTTP_POST,
      ngx_string("/api/v1/consumer-groups/{group}/queues/{queue}"
                 "/partitions/{partition}/seek"),
      ngx_string("QueenSeek"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.use.seek"),
      NGX_QUEUES_API_ANY_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_queen_seek },

    { NGX_HTTP_DELETE,
      ngx_string("/api/v1/consumer-groups/{group}"),
      ngx_string("QueenDeleteGroup"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.admin.deleteGroup"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_forget },

    { NGX_HTTP_DELETE,
      ngx_string("/api/v1/consumer-groups/{group}/queues/{queue}"),
      ngx_string("QueenDeleteGroup"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.admin.deleteGroup"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_forget },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


/* with what is in the path; NULL after it has answered */

static ngx_queues_api_queen_seek_t *
ngx_queues_api_queen_seek_create(ngx_queues_api_t *api)
{
    ngx_str_t                     group, partition;
    ngx_queues_api_queen_seek_t  *ctx;

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_queen_seek_t));
    if (ctx == NULL) {
        ngx_queues_api_no_memory(api);
        return NULL;
    }

    api->data = ctx;

    group = ngx_queues_api_capture(api, "group");
    partition = ngx_queues_api_capture(api, "partition");

    if (ngx_queues_api_queen_of(api, &api->queue) != NGX_OK
        || ngx_queues_api_queen_word(api, "group", &group, &ctx->group)
           != NGX_OK
        || ngx_queues_api_queen_word(api, "partition", &partition,
                                     &ctx->partition)
           != NGX_OK)
    {
        return NULL;
    }

    return ctx;
}


static void
ngx_queues_api_queen_subscription(ngx_queues_api_t *api)
{
    ngx_queues_store_logs_t        call;
    ngx_queues_api_queen_seek_t   *ctx;
    ngx_queues_base_json_value_t   value;

    ctx = ngx_queues_api_queen_seek_create(api);

    if (ctx == NULL
        || ngx_queues_api_queen_body(api,
                                     ngx_queues_api_queen_subscription_names,
                                     1, &value)
           != NGX_OK
        || ngx_queues_api_queen_seek_moment(api, &value,
                                            "subscriptionTimestamp",
                                            &ctx->moment)
           != NGX_OK)
    {
        return;
    }

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_SUBSCRIPTION);
    ngx_queues_store_logs_text(&call, &ctx->group);
    ngx_queues_store_logs_number(&call, ctx->moment);

    ngx_queues_api_queen_start(api, &call,
                               ngx_queues_api_queen_subscription_answer);
}


static void
ngx_queues_api_queen_subscription_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_queen_out_t    out;
    ngx_queues_api_queen_seek_t  *ctx;

    ctx = api->data;

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "{'success':true,'consumerGroup':%s,"
                               "'newTimestamp':%t,'rowsUpdated':%v}",
                               &ctx->group, ctx->moment, &result->values[0]);
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_seek(ngx_queues_api_t *api)
{
    ngx_str_t                     end;
    ngx_queues_store_logs_t       call;
    ngx_queues_api_queen_seek_t  *ctx;

    ctx = ngx_queues_api_queen_seek_create(api);

    if (ctx == NULL || ngx_queues_api_queen_seek_read(api, ctx) != NGX_OK) {
        return;
    }

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_SEEK);
    ngx_queues_store_logs_text(&call, &ctx->group);
    ngx_queues_store_logs_text(&call, &api->queue);
    ngx_queues_store_logs_text(&call, &ctx->partition);

    if (ctx->end) {
        ngx_str_set(&end, "end");
        ngx_queues_store_logs_text(&call, &end);

    } else {
        ngx_queues_store_logs_number(&call, ctx->moment);
    }

    ngx_queues_api_queen_start(api, &call, ngx_queues_api_queen_seek_answer);
}


/* of one partition, nothing means the end */

static ngx_int_t
ngx_queues_api_queen_seek_read(ngx_queues_api_t *api,
    ngx_queues_api_queen_seek_t *ctx)
{
    ngx_queues_base_json_value_t   body, *end, *moment;
    ngx_queues_base_json_value_t   values[NGX_QUEUES_API_QUEEN_SEEK_NMEMBERS];

    if (ngx_queues_api_body(api, 1, &body) != NGX_OK
        || ngx_queues_api_queen_members(api, &body,
                                        ngx_queues_api_queen_seek_names,
                                        NGX_QUEUES_API_QUEEN_SEEK_NMEMBERS,
                                        values)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    end = &values[NGX_QUEUES_API_QUEEN_SEEK_END];
    moment = &values[NGX_QUEUES_API_QUEEN_SEEK_TIME];

    if (end->type > NGX_QUEUES_BASE_JSON_TRUE) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "toEnd must be a boolean");
        return NGX_ERROR;
    }

    ctx->end = end->type == NGX_QUEUES_BASE_JSON_TRUE
               || (ctx->partition.len
                   && moment->type == NGX_QUEUES_BASE_JSON_NULL);

    if (ctx->end) {
        return NGX_OK;
    }

    if (moment->type == NGX_QUEUES_BASE_JSON_NULL) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "toEnd or timestamp is required");
        return NGX_ERROR;
    }

    return ngx_queues_api_queen_seek_moment(api, moment, "timestamp",
                                            &ctx->moment);
}


static ngx_int_t
ngx_queues_api_queen_seek_moment(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, const char *name, uint64_t *ms)
{
    if (value->type == NGX_QUEUES_BASE_JSON_STRING
        && ngx_queues_base_moment_parse(&value->raw, ms) == NGX_OK)
    {
        return NGX_OK;
    }

    ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                         "%s must be a time, as 2026-10-13T17:02:40Z", name);

    return NGX_ERROR;
}


static void
ngx_queues_api_queen_seek_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_queen_out_t    out;
    ngx_queues_api_queen_seek_t  *ctx;

    ctx = api->data;

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "{'success':true,'consumerGroup':%s,"
                               "'queueName':%s,", &ctx->group, &api->queue);

    if (ctx->partition.len) {
        ngx_queues_api_queen_write(&out, "'partitionName':%s,'updated':%b}",
                                   &ctx->partition,
                                   (ngx_uint_t)
                                       (result->values[0].number != 0));

    } else {
        ngx_queues_api_queen_write(&out, "'seekToEnd':%b,"
                                   "'targetTimestamp':%t,"
                                   "'partitionsUpdated':%v}", ctx->end,
                                   ctx->moment, &result->values[0]);
    }

    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_forget(ngx_queues_api_t *api)
{
    ngx_str_t                     value;
    ngx_queues_api_queen_seek_t  *ctx;

    ctx = ngx_queues_api_queen_seek_create(api);

    if (ctx == NULL
        || ngx_queues_api_queen_query(api, ngx_queues_api_queen_forget_names,
                                      1, &value)
           != NGX_OK)
    {
        return;
    }

    ctx->metadata = value.len != 5 || ngx_memcmp(value.data, "false", 5) != 0;

    ngx_queues_api_queen_forget_start(api);
}


static void
ngx_queues_api_queen_forget_start(ngx_queues_api_t *api)
{
    ngx_queues_store_logs_t       call;
    ngx_queues_api_queen_seek_t  *ctx;

    ctx = api->data;

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_FORGET);
    ngx_queues_store_logs_text(&call, &ctx->group);
    ngx_queues_store_logs_text(&call, &api->queue);
    ngx_queues_store_logs_number(&call, ctx->metadata);
    ngx_queues_store_logs_number(&call, api->queue.len == 0);

    ngx_queues_api_queen_start(api, &call, ngx_queues_api_queen_forget_answer);
}


static void
ngx_queues_api_queen_forget_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_queen_out_t    out;
    ngx_queues_api_queen_seek_t  *ctx;

    ctx = api->data;

    ctx->partitions += result->values[0].number;
    ctx->records += result->values[1].number;

    if (result->values[2].number) {

        /* a group of very many queues leaves them in steps */

        ngx_queues_api_queen_forget_start(api);
        return;
    }

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "{'success':true,'consumerGroup':%s,",
                               &ctx->group);

    if (api->queue.len) {
        ngx_queues_api_queen_write(&out, "'queueName':%s,", &api->queue);
    }

    ngx_queues_api_queen_write(&out, "'deletedPartitions':%d,"
                               "'metadataDeleted':%b}", ctx->partitions,
                               (ngx_uint_t) (ctx->records != 0));
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}
