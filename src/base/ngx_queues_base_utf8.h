
/*
 * UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above
 * U+10FFFF.
 */

#ifndef _NGX_QUEUES_BASE_UTF8_H_INCLUDED_
#define _NGX_QUEUES_BASE_UTF8_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#pragma GCC visibility push(hidden)


/*
 * Returns the number of bytes (1 to 4) of the well-formed character that
 * starts at p, or 0 if there is none before last; p < last.
 */
size_t ngx_queues_base_utf8_length(u_char *p, u_char *last);

/* NGX_OK if the whole text is well-formed, else NGX_ERROR. */
ngx_int_t ngx_queues_base_utf8_check(ngx_str_t *text);

/*
 * Writes a character, U+10FFFF at most, in 1 to 4 bytes and returns the end.
 * Half of a surrogate pair is written as if it were one, which is not
 * well-formed (WTF-8).
 */
u_char *ngx_queues_base_utf8_write(u_char *p, uint32_t c);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_UTF8_H_INCLUDED_ */
