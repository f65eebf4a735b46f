
#include "queuectl_text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <wchar.h>


static long queuectl_utf8(const unsigned char **at, const unsigned char *last);
static int queuectl_is_shown(long code);


static void
queuectl_no_memory(void)
{
    fputs("queuectl: there is not enough memory\n", stderr);
    exit(1);
}


void
queuectl_random(void *bytes, size_t n)
{
    if (getrandom(bytes, n, 0) != (ssize_t) n) {
        fputs("queuectl: the system gives no random numbers\n", stderr);
        exit(1);
    }
}


void *
queuectl_alloc(size_t size)
{
    void  *p;

    p = calloc(1, size ? size : 1);
    if (p == NULL) {
        queuectl_no_memory();
    }

    return p;
}


void *
queuectl_grow(void *p, size_t n, size_t size)
{
    if (n == 0 || size == 0) {
        n = size = 1;
    }

    if (n > SIZE_MAX / size) {
        queuectl_no_memory();
    }

    p = realloc(p, n * size);
    if (p == NULL) {
        queuectl_no_memory();
    }

    return p;
}


char *
queuectl_copy(const char *data, size_t len)
{
    char  *copy;

    copy = queuectl_alloc(len + 1);

    if (len) {
        memcpy(copy, data, len);
    }

    return copy;
}


void
queuectl_buf_add(queuectl_buf_t *b, const void *data, size_t len)
{
    size_t  size;

    if (len >= SIZE_MAX / 4 - b->len) {
        queuectl_no_memory();
    }

    if (b->len + len + 1 > b->size) {
        size = 2 * (b->len + len + 32);
        b->data = queuectl_grow(b->data, size, 1);
        b->size = size;
    }

    if (len) {
        memcpy(b->data + b->len, data, len);
    }

    b->len += len;
    b->data[b->len] = '\0';
}


void
queuectl_buf_text(queuectl_buf_t *b, const char *text)
{
    queuectl_buf_add(b, text, strlen(text));
}


void
queuectl_buf_print(queuectl_buf_t *b, const char *format, ...)
{
    int      n;
    char    *text;
    va_list  args;

    va_start(args, format);
    n = vasprintf(&text, format, args);
    va_end(args);

    if (n < 0) {
        queuectl_no_memory();
    }

    queuectl_buf_add(b, text, n);
    free(text);
}


void
queuectl_buf_clear(queuectl_buf_t *b)
{
    b->len = 0;
}


void
queuectl_buf_free(queuectl_buf_t *b)
{
    free(b->data);
    memset(b, 0, sizeof(queuectl_buf_t));
}


queuectl_span_t
queuectl_buf_span(queuectl_buf_t *b)
{
    queuectl_span_t  span;

    span.data = b->data ? b->data : "";
    span.len = b->len;

    return span;
}


void
queuectl_buf_url(queuectl_buf_t *b, const char *text)
{
    const char  *p;

    /* full stops too: "." and ".." are no steps of this path */

    for (p = text; *p; p++) {
        if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')
            || (*p >= '0' && *p <= '9') || *p == '-' || *p == '_')
        {
            queuectl_buf_add(b, p, 1);

        } else {
            queuectl_buf_print(b, "%%%02X", (unsigned char) *p);
        }
    }
}


/* the next code point, also a surrogate's, or -1 */

static long
queuectl_utf8(const unsigned char **at, const unsigned char *last)
{
    int                   i, more;
    long                  code, least;
    const unsigned char  *p;

    p = *at;

    if (*p < 0x80) {
        *at = p + 1;
        return *p;
    }

    if (*p >= 0xc2 && *p <= 0xdf) {
        more = 1;
        code = *p & 0x1f;
        least = 0x80;

    } else if (*p >= 0xe0 && *p <= 0xef) {
        more = 2;
        code = *p & 0x0f;
        least = 0x800;

    } else if (*p >= 0xf0 && *p <= 0xf4) {
        more = 3;
        code = *p & 0x07;
        least = 0x10000;

    } else {
        return -1;
    }

    if (last - p <= more) {
        return -1;
    }

    for (i = 1; i <= more; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return -1;
        }

        code = (code << 6) | (p[i] & 0x3f);
    }

    if (code < least || code > 0x10ffff) {
        return -1;
    }

    *at = p + more + 1;

    return code;
}


