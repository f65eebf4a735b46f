
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_http.h>

#include "ngx_queues_push_client.h"


#define NGX_QUEUES_PUSH_BODY_SIZE  4096


static void ngx_queues_push_response_failed(ngx_queues_push_attempt_t *a);
static void ngx_queues_push_response_eof(ngx_queues_push_attempt_t *a);
static void ngx_queues_push_response_cut(ngx_queues_push_attempt_t *a,
    const char *reason);
static ngx_int_t ngx_queues_push_response_parse(ngx_queues_push_attempt_t *a,
    const char **reason);
static ngx_int_t ngx_queues_push_response_begin(
    ngx_queues_push_response_t *response);
static ngx_int_t ngx_queues_push_response_body(
    ngx_queues_push_response_t *response, const char **reason);
static ngx_int_t ngx_queues_push_response_chunked(
    ngx_queues_push_response_t *response, const char **reason);
static ngx_int_t ngx_queues_push_response_append(
    ngx_queues_push_response_t *response, size_t len);


static const char  ngx_queues_push_response_broken[] =
    "The endpoint broke off the connection.";


/* also before the request is sent anew: nothing of an answer has come then */

ngx_int_t
ngx_queues_push_response_start(ngx_queues_push_attempt_t *a)
{
    ngx_buf_t                   *b;
    ngx_http_request_t          *r;
    ngx_queues_push_response_t  *response;

    response = &a->response;

    r = response->r;
    b = response->buf;

    ngx_memzero(response, sizeof(ngx_queues_push_response_t));

    if (r == NULL) {
        r = ngx_pcalloc(a->pool, sizeof(ngx_http_request_t));
        if (r == NULL) {
            return NGX_ERROR;
        }
    }

    r->connection = a->connection;

    response->r = r;
    response->buf = b;
    response->idle = NGX_QUEUES_PUSH_IDLE;

    return NGX_OK;
}


void
ngx_queues_push_response_free(ngx_queues_push_attempt_t *a)
{
    if (a->response.body) {
        ngx_free(a->response.body);
        a->response.body = NULL;
    }
}


void
ngx_queues_push_response_handler(ngx_event_t *rev)
{
    ngx_connection_t           *c;
    ngx_queues_push_attempt_t  *a;

    c = rev->data;
    a = c->data;

    if (c->close) {
        ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_CONNECTION,
                                     "The delivery was ended by a shutdown.");
        return;
    }

    ngx_queues_push_response_read(a);
}


/* bounded by NGX_QUEUES_PUSH_RAW_MAX */

void
ngx_queues_push_response_read(ngx_queues_push_attempt_t *a)
{
    ssize_t                      n;
    ngx_int_t                    rc;
    ngx_buf_t                   *b;
    const char                  *reason;
    ngx_connection_t            *c;
    ngx_queues_push_response_t  *response;

    c = a->connection;
    response = &a->response;

    if (response->buf == NULL) {
        response->buf = ngx_create_temp_buf(a->pool,
                                            NGX_QUEUES_PUSH_HEAD_MAX);
        if (response->buf == NULL) {
            ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_CONNECTION,
                                         "The answer could not be read.");
            return;
        }
    }

    b = response->buf;

    for ( ;; ) {

        n = c->recv(c, b->last, b->end - b->last);

        if (n == NGX_AGAIN) {
            break;
        }

        if (n == NGX_ERROR) {
            ngx_queues_push_response_failed(a);
            return;
        }

        if (n == 0) {
            ngx_queues_push_response_eof(a);
            return;
        }

        b->last += n;
        response->raw += n;

        rc = ngx_queues_push_response_parse(a, &reason);

        if (rc == NGX_OK) {
            ngx_queues_push_attempt_answered(a);
            return;
        }

        if (rc == NGX_ERROR) {
            ngx_queues_push_response_cut(a, reason);
            return;
        }
    }

    if (a->unwritable) {
        ngx_queues_push_response_cut(a, ngx_queues_push_response_broken);
        return;
    }

    if (ngx_handle_read_event(c->read, 0) != NGX_OK) {
        ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_CONNECTION,
                                     "The connection could not be watched.");
    }
}


static void
ngx_queues_push_response_failed(ngx_queues_push_attempt_t *a)
{
    const char  *reason;

    if (a->response.raw == 0 && !a->reused) {

        /* a late end of the handshake */

        reason = ngx_queues_push_tls_alert(a);

        if (reason) {
            ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_TLS, reason);
            return;
        }
    }

    ngx_queues_push_response_cut(a, ngx_queues_push_response_broken);
}


static void
ngx_queues_push_response_eof(ngx_queues_push_attempt_t *a)
{
    ngx_queues_push_response_t  *response;

    response = &a->response;

    if (response->part == NGX_QUEUES_PUSH_BODY
        && response->framing == NGX_QUEUES_PUSH_UNTIL_CLOSE
        && ngx_queues_push_tls_closed(a->connection))
    {
        ngx_queues_push_attempt_answered(a);
        return;
    }

    ngx_queues_push_response_cut(a, response->raw
                            ? "The endpoint broke off its answer."
                            : "The endpoint closed the connection without "
                              "an answer.");
}


/*
 * The answer ends too early, or is not readable.  A status that says that the
 * delivery failed still counts, as it says more than that.
 */

