
/*
 * Filters of Pub/Sub's subscriptions, over the attributes of a message:
 *
 *     expression  = term *("AND" term) / term *("OR" term)
 *     term        = *("NOT" / "-") ("(" expression ")" / test)
 *     test        = "attributes" ":" key
 *                 / "attributes" "." key ("=" / "!=") string
 *                 / "hasPrefix" "(" "attributes" "." key "," string ")"
 *     key         = bare / string
 *     bare        = (ALPHA / DIGIT / "_") *(ALPHA / DIGIT / "_" / "-")
 *
 * Words have their case.  AND and OR in one expression need parentheses.
 * Blanks, tabs and line ends may stand between any two tokens, and must where
 * they would be one word otherwise.
 *
 * A string is in double quotes, and control characters in it are escaped:
 * \a \b \f \n \r \t \v \\ \/ \" \' \? \`, \xHH \ooo \uHHHH \UHHHHHHHH.  All of
 * the numbers are those of characters, not of bytes: "\xe9" is U+00E9; two \u
 * may be a surrogate pair, halves of one are an error.
 *
 * A filter becomes a program for a stack, in the order in which it is to be
 * run; the message matches if the one value that is left is true.  Each of its
 * operations ends in a line feed, and is one of
 *
 *     h LEN:KEY               push: is there an attribute KEY
 *     e LEN:KEY LEN:VALUE     push: is it there and equal to VALUE
 *     n LEN:KEY LEN:VALUE     push: is it not, or not there
 *     p LEN:KEY LEN:VALUE     push: is it there and begins with VALUE
 *     !                       the last one becomes what it is not
 *     & N                     the last N >= 2 become one: are all true
 *     | N                     the last N >= 2 become one: is any true
 *
 * KEY and VALUE are decoded, any LEN bytes (line feeds and NUL too), LEN and N
 * are decimal.  So a reader takes LEN bytes and looks for nothing in them.
 * "a OR NOT b" of two keys is "h 1:a\nh 1:b\n!\n| 2\n".
 */

#ifndef _NGX_QUEUES_BASE_FILTER_H_INCLUDED_
#define _NGX_QUEUES_BASE_FILTER_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


/* bytes of a filter; its program has no more than these, either */
#define NGX_QUEUES_BASE_FILTER_MAX    256

/* parentheses within parentheses */
#define NGX_QUEUES_BASE_FILTER_DEPTH  50


typedef struct {
    const char                   *text;    /* what is wrong, after "syntax
                                              error: "; constant */
    ngx_uint_t                    line;    /* where the token starts, from 1 */
    ngx_uint_t                    column;  /* and likewise, in characters */
    ngx_str_t                     token;   /* within the filter, empty at its
                                              end */
} ngx_queues_base_filter_error_t;


#pragma GCC visibility push(hidden)


/*
 * NGX_OK with the program in program->data, which has room for
 * NGX_QUEUES_BASE_FILTER_MAX bytes, or NGX_ERROR with *error.  The filter is
 * well-formed UTF-8.  One of blanks only is an error, and so is an empty one,
 * which the API takes for no filter before it comes here.
 */
ngx_int_t ngx_queues_base_filter_parse(ngx_str_t *filter, ngx_str_t *program,
    ngx_queues_base_filter_error_t *error);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_FILTER_H_INCLUDED_ */
