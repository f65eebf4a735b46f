
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_event_connect.h>

#include "ngx_queues_redis_link.h"
#include "../net/ngx_queues_net.h"


static ngx_addr_t *ngx_queues_redis_link_addr(ngx_queues_redis_link_t *l);
static ngx_int_t ngx_queues_redis_link_prepare(ngx_queues_redis_link_t *l,
    ngx_connection_t *c);
static void ngx_queues_redis_link_connect_handler(ngx_event_t *ev);
static void ngx_queues_redis_link_connected(ngx_queues_redis_link_t *l);


static const char  ngx_queues_redis_link_refused[] = "cannot connect";


void
ngx_queues_redis_link_connect(ngx_queues_redis_link_t *l)
{
    ngx_int_t              rc;
    ngx_addr_t            *addr;
    ngx_uint_t             level;
    ngx_peer_connection_t  pc;

    if (l->peers.naddrs == 0) {
        ngx_queues_redis_link_lost(l, 0, "no address is known");
        return;
    }

    addr = ngx_queues_redis_link_addr(l);

    ngx_memzero(&pc, sizeof(ngx_peer_connection_t));

    pc.sockaddr = addr->sockaddr;
    pc.socklen = addr->socklen;
    pc.name = &addr->name;
    pc.get = ngx_event_get_peer;
    pc.log = &l->log;
    pc.log_error = NGX_ERROR_ERR;

    l->state = NGX_QUEUES_REDIS_LINK_CONNECTING;

    /* a socket that is not there yet is "crit" for nginx, but not for us */

    level = l->log.log_level;
    l->log.log_level = ngx_min(level, NGX_LOG_ALERT);

    rc = ngx_event_connect_peer(&pc);

    l->log.log_level = level;

    if (rc != NGX_OK && rc != NGX_AGAIN) {
        ngx_queues_redis_link_lost(l, ngx_socket_errno,
                                   ngx_queues_redis_link_refused);
        return;
    }

    l->connection = pc.connection;

    if (ngx_queues_redis_link_prepare(l, pc.connection) != NGX_OK) {
        ngx_queues_redis_link_lost(l, 0, "cannot prepare the connection");
        return;
    }

    ngx_add_timer(&l->limit, l->conf->connect_timeout);

    if (rc == NGX_OK) {
        ngx_queues_redis_link_connected(l);
    }
}


/* a name may have the addresses of the primary and of replicas */

static ngx_addr_t *
ngx_queues_redis_link_addr(ngx_queues_redis_link_t *l)
{
    ngx_uint_t                i;
    ngx_queues_redis_link_t  *leader;

    leader = l->leader;

    if (leader && leader->state == NGX_QUEUES_REDIS_LINK_READY
        && leader->drop == NULL)
    {
        for (i = 0; i < l->peers.naddrs; i++) {
            l->peers.current = i;

            if (ngx_queues_redis_link_beside(l, leader)) {
                return &l->peers.addrs[i];
            }
        }
    }

    l->peers.current = l->peers.turn % l->peers.naddrs;

    return &l->peers.addrs[l->peers.current];
}


ngx_uint_t
ngx_queues_redis_link_beside(ngx_queues_redis_link_t *l,
    ngx_queues_redis_link_t *other)
{
    ngx_addr_t  *a, *b;

    a = &l->peers.addrs[l->peers.current];
    b = &other->peers.addrs[other->peers.current];

    return ngx_cmp_sockaddr(a->sockaddr, a->socklen, b->sockaddr, b->socklen,
                            1)
           == NGX_OK;
}


static ngx_int_t
ngx_queues_redis_link_prepare(ngx_queues_redis_link_t *l, ngx_connection_t *c)
{
    c->data = l;
    c->log = &l->log;
    c->read->log = &l->log;
    c->write->log = &l->log;
    c->read->handler = ngx_queues_redis_link_connect_handler;
    c->write->handler = ngx_queues_redis_link_connect_handler;

    /* TLS keeps its buffers there */

    c->pool = ngx_create_pool(128, &l->log);
    if (c->pool == NULL) {
        return NGX_ERROR;
    }

    l->reader = ngx_queues_redis_reader_create(&l->log);
    if (l->reader == NULL) {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static void
ngx_queues_redis_link_connect_handler(ngx_event_t *ev)
{
    ngx_err_t                 err;
    ngx_connection_t         *c;
    ngx_queues_redis_link_t  *l;

    c = ev->data;
    l = c->data;

    if (c->close) {
        ngx_queues_redis_link_drop(l, "worker is shutting down");
        return;
    }

    err = ngx_queues_net_connect_error(c);

    if (err) {
        ngx_queues_redis_link_lost(l, err, ngx_queues_redis_link_refused);
        return;
    }

    ngx_queues_redis_link_connected(l);
}


static void
ngx_queues_redis_link_connected(ngx_queues_redis_link_t *l)
{
    ngx_connection_t  *c;

    c = l->connection;

    if (ngx_tcp_nodelay(c) != NGX_OK) {
        ngx_queues_redis_link_lost(l, 0, "cannot prepare the connection");
        return;
    }

    if (l->conf->ssl) {
        l->state = NGX_QUEUES_REDIS_LINK_TLS;
        ngx_queues_redis_tls_start(l);
        return;
    }

    ngx_queues_redis_link_secured(l);
}


void
ngx_queues_redis_link_secured(ngx_queues_redis_link_t *l)
{
    ngx_connection_t  *c;

    c = l->connection;

    c->read->handler = ngx_queues_redis_link_read_handler;
    c->write->handler = ngx_queues_redis_link_write_handler;

    l->state = NGX_QUEUES_REDIS_LINK_HANDSHAKE;

    ngx_queues_redis_handshake_start(l);

    /* an error that came at once is not announced a second time */

    if (c->read->ready) {
        ngx_post_event(c->read, &ngx_posted_events);
    }
}
