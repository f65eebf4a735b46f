
/*
 * Bytes from Redis: the same replies in whatever pieces they come, flat ones,
 * which come out again when they are written as Redis would write them.
 * Where there is no memory for one it is an error, and all before it came.
 */

#include "nginx.h"

#include "../../src/redis/ngx_queues_redis_reply.c"
#include "../../src/redis/ngx_queues_redis_error.c"


/* allocations of which one fails, in turn */
#define FUZZ_SHORTAGES  8

/* more cost more than they find */
#define FUZZ_PIECES     256


typedef struct {
    ngx_str_t  text;
    size_t     size;
} fuzz_output_t;


static void
fuzz_write(fuzz_output_t *out, const void *data, size_t len)
{
    if (out->size - out->text.len < len) {
        out->size = 2 * (out->text.len + len);
        out->text.data = realloc(out->text.data, out->size);
        fuzz_assert(out->text.data);
    }

    if (len) {
        memcpy(out->text.data + out->text.len, data, len);
    }

    out->text.len += len;
}


static void
fuzz_write_number(fuzz_output_t *out, char type, long long n)
{
    char  line[32];

    fuzz_write(out, line, sprintf(line, "%c%lld\r\n", type, n));
}


/* errors have a meaning; what is the caller's stays within the reply */

static void
fuzz_error(ngx_str_t *error)
{
    ngx_str_t                  str;
    ngx_queues_redis_result_e  rc;

    str = *error;
    rc = ngx_queues_redis_error_parse(&str);

    fuzz_assert(rc >= NGX_QUEUES_REDIS_APP && rc <= NGX_QUEUES_REDIS_OTHER);
    fuzz_assert(*ngx_queues_redis_result_text(rc));

    fuzz_assert(str.data + str.len == error->data + error->len);
    fuzz_assert(str.len <= error->len);
    fuzz_assert(rc == NGX_QUEUES_REDIS_APP || str.len == error->len);

    (void) ngx_queues_redis_error_moved_on(rc);
    (void) ngx_queues_redis_error_no_function(error);
    (void) ngx_queues_redis_error_loaded(error);
    (void) ngx_queues_redis_error_unknown(error);
}


static void
fuzz_write_reply(fuzz_output_t *out, ngx_queues_redis_reply_t *reply,
    ngx_uint_t nested)
{
    char        type;
    ngx_uint_t  i;

    fuzz_assert((reply->pool == NULL) == nested);

    switch (reply->type) {

    case NGX_QUEUES_REDIS_NIL:
        fuzz_write_number(out, '$', -1);
        break;

    case NGX_QUEUES_REDIS_INTEGER:
        fuzz_write_number(out, ':', reply->integer);
        break;

    case NGX_QUEUES_REDIS_STRING:
        fuzz_assert(reply->str.data);
        fuzz_write_number(out, '$', reply->str.len);
        fuzz_write(out, reply->str.data, reply->str.len);
        fuzz_write(out, "\r\n", 2);
        break;

    case NGX_QUEUES_REDIS_STATUS:
    case NGX_QUEUES_REDIS_ERROR:
        fuzz_assert(reply->str.data);
        type = (reply->type == NGX_QUEUES_REDIS_ERROR) ? '-' : '+';
        fuzz_write(out, &type, 1);
        fuzz_write(out, reply->str.data, reply->str.len);
        fuzz_write(out, "\r\n", 2);

        fuzz_error(&reply->str);
        break;

    default:
        fuzz_assert(reply->type == NGX_QUEUES_REDIS_ARRAY && !nested);
        fuzz_assert(reply->nelts <= NGX_QUEUES_REDIS_MAX_ELTS);
        fuzz_write_number(out, '*', reply->nelts);

        for (i = 0; i < reply->nelts; i++) {
            fuzz_write_reply(out, &reply->elts[i], 1);
        }
    }
}


/* all replies of the bytes, which come in pieces of that size */

static ngx_int_t
fuzz_read(ngx_str_t *bytes, size_t piece, fuzz_output_t *out)
{
    size_t                      n, pos;
    ngx_int_t                   rc;
    ngx_str_t                   copy;
    ngx_queues_redis_reply_t   *reply;
    ngx_queues_redis_reader_t  *reader;

    out->text.data = NULL;
    out->text.len = 0;
    out->size = 0;

    reader = ngx_queues_redis_reader_create(&fuzz_log);
    fuzz_assert(reader);

    rc = NGX_AGAIN;

    for (pos = 0; pos < bytes->len && rc == NGX_AGAIN; pos += n) {
        n = ngx_min(piece, bytes->len - pos);
        copy = fuzz_copy(bytes->data + pos, n);

        fuzz_assert(ngx_queues_redis_reader_feed(reader, copy.data, n)
                    == NGX_OK);
        free(copy.data);

        for ( ;; ) {
            rc = ngx_queues_redis_reader_next(reader, &reply);

            if (rc != NGX_OK) {
                break;
            }

            fuzz_write_reply(out, reply, 0);
            ngx_queues_redis_reply_free(reply);
        }
    }

    fuzz_assert(rc == NGX_AGAIN || rc == NGX_ERROR);
    fuzz_assert(rc == NGX_AGAIN || *ngx_queues_redis_reader_error(reader));

    ngx_queues_redis_reader_free(reader);
    fuzz_assert(fuzz_pools == 0);

    return rc;
}


static void
fuzz_no_memory(ngx_str_t *bytes, fuzz_output_t *whole, ngx_int_t whole_rc)
{
    ngx_int_t      rc;
    ngx_uint_t     failed;
    fuzz_output_t  other;

    fuzz_shortage = 1 + bytes->len % FUZZ_SHORTAGES;

    rc = fuzz_read(bytes, bytes->len, &other);

    failed = (fuzz_shortage == 0);
    fuzz_shortage = 0;

    fuzz_assert(rc == (failed ? NGX_ERROR : whole_rc));
    fuzz_assert(other.text.len <= whole->text.len);

    whole->text.len = ngx_min(whole->text.len, other.text.len);
    fuzz_assert(fuzz_same(&other.text, &whole->text));

    free(other.text.data);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_int_t      rc;
    ngx_str_t      bytes;
    ngx_uint_t     i;
    fuzz_output_t  whole, other;

    static const size_t  pieces[] = { 1, 7, 63 };

    bytes.data = (u_char *) data;
    bytes.len = size;

    rc = fuzz_read(&bytes, size, &whole);

    for (i = 0; i < 3; i++) {
        if (pieces[i] < size && size / pieces[i] < FUZZ_PIECES) {
            fuzz_assert(fuzz_read(&bytes, pieces[i], &other) == rc);
            fuzz_assert(fuzz_same(&whole.text, &other.text));
            free(other.text.data);
        }
    }

    fuzz_assert(fuzz_read(&whole.text, ngx_max(whole.text.len, 1), &other)
                == NGX_AGAIN);
    fuzz_assert(fuzz_same(&whole.text, &other.text));

    free(other.text.data);

    fuzz_no_memory(&bytes, &whole, rc);

    free(whole.text.data);

    return 0;
}
