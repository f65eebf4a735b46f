
/*
 * The layout of the zone.  For src/stat only.
 */

#ifndef _NGX_QUEUES_STAT_ZONE_H_INCLUDED_
#define _NGX_QUEUES_STAT_ZONE_H_INCLUDED_


#include "ngx_queues_stat_metrics.h"
#include "../base/ngx_queues_base_siphash.h"


#define NGX_QUEUES_STAT_ADDRESS_SIZE  16
#define NGX_QUEUES_STAT_SETS          2048
#define NGX_QUEUES_STAT_WAYS          4

#define NGX_QUEUES_STAT_RATE_WAYS     8

#define NGX_QUEUES_STAT_COPIES        8    /* of counters, at most */
#define NGX_QUEUES_STAT_PER_WORKER    8192 /* bytes of the zone for each slot */


/* invalid handles of one address */

typedef struct {
    u_char                        address[NGX_QUEUES_STAT_ADDRESS_SIZE];
    ngx_atomic_t                  since;      /* ms of the monotonic clock,
                                                 which a host's processes
                                                 share */
    ngx_atomic_t                  count;      /* 0: free */
} ngx_queues_stat_invalid_t;


/*
 * A bucket of tokens, or, where the key is odd, another spelling of a queue:
 * then value is the key of the bucket.
 */

typedef struct {
    uint64_t                      key;        /* 0: free */
    uint64_t                      value;      /* ns of the monotonic clock:
                                                 when the bucket is full */
} ngx_queues_stat_slot_t;


typedef struct {
    ngx_queues_stat_invalid_t     invalid[NGX_QUEUES_STAT_SETS]
                                         [NGX_QUEUES_STAT_WAYS];

    u_char                        secret[NGX_QUEUES_BASE_SIPHASH_KEY];
    ngx_queues_stat_slot_t       *slots;      /* sets of RATE_WAYS */
    ngx_uint_t                    nsets;

    time_t                        since;      /* is counted */

    u_char                       *copies;     /* of counters */
    ngx_uint_t                    ncopies;
    size_t                        copy_size;

    ngx_queues_stat_worker_t     *workers;
    ngx_uint_t                    nworkers;
} ngx_queues_stat_zone_t;


#endif /* _NGX_QUEUES_STAT_ZONE_H_INCLUDED_ */
