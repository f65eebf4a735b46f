
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_redis_calls.h"


/* a link whose oldest command is overdue by less is not given up */
#define NGX_QUEUES_REDIS_MIN_LIMIT  1000


static void ngx_queues_redis_deadline_handler(ngx_event_t *ev);
static void ngx_queues_redis_deadline_expire(ngx_queues_redis_command_t *cmd);
static ngx_msec_int_t ngx_queues_redis_deadline_left(ngx_queue_t *queue,
    ngx_msec_t grace);
static ngx_msec_t ngx_queues_redis_deadline_grace(
    ngx_queues_redis_calls_t *calls);


void
ngx_queues_redis_deadline_init(ngx_queues_redis_calls_t *calls)
{
    ngx_queues_redis_deadline_t  *deadline;

    deadline = &calls->deadline;

    ngx_queue_init(&deadline->due);
    ngx_queue_init(&deadline->overdue);

    deadline->event.data = calls;
    deadline->event.log = &calls->link->log;
    deadline->event.handler = ngx_queues_redis_deadline_handler;
}


void
ngx_queues_redis_deadline_exit(ngx_queues_redis_calls_t *calls)
{
    if (calls->deadline.event.timer_set) {
        ngx_del_timer(&calls->deadline.event);
    }
}


void
ngx_queues_redis_deadline_add(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_command_t *cmd)
{
    ngx_msec_t                    timeout;
    ngx_event_t                  *ev;
    ngx_queues_redis_deadline_t  *deadline;

    deadline = &calls->deadline;
    ev = &deadline->event;
    timeout = calls->link->conf->timeout;

    cmd->calls = calls;
    cmd->deadline = ngx_current_msec + timeout;
    cmd->since = ngx_queues_stat_now();

    ngx_queues_stat_gauge(NGX_QUEUES_STAT_COMMANDS, 1);

    ngx_queue_insert_tail(&deadline->due, &cmd->due);

    /*
     * A timer that runs for another call is early enough.  One that runs for
     * an abandoned call may not be, and ngx_add_timer() takes some hundred
     * milliseconds for no difference.
     */

    if (ev->timer_set
        && (ngx_msec_int_t) (ev->timer.key - cmd->deadline) > 0)
    {
        ngx_del_timer(ev);
    }

    if (!ev->timer_set) {
        ngx_add_timer(ev, timeout);
    }

    /* somebody waits: a worker that leaves stays that long */

    ev->cancelable = 0;
}


void
ngx_queues_redis_deadline_remove(ngx_queues_redis_command_t *cmd)
{
    ngx_queues_redis_deadline_t  *deadline;

    deadline = &cmd->calls->deadline;

    ngx_queue_remove(&cmd->due);

    ngx_queues_stat_gauge(NGX_QUEUES_STAT_COMMANDS, -1);

    /* the timer stays: to let it expire for nothing costs less */

    deadline->event.cancelable = ngx_queue_empty(&deadline->due);
}


static void
ngx_queues_redis_deadline_handler(ngx_event_t *ev)
{
    ngx_msec_t                    grace;
    ngx_queue_t                  *q;
    ngx_msec_int_t                left, next;
    ngx_queues_redis_calls_t     *calls;
    ngx_queues_redis_command_t   *cmd;
    ngx_queues_redis_deadline_t  *deadline;

    calls = ev->data;
    deadline = &calls->deadline;
    grace = ngx_queues_redis_deadline_grace(calls);

    while (ngx_queues_redis_deadline_left(&deadline->due, 0) <= 0) {

        q = ngx_queue_head(&deadline->due);
        cmd = ngx_queue_data(q, ngx_queues_redis_command_t, due);

        ngx_queues_redis_deadline_expire(cmd);
    }

    if (ngx_queues_redis_deadline_left(&deadline->overdue, grace) <= 0) {
        ngx_queues_redis_link_lost(calls->link, NGX_ETIMEDOUT,
                                   "no answer to a command");
    }

    /* what ran here may have started calls, and with them the timer */

    if (ev->timer_set) {
        ngx_del_timer(ev);
    }

    next = ngx_queues_redis_deadline_left(&deadline->due, 0);
    left = ngx_queues_redis_deadline_left(&deadline->overdue, grace);

    next = ngx_min(next, left);

    if (next != NGX_MAX_INT32_VALUE) {
        ngx_add_timer(ev, (ngx_msec_t) ngx_max(next, 1));
    }

    ev->cancelable = ngx_queue_empty(&deadline->due);
}


static void
ngx_queues_redis_deadline_expire(ngx_queues_redis_command_t *cmd)
{
    if (cmd->pos == ngx_queues_redis_command_start(cmd)) {

        /* Redis has nothing of it, or has refused it, and gets no more */

        ngx_queue_remove(&cmd->queue);
        ngx_queues_redis_calls_answer(cmd, NGX_QUEUES_REDIS_DOWN, NULL);
        return;
    }

    /* replies come in order: it keeps its place until its own has come */

    cmd->abandoned = 1;

    ngx_queues_stat_add(overdue, 1);

    ngx_queue_remove(&cmd->due);
    ngx_queue_insert_tail(&cmd->calls->deadline.overdue, &cmd->due);

    cmd->done(cmd->data, NGX_QUEUES_REDIS_TIMEOUT, NULL);
}


/* until the first in the queue is due */

static ngx_msec_int_t
ngx_queues_redis_deadline_left(ngx_queue_t *queue, ngx_msec_t grace)
{
    ngx_queue_t                 *q;
    ngx_queues_redis_command_t  *cmd;

    if (ngx_queue_empty(queue)) {
        return NGX_MAX_INT32_VALUE;
    }

    q = ngx_queue_head(queue);
    cmd = ngx_queue_data(q, ngx_queues_redis_command_t, due);

    return (ngx_msec_int_t) (cmd->deadline + grace - ngx_current_msec);
}


static ngx_msec_t
ngx_queues_redis_deadline_grace(ngx_queues_redis_calls_t *calls)
{
    return ngx_max(calls->link->conf->timeout, NGX_QUEUES_REDIS_MIN_LIMIT);
}
