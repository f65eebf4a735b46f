
/*
 * A line that is a context, and bytes.  As a text they never open, as a plain
 * text they are sealed and open again in their context and with their key only,
 * whatever is changed.
 */

#include "fuzz.h"
#include "ngx_queues_base_seal.h"
#include "ngx_queues_base_text.h"


#define FUZZ_FLIPS  8


static u_char  fuzz_secret[] = "fedcba9876543210fedcba9876543210";
static u_char  fuzz_other_secret[] = "fedcba9876543210fedcba9876543211";

static ngx_queues_base_seal_key_t  *fuzz_key;
static ngx_queues_base_seal_key_t  *fuzz_other_key;


static ngx_int_t
fuzz_open(ngx_queues_base_seal_key_t *key, ngx_str_t *context,
    ngx_str_t *text, ngx_str_t *plain)
{
    size_t      i;
    u_char     *p;
    ngx_int_t   rc;

    p = fuzz_alloc(plain->len);
    memset(p, 0xaa, plain->len);

    rc = ngx_queues_base_seal_open(key, context, text, p, plain->len);

    fuzz_assert(rc == NGX_OK || rc == NGX_ERROR);

    for (i = 0; i < plain->len; i++) {
        fuzz_assert(p[i] == (rc == NGX_OK ? plain->data[i] : 0));
    }

    free(p);

    return rc;
}


/* no other program has this key, so that is no text of it */

static void
fuzz_foreign(ngx_str_t *context, ngx_str_t *text)
{
    size_t      len;
    u_char      zeros[NGX_QUEUES_BASE_SEAL_MAX + 1];
    ngx_str_t   plain;

    memset(zeros, 0, sizeof(zeros));
    plain.data = zeros;

    for (len = 0; len <= sizeof(zeros); len++) {

        /* the length that it could have, and those beside it */

        if (len == 0 || len == 32 || len == sizeof(zeros)
            || ngx_queues_base_base64url_length(len
                                 + NGX_QUEUES_BASE_SEAL_OVERHEAD) == text->len)
        {
            plain.len = len;
            fuzz_assert(fuzz_open(fuzz_key, context, text, &plain)
                        == NGX_ERROR);
        }
    }
}


static void
fuzz_changed(ngx_str_t *context, ngx_str_t *text, ngx_str_t *plain)
{
    size_t      len, bit;
    u_char     *sealed;
    ngx_str_t   other, rest;
    ngx_uint_t  i;

    rest = *plain;

    sealed = fuzz_alloc(ngx_queues_base_base64url_parsed_length(text->len));
    other = fuzz_copy(text->data, text->len);

    fuzz_assert(ngx_queues_base_base64url_parse(text, sealed, &len) == NGX_OK
                && len == plain->len + NGX_QUEUES_BASE_SEAL_OVERHEAD
                && sealed[0] == 1);

    for (i = 0; i < FUZZ_FLIPS; i++) {
        bit = (fuzz_number(&rest, 2) + 97 * i) % (8 * len);

        sealed[bit / 8] ^= 1 << bit % 8;
        (void) ngx_queues_base_base64url_print(other.data, sealed, len);
        sealed[bit / 8] ^= 1 << bit % 8;

        fuzz_assert(fuzz_open(fuzz_key, context, &other, plain) == NGX_ERROR);
    }

    other.len = fuzz_number(&rest, 1) % text->len;
    memcpy(other.data, text->data, other.len);

    fuzz_assert(fuzz_open(fuzz_key, context, &other, plain) == NGX_ERROR);
    fuzz_assert(fuzz_open(fuzz_other_key, context, text, plain) == NGX_ERROR);

    free(other.data);

    other.data = fuzz_alloc(context->len + 1);
    other.len = context->len + 1;
    memcpy(other.data, context->data, context->len);
    other.data[context->len] = 'x';

    fuzz_assert(fuzz_open(fuzz_key, &other, text, plain) == NGX_ERROR);

    if (context->len) {
        other.len = context->len - 1;
        fuzz_assert(fuzz_open(fuzz_key, &other, text, plain) == NGX_ERROR);

        other.len = context->len;
        other.data[0] ^= 1;
        fuzz_assert(fuzz_open(fuzz_key, &other, text, plain) == NGX_ERROR);
    }

    free(other.data);
    free(sealed);
}


static void
fuzz_seal(ngx_str_t *context, ngx_str_t *plain)
{
    u_char     *end;
    ngx_str_t   text;

    text.data = fuzz_alloc(ngx_queues_base_seal_length(plain->len));
    end = ngx_queues_base_seal(fuzz_key, context, plain, text.data);

    fuzz_assert((end != NULL) == (plain->len <= NGX_QUEUES_BASE_SEAL_MAX));

    if (end) {
        text.len = end - text.data;

        fuzz_assert(text.len == ngx_queues_base_base64url_length(plain->len
                                             + NGX_QUEUES_BASE_SEAL_OVERHEAD));
        fuzz_assert(fuzz_open(fuzz_key, context, &text, plain) == NGX_OK);

        fuzz_changed(context, &text, plain);
    }

    free(text.data);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t  rest, context, bytes;

    if (fuzz_key == NULL) {
        fuzz_key = ngx_queues_base_seal_key_create(fuzz_secret, 32);
        fuzz_other_key = ngx_queues_base_seal_key_create(fuzz_other_secret,
                                                         32);
    }

    fuzz_assert(fuzz_key && fuzz_other_key);

    rest.data = (u_char *) data;
    rest.len = size;

    context = fuzz_take(&rest, '\n');
    bytes = fuzz_copy(rest.data, rest.len);

    fuzz_foreign(&context, &bytes);
    fuzz_seal(&context, &bytes);

    free(bytes.data);
    free(context.data);

    return 0;
}
