
/*
 * Queries: the same parameters as a reading by '&' and '=' finds, and none
 * after an error.
 */

#include "fuzz.h"
#include "ngx_queues_base_path.h"


static ngx_int_t
fuzz_decode(ngx_str_t *raw, ngx_str_t *text)
{
    u_char  *p, *last, c;
    char     digits[3];

    text->data = fuzz_alloc(raw->len);
    text->len = 0;

    last = raw->data + raw->len;

    for (p = raw->data; p < last; p++) {
        c = (*p == '+') ? ' ' : *p;

        if (c == '%') {
            if (last - p < 3 || !isxdigit(p[1]) || !isxdigit(p[2])) {
                return NGX_ERROR;
            }

            digits[0] = p[1];
            digits[1] = p[2];
            digits[2] = '\0';

            c = (u_char) strtol(digits, NULL, 16);
            p += 2;
        }

        if (iscntrl(c)) {
            return NGX_ERROR;
        }

        text->data[text->len++] = c;
    }

    return fuzz_utf8_all(text) ? NGX_OK : NGX_ERROR;
}


/* what the parser should say of the next piece that is not empty */

static ngx_int_t
fuzz_expected(ngx_str_t *piece, ngx_str_t *name, ngx_str_t *value)
{
    ngx_int_t  name_rc, value_rc;
    ngx_str_t  rest, raw;

    rest = *piece;

    raw = fuzz_take(&rest, '=');
    name_rc = fuzz_decode(&raw, name);
    value_rc = fuzz_decode(&rest, value);

    free(raw.data);

    return (name_rc == NGX_OK && value_rc == NGX_OK) ? NGX_OK : NGX_ERROR;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char                   *buf, *free_from;
    ngx_int_t                 rc;
    ngx_str_t                 args, rest, piece, name, value;
    ngx_str_t                 expected_name, expected_value;
    ngx_queues_base_query_t   query;

    args.data = (u_char *) data;
    args.len = size;
    rest = args;

    buf = fuzz_alloc(size);
    free_from = buf;
    rc = NGX_OK;

    ngx_queues_base_query_open(&query, &args, 0, buf);

    while (rest.len && rc == NGX_OK) {
        piece = fuzz_take(&rest, '&');

        if (piece.len) {
            rc = fuzz_expected(&piece, &expected_name, &expected_value);

            fuzz_assert(ngx_queues_base_query_next(&query, &name, &value)
                        == rc);

            if (rc == NGX_OK) {
                fuzz_assert(name.data == free_from
                            && value.data == name.data + name.len);

                free_from = value.data + value.len;

                fuzz_assert(free_from <= buf + size);
                fuzz_assert(fuzz_same(&name, &expected_name));
                fuzz_assert(fuzz_same(&value, &expected_value));
            }

            free(expected_name.data);
            free(expected_value.data);
        }

        free(piece.data);
    }

    fuzz_assert(ngx_queues_base_query_next(&query, &name, &value) == NGX_DONE);
    fuzz_assert(ngx_queues_base_query_next(&query, &name, &value) == NGX_DONE);

    free(buf);

    return 0;
}
