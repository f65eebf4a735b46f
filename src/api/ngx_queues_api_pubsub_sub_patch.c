
/* Changes of subscriptions. */

#include "ngx_queues_api_pubsub_sub.h"


#define NGX_QUEUES_API_PUBSUB_PUSH_BITS                                       \
    (NGX_QUEUES_API_PUBSUB_SUB_BIT(PUSH) | NGX_QUEUES_API_PUBSUB_ENDPOINT_BIT \
     | NGX_QUEUES_API_PUBSUB_ATTRIBUTES_BIT | NGX_QUEUES_API_PUBSUB_OIDC_BIT  \
     | NGX_QUEUES_API_PUBSUB_WRAPPER_BIT)


static void ngx_queues_api_pubsub_sub_patch(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_push_modify(ngx_queues_api_t *api);
static ngx_queues_api_pubsub_call_t *ngx_queues_api_pubsub_sub_begin(
    ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_sub_overlay(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row);
static void ngx_queues_api_pubsub_sub_lay(ngx_queues_api_pubsub_sub_t *sub,
    ngx_queues_api_pubsub_sub_t *patch, uint64_t bits);
static void ngx_queues_api_pubsub_sub_lay_parts(
    ngx_queues_api_pubsub_sub_t *sub, ngx_queues_api_pubsub_sub_t *patch,
    uint64_t bits);
static void ngx_queues_api_pubsub_sub_patched(void *data,
    ngx_queues_store_result_t *result);


/* a change, and what the store was asked for last */
typedef struct {
    ngx_queues_api_pubsub_sub_t       sub;
    ngx_queues_store_sub_t            stored;
} ngx_queues_api_pubsub_sub_patch_t;


const ngx_queues_api_route_t  ngx_queues_api_pubsub_config_routes[] = {

    { NGX_HTTP_PATCH,
      ngx_string("/v1/projects/{project}/subscriptions/{subscription}"),
      ngx_string("PubsubUpdateSubscription"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.subscriptions.update"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_pubsub_sub_patch },

    { NGX_HTTP_POST,
      ngx_string("/v1/projects/{project}/subscriptions/{subscription}"
                 ":modifyPushConfig"),
      ngx_string("PubsubModifyPushConfig"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.subscriptions.update"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_pubsub_push_modify },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


/* parts before what they are parts of: the first one that fits counts */

static ngx_queues_base_field_t  ngx_queues_api_pubsub_sub_fields[] = {
    { ngx_string("ackDeadlineSeconds"),
      NGX_QUEUES_API_PUBSUB_SUB_BIT(DEADLINE), 0 },
    { ngx_string("labels"), NGX_QUEUES_API_PUBSUB_SUB_BIT(LABELS), 1 },
    { ngx_string("messageRetentionDuration"),
      NGX_QUEUES_API_PUBSUB_SUB_BIT(RETENTION), 1 },
    { ngx_string("retainAckedMessages"),
      NGX_QUEUES_API_PUBSUB_SUB_BIT(RETAINS), 0 },
    { ngx_string("enableExactlyOnceDelivery"),
      NGX_QUEUES_API_PUBSUB_SUB_BIT(ONCE), 0 },
    { ngx_string("expirationPolicy"),
      NGX_QUEUES_API_PUBSUB_SUB_BIT(EXPIRATION), 1 },

    { ngx_string("retryPolicy.minimumBackoff"),
      NGX_QUEUES_API_PUBSUB_MIN_BIT, 1 },
    { ngx_string("retryPolicy.maximumBackoff"),
      NGX_QUEUES_API_PUBSUB_MAX_BIT, 1 },
    { ngx_string("retryPolicy"), NGX_QUEUES_API_PUBSUB_SUB_BIT(RETRY), 0 },

    { ngx_string("deadLetterPolicy.deadLetterTopic"),
      NGX_QUEUES_API_PUBSUB_DEAD_TOPIC_BIT, 0 },
    { ngx_string("deadLetterPolicy.maxDeliveryAttempts"),
      NGX_QUEUES_API_PUBSUB_ATTEMPTS_BIT, 0 },
    { ngx_string("deadLetterPolicy"), NGX_QUEUES_API_PUBSUB_SUB_BIT(DEAD), 0 },

    { ngx_string("pushConfig.pushEndpoint"),
      NGX_QUEUES_API_PUBSUB_ENDPOINT_BIT, 0 },
    { ngx_string("pushConfig.attributes"),
      NGX_QUEUES_API_PUBSUB_ATTRIBUTES_BIT, 1 },
    { ngx_string("pushConfig.oidcToken"), NGX_QUEUES_API_PUBSUB_OIDC_BIT, 1 },
    { ngx_string("pushConfig.pubsubWrapper"),
      NGX_QUEUES_API_PUBSUB_WRAPPER_BIT, 0 },
    { ngx_string("pushConfig.noWrapper"),
      NGX_QUEUES_API_PUBSUB_WRAPPER_BIT, 1 },
    { ngx_string("pushConfig"), NGX_QUEUES_API_PUBSUB_SUB_BIT(PUSH), 0 },

    { ngx_null_string, 0, 0 }
};


/* {"subscription": {...}, "updateMask": "labels,pushConfig"} */

static void
ngx_queues_api_pubsub_sub_patch(ngx_queues_api_t *api)
{
    ngx_queues_base_json_value_t        values[
                                           NGX_QUEUES_API_PUBSUB_SUB_NMEMBERS];
    ngx_queues_api_pubsub_call_t       *call;
    ngx_queues_api_pubsub_object_t      object;
    ngx_queues_api_pubsub_sub_patch_t  *patch;

    static const ngx_str_t  name = ngx_string("subscription");

    call = ngx_queues_api_pubsub_sub_begin(api);
    if (call == NULL) {
        return;
    }

    patch = call->data;

    object.names = ngx_queues_api_pubsub_sub_members;
    object.values = values;
    object.n = NGX_QUEUES_API_PUBSUB_SUB_NMEMBERS;

    if (ngx_queues_api_pubsub_patch(api, &name,
                                    ngx_queues_api_pubsub_sub_fields, &object,
                                    &call->bits)
        != NGX_OK
        || ngx_queues_api_pubsub_sub_read(api, &object, &patch->sub) != NGX_OK)
    {
        return;
    }

    ngx_queues_api_pubsub_modify(api);
}


/* {"pushConfig": {...}}, of which an empty one and none are pull */

static void
ngx_queues_api_pubsub_push_modify(ngx_queues_api_t *api)
{
    ngx_queues_base_json_value_t        values[1];
    ngx_queues_api_pubsub_call_t       *call;
    ngx_queues_api_pubsub_object_t      object;
    ngx_queues_api_pubsub_sub_patch_t  *patch;

    static const ngx_str_t  name = ngx_string("pushConfig");

    call = ngx_queues_api_pubsub_sub_begin(api);
    if (call == NULL) {
        return;
    }

    patch = call->data;
    call->bits = NGX_QUEUES_API_PUBSUB_SUB_BIT(PUSH);
    call->empty = 1;

    object.names = &name;
    object.values = values;
    object.n = 1;

    if (ngx_queues_api_pubsub_body(api, &object) != NGX_OK
        || ngx_queues_api_pubsub_push_read(api, &object, 0, &patch->sub.push)
           != NGX_OK)
    {
        return;
    }

    ngx_queues_api_pubsub_modify(api);
}


static ngx_queues_api_pubsub_call_t *
ngx_queues_api_pubsub_sub_begin(ngx_queues_api_t *api)
{
    ngx_queues_api_pubsub_call_t  *call;

    call = ngx_queues_api_pubsub_call(api, &ngx_queues_api_pubsub_subs,
                                      NGX_QUEUES_STORE_AT_CHANGED);
    if (call == NULL) {
        return NULL;
    }

    call->overlay = ngx_queues_api_pubsub_sub_overlay;

    call->data = ngx_pcalloc(api->op->pool,
                             sizeof(ngx_queues_api_pubsub_sub_patch_t));
    if (call->data == NULL) {
        ngx_queues_api_no_memory(api);
        return NULL;
    }

    return call;
}


static void
ngx_queues_api_pubsub_sub_overlay(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row)
{
    ngx_queues_api_pubsub_sub_t         sub;
    ngx_queues_api_pubsub_call_t       *call;
    ngx_queues_api_pubsub_sub_patch_t  *patch;

    call = api->data;
    patch = call->data;

    if (ngx_queues_api_pubsub_sub_stored(api,
                                  &row[NGX_QUEUES_STORE_OF_SUB_MEMBERS].text,
                                  &sub)
        != NGX_OK)
    {
        return;
    }

    ngx_queues_api_pubsub_sub_lay(&sub, &patch->sub, call->bits);
    ngx_queues_api_pubsub_sub_lay_parts(&sub, &patch->sub, call->bits);

    if ((call->bits & NGX_QUEUES_API_PUBSUB_PUSH_BITS)
        && ngx_queues_api_pubsub_push_check(api, &sub.push) != NGX_OK)
    {
        return;
    }

    if (ngx_queues_api_pubsub_sub_check(api, &sub) != NGX_OK
        || ngx_queues_api_pubsub_sub_write(api, &sub, &patch->stored)
           != NGX_OK)
    {
        return;
    }

    if ((call->bits & (NGX_QUEUES_API_PUBSUB_SUB_BIT(DEAD)
                       | NGX_QUEUES_API_PUBSUB_DEAD_TOPIC_BIT))
        && ngx_queues_api_pubsub_may_dead(api, &sub, &patch->stored)
           != NGX_OK)
    {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_sub_update(&api->root, &patch->stored,
                               row[NGX_QUEUES_STORE_OF_SUB_VERSION].number,
                               ngx_queues_api_pubsub_sub_patched, api));
}


/* what is masked and not said becomes what it is by default */

static void
ngx_queues_api_pubsub_sub_lay(ngx_queues_api_pubsub_sub_t *sub,
    ngx_queues_api_pubsub_sub_t *patch, uint64_t bits)
{
    if (bits & NGX_QUEUES_API_PUBSUB_SUB_BIT(DEADLINE)) {
        sub->deadline = patch->deadline;
    }

    if (bits & NGX_QUEUES_API_PUBSUB_SUB_BIT(LABELS)) {
        sub->labels = patch->labels;
    }

    if (bits & NGX_QUEUES_API_PUBSUB_SUB_BIT(RETENTION)) {
        sub->retention = patch->retention;
    }

    if (bits & NGX_QUEUES_API_PUBSUB_SUB_BIT(RETAINS)) {
        sub->retains = patch->retains;
    }

    if (bits & NGX_QUEUES_API_PUBSUB_SUB_BIT(ONCE)) {
        sub->once = patch->once;
    }

    if (bits & NGX_QUEUES_API_PUBSUB_SUB_BIT(EXPIRATION)) {
        sub->expires = patch->expires;
        sub->ttl = patch->ttl;
    }

    if (bits & NGX_QUEUES_API_PUBSUB_SUB_BIT(RETRY)) {
        sub->retry = patch->retry;
        sub->min = patch->min;
        sub->max = patch->max;
    }

    if (bits & NGX_QUEUES_API_PUBSUB_SUB_BIT(DEAD)) {
        sub->dead = patch->dead;
        sub->attempts = patch->attempts;
    }

    if (bits & NGX_QUEUES_API_PUBSUB_SUB_BIT(PUSH)) {
        sub->push = patch->push;
    }
}


static void
ngx_queues_api_pubsub_sub_lay_parts(ngx_queues_api_pubsub_sub_t *sub,
    ngx_queues_api_pubsub_sub_t *patch, uint64_t bits)
{
    ngx_queues_api_pubsub_push_t  *push;

    push = &patch->push;

    if (bits & NGX_QUEUES_API_PUBSUB_MIN_BIT) {
        sub->retry = 1;
        sub->min = patch->min;
    }

    if (bits & NGX_QUEUES_API_PUBSUB_MAX_BIT) {
        sub->retry = 1;
        sub->max = patch->max;
    }

    if (bits & NGX_QUEUES_API_PUBSUB_DEAD_TOPIC_BIT) {
        sub->dead = patch->dead;
    }

    if (bits & NGX_QUEUES_API_PUBSUB_ATTEMPTS_BIT) {
        sub->attempts = patch->attempts;
    }

    if (bits & NGX_QUEUES_API_PUBSUB_ENDPOINT_BIT) {
        sub->push.endpoint = push->endpoint;
    }

    if (bits & NGX_QUEUES_API_PUBSUB_ATTRIBUTES_BIT) {
        sub->push.version = push->version;
    }

    if (bits & NGX_QUEUES_API_PUBSUB_OIDC_BIT) {
        sub->push.oidc = push->oidc;
        sub->push.email = push->email;
        sub->push.audience = push->audience;
    }

    if (bits & NGX_QUEUES_API_PUBSUB_WRAPPER_BIT) {
        sub->push.wrapper = push->wrapper;
    }
}


static void
ngx_queues_api_pubsub_sub_patched(void *data,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_api_pubsub_call_t       *call;
    ngx_queues_api_pubsub_sub_patch_t  *patch;

    if (result->code == NGX_QUEUES_STORE_NO_DEAD_LETTER_TOPIC
        && api->op->request)
    {
        call = api->data;
        patch = call->data;

        ngx_queues_api_pubsub_sub_error(api, result, &patch->stored);
        ngx_queues_http_op_release(api->op);
        return;
    }

    ngx_queues_api_pubsub_modified(data, result);
}
