
#include "ngx_queues_net.h"


ngx_err_t
ngx_queues_net_connect_error(ngx_connection_t *c)
{
    int        err;
    socklen_t  len;

#if (NGX_HAVE_KQUEUE)

    if (ngx_event_flags & NGX_USE_KQUEUE_EVENT) {
        if (c->write->pending_eof) {
            return c->write->kq_errno;
        }

        return c->read->pending_eof ? c->read->kq_errno : 0;
    }

#endif

    err = 0;
    len = sizeof(int);

    /* Solaris returns -1 and sets errno where BSDs and Linux set err */

    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, (void *) &err, &len) == -1) {
        err = ngx_socket_errno;
    }

    return err;
}


void
ngx_queues_net_tls_close(ngx_connection_t *c)
{
    /* "close notify" is sent only, as nginx does with its upstreams */

    c->ssl->no_wait_shutdown = 1;

    if (ngx_ssl_shutdown(c) == NGX_AGAIN) {

        /* the socket is full, and closing must not wait: free c->ssl */

        c->timedout = 1;
        (void) ngx_ssl_shutdown(c);
    }
}


ngx_int_t
ngx_queues_net_copy_addr(ngx_pool_t *pool, ngx_addr_t *addr,
    ngx_resolver_addr_t *from, in_port_t port)
{
    u_char  *p;

    addr->sockaddr = ngx_palloc(pool, from->socklen);
    if (addr->sockaddr == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(addr->sockaddr, from->sockaddr, from->socklen);
    addr->socklen = from->socklen;

    ngx_inet_set_port(addr->sockaddr, port);

    p = ngx_pnalloc(pool, NGX_SOCKADDR_STRLEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    addr->name.len = ngx_sock_ntop(addr->sockaddr, addr->socklen, p,
                                   NGX_SOCKADDR_STRLEN, 1);
    addr->name.data = p;

    return NGX_OK;
}


ngx_connection_t *
ngx_queues_net_watcher(ngx_cycle_t *cycle, ngx_event_handler_pt handler)
{
    ngx_connection_t  *c, *saved;

    /* a connection without a socket: descriptor 0 keeps its own */

    saved = cycle->files ? cycle->files[0] : NULL;

    c = ngx_get_connection(0, cycle->log);

    if (cycle->files) {
        cycle->files[0] = saved;
    }

    if (c == NULL) {
        return NULL;
    }

    c->fd = (ngx_socket_t) -2;
    c->idle = 1;
    c->read->handler = handler;
    c->read->log = cycle->log;

    return c;
}


void
ngx_queues_net_watcher_close(ngx_connection_t *c)
{
    c->idle = 0;
    c->fd = (ngx_socket_t) -1;
}
