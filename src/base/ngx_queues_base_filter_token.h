
/*
 * Tokens of a filter.
 */

#ifndef _NGX_QUEUES_BASE_FILTER_TOKEN_H_INCLUDED_
#define _NGX_QUEUES_BASE_FILTER_TOKEN_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_base_filter.h"


typedef enum {
    NGX_QUEUES_BASE_FILTER_END = 0,
    NGX_QUEUES_BASE_FILTER_WORD,
    NGX_QUEUES_BASE_FILTER_STRING,
    NGX_QUEUES_BASE_FILTER_OPEN,
    NGX_QUEUES_BASE_FILTER_CLOSE,
    NGX_QUEUES_BASE_FILTER_COMMA,
    NGX_QUEUES_BASE_FILTER_DOT,
    NGX_QUEUES_BASE_FILTER_COLON,
    NGX_QUEUES_BASE_FILTER_MINUS,
    NGX_QUEUES_BASE_FILTER_EQUAL,
    NGX_QUEUES_BASE_FILTER_UNEQUAL
} ngx_queues_base_filter_token_e;


typedef struct {
    u_char                           *start;
    u_char                           *pos;
    u_char                           *last;
    ngx_queues_base_filter_token_e    type;
    ngx_str_t                         token;    /* as it is written */
    ngx_queues_base_filter_error_t   *error;
} ngx_queues_base_filter_in_t;


#pragma GCC visibility push(hidden)


/* Before the first token. */
void ngx_queues_base_filter_open(ngx_queues_base_filter_in_t *in,
    ngx_str_t *filter, ngx_queues_base_filter_error_t *error);

/* NGX_OK with the next token, NGX_ERROR with an error. */
ngx_int_t ngx_queues_base_filter_next(ngx_queues_base_filter_in_t *in);

/* NGX_ERROR, with the text as the error of the token. */
ngx_int_t ngx_queues_base_filter_fail(ngx_queues_base_filter_in_t *in,
    const char *text);

/*
 * Writes what the token, a word or string, stands for, no longer than it is,
 * and returns the end.
 */
u_char *ngx_queues_base_filter_decode(u_char *p,
    ngx_queues_base_filter_in_t *in);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_FILTER_TOKEN_H_INCLUDED_ */
