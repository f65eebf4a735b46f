
/*
 * What the files of ngx_queues_base_jwt.h share: algorithms, keys, and the
 * members of a JSON object.
 */

#ifndef _NGX_QUEUES_BASE_JWT_PARTS_H_INCLUDED_
#define _NGX_QUEUES_BASE_JWT_PARTS_H_INCLUDED_


#include "ngx_queues_base_json.h"
#include "ngx_queues_base_jwt.h"

#include <openssl/evp.h>


/* members of one object, and bytes of a signature: RSA of 8192 bits */
#define NGX_QUEUES_BASE_JWT_MEMBERS     128
#define NGX_QUEUES_BASE_JWT_SIGNATURE   1024

#define NGX_QUEUES_BASE_JWT_SECRET_MIN  32
#define NGX_QUEUES_BASE_JWT_RSA_MIN     2048      /* bits */
#define NGX_QUEUES_BASE_JWT_RSA_MAX     8192


typedef enum {
    NGX_QUEUES_BASE_JWT_HMAC = 0,
    NGX_QUEUES_BASE_JWT_RSA,
    NGX_QUEUES_BASE_JWT_EC,
    NGX_QUEUES_BASE_JWT_ED
} ngx_queues_base_jwt_kind_e;


typedef struct {
    ngx_str_t                          name;
    ngx_queues_base_jwt_kind_e         kind;
    const EVP_MD                    *(*md)(void);  /* NULL: of the algorithm */
} ngx_queues_base_jwt_alg_t;


/* a key is of one kind: no other kind's algorithm ever sees it */

typedef struct {
    ngx_queues_base_jwt_kind_e         kind;
    const ngx_queues_base_jwt_alg_t   *alg;        /* NULL: all of its kind */
    ngx_str_t                          kid;        /* raw JSON; data is NULL
                                                      where it has none */
    ngx_str_t                          secret;     /* HMAC */
    EVP_PKEY                          *pkey;       /* all others */
} ngx_queues_base_jwt_key_t;


struct ngx_queues_base_jwt_keys_s {
    ngx_uint_t                         nkeys;
    ngx_queues_base_jwt_key_t          keys[NGX_QUEUES_BASE_JWT_KEYS];
};


typedef struct {
    ngx_str_t                          name;       /* raw JSON */
    ngx_queues_base_json_value_t       value;
} ngx_queues_base_jwt_member_t;


typedef struct {
    ngx_uint_t                         n;
    ngx_queues_base_jwt_member_t       list[NGX_QUEUES_BASE_JWT_MEMBERS];
} ngx_queues_base_jwt_object_t;


#pragma GCC visibility push(hidden)


/* The algorithm of a raw JSON name; NULL for "none" and all that are not
   supported. */
const ngx_queues_base_jwt_alg_t *ngx_queues_base_jwt_alg(ngx_str_t *name);

/* NGX_OK if the signature of the text is the key's, who is of alg's kind. */
ngx_int_t ngx_queues_base_jwt_alg_verify(
    const ngx_queues_base_jwt_alg_t *alg, ngx_queues_base_jwt_key_t *key,
    ngx_str_t *text, ngx_str_t *signature);


/* An empty key at the end of keys; NULL with *error where there is no room. */
ngx_queues_base_jwt_key_t *ngx_queues_base_jwt_key_push(
    ngx_queues_base_jwt_keys_t *keys, const char **error);

/* Takes a public key, and frees it where it is refused. */
ngx_int_t ngx_queues_base_jwt_key_set_public(ngx_queues_base_jwt_key_t *key,
    EVP_PKEY *pkey, const char **error);

/* Copies a secret of enough bytes. */
ngx_int_t ngx_queues_base_jwt_key_set_secret(ngx_queues_base_jwt_key_t *key,
    ngx_str_t *secret, const char **error);

/* The keys of a JWKS; as ngx_queues_base_jwt_keys_add(). */
ngx_int_t ngx_queues_base_jwt_jwks(ngx_queues_base_jwt_keys_t *keys,
    ngx_str_t *text, const char **error, ngx_uint_t *number);


/*
 * The members of a checked object.  NGX_ERROR with *error for a name that is
 * there twice and for too many.
 */
ngx_int_t ngx_queues_base_jwt_members(ngx_queues_base_json_value_t *value,
    ngx_queues_base_jwt_object_t *object, const char **error);

/* The value of a raw name; NULL where there is none. */
ngx_queues_base_json_value_t *ngx_queues_base_jwt_member(
    ngx_queues_base_jwt_object_t *object, ngx_str_t *name);

/*
 * What a token says at the time now, of its checked payload.  Texts are
 * decoded to room, which has twice as many bytes as the payload.
 */
ngx_int_t ngx_queues_base_jwt_claims(ngx_queues_base_json_value_t *payload,
    const ngx_queues_base_jwt_rules_t *rules, int64_t now, u_char *room,
    ngx_queues_base_jwt_claims_t *claims, const char **error);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_JWT_PARTS_H_INCLUDED_ */
