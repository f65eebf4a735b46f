
/*
 * Values as Google's APIs have them in JSON (the JSON mapping of proto3).
 * What comes in is a value of a document that ngx_queues_base_json_parse() has
 * accepted; null, which is the same as absent, is the caller's.
 */

#ifndef _NGX_QUEUES_BASE_PROTO_H_INCLUDED_
#define _NGX_QUEUES_BASE_PROTO_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_base_json.h"


#define NGX_QUEUES_BASE_PROTO_SECONDS       315576000000    /* 10,000 years */

#define NGX_QUEUES_BASE_PROTO_DURATION_MAX  24      /* bytes of a text */
#define NGX_QUEUES_BASE_PROTO_TIME_MAX      24


/* both have the sign of the whole, or are 0 */
typedef struct {
    int64_t                       seconds;
    int32_t                       ns;
} ngx_queues_base_proto_duration_t;


#pragma GCC visibility push(hidden)


/*
 * NGX_OK with the decoded text of a string, which is well-formed UTF-8 and may
 * have NUL; NGX_ERROR for other types and for half of a surrogate pair
 * ("\ud800"), which JSON allows and which is no text.
 *
 * Where nothing is escaped the text is the raw one, else it is in buf, which
 * has room for value->raw.len bytes; buf may be value->raw.data if nobody needs
 * the raw one any more.
 */
ngx_int_t ngx_queues_base_proto_text(ngx_queues_base_json_value_t *value,
    u_char *buf, ngx_str_t *text);

/*
 * An int32 or int64 of min to max: a number, or a string that has one as JSON
 * writes it (at most 64 bytes once it is decoded).  It may have a fraction and
 * an exponent, 5.0 and 50e-1 are 5.  NGX_ERROR for all else, *n is untouched
 * then.
 */
ngx_int_t ngx_queues_base_proto_integer(ngx_queues_base_json_value_t *value,
    int64_t min, int64_t max, int64_t *n);

/* true or false, 1 or 0; NGX_ERROR for all else, strings too. */
ngx_int_t ngx_queues_base_proto_bool(ngx_queues_base_json_value_t *value,
    ngx_uint_t *flag);

/*
 * A string "-1.5s": digits, perhaps a point and 1 to 9 more, at most
 * NGX_QUEUES_BASE_PROTO_SECONDS; NGX_ERROR for all else.
 */
ngx_int_t ngx_queues_base_proto_duration(ngx_queues_base_json_value_t *value,
    ngx_queues_base_proto_duration_t *duration);

/*
 * Writes "600s" or "1.500s", with 0, 3, 6 or 9 digits, at most
 * NGX_QUEUES_BASE_PROTO_DURATION_MAX bytes, and returns the end.
 */
u_char *ngx_queues_base_proto_duration_print(u_char *p,
    ngx_queues_base_proto_duration_t *duration);

/*
 * A string in RFC 3339, "2026-10-13T17:02:40.031Z", with 0 to 9 digits of a
 * fraction, an offset ("Z", "+02:00") and t and z of any case, of the years 1
 * to 9999 in UTC; ms are since 1970, less than 0 before it, and what is beyond
 * them is cut downwards.  NGX_ERROR for all else: no offset, days that there
 * are not, leap seconds.
 */
ngx_int_t ngx_queues_base_proto_time(ngx_queues_base_json_value_t *value,
    int64_t *ms);

/*
 * Writes ms since 1970 in UTC, "2026-10-13T17:02:40Z" or with .031, at most
 * NGX_QUEUES_BASE_PROTO_TIME_MAX bytes, and returns the end.
 */
u_char *ngx_queues_base_proto_time_print(u_char *p, uint64_t ms);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_PROTO_H_INCLUDED_ */
