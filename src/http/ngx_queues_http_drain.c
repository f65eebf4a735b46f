
#include "ngx_queues_http_line.h"
#include "../net/ngx_queues_net.h"


static void ngx_queues_http_drain_handler(ngx_event_t *ev);


static ngx_connection_t   *ngx_queues_http_watcher;


ngx_int_t
ngx_queues_http_wait_init(ngx_cycle_t *cycle)
{
    ngx_queues_http_lines_init();

    ngx_queues_http_watcher = ngx_queues_net_watcher(cycle,
                                                ngx_queues_http_drain_handler);

    return ngx_queues_http_watcher ? NGX_OK : NGX_ERROR;
}


void
ngx_queues_http_wait_exit(ngx_cycle_t *cycle)
{
    if (ngx_queues_http_watcher) {
        ngx_queues_net_watcher_close(ngx_queues_http_watcher);
        ngx_queues_http_watcher = NULL;
    }
}


static void
ngx_queues_http_drain_handler(ngx_event_t *ev)
{
    ngx_log_debug0(NGX_LOG_DEBUG_HTTP, ev->log, 0, "queues waits drained");

    ngx_queues_http_lines_end();
}
