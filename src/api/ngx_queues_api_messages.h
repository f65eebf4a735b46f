
/*
 * Sending and receiving.  For src/api only.
 */

#ifndef _NGX_QUEUES_API_MESSAGES_H_INCLUDED_
#define _NGX_QUEUES_API_MESSAGES_H_INCLUDED_


#include "ngx_queues_api.h"
#include "../store/ngx_queues_store_push.h"


#pragma GCC visibility push(hidden)


/* The routes' starts. */
void ngx_queues_api_send(ngx_queues_api_t *api);
void ngx_queues_api_receive(ngx_queues_api_t *api);

/*
 * Answers with the messages of a result, with receipt handles where key is not
 * NULL.  NGX_ERROR after it has answered 500.
 */
ngx_int_t ngx_queues_api_messages_answer(ngx_queues_api_t *api,
    ngx_queues_base_handle_key_t *key, ngx_queues_store_result_t *result);


/* what is remembered of a send until its answer, for errors */
typedef struct {
    ngx_uint_t                    batch;       /* in "messages" */
    ngx_uint_t                    n;
    ngx_uint_t                    fifo;        /* a message has an id below */

    /* the first message of which this holds, n: of none */
    ngx_uint_t                    grouped;     /* it has a groupId */
    ngx_uint_t                    deduplicated;
    ngx_uint_t                    ungrouped;   /* it has none */
    ngx_uint_t                    by_content;  /* it has no deduplicationId */
    ngx_uint_t                    delayed;     /* it has a delay */
} ngx_queues_api_sent_t;


/*
 * The members of a message that are for FIFO queues, null where they are
 * missing.
 */
ngx_int_t ngx_queues_api_fifo_ids(ngx_queues_api_t *api, ngx_str_t *prefix,
    ngx_queues_base_json_value_t *group, ngx_queues_base_json_value_t *id,
    ngx_queues_store_send_t *message);

/*
 * Sends messages of which one at least has such a member; done is the send's
 * own.
 */
void ngx_queues_api_fifo_send(ngx_queues_api_t *api,
    ngx_queues_store_send_t *messages, ngx_queues_store_done_pt done);

/* Answers what FIFO queues refuse, or are not; else NGX_DECLINED. */
ngx_int_t ngx_queues_api_fifo_error(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_MESSAGES_H_INCLUDED_ */
