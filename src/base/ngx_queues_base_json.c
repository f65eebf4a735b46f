
#include "ngx_queues_base_json.h"
#include "ngx_queues_base_utf8.h"


#define NGX_QUEUES_BASE_JSON_ONES   0x0101010101010101ULL
#define NGX_QUEUES_BASE_JSON_HIGHS  0x8080808080808080ULL


typedef enum {
    NGX_QUEUES_BASE_JSON_WANT_VALUE = 0,
    NGX_QUEUES_BASE_JSON_WANT_FIRST,    /* a value or the end of the array */
    NGX_QUEUES_BASE_JSON_WANT_KEY,
    NGX_QUEUES_BASE_JSON_WANT_FIRST_KEY,
    NGX_QUEUES_BASE_JSON_WANT_COMMA,    /* or the end of the container */
    NGX_QUEUES_BASE_JSON_WANT_NOTHING
} ngx_queues_base_json_want_e;


typedef struct {
    u_char                       *pos;
    u_char                       *last;
    const char                   *error;
    ngx_queues_base_json_want_e   want;
    ngx_uint_t                    depth;
    ngx_uint_t                    max;
    uint64_t                     *objects;  /* a bit per open container, the
                                               outermost lowest, 1: object */
} ngx_queues_base_json_scan_t;


static ngx_int_t ngx_queues_base_json_step(ngx_queues_base_json_scan_t *s);
static ngx_int_t ngx_queues_base_json_scan_value(
    ngx_queues_base_json_scan_t *s);
static ngx_int_t ngx_queues_base_json_scan_open(
    ngx_queues_base_json_scan_t *s);
static void ngx_queues_base_json_scan_close(ngx_queues_base_json_scan_t *s);
static uint64_t ngx_queues_base_json_scan_object(
    ngx_queues_base_json_scan_t *s);
static ngx_int_t ngx_queues_base_json_scan_key(ngx_queues_base_json_scan_t *s);
static ngx_int_t ngx_queues_base_json_scan_string(
    ngx_queues_base_json_scan_t *s);
static ngx_int_t ngx_queues_base_json_scan_escape(
    ngx_queues_base_json_scan_t *s);
static ngx_int_t ngx_queues_base_json_scan_number(
    ngx_queues_base_json_scan_t *s);
static ngx_int_t ngx_queues_base_json_scan_literal(
    ngx_queues_base_json_scan_t *s, const char *literal, size_t len);
static ngx_int_t ngx_queues_base_json_fail(ngx_queues_base_json_scan_t *s,
    const char *error);
static u_char *ngx_queues_base_json_digits(u_char *p, u_char *last);
static u_char *ngx_queues_base_json_plain(u_char *p, u_char *last);
static u_char *ngx_queues_base_json_blanks(u_char *p, u_char *last);


ngx_int_t
ngx_queues_base_json_parse(ngx_str_t *text, ngx_queues_base_json_value_t *value,
    const char **error)
{
    uint64_t  objects[NGX_QUEUES_BASE_JSON_DEPTH / 64];

    return ngx_queues_base_json_parse_deep(text, objects,
                                           NGX_QUEUES_BASE_JSON_DEPTH, value,
                                           error);
}


