
/*
 * Hints over the subscriber link.
 */

#ifndef _NGX_QUEUES_REDIS_WAKE_H_INCLUDED_
#define _NGX_QUEUES_REDIS_WAKE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_redis_link.h"


#pragma GCC visibility push(hidden)

ngx_int_t ngx_queues_redis_wake_init(ngx_cycle_t *cycle,
    ngx_queues_conf_redis_t *conf, ngx_queues_redis_link_t *commands,
    ngx_queues_redis_wake_pt handler);
void ngx_queues_redis_wake_exit(void);

/* what it is connected to is not the primary any more */
void ngx_queues_redis_wake_drop(const char *reason);

/* the link of commands is ready: hints are to come from where they go */
void ngx_queues_redis_wake_follow(ngx_queues_redis_link_t *commands);

#pragma GCC visibility pop


#endif /* _NGX_QUEUES_REDIS_WAKE_H_INCLUDED_ */
