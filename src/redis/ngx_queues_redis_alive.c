
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_redis_link.h"


/*
 * A connection that a firewall has forgotten looks like an idle one.  After
 * this time without a byte from Redis it is tried, so that it is not the next
 * user who finds out.
 */
#define NGX_QUEUES_REDIS_IDLE  10000


void
ngx_queues_redis_alive_start(ngx_queues_redis_link_t *l)
{
    l->received = ngx_current_msec;
    l->pinged = 0;

    ngx_add_timer(&l->alive, NGX_QUEUES_REDIS_IDLE);
}


void
ngx_queues_redis_alive_handler(ngx_event_t *ev)
{
    ngx_msec_t                    idle;
    ngx_queues_redis_link_t      *l;
    ngx_queues_redis_command_t   *cmd;

    static ngx_str_t  ping = ngx_string("PING");

    l = ev->data;

    if (l->pinged) {
        ngx_queues_redis_link_lost(l, NGX_ETIMEDOUT, "no answer to PING");
        return;
    }

    idle = ngx_current_msec - l->received;

    if (idle < NGX_QUEUES_REDIS_IDLE) {
        ngx_add_timer(&l->alive, NGX_QUEUES_REDIS_IDLE - idle);
        return;
    }

    cmd = ngx_queues_redis_command_create(&ping, 1, NULL, 0);

    if (cmd) {

        /* a subscriber's "pong" is a message like others */

        cmd->silent = !l->role->functions;

        ngx_queues_redis_link_send(l, cmd);
        l->pinged = 1;
    }

    ngx_add_timer(&l->alive, l->conf->timeout);
}
