
#include "ngx_queues_auth_jwt.h"
#include "../base/ngx_queues_base_jwt.h"
#include "../base/ngx_queues_base_wipe.h"


#define NGX_QUEUES_AUTH_JWT_FILE_MAX   (256 * 1024)

/* tokens that are remembered, in sets of a few */
#define NGX_QUEUES_AUTH_JWT_SETS       256
#define NGX_QUEUES_AUTH_JWT_WAYS       4


/*
 * A token that was verified, in one allocation with its grants and texts.
 * The cache holds it, and so does each request that it came with.
 */

typedef struct {
    ngx_uint_t                     refs;
    u_char                         hash[NGX_QUEUES_BASE_KEYS_HASH_SIZE];
    int64_t                        starts;
    int64_t                        ends;
    ngx_uint_t                     strict;     /* good for all rules */
    ngx_queues_auth_principal_t    principal;
} ngx_queues_auth_seen_t;


typedef struct {
    ngx_queues_auth_seen_t        *seen;       /* NULL: free */
    uint64_t                       used;       /* the turn of its last use */
} ngx_queues_auth_slot_t;


/*
 * To verify a signature may cost as much as to answer a request, to hash the
 * token next to nothing.  Each worker remembers on its own, in a copy of what
 * the configuration has made: a reload begins anew.
 */

struct ngx_queues_auth_jwt_s {
    ngx_queues_base_jwt_keys_t    *keys;
    ngx_queues_base_jwt_rules_t    rules;

    uint64_t                       turn;
    ngx_queues_auth_slot_t         slots[NGX_QUEUES_AUTH_JWT_SETS]
                                        [NGX_QUEUES_AUTH_JWT_WAYS];

    /* of the token that is being verified */
    ngx_queues_base_jwt_claims_t   claims;
    u_char                         room[ngx_queues_base_jwt_room(
                                            NGX_QUEUES_BASE_JWT_MAX)];
};


static ngx_int_t ngx_queues_auth_jwt_file(ngx_conf_t *cf,
    ngx_queues_auth_jwt_t *jwt, ngx_str_t *file);
static void ngx_queues_auth_jwt_cleanup(void *data);
static ngx_queues_auth_slot_t *ngx_queues_auth_jwt_find(
    ngx_queues_auth_jwt_t *jwt, u_char *hash, int64_t now);
static ngx_queues_auth_slot_t *ngx_queues_auth_jwt_victim(
    ngx_queues_auth_jwt_t *jwt, u_char *hash, int64_t now);
static ngx_uint_t ngx_queues_auth_jwt_good(ngx_queues_auth_seen_t *seen,
    int64_t now);
static ngx_queues_auth_seen_t *ngx_queues_auth_jwt_remember(
    ngx_queues_base_jwt_claims_t *claims, u_char *hash, ngx_log_t *log);
static u_char *ngx_queues_auth_jwt_copy(u_char *p, ngx_str_t *dst,
    ngx_str_t *src);
static void ngx_queues_auth_jwt_release(void *data);


ngx_queues_auth_jwt_t *
ngx_queues_auth_jwt_load(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    ngx_str_t              *file;
    ngx_uint_t              i;
    ngx_pool_cleanup_t     *cln;
    ngx_queues_auth_jwt_t  *jwt;

    jwt = ngx_pcalloc(cf->pool, sizeof(ngx_queues_auth_jwt_t));
    if (jwt == NULL) {
        return NULL;
    }

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NULL;
    }

    cln->handler = ngx_queues_auth_jwt_cleanup;
    cln->data = jwt;

    jwt->rules.issuer = qmcf->jwt.issuer;
    jwt->rules.audience = qmcf->jwt.audience;
    jwt->rules.roles = qmcf->jwt.roles_claim;
    jwt->rules.leeway = qmcf->jwt.leeway;

    jwt->keys = ngx_queues_base_jwt_keys_create();
    if (jwt->keys == NULL) {
        return NULL;
    }

    file = qmcf->jwt.key_files->elts;

    for (i = 0; i < qmcf->jwt.key_files->nelts; i++) {
        if (ngx_queues_auth_jwt_file(cf, jwt, &file[i]) != NGX_OK) {
            return NULL;
        }
    }

    return jwt;
}


