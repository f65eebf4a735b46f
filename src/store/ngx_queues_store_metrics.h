
/*
 * What the store tells of projects and their queues for metrics: page by page,
 * each of a bounded cost, and nothing that is due is done on the way.
 */

#ifndef _NGX_QUEUES_STORE_METRICS_H_INCLUDED_
#define _NGX_QUEUES_STORE_METRICS_H_INCLUDED_


#include "ngx_queues_store.h"


/* most in one page */
#define NGX_QUEUES_STORE_METRICS_PROJECTS  100
#define NGX_QUEUES_STORE_METRICS_QUEUES    50


typedef struct {
    ngx_str_t                     root;         /* "ngxq:{org/project}" */
    ngx_str_t                     organization; /* and what is in it */
    ngx_str_t                     project;
} ngx_queues_store_metrics_project_t;


typedef struct {
    ngx_str_t                     name;       /* "gcp.sub.NAME" of Pub/Sub */
    ngx_str_t                     kind;       /* "standard", "fifo" */
    ngx_queues_store_counts_t     counts;     /* but for sources */
    ngx_queues_store_totals_t     totals;
} ngx_queues_store_metrics_queue_t;


/* result->metrics, where the code is NGX_QUEUES_STORE_OK */
struct ngx_queues_store_metrics_s {
    /*
     * The cursor of the next page, empty where this is the last one.  It lives
     * as long as the result: copy it.
     */
    ngx_str_t                     next;

    /* of projects_start */
    ngx_queues_store_metrics_project_t  *projects;
    ngx_uint_t                    nprojects;

    /* of queues_start */
    ngx_queues_store_metrics_queue_t    *queues;
    ngx_uint_t                    nqueues;
    uint64_t                      all;        /* queues that the project has,
                                                 with subscriptions of Pub/Sub */
    ngx_queues_store_totals_t     totals;     /* of the project */
};


#pragma GCC visibility push(hidden)


/*
 * Both return NGX_OK, or NGX_ERROR when out of memory: then done is not called.
 * The arguments are copied.  Either may answer NGX_QUEUES_STORE_UNAVAILABLE.
 */

/*
 * Projects in the order of their roots, each once: cursor is empty at first.
 * A project is here a little later than its first use.
 */
ngx_int_t ngx_queues_store_metrics_projects_start(ngx_str_t *cursor,
    ngx_uint_t limit, ngx_queues_store_done_pt done, void *data);

/*
 * The totals of a project, and its queues in the order of their names, then its
 * subscriptions of Pub/Sub: cursor is empty at first.  With limit 0 there are no
 * queues, and next is empty.  A page may have fewer than limit, or none, and yet
 * a next one.  A project that has nothing at all is forgotten by and by.
 */
ngx_int_t ngx_queues_store_metrics_queues_start(ngx_str_t *root,
    ngx_str_t *cursor, ngx_uint_t limit, ngx_queues_store_done_pt done,
    void *data);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STORE_METRICS_H_INCLUDED_ */
