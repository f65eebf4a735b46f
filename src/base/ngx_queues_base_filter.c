
/*
 * The parser of filters: one token ahead, a level of recursion for each open
 * parenthesis.
 */

#include "ngx_queues_base_filter.h"
#include "ngx_queues_base_filter_token.h"
#include "ngx_queues_base_text.h"


typedef struct {
    ngx_queues_base_filter_in_t      in;
    u_char                          *out;
    ngx_uint_t                       depth;
} ngx_queues_base_filter_t;


static ngx_int_t ngx_queues_base_filter_expression(
    ngx_queues_base_filter_t *f);
static ngx_int_t ngx_queues_base_filter_term(ngx_queues_base_filter_t *f);
static ngx_int_t ngx_queues_base_filter_group(ngx_queues_base_filter_t *f);
static ngx_int_t ngx_queues_base_filter_prefix(ngx_queues_base_filter_t *f);
static ngx_int_t ngx_queues_base_filter_test(ngx_queues_base_filter_t *f);
static ngx_int_t ngx_queues_base_filter_key(ngx_queues_base_filter_t *f);
static ngx_int_t ngx_queues_base_filter_value(ngx_queues_base_filter_t *f);
static ngx_int_t ngx_queues_base_filter_write(ngx_queues_base_filter_t *f);
static ngx_int_t ngx_queues_base_filter_expect(ngx_queues_base_filter_t *f,
    ngx_queues_base_filter_token_e type, const char *missing);
static ngx_uint_t ngx_queues_base_filter_word(ngx_queues_base_filter_t *f,
    const char *word);


