
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include <zlib.h>

#include "ngx_queues_push_client.h"


static int ngx_queues_push_inflate_bits(ngx_queues_push_response_t *response);
static ngx_int_t ngx_queues_push_inflate_all(
    ngx_queues_push_response_t *response, z_stream *stream);


ngx_int_t
ngx_queues_push_inflate(ngx_queues_push_response_t *response, ngx_log_t *log)
{
    u_char     *out;
    z_stream    stream;
    ngx_int_t   rc;

    if (response->encoding == NGX_QUEUES_PUSH_IDENTITY || response->len == 0) {
        return NGX_OK;
    }

    if (response->encoding == NGX_QUEUES_PUSH_OTHER) {
        return response->over ? NGX_OK : NGX_ERROR;
    }

    /* one byte more tells that there is more */

    out = ngx_alloc(NGX_QUEUES_PUSH_ANSWER_MAX + 1, log);
    if (out == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(&stream, sizeof(z_stream));

    stream.next_in = response->body;
    stream.avail_in = response->len;
    stream.next_out = out;
    stream.avail_out = NGX_QUEUES_PUSH_ANSWER_MAX + 1;

    if (inflateInit2(&stream, ngx_queues_push_inflate_bits(response))
        != Z_OK)
    {
        ngx_free(out);
        return NGX_ERROR;
    }

    rc = ngx_queues_push_inflate_all(response, &stream);

    (void) inflateEnd(&stream);

    ngx_free(response->body);

    response->body = out;
    response->len = NGX_QUEUES_PUSH_ANSWER_MAX + 1 - stream.avail_out;

    if (response->len > NGX_QUEUES_PUSH_ANSWER_MAX) {
        response->len = NGX_QUEUES_PUSH_ANSWER_MAX;
        response->over = 1;
    }

    /* what was cut cannot be unpacked to its end */

    return response->over ? NGX_OK : rc;
}


/* "deflate" means the format of zlib, but some send what is within it */

static int
ngx_queues_push_inflate_bits(ngx_queues_push_response_t *response)
{
    u_char  *p;

    if (response->encoding == NGX_QUEUES_PUSH_GZIP) {
        return MAX_WBITS + 16;
    }

    p = response->body;

    if (response->len >= 2
        && (p[0] & 0x0f) == Z_DEFLATED
        && ((p[0] << 8) | p[1]) % 31 == 0)
    {
        return MAX_WBITS;
    }

    return -MAX_WBITS;
}


/* gzip allows several members, one after another */

static ngx_int_t
ngx_queues_push_inflate_all(ngx_queues_push_response_t *response,
    z_stream *stream)
{
    int  rc;

    for ( ;; ) {
        rc = inflate(stream, Z_SYNC_FLUSH);

        if (rc != Z_STREAM_END) {
            return NGX_ERROR;
        }

        if (response->encoding != NGX_QUEUES_PUSH_GZIP
            || stream->avail_in == 0
            || stream->avail_out == 0)
        {
            return NGX_OK;
        }

        if (inflateReset(stream) != Z_OK) {
            return NGX_ERROR;
        }
    }
}
