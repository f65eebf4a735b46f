
#include "ngx_queues_api_subscriptions.h"


#define NGX_QUEUES_API_SUBSCRIPTION  "/v1/organizations/{org}/projects"       \
                                     "/{project}/subscriptions"

#define NGX_QUEUES_API_SUBSCRIBE_TRIES  4


typedef struct {
    ngx_queues_store_subscription_t   subscription;
    ngx_queues_store_once_t          *once;
    ngx_uint_t                        tries;
    ngx_queues_api_secret_t           secret;
    u_char                            id[NGX_QUEUES_BASE_SHORT_LEN];
    u_char                            uuid[NGX_QUEUES_BASE_UUID_LEN];
} ngx_queues_api_subscribe_t;


static void ngx_queues_api_subscribe(ngx_queues_api_t *api);
static void ngx_queues_api_subscribe_try(ngx_queues_api_t *api);
static void ngx_queues_api_subscribe_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_subscription_get(ngx_queues_api_t *api);
static void ngx_queues_api_subscription_update(ngx_queues_api_t *api);
static void ngx_queues_api_subscription_pause(ngx_queues_api_t *api);
static void ngx_queues_api_subscription_resume(ngx_queues_api_t *api);
static void ngx_queues_api_subscription_set_paused(ngx_queues_api_t *api,
    ngx_uint_t pause);
