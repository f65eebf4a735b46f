
#include "ngx_queues_store.h"
#include "ngx_queues_store_project.h"
#include "../base/ngx_queues_base_siphash.h"


#define NGX_QUEUES_STORE_PROJECTS  100000     /* that a worker knows */
#define NGX_QUEUES_STORE_BUCKETS   16384      /* a power of two */

#define NGX_QUEUES_STORE_LATER     60000      /* ms: no longer known where
                                                 room is needed */


typedef struct {
    ngx_queues_store_project_t   **buckets;
    ngx_queues_store_project_t    *last;      /* the one asked for last */
    ngx_uint_t                     n;

    /* clients choose the names of projects */
    u_char                         secret[NGX_QUEUES_BASE_SIPHASH_KEY];

    ngx_rbtree_t                   timed;
    ngx_rbtree_node_t              sentinel;

    ngx_queue_t                    idle;      /* the longest idle first */
    ngx_queue_t                    ready;
    ngx_uint_t                     nready;
} ngx_queues_store_projects_t;


static ngx_queues_store_project_t *ngx_queues_store_project_create(
    ngx_str_t *root, uint64_t hash);
static ngx_int_t ngx_queues_store_project_forget(void);
static ngx_queues_store_project_t *ngx_queues_store_project_last(void);
static void ngx_queues_store_project_leave(ngx_queues_store_project_t *p);


static ngx_queues_store_projects_t  ngx_queues_store_projects;


ngx_int_t
ngx_queues_store_projects_init(void)
{
    size_t                        size;
    ngx_queues_store_projects_t  *t;

    t = &ngx_queues_store_projects;

    ngx_memzero(t, sizeof(ngx_queues_store_projects_t));

    if (ngx_queues_store_random(t->secret, sizeof(t->secret)) != NGX_OK) {
        return NGX_ERROR;
    }

    size = NGX_QUEUES_STORE_BUCKETS * sizeof(ngx_queues_store_project_t *);

    t->buckets = ngx_calloc(size, ngx_cycle->log);
    if (t->buckets == NULL) {
        return NGX_ERROR;
    }

    ngx_rbtree_init(&t->timed, &t->sentinel, ngx_rbtree_insert_timer_value);
    ngx_queue_init(&t->idle);
    ngx_queue_init(&t->ready);

    return NGX_OK;
}


void
ngx_queues_store_projects_exit(void)
{
    ngx_uint_t                    i;
    ngx_queues_store_project_t   *p;
    ngx_queues_store_projects_t  *t;

    t = &ngx_queues_store_projects;

    for (i = 0; i < NGX_QUEUES_STORE_BUCKETS; i++) {
        while (t->buckets[i]) {
            p = t->buckets[i];
            t->buckets[i] = p->next;
            ngx_free(p);
        }
    }

    ngx_free(t->buckets);
    ngx_memzero(t, sizeof(ngx_queues_store_projects_t));
}


ngx_queues_store_project_t *
ngx_queues_store_project_get(ngx_str_t *root)
{
    uint64_t                      hash;
    ngx_queues_store_project_t   *p;
    ngx_queues_store_projects_t  *t;

    t = &ngx_queues_store_projects;
    p = t->last;

    /* every request asks, and mostly for the same one */

    if (p
        && p->root.len == root->len
        && ngx_memcmp(p->root.data, root->data, root->len) == 0)
    {
        return p;
    }

    hash = ngx_queues_base_siphash(t->secret, root->data, root->len);

    for (p = t->buckets[hash % NGX_QUEUES_STORE_BUCKETS]; p; p = p->next) {
        if (p->hash == hash
            && p->root.len == root->len
            && ngx_memcmp(p->root.data, root->data, root->len) == 0)
        {
            t->last = p;
            return p;
        }
    }

    if (t->n >= NGX_QUEUES_STORE_PROJECTS
        && ngx_queues_store_project_forget() != NGX_OK)
    {
        return NULL;
    }

    p = ngx_queues_store_project_create(root, hash);
    if (p == NULL) {
        return NULL;
    }

    t->last = p;

    return p;
}


static ngx_queues_store_project_t *
ngx_queues_store_project_create(ngx_str_t *root, uint64_t hash)
{
    ngx_queues_store_project_t   *p, **bucket;
    ngx_queues_store_projects_t  *t;

    t = &ngx_queues_store_projects;

    p = ngx_alloc(sizeof(ngx_queues_store_project_t) + root->len,
                  ngx_cycle->log);
    if (p == NULL) {
        return NULL;
    }

    ngx_memzero(p, sizeof(ngx_queues_store_project_t));

    p->root.len = root->len;
    p->root.data = (u_char *) p + sizeof(ngx_queues_store_project_t);
    ngx_memcpy(p->root.data, root->data, root->len);

    bucket = &t->buckets[hash % NGX_QUEUES_STORE_BUCKETS];

    p->hash = hash;
    p->next = *bucket;
    *bucket = p;

    t->n++;

    p->state = NGX_QUEUES_STORE_PROJECT_IDLE;
    ngx_queue_insert_tail(&t->idle, &p->queue);

    return p;
}


/* one that is idle: whoever uses it next will know it again */

