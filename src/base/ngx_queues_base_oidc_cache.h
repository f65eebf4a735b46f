
/*
 * Tokens that were signed and are good for a while yet.
 */

#ifndef _NGX_QUEUES_BASE_OIDC_CACHE_H_INCLUDED_
#define _NGX_QUEUES_BASE_OIDC_CACHE_H_INCLUDED_


#include "ngx_queues_base_oidc.h"


/* tokens that are remembered, the last used ones */
#define NGX_QUEUES_BASE_OIDC_TOKENS  1000

/* seconds that a token has to be good for when it is given out */
#define NGX_QUEUES_BASE_OIDC_LEFT    300


typedef struct ngx_queues_base_oidc_cache_s  ngx_queues_base_oidc_cache_t;


#pragma GCC visibility push(hidden)


/*
 * Nothing is remembered yet; NULL when out of memory.  The keys and the
 * issuer's text live as long as the cache.
 */
ngx_queues_base_oidc_cache_t *ngx_queues_base_oidc_cache_create(
    ngx_queues_base_oidc_keys_t *keys, ngx_str_t *issuer);

/* cache may be NULL. */
void ngx_queues_base_oidc_cache_destroy(ngx_queues_base_oidc_cache_t *cache);

/*
 * A token, which stays where it is until the next call.  NGX_ERROR where none
 * could be made.
 */
ngx_int_t ngx_queues_base_oidc_cache_token(
    ngx_queues_base_oidc_cache_t *cache, ngx_str_t *email,
    ngx_str_t *audience, int64_t now, ngx_str_t *token);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_OIDC_CACHE_H_INCLUDED_ */
