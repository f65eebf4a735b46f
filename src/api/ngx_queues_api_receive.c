
#include "ngx_queues_api_messages.h"


/* a receive from its first try to the end of its request */

typedef struct {
    ngx_queues_store_receive_t   receive;
    ngx_msec_t                   start;
    ngx_str_t                    queue;      /* id, once known */
    u_char                       id[NGX_QUEUES_BASE_SHORT_LEN];
    /* what was claimed and is not yet written */
    ngx_queues_store_place_t     place;
    uint64_t                     token;
    ngx_uint_t                   nclaims;
    ngx_queues_base_spot_t      *claims;
} ngx_queues_api_receive_t;


typedef enum {
    NGX_QUEUES_API_RECEIVE_MAX = 0,
    NGX_QUEUES_API_RECEIVE_WAIT,
    NGX_QUEUES_API_RECEIVE_VISIBILITY,
    NGX_QUEUES_API_RECEIVE_NMEMBERS
} ngx_queues_api_receive_member_e;


static ngx_int_t ngx_queues_api_receive_parse(ngx_queues_api_t *api,
    ngx_queues_store_receive_t *receive);
static ngx_int_t ngx_queues_api_receive_try(ngx_queues_http_op_t *op);
static void ngx_queues_api_receive_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_receive_first(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_receive_again(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static ngx_uint_t ngx_queues_api_receive_pass(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_receive_cut(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result, ngx_uint_t max,
    ngx_queues_store_result_t *part);
static ngx_uint_t ngx_queues_api_receive_nobody(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_receive_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_receive_park(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_receive_end(ngx_queues_http_op_t *op);
static void ngx_queues_api_receive_lost(ngx_queues_http_op_t *op);
static void ngx_queues_api_receive_empty(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_receive_keep(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


static const ngx_str_t  ngx_queues_api_receive_names[] = {
    ngx_string("maxMessages"),
    ngx_string("waitSeconds"),
    ngx_string("visibilityTimeoutSeconds")
};


void
ngx_queues_api_receive(ngx_queues_api_t *api)
{
    ngx_queues_api_receive_t  *ctx;

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_receive_t));
    if (ctx == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = ctx;
    ctx->start = ngx_current_msec;

    if (ngx_queues_api_receive_parse(api, &ctx->receive) != NGX_OK) {
        return;
    }

    ngx_queues_http_look(api->op);

    if (ngx_queues_api_receive_try(api->op) != NGX_OK) {
        ngx_queues_api_no_memory(api);
    }
}


static ngx_int_t
ngx_queues_api_receive_parse(ngx_queues_api_t *api,
    ngx_queues_store_receive_t *receive)
{
    int64_t                        max;
    const ngx_str_t               *names;
    ngx_queues_base_json_value_t   body;
    ngx_queues_base_json_value_t   values[NGX_QUEUES_API_RECEIVE_NMEMBERS];

    names = ngx_queues_api_receive_names;

    max = 1;
    receive->wait = -1;
    receive->visibility = -1;

    if (ngx_queues_api_body(api, 1, &body) != NGX_OK
        || ngx_queues_api_members(api, &body, NULL, names,
                                  NGX_QUEUES_API_RECEIVE_NMEMBERS, values)
           != NGX_OK
        || ngx_queues_api_integer(api, &values[NGX_QUEUES_API_RECEIVE_MAX],
                                  NULL, &names[NGX_QUEUES_API_RECEIVE_MAX], 1,
                                  NGX_QUEUES_STORE_BATCH_MAX, &max)
           != NGX_OK
        || ngx_queues_api_integer(api, &values[NGX_QUEUES_API_RECEIVE_WAIT],
                                  NULL, &names[NGX_QUEUES_API_RECEIVE_WAIT], 0,
                                  NGX_QUEUES_API_WAIT_MAX, &receive->wait)
           != NGX_OK
        || ngx_queues_api_integer(api,
                                  &values[NGX_QUEUES_API_RECEIVE_VISIBILITY],
                                  NULL,
                                  &names[NGX_QUEUES_API_RECEIVE_VISIBILITY], 0,
                                  NGX_QUEUES_API_VISIBILITY_MAX,
                                  &receive->visibility)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    receive->max = (ngx_uint_t) max;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_receive_try(ngx_queues_http_op_t *op)
{
    ngx_queues_api_t *api = op->data;

    ngx_queues_api_receive_t  *ctx;

    ctx = api->data;

    if (ngx_queues_store_receive(&api->root, &api->ref, &ctx->receive,
                                 ngx_queues_api_receive_done, api)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_queues_http_op_hold(op);

    return NGX_OK;
}


static void
ngx_queues_api_receive_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_api_limit_learn(api, result->place.queue);

    if (api->op->wait.state == NGX_QUEUES_HTTP_WAIT_NONE) {
        ngx_queues_api_receive_first(api, result);

    } else {
        ngx_queues_api_receive_again(api, result);
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_receive_first(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    if (ngx_queues_api_receive_nobody(api, result)) {
        return;
    }

    if (result->code != NGX_QUEUES_STORE_OK) {
        ngx_queues_api_store_error(api, result);
        return;
    }

    if (result->nmessages) {
        ngx_queues_api_receive_answer(api, result);
        return;
    }

    if (result->wait == 0 || ngx_exiting || ngx_terminate) {
        ngx_queues_api_receive_empty(api);
        return;
    }

    ngx_queues_api_receive_park(api, result);
}


/*
 * The outcome of a try while parked.  What is given back is given back before
 * the next one in the line tries.
 */

static void
ngx_queues_api_receive_again(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t                 nobody;
    ngx_queues_http_op_t      *op;
    ngx_queues_api_receive_t  *ctx;

    op = api->op;
    ctx = api->data;

    if (result->code == NGX_QUEUES_STORE_UNAVAILABLE) {
        ngx_queues_http_tried(op, NGX_QUEUES_HTTP_TRY_FAILED, -1);
        return;
    }

    if (result->code == NGX_QUEUES_STORE_OK
        && result->place.queue != ctx->place.queue)
    {
        /* its queue was deleted, another one has the name now */

        ngx_queues_store_undo_all(&api->root, result);

        result->code = NGX_QUEUES_STORE_NO_QUEUE;
        result->nmessages = 0;
    }

    if (result->code == NGX_QUEUES_STORE_OK && result->nmessages == 0) {
        ngx_queues_http_tried(op, NGX_QUEUES_HTTP_TRY_EMPTY,
                              ngx_queues_api_next(api, result->next));
        return;
    }

    if (result->nmessages && ngx_queues_api_receive_pass(api, result)) {
        return;
    }

    nobody = ngx_queues_api_receive_nobody(api, result);

    ngx_queues_http_tried(op, NGX_QUEUES_HTTP_TRY_FOUND, -1);

    if (nobody) {
        return;
    }

    if (result->code != NGX_QUEUES_STORE_OK) {
        ngx_queues_api_store_error(api, result);
        return;
    }

    ngx_queues_api_receive_answer(api, result);
}


/*
 * Messages may come between the tries of two, and so to the later one: those
 * who came earlier have them first, as far as they asked for the same
 * visibility.  1 if nothing is left for this one, which goes on waiting.
 */

static ngx_uint_t
ngx_queues_api_receive_pass(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_t           *earlier;
    ngx_queues_http_op_t       *op;
    ngx_queues_api_receive_t   *one, *two;
    ngx_queues_store_result_t   part;

    two = api->data;

    while (api->op->request && result->nmessages) {

        op = ngx_queues_http_before(api->op);
        if (op == NULL) {
            return 0;
        }

        earlier = op->data;
        one = earlier->data;

        if (one->receive.visibility != two->receive.visibility) {
            return 0;
        }

        ngx_queues_api_receive_cut(api, result, one->receive.max, &part);

        ngx_queues_http_op_hold(op);
        ngx_queues_http_unpark(op);

        if (!ngx_queues_api_receive_nobody(earlier, &part)) {
            ngx_queues_api_receive_answer(earlier, &part);
        }

        ngx_queues_http_op_release(op);
    }

    if (result->nmessages) {
        return 0;
    }

    ngx_queues_http_tried(api->op, NGX_QUEUES_HTTP_TRY_PASSED, -1);

    return 1;
}


/*
 * Cuts the first messages off, max at most.  What would be left of a group of
 * a FIFO queue is given back: a group is with one receiver at a time.
 */

static void
ngx_queues_api_receive_cut(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result, ngx_uint_t max,
    ngx_queues_store_result_t *part)
{
    ngx_uint_t                   n, same;
    ngx_queues_base_spot_t      *last;
    ngx_queues_store_result_t    rest;
    ngx_queues_store_message_t  *m;

    m = result->messages;
    n = ngx_min(result->nmessages, max);
    last = &m[n - 1].spot;

    for (same = n; same < result->nmessages; same++) {
        if (last->kind != NGX_QUEUES_BASE_SPOT_FIFO
            || last->major != m[same].spot.major)
        {
            break;
        }
    }

    *part = *result;
    part->nmessages = n;

    rest = *result;
    rest.messages = &m[n];
    rest.nmessages = same - n;

    ngx_queues_store_undo_all(&api->root, &rest);

    result->messages = &m[same];
    result->nmessages -= same;
}


/*
 * 1 if nobody is there any more to take the result, as the client has gone (a
 * look at its socket) or was answered during the try: messages are given back.
 */

static ngx_uint_t
ngx_queues_api_receive_nobody(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    if (api->op->request == NULL || api->op->answered) {
        ngx_queues_store_undo_all(&api->root, result);
        return 1;
    }

    if (result->nmessages && ngx_queues_http_client_gone(api->op)) {
        ngx_queues_store_undo_all(&api->root, result);
        ngx_queues_http_abandon(api->op);
        return 1;
    }

    return 0;
}


static void
ngx_queues_api_receive_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_receive_t  *ctx;

    ctx = api->data;

    if (ngx_queues_api_receive_keep(api, result) != NGX_OK) {
        ngx_queues_api_no_memory(api);
        return;
    }

    if (ngx_queues_api_messages_answer(api, api->qmcf->handle_keys[0], result)
        != NGX_OK)
    {
        ngx_queues_store_undo_all(&api->root, result);
        ctx->nclaims = 0;
    }
}


/*
 * Remembers what was claimed until the answer is written.  NGX_ERROR when out
 * of memory: it is given back then.
 */

static ngx_int_t
ngx_queues_api_receive_keep(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t                 i;
    ngx_queues_api_receive_t  *ctx;

    ctx = api->data;

    ctx->claims = ngx_palloc(api->op->pool, result->nmessages
                                            * sizeof(ngx_queues_base_spot_t));
    if (ctx->claims == NULL) {
        ngx_queues_store_undo_all(&api->root, result);
        return NGX_ERROR;
    }

    for (i = 0; i < result->nmessages; i++) {
        ctx->claims[i] = result->messages[i].spot;
    }

    ctx->nclaims = result->nmessages;
    ctx->place = result->place;
    ctx->token = result->token;

    api->op->lost = ngx_queues_api_receive_lost;

    return NGX_OK;
}


static void
ngx_queues_api_receive_lost(ngx_queues_http_op_t *op)
{
    ngx_queues_api_t *api = op->data;

    ngx_queues_api_receive_t  *ctx;

    ctx = api->data;

    if (ctx->nclaims) {
        op->note->messages = 0;

        ngx_queues_store_undo(&api->root, &ctx->place, ctx->token,
                              ctx->claims, ctx->nclaims);
    }
}


static void
ngx_queues_api_receive_park(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_msec_t                 ms, passed;
    ngx_queues_api_receive_t  *ctx;

    static ngx_str_t  all = ngx_null_string;

    ctx = api->data;

    ms = (ngx_msec_t) result->wait * 1000;
    passed = ngx_current_msec - ctx->start;

    if (passed >= ms) {
        ngx_queues_api_receive_empty(api);
        return;
    }

    /* later tries say that they wait, however the queue is set meanwhile */

    ctx->receive.wait = result->wait;
    ctx->place = result->place;

    ctx->queue.data = ctx->id;
    ctx->queue.len = ngx_queues_base_short_print(ctx->id, result->place.queue)
                     - ctx->id;

    if (ngx_queues_http_park(api->op, &api->root, &ctx->queue, &all,
                             ms - passed,
                             ngx_queues_api_next(api, result->next),
                             ngx_queues_api_receive_try,
                             ngx_queues_api_receive_end)
        != NGX_OK)
    {
        ngx_queues_api_no_memory(api);
    }
}


static void
ngx_queues_api_receive_end(ngx_queues_http_op_t *op)
{
    ngx_queues_api_t *api = op->data;

    if (ngx_queues_api_may_be_empty(api)) {
        ngx_queues_api_receive_empty(api);
    }
}


static void
ngx_queues_api_receive_empty(ngx_queues_api_t *api)
{
    static u_char  empty[] = "{\"messages\":[]}";

    api->op->note->messages = 0;

    ngx_queues_api_answer(api, NGX_HTTP_OK, empty, empty + sizeof(empty) - 1);
}
