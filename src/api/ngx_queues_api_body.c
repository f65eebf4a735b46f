
#include "ngx_queues_api.h"


/* of an unknown member's name in an error */
#define NGX_QUEUES_API_FIELD_MAX  128


static ngx_int_t ngx_queues_api_member(ngx_queues_api_t *api,
    ngx_str_t *prefix, const ngx_str_t *names, ngx_uint_t n, ngx_str_t *key,
    ngx_uint_t *index);
static ngx_int_t ngx_queues_api_field(ngx_queues_api_t *api,
    ngx_str_t *prefix, const ngx_str_t *name, ngx_str_t *field);


ngx_int_t
ngx_queues_api_body(ngx_queues_api_t *api, ngx_uint_t empty,
    ngx_queues_base_json_value_t *value)
{
    ngx_str_t   *body;
    const char  *error;

    static ngx_str_t  none = ngx_string("{}");

    body = &api->op->body;

    if (body->len == 0 && empty) {
        body = &none;
    }

    if (ngx_queues_base_json_parse(body, value, &error) != NGX_OK) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_JSON, NULL,
                             "The body is not JSON: %s.", error);
        return NGX_ERROR;
    }

    if (value->type != NGX_QUEUES_BASE_JSON_OBJECT) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "The body must be a JSON object.");
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_members(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *object, ngx_str_t *prefix,
    const ngx_str_t *names, ngx_uint_t n,
    ngx_queues_base_json_value_t *values)
{
    ngx_str_t                      key;
    ngx_uint_t                     i, seen;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   value;

    for (i = 0; i < n; i++) {
        values[i].type = NGX_QUEUES_BASE_JSON_NULL;
        ngx_str_null(&values[i].raw);
    }

    seen = 0;

    ngx_queues_base_json_open(&it, object);

    while (ngx_queues_base_json_next(&it, &key, &value) == NGX_OK) {

        if (ngx_queues_api_member(api, prefix, names, n, &key, &i)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        if (seen & ((ngx_uint_t) 1 << i)) {
            ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_JSON, NULL,
                                 "The member \"%V\" is there twice.", &key);
            return NGX_ERROR;
        }

        seen |= (ngx_uint_t) 1 << i;
        values[i] = value;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_member(ngx_queues_api_t *api, ngx_str_t *prefix,
    const ngx_str_t *names, ngx_uint_t n, ngx_str_t *key, ngx_uint_t *index)
{
    ngx_str_t   name;
    ngx_uint_t  i;

    for (i = 0; i < n; i++) {
        name = names[i];

        if (ngx_queues_base_json_equal(key, &name)) {
            *index = i;
            return NGX_OK;
        }
    }

    if (key->len > NGX_QUEUES_API_FIELD_MAX) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "A field is not known here, its name has %uz "
                             "bytes.", key->len);
        return NGX_ERROR;
    }

    ngx_queues_api_invalid(api, prefix, key, "is not known here");

    return NGX_ERROR;
}


ngx_int_t
ngx_queues_api_integer(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *prefix,
    const ngx_str_t *name, int64_t min, int64_t max, int64_t *n)
{
    int64_t    number;
    ngx_str_t  field;

    if (value->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    if (ngx_queues_base_json_integer(value, &number) == NGX_OK
        && number >= min && number <= max)
    {
        *n = number;
        return NGX_OK;
    }

    if (ngx_queues_api_field(api, prefix, name, &field) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, &field,
                         "The field \"%V\" must be an integer from %L to %L.",
                         &field, min, max);

    return NGX_ERROR;
}


void
ngx_queues_api_invalid(ngx_queues_api_t *api, ngx_str_t *prefix,
    const ngx_str_t *name, const char *what)
{
    ngx_str_t  field;

    if (ngx_queues_api_field(api, prefix, name, &field) != NGX_OK) {
        return;
    }

    ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, &field,
                         "The field \"%V\" %s.", &field, what);
}


/* prefix and name, "messages[3]." "body" */

static ngx_int_t
ngx_queues_api_field(ngx_queues_api_t *api, ngx_str_t *prefix,
    const ngx_str_t *name, ngx_str_t *field)
{
    u_char  *p;

    field->len = (prefix ? prefix->len : 0) + name->len;

    p = ngx_queues_api_alloc(api, field->len + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    field->data = p;

    if (prefix) {
        p = ngx_cpymem(p, prefix->data, prefix->len);
    }

    ngx_memcpy(p, name->data, name->len);

    return NGX_OK;
}


u_char *
ngx_queues_api_alloc(ngx_queues_api_t *api, size_t size)
{
    u_char  *p;

    p = ngx_pnalloc(api->op->request->pool, size);

    if (p == NULL) {
        ngx_queues_http_finalize(api->op, NGX_HTTP_INTERNAL_SERVER_ERROR);
    }

    return p;
}


void
ngx_queues_api_answer(ngx_queues_api_t *api, ngx_uint_t status, u_char *start,
    u_char *end)
{
    ngx_str_t            body;
    ngx_http_request_t  *r;

    r = api->op->request;

    body.data = start;
    body.len = end - start;

    if ((api->groups & NGX_QUEUES_CONF_RECEIPTS)
        && ngx_queues_api_cors(r) != NGX_OK)
    {
        status = NGX_HTTP_INTERNAL_SERVER_ERROR;
        body.len = 0;
    }

    if (api->surface->charset.len) {
        r->headers_out.charset = api->surface->charset;
    }

    ngx_queues_http_answer(api->op, status, &body);
}


void
ngx_queues_api_no_content(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_answer(api, NGX_HTTP_NO_CONTENT, NULL, NULL);

        } else {
            ngx_queues_api_store_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


void
ngx_queues_api_started(ngx_queues_api_t *api, ngx_int_t rc)
{
    if (rc == NGX_OK) {
        ngx_queues_http_op_hold(api->op);
        return;
    }

    if (api->op->request) {
        ngx_queues_api_no_memory(api);
    }
}


/* application/json, with no parameter but charset=utf-8 (RFC 9110, 8.3.1) */

ngx_uint_t
ngx_queues_api_json_type(ngx_str_t *type)
{
    u_char  *p, *last;

    static ngx_str_t  json = ngx_string("application/json");
    static ngx_str_t  charset = ngx_string("charset=");
    static ngx_str_t  utf8 = ngx_string("utf-8");

    p = type->data;
    last = p + type->len;

    if (type->len < json.len
        || ngx_strncasecmp(p, json.data, json.len) != 0)
    {
        return 0;
    }

    p += json.len;

    while (p < last && (*p == ' ' || *p == '\t')) { p++; }

    if (p == last) {
        return 1;
    }

    if (*p++ != ';') {
        return 0;
    }

    while (p < last && (*p == ' ' || *p == '\t')) { p++; }

    if (p == last) {
        return 1;
    }

    if ((size_t) (last - p) < charset.len
        || ngx_strncasecmp(p, charset.data, charset.len) != 0)
    {
        return 0;
    }

    p += charset.len;

    while (last > p && (last[-1] == ' ' || last[-1] == '\t')) { last--; }

    if (last - p == (ssize_t) utf8.len + 2 && *p == '"' && last[-1] == '"') {
        p++;
        last--;
    }

    return last - p == (ssize_t) utf8.len
           && ngx_strncasecmp(p, utf8.data, utf8.len) == 0;
}
