
/*
 * What Redis is told of projects: many in one call, one call at a time.  What
 * is urgent goes at the end of this turn of the event loop, and the rest by and
 * by; what was not told is told again, before the others.  For src/store only.
 */

#ifndef _NGX_QUEUES_STORE_BATCH_H_INCLUDED_
#define _NGX_QUEUES_STORE_BATCH_H_INCLUDED_


#include "ngx_queues_store_project.h"
#include "../base/ngx_queues_base_text.h"


#define NGX_QUEUES_STORE_BATCH_ARGS  2         /* of one, at most */


/* what is told: q is what a project has in the lists of this batch */
typedef struct {
    const char    *function;
    ngx_str_t      key;
    ngx_uint_t     nargs;        /* of each */
    ngx_msec_t     gap;          /* between calls */

    /* writes nargs; text is there until the call is made, and has room for a
       decimal */
    void         (*args)(ngx_queue_t *q, ngx_str_t *args, u_char *text);

    /* it was told, and is in no list any more */
    void         (*told)(ngx_queue_t *q);

    /* logs a failure */
    void         (*failed)(const char *reason);
} ngx_queues_store_batch_kind_t;


typedef struct {
    void          *unused[3];

    /* event ident must be after 3 pointers as in ngx_connection_t */
    ngx_socket_t   ident;

    ngx_queues_store_batch_kind_t *kind;

    ngx_event_t    timer;        /* what is not urgent; a pause */
    ngx_event_t    send;         /* posted */

    ngx_queue_t    urgent;
    ngx_queue_t    later;
    ngx_queue_t    sent;         /* in the call under way */

    ngx_msec_t     called;       /* the last time */
    ngx_uint_t     failures;     /* in a row */

    unsigned       calling:1;
    unsigned       paused:1;
} ngx_queues_store_batch_t;


#pragma GCC visibility push(hidden)


/* The exit comes after that of the links. */
void ngx_queues_store_batch_init(ngx_queues_store_batch_t *b,
    ngx_queues_store_batch_kind_t *kind, ngx_cycle_t *cycle);
void ngx_queues_store_batch_exit(ngx_queues_store_batch_t *b);

/* Something was put into one of the lists. */
void ngx_queues_store_batch_next(ngx_queues_store_batch_t *b);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STORE_BATCH_H_INCLUDED_ */
