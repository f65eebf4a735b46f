
/*
 * Numbers as big-endian bytes.
 */

#ifndef _NGX_QUEUES_BASE_BYTES_H_INCLUDED_
#define _NGX_QUEUES_BASE_BYTES_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


/*
 * Writes the low size bytes (1 to 8) of a number and returns the end.
 */
static ngx_inline u_char *
ngx_queues_base_bytes_write(u_char *p, uint64_t n, size_t size)
{
    size_t  i;

    for (i = size; i > 0; i--) {
        p[i - 1] = (u_char) n;
        n >>= 8;
    }

    return p + size;
}


/*
 * Reads a number of size bytes (1 to 8).
 */
static ngx_inline uint64_t
ngx_queues_base_bytes_read(u_char *p, size_t size)
{
    size_t    i;
    uint64_t  n;

    n = 0;

    for (i = 0; i < size; i++) {
        n = n << 8 | p[i];
    }

    return n;
}


#endif /* _NGX_QUEUES_BASE_BYTES_H_INCLUDED_ */
