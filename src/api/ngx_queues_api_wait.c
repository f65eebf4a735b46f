
/*
 * What calls that wait for messages share.
 */

#include "ngx_queues_api.h"


/* ms between looks without hints, and as much again at random */
#define NGX_QUEUES_API_LOOK  400


/*
 * Once the project's channel is joined, a hint for all of it finds the
 * operation parked; while it is not, because the link is away or Redis refuses
 * it, who waits looks now and then.
 */

int64_t
ngx_queues_api_next(ngx_queues_api_t *api, int64_t next)
{
    int64_t  look;

    if (ngx_queues_store_watch(&api->root) == NGX_OK) {
        return next;
    }

    look = NGX_QUEUES_API_LOOK + ngx_random() % NGX_QUEUES_API_LOOK;

    return next < 0 ? look : ngx_min(next, look);
}


ngx_uint_t
ngx_queues_api_may_be_empty(ngx_queues_api_t *api)
{
    if (ngx_queues_store_ready() || ngx_exiting) {
        return 1;
    }

    ngx_queues_api_error(api, NGX_QUEUES_API_UNAVAILABLE, NULL,
                         "The store is unavailable, try again.");

    return 0;
}
