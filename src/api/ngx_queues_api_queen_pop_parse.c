
#include "ngx_queues_api_queen_pop.h"
#include "ngx_queues_api_queen_extra.h"


#define NGX_QUEUES_API_QUEEN_TIMEOUT      30000       /* ms */
#define NGX_QUEUES_API_QUEEN_TIMEOUT_MAX  3600000


typedef enum {
    NGX_QUEUES_API_QUEEN_POP_BATCH = 0,
    NGX_QUEUES_API_QUEEN_POP_PARTITIONS,
    NGX_QUEUES_API_QUEEN_POP_WAIT,
    NGX_QUEUES_API_QUEEN_POP_TIMEOUT,
    NGX_QUEUES_API_QUEEN_POP_GROUP,
    NGX_QUEUES_API_QUEEN_POP_AUTO_ACK,
    NGX_QUEUES_API_QUEEN_POP_LEASE,
    NGX_QUEUES_API_QUEEN_POP_MODE,
    NGX_QUEUES_API_QUEEN_POP_FROM,
    NGX_QUEUES_API_QUEEN_POP_SPACE,
    NGX_QUEUES_API_QUEEN_POP_TASK,
    NGX_QUEUES_API_QUEEN_POP_NPARAMETERS
} ngx_queues_api_queen_pop_parameter_e;


static ngx_int_t ngx_queues_api_queen_pop_place(ngx_queues_api_t *api,
    ngx_str_t *values, ngx_queues_store_log_pop_t *pop);
static ngx_int_t ngx_queues_api_queen_pop_numbers(ngx_queues_api_t *api,
    ngx_str_t *values, ngx_queues_api_queen_pop_t *ctx);
static void ngx_queues_api_queen_pop_from(ngx_str_t *values,
    ngx_queues_store_log_pop_t *pop);
static ngx_uint_t ngx_queues_api_queen_pop_is(ngx_str_t *value,
    const char *text);


static const ngx_str_t  ngx_queues_api_queen_pop_names[] = {
    ngx_string("batch"),
    ngx_string("partitions"),
    ngx_string("wait"),
    ngx_string("timeout"),
    ngx_string("consumerGroup"),
    ngx_string("autoAck"),
    ngx_string("leaseSeconds"),
    ngx_string("subscriptionMode"),
    ngx_string("subscriptionFrom"),
    ngx_string("namespace"),
    ngx_string("task")
};


ngx_int_t
ngx_queues_api_queen_pop_parse(ngx_queues_api_t *api,
    ngx_queues_api_queen_pop_t *ctx)
{
    ngx_str_t                    values[NGX_QUEUES_API_QUEEN_POP_NPARAMETERS];
    ngx_str_t                   *value;
    ngx_queues_store_log_pop_t  *pop;

    pop = &ctx->pop;

    if (ngx_queues_api_queen_query(api, ngx_queues_api_queen_pop_names,
                                   NGX_QUEUES_API_QUEEN_POP_NPARAMETERS,
                                   values)
        != NGX_OK
        || ngx_queues_api_queen_pop_place(api, values, pop) != NGX_OK
        || ngx_queues_api_queen_pop_numbers(api, values, ctx) != NGX_OK)
    {
        return NGX_ERROR;
    }

    value = &values[NGX_QUEUES_API_QUEEN_POP_AUTO_ACK];

    pop->auto_ack = ngx_queues_api_queen_pop_is(value, "true")
                    || ngx_queues_api_queen_pop_is(value, "1");

    value = &values[NGX_QUEUES_API_QUEEN_POP_GROUP];

    if (value->len == 0
        || ngx_queues_api_queen_pop_is(value, NGX_QUEUES_API_QUEEN_NO_GROUP))
    {
        ngx_str_set(&pop->group, NGX_QUEUES_API_QUEEN_NO_GROUP);
        return NGX_OK;
    }

    ngx_queues_api_queen_pop_from(values, pop);

    return ngx_queues_api_queen_text(api, value, "consumerGroup", &pop->group);
}


