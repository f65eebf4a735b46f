
/*
 * A transaction of the Queen API: its body, its way, its answer.
 */

#ifndef _NGX_QUEUES_API_QUEEN_TX_H_INCLUDED_
#define _NGX_QUEUES_API_QUEEN_TX_H_INCLUDED_


#include "ngx_queues_api_queen.h"


/* one of the flattened list of operations, each item of a push by itself */
typedef struct {
    ngx_queues_store_log_item_t  *item;    /* NULL: an ack */
    ngx_queues_api_queen_ack_t    ack;
} ngx_queues_api_queen_step_t;


typedef struct {
    ngx_str_t                     id;      /* of the call */
    ngx_queues_store_log_tx_t     tx;
    ngx_queues_api_queen_step_t  *steps;
    ngx_uint_t                    nsteps;
    const char                   *refused; /* an ack that never goes to the
                                              store */
} ngx_queues_api_queen_tx_t;


#pragma GCC visibility push(hidden)


/* Reads the body.  NGX_ERROR after it has answered. */
ngx_int_t ngx_queues_api_queen_tx_parse(ngx_queues_api_t *api,
    ngx_queues_api_queen_tx_t *ctx);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_QUEEN_TX_H_INCLUDED_ */
