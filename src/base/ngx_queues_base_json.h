
/*
 * A strict JSON scanner (RFC 8259) that gives raw spans of the text and
 * builds nothing: it neither allocates nor recurses, and all spans point into
 * the caller's text and live as long as that does.
 */

#ifndef _NGX_QUEUES_BASE_JSON_H_INCLUDED_
#define _NGX_QUEUES_BASE_JSON_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


/* containers within containers, by 64; one more is an error */
#define NGX_QUEUES_BASE_JSON_DEPTH  64


typedef enum {
    NGX_QUEUES_BASE_JSON_NULL = 0,
    NGX_QUEUES_BASE_JSON_FALSE,
    NGX_QUEUES_BASE_JSON_TRUE,
    NGX_QUEUES_BASE_JSON_NUMBER,
    NGX_QUEUES_BASE_JSON_STRING,
    NGX_QUEUES_BASE_JSON_ARRAY,
    NGX_QUEUES_BASE_JSON_OBJECT
} ngx_queues_base_json_type_e;


typedef struct {
    ngx_queues_base_json_type_e   type;
    ngx_str_t                     raw;     /* the exact text, without blanks
                                              around it; of a string without
                                              its quotes */
} ngx_queues_base_json_value_t;


typedef struct {
    u_char                       *pos;
    u_char                       *last;    /* the closing bracket */
    ngx_uint_t                    object;  /* unsigned  object:1; */
} ngx_queues_base_json_iter_t;


#pragma GCC visibility push(hidden)


/*
 * Checks a whole document (RFC 8259): UTF-8 without a BOM, one value, blanks
 * around it, no trailing text, at most NGX_QUEUES_BASE_JSON_DEPTH deep.  \u0000
 * and lone surrogate escapes are accepted.  NGX_OK with *value, or NGX_ERROR
 * with *error, a constant text that continues "the body is not JSON: ".
 * Duplicate keys are the caller's to find.
 */
ngx_int_t ngx_queues_base_json_parse(ngx_str_t *text,
    ngx_queues_base_json_value_t *value, const char **error);

/*
 * The same of what others write: at most max deep, with a bit for each of
 * these in objects.
 */
ngx_int_t ngx_queues_base_json_parse_deep(ngx_str_t *text, uint64_t *objects,
    ngx_uint_t max, ngx_queues_base_json_value_t *value, const char **error);

/* The type of a checked value that starts with this character. */
ngx_queues_base_json_type_e ngx_queues_base_json_type(u_char first);

/*
 * Begins a walk over an array or object that ngx_queues_base_json_parse() has
 * checked, as part of its document.
 */
void ngx_queues_base_json_open(ngx_queues_base_json_iter_t *it,
    ngx_queues_base_json_value_t *container);

/*
 * NGX_OK with the next value and, in an object, its raw key without quotes; in
 * an array the key becomes empty.  NGX_DONE at the end.  key may be NULL.  A
 * whole walk costs one pass over the container's text.
 */
ngx_int_t ngx_queues_base_json_next(ngx_queues_base_json_iter_t *it,
    ngx_str_t *key, ngx_queues_base_json_value_t *value);

/*
 * The next value of an array for who walks over it himself: of an object the
 * end is not looked for, its raw text is too long.  Who has walked over it to
 * its end sets that by _end(), with his iterator; then _leave() goes on in the
 * array.
 */
ngx_int_t ngx_queues_base_json_enter(ngx_queues_base_json_iter_t *it,
    ngx_queues_base_json_value_t *value);
void ngx_queues_base_json_end(ngx_queues_base_json_iter_t *it,
    ngx_queues_base_json_value_t *value);
void ngx_queues_base_json_leave(ngx_queues_base_json_iter_t *it,
    ngx_queues_base_json_value_t *value);

/*
 * NGX_OK for a JSON integer without fraction and exponent of at most 15
 * digits, |n| < 10^15, which a double also holds; "-0" is 0.  NGX_ERROR for
 * everything else, *n is untouched then.
 */
ngx_int_t ngx_queues_base_json_integer(ngx_queues_base_json_value_t *value,
    int64_t *n);


/*
 * Strings.  raw is the text between the quotes of a checked document.
 */

/*
 * Bytes of the string once decoded to UTF-8.  A surrogate pair gives 4 bytes,
 * a lone surrogate the 3 that its number would have (WTF-8).  Never more than
 * raw->len.
 */
size_t ngx_queues_base_json_decoded_length(ngx_str_t *raw);

/*
 * Writes the decoded string to p, which has room for its decoded length, and
 * returns the end.  Decoding in place (p == raw->data) is fine.
 */
u_char *ngx_queues_base_json_decode(u_char *p, ngx_str_t *raw);

/*
 * 1 if both strings decode to the same characters ("\u0062ody" and "body"),
 * else 0.
 */
ngx_uint_t ngx_queues_base_json_equal(ngx_str_t *raw_a, ngx_str_t *raw_b);

/* Bytes that ngx_queues_base_json_escape() writes for the text. */
size_t ngx_queues_base_json_escape_length(ngx_str_t *text);

/*
 * Writes a text as the content of a JSON string, without quotes, and returns
 * the end.  Any bytes may come in, what comes out is valid: each byte that is
 * not part of well-formed UTF-8 becomes U+FFFD.
 */
u_char *ngx_queues_base_json_escape(u_char *p, ngx_str_t *text);

/*
 * Writes a checked string in the one way that all its spellings have in common,
 * no longer than it is.  Returns the end.
 */
u_char *ngx_queues_base_json_canonical(u_char *p, ngx_str_t *raw);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_JSON_H_INCLUDED_ */
