
/*
 * Acknowledgements, and deadlines for them.  The store takes a bounded number
 * of ids at a time, so a request may make several calls of it at once; of one
 * pull all ids are together, each of them once.
 */

#include "ngx_queues_api_pubsub_ack.h"


/* thousands of ids */
#define NGX_QUEUES_API_ACK_BODY  1048576


/* one call of the store */
typedef struct {
    ngx_queues_api_t            *api;
    ngx_uint_t                   first;
    ngx_uint_t                   n;
} ngx_queues_api_ack_part_t;


static void ngx_queues_api_ack(ngx_queues_api_t *api);
static void ngx_queues_api_modify(ngx_queues_api_t *api);
static void ngx_queues_api_ack_start(ngx_queues_api_t *api,
    ngx_uint_t modifies);
static void ngx_queues_api_ack_call(ngx_queues_api_t *api,
    ngx_queues_api_ack_t *ctx);
static ngx_int_t ngx_queues_api_ack_call_part(ngx_queues_api_t *api,
    ngx_queues_api_ack_t *ctx, ngx_uint_t first);
static void ngx_queues_api_ack_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_ack_answer(ngx_queues_api_t *api,
    ngx_queues_api_ack_t *ctx);
static void ngx_queues_api_ack_refused(ngx_queues_api_t *api,
    ngx_queues_api_ack_t *ctx);
static void ngx_queues_api_ack_looked(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_ack_invalid(ngx_queues_api_t *api, ngx_str_t *id);


#define NGX_QUEUES_API_ACK_ROUTE(verb, name, start)                           \
    { NGX_HTTP_POST,                                                          \
      ngx_string("/v1/projects/{project}/subscriptions/{subscription}:" verb), \
      ngx_string(name),                                                       \
      NGX_QUEUES_CONF_PUBSUB,                                                 \
      ngx_string("pubsub.consume"),                                           \
      NGX_QUEUES_API_ANY_BODY,                                                \
      NGX_QUEUES_API_ACK_BODY,                                                \
      start }


const ngx_queues_api_route_t  ngx_queues_api_pubsub_ack_routes[] = {
    NGX_QUEUES_API_ACK_ROUTE("acknowledge", "PubsubAcknowledge",
                             ngx_queues_api_ack),
    NGX_QUEUES_API_ACK_ROUTE("modifyAckDeadline", "PubsubModifyAckDeadline",
                             ngx_queues_api_modify),
    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string,
      NGX_QUEUES_API_NO_BODY, 0, NULL }
};


static void
ngx_queues_api_ack(ngx_queues_api_t *api)
{
    ngx_queues_api_ack_start(api, 0);
}


static void
ngx_queues_api_modify(ngx_queues_api_t *api)
{
    ngx_queues_api_ack_start(api, 1);
}


static void
ngx_queues_api_ack_start(ngx_queues_api_t *api, ngx_uint_t modifies)
{
    ngx_queues_api_ack_t  *ctx;

    if (ngx_queues_api_handle_limit(api) != NGX_OK) {
        return;
    }

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_ack_t));
    if (ctx == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = ctx;
    ctx->seconds = modifies ? 0 : -1;

    if (ngx_queues_api_ack_parse(api, ctx) != NGX_OK) {
        return;
    }

    ngx_queues_api_handle_count(api, ctx->ninvalid);

    if (ctx->invalid.data || ctx->mixed) {

        /* a subscription that there is not is told first */

        ngx_queues_api_started(api,
            ngx_queues_store_sub_get(&api->root, &api->queue,
                                     ngx_queues_api_ack_looked, api));
        return;
    }

    ngx_queues_api_ack_sort(ctx);
    ngx_queues_api_ack_call(api, ctx);
}


static void
ngx_queues_api_ack_call(ngx_queues_api_t *api, ngx_queues_api_ack_t *ctx)
{
    ngx_uint_t  i;

    for (i = 0; i < ctx->n; i += NGX_QUEUES_STORE_PUBSUB_MAX) {

        if (ngx_queues_api_ack_call_part(api, ctx, i) != NGX_OK) {
            ctx->code = NGX_QUEUES_STORE_UNAVAILABLE;
            ctx->reason = "out of memory";
            break;
        }

        ngx_queues_http_op_hold(api->op);
        ctx->waiting++;
    }

    if (ctx->waiting == 0) {
        ngx_queues_api_ack_answer(api, ctx);
    }
}


static ngx_int_t
ngx_queues_api_ack_call_part(ngx_queues_api_t *api, ngx_queues_api_ack_t *ctx,
    ngx_uint_t first)
{
    ngx_queues_api_ack_part_t  *part;

    part = ngx_palloc(api->op->pool, sizeof(ngx_queues_api_ack_part_t));
    if (part == NULL) {
        return NGX_ERROR;
    }

    part->api = api;
    part->first = first;
    part->n = ngx_min(ctx->n - first, NGX_QUEUES_STORE_PUBSUB_MAX);

    if (ctx->seconds < 0) {
        return ngx_queues_store_sub_ack(&api->root, &api->queue,
                                        &ctx->receipts[first], part->n,
                                        ngx_queues_api_ack_done, part);
    }

    return ngx_queues_store_sub_modify(&api->root, &api->queue, ctx->seconds,
                                       &ctx->receipts[first], part->n,
                                       ngx_queues_api_ack_done, part);
}


