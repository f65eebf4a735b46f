
#include "ngx_queues_base_filter_token.h"
#include "ngx_queues_base_utf8.h"


static ngx_int_t ngx_queues_base_filter_sign(ngx_queues_base_filter_in_t *in);
static ngx_int_t ngx_queues_base_filter_string(
    ngx_queues_base_filter_in_t *in);
static u_char *ngx_queues_base_filter_escape(u_char *p, u_char *last,
    uint32_t *c);
static u_char *ngx_queues_base_filter_pair(u_char *p, u_char *last,
    uint32_t *c);
static u_char *ngx_queues_base_filter_number(u_char *p, u_char *last,
    ngx_uint_t n, ngx_uint_t bits, uint32_t *c);
static ngx_uint_t ngx_queues_base_filter_word_char(u_char c);


void
ngx_queues_base_filter_open(ngx_queues_base_filter_in_t *in, ngx_str_t *filter,
    ngx_queues_base_filter_error_t *error)
{
    in->start = filter->data;
    in->pos = filter->data;
    in->last = filter->data + filter->len;
    in->type = NGX_QUEUES_BASE_FILTER_END;
    in->token.data = filter->data;
    in->token.len = 0;
    in->error = error;
}


ngx_int_t
ngx_queues_base_filter_next(ngx_queues_base_filter_in_t *in)
{
    u_char  *p;

    p = in->pos;

    while (p < in->last
           && (*p == ' ' || *p == '\t' || *p == CR || *p == LF))
    {
        p++;
    }

    in->pos = p;
    in->token.data = p;
    in->token.len = 0;

    if (p == in->last) {
        in->type = NGX_QUEUES_BASE_FILTER_END;
        return NGX_OK;
    }

    if (*p == '"') {
        return ngx_queues_base_filter_string(in);
    }

    if (*p == '-' || !ngx_queues_base_filter_word_char(*p)) {
        return ngx_queues_base_filter_sign(in);
    }

    while (p < in->last && ngx_queues_base_filter_word_char(*p)) {
        p++;
    }

    in->type = NGX_QUEUES_BASE_FILTER_WORD;
    in->token.len = p - in->pos;
    in->pos = p;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_filter_sign(ngx_queues_base_filter_in_t *in)
{
    u_char      *p;
    const char  *sign;

    static const char                            signs[] = "(),.:-=";
    static const ngx_queues_base_filter_token_e  types[] = {
        NGX_QUEUES_BASE_FILTER_OPEN,
        NGX_QUEUES_BASE_FILTER_CLOSE,
        NGX_QUEUES_BASE_FILTER_COMMA,
        NGX_QUEUES_BASE_FILTER_DOT,
        NGX_QUEUES_BASE_FILTER_COLON,
        NGX_QUEUES_BASE_FILTER_MINUS,
        NGX_QUEUES_BASE_FILTER_EQUAL
    };

    p = in->pos;

    if (in->last - p > 1 && p[0] == '!' && p[1] == '=') {
        in->type = NGX_QUEUES_BASE_FILTER_UNEQUAL;
        in->token.len = 2;
        in->pos += 2;

        return NGX_OK;
    }

    sign = *p ? ngx_strchr(signs, *p) : NULL;

    if (sign == NULL) {
        in->token.len = ngx_max(ngx_queues_base_utf8_length(p, in->last), 1);

        return ngx_queues_base_filter_fail(in, "there is no such sign");
    }

    in->type = types[sign - signs];
    in->token.len = 1;
    in->pos++;

    return NGX_OK;
}


ngx_int_t
ngx_queues_base_filter_fail(ngx_queues_base_filter_in_t *in, const char *text)
{
    u_char                          *p;
    ngx_queues_base_filter_error_t  *error;

    error = in->error;

    error->text = text;
    error->token = in->token;
    error->line = 1;
    error->column = 1;

    for (p = in->start; p < in->token.data; p++) {

        if (*p == LF) {
            error->line++;
            error->column = 1;

        } else if ((*p & 0xc0) != 0x80) {
            error->column++;
        }
    }

    return NGX_ERROR;
}


u_char *
ngx_queues_base_filter_decode(u_char *p, ngx_queues_base_filter_in_t *in)
{
    u_char    *src, *last;
    uint32_t   c;

    src = in->token.data;
    last = src + in->token.len;

    if (in->type == NGX_QUEUES_BASE_FILTER_WORD) {
        return ngx_cpymem(p, src, in->token.len);
    }

    src++;
    last--;

    while (src < last) {

        if (*src != '\\') {
            *p++ = *src++;
            continue;
        }

        src = ngx_queues_base_filter_escape(src, last, &c);
        p = ngx_queues_base_utf8_write(p, c);
    }

    return p;
}


static ngx_int_t
ngx_queues_base_filter_string(ngx_queues_base_filter_in_t *in)
{
    u_char      *p, *next;
    uint32_t     c;
    const char  *error;

    error = "a string does not end";

    for (p = in->pos + 1; p < in->last; p = next) {

        next = p + 1;

        if (*p == '"') {
            in->type = NGX_QUEUES_BASE_FILTER_STRING;
            in->token.len = next - in->pos;
            in->pos = next;

            return NGX_OK;
        }

        if (*p < 0x20) {
            error = "a string has a control character that is not escaped";
            break;
        }

        if (*p == '\\') {
            next = ngx_queues_base_filter_escape(p, in->last, &c);

            if (next == NULL) {
                error = "a string has an escape that there is not";
                break;
            }
        }
    }

    in->token.len = p - in->pos;

    return ngx_queues_base_filter_fail(in, error);
}


/* the character of the escape at p < last, and what is behind it, or NULL */

static u_char *
ngx_queues_base_filter_escape(u_char *p, u_char *last, uint32_t *c)
{
    const char  *letter;

    static const char  letters[] = "abfnrtv\\/\"'?`";
    static const char  values[] = "\a\b\f\n\r\t\v\\/\"'?`";

    if (last - p < 2 || p[1] == '\0') {
        return NULL;
    }

    letter = ngx_strchr(letters, p[1]);

    if (letter) {
        *c = (u_char) values[letter - letters];
        return p + 2;
    }

    switch (p[1]) {

    case 'x':
        return ngx_queues_base_filter_number(p + 2, last, 2, 4, c);

    case 'u':
        return ngx_queues_base_filter_pair(p, last, c);

    case 'U':
        p = ngx_queues_base_filter_number(p + 2, last, 8, 4, c);
        break;

    default:
        p = ngx_queues_base_filter_number(p + 1, last, 3, 3, c);

        if (p && *c > 0xff) {
            return NULL;
        }
    }

    if (p && (*c > 0x10ffff || (*c & 0xfffff800) == 0xd800)) {
        return NULL;
    }

    return p;
}


/* \uHHHH, or two of them that are one character */

static u_char *
ngx_queues_base_filter_pair(u_char *p, u_char *last, uint32_t *c)
{
    uint32_t  low;

    p = ngx_queues_base_filter_number(p + 2, last, 4, 4, c);

    if (p == NULL || (*c & 0xfffff800) != 0xd800) {
        return p;
    }

    if ((*c & 0xfc00) == 0xdc00 || last - p < 2 || p[0] != '\\'
        || p[1] != 'u')
    {
        return NULL;
    }

    p = ngx_queues_base_filter_number(p + 2, last, 4, 4, &low);

    if (p == NULL || (low & 0xfffffc00) != 0xdc00) {
        return NULL;
    }

    *c = 0x10000 + ((*c & 0x3ff) << 10) + (low & 0x3ff);

    return p;
}


/* n digits of so many bits each */

static u_char *
ngx_queues_base_filter_number(u_char *p, u_char *last, ngx_uint_t n,
    ngx_uint_t bits, uint32_t *c)
{
    uint32_t  digit;

    for (*c = 0; n; n--, p++) {

        if (p == last) {
            return NULL;
        }

        if (*p >= '0' && *p <= '9') {
            digit = *p - '0';

        } else if ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'f') {
            digit = (*p | 0x20) - 'a' + 10;

        } else {
            return NULL;
        }

        if (digit >> bits) {
            return NULL;
        }

        *c = *c << bits | digit;
    }

    return p;
}


static ngx_uint_t
ngx_queues_base_filter_word_char(u_char c)
{
    u_char  lower;

    lower = c | 0x20;

    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9')
           || c == '_' || c == '-';
}