static void
ngx_queues_push_response_cut(ngx_queues_push_attempt_t *a, const char *reason)
{
    ngx_queues_push_response_t  *response;

    response = &a->response;

    if (response->raw == 0) {
        ngx_queues_push_attempt_lost(a, reason);
        return;
    }

    if (response->part == NGX_QUEUES_PUSH_BODY
        && response->status.code >= NGX_HTTP_SPECIAL_RESPONSE)
    {
        response->over = 1;
        ngx_queues_push_attempt_answered(a);
        return;
    }

    ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_CONNECTION, reason);
}


/* NGX_OK: the answer is complete, or as much of it as is to be read */

static ngx_int_t
ngx_queues_push_response_parse(ngx_queues_push_attempt_t *a,
    const char **reason)
{
    ngx_int_t                    rc;
    ngx_buf_t                   *b;
    ngx_queues_push_response_t  *response;

    response = &a->response;
    b = response->buf;

    if (response->part != NGX_QUEUES_PUSH_BODY) {

        rc = ngx_queues_push_fields_parse(a, reason);

        if (rc != NGX_OK) {
            return rc;
        }

        rc = ngx_queues_push_response_begin(response);

        if (rc != NGX_AGAIN) {
            return rc;
        }
    }

    rc = ngx_queues_push_response_body(response, reason);

    if (rc != NGX_AGAIN) {
        return rc;
    }

    b->pos = b->start;
    b->last = b->start;

    if (response->raw > NGX_QUEUES_PUSH_RAW_MAX) {
        response->over = 1;
        return NGX_OK;
    }

    return NGX_AGAIN;
}


static ngx_int_t
ngx_queues_push_response_begin(ngx_queues_push_response_t *response)
{
    if (response->framing == NGX_QUEUES_PUSH_NO_BODY) {
        return NGX_OK;
    }

    if (response->framing != NGX_QUEUES_PUSH_LENGTH) {
        return NGX_AGAIN;
    }

    /* a success has nothing to say that long; of a failure, people see some */

    if (response->length > NGX_QUEUES_PUSH_ANSWER_MAX
        && response->status.code < NGX_HTTP_SPECIAL_RESPONSE)
    {
        response->over = 1;
        return NGX_OK;
    }

    return response->length ? NGX_AGAIN : NGX_OK;
}


static ngx_int_t
ngx_queues_push_response_body(ngx_queues_push_response_t *response,
    const char **reason)
{
    size_t      len;
    ngx_int_t   rc;
    ngx_buf_t  *b;

    b = response->buf;
    *reason = "The answer could not be read.";

    if (response->framing == NGX_QUEUES_PUSH_CHUNKED) {
        return ngx_queues_push_response_chunked(response, reason);
    }

    len = b->last - b->pos;

    if (response->framing == NGX_QUEUES_PUSH_LENGTH) {
        len = (size_t) ngx_min((off_t) len, response->length);
        response->length -= len;
    }

    rc = ngx_queues_push_response_append(response, len);

    if (rc == NGX_AGAIN
        && response->framing == NGX_QUEUES_PUSH_LENGTH
        && response->length == 0)
    {
        return NGX_OK;
    }

    return rc;
}


static ngx_int_t
ngx_queues_push_response_chunked(ngx_queues_push_response_t *response,
    const char **reason)
{
    size_t               len;
    ngx_int_t            rc;
    ngx_buf_t           *b;
    ngx_http_chunked_t  *chunked;

    b = response->buf;
    chunked = &response->chunked;

    for ( ;; ) {

#if (nginx_version >= 1027002)
        rc = ngx_http_parse_chunked(response->r, b, chunked, 0);
#else
        rc = ngx_http_parse_chunked(response->r, b, chunked);
#endif

        if (rc == NGX_DONE) {
            return NGX_OK;
        }

        if (rc == NGX_AGAIN) {
            return NGX_AGAIN;
        }

        if (rc != NGX_OK) {
            *reason = "The body of the endpoint's answer is not valid.";
            return NGX_ERROR;
        }

        len = (size_t) ngx_min((off_t) (b->last - b->pos), chunked->size);
        chunked->size -= len;

        rc = ngx_queues_push_response_append(response, len);

        if (rc != NGX_AGAIN) {
            return rc;
        }
    }
}


/* NGX_OK when there is more than the limit, NGX_AGAIN otherwise */

static ngx_int_t
ngx_queues_push_response_append(ngx_queues_push_response_t *response,
    size_t len)
{
    u_char      *body;
    size_t       size, n;
    ngx_buf_t   *b;

    b = response->buf;

    n = ngx_min(len, NGX_QUEUES_PUSH_ANSWER_MAX - response->len);

    if (response->len + n > response->size) {

        size = ngx_max(response->size * 2, NGX_QUEUES_PUSH_BODY_SIZE);
        size = ngx_max(size, response->len + n);

        body = ngx_alloc(size, response->r->connection->log);
        if (body == NULL) {
            return NGX_ERROR;
        }

        if (response->body) {
            ngx_memcpy(body, response->body, response->len);
            ngx_free(response->body);
        }

        response->body = body;
        response->size = size;
    }

    if (n) {
        ngx_memcpy(response->body + response->len, b->pos, n);
        response->len += n;
    }

    b->pos += len;

    if (n < len) {
        response->over = 1;
        return NGX_OK;
    }

    return NGX_AGAIN;
}
