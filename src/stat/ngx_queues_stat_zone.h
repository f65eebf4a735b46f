
/*
 * The layout of the zone.  For src/stat only.
 */

#ifndef _NGX_QUEUES_STAT_ZONE_H_INCLUDED_
#define _NGX_QUEUES_STAT_ZONE_H_INCLUDED_


#include "ngx_queues_stat.h"


/* to be increased with every change of what follows */
#define NGX_QUEUES_STAT_LAYOUT        1

#define NGX_QUEUES_STAT_ADDRESS_SIZE  16
#define NGX_QUEUES_STAT_SETS          2048
#define NGX_QUEUES_STAT_WAYS          4


/* invalid handles of one address */

typedef struct {
    u_char                        address[NGX_QUEUES_STAT_ADDRESS_SIZE];
    ngx_atomic_t                  since;      /* ms of the monotonic clock,
                                                 which a host's processes
                                                 share */
    ngx_atomic_t                  count;      /* 0: free */
} ngx_queues_stat_invalid_t;


typedef struct {
    ngx_uint_t                    layout;
    ngx_queues_stat_invalid_t     invalid[NGX_QUEUES_STAT_SETS]
                                         [NGX_QUEUES_STAT_WAYS];
} ngx_queues_stat_zone_t;


#endif /* _NGX_QUEUES_STAT_ZONE_H_INCLUDED_ */
