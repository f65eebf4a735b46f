
/*
 * Calls of functions over the command link.
 */

#ifndef _NGX_QUEUES_REDIS_CALLS_H_INCLUDED_
#define _NGX_QUEUES_REDIS_CALLS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_redis_link.h"


#pragma GCC visibility push(hidden)

/* _calls.c: start and outcome */
ngx_int_t ngx_queues_redis_calls_init(ngx_cycle_t *cycle,
    ngx_queues_conf_redis_t *conf);
void ngx_queues_redis_calls_exit(void);

/* the last of a command: it is freed, the reply becomes the caller's */
void ngx_queues_redis_calls_answer(ngx_queues_redis_command_t *cmd,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);

/* _deadline.c */
void ngx_queues_redis_deadline_init(ngx_queues_redis_link_t *l);
void ngx_queues_redis_deadline_exit(void);
void ngx_queues_redis_deadline_add(ngx_queues_redis_command_t *cmd);
void ngx_queues_redis_deadline_remove(ngx_queues_redis_command_t *cmd);

/* _library.c: NGX_OK when the command is sent again, after the library */
ngx_int_t ngx_queues_redis_library_missing(ngx_queues_redis_link_t *l,
    ngx_queues_redis_command_t *cmd);
/* what to answer where it is not, or did not help */
ngx_queues_redis_result_e ngx_queues_redis_library_result(
    ngx_queues_redis_command_t *cmd);

#pragma GCC visibility pop


#endif /* _NGX_QUEUES_REDIS_CALLS_H_INCLUDED_ */
