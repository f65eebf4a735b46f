
/*
 * OpenID Connect tokens (RFC 7519, RS256) as Google's Pub/Sub has them for
 * push, and the keys that sign them, as verifiers read them (RFC 7517).
 */

#ifndef _NGX_QUEUES_BASE_OIDC_H_INCLUDED_
#define _NGX_QUEUES_BASE_OIDC_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include <openssl/evp.h>


#define NGX_QUEUES_BASE_OIDC_KEYS       8
#define NGX_QUEUES_BASE_OIDC_KID_LEN    40
#define NGX_QUEUES_BASE_OIDC_SUB_LEN    21
#define NGX_QUEUES_BASE_OIDC_LIFETIME   3600      /* seconds, iat to exp */


typedef struct {
    EVP_PKEY                          *pkey;
    u_char                             kid[NGX_QUEUES_BASE_OIDC_KID_LEN];
    ngx_str_t                          jwk;       /* what is published */
} ngx_queues_base_oidc_key_t;


/* the first one signs */

typedef struct {
    ngx_uint_t                         nkeys;
    ngx_queues_base_oidc_key_t         keys[NGX_QUEUES_BASE_OIDC_KEYS];
} ngx_queues_base_oidc_keys_t;


typedef struct {
    ngx_str_t                          issuer;
    ngx_str_t                          email;
    ngx_str_t                          audience;
    int64_t                            now;       /* seconds since 1970 */
} ngx_queues_base_oidc_claims_t;


#pragma GCC visibility push(hidden)


/* No keys; NULL when out of memory. */
ngx_queues_base_oidc_keys_t *ngx_queues_base_oidc_keys_create(void);

/* Private parts are wiped.  keys may be NULL. */
void ngx_queues_base_oidc_keys_destroy(ngx_queues_base_oidc_keys_t *keys);

/*
 * Adds the private keys of a file, RSA in PEM.  The text may be wiped
 * afterwards.  NGX_ERROR with *error, a constant sentence without its subject,
 * "is ...", and *number, the key of the file that is meant, from 1, or 0 for
 * the file; keys are only good for destroy then.
 */
ngx_int_t ngx_queues_base_oidc_keys_add(ngx_queues_base_oidc_keys_t *keys,
    ngx_str_t *text, const char **error, ngx_uint_t *number);

/* The set of the public parts, {"keys":[...]}: its bytes, and its text. */
size_t ngx_queues_base_oidc_jwks_length(ngx_queues_base_oidc_keys_t *keys);
u_char *ngx_queues_base_oidc_jwks(u_char *p,
    ngx_queues_base_oidc_keys_t *keys);

/*
 * The account's id, NGX_QUEUES_BASE_OIDC_SUB_LEN digits: always the same of an
 * email, and for no two in practice.  Returns the end, NULL where OpenSSL has
 * failed.
 */
u_char *ngx_queues_base_oidc_subject(u_char *p, ngx_str_t *email);

/*
 * A signed token.  p has ngx_queues_base_oidc_room() bytes, which is more than
 * the token needs.  Returns the end, NULL where it could not be signed.
 */
size_t ngx_queues_base_oidc_room(ngx_queues_base_oidc_keys_t *keys,
    ngx_queues_base_oidc_claims_t *claims);
u_char *ngx_queues_base_oidc_token(u_char *p,
    ngx_queues_base_oidc_keys_t *keys, ngx_queues_base_oidc_claims_t *claims);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_OIDC_H_INCLUDED_ */
