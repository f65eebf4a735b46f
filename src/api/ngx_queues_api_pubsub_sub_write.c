
/* Subscriptions as the store keeps them. */

#include "ngx_queues_api_pubsub_sub.h"


/* bytes of the members beside their texts, and of what pushes are to know */
#define NGX_QUEUES_API_PUBSUB_SUB_FIXED                                       \
    (1024 + 4 * NGX_QUEUES_BASE_PROTO_DURATION_MAX)
#define NGX_QUEUES_API_PUBSUB_EXTRA_FIXED                                     \
    (sizeof("\nm\nd\n,\n\n") + 2 * NGX_QUEUES_BASE_DECIMAL_MAX)


static ngx_int_t ngx_queues_api_pubsub_write_filter(ngx_queues_api_t *api,
    ngx_str_t *filter, ngx_str_t *program);
static void ngx_queues_api_pubsub_filter_error(ngx_queues_api_t *api,
    ngx_queues_base_filter_error_t *error);
static ngx_int_t ngx_queues_api_pubsub_write_members(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub, ngx_str_t *members);
static u_char *ngx_queues_api_pubsub_print_push(u_char *p,
    ngx_queues_api_pubsub_push_t *push);
static u_char *ngx_queues_api_pubsub_print_policies(u_char *p,
    ngx_queues_api_pubsub_sub_t *sub);
static u_char *ngx_queues_api_pubsub_print_text(u_char *p, const char *name,
    ngx_str_t *text);
static u_char *ngx_queues_api_pubsub_print_time(u_char *p, const char *name,
    ngx_queues_base_proto_duration_t *time);
static ngx_int_t ngx_queues_api_pubsub_write_extra(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub, ngx_queues_store_sub_t *stored);
static int64_t ngx_queues_api_pubsub_ms(
    ngx_queues_base_proto_duration_t *duration);


