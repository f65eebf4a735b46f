
#include "ngx_queues_http_line.h"


static void ngx_queues_http_drain_handler(ngx_event_t *ev);


/*
 * nginx calls the read handlers of idle connections when a worker is to exit:
 * a connection without a socket is how we learn of it.
 */

static ngx_connection_t   *ngx_queues_http_watcher;


ngx_int_t
ngx_queues_http_wait_init(ngx_cycle_t *cycle)
{
    ngx_connection_t  *c, *saved;

    ngx_queues_http_lines_init();

    /* a connection without a socket: descriptor 0 keeps its own */

    saved = cycle->files ? cycle->files[0] : NULL;

    c = ngx_get_connection(0, cycle->log);

    if (cycle->files) {
        cycle->files[0] = saved;
    }

    if (c == NULL) {
        return NGX_ERROR;
    }

    c->fd = (ngx_socket_t) -2;
    c->idle = 1;
    c->read->handler = ngx_queues_http_drain_handler;
    c->read->log = cycle->log;

    ngx_queues_http_watcher = c;

    return NGX_OK;
}


void
ngx_queues_http_wait_exit(ngx_cycle_t *cycle)
{
    if (ngx_queues_http_watcher) {
        ngx_queues_http_watcher->idle = 0;
        ngx_queues_http_watcher->fd = (ngx_socket_t) -1;
        ngx_queues_http_watcher = NULL;
    }
}


static void
ngx_queues_http_drain_handler(ngx_event_t *ev)
{
    ngx_log_debug0(NGX_LOG_DEBUG_HTTP, ev->log, 0, "queues waits drained");

    ngx_queues_http_lines_end();
}
