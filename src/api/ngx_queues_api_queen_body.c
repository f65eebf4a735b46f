
/*
 * Bodies and names of the Queen API: what is not known is passed over, and
 * null is as good as nothing.
 */

#include "ngx_queues_api_queen.h"


ngx_int_t
ngx_queues_api_queen_body(ngx_queues_api_t *api, const ngx_str_t *names,
    ngx_uint_t n, ngx_queues_base_json_value_t *values)
{
    ngx_queues_base_json_value_t  object;

    if (ngx_queues_api_body(api, 0, &object) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_queues_api_queen_members(api, &object, names, n, values);
}


ngx_int_t
ngx_queues_api_queen_members(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *object, const ngx_str_t *names, ngx_uint_t n,
    ngx_queues_base_json_value_t *values)
{
    ngx_int_t  twice;

    twice = ngx_queues_api_queen_read(object, names, n, values);

    if (twice != NGX_DECLINED) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "%V is there more than once", &names[twice]);
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_queen_read(ngx_queues_base_json_value_t *object,
    const ngx_str_t *names, ngx_uint_t n,
    ngx_queues_base_json_value_t *values)
{
    ngx_int_t                      twice;
    ngx_str_t                      key, name;
    ngx_uint_t                     i;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   value;

    for (i = 0; i < n; i++) {
        values[i].type = NGX_QUEUES_BASE_JSON_NULL;
        ngx_str_null(&values[i].raw);
    }

    twice = NGX_DECLINED;

    ngx_queues_base_json_open(&it, object);

    while (ngx_queues_base_json_next(&it, &key, &value) == NGX_OK) {

        for (i = 0; i < n; i++) {
            name = names[i];

            if (ngx_queues_base_json_equal(&key, &name)) {

                if (values[i].raw.data) {
                    twice = i;
                }

                values[i] = value;
                break;
            }
        }
    }

    ngx_queues_base_json_end(&it, object);

    return twice;
}


ngx_int_t
ngx_queues_api_queen_count(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *array, const char *what, ngx_uint_t max)
{
    ngx_uint_t                     n;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   value;

    if (ngx_queues_api_queen_array(api, array, what) != NGX_OK) {
        return NGX_ERROR;
    }

    n = 0;

    ngx_queues_base_json_open(&it, array);

    while (ngx_queues_base_json_next(&it, NULL, &value) == NGX_OK) {
        n++;
    }

    if (n > max) {
        ngx_queues_api_queen_too_many(api, what, max);
        return NGX_ERROR;
    }

    return n;
}


ngx_int_t
ngx_queues_api_queen_array(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, const char *what)
{
    if (value->type != NGX_QUEUES_BASE_JSON_ARRAY) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "%s must be an array", what);
        return NGX_ERROR;
    }

    return NGX_OK;
}


void
ngx_queues_api_queen_too_many(ngx_queues_api_t *api, const char *what,
    ngx_uint_t max)
{
    ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                         "%s has more than %ui elements", what, max);
}


ngx_int_t
ngx_queues_api_queen_canonical(ngx_queues_api_t *api, ngx_str_t *raw,
    ngx_str_t *text)
{
    if (raw->len == 0 || memchr(raw->data, '\\', raw->len) == NULL) {

        /* nothing in it is escaped, so nothing had to be */

        *text = *raw;
        return NGX_OK;
    }

    text->data = ngx_pnalloc(api->op->pool, raw->len);
    if (text->data == NULL) {
        return NGX_ERROR;
    }

    text->len = ngx_queues_base_json_canonical(text->data, raw) - text->data;

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_queen_string(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, const char *what, ngx_str_t *text)
{
    if (value->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    if (value->type != NGX_QUEUES_BASE_JSON_STRING) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "%s must be a string", what);
        return NGX_ERROR;
    }

    if (ngx_queues_api_queen_canonical(api, &value->raw, text) != NGX_OK) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    if (text->len > NGX_QUEUES_API_QUEEN_NAME_MAX) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "%s is longer than %d bytes", what,
                             NGX_QUEUES_API_QUEEN_NAME_MAX);
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_queen_text(ngx_queues_api_t *api, ngx_str_t *decoded,
    const char *what, ngx_str_t *text)
{
    text->len = ngx_queues_base_json_escape_length(decoded);

    if (text->len > NGX_QUEUES_API_QUEEN_NAME_MAX) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "%s is longer than %d bytes", what,
                             NGX_QUEUES_API_QUEEN_NAME_MAX);
        return NGX_ERROR;
    }

    text->data = ngx_pnalloc(api->op->pool, text->len + 1);
    if (text->data == NULL) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    ngx_queues_base_json_escape(text->data, decoded);

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_queen_uuid(ngx_queues_api_t *api, ngx_str_t *text)
{
    u_char  id[NGX_QUEUES_BASE_SHORT_LEN];

    text->len = NGX_QUEUES_BASE_UUID_LEN;

    text->data = ngx_pnalloc(api->op->pool, text->len);
    if (text->data == NULL) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    if (ngx_queues_api_new_id(api, id, text->data) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_queues_base_uuid_rise(text->data);

    return NGX_OK;
}
