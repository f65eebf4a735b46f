
/* Snapshots of the Pub/Sub API. */

#include "ngx_queues_api_pubsub_resource.h"


/* bytes of a snapshot's answer beside its names and its members */
#define NGX_QUEUES_API_PUBSUB_SNAP_FIXED                                      \
    (sizeof("{\"name\":\"\",\"topic\":\"\",\"expireTime\":\"\",}")            \
     + NGX_QUEUES_BASE_PROTO_TIME_MAX)

#define NGX_QUEUES_API_PUBSUB_MASK_LABELS  0x0001


/* members of a new one, and of one in a patch */
typedef enum {
    NGX_QUEUES_API_PUBSUB_SNAP_NAME = 0,
    NGX_QUEUES_API_PUBSUB_SNAP_SUB,
    NGX_QUEUES_API_PUBSUB_SNAP_TOPIC,
    NGX_QUEUES_API_PUBSUB_SNAP_EXPIRE,
    NGX_QUEUES_API_PUBSUB_SNAP_LABELS,
    NGX_QUEUES_API_PUBSUB_SNAP_TAGS,
    NGX_QUEUES_API_PUBSUB_SNAP_NMEMBERS
} ngx_queues_api_pubsub_snap_member_e;


static void ngx_queues_api_pubsub_snap_create(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_pubsub_snap_new(ngx_queues_api_t *api,
    ngx_queues_store_snap_t *stored);
static void ngx_queues_api_pubsub_snap_created(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_pubsub_snap_get(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_snap_list(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_snap_delete(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_snap_patch(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_snap_overlay(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row);
static ngx_int_t ngx_queues_api_pubsub_snap_write(ngx_queues_api_t *api,
    ngx_str_t *labels, ngx_queues_store_snap_t *stored);
static size_t ngx_queues_api_pubsub_snap_length(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row);
static u_char *ngx_queues_api_pubsub_snap_print(u_char *p,
    ngx_queues_api_t *api, ngx_queues_store_value_t *row);


const ngx_queues_api_route_t  ngx_queues_api_pubsub_snaps_routes[] = {

    { NGX_HTTP_GET,
      ngx_string("/v1/projects/{project}/snapshots/{snapshot}"),
      ngx_string("PubsubGetSnapshot"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.snapshots.get"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_pubsub_snap_get },

    { NGX_HTTP_PUT,
      ngx_string("/v1/projects/{project}/snapshots/{snapshot}"),
      ngx_string("PubsubCreateSnapshot"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.snapshots.create"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_pubsub_snap_create },

    { NGX_HTTP_PATCH,
      ngx_string("/v1/projects/{project}/snapshots/{snapshot}"),
      ngx_string("PubsubUpdateSnapshot"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.snapshots.update"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_pubsub_snap_patch },

    { NGX_HTTP_DELETE,
      ngx_string("/v1/projects/{project}/snapshots/{snapshot}"),
      ngx_string("PubsubDeleteSnapshot"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.snapshots.delete"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_pubsub_snap_delete },

    { NGX_HTTP_GET,
      ngx_string("/v1/projects/{project}/snapshots"),
      ngx_string("PubsubListSnapshots"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.snapshots.list"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_pubsub_snap_list },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static const ngx_str_t  ngx_queues_api_pubsub_snap_members[] = {
    ngx_string("name"),
    ngx_string("subscription"),
    ngx_string("topic"),
    ngx_string("expireTime"),
    ngx_string("labels"),
    ngx_string("tags")
};


static ngx_queues_base_field_t  ngx_queues_api_pubsub_snap_fields[] = {
    { ngx_string("labels"), NGX_QUEUES_API_PUBSUB_MASK_LABELS, 1 },
    { ngx_null_string, 0, 0 }
};


static const ngx_queues_api_pubsub_kind_t  ngx_queues_api_pubsub_snaps = {
    NGX_QUEUES_BASE_RESOURCE_SNAPSHOT,
    ngx_string("snapshots"),
    NGX_QUEUES_STORE_OF_SNAP_NCOLUMNS,
    NGX_QUEUES_STORE_OF_SNAP_NAME,
    ngx_queues_api_pubsub_snap_length,
    ngx_queues_api_pubsub_snap_print,
    ngx_queues_store_snap_get
};


/* {"subscription": "projects/P/subscriptions/S", "labels": {...}} */

static void
ngx_queues_api_pubsub_snap_create(ngx_queues_api_t *api)
{
    ngx_queues_store_snap_t       *stored;
    ngx_queues_api_pubsub_call_t  *call;

    call = ngx_queues_api_pubsub_call(api, &ngx_queues_api_pubsub_snaps,
                                      NGX_QUEUES_STORE_AT_ONE);
    if (call == NULL) {
        return;
    }

    stored = ngx_palloc(api->op->pool, sizeof(ngx_queues_store_snap_t));
    if (stored == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    call->data = stored;

    if (ngx_queues_api_pubsub_snap_new(api, stored) != NGX_OK) {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_snap_create(&api->root, stored,
                                     ngx_queues_api_pubsub_snap_created, api));
}


/* who makes a snapshot of a subscription can read what that has */

static ngx_int_t
ngx_queues_api_pubsub_snap_new(ngx_queues_api_t *api,
    ngx_queues_store_snap_t *stored)
{
    ngx_str_t                       name, labels, sub;
    ngx_queues_base_json_value_t    values[
                                        NGX_QUEUES_API_PUBSUB_SNAP_NMEMBERS];
    ngx_queues_api_pubsub_object_t  object;

    object.names = ngx_queues_api_pubsub_snap_members;
    object.values = values;
    object.n = NGX_QUEUES_API_PUBSUB_SNAP_NMEMBERS;

    ngx_str_null(&name);

    if (ngx_queues_api_pubsub_body(api, &object) != NGX_OK
        || ngx_queues_api_pubsub_refused(api, &object,
                                         NGX_QUEUES_API_PUBSUB_SNAP_TAGS,
                                         NGX_QUEUES_API_PUBSUB_SNAP_TAGS)
           != NGX_OK
        || ngx_queues_api_pubsub_string(api, &object,
                                        NGX_QUEUES_API_PUBSUB_SNAP_SUB, &name)
           != NGX_OK
        || ngx_queues_api_pubsub_labels(api, &object,
                                        NGX_QUEUES_API_PUBSUB_SNAP_LABELS,
                                        &labels)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (name.len == 0) {
        ngx_queues_api_pubsub_invalid(api, &object,
                                      NGX_QUEUES_API_PUBSUB_SNAP_SUB,
                                      "must be there");
        return NGX_ERROR;
    }

    if (ngx_queues_api_pubsub_id_of(api, &name,
                                    NGX_QUEUES_BASE_RESOURCE_SUBSCRIPTION,
                                    &sub)
        != NGX_OK
        || ngx_queues_api_pubsub_may(api, "pubsub.consume", &sub) != NGX_OK
        || ngx_queues_api_pubsub_snap_write(api, &labels, stored) != NGX_OK)
    {
        return NGX_ERROR;
    }

    stored->sub = sub;

    return ngx_queues_api_pubsub_new_id(api, &stored->id);
}


static void
ngx_queues_api_pubsub_snap_created(void *data,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_store_snap_t       *stored;
    ngx_queues_api_pubsub_call_t  *call;

    call = api->data;
    stored = call->data;

    if (api->op->request == NULL) {
        ngx_queues_http_op_release(api->op);
        return;
    }

    switch (result->code) {

    case NGX_QUEUES_STORE_NO_SUBSCRIPTION:
        ngx_queues_api_pubsub_not_found(api, &stored->sub);
        break;

    case NGX_QUEUES_STORE_TOO_OLD:
        ngx_queues_api_error(api, NGX_QUEUES_API_FAILED_PRECONDITION, NULL,
                             "The oldest message of the subscription is so "
                             "old that the snapshot would expire in less than "
                             "an hour.");
        break;

    case NGX_QUEUES_STORE_TOO_BIG:
        ngx_queues_api_error(api, NGX_QUEUES_API_FAILED_PRECONDITION, NULL,
                             "The subscription has more messages than a "
                             "snapshot can keep apart.");
        break;

    case NGX_QUEUES_STORE_SEEKING:
        ngx_queues_api_error(api, NGX_QUEUES_API_ABORTED, NULL,
                             "A seek of the subscription is not through, try "
                             "again.");
        break;

    default:
        ngx_queues_api_pubsub_resource_done(data, result);
        return;
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_pubsub_snap_get(ngx_queues_api_t *api)
{
    ngx_queues_api_pubsub_get(api, &ngx_queues_api_pubsub_snaps);
}


static void
ngx_queues_api_pubsub_snap_list(ngx_queues_api_t *api)
{
    ngx_queues_api_pubsub_page_t  page;

    if (ngx_queues_api_pubsub_page(api, &ngx_queues_api_pubsub_snaps, &page)
        != NGX_OK)
    {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_snap_list(&api->root, &page.after, page.size,
                                   ngx_queues_api_pubsub_list_done, api));
}


static void
ngx_queues_api_pubsub_snap_delete(ngx_queues_api_t *api)
{
    ngx_queues_api_started(api,
        ngx_queues_store_snap_delete(&api->root, &api->queue,
                                     ngx_queues_api_pubsub_done, api));
}


/* {"snapshot": {...}, "updateMask": "labels"} */

static void
ngx_queues_api_pubsub_snap_patch(ngx_queues_api_t *api)
{
    ngx_str_t                       *labels;
    ngx_queues_base_json_value_t     values[
                                        NGX_QUEUES_API_PUBSUB_SNAP_NMEMBERS];
    ngx_queues_api_pubsub_call_t    *call;
    ngx_queues_api_pubsub_object_t   object;

    static const ngx_str_t  name = ngx_string("snapshot");

    call = ngx_queues_api_pubsub_call(api, &ngx_queues_api_pubsub_snaps,
                                      NGX_QUEUES_STORE_AT_ONE);
    if (call == NULL) {
        return;
    }

    labels = ngx_palloc(api->op->pool, sizeof(ngx_str_t));
    if (labels == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    call->overlay = ngx_queues_api_pubsub_snap_overlay;
    call->data = labels;

    object.names = ngx_queues_api_pubsub_snap_members;
    object.values = values;
    object.n = NGX_QUEUES_API_PUBSUB_SNAP_NMEMBERS;

    if (ngx_queues_api_pubsub_patch(api, &name,
                                    ngx_queues_api_pubsub_snap_fields, &object,
                                    &call->bits)
        != NGX_OK
        || ngx_queues_api_pubsub_labels(api, &object,
                                        NGX_QUEUES_API_PUBSUB_SNAP_LABELS,
                                        labels)
           != NGX_OK)
    {
        return;
    }

    ngx_queues_api_pubsub_modify(api);
}


/* the labels are all that can be changed, and all that is in the members */

static void
ngx_queues_api_pubsub_snap_overlay(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row)
{
    ngx_queues_store_snap_t        stored;
    ngx_queues_api_pubsub_call_t  *call;

    call = api->data;

    if (ngx_queues_api_pubsub_snap_write(api, call->data, &stored) != NGX_OK) {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_snap_update(&api->root, &stored,
                              row[NGX_QUEUES_STORE_OF_SNAP_VERSION].number,
                              ngx_queues_api_pubsub_modified, api));
}


static ngx_int_t
ngx_queues_api_pubsub_snap_write(ngx_queues_api_t *api, ngx_str_t *labels,
    ngx_queues_store_snap_t *stored)
{
    u_char  *p;

    ngx_memzero(stored, sizeof(ngx_queues_store_snap_t));

    stored->name = api->queue;

    if (labels->len == 0) {
        return NGX_OK;
    }

    p = ngx_queues_api_alloc(api, sizeof("\"labels\":") + labels->len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    stored->members.data = p;

    p = ngx_queues_base_copy(p, "\"labels\":");
    p = ngx_cpymem(p, labels->data, labels->len);

    stored->members.len = p - stored->members.data;

    return NGX_OK;
}


static size_t
ngx_queues_api_pubsub_snap_length(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row)
{
    return NGX_QUEUES_API_PUBSUB_SNAP_FIXED
           + ngx_queues_api_pubsub_name_length(api,
                                     NGX_QUEUES_BASE_RESOURCE_SNAPSHOT,
                                     &row[NGX_QUEUES_STORE_OF_SNAP_NAME].text)
           + ngx_queues_api_pubsub_name_length(api,
                                     NGX_QUEUES_BASE_RESOURCE_TOPIC,
                                     &row[NGX_QUEUES_STORE_OF_SNAP_TOPIC].text)
           + row[NGX_QUEUES_STORE_OF_SNAP_MEMBERS].text.len;
}


static u_char *
ngx_queues_api_pubsub_snap_print(u_char *p, ngx_queues_api_t *api,
    ngx_queues_store_value_t *row)
{
    ngx_str_t  *members;

    members = &row[NGX_QUEUES_STORE_OF_SNAP_MEMBERS].text;

    p = ngx_queues_base_copy(p, "{\"name\":\"");
    p = ngx_queues_api_pubsub_name(p, api, NGX_QUEUES_BASE_RESOURCE_SNAPSHOT,
                                   &row[NGX_QUEUES_STORE_OF_SNAP_NAME].text);

    p = ngx_queues_base_copy(p, "\",\"topic\":\"");
    p = ngx_queues_api_pubsub_name(p, api, NGX_QUEUES_BASE_RESOURCE_TOPIC,
                                   &row[NGX_QUEUES_STORE_OF_SNAP_TOPIC].text);

    p = ngx_queues_base_copy(p, "\",\"expireTime\":\"");
    p = ngx_queues_base_proto_time_print(p,
                              row[NGX_QUEUES_STORE_OF_SNAP_EXPIRE].number);
    *p++ = '"';

    if (members->len) {
        *p++ = ',';
        p = ngx_cpymem(p, members->data, members->len);
    }

    *p++ = '}';

    return p;
}
