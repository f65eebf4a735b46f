
/*
 * A pop of the Queen API: its parameters, its way, its answer.
 */

#ifndef _NGX_QUEUES_API_QUEEN_POP_H_INCLUDED_
#define _NGX_QUEUES_API_QUEEN_POP_H_INCLUDED_


#include "ngx_queues_api_queen.h"
#include "ngx_queues_api_wait.h"


/* from the first try to the end of the request */

typedef struct {
    ngx_queues_api_wait_t        wait;
    ngx_queues_store_log_pop_t   pop;
    ngx_msec_t                   timeout;    /* 0: it does not wait */
    u_char                       hash[20];   /* of its line */
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
