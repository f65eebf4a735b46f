
#include "ngx_queues_stat_zone.h"


void
ngx_queues_stat_count(ngx_queues_conf_main_t *qmcf,
    ngx_queues_stat_call_e call, ngx_uint_t status, ngx_uint_t messages)
{
    ngx_uint_t                 class;
    ngx_queues_stat_counts_t  *counts;

    counts = ngx_queues_stat_counts(qmcf);

    if (status < NGX_HTTP_BAD_REQUEST) {
        class = 0;

    } else {
        class = (status < NGX_HTTP_INTERNAL_SERVER_ERROR) ? 1 : 2;
    }

    (void) ngx_atomic_fetch_add(&counts->requests[call][class], 1);

    if (messages) {
        (void) ngx_atomic_fetch_add(&counts->messages[call], messages);
    }
}


ngx_queues_stat_counts_t *
ngx_queues_stat_counts(ngx_queues_conf_main_t *qmcf)
{
    ngx_queues_stat_zone_t  *z;

    z = qmcf->zone;

    return &z->counts;
}