static void ngx_queues_api_subscription_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_subscription_delete(ngx_queues_api_t *api);
static void ngx_queues_api_rotate(ngx_queues_api_t *api);
static void ngx_queues_api_rotate_done(void *data,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_api_subscription_no_fields(ngx_queues_api_t *api);
static void ngx_queues_api_subscription_note(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


const ngx_queues_api_route_t  ngx_queues_api_subscriptions_routes[] = {

    { NGX_HTTP_POST,
      ngx_string(NGX_QUEUES_API_SUBSCRIPTION),
      ngx_string("CreateSubscription"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.subscriptions.create"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_subscribe },

    { NGX_HTTP_GET,
      ngx_string(NGX_QUEUES_API_SUBSCRIPTION),
      ngx_string("ListSubscriptions"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.subscriptions.list"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_subscriptions_list },

    { NGX_HTTP_GET,
      ngx_string(NGX_QUEUES_API_SUBSCRIPTION "/{subscription}"),
      ngx_string("GetSubscription"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.subscriptions.get"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_subscription_get },

    { NGX_HTTP_PATCH,
      ngx_string(NGX_QUEUES_API_SUBSCRIPTION "/{subscription}"),
      ngx_string("UpdateSubscription"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.subscriptions.update"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_subscription_update },

    { NGX_HTTP_DELETE,
      ngx_string(NGX_QUEUES_API_SUBSCRIPTION "/{subscription}"),
      ngx_string("DeleteSubscription"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.subscriptions.delete"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_subscription_delete },

    { NGX_HTTP_POST,
      ngx_string(NGX_QUEUES_API_SUBSCRIPTION "/{subscription}/pause"),
      ngx_string("PauseSubscription"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.subscriptions.pause"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_subscription_pause },

    { NGX_HTTP_POST,
      ngx_string(NGX_QUEUES_API_SUBSCRIPTION "/{subscription}/resume"),
      ngx_string("ResumeSubscription"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.subscriptions.pause"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_subscription_resume },

    { NGX_HTTP_POST,
      ngx_string(NGX_QUEUES_API_SUBSCRIPTION "/{subscription}/rotate-secret"),
      ngx_string("RotateSubscriptionSecret"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.subscriptions.update"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_rotate },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string,
      NGX_QUEUES_API_NO_BODY, 0, NULL }
};


static void
ngx_queues_api_subscribe(ngx_queues_api_t *api)
{
    ngx_queues_api_subscribe_t  *subscribe;

    subscribe = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_subscribe_t));
    if (subscribe == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = subscribe;

    if (ngx_queues_api_idempotency(api, "CreateSubscription", &subscribe->once)
        != NGX_OK
        || ngx_queues_api_subscription_new(api, &subscribe->subscription)
           != NGX_OK)
    {
        return;
    }

    ngx_queues_api_with_other(api, &api->ref, ngx_queues_api_subscribe_try);
}


static void
ngx_queues_api_subscribe_try(ngx_queues_api_t *api)
{
    ngx_int_t                         rc;
    ngx_queues_api_subscribe_t       *subscribe;
    ngx_queues_store_subscription_t  *subscription;

    subscribe = api->data;
    subscription = &subscribe->subscription;

    if (ngx_queues_api_new_id(api, subscribe->id, subscribe->uuid) != NGX_OK
        || ngx_queues_api_secret_make(api, subscribe->id, &subscribe->secret)
           != NGX_OK)
    {
        return;
    }

    subscription->id.len = NGX_QUEUES_BASE_SHORT_LEN;
    subscription->id.data = subscribe->id;
    subscription->uuid.len = NGX_QUEUES_BASE_UUID_LEN;
    subscription->uuid.data = subscribe->uuid;

    subscribe->tries++;

    rc = ngx_queues_store_subscription_create(&api->root, &api->ref,
                                              subscription,
                                              &subscribe->secret.sealed,
                                              subscribe->once,
                                              ngx_queues_api_subscribe_done,
                                              api);
    if (rc != NGX_OK) {
        ngx_queues_api_secret_wipe(&subscribe->secret);
    }

    ngx_queues_api_started(api, rc);
}


static void
ngx_queues_api_subscribe_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_api_subscribe_t  *subscribe;

    subscribe = api->data;

    if (api->op->request
        && result->code == NGX_QUEUES_STORE_ID_TAKEN
        && subscribe->tries < NGX_QUEUES_API_SUBSCRIBE_TRIES)
    {
        ngx_queues_api_secret_wipe(&subscribe->secret);
        ngx_queues_api_subscribe_try(api);
        ngx_queues_http_op_release(api->op);
        return;
    }

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_secret_answer(api, NGX_HTTP_CREATED,
                                         result->subscriptions,
                                         result->repeated
                                         ? NULL : &subscribe->secret);

        } else {
            ngx_queues_api_subscription_refuse(api, result);
        }
    }

    ngx_queues_api_secret_wipe(&subscribe->secret);

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_subscription_get(ngx_queues_api_t *api)
{
    ngx_queues_api_started(api,
        ngx_queues_store_subscription_get(&api->root, &api->sub,
                                          ngx_queues_api_subscription_done,
                                          api));
}


static void
ngx_queues_api_subscription_update(ngx_queues_api_t *api)
{
    ngx_queues_store_target_t  target;

    if (ngx_queues_api_subscription_change(api, &target) != NGX_OK) {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_subscription_update(&api->root, &api->sub, &target,
                                             ngx_queues_api_subscription_done,
                                             api));
}


static void
ngx_queues_api_subscription_pause(ngx_queues_api_t *api)
{
    ngx_queues_api_subscription_set_paused(api, 1);
}


static void
ngx_queues_api_subscription_resume(ngx_queues_api_t *api)
{
    ngx_queues_api_subscription_set_paused(api, 0);
}


static void
ngx_queues_api_subscription_set_paused(ngx_queues_api_t *api,
    ngx_uint_t pause)
{
    if (ngx_queues_api_subscription_no_fields(api) != NGX_OK) {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_subscription_pause(&api->root, &api->sub, pause,
                                            ngx_queues_api_subscription_done,
                                            api));
}


/* of all calls that answer with the subscription as it is now */

static void
ngx_queues_api_subscription_done(void *data,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    u_char                           *p, *start;
    ngx_queues_store_subscription_t  *subscription;

    if (api->op->request == NULL) {
        goto done;
    }

    if (result->code != NGX_QUEUES_STORE_OK) {
        ngx_queues_api_store_error(api, result);
        goto done;
    }

    ngx_queues_api_subscription_note(api, result);

    subscription = result->subscriptions;

    start = ngx_queues_api_alloc(api,
                            ngx_queues_api_subscription_length(subscription));
    if (start) {
        p = ngx_queues_api_subscription_print(start, subscription);
        ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);
    }

done:

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_subscription_delete(ngx_queues_api_t *api)
{
    ngx_queues_api_started(api,
        ngx_queues_store_subscription_delete(&api->root, &api->sub,
                                             ngx_queues_api_no_content,
                                             api));
}


static void
ngx_queues_api_rotate(ngx_queues_api_t *api)
{
    ngx_int_t                 rc;
    ngx_queues_api_secret_t  *secret;

    if (ngx_queues_api_subscription_no_fields(api) != NGX_OK) {
        return;
    }

    secret = ngx_palloc(api->op->pool, sizeof(ngx_queues_api_secret_t));
    if (secret == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = secret;

    /* the short id stands in both ways to write a subscription */

    if (ngx_queues_api_secret_make(api, api->sub.data + 1, secret) != NGX_OK) {
        return;
    }

    rc = ngx_queues_store_subscription_rotate(&api->root, &api->sub,
                                              &secret->sealed,
                                              ngx_queues_api_rotate_done, api);
    if (rc != NGX_OK) {
        ngx_queues_api_secret_wipe(secret);
    }

    ngx_queues_api_started(api, rc);
}


static void
ngx_queues_api_rotate_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_subscription_note(api, result);
            ngx_queues_api_secret_answer(api, NGX_HTTP_OK,
                                         result->subscriptions, api->data);

        } else {
            ngx_queues_api_store_error(api, result);
        }
    }

    ngx_queues_api_secret_wipe(api->data);

    ngx_queues_http_op_release(api->op);
}


static ngx_int_t
ngx_queues_api_subscription_no_fields(ngx_queues_api_t *api)
{
    ngx_queues_base_json_value_t  body;

    if (ngx_queues_api_body(api, 1, &body) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_queues_api_members(api, &body, NULL, NULL, 0, NULL);
}


/* for the log, the queue that the path has not: without memory, there is none */

static void
ngx_queues_api_subscription_note(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_str_t  *name, *note;

    name = &result->subscriptions[0].queue_name;
    note = &api->op->note->names[NGX_QUEUES_HTTP_NAMES - 1];

    note->data = ngx_pstrdup(api->op->request->pool, name);
    note->len = note->data ? name->len : 0;
}
