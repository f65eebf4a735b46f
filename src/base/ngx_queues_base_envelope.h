
/*
 * Payloads at rest: AES-256-GCM in an envelope of JSON, whose texts are base64
 * with padding,
 *
 *     {"encrypted":"...","iv":"...","authTag":"..."}
 *
 * The iv is a salt, of which the key is made, and the nonce.  The context is
 * authenticated with the text.
 */

#ifndef _NGX_QUEUES_BASE_ENVELOPE_H_INCLUDED_
#define _NGX_QUEUES_BASE_ENVELOPE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_base_seal.h"


/* the longest plain text, which no body that is read comes near to */
#define NGX_QUEUES_BASE_ENVELOPE_MAX  0x20000000

#define ngx_queues_base_envelope_length(n)                                    \
    (((n) + 2) / 3 * 4 + NGX_QUEUES_BASE_ENVELOPE_OVERHEAD)

/* {"encrypted":"","iv":"","authTag":""}, 28 bytes and 16, and a NUL */
#define NGX_QUEUES_BASE_ENVELOPE_OVERHEAD  (37 + 40 + 24 + 1)


#pragma GCC visibility push(hidden)


/*
 * Writes the envelope of a text to p, which has room for
 * ngx_queues_base_envelope_length(plain->len), and returns the end; NULL if it
 * is too long or OpenSSL fails.
 */
u_char *ngx_queues_base_envelope_seal(ngx_queues_base_seal_key_t *key,
    ngx_str_t *context, ngx_str_t *plain, u_char *p);

/*
 * Opens what is written exactly so, into plain->data with room for text->len
 * bytes, and sets plain->len.  NGX_ERROR for anything that was not sealed with
 * this key and context.
 */
ngx_int_t ngx_queues_base_envelope_open(ngx_queues_base_seal_key_t *key,
    ngx_str_t *context, ngx_str_t *text, ngx_str_t *plain);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_ENVELOPE_H_INCLUDED_ */
