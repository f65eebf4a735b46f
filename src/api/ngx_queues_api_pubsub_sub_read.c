
/* Subscriptions as they are written in bodies. */

#include "ngx_queues_api_pubsub_sub.h"


/* members of a push config */
typedef enum {
    NGX_QUEUES_API_PUBSUB_PUSH_ENDPOINT = 0,
    NGX_QUEUES_API_PUBSUB_PUSH_ATTRIBUTES,
    NGX_QUEUES_API_PUBSUB_PUSH_OIDC,
    NGX_QUEUES_API_PUBSUB_PUSH_WRAPPER,
    NGX_QUEUES_API_PUBSUB_PUSH_NO_WRAPPER,
    NGX_QUEUES_API_PUBSUB_PUSH_NMEMBERS
} ngx_queues_api_pubsub_push_member_e;


static ngx_int_t ngx_queues_api_pubsub_inner(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *parent, ngx_uint_t i,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t *there);
static ngx_int_t ngx_queues_api_pubsub_read_scalars(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_queues_api_pubsub_sub_t *sub);
static ngx_int_t ngx_queues_api_pubsub_read_expiration(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_queues_api_pubsub_sub_t *sub);
static ngx_int_t ngx_queues_api_pubsub_read_dead(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_queues_api_pubsub_sub_t *sub);
static ngx_int_t ngx_queues_api_pubsub_read_retry(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_queues_api_pubsub_sub_t *sub);
static ngx_int_t ngx_queues_api_pubsub_read_version(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *parent, ngx_queues_api_pubsub_push_t *push);
static ngx_int_t ngx_queues_api_pubsub_read_oidc(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *parent, ngx_queues_api_pubsub_push_t *push);
static ngx_int_t ngx_queues_api_pubsub_read_wrapper(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *parent, ngx_queues_api_pubsub_push_t *push);


const ngx_str_t  ngx_queues_api_pubsub_sub_members[] = {
    ngx_string("name"),
    ngx_string("topic"),
    ngx_string("pushConfig"),
    ngx_string("ackDeadlineSeconds"),
    ngx_string("retainAckedMessages"),
    ngx_string("messageRetentionDuration"),
    ngx_string("labels"),
    ngx_string("enableMessageOrdering"),
    ngx_string("expirationPolicy"),
    ngx_string("filter"),
    ngx_string("deadLetterPolicy"),
    ngx_string("retryPolicy"),
    ngx_string("enableExactlyOnceDelivery"),
    ngx_string("detached"),
    ngx_string("state"),
    ngx_string("topicMessageRetentionDuration"),
    ngx_string("analyticsHubSubscriptionInfo"),
    ngx_string("bigqueryConfig"),
    ngx_string("cloudStorageConfig"),
    ngx_string("bigtableConfig"),
    ngx_string("messageTransforms"),
    ngx_string("tags")
};


static const ngx_str_t  ngx_queues_api_pubsub_expiration_members[] = {
    ngx_string("ttl")
};

static const ngx_str_t  ngx_queues_api_pubsub_dead_members[] = {
    ngx_string("deadLetterTopic"),
    ngx_string("maxDeliveryAttempts")
};

static const ngx_str_t  ngx_queues_api_pubsub_retry_members[] = {
    ngx_string("minimumBackoff"),
    ngx_string("maximumBackoff")
};

static const ngx_str_t  ngx_queues_api_pubsub_push_members[] = {
    ngx_string("pushEndpoint"),
    ngx_string("attributes"),
    ngx_string("oidcToken"),
    ngx_string("pubsubWrapper"),
    ngx_string("noWrapper")
};

static const ngx_str_t  ngx_queues_api_pubsub_version_members[] = {
    ngx_string("x-goog-version")
};

static const ngx_str_t  ngx_queues_api_pubsub_oidc_members[] = {
    ngx_string("serviceAccountEmail"),
    ngx_string("audience")
};

static const ngx_str_t  ngx_queues_api_pubsub_no_wrapper_members[] = {
    ngx_string("writeMetadata")
};