static ngx_int_t
ngx_queues_store_project_forget(void)
{
    ngx_queue_t                   *q;
    ngx_queues_store_project_t    *p, **prev;
    ngx_queues_store_projects_t   *t;

    t = &ngx_queues_store_projects;

    if (ngx_queue_empty(&t->idle)) {
        p = ngx_queues_store_project_last();

        if (p == NULL) {
            return NGX_DECLINED;
        }

    } else {
        q = ngx_queue_head(&t->idle);
        p = ngx_queue_data(q, ngx_queues_store_project_t, queue);
    }

    ngx_queues_store_project_leave(p);

    if (p->noting) {

        /* it stays in the registry, and whoever finds it there looks */

        ngx_queue_remove(&p->notes);
    }

    if (p->knowing) {
        ngx_queue_remove(&p->known);
    }

    prev = &t->buckets[p->hash % NGX_QUEUES_STORE_BUCKETS];

    while (*prev != p) {
        prev = &(*prev)->next;
    }

    *prev = p->next;

    if (t->last == p) {
        t->last = NULL;
    }

    t->n--;

    ngx_free(p);

    return NGX_OK;
}


/* one with a moment that is noted, and far away: the registry tells of it */

static ngx_queues_store_project_t *
ngx_queues_store_project_last(void)
{
    ngx_rbtree_node_t            *node;
    ngx_queues_store_project_t   *p;
    ngx_queues_store_projects_t  *t;

    t = &ngx_queues_store_projects;

    if (t->timed.root == &t->sentinel) {
        return NULL;
    }

    for (node = t->timed.root; node->right != &t->sentinel; /* void */ ) {
        node = node->right;
    }

    p = ngx_rbtree_data(node, ngx_queues_store_project_t, node);

    if (p->noting || p->knowing
        || (ngx_msec_int_t) (node->key - ngx_current_msec)
           < NGX_QUEUES_STORE_LATER)
    {
        return NULL;
    }

    return p;
}


void
ngx_queues_store_project_idle(ngx_queues_store_project_t *p)
{
    ngx_queues_store_project_leave(p);

    p->state = NGX_QUEUES_STORE_PROJECT_IDLE;
    ngx_queue_insert_tail(&ngx_queues_store_projects.idle, &p->queue);
}


void
ngx_queues_store_project_timed(ngx_queues_store_project_t *p, ngx_msec_t ms)
{
    ngx_queues_store_project_leave(p);

    p->state = NGX_QUEUES_STORE_PROJECT_TIMED;
    p->node.key = ngx_current_msec + ms;
    ngx_rbtree_insert(&ngx_queues_store_projects.timed, &p->node);
}


void
ngx_queues_store_project_ready(ngx_queues_store_project_t *p)
{
    ngx_queues_store_project_leave(p);

    p->state = NGX_QUEUES_STORE_PROJECT_READY;
    ngx_queue_insert_tail(&ngx_queues_store_projects.ready, &p->queue);
    ngx_queues_store_projects.nready++;
}


static void
ngx_queues_store_project_leave(ngx_queues_store_project_t *p)
{
    switch (p->state) {

    case NGX_QUEUES_STORE_PROJECT_IDLE:
        ngx_queue_remove(&p->queue);
        break;

    case NGX_QUEUES_STORE_PROJECT_TIMED:
        ngx_rbtree_delete(&ngx_queues_store_projects.timed, &p->node);
        break;

    case NGX_QUEUES_STORE_PROJECT_READY:
        ngx_queue_remove(&p->queue);
        ngx_queues_store_projects.nready--;
        break;

    case NGX_QUEUES_STORE_PROJECT_CALLING:
        break;
    }
}


ngx_queues_store_project_t *
ngx_queues_store_project_take(void)
{
    ngx_queue_t                 *q;
    ngx_queues_store_project_t  *p;

    if (ngx_queue_empty(&ngx_queues_store_projects.ready)) {
        return NULL;
    }

    q = ngx_queue_head(&ngx_queues_store_projects.ready);
    p = ngx_queue_data(q, ngx_queues_store_project_t, queue);

    ngx_queues_store_project_leave(p);

    p->state = NGX_QUEUES_STORE_PROJECT_CALLING;
    p->touched = 0;
    p->used = 0;

    return p;
}


ngx_uint_t
ngx_queues_store_projects_ready(void)
{
    return ngx_queues_store_projects.nready;
}


void
ngx_queues_store_projects_expire(void)
{
    ngx_rbtree_node_t            *node;
    ngx_queues_store_project_t   *p;
    ngx_queues_store_projects_t  *t;

    t = &ngx_queues_store_projects;

    while (t->timed.root != &t->sentinel) {
        node = ngx_rbtree_min(t->timed.root, &t->sentinel);

        if ((ngx_msec_int_t) (node->key - ngx_current_msec) > 0) {
            return;
        }

        p = ngx_rbtree_data(node, ngx_queues_store_project_t, node);

        ngx_queues_store_project_ready(p);
    }
}


ngx_msec_t
ngx_queues_store_projects_next(void)
{
    ngx_msec_int_t                left;
    ngx_rbtree_node_t            *node;
    ngx_queues_store_projects_t  *t;

    t = &ngx_queues_store_projects;

    if (t->timed.root == &t->sentinel) {
        return NGX_TIMER_INFINITE;
    }

    node = ngx_rbtree_min(t->timed.root, &t->sentinel);
    left = (ngx_msec_int_t) (node->key - ngx_current_msec);

    return (ngx_msec_t) ngx_max(left, 0);
}
