
/*
 * What the parts of the worker's due work know of each other: when a project
 * is looked after (maintain), the calls (work), the registry.  For src/store
 * only.
 */

#ifndef _NGX_QUEUES_STORE_MAINTAIN_H_INCLUDED_
#define _NGX_QUEUES_STORE_MAINTAIN_H_INCLUDED_


#include "ngx_queues_store.h"
#include "ngx_queues_store_project.h"


#define NGX_QUEUES_STORE_REGISTRY  "ngxq:projects"

/*
 * ms: what is used is entered again after this time, as a registry may get
 * lost
 */
#define NGX_QUEUES_STORE_ADD       3600000


#pragma GCC visibility push(hidden)


/*
 * A call of the project was executed that may have made something due: the
 * project is looked after within some seconds.  Cheap: most calls do this.
 */
void ngx_queues_store_maintain_note(ngx_str_t *root);

/*
 * The registry names a project, and will in so many ms again: it is looked
 * after in ms, unless its own moment comes before that.
 */
void ngx_queues_store_maintain_found(ngx_str_t *root, ngx_msec_t ms,
    ngx_msec_t again);

/* When a project comes next: soon, as something may be due there ... */
void ngx_queues_store_maintain_use(ngx_queues_store_project_t *p);

/* ... in so many ms ... */
void ngx_queues_store_maintain_at(ngx_queues_store_project_t *p,
    ngx_msec_t ms);

/* ... or as soon as there is room. */
void ngx_queues_store_maintain_ready(ngx_queues_store_project_t *p);

/*
 * The pause after so many failures in a row, from 1: a second, doubled for
 * each, at most max; a quarter more or less of it.
 */
ngx_msec_t ngx_queues_store_maintain_pause(ngx_uint_t failures,
    ngx_msec_t max);


/* The calls; their exit comes after that of the links. */
ngx_int_t ngx_queues_store_work_init(ngx_cycle_t *cycle);
void ngx_queues_store_work_exit(void);

/* Starts what is READY a little later, and never within a reply. */
void ngx_queues_store_work_run(void);


/*
 * Reads the registry, page by page: once, or again and again.  Its exit comes
 * after that of the links.
 */
void ngx_queues_store_registry_init(ngx_uint_t repeat);
void ngx_queues_store_registry_exit(void);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STORE_MAINTAIN_H_INCLUDED_ */