static ngx_int_t
ngx_queues_api_queen_pop_place(ngx_queues_api_t *api, ngx_str_t *values,
    ngx_queues_store_log_pop_t *pop)
{
    ngx_str_t  partition, *space, *task;

    if (api->queue.len) {
        partition = ngx_queues_api_capture(api, "partition");

        if (api->queue.len > NGX_QUEUES_API_QUEEN_NAME_MAX) {
            ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                                 "queue is longer than %d bytes",
                                 NGX_QUEUES_API_QUEEN_NAME_MAX);
            return NGX_ERROR;
        }

        pop->queue = api->queue;

        if (partition.len == 0) {
            return NGX_OK;
        }

        return ngx_queues_api_queen_text(api, &partition, "partition",
                                         &pop->lane);
    }

    space = &values[NGX_QUEUES_API_QUEEN_POP_SPACE];
    task = &values[NGX_QUEUES_API_QUEEN_POP_TASK];

    if (space->len == 0 && task->len == 0) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "namespace or task is required");
        return NGX_ERROR;
    }

    /* queues of any name may be among those */

    if (api->scope != NGX_QUEUES_BASE_GLOB_ALL) {
        ngx_queues_api_error(api, NGX_QUEUES_API_PERMISSION_DENIED, NULL, "");
        return NGX_ERROR;
    }

    if (ngx_queues_api_queen_text(api, space, "namespace", &pop->space)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_queen_text(api, task, "task", &pop->task);
}


static ngx_int_t
ngx_queues_api_queen_pop_numbers(ngx_queues_api_t *api, ngx_str_t *values,
    ngx_queues_api_queen_pop_t *ctx)
{
    uint64_t          batch, lanes, timeout, seconds;
    ngx_str_t        *wait;
    const ngx_str_t  *names;

    batch = 1;
    lanes = 1;
    timeout = NGX_QUEUES_API_QUEEN_TIMEOUT;
    seconds = 0;

    names = ngx_queues_api_queen_pop_names;

    if (ngx_queues_api_queen_number(api,
                                  &names[NGX_QUEUES_API_QUEEN_POP_BATCH],
                                  &values[NGX_QUEUES_API_QUEEN_POP_BATCH], 1,
                                  NGX_QUEUES_STORE_LOG_POPS, &batch)
        != NGX_OK
        || ngx_queues_api_queen_number(api,
                                  &names[NGX_QUEUES_API_QUEEN_POP_PARTITIONS],
                                  &values[NGX_QUEUES_API_QUEEN_POP_PARTITIONS],
                                  1, NGX_QUEUES_STORE_LOG_POPS, &lanes)
           != NGX_OK
        || ngx_queues_api_queen_number(api,
                                  &names[NGX_QUEUES_API_QUEEN_POP_TIMEOUT],
                                  &values[NGX_QUEUES_API_QUEEN_POP_TIMEOUT], 0,
                                  NGX_QUEUES_API_QUEEN_TIMEOUT_MAX, &timeout)
           != NGX_OK
        || ngx_queues_api_queen_number(api,
                                  &names[NGX_QUEUES_API_QUEEN_POP_LEASE],
                                  &values[NGX_QUEUES_API_QUEEN_POP_LEASE], 0,
                                  NGX_QUEUES_API_QUEEN_LEASE_MAX, &seconds)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    wait = &values[NGX_QUEUES_API_QUEEN_POP_WAIT];

    if (ngx_queues_api_queen_pop_is(wait, "true")
        || ngx_queues_api_queen_pop_is(wait, "1"))
    {
        ctx->timeout = (ngx_msec_t) timeout;
    }

    ctx->pop.batch = (ngx_uint_t) batch;
    ctx->pop.lanes = ctx->pop.lane.data ? 1 : (ngx_uint_t) lanes;
    ctx->pop.seconds = seconds ? (int64_t) seconds : -1;
    ctx->pop.wait = (ctx->timeout != 0);

    return NGX_OK;
}


/* a moment counts more than a mode, what is neither means all */

static void
ngx_queues_api_queen_pop_from(ngx_str_t *values,
    ngx_queues_store_log_pop_t *pop)
{
    ngx_str_t  *mode, *from;

    mode = &values[NGX_QUEUES_API_QUEEN_POP_MODE];
    from = &values[NGX_QUEUES_API_QUEEN_POP_FROM];

    if (ngx_queues_api_queen_pop_is(from, "now")) {
        pop->from = NGX_QUEUES_STORE_LOG_FROM_NOW;
        return;
    }

    if (from->len
        && ngx_queues_base_moment_parse(from, &pop->moment) == NGX_OK)
    {
        pop->from = NGX_QUEUES_STORE_LOG_FROM_TIME;
        return;
    }

    if (ngx_queues_api_queen_pop_is(mode, "new")
        || ngx_queues_api_queen_pop_is(mode, "new-only"))
    {
        pop->from = NGX_QUEUES_STORE_LOG_FROM_NOW;
    }
}


static ngx_uint_t
ngx_queues_api_queen_pop_is(ngx_str_t *value, const char *text)
{
    return value->len == ngx_strlen(text)
           && ngx_memcmp(value->data, text, value->len) == 0;
}
