
/*
 * Base64: a text is taken apart bit by bit and written anew by OpenSSL; and
 * bytes are known again in each of their spellings.
 */

#include "fuzz.h"
#include "ngx_queues_base_base64.h"

#include <openssl/evp.h>


static const char  fuzz_standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "abcdefghijklmnopqrstuvwxyz0123456789+/";
static const char  fuzz_url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789-_";


/* the bytes of a text in this alphabet, in memory of their own, or no data */

static ngx_str_t
fuzz_decode(ngx_str_t *text, const char *digits)
{
    size_t       i, len, padding;
    const char  *digit;
    ngx_str_t    bytes;
    ngx_uint_t   bit, bits;

    ngx_str_null(&bytes);

    len = text->len;

    while (len && text->data[len - 1] == '=') {
        len--;
    }

    padding = text->len - len;

    if (len % 4 == 1 || (padding && padding != (4 - len % 4) % 4)) {
        return bytes;
    }

    bytes.data = fuzz_alloc(len);
    memset(bytes.data, 0, len);

    for (i = 0, bits = 0; i < len; i++) {

        digit = text->data[i] ? strchr(digits, text->data[i]) : NULL;

        if (digit == NULL) {
            free(bytes.data);
            ngx_str_null(&bytes);

            return bytes;
        }

        for (bit = 32; bit; bit /= 2, bits++) {
            if ((digit - digits) & bit) {
                bytes.data[bits / 8] |= 0x80 >> bits % 8;
            }
        }
    }

    bytes.len = bits / 8;

    return bytes;
}


static void
fuzz_spelling(ngx_str_t *text, ngx_str_t *bytes)
{
    size_t     size;
    u_char    *p;
    ngx_int_t  rc;
    ngx_str_t  canonical, written;

    canonical.data = fuzz_alloc(bytes->len / 3 * 4 + 5);
    canonical.len = EVP_EncodeBlock(canonical.data, bytes->data, bytes->len);

    rc = ngx_queues_base_base64_check(text, &size);

    fuzz_assert(rc == (fuzz_same(text, &canonical) ? NGX_OK : NGX_DONE));
    fuzz_assert(size == bytes->len);
    fuzz_assert(ngx_queues_base_base64_length(size) == canonical.len);

    p = fuzz_alloc(canonical.len);

    written.data = p;
    written.len = ngx_queues_base_base64_canonical(p, text) - p;

    fuzz_assert(fuzz_same(&written, &canonical));

    free(p);
    free(canonical.data);
}


static void
fuzz_text(ngx_str_t *text)
{
    size_t     size;
    ngx_str_t  bytes;

    bytes = fuzz_decode(text, fuzz_standard);

    if (bytes.data == NULL) {
        bytes = fuzz_decode(text, fuzz_url);
    }

    if (bytes.data == NULL) {
        fuzz_assert(ngx_queues_base_base64_check(text, &size) == NGX_ERROR);
        return;
    }

    fuzz_spelling(text, &bytes);

    free(bytes.data);
}


static void
fuzz_bytes(ngx_str_t *bytes)
{
    size_t      i, n;
    u_char     *encoded;
    ngx_str_t   text;

    encoded = fuzz_alloc(bytes->len / 3 * 4 + 5);
    n = EVP_EncodeBlock(encoded, bytes->data, bytes->len);

    text = fuzz_copy(encoded, n);
    fuzz_spelling(&text, bytes);
    free(text.data);

    while (n && encoded[n - 1] == '=') {
        n--;
    }

    for (i = 0; i < n; i++) {
        encoded[i] = (encoded[i] == '+') ? '-'
                     : (encoded[i] == '/') ? '_' : encoded[i];
    }

    text = fuzz_copy(encoded, n);
    fuzz_spelling(&text, bytes);
    free(text.data);

    free(encoded);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t  text;

    text = fuzz_copy(data, size);

    fuzz_text(&text);
    fuzz_bytes(&text);

    free(text.data);

    return 0;
}
