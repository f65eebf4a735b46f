
/*
 * Strings of JSON: decoding and comparing the raw text of checked strings,
 * and writing text as a string.
 */

#include "ngx_queues_base_json.h"
#include "ngx_queues_base_utf8.h"


#define NGX_QUEUES_BASE_JSON_ESCAPE_MAX  6


static u_char *ngx_queues_base_json_read_char(u_char *p, u_char *last,
    uint32_t *c);
static u_char *ngx_queues_base_json_read_escape(u_char *p, u_char *last,
    uint32_t *c);
static uint32_t ngx_queues_base_json_read_hex(u_char *p);
static u_char *ngx_queues_base_json_write_escape(u_char *p, uint32_t c);
static size_t ngx_queues_base_json_escape_char(u_char *p, u_char **text,
    u_char *last);


size_t
ngx_queues_base_json_decoded_length(ngx_str_t *raw)
{
    u_char    *p, *last, *next;
    size_t     len;
    uint32_t   c;

    p = raw->data;
    last = p + raw->len;
    len = raw->len;

    while (p < last) {
        p = memchr(p, '\\', last - p);

        if (p == NULL) {
            break;
        }

        next = ngx_queues_base_json_read_escape(p, last, &c);

        len -= next - p;
        len += (c < 0x80) ? 1 : (c < 0x800) ? 2 : (c < 0x10000) ? 3 : 4;

        p = next;
    }

    return len;
}


u_char *
ngx_queues_base_json_decode(u_char *p, ngx_str_t *raw)
{
    u_char    *src, *last, *escape;
    size_t     n;
    uint32_t   c;

    src = raw->data;
    last = src + raw->len;

    while (src < last) {
        escape = memchr(src, '\\', last - src);
        n = (escape ? escape : last) - src;

        ngx_memmove(p, src, n);
        p += n;

        if (escape == NULL) {
            break;
        }

        src = ngx_queues_base_json_read_escape(escape, last, &c);
        p = ngx_queues_base_utf8_write(p, c);
    }

    return p;
}


ngx_uint_t
ngx_queues_base_json_equal(ngx_str_t *raw_a, ngx_str_t *raw_b)
{
    u_char    *a, *b, *a_last, *b_last;
    uint32_t   a_char, b_char;

    if (raw_a->len == raw_b->len
        && (raw_a->len == 0
            || ngx_memcmp(raw_a->data, raw_b->data, raw_a->len) == 0))
    {
        return 1;
    }

    a = raw_a->data;
    a_last = a + raw_a->len;

    b = raw_b->data;
    b_last = b + raw_b->len;

    while (a < a_last && b < b_last) {
        a = ngx_queues_base_json_read_char(a, a_last, &a_char);
        b = ngx_queues_base_json_read_char(b, b_last, &b_char);

        if (a_char != b_char) {
            return 0;
        }
    }

    return a == a_last && b == b_last;
}


size_t
ngx_queues_base_json_escape_length(ngx_str_t *text)
{
    u_char  *p, *last, scratch[NGX_QUEUES_BASE_JSON_ESCAPE_MAX];
    size_t   len;

    p = text->data;
    last = p + text->len;
    len = 0;

    while (p < last) {
        len += ngx_queues_base_json_escape_char(scratch, &p, last);
    }

    return len;
}


u_char *
ngx_queues_base_json_escape(u_char *p, ngx_str_t *text)
{
    u_char  *src, *last;

    src = text->data;
    last = src + text->len;

    while (src < last) {
        p += ngx_queues_base_json_escape_char(p, &src, last);
    }

    return p;
}


/* half of a surrogate pair has no UTF-8: it stays the escape that it was */

u_char *
ngx_queues_base_json_canonical(u_char *p, ngx_str_t *raw)
{
    u_char    *src, *last, *text, *end;
    u_char     scratch[NGX_QUEUES_BASE_JSON_ESCAPE_MAX];
    uint32_t   c;

    src = raw->data;
    last = src + raw->len;

    while (src < last) {
        src = ngx_queues_base_json_read_char(src, last, &c);

        if ((c & 0xfffff800) == 0xd800) {
            p = ngx_queues_base_json_write_escape(p, c);
            continue;
        }

        text = scratch;
        end = ngx_queues_base_utf8_write(scratch, c);
        p += ngx_queues_base_json_escape_char(p, &text, end);
    }

    return p;
}


