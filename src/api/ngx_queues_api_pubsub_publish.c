
#include "ngx_queues_api_pubsub_message.h"


/* bytes of all messages of a publish, once decoded */
#define NGX_QUEUES_API_PUBLISH_SIZE   10000000

/* "messages[999]" */
#define NGX_QUEUES_API_PUBLISH_AT     32


static void ngx_queues_api_publish(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_publish_parse(ngx_queues_api_t *api,
    ngx_queues_api_publish_t *ctx);
static ngx_int_t ngx_queues_api_publish_messages(ngx_queues_api_t *api,
    ngx_queues_api_publish_t *ctx, ngx_queues_base_json_value_t *array);
static void ngx_queues_api_publish_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_publish_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


static const ngx_str_t  ngx_queues_api_publish_names[] = {
    ngx_string("messages")
};

static const ngx_str_t  ngx_queues_api_publish_members[] = {
    ngx_string("data"),
    ngx_string("attributes"),
    ngx_string("orderingKey"),
    ngx_string("messageId"),
    ngx_string("publishTime")
};


const ngx_queues_api_route_t  ngx_queues_api_pubsub_publish_routes[] = {

    { NGX_HTTP_POST,
      ngx_string("/v1/projects/{project}/topics/{topic}:publish"),
      ngx_string("PubsubPublish"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.publish"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_PUBSUB_BODY,
      ngx_queues_api_publish },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string,
      NGX_QUEUES_API_NO_BODY, 0, NULL }
};


static void
ngx_queues_api_publish(ngx_queues_api_t *api)
{
    ngx_int_t                  rc;
    ngx_queues_api_publish_t  *ctx;

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_publish_t));
    if (ctx == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = ctx;

    if (ngx_queues_api_publish_parse(api, ctx) != NGX_OK) {
        return;
    }

    rc = ngx_queues_store_topic_publish(&api->root, &api->queue, ctx->messages,
                                        ctx->n, ngx_queues_api_publish_done,
                                        api);

    /* the store has a copy, and the reply may take a while */

    (void) ngx_pfree(api->op->pool, ctx->text);

    ngx_queues_api_started(api, rc);
}


static ngx_int_t
ngx_queues_api_publish_parse(ngx_queues_api_t *api,
    ngx_queues_api_publish_t *ctx)
{
    ngx_uint_t                      n;
    ngx_queues_base_json_value_t    array;
    ngx_queues_api_pubsub_object_t  object;

    ngx_str_null(&object.at);
    object.names = ngx_queues_api_publish_names;
    object.values = &array;
    object.n = 1;

    n = 0;

    if (ngx_queues_api_pubsub_body(api, &object) != NGX_OK
        || ngx_queues_api_pubsub_array(api, &object, 0, &n) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (n == 0 || n > NGX_QUEUES_STORE_PUBSUB_MAX) {
        ngx_queues_api_pubsub_invalid(api, &object, 0,
                                      "must have 1 to 1000 messages");
        return NGX_ERROR;
    }

    ctx->messages = ngx_palloc(api->op->pool,
                               n * sizeof(ngx_queues_store_publish_t));
    ctx->text = ngx_palloc(api->op->pool,
                           array.raw.len + n * NGX_QUEUES_API_PUBLISH_MORE);

    if (ctx->messages == NULL || ctx->text == NULL) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    ctx->pos = ctx->text;

    if (ngx_queues_api_publish_messages(api, ctx, &array) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ctx->size > NGX_QUEUES_API_PUBLISH_SIZE) {
        ngx_queues_api_pubsub_invalid(api, &object, 0,
                                      "are over 10,000,000 bytes");
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_publish_messages(ngx_queues_api_t *api,
    ngx_queues_api_publish_t *ctx, ngx_queues_base_json_value_t *array)
{
    u_char                          at[NGX_QUEUES_API_PUBLISH_AT];
    ngx_queues_base_json_iter_t     it;
    ngx_queues_base_json_value_t    value;
    ngx_queues_base_json_value_t    values[NGX_QUEUES_API_PUBLISH_NMEMBERS];
    ngx_queues_api_pubsub_object_t  object;

    object.at.data = at;
    object.names = ngx_queues_api_publish_members;
    object.values = values;
    object.n = NGX_QUEUES_API_PUBLISH_NMEMBERS;

    ngx_queues_base_json_open(&it, array);

    while (ngx_queues_base_json_next(&it, NULL, &value) == NGX_OK) {

        object.at.len = ngx_sprintf(at, "messages[%ui]", ctx->n) - at;

        if (ngx_queues_api_pubsub_members(api, &value, &object) != NGX_OK
            || ngx_queues_api_publish_message(api, ctx, &object) != NGX_OK)
        {
            return NGX_ERROR;
        }

        ctx->n++;
    }

    return NGX_OK;
}


static void
ngx_queues_api_publish_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request) {

        switch (result->code) {

        case NGX_QUEUES_STORE_OK:
            ngx_queues_api_publish_answer(api, result);
            break;

        case NGX_QUEUES_STORE_TOO_MANY:
            ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                                 "The topic has too many subscriptions for so "
                                 "much at once.");
            break;

        default:
            ngx_queues_api_pubsub_store_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_publish_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    u_char                    *p, *start;
    ngx_uint_t                 i;
    ngx_queues_api_publish_t  *ctx;

    ctx = api->data;

    start = ngx_queues_api_alloc(api, sizeof("{\"messageIds\":[]}")
                                      + ctx->n
                                        * (sizeof("\"\",")
                                           + NGX_QUEUES_STORE_PUBSUB_ID_MAX));
    if (start == NULL) {
        return;
    }

    p = ngx_queues_base_copy(start, "{\"messageIds\":[");

    for (i = 0; i < ctx->n; i++) {

        if (i) {
            *p++ = ',';
        }

        *p++ = '"';
        p = ngx_queues_store_pubsub_id(p, &result->spot, i);
        *p++ = '"';
    }

    *p++ = ']';
    *p++ = '}';

    api->op->note->messages = ctx->n;

    ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);
}
