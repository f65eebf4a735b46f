
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_push_client.h"
#include "../net/ngx_queues_net.h"


static void ngx_queues_push_target_localhost(ngx_queues_push_attempt_t *a);
static void ngx_queues_push_target_address(ngx_queues_push_attempt_t *a);
static void ngx_queues_push_target_handler(ngx_resolver_ctx_t *ctx);
static ngx_int_t ngx_queues_push_target_copy(ngx_queues_push_attempt_t *a,
    ngx_resolver_addr_t *addrs, ngx_uint_t naddrs);
static ngx_uint_t ngx_queues_push_target_permitted(struct sockaddr *sa,
    ngx_queues_base_rules_t *rules);


static const char  ngx_queues_push_target_memory[] =
    "The delivery could not be prepared.";


void
ngx_queues_push_target_start(ngx_queues_push_attempt_t *a)
{
    ngx_resolver_ctx_t      *ctx;
    ngx_queues_conf_push_t  *conf;

    a->state = NGX_QUEUES_PUSH_RESOLVE;

    if (a->request.endpoint->localhost) {
        ngx_queues_push_target_localhost(a);
        return;
    }

    if (a->request.endpoint->naddress) {
        ngx_queues_push_target_address(a);
        return;
    }

    conf = a->request.conf;

    ctx = conf->resolver ? ngx_resolve_start(conf->resolver, NULL)
                         : NGX_NO_RESOLVER;

    if (ctx == NULL || ctx == NGX_NO_RESOLVER) {
        ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_CONNECTION,
                            "The endpoint's name could not be looked up.");
        return;
    }

    ctx->name = a->host;
    ctx->handler = ngx_queues_push_target_handler;
    ctx->data = a;
    ctx->timeout = conf->resolver_timeout;
    ctx->cancelable = 1;

    a->ctx = ctx;

    /* the handler may run before it returns */

    if (ngx_resolve_name(ctx) != NGX_OK) {
        a->ctx = NULL;
        ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_CONNECTION,
                            "The endpoint's name could not be looked up.");
    }
}


void
ngx_queues_push_target_cancel(ngx_queues_push_attempt_t *a)
{
    if (a->ctx) {
        ngx_resolve_name_done(a->ctx);
        a->ctx = NULL;
    }
}


/* what a DNS says of localhost is of no interest (RFC 6761, 6.3) */

static void
ngx_queues_push_target_localhost(ngx_queues_push_attempt_t *a)
{
    ngx_uint_t           n;
    ngx_resolver_addr_t  addrs[2];
    struct sockaddr_in   sin;
#if (NGX_HAVE_INET6)
    struct sockaddr_in6  sin6;
#endif

    ngx_memzero(addrs, sizeof(addrs));
    ngx_memzero(&sin, sizeof(struct sockaddr_in));

    sin.sin_family = AF_INET;
    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);

    addrs[0].sockaddr = (struct sockaddr *) &sin;
    addrs[0].socklen = sizeof(struct sockaddr_in);
    n = 1;

#if (NGX_HAVE_INET6)
    ngx_memzero(&sin6, sizeof(struct sockaddr_in6));

    sin6.sin6_family = AF_INET6;
    sin6.sin6_addr.s6_addr[15] = 1;

    addrs[1].sockaddr = (struct sockaddr *) &sin6;
    addrs[1].socklen = sizeof(struct sockaddr_in6);
    n = 2;
#endif

    if (ngx_queues_push_target_copy(a, addrs, n) == NGX_OK) {
        ngx_queues_push_connect_start(a);
    }
}


