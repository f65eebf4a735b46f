
#include "ngx_queues_http.h"


static ngx_int_t ngx_queues_http_header_filter(ngx_http_request_t *r);
static ngx_int_t ngx_queues_http_body_filter(ngx_http_request_t *r,
    ngx_chain_t *in);
static ngx_int_t ngx_queues_http_replaced(ngx_http_request_t *r,
    ngx_str_t *body);


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

static ngx_int_t
ngx_queues_http_replaced(ngx_http_request_t *r, ngx_str_t *body)
{
    if (r->err_status < NGX_HTTP_BAD_REQUEST || r != r->main) {
        return NGX_DECLINED;
    }

    return ngx_queues_http_error(r, r->headers_out.status, body);
}


static ngx_int_t
ngx_queues_http_header_filter(ngx_http_request_t *r)
{
    ngx_int_t  rc;
    ngx_str_t  body;

    rc = ngx_queues_http_replaced(r, &body);

    if (rc == NGX_DECLINED) {
        return ngx_http_next_header_filter(r);
    }

    if (rc != NGX_OK) {
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
    ngx_int_t     rc;
    ngx_buf_t    *b;
    ngx_str_t     body;
    ngx_chain_t  *cl, out;

    rc = in ? ngx_queues_http_replaced(r, &body) : NGX_DECLINED;

    if (rc == NGX_DECLINED) {
        return ngx_http_next_body_filter(r, in);
    }

    if (rc != NGX_OK) {
        return NGX_ERROR;
    }

    for (cl = in; cl; cl = cl->next) {
        cl->buf->pos = cl->buf->last;
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
