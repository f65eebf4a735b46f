
#include "ngx_queues_stat_zone.h"

#include <openssl/rand.h>


static ngx_int_t ngx_queues_stat_init_zone(ngx_shm_zone_t *zone, void *data);
static ngx_int_t ngx_queues_stat_init_slots(ngx_queues_stat_zone_t *z,
    ngx_shm_zone_t *zone);
static ngx_int_t ngx_queues_stat_init_metrics(ngx_queues_stat_zone_t *z,
    ngx_shm_zone_t *zone);


ngx_int_t
ngx_queues_stat_add_zone(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    ngx_shm_zone_t  *zone;

    zone = ngx_shared_memory_add(cf, &qmcf->zone_name, qmcf->zone_size,
                                 &ngx_queues_module);
    if (zone == NULL) {
        return NGX_ERROR;
    }

    zone->init = ngx_queues_stat_init_zone;
    zone->data = qmcf;

    return NGX_OK;
}


/*
 * A reload with the same size takes the contents over.  They have this layout:
 * nginx gives them to the module alone that laid them out, and a file that has
 * replaced it is loaded by a new master, which has memory of its own.
 */

static ngx_int_t
ngx_queues_stat_init_zone(ngx_shm_zone_t *zone, void *data)
{
    ngx_queues_conf_main_t *old = data;

    ngx_slab_pool_t         *shpool;
    ngx_queues_stat_zone_t  *z;
    ngx_queues_conf_main_t  *qmcf;

    qmcf = zone->data;
    shpool = (ngx_slab_pool_t *) zone->shm.addr;

    qmcf->zone_pool = shpool;

    if (old) {
        qmcf->zone = old->zone;
        return NGX_OK;
    }

    z = ngx_slab_calloc(shpool, sizeof(ngx_queues_stat_zone_t));

    if (z == NULL
        || ngx_queues_stat_init_slots(z, zone) != NGX_OK
        || ngx_queues_stat_init_metrics(z, zone) != NGX_OK)
    {
        ngx_log_error(NGX_LOG_EMERG, zone->shm.log, 0,
                      "\"queues_zone %V\" is too small: give it at least 1m",
                      &zone->shm.name);
        return NGX_ERROR;
    }

    z->since = ngx_time();

    qmcf->zone = z;

    return NGX_OK;
}


/* most of the zone, and the rest is enough for what else is in it */

static ngx_int_t
ngx_queues_stat_init_slots(ngx_queues_stat_zone_t *z, ngx_shm_zone_t *zone)
{
    size_t            set;
    ngx_slab_pool_t  *shpool;

    shpool = (ngx_slab_pool_t *) zone->shm.addr;

    set = NGX_QUEUES_STAT_RATE_WAYS * sizeof(ngx_queues_stat_slot_t);

    z->nsets = zone->shm.size / 8 * 5 / set;

    z->slots = ngx_slab_calloc(shpool, z->nsets * set);
    if (z->slots == NULL) {
        return NGX_ERROR;
    }

    return RAND_bytes(z->secret, NGX_QUEUES_BASE_SIPHASH_KEY) == 1
           ? NGX_OK : NGX_ERROR;
}


/* as many copies as there is room for: a node of one worker needs one */

static ngx_int_t
ngx_queues_stat_init_metrics(ngx_queues_stat_zone_t *z, ngx_shm_zone_t *zone)
{
    size_t                   size;
    ngx_uint_t               n;
    ngx_slab_pool_t         *shpool;
    ngx_queues_conf_main_t  *qmcf;

    qmcf = zone->data;
    shpool = (ngx_slab_pool_t *) zone->shm.addr;

    z->nworkers = zone->shm.size / NGX_QUEUES_STAT_PER_WORKER;

    z->workers = ngx_slab_calloc(shpool, z->nworkers
                                         * sizeof(ngx_queues_stat_worker_t));
    if (z->workers == NULL) {
        return NGX_ERROR;
    }

    size = offsetof(ngx_queues_stat_counters_t, operations)
           + qmcf->operations * sizeof(ngx_queues_stat_operation_t);

    z->copy_size = ngx_align(size, ngx_pagesize);

    n = shpool->pfree * ngx_pagesize / z->copy_size;

    z->ncopies = ngx_max(ngx_min(n, NGX_QUEUES_STAT_COPIES), 1);

    z->copies = ngx_slab_calloc(shpool, z->ncopies * z->copy_size);

    return z->copies ? NGX_OK : NGX_ERROR;
}
