
/*
 * Secrets that are not needed any more, and what work on them leaves behind.
 */

#ifndef _NGX_QUEUES_BASE_WIPE_H_INCLUDED_
#define _NGX_QUEUES_BASE_WIPE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#pragma GCC visibility push(hidden)


/* Wipes a secret, and its traces. */
void ngx_queues_base_wipe(void *p, size_t len);

/*
 * Wipes what is left of secrets in registers, and on the stack below the
 * caller: due before the process may wait.
 */
void ngx_queues_base_wipe_traces(void);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_WIPE_H_INCLUDED_ */
