
/*
 * Field masks: the first line is a mask, the second a raw key.  Both are
 * compared with the names of fields as they are written in snake_case.
 */

#include "fuzz.h"
#include "ngx_queues_base_json.h"
#include "ngx_queues_base_mask.h"


static ngx_queues_base_field_t  fuzz_fields[] = {
    { ngx_string("labels"), 0x01, 0 },
    { ngx_string("ackDeadlineSeconds"), 0x02, 0 },
    { ngx_string("pushConfig"), 0x04, 1 },
    { ngx_string("retryPolicy"), 0x08, 1 },
    { ngx_string("retryPolicy.minimumBackoff"), 0x10, 0 },
    { ngx_string("aB"), 0x20, 1 },
    { ngx_string("aB.c.dE"), 0x40, 1 },
    { ngx_null_string, 0, 0 }
};


/* a name, as it is or in snake_case */

static ngx_uint_t
fuzz_name(ngx_str_t *text, ngx_str_t *name)
{
    size_t     i;
    u_char     snake[64];
    ngx_str_t  other;

    other.data = snake;
    other.len = 0;

    for (i = 0; i < name->len; i++) {

        if (name->data[i] >= 'A' && name->data[i] <= 'Z') {
            snake[other.len++] = '_';
        }

        snake[other.len++] = ngx_tolower(name->data[i]);
    }

    return fuzz_same(text, name) || fuzz_same(text, &other);
}


/* names and dots between them; the number of names that both have, or 0 */

static ngx_uint_t
fuzz_path(ngx_str_t text, ngx_str_t path)
{
    ngx_str_t   a, b;
    ngx_uint_t  n, same;

    for (n = 0; path.len; n++) {

        if (text.len == 0) {
            return 0;
        }

        a = fuzz_take(&text, '.');
        b = fuzz_take(&path, '.');

        same = fuzz_name(&a, &b);

        free(a.data);
        free(b.data);

        if (!same) {
            return 0;
        }
    }

    return n;
}


static ngx_uint_t
fuzz_words(ngx_str_t *path)
{
    size_t  i;
    u_char  c, before;

    before = '.';

    for (i = 0; i < path->len; i++) {
        c = path->data[i];

        if (c == '.' ? before == '.'
                     : c != '_' && !(c >= '0' && c <= '9')
                       && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
        {
            return 0;
        }

        before = c;
    }

    return before != '.';
}


/* the bit of a path, or 0 */

static uint64_t
fuzz_bit(ngx_str_t *path)
{
    size_t                    i;
    uint64_t                  bit;
    ngx_uint_t                n, best, names;
    ngx_queues_base_field_t  *field;

    if (!fuzz_words(path)) {
        return 0;
    }

    names = 1;

    for (i = 0; i < path->len; i++) {
        names += (path->data[i] == '.');
    }

    bit = 0;
    best = 0;

    for (field = fuzz_fields; field->name.data; field++) {
        n = fuzz_path(*path, field->name);

        if (n > best) {
            best = n;
            bit = (field->message || n == names) ? field->bit : 0;
        }
    }

    return bit;
}


static void
fuzz_mask(ngx_str_t *mask)
{
    size_t     left;
    u_char    *start;
    uint64_t   bit, bits, expected;
    ngx_int_t  rc;
    ngx_str_t  rest, path, wrong;

    bits = 0;
    rc = ngx_queues_base_mask_parse(mask, fuzz_fields, &bits, &wrong);

    rest = *mask;
    expected = 0;

    do {
        start = rest.data;
        left = rest.len;
        path = fuzz_take(&rest, ',');
        left -= path.len;       /* 0: no comma was taken */

        bit = fuzz_bit(&path);
        expected |= bit;

        if (bit == 0) {
            fuzz_assert(rc == NGX_ERROR && bits == 0);
            fuzz_assert(wrong.data == start && wrong.len == path.len);
            free(path.data);

            return;
        }

        free(path.data);

    } while (left);

    fuzz_assert(rc == NGX_OK && bits == expected);
}


/* a key, where the line is the content of a string; keys have no dots */

static void
fuzz_key(ngx_str_t *line)
{
    u_char                        *p;
    ngx_str_t                      text, decoded;
    const char                    *error;
    ngx_queues_base_field_t       *field;
    ngx_queues_base_json_value_t   value;

    text.len = line->len + 2;
    text.data = fuzz_alloc(text.len);
    text.data[0] = '"';
    ngx_memcpy(text.data + 1, line->data, line->len);
    text.data[line->len + 1] = '"';

    if (ngx_queues_base_json_parse(&text, &value, &error) != NGX_OK) {
        free(text.data);
        return;
    }

    p = fuzz_alloc(value.raw.len);
    decoded.data = p;
    decoded.len = ngx_queues_base_json_decode(p, &value.raw) - p;

    if (memchr(p, '.', decoded.len) == NULL) {
        for (field = fuzz_fields; field->name.data; field++) {
            fuzz_assert(ngx_queues_base_field_equal(&value.raw, &field->name)
                        == fuzz_name(&decoded, &field->name));
        }
    }

    free(p);
    free(text.data);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t  rest, mask, key;

    rest.data = (u_char *) data;
    rest.len = size;

    mask = fuzz_take(&rest, '\n');
    key = fuzz_take(&rest, '\n');

    fuzz_mask(&mask);
    fuzz_key(&key);

    free(mask.data);
    free(key.data);

    return 0;
}
