
#include "ngx_queues_api_wait.h"


/* of a project, for all lines of those that wait for any queue */
#define NGX_QUEUES_API_WAIT_ANY  "d"

/* ms between looks without hints, and as much again at random */
#define NGX_QUEUES_API_LOOK      400


static ngx_int_t ngx_queues_api_wait_try(ngx_queues_http_op_t *op);
static void ngx_queues_api_wait_first(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_wait_again(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static ngx_uint_t ngx_queues_api_wait_moved(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static ngx_uint_t ngx_queues_api_wait_pass(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static ngx_uint_t ngx_queues_api_wait_found(ngx_queues_api_wait_t *wait,
    ngx_queues_store_result_t *result);
static ngx_uint_t ngx_queues_api_wait_nobody(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_wait_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_wait_lost(ngx_queues_http_op_t *op);
static void ngx_queues_api_wait_park(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static int64_t ngx_queues_api_wait_next(ngx_queues_api_t *api, int64_t next);
static void ngx_queues_api_wait_end(ngx_queues_http_op_t *op);


void
ngx_queues_api_wait(ngx_queues_api_t *api, ngx_queues_api_wait_t *wait,
    const ngx_queues_api_waits_t *calls)
{
    api->data = wait;

    wait->calls = calls;
    wait->start = ngx_current_msec;

    ngx_queues_http_look(api->op);

    if (ngx_queues_api_wait_try(api->op) != NGX_OK) {
        ngx_queues_api_no_memory(api);
    }
}


static ngx_int_t
ngx_queues_api_wait_try(ngx_queues_http_op_t *op)
{
    ngx_queues_api_t *api = op->data;

    ngx_queues_api_wait_t  *wait;

    wait = api->data;

    if (wait->calls->try(api) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_queues_http_op_hold(op);

    return NGX_OK;
}


void
ngx_queues_api_waited(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->wait.state == NGX_QUEUES_HTTP_WAIT_NONE) {
        ngx_queues_api_wait_first(api, result);

    } else {
        ngx_queues_api_wait_again(api, result);
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_wait_first(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_msec_t              ms, passed;
    ngx_queues_api_wait_t  *wait;

    wait = api->data;

    if (ngx_queues_api_wait_nobody(api, result)) {
        return;
    }

    if (result->code != NGX_QUEUES_STORE_OK) {
        wait->calls->error(api, result);
        return;
    }

    if (ngx_queues_api_wait_found(wait, result)) {
        ngx_queues_api_wait_answer(api, result);
        return;
    }

    ms = wait->calls->ms(api, result);
    passed = ngx_current_msec - wait->start;

    if (ngx_exiting || ngx_terminate
        || passed >= (ms ? ms : wait->calls->looks))
    {
        wait->calls->empty(api);
        return;
    }

    if (wait->calls->looks && result->next == 0) {

        if (ngx_queues_api_wait_try(api->op) != NGX_OK) {
            ngx_queues_api_no_memory(api);
        }

        return;
    }

    if (ms == 0) {
        wait->calls->empty(api);
        return;
    }

    ngx_queues_api_wait_park(api, result);
}


/*
 * The outcome of a try while parked.  What is given back is given back before
 * the next one in the line tries.
 */

static void
ngx_queues_api_wait_again(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t              nobody, moved;
    ngx_queues_http_op_t   *op;
    ngx_queues_api_wait_t  *wait;

    op = api->op;
    wait = api->data;

    if (result->code == NGX_QUEUES_STORE_UNAVAILABLE) {
        ngx_queues_http_tried(op, NGX_QUEUES_HTTP_TRY_FAILED, -1);
        return;
    }

    moved = ngx_queues_api_wait_moved(api, result);

    if (result->code == NGX_QUEUES_STORE_OK && !moved
        && !ngx_queues_api_wait_found(wait, result))
    {
        ngx_queues_http_tried(op, NGX_QUEUES_HTTP_TRY_EMPTY,
                              ngx_queues_api_wait_next(api, result->next));
        return;
    }

    if (ngx_queues_api_wait_pass(api, result)) {
        return;
    }

    nobody = ngx_queues_api_wait_nobody(api, result);

    ngx_queues_http_tried(op, NGX_QUEUES_HTTP_TRY_FOUND, -1);

    if (nobody) {
        return;
    }

    if (result->code != NGX_QUEUES_STORE_OK) {
        wait->calls->error(api, result);

    } else if (moved) {
        ngx_queues_api_wait_park(api, result);

    } else {
        ngx_queues_api_wait_answer(api, result);
    }
}


/*
 * Its queue was deleted, and another one has the name now: 1 if it is to wait
 * there, unless that was the last look.
 */

static ngx_uint_t
ngx_queues_api_wait_moved(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_wait_t  *wait;

    wait = api->data;

    if (result->code != NGX_QUEUES_STORE_OK
        || wait->calls->queue(result) == wait->id)
    {
        return 0;
    }

    if (wait->calls->follows) {
        return !api->op->wait.ended && !ngx_queues_api_wait_found(wait, result);
    }

    if (ngx_queues_api_wait_found(wait, result)) {
        wait->calls->undo(api, result);
    }

    result->code = NGX_QUEUES_STORE_NO_QUEUE;

    return 0;
}


/*
 * Messages may come between the tries of two, and so to the later one: those
 * who came earlier have them first, as far as the call lets them.  1 if nothing
 * is left for this one, which goes on waiting.
 */

static ngx_uint_t
ngx_queues_api_wait_pass(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_t           *earlier;
    ngx_queues_http_op_t       *op;
    ngx_queues_api_wait_t      *wait;
    ngx_queues_store_result_t   part;

    wait = api->data;

    if (wait->calls->cut == NULL || !ngx_queues_api_wait_found(wait, result)) {
        return 0;
    }

    while (api->op->request && ngx_queues_api_wait_found(wait, result)) {

        op = ngx_queues_http_before(api->op);
        if (op == NULL) {
            return 0;
        }

        earlier = op->data;

        if (wait->calls->cut(api, earlier, result, &part) != NGX_OK) {
            return 0;
        }

        ngx_queues_http_op_hold(op);
        ngx_queues_http_unpark(op);

        if (!ngx_queues_api_wait_nobody(earlier, &part)) {
            ngx_queues_api_wait_answer(earlier, &part);
        }

        ngx_queues_http_op_release(op);
    }

    if (ngx_queues_api_wait_found(wait, result)) {
        return 0;
    }

    ngx_queues_http_tried(api->op, NGX_QUEUES_HTTP_TRY_PASSED, -1);

    return 1;
}


static ngx_uint_t
ngx_queues_api_wait_found(ngx_queues_api_wait_t *wait,
    ngx_queues_store_result_t *result)
{
    return result->code == NGX_QUEUES_STORE_OK && wait->calls->found(result);
}


/*
 * 1 if nobody is there any more to take the result, as the client has gone (a
 * look at its socket) or was answered during the try: messages are given back.
 */

static ngx_uint_t
ngx_queues_api_wait_nobody(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t              found;
    ngx_queues_api_wait_t  *wait;

    wait = api->data;
    found = ngx_queues_api_wait_found(wait, result);

    if (api->op->request == NULL || api->op->answered) {

        if (found) {
            wait->calls->undo(api, result);
        }

        return 1;
    }

    if (found && ngx_queues_http_client_gone(api->op)) {
        wait->calls->undo(api, result);
        ngx_queues_http_abandon(api->op);
        return 1;
    }

    return 0;
}


static void
ngx_queues_api_wait_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_wait_t  *wait;

    wait = api->data;

    wait->taken = 1;
    api->op->lost = ngx_queues_api_wait_lost;

    if (wait->calls->answer(api, result) != NGX_OK) {
        wait->calls->undo(api, result);
        wait->taken = 0;
    }
}


static void
ngx_queues_api_wait_lost(ngx_queues_http_op_t *op)
{
    ngx_queues_api_t *api = op->data;

    ngx_queues_api_wait_t  *wait;

    wait = api->data;

    if (wait->taken) {
        op->note->messages = 0;

        wait->calls->lost(api);
    }
}


static void
ngx_queues_api_wait_park(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_str_t               queue;
    ngx_msec_t              ms, passed;
    ngx_queues_api_wait_t  *wait;

    wait = api->data;

    ms = wait->calls->ms(api, result);
    passed = ngx_current_msec - wait->start;

    if (passed >= ms) {
        wait->calls->empty(api);
        return;
    }

    wait->id = wait->calls->queue(result);

    if (wait->id) {
        queue.data = wait->short_id;
        queue.len = ngx_queues_base_short_print(wait->short_id, wait->id)
                    - wait->short_id;

    } else {
        ngx_str_set(&queue, NGX_QUEUES_API_WAIT_ANY);
    }

    if (wait->calls->line) {
        wait->calls->line(api, result);
    }

    if (ngx_queues_http_park(api->op, &api->root, &queue, &wait->part,
                             ms - passed,
                             ngx_queues_api_wait_next(api, result->next),
                             ngx_queues_api_wait_try, ngx_queues_api_wait_end)
        != NGX_OK)
    {
        ngx_queues_api_no_memory(api);
    }
}


/*
 * In how many ms one that waits looks again without a hint; -1: never.  Once
 * the project's channel is joined, a hint for all of it finds the operation
 * parked; while it is not, because the link is away or Redis refuses it, who
 * waits looks now and then.
 */

static int64_t
ngx_queues_api_wait_next(ngx_queues_api_t *api, int64_t next)
{
    int64_t  look;

    if (ngx_queues_store_watch(&api->root) == NGX_OK) {
        return next;
    }

    look = NGX_QUEUES_API_LOOK + ngx_random() % NGX_QUEUES_API_LOOK;

    return next < 0 ? look : ngx_min(next, look);
}


/* the end tells that there was nothing, if that can be known */

static void
ngx_queues_api_wait_end(ngx_queues_http_op_t *op)
{
    ngx_queues_api_t *api = op->data;

    ngx_queues_api_wait_t  *wait;

    wait = api->data;

    if (ngx_queues_store_ready() || ngx_exiting) {
        wait->calls->empty(api);
        return;
    }

    ngx_queues_api_error(api, NGX_QUEUES_API_UNAVAILABLE, NULL,
                         "The store is unavailable, try again.");
}
