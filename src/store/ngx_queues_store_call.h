
/*
 * What all store operations share: one call of a function, from its arguments
 * to its typed result.  For src/store only.
 */

#ifndef _NGX_QUEUES_STORE_CALL_H_INCLUDED_
#define _NGX_QUEUES_STORE_CALL_H_INCLUDED_


#include "ngx_queues_store.h"
#include "ngx_queues_store_push.h"
#include "ngx_queues_store_log.h"
#include "../base/ngx_queues_base_text.h"


/* "z" ms "-" seq, and the largest numbers of the arguments */
#define NGX_QUEUES_STORE_SPOT_MAX   (2 + 2 * NGX_QUEUES_BASE_DECIMAL_MAX)

/* key and hash of a create that may come again, in hex */
#define NGX_QUEUES_STORE_ONCE_MAX   (4 * NGX_QUEUES_STORE_HASH_SIZE)

/* of tokens: bytes, and all their bits */
#define NGX_QUEUES_STORE_TOKEN_SIZE  5
#define NGX_QUEUES_STORE_TOKEN_MASK  (((uint64_t) 1 << 40) - 1)

/* elements of a reply of receive before the messages */
#define NGX_QUEUES_STORE_HEAD_ELTS  5

/* arguments of all that may claim, to begin with */
#define NGX_QUEUES_STORE_CLAIM_ARGS  5


typedef struct ngx_queues_store_call_s      ngx_queues_store_call_t;

/* of ngx_queues_store_log_call.h */
typedef struct ngx_queues_store_log_work_s  ngx_queues_store_log_work_t;

/* NGX_OK, or NGX_ERROR for a reply that is not of the documented shape */
typedef ngx_int_t (*ngx_queues_store_parse_pt)(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);

/* what is to be done after a call */
typedef enum {
    NGX_QUEUES_STORE_WRITES = 0,         /* looks after what it made due */
    NGX_QUEUES_STORE_READS,              /* nothing */
    NGX_QUEUES_STORE_TELLS               /* tells of subscriptions as well */
} ngx_queues_store_kind_e;

/* a result that nobody waits for any more */
typedef void (*ngx_queues_store_late_pt)(ngx_queues_store_call_t *call,
    ngx_queues_store_result_t *result);

struct ngx_queues_store_call_s {
    ngx_queues_store_parse_pt    parse;
    ngx_queues_store_done_pt     done;
    void                        *data;

    /* send: enough replicas have to have it */
    ngx_uint_t                   durable;     /* unsigned  durable:1; */

    /* receive, claims: what is needed to give late messages back */
    ngx_queues_store_late_pt     late;
    ngx_str_t                    root;
    uint64_t                     token;       /* further claims have those
                                                 that follow it */
    u_char                       id[NGX_QUEUES_BASE_SHORT_LEN];

    /* result->active is told to all workers before done is called */
    ngx_uint_t                   tells;       /* unsigned  tells:1; */

    ngx_uint_t                   claims;      /* settle, done: how many there
                                                 are with it */

    /* send: decoded lengths, to say which one was too big */
    ngx_uint_t                   nlengths;
    size_t                       lengths[NGX_QUEUES_STORE_BATCH_MAX];

    ngx_uint_t                   nreceipts;   /* ack, visibility ... */

    ngx_pool_t                  *pool;        /* of log; NULL: none */
    ngx_queues_store_log_work_t *log;

    const char                  *shape;       /* of the reply's rows */

    ngx_uint_t                   reads;       /* unsigned  reads:1; */
    ngx_uint_t                   answered;    /* unsigned  answered:1; */
};


#pragma GCC visibility push(hidden)


/* Allocates a call with a copy of root; NULL when out of memory. */
ngx_queues_store_call_t *ngx_queues_store_call_create(ngx_str_t *root,
    ngx_queues_store_parse_pt parse, ngx_queues_store_done_pt done,
    void *data);

/* Of one that was not started. */
void ngx_queues_store_call_free(ngx_queues_store_call_t *call);

/* Starts it, or frees it and returns NGX_ERROR. */
ngx_int_t ngx_queues_store_call_start(ngx_queues_store_call_t *call,
    const char *function, ngx_str_t *args, ngx_uint_t nargs);

/* Both, for a call of which nothing else is to be remembered. */
ngx_int_t ngx_queues_store_call(const char *function, ngx_str_t *root,
    ngx_str_t *args, ngx_uint_t nargs, ngx_queues_store_kind_e kind,
    ngx_queues_store_parse_pt parse, ngx_queues_store_done_pt done,
    void *data);

/* The end of a call that was executed: done, and its memory. */
void ngx_queues_store_call_end(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);

/*
 * Tells all workers how many subscriptions of the root are active, again and
 * again for a while where that fails.  call, whose reply has said so, ends as
 * soon as it is told or has failed once; NULL: nobody waits for it.  NGX_ERROR
 * when out of memory: then call is as before.
 */
ngx_int_t ngx_queues_store_tell(ngx_str_t *root, int64_t active,
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);

/* A call that may claim, with a token then; NULL when out of memory. */
ngx_queues_store_call_t *ngx_queues_store_delivery_create(ngx_str_t *root,
    ngx_str_t *id, ngx_queues_store_claim_t *claim, ngx_uint_t nclaims,
    ngx_queues_store_parse_pt parse, ngx_queues_store_done_pt done,
    void *data);

