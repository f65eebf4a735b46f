
#include "ngx_queues_api_pubsub_ack.h"


#define NGX_QUEUES_API_ACK_DEADLINE  600         /* seconds */


typedef enum {
    NGX_QUEUES_API_ACK_IDS = 0,
    NGX_QUEUES_API_ACK_SECONDS,
    NGX_QUEUES_API_ACK_NMEMBERS
} ngx_queues_api_ack_member_e;


static ngx_int_t ngx_queues_api_ack_seconds(ngx_queues_api_t *api,
    ngx_queues_api_ack_t *ctx, ngx_queues_api_pubsub_object_t *object);
static ngx_int_t ngx_queues_api_ack_ids(ngx_queues_api_t *api,
    ngx_queues_api_ack_t *ctx, ngx_queues_api_pubsub_object_t *object);
static void ngx_queues_api_ack_id(ngx_queues_api_t *api,
    ngx_queues_api_ack_t *ctx, ngx_str_t *id);
static int ngx_queues_api_ack_compare(const void *one, const void *two);


static const ngx_str_t  ngx_queues_api_ack_names[] = {
    ngx_string("ackIds"),
    ngx_string("ackDeadlineSeconds")
};


ngx_int_t
ngx_queues_api_ack_parse(ngx_queues_api_t *api, ngx_queues_api_ack_t *ctx)
{
    ngx_uint_t                      modifies;
    ngx_queues_base_json_value_t    values[NGX_QUEUES_API_ACK_NMEMBERS];
    ngx_queues_api_pubsub_object_t  object;

    modifies = (ctx->seconds >= 0);

    ngx_str_null(&object.at);
    object.names = ngx_queues_api_ack_names;
    object.values = values;
    object.n = modifies ? NGX_QUEUES_API_ACK_NMEMBERS
                        : NGX_QUEUES_API_ACK_SECONDS;

    if (ngx_queues_api_pubsub_body(api, &object) != NGX_OK
        || (modifies
            && ngx_queues_api_ack_seconds(api, ctx, &object) != NGX_OK))
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_ack_ids(api, ctx, &object);
}


static ngx_int_t
ngx_queues_api_ack_seconds(ngx_queues_api_t *api, ngx_queues_api_ack_t *ctx,
    ngx_queues_api_pubsub_object_t *object)
{
    if (ngx_queues_api_pubsub_integer(api, object, NGX_QUEUES_API_ACK_SECONDS,
                                      &ctx->seconds)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ctx->seconds < 0 || ctx->seconds > NGX_QUEUES_API_ACK_DEADLINE) {
        ngx_queues_api_pubsub_invalid(api, object, NGX_QUEUES_API_ACK_SECONDS,
                                      "must be from 0 to 600");
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_ack_ids(ngx_queues_api_t *api, ngx_queues_api_ack_t *ctx,
    ngx_queues_api_pubsub_object_t *object)
{
    ngx_uint_t                     n;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   value, *array;

    n = 0;

    if (ngx_queues_api_pubsub_array(api, object, NGX_QUEUES_API_ACK_IDS, &n)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (n == 0) {
        goto invalid;
    }

    /*
     * Room for those that may be ids, which none is that is shorter: a body of
     * empty strings would need fifty times as much as it has.
     */

    array = &object->values[NGX_QUEUES_API_ACK_IDS];
    n = ngx_min(n, array->raw.len / NGX_QUEUES_BASE_HANDLE_OVERHEAD + 1);

    ctx->ids = ngx_palloc(api->op->pool, n * sizeof(ngx_queues_api_ack_id_t));
    ctx->receipts = ngx_palloc(api->op->pool,
                               n * sizeof(ngx_queues_store_receipt_t));

    if (ctx->ids == NULL || ctx->receipts == NULL) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    ngx_queues_base_json_open(&it, array);

    while (ngx_queues_base_json_next(&it, NULL, &value) == NGX_OK) {

        if (value.type != NGX_QUEUES_BASE_JSON_STRING) {
            goto invalid;
        }

        ngx_queues_api_ack_id(api, ctx, &value.raw);
    }

    return NGX_OK;

invalid:

    ngx_queues_api_pubsub_invalid(api, object, NGX_QUEUES_API_ACK_IDS,
                                  "must be an array of at least one string");
    return NGX_ERROR;
}


static void
ngx_queues_api_ack_id(ngx_queues_api_t *api, ngx_queues_api_ack_t *ctx,
    ngx_str_t *id)
{
    u_char                       buf[NGX_QUEUES_BASE_HANDLE_MAX];
    ngx_queues_api_ack_id_t     *i;
    ngx_queues_base_handle_t     handle;
    ngx_queues_store_receipt_t  *receipt;

    if (ngx_queues_api_handle_open(api, id, &handle, buf) != NGX_OK
        || handle.project.len != api->project.len
        || ngx_memcmp(handle.project.data, api->project.data,
                      api->project.len)
           != 0)
    {
        if (ctx->ninvalid++ == 0) {
            ctx->invalid = *id;
        }

        return;
    }

    if (ctx->n == 0) {
        ctx->queue = handle.queue;

    } else if (ctx->queue != handle.queue) {
        ctx->mixed = 1;
    }

    i = &ctx->ids[ctx->n++];
    receipt = &i->receipt;

    receipt->place.queue = handle.queue;
    receipt->place.generation = handle.generation;
    receipt->spot = handle.spot;
    receipt->token = handle.token;
    receipt->visibility = 0;

    i->id = *id;
    i->refused = 0;
}


void
ngx_queues_api_ack_sort(ngx_queues_api_ack_t *ctx)
{
    ngx_uint_t                i, n;
    ngx_queues_api_ack_id_t  *ids;

    ids = ctx->ids;

    qsort(ids, ctx->n, sizeof(ngx_queues_api_ack_id_t),
          ngx_queues_api_ack_compare);

    n = 1;

    for (i = 1; i < ctx->n; i++) {
        if (ngx_queues_api_ack_compare(&ids[n - 1], &ids[i]) != 0) {
            ids[n++] = ids[i];
        }
    }

    ctx->n = n;

    for (i = 0; i < n; i++) {
        ctx->receipts[i] = ids[i].receipt;
    }
}


/* all are of one queue */

static int
ngx_queues_api_ack_compare(const void *one, const void *two)
{
    const ngx_queues_store_receipt_t  *a, *b;

    a = &((const ngx_queues_api_ack_id_t *) one)->receipt;
    b = &((const ngx_queues_api_ack_id_t *) two)->receipt;

    if (a->place.generation != b->place.generation) {
        return a->place.generation < b->place.generation ? -1 : 1;
    }

    if (a->token != b->token) {
        return a->token < b->token ? -1 : 1;
    }

    if (a->spot.kind != b->spot.kind) {
        return a->spot.kind < b->spot.kind ? -1 : 1;
    }

    if (a->spot.major != b->spot.major) {
        return a->spot.major < b->spot.major ? -1 : 1;
    }

    if (a->spot.minor != b->spot.minor) {
        return a->spot.minor < b->spot.minor ? -1 : 1;
    }

    return 0;
}
