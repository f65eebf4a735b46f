
/*
 * What stands for an id of a lane in the index of ids in Redis, as
 * docs/redis.md says: the begin of a SHA-1, as Lua has to make the same and
 * has no other hash.
 */

#ifndef _NGX_QUEUES_BASE_FINGERPRINT_H_INCLUDED_
#define _NGX_QUEUES_BASE_FINGERPRINT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#define NGX_QUEUES_BASE_FINGERPRINT  14


#pragma GCC visibility push(hidden)

/* Writes NGX_QUEUES_BASE_FINGERPRINT bytes. */
ngx_int_t ngx_queues_base_fingerprint(u_char *p, ngx_str_t *lane,
    ngx_str_t *id);

#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_FINGERPRINT_H_INCLUDED_ */