static void
ngx_queues_api_ack_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_ack_part_t *part = data;

    ngx_uint_t             i;
    ngx_queues_api_t      *api;
    ngx_queues_api_ack_t  *ctx;

    api = part->api;
    ctx = api->data;

    if (result->code != NGX_QUEUES_STORE_OK) {
        ctx->code = result->code;
        ctx->reason = result->reason;

    } else {
        for (i = 0; i < part->n; i++) {

            if (result->ok[i]) {
                ctx->nok++;

            } else if (result->once) {
                ctx->ids[part->first + i].refused = 1;
                ctx->nrefused++;
            }
        }
    }

    if (--ctx->waiting == 0 && api->op->request) {
        ngx_queues_api_ack_answer(api, ctx);
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_ack_answer(ngx_queues_api_t *api, ngx_queues_api_ack_t *ctx)
{
    ngx_queues_store_result_t  failed;

    api->op->note->messages = ctx->nok;

    if (ctx->code == NGX_QUEUES_STORE_FOREIGN) {
        ngx_queues_api_ack_invalid(api, &ctx->ids[0].id);
        return;
    }

    if (ctx->code != NGX_QUEUES_STORE_OK) {
        ngx_memzero(&failed, sizeof(ngx_queues_store_result_t));

        failed.code = ctx->code;
        failed.reason = ctx->reason;

        ngx_queues_api_pubsub_store_error(api, &failed);
        return;
    }

    if (ctx->nrefused) {
        ngx_queues_api_ack_refused(api, ctx);
        return;
    }

    ngx_queues_api_pubsub_empty(api);
}


/* exactly once: what is not listed was done */

static void
ngx_queues_api_ack_refused(ngx_queues_api_t *api, ngx_queues_api_ack_t *ctx)
{
    u_char      *p;
    size_t       size;
    ngx_str_t    details;
    ngx_uint_t   i;

    static const char  head[] =
        "{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\","
        "\"reason\":\"EXACTLY_ONCE_ACKID_FAILURE\","
        "\"domain\":\"pubsub.googleapis.com\",\"metadata\":{";

    static const char  why[] = "\":\"PERMANENT_FAILURE_INVALID_ACK_ID\"";

    size = sizeof(head) + sizeof("}}");

    for (i = 0; i < ctx->n; i++) {
        if (ctx->ids[i].refused) {
            size += sizeof(",\"") + ctx->ids[i].id.len + sizeof(why);
        }
    }

    p = ngx_queues_api_alloc(api, size);
    if (p == NULL) {
        return;
    }

    details.data = p;
    p = ngx_queues_base_copy(p, head);

    for (i = 0; i < ctx->n; i++) {

        if (ctx->ids[i].refused) {

            if (p[-1] != '{') {
                *p++ = ',';
            }

            *p++ = '"';
            p = ngx_cpymem(p, ctx->ids[i].id.data, ctx->ids[i].id.len);
            p = ngx_queues_base_copy(p, why);
        }
    }

    p = ngx_queues_base_copy(p, "}}");
    details.len = p - details.data;

    ngx_queues_api_error(api, NGX_QUEUES_API_FAILED_PRECONDITION, &details,
                         "Some acknowledgement IDs of the request are no "
                         "longer valid: their deadline has passed, or they "
                         "were acknowledged.");
}


/* ids that cannot be of this subscription: the first of them is told */

static void
ngx_queues_api_ack_looked(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    u_char                  queue[NGX_QUEUES_BASE_SHORT_LEN];
    ngx_str_t              *id, *text;
    ngx_uint_t              i;
    ngx_queues_api_ack_t   *ctx;

    ctx = api->data;

    if (api->op->request == NULL) {
        goto done;
    }

    if (result->code != NGX_QUEUES_STORE_OK) {
        ngx_queues_api_pubsub_store_error(api, result);
        goto done;
    }

    id = &ctx->invalid;
    text = &result->values[NGX_QUEUES_STORE_AT_ONE
                           + NGX_QUEUES_STORE_OF_SUB_QUEUE].text;

    for (i = 0; id->data == NULL && i < ctx->n; i++) {

        (void) ngx_queues_base_short_print(queue,
                                           ctx->ids[i].receipt.place.queue);

        if (ngx_memcmp(queue, text->data, NGX_QUEUES_BASE_SHORT_LEN) != 0) {
            id = &ctx->ids[i].id;
        }
    }

    ngx_queues_api_ack_invalid(api, id);

done:

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_ack_invalid(ngx_queues_api_t *api, ngx_str_t *id)
{
    u_char     buf[NGX_QUEUES_BASE_HANDLE_TEXT_MAX];
    ngx_str_t  text;

    text.data = buf;
    text.len = 0;

    if (ngx_queues_base_json_decoded_length(id) <= sizeof(buf)) {
        text.len = ngx_queues_base_json_decode(buf, id) - buf;
    }

    ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                         "You have passed an invalid ack ID to the service "
                         "(ack_id=%V).", &text);
}
