
/*
 * Connections of nginx that no client has made: what those to Redis, those to
 * endpoints, and those without a socket have in common.
 */

#ifndef _NGX_QUEUES_NET_H_INCLUDED_
#define _NGX_QUEUES_NET_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>


#pragma GCC visibility push(hidden)


/* How a connect that was under way has ended; 0: it is connected. */
ngx_err_t ngx_queues_net_connect_error(ngx_connection_t *c);

/* Says goodbye by TLS, without waiting for anything. */
void ngx_queues_net_tls_close(ngx_connection_t *c);

/*
 * Copies a resolver's address, with a port, into the pool.  NGX_ERROR: out of
 * memory.
 */
ngx_int_t ngx_queues_net_copy_addr(ngx_pool_t *pool, ngx_addr_t *addr,
    ngx_resolver_addr_t *from, in_port_t port);

/*
 * A connection without a socket.  nginx calls the read handlers of idle
 * connections when a worker is to exit, and again with an error when it waits
 * no longer: so one learns of it.  NULL where there is none.
 */
ngx_connection_t *ngx_queues_net_watcher(ngx_cycle_t *cycle,
    ngx_event_handler_pt handler);
void ngx_queues_net_watcher_close(ngx_connection_t *c);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_NET_H_INCLUDED_ */
