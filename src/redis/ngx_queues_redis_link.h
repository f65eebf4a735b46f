
/*
 * A link: at most one connection to Redis, made anew for the worker's life.
 * What it is used for is the matter of its role.
 */

#ifndef _NGX_QUEUES_REDIS_LINK_H_INCLUDED_
#define _NGX_QUEUES_REDIS_LINK_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_event_connect.h>

#include "ngx_queues_redis.h"
#include "ngx_queues_redis_command.h"
#include "ngx_queues_redis_reply.h"
#include "../stat/ngx_queues_stat_metrics.h"


#define NGX_QUEUES_REDIS_CHAIN  64


typedef enum {
    NGX_QUEUES_REDIS_LINK_IDLE = 0,     /* the pause between two attempts */
    NGX_QUEUES_REDIS_LINK_RESOLVING,
    NGX_QUEUES_REDIS_LINK_CONNECTING,
    NGX_QUEUES_REDIS_LINK_TLS,
    NGX_QUEUES_REDIS_LINK_HANDSHAKE,
    NGX_QUEUES_REDIS_LINK_READY
} ngx_queues_redis_link_state_e;


typedef enum {
    NGX_QUEUES_REDIS_HANDSHAKE_AUTH = 0,
    NGX_QUEUES_REDIS_HANDSHAKE_SELECT,
    NGX_QUEUES_REDIS_HANDSHAKE_SETNAME,
    NGX_QUEUES_REDIS_HANDSHAKE_LOAD,
    NGX_QUEUES_REDIS_HANDSHAKE_PING,
    NGX_QUEUES_REDIS_HANDSHAKE_DONE
} ngx_queues_redis_handshake_e;


typedef struct ngx_queues_redis_link_s  ngx_queues_redis_link_t;

typedef struct {
    ngx_str_t                         name;         /* in the log */
    ngx_str_t                         client;       /* in CLIENT LIST */
    ngx_queues_stat_gauge_e           gauge;        /* while it is ready */

    /* calls functions: wants the library, replies come in order */
    ngx_uint_t                        functions;

    void                            (*ready)(ngx_queues_redis_link_t *l);

    /* The reply is the role's to free.  The link must not be closed here:
     * ngx_queues_redis_link_drop() does so a little later. */
    void                            (*reply)(ngx_queues_redis_link_t *l,
                                        ngx_queues_redis_reply_t *reply);

    /* The attempt failed or the connection is gone.  The commands of both
     * queues are the role's to free. */
    void                            (*lost)(ngx_queues_redis_link_t *l,
                                        ngx_queue_t *sent,
                                        ngx_queue_t *unsent);
} ngx_queues_redis_role_t;


typedef struct {
    ngx_addr_t                       *addrs;
    ngx_uint_t                        naddrs;
    ngx_uint_t                        turn;
    ngx_uint_t                        current;      /* of the attempt */
    ngx_pool_t                       *pool;         /* of resolved ones */
    ngx_resolver_ctx_t               *ctx;
} ngx_queues_redis_peers_t;


struct ngx_queues_redis_link_s {
    ngx_connection_t                 *connection;
    ngx_queues_conf_redis_t          *conf;
    const ngx_queues_redis_role_t    *role;
    void                             *data;         /* the role's */
    ngx_queues_redis_link_t          *leader;       /* goes where this is */

    /* event ident must be after 3 pointers as in ngx_connection_t */
    ngx_socket_t                      ident;

    ngx_queues_redis_link_state_e     state;
    ngx_queues_redis_handshake_e      step;

    ngx_queues_redis_peers_t          peers;
    ngx_queues_redis_reader_t        *reader;
    u_char                           *buffer;

    ngx_queue_t                       unsent;
    ngx_uint_t                        nunsent;      /* since the last write */
    ngx_queue_t                       sent;         /* reply outstanding */

    ngx_event_t                       retry;        /* ends the pause */
    ngx_event_t                       limit;        /* of the attempt, and of
                                                       the last replies */
    ngx_event_t                       alive;        /* when to look, to PING */
    ngx_event_t                       flush;        /* posted */
    ngx_event_t                       dropping;     /* posted */

