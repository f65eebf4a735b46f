
/* The rules of subscriptions. */

#include "ngx_queues_api_pubsub_sub.h"
#include "../auth/ngx_queues_auth_oidc.h"
#include "../base/ngx_queues_base_endpoint.h"


/* seconds */
#define NGX_QUEUES_API_PUBSUB_DEADLINE        10
#define NGX_QUEUES_API_PUBSUB_DEADLINE_MAX    600
#define NGX_QUEUES_API_PUBSUB_RETENTION       604800
#define NGX_QUEUES_API_PUBSUB_TTL             2678400
#define NGX_QUEUES_API_PUBSUB_TTL_MIN         86400
#define NGX_QUEUES_API_PUBSUB_BACKOFF_LEAST   10
#define NGX_QUEUES_API_PUBSUB_BACKOFF_MOST    600

#define NGX_QUEUES_API_PUBSUB_ATTEMPTS        5
#define NGX_QUEUES_API_PUBSUB_ATTEMPTS_MAX    100

/* bytes of an account's name, and of an audience */
#define NGX_QUEUES_API_PUBSUB_EMAIL_MAX       320
#define NGX_QUEUES_API_PUBSUB_AUDIENCE_MAX    2048


static void ngx_queues_api_pubsub_sub_wrong(ngx_queues_api_t *api,
    const char *field, const char *what);
static void ngx_queues_api_pubsub_sub_defaults(
    ngx_queues_api_pubsub_sub_t *sub);
static ngx_int_t ngx_queues_api_pubsub_check_times(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub);
static ngx_int_t ngx_queues_api_pubsub_check_retry(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub);
static ngx_int_t ngx_queues_api_pubsub_check_dead(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub);
static ngx_int_t ngx_queues_api_pubsub_check_oidc(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_push_t *push);
static ngx_uint_t ngx_queues_api_pubsub_printable(ngx_str_t *text);
static ngx_int_t ngx_queues_api_pubsub_compare(
    ngx_queues_base_proto_duration_t *a, ngx_queues_base_proto_duration_t *b);


static void
ngx_queues_api_pubsub_sub_wrong(ngx_queues_api_t *api, const char *field,
    const char *what)
{
    ngx_str_t  name;

    name.data = (u_char *) field;
    name.len = ngx_strlen(field);

    ngx_queues_api_pubsub_violation(api, &name, what);
}


