
#include "ngx_queues_http.h"
#include "../conf/ngx_queues_conf.h"


/* an operation, what its API keeps of it, and a short body */
#define NGX_QUEUES_HTTP_OP_POOL    1024


static void ngx_queues_http_op_cleanup(void *data);
static void ngx_queues_http_op_run(ngx_queues_http_op_t *op);
static ngx_uint_t ngx_queues_http_body_refused(ngx_http_request_t *r);
static void ngx_queues_http_body_handler(ngx_http_request_t *r);
static ngx_int_t ngx_queues_http_body_collect(ngx_http_request_t *r,
    ngx_str_t *body);


ngx_queues_http_op_t *
ngx_queues_http_op_create(ngx_http_request_t *r)
{
    ngx_pool_t              *pool;
    ngx_http_cleanup_t      *cln;
    ngx_queues_http_op_t    *op;
    ngx_queues_http_note_t  *note;

    note = ngx_queues_http_note(r);
    if (note == NULL) {
        return NULL;
    }

    pool = ngx_create_pool(NGX_QUEUES_HTTP_OP_POOL, ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    op = ngx_pcalloc(pool, sizeof(ngx_queues_http_op_t));
    if (op == NULL) {
        ngx_destroy_pool(pool);
        return NULL;
    }

    cln = ngx_http_cleanup_add(r, 0);
    if (cln == NULL) {
        ngx_destroy_pool(pool);
        return NULL;
    }

    op->request = r;
    op->note = note;
    op->pool = pool;

    note->op = op;

    cln->handler = ngx_queues_http_op_cleanup;
    cln->data = op;

    return op;
}


static void
ngx_queues_http_op_cleanup(void *data)
{
    ngx_queues_http_op_t *op = data;

    ngx_connection_t  *c;

    c = op->request->connection;

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, c->log, 0,
                   "queues operation over, answered:%ui holds:%ui",
                   (ngx_uint_t) op->answered, op->holds);

    if (op->lost && op->answered && c->sent != op->sent) {

        /* something of the answer was written: it may have arrived */

        op->lost = NULL;
    }

    if (op->over) {

        /* nginx has none for a client that has gone from an open connection */

        ngx_queues_http_over(op, op->request->headers_out.status
                                 ? op->request->headers_out.status
                                 : NGX_HTTP_CLIENT_CLOSED_REQUEST);
    }

    op->request = NULL;

    ngx_queues_http_op_hold(op);

    ngx_queues_http_unpark(op);

    if (op->lost) {
        op->lost(op);
    }

    op->note->op = NULL;
    op->note = NULL;

    ngx_queues_http_op_release(op);
}


void
ngx_queues_http_over(ngx_queues_http_op_t *op, ngx_uint_t status)
{
    ngx_queues_http_over_pt  over;

    over = op->over;

    if (over) {
        op->over = NULL;
        over(op, status);
    }
}


void
ngx_queues_http_op_hold(ngx_queues_http_op_t *op)
{
    op->holds++;
}


void
ngx_queues_http_op_release(ngx_queues_http_op_t *op)
{
    op->holds--;

    if (op->holds == 0 && op->request == NULL) {
        ngx_destroy_pool(op->pool);
    }
}


static void
ngx_queues_http_op_run(ngx_queues_http_op_t *op)
{
    ngx_queues_http_op_hold(op);

    op->handler(op);
    op->async = 1;

    ngx_queues_http_op_release(op);
}


ngx_int_t
ngx_queues_http_no_body(ngx_queues_http_op_t *op,
    ngx_queues_http_op_pt handler)
{
    ngx_int_t            rc;
    ngx_http_request_t  *r;

    r = op->request;

    /* an answer without the body being wanted: no "100 Continue" */

    r->expect_tested = 1;

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    r->main->count++;

    op->handler = handler;
    ngx_queues_http_op_run(op);

    return NGX_DONE;
}


