
/*
 * The projects that a worker knows, each with what comes next for it: nothing,
 * a moment, or a call that waits for its turn.  For src/store only.
 */

#ifndef _NGX_QUEUES_STORE_PROJECT_H_INCLUDED_
#define _NGX_QUEUES_STORE_PROJECT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>


typedef enum {
    NGX_QUEUES_STORE_PROJECT_IDLE = 0,  /* nothing is due, ever */
    NGX_QUEUES_STORE_PROJECT_TIMED,     /* at a moment */
    NGX_QUEUES_STORE_PROJECT_READY,     /* as soon as there is room */
    NGX_QUEUES_STORE_PROJECT_CALLING    /* one call of it is under way */
} ngx_queues_store_project_state_e;


typedef struct ngx_queues_store_project_s  ngx_queues_store_project_t;

struct ngx_queues_store_project_s {
    ngx_rbtree_node_t                  node;      /* TIMED: by the moment */
    ngx_queue_t                        queue;     /* IDLE, READY */

    ngx_queues_store_project_t        *next;      /* of the same hash */
    uint64_t                           hash;

    ngx_queues_store_project_state_e   state;

    ngx_uint_t                         failures;  /* in a row, its own */

    ngx_queue_t                        notes;     /* noting: one of the lists
                                                     of what is to be noted */
    ngx_msec_t                         moment;    /* that is to be noted */

    ngx_queue_t                        known;     /* knowing: likewise */
    ngx_msec_t                         told;      /* when it was made known */

    unsigned                           noting:1;
    unsigned                           nothing:1; /* in place of a moment */
    unsigned                           knowing:1; /* is to be made known */
    unsigned                           was_told:1;
    unsigned                           used:1;    /* since its last call */
    unsigned                           touched:1; /* CALLING: used since */
    unsigned                           adopted:1; /* known by the registry
                                                     only */

    ngx_str_t                          root;
};


#pragma GCC visibility push(hidden)


/* The table of this worker. */
ngx_int_t ngx_queues_store_projects_init(void);
void ngx_queues_store_projects_exit(void);

/*
 * The project of a root, made (IDLE) where it is not known.  The table is
 * bounded: an idle one is forgotten for a new one, or the one whose moment
 * comes last, as that is noted.  NULL where there is none of these, or out of
 * memory.
 */
ngx_queues_store_project_t *ngx_queues_store_project_get(ngx_str_t *root);

/* Changes of state, from any state. */
void ngx_queues_store_project_idle(ngx_queues_store_project_t *p);
void ngx_queues_store_project_timed(ngx_queues_store_project_t *p,
    ngx_msec_t ms);
void ngx_queues_store_project_ready(ngx_queues_store_project_t *p);

/* The first of those that are READY, now CALLING, or NULL. */
ngx_queues_store_project_t *ngx_queues_store_project_take(void);

/* How many are READY. */
ngx_uint_t ngx_queues_store_projects_ready(void);

/* Makes those READY whose moment has come. */
void ngx_queues_store_projects_expire(void);

/* In how many ms the first moment comes; NGX_TIMER_INFINITE: there is none. */
ngx_msec_t ngx_queues_store_projects_next(void);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STORE_PROJECT_H_INCLUDED_ */
