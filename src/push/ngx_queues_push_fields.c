
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_http.h>

#include "ngx_queues_push_client.h"


typedef ngx_int_t (*ngx_queues_push_field_pt)(
    ngx_queues_push_response_t *response, ngx_str_t *value);


typedef struct {
    ngx_str_t                 name;
    ngx_queues_push_field_pt  parse;
} ngx_queues_push_field_t;


static ngx_int_t ngx_queues_push_fields_status(
    ngx_queues_push_response_t *response);
static ngx_int_t ngx_queues_push_fields_next(
    ngx_queues_push_attempt_t *a);
static ngx_int_t ngx_queues_push_field(ngx_queues_push_attempt_t *a);
static ngx_int_t ngx_queues_push_field_length(
    ngx_queues_push_response_t *response, ngx_str_t *value);
static ngx_int_t ngx_queues_push_field_transfer(
    ngx_queues_push_response_t *response, ngx_str_t *value);
static ngx_int_t ngx_queues_push_field_encoding(
    ngx_queues_push_response_t *response, ngx_str_t *value);
static ngx_int_t ngx_queues_push_field_connection(
    ngx_queues_push_response_t *response, ngx_str_t *value);
static ngx_int_t ngx_queues_push_field_keep_alive(
    ngx_queues_push_response_t *response, ngx_str_t *value);
static ngx_int_t ngx_queues_push_field_retry_after(
    ngx_queues_push_response_t *response, ngx_str_t *value);
static ngx_int_t ngx_queues_push_fields_done(
    ngx_queues_push_response_t *response);
static ngx_uint_t ngx_queues_push_field_is(ngx_str_t *value, const char *text);


static ngx_queues_push_field_t  ngx_queues_push_fields[] = {

    { ngx_string("Content-Length"), ngx_queues_push_field_length },
    { ngx_string("Transfer-Encoding"), ngx_queues_push_field_transfer },
    { ngx_string("Content-Encoding"), ngx_queues_push_field_encoding },
    { ngx_string("Connection"), ngx_queues_push_field_connection },
    { ngx_string("Keep-Alive"), ngx_queues_push_field_keep_alive },
    { ngx_string("Retry-After"), ngx_queues_push_field_retry_after },

    { ngx_null_string, NULL }
};


ngx_int_t
ngx_queues_push_fields_parse(ngx_queues_push_attempt_t *a, const char **reason)
{
    ngx_int_t                    rc;
    ngx_queues_push_response_t  *response;

    response = &a->response;

    for ( ;; ) {

        if (response->part == NGX_QUEUES_PUSH_STATUS) {
            *reason = "The endpoint's answer is not HTTP.";
            rc = ngx_queues_push_fields_status(response);

        } else {
            *reason = "The header of the endpoint's answer is not valid.";
            rc = ngx_queues_push_fields_next(a);
        }

        if (rc == NGX_AGAIN) {
            if (response->buf->last == response->buf->end) {
                *reason = "The header of the endpoint's answer is too large.";
                return NGX_ERROR;
            }

            return NGX_AGAIN;
        }

        if (rc == NGX_ERROR || response->part == NGX_QUEUES_PUSH_BODY) {
            return rc;
        }
    }
}


