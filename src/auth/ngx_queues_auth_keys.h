
/*
 * The keys file, queues_api_keys.
 */

#ifndef _NGX_QUEUES_AUTH_KEYS_H_INCLUDED_
#define _NGX_QUEUES_AUTH_KEYS_H_INCLUDED_


#include "ngx_queues_auth.h"


typedef struct ngx_queues_auth_keys_s  ngx_queues_auth_keys_t;


#pragma GCC visibility push(hidden)


/* Reads the file; NULL after an [emerg]. */
ngx_queues_auth_keys_t *ngx_queues_auth_keys_load(ngx_conf_t *cf,
    ngx_queues_conf_main_t *qmcf);

/* The principal whose key has this SHA-256, or NULL. */
ngx_queues_auth_principal_t *ngx_queues_auth_keys_find(
    ngx_queues_auth_keys_t *keys, u_char *hash);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_AUTH_KEYS_H_INCLUDED_ */
