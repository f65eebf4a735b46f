
/*
 * The web page.  It is no call of an API: it holds no secret, asks for no
 * credential, and its errors are pages of nginx itself.
 */

#include "ngx_queues_api.h"


static ngx_int_t ngx_queues_api_dashboard_headers(ngx_http_request_t *r,
    ngx_queues_conf_dashboard_t *d);


ngx_int_t
ngx_queues_api_dashboard_handler(ngx_http_request_t *r)
{
    ngx_int_t                     rc;
    ngx_str_t                     value;
    ngx_buf_t                    *b;
    ngx_chain_t                   out;
    ngx_queues_conf_loc_t        *qlcf;
    ngx_queues_conf_dashboard_t  *d;

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {
        ngx_str_set(&value, "GET, HEAD");

        if (ngx_queues_http_add_header(r, "Allow", &value) != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    qlcf = ngx_http_get_module_loc_conf(r, ngx_queues_module);
    d = qlcf->dashboard;

    if (ngx_queues_api_dashboard_headers(r, d) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    b->pos = d->page.data;
    b->last = d->page.data + d->page.len;
    b->memory = 1;
    b->last_buf = (r == r->main);
    b->last_in_chain = 1;

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}


/* nginx answers 304 by the ETag */

static ngx_int_t
ngx_queues_api_dashboard_headers(ngx_http_request_t *r,
    ngx_queues_conf_dashboard_t *d)
{
    ngx_str_t         value;
    ngx_uint_t        i;
    ngx_table_elt_t  *etag;

    static struct {
        const char  *name;
        ngx_str_t    value;
    } headers[] = {
        { "Cache-Control", ngx_string("no-cache") },
        { "X-Content-Type-Options", ngx_string("nosniff") },
        { "Referrer-Policy", ngx_string("no-referrer") },
        { "Cross-Origin-Opener-Policy", ngx_string("same-origin") },
    };

    for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        value = headers[i].value;

        if (ngx_queues_http_add_header(r, headers[i].name, &value) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    if (ngx_queues_http_add_header(r, "Content-Security-Policy", &d->policy)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    etag = ngx_list_push(&r->headers_out.headers);
    if (etag == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(etag, sizeof(ngx_table_elt_t));

    etag->hash = 1;
    ngx_str_set(&etag->key, "ETag");
    etag->value = d->etag;

    r->headers_out.etag = etag;
    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_length_n = d->page.len;

    ngx_str_set(&r->headers_out.content_type, "text/html; charset=utf-8");
    r->headers_out.content_type_len = sizeof("text/html") - 1;
    r->headers_out.content_type_lowcase = NULL;

    return NGX_OK;
}
