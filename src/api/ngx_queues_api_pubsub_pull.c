
#include "ngx_queues_api_pubsub.h"
#include "ngx_queues_api_wait.h"


/* seconds: some clients give a request up after 60, or 30 */
#define NGX_QUEUES_API_PULL_WAIT  20


typedef enum {
    NGX_QUEUES_API_PULL_MAX = 0,
    NGX_QUEUES_API_PULL_AT_ONCE,
    NGX_QUEUES_API_PULL_NMEMBERS
} ngx_queues_api_pull_member_e;


/* a pull from its first try to the end of its request */

typedef struct {
    ngx_queues_api_wait_t        wait;
    ngx_uint_t                   max;
    ngx_uint_t                   seconds;     /* 0: it does not wait */
    ngx_queues_api_claims_t      claims;
} ngx_queues_api_pull_t;


static void ngx_queues_api_pull(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_pull_parse(ngx_queues_api_t *api,
    ngx_queues_api_pull_t *ctx);
static ngx_int_t ngx_queues_api_pull_try(ngx_queues_api_t *api);
static ngx_msec_t ngx_queues_api_pull_ms(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_api_pull_cut(ngx_queues_api_t *api,
    ngx_queues_api_t *earlier, ngx_queues_store_result_t *result,
    ngx_queues_store_result_t *part);
static ngx_int_t ngx_queues_api_pull_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_api_pull_write(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static size_t ngx_queues_api_pull_size(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static u_char *ngx_queues_api_pull_print(u_char *p, ngx_queues_api_t *api,
    ngx_queues_store_result_t *result, ngx_queues_store_message_t *m);
static void ngx_queues_api_pull_lost(ngx_queues_api_t *api);
static void ngx_queues_api_pull_empty(ngx_queues_api_t *api);
static void ngx_queues_api_pull_error(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


static const ngx_str_t  ngx_queues_api_pull_names[] = {
    ngx_string("maxMessages"),
    ngx_string("returnImmediately")
};


static const ngx_queues_api_waits_t  ngx_queues_api_pulls = {
    ngx_queues_api_pull_try,
    ngx_queues_api_claims_found,
    ngx_queues_api_claims_queue,
    ngx_queues_api_pull_ms,
    NULL,
    ngx_queues_api_pull_cut,
    ngx_queues_api_pull_answer,
    ngx_queues_api_claims_undo,
    ngx_queues_api_pull_lost,
    ngx_queues_api_pull_empty,
    ngx_queues_api_pull_error,
    0,
    0
};


const ngx_queues_api_route_t  ngx_queues_api_pubsub_pull_routes[] = {

    { NGX_HTTP_POST,
      ngx_string("/v1/projects/{project}/subscriptions/{subscription}:pull"),
      ngx_string("PubsubPull"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.consume"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_RECEIVE_BODY,
      ngx_queues_api_pull },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string,
      NGX_QUEUES_API_NO_BODY, 0, NULL }
};


static void
ngx_queues_api_pull(ngx_queues_api_t *api)
{
    ngx_queues_api_pull_t  *ctx;

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_pull_t));
    if (ctx == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    if (ngx_queues_api_pull_parse(api, ctx) == NGX_OK) {
        ngx_queues_api_wait(api, &ctx->wait, &ngx_queues_api_pulls);
    }
}


static ngx_int_t
ngx_queues_api_pull_parse(ngx_queues_api_t *api, ngx_queues_api_pull_t *ctx)
{
    int64_t                         max;
    ngx_uint_t                      at_once;
    ngx_queues_base_json_value_t    values[NGX_QUEUES_API_PULL_NMEMBERS];
    ngx_queues_api_pubsub_object_t  object;

    ngx_str_null(&object.at);
    object.names = ngx_queues_api_pull_names;
    object.values = values;
    object.n = NGX_QUEUES_API_PULL_NMEMBERS;

    max = 0;
    at_once = 0;

    if (ngx_queues_api_pubsub_body(api, &object) != NGX_OK
        || ngx_queues_api_pubsub_integer(api, &object, NGX_QUEUES_API_PULL_MAX,
                                         &max)
           != NGX_OK
        || ngx_queues_api_pubsub_bool(api, &object,
                                      NGX_QUEUES_API_PULL_AT_ONCE, &at_once)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (max <= 0) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "You have passed an invalid argument to the "
                             "service (argument=max_messages).");
        return NGX_ERROR;
    }

    ctx->max = (ngx_uint_t) ngx_min(max, NGX_QUEUES_STORE_PUBSUB_MAX);
    ctx->seconds = at_once ? 0 : NGX_QUEUES_API_PULL_WAIT;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_pull_try(ngx_queues_api_t *api)
{
    ngx_queues_api_pull_t  *ctx;

    ctx = api->data;

    return ngx_queues_store_sub_pull(&api->root, &api->queue, ctx->max,
                                     ctx->seconds, ngx_queues_api_waited, api);
}


static ngx_msec_t
ngx_queues_api_pull_ms(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_pull_t  *ctx;

    ctx = api->data;

    return ctx->seconds * 1000;
}


static ngx_int_t
ngx_queues_api_pull_cut(ngx_queues_api_t *api, ngx_queues_api_t *earlier,
    ngx_queues_store_result_t *result, ngx_queues_store_result_t *part)
{
    ngx_queues_api_pull_t  *one;

    one = earlier->data;

    ngx_queues_api_claims_cut(api, result, one->max, part);

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_pull_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_pull_t  *ctx;

    ctx = api->data;

    if (ngx_queues_api_claims_keep(api, &ctx->claims, result) != NGX_OK) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    return ngx_queues_api_pull_write(api, result);
}


static ngx_int_t
ngx_queues_api_pull_write(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    u_char      *p, *start;
    ngx_uint_t   i;

    start = ngx_queues_api_alloc(api, ngx_queues_api_pull_size(api, result));
    if (start == NULL) {
        return NGX_ERROR;
    }

    p = ngx_queues_base_copy(start, "{\"receivedMessages\":[");

    for (i = 0; i < result->nmessages; i++) {

        if (i) {
            *p++ = ',';
        }

        p = ngx_queues_api_pull_print(p, api, result, &result->messages[i]);
        if (p == NULL) {
            ngx_queues_api_error(api, NGX_QUEUES_API_INTERNAL, NULL,
                                 "No acknowledgement ID could be made.");
            return NGX_ERROR;
        }
    }

    *p++ = ']';
    *p++ = '}';

    api->op->note->messages = result->nmessages;

    ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);

    return NGX_OK;
}


static size_t
ngx_queues_api_pull_size(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    size_t                       size;
    ngx_uint_t                   i;
    ngx_queues_store_message_t  *m;

    size = sizeof("{\"receivedMessages\":[]}");

    for (i = 0; i < result->nmessages; i++) {
        m = &result->messages[i];

        size += sizeof(",{\"ackId\":\"\",\"message\":,\"messageId\":\"\","
                       "\"publishTime\":\"\"},\"deliveryAttempt\":}")
                + ngx_queues_base_handle_length(m->spot.kind, api->project.len)
                + m->body.len
                + NGX_QUEUES_STORE_PUBSUB_ID_MAX + NGX_QUEUES_BASE_PROTO_TIME_MAX
                + NGX_QUEUES_BASE_DECIMAL_MAX;
    }

    return size;
}


/* the message as it is stored: one object, to which two members come */

static u_char *
ngx_queues_api_pull_print(u_char *p, ngx_queues_api_t *api,
    ngx_queues_store_result_t *result, ngx_queues_store_message_t *m)
{
    ngx_queues_base_handle_t  handle;

    handle.project = api->project;
    handle.queue = result->place.queue;
    handle.generation = result->place.generation;
    handle.spot = m->spot;
    handle.token = result->token;

    p = ngx_queues_base_copy(p, "{\"ackId\":\"");
    p = ngx_queues_base_handle_print(api->qmcf->handle_keys[0], &handle, p);
    if (p == NULL) {
        return NULL;
    }

    p = ngx_queues_base_copy(p, "\",\"message\":");
    p = ngx_cpymem(p, m->body.data, m->body.len - 1);

    p = ngx_queues_base_copy(p, ",\"messageId\":\"");
    p = ngx_queues_store_pubsub_id(p, &m->origin.spot, 0);

    p = ngx_queues_base_copy(p, "\",\"publishTime\":\"");
    p = ngx_queues_base_proto_time_print(p, m->origin.spot.major);

    p = ngx_queues_base_copy(p, "\"}");

    if (result->dead_letters) {
        p = ngx_queues_base_copy(p, ",\"deliveryAttempt\":");
        p = ngx_queues_base_decimal_print(p, m->count);
    }

    *p++ = '}';

    return p;
}


static void
ngx_queues_api_pull_lost(ngx_queues_api_t *api)
{
    ngx_queues_api_pull_t  *ctx;

    ctx = api->data;

    ngx_queues_api_claims_lost(api, &ctx->claims);
}


static void
ngx_queues_api_pull_empty(ngx_queues_api_t *api)
{
    api->op->note->messages = 0;

    ngx_queues_api_pubsub_empty(api);
}


/* one that was parked when its subscription was deleted, and made anew */

static void
ngx_queues_api_pull_error(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    if (result->code == NGX_QUEUES_STORE_NO_QUEUE) {
        ngx_queues_api_pubsub_not_found(api, NULL);
        return;
    }

    ngx_queues_api_pubsub_store_error(api, result);
}
