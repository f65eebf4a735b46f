
/*
 * A publish while it is read.  For src/api only.
 */

#ifndef _NGX_QUEUES_API_PUBSUB_MESSAGE_H_INCLUDED_
#define _NGX_QUEUES_API_PUBSUB_MESSAGE_H_INCLUDED_


#include "ngx_queues_api_pubsub.h"


/* what a message may be longer than it came: the padding of its data */
#define NGX_QUEUES_API_PUBLISH_MORE   2


typedef enum {
    NGX_QUEUES_API_PUBLISH_DATA = 0,
    NGX_QUEUES_API_PUBLISH_ATTRIBUTES,
    NGX_QUEUES_API_PUBLISH_KEY,
    NGX_QUEUES_API_PUBLISH_ID,
    NGX_QUEUES_API_PUBLISH_TIME,
    NGX_QUEUES_API_PUBLISH_NMEMBERS
} ngx_queues_api_publish_member_e;


typedef struct {
    ngx_queues_store_publish_t  *messages;
    ngx_uint_t                   n;
    u_char                      *text;       /* of all of them */
    u_char                      *pos;
    size_t                       size;       /* of what is decoded */
} ngx_queues_api_publish_t;


#pragma GCC visibility push(hidden)


/*
 * Writes the next message, whose members the object has: one JSON object, in
 * the one way that all spellings of it have in common, as it will be answered.
 * NGX_ERROR after it has answered what is wrong with it.
 */
ngx_int_t ngx_queues_api_publish_message(ngx_queues_api_t *api,
    ngx_queues_api_publish_t *ctx, ngx_queues_api_pubsub_object_t *object);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_PUBSUB_MESSAGE_H_INCLUDED_ */
