
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_redis_calls.h"


/*
 * A round: the sends of one turn of the event loop, or those that have come
 * while the round before was under way, a mark, and one WAIT.  Their replies
 * are held until that of WAIT says how many replicas have all of it.
 *
 * WAIT is about what its own connection has written.  A send that finds its
 * message stored, by another connection, writes nothing; the mark, to which
 * nobody listens, does, and comes to the replicas after all that was before it.
 */


static ngx_int_t ngx_queues_redis_round_mark(ngx_queues_redis_link_t *l);
static void ngx_queues_redis_round_close_handler(ngx_event_t *ev);
static void ngx_queues_redis_round_done(void *data,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);
static void ngx_queues_redis_round_next(ngx_queues_redis_calls_t *calls);
static void ngx_queues_redis_round_answer(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_result_e rc);


void
ngx_queues_redis_round_init(ngx_queues_redis_calls_t *calls)
{
    ngx_queues_redis_round_t  *round;

    round = &calls->round;

    ngx_queue_init(&round->held);

    round->close.data = calls;
    round->close.log = &calls->link->log;
    round->close.handler = ngx_queues_redis_round_close_handler;
}


void
ngx_queues_redis_round_send(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_command_t *cmd)
{
    if (calls->round.waiting) {

        /* Redis would not look at it now, and here it can still be refused */

        ngx_queue_insert_tail(&calls->waiting, &cmd->queue);
        return;
    }

    /* before the link's own event, so that WAIT leaves in the same write */

    ngx_post_event(&calls->round.close, &ngx_posted_events);

    ngx_queues_redis_link_send(calls->link, cmd);
}


static void
ngx_queues_redis_round_close_handler(ngx_event_t *ev)
{
    u_char                       n[NGX_INT_T_LEN], timeout[NGX_INT_T_LEN];
    ngx_str_t                    args[3];
    ngx_queues_redis_link_t     *l;
    ngx_queues_conf_redis_t     *conf;
    ngx_queues_redis_calls_t    *calls;
    ngx_queues_redis_command_t  *cmd;

    calls = ev->data;
    l = calls->link;
    conf = l->conf;

    ngx_str_set(&args[0], "WAIT");

    args[1].data = n;
    args[1].len = ngx_sprintf(n, "%ui", conf->replicas) - n;

    args[2].data = timeout;
    args[2].len = ngx_sprintf(timeout, "%M", conf->replicas_timeout)
                  - timeout;

    cmd = ngx_queues_redis_command_create(args, 3, NULL, 0);

    if (cmd == NULL || ngx_queues_redis_round_mark(l) != NGX_OK) {

        if (cmd) {
            ngx_queues_redis_command_free(cmd);
        }

        /* nothing can be said of what was sent */

        ngx_queues_redis_link_drop(l, "no memory");
        return;
    }

    cmd->done = ngx_queues_redis_round_done;
    cmd->data = calls;

    ngx_queues_redis_deadline_add(calls, cmd);

    calls->round.waiting = 1;

    ngx_queues_redis_link_send(l, cmd);
}


static ngx_int_t
ngx_queues_redis_round_mark(ngx_queues_redis_link_t *l)
{
    ngx_str_t                    args[3];
    ngx_queues_redis_command_t  *cmd;

    ngx_str_set(&args[0], "SPUBLISH");
    ngx_str_set(&args[1], "ngxq:round");
    ngx_str_set(&args[2], "");

    cmd = ngx_queues_redis_command_create(args, 3, NULL, 0);
    if (cmd == NULL) {
        return NGX_ERROR;
    }

    ngx_queues_redis_link_send(l, cmd);

    return NGX_OK;
}


void
ngx_queues_redis_round_hold(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_command_t *cmd, ngx_queues_redis_reply_t *reply)
{
    cmd->reply = reply;

    ngx_queue_insert_tail(&calls->round.held, &cmd->queue);
}


static void
ngx_queues_redis_round_done(void *data, ngx_queues_redis_result_e rc,
    ngx_queues_redis_reply_t *reply)
{
    ngx_queues_redis_calls_t *calls = data;

    ngx_queues_redis_link_t  *l;

    if (rc == NGX_QUEUES_REDIS_TIMEOUT) {

        /* its reply is still the next one, or the link is given up */

        return;
    }

    l = calls->link;

    if (rc == NGX_QUEUES_REDIS_DOWN || rc == NGX_QUEUES_REDIS_LOST) {

        /* with the link, and what is held is told; or WAIT has not left */

        if (l && l->state == NGX_QUEUES_REDIS_LINK_READY) {
            ngx_queues_redis_link_drop(l, "cannot write");
        }

        return;
    }

    if (rc == NGX_QUEUES_REDIS_OK
        && (reply->type != NGX_QUEUES_REDIS_INTEGER
            || reply->integer < (int64_t) l->conf->replicas))
    {
        rc = NGX_QUEUES_REDIS_REPLICAS;
    }

    if (reply) {
        ngx_queues_redis_reply_free(reply);
    }

    calls->round.waiting = 0;

    ngx_queues_redis_round_next(calls);
    ngx_queues_redis_round_answer(calls, rc);
}


static void
ngx_queues_redis_round_next(ngx_queues_redis_calls_t *calls)
{
    ngx_queue_t                 *q;
    ngx_queues_redis_command_t  *cmd;

    while (!ngx_queue_empty(&calls->waiting)) {
        q = ngx_queue_head(&calls->waiting);
        ngx_queue_remove(q);

        cmd = ngx_queue_data(q, ngx_queues_redis_command_t, queue);

        ngx_queues_redis_round_send(calls, cmd);
    }
}


static void
ngx_queues_redis_round_answer(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_result_e rc)
{
    ngx_queue_t                 *q, held;
    ngx_queues_redis_command_t  *cmd;

    if (ngx_queue_empty(&calls->round.held)) {
        return;
    }

    /* who is told may start the next one */

    ngx_queue_init(&held);

    ngx_queue_add(&held, &calls->round.held);
    ngx_queue_init(&calls->round.held);

    while (!ngx_queue_empty(&held)) {
        q = ngx_queue_head(&held);
        ngx_queue_remove(q);

        cmd = ngx_queue_data(q, ngx_queues_redis_command_t, queue);

        ngx_queues_redis_calls_answer(cmd, rc, cmd->reply);
    }
}


void
ngx_queues_redis_round_lost(ngx_queues_redis_calls_t *calls)
{
    if (calls->round.close.posted) {
        ngx_delete_posted_event(&calls->round.close);
    }

    calls->round.waiting = 0;

    ngx_queues_redis_round_answer(calls, NGX_QUEUES_REDIS_LOST);
}