ngx_int_t
ngx_queues_api_pubsub_sub_check(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub)
{
    ngx_queues_api_pubsub_sub_defaults(sub);

    if (ngx_queues_api_pubsub_check_times(api, sub) != NGX_OK
        || ngx_queues_api_pubsub_check_retry(api, sub) != NGX_OK
        || ngx_queues_api_pubsub_check_dead(api, sub) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (sub->once && sub->push.endpoint.len) {
        ngx_queues_api_pubsub_sub_wrong(api, "enableExactlyOnceDelivery",
                                        "is not for push subscriptions");
        return NGX_ERROR;
    }

    return NGX_OK;
}


static void
ngx_queues_api_pubsub_sub_defaults(ngx_queues_api_pubsub_sub_t *sub)
{
    if (sub->deadline == 0) {
        sub->deadline = NGX_QUEUES_API_PUBSUB_DEADLINE;
    }

    if (!sub->expires) {
        sub->expires = 1;
        sub->ttl.given = 1;
        sub->ttl.value.seconds = NGX_QUEUES_API_PUBSUB_TTL;
        sub->ttl.value.ns = 0;
    }

    if (!sub->retention.given) {
        sub->retention.given = 1;
        sub->retention.value.seconds = NGX_QUEUES_API_PUBSUB_RETENTION;
        sub->retention.value.ns = 0;

        if (sub->ttl.given
            && ngx_queues_api_pubsub_compare(&sub->retention.value,
                                             &sub->ttl.value)
               > 0)
        {
            sub->retention.value = sub->ttl.value;
        }
    }

    if (sub->retry && !sub->min.given) {
        sub->min.given = 1;
        sub->min.value.seconds = NGX_QUEUES_API_PUBSUB_BACKOFF_LEAST;
        sub->min.value.ns = 0;
    }

    if (sub->retry && !sub->max.given) {
        sub->max.given = 1;
        sub->max.value.seconds = NGX_QUEUES_API_PUBSUB_BACKOFF_MOST;
        sub->max.value.ns = 0;
    }

    if (sub->dead.len && sub->attempts == 0) {
        sub->attempts = NGX_QUEUES_API_PUBSUB_ATTEMPTS;
    }
}


static ngx_int_t
ngx_queues_api_pubsub_check_times(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub)
{
    if (sub->deadline < NGX_QUEUES_API_PUBSUB_DEADLINE
        || sub->deadline > NGX_QUEUES_API_PUBSUB_DEADLINE_MAX)
    {
        ngx_queues_api_pubsub_sub_wrong(api, "ackDeadlineSeconds",
                                        "must be from 10 to 600");
        return NGX_ERROR;
    }

    if (sub->ttl.given
        && !ngx_queues_api_pubsub_within(&sub->ttl.value,
                                         NGX_QUEUES_API_PUBSUB_TTL_MIN,
                                         NGX_QUEUES_BASE_PROTO_SECONDS))
    {
        ngx_queues_api_pubsub_sub_wrong(api, "expirationPolicy.ttl",
                                        "must be at least 86400s");
        return NGX_ERROR;
    }

    if (!ngx_queues_api_pubsub_within(&sub->retention.value,
                                      NGX_QUEUES_API_PUBSUB_RETENTION_MIN,
                                      NGX_QUEUES_API_PUBSUB_RETENTION_MAX))
    {
        ngx_queues_api_pubsub_sub_wrong(api, "messageRetentionDuration",
                                        "must be from 600s to 2678400s");
        return NGX_ERROR;
    }

    if (sub->ttl.given
        && ngx_queues_api_pubsub_compare(&sub->retention.value,
                                         &sub->ttl.value)
           > 0)
    {
        ngx_queues_api_pubsub_sub_wrong(api, "messageRetentionDuration",
                                        "is more than expirationPolicy.ttl");
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_pubsub_check_retry(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub)
{
    if (!sub->retry) {
        return NGX_OK;
    }

    if (!ngx_queues_api_pubsub_within(&sub->min.value, 0,
                                      NGX_QUEUES_API_PUBSUB_BACKOFF_MOST))
    {
        ngx_queues_api_pubsub_sub_wrong(api, "retryPolicy.minimumBackoff",
                                        "must be from 0s to 600s");
        return NGX_ERROR;
    }

    if (!ngx_queues_api_pubsub_within(&sub->max.value, 0,
                                      NGX_QUEUES_API_PUBSUB_BACKOFF_MOST))
    {
        ngx_queues_api_pubsub_sub_wrong(api, "retryPolicy.maximumBackoff",
                                        "must be from 0s to 600s");
        return NGX_ERROR;
    }

    if (ngx_queues_api_pubsub_compare(&sub->min.value, &sub->max.value) > 0) {
        ngx_queues_api_pubsub_sub_wrong(api, "retryPolicy.minimumBackoff",
                                        "is more than maximumBackoff");
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_pubsub_check_dead(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub)
{
    if (sub->dead.len == 0 && sub->attempts == 0) {
        return NGX_OK;
    }

    if (sub->dead.len == 0) {
        ngx_queues_api_pubsub_sub_wrong(api,
                                        "deadLetterPolicy.deadLetterTopic",
                                        "must be there");
        return NGX_ERROR;
    }

    if (sub->attempts < NGX_QUEUES_API_PUBSUB_ATTEMPTS
        || sub->attempts > NGX_QUEUES_API_PUBSUB_ATTEMPTS_MAX)
    {
        ngx_queues_api_pubsub_sub_wrong(api,
                                        "deadLetterPolicy.maxDeliveryAttempts",
                                        "must be from 5 to 100");
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_pubsub_push_check(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_push_t *push)
{
    u_char                      *buf;
    ngx_str_t                    details;
    const char                  *error;
    ngx_queues_base_endpoint_t   endpoint;

    static ngx_str_t  field = ngx_string("pushConfig.pushEndpoint");

    /* v1beta1 to v1, of which nothing depends here */

    if (push->version.len
        && !(push->version.len == 2
             && ngx_memcmp(push->version.data, "v1", 2) == 0)
        && !(push->version.len == 7
             && (ngx_memcmp(push->version.data, "v1beta1", 7) == 0
                 || ngx_memcmp(push->version.data, "v1beta2", 7) == 0)))
    {
        ngx_queues_api_pubsub_sub_wrong(api,
                                        "pushConfig.attributes.x-goog-version",
                                        "must be v1beta1, v1beta2 or v1");
        return NGX_ERROR;
    }

    if (push->endpoint.len == 0) {
        ngx_memzero(push, sizeof(ngx_queues_api_pubsub_push_t));
        return NGX_OK;
    }

    buf = ngx_queues_api_alloc(api, push->endpoint.len + 8);
    if (buf == NULL) {
        return NGX_ERROR;
    }

    error = ngx_queues_base_endpoint_parse_pubsub(&push->endpoint,
                                                  &api->qmcf->push.rules, buf,
                                                  &endpoint);
    if (error) {
        if (ngx_queues_api_pubsub_violated(api, &field, error, &details)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, &details,
                             "Invalid push endpoint given: the URL %s "
                             "(endpoint=%V).", error, &push->endpoint);
        return NGX_ERROR;
    }

    return push->oidc ? ngx_queues_api_pubsub_check_oidc(api, push) : NGX_OK;
}


static ngx_int_t
ngx_queues_api_pubsub_check_oidc(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_push_t *push)
{
    static ngx_str_t  no_key = ngx_string(
        "{\"@type\":\"type.googleapis.com/google.rpc.PreconditionFailure\","
        "\"violations\":[{\"type\":\"OIDC_KEY\","
        "\"subject\":\"pushConfig.oidcToken.serviceAccountEmail\","
        "\"description\":\"This server has no key for OIDC tokens.\"}]}");

    if (push->email.len == 0
        || push->email.len > NGX_QUEUES_API_PUBSUB_EMAIL_MAX
        || !ngx_queues_api_pubsub_printable(&push->email))
    {
        ngx_queues_api_pubsub_sub_wrong(api,
            "pushConfig.oidcToken.serviceAccountEmail",
            "must be there, without control characters and of up to 320 "
            "bytes");
        return NGX_ERROR;
    }

    if (push->audience.len > NGX_QUEUES_API_PUBSUB_AUDIENCE_MAX
        || !ngx_queues_api_pubsub_printable(&push->audience))
    {
        ngx_queues_api_pubsub_sub_wrong(api, "pushConfig.oidcToken.audience",
            "must be without control characters and of up to 2048 bytes");
        return NGX_ERROR;
    }

    if (!ngx_queues_auth_oidc_ready(api->qmcf)) {
        ngx_queues_api_error(api, NGX_QUEUES_API_FAILED_PRECONDITION,
                             &no_key,
                             "This server has no key for OIDC tokens: "
                             "\"queues_oidc_key\" is not configured.");
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* lines of the store are made of them */

static ngx_uint_t
ngx_queues_api_pubsub_printable(ngx_str_t *text)
{
    size_t  i;

    for (i = 0; i < text->len; i++) {
        if (text->data[i] < 0x20 || text->data[i] == 0x7f) {
            return 0;
        }
    }

    return 1;
}


static ngx_int_t
ngx_queues_api_pubsub_compare(ngx_queues_base_proto_duration_t *a,
    ngx_queues_base_proto_duration_t *b)
{
    if (a->seconds != b->seconds) {
        return a->seconds < b->seconds ? -1 : 1;
    }

    return (a->ns > b->ns) - (a->ns < b->ns);
}
