
/*
 * What the unit tests share: a TAP producer, and texts in memory of exactly
 * their size, so that the address sanitizer sees any byte too far.
 */

#ifndef _UNIT_H_INCLUDED_
#define _UNIT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#define UNIT_ROWS(table)  (sizeof(table) / sizeof(table[0]))


static unsigned  unit_tests;
static unsigned  unit_failed;


/* the name may be any bytes: what is not printable is shown in hex */

static void
unit_ok(ngx_uint_t ok, const char *what, ngx_str_t *name)
{
    size_t  i;
    u_char  c;

    printf("%s %u - %s", ok ? "ok" : "not ok", ++unit_tests, what);

    for (i = 0; name && i < name->len && i < 60; i++) {
        c = name->data[i];

        if (i == 0) {
            printf(": ");
        }

        if (c < 0x20 || c > 0x7e || c == '#' || c == '\\') {
            printf("\\x%02x", c);

        } else {
            putchar(c);
        }
    }

    putchar('\n');

    if (!ok) {
        unit_failed++;
    }
}


static int
unit_done(void)
{
    printf("1..%u\n", unit_tests);

    return unit_failed != 0;
}


static ngx_inline ngx_str_t
unit_copy(ngx_str_t *text)
{
    ngx_str_t  copy;

    copy.len = text->len;
    copy.data = malloc(text->len ? text->len : 1);

    if (copy.data == NULL) {
        abort();
    }

    ngx_memcpy(copy.data, text->data, text->len);

    return copy;
}


static ngx_inline ngx_uint_t
unit_same(ngx_str_t *a, ngx_str_t *b)
{
    return a->len == b->len && ngx_memcmp(a->data, b->data, a->len) == 0;
}


/* the same numbers in every run (Marsaglia's xorshift) */

static ngx_inline uint32_t
unit_random(void)
{
    static uint32_t  n = 2463534242U;

    n ^= n << 13;
    n ^= n >> 17;
    n ^= n << 5;

    return n;
}


#endif /* _UNIT_H_INCLUDED_ */
