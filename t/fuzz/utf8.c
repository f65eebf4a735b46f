
/*
 * UTF-8 against the arithmetic of code points.
 */

#include "fuzz.h"
#include "ngx_queues_base_utf8.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char     *p, *last, written[4];
    size_t      n;
    uint32_t    c;
    ngx_str_t   text;

    text.data = (u_char *) data;
    text.len = size;
    last = text.data + size;

    for (p = text.data; p < last; p++) {
        n = fuzz_utf8(p, last, &c);

        fuzz_assert(ngx_queues_base_utf8_length(p, last) == n);
        fuzz_assert(n == 0
                    || (ngx_queues_base_utf8_write(written, c) == written + n
                        && memcmp(written, p, n) == 0));
    }

    fuzz_assert(ngx_queues_base_utf8_check(&text)
                == (fuzz_utf8_all(&text) ? NGX_OK : NGX_ERROR));

    return 0;
}
