
/*
 * What the fuzz targets share.  A target is a file of its own with
 * LLVMFuzzerTestOneInput(), which aborts where a property does not hold; the
 * second reading of a format that it compares with is written in another way
 * than the parser, not for speed.
 */

#ifndef _FUZZ_H_INCLUDED_
#define _FUZZ_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#define fuzz_assert(what)                                                     \
    ((what) ? (void) 0 : fuzz_failed(#what, __FILE__, __LINE__))


int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


static ngx_inline void __attribute__((noreturn))
fuzz_failed(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}


/* memory of exactly that size, so that the sanitizer sees any byte too far */

static ngx_inline u_char *
fuzz_alloc(size_t size)
{
    u_char  *p;

    p = malloc(size ? size : 1);

    if (p == NULL) {
        abort();
    }

    return p;
}


static ngx_inline ngx_str_t
fuzz_copy(const u_char *data, size_t len)
{
    ngx_str_t  copy;

    copy.len = len;
    copy.data = fuzz_alloc(len);

    if (len) {
        ngx_memcpy(copy.data, data, len);
    }

    return copy;
}


static ngx_inline ngx_uint_t
fuzz_same(ngx_str_t *a, ngx_str_t *b)
{
    return a->len == b->len
           && (a->len == 0 || ngx_memcmp(a->data, b->data, a->len) == 0);
}


/* takes a copy of what stands before the separator, or of all, off the rest */

static ngx_inline ngx_str_t
fuzz_take(ngx_str_t *rest, u_char separator)
{
    u_char     *p;
    ngx_str_t   piece;

    p = rest->len ? memchr(rest->data, separator, rest->len) : NULL;

    if (p == NULL) {
        piece = fuzz_copy(rest->data, rest->len);
        rest->data += rest->len;
        rest->len = 0;

        return piece;
    }

    piece = fuzz_copy(rest->data, p - rest->data);

    rest->len -= piece.len + 1;
    rest->data = p + 1;

    return piece;
}


/* size bytes of the rest as a number, zeros where it ends */

static ngx_inline uint64_t
fuzz_number(ngx_str_t *rest, size_t size)
{
    uint64_t  n;

    for (n = 0; size; size--) {
        n <<= 8;

        if (rest->len) {
            n |= *rest->data++;
            rest->len--;
        }
    }

    return n;
}


/* bytes of the UTF-8 character at p < last and its number, 0 if it is none */

static ngx_inline size_t
fuzz_utf8(u_char *p, u_char *last, uint32_t *c)
{
    size_t                 i, n;
    static const uint32_t  least[] = { 0, 0, 0x80, 0x800, 0x10000 };

    for (n = 0; n < 8 && (*p << n & 0x80); n++) { /* void */ }

    if (n == 0) {
        *c = *p;
        return 1;
    }

    if (n == 1 || n > 4 || (size_t) (last - p) < n) {
        return 0;
    }

    *c = *p & (0x7f >> n);

    for (i = 1; i < n; i++) {
        if (p[i] >> 6 != 2) {
            return 0;
        }

        *c = *c << 6 | (p[i] & 0x3f);
    }

    if (*c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c <= 0xdfff)) {
        return 0;
    }

    return n;
}


static ngx_inline ngx_uint_t
fuzz_utf8_all(ngx_str_t *text)
{
    u_char    *p, *last;
    size_t     n;
    uint32_t   c;

    last = text->data + text->len;

    for (p = text->data; p < last; p += n) {
        n = fuzz_utf8(p, last, &c);

        if (n == 0) {
            return 0;
        }
    }

    return 1;
}


#endif /* _FUZZ_H_INCLUDED_ */
