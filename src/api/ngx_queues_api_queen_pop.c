
/*
 * Pops, and how they wait.  Those of one group and one partition, or of any,
 * stand in one line of their queue; those that look for queues by labels in
 * one of the project.
 */

#include "ngx_queues_api_queen_pop.h"

#include <ngx_sha1.h>


/* of a project, for all lines of those that look for queues */
#define NGX_QUEUES_API_QUEEN_DISCOVERY  "d"

/* ms for the looks of a pop that does not wait, over many queues */
#define NGX_QUEUES_API_QUEEN_LOOKS      5000


static void ngx_queues_api_queen_pop(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_queen_pop_try(ngx_queues_http_op_t *op);
static void ngx_queues_api_queen_pop_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_pop_first(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_pop_again(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static ngx_uint_t ngx_queues_api_queen_pop_nobody(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_pop_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_pop_undo(ngx_queues_api_t *api);
static void ngx_queues_api_queen_pop_lost(ngx_queues_http_op_t *op);
static void ngx_queues_api_queen_pop_park(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_pop_line(ngx_queues_api_queen_pop_t *ctx,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_pop_end(ngx_queues_http_op_t *op);
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


static void
ngx_queues_api_queen_pop(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_pop_t  *ctx;

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_queen_pop_t));
    if (ctx == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = ctx;
    ctx->start = ngx_current_msec;

    if (ngx_queues_api_queen_pop_parse(api, ctx) != NGX_OK) {
        return;
    }

    ngx_queues_http_look(api->op);

    if (ngx_queues_api_queen_pop_try(api->op) != NGX_OK) {
        ngx_queues_api_no_memory(api);
    }
}


static ngx_int_t
ngx_queues_api_queen_pop_try(ngx_queues_http_op_t *op)
{
    ngx_queues_api_t *api = op->data;

    ngx_queues_api_queen_pop_t  *ctx;

    ctx = api->data;

    if (ngx_queues_store_log_pop(&api->root, &ctx->pop,
                                 ngx_queues_api_queen_pop_done, api)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_queues_http_op_hold(op);

    return NGX_OK;
}


static void
ngx_queues_api_queen_pop_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->wait.state == NGX_QUEUES_HTTP_WAIT_NONE) {
        ngx_queues_api_queen_pop_first(api, result);

    } else {
        ngx_queues_api_queen_pop_again(api, result);
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_queen_pop_first(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_msec_t                   passed;
    ngx_queues_api_queen_pop_t  *ctx;

    ctx = api->data;

    if (ngx_queues_api_queen_pop_nobody(api, result)) {
        return;
    }

    if (result->code != NGX_QUEUES_STORE_OK) {
        ngx_queues_api_store_error(api, result);
        return;
    }

    if (result->log->nmessages) {
        ngx_queues_api_queen_pop_answer(api, result);
        return;
    }

    passed = ngx_current_msec - ctx->start;

    if (ngx_exiting || ngx_terminate
        || passed >= (ctx->timeout ? ctx->timeout : NGX_QUEUES_API_QUEEN_LOOKS))
    {
        ngx_queues_api_queen_pop_empty(api);
        return;
    }

    if (result->next == 0) {

        /* there is more to be looked at than one call does */

        if (ngx_queues_api_queen_pop_try(api->op) != NGX_OK) {
            ngx_queues_api_no_memory(api);
        }

        return;
    }

    if (ctx->timeout == 0) {
        ngx_queues_api_queen_pop_empty(api);
        return;
    }

    ngx_queues_api_queen_pop_park(api, result);
}


/*
 * The outcome of a try while parked.  What is given back is given back before
 * the next one in the line tries.
 */

static void
ngx_queues_api_queen_pop_again(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t                   nobody, moved;
    ngx_queues_http_op_t        *op;
    ngx_queues_api_queen_pop_t  *ctx;

    op = api->op;
    ctx = api->data;

    if (result->code == NGX_QUEUES_STORE_UNAVAILABLE) {
        ngx_queues_http_tried(op, NGX_QUEUES_HTTP_TRY_FAILED, -1);
        return;
    }

    moved = 0;

    if (result->code == NGX_QUEUES_STORE_OK && result->log->nmessages == 0) {

        /* its queue was deleted, another one has the name now */

        moved = (result->log->queue != ctx->id && !op->wait.ended);

        if (!moved) {
            ngx_queues_http_tried(op, NGX_QUEUES_HTTP_TRY_EMPTY,
                                  ngx_queues_api_next(api, result->next));
            return;
        }
    }

    nobody = ngx_queues_api_queen_pop_nobody(api, result);

    ngx_queues_http_tried(op, NGX_QUEUES_HTTP_TRY_FOUND, -1);

    if (nobody) {
        return;
    }

    if (result->code != NGX_QUEUES_STORE_OK) {
        ngx_queues_api_store_error(api, result);
        return;
    }

    if (moved) {
        ngx_queues_api_queen_pop_park(api, result);
        return;
    }

    ngx_queues_api_queen_pop_answer(api, result);
}


/*
 * 1 if nobody is there any more to take the result, as the client has gone (a
 * look at its socket) or was answered during the try: messages are given back.
 */

static ngx_uint_t
ngx_queues_api_queen_pop_nobody(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t  found;

    found = (result->code == NGX_QUEUES_STORE_OK && result->log->nmessages);

    if (api->op->request == NULL || api->op->answered) {

        if (found) {
            ngx_queues_api_queen_pop_undo(api);
        }

        return 1;
    }

    if (found && ngx_queues_http_client_gone(api->op)) {
        ngx_queues_api_queen_pop_undo(api);
        ngx_queues_http_abandon(api->op);
        return 1;
    }

    return 0;
}


static void
ngx_queues_api_queen_pop_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_queen_pop_t  *ctx;

    ctx = api->data;

    ctx->claimed = 1;
    api->op->lost = ngx_queues_api_queen_pop_lost;

    if (ngx_queues_api_queen_pop_write(api, ctx, result->log) != NGX_OK) {
        ngx_queues_api_queen_pop_undo(api);
        ctx->claimed = 0;
    }
}


static void
ngx_queues_api_queen_pop_undo(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_pop_t  *ctx;

    ctx = api->data;

    /* what is acknowledged cannot be given back */

    if (!ctx->pop.auto_ack) {
        ngx_queues_store_log_undo(&api->root, ctx->pop.lease);
    }
}


static void
ngx_queues_api_queen_pop_lost(ngx_queues_http_op_t *op)
{
    ngx_queues_api_t *api = op->data;

    ngx_queues_api_queen_pop_t  *ctx;

    ctx = api->data;

    if (ctx->claimed) {
        op->note->messages = 0;

        ngx_queues_api_queen_pop_undo(api);
    }
}


static void
ngx_queues_api_queen_pop_park(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_msec_t                   passed;
    ngx_queues_api_queen_pop_t  *ctx;

    ctx = api->data;

    passed = ngx_current_msec - ctx->start;

    if (passed >= ctx->timeout) {
        ngx_queues_api_queen_pop_empty(api);
        return;
    }

    ngx_queues_api_queen_pop_line(ctx, result);

    if (ngx_queues_http_park(api->op, &api->root, &ctx->queue, &ctx->part,
                             ctx->timeout - passed,
                             ngx_queues_api_next(api, result->next),
                             ngx_queues_api_queen_pop_try,
                             ngx_queues_api_queen_pop_end)
        != NGX_OK)
    {
        ngx_queues_api_no_memory(api);
    }
}


/* the texts may be long, their hash tells them apart as well */

static void
ngx_queues_api_queen_pop_line(ngx_queues_api_queen_pop_t *ctx,
    ngx_queues_store_result_t *result)
{
    ngx_sha1_t                   sha1;
    ngx_queues_store_log_pop_t  *pop;

    pop = &ctx->pop;

    ctx->id = result->log->queue;

    if (ctx->id) {
        ctx->queue.data = ctx->short_id;
        ctx->queue.len = ngx_queues_base_short_print(ctx->short_id, ctx->id)
                         - ctx->short_id;

    } else {
        ngx_str_set(&ctx->queue, NGX_QUEUES_API_QUEEN_DISCOVERY);
    }

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

    ctx->part.data = ctx->hash;
    ctx->part.len = sizeof(ctx->hash);
}


static void
ngx_queues_api_queen_pop_end(ngx_queues_http_op_t *op)
{
    ngx_queues_api_t *api = op->data;

    if (ngx_queues_api_may_be_empty(api)) {
        ngx_queues_api_queen_pop_empty(api);
    }
}


/* not so much as a length of zero: see the API page, "The bodiless 204" */

static void
ngx_queues_api_queen_pop_empty(ngx_queues_api_t *api)
{
    api->op->note->messages = 0;

    ngx_queues_api_answer(api, NGX_HTTP_NO_CONTENT, NULL, NULL);
}
