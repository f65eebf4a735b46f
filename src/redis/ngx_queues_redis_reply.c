
#include <ngx_config.h>
#include <ngx_core.h>

#include <hiredis/read.h>

#include "ngx_queues_redis_reply.h"


/* both are far above what our functions return and Redis accepts from us */
#define NGX_QUEUES_REDIS_MAX_ELTS   262144
#define NGX_QUEUES_REDIS_MAX_BYTES  (64 * 1024 * 1024)


static ngx_queues_redis_reply_t *ngx_queues_redis_reply_place(
    const redisReadTask *task, ngx_queues_redis_type_e type, size_t size);
static ngx_pool_t *ngx_queues_redis_reply_pool(const redisReadTask *task);
static void *ngx_queues_redis_reply_string(const redisReadTask *task,
    char *data, size_t len);
static void *ngx_queues_redis_reply_array(const redisReadTask *task,
    int nelts);
static void *ngx_queues_redis_reply_integer(const redisReadTask *task,
    long long value);
static void *ngx_queues_redis_reply_nil(const redisReadTask *task);
static void ngx_queues_redis_reply_destroy(void *data);


static redisReplyObjectFunctions  ngx_queues_redis_reply_functions = {
    ngx_queues_redis_reply_string,
    ngx_queues_redis_reply_array,
    ngx_queues_redis_reply_integer,
    ngx_queues_redis_reply_nil,
    ngx_queues_redis_reply_destroy
};


ngx_queues_redis_reader_t *
ngx_queues_redis_reader_create(ngx_log_t *log)
{
    redisReader  *reader;

    reader = redisReaderCreateWithFunctions(&ngx_queues_redis_reply_functions);

    if (reader == NULL) {
        ngx_log_error(NGX_LOG_EMERG, log, 0,
                      "redisReaderCreateWithFunctions() failed");
        return NULL;
    }

    return reader;
}


void
ngx_queues_redis_reader_free(ngx_queues_redis_reader_t *reader)
{
    redisReaderFree(reader);
}


ngx_int_t
ngx_queues_redis_reader_feed(ngx_queues_redis_reader_t *reader, u_char *data,
    size_t len)
{
    if (redisReaderFeed(reader, (char *) data, len) != REDIS_OK) {
        return NGX_ERROR;
    }

    /* what is complete is gone from the buffer, so this is one long string */

    if (reader->len > NGX_QUEUES_REDIS_MAX_BYTES) {
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_redis_reader_next(ngx_queues_redis_reader_t *reader,
    ngx_queues_redis_reply_t **reply)
{
    void  *data;

    if (redisReaderGetReply(reader, &data) != REDIS_OK) {
        return NGX_ERROR;
    }

    *reply = data;

    return data ? NGX_OK : NGX_AGAIN;
}


const char *
ngx_queues_redis_reader_error(ngx_queues_redis_reader_t *reader)
{
    switch (reader->err) {

    case 0:
        return "a string is too long";

    case REDIS_ERR_OOM:

        /* what our functions do not want to build looks like this as well */

        return "nested, too many elements or no memory";

    default:
        return reader->errstr;
    }
}


void
ngx_queues_redis_reply_free(ngx_queues_redis_reply_t *reply)
{
    ngx_destroy_pool(reply->pool);
}


static void
ngx_queues_redis_reply_destroy(void *data)
{
    ngx_queues_redis_reply_free(data);
}


/*
 * hiredis builds from the outside in: the outermost object comes first and
 * brings the pool, elements are placed in the array that it has allocated.
 */

static ngx_queues_redis_reply_t *
ngx_queues_redis_reply_place(const redisReadTask *task,
    ngx_queues_redis_type_e type, size_t size)
{
    ngx_pool_t                *pool;
    ngx_queues_redis_reply_t  *reply;

    if (task->parent) {
        reply = task->parent->obj;
        reply = &reply->elts[task->idx];
        reply->type = type;

        return reply;
    }

    size += sizeof(ngx_pool_t) + sizeof(ngx_queues_redis_reply_t)
            + NGX_ALIGNMENT;

    /* nginx hands out what is past the end of a pool that is not aligned */

    size = ngx_min(ngx_align(size, NGX_POOL_ALIGNMENT), ngx_pagesize);

    pool = ngx_create_pool(size, ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    reply = ngx_pcalloc(pool, sizeof(ngx_queues_redis_reply_t));
    if (reply == NULL) {
        ngx_destroy_pool(pool);
        return NULL;
    }

    reply->type = type;
    reply->pool = pool;

    return reply;
}


static ngx_pool_t *
ngx_queues_redis_reply_pool(const redisReadTask *task)
{
    ngx_queues_redis_reply_t  *outer;

    outer = task->parent->obj;

    return outer->pool;
}


static void *
ngx_queues_redis_reply_string(const redisReadTask *task, char *data,
    size_t len)
{
    ngx_pool_t                *pool;
    ngx_queues_redis_type_e    type;
    ngx_queues_redis_reply_t  *reply;

    type = (task->type == REDIS_REPLY_ERROR) ? NGX_QUEUES_REDIS_ERROR
           : (task->type == REDIS_REPLY_STATUS) ? NGX_QUEUES_REDIS_STATUS
           : NGX_QUEUES_REDIS_STRING;

    reply = ngx_queues_redis_reply_place(task, type, len);
    if (reply == NULL) {
        return NULL;
    }

    pool = task->parent ? ngx_queues_redis_reply_pool(task) : reply->pool;

    /* a string without bytes has a pointer too: callers may copy it */

    reply->str.data = ngx_pnalloc(pool, len ? len : 1);
    if (reply->str.data == NULL) {
        goto failed;
    }

    ngx_memcpy(reply->str.data, data, len);
    reply->str.len = len;

    return reply;

failed:

    /* not yet known to hiredis if it is the outermost one */

    if (task->parent == NULL) {
        ngx_destroy_pool(pool);
    }

    return NULL;
}


static void *
ngx_queues_redis_reply_array(const redisReadTask *task, int nelts)
{
    size_t                     size;
    ngx_queues_redis_reply_t  *reply;

    /* our functions return flat arrays only: anything else is refused */

    if (task->parent || nelts < 0 || nelts > NGX_QUEUES_REDIS_MAX_ELTS) {
        return NULL;
    }

    size = nelts * sizeof(ngx_queues_redis_reply_t);

    /* most elements are short: room for them saves further blocks */

    reply = ngx_queues_redis_reply_place(task, NGX_QUEUES_REDIS_ARRAY,
                                         size + nelts * 32);
    if (reply == NULL) {
        return NULL;
    }

    if (nelts) {
        reply->elts = ngx_pcalloc(reply->pool, size);
        if (reply->elts == NULL) {
            ngx_destroy_pool(reply->pool);
            return NULL;
        }
    }

    reply->nelts = nelts;

    return reply;
}


static void *
ngx_queues_redis_reply_integer(const redisReadTask *task, long long value)
{
    ngx_queues_redis_reply_t  *reply;

    reply = ngx_queues_redis_reply_place(task, NGX_QUEUES_REDIS_INTEGER, 0);
    if (reply == NULL) {
        return NULL;
    }

    reply->integer = value;

    return reply;
}


static void *
ngx_queues_redis_reply_nil(const redisReadTask *task)
{
    return ngx_queues_redis_reply_place(task, NGX_QUEUES_REDIS_NIL, 0);
}