int
queuectl_utf8_check(queuectl_span_t text)
{
    long                  code;
    const unsigned char  *p, *last;

    p = (const unsigned char *) text.data;
    last = p + text.len;

    while (p < last) {
        code = queuectl_utf8(&p, last);

        if (code < 0 || (code >= 0xd800 && code <= 0xdfff)) {
            return -1;
        }
    }

    return 0;
}


int
queuectl_buf_json(queuectl_buf_t *b, queuectl_span_t text, size_t *bad)
{
    long                  code, before;
    const unsigned char  *p, *from, *last;

    p = (const unsigned char *) text.data;
    last = p + text.len;
    before = 0;

    queuectl_buf_add(b, "\"", 1);

    while (p < last) {
        from = p;
        code = queuectl_utf8(&p, last);

        /* two halves would be read as the whole that they are not here */

        if (code < 0
            || (before >= 0xd800 && before <= 0xdbff
                && code >= 0xdc00 && code <= 0xdfff))
        {
            *bad = from - (const unsigned char *) text.data;
            return -1;
        }

        if (code < 0x20 || (code >= 0xd800 && code <= 0xdfff)) {
            queuectl_buf_print(b, "\\u%04lx", code);

        } else {
            if (code == '"' || code == '\\') {
                queuectl_buf_add(b, "\\", 1);
            }

            queuectl_buf_add(b, from, p - from);
        }

        before = code;
    }

    queuectl_buf_add(b, "\"", 1);

    return 0;
}


void
queuectl_buf_member(queuectl_buf_t *b, const char *name)
{
    if (b->data[b->len - 1] != '{') {
        queuectl_buf_add(b, ",", 1);
    }

    queuectl_buf_print(b, "\"%s\":", name);
}


int
queuectl_buf_member_text(queuectl_buf_t *b, const char *name,
    const char *text)
{
    size_t           bad;
    queuectl_span_t  span;

    span.data = text;
    span.len = strlen(text);

    queuectl_buf_member(b, name);

    return queuectl_buf_json(b, span, &bad);
}


void
queuectl_buf_member_number(queuectl_buf_t *b, const char *name,
    long long number)
{
    queuectl_buf_member(b, name);
    queuectl_buf_print(b, "%lld", number);
}


static int
queuectl_is_shown(long code)
{
    /* C0, DEL and C1; marks, embeddings, overrides and isolates of direction;
       ends of lines and paragraphs; halves of pairs */

    return !(code < 0x20 || (code >= 0x7f && code <= 0x9f)
             || code == 0x061c || code == 0x200e || code == 0x200f
             || (code >= 0x2028 && code <= 0x202e)
             || (code >= 0x2066 && code <= 0x2069)
             || (code >= 0xd800 && code <= 0xdfff));
}


void
queuectl_buf_safe(queuectl_buf_t *b, queuectl_span_t text, int lines)
{
    long                  code;
    const unsigned char  *p, *from, *last;

    p = (const unsigned char *) text.data;
    last = p + text.len;

    while (p < last) {
        from = p;
        code = queuectl_utf8(&p, last);

        if (code < 0) {
            p = from + 1;
            queuectl_buf_print(b, "\\x%02x", *from);

        } else if (queuectl_is_shown(code)
                   || (lines && (code == '\n' || code == '\t')))
        {
            queuectl_buf_add(b, from, p - from);

        } else if (code == '\n') {
            queuectl_buf_text(b, "\\n");

        } else if (code == '\t') {
            queuectl_buf_text(b, "\\t");

        } else {
            queuectl_buf_print(b, "\\u%04lx", code);
        }
    }
}


size_t
queuectl_width(const char *text)
{
    int                   columns;
    long                  code;
    size_t                width;
    const unsigned char  *p, *last;

    p = (const unsigned char *) text;
    last = p + strlen(text);
    width = 0;

    while (p < last) {
        code = queuectl_utf8(&p, last);

        if (code < 0) {
            p++;
        }

        columns = (code < 0x80) ? 1 : wcwidth(code);
        width += (columns < 0) ? 1 : columns;
    }

    return width;
}