static ngx_int_t
ngx_queues_push_fields_status(ngx_queues_push_response_t *response)
{
    ngx_int_t           rc;
    ngx_http_status_t  *status;

    status = &response->status;

    rc = ngx_http_parse_status_line(response->r, response->buf, status);

    if (rc != NGX_OK) {
        return rc;
    }

    /* nothing was asked that 101 could be the answer to */

    if (response->r->http_major != 1 || status->code < 100
        || status->code == NGX_HTTP_SWITCHING_PROTOCOLS)
    {
        return NGX_ERROR;
    }

    response->part = NGX_QUEUES_PUSH_FIELDS;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_push_fields_next(ngx_queues_push_attempt_t *a)
{
    ngx_int_t                    rc;
    ngx_queues_push_response_t  *response;

    response = &a->response;

    rc = ngx_http_parse_header_line(response->r, response->buf, 1);

    if (rc == NGX_OK) {
        return ngx_queues_push_field(a);
    }

    if (rc == NGX_AGAIN) {
        return NGX_AGAIN;
    }

    if (rc != NGX_HTTP_PARSE_HEADER_DONE) {
        return NGX_ERROR;
    }

    if (response->status.code < 200) {
        ngx_memzero(&response->status, sizeof(ngx_http_status_t));
        response->part = NGX_QUEUES_PUSH_STATUS;
        return NGX_OK;
    }

    return ngx_queues_push_fields_done(response);
}


static ngx_int_t
ngx_queues_push_field(ngx_queues_push_attempt_t *a)
{
    ngx_str_t                    name, value;
    ngx_http_request_t          *r;
    ngx_queues_push_field_t     *field;
    ngx_queues_push_response_t  *response;

    response = &a->response;
    r = response->r;

    if (response->status.code < 200) {
        return NGX_OK;
    }

    name.data = r->header_name_start;
    name.len = r->header_name_end - r->header_name_start;

    value.data = r->header_start;
    value.len = r->header_end - r->header_start;

    for (field = ngx_queues_push_fields; field->parse; field++) {

        if (name.len == field->name.len
            && ngx_strncasecmp(name.data, field->name.data, name.len) == 0)
        {
            return field->parse(response, &value);
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_push_field_length(ngx_queues_push_response_t *response,
    ngx_str_t *value)
{
    if (response->has_length) {
        return NGX_ERROR;
    }

    response->has_length = 1;
    response->length = ngx_atoof(value->data, value->len);

    return (response->length == NGX_ERROR) ? NGX_ERROR : NGX_OK;
}


static ngx_int_t
ngx_queues_push_field_transfer(ngx_queues_push_response_t *response,
    ngx_str_t *value)
{
    if (response->framing == NGX_QUEUES_PUSH_CHUNKED
        || !ngx_queues_push_field_is(value, "chunked"))
    {
        return NGX_ERROR;
    }

    response->framing = NGX_QUEUES_PUSH_CHUNKED;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_push_field_encoding(ngx_queues_push_response_t *response,
    ngx_str_t *value)
{
    ngx_queues_push_encoding_e  encoding;

    if (value->len == 0 || ngx_queues_push_field_is(value, "identity")) {
        return NGX_OK;
    }

    if (ngx_queues_push_field_is(value, "gzip")
        || ngx_queues_push_field_is(value, "x-gzip"))
    {
        encoding = NGX_QUEUES_PUSH_GZIP;

    } else if (ngx_queues_push_field_is(value, "deflate")) {
        encoding = NGX_QUEUES_PUSH_DEFLATE;

    } else {
        encoding = NGX_QUEUES_PUSH_OTHER;
    }

    /* several one after another are not undone */

    response->encoding = (response->encoding == NGX_QUEUES_PUSH_IDENTITY)
                         ? encoding : NGX_QUEUES_PUSH_OTHER;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_push_field_connection(ngx_queues_push_response_t *response,
    ngx_str_t *value)
{
    if (ngx_strlcasestrn(value->data, value->data + value->len,
                         (u_char *) "close", 5 - 1)
        != NULL)
    {
        response->close = 1;

    } else if (ngx_strlcasestrn(value->data, value->data + value->len,
                                (u_char *) "keep-alive", 10 - 1)
               != NULL)
    {
        response->keepalive = 1;
    }

    return NGX_OK;
}


/* "timeout=5": it is to be over here before it is over there */

static ngx_int_t
ngx_queues_push_field_keep_alive(ngx_queues_push_response_t *response,
    ngx_str_t *value)
{
    u_char      *p, *last;
    ngx_msec_t   ms;

    last = value->data + value->len;

    p = ngx_strlcasestrn(value->data, last, (u_char *) "timeout=", 8 - 1);

    if (p == NULL) {
        return NGX_OK;
    }

    ms = 0;

    for (p += 8; p < last && *p >= '0' && *p <= '9'; p++) {
        ms = ngx_min(ms * 10 + (*p - '0') * 1000, NGX_QUEUES_PUSH_IDLE * 10);
    }

    ms = (ms > 1000) ? ms - 1000 : 0;

    response->idle = ngx_min(response->idle, ms);

    return NGX_OK;
}


static ngx_int_t
ngx_queues_push_field_retry_after(ngx_queues_push_response_t *response,
    ngx_str_t *value)
{
    if (response->has_retry_after) {
        ngx_str_null(&response->retry_after);
        return NGX_OK;
    }

    response->has_retry_after = 1;

    /* the buffer is going to be used for the body */

    if (value->len <= sizeof(response->retry_after_text)) {
        ngx_memcpy(response->retry_after_text, value->data, value->len);
        response->retry_after.data = response->retry_after_text;
        response->retry_after.len = value->len;
    }

    return NGX_OK;
}


/* RFC 9112, 6.3; both kinds of framing at once are an attack on somebody */

static ngx_int_t
ngx_queues_push_fields_done(ngx_queues_push_response_t *response)
{
    ngx_uint_t  code;

    code = response->status.code;

    if (response->framing == NGX_QUEUES_PUSH_CHUNKED && response->has_length) {
        return NGX_ERROR;
    }

    if (response->r->http_minor == 0
        && (!response->keepalive
            || response->framing == NGX_QUEUES_PUSH_CHUNKED))
    {
        response->close = 1;
    }

    response->keepalive = !response->close;

    if (code == NGX_HTTP_NO_CONTENT || code == NGX_HTTP_NOT_MODIFIED) {
        response->framing = NGX_QUEUES_PUSH_NO_BODY;

    } else if (response->framing != NGX_QUEUES_PUSH_CHUNKED) {

        if (response->has_length) {
            response->framing = NGX_QUEUES_PUSH_LENGTH;

        } else {
            response->keepalive = 0;
        }
    }

    response->part = NGX_QUEUES_PUSH_BODY;

    return NGX_OK;
}


static ngx_uint_t
ngx_queues_push_field_is(ngx_str_t *value, const char *text)
{
    return value->len == ngx_strlen(text)
           && ngx_strncasecmp(value->data, (u_char *) text, value->len) == 0;
}
