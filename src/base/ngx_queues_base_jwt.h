
/*
 * JSON Web Tokens (RFC 7519) in their compact form: keys, signatures and
 * claims.  No event and no request: a token's text and keys come in, claims
 * or the reason of a refusal go out.
 */

#ifndef _NGX_QUEUES_BASE_JWT_H_INCLUDED_
#define _NGX_QUEUES_BASE_JWT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_base_keys.h"


/* bytes of a token */
#define NGX_QUEUES_BASE_JWT_MAX         8192

/* keys in all, and of those the ones that one token may be tried with */
#define NGX_QUEUES_BASE_JWT_KEYS        64
#define NGX_QUEUES_BASE_JWT_TRIES       8

/* roles of one token that grant something */
#define NGX_QUEUES_BASE_JWT_GRANTS      64

/*
 * What a verification writes to, for a token of so many bytes: its payload,
 * and the texts of two claims, which may be the same one.
 */
#define ngx_queues_base_jwt_room(len)   (3 * (len))


/* bits of the roles that are a word alone */
#define NGX_QUEUES_BASE_JWT_ADMIN       0x0001
#define NGX_QUEUES_BASE_JWT_READ_WRITE  0x0002
#define NGX_QUEUES_BASE_JWT_READ_ONLY   0x0004
#define NGX_QUEUES_BASE_JWT_WRITE_ONLY  0x0008


typedef struct ngx_queues_base_jwt_keys_s  ngx_queues_base_jwt_keys_t;


/*
 * What a token must agree with.  The texts are JSON without quotes
 * (ngx_queues_base_json_escape), as they are compared with such.
 */

typedef struct {
    ngx_str_t                      issuer;     /* empty: any */
    ngx_str_t                      audience;   /* empty: a token with "aud" is
                                                  not for us */
    ngx_str_t                      roles;      /* the name of a claim, or a
                                                  path of them with dots */
    int64_t                        leeway;     /* seconds */
    ngx_uint_t                     loose;      /* "exp" and "sub" may be
                                                  missing */
} ngx_queues_base_jwt_rules_t;


typedef struct {
    ngx_str_t                      subject;    /* empty: by loose rules */
    int64_t                        starts;     /* good from here on */
    int64_t                        ends;       /* and no longer here, both
                                                  with the leeway */
    ngx_uint_t                     strict;     /* there are "exp", "sub" */
    ngx_uint_t                     words;      /* of the roles, and of a claim
                                                  "role" that is one */
    ngx_uint_t                     ngrants;
    ngx_queues_base_keys_grant_t   grants[NGX_QUEUES_BASE_JWT_GRANTS];
} ngx_queues_base_jwt_claims_t;


#pragma GCC visibility push(hidden)


/* NULL without memory. */
ngx_queues_base_jwt_keys_t *ngx_queues_base_jwt_keys_create(void);

/* Frees and wipes; NULL is fine. */
void ngx_queues_base_jwt_keys_destroy(ngx_queues_base_jwt_keys_t *keys);

/*
 * Adds all keys of a file, or none: those of a JWKS (its first character is
 * '{'), public keys in PEM ("-----BEGIN " is in it), or else a secret for HMAC,
 * one line of text.  The text may be wiped afterwards.  NGX_ERROR with *error,
 * a constant sentence without its subject, "has ..." or "is ...", and *number,
 * the key of the file that is meant, from 1, or 0 for the file.
 */
ngx_int_t ngx_queues_base_jwt_keys_add(ngx_queues_base_jwt_keys_t *keys,
    ngx_str_t *text, const char **error, ngx_uint_t *number);

/*
 * Verifies a token at the time now.  NGX_OK with claims whose texts are in
 * room, which has ngx_queues_base_jwt_room(token->len) bytes; NGX_ERROR with
 * *error, a constant sentence without its subject that tells nothing of the
 * token, "has ..." or "is ...".
 */
ngx_int_t ngx_queues_base_jwt_verify(ngx_queues_base_jwt_keys_t *keys,
    const ngx_queues_base_jwt_rules_t *rules, ngx_str_t *token, int64_t now,
    u_char *room, ngx_queues_base_jwt_claims_t *claims, const char **error);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_JWT_H_INCLUDED_ */
