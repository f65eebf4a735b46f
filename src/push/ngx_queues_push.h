
/*
 * Push: the worker receives messages for subscriptions and delivers them to
 * their endpoints.  docs/design.md, "Push", is the way in.
 */

#ifndef _NGX_QUEUES_PUSH_H_INCLUDED_
#define _NGX_QUEUES_PUSH_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "../conf/ngx_queues_conf.h"


#pragma GCC visibility push(hidden)


/*
 * The worker's part in the deliveries of all nodes; init comes before the links'
 * and does nothing where queues_push is off.  exit comes after theirs, as that
 * answers what is open.
 */
ngx_int_t ngx_queues_push_init(ngx_cycle_t *cycle,
    ngx_queues_conf_main_t *qmcf);
void ngx_queues_push_exit(ngx_cycle_t *cycle);

/*
 * Hints, as src/redis gives them: something of a queue, or of a subscription
 * (its id after an "s"), has changed; an empty id: anything of the project may
 * have.
 */
void ngx_queues_push_wake(ngx_str_t *root, ngx_str_t *id);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_PUSH_H_INCLUDED_ */