ngx_int_t
ngx_queues_api_pubsub_sub_read(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_queues_api_pubsub_sub_t *sub)
{
    ngx_memzero(sub, sizeof(ngx_queues_api_pubsub_sub_t));

    if (ngx_queues_api_pubsub_refused(api, object,
                                      NGX_QUEUES_API_PUBSUB_SUB_BIGQUERY,
                                      NGX_QUEUES_API_PUBSUB_SUB_TAGS)
        != NGX_OK
        || ngx_queues_api_pubsub_read_scalars(api, object, sub) != NGX_OK
        || ngx_queues_api_pubsub_labels(api, object,
                                        NGX_QUEUES_API_PUBSUB_SUB_LABELS,
                                        &sub->labels)
           != NGX_OK
        || ngx_queues_api_pubsub_read_expiration(api, object, sub) != NGX_OK
        || ngx_queues_api_pubsub_read_dead(api, object, sub) != NGX_OK
        || ngx_queues_api_pubsub_read_retry(api, object, sub) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_pubsub_push_read(api, object,
                                           NGX_QUEUES_API_PUBSUB_SUB_PUSH,
                                           &sub->push);
}


ngx_int_t
ngx_queues_api_pubsub_sub_stored(ngx_queues_api_t *api, ngx_str_t *members,
    ngx_queues_api_pubsub_sub_t *sub)
{
    ngx_queues_base_json_value_t    value, values[
                                        NGX_QUEUES_API_PUBSUB_SUB_NMEMBERS];
    ngx_queues_api_pubsub_object_t  object;

    ngx_str_null(&object.at);
    object.names = ngx_queues_api_pubsub_sub_members;
    object.values = values;
    object.n = NGX_QUEUES_API_PUBSUB_SUB_NMEMBERS;

    if (ngx_queues_api_pubsub_stored(api, members, &value) != NGX_OK
        || ngx_queues_api_pubsub_members(api, &value, &object) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_pubsub_sub_read(api, &object, sub);
}


/*
 * An object within another: sets *there.  One that is missing has no members,
 * and *there is left as it is.
 */

static ngx_int_t
ngx_queues_api_pubsub_inner(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *parent, ngx_uint_t i,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t *there)
{
    u_char      *p;
    ngx_str_t    name;
    ngx_uint_t   k;

    if (parent->values[i].type == NGX_QUEUES_BASE_JSON_NULL) {

        for (k = 0; k < object->n; k++) {
            object->values[k].type = NGX_QUEUES_BASE_JSON_NULL;
        }

        return NGX_OK;
    }

    *there = 1;

    name = parent->names[i];

    object->at.len = parent->at.len + 1 + name.len;

    p = ngx_queues_api_alloc(api, object->at.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    object->at.data = p;

    if (parent->at.len) {
        p = ngx_cpymem(p, parent->at.data, parent->at.len);
        *p++ = '.';
    }

    p = ngx_cpymem(p, name.data, name.len);

    object->at.len = p - object->at.data;

    return ngx_queues_api_pubsub_members(api, &parent->values[i], object);
}


static ngx_int_t
ngx_queues_api_pubsub_read_scalars(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_queues_api_pubsub_sub_t *sub)
{
    ngx_str_t   name;
    ngx_uint_t  detached;

    if (ngx_queues_api_pubsub_string(api, object,
                                     NGX_QUEUES_API_PUBSUB_SUB_NAME, &name)
        != NGX_OK
        || ngx_queues_api_pubsub_string(api, object,
                                        NGX_QUEUES_API_PUBSUB_SUB_TOPIC,
                                        &sub->topic)
           != NGX_OK
        || ngx_queues_api_pubsub_string(api, object,
                                        NGX_QUEUES_API_PUBSUB_SUB_FILTER,
                                        &sub->filter)
           != NGX_OK
        || ngx_queues_api_pubsub_integer(api, object,
                                         NGX_QUEUES_API_PUBSUB_SUB_DEADLINE,
                                         &sub->deadline)
           != NGX_OK
        || ngx_queues_api_pubsub_time_of(api, object,
                                         NGX_QUEUES_API_PUBSUB_SUB_RETENTION,
                                         &sub->retention)
           != NGX_OK
        || ngx_queues_api_pubsub_bool(api, object,
                                      NGX_QUEUES_API_PUBSUB_SUB_RETAINS,
                                      &sub->retains)
           != NGX_OK
        || ngx_queues_api_pubsub_bool(api, object,
                                      NGX_QUEUES_API_PUBSUB_SUB_ORDERED,
                                      &sub->ordered)
           != NGX_OK
        || ngx_queues_api_pubsub_bool(api, object,
                                      NGX_QUEUES_API_PUBSUB_SUB_ONCE,
                                      &sub->once)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_pubsub_bool(api, object,
                                      NGX_QUEUES_API_PUBSUB_SUB_DETACHED,
                                      &detached);
}


static ngx_int_t
ngx_queues_api_pubsub_read_expiration(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_queues_api_pubsub_sub_t *sub)
{
    ngx_queues_base_json_value_t    values[1];
    ngx_queues_api_pubsub_object_t  inner;

    inner.names = ngx_queues_api_pubsub_expiration_members;
    inner.values = values;
    inner.n = 1;

    if (ngx_queues_api_pubsub_inner(api, object,
                                    NGX_QUEUES_API_PUBSUB_SUB_EXPIRATION,
                                    &inner, &sub->expires)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_pubsub_time_of(api, &inner, 0, &sub->ttl);
}


static ngx_int_t
ngx_queues_api_pubsub_read_dead(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_queues_api_pubsub_sub_t *sub)
{
    ngx_uint_t                      there;
    ngx_queues_base_json_value_t    values[2];
    ngx_queues_api_pubsub_object_t  inner;

    inner.names = ngx_queues_api_pubsub_dead_members;
    inner.values = values;
    inner.n = 2;

    if (ngx_queues_api_pubsub_inner(api, object,
                                    NGX_QUEUES_API_PUBSUB_SUB_DEAD, &inner,
                                    &there)
        != NGX_OK
        || ngx_queues_api_pubsub_string(api, &inner, 0, &sub->dead) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_pubsub_integer(api, &inner, 1, &sub->attempts);
}


static ngx_int_t
ngx_queues_api_pubsub_read_retry(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_queues_api_pubsub_sub_t *sub)
{
    ngx_queues_base_json_value_t    values[2];
    ngx_queues_api_pubsub_object_t  inner;

    inner.names = ngx_queues_api_pubsub_retry_members;
    inner.values = values;
    inner.n = 2;

    if (ngx_queues_api_pubsub_inner(api, object,
                                    NGX_QUEUES_API_PUBSUB_SUB_RETRY, &inner,
                                    &sub->retry)
        != NGX_OK
        || ngx_queues_api_pubsub_time_of(api, &inner, 0, &sub->min) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_pubsub_time_of(api, &inner, 1, &sub->max);
}


ngx_int_t
ngx_queues_api_pubsub_push_read(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *parent, ngx_uint_t i,
    ngx_queues_api_pubsub_push_t *push)
{
    ngx_uint_t                      there;
    ngx_queues_base_json_value_t    values[
                                        NGX_QUEUES_API_PUBSUB_PUSH_NMEMBERS];
    ngx_queues_api_pubsub_object_t  object;

    ngx_memzero(push, sizeof(ngx_queues_api_pubsub_push_t));

    object.names = ngx_queues_api_pubsub_push_members;
    object.values = values;
    object.n = NGX_QUEUES_API_PUBSUB_PUSH_NMEMBERS;

    if (ngx_queues_api_pubsub_inner(api, parent, i, &object, &there) != NGX_OK
        || ngx_queues_api_pubsub_string(api, &object,
                                        NGX_QUEUES_API_PUBSUB_PUSH_ENDPOINT,
                                        &push->endpoint)
           != NGX_OK
        || ngx_queues_api_pubsub_read_version(api, &object, push) != NGX_OK
        || ngx_queues_api_pubsub_read_oidc(api, &object, push) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_pubsub_read_wrapper(api, &object, push);
}


/* the one attribute that there is */

static ngx_int_t
ngx_queues_api_pubsub_read_version(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *parent, ngx_queues_api_pubsub_push_t *push)
{
    ngx_uint_t                      there;
    ngx_queues_base_json_value_t    values[1];
    ngx_queues_api_pubsub_object_t  object;

    object.names = ngx_queues_api_pubsub_version_members;
    object.values = values;
    object.n = 1;

    if (ngx_queues_api_pubsub_inner(api, parent,
                                    NGX_QUEUES_API_PUBSUB_PUSH_ATTRIBUTES,
                                    &object, &there)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_pubsub_string(api, &object, 0, &push->version);
}


static ngx_int_t
ngx_queues_api_pubsub_read_oidc(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *parent, ngx_queues_api_pubsub_push_t *push)
{
    ngx_queues_base_json_value_t    values[2];
    ngx_queues_api_pubsub_object_t  object;

    object.names = ngx_queues_api_pubsub_oidc_members;
    object.values = values;
    object.n = 2;

    if (ngx_queues_api_pubsub_inner(api, parent,
                                    NGX_QUEUES_API_PUBSUB_PUSH_OIDC, &object,
                                    &push->oidc)
        != NGX_OK
        || ngx_queues_api_pubsub_string(api, &object, 0, &push->email)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_pubsub_string(api, &object, 1, &push->audience);
}


/* one of the two */

static ngx_int_t
ngx_queues_api_pubsub_read_wrapper(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *parent, ngx_queues_api_pubsub_push_t *push)
{
    ngx_uint_t                      wrapper, none, metadata;
    ngx_queues_base_json_value_t    values[1];
    ngx_queues_api_pubsub_object_t  object;

    wrapper = 0;
    none = 0;
    metadata = 0;

    object.names = NULL;
    object.values = NULL;
    object.n = 0;

    if (ngx_queues_api_pubsub_inner(api, parent,
                                    NGX_QUEUES_API_PUBSUB_PUSH_WRAPPER,
                                    &object, &wrapper)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    object.names = ngx_queues_api_pubsub_no_wrapper_members;
    object.values = values;
    object.n = 1;

    if (ngx_queues_api_pubsub_inner(api, parent,
                                    NGX_QUEUES_API_PUBSUB_PUSH_NO_WRAPPER,
                                    &object, &none)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (wrapper && none) {
        ngx_queues_api_pubsub_invalid(api, parent,
                                      NGX_QUEUES_API_PUBSUB_PUSH_NO_WRAPPER,
                                      "is there beside pubsubWrapper");
        return NGX_ERROR;
    }

    if (ngx_queues_api_pubsub_bool(api, &object, 0, &metadata) != NGX_OK) {
        return NGX_ERROR;
    }

    if (wrapper) {
        push->wrapper = NGX_QUEUES_API_PUBSUB_WRAPPED;

    } else if (none) {
        push->wrapper = metadata ? NGX_QUEUES_API_PUBSUB_METADATA
                                 : NGX_QUEUES_API_PUBSUB_UNWRAPPED;
    }

    return NGX_OK;
}
