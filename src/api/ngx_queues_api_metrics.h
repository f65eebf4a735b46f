
/*
 * What queues_metrics answers.  For src/api only.
 */

#ifndef _NGX_QUEUES_API_METRICS_H_INCLUDED_
#define _NGX_QUEUES_API_METRICS_H_INCLUDED_


#include "ngx_queues_api_samples.h"
#include "../store/ngx_queues_store_metrics.h"


/* the families, in the order in which they are written */
typedef enum {
    NGX_QUEUES_API_BUILD_INFO = 0,
    NGX_QUEUES_API_WORKERS,
    NGX_QUEUES_API_REQUESTS,
    NGX_QUEUES_API_REQUEST_SECONDS,
    NGX_QUEUES_API_WAIT_SECONDS,
    NGX_QUEUES_API_PARKED,
    NGX_QUEUES_API_SENT,
    NGX_QUEUES_API_RECEIVED,
    NGX_QUEUES_API_ACKNOWLEDGED,
    NGX_QUEUES_API_DELIVERIES,
    NGX_QUEUES_API_DELIVERY_SECONDS,
    NGX_QUEUES_API_IN_FLIGHT,
    NGX_QUEUES_API_WINDOW,
    NGX_QUEUES_API_OWNED,
    NGX_QUEUES_API_REDIS_UP,
    NGX_QUEUES_API_REDIS_LINKS,
    NGX_QUEUES_API_REDIS_RECONNECTS,
    NGX_QUEUES_API_REDIS_SECONDS,
    NGX_QUEUES_API_REDIS_IN_FLIGHT,
    NGX_QUEUES_API_REDIS_OVERDUE,
    NGX_QUEUES_API_REDIS_RETRIED,
    NGX_QUEUES_API_ZONE,

    NGX_QUEUES_API_STORE_FIRST,          /* of the store, the same on all
                                            nodes: */
    NGX_QUEUES_API_COMPLETE = NGX_QUEUES_API_STORE_FIRST,
    NGX_QUEUES_API_LEFT_OUT,
    NGX_QUEUES_API_PROJECT_QUEUES,
    NGX_QUEUES_API_EXPIRED,
    NGX_QUEUES_API_DEAD_LETTERED,
    NGX_QUEUES_API_DROPPED,
    NGX_QUEUES_API_QUEUE_MESSAGES,
    NGX_QUEUES_API_QUEUE_OLDEST,
    NGX_QUEUES_API_QUEUE_SENT,
    NGX_QUEUES_API_QUEUE_ACKNOWLEDGED,
    NGX_QUEUES_API_NFAMILIES
} ngx_queues_api_family_e;


/* "organization" and "project" */
typedef ngx_queues_api_label_t  ngx_queues_api_names_t[2];


typedef struct {
    const ngx_str_t              *name;
    ngx_queues_stat_api_e         api;         /* NAPIS: it moves no messages */
    ngx_queues_stat_move_e        move;
    ngx_int_t                     wait;        /* of those that may wait, -1 */
} ngx_queues_api_operation_t;


#pragma GCC visibility push(hidden)


/* one place for what they are called and mean: docs/operations.md has them */
extern const ngx_queues_api_family_t
    ngx_queues_api_families[NGX_QUEUES_API_NFAMILIES];


/* The operation of a number; NULL: there are no more. */
const ngx_queues_api_operation_t *ngx_queues_api_operation(ngx_uint_t n);


/* _store.c: what the store tells of a project, and of a queue */
void ngx_queues_api_metrics_project(ngx_queues_api_samples_t *samples,
    ngx_queues_api_names_t names, ngx_queues_store_metrics_t *page);
void ngx_queues_api_metrics_queue(ngx_queues_api_samples_t *samples,
    ngx_queues_api_names_t names, ngx_queues_store_metrics_queue_t *queue);

/* _node.c: all that this node knows; redis: it has answered */
void ngx_queues_api_metrics_node(ngx_queues_api_t *api,
    ngx_queues_api_samples_t *samples, ngx_uint_t redis);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_METRICS_H_INCLUDED_ */
