
#include "ngx_queues_api_subscriptions.h"


#define NGX_QUEUES_API_CONCURRENCY_MAX  100
#define NGX_QUEUES_API_TIMEOUT_MAX      60


/* the members of a subscription that a client may write */

typedef enum {
    NGX_QUEUES_API_SUBSCRIPTION_QUEUE = 0,
    NGX_QUEUES_API_SUBSCRIPTION_STATE,
    NGX_QUEUES_API_SUBSCRIPTION_TARGET,
    NGX_QUEUES_API_SUBSCRIPTION_BATCH,
    NGX_QUEUES_API_SUBSCRIPTION_CONCURRENCY,
    NGX_QUEUES_API_SUBSCRIPTION_NMEMBERS
} ngx_queues_api_subscription_member_e;


typedef enum {
    NGX_QUEUES_API_TARGET_KIND = 0,
    NGX_QUEUES_API_TARGET_URL,
    NGX_QUEUES_API_TARGET_TIMEOUT,
    NGX_QUEUES_API_TARGET_NMEMBERS
} ngx_queues_api_target_member_e;


static ngx_int_t ngx_queues_api_subscription_read(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *values, ngx_queues_store_target_t *target);
static ngx_int_t ngx_queues_api_subscription_state(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_uint_t *paused);
static ngx_int_t ngx_queues_api_target(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_queues_store_target_t *target);
static ngx_int_t ngx_queues_api_target_kind(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value);
static ngx_int_t ngx_queues_api_target_url(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *url);
static u_char *ngx_queues_api_status_print(u_char *p,
    ngx_queues_store_subscription_t *subscription);


static const ngx_str_t  ngx_queues_api_subscription_names[] = {
    ngx_string("queueId"),
    ngx_string("state"),
    ngx_string("target"),
    ngx_string("batchSize"),
    ngx_string("maxConcurrency")
};


static const ngx_str_t  ngx_queues_api_target_names[] = {
    ngx_string("kind"),
    ngx_string("url"),
    ngx_string("timeoutSeconds")
};

static ngx_str_t  ngx_queues_api_target_prefix = ngx_string("target.");


