
#include "ngx_queues_stat_zone.h"


#define NGX_QUEUES_STAT_MS       1000000ULL                   /* in ns */
#define NGX_QUEUES_STAT_SECOND   (1000 * NGX_QUEUES_STAT_MS)

/* no bucket takes longer to fill, see src/conf: the clock has wrapped */
#define NGX_QUEUES_STAT_LONGEST  (7 * 86400 * NGX_QUEUES_STAT_SECOND)

/* organization, project and name with what is between them */
#define NGX_QUEUES_STAT_TEXT     256

#define ngx_queues_stat_now()    (ngx_current_msec * NGX_QUEUES_STAT_MS)


static void ngx_queues_stat_charge(ngx_queues_stat_zone_t *z, uint64_t key,
    ngx_queues_conf_rate_t *rate, uint64_t now, uint64_t most);
static ngx_queues_stat_slot_t *ngx_queues_stat_rate_set(
    ngx_queues_stat_zone_t *z, uint64_t key);
static ngx_queues_stat_slot_t *ngx_queues_stat_rate_find(
    ngx_queues_stat_zone_t *z, uint64_t key);
static ngx_queues_stat_slot_t *ngx_queues_stat_rate_victim(
    ngx_queues_stat_zone_t *z, uint64_t key, uint64_t now);
static uint64_t ngx_queues_stat_ahead(ngx_queues_stat_slot_t *slot,
    uint64_t now);


/* 0 for a name that is too long for any queue */

uint64_t
ngx_queues_stat_rate_key(ngx_queues_conf_main_t *qmcf,
    ngx_queues_conf_rate_t *rate, ngx_queues_stat_rate_e kind,
    ngx_str_t *owner, ngx_str_t *name)
{
    u_char                  *p;
    u_char                   text[NGX_QUEUES_STAT_TEXT];
    uint64_t                 key;
    ngx_queues_stat_zone_t  *z;

    z = qmcf->zone;

    if (owner->len + name->len + 2 > NGX_QUEUES_STAT_TEXT) {
        return 0;
    }

    p = text;

    *p++ = (u_char) kind;
    p = ngx_cpymem(p, owner->data, owner->len);
    *p++ = '/';
    p = ngx_cpymem(p, name->data, name->len);

    key = ngx_queues_base_siphash(z->secret, text, p - text) ^ rate->salt;

    /* even: that of a bucket */

    key &= ~(uint64_t) 1;

    return key ? key : 2;
}


/*
 * Slots are fixed, and a bucket is one number: a worker that dies while it
 * holds the lock, which nginx then frees, leaves nothing that is wrong for
 * longer than a bucket takes to fill.
 */

ngx_uint_t
ngx_queues_stat_rate_take(ngx_queues_conf_main_t *qmcf,
    ngx_queues_stat_bucket_t *buckets, ngx_uint_t n, ngx_uint_t *which)
{
    uint64_t                  now, ahead, longest;
    ngx_uint_t                i;
    ngx_queues_stat_slot_t   *slot;
    ngx_queues_stat_zone_t   *z;
    ngx_queues_conf_rate_t   *rate;

    z = qmcf->zone;
    now = ngx_queues_stat_now();
    longest = 0;

    ngx_shmtx_lock(&qmcf->zone_pool->mutex);

    for (i = 0; i < n; i++) {
        slot = ngx_queues_stat_rate_find(z, buckets[i].key | 1);

        if (slot) {
            buckets[i].key = slot->value;
        }

        slot = ngx_queues_stat_rate_find(z, buckets[i].key);
        ahead = slot ? ngx_queues_stat_ahead(slot, now) : 0;
        rate = buckets[i].rate;

        if (ahead > rate->depth && ahead - rate->depth > longest) {
            longest = ahead - rate->depth;
            *which = i;
        }
    }

    if (longest == 0) {
        for (i = 0; i < n; i++) {
            rate = buckets[i].rate;

            ngx_queues_stat_charge(z, buckets[i].key, rate, now,
                                   rate->depth + rate->interval);
        }
    }

    ngx_shmtx_unlock(&qmcf->zone_pool->mutex);

    return (longest + NGX_QUEUES_STAT_SECOND - 1) / NGX_QUEUES_STAT_SECOND;
}


