
/*
 * The log engine of the store: partitioned logs with consumer groups.  Of the
 * store's header, for those who use logs.
 *
 * Texts (names of queues, partitions and groups, transaction ids, producers,
 * errors) are the content of JSON strings, escaped canonically: they hold no
 * byte below 0x20 and are written into answers as they are.  Payloads are raw
 * JSON text.  docs/redis.md has the functions.
 */

#ifndef _NGX_QUEUES_STORE_LOG_H_INCLUDED_
#define _NGX_QUEUES_STORE_LOG_H_INCLUDED_


#include "ngx_queues_store.h"


#define NGX_QUEUES_STORE_LOG_PUSHES    10000    /* messages of one call */
#define NGX_QUEUES_STORE_LOG_POPS      1000
#define NGX_QUEUES_STORE_LOG_ACKS      10000


/* a partition: the queue's short id and the partition's number in it */
typedef struct {
    uint64_t                        queue;
    uint64_t                        lane;
} ngx_queues_store_lane_t;


/* what a push is given, and what came of it */
typedef struct {
    ngx_str_t                       queue;
    ngx_str_t                       lane;
    ngx_str_t                       id;        /* of the transaction */
    ngx_str_t                       trace;     /* empty: none */
    ngx_str_t                       payload;
    ngx_uint_t                      sealed;    /* like that of all items of the
                                                  queue */
    ngx_uint_t                      made;      /* its id was made for this call:
                                                  nothing else has it */

    ngx_queues_store_lane_t         place;     /* results */
    uint64_t                        offset;    /* a duplicate's: of the first */
    uint64_t                        ms;
    ngx_uint_t                      duplicate; /* unsigned  duplicate:1; */
    ngx_uint_t                      next;      /* of the store: the next item
                                                  of the same partition */
} ngx_queues_store_log_item_t;


typedef struct {
    ngx_str_t                       producer;  /* empty: none */
    ngx_queues_store_log_item_t    *items;
    ngx_uint_t                      nitems;
} ngx_queues_store_log_push_t;


typedef enum {
    NGX_QUEUES_STORE_LOG_FROM_ALL = 0,
    NGX_QUEUES_STORE_LOG_FROM_NOW,
    NGX_QUEUES_STORE_LOG_FROM_TIME
} ngx_queues_store_log_from_e;


typedef struct {
    ngx_str_t                       queue;     /* NULL data: by labels */
    ngx_str_t                       lane;      /* NULL data: any */
    ngx_str_t                       space;     /* labels; empty: not given */
    ngx_str_t                       task;
    ngx_str_t                       group;
    ngx_uint_t                      batch;
    ngx_uint_t                      lanes;
    ngx_uint_t                      auto_ack;
    int64_t                         seconds;   /* -1: the queue's */
    ngx_queues_store_log_from_e     from;
    uint64_t                        moment;    /* ms */
    ngx_uint_t                      wait;
    u_char                          lease[NGX_QUEUES_BASE_UUID_LEN];
                                               /* the store makes it */
} ngx_queues_store_log_pop_t;


typedef struct {
    ngx_queues_store_lane_t         place;
    ngx_str_t                       lane;
    uint64_t                        offset;
    uint64_t                        ms;
    ngx_str_t                       producer;
    ngx_str_t                       id;
    ngx_str_t                       trace;
    ngx_str_t                       payload;
    ngx_uint_t                      sealed;
} ngx_queues_store_log_message_t;


typedef enum {
    NGX_QUEUES_STORE_LOG_COMPLETED = 'c',
    NGX_QUEUES_STORE_LOG_FAILED = 'f',
    NGX_QUEUES_STORE_LOG_RETRY = 'r',
    NGX_QUEUES_STORE_LOG_DLQ = 'd'
} ngx_queues_store_log_status_e;


