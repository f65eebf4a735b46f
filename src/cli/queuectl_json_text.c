
#include "queuectl_json.h"

#include <string.h>


static unsigned queuectl_json_hex(const char *p);
static void queuectl_json_code(queuectl_buf_t *b, unsigned code);


static unsigned
queuectl_json_hex(const char *p)
{
    int       i;
    unsigned  code;

    code = 0;

    for (i = 0; i < 4; i++) {
        code = 16 * code + (p[i] <= '9' ? p[i] - '0' : (p[i] | 0x20) - 'a' + 10);
    }

    return code;
}


/* a code point, or half of a pair that has no other half */

static void
queuectl_json_code(queuectl_buf_t *b, unsigned code)
{
    int            n;
    unsigned char  bytes[4];

    if (code < 0x80) {
        bytes[0] = code;
        n = 1;

    } else if (code < 0x800) {
        bytes[0] = 0xc0 | (code >> 6);
        n = 2;

    } else if (code < 0x10000) {
        bytes[0] = 0xe0 | (code >> 12);
        n = 3;

    } else {
        bytes[0] = 0xf0 | (code >> 18);
        n = 4;
    }

    if (n > 1) {
        bytes[n - 1] = 0x80 | (code & 0x3f);
    }

    if (n > 2) {
        bytes[n - 2] = 0x80 | ((code >> 6) & 0x3f);
    }

    if (n > 3) {
        bytes[1] = 0x80 | ((code >> 12) & 0x3f);
    }

    queuectl_buf_add(b, bytes, n);
}


int
queuectl_json_text(queuectl_span_t string, queuectl_buf_t *b)
{
    unsigned     code, low;
    const char  *p, *from, *last;

    static const char  letters[] = "bfnrt";
    static const char  meant[] = "\b\f\n\r\t";

    if (!queuectl_json_is_string(string)) {
        return 0;
    }

    p = string.data + 1;
    last = string.data + string.len - 1;

    while (p < last) {
        from = p;
        p = memchr(p, '\\', last - p);

        if (p == NULL) {
            queuectl_buf_add(b, from, last - from);
            break;
        }

        queuectl_buf_add(b, from, p - from);
        p++;

        if (*p != 'u') {
            from = strchr(letters, *p);
            queuectl_buf_add(b, from ? meant + (from - letters) : p, 1);
            p++;
            continue;
        }

        code = queuectl_json_hex(p + 1);
        p += 5;

        if (code >= 0xd800 && code <= 0xdbff && last - p >= 6
            && p[0] == '\\' && p[1] == 'u')
        {
            low = queuectl_json_hex(p + 2);

            if (low >= 0xdc00 && low <= 0xdfff) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                p += 6;
            }
        }

        queuectl_json_code(b, code);
    }

    return 1;
}


int
queuectl_json_member_text(queuectl_span_t object, const char *name,
    queuectl_buf_t *b)
{
    queuectl_span_t  value;

    return queuectl_json_member(object, name, &value)
           && queuectl_json_text(value, b);
}


int
queuectl_json_member_number(queuectl_span_t object, const char *name,
    long long *number)
{
    size_t           i;
    queuectl_span_t  value;

    if (!queuectl_json_member(object, name, &value) || value.len > 18) {
        return 0;
    }

    *number = 0;

    for (i = 0; i < value.len; i++) {
        if (value.data[i] < '0' || value.data[i] > '9') {
            return 0;
        }

        *number = 10 * *number + value.data[i] - '0';
    }

    return 1;
}


int
queuectl_json_member_true(queuectl_span_t object, const char *name)
{
    queuectl_span_t  value;

    return queuectl_json_member(object, name, &value)
           && value.data[0] == 't';
}