ngx_int_t
ngx_queues_api_pubsub_sub_write(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub, ngx_queues_store_sub_t *stored)
{
    ngx_memzero(stored, sizeof(ngx_queues_store_sub_t));

    stored->name = api->queue;
    stored->deadline = sub->deadline;
    stored->retention = ngx_queues_api_pubsub_seconds(&sub->retention.value);
    stored->ordered = sub->ordered;
    stored->once = sub->once;
    stored->retains = sub->retains;
    stored->url = sub->push.endpoint;

    stored->ttl = sub->ttl.given
                  ? ngx_queues_api_pubsub_seconds(&sub->ttl.value) : 0;

    stored->min_backoff = -1;
    stored->max_backoff = -1;

    if (sub->retry) {
        stored->min_backoff = ngx_queues_api_pubsub_ms(&sub->min.value);
        stored->max_backoff = ngx_queues_api_pubsub_ms(&sub->max.value);
    }

    if (sub->dead.len) {
        stored->max_attempts = sub->attempts;

        if (ngx_queues_api_pubsub_id_of(api, &sub->dead,
                                        NGX_QUEUES_BASE_RESOURCE_TOPIC,
                                        &stored->dead_letter)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

    } else if (api->qmcf->max_attempts) {
        stored->max_attempts = api->qmcf->max_attempts;
        ngx_str_set(&stored->dead_letter, "-");
    }

    if (ngx_queues_api_pubsub_write_filter(api, &sub->filter, &stored->filter)
        != NGX_OK
        || ngx_queues_api_pubsub_write_members(api, sub, &stored->members)
           != NGX_OK
        || ngx_queues_api_pubsub_write_extra(api, sub, stored) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_pubsub_new_id(api, &stored->push_id);
}


static ngx_int_t
ngx_queues_api_pubsub_write_filter(ngx_queues_api_t *api, ngx_str_t *filter,
    ngx_str_t *program)
{
    ngx_queues_base_filter_error_t  error;

    if (filter->len == 0) {
        ngx_str_null(program);
        return NGX_OK;
    }

    program->data = ngx_queues_api_alloc(api, NGX_QUEUES_BASE_FILTER_MAX);
    if (program->data == NULL) {
        return NGX_ERROR;
    }

    if (ngx_queues_base_filter_parse(filter, program, &error) != NGX_OK) {
        ngx_queues_api_pubsub_filter_error(api, &error);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static void
ngx_queues_api_pubsub_filter_error(ngx_queues_api_t *api,
    ngx_queues_base_filter_error_t *error)
{
    u_char     *p;
    ngx_str_t   details;

    static char  format[] =
        "{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\","
        "\"reason\":\"FILTER_EXPRESSION_FAILED_TO_PARSE\","
        "\"domain\":\"pubsub.googleapis.com\","
        "\"metadata\":{\"line\":\"%ui\",\"column\":\"%ui\",\"token\":\"";

    p = ngx_queues_api_alloc(api, sizeof(format) + 2 * NGX_INT_T_LEN
                     + ngx_queues_base_json_escape_length(&error->token) + 3);
    if (p == NULL) {
        return;
    }

    details.data = p;

    p = ngx_sprintf(p, format, error->line, error->column);
    p = ngx_queues_base_json_escape(p, &error->token);
    p = ngx_queues_base_copy(p, "\"}}");

    details.len = p - details.data;

    ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, &details,
                         "The filter expression is invalid: syntax error: %s "
                         "(line %ui, column %ui, token \"%V\").", error->text,
                         error->line, error->column, &error->token);
}


/* defaults are left out, as proto3 does */

static ngx_int_t
ngx_queues_api_pubsub_write_members(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub, ngx_str_t *members)
{
    u_char  *p;

    p = ngx_queues_api_alloc(api, NGX_QUEUES_API_PUBSUB_SUB_FIXED
                  + sub->labels.len
                  + ngx_queues_base_json_escape_length(&sub->filter)
                  + ngx_queues_base_json_escape_length(&sub->dead)
                  + ngx_queues_base_json_escape_length(&sub->push.endpoint)
                  + ngx_queues_base_json_escape_length(&sub->push.version)
                  + ngx_queues_base_json_escape_length(&sub->push.email)
                  + ngx_queues_base_json_escape_length(&sub->push.audience));
    if (p == NULL) {
        return NGX_ERROR;
    }

    members->data = p;

    p = ngx_queues_api_pubsub_print_push(p, &sub->push);
    p = ngx_sprintf(p, ",\"ackDeadlineSeconds\":%L", sub->deadline);

    if (sub->retains) {
        p = ngx_queues_base_copy(p, ",\"retainAckedMessages\":true");
    }

    *p++ = ',';
    p = ngx_queues_api_pubsub_print_time(p, "messageRetentionDuration",
                                         &sub->retention.value);

    if (sub->labels.len) {
        p = ngx_queues_base_copy(p, ",\"labels\":");
        p = ngx_cpymem(p, sub->labels.data, sub->labels.len);
    }

    if (sub->ordered) {
        p = ngx_queues_base_copy(p, ",\"enableMessageOrdering\":true");
    }

    p = ngx_queues_api_pubsub_print_policies(p, sub);

    if (sub->filter.len) {
        *p++ = ',';
        p = ngx_queues_api_pubsub_print_text(p, "filter", &sub->filter);
    }

    if (sub->once) {
        p = ngx_queues_base_copy(p, ",\"enableExactlyOnceDelivery\":true");
    }

    members->len = p - members->data;

    return NGX_OK;
}


static u_char *
ngx_queues_api_pubsub_print_push(u_char *p, ngx_queues_api_pubsub_push_t *push)
{
    p = ngx_queues_base_copy(p, "\"pushConfig\":{");

    if (push->endpoint.len == 0) {
        *p++ = '}';
        return p;
    }

    p = ngx_queues_api_pubsub_print_text(p, "pushEndpoint", &push->endpoint);

    if (push->version.len) {
        p = ngx_queues_base_copy(p, ",\"attributes\":{");
        p = ngx_queues_api_pubsub_print_text(p, "x-goog-version",
                                             &push->version);
        *p++ = '}';
    }

    if (push->oidc) {
        p = ngx_queues_base_copy(p, ",\"oidcToken\":{");
        p = ngx_queues_api_pubsub_print_text(p, "serviceAccountEmail",
                                             &push->email);

        if (push->audience.len) {
            *p++ = ',';
            p = ngx_queues_api_pubsub_print_text(p, "audience",
                                                 &push->audience);
        }

        *p++ = '}';
    }

    switch (push->wrapper) {

    case NGX_QUEUES_API_PUBSUB_WRAPPED:
        p = ngx_queues_base_copy(p, ",\"pubsubWrapper\":{}");
        break;

    case NGX_QUEUES_API_PUBSUB_UNWRAPPED:
        p = ngx_queues_base_copy(p, ",\"noWrapper\":{}");
        break;

    case NGX_QUEUES_API_PUBSUB_METADATA:
        p = ngx_queues_base_copy(p,
                                 ",\"noWrapper\":{\"writeMetadata\":true}");
        break;

    default:
        break;
    }

    *p++ = '}';

    return p;
}


static u_char *
ngx_queues_api_pubsub_print_policies(u_char *p,
    ngx_queues_api_pubsub_sub_t *sub)
{
    p = ngx_queues_base_copy(p, ",\"expirationPolicy\":{");

    if (sub->ttl.given) {
        p = ngx_queues_api_pubsub_print_time(p, "ttl", &sub->ttl.value);
    }

    *p++ = '}';

    if (sub->dead.len) {
        p = ngx_queues_base_copy(p, ",\"deadLetterPolicy\":{");
        p = ngx_queues_api_pubsub_print_text(p, "deadLetterTopic", &sub->dead);
        p = ngx_sprintf(p, ",\"maxDeliveryAttempts\":%L}", sub->attempts);
    }

    if (sub->retry) {
        p = ngx_queues_base_copy(p, ",\"retryPolicy\":{");
        p = ngx_queues_api_pubsub_print_time(p, "minimumBackoff",
                                             &sub->min.value);
        *p++ = ',';
        p = ngx_queues_api_pubsub_print_time(p, "maximumBackoff",
                                             &sub->max.value);
        *p++ = '}';
    }

    return p;
}


static u_char *
ngx_queues_api_pubsub_print_text(u_char *p, const char *name, ngx_str_t *text)
{
    p = ngx_sprintf(p, "\"%s\":\"", name);
    p = ngx_queues_base_json_escape(p, text);
    *p++ = '"';

    return p;
}


static u_char *
ngx_queues_api_pubsub_print_time(u_char *p, const char *name,
    ngx_queues_base_proto_duration_t *time)
{
    p = ngx_sprintf(p, "\"%s\":\"", name);
    p = ngx_queues_base_proto_duration_print(p, time);
    *p++ = '"';

    return p;
}


/* the lines of docs/redis.md */

static ngx_int_t
ngx_queues_api_pubsub_write_extra(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub, ngx_queues_store_sub_t *stored)
{
    u_char                        *p;
    ngx_queues_api_pubsub_push_t  *push;

    push = &sub->push;

    if (push->endpoint.len == 0) {
        return NGX_OK;
    }

    p = ngx_queues_api_alloc(api, NGX_QUEUES_API_PUBSUB_EXTRA_FIXED
                     + ngx_queues_api_pubsub_name_length(api,
                                       NGX_QUEUES_BASE_RESOURCE_SUBSCRIPTION,
                                       &api->queue)
                     + push->email.len + push->audience.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    stored->extra.data = p;

    p = ngx_queues_api_pubsub_name(p, api,
                                   NGX_QUEUES_BASE_RESOURCE_SUBSCRIPTION,
                                   &api->queue);
    *p++ = '\n';

    *p++ = (push->wrapper == NGX_QUEUES_API_PUBSUB_METADATA) ? 'm'
           : (push->wrapper == NGX_QUEUES_API_PUBSUB_UNWRAPPED) ? 'n' : 'w';
    *p++ = '\n';

    if (sub->dead.len) {
        *p++ = 'd';
    }

    *p++ = '\n';

    if (sub->retry) {
        p = ngx_sprintf(p, "%L,%L", stored->min_backoff, stored->max_backoff);
    }

    *p++ = '\n';
    p = ngx_cpymem(p, push->email.data, push->email.len);
    *p++ = '\n';
    p = ngx_cpymem(p, push->audience.data, push->audience.len);

    stored->extra.len = p - stored->extra.data;

    return NGX_OK;
}


static int64_t
ngx_queues_api_pubsub_ms(ngx_queues_base_proto_duration_t *duration)
{
    return duration->seconds * 1000 + duration->ns / 1000000;
}
