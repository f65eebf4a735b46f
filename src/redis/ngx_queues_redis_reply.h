
/*
 * The only place that knows hiredis: bytes from a link to replies.
 */

#ifndef _NGX_QUEUES_REDIS_REPLY_H_INCLUDED_
#define _NGX_QUEUES_REDIS_REPLY_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_redis.h"


typedef struct redisReader  ngx_queues_redis_reader_t;


#pragma GCC visibility push(hidden)

ngx_queues_redis_reader_t *ngx_queues_redis_reader_create(ngx_log_t *log);
void ngx_queues_redis_reader_free(ngx_queues_redis_reader_t *reader);

ngx_int_t ngx_queues_redis_reader_feed(ngx_queues_redis_reader_t *reader,
    u_char *data, size_t len);

/* NGX_OK and a reply, NGX_AGAIN: more bytes are needed, NGX_ERROR */
ngx_int_t ngx_queues_redis_reader_next(ngx_queues_redis_reader_t *reader,
    ngx_queues_redis_reply_t **reply);

const char *ngx_queues_redis_reader_error(ngx_queues_redis_reader_t *reader);

#pragma GCC visibility pop


#endif /* _NGX_QUEUES_REDIS_REPLY_H_INCLUDED_ */