ngx_int_t
ngx_queues_base_filter_parse(ngx_str_t *filter, ngx_str_t *program,
    ngx_queues_base_filter_error_t *error)
{
    ngx_queues_base_filter_t  f;

    f.out = program->data;
    f.depth = 0;

    ngx_queues_base_filter_open(&f.in, filter, error);

    if (filter->len > NGX_QUEUES_BASE_FILTER_MAX) {
        return ngx_queues_base_filter_fail(&f.in, "the filter is too long");
    }

    if (ngx_queues_base_filter_next(&f.in) != NGX_OK
        || ngx_queues_base_filter_expression(&f) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (f.in.type != NGX_QUEUES_BASE_FILTER_END) {
        return ngx_queues_base_filter_fail(&f.in, "AND, OR or the end of the "
                                                  "filter is missing");
    }

    program->len = f.out - program->data;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_filter_expression(ngx_queues_base_filter_t *f)
{
    u_char      joined;
    ngx_uint_t  n;

    joined = '\0';

    for (n = 1; /* void */ ; n++) {

        if (ngx_queues_base_filter_term(f) != NGX_OK) {
            return NGX_ERROR;
        }

        if (ngx_queues_base_filter_word(f, "AND")) {

            if (joined == '|') {
                break;
            }

            joined = '&';

        } else if (ngx_queues_base_filter_word(f, "OR")) {

            if (joined == '&') {
                break;
            }

            joined = '|';

        } else {

            if (n > 1) {
                *f->out++ = joined;
                *f->out++ = ' ';
                f->out = ngx_queues_base_decimal_print(f->out, n);
                *f->out++ = LF;
            }

            return NGX_OK;
        }

        if (ngx_queues_base_filter_next(&f->in) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return ngx_queues_base_filter_fail(&f->in, "AND and OR together need "
                                               "parentheses");
}


static ngx_int_t
ngx_queues_base_filter_term(ngx_queues_base_filter_t *f)
{
    ngx_int_t   rc;
    ngx_uint_t  negated;

    negated = 0;

    while (f->in.type == NGX_QUEUES_BASE_FILTER_MINUS
           || ngx_queues_base_filter_word(f, "NOT"))
    {
        negated = !negated;

        if (ngx_queues_base_filter_next(&f->in) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    if (f->in.type == NGX_QUEUES_BASE_FILTER_OPEN) {
        rc = ngx_queues_base_filter_group(f);

    } else if (ngx_queues_base_filter_word(f, "hasPrefix")) {
        rc = ngx_queues_base_filter_prefix(f);

    } else {
        rc = ngx_queues_base_filter_test(f);
    }

    if (rc == NGX_OK && negated) {
        *f->out++ = '!';
        *f->out++ = LF;
    }

    return rc;
}


static ngx_int_t
ngx_queues_base_filter_group(ngx_queues_base_filter_t *f)
{
    if (f->depth == NGX_QUEUES_BASE_FILTER_DEPTH) {
        return ngx_queues_base_filter_fail(&f->in, "parentheses are nested too "
                                                   "deeply");
    }

    f->depth++;

    if (ngx_queues_base_filter_next(&f->in) != NGX_OK
        || ngx_queues_base_filter_expression(f) != NGX_OK)
    {
        return NGX_ERROR;
    }

    f->depth--;

    return ngx_queues_base_filter_expect(f, NGX_QUEUES_BASE_FILTER_CLOSE,
                                         "AND, OR or ) is missing");
}


static ngx_int_t
ngx_queues_base_filter_prefix(ngx_queues_base_filter_t *f)
{
    *f->out++ = 'p';

    if (ngx_queues_base_filter_next(&f->in) != NGX_OK
        || ngx_queues_base_filter_expect(f, NGX_QUEUES_BASE_FILTER_OPEN,
                                         "( after hasPrefix is missing")
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (!ngx_queues_base_filter_word(f, "attributes")) {
        return ngx_queues_base_filter_fail(&f->in, "attributes is missing");
    }

    if (ngx_queues_base_filter_next(&f->in) != NGX_OK
        || ngx_queues_base_filter_expect(f, NGX_QUEUES_BASE_FILTER_DOT,
                                         ". after attributes is missing")
           != NGX_OK
        || ngx_queues_base_filter_key(f) != NGX_OK
        || ngx_queues_base_filter_expect(f, NGX_QUEUES_BASE_FILTER_COMMA,
                                         "a comma is missing")
           != NGX_OK
        || ngx_queues_base_filter_value(f) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_base_filter_expect(f, NGX_QUEUES_BASE_FILTER_CLOSE,
                                         ") is missing");
}


/* the letter of the operation is set once it is known, behind the key */

static ngx_int_t
ngx_queues_base_filter_test(ngx_queues_base_filter_t *f)
{
    u_char  *letter;

    letter = f->out++;

    if (!ngx_queues_base_filter_word(f, "attributes")) {
        return ngx_queues_base_filter_fail(&f->in, "attributes or hasPrefix is "
                                                   "missing");
    }

    if (ngx_queues_base_filter_next(&f->in) != NGX_OK) {
        return NGX_ERROR;
    }

    if (f->in.type == NGX_QUEUES_BASE_FILTER_COLON) {

        if (ngx_queues_base_filter_next(&f->in) != NGX_OK
            || ngx_queues_base_filter_key(f) != NGX_OK)
        {
            return NGX_ERROR;
        }

        *letter = 'h';
        *f->out++ = LF;

        return NGX_OK;
    }

    if (ngx_queues_base_filter_expect(f, NGX_QUEUES_BASE_FILTER_DOT,
                                      ": or . after attributes is missing")
        != NGX_OK
        || ngx_queues_base_filter_key(f) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (f->in.type == NGX_QUEUES_BASE_FILTER_EQUAL) {
        *letter = 'e';

    } else if (f->in.type == NGX_QUEUES_BASE_FILTER_UNEQUAL) {
        *letter = 'n';

    } else {
        return ngx_queues_base_filter_fail(&f->in, "= or != is missing");
    }

    if (ngx_queues_base_filter_next(&f->in) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_queues_base_filter_value(f);
}


static ngx_int_t
ngx_queues_base_filter_key(ngx_queues_base_filter_t *f)
{
    if (f->in.type != NGX_QUEUES_BASE_FILTER_WORD
        && f->in.type != NGX_QUEUES_BASE_FILTER_STRING)
    {
        return ngx_queues_base_filter_fail(&f->in, "a key is missing");
    }

    return ngx_queues_base_filter_write(f);
}


static ngx_int_t
ngx_queues_base_filter_value(ngx_queues_base_filter_t *f)
{
    if (f->in.type != NGX_QUEUES_BASE_FILTER_STRING) {
        return ngx_queues_base_filter_fail(&f->in, "a string is missing");
    }

    if (ngx_queues_base_filter_write(f) != NGX_OK) {
        return NGX_ERROR;
    }

    *f->out++ = LF;

    return NGX_OK;
}


/* " LEN:" and the token's text, and goes on behind it */

static ngx_int_t
ngx_queues_base_filter_write(ngx_queues_base_filter_t *f)
{
    size_t  len;
    u_char  text[NGX_QUEUES_BASE_FILTER_MAX];

    len = ngx_queues_base_filter_decode(text, &f->in) - text;

    *f->out++ = ' ';
    f->out = ngx_queues_base_decimal_print(f->out, len);
    *f->out++ = ':';
    f->out = ngx_cpymem(f->out, text, len);

    return ngx_queues_base_filter_next(&f->in);
}


static ngx_int_t
ngx_queues_base_filter_expect(ngx_queues_base_filter_t *f,
    ngx_queues_base_filter_token_e type, const char *missing)
{
    if (f->in.type != type) {
        return ngx_queues_base_filter_fail(&f->in, missing);
    }

    return ngx_queues_base_filter_next(&f->in);
}


static ngx_uint_t
ngx_queues_base_filter_word(ngx_queues_base_filter_t *f, const char *word)
{
    return f->in.type == NGX_QUEUES_BASE_FILTER_WORD
           && f->in.token.len == ngx_strlen(word)
           && ngx_memcmp(f->in.token.data, word, f->in.token.len) == 0;
}
