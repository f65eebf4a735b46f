
/*
 * SipHash-2-4: a hash of 64 bits with a secret key, so that nobody can choose
 * texts that meet in one slot of a table.
 */

#ifndef _NGX_QUEUES_BASE_SIPHASH_H_INCLUDED_
#define _NGX_QUEUES_BASE_SIPHASH_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#define NGX_QUEUES_BASE_SIPHASH_KEY  16


#pragma GCC visibility push(hidden)

/* key has NGX_QUEUES_BASE_SIPHASH_KEY bytes. */
uint64_t ngx_queues_base_siphash(const u_char *key, const u_char *data,
    size_t len);

#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_SIPHASH_H_INCLUDED_ */
