
#include "ngx_queues_http.h"
#include "../conf/ngx_queues_conf.h"


static ngx_int_t ngx_queues_http_header_filter(ngx_http_request_t *r);
static ngx_int_t ngx_queues_http_body_filter(ngx_http_request_t *r,
    ngx_chain_t *in);
static ngx_uint_t ngx_queues_http_replaced(ngx_http_request_t *r);


static ngx_http_output_header_filter_pt  ngx_http_next_header_filter;
static ngx_http_output_body_filter_pt    ngx_http_next_body_filter;

static ngx_queues_http_error_pt          ngx_queues_http_error;


void
ngx_queues_http_filter_init(ngx_queues_http_error_pt error)
{
    ngx_queues_http_error = error;

    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_queues_http_header_filter;

    ngx_http_next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = ngx_queues_http_body_filter;
}


/*
 * err_status is set by ngx_http_special_response_handler() only: these are the
 * pages of nginx itself (413, 400, limit_req's 503 ...), never our answers.
 */

static ngx_uint_t
ngx_queues_http_replaced(ngx_http_request_t *r)
{
    ngx_str_t               path;
    ngx_queues_conf_loc_t  *qlcf;

    static ngx_str_t  prefix = ngx_string("/v1/");

    if (r->err_status < NGX_HTTP_BAD_REQUEST || r != r->main) {
        return 0;
    }

    qlcf = ngx_http_get_module_loc_conf(r, ngx_queues_module);

    if (qlcf->api) {
        return 1;
    }

    /*
     * What nginx refuses before it looks for a location (valid_location is set
     * then): a path that cannot be decoded, headers that are too large or
     * wrong.
     */

    if (!qlcf->serves || r->valid_location) {
        return 0;
    }

    if (r->unparsed_uri.len) {
        path = r->unparsed_uri;

    } else if (r->uri_start && r->uri_end) {
        path.data = r->uri_start;
        path.len = r->uri_end - r->uri_start;

    } else {
        return 0;
    }

    return path.len > prefix.len
           && ngx_memcmp(path.data, prefix.data, prefix.len) == 0;
}


static ngx_int_t
ngx_queues_http_header_filter(ngx_http_request_t *r)
{
    ngx_str_t  body;

    if (!ngx_queues_http_replaced(r)) {
        return ngx_http_next_header_filter(r);
    }

    if (ngx_queues_http_error(r, r->headers_out.status, &body) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_http_clear_content_length(r);
    r->headers_out.content_length_n = body.len;

    ngx_str_set(&r->headers_out.content_type, "application/json");
    r->headers_out.content_type_len = r->headers_out.content_type.len;
    r->headers_out.content_type_lowcase = NULL;
    ngx_str_null(&r->headers_out.charset);

    return ngx_http_next_header_filter(r);
}


static ngx_int_t
ngx_queues_http_body_filter(ngx_http_request_t *r, ngx_chain_t *in)
{
    ngx_buf_t    *b;
    ngx_str_t     body;
    ngx_chain_t  *cl, out;

    if (in == NULL || !ngx_queues_http_replaced(r)) {
        return ngx_http_next_body_filter(r, in);
    }

    for (cl = in; cl; cl = cl->next) {
        cl->buf->pos = cl->buf->last;
    }

    if (ngx_queues_http_error(r, r->headers_out.status, &body) != NGX_OK) {
        return NGX_ERROR;
    }

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->pos = body.data;
    b->last = body.data + body.len;
    b->memory = 1;
    b->last_buf = 1;

    out.buf = b;
    out.next = NULL;

    return ngx_http_next_body_filter(r, &out);
}
