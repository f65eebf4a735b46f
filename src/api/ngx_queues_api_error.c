
#include "ngx_queues_api.h"


#define NGX_QUEUES_API_MESSAGE_MAX  512


typedef struct {
    ngx_uint_t   method;
    const char  *name;
} ngx_queues_api_method_t;


static ngx_int_t ngx_queues_api_error_headers(ngx_queues_api_t *api,
    ngx_queues_api_error_e error);
static ngx_int_t ngx_queues_api_allow(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_retry_after(ngx_http_request_t *r,
    ngx_uint_t seconds);
static size_t ngx_queues_api_error_size(ngx_queues_api_told_t *told);
static void ngx_queues_api_nginx_code(const ngx_queues_api_surface_t *surface,
    ngx_uint_t status, ngx_queues_api_told_t *told);


const ngx_queues_api_code_t  ngx_queues_api_codes[NGX_QUEUES_API_NERRORS] = {
    [NGX_QUEUES_API_INVALID_JSON] = { 400, ngx_string("invalid_json") },
    [NGX_QUEUES_API_INVALID_ARGUMENT] =
        { 400, ngx_string("invalid_argument") },
    [NGX_QUEUES_API_UNAUTHENTICATED] = { 401, ngx_string("unauthenticated") },
    [NGX_QUEUES_API_PERMISSION_DENIED] =
        { 403, ngx_string("permission_denied") },
    [NGX_QUEUES_API_QUEUE_NOT_FOUND] = { 404, ngx_string("queue_not_found") },
    [NGX_QUEUES_API_SUBSCRIPTION_NOT_FOUND] =
        { 404, ngx_string("subscription_not_found") },
    [NGX_QUEUES_API_PARTITION_NOT_FOUND] =
        { 404, ngx_string("partition_not_found") },
    [NGX_QUEUES_API_MESSAGE_NOT_FOUND] =
        { 404, ngx_string("message_not_found") },
    [NGX_QUEUES_API_NOT_FOUND] = { 404, ngx_string("not_found") },
    [NGX_QUEUES_API_METHOD_NOT_ALLOWED] =
        { 405, ngx_string("method_not_allowed") },
    [NGX_QUEUES_API_QUEUE_EXISTS] = { 409, ngx_string("queue_exists") },
    [NGX_QUEUES_API_SUBSCRIPTION_EXISTS] =
        { 409, ngx_string("subscription_exists") },
    [NGX_QUEUES_API_IDEMPOTENCY_CONFLICT] =
        { 409, ngx_string("idempotency_conflict") },
    [NGX_QUEUES_API_QUEUE_IN_USE] = { 409, ngx_string("queue_in_use") },
    [NGX_QUEUES_API_REQUEST_TOO_LARGE] =
        { 413, ngx_string("request_too_large") },
    [NGX_QUEUES_API_UNSUPPORTED_MEDIA_TYPE] =
        { 415, ngx_string("unsupported_media_type") },
    [NGX_QUEUES_API_RATE_LIMITED] = { 429, ngx_string("rate_limited") },
    [NGX_QUEUES_API_INTERNAL] = { 500, ngx_string("internal") },
    [NGX_QUEUES_API_UNAVAILABLE] = { 503, ngx_string("unavailable") }
};


static const ngx_queues_api_method_t  ngx_queues_api_methods[] = {
    { NGX_HTTP_GET, "GET, HEAD" },
    { NGX_HTTP_POST, "POST" },
    { NGX_HTTP_PUT, "PUT" },
    { NGX_HTTP_PATCH, "PATCH" },
    { NGX_HTTP_DELETE, "DELETE" },
    { NGX_HTTP_OPTIONS, "OPTIONS" },
    { 0, NULL }
};


void
ngx_queues_api_error(ngx_queues_api_t *api, ngx_queues_api_error_e error,
    ngx_str_t *field, const char *fmt, ...)
{
    u_char                       *p, *start;
    u_char                        buf[NGX_QUEUES_API_MESSAGE_MAX];
    va_list                       args;
    ngx_queues_api_told_t         told;
    const ngx_queues_api_code_t  *code;

    va_start(args, fmt);
    p = ngx_vslprintf(buf, buf + sizeof(buf), fmt, args);
    va_end(args);

    told.message.data = buf;
    told.message.len = p - buf;

    code = &api->surface->codes[error];
    api->op->note->error = &code->code;

    told.error = error;
    told.status = code->status;
    told.code = code->code;
    told.field = field;

    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, api->op->request->connection->log, 0,
                   "queues error %ui %V: %V", code->status, &code->code,
                   &told.message);

    if (ngx_queues_api_error_headers(api, error) != NGX_OK) {
        ngx_queues_http_finalize(api->op, NGX_HTTP_INTERNAL_SERVER_ERROR);
        return;
    }

    start = ngx_queues_api_alloc(api, ngx_queues_api_error_size(&told));
    if (start == NULL) {
        return;
    }

    p = api->surface->error(start, api, &told);

    ngx_queues_api_answer(api, code->status, start, p);
}


