
#include "ngx_queues_push_engine.h"


#define NGX_QUEUES_PUSH_BUCKETS  8192    /* a power of two */


typedef struct {
    ngx_queues_push_project_t   **buckets;
    ngx_queue_t                   all;
} ngx_queues_push_projects_t;


static ngx_queues_push_project_t *ngx_queues_push_project_create(
    ngx_str_t *root, uint64_t hash);
static void ngx_queues_push_project_check(ngx_queues_push_project_t *p);


static ngx_queues_push_projects_t  ngx_queues_push_projects;

ngx_int_t
ngx_queues_push_projects_init(ngx_cycle_t *cycle)
{
    ngx_queues_push_projects_t  *t;

    t = &ngx_queues_push_projects;

    ngx_memzero(t, sizeof(ngx_queues_push_projects_t));

    ngx_queue_init(&t->all);

    t->buckets = ngx_calloc(NGX_QUEUES_PUSH_BUCKETS
                            * sizeof(ngx_queues_push_project_t *),
                            cycle->log);

    return t->buckets ? NGX_OK : NGX_ERROR;
}


/* jobs and deliveries have gone before */

void
ngx_queues_push_projects_exit(void)
{
    ngx_queue_t                 *q;
    ngx_queues_push_project_t   *p;
    ngx_queues_push_projects_t  *t;

    t = &ngx_queues_push_projects;

    while (!ngx_queue_empty(&t->all)) {
        q = ngx_queue_head(&t->all);
        ngx_queue_remove(q);

        p = ngx_queue_data(q, ngx_queues_push_project_t, queue);

        if (p->timer.timer_set) {
            ngx_del_timer(&p->timer);
        }

        ngx_free(p);
    }

    ngx_free(t->buckets);
    t->buckets = NULL;
}


ngx_queues_push_project_t *
ngx_queues_push_project_find(ngx_str_t *root)
{
    uint64_t                    hash;
    ngx_queues_push_project_t  *p;

    hash = ngx_queues_push_hash(root->data, root->len);
    p = ngx_queues_push_projects.buckets[hash % NGX_QUEUES_PUSH_BUCKETS];

    for ( /* void */ ; p; p = p->next) {
        if (p->hash == hash
            && p->root.len == root->len
            && ngx_memcmp(p->root.data, root->data, root->len) == 0)
        {
            return p;
        }
    }

    return NULL;
}


static ngx_queues_push_project_t *
ngx_queues_push_project_create(ngx_str_t *root, uint64_t hash)
{
    ngx_queues_push_project_t  *p, **bucket;

    p = ngx_calloc(sizeof(ngx_queues_push_project_t) + root->len,
                   ngx_cycle->log);
    if (p == NULL) {
        return NULL;
    }

    p->root.len = root->len;
    p->root.data = (u_char *) p + sizeof(ngx_queues_push_project_t);
    ngx_memcpy(p->root.data, root->data, root->len);

    ngx_queues_push_sync_init_timer(&p->timer, p);

    ngx_queue_init(&p->jobs);

    bucket = &ngx_queues_push_projects.buckets[hash % NGX_QUEUES_PUSH_BUCKETS];

    p->hash = hash;
    p->next = *bucket;
    *bucket = p;

    ngx_queue_insert_tail(&ngx_queues_push_projects.all, &p->queue);

    return p;
}


void
ngx_queues_push_project_hold(ngx_queues_push_project_t *p)
{
    p->holds++;
}


void
ngx_queues_push_project_release(ngx_queues_push_project_t *p)
{
    p->holds--;

    ngx_queues_push_project_check(p);
}


/* one without anything of interest is forgotten */

static void
ngx_queues_push_project_check(ngx_queues_push_project_t *p)
{
    ngx_queues_push_project_t  **prev;

    if (p->holds || p->ready || p->calling || p->active) {
        return;
    }

    if (p->timer.timer_set) {
        ngx_del_timer(&p->timer);
    }

    prev = &ngx_queues_push_projects.buckets[p->hash
                                             % NGX_QUEUES_PUSH_BUCKETS];

    while (*prev != p) {
        prev = &(*prev)->next;
    }

    *prev = p->next;

    ngx_queue_remove(&p->queue);
    ngx_free(p);
}


ngx_int_t
ngx_queues_push_project_told(ngx_str_t *root, int64_t active)
{
    ngx_uint_t                  wanted;
    ngx_queues_push_project_t  *p;

    p = ngx_queues_push_project_find(root);

    if (p == NULL) {

        if (active == 0) {
            return NGX_OK;
        }

        p = ngx_queues_push_project_create(root,
                              ngx_queues_push_hash(root->data, root->len));
        if (p == NULL) {
            return NGX_ERROR;
        }
    }

    wanted = p->want;

    p->active = active;
    p->noted = active;
    p->want = ngx_queues_push_member_share(root, active);
    p->tries = 0;

    /*
     * Numbers that two workers tell may come in the wrong order.  Whoever wanted
     * something there has a look, as nobody else would.
     */

    if (p->want || p->njobs || wanted) {
        ngx_queues_push_sync(p);

    } else {
        ngx_queues_push_project_check(p);
    }

    return NGX_OK;
}


void
ngx_queues_push_projects_share(void)
{
    ngx_queue_t                 *q;
    ngx_uint_t                   want;
    ngx_queues_push_project_t   *p;
    ngx_queues_push_projects_t  *t;

    t = &ngx_queues_push_projects;

    for (q = ngx_queue_head(&t->all);
         q != ngx_queue_sentinel(&t->all);
         q = ngx_queue_next(q))
    {
        p = ngx_queue_data(q, ngx_queues_push_project_t, queue);

        want = ngx_queues_push_member_share(&p->root, p->active);

        if (want != p->want || want != p->njobs) {
            p->want = want;
            p->tries = 0;

            ngx_queues_push_sync(p);
        }
    }
}


/*
 * What one owns it may tell of.  What only the registry told of is forgotten,
 * as it may be of nothing; it is told again if it is there still.
 */

void
ngx_queues_push_projects_lost(void)
{
    ngx_queue_t                 *q, *next;
    ngx_queues_push_project_t   *p;
    ngx_queues_push_projects_t  *t;

    t = &ngx_queues_push_projects;

    for (q = ngx_queue_head(&t->all);
         q != ngx_queue_sentinel(&t->all);
         q = next)
    {
        next = ngx_queue_next(q);

        p = ngx_queue_data(q, ngx_queues_push_project_t, queue);

        p->noted = -1;

        if (p->want || p->njobs) {
            ngx_queues_push_sync(p);
            continue;
        }

        p->active = 0;
        ngx_queues_push_project_check(p);
    }
}


void
ngx_queues_push_projects_drain(void)
{
    ngx_queue_t                 *q, *next;
    ngx_queues_push_project_t   *p;
    ngx_queues_push_projects_t  *t;

    t = &ngx_queues_push_projects;

    for (q = ngx_queue_head(&t->all);
         q != ngx_queue_sentinel(&t->all);
         q = next)
    {
        next = ngx_queue_next(q);

        p = ngx_queue_data(q, ngx_queues_push_project_t, queue);

        if (p->njobs) {
            ngx_queues_push_sync(p);

            /* what was not sent others may as well send */

            ngx_queues_push_jobs_drop(p, 1);
        }
    }

    ngx_queues_push_sync_drain();
}
