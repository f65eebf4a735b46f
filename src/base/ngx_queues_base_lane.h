
/*
 * Ids of the partitions of a log and of their messages, made of where they
 * are and therefore stored nowhere.
 */

#ifndef _NGX_QUEUES_BASE_LANE_H_INCLUDED_
#define _NGX_QUEUES_BASE_LANE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_base_id.h"


#define NGX_QUEUES_BASE_LANE_MAX  0xffffffffffULL    /* 40 bits */


#pragma GCC visibility push(hidden)


/*
 * Writes the public id of a partition, NGX_QUEUES_BASE_UUID_LEN characters,
 * and returns the end.  It is a UUIDv8 (RFC 9562, 5.8) of the queue's short id,
 * the partition's number of up to 40 bits, and 22 bits mixed of both.
 */
u_char *ngx_queues_base_lane_print(u_char *p, uint64_t queue, uint64_t lane);

/*
 * The reverse.  NGX_ERROR for every text that cannot be one of ours, as of
 * 2^22 UUIDv8 that others have made all but one.
 */
ngx_int_t ngx_queues_base_lane_parse(ngx_str_t *text, uint64_t *queue,
    uint64_t *lane);

/*
 * The UUIDv7 of a message: 48 bits of ms, the low 24 of offset (the high 12 of
 * them in rand_a), so that messages of one ms sort as they follow one another,
 * and 50 bits mixed of queue, lane and all of offset.
 */
void ngx_queues_base_lane_message(u_char *uuid, uint64_t ms, uint64_t queue,
    uint64_t lane, uint64_t offset);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_LANE_H_INCLUDED_ */
