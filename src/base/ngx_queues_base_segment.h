
/*
 * A segment of a log: what one push has put into one partition, or a piece of
 * it, as docs/redis.md says.
 */

#ifndef _NGX_QUEUES_BASE_SEGMENT_H_INCLUDED_
#define _NGX_QUEUES_BASE_SEGMENT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


/* all texts are slices of the segment's */
typedef struct {
    uint64_t     ms;
    ngx_uint_t   left;       /* messages that were not taken yet */
    ngx_uint_t   sealed;     /* unsigned  sealed:1; */
    ngx_uint_t   traced;     /* unsigned  traced:1; */
    ngx_str_t    producer;   /* empty: none */

    ngx_str_t    ids;        /* of those that are left */
    ngx_str_t    traces;
    ngx_str_t    lengths;
    ngx_str_t    payloads;
} ngx_queues_base_segment_t;


typedef struct {
    ngx_str_t    id;
    ngx_str_t    trace;      /* empty: none */
    ngx_str_t    payload;
} ngx_queues_base_segment_message_t;


#pragma GCC visibility push(hidden)


/*
 * Reads the header.  NGX_ERROR where it is none or says more than there is;
 * a segment has at least one message.
 */
ngx_int_t ngx_queues_base_segment_open(ngx_queues_base_segment_t *segment,
    ngx_str_t *text);

/*
 * Takes the next message off.  NGX_DONE: there is no other; NGX_ERROR where
 * the texts or lengths are not as many as the header says, or, of the last
 * one, something remains.
 */
ngx_int_t ngx_queues_base_segment_next(ngx_queues_base_segment_t *segment,
    ngx_queues_base_segment_message_t *message);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_SEGMENT_H_INCLUDED_ */
