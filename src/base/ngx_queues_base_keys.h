
/*
 * Lines of the API keys file, SHA256-HEX PRINCIPAL PERMISSIONS RESOURCES, and
 * what grants the same elsewhere.
 */

#ifndef _NGX_QUEUES_BASE_KEYS_H_INCLUDED_
#define _NGX_QUEUES_BASE_KEYS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#define NGX_QUEUES_BASE_KEYS_HASH_SIZE  32


/* lists of globs */

typedef struct {
    ngx_str_t                     permissions;
    ngx_str_t                     resources;
} ngx_queues_base_keys_grant_t;


typedef struct {
    u_char                        hash[NGX_QUEUES_BASE_KEYS_HASH_SIZE];
    ngx_str_t                     principal;
    ngx_queues_base_keys_grant_t  grant;
} ngx_queues_base_keys_line_t;


#pragma GCC visibility push(hidden)


/*
 * Parses one line without its LF (a CR at the end is fine).  NGX_OK with the
 * key, whose texts point into the line; NGX_DECLINED for a blank line or one
 * that starts with '#'; NGX_ERROR with *error, a constant sentence without a
 * full stop that says what the line must be.
 */
ngx_int_t ngx_queues_base_keys_parse(ngx_str_t *line,
    ngx_queues_base_keys_line_t *key, const char **error);

/*
 * Parses the same two lists as a role has them, PERMISSIONS@RESOURCES.
 * NGX_ERROR for any other text.
 */
ngx_int_t ngx_queues_base_keys_grant(ngx_str_t *text,
    ngx_queues_base_keys_grant_t *grant);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_KEYS_H_INCLUDED_ */
