
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_redis_calls.h"


/*
 * A failover: what the link leads to is not the primary any more.  It refuses
 * calls before it looks at them, so they go once more, to the next one.  What
 * comes meanwhile waits for that one too, instead of being told in the pause
 * between two attempts that there is none; each within its own deadline, and
 * nobody for longer than one timeout: then Redis is away, as ever.
 */


static void ngx_queues_redis_hold_append(ngx_queue_t *to, ngx_queue_t *from);


void
ngx_queues_redis_hold_init(ngx_queues_redis_calls_t *calls)
{
    ngx_queue_init(&calls->hold.again);
}


void
ngx_queues_redis_hold_start(ngx_queues_redis_calls_t *calls,
    const char *reason)
{
    ngx_queues_redis_link_t  *l;

    l = calls->link;

    if (l == NULL) {
        return;
    }

    calls->hold.on = 1;
    calls->hold.until = ngx_current_msec + l->conf->timeout;

    if (l->state == NGX_QUEUES_REDIS_LINK_READY && l->drop == NULL) {
        l->peers.turn++;
        l->moved = 1;

        /*
         * The others of the pipeline are refused just as soon, while those
         * whose replies are not read could not go again.
         */

        ngx_queues_redis_link_drain(l, reason);
    }
}


ngx_uint_t
ngx_queues_redis_hold_on(ngx_queues_redis_calls_t *calls)
{
    ngx_queues_redis_hold_t  *hold;

    hold = &calls->hold;

    return hold->on
           && calls->link && !calls->link->stopped
           && (ngx_msec_int_t) (hold->until - ngx_current_msec) > 0;
}


ngx_int_t
ngx_queues_redis_hold_refused(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_command_t *cmd, ngx_queues_redis_result_e rc)
{
    if (!cmd->call || cmd->again || cmd->abandoned
        || !ngx_queues_redis_hold_on(calls))
    {
        return NGX_DECLINED;
    }

    switch (rc) {

    case NGX_QUEUES_REDIS_READONLY:
    case NGX_QUEUES_REDIS_MASTERDOWN:
    case NGX_QUEUES_REDIS_LOADING:
    case NGX_QUEUES_REDIS_TRYAGAIN:     /* no function is there either */
        break;

    default:
        return NGX_DECLINED;
    }

    cmd->again = 1;
    cmd->resent = 0;
    cmd->pos = ngx_queues_redis_command_start(cmd);

    ngx_queue_insert_tail(&calls->hold.again, &cmd->queue);

    return NGX_OK;
}


/* in the order in which they came: refused, not yet sent, not yet to be sent */

void
ngx_queues_redis_hold_lost(ngx_queues_redis_calls_t *calls,
    ngx_queue_t *unsent)
{
    ngx_queue_t                 *q, all, *again;
    ngx_queues_redis_command_t  *cmd;

    again = &calls->hold.again;

    if (!ngx_queues_redis_hold_on(calls)) {
        ngx_queues_redis_hold_append(again, unsent);
        ngx_queues_redis_hold_append(again, &calls->waiting);
        ngx_queues_redis_hold_append(unsent, again);
        return;
    }

    ngx_queue_init(&all);
    ngx_queues_redis_hold_append(&all, unsent);

    while (!ngx_queue_empty(&all)) {
        q = ngx_queue_head(&all);
        ngx_queue_remove(q);

        cmd = ngx_queue_data(q, ngx_queues_redis_command_t, queue);

        if (!cmd->call || cmd->abandoned) {
            ngx_queue_insert_tail(unsent, q);
            continue;
        }

        /* the rest of one that has left in part never did */

        cmd->pos = ngx_queues_redis_command_start(cmd);

        ngx_queue_insert_tail(again, q);
    }
}


void
ngx_queues_redis_hold_ready(ngx_queues_redis_calls_t *calls)
{
    ngx_queue_t                 *q;
    ngx_queues_redis_command_t  *cmd;

    calls->hold.on = 0;

    while (!ngx_queue_empty(&calls->hold.again)) {
        q = ngx_queue_head(&calls->hold.again);
        ngx_queue_remove(q);

        cmd = ngx_queue_data(q, ngx_queues_redis_command_t, queue);

        if (cmd->again) {
            ngx_queues_stat_add(retried, 1);
        }

        ngx_queues_redis_calls_send(calls, cmd);
    }
}


static void
ngx_queues_redis_hold_append(ngx_queue_t *to, ngx_queue_t *from)
{
    if (!ngx_queue_empty(from)) {
        ngx_queue_add(to, from);
        ngx_queue_init(from);
    }
}
