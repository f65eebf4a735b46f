
#include "ngx_queues_api.h"


ngx_int_t
ngx_queues_api_query_read(ngx_queues_api_t *api, const ngx_str_t *names,
    ngx_uint_t n, ngx_str_t *values, ngx_str_t *odd)
{
    u_char                   *buf;
    ngx_int_t                 rc;
    ngx_str_t                 name, value, *args;
    ngx_uint_t                i;
    ngx_queues_base_query_t   query;

    ngx_memzero(values, n * sizeof(ngx_str_t));
    ngx_str_null(odd);

    args = &api->op->request->args;

    buf = ngx_queues_api_alloc(api, args->len + 1);
    if (buf == NULL) {
        return NGX_ERROR;
    }

    ngx_queues_base_query_open(&query, args, api->surface->controls, buf);

    while ((rc = ngx_queues_base_query_next(&query, &name, &value))
           == NGX_OK)
    {
        for (i = 0; i < n; i++) {
            if (name.len == names[i].len
                && ngx_memcmp(name.data, names[i].data, name.len) == 0)
            {
                break;
            }
        }

        if (i < n && values[i].data == NULL) {
            values[i] = value;

        } else if (odd->data == NULL) {
            *odd = name;
        }
    }

    return rc == NGX_ERROR ? NGX_DECLINED : NGX_OK;
}


ngx_int_t
ngx_queues_api_query(ngx_queues_api_t *api, const ngx_str_t *names,
    ngx_uint_t n, ngx_str_t *values)
{
    ngx_int_t  rc;
    ngx_str_t  odd;

    rc = ngx_queues_api_query_read(api, names, n, values, &odd);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (odd.data) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "The query parameter \"%V\" is not known or "
                             "there twice.", &odd);
        return NGX_ERROR;
    }

    if (rc != NGX_OK) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "The query is not well-formed.");
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_query_integer(ngx_queues_api_t *api, ngx_str_t *value,
    const ngx_str_t *name, ngx_uint_t min, ngx_uint_t max, ngx_uint_t *n)
{
    uint64_t   number;
    ngx_str_t  field;

    if (value->data == NULL) {
        return NGX_OK;
    }

    if (ngx_queues_base_decimal_parse(value, &number) == NGX_OK
        && number >= min && number <= max)
    {
        *n = (ngx_uint_t) number;
        return NGX_OK;
    }

    field = *name;

    ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, &field,
                         "The query parameter \"%V\" must be an integer from "
                         "%ui to %ui.", &field, min, max);

    return NGX_ERROR;
}
