
#include "ngx_queues_api_queen.h"


#define NGX_QUEUES_API_QUEEN_EXTENSION  60    /* seconds */


static void ngx_queues_api_queen_extend(ngx_queues_api_t *api);
static ngx_uint_t ngx_queues_api_queen_extend_seconds(ngx_queues_api_t *api);
static void ngx_queues_api_queen_extend_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_extend_answer(ngx_queues_api_t *api,
    uint64_t renewed, uint64_t expires);


static const ngx_str_t  ngx_queues_api_queen_extend_names[] = {
    ngx_string("seconds")
};


const ngx_queues_api_route_t  ngx_queues_api_queen_lease_routes[] = {

    { NGX_HTTP_POST,
      ngx_string("/api/v1/lease/{leaseId}/extend"),
      ngx_string("QueenExtendLease"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.use.extend"),
      NGX_QUEUES_API_ANY_BODY,
      0,
      ngx_queues_api_queen_extend },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static void
ngx_queues_api_queen_extend(ngx_queues_api_t *api)
{
    ngx_str_t   lease, *text;
    ngx_uint_t  seconds;

    text = ngx_palloc(api->op->pool, sizeof(ngx_str_t));
    if (text == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = text;

    lease = ngx_queues_api_capture(api, "leaseId");

    if (ngx_queues_api_queen_text(api, &lease, "leaseId", text) != NGX_OK) {
        return;
    }

    seconds = ngx_queues_api_queen_extend_seconds(api);

    ngx_queues_api_started(api,
        ngx_queues_store_log_extend(&api->root, text, seconds,
                                    ngx_queues_api_queen_extend_done, api));
}


/* a body that says nothing of it, whatever it is, is as good as none */

static ngx_uint_t
ngx_queues_api_queen_extend_seconds(ngx_queues_api_t *api)
{
    double                         n;
    u_char                        *p, text[NGX_INT64_LEN + 1];
    size_t                         len;
    const char                    *error;
    ngx_queues_base_json_value_t   body, value;

    if (ngx_queues_base_json_parse(&api->op->body, &body, &error) != NGX_OK
        || body.type != NGX_QUEUES_BASE_JSON_OBJECT)
    {
        return NGX_QUEUES_API_QUEEN_EXTENSION;
    }

    (void) ngx_queues_api_queen_read(&body, ngx_queues_api_queen_extend_names,
                                     1, &value);

    if (value.type != NGX_QUEUES_BASE_JSON_NUMBER) {
        return NGX_QUEUES_API_QUEEN_EXTENSION;
    }

    /* the form of a JSON number is one that strtod() knows */

    len = ngx_min(value.raw.len, sizeof(text) - 1);
    p = ngx_cpymem(text, value.raw.data, len);
    *p = '\0';

    n = strtod((char *) text, NULL);

    if (n < 1) {
        return 1;
    }

    return n < NGX_QUEUES_API_QUEEN_LEASE_MAX
           ? (ngx_uint_t) n : NGX_QUEUES_API_QUEEN_LEASE_MAX;
}


static void
ngx_queues_api_queen_extend_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_queen_extend_answer(api, result->log->renewed,
                                               result->log->expires);

        } else {
            ngx_queues_api_store_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


/* the keys of the API page, and those that clients look for */

static void
ngx_queues_api_queen_extend_answer(ngx_queues_api_t *api, uint64_t renewed,
    uint64_t expires)
{
    u_char      *p, *start, text[NGX_QUEUES_BASE_MOMENT_LEN + 2];
    ngx_str_t   *lease, moment;

    lease = api->data;

    start = ngx_queues_api_alloc(api,
                sizeof("{\"renewed\":,\"expiresAt\":,\"leaseId\":\"\","
                       "\"success\":false,\"newExpiresAt\":,"
                       "\"lease_expires_at\":}")
                + NGX_INT64_LEN + lease->len + 3 * sizeof(text));
    if (start == NULL) {
        return;
    }

    ngx_str_set(&moment, "null");

    if (expires) {
        p = text;
        *p++ = '"';
        p = ngx_queues_base_moment_print(p, expires);
        *p++ = '"';

        moment.data = text;
        moment.len = p - text;
    }

    p = ngx_sprintf(start, "{\"renewed\":%uL,\"expiresAt\":%V,"
                    "\"leaseId\":\"%V\",\"success\":%s,\"newExpiresAt\":%V,"
                    "\"lease_expires_at\":%V}", renewed, &moment, lease,
                    renewed ? "true" : "false", &moment, &moment);

    ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);
}