static size_t
ngx_queues_api_error_size(ngx_queues_api_told_t *told)
{
    return NGX_QUEUES_API_ERROR_MAX + told->code.len
           + ngx_queues_base_json_escape_length(&told->message)
           + (told->field ? told->field->len : 0);
}


void
ngx_queues_api_store_error(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    switch (result->code) {

    case NGX_QUEUES_STORE_NO_QUEUE:
        ngx_queues_api_no_queue(api, NULL);
        return;

    case NGX_QUEUES_STORE_EXISTS:
        ngx_queues_api_error(api, NGX_QUEUES_API_QUEUE_EXISTS, NULL,
                             "The project has a queue of this name.");
        return;

    case NGX_QUEUES_STORE_IN_USE:
        ngx_queues_api_error(api, NGX_QUEUES_API_QUEUE_IN_USE, NULL,
                             "Another queue has this one as its dead-letter "
                             "queue.");
        return;

    case NGX_QUEUES_STORE_NO_SUBSCRIPTION:
        ngx_queues_api_error(api, NGX_QUEUES_API_SUBSCRIPTION_NOT_FOUND, NULL,
                             NGX_QUEUES_API_NO_SUBSCRIPTION,
                             &api->subscription);
        return;

    case NGX_QUEUES_STORE_SUBSCRIPTION_EXISTS:
        ngx_queues_api_error(api, NGX_QUEUES_API_SUBSCRIPTION_EXISTS, NULL,
                             "The queue has a subscription.");
        return;

    case NGX_QUEUES_STORE_TOO_MANY_GROUPS:
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "the queue has as many consumer groups as it may "
                             "have");
        return;

    case NGX_QUEUES_STORE_CONFLICT:
        ngx_queues_api_error(api, NGX_QUEUES_API_IDEMPOTENCY_CONFLICT, NULL,
                             "The Idempotency-Key came before with another "
                             "body.");
        return;

    case NGX_QUEUES_STORE_UNAVAILABLE:
        ngx_log_error(NGX_LOG_ERR, api->op->request->connection->log, 0,
                      "the store is unavailable: %s", result->reason);

        ngx_queues_api_error(api, NGX_QUEUES_API_UNAVAILABLE, NULL,
                             "The store is unavailable, try again.");
        return;

    default: /* what their callers have to answer */
        ngx_queues_api_error(api, NGX_QUEUES_API_INTERNAL, NULL,
                             "The request could not be carried out.");
    }
}


void
ngx_queues_api_no_queue(ngx_queues_api_t *api, const ngx_str_t *name)
{
    ngx_str_t  field;

    if (name) {
        field = *name;
    }

    ngx_queues_api_error(api, NGX_QUEUES_API_QUEUE_NOT_FOUND,
                         name ? &field : NULL,
                         "There is no queue \"%V\" in the project.",
                         &api->queue);
}


void
ngx_queues_api_no_memory(ngx_queues_api_t *api)
{
    ngx_queues_api_error(api, NGX_QUEUES_API_UNAVAILABLE, NULL,
                         "The server is out of memory, try again.");
}


static ngx_int_t
ngx_queues_api_error_headers(ngx_queues_api_t *api,
    ngx_queues_api_error_e error)
{
    ngx_str_t            value;
    ngx_http_request_t  *r;

    r = api->op->request;

    switch (error) {

    case NGX_QUEUES_API_UNAUTHENTICATED:
        if (api->refused) {
            ngx_str_set(&value, "Bearer error=\"invalid_token\"");

        } else {
            ngx_str_set(&value, "Bearer");
        }

        return ngx_queues_http_add_header(r, "WWW-Authenticate", &value);

    case NGX_QUEUES_API_METHOD_NOT_ALLOWED:
        return ngx_queues_api_allow(api);

    case NGX_QUEUES_API_RATE_LIMITED:
    case NGX_QUEUES_API_UNAVAILABLE:
        return ngx_queues_api_retry_after(r, ngx_max(api->retry_after, 1));

    default:
        return NGX_OK;
    }
}


