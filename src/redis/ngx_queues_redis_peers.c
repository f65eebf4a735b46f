
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_redis_link.h"
#include "../net/ngx_queues_net.h"


static void ngx_queues_redis_peers_handler(ngx_resolver_ctx_t *ctx);
static ngx_int_t ngx_queues_redis_peers_copy(ngx_queues_redis_link_t *l,
    ngx_resolver_ctx_t *ctx);


/*
 * A name is looked up again before each attempt but the first: a failover may
 * have given it to another host.  If it cannot be, the addresses known so far
 * are still better than none.
 */

void
ngx_queues_redis_peers_start(ngx_queues_redis_link_t *l)
{
    ngx_resolver_ctx_t       *ctx;
    ngx_queues_conf_redis_t  *conf;

    conf = l->conf;

    if (conf->resolver == NULL || (!l->failed && l->peers.naddrs)) {
        ngx_queues_redis_link_connect(l);
        return;
    }

    ctx = ngx_resolve_start(conf->resolver, NULL);

    if (ctx == NULL || ctx == NGX_NO_RESOLVER) {
        ngx_queues_redis_link_connect(l);
        return;
    }

    ctx->name = conf->host;
    ctx->handler = ngx_queues_redis_peers_handler;
    ctx->data = l;
    ctx->timeout = ngx_min(conf->resolver_timeout, conf->connect_timeout);
    ctx->cancelable = 1;

    l->peers.ctx = ctx;

    /* the handler may run before it returns */

    if (ngx_resolve_name(ctx) != NGX_OK) {
        l->peers.ctx = NULL;
        ngx_queues_redis_link_connect(l);
    }
}


static void
ngx_queues_redis_peers_handler(ngx_resolver_ctx_t *ctx)
{
    ngx_queues_redis_link_t  *l;

    l = ctx->data;

    if (ctx->state) {
        ngx_log_error(NGX_LOG_WARN, &l->log, 0,
                      "%V could not be resolved (%i: %s)",
                      &ctx->name, ctx->state,
                      ngx_resolver_strerror(ctx->state));

    } else if (ngx_queues_redis_peers_copy(l, ctx) != NGX_OK) {
        ngx_log_error(NGX_LOG_ERR, &l->log, 0,
                      "no memory for the addresses of %V", &ctx->name);
    }

    l->peers.ctx = NULL;

    ngx_resolve_name_done(ctx);

    ngx_queues_redis_link_connect(l);
}


static ngx_int_t
ngx_queues_redis_peers_copy(ngx_queues_redis_link_t *l,
    ngx_resolver_ctx_t *ctx)
{
    ngx_uint_t   i;
    ngx_pool_t  *pool;
    ngx_addr_t  *addrs;

    pool = ngx_create_pool(512, &l->log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    addrs = ngx_pcalloc(pool, ctx->naddrs * sizeof(ngx_addr_t));
    if (addrs == NULL) {
        goto failed;
    }

    for (i = 0; i < ctx->naddrs; i++) {
        if (ngx_queues_net_copy_addr(pool, &addrs[i], &ctx->addrs[i],
                                     l->conf->port)
            != NGX_OK)
        {
            goto failed;
        }
    }

    ngx_queues_redis_peers_free(l);

    l->peers.pool = pool;
    l->peers.addrs = addrs;
    l->peers.naddrs = ctx->naddrs;

    return NGX_OK;

failed:

    ngx_destroy_pool(pool);

    return NGX_ERROR;
}


void
ngx_queues_redis_peers_cancel(ngx_queues_redis_link_t *l)
{
    if (l->peers.ctx) {
        ngx_resolve_name_done(l->peers.ctx);
        l->peers.ctx = NULL;
    }
}


void
ngx_queues_redis_peers_free(ngx_queues_redis_link_t *l)
{
    if (l->peers.pool) {
        ngx_destroy_pool(l->peers.pool);
        l->peers.pool = NULL;
    }
}
