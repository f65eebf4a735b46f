
#include "ngx_queues_base_oidc_cache.h"
#include "ngx_queues_base_siphash.h"

#include <openssl/err.h>
#include <openssl/rand.h>


#define NGX_QUEUES_BASE_OIDC_LISTS  1024


/* one allocation with its texts */

typedef struct {
    ngx_queue_t                    used;     /* the last used ones first */
    ngx_queue_t                    list;
    int64_t                        issued;
    ngx_str_t                      email;
    ngx_str_t                      audience;
    ngx_str_t                      token;
} ngx_queues_base_oidc_entry_t;


struct ngx_queues_base_oidc_cache_s {
    ngx_queues_base_oidc_keys_t   *keys;
    ngx_str_t                      issuer;

    /* who subscribes chooses the texts, but not which of them meet */
    u_char                         secret[NGX_QUEUES_BASE_SIPHASH_KEY];

    ngx_uint_t                     ntokens;
    ngx_queue_t                    used;
    ngx_queue_t                    lists[NGX_QUEUES_BASE_OIDC_LISTS];
};


static ngx_queue_t *ngx_queues_base_oidc_list(
    ngx_queues_base_oidc_cache_t *cache, ngx_str_t *email,
    ngx_str_t *audience);
static ngx_queues_base_oidc_entry_t *ngx_queues_base_oidc_find(
    ngx_queue_t *list, ngx_str_t *email, ngx_str_t *audience);
static ngx_uint_t ngx_queues_base_oidc_good(
    ngx_queues_base_oidc_entry_t *entry, int64_t now);
static ngx_queues_base_oidc_entry_t *ngx_queues_base_oidc_make(
    ngx_queues_base_oidc_cache_t *cache, ngx_str_t *email,
    ngx_str_t *audience, int64_t now);
static void ngx_queues_base_oidc_drop(ngx_queues_base_oidc_cache_t *cache,
    ngx_queues_base_oidc_entry_t *entry);
static void ngx_queues_base_oidc_drop_last(
    ngx_queues_base_oidc_cache_t *cache);


ngx_queues_base_oidc_cache_t *
ngx_queues_base_oidc_cache_create(ngx_queues_base_oidc_keys_t *keys,
    ngx_str_t *issuer)
{
    ngx_uint_t                     i;
    ngx_queues_base_oidc_cache_t  *cache;

    cache = calloc(1, sizeof(ngx_queues_base_oidc_cache_t));
    if (cache == NULL) {
        return NULL;
    }

    if (RAND_bytes(cache->secret, sizeof(cache->secret)) != 1) {
        ERR_clear_error();
        free(cache);
        return NULL;
    }

    cache->keys = keys;
    cache->issuer = *issuer;
    ngx_queue_init(&cache->used);

    for (i = 0; i < NGX_QUEUES_BASE_OIDC_LISTS; i++) {
        ngx_queue_init(&cache->lists[i]);
    }

    return cache;
}


void
ngx_queues_base_oidc_cache_destroy(ngx_queues_base_oidc_cache_t *cache)
{
    if (cache == NULL) {
        return;
    }

    while (!ngx_queue_empty(&cache->used)) {
        ngx_queues_base_oidc_drop_last(cache);
    }

    free(cache);
}


ngx_int_t
ngx_queues_base_oidc_cache_token(ngx_queues_base_oidc_cache_t *cache,
    ngx_str_t *email, ngx_str_t *audience, int64_t now, ngx_str_t *token)
{
    ngx_queue_t                   *list;
    ngx_queues_base_oidc_entry_t  *entry, *fresh;

    list = ngx_queues_base_oidc_list(cache, email, audience);
    entry = ngx_queues_base_oidc_find(list, email, audience);

    if (entry && ngx_queues_base_oidc_good(entry, now)) {
        ngx_queue_remove(&entry->used);
        ngx_queue_insert_head(&cache->used, &entry->used);

        *token = entry->token;

        return NGX_OK;
    }

    fresh = ngx_queues_base_oidc_make(cache, email, audience, now);
    if (fresh == NULL) {
        return NGX_ERROR;
    }

    if (entry) {
        ngx_queues_base_oidc_drop(cache, entry);

    } else if (cache->ntokens == NGX_QUEUES_BASE_OIDC_TOKENS) {
        ngx_queues_base_oidc_drop_last(cache);
    }

    cache->ntokens++;
    ngx_queue_insert_head(&cache->used, &fresh->used);
    ngx_queue_insert_head(list, &fresh->list);

    *token = fresh->token;

    return NGX_OK;
}


