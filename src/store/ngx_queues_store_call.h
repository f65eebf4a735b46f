
/*
 * What all store operations share: one call of a function, from its arguments
 * to its typed result.  For src/store only.
 */

#ifndef _NGX_QUEUES_STORE_CALL_H_INCLUDED_
#define _NGX_QUEUES_STORE_CALL_H_INCLUDED_


#include "ngx_queues_store.h"
#include "../base/ngx_queues_base_text.h"


/* "z" ms "-" seq, and the largest numbers of the arguments */
#define NGX_QUEUES_STORE_SPOT_MAX   (2 + 2 * NGX_QUEUES_BASE_DECIMAL_MAX)

/* elements of a reply of receive before the messages */
#define NGX_QUEUES_STORE_HEAD_ELTS  5


typedef struct ngx_queues_store_call_s  ngx_queues_store_call_t;

/* NGX_OK, or NGX_ERROR for a reply that is not of the documented shape */
typedef ngx_int_t (*ngx_queues_store_parse_pt)(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);

struct ngx_queues_store_call_s {
    ngx_queues_store_parse_pt    parse;
    ngx_queues_store_done_pt     done;
    void                        *data;

    /* send: enough replicas have to have it */
    ngx_uint_t                   durable;     /* unsigned  durable:1; */

    /* receive: what is needed to give late messages back */
    ngx_uint_t                   undo;        /* unsigned  undo:1; */
    ngx_str_t                    root;
    uint64_t                     token;

    /* send: decoded lengths, to say which one was too big */
    ngx_uint_t                   nlengths;
    size_t                       lengths[NGX_QUEUES_STORE_BATCH_MAX];

    ngx_uint_t                   nreceipts;   /* ack, visibility */

    ngx_uint_t                   reads;       /* unsigned  reads:1; */
    ngx_uint_t                   answered;    /* unsigned  answered:1; */
};


#pragma GCC visibility push(hidden)


/* Allocates a call with a copy of root; NULL when out of memory. */
ngx_queues_store_call_t *ngx_queues_store_call_create(ngx_str_t *root,
    ngx_queues_store_parse_pt parse, ngx_queues_store_done_pt done,
    void *data);

/* Starts it, or frees it and returns NGX_ERROR. */
ngx_int_t ngx_queues_store_call_start(ngx_queues_store_call_t *call,
    const char *function, ngx_str_t *args, ngx_uint_t nargs);

/* Arguments: the text is written to p, which has room; returns its end. */
u_char *ngx_queues_store_number_arg(ngx_str_t *arg, u_char *p, int64_t n);
u_char *ngx_queues_store_short_arg(ngx_str_t *arg, u_char *p, uint64_t id);
u_char *ngx_queues_store_spot_arg(ngx_str_t *arg, u_char *p,
    ngx_queues_base_spot_t *spot);

/* Elements of a reply; NGX_ERROR if it is something else. */
ngx_int_t ngx_queues_store_integer(ngx_queues_redis_reply_t *elt, int64_t *n);
ngx_int_t ngx_queues_store_string(ngx_queues_redis_reply_t *elt,
    ngx_str_t *str);
ngx_int_t ngx_queues_store_place(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_place_t *place);

/*
 * Words of a string, each followed by one separator or the end: takes the
 * first off text.  NGX_ERROR where there is none.
 */
ngx_int_t ngx_queues_store_word(ngx_str_t *text, u_char separator,
    ngx_str_t *word);
ngx_int_t ngx_queues_store_number(ngx_str_t *text, u_char separator,
    uint64_t *n);
ngx_int_t ngx_queues_store_place_words(ngx_str_t *text, u_char separator,
    ngx_queues_store_place_t *place);

/* "ms-seq", of a delayed one with a "z" before it */
ngx_int_t ngx_queues_store_spot(ngx_str_t *word, ngx_queues_base_spot_t *spot);

/* "Q,G,id" and, of a dead letter, ",source,count,moment" */
ngx_int_t ngx_queues_store_origin(ngx_str_t *text,
    ngx_queues_store_origin_t *origin);

/*
 * The messages of a receive from a FIFO queue: text has the words after the
 * moment now, elt is the first element after the head.
 */
ngx_int_t ngx_queues_store_fifo_parse(ngx_queues_redis_reply_t *reply,
    ngx_str_t *text, uint64_t now, ngx_queues_store_result_t *result);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STORE_CALL_H_INCLUDED_ */