/* letters of the function's reply; of items that never went to the store too */
typedef enum {
    NGX_QUEUES_STORE_LOG_ACKED = 'o',
    NGX_QUEUES_STORE_LOG_NOOP = 'n',
    NGX_QUEUES_STORE_LOG_COMMITTED = 'a',
    NGX_QUEUES_STORE_LOG_UNRESOLVABLE = 'u',
    NGX_QUEUES_STORE_LOG_BEYOND = 'b',
    NGX_QUEUES_STORE_LOG_NO_LEASE = 'l',
    NGX_QUEUES_STORE_LOG_NO_CONSUMER = 'c',
    NGX_QUEUES_STORE_LOG_BURIED = 'd',
    NGX_QUEUES_STORE_LOG_DROPPED = 'x'
} ngx_queues_store_log_verdict_e;


typedef struct {
    ngx_queues_store_lane_t         place;
    ngx_str_t                       group;
    ngx_str_t                       id;
    ngx_str_t                       lease;     /* empty: none */
    ngx_str_t                       error;     /* empty: none */
    ngx_queues_store_log_status_e   status;

    ngx_queues_store_log_verdict_e  verdict;   /* results */
    ngx_uint_t                      released;
    ngx_uint_t                      next;      /* of the store */
} ngx_queues_store_log_ack_t;


typedef struct {
    ngx_queues_store_log_push_t     push;
    ngx_queues_store_log_ack_t     *acks;
    ngx_uint_t                      nacks;
    ngx_str_t                      *leases;    /* required ones */
    ngx_uint_t                      nleases;
} ngx_queues_store_log_tx_t;


typedef enum {
    NGX_QUEUES_STORE_LOG_DONE = 0,
    NGX_QUEUES_STORE_LOG_LEASE_OVER,           /* why a bundle failed */
    NGX_QUEUES_STORE_LOG_DUPLICATE,
    NGX_QUEUES_STORE_LOG_ACK_REFUSED
} ngx_queues_store_log_outcome_e;


/* result->log */
struct ngx_queues_store_log_s {
    ngx_queues_store_log_message_t *messages;  /* pop */
    ngx_uint_t                      nmessages;
    ngx_uint_t                      nlanes;
    uint64_t                        queue;     /* pop: short id, 0: by labels */

    ngx_queues_store_log_outcome_e  outcome;   /* tx */
    ngx_str_t                       detail;    /* the lease, or the id that
                                                  was pushed before; of a
                                                  refused ack the result's
                                                  index, and its verdict */

    uint64_t                        renewed;   /* extend */
    uint64_t                        expires;   /* ms, 0: none */
};


#pragma GCC visibility push(hidden)


/*
 * The items of push, ack and tx stay the caller's and must live until done,
 * which finds the results in them, also in those that were duplicates of
 * another one in the call; what else there is was copied.  A pop has its lease
 * at once.  result->next, result->now and the queue of result->place as of
 * receive.
 */
ngx_int_t ngx_queues_store_log_push(ngx_str_t *root,
    ngx_queues_store_log_push_t *push, ngx_queues_store_done_pt done,
    void *data);

/* A pop whose deadline had passed before its reply came is undone here. */
ngx_int_t ngx_queues_store_log_pop(ngx_str_t *root,
    ngx_queues_store_log_pop_t *pop, ngx_queues_store_done_pt done,
    void *data);

/*
 * Items of one (partition, group, lease) are decided together.  All items of an
 * ack are of one group, of which there is at least one; a tx may have several.
 */
ngx_int_t ngx_queues_store_log_ack(ngx_str_t *root,
    ngx_queues_store_log_ack_t *acks, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_log_tx(ngx_str_t *root,
    ngx_queues_store_log_tx_t *tx, ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_log_extend(ngx_str_t *root, ngx_str_t *lease,
    ngx_uint_t seconds, ngx_queues_store_done_pt done, void *data);

/* Gives back what a pop took, as if it had not been; nobody waits for it. */
void ngx_queues_store_log_undo(ngx_str_t *root, u_char *lease);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STORE_LOG_H_INCLUDED_ */