static ngx_queue_t *
ngx_queues_base_oidc_list(ngx_queues_base_oidc_cache_t *cache,
    ngx_str_t *email, ngx_str_t *audience)
{
    uint64_t  hash;

    hash = ngx_queues_base_siphash(cache->secret, email->data, email->len)
           + ngx_queues_base_siphash(cache->secret, audience->data,
                                     audience->len);

    return &cache->lists[hash % NGX_QUEUES_BASE_OIDC_LISTS];
}


static ngx_queues_base_oidc_entry_t *
ngx_queues_base_oidc_find(ngx_queue_t *list, ngx_str_t *email,
    ngx_str_t *audience)
{
    ngx_queue_t                   *q;
    ngx_queues_base_oidc_entry_t  *entry;

    for (q = ngx_queue_head(list);
         q != ngx_queue_sentinel(list);
         q = ngx_queue_next(q))
    {
        entry = ngx_queue_data(q, ngx_queues_base_oidc_entry_t, list);

        if (entry->email.len == email->len
            && entry->audience.len == audience->len
            && ngx_memcmp(entry->email.data, email->data, email->len) == 0
            && ngx_memcmp(entry->audience.data, audience->data, audience->len)
               == 0)
        {
            return entry;
        }
    }

    return NULL;
}


/* the clock may have been set back: nobody takes tokens of the future */

static ngx_uint_t
ngx_queues_base_oidc_good(ngx_queues_base_oidc_entry_t *entry, int64_t now)
{
    return now >= entry->issued
           && now + NGX_QUEUES_BASE_OIDC_LEFT
              <= entry->issued + NGX_QUEUES_BASE_OIDC_LIFETIME;
}


static ngx_queues_base_oidc_entry_t *
ngx_queues_base_oidc_make(ngx_queues_base_oidc_cache_t *cache,
    ngx_str_t *email, ngx_str_t *audience, int64_t now)
{
    u_char                         *p;
    ngx_queues_base_oidc_entry_t   *entry;
    ngx_queues_base_oidc_claims_t   claims;

    claims.issuer = cache->issuer;
    claims.email = *email;
    claims.audience = *audience;
    claims.now = now;

    entry = malloc(sizeof(ngx_queues_base_oidc_entry_t)
                   + email->len + audience->len
                   + ngx_queues_base_oidc_room(cache->keys, &claims));
    if (entry == NULL) {
        return NULL;
    }

    entry->issued = now;

    entry->email.data = (u_char *) (entry + 1);
    entry->email.len = email->len;
    p = ngx_cpymem(entry->email.data, email->data, email->len);

    entry->audience.data = p;
    entry->audience.len = audience->len;
    p = ngx_cpymem(p, audience->data, audience->len);

    entry->token.data = p;

    p = ngx_queues_base_oidc_token(p, cache->keys, &claims);
    if (p == NULL) {
        free(entry);
        return NULL;
    }

    entry->token.len = p - entry->token.data;

    return entry;
}


static void
ngx_queues_base_oidc_drop(ngx_queues_base_oidc_cache_t *cache,
    ngx_queues_base_oidc_entry_t *entry)
{
    ngx_queue_remove(&entry->used);
    ngx_queue_remove(&entry->list);
    cache->ntokens--;

    free(entry);
}


static void
ngx_queues_base_oidc_drop_last(ngx_queues_base_oidc_cache_t *cache)
{
    ngx_queue_t  *q;

    q = ngx_queue_last(&cache->used);

    ngx_queues_base_oidc_drop(cache,
        ngx_queue_data(q, ngx_queues_base_oidc_entry_t, used));
}