/* Its arguments K worker fence ver token; without a claim K, and empty ones */
u_char *ngx_queues_store_claim_args(ngx_str_t *args, u_char *p, ngx_str_t *id,
    ngx_queues_store_claim_t *claim, uint64_t token);

/* ids, separated by blanks */
u_char *ngx_queues_store_spots_arg(ngx_str_t *arg, u_char *p,
    ngx_queues_base_spot_t *spots, ngx_uint_t n);

/* What a claim answers, from an element of the reply to its end. */
ngx_int_t ngx_queues_store_claimed(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_uint_t from,
    ngx_queues_store_result_t *result);

/* Starts a call of NGX_QUEUES_STORE_PUSH_ROOT. */
ngx_int_t ngx_queues_store_push_call(const char *function, ngx_str_t *args,
    ngx_uint_t nargs, ngx_queues_store_parse_pt parse,
    ngx_queues_store_done_pt done, void *data);

/*
 * index and limit of a result that says that payloads are to be sealed or are
 * not to be: word is the number of a queue, as the call has numbered them.
 */
ngx_int_t ngx_queues_store_log_seal(ngx_queues_store_call_t *call,
    ngx_str_t *word, ngx_queues_store_result_t *result);

/* A token of 40 random bits. */
ngx_int_t ngx_queues_store_token(uint64_t *token);

/* Arguments: the text is written to p, which has room; returns its end. */
u_char *ngx_queues_store_number_arg(ngx_str_t *arg, u_char *p, int64_t n);
u_char *ngx_queues_store_short_arg(ngx_str_t *arg, u_char *p, uint64_t id);
u_char *ngx_queues_store_spot_arg(ngx_str_t *arg, u_char *p,
    ngx_queues_base_spot_t *spot);

/* Likewise, two: key and hash. */
u_char *ngx_queues_store_once_args(ngx_str_t *args, u_char *p,
    ngx_queues_store_once_t *once);

/* Elements of a reply; NGX_ERROR if it is something else. */
ngx_int_t ngx_queues_store_integer(ngx_queues_redis_reply_t *elt, int64_t *n);
ngx_int_t ngx_queues_store_unsigned(ngx_queues_redis_reply_t *elt,
    uint64_t *n);
ngx_int_t ngx_queues_store_string(ngx_queues_redis_reply_t *elt,
    ngx_str_t *str);

/* a short id's text */
ngx_int_t ngx_queues_store_short(ngx_queues_redis_reply_t *elt,
    ngx_str_t *str);

ngx_int_t ngx_queues_store_place(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_place_t *place);

/*
 * The same of the words of a string, which are taken off text: of
 * ngx_queues_base_word().
 */
ngx_int_t ngx_queues_store_number(ngx_str_t *text, u_char separator,
    uint64_t *n);
ngx_int_t ngx_queues_store_place_words(ngx_str_t *text, u_char separator,
    ngx_queues_store_place_t *place);

/* "ms-seq", of a delayed one with a "z" before it */
ngx_int_t ngx_queues_store_spot(ngx_str_t *word, ngx_queues_base_spot_t *spot);

/* "Q,G,id" and, of a dead letter, ",source,count,moment" */
ngx_int_t ngx_queues_store_origin(ngx_str_t *text,
    ngx_queues_store_origin_t *origin);

/* A reply that is an integer of which nothing is wanted. */
ngx_int_t ngx_queues_store_integer_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);

/*
 * Rows, which become the result's values, of the call's shape: s a text, n a
 * number, N a number or an empty text, i an integer of either sign.  What is in
 * brackets is there as often as the number before it says, and what follows "*"
 * as often as there are elements.
 */
ngx_int_t ngx_queues_store_rows_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);

/* A string of as many characters as the call has receipts, 1 for success. */
ngx_int_t ngx_queues_store_ok(ngx_queues_store_call_t *call, ngx_pool_t *pool,
    ngx_queues_redis_reply_t *elt, ngx_queues_store_result_t *result);

/* Four elements: sent acknowledged expired deadLettered. */
ngx_int_t ngx_queues_store_totals(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_totals_t *totals);

/* What receive answers, from an element of the reply to its end. */
ngx_int_t ngx_queues_store_messages_parse(ngx_queues_redis_reply_t *reply,
    ngx_uint_t from, ngx_queues_store_result_t *result);

/*
 * The messages of a receive from a FIFO queue: text has the words after the
 * moment now, elt is the first element after the head.
 */
ngx_int_t ngx_queues_store_fifo_parse(ngx_queues_redis_reply_t *reply,
    ngx_queues_redis_reply_t *elt, ngx_str_t *text, uint64_t now,
    ngx_queues_store_result_t *result);

/* The done of what gives messages back. */
void ngx_queues_store_undo_done(void *data,
    ngx_queues_store_result_t *result);

/* Jobs, from an element of the reply to its end. */
ngx_int_t ngx_queues_store_jobs_parse(ngx_queues_redis_reply_t *reply,
    ngx_uint_t from, ngx_queues_store_result_t *result);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STORE_CALL_H_INCLUDED_ */