static ngx_int_t
ngx_queues_auth_jwt_file(ngx_conf_t *cf, ngx_queues_auth_jwt_t *jwt,
    ngx_str_t *file)
{
    ngx_int_t    rc;
    ngx_str_t    text;
    ngx_uint_t   number;
    const char  *error;

    if (ngx_queues_conf_read_file(cf, "queues_jwt_key", file,
                                  NGX_QUEUES_AUTH_JWT_FILE_MAX, &text)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_queues_base_jwt_keys_add(jwt->keys, &text, &error, &number);

    ngx_queues_base_wipe(text.data, text.len);

    if (rc == NGX_OK) {
        return NGX_OK;
    }

    if (number) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "key %ui of \"queues_jwt_key %V\" %s", number, file,
                      error);

    } else {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"queues_jwt_key %V\" %s", file, error);
    }

    return NGX_ERROR;
}


static void
ngx_queues_auth_jwt_cleanup(void *data)
{
    ngx_queues_auth_jwt_t *jwt = data;

    ngx_uint_t  i, n;

    ngx_queues_base_jwt_keys_destroy(jwt->keys);

    for (i = 0; i < NGX_QUEUES_AUTH_JWT_SETS; i++) {
        for (n = 0; n < NGX_QUEUES_AUTH_JWT_WAYS; n++) {
            if (jwt->slots[i][n].seen) {
                ngx_queues_auth_jwt_release(jwt->slots[i][n].seen);
            }
        }
    }
}


