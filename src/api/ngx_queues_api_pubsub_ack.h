
/*
 * The ids of an acknowledgement.  For src/api only.
 */

#ifndef _NGX_QUEUES_API_PUBSUB_ACK_H_INCLUDED_
#define _NGX_QUEUES_API_PUBSUB_ACK_H_INCLUDED_


#include "ngx_queues_api_pubsub.h"


typedef struct {
    ngx_str_t                    id;          /* as it came, JSON text */
    ngx_queues_store_receipt_t   receipt;
    ngx_uint_t                   refused;     /* unsigned  refused:1; */
} ngx_queues_api_ack_id_t;


typedef struct {
    int64_t                      seconds;     /* -1: acknowledge */
    ngx_uint_t                   n;
    ngx_queues_api_ack_id_t     *ids;         /* in the order of their pulls */
    ngx_queues_store_receipt_t  *receipts;

    ngx_str_t                    invalid;     /* the first one, or NULL data */
    uint64_t                     queue;       /* of the first id */
    ngx_uint_t                   ninvalid;
    ngx_uint_t                   mixed;       /* of several subscriptions */

    ngx_uint_t                   waiting;     /* calls */
    ngx_uint_t                   nok;
    ngx_uint_t                   nrefused;
    ngx_queues_store_code_e      code;        /* one of them failed */
    const char                  *reason;
} ngx_queues_api_ack_t;


#pragma GCC visibility push(hidden)


/*
 * Reads the body; with a deadline unless ctx->seconds is -1.  NGX_ERROR after
 * it has answered.
 */
ngx_int_t ngx_queues_api_ack_parse(ngx_queues_api_t *api,
    ngx_queues_api_ack_t *ctx);

/* Puts ids of one pull together, each of them once, into the receipts. */
void ngx_queues_api_ack_sort(ngx_queues_api_ack_t *ctx);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_PUBSUB_ACK_H_INCLUDED_ */
