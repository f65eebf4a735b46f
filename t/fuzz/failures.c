
/*
 * Bodies of answers: the list of failed messages is there where the document is
 * an object, has one member whose name is decoded to "failed", and that is an
 * array of strings.
 */

#include "fuzz.h"
#include "ngx_queues_base_retry.h"


/* a body that is read whole has 64 KiB at most: any of these is deep enough */
#define FUZZ_DEPTH  65536


/* how many of the members have the name */

static ngx_uint_t
fuzz_members(ngx_queues_base_json_value_t *document,
    ngx_queues_base_json_value_t *found)
{
    size_t                         len;
    u_char                        *name;
    ngx_str_t                      key;
    ngx_uint_t                     n;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   value;

    n = 0;

    ngx_queues_base_json_open(&it, document);

    while (ngx_queues_base_json_next(&it, &key, &value) == NGX_OK) {
        len = ngx_queues_base_json_decoded_length(&key);
        name = fuzz_alloc(len);

        fuzz_assert(ngx_queues_base_json_decode(name, &key) == name + len);

        if (len == 6 && memcmp(name, "failed", 6) == 0) {
            *found = value;
            n++;
        }

        free(name);
    }

    return n;
}


static ngx_uint_t
fuzz_list(ngx_str_t *body, ngx_queues_base_json_value_t *list)
{
    uint64_t                       objects[FUZZ_DEPTH / 64];
    const char                    *error;
    ngx_uint_t                     others;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   document, value;

    if (ngx_queues_base_json_parse_deep(body, objects, FUZZ_DEPTH, &document,
                                        &error)
        != NGX_OK
        || document.type != NGX_QUEUES_BASE_JSON_OBJECT
        || fuzz_members(&document, list) != 1
        || list->type != NGX_QUEUES_BASE_JSON_ARRAY)
    {
        return 0;
    }

    others = 0;

    ngx_queues_base_json_open(&it, list);

    while (ngx_queues_base_json_next(&it, NULL, &value) == NGX_OK) {
        others += (value.raw.data[-1] != '"');
    }

    return others == 0;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_int_t                      rc;
    ngx_str_t                      body;
    ngx_queues_base_json_value_t   list, expected;

    body = fuzz_copy(data, size);

    rc = ngx_queues_base_failures(&body, &list);

    fuzz_assert(rc == NGX_OK || rc == NGX_DECLINED);
    fuzz_assert((rc == NGX_OK) == fuzz_list(&body, &expected));

    if (rc == NGX_OK) {
        fuzz_assert(list.type == NGX_QUEUES_BASE_JSON_ARRAY
                    && list.raw.data == expected.raw.data
                    && list.raw.len == expected.raw.len);
        fuzz_assert(list.raw.data > body.data
                    && list.raw.data + list.raw.len < body.data + body.len);
    }

    free(body.data);

    return 0;
}
