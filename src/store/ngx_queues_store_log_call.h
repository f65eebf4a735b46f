
/*
 * What the calls of the log engine share.  For src/store only.
 */

#ifndef _NGX_QUEUES_STORE_LOG_CALL_H_INCLUDED_
#define _NGX_QUEUES_STORE_LOG_CALL_H_INCLUDED_


#include "ngx_queues_store_call.h"
#include "../base/ngx_queues_base_lane.h"


#define NGX_QUEUES_STORE_LOG_NONE         ((ngx_uint_t) -1)

/* a segment is read as a whole, also for one message of it */
#define NGX_QUEUES_STORE_LOG_CHUNK        64
#define NGX_QUEUES_STORE_LOG_CHUNK_BYTES  16384


/* flags of what is pushed into a partition */
#define NGX_QUEUES_STORE_LOG_SEALED       1
#define NGX_QUEUES_STORE_LOG_MADE         2
#define NGX_QUEUES_STORE_LOG_RISING       4

/* of so many ids, if they rise, only the range is put into the index of ids */
#define NGX_QUEUES_STORE_LOG_RUN          8


/* items of one partition, or acks of one partition, group and lease */
typedef struct {
    ngx_uint_t                    first;    /* item, which has the next one */
    ngx_uint_t                    last;
    ngx_uint_t                    n;
    ngx_uint_t                    queue;    /* a number among queues */
} ngx_queues_store_log_set_t;


/* of the ids of a partition, and how much room they take twice */
typedef struct {
    ngx_str_t                    *low;
    ngx_str_t                    *high;
    size_t                        room;
} ngx_queues_store_log_range_t;


/* what the reply is read with */
struct ngx_queues_store_log_work_s {
    ngx_queues_store_log_push_t   push;
    ngx_queues_store_log_set_t   *lanes;
    ngx_uint_t                    nlanes;
    ngx_uint_t                   *queues;   /* the first item of each */
    ngx_uint_t                    nqueues;
    ngx_uint_t                    repeated; /* the first item whose id another
                                               one of its partition has */

    ngx_queues_store_log_ack_t   *acks;
    ngx_queues_store_log_set_t   *sets;
    ngx_uint_t                    nsets;

    ngx_uint_t                    batch;    /* pop */
    u_char                        lease[NGX_QUEUES_BASE_UUID_LEN];
};


/*
 * A table of numbers by the hashes of their texts:
 *
 *     for (slot = first; slot->number; slot = next) {
 *         if (slot->hash == hash && ...
 */
typedef struct {
    uint32_t                      hash;
    uint32_t                      number;   /* from 1; 0: free */
} ngx_queues_store_log_slot_t;


typedef struct {
    ngx_queues_store_log_slot_t  *slots;
    uint32_t                      mask;
} ngx_queues_store_log_table_t;


#define ngx_queues_store_log_first(table, hash)                               \
    (&(table)->slots[(hash) & (table)->mask])

#define ngx_queues_store_log_next(table, slot)                                \
    (&(table)->slots[((slot) - (table)->slots + 1) & (table)->mask])


/* arguments being made: first counted, at most so many, then written */
typedef struct {
    ngx_str_t                    *elts;
    ngx_uint_t                    n;
    u_char                       *p;
    size_t                        size;     /* of the bytes of p */
    ngx_pool_t                   *pool;     /* until the call is started */
} ngx_queues_store_log_args_t;


static ngx_inline ngx_uint_t
ngx_queues_store_log_same(ngx_str_t *a, ngx_str_t *b)
{
    return a->len == b->len
           && (a->len == 0 || ngx_memcmp(a->data, b->data, a->len) == 0);
}


/* of its texts, with what is between them */

static ngx_inline size_t
ngx_queues_store_log_item_size(ngx_queues_store_log_item_t *item)
{
    return item->id.len + 1 + item->trace.len + 1 + item->payload.len;
}


/* the caller links the last item to it */

static ngx_inline void
ngx_queues_store_log_append(ngx_queues_store_log_set_t *set, ngx_uint_t i)
{
    if (set->n++ == 0) {
        set->first = i;
    }

    set->last = i;
}


static ngx_inline void
ngx_queues_store_log_arg(ngx_queues_store_log_args_t *args, ngx_str_t *text)
{
    args->elts[args->n++] = *text;
}


static ngx_inline void
ngx_queues_store_log_number(ngx_queues_store_log_args_t *args, ngx_uint_t n)
{
    args->p = ngx_queues_store_number_arg(&args->elts[args->n++], args->p, n);
}


#pragma GCC visibility push(hidden)


/* A call with its pool and work. */
ngx_queues_store_call_t *ngx_queues_store_log_create(ngx_str_t *root,
    ngx_queues_store_parse_pt parse, ngx_queues_store_done_pt done,
    void *data);

/* Between create and start: there are none yet, and room for those counted. */
ngx_int_t ngx_queues_store_log_args_init(ngx_queues_store_log_args_t *args);
ngx_int_t ngx_queues_store_log_args_alloc(ngx_queues_store_log_args_t *args);

/* Starts the call unless rc says that it cannot be; frees args either way. */
ngx_int_t ngx_queues_store_log_start(ngx_queues_store_call_t *call,
    const char *function, ngx_queues_store_log_args_t *args, ngx_int_t rc);

ngx_int_t ngx_queues_store_log_table_init(ngx_queues_store_log_table_t *table,
    ngx_pool_t *pool, ngx_uint_t n);
uint64_t ngx_queues_store_log_hash(u_char *data, size_t len);

/*
 * Of a push, in three steps: sets are made and arguments counted, arguments
 * written, the reply's elements, one a partition, read.
 */
ngx_int_t ngx_queues_store_log_push_plan(ngx_queues_store_call_t *call,
    ngx_queues_store_log_push_t *push, ngx_queues_store_log_args_t *args);
ngx_int_t ngx_queues_store_log_push_args(ngx_queues_store_log_work_t *work,
    ngx_queues_store_log_args_t *args);
ngx_int_t ngx_queues_store_log_push_read(ngx_queues_store_log_work_t *work,
    ngx_queues_redis_reply_t *elts);

/* Looks at the ids of a set.  Returns its flags. */
ngx_uint_t ngx_queues_store_log_range(ngx_queues_store_log_push_t *push,
    ngx_queues_store_log_set_t *set, ngx_queues_store_log_range_t *range);
u_char *ngx_queues_store_log_range_print(u_char *p, ngx_str_t *low,
    ngx_str_t *high);

/* The same of acks; with the group of each set where grouped. */
ngx_int_t ngx_queues_store_log_ack_plan(ngx_queues_store_call_t *call,
    ngx_queues_store_log_ack_t *acks, ngx_uint_t n,
    ngx_queues_store_log_args_t *args);
void ngx_queues_store_log_ack_args(ngx_queues_store_log_work_t *work,
    ngx_uint_t grouped, ngx_queues_store_log_args_t *args);
ngx_int_t ngx_queues_store_log_ack_read(ngx_queues_store_log_work_t *work,
    ngx_queues_redis_reply_t *elts);

/* Which of them a bundle has failed of: its verdict is set. */
ngx_int_t ngx_queues_store_log_ack_refused(ngx_queues_store_log_work_t *work,
    ngx_str_t *text, ngx_uint_t *index);

/* "Q:l", taken off text. */
ngx_int_t ngx_queues_store_log_lane(ngx_str_t *text,
    ngx_queues_store_lane_t *lane);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STORE_LOG_CALL_H_INCLUDED_ */
