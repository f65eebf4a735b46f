
/*
 * A pop of the Queen API: its parameters, its way, its answer.
 */

#ifndef _NGX_QUEUES_API_QUEEN_POP_H_INCLUDED_
#define _NGX_QUEUES_API_QUEEN_POP_H_INCLUDED_


#include "ngx_queues_api_queen.h"


/* from the first try to the end of the request */

typedef struct {
    ngx_queues_store_log_pop_t   pop;
    ngx_msec_t                   timeout;    /* 0: it does not wait */
    ngx_msec_t                   start;
    ngx_uint_t                   claimed;    /* and not yet written */

    /* its line */
    uint64_t                     id;         /* of the queue, 0: by labels */
    ngx_str_t                    queue;
    ngx_str_t                    part;
    u_char                       short_id[NGX_QUEUES_BASE_SHORT_LEN];
    u_char                       hash[20];
} ngx_queues_api_queen_pop_t;


#pragma GCC visibility push(hidden)


/* Reads path and query.  NGX_ERROR after it has answered. */
ngx_int_t ngx_queues_api_queen_pop_parse(ngx_queues_api_t *api,
    ngx_queues_api_queen_pop_t *ctx);

/* Answers with messages; NGX_ERROR after it has answered that it cannot. */
ngx_int_t ngx_queues_api_queen_pop_write(ngx_queues_api_t *api,
    ngx_queues_api_queen_pop_t *ctx, ngx_queues_store_log_t *log);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_QUEEN_POP_H_INCLUDED_ */
