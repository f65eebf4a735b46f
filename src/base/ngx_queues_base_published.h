
/*
 * Messages of Pub/Sub as they are stored, {"data":…,"attributes":…,
 * "orderingKey":…}, and what of them becomes header lines of a push.
 */

#ifndef _NGX_QUEUES_BASE_PUBLISHED_H_INCLUDED_
#define _NGX_QUEUES_BASE_PUBLISHED_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_base_attribute.h"


/* bytes of all lines that attributes become: servers take 16 KiB and less */
#define NGX_QUEUES_BASE_HEADERS_MAX   8192

/* header lines that a request has from its sender if not from a message */
#define NGX_QUEUES_BASE_HEADER_TYPE   0x01    /* Content-Type */
#define NGX_QUEUES_BASE_HEADER_AGENT  0x02    /* User-Agent */


/* parts of the JSON text; empty: it is not there */
typedef struct {
    ngx_str_t                  data;          /* base64 */
    ngx_str_t                  attributes;    /* an object */
    ngx_str_t                  key;           /* content of a string */
} ngx_queues_base_published_t;


#pragma GCC visibility push(hidden)


/* Of a text that is something else nothing is there. */
void ngx_queues_base_published_read(ngx_str_t *text,
    ngx_queues_base_published_t *m);

/*
 * Writes the attributes that may be headers of a push as lines, in their order,
 * each with its CRLF, at most NGX_QUEUES_BASE_HEADERS_MAX bytes; what does not fit
 * is left out, and so are Accept-Encoding, which is not for those who publish to
 * say, and a second Content-Type or User-Agent.  *found has those of them that
 * were written.  Returns the end.
 */
u_char *ngx_queues_base_published_headers(u_char *p,
    ngx_queues_base_published_t *m, ngx_uint_t *found);

/*
 * Writes the ordering key, at most NGX_QUEUES_BASE_ORDERING_KEY_MAX bytes, if it
 * may be a header's value.  Returns the end: p if there is none.
 */
u_char *ngx_queues_base_published_key(u_char *p,
    ngx_queues_base_published_t *m);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_PUBLISHED_H_INCLUDED_ */
