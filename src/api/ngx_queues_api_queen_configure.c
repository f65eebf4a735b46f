
/*
 * Queues are made and given options, and deleted.  What is configured replaces
 * all that was.
 */

#include "ngx_queues_api_queen_extra.h"


#define NGX_QUEUES_API_QUEEN_LEASE_UNSET  60    /* seconds, for leaseTime 0 */

/* seconds, of what is kept that long */
#define NGX_QUEUES_API_QUEEN_OPTION_MAX   1000000000


typedef enum {
    NGX_QUEUES_API_QUEEN_OPTION_LEASE = 0,
    NGX_QUEUES_API_QUEEN_OPTION_RETRIES,
    NGX_QUEUES_API_QUEEN_OPTION_DELAY,
    NGX_QUEUES_API_QUEEN_OPTION_WINDOW,
    NGX_QUEUES_API_QUEEN_OPTION_RETENTION,
    NGX_QUEUES_API_QUEEN_OPTION_COMPLETED,
    NGX_QUEUES_API_QUEEN_OPTION_MAX_WAIT,
    NGX_QUEUES_API_QUEEN_OPTION_DEDUP,
    NGX_QUEUES_API_QUEEN_OPTION_MIN_POP,
    NGX_QUEUES_API_QUEEN_OPTION_RETENTION_ON,
    NGX_QUEUES_API_QUEEN_OPTION_DEAD,
    NGX_QUEUES_API_QUEEN_OPTION_DEAD_TOO,
    NGX_QUEUES_API_QUEEN_OPTION_SEALED,
    NGX_QUEUES_API_QUEEN_OPTION_RETRY_DELAY,
    NGX_QUEUES_API_QUEEN_OPTION_PRIORITY,
    NGX_QUEUES_API_QUEEN_OPTION_TTL,
    NGX_QUEUES_API_QUEEN_OPTION_MAX_SIZE,
    NGX_QUEUES_API_QUEEN_NOPTIONS
} ngx_queues_api_queen_option_e;


typedef enum {
    NGX_QUEUES_API_QUEEN_CONFIGURE_QUEUE = 0,
    NGX_QUEUES_API_QUEEN_CONFIGURE_SPACE,
    NGX_QUEUES_API_QUEEN_CONFIGURE_TASK,
    NGX_QUEUES_API_QUEEN_CONFIGURE_OPTIONS,
    NGX_QUEUES_API_QUEEN_CONFIGURE_NMEMBERS
} ngx_queues_api_queen_configure_member_e;


typedef struct {
    ngx_str_t                      preset;
    int64_t                        max;      /* 0: a boolean; -1: any number,
                                                nothing comes of it */
} ngx_queues_api_queen_option_t;


typedef struct {
    ngx_str_t                      queue;
    ngx_str_t                      space;
    ngx_str_t                      task;
    ngx_str_t                      options;  /* JSON */
    int64_t                        values[NGX_QUEUES_API_QUEEN_NOPTIONS];
} ngx_queues_api_queen_configure_t;


