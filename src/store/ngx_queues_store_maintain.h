
/*
 * What the parts of the worker's due work know of each other: when a project
 * is looked after (maintain), the calls (work), what the registry is told
 * (note) and tells (registry).  For src/store only.
 */

#ifndef _NGX_QUEUES_STORE_MAINTAIN_H_INCLUDED_
#define _NGX_QUEUES_STORE_MAINTAIN_H_INCLUDED_


#include "ngx_queues_store.h"
#include "ngx_queues_store_project.h"


#define NGX_QUEUES_STORE_REGISTRY      "ngxq:projects"

/* of the projects that there are, for metrics */
#define NGX_QUEUES_STORE_KNOWN         "ngxq:known"

/* ms for which a lease outlasts the moment of its holder, as in maintain */
#define NGX_QUEUES_STORE_GRACE         2000


#pragma GCC visibility push(hidden)


/*
 * A call of the project was executed that may have made something due: the
 * project is looked after within some seconds.  Cheap: most calls do this.
 */
void ngx_queues_store_maintain_note(ngx_str_t *root);

/*
 * The registry names a project whose moment is in so many ms, or was: it is
 * looked after a little later than that, should the one not come who is to,
 * and unless its own moment comes before that.
 */
void ngx_queues_store_maintain_adopt(ngx_str_t *root, int64_t left);

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

/* What is to be told of subscriptions; the exit comes after the links'. */
void ngx_queues_store_tell_init(void);
void ngx_queues_store_tell_exit(void);

/* Tells push how many subscriptions of a project are active. */
void ngx_queues_store_push_saw(ngx_str_t *root, int64_t active);


/*
 * What the registry is to be told of a project: that it is to be looked after
 * in ms, or that nothing is to come.  At once, where it may be that nobody
 * else knows, else a little later.  What comes later replaces what was not
 * sent yet.  The exit comes after that of the links.
 */
void ngx_queues_store_note_init(ngx_cycle_t *cycle);
void ngx_queues_store_note_exit(void);
void ngx_queues_store_note_now(ngx_queues_store_project_t *p, ngx_msec_t ms);
void ngx_queues_store_note_soon(ngx_queues_store_project_t *p, ngx_msec_t ms);
void ngx_queues_store_note_nothing(ngx_queues_store_project_t *p);


/*
 * A project is used, or is known to have something due: it is made known, and
 * again every 5 minutes.  Cheap where that was done already.  The exit comes
 * after that of the links.
 */
void ngx_queues_store_known_init(ngx_cycle_t *cycle);
void ngx_queues_store_known_exit(void);
void ngx_queues_store_known_note(ngx_queues_store_project_t *p);


/*
 * Reads what is due in the registry, page by page: once, or again and again.
 * Its exit comes after that of the links.
 */
void ngx_queues_store_registry_init(ngx_uint_t repeat);
void ngx_queues_store_registry_exit(void);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STORE_MAINTAIN_H_INCLUDED_ */
