
#include "ngx_queues_base_utf8.h"


size_t
ngx_queues_base_utf8_length(u_char *p, u_char *last)
{
    u_char  c, low, high;
    size_t  i, n;

    c = *p;
    low = 0x80;
    high = 0xbf;

    if (c < 0x80) {
        return 1;

    } else if (c < 0xc2) {
        return 0;

    } else if (c < 0xe0) {
        n = 2;

    } else if (c < 0xf0) {
        n = 3;

        if (c == 0xe0) {
            low = 0xa0;         /* overlong below */

        } else if (c == 0xed) {
            high = 0x9f;        /* surrogates above */
        }

    } else if (c < 0xf5) {
        n = 4;

        if (c == 0xf0) {
            low = 0x90;         /* overlong below */

        } else if (c == 0xf4) {
            high = 0x8f;        /* over U+10FFFF above */
        }

    } else {
        return 0;
    }

    if ((size_t) (last - p) < n || p[1] < low || p[1] > high) {
        return 0;
    }

    for (i = 2; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }

    return n;
}


ngx_int_t
ngx_queues_base_utf8_check(ngx_str_t *text)
{
    u_char  *p, *last;
    size_t   n;

    p = text->data;
    last = p + text->len;

    while (p < last) {
        n = ngx_queues_base_utf8_length(p, last);

        if (n == 0) {
            return NGX_ERROR;
        }

        p += n;
    }

    return NGX_OK;
}


u_char *
ngx_queues_base_utf8_write(u_char *p, uint32_t c)
{
    if (c < 0x80) {
        *p++ = (u_char) c;
        return p;
    }

    if (c < 0x800) {
        *p++ = (u_char) (0xc0 | c >> 6);
        *p++ = (u_char) (0x80 | (c & 0x3f));
        return p;
    }

    if (c < 0x10000) {
        *p++ = (u_char) (0xe0 | c >> 12);
        *p++ = (u_char) (0x80 | (c >> 6 & 0x3f));
        *p++ = (u_char) (0x80 | (c & 0x3f));
        return p;
    }

    *p++ = (u_char) (0xf0 | c >> 18);
    *p++ = (u_char) (0x80 | (c >> 12 & 0x3f));
    *p++ = (u_char) (0x80 | (c >> 6 & 0x3f));
    *p++ = (u_char) (0x80 | (c & 0x3f));

    return p;
}
