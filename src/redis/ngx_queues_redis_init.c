
#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_redis_calls.h"
#include "ngx_queues_redis_wake.h"


ngx_int_t
ngx_queues_redis_init(ngx_cycle_t *cycle, ngx_queues_conf_redis_t *conf,
    ngx_queues_redis_wake_pt wake)
{
    if (ngx_queues_redis_calls_init(cycle, conf) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_queues_redis_wake_init(cycle, conf,
                                      ngx_queues_redis_calls_link(), wake);
}


void
ngx_queues_redis_exit(ngx_cycle_t *cycle)
{
    ngx_queues_redis_wake_exit();
    ngx_queues_redis_calls_exit();
}