ngx_int_t
ngx_queues_base_json_parse_deep(ngx_str_t *text, uint64_t *objects,
    ngx_uint_t max, ngx_queues_base_json_value_t *value, const char **error)
{
    u_char                       *start, *end;
    ngx_queues_base_json_scan_t   s;

    s.last = text->data + text->len;
    s.pos = ngx_queues_base_json_blanks(text->data, s.last);
    s.error = NULL;
    s.want = NGX_QUEUES_BASE_JSON_WANT_VALUE;
    s.depth = 0;
    s.max = max;
    s.objects = objects;

    start = s.pos;

    if (start == s.last) {
        *error = "it is empty";
        return NGX_ERROR;
    }

    if (text->len >= 3 && ngx_memcmp(text->data, "\xef\xbb\xbf", 3) == 0) {
        *error = "it starts with a byte order mark";
        return NGX_ERROR;
    }

    do {
        if (ngx_queues_base_json_step(&s) != NGX_OK) {
            *error = s.error;
            return NGX_ERROR;
        }
    } while (s.want != NGX_QUEUES_BASE_JSON_WANT_NOTHING);

    end = s.pos;

    if (ngx_queues_base_json_blanks(end, s.last) != s.last) {
        *error = "there is text after its end";
        return NGX_ERROR;
    }

    value->type = ngx_queues_base_json_type(*start);
    value->raw.data = start;
    value->raw.len = end - start;

    if (value->type == NGX_QUEUES_BASE_JSON_STRING) {
        value->raw.data++;
        value->raw.len -= 2;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_json_step(ngx_queues_base_json_scan_t *s)
{
    u_char  c;

    s->pos = ngx_queues_base_json_blanks(s->pos, s->last);

    if (s->pos == s->last) {
        return ngx_queues_base_json_fail(s, "it ends too early");
    }

    c = *s->pos;

    switch (s->want) {

    case NGX_QUEUES_BASE_JSON_WANT_FIRST:
        if (c == ']') {
            ngx_queues_base_json_scan_close(s);
            return NGX_OK;
        }

        return ngx_queues_base_json_scan_value(s);

    case NGX_QUEUES_BASE_JSON_WANT_FIRST_KEY:
        if (c == '}') {
            ngx_queues_base_json_scan_close(s);
            return NGX_OK;
        }

        return ngx_queues_base_json_scan_key(s);

    case NGX_QUEUES_BASE_JSON_WANT_KEY:
        return ngx_queues_base_json_scan_key(s);

    case NGX_QUEUES_BASE_JSON_WANT_COMMA:
        if (c == ',') {
            s->pos++;
            s->want = ngx_queues_base_json_scan_object(s)
                      ? NGX_QUEUES_BASE_JSON_WANT_KEY
                      : NGX_QUEUES_BASE_JSON_WANT_VALUE;
            return NGX_OK;
        }

        if (c == (ngx_queues_base_json_scan_object(s) ? '}' : ']')) {
            ngx_queues_base_json_scan_close(s);
            return NGX_OK;
        }

        return ngx_queues_base_json_fail(s, "a comma or the end of an array "
                                            "or object is missing");

    default: /* NGX_QUEUES_BASE_JSON_WANT_VALUE */
        return ngx_queues_base_json_scan_value(s);
    }
}


static ngx_int_t
ngx_queues_base_json_scan_value(ngx_queues_base_json_scan_t *s)
{
    ngx_int_t  rc;

    switch (*s->pos) {

    case '{':
    case '[':
        return ngx_queues_base_json_scan_open(s);

    case '"':
        rc = ngx_queues_base_json_scan_string(s);
        break;

    case 't':
        rc = ngx_queues_base_json_scan_literal(s, "true", 4);
        break;

    case 'f':
        rc = ngx_queues_base_json_scan_literal(s, "false", 5);
        break;

    case 'n':
        rc = ngx_queues_base_json_scan_literal(s, "null", 4);
        break;

    default:
        rc = ngx_queues_base_json_scan_number(s);
    }

    s->want = s->depth ? NGX_QUEUES_BASE_JSON_WANT_COMMA
                       : NGX_QUEUES_BASE_JSON_WANT_NOTHING;
    return rc;
}


static ngx_int_t
ngx_queues_base_json_scan_open(ngx_queues_base_json_scan_t *s)
{
    uint64_t  bit, *word;

    if (s->depth == s->max) {
        return ngx_queues_base_json_fail(s, "it is nested too deeply");
    }

    word = &s->objects[s->depth / 64];
    bit = 1ULL << s->depth % 64;

    s->depth++;

    if (*s->pos++ == '{') {
        *word |= bit;
        s->want = NGX_QUEUES_BASE_JSON_WANT_FIRST_KEY;

    } else {
        *word &= ~bit;
        s->want = NGX_QUEUES_BASE_JSON_WANT_FIRST;
    }

    return NGX_OK;
}


/* whether the innermost open container is one */

static uint64_t
ngx_queues_base_json_scan_object(ngx_queues_base_json_scan_t *s)
{
    ngx_uint_t  n;

    n = s->depth - 1;

    return s->objects[n / 64] >> n % 64 & 1;
}


static void
ngx_queues_base_json_scan_close(ngx_queues_base_json_scan_t *s)
{
    s->pos++;
    s->depth--;

    s->want = s->depth ? NGX_QUEUES_BASE_JSON_WANT_COMMA
                       : NGX_QUEUES_BASE_JSON_WANT_NOTHING;
}


static ngx_int_t
ngx_queues_base_json_scan_key(ngx_queues_base_json_scan_t *s)
{
    if (*s->pos != '"') {
        return ngx_queues_base_json_fail(s, "a key in quotes is missing");
    }

    if (ngx_queues_base_json_scan_string(s) != NGX_OK) {
        return NGX_ERROR;
    }

    s->pos = ngx_queues_base_json_blanks(s->pos, s->last);

    if (s->pos == s->last || *s->pos != ':') {
        return ngx_queues_base_json_fail(s, "a colon after a key is missing");
    }

    s->pos++;
    s->want = NGX_QUEUES_BASE_JSON_WANT_VALUE;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_json_scan_string(ngx_queues_base_json_scan_t *s)
{
    u_char  c;
    size_t  n;

    s->pos++;

    for ( ;; ) {
        s->pos = ngx_queues_base_json_plain(s->pos, s->last);

        if (s->pos == s->last) {
            return ngx_queues_base_json_fail(s, "a string does not end");
        }

        c = *s->pos;

        if (c == '"') {
            s->pos++;
            return NGX_OK;
        }

        if (c == '\\') {
            if (ngx_queues_base_json_scan_escape(s) != NGX_OK) {
                return NGX_ERROR;
            }

            continue;
        }

        if (c < 0x20) {
            return ngx_queues_base_json_fail(s, "a string has a control "
                                                "character that is not "
                                                "escaped");
        }

        /* text that is not ASCII comes in runs */

        do {
            n = ngx_queues_base_utf8_length(s->pos, s->last);

            if (n == 0) {
                return ngx_queues_base_json_fail(s, "a string is not UTF-8");
            }

            s->pos += n;

        } while (s->pos < s->last && *s->pos >= 0x80);
    }
}


static ngx_int_t
ngx_queues_base_json_scan_escape(ngx_queues_base_json_scan_t *s)
{
    u_char      c;
    ngx_uint_t  i;

    if (s->last - s->pos < 2) {
        return ngx_queues_base_json_fail(s, "a string does not end");
    }

    c = s->pos[1];
    s->pos += 2;

    switch (c) {

    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return NGX_OK;

    case 'u':
        for (i = 0; i < 4 && s->pos < s->last; i++) {
            c = *s->pos | 0x20;

            if ((*s->pos < '0' || *s->pos > '9') && (c < 'a' || c > 'f')) {
                break;
            }

            s->pos++;
        }

        if (i == 4) {
            return NGX_OK;
        }
    }

    return ngx_queues_base_json_fail(s, "a string has an escape that JSON "
                                        "does not know");
}


static ngx_int_t
ngx_queues_base_json_scan_number(ngx_queues_base_json_scan_t *s)
{
    u_char  *p, *digits, *last;

    p = s->pos;
    last = s->last;

    if (*p == '-') {
        p++;
    }

    digits = p;
    p = ngx_queues_base_json_digits(p, last);

    if (p == digits) {
        return ngx_queues_base_json_fail(s, "a value is missing or unknown");
    }

    if (*digits == '0' && p - digits > 1) {
        return ngx_queues_base_json_fail(s, "a number starts with a zero");
    }

    if (p < last && *p == '.') {
        digits = ++p;
        p = ngx_queues_base_json_digits(p, last);

        if (p == digits) {
            return ngx_queues_base_json_fail(s, "a number has no digit after "
                                                "its point");
        }
    }

    if (p < last && (*p == 'e' || *p == 'E')) {
        p++;

        if (p < last && (*p == '+' || *p == '-')) {
            p++;
        }

        digits = p;
        p = ngx_queues_base_json_digits(p, last);

        if (p == digits) {
            return ngx_queues_base_json_fail(s, "a number has no digit in its "
                                                "exponent");
        }
    }

    s->pos = p;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_json_scan_literal(ngx_queues_base_json_scan_t *s,
    const char *literal, size_t len)
{
    if ((size_t) (s->last - s->pos) < len
        || ngx_memcmp(s->pos, literal, len) != 0)
    {
        return ngx_queues_base_json_fail(s, "a value is missing or unknown");
    }

    s->pos += len;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_json_fail(ngx_queues_base_json_scan_t *s, const char *error)
{
    s->error = error;

    return NGX_ERROR;
}


static u_char *
ngx_queues_base_json_digits(u_char *p, u_char *last)
{
    while (p < last && *p >= '0' && *p <= '9') {
        p++;
    }

    return p;
}


/*
 * Skips what stands for itself in a string: ASCII from 0x20 but '"' and '\'.
 * Eight bytes at a time: a byte's high bit gets set if it is not ASCII, below
 * 0x20 or one of the two.  A borrow spoils only bytes above one that is set
 * already, and any one is enough to stop here.
 */

static u_char *
ngx_queues_base_json_plain(u_char *p, u_char *last)
{
    uint64_t  w, quote, escape;

    while (last - p >= 8) {
        ngx_memcpy(&w, p, 8);

        quote = w ^ (NGX_QUEUES_BASE_JSON_ONES * '"');
        escape = w ^ (NGX_QUEUES_BASE_JSON_ONES * '\\');

        w = (w | (w - NGX_QUEUES_BASE_JSON_ONES * 0x20)
             | (quote - NGX_QUEUES_BASE_JSON_ONES)
             | (escape - NGX_QUEUES_BASE_JSON_ONES))
            & NGX_QUEUES_BASE_JSON_HIGHS;

        if (w) {
            break;
        }

        p += 8;
    }

    while (p < last && *p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\') {
        p++;
    }

    return p;
}


static u_char *
ngx_queues_base_json_blanks(u_char *p, u_char *last)
{
    while (p < last
           && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
    {
        p++;
    }

    return p;
}
