
/*
 * Identifiers: UUIDv7 (RFC 9562, 5.7) and the short public ids of resources.
 */

#ifndef _NGX_QUEUES_BASE_ID_H_INCLUDED_
#define _NGX_QUEUES_BASE_ID_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#define NGX_QUEUES_BASE_UUID_SIZE    16
#define NGX_QUEUES_BASE_UUID_LEN     36
#define NGX_QUEUES_BASE_UUID_RANDOM  10

#define NGX_QUEUES_BASE_SHORT_LEN    12
#define NGX_QUEUES_BASE_SHORT_MASK   0x0fffffffffffffffULL


/* what the numbers of a message's place in its queue are */
typedef enum {
    NGX_QUEUES_BASE_SPOT_NEW = 0,    /* ms and sequence of a stream's entry */
    NGX_QUEUES_BASE_SPOT_DELAYED,    /* the same, in the delayed ones' stream */
    NGX_QUEUES_BASE_SPOT_FIFO        /* id of a group and number in it */
} ngx_queues_base_spot_kind_e;


typedef struct {
    ngx_queues_base_spot_kind_e   kind;
    uint64_t                      major;   /* 48 bits */
    uint64_t                      minor;   /* 32 bits; of FIFO 48 */
} ngx_queues_base_spot_t;


#pragma GCC visibility push(hidden)


/*
 * Makes a UUIDv7 of NGX_QUEUES_BASE_UUID_SIZE bytes from milliseconds since
 * 1970 (48 bits are used) and NGX_QUEUES_BASE_UUID_RANDOM random bytes.
 */
void ngx_queues_base_uuid_make(u_char *uuid, uint64_t ms, u_char *random);

/*
 * Writes the 36 characters of a UUID in lower case and returns the end.
 */
u_char *ngx_queues_base_uuid_print(u_char *p, u_char *uuid);

/*
 * Lets the UUIDv7s of this process rise that are passed to it, 36 characters
 * each: of one moment the 12 bits behind it are a counter, which begins at
 * random below its half (RFC 9562, 6.2).
 */
void ngx_queues_base_uuid_rise(u_char *text);

/*
 * Parses exactly 36 characters of any case, any version.  NGX_ERROR for
 * everything else; uuid is undefined then.
 */
ngx_int_t ngx_queues_base_uuid_parse(ngx_str_t *text, u_char *uuid);

/*
 * The short id of a resource: the low 60 bits of its UUID's last 8 bytes.
 */
uint64_t ngx_queues_base_short_id(u_char *uuid);

/*
 * Writes a short id as 12 characters of Crockford's base32 in lower case and
 * returns the end.
 */
u_char *ngx_queues_base_short_print(u_char *p, uint64_t id);

/*
 * Parses exactly 12 characters of the alphabet that is printed: Crockford's
 * aliases (o, i, l) and upper case are NGX_ERROR, so that an id has one text.
 */
ngx_int_t ngx_queues_base_short_parse(ngx_str_t *text, uint64_t *id);

/*
 * The UUIDv7 of a message, made of where it stands in its queue and therefore
 * stored nowhere: 48 bits of ms, the 32 bits of seq (low 12 in rand_a, high
 * 20 first in rand_b), one bit delayed, and 41 bits mixed of the queue's short
 * id and its generation.
 */
void ngx_queues_base_message_id(u_char *uuid, uint64_t queue,
    uint64_t generation, uint64_t ms, uint32_t seq, ngx_uint_t delayed);

/*
 * A step of SplitMix64: a good bijection of 64 bits that moves 0, too.
 */
uint64_t ngx_queues_base_mix(uint64_t n);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_ID_H_INCLUDED_ */
