
/*
 * Pops, and how they wait.  Those of one group and one partition, or of any,
 * stand in one line of their queue; those that look for queues by labels in
 * one of the project.
 */

#include "ngx_queues_api_queen_pop.h"

#include <ngx_sha1.h>


/* ms for the looks of a pop that does not wait, over many queues */
#define NGX_QUEUES_API_QUEEN_LOOKS      5000


static void ngx_queues_api_queen_pop(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_queen_pop_try(ngx_queues_api_t *api);
static ngx_uint_t ngx_queues_api_queen_pop_found(
    ngx_queues_store_result_t *result);
static uint64_t ngx_queues_api_queen_pop_queue(
    ngx_queues_store_result_t *result);
static ngx_msec_t ngx_queues_api_queen_pop_ms(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_pop_line(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_api_queen_pop_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_pop_undo(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_pop_lost(ngx_queues_api_t *api);
static void ngx_queues_api_queen_pop_empty(ngx_queues_api_t *api);


#define NGX_QUEUES_API_QUEEN_POP(path, name)                                  \
    { NGX_HTTP_GET,                                                           \
      ngx_string("/api/v1/pop" path),                                         \
      ngx_string(name),                                                       \
      NGX_QUEUES_CONF_QUEEN,                                                  \
      ngx_string("queen.use.pop"),                                            \
      NGX_QUEUES_API_NO_BODY,                                                 \
      0,                                                                      \
      ngx_queues_api_queen_pop }


const ngx_queues_api_route_t  ngx_queues_api_queen_pop_routes[] = {
    NGX_QUEUES_API_QUEEN_POP("/queue/{queue}", "QueenPop"),
    NGX_QUEUES_API_QUEEN_POP("/queue/{queue}/partition/{partition}",
                             "QueenPopPartition"),
    NGX_QUEUES_API_QUEEN_POP("", "QueenPopLabels"),
    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static const ngx_queues_api_waits_t  ngx_queues_api_queen_pops = {
    ngx_queues_api_queen_pop_try,
    ngx_queues_api_queen_pop_found,
    ngx_queues_api_queen_pop_queue,
    ngx_queues_api_queen_pop_ms,
    ngx_queues_api_queen_pop_line,
    NULL,
    ngx_queues_api_queen_pop_answer,
    ngx_queues_api_queen_pop_undo,
    ngx_queues_api_queen_pop_lost,
    ngx_queues_api_queen_pop_empty,
    ngx_queues_api_store_error,
    NGX_QUEUES_API_QUEEN_LOOKS,
    1
};


static void
ngx_queues_api_queen_pop(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_pop_t  *ctx;

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_queen_pop_t));
    if (ctx == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    if (ngx_queues_api_queen_pop_parse(api, ctx) == NGX_OK) {
        ngx_queues_api_wait(api, &ctx->wait, &ngx_queues_api_queen_pops);
    }
}


static ngx_int_t
ngx_queues_api_queen_pop_try(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_pop_t  *ctx;

    ctx = api->data;

    return ngx_queues_store_log_pop(&api->root, &ctx->pop,
                                    ngx_queues_api_waited, api);
}


static ngx_uint_t
ngx_queues_api_queen_pop_found(ngx_queues_store_result_t *result)
{
    return result->log->nmessages;
}


static uint64_t
ngx_queues_api_queen_pop_queue(ngx_queues_store_result_t *result)
{
    return result->log->queue;
}


static ngx_msec_t
ngx_queues_api_queen_pop_ms(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_queen_pop_t  *ctx;

    ctx = api->data;

    return ctx->timeout;
}


/* the texts may be long, their hash tells them apart as well */

static void
ngx_queues_api_queen_pop_line(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_sha1_t                   sha1;
    ngx_queues_api_queen_pop_t  *ctx;
    ngx_queues_store_log_pop_t  *pop;

    ctx = api->data;
    pop = &ctx->pop;

    /* the texts have no control characters */

    ngx_sha1_init(&sha1);
    ngx_sha1_update(&sha1, pop->group.data, pop->group.len);
    ngx_sha1_update(&sha1, pop->lane.data ? "\n" : "\t", 1);
    ngx_sha1_update(&sha1, pop->lane.data, pop->lane.len);
    ngx_sha1_update(&sha1, "\n", 1);
    ngx_sha1_update(&sha1, pop->space.data, pop->space.len);
    ngx_sha1_update(&sha1, "\n", 1);
    ngx_sha1_update(&sha1, pop->task.data, pop->task.len);
    ngx_sha1_final(ctx->hash, &sha1);

    ctx->wait.part.data = ctx->hash;
    ctx->wait.part.len = sizeof(ctx->hash);
}


static ngx_int_t
ngx_queues_api_queen_pop_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    return ngx_queues_api_queen_pop_write(api, api->data, result->log);
}


static void
ngx_queues_api_queen_pop_undo(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_queen_pop_lost(api);
}


static void
ngx_queues_api_queen_pop_lost(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_pop_t  *ctx;

    ctx = api->data;

    /* what is acknowledged cannot be given back */

    if (!ctx->pop.auto_ack) {
        ngx_queues_store_log_undo(&api->root, ctx->pop.lease);
    }
}


/* not so much as a length of zero: see the API page, "The bodiless 204" */

static void
ngx_queues_api_queen_pop_empty(ngx_queues_api_t *api)
{
    api->op->note->messages = 0;

    ngx_queues_api_answer(api, NGX_HTTP_NO_CONTENT, NULL, NULL);
}
