
/*
 * Reading what is no text, but has its value in a string.
 */

#ifndef _NGX_QUEUES_BASE_PROTO_IN_H_INCLUDED_
#define _NGX_QUEUES_BASE_PROTO_IN_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_base_json.h"


/* bytes of such a string, once it is decoded */
#define NGX_QUEUES_BASE_PROTO_SHORT  64


typedef struct {
    u_char                       *pos;
    u_char                       *last;
} ngx_queues_base_proto_in_t;


#pragma GCC visibility push(hidden)


/*
 * Begins at the decoded text of a string, in it or in buf, which has room for
 * NGX_QUEUES_BASE_PROTO_SHORT bytes; NGX_ERROR for other types, for more than
 * that, and for what is no text.
 */
ngx_int_t ngx_queues_base_proto_open(ngx_queues_base_proto_in_t *in,
    ngx_queues_base_json_value_t *value, u_char *buf);


#pragma GCC visibility pop


static ngx_inline ngx_uint_t
ngx_queues_base_proto_at_digit(ngx_queues_base_proto_in_t *in)
{
    return in->pos < in->last && *in->pos >= '0' && *in->pos <= '9';
}


/* 1 if the next byte is this one, which is behind it then */

static ngx_inline ngx_uint_t
ngx_queues_base_proto_take(ngx_queues_base_proto_in_t *in, u_char c)
{
    if (in->pos == in->last || *in->pos != c) {
        return 0;
    }

    in->pos++;

    return 1;
}


#endif /* _NGX_QUEUES_BASE_PROTO_IN_H_INCLUDED_ */
