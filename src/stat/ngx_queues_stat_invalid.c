
#include "ngx_queues_stat_zone.h"


#define NGX_QUEUES_STAT_INVALID_MAX  100
#define NGX_QUEUES_STAT_MINUTE       60000


static ngx_int_t ngx_queues_stat_address(struct sockaddr *sockaddr,
    u_char *address);
static ngx_queues_stat_invalid_t *ngx_queues_stat_set(
    ngx_queues_stat_zone_t *z, u_char *address);
static ngx_queues_stat_invalid_t *ngx_queues_stat_find(
    ngx_queues_stat_invalid_t *set, u_char *address);
static ngx_queues_stat_invalid_t *ngx_queues_stat_oldest(
    ngx_queues_stat_invalid_t *set);
static ngx_msec_int_t ngx_queues_stat_left(ngx_queues_stat_invalid_t *slot);


/*
 * Slots are fixed and a set has few of them: a worker that dies while it holds
 * one leaves nothing half linked.  An address that is crowded out of its set
 * starts anew, which only a flood of addresses does.
 */

ngx_uint_t
ngx_queues_stat_invalid_wait(ngx_queues_conf_main_t *qmcf,
    struct sockaddr *sockaddr)
{
    u_char                      address[NGX_QUEUES_STAT_ADDRESS_SIZE];
    ngx_msec_int_t              left;
    ngx_queues_stat_invalid_t  *slot;

    if (ngx_queues_stat_address(sockaddr, address) != NGX_OK) {
        return 0;
    }

    /* without the lock: at worst a slot that is just changing is misread */

    slot = ngx_queues_stat_find(ngx_queues_stat_set(qmcf->zone, address),
                                address);

    if (slot == NULL || slot->count <= NGX_QUEUES_STAT_INVALID_MAX) {
        return 0;
    }

    left = ngx_queues_stat_left(slot);

    return left > 0 ? (left + 999) / 1000 : 0;
}


void
ngx_queues_stat_invalid_add(ngx_queues_conf_main_t *qmcf,
    struct sockaddr *sockaddr, ngx_uint_t n)
{
    u_char                      address[NGX_QUEUES_STAT_ADDRESS_SIZE];
    ngx_queues_stat_invalid_t  *set, *slot;

    if (ngx_queues_stat_address(sockaddr, address) != NGX_OK) {
        return;
    }

    /* the pool's mutex is freed by nginx where its holder dies */

    ngx_shmtx_lock(&qmcf->zone_pool->mutex);

    set = ngx_queues_stat_set(qmcf->zone, address);
    slot = ngx_queues_stat_find(set, address);

    if (slot == NULL) {
        slot = ngx_queues_stat_oldest(set);
        slot->count = 0;
        ngx_memcpy(slot->address, address, NGX_QUEUES_STAT_ADDRESS_SIZE);
    }

    if (slot->count == 0 || ngx_queues_stat_left(slot) <= 0) {
        slot->since = ngx_current_msec;
        slot->count = 0;
    }

    slot->count += n;

    ngx_shmtx_unlock(&qmcf->zone_pool->mutex);
}


/*
 * IPv4 as mapped.  The clients of a Unix socket are not told apart, so none of
 * them is limited: NGX_DECLINED.
 */

static ngx_int_t
ngx_queues_stat_address(struct sockaddr *sockaddr, u_char *address)
{
    struct sockaddr_in   *sin;
#if (NGX_HAVE_INET6)
    struct sockaddr_in6  *sin6;
#endif

    ngx_memzero(address, NGX_QUEUES_STAT_ADDRESS_SIZE);

    switch (sockaddr->sa_family) {

#if (NGX_HAVE_INET6)
    case AF_INET6:
        sin6 = (struct sockaddr_in6 *) sockaddr;
        ngx_memcpy(address, &sin6->sin6_addr, NGX_QUEUES_STAT_ADDRESS_SIZE);
        return NGX_OK;
#endif

    case AF_INET:
        sin = (struct sockaddr_in *) sockaddr;
        address[10] = 0xff;
        address[11] = 0xff;
        ngx_memcpy(&address[12], &sin->sin_addr, 4);
        return NGX_OK;

    default:
        return NGX_DECLINED;
    }
}


static ngx_queues_stat_invalid_t *
ngx_queues_stat_set(ngx_queues_stat_zone_t *z, u_char *address)
{
    uint64_t  hash;

    hash = ngx_queues_base_siphash(z->secret, address,
                                   NGX_QUEUES_STAT_ADDRESS_SIZE);

    return z->invalid[hash % NGX_QUEUES_STAT_SETS];
}


static ngx_queues_stat_invalid_t *
ngx_queues_stat_find(ngx_queues_stat_invalid_t *set, u_char *address)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_QUEUES_STAT_WAYS; i++) {
        if (set[i].count
            && ngx_memcmp(set[i].address, address,
                          NGX_QUEUES_STAT_ADDRESS_SIZE)
               == 0)
        {
            return &set[i];
        }
    }

    return NULL;
}


static ngx_queues_stat_invalid_t *
ngx_queues_stat_oldest(ngx_queues_stat_invalid_t *set)
{
    ngx_uint_t                  i;
    ngx_queues_stat_invalid_t  *slot;

    slot = set;

    for (i = 0; i < NGX_QUEUES_STAT_WAYS; i++) {

        if (set[i].count == 0) {
            return &set[i];
        }

        if ((ngx_msec_int_t) (set[i].since - slot->since) < 0) {
            slot = &set[i];
        }
    }

    return slot;
}


/* of the slot's minute, in ms; another worker's clock may be a bit ahead */

static ngx_msec_int_t
ngx_queues_stat_left(ngx_queues_stat_invalid_t *slot)
{
    return (ngx_msec_int_t) ((ngx_msec_t) slot->since + NGX_QUEUES_STAT_MINUTE
                             - ngx_current_msec);
}
