
/*
 * The tokens that pushes carry: JSON Web Tokens signed with the first key of
 * queues_oidc_key, and what a verifier reads to find that key.
 */

#ifndef _NGX_QUEUES_AUTH_OIDC_H_INCLUDED_
#define _NGX_QUEUES_AUTH_OIDC_H_INCLUDED_


#include "../conf/ngx_queues_conf.h"


#pragma GCC visibility push(hidden)


/*
 * Loads what queues_oidc_key names into qmcf and writes the documents of
 * queues_oidc_discovery.  NGX_ERROR after an [emerg].
 */
ngx_int_t ngx_queues_auth_oidc_load(ngx_conf_t *cf,
    ngx_queues_conf_main_t *qmcf);

/* 1 if there is a key: without one no token can be had. */
ngx_uint_t ngx_queues_auth_oidc_ready(ngx_queues_conf_main_t *qmcf);

/*
 * A token for an account's email and an audience, any UTF-8, that is good for 5
 * minutes from now at least.  now is ngx_time() of this node, not the time of
 * Redis: endpoints compare with clocks of their own.  What costs a signature is
 * remembered.  The token is in the cache: it must be copied before the next
 * call.  NGX_DECLINED without a key, NGX_ERROR where no token could be made,
 * which is logged.
 */
ngx_int_t ngx_queues_auth_oidc_token(ngx_queues_conf_main_t *qmcf,
    ngx_str_t *email, ngx_str_t *audience, time_t now, ngx_log_t *log,
    ngx_str_t *token);

/* The texts of the two documents, which live as long as qmcf. */
ngx_str_t *ngx_queues_auth_oidc_configuration(ngx_queues_conf_main_t *qmcf);
ngx_str_t *ngx_queues_auth_oidc_jwks(ngx_queues_conf_main_t *qmcf);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_AUTH_OIDC_H_INCLUDED_ */
