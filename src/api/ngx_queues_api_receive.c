
#include "ngx_queues_api_messages.h"
#include "ngx_queues_api_wait.h"


/* a receive from its first try to the end of its request */

typedef struct {
    ngx_queues_api_wait_t        wait;
    ngx_queues_store_receive_t   receive;
    ngx_queues_api_claims_t      claims;
} ngx_queues_api_receive_t;


typedef enum {
    NGX_QUEUES_API_RECEIVE_MAX = 0,
    NGX_QUEUES_API_RECEIVE_WAIT,
    NGX_QUEUES_API_RECEIVE_VISIBILITY,
    NGX_QUEUES_API_RECEIVE_NMEMBERS
} ngx_queues_api_receive_member_e;


static ngx_int_t ngx_queues_api_receive_parse(ngx_queues_api_t *api,
    ngx_queues_store_receive_t *receive);
static ngx_int_t ngx_queues_api_receive_try(ngx_queues_api_t *api);
static void ngx_queues_api_receive_done(void *data,
    ngx_queues_store_result_t *result);
static ngx_msec_t ngx_queues_api_receive_ms(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_receive_line(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_api_receive_cut(ngx_queues_api_t *api,
    ngx_queues_api_t *earlier, ngx_queues_store_result_t *result,
    ngx_queues_store_result_t *part);
static ngx_int_t ngx_queues_api_receive_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_receive_lost(ngx_queues_api_t *api);
static void ngx_queues_api_receive_empty(ngx_queues_api_t *api);


static const ngx_str_t  ngx_queues_api_receive_names[] = {
    ngx_string("maxMessages"),
    ngx_string("waitSeconds"),
    ngx_string("visibilityTimeoutSeconds")
};


static const ngx_queues_api_waits_t  ngx_queues_api_receives = {
    ngx_queues_api_receive_try,
    ngx_queues_api_claims_found,
    ngx_queues_api_claims_queue,
    ngx_queues_api_receive_ms,
    ngx_queues_api_receive_line,
    ngx_queues_api_receive_cut,
    ngx_queues_api_receive_answer,
    ngx_queues_api_claims_undo,
    ngx_queues_api_receive_lost,
    ngx_queues_api_receive_empty,
    ngx_queues_api_store_error,
    0,
    0
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

    if (ngx_queues_api_receive_parse(api, &ctx->receive) == NGX_OK) {
        ngx_queues_api_wait(api, &ctx->wait, &ngx_queues_api_receives);
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
ngx_queues_api_receive_try(ngx_queues_api_t *api)
{
    ngx_queues_api_receive_t  *ctx;

    ctx = api->data;

    return ngx_queues_store_receive(&api->root, &api->ref, &ctx->receive,
                                    ngx_queues_api_receive_done, api);
}


static void
ngx_queues_api_receive_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_limit_learn(data, result->place.queue);

    ngx_queues_api_waited(data, result);
}


static ngx_msec_t
ngx_queues_api_receive_ms(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    return (ngx_msec_t) result->wait * 1000;
}


/* later tries say that they wait, however the queue is set meanwhile */

static void
ngx_queues_api_receive_line(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_receive_t  *ctx;

    ctx = api->data;
    ctx->receive.wait = result->wait;
}


/* to those who asked for the same visibility */

static ngx_int_t
ngx_queues_api_receive_cut(ngx_queues_api_t *api, ngx_queues_api_t *earlier,
    ngx_queues_store_result_t *result, ngx_queues_store_result_t *part)
{
    ngx_queues_api_receive_t  *one, *two;

    one = earlier->data;
    two = api->data;

    if (one->receive.visibility != two->receive.visibility) {
        return NGX_DECLINED;
    }

    ngx_queues_api_claims_cut(api, result, one->receive.max, part);

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_receive_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_receive_t  *ctx;

    ctx = api->data;

    if (ngx_queues_api_claims_keep(api, &ctx->claims, result) != NGX_OK) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    return ngx_queues_api_messages_answer(api, api->qmcf->handle_keys[0],
                                          result);
}


static void
ngx_queues_api_receive_lost(ngx_queues_api_t *api)
{
    ngx_queues_api_receive_t  *ctx;

    ctx = api->data;

    ngx_queues_api_claims_lost(api, &ctx->claims);
}


static void
ngx_queues_api_receive_empty(ngx_queues_api_t *api)
{
    static u_char  empty[] = "{\"messages\":[]}";

    api->op->note->messages = 0;

    ngx_queues_api_answer(api, NGX_HTTP_OK, empty, empty + sizeof(empty) - 1);
}
