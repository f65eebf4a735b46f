
/* Topics of the Pub/Sub API. */

#include "ngx_queues_api_pubsub_resource.h"


/* bytes of a topic's answer beside its name and its members */
#define NGX_QUEUES_API_PUBSUB_TOPIC_FIXED                                     \
    sizeof("{\"name\":\"\",,\"state\":\"ACTIVE\"}")

/* of the member that tells the retention */
#define NGX_QUEUES_API_PUBSUB_TOPIC_RETENTION                                 \
    (sizeof("\"labels\":,\"messageRetentionDuration\":\"\"")                  \
     + NGX_QUEUES_BASE_PROTO_DURATION_MAX)


/* members; those from refused on are of other servers */
typedef enum {
    NGX_QUEUES_API_PUBSUB_TOPIC_NAME = 0,
    NGX_QUEUES_API_PUBSUB_TOPIC_LABELS,
    NGX_QUEUES_API_PUBSUB_TOPIC_RETAINS,
    NGX_QUEUES_API_PUBSUB_TOPIC_STORAGE,
    NGX_QUEUES_API_PUBSUB_TOPIC_KMS,
    NGX_QUEUES_API_PUBSUB_TOPIC_PZS,
    NGX_QUEUES_API_PUBSUB_TOPIC_STATE,
    NGX_QUEUES_API_PUBSUB_TOPIC_SCHEMA,
    NGX_QUEUES_API_PUBSUB_TOPIC_INGESTION,
    NGX_QUEUES_API_PUBSUB_TOPIC_TRANSFORMS,
    NGX_QUEUES_API_PUBSUB_TOPIC_TAGS,
    NGX_QUEUES_API_PUBSUB_TOPIC_NMEMBERS
} ngx_queues_api_pubsub_topic_member_e;


/* bits of its mask */
#define NGX_QUEUES_API_PUBSUB_MASK_LABELS     0x0001
#define NGX_QUEUES_API_PUBSUB_MASK_RETENTION  0x0002
#define NGX_QUEUES_API_PUBSUB_MASK_SCHEMA     0x0004


typedef struct {
    ngx_str_t                         labels;
    ngx_queues_api_pubsub_time_t      retention;
} ngx_queues_api_pubsub_topic_t;