    const char                       *drop;         /* why */
    const char                       *failure;      /* last one logged */
    time_t                            logged;       /* at this moment */

    ngx_msec_t                        delay;        /* of the next retry */
    ngx_msec_t                        since;        /* when READY began */
    ngx_msec_t                        received;     /* when anything came */

    ngx_log_t                         log;
    ngx_uint_t                        log_level;

    unsigned                          pinged:1;     /* and nothing came yet */
    unsigned                          failed:1;     /* since last READY */
    unsigned                          made:1;       /* was READY before */
    unsigned                          stopped:1;    /* no further attempts */
    unsigned                          moved:1;      /* was told that it is at
                                                       no primary */

    ngx_buf_t                         bufs[NGX_QUEUES_REDIS_CHAIN];
    ngx_chain_t                       chain[NGX_QUEUES_REDIS_CHAIN];
};


#pragma GCC visibility push(hidden)

/* _link.c: life of the connection */
ngx_queues_redis_link_t *ngx_queues_redis_link_create(ngx_cycle_t *cycle,
    ngx_queues_conf_redis_t *conf, const ngx_queues_redis_role_t *role);
void ngx_queues_redis_link_start(ngx_queues_redis_link_t *l);
void ngx_queues_redis_link_stop(ngx_queues_redis_link_t *l);
void ngx_queues_redis_link_destroy(ngx_queues_redis_link_t *l);

void ngx_queues_redis_link_connect(ngx_queues_redis_link_t *l);
void ngx_queues_redis_link_secured(ngx_queues_redis_link_t *l);
void ngx_queues_redis_link_ready(ngx_queues_redis_link_t *l);
void ngx_queues_redis_link_drop(ngx_queues_redis_link_t *l,
    const char *reason);
void ngx_queues_redis_link_drain(ngx_queues_redis_link_t *l,
    const char *reason);
void ngx_queues_redis_link_lost(ngx_queues_redis_link_t *l, ngx_err_t err,
    const char *reason);

/* whether it is connected, or about to be, to the address of the other one */
ngx_uint_t ngx_queues_redis_link_beside(ngx_queues_redis_link_t *l,
    ngx_queues_redis_link_t *other);

/* whether a failure with this reason is worth a line in the log */
ngx_uint_t ngx_queues_redis_link_loud(ngx_queues_redis_link_t *l,
    const char *reason);

/* _io.c: bytes */
void ngx_queues_redis_link_send(ngx_queues_redis_link_t *l,
    ngx_queues_redis_command_t *cmd);
void ngx_queues_redis_link_write(ngx_queues_redis_link_t *l);
void ngx_queues_redis_link_read_handler(ngx_event_t *rev);
void ngx_queues_redis_link_write_handler(ngx_event_t *wev);
void ngx_queues_redis_link_flush_handler(ngx_event_t *ev);

/* _peers.c: addresses */
void ngx_queues_redis_peers_start(ngx_queues_redis_link_t *l);
void ngx_queues_redis_peers_cancel(ngx_queues_redis_link_t *l);
void ngx_queues_redis_peers_free(ngx_queues_redis_link_t *l);

/* _tls.c */
void ngx_queues_redis_tls_start(ngx_queues_redis_link_t *l);

/* _handshake.c */
void ngx_queues_redis_handshake_start(ngx_queues_redis_link_t *l);
void ngx_queues_redis_handshake_reply(ngx_queues_redis_link_t *l,
    ngx_queues_redis_reply_t *reply);
ngx_queues_redis_command_t *ngx_queues_redis_handshake_load(
    ngx_queues_conf_redis_t *conf);

/* _alive.c */
void ngx_queues_redis_alive_start(ngx_queues_redis_link_t *l);
void ngx_queues_redis_alive_handler(ngx_event_t *ev);

#pragma GCC visibility pop


#endif /* _NGX_QUEUES_REDIS_LINK_H_INCLUDED_ */
