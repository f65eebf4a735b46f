
#include "ngx_queues_http_line.h"


#define NGX_QUEUES_HTTP_DUE_MAX       60000   /* ms, longer than any wait */
#define NGX_QUEUES_HTTP_LINE_KEY_MAX  256
#define NGX_QUEUES_HTTP_WAKES         64      /* that are remembered */


static void ngx_queues_http_lines_wake(uint32_t hash, ngx_str_t *key);
static ngx_queues_http_line_t *ngx_queues_http_line_create(ngx_str_t *key,
    size_t root_len, size_t queue_len);
static ngx_queues_http_op_t *ngx_queues_http_line_next(
    ngx_queues_http_line_t *line);
static void ngx_queues_http_due_handler(ngx_event_t *ev);


static ngx_rbtree_t        ngx_queues_http_lines;
static ngx_rbtree_node_t   ngx_queues_http_lines_sentinel;
static ngx_queue_t         ngx_queues_http_all_lines;

/* hashes of the lines that the last wakes were for, or of roots, in a ring */
static uint32_t            ngx_queues_http_wakes[NGX_QUEUES_HTTP_WAKES];
static ngx_uint_t          ngx_queues_http_nwakes;


void
ngx_queues_http_lines_init(void)
{
    ngx_rbtree_init(&ngx_queues_http_lines, &ngx_queues_http_lines_sentinel,
                    ngx_str_rbtree_insert_value);
    ngx_queue_init(&ngx_queues_http_all_lines);
}


/*
 * Through the timers, as an answer here could finish other requests that this
 * loop stands on.
 */

void
ngx_queues_http_lines_end(void)
{
    ngx_queue_t             *q, *w;
    ngx_queues_http_wait_t  *wait;
    ngx_queues_http_line_t  *line;

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
ngx_queues_http_wake(ngx_str_t *root, ngx_str_t *queue)
{
    u_char                   buf[NGX_QUEUES_HTTP_LINE_KEY_MAX];
    uint32_t                 hash;
    ngx_str_t                key;
    ngx_uint_t               n;
    ngx_queue_t             *q;
    ngx_queues_http_line_t  *line;

    if (root->len + 1 + queue->len > sizeof(buf)) {
        return;
    }

    key.data = buf;
    key.len = ngx_sprintf(buf, "%V\n%V", root, queue) - buf;

    hash = ngx_crc32_short(buf, queue->len ? key.len : root->len);

    n = ngx_queues_http_nwakes++ % NGX_QUEUES_HTTP_WAKES;
    ngx_queues_http_wakes[n] = hash;

    if (queue->len) {
        ngx_queues_http_lines_wake(hash, &key);
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


/* the lines of a queue: from the first node on that has its hash */

static void
ngx_queues_http_lines_wake(uint32_t hash, ngx_str_t *key)
{
    ngx_rbtree_node_t       *node, *first;
    ngx_queues_http_line_t  *line;

    node = ngx_queues_http_lines.root;
    first = NULL;

    while (node != &ngx_queues_http_lines_sentinel) {

        if (node->key >= hash) {
            first = node;
            node = node->left;

        } else {
            node = node->right;
        }
    }

    for (node = first;
         node && node->key == hash;
         node = ngx_rbtree_next(&ngx_queues_http_lines, node))
    {
        /* the node is the line's first member */

        line = (ngx_queues_http_line_t *) node;

        if (line->queue_len == key->len
            && ngx_memcmp(line->node.str.data, key->data, key->len) == 0)
        {
            ngx_queues_http_line_wake(line);
        }
    }
}


ngx_queues_http_line_t *
ngx_queues_http_line_get(ngx_str_t *root, ngx_str_t *queue, ngx_str_t *part)
{
    u_char           buf[NGX_QUEUES_HTTP_LINE_KEY_MAX];
    size_t           len;
    uint32_t         hash;
    ngx_str_t        key;
    ngx_str_node_t  *node;

    len = root->len + 1 + queue->len;

    if (len + 1 + part->len > sizeof(buf)) {
        return NULL;
    }

    key.data = buf;
    key.len = ngx_sprintf(buf, "%V\n%V\n%V", root, queue, part) - buf;

    hash = ngx_crc32_short(buf, len);

    node = ngx_str_rbtree_lookup(&ngx_queues_http_lines, &key, hash);

    return node ? (ngx_queues_http_line_t *) node
                : ngx_queues_http_line_create(&key, root->len, len);
}


static ngx_queues_http_line_t *
ngx_queues_http_line_create(ngx_str_t *key, size_t root_len, size_t queue_len)
{
    ngx_queues_http_line_t  *line;

    line = ngx_calloc(sizeof(ngx_queues_http_line_t) + key->len,
                      ngx_cycle->log);
    if (line == NULL) {
        return NULL;
    }

    line->root_len = root_len;
    line->queue_len = queue_len;

    line->node.str.data = (u_char *) line + sizeof(ngx_queues_http_line_t);
    line->node.str.len = key->len;
    ngx_memcpy(line->node.str.data, key->data, key->len);

    line->node.node.key = ngx_crc32_short(key->data, queue_len);

    line->due.handler = ngx_queues_http_due_handler;
    line->due.data = line;
    line->due.log = ngx_cycle->log;
    line->due.cancelable = 1;

    ngx_queue_init(&line->waits);
    ngx_queue_insert_tail(&ngx_queues_http_all_lines, &line->queue);
    ngx_rbtree_insert(&ngx_queues_http_lines, &line->node.node);

    return line;
}


void
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


void
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


ngx_uint_t
ngx_queues_http_line_wakes(void)
{
    return ngx_queues_http_nwakes;
}


ngx_uint_t
ngx_queues_http_line_woken(ngx_queues_http_line_t *line, ngx_uint_t since)
{
    uint32_t    hash, project;
    ngx_uint_t  i;

    if (ngx_queues_http_nwakes - since > NGX_QUEUES_HTTP_WAKES) {
        return 1;
    }

    hash = line->node.node.key;
    project = ngx_crc32_short(line->node.str.data, line->root_len);

    for (i = since; i != ngx_queues_http_nwakes; i++) {
        if (ngx_queues_http_wakes[i % NGX_QUEUES_HTTP_WAKES] == hash
            || ngx_queues_http_wakes[i % NGX_QUEUES_HTTP_WAKES] == project)
        {
            return 1;
        }
    }

    return 0;
}


void
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


/*
 * The newest reply knows best when something is due.  The timer is deleted
 * first: ngx_add_timer() alone leaves a timer that is only up to 300 ms off.
 */

void
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
