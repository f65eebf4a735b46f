
/*
 * Small codecs of texts: base64url, hex, decimal numbers and times.
 */

#ifndef _NGX_QUEUES_BASE_TEXT_H_INCLUDED_
#define _NGX_QUEUES_BASE_TEXT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#define NGX_QUEUES_BASE_DECIMAL_MAX  20
#define NGX_QUEUES_BASE_TIME_LEN     20

#define ngx_queues_base_base64url_length(n)          (((n) * 4 + 2) / 3)
#define ngx_queues_base_base64url_parsed_length(n)   ((n) * 3 / 4)

/* a literal */
#define ngx_queues_base_copy(p, text)                                         \
    ngx_cpymem(p, text, sizeof(text) - 1)


#pragma GCC visibility push(hidden)


/*
 * Writes len bytes as base64url without padding (RFC 4648, 5) to p, which has
 * room for ngx_queues_base_base64url_length(len), and returns the end.
 */
u_char *ngx_queues_base_base64url_print(u_char *p, u_char *data, size_t len);

/*
 * The reverse, into dst with room for
 * ngx_queues_base_base64url_parsed_length(text->len) bytes; their number goes
 * to *len.  Strict, so that bytes have one text only: NGX_ERROR for padding,
 * other characters, impossible lengths and trailing bits that are not zero.
 */
ngx_int_t ngx_queues_base_base64url_parse(ngx_str_t *text, u_char *dst,
    size_t *len);

/*
 * Decodes hex digits of any case into dst with room for text->len / 2 bytes.
 * NGX_ERROR for an odd length or another character.
 */
ngx_int_t ngx_queues_base_hex_parse(ngx_str_t *text, u_char *dst);

/*
 * Parses a whole text as a decimal number; leading zeros are fine, signs and
 * blanks are not.  NGX_ERROR for an empty text, another character and numbers
 * over 2^64 - 1.
 */
ngx_int_t ngx_queues_base_decimal_parse(ngx_str_t *text, uint64_t *n);

/*
 * Takes the first word off a text, and the one separator after it or the end.
 * A word may be empty.  NGX_ERROR where the text is.
 */
ngx_int_t ngx_queues_base_word(ngx_str_t *text, u_char separator,
    ngx_str_t *word);

/*
 * Writes a number in decimal, at most NGX_QUEUES_BASE_DECIMAL_MAX bytes, and
 * returns the end.
 */
u_char *ngx_queues_base_decimal_print(u_char *p, uint64_t n);

/*
 * Writes seconds since 1970 as RFC 3339 in UTC, "2026-10-13T17:02:40Z",
 * NGX_QUEUES_BASE_TIME_LEN bytes, and returns the end.  Times before 1970 are
 * written as 1970, after 9999 as the last second of 9999.
 */
u_char *ngx_queues_base_time_print(u_char *p, int64_t seconds);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_TEXT_H_INCLUDED_ */
