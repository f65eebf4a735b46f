
/* Base64, with its padding and without line ends. */

#include "queuectl_bytes.h"

#include <string.h>


static const char  queuectl_bytes_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";


void
queuectl_bytes_write(queuectl_buf_t *b, queuectl_span_t bytes)
{
    char                  four[4];
    size_t                i, n, left;
    unsigned              bits;
    const unsigned char  *p;

    p = (const unsigned char *) bytes.data;

    for (left = bytes.len; left; left -= n, p += n) {
        n = left < 3 ? left : 3;

        bits = p[0] << 16;
        bits |= n > 1 ? p[1] << 8 : 0;
        bits |= n > 2 ? p[2] : 0;

        for (i = 0; i < 4; i++) {
            four[i] = i > n ? '='
                      : queuectl_bytes_digits[(bits >> (18 - 6 * i)) & 0x3f];
        }

        queuectl_buf_add(b, four, 4);
    }
}


int
queuectl_bytes_read(queuectl_buf_t *b, queuectl_span_t text)
{
    int          pads;
    char         three[3];
    size_t       i, at;
    unsigned     bits;
    const char  *digit;

    if (text.len % 4) {
        return -1;
    }

    for (at = 0; at < text.len; at += 4) {
        bits = 0;
        pads = 0;

        for (i = at; i < at + 4; i++) {
            bits <<= 6;

            /* padding is in the last four alone, behind two of them at least */

            if (text.data[i] == '=' && i + 2 >= text.len) {
                pads++;
                continue;
            }

            digit = memchr(queuectl_bytes_digits, text.data[i], 64);

            if (digit == NULL || pads) {
                return -1;
            }

            bits |= digit - queuectl_bytes_digits;
        }

        three[0] = bits >> 16;
        three[1] = bits >> 8;
        three[2] = bits;

        queuectl_buf_add(b, three, 3 - pads);
    }

    return 0;
}
