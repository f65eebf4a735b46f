
#include "ngx_queues_http.h"


/*
 * A line holds the parked operations of one queue, oldest first.  A wake
 * starts a round: the first one tries; every try that finds something lets one
 * more be under way at once, and the first one that finds nothing ends the
 * round.  So a burst of messages is handed out in a few round trips, in order,
 * and one message does not make everyone ask for it.
 */

#define NGX_QUEUES_HTTP_WINDOW      64    /* tries at once, at most */
#define NGX_QUEUES_HTTP_RETRY       200   /* ms until a failed try is repeated,
                                             and as much again at random */
#define NGX_QUEUES_HTTP_GRACE       200   /* ms for a try that is under way at
                                             the end of the wait */
#define NGX_QUEUES_HTTP_DUE_MAX     60000 /* ms, longer than any wait */

#define NGX_QUEUES_HTTP_LINE_KEY_MAX  256

#define NGX_QUEUES_HTTP_WAKES       64    /* that are remembered */


struct ngx_queues_http_line_s {
    ngx_str_node_t           node;        /* root LF queue */
    size_t                   root_len;
    ngx_queue_t              queue;       /* in all lines */
    ngx_queue_t              waits;       /* oldest first */
    ngx_event_t              due;         /* something becomes receivable by
                                             itself, or a failed try's retry */
    ngx_uint_t               trying;
    ngx_uint_t               window;      /* 0: no round */
    ngx_uint_t               again;       /* woken while tries were under
                                             way; unsigned  again:1; */
};


static ngx_queues_http_line_t *ngx_queues_http_line_find(ngx_str_t *root,
    ngx_str_t *queue);
static ngx_queues_http_line_t *ngx_queues_http_line_create(ngx_str_t *root,
    ngx_str_t *queue);
static ngx_uint_t ngx_queues_http_line_key(ngx_str_t *root, ngx_str_t *queue,
    u_char *key);
static void ngx_queues_http_line_check(ngx_queues_http_line_t *line);
static void ngx_queues_http_line_wake(ngx_queues_http_line_t *line);
static ngx_uint_t ngx_queues_http_line_woken(ngx_queues_http_line_t *line,
    ngx_str_t *root, ngx_uint_t since);
static void ngx_queues_http_line_run(ngx_queues_http_line_t *line);
static void ngx_queues_http_line_due(ngx_queues_http_line_t *line,
    int64_t next);
static ngx_queues_http_op_t *ngx_queues_http_line_next(
    ngx_queues_http_line_t *line);
static void ngx_queues_http_due_handler(ngx_event_t *ev);
static void ngx_queues_http_end_handler(ngx_event_t *ev);
static void ngx_queues_http_drain_handler(ngx_event_t *ev);


static ngx_rbtree_t        ngx_queues_http_lines;
static ngx_rbtree_node_t   ngx_queues_http_lines_sentinel;
static ngx_queue_t         ngx_queues_http_all_lines;

/* hashes of the lines that the last wakes were for, or of roots, in a ring */
static uint32_t            ngx_queues_http_wakes[NGX_QUEUES_HTTP_WAKES];
static ngx_uint_t          ngx_queues_http_nwakes;

/* nginx calls the read handlers of idle connections when it wants to exit */
static ngx_connection_t   *ngx_queues_http_watcher;


ngx_int_t
ngx_queues_http_wait_init(ngx_cycle_t *cycle)
{
    ngx_connection_t  *c, *saved;

    ngx_rbtree_init(&ngx_queues_http_lines, &ngx_queues_http_lines_sentinel,
                    ngx_str_rbtree_insert_value);
    ngx_queue_init(&ngx_queues_http_all_lines);

    /* a connection without a socket: descriptor 0 keeps its own */

    saved = cycle->files ? cycle->files[0] : NULL;

    c = ngx_get_connection(0, cycle->log);

    if (cycle->files) {
        cycle->files[0] = saved;
    }

    if (c == NULL) {
        return NGX_ERROR;
    }

    c->fd = (ngx_socket_t) -2;
    c->idle = 1;
    c->read->handler = ngx_queues_http_drain_handler;
    c->read->log = cycle->log;

    ngx_queues_http_watcher = c;

    return NGX_OK;
}


void
ngx_queues_http_wait_exit(ngx_cycle_t *cycle)
{
    if (ngx_queues_http_watcher) {
        ngx_queues_http_watcher->idle = 0;
        ngx_queues_http_watcher->fd = (ngx_socket_t) -1;
        ngx_queues_http_watcher = NULL;
    }
}


/*
 * The worker wants to exit: every wait ends now.  Through their timers, as an
 * answer here could finish other requests that this loop stands on.
 */

