
/*
 * JSON Web Tokens that the keys of queues_jwt_key have signed.
 */

#ifndef _NGX_QUEUES_AUTH_JWT_H_INCLUDED_
#define _NGX_QUEUES_AUTH_JWT_H_INCLUDED_


#include "ngx_queues_auth.h"


typedef struct ngx_queues_auth_jwt_s  ngx_queues_auth_jwt_t;


#pragma GCC visibility push(hidden)


/* Reads the files; NULL after an [emerg]. */
ngx_queues_auth_jwt_t *ngx_queues_auth_jwt_load(ngx_conf_t *cf,
    ngx_queues_conf_main_t *qmcf);

/*
 * The principal of a token, which lives as long as the pool; hash is the
 * token's SHA-256.  NGX_ABORT for one that is refused, and why goes to the
 * log, too; NGX_ERROR without memory.
 */
ngx_int_t ngx_queues_auth_jwt_check(ngx_queues_auth_jwt_t *jwt,
    ngx_str_t *token, u_char *hash, ngx_uint_t loose, ngx_pool_t *pool,
    ngx_log_t *log, ngx_queues_auth_principal_t **principal,
    const char **refused);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_AUTH_JWT_H_INCLUDED_ */