/*
 * What was let through by a name may be more than the queue had: it owes that,
 * as far as a second burst.
 */

void
ngx_queues_stat_rate_learn(ngx_queues_conf_main_t *qmcf,
    ngx_queues_conf_rate_t *rate, uint64_t spelling, uint64_t key)
{
    uint64_t                 now;
    ngx_queues_stat_slot_t  *slot;
    ngx_queues_stat_zone_t  *z;

    z = qmcf->zone;
    now = ngx_queues_stat_now();

    ngx_shmtx_lock(&qmcf->zone_pool->mutex);

    ngx_queues_stat_charge(z, key, rate, now,
                           2 * (rate->depth + rate->interval));

    slot = ngx_queues_stat_rate_find(z, spelling | 1);

    if (slot == NULL && spelling != key) {
        slot = ngx_queues_stat_rate_find(z, spelling);
    }

    if (slot == NULL) {
        slot = ngx_queues_stat_rate_victim(z, spelling, now);

        /* not in the place of a bucket that counts */

        if (!(slot->key & 1) && ngx_queues_stat_ahead(slot, now)) {
            slot = NULL;
        }
    }

    if (slot) {
        slot->key = spelling | 1;
        slot->value = key;
    }

    ngx_shmtx_unlock(&qmcf->zone_pool->mutex);
}


static void
ngx_queues_stat_charge(ngx_queues_stat_zone_t *z, uint64_t key,
    ngx_queues_conf_rate_t *rate, uint64_t now, uint64_t most)
{
    uint64_t                 ahead;
    ngx_queues_stat_slot_t  *slot;

    slot = ngx_queues_stat_rate_find(z, key);
    ahead = slot ? ngx_queues_stat_ahead(slot, now) : 0;

    if (slot == NULL) {
        slot = ngx_queues_stat_rate_victim(z, key, now);
    }

    slot->value = now + ngx_min(ahead + rate->interval, most);
    slot->key = key;
}


static ngx_queues_stat_slot_t *
ngx_queues_stat_rate_set(ngx_queues_stat_zone_t *z, uint64_t key)
{
    return z->slots + ((key >> 32) * z->nsets >> 32)
                      * NGX_QUEUES_STAT_RATE_WAYS;
}


static ngx_queues_stat_slot_t *
ngx_queues_stat_rate_find(ngx_queues_stat_zone_t *z, uint64_t key)
{
    ngx_uint_t               i;
    ngx_queues_stat_slot_t  *set;

    set = ngx_queues_stat_rate_set(z, key);

    for (i = 0; i < NGX_QUEUES_STAT_RATE_WAYS; i++) {
        if (set[i].key == key) {
            return &set[i];
        }
    }

    return NULL;
}


/*
 * A full bucket is as good as none, so nothing is lost with it.  Otherwise a
 * spelling, which is learned again by the next answer, and at last the
 * bucket that is the next to be full: what is really limited keeps its place,
 * however many others pass by, and what has none is not limited.
 */

static ngx_queues_stat_slot_t *
ngx_queues_stat_rate_victim(ngx_queues_stat_zone_t *z, uint64_t key,
    uint64_t now)
{
    uint64_t                 ahead, least;
    ngx_uint_t               i, first;
    ngx_queues_stat_slot_t  *set, *slot, *victim;

    set = ngx_queues_stat_rate_set(z, key);

    /* of spellings not always the same one */

    first = (ngx_uint_t) (key >> 1) + ngx_current_msec;

    victim = NULL;
    least = 0;

    for (i = 0; i < NGX_QUEUES_STAT_RATE_WAYS; i++) {
        slot = &set[(first + i) % NGX_QUEUES_STAT_RATE_WAYS];

        if (slot->key == 0) {
            return slot;
        }

        ahead = (slot->key & 1) ? 1 : ngx_queues_stat_ahead(slot, now);

        if (victim == NULL || ahead < least) {
            victim = slot;
            least = ahead;
        }
    }

    return victim;
}


/* Another worker's clock may be a bit ahead, that of 32 bits may have wrapped. */

static uint64_t
ngx_queues_stat_ahead(ngx_queues_stat_slot_t *slot, uint64_t now)
{
    uint64_t  ahead;

    ahead = slot->value - now;

    return ahead > NGX_QUEUES_STAT_LONGEST ? 0 : ahead;
}
