
/* Subscriptions of the Pub/Sub API. */

#include "ngx_queues_api_pubsub_sub.h"


/* bytes of what is counted, without its nine numbers */
#define NGX_QUEUES_API_PUBSUB_COUNTS_ANSWER                                   \
    (sizeof("{\"counts\":{\"visible\":,\"inFlight\":,\"delayed\":,"           \
            "\"oldestMessageAgeSeconds\":},\"totals\":{\"sent\":,"             \
            "\"acknowledged\":,\"expired\":,\"deadLettered\":,"               \
            "\"dropped\":}}")                                                 \
     + 9 * NGX_QUEUES_BASE_DECIMAL_MAX)

/* bytes of a subscription's answer beside its names and its members */
#define NGX_QUEUES_API_PUBSUB_SUB_ANSWER                                      \
    (sizeof("{\"name\":\"\",\"topic\":\"\",,\"detached\":true,"               \
            "\"state\":\"ACTIVE\",\"topicMessageRetentionDuration\":\"s\"}")  \
     + NGX_QUEUES_BASE_DECIMAL_MAX)


static void ngx_queues_api_pubsub_sub_create(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_pubsub_sub_new(ngx_queues_api_t *api,
    ngx_queues_store_sub_t *stored);
static void ngx_queues_api_pubsub_sub_created(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_pubsub_sub_get(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_sub_count(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_sub_counted(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_pubsub_sub_counts(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row);
static void ngx_queues_api_pubsub_sub_list(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_sub_delete(ngx_queues_api_t *api);
static void ngx_queues_api_pubsub_sub_detach(ngx_queues_api_t *api);
static size_t ngx_queues_api_pubsub_sub_length(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row);
static u_char *ngx_queues_api_pubsub_sub_print(u_char *p,
    ngx_queues_api_t *api, ngx_queues_store_value_t *row);


const ngx_queues_api_route_t  ngx_queues_api_pubsub_subs_routes[] = {

    { NGX_HTTP_GET,
      ngx_string("/v1/projects/{project}/subscriptions/{subscription}"),
      ngx_string("PubsubGetSubscription"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.subscriptions.get"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_pubsub_sub_get },

    /* of this server alone */

    { NGX_HTTP_GET,
      ngx_string("/v1/projects/{project}/subscriptions/{subscription}:counts"),
      ngx_string("PubsubCountSubscription"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.subscriptions.get"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_pubsub_sub_count },

    { NGX_HTTP_PUT,
      ngx_string("/v1/projects/{project}/subscriptions/{subscription}"),
      ngx_string("PubsubCreateSubscription"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.subscriptions.create"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_pubsub_sub_create },

    { NGX_HTTP_DELETE,
      ngx_string("/v1/projects/{project}/subscriptions/{subscription}"),
      ngx_string("PubsubDeleteSubscription"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.subscriptions.delete"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_pubsub_sub_delete },

    { NGX_HTTP_GET,
      ngx_string("/v1/projects/{project}/subscriptions"),
      ngx_string("PubsubListSubscriptions"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.subscriptions.list"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_pubsub_sub_list },

    { NGX_HTTP_POST,
      ngx_string("/v1/projects/{project}/subscriptions/{subscription}:detach"),
      ngx_string("PubsubDetachSubscription"),
      NGX_QUEUES_CONF_PUBSUB,
      ngx_string("pubsub.subscriptions.detach"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_pubsub_sub_detach },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


const ngx_queues_api_pubsub_kind_t  ngx_queues_api_pubsub_subs = {
    NGX_QUEUES_BASE_RESOURCE_SUBSCRIPTION,
    ngx_string("subscriptions"),
    NGX_QUEUES_STORE_OF_SUB_NCOLUMNS,
    NGX_QUEUES_STORE_OF_SUB_NAME,
    ngx_queues_api_pubsub_sub_length,
    ngx_queues_api_pubsub_sub_print,
    ngx_queues_store_sub_get
};


static void
ngx_queues_api_pubsub_sub_create(ngx_queues_api_t *api)
{
    ngx_queues_store_sub_t        *stored;
    ngx_queues_api_pubsub_call_t  *call;

    call = ngx_queues_api_pubsub_call(api, &ngx_queues_api_pubsub_subs,
                                      NGX_QUEUES_STORE_AT_CHANGED);
    if (call == NULL) {
        return;
    }

    stored = ngx_palloc(api->op->pool, sizeof(ngx_queues_store_sub_t));
    if (stored == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    call->data = stored;

    if (ngx_queues_api_pubsub_sub_new(api, stored) != NGX_OK) {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_sub_create(&api->root, stored,
                                    ngx_queues_api_pubsub_sub_created, api));
}


/*
 * Who makes a subscription reads the topic with it, and writes to the one for
 * dead letters.
 */

static ngx_int_t
ngx_queues_api_pubsub_sub_new(ngx_queues_api_t *api,
    ngx_queues_store_sub_t *stored)
{
    ngx_str_t                       topic;
    ngx_queues_base_json_value_t    values[
                                        NGX_QUEUES_API_PUBSUB_SUB_NMEMBERS];
    ngx_queues_api_pubsub_sub_t     sub;
    ngx_queues_api_pubsub_object_t  object;

    object.names = ngx_queues_api_pubsub_sub_members;
    object.values = values;
    object.n = NGX_QUEUES_API_PUBSUB_SUB_NMEMBERS;

    if (ngx_queues_api_pubsub_body(api, &object) != NGX_OK
        || ngx_queues_api_pubsub_sub_read(api, &object, &sub) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (sub.topic.len == 0) {
        ngx_queues_api_pubsub_invalid(api, &object,
                                      NGX_QUEUES_API_PUBSUB_SUB_TOPIC,
                                      "must be there");
        return NGX_ERROR;
    }

    if (ngx_queues_api_pubsub_id_of(api, &sub.topic,
                                    NGX_QUEUES_BASE_RESOURCE_TOPIC, &topic)
        != NGX_OK
        || ngx_queues_api_pubsub_push_check(api, &sub.push) != NGX_OK
        || ngx_queues_api_pubsub_sub_check(api, &sub) != NGX_OK
        || ngx_queues_api_pubsub_sub_write(api, &sub, stored) != NGX_OK
        || ngx_queues_api_pubsub_may(api, "pubsub.topics.attachSubscription",
                                     &topic)
           != NGX_OK
        || ngx_queues_api_pubsub_may_dead(api, &sub, stored) != NGX_OK)
    {
        return NGX_ERROR;
    }

    stored->topic = topic;

    return ngx_queues_api_pubsub_new_id(api, &stored->id);
}


ngx_int_t
ngx_queues_api_pubsub_may_dead(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub, ngx_queues_store_sub_t *stored)
{
    return sub->dead.len
           ? ngx_queues_api_pubsub_may(api, "pubsub.publish",
                                       &stored->dead_letter)
           : NGX_OK;
}


static void
ngx_queues_api_pubsub_sub_created(void *data,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_api_pubsub_call_t  *call;

    call = api->data;

    if (result->code == NGX_QUEUES_STORE_OK || api->op->request == NULL) {
        ngx_queues_api_pubsub_resource_done(data, result);
        return;
    }

    ngx_queues_api_pubsub_sub_error(api, result, call->data);

    ngx_queues_http_op_release(api->op);
}


void
ngx_queues_api_pubsub_sub_error(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result, ngx_queues_store_sub_t *stored)
{
    switch (result->code) {

    case NGX_QUEUES_STORE_NO_TOPIC:
        ngx_queues_api_pubsub_not_found(api, &stored->topic);
        return;

    case NGX_QUEUES_STORE_NO_DEAD_LETTER_TOPIC:
        ngx_queues_api_pubsub_not_found(api, &stored->dead_letter);
        return;

    case NGX_QUEUES_STORE_TOO_MANY:
        ngx_queues_api_error(api, NGX_QUEUES_API_RATE_LIMITED, NULL,
                             "The topic has as many subscriptions as it may "
                             "(resource=%V).", &stored->topic);
        return;

    default:
        ngx_queues_api_pubsub_store_error(api, result);
    }
}


static void
ngx_queues_api_pubsub_sub_get(ngx_queues_api_t *api)
{
    ngx_queues_api_pubsub_get(api, &ngx_queues_api_pubsub_subs);
}


static void
ngx_queues_api_pubsub_sub_count(ngx_queues_api_t *api)
{
    ngx_queues_api_started(api,
        ngx_queues_store_sub_count(&api->root, &api->queue,
                                   ngx_queues_api_pubsub_sub_counted, api));
}


static void
ngx_queues_api_pubsub_sub_counted(void *data,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_pubsub_sub_counts(api, result->values);

        } else {
            ngx_queues_api_pubsub_store_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


/* as the Queues API tells of a queue */

static void
ngx_queues_api_pubsub_sub_counts(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row)
{
    u_char   *p, *start;
    int64_t   oldest;

    start = ngx_queues_api_alloc(api, NGX_QUEUES_API_PUBSUB_COUNTS_ANSWER);
    if (start == NULL) {
        return;
    }

    oldest = (int64_t) row[NGX_QUEUES_STORE_OF_COUNT_OLDEST].number;

    p = ngx_sprintf(start, "{\"counts\":{\"visible\":%uL,\"inFlight\":%uL,"
                    "\"delayed\":%uL,\"oldestMessageAgeSeconds\":%L}",
                    row[NGX_QUEUES_STORE_OF_COUNT_VISIBLE].number,
                    row[NGX_QUEUES_STORE_OF_COUNT_IN_FLIGHT].number,
                    row[NGX_QUEUES_STORE_OF_COUNT_DELAYED].number,
                    ngx_max(oldest, 0));

    p = ngx_sprintf(p, ",\"totals\":{\"sent\":%uL,\"acknowledged\":%uL,"
                    "\"expired\":%uL,\"deadLettered\":%uL,\"dropped\":%uL}}",
                    row[NGX_QUEUES_STORE_OF_COUNT_SENT].number,
                    row[NGX_QUEUES_STORE_OF_COUNT_ACKNOWLEDGED].number,
                    row[NGX_QUEUES_STORE_OF_COUNT_EXPIRED].number,
                    row[NGX_QUEUES_STORE_OF_COUNT_DEAD_LETTERED].number,
                    row[NGX_QUEUES_STORE_OF_COUNT_DROPPED].number);

    ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);
}


static void
ngx_queues_api_pubsub_sub_list(ngx_queues_api_t *api)
{
    ngx_queues_api_pubsub_page_t  page;

    if (ngx_queues_api_pubsub_page(api, &ngx_queues_api_pubsub_subs, &page)
        != NGX_OK)
    {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_sub_list(&api->root, &page.after, page.size,
                                  ngx_queues_api_pubsub_list_done, api));
}


static void
ngx_queues_api_pubsub_sub_delete(ngx_queues_api_t *api)
{
    ngx_queues_api_started(api,
        ngx_queues_store_sub_delete(&api->root, &api->queue,
                                    ngx_queues_api_pubsub_done, api));
}


/* what comes as its body is nothing to go by: Google's client sends "" */

static void
ngx_queues_api_pubsub_sub_detach(ngx_queues_api_t *api)
{
    ngx_queues_api_started(api,
        ngx_queues_store_sub_detach(&api->root, &api->queue,
                                    ngx_queues_api_pubsub_done, api));
}


static size_t
ngx_queues_api_pubsub_sub_length(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row)
{
    return NGX_QUEUES_API_PUBSUB_SUB_ANSWER
           + ngx_queues_api_pubsub_name_length(api,
                                     NGX_QUEUES_BASE_RESOURCE_SUBSCRIPTION,
                                     &row[NGX_QUEUES_STORE_OF_SUB_NAME].text)
           + ngx_queues_api_pubsub_name_length(api,
                                     NGX_QUEUES_BASE_RESOURCE_TOPIC,
                                     &row[NGX_QUEUES_STORE_OF_SUB_TOPIC].text)
           + row[NGX_QUEUES_STORE_OF_SUB_MEMBERS].text.len;
}


static u_char *
ngx_queues_api_pubsub_sub_print(u_char *p, ngx_queues_api_t *api,
    ngx_queues_store_value_t *row)
{
    uint64_t    retention;
    ngx_str_t  *members;

    members = &row[NGX_QUEUES_STORE_OF_SUB_MEMBERS].text;
    retention = row[NGX_QUEUES_STORE_OF_SUB_RETENTION].number;

    p = ngx_queues_base_copy(p, "{\"name\":\"");
    p = ngx_queues_api_pubsub_name(p, api,
                                   NGX_QUEUES_BASE_RESOURCE_SUBSCRIPTION,
                                   &row[NGX_QUEUES_STORE_OF_SUB_NAME].text);

    p = ngx_queues_base_copy(p, "\",\"topic\":\"");
    p = ngx_queues_api_pubsub_name(p, api, NGX_QUEUES_BASE_RESOURCE_TOPIC,
                                   &row[NGX_QUEUES_STORE_OF_SUB_TOPIC].text);
    *p++ = '"';
    *p++ = ',';

    p = ngx_cpymem(p, members->data, members->len);

    if (row[NGX_QUEUES_STORE_OF_SUB_DETACHED].number) {
        p = ngx_queues_base_copy(p, ",\"detached\":true");
    }

    p = ngx_queues_base_copy(p, ",\"state\":\"ACTIVE\"");

    if (retention) {
        p = ngx_sprintf(p, ",\"topicMessageRetentionDuration\":\"%uLs\"",
                        retention);
    }

    *p++ = '}';

    return p;
}
