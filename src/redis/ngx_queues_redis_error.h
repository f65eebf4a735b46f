
/*
 * Error replies of Redis and what they mean.
 */

#ifndef _NGX_QUEUES_REDIS_ERROR_H_INCLUDED_
#define _NGX_QUEUES_REDIS_ERROR_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_redis.h"


#pragma GCC visibility push(hidden)

/* Where the error is our function's own, str is left with "CODE text". */
ngx_queues_redis_result_e ngx_queues_redis_error_parse(ngx_str_t *str);

/* This Redis is not the primary, or not any more: look for it again. */
ngx_uint_t ngx_queues_redis_error_moved_on(ngx_queues_redis_result_e rc);

ngx_uint_t ngx_queues_redis_error_no_function(ngx_str_t *str);
ngx_uint_t ngx_queues_redis_error_loaded(ngx_str_t *str);
ngx_uint_t ngx_queues_redis_error_unknown(ngx_str_t *str);

#pragma GCC visibility pop


#endif /* _NGX_QUEUES_REDIS_ERROR_H_INCLUDED_ */