ngx_int_t
ngx_queues_auth_jwt_check(ngx_queues_auth_jwt_t *jwt, ngx_str_t *token,
    u_char *hash, ngx_uint_t loose, ngx_pool_t *pool, ngx_log_t *log,
    ngx_queues_auth_principal_t **principal, const char **refused)
{
    int64_t                  now;
    ngx_pool_cleanup_t      *cln;
    ngx_queues_auth_seen_t  *seen;
    ngx_queues_auth_slot_t  *slot;

    now = ngx_time();

    cln = ngx_pool_cleanup_add(pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    slot = ngx_queues_auth_jwt_find(jwt, hash, now);

    if (slot == NULL || !(loose || slot->seen->strict)) {
        jwt->rules.loose = loose;

        if (ngx_queues_base_jwt_verify(jwt->keys, &jwt->rules, token, now,
                                       jwt->room, &jwt->claims, refused)
            != NGX_OK)
        {
            ngx_log_error(NGX_LOG_INFO, log, 0,
                          "a token was refused: it %s", *refused);
            return NGX_ABORT;
        }

        seen = ngx_queues_auth_jwt_remember(&jwt->claims, hash, log);
        if (seen == NULL) {
            return NGX_ERROR;
        }

        slot = ngx_queues_auth_jwt_victim(jwt, hash, now);

        if (slot->seen) {
            ngx_queues_auth_jwt_release(slot->seen);
        }

        slot->seen = seen;
    }

    slot->used = ++jwt->turn;

    seen = slot->seen;
    seen->refs++;

    cln->handler = ngx_queues_auth_jwt_release;
    cln->data = seen;

    *principal = &seen->principal;

    return NGX_OK;
}


/*
 * The slot of a token that is remembered and still good, or NULL.  What is
 * compared is the hash of what the client sent: how long it takes tells
 * nothing of other tokens.
 */

static ngx_queues_auth_slot_t *
ngx_queues_auth_jwt_find(ngx_queues_auth_jwt_t *jwt, u_char *hash, int64_t now)
{
    ngx_uint_t               i;
    ngx_queues_auth_slot_t  *slot;

    for (i = 0; i < NGX_QUEUES_AUTH_JWT_WAYS; i++) {
        slot = &jwt->slots[hash[0] % NGX_QUEUES_AUTH_JWT_SETS][i];

        if (slot->seen
            && ngx_memcmp(slot->seen->hash, hash,
                          NGX_QUEUES_BASE_KEYS_HASH_SIZE)
               == 0)
        {
            return ngx_queues_auth_jwt_good(slot->seen, now) ? slot : NULL;
        }
    }

    return NULL;
}


/*
 * The slot for a token that is not remembered: one that is free or over, or
 * else the least recently used of its set.
 */

static ngx_queues_auth_slot_t *
ngx_queues_auth_jwt_victim(ngx_queues_auth_jwt_t *jwt, u_char *hash,
    int64_t now)
{
    ngx_uint_t               i;
    ngx_queues_auth_slot_t  *slot, *oldest;

    oldest = NULL;

    for (i = 0; i < NGX_QUEUES_AUTH_JWT_WAYS; i++) {
        slot = &jwt->slots[hash[0] % NGX_QUEUES_AUTH_JWT_SETS][i];

        if (slot->seen == NULL || !ngx_queues_auth_jwt_good(slot->seen, now)) {
            return slot;
        }

        if (oldest == NULL || slot->used < oldest->used) {
            oldest = slot;
        }
    }

    return oldest;
}


static ngx_uint_t
ngx_queues_auth_jwt_good(ngx_queues_auth_seen_t *seen, int64_t now)
{
    return now >= seen->starts && now < seen->ends;
}


static ngx_queues_auth_seen_t *
ngx_queues_auth_jwt_remember(ngx_queues_base_jwt_claims_t *claims,
    u_char *hash, ngx_log_t *log)
{
    size_t                         size;
    u_char                        *p;
    ngx_uint_t                     i;
    ngx_queues_auth_seen_t        *seen;
    ngx_queues_base_keys_grant_t  *grant;

    size = sizeof(ngx_queues_auth_seen_t) + claims->subject.len
           + claims->ngrants * sizeof(ngx_queues_base_keys_grant_t);

    for (i = 0; i < claims->ngrants; i++) {
        grant = &claims->grants[i];
        size += grant->permissions.len + grant->resources.len;
    }

    seen = ngx_alloc(size, log);
    if (seen == NULL) {
        return NULL;
    }

    seen->refs = 1;
    seen->starts = claims->starts;
    seen->ends = claims->ends;
    seen->strict = claims->strict;
    seen->principal.words = claims->words;
    seen->principal.ngrants = claims->ngrants;
    seen->principal.grants = (ngx_queues_base_keys_grant_t *) (seen + 1);

    ngx_memcpy(seen->hash, hash, NGX_QUEUES_BASE_KEYS_HASH_SIZE);

    p = (u_char *) (seen->principal.grants + claims->ngrants);
    p = ngx_queues_auth_jwt_copy(p, &seen->principal.name, &claims->subject);

    for (i = 0; i < claims->ngrants; i++) {
        grant = &seen->principal.grants[i];

        p = ngx_queues_auth_jwt_copy(p, &grant->permissions,
                                     &claims->grants[i].permissions);
        p = ngx_queues_auth_jwt_copy(p, &grant->resources,
                                     &claims->grants[i].resources);
    }

    return seen;
}


static u_char *
ngx_queues_auth_jwt_copy(u_char *p, ngx_str_t *dst, ngx_str_t *src)
{
    dst->data = p;
    dst->len = src->len;

    return ngx_cpymem(p, src->data, src->len);
}


static void
ngx_queues_auth_jwt_release(void *data)
{
    ngx_queues_auth_seen_t *seen = data;

    if (--seen->refs == 0) {
        ngx_free(seen);
    }
}
