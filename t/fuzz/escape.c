
/*
 * Any bytes as a JSON string: what is written is a string, and decodes to the
 * same bytes with U+FFFD for each that is not of a UTF-8 character.
 */

#include "fuzz.h"
#include "ngx_queues_base_json.h"


static ngx_str_t
fuzz_clean(ngx_str_t *text)
{
    u_char     *p, *last, *dst;
    size_t      n;
    uint32_t    c;
    ngx_str_t   clean;

    clean.data = fuzz_alloc(3 * text->len);

    dst = clean.data;
    last = text->data + text->len;

    for (p = text->data; p < last; p += n) {
        n = fuzz_utf8(p, last, &c);

        if (n) {
            dst = ngx_cpymem(dst, p, n);

        } else {
            n = 1;
            dst = ngx_cpymem(dst, "\xef\xbf\xbd", 3);
        }
    }

    clean.len = dst - clean.data;

    return clean;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t                         len;
    ngx_str_t                      text, quoted, clean, decoded;
    const char                    *error;
    ngx_queues_base_json_value_t   value;

    text.data = (u_char *) data;
    text.len = size;

    len = ngx_queues_base_json_escape_length(&text);

    quoted.len = len + 2;
    quoted.data = fuzz_alloc(quoted.len);
    quoted.data[0] = '"';
    quoted.data[len + 1] = '"';

    fuzz_assert(ngx_queues_base_json_escape(quoted.data + 1, &text)
                == quoted.data + 1 + len);
    fuzz_assert(quoted.data[0] == '"' && quoted.data[len + 1] == '"');

    fuzz_assert(ngx_queues_base_json_parse(&quoted, &value, &error) == NGX_OK);
    fuzz_assert(value.type == NGX_QUEUES_BASE_JSON_STRING
                && value.raw.len == len);

    clean = fuzz_clean(&text);

    decoded.len = ngx_queues_base_json_decoded_length(&value.raw);
    decoded.data = fuzz_alloc(decoded.len);

    fuzz_assert(ngx_queues_base_json_decode(decoded.data, &value.raw)
                == decoded.data + decoded.len);
    fuzz_assert(fuzz_same(&decoded, &clean));

    free(decoded.data);
    free(clean.data);
    free(quoted.data);

    return 0;
}