static ngx_int_t
ngx_queues_api_allow(ngx_queues_api_t *api)
{
    u_char                         *p;
    ngx_str_t                       value;
    const ngx_queues_api_method_t  *m;

    value.data = ngx_pnalloc(api->op->request->pool,
                             sizeof("GET, HEAD, POST, PUT, PATCH, DELETE, "
                                    "OPTIONS"));
    if (value.data == NULL) {
        return NGX_ERROR;
    }

    p = value.data;

    for (m = ngx_queues_api_methods; m->method; m++) {
        if (api->allow & m->method) {
            p = ngx_sprintf(p, "%s%s", p == value.data ? "" : ", ", m->name);
        }
    }

    value.len = p - value.data;

    return ngx_queues_http_add_header(api->op->request, "Allow", &value);
}


static ngx_int_t
ngx_queues_api_retry_after(ngx_http_request_t *r, ngx_uint_t seconds)
{
    ngx_str_t  value;

    value.data = ngx_pnalloc(r->pool, NGX_INT_T_LEN);
    if (value.data == NULL) {
        return NGX_ERROR;
    }

    value.len = ngx_sprintf(value.data, "%ui", seconds) - value.data;

    return ngx_queues_http_add_header(r, "Retry-After", &value);
}


/*
 * nginx calls this twice for one answer: for its headers, and, when they have
 * been sent, for its body.
 */

ngx_int_t
ngx_queues_api_nginx_error(ngx_http_request_t *r, ngx_uint_t status,
    ngx_str_t *body)
{
    u_char                          text[NGX_QUEUES_API_MESSAGE_MAX];
    ngx_queues_api_told_t           told;
    ngx_queues_http_note_t         *note;
    const ngx_queues_api_surface_t *surface;

    surface = ngx_queues_api_surface_of(r);
    if (surface == NULL) {
        return NGX_DECLINED;
    }

    note = ngx_queues_http_note(r);
    if (note == NULL) {
        return NGX_ERROR;
    }

    if (r->header_sent) {
        *body = note->body;
        return NGX_OK;
    }

    ngx_queues_api_nginx_code(surface, status, &told);

    if (note->op == NULL) {
        ngx_queues_api_over_nginx(told.status);
    }

    note->error = &surface->codes[told.error].code;

    told.code = *note->error;
    told.field = NULL;
    told.message.data = text;
    told.message.len = ngx_sprintf(text, "The server refused the request with "
                                   "status %ui.", status)
                       - text;

    body->data = ngx_pnalloc(r->pool, ngx_queues_api_error_size(&told));
    if (body->data == NULL) {
        return NGX_ERROR;
    }

    body->len = surface->error(body->data, NULL, &told) - body->data;

    note->body = *body;

    /* the log has what the client gets */

    r->err_status = told.status;
    r->headers_out.status = told.status;

    if ((status == 429 || status == 503)
        && ngx_queues_api_retry_after(r, 1) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return surface->headers ? surface->headers(r) : NGX_OK;
}


/* the last of those with the status is the most general one */

static void
ngx_queues_api_nginx_code(const ngx_queues_api_surface_t *surface,
    ngx_uint_t status, ngx_queues_api_told_t *told)
{
    ngx_uint_t  i;

    told->status = status;
    told->error = status < 500 ? NGX_QUEUES_API_INVALID_ARGUMENT
                               : NGX_QUEUES_API_INTERNAL;

    /* one that only some APIs have */

    if (surface->codes[NGX_QUEUES_API_UNIMPLEMENTED].status == status) {
        told->error = NGX_QUEUES_API_UNIMPLEMENTED;
    }

    for (i = 0; i < NGX_QUEUES_API_NERRORS; i++) {

        if (ngx_queues_api_codes[i].status == status) {
            told->error = i;
            told->status = surface->codes[i].status;
        }
    }
}