static void
ngx_queues_http_drain_handler(ngx_event_t *ev)
{
    ngx_queue_t             *q, *w;
    ngx_queues_http_wait_t  *wait;
    ngx_queues_http_line_t  *line;

    ngx_log_debug0(NGX_LOG_DEBUG_HTTP, ev->log, 0, "queues waits drained");

    for (q = ngx_queue_head(&ngx_queues_http_all_lines);
         q != ngx_queue_sentinel(&ngx_queues_http_all_lines);
         q = ngx_queue_next(q))
    {
        line = ngx_queue_data(q, ngx_queues_http_line_t, queue);

        for (w = ngx_queue_head(&line->waits);
             w != ngx_queue_sentinel(&line->waits);
             w = ngx_queue_next(w))
        {
            wait = ngx_queue_data(w, ngx_queues_http_wait_t, queue);

            ngx_add_timer(&wait->timer, 0);
        }
    }
}


void
ngx_queues_http_look(ngx_queues_http_op_t *op)
{
    op->wait.since = ngx_queues_http_nwakes;
}


ngx_int_t
ngx_queues_http_park(ngx_queues_http_op_t *op, ngx_str_t *root,
    ngx_str_t *queue, ngx_msec_t ms, int64_t next,
    ngx_queues_http_try_pt try, ngx_queues_http_op_pt end)
{
    ngx_connection_t        *c;
    ngx_http_request_t      *r;
    ngx_queues_http_wait_t  *wait;
    ngx_queues_http_line_t  *line;

    line = ngx_queues_http_line_find(root, queue);

    if (line == NULL) {
        line = ngx_queues_http_line_create(root, queue);
        if (line == NULL) {
            return NGX_ERROR;
        }
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

    ngx_add_timer(&wait->timer, ms);

    ngx_queues_http_line_due(line, next);

    r->read_event_handler = ngx_http_test_reading;
    r->write_event_handler = ngx_http_request_empty_handler;

    if (c->read->ready) {

        /* what came before the request was parked, such as its end */

        ngx_post_event(c->read, &ngx_posted_events);
    }

    if (ngx_queues_http_line_woken(line, root, wait->since)) {
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
        ngx_queue_remove(&wait->queue);
        wait->state = NGX_QUEUES_HTTP_WAIT_NONE;
        ngx_queues_http_line_check(line);
        break;

    case NGX_QUEUES_HTTP_WAIT_TRYING:
        ngx_queue_remove(&wait->queue);
        wait->state = NGX_QUEUES_HTTP_WAIT_LEFT;
        break;

    default: /* NONE, LEFT */
        break;
    }
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
        ngx_queue_remove(&wait->queue);
        wait->state = NGX_QUEUES_HTTP_WAIT_NONE;

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


void
ngx_queues_http_wake(ngx_str_t *root, ngx_str_t *queue)
{
    u_char                   key[NGX_QUEUES_HTTP_LINE_KEY_MAX];
    uint32_t                 hash;
    ngx_queue_t             *q;
    ngx_queues_http_line_t  *line;

    if (root->len + 1 + queue->len > sizeof(key)) {
        return;
    }

    hash = queue->len ? ngx_crc32_short(key, ngx_queues_http_line_key(root,
                                                                  queue, key))
                      : ngx_crc32_short(root->data, root->len);

    ngx_queues_http_wakes[ngx_queues_http_nwakes++ % NGX_QUEUES_HTTP_WAKES] =
                                                                         hash;

    if (queue->len) {
        line = ngx_queues_http_line_find(root, queue);

        if (line) {
            ngx_queues_http_line_wake(line);
        }

        return;
    }

    for (q = ngx_queue_head(&ngx_queues_http_all_lines);
         q != ngx_queue_sentinel(&ngx_queues_http_all_lines);
         q = ngx_queue_next(q))
    {
        line = ngx_queue_data(q, ngx_queues_http_line_t, queue);

        if (line->root_len == root->len
            && ngx_memcmp(line->node.str.data, root->data, root->len) == 0)
        {
            ngx_queues_http_line_wake(line);
        }
    }
}


static ngx_queues_http_line_t *
ngx_queues_http_line_find(ngx_str_t *root, ngx_str_t *queue)
{
    u_char      buf[NGX_QUEUES_HTTP_LINE_KEY_MAX];
    ngx_str_t   key;
    uint32_t    hash;

    if (root->len + 1 + queue->len > sizeof(buf)) {
        return NULL;
    }

    key.data = buf;
    key.len = ngx_queues_http_line_key(root, queue, buf);
    hash = ngx_crc32_short(key.data, key.len);

    /* the node is the line's first member */

    return (ngx_queues_http_line_t *)
               ngx_str_rbtree_lookup(&ngx_queues_http_lines, &key, hash);
}


static ngx_queues_http_line_t *
ngx_queues_http_line_create(ngx_str_t *root, ngx_str_t *queue)
{
    ngx_queues_http_line_t  *line;

    if (root->len + 1 + queue->len > NGX_QUEUES_HTTP_LINE_KEY_MAX) {
        return NULL;
    }

    line = ngx_calloc(sizeof(ngx_queues_http_line_t) + root->len + 1
                      + queue->len, ngx_cycle->log);
    if (line == NULL) {
        return NULL;
    }

    line->root_len = root->len;

    line->node.str.data = (u_char *) line + sizeof(ngx_queues_http_line_t);
    line->node.str.len = ngx_queues_http_line_key(root, queue,
                                                  line->node.str.data);
    line->node.node.key = ngx_crc32_short(line->node.str.data,
                                          line->node.str.len);

    line->due.handler = ngx_queues_http_due_handler;
    line->due.data = line;
    line->due.log = ngx_cycle->log;
    line->due.cancelable = 1;

    ngx_queue_init(&line->waits);
    ngx_queue_insert_tail(&ngx_queues_http_all_lines, &line->queue);
    ngx_rbtree_insert(&ngx_queues_http_lines, &line->node.node);

    return line;
}


static ngx_uint_t
ngx_queues_http_line_key(ngx_str_t *root, ngx_str_t *queue, u_char *key)
{
    u_char  *p;

    p = ngx_cpymem(key, root->data, root->len);
    *p++ = LF;
    p = ngx_cpymem(p, queue->data, queue->len);

    return p - key;
}


/* Frees a line that nobody stands in and no try comes back to. */

static void
ngx_queues_http_line_check(ngx_queues_http_line_t *line)
{
    if (line->trying || !ngx_queue_empty(&line->waits)) {
        return;
    }

    if (line->due.timer_set) {
        ngx_del_timer(&line->due);
    }

    ngx_rbtree_delete(&ngx_queues_http_lines, &line->node.node);
    ngx_queue_remove(&line->queue);

    ngx_free(line);
}


static void
ngx_queues_http_line_wake(ngx_queues_http_line_t *line)
{
    if (line->trying) {

        /* what is under way may have been answered before the wake's reason */

        line->again = 1;
        return;
    }

    line->window = 1;

    ngx_queues_http_line_run(line);
}


/* 1 if the line was woken since then, or if that is no longer known */

static ngx_uint_t
ngx_queues_http_line_woken(ngx_queues_http_line_t *line, ngx_str_t *root,
    ngx_uint_t since)
{
    uint32_t    hash, project;
    ngx_uint_t  i;

    if (ngx_queues_http_nwakes - since > NGX_QUEUES_HTTP_WAKES) {
        return 1;
    }

    hash = line->node.node.key;
    project = ngx_crc32_short(root->data, root->len);

    for (i = since; i != ngx_queues_http_nwakes; i++) {
        if (ngx_queues_http_wakes[i % NGX_QUEUES_HTTP_WAKES] == hash
            || ngx_queues_http_wakes[i % NGX_QUEUES_HTTP_WAKES] == project)
        {
            return 1;
        }
    }

    return 0;
}


static void
ngx_queues_http_line_run(ngx_queues_http_line_t *line)
{
    ngx_queues_http_op_t  *op;

    while (line->trying < line->window) {

        op = ngx_queues_http_line_next(line);
        if (op == NULL) {
            return;
        }

        if (op->wait.try(op) != NGX_OK) {
            line->window = 0;
            ngx_queues_http_line_due(line, NGX_QUEUES_HTTP_RETRY);
            return;
        }

        op->wait.state = NGX_QUEUES_HTTP_WAIT_TRYING;
        line->trying++;
    }
}


/* The first one that is not trying; at most a window of others precede it. */

static ngx_queues_http_op_t *
ngx_queues_http_line_next(ngx_queues_http_line_t *line)
{
    ngx_queue_t             *q;
    ngx_queues_http_wait_t  *wait;

    for (q = ngx_queue_head(&line->waits);
         q != ngx_queue_sentinel(&line->waits);
         q = ngx_queue_next(q))
    {
        wait = ngx_queue_data(q, ngx_queues_http_wait_t, queue);

        if (wait->state == NGX_QUEUES_HTTP_WAIT_PARKED) {
            return wait->timer.data;
        }
    }

    return NULL;
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


/*
 * The newest reply knows best when something is due.  The timer is deleted
 * first: ngx_add_timer() alone leaves a timer that is only up to 300 ms off.
 */

static void
ngx_queues_http_line_due(ngx_queues_http_line_t *line, int64_t next)
{
    if (line->due.timer_set) {
        ngx_del_timer(&line->due);
    }

    if (next >= 0) {
        ngx_add_timer(&line->due, (ngx_msec_t)
                                  ngx_min(next, NGX_QUEUES_HTTP_DUE_MAX));
    }
}


static void
ngx_queues_http_due_handler(ngx_event_t *ev)
{
    ngx_queues_http_line_wake(ev->data);
}


static void
ngx_queues_http_end_handler(ngx_event_t *ev)
{
    ngx_queues_http_op_t *op = ev->data;

    ngx_queues_http_wait_t  *wait;

    wait = &op->wait;

    if (wait->state == NGX_QUEUES_HTTP_WAIT_TRYING && !wait->ended) {
        wait->ended = 1;
        ngx_add_timer(&wait->timer, NGX_QUEUES_HTTP_GRACE);
        return;
    }

    wait->end(op);
}