/* reads one decoded character of a checked string at p < last */

static u_char *
ngx_queues_base_json_read_char(u_char *p, u_char *last, uint32_t *c)
{
    if (*p == '\\') {
        return ngx_queues_base_json_read_escape(p, last, c);
    }

    if (*p < 0x80) {
        *c = *p;
        return p + 1;
    }

    if (*p < 0xe0) {
        *c = (p[0] & 0x1f) << 6 | (p[1] & 0x3f);
        return p + 2;
    }

    if (*p < 0xf0) {
        *c = (p[0] & 0x0f) << 12 | (p[1] & 0x3f) << 6 | (p[2] & 0x3f);
        return p + 3;
    }

    *c = (p[0] & 0x07) << 18 | (p[1] & 0x3f) << 12 | (p[2] & 0x3f) << 6
         | (p[3] & 0x3f);
    return p + 4;
}


static u_char *
ngx_queues_base_json_read_escape(u_char *p, u_char *last, uint32_t *c)
{
    uint32_t  low;

    switch (p[1]) {

    case 'b':
        *c = '\b';
        return p + 2;

    case 'f':
        *c = '\f';
        return p + 2;

    case 'n':
        *c = '\n';
        return p + 2;

    case 'r':
        *c = '\r';
        return p + 2;

    case 't':
        *c = '\t';
        return p + 2;

    case 'u':
        break;

    default:
        *c = p[1];
        return p + 2;
    }

    *c = ngx_queues_base_json_read_hex(p + 2);
    p += 6;

    if ((*c & 0xfc00) != 0xd800 || last - p < 6 || p[0] != '\\'
        || p[1] != 'u')
    {
        return p;
    }

    low = ngx_queues_base_json_read_hex(p + 2);

    if ((low & 0xfc00) != 0xdc00) {
        return p;
    }

    *c = 0x10000 + ((*c & 0x3ff) << 10) + (low & 0x3ff);

    return p + 6;
}


static uint32_t
ngx_queues_base_json_read_hex(u_char *p)
{
    uint32_t    c;
    ngx_uint_t  i;

    c = 0;

    for (i = 0; i < 4; i++) {
        c = c << 4 | ((p[i] & 0x0f) + (p[i] >> 6) * 9);
    }

    return c;
}


static u_char *
ngx_queues_base_json_write_escape(u_char *p, uint32_t c)
{
    ngx_int_t            shift;
    static const u_char  hex[] = "0123456789abcdef";

    *p++ = '\\';
    *p++ = 'u';

    for (shift = 12; shift >= 0; shift -= 4) {
        *p++ = hex[c >> shift & 0x0f];
    }

    return p;
}


/*
 * Writes the next character of *text, at most NGX_QUEUES_BASE_JSON_ESCAPE_MAX
 * bytes, moves *text behind it and returns how many were written.
 */

static size_t
ngx_queues_base_json_escape_char(u_char *p, u_char **text, u_char *last)
{
    u_char              *src;
    size_t               n;
    static const u_char  letters[] = "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu";

    src = *text;

    if (*src == '"' || *src == '\\') {
        p[0] = '\\';
        p[1] = *src;
        *text = src + 1;
        return 2;
    }

    if (*src < 0x20) {
        p[0] = '\\';
        p[1] = letters[*src];
        *text = src + 1;

        if (p[1] != 'u') {
            return 2;
        }

        (void) ngx_queues_base_json_write_escape(p, *src);
        return 6;
    }

    n = ngx_queues_base_utf8_length(src, last);

    if (n == 0) {
        ngx_memcpy(p, "\xef\xbf\xbd", 3);
        *text = src + 1;
        return 3;
    }

    ngx_memcpy(p, src, n);
    *text = src + n;

    return n;
}
