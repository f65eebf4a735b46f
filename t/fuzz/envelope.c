
/*
 * A line that is a context, and bytes.  As an envelope they never open; as a
 * plain text they are sealed and open again in their context and with their key
 * only, whatever is changed.
 */

#include "fuzz.h"
#include "ngx_queues_base_envelope.h"


static u_char  fuzz_secret[] = "fedcba9876543210fedcba9876543210";
static u_char  fuzz_other_secret[] = "fedcba9876543210fedcba9876543211";

static ngx_queues_base_seal_key_t  *fuzz_key;
static ngx_queues_base_seal_key_t  *fuzz_other_key;


static ngx_uint_t
fuzz_opens(ngx_queues_base_seal_key_t *key, ngx_str_t *context,
    ngx_str_t *text, ngx_str_t *plain)
{
    ngx_int_t  rc;
    ngx_str_t  opened;

    opened.data = fuzz_alloc(text->len);
    opened.len = 0;

    rc = ngx_queues_base_envelope_open(key, context, text, &opened);

    fuzz_assert(rc == NGX_OK || rc == NGX_ERROR);
    fuzz_assert(rc != NGX_OK
                || (opened.len == plain->len
                    && memcmp(opened.data, plain->data, plain->len) == 0));

    free(opened.data);

    return rc == NGX_OK;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char     *end;
    ngx_str_t   rest, context, plain, text;

    if (fuzz_key == NULL) {
        fuzz_key = ngx_queues_base_seal_key_create(fuzz_secret, 32);
        fuzz_other_key = ngx_queues_base_seal_key_create(fuzz_other_secret,
                                                         32);
    }

    fuzz_assert(fuzz_key && fuzz_other_key);

    rest.data = (u_char *) data;
    rest.len = size;

    context = fuzz_take(&rest, '\n');
    plain = fuzz_copy(rest.data, rest.len);

    fuzz_assert(!fuzz_opens(fuzz_key, &context, &plain, &plain));

    text.data = fuzz_alloc(ngx_queues_base_envelope_length(plain.len));
    end = ngx_queues_base_envelope_seal(fuzz_key, &context, &plain, text.data);
    fuzz_assert(end);
    text.len = end - text.data;

    fuzz_assert(fuzz_opens(fuzz_key, &context, &text, &plain));
    fuzz_assert(!fuzz_opens(fuzz_other_key, &context, &text, &plain));
    fuzz_assert(!fuzz_opens(fuzz_key, &plain, &text, &plain)
                || (plain.len == context.len
                    && memcmp(plain.data, context.data, plain.len) == 0));

    text.len--;
    fuzz_assert(!fuzz_opens(fuzz_key, &context, &text, &plain));

    free(text.data);
    free(plain.data);
    free(context.data);

    return 0;
}