static void
ngx_queues_push_target_address(ngx_queues_push_attempt_t *a)
{
    ngx_sockaddr_t               sockaddr;
    ngx_resolver_addr_t          addr;
    ngx_queues_base_endpoint_t  *endpoint;

    endpoint = a->request.endpoint;

    ngx_memzero(&addr, sizeof(ngx_resolver_addr_t));
    ngx_memzero(&sockaddr, sizeof(ngx_sockaddr_t));

    addr.sockaddr = &sockaddr.sockaddr;

    if (endpoint->naddress == 4) {
        sockaddr.sockaddr_in.sin_family = AF_INET;
        ngx_memcpy(&sockaddr.sockaddr_in.sin_addr, endpoint->address, 4);
        addr.socklen = sizeof(struct sockaddr_in);

#if (NGX_HAVE_INET6)
    } else {
        sockaddr.sockaddr_in6.sin6_family = AF_INET6;
        ngx_memcpy(&sockaddr.sockaddr_in6.sin6_addr, endpoint->address, 16);
        addr.socklen = sizeof(struct sockaddr_in6);
#endif
    }

    if (ngx_queues_push_target_copy(a, &addr, 1) == NGX_OK) {
        ngx_queues_push_connect_start(a);
    }
}


static void
ngx_queues_push_target_handler(ngx_resolver_ctx_t *ctx)
{
    ngx_int_t                   rc;
    ngx_queues_push_attempt_t  *a;

    a = ctx->data;

    a->ctx = NULL;

    if (ctx->state || ctx->naddrs == 0) {
        rc = NGX_ERROR;
        ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_CONNECTION,
            ngx_queues_push_attempt_text(a,
                                  "The endpoint's name could not be resolved",
                                  ngx_resolver_strerror(ctx->state)));

    } else {
        rc = ngx_queues_push_target_copy(a, ctx->addrs, ctx->naddrs);
    }

    ngx_resolve_name_done(ctx);

    if (rc == NGX_OK) {
        ngx_queues_push_connect_start(a);
    }
}


/* one address that is not permitted speaks against all of them */

static ngx_int_t
ngx_queues_push_target_copy(ngx_queues_push_attempt_t *a,
    ngx_resolver_addr_t *addrs, ngx_uint_t naddrs)
{
    in_port_t                 port;
    ngx_uint_t                i;
    ngx_queues_base_rules_t  *rules;

    rules = &a->request.conf->rules;

    for (i = 0; i < naddrs; i++) {
        if (!ngx_queues_push_target_permitted(addrs[i].sockaddr, rules)) {
            ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_REFUSED,
                a->request.endpoint->naddress
                ? "The endpoint's address is not public."
                : "The endpoint's name resolves to an address that is "
                  "not public.");
            return NGX_ERROR;
        }
    }

    port = (in_port_t) a->request.endpoint->port;
    naddrs = ngx_min(naddrs, NGX_QUEUES_PUSH_ADDRESSES_MAX);

    a->addrs = ngx_pcalloc(a->pool, naddrs * sizeof(ngx_addr_t));
    if (a->addrs == NULL) {
        goto failed;
    }

    for (i = 0; i < naddrs; i++) {
        if (ngx_queues_net_copy_addr(a->pool, &a->addrs[i], &addrs[i], port)
            != NGX_OK)
        {
            goto failed;
        }
    }

    a->naddrs = naddrs;

    return NGX_OK;

failed:

    ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_CONNECTION,
                                 ngx_queues_push_target_memory);
    return NGX_ERROR;
}


static ngx_uint_t
ngx_queues_push_target_permitted(struct sockaddr *sa,
    ngx_queues_base_rules_t *rules)
{
    struct sockaddr_in   *sin;
#if (NGX_HAVE_INET6)
    struct sockaddr_in6  *sin6;
#endif

    switch (sa->sa_family) {

    case AF_INET:
        sin = (struct sockaddr_in *) sa;
        return ngx_queues_base_address_permitted((u_char *) &sin->sin_addr, 4,
                                                 rules);

#if (NGX_HAVE_INET6)
    case AF_INET6:
        sin6 = (struct sockaddr_in6 *) sa;
        return ngx_queues_base_address_permitted(sin6->sin6_addr.s6_addr, 16,
                                                 rules);
#endif
    }

    return 0;
}
