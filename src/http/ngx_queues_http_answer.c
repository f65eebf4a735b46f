
#include "ngx_queues_http.h"

#include <poll.h>


static ngx_int_t ngx_queues_http_send(ngx_http_request_t *r,
    ngx_uint_t status, ngx_str_t *type, ngx_chain_t *out, off_t size);


void
ngx_queues_http_answer(ngx_queues_http_op_t *op, ngx_uint_t status,
    ngx_str_t *body)
{
    ngx_buf_t    *b;
    ngx_chain_t   out;

    b = NULL;

    if (body->len) {
        b = ngx_calloc_buf(op->request->pool);

        if (b == NULL) {
            ngx_queues_http_unpark(op);
            ngx_queues_http_finalize(op, NGX_HTTP_INTERNAL_SERVER_ERROR);
            return;
        }

        b->pos = body->data;
        b->last = body->data + body->len;
        b->memory = 1;
        b->last_buf = 1;
    }

    out.buf = b;
    out.next = NULL;

    ngx_queues_http_answer_chain(op, status, &out, body->len);
}


void
ngx_queues_http_answer_chain(ngx_queues_http_op_t *op, ngx_uint_t status,
    ngx_chain_t *out, off_t size)
{
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    r = op->request;
    c = r->connection;

    ngx_queues_http_unpark(op);
    ngx_queues_http_over(op, status);

    op->answered = 1;
    op->sent = c->sent;

    if (op->async) {
        ngx_http_set_log_request(c->log, r);
    }

    ngx_queues_http_finalize(op, ngx_queues_http_send(r, status, &op->type,
                                                      out, size));
}


void
ngx_queues_http_finalize(ngx_queues_http_op_t *op, ngx_int_t rc)
{
    ngx_uint_t         async;
    ngx_connection_t  *c;

    c = op->request->connection;
    async = op->async;

    ngx_http_finalize_request(op->request, rc);

    /* the request may be gone, its connection is not: see nginx' upstream */

    if (async) {
        ngx_http_run_posted_requests(c);
    }
}


void
ngx_queues_http_abandon(ngx_queues_http_op_t *op)
{
    op->request->connection->error = 1;

    ngx_queues_http_finalize(op, NGX_HTTP_CLIENT_CLOSED_REQUEST);
}


static ngx_int_t
ngx_queues_http_send(ngx_http_request_t *r, ngx_uint_t status,
    ngx_str_t *type, ngx_chain_t *out, off_t size)
{
    ngx_int_t  rc;

    /* what was done cannot become 304 or 412 by a header of the request */

    r->disable_not_modified = 1;

    /* nor become the status of an error that led here through error_page */

    r->err_status = 0;

    r->headers_out.status = status;
    r->headers_out.content_length_n = size;

    if (ngx_exiting) {

        /* nginx closes the connection: the client must not use it again */

        r->keepalive = 0;
    }

    if (size == 0) {
        r->header_only = 1;

    } else {
        r->headers_out.content_type = *type;

        if (type->len == 0) {
            ngx_str_set(&r->headers_out.content_type, "application/json");
        }

        r->headers_out.content_type_len = r->headers_out.content_type.len;
        r->headers_out.content_type_lowcase = NULL;
    }

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    return ngx_http_output_filter(r, out);
}


ngx_int_t
ngx_queues_http_add_header(ngx_http_request_t *r, const char *name,
    ngx_str_t *value)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(h, sizeof(ngx_table_elt_t));

    h->hash = 1;
    h->key.data = (u_char *) name;
    h->key.len = ngx_strlen(name);
    h->value = *value;

    return NGX_OK;
}


ngx_uint_t
ngx_queues_http_client_gone(ngx_queues_http_op_t *op)
{
    struct pollfd      pfd;
    ngx_connection_t  *c;

    c = op->request->connection;

    if (c->error || c->read->pending_eof) {
        return 1;
    }

#if (NGX_HTTP_V2)
    if (op->request->stream) {
        c = op->request->stream->connection->connection;
    }
#endif

    pfd.fd = c->fd;
    pfd.events = POLLRDHUP;
    pfd.revents = 0;

    return poll(&pfd, 1, 0) == 1;
}