static void ngx_queues_api_queen_configure(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_queen_configure_read(ngx_queues_api_t *api,
    ngx_queues_api_queen_configure_t *ctx);
static ngx_int_t ngx_queues_api_queen_options(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *object,
    ngx_queues_api_queen_configure_t *ctx);
static ngx_int_t ngx_queues_api_queen_option(ngx_queues_api_t *api,
    ngx_uint_t i, ngx_queues_base_json_value_t *value, int64_t *n);
static void ngx_queues_api_queen_configure_start(ngx_queues_api_t *api,
    ngx_queues_api_queen_configure_t *ctx);
static void ngx_queues_api_queen_configure_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_delete(ngx_queues_api_t *api);
static void ngx_queues_api_queen_delete_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


static const ngx_str_t  ngx_queues_api_queen_configure_names[] = {
    ngx_string("queue"),
    ngx_string("namespace"),
    ngx_string("task"),
    ngx_string("options")
};


static const ngx_str_t  ngx_queues_api_queen_option_names[] = {
    ngx_string("leaseTime"),
    ngx_string("retryLimit"),
    ngx_string("delayedProcessing"),
    ngx_string("windowBuffer"),
    ngx_string("retentionSeconds"),
    ngx_string("completedRetentionSeconds"),
    ngx_string("maxWaitTimeSeconds"),
    ngx_string("dedupWindowSeconds"),
    ngx_string("minPopWaitTime"),
    ngx_string("retentionEnabled"),
    ngx_string("deadLetterQueue"),
    ngx_string("dlqAfterMaxRetries"),
    ngx_string("encryptionEnabled"),
    ngx_string("retryDelay"),
    ngx_string("priority"),
    ngx_string("ttl"),
    ngx_string("maxSize")
};


static const ngx_queues_api_queen_option_t
    ngx_queues_api_queen_option_rules[] =
{
    { ngx_string("300"), NGX_QUEUES_API_QUEEN_LEASE_MAX },
    { ngx_string("3"), NGX_QUEUES_API_QUEEN_LEASE_MAX },
    { ngx_string("0"), NGX_QUEUES_API_QUEEN_LEASE_MAX },
    { ngx_string("0"), NGX_QUEUES_API_QUEEN_LEASE_MAX },
    { ngx_string("0"), NGX_QUEUES_API_QUEEN_OPTION_MAX },
    { ngx_string("0"), NGX_QUEUES_API_QUEEN_OPTION_MAX },
    { ngx_string("0"), NGX_QUEUES_API_QUEEN_OPTION_MAX },
    { ngx_string("3600"), NGX_QUEUES_API_QUEEN_LEASE_MAX },
    { ngx_string("0"), NGX_QUEUES_API_QUEEN_OPTION_MAX },
    { ngx_string("false"), 0 },
    { ngx_string("true"), 0 },
    { ngx_string("true"), 0 },
    { ngx_string("false"), 0 },
    { ngx_string("1000"), -1 },
    { ngx_string("0"), -1 },
    { ngx_string("3600"), -1 },
    { ngx_string("0"), -1 }
};


const ngx_queues_api_route_t  ngx_queues_api_queen_configure_routes[] = {

    { NGX_HTTP_POST,
      ngx_string("/api/v1/configure"),
      ngx_string("QueenConfigure"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.use.configure"),
      NGX_QUEUES_API_ANY_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_queen_configure },

    { NGX_HTTP_DELETE,
      ngx_string("/api/v1/resources/queues/{queue}"),
      ngx_string("QueenDeleteQueue"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.admin.deleteQueue"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_delete },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static void
ngx_queues_api_queen_configure(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_configure_t  *ctx;

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_queen_configure_t));
    if (ctx == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = ctx;

    if (ngx_queues_api_queen_configure_read(api, ctx) != NGX_OK) {
        return;
    }

    if (!ngx_queues_api_permits(api, NULL, &ctx->queue)) {
        ngx_queues_api_error(api, NGX_QUEUES_API_PERMISSION_DENIED, NULL, "");
        return;
    }

    ngx_queues_api_queen_configure_start(api, ctx);
}


static ngx_int_t
ngx_queues_api_queen_configure_read(ngx_queues_api_t *api,
    ngx_queues_api_queen_configure_t *ctx)
{
    ngx_queues_base_json_value_t   body, *options;
    ngx_queues_base_json_value_t
        values[NGX_QUEUES_API_QUEEN_CONFIGURE_NMEMBERS];

    if (ngx_queues_api_body(api, 0, &body) != NGX_OK
        || ngx_queues_api_queen_members(api, &body,
                              ngx_queues_api_queen_configure_names,
                              NGX_QUEUES_API_QUEEN_CONFIGURE_NMEMBERS, values)
           != NGX_OK
        || ngx_queues_api_queen_string(api,
                              &values[NGX_QUEUES_API_QUEEN_CONFIGURE_QUEUE],
                              "queue", &ctx->queue)
           != NGX_OK
        || ngx_queues_api_queen_string(api,
                              &values[NGX_QUEUES_API_QUEEN_CONFIGURE_SPACE],
                              "namespace", &ctx->space)
           != NGX_OK
        || ngx_queues_api_queen_string(api,
                              &values[NGX_QUEUES_API_QUEEN_CONFIGURE_TASK],
                              "task", &ctx->task)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    /* the empty name is one, too */

    if (ctx->queue.data == NULL) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "queue is required");
        return NGX_ERROR;
    }

    options = &values[NGX_QUEUES_API_QUEEN_CONFIGURE_OPTIONS];

    if (options->type == NGX_QUEUES_BASE_JSON_NULL) {

        /* then they may stand beside the name */

        options = &body;
    }

    if (options->type != NGX_QUEUES_BASE_JSON_OBJECT) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "options must be an object");
        return NGX_ERROR;
    }

    return ngx_queues_api_queen_options(api, options, ctx);
}


/* those that are given are answered as they were written */

static ngx_int_t
ngx_queues_api_queen_options(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *object,
    ngx_queues_api_queen_configure_t *ctx)
{
    ngx_str_t                      name;
    ngx_uint_t                     i;
    ngx_queues_api_queen_out_t     out;
    ngx_queues_base_json_value_t   values[NGX_QUEUES_API_QUEEN_NOPTIONS];

    if (ngx_queues_api_queen_members(api, object,
                                     ngx_queues_api_queen_option_names,
                                     NGX_QUEUES_API_QUEEN_NOPTIONS, values)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "{");

    for (i = 0; i < NGX_QUEUES_API_QUEEN_NOPTIONS; i++) {

        if (values[i].type == NGX_QUEUES_BASE_JSON_NULL) {
            values[i].raw = ngx_queues_api_queen_option_rules[i].preset;
            values[i].type = ngx_queues_base_json_type(values[i].raw.data[0]);
        }

        if (ngx_queues_api_queen_option(api, i, &values[i], &ctx->values[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        name = ngx_queues_api_queen_option_names[i];
        ngx_queues_api_queen_write(&out, "%s:%r,", &name, &values[i].raw);
    }

    ngx_queues_api_queen_trim(&out);
    ngx_queues_api_queen_write(&out, "}");

    if (out.failed) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    ctx->options.data = out.start;
    ctx->options.len = out.p - out.start;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_queen_option(ngx_queues_api_t *api, ngx_uint_t i,
    ngx_queues_base_json_value_t *value, int64_t *n)
{
    int64_t     max;
    ngx_str_t   name;

    name = ngx_queues_api_queen_option_names[i];
    max = ngx_queues_api_queen_option_rules[i].max;

    if (max == 0) {
        *n = (value->type == NGX_QUEUES_BASE_JSON_TRUE);

        if (*n || value->type == NGX_QUEUES_BASE_JSON_FALSE) {
            return NGX_OK;
        }

        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "%V must be a boolean", &name);
        return NGX_ERROR;
    }

    if (max < 0) {
        if (value->type == NGX_QUEUES_BASE_JSON_NUMBER) {
            return NGX_OK;
        }

        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "%V must be a number", &name);
        return NGX_ERROR;
    }

    if (ngx_queues_base_json_integer(value, n) == NGX_OK
        && *n >= 0 && *n <= max)
    {
        return NGX_OK;
    }

    ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                         "%V must be an integer from 0 to %L", &name, max);

    return NGX_ERROR;
}


ngx_int_t
ngx_queues_api_queen_defaults(ngx_queues_api_t *api, ngx_str_t *options)
{
    ngx_queues_base_json_value_t       none;
    ngx_queues_api_queen_configure_t   ctx;

    none.type = NGX_QUEUES_BASE_JSON_OBJECT;
    ngx_str_set(&none.raw, "{}");

    if (ngx_queues_api_queen_options(api, &none, &ctx) != NGX_OK) {
        return NGX_ERROR;
    }

    *options = ctx.options;

    return NGX_OK;
}


static void
ngx_queues_api_queen_configure_start(ngx_queues_api_t *api,
    ngx_queues_api_queen_configure_t *ctx)
{
    u_char                    id[NGX_QUEUES_BASE_SHORT_LEN];
    u_char                    uuid[NGX_QUEUES_BASE_UUID_LEN];
    int64_t                  *v;
    ngx_str_t                 text;
    ngx_queues_store_logs_t   call;

    if (ngx_queues_api_new_id(api, id, uuid) != NGX_OK) {
        return;
    }

    v = ctx->values;

    if (v[NGX_QUEUES_API_QUEEN_OPTION_LEASE] == 0) {
        v[NGX_QUEUES_API_QUEEN_OPTION_LEASE]
                                          = NGX_QUEUES_API_QUEEN_LEASE_UNSET;
    }

    if (!v[NGX_QUEUES_API_QUEEN_OPTION_RETENTION_ON]) {
        v[NGX_QUEUES_API_QUEEN_OPTION_RETENTION] = 0;
        v[NGX_QUEUES_API_QUEEN_OPTION_COMPLETED] = 0;
    }

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_CONFIGURE);
    ngx_queues_store_logs_text(&call, &ctx->queue);

    text.data = id;
    text.len = sizeof(id);
    ngx_queues_store_logs_text(&call, &text);

    text.data = uuid;
    text.len = sizeof(uuid);
    ngx_queues_store_logs_text(&call, &text);

    ngx_queues_store_logs_text(&call, &ctx->space);
    ngx_queues_store_logs_text(&call, &ctx->task);
    ngx_queues_store_logs_text(&call, &ctx->options);

    ngx_queues_store_logs_number(&call, v[NGX_QUEUES_API_QUEEN_OPTION_LEASE]);
    ngx_queues_store_logs_number(&call,
                                 v[NGX_QUEUES_API_QUEEN_OPTION_RETRIES]);
    ngx_queues_store_logs_number(&call, v[NGX_QUEUES_API_QUEEN_OPTION_DELAY]);
    ngx_queues_store_logs_number(&call,
                                 v[NGX_QUEUES_API_QUEEN_OPTION_WINDOW]);
    ngx_queues_store_logs_number(&call,
                                 v[NGX_QUEUES_API_QUEEN_OPTION_RETENTION]);
    ngx_queues_store_logs_number(&call,
                                 v[NGX_QUEUES_API_QUEEN_OPTION_COMPLETED]);
    ngx_queues_store_logs_number(&call,
                                 v[NGX_QUEUES_API_QUEEN_OPTION_MAX_WAIT]);
    ngx_queues_store_logs_number(&call,
                                 v[NGX_QUEUES_API_QUEEN_OPTION_DEAD]
                                 || v[NGX_QUEUES_API_QUEEN_OPTION_DEAD_TOO]);
    ngx_queues_store_logs_number(&call,
                                 v[NGX_QUEUES_API_QUEEN_OPTION_SEALED]);
    ngx_queues_store_logs_number(&call, v[NGX_QUEUES_API_QUEEN_OPTION_DEDUP]);
    ngx_queues_store_logs_number(&call,
                                 v[NGX_QUEUES_API_QUEEN_OPTION_MIN_POP]);

    ngx_queues_api_queen_start(api, &call,
                               ngx_queues_api_queen_configure_answer);
}


static void
ngx_queues_api_queen_configure_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_queen_out_t         out;
    ngx_queues_api_queen_configure_t  *ctx;

    ctx = api->data;

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "{'configured':true,'queueId':%s,"
                               "'partitionId':null,'queue':%s,'namespace':%s,"
                               "'task':%s,'options':%r}",
                               &result->values[1].text, &ctx->queue,
                               &ctx->space, &ctx->task, &ctx->options);
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_delete(ngx_queues_api_t *api)
{
    ngx_queues_store_logs_t  call;

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_DELETE);
    ngx_queues_store_logs_text(&call, &api->queue);

    ngx_queues_api_queen_start(api, &call, ngx_queues_api_queen_delete_answer);
}


static void
ngx_queues_api_queen_delete_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t                  existed;
    ngx_queues_api_queen_out_t  out;

    existed = (result->values[0].number != 0);

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "{'deleted':%b,'queue':%s,'existed':%b}",
                               existed, &api->queue, existed);
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}
