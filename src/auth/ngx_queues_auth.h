
/*
 * Who is asking, and may he: API keys, JSON Web Tokens and their permissions.
 */

#ifndef _NGX_QUEUES_AUTH_H_INCLUDED_
#define _NGX_QUEUES_AUTH_H_INCLUDED_


#include "../conf/ngx_queues_conf.h"
#include "../base/ngx_queues_base_glob.h"
#include "../base/ngx_queues_base_keys.h"


/* he may do what any one of his grants says */

typedef struct {
    ngx_str_t                      name;       /* empty: a token without one */
    ngx_uint_t                     words;      /* of a token's roles */
    ngx_uint_t                     ngrants;
    ngx_queues_base_keys_grant_t  *grants;
} ngx_queues_auth_principal_t;


#pragma GCC visibility push(hidden)


/*
 * Loads what queues_api_keys and queues_jwt_key name into qmcf.  NGX_ERROR
 * after an [emerg].
 */
ngx_int_t ngx_queues_auth_load(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf);

/*
 * The principal of an "Authorization: Bearer" header, which lives as long as
 * the pool.  loose: "Bearer" may be missing, and of a token its "exp" and
 * "sub".  NGX_DECLINED where there is no credential or none that is known,
 * NGX_ABORT for a token that is refused, with a constant text of why, as
 * ngx_queues_base_jwt_verify() has them; NGX_ERROR without memory.
 */
ngx_int_t ngx_queues_auth_bearer(ngx_queues_conf_main_t *qmcf,
    ngx_http_request_t *r, ngx_pool_t *pool, ngx_uint_t loose,
    ngx_queues_auth_principal_t **principal, const char **refused);

/*
 * What the principal may do with the permission under a prefix such as
 * "org/project/": everything, something or nothing.
 */
ngx_queues_base_glob_scope_e ngx_queues_auth_scope(
    ngx_queues_auth_principal_t *principal, ngx_str_t *permission,
    ngx_str_t *prefix);

/*
 * 1 if a word among the roles grants the permission: they are those of the
 * Queen API, for all of the project that a location is of.
 */
ngx_uint_t ngx_queues_auth_word(ngx_queues_auth_principal_t *principal,
    ngx_str_t *permission);

/* 1 if the principal has the permission on a resource, "org/project/queue" */
ngx_uint_t ngx_queues_auth_permits(ngx_queues_auth_principal_t *principal,
    ngx_str_t *permission, ngx_str_t *resource);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_AUTH_H_INCLUDED_ */
