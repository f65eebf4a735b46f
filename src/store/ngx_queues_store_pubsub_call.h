
/* What the calls of Pub/Sub share.  For src/store only. */

#ifndef _NGX_QUEUES_STORE_PUBSUB_CALL_H_INCLUDED_
#define _NGX_QUEUES_STORE_PUBSUB_CALL_H_INCLUDED_


#include "ngx_queues_store_pubsub.h"
#include "ngx_queues_store_call.h"


#pragma GCC visibility push(hidden)


/*
 * A call whose reply is a table; of one that tells the first element is how
 * many push subscriptions are active, -1: as many as before.
 */
ngx_int_t ngx_queues_store_pubsub_call(const char *function,
    const char *shape, ngx_queues_store_kind_e kind, ngx_str_t *root,
    ngx_str_t *args, ngx_uint_t nargs, ngx_queues_store_done_pt done,
    void *data);

/* A page of all of a kind. */
ngx_int_t ngx_queues_store_pubsub_list(const char *function,
    const char *shape, ngx_str_t *root, ngx_str_t *after, ngx_uint_t limit,
    ngx_queues_store_done_pt done, void *data);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STORE_PUBSUB_CALL_H_INCLUDED_ */
