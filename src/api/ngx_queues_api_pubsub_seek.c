
/* Seeks of the Pub/Sub API. */

#include "ngx_queues_api_pubsub_resource.h"


static void ngx_queues_api_pubsub_seek(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_seek_snap(ngx_queues_api_t *api,
    ngx_str_t *name);
static void ngx_queues_api_pubsub_seek_done(void *data,
    ngx_queues_store_result_t *result);


const ngx_queues_api_route_t  ngx_queues_api_pubsub_seek_routes[] = {

    { NGX_HTTP_POST,
      ngx_string("/v1/projects/{project}/subscriptions/{subscription}:seek"),
      ngx_string("PubsubSeek"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.subscriptions.seek"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_pubsub_seek },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


/* {"time": "..."} or {"snapshot": "projects/P/snapshots/N"} */

static void
ngx_queues_api_pubsub_seek(ngx_queues_api_t *api)
{
    int64_t                          ms;
    ngx_str_t                        text;
    ngx_queues_base_json_value_t     values[2];
    ngx_queues_api_pubsub_object_t   object;

    static const ngx_str_t  names[] = {
        ngx_string("time"), ngx_string("snapshot")
    };

    object.names = names;
    object.values = values;
    object.n = 2;

    ms = 0;
    ngx_str_null(&text);

    if (ngx_queues_api_pubsub_body(api, &object) != NGX_OK
        || ngx_queues_api_pubsub_time(api, &object, 0, &ms) != NGX_OK
        || ngx_queues_api_pubsub_string(api, &object, 1, &text) != NGX_OK)
    {
        return;
    }

    if ((values[0].type == NGX_QUEUES_BASE_JSON_NULL) == (text.len == 0)) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "Exactly one of time and snapshot must be "
                             "there.");
        return;
    }

    if (text.len) {
        ngx_queues_api_pubsub_seek_snap(api, &text);
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_sub_seek_time(&api->root, &api->queue,
                                       (uint64_t) ngx_max(ms, 0),
                                       ngx_queues_api_pubsub_seek_done, api));
}


static void
ngx_queues_api_pubsub_seek_snap(ngx_queues_api_t *api, ngx_str_t *name)
{
    ngx_str_t  *snap;

    snap = ngx_palloc(api->op->pool, sizeof(ngx_str_t));
    if (snap == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = snap;

    if (ngx_queues_api_pubsub_id_of(api, name,
                                    NGX_QUEUES_BASE_RESOURCE_SNAPSHOT, snap)
        != NGX_OK
        || ngx_queues_api_pubsub_may(api, "pubsub.snapshots.seek", snap)
           != NGX_OK)
    {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_sub_seek_snap(&api->root, &api->queue, snap,
                                       ngx_queues_api_pubsub_seek_done, api));
}


static void
ngx_queues_api_pubsub_seek_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request == NULL) {
        ngx_queues_http_op_release(api->op);
        return;
    }

    switch (result->code) {

    case NGX_QUEUES_STORE_NO_SNAPSHOT:
        ngx_queues_api_pubsub_not_found(api, api->data);
        break;

    case NGX_QUEUES_STORE_OTHER_TOPIC:
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "The snapshot is of another topic than the "
                             "subscription.");
        break;

    default:
        ngx_queues_api_pubsub_done(data, result);
        return;
    }

    ngx_queues_http_op_release(api->op);
}