ngx_int_t
ngx_queues_http_read_body(ngx_queues_http_op_t *op,
    ngx_queues_http_op_pt handler)
{
    ngx_int_t            rc;
    ngx_http_request_t  *r;

    r = op->request;
    op->handler = handler;

    if (ngx_queues_http_body_refused(r)) {
        return NGX_HTTP_REQUEST_ENTITY_TOO_LARGE;
    }

    op->own_body = (r->request_body == NULL);

    r->request_body_in_single_buf = 1;

    rc = ngx_http_read_client_request_body(r, ngx_queues_http_body_handler);

    if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
        return rc;
    }

    return NGX_DONE;
}


/*
 * A body that nginx has refused and dropped before an error_page led here is
 * not an empty one.
 */

static ngx_uint_t
ngx_queues_http_body_refused(ngx_http_request_t *r)
{
    if (r->request_body) {

        /* chunks of which the last one was never read */

        return r->headers_in.chunked && r->request_body->rest != 0;
    }

    if (r->discard_body) {
        return 1;
    }

    if (r->headers_in.content_length_n != 0) {
        return 0;
    }

    return r->headers_in.chunked
           || (r->headers_in.content_length
               && ngx_atoof(r->headers_in.content_length->value.data,
                            r->headers_in.content_length->value.len)
                  != 0);
}


static void
ngx_queues_http_body_handler(ngx_http_request_t *r)
{
    ngx_queues_http_op_t    *op;
    ngx_queues_http_note_t  *note;

    note = ngx_http_get_module_ctx(r, ngx_queues_module);
    op = note->op;

    if (ngx_queues_http_body_collect(r, &op->body) != NGX_OK) {
        ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
        return;
    }

    ngx_queues_http_op_run(op);
}


/*
 * A chunked body of some bytes stands in a buffer of client_body_buffer_size.
 * Only a body that this module has read is given back: others, such as mirror
 * subrequests, may still be sending theirs.
 */

void
ngx_queues_http_drop_body(ngx_queues_http_op_t *op)
{
    ngx_buf_t                *b;
    ngx_http_request_body_t  *rb;

    rb = op->request->request_body;

    ngx_str_null(&op->body);

    if (!op->own_body
        || op->request->preserve_body
        || rb == NULL
        || rb->buf == NULL)
    {
        return;
    }

    b = rb->buf;

    if (b->temporary && ngx_pfree(op->request->pool, b->start) == NGX_OK) {
        rb->buf = NULL;
        rb->bufs = NULL;
    }
}


/*
 * A body may be missing, in one buffer, in several (chunked, HTTP/2), or in a
 * file where it is larger than client_body_buffer_size.
 */

static ngx_int_t
ngx_queues_http_body_collect(ngx_http_request_t *r, ngx_str_t *body)
{
    off_t         size;
    u_char       *p;
    ssize_t       n;
    ngx_buf_t    *b;
    ngx_chain_t  *cl, *bufs;

    ngx_str_null(body);

    if (r->request_body == NULL || r->request_body->bufs == NULL) {
        return NGX_OK;
    }

    bufs = r->request_body->bufs;

    if (bufs->next == NULL && ngx_buf_in_memory(bufs->buf)) {
        body->data = bufs->buf->pos;
        body->len = bufs->buf->last - bufs->buf->pos;
        return NGX_OK;
    }

    size = 0;

    for (cl = bufs; cl; cl = cl->next) {
        size += ngx_buf_size(cl->buf);
    }

    p = ngx_pnalloc(r->pool, (size_t) size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    body->data = p;

    for (cl = bufs; cl; cl = cl->next) {
        b = cl->buf;

        if (ngx_buf_in_memory(b)) {
            p = ngx_cpymem(p, b->pos, b->last - b->pos);
            continue;
        }

        if (!b->in_file) {
            continue;
        }

        n = ngx_read_file(b->file, p, (size_t) (b->file_last - b->file_pos),
                          b->file_pos);

        if (n == NGX_ERROR || n != b->file_last - b->file_pos) {
            ngx_log_error(NGX_LOG_CRIT, r->connection->log, 0,
                          "request body could not be read from \"%V\"",
                          &b->file->name);
            return NGX_ERROR;
        }

        p += n;
    }

    body->len = p - body->data;

    return NGX_OK;
}
