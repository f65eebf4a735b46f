
#include "ngx_queues_http_line.h"
#include "../stat/ngx_queues_stat_metrics.h"


#define NGX_QUEUES_HTTP_GRACE       200   /* ms for a try that is under way at
                                             the end of the wait */


static void ngx_queues_http_leave(ngx_queues_http_wait_t *wait,
    ngx_queues_http_wait_state_e state);
static void ngx_queues_http_end_handler(ngx_event_t *ev);


void
ngx_queues_http_look(ngx_queues_http_op_t *op)
{
    op->wait.since = ngx_queues_http_line_wakes();
}


ngx_int_t
ngx_queues_http_park(ngx_queues_http_op_t *op, ngx_str_t *root,
    ngx_str_t *queue, ngx_str_t *part, ngx_msec_t ms, int64_t next,
    ngx_queues_http_try_pt try, ngx_queues_http_op_pt end)
{
    ngx_connection_t        *c;
    ngx_http_request_t      *r;
    ngx_queues_http_wait_t  *wait;
    ngx_queues_http_line_t  *line;

    line = ngx_queues_http_line_get(root, queue, part);
    if (line == NULL) {
        return NGX_ERROR;
    }

    r = op->request;
    c = r->connection;
    wait = &op->wait;

    wait->line = line;
    wait->state = NGX_QUEUES_HTTP_WAIT_PARKED;
    wait->try = try;
    wait->end = end;

    wait->timer.handler = ngx_queues_http_end_handler;
    wait->timer.data = op;
    wait->timer.log = ngx_cycle->log;

    ngx_queue_insert_tail(&line->waits, &wait->queue);

    op->parked = 1;
    ngx_queues_stat_gauge(NGX_QUEUES_STAT_PARKED, 1);

    ngx_add_timer(&wait->timer, ms);

    ngx_queues_http_line_due(line, next);

    ngx_queues_http_drop_body(op);

    r->read_event_handler = ngx_http_test_reading;
    r->write_event_handler = ngx_http_request_empty_handler;

    if (c->read->ready) {

        /* what came before the request was parked, such as its end */

        ngx_post_event(c->read, &ngx_posted_events);
    }

    if (ngx_queues_http_line_woken(line, wait->since)) {
        ngx_queues_http_line_wake(line);
    }

    return NGX_OK;
}


void
ngx_queues_http_unpark(ngx_queues_http_op_t *op)
{
    ngx_queues_http_wait_t  *wait;
    ngx_queues_http_line_t  *line;

    wait = &op->wait;
    line = wait->line;

    if (wait->timer.timer_set) {
        ngx_del_timer(&wait->timer);
    }

    switch (wait->state) {

    case NGX_QUEUES_HTTP_WAIT_PARKED:
        ngx_queues_http_leave(wait, NGX_QUEUES_HTTP_WAIT_NONE);
        ngx_queues_http_line_check(line);
        break;

    case NGX_QUEUES_HTTP_WAIT_TRYING:
        ngx_queues_http_leave(wait, NGX_QUEUES_HTTP_WAIT_LEFT);
        break;

    default: /* NONE, LEFT */
        break;
    }
}


/* out of its line */

static void
ngx_queues_http_leave(ngx_queues_http_wait_t *wait,
    ngx_queues_http_wait_state_e state)
{
    ngx_queue_remove(&wait->queue);

    wait->state = state;

    ngx_queues_stat_gauge(NGX_QUEUES_STAT_PARKED, -1);
}


void
ngx_queues_http_tried(ngx_queues_http_op_t *op, ngx_queues_http_try_e outcome,
    int64_t next)
{
    ngx_queues_http_wait_t  *wait;
    ngx_queues_http_line_t  *line;

    wait = &op->wait;
    line = wait->line;

    line->trying--;

    if (wait->state == NGX_QUEUES_HTTP_WAIT_LEFT) {
        wait->state = NGX_QUEUES_HTTP_WAIT_NONE;

    } else if (outcome == NGX_QUEUES_HTTP_TRY_FOUND) {
        ngx_queues_http_leave(wait, NGX_QUEUES_HTTP_WAIT_NONE);

        if (wait->timer.timer_set) {
            ngx_del_timer(&wait->timer);
        }

    } else {
        wait->state = NGX_QUEUES_HTTP_WAIT_PARKED;
    }

    switch (outcome) {

    case NGX_QUEUES_HTTP_TRY_FOUND:
    case NGX_QUEUES_HTTP_TRY_PASSED:

        if (line->window && line->window < NGX_QUEUES_HTTP_WINDOW) {
            line->window++;
        }

        break;

    case NGX_QUEUES_HTTP_TRY_EMPTY:
        line->window = 0;
        ngx_queues_http_line_due(line, next);
        break;

    case NGX_QUEUES_HTTP_TRY_FAILED:
        line->window = 0;
        ngx_queues_http_line_due(line, NGX_QUEUES_HTTP_RETRY
                                     + ngx_random() % NGX_QUEUES_HTTP_RETRY);
        break;
    }

    if (line->trying == 0 && line->again) {
        line->again = 0;
        line->window = 1;
    }

    ngx_queues_http_line_run(line);
    ngx_queues_http_line_check(line);

    if (wait->ended && wait->state == NGX_QUEUES_HTTP_WAIT_PARKED) {
        wait->end(op);
    }
}


ngx_queues_http_op_t *
ngx_queues_http_before(ngx_queues_http_op_t *op)
{
    ngx_queue_t             *q;
    ngx_queues_http_wait_t  *wait;

    for (q = ngx_queue_head(&op->wait.line->waits);
         q != &op->wait.queue && q != &op->wait.line->waits;
         q = ngx_queue_next(q))
    {
        wait = ngx_queue_data(q, ngx_queues_http_wait_t, queue);

        if (wait->state == NGX_QUEUES_HTTP_WAIT_PARKED) {
            return wait->timer.data;
        }
    }

    return NULL;
}


static void
ngx_queues_http_end_handler(ngx_event_t *ev)
{
    ngx_queues_http_op_t *op = ev->data;

    ngx_queues_http_wait_t  *wait;

    wait = &op->wait;

    if (wait->ended || ngx_exiting) {
        wait->end(op);
        return;
    }

    wait->ended = 1;

    /*
     * A last look, unless one is under way: hints may be lost where Redis
     * refuses them, and nobody is to go empty-handed past a message.
     */

    if (wait->state == NGX_QUEUES_HTTP_WAIT_PARKED) {

        if (wait->try(op) != NGX_OK) {
            wait->end(op);
            return;
        }

        wait->state = NGX_QUEUES_HTTP_WAIT_TRYING;
        wait->line->trying++;
    }

    ngx_add_timer(&wait->timer, NGX_QUEUES_HTTP_GRACE);
}