ngx_int_t
ngx_queues_api_subscription_new(ngx_queues_api_t *api,
    ngx_queues_store_subscription_t *subscription)
{
    const ngx_str_t               *names;
    ngx_queues_store_target_t     *target;
    ngx_queues_base_json_value_t   body;
    ngx_queues_base_json_value_t  values[NGX_QUEUES_API_SUBSCRIPTION_NMEMBERS];

    names = ngx_queues_api_subscription_names;

    if (ngx_queues_api_body(api, 0, &body) != NGX_OK
        || ngx_queues_api_members(api, &body, NULL, names,
                                  NGX_QUEUES_API_SUBSCRIPTION_NMEMBERS,
                                  values)
           != NGX_OK
        || ngx_queues_api_other(api,
                                &values[NGX_QUEUES_API_SUBSCRIPTION_QUEUE],
                                NULL,
                                &names[NGX_QUEUES_API_SUBSCRIPTION_QUEUE],
                                &api->queue, &api->ref)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    api->op->note->names[NGX_QUEUES_HTTP_NAMES - 1] = api->queue;

    target = &subscription->target;

    ngx_str_null(&target->url);
    target->timeout = 30;
    target->batch = 10;
    target->concurrency = 10;

    if (ngx_queues_api_subscription_state(api,
                                   &values[NGX_QUEUES_API_SUBSCRIPTION_STATE],
                                   &subscription->paused)
        != NGX_OK
        || ngx_queues_api_subscription_read(api, values, target) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (values[NGX_QUEUES_API_SUBSCRIPTION_TARGET].type
        == NGX_QUEUES_BASE_JSON_NULL)
    {
        ngx_queues_api_invalid(api, NULL,
                               &names[NGX_QUEUES_API_SUBSCRIPTION_TARGET],
                               "is missing");
        return NGX_ERROR;
    }

    if (target->url.len == 0) {
        ngx_queues_api_invalid(api, &ngx_queues_api_target_prefix,
                       &ngx_queues_api_target_names[NGX_QUEUES_API_TARGET_URL],
                       "is missing");
        return NGX_ERROR;
    }

    return NGX_OK;
}


void
ngx_queues_api_subscription_refuse(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    if (result->code == NGX_QUEUES_STORE_NO_QUEUE) {
        ngx_queues_api_no_queue(api,
         &ngx_queues_api_subscription_names[NGX_QUEUES_API_SUBSCRIPTION_QUEUE]);
        return;
    }

    ngx_queues_api_store_error(api, result);
}


ngx_int_t
ngx_queues_api_subscription_change(ngx_queues_api_t *api,
    ngx_queues_store_target_t *target)
{
    ngx_uint_t                     i;
    ngx_queues_base_json_value_t   body;
    ngx_queues_base_json_value_t  values[NGX_QUEUES_API_SUBSCRIPTION_NMEMBERS];

    if (ngx_queues_api_body(api, 1, &body) != NGX_OK
        || ngx_queues_api_members(api, &body, NULL,
                                  ngx_queues_api_subscription_names,
                                  NGX_QUEUES_API_SUBSCRIPTION_NMEMBERS,
                                  values)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (i = NGX_QUEUES_API_SUBSCRIPTION_QUEUE;
         i <= NGX_QUEUES_API_SUBSCRIPTION_STATE;
         i++)
    {
        if (values[i].type != NGX_QUEUES_BASE_JSON_NULL) {
            ngx_queues_api_invalid(api, NULL,
                                   &ngx_queues_api_subscription_names[i],
                                   i == NGX_QUEUES_API_SUBSCRIPTION_QUEUE
                                   ? "cannot be changed"
                                   : "is changed by pause and resume");
            return NGX_ERROR;
        }
    }

    ngx_str_null(&target->url);
    target->timeout = -1;
    target->batch = -1;
    target->concurrency = -1;

    return ngx_queues_api_subscription_read(api, values, target);
}


static ngx_int_t
ngx_queues_api_subscription_read(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *values, ngx_queues_store_target_t *target)
{
    const ngx_str_t  *names;

    names = ngx_queues_api_subscription_names;

    if (ngx_queues_api_integer(api,
                             &values[NGX_QUEUES_API_SUBSCRIPTION_BATCH], NULL,
                             &names[NGX_QUEUES_API_SUBSCRIPTION_BATCH], 1,
                             NGX_QUEUES_STORE_BATCH_MAX, &target->batch)
        != NGX_OK
        || ngx_queues_api_integer(api,
                       &values[NGX_QUEUES_API_SUBSCRIPTION_CONCURRENCY], NULL,
                       &names[NGX_QUEUES_API_SUBSCRIPTION_CONCURRENCY], 1,
                       NGX_QUEUES_API_CONCURRENCY_MAX, &target->concurrency)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_target(api,
                                 &values[NGX_QUEUES_API_SUBSCRIPTION_TARGET],
                                 target);
}


static ngx_int_t
ngx_queues_api_subscription_state(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_uint_t *paused)
{
    ngx_uint_t  i;

    static ngx_str_t  states[] = {
        ngx_string("active"),
        ngx_string("paused")
    };

    *paused = 0;

    if (value->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    for (i = 0; i < 2 && value->type == NGX_QUEUES_BASE_JSON_STRING; i++) {
        if (ngx_queues_base_json_equal(&value->raw, &states[i])) {
            *paused = i;
            return NGX_OK;
        }
    }

    ngx_queues_api_invalid(api, NULL,
         &ngx_queues_api_subscription_names[NGX_QUEUES_API_SUBSCRIPTION_STATE],
         "must be \"active\" or \"paused\"");

    return NGX_ERROR;
}


static ngx_int_t
ngx_queues_api_target(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_queues_store_target_t *target)
{
    ngx_str_t                     *prefix;
    const ngx_str_t               *names;
    ngx_queues_base_json_value_t   values[NGX_QUEUES_API_TARGET_NMEMBERS];

    prefix = &ngx_queues_api_target_prefix;
    names = ngx_queues_api_target_names;

    if (value->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    if (value->type != NGX_QUEUES_BASE_JSON_OBJECT) {
        ngx_queues_api_invalid(api, NULL,
        &ngx_queues_api_subscription_names[NGX_QUEUES_API_SUBSCRIPTION_TARGET],
        "must be an object");
        return NGX_ERROR;
    }

    if (ngx_queues_api_members(api, value, prefix, names,
                               NGX_QUEUES_API_TARGET_NMEMBERS, values)
        != NGX_OK
        || ngx_queues_api_target_kind(api, &values[NGX_QUEUES_API_TARGET_KIND])
           != NGX_OK
        || ngx_queues_api_target_url(api, &values[NGX_QUEUES_API_TARGET_URL],
                                     &target->url)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_integer(api, &values[NGX_QUEUES_API_TARGET_TIMEOUT],
                                  prefix,
                                  &names[NGX_QUEUES_API_TARGET_TIMEOUT], 1,
                                  NGX_QUEUES_API_TIMEOUT_MAX,
                                  &target->timeout);
}


static ngx_int_t
ngx_queues_api_target_kind(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value)
{
    static ngx_str_t  https = ngx_string("https");

    if (value->type == NGX_QUEUES_BASE_JSON_NULL
        || (value->type == NGX_QUEUES_BASE_JSON_STRING
            && ngx_queues_base_json_equal(&value->raw, &https)))
    {
        return NGX_OK;
    }

    ngx_queues_api_invalid(api, &ngx_queues_api_target_prefix,
                     &ngx_queues_api_target_names[NGX_QUEUES_API_TARGET_KIND],
                     "must be \"https\"");

    return NGX_ERROR;
}


static ngx_int_t
ngx_queues_api_target_url(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *url)
{
    u_char                      *buf;
    const char                  *error;
    ngx_queues_base_endpoint_t   endpoint;

    if (value->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    error = "must be a string";

    if (value->type == NGX_QUEUES_BASE_JSON_STRING) {

        url->data = ngx_queues_api_alloc(api, value->raw.len + 1);
        if (url->data == NULL) {
            return NGX_ERROR;
        }

        url->len = ngx_queues_base_json_decode(url->data, &value->raw)
                   - url->data;

        buf = ngx_queues_api_alloc(api, url->len + 8);
        if (buf == NULL) {
            return NGX_ERROR;
        }

        error = ngx_queues_base_endpoint_parse(url, &api->qmcf->push.rules,
                                               buf, &endpoint);
        if (error == NULL) {
            return NGX_OK;
        }
    }

    ngx_queues_api_invalid(api, &ngx_queues_api_target_prefix,
                       &ngx_queues_api_target_names[NGX_QUEUES_API_TARGET_URL],
                       error);

    return NGX_ERROR;
}


size_t
ngx_queues_api_subscription_length(
    ngx_queues_store_subscription_t *subscription)
{
    /* the text below with its numbers and times: 700 bytes at most */

    return 1024 + subscription->uuid.len + subscription->id.len
           + subscription->queue_uuid.len + subscription->queue.len
           + ngx_queues_base_json_escape_length(&subscription->target.url)
           + subscription->class.len
           + ngx_queues_base_json_escape_length(&subscription->message);
}


u_char *
ngx_queues_api_subscription_print(u_char *p,
    ngx_queues_store_subscription_t *subscription)
{
    ngx_queues_store_target_t  *target;

    target = &subscription->target;

    p = ngx_sprintf(p, "{\"subscriptionId\":\"%V\",\"subscription\":\"qsb_%V\","
                    "\"queueId\":\"%V\",\"queue\":\"que_%V\","
                    "\"target\":{\"kind\":\"https\",\"url\":\"",
                    &subscription->uuid, &subscription->id,
                    &subscription->queue_uuid, &subscription->queue);

    p = ngx_queues_base_json_escape(p, &target->url);

    p = ngx_sprintf(p, "\",\"timeoutSeconds\":%L},\"batchSize\":%L,"
                    "\"maxConcurrency\":%L,\"state\":\"%s\",\"status\":",
                    target->timeout, target->batch, target->concurrency,
                    subscription->paused ? "paused" : "active");

    p = ngx_queues_api_status_print(p, subscription);

    p = ngx_sprintf(p, ",\"createdAt\":\"");
    p = ngx_queues_base_time_print(p, subscription->created);

    p = ngx_sprintf(p, "\",\"updatedAt\":\"");
    p = ngx_queues_base_time_print(p, subscription->updated);

    return ngx_sprintf(p, "\"}");
}


static u_char *
ngx_queues_api_status_print(u_char *p,
    ngx_queues_store_subscription_t *subscription)
{
    p = ngx_sprintf(p, "{\"health\":\"%s\",\"lastError\":",
                    subscription->failing ? "failing" : "healthy");

    if (subscription->failed_at) {
        p = ngx_sprintf(p, "{\"at\":\"");
        p = ngx_queues_base_time_print(p, subscription->failed_at);
        p = ngx_sprintf(p, "\",\"class\":\"%V\",", &subscription->class);

        if (subscription->status) {
            p = ngx_sprintf(p, "\"status\":%L,", subscription->status);
        }

        p = ngx_sprintf(p, "\"message\":\"");
        p = ngx_queues_base_json_escape(p, &subscription->message);
        p = ngx_sprintf(p, "\"}");

    } else {
        p = ngx_sprintf(p, "null");
    }

    p = ngx_sprintf(p, ",\"lastSuccessAt\":");

    if (subscription->last_success) {
        *p++ = '"';
        p = ngx_queues_base_time_print(p, subscription->last_success);
        *p++ = '"';

    } else {
        p = ngx_sprintf(p, "null");
    }

    *p++ = '}';

    return p;
}