static void ngx_queues_api_pubsub_topic_create(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_topic_get(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_topic_list(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_topic_subs(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_topic_snaps(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_topic_delete(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_topic_patch(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_topic_overlay(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row);
static ngx_int_t ngx_queues_api_pubsub_topic_read(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object,
    ngx_queues_api_pubsub_topic_t *topic);
static ngx_int_t ngx_queues_api_pubsub_topic_write(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_topic_t *topic, ngx_queues_store_topic_t *stored);
static size_t ngx_queues_api_pubsub_topic_length(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row);
static u_char *ngx_queues_api_pubsub_topic_print(u_char *p,
    ngx_queues_api_t *api, ngx_queues_store_value_t *row);


const ngx_queues_api_route_t  ngx_queues_api_pubsub_topics_routes[] = {

    { NGX_HTTP_GET,
      ngx_string("/v1/projects/{project}/topics/{topic}"),
      ngx_string("PubsubGetTopic"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.topics.get"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_pubsub_topic_get },

    { NGX_HTTP_PUT,
      ngx_string("/v1/projects/{project}/topics/{topic}"),
      ngx_string("PubsubCreateTopic"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.topics.create"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_pubsub_topic_create },

    { NGX_HTTP_PATCH,
      ngx_string("/v1/projects/{project}/topics/{topic}"),
      ngx_string("PubsubUpdateTopic"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.topics.update"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_pubsub_topic_patch },

    { NGX_HTTP_DELETE,
      ngx_string("/v1/projects/{project}/topics/{topic}"),
      ngx_string("PubsubDeleteTopic"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.topics.delete"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_pubsub_topic_delete },

    { NGX_HTTP_GET,
      ngx_string("/v1/projects/{project}/topics"),
      ngx_string("PubsubListTopics"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.topics.list"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_pubsub_topic_list },

    { NGX_HTTP_GET,
      ngx_string("/v1/projects/{project}/topics/{topic}/subscriptions"),
      ngx_string("PubsubListTopicSubscriptions"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.topics.get"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_pubsub_topic_subs },

    { NGX_HTTP_GET,
      ngx_string("/v1/projects/{project}/topics/{topic}/snapshots"),
      ngx_string("PubsubListTopicSnapshots"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.topics.get"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_pubsub_topic_snaps },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static const ngx_str_t  ngx_queues_api_pubsub_topic_members[] = {
    ngx_string("name"),
    ngx_string("labels"),
    ngx_string("messageRetentionDuration"),
    ngx_string("messageStoragePolicy"),
    ngx_string("kmsKeyName"),
    ngx_string("satisfiesPzs"),
    ngx_string("state"),
    ngx_string("schemaSettings"),
    ngx_string("ingestionDataSourceSettings"),
    ngx_string("messageTransforms"),
    ngx_string("tags")
};


static ngx_queues_base_field_t  ngx_queues_api_pubsub_topic_fields[] = {
    { ngx_string("labels"), NGX_QUEUES_API_PUBSUB_MASK_LABELS, 1 },
    { ngx_string("messageRetentionDuration"),
      NGX_QUEUES_API_PUBSUB_MASK_RETENTION, 1 },
    { ngx_string("schemaSettings"), NGX_QUEUES_API_PUBSUB_MASK_SCHEMA, 1 },
    { ngx_null_string, 0, 0 }
};


static const ngx_queues_api_pubsub_kind_t  ngx_queues_api_pubsub_topics = {
    NGX_QUEUES_BASE_RESOURCE_TOPIC,
    ngx_string("topics"),
    NGX_QUEUES_STORE_OF_TOPIC_NCOLUMNS,
    NGX_QUEUES_STORE_OF_TOPIC_NAME,
    ngx_queues_api_pubsub_topic_length,
    ngx_queues_api_pubsub_topic_print,
    ngx_queues_store_topic_get
};


/* of a topic: names alone */

static const ngx_queues_api_pubsub_kind_t  ngx_queues_api_pubsub_topic_subs_of =
{
    NGX_QUEUES_BASE_RESOURCE_SUBSCRIPTION,
    ngx_string("subscriptions"),
    1,
    0,
    NULL,
    NULL,
    NULL
};


static const ngx_queues_api_pubsub_kind_t
    ngx_queues_api_pubsub_topic_snaps_of =
{
    NGX_QUEUES_BASE_RESOURCE_SNAPSHOT,
    ngx_string("snapshots"),
    1,
    0,
    NULL,
    NULL,
    NULL
};


static void
ngx_queues_api_pubsub_topic_create(ngx_queues_api_t *api)
{
    ngx_queues_store_topic_t         stored;
    ngx_queues_base_json_value_t     values[
                                       NGX_QUEUES_API_PUBSUB_TOPIC_NMEMBERS];
    ngx_queues_api_pubsub_topic_t    topic;
    ngx_queues_api_pubsub_object_t   object;

    object.names = ngx_queues_api_pubsub_topic_members;
    object.values = values;
    object.n = NGX_QUEUES_API_PUBSUB_TOPIC_NMEMBERS;

    if (ngx_queues_api_pubsub_body(api, &object) != NGX_OK
        || ngx_queues_api_pubsub_topic_read(api, &object, &topic) != NGX_OK
        || ngx_queues_api_pubsub_topic_write(api, &topic, &stored) != NGX_OK
        || ngx_queues_api_pubsub_new_id(api, &stored.id) != NGX_OK
        || ngx_queues_api_pubsub_call(api, &ngx_queues_api_pubsub_topics,
                                      NGX_QUEUES_STORE_AT_ONE)
           == NULL)
    {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_topic_create(&api->root, &stored,
                                      ngx_queues_api_pubsub_resource_done,
                                      api));
}


static void
ngx_queues_api_pubsub_topic_get(ngx_queues_api_t *api)
{
    ngx_queues_api_pubsub_get(api, &ngx_queues_api_pubsub_topics);
}


static void
ngx_queues_api_pubsub_topic_list(ngx_queues_api_t *api)
{
    ngx_queues_api_pubsub_page_t  page;

    if (ngx_queues_api_pubsub_page(api, &ngx_queues_api_pubsub_topics, &page)
        != NGX_OK)
    {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_topic_list(&api->root, &page.after, page.size,
                                    ngx_queues_api_pubsub_list_done, api));
}


static void
ngx_queues_api_pubsub_topic_subs(ngx_queues_api_t *api)
{
    ngx_queues_api_pubsub_page_t  page;

    if (ngx_queues_api_pubsub_page(api, &ngx_queues_api_pubsub_topic_subs_of,
                                   &page)
        != NGX_OK)
    {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_topic_subs(&api->root, &api->queue, &page.after,
                                    page.size,
                                    ngx_queues_api_pubsub_list_done, api));
}


static void
ngx_queues_api_pubsub_topic_snaps(ngx_queues_api_t *api)
{
    ngx_queues_api_pubsub_page_t  page;

    if (ngx_queues_api_pubsub_page(api, &ngx_queues_api_pubsub_topic_snaps_of,
                                   &page)
        != NGX_OK)
    {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_topic_snaps(&api->root, &api->queue, &page.after,
                                     page.size,
                                     ngx_queues_api_pubsub_list_done, api));
}


static void
ngx_queues_api_pubsub_topic_delete(ngx_queues_api_t *api)
{
    ngx_queues_api_started(api,
        ngx_queues_store_topic_delete(&api->root, &api->queue,
                                      ngx_queues_api_pubsub_done, api));
}


/* {"topic": {...}, "updateMask": "labels"} */

static void
ngx_queues_api_pubsub_topic_patch(ngx_queues_api_t *api)
{
    ngx_queues_base_json_value_t     values[
                                       NGX_QUEUES_API_PUBSUB_TOPIC_NMEMBERS];
    ngx_queues_api_pubsub_call_t    *call;
    ngx_queues_api_pubsub_topic_t   *topic;
    ngx_queues_api_pubsub_object_t   object;

    static const ngx_str_t  name = ngx_string("topic");

    call = ngx_queues_api_pubsub_call(api, &ngx_queues_api_pubsub_topics,
                                      NGX_QUEUES_STORE_AT_ONE);
    if (call == NULL) {
        return;
    }

    topic = ngx_palloc(api->op->pool, sizeof(ngx_queues_api_pubsub_topic_t));
    if (topic == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    call->overlay = ngx_queues_api_pubsub_topic_overlay;
    call->data = topic;

    object.names = ngx_queues_api_pubsub_topic_members;
    object.values = values;
    object.n = NGX_QUEUES_API_PUBSUB_TOPIC_NMEMBERS;

    if (ngx_queues_api_pubsub_patch(api, &name,
                                    ngx_queues_api_pubsub_topic_fields,
                                    &object, &call->bits)
        != NGX_OK
        || ngx_queues_api_pubsub_topic_read(api, &object, topic) != NGX_OK)
    {
        return;
    }

    ngx_queues_api_pubsub_modify(api);
}


static void
ngx_queues_api_pubsub_topic_overlay(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row)
{
    ngx_queues_store_topic_t         stored;
    ngx_queues_base_json_value_t     value, values[
                                       NGX_QUEUES_API_PUBSUB_TOPIC_NMEMBERS];
    ngx_queues_api_pubsub_call_t    *call;
    ngx_queues_api_pubsub_topic_t    topic, *patch;
    ngx_queues_api_pubsub_object_t   object;

    call = api->data;
    patch = call->data;

    ngx_str_null(&object.at);
    object.names = ngx_queues_api_pubsub_topic_members;
    object.values = values;
    object.n = NGX_QUEUES_API_PUBSUB_TOPIC_NMEMBERS;

    if (ngx_queues_api_pubsub_stored(api,
                                &row[NGX_QUEUES_STORE_OF_TOPIC_MEMBERS].text,
                                &value)
        != NGX_OK
        || ngx_queues_api_pubsub_members(api, &value, &object) != NGX_OK
        || ngx_queues_api_pubsub_topic_read(api, &object, &topic) != NGX_OK)
    {
        return;
    }

    if (call->bits & NGX_QUEUES_API_PUBSUB_MASK_LABELS) {
        topic.labels = patch->labels;
    }

    if (call->bits & NGX_QUEUES_API_PUBSUB_MASK_RETENTION) {
        topic.retention = patch->retention;
    }

    if (ngx_queues_api_pubsub_topic_write(api, &topic, &stored) != NGX_OK) {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_topic_update(&api->root, &stored,
                             row[NGX_QUEUES_STORE_OF_TOPIC_VERSION].number,
                             ngx_queues_api_pubsub_modified, api));
}


/* what is not known of it here is passed over where it changes nothing */

static ngx_int_t
ngx_queues_api_pubsub_topic_read(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object,
    ngx_queues_api_pubsub_topic_t *topic)
{
    ngx_str_t  text;

    ngx_memzero(topic, sizeof(ngx_queues_api_pubsub_topic_t));

    if (ngx_queues_api_pubsub_string(api, object,
                                     NGX_QUEUES_API_PUBSUB_TOPIC_NAME, &text)
        != NGX_OK
        || ngx_queues_api_pubsub_string(api, object,
                                        NGX_QUEUES_API_PUBSUB_TOPIC_KMS, &text)
           != NGX_OK
        || ngx_queues_api_pubsub_refused(api, object,
                                         NGX_QUEUES_API_PUBSUB_TOPIC_SCHEMA,
                                         NGX_QUEUES_API_PUBSUB_TOPIC_TAGS)
           != NGX_OK
        || ngx_queues_api_pubsub_labels(api, object,
                                        NGX_QUEUES_API_PUBSUB_TOPIC_LABELS,
                                        &topic->labels)
           != NGX_OK
        || ngx_queues_api_pubsub_time_of(api, object,
                                         NGX_QUEUES_API_PUBSUB_TOPIC_RETAINS,
                                         &topic->retention)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (topic->retention.given
        && !ngx_queues_api_pubsub_within(&topic->retention.value,
                                         NGX_QUEUES_API_PUBSUB_RETENTION_MIN,
                                         NGX_QUEUES_API_PUBSUB_RETENTION_MAX))
    {
        ngx_queues_api_pubsub_invalid(api, object,
                                      NGX_QUEUES_API_PUBSUB_TOPIC_RETAINS,
                                      "must be from 600s to 2678400s");
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_pubsub_topic_write(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_topic_t *topic, ngx_queues_store_topic_t *stored)
{
    u_char  *p;

    p = ngx_queues_api_alloc(api, NGX_QUEUES_API_PUBSUB_TOPIC_RETENTION
                                  + topic->labels.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(stored, sizeof(ngx_queues_store_topic_t));

    stored->name = api->queue;
    stored->members.data = p;

    if (topic->labels.len) {
        p = ngx_queues_base_copy(p, "\"labels\":");
        p = ngx_cpymem(p, topic->labels.data, topic->labels.len);
    }

    if (topic->retention.given) {
        stored->retention =
                      ngx_queues_api_pubsub_seconds(&topic->retention.value);

        if (topic->labels.len) {
            *p++ = ',';
        }

        p = ngx_queues_base_copy(p, "\"messageRetentionDuration\":\"");
        p = ngx_queues_base_proto_duration_print(p, &topic->retention.value);
        *p++ = '"';
    }

    stored->members.len = p - stored->members.data;

    return NGX_OK;
}


static size_t
ngx_queues_api_pubsub_topic_length(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row)
{
    return NGX_QUEUES_API_PUBSUB_TOPIC_FIXED
           + ngx_queues_api_pubsub_name_length(api,
                                     NGX_QUEUES_BASE_RESOURCE_TOPIC,
                                     &row[NGX_QUEUES_STORE_OF_TOPIC_NAME].text)
           + row[NGX_QUEUES_STORE_OF_TOPIC_MEMBERS].text.len;
}


static u_char *
ngx_queues_api_pubsub_topic_print(u_char *p, ngx_queues_api_t *api,
    ngx_queues_store_value_t *row)
{
    ngx_str_t  *members;

    members = &row[NGX_QUEUES_STORE_OF_TOPIC_MEMBERS].text;

    p = ngx_queues_base_copy(p, "{\"name\":\"");
    p = ngx_queues_api_pubsub_name(p, api, NGX_QUEUES_BASE_RESOURCE_TOPIC,
                                   &row[NGX_QUEUES_STORE_OF_TOPIC_NAME].text);
    *p++ = '"';

    if (members->len) {
        *p++ = ',';
        p = ngx_cpymem(p, members->data, members->len);
    }

    return ngx_queues_base_copy(p, ",\"state\":\"ACTIVE\"}");
}
