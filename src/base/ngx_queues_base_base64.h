
/*
 * Bytes in JSON (proto3's mapping): base64 of either alphabet comes in, padded
 * or not; the standard one goes out, padded.  Bytes are kept as that text and
 * never decoded here.
 */

#ifndef _NGX_QUEUES_BASE_BASE64_H_INCLUDED_
#define _NGX_QUEUES_BASE_BASE64_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


/* of the canonical text of so many bytes */
#define ngx_queues_base_base64_length(size)  (((size) + 2) / 3 * 4)


#pragma GCC visibility push(hidden)


/*
 * Looks at the decoded content of a JSON string.  NGX_OK where it is canonical,
 * NGX_DONE where it is base64 that ngx_queues_base_base64_canonical() must
 * write anew: of the URL alphabet, without its padding, or with trailing bits
 * that are not zero.  *size is how many bytes it stands for.  NGX_ERROR for all
 * else: other characters, blanks too; both alphabets in one text; part of a
 * padding; a length that there cannot be.
 */
ngx_int_t ngx_queues_base_base64_check(ngx_str_t *text, size_t *size);

/*
 * Writes the canonical text of a checked one, size bytes once they are decoded,
 * to p with room for ngx_queues_base_base64_length(size), and returns the end.
 * p may be text->data where there is that room.
 */
u_char *ngx_queues_base_base64_canonical(u_char *p, ngx_str_t *text);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_BASE64_H_INCLUDED_ */
